"""What the compiled nodes of the search are told, and the memory that they work in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import nodes as kernels

__all__ = ["KernelArguments", "Worker", "smallest_type"]


class KernelArguments(NamedTuple):
    """Rows, problem, cutoff and tolerance: what every kernel begins with."""

    integer_columns: NDArray[np.int8]
    real_columns: NDArray[np.float64]
    slot: NDArray[np.int64]
    positive: NDArray[np.float64]
    negative: NDArray[np.float64]
    penalty: NDArray[np.float64]
    largest: NDArray[np.float64]
    twin: NDArray[np.int64]
    ends: NDArray[Any]
    min_size: int
    max_size: int
    cutoff: float
    tolerance: float
    known: NDArray[np.float64]  # empty where the rows are all that there are


class Worker:
    """The memory that one thread works in.

    Parameters
    ----------
    n_rows : int
        Most rows.
    p : int
        Number of coefficients.
    """

    def __init__(self, n_rows: int, p: int) -> None:
        n_floats, n_indices = kernels.scratch_sizes(n_rows, p)
        self.work = np.empty(n_floats)
        self.index = np.empty(n_indices, np.int64)
        self.box = np.empty((3, 2, p))
        self.coef = np.empty((3, p))
        self.worth = np.empty((3, 3))
        self.result = np.empty((3, 4))
        self.counters = np.zeros(5)


def smallest_type(box: NDArray[np.float64]) -> type[np.signedinteger]:
    """Choose a type of integers for the boxes of nodes.

    Parameters
    ----------
    box : ndarray of float64
        A box that contains all others.

    Returns
    -------
    type
        The smallest one that holds its ends.
    """
    largest = np.abs(box).max()
    for kind in (np.int8, np.int16, np.int32):
        if largest <= np.iinfo(kind).max:
            return kind
    return np.int64
