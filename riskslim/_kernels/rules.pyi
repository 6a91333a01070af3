import numpy as np
from numpy.typing import NDArray

FULL: int
STOPPED: int

def least_wrong(a: NDArray[np.float64], b: NDArray[np.float64], capacity: float) -> float: ...
def count(
    words: NDArray[np.uint64],
    bits: NDArray[np.int64],
    labels: NDArray[np.int64],
    shifts: NDArray[np.int64],
    planes: NDArray[np.int64],
    cells: NDArray[np.int64],
    parts: NDArray[np.uint64],
    stop: NDArray[np.int64],
) -> int: ...
def best_points(
    n_bits: NDArray[np.int64],
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    value: NDArray[np.float64],
    points: NDArray[np.int64],
    first_point: NDArray[np.int64],
    row_points: NDArray[np.float64],
    row_ends: NDArray[np.float64],
    rest_low: NDArray[np.float64],
    rest_high: NDArray[np.float64],
    intercepts: NDArray[np.int64],
    capacity: float,
    most: float,
    step: float,
    slack: float,
    most_nodes: int,
    stop: NDArray[np.int64],
    found: NDArray[np.int64],
    wrong: NDArray[np.float64],
    counted: NDArray[np.int64],
    room: NDArray[np.float64],
    room32: NDArray[np.int32],
) -> tuple[int, int]: ...
