"""CSV files of measurements: one row each, written when it ends, so that a run can be continued."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, str]


def read_rows(path: Path, fields: Sequence[str]) -> list[Row]:
    """Rows that are in the file, none if there is no file.

    Parameters
    ----------
    path : Path
    fields : sequence of str
        Its columns.

    Returns
    -------
    list of mappings

    Raises
    ------
    ValueError
        If it has other columns.
    """
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows: list[Row] = list(csv.DictReader(file))
    if rows and tuple(rows[0]) != tuple(fields):
        raise ValueError(
            f"{path} has columns {', '.join(rows[0])}, expected {', '.join(fields)}; "
            "move it away to start anew"
        )
    return rows


def append_row(path: Path, fields: Sequence[str], row: Mapping[str, object]) -> None:
    """Write one row, below the heading if the file is new.

    Parameters
    ----------
    path : Path
    fields : sequence of str
    row : mapping
        A value per field; None leaves it empty.
    """
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, fields)
        if is_new:
            writer.writeheader()
        writer.writerow(row)


class Records:
    """Rows of a file by the columns that tell them apart: what is there is not measured again.

    Parameters
    ----------
    path : Path
    fields : sequence of str
        Columns of the file.
    keys : sequence of str
        The columns that tell rows apart.

    Attributes
    ----------
    n_made : int
        Rows that were added.

    Raises
    ------
    ValueError
        If the file has other columns.
    """

    def __init__(self, path: Path, fields: Sequence[str], keys: Sequence[str]) -> None:
        self._path, self._fields, self._keys = path, fields, keys
        self._there = {tuple(row[key] for key in keys) for row in read_rows(path, fields)}
        self.n_made = 0

    def add(
        self, values: Sequence[object], measure: Callable[..., Mapping[str, Any]], *arguments: Any
    ) -> dict[str, Any] | None:
        """Measure and write a row, unless it is there.

        Parameters
        ----------
        values : sequence
            One for each of the keys.
        measure : callable
            Called with the arguments; returns the other columns, those that are left out are empty.

        Returns
        -------
        dict or None
            The row; None if it is there already.
        """
        if tuple(map(str, values)) in self._there:
            return None
        row = dict.fromkeys(self._fields, "") | dict(zip(self._keys, values, strict=True))
        row |= measure(*arguments)
        append_row(self._path, self._fields, row)
        self.n_made += 1
        return row
