"""Branch and bound: limits, interruption, lists of scores, settings, ill-conditioned data."""

from __future__ import annotations

import itertools
import logging
import math
import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest

from problems import make_problem
from riskslim import (
    CoefficientSet,
    LinearConstraint,
    RiskScoreProblem,
    Status,
    TrainingData,
    at_least,
    branch_and_bound,
    discrete_coordinate_descent,
    exactly,
    model_size,
)
from riskslim.engines.branch_and_bound import driver, incumbents, open_nodes, search
from riskslim.engines.branch_and_bound.incumbents import Incumbents
from riskslim.engines.branch_and_bound.node_rows import NodeRows, RowsBySupport
from riskslim.engines.certify import loss_accuracy
from riskslim.engines.settings import TunedSettings
from riskslim.exceptions import CertificateError, ConstantFeatureWarning, RiskSLIMError


def medium_problem():
    """A few hundred nodes."""
    return make_problem(n=300, d=15, seed=4, levels=3, max_size=8)


@pytest.fixture(scope="module")
def problem():
    return make_problem()


@pytest.fixture(scope="module")
def hard_problem():
    """Not solved within a minute: many correlated features of several levels."""
    return make_problem(n=600, d=40, seed=3, levels=4, max_size=12)


@pytest.fixture(scope="module")
def solved(problem):
    return branch_and_bound(problem)


@pytest.fixture(scope="module")
def medium():
    """A few hundred nodes, and the solution."""
    stated = medium_problem()
    return stated, branch_and_bound(stated, settings=TunedSettings(batch_size=4))


def of(X, y, weights=None, lower=-5, upper=5, intercept=(None, None), **arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantFeatureWarning)
        data = TrainingData(X, y, weights)
    coefficients = CoefficientSet(
        data.feature_names, lower, upper, intercept_lower=intercept[0], intercept_upper=intercept[1]
    )
    return RiskScoreProblem(data, coefficients, **arguments)


