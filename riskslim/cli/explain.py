"""``riskslim explain``: the points of each row, reasons for its score, and what would change it.

Rows are explained as :meth:`riskslim.RiskScore.explain` does: as text, or as a table with a line
for each row and item.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import riskslim
from riskslim._wording import listing, printable
from riskslim._writing import csv_text, write_file
from riskslim.cli import options
from riskslim.cli.applying import Applied, files_of, naming
from riskslim.cli.arguments import checked_word
from riskslim.cli.layout import shown_of
from riskslim.cli.outputs import check_outputs, write_text, writing
from riskslim.cli.session import print_remarks, session
from riskslim.cli.streams import emit
from riskslim.score.explanation import Explanation
from riskslim.score.lines import note_on_layout

if TYPE_CHECKING:
    from riskslim.cli.applying import RowsOfFile

__all__ = ["explain"]

# More rows than that are no text that anybody reads.
_MOST_PRINTED = 100
_COLUMNS = ("score", "risk", "item", "value", "points", "reason", "cost")
_AGAINST_AVERAGE = ("reason_against_average", "cost_against_average")
_SUFFIXES = (".csv", ".json", ".parquet")


def explain(
    *,
    score: options.ScoreFile,
    data: options.DataFiles,
    row: options.ExplainedRows = None,
    identifier: options.IdentifierOfRows = None,
    threshold: options.ScoreThreshold = None,
    fixed: options.Fixed = None,
    average_of: options.AverageOf = None,
    best: options.Best = None,
    output: options.ExplanationsOutput = None,
    no_formulas: options.NoFormulas = False,
    by: options.By = None,
    points: options.PointsShown = None,
    labels: options.LabelsFile = None,
    rename: options.Rename = None,
    unknown_levels: options.UnknownLevels = "error",
    missing_text: options.MissingText = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    memory_limit: options.MemoryLimitOfRows = None,
) -> None:
    """Say why rows have their scores, and what would change them.

    For each row there are the points of each item and the changes that matter; a table has the rank
    of each variable among the reasons as well. Rows are named by --row; without it, all are
    explained. Words and points are those of the sheet. DATA is read as by predict.
    """
    with session():
        checked_word(best, "--best", "any")
        if output is not None and output.suffix not in _SUFFIXES:
            raise ValueError(f"--output must end in .csv, .json or .parquet, got {output}")
        files = files_of(data)
        others = average_of or []
        sources = [("data", one) for one in (*data, *others)]
        check_outputs({"--output": output}, [("risk score", score), ("labels", labels), *sources])
        _check_names(row or [], identifier, files)
        loaded = riskslim.RiskScore.load(score)
        risk_score = shown_of(by, points, labels).of(loaded)
        applied = Applied.of(
            risk_score, unknown_levels, (missing_text, separator, decimal, encoding),
            memory_limit=memory_limit, what="--average-of", rename=rename,
            several=bool(others),
        )  # fmt: skip
        average = None
        if others:
            rows = applied.all_rows(others, outcome=None, weights=None, labelled=False)
            average = risk_score.average_points(rows.X)
        asked: dict[str, Any] = {
            "threshold": threshold, "fixed": fixed or [], "average": average,
            "best": best or "measured",
        }  # fmt: skip
        names: list[Any] = []
        found: list[Explanation] = []
        remarks: list[str] = []
        for path in files:
            chosen = applied.opened(path)
            named, places = _chosen(applied, chosen, identifier, row)
            if not named:
                continue
            if places is not None:  # what other rows have is nobody's concern
                chosen = chosen._replace(table=chosen.table.take(places))
            chosen = applied.completed(chosen)
            names += named
            with naming(path):
                found += risk_score.explain_rows(chosen.table, **asked)
            remarks += applied.remarks(chosen, named=len(files) > 1)
        if row and identifier is not None:
            _check_found(row, list(map(str, names)), identifier)
        if output is None:
            _print(names, found, identifier)
        else:
            _write(
                output, names, found, identifier or "row", against=average is not None,
                formulas=not no_formulas,
            )  # fmt: skip
        print_remarks((*remarks, *filter(None, [note_on_layout(risk_score, loaded)])))


def _check_names(rows: Sequence[str], identifier: str | None, files: Sequence[Path]) -> None:
    """Refuse names of rows and columns that stand for two things, before anything is read."""
    if identifier in {*_COLUMNS, *_AGAINST_AVERAGE}:
        raise ValueError(f"--id {identifier}: the output has a column of this name already")
    if identifier is not None:
        return
    if rows and len(files) > 1:
        raise ValueError(
            f"--row counts the rows of one file, but DATA are {len(files)}: give one of them, or "
            "--id with the column that says which row is which"
        )
    for text in rows:
        if not (text.isascii() and text.isdigit()):
            raise ValueError(
                f"--row must be the number of a row, counted from 0, got {text!r}; --id names a "
                "column for values of it"
            )


def _chosen(
    applied: Applied, rows: RowsOfFile, identifier: str | None, wanted: list[str] | None
) -> tuple[list[Any], list[int] | None]:
    """Names of the rows of a file that are to be explained, and their places; None for all."""
    n_rows = rows.read.num_rows
    if identifier is None:
        places = list(dict.fromkeys(map(int, wanted or [])))
        if beyond := [k for k in places if k >= n_rows]:
            raise ValueError(
                f"--row {beyond[0]}: {rows.path} has {n_rows} rows, which are counted from 0"
            )
        return (places, places) if wanted else (list(range(n_rows)), None)
    names = applied.identifiers(rows, identifier).to_pylist()
    if not wanted:
        return names, None
    places = [k for k, one in enumerate(names) if one is not None and str(one) in wanted]
    return [names[k] for k in places], places


def _check_found(wanted: Sequence[str], names: Sequence[str], identifier: str) -> None:
    missing = [one for one in wanted if one not in names]
    if missing:
        raise ValueError(
            f"no row has {listing(map(repr, missing))} in the column {identifier!r} (--row, --id)"
        )


def _print(names: Sequence[Any], found: Sequence[Explanation], identifier: str | None) -> None:
    """Print explanations one below the other."""
    if len(found) > _MOST_PRINTED:
        raise ValueError(
            f"{len(found):,} rows are too many to be read: name some by --row, or write all to a "
            "file by --output"
        )
    head = "Row " if identifier is None else f"{identifier} = "
    texts = (f"{head}{name}\n{one}" for name, one in zip(names, found, strict=True))
    emit("\n\n".join(printable(text) for text in texts))


def _write(
    path: Path,
    names: Sequence[Any],
    found: Sequence[Explanation],
    key: str,
    *,
    against: bool,
    formulas: bool,
) -> None:
    if path.suffix == ".json":
        documents = [{key: name} | one.to_dict() for name, one in zip(names, found, strict=True)]
        write_text(f"{json.dumps(documents, ensure_ascii=False, default=str, indent=1)}\n", path)
        return
    columns = [*_COLUMNS, *(_AGAINST_AVERAGE if against else ())]
    lines = ([name, *line] for name, line in _lines(names, found, columns))
    if path.suffix == ".csv":
        write_text(csv_text([[key, *columns], *lines], formulas=formulas), path)
        return
    import pyarrow
    import pyarrow.parquet as parquet

    kinds = _kinds(found)
    by_column = list(zip(*lines, strict=True)) or [()] * (1 + len(columns))
    arrays = [
        pyarrow.array(values, kinds.get(name))
        for name, values in zip((key, *columns), by_column, strict=True)
    ]
    octets = io.BytesIO()
    parquet.write_table(pyarrow.table(dict(zip((key, *columns), arrays, strict=True))), octets)
    with writing():
        write_file(path, octets.getvalue())


def _lines(
    names: Sequence[Any], found: Sequence[Explanation], columns: Sequence[str]
) -> Iterator[tuple[Any, list[Any]]]:
    """A line for each row and item; rows that are alike share theirs."""
    known: dict[int, list[list[Any]]] = {}
    for name, one in zip(names, found, strict=True):
        if id(one) not in known:
            of_row = {"score": one.score, "risk": one.risk}
            known[id(one)] = [
                [(of_row | record)[column] for column in columns] for record in one.records()
            ]
        for line in known[id(one)]:
            yield name, line


def _kinds(found: Sequence[Explanation]) -> dict[str, Any]:
    """Types of the columns of a table; points are whole unless a value is not."""
    import pyarrow

    records = [
        record for one in {id(one): one for one in found}.values() for record in one.records()
    ]
    number = pyarrow.int64()
    if not all(isinstance(one.score, int) for one in found) or not all(
        isinstance(record["points"], int) for record in records
    ):
        number = pyarrow.float64()
    return {
        **dict.fromkeys(("score", "points", "cost"), number),
        **dict.fromkeys(("reason", "reason_against_average"), pyarrow.int64()),
        **dict.fromkeys(("risk", "cost_against_average"), pyarrow.float64()),
        **dict.fromkeys(("item", "value"), pyarrow.string()),
    }
