"""The link from scores to risks: the numbers of a risk score, or of its recalibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riskslim.score.table import RiskScale

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["link_of", "prevalence_of"]


def link_of(score: RiskScore) -> RiskScale:
    """Return what turns scores into risks, recalibrated where the score is.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    RiskScale
    """
    if score.recalibration is not None:
        return RiskScale(score.recalibration.intercept, score.recalibration.scale)
    return RiskScale(score.intercept, score.scale)


def prevalence_of(score: RiskScore) -> float | None:
    """Share of rows with the outcome that a score's risks are for, None if it is not known."""
    if score.recalibration is not None:
        return score.recalibration.prevalence
    if score.prevalence is None and score.class_weighting is not None:
        return score.class_weighting.weighted_prevalence
    return score.prevalence
