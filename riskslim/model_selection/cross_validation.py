"""Cross-validation of risk scores and of anything else that predicts probabilities.

For each fold a model is fitted to the other rows and tested on those of the fold; the final model
is fitted to all rows. The mean over folds of a test metric estimates how the final model does on
new rows (Ustun & Rudin, 2019, section 5.1). Where parameters are tuned, they are chosen anew within
the training rows of each fold, so that no row that a model is tested on has been used to choose
it (nested cross-validation).
"""

from __future__ import annotations

import dataclasses
import logging
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim.data.tables import series_name, values_of
from riskslim.data.training_data import TrainingData
from riskslim.data.weights import checked_weights
from riskslim.engines.parallel import Step, in_parallel
from riskslim.exceptions import (
    ConstantFeatureWarning,
    ExtrapolationWarning,
    PositiveLabelWarning,
)
from riskslim.items.encoder import parts_of_a_table
from riskslim.metrics.calibration import ReliabilityCurve, reliability_curve
from riskslim.metrics.discrimination import OperatingPoints, operating_points
from riskslim.metrics.performance import (
    LARGER_IS_BETTER,
    METRICS,
    SHARES,
    Performance,
    check_metric,
    metric_text,
    performance,
)
from riskslim.metrics.rows import positive_rows
from riskslim.model_selection.folds import Split, splits_of
from riskslim.solution import Certificate, Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from riskslim.risk_score import RiskScore

__all__ = ["CrossValidation", "Fold", "cross_validate_risk_score"]

logger = logging.getLogger("riskslim.model_selection.size_path")


@dataclasses.dataclass(frozen=True, eq=False)
class Fold:
    """One model of a cross-validation, and how it does on rows that it has not seen.

    Parameters
    ----------
    number : int
        From 0 on; -1 for the final model.
    model : object
        The fitted estimator, or the :class:`~riskslim.RiskScore`.
    train, test : Performance
    test_rows : ndarray of intp, shape (m,)
        Positions of the rows that it was tested on.
    test_risk, test_scores : ndarray of float64, shape (m,)
        Its predictions for them: probability of the positive class, and log-odds or what else
        orders the rows.
    parameters : mapping or None
        Those that were chosen within its training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import RiskSLIMClassifier, cross_validate_risk_score
    >>> X = np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (15, 1))
    >>> y = (np.arange(60) % 7 < 1 + 4 * X[:, 0]).astype(int)
    >>> found = cross_validate_risk_score(RiskSLIMClassifier(max_size=1), X, y, cv=3)
    >>> fold = found.folds[0]
    >>> fold.number, len(fold.test_rows), fold.model.risk_score_.points
    (0, 20, mappingproxy({'x1': 3}))
    """

    number: int
    model: Any
    train: Performance
    test: Performance
    # One entry per row is too much to be shown.
    test_rows: NDArray[np.intp] = dataclasses.field(repr=False)
    test_risk: NDArray[np.float64] = dataclasses.field(repr=False)
    test_scores: NDArray[np.float64] = dataclasses.field(repr=False)
    parameters: Mapping[str, Any] | None = None

    @property
    def interrupted(self) -> bool:
        """True if Ctrl-C came when the model was all but found: no other one is begun then."""
        return _is_interrupted(self.model)


