"""What turns scores into risks: the numbers of a risk score, or those of its recalibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riskslim.score.table import RiskScale

if TYPE_CHECKING:
    from riskslim.score.protocol import ScoreLike

__all__ = ["link_of", "prevalence_of"]


def link_of(score: ScoreLike) -> RiskScale:
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


def prevalence_of(score: ScoreLike) -> float | None:
    """Share of rows with the outcome that a score's risks are for, None if it is not known."""
    if score.recalibration is not None:
        return score.recalibration.prevalence
    if score.prevalence is None and score.class_weighting is not None:
        return score.class_weighting.weighted_prevalence
    return score.prevalence
