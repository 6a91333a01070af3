"""The parameters of an encoder, checked against the columns that it is fitted to."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from riskslim._wording import listing, near
from riskslim.items.columns import Direction, ItemRules, SpecialGroups
from riskslim.items.item import as_written, plain_number

if TYPE_CHECKING:
    from riskslim.items.encoder import ItemEncoder

__all__ = ["checked_rules", "is_supervised", "special_groups"]

SUPERVISED = "supervised"


def checked_rules(
    encoder: ItemEncoder,
    columns: Sequence[str],
    categorical_types: frozenset[str] = frozenset(),
    ordered: Mapping[str, tuple[Any, ...]] = MappingProxyType({}),
) -> ItemRules:
    """Check the parameters of an encoder, and say by which rules columns become items.

    Parameters
    ----------
    encoder : ItemEncoder
    columns : sequence of str
    categorical_types : frozenset of str
        Columns of a categorical type.
    ordered : mapping from str to tuple
        Columns of a type whose levels have an order, and these levels.

    Returns
    -------
    ItemRules

    Raises
    ------
    TypeError, ValueError
        Values that a parameter cannot have; names that are no column.
    """
    return _Parameters(encoder, columns).rules(categorical_types, ordered)


def is_supervised(encoder: ItemEncoder) -> bool:
    """True if the outcome chooses cut-offs of an encoder.

    Parameters
    ----------
    encoder : ItemEncoder

    Returns
    -------
    bool
    """
    given: Any = encoder.thresholds
    values = given.values() if isinstance(given, Mapping) else [given]
    return any(isinstance(one, str) and one == SUPERVISED for one in values)


@dataclass(frozen=True)
class _Parameters:
    """An encoder, and the columns that its parameters name."""

    encoder: ItemEncoder
    columns: Sequence[str]

    def rules(
        self, categorical_types: frozenset[str], ordered: Mapping[str, tuple[Any, ...]]
    ) -> ItemRules:
        one = self.encoder
        for name, value, options in (
            ("missing", one.missing, ("error", "indicator")),
            ("handle_unknown", one.handle_unknown, ("error", "ignore")),
            ("drop", one.drop, ("if_binary", None)),
            ("threshold_position", one.threshold_position, ("value", "middle")),
        ):
            _check_option(name, value, options)
        thresholds, everywhere = self._thresholds()
        categorical = frozenset(self._known("categorical", one.categorical))
        passthrough = isinstance(one.numeric, str)
        if passthrough:
            _check_option("numeric", one.numeric, ("passthrough",))
        numeric = frozenset() if passthrough else frozenset(self._known("numeric", one.numeric))
        special = special_groups(one.special_values, self.columns)
        named = isinstance(one.special_values, Mapping)
        if named:
            self._known("special_values", one.special_values)
        for first, second, what in (
            (numeric, set(thresholds), "numeric and in thresholds"),
            (numeric, categorical, "numeric and in categorical"),
            (numeric, set(special) if named else set(), "numeric and in special_values"),
            (categorical, set(special) if named else set(), "categorical and in special_values"),
            (categorical, set(thresholds), "categorical and in thresholds"),
        ):
            if both := sorted(first & second):
                raise ValueError(f"Columns are named in {what}: {listing(map(repr, both))}.")
        if not isinstance(one.round_thresholds, (bool, np.bool_)):
            raise TypeError(
                f"round_thresholds must be True or False, got {one.round_thresholds!r}."
            )
        given = {name for name, value in thresholds.items() if isinstance(value, list)}
        return ItemRules(
            n_thresholds=_checked_number("n_thresholds", one.n_thresholds),
            max_thresholds=_checked_count("max_thresholds", one.max_thresholds),
            placement="round" if one.round_thresholds else one.threshold_position,
            thresholds=thresholds,
            directions=self._directions(),
            categorical=categorical | (categorical_types - numeric - set(thresholds)),
            numeric=numeric,
            passthrough=passthrough,
            indicators=one.missing == "indicator",
            min_frequency=_checked_frequency(one.min_frequency),
            drop_first=one.drop == "if_binary",
            special=special,
            special_named=named,
            digits=_optional_count("threshold_digits", one.threshold_digits),
            supervised=everywhere,
            min_events=_checked_count("min_events", one.min_events, least=0),
            ordered={
                name: levels
                for name, levels in ordered.items()
                if name not in categorical | numeric | given
            },
        )

    def _thresholds(self) -> tuple[dict[str, Any], bool]:
        """Thresholds by column, and whether the outcome chooses those of all others."""
        given: Any = self.encoder.thresholds
        if isinstance(given, str):
            _check_option("thresholds", given, (SUPERVISED,))
            return {}, True
        named = self._known("thresholds", given or {})
        return {name: _checked_thresholds(name, named[name]) for name in named}, False

    def _directions(self) -> dict[str, Direction]:
        given: Any = self.encoder.direction
        if isinstance(given, str):
            given = dict.fromkeys(self.columns, given)
        for value in self._known("direction", given).values():
            _check_option("direction", value, (">=", "<="))
        return {name: given.get(name, ">=") for name in self.columns}

    def _known(self, parameter: str, given: Any) -> Any:
        """Names that a parameter gives, or a mapping from them, if there are such columns."""
        if isinstance(given, str):
            raise ValueError(f"{parameter} must be a sequence of names, got the text {given!r}.")
        known = set(self.columns)
        unknown = [name for name in given if name not in known]
        if unknown:
            named = listing(repr(name) + near(name, self.columns) for name in unknown)
            raise ValueError(f"{parameter} names columns that the rows do not have: {named}.")
        return given


def special_groups(given: Any, columns: Sequence[str]) -> dict[str, SpecialGroups]:
    """Read special values: of all columns, or by column, each by itself or in groups.

    Parameters
    ----------
    given : sequence of float or of sequences of them, mapping from names to such, or None
    columns : sequence of str

    Returns
    -------
    dict from str to tuple of tuples of float

    Raises
    ------
    TypeError, ValueError
        Something else, infinite numbers, or one that is given twice.

    Examples
    --------
    >>> from riskslim.items.parameters import special_groups
    >>> special_groups({"months": [-7, [-8, -9]]}, ["months", "age"])
    {'months': ((-7,), (-8, -9))}
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {name: _groups(f"special_values of {name!r}", given[name]) for name in given}
    groups = _groups("special_values", given)
    return dict.fromkeys(columns, groups)


