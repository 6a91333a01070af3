import numpy as np
from numpy.typing import NDArray

def block_rows() -> int: ...
def group_rows(
    columns: NDArray[np.int8],
    row_tiles: NDArray[np.float64],
    labels: NDArray[np.int8],
    weights: NDArray[np.float64],
    places: NDArray[np.int64],
    first_row: int,
    n_groups: int,
    plane: NDArray[np.uint64],
    slots: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    first: NDArray[np.int64],
    counts: NDArray[np.int64],
    sums: NDArray[np.float64],
) -> tuple[int, int]: ...
def merge_groups(
    from_keys: NDArray[np.uint64],
    from_first: NDArray[np.int64],
    from_counts: NDArray[np.int64],
    from_sums: NDArray[np.float64],
    group: int,
    end: int,
    n_groups: int,
    slots: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    first: NDArray[np.int64],
    counts: NDArray[np.int64],
    sums: NDArray[np.float64],
) -> tuple[int, int]: ...
def fill_slots(keys: NDArray[np.uint64], n_groups: int, slots: NDArray[np.uint64]) -> None: ...
