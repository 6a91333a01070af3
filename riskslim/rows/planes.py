r"""Columns as bits, packed part by part.

What is wanted is a :class:`BitPlan`: which values are 1 in which plane, and how rows are put into
segments (by class, and by what they weigh). Each part is packed where it is; the bits of the parts
then follow each other without a gap, so that the result is the same whatever the parts are, and no
array has an entry per row.
"""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import supports as kernels
from riskslim.data.packed import LINE, MAX_VALUES, PackedItems, WeightClasses, distinct_values
from riskslim.data.panels import read_column
from riskslim.data.store import KernelRows
from riskslim.rows.base import PartitionedRows

__all__ = [
    "BitPlan",
    "Description",
    "Segment",
    "described",
    "fill_bits",
    "pack_items",
    "values_of_features",
]

_WORD = 64
# Weights of rows of one class that are told apart.
_MOST_WEIGHTS = 2**16
_N_NUMBERS = 2**16


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
        count once. Where there are more than 65536, the least and the largest one.
    counts : list of ndarray of int64 or None, length 2
        Rows of each of them; None where not all are there.
    """

    values: list[NDArray[np.float64] | None]
    weights: list[NDArray[np.float64]]
    counts: list[NDArray[np.int64] | None]

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
        return Description(values, weights, counts)


def _joined_weights(
    weights: tuple[NDArray[np.float64], NDArray[np.float64]],
    counts: tuple[NDArray[np.int64] | None, NDArray[np.int64] | None],
) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    first, second = counts
    both, inverse = np.unique(np.concatenate(weights), return_inverse=True)
    if first is None or second is None or len(both) > _MOST_WEIGHTS:
        return both[[0, -1]], None
    total = np.zeros(len(both), np.int64)
    np.add.at(total, inverse, np.concatenate((first, second)))
    return both, total


def describe_part(part: KernelRows) -> Description:
    """Look at the values and the weights of a part.

    Parameters
    ----------
    part : KernelRows

    Returns
    -------
    Description
    """
    d = len(part.integer_index) + len(part.real_index)
    values: list[NDArray[np.float64] | None] = [None] * d
    for k, j in enumerate(part.integer_index.tolist()):
        found = distinct_values(part.integer_columns[:, k])
        values[j] = None if found is None else found.astype(np.float64)
    for k, j in enumerate(part.real_index.tolist()):
        values[j] = distinct_values(read_column(part.real_panels, k, 0, part.n_rows))
    weights: list[NDArray[np.float64]] = []
    counts: list[NDArray[np.int64] | None] = []
    for label in (-1, 1):
        own = part.labels == label
        if len(part.numbers):
            n = np.bincount(part.numbers[own], minlength=_N_NUMBERS)
            met = np.flatnonzero(n)
            weights.append(met.astype(np.float64))
            counts.append(n[met])
        elif len(part.weights):
            distinct, n = np.unique(part.weights[own], return_counts=True)
            few = len(distinct) <= _MOST_WEIGHTS
            weights.append(distinct if few else distinct[[0, -1]])
            counts.append(n if few else None)
        else:
            n_own = int(np.count_nonzero(own))
            weights.append(np.ones(min(n_own, 1)))
            counts.append(np.full(min(n_own, 1), n_own, np.int64))
    return Description(values, weights, counts)


def described(rows: PartitionedRows) -> Description:
    """Look at the values and weights of all rows, once.

    Parameters
    ----------
    rows : PartitionedRows

    Returns
    -------
    Description
    """
    known = rows.known.get("description")
    if not isinstance(known, Description):
        found: Description | None = None
        for part in rows.map(describe_part):
            found = part if found is None else found.joined(part)
        assert found is not None
        rows.known["description"] = known = found
    return known


def values_of_features(rows: PartitionedRows, usable: NDArray[np.bool_]) -> list[int]:
    """Name the integer features of few values among those that matter."""
    known = described(rows).values
    return [j for j in rows.integer_index.tolist() if usable[j] and known[j] is not None]


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
        Of which weights are multiples; they are rounded down.
    classes : WeightClasses, optional
    """

    label: int
    kind: Literal["all", "bit", "repeated", "class"]
    number: int = 0
    step: float = 1.0
    classes: WeightClasses | None = None

    def rows_of(self, part: KernelRows) -> NDArray[np.intp]:
        """Rows of a part that belong to it, in their order.

        Parameters
        ----------
        part : KernelRows

        Returns
        -------
        ndarray of intp
        """
        own: NDArray[np.intp] = np.flatnonzero(part.labels == self.label)
        if self.kind == "all":
            return own
        if self.kind == "class":
            assert self.classes is not None
            return own.compress(self.classes.numbers(part.weights[own]) == self.number)
        multiples = self.multiples(part, own)
        if self.kind == "bit":
            return own.compress((multiples >> self.number) & 1 == 1)
        return np.repeat(own, multiples >> self.number)

    def multiples(self, part: KernelRows, own: NDArray[np.intp]) -> NDArray[np.int64]:
        """Whole numbers of the step that rows weigh."""
        if len(part.numbers) and self.step == 1.0:
            return part.numbers[own].astype(np.int64)
        weights = part.weights[own] if len(part.weights) else np.ones(len(own))
        return multiples_of(weights, self.step)


