r"""Linear constraints on points and on which features are used.

A constraint is stated once, by feature names, as a :class:`LinearConstraint`; the functions of
this module write down the common ones. :class:`ConstraintRows` resolves constraints against the
features of a problem and serves everything that has to respect them: the check of a vector, the
heuristics, and the bounds of a node of a search tree.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim.bounds import SLACK
from riskslim.tables import MAX_LISTED, listing, near

__all__ = [
    "INTERCEPT",
    "ConstraintRows",
    "LinearConstraint",
    "at_least",
    "at_most",
    "clash",
    "either_or",
    "exactly",
    "if_then",
]

INTERCEPT = "(intercept)"

# Sums of integers up to this, times points, are exact in double precision; a solver still tells
# apart values that differ by one part in so many.
MAX_TERM = 1e6
# Share of a row's largest coefficient by which a sum of real-valued terms may leave its bounds:
# far more than rounding errors, far less than anything that somebody means.
ROW_TOLERANCE = 1e-9
# Factors that make integers of decimals and simple fractions, and the relative error of a
# coefficient that is one of them.
FACTORS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 9.0, 10.0, 12.0, 20.0, 25.0, 40.0, 50.0, 100.0, 200.0,
           500.0, 1e3, 1e4)  # fmt: skip
FACTOR_TOLERANCE = 1e-15
# Rounds of propagation: bounds that creep by 1 per round are left to the search.
MAX_ROUNDS = 50
# Constraints that a sentence names.
MAX_NAMED = 5


class LinearConstraint:
    r"""Lower and upper bound on a sum over points and used features.

    .. math::

        \text{lower} \le \sum_j a_j \lambda_j + \sum_j b_j \mathbb{1}[\lambda_j \ne 0]
        \le \text{upper}

    Parameters
    ----------
    points : mapping from names to float, optional
        Coefficients :math:`a_j` of the points. The name ``"(intercept)"`` is the intercept.
    used : mapping from names to float, optional
        Coefficients :math:`b_j` of features being used, that is, having points other than 0.
    lower, upper : float
        Bounds; at least one of them is finite.
    name : str, optional
        How messages call the constraint. None: :meth:`describe`.

    Attributes
    ----------
    points, used : dict from str to float
        Copies; terms with a coefficient of 0 are left out.
    lower, upper : float
    name : str or None

    Raises
    ------
    TypeError, ValueError
        No term, no finite bound, bounds out of order, coefficients that are not finite numbers of
        at most 1e6 in absolute value, names that are not str.

    Notes
    -----
    Where all coefficients are integers a constraint is decided exactly. Otherwise a sum may leave
    its bounds by 1e-9 of the largest coefficient, so that 0.1 + 0.2 is not more than 0.3.

    Constraints are immutable. They are equal if terms, bounds and name are.

    Examples
    --------
    >>> from riskslim import LinearConstraint
    >>> budget = LinearConstraint(used={"CT scan": 250, "blood count": 20}, upper=260)
    >>> print(budget.describe())
    250 if 'CT scan' is used + 20 if 'blood count' is used: at most 260
    >>> LinearConstraint(points={"age >= 60": 1, "age >= 40": -1}, lower=0)
    LinearConstraint(points={'age >= 60': 1, 'age >= 40': -1}, lower=0)
    """

    __slots__ = ("_lower", "_name", "_points", "_upper", "_used")

    def __init__(
        self,
        *,
        points: Mapping[str, float] | None = None,
        used: Mapping[str, float] | None = None,
        lower: float = -math.inf,
        upper: float = math.inf,
        name: str | None = None,
    ) -> None:
        self._points = _checked_terms(points, "points")
        self._used = _checked_terms(used, "used")
        if any(term == INTERCEPT for term, _ in self._used):
            raise ValueError("the intercept is always used; it can be named in points only")
        if not self._points and not self._used:
            raise ValueError("a constraint needs at least one coefficient other than 0")
        self._lower, self._upper = _checked_bound(lower, "lower"), _checked_bound(upper, "upper")
        if not self._lower <= self._upper:
            raise ValueError(f"lower bound {lower!r} exceeds upper bound {upper!r}")
        if not (math.isfinite(self._lower) or math.isfinite(self._upper)):
            raise ValueError("a constraint needs a finite lower or upper bound")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name must be a str, got {name!r}")
        self._name = name

    @property
    def points(self) -> dict[str, float]:
        """Coefficients of the points by name."""
        return dict(self._points)

    @property
    def used(self) -> dict[str, float]:
        """Coefficients of features being used by name."""
        return dict(self._used)

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
        """How messages call the constraint."""
        return self._name

    def describe(self) -> str:
        """Say what the constraint demands.

        Returns
        -------
        str
            Without a full stop.
        """
        coefficients = [value for _, value in self._used]
        names = [repr(term) for term, _ in self._used]
        if not self._points:
            if all(value == 1 for value in coefficients):
                singular = {self._lower, self._upper} <= {1.0, -math.inf, math.inf}
                verb = "is" if singular else "are"
                return f"{self._range()} of {listing(names)} {verb} used"
            if self._is_implication():
                condition = names.pop(coefficients.index(-1.0))
                then = names[0] if len(names) == 1 else f"at least 1 of {listing(names)}"
                return f"if {condition} is used, {then} is used"
        return f"{self._sum()}: {self._range()}"

    def _is_implication(self) -> bool:
        values = sorted(value for _, value in self._used)
        others_count = all(value == 1 for value in values[1:])
        return values[0] == -1 and others_count and (self._lower, self._upper) == (0, math.inf)

    def _range(self) -> str:
        low, high = _number(self._lower), _number(self._upper)
        if self._lower == self._upper:
            return f"exactly {low}"
        if math.isinf(self._lower):
            return f"at most {high}"
        return f"at least {low}" if math.isinf(self._upper) else f"{low} to {high}"

    def _sum(self) -> str:
        terms = [
            (value, "the intercept" if term == INTERCEPT else f"points of {term!r}")
            for term, value in self._points
        ]
        words = [
            (value, what if abs(value) == 1 else f"{_number(abs(value))} times {what}")
            for value, what in terms
        ]
        words += [(v, f"{_number(abs(v))} if {term!r} is used") for term, v in self._used]
        signed = [f"{'+' if value > 0 else '-'} {what}" for value, what in words]
        more = len(signed) - MAX_LISTED
        ending = [f"... and {more} more terms"] if more > 0 else []
        return " ".join([*signed[:MAX_LISTED], *ending]).removeprefix("+ ")

    def __repr__(self) -> str:
        parts = [
            f"{what}={{{', '.join(f'{term!r}: {_number(value)}' for term, value in terms)}}}"
            for what, terms in (("points", self._points), ("used", self._used))
            if terms
        ]
        parts += [
            f"{what}={_number(bound)}"
            for what, bound in (("lower", self._lower), ("upper", self._upper))
            if math.isfinite(bound)
        ]
        if self._name is not None:
            parts.append(f"name={self._name!r}")
        return f"LinearConstraint({', '.join(parts)})"

    def _key(self) -> tuple[Any, ...]:
        terms = frozenset(self._points), frozenset(self._used)
        return (*terms, self._lower, self._upper, self._name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinearConstraint):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def at_most(n: int, features: Iterable[str]) -> LinearConstraint:
    """At most n of some features are used.

    Parameters
    ----------
    n : int
        0 leaves all of them out.
    features : iterable of str
        For example the thresholds of one variable.

    Returns
    -------
    LinearConstraint

    Raises
    ------
    TypeError, ValueError
        ``n`` is no int or negative; no names, or one of them twice.

    Examples
    --------
    >>> from riskslim import at_most
    >>> print(at_most(1, ["age >= 40", "age >= 60", "age >= 75"]).describe())
    at most 1 of 'age >= 40', 'age >= 60', 'age >= 75' is used
    """
    names = _checked_features(features, "at_most")
    return LinearConstraint(used=dict.fromkeys(names, 1.0), upper=_checked_count(n))


def at_least(n: int, features: Iterable[str]) -> LinearConstraint:
    """At least n of some features are used.

    Parameters
    ----------
    n : int
        At most the number of features.
    features : iterable of str

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
    names = _checked_features(features, "at_least")
    count = _checked_count(n, len(names))
    return LinearConstraint(used=dict.fromkeys(names, 1.0), lower=count)


