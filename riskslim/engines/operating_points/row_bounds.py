"""Bounds of all rules, from the rows that some features tell apart.

A rule calls rows alike that have the same values of all features that its score may use. As cells
they bound every rule on these features (:mod:`riskslim._kernels.rules`), however many there are: a
weak bound where hardly any rows are alike, and the only one of supports that were not looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import rules as kernels
from riskslim.operating_point import RequiredShare

if TYPE_CHECKING:
    from riskslim.data.store import RowStore

__all__ = ["least_wrong_of_rows"]

# Entries (rows times features) beyond which rows are not compared: it would take seconds.
MOST_ENTRIES = 20_000_000
# More than the rounding errors of limits.
SLACK = 1e-12


def least_wrong_of_rows(
    rows: RowStore, features: NDArray[np.int64], required: RequiredShare
) -> float:
    """The least weight of the other class that rules on some features call wrong.

    Parameters
    ----------
    rows : RowStore
    features : int64 array of shape (k,)
    required : RequiredShare

    Returns
    -------
    float
        A bound; 0 where rows are not in memory, or too many to be compared.
    """
    if not rows.is_block or rows.n_rows * max(len(features), 1) > MOST_ENTRIES:
        return 0.0
    block = rows.block_for("a bound")
    keys = np.zeros((block.n_rows, 0), np.uint8)
    columns = [np.ascontiguousarray(block.values_of(j)) for j in features.tolist()]
    if columns:
        # Values that are equal have the same bytes, but for zeros with a sign.
        each = [(column + 0).view(np.uint8).reshape(len(column), -1) for column in columns]
        keys = np.ascontiguousarray(np.hstack(each))
        place = np.unique(keys.view([("", keys.dtype, keys.shape[1])]), return_inverse=True)[1]
    else:
        place = np.zeros(block.n_rows, np.intp)
    place = place.ravel()
    positive, negative = (
        np.bincount(place, own).astype(np.float64) for own in block.weights_by_class()
    )
    of_positives = required.name == "sensitivity"
    own, other = (positive, negative) if of_positives else (negative, positive)
    capacity = required.most_missed(float(own.sum())) + SLACK * float(own.sum())
    return kernels.least_wrong(own, other, capacity)
