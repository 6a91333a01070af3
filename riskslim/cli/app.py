"""The command line: ``riskslim fit``, ``predict``, ``show``, ``report``, ``export`` and ``demo``.

It reads arguments, calls the library, and prints what comes back: the result on standard output,
everything else on standard error. Exit codes: 0 a risk score was found (also when a limit ended the
search), 1 an internal check failed, 2 bad arguments or data, 3 no risk score meets the
requirements, 130 interrupted.
"""

from __future__ import annotations

import csv
import functools
import importlib.util
import io
import logging
import shlex
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import riskslim
from riskslim.cli.arguments import (
    EXPORTS,
    arguments_of_export,
    arguments_of_pool,
    arguments_of_solver,
    by_name,
    checked_unknown_levels,
    encoder_of,
    number,
    scales_of,
    signs_of,
)
from riskslim.cli.faults import identifiers_in, with_options
from riskslim.cli.progress import SearchProgress, display
from riskslim.cli.selection import Selection
from riskslim.data.faults import UnusableColumnsError
from riskslim.engines.choice import choose_engine, solve
from riskslim.exceptions import (
    CertificateError,
    ConstantFeatureWarning,
    ExtrapolationWarning,
    RiskSLIMError,
)
from riskslim.solution import Status

if TYPE_CHECKING:
    import pyarrow

    from riskslim.constraints.base import Constraint
    from riskslim.data.tables import Table
    from riskslim.data.training_data import TrainingData
    from riskslim.items.encoder import ItemEncoder
    from riskslim.items.rules import HandleUnknown
    from riskslim.problem.problem import RiskScoreProblem
    from riskslim.risk_score import RiskScore
    from riskslim.solution import Solution

__all__ = ["application", "main"]

try:
    import typer
except ImportError:  # main() says how to get it
    typer = None  # type: ignore[assignment]

# Scores of a list that are shown where --n-solutions does not say how many.
_LISTED = 10

EXIT_INTERNAL, EXIT_USAGE, EXIT_INFEASIBLE, EXIT_INTERRUPTED = 1, 2, 3, 130

# Pairs of labels of which the second, also in sorted order, is the one whose risk is meant.
_PLAIN_LABELS = {
    ("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("negative", "positive"),
    ("neg", "pos"), ("absent", "present"),
}  # fmt: skip

logger = logging.getLogger("riskslim.cli.app")


def main() -> None:
    """Run the command line; without its packages, say how to get them."""
    for package in ("typer", "rich"):
        if importlib.util.find_spec(package) is None:
            sys.stderr.write(
                f"Error: the command line needs the package {package}, which is not installed: "
                'pip install "riskslim[cli]"\n'
            )
            raise SystemExit(EXIT_USAGE)
    application()(prog_name="riskslim")


def application() -> typer.Typer:
    """Build the command line.

    Returns
    -------
    typer.Typer
        With the commands of this module.
    """
    app = typer.Typer(
        name="riskslim",
        help="Certifiably optimal risk scores: sparse linear models with small integer "
        "coefficients.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for command in (fit, predict, show, report, export, demo):
        app.command()(command)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"riskslim {riskslim.__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    pass


# ---------------------------------------------------------------------------------------------
# Commands
# ---------------------------------------------------------------------------------------------


if typer is not None:
    Count = {"parser": number(int, 0), "metavar": "N"}
    Whole = {"parser": number(int), "metavar": "N"}
    Real = {"parser": number(float)}
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
    Scale = Annotated[
        str,
        typer.Option(
            metavar="M|M,M,...|LOW:HIGH|free",
            help="One point is 1 / M units of log-odds: one scale M, several, an interval, or "
            "free, to choose the best one along with the points.",
        ),
    ]
    Quiet = Annotated[
        bool, typer.Option("--quiet", "-q", help="Print the result only, on standard output.")
    ]
    Verbose = Annotated[
        bool, typer.Option("--verbose", "-v", help="Log every change of a bound to standard error.")
    ]
    ScoreFile = Annotated[
        Path, typer.Argument(metavar="SCORE", help="JSON file that fit wrote.", show_default=False)
    ]
    UnknownLevels = Annotated[
        str,
        typer.Option(
            metavar="error|ignore",
            help="Text that the training data of items did not have: refuse it, or give it no "
            "points.",
        ),
    ]
    DataFile = Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="File that ends in .csv, .csv.gz or .parquet.", show_default=False
        ),
    ]


