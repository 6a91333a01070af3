"""Columns as items: how each column is read, and which items are made of it.

:func:`fit_column` chooses the items of one column; the :class:`ColumnEncoder` that it returns
reads other rows of the column and writes its items, one at a time, into int8 columns.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing
from riskslim.data.faults import (
    NUMBER,
    ColumnError,
    check_not_mixed,
    check_numeric,
    object_fault,
)
from riskslim.items.cutoffs import Placement, all_cutoffs, equivalent_cutoffs, placed_cutoff
from riskslim.items.item import Item, bound_for, plain_number
from riskslim.items.variables import RawVariable, VariableKind

__all__ = [
    "ColumnEncoder",
    "Direction",
    "ItemRules",
    "ReadColumn",
    "distinct_objects",
    "fit_column",
    "levels_in",
    "missing_in",
    "plain_rows",
    "read_as_numbers",
    "tell_rows_apart",
]

Column: TypeAlias = NDArray[Any]
Direction: TypeAlias = Literal[">=", "<="]
_Reading: TypeAlias = Literal["numbers", "booleans", "levels"]

_KINDS: dict[_Reading, VariableKind] = {
    "numbers": "numeric", "booleans": "boolean", "levels": "categorical",
}  # fmt: skip

# Codes of rows whose value is none of the levels.
_MISSING, _UNKNOWN = -1, -2

_DAY = r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4})"
_DATE = re.compile(rf"\s*{_DAY}(?:[ T]\d{{1,2}}:\d{{2}}.*)?\s*")

# Integers that differ in nearly all of more rows than this are taken for numbers of rows.
_MANY_ROWS = 1000

# Relative error of a sum of weights, so that tenths add up as integers do.
_WEIGHT_SLACK = 1e-12


@dataclass(frozen=True)
class ItemRules:
    """Rules by which columns become items, by names of columns."""

    n_thresholds: int | Literal["all"]
    thresholds: Mapping[str, int | list[float] | Literal["all"]]
    max_thresholds: int
    placement: Placement
    directions: Mapping[str, Direction]
    categorical: frozenset[str]
    numeric: frozenset[str]
    passthrough: bool
    indicators: bool
    min_frequency: float | None
    drop_first: bool


class ReadColumn(NamedTuple):
    """A column that has been read: numbers, or codes of levels."""

    values: Column
    missing: NDArray[np.bool_] | None

    @property
    def known(self) -> Column:
        """Values that are not missing."""
        return self.values if self.missing is None else self.values[~self.missing]


@dataclass(frozen=True)
class ColumnEncoder:
    """The reading of a column, and the items that are made of it."""

    column: str
    reading: _Reading
    items: tuple[Item, ...] = ()
    constant: tuple[Item, ...] = ()
    codes: Mapping[Any, int] = field(default_factory=dict)  # of levels; those in one item share it
    indicator: bool = False
    variable: RawVariable | None = None  # of an encoder that was fitted
    is_identifier: bool = False  # whether the values seem to say who a row is
    n_cutoffs: int = 0  # all that there are, where more than the limit were asked for

    def read(self, raw: Column, handle_unknown: str) -> ReadColumn:
        """Return a column of other rows, or raise what speaks against encoding it."""
        if self.reading == "levels":
            column = _read_levels(raw, self.codes)
            if handle_unknown == "error":
                _check_levels(raw, column.values)
        else:
            column = _read_numbers(raw)
        if column.missing is not None and not self.indicator:
            raise ColumnError.at("missing", column.missing)
        if self.reading == "booleans":
            _check_booleans(column)
        return column

    def write(self, item: Item, column: ReadColumn, out: NDArray[np.int8]) -> None:
        """Write an item of all rows; missing values meet no condition."""
        met = out.view(np.bool_)
        if item.kind == "missing":
            met[:] = False if column.missing is None else column.missing
        elif item.kind == ">=":
            np.greater_equal(column.values, bound_for(column.values, item.value), out=met)
        elif item.kind == "<=":
            np.less_equal(column.values, bound_for(column.values, item.value), out=met)
        elif item.kind == "boolean":
            np.equal(column.values, 1, out=met)
        else:
            level = item.value[0] if item.kind == "in" else item.value
            np.equal(column.values, self.codes[level], out=met)

    def without_constants(self, column: ReadColumn) -> ColumnEncoder:
        """Return the encoder with items apart that have one value in all rows."""
        out = np.empty(len(column.values), dtype=np.int8)
        varied: list[Item] = []
        constant: list[Item] = []
        for item in self.items:
            if item.interval is not None:  # there are rows on both sides
                varied.append(item)
                continue
            if item.kind == "numeric":
                values = column.values
            else:
                values = out
                self.write(item, column, out)
            (constant if values.min() == values.max() else varied).append(item)
        return replace(self, items=tuple(varied), constant=tuple(constant))


def fit_column(
    name: str,
    raw: Column,
    weights: NDArray[np.float64],
    rules: ItemRules,
    counts: NDArray[np.int64] | None = None,
) -> ColumnEncoder:
    """Choose the items of a column; all of the weights are positive.

    With ``counts``, of rows that have each value, each value is given once.
    """
    are_numbers = name in rules.numeric or name in rules.thresholds
    if name not in rules.categorical and _has_text(raw):
        distinct_objects(raw.tolist())  # refuses what no value can be
        check_not_mixed(raw, counts)
    if name in rules.categorical or (not are_numbers and _has_text(raw)):
        column, encoder = _fit_levels(name, raw, weights, rules)
        if name not in rules.categorical:
            _check_no_dates(raw, encoder.codes)
    else:
        column = _read_numbers(raw)
        encoder = _fit_numbers(name, raw, column, weights, rules)
    keeps = any(item.kind == "numeric" for item in encoder.items)
    if column.missing is not None:
        if keeps or not rules.indicators:
            raise ColumnError.at("missing", column.missing)
        items = (*encoder.items, Item.of(name, "missing"))
        encoder = replace(encoder, items=items, indicator=True)
    encoder = replace(encoder, variable=_variable(encoder, column))
    return encoder.without_constants(column)


def _range(known: Column) -> tuple[float | None, float | None]:
    """Least and largest value; of float32 with their short texts, which are in other files."""
    if not len(known):
        return None, None
    least, most = known.min(), known.max()
    if known.dtype.kind == "b":
        return int(least), int(most)
    return min(least.item(), plain_number(least)), max(most.item(), plain_number(most))


def _variable(encoder: ColumnEncoder, column: ReadColumn) -> RawVariable:
    kind, known = _KINDS[encoder.reading], column.known
    minimum, maximum = _range(known) if kind == "numeric" else (None, None)
    return RawVariable(
        encoder.column,
        kind,
        minimum=minimum,
        maximum=maximum,
        levels=tuple(sorted(encoder.codes)),
        n_missing=len(column.values) - len(known),
        n_samples=len(column.values),
    )


def _fit_numbers(
    name: str, raw: Column, column: ReadColumn, weights: NDArray[np.float64], rules: ItemRules
) -> ColumnEncoder:
    given = rules.thresholds.get(name, rules.n_thresholds)
    direction = rules.directions[name]
    if name in rules.numeric or (
        rules.passthrough and name not in rules.thresholds and raw.dtype.kind != "b"
    ):
        return ColumnEncoder(name, "numbers", (Item.of(name, "numeric"),))
    distinct, weight = _distinct(column, weights)
    if distinct.dtype.kind == "b":
        distinct = distinct.astype(np.int8)  # thresholds are asked for: as of 0 and 1
    if isinstance(given, list):
        every = (equivalent_cutoffs(distinct, direction, value) for value in given)
        items = (Item.of(name, direction, *both) for both in zip(given, every, strict=True))
        return ColumnEncoder(name, "numbers", tuple(items))
    if name not in rules.thresholds and (_are_booleans(raw) or np.array_equal(distinct, [0, 1])):
        return ColumnEncoder(name, "booleans", (Item.of(name, "boolean"),))
    most = rules.max_thresholds if given == "all" else given
    return ColumnEncoder(
        name,
        "numbers",
        _cutoffs(name, distinct, weight, direction, most, rules.placement),
        is_identifier=name not in rules.thresholds and tell_rows_apart(distinct, len(column.known)),
        n_cutoffs=len(distinct) - 1 if given == "all" and len(distinct) > most + 1 else 0,
    )


def _cutoffs(
    name: str,
    distinct: Column,
    weight: Column,
    direction: Direction,
    most: int,
    placement: Placement,
) -> tuple[Item, ...]:
    """At most so many cut-offs of a column, of those that split its rows."""
    if len(distinct) < 2:
        return tuple(Item.of(name, direction, plain_number(value)) for value in distinct)
    is_up = direction == ">="
    positions = _positions(weight if is_up else weight[::-1], most)
    positions = positions if is_up else len(distinct) - 1 - positions[::-1]
    integers = bool(np.array_equal(distinct, np.rint(distinct)))
    items = []
    for between in all_cutoffs(distinct, positions.tolist(), direction):
        value = placed_cutoff(between, placement, integers=integers)
        ends = (plain_number(between.lower), plain_number(between.upper))
        items.append(Item.of(name, direction, value, ends))
    return tuple(items)


def tell_rows_apart(distinct: Column, n_samples: int, *, least_share: float = 0.99) -> bool:
    """Say whether integers differ in nearly all of many rows, as numbers of rows do.

    Parameters
    ----------
    distinct : ndarray of shape (n_distinct,)
        Distinct values of a column of numbers.
    n_samples : int
        Rows that have a value.
    least_share : float, default 0.99
        How many distinct values there are for each row.

    Returns
    -------
    bool
        False with up to 1000 rows.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.items.columns import tell_rows_apart
    >>> tell_rows_apart(np.arange(70000, 72000), 2000), tell_rows_apart(np.arange(100), 2000)
    (True, False)
    """
    return (
        n_samples > _MANY_ROWS
        and len(distinct) >= least_share * n_samples
        and np.array_equal(distinct, np.rint(distinct))
    )


def _distinct(column: ReadColumn, weights: NDArray[np.float64]) -> tuple[Column, Column]:
    """Distinct values in ascending order, and the weight of each."""
    if column.missing is not None:
        weights = weights[~column.missing]
    distinct, position = np.unique(column.known, return_inverse=True)
    return distinct, np.bincount(position, weights, minlength=len(distinct))


def _positions(weight: Column, n: int) -> NDArray[np.intp]:
    """Positions of at most n of the distinct values, the first one not among them."""
    if len(weight) <= n + 1:
        return np.arange(1, len(weight))
    below = np.cumsum(weight)
    if weight[0] * (n + 1) < below[-1] * (1 - _WEIGHT_SLACK):
        shares = np.arange(1, n + 1) / (n + 1)
    else:
        shares = np.arange(n) / n
        below = below - weight[0]
    # The first value up to which there is at least this share of the rows.
    positions = np.searchsorted(below, shares * below[-1] * (1 - _WEIGHT_SLACK))
    return np.unique(np.maximum(positions, 1))


def _fit_levels(
    name: str, raw: Column, weights: NDArray[np.float64], rules: ItemRules
) -> tuple[ReadColumn, ColumnEncoder]:
    levels = _sorted_levels(name, raw)
    codes = {level: k for k, level in enumerate(levels)}
    column = _read_levels(raw, codes)
    known = column.values != _MISSING
    weight = np.bincount(column.values[known], weights[known], minlength=len(levels))
    least = rules.min_frequency or 0
    if isinstance(least, float):
        least *= weights.sum() * (1 - _WEIGHT_SLACK)
    rare = tuple(level for level in levels if weight[codes[level]] < least)
    if len(rare) < 2:
        items = [Item.of(name, "=", level) for level in levels]
    else:
        frequent = [level for level in levels if level not in rare]
        items = [*(Item.of(name, "=", level) for level in frequent), Item.of(name, "in", rare)]
        codes = {level: k for k, level in enumerate(frequent)} | dict.fromkeys(rare, len(frequent))
        column = _read_levels(raw, codes)
    if rules.drop_first and len(items) == 2 and column.missing is None:
        del items[0]
    return column, ColumnEncoder(name, "levels", tuple(items), codes=codes)


def _check_no_dates(raw: Column, levels: Iterable[Any]) -> None:
    """Refuse dates that are text, as those that are not: each would become an item."""
    if all(_DATE.fullmatch(str(level)) for level in levels):
        where = np.array([isinstance(value, str) for value in raw.tolist()])
        raise ColumnError.at("date", where, repr(raw[np.argmax(where)]))


def read_as_numbers(levels: Iterable[Any], *, with_units: bool) -> bool:
    """Say whether all of some levels are text that reads as numbers, such as "61" and "1,5".

    Parameters
    ----------
    levels : iterable
    with_units : bool
        Whether "61 years" is a number.

    Returns
    -------
    bool

    Examples
    --------
    >>> from riskslim.items.columns import read_as_numbers
    >>> read_as_numbers(["61", "1,5"], with_units=False), read_as_numbers([61], with_units=True)
    (True, False)
    >>> [read_as_numbers(["61 y", "70 y"], with_units=units) for units in (False, True)]
    [False, True]
    """
    units: set[str] = set()
    for level in levels:
        number = NUMBER.match(level) if isinstance(level, str) else None
        if number is None:
            return False
        units.add(level[number.end() :])
    return units == {""} or (with_units and len(units) == 1)


def _sorted_levels(name: str, raw: Column) -> list[Any]:
    levels = [value for value in distinct_objects(plain_rows(raw)) if not _is_missing(value)]
    for kind in set(map(type, levels)):
        if not issubclass(kind, (str, numbers.Real)):
            where = np.array([type(value) is kind for value in raw.tolist()])
            raise ColumnError.at(object_fault(kind) or "object", where, repr(kind.__name__))
    if len({isinstance(level, str) for level in levels}) > 1:
        kinds = sorted({type(level).__name__ for level in levels})
        raise TypeError(
            f"Encoders require their input argument must be uniformly strings or numbers. Column "
            f"{name!r} has {kinds}: convert it to one of them."
        )
    return sorted(levels)


def plain_rows(raw: Column) -> list[Any]:
    """Values as Python has them; numbers of 32 bits as they are printed, 0.1 for 0.10000000149.

    Parameters
    ----------
    raw : ndarray of shape (n,)

    Returns
    -------
    list
    """
    if raw.dtype.kind != "f" or raw.dtype.itemsize >= np.dtype(np.float64).itemsize:
        rows: list[Any] = raw.tolist()
        return rows
    distinct, position = np.unique(raw, return_inverse=True)
    plain = [plain_number(value) for value in distinct]
    return [plain[k] for k in position.tolist()]


def _read_levels(raw: Column, codes: Mapping[Any, int]) -> ReadColumn:
    """Codes of the levels of rows, negative ones for missing values and unknown levels."""
    rows = plain_rows(raw)
    code_of = {
        value: _MISSING if _is_missing(value) else codes.get(value, _UNKNOWN)
        for value in distinct_objects(rows)
    }
    # A NaN equals nothing, but is found since it is the same object in `rows` and `code_of`.
    coded = np.fromiter(map(code_of.__getitem__, rows), dtype=np.int64, count=len(rows))
    return _values(coded, coded == _MISSING)


def _check_levels(raw: Column, codes: NDArray[np.int64]) -> None:
    unknown = codes == _UNKNOWN
    if unknown.any():
        example = listing(map(repr, dict.fromkeys(raw[unknown].tolist())))
        raise ColumnError.at("unknown", unknown, example)


def _check_booleans(column: ReadColumn) -> None:
    other = (column.values != 0) & (column.values != 1)
    if column.missing is not None:
        other &= ~column.missing
    if other.any():
        raise ColumnError.at("not boolean", other, str(column.values[np.argmax(other)]))


def _read_numbers(raw: Column) -> ReadColumn:
    """Numbers of rows, NaN where they are missing."""
    missing = np.zeros(0, dtype=np.bool_)
    if raw.dtype.kind == "O":
        missing = missing_in(raw)
        if missing.any():
            raw = np.where(missing, np.nan, raw)
    column: Column = check_numeric(raw)
    if column.dtype.kind == "f":
        missing = np.isnan(column)
        if (infinite := np.isinf(column)).any():
            raise ColumnError.at("infinite", infinite)
    return _values(column, missing)


def _values(column: Column, missing: NDArray[np.bool_]) -> ReadColumn:
    return ReadColumn(column, missing if missing.any() else None)


def distinct_objects(rows: list[Any]) -> set[Any]:
    """Return the distinct values of a column, or raise ColumnError where some have no hash."""
    try:
        return set(rows)
    except TypeError:
        where = np.array([not isinstance(value, Hashable) for value in rows])
        raise ColumnError.at("object", where, repr(type(rows[np.argmax(where)]).__name__)) from None


def missing_in(raw: Column) -> NDArray[np.bool_]:
    """Find which rows have no value: None, NaN, NA or NaT.

    Parameters
    ----------
    raw : ndarray of shape (n,)
        A column of any type.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    if raw.dtype.kind in "biuUS":
        return np.zeros(len(raw), dtype=np.bool_)
    if raw.dtype.kind == "f":
        return np.isnan(raw)
    rows = raw.tolist()
    missing = {value: _is_missing(value) for value in distinct_objects(rows)}
    return np.fromiter(map(missing.__getitem__, rows), dtype=np.bool_, count=len(rows))


def levels_in(raw: Column) -> list[Any]:
    """The distinct values of a column, in the order of the rows, without missing ones.

    Parameters
    ----------
    raw : ndarray of shape (n,)

    Returns
    -------
    list
    """
    rows = plain_rows(raw)
    distinct_objects(rows)  # refuses what no level can be
    return [value for value in dict.fromkeys(rows) if not _is_missing(value)]


def _is_missing(value: Any) -> bool:
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return object_fault(type(value)) == "missing"


def _has_text(raw: Column) -> bool:
    return raw.dtype.kind == "U" or (
        raw.dtype.kind == "O" and any(issubclass(kind, str) for kind in set(map(type, raw)))
    )


def _are_booleans(raw: Column) -> bool:
    if raw.dtype.kind != "O":
        return raw.dtype.kind == "b"
    kinds = {type(value) for value in raw if not _is_missing(value)}
    return bool(kinds) and kinds <= {bool, np.bool_}
