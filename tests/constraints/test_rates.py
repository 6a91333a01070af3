"""Constraints on error rates: against enumeration, ties, faults, sizes."""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import pickle
import time
import types

import numpy as np
import pandas as pd
import pytest

from problems import paper_problem
from rated import INTERCEPTS, Demand, draw, many_records, problem_of
from riskslim import (
    RiskScore,
    RiskScoreProblem,
    Status,
    at_most,
    branch_and_bound,
    discrete_coordinate_descent,
    false_negative_rate_at_most,
    false_positive_rate_at_most,
    lattice_cpa,
    monotone,
    rate_gap_at_most,
    risk_at_most,
    sequential_rounding,
)
from riskslim.constraints import search
from riskslim.constraints.rates import MAX_GROUPS
from riskslim.constraints.rows import ConstraintRows
from riskslim.engines.branch_and_bound.driver import BranchAndBoundRun
from riskslim.engines.choice import choose_engine, solve
from riskslim.engines.lattice_cpa import lcpa, listing
from riskslim.engines.lattice_cpa.formulation import Formulation
from riskslim.engines.lattice_cpa.listing import Listing
from riskslim.engines.lattice_cpa.model import has_limited_size
from riskslim.engines.lattice_cpa.outcomes import Outcomes
from riskslim.engines.lattice_cpa.relaxation import Relaxation
from riskslim.engines.lattice_cpa.start import best_possible_bounds
from riskslim.exceptions import ProblemSizeError, RiskSLIMError
from riskslim.solution import SolveStatistics, Trace
from searches import neighbours

HAS_SCIP = importlib.util.find_spec("pyscipopt") is not None
WITH_SCIP = pytest.mark.skipif(not HAS_SCIP, reason="no SCIP")
SOLVERS = ["cplex", pytest.param("scip", marks=WITH_SCIP)]
# For what does not depend on the solver: the second one where time is no matter.
FIRST_SOLVER = ["cplex", pytest.param("scip", marks=[WITH_SCIP, pytest.mark.slow])]


@functools.cache
def enumerated(seed, real=False):
    """A random problem, all its vectors, which meet the constraints, and their objectives."""
    small = draw(seed, real=real)
    return small, *small.enumerate()


@pytest.mark.slow
def test_the_feasible_vectors_are_those_of_the_oracle():
    n_feasible = n_infeasible = 0
    for seed in range(30):
        small, vectors, met, _ = enumerated(seed, seed % 3 == 0)
        problem = small.build()
        chosen = np.random.default_rng(seed).choice(len(vectors), 200)
        for vector, is_met in zip(vectors[chosen], met[chosen], strict=True):
            broken = [v for v in problem.violations(vector) if "outside of" not in v]
            assert (not broken) == is_met, (seed, vector, broken)
        n_feasible += met[chosen].sum()
        n_infeasible += (~met[chosen]).sum()
    assert min(n_feasible, n_infeasible) > 500


@pytest.fixture
def no_lists(monkeypatch):
    """All that the search without rates leaves is up to the solver."""

    def no_list(*args):
        return Listing(False, SolveStatistics())

    monkeypatch.setattr(lcpa, "list_in_order", no_list)


@pytest.fixture
def no_trees(monkeypatch):
    """All that the list leaves stays open."""
    monkeypatch.setattr(lcpa.LatticeCPARun, "_search_tree", lambda *args: lcpa.TIME_LIMIT)


