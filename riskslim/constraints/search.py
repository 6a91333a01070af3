r"""Feasibility of constraints, and which of them contradict each other.

Bounds of the loss do not lead to a vector that meets constraints which rounding does not meet,
and they do not show that there is none. The search of this module looks at the constraints alone.
That it finds nothing is a proof: every box of integers that it leaves is refuted by propagation, by
rates that no predictions it leaves open meet, by the check of its only vector, or by a sum of rows
whose least value in the box is too large, each with room for its rounding errors. Linear programs
of HiGHS, which comes with SciPy, say where to look and which rows to add up; nothing rests on their
being accurate.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riskslim.bounds import SLACK

if TYPE_CHECKING:
    from riskslim.constraints.rows import ConstraintRows

__all__ = ["Feasibility", "irreducible", "search_vector"]

# Seconds for one part of the constraints, and for all: what is not known by then is named as well.
PART_SECONDS = 2.0
TOTAL_SECONDS = 10.0
# Distance from an integer at which a number is taken for one in the choice of what to branch on.
INTEGRAL = 1e-6

_Box: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]


class Feasibility(NamedTuple):
    """The outcome of a search for a vector.

    Attributes
    ----------
    coef : ndarray of int64, shape (d + 1,), or None
        A vector that meets all constraints.
    is_proven : bool
        With a vector, True. Without: whether there certainly is none; False where a limit
        ended the search.
    nodes : int
        Boxes that were looked at.
    """

    coef: NDArray[np.int64] | None
    is_proven: bool
    nodes: int

    @property
    def is_impossible(self) -> bool:
        """True if it is proven that no vector meets the constraints."""
        return self.coef is None and self.is_proven


def search_vector(
    rows: ConstraintRows,
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    *,
    seconds: float = math.inf,
    should_stop: Callable[[], bool] = lambda: False,
    node_limit: float = math.inf,
) -> Feasibility:
    r"""Search all integer vectors of a box for one that meets constraints.

    Parameters
    ----------
    rows : ConstraintRows
    lower, upper : ndarray of int64, shape (d + 1,)
        The box, intercept first.
    seconds : float, default infinity
        Wall-clock time after which the search ends.
    should_stop : callable, optional
        Asked at every box; True ends the search.
    node_limit : float, default infinity
        Boxes after which it ends.

    Returns
    -------
    Feasibility

    Notes
    -----
    A depth-first search. A box is propagated
    (:meth:`~riskslim.constraints.rows.ConstraintRows.propagate`); then a linear program asks by how
    much t all rows have to be widened for a real-valued point of the relaxed box to meet them. With
    t = 0 that point is rounded. With t > 0 its dual solution :math:`y \ge 0` adds up the rows, each
    as :math:`a_i(\lambda) \le b_i`. The box is refuted if

    .. math:: \min_\lambda \sum_i y_i a_i(\lambda) > \sum_i y_i b_i

    where the minimum is over the integer vectors of the box, in which a feature is zero or at least
    1 in absolute value: a sum over single terms. It is a proof for every :math:`y \ge 0`, and is
    believed if the two sides differ by more than their rounding errors. A box that is neither
    refuted nor yields a vector is cut into parts, down to single vectors, which are checked.
    "Meets" is what :meth:`~riskslim.constraints.rows.ConstraintRows.broken` says, including the
    tolerance of rows with coefficients other than integers.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import LinearConstraint
    >>> from riskslim.constraints.rows import ConstraintRows
    >>> from riskslim.constraints.search import search_vector
    >>> odd = LinearConstraint(points={"a": 3, "b": 5}, lower=7, upper=7)
    >>> rows = ConstraintRows([odd], ["a", "b"])
    >>> search_vector(rows, np.array([0, -2, -2]), np.array([0, 2, 2])).coef
    array([ 0, -1,  2])
    >>> search_vector(rows, np.array([0, 0, 0]), np.array([0, 9, 9])).is_impossible
    True
    """
    deadline = time.perf_counter() + seconds
    relaxation = _Relaxation(rows)
    boxes: list[_Box] = [(lower.copy(), upper.copy())]
    nodes = 0
    while boxes:
        remaining = deadline - time.perf_counter()
        if nodes >= node_limit or remaining <= 0 or should_stop():
            return Feasibility(None, False, nodes)
        nodes += 1
        box = boxes.pop()
        found, parts = _examined(rows, relaxation, box, remaining)
        if found is not None:
            return Feasibility(found, True, nodes)
        boxes.extend(parts)
    return Feasibility(None, True, nodes)


def _examined(
    rows: ConstraintRows, relaxation: _Relaxation, box: _Box, seconds: float
) -> tuple[NDArray[np.int64] | None, list[_Box]]:
    """A vector of a box that meets the constraints, or the parts that are left of the box."""
    low, high = box
    if not rows.propagate(low, high):
        return None, []
    if not all(check.is_possible(low, high, len(low)) for check in rows.checks):
        return None, []
    vector = np.clip(0, low, high)  # what no constraint names may be anything
    if not rows.broken(vector).size:
        return vector, []
    if (low == high)[rows.columns].all():
        return None, []
    point = relaxation.solve(low, high, seconds)
    if point is None:
        return None, []
    vector[rows.columns] = np.rint(point.values)
    if not rows.broken(vector).size:
        return vector, []
    return None, list(_parts(rows.columns, box, point))


class _Point(NamedTuple):
    """A solution of the relaxation: values of the named coefficients, and their use, 0 to 1."""

    values: NDArray[np.float64]
    use: NDArray[np.float64]


def _parts(columns: NDArray[np.intp], box: _Box, point: _Point) -> Iterator[_Box]:
    """Cut a box in two or three, the part that the point lies next to last."""
    low, high = box[0][columns], box[1][columns]
    k = _chosen(columns, low, high, point)
    value, first, last = float(point.values[k]), int(low[k]), int(high[k])
    if columns[k] and first <= 0 <= last:
        away = 0.5 if point.use[k] > 0.5 else 0.0  # from zero
        distances = {
            (a, b): max(a - value, value - b, away if a == b == 0 else 0.0)
            for a, b in ((first, -1), (0, 0), (1, last))
            if a <= b
        }
        ends = sorted(distances, key=lambda part: -distances[part])
    else:
        middle = int(np.clip(math.floor(value), first, last - 1))
        ends = [(first, middle), (middle + 1, last)]
        if value - middle < 0.5:
            ends.reverse()
    for part in ends:
        ends_low, ends_high = box[0].copy(), box[1].copy()
        ends_low[columns[k]], ends_high[columns[k]] = part
        yield ends_low, ends_high


def _chosen(
    columns: NDArray[np.intp], low: NDArray[np.int64], high: NDArray[np.int64], point: _Point
) -> int:
    """Choose the coefficients to branch on: used in part, of fractional value, or wide."""
    is_open = low < high
    is_free = is_open & (columns > 0) & (low <= 0) & (high >= 0)
    undecided = np.abs(point.use - np.rint(point.use))
    # Used without a value, which the linear program takes for possible.
    undecided[(point.use > 0.5) & (np.rint(point.values) == 0)] = 0.5
    fractions = np.abs(point.values - np.rint(point.values))
    for measure, candidates in ((undecided, is_free), (fractions, is_open)):
        measured = np.where(candidates, measure, 0.0)
        if measured.max() > INTEGRAL:
            return int(measured.argmax())
    return int(np.where(is_open, high - low, -1).argmax())


class _Relaxation:
    """Rows of constraints as one-sided ones, sum of terms <= bound, and their linear relaxation.

    Columns are the named coefficients, followed by the groups, which have no points.
    """

    def __init__(self, rows: ConstraintRows) -> None:
        self.rows = rows
        links = _links(rows)
        points = np.vstack((rows.column_points, np.zeros_like(links)))
        used = np.vstack((rows.column_used, links))
        low = np.concatenate((rows.lower, np.zeros(len(links))))
        high = np.concatenate((rows.upper, np.full(len(links), np.inf)))
        largest = np.abs(np.hstack((points, used))).max(axis=1, initial=0.0)
        # Powers of two: scaling causes no rounding errors.
        scale = np.exp2(-np.ceil(np.log2(np.where(largest > 0, largest, 1.0))))[:, None]
        points, used = scale * points, scale * used
        low, high = scale[:, 0] * low, scale[:, 0] * high
        above, below = np.isfinite(high), np.isfinite(low)
        self.points = np.vstack((points[above], -points[below]))
        self.used = np.vstack((used[above], -used[below]))
        self.bounds = np.concatenate((high[above], -low[below]))

    def solve(
        self, lower: NDArray[np.int64], upper: NDArray[np.int64], seconds: float
    ) -> _Point | None:
        """A point that breaks the rows by as little as possible; None if the box is refuted."""
        from scipy.optimize import linprog
        from scipy.sparse import coo_array, csr_array, hstack, vstack

        box = _ColumnBox.of(self.rows, lower, upper)
        if not len(self.bounds):
            return _nearest_to_zero(box, len(self.rows.columns))
        n, m = len(self.rows.columns), len(self.bounds)
        # Variables: values, uses (of groups as well), and t.
        free = np.flatnonzero(box.can_drop[:n] & (box.low[:n] < box.high[:n]))
        width = n + self.points.shape[1] + 1
        at, variables = np.tile(np.arange(len(free)), 2), np.concatenate((free, n + free))
        ones = np.ones(len(free))
        # Values between the ends of the box times use.
        links = [
            coo_array((np.concatenate(terms), (at, variables)), shape=(len(free), width))
            for terms in ((ones, -box.high[free]), (-ones, box.low[free]))
        ]
        system = hstack((csr_array(self.points[:, :n]), csr_array(self.used), -np.ones((m, 1))))
        result = linprog(
            np.append(np.zeros(width - 1), 1.0),
            A_ub=vstack((system, *links)).tocsr(),
            b_ub=np.concatenate((self.bounds, np.zeros(2 * len(free)))),
            bounds=np.vstack((
                np.column_stack((box.low[:n], box.high[:n])),
                np.column_stack((~box.can_drop, box.can_use)),
                [[0.0, np.inf]],
            )),
            options={"time_limit": seconds},
        )  # fmt: skip
        if result.x is None:  # as good as any other point
            return _nearest_to_zero(box, n)
        multipliers = np.maximum(-result.ineqlin.marginals[:m], 0.0)
        if self.is_refuted(multipliers, box):
            return None
        return _Point(result.x[:n], result.x[n : 2 * n])

    def is_refuted(self, multipliers: NDArray[np.float64], box: _ColumnBox) -> bool:
        """True if no integer vector of a box satisfies a sum of rows times numbers >= 0."""
        points, used = multipliers @ self.points, multipliers @ self.used
        least = np.minimum(points * box.least, points * box.most) + used
        least = np.where(box.can_drop, np.minimum(least, 0.0), least)
        least[~box.can_use] = 0.0
        reach = np.maximum(np.abs(box.low), np.abs(box.high))
        size = float(
            multipliers
            @ (np.abs(self.points) @ reach + np.abs(self.used).sum(axis=1) + np.abs(self.bounds))
        )
        # No sum has more terms than this; each adds half a unit in the last place of its size.
        share = SLACK + np.finfo(np.float64).eps * sum(self.points.shape)
        return bool(least.sum() > float(multipliers @ self.bounds) + share * max(size, 1.0))


class _ColumnBox(NamedTuple):
    """A box by columns, the groups last, whose values are 0 and 1.

    ``least`` and ``most`` are the ends of the values other than zero.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    least: NDArray[np.float64]
    most: NDArray[np.float64]
    can_drop: NDArray[np.bool_]
    can_use: NDArray[np.bool_]

    @classmethod
    def of(
        cls, rows: ConstraintRows, lower: NDArray[np.int64], upper: NDArray[np.int64]
    ) -> _ColumnBox:
        """The named part of a box of coefficients."""
        first, last = lower[rows.columns], upper[rows.columns]
        in_use = (rows.members & ((first > 0) | (last < 0))).any(axis=1)
        usable = (rows.members & ((first != 0) | (last != 0))).any(axis=1)
        low = np.concatenate((first, in_use)).astype(np.float64)
        high = np.concatenate((last, usable)).astype(np.float64)
        return cls(
            low,
            high,
            np.where(low == 0, 1.0, low),
            np.where(high == 0, -1.0, high),
            (low <= 0) & (high >= 0),
            (low != 0) | (high != 0),
        )


