r"""The choice of a model size: risk scores of all sizes, measured on rows they have not seen.

The optimal value :math:`V_R` of the risk score problem with at most R features falls with R. Two
relations make a path of sizes cheaper than separate fits: the best score with R - 1 features is
feasible with R, so that each search starts from the last one's result; and a lower bound on
:math:`V_R` is one on :math:`V_{R-1}`, which helps where a search was stopped by a limit.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import logging
import math
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from riskslim._checks import is_int
from riskslim.classifier import RiskSLIMClassifier, stated_by, strength_on
from riskslim.data.training_data import TrainingData
from riskslim.engines.certify import certify
from riskslim.engines.checkpoint import Checkpoint
from riskslim.engines.choice import solve
from riskslim.engines.fingerprint import facts_of
from riskslim.engines.parallel import Finished, Step, in_parallel
from riskslim.exceptions import ConstantFeatureWarning, RowsLostError
from riskslim.items.encoder import parts_of_a_table
from riskslim.metrics.performance import (
    LARGER_IS_BETTER,
    PERCENT,
    SHARES,
    Performance,
    check_metric,
    performance,
)
from riskslim.metrics.rows import has_both_classes
from riskslim.model_selection import rule_sizes
from riskslim.model_selection.cross_validation import CrossValidation, Fold
from riskslim.model_selection.folds import Split, splits_of
from riskslim.model_selection.preparation import OneClassRows, Preparation
from riskslim.problem.problem import RiskScoreProblem
from riskslim.risk_score import RiskScore
from riskslim.rows.file_rows import FileRows
from riskslim.rows.subsets import sampled
from riskslim.score.operating_point import called_positive
from riskslim.score.table import logistic
from riskslim.solution import Solution, Status, TraceRecord, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from riskslim.engines.workers import Workers

__all__ = ["RULES", "ModelSizePath", "SizeOnPath", "model_size_path"]

logger = logging.getLogger(__name__)

# Rows one by one: in memory, or in files that are read again.
_InOrder: TypeAlias = "TrainingData | FileRows | OneClassRows"

# Vectors of sizes, by the name of the rows and the size.
Starts: TypeAlias = Mapping[str, Mapping[int, NDArray[np.int64]]]

RULES = ("one_standard_error", "best_mean")
# Gaps up to this are rounding errors.
_NO_GAP = 1e-9
# Rows on which sizes are measured where the data's own are not in memory.
_MEASURED_ROWS = 10**6


@dataclasses.dataclass(frozen=True, eq=False)
class SizeOnPath:
    """The best risk score of one model size.

    Parameters
    ----------
    max_size : int
        Most features that it was allowed.
    solution : Solution
        With the certificate; without coefficients if nothing of this size meets the constraints.
    risk_score : RiskScore or None
    train : Performance or None
        On the training data.
    cross_validation : CrossValidation or None
        The same problem on folds, where they were asked for.

    Examples
    --------
    >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
    >>> from riskslim import model_size_path
    >>> data = TrainingData([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 0, 0, 1] * 4 + [0, 1, 1, 1])
    >>> coefficients = CoefficientSet(data.feature_names, -5, 5)
    >>> problem = RiskScoreProblem(data, coefficients)
    >>> path = model_size_path(problem, sizes=[1, 2])
    >>> entry = path.entries[0]
    >>> entry.max_size, entry.solution.points, entry.solution.certificate.is_optimal
    (1, {'x1': 2}, True)
    """

    max_size: int
    solution: Solution
    risk_score: RiskScore | None
    train: Performance | None
    cross_validation: CrossValidation | None = dataclasses.field(default=None, repr=False)

    @property
    def is_interrupted(self) -> bool:
        """True if the search for this size was interrupted before its end."""
        return self.solution.certificate.status is Status.INTERRUPTED


@dataclasses.dataclass(frozen=True, eq=False)
class ModelSizePath:
    """The best risk scores of increasing model sizes.

    Parameters
    ----------
    entries : tuple of SizeOnPath
        In order of size; those that are finished.
    is_complete : bool
        Whether all sizes, and all of their folds, are finished.
    lost : tuple of str
        Sets of rows, such as "fold 3", whose process was killed, also when it was tried once more
        alone: nothing is known of them.
    checkpoint_failure : str
        Why results are not in the checkpoint, or were not read from it; empty where all is well.
    rows_failure : str
        Why rows could not be read any more, which ended the path; empty where all is well.

    Examples
    --------
    >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
    >>> from riskslim import model_size_path
    >>> data = TrainingData([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 0, 0, 1] * 4 + [0, 1, 1, 1])
    >>> coefficients = CoefficientSet(data.feature_names, -5, 5)
    >>> problem = RiskScoreProblem(data, coefficients)
    >>> path = model_size_path(problem, sizes=[1, 2])
    >>> [entry.max_size for entry in path.entries], path.is_complete
    ([1, 2], True)
    >>> path.of_size(2).risk_score.points
    mappingproxy({'x1': 5, 'x2': 5})
    """

    entries: tuple[SizeOnPath, ...]
    is_complete: bool
    lost: tuple[str, ...] = ()
    checkpoint_failure: str = ""
    rows_failure: str = ""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that are finished."""
        return tuple(entry.max_size for entry in self.entries)

    def of_size(self, max_size: int) -> SizeOnPath:
        """The entry of one size.

        Parameters
        ----------
        max_size : int

        Returns
        -------
        SizeOnPath

        Raises
        ------
        KeyError
            There is none.
        """
        for entry in self.entries:
            if entry.max_size == max_size:
                return entry
        raise KeyError(f"no size {max_size} on this path; there are {list(self.sizes)}")

    def best(self, rule: str = "one_standard_error", metric: str = "loss") -> SizeOnPath:
        """Choose a size by its test rows.

        Parameters
        ----------
        rule : {"one_standard_error", "best_mean"}
            "best_mean": the size with the best mean of the metric over the folds.
            "one_standard_error": the smallest size whose mean is within one standard error of
            that, the error being the best one's.
        metric : {"loss", "auc", "cal", "sensitivity", "specificity"}, default "loss"

        Returns
        -------
        SizeOnPath
            The smallest one of equals.

        Raises
        ------
        ValueError
            There is no such rule or metric, or the path has no folds.
        """
        check_rule(rule)
        tested = tested_sizes(self.entries, metric)
        if not tested:
            raise ValueError(
                "a size is chosen by its test rows, but none was tested: model_size_path(..., cv=5)"
            )
        best = min(tested, key=lambda one: one.cost)
        most = best.cost + (best.standard_error if rule == "one_standard_error" else 0.0)
        return next(one.entry for one in tested if one.cost <= most)

    def records(self) -> list[dict[str, Any]]:
        """List one mapping for each size: a table for any data frame library.

        Returns
        -------
        list of dict
            Certificate, metrics on the training data, and mean, minimum, maximum and standard
            error of the test metrics over folds, where there are any, such as "test_auc_mean".
        """
        return [_size_record(entry) for entry in self.entries]

    def plot(self, axes: Any = None) -> Axes:
        """Draw loss, AUC, CAL and optimality gap against the model size.

        Parameters
        ----------
        axes : ndarray of matplotlib axes, shape (2, 2), optional
            Default: a new figure.

        Returns
        -------
        matplotlib Axes
            Those of the loss; ``figure.axes`` of it has all four. Training data are in blue, mean
            and range over the test rows of folds in orange. Where no gap is left, the axes of the
            gap say so.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        from riskslim.plots import new_axes

        if axes is None:
            axes = new_axes((8.5, 6.5), 2, 2)
        names = {"loss": "Loss", "auc": "AUC", "cal": "CAL", "optimality_gap": "Optimality gap"}
        for ax, (metric, name) in zip(axes.flat, names.items(), strict=True):
            self._plot_metric(ax, metric)
            ax.set(xlabel="Largest model size", ylabel=name)
        first: Axes = axes.flat[0]
        first.legend(frameon=False)
        return first

    @property
    def has_rules(self) -> bool:
        """True if each size has the best rule that reaches a share, not the least loss."""
        return any(map(rule_sizes.is_rule, self.entries))

    @property
    def free_share(self) -> str:
        """The share that rules of the path have as much of as is possible."""
        return rule_sizes.free_share(self.entries)

    def plot_rules(self, ax: Axes | None = None) -> Axes:
        """Draw sensitivity against specificity of the best rules of all sizes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Default: a new figure.

        Returns
        -------
        matplotlib Axes
            Rules on the training data in blue, each with its size; the means over the test rows of
            folds in orange, and each fold as a grey dot.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        return rule_sizes.draw(self.entries, ax)

    def _plot_metric(self, ax: Axes, metric: str) -> None:
        from riskslim.plots import BLUE, ORANGE, plot_line

        trained = [(e.max_size, getattr(e.train, metric)) for e in self.entries if e.train]
        tested = [
            (entry.max_size, entry.cross_validation.defined(metric))
            for entry in self.entries
            if entry.cross_validation is not None and entry.cross_validation.defined(metric).size
        ]
        percent = metric in PERCENT
        plot_line(ax, trained, BLUE, "training data", percent=percent)
        if tested:
            sizes = [size for size, _ in tested]
            low, high = ([end(values) for _, values in tested] for end in (np.min, np.max))
            ax.fill_between(sizes, low, high, color=ORANGE, alpha=0.2, linewidth=0)
            means = [(size, float(values.mean())) for size, values in tested]
            plot_line(ax, means, ORANGE, "folds: mean and range", dashed=True, percent=percent)
        if percent:  # from 0 on, and no magnified rounding errors where all are 0
            top = max(0.01, 1.05 * ax.dataLim.y1)
            ax.set_ylim(-0.02 * top, top)
        if metric == "optimality_gap":
            gaps = np.concatenate([[gap for _, gap in trained], *(gaps for _, gaps in tested)])
            if gaps.size and (gaps <= _NO_GAP).all():
                ax.text(0.5, 0.5, "all proven optimal", transform=ax.transAxes, ha="center")

    def __str__(self) -> str:
        head = "size  status          loss     gap  AUC    CAL    test loss  test AUC  test CAL"
        lines = [rule_sizes.HEAD if self.has_rules else head]
        lines += [_size_line(entry) for entry in self.entries]
        if not self.is_complete:
            lines.append("The run was stopped: not all sizes and folds are finished.")
        return "\n".join(lines)


