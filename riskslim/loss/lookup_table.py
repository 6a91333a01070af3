"""The loss of integer scores, from a table by score (Ustun & Rudin 2019, Section 4)."""

from __future__ import annotations

import copy
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import integer
from riskslim.data.packed import ReadColumns
from riskslim.data.store import KernelRows, RowStore
from riskslim.data.training_data import TrainingData
from riskslim.loss.form import losses_of_classes
from riskslim.rows.functions import MAX_POSITIONS, count_scores, put_gradient, slope_sum

__all__ = [
    "MAX_POSITIONS",
    "SMALLEST_MEAN_SLOPE",
    "LookupTable",
    "Span",
    "Sums",
    "loss_of_any_scores",
]

# Scores up to which a histogram of the whole table costs less than finding the scores' range.
_FEW_SCORES = 2**12

# Coefficients up to which 0/1 columns are counted by cells.
_MOST_COUNTED = 8

# Mean absolute slope of the rows above which fixed-point gradients are exact to 1e-12.
SMALLEST_MEAN_SLOPE = 2.0**-6

_Entry = TypeVar("_Entry", bound=np.generic)


class Span(NamedTuple):
    """Scores from ``low`` to ``high``, both included."""

    low: int
    high: int

    @property
    def width(self) -> int:
        """Number of scores."""
        return self.high - self.low + 1


class Sums(NamedTuple):
    """Sums over the rows: losses, and slopes d loss / d score of either class."""

    loss: float
    negative: float
    positive: float


