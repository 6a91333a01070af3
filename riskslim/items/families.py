"""Conditions on one variable, and which of them can hold together.

Who is 60 or older is 40 or older: of "age >= 40" and "age >= 60" the second never holds alone.
Tables of attainable scores, rules and explanations leave such contradictions out; predictions do
not look for them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riskslim.data.feature_ranges import FeatureRange
from riskslim.items.item import COMPARISONS, Item, as_condition, number_of, variable_of

__all__ = ["Family", "Pattern", "condition_families", "contradicted", "families", "note_on_sums"]

# Which conditions of a family hold, 1, and which do not, 0.
Pattern: TypeAlias = tuple[int, ...]

# Combinations of more conditions are not counted in a table.
_MAX_COUNTED = 16

# Some text that is none of the levels which are named.
_OTHER = object()


class Family(NamedTuple):
    """Conditions on one variable, or one condition that is related to no other.

    Attributes
    ----------
    names : tuple of str
    patterns : tuple of tuples of int
        All that can be true of them at once, 1 where a condition holds, in increasing order.
    """

    names: tuple[str, ...]
    patterns: tuple[Pattern, ...]

    def restricted(self, names: Iterable[str]) -> Family:
        """The family of some of the conditions."""
        kept = [self.names.index(name) for name in names]
        patterns = {tuple(pattern[k] for k in kept) for pattern in self.patterns}
        return Family(tuple(self.names[k] for k in kept), tuple(sorted(patterns)))

    @property
    def is_free(self) -> bool:
        """True if any of the conditions can hold with any others."""
        return len(self.patterns) == 1 << len(self.names)

    def implied_by(self, name: str) -> tuple[str, ...]:
        """The other conditions that hold wherever this one does."""
        k = self.names.index(name)
        holding = [pattern for pattern in self.patterns if pattern[k]]
        return tuple(
            other
            for j, other in enumerate(self.names)
            if j != k and all(pattern[j] for pattern in holding)
        )


def families(names: Iterable[str], items: Mapping[str, Item]) -> tuple[Family, ...]:
    """Put conditions on the same variable together.

    Parameters
    ----------
    names : iterable of str
        Names of features that are 0 or 1.
    items : mapping from str to Item
        What is stated of features: a feature of which nothing is stated is related to no other,
        whatever its name.

    Returns
    -------
    tuple of Family
        In the order of the first condition of each.

    Notes
    -----
    A missing value meets no condition but "is missing", and may always occur; a special value of a
    variable meets no threshold. A raw column of 0 and 1 is the condition that it is 1.

    Examples
    --------
    >>> from riskslim.items import read_items
    >>> from riskslim.items.families import families
    >>> names = ["age >= 40", "smoker", "age >= 60"]
    >>> for family in families(names, read_items(names)):
    ...     print(family)
    Family(names=('age >= 40', 'age >= 60'), patterns=((0, 0), (1, 0), (1, 1)))
    Family(names=('smoker',), patterns=((0,), (1,)))
    >>> len(families(names, {}))
    3
    """
    by_variable: dict[tuple[str, bool], dict[str, Item | None]] = {}
    for name in names:
        item = items.get(name)
        condition = None if item is None else as_condition(item)
        key = (name, False) if condition is None else (condition.variable, True)
        by_variable.setdefault(key, {})[name] = condition
    return tuple(_family(conditions) for conditions in by_variable.values())


def condition_families(
    names: Iterable[str], feature_ranges: Mapping[str, FeatureRange], items: Mapping[str, Item]
) -> tuple[Family, ...]:
    """Put those features together that are conditions on the same variable.

    Parameters
    ----------
    names : iterable of str
    feature_ranges : mapping from str to FeatureRange
        Conditions are the features that are 0 or 1.
    items : mapping from str to Item
        As in :func:`families`.

    Returns
    -------
    tuple of Family
        As of :func:`families`.
    """
    return families((name for name in names if feature_ranges[name].is_binary), items)


def contradicted(
    related: Iterable[Family], column: Callable[[str], NDArray[Any]]
) -> tuple[Family, ...]:
    """Find the families that rows contradict: what is stated of them is not so.

    Parameters
    ----------
    related : iterable of Family
    column : callable
        Values of a feature, 0 or 1, shape (n,).

    Returns
    -------
    tuple of Family
        Those with a combination of conditions in some row that none of their patterns has.
    """
    return tuple(
        family for family in related if not family.is_free and _is_contradicted(family, column)
    )


def _is_contradicted(family: Family, column: Callable[[str], NDArray[Any]]) -> bool:
    """True if the rows contradict a family."""
    values = [column(name) != 0 for name in family.names]
    found: set[Pattern]
    if len(values) <= _MAX_COUNTED:
        codes = np.zeros(len(values[0]), dtype=np.int64)
        for holds in values:
            codes = 2 * codes + holds
        width = len(values)
        found = {
            tuple(code >> (width - 1 - k) & 1 for k in range(width))
            for code in np.flatnonzero(np.bincount(codes)).tolist()
        }
    else:
        found = {tuple(row) for row in np.unique(np.stack(values, 1), axis=0).astype(int).tolist()}
    return not found <= set(family.patterns)


def note_on_sums(family: Family, items: Mapping[str, Item]) -> str:
    """Say that the points of several conditions on a variable add up, in words.

    Parameters
    ----------
    family : Family
    items : mapping from str to Item

    Returns
    -------
    str
        Empty where no two of the conditions can hold together.

    Examples
    --------
    >>> from riskslim.items import read_items
    >>> from riskslim.items.families import families, note_on_sums
    >>> items = read_items(["age >= 45", "age >= 75"])
    >>> (family,) = families(items, items)
    >>> note_on_sums(family, items)
    'Points of several conditions on age add up: where age >= 75 holds, age >= 45 counts as well.'
    """
    start = f"Points of several conditions on {variable_of(family.names[0], items)} add up: "
    widest = max(family.names, key=lambda name: len(family.implied_by(name)))
    if implied := family.implied_by(widest):
        count = "counts" if len(implied) == 1 else "count"
        return f"{start}where {widest} holds, {_joined(implied)} {count} as well."
    fullest = max(family.patterns, key=sum)
    if sum(fullest) < 2:
        return ""
    together = [name for name, holds in zip(family.names, fullest, strict=True) if holds]
    both = "both" if len(together) == 2 else "all"
    return f"{start}{_joined(together)} can hold together, and then {both} count."


def _joined(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _family(conditions: dict[str, Item | None]) -> Family:
    related = [item for item in conditions.values() if item is not None]
    if len(related) < 2:
        return Family(tuple(conditions), ((0,), (1,)))
    patterns = {
        tuple(int(_holds(item, value)) for item in related) for value in _possible_values(related)
    }
    return Family(tuple(conditions), tuple(sorted(patterns)))


def _possible_values(items: list[Item]) -> list[Any]:
    """Values of a variable that stand for all: those named, between and beyond them, missing."""
    thresholds = [item.value for item in items if item.kind in COMPARISONS]
    levels = [level for item in items for level in item.levels]
    special = [one for item in items for one in item.special]  # no value between is one of them
    named = [*map(_exact, levels), *map(_fraction, [*thresholds, *special])]
    numbers = sorted({number for number in named if number is not None})
    if thresholds and not numbers:  # all are infinite: one number stands for the others
        numbers = [Fraction(0)]
    between = [(low + high) / 2 for low, high in itertools.pairwise(numbers)]
    beyond = [numbers[0] - 1, numbers[-1] + 1] if numbers else []
    # A column is compared with numbers or has levels that are text.
    strange = [] if thresholds else [_OTHER]
    return [None, *strange, *levels, *numbers, *between, *beyond]


def _holds(item: Item, value: Any) -> bool:
    if item.kind == "missing" or value is None:
        return item.kind == "missing" and value is None
    if item.kind in COMPARISONS:
        if not isinstance(value, Fraction) or value in map(_fraction, item.special):
            return False
        return bool(COMPARISONS[item.kind](value, item.value))
    return value in item.levels or value in [_exact(level) for level in item.levels]


def _exact(text: str) -> Fraction | None:
    number = number_of(text)
    return None if number is None else _fraction(number)


def _fraction(number: float) -> Fraction | None:
    if isinstance(number, float) and not math.isfinite(number):
        return None
    return Fraction(number)
