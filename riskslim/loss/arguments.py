"""Arguments of the kernels of the loss: the rows and a vector."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.data.store import KernelRows

__all__ = ["IntegerScores", "RealScores", "integer_scores_of", "real_scores_of"]


class IntegerScores(NamedTuple):
    """Integer columns, and integer coefficients of theirs: what counts scores in int32."""

    integer_columns: NDArray[np.int8]
    coef: NDArray[np.int32]
    intercept: int


class RealScores(NamedTuple):
    """All columns, and coefficients of theirs: what adds scores up in float64."""

    integer_columns: NDArray[np.int8]
    integer_coef: NDArray[np.float64]
    real_panels: NDArray[np.float64]
    real_coef: NDArray[np.float64]
    intercept: float


def integer_scores_of(rows: KernelRows, vector: NDArray[np.float64]) -> IntegerScores:
    """Name what the scores of a vector of integers are made of, real columns left out."""
    coef = vector[1 + rows.integer_index].astype(np.int32)
    return IntegerScores(rows.integer_columns, coef, int(vector[0]))


def real_scores_of(rows: KernelRows, vector: NDArray[np.float64]) -> RealScores:
    """Name what the scores of any vector are made of."""
    return RealScores(
        rows.integer_columns,
        vector[1 + rows.integer_index],
        rows.real_panels,
        vector[1 + rows.real_index],
        float(vector[0]),
    )
