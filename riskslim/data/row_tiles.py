r"""The layout of real columns in memory: row tiles of 16 rows.

A row tile holds 16 rows of every column, column after column; the row tiles follow each other. In
an array of shape (n_row_tiles, d, 16), row i of column j is ``row_tiles[i // 16, j, i % 16]``. A
pass over all columns reads memory from one end to the other, which processors do best
(docs/kernels.md has the measurements). The rows that are missing in the last row tile are zero.

The kernels know this layout from ``_kernels/row_tiles.h``, everything else from here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "TILE_ROWS",
    "as_columns",
    "as_row_tiles",
    "empty_row_tiles",
    "read_column",
    "take_row_tiles",
    "write_column",
]

TILE_ROWS = 16

# A column of a row tile is two cache lines, which processors fetch together if they are a pair.
_ALIGNMENT = 128

# Rows that are taken at a time: a few megabytes on the way.
_TAKEN_ROWS = 16384


def empty_row_tiles(n: int, d: int) -> NDArray[np.float64]:
    """Return row tiles for n rows and d columns, to be filled; only missing rows are zero.

    Parameters
    ----------
    n, d : int

    Returns
    -------
    float64 array of shape (ceil(n / 16), d, 16)
    """
    shape = (-(-n // TILE_ROWS), d, TILE_ROWS)
    n_bytes = 8 * shape[0] * d * TILE_ROWS
    store = np.empty(n_bytes + _ALIGNMENT, dtype=np.uint8)
    first = -store.ctypes.data % _ALIGNMENT
    row_tiles = store[first : first + n_bytes].view(np.float64).reshape(shape)
    if n % TILE_ROWS:
        row_tiles[-1, :, n % TILE_ROWS :] = 0.0
    return row_tiles


def write_column(
    row_tiles: NDArray[np.float64], j: int, start: int, values: NDArray[np.float64]
) -> None:
    """Write rows start, start + 1, ... of a column.

    Parameters
    ----------
    row tiles : float64 array of shape (n_row_tiles, d, 16)
    j : int
    start : int
        A multiple of 16.
    values : float64 array of shape (m,)
    """
    first, whole = start // TILE_ROWS, len(values) // TILE_ROWS
    rest = whole * TILE_ROWS
    row_tiles[first : first + whole, j] = values[:rest].reshape(whole, TILE_ROWS)
    if rest < len(values):
        row_tiles[first + whole, j, : len(values) - rest] = values[rest:]


def read_column(
    row_tiles: NDArray[np.float64], j: int, start: int, stop: int
) -> NDArray[np.float64]:
    """Return rows start, start + 1, ..., stop - 1 of a column, copied if there are others.

    Parameters
    ----------
    row tiles : float64 array of shape (n_row_tiles, d, 16)
    j : int
    start, stop : int
        ``start`` is a multiple of 16.

    Returns
    -------
    float64 array of shape (stop - start,)
    """
    part = row_tiles[start // TILE_ROWS : -(-stop // TILE_ROWS), j]
    return part.reshape(-1)[: stop - start]


def take_row_tiles(row_tiles: NDArray[np.float64], index: NDArray[np.intp]) -> NDArray[np.float64]:
    """Copy some of the rows.

    Parameters
    ----------
    row tiles : float64 array of shape (n_row_tiles, d, 16)
    index : intp array of shape (m,)

    Returns
    -------
    float64 array of shape (ceil(m / 16), d, 16)
    """
    d = row_tiles.shape[1]
    taken = empty_row_tiles(len(index), d)
    for start in range(0, len(index), _TAKEN_ROWS) if d else ():
        part = index[start : start + _TAKEN_ROWS]
        rows = row_tiles[part // TILE_ROWS, :, part % TILE_ROWS]
        for j in range(d):
            write_column(taken, j, start, rows[:, j])
    return taken


def as_row_tiles(
    columns: NDArray[np.float64], should_stop: Callable[[], bool] | None = None
) -> NDArray[np.float64]:
    """Copy columns into row tiles.

    Parameters
    ----------
    columns : float64 array of shape (n, d)
    should_stop : callable, optional
        As in :func:`as_columns`.

    Returns
    -------
    float64 array of shape (ceil(n / 16), d, 16)
    """
    n, d = columns.shape
    row_tiles = empty_row_tiles(n, d)
    for j in range(d):
        if should_stop is not None and should_stop():
            break
        write_column(row_tiles, j, 0, columns[:, j])
    return row_tiles


def as_columns(
    row_tiles: NDArray[np.float64], n: int, should_stop: Callable[[], bool] | None = None
) -> NDArray[np.float64]:
    """Copy row tiles into columns.

    Parameters
    ----------
    row tiles : float64 array of shape (ceil(n / 16), d, 16)
    n : int
        Number of rows.
    should_stop : callable, optional
        Asked between columns; after True the others are left as they happen to be.

    Returns
    -------
    float64 array of shape (n, d), Fortran order
    """
    columns = np.empty((n, row_tiles.shape[1]), order="F")
    for j in range(row_tiles.shape[1]):
        if should_stop is not None and should_stop():
            break
        columns[:, j] = read_column(row_tiles, j, 0, n)
    return columns
