"""Lists of the best scores where the intercept's bounds are derived, against enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest

from enumeration import (
    loss,
    random_problem,
    slopes,
)
from riskslim import CoefficientSet, RiskScoreProblem, TrainingData, branch_and_bound
from riskslim.engines.branch_and_bound import wider_intercepts
from riskslim.loss.intercept_levels import LossByIntercept
from riskslim.rows.base import StoppedError


def one_item(**given) -> RiskScoreProblem:
    data = TrainingData(
        {"a": np.repeat([0, 1], 10)}, [0] * 7 + [1] * 3 + [0] * 2 + [1] * 8
    )  # fmt: skip
    coefficients = CoefficientSet(data.feature_names, -2, 2, **given)
    return RiskScoreProblem(data, coefficients, max_size=1, scale=5)


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
    monkeypatch.setattr(wider_intercepts.WiderIntercepts, "wider", stopped)
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
    pool = branch_and_bound(one_item(), n_solutions=wider_intercepts.MOST_MORE + 1).pool
    low, high = pool.intercepts
    assert not pool.complete
    assert len(pool) == 5 * (high - low + 1)
    assert "it has all scores with an intercept from" in pool.explain()


@pytest.mark.slow
def test_bounds_of_the_loss_by_intercept_hold():
    for seed in range(120):
        rng = np.random.default_rng([seed, 5])
        small = random_problem(rng, 150)
        small.intercept, small.scale = (None, None), float(rng.uniform(0.3, 6.0))
        problem = small.build()
        reach = LossByIntercept.of(problem.loss)
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
