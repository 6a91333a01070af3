"""Faults of columns, and the errors that name them."""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing

__all__ = [
    "NUMBER",
    "Column",
    "ColumnError",
    "UnusableColumnsError",
    "check_not_mixed",
    "check_numeric",
    "missing_among",
    "raise_faults",
    "real_faults",
]

# A column of numbers, truth values or text, shape (n,).
Column: TypeAlias = NDArray[Any]

# Text that is a number, with a decimal point or comma; and one that bounds a number.
NUMBER = re.compile(r"\s*[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?\s*")
_COMPARED = re.compile(rf"\s*[<>≤≥~]=?{NUMBER.pattern}")

# Whole numbers as text that are more than these are no levels.
_MOST_LEVELS = 10

# Characters of a value, or of several, that an error shows.
_LONGEST_EXAMPLE = 500

# Integers from here on are no longer all exact in float64.
EXACT_INTEGER_LIMIT = 2.0**53

# ---------------------------------------------------------------------------------------------
# Faults of columns, collected so that one error names them all
# ---------------------------------------------------------------------------------------------

# Kind of fault -> (exception, first sentence in scikit-learn's words if it has some that help, what
# is counted, advice).
FAULTS: dict[str, tuple[type[Exception], str, str, str]] = {
    "text": (
        ValueError,
        "could not convert string to float: {example}.",
        "text",
        "Encode text as numbers (for example one 0/1 column per category) or leave it out.",
    ),
    "mixed": (
        ValueError,
        "could not convert string to float: {example}.",
        "values that are no numbers, among numbers",
        "Correct these values, or make them missing ones.",
    ),
    "complex": (ValueError, "Complex data not supported.", "complex numbers", "Use real numbers."),
    "date": (
        TypeError,
        "",
        "dates or times",
        "Convert them to numbers (for example days since a reference date) or leave them out.",
    ),
    "object": (
        TypeError,
        "float() argument must be a string or a real number, not {example}.",
        "objects that are no numbers",
        "Convert them to numbers or leave them out.",
    ),
    "missing": (
        ValueError,
        "Input X contains NaN.",
        "missing values",
        "Remove these rows, or impute the values and add a 0/1 column that says where.",
    ),
    "infinite": (
        ValueError,
        "Input X contains infinity or a value too large for dtype('float64').",
        "infinite values",
        "Remove these rows or replace the values.",
    ),
    "inexact": (
        ValueError,
        "Input X contains integers too large to be exact in dtype('float64').",
        "integers of magnitude 2**53 or more",
        "Is this an identifier? Leave it out, or make it text if each value is a level; otherwise "
        "subtract a number from it, or divide it.",
    ),
    "not boolean": (
        ValueError,
        "Found {example} in a column that had no values but 0 and 1 in fit.",
        "values other than 0 and 1",
        "Correct them, or fit on rows that have such values.",
    ),
    "unknown": (
        ValueError,
        "Found unknown categories {example} during transform.",
        "levels that did not occur in fit",
        "handle_unknown='ignore' makes all items of theirs 0; cross-validation needs it where the "
        "training rows of a fold lack a level.",
    ),
    "special": (
        ValueError,
        "",
        "special values, which are to stay as they are",
        "A score would take them for numbers: take them out of numeric, or remove these rows.",
    ),
    "special levels": (
        ValueError,
        "",
        "levels, of which special values are named",
        "Each of their levels has an item of its own: leave them out of special_values.",
    ),
    "inexact special": (
        ValueError,
        "",
        "special values that their type does not hold exactly",
        "Convert these columns to float64.",
    ),
    "levels": (
        ValueError,
        "Found more than {example} different texts in a column.",
        "too many different texts",
        "Do they say who a row is? Leave them out; otherwise put rare ones together beforehand.",
    ),
}


