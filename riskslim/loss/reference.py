"""The loss on a path that shares nothing with the kernels, to check certificates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riskslim.data.store import KernelRows
from riskslim.data.threads import in_threads
from riskslim.loss.ranges import CHUNK_ROWS

__all__ = ["reference_sum"]


def reference_sum(
    rows: KernelRows, vector: NDArray[np.float64], scale: float, n_threads: int = 1
) -> float:
    """Sum the losses of all rows, exact to some units of the last place.

    Parameters
    ----------
    rows : KernelRows
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
    n_chunks = -(-rows.n_rows // CHUNK_ROWS)
    # Pairwise, in the longest type that there is.
    sums = np.zeros(n_chunks, np.longdouble)

    def add_up(k: int) -> None:
        sums[k] = _losses_of_chunk(rows, vector, scale, k * CHUNK_ROWS).sum(dtype=np.longdouble)

    in_threads(add_up, n_chunks, n_threads)
    return float(sums.sum())


def _losses_of_chunk(
    rows: KernelRows, vector: NDArray[np.float64], scale: float, first: int
) -> NDArray[np.float64]:
    chunk = slice(first, min(first + CHUNK_ROWS, rows.n_rows))
    margins = np.full(chunk.stop - first, vector[0])
    for j in np.flatnonzero(vector[1:]):
        margins += vector[1 + j] * rows.values_of(int(j), first, chunk.stop)
    margins *= rows.labels[chunk]
    margins /= scale
    losses = np.log1p(np.exp(-np.abs(margins))) + np.maximum(-margins, 0.0)
    if len(rows.weights):
        losses *= rows.weights[chunk]
    return np.asarray(losses)
