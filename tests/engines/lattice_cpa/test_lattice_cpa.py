"""The lattice cutting plane algorithm on CPLEX: limits, faults, interruption, settings."""

from __future__ import annotations

import itertools
import logging
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

from paths import HELPERS
from problems import make_problem
from programs import run_code
from riskslim import (
    CoefficientSet,
    LatticeCPASettings,
    LogisticLoss,
    RiskScoreProblem,
    RiskSlimLP,
    RiskSlimMIP,
    Status,
    TrainingData,
    lattice_cpa,
)
from riskslim.bounds import ObjectiveBounds
from riskslim.engines.branch_and_bound.root import RootSearch
from riskslim.engines.lattice_cpa import formulation, initialization, lcpa, model
from riskslim.engines.lattice_cpa.cuts import CutPool
from riskslim.engines.lattice_cpa.formulation import Cut
from riskslim.engines.lattice_cpa.lattice_search import LatticeSearch
from riskslim.engines.lattice_cpa.lcpa import LatticeCPARun
from riskslim.engines.lattice_cpa.model import has_limited_size
from riskslim.engines.lattice_cpa.tree import TreeEvents
from riskslim.exceptions import (
    CertificateError,
    InfeasibleProblemError,
    ProblemSizeError,
    SolverUnavailableError,
)
from riskslim.paper import standard_cpa


@pytest.fixture(scope="module")
def problem():
    return make_problem()


@pytest.fixture(scope="module")
def hard_problem():
    """Not solved within a second or two: many correlated features of several levels."""
    return make_problem(n=600, d=40, seed=3, levels=4, max_size=8)


@pytest.fixture(scope="module")
def solved(problem):
    return lattice_cpa(problem)


class TestModel:
    def test_size_of_the_formulation_is_the_papers(self, problem):
        bounds = initialization.best_possible_bounds(problem)
        mip = RiskSlimMIP(problem, bounds)
        d = problem.n_features
        # Definition RiskSlimMIP: 2d + 3 variables and 2d + 2 rows, and the intercept.
        assert mip.cpx.variables.get_num() == 2 * d + 4
        assert mip.cpx.linear_constraints.get_num() == 2 * d + 2
        assert mip.cpx.variables.get_num_integer() == d + 2  # lambda_0..lambda_d and R
        assert mip.cpx.variables.get_num_binary() == d
        lp = RiskSlimLP(problem, bounds)
        assert lp.cpx.variables.get_num() == 2 * d + 4
        assert lp.cpx.get_problem_type() == lp.cpx.problem_type.LP

    def test_features_that_cannot_be_used_take_no_variables(self):
        p = make_problem(d=6, fixed={"x1": 0, "x3": 0})
        mip = RiskSlimMIP(p, initialization.best_possible_bounds(p))
        assert mip.cpx.variables.get_num() == 2 * 4 + 4
        assert mip.columns.tolist() == [0, 2, 4, 5, 6]

    def test_every_tolerance_is_set(self):
        cpx = model.new_cplex()
        parameters = cpx.parameters
        assert parameters.mip.tolerances.mipgap.get() == 0
        assert parameters.mip.tolerances.absmipgap.get() == 0
        assert parameters.mip.tolerances.integrality.get() == 0
        assert parameters.simplex.tolerances.feasibility.get() == 1e-9
        assert parameters.simplex.tolerances.optimality.get() == 1e-9

    def test_solution_vector_satisfies_every_row(self):
        p = make_problem(d=5, min_size=3, max_size=4, sign={"x2": "+", "x3": "-"})
        bounds = initialization.best_possible_bounds(p)
        mip = RiskSlimMIP(p, bounds)
        rng = np.random.default_rng(0)
        checked = 0
        while checked < 30:
            coef = rng.integers(p.lower, p.upper + 1)
            if not p.is_feasible(coef):
                continue
            checked += 1
            indices, values, objective = mip.solution_vector(coef, p.loss.value(coef))
            assert objective == pytest.approx(1000 * p.objective(coef), rel=1e-12)
            slack_ok = mip.cpx.linear_constraints
            for row, sense, rhs in zip(
                slack_ok.get_rows(), slack_ok.get_senses(), slack_ok.get_rhs(), strict=True
            ):
                total = sum(v * values[i] for i, v in zip(row.ind, row.val, strict=True))
                if sense == "L":
                    assert total <= rhs + 1e-9
                elif sense == "G":
                    assert total >= rhs - 1e-9
                else:
                    assert total == pytest.approx(rhs, abs=1e-9)
            low = np.array(mip.cpx.variables.get_lower_bounds())
            high = np.array(mip.cpx.variables.get_upper_bounds())
            assert np.all(low <= np.array(values)[indices])
            assert np.all(np.array(values)[indices] <= high)

    def test_cut_never_exceeds_the_loss(self, problem):
        rng = np.random.default_rng(1)
        points = rng.integers(problem.lower, problem.upper + 1, size=(40, problem.lower.size))
        points[:, 0] = rng.integers(-5, 6, size=40)
        losses = [problem.loss.value(point) for point in points]
        for point in points:
            cut = formulation.Cut(point.astype(float), *problem.loss.value_and_gradient(point))
            assert cut.at(point) == pytest.approx(cut.loss, rel=1e-9)
            for other, loss in zip(points, losses, strict=True):
                assert cut.at(other) <= loss


