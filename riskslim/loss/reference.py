"""The loss on a path that shares nothing with the kernels, to check certificates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riskslim.data.threads import in_threads
from riskslim.data.training_data import TrainingData, stored_values
from riskslim.loss.ranges import CHUNK_ROWS

__all__ = ["reference_sum"]


def reference_sum(
    data: TrainingData, vector: NDArray[np.float64], scale: float, n_threads: int = 1
) -> float:
    """Sum the losses of all rows, exact to some units of the last place.

    Parameters
    ----------
    data : TrainingData
    vector : ndarray of float64, shape (d + 1,)
        Intercept first.
    scale : float
    n_threads : int, default 1
        The sum does not depend on it.

    Returns
    -------
    float
        Not divided by the weight of the rows.
    """
    n_chunks = -(-data.n_rows // CHUNK_ROWS)
    # Pairwise, in the longest type that there is.
    sums = np.zeros(n_chunks, np.longdouble)

    def add_up(k: int) -> None:
        sums[k] = _losses_of_chunk(data, vector, scale, k * CHUNK_ROWS).sum(dtype=np.longdouble)

    in_threads(add_up, n_chunks, n_threads)
    return float(sums.sum())


def _losses_of_chunk(
    data: TrainingData, vector: NDArray[np.float64], scale: float, first: int
) -> NDArray[np.float64]:
    rows = slice(first, min(first + CHUNK_ROWS, data.n_rows))
    margins = np.full(rows.stop - first, vector[0])
    for j in np.flatnonzero(vector[1:]):
        margins += vector[1 + j] * stored_values(data, int(j), first, rows.stop)
    margins *= data.labels[rows]
    margins /= scale
    losses = np.log1p(np.exp(-np.abs(margins))) + np.maximum(-margins, 0.0)
    if data.sample_weight is not None:
        losses *= data.sample_weight[rows]
    return np.asarray(losses)
