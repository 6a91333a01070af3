import numpy as np
from numpy.typing import NDArray

def fill_tables(
    low: int, scale: float, tail: NDArray[np.float64], slope: NDArray[np.float64]
) -> None: ...
def fill_digits(slope: NDArray[np.float64], digits: NDArray[np.uint64]) -> None: ...
def has_threads() -> bool: ...
def n_copies() -> int: ...
def count_scores(
    columns: NDArray[np.int8],
    coef: NDArray[np.int32],
    intercept: int,
    labels: NDArray[np.int8],
    low: int,
    counts: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def count_given(
    scores: NDArray[np.int32],
    labels: NDArray[np.int8],
    low: int,
    counts: NDArray[np.int64],
    outside: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def count_scores_and_slopes(
    columns: NDArray[np.int8],
    coef: NDArray[np.int32],
    intercept: int,
    labels: NDArray[np.int8],
    low: int,
    digits: NDArray[np.uint64],
    counts: NDArray[np.int64],
    sums: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def digits_gradient(sums: NDArray[np.int64], gradient: NDArray[np.float64]) -> None: ...
def fill_fixed_point(slope: NDArray[np.float64], fixed_point: NDArray[np.uint64]) -> None: ...
def count_numbers(
    columns: NDArray[np.int8],
    coef: NDArray[np.int32],
    intercept: int,
    labels: NDArray[np.int8],
    numbers: NDArray[np.uint16],
    low: int,
    counts: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def count_numbers_and_slopes(
    columns: NDArray[np.int8],
    coef: NDArray[np.int32],
    intercept: int,
    labels: NDArray[np.int8],
    numbers: NDArray[np.uint16],
    low: int,
    fixed_point: NDArray[np.uint64],
    counts: NDArray[np.int64],
    sums: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def products_gradient(sums: NDArray[np.int64], gradient: NDArray[np.float64]) -> None: ...
def scores(
    columns: NDArray[np.int8],
    coef: NDArray[np.int32],
    intercept: int,
    out: NDArray[np.int32],
    n_threads: int,
) -> None: ...
def positions(
    columns: NDArray[np.int8],
    coef: NDArray[np.int32],
    intercept: int,
    labels: NDArray[np.int8],
    low: int,
    width: int,
    out: NDArray[np.int32],
    n_threads: int,
) -> None: ...
def histogram(
    columns: NDArray[np.int8],
    coef: NDArray[np.int32],
    intercept: int,
    labels: NDArray[np.int8],
    low: int,
    counts: NDArray[np.int64],
    n_threads: int,
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
    n_threads: int,
) -> None: ...
def given_loss(
    scores: NDArray[np.int32],
    labels: NDArray[np.int8],
    weights: NDArray[np.float64],
    low: int,
    losses: NDArray[np.float64],
    outside: NDArray[np.int64],
    n_threads: int,
) -> float: ...
def histogram_loss(
    counts: NDArray[np.int64],
    low: int,
    scale: float,
    tail: NDArray[np.float64],
    slope: NDArray[np.float64],
) -> tuple[float, float, float]: ...
def weighted_histogram_loss(
    total: NDArray[np.float64],
    error: NDArray[np.float64],
    low: int,
    scale: float,
    tail: NDArray[np.float64],
    slope: NDArray[np.float64],
) -> tuple[float, float, float]: ...
def gradient(
    columns: NDArray[np.int8],
    coef: NDArray[np.int32],
    intercept: int,
    row_tiles: NDArray[np.float64],
    labels: NDArray[np.int8],
    weights: NDArray[np.float64],
    low: int,
    slope: NDArray[np.float64],
    total: NDArray[np.float64],
    error: NDArray[np.float64],
    n_threads: int,
) -> None: ...