class TestResult:
    def test_certificate_is_recomputed_from_the_coefficients(self, problem, solved):
        certificate = solved.certificate
        assert certificate.status is Status.OPTIMAL
        assert certificate.optimality_gap == 0.0
        assert certificate.lower_bound == certificate.objective
        assert certificate.objective == problem.objective(solved.coef)
        assert problem.is_feasible(solved.coef)
        assert certificate.model_size == len(solved.points) <= 3
        assert certificate.engine == "branch_and_bound"
        assert certificate.bound_tolerance == 1e-10
        assert certificate.message == "search completed"
        assert solved.pool is None

    def test_a_bound_that_is_too_high_is_refused(self, problem, solved, monkeypatch):
        certificate_of = driver.certify

        def too_high(problem, coef, lower_bound, **kwargs):
            return certificate_of(problem, coef, lower_bound + 1e-6, **kwargs)

        monkeypatch.setattr(driver, "certify", too_high)
        with pytest.raises(CertificateError, match="bound is not valid"):
            branch_and_bound(problem)

    def test_trace_only_improves_and_ends_at_the_certificate(self, solved):
        trace = solved.trace
        assert len(trace) >= 2
        for column, sign in [("lower_bound", 1), ("upper_bound", -1), ("gap", -1), ("time", 1),
                             ("nodes", 1), ("cuts", 1), ("incumbent_updates", 1)]:  # fmt: skip
            assert np.all(sign * np.diff(trace[column]) >= 0), column
        assert trace["lower_bound"][-1] == solved.certificate.lower_bound
        assert trace["upper_bound"][-1] == solved.certificate.objective

    def test_statistics_and_settings(self, solved):
        statistics = solved.statistics
        assert 0 < statistics.data_seconds < statistics.total_seconds
        assert 0 < statistics.initialization_seconds < statistics.total_seconds
        assert 0 < statistics.cuts < statistics.loss_evaluations
        assert statistics.nodes == solved.trace["nodes"][-1] > 0
        assert statistics.incumbent_updates == solved.trace["incumbent_updates"][-1] > 0
        assert solved.settings["engine"] == "branch_and_bound"
        assert solved.settings["time_limit"] == 60.0
        assert solved.settings["branching"] == "look_ahead"
        assert solved.settings["n_solutions"] == 1

    @pytest.mark.parametrize("n_threads", [2, 5])
    def test_threads_change_nothing_but_the_time(self, medium, n_threads):
        settings = TunedSettings(batch_size=4)
        p, one = medium
        other = branch_and_bound(p, n_threads=n_threads, settings=settings)
        assert other.certificate == one.certificate
        assert other.coef.tolist() == one.coef.tolist()
        assert other.statistics.nodes == one.statistics.nodes > 50
        assert other.statistics.cuts == one.statistics.cuts
        for column in ("lower_bound", "upper_bound", "nodes"):
            np.testing.assert_array_equal(other.trace[column], one.trace[column])

    def test_seed_changes_nothing(self, problem, solved):
        other = branch_and_bound(problem, random_state=7)
        assert other.certificate == solved.certificate
        assert other.statistics.nodes == solved.statistics.nodes

    def test_the_callers_problem_is_left_as_it_is(self):
        p = make_problem(l0_penalty=0.02)
        before = (p.loss.max_size, p.loss.score_range, p.loss.n_evaluations, p.loss.n_threads)
        assert branch_and_bound(p, n_threads=2).certificate.is_optimal
        assert before == (
            p.loss.max_size, p.loss.score_range, p.loss.n_evaluations, p.loss.n_threads
        )  # fmt: skip

    def test_start_is_used(self, problem, solved):
        started = branch_and_bound(problem, start=solved.coef, node_limit=0)
        assert started.certificate.objective <= solved.certificate.objective
        with pytest.raises(ValueError, match="start is not feasible: model size is 8"):
            branch_and_bound(problem, start=np.ones(9))

    def test_start_under_constraints(self):
        p = make_problem()
        names = list(p.coefficients.feature_names)
        p = RiskScoreProblem(
            p.loss.data, p.coefficients, max_size=3, constraints=[exactly(2, names)]
        )
        start = np.array([0, 1, 1, *[0] * 6])
        solution = branch_and_bound(p, start=start)
        assert solution.certificate.is_optimal
        assert len(solution.points) == 2

    def test_required_features_are_used(self):
        solution = branch_and_bound(make_problem(lower={"x2": 1}, upper={"x5": -2}))
        assert solution.certificate.is_optimal
        assert solution.points["x2"] >= 1
        assert solution.points["x5"] <= -2

    def test_infeasible(self):
        solution = branch_and_bound(make_problem(lower={"x1": 1, "x2": 1}, max_size=1))
        assert solution.certificate.status is Status.INFEASIBLE
        assert "x1, x2" in solution.certificate.message
        assert solution.coefficients is None

    def test_infeasible_as_the_search_finds_out(self):
        # No sum of two of these is 3, which propagation does not see.
        p = make_problem(lower=-3, upper=3)
        names = list(p.coefficients.feature_names)
        row = exactly(2, names)
        odd = LinearConstraint(points=dict.fromkeys(names, 2.0), lower=3, upper=3)
        p = RiskScoreProblem(p.loss.data, p.coefficients, max_size=2, constraints=[row, odd])
        assert branch_and_bound(p).certificate.status is Status.INFEASIBLE


