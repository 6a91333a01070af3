"""Options of the command ``alternatives`` that ``fit`` does not have, or has others of.

Importing this module imports typer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riskslim.cli.parsers import number

__all__ = [
    "AlternativesOutput",
    "AtMostVariables",
    "Bootstrap",
    "Choose",
    "Costs",
    "DecisionRisk",
    "GroupColumn",
    "Most",
    "NJobsOfSamples",
    "NSets",
    "Prices",
    "SeedOfSamples",
    "TestOfAlternatives",
    "WithItem",
    "WithinOfSets",
    "WithoutItem",
]

_COUNT = {"parser": number(int, 0), "metavar": "N"}
_WHOLE = {"parser": number(int), "metavar": "N"}
_REAL = {"parser": number(float)}

WithinOfSets = Annotated[
    float,
    typer.Option(
        "--within",
        **_REAL,
        metavar="SHARE",
        help="List the sets of items whose best score has an objective of at most 1 + SHARE times "
        "the best one, 0.01 for 1%.",
    ),
]
Prices = Annotated[
    str | None,
    typer.Option(
        metavar="used|all",
        help="What it costs to do without each item and variable of the best score; all: also, to "
        "use each other one.",
    ),
]
Most = Annotated[int, typer.Option(**_COUNT, help="Alternatives to print.")]
NSets = Annotated[
    int | None, typer.Option(**_WHOLE, help="List at most so many sets, the best ones.")
]
WithoutItem = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Leave out alternatives that have this item, or an item of this variable; may be "
        "given repeatedly.",
    ),
]
WithItem = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="NAME",
        help="Keep alternatives that have this item, or an item of this variable; may be given "
        "repeatedly.",
    ),
]
AtMostVariables = Annotated[
    int | None,
    typer.Option(
        "--at-most-variables", **_COUNT, help="Keep alternatives of at most so many variables."
    ),
]
Costs = Annotated[
    list[str] | None,
    typer.Option(
        "--cost",
        metavar="NAME=C",
        help="What it costs to measure a variable; may be given repeatedly.",
    ),
]
Choose = Annotated[
    tuple[int, Path] | None,
    typer.Option(
        metavar="RANK FILE",
        help="Save the alternative of this rank, 0 for the best, as a risk score in a JSON file.",
    ),
]
Bootstrap = Annotated[
    int | None,
    typer.Option(
        **_WHOLE,
        help="Search on so many bootstrap samples of the rows for how often items come back. "
        "They share another --time-limit.",
    ),
]
NJobsOfSamples = Annotated[
    int | None,
    typer.Option(
        "--n-jobs", **_WHOLE, help="Samples that are searched at once; -1: all cores. Default: 1."
    ),
]
SeedOfSamples = Annotated[
    int, typer.Option("--seed", **_COUNT, help="Seed of the bootstrap samples.")
]
TestOfAlternatives = Annotated[
    list[Path] | None,
    typer.Option(
        "--test",
        metavar="DATA",
        help="File or folder with rows that were not used to find the alternatives, to measure "
        "them on; may be given repeatedly.",
    ),
]
GroupColumn = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="NAME",
        help="Column between whose values decisions are compared; --exclude it where it is to be "
        "no feature.",
    ),
]
DecisionRisk = Annotated[
    float,
    typer.Option(
        "--threshold",
        **_REAL,
        metavar="R",
        help="Risk from which on rows are called positive, for decisions that depend on the "
        "choice.",
    ),
]
AlternativesOutput = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="JSON file to save all of it to, for a report."
    ),
]
