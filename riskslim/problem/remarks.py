"""Remarks on a risk score of a problem, in words."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing
from riskslim.data.class_weights import share
from riskslim.data.store import KernelRows
from riskslim.items.codes import note_on_special, suspected_special
from riskslim.problem.rate_remarks import remarks_on_rates
from riskslim.problem.scale_remark import remark_on_scale
from riskslim.problem.separation import remark_on as separation_remark
from riskslim.problem.separation import separations

if TYPE_CHECKING:
    from riskslim.data.training_data import TrainingData
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["remark_on_weights", "remarks_on", "remarks_on_rows"]

# Log-odds beyond which one point per unit of a feature is too coarse: a risk below 1% at one end
# of the feature's values means one above 99% at the other.
_WIDEST_SPAN = 10.0
# Where a feature should be divided, one point is to span at most half of this.
_GOOD_SPAN = 5.0
# A price that hardly any feature of use is not worth.
_TINY_PRICE = 1e-4
# By what weights change the odds of the outcome before it is said: 10% become 14%, 50% become 60%.
_LARGE_CHANGE_OF_ODDS = 1.5
# Share of the features from which on it is said that they have 1 or -1 point.
_NEARLY_ALL = 0.75
# Rows of a sample that a median is taken of.
_MEDIAN_ROWS = 10_000


def remarks_on(
    problem: RiskScoreProblem,
    vector: NDArray[Any],
    given_intercepts: Collection[int],
    scale: float | None = None,
) -> tuple[str, ...]:
    """Name what an optimal score may be a poor one for: units, bounds, scales and weights.

    Parameters
    ----------
    problem : RiskScoreProblem
    vector : ndarray of shape (d + 1,)
        Points of the score, intercept first.
    given_intercepts : collection of int
        Bounds of the intercept that were given: one that was derived costs nothing.
    scale : float, optional
        As in :meth:`RiskScoreProblem.remarks`.

    Returns
    -------
    tuple of str
        As in :meth:`RiskScoreProblem.remarks`.
    """
    data = problem.loss.data
    separated = separations(data, vector)
    # Their best points are finite, whatever they separate.
    shrunken = {data.feature_names[j] for j in np.flatnonzero(problem.l2_penalty).tolist()}
    # Of many rows it takes a while: once, for all who ask.
    if not problem.is_constrained_per_scale:
        scale = problem.best_scale(vector)
    elif scale is None:
        scale = _best_scale_allowed(problem, vector)
    remarks = (
        remark_on_weights(data),
        _same_name(data),
        _empty(problem, vector),
        _too_wide(problem),
        _on_codes(problem, vector),
        separation_remark(separated, _outcome(data), shrunken),
        _at_bounds(
            problem,
            vector,
            given_intercepts,
            {one.feature for one in separated if one.is_exact} - shrunken,
        ),
        _at_end_of_scales(problem, vector, scale),
        _only_ones(problem, vector),
        remark_on_scale(problem, vector, given_intercepts),
        *remarks_on_rates(problem.constraints, data, vector, scale),
    )
    return tuple(remark for remark in remarks if remark)


def _best_scale_allowed(problem: RiskScoreProblem, vector: NDArray[Any]) -> float:
    """The best scale of those with which a vector meets the constraints, of all if there is none.

    A score that breaks a constraint at its best scale was returned with another one.
    """
    scales = problem.scales.values or ()
    allowed = [one for one in scales if problem.at_scale(one).is_feasible(vector)]
    return min(allowed or scales, key=lambda one: problem.objective(vector, scale=one))


def _outcome(data: TrainingData) -> str:
    return f"{data.outcome_name} = {data.classes[1]}"


def _same_name(data: TrainingData) -> str:
    """Say that the outcome has the name of a feature, or of the variable that items are made of."""
    name = data.outcome_name
    if name not in {*data.feature_names, *(item.variable for item in data.items.values())}:
        return ""
    return (
        f"The outcome is called {name!r}, as one of the features is. If it was made of that column "
        "leave the column out, which says the outcome; if not, give the outcome a name of its own "
        "(outcome_name, or the name of the series)."
    )


def remarks_on_rows(data: TrainingData, vector: NDArray[Any]) -> tuple[str, ...]:
    """Name what the training rows alone say against a score: their weights, and their separation.

    Parameters
    ----------
    data : TrainingData
        With the features of the score, at least; rows one by one.
    vector : ndarray of shape (d + 1,)
        Points of the score, intercept first.

    Returns
    -------
    tuple of str
        Those of :func:`remarks_on` that need to know nothing of the problem.
    """
    found = (
        remark_on_weights(data),
        separation_remark(separations(data, vector), _outcome(data)),
    )
    return tuple(filter(None, found))


def remark_on_weights(data: TrainingData) -> str:
    """Say what weights make of the risks; empty where that is little.

    Parameters
    ----------
    data : TrainingData

    Returns
    -------
    str
    """
    outcome = _outcome(data)
    if data.class_weighting is not None:
        return data.class_weighting.describe(outcome)
    if not data.is_weighted:
        return ""
    by_weight, of_rows = data.prevalence, _share_of_rows(data)
    change = by_weight / (1 - by_weight) * (1 - of_rows) / of_rows
    if max(change, 1 / change) < _LARGE_CHANGE_OF_ODDS:
        return ""
    return (
        f"Weights of the rows change how common {outcome} is, from {share(of_rows)} of the "
        f"rows to {share(by_weight)} by weight: risks are those of the population that the "
        "weights stand for, and of no other."
    )


def _share_of_rows(data: TrainingData) -> float:
    """Share of the positive class among the rows that count, whatever they weigh."""
    without, having = np.sum(list(data.rows.map(count_classes)), axis=0)
    return float(having / (without + having))


def count_classes(part: KernelRows) -> NDArray[np.int64]:
    """Count the rows of positive weight of the negative and the positive class."""
    counts = part.weights > 0 if len(part.weights) else np.ones(part.n_rows, np.bool_)
    n_positive = np.count_nonzero(counts & (part.labels > 0))
    return np.array([np.count_nonzero(counts) - n_positive, n_positive], np.int64)


def _empty(problem: RiskScoreProblem, vector: NDArray[Any]) -> str:
    if problem.model_size(vector) or not problem.max_size:
        return ""
    if problem.l0_penalty[problem.usable].max() > _TINY_PRICE:
        return (
            "No feature has points, so every row has the same risk. Unless the search ended "
            "early, no feature that the score can use lowers the loss by more than its price "
            "(l0_penalty)."
        )
    if problem.has_ridge:
        return (
            "No feature has points, so every row has the same risk. Unless the search ended early, "
            "no feature that the score can use lowers the loss by more than its ridge penalty "
            "(l2_penalty, shrinkage)."
        )
    return (
        "No feature has points, so every row has the same risk. The price (l0_penalty) is too "
        "small to be the reason. Unless the search ended early, whole-number points or a "
        "whole-number intercept are probably too coarse for these features, or the features "
        "say too little about the outcome."
    )


def _too_wide(problem: RiskScoreProblem) -> str:
    data = problem.loss.data
    low, high = _ranges(data)
    with np.errstate(over="ignore"):
        span = (high - low) / problem.scales.high  # what one point spans at least
    free = problem.coefficients.lower < problem.coefficients.upper
    wide = np.flatnonzero(free & (span > _WIDEST_SPAN))
    if not wide.size:
        return ""
    if problem.scales.high < 1 and not (free & (high - low > _WIDEST_SPAN)).any():
        return (
            f"With the scale {problem.scales.high:.10g} one point spans at least "
            f"{span[free].min():.3g} units of log-odds. That is too coarse: choose a larger "
            "one."
        )
    names, first = data.feature_names, int(wide[0])
    spans = [
        f"{span[j]:.3g} for {names[j]!r} ({low[j]:g} to {high[j]:g}, divide it by "
        f"{_divisor(span[j])})"
        for j in wide.tolist()
    ]
    spans[0] = spans[0].replace(" for ", " units of log-odds for ", 1)
    median = float(np.median(data.rows.counted_values(first, _MEDIAN_ROWS)))
    cut = f"{names[first]} >= {median:.3g}"
    return (
        f"One point per unit spans {listing(spans)}. That is too coarse: divide, or use "
        f"cut-offs such as {cut!r}."
    )


def _on_codes(problem: RiskScoreProblem, vector: NDArray[Any]) -> str:
    """Name features that points are multiplied by, and that have values which look like codes."""
    data, (low, high) = problem.loss.data, _ranges(problem.loss.data)
    found = {}
    for j in np.flatnonzero(vector[1:]).tolist():
        if high[j] - low[j] > 1:
            values = np.asarray(data.rows.counted_values(j, _MEDIAN_ROWS), np.float64)
            if suspected := suspected_special(values):
                found[data.feature_names[j]] = suspected
    note = note_on_special(found) if found else ""
    return f"{note[:1].upper()}{note[1:]}." if note else ""


def _ranges(data: TrainingData) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest and largest values of the features in rows that count, as far as these are known."""
    found = data.rows.counted_ranges()
    return (data.feature_min, data.feature_max) if found is None else found


