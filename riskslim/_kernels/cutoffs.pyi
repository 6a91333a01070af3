import numpy as np
from numpy.typing import NDArray

MOST_ELEMENTS: int
MOST_ACTIVE: int
ELEMENT_INTS: int
NODE_INTS: int
NODE_REALS: int

def room(n_rows: int, most_rank: int) -> int: ...
def search(
    labels: NDArray[np.uint16],
    multiples: NDArray[np.int32],
    unit: NDArray[np.float64],
    rank: NDArray[np.int16],
    order: NDArray[np.int32],
    start: NDArray[np.int32],
    item: NDArray[np.int64],
    chain_price: NDArray[np.float64],
    price: NDArray[np.float64],
    chain_ridge: NDArray[np.float64],
    ridge: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    apart: NDArray[np.uint8],
    t_low: float,
    t_high: float,
    cutoff: float,
    level: float,
    most_evaluated: int,
    stop: NDArray[np.int64],
    whole: NDArray[np.int32],
    real: NDArray[np.float64],
    whole_out: NDArray[np.int32],
    real_out: NDArray[np.float64],
    found: NDArray[np.int64],
    counted: NDArray[np.int64],
    room64: NDArray[np.uint64],
) -> tuple[int, int, int]: ...
