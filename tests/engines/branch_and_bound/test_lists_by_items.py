"""Lists of the best score of each set of items, against enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from enumeration import random_problem
from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    LinearConstraint,
    RiskScoreProblem,
    TrainingData,
    branch_and_bound,
    false_negative_rate_at_most,
    not_both,
    operating_point_at_least,
    rate_gap_at_most,
)
from riskslim.engines.branch_and_bound.support_enumeration import SupportEnumeration
from sets_of_items import best_of_sets, faults, random_sets_problem, used

QUICK, SLOW = 30, 400


def seeds(quick: int, slow: int) -> list:
    late = (pytest.param(seed, marks=pytest.mark.slow) for seed in range(quick, quick + slow))
    return [*range(quick), *late]


def drawn(rng: np.random.Generator):
    """A problem with its best scores, by set; None where nothing is feasible."""
    small = random_sets_problem(rng)
    best = best_of_sets(small)
    return (small, best) if best else None


def settings(rng: np.random.Generator) -> BranchAndBoundSettings:
    return BranchAndBoundSettings(
        tables=str(rng.choice(["auto", "always", "nodes", "never"])),
        cutoffs=str(rng.choice(["auto", "always", "never"])),
        elimination=str(rng.choice(["auto", "always", "never"])),
    )


@pytest.mark.parametrize("seed", seeds(QUICK, SLOW))
def test_all_sets_are_listed_with_their_best_scores(seed):
    rng = np.random.default_rng(seed)
    if (found := drawn(rng)) is None:
        return
    small, best = found
    within = float(rng.choice([0.0, 0.01, 0.1, 0.5]))
    n_sets = int(rng.integers(2, 9)) if rng.random() < 0.4 else None
    if n_sets is not None and rng.random() < 0.3:
        within = None
    solution = branch_and_bound(
        small.build(), within=within, n_solutions=n_sets, distinct="items", settings=settings(rng)
    )
    assert solution.pool.complete
    assert faults(small, solution, best, within=within, n_sets=n_sets) == []


@pytest.mark.parametrize("seed", seeds(15, 150))
def test_what_is_claimed_after_a_stop_holds(seed):
    rng = np.random.default_rng(10_000 + seed)
    if (found := drawn(rng)) is None:
        return
    small, best = found
    within = float(rng.choice([0.01, 0.2, 1.0]))
    limit = int(rng.integers(0, 30))
    solution = branch_and_bound(
        small.build(), within=within, distinct="items", node_limit=limit, settings=settings(rng)
    )
    assert faults(small, solution, best, within=within) == []


def items_problem(seed: int = 0, **stated) -> RiskScoreProblem:
    rng = np.random.default_rng(seed)
    X = (rng.random((400, 9)) < 0.4).astype(float)
    odds = X @ np.array([1.2, -1.0, 0.8, 0.5, 0.4, 0.3, 0.0, 0.0, 0.0]) - 0.4
    y = rng.random(400) < 1 / (1 + np.exp(-odds))
    data = TrainingData(X, y.astype(int))
    return RiskScoreProblem(data, CoefficientSet(data.feature_names, -2, 2), max_size=3, **stated)


def vectors_of(problem: RiskScoreProblem, within: float):
    """The same by a list of all vectors, of each set the best one."""
    pool = branch_and_bound(problem, within=within).pool
    assert pool.complete
    best: dict = {}
    for coef, objective in zip(pool.coefficients, pool.objectives, strict=True):
        best.setdefault(used(coef), objective)
    return best


@pytest.mark.parametrize(
    "stated",
    [
        {},
        {"scale": (0.9, 1.4)},
        {"scale": [1.0, 2.0], "l2_penalty": 0.004},
        {"constraints": [not_both("x1", "x2")]},
        {"constraints": [LinearConstraint(points={"x1": 1, "x3": 1}, upper=1)]},
        {"constraints": [false_negative_rate_at_most(0.4, 0.5)]},
        {"constraints": [operating_point_at_least(0.6, 0.6)]},
        {"constraints": [rate_gap_at_most(0.005, groups=np.arange(400) % 2 == 0, threshold=0.5)]},
    ],
    ids=["one scale", "any scale", "two scales", "constraint", "points", "rate", "shares", "gap"],
)
@pytest.mark.parametrize("tables", ["always", "never"])
def test_a_list_by_items_has_the_best_of_a_list_of_scores(stated, tables):
    problem = items_problem(**stated)
    solution = branch_and_bound(
        problem, within=0.05, distinct="items", settings=BranchAndBoundSettings(tables=tables)
    )
    expected = vectors_of(problem, 0.05)
    pool = solution.pool
    assert pool.complete
    assert len(pool) > 1
    found = dict(zip(map(used, pool.coefficients), pool.objectives, strict=True))
    near = problem.scales.is_interval
    limit = 1.05 * pool.objectives[0] * (1 - 2e-5 * near) - 1e-9
    for key in {*found, *expected}:
        if min(found.get(key, math.inf), expected.get(key, math.inf)) < limit:
            assert found[key] == pytest.approx(expected[key], rel=2e-5 if near else 1e-9)
    assert pool.lower_bounds == pytest.approx(pool.objectives, rel=2e-5 if near else 1e-9)
    assert (pool.lower_bounds <= pool.objectives).all()


@pytest.mark.parametrize("weighting", ["none", "whole", "real"])
def test_weights(weighting):
    rng = np.random.default_rng(5)
    weights = {
        "none": None, "whole": rng.integers(1, 5, 400).astype(float), "real": rng.random(400)
    }[weighting]  # fmt: skip
    given = items_problem().loss.data
    X = np.column_stack([given.column(j) for j in range(9)])
    data = TrainingData(X, given.labels > 0, weights)
    problem = RiskScoreProblem(data, CoefficientSet(data.feature_names, -2, 2), max_size=3)
    pool = branch_and_bound(problem, within=0.08, distinct="items").pool
    expected = vectors_of(problem, 0.08)
    assert pool.complete
    assert set(map(used, pool.coefficients)) == set(expected)
    assert pool.objectives == pytest.approx(sorted(expected.values()), abs=1e-9)


def test_tables_find_the_best_points_of_each_set():
    problem = items_problem()
    always = BranchAndBoundSettings(tables="always")
    solution = branch_and_bound(problem, within=0.12, distinct="items", settings=always)
    statistics = solution.statistics
    assert statistics.table_vectors >= len(solution.pool) - 1  # one is known before
    assert statistics.table_left == 0


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_are_merged_are_counted(seed):
    """Equal rows weigh what they are, which need be no multiple of a small part of the least."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (200, 2))
    y = rng.random(200) < 0.2 + 0.5 * X[:, 0]
    data = TrainingData(X, y)
    problem = RiskScoreProblem(
        data, CoefficientSet(data.feature_names, -5, 5), scale=(0.5, 20), l2_penalty=0.005
    )
    tables = SupportEnumeration(problem)
    assert tables.packed is not None
    assert tables.packed.is_exact
    found = branch_and_bound(problem, within=2.0, distinct="items", node_limit=200)
    assert found.pool.complete
    assert len(found.pool) == 4