class TestResult:
    def test_certificate_is_recomputed_from_the_coefficients(self, problem, solved):
        certificate = solved.certificate
        assert certificate.status is Status.OPTIMAL
        assert certificate.optimality_gap == 0.0
        assert certificate.lower_bound == certificate.objective
        assert certificate.objective == problem.objective(solved.coef)
        assert problem.is_feasible(solved.coef)
        assert certificate.model_size == len(solved.points) <= 3
        assert "CPLEX 22" in certificate.engine or "CPLEX" in certificate.engine

    def test_trace_only_improves_and_ends_at_the_certificate(self, solved):
        trace = solved.trace
        assert len(trace) >= 2
        assert np.all(np.diff(trace["lower_bound"]) >= 0)
        assert np.all(np.diff(trace["upper_bound"]) <= 0)
        assert np.all(np.diff(trace["time"]) >= 0)
        assert np.all(np.diff(trace["nodes"]) >= 0)
        assert trace["lower_bound"][-1] == solved.certificate.lower_bound
        assert trace["upper_bound"][-1] == solved.certificate.objective
        assert np.all(trace["lower_bound"] <= solved.certificate.objective)

    def test_statistics_and_settings(self, solved):
        statistics = solved.statistics
        assert 0 < statistics.data_seconds < statistics.total_seconds
        assert 0 < statistics.initialization_seconds < statistics.total_seconds
        assert statistics.cuts > 0
        assert statistics.loss_evaluations > 0
        assert statistics.incumbent_updates == solved.trace["incumbent_updates"][-1]
        assert statistics.refused_candidates == 0
        assert solved.settings["engine"] == "lattice_cpa"
        assert solved.settings["time_limit"] == 60.0
        assert solved.settings["chained_updates"] is True

    def test_same_settings_same_result(self, problem, solved):
        again = lattice_cpa(problem)
        assert again.coef.tolist() == solved.coef.tolist()
        assert again.certificate == solved.certificate
        assert again.statistics.nodes == solved.statistics.nodes
        assert again.statistics.cuts == solved.statistics.cuts

    @pytest.mark.parametrize("n_threads", [1, 2])
    @pytest.mark.parametrize("random_state", [1, 7])
    def test_threads_and_seed_leave_the_optimum(self, problem, solved, n_threads, random_state):
        other = lattice_cpa(problem, n_threads=n_threads, random_state=random_state)
        assert other.certificate.status is Status.OPTIMAL
        assert other.certificate.objective == pytest.approx(solved.certificate.objective, abs=1e-10)

    def test_threads_are_used_on_rows_too(self, problem, monkeypatch):
        seen = set()
        value = LogisticLoss.value

        def observed(self, coef, **options):
            seen.add(self.n_threads)
            return value(self, coef, **options)

        monkeypatch.setattr(LogisticLoss, "value", observed)
        lattice_cpa(problem, n_threads=2)
        assert seen == {2}
        assert problem.loss.n_threads == 1

    def test_the_callers_problem_is_left_as_it_is(self):
        p = make_problem(l0_penalty=0.02)
        before = (p.loss.max_size, p.loss.score_range, p.loss.n_evaluations)
        assert lattice_cpa(p).certificate.is_optimal
        assert (p.loss.max_size, p.loss.score_range, p.loss.n_evaluations) == before

    def test_start_is_used(self, problem, solved):
        settings = LatticeCPASettings(
            initialization=False, rounding=False, polishing=False, chained_updates=False
        )
        started = lattice_cpa(problem, start=solved.coef, node_limit=0, settings=settings)
        assert started.coef.tolist() == solved.coef.tolist()
        with pytest.raises(ValueError, match="start is not feasible: model size is 8"):
            lattice_cpa(problem, start=np.ones(9))

    def test_min_size_counts_coefficients_other_than_zero(self):
        # Large enough a penalty that an empty model would win if indicators alone counted.
        assert len(lattice_cpa(make_problem(max_size=5, l0_penalty=0.1)).points) < 3
        p = make_problem(min_size=3, max_size=5, l0_penalty=0.1)
        solution = lattice_cpa(p)
        assert solution.certificate.is_optimal
        assert len(solution.points) == 3

    def test_required_features_are_used(self):
        p = make_problem(lower={"x2": 1}, upper={"x5": -2})
        solution = lattice_cpa(p)
        assert solution.certificate.is_optimal
        assert solution.points["x2"] >= 1
        assert solution.points["x5"] <= -2


