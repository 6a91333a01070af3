"""Constraints on the points of single features: sets of integers, least points, signs."""

from __future__ import annotations

import abc
import dataclasses
import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from riskslim._checks import as_int
from riskslim._wording import listing
from riskslim.coefficients import MAX_ABSOLUTE_COEFFICIENT
from riskslim.constraints.base import (
    INTERCEPT,
    ByRows,
    Constraint,
    Feature,
    Features,
    Intervals,
    Resolved,
    Setting,
    Variable,
    checked_name,
    features_of,
    name_part,
    quoted,
    variable,
)

if TYPE_CHECKING:
    from riskslim.items.item import Item

__all__ = ["fixed_points", "intervals_of", "minimum_points", "monotone", "points_in"]

_SIGNS = {"+": 1, "-": -1}
_DIRECTIONS = {">=": 1, ">": 1, "<=": -1, "<": -1}
# Where nothing is stated: beyond its variable, the name of a feature that grows with it, and of
# one that falls.
_RISING = re.compile(r"|\s*(>=?|≥).*", re.DOTALL)
_FALLING = re.compile(r"\s*(<=?|≤).*", re.DOTALL)


@dataclasses.dataclass(frozen=True, repr=False)
class _Points(Constraint):
    """A requirement on the points of each of some features."""

    features: tuple[Feature, ...]

    @abc.abstractmethod
    def _intervals(self) -> Intervals:
        """Points that are allowed."""

    @abc.abstractmethod
    def _demand(self) -> str:
        """Say what points have to be, after "points of ... are"."""

    @abc.abstractmethod
    def _call(self) -> str:
        """The call that makes the constraint, up to its name."""

    def describe(self) -> str:
        each = "each of " if len(self.features) > 1 else ""
        return f"points of {each}{listing(map(quoted, self.features))} are {self._demand()}"

    def resolve(self, setting: Setting) -> Resolved:
        names = setting.features(self.features, self.label)
        if INTERCEPT in names:
            raise ValueError(
                f"the constraint ({self.label}) names the intercept: bound it by intercept_lower "
                "and intercept_upper of the CoefficientSet, or by max_intercept of the classifier"
            )
        return Resolved(points=tuple((name, self._intervals()) for name in names))

    def _named(self) -> str:
        """The features as they are written in a call."""
        return repr(self.features[0] if len(self.features) == 1 else [*self.features])

    def __repr__(self) -> str:
        return f"{self._call()}{name_part(self.name)})"


@dataclasses.dataclass(frozen=True, repr=False)
class _PointsIn(_Points):
    """Requirement of :func:`points_in` and :func:`fixed_points`."""

    values: tuple[int, ...]
    name: str | None = None

    def _intervals(self) -> Intervals:
        return intervals_of(self.values)

    def _demand(self) -> str:
        *others, last = map(str, self.values)
        return f"{listing(others)} or {last}" if others else last

    def _call(self) -> str:
        if len(self.values) == 1:
            return f"fixed_points({self._named()}, {self.values[0]}"
        return f"points_in({self._named()}, {[*self.values]}"


@dataclasses.dataclass(frozen=True, repr=False)
class _MinimumPoints(_Points):
    """Requirement of :func:`minimum_points`."""

    least: int
    name: str | None = None

    def _intervals(self) -> Intervals:
        return ((-math.inf, -self.least), (0, 0), (self.least, math.inf))

    def _demand(self) -> str:
        return f"0, or at least {self.least} in absolute value"

    def _call(self) -> str:
        return f"minimum_points({self._named()}, {self.least}"