class ColumnError(Exception):
    """One column cannot be used; caught, collected and raised again with the column's name.

    ``mask`` says which rows are at fault, where that was found out. ``place`` names the first of
    them where rows are not of one table: "row 17 of the file part-3.parquet".
    """

    def __init__(self, kind: str, count: int, first: int, example: str = "") -> None:
        if len(example) > _LONGEST_EXAMPLE:
            example = f"{example[:_LONGEST_EXAMPLE]}...{example[-1]}"  # a quote, or a bracket
        super().__init__(kind, count, first, example)
        self.kind, self.count, self.first, self.example = kind, count, first, example
        self.mask: NDArray[np.bool_] | None = None
        self.place = ""

    @classmethod
    def at(cls, kind: str, where: NDArray[np.bool_], example: str = "") -> ColumnError:
        """Count the rows at fault and find the first of them."""
        fault = cls(kind, int(np.count_nonzero(where)), int(np.argmax(where)), example)
        fault.mask = where
        return fault

    def where(self, n_samples: int) -> str:
        """Say in how many rows the fault is, and where first; which value, where that tells."""
        value = f"{self.example} " if self.kind == "mixed" else ""
        place = self.place or f"row {self.first}"
        return f"{self.count} of {n_samples} rows, first {value}at {place}"


class UnusableColumnsError(Exception):
    """Columns cannot be used: which, and what is wrong with them, beside the message.

    Parameters
    ----------
    message : str
    """

    faults: tuple[tuple[str, ColumnError], ...] = ()
    n_samples: int = 0


class UnusableValuesError(UnusableColumnsError, ValueError):
    """Columns have values that cannot be used."""


class UnusableObjectsError(UnusableColumnsError, TypeError):
    """Columns have objects that are no numbers."""