@pytest.mark.slow
@pytest.mark.usefixtures("no_lists")
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_enumerated_optimum_is_found_without_compiled_kernels(solver, monkeypatch):
    """Without the search that leaves rates out; with it the contract of engines looks."""
    monkeypatch.setattr(lcpa, "are_complete", lambda: False)
    statuses = []
    for seed in (*range(6), 13, 14, 31, 32):  # no score meets the rates of the last four
        small, vectors, met, objectives = enumerated(seed, seed % 2 == 0)
        best = objectives[met].min(initial=np.inf)
        solution = lattice_cpa(small.build(), solver=solver, time_limit=60)
        statuses.append(solution.certificate.status)
        if best == np.inf:
            assert solution.certificate.status is Status.INFEASIBLE, seed
            continue
        assert solution.certificate.status is Status.OPTIMAL, (seed, solution.certificate.message)
        assert solution.certificate.objective == pytest.approx(best, rel=1e-9), seed
        place = (vectors == solution.coef).all(axis=1)
        assert met[place].all(), seed
        assert place.any(), seed
    assert statuses.count(Status.INFEASIBLE) >= 3
    assert statuses.count(Status.OPTIMAL) >= 5


@pytest.mark.parametrize("solver", FIRST_SOLVER)
def test_named_constraints_contradict_and_none_is_superfluous(solver, monkeypatch):
    # Whatever it takes to find out, on a busy machine too.
    monkeypatch.setattr(search, "PART_SECONDS", 1e3)
    monkeypatch.setattr(search, "TOTAL_SECONDS", 1e4)
    n = 0
    for seed in range(20):
        small, _, met, _ = enumerated(seed)
        problem = small.build()
        if met.any():
            continue
        solution = lattice_cpa(problem, solver=solver)
        message = solution.certificate.message
        named = [i for i, c in enumerate(problem.constraints) if f"({c.label})" in message]
        size_named = "model size" in message
        demands = [i for i in named if i < len(small.demands)]
        for left_out in [None, *named]:
            kept = [i for i in named if i != left_out]
            part = dataclasses.replace(
                small,
                demands=[small.demands[i] for i in demands if i in kept],
                others=[
                    small.others[i - len(small.demands)] for i in kept if i >= len(small.demands)
                ],
                max_size=small.max_size if size_named else small.X.shape[1],
            )
            assert part.enumerate()[1].any() == (left_out is not None), (seed, message)
        n += 1
    assert n >= 3


# ---- ties and thresholds -------------------------------------------------------------------


X4, Y4 = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]


@pytest.mark.parametrize("scale", [1.0, 2.5, 7.0])
@pytest.mark.parametrize("threshold", [0.5, 0.1, 0.9, 1e-12, 1 - 1e-12])
def test_thresholds_are_those_of_predict_proba(scale, threshold):
    problem = problem_of(X4, Y4, false_positive_rate_at_most(0, threshold), scale=scale)
    center = round(scale * np.log(threshold / (1 - threshold)))
    for intercept in range(center - 4, center + 5):
        score = RiskScore(intercept, {"x1": 1}, scale=scale)
        risks = score.predict_proba(np.array(X4))[:, 1]
        expected = bool((risks[:2] >= threshold).any())
        found = problem.constraint_rows.violations([intercept, 1])
        assert bool(found) is expected, intercept


def test_a_risk_that_a_score_has_is_reached_by_it():
    for score in range(-30, 31):
        risk = float(RiskScore(score, {"x1": 1}).predict_proba([[0]])[0, 1])
        problem = problem_of(X4, Y4, false_positive_rate_at_most(0, risk))
        assert problem.constraint_rows.violations([score, 0]) != []
        assert not problem.constraint_rows.violations([score - 1, 0])


def test_log_odds_are_scores_at_scale_one():
    problem = problem_of(X4, Y4, false_negative_rate_at_most(0, log_odds=2))
    assert problem.is_feasible([0, 1])  # scores 2 and 3
    assert problem.violations([-1, 1]) == [
        "false negative rate at most 0 with log-odds of at least 2 predicted positive: it is 0.5"
    ]


def test_the_rates_of_predict_are_those_of_log_odds_one():
    problem = problem_of(X4, Y4, false_positive_rate_at_most(0, log_odds=1))
    assert problem.is_feasible([-1, 1])  # a negative record has the score 0
    assert RiskScore(-1, {"x1": 1}).predict(np.array(X4)).tolist() == [0, 0, 1, 1]
    at_half = problem_of(X4, Y4, false_positive_rate_at_most(0, 0.5))
    assert not at_half.is_feasible([-1, 1])


