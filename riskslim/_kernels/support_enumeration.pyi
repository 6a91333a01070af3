import numpy as np
from numpy.typing import NDArray

MOST_ITEMS: int
FULL: int
STOPPED: int
MOST_RATES: int
EACH: int

def best_level() -> int: ...
def saturated(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> float: ...
def room(
    n_groups: int, n_words: int, n_segments: int, n_bits: int, depth: int
) -> tuple[int, int, int]: ...
def out_of_reach(
    positive: NDArray[np.float64], negative: NDArray[np.float64], missed: float, called: float
) -> bool: ...
def scan(
    words: NDArray[np.uint64],
    bits: NDArray[np.int64],
    labels: NDArray[np.int64],
    shifts: NDArray[np.int64],
    unit: NDArray[np.float64],
    value: NDArray[np.float64],
    plane: NDArray[np.int64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    t_low: float,
    t_high: float,
    price: NDArray[np.float64],
    fee: NDArray[np.float64],
    ridge: NDArray[np.float64],
    apart: NDArray[np.uint8],
    prefix: NDArray[np.int64],
    first: int,
    min_size: int,
    max_size: int,
    depth: int,
    cutoff: float,
    level: int,
    rates: NDArray[np.float64],
    shares: NDArray[np.float64],
    settles: int,
    knapsack: NDArray[np.float64],
    stop: NDArray[np.int64],
    found: NDArray[np.int64],
    bound: NDArray[np.float64],
    vector: NDArray[np.int64],
    counted: NDArray[np.int64],
    room64: NDArray[np.uint64],
    room32: NDArray[np.int32],
    room_float: NDArray[np.float32],
) -> int: ...