@dataclasses.dataclass(frozen=True, repr=False)
class _Monotone(_Points):
    """Requirement of :func:`monotone`."""

    sign: int
    name: str | None = None
    by_direction: bool = False  # the sign is that of the training rows

    def _intervals(self) -> Intervals:
        return self._of_sign(self.sign)

    @staticmethod
    def _of_sign(sign: int) -> Intervals:
        return ((0, math.inf),) if sign > 0 else ((-math.inf, 0),)

    def _demand(self) -> str:
        return "not negative" if self.sign > 0 else "not positive"

    def describe(self) -> str:
        reason = ", as its trend in the training rows" if self.by_direction else ""
        if not any(isinstance(feature, Variable) for feature in self.features):
            return f"{super().describe()}{reason}"
        words = [f.name if isinstance(f, Variable) else f for f in self.features]
        effect = "lowers" if self.sign > 0 else "raises"
        return f"more of {listing(map(repr, words))} never {effect} the risk{reason}"

    def resolve(self, setting: Setting) -> Resolved:
        resolved = super().resolve(setting)
        signs: dict[str, int] = {}
        for feature in self.features:
            if isinstance(feature, str):
                signs[feature] = self.sign
                continue
            directions = _directions_in(setting, feature)
            found = {name: self.sign * direction for name, direction in directions.items()}
            if not found:
                items = listing(map(repr, setting.of_variable(feature)))
                raise ValueError(
                    f"the constraint ({self.label}) names the variable {feature.name!r}, and none "
                    f"of its features grows or falls with it: name those that are meant, of {items}"
                )
            signs.update(found)
        return Resolved(
            points=tuple(
                (name, self._of_sign(signs[name])) for name, _ in resolved.points if name in signs
            )
        )

    def _call(self) -> str:
        return f"monotone({self._named()}, {'+-'[self.sign < 0]!r}"


@dataclasses.dataclass(frozen=True, repr=False)
class _MonotoneByDirection(ByRows):
    """Requirement of :func:`monotone` with the sign "auto"; without features of all variables."""

    features: tuple[Feature, ...]
    name: str | None = None

    def describe(self) -> str:
        words = [repr(f.name if isinstance(f, Variable) else f) for f in self.features]
        which = listing(words) if words else "any variable"
        return f"more of {which} never changes the risk against the trend of the training rows"

    def on(self, setting: Setting) -> tuple[Constraint, ...]:
        if setting.trends is None:
            raise ValueError(f"the constraint ({self.label}) needs training rows")
        trends = dict(zip(setting.feature_names, setting.trends().tolist(), strict=True))
        setting.features(self.features, self.label)  # refuses those that do not exist
        signed = []
        for one in self.features or _variables_in(setting):
            parts = {one: 1} if isinstance(one, str) else _directions_in(setting, one)
            trend = sum(direction * trends[name] for name, direction in parts.items())
            if trend:
                sign = 1 if trend > 0 else -1
                signed.append(_Monotone((one,), sign, self.name, by_direction=True))
        return tuple(signed)

    def __repr__(self) -> str:
        given = [] if not self.features else [repr([*self.features])]
        return f"monotone({', '.join([*given, 'sign=' + repr('auto')])}{name_part(self.name)})"


def _directions_in(setting: Setting, one: Variable) -> dict[str, int]:
    """Features that grow (1) or fall (-1) with a variable."""
    named = setting.of_variable(one)
    found = {name: _direction(name, one.name, setting.items.get(name)) for name in named}
    return {name: direction for name, direction in found.items() if direction}


def _variables_in(setting: Setting) -> list[Variable]:
    """All variables with features that grow or fall with them."""
    every = dict.fromkeys(variable(setting.variable_of(name)) for name in setting.feature_names)
    return [one for one in every if _directions_in(setting, one)]


def points_in(features: Features, values: Iterable[int], *, name: str | None = None) -> Constraint:
    """The points of a feature are among some integers.

    Parameters
    ----------
    features : str, variable, or iterable of them
        Several: each of them by itself.
    values : iterable of int
        Zero is allowed only if it is among them.
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    Constraint

    Raises
    ------
    TypeError, ValueError
        Values that are no int, or none; features without names.

    Examples
    --------
    >>> from riskslim import points_in
    >>> points_in("age", [5, 0, 2])
    points_in('age', [0, 2, 5])
    >>> print(points_in("age", [5, 0, 2]).describe())
    points of 'age' are 0, 2 or 5
    """
    if not isinstance(values, Iterable):
        raise TypeError(
            f"values must be several integers, such as [0, 2, 5], got {values!r}; fixed_points "
            "is for a single one"
        )
    chosen = sorted({_checked_points(value) for value in values})
    if not chosen:
        raise ValueError("no values are given that the points may have")
    return _PointsIn(features_of(features), tuple(chosen), checked_name(name))


