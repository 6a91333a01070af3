r"""Columns of few values as bits, 64 rows to a word.

How many rows of either label have a pattern of k items can be counted by bits: a population count
of words that the items' columns have in common. Whatever a risk score on these items is worth
follows from these :math:`2^k` *cells* (:mod:`riskslim._kernels.supports`).

Rows are ordered by label, and by weight where they have one, so that no count has to look at
labels or weights: a *segment* of rows has one of either.
"""

from __future__ import annotations

import dataclasses
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import are_complete
from riskslim._kernels import supports as kernels
from riskslim.data.store import KernelRows, RowStore

__all__ = [
    "BYTE_VALUES",
    "LINE",
    "MAX_VALUES",
    "READS",
    "Cells",
    "PackedItems",
    "ReadColumns",
    "WeightClasses",
    "count_cells",
    "distinct_values",
    "first_words",
    "ordered",
    "read_columns",
    "scratch_words",
]

# Values of an item beyond which its column stays unpacked: seven planes of bits take up nearly as
# much room as the bytes that they are made of.
MAX_VALUES = 8

# Of an int8, by the byte that it is stored as.
BYTE_VALUES = np.arange(256).astype(np.uint8).view(np.int8).astype(np.float64)

# Weights of a label that are told apart. More are put together, with their mean: what they are
# for, a search, looks at all rows again before it believes anything.
MAX_WEIGHTS = 48

# Bytes whose values are counted at a time: NumPy makes eight bytes of each.
_COUNTED_ROWS = 65536

# Reads of a column until it is packed.
READS = 16

# Rows from which reading bits instead of bytes shows beside what a call costs.
_FEWEST_ROWS = 4096

# Segments begin at whole lines of cache: 8 words.
LINE = 8

# Supports whose cells are remembered.
_REMEMBERED = 4096

# Fewer words are counted by one thread before others have woken up.
_WORDS_OF_A_THREAD = 2048


class Cells(NamedTuple):
    """Cells of a support that have rows.

    Attributes
    ----------
    number : ndarray of int64, shape (m,)
        Bit a says whether the rows are in the support's plane a.
    x : ndarray of int64, shape (k + 1, m)
        Values of the k items in each cell, after a row of ones for the intercept.
    weights : ndarray of float64, shape (2, m)
        Share of the total weight that the rows of the negative and the positive class have.
    """

    number: NDArray[np.int64]
    x: NDArray[np.int64]
    weights: NDArray[np.float64]


class WeightClasses(NamedTuple):
    """Weights that are taken for one: equal ones and, where they are many, those of one size.

    Attributes
    ----------
    distinct : ndarray of float64, shape (m,)
        All weights, increasing; the least and the largest one where they are too many.
    are_few : bool
        Whether each is a class of its own.
    """

    distinct: NDArray[np.float64]
    are_few: bool

    @classmethod
    def of(cls, distinct: NDArray[np.float64]) -> WeightClasses:
        """Divide weights into classes.

        Parameters
        ----------
        distinct : ndarray of float64, shape (m,)
            Increasing; the least and the largest one at least, if there are too many to be told
            apart.

        Returns
        -------
        WeightClasses
        """
        few = len(distinct) <= MAX_WEIGHTS
        return cls(distinct if few else distinct[[0, -1]], few)

    @property
    def n_classes(self) -> int:
        """Number of classes; there need not be rows in each."""
        return len(self.distinct) if self.are_few else MAX_WEIGHTS

    def numbers(self, weights: NDArray[np.float64]) -> NDArray[np.intp]:
        """Number weights by their class.

        Parameters
        ----------
        weights : ndarray of float64, shape (n,)

        Returns
        -------
        ndarray of intp, shape (n,)
        """
        if self.are_few:
            few: NDArray[np.intp] = np.searchsorted(self.distinct, weights).astype(np.intp)
            return few
        floor = self.distinct[-1] * 1e-6
        low, high = np.log(np.maximum(self.distinct, floor))
        share = (np.log(np.maximum(weights, floor)) - low) / (high - low)
        sized: NDArray[np.intp] = np.minimum((share * MAX_WEIGHTS).astype(np.intp), MAX_WEIGHTS - 1)
        return sized


