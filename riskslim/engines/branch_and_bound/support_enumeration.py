r"""Tables of supports: nodes of which every set of items is looked at, where that is cheap.

Let S be a set of items (a support), each of two to eight values. Rows that S does not tell apart
are in one of as many cells as there are combinations of its values: :math:`2^{|S|}` of items of two
values. With the weights :math:`P_c, N_c` of the classes in cell c, of which all add up to one,

.. math::

    h(S) = \sum_c P_c \log\Bigl(1 + \frac{N_c}{P_c}\Bigr) + N_c \log\Bigl(1 + \frac{P_c}{N_c}\Bigr)

is at most the loss of every score that uses items of S only, whatever its points, intercept and
scale: a score is constant in a cell, and the summand is the least that any constant gives there. A
support with h(S) + prices at or above the cutoff holds nothing that is looked for. The others are
bounded by the convex loss over real points within the node's box, from the same cells, and by
branching on these points. A ridge penalty is part of that loss; beside h there is that of the least
points that each item can have. What is left becomes nodes whose other features are out, and goes
through the search as any node: integers, scales, constraints and lists of scores are its business.

The kernel is :mod:`riskslim._kernels.support_enumeration`; rows are those of
:mod:`~riskslim.engines.branch_and_bound.enumeration_items`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import support_enumeration as kernels
from riskslim.data.threads import in_threads
from riskslim.engines.branch_and_bound import costs
from riskslim.engines.branch_and_bound.costs import count_supports
from riskslim.engines.branch_and_bound.enumeration_items import (
    EnumerationItems,
    plane_counts,
    saturated_losses,
)
from riskslim.engines.branch_and_bound.enumeration_memory import Memory
from riskslim.engines.branch_and_bound.rate_limits import NO_LIMITS, NO_SHARES, RateLimits

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = [
    "TASK_SECONDS",
    "Completion",
    "EnumerationCounts",
    "Scanned",
    "SupportEnumeration",
    "Task",
    "count_limits",
]  # fmt: skip

# Planes of a support's items, of which each has at least one. With more of them cells are too many
# to be bounded one support at a time.
MOST_PLANES = 10
# Supports that one task may leave. A cutoff that excludes hardly anything would fill the memory.
MOST_FOUND = 50_000
# Scores are looked for, not rules.
NO_KNAPSACK = np.zeros(0)
# Of a support no vector was found.
NO_VECTOR = np.iinfo(np.int64).min
# Copies of all planes that are there at once while they are packed.
PACKED_COPIES = 3
# Predicted seconds of one task: long enough to be worth a call, short enough to share out. A task
# sorts all rows by its prefix: where they are many, that should be little beside the task.
TASK_SECONDS = 0.05
SORTINGS = 30.0

# Supports that are looked at to predict how many h does not exclude, and the share of the predicted
# time that this may take beyond the fewest.
FEWEST_SAMPLED, MOST_SAMPLED, SAMPLED_SHARE = 8, 48, 0.005


class Task(NamedTuple):
    """Supports that begin with a prefix.

    Attributes
    ----------
    prefix : tuple of int
        Items that all of them have.
    first : int
        Further items are from this one on.
    max_size : int
        Most items that they have; that of the prefix for the prefix alone.
    seconds : float
        Predicted time.
    """

    prefix: tuple[int, ...]
    first: int
    max_size: int
    seconds: float


class Scanned(NamedTuple):
    """Supports that a task left.

    Attributes
    ----------
    supports : list of int64 arrays
        Features of each support.
    bounds : float64 array
        Lower bound of the objectives of its scores.
    counted : int64 array of shape (5,)
        Supports looked at, past the first test, past h, and left; second derivatives of
        their boxes.
    vectors : list of int64 arrays of shape (d + 1,)
        Scores that keep limits on rates, each the best one of a support that is not left, or one
        of a support that is.
    """

    supports: list[NDArray[np.int64]]
    bounds: NDArray[np.float64]
    counted: NDArray[np.int64]
    vectors: Sequence[NDArray[np.int64]] = ()


@dataclasses.dataclass
class EnumerationCounts:
    """Statistics of support enumeration.

    Parameters
    ----------
    nodes : int
        Nodes that they completed.
    supports, tested, saturated, left : int
        Supports that they looked at, that were left by the first test, by h, and in the end.
    terms : int
        Second derivatives of all boxes that were bounded for supports that h left.
    vectors : int
        Scores that keep limits on rates, found on the cells of supports.
    share : float
        Of the latest node that takes long, share of the supports that are looked at or excluded.
    """

    nodes: int = 0
    supports: int = 0
    tested: int = 0
    saturated: int = 0
    left: int = 0
    terms: int = 0
    vectors: int = 0
    share: float = 0.0

    def add(self, scanned: Scanned) -> None:
        """Count what a scan looked at.

        Parameters
        ----------
        scanned : Scanned
        """
        looked_at, tested, saturated, left, terms = scanned.counted.tolist()
        self.terms += terms
        self.supports += looked_at
        self.tested += tested
        self.saturated += saturated
        self.left += left
        self.vectors += len(scanned.vectors)

    @property
    def terms_per_support(self) -> float:
        """Second derivatives for each support that was looked at, 0 before any was."""
        return self.terms / max(self.supports, 1)

    def add_node(self, scanned: Scanned | None) -> None:
        """Count a node, if tables completed it.

        Parameters
        ----------
        scanned : Scanned or None
        """
        if scanned is not None:
            self.nodes += 1
            self.add(scanned)


@dataclasses.dataclass(frozen=True, eq=False)
class Completion:
    """All supports of one node.

    Attributes
    ----------
    packed : EnumerationItems
        Items that are in, then those that are free: first those of more than two values; in
        either part the most promising ones first.
    n_in : int
    low, high : float64 arrays of shape (m + 1,)
        Ends of the coefficients in log-odds, intercept first.
    t_low, t_high : float
        What one point may be worth.
    price : float64 array of shape (m,)
        What an item costs at least.
    fee : float64 array of shape (m,)
        Of that, what does not depend on its points.
    ridge : float64 array of shape (m,) or (0,)
        Penalty of a squared coefficient in log-odds, where there is one.
    apart : uint8 array of shape (m, m)
        Items of which no feasible score has both.
    min_size, max_size : int
        Of whole supports.
    cost : float
        Factor of predicted times.
    memory : Memory
        In which supports are looked at.
    n_bytes : int
        Of it, what one task takes.
    n_features : int
        Of the problem.
    limits : RateLimits, optional
        That scores are to keep.
    knapsack : float64 array of shape (2,), optional
        The class of which rules are to call a share right (1: positive), and how many of its rows
        they may call wrong: see :meth:`for_rules`.
    accepts : callable, optional
        The best vector of each support is looked for, not one of all: says whether a vector meets
        all requirements. Others leave their support open.
    """

    packed: EnumerationItems
    n_in: int
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    t_low: float
    t_high: float
    price: NDArray[np.float64]
    fee: NDArray[np.float64]
    ridge: NDArray[np.float64]
    apart: NDArray[np.uint8]
    min_size: int
    max_size: int
    cost: float
    memory: Memory
    n_bytes: int
    n_features: int
    limits: RateLimits | None = None
    knapsack: NDArray[np.float64] = dataclasses.field(default_factory=lambda: NO_KNAPSACK)
    accepts: Callable[[NDArray[np.int64]], bool] | None = None

    def for_rules(self, side: int, capacity: int, min_size: int) -> Completion:
        """The same supports, bounded by how many rows of one class their rules call wrong.

        Parameters
        ----------
        side : int
            The class of which a share is required, 1 for the positive one.
        capacity : int
            How many of its rows may be called wrong.
        min_size : int
            Of supports that are looked at.

        Returns
        -------
        Completion
            Cutoffs and bounds of its scans are numbers of rows of the other class.
        """
        return dataclasses.replace(
            self, packed=dataclasses.replace(self.packed, unit=np.ones(2)), min_size=min_size,
            price=np.zeros(self.n_items), knapsack=np.array([side, capacity], np.float64),
            limits=None, accepts=None,
        )  # fmt: skip

    @property
    def n_items(self) -> int:
        """Number m of items."""
        return len(self.price)

    @property
    def n_supports(self) -> int:
        """Supports of permitted sizes, those with items that are apart included."""
        return count_supports(self.n_items - self.n_in, self.max_size - self.n_in)

    @property
    def seconds(self) -> float:
        """Predicted time of all of them."""
        return self._seconds(tuple(range(self.n_in)), self.n_in, self.max_size)

    @functools.cached_property
    def _planes(self) -> list[int]:
        planes: list[int] = self.packed.n_planes.tolist()
        return planes

    @functools.cached_property
    def _wide(self) -> list[int]:
        """Planes of the free items that have more than one, which come first."""
        return [n for n in self._planes[self.n_in :] if n > 1]

    def _wide_from(self, first: int) -> list[int]:
        return self._wide[max(first - self.n_in, 0) :]

    def _seconds(self, prefix: tuple[int, ...], first: int, max_size: int) -> float:
        return self.cost * costs.supports(
            self.n_items - first, len(prefix), max_size, self.packed.n_words,
            len(self.packed.n_rows), self._wide_from(first),
            sum(self._planes[i] for i in prefix) - len(prefix),
        )  # fmt: skip

    def share_before(self, task: Task) -> float:
        """Share of the supports that come before those of a task.

        Parameters
        ----------
        task : Task

        Returns
        -------
        float
        """
        before, first = 0, self.n_in
        for size, item in enumerate(task.prefix[self.n_in :], start=self.n_in):
            more = self.max_size - size
            before += 1 + count_supports(self.n_items - first, more)
            before -= count_supports(self.n_items - item, more)
            first = item + 1
        return before / self.n_supports

    def whole(self) -> Task:
        """All supports as one task."""
        return Task(tuple(range(self.n_in)), self.n_in, self.max_size, self.seconds)

    def drawn(self, rng: np.random.Generator) -> Task:
        """One of the largest supports, drawn at random.

        Parameters
        ----------
        rng : Generator

        Returns
        -------
        Task
        """
        others = self.n_in + rng.permutation(self.n_items - self.n_in)
        further = np.sort(others[: self.max_size - self.n_in]).tolist()
        return Task((*range(self.n_in), *further), self.n_items, self.max_size, 0.0)

    @functools.cached_property
    def _task_seconds(self) -> float:
        """Predicted time beyond which supports are divided into several tasks."""
        n_words, n_groups = self.packed.n_words, self.packed.words.shape[0]
        return max(TASK_SECONDS, SORTINGS * costs.sorting(n_words, n_groups))

    def tasks(self) -> Iterator[Task]:
        """Divide the supports into tasks of similar length, the most promising ones first."""
        yield from self._divided(tuple(range(self.n_in)), self.n_in)

    def _divided(self, prefix: tuple[int, ...], first: int) -> Iterator[Task]:
        seconds = self._seconds(prefix, first, self.max_size)
        if seconds <= self._task_seconds or len(prefix) + 2 >= self.max_size:
            yield Task(prefix, first, self.max_size, seconds)
            return
        yield Task(prefix, first, len(prefix), 0.0)
        for item in range(first, self.n_items):
            if not self.apart[list(prefix), item].any():
                yield from self._divided((*prefix, item), item + 1)

    def scan(
        self,
        task: Task,
        cutoff: float,
        stop: NDArray[np.int64],
        *,
        settles: bool | None = None,
    ) -> Scanned | None:
        """Look at the supports of a task.

        Parameters
        ----------
        task : Task
        cutoff : float
            Objectives from here on are not looked for.
        stop : int64 array of shape (1,)
            Not zero: end as soon as possible.
        settles : bool, optional
            Whether a score that keeps all limits on rates settles what is no better: by default
            where that is all that is looked for. It must not where something is concluded from
            what the others do not leave.

        Returns
        -------
        Scanned or None
            None: it was stopped, or leaves too many supports.
        """
        limits = self.limits
        if settles is not None:
            return self._scanned(task, cutoff, stop, int(settles))
        if limits is None:
            return self._scanned(task, cutoff, stop, kernels.EACH if self._has_each else 0)
        if not limits.settles_in(self.packed, self.t_low, self.t_high):
            return self._scanned(task, cutoff, stop, 0)
        found = self._scanned(task, cutoff, stop, kernels.EACH if self.accepts else 1)
        # Next to a limit the rounded weights of cells could say another thing than the rows.
        if found is None or all(map(limits.accepts, found.vectors)):
            return found
        return self._scanned(task, cutoff, stop, 0)

    @property
    def _has_each(self) -> bool:
        """True if cells give losses exactly, so that they settle a support that is looked for."""
        return self.accepts is not None and self.packed.is_exact

    def _scanned(
        self, task: Task, cutoff: float, stop: NDArray[np.int64], settles: int
    ) -> Scanned | None:
        with self.memory.taken(self.n_bytes):
            return self._scanned_in_memory(task, cutoff, stop, settles)

    def _scanned_in_memory(
        self, task: Task, cutoff: float, stop: NDArray[np.int64], settles: int
    ) -> Scanned | None:
        packed, limits, shares = self.packed, NO_LIMITS, NO_SHARES
        if self.limits is not None:
            limits = self.limits.rows(packed, self.t_low, self.t_high)
            shares = self.limits.shares(packed)
        has_vectors = bool(len(limits) or len(shares) or settles == kernels.EACH)
        depth = most_sorted(
            sum(self._planes[i] for i in task.prefix), self._wide_from(task.first),
            task.max_size - len(task.prefix),
        )  # fmt: skip
        n_words, n_integers, n_floats = kernels.room(
            packed.words.shape[0], packed.n_words, len(packed.n_rows), int(packed.n_rows.sum()),
            depth,
        )  # fmt: skip
        size = max(task.max_size, 1)
        found, bounds = np.empty((MOST_FOUND, size), np.int64), np.empty(MOST_FOUND)
        points = np.empty((MOST_FOUND if has_vectors else 1, task.max_size + 1), np.int64)
        counted = np.zeros(5, np.int64)
        room = self.memory.room(n_words, n_integers, n_floats)
        n_found = kernels.scan(
            packed.words, packed.n_rows, packed.side, packed.shifts, packed.unit, packed.value,
            packed.first, self.low, self.high, self.t_low, self.t_high, self.price, self.fee,
            self.ridge, self.apart, np.array(task.prefix, np.int64), task.first, self.min_size,
            task.max_size, depth, cutoff, kernels.best_level(), limits, shares, settles,
            self.knapsack, stop, found, bounds, points, counted, *room,
        )  # fmt: skip
        self.memory.give_back(room)
        if n_found < 0:
            return None
        items = [packed.features[row[row >= 0]] for row in found[:n_found, : task.max_size]]
        left = np.isfinite(bounds[:n_found])
        vectors = []
        if has_vectors:
            for k in np.flatnonzero(points[:n_found, 0] != NO_VECTOR).tolist():
                vector = np.zeros(self.n_features + 1, np.int64)
                vector[[0, *(1 + items[k])]] = points[k, : len(items[k]) + 1]
                if self.limits is None and self.accepts is not None and not self.accepts(vector):
                    left[k], bounds[k] = True, -math.inf
                    continue
                vectors.append(vector)
        supports = [items[k] for k in np.flatnonzero(left).tolist()]
        return Scanned(supports, bounds[:n_found][left], counted, vectors)


class _Shape(NamedTuple):
    """Numbers of the items of a box: what predictions are from."""

    n_in: int
    in_planes: int
    n_free: int
    wide: list[int]  # planes of the free items that have more than one
    n_planes: int
    max_size: int

    @property
    def most_planes(self) -> int:
        """Most planes of a support."""
        more = self.max_size - self.n_in
        chosen = sorted(self.wide, reverse=True)[: max(more, 0)]
        return self.in_planes + sum(chosen) + max(more - len(chosen), 0)


class SupportEnumeration:
    """Tables of a problem, and the nodes that they can complete.

    Parameters
    ----------
    problem : RiskScoreProblem
    cost : float
        Factor of predicted times.
    memory : float
        Bytes that the packed items may take, and the work of all threads beside them.
    counts : EnumerationCounts, optional
        What tables have done so far. They are to change between batches of nodes only, so that
        predictions do not depend on threads.
    should_stop : callable, optional
        Asked while items are packed; after True tables can complete nothing that is not packed.

    Attributes
    ----------
    limits : RateLimits or None
        Limits on rates that scores are to keep. They may be set before anything is completed.
    accepts : callable or None
        As :class:`Completion` has it; the same holds for it.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        *,
        cost: float = 1.0,
        memory: float = math.inf,
        counts: EnumerationCounts | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.cost, self.memory = cost, Memory(memory)
        self.min_size, self.max_size = problem.min_size, problem.max_size
        self.price, self.ridge = problem.l0_penalty, problem.l2_penalty
        self.counts = counts or EnumerationCounts()
        self.limits: RateLimits | None = None
        self.accepts: Callable[[NDArray[np.int64]], bool] | None = None
        self._problem = problem
        self._should_stop = should_stop
        self._packed: tuple[EnumerationItems, NDArray[np.uint8]] | None = None

    @functools.cached_property
    def planes(self) -> NDArray[np.int64]:
        """Planes of each feature that may have points, shape (d,); 0 if it is no item."""
        found = plane_counts(self._problem.loss, self._should_stop)
        found[~self._problem.usable] = 0
        n_bytes = PACKED_COPIES * int(found.sum()) * self._problem.loss.n_rows / 8
        if n_bytes > self.memory.limit:
            found[:] = 0
        return found

    @property
    def n_items(self) -> int:
        """Number of features that are items."""
        return int(np.count_nonzero(self.planes))

    @property
    def is_limited_by_shares(self) -> bool:
        """True if cells of supports have to have shares at some threshold."""
        return self.limits is not None and self.limits.most_wrong is not None

    def _pack(self) -> tuple[EnumerationItems, NDArray[np.uint8]] | None:
        """The items, most promising first, and which of all features are apart; None after a stop.

        Made when they are first needed, which can be by several threads at once: they see both or
        neither.
        """
        if self._packed is None:
            features = np.flatnonzero(self.planes)
            packed = EnumerationItems.of(self._problem.loss, features, self._should_stop)
            if packed is None:
                return None
            order = np.argsort(saturated_losses(packed), kind="stable")
            self._packed = packed.taken(order), _apart(self._problem)
        return self._packed

    @property
    def packed(self) -> EnumerationItems | None:
        """The items, the most promising ones first; None after a stop."""
        found = self._pack()
        return None if found is None else found[0]

    def _shape(self, box: NDArray[Any], used: Sequence[int] = ()) -> _Shape | None:
        """Items of a box by kind, None where it has other features."""
        low, high = box[:, 1:]
        live = np.flatnonzero((low != 0) | (high != 0))
        planes = self.planes[live]
        n_live, n_planes = len(live), int(planes.sum())
        if np.count_nonzero(planes) < n_live:
            return None
        is_in = (low > 0) | (high < 0)
        is_in[list(used)] = True
        is_in = is_in[live]
        n_in = int(np.count_nonzero(is_in))
        if n_planes == n_live:  # all have two values; this is asked for every node
            return _Shape(n_in, n_in, n_live - n_in, [], n_planes, min(self.max_size, n_live))
        wide = planes[~is_in & (planes > 1)].tolist()
        return _Shape(
            n_in, int(planes[is_in].sum()), n_live - n_in, wide, n_planes,
            min(self.max_size, n_live),
        )  # fmt: skip

    def _n_bytes(self, shape: _Shape, packed: EnumerationItems) -> int:
        """Memory of a thread that looks at the supports of a box."""
        depth = most_sorted(shape.in_planes, shape.wide, shape.max_size - shape.n_in)
        n_groups = -(-shape.n_planes // 8)
        n_words, n_integers, n_floats = kernels.room(
            n_groups, packed.n_words, len(packed.n_rows), int(packed.n_rows.sum()), depth
        )
        # Vectors, too.
        n_found = MOST_FOUND * (1 if self.limits is None and self.accepts is None else 2)
        n_words += 8 * n_groups * packed.n_words + n_found * (shape.max_size + 1)
        return int(8 * n_words + 4 * (n_integers + n_floats))

    def predicted_seconds(
        self, box: NDArray[Any], *, is_part: bool = False, used: Sequence[int] = ()
    ) -> float:
        """Predict how long it takes to complete a box.

        Parameters
        ----------
        box : ndarray of shape (2, d + 1)
        is_part : bool, default False
            It is one of a node within the search. Supports of those are what looks promising: many
            of them are not excluded by h, as many as of the nodes before. Of a root it would be
            too many.
        used : sequence of int
            Features that all supports have, beside those of which the box excludes zero.

        Returns
        -------
        float
            Infinite where tables cannot, or need too much memory.
        """
        shape = self._shape(box, used)
        if shape is None or shape.most_planes > MOST_PLANES:
            return math.inf
        found = self._pack()
        if found is None or self._n_bytes(shape, found[0]) > self.memory.limit:
            return math.inf
        seconds = costs.COMPLETION_SECONDS + costs.supports(
            shape.n_free, shape.n_in, shape.max_size, found[0].n_words, len(found[0].n_rows),
            shape.wide, shape.in_planes - shape.n_in,
        )  # fmt: skip
        terms = self.counts.terms_per_support
        if is_part and terms:
            n_supports = count_supports(shape.n_free, shape.max_size - shape.n_in)
            seconds += n_supports * terms * costs.TERM_SECONDS
        return self.cost * seconds

    def sampled_seconds(
        self,
        boxes: list[tuple[NDArray[Any], float, float]],
        seconds: float,
        cutoff: float,
        stop: NDArray[np.int64],
    ) -> float:
        """Predict the time for supports that h does not exclude, by a few supports of boxes.

        Parameters
        ----------
        boxes : list of tuple
            Box, of shape (2, d + 1), and what one point of it may be worth: at least, at most.
        seconds : float
            Predicted time of what all supports of them need. Little of it is used.
        cutoff : float
            Objectives from here on are not looked for.
        stop : int64 array of shape (1,)
            Not zero: end as soon as possible.

        Returns
        -------
        float
            Beside ``seconds``. Infinite where tables cannot, or after a stop.
        """
        shapes = [self._shape(box) for box, _, _ in boxes]
        found = self._pack() if boxes else None
        if found is None or None in shapes:
            return math.inf if boxes else 0.0
        n_supports = [
            count_supports(shape.n_free, shape.max_size - shape.n_in)
            for shape in shapes
            if shape is not None
        ]
        each = costs.COMPLETION_SECONDS + costs.supports(
            0, self.max_size, self.max_size, found[0].n_words, len(found[0].n_rows)
        )
        n = min(max(int(SAMPLED_SHARE * seconds / each), FEWEST_SAMPLED), MOST_SAMPLED)
        ends = np.cumsum(np.array(n_supports, np.float64))
        chosen = np.searchsorted(ends, (np.arange(n) + 0.5) / n * ends[-1])
        rng, drawn = np.random.default_rng(0), list[tuple[Completion, Task]]()
        for i, n_here in zip(*np.unique(chosen, return_counts=True), strict=True):
            box, t_low, t_high = boxes[i]
            completion = self.completion(box.astype(np.float64), t_low, t_high)
            if completion is None:
                return math.inf
            drawn += [(completion, completion.drawn(rng)) for _ in range(n_here)]
        terms = np.zeros(n)

        def look_at(k: int) -> None:
            completion, task = drawn[k]
            scanned = completion.scan(task, cutoff, stop)
            terms[k] = math.inf if scanned is None else scanned.counted[4]

        in_threads(look_at, n, self._problem.loss.n_threads)
        return self.cost * costs.TERM_SECONDS * float(ends[-1]) * float(terms.sum()) / n

    def completion(
        self, box: NDArray[np.float64], t_low: float, t_high: float, used: Sequence[int] = ()
    ) -> Completion | None:
        """All supports of a node.

        Parameters
        ----------
        box : ndarray of shape (2, d + 1)
            In points, intercept first.
        t_low, t_high : float
            What one point may be worth.
        used : sequence of int
            As :meth:`predicted_seconds` has it.

        Returns
        -------
        Completion or None
            None: tables cannot, or need too much memory.
        """
        shape = self._shape(box, used)
        if shape is None or shape.most_planes > MOST_PLANES:
            return None
        items_packed = self._pack()
        if items_packed is None:
            return None
        packed, apart = items_packed
        n_bytes = self._n_bytes(shape, packed)
        if n_bytes > self.memory.limit:
            return None
        low, high = box[:, 1 + packed.features]
        is_in = (low > 0) | (high < 0) | np.isin(packed.features, np.array(used, np.int64))
        is_free = ~is_in & (low < high)
        is_wide = packed.n_planes > 1
        parts = (is_in, is_free & is_wide, is_free & ~is_wide)
        items = np.concatenate([np.flatnonzero(part) for part in parts])
        if not items.size or is_in.sum() > self.max_size:
            return None
        chosen = packed.taken(items)
        columns = np.concatenate(([0], 1 + chosen.features))
        ends = np.stack((box[:, columns] * t_low, box[:, columns] * t_high))
        # The box in log-odds holds t times every point of it, for every t; rounded outwards.
        least, most = ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)
        least, most = least - 1e-15 * np.abs(least), most + 1e-15 * np.abs(most)
        price = fee = np.ascontiguousarray(self.price[chosen.features])
        ridge = np.ascontiguousarray(self.ridge[chosen.features])
        if ridge.any():
            smallest = np.maximum(np.maximum(least[1:], -most[1:]), t_low)
            price = fee + ridge * smallest**2 * (1.0 - 1e-14)
        else:
            ridge = np.empty(0)
        return Completion(
            chosen, int(is_in.sum()), least, most, t_low, t_high, price, fee, ridge,
            np.ascontiguousarray(apart[np.ix_(chosen.features, chosen.features)]),
            self.min_size, min(self.max_size, len(items)), self.cost, self.memory, n_bytes,
            len(self.price), self.limits, accepts=self.accepts,
        )  # fmt: skip


