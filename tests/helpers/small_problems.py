"""Small problems with their enumerated optimum: drawn from kind and seed, and corners by name."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from enumeration import (
    INTERCEPT,
    Enumerated,
    SmallProblem,
    enumerate_optimum,
    enumerate_over_scales,
    limit_number_of_slopes,
    random_bounded_problem,
    random_constrained_problem,
    random_problem,
    random_ridge,
    random_scaled_problem,
)
from riskslim import LinearConstraint, RiskScoreProblem, at_least, at_most, exactly

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


def tied_problem(kind: str, box: tuple[int, int], price: float) -> SmallProblem:
    """A constraint that counts use, next to which an indicator of use alone would be cheap."""
    return plain(
        np.random.default_rng(4), 4, constraints=(TIED[kind],), l0_penalty=price,
        lower=np.full(4, box[0]), upper=np.full(4, box[1]),
    )  # fmt: skip


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


def duplicate_problem(rng: np.random.Generator, max_slopes: int = 4000) -> SmallProblem:
    """Every column has a copy, a complement or a shifted copy, at different prices and bounds."""
    small = random_problem(rng, max_slopes)
    half = (small.d + 1) // 2
    for j in range(half, small.d):
        column = small.X[:, rng.integers(half)]
        kind = rng.integers(3)
        small.X[:, j] = (column, column.max() + column.min() - column, column + 1)[kind]
    free_constant_columns(small)
    if rng.random() < 0.7:
        small.min_size = 0
        small.intercept = (None, None)
    low, high = small.box()
    required, usable = np.count_nonzero((low > 0) | (high < 0)), np.count_nonzero(high - low)
    small.min_size = min(small.min_size, int(usable))
    small.max_size = max(int(required), small.min_size, int(rng.integers(0, small.d + 1)))
    return small


def free_constant_columns(small):
    """Let constant columns be left out."""
    for j in np.flatnonzero(np.ptp(small.X, axis=0) == 0):
        small.lower[j], small.upper[j] = min(small.lower[j], 0), max(small.upper[j], 0)
        small.fixed.pop(j, None)


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


def some_few_values(small, rng):
    """The same problem, where most columns have three to eight values."""
    for j in range(small.d):
        if rng.random() < 0.7:
            small.X[:, j] = few_values(rng, len(small.y))
    return small


def variables(rng, n, sizes):
    """Items of variables: cut-offs or levels, with missing values, columns as they come."""
    columns = []
    for size in sizes:
        values = rng.integers(0, size + 1, n)
        missing = rng.random(n) < 0.1
        if rng.random() < 0.5:
            items = [(values > k) & ~missing for k in range(size)]
        else:
            items = [(values == k) & ~missing for k in range(size)]
        columns += [~item if rng.random() < 0.2 else item for item in items]
    return np.array(columns, dtype=float).T


def families(small, rng):
    """The same problem with items of variables, and two or more of them in a score."""
    small.X = variables(rng, len(small.y), [2] * (small.d // 2) + [1] * (small.d % 2))
    for j in np.flatnonzero(np.ptp(small.X, axis=0) == 0):
        small.X[0, j] = 1.0 - small.X[0, j]
    small.max_size = max(2, small.min_size)
    return small


def unions(small, rng):
    """The same problem with items of two or three values, of which there are several unions."""
    n = len(small.y)
    for j in range(small.d):
        small.X[:, j] = rng.integers(0, 3, n) if rng.random() < 0.2 else rng.random(n) < 0.5
    free_constant_columns(small)
    small.weights = small.weights if rng.random() < 0.2 else None
    small.max_size = max(1 + int(rng.integers(3)), small.min_size)
    return small


def cutoffs(small, rng):
    """The same problem with nested items, now and then with a limit on how many are used."""
    small = nested(small, rng)
    if rng.random() < 0.2 and small.d > 2:
        few = at_most(int(rng.integers(1, 3)), small.names[: rng.integers(2, small.d + 1)])
        small.constraints = (*small.constraints, few)
    return small


# --- cases ----------------------------------------------------------------------------------------

Change = Callable[[SmallProblem, np.random.Generator], SmallProblem]
# What is drawn, and what is done to its columns.
SOURCES: dict[str, Callable[[np.random.Generator, int], SmallProblem]] = {
    "any": random_problem,
    "constraints": random_constrained_problem,
    "bounds on scores": random_bounded_problem,
    "duplicates": duplicate_problem,
    "scales": random_scaled_problem,
}
COLUMNS: dict[str, Change] = {
    "as drawn": lambda small, rng: small,
    "two values": binary,
    "few values": mixed,
    "some few values": some_few_values,
    "cut-offs": cutoffs,
    "items": functools.partial(few_valued, most_values=8),
    "families": families,
    "unions": unions,
}
# Features without which there is nothing to divide.
LEAST_FEATURES = {"families": 5, "unions": 4}
# Scales other than 1 of problems of one scale, and the share of these.
ONE_SCALE, SHARE_OF_SCALES = (0.3, 0.4, 1.7, 2.0, 8.0), 0.2
# Slope vectors of one enumeration, in most and in a few of the problems.
MOST_SLOPES, MANY_SLOPES, SHARE_OF_MANY = 400, 10_000, 0.15


@dataclasses.dataclass(frozen=True)
class Case:
    """A problem of a kind, drawn from a seed: as drawn, or with less of it.

    With fewer rows and features, and some of what it states left out, it is a smaller problem that
    shows the same fault.
    """

    source: str
    columns: str
    seed: int
    most_slopes: int | None = None
    n_rows: int | None = None
    n_features: int | None = None
    left_out: frozenset[str] = frozenset()
    intercept: tuple[int | None, int | None] | None = None  # in place of what is drawn
    ridge: bool = False

    @functools.cached_property
    def small(self) -> SmallProblem:
        rng = self.rng("problem")
        most = MANY_SLOPES if rng.random() < SHARE_OF_MANY else MOST_SLOPES
        most = most if self.most_slopes is None else self.most_slopes
        small = SOURCES[self.source](rng, most)
        while small.d < LEAST_FEATURES.get(self.columns, 1):
            small = SOURCES[self.source](rng, most)
        small = COLUMNS[self.columns](small, rng)
        if self.source != "scales" and rng.random() < SHARE_OF_SCALES:
            at_scale(small, rng, most)
        limit_number_of_slopes(rng, small, MANY_SLOPES)
        if self.ridge:
            add_ridge(small, self.rng("ridge"))
        small = reduced(small, self.n_rows, self.n_features, self.left_out)
        # What constraints demand of an intercept is looked at for all of its values.
        if self.intercept is not None and not (None in self.intercept and _names_intercept(small)):
            small.intercept = self.intercept
        return small

    @functools.cached_property
    def best(self) -> Enumerated:
        return enumerate_optimum(self.small)

    @functools.cached_property
    def over_scales(self) -> tuple[np.ndarray, np.ndarray]:
        return enumerate_over_scales(self.small)

    @functools.cached_property
    def problem(self) -> RiskScoreProblem:
        return self.small.build()

    def rng(self, what: str) -> np.random.Generator:
        """A generator of its own for all that is drawn of a case."""
        return np.random.default_rng([self.seed, *map(ord, what)])


def at_scale(small: SmallProblem, rng: np.random.Generator, max_slopes: int) -> None:
    """State a problem at another scale, with bounds within which as many log-odds are possible."""
    small.scale = float(rng.choice(ONE_SCALE))
    if small.scale > 2 and not small.constraints:
        small.lower = np.where(small.lower < 0, 3 * small.lower, small.lower)
        small.upper = np.where(small.upper > 0, 3 * small.upper, small.upper)
        limit_number_of_slopes(rng, small, max_slopes)


def add_ridge(small: SmallProblem, rng: np.random.Generator) -> None:
    """State a ridge penalty on weights, whatever the scale."""
    small.l2_penalty = random_ridge(rng, small.d)


def _without_bounds(small: SmallProblem) -> dict[str, Any]:
    ends = np.full(small.d, -1), np.full(small.d, 1)
    return {"lower": ends[0], "upper": ends[1], "sign": [0] * small.d, "fixed": {}}


# What a case can do without, as it is without it.
STATED: dict[str, Callable[[SmallProblem], dict[str, Any]]] = {
    "weights": lambda small: {"weights": None},
    "prices": lambda small: {"feature_penalty": np.full(small.d, np.nan)},
    "sizes": lambda small: {"min_size": 0, "max_size": None},
    "bounds": _without_bounds,
    "intercept": lambda small: {"intercept": (-5, 5)},
    "constraints": lambda small: {"constraints": ()},
    "scale": lambda small: {"scale": 1.0},
    "ridge": lambda small: {"l2_penalty": 0.0},
}


def reduced(
    small: SmallProblem, n_rows: int | None, n_features: int | None, left_out: frozenset[str]
) -> SmallProblem:
    """The first rows and features of a problem, and what is stated of these."""
    n = min(n_rows or len(small.y), len(small.y))
    d = min(n_features or small.d, small.d)
    most = d if small.max_size is None else min(small.max_size, d)
    names = {*small.names[:d], INTERCEPT}
    found = dataclasses.replace(
        small,
        X=small.X[:n, :d].copy(), y=small.y[:n].copy(),
        weights=None if small.weights is None else small.weights[:n].copy(),
        lower=small.lower[:d].copy(), upper=small.upper[:d].copy(), sign=small.sign[:d],
        fixed={j: value for j, value in small.fixed.items() if j < d},
        feature_penalty=small.feature_penalty[:d],
        l2_penalty=small.l2_penalty if np.ndim(small.l2_penalty) == 0 else small.l2_penalty[:d],
        min_size=min(small.min_size, most),
        max_size=None if small.max_size is None else most,
        constraints=tuple(one for one in small.constraints if _names_of(one) <= names),
    )  # fmt: skip
    _label_both_ways(found)
    free_constant_columns(found)
    for name in STATED:
        if name in left_out:
            found = dataclasses.replace(found, **STATED[name](found))
    return found


def _names_of(constraint: LinearConstraint) -> set[str]:
    groups = {name for group in constraint.any_used for name in group}
    return {*constraint.points, *constraint.used, *groups}


def _names_intercept(small: SmallProblem) -> bool:
    return any(INTERCEPT in one.points for one in small.constraints)


def _label_both_ways(small: SmallProblem) -> None:
    for k, label in enumerate((-1, 1)):
        counted = small.y == label if small.weights is None else (small.y == label) * small.weights
        if not np.any(counted):
            small.y[k] = label
            if small.weights is not None:
                small.weights[k] = 1.0
