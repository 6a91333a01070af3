"""Labels, values and weights of rows as metrics take them, checked."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._checks import is_int, is_number
from riskslim._wording import listing
from riskslim.data.faults import missing_among
from riskslim.data.tables import the_only_column, values_of
from riskslim.data.weights import check_size_of_weights

__all__ = [
    "MOST_DISTINCT_SCORES",
    "check_both_classes",
    "check_empty_rows",
    "check_resamples",
    "check_risks",
    "check_same_length",
    "checked_level",
    "checked_rows",
    "checked_values",
    "checked_weights",
    "equal_bins",
    "has_both_classes",
    "number_of_bins",
    "records_of",
    "unmasked",
    "weighted_quantiles",
]

# The paper's rule for diagrams: with more distinct scores than this, scores are put into bins.
MOST_DISTINCT_SCORES = 30
N_BINS = 10

# Relative error of a sum of weights, so that tenths add up as integers do.
_WEIGHT_SLACK = 1e-12


def number_of_bins(bins: Any, n_distinct: int) -> int | None:
    """Find how many groups of rows ``bins`` asks for; None for one per distinct score."""
    if bins is None:
        return None
    if isinstance(bins, str) and bins == "auto":
        return N_BINS if n_distinct > MOST_DISTINCT_SCORES else None
    if not is_int(bins) or bins < 1:
        raise ValueError(f"bins must be 'auto', None or a positive int, got {bins!r}")
    return int(bins)


def equal_bins(
    group: NDArray[np.intp], weight: NDArray[np.float64], n_bins: int
) -> NDArray[np.intp]:
    """Put groups in the order of their scores into bins of about the same weight."""
    per_score = np.bincount(group, weight)
    middle = np.cumsum(per_score) - 0.5 * per_score
    bin_of_score = np.minimum((middle / per_score.sum() * n_bins).astype(np.intp), n_bins - 1)
    # Bins that no score falls into are left out.
    return np.asarray(np.unique(bin_of_score, return_inverse=True)[1][group])


def weighted_quantiles(
    values: NDArray[np.float64], shares: ArrayLike, weight: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Find quantiles of rows by weight: the least values that more than a share are at most.

    Parameters
    ----------
    values : ndarray of shape (n,)
        One at least.
    shares : array-like of shape (m,)
        Between 0 and 1, both excluded.
    weight : ndarray of float64, shape (n,), optional
        Non-negative, some of it positive.

    Returns
    -------
    ndarray of float64, shape (m,)
        Some of the values. Where exactly a share of the rows has smaller ones than the next value,
        it is that one: as a cut point it has this share below it.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.metrics.rows import weighted_quantiles
    >>> weighted_quantiles(np.array([0.4, 0.1, 0.3, 0.2]), [0.25, 0.5, 0.6])
    array([0.2, 0.3, 0.3])
    """
    order = np.argsort(values, kind="stable")
    up_to = np.cumsum(np.ones(len(order)) if weight is None else weight[order])
    wanted = np.asarray(shares, dtype=np.float64) * up_to[-1] * (1 + _WEIGHT_SLACK)
    places = np.searchsorted(up_to, wanted, side="right")
    return np.asarray(values[order][np.minimum(places, len(order) - 1)])


def check_empty_rows(empty_rows: Any) -> None:
    """Refuse a floor of shares that is none."""
    if not (is_number(empty_rows) and 0 < empty_rows <= 1):
        raise ValueError(f"empty_rows must be above 0 and at most 1, got {empty_rows!r}")


# ---------------------------------------------------------------------------------------------
# Checks
# ---------------------------------------------------------------------------------------------


def unmasked(*arrays: Any) -> tuple[Any, ...]:
    """Leave out the rows that one of several arrays masks.

    Parameters
    ----------
    *arrays : array-like of shape (n,), or None
        Of these rows, as labels, predictions and weights are.

    Returns
    -------
    tuple
        The arrays as they are where nothing is masked.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.metrics.rows import unmasked
    >>> unmasked([0, 1, 1], np.ma.masked_equal([0.1, -9.0, 0.8], -9.0), None)
    (array([0, 1]), array([0.1, 0.8]), None)
    """
    masks = [np.ma.getmaskarray(one).ravel() for one in arrays if np.ma.isMaskedArray(one)]
    if not any(mask.any() for mask in masks):
        return arrays
    rows = [None if one is None else np.ma.getdata(np.ma.asarray(one)).ravel() for one in arrays]
    check_same_length(*rows, *masks)
    kept = ~np.logical_or.reduce(masks)
    return tuple(None if one is None else one[kept] for one in rows)


