"""Tables of what was caught, before and after a change of the tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from benchmarks.mutations.places import SHARES, room_of
from benchmarks.mutations.trials import CAUGHT
from benchmarks.records import Row

__all__ = ["report", "share"]

_MISSED = ("no", "limit")


def share(rows: Iterable[Row]) -> str:
    """Number of places that were caught, of those that could be broken.

    Parameters
    ----------
    rows : iterable of mappings

    Returns
    -------
    str
        Such as "31 of 40 (78%)".
    """
    judged = [row for row in rows if row["caught"] in CAUGHT + _MISSED]
    caught = sum(row["caught"] in CAUGHT for row in judged)
    percent = f" ({caught / len(judged):.0%})" if judged else ""
    return f"{caught} of {len(judged)}{percent}"


def report(runs: Mapping[str, Mapping[int, Row]], remarks: Mapping[int, str]) -> str:
    """Write the tables.

    Parameters
    ----------
    runs : mapping
        Rows by number, by name of the run, such as "before" and "after".
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
            share(row for row in rows.values() if part in ("all", room_of(row["file"])))
            for rows in runs.values()
        ]
        lines.append(f"| {part} | {' | '.join(shares)} |")
    seconds = [sum(float(row["seconds"]) for row in rows.values()) for rows in runs.values()]
    lines += [f"| CPU minutes | {' | '.join(f'{one / 60:.0f}' for one in seconds)} |", ""]
    lines += [
        f"| | place | broken | {' | '.join(runs)} | remark |",
        f"|---|---|---|{'---|' * len(runs)}---|",
    ]
    for number in sorted({number for rows in runs.values() for number in rows}):
        row = next(rows[number] for rows in runs.values() if number in rows)
        outcomes = [_outcome(rows.get(number)) for rows in runs.values()]
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
    caught = (
        f"no, within {float(row['within']):.0f} s" if row["caught"] == "limit" else row["caught"]
    )
    return f"{caught}{by} ({float(row['seconds']):.0f} s)"