@dataclasses.dataclass(frozen=True, eq=False)
class CrossValidation:
    """The final model, the models of the folds, and their metrics.

    Parameters
    ----------
    final : Fold or None
        The model that is fitted to all rows, and measured on these: its ``test`` is its ``train``.
        None if the run was stopped before it was finished.
    folds : tuple of Fold
        Those that are finished, in order.
    n_folds : int
        All that there are.
    positive : ndarray of bool, shape (n,)
        Which rows are positive.
    sample_weight : ndarray of float64, shape (n,), or None

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import RiskSLIMClassifier, cross_validate_risk_score
    >>> X = np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (15, 1))
    >>> y = (np.arange(60) % 7 < 1 + 4 * X[:, 0]).astype(int)
    >>> found = cross_validate_risk_score(RiskSLIMClassifier(max_size=1), X, y, cv=3)
    >>> len(found.folds), found.final.model.risk_score_.points
    (3, mappingproxy({'x1': 3}))
    >>> round(found.mean("auc"), 2)
    0.79
    """

    final: Fold | None
    folds: tuple[Fold, ...] = dataclasses.field(repr=False)
    n_folds: int
    positive: NDArray[np.bool_] = dataclasses.field(repr=False)
    sample_weight: NDArray[np.float64] | None = dataclasses.field(default=None, repr=False)

    @property
    def model(self) -> Any:
        """The final model; None if there is none."""
        return None if self.final is None else self.final.model

    @property
    def final_score(self) -> RiskScore | None:
        """The risk score of the final model; None if it has none."""
        from riskslim.risk_score import RiskScore

        model = self.model
        return model if isinstance(model, RiskScore) else _innermost(model, "risk_score_")

    @property
    def train(self) -> Performance | None:
        """Performance of the final model on all rows, to which it was fitted."""
        return None if self.final is None else self.final.train

    @property
    def parameters(self) -> Mapping[str, Any] | None:
        """The parameters that were chosen for the final model."""
        return None if self.final is None else self.final.parameters

    @property
    def is_complete(self) -> bool:
        """True if the final model and those of all folds are finished."""
        return self.final is not None and len(self.folds) == self.n_folds

    @property
    def has_shares(self) -> bool:
        """True if the final model has a threshold, at which shares are measured."""
        return self.train is not None and not math.isnan(self.train.sensitivity)

    @property
    def folds_with_auc(self) -> tuple[Fold, ...]:
        """Those whose test rows are of both classes."""
        return tuple(fold for fold in self.folds if not math.isnan(fold.test.auc))

    def note_on_auc(self) -> str:
        """Say of how many folds the AUC is, and why; empty where all have one.

        Returns
        -------
        str
        """
        n = len(self.folds_with_auc)
        if n == len(self.folds):
            return ""
        return (
            f"AUC: of {n} of {len(self.folds)} folds. Test rows of the others have one class "
            "alone: they have none."
        )

    def note_on_weights(self) -> str:
        """Say whether rows count by the weights of their classes; empty where these have none.

        Returns
        -------
        str
        """
        score = self.final_score
        if score is None or score.class_weighting is None:
            return ""
        prevalence = float(np.average(self.positive, weights=self.sample_weight))
        if math.isclose(prevalence, score.class_weighting.weighted_prevalence, rel_tol=1e-6):
            return "Rows count by the weights of their classes, as in the fit."
        return "Rows count without the weights of their classes, which the fit has."

    def values(self, metric: str, rows: str = "test") -> NDArray[np.float64]:
        """One metric of each fold.

        Parameters
        ----------
        metric : {"loss", "auc", "cal", "model_size", "optimality_gap", "sensitivity", \
                "specificity"}
            The last two at the thresholds of scores that have an operating point.
        rows : {"test", "train"}, default "test"

        Returns
        -------
        ndarray of float64, shape (number of finished folds,)
            NaN where it is not defined: the AUC of test rows of one class, shares without a
            threshold.

        Raises
        ------
        ValueError
            There is no such metric, or there are no such rows.
        """
        check_metric(metric)
        if rows not in ("test", "train"):
            raise ValueError(f"rows must be 'test' or 'train', got {rows!r}")
        return np.array([getattr(getattr(fold, rows), metric) for fold in self.folds], float)

    def defined(self, metric: str, rows: str = "test") -> NDArray[np.float64]:
        """One metric of each fold that has it.

        Parameters
        ----------
        metric, rows
            As in :meth:`values`.

        Returns
        -------
        ndarray of float64, shape (number of these folds,)
        """
        values = self.values(metric, rows)
        return values[~np.isnan(values)]

    def mean(self, metric: str, rows: str = "test") -> float:
        """Mean of a metric over the folds that have it.

        Parameters
        ----------
        metric, rows
            As in :meth:`values`.

        Returns
        -------
        float
            NaN if there is no such fold.
        """
        values = self.defined(metric, rows)
        return float(values.mean()) if values.size else math.nan

    def standard_error(self, metric: str, rows: str = "test") -> float:
        """Standard error of the mean of a metric over the folds.

        Parameters
        ----------
        metric, rows
            As in :meth:`values`.

        Returns
        -------
        float
            NaN with fewer than two folds that have it.
        """
        values = self.defined(metric, rows)
        if values.size < 2:
            return math.nan
        return float(values.std(ddof=1) / math.sqrt(values.size))

    def summary(self, metric: str, rows: str = "test") -> str:
        """Write mean and range of a metric as the paper does: "mean (min - max)".

        Parameters
        ----------
        metric, rows
            As in :meth:`values`.

        Returns
        -------
        str
            For example "0.843 (0.811 - 0.872)", or "5.0% (3.1% - 6.2%)".
        """
        values = self.defined(metric, rows)
        if not values.size:
            return "-"
        mean, low, high = (
            metric_text(metric, value) for value in (values.mean(), values.min(), values.max())
        )
        return f"{mean} ({low} - {high})"

    def records(self) -> list[dict[str, Any]]:
        """List one mapping for each model and kind of rows: a table for any data frame library.

        Returns
        -------
        list of dict
            "fold" is None for the final model. Where parameters were tuned, those chosen are
            ``param_`` and their names.
        """
        found = [] if self.train is None else [_record(None, "train", self.train, self.parameters)]
        for fold in self.folds:
            found += [
                _record(fold.number, rows, getattr(fold, rows), fold.parameters)
                for rows in ("train", "test")
            ]
        return found

    def plot_reliability(self, *, bins: Any = "auto", ax: Axes | None = None) -> Axes:
        """Draw the reliability diagram: the final model on all rows, each fold on its test rows.

        Parameters
        ----------
        bins : int or "auto" or None, default "auto"
            As in :func:`~riskslim.metrics.reliability_curve`.
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes
            Folds in grey, as in Ustun & Rudin (2019), figure 7.

        Raises
        ------
        ValueError
            The final model is not finished.
        """
        from riskslim.plots import plot_reliability

        return plot_reliability(
            self.reliability_curve(self._finished(), bins=bins),
            folds=[self.reliability_curve(fold, bins=bins) for fold in self.folds],
            label="final model, training rows", ax=ax,
        )  # fmt: skip

    def plot_roc(self, *, ax: Axes | None = None) -> Axes:
        """Draw the ROC curves: the final model on all rows, each fold on its test rows, in grey.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes

        Raises
        ------
        ValueError
            The final model is not finished.
        """
        from riskslim.plots import plot_roc

        # Thresholds are log-odds, or whatever the model has: no number that people add up.
        return plot_roc(
            self.operating_points(self._finished()),
            folds=[self.operating_points(fold) for fold in self.folds_with_auc],
            label="final model, training rows", mark=False, ax=ax,
        )  # fmt: skip

    def reliability_curve(self, fold: Fold, *, bins: Any = "auto") -> ReliabilityCurve:
        """Compare predicted and observed risk on the rows that a model was tested on.

        Parameters
        ----------
        fold : Fold
            One of ``folds``, or ``final``.
        bins : int or "auto" or None, default "auto"
            As in :func:`~riskslim.metrics.reliability_curve`.

        Returns
        -------
        ReliabilityCurve
        """
        labels, weight = self._rows(fold)
        return reliability_curve(labels, fold.test_risk, weight, fold.test_scores, bins=bins)

    def operating_points(self, fold: Fold) -> OperatingPoints:
        """List the operating points of a model on the rows that it was tested on.

        Parameters
        ----------
        fold : Fold
            One of ``folds``, or ``final``.

        Returns
        -------
        OperatingPoints
            Thresholds are log-odds, or what else orders the rows.
        """
        labels, weight = self._rows(fold)
        return operating_points(labels, fold.test_scores, weight)

    def _finished(self) -> Fold:
        if self.final is None:
            raise ValueError("the final model is not finished: there is nothing to draw")
        return self.final

    def _rows(self, fold: Fold) -> tuple[NDArray[np.bool_], NDArray[np.float64] | None]:
        """Labels and weights of the rows that a model was tested on."""
        weight = None if self.sample_weight is None else self.sample_weight[fold.test_rows]
        return self.positive[fold.test_rows], weight

    def __str__(self) -> str:
        head = f"{len(self.folds)} of {self.n_folds} folds: mean (min - max)"
        lines = [f"{'':<16}{'test':<26}{'train':<26}final model, all rows"]
        for metric in (*METRICS, *(SHARES if self.has_shares else ())):
            final = "-" if self.train is None else metric_text(metric, getattr(self.train, metric))
            tested = "" if metric in ("model_size", "optimality_gap") else self.summary(metric)
            lines.append(f"{metric:<16}{tested:<26}{self.summary(metric, 'train'):<26}{final}")
        return "\n".join(filter(None, [head, *lines, self.note_on_auc(), self.note_on_weights()]))


