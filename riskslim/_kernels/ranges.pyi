import numpy as np
from numpy.typing import NDArray

def row_block() -> int: ...
def row_ranges(
    columns: NDArray[np.int8],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    row_tiles: NDArray[np.float64],
    real_lower: NDArray[np.float64],
    real_upper: NDArray[np.float64],
    keep: int,
    first: int,
    workspace: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    n_threads: int,
) -> None: ...
