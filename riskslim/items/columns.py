"""Columns as items: how each column is read, and which items are made of it.

:func:`fit_column` chooses the items of one column; the :class:`ColumnEncoder` that it returns
reads other rows of the column and writes its items, one at a time, into int8 columns.
"""

from __future__ import annotations

import contextvars
import itertools
import numbers
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing
from riskslim.data.faults import (
    EXACT_INTEGER_LIMIT,
    NUMBER,
    ColumnError,
    check_not_mixed,
    check_numeric,
    object_fault,
)
from riskslim.items.cutoffs import Placement, all_cutoffs, equivalent_cutoffs, placed_cutoff
from riskslim.items.dates import dates_among
from riskslim.items.item import (
    COMPARISONS,
    Item,
    bound_for,
    met_by_numbers,
    plain_number,
    value_text,
)
from riskslim.items.supervised import DEFAULT_SHARE, splits_with_enough, supervised_splits
from riskslim.items.variables import CutoffSource, RawVariable, VariableKind, special_among

__all__ = [
    "ColumnEncoder",
    "Direction",
    "ItemRules",
    "ReadColumn",
    "distinct_objects",
    "fit_column",
    "is_part",
    "levels_in",
    "missing_in",
    "plain_rows",
    "read_as_numbers",
    "tell_rows_apart",
]

Column: TypeAlias = NDArray[Any]
Direction: TypeAlias = Literal[">=", "<="]
SpecialGroups: TypeAlias = tuple[tuple[float, ...], ...]
_Reading: TypeAlias = Literal["numbers", "booleans", "levels"]

_KINDS: dict[_Reading, VariableKind] = {
    "numbers": "numeric", "booleans": "boolean", "levels": "categorical",
}  # fmt: skip

# Codes of rows whose value is none of the levels.
_MISSING, _UNKNOWN = -1, -2

# Integers that differ in nearly all of more rows than this are taken for numbers of rows.
_MANY_ROWS = 1000

# Whether rows are some of a table, to all of which an encoder is fitted as well: those of a fold.
is_part: contextvars.ContextVar[bool] = contextvars.ContextVar("is_part", default=False)

# Relative error of a sum of weights, so that tenths add up as integers do.
_WEIGHT_SLACK = 1e-12


@dataclass(frozen=True)
class ItemRules:
    """Rules by which columns become items, by names of columns."""

    n_thresholds: int | Literal["all"]
    thresholds: Mapping[str, int | list[float] | Literal["all", "supervised"]]
    max_thresholds: int
    placement: Placement
    directions: Mapping[str, Direction]
    categorical: frozenset[str]
    numeric: frozenset[str]
    passthrough: bool
    indicators: bool
    min_frequency: float | None
    drop_first: bool
    # Values that are no measurements, by column, in groups that share an item.
    special: Mapping[str, SpecialGroups] = field(default_factory=dict)
    special_named: bool = False  # whether columns were named for them
    digits: int | None = None  # significant ones of thresholds
    supervised: bool = False  # whether the outcome chooses thresholds where nothing else is said
    min_events: int = 0
    ordered: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # levels in their order

    def most_cutoffs(self, name: str) -> int:
        """The largest number of cut-offs of a column that are to be chosen."""
        given = self.thresholds.get(name, self.n_thresholds)
        given = self.n_thresholds if given == "supervised" else given
        assert not isinstance(given, list)
        return self.max_thresholds if given == "all" else int(given)

    def is_supervised(self, name: str) -> bool:
        """True if the outcome chooses the cut-offs of a column."""
        return self.supervised or self.thresholds.get(name) == "supervised"

    def source_of_cutoffs(self, name: str) -> CutoffSource:
        """Say where the cut-offs of a column are taken from."""
        if self.is_supervised(name):
            return "supervised"
        given = self.thresholds.get(name, self.n_thresholds)
        if isinstance(given, list):
            return "given"
        return "all" if given == "all" else "quantiles"

    def least_between(self, weight: float) -> float:
        """The weight of rows between neighbouring cut-offs that the outcome chooses, of so much."""
        least = DEFAULT_SHARE if self.min_frequency is None else self.min_frequency
        return least * weight if isinstance(least, float) else least

    def special_values(self, name: str) -> tuple[float, ...]:
        """All special values of a column."""
        return tuple(itertools.chain(*self.special.get(name, ())))