def _record(
    fold: int | None, rows: str, performance: Performance, parameters: Mapping[str, Any] | None
) -> dict[str, Any]:
    chosen = {f"param_{name}": value for name, value in (parameters or {}).items()}
    measured = dataclasses.asdict(performance)
    if math.isnan(performance.sensitivity) and math.isnan(performance.specificity):
        measured = {name: value for name, value in measured.items() if name not in SHARES}
    return {"fold": fold, "rows": rows, **measured, **chosen}


# ---------------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class _Data:
    """Rows as a user gave them, and what metrics need to know of them."""

    X: Any
    # As they were given: models name the outcome after them.
    labels: Any
    y: NDArray[Any]
    positive: NDArray[np.bool_]
    weight: NDArray[np.float64] | None
    groups: NDArray[Any] | None = None

    def rows(self, rows: NDArray[np.intp]) -> _Data:
        from sklearn.utils import _safe_indexing

        weight = None if self.weight is None else self.weight[rows]
        return _Data(
            _safe_indexing(self.X, rows),
            _safe_indexing(self.labels, rows),
            self.y[rows],
            self.positive[rows],
            weight,
            None if self.groups is None else self.groups[rows],
        )

    def splits(self, cv: Any, random_state: int) -> list[Split]:
        """Folds of these rows, which part no group."""
        return splits_of(
            cv, self.X, self.positive, self.weight, groups=self.groups, random_state=random_state
        )