def test_the_list_does_not_depend_on_threads():
    problem = items_problem(scale=(0.7, 6.0))
    one, two = (
        branch_and_bound(problem, within=0.08, distinct="items", n_threads=n) for n in (1, 2)
    )
    assert one.pool.coefficients.tolist() == two.pool.coefficients.tolist()
    assert one.pool.objectives.tolist() == two.pool.objectives.tolist()
    assert one.pool.bound == two.pool.bound


def test_one_set_is_one_score():
    problem = items_problem()
    plain = branch_and_bound(problem)
    by_items = branch_and_bound(problem, distinct="items")
    assert by_items.pool is None
    assert by_items.coef.tolist() == plain.coef.tolist()


def test_all_sets():
    small = random_problem(np.random.default_rng(2), 200)
    best = best_of_sets(small)
    pool = branch_and_bound(small.build(), n_solutions=1000, distinct="items").pool
    assert pool.complete
    assert pool.bound == math.inf
    assert set(map(used, pool.coefficients)) == set(best)
    assert "no other set of items meets the requirements" in pool.explain()


def test_an_unknown_kind_of_list_is_refused():
    with pytest.raises(ValueError, match="distinct must be one of scores, items, got 'sets'"):
        branch_and_bound(items_problem(), within=0.1, distinct="sets")


def test_a_list_says_what_it_holds():
    pool = branch_and_bound(items_problem(), within=0.08, distinct="items").pool
    assert pool.distinct == "items"
    assert pool.explain().startswith("The list has the best score of each set of items. ")
    assert "no other set of items has a score with an objective below" in pool.explain()
    stopped = branch_and_bound(
        items_problem(), within=0.5, distinct="items", node_limit=0,
        settings=BranchAndBoundSettings(tables="never"),
    ).pool  # fmt: skip
    assert not stopped.complete
    assert "incomplete" in stopped.explain()
    pairs = itertools.pairwise(stopped.objectives.tolist())
    assert all(first <= second for first, second in pairs)
