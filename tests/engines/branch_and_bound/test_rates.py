"""Constraints on rates, settled by scores in order: boxes, tables, limits, scales."""

from __future__ import annotations

import numpy as np
import pytest

from rated import draw, many_records, problem_of
from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    RiskScoreProblem,
    Status,
    TrainingData,
    at_most,
    branch_and_bound,
    false_negative_rate_at_most,
    false_positive_rate_at_most,
    rate_gap_at_most,
    risk_at_least,
)
from riskslim.engines.branch_and_bound import driver
from riskslim.engines.branch_and_bound.rates import Rates
from riskslim.engines.choice import choose_engine, solve


@pytest.mark.slow
def test_no_box_with_a_feasible_vector_is_left():
    n_left = 0
    for seed in range(20):
        small = draw(seed, real=seed % 2 == 1)
        vectors, met, _ = small.enumerate()
        rates = Rates(small.build())
        rng = np.random.default_rng(seed)
        for _ in range(60):
            ends = np.sort(vectors[rng.integers(len(vectors), size=2)], axis=0)
            if rng.random() < 0.5:  # one vector with a range of intercepts
                ends[1, 1:] = ends[0, 1:]
            inside = ((vectors >= ends[0]) & (vectors <= ends[1])).all(axis=1)
            if not rates.allows(ends[0], ends[1]):
                demands = met if not small.others else _met_by_rates(small, vectors)
                assert not (inside & demands).any(), (seed, ends)
                n_left += 1
    assert n_left > 150


def _met_by_rates(small, vectors):
    n = len(small.y)
    weights = np.ones(n) if small.weights is None else small.weights
    scores = vectors[:, :1] + vectors[:, 1:] @ small.X.T
    tie = small.tie
    return np.all([d.is_met(small.y, weights, scores, tie) for d in small.demands], axis=0)


