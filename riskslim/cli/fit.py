"""The commands that find a risk score: ``fit`` and ``demo``.

They read the data, state the problem, solve it and write what was found; each of these is a class
over the options that it takes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import typer

import riskslim
from riskslim._wording import listing, printable
from riskslim._writing import csv_text, write_file
from riskslim.cli import options
from riskslim.cli.arguments import (
    arguments_of_engine,
    arguments_of_solver,
    by_name,
    bytes_of,
    checked_word,
    csv_format_of,
    encoder_of,
    scales_of,
    signs_of,
)
from riskslim.cli.exit_codes import EXIT_INFEASIBLE, EXIT_INTERRUPTED, EXIT_MEMORY
from riskslim.cli.layout import Shown, shown_of
from riskslim.cli.messages import shell_word
from riskslim.cli.outputs import Delivery, check_outputs
from riskslim.cli.progress import SearchProgress, display
from riskslim.cli.quality import is_sample, last_lines, rows_apart
from riskslim.cli.reading import Source
from riskslim.cli.selection import Selection, selection_of
from riskslim.cli.session import check_report, logger, print_remarks, session
from riskslim.cli.signals import comes_of_ctrl_c
from riskslim.cli.streams import emit
from riskslim.data.labels import is_plain_order
from riskslim.engines.checkpoint import Checkpoint
from riskslim.engines.choice import engine_named, solve
from riskslim.engines.fingerprint import facts_of, without_limits
from riskslim.exceptions import RowsLostError
from riskslim.items.parameters import is_supervised
from riskslim.scale import PAPER_SCALE
from riskslim.solution import Status

if TYPE_CHECKING:
    from riskslim.classifier import RiskSLIMClassifier
    from riskslim.constraints.base import Constraint
    from riskslim.data.training_data import TrainingData
    from riskslim.engines.choice import EngineChoice
    from riskslim.items.encoder import ItemEncoder
    from riskslim.model_selection.preparation import Preparation
    from riskslim.problem.problem import RiskScoreProblem
    from riskslim.risk_score import RiskScore
    from riskslim.solution import Solution

__all__ = ["Asked", "Search", "demo", "fit", "say_which_label"]

# Scores of a list that are shown where --n-solutions does not say how many.
_LISTED = 10

# Options that are parameters of the encoder and of the classifier, by the names that these have,
# and those that name columns.
_OF_ITEMS = (
    "n_thresholds", "thresholds", "max_thresholds", "round_thresholds", "threshold_digits",
    "min_frequency", "min_events", "special", "categorical", "numeric", "missing",
)  # fmt: skip
_PARAMETERS = (
    "max_size", "min_size", "l0_penalty", "l2_penalty", "items_per_variable", "max_intercept",
    "engine", "time_limit", "gap_tolerance", "node_limit", "sensitivity", "specificity",
)  # fmt: skip
_COLUMNS = ("features", "exclude", "numeric", "categorical")


def fit(
    *,
    data: options.DataFiles,
    outcome: options.Outcome,
    positive: options.Positive = None,
    weights: options.Weights = None,
    class_weight: options.ClassWeight = None,
    features: options.Features = None,
    exclude: options.Exclude = None,
    items: options.Items = False,
    n_thresholds: options.NThresholds = None,
    thresholds: options.Thresholds = None,
    max_thresholds: options.MaxThresholds = None,
    round_thresholds: options.RoundThresholds = False,
    threshold_digits: options.ThresholdDigits = None,
    min_frequency: options.MinFrequency = None,
    min_events: options.MinEvents = None,
    special: options.Special = None,
    categorical: options.Categorical = None,
    numeric: options.Numeric = None,
    missing: options.Missing = None,
    missing_text: options.MissingText = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    memory_limit: options.MemoryLimit = None,
    scratch: options.Scratch = None,
    max_size: options.MaxSize = 5,
    min_size: options.MinSize = 0,
    items_per_variable: options.ItemsPerVariable = None,
    monotone: options.Monotone = None,
    max_coef: options.MaxCoef = 5,
    max_intercept: options.MaxIntercept = None,
    l0_penalty: options.L0Penalty = 1e-6,
    l2_penalty: options.L2Penalty = None,
    shrinkage: options.Shrinkage = "auto",
    sensitivity: options.Sensitivity = None,
    specificity: options.Specificity = None,
    sign: options.Sign = None,
    lower: options.Lower = None,
    upper: options.Upper = None,
    fix: options.Fix = None,
    constraints: options.Constraints = None,
    scale: options.Scale = "auto",
    path: options.SizePath = False,
    cv: options.CV = None,
    folds: options.Folds = None,
    rule: options.Rule = None,
    metric: options.Metric = None,
    n_jobs: options.NJobs = None,
    path_output: options.PathOutput = None,
    cv_output: options.CVOutput = None,
    checkpoint: options.CheckpointFile = None,
    n_solutions: options.NSolutions = None,
    within: options.Within = None,
    engine: options.Engine = "auto",
    solver: options.Solver = None,
    time_limit: options.TimeLimit = 60.0,
    gap_tolerance: options.GapTolerance = 0.0,
    node_limit: options.NodeLimit = None,
    threads: options.Threads = 1,
    seed: options.Seed = 0,
    output: options.ScoreOutput = None,
    trace: options.Trace = None,
    report_file: options.ReportFile = None,
    by: options.By = None,
    points: options.PointsShown = None,
    labels: options.LabelsFile = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Find the best risk score for rows in files.

    Every column is a feature, apart from the outcome, the weights and those excluded; with
    --features, only those named. Ctrl-C ends the search and prints the best risk score so far;
    with --path or --cv, finished fits are kept.
    """
    given = dict(locals())  # the options by their names, as other commands that take them have them
    with session(quiet=quiet, verbose=verbose):
        selection = selection_of(
            shrinkage == "cv", l2_penalty,
            path=path, cv=cv, folds=folds, rule=rule, metric=metric, n_jobs=n_jobs,
            path_output=path_output, cv_output=cv_output, checkpoint=checkpoint,
        )  # fmt: skip
        selection.check(n_solutions, within)
        check_outputs(
            {"--output": output, "--trace": trace, "--path-output": path_output,
             "--cv-output": cv_output, "--report": report_file, "--checkpoint": checkpoint},
            [*(("data", file) for file in data), ("constraints", constraints), ("folds", folds),
              ("labels", labels)],
        )  # fmt: skip
        check_report(report_file, "--report")
        shown = shown_of(by, points, labels)
        asked = Asked.of(given, engine=arguments_of_engine(n_solutions, within, solver, engine))
        training_data = asked.source.read()
        shown.check(training_data.feature_names)
        classifier = asked.classifier(training_data)
        source, encoder = asked.source, asked.source.encoder
        limit = source.memory_limit
        problem, search = Search.stated(classifier, training_data, source.hidden, limit)
        refitted = None
        if selection.has_folds and encoder is not None and is_supervised(encoder):
            refitted = asked.refitted(training_data, encoder)
        elif selection.restates:
            refitted = search.prepared(classifier, training_data)
        say_which_label(training_data, positive, quiet=quiet)
        search.say_engine()
        search.find(selection, problem, refitted, _Results(
            output=output, trace=trace, report_file=report_file, shown=shown, source=source,
            quiet=quiet,
        ))  # fmt: skip


