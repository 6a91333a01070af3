"""Items computed from raw columns, without the encoder that made them.

What is to be computed is stated as :class:`~riskslim.items.Item`; where nothing is stated and raw
records are asked for, a name such as "age >= 60" is taken at its word.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing
from riskslim.data.faults import ColumnError, raise_faults
from riskslim.data.tables import Table, is_row, open_records, open_table, record_of
from riskslim.data.training_data import TrainingData
from riskslim.items.columns import (
    ColumnEncoder,
    distinct_objects,
    levels_in,
    missing_in,
    plain_rows,
)
from riskslim.items.item import (
    COMPARISONS,
    Item,
    met_by_numbers,
    number_of,
    read_item,
    value_text,
)
from riskslim.items.variables import RawVariable

if TYPE_CHECKING:
    from riskslim.items.encoder import ItemEncoder

__all__ = [
    "HandleUnknown",
    "check_names",
    "computed_items",
    "fit_items",
    "in_kind_of",
    "is_level",
    "raw_table",
    "with_items",
]

logger = logging.getLogger("riskslim.items.rules")

HandleUnknown = Literal["error", "ignore"]

_ADVICE = {
    "missing": (
        "There were none where the score was fitted, so that it does not say what they mean: "
        "remove these rows, or impute the values."
    )
}


def _met(item: Item, raw: NDArray[Any], *, may_lack: bool, are_numbers: bool) -> NDArray[np.int8]:
    """Find which rows meet a condition; missing values meet none, where there may be any."""
    if item.kind == "missing":
        rows = missing_in(raw)
    elif item.kind in COMPARISONS or are_numbers:
        encoder = ColumnEncoder(item.variable, "numbers", indicator=may_lack)
        rows = met_by_numbers(item, encoder.read(raw, "error").values)
    else:
        codes = {one: 0 for one in distinct_objects(plain_rows(raw)) if is_level(one, item.levels)}
        encoder = ColumnEncoder(item.variable, "levels", codes=codes, indicator=may_lack)
        rows = encoder.read(raw, "ignore").values == 0
    return np.asarray(rows, dtype=np.int8)


def with_items(
    X: Any,
    wanted: Sequence[str],
    known: Collection[str],
    variables: Mapping[str, RawVariable] = MappingProxyType({}),
    items: Mapping[str, Item] = MappingProxyType({}),
    *,
    handle_unknown: HandleUnknown = "error",
) -> Table:
    """Add the items that rows lack, computed from their raw columns.

    Parameters
    ----------
    X : data frame, mapping from names to columns or single values, list of mappings, or Table
        Shape (n, d), with names.
    wanted : sequence of str
        Features that are needed. Those that X has are left as they are; those that are no
        condition on a column of X are not added.
    known : collection of str
        All features that the score was chosen from. Without ``variables``, missing values of a
        column meet no condition where there is a feature "... is missing" for it, and are refused
        otherwise.
    variables : mapping from str to RawVariable, optional
        The raw columns in the training data, by name: X is checked against them. Missing values
        meet no condition where there were some, and are refused otherwise.
    items : mapping from str to Item, optional
        What features are. Without ``variables``, those of which nothing is stated are what their
        names say, if they are conditions on a column of X.
    handle_unknown : {"error", "ignore"}, default "error"
        Levels that are none of those of ``variables``: refuse them, or let them meet no condition.

    Returns
    -------
    Table
        The columns of X, and behind them those that were added, of 0 and 1.

    Raises
    ------
    ValueError, TypeError
        Missing values, unknown levels, or text where numbers are needed, with columns and counts;
        names that are conditions on several columns; conditions on ``variables`` that are given as
        columns with other values than 0 and 1.

    Notes
    -----
    The conditions are those that :class:`~riskslim.ItemEncoder` makes (">=", "<=", "=", "in {...}",
    "is missing"), and ">" and "<". Without ``variables`` levels that were not in the training data
    are none of those named: where ``known`` names the levels of a column, two at least, others are
    reported by a warning of the logger "riskslim.items.rules"; so are two values neither of which
    is the one level that is named, and levels that are ignored.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.items.rules import with_items
    >>> score = RiskScore(-2, {"age >= 60": 2, "sex = male": 1})
    >>> raw = {"age": [47, 60, 71], "sex": ["male", "female", "male"]}
    >>> score.score_samples(with_items(raw, tuple(score.points), score.feature_names))
    array([1, 2, 3])
    """
    return computed_items(X, wanted, known, variables, items, handle_unknown=handle_unknown)[0]


def computed_items(
    X: Any,
    wanted: Sequence[str],
    known: Collection[str],
    variables: Mapping[str, RawVariable],
    items: Mapping[str, Item],
    *,
    handle_unknown: HandleUnknown,
) -> tuple[Table, dict[str, str]]:
    """As :func:`with_items`, and say what was computed.

    Parameters
    ----------
    X, wanted, known, variables, items, handle_unknown
        As in :func:`with_items`.

    Returns
    -------
    Table
    dict from str to str
        The items that were added, and the column that each was computed from.

    Raises
    ------
    ValueError, TypeError
        As in :func:`with_items`.
    """
    if handle_unknown not in ("error", "ignore"):
        raise ValueError(f"handle_unknown must be 'error' or 'ignore', got {handle_unknown!r}")
    table = raw_table(X, {*wanted, *variables})
    if table.names is None:
        return table, {}
    names = [str(name) for name in table.names]
    records = _RawRecords(table, names, known, variables, items)
    added: dict[str, NDArray[np.int8]] = {}
    sources: dict[str, str] = {}
    replaced: dict[int, NDArray[np.int8]] = {}
    for name in wanted:
        if name in names:
            with records.collecting(name):
                replaced |= records.given(name)
            continue
        item = records.condition(name)
        if item is not None and item.variable in names:
            sources[name] = item.variable
            with records.collecting(item.variable):
                added[name] = records.met(item)
    for column in dict.fromkeys(sources.values()):
        with records.collecting(column):
            records.check_levels(column, handle_unknown)
    records.raise_faults()
    extra = [*added.values()]

    def values(j: int) -> NDArray[Any]:
        if j >= len(names):
            return extra[j - len(names)]
        return replaced[j] if j in replaced else table.values(j)

    return Table(table.n_samples, len(names) + len(added), [*names, *added], values), sources


class _RawRecords:
    """Rows with raw columns, and what is wrong with these."""

    def __init__(
        self,
        table: Table,
        names: list[str],
        known: Collection[str],
        variables: Mapping[str, RawVariable],
        items: Mapping[str, Item],
    ) -> None:
        self._table, self._names = table, names
        self._known, self._variables, self._items = known, variables, items
        self._faults: dict[int, ColumnError] = {}

    @contextmanager
    def collecting(self, column: str) -> Iterator[None]:
        """Keep the first fault of a column, to be raised along with those of others."""
        try:
            yield
        except ColumnError as fault:
            self._faults.setdefault(self._names.index(column), fault)

    def raise_faults(self) -> None:
        """Raise what was found, if there is something."""
        unknown = [self._names[j] for j, one in self._faults.items() if one.kind == "unknown"]
        levels = "; ".join(
            f"{name!r} had {listing(map(repr, self._variables[name].levels))}" for name in unknown
        )
        advice = (
            f"In the training data {levels}. Correct the values; or ignore them, so that they get "
            "no points: score.with_items(X, handle_unknown='ignore'), --unknown-levels ignore on "
            "the command line."
        )
        faults = [*self._faults.items()]
        raise_faults(faults, self._names, self._table.n_samples, {**_ADVICE, "unknown": advice})

    def condition(self, name: str) -> Item | None:
        """Return what is to be computed for a feature; None for one that is a column itself."""
        item = self._items.get(name)
        if item is not None:
            return item if item.is_condition else None
        return None if self._variables else read_item(name, self._names)

    def met(self, item: Item) -> NDArray[np.int8]:
        """Find which rows meet a condition."""
        variable = self._variables.get(item.variable)
        return _met(
            item,
            self._values(item.variable),
            may_lack=self._may_lack(item.variable),
            are_numbers=variable is not None and variable.kind == "numeric",
        )

    def given(self, name: str) -> dict[int, NDArray[np.int8]]:
        """A feature that is there: by its position if its missing values are to be replaced."""
        variable, item = self._variables.get(name), self._items.get(name)
        is_item = variable is not None and variable.kind == "boolean"
        is_item = is_item or (variable is None and item is not None and item.is_condition)
        may_lack = self._may_lack(name)
        if not (is_item or may_lack):
            return {}
        encoder = ColumnEncoder(name, "booleans", indicator=may_lack)
        try:
            column = encoder.read(self._values(name), "error")
        except ColumnError:
            if is_item:
                raise
            return {}  # what is wrong with it is found where it is used
        if column.missing is None:
            return {}
        return {self._names.index(name): np.asarray(column.values == 1, dtype=np.int8)}

    def check_levels(self, column: str, handle_unknown: HandleUnknown) -> None:
        """Refuse or report values that are none of a column's known levels.

        Without a variable, a column of two levels has one item, which does not tell what the other
        level is called: it is reported where neither of two values is that one.
        """
        variable = self._variables.get(column)
        if variable is not None:
            levels = [value_text(level) for level in variable.levels]
        else:
            items = [item for name in self._known if (item := self.condition(name))]
            levels = [level for one in items if one.variable == column for level in one.levels]
        if not levels:
            return
        raw = self._values(column)
        there = levels_in(raw)
        strange = [value for value in there if not is_level(value, levels)]
        if variable is None and len(levels) == 1 and not 1 < len(strange) == len(there):
            return
        if not strange:
            return
        shown = listing(map(repr, strange))
        if variable is not None and handle_unknown == "error":
            among = set(strange)
            where = np.array([value in among for value in plain_rows(raw)])
            raise ColumnError.at("unknown", where, shown)
        logger.warning(
            "column %r has values that are none of the levels known to the score, %s: %s. They get "
            "no points; are they misspelt?",
            column,
            listing(map(repr, levels)),
            shown,
        )

    def _values(self, column: str) -> NDArray[Any]:
        return self._table.values(self._names.index(column))

    def _may_lack(self, column: str) -> bool:
        if column in self._variables:
            return self._variables[column].may_lack
        if self._variables:
            return False
        known = (self._items.get(name) for name in self._known)
        stated = any(item and (item.variable, item.kind) == (column, "missing") for item in known)
        return stated or f"{column} is missing" in self._known


def raw_table(X: Any, relevant: Collection[str] = ()) -> Table:
    """A table with all columns of X, which may be one record or a list of records.

    Parameters
    ----------
    X : data frame, mapping, list of mappings, array-like, Table or TrainingData
    relevant : collection of str, default ()
        Of a list of records, which may differ in what else they have, these columns are
        enough, if there are any of them.

    Returns
    -------
    Table

    Raises
    ------
    TypeError, ValueError
        X is no table.
    """
    if isinstance(X, TrainingData):
        return Table(X.n_rows, X.n_features, X.feature_names, X.column)
    is_list = isinstance(X, Sequence) and record_of(X) is None
    first = X[0] if is_list and X else X
    names = [str(name) for name in record_of(first) or ()]
    used = [name for name in names if name in relevant] if is_list else []
    return open_records(X, used or names, "columns") or open_table(X, may_be_empty=True)


def in_kind_of(X: Any, table: Table, computed: Collection[str]) -> Any:
    """A table as what its rows came in: a data frame of the same library, else a mapping.

    Parameters
    ----------
    X : data frame, mapping, list of mappings, array-like, Table or TrainingData
    table : Table
        Of X, with columns behind its own.
    computed : collection of str
        Columns that need not be those of X.

    Returns
    -------
    data frame, or dict from str to ndarray of shape (n,)
        The columns of a data frame keep their types, and its rows their labels. X itself if it has
        no names.
    """
    import narwhals as nw

    if table.names is None:
        return X
    names = [str(name) for name in table.names]
    frame = X if is_row(X) else nw.from_native(X, pass_through=True)
    if frame is X and not is_row(X) and hasattr(X, "__arrow_c_stream__"):
        frame = nw.from_arrow(X, backend="pyarrow")
    if not isinstance(frame, nw.DataFrame):
        return {name: table.values(j) for j, name in enumerate(names)}
    there = set(frame.columns)
    backend = frame.implementation
    changed = [
        nw.new_series(name, table.values(j), backend=backend)
        for j, name in enumerate(names)
        if name not in there or name in computed
    ]
    return (frame.with_columns(changed) if changed else frame).to_native()


def fit_items(encoder: ItemEncoder, X: Any, sample_weight: Any = None, y: Any = None) -> Table:
    """Make the items of raw columns, and check that no name stands for two things.

    Parameters
    ----------
    encoder : ItemEncoder
        Which is fitted.
    X : data frame of shape (n, d)
    sample_weight : array-like of shape (n,), optional
    y : array-like of shape (n,), optional
        The outcome, where it chooses cut-offs.

    Returns
    -------
    Table
        The items, each of which is computed when it is read.

    Raises
    ------
    ValueError, TypeError
        As :meth:`ItemEncoder.fit` and :func:`check_names`; and as :meth:`ItemEncoder.transform` of
        rows without a weight, which have items as all others have.

    Examples
    --------
    >>> import pandas as pd
    >>> from riskslim import ItemEncoder
    >>> from riskslim.items.rules import fit_items
    >>> patients = pd.DataFrame({"age": [47, 60, 71], "sex": ["male", "female", "male"]})
    >>> items = fit_items(ItemEncoder(n_thresholds=1), patients)
    >>> items.names, items.values(0)
    (['age >= 60', 'sex = male'], array([0, 1, 1], dtype=int8))
    """
    from riskslim.items.encoder import check_rows, item_table

    encoder.fit(X, y, sample_weight=sample_weight)
    if sample_weight is not None and not np.asarray(sample_weight).all():
        check_rows(encoder, open_table(X), of_fit=True)
    check_names(encoder.items_, encoder.variables_)
    return item_table(encoder, X)


def check_names(items: Iterable[Item], variables: Mapping[str, RawVariable]) -> None:
    """Make sure that no name stands for an item and for another raw column.

    Parameters
    ----------
    items : iterable of Item
    variables : mapping from str to RawVariable
        All columns that items were made of.

    Raises
    ------
    ValueError
        A condition has the name of a column: of records with this column it could not be told
        which of the two is meant.
    """
    twice = [item.name for item in items if item.is_condition and item.name in variables]
    if twice:
        raise ValueError(
            f"{listing(map(repr, twice))}: conditions have the names of columns, and records would "
            "not tell which is meant. Rename these columns."
        )


def is_level(value: Any, levels: Sequence[str]) -> bool:
    """True if a value is written as one of these levels, or is the same number or truth value.

    Parameters
    ----------
    value : object
    levels : sequence of str

    Returns
    -------
    bool
    """
    if value_text(value) in levels:
        return True
    if isinstance(value, bool):
        return str(value).lower() in [level.lower() for level in levels]
    return not isinstance(value, str) and value in [number_of(level) for level in levels]
