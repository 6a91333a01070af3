r"""Supports of nested items: a search over all cut-offs and points together.

The cut-offs of a measurement are nested: each holds a part of the rows of the one before. A node of
this search is a set of *elements*, each of which stands for one item of a range of such a chain,
with points of one sign within a range. It is bounded by the relaxation in which an element shares
its points among the items of its range, and divided at ranges and at points; a node of one item in
each range is a support. What :mod:`riskslim._kernels.cutoffs` does not exclude of these becomes
nodes of branch and bound whose other features are out, as after tables of supports.

Open nodes are taken in rounds. Within one, nodes below a level are divided, depth first, until
none is left below it: the least bound of the open ones rises, and holds for all scores.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import cutoffs as kernels
from riskslim._kernels import nested_thresholds as chain_kernels
from riskslim.data.nested_thresholds import NestedThresholds, find_nested_thresholds
from riskslim.data.packed import first_words
from riskslim.engines.branch_and_bound import costs
from riskslim.engines.branch_and_bound.open_sets import Budget, Found, OpenSet
from riskslim.engines.branch_and_bound.support_enumeration import Scanned, count_limits

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.boxes import Boxes
    from riskslim.engines.branch_and_bound.enumeration_items import EnumerationItems
    from riskslim.engines.branch_and_bound.nodes import Node
    from riskslim.engines.branch_and_bound.support_enumeration import Completion, SupportEnumeration
    from riskslim.problem.problem import RiskScoreProblem

__all__ = [
    "MOST_ROOTS",
    "CutoffCounts",
    "CutoffSearch",
    "NodeBatch",
    "SortedRows",
    "chains_of",
    "kinds",
]

# More chains than this have too many combinations.
MOST_CHAINS = 400
# Most combinations of chains with signs to begin with, by setting.
MOST_ROOTS = {"auto": 200_000, "always": 20_000_000}
# Points that are looked at one by one.
MOST_POINTS = 10_000
# Numbers of 8 bytes that ranks and orders of rows may take.
MOST_WORDS = 2**26
# Nodes of one call of the kernel, those that it bounds at most, and that it may leave.
BATCH_NODES = 64
BATCH_EVALUATED = 4000
BATCH_OPEN = 8192
BATCH_FOUND = 4096
# Of the way from the least bound to the cutoff, the part that a round covers; and nodes that it
# begins with at least.
ROUND_SHARE = 1.0 / 16.0
ROUND_NODES = 256
# Positions in a node's integers: size, ends of the intercept, split; then the elements.
_HEAD = 6


@dataclasses.dataclass
class CutoffCounts:
    """Statistics of searches over cut-offs.

    Parameters
    ----------
    nodes : int
        Nodes that were bounded.
    leaves : int
        Supports that were looked at.
    left : int
        Of them, those that were not excluded.
    """

    nodes: int = 0
    leaves: int = 0
    left: int = 0

    def add(self, now: CutoffCounts, before: CutoffCounts) -> None:
        """Count what has been done since.

        Parameters
        ----------
        now, before : CutoffCounts
        """
        self.nodes += now.nodes - before.nodes
        self.leaves += now.leaves - before.leaves
        self.left += now.left - before.left


@dataclasses.dataclass(frozen=True, eq=False)
class SortedRows:
    """Rows of packed items, sorted by each chain of nested ones.

    Attributes
    ----------
    labels : uint16 array of shape (n,)
    multiples : int32 array of shape (n,)
        Rows that each row stands for.
    rank : int16 array of shape (number of chains, n)
        Items of the chain that a row has.
    order : int32 array of shape (number of chains, n)
        Rows by rank.
    start : int32 array of shape (number of chains, largest rank + 2)
        Where the rows of a rank begin.
    """

    labels: NDArray[np.uint16]
    multiples: NDArray[np.int32]
    rank: NDArray[np.int16]
    order: NDArray[np.int32]
    start: NDArray[np.int32]

    @staticmethod
    def fit(packed: EnumerationItems, chains: NestedThresholds) -> bool:
        """True if there are chains, and ranks and orders of the rows take little enough memory.

        Parameters
        ----------
        packed : EnumerationItems
        chains : NestedThresholds
        """
        n = int(packed.n_rows.sum())
        if not len(chains) or len(chains) * n * 6 > 8 * MOST_WORDS or n > 2**31 - 1:
            return False
        return int(chains.lengths.max()) <= np.iinfo(np.int16).max

    @classmethod
    def of(
        cls,
        packed: EnumerationItems,
        chains: NestedThresholds,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> SortedRows | None:
        """Sort the rows of packed items by each chain.

        Parameters
        ----------
        packed : EnumerationItems
        chains : NestedThresholds
            Of the items, as :func:`chains_of` returns them; they fit.
        should_stop : callable, optional

        Returns
        -------
        SortedRows or None
            None if the work was to end.
        """
        words, n_rows = packed.single_planes, packed.n_rows
        n, begin = int(n_rows.sum()), 64 * first_words(n_rows, line=1)
        kept = np.concatenate([np.arange(a, a + b) for a, b in zip(begin, n_rows, strict=False)])
        longest = int(chains.lengths.max())
        rank = np.empty((len(chains), n), np.int16)
        order = np.empty((len(chains), n), np.int32)
        start = np.empty((len(chains), longest + 2), np.int32)
        of_bits = np.empty(64 * packed.n_words, np.uint16)
        for c in range(len(chains)):
            if should_stop():
                return None
            chain_kernels.fill_ranks(words, chains.planes_of(c), of_bits)
            rank[c] = of_bits[kept]
            order[c] = np.argsort(rank[c], kind="stable")
            start[c] = np.searchsorted(rank[c][order[c]], np.arange(longest + 2))
        labels = np.repeat(packed.side, n_rows).astype(np.uint16)
        multiples = np.repeat(1 << packed.shifts, n_rows).astype(np.int32)
        return cls(labels, multiples, rank, order, start)


def chains_of(
    packed: EnumerationItems,
    kind: NDArray[np.int64],
    should_stop: Callable[[], bool] = lambda: False,
) -> NestedThresholds | None:
    """Put every item at the end of the chain whose last item has the fewest rows beyond its own.

    Parameters
    ----------
    packed : EnumerationItems
        Items of one plane.
    kind : int64 array of shape (m,)
        Only items of one kind form a chain.
    should_stop : callable, optional

    Returns
    -------
    NestedThresholds or None
        None if there are more than :data:`MOST_CHAINS`, or the work was to end.
    """
    items = np.arange(len(packed.features))
    return find_nested_thresholds(
        packed.single_planes, items, kind=kind, most=MOST_CHAINS, should_stop=should_stop
    )


class NodeBatch:
    """Nodes of one call of the kernel, and what it left of them."""

    def __init__(self, whole: NDArray[np.int32], real: NDArray[np.float64]) -> None:
        self.whole = whole
        self.real = real
        self.supports: list[NDArray[np.int64]] = []
        self.counted = np.zeros(3, np.int64)

    @functools.cached_property
    def bound(self) -> float:
        """Least bound of its nodes."""
        return float(self.real[:, 0].min(initial=math.inf))


class CutoffSearch(OpenSet):
    """All supports of a root, as ranges of nested items.

    Parameters
    ----------
    problem : RiskScoreProblem
    node : Node
        The root.
    completion : Completion
        Its items.
    chains : NestedThresholds
        Of these items, as :func:`chains_of` returns them.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        node: Node,
        completion: Completion,
        chains: NestedThresholds,
    ) -> None:
        self.node = node
        self.box = node.box.astype(np.float64)
        self.completion = completion
        self._chains = chains
        # Rows by these, sorted once the search is begun: that takes long where they are many.
        self._rows: SortedRows | None = None
        self.lower_bound = node.bound
        self.counts = CutoffCounts()
        features = completion.packed.features
        self._ends = node.box[:, 1 + features].astype(np.int64)
        self._intercept = node.box[:, 0].astype(np.int64)
        self._items = [chains.planes_of(c) for c in range(len(chains))]
        self._longest = int(chains.lengths.max())
        self._item = np.full((len(chains), self._longest), -1, np.int64)
        for c, items in enumerate(self._items):
            self._item[c, : len(items)] = items
        self._price = np.array([completion.fee[items].min() for items in self._items])
        self._ridge = np.zeros(len(self._items))
        if len(completion.ridge):
            self._ridge = np.array([completion.ridge[items].min() for items in self._items])
        self._limits = _Limits.of(problem, completion, self._items)
        self._signed = list(self._signed_chains())
        self._roots: Iterator[tuple[int, ...]] | None = self._combinations()
        self._now: list[NodeBatch] = []
        self._later: list[NodeBatch] = []
        self._level = 0.0
        self._n_open = 0
        self._required = set(features[: completion.n_in].tolist())
        self._has_empty = completion.min_size == 0
        self._seen: set[bytes] = set()
        self._is_pruned = False

    def _signed_chains(self) -> Iterator[tuple[int, int, int, int, int, int]]:
        """Chain, first and last item, sign, least and most points of every chain with a sign."""
        for c, chain in enumerate(self._items):
            for sign in (0, 1):
                most = -self._ends[0, chain] if sign else self._ends[1, chain]
                least = -self._ends[1, chain] if sign else self._ends[0, chain]
                use = np.flatnonzero(most > 0)
                if use.size:
                    low = int(np.maximum(least[use], 1).min())
                    yield c, int(use[0]), int(use[-1]), sign, low, int(most[use].max())

    @classmethod
    def of_roots(
        cls,
        problem: RiskScoreProblem,
        roots: Sequence[Node],
        tables: SupportEnumeration,
        setting: str,
        should_stop: Callable[[], bool],
    ) -> list[CutoffSearch]:
        """Prepare a search of each root; none at all where one of them is not possible.

        Parameters
        ----------
        problem : RiskScoreProblem
        roots : sequence of Node
        tables : SupportEnumeration
        setting : {"auto", "always"}
            How many combinations of chains and signs there may be.
        should_stop : callable

        Returns
        -------
        list of CutoffSearch
        """
        searches = []
        for node in roots:
            one = cls.of(problem, node, tables, MOST_ROOTS[setting], should_stop)
            if one is None:
                return []
            searches.append(one)
        return searches

    @classmethod
    def of(
        cls,
        problem: RiskScoreProblem,
        node: Node,
        tables: SupportEnumeration,
        most_roots: int,
        should_stop: Callable[[], bool],
    ) -> CutoffSearch | None:
        """Prepare the search of a root.

        Parameters
        ----------
        problem : RiskScoreProblem
        node : Node
        tables : SupportEnumeration
        most_roots : int
            Most combinations of chains and signs.
        should_stop : callable

        Returns
        -------
        CutoffSearch or None
            None where it is not possible: features of more than two values, items other than 0
            and 1, too large supports or points, or too many chains.
        """
        completion = tables.completion(node.box.astype(np.float64), node.worth.low, node.worth.high)
        if completion is None or completion.max_size > kernels.MOST_ELEMENTS:
            return None
        packed, items = completion.packed, completion.packed.features
        if completion.max_size < 1 or (packed.n_planes > 1).any():
            return None
        if (packed.value[:, :2] != (0.0, 1.0)).any():
            return None
        if (
            max(np.abs(node.box[:, 1 + items]).max(), np.abs(node.box[:, 0]).max() / 1e4)
            > MOST_POINTS
        ):
            return None
        found = chains_of(packed, kinds(problem, items), should_stop)
        if found is None or count_roots(2 * len(found), completion) > most_roots:
            return None
        return cls(problem, node, completion, found) if SortedRows.fit(packed, found) else None

    def sort_rows(self, should_stop: Callable[[], bool]) -> bool:
        """Prepare the rows, without which nothing can be divided; False: the work was to end.

        Parameters
        ----------
        should_stop : callable
        """
        if self._rows is None:
            self._rows = SortedRows.of(self.completion.packed, self._chains, should_stop)
        return self._rows is not None

    @property
    def seconds(self) -> float:
        """Predicted time of all of it."""
        rows = int(self.completion.packed.n_rows.sum())
        return costs.cutoff_search(self.n_roots, rows, self.completion.max_size)

    @property
    def n_roots(self) -> int:
        """Combinations of chains and signs, those that constraints exclude included."""
        done = self.completion
        n = len(self._signed)
        return sum(math.comb(n + k - 1, k) for k in range(max(done.min_size, 1), done.max_size + 1))

    def _combinations(self) -> Iterator[tuple[int, ...]]:
        done = self.completion
        for size in range(max(done.min_size, 1), done.max_size + 1):
            for chosen in itertools.combinations_with_replacement(range(len(self._signed)), size):
                if self._limits.allow([self._signed[i][0] for i in chosen]):
                    yield chosen

    def _root_unit(self) -> NodeBatch | None:
        """The next combinations, not bounded yet."""
        if self._roots is None:
            return None
        chosen = list(itertools.islice(self._roots, BATCH_NODES))
        if len(chosen) < BATCH_NODES:
            self._roots = None
        if not chosen:
            return None
        assert self._rows is not None
        starts = self._rows.start
        whole = np.zeros((len(chosen), kernels.NODE_INTS), np.int32)
        real = np.zeros((len(chosen), kernels.NODE_REALS))
        real[:, 0] = -1.0
        for row, (combination, node) in enumerate(zip(chosen, whole, strict=True)):
            node[:3] = len(combination), *self._intercept
            for i, signed in enumerate(combination):
                c, first, last, sign, low, high = self._signed[signed]
                duplicates, before = combination.count(signed), combination[:i].count(signed)
                begin, end = starts[c, first + 1], starts[c, last + 1]
                wanted = begin + (end - begin) * (before + 1) // (duplicates + 1)
                at = int(np.searchsorted(starts[c, : last + 2], wanted, "right")) - 2
                at = min(max(at, first), last)
                place = _HEAD + i * kernels.ELEMENT_INTS
                node[place : place + 8] = c, first, last, sign, low, high, 1, at
                real[row, 2 + kernels.MOST_ACTIVE * i] = self.completion.t_low
        return NodeBatch(whole, real)

    # ---- rounds ----------------------------------------------------------------------------

    @property
    def is_begun(self) -> bool:
        """Say that it is finished first; see :attr:`OpenSet.is_begun`."""
        return True

    def prune(self, cutoff: float) -> None:
        """Forget what is left; see :meth:`OpenSet.prune`."""
        self._is_pruned = self._is_pruned or self.bound >= cutoff

    def begin(self, boxes: Boxes, total: CutoffCounts) -> CutoffSearch:
        """Make it an open set of a search.

        Parameters
        ----------
        boxes : Boxes
        total : CutoffCounts
            Of all searches over cut-offs.

        Returns
        -------
        CutoffSearch
            This one.
        """
        self._boxes, self._total = boxes, total
        return self

    def divide(self, budget: Budget) -> Iterator[Found]:
        """Divide the next nodes; supports that are left become others; see :class:`OpenSet`."""
        cutoff = budget.cutoff
        units = self.next_units(budget.size, cutoff, budget.memory_limit)
        found = budget.share(units, lambda unit, _: self.run(unit, cutoff, budget.stop))
        before = dataclasses.replace(self.counts)
        self.merge(units, found)
        self._total.add(self.counts, before)
        supports = self.newly_left(units)
        # A leaf has a part of its support's points: its bound says nothing of the others.
        scanned = Scanned(supports, np.zeros(len(supports)), np.zeros(5, np.int64))
        children = self._boxes.supported(
            self.node, self.box, scanned, budget.workers[0], cutoff, budget.lower_bound
        )
        # Tables settle a support of which the best points are looked for.
        yield Found(children, by_relaxation=self.completion.accepts is None)

    @property
    def bound(self) -> float:
        """Lower bound of the objectives of all that is left; see :attr:`OpenSet.bound`."""
        if self._roots is not None or self._has_empty:
            return self.lower_bound
        units = (*self._now, *self._later)
        return max(self.lower_bound, min((unit.bound for unit in units), default=math.inf))

    @property
    def is_done(self) -> bool:
        """True if nothing is left; see :attr:`OpenSet.is_done`."""
        is_left = self._roots is not None or self._has_empty or self._now or self._later
        return self._is_pruned or not is_left

    @property
    def n_bytes(self) -> int:
        """Memory of the open nodes."""
        return self._n_open * (4 * kernels.NODE_INTS + 8 * kernels.NODE_REALS)

    def next_units(self, n_units: int, cutoff: float, memory_limit: int) -> list[NodeBatch]:
        """Take the next nodes, in units of similar length.

        Parameters
        ----------
        n_units : int
            Most units.
        cutoff : float
            Nodes with bounds from here on are forgotten.
        memory_limit : int
            Bytes of open nodes beyond which nodes are divided to the end.

        Returns
        -------
        list of NodeBatch
        """
        units: list[NodeBatch] = []
        while self._roots is not None and len(units) < n_units:
            unit = self._root_unit()
            if unit is not None:
                units.append(unit)
        if units:
            return units
        if not self._now:
            self._next_round(cutoff)
        if self.n_bytes > memory_limit:
            self._level = math.inf
        units, self._now = self._now[:n_units], self._now[n_units:]
        return units

    def _next_round(self, cutoff: float) -> None:
        whole = [unit.whole for unit in self._later]
        real = [unit.real for unit in self._later]
        self._later = []
        if not whole:
            return
        wholes, reals = np.concatenate(whole), np.concatenate(real)
        order = np.argsort(reals[:, 0], kind="stable")
        order = order[reals[order, 0] < cutoff]
        self._n_open = len(order)
        if not order.size:
            return
        bounds = reals[order, 0]
        level = bounds[0] + ROUND_SHARE * (cutoff - bounds[0])
        self._level = max(float(level), float(bounds[min(ROUND_NODES, len(bounds)) - 1]))
        n_now = max(int(np.searchsorted(bounds, self._level)), 1)
        now, later = order[:n_now], order[n_now:]
        if later.size:
            self._later.append(NodeBatch(wholes[later], reals[later]))
        for first in range(0, n_now, BATCH_NODES):
            rows = now[first : first + BATCH_NODES]
            self._now.append(NodeBatch(wholes[rows], reals[rows]))

    def run(self, unit: NodeBatch, cutoff: float, stop: NDArray[np.int64]) -> list[NodeBatch]:
        """Divide the nodes of a unit; touches nothing else.

        Parameters
        ----------
        unit : NodeBatch
        cutoff : float
        stop : int64 array of shape (1,)

        Returns
        -------
        list of NodeBatch
            Nodes with bounds of at least the level; then those that are left below it. The
            supports that are left are ``supports`` of the unit.
        """
        done, rows = self.completion, self._rows
        assert rows is not None
        whole = np.empty((BATCH_OPEN, kernels.NODE_INTS), np.int32)
        real = np.empty((BATCH_OPEN, kernels.NODE_REALS))
        found = np.empty((BATCH_FOUND, done.max_size), np.int64)
        n_done, n_open, n_found = kernels.search(
            rows.labels, rows.multiples, done.packed.unit, rows.rank, rows.order,
            rows.start, self._item, self._price, done.fee, self._ridge, done.ridge, done.low,
            done.high, done.apart, done.t_low, done.t_high, cutoff, min(self._level, cutoff),
            BATCH_EVALUATED, stop, unit.whole, unit.real, whole, real, found, unit.counted,
            np.empty(kernels.room(len(rows.labels), self._longest), np.uint64),
        )  # fmt: skip
        features = done.packed.features
        supports = [features[row[row >= 0]] for row in found[:n_found]]
        unit.supports = supports
        is_later = real[:n_open, 0] >= self._level
        later = NodeBatch(whole[:n_open][is_later], real[:n_open][is_later])
        parts = [
            NodeBatch(whole[:n_open][~is_later], real[:n_open][~is_later]),
            NodeBatch(unit.whole[n_done:], unit.real[n_done:]),
        ]
        again = NodeBatch(
            np.concatenate([part.whole for part in parts]),
            np.concatenate([part.real for part in parts]),
        )
        return [later, again]

    def merge(self, units: list[NodeBatch], left: list[list[NodeBatch]]) -> None:
        """Take over what became of units, in their order.

        Parameters
        ----------
        units : list of NodeBatch
        left : list of lists of NodeBatch
            What :meth:`run` returned for each.
        """
        again = []
        for unit, (later, below) in zip(units, left, strict=True):
            self._n_open += len(later.real) + len(below.real) - len(unit.real)
            self.counts.nodes += int(unit.counted[0])
            self.counts.leaves += int(unit.counted[1])
            self.counts.left += int(unit.counted[2])
            if len(later.real):
                self._later.append(later)
            for first in range(0, len(below.real), BATCH_NODES):
                rows = slice(first, first + BATCH_NODES)
                again.append(NodeBatch(below.whole[rows], below.real[rows]))
        self._now = again + self._now

    def newly_left(self, units: list[NodeBatch]) -> list[NDArray[np.int64]]:
        """Features of the supports that are left and have not been before.

        Parameters
        ----------
        units : list of NodeBatch
        """
        supports = [np.zeros(0, np.int64)] if self._has_empty else []
        self._has_empty = False
        for unit in units:
            supports += unit.supports
        fresh = []
        for support in supports:
            key = np.sort(support).tobytes()
            if key not in self._seen and self._required.issubset(support.tolist()):
                self._seen.add(key)
                fresh.append(support)
        return fresh


