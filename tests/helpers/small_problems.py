"""Small problems with their enumerated optimum: random ones by seed, and corners by name."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from enumeration import (
    Enumerated,
    SmallProblem,
    enumerate_optimum,
    random_constrained_problem,
    random_problem,
)
from riskslim import LinearConstraint, RiskScoreProblem, at_least, exactly


@functools.cache
def solved(seed: int) -> tuple[SmallProblem, Enumerated, RiskScoreProblem]:
    """A problem, its optimum, and the package's statement of it."""
    small = random_problem(np.random.default_rng(seed))
    return small, enumerate_optimum(small), small.build()


@functools.cache
def constrained(seed: int) -> tuple[SmallProblem, Enumerated, RiskScoreProblem]:
    small = random_constrained_problem(np.random.default_rng([seed, 21]))
    return small, enumerate_optimum(small), small.build()


CORNERS = {
    "intercept only": {"max_size": 0, "min_size": 0},
    "no price": {"l0_penalty": 0.0, "feature_penalty": None},
    "price beyond any loss": {"l0_penalty": 50.0, "feature_penalty": None},
    "one point": {"lower": [1, 0, -1], "upper": [1, 0, -1], "intercept": (2, 2)},
    "one feature": {"lower": [0, -3, 0], "upper": [0, 3, 0]},
    "all features": {"min_size": 3},
    "two values around zero": {"lower": [-1, -1, -1], "upper": [0, 0, 0]},
    "far intercept": {"intercept": (40, 45)},
    "tiny weights": {"weights": 1e-9},
    "huge weights": {"weights": 1e9},
}


def corner_problem(corner: str, real: bool) -> SmallProblem:
    rng = np.random.default_rng(8)
    n = 60
    X = rng.normal(size=(n, 3)) if real else rng.integers(0, 3, (n, 3)).astype(float)
    y = np.where(X @ [1, -2, 1] + rng.normal(size=n) > 0, 1, -1)
    changes = {
        "lower": [-3, -3, -3], "upper": [3, 3, 3], "feature_penalty": None, "weights": None,
        "l0_penalty": 1e-3, "min_size": 0, "max_size": None, "intercept": (None, None),
        **CORNERS[corner],
    }  # fmt: skip
    changes["lower"], changes["upper"] = np.array(changes["lower"]), np.array(changes["upper"])
    changes["feature_penalty"] = np.full(3, np.nan)
    if changes["weights"] is not None:
        changes["weights"] = changes["weights"] * rng.uniform(0.5, 1.5, n)
    if corner in ("one point", "one feature"):
        changes["max_size"] = 2
    return SmallProblem(X=X, y=y, sign=[0] * 3, fixed={}, **changes)


def infeasible(seed: int) -> SmallProblem:
    """A random problem whose size limits cannot be met."""
    rng = np.random.default_rng([seed, 5])
    while True:
        small = random_problem(rng)
        low, high = small.box()
        required = np.count_nonzero((low > 0) | (high < 0))
        usable = np.count_nonzero((low != 0) | (high != 0))
        if seed % 2 and required:
            return dataclasses.replace(small, max_size=int(required) - 1, min_size=0)
        if not seed % 2 and usable < small.d:
            return dataclasses.replace(small, min_size=int(usable) + 1, max_size=None)


TIED = {
    "use is asked for": at_least(3, ["x0", "x1", "x2", "x3"]),
    "of all": exactly(4, ["x0", "x1", "x2", "x3"]),
    "use lifts a sum": LinearConstraint(points={"x0": -1}, used={"x1": 2, "x2": 3}, lower=4),
    "use lowers a sum": LinearConstraint(points={"x0": 1}, used={"x1": -2, "x2": -3}, upper=-4),
    "use of the same feature": LinearConstraint(points={"x0": 1}, used={"x0": 2}, lower=1),
    "both": LinearConstraint(used={"x0": 1, "x1": -1}, lower=0, upper=0),
}


def plain(rng, d: int, **changes) -> SmallProblem:
    """Binary features, points from -3 to 3, and prices that can make use unwelcome."""
    X = (rng.random((80, d)) < 0.4).astype(float)
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=80) > 0, 1, -1)
    stated = {
        "lower": np.full(d, -3), "upper": np.full(d, 3), "l0_penalty": 0.01, "min_size": 0,
        "max_size": None, "intercept": (-5, 5), **changes,
    }  # fmt: skip
    return SmallProblem(
        X=X, y=y, weights=None, sign=[0] * d, fixed={}, feature_penalty=np.full(d, np.nan), **stated
    )