@pytest.mark.parametrize("solver", SOLVERS)
def test_real_scores_next_to_the_threshold_reach_it(solver):
    # 3 x 0.1 - 0.3 is not quite 0 in binary; the record counts as positive.
    X, y = [[0.1, 0.3], [0.7, 0.2], [0.9, 0.1], [0.4, 0.3]], [0, 1, 1, 0]
    problem = problem_of(X, y, false_positive_rate_at_most(0, 0.5))
    assert not problem.is_feasible([0, 3, -1])
    assert not problem.is_feasible([0, 0, 0])
    far = problem_of(X, y, false_positive_rate_at_most(0, 0.5), weights=[1, 2, 1, 3])
    solution = lattice_cpa(far, solver=solver)
    assert solution.certificate.status is Status.OPTIMAL
    assert far.is_feasible(solution.coef)


def test_rates_are_compared_to_within_rounding():
    X, y = [[k] for k in range(10)] + [[20]], [0] * 10 + [1]
    problem = problem_of(X, y, false_positive_rate_at_most(0.3, 0.5))
    assert problem.constraint_rows.violations([-7, 1]) == []  # 3 of 10
    assert problem.constraint_rows.violations([-6, 1]) != []
    weighted = problem_of(X, y, false_positive_rate_at_most(0.3, 0.5), weights=[0.1] * 11)
    assert weighted.constraint_rows.violations([-7, 1]) == []


def test_groups_have_different_rates():
    gap = rate_gap_at_most(
        0.1, "false_negative", groups=["f", "m", "f", "m"], name="fair", threshold=0.5
    )
    problem = problem_of(X4, Y4, gap)
    assert problem.violations([-3, 1]) == ["fair: the rates are 1 (of 'f') and 0 (of 'm')"]
    by_feature = rate_gap_at_most(0, "positive", groups="x2", threshold=0.5)
    problem = problem_of([[0, 0], [1, 1], [2, 0], [3, 1]], Y4, by_feature)
    assert problem.violations([-1, 1, 0])[0].endswith(
        "the rates are 0.5 (with 'x2' = 0) and 1 (with 'x2' = 1)"
    )


def test_derived_intercepts_reach_where_rates_push_them():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (50, 1)), rng.integers(0, 2, 50)
    problem = problem_of(X, y, false_positive_rate_at_most(0, log_odds=-9))
    solution = lattice_cpa(problem)
    assert solution.certificate.is_optimal
    assert solution.intercept + max(0, solution.coef[1]) == -10


# ---- how they are stated -------------------------------------------------------------------


def test_equality_and_copies():
    groups = ["b", "a", "a"]
    one = rate_gap_at_most(0.1, groups=groups, threshold=0.5)
    assert one == rate_gap_at_most(0.1, groups=np.array(groups), threshold=0.5)
    assert hash(one) == hash(rate_gap_at_most(0.1, groups=pd.Series(groups), threshold=0.5))
    assert one == pickle.loads(pickle.dumps(one))
    assert one != rate_gap_at_most(0.1, groups=["a", "a", "b"], threshold=0.5)
    assert one != rate_gap_at_most(0.1, groups=groups, name="n", threshold=0.5)
    assert one != rate_gap_at_most(0.1, "positive", groups=groups, threshold=0.5)
    assert false_positive_rate_at_most(0.1, 0.5) != false_negative_rate_at_most(0.1, 0.5)
    assert false_positive_rate_at_most(0.1, 0.5) != false_positive_rate_at_most(0.1, log_odds=0)


@pytest.mark.parametrize(
    "constraint",
    [
        false_positive_rate_at_most(0.1, 0.25, name="fpr"),
        false_negative_rate_at_most(0.1, log_odds=-3),
        rate_gap_at_most(0.0, "positive", groups="sex", threshold=0.5),
    ],
)
def test_repr_is_the_constraint(constraint):
    assert eval(repr(constraint)) == constraint


