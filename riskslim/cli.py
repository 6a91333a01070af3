"""The command line: ``riskslim fit``, ``predict``, ``show``, ``export`` and ``demo``.

It reads arguments, calls the library, and prints what comes back: the result on standard output,
everything else on standard error. Exit codes: 0 a risk score was found (also when a limit ended the
search), 1 an internal check failed, 2 bad arguments or data, 3 no risk score meets the
requirements, 130 interrupted.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import logging
import shlex
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import riskslim
from riskslim.engine import check_solver, choose_engine, solve
from riskslim.exceptions import CertificateError, ConstantFeatureWarning, RiskSLIMError
from riskslim.scale import ScaleSet
from riskslim.solution import Status

try:
    import typer
except ImportError:  # main() says how to get it
    typer = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from rich.text import Text

    from riskslim import RiskScore, RiskScoreProblem, Solution, TrainingData
    from riskslim.solution import TraceRecord

__all__ = ["application", "main"]

# Scores of a list that are shown where --n-solutions does not say how many.
_LISTED = 10

# What `riskslim export` writes, each with the arguments that it can be given.
_EXPORTS: dict[str, tuple[str, ...]] = {
    "python": ("function_name",),
    "javascript": ("function_name",),
    "sql": ("dialect", "table", "boolean_columns"),
    "pmml": (),
    "markdown": (),
    "html": (),
    "latex": (),
}

EXIT_INTERNAL, EXIT_USAGE, EXIT_INFEASIBLE, EXIT_INTERRUPTED = 1, 2, 3, 130

logger = logging.getLogger("riskslim.cli")


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
    for command in (fit, predict, show, export, demo):
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


def _number(kind: type[int] | type[float], least: float | None = None) -> Callable[[str], Any]:
    """Return a parser of numbers whose complaints show what was given."""
    what = "a whole number" if kind is int else "a number"
    if least is not None:
        what += f" of at least {least:g}"

    def parse(text: str) -> Any:
        try:
            number = kind(text)
        except ValueError:
            number = None
        if number is None or (least is not None and not number >= least):
            raise typer.BadParameter(f"expected {what}, got {str(text)!r}")
        return number

    return parse


if typer is not None:
    Count = {"parser": _number(int, 0), "metavar": "N"}
    Whole = {"parser": _number(int), "metavar": "N"}
    Real = {"parser": _number(float)}
    TimeLimit = Annotated[
        float, typer.Option(**Real, metavar="SECONDS", help="Seconds for the whole search.")
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
            help="Value of the outcome whose risk is predicted. Default: the larger one.",
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column of sample weights.")
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
            help="Feature whose points must not be negative (+) or positive (-); "
            "may be given repeatedly.",
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
    scale: Scale = "1",
    n_solutions: Annotated[
        int | None, typer.Option(**Whole, help="List this many of the best risk scores.")
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(
            **Real,
            metavar="SHARE",
            help="List the risk scores whose objective is at most 1 + SHARE times the best one.",
        ),
    ] = None,
    engine: Engine = "auto",
    solver: Solver = None,
    time_limit: TimeLimit = 60.0,
    gap_tolerance: Annotated[
        float,
        typer.Option(
            **Real, metavar="GAP", help="Relative optimality gap at which the search may stop."
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
    seed: Annotated[int, typer.Option(**Whole, help="Seed of lattice_cpa.")] = 0,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON file to save the risk score to.")
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV file to write the course of the search to."),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Find the best risk score for the data in a file.

    Every column is a feature, apart from the outcome, the weights and those excluded; with
    --features, only those named. Ctrl-C ends the search and prints the best risk score so far.
    """
    with _session(quiet=quiet, verbose=verbose):
        for path in (output, trace):
            _check_target(path, data)
        special = _several(n_solutions, within, engine) | _solver(solver, engine)
        scales = _scales(scale)
        training_data = riskslim.TrainingData.from_file(
            data,
            outcome,
            weights=weights,
            positive_label=positive,
            features=features or None,
            exclude=exclude or (),
        )
        names = training_data.feature_names
        coefficients = riskslim.CoefficientSet(
            names,
            dict.fromkeys(names, -max_coef) | _by_name(lower, "--lower", int),
            dict.fromkeys(names, max_coef) | _by_name(upper, "--upper", int),
            sign=_by_name(sign, "--sign", str),
            fixed=_by_name(fix, "--fix", int),
            intercept_lower=None if max_intercept is None else -max_intercept,
            intercept_upper=max_intercept,
        )
        problem = riskslim.RiskScoreProblem(
            riskslim.LogisticLoss(training_data, coefficients),
            coefficients,
            max_size=max_size,
            min_size=min_size,
            l0_penalty=l0_penalty,
            scale=scales,
        )
        choice = choose_engine(problem, engine)
        logger.info("engine: %s (%s)", choice.name, choice.reason)
        if positive is None and not quiet:
            _say_which_label(training_data)
        if engine == "auto" and not (quiet or verbose):
            typer.echo(f"Engine: {choice.name}, {choice.reason}.", err=True)
        with _display(hidden=quiet or verbose) as progress:
            solution = solve(
                problem,
                choice.name,
                time_limit=time_limit,
                gap_tolerance=gap_tolerance,
                node_limit=node_limit,
                n_threads=threads,
                random_state=seed,
                progress=progress,
                **special,
            )
        _finish(problem, solution, output, trace, quiet=quiet)


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
) -> None:
    """Compute score and risk of every row of a file, in its order."""
    with _session():
        if output is not None and output.suffix not in {".csv", ".parquet"}:
            raise ValueError(f"--output must end in .csv or .parquet, got {output}")
        _check_target(output, data)
        if identifier in {"score", "risk"}:
            raise ValueError(f"--id {identifier}: the output has a column of this name already")
        from riskslim.tables import read_table, read_verbatim

        risk_score = riskslim.RiskScore.load(score)
        table = read_table(data)
        columns: dict[str, Any] = {}
        if identifier is not None:
            columns[identifier] = read_verbatim(data, table, identifier)
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


