"""Tables and cells of the report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from riskslim.metrics.bootstrap import Interval
from riskslim.metrics.calibration import ConsistencyRange

__all__ = ["Cell", "ReportTable", "finite_or_none", "number_cell"]


class Cell(NamedTuple):
    """An entry of a table: its text, and the number with all its digits and its interval."""

    text: str
    value: float | None = None
    interval: Interval | ConsistencyRange | None = None
    interval_text: str = ""


class ReportTable(NamedTuple):
    """A table whose rows begin with a heading."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


def number_cell(value: float, form: str) -> Cell:
    """A cell with a number in some format."""
    return Cell(f"{value:{form}}", finite_or_none(value))


def finite_or_none(value: float) -> float | None:
    """The number as a value to sort by; None if it is not finite."""
    return value if math.isfinite(value) else None
