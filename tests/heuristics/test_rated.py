"""Exchanges that limits on rates lead: what they find keeps them, and is found at all."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from at_threshold import DRAW_SHARED
from rated import DRAW, problem_of
from riskslim import (
    RiskScoreProblem,
    at_most,
    branch_and_bound,
    false_negative_rate_at_most,
    false_positive_rate_at_most,
    monotone,
    operating_point_at_least,
    rate_gap_at_most,
)
from riskslim.exceptions import RiskSLIMError
from riskslim.heuristics.rated import RatedSearch


def search(problem, starts=()):
    found = RatedSearch.of(problem, np.zeros(1, np.int64), lambda: False)
    return found, [] if found is None else list(found.run(starts))


def many_items(*constraints, seed=0, n=400, d=25, **options):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.4).astype(int)
    y = X[:, :6] @ [2, 2, 1, 1, -2, -1] + rng.logistic(0, 0.5, n) > 2
    return problem_of(X, y, *constraints, **options)


@pytest.mark.parametrize("kind", ["items", "items, no groups"])
def test_vectors_are_feasible_and_become_better(kind):
    n_found = n_feasible = 0
    for seed in range(40):
        small = DRAW_SHARED[kind](seed)
        problem = small.build()
        _, vectors = search(problem)
        objectives = [problem.objective(vector) for vector in vectors]
        assert all(map(problem.is_feasible, vectors))
        assert sorted(objectives, reverse=True) == objectives
        n_found += bool(vectors)
        n_feasible += small.enumerated[3] < math.inf
    assert n_found >= 0.8 * n_feasible > 8


def test_limits_at_stated_risks_are_met():
    n_found = n_feasible = 0
    for seed in range(30):
        small = DRAW["items"](seed)
        problem = small.build()
        found, vectors = search(problem)
        assert all(map(problem.is_feasible, vectors))
        if found is not None:
            n_found += bool(vectors)
            n_feasible += small.enumerated[3] < math.inf
    assert n_found >= 0.8 * n_feasible > 8


def test_what_needs_several_items_is_found():
    """Exchanges of one item after the other reach what the least loss is far from."""
    limits = [false_negative_rate_at_most(0.05, 0.2), false_positive_rate_at_most(0.6, 0.2)]
    for constraints in (limits, [operating_point_at_least(0.95, 0.4)]):
        problem = many_items(*constraints, max_size=4)
        _, vectors = search(problem)
        assert vectors
        assert problem.is_feasible(vectors[-1])


def test_other_constraints_are_kept():
    asked = operating_point_at_least(0.8, 0.4)
    others = [at_most(1, ["x1", "x2"]), monotone(["x3", "x4"], "-")]
    _, vectors = search(many_items(asked, *others, max_size=3))
    assert vectors
    for vector in vectors:
        assert (vector[1:3] != 0).sum() <= 1
        assert (vector[3:5] <= 0).all()


def test_starts_are_gone_on_from():
    problem = many_items(operating_point_at_least(0.8, 0.4), max_size=2)
    start = np.zeros(26, np.int64)
    start[[5, 6]] = 1
    assert search(problem, [start])[1]


def test_the_nearest_score_is_told():
    """No score has this; what is said is what the score that was found has."""
    problem = many_items(operating_point_at_least(0.99, 0.99), max_size=2)
    found, vectors = search(problem)
    assert vectors == []
    assert found.nearest.violation > 0.0
    assert problem.without_rates().is_feasible(found.nearest.coef)
    told = problem.rates[0].nearest(found.nearest.coef)
    solution = branch_and_bound(problem)
    assert f"The nearest score that was found has {told} together" in solution.certificate.message
    y, shares = problem.loss.data.labels, []
    scores = sum(
        point * problem.loss.data.column(j)
        for j, point in enumerate(found.nearest.coef[1:].tolist())
    )
    for threshold in np.unique(scores):
        called = scores >= threshold
        shares.append(
            f"sensitivity {100 * called[y > 0].mean():.4g}%, "
            f"specificity {100 * (~called[y < 0]).mean():.4g}%"
        )
    assert told in shares


def test_a_search_that_finds_nothing_in_time_says_what_it_came_near_to():
    problem = many_items(operating_point_at_least(0.9, 0.75), max_size=5, n=2000, d=60)
    try:
        message = branch_and_bound(problem, node_limit=0).certificate.message
    except RiskSLIMError as error:
        message = str(error)
    assert "together: ask for less" in message or "node limit" in message


def test_a_stop_ends_it():
    problem = many_items(operating_point_at_least(0.9, 0.5), max_size=4)
    asked = itertools.count()
    found = RatedSearch.of(problem, np.zeros(1, np.int64), lambda: False)
    assert list(found.run(should_stop=lambda: next(asked) > 3)) == []
    assert next(asked) < 30


def test_there_is_nothing_to_do_without_limits_that_cells_know():
    gap = rate_gap_at_most(0.1, groups="x1", threshold=0.5)
    for constraints in ([], [gap], [operating_point_at_least(0.9)]):
        assert search(many_items(*constraints))[0] is None
    real = np.random.default_rng(0).normal(size=(40, 2))
    problem = problem_of(real, real[:, 0] > 0, operating_point_at_least(0.9, 0.9))
    assert isinstance(problem, RiskScoreProblem)
    assert search(problem)[0] is None
