"""Items as rules: the name of an item says what is to be computed from a raw column.

A score whose features are items of an :class:`~riskslim.ItemEncoder` applies to raw records without
the encoder: "age >= 60" is read as a condition on the column "age". :func:`fit_items` makes sure
that this gives what the encoder gave, for every item and every row that the score is fitted to.
"""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.item_columns import ColumnEncoder, distinct_objects
from riskslim.items import Item, conditions, value_text
from riskslim.tables import ColumnError, Table, listing, open_records, open_table, raise_faults

if TYPE_CHECKING:
    from riskslim.item_encoder import ItemEncoder

__all__ = ["COMPARISONS", "Rule", "fit_items", "number_of", "readings", "with_items"]

logger = logging.getLogger("riskslim.item_rules")

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge, "≥": operator.ge, "<=": operator.le, "≤": operator.le, ">": operator.gt,
    "<": operator.lt,
}  # fmt: skip

_ADVICE = {
    "missing": (
        "There were none where the score was fitted, so that it does not say what they mean: "
        "remove these rows, or impute the values."
    )
}


class Rule(NamedTuple):
    """A condition on a raw column."""

    variable: str
    operator: str
    value: str

    def levels(self) -> list[str]:
        """Levels that the condition names; none of a condition of another kind."""
        if self.operator == "in":
            return self.value[1:-1].split(", ")
        return [self.value] if self.operator in ("=", "==") else []

    def met(self, raw: NDArray[Any], *, may_lack: bool) -> NDArray[np.int8]:
        """Which rows meet the condition; missing values meet none, where there may be any."""
        if self.operator == "is missing":
            missing = ColumnEncoder(self.variable, "levels", indicator=True).read(raw, "ignore")[1]
            rows = np.zeros(len(raw), bool) if missing is None else missing
        elif self.operator in COMPARISONS:
            encoder = ColumnEncoder(self.variable, "numbers", indicator=may_lack)
            values = encoder.read(raw, "error").values
            rows = COMPARISONS[self.operator](values, number_of(self.value))
        else:
            levels = self.levels()
            codes = {one: 0 for one in distinct_objects(raw.tolist()) if _is_level(one, levels)}
            encoder = ColumnEncoder(self.variable, "levels", codes=codes, indicator=may_lack)
            rows = encoder.read(raw, "ignore").values == 0
        return np.asarray(rows, dtype=np.int8)


def with_items(X: Any, wanted: Sequence[str], known: Collection[str]) -> Table:
    """Add the items that rows lack, computed from their raw columns as the names say.

    Parameters
    ----------
    X : data frame, mapping from names to columns or single values, list of mappings, or Table
        Shape (n, d), with names.
    wanted : sequence of str
        Features that are needed. Those that X has are left as they are; those that are no
        condition on a column of X are not added.
    known : collection of str
        All features that the score was chosen from. Missing values of a column meet no condition
        where there is a feature "... is missing" for it, and are refused otherwise.

    Returns
    -------
    Table
        The columns of X, and behind them those that were added, of 0 and 1.

    Raises
    ------
    ValueError, TypeError
        Missing values, or text where numbers are needed, with columns and counts; names that are
        conditions on several columns.

    Notes
    -----
    The conditions are those that :class:`~riskslim.ItemEncoder` makes (">=", "<=", "=", "in {...}",
    "is missing"), and ">" and "<". Levels that were not in the training data are none of those
    named. Where ``known`` names the levels of a column, two at least, others are reported by a
    warning of the logger "riskslim.item_rules": they may be misspelt.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.item_rules import with_items
    >>> score = RiskScore(-2, {"age >= 60": 2, "sex = male": 1})
    >>> raw = {"age": [47, 60, 71], "sex": ["male", "female", "male"]}
    >>> score.score_samples(with_items(raw, tuple(score.points), score.feature_names))
    array([1, 2, 3])
    """
    table = _open_named(X)
    if table.names is None:
        return table
    names = [str(name) for name in table.names]
    added: dict[str, NDArray[np.int8]] = {}
    replaced: dict[int, NDArray[np.int8]] = {}
    faults: list[tuple[int, ColumnError]] = []
    rules: list[Rule] = []
    for name in wanted:
        if name in names:
            j = names.index(name)
            if f"{name} is missing" in known:
                replaced |= _without_missing(j, name, table)
            continue
        rule = _rule(name, names)
        if rule is None:
            continue
        rules.append(rule)
        j = names.index(rule.variable)
        try:
            may_lack = f"{rule.variable} is missing" in known
            added[name] = rule.met(table.values(j), may_lack=may_lack)
        except ColumnError as fault:
            if j not in [i for i, _ in faults]:
                faults.append((j, fault))
    raise_faults(faults, names, table.n_samples, _ADVICE)
    for variable in dict.fromkeys(rule.variable for rule in rules if rule.levels()):
        _report_strangers(variable, table.values(names.index(variable)), names, known)
    extra = [*added.values()]

    def values(j: int) -> NDArray[Any]:
        if j >= len(names):
            return extra[j - len(names)]
        return replaced[j] if j in replaced else table.values(j)

    return Table(table.n_samples, len(names) + len(added), [*names, *added], values)


