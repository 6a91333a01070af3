"""The rows that a score is judged on, and its metrics on them."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.data.class_weights import share
from riskslim.data.training_data import TrainingData
from riskslim.exceptions import ExtrapolationWarning
from riskslim.items.rules import computed_items, raw_table
from riskslim.metrics.bootstrap import Interval, bootstrap_intervals
from riskslim.metrics.calibration import (
    ConsistencyRange,
    calibration_consistency,
    maximum_calibration_error,
)
from riskslim.metrics.discrimination import logistic_loss
from riskslim.metrics.performance import Performance, metric_text
from riskslim.metrics.performance import performance as measured
from riskslim.metrics.rows import has_both_classes
from riskslim.score.link import original_link_of
from riskslim.score.observations import class_labels, observations_of
from riskslim.score.rows import ScoredRows, named_rows
from riskslim.score.table import logistic

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = [
    "EXTREME",
    "METRIC_NAMES",
    "OF_ROWS",
    "SAME_SHARE",
    "SEED",
    "SHARES",
    "Rows",
    "check_resamples",
    "feature_values",
    "is_same_loss",
    "judged_rows",
    "labelled",
    "rows_of",
    "share_or_metric_text",
    "vector_of",
    "weighted_mean",
]

METRIC_NAMES = {
    "loss": "Loss (normalised logistic)",
    "auc": "AUC",
    "cal": "CAL (expected calibration error)",
    "mcal": "MCAL (largest calibration error)",
    "predicted": "Mean predicted risk",
    "observed": "Observed risk",
    "model_size": "Features with points",
    "optimality_gap": "Optimality gap",
}

OF_ROWS = ("loss", "auc", "cal", "mcal", "predicted", "observed")

SHARES = ("predicted", "observed")

# Losses that differ by no more than this share are those of the same rows and weights.
_SAME_LOSS = 1e-9

EXTREME = 0.001

# Bootstrap resamples, and how many where rows of so many kinds make each one take long.
N_RESAMPLES, MANY_KINDS, FEWER_RESAMPLES = 1000, 100_000, 200
SEED = 0

# Shares that differ by no more are the same: sums are rounded.
SAME_SHARE = 1e-12


class Given(NamedTuple):
    """Rows, labels and weights as they were given."""

    X: Any
    y: Any
    sample_weight: Any


@dataclasses.dataclass(frozen=True, eq=False)
class Rows:
    """Rows that the score is judged by, and what it predicts for them.

    Parameters
    ----------
    name : str
        What the report calls them, for example "training data".
    key : str
        The same in one word.
    X : array-like or data frame
    positive : ndarray of bool, shape (n,)
    weight : ndarray of float64, shape (n,), or None
    scores : ndarray of int64 or float64, shape (n,)
    risk : ndarray of float64, shape (n,)
    performance : Performance
    mcal : float
    bins : int or "auto" or None
        Of calibration errors.
    intervals : mapping from str to Interval or ConsistencyRange
        By the name of the metric: bootstrap intervals of loss and AUC, and what CAL, MCAL and
        observed risk of a perfectly calibrated score would be; empty without resamples.
    n_resamples : int
        How many they are from.
    given : Given
        The rows as they were given, with those of weight 0, which do not count elsewhere.
    """

    name: str
    key: str
    X: Any
    positive: NDArray[np.bool_]
    weight: NDArray[np.float64] | None
    scores: NDArray[Any]
    risk: NDArray[np.float64]
    performance: Performance
    mcal: float
    bins: Any
    intervals: Mapping[str, Interval | ConsistencyRange]
    n_resamples: int
    given: Given

    @property
    def has_both_classes(self) -> bool:
        """True if what compares the classes is defined."""
        return has_both_classes(self.positive, self.weight)

    @property
    def why_undefined(self) -> str:
        """The reason for figures that are missing; empty where none is."""
        if self.has_both_classes:
            return ""
        which = "all rows have" if self.positive.any() else "no row has"
        return (
            f"{which} the outcome. AUC, Gini, KS and information values, the ROC curve, "
            "sensitivity or specificity, and the intercept and slope of calibration compare rows "
            "with and without it: they are missing"
        )

    def metric(self, name: str) -> float:
        """One of :data:`METRIC_NAMES`."""
        if name in SHARES:
            of = self.risk if name == "predicted" else self.positive
            return weighted_mean(of, self.weight)
        return self.mcal if name == "mcal" else float(getattr(self.performance, name))


# ---------------------------------------------------------------------------------------------
# What is given
# ---------------------------------------------------------------------------------------------


def rows_of(
    score: RiskScore,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    key: str,
    bins: Any,
    n_resamples: int | None,
) -> Rows:
    """Check rows and labels, and judge the score by them.

    Parameters
    ----------
    score : RiskScore
    X, y, sample_weight
        As in :meth:`~riskslim.RiskScore.report`.
    key : {"given", "test"}
        Given rows are called training data if the certificate is about them.
    bins : int or "auto" or None
        Of calibration errors.
    n_resamples : int or None
        Of the bootstrap intervals.

    Returns
    -------
    Rows

    Raises
    ------
    ValueError, TypeError
        Rows, labels or weights that cannot be used.
    """
    if isinstance(X, TrainingData):
        if y is not None or sample_weight is not None:
            raise ValueError("TrainingData has its labels and weights: leave y and weights out")
        if not X.has_each_row:
            raise ValueError(
                "a report is on rows one by one, but equal rows of these data were merged while "
                "they were read: pass a sample, riskslim.sampled(data, 200_000)"
            )
        y = np.array(X.classes, dtype=object)[(X.labels > 0).astype(np.intp)]
        sample_weight = X.sample_weight
    observed = observations_of(score, X, y, sample_weight)
    if observed is None:
        raise ValueError("X is None, but a report needs rows and labels: report(path, X, y)")
    given = Given(X, y, sample_weight)
    X = _counted(score, named_rows(score, X), sample_weight)
    log_odds = score.log_odds(X)
    risk = logistic(log_odds)
    positive, weight = observed.is_positive, observed.weights
    certificate = score.certificate
    gap = math.nan if certificate is None else certificate.optimality_gap
    found = measured(positive, risk, log_odds, weight, len(score.points), gap, bins)
    name = "test data"
    if key == "given":
        loss = found.loss
        if score.recalibration is not None:  # the certificate is about the risks before
            before = original_link_of(score)
            loss = logistic_loss(
                positive, before.log_odds(observed.scores.astype(np.float64)), weight
            )
        name = "given data"
        if _is_certified(score, found.n_samples, loss):
            name = "training data"
    if n_resamples is None:
        n_resamples = _default_resamples(log_odds, weight)
    intervals: dict[str, Interval | ConsistencyRange] = {}
    if n_resamples:
        options: dict[str, Any] = {
            "bins": bins, "n_resamples": n_resamples, "random_state": SEED,
        }  # fmt: skip
        if has_both_classes(positive, weight):
            intervals.update(bootstrap_intervals(positive, log_odds, weight, **options))
        intervals.update(calibration_consistency(risk, weight, log_odds, **options))
    return Rows(
        name, key, X, positive, weight, observed.scores, risk, found,
        maximum_calibration_error(positive, risk, weight, log_odds, bins=bins), bins,
        intervals, n_resamples, given,
    )  # fmt: skip


def judged_rows(
    score: RiskScore,
    given: tuple[Any, Any, Any],
    test: tuple[Any, Any, Any] = (None, None, None),
    *,
    bins: Any = None,
    n_resamples: int | None = None,
) -> list[Rows]:
    """Judge a score by all rows that a report is about.

    Parameters
    ----------
    score : RiskScore
    given, test : tuple of (X, y, sample_weight)
        As in :meth:`~riskslim.RiskScore.report`; of ``test`` all None where there are none.
    bins, n_resamples
        As in :meth:`~riskslim.RiskScore.report`.

    Returns
    -------
    list of Rows
        Of the given rows, then of the test rows.

    Raises
    ------
    ValueError, TypeError
        As :func:`rows_of`.
    """
    check_resamples(n_resamples)
    settings: dict[str, Any] = {"bins": bins, "n_resamples": n_resamples}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)  # remarks say it, of each column
        rows = [rows_of(score, *given, key="given", **settings)]
        if any(one is not None for one in test):
            with _about("test data (X_test, y_test, sample_weight_test)"):
                rows.append(rows_of(score, *test, key="test", **settings))
    return rows


@contextmanager
def _about(what: str) -> Iterator[None]:
    """Say which of the given rows an error is about."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from error
    except TypeError as error:
        raise TypeError(f"{what}: {error}") from error