class TestLimits:
    def test_time_limit_gives_the_best_score_so_far(self, hard_problem):
        start = time.perf_counter()
        solution = branch_and_bound(hard_problem, time_limit=0.5)
        assert time.perf_counter() - start < 10
        certificate = solution.certificate
        assert certificate.status is Status.FEASIBLE
        assert certificate.message == "time limit reached"
        assert 0 < certificate.optimality_gap < 1
        assert hard_problem.is_feasible(solution.coef)

    @pytest.mark.parametrize("n_threads", [1, 2])
    def test_hardly_any_time(self, hard_problem, n_threads):
        solution = branch_and_bound(hard_problem, time_limit=1e-9, n_threads=n_threads)
        assert solution.certificate.status is Status.FEASIBLE
        assert solution.certificate.lower_bound >= 0
        assert hard_problem.is_feasible(solution.coef)

    def test_no_time_for_a_score_under_constraints(self, monkeypatch):
        monkeypatch.setattr(Incumbents, "round", lambda self, coef, scale: None)
        p = make_problem()
        names = list(p.coefficients.feature_names)
        p = RiskScoreProblem(
            p.loss.data, p.coefficients, max_size=3, constraints=[at_least(1, names)]
        )
        assert p.is_feasible(branch_and_bound(p, node_limit=0).coef)  # by the constraints alone
        monkeypatch.setattr(driver, "CONSTRAINT_SHARE", 0.0)
        with pytest.raises(RiskSLIMError, match="node limit reached before any risk score was"):
            branch_and_bound(p, node_limit=0)

    def test_constraints_that_bounds_of_the_loss_cannot_decide(self):
        """Values of 1e7 give the intercept a range that no search gets through."""
        rng = np.random.default_rng(0)
        age, items = rng.integers(20, 90, 80), rng.integers(0, 2, (80, 2))
        X = np.column_stack((age, items, rng.normal(27, 4, 80), rng.normal(0, 1e7, 80)))
        data = TrainingData(X, rng.integers(0, 2, 80))
        coefficients = CoefficientSet(data.feature_names, -3, 3)
        p = RiskScoreProblem(
            data,
            coefficients,
            constraints=[model_size(3, 4, name="large"), model_size(0, 2, name="small")],
        )
        certificate = branch_and_bound(p, node_limit=500).certificate
        assert certificate.status is Status.INFEASIBLE
        assert certificate.message == "these constraints contradict each other: (large) and (small)"

    def test_a_sum_that_rounding_does_not_meet(self):
        rng = np.random.default_rng(1)
        data = TrainingData(rng.integers(0, 2, (100, 9)), rng.integers(0, 2, 100))
        names = data.feature_names
        coefficients = CoefficientSet(names, -2, 2, intercept_lower=-3, intercept_upper=3)
        weights = dict(zip(names, (101, 143, 187, 211, 257, 293, 331, 379, 401), strict=True))
        p = RiskScoreProblem(
            data,
            coefficients,
            constraints=[
                LinearConstraint(points=weights, lower=2024, upper=2024),
                exactly(5, names),
            ],
        )
        solution = branch_and_bound(p, node_limit=0)
        assert solution.coefficients @ list(weights.values()) == 2024
        assert np.count_nonzero(solution.coefficients) == 5

    def test_node_limit(self, hard_problem):
        settings = TunedSettings(batch_size=5)
        solution = branch_and_bound(hard_problem, node_limit=18, settings=settings)
        assert solution.certificate.status is Status.FEASIBLE
        assert solution.certificate.message == "node limit reached"
        assert 18 <= solution.statistics.nodes < 18 + 5

    def test_a_search_that_is_over_at_its_limit_is_complete(self, problem, solved):
        again = branch_and_bound(problem, node_limit=solved.statistics.nodes)
        assert again.certificate == solved.certificate

    @pytest.mark.slow
    def test_gap_tolerance(self, hard_problem):
        solution = branch_and_bound(hard_problem, gap_tolerance=0.5)
        certificate = solution.certificate
        assert certificate.status is Status.OPTIMAL
        assert 0 < certificate.optimality_gap <= 0.5
        assert certificate.message == "gap tolerance reached"

    def test_no_limits(self, problem, solved):
        solution = branch_and_bound(problem, time_limit=math.inf, node_limit=np.int64(10**9))
        assert solution.certificate == solved.certificate

    @pytest.mark.parametrize(
        ("argument", "value"),
        [("time_limit", 0), ("time_limit", math.nan), ("gap_tolerance", -0.1),
         ("gap_tolerance", 1.0), ("node_limit", -1), ("n_threads", 0), ("random_state", -1),
         ("n_solutions", 0), ("n_solutions", 10**9), ("within", -1e-3), ("within", math.inf),
         ("within", math.nan)],
    )  # fmt: skip
    def test_arguments_out_of_range(self, problem, argument, value):
        with pytest.raises(ValueError, match=argument):
            branch_and_bound(problem, **{argument: value})

    @pytest.mark.parametrize(
        ("argument", "value"),
        [("time_limit", "60"), ("gap_tolerance", True), ("node_limit", 2.5), ("n_threads", 1.0),
         ("random_state", None), ("settings", {}), ("n_solutions", 2.0), ("n_solutions", True),
         ("within", "0.1"), ("within", True)],
    )  # fmt: skip
    def test_arguments_of_the_wrong_type(self, problem, argument, value):
        with pytest.raises(TypeError, match=argument):
            branch_and_bound(problem, **{argument: value})

    def test_something_else_than_a_problem(self):
        with pytest.raises(TypeError, match="problem must be a RiskScoreProblem, got NoneType"):
            branch_and_bound(None)


