r"""First scores under limits on rates: items are exchanged for what breaks the limits least.

The best scores of a problem without its limits can be far from all that keep them. Here the limits
lead: a score is compared by the weight that it calls wrong beyond them, and by its objective where
that is nothing, or equal.

1. **Points.** Cells of a support have the weights of both classes. For each value of one point,
   with every intercept, sums over the scores of the cells give rates and losses; the best value is
   taken until none helps. Where limits stay broken all small points are tried.
2. **Exchange.** Each item is taken out in turn. How many rows of either class have each of all
   other items, in every cell of the rest, is counted by bits; what the cells can be called at best,
   in order of their odds, says which of them are worth points.

Limits at a stated risk, and shares at a threshold that is free, are looked at alike.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import supports as kernels
from riskslim.constraints.rate_checks import RATE_TOLERANCE
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
# Supports that are kept of those with an item more; of the first of two items fewer.
_KEPT, _FIRST_OF_TWO = 20, 6
# Supports whose points are looked for before another way is tried.
_MOST_POLISHED = 250
# Most by which two points are changed at a time.
_STEP = 3
# Points of a small size that are tried together, and how many of the best ones have their losses
# compared.
_SMALL, _TIES = 4000, 64
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


class _Promise(NamedTuple):
    """Excess over limits of items whose cells are called at best, and their least loss."""

    excess: float
    least: float
    items: tuple[int, ...]


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
    limits : sequence of limits
    totals : ndarray of float64, shape (2,)
        Shares of the weight that the classes have.
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
        self.limits = limits
        self._should_stop = should_stop
        self._others = problem.without_rates()
        self._price = problem.l0_penalty[packed.features]
        self._n_planes = np.diff(packed.first)
        self._required = tuple(np.flatnonzero(problem.required[packed.features]).tolist())
        self.totals = np.bincount(packed.side, packed.weight * packed.n_rows, 2)
        self._promising: dict[tuple[int, ...], _Promise] = {}
        self._polished_items: set[tuple[int, ...]] = set()
        self._lead: tuple[int, ...] = ()
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

    def run(
        self,
        starts: Iterable[NDArray[np.int64]] = (),
        should_stop: Callable[[], bool] | None = None,
    ) -> Iterator[NDArray[np.int64]]:
        """Yield feasible vectors, each better than the one before it.

        Parameters
        ----------
        starts : iterable of ndarray of int64, shape (d + 1,)
            Vectors to begin with, which need not keep the limits; a support that is grown item by
            item comes first.
        should_stop : callable, optional
            Asked from now on.

        Yields
        ------
        ndarray of int64, shape (d + 1,)
        """
        self._should_stop = should_stop or self._should_stop
        self._promising.clear()
        begun = [self._grown(), *filter(None, map(self._items_of, starts))]
        for items in begun:
            self._descend(items, 1)
            point = self._point_of_promising()
            if point is None and not self._stopped():
                self._descend(self._lead or items, 2)
                point = self._point_of_promising()
            if point is not None:
                yield from self._improved(point)
                return

    def _improved(self, point: _Point) -> Iterator[NDArray[np.int64]]:
        """Exchange items for better ones that keep the limits, until that helps no more."""
        better: _Point | None = point
        while better is not None:
            vector = self._vector(better)
            if self.problem.is_feasible(vector):
                yield vector
            better = None if self._stopped() else self._exchanged(better)

    # ---- supports, by what their cells can be called ----------------------------------------

    def _grown(self) -> tuple[int, ...]:
        """The best item to what has to be in, one after the other, until there are enough."""
        items = self._required
        while len(items) < self.problem.max_size and not self._stopped():
            ranked = self._with_one_more(items, 1)
            if not ranked:
                break
            items = ranked[0].items
        return items

    def _descend(self, items: tuple[int, ...], n_out: int) -> None:
        """Exchange items as long as cells can be called better then; keep what is promising."""
        here = _Promise(math.inf, math.inf, items)
        while not self._stopped():
            best = here
            for kept in self._rests(here.items, n_out):
                if self._stopped():
                    return
                for one in self._completed(kept):
                    if one < best:
                        best = one
            self._lead = best.items
            if best is here:
                return
            here = best

    def _rests(self, items: tuple[int, ...], n_out: int) -> list[tuple[int, ...]]:
        """Items without some of them; all of them where there is room for another."""
        free = [i for i in items if i not in self._required]
        rests = [
            tuple(i for i in items if i not in out) for out in itertools.combinations(free, n_out)
        ]
        return [items, *rests] if len(items) < self.problem.max_size else rests

    def _completed(self, kept: tuple[int, ...]) -> list[_Promise]:
        """The most promising supports that have some items, and as many more as there may be."""
        layer = [_Promise(0.0, 0.0, kept)]
        while True:
            is_last = len(layer[0].items) + 1 >= self.problem.max_size
            breadth = _KEPT if is_last else _FIRST_OF_TWO
            more = [one for base in layer for one in self._with_one_more(base.items, breadth)]
            if not more or self._stopped():
                return [] if len(layer[0].items) == len(kept) else layer
            layer = more
            self._promising.update((one.items, one) for one in layer)
            if is_last:
                return layer

    def _with_one_more(self, items: tuple[int, ...], breadth: int) -> list[_Promise]:
        """The best supports with an item more than some."""
        if len(items) >= self.problem.max_size:
            return []
        excess, least = self._promise(items)
        found: list[_Promise] = []
        for i in np.lexsort((least, excess)).tolist():
            if len(found) == breadth or not math.isfinite(excess[i]):
                break
            more = tuple(sorted((*items, i)))
            if self._range_of(more) is not None:
                found.append(_Promise(float(excess[i]), float(least[i]), more))
        return found

    def _point_of_promising(self) -> _Point | None:
        """Points that keep the limits, of one of the supports that may; None where none does.

        Points of the first ones are looked for in any case: they tell how near one comes.
        """
        for n, (_, _, items) in enumerate(sorted(self._promising.values())):
            if n == _MOST_POLISHED or self._stopped():
                break
            if items in self._polished_items:
                continue
            self._polished_items.add(items)
            if self._promising[items].excess > 0.0 and n >= _AT_ONCE:
                break
            point = self._polished(items, (0,) * (1 + len(items)))
            if point is not None:
                vector = self._vector(point)
                self._note(vector, point)
                if point.violation == 0.0 and self.problem.is_feasible(vector):
                    return point
        return None

    # ---- supports, by their points ----------------------------------------------------------

    def _exchanged(self, point: _Point) -> _Point | None:
        """A better support that differs by one item; None where none is found."""
        rests = [
            tuple(i for i in point.items if i != out)
            for out in point.items
            if out not in self._required
        ]
        if len(point.items) < self.problem.max_size:
            rests.append(point.items)
        return self._best_of(self._ranked(rests), point)

    def _ranked(self, rests: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """The supports of the least losses that have an item more than some others."""
        found: list[tuple[float, tuple[int, ...]]] = []
        for rest in rests:
            if self._stopped():
                break
            excess, least = self._promise(rest)
            least[excess > 0.0] = math.inf
            found += [
                (float(least[i]), tuple(sorted((*rest, i))))
                for i in np.argsort(least, kind="stable")[:_SHORTLIST].tolist()
                if math.isfinite(least[i])
            ]
        return list(dict.fromkeys(items for _, items in sorted(found)))

    def _best_of(self, ranked: list[tuple[int, ...]], point: _Point) -> _Point | None:
        """The best of the first supports that are better than a point."""
        known = dict(zip(point.items, point.points[1:], strict=True))
        n_tried, best = 0, point
        for items in ranked:
            if self._stopped() or n_tried == _SHORTLIST:
                break
            if items == point.items:
                continue
            tried = self._polished(items, (point.points[0], *(known.get(i, 0) for i in items)))
            n_tried += 1
            if tried is not None and _is_less(tried.key, best.key):
                best = tried
            if n_tried % _AT_ONCE == 0 and best is not point:
                break
        return None if best is point else best

    def _promise(self, rest: tuple[int, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Excess over limits of each item with the rest, called at best, and least losses.

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
        for limit in self.limits:
            each = np.maximum(
                (missed - limit.missed) / self.totals[1], (called - limit.called) / self.totals[0]
            )
            worst = np.maximum(worst, each.min(axis=1))
        return worst

    # ---- points ----------------------------------------------------------------------------

    def _polished(self, items: tuple[int, ...], points: tuple[int, ...]) -> _Point | None:
        """Points of some items that break limits by little, and are good; None where none are."""
        if int(self._n_planes[list(items)].sum()) > kernels.most_planes():
            return None
        ranges = self._range_of(items)
        if ranges is None:
            return None
        cells = self.packed.cells(items, self.problem.loss.n_threads)
        on_cells = _OnCells(self, cells, *ranges, self._price[list(items)])
        if not on_cells.moves(np.clip(np.array(points, np.int64), *ranges)):
            return None
        if on_cells.violation > _TINY:
            on_cells.look_at_small_points()
            on_cells.moves_of_two()
        violation = 0.0 if on_cells.violation <= _TINY else on_cells.violation
        return _Point(items, tuple(on_cells.vector.tolist()), violation, on_cells.objective)

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

    def _items_of(self, vector: NDArray[np.int64]) -> tuple[int, ...] | None:
        """Items of a vector, None if it uses what is not packed."""
        items = tuple(np.flatnonzero(vector[1 + self.packed.features]).tolist())
        return items if len(items) == np.count_nonzero(vector[1:]) else None

    def _note(self, vector: NDArray[np.int64], point: _Point) -> None:
        if self.nearest is not None and point.violation >= self.nearest.violation:
            return
        if self._others.is_feasible(vector):
            self.nearest = Nearest(vector, point.violation)

    def _stopped(self) -> bool:
        return bool(self.stop[0]) or self._should_stop()


class _OnCells:
    """Points of a support, and what the cells say of them."""

    def __init__(
        self,
        search: RatedSearch,
        cells: Cells,
        low: NDArray[np.int64],
        high: NDArray[np.int64],
        price: NDArray[np.float64],
    ) -> None:
        self.cells, self.low, self.high, self.price = cells, low, high, price
        self.limits, self.totals = search.limits, search.totals
        self.t = 1.0 / search.problem.loss.scale
        self.violation = self.objective = math.inf
        self.vector = np.zeros(len(low), np.int64)

    def moves(self, vector: NDArray[np.int64]) -> bool:
        """Change one point at a time while that helps; False where scores are too many."""
        if vector is not self.vector:
            self.vector, self.violation, self.objective = vector, math.inf, math.inf
        # Items without points first: they are new.
        order = sorted(range(1, len(vector)), key=lambda j: vector[j] != 0)
        for _ in range(_SWEEPS):
            before = self.violation, self.objective
            for j in order or [0]:
                at, tried = self.vector[j], self.vector[None]
                if j:  # of the intercept all values are tried in any case
                    values = np.arange(
                        max(self.low[j], at - _REACH), min(self.high[j], at + _REACH) + 1
                    )
                    tried = np.repeat(tried, len(values), axis=0)
                    tried[:, j] = values
                if not self.take(tried):
                    return False
            if not _is_less((self.violation, self.objective), before):
                break
        return True

    def look_at_small_points(self) -> None:
        """Try all points of a small size together, and go on from the best ones."""
        k = len(self.vector) - 1
        most = next((most for most in (2, 1) if (2 * most + 1) ** k <= _SMALL), None)
        if most is None or k == 0:
            return
        grid = np.indices((2 * most + 1,) * k).reshape(k, -1).T - most
        inside = ((grid >= self.low[1:]) & (grid <= self.high[1:])).all(axis=1)
        if inside.any() and self.take(np.insert(grid[inside], 0, 0, axis=1)):
            self.moves(self.vector)

    def moves_of_two(self) -> None:
        """Change two points at a time while limits are broken and that helps."""
        steps = np.indices((2 * _STEP + 1,) * 2).reshape(2, -1).T - _STEP
        pairs = list(itertools.combinations(range(1, len(self.vector)), 2))
        while pairs and self.violation > _TINY:
            before = self.violation, self.objective
            tried = np.repeat(self.vector[None], len(steps) * len(pairs), axis=0)
            for k, pair in enumerate(pairs):
                tried[k * len(steps) : (k + 1) * len(steps), pair] += steps
            inside = (tried[:, 1:] >= self.low[1:]) & (tried[:, 1:] <= self.high[1:])
            tried = tried[inside.all(axis=1)]
            if not len(tried) or not self.take(tried) or not self.violation < before[0] - _TINY:
                return
            self.moves(self.vector)

    def take(self, tried: NDArray[np.int64]) -> bool:
        """Take the best of some points with its best intercept, if it is better.

        False where scores are too many.
        """
        scores = tried[:, 1:] @ self.cells.x[1:]
        least, most = int(scores.min(initial=0)), int(scores.max(initial=0))
        if most - least >= _MOST_SCORES:
            return False
        intercepts = self._intercepts(least, most)
        negative, positive = self._by_score(scores, least, most)
        broken = np.zeros((len(tried), len(intercepts)))
        below = [np.pad(np.cumsum(own, axis=1), ((0, 0), (1, 0))) for own in (negative, positive)]
        for limit in self.limits:
            broken += self._broken(limit, below, least, intercepts)
        fewest = float(broken.min())
        if fewest > self.violation + _TINY:
            return True
        chosen = np.flatnonzero((broken <= fewest + _TINY).any(axis=1))[:_TIES]
        z = self.t * (least + np.arange(most - least + 1)[:, None] + intercepts)
        as_negative = np.logaddexp(0.0, z)
        losses = negative[chosen] @ as_negative + positive[chosen] @ (as_negative - z)
        losses += ((tried[chosen, 1:] != 0) @ self.price)[:, None]
        losses[broken[chosen] > fewest + _TINY] = math.inf
        k, b = np.unravel_index(losses.argmin(), losses.shape)
        if _is_less((fewest, float(losses[k, b])), (self.violation, self.objective)):
            self.violation, self.objective = fewest, float(losses[k, b])
            self.vector = tried[chosen[k]].copy()
            self.vector[0] = intercepts[b]
        return True

    def _intercepts(self, least: int, most: int) -> NDArray[np.int64]:
        """Intercepts with which scores are next to levels, or risks next to the prevalence."""
        levels = [0, *(one.level for one in self.limits if one.level is not None)]
        margin = min(math.ceil(_MARGIN / self.t), _INTERCEPTS)
        low, high = int(self.low[0]), int(self.high[0])
        first = min(max(low, min(levels) - most - margin), high)
        last = max(min(high, max(levels) - least + margin), low)
        return np.arange(first, max(first, last) + 1)

    def _by_score(
        self, scores: NDArray[np.int64], least: int, most: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights of either class by score, for each points."""
        n, width = len(scores), most - least + 1
        place = (scores - least + width * np.arange(n)[:, None]).ravel()
        negative, positive = (
            np.bincount(place, np.tile(own, n), width * n).reshape(n, width).astype(np.float64)
            for own in self.cells.weights
        )
        return negative, positive

    def _broken(
        self,
        limit: _Limit,
        below: list[NDArray[np.float64]],
        least: int,
        intercepts: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Shares of their classes beyond a limit, for each points and intercept."""
        negative, positive = below
        missed = np.maximum(positive - limit.missed, 0.0) / self.totals[1]
        called = np.maximum(negative[:, -1:] - negative - limit.called, 0.0) / self.totals[0]
        each: NDArray[np.float64] = missed + called
        if limit.level is None:
            return np.repeat(each.min(axis=1)[:, None], len(intercepts), axis=1)
        return each[:, np.clip(limit.level - intercepts - least, 0, each.shape[1] - 1)]


def _limits_of(problem: RiskScoreProblem) -> Iterator[_Limit]:
    """Limits that cells of supports can tell; groups of rows are none.

    Those at one threshold are one, for cells have to be called such that all of them are kept.
    """
    total, most = problem.loss.data.total_weight, dict[int | None, tuple[float, float]]()
    for check in problem.rates:
        level: int | None
        if isinstance(check, OperatingPointCheck):
            missed, called = (check.most_missed(name) for name in ("sensitivity", "specificity"))
            level, wrong = None, (missed, called)
        elif len(check.rates) == 1:
            (rate,), level = check.rates, check.level.first_integer
            limit = (check.limit + RATE_TOLERANCE) * float(rate.weights.sum())
            wrong = (limit, math.inf) if rate.of_negative else (math.inf, limit)
        else:
            continue
        known = most.get(level, (math.inf, math.inf))
        most[level] = min(known[0], wrong[0]), min(known[1], wrong[1])
    for level, (missed, called) in most.items():
        if level is None and not (math.isfinite(missed) and math.isfinite(called)):
            continue  # one share alone says nothing
        yield _Limit(level, missed / total, called / total)


def _saturated(negative: NDArray[np.float64], positive: NDArray[np.float64]) -> NDArray[np.float64]:
    """Least loss of any score of cells, shapes (n, cells)."""
    p, n = np.maximum(positive, 1e-300), np.maximum(negative, 1e-300)
    return np.asarray((p * np.log1p(n / p) + n * np.log1p(p / n)).sum(axis=1))


def _is_less(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """True of less violation, or of as much with a smaller objective."""
    if abs(one[0] - other[0]) > _TINY:
        return one[0] < other[0]
    return one[1] < other[1] - _TINY