@dataclasses.dataclass(frozen=True, eq=False)
class _Tuning:
    """The choice of parameters by the mean of a metric over inner folds."""

    grid: Any
    metric: str
    n_folds: Any
    random_state: int


@dataclasses.dataclass(frozen=True, eq=False)
class _Plan:
    """The work that is done on each set of rows."""

    estimator: Any
    tuning: _Tuning | None
    bins: Any


def cross_validate_risk_score(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    cv: Any = 5,
    groups: ArrayLike | None = None,
    param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] | None = None,
    tuning_metric: str = "auc",
    inner_cv: Any = 5,
    bins: Any = None,
    pos_label: Any = None,
    n_jobs: int | None = 1,
    random_state: int = 0,
    progress: Callable[[Step], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> CrossValidation:
    """Fit a final model to all rows, and one model for each fold, and measure all of them.

    Parameters
    ----------
    estimator : object
        A classifier in scikit-learn's conventions with ``predict_proba``:
        :class:`~riskslim.RiskSLIMClassifier`, a pipeline, any other. It is cloned, never fitted.
        Each fit has the parameters as they are: ``shrinkage`` is a prior as strong on the rows of
        a fold as on all, ``l2_penalty`` one that is weaker on fewer rows.
    X : array-like or data frame of shape (n, d)
    y : array-like of shape (n,)
        Labels of two classes.
    sample_weight : array-like of shape (n,), optional
        Used to fit, to choose parameters, and in all metrics. Weights of classes that an estimator
        has are its own, and no metric has them: other estimators have others.
    cv : int, array-like of int, path, splitter, or iterable of pairs, default 5
        A number of stratified folds; the fold of each row, or a file of them
        (:func:`~riskslim.model_selection.read_folds`); an object of scikit-learn with ``split``; or
        pairs of row numbers (train, test).
    groups : array-like of shape (n,), optional
        A label for each row: those of one label, such as the visits of one patient, are never
        parted, by inner folds either. Numbers of folds keep them together, splitters get them, and
        folds that part them are refused.
    param_grid : mapping from names to values, or sequence of them, optional
        Parameters to choose from, in the form of :class:`sklearn.model_selection.ParameterGrid`.
    tuning_metric : {"auc", "loss", "cal"}, default "auc"
        Parameters with the best mean of it over the inner test rows are chosen, the first ones
        of equals. The paper maximises the AUC.
    inner_cv : int or splitter, default 5
        Folds within each set of training rows; groups as for ``cv``.
    bins : int or "auto" or None
        Of CAL, as in :func:`~riskslim.calibration_error`.
    pos_label : optional
        The positive class. Default: the larger label in sorted order.
    n_jobs : int, default 1
        Models that are fitted at once, by joblib; -1 for all cores. The result does not depend
        on it.
    random_state : int, default 0
        Seed of stratified folds, inner ones too.
    progress : callable, optional
        Called with a :class:`Step` after each model.
    should_stop : callable, optional
        Asked before and after each model, and with ``n_jobs=1`` several times a second while a risk
        score is searched for; True ends the run.

    Returns
    -------
    CrossValidation
        After Ctrl-C, or if ``should_stop`` said so, with the models that were finished:
        ``is_complete`` is then False.

    Raises
    ------
    ValueError, TypeError
        Folds that do not fit the data, that part a group, or with training rows of one class (the
        fold is named); labels of more than two classes; an estimator that has no
        ``predict_proba``, or cannot take weights that are given; unknown parameters.
    KeyboardInterrupt
        Ctrl-C before any model was finished.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from riskslim import cross_validate_risk_score
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> X = data.integer_columns
    >>> result = cross_validate_risk_score(LogisticRegression(), X, data.labels, cv=3)
    >>> len(result.folds), result.mean("auc") > 0.95
    (3, True)
    """
    from sklearn.utils import check_consistent_length

    _check_input(estimator, X)
    if pos_label is None:
        pos_label = _innermost(estimator, "positive_label")
    positive = positive_rows(y, pos_label)
    weight = None if sample_weight is None else checked_weights(sample_weight, len(positive))
    check_consistent_length(X, positive, weight)
    flat = np.asarray(y).ravel()
    groups = None if groups is None else values_of(groups, "groups")
    data = _Data(X, flat if series_name(y) is None else y, flat, positive, weight, groups)
    splits = data.splits(cv, random_state)
    tuning = None
    if param_grid is not None:
        _check_tuning(estimator, param_grid, tuning_metric)
        tuning = _Tuning(param_grid, tuning_metric, inner_cv, random_state)
    plan = _Plan(estimator, tuning, bins)
    tasks = [("all rows", (plan, data, None))] + [
        (f"fold {k}", (plan, data, split)) for k, split in enumerate(splits)
    ]
    finished = in_parallel(
        _fit_and_measure, tasks, n_jobs=n_jobs, progress=progress, should_stop=should_stop
    )
    final = finished.results.pop(0, None)
    return CrossValidation(
        final=final,
        folds=tuple(
            dataclasses.replace(fold, number=k - 1) for k, fold in sorted(finished.results.items())
        ),
        n_folds=len(splits),
        positive=positive,
        sample_weight=weight,
    )


def _check_input(estimator: Any, X: Any) -> None:
    """Refuse what has no probabilities, and what no rows can be taken from."""
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"{type(estimator).__name__} has no predict_proba: a classifier that predicts "
            "probabilities is needed"
        )
    if isinstance(X, TrainingData):
        raise TypeError(
            "X is TrainingData, but the table itself is needed, to take rows from; with a "
            "RiskScoreProblem on these data: model_size_path(problem, sizes=[5], cv=5)"
        )