class ReadColumn(NamedTuple):
    """A column that has been read: numbers, or codes of levels."""

    values: Column
    missing: NDArray[np.bool_] | None

    @property
    def known(self) -> Column:
        """Values that are not missing."""
        return self.values if self.missing is None else self.values[~self.missing]

    def without(self, rows: NDArray[np.bool_]) -> ReadColumn:
        """The column of the other rows."""
        missing = None if self.missing is None else self.missing[~rows]
        return ReadColumn(self.values[~rows], missing)


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
        # Of a table whose values are missing in no row for training: all rows have an item for it.
        if column.missing is not None and not self.indicator and not is_part.get():
            raise ColumnError.at("missing", column.missing)
        if self.reading == "booleans":
            _check_booleans(column)
        return column

    def write(self, item: Item, column: ReadColumn, out: NDArray[np.int8]) -> None:
        """Write an item of all rows; missing values meet no condition."""
        met = out.view(np.bool_)
        if item.order is not None:
            first, last = self.codes[item.value[0]], self.codes[item.value[-1]]
            np.greater_equal(column.values, first, out=met)
            met &= column.values <= last
        elif item.kind == "missing":
            met[:] = False if column.missing is None else column.missing
        elif item.kind in COMPARISONS or (self.reading == "numbers" and item.levels):
            met_by_numbers(item, column.values, out=met)
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
    events: NDArray[np.float64] | None = None,
) -> ColumnEncoder:
    """Choose the items of a column; all of the weights are positive.

    With ``counts``, of rows that have each value, each value is given once. ``events`` are the
    weights of the rows with the outcome, 0 of others, where it chooses cut-offs.
    """
    if name in rules.ordered:
        return _fit_ordered(name, raw, weights, rules, events)
    are_numbers = name in rules.numeric or name in rules.thresholds
    if name not in rules.categorical and _has_text(raw):
        distinct_objects(raw.tolist())  # refuses what no value can be
        check_not_mixed(raw, counts)
    if name in rules.categorical or (not are_numbers and _has_text(raw)):
        if rules.special_named and name in rules.special:
            raise ColumnError("special levels", len(raw), 0)
        column, encoder = _fit_levels(name, raw, weights, rules)
        if name not in rules.categorical:
            _check_no_dates(raw, encoder.codes)
    else:
        column = _read_numbers(raw)
        encoder = _fit_numbers(name, raw, column, weights, rules, events)
    return _finished(encoder, column, rules)


def _finished(encoder: ColumnEncoder, column: ReadColumn, rules: ItemRules) -> ColumnEncoder:
    """The encoder with an item for missing values, and what is known of the column."""
    keeps = any(item.kind == "numeric" for item in encoder.items)
    if column.missing is not None:
        if keeps or not rules.indicators:
            raise ColumnError.at("missing", column.missing)
        items = (*encoder.items, Item.of(encoder.column, "missing"))
        encoder = replace(encoder, items=items, indicator=True)
    encoder = replace(encoder, variable=_variable(encoder, column, rules))
    return encoder.without_constants(column)


def _range(known: Column) -> tuple[float | None, float | None]:
    """Least and largest value; of float32 with their short texts, which are in other files."""
    if not len(known):
        return None, None
    least, most = known.min(), known.max()
    if known.dtype.kind == "b":
        return int(least), int(most)
    return min(least.item(), plain_number(least)), max(most.item(), plain_number(most))


def _variable(encoder: ColumnEncoder, column: ReadColumn, rules: ItemRules) -> RawVariable:
    kind, known = _KINDS[encoder.reading], column.known
    minimum, maximum = None, None
    special: tuple[float, ...] = ()
    if kind == "numeric":
        special = rules.special_values(encoder.column)
        minimum, maximum = _range(known[~special_among(known, special)] if special else known)
        if any(item.kind == "numeric" for item in encoder.items):
            special = ()  # none occurs, or the column would have been refused
    has_cutoffs = any(item.kind in COMPARISONS or item.order for item in encoder.items)
    return RawVariable(
        encoder.column,
        kind,
        minimum=minimum,
        maximum=maximum,
        levels=tuple(encoder.codes if encoder.column in rules.ordered else sorted(encoder.codes)),
        n_missing=len(column.values) - len(known),
        n_samples=len(column.values),
        special=special,
        cutoffs=rules.source_of_cutoffs(encoder.column) if has_cutoffs else None,
    )


