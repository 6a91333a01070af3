"""The best rule by trying all points, thresholds and intercepts: the search shares nothing."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import NamedTuple

import numpy as np

from riskslim import (
    CoefficientSet,
    LinearConstraint,
    RiskScoreProblem,
    TrainingData,
    at_most,
    if_then,
    points_in,
    risk_at_most,
)
from riskslim.engines.branch_and_bound.support_enumeration import MOST_PLANES
from riskslim.exceptions import ConstantFeatureWarning
from riskslim.operating_point import RequiredShare

# Intercepts that are tried; points of small problems need none beyond.
INTERCEPTS = range(-24, 25)


class Best(NamedTuple):
    """What the best rule calls right of the other class, and the least objective of such rules."""

    right: float
    objective: float
    vectors: int


def sets_by_trying(problem, required, X, y, weights):
    """What the best rule of each set of items calls right, by the items' numbers."""
    best = {}
    for right, points, _ in _tried(problem, required, X, y, weights):
        items = tuple(j for j, each in enumerate(points) if each)
        best[items] = max(best.get(items, 0.0), right)
    return best


def best_by_trying(problem, required, X, y, weights, *, with_objective=True):
    """Try every vector of points; None if no score is feasible."""
    found = _tried(problem, required, X, y, weights)
    if not found:
        return None
    y = np.asarray(y) > 0
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, float)
    whole = math.fsum(weights[~y if required.name == "sensitivity" else y])
    wide = problem.reaching(INTERCEPTS[0], INTERCEPTS[-1])
    right = max(best for best, _, _ in found)
    equal = [one for one in found if one[0] >= right - 1e-9 * whole]
    objective = math.inf
    if with_objective:
        for _, points, intercepts in equal:
            for b in intercepts:
                objective = min(objective, wide.objective(np.array([b, *points])))
    return Best(right, objective, len(found))


def _tried(problem, required, X, y, weights):
    """Every feasible vector: what its best threshold calls right, its points and intercepts."""
    X, y = np.asarray(X, float), np.asarray(y) > 0
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, float)
    own, other = (y, ~y) if required.name == "sensitivity" else (~y, y)
    whole = math.fsum(weights[own])
    limit = (1.0 - required.share) * whole + 1e-9 * whole
    wide = problem.reaching(INTERCEPTS[0], INTERCEPTS[-1])
    rows = problem.constraint_rows
    differs = rows is not None and bool(rows.points[:, 0].any())
    boxes = [
        range(int(a), int(b) + 1) for a, b in zip(problem.lower[1:], problem.upper[1:], strict=True)
    ]
    found = []
    for points in itertools.product(*boxes):
        intercepts = [
            b
            for b in (INTERCEPTS if differs else INTERCEPTS[:1])
            if wide.is_feasible([b if differs else wide.lower[0], *points])
        ]
        if not intercepts:
            continue
        if not differs:
            intercepts = [b for b in INTERCEPTS if wide.lower[0] <= b <= wide.upper[0]]
        scores = np.round(X @ np.array(points, float), 9)
        best = -1.0
        for threshold in [*np.unique(scores), math.inf]:
            called = scores >= threshold
            missed = ~called if required.name == "sensitivity" else called
            if math.fsum(weights[own & missed]) <= limit:
                best = max(best, math.fsum(weights[other & missed]))
        found.append((best, points, intercepts))
    return found


def drawn(seed):
    """A small problem of a kind that the seed says, with its table."""
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(2, 6)), int(rng.integers(6, 60))
    wide = rng.random() < 0.3
    n_values = [int(rng.integers(3, 6)) if wide and rng.random() < 0.4 else 2 for _ in range(d)]
    X = np.column_stack([rng.integers(0, k, n) for k in n_values]).astype(float)
    if rng.random() < 0.3:  # items that hardly any row has
        X[:, 0] = (rng.random(n) < 0.06) * 1.0
    y = (rng.random(n) < 1 / (1 + np.exp(-(X @ rng.normal(0, 1, d) - 0.5)))) * 1
    y[:2] = 0, 1
    kind = rng.integers(0, 4)
    weights = [
        None, None, rng.integers(1, 6, n) * rng.choice([1.0, 0.25]), rng.uniform(0.1, 3.0, n)
    ][kind]  # fmt: skip
    if weights is not None and rng.random() < 0.2:
        weights = np.where(rng.random(n) < 0.2, 0.0, weights)
        weights[:2] = 1.0
    names = [f"x{j}" for j in range(d)]
    most = 1 if d == 5 or wide else int(rng.integers(1, 3))
    lower, upper = np.full(d, -most), np.full(d, most)
    if rng.random() < 0.3:
        lower[rng.integers(d)] = 0
    if rng.random() < 0.1 and 0 < X[:, 0].sum() < n:
        lower[0] = upper[0] = 1
    ends = {}
    if rng.random() < 0.15:
        ends = {"intercept_lower": -2, "intercept_upper": 1}
    coefficients = CoefficientSet(names, lower.tolist(), upper.tolist(), **ends)
    size = int(rng.integers(1, d + 1))
    planes = sorted((int(k - 1).bit_length() for k in n_values), reverse=True)
    while sum(planes[:size]) > MOST_PLANES:
        size -= 1
    constraints = []
    if rng.random() < 0.3:
        constraints.append(at_most(1, names[:2]))
    if rng.random() < 0.2:
        constraints.append(if_then(names[-1], names[0]))
    if rng.random() < 0.15:
        constraints.append(LinearConstraint(points={names[-1]: 1, names[0]: -1}, lower=0))
    if rng.random() < 0.15:
        constraints.append(points_in(names[0], [0, 1]))
    settings = {"l2_penalty": 0.01} if rng.random() < 0.2 else {}
    scale = [1.0, 1.0, [1.0, 2.5], "free"][int(rng.integers(0, 4))]
    if scale == 1.0 and rng.random() < 0.15:
        constraints.append(LinearConstraint(points={"(intercept)": 1, names[0]: 1}, upper=0))
    if scale == 1.0 and rng.random() < 0.1:
        constraints.append(risk_at_most(0.6, profile={names[0]: 1}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantFeatureWarning)
        data = TrainingData(X, y, sample_weight=weights, feature_names=names)
    if rng.random() < 0.1:
        data = data.with_class_weight("balanced")
    problem = RiskScoreProblem(
        data, coefficients, max_size=size, min_size=int(rng.random() < 0.2),
        constraints=constraints, scale=scale, **settings,
    )  # fmt: skip
    name = ["sensitivity", "specificity"][int(rng.integers(0, 2))]
    share = float(rng.choice([0.5, 0.8, 0.9, 0.95, 1.0, rng.uniform(0.3, 1.0)]))
    return problem, RequiredShare(name, share), X, y, weights
