r"""Columns as bits, packed block by block.

What is wanted is a :class:`BitPlan`: which values are 1 in which plane, and how rows are put into
segments (by class, and by what they weigh). Each block is packed where it is, and is the result if
it has all rows; the bits of several follow each other without a gap, so that the result is the same
whatever the blocks are.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import supports as kernels
from riskslim.data.packed import (
    LINE,
    MAX_VALUES,
    PackedItems,
    WeightClasses,
    distinct_values,
    first_words,
    ordered,
)
from riskslim.data.store import KernelRows, RowStore
from riskslim.data.threads import in_threads
from riskslim.rows.base import StoppedError

__all__ = ["BitPlan", "Description", "Segment", "described", "multiples_of", "pack", "pack_items"]

_WORD = 64
# Weights of rows of one class that are told apart.
_MOST_WEIGHTS = 2**16
# Rows of a column that are looked at before it is copied, for it may have too many values.
_FIRST_ROWS = 1024


@dataclasses.dataclass(frozen=True, eq=False)
class Description:
    """Values and weights that there are.

    Attributes
    ----------
    values : list of ndarray of float64 or None, length d
        Values of each feature, increasing; None if there are more than
        :data:`~riskslim.data.packed.MAX_VALUES`.
    weights : list of ndarray of float64, length 2
        Weights of the rows of the negative and the positive class, increasing: 1 alone where they
        count once. Where there are more than 65536, the least, the least above 0 and the largest.
    counts : list of ndarray of int64 or None, length 2
        Rows of each of them; None where not all are there.
    counted : ndarray of float64, shape (2, 2)
        Of each class the rows of positive weight, and what they weigh.
    """

    values: list[NDArray[np.float64] | None]
    weights: list[NDArray[np.float64]]
    counts: list[NDArray[np.int64] | None]
    counted: NDArray[np.float64]

    def joined(self, other: Description) -> Description:
        """Return what is in either of two parts."""
        values: list[NDArray[np.float64] | None] = []
        for a, b in zip(self.values, other.values, strict=True):
            both = None if a is None or b is None else np.union1d(a, b)
            values.append(None if both is None or len(both) > MAX_VALUES else both)
        weights, counts = [], []
        for side in (0, 1):
            found, n = _joined_weights(
                (self.weights[side], other.weights[side]), (self.counts[side], other.counts[side])
            )
            weights.append(found)
            counts.append(n)
        return Description(values, weights, counts, self.counted + other.counted)


def _joined_weights(
    weights: tuple[NDArray[np.float64], NDArray[np.float64]],
    counts: tuple[NDArray[np.int64] | None, NDArray[np.int64] | None],
) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    first, second = counts
    both, inverse = np.unique(np.concatenate(weights), return_inverse=True)
    if first is None or second is None or len(both) > _MOST_WEIGHTS:
        return _ends(both), None
    total = np.zeros(len(both), np.int64)
    np.add.at(total, inverse, np.concatenate((first, second)))
    return both, total


def _ends(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    positive = min(int(np.searchsorted(weights, 0.0, "right")), len(weights) - 1)
    return np.unique(weights[[0, positive, -1]])


def describe_part(
    part: KernelRows, n_threads: int = 1, should_stop: Callable[[], bool] | None = None
) -> Description:
    """Look at the values and the weights of a block.

    Parameters
    ----------
    part : KernelRows
    n_threads : int, default 1
        No matter.
    should_stop : callable, optional
        Asked between columns.

    Returns
    -------
    Description

    Raises
    ------
    StoppedError
        ``should_stop`` said so.
    """
    values: list[NDArray[np.float64] | None] = []
    for j, slot in enumerate(part.slots.tolist()):
        _check(should_stop)
        # Integers are seen as they are stored; of others a copy is made.
        n_first = part.n_rows if slot >= 0 else min(part.n_rows, _FIRST_ROWS)
        found = distinct_values(part.values_of(j, 0, n_first))
        if found is not None and n_first < part.n_rows:
            found = distinct_values(part.values_of(j))
        values.append(None if found is None else found.astype(np.float64))
    weights: list[NDArray[np.float64]] = []
    counts: list[NDArray[np.int64] | None] = []
    counted = np.zeros((2, 2))
    for side, label in enumerate((-1, 1)):
        own = part.labels == label
        if len(part.weights):
            each = part.weights[own]
            counted[side] = np.count_nonzero(each), (each if each.all() else each[each > 0]).sum()
            distinct, n = _distinct_weights(part.numbers[own] if len(part.numbers) else each)
            few = len(distinct) <= _MOST_WEIGHTS
            weights.append(distinct if few else _ends(distinct))
            counts.append(n if few else None)
        else:
            n_own = int(np.count_nonzero(own))
            counted[side] = n_own
            weights.append(np.ones(min(n_own, 1)))
            counts.append(np.full(min(n_own, 1), n_own, np.int64))
    return Description(values, weights, counts, counted)


def _distinct_weights(
    weights: NDArray[np.float64] | NDArray[np.uint16],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    if weights.dtype == np.uint16:
        n = np.bincount(weights)
        met = np.flatnonzero(n)
        return met.astype(np.float64), n[met]
    distinct, n = np.unique(weights.astype(np.float64, copy=False), return_counts=True)
    return distinct, n


def _check(should_stop: Callable[[], bool] | None) -> None:
    if should_stop is not None and should_stop():
        raise StoppedError("a pass over the rows was stopped")


def described(
    rows: RowStore, n_threads: int = 1, should_stop: Callable[[], bool] | None = None
) -> Description:
    """Look at the values and weights of all rows, once.

    Parameters
    ----------
    rows : RowStore
    n_threads : int, default 1
    should_stop : callable, optional

    Returns
    -------
    Description

    Raises
    ------
    StoppedError
        ``should_stop`` said so.
    """
    known = rows.known.get("description")
    if not isinstance(known, Description):
        found: Description | None = None
        for part in rows.map_in_threads(
            describe_part, n_threads=n_threads, should_stop=should_stop
        ):
            found = part if found is None else found.joined(part)
        assert found is not None
        rows.known["description"] = known = found
    return known


class Segment(NamedTuple):
    """Rows of one class that weigh the same.

    Parameters
    ----------
    label : int
        -1 or 1.
    kind : {"all", "bit", "repeated", "class"}
        All rows; those whose multiple of the step has a bit; each as often as its multiple divided
        by a power of two says; those of a class of weights.
    number : int
        The bit, the power of two, or the class.
    step : float
        Of which weights are multiples.
    is_common : bool
        Whether they are. Otherwise they are rounded down to multiples.
    classes : WeightClasses, optional
    """

    label: int
    kind: Literal["all", "bit", "repeated", "class"]
    number: int = 0
    step: float = 1.0
    is_common: bool = True
    classes: WeightClasses | None = None

    def numbers(self, part: KernelRows, own: NDArray[np.intp]) -> NDArray[np.integer]:
        """Multiple of the step, or class, of each row of the label.

        Parameters
        ----------
        part : KernelRows
        own : ndarray of intp, shape (n,)
            The rows.

        Returns
        -------
        int array of shape (n,) or (0,)
            Empty where rows count once. The same for all segments of the label.
        """
        if self.kind == "all" or not len(part.weights):
            return np.empty(0, np.int64)
        if self.classes is not None:
            return self.classes.numbers(part.weights[own])
        return multiples_of(part.weights[own], self.step, is_common=self.is_common)

    def taken(self, own: NDArray[np.intp], numbers: NDArray[np.integer]) -> NDArray[np.intp]:
        """Rows that belong to it, in their order.

        Parameters
        ----------
        own : ndarray of intp, shape (n,)
            Those of the label.
        numbers : int array
            As :meth:`numbers` returns them.

        Returns
        -------
        ndarray of intp
        """
        if not len(numbers):
            return own
        if self.kind == "class":
            return own.compress(numbers == self.number)
        if self.kind == "bit":
            return own.compress((numbers >> self.number) & 1 == 1)
        return np.repeat(own, numbers >> self.number)


def multiples_of(
    weights: NDArray[np.float64], step: float, *, is_common: bool
) -> NDArray[np.int64]:
    """Whole numbers of a step: the nearest, or those that are not larger.

    Parameters
    ----------
    weights : ndarray of float64
    step : float
    is_common : bool
        Whether weights are multiples of the step.

    Returns
    -------
    ndarray of int64
    """
    steps = weights / step
    if is_common:
        np.rint(steps, out=steps)
    else:
        np.floor(steps * (1.0 - 1e-15), out=steps)
    return steps.astype(np.int64)


class BitPlan(NamedTuple):
    """Planes and segments.

    Parameters
    ----------
    features : tuple of int
        Feature of each plane.
    ones : tuple of tuple of float
        Its values that are 1 there.
    segments : tuple of Segment
    n_rows : tuple of int
        Rows of each segment, of all blocks.
    line : int
        Segments begin with words whose numbers are multiples of it.
    abreast : int
        Planes that lie side by side, word by word.
    """

    features: tuple[int, ...]
    ones: tuple[tuple[float, ...], ...]
    segments: tuple[Segment, ...]
    n_rows: tuple[int, ...]
    line: int = LINE
    abreast: int = 1

    @property
    def first_word(self) -> NDArray[np.int64]:
        """Words at which segments begin, and at which the last one ends."""
        return first_words(self.n_rows, self.line)

    def shape(self, n_words: int) -> tuple[int, int, int]:
        """Groups of planes, words, planes of a group."""
        return -(-len(self.ones) // self.abreast), n_words, self.abreast


def pack_part(
    part: KernelRows,
    plan: BitPlan,
    n_threads: int = 1,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[list[int], NDArray[np.uint64]]:
    """Pack a block.

    Parameters
    ----------
    part : KernelRows
    plan : BitPlan
    n_threads : int, default 1
        They share the planes.
    should_stop : callable, optional
        Asked between planes.

    Returns
    -------
    n_rows : list of int
        Rows of each segment.
    words : ndarray of uint64, shape (groups, words, planes of a group)

    Raises
    ------
    StoppedError
        ``should_stop`` said so.
    """
    n_rows, order = _order(part, plan)
    words = np.zeros(plan.shape(len(order) // _WORD), np.uint64)

    def pack_one(p: int) -> None:
        if should_stop is None or not should_stop():
            column, value = _bytes(part, plan.features[p], plan.ones[p])
            kernels.pack_plane(column, value, order, words[p // plan.abreast, :, p % plan.abreast])

    in_threads(pack_one, len(plan.ones), n_threads)
    _check(should_stop)
    return n_rows, words


def _order(part: KernelRows, plan: BitPlan) -> tuple[list[int], NDArray[np.int64]]:
    rows: list[NDArray[np.intp]] = []
    for label, segments in itertools.groupby(plan.segments, lambda segment: segment.label):
        own: NDArray[np.intp] = np.flatnonzero(part.labels == label)
        numbers: NDArray[np.integer] | None = None
        for segment in segments:
            numbers = segment.numbers(part, own) if numbers is None else numbers
            rows.append(segment.taken(own, numbers))
    return [len(own) for own in rows], ordered(rows, plan.line)


def _bytes(part: KernelRows, j: int, ones: tuple[float, ...]) -> tuple[NDArray[np.int8], int]:
    """A column, and its value where a plane is 1."""
    column = part.values_of(j)
    if column.dtype != np.int8:
        return np.isin(column, ones).view(np.int8), 1
    if len(ones) == 1:
        return column, int(ones[0])
    table = np.zeros(256, np.int8)
    table[np.array(ones, np.int8).view(np.uint8)] = 1
    return table[column.view(np.uint8)], 1


def pack(
    rows: RowStore,
    plan: BitPlan,
    n_threads: int = 1,
    should_stop: Callable[[], bool] | None = None,
    folder: Path | None = None,
) -> NDArray[np.uint64]:
    """Pack all rows.

    Parameters
    ----------
    rows : RowStore
    plan : BitPlan
    n_threads : int, default 1
    should_stop : callable, optional
    folder : Path, optional
        Where the words of rows in several blocks are put, in a file that is mapped. Default: in
        memory.

    Returns
    -------
    ndarray of uint64, shape (groups, words, planes of a group)

    Raises
    ------
    StoppedError
        ``should_stop`` said so.
    """
    found = rows.map_in_threads(pack_part, plan, n_threads=n_threads, should_stop=should_stop)
    if rows.is_block:
        ((_, words),) = found
        return words
    first_word = plan.first_word
    words = _no_words(plan.shape(int(first_word[-1])), folder)
    n_before = [0] * len(plan.segments)
    for n_rows, more in found:
        begin = first_words(n_rows, plan.line)
        for s, n in enumerate(n_rows):
            if n:
                own = more[:, begin[s] : begin[s] + -(-n // _WORD)]
                _append(words[:, first_word[s] : first_word[s + 1]], n_before[s], own)
                n_before[s] += n
    return words


def _append(words: NDArray[np.uint64], n_before: int, more: NDArray[np.uint64]) -> None:
    """Put bits behind those that are there."""
    at, shift = divmod(n_before, _WORD)
    end = at + more.shape[1]
    if not shift:
        words[:, at:end] = more
        return
    words[:, at:end] |= more << np.uint64(shift)
    beyond = more >> np.uint64(_WORD - shift)
    # Of the last word nothing need go on, and there need not be a word for it.
    last = more.shape[1] - (not beyond[:, -1].any())
    words[:, at + 1 : at + 1 + last] |= beyond[:, :last]


def pack_items(
    rows: RowStore,
    usable: NDArray[np.bool_],
    n_threads: int = 1,
    should_stop: Callable[[], bool] | None = None,
    folder: Path | None = None,
) -> PackedItems | None:
    """Pack the integer columns of few values.

    Parameters
    ----------
    rows : RowStore
    usable : ndarray of bool, shape (d,)
        Features that matter.
    n_threads : int, default 1
    should_stop : callable, optional
        Asked between columns and planes, or blocks.
    folder : Path, optional
        Where the planes of rows in several blocks are put; see :func:`pack`.

    Returns
    -------
    PackedItems or None
        None if no column that matters has at most :data:`~riskslim.data.packed.MAX_VALUES` values.

    Raises
    ------
    StoppedError
        ``should_stop`` said so.

    Notes
    -----
    A 0/1 column takes one bit per row, one of v values v - 1 bits: between an eighth and seven
    eighths of the bytes that it is made of. It takes about 1 ns per row and plane.
    """
    known = described(rows, n_threads, should_stop)
    features, base, values = [], [], []
    for j in rows.integer_index.tolist():
        found = known.values[j]
        if usable[j] and found is not None:
            features.append(j)
            base.append(0 if 0 in found else int(found[0]))
            values.append([int(value) for value in found if value != base[-1]])
    if not features:
        return None
    flat = [value for each in values for value in each]
    segments, weights, n_rows = _item_segments(rows.used_by(n_threads, should_stop), known)
    plan = BitPlan(
        tuple(np.repeat(features, [len(each) for each in values]).tolist()),
        tuple((float(v),) for v in flat), tuple(segments), tuple(n_rows),
    )  # fmt: skip
    planes = pack(rows, plan, n_threads, should_stop, folder)[:, :, 0]
    return PackedItems(
        features=np.array(features, np.int64),
        first=np.cumsum([0, *(len(each) for each in values)]),
        values=np.array(flat, np.int64),
        base=np.array(base, np.int64),
        planes=planes,
        valid=_valid(plan),
        first_word=plan.first_word,
        n_rows=np.array(n_rows, np.int64),
        side=np.array([segment.label > 0 for segment in segments], np.int64),
        weight=np.array(weights) / rows.total_weight,
    )


def _valid(plan: BitPlan) -> NDArray[np.uint64]:
    """Bits of the words that are rows."""
    first_word = plan.first_word.tolist()
    valid = np.zeros(first_word[-1], np.uint64)
    for begin, n in zip(first_word, plan.n_rows, strict=False):
        whole, rest = divmod(n, _WORD)
        valid[begin : begin + whole] = ~np.uint64(0)
        if rest:
            valid[begin + whole] = (np.uint64(1) << np.uint64(rest)) - np.uint64(1)
    return valid


def _no_words(shape: tuple[int, ...], folder: Path | None) -> NDArray[np.uint64]:
    if folder is None:
        return np.zeros(shape, np.uint64)
    path = folder / f"{'x'.join(map(str, shape))}-{secrets.token_hex(8)}.planes"
    if hasattr(os, "posix_fallocate"):  # writing to a map of a file without room ends the process
        with path.open("xb") as file:
            os.posix_fallocate(file.fileno(), 0, max(8 * math.prod(shape), 1))
    words = np.memmap(path, np.uint64, "r+" if path.exists() else "w+", shape=shape)
    # The map keeps it as long as it is used. Windows removes no file that is: it goes with its
    # folder, and the next one of this shape is another one.
    with contextlib.suppress(PermissionError):
        path.unlink()
    return words


def _item_segments(
    rows: RowStore, known: Description
) -> tuple[list[Segment], list[float], list[int]]:
    """Segments with rows, the weight of a row of each, and how many they are."""
    found: list[tuple[Segment, float, int]] = []
    for label, distinct, counts in zip((-1, 1), known.weights, known.counts, strict=True):
        if rows.weighting == "none":
            assert counts is not None
            found.append((Segment(label, "all"), 1.0, int(counts.sum())))
        elif rows.weighting == "numbers":
            # A row that stands for 5 others, 1 + 4, is in the segment of each of these: exact, with
            # 16 segments whatever the numbers are.
            assert counts is not None
            numbers = distinct.astype(np.int64)
            for bit in range(16):
                n = int(counts[(numbers >> bit) & 1 == 1].sum())
                found.append((Segment(label, "bit", bit), float(1 << bit), n))
        elif len(distinct):
            classes = WeightClasses.of(distinct)
            if counts is None:
                classes = WeightClasses(distinct[[0, -1]], are_few=False)
            found += _weighed_segments(rows, label, classes)
    kept = [one for one in found if one[2]]
    return [one[0] for one in kept], [one[1] for one in kept], [one[2] for one in kept]


def _weighed_segments(
    rows: RowStore, label: int, classes: WeightClasses
) -> list[tuple[Segment, float, int]]:
    counts, sums = np.zeros((2, classes.n_classes))
    for part in rows.map(weigh_classes, label, classes):
        counts += part[0]
        sums += part[1]
    return [
        (Segment(label, "class", k, classes=classes), sums[k] / max(counts[k], 1.0), int(counts[k]))
        for k in range(classes.n_classes)
    ]


def weigh_classes(part: KernelRows, label: int, classes: WeightClasses) -> NDArray[np.float64]:
    """Count and weigh the rows of each class of weights."""
    own = part.weights[part.labels == label]
    numbers = classes.numbers(own)
    each = [own[numbers == k] for k in range(classes.n_classes)]
    return np.array([[len(weights) for weights in each], [weights.sum() for weights in each]])
