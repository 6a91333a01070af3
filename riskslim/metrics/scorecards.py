r"""Figures that credit scoring asks for: Gini, Kolmogorov-Smirnov, information value."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from riskslim.metrics.discrimination import auc, operating_points
from riskslim.metrics.rows import (
    check_both_classes,
    check_empty_rows,
    checked_rows,
    equal_bins,
    number_of_bins,
)

__all__ = ["gini", "information_value", "kolmogorov_smirnov"]


def gini(
    y_true: ArrayLike,
    scores: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> float:
    """Compute the Gini coefficient, 2 AUC - 1: Somers' D of the scores.

    Parameters
    ----------
    y_true, scores, sample_weight : array-like of shape (n,)
    pos_label : optional
        As in :func:`calibration_error`.

    Returns
    -------
    float
        1 where all positive rows have larger scores than all others, 0 for scores that say nothing.

    Raises
    ------
    ValueError
        As in :func:`auc`.

    Examples
    --------
    >>> from riskslim.metrics import gini
    >>> gini([0, 0, 1, 1], [1, 2, 2, 3])
    0.75
    """
    return 2.0 * auc(y_true, scores, sample_weight, pos_label=pos_label) - 1.0


def kolmogorov_smirnov(
    y_true: ArrayLike,
    scores: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> float:
    """Compute the largest distance of the distributions of scores in both classes.

    Parameters
    ----------
    y_true, scores, sample_weight : array-like of shape (n,)
    pos_label : optional
        As in :func:`calibration_error`.

    Returns
    -------
    float
        0 to 1: the largest of sensitivity + specificity - 1 over all thresholds.

    Raises
    ------
    ValueError
        As in :func:`auc`.

    Examples
    --------
    >>> from riskslim.metrics import kolmogorov_smirnov
    >>> kolmogorov_smirnov([0, 0, 1, 1], [1, 2, 2, 3])
    0.5
    """
    points = operating_points(y_true, scores, sample_weight, pos_label=pos_label)
    return float(np.abs(points.sensitivity - points.fpr).max())


def information_value(
    y_true: ArrayLike,
    values: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    bins: int | Literal["auto"] | None = "auto",
    empty_rows: float = 0.5,
    pos_label: Any = None,
) -> float:
    r"""Compute the information value of a variable, an item or a score.

    With the shares :math:`p_c` of the positive and :math:`q_c` of the negative rows in cells c,

    .. math::

        \text{IV} = \sum_c (p_c - q_c) \log \frac{p_c}{q_c}.

    It is usually read so: below 0.02 the variable says nothing, from 0.1 something, from 0.3
    much, and above 0.5 so much that one should ask why.

    Parameters
    ----------
    y_true, values, sample_weight : array-like of shape (n,)
        Values are numbers: points of a variable's items, codes of its levels, a measurement.
    bins : int or "auto" or None, default "auto"
        As in :func:`population_stability_index`: None, a cell for each distinct value; "auto", 10
        of about equally many rows if there are more than 30.
    empty_rows : float, default 0.5
        As how many rows of mean weight a cell without rows of a class counts.
    pos_label : optional
        As in :func:`calibration_error`.

    Returns
    -------
    float
        At least 0.

    Raises
    ------
    ValueError
        As in :func:`auc`; ``empty_rows`` that is not above 0 and at most 1.

    References
    ----------
    Siddiqi (2006), Credit Risk Scorecards.

    Examples
    --------
    3 of 4 positive rows have the condition, and 1 of 4 others: 2 (3/4 - 1/4) log 3.

    >>> from riskslim.metrics import information_value
    >>> round(information_value([1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 1, 0, 0, 0]), 4)
    1.0986
    """
    check_empty_rows(empty_rows)
    positive, checked, weight = checked_rows(y_true, values, sample_weight, pos_label, "values")
    check_both_classes(positive, weight, "The information value")
    rows = weight > 0
    distinct, cell = np.unique(checked[rows], return_inverse=True)
    n_bins = number_of_bins(bins, len(distinct))
    if n_bins is not None:
        cell = equal_bins(cell, weight[rows], n_bins)
    shares = []
    for own in (positive[rows], ~positive[rows]):
        of_class = np.where(own, weight[rows], 0.0)
        share = np.bincount(cell, of_class / of_class.sum(), cell.max() + 1)
        share[share == 0] = empty_rows / np.count_nonzero(own)
        shares.append(share)
    return float(np.sum((shares[0] - shares[1]) * np.log(shares[0] / shares[1])))
