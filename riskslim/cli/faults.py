"""Messages on columns that cannot be used, with the options that would help."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from riskslim._wording import listing
from riskslim.cli.messages import shell_word
from riskslim.data.faults import FAULTS, NUMBER, ColumnError, UnusableColumnsError
from riskslim.data.files import open_file
from riskslim.data.tables import series_values
from riskslim.items.columns import tell_rows_apart

if TYPE_CHECKING:
    from pathlib import Path

    from riskslim.data.csv_format import CsvFormat

__all__ = ["identifiers_in", "with_options"]

# What to do about columns that no further option makes usable.
_REPAIRS = {
    "text": "leave them out of --numeric, so that --items makes items of them",
    "date": "leave them out, or make numbers of them, such as days since a date",
    "missing": "leave them out of --numeric, or remove the rows, or impute the values",
    "special": "leave them out of --numeric, so that --items makes items of them",
    "special levels": "leave them out of --special: each of their levels has an item anyway",
    "inexact special": "write them in 64 bits",
    "inexact": "leave them out if they say who a row is, otherwise subtract a number or divide",
}
_IF_IDENTIFIERS = "leave them out if they say who a row is; if not, do without their --exclude"
_USUAL_REPAIR = "leave them out, or correct the values"


def with_options(
    error: UnusableColumnsError,
    path: str,
    *,
    items: bool,
    numeric: Collection[str],
    features: Collection[str],
    identifiers: Collection[str] = (),
) -> str:
    """Say in one line for each kind of fault what is wrong, and which options would help.

    Parameters
    ----------
    error : UnusableColumnsError
    path : str
        Of the data.
    items : bool
        Whether --items was given.
    numeric, features : collection of str
        Columns that were given by --numeric and by --features.
    identifiers : collection of str, default ()
        Columns that can be used, but seem to say who a row is.

    Returns
    -------
    str
        The last line has options to be added as they are, where there are any.
    """
    lines: list[str] = []
    options: list[str] = []
    for kind in FAULTS:
        columns = {name: fault for name, fault in error.faults if fault.kind == kind}
        if not columns:
            continue
        listed = listing(
            f"{name!r} ({fault.where(error.n_samples)})" for name, fault in columns.items()
        )
        advice, helpful = _advice(kind, columns, set(numeric), set(features))
        options += helpful
        lines.append(f"  {FAULTS[kind][2]} in {listed}: {advice}")
    names = {name for name, _ in error.faults}
    count = "1 column" if len(names) == 1 else f"{len(names)} columns"
    lines.insert(0, f"{count} of {path} cannot be used as features (rows counted from 0):")
    if identifiers:
        listed = listing(map(repr, identifiers))
        lines.append(f"  another integer in every row of {listed}: {_IF_IDENTIFIERS}")
        options += [f"--exclude {shell_word(name)}" for name in identifiers]
    wanted = [option for option in dict.fromkeys(options) if not (items and option == "--items")]
    if wanted:
        lines.append(f"To leave out or encode all of them, add: {' '.join(wanted)}")
    return "\n".join(lines)


def identifiers_in(
    path: Path, others: Collection[str | None], csv_format: CsvFormat | None = None
) -> list[str]:
    """Find columns of integers that differ in all of many rows.

    Parameters
    ----------
    path : Path
        Of the data.
    others : collection of str
        Columns that are not looked at, since they are asked for or left out.
    csv_format : CsvFormat, optional

    Returns
    -------
    list of str
    """
    found = []
    with open_file(path, csv_format) as (names, column):
        for j, name in enumerate(names):
            if name in others:
                continue
            values = series_values(column(j))
            if values.dtype.kind in "iu" and tell_rows_apart(
                np.unique(values), len(values), least_share=1
            ):
                found.append(name)
    return found


def _has_decimal_comma(example: str) -> bool:
    return "," in example and NUMBER.fullmatch(example[1:-1]) is not None


def _advice(
    kind: str, columns: dict[str, ColumnError], numeric: set[str], features: set[str]
) -> tuple[str, list[str]]:
    """Return what to do about columns with one kind of fault, and options that do it."""
    if kind == "mixed":
        texts = " ".join(
            f"--missing-text {shell_word(fault.example[1:-1])}" for fault in columns.values()
        )
        return (
            f"correct these values; or read them as missing, with an option for each: {texts}",
            [],
        )
    if kind == "text" and all(_has_decimal_comma(fault.example) for fault in columns.values()):
        return "numbers with decimal commas are read with --decimal , and another --separator", []
    can_be_items = kind in ("text", "missing")
    in_the_way = (numeric if can_be_items else features) & columns.keys()
    first, fault = next(iter(columns.items()))
    if in_the_way or not can_be_items:
        advice = _REPAIRS.get(kind, _USUAL_REPAIR)
        option = "--numeric" if can_be_items else "--features"
        given = [f"{option} {shell_word(name)}" for name in columns if name in in_the_way]
        if given:
            return f"{advice}; without {' '.join(given)}", []
        return advice, [f"--exclude {shell_word(name)}" for name in columns]
    if kind == "missing":
        item = f"{first} is missing"
        advice = f"--missing indicator makes items of them, such as {item!r}"
        return advice, ["--items", "--missing indicator"]
    item = f"{first} = {fault.example[1:-1]}"
    advice = f"--items makes items of it, such as {item!r}; --exclude leaves out who a row is"
    return advice, ["--items"]