def checked_rows(
    y_true: Any, values: Any, sample_weight: Any, pos_label: Any, what: str
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
    """Check labels, predictions and weights.

    Parameters
    ----------
    y_true, values, sample_weight : array-like of shape (n,)
        No weights: each row has the weight 1. Rows that are masked in one of them are left out.
    pos_label
        As in :func:`calibration_error`.
    what : str
        What errors call the values.

    Returns
    -------
    positive, values, weight : ndarrays of bool, float64 and float64, shape (n,)

    Raises
    ------
    ValueError
        As in :func:`calibration_error`.
    """
    y_true, values, sample_weight = unmasked(y_true, values, sample_weight)
    positive = positive_rows(y_true, pos_label)
    checked = checked_values(values, what, len(positive))
    return positive, checked, checked_weights(sample_weight, len(positive), "y_true")


def checked_weights(sample_weight: Any, n_rows: int, of: str) -> NDArray[np.float64]:
    """Weights as float64 of shape (n,), 1 where none are given."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = checked_values(sample_weight, "sample_weight", n_rows, of)
    if (weight < 0).any():
        raise ValueError(
            "Negative values in data passed to `sample_weight`: "
            f"{np.count_nonzero(weight < 0)} of {len(weight)} rows, first at row "
            f"{np.argmax(weight < 0)} (rows counted from 0)"
        )
    if not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    check_size_of_weights(weight)
    return weight


def check_risks(risk: NDArray[np.float64]) -> None:
    """Refuse risks that are no probabilities."""
    is_outside = (risk < 0) | (risk > 1)
    if is_outside.any():
        row = int(is_outside.argmax())
        raise ValueError(
            f"risk must hold probabilities between 0 and 1, got {risk[row]!r} at row {row} (rows "
            "counted from 0); pass scores as scores="
        )


def positive_rows(y_true: Any, pos_label: Any = None) -> NDArray[np.bool_]:
    """Say which labels are those of the positive class.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    pos_label : optional
        As in :func:`calibration_error`.

    Returns
    -------
    ndarray of bool, shape (n,)

    Raises
    ------
    ValueError
        No rows, more than two classes, or one class that is not among 0, 1 and -1.

    Examples
    --------
    >>> from riskslim.metrics.rows import positive_rows
    >>> positive_rows(["no", "yes", "no"])
    array([False,  True, False])
    """
    from sklearn.utils import assert_all_finite, column_or_1d

    labels = np.asarray(column_or_1d(_with_gaps(y_true)))
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y_true")
    if labels.dtype.kind == "O" and (missing := missing_among(labels)).any():
        raise ValueError(
            f"Input y_true contains NaN: {missing.sum()} of {len(labels)} labels are missing, "
            f"first at row {missing.argmax()} (rows counted from 0)."
        )
    if not len(labels):
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    distinct = np.unique(labels).tolist()
    if len(distinct) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y_true has {len(distinct)} distinct labels, {listing(map(repr, distinct))}"
        )
    if pos_label is None:
        usual = set(distinct) <= {0, 1} or set(distinct) <= {-1, 1}
        if len(distinct) == 1 and not usual:
            raise ValueError(
                f"y_true has one class only, {distinct[0]!r}: say which is the positive label by "
                "pos_label="
            )
        pos_label = 1 if usual else distinct[1]
    elif len(distinct) == 2 and pos_label not in distinct:
        raise ValueError(
            f"pos_label={pos_label!r} is not a valid label: it should be one of "
            f"{listing(map(repr, distinct))}"
        )
    return np.asarray(labels == pos_label)


def checked_values(
    values: Any, what: str, length: int | None, of: str = "y_true"
) -> NDArray[np.float64]:
    """Finite numbers of shape (n,), as many as ``length`` says."""
    from sklearn.utils import assert_all_finite, column_or_1d

    checked: NDArray[np.float64] = np.asarray(column_or_1d(_with_gaps(values), dtype=np.float64))
    if length is not None and len(checked) != length:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{length}, "
            f"{len(checked)}] ({of} has {length} rows, {what} has {len(checked)})"
        )
    assert_all_finite(checked, input_name=what)
    return checked


def _with_gaps(values: Any) -> Any:
    """Values of which those that are masked are missing, as in tables."""
    return values_of(the_only_column(values), "values") if np.ma.is_masked(values) else values


def check_same_length(*arrays: NDArray[Any] | None) -> None:
    """Refuse arrays of different lengths."""
    from sklearn.utils import check_consistent_length

    check_consistent_length(*arrays)


def has_both_classes(positive: NDArray[np.bool_], weight: NDArray[np.float64] | None) -> bool:
    """True if there are positive and negative rows that have weight."""
    counted = positive if weight is None else positive[weight > 0]
    return bool(counted.any() and not counted.all())


def check_both_classes(positive: NDArray[np.bool_], weight: NDArray[np.float64], what: str) -> None:
    """Refuse rows of one class only, by weight."""
    for rows, sign in ((positive, "positive"), (~positive, "negative")):
        if not weight[rows].any():
            raise ValueError(
                f"Only one class is present in y_true. {what} is not defined in that case: no "
                f"{sign} row (with a weight above zero) among {len(positive)}"
            )


def check_resamples(n_resamples: Any) -> None:
    """Refuse a number of resamples that is no positive int."""
    if not is_int(n_resamples) or n_resamples < 1:
        raise ValueError(f"n_resamples must be a positive int, got {n_resamples!r}")


def checked_level(level: float) -> float:
    """A level of confidence between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
    return float(level)


def records_of(curve: Any) -> list[dict[str, Any]]:
    """Rows of the columns that a curve holds."""
    columns = {
        field.name: values.tolist()
        for field in dataclasses.fields(curve)
        if isinstance(values := getattr(curve, field.name), np.ndarray)
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
