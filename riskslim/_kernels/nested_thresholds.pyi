import numpy as np
from numpy.typing import NDArray

def count_rows(planes: NDArray[np.uint64], n_rows: NDArray[np.int64]) -> None: ...
def find_nested_thresholds(
    planes: NDArray[np.uint64],
    order: NDArray[np.int64],
    kind: NDArray[np.int64],
    n_rows: NDArray[np.int64],
    reach: int,
    longest: int,
    most: int,
    n_chains: int,
    chain: NDArray[np.int64],
    last: NDArray[np.int64],
    length: NDArray[np.int64],
) -> int: ...
def fill_ranks(
    planes: NDArray[np.uint64], members: NDArray[np.int64], rank: NDArray[np.uint16]
) -> None: ...
def fill_groups(masks: NDArray[np.uint64], group: NDArray[np.uint8]) -> None: ...
def sweep_chains(
    ranks: NDArray[np.uint16],
    group: NDArray[np.uint8],
    chosen: NDArray[np.int64],
    first: NDArray[np.int64],
    members: NDArray[np.int64],
    first_word: NDArray[np.int64],
    side: NDArray[np.int64],
    weight: NDArray[np.float64],
    scratch: NDArray[np.int32],
    out: NDArray[np.float64],
    stop: NDArray[np.int64],
    n_threads: int,
) -> None: ...