class TestInfeasible:
    def test_more_required_features_than_max_size(self):
        p = make_problem(lower={"x1": 1, "x2": 1}, max_size=1)
        solution = lattice_cpa(p)
        assert solution.certificate.status is Status.INFEASIBLE
        assert "x1, x2" in solution.certificate.message
        assert solution.coefficients is None
        assert solution.points == {}
        with pytest.raises(ValueError, match="there is no risk score"):
            _ = solution.coef
        with pytest.raises(InfeasibleProblemError, match="x1, x2"):
            standard_cpa(p)

    def test_fewer_usable_features_than_min_size(self):
        p = make_problem(d=3, min_size=2, max_size=3, fixed={"x1": 0, "x2": 0})
        assert lattice_cpa(p).certificate.status is Status.INFEASIBLE


class TestLimits:
    def test_time_limit_gives_the_best_score_so_far(self, hard_problem):
        start = time.perf_counter()
        solution = lattice_cpa(hard_problem, time_limit=0.8)
        assert time.perf_counter() - start < 10
        certificate = solution.certificate
        assert certificate.status is Status.FEASIBLE
        assert certificate.message == "time limit reached"
        assert 0 < certificate.optimality_gap < 1
        assert hard_problem.is_feasible(solution.coef)

    def test_node_limit(self, hard_problem):
        solution = lattice_cpa(hard_problem, node_limit=20, time_limit=60)
        assert solution.certificate.status is Status.FEASIBLE
        assert solution.certificate.message == "node limit reached"
        assert solution.statistics.nodes <= 20

    def test_gap_tolerance(self, problem):
        solution = lattice_cpa(problem, gap_tolerance=0.2)
        assert solution.certificate.status is Status.OPTIMAL
        assert solution.certificate.optimality_gap <= 0.2
        assert solution.certificate.gap_tolerance == 0.2

    @pytest.mark.parametrize(
        ("argument", "value"),
        [
            ("time_limit", 0),
            ("time_limit", float("nan")),
            ("gap_tolerance", -0.1),
            ("gap_tolerance", 1.0),
            ("node_limit", -1),
            ("n_threads", 0),
            ("n_threads", 10**6),
            ("node_limit", 10**24),
            ("random_state", -1),
            ("random_state", 2**31),
        ],
    )
    def test_limits_out_of_range(self, problem, argument, value):
        with pytest.raises(ValueError, match=argument):
            lattice_cpa(problem, **{argument: value})

    @pytest.mark.parametrize(
        ("argument", "value"),
        [
            ("time_limit", "60"),
            ("gap_tolerance", True),
            ("node_limit", 2.5),
            ("n_threads", 1.0),
            ("random_state", None),
            ("settings", {}),
        ],
    )
    def test_limits_of_the_wrong_type(self, problem, argument, value):
        with pytest.raises(TypeError, match=argument):
            lattice_cpa(problem, **{argument: value})

    def test_something_else_than_a_problem(self):
        with pytest.raises(TypeError, match="problem must be a RiskScoreProblem, got NoneType"):
            lattice_cpa(None)

    def test_no_limits(self, problem, solved):
        solution = lattice_cpa(problem, time_limit=float("inf"), node_limit=np.int64(10**9))
        assert solution.certificate == solved.certificate

    def test_names_that_a_solver_would_not_take(self):
        rng = np.random.default_rng(0)
        names = ["blood\npressure", "a\tb", "\x07", "x" * 300]
        data = TrainingData(rng.integers(0, 2, (40, 4)), np.arange(40) % 2, feature_names=names)
        coefficients = CoefficientSet(names)
        p = RiskScoreProblem(data, coefficients, max_size=2)
        assert lattice_cpa(p).certificate.is_optimal

    def test_settings_out_of_range(self):
        with pytest.raises(ValueError, match="polishing_margin"):
            LatticeCPASettings(polishing_margin=-1.0)
        for name in ("fractional_rounds", "fractional_threshold", "cut_pool"):
            with pytest.raises(ValueError, match=name):
                LatticeCPASettings(**{name: -1})
        for name in ("fractional_rounds", "cut_pool"):
            with pytest.raises(ValueError, match=f"{name} must be a whole number, got 1.5"):
                LatticeCPASettings(**{name: 1.5})

    @pytest.mark.parametrize(("solver", "rounds"), [("cplex", 1), ("scip", 3)])
    def test_rounds_of_fractional_cuts_suit_the_solver(self, problem, solver, rounds):
        if solver == "scip":
            pytest.importorskip("pyscipopt")
        chosen = lattice_cpa(problem, solver=solver).settings["fractional_rounds"]
        assert chosen == rounds
        given = lattice_cpa(
            problem, solver=solver, settings=LatticeCPASettings(fractional_rounds=2)
        )
        assert given.settings["fractional_rounds"] == 2


