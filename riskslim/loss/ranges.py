"""Ranges of scores and of the loss (Proposition 1 and its refinements)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import ranges, real
from riskslim.coefficients import CoefficientSet
from riskslim.data.store import KernelRows, RowStore
from riskslim.data.training_data import TrainingData
from riskslim.rows.base import StoppedError
from riskslim.scale import ScaleSet

__all__ = [
    "CHUNK_ROWS",
    "SUM_SLACK",
    "given_intercept_bounds",
    "largest_quotient",
    "loss_range",
    "row_ranges",
    "score_range",
    "score_slack",
]

# Rows whose score ranges are held at a time.
CHUNK_ROWS = 2**18

# Relative slack for sums of up to 10^8 rounded terms, where only one direction is safe.
SUM_SLACK = 1e-8


def given_intercept_bounds(coefficients: CoefficientSet) -> tuple[int, int]:
    """Both bounds of the intercept, which have been given or derived."""
    lower, upper = coefficients.intercept_lower, coefficients.intercept_upper
    assert lower is not None
    assert upper is not None
    return lower, upper


def score_range(
    data: TrainingData, coefficients: CoefficientSet, max_size: int
) -> tuple[float, float]:
    """Range of all scores over a coefficient set with a bound on the model size.

    It follows from the features' ranges and is not the tightest one (that would look at the
    rows), because the scores of every single vector must be seen to lie within it from the
    features' ranges, too.

    Parameters
    ----------
    data : TrainingData
    coefficients : CoefficientSet
        With intercept bounds.
    max_size : int
        Most non-zero coefficients, the intercept not counted.

    Returns
    -------
    low, high : float
    """
    corners = np.array(
        [
            bound * extreme
            for bound in (coefficients.lower, coefficients.upper)
            for extreme in (data.feature_min, data.feature_max)
        ]
    )
    least, most = corners.min(axis=0), corners.max(axis=0)
    required = _required(coefficients)
    keep = max(max_size - int(np.count_nonzero(required)), 0)
    free_least = np.sort(np.minimum(least[~required], 0.0))[:keep]
    free_most = np.sort(np.maximum(most[~required], 0.0))[::-1][:keep]
    lower, upper = given_intercept_bounds(coefficients)
    low = lower + math.fsum(least[required]) + math.fsum(free_least)
    high = upper + math.fsum(most[required]) + math.fsum(free_most)
    return low, high


def _required(coefficients: CoefficientSet) -> NDArray[np.bool_]:
    return (coefficients.lower > 0) | (coefficients.upper < 0)


def row_ranges(
    rows: KernelRows, coefficients: CoefficientSet, max_size: int, n_threads: int
) -> Iterator[tuple[slice, NDArray[np.float64], NDArray[np.float64]]]:
    """Range of the score of each row over a coefficient set, chunk by chunk.

    Parameters
    ----------
    rows : KernelRows
    coefficients : CoefficientSet
    max_size : int
        Most non-zero coefficients.
    n_threads : int

    Yields
    ------
    chunk : slice
        Rows of the chunk.
    low, high : ndarray of float64
        Least and largest score of each, intercept left out.
    """
    lower = coefficients.lower.astype(np.float64)
    upper = coefficients.upper.astype(np.float64)
    required = _required(coefficients)
    n_free = int(np.count_nonzero(((lower != 0) | (upper != 0)) & ~required))
    keep = max(max_size - int(np.count_nonzero(required)), 0)
    if keep >= n_free:
        keep = -1  # no limit: the kernel adds up instead of selecting
    workspace = np.empty((n_threads, 2 * max(keep, 0) + 2, ranges.row_block()))
    for first in range(0, rows.n_rows, CHUNK_ROWS):
        chunk = slice(first, min(first + CHUNK_ROWS, rows.n_rows))
        low, high = np.empty(chunk.stop - first), np.empty(chunk.stop - first)
        ranges.row_ranges(
            rows.integer_columns,
            lower[rows.integer_index],
            upper[rows.integer_index],
            rows.real_row_tiles,
            lower[rows.real_index],
            upper[rows.real_index],
            keep,
            first,
            workspace,
            low,
            high,
            n_threads,
        )
        yield chunk, low, high


def score_slack(rows: KernelRows, low: NDArray[np.float64], high: NDArray[np.float64]) -> float:
    """Bound what rounding may have taken from a score; sums of integers are exact."""
    if not rows.real_index.size:
        return 0.0
    return 1e-12 * max(float(np.abs(low).max()), float(np.abs(high).max()), 1.0)


def largest_quotient(scores: NDArray[np.float64], scales: ScaleSet) -> NDArray[np.float64]:
    """Largest score / scale over the scales."""
    return np.maximum(scores / scales.low, scores / scales.high)


def loss_range(
    rows: RowStore,
    coefficients: CoefficientSet,
    max_size: int,
    scales: ScaleSet,
    n_threads: int,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[float, float]:
    """Bound the loss over a coefficient set from both sides (Proposition 1).

    Parameters
    ----------
    rows : RowStore
    coefficients : CoefficientSet
        With intercept bounds.
    max_size : int
        Most non-zero coefficients, the intercept not counted.
    scales : ScaleSet
        The bounds hold for all of them.
    n_threads : int
    should_stop : callable, optional
        Asked between chunks.

    Returns
    -------
    loss_min, loss_max : float
        Rounded outwards; 0 and infinity after a stop.
    """
    best, worst = [], []
    try:
        for least, most in rows.map_in_threads(
            extreme_losses, coefficients, max_size, scales,
            n_threads=n_threads, should_stop=should_stop,
        ):  # fmt: skip
            best.append(least)
            worst.append(most)
    except StoppedError:
        return 0.0, math.inf
    total = rows.total_weight
    return (
        math.fsum(best) / total * (1.0 - SUM_SLACK),
        math.fsum(worst) / total * (1.0 + SUM_SLACK),
    )


def extreme_losses(
    rows: KernelRows,
    coefficients: CoefficientSet,
    max_size: int,
    scales: ScaleSet,
    n_threads: int,
    should_stop: Callable[[], bool] | None,
) -> tuple[float, float]:
    """Sum the smallest and the largest losses that rows can have.

    Parameters
    ----------
    rows : KernelRows
    coefficients, max_size, scales, n_threads, should_stop
        As in :func:`loss_range`.

    Returns
    -------
    least, most : float
    """
    best, worst = [], []
    lower, upper = given_intercept_bounds(coefficients)
    for chunk, low, high in row_ranges(rows, coefficients, max_size, n_threads):
        if should_stop is not None and should_stop():
            raise StoppedError("bounds were stopped")
        labels, weights = rows.labels[chunk], rows.weights[chunk]
        low += lower
        high += upper
        slack = score_slack(rows, low, high)
        positive = labels > 0
        towards = np.where(positive, high + slack, low - slack)
        away = np.where(positive, low - slack, high + slack)
        sign = np.where(positive, 1.0, -1.0)
        towards = sign * largest_quotient(sign * towards, scales)
        away = -sign * largest_quotient(-sign * away, scales)
        best.append(real.scores_loss(towards, labels, weights, n_threads))
        worst.append(real.scores_loss(away, labels, weights, n_threads))
    return math.fsum(best), math.fsum(worst)
