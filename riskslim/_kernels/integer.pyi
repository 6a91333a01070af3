import numpy as np
from numpy.typing import NDArray

def fill_tables(low: int, tail: NDArray[np.float64], slope: NDArray[np.float64]) -> None: ...
def scores(
    columns: NDArray[np.int8],
    coef: NDArray[np.int32],
    intercept: int,
    out: NDArray[np.int32],
) -> None: ...
def positions(
    columns: NDArray[np.int8],
    coef: NDArray[np.int32],
    intercept: int,
    labels: NDArray[np.int8],
    low: int,
    width: int,
    out: NDArray[np.int32],
) -> None: ...
def histogram(
    columns: NDArray[np.int8],
    coef: NDArray[np.int32],
    intercept: int,
    labels: NDArray[np.int8],
    low: int,
    counts: NDArray[np.int64],
) -> None: ...
def weighted_histogram(
    columns: NDArray[np.int8],
    coef: NDArray[np.int32],
    intercept: int,
    labels: NDArray[np.int8],
    weights: NDArray[np.float64],
    low: int,
    total: NDArray[np.float64],
    error: NDArray[np.float64],
) -> None: ...
def histogram_loss(
    counts: NDArray[np.int64],
    low: int,
    tail: NDArray[np.float64],
    slope: NDArray[np.float64],
) -> tuple[float, float]: ...
def weighted_histogram_loss(
    total: NDArray[np.float64],
    error: NDArray[np.float64],
    low: int,
    tail: NDArray[np.float64],
    slope: NDArray[np.float64],
) -> tuple[float, float]: ...
def gradient(
    columns: NDArray[np.int8],
    coef: NDArray[np.int32],
    intercept: int,
    real_columns: NDArray[np.float64],
    labels: NDArray[np.int8],
    weights: NDArray[np.float64],
    low: int,
    slope: NDArray[np.float64],
    total: NDArray[np.float64],
    error: NDArray[np.float64],
) -> None: ...