def exactly(n: int, features: Iterable[str]) -> LinearConstraint:
    """Exactly n of some features are used.

    Parameters
    ----------
    n : int
        At most the number of features.
    features : iterable of str

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
    names = _checked_features(features, "exactly")
    count = _checked_count(n, len(names))
    return LinearConstraint(used=dict.fromkeys(names, 1.0), lower=count, upper=count)


def either_or(a: str, b: str) -> LinearConstraint:
    """Not both of two features are used: one, the other, or none.

    Parameters
    ----------
    a, b : str

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
    return at_most(1, (a, b))


def if_then(feature: str, then: str | Iterable[str]) -> LinearConstraint:
    """If a feature is used, so is another one, or at least one of several.

    Parameters
    ----------
    feature : str
    then : str or iterable of str

    Returns
    -------
    LinearConstraint

    Raises
    ------
    TypeError, ValueError
        Names that are not str, given twice, or none.

    Examples
    --------
    >>> from riskslim import if_then
    >>> print(if_then("age x smoker", "smoker").describe())
    if 'age x smoker' is used, 'smoker' is used
    >>> print(if_then("LDL", ["cholesterol", "HDL"]).describe())
    if 'LDL' is used, at least 1 of 'cholesterol', 'HDL' is used
    """
    others = _checked_features((then,) if isinstance(then, str) else then)
    _checked_features((feature, *others))
    return LinearConstraint(used={feature: -1.0, **dict.fromkeys(others, 1.0)}, lower=0.0)


