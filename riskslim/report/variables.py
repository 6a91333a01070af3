"""The table of raw columns in the report: values, special ones, and where they are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing
from riskslim.data.feature_ranges import short
from riskslim.items.columns import missing_in
from riskslim.items.item import as_written, value_text
from riskslim.items.rules import raw_table
from riskslim.items.variables import RawVariable, special_among
from riskslim.report.cells import Cell, ReportTable
from riskslim.report.rows import Rows
from riskslim.score.naming import label_of

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["FoundValues", "found_in", "special_texts", "variable_table"]

_T = TypeVar("_T")


def variable_table(score: RiskScore, rows: Sequence[Rows]) -> ReportTable | None:
    """The raw columns that features with points are computed from, and where values are missing.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows

    Returns
    -------
    ReportTable or None
        None where the score does not know them.
    """
    if not score.variables:
        return None
    special = any(variable.special for variable in score.variables.values())
    heads = ["Column", "Values it was learned on", *_if(special, "Special values"), "missing"]
    for one in rows:
        heads += [f"{one.name}: values", *_if(special, "special values"), "missing"]
    found = [found_in(score, one) for one in rows]
    lines = []
    for name, variable in score.variables.items():
        known = {"boolean": "no, yes", "numeric": variable.range_text}.get(
            variable.kind, listing(map(str, variable.levels))
        )
        names = special_texts(score, variable)
        line = [Cell(name), Cell(known), *_if(special, Cell("; ".join(names.values())))]
        line.append(_missing_cell(variable.n_missing, variable.n_samples))
        for of_rows in found:
            text, counts, missing = _found_cells(of_rows.get(name), names)
            line += [text, *_if(special, counts), missing]
        lines.append(line)
    note = "Features with points are computed from these columns."
    if special:
        note += " Special values are no measurements: ranges are without them."
    return ReportTable("Raw columns", heads, lines, note)


def _if(wanted: bool, value: _T) -> list[_T]:
    return [value] if wanted else []


def special_texts(score: RiskScore, variable: RawVariable) -> dict[float, str]:
    """Special values of a column in words: "999 (never)" where they have a label.

    Parameters
    ----------
    score : RiskScore
    variable : RawVariable

    Returns
    -------
    dict from float to str
    """
    found, label = {}, label_of(score, variable.name)
    for value in variable.special:
        text = value_text(as_written(value))
        said = label.level(text)
        found[value] = text if said == text else f"{text} ({said})"
    return found


class FoundValues(NamedTuple):
    """Values of a raw column in some rows.

    Attributes
    ----------
    text : str
        The range, or the levels.
    ends : tuple of float
        Least and largest number that is no special value; empty where there is none.
    special : dict from float to int
        Rows with each special value.
    n_missing, n : int
        Rows without a value, and all.
    """

    text: str
    ends: tuple[float, ...]
    special: dict[float, int]
    n_missing: int
    n: int

    def figures(self) -> dict[str, float]:
        """The numbers by name."""
        found = dict(zip(("minimum", "maximum"), self.ends, strict=False))
        found |= {f"n_special {value_text(as_written(v))}": n for v, n in self.special.items()}
        return {**found, "n_missing": self.n_missing}


def found_in(score: RiskScore, rows: Rows) -> dict[str, FoundValues]:
    """Values that rows have in the raw columns of a score.

    Parameters
    ----------
    score : RiskScore
    rows : Rows

    Returns
    -------
    dict from str to FoundValues
        Of those columns that the rows have.
    """
    if not score.variables:
        return {}
    table = raw_table(rows.X)
    names = [str(name) for name in table.names or ()]
    return {
        name: _found(variable, table.values(names.index(name)))
        for name, variable in score.variables.items()
        if name in names
    }


def _found(variable: RawVariable, raw: NDArray[Any]) -> FoundValues:
    missing = missing_in(raw)
    there = raw[~missing]
    n_missing, n = int(np.count_nonzero(missing)), len(raw)
    if variable.kind == "numeric":
        numbers = there.astype(np.float64)  # of records and lists they are objects
        special = {one: int(special_among(numbers, [one]).sum()) for one in variable.special}
        numbers = numbers[~variable.are_special(numbers)]
        ends = (numbers.min().item(), numbers.max().item()) if len(numbers) else ()
        return FoundValues(" to ".join(map(short, ends)), ends, special, n_missing, n)
    if variable.kind == "boolean":
        text = ", ".join("yes" if value else "no" for value in sorted(set(there.tolist())))
    else:
        text = listing(sorted(map(str, set(there.tolist()))))
    return FoundValues(text, (), {}, n_missing, n)


def _found_cells(found: FoundValues | None, names: Mapping[float, str]) -> tuple[Cell, Cell, Cell]:
    """Values, numbers of special ones, and missing ones."""
    if found is None:
        return Cell("not given"), Cell(""), Cell("")
    counts = [
        f"{names[value]}: {_counted(count, found.n)}" for value, count in found.special.items()
    ]
    missing = _missing_cell(found.n_missing, found.n)
    return Cell(found.text), Cell("; ".join(counts)), missing


def _missing_cell(count: int, n_samples: int) -> Cell:
    return Cell(_counted(count, n_samples), count)


def _counted(count: int, n_samples: int) -> str:
    return f"{count} ({count / n_samples:.1%})" if count else "0"