gap_at_most = functools.partial(rate_gap_at_most, threshold=0.5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: false_positive_rate_at_most(1.5, 0.5), ValueError, "rate must be between 0 and 1"),
        (lambda: false_positive_rate_at_most("1", 0.5), ValueError, "rate must be a number"),
        (lambda: false_positive_rate_at_most(0.1, 1), ValueError, "threshold must be a risk"),
        (lambda: false_positive_rate_at_most(0.1), TypeError, "needs the threshold .* no default"),
        (lambda: false_negative_rate_at_most(0.1), TypeError, "a miss the harm b, it is a / \\(a"),
        (lambda: rate_gap_at_most(0.1, groups="a"), TypeError, "needs the threshold"),
        (lambda: false_positive_rate_at_most(0.1, 0.5, log_odds=0), ValueError, "not both"),
        (lambda: false_positive_rate_at_most(0.1, log_odds=1e9), ValueError, "log_odds must be"),
        (lambda: false_positive_rate_at_most(0.1, 0.5, name=1), TypeError, "name must be a str"),
        (lambda: gap_at_most(0.1, "negative", groups="a"), ValueError, "rate must be one of"),
        (lambda: gap_at_most(-1, groups="a"), ValueError, "gap must be between 0 and 1"),
        (lambda: gap_at_most(0.1, groups=["a", None]), ValueError, "no label in 1 of 2 rows"),
        (lambda: gap_at_most(0.1, groups=[1.0, float("nan")]), ValueError, "first at row 1"),
        (lambda: gap_at_most(0.1, groups=[1, 1]), ValueError, "needs two labels at least"),
        (lambda: gap_at_most(0.1, groups=range(MAX_GROUPS + 1)), ValueError, "11 labels"),
        (lambda: problem_of(X4, Y4, gap_at_most(0, groups=[0, 1])), ValueError,
         "groups of 2 rows, the data have 4"),
        (lambda: problem_of(X4, Y4, gap_at_most(0, groups="x")), ValueError, "x1"),
        (lambda: problem_of(X4, Y4, gap_at_most(0, groups="x1")), ValueError,
         "needs a feature of zeros and ones.*4 values"),
        (lambda: problem_of(X4, Y4, gap_at_most(0, groups=[0, 0, 1, 1])), ValueError,
         "about the negative records of 1, and there are none"),
        (lambda: problem_of(X4, Y4, false_positive_rate_at_most(0.1, 0.2), scale=(1, 3)),
         ValueError, "says another thing at every scale"),
        (lambda: ConstraintRows([false_positive_rate_at_most(0.1, 0.5)], ["x1"]), ValueError,
         "needs training data"),
    ],
)  # fmt: skip
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


# ---- engines and heuristics ----------------------------------------------------------------


def test_other_engines():
    problem = many_records(50)
    assert choose_engine(problem).name == "branch_and_bound"
    assert problem.is_feasible(solve(problem, time_limit=2).coef)
    at_half = problem_of(X4, Y4, false_positive_rate_at_most(0.1, 0.5), scale=(1, 3))
    with pytest.raises(ValueError, match="branch_and_bound searches over intervals"):
        lattice_cpa(at_half)


@pytest.mark.slow
@pytest.mark.usefixtures("no_lists")
@pytest.mark.skipif(not has_limited_size(), reason="CPLEX has no limit of size")
def test_too_many_records_for_the_community_edition():
    problem = many_records(3000)
    solution = lattice_cpa(problem, time_limit=60)
    certificate = solution.certificate
    assert certificate.status is Status.FEASIBLE
    assert "too large for the Community Edition" in certificate.message
    assert "solver='scip'" in certificate.message
    assert problem.is_feasible(solution.coef)
    relaxed = branch_and_bound(problem.without_rates()).certificate
    assert relaxed.is_optimal
    assert certificate.lower_bound == pytest.approx(relaxed.objective, abs=1e-8)
    assert relaxed.objective < certificate.objective - 1e-3
    if HAS_SCIP:
        solution = solve(problem, "lattice_cpa", solver="scip", time_limit=3)
        assert solution.settings["solver"] == "scip"
        assert problem.is_feasible(solution.coef)
        assert solution.certificate.lower_bound >= relaxed.objective - 1e-8