class TestFractionalCuts:
    """Rounds per node, threshold and pool, which know nothing of a solver."""

    @pytest.fixture
    def search(self, problem):
        return self.make_search(problem)

    @staticmethod
    def make_search(problem, **settings):
        bounds = initialization.best_possible_bounds(problem)
        settings = LatticeCPASettings(**{"fractional_rounds": 3, **settings})
        return LatticeSearch(problem, settings, bounds, 0.0)

    def test_rounds_of_a_node(self, problem, search):
        rng = np.random.default_rng(0)
        points = rng.uniform(problem.lower, problem.upper, (8, len(problem.lower)))
        cuts = [search.fractional_cut(point, 0.0, 7) for point in points]
        assert [cut is not None for cut in cuts] == [True] * 3 + [False] * 5
        assert search.fractional_cut(points[3], 0.0, 8) is not None

    def test_a_cut_has_to_be_worth_its_row(self, problem, search):
        start, objective = initialization.feasible_start(problem)
        search.consider(start, problem.loss.value(start))
        point = start + 0.25
        loss = problem.loss.value(point)
        least = 0.001 * (objective - search.lower_bound)
        assert search.fractional_cut(point, loss - 0.9 * least, 1) is None
        cut = search.fractional_cut(point, loss - 1.1 * least, 1)
        assert cut.loss == pytest.approx(loss)

    def test_cuts_that_the_solver_dropped_are_found_without_evaluation(self, problem, search):
        point = np.full(len(problem.lower), 0.5)
        first = search.fractional_cut(point, 0.0, 1)
        before = search.n_cuts, problem.loss.n_evaluations
        assert search.fractional_cut(point, 0.0, 2) is first
        assert (search.n_cuts, problem.loss.n_evaluations) == before
        without = self.make_search(problem, cut_pool=0)
        assert without.fractional_cut(point, 0.0, 1) is not without.fractional_cut(point, 0.0, 2)

    def test_full_pool_keeps_what_was_active(self):
        rng = np.random.default_rng(1)
        points = np.linspace(-3, 3, 30)[rng.permutation(30)]
        # Tangents of a parabola.
        cuts = [Cut(np.array([x]), x * x + 1, np.array([2 * x])) for x in points]
        pool = CutPool(1, 20)
        for cut in cuts[:20]:
            assert pool.add(cut)
        wanted = [pool.highest(cut.point)[0] for cut in cuts[:5]]
        assert wanted == cuts[:5]
        assert pool.add(cuts[20])
        assert len(pool) == 11
        assert all(cut in pool.cuts for cut in cuts[:5])

    def test_parallel_cuts(self):
        pool = CutPool(1, 20)
        low, high = (Cut(np.zeros(1), loss, np.array([1.0])) for loss in (0.1, 0.2))
        assert pool.add(low)
        assert pool.add(high)
        assert not pool.add(low)
        assert pool.cuts == [high]

    def test_fractional_points_are_cut_at_nodes_of_the_tree(self, hard_problem):
        plain = LatticeCPASettings(
            fractional_rounds=0, initialization=False, branching_priority=False
        )
        with_cuts = LatticeCPASettings(initialization=False, branching_priority=False)
        bounds = [
            lattice_cpa(hard_problem, node_limit=200, settings=settings).certificate.lower_bound
            for settings in (plain, with_cuts)
        ]
        assert bounds[0] < bounds[1]


class TestBranchingPriority:
    @pytest.mark.parametrize(
        ("values", "max_size", "expected"), [(2, 2, True), (2, 4, False), (5, 2, False)]
    )
    def test_indicators_come_first_where_features_are_binary_and_few(
        self, values, max_size, expected
    ):
        rng = np.random.default_rng(0)
        data = TrainingData(rng.integers(0, values, (60, 4)), rng.integers(0, 2, 60))
        coefficients = CoefficientSet(data.feature_names, -3, 3)
        p = RiskScoreProblem(data, coefficients, max_size=max_size)
        mip = RiskSlimMIP(p, initialization.best_possible_bounds(p))
        assert mip.should_prefer_indicators(None) is expected
        assert mip.should_prefer_indicators(True) is True
        assert mip.should_prefer_indicators(False) is False