class TestedSize(NamedTuple):
    """A size by its test rows.

    Attributes
    ----------
    entry : SizeOnPath
    cost : float
        Mean of a metric over the folds, or minus that of one of which more is better.
    standard_error : float
        Of this mean; 0 of one fold, which has none.
    """

    entry: SizeOnPath
    cost: float
    standard_error: float


def check_rule(rule: str) -> None:
    """Refuse a rule that is none.

    Parameters
    ----------
    rule : str

    Raises
    ------
    ValueError
    """
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(map(repr, RULES))}, got {rule!r}")


def tested_sizes(entries: Iterable[SizeOnPath], metric: str) -> list[TestedSize]:
    """List the sizes that are tested on all folds.

    Parameters
    ----------
    entries : iterable of SizeOnPath
    metric : {"loss", "auc", "cal"}

    Returns
    -------
    list of TestedSize

    Raises
    ------
    ValueError
        There is no such metric, or no fold has it.
    """
    check_metric(metric)
    sign = -1.0 if metric in LARGER_IS_BETTER else 1.0
    tested: list[TestedSize] = []
    for entry in entries:
        found = entry.cross_validation
        if found is None or not found.is_complete:
            continue
        cost, error = sign * found.mean(metric), found.standard_error(metric)
        if math.isnan(cost) and metric in SHARES:
            raise ValueError(f"no size can be chosen by {metric!r}: its scores have no threshold")
        if math.isnan(cost):
            raise ValueError(
                f"no size can be chosen by {metric!r}: the test rows of every fold have one class "
                "alone. Use fewer folds, or metric='loss'"
            )
        tested.append(TestedSize(entry, cost, 0.0 if math.isnan(error) else error))
    return tested