def test_boxes_of_one_vector_are_decided():
    """Where records have integer values, what is left open is nothing."""
    for seed in range(10):
        small = draw(seed)
        problem = small.build()
        rates = Rates(problem)
        vectors, _, _ = small.enumerate()
        for vector in vectors[:: len(vectors) // 50]:
            assert rates.allows(vector, vector) == rates.accepts(vector), (seed, vector)


# ---- by tables -----------------------------------------------------------------------------------


def test_tables_settle_supports_that_cost_much_to_meet_a_rate():
    """The best scores of items that break a rate are many, and none of them is looked at."""
    rng = np.random.default_rng(3)
    X = (rng.random((400, 30)) < 0.4).astype(int)
    y = X[:, :6] @ [2, 2, 1, 1, -2, -1] + rng.logistic(0, 1.5, 400) > 2
    problem = problem_of(X, y, false_negative_rate_at_most(0.05, 0.3), max_size=3)
    assert problem.loss.n_rows == 400
    by_tables, without = (
        branch_and_bound(problem, node_limit=3000, settings=BranchAndBoundSettings(tables=tables))
        for tables in ("auto", "never")
    )
    assert by_tables.certificate.is_optimal
    assert by_tables.statistics.table_vectors > 0
    assert by_tables.statistics.nodes < without.statistics.nodes
    assert by_tables.certificate.objective <= without.certificate.objective + 1e-10
    assert without.certificate.lower_bound <= by_tables.certificate.objective + 1e-10


@pytest.mark.parametrize("seed", [4, 9, 11])
def test_scores_next_to_a_limit_are_judged_alike(seed):
    """One weight is 1e-9 of all: a limit of 0 is met to within rounding errors."""
    rng, n = np.random.default_rng(seed), 30
    X = rng.integers(0, 2, (2 * n + 1, 6)).astype(float)
    X = X[np.argsort(-(X @ rng.normal(0, 2, 6) + rng.normal(0, 1, len(X))))]
    y = np.array([1] * n + [-1] * n + [1])
    weights = np.concatenate([np.full(n, 33333333.0), np.full(n, 4e7), [1.0]])
    weights[0] += 1e9 - weights[:n].sum() - 1 - int(rng.integers(1, 30))
    data = TrainingData(X, y, weights)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    constraint = false_negative_rate_at_most(0.0, 0.2)
    problem = RiskScoreProblem(data, coefficients, max_size=3, constraints=[constraint])
    found = [
        branch_and_bound(problem, settings=BranchAndBoundSettings(tables=tables))
        for tables in ("always", "auto", "never")
    ]
    for one in found:
        assert problem.is_feasible(one.coef)
        assert one.certificate.objective == pytest.approx(found[-1].certificate.objective)


# ---- lists ---------------------------------------------------------------------------------------


def test_one_score_has_the_bounds_of_its_problem(monkeypatch):
    """The intercept is not searched beyond what holds an optimal score."""

    def refuse(*args):
        raise AssertionError("bounds of a list were derived")

    monkeypatch.setattr(driver, "WiderIntercepts", refuse)
    assert branch_and_bound(many_records(60)).certificate.is_optimal


# ---- limits --------------------------------------------------------------------------------------


def test_the_gap_that_is_allowed_ends_the_search():
    problem = many_records(400)
    settings = BranchAndBoundSettings(tables="never")
    whole, rough = (
        branch_and_bound(problem, settings=settings, gap_tolerance=gap) for gap in (0.0, 0.2)
    )
    assert whole.certificate.is_optimal
    assert rough.statistics.nodes < whole.statistics.nodes
    assert rough.certificate.message == "gap tolerance reached"


@pytest.mark.slow
def test_a_start_is_kept():
    problem = many_records(200)
    best = branch_and_bound(problem)
    solution = branch_and_bound(problem, start=best.coef, node_limit=0)
    assert solution.certificate.objective == pytest.approx(best.certificate.objective)
    with pytest.raises(ValueError, match="start is not feasible: false positive rate"):
        branch_and_bound(problem, start=[9, 0, 0, 0, 0, 0, 0])


@pytest.mark.slow
def test_the_result_does_not_depend_on_threads():
    problem = many_records(300)
    one, two = branch_and_bound(problem), branch_and_bound(problem, n_threads=2)
    assert (one.coef == two.coef).all()
    assert one.certificate.objective == two.certificate.objective


# ---- what cannot be met --------------------------------------------------------------------------


def test_named_constraints_contradict():
    both = [
        false_positive_rate_at_most(0.01, 0.5, name="specific"),
        false_negative_rate_at_most(0.01, 0.5, name="sensitive"),
        at_most(2, ["x1", "x2"], name="few"),
    ]
    problem = many_records(40, d=3)
    strict = RiskScoreProblem(problem.loss.data, problem.coefficients, max_size=3, constraints=both)
    certificate = branch_and_bound(strict).certificate
    assert certificate.status is Status.INFEASIBLE
    assert "(specific)" in certificate.message
    assert "(sensitive)" in certificate.message


def test_what_clashes_without_rates_is_named_alone():
    problem = problem_of(
        [[0, 1], [1, 0], [2, 1], [3, 0]],
        [0, 0, 1, 1],
        risk_at_least(0.9, profile={"x1": 1}, name="high"),
        risk_at_least(0.9, profile={}, name="also"),
        false_positive_rate_at_most(1, 0.5, name="anything"),
        intercept_upper=-9,
        intercept_lower=-9,
    )
    certificate = branch_and_bound(problem).certificate
    assert certificate.status is Status.INFEASIBLE
    assert "(also)" in certificate.message
    assert "(anything)" not in certificate.message


# ---- scales --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_lists_of_scales_are_searched_one_after_the_other():
    base = many_records(40)
    limit = base.constraints[0]
    shifted = false_positive_rate_at_most(0.1, 0.3)
    for constraint, per_scale in ((limit, False), (shifted, True)):
        listed = RiskScoreProblem(
            base.loss.data,
            base.coefficients,
            max_size=2,
            constraints=[constraint],
            scale=[0.5, 1, 3],
        )
        assert listed.is_constrained_per_scale == per_scale
        alone = [
            RiskScoreProblem(
                base.loss.data, base.coefficients, max_size=2, constraints=[constraint], scale=m
            )
            for m in (0.5, 1, 3)
        ]
        best = min(branch_and_bound(one).certificate.objective for one in alone)
        certificate = branch_and_bound(listed).certificate
        assert certificate.is_optimal
        assert certificate.objective == pytest.approx(best, abs=1e-9)


@pytest.mark.slow
def test_an_interval_of_scales():
    base = many_records(40)
    free = RiskScoreProblem(
        base.loss.data, base.coefficients, max_size=2, constraints=base.constraints, scale=(0.5, 4)
    )
    solution = branch_and_bound(free)
    assert solution.certificate.is_optimal
    fixed = [
        branch_and_bound(
            RiskScoreProblem(
                base.loss.data, base.coefficients, max_size=2, constraints=base.constraints, scale=m
            )
        ).certificate.objective
        for m in (0.5, 1.0, 2.0, 4.0)
    ]
    assert solution.certificate.lower_bound <= min(fixed)
    assert solution.certificate.objective <= min(fixed) * (1 + 1e-3)
    assert free.is_feasible(solution.coef)


def test_lists_of_scores_need_one_scale():
    base = many_records(80)
    listed = RiskScoreProblem(
        base.loss.data, base.coefficients, max_size=2, scale=[1, 2],
        constraints=[false_positive_rate_at_most(0.1, 0.3)],
    )  # fmt: skip
    with pytest.raises(ValueError, match="a list of scores needs one scale"):
        branch_and_bound(listed, n_solutions=3)


def test_auto_needs_no_solver():
    problem = many_records(50)
    assert choose_engine(problem).name == "branch_and_bound"
    assert solve(problem).certificate.engine == "branch_and_bound"
    gap = problem_of(
        [[0, 1], [1, 0], [2, 1], [3, 0]], [0, 0, 1, 1],
        rate_gap_at_most(0, "positive", groups="x2", threshold=0.5),
    )  # fmt: skip
    assert branch_and_bound(gap).certificate.is_optimal