def _fit_numbers(
    name: str,
    raw: Column,
    column: ReadColumn,
    weights: NDArray[np.float64],
    rules: ItemRules,
    events: NDArray[np.float64] | None,
) -> ColumnEncoder:
    given = rules.thresholds.get(name, rules.n_thresholds)
    direction = rules.directions[name]
    special = rules.special_values(name)
    where = _special_rows(column.values, special)
    if name in rules.numeric or (
        rules.passthrough and name not in rules.thresholds and raw.dtype.kind != "b"
    ):
        if where is not None:
            raise ColumnError.at("special", where)
        return ColumnEncoder(name, "numbers", (Item.of(name, "numeric"),))
    others = _special_items(name, column.values, rules)
    if where is not None:
        column, weights = column.without(where), weights[~where]
        events = None if events is None else events[~where]
    values = _distinct(column, weights, events)
    distinct = values.distinct
    if isinstance(given, list):
        every = (equivalent_cutoffs(distinct, direction, value) for value in given)
        both = zip(given, every, strict=True)
        items = tuple(Item.of(name, direction, *one, special) for one in both)
        return ColumnEncoder(name, "numbers", items + others)
    may_be_booleans = name not in rules.thresholds and not others
    if may_be_booleans and (_are_booleans(raw) or np.array_equal(distinct, [0, 1])):
        return ColumnEncoder(name, "booleans", (Item.of(name, "boolean"),))
    most = rules.most_cutoffs(name)
    cutoffs = _cutoffs(name, values, rules)
    return ColumnEncoder(
        name,
        "numbers",
        tuple(replace(item, special=special) for item in cutoffs) + others,
        is_identifier=not (name in rules.thresholds or rules.supervised)
        and tell_rows_apart(distinct, len(column.known)),
        n_cutoffs=len(distinct) - 1 if given == "all" and len(distinct) > most + 1 else 0,
    )


def _special_rows(values: Column, special: tuple[float, ...]) -> NDArray[np.bool_] | None:
    """Rows with special values of a column of numbers; None where there are none."""
    if not special:
        return None
    if values.dtype.kind == "f" and values.dtype.itemsize < np.dtype(np.float64).itemsize:
        # All are compared in 64 bits, here and in a database: there 0.1 of 32 bits is another one.
        for one in special:
            short = values.dtype.type(one)
            if float(short) != one and (values == short).any():
                raise ColumnError.at("inexact special", values == short, str(one))
    where = special_among(values, special)
    return where if where.any() else None


def _special_items(name: str, values: Column, rules: ItemRules) -> tuple[Item, ...]:
    """An item for each group of special values, of columns that are not named if they occur."""
    items = []
    for group in rules.special.get(name, ()):
        if rules.special_named or special_among(values, group).any():
            one = Item.of(name, "=", group[0])
            items.append(one if len(group) == 1 else Item.of(name, "in", group))
    return tuple(items)


class _Values(NamedTuple):
    """Distinct values in order; the weights of their rows, and of those with the outcome."""

    distinct: Column
    weight: NDArray[np.float64]
    events: NDArray[np.float64] | None

    def splits(self, name: str, rules: ItemRules) -> list[int]:
        """Positions of the first values above cut-offs, at most as many as the rules say."""
        most = rules.most_cutoffs(name)
        if self.events is not None and rules.is_supervised(name):
            least = rules.least_between(float(self.weight.sum()))
            return supervised_splits(self.weight, self.events, most, least)
        if rules.directions[name] == ">=":
            positions = _positions(self.weight, most)
        else:
            positions = len(self.weight) - _positions(self.weight[::-1], most)[::-1]
        return [*map(int, positions)]

    def with_enough(self, splits: list[int], name: str, rules: ItemRules) -> list[int]:
        """Those of the splits with enough rows of both classes between them."""
        if self.events is None or not rules.is_supervised(name):
            return splits
        least = rules.least_between(float(self.weight.sum()))
        return splits_with_enough(splits, self.weight, self.events, least, rules.min_events)


def _cutoffs(name: str, values: _Values, rules: ItemRules) -> tuple[Item, ...]:
    """At most so many cut-offs of a column, of those that split its rows."""
    distinct, direction = values.distinct, rules.directions[name]
    if len(distinct) < 2:
        found = () if rules.is_supervised(name) else distinct
        return tuple(Item.of(name, direction, plain_number(value)) for value in found)
    integers = bool(np.array_equal(distinct, np.rint(distinct)))
    splits = values.splits(name, rules)
    positions = splits if direction == ">=" else [split - 1 for split in splits]
    items: dict[int, Item] = {}
    every = all_cutoffs(distinct, positions, direction)
    for split, between in zip(splits, every, strict=True):
        value = placed_cutoff(between, rules.placement, integers=integers)
        ends = (plain_number(between.lower), plain_number(between.upper))
        if rules.digits is not None:
            value = type(value)(float(f"{value:.{rules.digits}g}"))
            rounded = equivalent_cutoffs(distinct, direction, value)
            if rounded is None:
                continue
            met = COMPARISONS[direction](distinct, bound_for(distinct, value))
            split, ends = int(np.count_nonzero(met == (direction == "<="))), rounded
        items.setdefault(split, Item.of(name, direction, value, ends))
    return tuple(items[split] for split in values.with_enough([*items], name, rules))