def _size_record(entry: SizeOnPath) -> dict[str, Any]:
    certificate = entry.solution.certificate
    record: dict[str, Any] = {
        "max_size": entry.max_size,
        "status": certificate.status.value,
        "objective": certificate.objective,
        "lower_bound": certificate.lower_bound,
        "points": entry.solution.points,
        "intercept": entry.solution.intercept,
        "seconds": entry.solution.statistics.total_seconds,
    }
    if entry.train is not None:
        record |= {name: getattr(entry.train, name) for name in rule_sizes.measured_of(entry)}
    found = entry.cross_validation
    if found is not None and found.folds:
        for name in rule_sizes.measured_of(entry):
            values = found.defined(name)
            if not values.size:
                values = np.array([math.nan])
            record |= {
                f"test_{name}_mean": float(values.mean()),
                f"test_{name}_min": float(values.min()),
                f"test_{name}_max": float(values.max()),
                f"test_{name}_standard_error": found.standard_error(name),
            }
    return record


def _size_line(entry: SizeOnPath) -> str:
    line = f"{entry.max_size:>4}  {entry.solution.certificate.status!s:<12}"
    if entry.train is None:
        return line.rstrip()
    train = entry.train
    if rule_sizes.is_rule(entry):
        return rule_sizes.line(line, entry)
    line += (
        f"{train.loss:>8.5f} {percent(train.optimality_gap):>7}  {train.auc:.3f}  {train.cal:>5.1%}"
    )
    found = entry.cross_validation
    if found is None or not found.folds:
        return line
    return (
        f"{line}  {found.mean('loss'):>9.5f}  {found.mean('auc'):>8.3f}  {found.mean('cal'):>8.1%}"
    )


# ---------------------------------------------------------------------------------------------
# The path
# ---------------------------------------------------------------------------------------------


