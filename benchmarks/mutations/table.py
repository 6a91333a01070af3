"""Tables of what was caught, before and after a change of the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.mutations.places import SHARES, room_of
from benchmarks.records import Row

__all__ = ["CAUGHT", "MISSED", "report", "share"]

CAUGHT, MISSED = ("yes", "timeout"), ("no", "limit")


def share(rows: Sequence[Row]) -> str:
    """Number of places that were caught, of those that could be broken.

    Parameters
    ----------
    rows : sequence of mappings

    Returns
    -------
    str
        Such as "31 of 40 (78%)".
    """
    judged = [row for row in rows if row["caught"] in CAUGHT + MISSED]
    caught = sum(row["caught"] in CAUGHT for row in judged)
    percent = f" ({caught / len(judged):.0%})" if judged else ""
    return f"{caught} of {len(judged)}{percent}"


def report(runs: Mapping[str, Sequence[Row]], remarks: Mapping[int, str]) -> str:
    """Write the tables.

    Parameters
    ----------
    runs : mapping
        Rows by name of the run, such as "before" and "after".
    remarks : mapping
        What is to be said of a place, by its number.

    Returns
    -------
    str
        Markdown.
    """
    lines = [f"| caught | {' | '.join(runs)} |", f"|---|{'---|' * len(runs)}"]
    for part in (*SHARES, "all"):
        shares = [
            share([row for row in rows if part in ("all", room_of(row["file"]))])
            for rows in runs.values()
        ]
        lines.append(f"| {part} | {' | '.join(shares)} |")
    spent = [f"{sum(float(row['seconds']) for row in rows) / 60:.0f}" for rows in runs.values()]
    lines += [f"| CPU minutes | {' | '.join(spent)} |", ""]
    lines += [
        f"| | place | broken | {' | '.join(runs)} | remark |",
        f"|---|---|---|{'---|' * len(runs)}---|",
    ]
    found = {name: {int(row["number"]): row for row in rows} for name, rows in runs.items()}
    numbers = {number for rows in found.values() for number in rows}
    for number in sorted(numbers):
        row = next(rows[number] for rows in found.values() if number in rows)
        outcomes = [_outcome(rows.get(number)) for rows in found.values()]
        cells = [
            str(number),
            f"{row['file'].removeprefix('riskslim/')}: {_code(row['line'])}",
            row["operator"] if row["operator"][0].isalpha() else _code(row["operator"]),
            *outcomes,
            remarks.get(number, ""),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _outcome(row: Row | None) -> str:
    if row is None:
        return ""
    test = row["by"].removeprefix("tests/").replace("|", "\\|")
    by = f": {test}" if row["caught"] in CAUGHT else ""
    return f"{row['caught']}{by} ({float(row['seconds']):.0f} s)"