def demo(
    *,
    scale: options.Scale = "auto",
    engine: options.Engine = "auto",
    solver: options.Solver = None,
    time_limit: options.TimeLimitOfOne = 300.0,
    by: options.By = None,
    points: options.PointsShown = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Find the best risk score for data that need no file.

    The data are scikit-learn's breast cancer set, each of its 30 features cut at the median. The
    score has at most 5 features with -5 to 5 points.
    """
    with session(quiet=quiet, verbose=verbose):
        from riskslim.datasets import load_breast_cancer_binary

        shown = shown_of(by, points, None)
        parameters: dict[str, Any] = {
            "max_size": 5, "max_coef": 5, "max_intercept": 100, "l0_penalty": 1e-6,
            "engine": engine, "scale": scales_of(scale, engine), "time_limit": time_limit,
            **arguments_of_solver(solver, engine),
        }  # fmt: skip
        if parameters["scale"] == PAPER_SCALE:  # the paper's problem, whose optimum is known
            parameters["l2_penalty"] = 0.0
        classifier = riskslim.RiskSLIMClassifier(**parameters)
        data = load_breast_cancer_binary()
        problem, search = Search.stated(classifier, data, quiet or verbose)
        _Results(quiet=quiet, shown=shown).write(problem, search.solve(problem))


def say_which_label(data: TrainingData, positive: str | None, *, quiet: bool) -> None:
    """Say it where the labels do not, and even if little is to be said where they mislead."""
    if positive is not None or data.classes in {(0, 1), (-1, 1)}:
        return
    other, predicted = map(str, data.classes)
    is_plain = is_plain_order((other, predicted))
    choice = f"for {printable(other, lines=False)}: --positive {shell_word(other)}"
    outcome, predicted = (printable(text, lines=False) for text in (data.outcome_name, predicted))
    if not is_plain:
        emit(
            f"Warning: the risk predicted is that of {outcome} = {predicted}, the last "
            f"of both values in sorted order; {choice}",
            err=True,
        )
    elif not quiet:
        emit(f"Predicting {outcome} = {predicted}; {choice}", err=True)


# ---------------------------------------------------------------------------------------------
# State
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """The rows and the score that options ask for.

    Parameters
    ----------
    source : Source
    parameters : mapping
        Of the classifier, apart from those about the points of features.
    max_coef : int
    sign, lower, upper, fix : list of str or None
        On the points of features, which are known from the data.
    constraints : list of Constraint
    """

    source: Source
    parameters: Mapping[str, Any]
    max_coef: int
    sign: list[str] | None
    lower: list[str] | None
    upper: list[str] | None
    fix: list[str] | None
    constraints: list[Constraint]

    @classmethod
    def of(cls, given: Mapping[str, Any], engine: Mapping[str, Any]) -> Asked:
        """Read the options of a command that has those of ``fit``.

        Parameters
        ----------
        given : mapping
            Options by the names of their parameters.
        engine : mapping
            What the engine is told besides.

        Returns
        -------
        Asked

        Raises
        ------
        ValueError
            An option cannot be used.
        """
        encoder = encoder_of(given["items"], **{name: given[name] for name in _OF_ITEMS})
        columns: dict[str, Any] = {name: given[name] or [] for name in _COLUMNS}
        source = Source(
            paths=given["data"], outcome=given["outcome"], positive=given["positive"],
            weights=given["weights"], scratch=given["scratch"], encoder=encoder, **columns,
            csv_format=csv_format_of(
                given["missing_text"], given["separator"], given["decimal"], given["encoding"]
            ),
            memory_limit=bytes_of(given["memory_limit"]), hidden=given["quiet"] or given["verbose"],
        )  # fmt: skip
        stated = _constraints_in(given["constraints"])
        shrinkage, threads, seed = (given[name] for name in ("shrinkage", "threads", "seed"))
        parameters = {
            **{name: given[name] for name in _PARAMETERS if name in given},
            "shrinkage": "auto" if shrinkage == "cv" else shrinkage,
            "monotone": checked_word(given["monotone"], "--monotone", "auto"),
            "class_weight": checked_word(given["class_weight"], "--class-weight", "balanced"),
            "scale": scales_of(given["scale"], given["engine"], stated),
            "n_threads": threads, "random_state": seed, **engine,
        }  # fmt: skip
        of_points: dict[str, Any] = {
            name: given[name] for name in ("max_coef", "sign", "lower", "upper", "fix")
        }
        return cls(source, parameters, constraints=stated, **of_points)

    def classifier(self, data: TrainingData) -> RiskSLIMClassifier:
        """Return the classifier that is asked for.

        Parameters
        ----------
        data : TrainingData

        Returns
        -------
        RiskSLIMClassifier
        """
        names = data.feature_names
        signs, signs_of_variables = signs_of(self.sign, names)
        return riskslim.RiskSLIMClassifier(
            min_coef=dict.fromkeys(names, -self.max_coef) | by_name(self.lower, "--lower", int),
            max_coef=dict.fromkeys(names, self.max_coef) | by_name(self.upper, "--upper", int),
            sign=signs,
            fixed=by_name(self.fix, "--fix", int),
            constraints=[*self.constraints, *signs_of_variables],
            **self.parameters,
        )

    def refitted(self, data: TrainingData, encoder: ItemEncoder) -> Preparation:
        """Return the same for items that each fold chooses anew: none can be named.

        Parameters
        ----------
        data : TrainingData
        encoder : ItemEncoder

        Returns
        -------
        Preparation
        """
        from sklearn.base import clone

        from riskslim.model_selection.preparation import Preparation

        if self.lower or self.upper or self.fix or self.sign:
            raise ValueError(
                "--lower, --upper, --fix and --sign name items, but with --thresholds supervised "
                "the training rows of each fold have items of their own"
            )
        # Test rows have levels that the training rows of their fold lack.
        encoder = clone(encoder).set_params(handle_unknown="ignore")
        classifier = riskslim.RiskSLIMClassifier(
            max_coef=self.max_coef, constraints=self.constraints, items=encoder,
            positive_label=data.classes[1], **self.parameters,
        )  # fmt: skip
        return Preparation.of_data(classifier, data)


def _constraints_in(path: Path | None) -> list[Constraint]:
    if path is None:
        return []
    from riskslim.constraints.files import read_constraints

    return read_constraints(path)


# ---------------------------------------------------------------------------------------------
# Solve
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Search:
    """The search: the engine, its arguments, whether progress is hidden."""

    choice: EngineChoice
    arguments: dict[str, Any]
    hidden: bool

    @classmethod
    def stated(
        cls,
        classifier: RiskSLIMClassifier,
        data: TrainingData,
        hidden: bool,
        memory_limit: int | None = None,
    ) -> tuple[RiskScoreProblem, Search]:
        """The problem that a classifier solves, and how it does so."""
        from riskslim.classifier import stated_by  # scikit-learn, which other commands do not need

        problem, arguments = stated_by(classifier, data)
        del arguments["settings"]
        choice = engine_named(classifier.engine)
        if choice.name == "branch_and_bound" and memory_limit is not None:
            # Where rows are in memory, they and tables of supports need the rest.
            share = 4 if data.rows.is_block else 1
            limit = max(memory_limit // share, 1)
            settings = riskslim.BranchAndBoundSettings()
            if limit < settings.memory_limit:
                arguments["settings"] = replace(settings, memory_limit=limit)
        return problem, cls(choice, arguments, hidden)

    def prepared(self, classifier: RiskSLIMClassifier, data: TrainingData) -> Preparation:
        """The classifier and its rows, where problems are stated anew from them."""
        from riskslim.model_selection.preparation import Preparation

        classifier.set_params(settings=self.arguments.get("settings"))
        return Preparation(None, classifier, None, None, None, data)

    def say_engine(self) -> None:
        """Say which engine was chosen, where that was left open."""
        logger.info("engine: %s (%s)", self.choice.name, self.choice.reason)
        is_for_rules = self.arguments.get("required") is not None  # which has no choice
        if self.choice.remark and not self.hidden and not is_for_rules:
            emit(f"Engine: {self.choice.name}, {self.choice.reason}.", err=True)

    def checkpoint(self, path: Path | None, problem: RiskScoreProblem) -> Checkpoint | None:
        """The file in which one search is kept, if there is to be one."""
        if path is None:
            return None
        named = without_limits(self.arguments)
        kept = Checkpoint(path, facts_of(problem, named))
        if not self.hidden and (bound := kept.bound("search", problem, **named)) is not None:
            emit(f"{path} has a score with lower bound {bound:.9g}.", err=True)
        return kept

    def solve(self, problem: RiskScoreProblem, kept: Checkpoint | None = None) -> Solution:
        """Search for one score, or a list of the best ones."""
        arguments = self.arguments
        with display(SearchProgress(), hidden=self.hidden) as progress:
            if kept is None:
                return solve(problem, progress=progress, **arguments)
            return kept.solve("search", problem, goes_on=True, progress=progress, **arguments)

    def find(
        self,
        selection: Selection,
        problem: RiskScoreProblem,
        refitted: Preparation | None,
        results: _Results,
    ) -> None:
        """Find the score, or the sizes and folds, that are asked for, and write them."""
        if selection:
            self.select(selection, problem, refitted, results)
        else:
            kept = self.checkpoint(selection.checkpoint, problem)
            try:
                solution = self.solve(problem, kept)
            except RowsLostError as lost:
                if lost.coef is None:
                    raise
                results.write_unchecked(problem, lost)
            results.write(problem, solution, failure="" if kept is None else kept.failure)

    def select(
        self,
        selection: Selection,
        problem: RiskScoreProblem,
        refitted: Preparation | None,
        results: _Results,
    ) -> None:
        """Find scores of several sizes and on folds; write the chosen one and the tables."""
        path = selection.run(problem, refitted, hidden=self.hidden, **self.arguments)
        chosen, why = selection.choose(path)
        # To state a problem, or look for remarks, takes rows.
        score = chosen.risk_score if path.rows_failure else None
        if score is None:
            problem = selection.problem_of(path, chosen, problem, refitted)
        results.write(
            problem, chosen.solution, others=selection.files(path),
            around=lambda: selection.text(path, chosen, why),
            sections=selection.sections(path, chosen), failure=path.checkpoint_failure, score=score,
        )  # fmt: skip
        if path.rows_failure:
            emit(f"Error: {path.rows_failure}; what was finished before is kept", err=True)
        if path.lost:
            emit(
                f"Error: without {listing(path.lost)}, whose processes were ended twice from "
                "outside, as where memory runs out: use fewer --n-jobs",
                err=True,
            )
            raise typer.Exit(EXIT_MEMORY)
        if not path.is_complete:
            raise typer.Exit(EXIT_INTERRUPTED)


# ---------------------------------------------------------------------------------------------
# Write
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Results:
    """Destinations of a result: files that were asked for, and standard output."""

    output: Path | None = None
    trace: Path | None = None
    report_file: Path | None = None
    shown: Shown = field(default_factory=Shown)
    source: Source | None = None
    quiet: bool = False

    def write(
        self,
        problem: RiskScoreProblem,
        solution: Solution,
        *,
        others: Mapping[Path, Callable[[], None]] = MappingProxyType({}),
        around: Callable[[], tuple[str, str]] = lambda: ("", ""),
        sections: Mapping[str, Any] = MappingProxyType({}),
        failure: str = "",
        score: RiskScore | None = None,
    ) -> None:
        """Save and print a result; leave with the exit code that it deserves.

        The score is saved before all else. No failure of an output is in the way of another, and
        Ctrl-C leaves out what it takes time to write, not what was found. ``failure`` is of an
        output that was to be written before, ``score`` the score where it is known already.
        """
        certificate = solution.certificate
        delivery = Delivery(self.output)
        if failure:
            delivery.failures.append(failure)
        if certificate.status is Status.INFEASIBLE:
            for path, write in others.items():
                delivery.file(path, write)
            emit(printable(certificate.explain(), lines=False), err=True)
            delivery.finish()
            raise typer.Exit(EXIT_INFEASIBLE)
        interrupted = certificate.status is Status.INTERRUPTED
        complete = True
        if score is None:
            score, complete = self._score(problem, solution)
        score = self.shown.of(score)
        files = dict(others)
        if self.trace is not None:
            files[self.trace] = functools.partial(_write_trace, solution, self.trace)
        if (page := self.report_file) is not None:
            files[page] = functools.partial(_write_report, page, score, problem, sections)
        text = functools.partial(_text, around, solution, score)
        last = functools.partial(
            self._last_lines, problem=problem, is_tested=bool(sections.get("cv"))
        )
        ended = interrupted or not complete
        self._deliver(delivery, score, files, text, last, interrupted=ended)

    def write_unchecked(self, problem: RiskScoreProblem, lost: RowsLostError) -> NoReturn:
        """Save and print the best score of a search whose rows cannot be read any more.

        It has no certificate, and there is neither a report nor a trace.
        """
        assert lost.coef is not None
        data, scale = problem.loss.data, 1.0 if lost.scale is None else lost.scale
        score = riskslim.RiskScore.from_coefficients(lost.coef, data, scale=scale)
        if data.encoder is not None and score.points:
            score = score.with_variables(data.encoder)
        score = self.shown.of(score)
        known = f"objective {lost.objective:.9g}, lower bound {lost.lower_bound:.9g}"
        emit(
            f"Error: {lost.reason}. This ended the search: its best score is kept, but could not "
            f"be checked again ({known}) and has no certificate",
            err=True,
        )
        text = functools.partial(str, score)
        self._deliver(Delivery(self.output), score, {}, text, lambda _: "", interrupted=True)
        raise typer.Exit(EXIT_INTERRUPTED)

    def _deliver(
        self,
        delivery: Delivery,
        score: RiskScore,
        files: Mapping[Path, Callable[[], None]],
        text: Callable[[], str],
        last_lines: Callable[[RiskScore], str],
        *,
        interrupted: bool,
    ) -> None:
        """Save a score, write the other files, print; leave with the exit code of a failure."""
        last = ""
        try:
            delivery.save(score)
            for path, write in files.items():
                delivery.file(path, write)
            last = self._figures(last_lines, score)
        except KeyboardInterrupt:
            interrupted = True
        delivery.show(lambda: text() + last)
        if not delivery.is_kept:
            delivery.recover(score)
        if not self.quiet:
            print_remarks(tuple(dict.fromkeys((*score.fit_remarks, *score.remarks()))))
        delivery.finish()
        if interrupted:
            raise typer.Exit(EXIT_INTERRUPTED)

    def _figures(self, last_lines: Callable[[RiskScore], str], score: RiskScore) -> str:
        try:
            return last_lines(score)
        except Exception as error:  # they take passes over the rows; the score is found
            if comes_of_ctrl_c(error):
                raise KeyboardInterrupt from error
            logger.warning("the figures on the training rows are left out: %s", error)
            return ""

    def _last_lines(self, score: RiskScore, problem: RiskScoreProblem, *, is_tested: bool) -> str:
        """Figures of the score of a fit, and the next command; nothing of the demo."""
        if self.source is None:
            return ""
        output = None if self.report_file is not None else self.output
        lines = last_lines(score, problem.loss.data, self.source, output, is_tested=is_tested)
        return f"\n\n{lines}" if lines else ""

    def _score(self, problem: RiskScoreProblem, solution: Solution) -> tuple[RiskScore, bool]:
        """The score of a solution; without what takes passes over the rows where that is ended."""
        data = problem.loss.data
        made: dict[str, Any] = {"problem": problem, "encoder": data.encoder, "raw": data.raw}
        try:
            return riskslim.RiskScore.from_solution(solution, data, **made), True
        except (KeyboardInterrupt, MemoryError, RowsLostError) as error:
            made |= {"raw": None, "with_remarks": False}
            if isinstance(error, RowsLostError):
                made["problem"] = None  # some requirements are about rows
            logger.warning(
                "the score is without remarks on its fit and its cut-offs: %r ended it", error
            )
            complete = not isinstance(error, KeyboardInterrupt)
            return riskslim.RiskScore.from_solution(solution, data, **made), complete


def _text(around: Callable[[], tuple[str, str]], solution: Solution, score: RiskScore) -> str:
    before, after = around()
    return f"{before}{_described(solution, score)}{after}"


def _write_report(
    page: Path, score: RiskScore, problem: RiskScoreProblem, sections: Mapping[str, Any]
) -> None:
    score.report(page, _apart(problem.loss.data), problem=problem, **sections)


def _apart(data: TrainingData) -> TrainingData:
    """Rows each for itself, as figures of a report need them; of many a sample."""
    rows = rows_apart(data, data.n_samples)
    if is_sample(rows, data):
        logger.warning(
            "the report is on a sample of %s of the %s training rows",
            f"{rows.n_samples:,}", f"{data.n_samples:,}",
        )  # fmt: skip
    return rows


def _described(solution: Solution, score: RiskScore) -> str:
    """The score, its certificate, how the search ended, and the list of scores if there is one."""
    ended, mark, more = solution.certificate.message.partition("; ")
    seconds = solution.statistics.total_seconds
    text = (
        f"{score}\n\n{solution.certificate.explain()}\n"
        f"{ended[:1].upper()}{ended[1:]} after {seconds:.1f} seconds{mark}{more}."
    )
    pool = solution.pool
    if pool is None:
        return text
    table = pool.table(solution.settings["n_solutions"] or _LISTED)
    return f"{text}\n\n{table}\n{pool.explain()}"


def _write_trace(solution: Solution, path: Path) -> None:
    columns = solution.trace.to_dict()
    write_file(path, csv_text([columns, *zip(*columns.values(), strict=True)]))