class _KnownCells:
    """Cells of the supports that were asked for last, for any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cells: OrderedDict[tuple[int, ...], Cells] = OrderedDict()

    def __reduce__(self) -> tuple[type[_KnownCells], tuple[()]]:
        return _KnownCells, ()  # a copy counts anew

    def __contains__(self, items: tuple[int, ...]) -> bool:
        return items in self._cells

    def get(self, items: tuple[int, ...]) -> Cells | None:
        with self._lock:
            found = self._cells.get(items)
            if found is not None:
                self._cells.move_to_end(items)
            return found

    def put(self, items: tuple[int, ...], cells: Cells) -> None:
        with self._lock:
            self._cells[items] = cells
            if len(self._cells) > _REMEMBERED:
                self._cells.popitem(last=False)


@dataclasses.dataclass(frozen=True, eq=False)
class PackedItems:
    """Items of few values, packed.

    Attributes
    ----------
    features : ndarray of int64, shape (number of items,)
        Position of each item among the features, from 0.
    first : ndarray of int64, shape (number of items + 1,)
        Item i has the planes first[i] .. first[i + 1] - 1.
    values : ndarray of int64, shape (number of planes,)
        Value of the item in the rows of a plane.
    base : ndarray of int64, shape (number of items,)
        Value of the item in all other rows.
    planes : ndarray of uint64, shape (number of planes, number of words)
        n / 8 bytes per plane.
    valid : ndarray of uint64, shape (number of words,)
        The bits that are rows.
    first_word : ndarray of int64, shape (number of segments + 1,)
    n_rows, side : ndarray of int64, shape (number of segments,)
        Rows of each segment; 0 for the negative class, 1 for the positive one.
    weight : ndarray of float64, shape (number of segments,)
        Weight of each row, divided by the total weight.
    """

    features: NDArray[np.int64]
    first: NDArray[np.int64]
    values: NDArray[np.int64]
    base: NDArray[np.int64]
    planes: NDArray[np.uint64]
    valid: NDArray[np.uint64]
    first_word: NDArray[np.int64]
    n_rows: NDArray[np.int64]
    side: NDArray[np.int64]
    weight: NDArray[np.float64]
    _known: _KnownCells = dataclasses.field(default_factory=lambda: _KnownCells())

    def __len__(self) -> int:
        return len(self.features)

    def planes_of(self, items: tuple[int, ...]) -> NDArray[np.int64]:
        """Planes of some items, in their order.

        Parameters
        ----------
        items : tuple of int

        Returns
        -------
        ndarray of int64
        """
        parts = [np.arange(self.first[i], self.first[i + 1]) for i in items]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def plane_of(self, feature: int) -> NDArray[np.uint64] | None:
        """Bits of the rows in which a feature of 0 and 1 is 1; None of any other one.

        Parameters
        ----------
        feature : int
            Position among the features, from 0.

        Returns
        -------
        ndarray of uint64, shape (number of words,), or None
        """
        item = int(np.searchsorted(self.features, feature))
        if item == len(self) or self.features[item] != feature or self.base[item] != 0:
            return None
        plane, end = self.first[item : item + 2].tolist()
        is_bit = end == plane + 1 and self.values[plane] == 1
        return self.planes[plane] if is_bit else None

    def is_known(self, items: tuple[int, ...]) -> bool:
        """True if the cells of a support need not be counted any more.

        Parameters
        ----------
        items : tuple of int

        Returns
        -------
        bool
        """
        return items in self._known

    def masks(
        self,
        items: tuple[int, ...],
        cells: Cells,
        group: NDArray[np.intp],
        n_threads: int = 1,
    ) -> NDArray[np.uint64]:
        """Bits of the rows of each group of a support's cells.

        Parameters
        ----------
        items : tuple of int
        cells : Cells
            Those of the items.
        group : ndarray of intp, shape (m,)
            Number of the group of each cell, from 0 on.
        n_threads : int, default 1

        Returns
        -------
        ndarray of uint64, shape (number of groups, number of words)
        """
        chosen = self.planes_of(items)
        groups = np.full(2 ** len(chosen), -1, np.int32)
        groups[cells.number] = group
        masks = np.empty((int(group.max()) + 1, self.planes.shape[1]), np.uint64)
        scratch = scratch_words(_useful_threads(self.planes.shape[1], n_threads))
        kernels.fill_masks(self.planes, chosen, self.valid, groups, scratch, masks)
        return masks

    def cells(self, items: tuple[int, ...], n_threads: int = 1) -> Cells:
        """Count the cells of a support.

        Parameters
        ----------
        items : tuple of int
            With at most :func:`~riskslim._kernels.supports.most_planes` planes.
        n_threads : int, default 1

        Returns
        -------
        Cells
        """
        known = self._known.get(items)
        if known is not None:
            return known
        chosen = self.planes_of(items)
        if len(chosen) > kernels.most_planes():
            raise ValueError(f"{len(chosen)} planes are more than {kernels.most_planes()}")
        counts = count_cells(self.planes, chosen, self.first_word, self.n_rows, n_threads)
        number = np.flatnonzero(counts.any(axis=0))
        weights = np.zeros((2, len(number)))
        for segment, side in enumerate(self.side.tolist()):
            weights[side] += self.weight[segment] * counts[segment, number]
        x = np.ones((len(items) + 1, len(number)), np.int64)
        at = 0
        for row, item in enumerate(items, start=1):
            x[row] = self.base[item]
            for plane in range(self.first[item], self.first[item + 1]):
                x[row, (number >> at) & 1 == 1] = self.values[plane]
                at += 1
        found = Cells(number, x, weights)
        self._known.put(items, found)
        return found


class ReadColumns:
    """0/1 columns that are read again and again, packed one by one as that happens.

    Parameters
    ----------
    rows : KernelRows
        Without weights.

    Attributes
    ----------
    rows : KernelRows

    Notes
    -----
    To pack a column takes as long as ten to twenty reads of its bytes. It is packed at its
    :data:`READS`-th read, so that all reads together never take more than about twice the time of
    those of the bytes alone. The bits lie beside the bytes and take up an eighth of their room:
    n / 8 bytes for each column that was read so often.
    """

    def __init__(self, rows: KernelRows) -> None:
        self.rows = rows
        d = rows.integer_columns.shape[1]
        self._n_reads = np.zeros(d, np.int64)
        self._packed = np.zeros(d, np.bool_)
        self._refused = np.zeros(d, np.bool_)
        n_rows = np.array([np.count_nonzero(rows.labels == label) for label in (-1, 1)])
        self._n_rows = n_rows.astype(np.int64)
        self._first_word = first_words(self._n_rows)
        # Room that the system hands out as it is written.
        self._planes = np.empty((d, int(self._first_word[-1])), np.uint64)
        self._shared: Callable[[], PackedItems | None] = _nothing

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_shared": _nothing}  # what is only referred to is not copied

    @property
    def shared(self) -> PackedItems | None:
        """Items of the same rows that somebody holds, or None."""
        return self._shared()

    def share(self, packed: PackedItems) -> None:
        """Let readers copy what is packed already, as long as somebody holds it.

        Parameters
        ----------
        packed : PackedItems
            Of the same rows.
        """
        self._shared = weakref.ref(packed)

    def count(
        self,
        slots: NDArray[np.intp],
        points: NDArray[np.int64],
        counts: NDArray[np.int64],
        n_threads: int = 1,
    ) -> bool:
        """Count the rows of each score by cells.

        Parameters
        ----------
        slots : ndarray of intp, shape (k,)
            Columns with points.
        points : ndarray of int64, shape (k + 1,)
            Of the first entry of ``counts``, which is subtracted, and of each column.
        counts : int64 array of shape (2, width)
            Rows of each label and score, added to.
        n_threads : int, default 1

        Returns
        -------
        bool
            False if a column is not packed, for now or at all; nothing was counted.
        """
        if not self._packed[slots].all() and not self._read(slots):
            return False
        cells = count_cells(self._planes, slots, self._first_word, self._n_rows, n_threads)
        scores = np.array([points[0]], np.int64)
        for point in points[1:]:
            scores = np.concatenate((scores, scores + point))
        for label in (0, 1):
            np.add.at(counts[label], scores, cells[label])
        return True

    def _read(self, slots: NDArray[np.intp]) -> bool:
        """Count a read of some columns, and pack those that are read often.

        Threads that meet here write the same bits, and use them once all are written.
        """
        self._n_reads[slots] += 1
        due = (self._n_reads[slots] >= READS) & ~self._packed[slots]
        if self._refused[slots].any() or not due.any():
            return False
        order: NDArray[np.int64] | None = None
        shared = self.shared
        for slot in slots[due].tolist():
            known = None if shared is None else shared.plane_of(self.rows.integer_index[slot])
            if known is not None:
                self._planes[slot] = known
                self._packed[slot] = True
                continue
            column = self.rows.integer_columns[:, slot]
            if column.min() < 0 or column.max() > 1:
                self._refused[slot] = True
                return False
            if order is None:
                order = ordered([np.flatnonzero(self.rows.labels == y) for y in (-1, 1)])
            kernels.pack_plane(column, 1, order, self._planes[slot])
            self._packed[slot] = True
        return bool(self._packed[slots].all())


def _nothing() -> None:
    return None


def read_columns(rows: RowStore) -> ReadColumns | None:
    """Columns that may be packed as they are read.

    Parameters
    ----------
    rows : RowStore

    Returns
    -------
    ReadColumns or None
        None for few rows, rows with weights or elsewhere, and where kernels that count cells are
        missing: the bytes are read then, with the same results.
    """
    plain = rows.is_block and rows.weighting == "none"
    if not plain or rows.n_rows < _FEWEST_ROWS or not are_complete():
        return None
    return ReadColumns(rows.block_for("bits of columns"))


def scratch_words(n_threads: int) -> NDArray[np.uint64]:
    """Return scratch that kernels on cells need.

    Parameters
    ----------
    n_threads : int
    """
    return np.empty((n_threads, kernels.most_planes() * 512), np.uint64)


def _useful_threads(n_words: int, n_threads: int) -> int:
    return max(min(n_threads, n_words // _WORDS_OF_A_THREAD), 1)


def count_cells(
    planes: NDArray[np.uint64],
    chosen: NDArray[np.int64],
    first_word: NDArray[np.int64],
    n_rows: NDArray[np.int64],
    n_threads: int,
) -> NDArray[np.int64]:
    """Count the rows of each segment in each cell of some planes.

    Parameters
    ----------
    planes : ndarray of uint64, shape (number of planes, number of words)
    chosen : ndarray of int64, shape (k,)
    first_word : ndarray of int64, shape (number of segments + 1,)
    n_rows : ndarray of int64, shape (number of segments,)
    n_threads : int

    Returns
    -------
    ndarray of int64, shape (number of segments, 2^k)
    """
    n_threads = _useful_threads(planes.shape[1], n_threads)
    counts = np.empty((n_threads, len(n_rows), 2 ** len(chosen)), np.int64)
    shares = np.empty(len(first_word), np.int64)
    kernels.count_cells(
        planes, chosen, first_word, n_rows, shares, scratch_words(n_threads), counts
    )
    rows: NDArray[np.int64] = counts[0]
    return rows


def distinct_values(column: NDArray[np.generic]) -> NDArray[np.generic] | None:
    """Find the values of a column, unless they are many.

    Parameters
    ----------
    column : array of shape (n,)

    Returns
    -------
    array or None
        In increasing order; None if there are more than :data:`MAX_VALUES`.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.data.packed import distinct_values
    >>> distinct_values(np.array([2, 0, 2, -1]))
    array([-1,  0,  2])
    """
    if column.dtype == np.int8:
        return _distinct_bytes(column.view(np.int8))
    found: list[np.generic] = []
    rest = column
    while rest.size:
        if len(found) == MAX_VALUES:
            return None
        found.append(rest[0])
        rest = rest[rest != rest[0]]
    return np.sort(np.array(found, column.dtype))


def _distinct_bytes(column: NDArray[np.int8]) -> NDArray[np.int8] | None:
    low, high = column.min(), column.max()
    if int(high) - int(low) <= 1:
        return np.arange(low, int(high) + 1, dtype=np.int8)
    is_met = np.zeros(256, np.bool_)
    for start in range(0, len(column), _COUNTED_ROWS):
        rows = column[start : start + _COUNTED_ROWS]
        is_met |= np.bincount(rows.view(np.uint8), minlength=256) > 0
        if np.count_nonzero(is_met) > MAX_VALUES:
            return None
    return np.sort(np.flatnonzero(is_met).astype(np.uint8).view(np.int8))


def ordered(rows: Sequence[NDArray[np.intp]], line: int = LINE) -> NDArray[np.int64]:
    """Put the rows of segments one after the other, as kernels that pack them need it.

    Parameters
    ----------
    rows : sequence of ndarray of intp
        Of each segment.
    line : int, default LINE
        Every segment begins with a word whose number is a multiple of it.

    Returns
    -------
    ndarray of int64
        64 per word, -1 where there is none.
    """
    first_word = first_words([len(part) for part in rows], line)
    order = np.full(64 * int(first_word[-1]), -1, np.int64)
    for part, begin in zip(rows, first_word.tolist(), strict=False):
        order[64 * begin : 64 * begin + len(part)] = part
    return order


def first_words(n_rows: Sequence[int] | NDArray[np.int64], line: int = LINE) -> NDArray[np.int64]:
    """Say where the words of segments begin, and where the last ones end.

    Parameters
    ----------
    n_rows : sequence of int
        Rows of each segment.
    line : int, default LINE
        As in :func:`ordered`.

    Returns
    -------
    ndarray of int64, shape (number of segments + 1,)
    """
    words = -(-np.asarray(n_rows, np.int64) // (64 * line)) * line
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(words)))