def most_sorted(n_planes: int, wide: list[int], more: int) -> int:
    """Most planes that rows are sorted by.

    The last two items of a support are counted together where they have two values; rows are
    sorted by all others.

    Parameters
    ----------
    n_planes : int
        Planes of the items that are in.
    wide : list of int
        Planes of the free items that have more than one.
    more : int
        Items that may be added.

    Returns
    -------
    int
    """
    chosen = sorted(wide, reverse=True)[: max(more, 0)]
    return n_planes + sum(chosen) + max(more - len(chosen) - 2, 0)


def count_limits(problem: RiskScoreProblem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Linear constraints on used features alone that only more features break.

    Parameters
    ----------
    problem : RiskScoreProblem

    Returns
    -------
    used : float64 array of shape (L, d)
        None is negative.
    upper : float64 array of shape (L,)
    """
    rows = problem.constraint_rows
    if rows is None:
        return np.zeros((0, problem.n_features)), np.zeros(0)
    alone = (rows.points == 0).all(axis=1) & (rows.any_used == 0).all(axis=1)
    chosen = alone & (rows.used >= 0).all(axis=1) & np.isfinite(rows.upper)
    return rows.used[chosen], rows.upper[chosen]


def _apart(problem: RiskScoreProblem) -> NDArray[np.uint8]:
    """Find pairs of features that no feasible score has, as far as propagation tells."""
    d = problem.n_features
    apart = np.zeros((d, d), np.uint8)
    rows = problem.constraint_rows
    if rows is None:
        return apart
    used, most = count_limits(problem)
    two = np.sort(used, axis=1)[:, -2:].sum(axis=1)
    if len(used) == len(rows.upper) and (two <= most).all() and not rows.allowed_points:
        return apart  # such as at most two of many: to ask each of thousands of items takes long
    named = rows.columns[rows.columns > 0] - 1
    for j in named[problem.usable[named]].tolist():
        excluded = np.ones(d, np.bool_)
        for low, high in ((1, problem.upper[1 + j]), (problem.lower[1 + j], -1)):
            lower, upper = problem.lower.copy(), problem.upper.copy()
            lower[1 + j], upper[1 + j] = max(low, lower[1 + j]), min(high, upper[1 + j])
            if lower[1 + j] <= upper[1 + j] and rows.propagate(lower, upper):
                excluded &= (lower[1:] == 0) & (upper[1:] == 0)
        excluded[j] = False
        apart[j] |= excluded
        apart[:, j] |= excluded
    return apart