def _fit_and_measure(plan: _Plan, data: _Data, split: Split | None) -> Fold | None:
    """Fit the model of one fold, or the final one, which has no test rows."""
    if split is None:
        return _measured(plan, data, data, np.arange(len(data.y)))
    with warnings.catch_warnings():
        # Rare values, and the largest one, are missing in the training rows of some folds; all rows
        # together have them.
        for usual in (ConstantFeatureWarning, ExtrapolationWarning, PositiveLabelWarning):
            warnings.simplefilter("ignore", usual)
        with parts_of_a_table():
            return _measured(plan, data.rows(split.train), data.rows(split.test), split.test)


def _measured(plan: _Plan, train: _Data, test: _Data, test_rows: NDArray[np.intp]) -> Fold | None:
    parameters = None
    if plan.tuning is not None:
        with parts_of_a_table():
            parameters = _tuned(plan, plan.tuning, train)
        if parameters is None:
            return None
    model = _fitted(plan.estimator, parameters, train)
    certificate = _innermost(model, "certificate_")
    if certificate is not None and certificate.status is Status.INTERRUPTED:
        return None
    risk, scores = _predictions(model, test)
    on_test = _performance(model, certificate, test, risk, scores, plan.bins)
    on_train = on_test
    if train is not test:
        on_train = _performance(model, certificate, train, *_predictions(model, train), plan.bins)
    return Fold(-1, model, on_train, on_test, test_rows, risk, scores, parameters)


def _fitted(estimator: Any, parameters: Mapping[str, Any] | None, data: _Data) -> Any:
    from sklearn.base import clone

    model = clone(estimator).set_params(**(parameters or {}))
    model.fit(data.X, data.labels, **_of_rows(model, data))
    return model


def _of_rows(estimator: Any, data: _Data) -> dict[str, Any]:
    """The arguments by which an estimator takes weights and, if it has folds itself, groups."""
    from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    last, prefix = estimator, ""
    while isinstance(last, Pipeline):
        name, last = last.steps[-1]
        prefix += f"{name}__"
    found = {}
    if data.weight is not None:
        if not has_fit_parameter(last, "sample_weight"):
            raise ValueError(f"{type(last).__name__} cannot be fitted with sample_weight")
        found[f"{prefix}sample_weight"] = data.weight
    has_folds = isinstance(last, (GridSearchCV, RandomizedSearchCV))
    if data.groups is not None and (has_folds or has_fit_parameter(last, "groups")):
        found[f"{prefix}groups"] = data.groups
    return found


