"""The loss on rows in parts: several vectors share one pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import real
from riskslim._kernels import supports as cells
from riskslim.loss.evaluators import Evaluator, shares_of_counts
from riskslim.loss.lookup_table import MAX_POSITIONS, SMALLEST_MEAN_SLOPE, LookupTable, Span
from riskslim.rows import functions
from riskslim.rows.base import PartitionedRows

if TYPE_CHECKING:
    from riskslim.data.packed import PackedItems
    from riskslim.data.training_data import TrainingData

__all__ = ["PartsEvaluator"]

_Array = NDArray[np.float64]

# Bytes of histograms that one pass fills.
_HISTOGRAM_BYTES = 2**26


class PartsEvaluator(Evaluator):
    """Evaluates the loss on rows in parts.

    Parameters
    ----------
    data : TrainingData
    rows : PartitionedRows
    table : LookupTable or None
    scale : float
    n_threads : int
    should_stop : callable or None
    packed : PackedItems, optional
        Items of the same rows: vectors on few of them need no pass. Rows with weights are put
        together there, so that it is not used for them.
    """

    rows: PartitionedRows

    def __init__(
        self,
        data: TrainingData,
        rows: PartitionedRows,
        table: LookupTable | None,
        scale: float,
        n_threads: int,
        should_stop: Callable[[], bool] | None,
        packed: PackedItems | None = None,
    ) -> None:
        used = rows.used_by(n_threads, should_stop)
        super().__init__(data, used, table, scale, n_threads, should_stop)
        self._packed = None if rows.has_weights else packed
        self._item = (
            {} if packed is None else {int(j): i for i, j in enumerate(packed.features.tolist())}
        )

    def values(self, points: _Array) -> _Array:
        """Losses of several vectors, in one pass; see :meth:`Evaluator.values`."""
        found = np.empty(len(points))
        spans = [self._span(point) for point in points]
        counted: list[int] = []
        others: list[int] = []
        for k, span in enumerate(spans):
            if span is None:
                others.append(k)
                continue
            counts = self._counted_by_cells(points[k], span)
            if counts is None:
                counted.append(k)
            else:
                found[k] = self._loss(counts, span.low)
        for group, low, width in _grouped(counted, spans):
            histograms = self.rows.histogram(np.rint(points[group]).astype(np.int64), low, width)
            for k, counts in zip(group, histograms, strict=True):
                found[k] = self._loss(counts, low)
        if others:
            found[others] = self.rows.values(points[others], self.scale)
        return found

    def _loss(self, counts: NDArray[np.int64] | _Array, low: int) -> float:
        assert self.table is not None
        return self.table.sums_of_counts(counts, low).loss / self.rows.total_weight

    def _counted_by_cells(self, point: _Array, span: Span) -> NDArray[np.int64] | None:
        """Count the rows of each score from the cells of packed items; None if they cannot."""
        if self._packed is None:
            return None
        used = np.flatnonzero(point[1:]).tolist()
        if not all(j in self._item for j in used):
            return None
        items = tuple(self._item[j] for j in used)
        if len(self._packed.planes_of(items)) > cells.most_planes():
            return None
        found = self._packed.cells(items)
        # Sums of shares of whole numbers: far nearer to these than half a row.
        numbers = np.rint(found.weights * self.rows.total_weight).astype(np.int64)
        coef = np.rint(point[[0, *(1 + j for j in used)]]).astype(np.int64)
        scores = coef @ found.x - span.low
        counts = np.zeros((2, span.width), np.int64)
        for side in (0, 1):
            np.add.at(counts[side], scores, numbers[side])
        return counts

    def values_and_gradients(self, points: _Array) -> tuple[_Array, _Array]:
        """The same with gradients; see :meth:`Evaluator.values_and_gradients`."""
        rows = self.rows
        values, gradients = np.empty(len(points)), np.zeros(points.shape)
        spans: list[Span | None] = [None] * len(points)
        if not rows.has_weights and not len(rows.real_index):
            spans = [self._span(point) for point in points]
        exact = [k for k, span in enumerate(spans) if span is not None]
        others = [k for k, span in enumerate(spans) if span is None]
        for group, low, width in _grouped(exact, spans, MAX_POSITIONS // 2):
            whole = np.rint(points[group]).astype(np.int64)
            if 2 * width > MAX_POSITIONS:
                others += group
                continue
            counts, digits = rows.slope_sums(whole, low, width, self.scale)
            for k, of_point, of_columns in zip(group, counts, digits, strict=True):
                assert self.table is not None
                sums = self.table.sums_of_counts(of_point, low)
                if not sums.negative - sums.positive > SMALLEST_MEAN_SLOPE * rows.n_samples:
                    others.append(k)  # the digits of slopes stop too early
                    continue
                values[k] = sums.loss
                gradients[k, 0] = sums.negative + sums.positive
                functions.put_gradient(of_columns, gradients[k, 1:])
        values /= rows.total_weight
        gradients /= rows.total_weight
        gradients /= self.scale
        if others:
            values[others], gradients[others] = rows.values_and_gradients(
                points[others], self.scale
            )
        return values, gradients

    def along_scales(self, point: _Array) -> Callable[[float], tuple[float, float, float]]:
        """Loss by scale; see :meth:`Evaluator.along_scales`."""
        distribution = self._distribution(point)
        if distribution is None:
            return lambda t: self._scale_derivatives(point, t)
        scores, positive, negative = distribution
        return lambda t: real.scale_derivatives(scores, positive, negative, t)

    def _scale_derivatives(self, point: _Array, t: float) -> tuple[float, float, float]:
        """Loss of a vector at the scale 1 / t, and its derivatives by t."""
        sums = np.zeros(3)
        for part in self.rows.map(functions.scale_derivatives, point, self.rows.total_weight, t):
            sums += part
        return float(sums[0]), float(sums[1]), float(sums[2])

    def _distribution(self, point: _Array) -> tuple[_Array, _Array, _Array] | None:
        """Scores, and weights of the positive and the negative class at each, which add up to 1.

        None where scores are too many to be counted.
        """
        span = self._span(point)
        if span is None:
            return None
        counts = self._counted_by_cells(point, span)
        if counts is None:
            whole = np.rint(point[None]).astype(np.int64)
            counts = self.rows.histogram(whole, span.low, span.width)[0]
        return shares_of_counts(counts, self.rows.total_weight, span.low)

    def reference_sum(self, point: _Array) -> float:
        """Sum of the losses of all rows; see :meth:`Evaluator.reference_sum`."""
        return self.rows.reference_sum(point, self.scale)


def _grouped(
    chosen: list[int], spans: list[Span | None], widest: int | None = None
) -> list[tuple[list[int], int, int]]:
    """Vectors whose histograms are filled by one pass, their common first score and width.

    A vector that would make the span wider than ``widest`` begins a group.
    """
    groups: list[tuple[list[int], int, int]] = []
    for k in chosen:
        span = spans[k]
        assert span is not None
        if groups:
            group, low, width = groups[-1]
            first, last = min(low, span.low), max(low + width - 1, span.high)
            wide = last - first + 1
            fits = widest is None or wide <= widest
            if fits and 16 * wide * (len(group) + 1) <= _HISTOGRAM_BYTES:
                groups[-1] = [*group, k], first, wide
                continue
        groups.append(([k], span.low, span.width))
    return groups
