r"""Tables of supports: nodes of which every set of items is looked at, where that is cheap.

Let S be a set of 0/1 items (a support). Rows that S does not tell apart are one of at most
:math:`2^{|S|}` cells. With the weights :math:`P_c, N_c` of the classes in cell c, of which all add
up to one,

.. math::

    h(S) = \sum_c P_c \log\Bigl(1 + \frac{N_c}{P_c}\Bigr) + N_c \log\Bigl(1 + \frac{P_c}{N_c}\Bigr)

is at most the loss of every score that uses items of S only, whatever its points, intercept and
scale: a score is constant in a cell, and the summand is the least that any constant gives there. A
support with h(S) + prices at or above the cutoff holds nothing that is looked for. The others are
bounded by the convex loss over real points within the node's box, from the same cells, and by
branching on these points. What is left becomes nodes whose other features are out, and goes through
the search as any node: integers, scales, constraints and lists of scores are its business.

The kernel is :mod:`riskslim._kernels.tables`; rows are those of
:mod:`~riskslim.engines.branch_and_bound.packed`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import tables as kernels
from riskslim.engines.branch_and_bound.packed import TableItems, binary_features

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = [
    "TASK_SECONDS", "Completion", "Scanned", "SupportTables", "TableCounts", "Task",
    "count_limits", "relaxation_seconds",
]  # fmt: skip

# Items of a support. Beyond it cells are too many to be bounded one support at a time.
MOST_ITEMS = 10
# Supports that one task may leave. A cutoff that excludes hardly anything would fill the memory.
MOST_FOUND = 50_000
# Words of workspace that one scan may need.
MOST_WORDS = 2**26
# Predicted seconds of one task: long enough to be worth a call, short enough to share out.
TASK_SECONDS = 0.05

# Nanoseconds, fitted by benchmarks/support_tables.py: of each support, of each of its cells, of
# each word that is counted (by level of instructions), of each word that is sorted by another item.
SUPPORT_NS = 30.0
CELL_NS = 1.6
WORD_NS = (2.0, 0.65, 0.5, 0.2)
SORTED_NS = 5.0
# Seconds of completing a node whatever it has.
COMPLETION_SECONDS = 4e-4
# Seconds of a support that h does not exclude, which is bounded by the convex loss and branching on
# its points: how many there are shows only when some have been looked at.
SATURATED_SECONDS = 7e-6
# Seconds of a node's relaxations, the same way: with the root of the number of values in the rows,
# since rows are merged in subtrees and a sample of them gives second derivatives; and beside.
RELAXED_SECONDS = (2e-4, 4.5e-6)


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
    """What a task left.

    Attributes
    ----------
    supports : list of int64 arrays
        Features of each support.
    bounds : float64 array
        Lower bound of the objectives of its scores.
    counted : int64 array of shape (4,)
        Supports looked at, past the first test, past h, and left.
    """

    supports: list[NDArray[np.int64]]
    bounds: NDArray[np.float64]
    counted: NDArray[np.int64]


@dataclasses.dataclass
class TableCounts:
    """What tables did.

    Parameters
    ----------
    nodes : int
        Nodes that they completed.
    supports, tested, saturated, left : int
        Supports that they looked at, that were left by the first test, by h, and in the end.
    """

    nodes: int = 0
    supports: int = 0
    tested: int = 0
    saturated: int = 0
    left: int = 0

    def add(self, scanned: Scanned) -> None:
        """Count what a scan looked at.

        Parameters
        ----------
        scanned : Scanned
        """
        looked_at, tested, saturated, left = scanned.counted.tolist()
        self.supports += looked_at
        self.tested += tested
        self.saturated += saturated
        self.left += left

    @property
    def saturated_share(self) -> float:
        """Share of the supports that h did not exclude, 0 before any was looked at."""
        return self.saturated / max(self.supports, 1)

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
    packed : TableItems
        Items that are in, then those that are free, most promising first.
    n_in : int
    low, high : float64 arrays of shape (m + 1,)
        Ends of the coefficients in log-odds, intercept first.
    t_low, t_high : float
        What one point may be worth.
    price : float64 array of shape (m,)
    apart : uint8 array of shape (m, m)
        Items of which no feasible score has both.
    min_size, max_size : int
        Of whole supports.
    cost : float
        Factor of predicted times.
    """

    packed: TableItems
    n_in: int
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    t_low: float
    t_high: float
    price: NDArray[np.float64]
    apart: NDArray[np.uint8]
    min_size: int
    max_size: int
    cost: float = 1.0

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
        return self._seconds(self.n_in, self.n_in, self.max_size)

    def _seconds(self, size: int, first: int, max_size: int) -> float:
        return self.cost * predicted_seconds(
            self.n_items - first, size, max_size, self.packed.n_words, len(self.packed.bits)
        )

    def whole(self) -> Task:
        """All supports as one task."""
        return Task(tuple(range(self.n_in)), self.n_in, self.max_size, self.seconds)

    def tasks(self) -> Iterator[Task]:
        """Divide the supports into tasks of similar length, the most promising ones first."""
        yield from self._divided(tuple(range(self.n_in)), self.n_in)

    def _divided(self, prefix: tuple[int, ...], first: int) -> Iterator[Task]:
        seconds = self._seconds(len(prefix), first, self.max_size)
        if seconds <= TASK_SECONDS or len(prefix) + 2 >= self.max_size:
            yield Task(prefix, first, self.max_size, seconds)
            return
        yield Task(prefix, first, len(prefix), 0.0)
        for item in range(first, self.n_items):
            if not self.apart[list(prefix), item].any():
                yield from self._divided((*prefix, item), item + 1)

    def scan(self, task: Task, cutoff: float, stop: NDArray[np.int64]) -> Scanned | None:
        """Look at the supports of a task.

        Parameters
        ----------
        task : Task
        cutoff : float
            Objectives from here on are not looked for.
        stop : int64 array of shape (1,)
            Not zero: end as soon as possible.

        Returns
        -------
        Scanned or None
            None: it was stopped, or leaves too many supports.
        """
        packed = self.packed
        n_words, n_integers, n_floats = kernels.room(
            packed.words.shape[0], packed.n_words, len(packed.bits), int(packed.bits.sum()),
            task.max_size, len(task.prefix),
        )  # fmt: skip
        found = np.empty((MOST_FOUND, max(task.max_size, 1)), np.int64)
        bounds, counted = np.empty(MOST_FOUND), np.zeros(4, np.int64)
        n_found = kernels.scan(
            packed.words, packed.bits, packed.labels, packed.shifts, packed.unit, packed.value,
            self.low, self.high, self.t_low, self.t_high, self.price, self.apart,
            np.array(task.prefix, np.int64), task.first, self.min_size, task.max_size, cutoff,
            kernels.best_level(), stop, found, bounds, counted, np.empty(n_words, np.uint64),
            np.empty(n_integers, np.int32), np.empty(n_floats, np.float32),
        )  # fmt: skip
        if n_found < 0:
            return None
        items = found[:n_found, : task.max_size]
        supports = [packed.features[row[row >= 0]] for row in items]
        return Scanned(supports, bounds[:n_found].copy(), counted)