def _predictions(model: Any, data: _Data) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Risks, and what orders the rows: the decision function where there is one."""
    is_last = _positive_is_last(model, data)
    risk = np.asarray(model.predict_proba(data.X), np.float64)[:, 1 if is_last else 0]
    if not hasattr(model, "decision_function"):
        return risk, risk
    scores = np.asarray(model.decision_function(data.X), np.float64)
    return risk, scores if is_last else -scores


def _positive_is_last(model: Any, data: _Data) -> bool:
    """True if the positive class is the second one of the model."""
    classes = np.asarray(model.classes_)
    if len(classes) != 2:
        raise ValueError(f"the model has the classes {classes.tolist()}, expected two")
    row = int(np.argmax(data.positive))
    return bool((data.y[row] == classes[1]) == data.positive[row])


def _performance(
    model: Any,
    certificate: Certificate | None,
    data: _Data,
    risk: NDArray[np.float64],
    scores: NDArray[np.float64],
    bins: Any,
) -> Performance:
    gap = math.nan if certificate is None else certificate.optimality_gap
    score = _innermost(model, "risk_score_")
    # The sign of a decision function agrees with the threshold.
    called = None if score is None or score.operating_point is None else scores > 0
    return performance(
        data.positive, risk, scores, data.weight, _model_size(model), gap, bins, called
    )


def _innermost(model: Any, attribute: str) -> Any:
    """An attribute of a fitted model, or of the one that it wraps; None if there is none."""
    while model is not None:
        if hasattr(model, attribute):
            return getattr(model, attribute)
        steps = getattr(model, "steps", None)
        model = steps[-1][1] if steps else getattr(model, "best_estimator_", None)
    return None


def _model_size(model: Any) -> float:
    score = _innermost(model, "risk_score_")
    if score is not None:
        return len(score.points)
    coefficients = _innermost(model, "coef_")
    return math.nan if coefficients is None else int(np.count_nonzero(coefficients))


# ---------------------------------------------------------------------------------------------
# Tuning
# ---------------------------------------------------------------------------------------------


def _check_tuning(estimator: Any, grid: Any, metric: str) -> None:
    from sklearn.model_selection import ParameterGrid

    if metric not in ("auc", "loss", "cal"):
        raise ValueError(f"tuning_metric must be 'auc', 'loss' or 'cal', got {metric!r}")
    known = estimator.get_params()
    names = {name for parameters in ParameterGrid(grid) for name in parameters}
    unknown = sorted(name for name in names if name not in known)
    if unknown:
        raise ValueError(
            f"Invalid parameter {unknown[0]!r} for estimator {type(estimator).__name__}. Valid "
            f"parameters are: {sorted(known)}."
        )


def _tuned(plan: _Plan, tuning: _Tuning, data: _Data) -> dict[str, Any] | None:
    """The parameters with the best mean over inner folds of these rows, which are all it sees.

    None where the user interrupted a fit: nothing else is fitted then.
    """
    from sklearn.model_selection import ParameterGrid

    splits = data.splits(tuning.n_folds, tuning.random_state)
    parts = [(data.rows(split.train), data.rows(split.test)) for split in splits]
    sign = 1.0 if tuning.metric in LARGER_IS_BETTER else -1.0
    best, most = None, -math.inf
    for parameters in ParameterGrid(tuning.grid):
        values = []
        for train, test in parts:
            model = _fitted(plan.estimator, parameters, train)
            if _is_interrupted(model):
                return None
            found = _performance(model, None, test, *_predictions(model, test), plan.bins)
            values.append(getattr(found, tuning.metric))
        known = [value for value in values if not math.isnan(value)]
        if not known:
            raise ValueError(
                f"parameters cannot be chosen by {tuning.metric!r}: the test rows of every inner "
                "fold have one class alone. Use fewer inner folds, or tuning_metric='loss'"
            )
        merit = sign * float(np.mean(known))
        if best is None or merit > most:
            best, most = dict(parameters), merit
    return best


def _is_interrupted(model: Any) -> bool:
    """True if Ctrl-C came while a model was searched for, however late."""
    return bool(getattr(_innermost(model, "solution_"), "is_interrupted", False))
