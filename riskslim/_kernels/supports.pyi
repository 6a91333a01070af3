import numpy as np
from numpy.typing import NDArray

def most_planes() -> int: ...
def pack_plane(
    column: NDArray[np.int8],
    value: int,
    order: NDArray[np.int64],
    plane: NDArray[np.uint64],
) -> None: ...
def count_cells(
    planes: NDArray[np.uint64],
    chosen: NDArray[np.int64],
    first_word: NDArray[np.int64],
    n_rows: NDArray[np.int64],
    first_share: NDArray[np.int64],
    scratch: NDArray[np.uint64],
    counts: NDArray[np.int64],
) -> None: ...
def fill_masks(
    planes: NDArray[np.uint64],
    chosen: NDArray[np.int64],
    valid: NDArray[np.uint64],
    group: NDArray[np.int32],
    scratch: NDArray[np.uint64],
    masks: NDArray[np.uint64],
) -> None: ...
def count_joint(
    planes: NDArray[np.uint64],
    chosen: NDArray[np.int64],
    masks: NDArray[np.uint64],
    first_word: NDArray[np.int64],
    side: NDArray[np.int64],
    weight: NDArray[np.float64],
    out: NDArray[np.float64],
    stop: NDArray[np.int64],
    n_threads: int,
) -> None: ...
def best_steps(
    joint: NDArray[np.float64],
    total: NDArray[np.float64],
    first: NDArray[np.int64],
    values: NDArray[np.int64],
    base: NDArray[np.int64],
    position: NDArray[np.int64],
    losses: NDArray[np.float64],
    slopes: NDArray[np.float64],
    unit: float,
    ridge: NDArray[np.float64],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    low: int,
    high: int,
    work: NDArray[np.float64],
    work_values: NDArray[np.int64],
    chosen: NDArray[np.int64],
    loss: NDArray[np.float64],
    step: NDArray[np.int64],
    shift: NDArray[np.int64],
    stop: NDArray[np.int64],
) -> None: ...
def polish(
    x: NDArray[np.int64],
    weights: NDArray[np.float64],
    points: NDArray[np.int64],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    losses: NDArray[np.float64],
    low: int,
    steps: NDArray[np.int64],
    pairs: bool,
    ridge: NDArray[np.float64],
    position: NDArray[np.int64],
) -> float: ...
