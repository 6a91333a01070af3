"""The best intercept and scale of points that are given, from the scores of a few cells."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.scale import ScaleSet

__all__ = ["Fitted", "best_intercepts"]

_Array = NDArray[np.float64]

# Steps of a golden section: from 20 / 0.5 to a part of 1e-9, at which losses agree to 1e-16.
GOLDEN_STEPS = 44
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


class Fitted(NamedTuple):
    """Intercepts of several vectors of points, and the loss and ridge penalty with them.

    Attributes
    ----------
    intercepts : int64 array of shape (n,)
    values : float64 array of shape (n,)
        Infinite where no intercept is allowed.
    """

    intercepts: NDArray[np.int64]
    values: _Array


def best_intercepts(
    scores: _Array,
    weights: _Array,
    scales: ScaleSet,
    squares: _Array,
    low: _Array,
    high: _Array,
) -> Fitted:
    """Fit the intercept of each of several vectors of points, and their scale.

    Parameters
    ----------
    scores : float64 array of shape (n, c)
        Of each vector on each cell, the intercept left out.
    weights : float64 array of shape (2, c)
        Of the negative and of the positive class; they add up to one.
    scales : ScaleSet
    squares : float64 array of shape (n,)
        Ridge penalty of each vector at the scale 1.
    low, high : float64 arrays of shape (n,)
        Ends of the intercept, infinite where there are none.

    Returns
    -------
    Fitted
        With the loss and the ridge penalty at the best scale. Whole intercepts: the loss of points
        t times (score + intercept) is convex in (t, t * intercept), so that its least value over t
        falls and then rises with the intercept.
    """
    # The least over single scales need not fall and rise: one after the other.
    first, *others = (
        _best_at(scores, weights, part, squares, low, high) for part in scales.parts()
    )
    for other in others:
        is_better = other.values < first.values
        first = Fitted(
            np.where(is_better, other.intercepts, first.intercepts),
            np.where(is_better, other.values, first.values),
        )
    return first


def _best_at(
    scores: _Array, weights: _Array, scales: ScaleSet, squares: _Array, low: _Array, high: _Array
) -> Fitted:
    """The same for one scale, or an interval."""
    total = np.maximum(weights.sum(axis=1), 1e-300)
    balance = math.log(total[1] / total[0])
    reach = [balance * m for m in (scales.low, scales.high)]
    # With larger intercepts all risks are above the prevalence, with smaller ones below.
    least = np.ceil(np.maximum(low, np.floor(min(reach) - scores.max(axis=1)) - 1.0))
    most = np.floor(np.minimum(high, np.ceil(max(reach) - scores.min(axis=1)) + 1.0))
    # Ends that are given may lie beyond: the nearest one is the best one then.
    is_beyond = least > most
    least = np.where(is_beyond & (least > high), np.floor(high), least)
    most = np.where(is_beyond & (most < low), np.ceil(low), most)
    is_allowed = np.ceil(low) <= np.floor(high)
    least, most = np.minimum(least, most), np.maximum(least, most)
    low_at, high_at = least.copy(), most.copy()
    while (low_at < high_at).any():
        middle = np.floor(0.5 * (low_at + high_at))
        here = _values(scores, weights, scales, squares, middle)
        falls = _values(scores, weights, scales, squares, middle + 1.0) < here
        falls &= low_at < high_at
        low_at = np.where(falls, middle + 1.0, low_at)
        high_at = np.where(falls, high_at, np.minimum(middle, high_at))
    values = _values(scores, weights, scales, squares, low_at)
    return Fitted(low_at.astype(np.int64), np.where(is_allowed, values, math.inf))


def _values(
    scores: _Array, weights: _Array, scales: ScaleSet, squares: _Array, intercepts: _Array
) -> _Array:
    """Loss and ridge penalty at the best scale."""
    s = scores + intercepts[:, None]
    if scales.values is not None:
        return _at(s, weights, squares, np.full(len(s), 1.0 / scales.low))
    low = np.full(len(s), 1.0 / scales.high)
    high = np.full(len(s), 1.0 / scales.low)
    one, other = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_one, at_other = _at(s, weights, squares, one), _at(s, weights, squares, other)
    for _ in range(GOLDEN_STEPS):
        left = at_one <= at_other
        low, high = np.where(left, low, one), np.where(left, other, high)
        one, other = (
            np.where(left, high - _GOLDEN * (high - low), other),
            np.where(left, one, low + _GOLDEN * (high - low)),
        )
        new = _at(s, weights, squares, np.where(left, one, other))
        at_one, at_other = np.where(left, new, at_other), np.where(left, at_one, new)
    ends = [_at(s, weights, squares, t) for t in (low, high)]
    best: _Array = np.minimum(np.minimum(*ends), np.minimum(at_one, at_other))
    return best


def _at(s: _Array, weights: _Array, squares: _Array, t: _Array) -> _Array:
    scaled = t[:, None] * s
    loss = np.logaddexp(0.0, scaled) @ weights[0] + np.logaddexp(0.0, -scaled) @ weights[1]
    found: _Array = loss + squares * t**2
    return found
