r"""Risks for rows of another kind than the training rows, with the points as they are.

A score s has the risk :math:`1 / (1 + \exp(-(\lambda_0 + s) / m))` with an integer
:math:`\lambda_0`, so that the odds of all rows move in steps of :math:`\exp(1 / m)`.
:class:`Recalibration` holds real numbers for :math:`\lambda_0` and m, which take their place
wherever risks are computed or printed; what people add up stays the same.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import checked_integer, checked_number
from riskslim.data.class_weights import share
from riskslim.data.weights import checked_weights
from riskslim.scale import checked_scale
from riskslim.score.link import link_of, prevalence_of
from riskslim.score.observations import observations_of
from riskslim.score.table import RiskScale, logistic

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore
    from riskslim.score.table import Observations

__all__ = [
    "Recalibration",
    "checked_prevalence",
    "moved_to",
    "recalibrated",
    "to_mean_risk",
    "to_observations",
]

_MAX_INTERCEPT = 1e9
# Fewer rows of a class leave the share of the class, and so the level of all risks, uncertain.
_FEW_OF_A_CLASS = 100
_MOST_STEPS = 100


@dataclasses.dataclass(frozen=True)
class Recalibration:
    r"""Real numbers in place of a score's intercept and scale.

    Parameters
    ----------
    intercept : float
        :math:`\lambda_0` in points: the risk of a score s is
        :math:`1 / (1 + \exp(-(\lambda_0 + s) / m))`.
    scale : float
        m.
    prevalence : float
        Share of the rows with the outcome that the risks are for.
    n_samples : int, optional
        Rows that it was estimated from; None where the prevalence was given without rows.
    n_positive : int, optional
        How many of them have the outcome; None where the prevalence was given.

    Raises
    ------
    TypeError, ValueError
        Numbers out of range.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> score = RiskScore(-2, {"smoker": 2}).recalibrated(prevalence=0.1, from_prevalence=0.2)
    >>> round(score.recalibration.intercept, 4), score.recalibration.scale
    (-2.8109, 1.0)
    """

    intercept: float
    scale: float
    prevalence: float
    n_samples: int | None = None
    n_positive: int | None = None

    def __post_init__(self) -> None:
        intercept = checked_number(self.intercept, "intercept of the recalibration")
        if not abs(intercept) <= _MAX_INTERCEPT:
            raise ValueError(
                f"intercept of the recalibration must be between +-{_MAX_INTERCEPT:g}, got "
                f"{intercept!r}"
            )
        n_samples = self.n_samples
        if n_samples is not None:
            n_samples = checked_integer(n_samples, "n_samples of the recalibration")
            if n_samples < 1:
                raise ValueError(
                    f"n_samples of the recalibration must be positive, got {n_samples}"
                )
        if self.n_positive is not None:
            n_positive = checked_integer(self.n_positive, "n_positive of the recalibration")
            if n_samples is None or not 0 < n_positive < n_samples:
                raise ValueError(
                    "n_positive of the recalibration must be between 0 and n_samples, both "
                    f"excluded, got {n_positive} of {n_samples}"
                )
        values = {
            "intercept": intercept,
            "scale": checked_scale(self.scale),
            "prevalence": checked_prevalence(self.prevalence, "prevalence of the recalibration"),
            "n_samples": n_samples,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def describe(self, outcome: str, scale: float) -> str:
        """Say in words what was changed, and for which rows.

        The numbers that are replaced are left out: beside those that risks are computed with, they
        would leave it open which ones count.

        Parameters
        ----------
        outcome : str
            What the risk is of: "died = yes".
        scale : float
            That of the score before.

        Returns
        -------
        str
        """
        source = "rows" if self.n_samples is None else f"{self.n_samples} rows"
        known = share(self.prevalence)
        few = self._few()
        if few:
            known += f" (95% interval {few})"
        new = "a new intercept" if self.scale == scale else "a new intercept and a new scale"
        return (
            f"Recalibrated to {source} of which {known} have {outcome}: the risks "
            f"are new, by {new}, the points are as they were."
        )

    def _few(self) -> str:
        """The interval of the prevalence, where few rows of a class say what it is."""
        n_samples, n_positive = self.n_samples, self.n_positive
        if n_samples is None or n_positive is None:
            return ""
        if min(n_positive, n_samples - n_positive) >= _FEW_OF_A_CLASS:
            return ""
        from riskslim.metrics.calibration import wilson_interval

        low, high = wilson_interval(np.array([self.prevalence]), np.array([float(n_samples)]), 0.95)
        return f"{share(float(low[0]))} to {share(float(high[0]))}"

    def note_on_certificate(self) -> str:
        """Say what a certificate is not about.

        Returns
        -------
        str
        """
        return (
            "What is proven is about the points, with the risks that they had on the training data "
            "before the recalibration. Nothing is proven about the recalibrated risks."
        )


def checked_prevalence(value: Any, what: str) -> float:
    """A share between 0 and 1, both excluded."""
    checked = checked_number(value, what)
    if not 0 < checked < 1:
        raise ValueError(f"{what} must be between 0 and 1, both excluded, got {value!r}")
    return float(checked)


def moved_to(link: RiskScale, prevalence: float, from_prevalence: float) -> Recalibration:
    """Multiply the odds of all scores by the ratio of the odds of two prevalences."""
    moved = link.scale * (_logit(prevalence) - _logit(from_prevalence))
    return Recalibration(link.intercept + moved, link.scale, prevalence)


def to_mean_risk(
    link: RiskScale, scores: NDArray[Any], weights: NDArray[np.float64] | None, mean: float
) -> float:
    """Find the intercept with which rows have a mean risk, the scale as it is.

    Parameters
    ----------
    link : RiskScale
    scores : ndarray of shape (n,)
    weights : ndarray of float64, shape (n,), or None
    mean : float
        Between 0 and 1, both excluded.

    Returns
    -------
    float
    """
    from scipy.optimize import brentq

    distinct, place = np.unique(scores.astype(np.float64), return_inverse=True)
    weight = np.bincount(place, weights, len(distinct)).astype(np.float64)
    weight /= weight.sum()
    z = distinct / link.scale
    z = z[weight > 0]
    weight = weight[weight > 0]

    def excess(shift: float) -> float:
        # Differences of risks, or of their complements, whichever are small.
        if mean <= 0.5:
            return float(np.sum(weight * logistic(z + shift)) - mean)
        return float((1 - mean) - np.sum(weight * logistic(-(z + shift))))

    # At the ends all rows have at most, or at least, the risk that is asked for.
    low, high = _logit(mean) - float(z.max()), _logit(mean) - float(z.min())
    if excess(low) >= 0 or low == high:
        return link.scale * low
    if excess(high) <= 0:
        return link.scale * high
    return link.scale * float(brentq(excess, low, high, xtol=1e-13, rtol=1e-14))


def to_observations(link: RiskScale, observed: Observations, *, with_scale: bool) -> Recalibration:
    r"""Fit the intercept, and the scale if it is asked for, to rows with labels.

    Parameters
    ----------
    link : RiskScale
    observed : Observations
        Rows of weight 0 do not count.
    with_scale : bool

    Returns
    -------
    Recalibration
        Of greatest likelihood: the mean risk is then the share of rows with the outcome.

    Raises
    ------
    ValueError
        The rows have one class only; or, for the scale: they have one score, scores tell the
        classes apart without error, or higher scores have lower risks.
    """
    weights = np.ones(len(observed.scores)) if observed.weights is None else observed.weights
    rows = weights > 0
    scores, positive = observed.scores[rows].astype(np.float64), observed.is_positive[rows]
    # Only weights among each other count.
    weights = weights[rows] / weights.max()
    if positive.all() or not positive.any():
        raise ValueError(
            f"all {len(scores)} rows (with a weight above zero) have the same outcome, so that no "
            "intercept is the best one: give rows of both classes, or prevalence="
        )
    prevalence = float(np.sum(weights[positive]) / np.sum(weights))
    if not with_scale:
        intercept, scale = to_mean_risk(link, scores, weights, prevalence), link.scale
    else:
        intercept, scale = _line_of(scores, positive, weights)
    n_positive = int(np.count_nonzero(positive))
    return Recalibration(intercept, scale, prevalence, len(scores), n_positive)


def _line_of(
    scores: NDArray[np.float64], positive: NDArray[np.bool_], weights: NDArray[np.float64]
) -> tuple[float, float]:
    """Intercept and scale of greatest likelihood, by Newton's method on scores of spread 1."""
    low, high = float(scores.min()), float(scores.max())
    if low == high:
        raise ValueError(
            f"all {len(scores)} rows have the score {low:g}: they say nothing of the scale; fit "
            "the intercept alone"
        )
    of_positive, of_negative = scores[positive], scores[~positive]
    if of_positive.min() >= of_negative.max() or of_positive.max() <= of_negative.min():
        raise ValueError(
            "the scores of the rows tell the two classes apart without error, so that no scale is "
            "the best one: give more rows, or fit the intercept alone"
        )
    distinct, place = np.unique(scores, return_inverse=True)
    total = np.bincount(place, weights)
    hits = np.bincount(place, weights * positive)
    total, hits = total / total.sum(), hits / total.sum()
    middle = float(np.sum(total * distinct))
    spread = math.sqrt(float(np.sum(total * (distinct - middle) ** 2)))
    z = (distinct - middle) / spread

    def loss(line: NDArray[np.float64]) -> float:
        log_odds = line[0] + line[1] * z
        misses = total - hits
        return float(np.sum(hits * np.logaddexp(0, -log_odds) + misses * np.logaddexp(0, log_odds)))

    line = np.array([_logit(float(hits.sum())), 0.0])
    value = loss(line)
    for _ in range(_MOST_STEPS):
        risk = logistic(line[0] + line[1] * z)
        excess, curvature = total * risk - hits, total * risk * (1 - risk)
        gradient = np.array([excess.sum(), np.sum(excess * z)])
        a, b, c = (float(np.sum(curvature * z**power)) for power in (0, 1, 2))
        step = np.array([c * gradient[0] - b * gradient[1], a * gradient[1] - b * gradient[0]])
        step /= max(a * c - b * b, 1e-300)
        size = 1.0
        while (new := loss(line - size * step)) > value and size > 1e-10:
            size /= 2
        line, value = line - size * step, min(new, value)
        if np.abs(size * step).max() <= 1e-12 * max(1.0, float(np.abs(line).max())):
            break
    slope = float(line[1]) / spread
    if slope <= 0:
        raise ValueError(
            "in these rows a higher score goes with a lower risk: the score is of no use for them"
        )
    return float(line[0]) / slope - middle, 1.0 / slope


