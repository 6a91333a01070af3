"""One table as array, data frame and file, and the plain way of making a matrix of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.instances import Table
from riskslim import TrainingData, read

OUTCOME = "outcome"


class Source(NamedTuple):
    """A table in one form.

    Attributes
    ----------
    build : callable
        Make TrainingData from it.
    plain : callable
        Make what plain NumPy code works on: a checked float64 matrix in column order with a
        leading column of ones, and float64 labels.
    n_bytes : int
        Memory that the table itself takes, or the size of the file.
    """

    build: Callable[[], TrainingData]
    plain: Callable[[], tuple[NDArray[np.float64], NDArray[np.float64]]]
    n_bytes: int


def make_source(name: str, table: Table, folder: Path) -> Source:
    """Put a table into the form ``name``, one of :data:`SOURCES`."""
    return SOURCES[name](table, folder)


def _float64_rows(table: Table, folder: Path) -> Source:
    return _from_array(np.ascontiguousarray(table.X, dtype=np.float64), table.y)


def _float64_columns(table: Table, folder: Path) -> Source:
    return _from_array(np.asfortranarray(table.X, dtype=np.float64), table.y)


def _int8_columns(table: Table, folder: Path) -> Source:
    return _from_array(np.asfortranarray(table.X, dtype=np.int8), table.y)


def _pandas(table: Table, folder: Path) -> Source:
    import pandas as pd

    frame = pd.DataFrame({f"x{j + 1}": column for j, column in enumerate(table.X.T)})
    return Source(
        lambda: TrainingData(frame, table.y),
        lambda: _checked(frame.to_numpy(), table.y),
        table.X.nbytes,
    )


def _parquet(table: Table, folder: Path) -> Source:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "table.parquet"
    columns = {f"x{j + 1}": column for j, column in enumerate(table.X.T)}
    pq.write_table(pa.table({OUTCOME: table.y, **columns}), path)

    def plain() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        import pandas as pd

        frame = pd.read_parquet(path)
        return _checked(frame.drop(columns=OUTCOME).to_numpy(), frame[OUTCOME].to_numpy())

    return Source(lambda: read(path, OUTCOME), plain, path.stat().st_size)


def _from_array(X: NDArray[Any], y: NDArray[Any]) -> Source:
    return Source(lambda: TrainingData(X, y), lambda: _checked(X, y), X.nbytes)


def _checked(X: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    n, d = X.shape
    matrix = np.empty((n, d + 1), order="F")
    matrix[:, 0] = 1.0
    matrix[:, 1:] = X
    if not np.isfinite(matrix).all():
        raise ValueError("X has values that are not finite")
    classes = np.unique(y)
    if len(classes) != 2:
        raise ValueError("y has not two classes")
    return matrix, np.where(y == classes[1], 1.0, -1.0)


SOURCES: dict[str, Callable[[Table, Path], Source]] = {
    "float64 array, rows": _float64_rows,
    "float64 array, columns": _float64_columns,
    "int8 array, columns": _int8_columns,
    "pandas": _pandas,
    "parquet": _parquet,
}
