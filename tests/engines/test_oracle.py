"""The enumeration that engines are compared with, and the mixture of problems that are drawn."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

from enumeration import (
    SmallProblem,
    enumerate_completely,
    enumerate_optimum,
    enumerate_over_scales,
    meets_constraints,
    objective,
    random_problem,
    random_ridge,
)
from riskslim import at_least
from small_problems import COLUMNS, MOST_SLOPES, SOURCES, STATED, Case, plain


@pytest.mark.parametrize("seed", range(12))
def test_enumeration_agrees_with_complete_enumeration(seed):
    rng = np.random.default_rng([seed, 7])
    small = random_problem(rng)
    # Few slope vectors, and every intercept with each of them.
    small.lower, small.upper = np.maximum(small.lower, -1), np.minimum(small.upper, 1)
    small.lower = np.minimum(small.lower, small.upper)
    small.fixed, small.min_size, small.max_size = {}, min(small.min_size, 1), None
    small.lower[3:] = small.upper[3:] = 0
    if seed % 3 and small.intercept != (None, None):
        small.intercept = (-4, 4)
    if seed % 2:
        small.l2_penalty = random_ridge(rng, small.d)
    assert enumerate_optimum(small).objective == pytest.approx(
        enumerate_completely(small), rel=0, abs=1e-13
    )


def test_enumeration_finds_ties():
    # A column and its copy: each can carry the coefficient.
    X = np.array([[0, 0], [1, 1], [1, 1], [0, 0], [1, 1], [0, 0.0]])
    small = SmallProblem(
        X, np.array([-1, 1, 1, -1, 1, 1]), None, np.array([-3, -3]), np.array([3, 3]),
        [0, 0], {}, np.full(2, np.nan), 0.01, 0, 1, (None, None),
    )  # fmt: skip
    best = enumerate_optimum(small)
    assert len(best.vectors) == 2
    assert sorted(map(tuple, best.vectors[:, 1:])) == [(0, 3), (3, 0)]
    assert best.objective == pytest.approx(enumerate_completely(small), abs=1e-14)


def test_random_problems_have_the_mixture():
    cases = [Case("any", "as drawn", seed) for seed in range(100)]
    smalls, problems = [case.small for case in cases], [case.problem for case in cases]
    forms = [problem.loss.form for problem in problems]
    assert min(forms.count("lookup_table"), forms.count("real_valued")) > 12
    required = [np.count_nonzero(problem.required) for problem in problems]
    for kind in (
        [small.weights is not None for small in smalls],
        [small.weights is not None and np.any(small.weights == 0) for small in smalls],
        [small.intercept == (None, None) for small in smalls],
        [None not in small.intercept for small in smalls],
        [np.any(~np.isnan(small.feature_penalty)) for small in smalls],
        [small.max_size is not None and small.max_size < small.d for small in smalls],
        [small.min_size > need for small, need in zip(smalls, required, strict=True)],
        [need > 0 for need in required],
        [any(small.sign) for small in smalls],
        [len(small.fixed) > 0 for small in smalls],
        [small.l0_penalty < 1e-6 for small in smalls],
        [small.l0_penalty > 1e-3 for small in smalls],
        [case.best.objective < 0.2 for case in cases],
        [small.d == 6 for small in smalls],
        [small.scale != 1.0 for small in smalls],
        [np.prod(np.ptp(small.box(), axis=0) + 1) > MOST_SLOPES for small in smalls],
    ):
        assert 3 <= sum(kind) <= len(smalls) - 3
    # A scale matters: most optima are not those at 1.
    at_one = [
        enumerate_optimum(dataclasses.replace(case.small, scale=1.0)).vectors[0]
        for case in cases
        if case.small.scale != 1.0
    ]
    scaled = [case.best.vectors[0] for case in cases if case.small.scale != 1.0]
    assert np.mean([a.tolist() != b.tolist() for a, b in zip(at_one, scaled, strict=True)]) > 0.4


@pytest.mark.slow
def test_random_constraints_have_the_mixture():
    cases = [Case("constraints", "as drawn", seed) for seed in range(100)]
    feasible = [case.best.feasible for case in cases]
    found_early = [case.problem.infeasibility is not None for case in cases]
    assert not any(itertools.starmap(np.logical_and, zip(feasible, found_early, strict=True)))
    assert sum(found_early) > 9
    bounded = [Case("bounds on scores", "as drawn", seed) for seed in range(80)]
    late = [case for case in (*cases, *bounded) if not case.best.feasible]
    assert sum(case.problem.infeasibility is None for case in late) > 1  # left to engines
    rows = [row for case in cases for row in case.small.constraints]
    for kind in (
        [row.points and row.used for row in rows],
        [not row.points and len(row.used) > 1 for row in rows],
        ["(intercept)" in row.points for row in rows],
        [any(value != round(value) for value in row.points.values()) for row in rows],
        [row.lower == row.upper for row in rows],
        [math.isinf(row.lower) for row in rows],
        [math.isinf(row.upper) for row in rows],
        [min(row.used.values(), default=0) < 0 for row in rows],
    ):
        assert 10 <= sum(map(bool, kind)) <= len(rows) - 10
    # Constraints matter: many optima are not those without them.
    without = [
        enumerate_optimum(dataclasses.replace(case.small, constraints=())).objective
        for case in cases[:60]
        if case.best.feasible
    ]
    held = [case.best.objective for case in cases[:60] if case.best.feasible]
    assert np.mean(np.array(held) > np.array(without) + 1e-6) > 0.4


@pytest.mark.slow
def test_all_that_a_case_states_can_be_left_out():
    """What hypothesis makes smaller is a problem, and the same one as far as it goes."""
    for source, columns in itertools.product(SOURCES, COLUMNS):
        for seed in range(1):
            whole = Case(source, columns, seed).small
            for n_rows, n_features, left_out in (
                (8, None, ()), (None, 1, ()), (9, 2, ()),
                *((None, None, (name,)) for name in STATED),
            ):  # fmt: skip
                case = Case(
                    source, columns, seed, n_rows=n_rows, n_features=n_features,
                    left_out=frozenset(left_out),
                )  # fmt: skip
                small = case.small
                assert case.problem.n_features == small.d
                assert small.X.shape == (n_rows or len(whole.y), n_features or whole.d)
                np.testing.assert_array_equal(small.X, whole.X[: len(small.y), : small.d])
                assert set(small.y) == {-1, 1}
    small = Case("constraints", "as drawn", 1, left_out=frozenset(STATED)).small
    assert small.weights is None
    assert (small.constraints, small.scale, small.min_size, small.fixed) == ((), 1.0, 0, {})


@pytest.mark.parametrize("seed", range(10))
def test_enumeration_with_constraints_agrees_with_complete_enumeration(seed):
    small = Case("constraints", "as drawn", seed).small
    small = dataclasses.replace(small, fixed={}, min_size=0, max_size=None, intercept=(-4, 4))
    small.lower, small.upper = np.maximum(small.lower, -1), np.minimum(small.upper, 1)
    small.lower = np.minimum(small.lower, small.upper)
    small.lower[3:] = small.upper[3:] = 0
    assert enumerate_optimum(small).objective == pytest.approx(
        enumerate_completely(small), rel=0, abs=1e-13
    )


def test_meeting_constraints_is_checked_vector_by_vector():
    small = plain(np.random.default_rng(2), 3, constraints=(at_least(2, ["x0", "x1", "x2"]),))
    vectors = np.array([[0, 1, 1, 0], [9, 1, 0, 0], [0, -1, 2, 3], [1, 0, 0, 0]])
    assert meets_constraints(small, vectors).tolist() == [True, False, True, False]


@pytest.mark.parametrize("seed", range(6))
def test_enumeration_over_scales_agrees_with_a_grid_of_scales(seed):
    """With a ridge penalty as well, which falls as a scale grows."""
    small = Case(
        "scales", "as drawn", seed, 200, n_rows=20, n_features=2, ridge=bool(seed % 2)
    ).small
    small.scale, small.intercept = (0.5, 6.0), (-2, 2)
    vectors, values = enumerate_over_scales(small)
    grid = np.geomspace(0.5, 6.0, 400)
    for vector, value in list(zip(vectors, values, strict=True))[::7]:
        tried = [objective(small, vector, scale) for scale in grid]
        assert value <= min(tried) + 1e-12
        assert value == pytest.approx(min(tried), abs=1e-4)
