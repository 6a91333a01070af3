"""CSV files of measurements: one row each, written when it ends, so that a run can be continued."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

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
