"""Values far outside of those in training: what is said of them, once for all columns of a call."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskslim.data.feature_ranges import short
from riskslim.data.warned import user_stacklevel
from riskslim.exceptions import ExtrapolationWarning

__all__ = ["far_values", "warn_of_far_values"]

# Share of values far outside of the range, and widths of it that one may lie beyond, that are said.
_MANY_FAR, _VERY_FAR = 0.05, 10.0


def far_values(name: str, minimum: float, maximum: float, values: NDArray[Any]) -> str:
    """Say that a column has values far outside of its range in training, as in another unit.

    Far is what lies beyond the range by more than its width. It is said where that is so of at
    least 5% of the values, or where one lies beyond by more than ten times the width: the largest
    values of a column are in the test rows of some folds, and not in the training rows.

    Parameters
    ----------
    name : str
    minimum, maximum : float
    values : ndarray of shape (n,)
        Numbers, NaN where they are missing.

    Returns
    -------
    str
        The column, both ranges and how many rows, without a full stop; empty if there is nothing
        to say.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.data.extrapolation import far_values
    >>> far_values("height", 1.5, 2.0, np.array([170.0, 1.8, 185.0]))
    "'height' (1.5 to 2 in training; here 1.8 to 185, 2 of 3 rows far outside)"
    >>> far_values("height", 1.5, 2.0, np.array([1.45, 2.1]))
    ''
    """
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if not len(known):
        return ""
    width = float(maximum - minimum) or max(abs(float(maximum)), 1.0)
    beyond = np.maximum(minimum - known, known - maximum) / width
    n_far = int(np.count_nonzero(beyond > 1))
    if not n_far or (n_far < _MANY_FAR * len(known) and beyond.max() <= _VERY_FAR):
        return ""
    low, high = short(known.min().item()), short(known.max().item())
    here = low if len(known) == 1 else f"{low} to {high}"
    rows = "" if len(values) == 1 else f", {n_far} of {len(values)} rows far outside"
    return f"{name!r} ({short(minimum)} to {short(maximum)} in training; here {here}{rows})"


def warn_of_far_values(found: Iterable[str]) -> None:
    """Warn once of all columns of a call that have values far outside of their range.

    Parameters
    ----------
    found : iterable of str
        Of :func:`far_values`; empty ones are left out.

    Warns
    -----
    ExtrapolationWarning
    """
    listed = [text for text in found if text]
    if listed:
        warnings.warn(
            f"Values far outside of those in training, as in another unit: {'; '.join(listed)}. "
            "The predictions extrapolate.",
            ExtrapolationWarning,
            stacklevel=user_stacklevel(),
        )