class TestFaults:
    def test_understated_loss_from_the_heuristic_path_is_refused(self, monkeypatch):
        """The trap that made other implementations return false certificates."""
        p = make_problem(n=300, d=10, seed=5, max_size=4)
        honest = lattice_cpa(p)
        proposals = []
        original = RiskSlimMIP.solution_vector

        def understated(self, coef, loss):
            proposals.append(loss)
            indices, values, objective = original(self, coef, 0.5 * loss)
            return indices, values, objective

        monkeypatch.setattr(RiskSlimMIP, "solution_vector", understated)
        # Without an initialization CPLEX starts from the empty model, so that every
        # incumbent of the heuristics is proposed to it.
        solution = lattice_cpa(p, settings=LatticeCPASettings(initialization=False))
        assert len(proposals) > 1
        assert solution.statistics.refused_candidates > 0
        assert solution.certificate.status is Status.OPTIMAL
        assert solution.certificate.objective == pytest.approx(
            honest.certificate.objective, abs=1e-10
        )
        assert solution.certificate.objective == p.objective(solution.coef)

    def test_without_the_guard_the_re_check_refuses_the_result(self, monkeypatch):
        """If CPLEX believed an understated loss, its bound would be caught at the end."""
        p = make_problem(n=300, d=10, seed=5, max_size=4)
        best = lattice_cpa(p).certificate.objective
        certificate_of = lcpa.certify

        def too_high(problem, coef, lower_bound, **kwargs):
            return certificate_of(problem, coef, best + 1e-6, **kwargs)

        monkeypatch.setattr(lcpa, "certify", too_high)
        with pytest.raises(CertificateError, match="bound is not valid"):
            lattice_cpa(p)

    @pytest.mark.parametrize("name", ["_LazyConstraint", "_Heuristic", "_Incumbent"])
    def test_exception_in_a_callback_reaches_the_caller(self, monkeypatch, name):
        class DeliberateError(Exception):
            pass

        from riskslim.engines.lattice_cpa import cplex_callbacks as callbacks

        def fail(self):
            raise DeliberateError(name)

        monkeypatch.setattr(getattr(callbacks, name), "__call__", fail)
        p = make_problem(n=300, d=10, seed=5, max_size=4)
        with pytest.raises(DeliberateError, match=name):
            lattice_cpa(p, settings=LatticeCPASettings(initialization=False))

    @pytest.mark.skipif(not has_limited_size(), reason="CPLEX has no limit of size")
    @pytest.mark.parametrize("time_limit", [0.01, 2, 60])
    def test_more_variables_than_the_community_edition_allows(self, monkeypatch, time_limit):
        rng = np.random.default_rng(0)
        X = rng.integers(0, 2, size=(60, 500))
        X[0], X[1] = 0, 1
        data = TrainingData(X, np.arange(60) % 2)
        coefficients = CoefficientSet(data.feature_names)
        p = RiskScoreProblem(data, coefficients, max_size=2)
        # Known from the start: nothing is searched before.
        monkeypatch.setattr(LatticeCPARun, "_initialize", None)
        with pytest.raises(
            ProblemSizeError, match=r"500 usable features.*1004 variables"
        ) as caught:
            lattice_cpa(p, time_limit=time_limit)
        assert "Community Edition" in str(caught.value)
        assert "branch_and_bound" in str(caught.value)
        assert "solver='scip'" in str(caught.value)
        assert "full CPLEX licence" in str(caught.value)

    @pytest.mark.skipif(not has_limited_size(), reason="CPLEX has no limit of size")
    def test_too_many_rows_cost_no_score(self):
        """Found when bounds are known: three variables and up to three rows for each feature."""
        p = make_problem(n=60, d=400, seed=3, max_size=2)
        settings = LatticeCPASettings(sign_split=True, native_root=False, initialization=False)
        solution = lattice_cpa(p, time_limit=5, settings=settings)
        assert solution.certificate.status is Status.FEASIBLE
        assert "too large for the Community Edition" in solution.certificate.message

    @pytest.mark.slow
    def test_490_features_fit_the_community_edition(self):
        rng = np.random.default_rng(0)
        X = rng.integers(0, 2, size=(60, 490))
        X[0], X[1] = 0, 1
        data = TrainingData(X, np.arange(60) % 2)
        coefficients = CoefficientSet(data.feature_names)
        p = RiskScoreProblem(data, coefficients, max_size=2)
        solution = lattice_cpa(p, time_limit=4)
        assert solution.statistics.nodes > 0
        assert solution.certificate.status in (Status.FEASIBLE, Status.OPTIMAL)

    def test_solver_absent(self, problem, monkeypatch):
        monkeypatch.setitem(sys.modules, "cplex", None)
        with pytest.raises(SolverUnavailableError, match=r'pip install "\.\[cplex\]"'):
            lattice_cpa(problem)


def _of(X, y, **bounds):
    data = TrainingData(X, y)
    coefficients = CoefficientSet(data.feature_names, -2, 2, **bounds)
    return RiskScoreProblem(data, coefficients)


