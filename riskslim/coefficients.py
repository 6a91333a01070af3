r"""The coefficient set :math:`\mathcal{L}`: which integer vectors a risk score may use.

A coefficient set is a box of integers: one interval per feature and one for the
intercept. A feature's interval follows from its bounds, its sign and, where it is fixed,
its value; it may have gaps. Beside the box a set carries the price of using each feature
(:math:`C_0`, per feature where the user wants it so).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._wording import listing, near
from riskslim.items.item import unknown_feature

__all__ = ["CoefficientSet", "ParameterNames", "checked_integer"]

PerFeature: TypeAlias = "float | Sequence[Any] | NDArray[Any] | Mapping[str, Any]"

# Bounds beyond this are never small integers; below it every product with an int8
# feature and every sum over a few thousand features is exact in 64 bits.
MAX_ABSOLUTE_COEFFICIENT = 2**31 - 1

_SIGNS: dict[Any, int] = {"+": 1, "-": -1, 1: 1, -1: -1, 0: 0, None: 0, "": 0}


class ParameterNames(NamedTuple):
    """Names by which errors call the parameters of a :class:`CoefficientSet`."""

    lower: str = "lower"
    upper: str = "upper"
    values: str = "values"


class CoefficientSet:
    r"""Bounds, signs, fixed values and :math:`\ell_0` penalties of the coefficients.

    Parameters
    ----------
    feature_names : sequence of str, length d
        Names of the features, the intercept not among them.
    lower, upper : int, sequence of d ints, or mapping from names to ints
        Smallest and largest coefficient of each feature. A mapping sets the features
        that it names; the others keep the default (-5 and 5).
    sign : {"+", "-", 1, -1, 0, None}, sequence of d of them, or mapping, optional
        "+" allows no negative coefficient (more of the feature never lowers the risk),
        "-" no positive one. Zero stays allowed.
    l0_penalty : float, sequence of d floats, or mapping, optional
        Price :math:`C_{0,j} \ge 0` of using feature j, in units of the loss. Features
        left out (or NaN) pay the ``l0_penalty`` of the problem; 0 makes a feature free of
        charge. It counts in the model size all the same.
    fixed : mapping from names to ints, optional
        Coefficients that are given, not chosen. Each must lie within its bounds and sign.
    values : mapping from names to iterables of ints, optional
        Allowed coefficients, which replace the bounds of a feature. Zero is allowed only if
        it is among them.
    intercept_lower, intercept_upper : int, optional
        Bounds of the intercept. None: derived from the data so that they provably contain
        an optimal intercept (:class:`~riskslim.LogisticLoss`).

    Attributes
    ----------
    feature_names : tuple of str, length d
    lower, upper : ndarray of int64, shape (d,)
        Bounds after signs and fixed values; read-only.
    l0_penalty : ndarray of float64, shape (d,)
        NaN where the problem's penalty applies; read-only.
    gaps : dict from names to tuples of int
        Values of the features that may not have all integers between their bounds.
    intercept_lower, intercept_upper : int or None

    Raises
    ------
    ValueError
        Unknown, repeated or missing names, wrong lengths, bounds that are not integers,
        are out of order or contradict a sign or a fixed value, values that do, negative penalties.

    Notes
    -----
    This is :math:`\mathcal{L}` of the risk score problem (Ustun & Rudin 2019,
    Definition 1): finite, with one interval
    :math:`\{\lambda_j^{\min}, \ldots, \lambda_j^{\max}\}` per coefficient, or any set
    :math:`\mathcal{L}_j` of integers.

    Examples
    --------
    >>> from riskslim import CoefficientSet
    >>> coefficients = CoefficientSet(
    ...     ["age", "smoker", "bmi"], lower=-5, upper={"bmi": 2}, sign={"smoker": "+"}
    ... )
    >>> coefficients.lower
    array([-5,  0, -5])
    >>> coefficients.upper
    array([5, 5, 2])
    >>> CoefficientSet(["age", "smoker"], values={"age": [0, 2, 5]}).gaps
    {'age': (0, 2, 5)}
    """

    # Those who fill it from parameters of their own have other names for them.
    _called: ClassVar[ParameterNames] = ParameterNames()

    def __init__(
        self,
        feature_names: Sequence[str],
        lower: PerFeature = -5,
        upper: PerFeature = 5,
        *,
        sign: str | PerFeature | None = None,
        l0_penalty: PerFeature | None = None,
        fixed: Mapping[str, int] | None = None,
        values: Mapping[str, Iterable[int]] | None = None,
        intercept_lower: int | None = None,
        intercept_upper: int | None = None,
    ) -> None:
        self.feature_names = _checked_names(feature_names)
        called = self._called
        low = self._integers(lower, -5, called.lower)
        high = self._integers(upper, 5, called.upper)
        self._check_order(low, high, f"{called.lower} {{}} exceeds {called.upper} {{}}")
        signs = self._signs(sign)
        self._values = self._checked_values(values, signs)
        for j, allowed in self._values.items():
            low[j], high[j] = allowed[0], allowed[-1]
        low = np.where(signs > 0, np.maximum(low, 0), low)
        high = np.where(signs < 0, np.minimum(high, 0), high)
        self._check_order(low, high, "its sign leaves no coefficient (bounds become {}..{})")
        _check_known(fixed or (), self.feature_names, "fixed")
        for name, value in (fixed or {}).items():
            j = self.index(name)
            value = checked_integer(value, f"fixed coefficient of {name!r}")
            if not low[j] <= value <= high[j]:
                raise ValueError(
                    f"feature {name!r} is fixed at {value}, outside of its bounds and sign "
                    f"({low[j]}..{high[j]}); widen the bounds or change the fixed value"
                )
            if value not in self._values.get(j, (value,)):
                raise ValueError(
                    f"feature {name!r} is fixed at {value}, which is none of its values "
                    f"({listing(map(str, self._values[j]))})"
                )
            low[j] = high[j] = value
            self._values.pop(j, None)
        self.lower = _read_only(low)
        self.upper = _read_only(high)
        self.l0_penalty = _read_only(self._penalties(l0_penalty))
        self.intercept_lower, self.intercept_upper = _checked_intercept(
            intercept_lower, intercept_upper
        )

    def __len__(self) -> int:
        return len(self.feature_names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CoefficientSet):
            return NotImplemented
        return (
            self.feature_names == other.feature_names
            and np.array_equal(self.lower, other.lower)
            and np.array_equal(self.upper, other.upper)
            and np.array_equal(self.l0_penalty, other.l0_penalty, equal_nan=True)
            and self.gaps == other.gaps
            and self.intercept_lower == other.intercept_lower
            and self.intercept_upper == other.intercept_upper
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        d = len(self)
        fixed = int(np.count_nonzero(self.lower == self.upper))
        gaps = f"{len(self.gaps)} with gaps, " if self.gaps else ""
        bounds = f"{self.lower.min()}..{self.upper.max()}" if d else "none"
        intercept = "derived from data"
        if self.intercept_lower is not None or self.intercept_upper is not None:
            intercept = f"{self.intercept_lower}..{self.intercept_upper}"
        return (
            f"CoefficientSet({d} features, coefficients {bounds}, "
            f"{fixed} fixed, {gaps}intercept {intercept})"
        )

    @property
    def gaps(self) -> dict[str, tuple[int, ...]]:
        """Values of the features that may not have all integers between their bounds."""
        return {
            self.feature_names[j]: values
            for j, values in self._values.items()
            if len(values) <= values[-1] - values[0]
        }

    def index(self, name: str) -> int:
        """Position of a feature.

        Parameters
        ----------
        name : str

        Returns
        -------
        int
            Index among the features (the intercept not counted).

        Raises
        ------
        ValueError
            The set has no feature of that name.
        """
        try:
            return self.feature_names.index(name)
        except ValueError:
            raise ValueError(
                f"no feature is named {name!r}{near(name, self.feature_names)}"
            ) from None

    def replace(
        self,
        *,
        fix_at_zero: Sequence[int] | NDArray[np.intp] = (),
        within: Mapping[int, tuple[int, int]] | None = None,
        intercept_lower: int | None = None,
        intercept_upper: int | None = None,
    ) -> CoefficientSet:
        """Copy with some features fixed at zero, or other bounds narrower or filled in.

        Parameters
        ----------
        fix_at_zero : sequence of int
            Indices of features whose coefficient becomes 0.
        within : mapping from int to tuple of two int, optional
            Least and largest coefficient of some features by index, in addition to what there is.
        intercept_lower, intercept_upper : int, optional
            New bounds of the intercept; None keeps the present ones.

        Returns
        -------
        CoefficientSet

        Raises
        ------
        ValueError
            A feature to be fixed at zero has bounds that exclude zero, or no coefficient is left.
        """
        low, high = self.lower.copy(), self.upper.copy()
        values = self._values.copy()
        for j in fix_at_zero:
            if not low[j] <= 0 <= high[j] or 0 not in values.get(int(j), (0,)):
                allowed = values.get(int(j))
                raise ValueError(
                    f"feature {self.feature_names[j]!r} cannot be left out: its coefficient is "
                    + (f"bounded to {low[j]}..{high[j]}" if allowed is None
                       else f"one of {listing(map(str, allowed))}")
                )  # fmt: skip
            low[j] = high[j] = 0
            values.pop(int(j), None)
        for j, (least, most) in (within or {}).items():
            low[j], high[j] = max(low[j], least), min(high[j], most)
            if j in values:
                values[j] = tuple(one for one in values[j] if low[j] <= one <= high[j])
                low[j], high[j] = min(values[j], default=1), max(values[j], default=0)
            if low[j] > high[j]:
                raise ValueError(
                    f"feature {self.feature_names[j]!r} can have no coefficient of {least}..{most}"
                )
        copy = CoefficientSet.__new__(CoefficientSet)
        copy.feature_names = self.feature_names
        copy.lower, copy.upper = _read_only(low), _read_only(high)
        copy._values = values
        copy.l0_penalty = self.l0_penalty
        copy.intercept_lower, copy.intercept_upper = _checked_intercept(
            self.intercept_lower if intercept_lower is None else intercept_lower,
            self.intercept_upper if intercept_upper is None else intercept_upper,
        )
        return copy

    def _integers(self, given: PerFeature, default: int, what: str) -> NDArray[np.int64]:
        values = per_feature(given, self.feature_names, default, what)
        return np.array(
            [
                checked_integer(value, f"{what} of {name!r}")
                for name, value in zip(self.feature_names, values, strict=True)
            ],
            dtype=np.int64,
        )

    def _checked_values(
        self, values: Mapping[str, Iterable[int]] | None, signs: NDArray[np.int64]
    ) -> dict[int, tuple[int, ...]]:
        """Values by position of their feature, in ascending order."""
        found = {}
        _check_known(values or (), self.feature_names, self._called.values)
        for name, given in (values or {}).items():
            j, what = self.index(name), f"{self._called.values} of {name!r}"
            if isinstance(given, (str, int)):
                raise TypeError(f"{what} must be several integers, got {given!r}")
            allowed = sorted({checked_integer(one, f"each of {what}") for one in given})
            if not allowed:
                raise ValueError(f"{what} must be several integers, got none")
            wrong = [one for one in allowed if one * signs[j] < 0]
            if wrong:
                raise ValueError(
                    f"{what} are {listing(map(str, allowed))}: {wrong[0]} contradicts its sign"
                )
            found[j] = tuple(allowed)
        return found

    def _signs(self, sign: str | PerFeature | None) -> NDArray[np.int64]:
        if sign is None or isinstance(sign, (str, int)):
            values: list[Any] = [sign] * len(self)
        else:
            values = per_feature(sign, self.feature_names, None, "sign")
        for name, value in zip(self.feature_names, values, strict=True):
            if not _is_sign(value):
                raise ValueError(
                    f"sign of {name!r} must be '+', '-', 1, -1, 0 or None, got {value!r}"
                )
        return np.array([_SIGNS[value] for value in values], dtype=np.int64)

    def _penalties(self, l0_penalty: PerFeature | None) -> NDArray[np.float64]:
        if l0_penalty is None:
            return np.full(len(self), np.nan)
        values = np.array(
            per_feature(l0_penalty, self.feature_names, math.nan, "l0_penalty"), dtype=np.float64
        )
        for name, value in zip(self.feature_names, values, strict=True):
            if value < 0 or math.isinf(value):
                raise ValueError(
                    f"l0_penalty of {name!r} must be finite and at least 0, got {value!r}"
                )
        return values

    def _check_order(self, low: NDArray[np.int64], high: NDArray[np.int64], message: str) -> None:
        wrong = np.flatnonzero(low > high)
        if wrong.size:
            j = int(wrong[0])
            more = f" ({wrong.size} features in all)" if wrong.size > 1 else ""
            raise ValueError(
                f"feature {self.feature_names[j]!r}: {message.format(low[j], high[j])}{more}"
            )


def _checked_names(feature_names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(feature_names, str):
        raise TypeError("feature_names must be a sequence of str, got one str")
    names = tuple(feature_names)
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"feature names must be str, got {name!r}")
        if name in seen:
            raise ValueError(f"feature name {name!r} is given more than once")
        seen.add(name)
    return names


def per_feature(value: PerFeature, names: tuple[str, ...], default: Any, what: str) -> list[Any]:
    """One value per feature from a scalar, a sequence or a mapping by name.

    Parameters
    ----------
    value : number, sequence of d values, or mapping from names
    names : tuple of str
        Of the d features.
    default : object
        Of features that a mapping leaves out.
    what : str
        How errors call it.

    Returns
    -------
    list

    Raises
    ------
    ValueError
        Too many or too few values, or names that no feature has.
    """
    if isinstance(value, Mapping):
        _check_known(value, names, what)
        return [value.get(name, default) for name in names]
    # Lists are not asked for their ndim: NumPy refuses ragged ones with an error of its own.
    if not isinstance(value, (list, tuple)) and np.ndim(value) == 0:
        return [value] * len(names)
    values = list(value)  # type: ignore[arg-type]
    if len(values) != len(names):
        raise ValueError(f"{what} has {len(values)} values, expected {len(names)}, one per feature")
    return values


def _check_known(given: Iterable[str], names: tuple[str, ...], what: str) -> None:
    known = set(names)
    unknown = [unknown_feature(name, names) for name in given if name not in known]
    if unknown:
        raise ValueError(f"{what} names features that do not exist: {listing(unknown)}")


def _is_sign(value: Any) -> bool:
    try:
        return value in _SIGNS
    except TypeError:
        return False


def checked_integer(value: Any, what: str) -> int:
    """Check a coefficient, or a bound of some.

    Parameters
    ----------
    value : int, or another number without a fraction
    what : str
        How errors call it.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        No finite integer, or one that is too large.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be an integer, got {value!r}") from None
    except OverflowError:  # an int beyond all floats
        number = MAX_ABSOLUTE_COEFFICIENT + 1
    if not math.isfinite(number) or number != math.floor(number):
        raise ValueError(f"{what} must be a finite integer, got {value!r}")
    if abs(number) > MAX_ABSOLUTE_COEFFICIENT:
        raise ValueError(
            f"{what} must be at most {MAX_ABSOLUTE_COEFFICIENT} in absolute value, got {value!r}"
        )
    return int(number)


def _checked_intercept(lower: int | None, upper: int | None) -> tuple[int | None, int | None]:
    low = None if lower is None else checked_integer(lower, "intercept_lower")
    high = None if upper is None else checked_integer(upper, "intercept_upper")
    if low is not None and high is not None and low > high:
        raise ValueError(f"intercept_lower {low} exceeds intercept_upper {high}")
    return low, high


def _read_only(values: ArrayLike) -> NDArray[Any]:
    array = np.array(values)
    array.setflags(write=False)
    return array
