"""Evaluation of the loss on a store of rows: what a loss asks of its rows, and the answers of one.

:class:`~riskslim.loss.logistic.LogisticLoss` asks an :class:`Evaluator`, whatever its rows are.
:class:`BlockEvaluator` answers from a block in memory, whose rows threads share;
:class:`~riskslim.loss.parts.PartsEvaluator` from blocks that threads or workers share, in one pass
for several vectors.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import real
from riskslim.loss.lookup_table import LookupTable, Span
from riskslim.loss.reference import reference_sum
from riskslim.rows import functions

if TYPE_CHECKING:
    from riskslim.data.store import KernelRows, RowStore
    from riskslim.data.training_data import TrainingData

__all__ = ["BlockEvaluator", "Evaluator", "shares_of_counts"]

_Array = NDArray[np.float64]


class Evaluator(abc.ABC):
    """Evaluates the loss of vectors, at one scale.

    Parameters
    ----------
    data : TrainingData
    rows : RowStore
        That evaluations read: all rows of the data, the distinct ones, or some.
    table : LookupTable or None
    scale : float
    n_threads : int
    should_stop : callable, optional
        Asked between blocks.
    """

    def __init__(
        self,
        data: TrainingData,
        rows: RowStore,
        table: LookupTable | None,
        scale: float,
        n_threads: int,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        self.data = data
        self.rows = rows
        self.table = table
        self.scale = scale
        self.n_threads = n_threads
        self.should_stop = should_stop

    @abc.abstractmethod
    def values(self, points: _Array) -> _Array:
        """Losses of several vectors.

        Parameters
        ----------
        points : ndarray of float64, shape (b, d + 1)

        Returns
        -------
        ndarray of float64, shape (b,)
        """

    @abc.abstractmethod
    def values_and_gradients(self, points: _Array) -> tuple[_Array, _Array]:
        """Losses of several vectors, and their gradients.

        Parameters
        ----------
        points : ndarray of float64, shape (b, d + 1)

        Returns
        -------
        values : ndarray of float64, shape (b,)
        gradients : ndarray of float64, shape (b, d + 1)
        """

    def value(self, point: _Array) -> float:
        """Loss of a vector.

        Parameters
        ----------
        point : ndarray of float64, shape (d + 1,)

        Returns
        -------
        float
        """
        return float(self.values(point[np.newaxis])[0])

    def value_and_gradient(self, point: _Array) -> tuple[float, _Array]:
        """Loss of a vector, and its gradient.

        Parameters
        ----------
        point : ndarray of float64, shape (d + 1,)

        Returns
        -------
        value : float
        gradient : ndarray of float64, shape (d + 1,)
        """
        values, gradients = self.values_and_gradients(point[np.newaxis])
        return float(values[0]), gradients[0]

    @abc.abstractmethod
    def along_scales(self, point: _Array) -> Callable[[float], tuple[float, float, float]]:
        """Loss of a vector, and its derivatives, as a function of t at the scale 1 / t.

        Parameters
        ----------
        point : ndarray of float64, shape (d + 1,)

        Returns
        -------
        callable
        """

    @abc.abstractmethod
    def reference_sum(self, point: _Array) -> float:
        """Sum of the losses of all rows on a path that shares nothing with the kernels.

        Parameters
        ----------
        point : ndarray of float64, shape (d + 1,)

        Returns
        -------
        float
            Not divided by the weight of the rows.
        """

    def hessian(self, point: _Array, features: NDArray[np.intp]) -> _Array:
        """Second derivatives by the intercept and some features.

        Parameters
        ----------
        point : ndarray of float64, shape (d + 1,)
        features : ndarray of intp, shape (m,)

        Returns
        -------
        ndarray of float64, shape (m + 1, m + 1)
        """
        found = np.zeros((len(features) + 1, len(features) + 1))
        for part in self.rows.map_in_threads(
            functions.hessian_sums, point, self.scale, features,
            n_threads=self.n_threads, should_stop=self.should_stop,
        ):  # fmt: skip
            found += part
        return found / self.rows.total_weight / self.scale**2

    def scores(self, point: _Array) -> NDArray[np.int32] | _Array:
        """Scores of all rows of the data that are stored, in points.

        Parameters
        ----------
        point : ndarray of float64, shape (d + 1,)

        Returns
        -------
        ndarray of int32 or float64, shape (n,)
            int32 where the table covers the vector.
        """
        found: list[NDArray[Any]] = list(
            self.data.rows.map_in_threads(
                functions.scores, point, self._span(point) is not None,
                n_threads=self.n_threads, should_stop=self.should_stop,
            )
        )  # fmt: skip
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _span(self, point: _Array) -> Span | None:
        """Bound the scores of a vector if the table covers it, else None."""
        return None if self.table is None else self.table.covering(point, self.data)


class BlockEvaluator(Evaluator):
    """Evaluates the loss on a block of rows in memory, vector by vector.

    Its time goes into arithmetic: a pass of several vectors would take as long for each.
    """

    rows: KernelRows

    def values(self, points: _Array) -> _Array:
        """Losses of several vectors; see :meth:`Evaluator.values`."""
        return np.array([self.value(point) for point in points], np.float64)

    def value(self, point: _Array) -> float:
        """Loss of a vector; see :meth:`Evaluator.value`."""
        span = self._span(point)
        if self.table is not None and span is not None:
            total = self.table.loss(self.rows, point, span, self.n_threads)
        else:
            total = functions.loss_sum(self.rows, point, self.scale, self.n_threads)
        return float(total / self.rows.total_weight)

    def values_and_gradients(self, points: _Array) -> tuple[_Array, _Array]:
        """Losses of several vectors, and gradients; see :meth:`Evaluator.values_and_gradients`."""
        values, gradients = np.empty(len(points)), np.empty(points.shape)
        for k, point in enumerate(points):
            values[k], gradients[k] = self.value_and_gradient(point)
        return values, gradients

    def value_and_gradient(self, point: _Array) -> tuple[float, _Array]:
        """Loss of a vector, and gradient; see :meth:`Evaluator.value_and_gradient`."""
        rows, span = self.rows, self._span(point)
        if self.table is not None and span is not None:
            total, by_column = self.table.loss_and_gradient(point, span, self.n_threads)
        else:
            sums = np.zeros((2, len(point)))
            total = functions.gradient_sum(rows, point, self.scale, sums, self.n_threads)
            by_column = sums[0] + sums[1]
        gradient = np.empty(len(point))
        functions.put_by_feature(rows, by_column, gradient)
        gradient /= rows.total_weight
        gradient /= self.scale
        return float(total / rows.total_weight), gradient

    def along_scales(self, point: _Array) -> Callable[[float], tuple[float, float, float]]:
        """Loss by scale; see :meth:`Evaluator.along_scales`."""
        scores, positive, negative = self._distribution(point)
        return lambda t: real.scale_derivatives(scores, positive, negative, t)

    def _distribution(self, point: _Array) -> tuple[_Array, _Array, _Array]:
        """Scores, with the weights of the positive and the negative class; all add up to 1."""
        rows, span = self.rows, self._span(point)
        if self.table is not None and span is not None:
            counts = self.table.counts_by_class(point, span, self.n_threads)
            if counts is not None:
                return shares_of_counts(counts, rows.total_weight, span.low)
        scores = functions.scores(rows, point, is_whole=False, n_threads=self.n_threads)
        return np.asarray(scores, np.float64), *rows.weights_by_class(rows.total_weight)

    def reference_sum(self, point: _Array) -> float:
        """Sum of the losses of all rows; see :meth:`Evaluator.reference_sum`."""
        return reference_sum(self.data.block, point, self.scale, self.n_threads)


def shares_of_counts(
    counts: NDArray[np.int64] | _Array, total_weight: float, low: int
) -> tuple[_Array, _Array, _Array]:
    """Scores that rows have, and the shares of all rows by class.

    Parameters
    ----------
    counts : ndarray, shape (2, width)
        Of the negative and the positive class at the scores ``low``, ``low`` + 1, ...
    total_weight : float
        Of all rows.
    low : int

    Returns
    -------
    scores, positive, negative : ndarray of float64
    """
    shares = counts / total_weight
    met = np.flatnonzero(shares.any(axis=0))
    scores = np.asarray(met + float(low), np.float64)
    return scores, np.asarray(shares[1, met]), np.asarray(shares[0, met])
