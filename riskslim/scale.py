r"""The scale m of a risk score: what one point is worth.

A score of s points has the risk :math:`1 / (1 + \exp(-s / m))`. The paper's risk scores have m = 1,
so that every point is one unit of log-odds. Whoever uses a score adds points and looks the risk
up, whatever the scale: leaving it free costs users nothing, and lowers the loss.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from riskslim._checks import is_number

__all__ = [
    "FREE_SCALE",
    "PAPER_SCALE",
    "SCALE_TOLERANCE",
    "ScaleLike",
    "ScaleSet",
    "checked_scale",
    "fewest_digits",
    "least_over",
    "scale_text",
]

ScaleLike: TypeAlias = "float | str | Iterable[float] | ScaleSet"

# The interval that "free" stands for. Points up to 5 then reach 0.25 to 10 units of log-odds.
FREE_SCALE = (0.5, 20.0)

# Rounding a scale to few digits may raise the objective by this share of it.
SCALE_TOLERANCE = 1e-5

# Beyond these, points would be log-odds that no data can tell apart.
_LEAST, _MOST = 1e-6, 1e9
_MOST_VALUES = 1000


@dataclasses.dataclass(frozen=True)
class ScaleSet:
    """The scales that a risk score may have: one, some, or an interval.

    Use :meth:`of` to build one from what users write.

    Parameters
    ----------
    low, high : float
        Smallest and largest scale.
    values : tuple of float, optional
        All scales in increasing order. None: every number from ``low`` to ``high``.

    Raises
    ------
    ValueError
        Scales that are not positive, out of order, or beyond 1e-6 .. 1e9.

    Examples
    --------
    >>> from riskslim.scale import ScaleSet
    >>> ScaleSet.of(1), ScaleSet.of([4, 1, 2]), ScaleSet.of((0.5, 12))
    (ScaleSet(1), ScaleSet([1, 2, 4]), ScaleSet((0.5, 12)))
    >>> 3 in ScaleSet.of((0.5, 12)), 3 in ScaleSet.of([1, 2, 4])
    (True, False)
    """

    low: float
    high: float
    values: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        given = (self.low, self.high) if self.values is None else self.values
        for value in given:
            if not _LEAST <= value <= _MOST:
                raise ValueError(
                    f"scales must be positive, from {_LEAST:g} to {_MOST:g}, got {value!r}"
                )
        if self.values is None and not self.low < self.high:
            raise ValueError(f"an interval of scales must increase, got {self.low} to {self.high}")
        if self.values is not None and (
            list(self.values) != sorted(set(self.values))
            or (self.low, self.high) != (self.values[0], self.values[-1])
        ):
            raise ValueError(f"scales must increase from low to high, got {self.values}")

    @classmethod
    def of(cls, scale: ScaleLike) -> ScaleSet:
        """Read what users write.

        Parameters
        ----------
        scale : number, list of numbers, tuple (low, high), "free" or ScaleSet
            A list (or an array) holds single scales; a tuple of two numbers is an interval;
            "free" is the interval :data:`FREE_SCALE`.

        Returns
        -------
        ScaleSet

        Raises
        ------
        TypeError, ValueError
            Anything else, or scales out of range.
        """
        if isinstance(scale, ScaleSet):
            return scale
        if isinstance(scale, str):
            if scale != "free":
                raise ValueError(
                    f"scale must be a positive number, a list of them, an interval (low, high) or "
                    f"'free', got {scale!r}"
                )
            return cls(*FREE_SCALE)
        if is_number(scale):
            return cls._of_values([scale])
        if isinstance(scale, tuple):
            if len(scale) != 2 or not all(map(is_number, scale)):
                raise ValueError(
                    f"an interval of scales is a tuple of two numbers, got {scale!r}; write "
                    "single scales as a list"
                )
            low, high = float(scale[0]), float(scale[1])
            return cls._of_values([low]) if low == high else cls(low, high)
        if isinstance(scale, Iterable):
            return cls._of_values(list(scale))
        raise TypeError(
            "scale must be a positive number, a list of them, an interval (low, high) or 'free', "
            f"got {type(scale).__name__}"
        )

    @classmethod
    def _of_values(cls, given: list[Any]) -> ScaleSet:
        if not 1 <= len(given) <= _MOST_VALUES:
            raise ValueError(
                f"give between 1 and {_MOST_VALUES} scales, got {len(given)}; an interval is a "
                "tuple (low, high)"
            )
        for value in given:
            if not is_number(value):
                raise TypeError(f"scales must be numbers, got {value!r}")
            if not math.isfinite(value):
                raise ValueError(f"scales must be finite, got {value!r}")
        values = tuple(sorted({float(value) for value in given}))
        return cls(values[0], values[-1], values)

    @property
    def is_single(self) -> bool:
        """True if there is one scale only."""
        return self.values is not None and len(self.values) == 1

    @property
    def is_interval(self) -> bool:
        """True if every number between low and high is allowed."""
        return self.values is None

    @property
    def nearest_to_one(self) -> float:
        """The scale in the set that is nearest to the paper's, by its ratio."""
        if self.values is None:
            return min(max(1.0, self.low), self.high)
        return min(self.values, key=lambda value: abs(math.log(value)))

    def __contains__(self, scale: float) -> bool:
        if self.values is None:
            return self.low <= scale <= self.high
        return scale in self.values

    def parts(self) -> tuple[ScaleSet, ...]:
        """An interval as it is, a list as sets of one scale each."""
        if self.values is None:
            return (self,)
        return tuple(ScaleSet(value, value, (value,)) for value in self.values)

    @property
    def tolerance(self) -> float:
        """Share of the objective that rounding the scale may cost; 0 but for intervals."""
        return SCALE_TOLERANCE if self.is_interval else 0.0

    def describe(self) -> str:
        """The set in words, such as "0.5 to 12"."""
        if self.values is None:
            return f"{self.low:.10g} to {self.high:.10g}"
        return ", ".join(f"{value:.10g}" for value in self.values)

    def to_plain(self) -> float | list[float] | dict[str, float]:
        """Plain values for JSON: a number, a list, or an object with low and high."""
        if self.values is None:
            return {"low": self.low, "high": self.high}
        return self.low if self.is_single else list(self.values)

    @classmethod
    def from_plain(cls, plain: Any) -> ScaleSet:
        """Read what :meth:`to_plain` wrote.

        Parameters
        ----------
        plain : float, list or dict

        Returns
        -------
        ScaleSet

        Raises
        ------
        TypeError, ValueError
            Anything else.
        """
        if isinstance(plain, dict):
            if set(plain) != {"low", "high"}:
                raise ValueError(f"an interval of scales has low and high, got {plain!r}")
            return cls.of((plain["low"], plain["high"]))
        if isinstance(plain, (list, float, int)):
            return cls.of(plain)
        raise ValueError(f"not a set of scales: {plain!r}")

    def __repr__(self) -> str:
        inside = self.describe()
        if self.values is None:
            return f"ScaleSet(({inside.replace(' to ', ', ')}))"
        return f"ScaleSet({inside})" if self.is_single else f"ScaleSet([{inside}])"


