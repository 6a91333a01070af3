r"""Bounds on the intercept that provably hold an optimum.

Where a coefficient set leaves a bound of the intercept open, it is
derived such that for *every* feasible choice of the other coefficients an optimal integer
intercept lies within the bounds. Fix the other coefficients, let :math:`s_i` be the scores
without intercept, and let :math:`s_i^{\max} \ge s_i` be the largest score that row i can
have over the coefficient set with at most ``max_size`` non-zero coefficients. As a function
of the intercept b the loss is convex with derivative proportional to

.. math::

    \sum_i w_i \sigma(s_i + b) - W_+ \;\le\; \sum_i w_i \sigma(s_i^{\max} + b) - W_+,
    \qquad W_+ = \sum_{i: y_i = +1} w_i,

with the sigmoid :math:`\sigma`. At every b where the right-hand side is not positive the
loss still falls, or is flat, as b increases; no integer below b can then be better than b
itself. The largest such integer is the lower bound. The upper bound follows in the same
way from :math:`s_i^{\min}`, as the smallest integer b where
:math:`\sum_i w_i \sigma(s_i^{\min} + b) \ge W_+`. Both conditions are tested with a slack
that covers rounding, and extreme scores are rounded outwards to integers, so that errors can
only loosen the bounds. With a scale :math:`m \in [m^{\min}, m^{\max}]` the sigmoid is that of
:math:`(s_i^{\max} + b) / m`, which is at most that of the larger one of
:math:`(s_i^{\max} + b) / m^{\min}` and :math:`(s_i^{\max} + b) / m^{\max}`: with it the bounds
hold for every scale of the set.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.coefficients import MAX_ABSOLUTE_COEFFICIENT, CoefficientSet
from riskslim.data.store import KernelRows, RowStore
from riskslim.data.training_data import TrainingData
from riskslim.loss.ranges import (
    SUM_SLACK,
    largest_quotient,
    row_ranges,
    score_range,
    score_slack,
)
from riskslim.rows.base import StoppedError
from riskslim.scale import ScaleSet

__all__ = ["bounds_reaching", "extreme_scores", "with_intercept_bounds"]

# Bins of the distribution of row-wise extreme scores, from which intercept bounds follow.
_MAX_BINS = 2**20


def with_intercept_bounds(
    data: TrainingData,
    rows: RowStore,
    coefficients: CoefficientSet,
    max_size: int,
    n_threads: int,
    scales: ScaleSet,
    should_stop: Callable[[], bool] | None = None,
) -> CoefficientSet | None:
    """Fill in open bounds of the intercept (the proof is at the top of the module).

    None if ``should_stop``, which is asked between parts of the rows, ended that.
    """
    given_lower, given_upper = coefficients.intercept_lower, coefficients.intercept_upper
    if given_lower is not None and given_upper is not None:
        return coefficients
    weight_negative, weight_positive = data.class_weights
    found = extreme_scores(data, rows, coefficients, max_size, n_threads, should_stop)
    if found is None:
        return None
    low, weight_low, high, weight_high = found
    lower = _lowest_optimal_intercept(high, weight_high, weight_positive, scales)
    # Exchanging the classes changes the sign of scores and intercept.
    upper = -_lowest_optimal_intercept(-low, weight_low, weight_negative, scales)
    for bound in (lower, upper):
        if abs(bound) > MAX_ABSOLUTE_COEFFICIENT:
            raise ValueError(
                f"scores are so large that the intercept would need to reach {bound}; rescale "
                "the features, or give intercept_lower and intercept_upper (max_intercept of the "
                "classifier)"
            )
    # By convexity the best intercept within a given bound is the one nearest to the optimum, so
    # that a derived bound beyond a given one has nothing to cut off but that bound itself.
    if given_upper is not None:
        return coefficients.replace(intercept_lower=min(lower, given_upper))
    if given_lower is not None:
        return coefficients.replace(intercept_upper=max(upper, given_lower))
    return coefficients.replace(intercept_lower=lower, intercept_upper=upper)


def bounds_reaching(
    derived: CoefficientSet, given: CoefficientSet, least: float, most: float
) -> CoefficientSet:
    """Widen derived intercept bounds, but none that was given."""
    low, high = derived.intercept_lower, derived.intercept_upper
    assert low is not None
    assert high is not None
    if given.intercept_lower is None and least < low:
        low = _within_integers(least)
    if given.intercept_upper is None and most > high:
        high = _within_integers(most)
    return derived.replace(intercept_lower=low, intercept_upper=high)


def _within_integers(intercept: float) -> int:
    if abs(intercept) > MAX_ABSOLUTE_COEFFICIENT:
        raise ValueError(
            f"constraints could push the intercept to {intercept:g}; give intercept_lower and "
            "intercept_upper (max_intercept of the classifier), or narrower bounds of the points"
        )
    return int(intercept)


def extreme_scores(
    data: TrainingData,
    rows: RowStore,
    coefficients: CoefficientSet,
    max_size: int,
    n_threads: int,
    should_stop: Callable[[], bool] | None,
    label: int | None = None,
) -> (
    tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] | None
):
    """Weight of the rows at each value of the least and largest score, rounded outwards.

    Parameters
    ----------
    data : TrainingData
    rows : RowStore
    coefficients : CoefficientSet
    max_size : int
        Most non-zero coefficients.
    n_threads : int
    should_stop : callable, optional
        Asked between parts of the rows.
    label : int, optional
        1 or -1: of the rows with this label alone.

    Returns
    -------
    tuple of four ndarray of float64, or None
        Least scores, their weights, largest scores, their weights; the intercept is left out.
        None if ``should_stop`` ended that.
    """
    without = coefficients.replace(intercept_lower=0, intercept_upper=0)
    lowest, highest = score_range(data, without, max_size)
    bins = Bins.between(math.floor(lowest), math.ceil(highest))
    below, above = np.zeros((2, bins.number))
    try:
        for part_below, part_above in rows.map_in_threads(
            counted_extremes, coefficients, max_size, bins, label,
            n_threads=n_threads, should_stop=should_stop,
        ):  # fmt: skip
            below += part_below
            above += part_above
    except StoppedError:
        return None
    values = bins.lowest + bins.step * np.arange(bins.number, dtype=np.float64)
    use_low, use_high = below > 0, above > 0
    return values[use_low] - bins.step, below[use_low], values[use_high], above[use_high]


class Bins(NamedTuple):
    """Scores lowest, lowest + step, ..."""

    lowest: int
    step: int
    number: int

    @classmethod
    def between(cls, lowest: int, highest: int) -> Bins:
        """Bins for extreme scores of rows, not too many of them."""
        step = max(1, math.ceil((highest - lowest) / _MAX_BINS))
        return cls(lowest, step, (highest - lowest) // step + 3)


def counted_extremes(
    rows: KernelRows,
    coefficients: CoefficientSet,
    max_size: int,
    bins: Bins,
    label: int | None,
    n_threads: int,
    should_stop: Callable[[], bool] | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight of the rows at each value of the least and largest score, rounded outwards.

    Parameters
    ----------
    rows : KernelRows
    coefficients, max_size, label, n_threads, should_stop
        As in :func:`extreme_scores`.
    bins : Bins

    Returns
    -------
    below, above : ndarray of float64
        Bin k of ``below`` stands for lowest + (k - 1) step, of ``above`` for lowest + k step.
    """
    below, above = np.zeros((2, bins.number))
    for chunk, low, high in row_ranges(rows, coefficients, max_size, n_threads):
        if should_stop is not None and should_stop():
            raise StoppedError("intercept bounds were stopped")
        slack = score_slack(rows, low, high)
        weights = rows.weights[chunk] if len(rows.weights) else None
        if label is not None:
            of_label = ((rows.labels[chunk] > 0) == (label > 0)).astype(np.float64)
            weights = of_label if weights is None else weights * of_label
        k_low = np.floor((low - slack - bins.lowest) / bins.step).astype(np.intp) + 1
        k_high = np.ceil((high + slack - bins.lowest) / bins.step).astype(np.intp)
        below += np.bincount(k_low, weights, minlength=bins.number)
        above += np.bincount(k_high, weights, minlength=bins.number)
    return below, above


def _lowest_optimal_intercept(
    scores: NDArray[np.float64], weights: NDArray[np.float64], positive: float, scales: ScaleSet
) -> int:
    """Largest integer b with sum(weights * sigmoid((scores + b) / m)) <= positive, less a slack.

    The sigmoid is at most that of the scale m with the largest quotient.
    """

    def falls(b: int) -> bool:
        z = largest_quotient(scores + b, scales)
        e = np.exp(-np.abs(z))
        sigmoid = np.where(z < 0, e, 1.0) / (1.0 + e)
        return float(weights @ sigmoid) * (1.0 + SUM_SLACK) <= positive

    total = float(weights.sum())
    negative = max(total - positive, total * 1e-15)  # only brackets the answer
    # sigmoid(z) <= exp(z) and 1 - sigmoid(z) <= exp(-z) bracket the answer.
    widest = scales.high
    inside = math.floor(-float(scores.max()) + widest * math.log(positive / total)) - 1
    outside = math.ceil(-float(scores.min()) - widest * math.log(negative / total)) + 1
    while outside - inside > 1:
        middle = (inside + outside) // 2
        if falls(middle):
            inside = middle
        else:
            outside = middle
    return inside