class LookupTable:
    """Losses and slopes by score: slopes by score / scale, which are between -1 and 1.

    Sums over rows are not divided by their weight.

    Parameters
    ----------
    span : Span
        Scores of the table.
    scale : float
    rows : RowStore
        Rows that are summed over; of rows that are not in memory counts are,
        :meth:`sums_of_counts`.
    bits : ReadColumns, optional
        Of the same rows: counts scores of few 0/1 columns that are read often, from their cells.
    """

    def __init__(
        self, span: Span, scale: float, rows: RowStore, bits: ReadColumns | None = None
    ) -> None:
        self._bits = bits
        self.span = span
        self.scale = scale
        self._tail = np.empty(span.width)
        self._slope = np.empty((2, span.width))
        integer.fill_tables(span.low, scale, self._tail, self._slope)
        if isinstance(rows, KernelRows):
            self._use(rows)

    def on_rows(self, rows: KernelRows) -> LookupTable:
        """Return the same table for sums over other rows."""
        other = copy.copy(self)
        other._use(rows)
        return other

    def _use(self, rows: KernelRows) -> None:
        self._rows = rows
        self._fixed_point = self._fixed_point_slopes()

    def _fixed_point_slopes(self) -> NDArray[np.uint64] | None:
        """Fill the table of the fixed-point kernels, if they apply."""
        rows, width = self._rows, self.span.width
        counted = len(rows.numbers) > 0
        if (len(rows.weights) and not counted) or len(rows.real_index):
            return None
        if not 0 < 2 * width <= MAX_POSITIONS:
            return None
        fixed_point = np.empty((2, width), dtype=np.uint64)
        fill = integer.fill_fixed_point if counted else integer.fill_digits
        fill(self._slope, fixed_point)
        return fixed_point

    def covering(self, vector: NDArray[np.float64], data: TrainingData) -> Span | None:
        """Bound the scores of a vector; None if the table does not cover them.

        The table was proven for the coefficient set only. Whoever passes another vector must
        not read beyond it: the features' ranges bound the scores of any vector at hand.
        """
        if (vector != np.rint(vector)).any():
            return None
        coef = vector[1:]
        if coef[data.rows.real_index].any():
            return None
        a, b = coef * data.feature_min, coef * data.feature_max
        low = vector[0] + np.minimum(a, b).sum()
        high = vector[0] + np.maximum(a, b).sum()
        if low < self.span.low or high > self.span.high:
            return None
        return Span(int(low), int(high))

    def loss(
        self, rows: KernelRows, vector: NDArray[np.float64], span: Span, n_threads: int
    ) -> float:
        """Sum the losses of rows, the table's own or others."""
        return self._sums(rows, vector, span, n_threads).loss

    def _sums(
        self, rows: KernelRows, vector: NDArray[np.float64], span: Span, n_threads: int
    ) -> Sums:
        """Sum the losses of the rows, and their slopes per class, from a histogram."""
        low, width = span.low, span.width
        tables = self._part(span)
        if len(rows.weights) and not len(rows.numbers):
            total, error = np.zeros((2, 2, width))
            scored = (*rows.integer_scored(vector), rows.labels)
            integer.weighted_histogram(*scored, rows.weights, low, total, error, n_threads)
            return Sums(*integer.weighted_histogram_loss(total, error, *tables))
        counts = np.zeros((1, 2, width), dtype=np.int64)
        # By bits the same counts come at a tenth of the cost.
        if not self._counted_by_bits(rows, vector, low, counts[0], n_threads):
            counts = count_scores(rows, vector, low, width, n_threads)
        return Sums(*integer.histogram_loss(counts, *tables))

    def sums_of_counts(self, counts: NDArray[np.int64] | NDArray[np.float64], low: int) -> Sums:
        """Sum losses and slopes of rows that are counted already.

        Parameters
        ----------
        counts : ndarray of int64 or float64, shape (2, width)
            Numbers or weights of the rows of either class at the scores ``low``, ``low`` + 1, ...,
            all of them in the table.
        low : int

        Returns
        -------
        Sums
        """
        tables = self._part(Span(low, low + counts.shape[1] - 1))
        if counts.dtype == np.int64:
            numbers = counts[None].astype(np.int64, copy=False)
            return Sums(*integer.histogram_loss(numbers, *tables))
        weights = np.ascontiguousarray(counts, np.float64)
        return Sums(*integer.weighted_histogram_loss(weights, np.zeros(counts.shape), *tables))

    def _counted_by_bits(
        self,
        rows: KernelRows,
        vector: NDArray[np.float64],
        low: int,
        counts: NDArray[np.int64],
        n_threads: int,
    ) -> bool:
        if self._bits is None or self._bits.rows is not rows:
            return False
        points = vector[1 + rows.integer_index]
        slots = np.flatnonzero(points)
        if not 0 < len(slots) <= _MOST_COUNTED:
            return False
        first = np.concatenate(([vector[0] - low], points[slots])).astype(np.int64)
        return self._bits.count(slots, first, counts, n_threads)

    def loss_and_gradient(
        self, vector: NDArray[np.float64], span: Span, n_threads: int
    ) -> tuple[float, NDArray[np.float64]]:
        """Sum the losses of the rows, and slope times feature: intercept, integers, reals."""
        by_column, rows = np.zeros(vector.size), self._rows
        if self._fixed_point is not None:
            slopes = self._cut(self._fixed_point, span)
            counts, digits = slope_sum(rows, vector, span.low, slopes, n_threads)
            sums = Sums(*integer.histogram_loss(counts, *self._part(span)))
            # The digits of a slope stop at 2^-47: exact to 1e-12 unless slopes are tiny.
            if sums.negative - sums.positive > SMALLEST_MEAN_SLOPE * rows.n_samples:
                put_gradient(digits, by_column[1:])
                by_column[0] = sums.negative + sums.positive
                return sums.loss, by_column
        else:
            sums = self._sums(rows, vector, span, n_threads)
        error = np.zeros(vector.size)
        integer.gradient(
            *rows.integer_scored(vector),
            rows.real_row_tiles,
            rows.labels,
            rows.weights,
            span.low,
            self._cut(self._slope, span),
            by_column[1:],
            error[1:],
            n_threads,
        )
        by_column += error
        by_column[0] = sums.negative + sums.positive
        return sums.loss, by_column

    def counts_by_class(
        self, vector: NDArray[np.float64], span: Span, n_threads: int
    ) -> NDArray[np.int64] | None:
        """Count the rows of the negative and the positive class at each score of ``span``.

        Returns
        -------
        ndarray of int64, shape (2, span.width), or None
            None if rows have weights, or if there are too many scores to count by.
        """
        rows = self._rows
        if len(rows.weights) or 2 * span.width >= MAX_POSITIONS:
            return None
        counts = np.zeros((integer.n_copies(), 2, span.width), dtype=np.int64)
        integer.count_scores(*rows.integer_scored(vector), rows.labels, span.low, counts, n_threads)
        return np.asarray(counts.sum(axis=0))

    def loss_of_scores(
        self, rows: KernelRows, scores: NDArray[np.int32], n_threads: int
    ) -> float | None:
        """Sum the losses of given scores, if the table has few entries and covers all of them."""
        if self.span.width > _FEW_SCORES:
            return None
        return _loss_of_scores(
            rows, scores, self.span.low, self.scale, self._tail, self._slope, n_threads
        )

    def _part(self, span: Span) -> tuple[int, float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the part of the table that turns a histogram of ``span`` into a loss."""
        return span.low, self.scale, self._cut(self._tail, span), self._cut(self._slope, span)

    def _cut(self, table: NDArray[_Entry], span: Span) -> NDArray[_Entry]:
        first = span.low - self.span.low
        return np.ascontiguousarray(table[..., first : first + span.width])


def loss_of_any_scores(
    rows: KernelRows, scores: NDArray[np.int32], scale: float, n_threads: int
) -> float | None:
    """Sum the losses of given scores by a table of their own; None if it would be too large."""
    span = Span(int(scores.min()), int(scores.max()))
    if 2 * span.width > MAX_POSITIONS:
        return None
    tail, slope = np.empty(span.width), np.empty((2, span.width))
    integer.fill_tables(span.low, scale, tail, slope)
    return _loss_of_scores(rows, scores, span.low, scale, tail, slope, n_threads)


def _loss_of_scores(
    rows: KernelRows,
    scores: NDArray[np.int32],
    low: int,
    scale: float,
    tail: NDArray[np.float64],
    slope: NDArray[np.float64],
    n_threads: int,
) -> float | None:
    """Sum the losses of given scores; None if any of them is outside of the table."""
    outside = np.zeros(1, dtype=np.int64)
    if len(rows.weights):
        losses = losses_of_classes(low, scale, tail)
        total = integer.given_loss(
            scores, rows.labels, rows.weights, low, losses, outside, n_threads
        )
        return None if outside[0] else total
    counts = np.zeros((integer.n_copies(), 2, len(tail)), dtype=np.int64)
    integer.count_given(scores, rows.labels, low, counts, outside, n_threads)
    if outside[0]:
        return None
    return integer.histogram_loss(counts, low, scale, tail, slope)[0]