class TestLargeFeatures:
    """CPLEX's arithmetic: rows with coefficients of 1e7 made it cut off optimal solutions."""

    def test_features_beyond_its_arithmetic_are_refused(self):
        X = [
            [-109663240, -109663240, -109663240],
            [68625365, 68625364, 68625365],
            [31235404, 31235405, 31235404],
            [210657675, 210657674, 210657675],
        ]
        p = _of(X, [0, 1, 1, 0], intercept_lower=-3, intercept_upper=3)
        with pytest.raises(
            ValueError, match=r"'x1' \(up to 2\.10658e\+08\).*Divide these features"
        ):
            lattice_cpa(p)
        with pytest.raises(ValueError, match="too large for CPLEX"):
            lattice_cpa(p)
        with pytest.raises(ValueError, match="too large for the solver"):
            standard_cpa(p)

    def test_the_limit_is_that_of_features_divided_by_the_scale(self):
        X = [[3e6, 0], [1e6, 1], [2e6, 1], [-1e6, 0]]
        p = _of(X, [0, 1, 1, 0], intercept_lower=-3, intercept_upper=3)
        largest = {}
        for scale in (1.0, 2.0, 4.0, 400.0):
            scaled = RiskScoreProblem(p.loss.data, p.coefficients, scale=scale)
            if scale < 3:
                message = rf"up to 3e\+06.*largest allowed is {scale:.0f}000000\."
                with pytest.raises(ValueError, match=message):
                    formulation.accuracy_of(scaled)
            else:
                largest[scale] = formulation.accuracy_of(scaled)
        assert largest[4.0].caution
        assert not largest[400.0].caution
        assert largest[4.0].row_error == pytest.approx(100 * largest[400.0].row_error)

    def test_features_that_are_left_out_do_not_count(self):
        X = [[1e9, 0], [2e9, 1], [3e9, 1], [4e9, 0], [5e9, 1]]
        p = _of(X, [0, 1, 1, 0, 0], fixed={"x1": 0})
        assert lattice_cpa(p).certificate.is_optimal

    @pytest.mark.parametrize("size", [1e3, 1e5, 9e5])
    def test_difference_of_two_large_features(self, size):
        a, b = int(size), int(size) + 1
        X = [[a, b], [b, a], [a, a], [b, b]]
        p = _of(X, [0, 1, 1, 0], intercept_lower=-3, intercept_upper=3)
        for initialization_on in (True, False):
            settings = LatticeCPASettings(initialization=initialization_on)
            certificate = lattice_cpa(p, settings=settings).certificate
            # The optimum, at (0, 2, -2), is 0.410040.
            assert certificate.lower_bound <= 0.41004 + certificate.bound_tolerance
            assert certificate.objective == pytest.approx(0.41004, abs=1e-5)
            assert certificate.bound_tolerance < 1e-4

    def test_the_score_is_returned_where_cplex_denies_that_there_is_one(self):
        """As if CPLEX ended with "integer infeasible", which it does on some features near 1e6."""
        random = np.random.default_rng(0)
        X = np.column_stack((random.uniform(-1e6, 1e6, (40, 2)), random.integers(0, 2, (40, 1))))
        y = np.where(random.random(40) < 0.5, 1, -1)
        p = _of(X, y, intercept_lower=-6, intercept_upper=6)
        cplex = pytest.importorskip("cplex")
        infeasible = cplex.Cplex().solution.status.MIP_infeasible
        best = lattice_cpa(p).certificate.objective
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "cplex._internal._subinterfaces.SolutionInterface.get_status",
                lambda self: infeasible,
            )
            settings = LatticeCPASettings(initialization=False)
            solution = lattice_cpa(p, settings=settings)
        certificate = solution.certificate
        assert certificate.status is Status.FEASIBLE
        assert "arithmetic did not hold" in certificate.message
        assert certificate.lower_bound <= best
        assert certificate.objective == p.objective(solution.coef)

    def test_bounds_are_dropped_where_a_node_solution_is_understated(self, monkeypatch):
        """As if CPLEX accepted node solutions below the cuts at them."""
        from riskslim.engines.lattice_cpa import cplex_callbacks as callbacks

        p = make_problem(n=300, d=10, seed=5, max_size=4)
        best = lattice_cpa(p).certificate.objective
        monkeypatch.setattr(callbacks._LazyConstraint, "_add_cut", lambda self, cut: None)
        settings = LatticeCPASettings(initialization=False, polishing=False, rounding=False)
        solution = lattice_cpa(p, settings=settings)
        certificate = solution.certificate
        assert certificate.status is Status.FEASIBLE
        assert "arithmetic did not hold" in certificate.message
        assert solution.statistics.refused_candidates > 0
        assert certificate.objective >= best - 1e-10
        assert certificate.lower_bound <= best
        assert np.all(solution.trace["lower_bound"] <= best)
        assert certificate.objective == p.objective(solution.coef)

    @pytest.mark.parametrize("scale", [1, [1, 2]])
    def test_bounds_that_are_dropped_leave_the_trace(self, monkeypatch, scale):
        """As if CPLEX's arithmetic failed at the second score, whatever was recorded by then."""
        n_scores = itertools.count(1)
        accept = TreeEvents.accept

        def accept_and_distrust(events, coef, loss):
            accept(events, coef, loss)
            if next(n_scores) == 2:
                events.distrust()

        monkeypatch.setattr(TreeEvents, "accept", accept_and_distrust)
        n_dropped = 0
        for seed in range(4):
            p = make_problem(n=200, seed=seed, max_size=4)
            p = RiskScoreProblem(p.loss.data, p.coefficients, max_size=4, scale=scale)
            n_scores, told = itertools.count(1), []
            solution = lattice_cpa(p, progress=told.append)
            certificate, trace = solution.certificate, solution.trace
            n_dropped += max(record.lower_bound for record in told) > certificate.lower_bound
            assert np.all(np.diff(trace["lower_bound"]) >= 0)
            assert np.all(np.diff(trace["gap"]) <= 0)
            assert trace["lower_bound"][-1] == told[-1].lower_bound == certificate.lower_bound
        assert n_dropped > 0


