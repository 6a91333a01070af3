"""Columns packed for the kernels: int8 where all values fit, else float64 row tiles.

What is found out about each feature on the way (its kind, its range, what is wrong with it) is
found in the same pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from riskslim.data.faults import (
    EXACT_INTEGER_LIMIT,
    Column,
    ColumnError,
    raise_faults,
    real_faults,
)
from riskslim.data.row_tiles import empty_row_tiles, read_column, write_column
from riskslim.data.tables import Table

__all__ = ["ADVICE", "PackedColumns", "pack"]

# A block of one column (float64 source, int8 copy, comparison) stays within half of a common L2
# cache, and is long enough that the cost of the NumPy calls vanishes. Strided columns are packed
# 32 at a time: 4096 rows of 32 float64 values are 1 MiB.
_BLOCK_ROWS = 16384
_STRIDED_BLOCK_ROWS = 4096
_STRIDED_GROUP = 32

ADVICE = {
    "text": (
        "Encode text as numbers, as ItemEncoder does (--items on the command line), or leave it "
        "out."
    ),
    "missing": (
        "Remove these rows, or impute the values and add a 0/1 column that says where; or let "
        "ItemEncoder(missing='indicator') make items of the columns (on the command line --items "
        "--missing indicator)."
    ),
}


@dataclass
class PackedColumns:
    """The packed features, and what is found out about each on the way."""

    is_integer: NDArray[np.bool_]
    feature_min: NDArray[np.float64]
    feature_max: NDArray[np.float64]
    integer_columns: NDArray[np.int8] = field(init=False)
    real_row_tiles: NDArray[np.float64] = field(init=False)


def pack(table: Table, names: Sequence[str]) -> PackedColumns:
    """Read every column of a table once, or twice if it is real.

    Parameters
    ----------
    table : Table
    names : sequence of str
        Of the features, for errors.

    Returns
    -------
    PackedColumns

    Raises
    ------
    UnusableColumnsError
        Columns that hold something else than finite numbers.
    """
    d = table.n_features
    packed = PackedColumns(np.zeros(d, np.bool_), np.empty(d), np.empty(d))
    faults: list[tuple[int, ColumnError]] = []
    # NaN, infinities and values out of range are found by comparison, not by warnings.
    with np.errstate(invalid="ignore", over="ignore"):
        _pack_integers(table, packed, faults)
        faulty = {j for j, _ in faults}
        reals = [j for j in np.flatnonzero(~packed.is_integer).tolist() if j not in faulty]
        _pack_reals(table, reals, packed, faults)
    raise_faults(faults, names, table.n_samples, ADVICE)
    return packed


def _for_each_group(
    table: Table,
    indices: Iterable[int],
    faults: list[tuple[int, ColumnError]],
    action: Callable[[list[tuple[int, Column]]], None],
) -> None:
    """Call `action` with columns: contiguous ones alone, strided views in groups.

    A contiguous column may be a copy that its library made for us: it is gone when `action`
    returns. Strided columns are views of one array; packed row block by row block together, they
    read each cache line once.
    """
    strided: list[tuple[int, Column]] = []
    for j in indices:
        try:
            group = [(j, table.column(j))]
        except ColumnError as fault:
            faults.append((j, fault))
            continue
        if group[0][1].flags.c_contiguous:
            action(group)
        else:
            strided += group
        del group  # before the next column is made
    for start in range(0, len(strided), _STRIDED_GROUP):
        action(strided[start : start + _STRIDED_GROUP])


def _blocks(n_samples: int, group: list[tuple[int, Column]]) -> Iterator[slice]:
    rows = _BLOCK_ROWS if len(group) == 1 else _STRIDED_BLOCK_ROWS
    return (slice(start, min(start + rows, n_samples)) for start in range(0, n_samples, rows))


def _pack_integers(
    table: Table, packed: PackedColumns, faults: list[tuple[int, ColumnError]]
) -> None:
    """Store every column that int8 can hold; pages of other columns are never touched."""
    n, d = table.n_samples, table.n_features
    store = np.empty(n * d, dtype=np.int8)

    def fill(group: list[tuple[int, Column]]) -> None:
        active = dict(group)
        for rows in _blocks(n, group):
            for j, values in list(active.items()):
                if not _fits_int8(values[rows], store[j * n : (j + 1) * n][rows]):
                    del active[j]
            if not active:
                return
        for j in active:
            packed.is_integer[j] = True
            packed.feature_min[j] = store[j * n : (j + 1) * n].min()
            packed.feature_max[j] = store[j * n : (j + 1) * n].max()

    _for_each_group(table, range(d), faults, fill)
    integers = np.flatnonzero(packed.is_integer).tolist()
    for k, j in enumerate(integers):
        if k != j:
            store[k * n : (k + 1) * n] = store[j * n : (j + 1) * n]
    store.resize(n * len(integers), refcheck=False)  # gives the tail back to the system
    packed.integer_columns = store.reshape((n, len(integers)), order="F")


def _fits_int8(values: Column, out: NDArray[np.int8]) -> bool:
    """Cast to int8 and compare: exactly the integers in -128..127 come through unchanged."""
    if values.dtype == np.int8:
        np.copyto(out, values)
        return True
    values = np.ascontiguousarray(values)
    np.copyto(out, values, casting="unsafe")
    return bool((out == values).all())


def _pack_reals(
    table: Table,
    indices: list[int],
    packed: PackedColumns,
    faults: list[tuple[int, ColumnError]],
) -> None:
    n = table.n_samples
    store = empty_row_tiles(n, len(indices))
    position = {j: k for k, j in enumerate(indices)}
    packed.feature_min[indices], packed.feature_max[indices] = np.inf, -np.inf

    def fill(group: list[tuple[int, Column]]) -> None:
        for rows in _blocks(n, group):
            for j, values in group:
                block = np.asarray(values[rows], dtype=np.float64)
                write_column(store, position[j], rows.start, block)
                # Both propagate NaN: two reductions find whether anything is wrong.
                packed.feature_min[j] = np.minimum(packed.feature_min[j], block.min())
                packed.feature_max[j] = np.maximum(packed.feature_max[j], block.max())
        for j, values in group:
            largest = max(abs(packed.feature_min[j]), abs(packed.feature_max[j]))
            limit = EXACT_INTEGER_LIMIT if values.dtype.kind in "iu" else np.inf
            if not largest < limit:
                column = read_column(store, position[j], 0, n)
                faults.extend((j, fault) for fault in real_faults(column, values.dtype.kind))

    _for_each_group(table, indices, faults, fill)
    packed.real_row_tiles = store
