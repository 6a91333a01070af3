r"""Rows of 0/1 items as bits, for tables of supports.

A column of two values, whatever they are, is an item: one bit per row. Rows are put into segments
of one class and one power of two, so that counts of bits become sums of weights: a row that
stands for :math:`c = \sum_i 2^{s_i}` rows is in each of the segments :math:`s_i`. Weights that are
no multiples of one number are rounded down to multiples of one. Losses and the bound h grow with
every weight, so that what is computed of smaller ones stays a lower bound.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim.data.panels import read_column

if TYPE_CHECKING:
    from riskslim.loss.logistic import LogisticLoss

__all__ = ["TableItems", "binary_features"]

# Counts are 32-bit integers.
MOST_ROWS = 2**31 - 1
# Weights are taken to be multiples of one number where they are to within this share.
SAME = 1e-10
# Denominators of fractions of the least weight that are tried.
DENOMINATORS = range(1, 13)
# Multiples of the unit that the mean weight is otherwise rounded down to.
RESOLUTION = 2**12
# Units are made smaller by this much: products with them may not be rounded up.
UNIT_SLACK = 4e-16
# Cells that words of a segment are likely to be divided among when its number of words matters.
_TYPICAL_CELLS = 8
_WORD = 64


def binary_features(
    loss: LogisticLoss, should_stop: Callable[[], bool] = lambda: False
) -> NDArray[np.bool_]:
    """Find the features that have exactly two values in the rows.

    Parameters
    ----------
    loss : LogisticLoss
    should_stop : callable, optional
        Asked between columns; features that are not looked at after True are not found.

    Returns
    -------
    bool array of shape (d,)
    """
    low, high = loss.data.feature_min, loss.data.feature_max
    found = np.zeros(len(low), np.bool_)
    rows = loss.rows
    for k, j in enumerate(rows.integer_index):
        if should_stop():
            return found
        found[j] = high[j] - low[j] == 1 or _has_two_values(rows.integer_columns[:, k])
    for k, j in enumerate(rows.real_index):
        if should_stop():
            return found
        found[j] = _has_two_values(read_column(rows.real_panels, k, 0, rows.n_rows))
    return found


def _has_two_values(column: NDArray[np.generic]) -> bool:
    low, high = column.min(), column.max()
    return bool(low != high and ((column == low) | (column == high)).all())


@dataclasses.dataclass(frozen=True, eq=False)
class TableItems:
    """Columns of two values, packed.

    Attributes
    ----------
    features : int64 array of shape (m,)
        Features of the items.
    words : uint64 array of shape (ceil(m / 8), number of words, 8)
        Bits; items side by side in groups of eight.
    bits, labels, shifts : int64 arrays of shape (number of segments,)
        Rows of each segment, their class (1 or 0), and the power of two that each stands for.
    unit : float64 array of shape (2,)
        Weight of one row by class; all rows' add up to at most 1.
    value : float64 array of shape (m, 2)
        What the bit stands for.
    """

    features: NDArray[np.int64]
    words: NDArray[np.uint64]
    bits: NDArray[np.int64]
    labels: NDArray[np.int64]
    shifts: NDArray[np.int64]
    unit: NDArray[np.float64]
    value: NDArray[np.float64]

    @property
    def n_words(self) -> int:
        """Words of each item."""
        return int(self.words.shape[1])

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
            Each with two values, in the order of the items.
        should_stop : callable, optional
            Asked between features; True ends the work.

        Returns
        -------
        TableItems or None
            None if the work was to end.
        """
        rows = loss.rows
        weights = rows.weights if len(rows.weights) else np.ones(rows.n_rows)
        index, bits, labels, shifts, unit = [], [], [], [], np.zeros(2)
        for label in (0, 1):
            own = np.flatnonzero(((rows.labels > 0) == bool(label)) & (weights > 0))
            if not own.size:
                continue
            multiples, step = _multiples(weights[own])
            unit[label] = step / rows.total_weight * (1.0 - UNIT_SLACK)
            for shift, chosen in _segments(own, multiples):
                index.append(chosen)
                bits.append(len(chosen))
                labels.append(label)
                shifts.append(shift)
        n_words = sum(-(-n // _WORD) for n in bits)
        words = np.zeros((-(-len(features) // 8), n_words, 8), np.uint64)
        value = np.empty((len(features), 2))
        slot = {int(j): ("integer", k) for k, j in enumerate(rows.integer_index)}
        slot |= {int(j): ("real", k) for k, j in enumerate(rows.real_index)}
        for i, j in enumerate(features.tolist()):
            if should_stop():
                return None
            kind, k = slot[j]
            if kind == "integer":
                column: NDArray[np.generic] = rows.integer_columns[:, k]
            else:
                column = read_column(rows.real_panels, k, 0, rows.n_rows)
            value[i] = column.min(), column.max()
            words[i // 8, :, i % 8] = _packed(column == column.max(), index)
        return cls(
            features.astype(np.int64), words, np.array(bits, np.int64),
            np.array(labels, np.int64), np.array(shifts, np.int64), unit, value,
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
        words = np.zeros((-(-len(items) // 8), self.n_words, 8), np.uint64)
        for i, item in enumerate(items.tolist()):
            words[i // 8, :, i % 8] = self.words[item // 8, :, item % 8]
        return dataclasses.replace(
            self, features=self.features[items], words=words, value=self.value[items]
        )


def _multiples(weights: NDArray[np.float64]) -> tuple[NDArray[np.int64], float]:
    """Whole numbers and a step, so that each weight is at least its number of steps."""
    least, total = float(weights.min()), float(weights.sum())
    for denominator in DENOMINATORS:
        step = least / denominator
        if not total < step * MOST_ROWS:
            break
        multiples = np.rint(weights / step)
        error = float(np.max(np.abs(multiples * step - weights) / weights))
        if error <= SAME:
            return multiples.astype(np.int64), step * (1.0 - error - UNIT_SLACK)
    step = max(total / len(weights) / RESOLUTION, total / MOST_ROWS)
    multiples = np.floor(weights / step * (1.0 - 1e-15))
    return multiples.astype(np.int64), step * (1.0 - UNIT_SLACK)


def _segments(
    rows: NDArray[np.intp], multiples: NDArray[np.int64]
) -> list[tuple[int, NDArray[np.intp]]]:
    """Powers of two and their rows: as many powers as make the fewest words.

    The largest power is that of rows which are listed as often as they stand for it.
    """
    most = int(multiples.max()).bit_length()

    def n_words(top: int) -> float:
        sizes = [int((multiples >> s & 1).sum()) for s in range(top)]
        sizes.append(int((multiples >> top).sum()))
        return sum(n / _WORD + 0.5 * min(_TYPICAL_CELLS, n) for n in sizes if n)

    top = min(range(most), key=n_words) if most else 0
    found = [(s, rows[(multiples >> s & 1) > 0]) for s in range(top)]
    found.append((top, np.repeat(rows, multiples >> top)))
    return [(shift, chosen) for shift, chosen in found if chosen.size]


def _packed(column: NDArray[np.bool_], index: list[NDArray[np.intp]]) -> NDArray[np.uint64]:
    """Bits of a column, each segment from a new word on."""
    parts = []
    for chosen in index:
        room = np.zeros(-(-len(chosen) // _WORD) * _WORD, np.bool_)
        room[: len(chosen)] = column[chosen]
        parts.append(np.packbits(room, bitorder="little").view("<u8"))
    return np.concatenate(parts).astype(np.uint64)