def fit(
    data: DataFile,
    outcome: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Column of the outcome, which has two values.", show_default=False
        ),
    ],
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE",
            help="Value of the outcome whose risk is predicted, such as dead. Default: the last "
            "one in sorted order, yes rather than no.",
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column of sample weights.")
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(
            metavar="balanced", help="Weight the rows so that both classes have the same weight."
        ),
    ] = None,
    features: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Column to use, with no others than those given so; may be given repeatedly.",
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Column to leave out; may be given repeatedly."),
    ] = None,
    items: Annotated[
        bool,
        typer.Option("--items", help="Turn the columns into 0/1 items first, such as age >= 60."),
    ] = False,
    n_thresholds: Annotated[
        int | None,
        typer.Option(
            **Whole, help="With --items: most thresholds per column, at quantiles. Default: 9."
        ),
    ] = None,
    thresholds: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=V,V,...",
            help="With --items: thresholds of one column; may be given repeatedly.",
        ),
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="With --items: column of numbers that are levels; may be given repeatedly.",
        ),
    ] = None,
    numeric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="With --items: column of numbers that stays as it is; may be given repeatedly.",
        ),
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(
            metavar="error|indicator",
            help="With --items: refuse missing values (the default), or make items of them.",
        ),
    ] = None,
    max_size: Annotated[int, typer.Option(**Count, help="Most features with points.")] = 5,
    min_size: Annotated[int, typer.Option(**Count, help="Fewest features with points.")] = 0,
    max_coef: Annotated[
        int, typer.Option(**Count, help="Points per feature are from -N to N.")
    ] = 5,
    max_intercept: Annotated[
        int | None,
        typer.Option(
            **Count,
            help="Intercept is from -N to N. Default: bounds that provably hold an optimum.",
        ),
    ] = None,
    l0_penalty: Annotated[
        float,
        typer.Option(**Real, metavar="C", help="Price per feature, in units of the loss."),
    ] = 1e-6,
    sign: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=+|NAME=-",
            help="Feature whose points must not be negative (+) or positive (-), or variable, such "
            "as age of age >= 60, that must not lower (+) or raise (-) the risk; may be given "
            "repeatedly.",
        ),
    ] = None,
    lower: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=N",
            help="Smallest points of one feature, in place of those of --max-coef; 1 or more "
            "forces the feature into the score; may be given repeatedly.",
        ),
    ] = None,
    upper: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=N",
            help="Largest points of one feature, in place of those of --max-coef; may be given "
            "repeatedly.",
        ),
    ] = None,
    fix: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=N",
            help="Points of one feature that are given, not chosen; may be given repeatedly.",
        ),
    ] = None,
    constraints: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML file of constraints between features."),
    ] = None,
    scale: Scale = "1",
    path: Annotated[
        bool,
        typer.Option("--path", help="Find the best score of every size up to the largest."),
    ] = False,
    cv: Annotated[
        int | None, typer.Option(**Whole, help="Cross-validate with this many stratified folds.")
    ] = None,
    folds: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Cross-validate with the fold of each row: a CSV file with the column fold.",
        ),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How --path with folds chooses a size: one_standard_error (the default) or "
            "best_mean.",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="By which test metric: loss (the default), auc or cal."),
    ] = None,
    n_jobs: Annotated[
        int | None,
        typer.Option(**Whole, help="Folds that are worked on at once; -1: all cores. Default: 1."),
    ] = None,
    path_output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File for the table of sizes, in .csv or .json."),
    ] = None,
    cv_output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File for the metrics of all folds, in .csv or .json."),
    ] = None,
    n_solutions: Annotated[
        int | None, typer.Option(**Whole, help="List this many of the best risk scores.")
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(
            **Real,
            metavar="SHARE",
            help="List the risk scores whose objective is at most 1 + SHARE times the best one, "
            "0.01 for 1%; with --n-solutions N the best N of them.",
        ),
    ] = None,
    engine: Engine = "auto",
    solver: Solver = None,
    time_limit: Annotated[
        float,
        typer.Option(
            **Real,
            metavar="SECONDS",
            help="Seconds for the whole search; with --path, --cv or --folds for each size and "
            "fold.",
        ),
    ] = 60.0,
    gap_tolerance: Annotated[
        float,
        typer.Option(
            **Real,
            metavar="GAP",
            help="Relative optimality gap at which the search may stop, 0.01 for 1%.",
        ),
    ] = 0.0,
    node_limit: Annotated[
        int | None, typer.Option(**Whole, help="Most nodes of the search tree.")
    ] = None,
    threads: Annotated[
        int,
        typer.Option(
            **Whole, help="Threads of the search and of passes over the rows; -1: all cores."
        ),
    ] = 1,
    seed: Annotated[
        int,
        typer.Option(
            **Whole, help="Seed of lattice_cpa; with --path, --cv or --folds, of the folds alone."
        ),
    ] = 0,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON file to save the risk score to.")
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV file to write the course of the search to."),
    ] = None,
    report_file: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE", help="HTML file to write a report to (extra report)."
        ),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Find the best risk score for the data in a file.

    Every column is a feature, apart from the outcome, the weights and those excluded; with
    --features, only those named. Ctrl-C ends the search and prints the best risk score so far;
    of a path or a cross-validation, what is finished.
    """
    with _session(quiet=quiet, verbose=verbose):
        selection = Selection(path, cv, folds, rule, metric, n_jobs, path_output, cv_output)
        selection.check(several=n_solutions is not None or within is not None)
        for target in (output, trace, path_output, cv_output, report_file):
            _check_target(target, data)
        _check_report(report_file)
        encoder = encoder_of(items, n_thresholds, thresholds, categorical, numeric, missing)
        requirements = _requirements(constraints)
        special = arguments_of_pool(n_solutions, within, engine)
        special |= arguments_of_solver(solver, engine)
        scales = scales_of(scale)
        try:
            training_data = riskslim.TrainingData.from_file(
                data,
                outcome,
                weights=weights,
                positive_label=positive,
                features=features or None,
                exclude=exclude or (),
                encode=None if encoder is None else functools.partial(_fit_items, encoder),
            )
        except UnusableColumnsError as error:
            settled = {outcome, weights, *(exclude or ()), *(numeric or ()), *(categorical or ())}
            if encoder is not None:
                settled |= (encoder.thresholds or {}).keys()
            text = with_options(
                error,
                data,
                items=items,
                numeric=numeric or (),
                features=features or (),
                identifiers=[] if features else identifiers_in(data, settled),
            )
            raise type(error)(text) from None
        if class_weight is not None:
            training_data = _balanced(training_data, class_weight)
        names = training_data.feature_names
        signs, signs_of_variables = signs_of(sign, names)
        coefficients = riskslim.CoefficientSet(
            names,
            dict.fromkeys(names, -max_coef) | by_name(lower, "--lower", int),
            dict.fromkeys(names, max_coef) | by_name(upper, "--upper", int),
            sign=signs,
            fixed=by_name(fix, "--fix", int),
            intercept_lower=None if max_intercept is None else -max_intercept,
            intercept_upper=max_intercept,
        )
        problem = riskslim.RiskScoreProblem(
            riskslim.LogisticLoss(training_data, coefficients),
            coefficients,
            max_size=max_size,
            min_size=min_size,
            l0_penalty=l0_penalty,
            constraints=[*requirements, *signs_of_variables],
            scale=scales,
        )
        choice = choose_engine(problem, engine)
        if choice.name == "lattice_cpa":
            special.setdefault("solver", choice.solver)
        logger.info("engine: %s (%s)", choice.name, choice.reason)
        if positive is None:
            _say_which_label(training_data, quiet=quiet)
        if engine == "auto" and not (quiet or verbose):
            typer.echo(f"Engine: {choice.name}, {choice.reason}.", err=True)
        limits: dict[str, Any] = {
            "time_limit": time_limit,
            "gap_tolerance": gap_tolerance,
            "node_limit": node_limit,
            "n_threads": threads,
            **special,
        }
        hidden = quiet or verbose
        if selection:
            limits["engine"] = choice.name
            targets = (output, trace, report_file)
            _select(
                selection, problem, limits, targets, encoder, seed=seed, hidden=hidden, quiet=quiet
            )
            return
        with display(SearchProgress(), hidden=hidden) as progress:
            solution = solve(problem, choice.name, random_state=seed, progress=progress, **limits)
        _finish(problem, solution, output, trace, report_file, encoder, quiet=quiet)


def predict(
    score: ScoreFile,
    data: DataFile,
    identifier: Annotated[
        str | None,
        typer.Option("--id", metavar="NAME", help="Column to copy to the output, unchanged."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File that ends in .csv or .parquet. Default: CSV on standard output.",
        ),
    ] = None,
    unknown_levels: UnknownLevels = "error",
) -> None:
    """Compute score and risk of every row of a file, in its order.

    Items such as "age >= 60" that are no columns of the file are computed from its column "age".
    """
    with _session():
        if output is not None and output.suffix not in {".csv", ".parquet"}:
            raise ValueError(f"--output must end in .csv or .parquet, got {output}")
        _check_target(output, data)
        if identifier in {"score", "risk"}:
            raise ValueError(f"--id {identifier}: the output has a column of this name already")
        from riskslim.data.files import read_table, read_verbatim

        risk_score = riskslim.RiskScore.load(score)
        unknown = checked_unknown_levels(unknown_levels)
        read = read_table(data)
        table = _with_features(read, risk_score, data, unknown)
        columns: dict[str, Any] = {}
        if identifier is not None:
            columns[identifier] = read_verbatim(data, read, identifier)
        columns["score"] = risk_score.score_samples(table)
        columns["risk"] = risk_score.predict_proba(table)[:, 1]
        _write_predictions(columns, output)
        _print_remarks(risk_score.remarks(table))


def show(score: ScoreFile) -> None:
    """Print the tables and the certificate of a risk score."""
    with _session():
        risk_score = riskslim.RiskScore.load(score)
        typer.echo(str(risk_score))
        if risk_score.certificate is not None:
            typer.echo(f"\n{risk_score.certificate.explain()}")


def report(
    score: ScoreFile,
    data: DataFile,
    output: Annotated[
        Path, typer.Option(metavar="FILE", help="HTML file to write to.", show_default=False)
    ],
    outcome: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Column of the outcome. Default: named as that of the score."
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column of sample weights.")
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA", help="File with rows that were not used to find the risk score."
        ),
    ] = None,
    unknown_levels: UnknownLevels = "error",
    resamples: Annotated[
        int | None,
        typer.Option(
            **Count,
            help="Bootstrap resamples of the intervals of metrics; 0: no intervals. Default: 1000, "
            "or 200 where very many rows differ.",
        ),
    ] = None,
) -> None:
    """Write a report on a risk score: one page of HTML.

    Metrics and diagrams are about the rows of DATA. Items such as "age >= 60" that are no columns
    of the file are computed from its column "age".
    """
    with _session():
        for source, what in ((score, "risk score"), (data, "data"), (test, "data")):
            if source is not None:
                _check_target(output, source, what)
        _check_report(output)
        risk_score = riskslim.RiskScore.load(score)
        unknown = checked_unknown_levels(unknown_levels)
        rows = _labelled_rows(data, risk_score, outcome, weights, unknown)
        tested: dict[str, Any] = {}
        if test is not None:
            names = ("X_test", "y_test", "sample_weight_test")
            rows_of_test = _labelled_rows(test, risk_score, outcome, weights, unknown)
            tested = dict(zip(names, rows_of_test, strict=True))
        risk_score.report(output, *rows, **tested, n_resamples=resamples)
        for path, X in ((data, rows[0]), (test, tested.get("X_test"))):
            if X is not None:
                _print_remarks(tuple(f"{path}: {one}" for one in risk_score.remarks(X)))


def export(
    score: ScoreFile,
    target: Annotated[
        str,
        typer.Option("--format", metavar="NAME", help=f"One of {', '.join(EXPORTS)}."),
    ],
    dialect: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With sql: ansi (the default), duckdb, postgresql or sqlite.",
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|SCHEMA.NAME",
            help="With sql: write a query of this table, not the expression alone.",
        ),
    ] = None,
    boolean: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="With sql: input whose column is of type BOOLEAN; may be given repeatedly.",
        ),
    ] = None,
    function: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With python and javascript: name of the function, in place of predict_risk and "
            "predictRisk.",
        ),
    ] = None,
    inputs: Annotated[
        str | None,
        typer.Option(
            metavar="raw|items",
            help="With python, javascript, sql and pmml: compute the items from raw columns (the "
            "default where the score knows these), or take columns named as the items.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write to, in UTF-8.")
    ] = None,
) -> None:
    """Write a risk score for another program, or as a document.

    What is written goes to standard output unless --output names a file.
    """
    with _session():
        if target == "json":
            raise ValueError(
                f"{score} is the risk score as JSON, in the format of "
                "docs/risk_score.schema.json: copy it. --format must be one of "
                f"{', '.join(EXPORTS)}"
            )
        if target not in EXPORTS:
            raise ValueError(f"--format must be one of {', '.join(EXPORTS)}, got {target!r}")
        _check_target(output, score, "risk score")
        options = arguments_of_export(
            target,
            {
                ("--dialect", "dialect"): dialect,
                ("--table", "table"): None if table is None else table.split("."),
                ("--boolean", "boolean_columns"): boolean or None,
                ("--function", "function_name"): function,
                ("--inputs", "inputs"): inputs,
            },
        )
        risk_score = riskslim.RiskScore.load(score)
        text = getattr(risk_score, f"to_{target}")(**options)
        _write_text(text if text.endswith("\n") else f"{text}\n", output)


def demo(
    scale: Scale = "1",
    engine: Engine = "auto",
    solver: Solver = None,
    time_limit: Annotated[
        float, typer.Option(**Real, metavar="SECONDS", help="Seconds for the whole search.")
    ] = 300.0,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Find the best risk score for data that need no file.

    The data are scikit-learn's breast cancer set, each of its 30 features cut at the median. The
    score has at most 5 features with -5 to 5 points.
    """
    with _session(quiet=quiet, verbose=verbose):
        from riskslim.datasets import load_breast_cancer_binary

        scales, special = scales_of(scale), arguments_of_solver(solver, engine)
        data = load_breast_cancer_binary()
        coefficients = riskslim.CoefficientSet(
            data.feature_names, -5, 5, intercept_lower=-100, intercept_upper=100
        )
        problem = riskslim.RiskScoreProblem(
            riskslim.LogisticLoss(data, coefficients),
            coefficients,
            max_size=5,
            l0_penalty=1e-6,
            scale=scales,
        )
        with display(SearchProgress(), hidden=quiet or verbose) as progress:
            solution = solve(problem, engine, time_limit=time_limit, progress=progress, **special)
        _finish(problem, solution, quiet=quiet)


