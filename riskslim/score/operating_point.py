"""The score from which on a risk score calls rows positive: chosen, applied, and in words.

A threshold is kept for sums of the fitted points; people see it as the sheet counts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import checked_number
from riskslim.operating_point import DecisionThreshold, RequiredShare, Shares
from riskslim.score.lines import shift_of
from riskslim.score.link import link_of
from riskslim.score.observations import observations_of, operating_points

if TYPE_CHECKING:
    from riskslim.metrics.bootstrap import Interval
    from riskslim.metrics.discrimination import OperatingPoint
    from riskslim.risk_score import RiskScore
    from riskslim.score.table import Observations

__all__ = [
    "called_positive",
    "margins",
    "number_text",
    "share_intervals",
    "shares_at",
    "shown_threshold",
    "threshold_text",
    "with_operating_point",
    "words_of",
]  # fmt: skip

# Between whole scores the sign changes half a point below the threshold.
_BELOW = 0.5


def shown_threshold(score: RiskScore) -> float | None:
    """The threshold of a score as its sheet counts; None where it has none.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    int, float or None
    """
    point = score.operating_point
    return None if point is None else point.threshold + shift_of(score)


def margins(score: RiskScore, sums: NDArray[Any]) -> NDArray[np.float64]:
    """By how much log-odds exceed those of the threshold: positive from it on, else negative.

    Parameters
    ----------
    score : RiskScore
        With an operating point.
    sums : ndarray of shape (n,)
        Of the fitted points.

    Returns
    -------
    ndarray of float64, shape (n,)
        Of whole scores, in excess of the log-odds half a point below the threshold.
    """
    assert score.operating_point is not None
    threshold = score.operating_point.threshold
    whole = all(values.is_integer for values in score.feature_ranges.values())
    with np.errstate(over="ignore"):
        found = (sums - (threshold - _BELOW * whole)) / link_of(score).scale
    least = np.finfo(np.float64).smallest_subnormal
    # No rounding, and no score between two whole ones, may change a sign.
    return np.where(sums >= threshold, np.maximum(found, least), np.minimum(found, -least))


def called_positive(score: RiskScore, log_odds: NDArray[np.float64]) -> NDArray[np.bool_] | None:
    """Rows that are positive by the threshold of a score; None where it has none.

    Parameters
    ----------
    score : RiskScore
    log_odds : ndarray of float64, shape (n,)
        Of the rows, as :meth:`RiskScore.log_odds` computes them.

    Returns
    -------
    ndarray of bool, shape (n,), or None
    """
    if score.operating_point is None:
        return None
    threshold = np.array([score.operating_point.threshold], np.float64)
    return np.asarray(log_odds >= link_of(score).log_odds_of_sums(threshold))


# ---- chosen --------------------------------------------------------------------------------------


def with_operating_point(
    score: RiskScore,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    *,
    sensitivity: float | None = None,
    specificity: float | None = None,
    threshold: float | None = None,
    X_test: Any = None,
    y_test: Any = None,
    sample_weight_test: Any = None,
) -> RiskScore:
    """Choose the threshold of a score, as :meth:`riskslim.RiskScore.with_operating_point` says."""
    asked = {"sensitivity": sensitivity, "specificity": specificity, "threshold": threshold}
    given = {name: value for name, value in asked.items() if value is not None}
    _check_rows(X, "X", y=y, sample_weight=sample_weight)
    _check_rows(X_test, "X_test", y_test=y_test, sample_weight_test=sample_weight_test)
    if not given and X is None:
        if X_test is None:
            return dataclasses.replace(score, operating_point=None)
        if score.operating_point is not None:
            return _tested(score, X_test, y_test, sample_weight_test)
    if len(given) != 1:
        raise TypeError(
            "with_operating_point() takes exactly one of sensitivity, specificity and threshold, "
            f"got {' and '.join(given) or 'none of them'}"
        )
    ((name, value),) = given.items()
    required = None if name == "threshold" else RequiredShare(name, value)
    if required is not None and (X is None or y is None):
        raise ValueError(f"{name} is a share of rows: pass X and y")
    training = None
    if X is None:
        chosen = checked_number(value, "threshold")
    else:
        points = operating_points(score, X, y, sample_weight)
        found = points.at(**given)
        training = _shares(found)
        chosen = found.threshold if required else checked_number(value, "threshold")
    point = DecisionThreshold(chosen - shift_of(score), training, None, required)
    score = dataclasses.replace(score, operating_point=point)
    return score if X_test is None else _tested(score, X_test, y_test, sample_weight_test)


def _check_rows(X: Any, name: str, **of_rows: Any) -> None:
    """Refuse what belongs to rows where these are missing: it would have no effect."""
    if X is None and (given := [each for each, value in of_rows.items() if value is not None]):
        raise ValueError(f"{given[0]} belongs to rows: pass {name} as well")


def _tested(score: RiskScore, X: Any, y: Any, sample_weight: Any) -> RiskScore:
    """The score with the shares of other rows at its threshold."""
    assert score.operating_point is not None
    observed = observations_of(score, X, y, sample_weight)
    test = None if observed is None else shares_at(score, observed)
    if test is None:
        raise ValueError("X_test must have rows of both classes, with a weight above zero")
    point = dataclasses.replace(score.operating_point, test=test)
    return dataclasses.replace(score, operating_point=point)


def _shares(point: OperatingPoint) -> Shares:
    return Shares(
        point.true_positives,
        point.true_positives + point.false_negatives,
        point.true_negatives,
        point.true_negatives + point.false_positives,
    )


def shares_at(score: RiskScore, observed: Observations) -> Shares | None:
    """Whom the threshold of a score finds among some rows.

    Parameters
    ----------
    score : RiskScore
    observed : Observations
        With the scores of its sheet.

    Returns
    -------
    Shares or None
        None without an operating point, or where the rows are of one class.
    """
    threshold = shown_threshold(score)
    if threshold is None:
        return None
    weights = np.ones(len(observed.scores)) if observed.weights is None else observed.weights
    called, positive = observed.scores >= threshold, observed.is_positive
    found, missed, left_out, alarms = (
        float(weights[rows].sum())
        for rows in (called & positive, ~called & positive, ~called & ~positive, called & ~positive)
    )
    if not found + missed > 0 or not left_out + alarms > 0:
        return None
    # Wholes that were added up by themselves could be less than their parts, in the last digit.
    shares = Shares(found, found + missed, left_out, left_out + alarms)
    return shares if observed.weights is not None else _as_counts(shares)


def _as_counts(shares: Shares) -> Shares:
    return Shares(*map(int, dataclasses.astuple(shares)))


# ---- in words ------------------------------------------------------------------------------------


def number_text(value: float) -> str:
    """A score as people write it."""
    return f"{value:.10g}"


def threshold_text(score: RiskScore) -> str:
    """Say from which score on rows are positive; empty where nothing says it.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    str

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.score.operating_point import threshold_text
    >>> threshold_text(RiskScore(-4, {"smoker": 3}).with_operating_point(threshold=3))
    'Score of 3 or more: positive.'
    """
    threshold = shown_threshold(score)
    return "" if threshold is None else f"Score of {number_text(threshold)} or more: positive."


def words_of(score: RiskScore) -> tuple[str, ...]:
    """Say what the threshold of a score is, whom it finds, and what is proven of that.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    tuple of str
        Empty where the score has no operating point.
    """
    return tuple(_words(score))


def _words(score: RiskScore) -> Iterator[str]:
    point = score.operating_point
    if point is None:
        return
    yield threshold_text(score)
    if point.training is not None:
        yield point.training.describe()
    rule = None if score.certificate is None else score.certificate.rule
    if rule is not None and point.is_of(rule):
        yield rule.proven()
    if point.test is not None:
        said = point.test.describe()
        yield f"Other rows: {said[0].lower()}{said[1:]}"


def share_intervals(shares: Shares, level: float = 0.95) -> dict[str, Interval]:
    """Both shares with Wilson's intervals.

    Parameters
    ----------
    shares : Shares
    level : float, default 0.95

    Returns
    -------
    dict from str to Interval
        "sensitivity" and "specificity". Weights count as numbers of rows.
    """
    from riskslim.metrics.bootstrap import Interval
    from riskslim.metrics.calibration import wilson_interval

    found = {}
    for name in ("sensitivity", "specificity"):
        value = getattr(shares, name)
        lower, upper = wilson_interval(np.array([value]), np.array([shares.total(name)]), level)
        found[name] = Interval(value, float(lower[0]), float(upper[0]))
    return found