def _at_end_of_scales(problem: RiskScoreProblem, vector: NDArray[Any], best: float) -> str:
    scales = problem.scales
    if scales.is_single or not vector[1:].any():
        return ""
    if scales.low < best < scales.high:
        return ""
    if scales.is_interval:
        return (
            f"The scale is at an end of its interval ({best:.10g} of {scales.describe()}). A "
            "wider interval may give a better score."
        )
    # Constraints that depend on the scale allow no interval.
    hint = "" if problem.is_constrained_per_scale else "; an interval is written as (low, high)"
    return (
        f"The scale {best:.10g} is an end of the list {scales.describe()}. Other scales may "
        f"give a better score{hint}."
    )


def _only_ones(problem: RiskScoreProblem, vector: NDArray[Any]) -> str:
    used = np.flatnonzero(vector[1:]) + 1
    allowed = np.maximum(np.abs(problem.lower[used]), np.abs(problem.upper[used]))
    # With a feature of more values, one point per unit is what divides it.
    low, high = _ranges(problem.loss.data)
    ones = (np.abs(vector[used]) == 1) & ((high - low)[used - 1] <= 1) & (allowed > 1)
    n_ones = int(np.count_nonzero(ones))
    if len(used) < 2 or n_ones < _NEARLY_ALL * len(used):
        return ""
    if not problem.scales.is_single or problem.scales.high != 1:
        return ""
    which = f"All {n_ones}" if n_ones == len(used) else f"{n_ones} of {len(used)}"
    return (
        f"{which} features with points have 1 or -1: one unit of log-odds may be too "
        "coarse to tell them apart. A larger scale (2, 3 or free) may give a better score."
    )