def _fit_ordered(
    name: str,
    raw: Column,
    weights: NDArray[np.float64],
    rules: ItemRules,
    events: NDArray[np.float64] | None,
) -> ColumnEncoder:
    """Items of levels in an order: those from one of them on, or up to it."""
    levels, direction = rules.ordered[name], rules.directions[name]
    _check_kinds(raw, levels)
    codes = {level: k for k, level in enumerate(levels)}
    column = _read_levels(raw, codes)
    values = _distinct(column, weights, events)
    splits = values.splits(name, rules) if len(values.distinct) > 1 else []
    items = []
    for split in values.with_enough(splits, name, rules):
        first, last = int(values.distinct[split]), int(values.distinct[split - 1])
        # Levels that no row has lie on one side as well as on the other.
        met = levels[first:] if direction == ">=" else levels[: last + 1]
        end = met[0] if direction == ">=" else met[-1]
        text = f"{name} {direction} {value_text(end)}"
        items.append(Item(text, name, "in", met, order=direction))
    encoder = ColumnEncoder(name, "levels", tuple(items), codes=codes)
    return _finished(encoder, column, rules)


def tell_rows_apart(distinct: Column, n_samples: int, *, least_share: float = 0.99) -> bool:
    """True if integers differ in nearly all of many rows, as numbers of rows do.

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


def _distinct(
    column: ReadColumn, weights: NDArray[np.float64], events: NDArray[np.float64] | None
) -> _Values:
    """Distinct values in ascending order, with the weights of their rows."""
    if column.missing is not None:
        weights = weights[~column.missing]
        events = None if events is None else events[~column.missing]
    distinct, position = np.unique(column.known, return_inverse=True)
    if distinct.dtype.kind == "b":
        distinct = distinct.astype(np.int8)  # should thresholds be asked for: as of 0 and 1
    weight, events = (
        None if one is None else np.bincount(position, one, len(distinct)).astype(np.float64)
        for one in (weights, events)
    )
    assert weight is not None
    return _Values(distinct, weight, events)


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
    if dates := dates_among(map(str, levels)):
        where = np.array([value in dates for value in raw.tolist()])
        raise ColumnError.at("date", where, repr(raw[np.argmax(where)]))


def read_as_numbers(levels: Iterable[Any], *, with_units: bool) -> bool:
    """True if all of some levels are text that reads as numbers, such as "61" and "1,5".

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
    _check_kinds(raw, levels)
    if len({isinstance(level, str) for level in levels}) > 1:
        kinds = sorted({type(level).__name__ for level in levels})
        raise TypeError(
            f"Encoders require their input argument must be uniformly strings or numbers. Column "
            f"{name!r} has {kinds}: convert it to one of them."
        )
    return sorted(levels)


def _check_kinds(raw: Column, levels: Iterable[Any]) -> None:
    """Refuse levels that are neither text nor numbers, or integers that few languages hold."""
    for kind in set(map(type, levels)):
        if not issubclass(kind, (str, numbers.Real)):
            where = np.array([type(value) is kind for value in raw.tolist()])
            raise ColumnError.at(object_fault(kind) or "object", where, repr(kind.__name__))
    large = {
        one for one in levels
        if isinstance(one, numbers.Integral) and abs(int(one)) >= EXACT_INTEGER_LIMIT
    }  # fmt: skip
    if large:
        raise ColumnError.at("inexact", np.array([value in large for value in raw.tolist()]))


def plain_rows(raw: Column) -> list[Any]:
    """Values as Python has them; numbers of 32 bits as they are printed, 0.1 for 0.10000000149.

    The intervals that pandas.cut makes are text.

    Parameters
    ----------
    raw : ndarray of shape (n,)

    Returns
    -------
    list
    """
    if raw.dtype.kind != "f" or raw.dtype.itemsize >= np.dtype(np.float64).itemsize:
        rows: list[Any] = raw.tolist()
        if raw.dtype.kind == "O" and any(map(_is_interval, set(map(type, rows)))):
            return [str(value) if _is_interval(type(value)) else value for value in rows]
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
        levels = itertools.compress(plain_rows(raw), unknown)
        example = listing(map(repr, dict.fromkeys(levels)))
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
    if column.dtype.kind in "iu":
        large = (column >= EXACT_INTEGER_LIMIT) | (column <= -EXACT_INTEGER_LIMIT)
        if large.any():  # a database would compare them, and Python would not
            raise ColumnError.at("inexact", large)
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
        raw.dtype.kind == "O"
        and any(issubclass(kind, str) or _is_interval(kind) for kind in set(map(type, raw)))
    )


def _is_interval(kind: type) -> bool:
    """True if values of a type are intervals of pandas, which need not be installed."""
    return kind.__name__ == "Interval" and kind.__module__.startswith("pandas")


def _are_booleans(raw: Column) -> bool:
    if raw.dtype.kind != "O":
        return raw.dtype.kind == "b"
    kinds = {type(value) for value in raw if not _is_missing(value)}
    return bool(kinds) and kinds <= {bool, np.bool_}