def fixed_points(features: Features, n: int, *, name: str | None = None) -> Constraint:
    """A feature has exactly n points.

    Parameters
    ----------
    features : str, variable, or iterable of them
    n : int
        0 leaves the feature out.
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    Constraint

    Raises
    ------
    TypeError, ValueError
        ``n`` is no int; features without names.

    Examples
    --------
    >>> from riskslim import fixed_points
    >>> print(fixed_points("smoker", 1).describe())
    points of 'smoker' are 1
    """
    return _PointsIn(features_of(features), (_checked_points(n),), checked_name(name))


def minimum_points(features: Features, n: int, *, name: str | None = None) -> Constraint:
    """A feature that is used has at least n points, or at most -n.

    Parameters
    ----------
    features : str, variable, or iterable of them
    n : int
        At least 1.
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    Constraint

    Raises
    ------
    TypeError, ValueError
        ``n`` is no int, or not positive; features without names.

    Examples
    --------
    >>> from riskslim import minimum_points
    >>> print(minimum_points(["age", "BMI"], 2).describe())
    points of each of 'age', 'BMI' are 0, or at least 2 in absolute value
    """
    least = _checked_points(n)
    if least < 1:
        raise ValueError(f"the least number of points must be at least 1, got {n}")
    return _MinimumPoints(features_of(features), least, checked_name(name))


def monotone(
    features: Features | None = None, sign: str = "auto", *, name: str | None = None
) -> Constraint:
    """More of a feature never lowers the risk ("+"), or never raises it ("-").

    Parameters
    ----------
    features : str, variable, or iterable of them, optional
        Of a variable, the variable itself and its features with ``>=`` and ``>`` get the sign,
        those with ``<=`` and ``<`` the opposite one; so do levels in an order. Other categories,
        intervals and whether a value is missing are left alone. With "auto" by default all
        variables that have such features.
    sign : {"+", "-", "auto"}, default "auto"
        "auto": the sign of the covariance with the outcome in the training rows, of a fold those of
        this fold; of a variable, of the number of its conditions that are met. A problem has a
        constraint for each variable in its place, and none where the covariance is 0.
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    Constraint

    Raises
    ------
    TypeError, ValueError
        Another sign; features without names.

    Examples
    --------
    >>> from riskslim import monotone, variable
    >>> print(monotone("age >= 60", "+").describe())
    points of 'age >= 60' are not negative
    >>> print(monotone(variable("age"), "+").describe())
    more of 'age' never lowers the risk
    >>> print(monotone().describe())
    more of any variable never changes the risk against the trend of the training rows
    """
    if isinstance(sign, str) and sign == "auto":
        named = () if features is None else features_of(features)
        return _MonotoneByDirection(named, checked_name(name))
    if not isinstance(sign, str) or sign not in _SIGNS:
        raise ValueError(f"sign must be '+', '-' or 'auto', got {sign!r}")
    if features is None:
        raise ValueError(f"sign {sign!r} is for features that are named; 'auto' for all")
    return _Monotone(features_of(features), _SIGNS[sign], checked_name(name))


def intervals_of(values: Iterable[int]) -> Intervals:
    """Integers as intervals of consecutive ones.

    Parameters
    ----------
    values : iterable of int
        Distinct, in ascending order.

    Returns
    -------
    Intervals

    Examples
    --------
    >>> from riskslim.constraints.allowed_points import intervals_of
    >>> intervals_of([-1, 0, 1, 5])
    ((-1, 1), (5, 5))
    """
    found: list[tuple[int, int]] = []
    for value in values:
        if found and value == found[-1][1] + 1:
            found[-1] = (found[-1][0], value)
        else:
            found.append((value, value))
    return tuple(found)


def _direction(name: str, source: str, item: Item | None) -> int:
    """True if a feature grows (1) or falls (-1) with its variable, 0 for neither."""
    if item is not None and item.is_condition:
        return _DIRECTIONS.get(getattr(item, "order", None) or item.kind, 0)
    if not name.startswith(source):
        return 0  # an interval
    condition = name[len(source) :]
    return int(bool(_RISING.fullmatch(condition))) - int(bool(_FALLING.fullmatch(condition)))


def _checked_points(value: Any) -> int:
    if abs(as_int(value, "points")) > MAX_ABSOLUTE_COEFFICIENT:
        raise ValueError(
            f"points must be at most {MAX_ABSOLUTE_COEFFICIENT} in absolute value, got {value}"
        )
    return int(value)