def _logit(share_: float) -> float:
    return math.log(share_) - math.log1p(-share_)


# ---- of a score ----------------------------------------------------------------------------------


def recalibrated(
    score: RiskScore,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    *,
    prevalence: float | None = None,
    from_prevalence: float | None = None,
    with_scale: bool = False,
) -> RiskScore:
    """Fit the risks to rows of another kind, as :meth:`riskslim.RiskScore.recalibrated` says."""
    if prevalence is not None:
        prevalence = checked_prevalence(prevalence, "prevalence")
    if (y is None) == (prevalence is None):
        raise ValueError(
            "give the labels of the rows (X and y), or a prevalence with or without X, "
            f"{'not both' if y is not None else 'got neither'}"
        )
    if from_prevalence is not None and (prevalence is None or X is not None):
        raise ValueError("from_prevalence belongs to a prevalence without rows")
    if with_scale and y is None:
        raise ValueError("with_scale needs rows with labels: X and y")
    # Real numbers take the place of the intercept, which is for the fitted points.
    fitted = score.with_layout(points="fitted")
    link = link_of(fitted)
    if X is None and prevalence is not None:
        if sample_weight is not None:
            raise ValueError("sample_weight needs rows: X")
        found = moved_to(link, prevalence, _known(score, from_prevalence))
    elif prevalence is None:
        observed = observations_of(fitted, X, y, sample_weight)
        assert observed is not None  # y is given
        found = to_observations(link, observed, with_scale=with_scale)
    else:
        found = _to_rows(fitted, X, sample_weight, prevalence)
    return dataclasses.replace(score, recalibration=found)


def _to_rows(score: RiskScore, X: Any, sample_weight: Any, prevalence: float) -> Recalibration:
    """The intercept with which the mean risk of rows is a prevalence."""
    link, scores = link_of(score), score.score_samples(X)
    weights = None if sample_weight is None else checked_weights(sample_weight, len(scores))
    if not len(scores) or (weights is not None and not weights.any()):
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    intercept = to_mean_risk(link, scores, weights, prevalence)
    n_samples = len(scores) if weights is None else int(np.count_nonzero(weights))
    return Recalibration(intercept, link.scale, prevalence, n_samples)


def _known(score: RiskScore, from_prevalence: float | None) -> float:
    """Share of rows with the outcome that the risks are for."""
    if from_prevalence is not None:
        return checked_prevalence(from_prevalence, "from_prevalence")
    known = prevalence_of(score)
    if known is None:
        raise ValueError(
            "the score does not know which share of its training rows had the outcome: give it "
            "as from_prevalence, or give rows (X)"
        )
    return known