class TestInterruption:
    def test_should_stop(self, hard_problem):
        calls = itertools.count()
        solution = branch_and_bound(hard_problem, should_stop=lambda: next(calls) > 4)
        assert solution.certificate.status is Status.INTERRUPTED
        assert solution.certificate.message == "interrupted by the user"
        assert hard_problem.is_feasible(solution.coef)
        assert solution.certificate.objective == hard_problem.objective(solution.coef)

    @pytest.mark.usefixtures("ctrl_c")
    def test_a_stop_after_the_end_says_nothing(self, problem, solved, monkeypatch):
        run = search.Search.run

        def finished(self, *args):
            message = run(self, *args)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)
            return message

        monkeypatch.setattr(search.Search, "run", finished)
        assert branch_and_bound(problem).certificate == solved.certificate

    @pytest.mark.parametrize(("n_threads", "delay"), [(1, 0.3), (2, 0.6)])
    @pytest.mark.usefixtures("ctrl_c")
    def test_ctrl_c(self, hard_problem, n_threads, delay):
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        start = time.perf_counter()
        solution = branch_and_bound(hard_problem, time_limit=120, n_threads=n_threads)
        timer.join()
        assert time.perf_counter() - start < 20
        assert solution.certificate.status is Status.INTERRUPTED
        assert 0 <= solution.certificate.lower_bound <= solution.certificate.objective
        assert hard_problem.is_feasible(solution.coef)

    def test_outside_of_the_main_thread(self, problem, solved):
        found = []
        worker = threading.Thread(target=lambda: found.append(branch_and_bound(problem)))
        worker.start()
        worker.join()
        assert found[0].certificate == solved.certificate

    def test_relaxations_that_are_cut_short_leave_valid_bounds(self, medium, monkeypatch):
        """The flag is set in the middle of a batch, by one of its own nodes."""
        p, best = medium[0], medium[1].certificate.objective
        expand = open_nodes.OpenNodes._expand
        for stop_at in (1, 3, 10, 40):
            count = itertools.count()

            def interrupted(self, *args, count=count, stop_at=stop_at):
                if next(count) == stop_at:
                    self.boxes.stop[0] = 1
                return expand(self, *args)

            monkeypatch.setattr(open_nodes.OpenNodes, "_expand", interrupted)
            solution = branch_and_bound(p)
            assert solution.certificate.status is Status.FEASIBLE
            assert np.all(solution.trace["lower_bound"] <= best + 1e-10)
            assert solution.certificate.objective >= best - 1e-10


class TestCallbacks:
    def test_progress_and_log(self, problem, caplog):
        records = []
        with caplog.at_level(logging.INFO, logger="riskslim.branch_and_bound"):
            solution = branch_and_bound(problem, progress=records.append)
        assert records == list(solution.trace)
        lines = [r.getMessage() for r in caplog.records if r.name == "riskslim.branch_and_bound"]
        assert len(lines) == len(records) + 1
        assert "objective" in lines[0]
        assert "bound" in lines[0]
        assert lines[-1].startswith("optimal: ")

    def test_nothing_is_printed(self, problem, capfd):
        branch_and_bound(problem)
        assert capfd.readouterr() == ("", "")

    def test_exception_of_the_progress_function_reaches_the_caller(self, problem):
        def fail(record):
            raise RuntimeError("display is gone")

        with pytest.raises(RuntimeError, match="display is gone"):
            branch_and_bound(problem, progress=fail)

    def test_exception_of_should_stop_reaches_the_caller(self, hard_problem):
        def fail():
            raise RuntimeError("nobody to ask")

        with pytest.raises(RuntimeError, match="nobody to ask"):
            branch_and_bound(hard_problem, should_stop=fail)

    def test_exception_in_a_thread_reaches_the_caller(self, hard_problem, monkeypatch):
        def fail(self, *args):
            raise RuntimeError("a node failed")

        monkeypatch.setattr(open_nodes.OpenNodes, "_expand", fail)
        with pytest.raises(RuntimeError, match="a node failed"):
            branch_and_bound(hard_problem, n_threads=2)


