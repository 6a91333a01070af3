"""Drift: how far scores of new rows have shifted."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim.metrics.rows import (
    check_empty_rows,
    checked_values,
    checked_weights,
    equal_bins,
    number_of_bins,
)

__all__ = ["population_stability_index"]


# ---------------------------------------------------------------------------------------------
# Drift
# ---------------------------------------------------------------------------------------------


def population_stability_index(
    expected: ArrayLike,
    actual: ArrayLike,
    expected_weight: ArrayLike | None = None,
    actual_weight: ArrayLike | None = None,
    *,
    bins: int | Literal["auto"] | None = None,
    empty_rows: float = 0.5,
) -> float:
    r"""Compare how scores, or values of a feature, are distributed in two sets of rows.

    With the shares :math:`e_c` of the expected rows, most often those of training, and
    :math:`a_c` of the actual rows in the cells c,

    .. math::

        \text{PSI} = \sum_c (a_c - e_c) \log \frac{a_c}{e_c}.

    It is usually read so: below 0.1 little has changed, from 0.1 to 0.25 some shift, above 0.25
    a large shift.

    Parameters
    ----------
    expected : array-like of shape (n,)
        Numbers.
    actual : array-like of shape (m,)
        Numbers of the same kind, from other rows.
    expected_weight, actual_weight : array-like of shape (n,) and (m,), optional
        Non-negative. Shares are by weight.
    bins : int or "auto" or None
        None: each distinct value is a cell. A number: that many cells, each with about equally
        many expected rows; actual values beyond the ends are in the outermost cells. "auto": 10
        cells if there are more than 30 distinct values.
    empty_rows : float, default 0.5
        As how many rows of mean weight a cell counts that is empty in one of the two sets, for
        a share of 0 has no logarithm. The other cells stay as they are.

    Returns
    -------
    float
        At least 0; 0 where all shares are equal.

    Raises
    ------
    ValueError
        Values that are missing or infinite, no rows, negative weights or none above zero,
        lengths that differ, ``empty_rows`` that is not above 0 and at most 1.

    Notes
    -----
    The index is symmetric in the two sets, apart from ``bins``. Where both are samples of the
    same rows it is not 0 but about :math:`(k - 1)(1/n + 1/m)` with k cells: of a few hundred rows
    in 20 cells, 0.1 may be chance.

    References
    ----------
    Siddiqi (2006), Credit Risk Scorecards. Yurdakul (2018), Statistical Properties of Population
    Stability Index.

    Examples
    --------
    Half of the rows have the condition in training, and three of four later:
    0.25 log(0.75 / 0.5) - 0.25 log(0.25 / 0.5) = 0.25 log 3.

    >>> from riskslim.metrics import population_stability_index
    >>> round(population_stability_index([0, 0, 1, 1], [0, 1, 1, 1]), 4)
    0.2747
    """
    check_empty_rows(empty_rows)
    samples = [
        _weighted_values(expected, expected_weight, "expected"),
        _weighted_values(actual, actual_weight, "actual"),
    ]
    cells, n_cells = _common_cells(samples[0], samples[1], bins)
    shares = []
    for cell, (values, weight) in zip(cells, samples, strict=True):
        share = np.bincount(cell, weight / weight.sum(), n_cells)
        share[share == 0] = empty_rows / len(values)
        shares.append(share)
    return float(np.sum((shares[1] - shares[0]) * np.log(shares[1] / shares[0])))


def _weighted_values(
    values: Any, sample_weight: Any, what: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values of the rows that have weight, and these weights, of which the largest is 1."""
    checked = checked_values(values, what, None)
    if not len(checked):
        raise ValueError(
            f"Found array with 0 sample(s) while a minimum of 1 is required: {what} is empty"
        )
    weight = checked_weights(sample_weight, len(checked), what)
    rows = weight > 0
    return checked[rows], weight[rows] / weight.max()


def _common_cells(
    expected: tuple[NDArray[np.float64], NDArray[np.float64]],
    actual: tuple[NDArray[np.float64], NDArray[np.float64]],
    bins: Any,
) -> tuple[list[NDArray[np.intp]], int]:
    """Number of the cell of each row in both sets, and how many cells there are."""
    starts = np.unique(np.concatenate([expected[0], actual[0]]))
    n_bins = number_of_bins(bins, len(starts))
    if n_bins is not None:
        known, group = np.unique(expected[0], return_inverse=True)
        first = np.full(n_bins, np.inf)
        np.minimum.at(first, equal_bins(group, expected[1], n_bins), known[group])
        starts = first[np.isfinite(first)]
    cells = [
        np.maximum(np.searchsorted(starts, values, side="right") - 1, 0)
        for values, _ in (expected, actual)
    ]
    return cells, len(starts)