def twin_problem(seed: int):
    """Every column has a copy, a complement or a shifted copy, at different prices and bounds."""
    rng = np.random.default_rng([seed, 13])
    small = random_problem(rng, 4000)
    half = (small.d + 1) // 2
    for j in range(half, small.d):
        column = small.X[:, rng.integers(half)]
        kind = rng.integers(3)
        small.X[:, j] = (column, column.max() + column.min() - column, column + 1)[kind]
    # Constant columns must be free to be left out.
    for j in np.flatnonzero(np.ptp(small.X, axis=0) == 0):
        small.lower[j], small.upper[j] = min(small.lower[j], 0), max(small.upper[j], 0)
        small.fixed.pop(j, None)
    if rng.random() < 0.7:
        small.min_size = 0
        small.intercept = (None, None)
    low, high = small.box()
    required, usable = np.count_nonzero((low > 0) | (high < 0)), np.count_nonzero(high - low)
    small.min_size = min(small.min_size, int(usable))
    small.max_size = max(int(required), small.min_size, int(rng.integers(0, small.d + 1)))
    return small


def items_sample(rng, n, d, kind):
    """Columns of 0 and 1, labels, and weights of a kind."""
    X = (rng.random((n, d)) < rng.uniform(0.05, 0.95, d)).astype(float)
    X[0], X[-1] = 1, 0
    y = np.where(rng.random(n) < 0.15 + 0.7 * X[:, 0], 1, -1)
    y[0], y[-1] = 1, -1
    weights = {
        "none": None,
        "counts": rng.integers(1, 9, n).astype(float),
        "classes": np.where(y > 0, 3.7, 1.1),
        "real": rng.uniform(0.05, 4.0, n),
    }[kind]
    return X, y, weights


# Kinds of columns of few values: integers with gaps and negative ones, and real numbers.
FEW_VALUES = ([0, 1, 2], [-3, -1, 0, 4], [0, 1, 2, 3, 4], [-2, 0, 1, 5, 6, 7, 9, 12],
              [-0.5, 0.25, 1.75], [0.1, 0.2, 0.3, 1.0, 2.5, -4.0, 0.7])  # fmt: skip


def few_values(rng, n):
    """A column of three to eight values, all of which are there if there are so many rows."""
    values = np.array(FEW_VALUES[rng.integers(len(FEW_VALUES))], float)
    column = rng.choice(values, n, p=rng.dirichlet(np.full(len(values), 2.0)))
    chosen = rng.permutation(n)[: len(values)]
    column[chosen] = values[: len(chosen)]
    return column


def mixed_sample(rng, n, d, kind, n_wide):
    """The same as items_sample, where the first columns have three to eight values."""
    X, y, weights = items_sample(rng, n, d, kind)
    for j in range(n_wide):
        X[:, j] = few_values(rng, n)
    if n_wide:
        y = np.where(rng.random(n) < 0.15 + 0.7 * (X[:, 0] > np.median(X[:, 0])), 1, -1)
        y[0], y[-1] = 1, -1
    return X, y, weights


def binary(small, rng):
    """The same problem with columns of two values."""
    low, high = (0.0, 1.0) if rng.random() < 0.8 else (-1.0, 2.0)
    small.X = np.where(small.X - np.median(small.X, axis=0) > 0, high, low)
    for j in np.flatnonzero(np.ptp(small.X, axis=0) == 0):
        small.X[0, j] = low + high - small.X[0, j]
    return small


def mixed(small, rng):
    """The same problem with columns of two to eight values, integers and real ones."""
    small = binary(small, rng)
    for j in range(small.d):
        if rng.random() < 0.6:
            small.X[:, j] = few_values(rng, len(small.y))
    return small


def nested(small, rng):
    """The same problem with items of a raw table: cut-offs, levels, missing values, copies."""
    n, j = len(small.y), 0
    while j < small.d:
        kind = rng.integers(5)
        values = rng.integers(0, rng.integers(2, 30), n).astype(float)
        if rng.random() < 0.5:
            values += 3.0 * (small.y > 0) * (rng.random(n) < 0.6)
        missing = rng.random(n) < 0.1
        if kind == 0:  # levels of one question
            for level in range(int(min(3, small.d - j))):
                small.X[:, j] = values % 4 == level
                j += 1
            continue
        cuts = np.quantile(values, rng.random(int(rng.integers(1, small.d + 1))))
        for cut in np.sort(cuts)[: small.d - j]:
            small.X[:, j] = (values >= cut) & ~missing
            j += 1
        if kind == 1 and j < small.d:
            small.X[:, j] = missing
            j += 1
        if kind == 2 and j < small.d:
            small.X[:, j] = small.X[:, rng.integers(j)]
            j += 1
        if kind == 3 and j < small.d:  # one row, or all rows of a class
            small.X[:, j] = (np.arange(n) == 3) if rng.random() < 0.5 else (small.y > 0)
            j += 1
    for j in np.flatnonzero(np.ptp(small.X, axis=0) == 0):
        small.X[0, j] = 1.0 - small.X[0, j]
    return small


def few_valued(small, rng, most_values):
    """The same problem with columns of a few values, and three or more items in a score."""
    for j in range(small.d):
        column = small.X[:, j] > np.median(small.X[:, j])
        if column.all() or not column.any():
            column[0] = ~column[0]
        small.X[:, j] = column
        if most_values > 2 and rng.random() < 0.4:
            small.X[:, j] = few_values(rng, len(small.y))
    small.max_size = max(3, small.min_size, small.d - int(rng.integers(3)))
    return small
