import numpy as np
from numpy.typing import NDArray

def scratch_size(n: int, p: int, largest: int) -> int: ...
def linearise(
    codes: NDArray[np.uint16],
    live: NDArray[np.int64],
    first: NDArray[np.int64],
    effects: NDArray[np.float64],
    positive: NDArray[np.float64],
    negative: NDArray[np.float64],
    sums: NDArray[np.float64],
    out: NDArray[np.float64],
    stop: NDArray[np.int64],
    work: NDArray[np.float64],
) -> bool: ...
def fit(
    codes: NDArray[np.uint16],
    live: NDArray[np.int64],
    first: NDArray[np.int64],
    effects: NDArray[np.float64],
    positive: NDArray[np.float64],
    negative: NDArray[np.float64],
    reach: float,
    target: float,
    tolerance: float,
    most: int,
    out: NDArray[np.float64],
    stop: NDArray[np.int64],
    work: NDArray[np.float64],
) -> int: ...