class TestLists:
    def test_the_best_scores(self, problem, solved):
        pool = branch_and_bound(problem, n_solutions=6).pool
        assert len(pool) == 6
        assert pool.complete
        assert len({tuple(coef) for coef in pool.coefficients.tolist()}) == 6
        assert pool.objectives[0] == pytest.approx(solved.certificate.objective, abs=1e-10)
        assert np.all(np.diff(pool.objectives) >= 0)
        assert pool.bound == pytest.approx(pool.objectives[-1], abs=1e-9)
        for coef, objective in zip(pool.coefficients, pool.objectives, strict=True):
            assert problem.is_feasible(coef)
            assert problem.objective(coef) == objective

    def test_all_scores_within_a_share(self, problem):
        pool = branch_and_bound(problem, within=0.01).pool
        assert pool.complete
        assert np.all(pool.objectives <= 1.01 * pool.objectives[0] * (1 + 1e-12))
        more = branch_and_bound(problem, n_solutions=len(pool) + 1).pool
        assert more.objectives[-1] > 1.01 * pool.objectives[0] - 1e-10
        np.testing.assert_allclose(more.objectives[:-1], pool.objectives, rtol=0, atol=1e-10)

    def test_scores_that_say_the_same_are_all_within_nothing(self):
        rng = np.random.default_rng(1)
        column = rng.integers(0, 2, 80)
        # Real-valued and weighted: equal scores whose sums may be taken in any order.
        X = np.column_stack((column, 1 - column, 0.3 * column, rng.normal(size=80)))
        y = np.where(rng.random(80) < 0.2, 1 - column, column)
        p = of(X, y, rng.uniform(0.5, 2, 80), max_size=1, lower=-2, upper=2)
        pool = branch_and_bound(p, within=0.0).pool
        assert sorted(np.flatnonzero(coef[1:])[0] for coef in pool.coefficients) == [0, 1]

    def test_more_scores_than_there_are(self):
        p = make_problem(n=50, d=2, lower=-1, upper=1, intercept_lower=-1, intercept_upper=1)
        pool = branch_and_bound(p, n_solutions=1000).pool
        assert len(pool) == 27
        assert pool.bound == math.inf
        assert pool.complete

    def test_a_list_that_the_time_limit_ends(self, hard_problem):
        solution = branch_and_bound(hard_problem, n_solutions=10, time_limit=0.5)
        assert not solution.pool.complete
        assert solution.pool.bound < solution.pool.objectives[-1]
        assert solution.certificate.status is Status.FEASIBLE

    def test_more_scores_than_memory_is_meant_for(self, monkeypatch):
        monkeypatch.setattr(incumbents, "MAX_SOLUTIONS", 20)
        solution = branch_and_bound(make_problem(d=4), within=10.0)
        assert solution.certificate.message == "as many scores as memory is meant for"
        assert not solution.pool.complete

    def test_stale_scores_do_not_fill_the_list(self):
        p = make_problem()
        stop = np.zeros(1, np.int64)
        kept = Incumbents(p, None, 0.0, swaps=False, tolerance=1e-10, stop=stop)
        vectors = [np.array([0, k, *[0] * 7]) for k in (3, 2, 1, 0, -1, -2, -3)]
        objectives = [kept.offer(vector) for vector in vectors]
        assert len(kept.chosen()) == 1
        assert kept.objective == min(objectives)
        assert kept.offer(vectors[0]) == math.inf

    def test_a_better_score_counts_however_little_it_is_better(self):
        p = make_problem()
        stop = np.zeros(1, np.int64)
        kept = Incumbents(p, 1, None, swaps=False, tolerance=1.0, stop=stop)
        first, second = (np.array([0, k, *[0] * 7]) for k in (3, 0))
        first, second = sorted((first, second), key=p.objective, reverse=True)
        kept.offer(first)
        kept.offer(second)
        assert kept.best.tolist() == second.tolist()