def _groups(what: str, given: Any) -> SpecialGroups:
    wrong = (
        f"{what} must be numbers such as [-7, -8], or groups of them such as [[-7, -8], -9], got "
        f"{given!r}."
    )
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(wrong)
    groups = []
    for entry in given:
        is_group = isinstance(entry, Iterable) and not isinstance(entry, (str, bytes))
        group = tuple(entry) if is_group else (entry,)
        if not group or not all(_is_finite_number(one) for one in group):
            raise TypeError(wrong)
        groups.append(tuple(_shortest(one) for one in group))
    flat = [one for group in groups for one in group]
    if not flat:
        raise ValueError(wrong)
    if len(set(flat)) < len(flat):
        twice = next(one for one in flat if flat.count(one) > 1)
        raise ValueError(f"{what} has {twice!r} twice.")
    return tuple(groups)


def _shortest(value: Any) -> float:
    """A number as it is written: -7 in place of -7.0."""
    return as_written(float(plain_number(value)))


def _check_option(name: str, value: Any, options: Sequence[Any]) -> None:
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, got {value!r}.")


def _checked_count(name: str, value: Any, least: int = 1) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an int, got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}.")
    return int(value)


def _checked_number(name: str, value: Any) -> int | Literal["all"]:
    if isinstance(value, str):
        if value == "all":
            return "all"
        raise ValueError(f"{name} must be an int or 'all', got {value!r}.")
    return _checked_count(name, value)


def _optional_count(name: str, value: Any) -> int | None:
    return None if value is None else _checked_count(name, value)


def _checked_thresholds(name: str, value: Any) -> int | list[float] | Literal["all", "supervised"]:
    if isinstance(value, str) and value == SUPERVISED:
        return "supervised"
    if isinstance(value, numbers.Integral) or (isinstance(value, str) and value == "all"):
        return _checked_number(f"thresholds of {name!r}", value)
    given = [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
    wrong = [one for one in given if not _is_finite_number(one)]
    if wrong or not given:
        raise ValueError(
            f"thresholds of {name!r} must be a sequence of finite numbers, an int, 'all', or "
            f"'supervised', got {value!r}."
        )
    return sorted({plain_number(one) for one in given})


def _is_finite_number(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return False
    return isinstance(value, numbers.Real) and math.isfinite(value)


def _checked_frequency(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, float) and 0 < value < 1:
        return value
    if not isinstance(value, (bool, float)) and isinstance(value, numbers.Integral):
        return _checked_count("min_frequency", value)
    raise ValueError(
        "min_frequency must be an int of at least 1, a float between 0 and 1, or None, got "
        f"{value!r}."
    )
