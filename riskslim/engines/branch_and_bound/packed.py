r"""Rows of items of few values as bits, for tables of supports.

A column of two values, whatever they are, is an item of one plane: one bit per row. One of up to
eight values has as many planes as the number of its value in a row has bits. Rows are put into
segments of one class and one power of two, so that counts of bits become sums of weights: a row
that stands for :math:`c = \sum_i 2^{s_i}` rows is in each of the segments :math:`s_i`. Weights that
are no multiples of one number are rounded down to multiples of one. Losses and the bound h grow
with every weight, so that what is computed of smaller ones stays a lower bound.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from riskslim.data.packed import distinct_values
from riskslim.data.panels import read_column
from riskslim.data.store import KernelRows
from riskslim.data.threads import in_threads
from riskslim.rows.planes import BitPlan, Segment, described, fill_bits, multiples_of

if TYPE_CHECKING:
    from riskslim.data.packed import PackedItems
    from riskslim.loss.logistic import LogisticLoss
    from riskslim.rows.base import PartitionedRows

__all__ = ["TableItems", "plane_counts", "saturated_losses"]

# Counts are 32-bit integers.
MOST_ROWS = 2**31 - 1
# Weights are taken to be multiples of one number where they are to within this share.
SAME = 1e-10
# And exactly, but for rounding errors, to within this.
EXACT = 1e-14
# Denominators of fractions of the least weight that are tried.
DENOMINATORS = range(1, 13)
# Multiples of the unit that the mean weight is otherwise rounded down to.
RESOLUTION = 2**12
# Units are made smaller by this much: products with them may not be rounded up.
UNIT_SLACK = 4e-16
# Cells that words of a segment are likely to be divided among when its number of words matters.
_TYPICAL_CELLS = 8
# Columns of values: one plane, or up to three.
_TWO, _EIGHT = 2, 8
_WORD = 64
# Powers of two of multiples that there can be.
_POWERS = 63


def plane_counts(
    loss: LogisticLoss, should_stop: Callable[[], bool] = lambda: False
) -> NDArray[np.int64]:
    """Count the planes that each feature has as an item.

    Parameters
    ----------
    loss : LogisticLoss
    should_stop : callable, optional
        Asked between columns; features that are not looked at after True count as no items.

    Returns
    -------
    int64 array of shape (d,)
        1 for two values, up to 3 for eight; 0 for one value, or too many.
    """
    low, high = loss.data.feature_min, loss.data.feature_max
    found = np.zeros(len(low), np.int64)
    if not loss.store.is_block:
        known = described(loss.blocks(should_stop)).values
        for j, values in enumerate(known):
            found[j] = 0 if values is None else (len(values) - 1).bit_length()
        return found
    rows = loss.rows
    for k, j in enumerate(rows.integer_index):
        if should_stop():
            return found
        found[j] = 1 if high[j] - low[j] == 1 else _n_planes(rows.integer_columns[:, k])
    for k, j in enumerate(rows.real_index):
        if should_stop():
            return found
        found[j] = _n_planes(read_column(rows.real_panels, k, 0, rows.n_rows))
    return found


def _n_planes(column: NDArray[np.generic]) -> int:
    values = distinct_values(column)
    return 0 if values is None else (len(values) - 1).bit_length()


@dataclasses.dataclass(frozen=True, eq=False)
class TableItems:
    """Columns of few values, packed.

    Attributes
    ----------
    features : int64 array of shape (m,)
        Features of the items.
    words : uint64 array of shape (ceil(number of planes / 8), number of words, 8)
        Bits; planes side by side in groups of eight.
    plane : int64 array of shape (m + 1,)
        Item i has the planes plane[i] .. plane[i + 1] - 1: the bits of the number of its value.
    bits, labels, shifts : int64 arrays of shape (number of segments,)
        Rows of each segment, their class (1 or 0), and the power of two that each stands for.
    unit : float64 array of shape (2,)
        Weight of one row by class; all rows' add up to at most 1.
    value : float64 array of shape (m, 2) or (m, 8)
        What the numbers stand for: eight of them where an item has more than two values.
    is_exact : bool
        Whether no weights were rounded down by more than rounding errors.
    """

    features: NDArray[np.int64]
    words: NDArray[np.uint64]
    plane: NDArray[np.int64]
    bits: NDArray[np.int64]
    labels: NDArray[np.int64]
    shifts: NDArray[np.int64]
    unit: NDArray[np.float64]
    value: NDArray[np.float64]
    is_exact: bool = False

    @property
    def n_words(self) -> int:
        """Words of each plane."""
        return int(self.words.shape[1])

    @property
    def n_planes(self) -> NDArray[np.int64]:
        """Planes of each item."""
        return np.diff(self.plane)

    @property
    def single_planes(self) -> NDArray[np.uint64]:
        """Planes one after the other, shape (m, number of words), if each item has one; a copy."""
        planes = self.words.transpose(0, 2, 1).reshape(-1, self.n_words)
        return np.ascontiguousarray(planes[: len(self.features)])

    @classmethod
    def of(
        cls,
        loss: LogisticLoss,
        features: NDArray[np.intp],
        should_stop: Callable[[], bool] = lambda: False,
    ) -> TableItems | None:
        """Pack some features of a loss.

        Parameters
        ----------
        loss : LogisticLoss
        features : int array of shape (m,)
            Each with two to eight values, in the order of the items.
        should_stop : callable, optional
            Asked between features; True ends the work.

        Returns
        -------
        TableItems or None
            None if the work was to end.
        """
        if not loss.store.is_block:
            return _of_parts(loss.blocks(should_stop), features)
        rows = loss.rows
        shared = None if loss.bits is None else loss.bits.shared
        copied = None if shared is None else _of_bits(loss, shared, features)
        if copied is not None:
            return copied
        weights = rows.each_weight
        index, bits, labels, shifts, unit = [], [], [], [], np.zeros(2)
        is_exact = True
        for label in (0, 1):
            own = np.flatnonzero(((rows.labels > 0) == bool(label)) & (weights > 0))
            if not own.size:
                continue
            multiples, step, share = _multiples(weights[own])
            is_exact &= share <= EXACT
            unit[label] = step / rows.total_weight * (1.0 - UNIT_SLACK)
            for shift, chosen in _segments(own, multiples):
                index.append(chosen)
                bits.append(len(chosen))
                labels.append(label)
                shifts.append(shift)
        values: list[NDArray[np.float64]] = [np.empty(0)] * len(features)
        of_items: list[list[NDArray[np.uint64]]] = [[] for _ in features]

        def pack(i: int) -> None:
            if should_stop():
                return
            numbers, values[i] = _numbered(rows.values_of(int(features[i])))
            for bit in range((len(values[i]) - 1).bit_length()):
                is_one = numbers if numbers.dtype == bool else (numbers >> bit & 1) > 0
                of_items[i].append(_packed(is_one, index))

        in_threads(pack, len(features), loss.n_threads)
        if should_stop():
            return None
        planes = [words for item in of_items for words in item]
        plane = np.cumsum([0, *map(len, of_items)])
        n_words = sum(-(-n // _WORD) for n in bits)
        words = np.zeros((-(-len(planes) // 8), n_words, 8), np.uint64)
        for p, packed in enumerate(planes):
            words[p // 8, :, p % 8] = packed
        width = _TWO if len(planes) == len(features) else _EIGHT
        value = np.empty((len(features), width))
        for i, known in enumerate(values):
            value[i] = known[np.minimum(np.arange(width), len(known) - 1)]
        return cls(
            features.astype(np.int64), words, plane.astype(np.int64), np.array(bits, np.int64),
            np.array(labels, np.int64), np.array(shifts, np.int64), unit, value, is_exact,
        )  # fmt: skip

    def taken(self, items: NDArray[np.intp]) -> TableItems:
        """Some of the items, in another order.

        Parameters
        ----------
        items : int array

        Returns
        -------
        TableItems
        """
        if np.array_equal(items, np.arange(len(self.features))):
            return self  # of many rows a copy is hundreds of megabytes
        n_planes = self.n_planes[items]
        plane = np.concatenate(([0], np.cumsum(n_planes)))
        bit = np.arange(plane[-1]) - np.repeat(plane[:-1], n_planes)
        source = np.repeat(self.plane[items], n_planes) + bit
        words = np.zeros((-(-len(source) // 8), self.n_words, 8), np.uint64)
        for p, old in enumerate(source.tolist()):
            words[p // 8, :, p % 8] = self.words[old // 8, :, old % 8]
        value = self.value[items]
        if len(source) == len(items):
            value = np.ascontiguousarray(value[:, :_TWO])
        return dataclasses.replace(
            self, features=self.features[items], words=words, plane=plane, value=value
        )


def _of_bits(
    loss: LogisticLoss, shared: PackedItems, features: NDArray[np.intp]
) -> TableItems | None:
    """The same from columns that are packed already; None unless all of them are 0 and 1.

    Rows have no weights: each counts once. Segments are the classes, in the same order; there they
    end with words that are empty.
    """
    planes = [shared.plane_of(j) for j in features.tolist()]
    bits, labels = shared.n_rows, shared.side
    n_words = -(-bits // _WORD)
    begin = np.concatenate(([0], np.cumsum(n_words)))
    words = np.zeros((-(-len(planes) // 8), int(begin[-1]), 8), np.uint64)
    for p, plane in enumerate(planes):
        if plane is None:
            return None
        for first, at, n in zip(shared.first_word, begin, n_words, strict=False):
            words[p // 8, at : at + n, p % 8] = plane[first : first + n]
    unit = np.zeros(2)
    unit[labels] = (1.0 - UNIT_SLACK) / loss.rows.total_weight * (1.0 - UNIT_SLACK)
    return TableItems(
        features.astype(np.int64), words, np.arange(len(planes) + 1), bits, labels,
        np.zeros(len(bits), np.int64), unit, np.tile(np.arange(2.0), (len(planes), 1)),
        is_exact=True,
    )  # fmt: skip


def _numbered(column: NDArray[np.generic]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Number of each row's value among those of a column, and the values."""
    low, high = column.min(), column.max()
    is_high = column == high
    # Rows of a column of two values may have one of them only, where weights of others are zero.
    if low == high or np.count_nonzero(is_high) + np.count_nonzero(column == low) == len(column):
        return is_high, np.array([low, high], np.float64)
    values = distinct_values(column)
    assert values is not None
    return np.searchsorted(values, column).astype(np.int8), values.astype(np.float64)


