"""Drift: how far scores of new rows have shifted."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim.data.faults import missing_among, object_fault
from riskslim.data.tables import the_only_column, values_of
from riskslim.metrics.rows import (
    check_empty_rows,
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
    bins: int | Literal["auto"] | None = "auto",
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
        Numbers, or text, each level of which is a cell. Missing values are a cell, too.
    actual : array-like of shape (m,)
        Values of the same kind, from other rows. What one of the two has alone is in a cell of its
        own, or in an outermost one.
    expected_weight, actual_weight : array-like of shape (n,) and (m,), optional
        Non-negative. Shares are by weight.
    bins : int or "auto" or None, default "auto"
        Of numbers. A number: that many cells, each with about equally many expected rows; actual
        values beyond the ends are in the outermost cells, and in cells of their own where so many
        expected rows are equal that there are fewer cells. None: each distinct value is a cell,
        which tells nothing where nearly every row has a value of its own. "auto": 10 cells if there
        are more than 30 distinct values, else None.
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
        Values that are infinite, or neither numbers nor text, no rows, negative weights or none
        above zero, lengths that differ, ``empty_rows`` that is not above 0 and at most 1.

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
    cells, n_cells = _common_cells(samples, bins)
    shares = []
    for cell, (values, weight) in zip(cells, samples, strict=True):
        share = np.bincount(cell, weight / weight.sum(), n_cells)
        share[share == 0] = empty_rows / len(values)
        shares.append(share)
    return float(np.sum((shares[1] - shares[0]) * np.log(shares[1] / shares[0])))


def _weighted_values(
    values: Any, sample_weight: Any, what: str
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Values of the rows that have weight, and these weights, of which the largest is 1.

    Numbers are float64, NaN where they are missing; else they are objects, None where they are.
    """
    found = values_of(the_only_column(values), what)
    if not len(found):
        raise ValueError(
            f"Found array with 0 sample(s) while a minimum of 1 is required: {what} is empty"
        )
    weight = checked_weights(sample_weight, len(found), what)
    rows = weight > 0
    return _numbers_or_text(found[rows], what), weight[rows] / weight.max()


def _numbers_or_text(values: NDArray[Any], what: str) -> NDArray[Any]:
    from sklearn.utils import assert_all_finite

    kind = values.dtype.kind
    if kind in "USO":
        objects = values.astype(object)
        objects[missing_among(objects)] = None
        faults = {object_fault(kind) for kind in set(map(type, objects))}
        if "text" in faults:
            return objects
        kind = "f" if faults <= {None, "missing"} else kind
    if kind not in "biuf":
        raise ValueError(
            f"{what} must hold numbers or text, got {values.dtype} such as {values[0]!r}"
        )
    numbers = np.array(objects if values.dtype.kind == "O" else values, np.float64)
    assert_all_finite(numbers, allow_nan=True, input_name=what)
    return numbers


def _common_cells(
    samples: list[tuple[NDArray[Any], NDArray[np.float64]]], bins: Any
) -> tuple[list[NDArray[np.intp]], int]:
    """Number of the cell of each row in both sets, and how many cells there are."""
    values = [values for values, _ in samples]
    if any(one.dtype == object for one in values):
        cells = _levels(values)
    else:
        starts = _starts(values, samples[0][1], bins)
        cells = [np.where(np.isnan(v), -1, np.searchsorted(starts, v, "right")) for v in values]
    used, number = np.unique(np.concatenate(cells), return_inverse=True)
    return np.split(number, [len(cells[0])]), len(used)


def _levels(values: list[NDArray[Any]]) -> list[NDArray[np.intp]]:
    """Number the levels of text, -1 where it is missing."""
    known: dict[str, int] = {}
    return [
        np.array(
            [
                -1 if value is None or value != value else known.setdefault(str(value), len(known))
                for value in one.tolist()
            ],
            np.intp,
        )
        for one in values
    ]


def _starts(
    values: list[NDArray[np.float64]], weight: NDArray[np.float64], bins: Any
) -> NDArray[np.float64]:
    """Numbers at which cells begin, but for the lowest one."""
    expected, actual = (one[~np.isnan(one)] for one in values)
    starts: NDArray[np.float64] = np.unique(np.concatenate([expected, actual]))
    n_bins = number_of_bins(bins, len(starts))
    if n_bins is None:
        return starts
    known, group = np.unique(expected, return_inverse=True)
    first = np.full(n_bins, np.inf)
    np.minimum.at(first, equal_bins(group, weight[~np.isnan(values[0])], n_bins), known[group])
    starts = first[np.isfinite(first)]
    if len(starts) == n_bins:
        return starts[1:]  # what is below is in the outermost cell
    # Many rows are equal, all of them perhaps: other values would be in the cells of these.
    beyond = np.nextafter(known[-1:], np.inf)
    return np.asarray(np.concatenate([starts, beyond]))
