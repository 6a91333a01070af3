"""Rows with labels, scored: what is observed beside risks."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim.data.weights import checked_weights
from riskslim.score.link import link_of
from riskslim.score.rows import are_whole, is_positive
from riskslim.score.table import Observations, logistic

if TYPE_CHECKING:
    from riskslim.metrics.discrimination import OperatingPoints
    from riskslim.risk_score import RiskScore

__all__ = ["class_labels", "observations_of", "operating_points"]


def class_labels(classes: tuple[Any, Any]) -> NDArray[Any]:
    """Both labels as an array whose elements are what predictions consist of.

    Parameters
    ----------
    classes : (negative label, positive label)

    Returns
    -------
    ndarray of shape (2,)
        Of dtype object where the labels are of two types, so that neither becomes text.
    """
    kinds = {type(label) for label in classes}
    return np.array(classes, dtype=None if len(kinds) == 1 else object)


def observations_of(score: RiskScore, X: Any, y: Any, sample_weight: Any) -> Observations | None:
    """Check rows and labels, and compute the scores.

    Parameters
    ----------
    score : RiskScore
    X, y, sample_weight
        As in :meth:`RiskScore.risk_table`.

    Returns
    -------
    Observations or None
        Of rows of positive weight: others do not count. None if nothing is given.

    Raises
    ------
    TypeError, ValueError
        As in :meth:`RiskScore.risk_table`.
    """
    if X is None and y is None and sample_weight is None:
        return None
    if X is None or y is None:
        missing = "X" if X is None else "y"
        raise ValueError(
            f"{missing} is None, but rows and labels are needed for observed risks: pass X "
            "and y, or neither of them and no sample_weight."
        )
    scores = score.score_samples(X)
    if not len(scores):
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    positive = is_positive(y, score.classes, len(scores))
    if sample_weight is None:
        return Observations(scores, positive)
    weights = checked_weights(sample_weight, len(scores))
    counted = weights > 0
    if not counted.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    scores = scores[counted]
    if scores.dtype.kind == "f" and are_whole(scores):  # others were not
        scores = scores.astype(np.int64)
    return Observations(scores, positive[counted], weights[counted])


def operating_points(
    score: RiskScore, X: Any, y: Any, sample_weight: Any = None
) -> OperatingPoints:
    """List what happens at each threshold, as :meth:`riskslim.RiskScore.operating_points` says."""
    from riskslim.metrics import discrimination

    observed = observations_of(score, X, y, sample_weight)
    if observed is None:
        raise ValueError("X and y are None, but rows and labels are needed")
    points = discrimination.operating_points(
        observed.is_positive, observed.scores, observed.weights
    )
    scores = np.where(np.isinf(points.thresholds), np.nan, points.thresholds)
    return dataclasses.replace(points, risk=logistic(link_of(score).log_odds(scores)))
