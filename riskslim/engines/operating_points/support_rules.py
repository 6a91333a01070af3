r"""Rules of single sets of items: their cells, and the points of the best rule on these.

Let a be the weight of the class of which a share is required, b that of the other one, and K what
of a may be called wrong. On cells a rule is a set W that is called as the other class, of
:math:`a(W) \le K`; it calls :math:`b` outside of W wrong, and that is to be little. Everything is
counted in rows where weights are multiples of one number, so that limits are whole numbers; else
in weights. The kernel is :mod:`riskslim._kernels.rules`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import rules as kernels
from riskslim.engines.branch_and_bound.support_enumeration import MOST_PLANES
from riskslim.engines.operating_points.shares import best_threshold, cell_weights
from riskslim.operating_point import TOLERANCE, RequiredShare

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.enumeration_items import EnumerationItems
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["Cells", "Found", "Measure", "SupportRules"]

# Part of all weight by which limits are wider than what they stand for, and bounds lower: more than
# rounding errors, and far less than the tolerance of shares.
SLACK = 1e-12
# Points of one support that are looked at before it is left with its bound.
MOST_NODES = 20_000_000
# Derived bounds of the intercept are as wide as the points of a rule need; within these.
WIDEST_INTERCEPT = 2**40
_WIDEST_VALUES = 8


@dataclasses.dataclass(frozen=True, eq=False)
class Measure:
    """Units and limits that rules of a problem are measured by.

    Attributes
    ----------
    required : RequiredShare
    side : int
        The class of which a share is required: 1 for the positive one.
    is_exact : bool
        Whether rows are counted. Else weights are, and counts only bound them.
    unit : tuple of float
        Weight of one row of the class of which a share is required, and of the other one; where
        weights are not exact, numbers that those of counts are not above.
    capacity : float
        What of the first class may be called wrong: rows or weight.
    most_rows : int
        The same in rows; a bound where weights are not exact.
    whole : float
        All of the other class, in rows or weight.
    """

    required: RequiredShare
    side: int
    is_exact: bool
    unit: tuple[float, float]
    capacity: float
    most_rows: int
    whole: float

    @classmethod
    def of(
        cls, required: RequiredShare, packed: EnumerationItems, class_weights: tuple[float, float]
    ) -> Measure:
        """Measure rules on packed items.

        Parameters
        ----------
        required : RequiredShare
        packed : EnumerationItems
        class_weights : tuple of float
            Of the negative and of the positive class.

        Returns
        -------
        Measure
        """
        side = int(required.name == "sensitivity")
        counts = np.zeros(2, np.int64)
        np.add.at(counts, packed.side, packed.n_rows << packed.shifts)
        weights = np.array(class_weights)
        unit = weights / counts if packed.is_exact else packed.unit * weights.sum()
        own = float(unit[side]), float(unit[1 - side])
        limit = required.most_missed(float(weights[side])) + SLACK * float(weights[side])
        most_rows = math.floor(limit / own[0] * (1.0 + SLACK))
        if packed.is_exact:
            return cls(required, side, True, own, most_rows, most_rows, float(counts[1 - side]))
        return cls(required, side, False, own, limit, most_rows, float(weights[1 - side]))

    @property
    def step(self) -> float:
        """Least by which a rule is better than another one."""
        return 1.0 if self.is_exact else 0.5 * TOLERANCE * self.whole

    def as_good_as(self, wrong: float) -> float:
        """The most that a rule calls wrong that is as good as another one.

        Parameters
        ----------
        wrong : float
            What that one calls wrong.

        Returns
        -------
        float
        """
        return wrong if self.is_exact else wrong + self.step

    @property
    def slack(self) -> float:
        """More than the rounding errors of a bound of one support."""
        return SLACK * self.whole

    def cutoff(self, most: float) -> float:
        """Rows from which on counts exclude rules that call no more wrong than a limit.

        Parameters
        ----------
        most : float
            The limit, in rows or weight.

        Returns
        -------
        float
        """
        if self.is_exact:
            return most + 0.5
        return (most + self.slack) / self.unit[1] * (1.0 + SLACK) + 1e-9 if most >= 0 else 0.0

    def least(self, rows: float) -> float:
        """Turn a bound of rows that are called wrong into whole rows, or weight.

        Parameters
        ----------
        rows : float

        Returns
        -------
        float
        """
        whole = max(math.ceil(rows - 1e-6 - 1e-12 * abs(rows)), 0)
        return float(whole) if self.is_exact else whole * self.unit[1] * (1.0 - SLACK)

    def weight(self, wrong: float) -> float:
        """The weight of what is counted.

        Parameters
        ----------
        wrong : float
            Rows or weight.

        Returns
        -------
        float
        """
        return wrong * self.unit[1] if self.is_exact else wrong

    def counted(self, weight: float) -> float:
        """Rows that a weight of the other class is, where rows are counted.

        Parameters
        ----------
        weight : float

        Returns
        -------
        float
        """
        return float(round(weight / self.unit[1])) if self.is_exact else weight


class Cells(NamedTuple):
    """Cells of a support.

    Attributes
    ----------
    items : int array of shape (k,)
        Items in the order in which they make the number of a cell.
    n_bits : int64 array of shape (k,)
    weights : float64 array of shape (2, n)
        Rows or weights of the negative and of the positive class.
    value : float64 array of shape (k, 8)
    """

    items: NDArray[np.int64]
    n_bits: NDArray[np.int64]
    weights: NDArray[np.float64]
    value: NDArray[np.float64]


class Found(NamedTuple):
    """Points of rules.

    Attributes
    ----------
    features : int64 array of shape (k,)
    points : int64 array of shape (m, k)
    wrong : float64 array of shape (m,)
        Rows or weight of the other class that each calls wrong.
    is_all : bool
        Whether these are all, or the best one, of the support.
    """

    features: NDArray[np.int64]
    points: NDArray[np.int64]
    wrong: NDArray[np.float64]
    is_all: bool


class _Limits(NamedTuple):
    """Limits on sums of the points of a support, as the kernel takes them."""

    points: NDArray[np.float64]
    ends: NDArray[np.float64]


class SupportRules:
    """Rules of a problem whose items are packed.

    Parameters
    ----------
    problem : RiskScoreProblem
    packed : EnumerationItems
    measure : Measure
    stop : int64 array of shape (1,)
        Not zero: end as soon as possible.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        packed: EnumerationItems,
        measure: Measure,
        stop: NDArray[np.int64],
    ) -> None:
        self.problem, self.packed, self.measure, self.stop = problem, packed, measure, stop
        self._item = {int(j): i for i, j in enumerate(packed.features.tolist())}
        low_is_open, high_is_open = problem.open_intercepts
        self._intercepts = np.array([
            -WIDEST_INTERCEPT if low_is_open else problem.lower[0],
            WIDEST_INTERCEPT if high_is_open else problem.upper[0],
        ], np.int64)  # fmt: skip
        self._listed = functools.cache(self._points_of)

    def has(self, features: NDArray[np.int64]) -> bool:
        """True if some features are items, of no more values than cells can have.

        Parameters
        ----------
        features : int64 array of shape (k,)

        Returns
        -------
        bool
        """
        items = [self._item[j] for j in features.tolist() if j in self._item]
        return len(items) == len(features) and self.packed.n_planes[items].sum() <= MOST_PLANES

    def cells(self, features: NDArray[np.int64]) -> Cells | None:
        """Rows or weights of the cells of a support.

        Parameters
        ----------
        features : int64 array of shape (k,)

        Returns
        -------
        Cells or None
            None: it was stopped.
        """
        packed = self.packed
        items = np.array([self._item[j] for j in features.tolist()], np.int64)
        n_bits = packed.n_planes[items]
        value = np.repeat(packed.value[items, -1:], _WIDEST_VALUES, axis=1)
        value[:, : packed.value.shape[1]] = packed.value[items]
        if not self.measure.is_exact:
            values = [np.unique(own) for own in value]
            parts = self.problem.loss.store.map(cell_weights, features, values, n_bits.tolist())
            return Cells(items, n_bits, np.sum(list(parts), axis=0), value)
        planes = [
            plane
            for i in items.tolist()
            for plane in range(packed.first[i + 1] - 1, packed.first[i] - 1, -1)
        ]
        n = 1 << len(planes)
        counts = np.empty((2, n), np.int64)
        if kernels.count(
            packed.words, packed.n_rows, packed.side, packed.shifts, np.array(planes, np.int64),
            counts, np.empty(n, np.uint64), self.stop,
        ):  # fmt: skip
            return None
        return Cells(items, n_bits, counts.astype(np.float64), value)

    def intercepts(
        self, features: NDArray[np.int64], points: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Ends of the intercept that constraints leave to vectors of points.

        Parameters
        ----------
        features : int64 array of shape (k,)
        points : int64 array of shape (m, k)

        Returns
        -------
        low, high : float64 arrays of shape (m,)
        """
        low, high = (np.full(len(points), float(end)) for end in self._intercepts)
        limits = self._limits(features)
        assert limits is not None
        for row, ends in zip(limits.points, limits.ends.T, strict=True):
            if row[0] == 0.0:
                continue
            both = np.sort((ends[:, None] - points @ row[1:]) / row[0], axis=0)
            low, high = np.maximum(low, both[0] - 1e-9), np.minimum(high, both[1] + 1e-9)
        return low, high

    def accepts(self, coef: NDArray[np.int64], wrong: float) -> bool:
        """True if a vector is feasible, and its rule is as good on the rows as on cells.

        Parameters
        ----------
        coef : ndarray of int64, shape (d + 1,)
        wrong : float
            What it calls wrong on cells, in rows or weight.

        Returns
        -------
        bool
        """
        problem = self.problem.reaching(int(coef[0]), int(coef[0]))
        if not problem.is_feasible(coef):
            return False
        rule = best_threshold(problem.loss.store, coef, self.measure.required)
        return self.measure.counted(rule.wrong) <= wrong + self.measure.step / 2

    def best(
        self, features: NDArray[np.int64], most: float, most_nodes: int | None = None
    ) -> Found | None:
        """The best rule of a support.

        Parameters
        ----------
        features : int64 array of shape (k,)
        most : float
            What it may call wrong: no other one is looked for.
        most_nodes : int, optional
            Points that are looked at. None: as many as there may be.

        Returns
        -------
        Found or None
            With one rule or none; None: nothing is known, it was stopped.
        """
        return self._found(features, most, self.measure.step, 1, most_nodes)

    def all(self, features: NDArray[np.int64], most: float, capacity: int) -> Found | None:
        """All rules of a support that call no more wrong than a limit.

        Parameters
        ----------
        features : int64 array of shape (k,)
        most : float
        capacity : int
            Most that are listed.

        Returns
        -------
        Found or None
        """
        return self._found(features, most, -1.0, capacity, None)

    def _found(
        self,
        features: NDArray[np.int64],
        most: float,
        step: float,
        capacity: int,
        most_nodes: int | None,
    ) -> Found | None:
        features = np.asarray(features, np.int64)
        nothing = Found(features, np.zeros((0, len(features)), np.int64), np.zeros(0), True)
        limits = self._limits(features)
        if limits is None or not len(features):
            return nothing
        cells = self.cells(features)
        if cells is None:
            return None
        order = _most_telling_first(cells)
        if (order != np.arange(len(order))).any():
            limits = limits._replace(points=limits.points[:, np.concatenate(([0], 1 + order))])
            features = features[order]
            cells = _ordered(cells, order)
        listed = [self._listed(j) for j in features.tolist()]
        if not all(map(len, listed)):
            return nothing
        points, ends = np.concatenate(listed), np.cumsum([0, *map(len, listed)])
        rest_low, rest_high = self._rest(limits.points, listed)
        measure, (k, n) = self.measure, (len(features), cells.weights.shape[1])
        direction = 1.0 if measure.side else -1.0
        found, wrong = np.empty((capacity, k), np.int64), np.empty(capacity)
        counted = np.zeros(1, np.int64)
        status, n_found = kernels.best_points(
            cells.n_bits, np.ascontiguousarray(cells.weights[measure.side]),
            np.ascontiguousarray(cells.weights[1 - measure.side]), direction * cells.value, points,
            ends.astype(np.int64), np.ascontiguousarray(limits.points), limits.ends, rest_low,
            rest_high, self._intercepts, measure.capacity, most, step, measure.slack,
            MOST_NODES if most_nodes is None else most_nodes,
            self.stop, found, wrong, counted,
            np.empty((k + 3) * n + (k + 1) * len(limits.points)),
            np.empty(2 * (k + 1) * n, np.int32),
        )  # fmt: skip
        if status == kernels.STOPPED:
            return None
        order = np.argsort(features)
        return Found(features[order], found[:n_found, order], wrong[:n_found], status == 0)

    def _points_of(self, j: int) -> NDArray[np.int64]:
        """Points that a feature may have, other than 0."""
        low, high = int(self.problem.lower[1 + j]), int(self.problem.upper[1 + j])
        rows = self.problem.constraint_rows
        every = [p for p in range(low, high + 1) if p]
        if rows is not None and rows.allowed_points:
            every = [p for p in every if rows.nearest(1 + j, p) == [p]]
        return np.array(every, np.int64)

    def _limits(self, features: NDArray[np.int64]) -> _Limits | None:
        """Constraints that are left of the points where these features are used; None: broken."""
        rows = self.problem.constraint_rows
        if rows is None or not len(rows):
            return _Limits(np.zeros((0, 1 + len(features))), np.zeros((2, 0)))
        used = rows.used[:, features].sum(axis=1)
        for g, group in enumerate(rows.groups):
            if np.isin(group, features).any():
                used += rows.any_used[:, g]
        points = rows.points[:, np.concatenate(([0], 1 + features))]
        ends = np.array([rows.lower - used, rows.upper - used])
        is_about = (points != 0).any(axis=1)
        if ((ends[0] > 0) | (ends[1] < 0))[~is_about].any():
            return None
        return _Limits(points[is_about], np.ascontiguousarray(ends[:, is_about]))

    def _rest(
        self, rows: NDArray[np.float64], listed: list[NDArray[np.int64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Least and most that items from each one on add to each row, with the intercept."""
        low, high = np.array([(own[0], own[-1]) for own in listed], np.float64).T
        found = []
        for least in (True, False):
            pick = np.minimum if least else np.maximum
            each = pick(rows[:, 1:] * low, rows[:, 1:] * high)
            of_intercept = pick(*(rows[:, :1] * float(end) for end in self._intercepts))
            later = np.cumsum(each[:, ::-1], axis=1)[:, ::-1]
            found.append(
                np.ascontiguousarray(np.hstack((later, np.zeros((len(rows), 1)))) + of_intercept)
            )
        return found[0], found[1]


def _most_telling_first(cells: Cells) -> NDArray[np.intp]:
    """Items in the order of how their values divide the classes: what is wrong is seen early."""
    total = np.maximum(cells.weights.sum(axis=1, keepdims=True), 1e-300)
    share = cells.weights / total
    number = np.arange(share.shape[1])
    told, below = [], int(cells.n_bits.sum())
    for bits in cells.n_bits.tolist():
        below -= bits
        value = number >> below & ((1 << bits) - 1)
        own = np.array([np.bincount(value, each, 1 << bits) for each in share])
        told.append(np.abs(own[0] - own[1]).sum())
    return np.argsort(-np.array(told), kind="stable")


def _ordered(cells: Cells, order: NDArray[np.intp]) -> Cells:
    """The same cells with their items in another order."""
    shape = [1 << bits for bits in cells.n_bits.tolist()]
    weights = cells.weights.reshape(2, *shape).transpose(0, *(1 + order).tolist())
    return Cells(
        cells.items[order], np.ascontiguousarray(cells.n_bits[order]),
        np.ascontiguousarray(weights).reshape(2, -1), np.ascontiguousarray(cells.value[order]),
    )  # fmt: skip
