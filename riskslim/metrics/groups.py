r"""Rows in groups: by predicted risk, and by what a column says of them.

Shares have Wilson's intervals. With weights they are those of the effective number of rows,
:math:`(\sum w_i)^2 / \sum w_i^2` (Kish, 1965).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._checks import is_number
from riskslim.data.faults import missing_among
from riskslim.data.tables import values_of
from riskslim.metrics.agreement import brier_score, calibration_line
from riskslim.metrics.bootstrap import Interval, bootstrap_intervals
from riskslim.metrics.calibration import wilson_interval
from riskslim.metrics.rows import (
    check_resamples,
    check_risks,
    check_same_length,
    checked_level,
    checked_rows,
    unmasked,
)

__all__ = [
    "GroupMetrics",
    "RiskGroup",
    "group_labels",
    "log_odds_from",
    "metrics_by_group",
    "risk_groups",
]

# Groups that a table can show, and of which each is looked at.
MAX_GROUPS = 100
# Log-odds this near to those of a threshold are of the risk that it is, but for rounding.
_ROUNDED = 1e-9
# What the rows are called that have no label of a group.
MISSING = "(missing)"


class RiskGroup(NamedTuple):
    """The rows whose predicted risk is between two cut points.

    Attributes
    ----------
    lower, upper : float
        The risk is at least ``lower`` and below ``upper``; of the last group, up to 1.
    n : int
        Rows with weight.
    share : float
        Of all rows, by weight.
    predicted : float
        Mean predicted risk; NaN without rows.
    observed : Interval
        Share of positive rows; NaN without rows.

    Examples
    --------
    >>> from riskslim.metrics import risk_groups
    >>> for group in risk_groups([0, 0, 1, 1], [0.1, 0.2, 0.6, 0.9], [0.5]):
    ...     print(group.lower, group.upper, group.n, group.observed.value)
    0.0 0.5 2 0.0
    0.5 1.0 2 1.0
    """

    lower: float
    upper: float
    n: int
    share: float
    predicted: float
    observed: Interval


class GroupMetrics(NamedTuple):
    """Metrics of the rows of one group.

    Attributes
    ----------
    group : object
        Its label in the column, "(missing)" where there is none; None for all rows together.
    n, n_positive : int
        Rows with weight.
    observed : Interval
        Share of positive rows.
    predicted : float
        Mean predicted risk.
    called_positive : Interval
        Share of rows whose risk is at least the threshold.
    sensitivity, specificity, ppv, npv : Interval
        At the threshold; NaN where no row is in question.
    auc : Interval
        Bootstrap; NaN where the group has one class alone.
    brier : float
    calibration_intercept : Interval
        As in :func:`calibration_line`; NaN where the group has one class alone.

    Examples
    --------
    >>> from riskslim.metrics import metrics_by_group
    >>> y, log_odds, sex = [0, 1, 0, 1] * 5, [-1, 1, 1, 2] * 5, ["f", "f", "m", "m"] * 5
    >>> for group in metrics_by_group(y, log_odds, sex, n_resamples=20):
    ...     print(group.group, group.n, group.specificity.value)
    None 20 0.5
    f 10 1.0
    m 10 0.0
    """

    group: Any
    n: int
    n_positive: int
    observed: Interval
    predicted: float
    called_positive: Interval
    sensitivity: Interval
    specificity: Interval
    ppv: Interval
    npv: Interval
    auc: Interval
    brier: float
    calibration_intercept: Interval

    def record(self) -> dict[str, Any]:
        """One mapping of numbers; ends of intervals are NAME_lower and NAME_upper.

        Returns
        -------
        dict from str to int, float or str
        """
        found: dict[str, Any] = {}
        for name, value in self._asdict().items():
            found[name] = value.value if isinstance(value, Interval) else value
            if isinstance(value, Interval):
                found[f"{name}_lower"], found[f"{name}_upper"] = value.lower, value.upper
        return found


def risk_groups(
    y_true: ArrayLike,
    risk: ArrayLike,
    cuts: Sequence[float],
    sample_weight: ArrayLike | None = None,
    *,
    level: float = 0.95,
    pos_label: Any = None,
) -> tuple[RiskGroup, ...]:
    """Put rows into groups of risk, and compare predicted and observed risk of each.

    Parameters
    ----------
    y_true, risk, sample_weight : array-like of shape (n,)
        Risks between 0 and 1.
    cuts : sequence of float
        Risks between 0 and 1 at which a new group begins, increasing: [0.05, 0.2] makes three
        groups, of which the second begins with a risk of 5%.
    level : float, default 0.95
        Of the intervals.
    pos_label : optional
        As in :func:`calibration_error`.

    Returns
    -------
    tuple of RiskGroup
        One more than there are cuts, also those without rows.

    Raises
    ------
    ValueError
        As in :func:`calibration_error`; cuts that do not increase or are not between 0 and 1.

    Examples
    --------
    >>> from riskslim.metrics import risk_groups
    >>> low, high = risk_groups([0, 0, 1, 1], [0.1, 0.2, 0.2, 0.9], [0.5])
    >>> low.n, low.predicted.__round__(3), high.observed.value
    (3, 0.167, 1.0)
    """
    level = checked_level(level)
    positive, p, weight = checked_rows(y_true, risk, sample_weight, pos_label, "risk")
    check_risks(p)
    ends = [0.0, *map(float, cuts), 1.0]
    if any(not one < other for one, other in itertools.pairwise(ends)):
        raise ValueError(f"cuts must be above 0, below 1 and increase, got {list(cuts)}")
    place = np.searchsorted(ends[1:-1], p, side="right")
    groups = []
    for k, (lower, upper) in enumerate(itertools.pairwise(ends)):
        rows = (place == k) & (weight > 0)
        own = weight[rows]
        predicted = float(np.average(p[rows], weights=own)) if own.size else math.nan
        share = float(own.sum() / weight.sum())
        observed = _share(positive[rows], own, level)
        groups.append(RiskGroup(lower, upper, int(rows.sum()), share, predicted, observed))
    return tuple(groups)


def metrics_by_group(
    y_true: ArrayLike,
    log_odds: ArrayLike,
    groups: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    threshold: float = 0.5,
    called: ArrayLike | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    random_state: int = 0,
    pos_label: Any = None,
) -> tuple[GroupMetrics, ...]:
    """Judge predictions in each group of rows, as a table about fairness needs them.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    log_odds : array-like of shape (n,)
        Predicted, as ``score.log_odds(X)``.
    groups : array-like of shape (n,)
        A label for each row, such as a column "sex"; at most 100 distinct ones. Rows without one
        are a group of their own, "(missing)".
    sample_weight : array-like of shape (n,), optional
    threshold : float, default 0.5
        The risk from which on rows are called positive.
    called : array-like of bool, shape (n,), optional
        Which rows are called positive, where something else than a risk decides it.
    level : float, default 0.95
        Of the intervals.
    n_resamples : int, default 1000
        Of the bootstrap intervals of the AUC.
    random_state : int, default 0
    pos_label : optional
        As in :func:`calibration_error`.

    Returns
    -------
    tuple of GroupMetrics
        That of all rows first, then one for each label in sorted order, of rows with weight;
        those without a label come last.

    Raises
    ------
    ValueError
        As in :func:`calibration_error`; too many labels of groups; a threshold that is not between
        0 and 1.

    Notes
    -----
    Groups differ by chance, too, the more the smaller they are: compare intervals, not values.

    Examples
    --------
    >>> from riskslim.metrics import metrics_by_group
    >>> sex = ["f", "f", "f", "m", "m", "m"]
    >>> _, women, men = metrics_by_group([0, 1, 1, 0, 1, 0], [-1, 2, 1, -2, -1, 1], sex)
    >>> women.group, women.sensitivity.value, men.sensitivity.value
    ('f', 1.0, 0.0)
    """
    level = checked_level(level)
    check_resamples(n_resamples)
    least = log_odds_from(threshold)
    labels = values_of(groups, "groups")
    y_true, log_odds, sample_weight, labels = unmasked(y_true, log_odds, sample_weight, labels)
    positive, odds, weight = checked_rows(y_true, log_odds, sample_weight, pos_label, "log_odds")
    check_same_length(positive, labels)
    labels, missing = group_labels(labels)
    rows = weight > 0
    if called is None:
        decided = odds >= least
    else:
        decided = values_of(called, "called").astype(np.bool_)
        check_same_length(positive, decided)
    settings: Mapping[str, Any] = {
        "level": level,
        "n_resamples": n_resamples,
        "random_state": random_state,
    }
    found = [_of_group(None, positive, odds, weight, decided, rows, **settings)]
    own_rows = [
        (label, rows & ~missing & (labels == label))
        for label in np.unique(labels[rows & ~missing]).tolist()
    ]
    if missing[rows].any():
        own_rows.append((MISSING, rows & missing))
    for label, own in own_rows:
        found.append(_of_group(label, positive, odds, weight, decided, own, **settings))
    return tuple(found)


def log_odds_from(threshold: Any) -> float:
    """Return the log-odds from which on rows are called positive, errors of rounding allowed for.

    Parameters
    ----------
    threshold : float
        A risk.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        It is not between 0 and 1.

    Examples
    --------
    >>> from riskslim.metrics.groups import log_odds_from
    >>> round(log_odds_from(0.2), 6)
    -1.386294
    """
    if not (is_number(threshold) and 0 < threshold < 1):
        raise ValueError(f"threshold must be a risk between 0 and 1, got {threshold!r}")
    at = math.log(threshold / (1 - threshold))
    return at - _ROUNDED * max(1.0, abs(at))


def group_labels(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return labels of groups that can be sorted, and which of them are missing.

    Parameters
    ----------
    labels : ndarray of shape (n,)

    Returns
    -------
    labels : ndarray of shape (n,)
    missing : ndarray of bool, shape (n,)

    Raises
    ------
    ValueError
        There are too many.
    """
    missing = missing_among(labels)
    if labels.dtype.kind == "O":
        labels = labels.astype(str)
    if (n := len(np.unique(labels[~missing]))) > MAX_GROUPS:
        raise ValueError(f"groups has {n} distinct labels, more than {MAX_GROUPS}")
    return labels, missing