# ---------------------------------------------------------------------------------------------
# What the commands share
# ---------------------------------------------------------------------------------------------


def _finish(
    problem: RiskScoreProblem,
    solution: Solution,
    output: Path | None = None,
    trace: Path | None = None,
    report_file: Path | None = None,
    encoder: ItemEncoder | None = None,
    *,
    quiet: bool,
    before: str = "",
    after: str = "",
    sections: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Save and print a result; leave with the exit code that it deserves."""
    certificate = solution.certificate
    if certificate.status is Status.INFEASIBLE:
        typer.echo(certificate.explain(), err=True)
        raise typer.Exit(EXIT_INFEASIBLE)
    score = riskslim.RiskScore.from_solution(solution, problem.loss.data)
    if encoder is not None and score.points:
        score = score.with_variables(encoder)
    try:
        if output is not None:
            score.save(output)
        if trace is not None:
            _write_trace(solution, trace)
        if report_file is not None:
            score.report(report_file, problem.loss.data, problem=problem, **sections)
    finally:
        # What took minutes to find is not lost because a disk is full.
        typer.echo(f"{before}{_report(solution, score)}{after}")
    if not quiet:
        _print_remarks(problem.remarks(solution.coef))
    if certificate.status is Status.INTERRUPTED:
        raise typer.Exit(EXIT_INTERRUPTED)


def _select(
    selection: Selection,
    problem: RiskScoreProblem,
    limits: dict[str, Any],
    targets: tuple[Path | None, Path | None, Path | None],
    encoder: ItemEncoder | None,
    *,
    seed: int,
    hidden: bool,
    quiet: bool,
) -> None:
    """Find scores of several sizes and on folds; save and print the chosen one and the tables."""
    path = selection.run(problem, seed=seed, hidden=hidden, **limits)
    chosen, why = selection.choose(path)
    before, after = selection.text(path, chosen, why)
    try:
        selection.write(path)
    finally:
        _finish(
            problem, chosen.solution, *targets, encoder, quiet=quiet, before=before, after=after,
            sections=selection.sections(path, chosen),
        )  # fmt: skip
    if not path.is_complete:
        raise typer.Exit(EXIT_INTERRUPTED)


def _requirements(path: Path | None) -> list[Constraint]:
    if path is None:
        return []
    from riskslim.constraints.files import read_constraints

    return read_constraints(path)


def _balanced(data: TrainingData, class_weight: str) -> TrainingData:
    if class_weight != "balanced":
        raise ValueError(f"--class-weight must be balanced, got {class_weight!r}")
    return data.with_class_weight(class_weight)


def _report(solution: Solution, score: RiskScore) -> str:
    ended = solution.certificate.message
    seconds = solution.statistics.total_seconds
    report = (
        f"{score}\n\n{solution.certificate.explain()}\n"
        f"{ended[:1].upper()}{ended[1:]} after {seconds:.1f} seconds."
    )
    pool = solution.pool
    if pool is None:
        return report
    table = pool.table(solution.settings["n_solutions"] or _LISTED)
    return f"{report}\n\n{table}\n{pool.explain()}"


def _print_remarks(remarks: tuple[str, ...]) -> None:
    for remark in remarks:
        typer.echo(f"Remark: {remark}", err=True)


def _say_which_label(data: TrainingData, *, quiet: bool) -> None:
    """Say it where the labels do not, and even if little is to be said where they mislead."""
    if data.classes in {(0, 1), (-1, 1)}:
        return
    other, predicted = map(str, data.classes)
    choice = f"for {other}: --positive {shlex.quote(other)}"
    if (other.casefold(), predicted.casefold()) not in _PLAIN_LABELS:
        typer.echo(
            f"Warning: the risk predicted is that of {data.outcome_name} = {predicted}, the last "
            f"of both values in sorted order; {choice}",
            err=True,
        )
    elif not quiet:
        typer.echo(f"Predicting {data.outcome_name} = {predicted}; {choice}", err=True)


def _check_target(path: Path | None, source: Path, what: str = "data") -> None:
    """Find out before the work that its result cannot be written."""
    if path is None:
        return
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} to write {path.name} to")
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a file to write to")
    if path.resolve() == source.resolve():
        raise ValueError(f"{path} would replace the {what}")


def _check_report(path: Path | None) -> None:
    """Find out before the work that a report cannot be written."""
    if path is not None:
        from riskslim.report import check_packages

        check_packages()


def _labelled_rows(
    path: Path,
    score: RiskScore,
    outcome: str | None,
    weights: str | None,
    handle_unknown: HandleUnknown,
) -> tuple[Any, Any, Any]:
    """Rows, labels and weights of a file."""
    from riskslim.data.files import check_one_column, read_table

    read = read_table(path)
    if outcome is None:
        outcome = score.outcome_name
    for name in (outcome, weights):
        if name is not None:
            check_one_column(path, read.column_names, name)
    return (
        _with_features(read, score, path, handle_unknown),
        read[outcome],
        None if weights is None else read[weights],
    )


def _fit_items(encoder: ItemEncoder, columns: pyarrow.Table, weights: Any) -> Any:
    from riskslim.items.rules import fit_items

    return fit_items(encoder, columns, weights)


def _with_features(
    read: pyarrow.Table, score: RiskScore, path: Path, handle_unknown: HandleUnknown
) -> Table:
    """Columns of a file, and the items that it lacks, computed from its raw columns."""
    from riskslim._wording import listing, near
    from riskslim.items.item import source_variable

    table = score.with_items(read, handle_unknown=handle_unknown)
    names = read.column_names
    lacking: dict[str, list[str]] = {}  # items by raw column
    for name in score.points:
        if name not in (table.names or ()):
            lacking.setdefault(source_variable(name), []).append(name)
    if not lacking:
        return table
    wanted = []
    for column, items in lacking.items():
        listed = listing(f"{item!r}{near(item, names)}" for item in items)
        if column in names:
            wanted.append(f"{listed}, which cannot be computed from {column!r}")
        elif items == [column]:
            wanted.append(listed)
        else:
            raw = [name for name in names if source_variable(name) == name]
            wanted.append(f"{column!r}{near(column, raw)} to compute {listed}")
    raise ValueError(
        f"{path} lacks columns that the risk score needs: {'; '.join(wanted)}. Its {len(names)} "
        f"columns are {listing(map(repr, names))}."
    )


def _write_trace(solution: Solution, path: Path) -> None:
    columns = solution.trace.to_dict()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def _write_predictions(columns: dict[str, Any], path: Path | None) -> None:
    import pyarrow

    table = pyarrow.table(columns)
    if path is not None and path.suffix == ".parquet":
        import pyarrow.parquet as parquet

        parquet.write_table(table, path)
        return
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    # Numbers as the shortest text that reads back as the same number.
    writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    _write_text(text.getvalue(), path)


def _write_text(text: str, path: Path | None) -> None:
    if path is None:
        typer.echo(text, nl=False)
    else:
        path.write_text(text, encoding="utf-8", newline="\n")


class _Messages(logging.Handler):
    """Writes to what standard error is at the moment: above a live display, not into it."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"{self.format(record)}\n")
        sys.stderr.flush()


@contextmanager
def _session(*, quiet: bool = False, verbose: bool = False) -> Iterator[None]:
    """Messages on standard error, errors without traceback in one line, exit codes."""
    handler = _Messages()
    handler.setFormatter(logging.Formatter("%(message)s"))
    package = logging.getLogger("riskslim")
    before = package.level
    package.addHandler(handler)
    package.setLevel(logging.INFO if verbose else logging.ERROR if quiet else logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", ConstantFeatureWarning)
            warnings.simplefilter("ignore", ExtrapolationWarning)  # a remark says it
            warnings.showwarning = lambda message, *_, **__: logger.warning("Warning: %s", message)
            yield
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except BrokenPipeError:
        raise  # whoever read the output has seen enough
    except (ValueError, TypeError, OSError, ImportError, RiskSLIMError) as error:
        internal = isinstance(error, CertificateError)
        if verbose and internal:
            traceback.print_exc()
        typer.echo(f"Error: {_message(error)}", err=True)
        raise typer.Exit(EXIT_INTERNAL if internal else EXIT_USAGE) from None
    finally:
        package.removeHandler(handler)
        package.setLevel(before)


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, UnusableColumnsError):
        return str(error)  # a line for each kind of fault
    return " ".join(str(error).split())