def raise_faults(
    faults: list[tuple[int, ColumnError]],
    names: Sequence[str],
    n_samples: int,
    advice: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Raise one error for all faults, a line for each kind; its type is that of the worst one.

    `advice` replaces what FAULTS advises for some kinds.
    """
    if not faults:
        return
    faults = sorted(faults, key=lambda pair: pair[0])
    kinds = [kind for kind in FAULTS if any(fault.kind == kind for _, fault in faults)]
    lines = []
    for kind in kinds:
        _, headline, counted, usual_advice = FAULTS[kind]
        columns = [(j, fault) for j, fault in faults if fault.kind == kind]
        listed = listing(f"{names[j]!r} ({f.where(n_samples)})" for j, f in columns)
        found = [
            headline.format(example=columns[0][1].example),
            f"Columns with {counted} (rows counted from 0): {listed}. "
            f"{advice.get(kind, usual_advice)}",
        ]
        # What float() says of objects tells people little.
        order = found if FAULTS[kind][0] is ValueError else found[::-1]
        lines.append(" ".join(filter(None, order)))
    is_value_error = FAULTS[kinds[0]][0] is ValueError
    error = (UnusableValuesError if is_value_error else UnusableObjectsError)("\n".join(lines))
    error.faults = tuple((str(names[j]), fault) for j, fault in faults)
    error.n_samples = n_samples
    raise error


def check_numeric(values: Column) -> Column:
    """Return a column as an array of a real dtype, or raise ColumnError."""
    if values.ndim != 1:
        raise ColumnError("object", len(values), 0, "'array'")
    if not len(values):
        return np.empty(0)
    kind = values.dtype.kind
    if kind in "biuf":
        return values
    if kind in "UO":
        check_not_mixed(values)
    if kind == "O":
        return _numbers_from_objects(values)
    example = repr(values[0].item()) if kind in "US" else repr(str(values.dtype))
    fault = {"U": "text", "S": "text", "c": "complex", "M": "date", "m": "date"}
    raise ColumnError(fault.get(kind, "object"), len(values), 0, example)


def check_not_mixed(values: Column, counts: NDArray[np.int64] | None = None) -> None:
    """Refuse numbers among which some values are text that is no number, such as "<0.1".

    A file with such a value has text in the whole column, which would be taken for levels. Without
    fractions, many values or a sign of comparison these may be what is meant: "1", "2", "3+".

    Parameters
    ----------
    values : ndarray of shape (n,)
        Text, or objects.
    counts : ndarray of int64, shape (n,), optional
        Rows that have each value. Default: one.

    Raises
    ------
    ColumnError
        It names the first such value.
    """
    rows = values.tolist()
    texts = {row for row in rows if isinstance(row, str)}
    as_numbers = {text for text in texts if NUMBER.fullmatch(text)}
    others = texts - as_numbers
    if not any(map(str.strip, others)):
        return
    strange = np.array([isinstance(row, str) and row in others for row in rows])
    real = [isinstance(row, (int, float, np.number)) and row == row for row in rows]
    if counts is None:
        counts = np.ones(len(rows), np.int64)
    is_number = np.array([isinstance(row, str) and row in as_numbers for row in rows]) | real
    n_numbers, n_strange = int(counts[is_number].sum()), int(counts[strange].sum())
    numbers_in = as_numbers | {str(row) for row, is_real in zip(rows, real, strict=True) if is_real}
    are_numbers = (
        len(numbers_in) > _MOST_LEVELS
        or any(not text.strip().lstrip("+-").isdigit() for text in numbers_in)
        or any(_COMPARED.fullmatch(text) for text in others)
    )
    if are_numbers and n_numbers >= n_strange:
        raise ColumnError.at("mixed", strange, repr(rows[int(np.argmax(strange))]))


def _numbers_from_objects(values: Column) -> NDArray[np.float64]:
    """Convert Python numbers; None, pandas.NA and the like are missing, text is never parsed."""
    faults = {kind: fault for kind in set(map(type, values)) if (fault := object_fault(kind))}
    for fault in FAULTS:
        types = {kind for kind, found in faults.items() if found == fault}
        if types:
            where = np.array([type(v) in types for v in values])
            if fault == "missing":
                where |= [isinstance(v, float) and v != v for v in values]
            first = values[np.argmax(where)]
            example = repr(first) if fault == "text" else repr(type(first).__name__)
            raise ColumnError.at(fault, where, example)
    try:
        converted = values.astype(np.float64)
    except OverflowError:
        exact = np.array([isinstance(v, (int, Fraction)) for v in values])
        huge = exact & (np.abs(values) >= EXACT_INTEGER_LIMIT)
        raise ColumnError.at("inexact", huge) from None
    if np.any(large := np.abs(converted) >= EXACT_INTEGER_LIMIT):
        integral = [isinstance(v, numbers.Integral) for v in values[large]]
        large[large] = integral
        if large.any():
            raise ColumnError.at("inexact", large)
    return converted


def object_fault(kind: type) -> str | None:
    """Return the kind of fault that objects of this type are in a column of numbers."""
    if kind is type(None) or kind.__name__ in {"NAType", "NaTType", "MaskedConstant"}:
        return "missing"
    if issubclass(kind, (str, bytes)):
        return "text"
    if issubclass(kind, (date, time, timedelta, np.datetime64, np.timedelta64)):
        return "date"
    if issubclass(kind, (numbers.Real, np.bool_, Decimal)):
        return None
    return "complex" if issubclass(kind, numbers.Complex) else "object"


def missing_among(labels: Sequence[Any] | NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which of some objects are no labels but missing: None, NaN, NA, NaT, masked.

    Parameters
    ----------
    labels : sequence or ndarray of shape (n,)

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    kinds = {kind for kind in set(map(type, labels)) if object_fault(kind) == "missing"}
    missing = [
        type(label) in kinds or (isinstance(label, float) and label != label) for label in labels
    ]
    return np.array(missing, dtype=bool)


def real_faults(column: NDArray[np.float64], kind: str) -> Iterator[ColumnError]:
    """Faults of a float64 column that came from an array of the given kind."""
    with np.errstate(over="ignore", invalid="ignore"):
        if kind not in "iu" and np.isfinite(column.sum()):
            return  # one pass, and no array, where nothing is wrong
    for fault, where in (
        ("missing", np.isnan(column)),
        ("infinite", np.isinf(column)),
        ("inexact", (np.abs(column) >= EXACT_INTEGER_LIMIT) & (kind in "iu")),
    ):
        if where.any():
            yield ColumnError.at(fault, where)
