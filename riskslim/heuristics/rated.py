r"""First scores under limits on rates: items are exchanged for what breaks the limits least.

The best scores of a problem without its limits can be far from all that keep them. Here the limits
lead: a score is compared by the weight that it calls wrong beyond them, and by its objective where
that is nothing, or equal.

1. **Points.** Cells of a support have the weights of both classes. For each value of one point, with
   every intercept, sums over the scores of the cells give rates and losses; the best value is taken
   until none helps.
2. **Exchange.** Each item is taken out in turn. How many rows of either class have each of all other
   items, in every cell of the rest, is counted by bits; what the cells can be called at best, in
   order of their odds, says which of them are worth points.

Limits at a stated risk, and shares at a threshold that is free, are looked at alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import supports as kernels
from riskslim.constraints.rate_checks import RATE_TOLERANCE, RateCheck
from riskslim.constraints.share_checks import OperatingPointCheck
from riskslim.heuristics.problem_items import packed_items

if TYPE_CHECKING:
    from riskslim.data.packed import Cells, PackedItems
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["Nearest", "RatedSearch"]

# Values of one point, and of the intercept, that are tried on each side of where it is.
_REACH, _INTERCEPTS = 10, 200
# Log-odds beyond the scores that intercepts are tried for.
_MARGIN = 6.0
# Different scores beyond which a support is left out.
_MOST_SCORES = 5000
# Supports whose points are looked for before an exchange is given up, and how many at a time.
_SHORTLIST, _AT_ONCE = 48, 8
_SWEEPS = 8
_TINY = 1e-12


class _Limit(NamedTuple):
    """Weights that may be called wrong, of all rows; a threshold that is None is free."""

    level: int | None
    missed: float
    called: float


class _Point(NamedTuple):
    """Items with points, and what they are worth."""

    items: tuple[int, ...]
    points: tuple[int, ...]
    violation: float
    objective: float

    @property
    def key(self) -> tuple[float, float]:
        return self.violation, self.objective


class Nearest(NamedTuple):
    """The score that breaks limits by least.

    Attributes
    ----------
    coef : ndarray of int64, shape (d + 1,)
    violation : float
        Shares of their classes that it calls wrong beyond the limits, added up.
    """

    coef: NDArray[np.int64]
    violation: float


class RatedSearch:
    """Exchanges of items under limits on rates.

    Parameters
    ----------
    problem : RiskScoreProblem
    packed : PackedItems
    limits : sequence of limits
    stop : int64 array of shape (1,)
        Not zero: end as soon as possible.
    should_stop : callable
        The same, asked between supports.

    Attributes
    ----------
    nearest : Nearest or None
        The score that breaks the limits by least so far, within the other requirements.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import (
    ...     CoefficientSet, RiskScoreProblem, TrainingData, operating_point_at_least)
    >>> from riskslim.heuristics.rated import RatedSearch
    >>> data = TrainingData({"a": [0, 1, 1, 0, 1], "b": [1, 0, 1, 0, 1]}, [0, 1, 1, 0, 0])
    >>> problem = RiskScoreProblem(
    ...     data, CoefficientSet(data.feature_names, -3, 3),
    ...     constraints=[operating_point_at_least(1.0, 0.6)])
    >>> search = RatedSearch.of(problem, np.zeros(1, np.int64), lambda: False)
    >>> [problem.is_feasible(vector) for vector in search.run()][-1]
    True
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        packed: PackedItems,
        limits: Sequence[_Limit],
        stop: NDArray[np.int64],
        should_stop: Callable[[], bool],
    ) -> None:
        self.problem, self.packed, self.stop = problem, packed, stop
        self.nearest: Nearest | None = None
        self._limits = limits
        self._should_stop = should_stop
        self._price = problem.l0_penalty[packed.features]
        self._n_planes = np.diff(packed.first)
        self._required = tuple(np.flatnonzero(problem.required[packed.features]).tolist())
        self._totals = np.bincount(packed.side, packed.weight * packed.n_rows, 2)
        self._ranges: dict[tuple[int, ...], tuple[NDArray[np.int64], NDArray[np.int64]] | None] = {}

    @classmethod
    def of(
        cls,
        problem: RiskScoreProblem,
        stop: NDArray[np.int64],
        should_stop: Callable[[], bool],
    ) -> RatedSearch | None:
        """Pack the items of a problem; None where it has none, or no limits that cells can tell.

        Parameters
        ----------
        problem : RiskScoreProblem
        stop : int64 array of shape (1,)
        should_stop : callable

        Returns
        -------
        RatedSearch or None
        """
        limits = list(_limits_of(problem))
        if not limits or problem.max_size == 0:
            return None
        packed = packed_items(problem, lambda: bool(stop[0]) or should_stop())
        if packed is None or np.delete(problem.required, packed.features).any():
            return None
        return cls(problem, packed, limits, stop, should_stop)

    def run(self, starts: Iterable[NDArray[np.int64]] = ()) -> Iterator[NDArray[np.int64]]:
        """Yield feasible vectors, each better than the one before it.

        Parameters
        ----------
        starts : iterable of ndarray of int64, shape (d + 1,)
            Vectors to begin with, which need not keep the limits; a support that is grown item by
            item comes first.

        Yields
        ------
        ndarray of int64, shape (d + 1,)
        """
        least = math.inf
        for start in (None, *starts):
            point = self._grown() if start is None else self._of_vector(start)
            while point is not None and not self._stopped():
                vector = self._vector(point)
                self._note(vector, point)
                if point.violation == 0.0 and point.objective < least - _TINY:
                    least = point.objective
                    if self.problem.is_feasible(vector):
                        yield vector
                point = self._exchanged(point)
            if least < math.inf or self._stopped():
                return

    # ---- supports --------------------------------------------------------------------------

    def _grown(self) -> _Point | None:
        """The empty support, or what has to be in, and the best item until it is full."""
        point = self._polished(self._required, (0,) * (1 + len(self._required)))
        while point is not None and len(point.items) < self.problem.max_size:
            if self._stopped():
                break
            better = self._best_of(self._ranked([point.items], point), point, is_any=True)
            if better is None:
                break
            point = better
        return point

    def _exchanged(self, point: _Point) -> _Point | None:
        """A better support that differs by one item; None where none is found."""
        rests = [
            tuple(i for i in point.items if i != out)
            for out in point.items
            if out not in self._required
        ]
        if len(point.items) < self.problem.max_size:
            rests.append(point.items)
        return self._best_of(self._ranked(rests, point), point)

    def _ranked(self, rests: list[tuple[int, ...]], point: _Point) -> list[tuple[int, ...]]:
        """The most promising supports that have an item more than some others."""
        found: list[tuple[float, float, tuple[int, ...]]] = []
        for rest in rests:
            if self._stopped():
                break
            excess, least = self._promise(rest)
            excess = np.maximum(excess, 0.0) if point.violation == 0.0 else excess
            order = np.lexsort((least, excess))[:_SHORTLIST]
            found += [
                (float(excess[i]), float(least[i]), tuple(sorted((*rest, i))))
                for i in order.tolist()
                if math.isfinite(excess[i])
            ]
        found.sort()
        ranked = dict.fromkeys(items for _, _, items in found if items != point.items)
        return list(ranked)

    def _best_of(
        self, ranked: list[tuple[int, ...]], point: _Point, *, is_any: bool = False
    ) -> _Point | None:
        """The best of the first supports that are better than a point, or of the first ones."""
        known = dict(zip(point.items, point.points[1:], strict=True))
        n_tried, best = 0, None if is_any else point
        for items in ranked:
            if self._stopped() or n_tried == _SHORTLIST:
                break
            tried = self._polished(items, (point.points[0], *(known.get(i, 0) for i in items)))
            if tried is None:
                continue
            n_tried += 1
            if best is None or _is_better(tried, best):
                best = tried
            if n_tried % _AT_ONCE == 0 and best is not None and best is not point:
                break
        return None if best is point else best

    def _promise(self, rest: tuple[int, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What each item with the rest breaks limits by, called at best, and least losses.

        Infinite for items that cannot be added. Less than nothing where more than enough is right.
        """
        packed = self.packed
        excess, least = np.full((2, len(packed)), np.inf)
        room = kernels.most_planes() - int(self._n_planes[list(rest)].sum())
        cells = packed.cells(rest, self.problem.loss.n_threads)
        groups = np.arange(cells.weights.shape[1])
        masks = packed.masks(rest, cells, groups, self.problem.loss.n_threads)
        counted = np.zeros((2, len(packed.values), len(groups)))
        for g in groups.tolist():
            counts = np.add.reduceat(
                np.bitwise_count(packed.planes & masks[g]), packed.first_word[:-1], axis=1,
                dtype=np.int64,
            )  # fmt: skip
            for segment, side in enumerate(packed.side.tolist()):
                counted[side, :, g] += packed.weight[segment] * counts[:, segment]
        is_open = self._n_planes <= room
        is_open[list(rest)] = False
        for n in np.unique(self._n_planes[is_open]).tolist():
            own = np.flatnonzero(is_open & (self._n_planes == n))
            planes = packed.first[own][:, None] + np.arange(n)
            parts = counted[:, planes]  # (2, items, n, groups)
            others = cells.weights[:, None, :] - parts.sum(axis=2)
            every = np.concatenate((parts, np.maximum(others, 0.0)[:, :, None]), axis=2)
            negative, positive = every.reshape(2, len(own), -1)
            excess[own] = self._excess_of_cells(negative, positive)
            least[own] = _saturated(negative, positive) + self._price[own]
        return excess, least + float(self._price[list(rest)].sum())

    def _excess_of_cells(
        self, negative: NDArray[np.float64], positive: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """By how much cells break limits if they are called by their odds; shapes (n, cells)."""
        order = np.argsort(-positive / np.maximum(positive + negative, 1e-300), axis=1)
        found = np.cumsum(np.take_along_axis(positive, order, 1), axis=1)
        called = np.cumsum(np.take_along_axis(negative, order, 1), axis=1)
        missed = found[:, -1:] - np.pad(found, ((0, 0), (1, 0)))
        called = np.pad(called, ((0, 0), (1, 0)))
        worst = np.full(len(negative), -np.inf)
        for limit in self._limits:
            each = np.maximum(
                (missed - limit.missed) / self._totals[1], (called - limit.called) / self._totals[0]
            )
            worst = np.maximum(worst, each.min(axis=1))
        return worst

    # ---- points ----------------------------------------------------------------------------

    def _polished(self, items: tuple[int, ...], points: tuple[int, ...]) -> _Point | None:
        """Points of some items, changed one at a time while that helps; None where none are."""
        if int(self._n_planes[list(items)].sum()) > kernels.most_planes():
            return None
        ranges = self._range_of(items)
        if ranges is None:
            return None
        low, high = ranges
        cells = self.packed.cells(items, self.problem.loss.n_threads)
        vector = np.clip(np.array(points, np.int64), low, high)
        best, objective = math.inf, math.inf
        # Items without points first: they are new.
        order = sorted(range(1, len(vector)), key=lambda j: vector[j] != 0) or [0]
        for _ in range(_SWEEPS):
            before = best, objective
            for j in order:
                values = np.arange(
                    max(low[j], vector[j] - _REACH), min(high[j], vector[j] + _REACH) + 1
                )
                tried = np.repeat(vector[None], len(values), axis=0)
                tried[:, j] = values
                # Of the intercept all values are tried in any case.
                found = self._best_intercepts(tried if j else vector[None], cells, low[0], high[0])
                if found is None:
                    return None
                k, intercept, violation, loss = found
                loss += float(self._price[list(items)] @ (tried[k, 1:] != 0) if j else 0.0)
                if (violation, loss) < (best - _TINY, objective) or (
                    violation <= best + _TINY and loss < objective - _TINY
                ):
                    best, objective = violation, loss
                    vector = tried[k].copy() if j else vector
                    vector[0] = intercept
            if not (best, objective) < before:
                break
        best = 0.0 if best <= _TINY else best
        return _Point(items, tuple(vector.tolist()), best, objective)

    def _best_intercepts(
        self, tried: NDArray[np.int64], cells: Cells, low: int, high: int
    ) -> tuple[int, int, float, float] | None:
        """The best of some points with the best intercept: violation and loss, too."""
        scores = tried[:, 1:] @ cells.x[1:]
        least, most = int(scores.min(initial=0)), int(scores.max(initial=0))
        n_scores, t = most - least + 1, 1.0 / self.problem.loss.scale
        if n_scores > _MOST_SCORES:
            return None
        place = scores - least + n_scores * np.arange(len(tried))[:, None]
        negative, positive = (
            np.bincount(place.ravel(), np.tile(own, len(tried)), n_scores * len(tried))
            .reshape(len(tried), n_scores)
            for own in cells.weights
        )  # fmt: skip
        levels = [0, *(one.level for one in self._limits if one.level is not None)]
        margin = min(math.ceil(_MARGIN / t), _INTERCEPTS)
        first = max(low, min(levels) - most - margin)
        last = min(high, max(levels) - least + margin)
        if first > last:
            first = last = low if first > high else high
        intercepts = np.arange(first, last + 1)
        z = t * (least + np.arange(n_scores)[:, None] + intercepts)
        as_negative = np.logaddexp(0.0, z)
        losses = negative @ as_negative + positive @ (as_negative - z)
        below = [np.pad(np.cumsum(own, axis=1), ((0, 0), (1, 0))) for own in (negative, positive)]
        broken = np.zeros_like(losses)
        for limit in self._limits:
            broken += self._broken(limit, below, least, intercepts)
        broken = np.where(broken <= _TINY, 0.0, broken)
        k, b = np.unravel_index(np.lexsort((losses.ravel(), broken.ravel()))[0], losses.shape)
        return int(k), int(intercepts[b]), float(broken[k, b]), float(losses[k, b])

    def _broken(
        self,
        limit: _Limit,
        below: list[NDArray[np.float64]],
        least: int,
        intercepts: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Shares of their classes beyond a limit, for each points and intercept."""
        negative, positive = below
        missed = np.maximum(positive - limit.missed, 0.0) / self._totals[1]
        called = np.maximum(negative[:, -1:] - negative - limit.called, 0.0) / self._totals[0]
        each: NDArray[np.float64] = missed + called
        if limit.level is None:
            return np.repeat(each.min(axis=1)[:, None], len(intercepts), axis=1)
        return each[:, np.clip(limit.level - intercepts - least, 0, each.shape[1] - 1)]

    # ---- vectors ---------------------------------------------------------------------------

    def _range_of(
        self, items: tuple[int, ...]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Points that constraints leave to some items, intercept first; None where none."""
        if items not in self._ranges:
            problem = self.problem
            where = np.concatenate(([0], 1 + self.packed.features[list(items)])).astype(np.intp)
            lower, upper = problem.lower.copy(), problem.upper.copy()
            others = np.ones(len(lower), np.bool_)
            others[where] = False
            rows = problem.rows_with_size
            is_possible = rows is None or rows.propagate(lower, upper, used=where[1:])
            self._ranges[items] = (lower[where], upper[where]) if is_possible else None
        return self._ranges[items]

    def _vector(self, point: _Point) -> NDArray[np.int64]:
        vector = np.zeros(self.problem.n_features + 1, np.int64)
        vector[[0, *(1 + self.packed.features[list(point.items)])]] = point.points
        return vector

    def _of_vector(self, vector: NDArray[np.int64]) -> _Point | None:
        """A vector as items with points, polished; None if it uses what is not packed."""
        items = tuple(np.flatnonzero(vector[1 + self.packed.features]).tolist())
        if len(items) != np.count_nonzero(vector[1:]):
            return None
        points = vector[[0, *(1 + self.packed.features[list(items)])]]
        return self._polished(items, tuple(points.tolist()))

    def _note(self, vector: NDArray[np.int64], point: _Point) -> None:
        if self.nearest is None or point.violation < self.nearest.violation:
            self.nearest = Nearest(vector, point.violation)

    def _stopped(self) -> bool:
        return bool(self.stop[0]) or self._should_stop()


def _limits_of(problem: RiskScoreProblem) -> Iterator[_Limit]:
    """Limits that cells of supports can tell; groups of rows are none."""
    total = problem.loss.data.total_weight
    for check in problem.rates:
        if isinstance(check, OperatingPointCheck):
            missed, called = (check.most_missed(name) for name in ("sensitivity", "specificity"))
            if math.isfinite(missed) and math.isfinite(called):
                yield _Limit(None, missed / total, called / total)
        elif isinstance(check, RateCheck) and len(check.rates) == 1:
            (rate,) = check.rates
            most = (check.limit + RATE_TOLERANCE) * float(rate.weights.sum()) / total
            wrong = (most, math.inf) if rate.of_negative else (math.inf, most)
            yield _Limit(check.level.first_integer, *wrong)


def _saturated(
    negative: NDArray[np.float64], positive: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Least loss of any score of cells, shapes (n, cells)."""
    p, n = np.maximum(positive, 1e-300), np.maximum(negative, 1e-300)
    return np.asarray((p * np.log1p(n / p) + n * np.log1p(p / n)).sum(axis=1))


def _is_better(one: _Point, other: _Point) -> bool:
    if one.violation != other.violation:
        return one.violation < other.violation - _TINY
    return one.objective < other.objective - _TINY
