"""Paths of model sizes and cross-validation on the command line: options, tables, files."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riskslim._writing import csv_text, write_file
from riskslim.cli.progress import PathProgress, display

if TYPE_CHECKING:
    from riskslim.classifier import RiskSLIMClassifier
    from riskslim.model_selection.preparation import Preparation
    from riskslim.model_selection.shrinkage import ShrinkagePath
    from riskslim.model_selection.size_path import ModelSizePath, SizeOnPath
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["Selection", "selection_of"]

_RULE, _METRIC = "one_standard_error", "loss"
_METRICS = ("loss", "auc", "cal", "sensitivity", "specificity")
# Of --shrinkage cv.
_RULE_OF_STRENGTHS, _FOLDS = "best_mean", 5


@dataclasses.dataclass(frozen=True)
class Selection:
    """Everything that was asked for beyond one score.

    Parameters
    ----------
    path : bool
        All sizes, not the largest alone.
    cv : int or None
        Number of folds.
    folds : Path or None
        File of folds.
    rule, metric : str or None
        By which a size is chosen.
    n_jobs : int or None
    path_output, cv_output : Path or None
        Files for the records of sizes and of folds.
    checkpoint : Path or None
        File in which results are kept.
    """

    path: bool
    cv: int | None
    folds: Path | None
    rule: str | None
    metric: str | None
    n_jobs: int | None
    path_output: Path | None
    cv_output: Path | None
    checkpoint: Path | None = None

    @property
    def restates(self) -> bool:
        """True if each problem is stated from the classifier."""
        return False

    @property
    def tables(self) -> bool:
        """True if there is a table of several sizes or strengths, of which one is chosen."""
        return self.path

    @property
    def has_folds(self) -> bool:
        """True if there is a cross-validation."""
        return self.cv is not None or self.folds is not None

    def __bool__(self) -> bool:
        return self.path or self.has_folds

    def check(self, n_solutions: int | None, within: float | None) -> None:
        """Refuse options that do not go together, before the data are read.

        Parameters
        ----------
        n_solutions, within : int, float or None
            Of the list that one search is asked for.

        Raises
        ------
        ValueError
        """
        from riskslim.model_selection.size_path import RULES

        several = n_solutions is not None or within is not None
        if self.cv is not None and self.folds is not None:
            raise ValueError("give --cv or --folds, not both")
        chooses = self.tables and self.has_folds
        for option, given, holds, needed in (
            ("--rule", self.rule, chooses, "--path, and --cv or --folds"),
            ("--metric", self.metric, chooses, "--path, and --cv or --folds"),
            ("--n-jobs", self.n_jobs, self.has_folds, "--cv or --folds"),
            ("--path-output", self.path_output, self.tables, "--path"),
            ("--cv-output", self.cv_output, self.has_folds, "--cv or --folds"),
        ):
            if given is not None and not holds:
                raise ValueError(f"{option} needs {needed}")
        for option, value, known in (
            ("--rule", self.rule, RULES), ("--metric", self.metric, _METRICS),
        ):  # fmt: skip
            if value is not None and value not in known:
                raise ValueError(f"{option} must be one of {', '.join(known)}, got {value!r}")
        if self.checkpoint is not None and several:
            raise ValueError("--checkpoint keeps no lists: leave out --n-solutions and --within")
        if self and several:
            raise ValueError(
                "--n-solutions and --within list the scores of one search: leave out --path, --cv "
                "and --folds"
            )
        for option, file in (
            ("--path-output", self.path_output), ("--cv-output", self.cv_output),
        ):  # fmt: skip
            if file is not None and file.suffix not in {".csv", ".json"}:
                raise ValueError(f"{option} must end in .csv or .json, got {file}")

    def run(
        self,
        problem: RiskScoreProblem,
        refitted: Preparation | None,
        *,
        hidden: bool,
        **arguments: Any,
    ) -> Any:
        """Find the scores.

        Parameters
        ----------
        problem : RiskScoreProblem
        refitted : Preparation or None
            Where the training rows of each fold choose their own items.
        hidden : bool
            Show no progress.
        **arguments
            The engine, its arguments, and the seed, which is that of the folds, too.

        Returns
        -------
        ModelSizePath
            Of one size where no path was asked for; a ShrinkagePath of ``--shrinkage cv``.

        Raises
        ------
        KeyboardInterrupt
            Ctrl-C before any score was found.
        MemoryError
            The process of the searches on all rows was ended from outside, twice.
        """
        from riskslim.model_selection.size_path import model_size_path

        with display(PathProgress(), hidden=hidden) as progress:
            if refitted is not None:
                arguments = {"random_state": arguments["random_state"]}  # it has the others
            path = model_size_path(
                problem if refitted is None else refitted,
                sizes=None if self.path else [problem.max_size],
                cv=self.cv if self.folds is None else str(self.folds),
                n_jobs=1 if self.n_jobs is None else self.n_jobs,
                progress=None if progress is None else progress.step,
                search_progress=None if progress is None else progress.follow,
                checkpoint=self.checkpoint,
                **arguments,
            )
        _check_entries(path.entries, path.lost)
        return path

    def problem_of(
        self, path: Any, chosen: SizeOnPath, problem: RiskScoreProblem, refitted: Preparation | None
    ) -> RiskScoreProblem:
        """State the problem of the chosen score.

        Parameters
        ----------
        path : ModelSizePath or ShrinkagePath
        chosen : SizeOnPath
        problem : RiskScoreProblem
            Of the largest size, without a prior that is to be chosen.
        refitted : Preparation or None

        Returns
        -------
        RiskScoreProblem
        """
        if chosen.max_size == problem.max_size:
            return problem
        return problem.restated(max_size=chosen.max_size)

    def choose(self, path: Any) -> tuple[SizeOnPath, str]:
        """Choose the size whose score is printed and saved.

        Parameters
        ----------
        path : ModelSizePath

        Returns
        -------
        SizeOnPath
        str
            Why, in a sentence; empty where there was no choice.
        """
        found = [entry for entry in path.entries if entry.risk_score is not None]
        if not self.path or not found:
            return (found or path.entries)[-1], ""
        # The search for a size that Ctrl-C ended may have had no time: it is no choice while
        # smaller ones are finished.
        broken_off = [entry for entry in found if entry.is_interrupted]
        found = [entry for entry in found if not entry.is_interrupted] or found
        tested = [entry.cross_validation for entry in found if entry.cross_validation is not None]
        if any(one.is_complete for one in tested):
            # Of rules that reach a share on the training rows the other one decides.
            metric = self.metric or (path.free_share if path.has_rules else _METRIC)
            rule = self.rule or _RULE
            entry = path.best(rule, metric)
            return entry, f"Size {entry.max_size}, by the rule {rule} on the test {metric}:"
        why = "no size has scores in all folds" if self.has_folds else "--cv 5 chooses by test rows"
        size = found[-1].max_size
        if not broken_off:
            return found[-1], f"Size {size}, the largest ({why}):"
        if found[-1] is broken_off[-1]:
            return found[-1], f"Size {size}, whose search was interrupted; none is finished:"
        return found[-1], (
            f"Size {size}, the largest that is finished: the search for size "
            f"{broken_off[-1].max_size} was interrupted ({why}):"
        )

    def text(self, path: Any, chosen: SizeOnPath, why: str) -> tuple[str, str]:
        """Return what is printed before and after the chosen score.

        Parameters
        ----------
        path : ModelSizePath
        chosen : SizeOnPath
        why : str

        Returns
        -------
        tuple of two str
        """
        before = "".join(f"{part}\n\n" for part in (path if self.path else "", why) if str(part))
        tested = chosen.cross_validation
        return before, "" if tested is None else f"\n\n{tested}"

    def sections(self, path: Any, chosen: SizeOnPath) -> dict[str, Any]:
        """Return what a report has beyond that on one search.

        Parameters
        ----------
        path : ModelSizePath
        chosen : SizeOnPath

        Returns
        -------
        dict
            Arguments of :meth:`~riskslim.RiskScore.report`.
        """
        tested = chosen.cross_validation
        return {
            "size_path": path if self.path else None,
            "cv": tested if tested is not None and tested.folds else None,
        }

    def files(self, path: Any) -> dict[Path, Callable[[], None]]:
        """Return the files that were asked for, each with the function that writes it.

        Parameters
        ----------
        path : ModelSizePath

        Returns
        -------
        dict
        """
        files: dict[Path, Callable[[], None]] = {}
        if (sizes := self.path_output) is not None:
            files[sizes] = lambda: _write_records(sizes, path.records())
        if (folds := self.cv_output) is not None:
            files[folds] = lambda: _write_records(folds, self._records_of_folds(path))
        return files

    def _records_of_folds(self, path: Any) -> list[dict[str, Any]]:
        return _records_of_folds(path)


class _SelectionOfStrengths(Selection):
    """The same where the strength of the prior is chosen as well."""

    @property
    def restates(self) -> bool:
        return True

    @property
    def tables(self) -> bool:
        return True

    def run(
        self,
        problem: RiskScoreProblem,
        refitted: Preparation | None,
        *,
        hidden: bool,
        **arguments: Any,
    ) -> ShrinkagePath:
        from riskslim.model_selection.shrinkage import shrinkage_path

        with display(PathProgress(), hidden=hidden) as progress:
            path = shrinkage_path(
                refitted,
                sizes=None if self.path else [problem.max_size],
                cv=self.cv if self.folds is None else str(self.folds),
                random_state=arguments["random_state"],
                n_jobs=1 if self.n_jobs is None else self.n_jobs,
                progress=None if progress is None else progress.step,
                search_progress=None if progress is None else progress.follow,
                checkpoint=self.checkpoint,
            )
        _check_entries(path.paths[0].entries if path.paths else (), path.lost)
        return path

    def problem_of(
        self, path: Any, chosen: SizeOnPath, problem: RiskScoreProblem, refitted: Preparation | None
    ) -> RiskScoreProblem:
        from sklearn.base import clone

        assert refitted is not None
        classifier: RiskSLIMClassifier = clone(refitted.classifier)
        classifier.set_params(shrinkage=_strength_of(path, chosen), max_size=chosen.max_size)
        return classifier.problem_on(refitted.on_all_rows())

    def choose(self, path: Any) -> tuple[SizeOnPath, str]:
        if not path.is_tested:
            entry, why = super().choose(path.paths[0])
            first = f"Shrinkage {path.shrinkages[0]:g}, as none is finished on all folds. {why}"
            return entry, first.rstrip()
        chosen = (self.rule or _RULE_OF_STRENGTHS, self.metric or _METRIC)
        return path.best(*chosen)[1], path.explain(*chosen)

    def text(self, path: Any, chosen: SizeOnPath, why: str) -> tuple[str, str]:
        tested = chosen.cross_validation
        return f"{path.table()}\n{why}\n\n", "" if tested is None else f"\n\n{tested}"

    def sections(self, path: Any, chosen: SizeOnPath) -> dict[str, Any]:
        return super().sections(path, chosen) | {"size_path": path if path.is_tested else None}

    def _records_of_folds(self, path: Any) -> list[dict[str, Any]]:
        return [
            {"shrinkage": shrinkage, **record}
            for shrinkage, one in zip(path.shrinkages, path.paths, strict=True)
            for record in _records_of_folds(one)
        ]


def selection_of(strengths: bool, l2_penalty: float | None, **options: Any) -> Selection:
    """Return what was asked for beyond one score.

    Parameters
    ----------
    strengths : bool
        Whether the strength of the prior is to be chosen.
    l2_penalty : float or None
    **options
        Of :class:`Selection`.

    Returns
    -------
    Selection

    Raises
    ------
    ValueError
        There is a prior already.
    """
    if not strengths:
        return Selection(**options)
    if l2_penalty is not None:
        raise ValueError("--shrinkage cv chooses the prior: leave out --l2-penalty")
    if options["cv"] is None and options["folds"] is None:
        options["cv"] = _FOLDS
    return _SelectionOfStrengths(**options)


def _strength_of(path: ShrinkagePath, chosen: SizeOnPath) -> float:
    """The strength with which an entry was found."""
    return next(
        shrinkage
        for shrinkage, one in zip(path.shrinkages, path.paths, strict=True)
        if any(entry is chosen for entry in one.entries)
    )


def _check_entries(entries: Sequence[SizeOnPath], lost: Sequence[str]) -> None:
    """Refuse a path on which nothing was found on all rows."""
    if not entries and lost:
        raise MemoryError(
            "the process that searched on all rows was ended twice from outside, as where "
            "memory runs out"
        )
    if not entries:
        raise KeyboardInterrupt


def _records_of_folds(path: ModelSizePath) -> list[dict[str, Any]]:
    return [
        {"max_size": entry.max_size, **record}
        for entry in path.entries
        if entry.cross_validation is not None
        for record in entry.cross_validation.records()
    ]


def _write_records(file: Path, records: Sequence[dict[str, Any]]) -> None:
    """Write one line, or one JSON object, for each record."""
    if file.suffix == ".json":
        plain = [{name: _finite(value) for name, value in one.items()} for one in records]
        text = json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False)
        write_file(file, f"{text}\n")
        return
    columns = dict.fromkeys(name for record in records for name in record)
    lines = [[_cell(one.get(name, "")) for name in columns] for one in records]
    write_file(file, csv_text([columns, *lines]))


def _finite(value: Any) -> Any:
    """A value as JSON has it, which knows no NaN and no infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(value: Any) -> Any:
    value = _finite(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