def _at_bounds(
    problem: RiskScoreProblem,
    vector: NDArray[Any],
    given_intercepts: Collection[int],
    separated: Collection[str],
) -> str:
    names = problem.coefficients.feature_names
    at_lower, at_upper = vector == problem.lower, vector == problem.upper
    # A bound beyond 0 is there to force the feature in.
    at_lower[1:] &= problem.lower[1:] <= 0
    at_upper[1:] &= problem.upper[1:] >= 0
    chosen = (at_lower | at_upper) & (vector != 0) & (problem.lower < problem.upper)
    found = [
        f"{names[j]!r} ({vector[j + 1]})"
        for j in np.flatnonzero(chosen[1:]).tolist()
        if names[j] not in separated  # no bound is wide enough for these
    ]
    if chosen[0] and vector[0] in given_intercepts:  # derived bounds cost nothing
        found.append(f"the intercept ({vector[0]})")
    if not found:
        return ""
    return (
        f"At a bound of the coefficient set: {listing(found)}. Wider bounds may give a better "
        "score."
    )


def _divisor(span: float) -> str:
    """Smallest 1, 2 or 5 times a power of ten that leaves one point a good span."""
    least = span / _GOOD_SPAN
    power = 10.0 ** math.floor(math.log10(least))
    return f"{next(k * power for k in (1, 2, 5, 10) if k * power >= least):g}"
