"""Equal rows merged as they come, in a table of a fixed size.

:func:`riskslim.data.distinct.distinct_rows` merges rows that are in memory. A :class:`RowMerger`
takes rows batch by batch and holds the distinct ones alone, as words. Once its room is full, the
rows that have come most rarely make room for others: what merges stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import distinct
from riskslim.data.distinct import split_numbers
from riskslim.data.layout import WordLayout
from riskslim.data.row_tiles import as_row_tiles
from riskslim.data.store import NO_NUMBERS, KernelRows
from riskslim.data.training_data import TrainingData

if TYPE_CHECKING:
    from riskslim.items.item import Item

__all__ = [
    "MergedKeys",
    "RowMerger",
    "merge_keys",
    "merged_data",
    "never_called",
    "room_for",
    "split_counts",
]

# Slots of the first hash table; it is doubled.
_FIRST_SLOTS = 2**16
# Slots of the table for each row at most: it is never more than half full, and doubled.
_SLOTS_PER_ROW = 4

# Rows that are taken from words to columns at a time.
_ROWS_AT_ONCE = 2**18

_NO_ROWS: NDArray[np.int64] = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class MergedKeys:
    """Distinct rows as words.

    Attributes
    ----------
    keys : uint64 array of shape (m, n_words)
        As :class:`~riskslim.data.layout.WordLayout` says.
    counts : int64 array of shape (m,)
        How many rows each of them stands for.
    weights : float64 array of shape (m,)
        Sums of their weights, or the counts where there are none.
    """

    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]

    def copied(self) -> MergedKeys:
        """The same rows in arrays of their own, no larger than they are."""
        return MergedKeys(self.keys.copy(), self.counts.copy(), self.weights.copy())


class RowMerger:
    """A table of distinct rows.

    Parameters
    ----------
    layout : WordLayout
    weighted : bool
        Whether rows have weights.
    n_bytes : int
        Memory that it may take.
    give_up : callable
        Called with :class:`MergedKeys` that there is no more room for. They are not copied: they
        are to be used before it returns.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.data.layout import WordLayout
    >>> from riskslim.data.merging import RowMerger
    >>> from riskslim.data.row_tiles import empty_row_tiles
    >>> layout = WordLayout.of(np.array([True, True]), 0)
    >>> merger = RowMerger(layout, False, 2**20, print)
    >>> columns = np.array([[0, 1], [1, 1], [0, 1]], np.int8, order="F")
    >>> merger.add(columns, empty_row_tiles(3, 0), np.array([1, -1, 1], np.int8))
    >>> merged = merger.finish()
    >>> layout.integers(merged.keys).tolist(), merged.counts.tolist()
    ([[0, 1], [1, 1]], [2, 1])
    """

    def __init__(
        self,
        layout: WordLayout,
        weighted: bool,
        n_bytes: int,
        give_up: Callable[[MergedKeys], None],
    ) -> None:
        self.layout = layout
        self.weighted = weighted
        self._give_up = give_up
        self._block = distinct.block_rows()
        room = max(n_bytes // _bytes_per_row(layout, weighted), 2 * self._block)
        # Memory is taken page by page as the rows fill it.
        self._keys = np.empty((room, layout.n_words), np.uint64)
        self._counts = np.empty(room, np.int64)
        self._sums = np.empty((room, 2 if weighted else 0))
        self._slots = np.zeros(min(_FIRST_SLOTS, self._slots_for(room)), np.uint64)
        self._plane = np.empty((layout.n_words, self._block), np.uint64)
        self._n = 0

    @property
    def n_rows(self) -> int:
        """Distinct rows that it holds."""
        return self._n

    def finish(self) -> MergedKeys:
        """Return the rows that it holds, in the order in which they first came.

        Returns
        -------
        MergedKeys
            Not copied. Only the memory that finds equal rows is given back.
        """
        self._slots = np.empty(0, np.uint64)
        return self._chosen(slice(self._n))

    def add(
        self,
        integer_columns: NDArray[np.int8],
        real_row_tiles: NDArray[np.float64],
        labels: NDArray[np.int8],
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        """Merge rows into the table.

        Parameters
        ----------
        integer_columns : int8 array of shape (m, d_int), Fortran order
        real_row_tiles : float64 array of shape (ceil(m / 16), d_real, 16)
        labels : int8 array of shape (m,)
        weights : float64 array of shape (m,), optional
            Positive; given if the table has weights.
        """
        row, m = 0, len(labels)
        given = np.empty((0, m)) if weights is None else weights.reshape(1, m)
        while True:
            row, self._n = distinct.group_rows(
                integer_columns, real_row_tiles, labels, given, self.layout.places, row, self._n,
                self._plane, self._slots, self._keys, _NO_ROWS, self._counts, self._sums,
            )  # fmt: skip
            if row == len(labels):
                return
            if self._n + self._block > len(self._keys):
                self._make_room()
            else:
                self._enter(2 * len(self._slots))

    def _slots_for(self, n_rows: int) -> int:
        """Slots with which a table of so many rows is at most half full."""
        return 1 << (2 * n_rows - 1).bit_length()

    def _enter(self, n_slots: int) -> None:
        """Make a hash table of the rows, the old one being gone before."""
        self._slots = np.empty(0, np.uint64)
        self._slots = np.zeros(n_slots, np.uint64)
        distinct.fill_slots(self._keys, self._n, self._slots)

    def _make_room(self) -> None:
        """Give up the rarest rows, half of them at least."""
        counts = self._counts[: self._n]
        most = np.partition(counts, self._n // 2)[self._n // 2]
        rare = counts <= most
        self._give_up(self._chosen(np.flatnonzero(rare)))
        kept = np.flatnonzero(~rare)
        self._n = len(kept)
        self._keys[: self._n] = self._keys[kept]
        self._counts[: self._n] = self._counts[kept]
        if self.weighted:
            self._sums[: self._n] = self._sums[kept]
        self._enter(len(self._slots))

    def _chosen(self, rows: slice | NDArray[np.intp]) -> MergedKeys:
        counts = self._counts[rows]
        weights = self._sums[rows].sum(axis=1) if self.weighted else counts.astype(np.float64)
        return MergedKeys(self._keys[rows], counts, weights)


def _bytes_per_row(layout: WordLayout, weighted: bool) -> int:
    return 8 * (layout.n_words + 1 + 2 * weighted + _SLOTS_PER_ROW)


def room_for(layout: WordLayout, weighted: bool, n_rows: int) -> int:
    """Memory with which a table has room for so many distinct rows.

    Parameters
    ----------
    layout : WordLayout
    weighted : bool
        Whether rows have weights.
    n_rows : int

    Returns
    -------
    int
        Bytes.
    """
    return _bytes_per_row(layout, weighted) * (n_rows + 2 * distinct.block_rows())


def merge_keys(parts: Sequence[MergedKeys], layout: WordLayout, weighted: bool) -> MergedKeys:
    """Merge rows that have been merged part by part.

    Parameters
    ----------
    parts : sequence of MergedKeys
        At least one.
    layout : WordLayout
    weighted : bool
        Whether rows have weights other than their counts.

    Returns
    -------
    MergedKeys
        In the order in which they first came.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.data.layout import WordLayout
    >>> from riskslim.data.merging import MergedKeys, merge_keys
    >>> parts = [
    ...     MergedKeys(np.array([[1], [257]], np.uint64), np.array([2, 5]), np.array([2.0, 5.0])),
    ...     MergedKeys(np.array([[257]], np.uint64), np.array([3]), np.array([3.0])),
    ... ]
    >>> merge_keys(parts, WordLayout.of(np.array([True]), 0), False).counts
    array([2, 8])
    """
    # Sums of whole numbers are exact: counts are added up as weights are.
    counts, keys = _added(parts, [part.counts.astype(np.float64) for part in parts], layout)
    weights = counts
    if weighted:
        weights, _ = _added(parts, [part.weights for part in parts], layout)
    return MergedKeys(keys, np.rint(counts).astype(np.int64), weights)


def _added(
    parts: Sequence[MergedKeys], sums: Sequence[NDArray[np.float64]], layout: WordLayout
) -> tuple[NDArray[np.float64], NDArray[np.uint64]]:
    """Sums of something of equal rows, and these rows, in the order in which they first came."""
    n = sum(len(part.keys) for part in parts)
    merger = RowMerger(layout, True, room_for(layout, True, n), never_called)
    for part, own in zip(parts, sums, strict=True):
        for start in range(0, len(part.keys), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            keys = part.keys[rows]
            merger.add(
                layout.integers(keys),
                as_row_tiles(layout.reals(keys)),
                layout.labels(keys),
                own[rows],
            )
    merged = merger.finish()
    return merged.weights, merged.keys.copy()


def never_called(merged: MergedKeys) -> None:
    """Take rows that a table gives up which has room for all.

    Parameters
    ----------
    merged : MergedKeys
    """
    raise AssertionError(f"there was room for all rows, not for {len(merged.keys)} more")


def split_counts(merged: MergedKeys) -> MergedKeys:
    """Repeat rows that stand for more than 65535 others, so that each part counts few enough.

    Parameters
    ----------
    merged : MergedKeys
        Without weights.

    Returns
    -------
    MergedKeys
    """
    first, counts = split_numbers(np.arange(len(merged.counts)), merged.counts)
    if len(first) == len(merged.counts):
        return merged
    return MergedKeys(merged.keys[first], counts, counts.astype(np.float64))


def merged_data(
    part: KernelRows,
    counts: NDArray[np.int64] | None,
    *,
    is_weighted: bool,
    feature_names: Sequence[str],
    outcome_name: str,
    classes: tuple[Any, Any],
    feature_min: NDArray[np.float64],
    feature_max: NDArray[np.float64],
    items: Mapping[str, Item],
    warn: bool = True,
) -> TrainingData:
    """Make training data of rows in memory that are packed, and may be merged, already.

    Parameters
    ----------
    part : KernelRows
        With weights, where rows have some or stand for several.
    counts : int64 array of shape (n_rows,), optional
        How many rows each of them stands for.
    is_weighted : bool
        Whether the weights are others than the counts, which are at most 65535 otherwise.
    feature_names, outcome_name, classes, items
        As in :class:`~riskslim.TrainingData`, all of them known.
    feature_min, feature_max : float64 array of shape (d,)
    warn : bool, default True
        Warn of features with one value.

    Returns
    -------
    TrainingData
        It owns the arrays.
    """
    data = TrainingData.__new__(TrainingData)
    data.feature_names = tuple(feature_names)
    data.outcome_name, data.classes, data.items = outcome_name, classes, dict(items)
    n_samples = part.n_rows if counts is None else int(counts.sum())
    data.counts, data._n_counted = counts, None if counts is None else n_samples
    numbers = NO_NUMBERS if is_weighted or counts is None else counts.astype(np.uint16)
    total_weight = float(part.weights.sum() if len(part.weights) else part.n_rows)
    rows = replace(part, numbers=numbers, total_weight=total_weight, n_samples=n_samples)
    data._hold(rows, feature_min, feature_max)
    if warn:
        data._warn_constant()
    return data