def export(
    score: ScoreFile,
    target: Annotated[
        str,
        typer.Option("--format", metavar="NAME", help=f"One of {', '.join(_EXPORTS)}."),
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
            help="With sql: feature whose column is of type BOOLEAN; may be given repeatedly.",
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
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write to, in UTF-8.")
    ] = None,
) -> None:
    """Write a risk score for another program, or as a document.

    What is written goes to standard output unless --output names a file.
    """
    with _session():
        if target not in _EXPORTS:
            raise ValueError(f"--format must be one of {', '.join(_EXPORTS)}, got {target!r}")
        _check_target(output, score, "risk score")
        options = _export_options(
            target,
            {
                ("--dialect", "dialect"): dialect,
                ("--table", "table"): None if table is None else table.split("."),
                ("--boolean", "boolean_columns"): boolean or None,
                ("--function", "function_name"): function,
            },
        )
        risk_score = riskslim.RiskScore.load(score)
        text = getattr(risk_score, f"to_{target}")(**options)
        _write_text(text if text.endswith("\n") else f"{text}\n", output)


def demo(
    scale: Scale = "1",
    engine: Engine = "auto",
    solver: Solver = None,
    time_limit: TimeLimit = 300.0,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Find the best risk score for data that need no file.

    The data are scikit-learn's breast cancer set, each of its 30 features cut at the median. The
    score has at most 5 features with -5 to 5 points.
    """
    with _session(quiet=quiet, verbose=verbose):
        from riskslim.datasets import load_breast_cancer_binary

        scales, special = _scales(scale), _solver(solver, engine)
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
        with _display(hidden=quiet or verbose) as progress:
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
    *,
    quiet: bool,
) -> None:
    """Save and print a result; leave with the exit code that it deserves."""
    certificate = solution.certificate
    if certificate.status is Status.INFEASIBLE:
        typer.echo(certificate.explain(), err=True)
        raise typer.Exit(EXIT_INFEASIBLE)
    score = riskslim.RiskScore.from_solution(solution, problem.loss.data)
    try:
        if output is not None:
            score.save(output)
        if trace is not None:
            _write_trace(solution, trace)
    finally:
        # What took minutes to find is not lost because a disk is full.
        typer.echo(_report(solution, score))
    if not quiet:
        _print_remarks(problem.remarks(solution.coef))
    if certificate.status is Status.INTERRUPTED:
        raise typer.Exit(EXIT_INTERRUPTED)


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


def _scales(text: str) -> ScaleSet:
    """Read --scale: a number, several with commas between them, an interval, or "free"."""
    wrong = (
        "--scale must be a positive number, several such as 1,2,4, an interval such as 0.5:12, or "
        f"free, got {text!r}"
    )
    given: Any = text.strip()
    if given != "free":
        separator = ":" if ":" in given else ","
        try:
            given = [float(part) for part in given.split(separator)]
        except ValueError:
            raise ValueError(wrong) from None
        if separator == ":":
            given = tuple(given)
            if len(given) != 2:
                raise ValueError(wrong)
    try:
        return ScaleSet.of(given)
    except ValueError as error:
        raise ValueError(f"--scale {text}: {error}") from None


def _several(n_solutions: int | None, within: float | None, engine: str) -> dict[str, Any]:
    """Arguments of an engine that is to find several scores; none where one is wanted."""
    wanted = {"n_solutions": n_solutions, "within": within}
    given = {name: value for name, value in wanted.items() if value is not None}
    if given and engine == "lattice_cpa":
        raise ValueError(
            "--n-solutions and --within need --engine branch_and_bound: lattice_cpa finds one risk "
            "score"
        )
    return given


def _solver(solver: str | None, engine: str) -> dict[str, str]:
    """Arguments of an engine that works on a solver; none where it is left to it."""
    if solver is None:
        return {}
    if engine != "lattice_cpa":
        raise ValueError("--solver needs --engine lattice_cpa: the other engine has no solver")
    check_solver(solver)  # before the data are read
    return {"solver": solver}


def _export_options(target: str, given: dict[tuple[str, str], Any]) -> dict[str, Any]:
    """Arguments of an export, from what was given for options."""
    options = {}
    for (option, name), value in given.items():
        if value is None:
            continue
        if name not in _EXPORTS[target]:
            users = [other for other, names in _EXPORTS.items() if name in names]
            raise ValueError(f"{option} needs --format {' or '.join(users)}, got {target}")
        options[name] = value
    return options


def _print_remarks(remarks: tuple[str, ...]) -> None:
    for remark in remarks:
        typer.echo(f"Remark: {remark}", err=True)


def _say_which_label(data: TrainingData) -> None:
    """Say it where the labels do not."""
    if data.classes in {(0, 1), (-1, 1)}:
        return
    other, predicted = map(str, data.classes)
    typer.echo(
        f"Predicting {data.outcome_name} = {predicted}; for {other}: --positive "
        f"{shlex.quote(other)}",
        err=True,
    )


def _by_name(texts: list[str] | None, option: str, kind: type[Any]) -> dict[str, Any]:
    """Values by feature, from texts like NAME=VALUE. The last = counts: names may contain it."""
    values: dict[str, Any] = {}
    for text in texts or ():
        name, _, value = text.rpartition("=")
        if kind is str and (not name or value not in {"+", "-"}):
            raise ValueError(f"{option} must be NAME=+ or NAME=-, got {text!r}")
        try:
            number = kind(value)
        except ValueError:
            number = None
        if not name or number is None:
            raise ValueError(f"{option} must be NAME=N with a whole number N, got {text!r}")
        if name in values:
            raise ValueError(f"{option} is given twice for {name!r}")
        values[name] = number
    return values


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
    """Messages on standard error, errors in one line, exit codes."""
    handler = _Messages()
    handler.setFormatter(logging.Formatter("%(message)s"))
    package = logging.getLogger("riskslim")
    before = package.level
    package.addHandler(handler)
    package.setLevel(logging.INFO if verbose else logging.ERROR if quiet else logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", ConstantFeatureWarning)
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
        typer.echo(f"Error: {_in_one_line(error)}", err=True)
        raise typer.Exit(EXIT_INTERNAL if internal else EXIT_USAGE) from None
    finally:
        package.removeHandler(handler)
        package.setLevel(before)


def _in_one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split())


# ---------------------------------------------------------------------------------------------
# Progress
# ---------------------------------------------------------------------------------------------


class _Progress:
    """The state of the search in one line, refreshed several times per second."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.record: TraceRecord | None = None

    def __call__(self, record: TraceRecord) -> None:
        self.record = record

    def __rich__(self) -> Text:
        from rich.text import Text

        line = f"{time.perf_counter() - self.began:6.1f} s  "
        if self.record is None:
            line += "looking for a first risk score"
        else:
            line += self.record.summary()
        return Text(line, no_wrap=True, overflow="ellipsis")


@contextmanager
def _display(*, hidden: bool) -> Iterator[Callable[[TraceRecord], None] | None]:
    """Show the progress while the search runs, if a person looks at standard error."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    progress = _Progress()
    with Live(progress, console=Console(stderr=True), refresh_per_second=4, transient=True):
        yield progress
