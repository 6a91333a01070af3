"""Lists of the best scores where the intercept's bounds are derived, against enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest

from checked_solutions import report
from enumeration import (
    enumerate_ranked,
    loss,
    random_constrained_problem,
    random_problem,
    slopes,
)
from pools import pool_faults
from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData, branch_and_bound
from riskslim.engines.branch_and_bound import beyond
from riskslim.loss.reach import InterceptReach
from riskslim.rows.base import StoppedError

REQUESTS = ((None, 0.02), (None, 0.3), (12, None), (150, None), (5, 0.05), (400, 0.5))


def one_item(**given) -> RiskScoreProblem:
    data = TrainingData(
        {"a": np.repeat([0, 1], 10)}, [0] * 7 + [1] * 3 + [0] * 2 + [1] * 8
    )  # fmt: skip
    coefficients = CoefficientSet(data.feature_names, -2, 2, **given)
    return RiskScoreProblem(LogisticLoss(data, coefficients), coefficients, max_size=1, scale=5)


def test_a_list_has_the_scores_beyond_the_derived_bounds():
    problem = one_item()
    assert problem.lower[0] == 0  # which holds the optimum
    pool = branch_and_bound(problem, within=0.02).pool
    assert pool.coefficients.tolist() == [[0, 2], [1, 2], [-1, 2]]
    assert pool.complete
    assert pool.bound == pytest.approx(1.02 * pool.objectives[0])
    assert problem.lower[0] == 0  # the user's problem is left as it is


def test_a_stop_before_intercepts_beyond_are_looked_at_keeps_the_list(monkeypatch):
    def stopped(*_):
        raise StoppedError

    expected = branch_and_bound(one_item(), within=0.02)
    monkeypatch.setattr(beyond.Beyond, "wider", stopped)
    solution = branch_and_bound(one_item(), within=0.02)
    assert solution.certificate.objective == expected.certificate.objective
    assert solution.pool.coefficients.tolist() == expected.pool.coefficients.tolist()
    assert solution.pool.bound <= expected.pool.bound


def test_given_bounds_are_kept():
    pool = branch_and_bound(one_item(intercept_lower=0), within=0.05).pool
    assert pool.complete
    assert pool.coefficients[:, 0].min() == 0
    assert pool.coefficients[:, 0].max() > 1
    both = branch_and_bound(one_item(intercept_lower=0, intercept_upper=1), n_solutions=500).pool
    assert both.complete
    assert len(both) == 2 * 5
    assert (both.bound, both.intercepts) == (math.inf, None)


def test_more_scores_than_there_are_within_the_bounds():
    pool = branch_and_bound(one_item(), n_solutions=200).pool
    assert (pool.complete, pool.intercepts, len(pool)) == (True, None, 200)
    pool = branch_and_bound(one_item(), n_solutions=beyond.MOST_MORE + 1).pool
    low, high = pool.intercepts
    assert not pool.complete
    assert len(pool) == 5 * (high - low + 1)
    assert "it has all scores with an intercept from" in pool.explain()


def open_problem(seed, max_slopes=150):
    """Neither or one bound of the intercept is given; now and then no score without points."""
    rng = np.random.default_rng([seed, 4])
    draw = random_constrained_problem if seed % 4 == 0 else random_problem
    small = draw(rng, max_slopes)
    if not any("(intercept)" in getattr(one, "points", ()) for one in small.constraints):
        first, last = ((None, None), (None, None), (None, 4), (-4, None))[seed % 4]
        small.intercept = (first, last)
    return small


@pytest.mark.parametrize("first_seed", range(0, 300, 60))
def test_lists_with_derived_bounds_lack_nothing(first_seed):
    failures, beyond_bounds = [], 0
    for seed in range(first_seed, first_seed + 60):
        n_solutions, within = REQUESTS[seed % len(REQUESTS)]
        small = open_problem(seed)
        problem = small.build()
        solution = branch_and_bound(problem, n_solutions=n_solutions, within=within, time_limit=600)
        if wrong := pool_faults(small, problem, solution, n_solutions, within):
            failures.append(report(seed, (n_solutions, within), wrong))
        if solution.pool is not None:
            listed = solution.pool.coefficients[:, 0]
            beyond_bounds += (listed < problem.lower[0]).any() | (listed > problem.upper[0]).any()
    assert not failures, "\n".join(failures)
    assert beyond_bounds > 5


def test_a_search_is_repeated_where_its_first_level_was_too_low(monkeypatch):
    monkeypatch.setattr(beyond.Beyond, "first", lambda self, problem: problem)
    failures, repeated = [], []
    wider = beyond.Beyond.wider

    def counted(self, problem, incumbents):
        found = wider(self, problem, incumbents)
        repeated.append(found is not None)
        return found

    monkeypatch.setattr(beyond.Beyond, "wider", counted)
    for seed in range(60):
        n_solutions, within = REQUESTS[seed % len(REQUESTS)]
        small = open_problem(seed)
        problem = small.build()
        solution = branch_and_bound(problem, n_solutions=n_solutions, within=within, time_limit=600)
        if wrong := pool_faults(small, problem, solution, n_solutions, within):
            failures.append(report(seed, (n_solutions, within), wrong))
    assert not failures, "\n".join(failures)
    assert sum(repeated) > 20


def test_a_repeated_search_that_a_limit_ends_keeps_what_is_proven(monkeypatch):
    monkeypatch.setattr(beyond.Beyond, "first", lambda self, problem: problem)
    ended = 0
    for seed in range(40):
        small = open_problem(seed)
        problem = small.build()
        best = branch_and_bound(problem)
        if best.coefficients is None:
            continue
        for node_limit in (2, 6, 20):
            solution = branch_and_bound(problem, within=0.3, node_limit=node_limit)
            pool, certificate = solution.pool, solution.certificate
            assert certificate.lower_bound <= best.certificate.objective + 1e-10
            if pool.complete:
                continue
            ended += certificate.is_optimal
            low, high = int(problem.lower[0]) - 15, int(problem.upper[0]) + 15
            low = low if small.intercept[0] is None else int(problem.lower[0])
            high = high if small.intercept[1] is None else int(problem.upper[0])
            vectors, objectives = enumerate_ranked(small, low, high)
            listed = set(map(tuple, pool.coefficients.tolist()))
            is_other = [tuple(vector) not in listed for vector in vectors.tolist()]
            assert pool.bound <= objectives[is_other].min(initial=math.inf) + 1e-10, seed
    assert ended > 5


def test_bounds_of_the_loss_by_intercept_hold():
    for seed in range(120):
        rng = np.random.default_rng([seed, 5])
        small = random_problem(rng, 150)
        small.intercept, small.scale = (None, None), float(rng.uniform(0.3, 6.0))
        problem = small.build()
        reach = InterceptReach.of(problem.loss)
        grid = slopes(small)
        before = math.inf
        for intercept in range(-12, 13, 3):
            vectors = np.insert(grid[:: max(1, len(grid) // 15)], 0, intercept, axis=1)
            least = min(loss(small, vector) for vector in vectors)
            assert reach.least_loss_from(intercept) <= least
            assert reach.least_loss_up_to(intercept) <= least
            assert reach.least_loss_up_to(intercept) <= before
            before = reach.least_loss_up_to(intercept)
        level = float(rng.uniform(0.3, 2.0))
        low, high = reach.range_within(level, 0, 0)
        assert reach.least_loss_up_to(low - 1) > level
        assert reach.least_loss_from(high + 1) > level
        assert low == 0 or reach.least_loss_up_to(low) <= level
        assert high == 0 or reach.least_loss_from(high) <= level
