"""Options of exports and scorecards, as :mod:`riskslim.cli.options` has those of other commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riskslim.cli.arguments import EXPORTS
from riskslim.cli.parsers import number
from riskslim.exports.dialects import SQL_DIALECTS

_WHOLE = {"parser": number(int), "metavar": "N"}
_REAL = {"parser": number(float)}

Target = Annotated[
    str,
    typer.Option("--format", metavar="NAME", help=f"One of {', '.join(EXPORTS)}."),
]
Dialect = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"With sql: {', '.join(SQL_DIALECTS)}. Default: ansi.",
    ),
]
ScoreColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="With sql and --table: column of the score. The database refuses a table that has "
        "it. Default: score.",
    ),
]
RiskColumn = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The same for the risk. Default: risk."),
]
QueriedTable = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|SCHEMA.NAME",
        help="With sql: write a query of this table, not the expression alone.",
    ),
]
BooleanColumns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="With sql: input whose column is of type BOOLEAN; may be given repeatedly.",
    ),
]
Reasons = Annotated[
    int | None,
    typer.Option(
        **_WHOLE,
        help="With python, and with sql and --table: the variables that cost most points, so many.",
    ),
]
FunctionName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="With python and javascript: name of the function, in place of predict_risk and "
        "predictRisk.",
    ),
]
Inputs = Annotated[
    str | None,
    typer.Option(
        metavar="raw|items",
        help="With python, javascript, sql and pmml: compute the items from raw columns (the "
        "default where the score knows these), or take columns named as the items.",
    ),
]
BasePoints = Annotated[
    float,
    typer.Option(**_REAL, metavar="N", help="Total at which the odds are those of --base-odds."),
]
BaseOdds = Annotated[
    float,
    typer.Option(
        **_REAL,
        metavar="R",
        help="Odds at the base points: against the outcome where a higher total is safer, else "
        "for it.",
    ),
]
PDO = Annotated[float, typer.Option(**_REAL, metavar="N", help="Points that double the odds.")]
HigherIs = Annotated[
    str,
    typer.Option(metavar="safer|riskier", help="Of a higher total: its risk is lower or higher."),
]
Span = Annotated[
    str | None,
    typer.Option(metavar="LOW:HIGH", help="Totals, such as 300:850, in place of points and PDO."),
]
CardFormat = Annotated[
    str,
    typer.Option(
        "--format", metavar="NAME", help="One of text, markdown, html, latex, csv (points alone)."
    ),
]
TextOutput = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write to, in UTF-8.")
]