def _multiples(weights: NDArray[np.float64]) -> tuple[NDArray[np.int64], float, float]:
    """Whole numbers and a step, so that each weight is at least its number of steps.

    And by which share it may be more.
    """
    step, error = _common_step(weights, float(weights.sum()), len(weights))
    if error is not None:
        return np.rint(weights / step).astype(np.int64), step * (1.0 - error - UNIT_SLACK), error
    multiples = np.floor(weights / step * (1.0 - 1e-15))
    return multiples.astype(np.int64), step * (1.0 - UNIT_SLACK), math.inf


def _common_step(weights: NDArray[np.float64], total: float, n: int) -> tuple[float, float | None]:
    """A number of which all weights are multiples, and to within which share they are.

    Some other number, and None, where there is none. ``total`` and ``n`` are those of all rows,
    of which ``weights`` need to have each weight once.
    """
    least = float(weights.min())
    for denominator in DENOMINATORS:
        step = least / denominator
        if not total < step * MOST_ROWS:
            break
        error = float(np.max(np.abs(np.rint(weights / step) * step - weights) / weights))
        if error <= SAME:
            return step, error
    return max(total / n / RESOLUTION, total / MOST_ROWS), None


def _top_power(once: list[int], repeated: list[int]) -> int:
    """The power of two whose rows are listed as often as they stand for it.

    Rows of a power are those that have its bit, ``once``, or the top one's ``repeated``.
    """

    def n_words(top: int) -> float:
        sizes = [*once[:top], repeated[top]]
        return sum(n / _WORD + 0.5 * min(_TYPICAL_CELLS, n) for n in sizes if n)

    return min(range(len(once)), key=n_words) if once else 0


