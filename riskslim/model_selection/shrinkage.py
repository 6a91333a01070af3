r"""The choice of a prior's strength, together with the model size.

The score that fits the training rows best has points that are too large for new rows, the more so
the fewer rows there are. How strong a ridge penalty should be is for folds to say: the scores of
all sizes are found for each strength, on the same folds. The best score of one strength is feasible
for the next one, whose search starts from it.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import ArrayLike

from riskslim._checks import as_number
from riskslim._wording import listing
from riskslim.classifier import RiskSLIMClassifier, is_auto, training_data_of
from riskslim.data.conventions import one_column
from riskslim.data.training_data import TrainingData
from riskslim.engines.checkpoint import Checkpoint
from riskslim.engines.parallel import Step, workers_for
from riskslim.exceptions import InfeasibleProblemError, RiskSLIMError, RowsLostError
from riskslim.metrics.performance import LARGER_IS_BETTER
from riskslim.model_selection.preparation import Preparation
from riskslim.model_selection.size_path import (
    ModelSizePath,
    SizeOnPath,
    Starts,
    WantedPath,
    check_rule,
    tested_sizes,
)
from riskslim.solution import TraceRecord
from riskslim.verbose import VerboseLog

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["SHRINKAGES", "RiskSLIMClassifierCV", "ShrinkagePath", "shrinkage_path"]

SHRINKAGES = (0, 0.25, 0.5, 1, 2, 4, 8)
# What the choice of a strength sets itself.
_SET_BY_PATH = ("l2_penalty", "shrinkage", "start")


class _Tested(NamedTuple):
    """A size with a strength by its test rows."""

    shrinkage: float
    entry: SizeOnPath
    cost: float
    standard_error: float

    @property
    def order(self) -> tuple[float, int, float]:
        """By which the best one comes first: of equals the smallest one."""
        return self.cost, self.entry.max_size, self.shrinkage


@dataclasses.dataclass(frozen=True, eq=False)
class ShrinkagePath:
    """The best risk scores of increasing model sizes, for priors of increasing strength.

    Parameters
    ----------
    shrinkages : tuple of float
        The strengths that are finished, and the one at which a run was stopped.
    paths : tuple of ModelSizePath
        All sizes with each of them.
    is_complete : bool
        Whether all strengths, sizes and folds are finished.
    rows_failure : str
        Why rows could not be read any more, which ended the run; empty where all is well.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import RiskSLIMClassifier, shrinkage_path
    >>> X = np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (15, 1))
    >>> y = (np.arange(60) % 7 < 1 + 4 * X[:, 0]).astype(int)
    >>> path = shrinkage_path(RiskSLIMClassifier(max_size=2), X, y, shrinkages=[0, 1], cv=3)
    >>> path.shrinkages, path.paths[0].sizes, path.is_complete
    ((0.0, 1.0), (1, 2), True)
    >>> shrinkage, entry = path.best()
    >>> shrinkage, entry.max_size
    (0.0, 1)
    """

    shrinkages: tuple[float, ...]
    paths: tuple[ModelSizePath, ...]
    is_complete: bool
    rows_failure: str = ""

    @property
    def lost(self) -> tuple[str, ...]:
        """Sets of rows whose process was killed, also when it was tried once more alone."""
        return tuple(name for path in self.paths for name in path.lost)

    @property
    def checkpoint_failure(self) -> str:
        """The reason why results are not in the checkpoint; empty where all is well."""
        return next((one.checkpoint_failure for one in self.paths if one.checkpoint_failure), "")

    @property
    def is_tested(self) -> bool:
        """True if some strength and size are tested on all folds, so that one can be chosen."""
        return bool(self._tested("loss"))

    @property
    def infeasibility(self) -> str:
        """The reason why no score meets the requirements; empty where one was found."""
        entries = [entry for path in self.paths for entry in path.entries]
        if not entries or any(entry.risk_score is not None for entry in entries):
            return ""
        return entries[-1].solution.certificate.message

    def of_shrinkage(self, shrinkage: float) -> ModelSizePath:
        """The path of one strength.

        Parameters
        ----------
        shrinkage : float

        Returns
        -------
        ModelSizePath

        Raises
        ------
        KeyError
            There is none.
        """
        if shrinkage not in self.shrinkages:
            raise KeyError(
                f"no shrinkage {shrinkage} on this path; there are {list(self.shrinkages)}"
            )
        return self.paths[self.shrinkages.index(shrinkage)]

    def best(self, rule: str = "best_mean", metric: str = "loss") -> tuple[float, SizeOnPath]:
        """Choose a strength and a size by their test rows.

        Parameters
        ----------
        rule : {"best_mean", "one_standard_error"}
            "best_mean": the best mean of the metric over the folds. "one_standard_error": the
            smallest size of which some strength is within one standard error of that, the error
            being the best one's, and of this size the strength with the best mean.
        metric : {"loss", "auc", "cal"}, default "loss"

        Returns
        -------
        shrinkage : float
        entry : SizeOnPath
            Of equals the smallest size, and the weakest prior.

        Raises
        ------
        ValueError
            There is no such rule or metric, or no strength is finished on all folds.
        """
        check_rule(rule)
        tested = self._tested(metric)
        if not tested:
            raise ValueError(
                "a strength is chosen by its test rows, but none is finished on all folds: "
                "shrinkage_path(..., cv=5)"
            )
        best = min(tested, key=lambda one: one.order)
        if rule == "one_standard_error":
            near = [one for one in tested if one.cost <= best.cost + best.standard_error]
            size = min(one.entry.max_size for one in near)
            best = min((one for one in near if one.entry.max_size == size), key=lambda o: o.order)
        return best.shrinkage, best.entry

    def _tested(self, metric: str) -> list[_Tested]:
        return [
            _Tested(shrinkage, *one)
            for shrinkage, path in zip(self.shrinkages, self.paths, strict=True)
            for one in tested_sizes(path.entries, metric)
        ]

    def explain(self, rule: str = "best_mean", metric: str = "loss") -> str:
        """Say in a sentence which strength and size are chosen, and why.

        Parameters
        ----------
        rule, metric
            As in :meth:`best`.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            As in :meth:`best`.
        """
        shrinkage, entry = self.best(rule, metric)
        found = entry.cross_validation
        assert found is not None
        text = (
            f"Shrinkage {shrinkage:g} and size {entry.max_size} by {rule}: test {metric} "
            f"{found.mean(metric):.5f}"
        )
        others = {
            one.shrinkage: one.cost
            for one in self._tested(metric)
            if one.entry.max_size == entry.max_size
        }
        if shrinkage and 0.0 in others:
            sign = -1.0 if metric in LARGER_IS_BETTER else 1.0
            text += f" (without shrinkage {sign * others[0.0]:.5f})"
        return f"{text}."

    def records(self) -> list[dict[str, Any]]:
        """List one mapping for each strength and size: a table for any data frame library.

        Returns
        -------
        list of dict
            "shrinkage", and what :meth:`ModelSizePath.records` has.
        """
        return [
            {"shrinkage": shrinkage, **record}
            for shrinkage, path in zip(self.shrinkages, self.paths, strict=True)
            for record in path.records()
        ]

    def plot(self, ax: Any = None, *, rule: str = "best_mean", metric: str = "loss") -> Axes:
        """Draw the mean test loss against the strength, one line for each size.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Default: a new figure.
        rule, metric
            As in :meth:`best`: the chosen strength and size are marked.

        Returns
        -------
        matplotlib axes
            The axis of strengths is logarithmic, with 0 at its left.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        ValueError
            No strength is finished on all folds.
        """
        from riskslim.plots import ORANGE, new_axes, plot_line, shades

        if ax is None:
            ax = new_axes((6.5, 4.5))
        shrinkage, chosen = self.best(rule, metric)
        tested = self._tested("loss")
        sizes = sorted({one.entry.max_size for one in tested})
        for size, colour in zip(sizes, shades(len(sizes)), strict=True):
            means = [(one.shrinkage, one.cost) for one in tested if one.entry.max_size == size]
            plot_line(ax, means, colour, f"size {size}")
        assert chosen.cross_validation is not None
        ax.plot(
            [shrinkage], [chosen.cross_validation.mean("loss")], linestyle="", marker="o",
            markersize=11, markerfacecolor="none", markeredgecolor=ORANGE, markeredgewidth=2,
            label=f"{rule.replace('_', ' ')}: {shrinkage:g}, size {chosen.max_size}",
        )  # fmt: skip
        positive = [one for one in self.shrinkages if one > 0]
        if positive:
            ax.set_xscale("symlog", base=2, linthresh=min(positive))
        ax.set_xticks(self.shrinkages, [f"{one:g}" for one in self.shrinkages])
        ax.minorticks_off()
        ax.set(xlabel="Shrinkage", ylabel="Mean test loss")
        ax.legend(frameon=False)
        axes: Axes = ax
        return axes

    def table(self) -> str:
        """Write the mean test losses, one line for each strength.

        Returns
        -------
        str
        """
        sizes = sorted({size for path in self.paths for size in path.sizes})
        means = {
            (one.shrinkage, one.entry.max_size): f"{one.cost:.5f}" for one in self._tested("loss")
        }
        lines = [
            "Mean test loss by shrinkage and size",
            "shrinkage" + "".join(f"{size:>10}" for size in sizes),
        ]
        lines += [
            f"{shrinkage:>9g}" + "".join(f"{means.get((shrinkage, s), '-'):>10}" for s in sizes)
            for shrinkage in self.shrinkages
        ]
        if not self.is_complete:
            lines.append("The run was stopped: not all strengths, sizes and folds are finished.")
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self.table()}\n{self.explain()}" if self.is_tested else self.table()


def shrinkage_path(
    classifier: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    shrinkages: Iterable[float] = SHRINKAGES,
    sizes: int | Iterable[int] | None = None,
    cv: Any = 5,
    groups: ArrayLike | None = None,
    random_state: int = 0,
    bins: Any = None,
    n_jobs: int | None = 1,
    progress: Callable[[Step], None] | None = None,
    search_progress: Callable[[str, int, TraceRecord], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> ShrinkagePath:
    """Find the best risk scores of all sizes for priors of several strengths, on the same folds.

    Parameters
    ----------
    classifier : RiskSLIMClassifier or pipeline that ends in one
        What is asked of a score, as in :func:`model_size_path`; without ``l2_penalty`` and
        ``shrinkage`` of its own.
    X : array-like or data frame of shape (n, d), or path-like
    y, sample_weight : array-like of shape (n,), or str, optional
        As in :meth:`RiskSLIMClassifier.fit`.
    shrinkages : iterable of float, default (0, 0.25, 0.5, 1, 2, 4, 8)
        The strengths: ``l2_penalty`` times the total weight of the rows, of every feature. It is
        the same on the training rows of each fold.
    sizes : int or iterable of int, optional
        As in :func:`model_size_path`. Default: 1 to the classifier's ``max_size``.
    cv : int, array-like of int, path, splitter, or iterable of pairs, default 5
        Folds as in :func:`cross_validate_risk_score`.
    groups : array-like of shape (n,), optional
        Rows that no fold may part.
    random_state : int, default 0
        Seed of stratified folds.
    bins : int or "auto" or None
        Of CAL, as in :func:`~riskslim.calibration_error`.
    n_jobs : int, default 1
        Sets of rows that are worked on at once, as in :func:`model_size_path`.
    progress : callable, optional
        Called with a :class:`~riskslim.model_selection.Step` after each set of rows with each
        strength.
    search_progress : callable, optional
        As in :func:`model_size_path`; the set of rows is called "fold 3, shrinkage 2".
    should_stop : callable, optional
        Asked several times a second; True ends the run.
    checkpoint : str or path-like, optional
        A file in which every finished search is kept, as in :func:`model_size_path`.

    Returns
    -------
    ShrinkagePath
        After Ctrl-C, or if ``should_stop`` said so, with what was finished.

    Raises
    ------
    ValueError, TypeError
        Strengths that are none, and what :func:`model_size_path` refuses.
    OSError
        The checkpoint cannot be written, before anything is searched.
    RiskSLIMError
        What the engine raises.

    Notes
    -----
    Strengths are worked on in increasing order. Each search starts from the better one of two
    scores: that of the size before, and that of the same rows and size with the strength before.

    The test figures of what is chosen are a little too good, because they were used to choose it:
    ``cross_validate_risk_score(RiskSLIMClassifierCV(), X, y)`` chooses anew within each fold.

    Examples
    --------
    >>> from riskslim import RiskSLIMClassifier, shrinkage_path
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> X, y = data.integer_columns[:60, :8], data.labels[:60]
    >>> path = shrinkage_path(RiskSLIMClassifier(), X, y, shrinkages=[0, 0.5, 2], sizes=[2, 3])
    >>> print(path)
    Mean test loss by shrinkage and size
    shrinkage         2         3
            0   0.68334   0.53821
          0.5   0.37641   0.29097
            2   0.41118   0.35186
    Shrinkage 0.5 and size 3 by best_mean: test loss 0.29097 (without shrinkage 0.53821).
    """
    wanted = _wanted(classifier, X, y, sample_weight).with_sizes(sizes)
    strengths = _checked_shrinkages(shrinkages)
    if cv is not None:
        wanted = wanted.with_folds(cv, groups, random_state)
    elif groups is not None:
        raise ValueError("groups are for folds, but there are none: shrinkage_path(..., cv=5)")
    kept = None
    if checkpoint is not None:
        kept = Checkpoint(checkpoint, _facts(wanted, strengths))
    found: list[ModelSizePath] = []
    starts: Starts = {}
    rows_failure = ""
    with workers_for(n_jobs, 1 + len(wanted.splits)) as workers:
        for k, strength in enumerate(strengths):
            if should_stop is not None and should_stop():
                break
            name = f"shrinkage {strength:g}"
            try:
                path, starts = wanted.with_shrinkage(strength).find(
                    bins=bins, n_jobs=n_jobs, starts=starts, should_stop=should_stop,
                    progress=_step_progress(progress, name, k, len(strengths)),
                    search_progress=_search_progress(search_progress, name), checkpoint=kept,
                    workers=workers,
                )  # fmt: skip
            except (KeyboardInterrupt, RowsLostError) as error:
                if not found:
                    raise
                rows_failure = error.reason if isinstance(error, RowsLostError) else ""
                break
            found.append(path)
            if not path.is_complete:
                rows_failure = path.rows_failure
                break
    is_complete = len(found) == len(strengths) and found[-1].is_complete
    return ShrinkagePath(strengths[: len(found)], tuple(found), is_complete, rows_failure)


def _wanted(classifier: Any, X: Any, y: Any, sample_weight: Any) -> WantedPath:
    """State what is asked for on all rows, which are read once."""
    given = isinstance(classifier, Preparation)
    prepared = classifier if given else Preparation.of(classifier, X, y, sample_weight)
    if prepared is None:
        raise TypeError(
            "classifier must be a RiskSLIMClassifier or a pipeline that ends in one, got "
            f"{type(classifier).__name__}"
        )
    own = prepared.classifier
    if own.l2_penalty is not None or not is_auto(own.shrinkage):
        raise ValueError(
            "l2_penalty and shrinkage of the classifier must be left out: shrinkages says which "
            "strengths are tried"
        )
    if not given and (X is None or (y is None and not isinstance(X, TrainingData))):
        raise ValueError("a classifier needs data: shrinkage_path(classifier, X, y)")
    return WantedPath.of(prepared if given else prepared.read(), None, None, None, {})


def _checked_shrinkages(shrinkages: Iterable[float]) -> tuple[float, ...]:
    if not isinstance(shrinkages, Iterable):
        raise TypeError(f"shrinkages must be numbers such as [0, 1, 4], got {shrinkages!r}")
    strengths = sorted({as_number(one, "shrinkages") for one in shrinkages})
    if not strengths:
        raise ValueError("shrinkages must have at least one number")
    if not 0 <= strengths[0] <= strengths[-1] < math.inf:
        raise ValueError(f"shrinkages must be finite and at least 0, got {strengths}")
    return tuple(strengths)


def _facts(wanted: WantedPath, strengths: Sequence[float]) -> dict[str, Any]:
    """State what a path is about, fact by fact; each search has its own penalty."""
    return wanted.facts() | {
        "search": "a path of sizes and strengths",
        "shrinkages": ", ".join(f"{one:g}" for one in strengths),
    }


def _step_progress(
    progress: Callable[[Step], None] | None, name: str, k: int, n: int
) -> Callable[[Step], None] | None:
    """The progress of the k-th of n strengths."""
    if progress is None:
        return None
    return lambda step: progress(
        Step(k * step.total + step.done, n * step.total, f"{step.what}, {name}")
    )


def _search_progress(
    progress: Callable[[str, int, TraceRecord], None] | None, name: str
) -> Callable[[str, int, TraceRecord], None] | None:
    if progress is None:
        return None
    return lambda rows, size, record: progress(f"{rows}, {name}", size, record)


# ---------------------------------------------------------------------------------------------
# The classifier
# ---------------------------------------------------------------------------------------------


class RiskSLIMClassifierCV(RiskSLIMClassifier):
    r"""The best risk score with a prior whose strength is chosen by cross-validation.

    It is to :class:`RiskSLIMClassifier` what scikit-learn's ``LogisticRegressionCV`` is to
    ``LogisticRegression``: :meth:`fit` finds scores for all ``shrinkages``, and ``sizes`` if there
    are some, on folds of its training rows, and keeps the best one's fit to all of them.

    Parameters
    ----------
    shrinkages : iterable of float, default (0, 0.25, 0.5, 1, 2, 4, 8)
        The strengths, as ``shrinkage`` of :class:`RiskSLIMClassifier`.
    sizes : int or iterable of int, optional
        Largest model sizes to choose from, 1 to this or these, in place of ``max_size``. None:
        ``max_size`` alone.
    cv : int, array-like of int, path, splitter, or iterable of pairs, default 5
        Folds, as in :func:`cross_validate_risk_score`; ``random_state`` is their seed.
    rule : {"best_mean", "one_standard_error"}
        As in :meth:`~riskslim.model_selection.ShrinkagePath.best`, on the test loss.
    n_jobs : int, default 1
        Folds that are worked on at once; -1 for all cores.
    max_size, min_size, max_coef, min_coef, max_intercept, sign, fixed, coef_values : optional
        As in :class:`RiskSLIMClassifier`.
    l0_penalty, scale, constraints, items_per_variable, monotone, items, class_weight : optional
        As in :class:`RiskSLIMClassifier`.
    sensitivity, specificity : optional
        As in :class:`RiskSLIMClassifier`: of equally good rules the prior decides, and risks have
        it.
    positive_label, points, engine, solver, settings, time_limit, gap_tolerance : optional
        As in :class:`RiskSLIMClassifier`; limits are for each search.
    node_limit, n_solutions, within, n_threads, random_state, verbose : optional
        As in :class:`RiskSLIMClassifier`.

    Raises
    ------
    TypeError
        ``l2_penalty``, ``shrinkage`` or ``start`` is given, or a parameter that there is not.

    Attributes
    ----------
    shrinkage_ : float
        The strength that was chosen.
    max_size_ : int
        The size that was chosen.
    shrinkage_path_ : ShrinkagePath
        All strengths and sizes, with their test figures; it keeps the labels, the weights and the
        risks of the training rows, but not their features.

    See Also
    --------
    shrinkage_path : The same without a choice, with progress and checkpoints.

    Notes
    -----
    All other attributes are those of a :class:`RiskSLIMClassifier` with this strength and size.
    Ctrl-C raises ``KeyboardInterrupt``: a choice from some of the strengths would be another one.

    Examples
    --------
    >>> from riskslim import RiskSLIMClassifierCV
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> X, y = data.integer_columns[:60, :8], data.labels[:60]
    >>> classifier = RiskSLIMClassifierCV(max_size=3, shrinkages=[0, 0.5, 2]).fit(X, y)
    >>> classifier.shrinkage_, dict(classifier.risk_score_.points)
    (0.5, {'x1': -4, 'x7': -4, 'x6': -5})
    """

    def __init__(
        self,
        *,
        shrinkages: Iterable[float] = SHRINKAGES,
        sizes: int | Iterable[int] | None = None,
        cv: Any = 5,
        rule: str = "best_mean",
        n_jobs: int | None = 1,
        **parameters: Any,
    ) -> None:
        for name in _SET_BY_PATH:
            if name in parameters:
                raise TypeError(f"{name} is no parameter of RiskSLIMClassifierCV, which sets it")
        super().__init__(**parameters)
        self.shrinkages = shrinkages
        self.sizes = sizes
        self.cv = cv
        self.rule = rule
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | str | None = None,
        groups: ArrayLike | None = None,
    ) -> RiskSLIMClassifierCV:
        """Choose a strength, and find the best risk score with it.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`RiskSLIMClassifier.fit`.
        groups : array-like of shape (n,), optional
            Rows that no fold may part.

        Returns
        -------
        RiskSLIMClassifierCV
            This estimator.

        Raises
        ------
        ValueError, TypeError
            Data or parameters are refused, as by :class:`RiskSLIMClassifier` and
            :func:`shrinkage_path`.
        InfeasibleProblemError
            No risk score meets the requirements.
        RiskSLIMError
            As in :meth:`RiskSLIMClassifier.fit`.
        KeyboardInterrupt
            After Ctrl-C.

        Warns
        -----
        ConvergenceWarning
            The search on all rows ended at a limit, with a gap that is stated.
        """
        seed = self._limits()["random_state"]
        check_rule(self.rule)
        if not isinstance(X, TrainingData):
            y = one_column(self, y)
        data = training_data_of(self, X, y, sample_weight)
        self.encoder_ = data.encoder
        self._note_columns(X, data)
        sizes = [*self.sizes] if isinstance(self.sizes, Iterable) else self.sizes
        plain = self._plain(sizes)
        path = shrinkage_path(
            Preparation(None, plain, X, y, sample_weight, data).read(),
            shrinkages=self.shrinkages,
            sizes=[plain.problem_on(data).max_size] if sizes is None else sizes,
            cv=self.cv, groups=groups, random_state=seed, n_jobs=self.n_jobs,
        )  # fmt: skip
        if not path.is_complete:
            raise _unfinished(path)
        if path.infeasibility:
            raise InfeasibleProblemError(path.infeasibility)
        self.shrinkage_path_ = path
        self.shrinkage_, chosen = path.best(self.rule)
        self.max_size_ = chosen.max_size
        plain.set_params(shrinkage=self.shrinkage_, max_size=self.max_size_)
        self._keep(chosen.solution, plain.problem_on(data))
        log = VerboseLog("riskslim.classifier", "RiskSLIMClassifierCV", self.verbose)
        log.write("%s", path)
        self._tell(log)
        return self

    def _plain(self, sizes: int | list[int] | None) -> RiskSLIMClassifier:
        """The classifier without a choice, whose ``max_size`` is the largest of the sizes."""
        names = inspect.signature(RiskSLIMClassifier).parameters
        plain = RiskSLIMClassifier(**{name: getattr(self, name) for name in names})
        if sizes is not None:
            plain.set_params(max_size=max(sizes, default=0) if isinstance(sizes, list) else sizes)
        return plain

    def _stated(
        self, data: TrainingData, limits: dict[str, Any]
    ) -> tuple[RiskScoreProblem, dict[str, Any]]:
        raise TypeError(
            "RiskSLIMClassifierCV states no single problem, as its fit chooses the strength: use "
            "RiskSLIMClassifier(shrinkage=...)"
        )


def _unfinished(path: ShrinkagePath) -> BaseException:
    """Say why there is no choice from a path that was stopped."""
    if path.rows_failure:
        return RiskSLIMError(path.rows_failure)
    if path.lost:
        return MemoryError(
            f"the processes of {listing(path.lost)} were ended twice from outside, as where memory "
            "runs out: use fewer n_jobs"
        )
    return KeyboardInterrupt()


def _signature() -> inspect.Signature:
    """The classifier's parameters, but for those that are chosen, and those of the choice."""
    own = inspect.signature(RiskSLIMClassifierCV.__init__)
    kept = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
    taken = inspect.signature(RiskSLIMClassifier).parameters.values()
    kept += [one for one in taken if one.name not in _SET_BY_PATH]
    return own.replace(parameters=kept)


# By which scikit-learn, and everybody's editor, knows the parameters.
RiskSLIMClassifierCV.__init__.__signature__ = _signature()  # type: ignore[attr-defined]