def model_size_path(
    problem: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    sizes: int | Iterable[int] | None = None,
    cv: Any = None,
    groups: ArrayLike | None = None,
    random_state: int = 0,
    bins: Any = None,
    n_jobs: int | None = 1,
    progress: Callable[[Step], None] | None = None,
    search_progress: Callable[[str, int, TraceRecord], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **engine_arguments: Any,
) -> ModelSizePath:
    """Find the best risk score of every model size up to the largest, each with its certificate.

    Parameters
    ----------
    problem : RiskScoreProblem, RiskSLIMClassifier or pipeline that ends in one
        What is asked of a score. A classifier needs X and y; it is not fitted, and its own
        ``max_size`` is the largest size. Its ``items`` are those of all rows, on folds as well, if
        they depend on no outcome. Cut-offs that it chooses (``thresholds="supervised"``), and the
        steps of a pipeline, are fitted to the training rows of each fold.
    X : array-like or data frame of shape (n, d), or path-like, optional
    y, sample_weight : array-like of shape (n,), or str, optional
        As in :meth:`RiskSLIMClassifier.fit`. These three with a classifier only: a problem has its
        data.
    sizes : int or iterable of int, optional
        1 to this, or these. Default: 1 to the problem's ``max_size``; from its ``min_size`` on.
    cv : int, array-like of int, path, splitter, or iterable of pairs, optional
        Folds as in :func:`cross_validate_risk_score`: the same sizes are then solved on the
        training rows of each, and measured on its test rows. A ridge penalty is a prior as strong
        there as on all rows: ``l2_penalty`` times their total weight is the same.
    groups : array-like of shape (n,), optional
        Rows that no fold may part, as in :func:`cross_validate_risk_score`.
    random_state : int, default 0
        Seed of stratified folds.
    bins : int or "auto" or None
        Of CAL, as in :func:`~riskslim.calibration_error`.
    n_jobs : int, default 1
        Sets of rows that are worked on at once, by joblib; -1 for all cores. The result does not
        depend on it, unless the time does.
    progress : callable, optional
        Called with a :class:`Step` after each set of rows.
    search_progress : callable, optional
        Called with the set of rows, such as "fold 3" or "all rows", the size, and each
        :class:`~riskslim.solution.TraceRecord` of its search; with ``n_jobs=1`` only.
    should_stop : callable, optional
        Asked several times a second; True ends the run. With ``n_jobs=1`` what the search has found
        by then is kept.
    checkpoint : str or path-like, optional
        A file in which every finished search is kept, by whichever process: the same call finds
        them there, and goes on with the others. It is created where there is none. Where it fails
        later on, the path is found all the same, and its ``checkpoint_failure`` says why.
    **engine_arguments
        ``engine``, ``time_limit`` for each size, ``gap_tolerance`` and so on, as in
        :func:`~riskslim.branch_and_bound`. With a classifier they are its parameters.

    Returns
    -------
    ModelSizePath
        After Ctrl-C, or if ``should_stop`` said so, with what was finished.

    Raises
    ------
    ValueError, TypeError
        Sizes out of range, folds that do not fit the data, arguments that do not go together; a
        checkpoint of other data, sizes, folds or settings, or a file that is none.
    OSError
        The checkpoint cannot be written, before anything is searched.
    RiskSLIMError
        What the engine raises.

    Notes
    -----
    Rows count in all metrics as in the fit: by their weights, and by those of their classes, which
    are the same in every fold.

    Each search starts from the score of the size before. Where a search reached its limit and the
    next size has a better lower bound, the certificate is stated again with that bound: it holds
    for the smaller size, too. The objective and the bound are those of separate fits, or better.

    Examples
    --------
    >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, model_size_path
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> coefficients = CoefficientSet(data.feature_names, -5, 5)
    >>> problem = RiskScoreProblem(data, coefficients)
    >>> path = model_size_path(problem, sizes=2)
    >>> for entry in path.entries:
    ...     print(entry.max_size, dict(entry.risk_score.points), f"{entry.train.loss:.4f}")
    1 {'worst radius > 14.97': -5} 0.3424
    2 {'worst concavity > 0.2267': -3, 'worst radius > 14.97': -4} 0.2454
    """
    given = (problem, X, y, sample_weight)
    if cv is None and groups is not None:
        raise ValueError("groups are for folds, but there are none: model_size_path(..., cv=5)")
    wanted = WantedPath.of(*given, engine_arguments).with_sizes(sizes)
    if cv is not None:
        wanted = wanted.with_folds(cv, groups, random_state)
    kept = None if checkpoint is None else Checkpoint(checkpoint, wanted.facts())
    return wanted.find(
        bins=bins, n_jobs=n_jobs, progress=progress, search_progress=search_progress,
        should_stop=should_stop, checkpoint=kept,
    )[0]  # fmt: skip


@dataclasses.dataclass(frozen=True, eq=False)
class WantedPath:
    """A path that is to be found.

    Parameters
    ----------
    problem : RiskScoreProblem
        On all rows.
    data : TrainingData
        These rows, with the weights that fits and metrics have.
    arguments : dict
        What the engine is told.
    prepared : Preparation or None
        The classifier and its rows, where they were given.
    sizes : list of int
    splits : list of Split
        Folds; empty where there are none.
    """

    problem: RiskScoreProblem
    data: TrainingData
    arguments: dict[str, Any]
    prepared: Preparation | None
    sizes: list[int] = dataclasses.field(default_factory=list)
    splits: list[Split] = dataclasses.field(default_factory=list)

    @classmethod
    def of(
        cls, problem: Any, X: Any, y: Any, sample_weight: Any, engine_arguments: dict[str, Any]
    ) -> WantedPath:
        """State what is asked for on all rows, which are read.

        Parameters
        ----------
        problem, X, y, sample_weight, engine_arguments
            As in :func:`model_size_path`, or a :class:`Preparation`.

        Returns
        -------
        WantedPath
            Without sizes and folds.
        """
        return cls(*_stated(problem, X, y, sample_weight, engine_arguments))

    def with_sizes(self, sizes: int | Iterable[int] | None) -> WantedPath:
        """Return the same with sizes, which are checked.

        Parameters
        ----------
        sizes : int, iterable of int or None

        Returns
        -------
        WantedPath
        """
        return dataclasses.replace(self, sizes=_checked_sizes(sizes, self.problem))

    def with_folds(self, cv: Any, groups: Any, random_state: int) -> WantedPath:
        """Return the same with folds.

        Parameters
        ----------
        cv, groups, random_state
            As in :func:`model_size_path`.

        Returns
        -------
        WantedPath
        """
        splits = _splits_of(self.data, cv, groups, random_state)
        return dataclasses.replace(self, splits=splits)

    def with_shrinkage(self, strength: float) -> WantedPath:
        """Return the same with another prior, where a classifier was given.

        Parameters
        ----------
        strength : float

        Returns
        -------
        WantedPath
        """
        assert self.prepared is not None
        classifier = clone(self.prepared.classifier).set_params(shrinkage=strength)
        prepared = dataclasses.replace(self.prepared, classifier=classifier)
        problem, arguments = stated_by(classifier, prepared.on_all_rows())
        return dataclasses.replace(
            self, problem=problem, data=problem.loss.data, arguments=arguments, prepared=prepared
        )

    def facts(self) -> dict[str, Any]:
        """State what the path is about, fact by fact.

        Returns
        -------
        dict
        """
        return _facts(self.problem, self.sizes, self.arguments, self.splits)

    def find(
        self,
        *,
        bins: Any,
        n_jobs: int | None,
        progress: Callable[[Step], None] | None,
        search_progress: Callable[[str, int, TraceRecord], None] | None,
        should_stop: Callable[[], bool] | None,
        checkpoint: Checkpoint | None,
        starts: Starts | None = None,
        workers: Workers | None = None,
    ) -> tuple[ModelSizePath, Starts]:
        """Find the path.

        Parameters
        ----------
        bins, n_jobs, progress, search_progress, should_stop
            As in :func:`model_size_path`.
        checkpoint : Checkpoint or None
        starts : mapping, optional
            For sets of rows, such as "fold 3", and sizes: vectors that searches may start from.
        workers : Workers, optional
            Processes that several paths share.

        Returns
        -------
        ModelSizePath
        mapping
            The vectors that were found, as ``starts``.
        """
        ordered = _in_order(self.data) if self.splits else None
        plan = _Plan(
            self.prepared or self.problem, self.data, ordered, self.sizes, self.arguments, bins,
            search_progress if n_jobs == 1 else None, checkpoint, starts or {},
        )  # fmt: skip
        rows: list[tuple[str, RiskScoreProblem | None, Split | None]] = [
            ("all rows", self.problem, None)
        ]
        rows += [(f"fold {k}", None, split) for k, split in enumerate(self.splits)]
        tasks = [(name, (plan, name, known, split)) for name, known, split in rows]
        finished = in_parallel(
            _path_on_rows, tasks, n_jobs=n_jobs, progress=progress, should_stop=should_stop,
            workers=workers,
        )  # fmt: skip
        found = {
            rows[k][0]: _vectors(self.sizes, one.solutions) for k, one in finished.results.items()
        }
        return _path_of(plan, finished, len(self.splits)), found


def _vectors(sizes: list[int], solutions: Iterable[Solution]) -> dict[int, NDArray[np.int64]]:
    return {
        size: solution.coef
        for size, solution in zip(sizes, solutions, strict=False)
        if solution.coefficients is not None
    }


def _path_of(plan: _Plan, finished: Finished, n_folds: int) -> ModelSizePath:
    """The path that what is finished on all rows and on folds makes."""
    final: _PathOnRows = finished.results.pop(0, _PathOnRows((), ()))
    folds = {k - 1: found for k, found in sorted(finished.results.items())}
    paths = [final, *folds.values()]
    failures = [
        next((one for path in paths if (one := getattr(path, name))), "")
        for name in ("checkpoint_failure", "rows_failure")
    ]
    for failure in failures:
        if failure:
            logger.warning("%s", failure)
    return ModelSizePath(
        _entries(plan.sizes, final, folds, plan.ordered, n_folds),
        len(paths) == 1 + n_folds
        and all(len(path.solutions) == len(plan.sizes) for path in paths)
        and not any(path.is_partial for path in paths),
        tuple(finished.lost),
        *failures,
    )


def _entries(
    sizes: list[int],
    final: _PathOnRows,
    folds: dict[int, _PathOnRows],
    data: _InOrder | None,
    n_folds: int,
) -> tuple[SizeOnPath, ...]:
    """The sizes that are finished on all rows, each with what is finished of it on folds."""
    return tuple(
        SizeOnPath(
            size,
            solution,
            None if model is None else model.model,
            None if model is None else model.train,
            _across_folds(model, [(k, folds[k].models[i]) for k in folds
                                  if i < len(folds[k].models)], data, n_folds),
        )
        for i, (size, solution, model) in enumerate(
            zip(sizes, final.solutions, final.models, strict=False)
        )
    )  # fmt: skip


def _in_order(data: TrainingData) -> _InOrder:
    """Rows one by one, in the order of the table or of the files."""
    if data.files is not None:
        files: FileRows = data.files
        return files.weighted(data.class_factors)
    if not data.has_each_row:
        raise ValueError(
            "cross-validation divides rows, but equal ones of these data are merged: use a sample, "
            "riskslim.sampled(data, n)"
        )
    return data


def _splits_of(data: TrainingData, cv: Any, groups: Any, random_state: int) -> list[Split]:
    rows = _in_order(data)
    positive = rows.labels > 0
    X = np.zeros((len(positive), 1))  # whose columns do not matter
    weight = rows.sample_weight
    return splits_of(cv, X, positive, weight, groups=groups, random_state=random_state)


def _facts(
    problem: RiskScoreProblem, sizes: list[int], arguments: dict[str, Any], splits: list[Split]
) -> dict[str, Any]:
    """State what a path is about, fact by fact."""
    folds = hashlib.sha256()
    for split in splits:
        for rows in (split.train, split.test):
            folds.update(np.asarray(rows, np.int64).tobytes())
    return facts_of(problem, arguments, sizes=sizes, n_folds=len(splits), folds=folds.hexdigest())


@dataclasses.dataclass(frozen=True, eq=False)
class _Plan:
    """The work that is done on each set of rows."""

    problem: RiskScoreProblem | Preparation  # as the user gave it
    data: TrainingData  # with the weights that fits and metrics have
    ordered: _InOrder | None  # the same one by one, for folds
    sizes: list[int]
    arguments: dict[str, Any]
    bins: Any
    search_progress: Callable[[str, int, TraceRecord], None] | None
    checkpoint: Checkpoint | None = None
    starts: Starts = dataclasses.field(default_factory=dict)

    def problem_on(self, data: TrainingData) -> RiskScoreProblem:
        """The same problem for some of the rows."""
        if isinstance(self.problem, RiskScoreProblem):
            return self.problem.restated(data)
        # The data have the weights of the classes: those of all rows, which metrics have as well.
        classifier = clone(self.problem.classifier).set_params(class_weight=None)
        return stated_by(_with_prior_of(classifier, self.data), data)[0]

    def rows_of(self, split: Split) -> _Rows:
        """Training and test rows of a fold."""
        refitted = self.problem if isinstance(self.problem, Preparation) else None
        if refitted is not None and not refitted.is_refitted:
            refitted = None
        if isinstance(self.ordered, FileRows):
            items = None if refitted is None else clone(refitted.classifier.items)
            data = self.ordered.of(split.train).read(items)
            return _Rows(data, data.files, data.files.of(split.test), split.test)
        if refitted is not None:
            train, test = refitted.on_fold(split, self.data.class_factors)
        else:
            train, test = _chosen(self.data, split.train), _tested(self.data, split.test)
        return _Rows(train, train, test, split.test)


def _with_prior_of(classifier: RiskSLIMClassifier, data: TrainingData) -> RiskSLIMClassifier:
    """A classifier whose prior is as strong on other rows as it is on all of them."""
    given, n = classifier.l2_penalty, data.total_weight
    if given is None:
        strength = strength_on(classifier, data)
    elif isinstance(given, Mapping):
        strength = {name: value * n for name, value in given.items()}
    else:
        strength = np.multiply(given, n)
    classifier.set_params(l2_penalty=None, shrinkage=strength)
    return classifier


def _stated(
    problem: Any, X: Any, y: Any, sample_weight: Any, engine_arguments: dict[str, Any]
) -> tuple[RiskScoreProblem, TrainingData, dict[str, Any], Preparation | None]:
    """The problem on all rows, these rows, and what the engine is told."""
    if isinstance(problem, RiskScoreProblem):
        if X is not None or y is not None or sample_weight is not None:
            raise ValueError("a RiskScoreProblem has its data: leave out X, y and sample_weight")
        if "start" in engine_arguments:
            raise ValueError("start is set by the path: each size starts from the one before")
        return problem, problem.loss.data, engine_arguments, None
    given = isinstance(problem, Preparation)
    prepared = problem if given else Preparation.of(problem, X, y, sample_weight)
    if prepared is None:
        raise TypeError(
            "problem must be a RiskScoreProblem, a RiskSLIMClassifier or a pipeline that ends in "
            f"one, got {type(problem).__name__}"
        )
    if not given and (X is None or y is None):
        raise ValueError("a classifier needs data: model_size_path(classifier, X, y)")
    if engine_arguments:
        raise TypeError(
            f"{', '.join(engine_arguments)}: with a classifier these are its own parameters, "
            "RiskSLIMClassifier(time_limit=...)"
        )
    if prepared.classifier.start is not None:
        raise ValueError("start is set by the path: each size starts from the one before")
    if not given:
        prepared = prepared.read()
    data = prepared.on_all_rows()
    stated, arguments = stated_by(prepared.classifier, data)
    return stated, stated.loss.data, arguments, prepared


def _checked_sizes(sizes: int | Iterable[int] | None, problem: RiskScoreProblem) -> list[int]:
    least = max(1, problem.min_size)
    if sizes is None:
        sizes = problem.max_size
    wanted = list(range(least, int(sizes) + 1)) if isinstance(sizes, (int, np.integer)) else [
        *sizes
    ]  # fmt: skip
    for size in wanted:
        if not is_int(size):
            raise TypeError(f"sizes must be whole numbers, got {size!r}")
        if not problem.min_size <= size <= problem.max_size:
            raise ValueError(
                f"sizes must be between {problem.min_size} and {problem.max_size}, the limits of "
                f"the problem, got {size}"
            )
    if not wanted:
        raise ValueError(f"there is no size between {least} and {sizes}")
    return sorted({int(size) for size in wanted})


@dataclasses.dataclass(frozen=True, eq=False)
class _Rows:
    """A set of rows: those to fit to, and the same and those to test on one by one."""

    data: TrainingData
    train: _InOrder
    test: _InOrder
    test_rows: NDArray[np.intp]

    @classmethod
    def of(cls, plan: _Plan, split: Split | None) -> _Rows:
        """All rows, or those of a fold."""
        if split is not None:
            return plan.rows_of(split)
        rows = plan.ordered
        if rows is None:
            rows = plan.data
            if not rows.rows.is_block:  # sizes are measured on a sample
                rows = sampled(rows, _MEASURED_ROWS)
        return cls(plan.data, rows, rows, np.arange(len(rows.labels)))


@dataclasses.dataclass(eq=False)
class _Searched:
    """A size whose search has ended, and how its score does, once that is measured."""

    problem: RiskScoreProblem
    solution: Solution
    measured: _Measured | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class _PathOnRows:
    """Solutions of all sizes on one set of rows, and the scores measured."""

    solutions: tuple[Solution, ...]
    models: tuple[Fold | None, ...]  # None where nothing meets the constraints
    is_broken_off: bool = False  # by Ctrl-C outside of a search
    checkpoint_failure: str = ""
    rows_failure: str = ""

    @property
    def interrupted(self) -> bool:
        return self.is_broken_off or any(one.is_interrupted for one in self.solutions)

    @property
    def is_partial(self) -> bool:
        """True if a search was not finished; Ctrl-C can come too late for that."""
        return _is_partial(self.solutions)


def _path_on_rows(
    plan: _Plan, name: str, problem: RiskScoreProblem | None, split: Split | None
) -> _PathOnRows | None:
    """Solve and measure all sizes on all rows, whose problem is stated already, or on a fold."""
    if split is None:
        return _solved_on_rows(plan, name, problem, split)
    with parts_of_a_table():
        return _solved_on_rows(plan, name, problem, split)


def _solved_on_rows(
    plan: _Plan, name: str, problem: RiskScoreProblem | None, split: Split | None
) -> _PathOnRows | None:
    rows = _Rows.of(plan, split)
    if problem is None:
        problem = plan.problem_on(rows.data)
    found: list[_Searched] = []
    try:
        _solve_each(plan, name, problem, rows, found)
        return _ended(plan, rows, found, split)
    except KeyboardInterrupt:
        # Between two searches, or after them; the second one where it is one too many.
        if not found or found[-1].solution.is_interrupted:
            raise
        return _ended(plan, rows, found, split, is_broken_off=True)
    except RowsLostError as lost:
        # What was not measured before can be measured no more.
        measured = [one for one in found if one.measured or one.solution.coefficients is None]
        if not measured:
            raise
        if split is not None:
            return None
        models = tuple(_model(plan, rows, one, one.solution) for one in measured)
        solutions = tuple(one.solution for one in measured)
        return _PathOnRows(solutions, models, True, rows_failure=lost.reason)


def _ended(
    plan: _Plan,
    rows: _Rows,
    found: list[_Searched],
    split: Split | None,
    is_broken_off: bool = False,
) -> _PathOnRows | None:
    """Sizes that were found, with the last certificates; None for a fold that is not finished."""
    solutions = _with_bounds_of_larger(
        [one.problem for one in found], [one.solution for one in found]
    )
    # Scores of folds that were interrupted are no fits, and not measured; those of all rows have
    # their certificate.
    if split is not None and (len(found) < len(plan.sizes) or _is_partial(solutions)):
        return None
    models = tuple(
        _model(plan, rows, one, solution) for one, solution in zip(found, solutions, strict=True)
    )
    failure = "" if plan.checkpoint is None else plan.checkpoint.failure
    return _PathOnRows(tuple(solutions), models, is_broken_off, failure)


def _is_partial(solutions: Iterable[Solution]) -> bool:
    return any(one.certificate.status is Status.INTERRUPTED for one in solutions)


def _chosen(data: TrainingData, rows: NDArray[np.intp]) -> TrainingData:
    """Some of the rows of training data."""
    labels = np.array(data.classes, dtype=object)[(data.labels[rows] > 0).astype(np.intp)]
    with warnings.catch_warnings():
        # Rare values are missing in some folds by chance.
        warnings.simplefilter("ignore", ConstantFeatureWarning)
        chosen = TrainingData(
            {name: data.column(j)[rows] for j, name in enumerate(data.feature_names)},
            labels,
            None if data.sample_weight is None else data.sample_weight[rows],
            outcome_name=data.outcome_name,
            positive_label=data.classes[1],
            items=data.items,
        )
    chosen.class_factors, chosen.encoder = data.class_factors, data.encoder
    return chosen


def _tested(data: TrainingData, rows: NDArray[np.intp]) -> TrainingData | OneClassRows:
    """Some of the rows, to measure scores on."""
    weight = None if data.sample_weight is None else data.sample_weight[rows]
    labels = data.labels[rows]
    if has_both_classes(labels > 0, weight):
        return _chosen(data, rows)
    columns = {name: data.column(j)[rows] for j, name in enumerate(data.feature_names)}
    return OneClassRows(columns, labels, weight)


def _solve_each(
    plan: _Plan, name: str, problem: RiskScoreProblem, rows: _Rows, found: list[_Searched]
) -> None:
    """Solve the sizes one after the other, each from the score before; append and measure them."""
    given = plan.starts.get(name, {})
    before: NDArray[np.int64] | None = None
    for size in plan.sizes:
        # Features that are constant in these rows can leave fewer than were asked for.
        stated = problem.restated(max_size=size)
        arguments = {**plan.arguments, "start": _best_start(stated, before, given.get(size))}
        if plan.search_progress is not None:
            arguments["progress"] = functools.partial(plan.search_progress, name, size)
        if plan.checkpoint is None:
            solution = solve(stated, **arguments)
        else:
            solution = plan.checkpoint.solve(f"{name}, size {size}", stated, **arguments)
        found.append(_Searched(stated, solution))
        if solution.is_interrupted:  # it is measured where it is of use
            return
        if solution.coefficients is not None:
            before = solution.coef
            # Now, not when all sizes are solved: an end finds the last one to be measured at most.
            found[-1].measured = _measured(plan, rows, found[-1])


def _best_start(
    problem: RiskScoreProblem, *vectors: NDArray[np.int64] | None
) -> NDArray[np.int64] | None:
    """The best of the vectors that meet the requirements; None if there is none."""
    met = [vector for vector in vectors if vector is not None and problem.is_feasible(vector)]
    if len(met) < 2:
        return met[0] if met else None
    return min(met, key=problem.objective)


def _with_bounds_of_larger(
    problems: list[RiskScoreProblem], solutions: list[Solution]
) -> list[Solution]:
    """Certify again where the next size has a better lower bound than a search that was stopped."""
    if any(one.certificate.rule is not None for one in solutions):
        # Bounds of the objective are about the best rules of each size, which differ.
        return solutions
    bound, tolerance = -math.inf, 0.0
    better: list[Solution] = []
    for problem, solution in zip(reversed(problems), reversed(solutions), strict=True):
        certificate = solution.certificate
        if solution.coefficients is not None and bound > certificate.lower_bound:
            certificate = certify(
                problem,
                solution.coef,
                bound,
                gap_tolerance=certificate.gap_tolerance,
                bound_tolerance=max(certificate.bound_tolerance, tolerance),
                engine=certificate.engine,
                message=f"{certificate.message}; lower bound from a larger model size",
                interrupted=certificate.status is Status.INTERRUPTED,
                scale=solution.scale,
            )
            solution = dataclasses.replace(solution, certificate=certificate)
        if certificate.lower_bound > bound:  # a bound goes with its own tolerance
            bound, tolerance = certificate.lower_bound, certificate.bound_tolerance
        better.append(solution)
    return better[::-1]


class _Measured(NamedTuple):
    """A score and its metrics, but for the gap; risks and log-odds of the test rows."""

    score: RiskScore
    train: Performance
    test: Performance
    risk: NDArray[np.float64]
    log_odds: NDArray[np.float64]


def _model(plan: _Plan, rows: _Rows, one: _Searched, solution: Solution) -> Fold | None:
    """The score of a size with its last certificate, and how it does; None if there is none."""
    if solution.coefficients is None:
        return None
    score, train, test, risk, log_odds = one.measured or _measured(plan, rows, one)
    if solution is not one.solution:  # it has a better bound
        score = _score(plan, rows, one.problem, solution)
    gap = solution.certificate.optimality_gap
    return Fold(
        -1,
        score,
        dataclasses.replace(train, optimality_gap=gap),
        dataclasses.replace(test, optimality_gap=gap),
        rows.test_rows,
        risk,
        log_odds,
    )


def _score(plan: _Plan, rows: _Rows, problem: RiskScoreProblem, solution: Solution) -> RiskScore:
    data = problem.loss.data
    # Of folds nobody reads remarks.
    score = RiskScore.from_solution(
        solution, data, problem=problem, encoder=data.encoder,
        with_remarks=rows.test is rows.train,
    )  # fmt: skip
    if isinstance(plan.problem, Preparation):
        return plan.problem.classifier.laid_out(score)
    return score


def _measured(plan: _Plan, rows: _Rows, one: _Searched) -> _Measured:
    score, bins = _score(plan, rows, one.problem, one.solution), plan.bins
    risk, log_odds = _predictions(score, rows.test)
    on_test = _performance(score, rows.test, risk, log_odds, bins)
    on_train = on_test
    if rows.test is not rows.train:
        on_train = _performance(score, rows.train, *_predictions(score, rows.train), bins)
    return _Measured(score, on_train, on_test, risk, log_odds)


def _predictions(
    score: RiskScore, rows: _InOrder
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Risks and log-odds of all rows, which are read once."""
    log_odds: NDArray[np.float64] = (
        rows.log_odds(score)
        if isinstance(rows, FileRows)
        else score.log_odds(rows.X if isinstance(rows, OneClassRows) else rows)
    )
    return logistic(log_odds), log_odds


def _performance(
    score: RiskScore,
    rows: _InOrder,
    risk: NDArray[np.float64],
    log_odds: NDArray[np.float64],
    bins: Any,
) -> Performance:
    weight = rows.sample_weight
    called = called_positive(score, log_odds)
    return performance(
        rows.labels > 0, risk, log_odds, weight, len(score.points), math.nan, bins, called
    )


def _across_folds(
    final: Fold | None,
    folds: list[tuple[int, Fold | None]],
    data: _InOrder | None,
    n_folds: int,
) -> CrossValidation | None:
    if data is None:
        return None
    return CrossValidation(
        final=final,
        folds=tuple(dataclasses.replace(fold, number=k) for k, fold in folds if fold is not None),
        n_folds=n_folds,
        positive=data.labels > 0,
        sample_weight=data.sample_weight,
    )
