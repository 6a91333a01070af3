import numpy as np
from numpy.typing import NDArray

HESSIAN_ROWS: int
WIDE_ROWS: int
WIDE: int
PRUNED: int
OPEN: int

def scale_derivatives(
    scores: NDArray[np.float64],
    positive: NDArray[np.float64],
    negative: NDArray[np.float64],
    t: float,
) -> tuple[float, float, float]: ...
def scratch_sizes(n: int, p: int) -> tuple[int, int]: ...
def solve_root(
    integers: NDArray[np.int8],
    reals: NDArray[np.float64],
    slot: NDArray[np.int64],
    positive: NDArray[np.float64],
    negative: NDArray[np.float64],
    penalty: NDArray[np.float64],
    largest: NDArray[np.float64],
    twin: NDArray[np.int64],
    ends: NDArray[np.float64],
    min_size: int,
    max_size: int,
    cutoff: float,
    tolerance: float,
    iterations: int,
    box: NDArray[np.float64],
    coef: NDArray[np.float64],
    worth: NDArray[np.float64],
    result: NDArray[np.float64],
    stop: NDArray[np.int64],
    counters: NDArray[np.float64],
    work: NDArray[np.float64],
    index: NDArray[np.int64],
) -> int: ...
def expand(
    integers: NDArray[np.int8],
    reals: NDArray[np.float64],
    slot: NDArray[np.int64],
    positive: NDArray[np.float64],
    negative: NDArray[np.float64],
    penalty: NDArray[np.float64],
    largest: NDArray[np.float64],
    twin: NDArray[np.int64],
    ends: NDArray[np.float64],
    min_size: int,
    max_size: int,
    cutoff: float,
    tolerance: float,
    iterations: int,
    rule: int,
    box: NDArray[np.float64],
    coef: NDArray[np.float64],
    worth: NDArray[np.float64],
    result: NDArray[np.float64],
    child_box: NDArray[np.float64],
    child_coef: NDArray[np.float64],
    child_worth: NDArray[np.float64],
    child_result: NDArray[np.float64],
    stop: NDArray[np.int64],
    counters: NDArray[np.float64],
    work: NDArray[np.float64],
    index: NDArray[np.int64],
) -> int: ...
