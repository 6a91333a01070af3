"""Conditions on one variable, and which of them can hold together, as their names say.

Who is 60 or older is 40 or older: of "age >= 40" and "age >= 60" the second never holds alone.
Tables of attainable scores, rules and explanations leave such contradictions out; predictions do
not look for them.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from riskslim.data.feature_ranges import FeatureRange
from riskslim.items.item import source_variable
from riskslim.items.rules import COMPARISONS, Rule, number_of, readings

__all__ = ["Family", "Pattern", "condition_families", "families", "note_on_sums"]

# Which conditions of a family hold, 1, and which do not, 0.
Pattern: TypeAlias = tuple[int, ...]

# "not age >= 40" is no condition on a variable "not age".
_NEGATION = re.compile(r"\b(?:not?|without|except|unless|neither|nor)\b|[!~¬]", re.IGNORECASE)

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
        """Whether any of the conditions can hold with any others."""
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


def families(names: Iterable[str]) -> tuple[Family, ...]:
    """Put conditions on the same variable together.

    Parameters
    ----------
    names : iterable of str
        Names of features that are 0 or 1.

    Returns
    -------
    tuple of Family
        In the order of the first condition of each.

    Notes
    -----
    A name is read as :func:`~riskslim.items.rules.with_items` reads it: comparisons with a number,
    levels, "is missing". A missing value meets no condition but this one, and may always
    occur. A name that can be read in two ways, or has a word like "not" before its operator, is
    related to no other: too many patterns do no harm, too few would.

    Examples
    --------
    >>> from riskslim.items.families import families
    >>> for family in families(["age >= 40", "smoker", "age >= 60"]):
    ...     print(family)
    Family(names=('age >= 40', 'age >= 60'), patterns=((0, 0), (1, 0), (1, 1)))
    Family(names=('smoker',), patterns=((0,), (1,)))
    """
    by_variable: dict[tuple[str, bool], dict[str, Rule | None]] = {}
    for name in names:
        rule = _reading(name)
        key = (name, False) if rule is None else (rule.variable, True)
        by_variable.setdefault(key, {})[name] = rule
    return tuple(_family(rules) for rules in by_variable.values())


def condition_families(
    names: Iterable[str], feature_ranges: Mapping[str, FeatureRange]
) -> tuple[Family, ...]:
    """Put those features together that are conditions on the same variable.

    Parameters
    ----------
    names : iterable of str
    feature_ranges : mapping from str to FeatureRange
        Conditions are the features that are 0 or 1.

    Returns
    -------
    tuple of Family
        As of :func:`families`.
    """
    return families(name for name in names if feature_ranges[name].is_binary)


def note_on_sums(family: Family) -> str:
    """That the points of several conditions on a variable add up, in words.

    Parameters
    ----------
    family : Family

    Returns
    -------
    str
        Empty where no two of the conditions can hold together.

    Examples
    --------
    >>> from riskslim.items.families import families, note_on_sums
    >>> (family,) = families(["age >= 45", "age >= 75"])
    >>> note_on_sums(family)
    'Points of several conditions on age add up: where age >= 75 holds, age >= 45 counts as well.'
    """
    start = f"Points of several conditions on {source_variable(family.names[0])} add up: "
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


def _reading(name: str) -> Rule | None:
    known = readings(name)
    if len(known) != 1 or _NEGATION.search(known[0].variable):
        return None
    return known[0]


def _family(rules: dict[str, Rule | None]) -> Family:
    related = [rule for rule in rules.values() if rule is not None]
    if len(related) < 2:
        return Family(tuple(rules), ((0,), (1,)))
    patterns = {
        tuple(int(_holds(rule, value)) for rule in related) for value in _possible_values(related)
    }
    return Family(tuple(rules), tuple(sorted(patterns)))


def _possible_values(rules: list[Rule]) -> list[Any]:
    """Values of a variable that stand for all: those named, between and beyond them, missing."""
    comparisons = [rule for rule in rules if rule.operator in COMPARISONS]
    levels = [level for rule in rules for level in rule.levels()]
    texts = [*levels, *(rule.value for rule in comparisons)]
    numbers = sorted({number for text in texts if (number := _exact(text)) is not None})
    between = [(low + high) / 2 for low, high in itertools.pairwise(numbers)]
    beyond = [numbers[0] - 1, numbers[-1] + 1] if numbers else []
    # A column is compared with numbers or has levels that are text.
    strange = [] if comparisons else [_OTHER]
    return [None, *strange, *levels, *numbers, *between, *beyond]


def _holds(rule: Rule, value: Any) -> bool:
    if rule.operator == "is missing" or value is None:
        return rule.operator == "is missing" and value is None
    if rule.operator in COMPARISONS:
        threshold = number_of(rule.value)
        return isinstance(value, Fraction) and bool(COMPARISONS[rule.operator](value, threshold))
    levels = rule.levels()
    return value in levels or value in [_exact(level) for level in levels]


def _exact(text: str) -> Fraction | None:
    number = number_of(text)
    if number is None or (isinstance(number, float) and not math.isfinite(number)):
        return None
    return Fraction(number)
