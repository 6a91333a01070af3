"""Labels of the rows: which two there are, and which is the positive one."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing
from riskslim.data.faults import Column, missing_among, object_fault
from riskslim.data.tables import as_series, values_of
from riskslim.data.weights import check_length

__all__ = ["encode_labels", "is_plain_order"]

# Pairs of labels of which the second, also in sorted order, is the one whose risk is meant.
_PLAIN_LABELS = {
    ("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("negative", "positive"),
    ("neg", "pos"), ("absent", "present"), ("0", "1"), ("-1", "1"), ("-1", "+1"),
}  # fmt: skip


def is_plain_order(classes: tuple[Any, Any]) -> bool:
    """True if labels say themselves which is the positive one, or are no two texts.

    Parameters
    ----------
    classes : (negative label, positive label)
        In sorted order.

    Returns
    -------
    bool

    Examples
    --------
    >>> from riskslim.data.labels import is_plain_order
    >>> is_plain_order(("no", "yes")), is_plain_order(("injury", "no injury"))
    (True, False)
    >>> is_plain_order(("no sepsis", "sepsis")), is_plain_order((0, 1))
    (True, True)
    """
    if not all(isinstance(label, str) for label in classes):
        return True
    other, positive = (label.strip().casefold() for label in classes)
    negations = [f"{no}{mark}{positive}" for no in ("no", "not", "non") for mark in " -_"]
    return (other, positive) in _PLAIN_LABELS or other in negations


def encode_labels(
    y: Any, n_samples: int, positive_label: Any
) -> tuple[NDArray[np.int8], tuple[Any, Any]]:
    """Return the labels as -1 and +1, and the two labels as the user has them."""
    if y is None:
        raise ValueError("y is None, but the labels are needed: a 1d array with two classes.")
    series = as_series(y)
    is_text = series is not None and _is_text_series(series)
    values = series if is_text else values_of(y, "y")
    # Too few labels can be of one class: their number is the fault then.
    check_length("y", len(values), n_samples)
    distinct = _distinct_text(series) if is_text else _distinct_labels(values)
    classes = _order_classes(distinct, positive_label)
    positive = values == classes[1]
    if values is series:
        positive = positive.to_numpy()
    # True, False -> +1, -1 without a second temporary.
    labels: NDArray[np.int8] = np.asarray(positive).astype(np.int8)
    labels *= 2
    labels -= 1
    return labels, classes


def _is_text_series(series: Any) -> bool:
    # Text is compared inside its own library: n Python strings would cost 60 bytes each.
    import narwhals as nw

    if series.dtype == nw.String:
        return True
    return series.dtype in (nw.Categorical, nw.Enum) and not series.implementation.is_pandas_like()


def _distinct_text(series: Any) -> list[Any]:
    if series.null_count():
        _raise_missing_labels(series.is_null().to_numpy())
    distinct = series.unique().to_list()
    return _check_two(distinct)


def _distinct_labels(y: Column) -> list[Any]:
    """Return the two distinct labels in y as Python scalars."""
    kind = y.dtype.kind
    if kind == "O":
        return _check_two(_distinct_objects(y))
    if kind == "c":
        raise ValueError(f"Unknown label type: y has dtype {y.dtype}. Complex data not supported.")
    if kind not in "biufUS":
        raise ValueError(f"Unknown label type: y has dtype {y.dtype}; expected numbers or text.")
    if kind == "f":
        _check_finite_labels(y)
    first = y[0]
    rest = y != first
    second = y[np.argmax(rest)]
    rest &= y != second
    if not rest.any():
        distinct = [first, second] if second != first else [first]
    else:
        distinct = list(np.unique(y))
        if kind == "f" and any(label != np.rint(label) for label in distinct):
            raise ValueError(
                f"Unknown label type: continuous. y has {len(distinct)} distinct values that are "
                "not all integers; a classifier expects two classes."
            )
    return _check_two([label.item() for label in distinct])


def _check_finite_labels(y: Column) -> None:
    if np.isfinite(y.min()) and np.isfinite(y.max()):  # NaN propagates
        return
    if (missing := np.isnan(y)).any():
        _raise_missing_labels(missing)
    infinite = np.isinf(y)
    raise ValueError(
        f"Input y contains infinity: {np.count_nonzero(infinite)} of {len(y)} labels, first at "
        f"row {np.argmax(infinite)} (rows counted from 0)."
    )


def _distinct_objects(y: Column) -> list[Any]:
    missing = missing_among(y)
    if missing.any():
        _raise_missing_labels(missing)
    faults = {kind: object_fault(kind) for kind in set(map(type, y))}
    for kind, fault in faults.items():
        if fault not in {None, "text"}:
            raise ValueError(
                f"Unknown label type: y contains objects of type {kind.__name__!r}; expected "
                "numbers or text."
            )
    # In the order of the rows: that of a set would differ from run to run.
    labels = dict.fromkeys(y.tolist())
    return [label.item() if isinstance(label, np.generic) else label for label in labels]


def _raise_missing_labels(missing: Any) -> NoReturn:
    missing = np.asarray(missing)
    raise ValueError(
        f"Input y contains NaN: {np.count_nonzero(missing)} of {len(missing)} labels are missing, "
        f"first at row {np.argmax(missing)} (rows counted from 0). Remove these rows."
    )


def _check_two(distinct: list[Any]) -> list[Any]:
    if len(distinct) == 1:
        raise ValueError(
            f"Two classes are needed, but y contains only one class: {distinct[0]!r} in all rows."
        )
    if len(distinct) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y has {len(distinct)} distinct labels, {listing(map(repr, _sorted(distinct)))}."
        )
    return distinct


def _sorted(labels: list[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # labels of different types
        return sorted(labels, key=lambda label: (type(label).__name__, str(label)))


def _number(label: Any) -> float:
    try:
        return float(label)
    except (TypeError, ValueError):
        return math.nan


def _order_classes(distinct: list[Any], positive_label: Any) -> tuple[Any, Any]:
    """Return (negative, positive) label."""
    if positive_label is None:
        try:
            negative, positive = sorted(distinct)
        except TypeError:
            raise ValueError(
                f"The labels {distinct[0]!r} and {distinct[1]!r} in y have no order: say which is "
                "the positive one with positive_label=."
            ) from None
        return negative, positive
    for matches in (
        lambda label: label == positive_label,
        lambda label: str(label) == str(positive_label),
        lambda label: _number(label) == _number(positive_label),  # "1" of 0.0 and 1.0
    ):
        found = [label for label in distinct if matches(label)]
        if len(found) == 1:
            (negative,) = (label for label in distinct if label is not found[0])
            return negative, found[0]
    raise ValueError(
        f"positive_label={positive_label!r} is not a label in y; the labels are "
        f"{listing(map(repr, _sorted(distinct)))}."
    )
