r"""Agreement of risks and outcomes: calibration line, Brier score, integrated calibration index.

These are the figures that reports on clinical prediction models ask for (TRIPOD), beside the
calibration error over distinct scores that the paper uses.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._checks import is_number
from riskslim.metrics.bootstrap import Interval
from riskslim.metrics.rows import check_both_classes, check_risks, checked_level, checked_rows

__all__ = [
    "CalibrationLine",
    "brier_score",
    "brier_skill",
    "calibration_line",
    "integrated_calibration_index",
]

_MOST_STEPS = 100
# With more distinct risks than this the smooth curve is computed at as many quantiles.
_MOST_RISKS = 500


class CalibrationLine(NamedTuple):
    """The line between predicted and observed log-odds.

    Attributes
    ----------
    intercept : Interval
        Calibration in the large: what has to be added to all log-odds, the slope left at 1, for
        the mean risk to be the observed one. 0 is perfect; below 0 risks are too high.
    slope : Interval
        Of observed on predicted log-odds. 1 is perfect; below 1 risks are too extreme.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.metrics import calibration_line
    >>> risk = np.array([0.1, 0.2, 0.3, 0.4, 0.6, 0.9])
    >>> line = calibration_line([0, 0, 1, 0, 1, 1], np.log(risk / (1 - risk)))
    >>> round(line.intercept.value, 2), round(line.slope.value, 2)
    (0.47, 2.17)
    """

    intercept: Interval
    slope: Interval


def calibration_line(
    y_true: ArrayLike,
    log_odds: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    level: float = 0.95,
    pos_label: Any = None,
) -> CalibrationLine:
    r"""Fit the calibration intercept and slope (Cox, 1958).

    The intercept a is that of :math:`\text{logit}\, P(y_i = 1) = a + \ell_i` with the predicted
    log-odds :math:`\ell_i`, the slope b that of :math:`\text{logit}\, P(y_i = 1) = a' + b \ell_i`,
    both by maximum likelihood. Intervals are Wald's, from the Fisher information.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    log_odds : array-like of shape (n,)
        Predicted, as ``score.log_odds(X)``.
    sample_weight : array-like of shape (n,), optional
        As numbers of rows: intervals are those of so many.
    level : float, default 0.95
    pos_label : optional
        As in :func:`calibration_error`.

    Returns
    -------
    CalibrationLine
        The slope is NaN where all log-odds are equal, and infinite where they separate the classes.

    Raises
    ------
    ValueError
        As in :func:`auc`; a level that is not between 0 and 1.

    References
    ----------
    Cox (1958), Two Further Applications of a Model for Binary Regression, Biometrika 45.
    Van Calster et al. (2019), Calibration: the Achilles Heel of Predictive Analytics, BMC
    Medicine 17.

    Examples
    --------
    Predicted odds are 1 to 3 and 3 to 1, observed ones 1 to 1 and 9 to 1: three times as large.

    >>> import math
    >>> from riskslim.metrics import calibration_line
    >>> log_odds = [-math.log(3)] * 10 + [math.log(3)] * 10
    >>> y = [0] * 5 + [1] * 5 + [0] + [1] * 9
    >>> line = calibration_line(y, log_odds)
    >>> round(math.exp(line.intercept.value), 6), round(line.slope.value, 6)
    (3.0, 1.0)
    """
    positive, predicted, weight = checked_rows(
        y_true, log_odds, sample_weight, pos_label, "log_odds"
    )
    check_both_classes(positive, weight, "The calibration line")
    z = _quantile(checked_level(level))
    rows = weight > 0
    # Scores have few values: rows of each are as good as one.
    distinct, place = np.unique(predicted[rows], return_inverse=True)
    counts = np.zeros((2, len(distinct)))
    for own, true in zip(counts, (positive, ~positive), strict=True):
        own += np.bincount(place, weight[rows] * true[rows], len(distinct))
    intercept = _fitted(np.ones((len(distinct), 1)), counts, distinct)[0]
    return CalibrationLine(_wald(*intercept, z), _slope(counts, distinct, z))


def _slope(counts: NDArray[np.float64], predicted: NDArray[np.float64], z: float) -> Interval:
    if len(predicted) == 1:
        return Interval(math.nan, math.nan, math.nan)
    for sign in (1, -1):
        highest, lowest = sign * predicted[counts[1] > 0], sign * predicted[counts[0] > 0]
        if highest.max() <= lowest.min():
            return Interval(sign * math.inf, math.nan, math.nan)
    total = counts.sum(axis=0)
    mean = np.average(predicted, weights=total)
    spread = math.sqrt(np.average((predicted - mean) ** 2, weights=total))
    design = np.column_stack((np.ones(len(predicted)), (predicted - mean) / spread))
    value, error = _fitted(design, counts, np.zeros(len(predicted)))[1]
    return _wald(float(value / spread), float(error / spread), z)


def _fitted(
    design: NDArray[np.float64],
    counts: NDArray[np.float64],
    offset: NDArray[np.float64],
) -> list[tuple[float, float]]:
    """Coefficients of logistic regression and their standard errors, by Newton's method.

    ``counts`` has the weights of positive and of negative rows at each line of the design.
    """
    from scipy.special import expit

    coef = np.zeros(design.shape[1])
    hits, misses = counts
    total = hits + misses

    def loss_at(coef: NDArray[np.float64]) -> float:
        found = design @ coef + offset
        return float(hits @ np.logaddexp(0, -found) + misses @ np.logaddexp(0, found))

    loss = loss_at(coef)
    for _ in range(_MOST_STEPS):
        risk = expit(design @ coef + offset)
        slope = design.T @ (total * risk - hits)
        step = np.linalg.lstsq((design.T * (total * risk * (1 - risk))) @ design, slope)[0]
        length = 1.0
        while loss_at(coef - length * step) > loss * (1 + 1e-13) and length > 1e-6:
            length /= 2
        coef = coef - length * step
        loss = loss_at(coef)
        if np.abs(step).max() <= 1e-10 * (1 + np.abs(coef).max()):
            break
    risk = expit(design @ coef + offset)
    information = (design.T * (total * risk * (1 - risk))) @ design
    errors = np.sqrt(np.diag(np.linalg.pinv(information)))
    return list(zip(coef.tolist(), errors.tolist(), strict=True))


def _quantile(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(0.5 + 0.5 * level))


def _wald(value: float, error: float, z: float) -> Interval:
    return Interval(value, value - z * error, value + z * error)


def brier_score(
    y_true: ArrayLike,
    risk: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> float:
    """Compute the mean squared difference of risks and outcomes, 0 to 1.

    Parameters
    ----------
    y_true, risk, sample_weight : array-like of shape (n,)
        Risks between 0 and 1.
    pos_label : optional
        As in :func:`calibration_error`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As in :func:`calibration_error`.

    Examples
    --------
    >>> from riskslim.metrics import brier_score
    >>> brier_score([0, 1, 1, 0], [0.0, 0.5, 1.0, 0.5])
    0.125
    """
    positive, p, weight = checked_rows(y_true, risk, sample_weight, pos_label, "risk")
    check_risks(p)
    return float(np.average((p - positive) ** 2, weights=weight))


def brier_skill(
    y_true: ArrayLike,
    risk: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> float:
    """Compute the scaled Brier score: 1 less its ratio to that of the same risk for all.

    Parameters
    ----------
    y_true, risk, sample_weight : array-like of shape (n,)
    pos_label : optional
        As in :func:`calibration_error`.

    Returns
    -------
    float
        1 for perfect risks, 0 for those no better than the share of positive rows, below 0 worse.

    Raises
    ------
    ValueError
        As in :func:`calibration_error`; rows of one class only.

    References
    ----------
    Steyerberg et al. (2010), Assessing the Performance of Prediction Models, Epidemiology 21.

    Examples
    --------
    >>> from riskslim.metrics import brier_skill
    >>> brier_skill([0, 1, 1, 0], [0.0, 0.5, 1.0, 0.5])
    0.5
    """
    positive, p, weight = checked_rows(y_true, risk, sample_weight, pos_label, "risk")
    check_risks(p)
    check_both_classes(positive, weight, "The scaled Brier score")
    share = float(np.average(positive, weights=weight))
    found = float(np.average((p - positive) ** 2, weights=weight))
    return 1.0 - found / (share * (1 - share))


def integrated_calibration_index(
    y_true: ArrayLike,
    risk: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    span: float = 0.75,
    pos_label: Any = None,
) -> float:
    r"""Compute the mean distance of risks from a smooth calibration curve, the ICI.

    The observed risk at a risk p is that of a local straight line: least squares with the weights
    :math:`(1 - (|p_i - p| / h)^3)^3` of the rows within h, the distance that holds the share
    ``span`` of all rows (Cleveland's lowess without its robust steps). The index is the mean of
    :math:`|p_i - \hat o(p_i)|` over the rows.

    Parameters
    ----------
    y_true, risk, sample_weight : array-like of shape (n,)
        Risks between 0 and 1.
    span : float, default 0.75
        Share of the rows, by weight, that the curve at a risk is fitted to.
    pos_label : optional
        As in :func:`calibration_error`.

    Returns
    -------
    float
        0 to 1. Unlike CAL it hardly depends on how many distinct scores there are, so that models
        with few and with many can be compared.

    Raises
    ------
    ValueError
        As in :func:`calibration_error`; a span that is not above 0 and at most 1.

    Notes
    -----
    Of more than 500 distinct risks, the curve is computed at 500, and is straight in between.

    References
    ----------
    Austin & Steyerberg (2019), The Integrated Calibration Index (ICI) and Related Metrics,
    Statistics in Medicine 38, with loess in place of lowess. Cleveland (1979), JASA 74.

    Examples
    --------
    >>> from riskslim.metrics import integrated_calibration_index
    >>> round(integrated_calibration_index([0, 0, 0, 1, 0, 1, 1, 1], [0.25] * 4 + [0.75] * 4), 6)
    0.0
    """
    if not (is_number(span) and 0 < span <= 1):
        raise ValueError(f"span must be above 0 and at most 1, got {span!r}")
    positive, p, weight = checked_rows(y_true, risk, sample_weight, pos_label, "risk")
    check_risks(p)
    distinct, group = np.unique(p[weight > 0], return_inverse=True)
    total: NDArray[np.float64] = np.bincount(group, weight[weight > 0]).astype(np.float64)
    observed = np.bincount(group, (weight * positive)[weight > 0]) / total
    at = distinct
    if len(distinct) > _MOST_RISKS:
        place = np.linspace(0, len(distinct) - 1, _MOST_RISKS).astype(np.intp)
        at = distinct[place]
    curve = np.array([_local_line(distinct, observed, total, one, span) for one in at.tolist()])
    smooth = np.interp(distinct, at, curve).clip(0.0, 1.0)
    return float(np.average(np.abs(smooth - distinct), weights=total))


def _local_line(
    risk: NDArray[np.float64],
    observed: NDArray[np.float64],
    weight: NDArray[np.float64],
    at: float,
    span: float,
) -> float:
    """The value at a risk of the line through the rows near it."""
    distance = np.abs(risk - at)
    order = np.argsort(distance, kind="stable")
    within = np.cumsum(weight[order]) >= span * weight.sum() * (1 - 1e-12)
    width = float(distance[order[int(within.argmax())]])
    if width == 0.0:  # one risk holds all that is asked for
        return float(observed[order[0]])
    near = weight * np.clip(1 - (distance / width) ** 3, 0.0, None) ** 3
    mean = np.average(risk, weights=near)
    spread = near @ (risk - mean) ** 2
    height = float(np.average(observed, weights=near))
    if spread <= 1e-12 * near.sum():  # no others within
        return height
    slope = near @ ((risk - mean) * observed) / spread
    return height + float(slope * (at - mean))