class ConstraintRows:
    r"""Constraints resolved against the features of a problem.

    Parameters
    ----------
    constraints : iterable of LinearConstraint
    feature_names : sequence of str, length d
        The intercept not among them.

    Attributes
    ----------
    constraints : tuple of LinearConstraint, length m
    points : ndarray of float64, shape (m, d + 1)
        Coefficients of the points, that of the intercept first.
    used : ndarray of float64, shape (m, d)
        Coefficients of features being used.
    lower, upper : ndarray of float64, shape (m,)
        Bounds. Those of rows with integer coefficients are rounded to integers within, the
        others widened by 1e-9 of the row's largest coefficient. A vector is feasible if its sums
        lie within them, and no comparison allows for more than rounding errors.
    is_integer : ndarray of bool, shape (m,)
        Rows whose coefficients are integers. Coefficients such as 0.5 or 12.75 are multiplied by
        what makes integers of the whole row, and the bounds with them.
    names : tuple of str, length m
        Names or descriptions.

    Raises
    ------
    TypeError, ValueError
        Something else than a LinearConstraint, or names of features that do not exist.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.constraints import ConstraintRows, at_most, if_then
    >>> rows = ConstraintRows([at_most(1, ["a", "b"]), if_then("c", "b")], ["a", "b", "c"])
    >>> rows.violations([-1, 2, 0, 3])
    ["if 'c' is used, 'b' is used: broken by 'c' (3)"]
    >>> lower, upper = np.array([-9, 1, -5, -5]), np.array([9, 5, 5, 5])
    >>> rows.propagate(lower, upper)  # 'a' is in: 'b' has to be out, and therefore 'c'
    True
    >>> lower, upper
    (array([-9,  1,  0,  0]), array([9, 5, 0, 0]))
    """

    def __init__(
        self, constraints: Iterable[LinearConstraint], feature_names: Sequence[str]
    ) -> None:
        self.constraints = _checked_constraints(constraints)
        self.feature_names = tuple(feature_names)
        position = {name: j for j, name in enumerate((INTERCEPT, *self.feature_names))}
        self.names = tuple(c.name or c.describe() for c in self.constraints)
        m, d = len(self.constraints), len(self.feature_names)
        self.points, terms = np.zeros((m, d + 1)), np.zeros((m, d + 1))
        for i, constraint in enumerate(self.constraints):
            _check_known(constraint, self.names[i], position)
            for name, value in constraint.points.items():
                self.points[i, position[name]] = value
            for name, value in constraint.used.items():
                terms[i, position[name]] = value
        self._scale(terms)
        self.used = terms[:, 1:]
        # Most rows name a few features: propagation looks at these columns alone.
        self._columns = np.flatnonzero(np.any((self.points != 0) | (terms != 0), axis=0))
        self._points = np.ascontiguousarray(self.points[:, self._columns])
        self._used = np.ascontiguousarray(terms[:, self._columns])
        self._rising, self._sloping = self._points > 0, self._points != 0
        self._any_points = bool(self._sloping.any())
        self._divisors = np.where(self._sloping, self._points, 1.0)
        for array in (self.points, self.used, self.lower, self.upper, self.is_integer):
            array.setflags(write=False)

    def _scale(self, terms: NDArray[np.float64]) -> None:
        """Make integers of the coefficients where possible, and set the bounds."""
        both = np.hstack((self.points, terms))
        factors = np.array([_factor(row) for row in both])
        self.is_integer = factors > 0
        scale = np.where(self.is_integer, factors, 1.0)
        largest = scale * np.max(np.abs(both), axis=1, initial=0.0)
        allowance = np.where(factors == 1, 0.0, ROW_TOLERANCE * largest)
        for rows in (self.points, terms):
            rows *= scale[:, None]
            rows[self.is_integer] = np.rint(rows[self.is_integer])
        lower = scale * np.array([constraint.lower for constraint in self.constraints]) - allowance
        upper = scale * np.array([constraint.upper for constraint in self.constraints]) + allowance
        self.lower = np.where(self.is_integer, np.ceil(lower), lower)
        self.upper = np.where(self.is_integer, np.floor(upper), upper)
        ends = np.abs(np.vstack((self.lower, self.upper)))
        self._bound_size = np.max(np.where(np.isfinite(ends), ends, 1.0), axis=0, initial=1.0)

    def __len__(self) -> int:
        return len(self.constraints)

    def __repr__(self) -> str:
        return f"ConstraintRows({len(self)} rows, {len(self.feature_names)} features)"

    def sums(self, coef: ArrayLike) -> NDArray[np.float64]:
        """Value of each row.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)
            Intercept first.

        Returns
        -------
        ndarray of float64, shape (m,)
        """
        values = np.asarray(coef)[self._columns]
        total: NDArray[np.float64] = self._points @ values + self._used @ (values != 0)
        return total

    def broken(self, coef: ArrayLike) -> NDArray[np.intp]:
        """Rows that a vector breaks.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)

        Returns
        -------
        ndarray of intp
            Their indices.
        """
        sums = self.sums(coef)
        return np.flatnonzero((sums < self.lower) | (sums > self.upper))

    def violations(self, coef: ArrayLike) -> list[str]:
        """Every constraint that a vector breaks, in words.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)

        Returns
        -------
        list of str
            Empty if the vector meets all of them.
        """
        vector = np.asarray(coef)
        names = (INTERCEPT, *self.feature_names)
        found = []
        for i in self.broken(vector):
            named = self.points[i] != 0
            named[1:] |= (self.used[i] != 0) & (vector[1:] != 0)
            values = [f"{names[j]!r} ({vector[j]})" for j in np.flatnonzero(named)]
            culprits = f" by {listing(values)}" if values else ", none has points"
            found.append(f"{self.names[i]}: broken{culprits}")
        return found

    def propagate(self, lower: NDArray[np.int64], upper: NDArray[np.int64]) -> bool:
        r"""Tighten a box of integers to what the rows leave of it.

        A feature is *in* if its interval excludes 0, *out* if it is 0 alone, and *free*
        otherwise. The least and the largest value of every row over the box bound what is left
        for each of its terms; from that follow bounds of the points, and features that must be
        in or out.

        Parameters
        ----------
        lower, upper : ndarray of int64, shape (d + 1,)
            The box, intercept first. Changed in place; of no use once False is returned.

        Returns
        -------
        bool
            False if no integer vector in the box meets all rows. True does not promise that
            there is one.

        Notes
        -----
        No feasible integer vector is ever cut off. With the least contribution
        :math:`c_{ik}^{\min}` of each term to row i, term j may contribute at most
        :math:`\text{upper}_i - \sum_{k \ne j} c_{ik}^{\min}`, and correspondingly at least; both
        are widened by the slack of :func:`~riskslim.bounds.safe_floor`. Zero and the values other
        than zero are looked at apart, since a feature's term jumps between them. Rounds of this
        go on until nothing changes, 50 at the most.
        """
        low = lower[self._columns].astype(np.float64)
        high = upper[self._columns].astype(np.float64)
        # Between the signs a box cannot exclude zero: that is remembered here from round to round.
        state = low, high, (low <= 0) & (high >= 0)
        for _ in range(MAX_ROUNDS if len(low) else 0):
            tighter = self._tightened(*state)
            if tighter is None:
                return False
            state, before = tighter, state
            if all(map(np.array_equal, state, before)):
                break
        lower[self._columns], upper[self._columns] = state[:2]
        return True

    def contradiction(
        self, lower: NDArray[np.int64], upper: NDArray[np.int64]
    ) -> tuple[str, ...] | None:
        """Rows that propagation finds to be impossible together, none of them superfluous.

        Parameters
        ----------
        lower, upper : ndarray of int64, shape (d + 1,)
            The box, which is left as it is.

        Returns
        -------
        tuple of str or None
            Their names; None if propagation finds no contradiction.
        """
        if self.propagate(lower.copy(), upper.copy()):
            return None
        kept = list(range(len(self)))
        for i in range(len(self)):
            others = [k for k in kept if k != i]
            if not self._take(others).propagate(lower.copy(), upper.copy()):
                kept = others
        return tuple(self.names[i] for i in kept)

    def _take(self, index: list[int]) -> ConstraintRows:
        """Some of the rows."""
        return ConstraintRows([self.constraints[i] for i in index], self.feature_names)

    def allowed(
        self, coef: NDArray[np.int64], lower: NDArray[np.int64], upper: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Values that each coefficient may take while the others keep theirs.

        Parameters
        ----------
        coef : ndarray of int64, shape (d + 1,)
        lower, upper : ndarray of int64, shape (d + 1,)
            Bounds of the coefficients.

        Returns
        -------
        least, most : ndarray of int64, shape (d + 1,)
            Interval of the values other than zero; empty where ``least`` exceeds ``most``. Zero
            may lie within, and is not meant.
        zero : ndarray of bool, shape (d + 1,)
            Whether the value zero is allowed.
        """
        values = coef[self._columns].astype(np.float64)
        own = self._points * values + self._used * (values != 0)
        total = own.sum(axis=1)
        slack = self._slack(np.abs(own).sum(axis=1))
        left = self._left_by(
            (self.upper - total + slack)[:, None] + own, (self.lower - total - slack)[:, None] + own
        )
        least, most, zero = lower.copy(), upper.copy(), (lower <= 0) & (upper >= 0)
        columns = self._columns
        # Beyond the box by 1 is as empty as beyond it by infinitely much, and an integer.
        low, high = lower[columns] - 1, upper[columns] + 1
        least[columns] = np.maximum(
            lower[columns], np.clip(left.first.max(axis=0, initial=-np.inf), low, high)
        )
        most[columns] = np.minimum(
            upper[columns], np.clip(left.last.min(axis=0, initial=np.inf), low, high)
        )
        zero[columns] &= left.zero.all(axis=0)
        if np.any((total > self.upper + slack) | (total < self.lower - slack)):
            # No change of a coefficient that no row names can help.
            others = np.ones(len(coef), dtype=bool)
            others[columns] = False
            least[others], most[others], zero[others] = upper[others] + 1, lower[others] - 1, False
        return _without_zero(least, 1), _without_zero(most, -1), zero

    def _tightened(
        self, low: NDArray[np.float64], high: NDArray[np.float64], droppable: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]] | None:
        """One round of propagation: what is left of the box and of its zeros; None if nothing."""
        smallest, largest = self._contributions(low, high, droppable)
        slack = self._slack(np.maximum(np.abs(smallest), np.abs(largest)).sum(axis=1))
        below = self.upper - smallest.sum(axis=1) + slack
        above = self.lower - largest.sum(axis=1) - slack
        if np.any((below < 0) | (above > 0) | (self.lower > self.upper)):
            return None
        left = self._left_by(below[:, None] + smallest, above[:, None] + largest)
        least = _without_zero(np.maximum(low, left.first.max(axis=0, initial=-np.inf)), 1.0)
        most = _without_zero(np.minimum(high, left.last.min(axis=0, initial=np.inf)), -1.0)
        can_use = least <= most
        can_drop = droppable & left.zero.all(axis=0)
        if not np.all(can_use | can_drop):
            return None
        new_low = np.where(can_drop, np.minimum(least, 0.0), least)
        new_high = np.where(can_drop, np.maximum(most, 0.0), most)
        return np.where(can_use, new_low, 0.0), np.where(can_use, new_high, 0.0), can_drop

    def _contributions(
        self, low: NDArray[np.float64], high: NDArray[np.float64], droppable: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Least and largest value of each term over a box, shape (m, columns)."""
        least, most = _without_zero(low, 1.0), _without_zero(high, -1.0)
        one, other = self._points * least, self._points * most
        smallest = np.minimum(one, other) + self._used
        largest = np.maximum(one, other) + self._used
        out = least > most
        smallest[:, out] = largest[:, out] = 0.0
        smallest[:, droppable] = np.minimum(smallest[:, droppable], 0.0)
        largest[:, droppable] = np.maximum(largest[:, droppable], 0.0)
        return smallest, largest

    def _left_by(self, ceiling: NDArray[np.float64], floor: NDArray[np.float64]) -> _Left:
        """What bounds on each term, shape (m, columns), leave to its coefficient."""
        zero_fits = (ceiling >= 0) & (floor <= 0)
        room, need = ceiling - self._used, floor - self._used
        # Without a coefficient of the points it is a matter of use alone.
        first = np.full_like(room, -np.inf)
        last = np.where((room >= 0) & (need <= 0), np.inf, -np.inf)
        if self._any_points:
            with np.errstate(over="ignore"):
                one, other = room / self._divisors, need / self._divisors
            np.ceil(np.where(self._rising, other, one), out=first, where=self._sloping)
            np.floor(np.where(self._rising, one, other), out=last, where=self._sloping)
        return _Left(first, last, zero_fits)

    def _slack(self, size: NDArray[np.float64]) -> NDArray[np.float64]:
        """What rounding errors of sums of a given size can amount to, and much more."""
        slack: NDArray[np.float64] = SLACK * np.maximum(self._bound_size, size)
        return slack


def _factor(row: NDArray[np.float64]) -> float:
    """Smallest factor that makes a row's coefficients integers, 0 if there is none."""
    for factor in FACTORS:
        scaled = factor * row
        nearest = np.rint(scaled)
        if np.max(np.abs(scaled), initial=0.0) > MAX_TERM:
            break
        if np.all(np.abs(scaled - nearest) <= FACTOR_TOLERANCE * np.abs(scaled)):
            return factor
    return 0.0


def clash(names: Sequence[str]) -> str:
    """Say that constraints cannot be met, in a sentence without a full stop.

    Parameters
    ----------
    names : sequence of str
        Those that contradict each other, or one alone.

    Returns
    -------
    str
    """
    if len(names) == 1:
        return f"no points within their bounds meet the constraint ({names[0]})"
    more = len(names) - MAX_NAMED
    ending = f" and {more} more" if more > 0 else ""
    named = " and ".join(f"({name})" for name in names[:MAX_NAMED])
    return f"these constraints contradict each other: {named}{ending}"


class _Left(NamedTuple):
    """Values left to each coefficient by each row, shapes (m, columns).

    ``first`` to ``last`` are those other than zero, ``zero`` tells whether it is left.
    """

    first: NDArray[np.float64]
    last: NDArray[np.float64]
    zero: NDArray[np.bool_]


def _without_zero(values: NDArray[Any], instead: float) -> NDArray[Any]:
    """Move ends of intervals away from zero, into the interval."""
    moved: NDArray[Any] = np.where(values == 0, np.asarray(instead, dtype=values.dtype), values)
    return moved


def _checked_terms(terms: Mapping[str, float] | None, what: str) -> tuple[tuple[str, float], ...]:
    if terms is None:
        return ()
    if not isinstance(terms, Mapping):
        raise TypeError(
            f"{what} must map names to coefficients, such as {{'age': 1}}, got "
            f"{type(terms).__name__}"
        )
    checked = []
    for name, value in terms.items():
        if not isinstance(name, str):
            raise TypeError(f"{what} must be named by str, got {name!r}")
        number = _checked_number(value, f"coefficient of {name!r} in {what}")
        if not abs(number) <= MAX_TERM:
            raise ValueError(
                f"coefficient of {name!r} in {what} must be a number of at most {MAX_TERM:g} in "
                f"absolute value, got {value!r}"
            )
        if number != 0:
            checked.append((name, number))
    return tuple(checked)


def _checked_number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{what} must be a number, got {value!r}")
    return float(value)


def _checked_bound(value: Any, what: str) -> float:
    bound = _checked_number(value, what)
    if math.isnan(bound):
        raise ValueError(f"{what} must not be NaN")
    return bound


def _checked_count(n: Any, most: int | None = None) -> int:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"the number of features must be an int, got {n!r}")
    if n < 0 or (most is not None and n > most):
        expected = "at least 0" if most is None else f"between 0 and {most}, the features named"
        raise ValueError(f"the number of features must be {expected}, got {n}")
    return int(n)


