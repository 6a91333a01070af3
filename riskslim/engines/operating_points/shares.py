"""Shares of the rows that a rule calls right, counted from its points alone.

Nothing here knows of cells or bounds: what a search finds is looked at on the rows themselves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.data.store import KernelRows, RowStore
from riskslim.data.training_data import TrainingData
from riskslim.operating_point import RequiredShare, Shares

__all__ = ["Rule", "best_threshold", "cell_weights", "shares_at"]

# Scores of which some number is no integer are told apart where they differ by more than this part
# of the largest one: sums of the same numbers in another order do not.
SAME_SCORE = 1e-9


class Rule(NamedTuple):
    """A threshold of a score, and what it calls wrong.

    Attributes
    ----------
    threshold : float
        Scores from here on, the intercept not among them, are called positive.
    wrong : float
        Weight of the class of which no share is required that is called wrong.
    """

    threshold: float
    wrong: float


def scores_of(part: KernelRows, coef: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sums of points of the rows of a block, the intercept left out.

    Parameters
    ----------
    part : KernelRows
    coef : ndarray of int64, shape (d + 1,)

    Returns
    -------
    ndarray of float64, shape (m,)
    """
    scores = np.zeros(part.n_rows)
    for j in np.flatnonzero(coef[1:]).tolist():
        scores += float(coef[1 + j]) * part.values_of(j).astype(np.float64)
    return scores


def weights_by_score(
    part: KernelRows, coef: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores of a block in ascending order, and the weight of either class at each.

    Parameters
    ----------
    part : KernelRows
    coef : ndarray of int64, shape (d + 1,)

    Returns
    -------
    scores : ndarray of float64, shape (k,)
    weights : ndarray of float64, shape (2, k)
        Of the negative and of the positive class.
    """
    weight, is_positive = part.each_weight, part.labels > 0
    counted = weight > 0
    scores, place = np.unique(scores_of(part, coef)[counted], return_inverse=True)
    weight, is_positive = weight[counted], is_positive[counted]
    own = [np.bincount(place[k], weight[k], len(scores)) for k in (~is_positive, is_positive)]
    return scores, np.array(own)


def best_threshold(rows: RowStore, coef: NDArray[np.int64], required: RequiredShare) -> Rule:
    """The threshold of a score that reaches a share and has the most of the other one.

    Parameters
    ----------
    rows : RowStore
    coef : ndarray of int64, shape (d + 1,)
    required : RequiredShare

    Returns
    -------
    Rule
        Of thresholds that are as good, the one that has the most of the required share, and as
        near to what is called wrong as whole numbers are.
    """
    parts = list(rows.map(weights_by_score, coef))
    every = np.concatenate([scores for scores, _ in parts])
    scores, place = np.unique(every, return_inverse=True)
    whole = bool((scores == np.rint(scores)).all())
    if not whole and len(scores):
        gaps = np.diff(scores) > SAME_SCORE * max(abs(scores[0]), abs(scores[-1]))
        group = np.concatenate(([0], np.cumsum(gaps)))
        scores, place = scores[np.concatenate(([True], gaps))], group[place]
    weights = np.concatenate([weight for _, weight in parts], axis=1)
    negative, positive = (np.bincount(place, own, len(scores)) for own in weights)
    # From the scores that the rule calls as the other class on: the least ones, or the largest.
    of_positives = required.name == "sensitivity"
    missed, right = (positive, negative) if of_positives else (negative[::-1], positive[::-1])
    held = np.cumsum(missed)
    n = int(np.count_nonzero(held <= required.most_missed(float(held[-1]))))
    while n and right[n - 1] == 0.0:
        n -= 1
    wrong = math.fsum(right[n:])
    return Rule(
        _threshold(scores, n if of_positives else len(scores) - n, whole, of_positives), wrong
    )


def _threshold(scores: NDArray[np.float64], n: int, whole: bool, is_near_below: bool) -> float:
    """Threshold above the n least scores: next to them, or to the others."""
    if n == 0:
        return float(scores[0])
    if n == len(scores):
        return float(scores[-1]) + 1.0
    if not whole:
        return 0.5 * float(scores[n - 1] + scores[n])
    return float(scores[n - 1]) + 1.0 if is_near_below else float(scores[n])


def sums_at(part: KernelRows, coef: NDArray[np.int64], threshold: float) -> NDArray[np.float64]:
    """Weight of a block's rows that a rule calls right and wrong, by class.

    Parameters
    ----------
    part : KernelRows
    coef : ndarray of int64, shape (d + 1,)
    threshold : float

    Returns
    -------
    ndarray of float64, shape (4,)
        True positives, false negatives, true negatives, false positives.
    """
    is_called = scores_of(part, coef) >= threshold
    weight, is_positive = part.each_weight, part.labels > 0
    return np.array([
        weight[is_positive & is_called].sum(), weight[is_positive & ~is_called].sum(),
        weight[~is_positive & ~is_called].sum(), weight[~is_positive & is_called].sum(),
    ])  # fmt: skip


def shares_at(data: TrainingData, coef: NDArray[np.int64], threshold: float) -> Shares:
    """Shares of all rows that a rule calls right, weights of the classes left out.

    Parameters
    ----------
    data : TrainingData
    coef : ndarray of int64, shape (d + 1,)
    threshold : float

    Returns
    -------
    Shares
        The whole is the sum of what is called right and wrong: added up by itself it could be less
        than a part of it, in the last digit.
    """
    sums = np.array(list(data.rows.map(sums_at, coef, threshold)))
    tp, fn, tn, fp = (math.fsum(column) for column in sums.T)
    negative, positive = data.class_factors
    return Shares(tp / positive, (tp + fn) / positive, tn / negative, (tn + fp) / negative)


def cell_weights(
    part: KernelRows,
    features: NDArray[np.int64],
    values: list[NDArray[np.float64]],
    n_bits: list[int],
) -> NDArray[np.float64]:
    """Weights of a block's rows by class and by the values of some features.

    Parameters
    ----------
    part : KernelRows
    features : int array of shape (k,)
    values : list of float64 arrays
        Of each feature, in ascending order.
    n_bits : list of int
        That the number of its value takes in the number of a cell, the first feature's highest.

    Returns
    -------
    float64 array of shape (2, number of cells)
        Of the negative and of the positive class.
    """
    weight = part.each_weight
    counted = weight > 0
    cell = np.zeros(int(counted.sum()), np.int64)
    for j, own, bits in zip(features.tolist(), values, n_bits, strict=True):
        cell <<= bits
        cell += np.searchsorted(own, part.values_of(j)[counted].astype(np.float64))
    weight, is_positive = weight[counted], part.labels[counted] > 0
    n = 1 << sum(n_bits)
    return np.array([
        np.bincount(cell[k], weight[k], n) for k in (~is_positive, is_positive)
    ])  # fmt: skip