@pytest.mark.skipif(not has_limited_size(), reason="CPLEX has no limit of size")
def test_too_many_records_and_no_score_that_meets_the_rates():
    problem = many_records(3000)
    both = [false_positive_rate_at_most(0.01, 0.5), false_negative_rate_at_most(0.01, 0.5)]
    strict = RiskScoreProblem(problem.loss.data, problem.coefficients, max_size=3, constraints=both)
    with pytest.raises(ProblemSizeError, match=r"over \d{4} different records.*solver='scip'"):
        lattice_cpa(strict)


# ---- the search without constraints on rates -----------------------------------------------


def test_without_rates():
    others = [at_most(1, ["x1", "x2"]), monotone("x1", "+")]
    problem = problem_of(
        [[0, 1], [1, 0], [2, 1], [3, 0]],
        Y4,
        others[0],
        false_positive_rate_at_most(0, 0.5),
        others[1],
    )
    free = problem.without_rates()
    assert free.constraints == tuple(others)
    assert free.rates == ()
    assert len(problem.rates) == 1
    for name in ("lower", "upper"):
        assert np.array_equal(getattr(free, name), getattr(problem, name))
    assert free.is_feasible([0, 1, 0])
    assert not problem.is_feasible([0, 1, 0])
    assert not free.is_feasible([0, 1, 1])
    per_scale = problem_of(X4, Y4, false_positive_rate_at_most(0, 0.2), scale=[1, 2])
    with pytest.raises(ValueError, match="at_scale"):
        per_scale.without_rates()
    assert per_scale.at_scale(2).without_rates().rates == ()
    plain = problem_of(X4, Y4)
    assert plain.without_rates().constraint_rows is None


WITHOUT_RATES = "lattice_cpa (branch_and_bound without rates)"


@pytest.mark.slow
def test_the_score_without_rates_is_returned_where_it_meets_them():
    engines = []
    for seed in range(36):
        small = draw(seed, real=seed % 4 == 0)
        _, met, objectives = small.enumerate()
        free = dataclasses.replace(small, demands=[]).enumerate()
        best, least = objectives[met].min(initial=np.inf), free[2][free[1]].min()
        if best == np.inf:
            continue
        certificate = lattice_cpa(small.build()).certificate
        engines.append(certificate.engine)
        assert certificate.is_optimal, seed
        assert certificate.objective == pytest.approx(best, rel=1e-9), seed
        if best > least + 1e-7:
            assert certificate.engine != WITHOUT_RATES, seed
        if certificate.engine == WITHOUT_RATES:
            assert "left out of the search" in certificate.message
    assert engines.count(WITHOUT_RATES) >= 3
    assert len(engines) - engines.count(WITHOUT_RATES) >= 9


@pytest.mark.usefixtures("no_trees")
@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 4, 16])
def test_bounds_of_lists_that_end_early(monkeypatch, most):
    """Wherever a list ends, what is left has no score below its bound."""

    class Interrupted(BranchAndBoundRun):
        def __init__(self, call, accepts):
            super().__init__(call, accepts=self.counted)
            self.asked, self.asks = 0, accepts

        def counted(self, coef):
            self.asked += 1
            if self.asked >= most:
                self.interrupt()
            return self.asks(coef)

    monkeypatch.setattr(listing, "BranchAndBoundRun", Interrupted)
    # The list alone has found out what the bound says.
    monkeypatch.setattr(lcpa.LatticeCPARun, "_without_rates", unknown)
    statuses, bounds = [], []
    for seed in range(18):
        small, _, met, objectives = enumerated(seed, seed % 3 == 0)
        best = objectives[met].min(initial=np.inf)
        if best == np.inf:
            continue
        records = []
        solution = lattice_cpa(small.build(), progress=records.append)
        certificate = solution.certificate
        assert certificate.objective >= best * (1 - 1e-9), seed
        assert certificate.lower_bound <= best + certificate.bound_tolerance, seed
        assert records == list(solution.trace)
        for column, sign in (("upper_bound", -1), ("lower_bound", 1), ("nodes", 1)):
            assert (sign * np.diff(solution.trace[column]) >= 0).all(), (seed, column)
        assert (solution.trace["lower_bound"] <= best + certificate.bound_tolerance).all()
        statuses.append(certificate.status)
        bounds.append(certificate.lower_bound)
    assert max(bounds) > 0
    assert Status.FEASIBLE in statuses


