"""Arguments and options of the commands, each a type with its name for people and its help text.

Importing this module imports typer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import riskslim
from riskslim.cli.parsers import number
from riskslim.cli.streams import emit
from riskslim.data.csv_format import MISSING_TEXTS

_COUNT = {"parser": number(int, 0), "metavar": "N"}
_WHOLE = {"parser": number(int), "metavar": "N"}
_REAL = {"parser": number(float)}

# ---------------------------------------------------------------------------------------------
# Before any command
# ---------------------------------------------------------------------------------------------


def _print_version(wanted: bool) -> None:
    if wanted:
        emit(f"riskslim {riskslim.__version__}")
        raise typer.Exit


ShowVersion = Annotated[
    bool,
    typer.Option(
        "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
    ),
]


def root(*, version: ShowVersion = False) -> None:
    """Take the options that stand before any command."""


# ---------------------------------------------------------------------------------------------
# Of several commands
# ---------------------------------------------------------------------------------------------

ScoreFile = Annotated[
    Path, typer.Argument(metavar="SCORE", help="JSON file that fit wrote.", show_default=False)
]
RowsFiles = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="DATA",
        help="Files that end in .csv, .csv.gz or .parquet, or folders of them.",
        show_default=False,
    ),
]
DataFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="DATA",
        help="File that ends in .csv, .csv.gz or .parquet; or several files or folders of them, "
        "with the same columns.",
        show_default=False,
    ),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Memory that the rows may take, such as 4GB: a file that needs more is read batch by "
        "batch. Default: half of the machine's memory.",
    ),
]
MemoryLimitOfRows = Annotated[
    str | None,
    typer.Option(
        "--memory-limit",
        metavar="SIZE",
        help="Memory that the rows may take, such as 4GB; more are refused. Default: half of the "
        "machine's memory.",
    ),
]
Scratch = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder for rows that have no room in memory; what is written there is removed.",
    ),
]
Weights = Annotated[str | None, typer.Option(metavar="NAME", help="Column of sample weights.")]
Scale = Annotated[
    str,
    typer.Option(
        metavar="auto|M|M,M,...|LOW:HIGH|free",
        help="One point is 1 / M units of log-odds: one scale M, several, an interval, or "
        "free, to choose the best one along with the points. auto: free; 1 for lattice_cpa, and "
        "where constraints are about risks.",
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="branch_and_bound, lattice_cpa (needs a solver), or auto: the one that suits.",
    ),
]
Solver = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Solver of lattice_cpa: cplex (the default) or scip."),
]
UnknownLevels = Annotated[
    str,
    typer.Option(
        metavar="error|ignore",
        help="Text that the training data of items did not have: refuse it, or give it no points.",
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print the result only, on standard output.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Log every change of a bound to standard error.")
]

MissingText = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help="CSV: text that means missing, in place of the default ones; may be given repeatedly. "
        "The empty cell always does, and alone where TEXT is empty. Default: "
        f"{', '.join(MISSING_TEXTS)}.",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(metavar="C", help="CSV: character between cells, or tab. Default: the comma."),
]
Decimal = Annotated[
    str | None,
    typer.Option(metavar=".|,", help="CSV: decimal mark. Default: the point."),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="CSV: encoding, such as cp1252. Default: utf-8."),
]

# ---------------------------------------------------------------------------------------------
# Of fit: the data
# ---------------------------------------------------------------------------------------------

Outcome = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Column of the outcome, which has two values.", show_default=False
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        metavar="VALUE",
        help="Value of the outcome whose risk is predicted, such as dead. Default: the last "
        "one in sorted order, yes rather than no.",
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        metavar="balanced", help="Weight the rows so that both classes have the same weight."
    ),
]
Features = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Column to use, with no others than those given so; may be given repeatedly.",
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Column to leave out; may be given repeatedly."),
]
Items = Annotated[
    bool,
    typer.Option("--items", help="Turn the columns into 0/1 items first, such as age >= 60."),
]
NThresholds = Annotated[
    int | None,
    typer.Option(**_WHOLE, help="Most thresholds per column, at quantiles. Default: 9."),
]
Thresholds = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=V,V,...|[NAME=]all|[NAME=]supervised",
        help="Thresholds of one column; all: every one that tells rows apart; "
        "supervised: those that the outcome chooses; of one or of every column; may be given "
        "repeatedly.",
    ),
]
MaxThresholds = Annotated[
    int | None,
    typer.Option(
        **_WHOLE,
        help="With --thresholds all: most of them per column, at quantiles. Default: 1000.",
    ),
]
RoundThresholds = Annotated[
    bool,
    typer.Option(
        "--round-thresholds",
        help="Put thresholds at the roundest numbers that split the rows alike.",
    ),
]
ThresholdDigits = Annotated[
    int | None,
    typer.Option(**_WHOLE, help="Round thresholds to so many significant digits."),
]
MinFrequency = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE|N",
        help="Levels in fewer rows share one item; supervised thresholds have as "
        "many between them (default there: 0.05).",
    ),
]
MinEvents = Annotated[
    int | None,
    typer.Option(
        **_WHOLE,
        help="With supervised thresholds: fewest rows of each class between them. Default: 0.",
    ),
]
Special = Annotated[
    list[str] | None,
    typer.Option(
        metavar="V,V,...|NAME=V,V,...",
        help="Values that are no numbers, such as -9 for unknown, of all columns or "
        "of one: each has an item, those joined by + share one; may be given repeatedly.",
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Column of numbers that are levels; may be given repeatedly.",
    ),
]
Numeric = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Column of numbers that stays as it is; may be given repeatedly.",
    ),
]
Missing = Annotated[
    str | None,
    typer.Option(
        metavar="error|indicator",
        help="Refuse missing values (the default), or make items of them.",
    ),
]

# ---------------------------------------------------------------------------------------------
# Of fit: the requirements
# ---------------------------------------------------------------------------------------------

MaxSize = Annotated[int, typer.Option(**_COUNT, help="Most features with points.")]
MinSize = Annotated[int, typer.Option(**_COUNT, help="Fewest features with points.")]
MaxCoef = Annotated[int, typer.Option(**_COUNT, help="Points per feature are from -N to N.")]
MaxIntercept = Annotated[
    int | None,
    typer.Option(
        **_COUNT,
        help="Intercept is from -N to N. Default: bounds that provably hold an optimum.",
    ),
]
ItemsPerVariable = Annotated[
    int | None,
    typer.Option(**_WHOLE, help="Most items of each variable, such as age, with points."),
]
Monotone = Annotated[
    str | None,
    typer.Option(
        metavar="auto",
        help="More of a variable never changes the risk against its trend in the training rows.",
    ),
]
L0Penalty = Annotated[
    float,
    typer.Option(**_REAL, metavar="C", help="Price per feature, in units of the loss."),
]
L2Penalty = Annotated[
    float | None,
    typer.Option(**_REAL, metavar="ALPHA", help="Ridge penalty of weights, points / scale."),
]
Shrinkage = Annotated[
    Any,
    typer.Option(
        parser=number(float, words=("auto", "cv")),
        metavar="S|auto|cv",
        help="The same, times the number of rows; auto: 1 for fewer than 2,000 rows, else 0; cv: "
        "chosen by folds, 5 of them unless --cv or --folds says otherwise.",
    ),
]
Sensitivity = Annotated[
    float | None,
    typer.Option(
        **_REAL,
        metavar="SHARE",
        help="Find the best rule that must not miss cases: the score that finds at least this "
        "share of them, 0.95 for 95%, and calls the fewest others positive.",
    ),
]
Specificity = Annotated[
    float | None,
    typer.Option(
        **_REAL,
        metavar="SHARE",
        help="The other way round: at least this share of the others is left out, and most cases "
        "are found.",
    ),
]
Sign = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=+|NAME=-",
        help="Feature whose points must not be negative (+) or positive (-), or variable, such "
        "as age of age >= 60, that must not lower (+) or raise (-) the risk; may be given "
        "repeatedly.",
    ),
]
Lower = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=N",
        help="Smallest points of one feature, in place of those of --max-coef; 1 or more "
        "forces the feature into the score; may be given repeatedly.",
    ),
]
Upper = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=N",
        help="Largest points of one feature, in place of those of --max-coef; may be given "
        "repeatedly.",
    ),
]
Fix = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=N",
        help="Points of one feature that are given, not chosen; may be given repeatedly.",
    ),
]
Constraints = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="TOML file of constraints between features."),
]

# ---------------------------------------------------------------------------------------------
# Of fit: several scores, and their choice
# ---------------------------------------------------------------------------------------------

SizePath = Annotated[
    bool,
    typer.Option("--path", help="Find the best score of every size up to the largest."),
]
CV = Annotated[
    int | None, typer.Option(**_WHOLE, help="Cross-validate with this many stratified folds.")
]
Folds = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Cross-validate with the fold of each row: a CSV file with the column fold.",
    ),
]
Rule = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How --path with folds chooses a size: one_standard_error (the default) or "
        "best_mean, which is the default of --shrinkage cv.",
    ),
]
Metric = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="By which test metric: loss (the default), auc or cal; sizes of rules also by "
        "sensitivity or specificity, by default the one that is not given.",
    ),
]
NJobs = Annotated[
    int | None,
    typer.Option(**_WHOLE, help="Folds that are worked on at once; -1: all cores. Default: 1."),
]
CheckpointFile = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="Keep what is found in this file: the same command goes on where it was. Other data "
        "or settings are refused.",
    ),
]
PathOutput = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="File for the table of sizes, in .csv or .json."),
]
CVOutput = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="File for the metrics of all folds, in .csv or .json."),
]
NSolutions = Annotated[
    int | None, typer.Option(**_WHOLE, help="List this many of the best risk scores.")
]
Within = Annotated[
    float | None,
    typer.Option(
        **_REAL,
        metavar="SHARE",
        help="List the risk scores whose objective is at most 1 + SHARE times the best one, "
        "0.01 for 1%; with --n-solutions N the best N of them. With --sensitivity or "
        "--specificity: the best rule of each set of items whose other share is at most SHARE "
        "less.",
    ),
]

# ---------------------------------------------------------------------------------------------
# Of fit and demo: the search and its results
# ---------------------------------------------------------------------------------------------

TimeLimit = Annotated[
    float,
    typer.Option(
        **_REAL,
        metavar="SECONDS",
        help="Seconds for the whole search; with --path, --cv or --folds for each size and fold.",
    ),
]
TimeLimitOfOne = Annotated[
    float, typer.Option(**_REAL, metavar="SECONDS", help="Seconds for the whole search.")
]
GapTolerance = Annotated[
    float,
    typer.Option(
        **_REAL,
        metavar="GAP",
        help="Relative optimality gap at which the search may stop, 0.01 for 1%.",
    ),
]
NodeLimit = Annotated[int | None, typer.Option(**_WHOLE, help="Most nodes of the search tree.")]
Threads = Annotated[
    int,
    typer.Option(
        **_WHOLE, help="Threads of the search and of passes over the rows; -1: all cores."
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        **_WHOLE, help="Seed of lattice_cpa; with --path, --cv or --folds, of the folds alone."
    ),
]
ScoreOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="JSON file to save the risk score to."),
]
Trace = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="CSV file to write the course of the search to."),
]
ReportFile = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="HTML file to write a report to (extra report)."),
]

# ---------------------------------------------------------------------------------------------
# Of all commands that show a sheet
# ---------------------------------------------------------------------------------------------

By = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Rows of the sheet: item, or variable with the points of each of its bands.",
    ),
]
PointsShown = Annotated[
    str | None,
    typer.Option(
        "--points",
        metavar="NAME",
        help="Points on the sheet: fitted, or non-negative, which turns conditions with negative "
        "points round and changes no risk.",
    ),
]
LabelsFile = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="TOML file with names for people: a text by variable or feature, or a table with "
        "text, unit and levels.",
    ),
]

# ---------------------------------------------------------------------------------------------
# Of predict and report
# ---------------------------------------------------------------------------------------------

Identifier = Annotated[
    str | None,
    typer.Option("--id", metavar="NAME", help="Column to copy to the output, unchanged."),
]
PredictionsOutput = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="File that ends in .csv or .parquet. Default: CSV on standard output.",
    ),
]
PageOutput = Annotated[
    Path,
    typer.Option(
        "--output", "-o", metavar="FILE", help="HTML file to write to.", show_default=False
    ),
]
OutcomeOfRows = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Column of the outcome. Default: named as that of the score."
    ),
]
PositiveOfRows = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="VALUE",
        help="Value of the outcome in these rows that the risk is of, if they have other labels "
        "than the score.",
    ),
]
Rename = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=COLUMN",
        help="The column COLUMN of these rows is what the score calls NAME, such as age=AGE. "
        "Repeatable.",
    ),
]
RisksOfDecisions = Annotated[
    str | None,
    typer.Option(
        "--thresholds",
        metavar="R,R,...",
        help="Risks from which on one acts, for the net benefit. Default: around the observed "
        "risk.",
    ),
]
Prevalence = Annotated[
    float | None,
    typer.Option(
        **_REAL,
        metavar="P",
        help="Share of rows with the outcome where the score will be used, in place of labels.",
    ),
]
FromPrevalence = Annotated[
    float | None,
    typer.Option(
        **_REAL,
        metavar="P",
        help="With --prevalence and no DATA: the share that the present risks are for. Default: "
        "as the score knows it.",
    ),
]
WithScale = Annotated[
    bool, typer.Option("--with-scale", help="Fit the scale as well, not the intercept alone.")
]
TestFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--test",
        metavar="DATA",
        help="File or folder with rows that were not used to find the risk score; may be given "
        "repeatedly.",
    ),
]
MetricsOutput = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="CSV file to write all figures to, a line for each with its interval.",
    ),
]
GroupColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        metavar="NAME",
        help="Column for each of whose values there are metrics as well; may be given repeatedly.",
    ),
]
AlternativesFile = Annotated[
    Path | None,
    typer.Option(
        "--alternatives",
        metavar="FILE",
        help="Other sets of items that are as good, as riskslim alternatives --output writes them: "
        "a section of the report.",
        show_default=False,
    ),
]
GroupThreshold = Annotated[
    float | None,
    typer.Option(
        **_REAL,
        metavar="R",
        help="With --group: the risk from which on rows are called positive. "
        "Default: the score's own threshold, or 0.5 where it has none.",
    ),
]
Resamples = Annotated[
    int | None,
    typer.Option(
        **_COUNT,
        help="Bootstrap resamples of the intervals of metrics; 0: no intervals. Default: 1000, "
        "or 200 where very many rows differ.",
    ),
]

# ---------------------------------------------------------------------------------------------
# Of explain
# ---------------------------------------------------------------------------------------------

ExplainedRows = Annotated[
    list[str] | None,
    typer.Option(
        "--row",
        metavar="N|VALUE",
        help="Row to explain, by its number, counted from 0; with --id by its value in that "
        "column; may be given repeatedly. Default: all rows.",
    ),
]
IdentifierOfRows = Annotated[
    str | None,
    typer.Option("--id", metavar="NAME", help="Column that says which row is which."),
]
ScoreThreshold = Annotated[
    float | None,
    typer.Option(
        **_REAL,
        metavar="S",
        help="Score from which on something is done, as on the sheet and as predict writes it: "
        "which changes lead to its other side. Default: that of the mean risk, or of 50% where "
        "that is not known.",
    ),
]
Fixed = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Feature or variable that cannot change, such as age, and is no reason; may be given "
        "repeatedly.",
    ),
]
AverageOf = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="DATA",
        help="File or folder of rows whose average points the reasons are compared with as well; "
        "may be given repeatedly.",
    ),
]
Best = Annotated[
    str | None,
    typer.Option(metavar="any", help="Reasons compare with missing and special values, too."),
]
NoFormulas = Annotated[
    bool,
    typer.Option("--no-formulas", help="In CSV, an apostrophe before text that begins a formula."),
]
ExplanationsOutput = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="File that ends in .csv or .parquet, with a line for each row and item, or in .json. "
        "Default: text on standard output.",
    ),
]
