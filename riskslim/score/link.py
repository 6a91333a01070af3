"""The link from scores to risks: the numbers of a risk score, or of its recalibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riskslim.score.lines import shift_of
from riskslim.score.table import RiskScale

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["link_of", "original_link_of", "prevalence_of"]


def link_of(score: RiskScore) -> RiskScale:
    """Return what turns scores into risks, recalibrated where the score is.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    RiskScale
    """
    if score.recalibration is None:
        return original_link_of(score)
    return RiskScale(score.recalibration.intercept, score.recalibration.scale, shift_of(score))


def original_link_of(score: RiskScore) -> RiskScale:
    """Return what turned scores into risks before a recalibration."""
    return RiskScale(score.intercept, score.scale, shift_of(score))


def prevalence_of(score: RiskScore) -> float | None:
    """Share of rows with the outcome that a score's risks are for, None if it is not known."""
    if score.recalibration is not None:
        return score.recalibration.prevalence
    if score.prevalence is None and score.class_weighting is not None:
        return score.class_weighting.weighted_prevalence
    return score.prevalence