def _checked_features(features: Iterable[str], counted_by: str = "") -> tuple[str, ...]:
    if isinstance(features, numbers.Number):
        order = f"; the number comes first: {counted_by}(n, features)" if counted_by else ""
        raise TypeError(f"expected names of features, got {features!r}{order}")
    if isinstance(features, str):
        raise TypeError(f"expected several names of features, got one str, {features!r}")
    names = tuple(features)
    if not names:
        raise ValueError("no features are named")
    for i, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(f"feature names must be str, got {name!r}")
        if name in names[:i]:
            raise ValueError(f"feature {name!r} is named twice")
    return names


def _checked_constraints(constraints: Iterable[LinearConstraint]) -> tuple[LinearConstraint, ...]:
    if isinstance(constraints, LinearConstraint):
        raise TypeError(
            "constraints must be a list, got one LinearConstraint: write constraints=[...]"
        )
    checked = tuple(constraints)
    for constraint in checked:
        if not isinstance(constraint, LinearConstraint):
            raise TypeError(
                f"constraints must be LinearConstraint objects, got {type(constraint).__name__}"
            )
    return checked


def _check_known(constraint: LinearConstraint, name: str, position: Mapping[str, int]) -> None:
    unknown = [term for term in (*constraint.points, *constraint.used) if term not in position]
    if unknown:
        named = listing(f"{term!r}{near(term, position)}" for term in dict.fromkeys(unknown))
        raise ValueError(f"the constraint ({name}) names features that do not exist: {named}")
    if position[INTERCEPT] and INTERCEPT in constraint.points:
        raise ValueError(
            f"the constraint ({name}) names {INTERCEPT!r}, and so is a feature: rename the feature"
        )


def _number(value: float) -> str:
    """Write an integer without its decimal point."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(value)
