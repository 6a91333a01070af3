"""Columns of few whole numbers that look like codes: the outcome neither rises nor falls with them.

Cut-offs put the values of a column in an order. Of a code, such as 1 for single and 2 for married,
the order means nothing, and an item for each value says more.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing
from riskslim.data.labels import encode_labels
from riskslim.exceptions import PositiveLabelWarning
from riskslim.items.variables import special_among

if TYPE_CHECKING:
    from riskslim.items.columns import ColumnEncoder

__all__ = [
    "code_rates",
    "code_rates_of",
    "note_on_codes",
    "note_on_special",
    "outcome_of",
    "suspected_in",
    "suspected_special",
]

# Fewer values have no order that could be wrong; with more, few people think of codes.
_FEWEST, _MOST = 3, 12
# The chance that a column whose rates do rise, or fall, is named.
_LEVEL = 0.001
# Share of what the values say that is lost in the best order: less is not worth a word.
_LEAST_LOST = 0.25
# Values that stand for a missing one where they are unlike all others: -9, -99, 99, 998, ...
_NINES = tuple(float(10**k - m) for k in range(2, 7) for m in (1, 2, 3))
_NEGATIVE = (*map(float, range(-9, 0)), *(-value for value in _NINES))
# So many other values, and so large a heap, it takes to say so.
_SAMPLED_ROWS = 100_000
_FEWEST_OTHERS, _LEAST_HEAP, _LEAST_SHARE = 5, 5, 0.005


def code_rates(
    values: NDArray[Any], weights: NDArray[np.float64], positive: NDArray[np.bool_]
) -> dict[float, float] | None:
    """Rates of the outcome by value, if these are clearly no rates that rise or fall.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers, none of them missing.
    weights : ndarray of float64, shape (n,)
        Positive.
    positive : ndarray of bool, shape (n,)

    Returns
    -------
    dict from float to float, or None
        None unless the column has 3 to 12 values, all of them whole; the deviance of a rate for
        each value is less than that of the best rates that rise, and of the best that fall, by more
        than is left to chance; and a quarter at least of what the values say about the outcome is
        lost so.

    Notes
    -----
    The best monotone rates are those of isotonic regression (pool adjacent violators). Twice the
    difference of the log-likelihoods is, for rates that are monotone, at most distributed as
    chi-squared with one degree of freedom less than there are values. Weights count relative to
    their mean.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.items.codes import code_rates
    >>> values = np.repeat([1, 2, 3], 100)
    >>> def rates(*counts):
    ...     positive = np.concatenate([np.arange(100) < count for count in counts])
    ...     return code_rates(values, np.ones(300), positive)
    >>> rates(10, 60, 10), rates(10, 40, 60)
    ({1.0: 0.1, 2.0: 0.6, 3.0: 0.1}, None)
    """
    if not len(values) or values.dtype.kind not in "iuf":
        return None
    distinct, place = np.unique(values, return_inverse=True)
    if not _FEWEST <= len(distinct) <= _MOST or not (distinct == np.floor(distinct)).all():
        return None
    n = np.bincount(place, weights) * (len(values) / weights.sum())
    events = np.bincount(place, weights * positive) * (len(values) / weights.sum())
    best = _log_likelihood(n, events)
    flat = _log_likelihood(n.sum(keepdims=True), events.sum(keepdims=True))
    ordered = max(_monotone(n, events), _monotone(n[::-1], events[::-1]))
    lost = best - ordered
    if 2 * lost <= _chi_squared(len(distinct) - 1) or lost < _LEAST_LOST * (best - flat):
        return None
    return dict(zip(map(float, distinct), (events / n).tolist(), strict=True))


def suspected_special(
    values: NDArray[Any], counts: NDArray[np.int64] | None = None
) -> tuple[float, ...]:
    """Values of a column that look like codes among measurements, as of missing values.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers; those that are missing do not count.
    counts : ndarray of int64, shape (n,), optional
        How many rows have each, where each value is given once.

    Returns
    -------
    tuple of float
        Heaps of -1 to -9, or of -99, -998 and their like, in a column that has no other negative
        numbers; and of 99, 998 and their like at twice the largest other value or more. They are
        none if they continue the other values, as -1 and -2 do below 0, 1 and 2.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.items.codes import suspected_special
    >>> years = np.arange(20, 80).repeat(5)
    >>> suspected_special(np.concatenate([years, [-9] * 9, [999] * 9]))
    (-9.0, 999.0)
    >>> suspected_special(np.arange(-9, 30).repeat(9))
    ()
    """
    known = np.isfinite(values)
    if counts is None:
        distinct, counts = np.unique(values[known], return_counts=True)
    else:
        order = np.argsort(values[known])
        distinct, counts = values[known][order], counts[known][order]
    is_heap = counts >= max(_LEAST_HEAP, _LEAST_SHARE * counts.sum())
    low, high = distinct < 0, np.isin(distinct, _NINES)
    others = distinct[~low & ~high]
    if len(others) < _FEWEST_OTHERS:
        return ()
    if not (is_heap & np.isin(distinct, _NEGATIVE))[low].all() or others[0] - 1 in distinct[low]:
        low = np.zeros_like(low)
    if (distinct[high] < 2 * others[-1]).any() or not is_heap[high].all():
        high = np.zeros_like(high)
    return tuple(map(float, distinct[low | high].tolist()))


def suspected_in(
    encoder: ColumnEncoder, raw: NDArray[Any], counts: NDArray[np.int64] | None = None
) -> tuple[float, ...]:
    """:func:`suspected_special` of a column of fit, without missing and special values.

    Parameters
    ----------
    encoder : ColumnEncoder
        Fitted to the column.
    raw : ndarray of shape (n,)
        Of many rows some are looked at, evenly.
    counts : ndarray of int64, shape (n,), optional
        How many rows have each, where each value is given once.

    Returns
    -------
    tuple of float
        None of columns that are no numbers.
    """
    if encoder.reading != "numbers" or encoder.variable is None:
        return ()
    step = 1 if counts is not None else max(1, len(raw) // _SAMPLED_ROWS)
    column = encoder.read(raw[::step], "error")
    found = np.asarray(column.values, np.float64)
    rows = np.isfinite(found)
    if column.missing is not None:
        rows &= ~column.missing
    if encoder.variable.special:
        rows &= ~special_among(found, encoder.variable.special)
    return suspected_special(found[rows], None if counts is None else counts[rows])


def note_on_special(found: Mapping[str, Sequence[float]]) -> str:
    """Say in words which columns have values that look like codes.

    Parameters
    ----------
    found : mapping from str to sequence of float
        Such values, by column; one at least.

    Returns
    -------
    str

    Examples
    --------
    >>> from riskslim.items.codes import note_on_special
    >>> print(note_on_special({"age": [-9.0, 999.0]}).partition(":")[0])
    columns have values that are unlike all others of theirs, 'age' (-9, 999)
    """
    listed = listing(
        f"{name!r} ({', '.join(f'{value:g}' for value in values)})"
        for name, values in found.items()
    )
    return (
        f"columns have values that are unlike all others of theirs, {listed}: if they are codes, "
        "as of missing values, name them in special_values={...} of an ItemEncoder (--special "
        "NAME=V,V on the command line), or make them missing; if they are amounts, leave them as "
        "they are"
    )


def outcome_of(y: Any, n_samples: int) -> NDArray[np.bool_] | None:
    """Rows with the outcome; None where y does not say which these are, as it need not.

    Parameters
    ----------
    y : array-like of shape (n,) or None
    n_samples : int

    Returns
    -------
    ndarray of bool, shape (n,), or None
    """
    if y is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PositiveLabelWarning)
            labels, _ = encode_labels(y, n_samples, None)
    except (ValueError, TypeError):
        return None
    return np.asarray(labels > 0)


def code_rates_of(
    encoder: ColumnEncoder,
    raw: NDArray[Any],
    weights: NDArray[np.float64],
    positive: NDArray[np.bool_],
) -> dict[float, float] | None:
    """:func:`code_rates` of a column of fit, without missing and special values.

    Parameters
    ----------
    encoder : ColumnEncoder
        Fitted to the column.
    raw : ndarray of shape (n,)
    weights : ndarray of float64, shape (n,)
    positive : ndarray of bool, shape (n,)

    Returns
    -------
    dict from float to float, or None
        None as well where the user has said that the numbers have an order: by cut-offs of his own,
        or as a column that stays as it is.
    """
    variable = encoder.variable
    if encoder.reading != "numbers" or variable is None or variable.cutoffs in (None, "given"):
        return None
    column = encoder.read(raw, "error")
    rows = np.ones(len(weights), np.bool_) if column.missing is None else ~column.missing
    if variable.special:
        rows &= ~special_among(column.values, variable.special)
    return code_rates(column.values[rows], weights[rows], positive[rows])


def _chi_squared(degrees: int) -> float:
    from scipy.special import chdtri

    return float(chdtri(degrees, _LEVEL))


def _log_likelihood(n: NDArray[np.float64], events: NDArray[np.float64]) -> float:
    """Log-likelihood of each group at its own rate."""
    from scipy.special import xlogy

    others = np.maximum(n - events, 0)
    return float(np.sum(xlogy(events, events / n) + xlogy(others, others / n)))


def _monotone(n: NDArray[np.float64], events: NDArray[np.float64]) -> float:
    """Log-likelihood of the best rates that do not fall."""
    blocks: list[tuple[float, float]] = []
    for size, count in zip(n.tolist(), events.tolist(), strict=True):
        while blocks and blocks[-1][1] * size >= count * blocks[-1][0]:
            before = blocks.pop()
            size, count = size + before[0], count + before[1]
        blocks.append((size, count))
    sizes, counts = (np.array(side) for side in zip(*blocks, strict=True))
    return _log_likelihood(sizes, counts)


def note_on_codes(found: Mapping[str, Mapping[float, float]]) -> str:
    """Say in words which columns look like codes.

    Parameters
    ----------
    found : mapping from str to mapping from float to float
        Rates by value, by column; one at least.

    Returns
    -------
    str

    Examples
    --------
    >>> from riskslim.items.codes import note_on_codes
    >>> print(note_on_codes({"ward": {1.0: 0.1, 2.0: 0.6, 3.0: 0.1}}).partition(",")[0])
    the outcome neither rises nor falls with the numbers of 'ward' (1: 10%
    """
    listed = listing(
        f"{name!r} ({', '.join(f'{value:g}: {rate:.0%}' for value, rate in rates.items())})"
        for name, rates in found.items()
    )
    return (
        f"the outcome neither rises nor falls with the numbers of {listed}, the share of rows with "
        "it by value: if they are codes, name them in categorical=... (--categorical NAME on the "
        "command line) for an item per value; if they are amounts, leave them as they are"
    )