def _of_parts(rows: PartitionedRows, features: NDArray[np.intp]) -> TableItems:
    """Pack some features of rows in parts; see :meth:`TableItems.of`."""
    known = described(rows)
    segments: list[Segment] = []
    sizes: list[int] = []
    unit = np.zeros(2)
    for side, label in ((0, -1), (1, 1)):
        weights, counts = known.weights[side], known.counts[side]
        if not weights.any():
            continue
        step, error = _step_of_parts(rows, side, weights, counts)
        unit[side] = step / rows.total_weight * (1.0 - error - UNIT_SLACK)
        once, repeated = _sizes(rows, label, step, weights, counts)
        top = _top_power(once, repeated)
        for bit, n in enumerate([*once[:top], repeated[top]]):
            if n:
                kind: Literal["bit", "repeated"] = "bit" if bit < top else "repeated"
                segments.append(Segment(label, kind, bit, step))
                sizes.append(n)
    ones: list[tuple[float, ...]] = []
    of_plane: list[int] = []
    plane, values = [0], []
    for j in features.tolist():
        found = known.values[j]
        assert found is not None
        values.append(found)
        for bit in range((len(found) - 1).bit_length()):
            ones.append(tuple(found[(np.arange(len(found)) >> bit) & 1 == 1].tolist()))
            of_plane.append(j)
        plane.append(len(ones))
    n_words = [-(-n // _WORD) for n in sizes]
    words = np.zeros((-(-len(ones) // 8), sum(n_words), 8), np.uint64)
    fill_bits(
        rows,
        BitPlan(tuple(of_plane), tuple(ones), tuple(segments)),
        [words[p // 8, :, p % 8] for p in range(len(ones))],
        np.concatenate(([0], np.cumsum(n_words))).tolist(),
    )
    width = _TWO if len(ones) == len(features) else _EIGHT
    value = np.empty((len(features), width))
    for i, listed in enumerate(values):
        value[i] = listed[np.minimum(np.arange(width), len(listed) - 1)]
    return TableItems(
        features.astype(np.int64), words, np.array(plane, np.int64), np.array(sizes, np.int64),
        np.array([segment.label > 0 for segment in segments], np.int64),
        np.array([segment.number for segment in segments], np.int64), unit, value,
    )  # fmt: skip


def _step_of_parts(
    rows: PartitionedRows,
    side: int,
    weights: NDArray[np.float64],
    counts: NDArray[np.int64] | None,
) -> tuple[float, float]:
    """A number of which weights of a class are multiples, and by which share they may be less."""
    if counts is None:  # more weights than are told apart
        total, n = rows.class_weights[side], rows.n_rows
        return max(total / n / RESOLUTION, total / MOST_ROWS), SAME
    met = weights > 0
    weights, counts = weights[met], counts[met]
    step, error = _common_step(weights, float(weights @ counts), int(counts.sum()))
    return step, SAME if error is None else error


def _sizes(
    rows: PartitionedRows,
    label: int,
    step: float,
    weights: NDArray[np.float64],
    counts: NDArray[np.int64] | None,
) -> tuple[list[int], list[int]]:
    """Rows of each power of two, and as often as they stand for it."""
    sizes = np.zeros((2, _POWERS), np.int64)
    if counts is not None:
        sizes += powers(multiples_of(weights, step), counts)
    else:
        for part in rows.map(powers_of_part, label, step):
            sizes += part
    most = int(np.count_nonzero(sizes[1]))
    once, repeated = sizes[:, :most].tolist()
    return once, repeated


def powers(multiples: NDArray[np.int64], counts: NDArray[np.int64] | int = 1) -> NDArray[np.int64]:
    """Count rows by the powers of two of their multiples, and by their quotients with these."""
    found = np.zeros((2, _POWERS), np.int64)
    for s in range(int(multiples.max(initial=0)).bit_length()):
        found[0, s] = ((multiples >> s & 1) * counts).sum()
        found[1, s] = ((multiples >> s) * counts).sum()
    return found


def powers_of_part(part: KernelRows, label: int, step: float) -> NDArray[np.int64]:
    """The same of the rows of one class of a part."""
    own = np.flatnonzero(part.labels == label)
    return powers(Segment(label, "bit", 0, step).multiples(part, own))


def _segments(
    rows: NDArray[np.intp], multiples: NDArray[np.int64]
) -> list[tuple[int, NDArray[np.intp]]]:
    """Powers of two and their rows: as many powers as make the fewest words.

    The largest power is that of rows which are listed as often as they stand for it.
    """
    most = int(multiples.max()).bit_length()
    once = [int((multiples >> s & 1).sum()) for s in range(most)]
    repeated = [int((multiples >> s).sum()) for s in range(most)]
    top = _top_power(once, repeated)
    found = [(s, rows[(multiples >> s & 1) > 0]) for s in range(top)]
    found.append((top, np.repeat(rows, multiples >> top)))
    return [(shift, chosen) for shift, chosen in found if chosen.size]


def _packed(column: NDArray[np.bool_], index: list[NDArray[np.intp]]) -> NDArray[np.uint64]:
    """Bits of a column, each segment from a new word on."""
    parts = []
    for chosen in index:
        room = np.zeros(-(-len(chosen) // _WORD) * _WORD, np.bool_)
        # Any mode but the default spares a pass that checks the indices.
        column.take(chosen, out=room[: len(chosen)], mode="clip")
        parts.append(np.packbits(room, bitorder="little").view("<u8"))
    return np.concatenate(parts).astype(np.uint64)


def saturated_losses(packed: TableItems) -> NDArray[np.float64]:
    """Compute h of each item alone.

    Parameters
    ----------
    packed : TableItems

    Returns
    -------
    float64 array
    """
    weight = np.zeros((2, packed.words.shape[0] * 8))
    total = np.zeros(2)
    for words, label, worth, n_bits in _by_segment(packed):
        ones = np.bitwise_count(words).sum(axis=1, dtype=np.int64).ravel()
        weight[label] += worth * ones
        total[label] += worth * n_bits
    weight = weight[:, packed.plane[:-1]]
    found = _entropy(*weight) + _entropy(*(total[:, None] - weight))
    for i in np.flatnonzero(packed.n_planes > 1).tolist():
        cells = np.zeros((2, packed.value.shape[1]))
        for words, label, worth, n_bits in _by_segment(packed):
            number = np.zeros(64 * words.shape[1], np.int64)
            for bit, p in enumerate(range(packed.plane[i], packed.plane[i + 1])):
                plane = np.ascontiguousarray(words[p // 8, :, p % 8]).view(np.uint8)
                number += np.unpackbits(plane, bitorder="little").astype(np.int64) << bit
            cells[label] += worth * np.bincount(number[:n_bits], minlength=cells.shape[1])
        found[i] = _entropy(*cells).sum()
    return found


def _by_segment(
    packed: TableItems,
) -> Iterator[tuple[NDArray[np.uint64], int, float, int]]:
    """Words, label, weight of a row, and number of rows of each segment."""
    word = 0
    for n_bits, label, shift in zip(
        packed.bits.tolist(), packed.labels.tolist(), packed.shifts.tolist(), strict=True
    ):
        end = word + -(-n_bits // 64)
        yield packed.words[:, word:end], label, float(packed.unit[label] * 2.0**shift), n_bits
        word = end


def _entropy(negative: NDArray[np.float64], positive: NDArray[np.float64]) -> NDArray[np.float64]:
    p, n = np.maximum(positive, 1e-300), np.maximum(negative, 1e-300)
    both: NDArray[np.float64] = p * np.log1p(n / p) + n * np.log1p(p / n)
    return both
