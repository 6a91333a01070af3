r"""Linear constraints on points and on which features are used.

A constraint is stated once, by feature names, as a :class:`LinearConstraint`; the functions of
this module write down the common ones.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from riskslim._checks import as_int, as_number
from riskslim._wording import MAX_LISTED, listing
from riskslim.constraints.base import (
    INTERCEPT,
    ByRows,
    Constraint,
    Feature,
    Features,
    Resolved,
    Setting,
    Variable,
    checked_feature,
    checked_features,
    checked_name,
    features_of,
    name_part,
    quoted,
    variable,
)

__all__ = [
    "MAX_TERM",
    "LinearConstraint",
    "at_least",
    "at_most",
    "at_most_variables",
    "either_or",
    "exactly",
    "if_then",
    "items_per_variable",
    "model_size",
    "not_both",
    "number_text",
]

# Sums of integers up to this, times points, are exact in double precision; a solver still tells
# apart values that differ by one part in so many.
MAX_TERM = 1e6

_Group: TypeAlias = "tuple[Feature, ...]"


class LinearConstraint(Constraint):
    r"""Lower and upper bound on a sum over points and used features.

    .. math::

        \text{lower} \le \sum_j a_j \lambda_j + \sum_j b_j \mathbb{1}[\lambda_j \ne 0]
        + \sum_g c_g \mathbb{1}[\lambda_j \ne 0 \text{ for some } j \in g] \le \text{upper}

    Parameters
    ----------
    points : mapping from features to float, optional
        Coefficients :math:`a_j` of the points. Features are given by name, or all of a variable
        by :func:`~riskslim.variable`. The name ``"(intercept)"`` is the intercept.
    used : mapping from features to float, optional
        Coefficients :math:`b_j` of features being used, that is, having points other than 0.
    any_used : mapping from tuples of features to float, optional
        Coefficients :math:`c_g` of groups of which at least one feature is used. A variable may
        stand for the tuple of its features.
    lower, upper : float
        Bounds; at least one of them is finite.
    name : str, optional
        How messages call the constraint. None: :meth:`describe`.

    Attributes
    ----------
    points, used, any_used : dict from features, or tuples of them, to float
        Copies; terms with a coefficient of 0 are left out.
    lower, upper : float
    name : str or None

    Raises
    ------
    TypeError, ValueError
        No term, no finite bound, bounds out of order, coefficients that are not finite numbers of
        at most 1e6 in absolute value, features that are named otherwise.

    Notes
    -----
    Where all coefficients are integers a constraint is decided exactly. Otherwise a sum may leave
    its bounds by 1e-9 of the largest coefficient, so that 0.1 + 0.2 is not more than 0.3.

    Constraints are immutable. They are equal if terms, bounds and name are.

    Examples
    --------
    >>> from riskslim import LinearConstraint, variable
    >>> budget = LinearConstraint(used={"CT scan": 250, "blood count": 20}, upper=260)
    >>> print(budget.describe())
    250 if 'CT scan' is used + 20 if 'blood count' is used: at most 260
    >>> LinearConstraint(points={"age >= 60": 1, "age >= 40": -1}, lower=0)
    LinearConstraint(points={'age >= 60': 1, 'age >= 40': -1}, lower=0)
    >>> blood = LinearConstraint(any_used={("LDL", "HDL"): 9, variable("glucose"): 4}, upper=10)
    >>> print(blood.describe())
    9 if any of 'LDL', 'HDL' is used + 4 if any of the features of 'glucose' is used: at most 10
    """

    __slots__ = ("_any_used", "_lower", "_name", "_points", "_upper", "_used")

    def __init__(
        self,
        *,
        points: Mapping[Feature, float] | None = None,
        used: Mapping[Feature, float] | None = None,
        any_used: Mapping[Variable | _Group, float] | None = None,
        lower: float = -math.inf,
        upper: float = math.inf,
        name: str | None = None,
    ) -> None:
        self._points = _checked_terms(points, "points")
        self._used = _checked_terms(used, "used")
        self._any_used = _checked_groups(any_used)
        if any(term == INTERCEPT for term in self._counted()):
            raise ValueError("the intercept is always used; it can be named in points only")
        if not (self._points or self._used or self._any_used):
            raise ValueError("a constraint needs at least one coefficient other than 0")
        self._lower, self._upper = _checked_bound(lower, "lower"), _checked_bound(upper, "upper")
        if not self._lower <= self._upper:
            raise ValueError(f"lower bound {lower!r} exceeds upper bound {upper!r}")
        if not (math.isfinite(self._lower) or math.isfinite(self._upper)):
            raise ValueError("a constraint needs a finite lower or upper bound")
        self._name = checked_name(name)

    def __getstate__(self) -> dict[str, Any]:
        # Without it, skops writes no object that has slots.
        return {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    def _counted(self) -> list[Feature]:
        """Features whose use matters."""
        return [feature for feature, _ in self._used] + [
            feature for group, _ in self._any_used for feature in group
        ]

    @property
    def points(self) -> dict[Feature, float]:
        """Coefficients of the points by feature."""
        return dict(self._points)

    @property
    def used(self) -> dict[Feature, float]:
        """Coefficients of features being used by feature."""
        return dict(self._used)

    @property
    def any_used(self) -> dict[_Group, float]:
        """Coefficients of groups being used by their features."""
        return dict(self._any_used)

    @property
    def lower(self) -> float:
        """Lower bound, -inf if there is none."""
        return self._lower

    @property
    def upper(self) -> float:
        """Upper bound, inf if there is none."""
        return self._upper

    @property
    def name(self) -> str | None:
        """Name by which messages call the constraint."""
        return self._name

    def describe(self) -> str:
        """Say what the constraint demands.

        Returns
        -------
        str
            Without a full stop.
        """
        terms = [*self._used, *self._any_used]
        coefficients = [value for _, value in terms]
        names = [quoted(feature) for feature, _ in self._used]
        names += [_any_of(group) for group, _ in self._any_used]
        if not self._points:
            if all(value == 1 for value in coefficients):
                singular = {self._lower, self._upper} <= {1.0, -math.inf, math.inf}
                verb = "is" if singular else "are"
                return f"{self._range()} of {self._listed(names)} {verb} used"
            if self._is_implication(coefficients):
                condition = names.pop(coefficients.index(-1.0))
                plain = len(terms) == 2 and names[0].startswith(("'", '"', "any of"))
                then = names[0] if plain else f"at least 1 of {listing(names)}"
                return f"if {condition} is used, {then} is used"
        return f"{self._sum()}: {self._range()}"

    def _listed(self, names: list[str]) -> str:
        """Names of features, or of groups, each of which is counted once."""
        if not self._any_used or len(self._any_used) < len(names):
            return listing(names)
        groups = [f"({name.removeprefix('any of ')})" for name in names]
        return f"the groups {listing(groups)}"

    def resolve(self, setting: Setting) -> Resolved:
        """State the constraint by features alone.

        Parameters
        ----------
        setting : Setting

        Returns
        -------
        Resolved

        Raises
        ------
        ValueError
            Features that do not exist or are named twice, once by their variable.
        """
        label = self.label
        if INTERCEPT in setting.feature_names and INTERCEPT in self.points:
            raise ValueError(
                f"the constraint ({label}) names {INTERCEPT!r}, and so is a feature: rename the "
                "feature"
            )
        points = _spread(self._points, setting, label)
        used = _spread(self._used, setting, label)
        groups: dict[Variable | _Group, float] = {}
        for group, value in self._any_used:
            members = setting.features(group, label)
            if len(members) == 1:
                used[members[0]] = used.get(members[0], 0.0) + value
            else:
                key = tuple(sorted(members))
                groups[key] = groups.get(key, 0.0) + value
        if not any((*points.values(), *used.values(), *groups.values())):
            raise ValueError(f"the terms of the constraint ({label}) cancel out")
        row = LinearConstraint(
            points=points, used=used, any_used=groups, lower=self._lower, upper=self._upper,
            name=self._name,
        )  # fmt: skip
        return Resolved(rows=(row,))

    def _is_implication(self, coefficients: list[float]) -> bool:
        values = sorted(coefficients)
        others_count = all(value == 1 for value in values[1:])
        return values[0] == -1 and others_count and (self._lower, self._upper) == (0, math.inf)

    def _range(self) -> str:
        low, high = number_text(self._lower), number_text(self._upper)
        if self._lower == self._upper:
            return f"exactly {low}"
        if math.isinf(self._lower):
            return f"at most {high}"
        return f"at least {low}" if math.isinf(self._upper) else f"{low} to {high}"

    def _sum(self) -> str:
        terms = [
            (value, "the intercept" if term == INTERCEPT else f"points of {quoted(term)}")
            for term, value in self._points
        ]
        words = [
            (value, what if abs(value) == 1 else f"{number_text(abs(value))} times {what}")
            for value, what in terms
        ]
        words += [(v, f"{number_text(abs(v))} if {quoted(term)} is used") for term, v in self._used]
        words += [(v, f"{number_text(abs(v))} if {_any_of(g)} is used") for g, v in self._any_used]
        signed = [f"{'+' if value > 0 else '-'} {what}" for value, what in words]
        more = len(signed) - MAX_LISTED
        ending = [f"... and {more} more terms"] if more > 0 else []
        return " ".join([*signed[:MAX_LISTED], *ending]).removeprefix("+ ")

    def __repr__(self) -> str:
        every: list[tuple[str, list[tuple[Any, float]]]] = [
            ("points", [*self._points]), ("used", [*self._used]), ("any_used", [*self._any_used])
        ]  # fmt: skip
        parts = [
            f"{what}={{{', '.join(f'{term!r}: {number_text(value)}' for term, value in terms)}}}"
            for what, terms in every
            if terms
        ]
        parts += [
            f"{what}={number_text(bound)}"
            for what, bound in (("lower", self._lower), ("upper", self._upper))
            if math.isfinite(bound)
        ]
        if self._name is not None:
            parts.append(f"name={self._name!r}")
        return f"LinearConstraint({', '.join(parts)})"

    def _key(self) -> tuple[Any, ...]:
        groups = frozenset((frozenset(group), value) for group, value in self._any_used)
        terms = frozenset(self._points), frozenset(self._used), groups
        return (*terms, self._lower, self._upper, self._name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinearConstraint):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def at_most(n: int, features: Features, *, name: str | None = None) -> LinearConstraint:
    """At most n of some features are used.

    Parameters
    ----------
    n : int
        0 leaves all of them out.
    features : iterable of str and variable, or one variable
        For example the thresholds of one variable.
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    LinearConstraint

    Raises
    ------
    TypeError, ValueError
        ``n`` is no int or negative; no names, or one of them twice.

    Examples
    --------
    >>> from riskslim import at_most, variable
    >>> print(at_most(1, ["age >= 40", "age >= 60", "age >= 75"]).describe())
    at most 1 of 'age >= 40', 'age >= 60', 'age >= 75' is used
    >>> at_most(1, variable("age"))
    LinearConstraint(used={variable('age'): 1}, upper=1)
    """
    names = checked_features(features, "at_most")
    return LinearConstraint(used=dict.fromkeys(names, 1.0), upper=_checked_count(n), name=name)


def at_least(n: int, features: Features, *, name: str | None = None) -> LinearConstraint:
    """At least n of some features are used.

    Parameters
    ----------
    n : int
        At most the number of features.
    features : iterable of str and variable, or one variable
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    LinearConstraint

    Raises
    ------
    TypeError, ValueError
        ``n`` is no int, negative or more than the features; no names, or one of them twice.

    Examples
    --------
    >>> from riskslim import at_least
    >>> print(at_least(1, ["systolic", "diastolic"]).describe())
    at least 1 of 'systolic', 'diastolic' is used
    """
    names = checked_features(features, "at_least")
    count = _checked_count(n, names)
    return LinearConstraint(used=dict.fromkeys(names, 1.0), lower=count, name=name)


def exactly(n: int, features: Features, *, name: str | None = None) -> LinearConstraint:
    """Exactly n of some features are used.

    Parameters
    ----------
    n : int
        At most the number of features.
    features : iterable of str and variable, or one variable
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    LinearConstraint

    Raises
    ------
    TypeError, ValueError
        As :func:`at_least`.

    Examples
    --------
    >>> from riskslim import exactly
    >>> print(exactly(2, ["a", "b", "c"]).describe())
    exactly 2 of 'a', 'b', 'c' are used
    """
    names = checked_features(features, "exactly")
    count = _checked_count(n, names)
    used = dict.fromkeys(names, 1.0)
    return LinearConstraint(used=used, lower=count, upper=count, name=name)


def either_or(a: str, b: str, *, name: str | None = None) -> LinearConstraint:
    """Not both of two features are used: one, the other, or none.

    Parameters
    ----------
    a, b : str
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    LinearConstraint

    Raises
    ------
    TypeError, ValueError
        The names are not two different str.

    Examples
    --------
    >>> from riskslim import either_or
    >>> either_or("weight", "BMI")
    LinearConstraint(used={'weight': 1, 'BMI': 1}, upper=1)
    """
    return at_most(1, (a, b), name=name)


def not_both(a: Features, b: Features, *, name: str | None = None) -> LinearConstraint:
    """No feature of one group is used together with one of another group.

    Parameters
    ----------
    a, b : str, variable, or iterable of them
        For example a variable as it is and its thresholds, or what stands for any pattern and the
        single patterns. Several features of one group may be used together.
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    LinearConstraint

    Raises
    ------
    TypeError, ValueError
        No names, names that are not str, or in both groups.

    Examples
    --------
    >>> from riskslim import not_both
    >>> print(not_both("age", ["age >= 40", "age >= 60"]).describe())
    at most 1 of the groups ('age'), ('age >= 40', 'age >= 60') is used
    """
    first, second = features_of(a), features_of(b)
    checked_features((*first, *second))
    return LinearConstraint(any_used={first: 1.0, second: 1.0}, upper=1.0, name=name)


def if_then(feature: Features, then: Features, *, name: str | None = None) -> LinearConstraint:
    """Require of a feature that is used another one, or at least one of several.

    Parameters
    ----------
    feature : str, variable, or iterable of them
        Several: if any of them is used.
    then : str, variable, or iterable of them
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    LinearConstraint

    Raises
    ------
    TypeError, ValueError
        Names that are not str, given twice, or none.

    Examples
    --------
    >>> from riskslim import if_then, variable
    >>> print(if_then("age x smoker", "smoker").describe())
    if 'age x smoker' is used, 'smoker' is used
    >>> print(if_then("LDL", ["cholesterol", "HDL"]).describe())
    if 'LDL' is used, at least 1 of 'cholesterol', 'HDL' is used
    >>> print(if_then(["LDL", "HDL"], variable("age")).describe())
    if any of 'LDL', 'HDL' is used, at least 1 of the features of 'age' is used
    """
    condition, others = features_of(feature), features_of(then)
    checked_features((*condition, *others))
    used = dict.fromkeys(others, 1.0)
    if isinstance(condition[0], str) and len(condition) == 1:
        return LinearConstraint(used={condition[0]: -1.0, **used}, lower=0.0, name=name)
    return LinearConstraint(used=used, any_used={condition: -1.0}, lower=0.0, name=name)


def at_most_variables(
    m: int,
    groups: Mapping[str, Iterable[Feature]] | Iterable[Features] | None = None,
    *,
    name: str | None = None,
) -> LinearConstraint | _VariableLimit:
    """At most m source variables are used, whatever the number of their features.

    Parameters
    ----------
    m : int
    groups : mapping from variables to their features, or iterable of groups, optional
        Which features belong together. None: those that come from one variable, as their names
        say (:func:`~riskslim.variable`), for all features of the problem.
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    Constraint

    Raises
    ------
    TypeError, ValueError
        ``m`` is no int or negative; groups without names, or with one of them twice.

    Examples
    --------
    >>> from riskslim import at_most_variables, variable
    >>> at_most_variables(3)
    at_most_variables(3)
    >>> print(at_most_variables(1, {"age": ["age >= 40", "age >= 60"], "BMI": ["BMI"]}).describe())
    at most 1 of the groups ('age >= 40', 'age >= 60'), ('BMI') is used
    >>> print(at_most_variables(1, [variable("age"), ["LDL", "HDL"]]).describe())
    at most 1 of the groups (the features of 'age'), ('LDL', 'HDL') is used
    """
    most = _checked_count(m)
    if groups is None:
        return _VariableLimit(most, checked_name(name))
    listed = groups.values() if isinstance(groups, Mapping) else groups
    if isinstance(listed, (str, Variable)):
        raise TypeError(f"groups must be several groups of features, got {listed!r} alone")
    every = [features_of(group) for group in listed]
    if not every:
        raise ValueError("no groups are given")
    checked_features([feature for group in every for feature in group])
    return LinearConstraint(any_used=dict.fromkeys(every, 1.0), upper=most, name=name)


@dataclasses.dataclass(frozen=True, repr=False)
class _ItemsPerVariable(ByRows):
    """Requirement of :func:`items_per_variable`."""

    most: int
    name: str | None = None

    def describe(self) -> str:
        return f"at most {self.most} of the features of each variable are used"

    def on(self, setting: Setting) -> tuple[Constraint, ...]:
        counts = Counter(map(setting.variable_of, setting.feature_names))
        return tuple(
            at_most(self.most, variable(one), name=self.name)
            for one, count in counts.items()
            if count > self.most
        )

    def __repr__(self) -> str:
        return f"items_per_variable({self.most}{name_part(self.name)})"


def items_per_variable(n: int, *, name: str | None = None) -> Constraint:
    """At most n features of each variable are used, whatever the variables are.

    Parameters
    ----------
    n : int
        At least 1.
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    Constraint
        A problem has one of :func:`at_most` in its place for each variable with more features.

    Raises
    ------
    TypeError, ValueError
        ``n`` is no int, or less than 1.

    Notes
    -----
    The variable of a feature of which nothing is stated is read from its name.

    Examples
    --------
    >>> from riskslim import items_per_variable
    >>> print(items_per_variable(1).describe())
    at most 1 of the features of each variable are used
    """
    if as_int(n, "items_per_variable") < 1:
        raise ValueError(f"items_per_variable must be at least 1, got {n}")
    return _ItemsPerVariable(int(n), checked_name(name))


def model_size(least: int = 0, most: int | None = None, *, name: str | None = None) -> _SizeLimit:
    """The model uses at least so many and at most so many features.

    Parameters
    ----------
    least : int, default 0
    most : int, optional
        None: all.
    name : str, optional
        How messages call the constraint.

    Returns
    -------
    Constraint

    Raises
    ------
    TypeError, ValueError
        Numbers that are no int, negative or out of order; or no limit at all.


    Notes
    -----
    The same as ``min_size`` and ``max_size`` of a :class:`~riskslim.RiskScoreProblem`, for lists of
    constraints. ``max_size`` also makes the bounds of the loss and of the intercept tighter.

    Examples
    --------
    >>> from riskslim import model_size
    >>> print(model_size(5, 10).describe())
    model size 5 to 10
    """
    low = _checked_count(least)
    high = None if most is None else _checked_count(most)
    if high is not None and low > high:
        raise ValueError(f"the least model size, {low}, exceeds the largest one, {high}")
    if high is None and low == 0:
        raise ValueError("a model size needs a lower or an upper limit")
    return _SizeLimit(low, high, checked_name(name))


@dataclasses.dataclass(frozen=True, repr=False)
class _SizeLimit(Constraint):
    """Requirement of :func:`model_size`."""

    least: int
    most: int | None
    name: str | None = None

    def describe(self) -> str:
        if self.most is None:
            return f"model size at least {self.least}"
        return f"model size {self.least} to {self.most}"

    def resolve(self, setting: Setting) -> Resolved:
        most = math.inf if self.most is None else self.most
        used: dict[Feature, float] = dict.fromkeys(setting.feature_names, 1.0)
        return Resolved(rows=(LinearConstraint(used=used, lower=self.least, upper=most),))

    def __repr__(self) -> str:
        return f"model_size({self.least}, {self.most}{name_part(self.name)})"


@dataclasses.dataclass(frozen=True, repr=False)
class _VariableLimit(Constraint):
    """Requirement of :func:`at_most_variables` without groups."""

    most: int
    name: str | None = None

    def describe(self) -> str:
        return f"at most {self.most} source variable{'s are' if self.most != 1 else ' is'} used"

    def resolve(self, setting: Setting) -> Resolved:
        groups: dict[str, list[str]] = {}
        for feature in setting.feature_names:
            groups.setdefault(setting.variable_of(feature), []).append(feature)
        row = at_most_variables(self.most, groups, name=self.label)
        return row.resolve(setting)

    def __repr__(self) -> str:
        return f"at_most_variables({self.most}{name_part(self.name)})"


def _any_of(group: _Group) -> str:
    return f"any of {listing(map(quoted, group))}"


def _spread(
    terms: tuple[tuple[Feature, float], ...], setting: Setting, label: str
) -> dict[Feature, float]:
    """Coefficients by feature, those of a variable at each of its features."""
    names = setting.features([feature for feature, _ in terms], label)
    every = [
        value
        for feature, value in terms
        for _ in ((feature,) if isinstance(feature, str) else setting.of_variable(feature))
    ]
    return dict(zip(names, every, strict=True))


def _checked_terms(
    terms: Mapping[Feature, float] | None, what: str
) -> tuple[tuple[Feature, float], ...]:
    named: dict[Feature, float] = {}
    for term, value in _checked_mapping(terms, what).items():
        if not isinstance(term, (str, Variable)):
            raise TypeError(f"{what} must be named by str, got {term!r}")
        named[term if isinstance(term, Variable) else checked_feature(term)] = value
    return _checked_coefficients(named, what)


def _checked_groups(
    groups: Mapping[Variable | _Group, float] | None,
) -> tuple[tuple[_Group, float], ...]:
    checked: dict[_Group, float] = {}
    for group, value in _checked_mapping(groups, "any_used").items():
        if isinstance(group, str):
            raise TypeError(
                f"any_used must be named by tuples of features, got {group!r}; a single feature "
                "belongs into used"
            )
        checked[checked_features(group)] = value
    return _checked_coefficients(checked, "any_used")


def _checked_mapping(terms: Mapping[Any, float] | None, what: str) -> Mapping[Any, float]:
    if terms is not None and not isinstance(terms, Mapping):
        raise TypeError(
            f"{what} must map names to coefficients, such as {{'age': 1}}, got "
            f"{type(terms).__name__}"
        )
    return terms or {}


def _checked_coefficients(terms: Mapping[Any, float], what: str) -> tuple[tuple[Any, float], ...]:
    checked = []
    for term, value in terms.items():
        number = as_number(value, f"coefficient of {term!r} in {what}")
        if not abs(number) <= MAX_TERM:
            raise ValueError(
                f"coefficient of {term!r} in {what} must be a number of at most {MAX_TERM:g} in "
                f"absolute value, got {value!r}"
            )
        if number != 0:
            checked.append((term, number))
    return tuple(checked)


def _checked_bound(value: Any, what: str) -> float:
    bound = as_number(value, what)
    if math.isnan(bound):
        raise ValueError(f"{what} must not be NaN")
    return bound


def _checked_count(n: Any, of: tuple[Feature, ...] | None = None) -> int:
    count = as_int(n, "the number of features")
    # How many features a variable has is not known yet.
    most = None if of is None or any(isinstance(one, Variable) for one in of) else len(of)
    if count < 0 or (most is not None and count > most):
        expected = "at least 0" if most is None else f"between 0 and {most}, the features named"
        raise ValueError(f"the number of features must be {expected}, got {count}")
    return count


def number_text(value: float) -> str:
    """Write a number, an integer without its decimal point.

    Parameters
    ----------
    value : float

    Returns
    -------
    str
    """
    is_short = abs(value) < 1e16  # longer ones are not written out in digits, as by repr
    return str(int(value)) if is_short and value == int(value) else repr(value)
