"""The metrics that models are compared by, by name."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskslim.metrics.calibration import calibration_error
from riskslim.metrics.discrimination import auc, log_loss, logistic_loss
from riskslim.metrics.rows import has_both_classes
from riskslim.solution import percent

__all__ = [
    "LARGER_IS_BETTER",
    "METRICS",
    "SHARES",
    "Performance",
    "check_metric",
    "metric_text",
    "performance",
]

METRICS = ("loss", "auc", "cal", "model_size", "optimality_gap")
# Of models that call rows positive from a threshold of their own on.
SHARES = ("sensitivity", "specificity")
# Metrics of which more is better.
LARGER_IS_BETTER = frozenset({"auc", *SHARES})
# Metrics that are written in percent.
PERCENT = frozenset({"cal", "optimality_gap", *SHARES})
# Risks that differ by no more than this from those of log-odds are theirs.
_SAME_RISK = 1e-9


@dataclasses.dataclass(frozen=True)
class Performance:
    """Performance of a model on some rows.

    Parameters
    ----------
    n_samples : int
    loss : float
        Normalised logistic loss.
    auc : float
        Area under the ROC curve.
    cal : float
        Expected calibration error, between 0 and 1.
    model_size : float
        Features that the model uses, the intercept not counted; NaN where it does not say.
    optimality_gap : float
        Of its certificate; NaN without one.
    sensitivity, specificity : float
        Shares at the threshold of the model; NaN where it has none, and of rows that lack the
        class.
    """

    n_samples: int
    loss: float
    auc: float
    cal: float
    model_size: float = math.nan
    optimality_gap: float = math.nan
    sensitivity: float = math.nan
    specificity: float = math.nan


def check_metric(metric: str) -> None:
    """Refuse a metric that there is not.

    Parameters
    ----------
    metric : str

    Raises
    ------
    ValueError
        It is none of :data:`METRICS` and :data:`SHARES`.
    """
    known = (*METRICS, *SHARES)
    if metric not in known:
        raise ValueError(f"metric must be one of {', '.join(map(repr, known))}, got {metric!r}")


def metric_text(metric: str, value: float) -> str:
    """Write the value of a metric.

    Parameters
    ----------
    metric : str
    value : float

    Returns
    -------
    str
        In percent for metrics that are; "-" for NaN.
    """
    if math.isnan(value):
        return "-"
    if metric == "optimality_gap":
        return percent(value)
    if metric in PERCENT:
        return f"{value:.1%}"
    return f"{value:.4g}" if metric == "model_size" else f"{value:.3f}"


def performance(
    positive: NDArray[np.bool_],
    risk: NDArray[np.float64],
    scores: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    model_size: float,
    optimality_gap: float,
    bins: Any,
    called: NDArray[np.bool_] | None = None,
) -> Performance:
    """Measure predictions.

    Parameters
    ----------
    positive : ndarray of bool, shape (n,)
    risk, scores : ndarray of float64, shape (n,)
        Probabilities, and log-odds or what else orders the rows.
    weight : ndarray of float64, shape (n,), or None
    model_size, optimality_gap : float
    bins : int or "auto" or None
        Of CAL.
    called : ndarray of bool, shape (n,), optional
        Rows that the model calls positive by a threshold of its own.

    Returns
    -------
    Performance
        Without an AUC (NaN) where the rows are of one class.
    """
    with np.errstate(over="ignore"):
        are_log_odds = bool(np.abs(1 / (1 + np.exp(-scores)) - risk).max() <= _SAME_RISK)
    loss = (
        logistic_loss(positive, scores, weight)
        if are_log_odds
        else log_loss(positive, risk, weight)
    )
    return Performance(
        len(positive) if weight is None else int(np.count_nonzero(weight)),
        loss,
        auc(positive, scores, weight) if has_both_classes(positive, weight) else math.nan,
        # Risks of distinct scores can be equal in float64, and scores of equal risks differ.
        calibration_error(positive, risk, weight, scores if are_log_odds else None, bins=bins),
        float(model_size),
        float(optimality_gap),
        *((math.nan, math.nan) if called is None else _shares(positive, called, weight)),
    )


def _shares(
    positive: NDArray[np.bool_], called: NDArray[np.bool_], weight: NDArray[np.float64] | None
) -> tuple[float, float]:
    """Shares of the positive rows that are called so, and of the others that are not."""
    each = np.ones(len(positive)) if weight is None else weight
    found = []
    for of_class, right in ((positive, called), (~positive, ~called)):
        total = float(each[of_class].sum())
        found.append(float(each[of_class & right].sum()) / total if total > 0 else math.nan)
    return found[0], found[1]