class SupportTables:
    """What tables need of a problem, and which of its nodes they can complete.

    Parameters
    ----------
    problem : RiskScoreProblem
    cost : float
        Factor of predicted times.
    counts : TableCounts, optional
        What tables have done so far. They are to change between batches of nodes only, so that
        predictions do not depend on threads.
    should_stop : callable, optional
        Asked while items are packed; after True tables can complete nothing that is not packed.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        *,
        cost: float = 1.0,
        counts: TableCounts | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.cost = cost
        self.min_size, self.max_size = problem.min_size, problem.max_size
        self.price = problem.l0_penalty
        self.counts = counts or TableCounts()
        self._problem = problem
        self._should_stop = should_stop
        self._packed: tuple[TableItems, NDArray[np.uint8]] | None = None

    @functools.cached_property
    def is_item(self) -> NDArray[np.bool_]:
        """Features with two values, that may have points, shape (d,)."""
        return binary_features(self._problem.loss, self._should_stop) & self._problem.usable

    @property
    def n_items(self) -> int:
        """Number of features that are items."""
        return int(self.is_item.sum())

    def _pack(self) -> tuple[TableItems, NDArray[np.uint8]] | None:
        """The items, most promising first, and which of all features are apart; None after a stop.

        Made when they are first needed, which can be by several threads at once: they see both or
        neither.
        """
        if self._packed is None:
            features = np.flatnonzero(self.is_item)
            packed = TableItems.of(self._problem.loss, features, self._should_stop)
            if packed is None:
                return None
            order = np.argsort(saturated_losses(packed), kind="stable")
            self._packed = packed.taken(order), _apart(self._problem)
        return self._packed

    def can_complete(self, box: NDArray[Any]) -> bool:
        """Whether tables can look at all supports of a box.

        Parameters
        ----------
        box : ndarray of shape (2, d + 1)
            In points, intercept first.

        Returns
        -------
        bool
        """
        live = (box[:, 1:] != 0).any(axis=0)
        return bool((self.is_item | ~live).all()) and self._largest(box, live) <= MOST_ITEMS

    def _largest(self, box: NDArray[Any], live: NDArray[np.bool_]) -> int:
        return min(self.max_size, int(live.sum()))

    def predicted_seconds(self, box: NDArray[Any]) -> float:
        """Predict how long it takes to complete a box.

        Parameters
        ----------
        box : ndarray of shape (2, d + 1)

        Returns
        -------
        float
            Infinite where tables cannot.
        """
        if not self.can_complete(box):
            return math.inf
        found = self._pack()
        if found is None:
            return math.inf
        packed, _ = found
        live = (box[:, 1:] != 0).any(axis=0)
        n_in = int(((box[0, 1:] > 0) | (box[1, 1:] < 0)).sum())
        n_free, largest = int(live.sum()) - n_in, self._largest(box, live)
        return self.cost * COMPLETION_SECONDS + self.cost * predicted_seconds(
            n_free, n_in, largest, packed.n_words, len(packed.bits)
        )

    def predicted_seconds_of_part(self, box: NDArray[Any]) -> float:
        """Predict the same of a node within the search.

        Supports of nodes are those that look promising: many of them are not excluded by h, as many
        as of the nodes before. Of a root it would be too many.

        Parameters
        ----------
        box : ndarray of shape (2, d + 1)

        Returns
        -------
        float
        """
        seconds = self.predicted_seconds(box)
        share = self.counts.saturated_share
        if not math.isfinite(seconds) or not share:
            return seconds
        live = (box[:, 1:] != 0).any(axis=0)
        n_in = int(((box[0, 1:] > 0) | (box[1, 1:] < 0)).sum())
        n_supports = count_supports(int(live.sum()) - n_in, self._largest(box, live) - n_in)
        return seconds + self.cost * share * n_supports * SATURATED_SECONDS

    def completion(
        self, box: NDArray[np.float64], t_low: float, t_high: float
    ) -> Completion | None:
        """All supports of a node.

        Parameters
        ----------
        box : ndarray of shape (2, d + 1)
            In points, intercept first.
        t_low, t_high : float
            What one point may be worth.

        Returns
        -------
        Completion or None
            None: tables cannot, or need too much memory.
        """
        if not self.can_complete(box):
            return None
        items_packed = self._pack()
        if items_packed is None:
            return None
        packed, apart = items_packed
        low, high = box[:, 1 + packed.features]
        is_in, is_free = (low > 0) | (high < 0), (low <= 0) & (high >= 0) & (low < high)
        items = np.concatenate((np.flatnonzero(is_in), np.flatnonzero(is_free)))
        if not items.size or is_in.sum() > self.max_size:
            return None
        chosen = packed.taken(items)
        columns = np.concatenate(([0], 1 + chosen.features))
        ends = np.stack((box[:, columns] * t_low, box[:, columns] * t_high))
        # The box in log-odds holds t times every point of it, for every t; rounded outwards.
        least, most = ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)
        found = Completion(
            chosen, int(is_in.sum()),
            least - 1e-15 * np.abs(least), most + 1e-15 * np.abs(most), t_low, t_high,
            np.ascontiguousarray(self.price[chosen.features]),
            np.ascontiguousarray(apart[np.ix_(chosen.features, chosen.features)]),
            self.min_size, min(self.max_size, len(items)), self.cost,
        )  # fmt: skip
        n_words, _, _ = kernels.room(
            chosen.words.shape[0], chosen.n_words, len(chosen.bits), int(chosen.bits.sum()),
            found.max_size, 0,
        )  # fmt: skip
        return found if n_words <= MOST_WORDS else None


def count_supports(n_free: int, more: int) -> int:
    """Number of sets of up to ``more`` of ``n_free`` items.

    Parameters
    ----------
    n_free, more : int

    Returns
    -------
    int

    Examples
    --------
    >>> from riskslim.engines.branch_and_bound.tables import count_supports
    >>> count_supports(4, 2)
    11
    """
    return sum(math.comb(n_free, k) for k in range(max(min(more, n_free), 0) + 1))


def predicted_seconds(
    n_free: int, n_in: int, max_size: int, n_words: int, n_segments: int
) -> float:
    """Predict the time of a scan from sizes alone.

    Parameters
    ----------
    n_free : int
        Items that may be added to those that are in.
    n_in : int
        Items that are in.
    max_size : int
        Most items of a support.
    n_words : int
        Words of the rows.
    n_segments : int

    Returns
    -------
    float
    """
    more = max(min(max_size - n_in, n_free), 0)
    supports = count_supports(n_free, more)
    prefix = max(max_size - 2, n_in)
    cells = 2.0 ** min(prefix, 30)
    # Segments begin new words: half a word is lost for each that has rows.
    n_counted = n_words + 0.5 * min(cells * n_segments, 64.0 * n_words)
    word = WORD_NS[kernels.best_level()]
    each = SUPPORT_NS + CELL_NS * 2.0 ** min(max_size, 30) + word * n_counted
    prefixes = count_supports(n_free, more - 2) if more > 2 else 1
    return 1e-9 * (supports * each + prefixes * SORTED_NS * n_counted * math.ceil(n_free / 8))


def relaxation_seconds(n_rows: int, n_live: int) -> float:
    """Predict the time of a node of the search by relaxations.

    Parameters
    ----------
    n_rows : int
        Distinct rows.
    n_live : int
        Features that are not out.

    Returns
    -------
    float
    """
    beside, root = RELAXED_SECONDS
    return beside + root * math.sqrt(n_rows * (n_live + 1))


def saturated_losses(packed: TableItems) -> NDArray[np.float64]:
    """Compute h of each item alone.

    Parameters
    ----------
    packed : TableItems

    Returns
    -------
    float64 array
    """
    weight = np.zeros((2, len(packed.features)))
    total = np.zeros(2)
    word = 0
    for n_bits, label, shift in zip(packed.bits, packed.labels, packed.shifts, strict=True):
        end = word + -(-int(n_bits) // 64)
        ones = np.bitwise_count(packed.words[:, word:end]).sum(axis=1, dtype=np.int64).ravel()
        worth = packed.unit[label] * 2.0 ** int(shift)
        weight[label] += worth * ones[: len(packed.features)]
        total[label] += worth * int(n_bits)
        word = end
    return _entropy(*weight) + _entropy(*(total[:, None] - weight))


def _entropy(negative: NDArray[np.float64], positive: NDArray[np.float64]) -> NDArray[np.float64]:
    p, n = np.maximum(positive, 1e-300), np.maximum(negative, 1e-300)
    both: NDArray[np.float64] = p * np.log1p(n / p) + n * np.log1p(p / n)
    return both


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
    """Which features no feasible score has both, as far as propagation of constraints tells."""
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