def unknown(run):
    """What a search without rates says that has come to nothing."""
    return Relaxation(0.0, 0.0, None, False, "", None, SolveStatistics(), Trace(), run.progress)


@pytest.mark.parametrize(
    ("spent", "floor", "ends"),
    [
        (500, 0.5, False),  # too early to say
        (1500, 0.5, True),
        (1500, 0.55, True),  # a tenth of the way
        (1500, 0.6, False),  # a fifth of it
        (9000, 0.9, True),
        (10_500, 0.99, True),  # time is over
    ],
)
def test_a_list_ends_where_its_pace_gives_no_hope(spent, floor, ends):
    search = types.SimpleNamespace(floor=0.5, objective=1.0, nodes_before=0, gap=0.5)
    now = time.perf_counter()
    checks = listing._Checks(search, 0.0, now - spent + 10_000, lambda: False)
    checks.began = now - spent
    search.floor = floor
    assert checks.should_stop() == ends


@pytest.mark.slow
def test_a_list_ends_at_the_gap_that_is_allowed():
    problem = many_records(150)
    whole = lattice_cpa(problem).certificate
    assert lcpa.RATES_CHECKED in whole.message
    assert whole.is_optimal
    rough = lattice_cpa(problem, gap_tolerance=0.1).certificate
    assert rough.lower_bound <= whole.objective <= rough.objective
    assert rough.optimality_gap <= 0.1


@pytest.mark.usefixtures("no_lists")
@pytest.mark.parametrize("solver", FIRST_SOLVER)
def test_stopped_while_the_model_of_outcomes_is_built(solver, monkeypatch):
    problem = many_records(300)
    stated, wanted = Outcomes.add, []

    def add(self, check):
        wanted.append(check)
        return stated(self, check)

    monkeypatch.setattr(Outcomes, "add", add)
    solution = lattice_cpa(problem, solver=solver, should_stop=lambda: bool(wanted))
    certificate = solution.certificate
    assert len(wanted) == 1
    assert certificate.status is Status.INTERRUPTED
    free = branch_and_bound(problem.without_rates()).certificate
    assert certificate.lower_bound == pytest.approx(free.objective, abs=1e-8)
    assert problem.is_feasible(solution.coef)


@pytest.mark.parametrize("solver", SOLVERS)
def test_stopped_before_any_score_was_found(solver, monkeypatch):
    problem = many_records(300)
    both = [false_positive_rate_at_most(0.01, 0.5), false_negative_rate_at_most(0.01, 0.5)]
    strict = RiskScoreProblem(problem.loss.data, problem.coefficients, max_size=3, constraints=both)
    stated, wanted = Outcomes.add, []

    def add(self, check):
        wanted.append(check)
        return stated(self, check)

    monkeypatch.setattr(Outcomes, "add", add)
    with pytest.raises(RiskSLIMError, match="found so far"):
        lattice_cpa(strict, solver=solver, should_stop=lambda: bool(wanted))
    assert len(wanted) <= 2


def test_variables_are_shared_and_settled_records_have_none():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (40, 3)), rng.integers(0, 2, 40)
    constraints = (
        false_positive_rate_at_most(0.2, 0.5),
        rate_gap_at_most(0.3, "positive", groups=y, threshold=0.5),
    )
    problem = problem_of(X, y, *constraints)
    model = Formulation(problem, best_possible_bounds(problem))
    assert len(model.outcomes) == len(np.unique(X, axis=0))
    box = np.array([-20, 0, 0, 0]), np.array([-4, 1, 1, 1])
    assert len(Formulation(problem, best_possible_bounds(problem), box=box).outcomes) == 0


