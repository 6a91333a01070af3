"""The link from scores to risks: the numbers of a risk score, or of its recalibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from riskslim.score.table import RiskScale

if TYPE_CHECKING:
    from riskslim.data.class_weights import ClassWeighting
    from riskslim.score.recalibration import Recalibration

__all__ = ["link_of", "prevalence_of"]


class _Linked(Protocol):
    """The fields of a risk score that its risks depend on."""

    @property
    def intercept(self) -> int:
        """Of the log-odds, in points."""

    @property
    def scale(self) -> float:
        """Points per unit of log-odds."""

    @property
    def prevalence(self) -> float | None:
        """Share of the training rows with the positive label."""

    @property
    def class_weighting(self) -> ClassWeighting | None:
        """Return what weights of classes made of the prevalence."""

    @property
    def recalibration(self) -> Recalibration | None:
        """Return what takes the place of intercept and scale."""


def link_of(score: _Linked) -> RiskScale:
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


def prevalence_of(score: _Linked) -> float | None:
    """Share of rows with the outcome that a score's risks are for, None if it is not known."""
    if score.recalibration is not None:
        return score.recalibration.prevalence
    if score.prevalence is None and score.class_weighting is not None:
        return score.class_weighting.weighted_prevalence
    return score.prevalence
