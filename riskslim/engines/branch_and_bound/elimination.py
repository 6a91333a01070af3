"""Sets of items in pieces: those that use an item, and those that do without it.

A relaxation says little of which items belong together, but it does say that hardly any score is
good without a few of them: once the items that it relies on most are out, one after the other, its
bound reaches that of the best score. Every support that is still possible has one of these, and of
those with the first one every support has another of a few. A piece is a set of items that are
used, whatever the sign of their points, and the items that may be added. It is divided at the item
that its relaxation relies on most: the part without it is relaxed, the part with it needs no
relaxation, since the items are the same. Where the supports of a piece are few enough, tables look
at them.

Tables are made to exclude what is below a level between the bound and the cutoff: there h excludes
nearly all, where boxes of those that it leaves would take most of the time.

Where supports are very many, pieces are those of families of items at first, as variables have
them (:mod:`~riskslim.engines.branch_and_bound.additive`): bounded by additive models of these, in
less time than by relaxations of items. A piece whose families are settled becomes one of items.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.engines.branch_and_bound.additive import AdditiveModel, Effects
from riskslim.engines.branch_and_bound.nodes import Child, InverseScale, Node
from riskslim.engines.branch_and_bound.open_sets import Budget, Found, OpenSet
from riskslim.engines.branch_and_bound.relaxations import LEAST_TOLERANCE
from riskslim.engines.branch_and_bound.support_enumeration import Scanned, SupportEnumeration
from riskslim.engines.branch_and_bound.workspace import KernelArguments, Worker, smallest_type

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.boxes import Boxes

__all__ = ["Divided", "Elimination", "Subproblem"]

# Least and most items of a score: pieces are divided nearly as often.
LEAST_USED, MOST_USED = 3, 6
# Share of what is between bound and cutoff that tables look beyond the bound by.
AHEAD = 0.75
# And share of the cutoff: levels this near to it are not worth another look.
NEAR = 0.005
# Relaxations that are as long as the tables of a piece, at most, where these come at once. Later
# they come as soon as the relaxations of the piece have taken as long.
RELAXATIONS = 4.0
# Share of what is between bound and cutoff that families are bounded to, at most, and how near to
# its loss a bound below that has to be.
FAMILIES_AHEAD = 0.25
FAMILIES_TOLERANCE = 2e-3
# Families are asked where tables of all supports would take so many seconds: below that what items
# are left of a score's families is too much for the little that their effects exclude.
FAMILIES_SECONDS = 1000.0
# Share of what is between them that the families of a score have to bound it by: free effects of
# many levels may fit far better than any score.
PROMISING = 0.25


class Subproblem(NamedTuple):
    """Supports that have some items, and may have others; heaps compare bound and order only."""

    bound: float
    order: int
    used: tuple[int, ...]
    box: NDArray[Any]
    coef: NDArray[np.float64]
    worth: InverseScale
    spent: float = 0.0  # predicted seconds of its relaxations
    is_small: bool = True  # tables have not left too many of its supports
    families: tuple[int, ...] | None = None  # of which it has an item; None: it is one of items
    effects: Effects = ()  # of families
    is_early: bool = False  # its families have to be fitted, or were not to the end


def _of_items(piece: Subproblem) -> Subproblem:
    """The same supports, no longer divided by families."""
    return piece._replace(families=None, effects=(), is_early=False)


class Divided(NamedTuple):
    """The rest of a piece."""

    pieces: list[Subproblem]
    children: list[Child]
    scanned: Scanned | None
    seconds: float


class Elimination(OpenSet):
    """Pieces that are open.

    Parameters
    ----------
    roots : list of Node
        Of the search.
    tables : SupportEnumeration
    spread : float64 array of shape (d + 1,)
        Standard deviation of each feature, intercept first.
    boxes : Boxes
    model : callable
        Builds what bounds pieces by families of items, or None: with it these are divided first.
    """

    def __init__(
        self,
        roots: list[Node],
        tables: SupportEnumeration,
        spread: NDArray[np.float64],
        boxes: Boxes,
        model: Callable[[], AdditiveModel | None],
    ) -> None:
        self._tables = tables
        self._spread = spread
        self._boxes = boxes
        seconds = sum(tables.predicted_seconds(root.box) for root in roots)
        self._additive = model() if seconds > FAMILIES_SECONDS else None
        all_boxes = np.concatenate([root.box for root in roots]).astype(np.float64)
        self._box_type = smallest_type(all_boxes)
        self._heap: list[Subproblem] = []
        self._order = 0
        for root in roots:
            coef = root.coef.astype(np.float64)
            coef[0] = root.intercept
            box = root.box.astype(np.float64)
            piece = Subproblem(root.bound, 0, (), box, coef, root.worth)
            if self._additive is not None:
                unknown = (None,) * len(self._additive.families)
                piece = piece._replace(families=(), effects=unknown, is_early=True)
            self._push(piece)

    @classmethod
    def of(cls, roots: list[Node], tables: SupportEnumeration, *others: Any) -> Elimination | None:
        """Divide the roots of a search.

        Parameters
        ----------
        roots, tables, *others
            As those of the class.

        Returns
        -------
        Elimination or None
            None: tables cannot look at them, or scores have too few items or too many.
        """
        seconds = max((tables.predicted_seconds(root.box) for root in roots), default=math.inf)
        is_possible = LEAST_USED <= tables.max_size <= MOST_USED and seconds < math.inf
        return cls(roots, tables, *others) if is_possible else None

    def _arguments(self, cutoff: float) -> KernelArguments:
        """Everything that kernels are told of the rows of all features."""
        boxes = self._boxes
        return boxes.relaxations.arguments(boxes.rows.rows, cutoff, LEAST_TOLERANCE)

    @property
    def bound(self) -> float:
        """Lower bound of what the open pieces hold; see :attr:`OpenSet.bound`."""
        return self._heap[0].bound if self._heap else math.inf

    @property
    def is_done(self) -> bool:
        """True if no piece is open; see :attr:`OpenSet.is_done`."""
        return not self._heap

    def prune(self, cutoff: float) -> None:
        """Forget pieces; see :meth:`OpenSet.prune`."""
        if self._heap and self._heap[0].bound >= cutoff:
            self._heap.clear()

    def divide(self, budget: Budget) -> Iterator[Found]:
        """Divide the next pieces; see :meth:`OpenSet.divide`."""
        cutoff, lower_bound, stop = budget.cutoff, budget.lower_bound, budget.stop
        for divided in budget.share(
            self.next_batch(budget.size, cutoff),
            lambda piece, worker: self.divide_piece(piece, worker, cutoff, lower_bound, stop),
        ):
            self.merge(divided)
            yield Found(
                divided.children, scanned=divided.scanned, is_node=True, seconds=divided.seconds
            )

    def _push(self, piece: Subproblem) -> None:
        """Keep a piece, in little memory."""
        self._order += 1
        effects = tuple(
            None if effect is None else effect.astype(np.float32) for effect in piece.effects
        )
        box = np.rint(piece.box).astype(self._box_type)
        heapq.heappush(self._heap, piece._replace(order=self._order, box=box, effects=effects))

    def next_batch(self, size: int, cutoff: float) -> list[Subproblem]:
        """Take the pieces with the least bounds.

        Parameters
        ----------
        size : int
            Most of them.
        cutoff : float
            Pieces from here on are forgotten.

        Returns
        -------
        list of Subproblem
        """
        batch: list[Subproblem] = []
        while self._heap and len(batch) < size and self._heap[0].bound < cutoff:
            batch.append(heapq.heappop(self._heap))
        if self._heap and self._heap[0].bound >= cutoff:
            self._heap.clear()
        return batch

    def merge(self, divided: Divided) -> None:
        """Take over the parts of a piece.

        Parameters
        ----------
        divided : Divided
        """
        for piece in divided.pieces:
            self._push(piece)

    def divide_piece(
        self,
        piece: Subproblem,
        worker: Worker,
        cutoff: float,
        lower_bound: float,
        stop: NDArray[np.int64],
    ) -> Divided:
        """Divide a piece, or look at all of its supports; touches nothing but the worker.

        Parameters
        ----------
        piece : Subproblem
        worker : Worker
        cutoff : float
            Objectives from here on are not looked for.
        lower_bound : float
            Of the whole search.
        stop : int64 array of shape (1,)
            Not zero: end as soon as possible.

        Returns
        -------
        Divided
            The piece itself, if the work was to end.
        """
        if stop[0]:
            return Divided([piece], [], None, 0.0)
        piece = piece._replace(box=piece.box.astype(np.float64))
        if piece.families is not None:
            return self._by_families(piece, worker, cutoff, lower_bound, stop)
        used = np.array(piece.used, np.int64)
        free = (piece.box[0, 1:] != 0) | (piece.box[1, 1:] != 0)
        if not free[used].all():  # no better score has them all
            return Divided([], [], None, 0.0)
        relaxation = self._boxes.seconds(piece.box)
        if piece.is_small:
            seconds = self._tables.predicted_seconds(piece.box, used=piece.used)
            if seconds <= max(RELAXATIONS * relaxation, piece.spent):
                return self._looked_at(piece, worker, cutoff, lower_bound, seconds, stop)
        free[used] = False
        if not free.any() or len(used) == self._tables.max_size:
            alone = Scanned([np.sort(used)], np.full(1, piece.bound), np.zeros(5, np.int64))
            children = self._boxes.supported(piece, piece.box, alone, worker, cutoff, lower_bound)
            return Divided([], children, None, relaxation)
        relied = np.where(free, np.abs(piece.coef[1:]) * self._spread[1:], -1.0)
        j = int(relied.argmax())
        within = piece._replace(used=(*piece.used, j), spent=0.0, is_small=True)
        return Divided(
            [within, *self._without(piece, j, worker, (cutoff, lower_bound), relaxation)],
            [],
            None,
            relaxation,
        )

    def _by_families(
        self,
        piece: Subproblem,
        worker: Worker,
        cutoff: float,
        lower_bound: float,
        stop: NDArray[np.int64],
    ) -> Divided:
        """Divide a piece at the family that its additive model relies on most.

        One part has an item of it. Where it then has as many families as a score may have items,
        the others are out. The other part has none.
        """
        assert self._additive is not None
        families = piece.families
        assert families is not None
        level = lower_bound + FAMILIES_AHEAD * (cutoff - lower_bound)
        limits = (cutoff, cutoff if cutoff - level <= NEAR * abs(cutoff) else level)
        seconds = 0.0
        if piece.is_early:
            is_root = all(effect is None for effect in piece.effects)
            fitted, seconds = self._fitted(piece, np.array([], np.int64), worker, limits, stop)
            if stop[0] or not fitted or fitted[0].bound >= limits[1]:
                return Divided([piece] if stop[0] else fitted, [], None, seconds)
            piece = fitted[0]
            if is_root:
                is_lost, more = self._is_lost(piece, worker, cutoff, lower_bound, stop)
                seconds += more
                if is_lost:
                    return Divided([_of_items(piece)], [], None, seconds)
        live = self._additive.live(piece.box)
        others = np.setdiff1d(live, families)
        if not len(others):  # its items are left
            return Divided([_of_items(piece)], [], None, seconds)
        spreads = [self._additive.spread(v, piece.effects[v]) for v in others.tolist()]
        chosen = int(others[int(np.argmax(spreads))])
        families = (*families, chosen)
        within = piece._replace(families=families)
        parts = [within]
        if len(families) == self._tables.max_size:
            out = np.setdiff1d(live, families)
            parts, more = self._fitted(within, out, worker, limits, stop)
            seconds += more
        without, more = self._fitted(piece, np.array([chosen]), worker, limits, stop)
        if stop[0]:
            return Divided([piece], [], None, seconds + more)
        return Divided([*parts, *without], [], None, seconds + more)

    def _is_lost(
        self,
        piece: Subproblem,
        worker: Worker,
        cutoff: float,
        lower_bound: float,
        stop: NDArray[np.int64],
    ) -> tuple[bool, float]:
        """True if the best families, as many as a score has items, bound it too low.

        They are found by leaving out the one whose effects vary least, again and again.
        """
        assert self._additive is not None
        live, seconds = self._additive.live(piece.box), 0.0
        while len(live) > self._tables.max_size:
            spreads = [self._additive.spread(v, piece.effects[v]) for v in live.tolist()]
            out = live[[int(np.argmin(spreads))]]
            live = np.setdiff1d(live, out)
            found, more = self._fitted(piece, out, worker, (cutoff, cutoff), stop)
            seconds += more
            if stop[0] or not found:
                return False, seconds
            piece = found[0]
        return piece.bound < lower_bound + PROMISING * (cutoff - lower_bound), seconds

    def _fitted(
        self,
        piece: Subproblem,
        out: NDArray[np.int64],
        worker: Worker,
        limits: tuple[float, float],
        stop: NDArray[np.int64],
    ) -> tuple[list[Subproblem], float]:
        """A piece without some families, none if it is pruned; predicted seconds."""
        assert self._additive is not None
        cutoff, level = limits
        box, coef, worth = piece.box.copy(), piece.coef.copy(), np.array(piece.worth)
        box[:, 1:][:, np.isin(self._additive.family_of, out)] = 0.0
        seconds = self._additive.predicted_seconds(self._additive.live(box))
        fitted = self._additive.fit(
            piece.effects, box, coef, worth, self._arguments(cutoff), level,
            FAMILIES_TOLERANCE * level, worker, stop,
        )  # fmt: skip
        if fitted.bound >= cutoff:
            return [], seconds
        return [
            piece._replace(
                bound=max(piece.bound, fitted.bound), box=box, coef=coef,
                worth=InverseScale(*worth.tolist()), effects=fitted.effects,
                is_early=fitted.is_early,
            )
        ], seconds  # fmt: skip

    def _without(
        self, piece: Subproblem, j: int, worker: Worker, limits: tuple[float, float], seconds: float
    ) -> list[Subproblem]:
        """The part of a piece that does without an item, none if it is pruned."""
        box, coef, worth = piece.box.copy(), piece.coef.copy(), np.array(piece.worth)
        box[:, 1 + j] = coef[1 + j] = 0.0
        bound = self._boxes.bound_by(worker, box, coef, worth, *limits)
        if bound >= limits[0]:
            return []
        return [
            piece._replace(
                bound=max(piece.bound, bound), box=box, coef=coef,
                worth=InverseScale(*worth.tolist()), spent=piece.spent + seconds,
            )
        ]  # fmt: skip

    def _looked_at(
        self,
        piece: Subproblem,
        worker: Worker,
        cutoff: float,
        lower_bound: float,
        seconds: float,
        stop: NDArray[np.int64],
    ) -> Divided:
        """Look at all supports of a piece, up to a level beyond the bound."""
        completion = self._tables.completion(
            piece.box, piece.worth.low, piece.worth.high, used=piece.used
        )
        if completion is None:
            return Divided([piece._replace(is_small=False)], [], None, 0.0)
        level = min(cutoff, max(piece.bound, lower_bound) + AHEAD * (cutoff - lower_bound))
        if cutoff - level <= NEAR * abs(cutoff):
            level = cutoff
        scanned = completion.scan(completion.whole(), level, stop)
        if scanned is None:
            again = piece if stop[0] else piece._replace(is_small=False)
            return Divided([again], [], None, seconds)
        children = self._boxes.supported(piece, piece.box, scanned, worker, level, lower_bound)
        # What a level excluded comes again once the bound has reached it.
        rest = [piece._replace(bound=level)] if level < cutoff else []
        return Divided(rest, children, scanned, seconds)
