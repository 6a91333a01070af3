"""Weights of the rows, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskslim.data.faults import FAULTS, ColumnError, check_numeric
from riskslim.data.tables import values_of

__all__ = [
    "check_class_totals",
    "check_length",
    "check_size_of_weights",
    "checked_weights",
    "weights_of_rows",
]

# Weights count relative to each other; beyond these, sums of products overflow or vanish.
_WEIGHT_RANGE = (1e-100, 1e100)
_LEAST_CLASS_SHARE = 1e-14


def check_length(what: str, length: int, n_samples: int) -> None:
    """Raise ``ValueError`` unless there is a value of ``what`` for each row."""
    if length != n_samples:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{n_samples}, {length}] "
            f"(X has {n_samples} rows, {what} has {length})."
        )


def weights_of_rows(
    sample_weight: Any, labels: NDArray[np.int8], classes: tuple[Any, Any]
) -> NDArray[np.float64] | None:
    """Check the weights of labelled rows; None where none are given."""
    if sample_weight is None:
        return None
    weights = checked_weights(sample_weight, len(labels))
    _check_class_weights(weights, labels, classes)
    return weights


def checked_weights(sample_weight: Any, n_samples: int) -> NDArray[np.float64]:
    """Weights as finite non-negative numbers, one for each row; ``ValueError`` otherwise."""
    values = values_of(sample_weight, "sample_weight")
    check_length("sample_weight", len(values), n_samples)
    try:
        weights = np.array(check_numeric(values), dtype=np.float64)
    except ColumnError as fault:
        _, _, counted, _ = FAULTS[fault.kind]
        raise ValueError(
            f"sample_weight must hold non-negative numbers, got {counted} in {fault.count} of "
            f"{n_samples} rows, first at row {fault.first} (rows counted from 0)."
        ) from None
    for wrong, problem in (
        (np.isnan(weights), "Input sample_weight contains NaN"),
        (np.isinf(weights), "Input sample_weight contains infinity"),
        (weights < 0.0, "Negative values in data passed to `sample_weight`"),
    ):
        if wrong.any():
            raise ValueError(
                f"{problem}: {np.count_nonzero(wrong)} of {len(weights)} rows, first at row "
                f"{np.argmax(wrong)} (rows counted from 0)."
            )
    return weights


def check_size_of_weights(weights: NDArray[np.float64]) -> None:
    """Refuse weights, not all of them zero, whose sums and products leave double precision."""
    largest = float(weights.max())
    if not _WEIGHT_RANGE[0] <= largest <= _WEIGHT_RANGE[1]:
        raise ValueError(
            f"The largest sample_weight is {largest:.6g}; sums and products of such weights leave "
            "float64: divide all weights by it, which changes nothing else."
        )


def _check_class_weights(
    weights: NDArray[np.float64], labels: NDArray[np.int8], classes: tuple[Any, Any]
) -> None:
    if not weights.any():
        raise ValueError(
            f"Sample weights must contain at least one non-zero number: all {len(weights)} "
            "weights are zero."
        )
    for sign, label in zip((-1, 1), classes, strict=True):
        rows = labels == sign
        if not weights.any(where=rows):
            raise ValueError(
                f"Two classes are needed, but only one class has weight: all "
                f"{np.count_nonzero(rows)} rows of class {label!r} have weight zero."
            )
    check_size_of_weights(weights)
    totals = [float(weights.sum(where=labels == sign)) for sign in (-1, 1)]
    check_class_totals((totals[0], totals[1]), classes)


def check_class_totals(totals: tuple[float, float], classes: tuple[Any, Any]) -> None:
    """Refuse a class of no weight, or of so little that nothing can be learnt of it."""
    for total, label in zip(totals, classes, strict=True):
        if not total > 0.0:
            raise ValueError(
                f"Two classes are needed, but no row of class {label!r} has a positive weight."
            )
        share = total / (totals[0] + totals[1])
        if share < _LEAST_CLASS_SHARE:
            raise ValueError(
                f"Class {label!r} has {share:.3g} of the total sample_weight, less than "
                f"{_LEAST_CLASS_SHARE:g}: nothing can be learnt of it in double precision."
            )