SETTINGS = (
    {"branching": "curvature"}, {"merge_rows": False}, {"order_duplicates": False},
    {"swaps": False}, {"rounding_interval": 1}, {"batch_size": 1}, {"batch_size": 100},
    {"memory_limit": 1},
    {"node_tolerance": 1.0}, {"max_node_tolerance": 1e-6},
)  # fmt: skip


class TestSettings:
    @pytest.mark.parametrize("changes", SETTINGS, ids=str)
    def test_settings_leave_the_optimum(self, medium, changes):
        p, best = medium[0], medium[1].certificate.objective
        settings = TunedSettings(**changes)
        solution = branch_and_bound(p, settings=settings)
        assert solution.certificate.status is Status.OPTIMAL
        assert solution.certificate.objective == pytest.approx(best, abs=1e-10)
        assert solution.settings.items() >= changes.items()

    @pytest.mark.parametrize(
        ("argument", "value"),
        [("branching", "random"), ("node_tolerance", 0.0), ("max_node_tolerance", math.inf),
         ("node_tolerance", math.nan), ("rounding_interval", 0), ("batch_size", 0),
         ("memory_limit", 0), ("sample_rows", 0)],
    )  # fmt: skip
    def test_settings_out_of_range(self, argument, value):
        with pytest.raises(ValueError, match=argument):
            TunedSettings(**{argument: value})

    @pytest.mark.slow
    def test_twins_spare_nodes(self):
        rng = np.random.default_rng(2)
        X = rng.integers(0, 2, (200, 8))
        y = X[:, :4].sum(axis=1) + rng.normal(size=200) > 2
        p = of(np.column_stack((X, X, 1 - X)), y, max_size=4)
        # Tables would complete the root, whatever duplicates it has.
        with_order, without = (
            branch_and_bound(p, settings=TunedSettings(order_duplicates=order, tables="never"))
            for order in (True, False)
        )
        assert with_order.certificate.objective == pytest.approx(
            without.certificate.objective, abs=1e-10
        )
        assert with_order.statistics.nodes < without.statistics.nodes

    def test_merged_rows_say_the_same(self):
        rng = np.random.default_rng(5)
        X = rng.integers(0, 3, (500, 6))
        p = of(X, rng.integers(0, 2, 500), rng.uniform(0, 2, 500))
        everything = NodeRows.of(p.loss, p.usable)
        rows = RowsBySupport(everything)
        box = np.array([p.lower, p.upper], dtype=np.float64)
        box[:, 3:] = 0.0
        some, features = rows.at(box, rows.all_features)
        assert np.frombuffer(features, np.bool_).tolist() == [True] * 2 + [False] * 4
        assert some.n_rows == 9
        assert some.positive.sum() + some.negative.sum() == pytest.approx(1.0)
        # The order of inheritance does not matter.
        again, _ = RowsBySupport(everything).at(box, rows.all_features)
        np.testing.assert_array_equal(some.positive, again.positive)
        untouched, inherited = RowsBySupport(everything, merge=False).at(box, rows.all_features)
        assert untouched is everything
        assert inherited == rows.all_features


def beaten(problem, solution) -> list[float]:
    """Objectives below the bound, of descents from vectors all over the coefficient set."""
    rng = np.random.default_rng(0)
    certificate = solution.certificate
    starts = [solution.coef, np.clip(0, problem.lower, problem.upper)]
    starts += list(rng.integers(problem.lower, problem.upper + 1, (20, len(problem.lower))))
    found = [
        discrete_coordinate_descent(problem, start, swaps=True).objective
        for start in starts
        if problem.is_feasible(start)
    ]
    limit = certificate.lower_bound - certificate.bound_tolerance
    return [objective for objective in found if objective < limit]


def separable(rng):
    X = rng.normal(size=(80, 4))
    return X, X @ [1, -2, 0.5, 0] > 0.1


