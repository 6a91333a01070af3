"""The points of a score by variable, in bands: "< 66: 0, 66 to 70: 1, >= 71: 3".

Points of several conditions on a variable add up. The bands of a variable are the ranges or levels
within which they add up to the same; every form of a sheet by variable, scorecards and reasons are
made of them. They are found by going through the cut-offs and levels of the conditions: between two
neighbouring cut-offs no condition changes, so that one value stands for all.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from riskslim.data.feature_ranges import FeatureRange
from riskslim.items.families import Pattern, condition_families
from riskslim.items.item import (
    COMPARISONS,
    Item,
    as_condition,
    as_written,
    number_of,
    source_variable,
    value_text,
)
from riskslim.items.rules import is_level
from riskslim.score.band import Band, VariableBands
from riskslim.score.labels import Label
from riskslim.score.naming import (
    feature_text,
    label_of,
    may_lack,
    no_text,
    stated_item,
    variable_text,
)
from riskslim.score.typesetting import ScoreLine, score_line

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore
    from riskslim.score.layout import PointsShown

__all__ = ["bands_of", "factor_line", "says_nothing_is_known"]

_KNOWN, _MISSING = "known", "missing"
_OTHER = "other"
# As many levels without points are named, where all levels are known.
_MOST_OTHERS = 4
# Decimals of values that are taken for those that a variable is measured with.
_MOST_DECIMALS = 2


def bands_of(
    score: RiskScore, points: PointsShown = "fitted"
) -> tuple[tuple[VariableBands, ...], int]:
    """Put the points of a score together by variable.

    Parameters
    ----------
    score : RiskScore
    points : {"fitted", "non-negative"}, default "fitted"
        The latter moves the points of each variable so that the least is 0.

    Returns
    -------
    tuple of VariableBands
        Those whose points differ most first; variables whose values are multiplied by points are
        taken for as much as their points.
    int
        By how much the sums of the points exceed the scores of the records.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.items import read_items
    >>> from riskslim.score.bands import bands_of
    >>> points = {"age >= 66": 1, "age >= 71": 2, "active": -1}
    >>> bands, shift = bands_of(RiskScore(-3, points, items=read_items(points)), "non-negative")
    >>> for one in bands:
    ...     print(one)
    age: < 66: 0, 66 to < 71: 1, >= 71: 3
    active: no: 1, yes: 0
    >>> shift
    1
    """
    found = [
        _of_family(score, family.names)
        for family in condition_families(score.points, score.feature_ranges, score.items)
    ]
    twice = {one.label for one in found if sum(one.label == other.label for other in found) > 1}
    found = [
        one if one.label not in twice or len(one.features) > 1 else _of_feature(score, one.features)
        for one in found
    ]
    found += [
        _of_factor(score, name) for name in score.points if not score.feature_ranges[name].is_binary
    ]
    shift = 0
    if points == "non-negative":
        shift = -sum(one.least for one in found)
        found = [one if one.is_factor else one.moved(1, -one.least) for one in found]
    return tuple(sorted(found, key=lambda one: -_weight(one))), shift


def _weight(one: VariableBands) -> int:
    worths = [band.points for band in one.bands]
    return abs(worths[0]) if one.is_factor else max(worths) - min(worths)


def _of_factor(score: RiskScore, name: str) -> VariableBands:
    """A feature whose values are multiplied by points."""
    label = label_of(score, name)
    values = score.feature_ranges[name]
    line = factor_line(name, score.points[name], values, label)
    return VariableBands(
        name,
        line.label,
        label.unit or values.unit,
        (name,),
        (Band("", line.points, worth=line.worth),),
    )


def factor_line(name: str, points: int, values: FeatureRange, label: Label) -> ScoreLine:
    """The line of a feature whose values are multiplied by points, as it is labelled."""
    if label.unit is not None:
        values = dataclasses.replace(values, unit=label.unit)
    return score_line(label.text or name, points, values)


def _of_family(score: RiskScore, names: tuple[str, ...]) -> VariableBands:
    if len(names) == 1:
        item = stated_item(score, names[0])
        is_own = names[0] in score.labels and (item is None or not _is_dummy(item))
        if item is None or not item.is_condition or is_own:
            return _of_feature(score, names)
        stated = [item]
    else:
        conditions = [as_condition(score.items[name]) for name in names]
        stated = [item for item in conditions if item is not None]
    variable = stated[0].variable
    worths = [score.points[name] for name in names]
    label = label_of(score, variable)
    lacks = may_lack(score, variable) or any(item.kind == "missing" for item in stated)
    if any(item.kind in COMPARISONS for item in stated):
        bands = _of_numbers(score, stated, worths)
    elif any(item.levels and not _is_column(score, item) for item in stated):
        bands = _of_levels(score, stated, worths)
    elif any(item.levels for item in stated):
        bands = _of_column(stated, worths, label)
    else:
        bands = [_band(label.level(_KNOWN), [tuple(0 for _ in stated)], worths)]
    if lacks:
        pattern = tuple(int(item.kind == "missing") for item in stated)
        bands.append(_band(label.level(_MISSING), [pattern], worths, is_measured=False))
    return VariableBands(variable, variable_text(score, variable), label.unit, names, tuple(bands))


def _is_column(score: RiskScore, item: Item) -> bool:
    """True if an item stands for a raw column of 0 and 1 itself."""
    stated = score.items.get(item.name)
    return stated is not None and stated.kind == "boolean"


def _of_column(stated: Sequence[Item], worths: Sequence[int], label: Label) -> list[Band]:
    """The values of a raw column of 0 and 1, beside conditions on it that name no level."""
    yes = tuple(int(bool(item.levels)) for item in stated)
    no = tuple(0 for _ in stated)
    return [_band(label.level("no"), [no], worths), _band(label.level("yes"), [yes], worths)]


def _of_feature(score: RiskScore, names: tuple[str, ...]) -> VariableBands:
    """A feature of 0 and 1 by itself."""
    (name,) = names
    label = label_of(score, name)
    item = score.items.get(name)
    variable, is_measured = name, True
    if item is not None and item.is_condition:
        variable = item.variable
        is_measured = not says_nothing_is_known(item, _special_values(score, [item]))
    bands = (
        Band(no_text(score, name), 0, ((0,),)),
        Band(label.level("yes"), score.points[name], ((1,),), is_measured=is_measured),
    )
    return VariableBands(variable, feature_text(score, name), label.unit, (name,), bands)


def _band(
    condition: str,
    patterns: Sequence[Pattern],
    worths: Sequence[int],
    *,
    is_text: bool = True,
    is_measured: bool = True,
) -> Band:
    points = sum(worth for worth, holds in zip(worths, patterns[0], strict=True) if holds)
    different = tuple(dict.fromkeys(patterns))
    return Band(condition, points, different, is_text=is_text, is_measured=is_measured)


def says_nothing_is_known(item: Item, special: Collection[float]) -> bool:
    """True if a condition is about missing values, or values that are no measurements.

    Parameters
    ----------
    item : Item
    special : collection of float
        Special values of its variable.

    Returns
    -------
    bool
    """
    if item.kind == "missing":
        return True
    numbers = [number_of(level) for level in item.levels]
    return bool(numbers) and all(one in special for one in numbers)


# ---------------------------------------------------------------------------------------------
# Cut-offs
# ---------------------------------------------------------------------------------------------


class _Break(NamedTuple):
    """A place between two numbers: just below a value, or just above it.

    Attributes
    ----------
    at : Fraction
    above : bool
        Whether the value itself lies below the break.
    """

    at: Fraction
    above: bool


def _of_numbers(score: RiskScore, items: Sequence[Item], worths: Sequence[int]) -> list[Band]:
    """Bands between the cut-offs of conditions on numbers, then those of special values."""
    special = _special_values(score, items)
    of_numbers = [_is_of_numbers(item, special) for item in items]
    with_breaks = itertools.compress(items, of_numbers)
    breaks = sorted({one for item in with_breaks for one in _breaks(item)})
    texts = {
        Fraction(number): value_text(number)
        for item in items
        for number in _numbers(item)
        if math.isfinite(number)
    }
    ends: list[_Break | None] = [None, *breaks, None]
    found: list[tuple[_Break | None, _Break | None, list[Pattern]]] = []
    for low, high in itertools.pairwise(ends):
        value = _between(low, high)
        pattern = tuple(
            int(counts and _holds(item, value))
            for item, counts in zip(items, of_numbers, strict=True)
        )
        if found and _sum(worths, found[-1][2][0]) == _sum(worths, pattern):
            found[-1] = (found[-1][0], high, [*found[-1][2], pattern])
        else:
            found.append((low, high, [pattern]))
    step = _step(score, items)
    if step is not None:
        on_grid = [_on_grid(one, step) for one in breaks]
        if len(set(on_grid)) < len(on_grid):  # a band without a value of so few digits
            step = None
    of_special = _of_special_values(score, items, worths, special)
    return [
        _band(
            _range_text(low, high, texts, step)
            + _without_text(low, high, of_special, _sum(worths, patterns[0])),
            patterns, worths, is_text=False,
        )
        for low, high, patterns in found
    ] + [
        _band(one.text, [one.pattern], worths, is_measured=False) for one in of_special
    ]  # fmt: skip


class _Special(NamedTuple):
    """Special values for which the same holds."""

    text: str
    pattern: Pattern
    points: int
    values: list[tuple[float, str]]


def _without_text(
    low: _Break | None, high: _Break | None, special: Sequence[_Special], points: int
) -> str:
    """Name the special values among some numbers that have other points than these.

    Who reads a sheet takes the first line that holds, and -9 is below any cut-off.
    """
    names = [
        name
        for one in special
        if one.points != points
        for value, name in one.values
        if _is_within(Fraction(value), low, high)
    ]
    return f" (not {', '.join(names)})" if names else ""


def _special_values(score: RiskScore, items: Sequence[Item]) -> list[float]:
    """Numbers that are no measurements: no cut-off is met by them."""
    variable = score.variables.get(items[0].variable)
    stated = [one for item in items for one in item.special]
    return sorted({*stated, *(() if variable is None else variable.special)})


def _is_of_numbers(item: Item, special: Sequence[float]) -> bool:
    """True if a condition is about more than special values."""
    return item.kind in COMPARISONS or not {*_numbers(item)} <= {*special} or not special


def _of_special_values(
    score: RiskScore, items: Sequence[Item], worths: Sequence[int], special: Sequence[float]
) -> list[_Special]:
    """Group the special values for which the same holds."""
    label, found = label_of(score, items[0].variable), dict[Pattern, list[tuple[float, str]]]()
    for value in special:
        pattern = tuple(
            int(item.kind not in COMPARISONS and value in _numbers(item)) for item in items
        )
        name = label.level(value_text(as_written(value)))
        found.setdefault(pattern, []).append((value, name))
    return [
        _Special(", ".join(name for _, name in values), pattern, _sum(worths, pattern), values)
        for pattern, values in found.items()
    ]


def _sum(worths: Sequence[int], pattern: Pattern) -> int:
    return sum(worth for worth, holds in zip(worths, pattern, strict=True) if holds)


def _numbers(item: Item) -> list[float]:
    """The numbers at which a condition changes, in 64 bits, as they are compared."""
    if item.kind in COMPARISONS:
        return [_float(item.value)]
    levels = [number_of(level) for level in item.levels]
    return [_float(number) for number in levels if number is not None and number == number]


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:  # a whole number of more digits
        return math.inf if number > 0 else -math.inf


def _breaks(item: Item) -> list[_Break]:
    numbers = [Fraction(number) for number in _numbers(item) if math.isfinite(number)]
    if item.kind in COMPARISONS:
        return [_Break(number, item.kind in ("<=", ">")) for number in numbers]
    return [_Break(number, above) for number in numbers for above in (False, True)]


def _between(low: _Break | None, high: _Break | None) -> Fraction:
    """A number between two breaks."""
    if low is None:
        return Fraction(0) if high is None else high.at - 1
    return low.at + 1 if high is None else (low.at + high.at) / 2


def _is_within(value: Fraction, low: _Break | None, high: _Break | None) -> bool:
    """True if a number lies between two breaks."""
    is_above = low is None or value > low.at or (value == low.at and not low.above)
    is_below = high is None or value < high.at or (value == high.at and high.above)
    return is_above and is_below


def _holds(item: Item, value: Fraction) -> bool:
    if item.kind in COMPARISONS:
        return bool(COMPARISONS[item.kind](value, _float(item.value)))
    return value in _numbers(item)


def _step(score: RiskScore, items: Iterable[Item]) -> Fraction | None:
    """The unit of the last digit that a variable is measured with, as far as is known.

    It is that of the values of the training rows next to all cut-offs and at both ends. None where
    these have more than a few digits, or are not known.
    """
    cutoffs = [item for item in items if item.kind in COMPARISONS]
    ends: list[float] = []
    for item in cutoffs:
        if item.interval is None:
            return None
        ends += item.interval
    variable = score.variables.get(cutoffs[0].variable)
    if variable is not None and variable.minimum is not None and variable.maximum is not None:
        ends += [variable.minimum, variable.maximum]
    for decimals in range(_MOST_DECIMALS + 1):
        if all(round(end, decimals) == end for end in ends):
            return Fraction(1, 10**decimals)
    return None


def _range_text(
    low: _Break | None, high: _Break | None, texts: Mapping[Fraction, str], step: Fraction | None
) -> str:
    """Write the numbers between two breaks."""
    if step is not None:
        low, high = _on_grid(low, step), _on_grid(high, step)
        texts = {end.at: _digits(end.at) for end in (low, high) if end is not None}
    if low is None and high is None:
        return "any number"
    if high is None and low is not None:
        return f"{'>' if low.above else '>='} {texts[low.at]}"
    assert high is not None
    if low is None:
        return f"{'<=' if high.above else '<'} {texts[high.at]}"
    if step is not None:
        first, last = _digits(low.at), _digits(high.at - step)
        return first if first == last else f"{first} to {last}"
    if low.at == high.at:
        return texts[low.at]
    first = f"{'> ' if low.above else ''}{texts[low.at]}"
    return f"{first} to {'' if high.above else '< '}{texts[high.at]}"


def _digits(number: Fraction) -> str:
    return value_text(int(number) if number.denominator == 1 else float(number))


def _on_grid(end: _Break | None, step: Fraction) -> _Break | None:
    """The same break among multiples of a step, just below the one that follows it.

    Cut-offs are decimal numbers: 0.1 is a tenth here, not the float64 next to it.
    """
    if end is None:
        return None
    at = Fraction(repr(float(end.at))) / step
    return _Break((math.floor(at) + 1 if end.above else math.ceil(at)) * step, False)


# ---------------------------------------------------------------------------------------------
# Levels
# ---------------------------------------------------------------------------------------------


def _is_dummy(item: Item) -> bool:
    """True if it is stated of a column, whose name does not say so, that it is for a level."""
    return item.kind == "=" and source_variable(item.name) != item.variable


def _of_levels(score: RiskScore, items: Sequence[Item], worths: Sequence[int]) -> list[Band]:
    """Bands of levels with the same points; those that no condition names are others."""
    variable = score.variables.get(items[0].variable)
    label = label_of(score, items[0].variable)
    # A column for a level may have a label of its own: that of the level, unless it has one, too.
    columns = {item.levels[0]: label_of(score, item.name).text for item in items if _is_dummy(item)}
    own = {level: text for level, text in columns.items() if text and level not in label.levels}
    known: Sequence[Any] = variable.levels if variable is not None else ()
    levels: Sequence[Any] = known or [*dict.fromkeys(one for item in items for one in item.levels)]
    special = _special_values(score, items)
    groups: dict[int, tuple[list[str], list[Pattern]]] = {}
    measured: set[int] = set()
    rest: list[str] = []
    nothing = tuple(0 for _ in items)
    for level in levels:
        pattern = tuple(int(is_level(level, item.levels)) for item in items)
        text = own.get(value_text(level)) or label.level(value_text(level))
        if pattern == nothing:
            rest.append(text)
            continue
        points = _sum(worths, pattern)
        if number_of(level) not in special:
            measured.add(points)
        texts, patterns = groups.setdefault(points, ([], []))
        texts.append(text)
        patterns.append(pattern)
    if rest or not known:
        measured.add(0)
        texts, patterns = groups.setdefault(0, ([], []))
        texts += rest if 0 < len(rest) <= _MOST_OTHERS else [label.level(_OTHER)]
        patterns.append(nothing)
    return [
        _band(", ".join(texts), patterns, worths, is_measured=points in measured)
        for points, (texts, patterns) in groups.items()
    ]