def _of_group(
    group: Any,
    positive: NDArray[np.bool_],
    odds: NDArray[np.float64],
    weight: NDArray[np.float64],
    called: NDArray[np.bool_],
    rows: NDArray[np.bool_],
    *,
    level: float,
    n_resamples: int,
    random_state: int,
) -> GroupMetrics:
    from scipy.special import expit

    positive, odds, weight, called = positive[rows], odds[rows], weight[rows], called[rows]
    risk = expit(odds)
    nothing = Interval(math.nan, math.nan, math.nan)
    area = intercept = nothing
    if positive.any() and not positive.all():
        area = bootstrap_intervals(
            positive, odds, weight, level=level, n_resamples=n_resamples, random_state=random_state
        )["auc"]
        intercept = calibration_line(positive, odds, weight, level=level).intercept
    return GroupMetrics(
        group=group,
        n=len(positive),
        n_positive=int(positive.sum()),
        observed=_share(positive, weight, level),
        predicted=float(np.average(risk, weights=weight)),
        called_positive=_share(called, weight, level),
        sensitivity=_share(called[positive], weight[positive], level),
        specificity=_share(~called[~positive], weight[~positive], level),
        ppv=_share(positive[called], weight[called], level),
        npv=_share(~positive[~called], weight[~called], level),
        auc=area,
        brier=brier_score(positive, risk, weight, pos_label=True),
        calibration_intercept=intercept,
    )


def _share(true: NDArray[np.bool_], weight: NDArray[np.float64], level: float) -> Interval:
    """A share of rows by weight with Wilson's interval."""
    if not weight.size:
        return Interval(math.nan, math.nan, math.nan)
    value = float(np.average(true, weights=weight))
    effective = float(weight.sum() ** 2 / (weight @ weight))
    lower, upper = wilson_interval(np.array([value]), np.array([effective]), level)
    return Interval(value, float(lower[0]), float(upper[0]))