def _nearest_to_zero(box: _ColumnBox, n: int) -> _Point:
    values = np.clip(0.0, box.low[:n], box.high[:n])
    return _Point(values, (values != 0).astype(np.float64))


def _links(rows: ConstraintRows) -> NDArray[np.float64]:
    """Rows >= 0 on uses: a group less each of its members, and all of these less the group."""
    n, groups = rows.members.shape[1], len(rows.members)
    found = []
    for g, members in enumerate(rows.members):
        unit = np.eye(n + groups)
        found.append(unit[:n][members].sum(axis=0) - unit[n + g])
        found.extend(unit[n + g] - unit[:n][members])
    return np.array(found).reshape(len(found), n + groups)


def irreducible(
    names: tuple[str, ...], is_impossible: Callable[[list[int], float], bool]
) -> list[str]:
    """Leave out names of constraints that a contradiction does not need.

    Parameters
    ----------
    names : tuple of str
    is_impossible : callable
        Whether the constraints of some indices are known to contradict each other, which is to be
        found out in so many seconds.

    Returns
    -------
    list of str
    """
    deadline = time.perf_counter() + TOTAL_SECONDS
    kept = list(range(len(names)))
    for i in range(len(names)):
        remaining = deadline - time.perf_counter()
        others = [k for k in kept if k != i]
        if remaining > 0 and is_impossible(others, min(remaining, PART_SECONDS)):
            kept = others
    return [names[i] for i in kept]
