"""The command ``alternatives``: other sets of items that are as good, and which one to choose."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import riskslim
from riskslim._wording import near
from riskslim.cli import alternatives_options as own
from riskslim.cli import options
from riskslim.cli.applying import Applied
from riskslim.cli.arguments import by_name
from riskslim.cli.exit_codes import EXIT_INFEASIBLE, EXIT_INTERRUPTED
from riskslim.cli.fit import Asked, Search, fit, say_which_label
from riskslim.cli.outputs import Delivery, check_outputs
from riskslim.cli.progress import PathProgress, SearchProgress, display
from riskslim.cli.quality import is_sample, rows_apart
from riskslim.cli.session import session
from riskslim.cli.streams import emit
from riskslim.engines.choice import engine_named
from riskslim.exceptions import InfeasibleProblemError
from riskslim.items.item import variable_of

if TYPE_CHECKING:
    from riskslim.near_optimal.alternatives import Alternatives
    from riskslim.near_optimal.choice import Choice
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["alternatives"]

# Options of fit that are about something else than one search for the least objective.
_NOT_OF_SETS = {
    "path", "cv", "folds", "rule", "metric", "n_jobs", "path_output", "cv_output", "checkpoint",
    "n_solutions", "within", "sensitivity", "specificity", "solver", "gap_tolerance", "node_limit",
    "seed", "output", "trace", "report_file", "by", "points", "labels", "time_limit",
}  # fmt: skip
# Options of its own, with their defaults.
_OWN: dict[str, tuple[Any, Any]] = {
    "within": (own.WithinOfSets, 0.01),
    "n_sets": (own.NSets, None),
    "prices": (own.Prices, None),
    "time_limit": (options.TimeLimitOfOne, 60.0),
    "most": (own.Most, 10),
    "without": (own.WithoutItem, None),
    "with_": (own.WithItem, None),
    "at_most_variables": (own.AtMostVariables, None),
    "cost": (own.Costs, None),
    "test": (own.TestOfAlternatives, None),
    "group": (own.GroupColumn, None),
    "threshold": (own.DecisionRisk, 0.5),
    "bootstrap": (own.Bootstrap, None),
    "n_jobs": (own.NJobsOfSamples, None),
    "seed": (own.SeedOfSamples, 0),
    "choose": (own.Choose, None),
    "output": (own.AlternativesOutput, None),
}
# Rows of which all are looked at.
_MOST_ROWS = 1_000_000


def alternatives(**given: Any) -> None:
    """Find all sets of items with a score about as good as the best.

    Takes the data and the requirements as fit does. Prints the sets with the least objectives, what
    is proven, and for how many rows the decision depends on the choice among them. Ctrl-C ends the
    search and prints what is known.
    """
    with session(quiet=given["quiet"], verbose=given["verbose"]):
        chosen = given["choose"]
        sources = [("data", file) for file in (*given["data"], *(given["test"] or []))]
        check_outputs(
            {"--output": given["output"], "--choose": None if chosen is None else chosen[1]},
            [*sources, ("constraints", given["constraints"])],
        )
        _check(given)
        asked = Asked.of(given, engine={})
        costs = by_name(given["cost"], "--cost", float, "a number C")
        training_data = asked.source.read()
        _Found.of(asked, given, training_data, costs).write(costs)


def _signature() -> inspect.Signature:
    """Options of ``fit`` that are about one search, and those of its own."""
    kept = [
        parameter
        for name, parameter in inspect.signature(fit, eval_str=True).parameters.items()
        if name not in _NOT_OF_SETS
    ]
    others = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in _OWN.items()
    ]
    return inspect.Signature([*kept, *others])


alternatives.__signature__ = _signature()  # type: ignore[attr-defined]


def _check(given: Mapping[str, Any]) -> None:
    """Refuse options that cannot be used, before the data are read."""
    choice = engine_named(given["engine"])
    if choice.name == "lattice_cpa":
        raise ValueError(
            f"alternatives need --engine branch_and_bound: lattice_cpa finds one risk score"
            f"{choice.remark}"
        )
    if given["shrinkage"] == "cv":
        raise ValueError(
            "--shrinkage cv chooses a prior by folds: give alternatives the strength that riskslim "
            "fit --shrinkage cv chose"
        )
    if not given["within"] >= 0:
        raise ValueError(f"--within must be at least 0, got {given['within']:g}")
    if given["prices"] not in (None, "used", "all"):
        raise ValueError(f"--prices must be used or all, got {given['prices']!r}")
    for name in ("n_sets", "bootstrap"):
        if given[name] is not None and given[name] < 1:
            option = name.replace("_", "-")
            raise ValueError(f"--{option} must be at least 1, got {given[name]}")
    if given["n_jobs"] is not None and given["bootstrap"] is None:
        raise ValueError("--n-jobs needs --bootstrap")
    if not 0 < given["threshold"] < 1:
        raise ValueError(f"--threshold must be a risk between 0 and 1, got {given['threshold']}")
    if given["choose"] is not None and given["choose"][0] < 0:
        raise ValueError(f"--choose RANK must be at least 0, got {given['choose'][0]}")


@dataclass(frozen=True)
class _Found:
    """Alternatives of a problem, and what is asked about them."""

    asked: Asked
    given: Mapping[str, Any]
    problem: RiskScoreProblem
    found: Alternatives
    settings: Any
    hidden: bool

    @classmethod
    def of(
        cls, asked: Asked, given: Mapping[str, Any], training_data: Any, costs: Mapping[str, float]
    ) -> _Found:
        """State the problem, and search."""
        source = asked.source
        classifier = asked.classifier(training_data)
        problem, search = Search.stated(
            classifier, training_data, source.hidden, source.memory_limit
        )
        say_which_label(training_data, given["positive"], quiet=given["quiet"])
        _check_names([*(given["without"] or []), *(given["with_"] or [])], costs, problem)
        settings = search.arguments.get("settings")
        try:
            with display(SearchProgress(), hidden=source.hidden) as progress:
                found = riskslim.alternatives(
                    problem, given["within"], prices=given["prices"], n_sets=given["n_sets"],
                    time_limit=given["time_limit"], n_threads=given["threads"], settings=settings,
                    progress=progress,
                )  # fmt: skip
        except InfeasibleProblemError as error:
            emit(f"No risk score meets the requirements: {error}.", err=True)
            raise typer.Exit(EXIT_INFEASIBLE) from None
        return cls(asked, given, problem, found, settings, source.hidden)

    def write(self, costs: Mapping[str, float]) -> None:
        """Compare, filter, choose, save and print; leave with the exit code that is deserved."""
        given, delivery = self.given, Delivery(None)
        interrupted = self.found.solution.is_interrupted
        everything = self._compared(costs)
        left, wrong = everything, None
        try:
            left = self._filtered(everything)
            if given["choose"] is not None:
                rank, path = given["choose"]
                data = self.problem.loss.data
                score = replace(left, data=data).chosen(rank, problem=self.problem, raw=data.raw)
                delivery.file(path, functools.partial(score.save, path))
        except ValueError as error:  # told in the end: the search may have taken an hour
            wrong = error
        found = everything.found
        if given["bootstrap"] is not None and not interrupted:
            found, interrupted = self._resampled(found)
        if (output := given["output"]) is not None:
            delivery.file(output, functools.partial(found.save, output))
        delivery.show(lambda: _text(found, left, given["most"]))
        delivery.finish()
        if wrong is not None:
            raise wrong
        if interrupted:
            raise typer.Exit(EXIT_INTERRUPTED)

    def _compared(self, costs: Mapping[str, float]) -> Choice:
        """Measure all alternatives on the training rows, and on test rows where there are some."""
        from riskslim.near_optimal.rows import TRAINING, reader_of

        given, data = self.given, self.problem.loss.data
        rows = rows_apart(data, _MOST_ROWS) if not data.rows.is_block else data
        compared: dict[str, Any] = {"threshold": given["threshold"], "costs": costs or None}
        if is_sample(rows, data):
            compared["name"] = f"sample of the {TRAINING}"
        if given["test"] or given["group"] is not None:
            source = self.asked.source
            applied = Applied(
                score=reader_of(self.found, data), unknown="error", csv_format=source.csv_format,
                memory_limit=source.memory_limit, what="alternatives",
                positive=source.positive,
            )  # fmt: skip
            compared |= self._other_rows(applied)
        return self.found.compare(rows, **compared)

    def _other_rows(self, applied: Applied) -> dict[str, Any]:
        """Read test rows, and the groups of all rows."""
        group, source = self.given["group"], self.asked.source
        kept = [*applied.score.variables, *([] if group is None else [group])]
        read = functools.partial(
            applied.all_rows, weights=source.weights, kept=kept,
            check=functools.partial(_check_group, group),
        )  # fmt: skip
        compared: dict[str, Any] = {}
        if group is not None:
            rows = read(source.paths, outcome=None, labelled=False)
            compared["groups"] = rows.X[group]
        if self.given["test"]:
            rows = read(self.given["test"], outcome=source.outcome)
            compared |= {
                "X_test": rows.X, "y_test": rows.y, "sample_weight_test": rows.sample_weight,
                "groups_test": None if group is None else rows.X[group],
            }  # fmt: skip
        return compared

    def _filtered(self, choice: Choice) -> Choice:
        for name in self.given["without"] or []:
            choice = choice.without(name)
        for name in self.given["with_"] or []:
            choice = choice.with_(name)
        most = self.given["at_most_variables"]
        return choice if most is None else choice.at_most(most)

    def _resampled(self, found: Alternatives) -> tuple[Alternatives, bool]:
        """Search on bootstrap samples; whether the user ended that."""
        given, n_jobs = self.given, self.given["n_jobs"]
        try:
            with display(PathProgress(), hidden=self.hidden) as progress:
                kept = found.with_stability(
                    self.problem, given["bootstrap"], random_state=given["seed"],
                    n_jobs=1 if n_jobs is None else n_jobs, time_limit=given["time_limit"],
                    n_threads=given["threads"], settings=self.settings,
                    progress=None if progress is None else progress.step,
                )  # fmt: skip
        except KeyboardInterrupt:
            return found, True
        assert kept.stability is not None
        return kept, kept.stability.is_interrupted


def _check_names(
    wanted: Iterable[str], costs: Mapping[str, float], problem: RiskScoreProblem
) -> None:
    """Refuse names that are neither of an item nor of a variable, and costs, before the search."""
    from riskslim.near_optimal.choice import checked_cost, members_among

    names, items = problem.coefficients.feature_names, problem.loss.data.items
    variables = [variable_of(name, items) for name in names]
    for name in (*wanted, *costs):
        members_among(names, variables, name)
    for name, cost in costs.items():
        checked_cost(name, cost)


def _check_group(group: str | None, path: Path, names: list[str]) -> None:
    """Refuse groups that are no column of a file, before anything is computed."""
    if group is not None and group not in names:
        raise ValueError(f"{path} has no column {group!r}{near(group, names)} (--group)")


def _text(found: Alternatives, left: Choice, most: int) -> str:
    """All that is printed."""
    parts = [left.table(most)]
    if left.filters:
        parts[0] += f"\n{left.count()}"
    parts.append(found.explain())
    parts += [one.explain() for one in found.agreement]
    if found.stability is not None:
        parts.append(str(found.stability))
    return "\n\n".join(parts)