class TestInterruption:
    @pytest.mark.slow
    def test_should_stop(self, hard_problem):
        calls = itertools.count()
        solution = lattice_cpa(hard_problem, should_stop=lambda: next(calls) > 150)
        assert solution.certificate.status is Status.INTERRUPTED
        assert solution.certificate.message == "interrupted by the user"
        assert hard_problem.is_feasible(solution.coef)
        assert solution.certificate.objective == hard_problem.objective(solution.coef)

    @pytest.mark.parametrize("delay", [0.3, pytest.param(2.0, marks=pytest.mark.slow)])
    @pytest.mark.usefixtures("ctrl_c")
    def test_ctrl_c(self, hard_problem, delay):
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        start = time.perf_counter()
        solution = lattice_cpa(hard_problem, time_limit=120)
        timer.join()
        assert time.perf_counter() - start < 30
        assert solution.certificate.status is Status.INTERRUPTED
        assert 0 <= solution.certificate.lower_bound <= solution.certificate.objective
        assert hard_problem.is_feasible(solution.coef)

    @pytest.mark.slow
    @pytest.mark.usefixtures("ctrl_c")
    def test_ctrl_c_where_cplex_handles_signals_itself(self):
        """Somebody imported cplex first: its own handler ends the solve."""
        script = """
import cplex, os, signal, threading
from problems import make_problem
from riskslim import lattice_cpa
p = make_problem(n=600, d=40, seed=3, levels=4, max_size=8)
seen = []
def progress(record):
    if record.nodes > 50 and not seen:
        seen.append(record)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
solution = lattice_cpa(p, time_limit=120, progress=progress)
print(solution.certificate.status, p.is_feasible(solution.coef))
"""
        done = run_code(script, folder=HELPERS)
        assert done.stdout.split() == ["interrupted", "True"], done.stderr

    def test_outside_of_the_main_thread(self, problem, solved):
        found = []
        worker = threading.Thread(target=lambda: found.append(lattice_cpa(problem)))
        worker.start()
        worker.join()
        assert found[0].certificate == solved.certificate


class TestProgress:
    def test_progress_and_log(self, problem, caplog):
        records = []
        with caplog.at_level(logging.INFO, logger="riskslim.lattice_cpa"):
            solution = lattice_cpa(problem, progress=records.append)
        assert records == list(solution.trace)
        lines = [r.getMessage() for r in caplog.records if r.name == "riskslim.lattice_cpa"]
        assert len(lines) == len(records) + 1
        assert "objective" in lines[0]
        assert "bound" in lines[0]
        assert lines[-1].startswith("optimal: ")

    def test_nothing_is_printed(self, problem, capfd):
        lattice_cpa(problem)
        standard_cpa(problem, relaxation=True)
        out, err = capfd.readouterr()
        assert out == ""
        assert err == ""

    def test_exception_of_the_progress_function_reaches_the_caller(self, problem):
        def fail(record):
            raise RuntimeError("display is gone")

        with pytest.raises(RuntimeError, match="display is gone"):
            lattice_cpa(problem, progress=fail)


SWITCHES = ("initialization", "chained_updates", "rounding", "polishing", "swaps")


@pytest.mark.parametrize("switch", SWITCHES)
def test_each_part_can_be_switched_off(problem, solved, switch):
    settings = LatticeCPASettings(**{switch: False})
    solution = lattice_cpa(problem, settings=settings)
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.certificate.objective == pytest.approx(solved.certificate.objective, abs=1e-10)
    assert solution.settings[switch] is False