def checked_scale(value: Any, what: str = "scale") -> float:
    """One scale as a float.

    Parameters
    ----------
    value : number
    what : str, default "scale"
        What errors call it.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Anything but a number between 1e-6 and 1e9.
    """
    if not is_number(value):
        raise ValueError(f"{what} must be a number, got {value!r}")
    if not _LEAST <= value <= _MOST:
        raise ValueError(f"{what} must be between {_LEAST:g} and {_MOST:g}, got {value!r}")
    return float(value)


def scale_text(scale: float) -> str:
    """A scale as people read it, which reads back as the same number.

    Parameters
    ----------
    scale : float

    Returns
    -------
    str

    Examples
    --------
    >>> from riskslim.scale import scale_text
    >>> scale_text(2.0), scale_text(2.5), scale_text(1 / 3)
    ('2', '2.5', '0.3333333333333333')
    """
    text = f"{scale:.10g}"
    return text if float(text) == scale else repr(float(scale))


PAPER_SCALE = ScaleSet.of(1)
"""The scale of Ustun & Rudin (2019)."""


def fewest_digits(scale: float, scales: ScaleSet, accepts: Callable[[float], bool]) -> float:
    """Round a scale to as few significant digits as are acceptable.

    Parameters
    ----------
    scale : float
        Acceptable itself.
    scales : ScaleSet
        What the rounded scale must be in.
    accepts : callable
        Whether a rounded scale will do.

    Returns
    -------
    float

    Examples
    --------
    >>> from riskslim.scale import ScaleSet, fewest_digits
    >>> fewest_digits(2.71828, ScaleSet.of((0.5, 12)), lambda m: abs(m - 2.71828) < 0.02)
    2.7
    """
    for digits in range(1, 17):
        rounded = float(f"{scale:.{digits}g}")
        if rounded in scales and accepts(rounded):
            return rounded
    return scale


