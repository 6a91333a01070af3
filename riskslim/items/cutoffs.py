"""Cut-offs of a column of numbers: which of them split rows alike, and which is the roundest.

Between two neighbouring values of a column all cut-offs say the same of its rows: "age >= t" for
every t above the lower value and up to the upper one, "age <= t" for every t from the lower value
up to, but not including, the upper one. Which of them is written down changes no training row; it
is a matter of how people read it, and of rows to come that lie in between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riskslim.items.item import COMPARISONS, Item, bound_for, lies_between, plain_number, value_text
from riskslim.items.variables import RawVariable

__all__ = [
    "Placement",
    "all_cutoffs",
    "equivalent_cutoffs",
    "middle_cutoff",
    "note_on_cutoffs",
    "placed_cutoff",
    "roundest_cutoff",
    "texts_within",
]

Placement: TypeAlias = Literal["value", "middle", "round"]

# An interval is worth a line if it is at least this wide, as a share of the column's range or of
# the larger of its ends.
_WIDE = 0.01


class Neighbours(NamedTuple):
    """Two neighbouring values of a column, as it has them, between which a cut-off lies."""

    lower: Any
    upper: Any
    kind: Literal[">=", "<="]

    @property
    def value(self) -> Any:
        """The one of them that is a cut-off itself."""
        return self.upper if self.kind == ">=" else self.lower

    def holds(self, cutoff: float) -> bool:
        """True if a cut-off splits rows as the value does, in the column's type and beyond it.

        Columns of float32 are compared in float64, by others perhaps in float32.
        """
        kind = type(self.value)
        if issubclass(kind, np.floating):
            with np.errstate(over="ignore"):
                if not lies_between(kind(cutoff), self.lower, self.upper, self.kind):
                    return False
        return lies_between(cutoff, self.lower.item(), self.upper.item(), self.kind)


def all_cutoffs(
    distinct: NDArray[Any], positions: Sequence[int], kind: Literal[">=", "<="]
) -> list[Neighbours]:
    """Return the neighbours between which the cut-offs at some values of a column lie.

    Parameters
    ----------
    distinct : ndarray of shape (n_distinct,)
        Distinct values in ascending order.
    positions : sequence of int
        Of the values: not the first one for ">=", not the last one for "<=".
    kind : {">=", "<="}

    Returns
    -------
    list of Neighbours

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.items.cutoffs import all_cutoffs
    >>> [cut.value.item() for cut in all_cutoffs(np.array([38, 61, 72]), [1, 2], ">=")]
    [61, 72]
    """
    step = 0 if kind == ">=" else 1
    return [Neighbours(distinct[k + step - 1], distinct[k + step], kind) for k in positions]


def placed_cutoff(between: Neighbours, placement: Placement, *, integers: bool) -> float:
    """Choose one of the cut-offs between two values.

    Parameters
    ----------
    between : Neighbours
    placement : {"value", "middle", "round"}
    integers : bool
        Whether all values of the column are whole numbers: then the cut-off is one, too.

    Returns
    -------
    float or int
        The value itself where there is no number between, or none that splits the rows of the
        column's type alike.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.items.cutoffs import Neighbours, placed_cutoff
    >>> between = Neighbours(np.float64(48.2), np.float64(51.37), ">=")
    >>> [placed_cutoff(between, how, integers=False) for how in ("value", "middle", "round")]
    [51.37, 49.785, 50.0]
    """
    value = plain_number(between.value)
    if not between.holds(value):  # the short text of a float32 can lie beyond it
        value = between.value.item()
    if placement == "value":
        return value  # type: ignore[no-any-return]
    lower, upper = plain_number(between.lower), plain_number(between.upper)
    if placement == "middle":
        exact = middle_cutoff(lower, upper, between.kind, integers=integers)
    else:
        exact = roundest_cutoff(lower, upper, between.kind)
    chosen = type(value)(exact)
    return chosen if between.holds(chosen) else value  # type: ignore[no-any-return]


def middle_cutoff(
    lower: float, upper: float, kind: Literal[">=", "<="], *, integers: bool = False
) -> Decimal:
    """Return the number in the middle between two values.

    Parameters
    ----------
    lower, upper : float
    kind : {">=", "<="}
    integers : bool, default False
        Whether only whole numbers come into question: of two in the middle, it is the one that
        splits whole numbers alike.

    Returns
    -------
    Decimal
        Exact for the shortest texts of both values.

    Examples
    --------
    >>> from riskslim.items.cutoffs import middle_cutoff
    >>> middle_cutoff(0.1, 0.2, ">="), middle_cutoff(48, 51, ">=", integers=True)
    (Decimal('0.15'), Decimal('50'))
    """
    low, high, decimals = _whole(lower, upper)
    twice = low + high
    if integers:
        return Decimal(-(-twice // 2) if kind == ">=" else twice // 2)
    return _scaled(5 * twice, decimals + 1)


def roundest_cutoff(lower: float, upper: float, kind: Literal[">=", "<="]) -> Decimal:
    """Return the number with the fewest significant digits that splits rows as both values do.

    Parameters
    ----------
    lower, upper : float
        Neighbouring values, the first one below the second one.
    kind : {">=", "<="}
        Cut-offs for ">=" lie above ``lower`` and up to ``upper``, those for "<=" from ``lower`` up
        to, but not including, ``upper``.

    Returns
    -------
    Decimal
        0 if it lies between them. Of several numbers with as few digits the one whose last digit
        is 5, else the one next to the middle. It is never finer than the finer one of both values:
        between whole numbers it is whole.

    Notes
    -----
    A number with the fewest digits is a multiple of the largest power of ten that has one in the
    interval: a number y with fewer digits than such a multiple x = m 10^k, m of d digits, would
    lie below 10^(k + d - 1) <= x, which then were in the interval itself, and a multiple of a
    larger power unless d = 1.

    Examples
    --------
    >>> from riskslim.items.cutoffs import roundest_cutoff
    >>> [float(roundest_cutoff(*ends, ">=")) for ends in ((48, 51.2), (43, 48), (0.12, 0.71))]
    [50.0, 45.0, 0.5]
    >>> roundest_cutoff(48, 50, "<="), roundest_cutoff(-1240, -1180, ">=")
    (Decimal('49'), Decimal('-1200'))
    """
    low, high, decimals = _whole(lower, upper)
    if kind == "<=":  # t in [low, high) is -t in (-high, -low]
        low, high = -high, -low
    step = 10 ** len(str(max(abs(low), abs(high))))
    while high // step == low // step:
        step //= 10
    multiples = range(low // step + 1, high // step + 1)  # 9 at most, or 0 is the only one
    chosen = min(multiples, key=lambda m: (m % 5 != 0, abs(2 * m * step - low - high)))
    return _scaled((chosen if kind == ">=" else -chosen) * step, decimals)


def _whole(lower: float, upper: float) -> tuple[int, int, int]:
    """Both numbers times a power of ten that makes them whole, and its exponent."""
    ends = [Decimal(repr(end)) for end in (lower, upper)]
    fractions = [end for end in ends if end != end.to_integral_value()]
    decimals = max((-int(end.as_tuple().exponent) for end in fractions), default=0)
    low, high = (int(end.scaleb(decimals)) for end in ends)
    return low, high, decimals


def _scaled(whole: int, decimals: int) -> Decimal:
    return Decimal((int(whole < 0), tuple(map(int, str(abs(whole)))), -decimals))


def equivalent_cutoffs(
    distinct: NDArray[Any], kind: str, cutoff: float
) -> tuple[float, float] | None:
    """Return the ends of the interval of cut-offs that split a column's values alike.

    Parameters
    ----------
    distinct : ndarray of shape (n_distinct,)
        Distinct values in ascending order.
    kind : {">=", "<=", ">", "<"}
    cutoff : float

    Returns
    -------
    (float, float) or None
        Neighbouring values. None if all values meet the condition, or none of them.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.items.cutoffs import equivalent_cutoffs
    >>> equivalent_cutoffs(np.array([38, 48, 51, 72]), ">=", 50)
    (48, 51)
    """
    met = COMPARISONS[kind](distinct, bound_for(distinct, cutoff))
    below = int(np.count_nonzero(met if kind in ("<=", "<") else ~met))
    if not 0 < below < len(distinct):
        return None
    ends = distinct[below - 1], distinct[below]
    lower, upper = map(plain_number, ends)
    if lies_between(cutoff, lower, upper, kind):
        return lower, upper
    # The short text of a float32 can lie beyond the cut-off, the number itself does not.
    return ends[0].item(), ends[1].item()


def note_on_cutoffs(
    items: Sequence[Item], variables: Sequence[RawVariable | None] | None = None
) -> str:
    """Say which cut-offs split the training rows as those of a score do, in words.

    Parameters
    ----------
    items : sequence of Item
        With points.
    variables : sequence of RawVariable or None, optional
        Their raw columns, as far as they are known.

    Returns
    -------
    str
        Empty where no interval is worth a line: where its ends differ by a unit of their last
        digit, or by less than 1% of the column's range and of the ends themselves.

    Examples
    --------
    >>> from riskslim.items import Item
    >>> from riskslim.items.cutoffs import note_on_cutoffs
    >>> age = Item("age >= 50", "age", ">=", 50, (48, 51))
    >>> note_on_cutoffs([age])
    'age >= 50: any cut-off above 48 and up to 51 splits the training rows alike.'
    >>> note_on_cutoffs([Item("age >= 50", "age", ">=", 50, (49, 50))])
    ''
    """
    known = [None] * len(items) if variables is None else variables
    wide = [item for item, one in zip(items, known, strict=True) if _is_wide(item, one)]
    if not wide:
        return ""
    if len(wide) == 1:
        return (
            f"{wide[0].name}: any cut-off {_words(wide[0], ' and ')} splits the training rows "
            "alike."
        )
    every = "; ".join(f"{item.name} ({_words(item, ', ')})" for item in wide)
    return f"Cut-offs that split the training rows alike: {every}."


def _words(item: Item, joint: str) -> str:
    assert item.interval is not None
    first, last = texts_within(*item.interval)
    if item.kind in (">=", "<"):
        return f"above {first}{joint}up to {last}"
    return f"from {first} to below {last}"


def texts_within(lower: float, upper: float) -> tuple[str, str]:
    """Write the ends of an interval with as few digits as leave 98% of it.

    Parameters
    ----------
    lower, upper : float
        Finite, the first one not above the second one.

    Returns
    -------
    (str, str)
        Numbers within the interval.

    Examples
    --------
    >>> from riskslim.items.cutoffs import texts_within
    >>> texts_within(48.123456, 51.987654), texts_within(47, 54)
    (('48.13', '51.98'), ('47', '54'))
    """
    low, high, decimals = _whole(lower, upper)
    step = 10 ** max(0, len(str((high - low) // 100)) - 1) if high - low >= 100 else 1
    ends = (_scaled(-(-low // step) * step, decimals), _scaled(high // step * step, decimals))
    first, last = (value_text(int(end) if end == int(end) else float(end)) for end in ends)
    return first, last


def _is_wide(item: Item, variable: RawVariable | None) -> bool:
    if item.interval is None:
        return False
    lower, upper = item.interval
    low, high, _ = _whole(lower, upper)
    if high - low <= 1:
        return False
    scale = max(abs(lower), abs(upper))
    if variable is not None and variable.minimum is not None and variable.maximum is not None:
        scale = min(scale, variable.maximum - variable.minimum)
    return upper - lower >= _WIDE * scale and math.isfinite(upper - lower)