def test_switched_off_heuristics_are_not_called(problem, monkeypatch):
    from riskslim.engines.lattice_cpa import lattice_search as search

    def fail(*args, **kwargs):
        raise AssertionError("called although it is switched off")

    monkeypatch.setattr(search, "round_and_polish", fail)
    monkeypatch.setattr(search, "discrete_coordinate_descent", fail)
    monkeypatch.setattr(search, "chained_updates", fail)
    settings = LatticeCPASettings(
        initialization=False, chained_updates=False, rounding=False, polishing=False
    )
    assert lattice_cpa(problem, settings=settings).certificate.is_optimal


class TestStandardCPA:
    @pytest.mark.slow
    def test_mip_reaches_the_optimum(self):
        problem = make_problem(d=5)
        optimum = lattice_cpa(problem).certificate.objective
        result = standard_cpa(problem)
        assert result.converged
        assert result.upper_bound == pytest.approx(optimum, abs=1e-9)
        assert result.lower_bound <= optimum
        assert problem.objective(result.coef.astype(int)) == pytest.approx(result.upper_bound)
        lower = [iteration.lower_bound for iteration in result.iterations]
        assert lower == sorted(lower)
        assert len(result.cuts) == len(result.iterations)

    def test_relaxation_bounds_the_optimum_from_below(self, problem, solved):
        result = standard_cpa(problem, relaxation=True, gap_tolerance=1e-6)
        assert result.converged
        assert result.gap <= 1e-6
        assert result.lower_bound <= solved.certificate.objective
        assert np.all(result.coef >= problem.lower)
        assert np.all(result.coef <= problem.upper)
        assert result.binding

    def test_slack_cuts_leave_a_full_surrogate(self, problem, monkeypatch):
        reference = standard_cpa(problem, relaxation=True, gap_tolerance=1e-4)
        monkeypatch.setattr(RiskSlimMIP, "max_cuts", property(lambda self: 24))
        result = standard_cpa(problem, relaxation=True, gap_tolerance=1e-4)
        assert len(result.iterations) > 24
        assert result.converged
        assert result.lower_bound == pytest.approx(reference.lower_bound, rel=2e-4)

    def test_limits(self, hard_problem):
        result = standard_cpa(hard_problem, max_iterations=3)
        assert len(result.iterations) == 3
        assert not result.converged
        assert result.message == "3 iterations done"
        result = standard_cpa(hard_problem, time_limit=0.5)
        assert result.message in (
            "time limit reached",
            "a surrogate problem was not solved to optimality",
        )
        assert result.lower_bound <= result.upper_bound
        assert standard_cpa(hard_problem, stop=lambda: True).message == "stopped"
        with pytest.raises(ValueError, match="at least 0"):
            standard_cpa(hard_problem, time_limit=-1)


class TestInitialization:
    def test_bounds_cuts_and_score(self, problem, solved):
        start = initialization.initialize(problem)
        optimum = solved.certificate.objective
        assert problem.is_feasible(start.coef)
        assert start.objective == problem.objective(start.coef)
        assert isinstance(start.bounds, ObjectiveBounds)
        assert start.bounds.objective_min <= optimum <= start.bounds.objective_max
        assert start.bounds.objective_min > 0.5 * optimum
        assert 0 < start.n_binding <= len(start.cuts)
        for cut in start.cuts:
            assert cut.at(solved.coef) <= solved.certificate.loss

    def test_feasible_start(self):
        p = make_problem(min_size=2, max_size=4, lower={"x3": 1}, upper={"x6": 0})
        coef, objective = initialization.feasible_start(p)
        assert p.is_feasible(coef)
        assert objective == p.objective(coef)

    def test_chained_updates_shrink_the_size_bound(self):
        p = make_problem(l0_penalty=0.1, max_size=8)
        start = initialization.initialize(p)
        optimum = lattice_cpa(p)
        assert len(optimum.points) <= start.bounds.size_max < 8


def test_the_first_score_is_reported_before_the_root(problem, monkeypatch):
    records, seen = [], []
    relax = RootSearch.root

    def root(self):
        seen.append(len(records))
        return relax(self)

    monkeypatch.setattr(RootSearch, "root", root)
    solution = lattice_cpa(problem, progress=records.append)
    assert seen[0] > 0
    trace = list(solution.trace)
    assert trace[: seen[0]] == records[: seen[0]]
    upper = [record.upper_bound for record in trace]
    assert upper == sorted(upper, reverse=True)
    updates = [record.incumbent_updates for record in trace]
    assert updates == sorted(updates)
    assert updates[-1] == len(set(upper))
