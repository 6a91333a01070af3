"""How far the loss of a score's features falls at another scale, against the loss itself."""

from __future__ import annotations

import numpy as np
import pytest

from partitions import in_parts, rows_of
from riskslim import (
    CoefficientSet,
    RiskScoreProblem,
    TrainingData,
    at_most,
    branch_and_bound,
    risk_at_most,
)
from riskslim.problem import scale_remark
from riskslim.problem.scale_remark import better_scale, remark_on_scale
from riskslim.scale import FREE_SCALE

NAMES = ["a", "b", "c", "d"]


def rows(kind="items", n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 4)).astype(float)
    if kind == "integers":
        X = rng.integers(-3, 9, (n, 4)).astype(float)
    elif kind == "reals":
        X += rng.normal(0, 0.3, X.shape)
    odds = (X - X.mean(axis=0)) / X.std(axis=0) @ [0.9, 0.5, -0.3, 0.0]
    odds *= 3 if kind == "integers" else 1  # so that a point per unit is not too much
    y = rng.random(n) < 1 / (1 + np.exp(0.7 - odds))
    return X, y


def stated(X, y, weights=None, scale=1.0, constraints=(), **bounds):
    data = TrainingData(X, y, weights, feature_names=NAMES)
    coefficients = CoefficientSet(NAMES, -5, 5, **bounds)
    return RiskScoreProblem(data, coefficients, scale=scale, max_size=3, constraints=constraints)


def loss_of(X, y, weights, vector, scale):
    log_odds = (vector[0] + X @ vector[1:]) / scale
    return np.average(np.logaddexp(0, np.where(y, -log_odds, log_odds)), weights=weights)


@pytest.mark.parametrize("kind", ["items", "integers", "reals"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_losses_are_those_of_the_rows(kind, weighted, scale):
    n_better = 0
    for seed in range(2):
        X, y = rows(kind, seed=seed)
        weights = np.random.default_rng(seed).integers(0, 4, len(y)) / 2 if weighted else None
        problem = stated(X, y, weights, scale)
        vector = branch_and_bound(problem).coef
        found = better_scale(problem, vector)
        if found is None:
            assert remark_on_scale(problem, vector) == ""
            continue
        n_better += 1
        assert found.before == pytest.approx(loss_of(X, y, weights, vector, scale), rel=1e-12)
        other = vector.copy()
        other[0], other[np.flatnonzero(vector[1:]) + 1] = found.intercept, found.points
        assert found.loss == pytest.approx(loss_of(X, y, weights, other, found.scale), rel=1e-12)
        assert found.loss < found.before
        assert not problem.violations(np.r_[vector[0], other[1:]])
        # A search over all scales finds at least as much.
        best = branch_and_bound(stated(X, y, weights, FREE_SCALE))
        assert best.certificate.lower_bound <= found.loss + 1e-6 * 3
        said = remark_on_scale(problem, vector)
        assert bool(said) == (found.before - found.loss >= 1e-3 * found.before)
    assert n_better >= 1


def test_requirements_on_points_are_kept():
    X, y = rows()
    vector = np.array([-1, 2, 1, 0, 0])
    free = better_scale(stated(X, y), vector)
    assert free.points.min() > 0
    given = stated(X, y, sign={"b": "-"}, intercept_lower=-2, intercept_upper=2)
    found = better_scale(given, np.array([-1, 2, -1, 0, 0]), (-2, 2))
    assert found.points[1] <= 0
    assert abs(found.intercept) <= 2
    one = stated(X, y, constraints=[at_most(1, ["a", "b"])])
    assert better_scale(one, vector) is None  # both would have points


def test_nothing_is_said_where_nothing_is_known():
    X, y = rows()
    vector = np.array([-1, 1, 1, 0, 0])
    said = remark_on_scale(stated(X, y), vector)
    assert said.startswith("The scale is fixed at 1. With other points at the scale ")
    assert ", these 2 features would have a loss of 0." in said
    assert "this feature would have" in remark_on_scale(stated(X, y), np.array([-1, 1, 0, 0, 0]))
    assert remark_on_scale(stated(X, y), np.array([-1, 0, 0, 0, 0])) == ""
    assert remark_on_scale(stated(X, y, scale=(0.5, 20)), vector) == ""
    assert remark_on_scale(stated(X, y, scale=[1, 2]), vector) == ""
    about_risks = stated(X, y, constraints=[risk_at_most(0.9, profile={})])
    assert remark_on_scale(about_risks, vector) == ""


def test_the_best_scale_needs_no_remark():
    X, y = rows()
    free = branch_and_bound(stated(X, y, scale=FREE_SCALE))
    fixed = stated(X, y, scale=free.scale)
    assert remark_on_scale(fixed, free.coef) == ""


def test_many_rows_of_reals_are_left_out(monkeypatch):
    X, y = rows("reals")
    problem = stated(X, y)
    vector = np.array([-1, 1, 1, 0, 0])
    assert better_scale(problem, vector) is not None
    monkeypatch.setattr(scale_remark, "_MOST_ROWS", 399)
    assert better_scale(problem, vector) is None


def test_separated_rows_have_an_end():
    X, _ = rows()
    found = better_scale(stated(X, X[:, 0] > 0), np.array([-2, 5, 0, 0, 0]))
    assert found.scale == FREE_SCALE[0]
    assert found.points.tolist() == [5]


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_are_added_up(merged, weighted):
    X, y = rows("integers")
    weights = np.random.default_rng(0).integers(1, 4, len(y)) / 2 if weighted else None
    whole = stated(X, y, weights)
    held = in_parts(rows_of(whole.loss.data, merged=merged), 3)
    apart = whole.restated(TrainingData.from_rows(held, feature_names=tuple(NAMES)))
    vector = np.array([-1, 1, -1, 1, 0])
    one, other = better_scale(whole, vector), better_scale(apart, vector)
    assert one.points.tolist() == other.points.tolist()
    assert one[2:] == pytest.approx(other[2:])