# Newton steps and bisections after which the best scale is as exact as double precision allows.
_MOST_STEPS = 200
# A shorter step, relatively, ends the search: rounding errors of the slope are about as large.
_SHORTEST_STEP = 1e-11


def least_over(
    scales: ScaleSet,
    derivatives: Callable[[float], tuple[float, float, float]],
    ridge: float = 0.0,
) -> float:
    r"""Scale with the least loss of given scores, and ridge penalty.

    With :math:`t = 1 / m` the loss of fixed scores is convex in t, hence of one minimum between
    1 / high and 1 / low, and of a list the best scale is next to that minimum.

    Parameters
    ----------
    scales : ScaleSet
    derivatives : callable
        From t to the loss, and to its first and second derivative by t.
    ridge : float, default 0
        Ridge penalty at t = 1, to be added.

    Returns
    -------
    float
    """
    if scales.is_single:
        return scales.low
    if ridge > 0.0:
        derivatives = _with_ridge(derivatives, ridge)
    t = _convex_minimum(
        1.0 / scales.high, 1.0 / scales.low, 1.0 / scales.nearest_to_one, derivatives
    )
    if scales.values is None:
        return min(max(1.0 / t, scales.low), scales.high)
    above = next((k for k, value in enumerate(scales.values) if value * t >= 1.0), None)
    near = scales.values[-1:] if above is None else scales.values[max(above - 1, 0) : above + 1]
    return min(near, key=lambda value: (derivatives(1.0 / value)[0], abs(math.log(value * t))))


def _with_ridge(
    derivatives: Callable[[float], tuple[float, float, float]], ridge: float
) -> Callable[[float], tuple[float, float, float]]:
    """The derivatives of a loss by t, with a penalty added that is quadratic in t."""

    def added(t: float) -> tuple[float, float, float]:
        loss, slope, curvature = derivatives(t)
        return loss + ridge * t * t, slope + 2.0 * ridge * t, curvature + 2.0 * ridge

    return added


def _convex_minimum(
    low: float, high: float, t: float, derivatives: Callable[[float], tuple[float, float, float]]
) -> float:
    """Minimum of a convex function by Newton steps within a bracket that shrinks."""
    if derivatives(t)[1] == 0.0:
        return t  # the best one, or the scores are all 0 and no scale matters
    for end, sign in ((low, 1.0), (high, -1.0)):
        if sign * derivatives(end)[1] >= 0.0:
            return end
    for _ in range(_MOST_STEPS):
        _, slope, curvature = derivatives(t)
        if slope > 0.0:
            high = t
        elif slope < 0.0:
            low = t
        else:
            return t
        new = t - slope / curvature if curvature > 0.0 else math.nan
        # A step too short to leave t is no step out of the bracket, of which t is an end by now.
        if abs(new - t) <= _SHORTEST_STEP * t:
            return new
        t = new if low < new < high else 0.5 * (low + high)
        if high - low <= _SHORTEST_STEP * t:
            return t
    return t
