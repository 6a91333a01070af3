r"""Equal rows as one.

The loss adds up a function of each row; :math:`n_g` equal rows :math:`(x, y)` may as well be read
once and counted :math:`n_g` times:

.. math::

    \sum_{i=1}^{n} w_i \log(1 + e^{-y_i s_i})
    = \sum_{g} \Big(\sum_{i \in g} w_i\Big) \log(1 + e^{-y_g s_g})

Coarse data have few distinct rows, however many rows there are: d binary features have at most
:math:`2^{d+1}`. :func:`distinct_rows` finds them exactly, if it pays.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import distinct
from riskslim.data.layout import WordLayout
from riskslim.data.row_tiles import as_row_tiles, take_row_tiles
from riskslim.data.store import NO_NUMBERS, NO_WEIGHTS, KernelRows
from riskslim.data.threads import in_threads
from riskslim.data.training_data import TrainingData

__all__ = [
    "MAX_SHARE",
    "distinct_rows",
    "may_be_few",
    "merge_features",
    "split_numbers",
]

# Largest share of distinct rows for which they are used (see distinct_rows).
MAX_SHARE = 0.5

# Pairs of equal rows that a sample is expected to have at least if the data have a given share of
# distinct rows, and fewest pairs with which the sample does not speak against it.
_EXPECTED_PAIRS = 100
_FEWEST_PAIRS = 50

# Slots of the first hash table; it grows fourfold.
_FIRST_SLOTS = 2**14

# Rows from which they are grouped in pieces, number of pieces where they have weights, and most of
# them where they have none: the pieces' groups are put together by one thread.
_FEWEST_IN_PIECES = 2**20
_PIECES, _MOST_PIECES = 4, 8

# Rows that are grouped between two looks at whether to stop: about 10 ms of so many columns; where
# there are more columns, fewer rows.
ROWS_AT_ONCE = 2**14
_COLUMNS_AT_ONCE = 512

# Most equal rows that are counted by one row; the kernels need numbers of 16 bits.
_MAX_NUMBER = 2**16 - 1

_Whole = NDArray[np.int64]
_Sums = NDArray[np.float64]


def distinct_rows(
    data: TrainingData, *, always: bool = False, n_threads: int = 1
) -> KernelRows | None:
    r"""Merge equal rows (features and label), if that pays.

    Parameters
    ----------
    data : TrainingData
    always : bool, default False
        Merge them whether it pays or not.
    n_threads : int, default 1

    Returns
    -------
    KernelRows or None
        The distinct rows in the order of their first appearance, each with the number of its
        rows, or with the sum of their weights. A row that stands for more than 65535 others is
        repeated; rows of weight zero are left out. None: it does not pay, or rows are elsewhere.

    Notes
    -----
    **Exactness.** Rows are merged if their values compare equal, so that 0.0 and -0.0 are one
    value; hash values only propose what to compare. Sums of weights carry their rounding
    errors along and are rounded once.

    **When it pays.** At most :data:`MAX_SHARE` of the rows are distinct. Per row, counted rows
    cost more than plain ones: measured on 10 and 30 small integers, 1.2 to 1.5 times as much for a
    value and a gradient, up to 1.75 times for a heuristic, and no more for real-valued data. Half
    as many rows are therefore never slower, and fewer gain in proportion. Grouping ends as soon as
    there are more distinct rows than that.

    **What it costs.** At 10^7 rows 0.1 s for 10 binary features with 1,600 distinct rows, and 1.1 s
    for 10 integers with 2.5 million; about 90 bytes per distinct row on the way.

    **A cheap test first.** Among s rows drawn at random there are
    :math:`\binom{s}{2} \sum_g n_g (n_g - 1) / (n (n - 1))` pairs of equal rows on average. If the
    n rows have at most q n distinct ones this is, by convexity, at least
    :math:`\binom{s}{2} (1 / q - 1) / (n - 1)`, with equality if each appears as often: the birthday
    problem. With :math:`s = \sqrt{200 n / (1 / q - 1)}` rows (fixed seed) 100 pairs are then
    expected; of q = 1/2 fewer than 50 are a refusal.

    Examples
    --------
    >>> from riskslim import TrainingData
    >>> from riskslim.data.distinct import distinct_rows
    >>> data = TrainingData({"a": [0, 1, 1, 0, 1], "b": [1, 0, 0, 1, 0]}, [0, 1, 1, 0, 0])
    >>> rows = distinct_rows(data, always=True)
    >>> rows.integer_columns.tolist(), rows.labels.tolist(), rows.weights.tolist()
    ([[0, 1], [1, 0], [1, 0]], [-1, 1, -1], [2.0, 2.0, 1.0])
    """
    if not data.rows.is_block:
        return None
    source = data.block
    if data.counts is not None:
        return source if always else None  # they were merged while they were read
    if not always and not may_be_few(source, MAX_SHARE):
        return None
    limit = source.n_rows if always else int(MAX_SHARE * source.n_rows)
    weights = source.weights
    groups = _Groups(source, limit, weights.reshape(min(len(weights), 1), source.n_rows))
    if not groups.fill(n_threads=n_threads):
        return None
    if len(weights):
        sums = groups.sums(0)
        return take_rows(source, groups.first[sums > 0.0], weights=sums[sums > 0.0])
    first, counts = split_numbers(groups.first, groups.counts)
    return take_rows(
        source, first, weights=counts.astype(np.float64), numbers=counts.astype(np.uint16)
    )


def merge_features(
    integer_columns: NDArray[np.int8],
    real_columns: NDArray[np.float64],
    positive: NDArray[np.float64],
    negative: NDArray[np.float64],
    limit: int,
    should_stop: Callable[[], bool] | None = None,
    n_threads: int = 1,
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]] | None:
    """Merge rows with equal features, whatever their labels.

    Parameters
    ----------
    integer_columns : int8 array of shape (m, d_int), Fortran order
    real_columns : float64 array of shape (m, d_real), Fortran order
    positive, negative : float64 array of shape (m,)
        Weights of the two classes in each row.
    limit : int
        Most groups that are worth it.
    should_stop : callable, optional
        Asked every :data:`ROWS_AT_ONCE` rows at least; True ends the work.
    n_threads : int, default 1

    Returns
    -------
    first : intp array
        First row of each group.
    positive, negative : float64 array
        Sums of the weights.
    None
        There are more than ``limit`` groups, or the work was to end.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.data.distinct import merge_features
    >>> columns = np.array([[0], [1], [0]], np.int8, order="F")
    >>> none = np.empty((3, 0), order="F")
    >>> weights = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 2.0])
    >>> merge_features(columns, none, *weights, limit=2)
    (array([0, 1]), array([1., 0.]), array([2., 1.]))
    """
    n = len(positive)
    source = KernelRows(
        integer_columns=integer_columns,
        integer_index=np.arange(integer_columns.shape[1], dtype=np.intp),
        real_row_tiles=as_row_tiles(real_columns, should_stop),
        real_index=np.arange(real_columns.shape[1], dtype=np.intp),
        labels=np.ones(n, np.int8),
        weights=NO_WEIGHTS,
        numbers=NO_NUMBERS,
        total_weight=1.0,
        n_samples=n,
    )
    groups = _Groups(source, limit, np.stack((positive, negative)))
    if not groups.fill(should_stop, n_threads):
        return None
    return groups.first.copy(), groups.sums(0), groups.sums(1)


def take_rows(
    source: KernelRows,
    index: NDArray[np.intp],
    *,
    weights: NDArray[np.float64] = NO_WEIGHTS,
    numbers: NDArray[np.uint16] = NO_NUMBERS,
    total_weight: float | None = None,
    n_samples: int | None = None,
) -> KernelRows:
    """Copy some of the rows.

    Parameters
    ----------
    source : KernelRows
    index : intp array of shape (m,)
        The rows to copy, in increasing order: others take longer.
    weights, numbers, total_weight, n_samples
        As in :class:`KernelRows`; the last two are those of ``source`` by default.

    Returns
    -------
    KernelRows
    """
    return dataclasses.replace(
        source,
        integer_columns=_take(source.integer_columns, index),
        real_row_tiles=take_row_tiles(source.real_row_tiles, index),
        labels=source.labels.take(index),
        weights=weights,
        numbers=numbers,
        total_weight=source.total_weight if total_weight is None else total_weight,
        n_samples=source.n_samples if n_samples is None else n_samples,
    )


def _take(columns: NDArray[np.int8], index: NDArray[np.intp]) -> NDArray[np.int8]:
    taken = np.empty((len(index), columns.shape[1]), columns.dtype, order="F")
    for j in range(columns.shape[1]):
        # Any mode but the default spares a pass that checks the indices.
        columns[:, j].take(index, out=taken[:, j], mode="clip")
    return taken


def split_numbers(
    first: NDArray[np.intp], counts: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Repeat groups of too many rows, so that each part counts few enough.

    Parameters
    ----------
    first : intp array of shape (m,)
        Something that says which group it is.
    counts : int64 array of shape (m,)

    Returns
    -------
    first : intp array
    counts : int64 array
        At most 65535 each.
    """
    times = (counts - 1) // _MAX_NUMBER + 1
    if (times == 1).all():
        return first, counts
    last = np.cumsum(times) - 1
    parts = np.full(int(times.sum()), _MAX_NUMBER, np.int64)
    parts[last] = counts - (times - 1) * _MAX_NUMBER
    return np.repeat(first, times), parts