def multiples_of(weights: NDArray[np.float64], step: float) -> NDArray[np.int64]:
    """Whole numbers of a step: the nearest where that is next to nothing off, else rounded down.

    Parameters
    ----------
    weights : ndarray of float64
    step : float

    Returns
    -------
    ndarray of int64
    """
    nearest = np.rint(weights / step)
    is_near = np.abs(nearest * step - weights) <= 1e-10 * weights
    down = np.floor(weights / step * (1.0 - 1e-15))
    return np.where(is_near, nearest, down).astype(np.int64)


class BitPlan(NamedTuple):
    """Planes and segments.

    Parameters
    ----------
    features : tuple of int
        Feature of each plane.
    ones : tuple of tuple of float
        Its values that are 1 there.
    segments : tuple of Segment
    """

    features: tuple[int, ...]
    ones: tuple[tuple[float, ...], ...]
    segments: tuple[Segment, ...]


def pack_part(part: KernelRows, plan: BitPlan) -> list[tuple[int, NDArray[np.uint64]]]:
    """Pack a part.

    Parameters
    ----------
    part : KernelRows
    plan : BitPlan

    Returns
    -------
    list of (int, ndarray of uint64 of shape (number of planes, number of words))
        For each segment its rows, and their bits.
    """
    alone, others = _single_values(part, plan)
    found = []
    for segment in plan.segments:
        rows = segment.rows_of(part)
        order = np.full(-(-len(rows) // _WORD) * _WORD, -1, np.int64)
        order[: len(rows)] = rows
        words = np.zeros((len(plan.features), len(order) // _WORD), np.uint64)
        if len(rows) and len(alone.planes):
            bits = np.empty((len(alone.planes), words.shape[1]), np.uint64)
            kernels.pack_planes(part.integer_columns, alone.slots, alone.values, order, bits)
            words[alone.planes] = bits
        for p, is_one in others if len(rows) else ():
            room = np.zeros(len(order), np.bool_)
            room[: len(rows)] = is_one[rows]
            words[p] = np.packbits(room, bitorder="little").view("<u8")
        found.append((len(rows), words))
    return found


class _Alone(NamedTuple):
    """Planes of one value of an integer column."""

    planes: NDArray[np.int64]
    slots: NDArray[np.int64]
    values: NDArray[np.int8]


def _single_values(
    part: KernelRows, plan: BitPlan
) -> tuple[_Alone, list[tuple[int, NDArray[np.bool_]]]]:
    """Planes that a kernel can pack, and for the others the rows in which they are 1."""
    slot = {j: k for k, j in enumerate(part.integer_index.tolist())}
    of_plane = list(zip(plan.features, plan.ones, strict=True))
    alone = [p for p, (j, ones) in enumerate(of_plane) if j in slot and len(ones) == 1]
    others = [
        (p, _is_one(part, j, ones))
        for p, (j, ones) in enumerate(of_plane)
        if j not in slot or len(ones) != 1
    ]
    return (
        _Alone(
            np.array(alone, np.int64),
            np.array([slot[of_plane[p][0]] for p in alone], np.int64),
            np.array([of_plane[p][1][0] for p in alone], np.int8),
        ),
        others,
    )


def _is_one(part: KernelRows, j: int, ones: tuple[float, ...]) -> NDArray[np.bool_]:
    k = int(np.searchsorted(part.integer_index, j))
    if k < len(part.integer_index) and part.integer_index[k] == j:
        table = np.zeros(256, np.bool_)
        table[np.array(ones, np.int8).view(np.uint8)] = True
        return np.asarray(table[part.integer_columns[:, k].view(np.uint8)])
    k = int(np.searchsorted(part.real_index, j))
    return np.isin(read_column(part.real_panels, k, 0, part.n_rows), ones)


def fill_bits(
    rows: PartitionedRows,
    plan: BitPlan,
    planes: list[NDArray[np.uint64]],
    first_word: Iterable[int],
) -> NDArray[np.int64]:
    """Pack all rows.

    Parameters
    ----------
    rows : PartitionedRows
    plan : BitPlan
    planes : list of ndarray of uint64, shape (number of words,)
        One for each plane, zero; filled. Segments begin at their first words.
    first_word : iterable of int

    Returns
    -------
    ndarray of int64
        Rows of each segment.
    """
    begin = list(first_word)
    n_rows = np.zeros(len(plan.segments), np.int64)
    for part in rows.map(pack_part, plan):
        for s, (n, words) in enumerate(part):
            if n:
                _append(planes, begin[s], int(n_rows[s]), words)
                n_rows[s] += n
    return n_rows


def _append(
    planes: list[NDArray[np.uint64]], begin: int, n_before: int, words: NDArray[np.uint64]
) -> None:
    """Put bits behind those that are there."""
    at, shift = divmod(n_before, _WORD)
    at += begin
    m = words.shape[1]
    if not shift:
        for plane, more in zip(planes, words, strict=True):
            plane[at : at + m] = more
        return
    here, beyond = words << np.uint64(shift), words >> np.uint64(_WORD - shift)
    for plane, low, high in zip(planes, here, beyond, strict=True):
        plane[at : at + m] |= low
        # Of the last word nothing need go on, and there need not be a word for it.
        last = m if high[-1] else m - 1
        plane[at + 1 : at + 1 + last] |= high[:last]


def pack_items(
    rows: PartitionedRows, usable: NDArray[np.bool_], folder: Path | None = None
) -> PackedItems | None:
    """Pack the integer columns of few values, as :func:`riskslim.data.packed.pack` does.

    Parameters
    ----------
    rows : PartitionedRows
    usable : ndarray of bool, shape (d,)
        Features that matter.
    folder : Path, optional
        Where the planes are put, in a file that is mapped. Default: in memory.

    Returns
    -------
    PackedItems or None
        None if no column that matters has at most :data:`~riskslim.data.packed.MAX_VALUES` values.
    """
    features = values_of_features(rows, usable)
    if not features:
        return None
    known = described(rows)
    base, values, plane_features = [], [], []
    for j in features:
        found = known.values[j]
        assert found is not None
        listed = [int(value) for value in found]
        base.append(0 if 0 in listed else listed[0])
        values.append([value for value in listed if value != base[-1]])
        plane_features += [j] * len(values[-1])
    flat = [value for each in values for value in each]
    segments, weights, n_rows = _item_segments(rows)
    words = -(-n_rows // (_WORD * LINE)) * LINE
    first_word = np.concatenate(([0], np.cumsum(words))).astype(np.int64)
    shape = (len(flat), int(first_word[-1]))
    planes = _empty_planes(shape, folder)
    plan = BitPlan(tuple(plane_features), tuple((float(v),) for v in flat), tuple(segments))
    fill_bits(rows, plan, list(planes), first_word[:-1].tolist())
    valid = np.zeros(shape[1], np.uint64)
    for begin, n in zip(first_word.tolist(), n_rows.tolist(), strict=False):
        whole, rest = divmod(n, _WORD)
        valid[begin : begin + whole] = ~np.uint64(0)
        if rest:
            valid[begin + whole] = (np.uint64(1) << np.uint64(rest)) - np.uint64(1)
    return PackedItems(
        features=np.array(features, np.int64),
        first=np.cumsum([0, *(len(each) for each in values)]),
        values=np.array(flat, np.int64),
        base=np.array(base, np.int64),
        planes=planes,
        valid=valid,
        first_word=first_word,
        n_rows=n_rows,
        side=np.array([segment.label > 0 for segment in segments], np.int64),
        weight=weights / rows.total_weight,
    )


def _empty_planes(shape: tuple[int, int], folder: Path | None) -> NDArray[np.uint64]:
    if folder is None:
        return np.zeros(shape, np.uint64)
    path = folder / f"{shape[0]}x{shape[1]}-{secrets.token_hex(8)}.planes"
    planes = np.memmap(path, np.uint64, "w+", shape=shape)
    # The map keeps it as long as it is used. Windows removes no file that is: it goes with its
    # folder, and the next one of this shape is another one.
    with contextlib.suppress(PermissionError):
        path.unlink()
    return planes


def _item_segments(
    rows: PartitionedRows,
) -> tuple[list[Segment], NDArray[np.float64], NDArray[np.int64]]:
    """Segments with rows, the weight of a row of each, and how many they are."""
    known = described(rows)
    segments: list[Segment] = []
    weights: list[float] = []
    n_rows: list[int] = []
    for side, label in enumerate((-1, 1)):
        distinct, counts = known.weights[side], known.counts[side]
        if rows.weighting == "none":
            found = [(Segment(label, "all"), 1.0, int(counts.sum()) if counts is not None else 0)]
        elif rows.weighting == "numbers":
            assert counts is not None
            numbers = distinct.astype(np.int64)
            found = [
                (Segment(label, "bit", bit), float(1 << bit),
                 int(counts[(numbers >> bit) & 1 == 1].sum()))
                for bit in range(16)
            ]  # fmt: skip
        else:
            found = _weighed_segments(rows, label, distinct)
        for segment, weight, n in found:
            if n:
                segments.append(segment)
                weights.append(weight)
                n_rows.append(n)
    return segments, np.array(weights), np.array(n_rows, np.int64)


def _weighed_segments(
    rows: PartitionedRows, label: int, distinct: NDArray[np.float64]
) -> list[tuple[Segment, float, int]]:
    if not len(distinct):
        return []
    classes = WeightClasses.of(distinct)
    if len(distinct) == 2 and described(rows).counts[int(label > 0)] is None:
        classes = WeightClasses(distinct, are_few=False)
    counts, sums = np.zeros((2, classes.n_classes))
    for n, total in rows.map(weigh_classes, label, classes):
        counts += n
        sums += total
    return [
        (Segment(label, "class", k, classes=classes), sums[k] / max(counts[k], 1.0), int(counts[k]))
        for k in range(classes.n_classes)
    ]


def weigh_classes(
    part: KernelRows, label: int, classes: WeightClasses
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Count and weigh the rows of each class of weights."""
    own = part.weights[part.labels == label]
    numbers = classes.numbers(own)
    counts = np.bincount(numbers, minlength=classes.n_classes).astype(np.float64)
    sums = np.bincount(numbers, own, minlength=classes.n_classes).astype(np.float64)
    return counts, sums