def test_solution_vectors_satisfy_every_row():
    for seed in range(20):
        small = draw(seed, real=seed % 2 == 1)
        problem = small.build()
        vectors, met, _ = small.enumerate()
        inside = ((vectors >= problem.lower) & (vectors <= problem.upper)).all(axis=1)
        model = Formulation(problem, best_possible_bounds(problem))
        for vector in vectors[met & inside][::97]:
            values = np.array(model.solution_vector(vector, problem.loss.value(vector))[1])
            for row in model.rows:
                total = values[row.indices] @ row.values
                assert row.low - 1e-7 <= total <= row.high + 1e-7, (seed, vector, row)


@pytest.mark.slow
@pytest.mark.parametrize("ridge", [0.0, 0.03])
def test_heuristics_keep_to_the_rates(ridge):
    n_found = 0
    for seed in range(20):
        small = draw(seed)
        small.ridge = ridge
        problem = small.build()
        vectors, met, objectives = small.enumerate()
        inside = met & ((vectors >= problem.lower) & (vectors <= problem.upper)).all(axis=1)
        if not inside.any():
            continue
        start = vectors[inside][0]
        polished = discrete_coordinate_descent(problem, start, swaps=True)
        assert problem.is_feasible(polished.coefficients)
        assert polished.objective <= objectives[inside][0] + 1e-12
        for other in neighbours(problem, polished.coefficients):
            assert problem.objective(other) >= polished.objective - 1e-12
        point = np.clip(start + 0.4, problem.lower, problem.upper)
        rounded = sequential_rounding(problem, point)
        if rounded.coefficients is not None:
            assert problem.is_feasible(rounded.coefficients)
            n_found += 1
    assert n_found >= 10


@pytest.mark.parametrize("solver", FIRST_SOLVER)
def test_a_list_of_scales(solver):
    small = draw(6)
    small.demands, small.others = [Demand("false_positive", 0.1, 0.7)], []
    problem = small.build(scale=[1, 2])
    solution = lattice_cpa(problem, solver=solver)
    singles = [lattice_cpa(small.build(scale=m), solver=solver) for m in (1, 2)]
    assert solution.certificate.is_optimal
    assert solution.certificate.objective == min(s.certificate.objective for s in singles)


def test_with_side_information_and_a_start():
    small = draw(3)
    small.demands = [Demand("false_positive", 0.2, 0.5)]
    small.others = [(risk_at_most(0.3, profile={}), lambda v: v[:, 0] <= -1)]
    problem = small.build()
    _, met, objectives = small.enumerate()
    start = np.array([-INTERCEPTS // 10, *[0] * small.X.shape[1]])
    solution = lattice_cpa(problem, start=start)
    assert solution.certificate.objective == pytest.approx(objectives[met].min(), rel=1e-9)
    with pytest.raises(ValueError, match=r"start is not feasible.*it is 1"):
        lattice_cpa(problem, start=np.zeros_like(start))


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.parametrize("solver", SOLVERS)
def test_mammo(shared_data, solver):
    free = paper_problem(shared_data, "mammo", max_size=2)
    data = free.loss.data
    problem = RiskScoreProblem(
        free.loss.data,
        free.coefficients,
        max_size=2,
        constraints=[false_positive_rate_at_most(0.1, 0.5)],
    )
    solution = lattice_cpa(problem, solver=solver, time_limit=300)
    assert solution.certificate.is_optimal
    score = RiskScore.from_solution(solution, data)
    negative = data.labels < 0
    assert np.mean(score.predict_proba(data)[negative, 1] >= 0.5) <= 0.1
    # The constraint costs something.
    assert solution.certificate.objective > lattice_cpa(free).certificate.objective + 0.01
