"""Remarks on scores that meet constraints on rates in a way that makes them useless."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim.constraints.rates import RateConstraint
from riskslim.data.class_weights import share
from riskslim.score.recalibration import to_mean_risk
from riskslim.score.table import RiskScale, logistic

if TYPE_CHECKING:
    from riskslim.constraints.base import Constraint
    from riskslim.data.training_data import TrainingData

__all__ = ["remarks_on_rates"]

# By what the odds of the mean risk may differ from those of the prevalence before it is said.
_LARGE_CHANGE_OF_ODDS = 1.5
# Rows that are as good as all, and cases that are as good as none.
_NEARLY_ALL, _NEARLY_NONE = 0.95, 0.05


def remarks_on_rates(
    constraints: Sequence[Constraint], data: TrainingData, vector: NDArray[np.int64], scale: float
) -> Iterator[str]:
    """Name what constraints on rates do to the risks, and those that are met without a score.

    Parameters
    ----------
    constraints : sequence of Constraint
    data : TrainingData
    vector : ndarray of int64, shape (d + 1,)
        Intercept first.
    scale : float

    Yields
    ------
    str
    """
    limits = [one for one in constraints if isinstance(one, RateConstraint)]
    if not limits:
        return
    scores = np.zeros(data.n_rows)
    for j in np.flatnonzero(vector[1:]).tolist():
        scores += vector[1 + j] * data.column(j)
    weights = np.ones(data.n_rows) if data.sample_weight is None else data.sample_weight
    rows = _Rows(scores, data.labels > 0, weights / weights.sum())
    if remark := _inflated(limits, rows, int(vector[0]), scale):
        yield remark
    for limit in limits:
        if remark := _met_by_all(limit, rows, RiskScale(int(vector[0]), scale)):
            yield remark


class _Rows:
    """Scores of rows, labels, and weights of sum 1."""

    def __init__(
        self,
        scores: NDArray[np.float64],
        positive: NDArray[np.bool_],
        weights: NDArray[np.float64],
    ) -> None:
        self.scores, self.positive, self.weights = scores, positive, weights
        self.prevalence = float(weights.sum(where=positive))

    def mean_risk(self, intercept: int, scale: float) -> float:
        return float(np.sum(self.weights * logistic((intercept + self.scores) / scale)))

    def loss(self, intercept: int, scale: float) -> float:
        margins = np.where(self.positive, -1.0, 1.0) * (intercept + self.scores) / scale
        return float(np.sum(self.weights * np.logaddexp(0.0, margins)))

    def best_intercept(self, scale: float) -> int:
        """The whole number of least loss: beside the real one, for the loss is convex."""
        exact = to_mean_risk(RiskScale(0, scale), self.scores, self.weights, self.prevalence)
        around = (math.floor(exact), math.ceil(exact))
        return min(around, key=lambda one: self.loss(one, scale))


def _inflated(limits: Sequence[RateConstraint], rows: _Rows, intercept: int, scale: float) -> str:
    """Say that risks are wrong on average, and what they would be without the constraints."""
    if not 0 < rows.prevalence < 1:
        return ""
    mean, loss = rows.mean_risk(intercept, scale), rows.loss(intercept, scale)
    of_prevalence = -sum(p * math.log(p) for p in (rows.prevalence, 1 - rows.prevalence))
    odds = [p / (1 - p) if p < 1 else math.inf for p in (mean, rows.prevalence)]
    change = math.inf if not odds[0] else max(odds[0] / odds[1], odds[1] / odds[0])
    best = rows.best_intercept(scale)
    is_worse = loss >= of_prevalence and best != intercept
    if not is_worse and (change < _LARGE_CHANGE_OF_ODDS or best == intercept):
        return ""
    named = "constraint on rates makes" if len(limits) == 1 else "constraints on rates make"
    worse = ""
    if is_worse:
        worse = (
            f", which is no better than {of_prevalence:.4g}, that of the prevalence for all rows"
        )
    return (
        f"The {named} risks wrong: the mean predicted risk is {share(mean)}, where "
        f"{share(rows.prevalence)} of the rows have the outcome, and the loss {loss:.4g}{worse}. "
        f"Without, the same points with the intercept {best} have a mean risk of "
        f"{share(rows.mean_risk(best, scale))} and a loss of {rows.loss(best, scale):.4g}. Choose "
        "the threshold by what a miss and a false alarm cost, or leave the constraint out and "
        "choose a threshold on the score afterwards (operating_points)."
    )


def _met_by_all(limit: RateConstraint, rows: _Rows, link: RiskScale) -> str:
    """Say that (nearly) all rows are predicted alike."""
    called = float(rows.weights.sum(where=limit.threshold.reached_by(link, rows.scores)))
    if called >= _NEARLY_ALL and rows.prevalence < _NEARLY_ALL:
        how, text = "positive", share(called)
    elif called <= _NEARLY_NONE * rows.prevalence:
        how, text = "negative", share(1 - called)
    else:
        return ""
    text = "all" if called in (0.0, 1.0) or text in ("1e+02%", "100%", "100.0%") else text
    return (
        f"The constraint ({limit.label}) is met by predicting {text} of the rows {how}, which "
        f"takes no score: with this threshold it says little. {share(rows.prevalence)} of the rows "
        "have the outcome; choose a threshold that rows lie on both sides of, by what a miss and a "
        "false alarm cost."
    )