def _counted(score: RiskScore, X: Any, sample_weight: Any) -> Any:
    """X without the rows of weight 0."""
    if sample_weight is None:
        return X
    table = raw_table(X, {*score.points, *score.feature_names, *score.variables})
    counted = table.counted(sample_weight)
    return X if counted is table else counted


def check_resamples(n_resamples: Any) -> None:
    """Refuse a number of resamples that is none.

    Parameters
    ----------
    n_resamples : int or None

    Raises
    ------
    ValueError
    """
    is_number = isinstance(n_resamples, int) and not isinstance(n_resamples, bool)
    if n_resamples is not None and not (is_number and n_resamples >= 0):
        raise ValueError(
            f"n_resamples must be an int of at least 0, or None, got {n_resamples!r}; 0 leaves the "
            "intervals out"
        )


def _default_resamples(log_odds: NDArray[Any], weight: NDArray[np.float64] | None) -> int:
    """As many as take little time: a resample draws one number for each kind of rows."""
    n_kinds = len(np.unique(log_odds))
    if weight is not None and n_kinds <= MANY_KINDS:
        n_kinds = len(np.unique(log_odds + 1j * weight))
    return FEWER_RESAMPLES if n_kinds > MANY_KINDS else N_RESAMPLES


def _is_certified(score: RiskScore, n_samples: int, loss: float) -> bool:
    """True if the certificate is about these rows and weights."""
    certificate = score.certificate
    return (
        certificate is not None
        and certificate.n_samples == n_samples
        and is_same_loss(certificate.loss, loss)
    )


