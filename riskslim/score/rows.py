"""Rows that a risk score is applied to: how they are read, what they add up to, what is odd."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing
from riskslim.data.faults import ColumnError, raise_faults, real_faults
from riskslim.data.feature_ranges import FeatureRange, printed_range, remark_on_rows, short
from riskslim.data.tables import (
    MissingColumnsError,
    Table,
    check_present,
    has_names,
    is_empty_list,
    is_scalar,
    open_records,
    open_table,
    table_without_rows,
    values_of,
)
from riskslim.data.training_data import TrainingData
from riskslim.data.weights import check_length
from riskslim.items.columns import ColumnEncoder
from riskslim.items.families import Family, condition_families
from riskslim.items.item import Item, readings
from riskslim.items.variables import RawVariable

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = [
    "ScoredRows",
    "are_whole",
    "as_row",
    "is_positive",
    "named_rows",
    "numbers_of",
    "remarks_on_ranges",
]

# What the columns are that a table to be scored has to have.
_WANTED = "features with points"

_ADVICE = {
    "not boolean": "These are items, which are met or not: give them as 0 and 1; or give the raw "
    "columns, by name, to a score that knows these (score.with_variables(encoder)) or to "
    "score.with_items(X)."
}


@dataclasses.dataclass(frozen=True)
class ScoredRows:
    """Rows of a table, of which the features with points are read.

    Parameters
    ----------
    table : Table
    positions : mapping from str to int
        Where the features with points are among its columns.
    items : mapping from str to Item, optional
        What is stated of them.

    Examples
    --------
    >>> from riskslim.score.rows import ScoredRows
    >>> rows = ScoredRows.open({"age": [61, 47], "smoker": [1, 0]}, ["smoker"], ["age", "smoker"])
    >>> rows.scores({"smoker": 2})
    array([2, 0])
    """

    table: Table
    positions: Mapping[str, int]
    items: Mapping[str, Item] = dataclasses.field(default_factory=dict)

    @classmethod
    def open(
        cls,
        X: Any,
        features: Sequence[str],
        feature_names: Sequence[str],
        items: Mapping[str, Item] = MappingProxyType({}),
    ) -> ScoredRows:
        """Find out what X is, and where its features are.

        Parameters
        ----------
        X
            As in :meth:`RiskScore.score_samples`.
        features : sequence of str
            Those with points.
        feature_names : sequence of str
            All features, in the order of the columns of arrays.
        items : mapping from str to Item, optional
            What is stated of features: conditions have the values 0 and 1, and no others.

        Returns
        -------
        ScoredRows

        Raises
        ------
        TypeError, ValueError
            It is no table, lacks features, or has one of them several times.
        """
        try:
            table = _open_table(X, features)
            return cls(table, _positions(table, features, feature_names), items)
        except MissingColumnsError as error:
            raise ValueError(f"{error}{_advice_on_items(error)}") from None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.table.n_samples

    def scores(self, points: Mapping[str, int]) -> NDArray[Any]:
        """Add up the points of each row.

        Parameters
        ----------
        points : mapping from str to int
            Of the features with points.

        Returns
        -------
        ndarray of shape (n,)
            int64 where all values that were read are integers, else float64.

        Raises
        ------
        TypeError, ValueError
            Values are missing, infinite or no numbers, or other ones than 0 and 1 of a condition;
            columns are named, rows counted.
        """
        total = np.zeros(self.n_samples)
        integral = True
        # Infinities are looked for below.
        with np.errstate(over="ignore", invalid="ignore"):
            for name, values, is_integer in self._columns():
                integral = integral and (is_integer or np.array_equal(values, np.rint(values)))
                total += points[name] * values
        _check_totals(total)
        return total.astype(np.int64) if integral and are_whole(total) else total

    def values(self) -> dict[str, NDArray[np.float64]]:
        """Values of the features with points.

        Returns
        -------
        dict from str to ndarray of float64, shape (n,)

        Raises
        ------
        TypeError, ValueError
            As in :meth:`scores`.
        """
        return {name: values for name, values, _ in self._columns()}

    def _columns(self) -> Iterator[tuple[str, NDArray[np.float64], bool]]:
        """Features, their values, and whether those are of a type of integers."""
        faults: list[tuple[int, ColumnError]] = []
        for k, (name, j) in enumerate(self.positions.items()):
            try:
                column = self.table.column(j)
            except ColumnError as fault:
                faults.append((k, fault))
                continue
            values = np.asarray(column, dtype=np.float64)
            faults.extend((k, fault) for fault in real_faults(values, column.dtype.kind))
            if (item := self.items.get(name)) is not None and item.kind != "numeric":
                faults.extend((k, fault) for fault in _faults_of_condition(values))
            yield name, values, column.dtype.kind in "biu"
        raise_faults(faults, tuple(self.positions), self.n_samples, _ADVICE)

    def remarks(
        self, feature_ranges: Mapping[str, FeatureRange], items: Mapping[str, Item]
    ) -> tuple[str, ...]:
        """Return what is odd about the rows, in words.

        Parameters
        ----------
        feature_ranges : mapping from str to FeatureRange
            Of the features with points, in the training data.
        items : mapping from str to Item
            What is stated of them.

        Returns
        -------
        tuple of str
            As :meth:`RiskScore.remarks` says.
        """
        columns = self.values()
        found: list[str] = []
        for name, values in feature_ranges.items():
            outside = (columns[name] < values.minimum) | (columns[name] > values.maximum)
            where = f"outside of the training range of {name!r} ({printed_range(values)})"
            found.append(remark_on_rows(outside, f"values {where}", f"a value {where}"))
        for family in condition_families(columns, feature_ranges, items):
            what = f"conditions that contradict each other ({listing(map(repr, family.names))})"
            found.append(remark_on_rows(_contradictory(family, columns), what, what))
        return tuple(filter(None, found))


def remarks_on_ranges(table: Table, variables: Iterable[RawVariable]) -> Iterator[str]:
    """Say where raw columns have values outside of their range in the training data.

    Parameters
    ----------
    table : Table
    variables : iterable of RawVariable
        Of the columns that are looked at, as far as the table has them.

    Yields
    ------
    str
        A sentence with the number of rows, and both ranges.
    """
    for variable, values in numbers_of(table, variables):
        if remark := variable.remark(values):
            yield remark


def numbers_of(
    table: Table, variables: Iterable[RawVariable]
) -> Iterator[tuple[RawVariable, NDArray[Any]]]:
    """Raw columns of numbers with their values in a table, as far as it has them."""
    names = [str(name) for name in table.names or ()]
    for variable in variables:
        if not variable.range_text or variable.name not in names:
            continue
        encoder = ColumnEncoder(variable.name, "numbers", indicator=True)
        try:
            column = encoder.read(table.values(names.index(variable.name)), "error")
        except ColumnError:
            continue  # its items were given: nothing is computed from it
        yield variable, column.values


def named_rows(score: RiskScore, X: Any) -> Any:
    """Name the columns of rows, where the score knows its raw columns.

    Parameters
    ----------
    score : RiskScore
    X : array-like of shape (n, d), data frame, mapping, or list of mappings

    Returns
    -------
    object
        X, as a Table with names where it has none: those of ``variables``, and then those of
        features that are computed from none of them. X itself if the score knows no raw columns.

    Raises
    ------
    ValueError
        X has another number of columns without names.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.items import RawVariable
    >>> from riskslim.score.rows import named_rows
    >>> age = RawVariable("age", "numeric", 18, 95)
    >>> score = RiskScore(-3, {"age >= 60": 2, "visits": 1}, variables={"age": age})
    >>> named_rows(score, [[61, 2]]).names
    ('age', 'visits')
    """
    variables = score.variables
    if not variables or isinstance(X, TrainingData) or has_names(X):
        return X
    table = None if is_empty_list(X) else open_table(X, may_be_empty=True)
    if table is not None and table.names is not None:
        return table
    names = tuple(variables)
    for feature in score.points:
        item = score.items.get(feature)
        if feature not in names and not (item and item.is_condition and item.variable in names):
            names += (feature,)
    if table is None:
        return table_without_rows(names)
    if table.n_features != len(names):
        columns = "column" if table.n_features == 1 else "columns"
        raise ValueError(
            f"X has {table.n_features} {columns} without names, but of arrays this score reads "
            f"{len(names)}, the raw columns, in this order: {listing(map(repr, names))}. To give "
            "others, or items, pass a data frame or mappings with their names."
        )
    return dataclasses.replace(table, names=names)


def as_row(record: Any) -> Any:
    """A record as a row of a table; what has rows already stays as it is.

    Parameters
    ----------
    record : record with names, array-like of shape (d,), or X of any kind

    Returns
    -------
    object
        What :meth:`ScoredRows.open` takes.
    """
    if has_names(record):
        return record
    if isinstance(record, np.ndarray) and record.ndim == 1:
        return record[np.newaxis]
    if isinstance(record, (list, tuple)) and record and all(map(is_scalar, record)):
        return [list(record)]
    return record


def is_positive(y: Any, classes: tuple[Any, Any], n_samples: int) -> NDArray[np.bool_]:
    """Find which labels are the positive one.

    Parameters
    ----------
    y : array-like of shape (n,)
    classes : (negative label, positive label)
    n_samples : int

    Returns
    -------
    ndarray of bool, shape (n,)

    Raises
    ------
    TypeError, ValueError
        Labels that are neither, or another number of them.
    """
    labels = values_of(y, "y")
    check_length("y", len(labels), n_samples)
    positive = np.asarray(labels == classes[1], dtype=np.bool_)
    other = ~positive & np.asarray(labels != classes[0], dtype=np.bool_)
    if other.any():
        raise ValueError(
            f"y has labels that are neither {classes[0]!r} nor {classes[1]!r}, the classes of the "
            f"score, in {np.count_nonzero(other)} of {n_samples} rows, first "
            f"{labels[other][:1].tolist()[0]!r} at row {np.argmax(other)} (rows counted from 0)."
        )
    return positive


def _open_table(X: Any, wanted: Sequence[str]) -> Table:
    """Open what the prediction methods take, which is more than training data may be."""
    if isinstance(X, TrainingData):
        return Table(X.n_rows, X.n_features, X.feature_names, X.column)
    return open_records(X, wanted, _WANTED) or open_table(X, may_be_empty=True)


def _positions(
    table: Table, features: Sequence[str], feature_names: Sequence[str]
) -> dict[str, int]:
    if table.names is None:
        if table.n_features != len(feature_names):
            raise ValueError(
                f"X has {table.n_features} features, but RiskScore is expecting "
                f"{len(feature_names)} features as input: all features of the training "
                "data in their order. To give only those with points, pass a data frame or "
                "mappings with their names."
            )
        return {name: feature_names.index(name) for name in features}
    names = [str(name) for name in table.names]
    check_present(features, names, _WANTED)
    twice = [name for name in features if names.count(name) > 1]
    if twice:
        raise ValueError(f"X has several columns named {listing(map(repr, twice))}.")
    return {name: names.index(name) for name in features}


def _advice_on_items(error: MissingColumnsError) -> str:
    """Return what to do about features that are conditions on columns which are there."""
    rules = [rule for name in error.missing for rule in readings(name)]
    there = dict.fromkeys(repr(rule.variable) for rule in rules if rule.variable in error.names)
    if there:
        return (
            f" They can be computed from {listing(there)}, which X has: pass score.with_items(X) "
            "in place of X."
        )
    if not rules:
        return ""
    columns = dict.fromkeys(repr(rule.variable) for rule in rules)
    return f" X has no column {' or '.join(columns)} either to compute conditions from."


def _faults_of_condition(values: NDArray[np.float64]) -> Iterator[ColumnError]:
    other = (values != 0) & (values != 1) & np.isfinite(values)
    if other.any():
        yield ColumnError.at("not boolean", other, short(values[np.argmax(other)].item()))


def are_whole(scores: NDArray[np.float64]) -> bool:
    """True if scores are integers that float64 tells apart."""
    # Beyond 2**53 it does not hold every integer.
    return bool(
        np.abs(scores).max(initial=0.0) < 2.0**53 and np.array_equal(scores, np.rint(scores))
    )


def _check_totals(total: NDArray[np.float64]) -> None:
    wrong = ~np.isfinite(total)
    if wrong.any():
        raise ValueError(
            f"The score overflows float64 in {np.count_nonzero(wrong)} of {len(total)} rows, first "
            f"at row {np.argmax(wrong)} (rows counted from 0): values are too large."
        )


def _contradictory(family: Family, columns: Mapping[str, NDArray[np.float64]]) -> NDArray[np.bool_]:
    """Rows in which no value of the variable is behind what its conditions say."""
    values = np.stack([columns[name] for name in family.names])
    wrong = np.isin(values, (0, 1)).all(axis=0)  # of other values it is said already
    for pattern in family.patterns:
        wrong &= (values != np.array(pattern)[:, np.newaxis]).any(axis=0)
    return np.asarray(wrong)