def _open_named(X: Any) -> Table:
    """A table with all columns of X, which may be one record or a list of records."""
    first = X[0] if isinstance(X, (list, tuple)) and X else X
    names = first if isinstance(first, Mapping) else getattr(first, "index", ())
    return open_records(X, [str(name) for name in names], "columns") or open_table(X)


def fit_items(encoder: ItemEncoder, X: Any, sample_weight: Any = None) -> Any:
    """Make the items of raw columns, and check that their names say what they are.

    Parameters
    ----------
    encoder : ItemEncoder
        Which is fitted.
    X : data frame of shape (n, d)
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    data frame of shape (n, number of items)

    Raises
    ------
    ValueError
        An item is another one by its name: :func:`with_items` would not give what the encoder
        gives.

    Examples
    --------
    >>> import pandas as pd
    >>> from riskslim import ItemEncoder
    >>> from riskslim.item_rules import fit_items
    >>> patients = pd.DataFrame({"age": [47, 60, 71], "sex": ["male", "female", "male"]})
    >>> fit_items(ItemEncoder(n_thresholds=1), patients)
       age >= 60  sex = male
    0          0           1
    1          1           0
    2          1           1
    """
    items = encoder.fit_transform(X, sample_weight=sample_weight)
    encoded = open_table(items)
    names = [item.name for item in encoder.items_]
    again = with_items(X, names, names)
    position = {str(name): j for j, name in enumerate(again.names or ())}
    wrong = [
        item
        for j, item in enumerate(encoder.items_)
        if item.name not in position or not _is_same(item, encoded.values(j), again, position)
    ]
    if wrong:
        raise ValueError(
            f"{len(wrong)} of {len(names)} items cannot be computed from their names alone: "
            f"{listing(repr(item.name) for item in wrong)}. Rename the columns or levels of which "
            "they are made, or leave the columns out."
        )
    return items


def _is_same(item: Item, encoded: NDArray[Any], again: Table, position: Mapping[str, int]) -> bool:
    return bool(np.array_equal(encoded, again.values(position[item.name])))


def _rule(name: str, columns: Collection[str]) -> Rule | None:
    """How a name is to be read, where these are the columns."""
    possible = [rule for rule in readings(name) if rule.variable in columns]
    if len(possible) > 1:
        raise ValueError(
            f"{name!r} is a condition on several columns: "
            f"{listing(repr(rule.variable) for rule in possible)}. Rename one of them."
        )
    return possible[0] if possible else None


def readings(name: str) -> list[Rule]:
    """All ways to read a name as a condition that can be computed."""
    return [rule for parts in conditions(name) if _is_known(rule := Rule(*parts))]


def _is_known(rule: Rule) -> bool:
    if rule.operator in COMPARISONS:
        return number_of(rule.value) is not None
    if rule.operator == "in":
        return rule.value.startswith("{") and rule.value.endswith("}")
    return rule.operator in ("=", "==", "is missing")


def number_of(text: str) -> float | None:
    """The number that a text is, an int where it can be; None if it is none."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def _is_level(value: Any, levels: Sequence[str]) -> bool:
    """Whether a value is written as one of these levels, or is the same number or truth value."""
    if value_text(value) in levels:
        return True
    if isinstance(value, bool):
        return str(value).lower() in [level.lower() for level in levels]
    return not isinstance(value, str) and value in [number_of(level) for level in levels]


def _report_strangers(
    variable: str, raw: NDArray[Any], columns: Collection[str], known: Collection[str]
) -> None:
    """Warn of values that are none of a column's known levels.

    A column of two levels has one item, which does not tell what the other level is called.
    """
    rules = [rule for name in known if (rule := _rule(name, columns)) is not None]
    levels = [level for rule in rules if rule.variable == variable for level in rule.levels()]
    if len(levels) < 2:
        return
    missing = ColumnEncoder(variable, "levels", indicator=True).read(raw, "ignore").missing
    there = raw if missing is None else raw[~missing]
    strange = [one for one in distinct_objects(there.tolist()) if not _is_level(one, levels)]
    if strange:
        logger.warning(
            "column %r has values that are none of the levels known to the score, %s: %s. They get "
            "no points; are they misspelt?",
            variable,
            listing(map(repr, levels)),
            listing(map(repr, strange)),
        )


def _without_missing(j: int, name: str, table: Table) -> dict[int, NDArray[np.int8]]:
    """A column of 0, 1 and missing values, as its item; nothing for any other column."""
    try:
        column = ColumnEncoder(name, "booleans", indicator=True).read(table.values(j), "error")
    except ColumnError:
        return {}  # what is wrong with it is found where it is used
    if column.missing is None:
        return {}
    return {j: np.asarray(column.values == 1, dtype=np.int8)}
