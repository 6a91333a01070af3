r"""Search of supports: which items a risk score uses, for problems of hundreds of 0/1 items.

Coordinate descent changes one coefficient, or exchanges one item while all other points are kept.
With many items that look alike (cut-offs of one measurement) the best exchange needs other points
for all items, and descent stops. Here the *support* is what is searched, and points follow:

1. **Step.** Rows of one score are one group. How many of either label have an item, in every
   group, is counted by bits (:mod:`riskslim.data.packed`); from these counts follow the best points
   of *every* item that can be added, each with its best shift of the intercept, exactly.
2. **Polish.** A support of k items has at most :math:`2^k` cells. Points are improved on them by
   moves of one and of two coefficients, whatever the number of rows.
3. **Beam.** Supports grow item by item; those that are best after polishing are kept.
4. **Exchange.** Each item is taken out in turn, the rest polished, and the most promising of all
   other items put in, polished again; also two at a time. Then the beam starts once more without
   one of the items that every good support has had so far.

A ridge penalty is part of all this: steps have it, and so have points on cells. Of equal items both
may be used then, since two halves cost less than one whole.

Where the problem has several scales, steps and exchanges work with points of 1/32 unit of
log-odds, nearly real numbers. Supports whose loss is then low enough are rounded at scales all
over the set, each polished there and given its best scale.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import real
from riskslim._kernels import supports as kernels
from riskslim.data.packed import Cells, PackedItems
from riskslim.heuristics.constrained import project
from riskslim.heuristics.cutoffs import FAR, NEAR, CutOffs
from riskslim.heuristics.grids import FINE, FINE_STEPS, STEPS, Grid, fine_bounds
from riskslim.heuristics.problem_items import packed_items
from riskslim.heuristics.work import Work
from riskslim.loss.form import tables_by_score
from riskslim.loss.sharing import take_over_work
from riskslim.scale import least_over

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["Support", "SupportSearch", "Width", "by_objective", "search_supports"]

# How many times as many supports are polished as are kept.
SHORTLIST = 3
# Pairs of items that are exchanged at most: all of them up to ten items.
MOST_PAIRS = 45
# Ratio between scales at which points are rounded, and how many of the results are polished.
SCALE_RATIO = 1.08
POLISHED_SCALES = 3
# Scales at which whole points are looked at, times the best one; of an interval those that are such
# a ratio apart, so that what was found at one of them is known when scores there are best again.
NEAR_SCALES = (1.0, 1.2, 0.85)
NEAR_RATIO = 1.02
# A support is rounded if its loss with fine points is not above the best objective by this share.
ROUNDED_MARGIN = 1e-3
# Supports for which no points were found that meet the constraints, after which a search that has
# found nothing ends.
MOST_REFUSED = 20
# An objective that is lower by less is none that is better.
_TOLERANCE = 1e-12
# Most groups of rows that a step tells apart. Scores that are near to each other are put together
# where there are more; that can change which items look promising, but no loss of a support.
MOST_GROUPS = 96
_FAR = 1e299


@dataclasses.dataclass(frozen=True)
class Support:
    """Items with points on some grid.

    Attributes
    ----------
    items : tuple of int
        In increasing order.
    points : tuple of int
        Of the intercept and of each item.
    objective : float
        Loss, ridge penalty, and prices of all items.
    """

    items: tuple[int, ...]
    points: tuple[int, ...]
    objective: float


@dataclasses.dataclass(frozen=True)
class Width:
    """Breadth of a stage of the search."""

    beam: int  # supports that are kept at each size
    exchanged: int  # supports of the beam whose neighbourhood is looked at
    breadth: int  # items that are tried in place of one that was taken out
    pair: tuple[int, int]  # the same for two: of the first, and of the second for each
    kin: float = NEAR  # log-odds of having cut-offs of which one is enough


# The first stage finds most of what there is to find in a tenth of the time of the second one.
NARROW = Width(10, 5, 8, (6, 4))
WIDE = Width(40, 20, 20, (25, 8), FAR)


def search_supports(
    problem: RiskScoreProblem,
    *,
    starts: Iterable[NDArray[np.int64]] = (),
    stop: NDArray[np.int64] | None = None,
    should_stop: Callable[[], bool] | None = None,
    effort: int = 3,
) -> Iterator[NDArray[np.int64]]:
    """Look for good supports, and yield feasible vectors, each better than the one before it.

    Parameters
    ----------
    problem : RiskScoreProblem
        Work is added to the counters of its loss.
    starts : iterable of ndarray of int64, shape (d + 1,)
        Feasible vectors whose neighbourhood is looked at, too.
    stop : int64 array of shape (1,), optional
        Not zero: end as soon as possible. Compiled passes look at it, too.
    should_stop : callable, optional
        Asked between passes; True ends the search.
    effort : int, default 3
        0: a beam alone. 1: exchanges of one item, too. 2: exchanges of two, and restarts. 3: the
        same once more, more widely.

    Yields
    ------
    ndarray of int64, shape (d + 1,)
        Intercept first.

    Examples
    --------
    >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
    >>> from riskslim.heuristics.supports import search_supports
    >>> data = TrainingData({"a": [0, 1, 1, 0, 1], "b": [1, 0, 1, 0, 1]}, [0, 1, 1, 0, 0])
    >>> coefficients = CoefficientSet(data.feature_names, -3, 3)
    >>> problem = RiskScoreProblem(data, coefficients)
    >>> [vector.tolist() for vector in search_supports(problem)][-1]
    [-2, 3, -1]
    """
    search = SupportSearch.of(problem, stop=stop, should_stop=should_stop)
    if search is not None:
        yield from search.run(starts, effort)


class SupportSearch:
    """One search of supports; see :func:`search_supports`.

    Parameters
    ----------
    problem : RiskScoreProblem
    packed : PackedItems
    grid : Grid
    stop : int64 array of shape (1,)
    should_stop : callable
    cutoffs : CutOffs, optional
        Those of the packed items, where they are known.

    Attributes
    ----------
    best : ndarray of int64, shape (d + 1,), or None
        Best feasible vector.
    objective : float
        Its objective, infinite without one.
    n_steps : int
        Passes over all items.
    n_polished : int
        Supports whose points were polished.
    work : Work
        Predicted seconds of all this.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        packed: PackedItems,
        grid: Grid,
        stop: NDArray[np.int64],
        should_stop: Callable[[], bool],
        cutoffs: CutOffs | None = None,
    ) -> None:
        self._begin(problem, packed.features, stop, should_stop)
        self.packed = packed
        self._grid = grid
        self._price = problem.l0_penalty[packed.features]
        # Of one point on the grid, and of one unit of log-odds.
        self._log_odds_ridge = problem.l2_penalty[packed.features]
        self._has_ridge = problem.has_ridge
        self._ridge = self._log_odds_ridge / grid.scale**2
        self._n_planes = np.diff(packed.first)
        self._cutoffs = cutoffs or CutOffs(packed)
        self._joint = np.empty(0)
        self._work = np.empty(0)
        self._parts: dict[float, SupportSearch] = {}
        self._tables: dict[float, tuple[int, NDArray[np.float64]]] = {}

    def _begin(
        self,
        problem: RiskScoreProblem,
        features: NDArray[np.int64],
        stop: NDArray[np.int64],
        should_stop: Callable[[], bool],
    ) -> None:
        """All that a search knows of whatever its items are; item i is features[i]."""
        self.problem = problem
        self.features = features
        self.stop = stop
        self.best: NDArray[np.int64] | None = None
        self.objective = math.inf
        self.has_ended = False
        self.n_steps = 0
        self.n_polished = 0
        self.work = Work()
        self._should_stop = should_stop
        self._n_refused = 0
        self._required = tuple(np.flatnonzero(problem.required[features]).tolist())
        self._neighbours: dict[tuple[tuple[int, ...], tuple[int, ...]], list[Support]] = {}
        self._layers: dict[tuple[int, frozenset[int]], list[list[Support]]] = {}
        self._offered: set[tuple[int, ...]] = set()
        self._extensible: dict[tuple[int, ...], bool] = {}

    @classmethod
    def of(
        cls,
        problem: RiskScoreProblem,
        *,
        stop: NDArray[np.int64] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> SupportSearch | None:
        """Pack the items of a problem; None where it has none that can be packed in time.

        Parameters
        ----------
        problem : RiskScoreProblem
        stop : int64 array of shape (1,), optional
        should_stop : callable, optional

        Returns
        -------
        SupportSearch or None
        """
        if problem.infeasibility is not None or problem.max_size == 0:
            return None
        flag = np.zeros(1, np.int64) if stop is None else stop
        asked = should_stop or (lambda: False)

        def is_stopped() -> bool:
            if not flag[0] and asked():
                flag[0] = 1
            return bool(flag[0])

        packed = packed_items(problem, is_stopped)
        if packed is None:
            return None
        # What must be used but is not packed: no support here would be feasible.
        if np.delete(problem.required, packed.features).any():
            return None
        where = np.concatenate(([0], 1 + packed.features))
        lower, upper = problem.lower[where], problem.upper[where]
        scale = problem.loss.scale
        steps: tuple[int, ...] = STEPS
        if not problem.scales.is_single:
            lower, upper = fine_bounds(lower, upper, problem.scales.low, problem.scales.high)
            scale, steps = float(FINE), FINE_STEPS
        grid = Grid.of(lower, upper, problem.max_size, packed, scale, steps)
        if grid is None:
            return None
        return cls(problem, packed, grid, flag, asked)

    # ---- the search ------------------------------------------------------------------------

    def run(
        self,
        starts: Iterable[NDArray[np.int64]] = (),
        effort: int = 3,
        budget: float = math.inf,
        deadline: float = math.inf,
    ) -> Iterator[NDArray[np.int64]]:
        """Yield feasible vectors, each better than the one before it.

        Parameters
        ----------
        starts : iterable of ndarray of int64, shape (d + 1,)
        effort : int, default 3
        budget : float, default infinity
            Predicted seconds of work after which to end: what is found does not depend on how
            long that takes.
        deadline : float, default infinity
            Time of :func:`time.perf_counter` at which to end in any case.

        Yields
        ------
        ndarray of int64, shape (d + 1,)
        """
        self.work.allow(budget, deadline)
        given = [support for start in starts if (support := self._support_of(start)) is not None]
        for stage in self._stages(given, effort):
            yield from stage
        self.has_ended = not self._stopped()
        self.work.allow(math.inf)

    def _stages(self, given: list[Support], effort: int) -> Iterator[Iterator[NDArray[np.int64]]]:
        for width in (NARROW, WIDE)[: 2 if effort >= 3 else 1]:
            self._cutoffs.tell_apart(width.kin)
            yield self._look_around(width, given, effort)
            yield self._around_scale(width, min(effort, 1))
            # Single items at any scale find most of it, in a fraction of the time of pairs.
            if effort >= 2:
                yield self._look_further(width)
                yield self._around_scale(width, effort)
            given = []

    @property
    def is_everything(self) -> bool:
        """True if all features that can be used are packed, and no constraint ties them."""
        n_usable = int(np.count_nonzero(self.problem.usable))
        return len(self.packed) == n_usable and self.problem.constraint_rows is None

    def _look_around(
        self, width: Width, given: list[Support], effort: int
    ) -> Iterator[NDArray[np.int64]]:
        """A beam, and exchanges of one item."""
        beam: list[Support] = []
        for layer in self._grow(width.beam):
            yield from self._offer(layer[: NARROW.beam])
            beam = sorted([*beam, *layer], key=by_objective)[: width.exchanged]
        if effort >= 1:
            for support in (*given, *beam):
                yield from self._exchange(support, 1, width)

    def _look_further(self, width: Width) -> Iterator[NDArray[np.int64]]:
        """Exchanges of two items, and restarts."""
        yield from self._exchange_best(2, width)
        yield from self._restart(width)

    def improve(self, vector: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Exchange items of a vector one at a time, until that helps no more.

        Parameters
        ----------
        vector : ndarray of int64, shape (d + 1,)
            Feasible.

        Yields
        ------
        ndarray of int64, shape (d + 1,)
            Vectors that are better than all before them.
        """
        support = self._support_of(vector)
        self._cutoffs.tell_apart(NARROW.kin)
        if support is not None:
            yield from self._exchange(support, 1, NARROW)

    def _restart(self, width: Width) -> Iterator[NDArray[np.int64]]:
        """Grow supports without each of the best one's items in turn, and exchange those."""
        if self.best is None:
            return
        used = self._items_of(self.best)
        for banned in used:
            if banned in self._required or self._stopped():
                continue
            last: list[Support] = []
            for layer in self._grow(width.beam // 2, frozenset((banned,))):
                last = sorted([*last, *layer], key=by_objective)[:2]
            yield from self._offer(last)
            for support in last[:1]:
                yield from self._exchange(support, 1, width)
        if self._items_of(self.best) != used:
            yield from self._exchange_best(2, width)

    def _grow(self, width: int, banned: frozenset[int] = frozenset()) -> Iterator[list[Support]]:
        """Yield the best supports of each size, best first; what is known is not grown again."""
        if not self._has_room(self._required):
            return  # what has to be in is more than cells can tell apart
        layers = self._layers.setdefault((width, banned), [])
        for n in range(1 + self.problem.max_size - len(self._required)):
            if n == len(layers):
                if n == 0:
                    layer = [self._polished(self._required, None, pairs=True)]
                else:
                    layer = self._next_layer(layers[-1], width, banned)
                if not layer or (n > 0 and self._stopped()):
                    return
                layers.append(layer)
            yield layers[n]

    def _next_layer(self, beam: list[Support], width: int, banned: frozenset[int]) -> list[Support]:
        """The best supports that have an item more than those of a beam."""
        found: dict[tuple[int, ...], Support] = {}
        for support in beam:
            for grown in self._grown(support, width, banned):
                known = found.get(grown.items)
                if known is None or grown.objective < known.objective:
                    found[grown.items] = grown
        ranked = self._spread(sorted(found.values(), key=by_objective))
        shortlist = itertools.islice(ranked, SHORTLIST * width)
        polished = self._all_polished(shortlist, pairs=False)
        return self._all_polished(polished[:width], pairs=True)

    def _has_room(self, items: Iterable[int]) -> bool:
        """True if the cells of some items are few enough to be told apart."""
        return bool(self._n_planes[list(items)].sum() <= kernels.most_planes())

    def _exchange_best(self, n_out: int, width: Width) -> Iterator[NDArray[np.int64]]:
        if self.best is not None and not self._stopped():
            support = self._support_of(self.best)
            if support is not None:
                yield from self._exchange(support, n_out, width)

    def _exchange(self, support: Support, n_out: int, width: Width) -> Iterator[NDArray[np.int64]]:
        """Exchange up to ``n_out`` items at a time, the best way, until none helps."""
        while not self._stopped():
            best = support
            for n in range(1, n_out + 1):
                for candidates in self._replacements(support, n, width):
                    yield from self._offer(candidates[:1])
                    if candidates and candidates[0].objective < best.objective - _TOLERANCE:
                        best = candidates[0]
                    if self._stopped():
                        return
                if best is not support:
                    break
            if best is support:
                best = self._shifted(support)
                yield from self._offer([best])
            if best is support:
                return
            support = best

    def _spread(self, supports: list[Support]) -> Iterator[Support]:
        """Leave out those that are near-copies of others before them."""
        return self._cutoffs.spread(supports, _items)

    def _shifted(self, support: Support) -> Support:
        """The support with one cut-off at a better place of its chain, or as it is.

        Steps look at all items of a chain here, at some of them elsewhere.
        """
        for i in support.items:
            chain = int(self._cutoffs.chain_of[i])
            if chain < 0 or not self._cutoffs.are_skipped or i in self._required:
                continue
            rest = self._rest(support, (i,))
            for one in self._grown(rest, 1, chain=chain):
                shifted = self._polished(one.items, one.points, pairs=True)
                if shifted.objective < support.objective - _TOLERANCE:
                    return shifted
        return support

    def _rest(self, support: Support, out: tuple[int, ...]) -> Support:
        """A support without some of its items, polished."""
        kept = [(i, v) for i, v in zip(support.items, support.points[1:], strict=True)
                if i not in out]  # fmt: skip
        points = (support.points[0], *(v for _, v in kept))
        return self._polished(tuple(i for i, _ in kept), points, pairs=True)

    def _replacements(self, support: Support, n_out: int, width: Width) -> Iterator[list[Support]]:
        """Yield supports with some items exchanged, best first, for each choice of what goes."""
        free = [i for i in support.items if i not in self._required]
        for out in itertools.islice(itertools.combinations(free, n_out), MOST_PAIRS):
            yield self._without(support, out, width)
        if n_out == 1 and len(support.items) < self.problem.max_size:
            yield self._completed(support, (width.breadth,))

    def _without(self, support: Support, out: tuple[int, ...], width: Width) -> list[Support]:
        """The best supports that have others in place of some items."""
        rest = tuple(i for i in support.items if i not in out)
        breadths = (width.breadth,) if len(out) == 1 else width.pair
        known = self._neighbours.get((rest, breadths))
        if known is None:
            known = self._completed(self._rest(support, out), breadths)
            if not self._stopped():
                self._neighbours[rest, breadths] = known
        return known

    def _completed(self, base: Support, breadths: tuple[int, ...]) -> list[Support]:
        """The base, and the best supports that it becomes with an item more for each breadth."""
        found: list[Support] = [base]
        layer = [base]
        for n, breadth in enumerate(breadths, start=1):
            grown: dict[tuple[int, ...], Support] = {}
            for support in layer:
                for one in self._grown(support, breadth):
                    if one.items not in grown:
                        grown[one.items] = one
            last = n == len(breadths)
            layer = self._all_polished(grown.values(), pairs=last)
            found += layer
        found.sort(key=by_objective)
        return found[: NARROW.breadth]

    # ---- supports --------------------------------------------------------------------------

    def _grown(
        self,
        support: Support,
        width: int,
        banned: frozenset[int] = frozenset(),
        chain: int | None = None,
    ) -> list[Support]:
        """A support with each of the most promising items (of a chain), not polished yet."""
        room = kernels.most_planes() - int(self._n_planes[list(support.items)].sum())
        if self._stopped() or len(support.items) >= self.problem.max_size:
            return []
        barred = np.zeros(len(self.packed), np.bool_)
        barred[[*support.items, *banned]] = True
        barred[self._n_planes > room] = True
        losses, steps, shifts = self._steps(support, barred, chain)
        objectives = losses + self._price + self._price[list(support.items)].sum()
        objectives += self._ridge[list(support.items)] @ np.square(support.points[1:], dtype=float)
        open_ = np.flatnonzero(~barred & (losses < _FAR))
        order = open_[np.argsort(objectives[open_], kind="stable")]
        found: list[Support] = []
        for i in self._cutoffs.spread(order.tolist(), lambda i: (i,)):
            if len(found) == width:
                break
            items = tuple(sorted((*support.items, i)))
            if not self._is_extensible(items):
                continue
            at = 1 + items.index(i)
            points = [support.points[0] + int(shifts[i]), *support.points[1:]]
            points.insert(at, int(steps[i]))
            found.append(Support(items, tuple(points), float(objectives[i])))
        return found

    def _steps(
        self, support: Support, barred: NDArray[np.bool_] | None = None, chain: int | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        """The best loss of every item that is added, its points, and the intercept's shift.

        Cut-offs that are not looked at (:mod:`riskslim.heuristics.cutoffs`) have an infinite loss,
        and so have all items but those of a chain, where one is given. Barred items are none that
        others are looked at for.
        """
        packed, grid = self.packed, self._grid
        cells = self._cells(support.items)
        position = np.array(support.points, np.int64) @ cells.x - grid.low
        places, group = np.unique(position, return_inverse=True)
        unit = 1
        while len(places) > MOST_GROUPS:
            unit *= 2
            near = np.clip(position // unit * unit + unit // 2, position.min(), position.max())
            places, group = np.unique(near, return_inverse=True)
        n_groups = len(places)
        total = np.empty((2, n_groups))
        for side in (0, 1):
            total[side] = np.bincount(group, cells.weights[side], n_groups)
        masks = packed.masks(support.items, cells, group, self.problem.loss.n_threads)
        n_planes = len(packed.values)
        if self._joint.size < n_planes * 2 * n_groups:
            self._joint = np.empty(n_planes * 2 * n_groups)
            self._work = np.empty((int(self._n_planes.max()) + 1) * 2 * n_groups)
        joint = self._joint[: n_planes * 2 * n_groups].reshape(n_planes, 2, n_groups)
        counted = self._cutoffs.counter.count(
            masks, joint, self.stop, self.problem.loss.n_threads, chain
        )
        loss = np.full(len(packed), 10.0 * _FAR)
        step, shift = np.zeros((2, len(packed)), np.int64)
        work_values = np.empty(int(self._n_planes.max()) + 1, np.int64)

        def look_at(chosen: NDArray[np.int64]) -> None:
            self.work.steps(int(self._n_planes[chosen].sum()), n_groups)
            kernels.best_steps(
                joint, total, packed.first, packed.values, packed.base, places,
                grid.losses, grid.slopes, 1.0 / grid.scale, self._ridge,
                grid.lower[1:], grid.upper[1:],
                int(grid.lower[0]) - support.points[0], int(grid.upper[0]) - support.points[0],
                self._work, work_values, chosen, loss, step, shift, self.stop,
            )  # fmt: skip

        look_at(self._cutoffs.first_look(chain))
        if chain is None:
            look_at(self._cutoffs.second_look(loss + self._price, barred))
        self.n_steps += 1
        self.work.counts(*counted, n_words=packed.planes.shape[1], n_groups=n_groups)
        return loss, step, shift

    def _cells(self, items: tuple[int, ...]) -> Cells:
        packed = self.packed
        if not packed.is_known(items):
            n_planes = int(self._n_planes[list(items)].sum())
            self.work.cells(packed.planes.shape[1], n_planes, len(packed.side))
        return packed.cells(items, self.problem.loss.n_threads)

    def _count_polish(self, x: NDArray[np.int64], *, pairs: bool) -> None:
        self.n_polished += 1
        self.work.polish(x.shape[1], x.shape[0], pairs=pairs)

    def _polished(
        self, items: tuple[int, ...], points: tuple[int, ...] | None, *, pairs: bool
    ) -> Support:
        """Improve the points of some items on their cells."""
        cells, grid = self._cells(items), self._grid
        where = np.array([0, *(1 + i for i in items)])
        lower, upper = grid.lower[where], grid.upper[where]
        found = np.clip(0, lower, upper) if points is None else np.array(points, np.int64)
        loss = kernels.polish(
            cells.x, cells.weights, found, lower, upper, grid.losses, grid.low, grid.steps, pairs,
            self._ridge_of(items, grid.scale), np.empty(cells.x.shape[1], np.int64),
        )  # fmt: skip
        self._count_polish(cells.x, pairs=pairs)
        self.problem.loss.n_evaluations += 1
        return Support(items, tuple(found.tolist()), loss + float(self._price[list(items)].sum()))

    def _all_polished(self, supports: Iterable[Support], *, pairs: bool) -> list[Support]:
        """Polish supports, best first; a stop leaves out those that are not reached."""
        polished: list[Support] = []
        for one in supports:
            if self._stopped():
                break
            polished.append(self._polished(one.items, one.points, pairs=pairs))
        return sorted(polished, key=by_objective)

    def _items_of(self, vector: NDArray[np.int64]) -> tuple[int, ...]:
        return tuple(np.flatnonzero(vector[1 + self.features]).tolist())

    def _support_of(self, vector: NDArray[np.int64]) -> Support | None:
        """A vector as a support; None if it uses what is not packed."""
        used = np.flatnonzero(vector[1:])
        items = self._items_of(vector)
        if len(items) != len(used) or not self._has_room(items):
            return None
        chosen = vector[[0, *(1 + self.packed.features[list(items)])]]
        points = chosen
        if not self.problem.scales.is_single:
            points = np.rint(chosen * (FINE / self.problem.best_scale(vector)))
        where = [0, *(1 + i for i in items)]
        points = np.clip(points, self._grid.lower[where], self._grid.upper[where])
        return self._polished(items, tuple(points.astype(np.int64).tolist()), pairs=True)

    def _stopped(self) -> bool:
        if self.work.is_spent:
            return True
        if self.best is None and self._n_refused >= MOST_REFUSED:
            return True  # the constraints leave so little that other means have to find it
        if not self.stop[0] and self._should_stop():
            self.stop[0] = 1
        return bool(self.stop[0])

    # ---- what is feasible --------------------------------------------------------------------

    def _is_extensible(self, items: tuple[int, ...]) -> bool:
        """True if the constraints may be met with all of some items, and others beside them."""
        rows = self.problem.rows_with_size
        if rows is None:
            return True
        known = self._extensible.get(items)
        if known is None:
            box = self.problem.lower.copy(), self.problem.upper.copy()
            known = rows.propagate(*box, used=1 + self.features[list(items)])
            self.work.propagations(len(rows), len(rows.columns))
            self._extensible[items] = known
        return known

    def _offer(self, supports: Iterable[Support]) -> Iterator[NDArray[np.int64]]:
        """Yield the vectors of supports that are better than the best one."""
        for support in supports:
            if support.objective > self.objective * (1.0 + ROUNDED_MARGIN) or self._stopped():
                continue
            if self.problem.scales.is_single:
                if support.objective < self.objective - _TOLERANCE:
                    yield from self._take(self._vector(support.items, support.points))
            elif support.items not in self._offered:
                self._offered.add(support.items)
                for points in self._at_scales(support):
                    yield from self._take(self._vector(support.items, points))

    def _vector(self, items: tuple[int, ...], points: Iterable[int]) -> NDArray[np.int64]:
        vector = np.zeros(self.problem.n_features + 1, np.int64)
        vector[[0, *(1 + self.features[list(items)])]] = list(points)
        return vector

    def _take(self, vector: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        problem = self.problem
        if not problem.is_feasible(vector):
            if problem.constraint_rows is None:
                return
            near = project(problem, vector.astype(np.float64), np.abs(vector).astype(np.float64))
            n_rows, n_fixed = len(problem.constraint_rows), problem.n_features
            self.work.propagations(n_rows, n_fixed, n_fixed)
            if near is None:
                self._n_refused += 1
                return
            vector = near
        objective = problem.objective(vector)
        self.work.columns(problem.loss.n_rows, int(np.count_nonzero(vector)))
        if objective < self.objective:
            self.best, self.objective = vector, objective
            yield vector

    # ---- scales ----------------------------------------------------------------------------

    def _ridge_of(self, items: tuple[int, ...], scale: float) -> NDArray[np.float64]:
        """Ridge penalty of one point of the intercept and of some items."""
        if not self._has_ridge:
            return np.zeros(1 + len(items))
        return np.concatenate(([0.0], self._log_odds_ridge[list(items)])) / scale**2

    def _around_scale(self, width: Width, effort: int) -> Iterator[NDArray[np.int64]]:
        """Look around at the scale of the best vector, with whole points, and at scales near it.

        Supports whose fine points are best need not be those that whole points do well with.
        """
        if self.problem.scales.is_single:
            return
        tried: set[float] = set()
        while self.best is not None and not self._stopped():
            scale, before = self.problem.best_scale(self.best), self.objective
            is_wide = not tried and effort >= 1 and width is NARROW
            near = self._near(scale, NEAR_SCALES if is_wide else (1.0,))
            for one in near:
                if one not in tried and not self._stopped():
                    tried.add(one)
                    yield from self._at_single(one, width, effort, is_first=len(tried) <= len(near))
            if not self.objective < before - _TOLERANCE:
                return

    def _near(self, scale: float, ratios: tuple[float, ...]) -> list[float]:
        """Scales of the problem near one of them."""
        scales = self.problem.scales
        if scales.values is not None:
            ranked = sorted(scales.values, key=lambda one: abs(math.log(one / scale)))
            return ranked[: len(ratios)]
        steps = [round(math.log(scale * ratio / scales.low, NEAR_RATIO)) for ratio in ratios]
        return [min(scales.low * NEAR_RATIO ** max(n, 0), scales.high) for n in steps]

    def _at_single(
        self, scale: float, width: Width, effort: int, *, is_first: bool
    ) -> Iterator[NDArray[np.int64]]:
        """Look around at one scale; of first ones with a beam, of others from the best vector."""
        part = self._part(scale)
        if part is None or self.best is None:
            return
        n_steps, n_polished = part.n_steps, part.n_polished
        start = part._support_of(self.best)
        given = [] if start is None else [start]
        stages = [part._exchange(one, 1 if effort < 2 else 2, width) for one in given]
        if is_first:
            stages.insert(0, part._look_around(width, [], min(effort, 1)))
        for vector in itertools.chain.from_iterable(stages):
            for better in self._take(vector):
                yield better
                yield from self._settled(better)
        self.n_steps += part.n_steps - n_steps
        self.n_polished += part.n_polished - n_polished
        take_over_work(self.problem.loss, part.problem.loss)

    def _part(self, scale: float) -> SupportSearch | None:
        """The search at one scale, which knows what it has found; None if its tables are large."""
        if scale not in self._parts:
            problem = self.problem.at_scale(scale)
            where = np.concatenate(([0], 1 + self.packed.features))
            lower, upper = problem.lower[where], problem.upper[where]
            grid = Grid.of(lower, upper, problem.max_size, self.packed, scale, STEPS)
            if grid is None:
                return None
            part = SupportSearch(
                problem, self.packed, grid, self.stop, self._should_stop, self._cutoffs
            )
            part.work = self.work
            self._parts[scale] = part
        return self._parts[scale]

    def _settled(self, vector: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """The points of a vector polished at their own best scale, if that makes it better."""
        items = self._items_of(vector)
        where = [0, *(1 + self.packed.features[list(items)])]
        points, loss = self._settle(vector[where], math.inf, items)
        if loss + float(self._price[list(items)].sum()) < self.objective - _TOLERANCE:
            yield from self._take(self._vector(items, points.tolist()))

    def _settle(
        self, points: NDArray[np.int64], least: float, items: tuple[int, ...]
    ) -> tuple[NDArray[np.int64], float]:
        """Polish points at their best scale, until neither they nor it change; and their loss."""
        while not self._stopped():
            scale = self._best_scale(points, items)[0]
            changed = points.copy()
            self._polish_at(scale, items, changed)
            loss = self._best_scale(changed, items)[1]
            if not loss < least - _TOLERANCE:
                break
            points, least = changed, loss
        return points, least

    def _at_scales(self, support: Support) -> Iterator[tuple[int, ...]]:
        """Yield the points of a support at several scales, the most promising ones polished."""
        problem = self.problem
        where = [0, *(1 + self.packed.features[list(support.items)])]
        lower, upper = problem.lower[where], problem.upper[where]
        real = np.array(support.points) / FINE
        found: dict[tuple[int, ...], float] = {}
        for scale in self._scales_for(real[1:], lower[1:], upper[1:]):
            if self._stopped():
                break
            points = np.rint(real * scale)
            points[1:] = np.where(points[1:] == 0, np.sign(real[1:]), points[1:])
            points = np.clip(points, lower, upper).astype(np.int64)
            self._polish_at(scale, support.items, points)
            key = tuple(points.tolist())
            if key not in found:
                found[key] = self._best_scale(points, support.items)[1]
        for key in sorted(found, key=lambda key: found[key])[:POLISHED_SCALES]:
            points, least = self._settle(np.array(key, np.int64), found[key], support.items)
            price = float(self._price[[i for i, v in zip(support.items, points[1:], strict=True)
                                       if v]].sum())  # fmt: skip
            if least + price < self.objective - _TOLERANCE:
                yield tuple(points.tolist())

    def _scales_for(
        self, real: NDArray[np.float64], lower: NDArray[np.int64], upper: NDArray[np.int64]
    ) -> list[float]:
        """Scales at which real points may be rounded: from a fixed grid, as far as points go."""
        scales = self.problem.scales
        if scales.values is not None:
            return list(scales.values)
        bound = np.where(real > 0, upper, -lower)
        ratio = np.abs(real) / np.maximum(bound, 1)
        most = min(scales.high, 1.3 / max(float(ratio.max(initial=0.0)), 1e-9))
        n = math.floor(math.log(max(most / scales.low, 1.0)) / math.log(SCALE_RATIO))
        return [scales.low * SCALE_RATIO**i for i in range(n + 1)]

    def _polish_at(self, scale: float, items: tuple[int, ...], points: NDArray[np.int64]) -> None:
        """Improve points in place at a scale."""
        x, weights = self._cells(items)[1:]
        where = [0, *(1 + self.packed.features[list(items)])]
        lower, upper = self.problem.lower[where], self.problem.upper[where]
        scores = points @ x
        spread = int((upper - lower)[1:].max(initial=1)) + 4
        low, high = int(scores.min()) - 2 * spread, int(scores.max()) + 2 * spread
        known = self._tables.get(scale)
        if known is None or low < known[0] or high >= known[0] + known[1].shape[1]:
            losses, _ = tables_by_score(low - spread, high + spread, scale)
            known = self._tables[scale] = low - spread, losses
            if len(self._tables) > 1000:
                self._tables.clear()
        kernels.polish(
            x, weights, points, lower, upper, known[1], known[0], np.ones(1, np.int64), True,
            self._ridge_of(items, scale), np.empty(x.shape[1], np.int64),
        )  # fmt: skip
        self._count_polish(x, pairs=True)

    def _best_scale(self, points: NDArray[np.int64], items: tuple[int, ...]) -> tuple[float, float]:
        """The best scale of points on cells, and their loss there, ridge penalty included."""
        x, (negative, positive) = self._cells(items)[1:]
        scores = (points @ x).astype(np.float64)
        ridge = float(self._ridge_of(items, 1.0) @ points.astype(np.float64) ** 2)

        def derivatives(t: float) -> tuple[float, float, float]:
            return real.scale_derivatives(scores, positive, negative, t)

        scale = least_over(self.problem.scales, derivatives, ridge)
        return scale, derivatives(1.0 / scale)[0] + ridge / scale**2


def _items(support: Support) -> tuple[int, ...]:
    return support.items


def by_objective(support: Support) -> tuple[float, tuple[int, ...]]:
    """The key that supports are sorted by: better ones first, equals by their items.

    Parameters
    ----------
    support : Support

    Returns
    -------
    tuple
    """
    return support.objective, support.items
