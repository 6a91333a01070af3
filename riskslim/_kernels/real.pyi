import numpy as np
from numpy.typing import NDArray

def scores(
    columns: NDArray[np.int8],
    coef: NDArray[np.float64],
    row_tiles: NDArray[np.float64],
    real_coef: NDArray[np.float64],
    intercept: float,
    out: NDArray[np.float64],
    n_threads: int,
) -> None: ...
def scores_loss(
    scores: NDArray[np.float64],
    labels: NDArray[np.int8],
    weights: NDArray[np.float64],
    n_threads: int,
) -> float: ...
def loss(
    columns: NDArray[np.int8],
    coef: NDArray[np.float64],
    row_tiles: NDArray[np.float64],
    real_coef: NDArray[np.float64],
    intercept: float,
    labels: NDArray[np.int8],
    weights: NDArray[np.float64],
    n_threads: int,
) -> float: ...
def loss_and_gradient(
    columns: NDArray[np.int8],
    coef: NDArray[np.float64],
    row_tiles: NDArray[np.float64],
    real_coef: NDArray[np.float64],
    intercept: float,
    labels: NDArray[np.int8],
    weights: NDArray[np.float64],
    gradient: NDArray[np.float64],
    error: NDArray[np.float64],
    n_threads: int,
) -> float: ...
def hessian(
    columns: NDArray[np.int8],
    coef: NDArray[np.float64],
    row_tiles: NDArray[np.float64],
    real_coef: NDArray[np.float64],
    intercept: float,
    weights: NDArray[np.float64],
    slot: NDArray[np.int64],
    out: NDArray[np.float64],
    n_threads: int,
) -> None: ...
def scale_derivatives(
    scores: NDArray[np.float64],
    positive: NDArray[np.float64],
    negative: NDArray[np.float64],
    t: float,
) -> tuple[float, float, float]: ...