@dataclasses.dataclass(frozen=True, eq=False)
class _Limits:
    """Chains that can be together, as far as linear constraints on used features tell.

    Attributes
    ----------
    share : float64 array of shape (L, number of chains)
        What an item of a chain adds to a constraint at least.
    upper : float64 array of shape (L,)
    length : int64 array
        Items of each chain.
    apart : bool array of shape (number of chains, number of chains)
        Every two items of them are apart.
    required : list of int
        Chains of items that are in, as often as there are such items.
    """

    share: NDArray[np.float64]
    upper: NDArray[np.float64]
    length: NDArray[np.int64]
    apart: NDArray[np.bool_]
    required: list[int]

    @classmethod
    def of(
        cls,
        problem: RiskScoreProblem,
        completion: Completion,
        chains: list[NDArray[np.int64]],
    ) -> _Limits:
        used, upper = count_limits(problem)
        used = used[:, completion.packed.features]
        share = np.array([used[:, chain].min(axis=1) for chain in chains]).reshape(
            len(chains), len(upper)
        )
        length = np.array([len(chain) for chain in chains])
        of_item = np.empty(completion.n_items, np.int64)
        for c, chain in enumerate(chains):
            of_item[chain] = c
        apart = np.zeros((len(length), len(length)), np.bool_)
        for (a, one), (b, other) in itertools.product(enumerate(chains), repeat=2):
            together = completion.apart[np.ix_(one, other)] > 0
            if a == b:
                np.fill_diagonal(together, True)
            apart[a, b] = together.all()
        return cls(share.T, upper, length, apart, of_item[: completion.n_in].tolist())

    def allow(self, chosen: list[int]) -> bool:
        """True if items of these chains can be together."""
        if len(self.upper) and (self.share[:, chosen].sum(axis=1) > self.upper + 1e-9).any():
            return False
        if any(chosen.count(c) < self.required.count(c) for c in self.required):
            return False
        for i, c in enumerate(chosen):
            if chosen.count(c) > self.length[c] or any(self.apart[c, b] for b in chosen[:i]):
                return False
        return True


def kinds(problem: RiskScoreProblem, features: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number features so that only those which the same constraints count alike are equal.

    Parameters
    ----------
    problem : RiskScoreProblem
    features : int64 array of shape (m,)

    Returns
    -------
    int64 array of shape (m,)
    """
    used, _ = count_limits(problem)
    if not len(used):
        return np.zeros(len(features), np.int64)
    _, kind = np.unique(used[:, features], axis=1, return_inverse=True)
    return np.asarray(kind, np.int64).ravel()


def count_roots(n_signed: int, completion: Completion) -> int:
    """Count combinations of chains with signs, for supports of all permitted sizes.

    Parameters
    ----------
    n_signed : int
    completion : Completion

    Returns
    -------
    int
    """
    sizes = range(max(completion.min_size, 1), completion.max_size + 1)
    return sum(math.comb(n_signed + size - 1, size) for size in sizes)