def may_be_few(source: KernelRows, share: float, fewest: int = _FEWEST_PAIRS) -> bool:
    """True if a sample has as many pairs of equal rows as it has where few are distinct.

    Parameters
    ----------
    source : KernelRows
    share : float
        Of the rows that are distinct.
    fewest : int, default 50
        Pairs that the sample must have, of the 100 that are then expected at least: the more, the
        more often rows of this share are taken for others.

    Returns
    -------
    bool
        True of a few rows: grouping all of them costs as little.
    """
    n = source.n_rows
    size = math.ceil(math.sqrt(2 * _EXPECTED_PAIRS * n / (1.0 / share - 1.0)))
    if 4 * size > n:
        return True
    index = np.random.default_rng(0).choice(n, size, replace=False, shuffle=False)
    index.sort()
    sample = _Groups(take_rows(source, index), size, np.empty((0, size)))
    sample.fill()
    counts = sample.counts
    return int(counts @ (counts - 1)) // 2 >= fewest


class _Groups:
    """Groups of equal rows, at most ``limit`` of them, with sums of some kinds of weights."""

    def __init__(self, source: KernelRows, limit: int, weights: NDArray[np.float64]) -> None:
        self.source = source
        self._weights = weights
        self.limit = limit
        # As bytes without a sign, columns of 0 and 1 are those whose largest value is at most 1.
        largest = source.integer_columns.T.view(np.uint8).max(axis=1, initial=0)
        self._layout = WordLayout.of(largest <= 1, source.real_row_tiles.shape[1])
        # Memory is taken page by page as the groups fill it.
        room = limit + distinct.block_rows()
        self._keys = np.empty((room, self._layout.n_words), np.uint64)
        self._first = np.empty(room, np.int64)
        self._counts = np.empty(room, np.int64)
        self._sums = np.empty((room, 2 * len(weights)))
        self._slots = np.zeros(_FIRST_SLOTS, np.uint64)
        self._n_groups = 0

    def fill(self, should_stop: Callable[[], bool] | None = None, n_threads: int = 1) -> bool:
        """Group all rows; False if there are too many groups, or if it is told to stop.

        Many rows are grouped in pieces, and these together. Sums of weights depend on the pieces,
        which are the same for any number of threads.
        """
        n, n_pieces = self.source.n_rows, self._n_pieces(n_threads)
        if n_pieces == 1:
            return self._fill(0, n, should_stop)
        pieces = [self]
        pieces += [_Groups(self.source, self.limit, self._weights) for _ in range(n_pieces - 1)]
        ended = [False] * n_pieces
        block = distinct.block_rows()  # kernels begin with whole blocks
        ends = [*(n * k // n_pieces // block * block for k in range(n_pieces)), n]

        def is_over() -> bool:
            return any(ended) or (should_stop is not None and should_stop())

        def fill(k: int) -> None:
            ended[k] = not pieces[k]._fill(ends[k], ends[k + 1], is_over)

        in_threads(fill, n_pieces, n_threads)
        return not any(ended) and all(self._absorb(one, is_over) for one in pieces[1:])

    def _n_pieces(self, n_threads: int) -> int:
        if self.source.n_rows < _FEWEST_IN_PIECES:
            return 1
        return _PIECES if len(self._weights) else min(n_threads, _MOST_PIECES)

    def _fill(self, row: int, last: int, should_stop: Callable[[], bool] | None) -> bool:
        """Group some of the rows."""
        source = self.source
        plane = np.empty((self._keys.shape[1], distinct.block_rows()), np.uint64)
        block = distinct.block_rows()
        n_columns = source.integer_columns.shape[1] + source.real_row_tiles.shape[1]
        share = min(1.0, _COLUMNS_AT_ONCE / max(n_columns, 1))
        at_once = max(int(ROWS_AT_ONCE * share) // block, 1) * block
        end = row
        while True:
            if row == end:
                if should_stop is not None and should_stop():
                    return False
                end = min(row + at_once, last)
            row, self._n_groups = distinct.group_rows(
                source.integer_columns,
                source.real_row_tiles,
                source.labels[:end],
                self._weights,
                self._layout.places,
                row,
                self._n_groups,
                plane,
                *self._table,
            )
            if self._n_groups > self.limit:
                return False
            if row == last:
                return True
            if row < end:
                self._widen()

    @property
    def _table(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64], _Whole, _Whole, _Sums]:
        """Hash table and groups, as kernels have them."""
        return self._slots, self._keys, self._first, self._counts, self._sums

    def _absorb(self, other: _Groups, should_stop: Callable[[], bool]) -> bool:
        """Add the groups of later rows."""
        group = 0
        while group < other._n_groups:
            if should_stop():
                return False
            group, self._n_groups = distinct.merge_groups(
                other._keys,
                other._first,
                other._counts,
                other._sums,
                group,
                min(group + ROWS_AT_ONCE, other._n_groups),
                self._n_groups,
                *self._table,
            )
            if self._n_groups > self.limit:
                return False
            if self._n_groups + distinct.block_rows() > len(self._slots) // 2:
                self._widen()
        return True

    def _widen(self) -> None:
        """Make room for more groups: never more than half full, and no larger than it has to be."""
        most = 1 << (2 * len(self._keys) - 1).bit_length()
        self._slots = np.zeros(min(4 * len(self._slots), most), np.uint64)
        distinct.fill_slots(self._keys, self._n_groups, self._slots)

    @property
    def first(self) -> NDArray[np.intp]:
        """First row of each group."""
        return self._first[: self._n_groups].astype(np.intp, copy=False)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of rows of each group."""
        return self._counts[: self._n_groups]

    def sums(self, kind: int) -> NDArray[np.float64]:
        """Sum of the weights of one kind in each group."""
        high, low = self._sums[: self._n_groups, 2 * kind : 2 * kind + 2].T
        return np.asarray(high + low)
