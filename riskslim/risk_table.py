r"""The risk of a score, and the scores that a table of risks lists.

A score s has the risk :math:`1 / (1 + \exp(-(\lambda_0 + s) / m))`, with the intercept
:math:`\lambda_0` and the scale m. Predictions and tables take it from here, so that they agree.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.feature_ranges import FeatureRange

__all__ = ["AttainableScores", "RiskRow", "log_odds", "logistic", "risk_rows"]

# Attainable scores are enumerated as a bit set of at most this length.
_MAX_SPAN = 2**20
# Columns of a risk table whose scores are chosen, not enumerated.
_MAX_COLUMNS = 20

# Risks beyond these are printed as bounds.
_LOWEST_RISK, _HIGHEST_RISK = 0.001, 0.999
_BELOW, _ABOVE = "<0.1%", ">99.9%"


class RiskRow(NamedTuple):
    """One entry of a risk table.

    Attributes
    ----------
    score : str
        The score as printed: one number, or "<= -4" and ">= 9" at the ends.
    risk : str
        The risk as printed, for example "11.9%", "<0.1%" or ">99.9%".
    lowest, highest : float
        The scores that the entry is for, -inf and inf at open ends.
    """

    score: str
    risk: str
    lowest: float
    highest: float


def log_odds(scores: NDArray[np.float64], intercept: int, scale: float) -> NDArray[np.float64]:
    """Log-odds of scores.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
    intercept : int
    scale : float

    Returns
    -------
    ndarray of float64, shape (n,)
    """
    # Beyond float64 the risk is 0 or 1. Division by a scale of 1 changes no bit.
    with np.errstate(over="ignore"):
        return np.asarray((intercept + scores) / scale)


def logistic(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute 1 / (1 + exp(-z)) without overflow, accurate in both tails.

    Parameters
    ----------
    log_odds : ndarray of float64, shape (n,)

    Returns
    -------
    ndarray of float64, shape (n,)
    """
    small = np.exp(-np.abs(log_odds))
    return np.asarray(np.where(log_odds >= 0, 1.0, small) / (1.0 + small))


@dataclasses.dataclass(frozen=True)
class AttainableScores:
    """The scores that the values of the features in the training data allow.

    Parameters
    ----------
    points : mapping from str to int
    feature_ranges : mapping from str to FeatureRange
        One for each feature with points.
    """

    points: Mapping[str, int]
    feature_ranges: Mapping[str, FeatureRange]

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest score."""
        low = high = 0.0
        for name, points in self.points.items():
            values = self.feature_ranges[name]
            ends = sorted((points * values.minimum, points * values.maximum))
            low, high = low + ends[0], high + ends[1]
        return low, high

    @property
    def are_integers(self) -> bool:
        """Whether all scores are integers."""
        return all(values.is_integer for values in self.feature_ranges.values())

    def enumerated(self) -> NDArray[np.int64] | None:
        """All sums of points times a value; None if they are not enumerated.

        Bit k of a Python integer stands for the k-th integer from the smallest sum on; a feature
        shifts the set by each of its contributions.
        """
        low, high = self.ends
        if not high - low <= _MAX_SPAN:
            return None
        reached = 1
        for name, points in self.points.items():
            values = self.feature_ranges[name].values
            if values is None:
                return None
            contributions = [points * value for value in values]
            first = min(contributions)
            shifted = 0
            for contribution in contributions:
                shifted |= reached << (contribution - first)
            reached = shifted
        octets = np.frombuffer(
            reached.to_bytes(reached.bit_length() // 8 + 1, "little"), dtype=np.uint8
        )
        return np.flatnonzero(np.unpackbits(octets, bitorder="little")) + int(low)

    def grid(self, intercept: int, scale: float) -> list[str]:
        """Scores at equal steps over the range in which the risk is neither 0 nor 1."""
        low, high = self.ends
        margin = scale * math.log(_HIGHEST_RISK / _LOWEST_RISK)
        # The whole range may lie where the risk is below 0.1% or above 99.9%.
        start = min(max(low, -intercept - margin), high)
        end = max(min(high, -intercept + margin), low)
        step = _nice_step((end - start) / (_MAX_COLUMNS - 4))
        if self.are_integers:
            step = max(step, Decimal(1))
        # One step beyond where the risk gets extreme: the entry for all that lies further out.
        first = math.floor(start / float(step)) if start > low else math.ceil(start / float(step))
        last = math.ceil(end / float(step)) if end < high else math.floor(end / float(step))
        if last < first:  # less than a step wide
            first = last = round(start / float(step))
        return [f"{k * step:f}" for k in range(first, last + 1)]


def risk_rows(scores: AttainableScores, intercept: int, scale: float) -> tuple[RiskRow, ...]:
    """List the risks of scores.

    Parameters
    ----------
    scores : AttainableScores
    intercept : int
    scale : float

    Returns
    -------
    tuple of RiskRow
        In order of the score.
    """
    totals = scores.enumerated()
    labels = scores.grid(intercept, scale) if totals is None else [str(k) for k in totals.tolist()]
    values = np.array([float(label) for label in labels])
    risks = [_percent(risk) for risk in logistic(log_odds(values, intercept, scale)).tolist()]
    return _grouped(labels, risks, open_ended=totals is None)


def _percent(risk: float) -> str:
    if risk < _LOWEST_RISK:
        return _BELOW
    if risk > _HIGHEST_RISK:
        return _ABOVE
    return f"{risk:.1%}"


def _grouped(labels: list[str], risks: list[str], *, open_ended: bool) -> tuple[RiskRow, ...]:
    """One entry per score, but one for all with a risk below 0.1%, and one for all above 99.9%.

    With ``open_ended`` the outermost scores stand for everything beyond them.
    """
    n_below, n_above = risks.count(_BELOW), risks.count(_ABOVE)
    least = 1 if open_ended else 2
    rows = []
    start, end = 0, len(labels)
    if n_below >= least:
        start = n_below
        label = labels[start - 1]
        rows.append(RiskRow(f"<= {label}", _BELOW, -math.inf, float(label)))
    if n_above >= least:
        end -= n_above
    rows += [
        RiskRow(labels[k], risks[k], float(labels[k]), float(labels[k])) for k in range(start, end)
    ]
    if n_above >= least:
        rows.append(RiskRow(f">= {labels[end]}", _ABOVE, float(labels[end]), math.inf))
    return tuple(rows)


def _nice_step(least: float) -> Decimal:
    """Smallest of 1, 2, 5, 10, 20, ... times a power of ten that is at least this."""
    if not least > 0:
        return Decimal(1)
    power = Decimal(10) ** math.floor(math.log10(least))
    # Without trailing zeros, because they would be printed.
    return next(step for k in (1, 2, 5, 10, 20) if (step := k * power) >= least).normalize()