ILL_CONDITIONED = {
    "separable": lambda rng: of(*separable(rng), lower=-1000, upper=1000, max_size=3),
    "loss near zero": lambda rng: of(*separable(rng), lower=-(10**6), upper=10**6, l0_penalty=0.0),
    "scales": lambda rng: of(
        rng.normal(size=(100, 6)) * 10.0 ** np.array([-6, -4, -1, 2, 5, 7]),
        rng.integers(0, 2, 100), max_size=3, intercept=(-100, 100),
    ),
    "integers of 1e7": lambda rng: of(
        10**7 + rng.integers(0, 3, (60, 3)), rng.integers(0, 2, 60), intercept=(-(10**8), 10**8),
        lower=-2, upper=2,
    ),
    "one positive": lambda rng: of(
        rng.integers(0, 2, (100_000, 8)), np.arange(100_000) == 7, max_size=3
    ),
    "constant features": lambda rng: of(
        np.column_stack((np.ones(40), rng.normal(size=40), np.zeros(40))), np.arange(40) % 2
    ),
    # A descent alone would take seconds: it zigzags in steps of one.
    "points up to a million": lambda rng: of(
        rng.integers(-128, 128, (300, 3)), rng.integers(0, 2, 300), lower=-(10**6), upper=10**6,
        intercept=(-(10**7), 10**7),
    ),
    "one feature": lambda rng: of(np.arange(20.0)[:, None], np.arange(20) > 9, upper=10**6),
    "two rows": lambda rng: of([[0.0], [1.0]], [0, 1]),
    "equal rows": lambda rng: of(np.r_[np.zeros((50, 2)), [[1, 1]]], np.arange(51) % 2),
    "weights": lambda rng: of(
        rng.normal(size=(80, 4)), np.arange(80) % 2, 10.0 ** rng.uniform(-9, 9, 80), max_size=2
    ),
    "one intercept": lambda rng: of(
        rng.integers(0, 2, (80, 4)), np.arange(80) % 2, intercept=(7, 7)
    ),
    "no features": lambda rng: of(rng.integers(0, 2, (80, 4)), np.arange(80) % 3 > 0, max_size=0),
    "prices": lambda rng: of(*separable(rng), l0_penalty=1e4),
    "values of 1e200": lambda rng: of(
        rng.normal(size=(50, 3)) * [1e200, 1, 1], np.arange(50) % 2, intercept=(-10, 10)
    ),
    "values of 1e-300": lambda rng: of(
        rng.normal(size=(50, 3)) * [1e-300, 1, 1], np.arange(50) % 2
    ),
}  # fmt: skip


class TestIllConditioned:
    @pytest.mark.parametrize("kind", ILL_CONDITIONED)
    def test_bounds_are_valid_and_finite(self, kind):
        p = ILL_CONDITIONED[kind](np.random.default_rng(6))
        solution = branch_and_bound(p, time_limit=0.5)
        certificate = solution.certificate
        assert certificate.status in (Status.OPTIMAL, Status.FEASIBLE)
        assert 0 <= certificate.lower_bound <= certificate.objective < math.inf
        assert np.all(np.diff(solution.trace["lower_bound"]) >= 0)
        with np.errstate(over="ignore"):
            assert not beaten(p, solution)

    def test_digits_that_large_scores_lose_are_no_false_result(self):
        # Sums of these scores in two orders differ by more than 1e-11 of the loss.
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 5)) * 1e7
        y = (X @ [1, 1, -1, 2, -1] + 1e7 * rng.normal(size=60) > 0).astype(int)
        p = of(X / 1e7 * np.pi * 1e6, y, lower=-(10**4), upper=10**4, intercept=(-10, 10))
        coef = np.array([3, 9000, 8000, -9500, 7000, -6000])
        assert loss_accuracy(p, coef, 0.5) > 1e-7
        solution = branch_and_bound(p, time_limit=1.0, start=coef)
        assert solution.certificate.bound_tolerance >= 1e-10

    def test_ordinary_losses_are_known_to_eleven_digits(self):
        p = make_problem()
        assert loss_accuracy(p, np.ones(9, np.int64), 0.5) < 1.01 * 0.5e-11
