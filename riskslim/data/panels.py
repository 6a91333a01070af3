r"""The layout of real columns in memory: panels of 16 rows.

A panel holds 16 rows of every column, column after column; the panels follow each other. In an
array of shape (n_panels, d, 16), row i of column j is ``panels[i // 16, j, i % 16]``. A pass over
all columns reads memory from one end to the other, which processors do best (docs/kernels.md has
the measurements). The rows that are missing in the last panel are zero.

The kernels know this layout from ``_kernels/panels.h``, everything else from here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "PANEL_ROWS",
    "as_columns",
    "as_panels",
    "empty_panels",
    "read_column",
    "take_panels",
    "write_column",
]

PANEL_ROWS = 16

# A column of a panel is two cache lines, which processors fetch together if they are a pair.
_ALIGNMENT = 128

# Rows that are taken at a time: a few megabytes on the way.
_TAKEN_ROWS = 16384


def empty_panels(n: int, d: int) -> NDArray[np.float64]:
    """Return panels for n rows and d columns, to be filled; only missing rows are zero.

    Parameters
    ----------
    n, d : int

    Returns
    -------
    float64 array of shape (ceil(n / 16), d, 16)
    """
    shape = (-(-n // PANEL_ROWS), d, PANEL_ROWS)
    n_bytes = 8 * shape[0] * d * PANEL_ROWS
    store = np.empty(n_bytes + _ALIGNMENT, dtype=np.uint8)
    first = -store.ctypes.data % _ALIGNMENT
    panels = store[first : first + n_bytes].view(np.float64).reshape(shape)
    if n % PANEL_ROWS:
        panels[-1, :, n % PANEL_ROWS :] = 0.0
    return panels


def write_column(
    panels: NDArray[np.float64], j: int, start: int, values: NDArray[np.float64]
) -> None:
    """Write rows start, start + 1, ... of a column.

    Parameters
    ----------
    panels : float64 array of shape (n_panels, d, 16)
    j : int
    start : int
        A multiple of 16.
    values : float64 array of shape (m,)
    """
    first, whole = start // PANEL_ROWS, len(values) // PANEL_ROWS
    rest = whole * PANEL_ROWS
    panels[first : first + whole, j] = values[:rest].reshape(whole, PANEL_ROWS)
    if rest < len(values):
        panels[first + whole, j, : len(values) - rest] = values[rest:]


def read_column(panels: NDArray[np.float64], j: int, start: int, stop: int) -> NDArray[np.float64]:
    """Return rows start, start + 1, ..., stop - 1 of a column, copied if there are others.

    Parameters
    ----------
    panels : float64 array of shape (n_panels, d, 16)
    j : int
    start, stop : int
        ``start`` is a multiple of 16.

    Returns
    -------
    float64 array of shape (stop - start,)
    """
    part = panels[start // PANEL_ROWS : -(-stop // PANEL_ROWS), j]
    return part.reshape(-1)[: stop - start]


def take_panels(panels: NDArray[np.float64], index: NDArray[np.intp]) -> NDArray[np.float64]:
    """Copy some of the rows.

    Parameters
    ----------
    panels : float64 array of shape (n_panels, d, 16)
    index : intp array of shape (m,)

    Returns
    -------
    float64 array of shape (ceil(m / 16), d, 16)
    """
    d = panels.shape[1]
    taken = empty_panels(len(index), d)
    for start in range(0, len(index), _TAKEN_ROWS) if d else ():
        part = index[start : start + _TAKEN_ROWS]
        rows = panels[part // PANEL_ROWS, :, part % PANEL_ROWS]
        for j in range(d):
            write_column(taken, j, start, rows[:, j])
    return taken


def as_panels(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Copy columns into panels.

    Parameters
    ----------
    columns : float64 array of shape (n, d)

    Returns
    -------
    float64 array of shape (ceil(n / 16), d, 16)
    """
    n, d = columns.shape
    panels = empty_panels(n, d)
    for j in range(d):
        write_column(panels, j, 0, columns[:, j])
    return panels


def as_columns(
    panels: NDArray[np.float64], n: int, should_stop: Callable[[], bool] | None = None
) -> NDArray[np.float64]:
    """Copy panels into columns.

    Parameters
    ----------
    panels : float64 array of shape (ceil(n / 16), d, 16)
    n : int
        Number of rows.
    should_stop : callable, optional
        Asked between columns; after True the others are left as they happen to be.

    Returns
    -------
    float64 array of shape (n, d), Fortran order
    """
    columns = np.empty((n, panels.shape[1]), order="F")
    for j in range(panels.shape[1]):
        if should_stop is not None and should_stop():
            break
        columns[:, j] = read_column(panels, j, 0, n)
    return columns