def is_same_loss(one: float, other: float) -> bool:
    """True if two losses are equal but for rounding."""
    return math.isclose(one, other, rel_tol=_SAME_LOSS, abs_tol=1e-15)


def share_or_metric_text(name: str, value: float) -> str:
    """A metric of the report as printed."""
    if name in SHARES:
        return share(value)
    return metric_text("cal" if name == "mcal" else name, value)


def vector_of(score: RiskScore) -> NDArray[np.int64]:
    """Intercept and points of a score, shape (d + 1,)."""
    points = [score.points.get(name, 0) for name in score.feature_names]
    return np.array([score.intercept, *points], dtype=np.int64)


def labelled(score: RiskScore, rows: Rows) -> tuple[Any, Any, Any]:
    """Rows with labels and weights of their own, whatever they were given as."""
    return rows.X, class_labels(score.classes)[rows.positive.astype(int)], rows.weight


def feature_values(score: RiskScore, name: str, X: Any) -> NDArray[Any]:
    """Values of one feature, shape (n,), computed where X has raw columns."""
    if score.variables:
        X, _ = computed_items(
            X, (name,), score.feature_names, score.variables, score.items, handle_unknown="error"
        )
    # The score of one point for a feature is its value.
    return ScoredRows.open(X, (name,), score.feature_names).scores({name: 1})


def weighted_mean(values: NDArray[Any], weight: NDArray[np.float64] | None) -> float:
    """Mean of values, by weight if there are weights.

    Parameters
    ----------
    values : ndarray of shape (n,)
    weight : ndarray of float64, shape (n,), or None

    Returns
    -------
    float
        NaN without rows.
    """
    return float(np.average(values, weights=weight)) if len(values) else math.nan
