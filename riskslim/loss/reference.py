"""The loss on a path that shares nothing with the kernels, to check certificates."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from riskslim.data.training_data import TrainingData, stored_values
from riskslim.loss.ranges import CHUNK_ROWS

__all__ = ["reference_sum"]


def reference_sum(data: TrainingData, vector: NDArray[np.float64], scale: float) -> float:
    """Sum the losses of all rows without rounding errors of the sum.

    Parameters
    ----------
    data : TrainingData
    vector : ndarray of float64, shape (d + 1,)
        Intercept first.
    scale : float

    Returns
    -------
    float
        Not divided by the weight of the rows.
    """
    return math.fsum(
        itertools.chain.from_iterable(
            _losses_of_chunk(data, vector, scale, first)
            for first in range(0, data.n_rows, CHUNK_ROWS)
        )
    )


def _losses_of_chunk(
    data: TrainingData, vector: NDArray[np.float64], scale: float, first: int
) -> list[float]:
    rows = slice(first, min(first + CHUNK_ROWS, data.n_rows))
    margins = np.full(rows.stop - first, vector[0])
    for j in np.flatnonzero(vector[1:]):
        margins += vector[1 + j] * stored_values(data, int(j), first, rows.stop)
    margins *= data.labels[rows]
    margins /= scale
    losses = np.log1p(np.exp(-np.abs(margins))) + np.maximum(-margins, 0.0)
    if data.sample_weight is not None:
        losses *= data.sample_weight[rows]
    return list(losses.tolist())
