"""Remarks on features, and scores, that tell the training rows of both classes apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import MAX_LISTED

if TYPE_CHECKING:
    from riskslim.data.training_data import TrainingData

__all__ = ["Separation", "remark_on", "separations"]


class Separation(NamedTuple):
    """A feature of which some rows, or all, have one outcome.

    Attributes
    ----------
    feature : str
    text : str
        In words, without a full stop.
    is_copy : bool
        Whether it says the outcome of every row.
    """

    feature: str
    text: str
    is_copy: bool


def separations(data: TrainingData, vector: NDArray[np.int64]) -> list[Separation]:
    """Find features with points of which all rows with one value have the same outcome.

    The loss falls with every further point of such a feature: the best points are at a bound, or
    as large as what else the score has to say allows. Rows of weight 0 do not count.

    Parameters
    ----------
    data : TrainingData
    vector : ndarray of int64, shape (d + 1,)
        Intercept first.

    Returns
    -------
    list of Separation
        In the order of the features.
    """
    counted = data.counted
    positive = data.labels[counted] > 0
    found = []
    for j in np.flatnonzero(vector[1:]).tolist():
        name = data.feature_names[j]
        text, is_copy = _separated(name, data.column(j)[counted], positive)
        if text:
            found.append(Separation(name, text, is_copy))
    return found


def _separated(
    name: str, values: NDArray[np.float64], positive: NDArray[np.bool_]
) -> tuple[str, bool]:
    """Return what is separated, and whether all rows are."""
    with_it, without = values[positive], values[~positive]
    if not len(with_it) or not len(without):
        return "", False
    is_binary = values.min() == 0 and values.max() == 1 and ((values == 0) | (values == 1)).all()
    if with_it.min() > without.max() or with_it.max() < without.min():
        if not is_binary:
            return f"{name!r} alone tells all rows with the outcome from those without", True
        have = "with" if with_it.min() == 1 else "without"
        return f"all rows {have} {name!r}, and no others, have the outcome", True
    if not is_binary:
        return "", False
    parts = []
    for value, word in ((1, "with"), (0, "without")):
        rows = positive[values == value]
        count = "the one row" if len(rows) == 1 else f"all {len(rows)} rows"
        none = "the one row" if len(rows) == 1 else f"none of the {len(rows)} rows"
        if rows.all():
            have = "has" if len(rows) == 1 else "have"
            parts.append(f"{count} {word} {name!r} {have} the outcome")
        elif not rows.any():
            negated = "has not" if len(rows) == 1 else "has"
            parts.append(f"{none} {word} {name!r} {negated} the outcome")
    return "; ".join(parts), False


def remark_on(found: list[Separation], outcome: str) -> str:
    """Say what is separated, what it means for the points, and what to do; empty if nothing is.

    Parameters
    ----------
    found : list of Separation
    outcome : str
        What the risk is of: "died = yes".

    Returns
    -------
    str
    """
    if not found:
        return ""
    texts = [one.text for one in found[:MAX_LISTED]]
    if len(found) > MAX_LISTED:
        texts.append(f"the same of {len(found) - MAX_LISTED} other features")
    listed = "; ".join(texts)
    text = (
        f"{listed[0].upper()}{listed[1:]} ({outcome}). More points would always lower the loss: "
        "their number says what is allowed, not how much the feature counts."
    )
    if any(one.is_copy for one in found):
        return f"{text} Is it known before the outcome is? If not, leave it out."
    return f"{text} From few rows that can be chance: allow fewer points, or leave the feature out."
