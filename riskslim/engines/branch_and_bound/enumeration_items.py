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
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from riskslim.data.store import KernelRows, RowStore
from riskslim.rows.base import StoppedError
from riskslim.rows.bit_planes import BitPlan, Description, Segment, described, multiples_of, pack

if TYPE_CHECKING:
    from riskslim.loss.logistic import LogisticLoss

__all__ = ["EnumerationItems", "plane_counts", "saturated_losses"]

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
# Larger floats are whole without being exact.
_MOST_EXACT = 2.0**53


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
    # Where weights are zero, rows that count may have one of two values only.
    found: NDArray[np.int64] = (loss.data.is_integer & (high - low == 1)).astype(np.int64)
    try:
        known = described(loss.store, loss.n_threads, should_stop).values
    except StoppedError:
        return np.zeros(len(low), np.int64)
    for j, values in enumerate(known):
        if values is not None:
            found[j] = max(found[j], (len(values) - 1).bit_length())
    return found


@dataclasses.dataclass(frozen=True, eq=False)
class EnumerationItems:
    """Columns of few values, packed.

    Attributes
    ----------
    features : int64 array of shape (m,)
        Features of the items.
    words : uint64 array of shape (ceil(number of planes / 8), number of words, 8)
        Bits; planes side by side in groups of eight.
    first : int64 array of shape (m + 1,)
        Item i has the planes first[i] .. first[i + 1] - 1: the bits of the number of its value.
    n_rows, side, shifts : int64 arrays of shape (number of segments,)
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
    first: NDArray[np.int64]
    n_rows: NDArray[np.int64]
    side: NDArray[np.int64]
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
        return np.diff(self.first)

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
    ) -> EnumerationItems | None:
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
        EnumerationItems or None
            None if the work was to end.
        """
        rows = loss.store
        try:
            known = described(rows, loss.n_threads, should_stop)
            found, unit, is_exact = _segments(rows.used_by(loss.n_threads, should_stop), known)
            segments, n_rows = zip(*found, strict=True)
            values = [listed for j in features if (listed := known.values[j]) is not None]
            ones = [_ones(listed) for listed in values]
            n_planes = [len(each) for each in ones]
            plan = BitPlan(
                tuple(np.repeat(features, n_planes).tolist()), tuple(itertools.chain(*ones)),
                segments, n_rows, line=1, abreast=8,
            )  # fmt: skip
            words = _copied(loss, plan)
            if words is None:
                words = pack(rows, plan, loss.n_threads, should_stop)
        except StoppedError:
            return None
        width = _TWO if len(plan.ones) == len(features) else _EIGHT
        value = np.empty((len(features), width))
        for i, listed in enumerate(values):
            value[i] = listed[np.minimum(np.arange(width), len(listed) - 1)]
        return cls(
            features.astype(np.int64), words, np.cumsum([0, *n_planes]),
            np.array(plan.n_rows, np.int64),
            np.array([segment.label > 0 for segment in segments], np.int64),
            np.array([segment.number for segment in segments], np.int64), unit, value, is_exact,
        )  # fmt: skip

    def taken(self, items: NDArray[np.intp]) -> EnumerationItems:
        """Some of the items, in another order.

        Parameters
        ----------
        items : int array

        Returns
        -------
        EnumerationItems
        """
        if np.array_equal(items, np.arange(len(self.features))):
            return self  # of many rows a copy is hundreds of megabytes
        n_planes = self.n_planes[items]
        first = np.concatenate(([0], np.cumsum(n_planes)))
        bit = np.arange(first[-1]) - np.repeat(first[:-1], n_planes)
        source = np.repeat(self.first[items], n_planes) + bit
        words = np.zeros((-(-len(source) // 8), self.n_words, 8), np.uint64)
        for p, old in enumerate(source.tolist()):
            words[p // 8, :, p % 8] = self.words[old // 8, :, old % 8]
        value = self.value[items]
        if len(source) == len(items):
            value = np.ascontiguousarray(value[:, :_TWO])
        return dataclasses.replace(
            self, features=self.features[items], words=words, first=first, value=value
        )


def _ones(values: NDArray[np.float64]) -> list[tuple[float, ...]]:
    """Values whose number has a bit, for each bit; a column of one value has a plane, too."""
    if len(values) == 1:
        return [tuple(values.tolist())]
    bits = range((len(values) - 1).bit_length())
    return [tuple(values[np.arange(len(values)) >> bit & 1 == 1].tolist()) for bit in bits]


def _copied(loss: LogisticLoss, plan: BitPlan) -> NDArray[np.uint64] | None:
    """Words of columns that are packed already; None unless all of them are 0 and 1.

    Rows have no weights: each counts once. Segments are the classes, in the same order; there they
    end with words that are empty.
    """
    shared = loss.packed if loss.bits is None else loss.bits.shared
    if shared is None or loss.store.weighting != "none":
        return None
    begin = plan.first_word
    words = np.zeros(plan.shape(int(begin[-1])), np.uint64)
    for p, j in enumerate(plan.features):
        plane = shared.plane_of(j)
        if plane is None:
            return None
        for at, end, first in zip(begin, begin[1:], shared.first_word, strict=False):
            words[p // 8, at:end, p % 8] = plane[first : first + end - at]
    return words


def _segments(
    rows: RowStore, known: Description
) -> tuple[list[tuple[Segment, int]], NDArray[np.float64], bool]:
    """Segments and their rows, the weight of a row by class, and whether weights are exact."""
    found: list[tuple[Segment, int]] = []
    unit, is_exact = np.zeros(2), True
    for side, label in enumerate((-1, 1)):
        if not known.counted[side, 0]:
            continue
        step, error = _common_step(rows, known, side)
        is_common = error is not None
        is_exact &= error is not None and error <= EXACT
        unit[side] = step * (1.0 - (error or 0.0) - UNIT_SLACK)
        once, repeated = _sizes(rows, known, side, step, is_common=is_common)
        top = _top_power(once, repeated)
        for bit, n in enumerate([*once[:top], repeated[top]]):
            kind: Literal["bit", "repeated"] = "bit" if bit < top else "repeated"
            found.append((Segment(label, kind, bit, step, is_common), n))
    return [one for one in found if one[1]], unit / rows.total_weight * (1.0 - UNIT_SLACK), is_exact


def _common_step(rows: RowStore, known: Description, side: int) -> tuple[float, float | None]:
    """A number of which all weights of a class are multiples, and to within which share they are.

    Some other number, and None, where there is none.
    """
    weights, (n, total) = known.weights[side], known.counted[side].tolist()
    least = float(weights[weights > 0].min())
    numbers = [*DENOMINATORS, *_denominators(weights, least)]
    steps = [least / k for k in numbers if total < least / k * MOST_ROWS]
    if known.counts[side] is not None:
        errors = (_step_error(weights, step) for step in steps)
    else:
        found = list(rows.map(step_errors_of_part, 2 * side - 1, steps))
        errors = iter(np.max(found, axis=0).tolist())
    for step, error in zip(steps, errors, strict=True):
        if error <= SAME:
            return step, error
    return max(total / n / RESOLUTION, total / MOST_ROWS), None


def _denominators(weights: NDArray[np.float64], least: float) -> list[int]:
    """The number to divide the least weight by where all are whole, as those of equal rows are."""
    whole = weights[weights > 0]
    if whole.max() >= _MOST_EXACT or (whole != np.rint(whole)).any():
        return []
    return [int(least) // int(np.gcd.reduce(whole.astype(np.int64)))]


def _step_error(weights: NDArray[np.float64], step: float) -> float:
    """By which share weights, other than 0, differ from multiples of a step."""
    weights = weights[weights > 0]
    error = np.abs(np.rint(weights / step) * step - weights) / weights
    return float(error.max(initial=0.0))


def step_errors_of_part(part: KernelRows, label: int, steps: list[float]) -> list[float]:
    """The same of the rows of one class of a block, for several steps."""
    own = part.weights[part.labels == label]
    return [_step_error(own, step) for step in steps]


def _top_power(once: list[int], repeated: list[int]) -> int:
    """The power of two whose rows are listed as often as they stand for it.

    Rows of a power are those that have its bit, ``once``, or the top one's ``repeated``. As many
    powers as make the fewest words.
    """

    def n_words(top: int) -> float:
        sizes = [*once[:top], repeated[top]]
        return sum(n / _WORD + 0.5 * min(_TYPICAL_CELLS, n) for n in sizes if n)

    return min(range(len(once)), key=n_words)


def _sizes(
    rows: RowStore, known: Description, side: int, step: float, *, is_common: bool
) -> tuple[list[int], list[int]]:
    """Rows of each power of two, and as often as they stand for it."""
    counts = known.counts[side]
    if counts is not None:
        multiples = multiples_of(known.weights[side], step, is_common=is_common)
        sizes = powers(multiples, counts)
    else:
        found = list(rows.map(powers_of_part, 2 * side - 1, step, is_common))
        sizes = np.sum(found, axis=0)
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


def powers_of_part(part: KernelRows, label: int, step: float, is_common: bool) -> NDArray[np.int64]:
    """The same of the rows of one class of a block."""
    return powers(multiples_of(part.weights[part.labels == label], step, is_common=is_common))


def saturated_losses(packed: EnumerationItems) -> NDArray[np.float64]:
    """Compute h of each item alone.

    Parameters
    ----------
    packed : EnumerationItems

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
    weight = weight[:, packed.first[:-1]]
    found = _entropy(*weight) + _entropy(*(total[:, None] - weight))
    for i in np.flatnonzero(packed.n_planes > 1).tolist():
        cells = np.zeros((2, packed.value.shape[1]))
        for words, label, worth, n_bits in _by_segment(packed):
            number = np.zeros(64 * words.shape[1], np.int64)
            for bit, p in enumerate(range(packed.first[i], packed.first[i + 1])):
                plane = np.ascontiguousarray(words[p // 8, :, p % 8]).view(np.uint8)
                number += np.unpackbits(plane, bitorder="little").astype(np.int64) << bit
            cells[label] += worth * np.bincount(number[:n_bits], minlength=cells.shape[1])
        found[i] = _entropy(*cells).sum()
    return found


def _by_segment(
    packed: EnumerationItems,
) -> Iterator[tuple[NDArray[np.uint64], int, float, int]]:
    """Words, label, weight of a row, and number of rows of each segment."""
    word = 0
    for n_bits, label, shift in zip(
        packed.n_rows.tolist(), packed.side.tolist(), packed.shifts.tolist(), strict=True
    ):
        end = word + -(-n_bits // 64)
        yield packed.words[:, word:end], label, float(packed.unit[label] * 2.0**shift), n_bits
        word = end


def _entropy(negative: NDArray[np.float64], positive: NDArray[np.float64]) -> NDArray[np.float64]:
    p, n = np.maximum(positive, 1e-300), np.maximum(negative, 1e-300)
    both: NDArray[np.float64] = p * np.log1p(n / p) + n * np.log1p(p / n)
    return both
