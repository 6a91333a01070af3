"""The values of a feature that a risk score was learned on."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import checked_integer, checked_number
from riskslim._wording import listing

__all__ = ["FeatureRange", "printed_range", "remark_on_rows", "short"]

# Distinct values of a feature that are kept to enumerate the attainable scores.
_MAX_VALUES = 256

# Integers from this one on are printed with an exponent.
_LONG = 10**16
# Rows whose values are looked at together when the range of a feature is collected.
_BLOCK_ROWS = 65536


@dataclasses.dataclass(frozen=True)
class FeatureRange:
    """The values of a feature in the training data.

    They decide how the feature is printed and which scores the risk table lists. They do not
    limit predictions.

    Parameters
    ----------
    minimum, maximum : float
        Smallest and largest value.
    is_integer : bool, default True
        Whether all values are integers.
    values : sequence of int, optional
        All values in increasing order, where they are integers and few. By default both
        values of a feature that is 0 or 1, else unknown.
    unit : str, optional
        What the values count, in words: a feature with the unit "Hz" is printed with its points
        per Hz. Not for a condition.

    Raises
    ------
    TypeError
        A unit that is no text.
    ValueError
        An empty unit, or the unit of a condition; values that are not finite, out of order, or
        contradict each other.

    Examples
    --------
    >>> from riskslim.data.feature_ranges import FeatureRange
    >>> FeatureRange(0, 1).is_binary, FeatureRange(1, 10).is_binary
    (True, False)
    >>> FeatureRange.of([3, 1, 3, 2])
    FeatureRange(minimum=1, maximum=3, is_integer=True, values=(1, 2, 3), unit=None)
    """

    minimum: float
    maximum: float
    is_integer: bool = True
    values: tuple[int, ...] | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        ends = [checked_number(self.minimum, "minimum"), checked_number(self.maximum, "maximum")]
        if ends[0] > ends[1]:
            raise ValueError(f"minimum {ends[0]} exceeds maximum {ends[1]}")
        values = self.values
        if self.is_integer:
            ends = [checked_integer(end, "the end of an integer range") for end in ends]
            if values is None and ends[0] >= 0 and ends[1] <= 1:
                values = tuple(range(int(ends[0]), int(ends[1]) + 1))
        if values is not None:
            if not self.is_integer:
                raise ValueError("values are listed for integer features only")
            values = tuple(
                checked_integer(value, "a value of an integer feature") for value in values
            )
            if list(values) != sorted(set(values)) or [*values[:1], *values[-1:]] != ends:
                raise ValueError(
                    f"values must increase from the minimum {ends[0]} to the maximum {ends[1]}, "
                    f"got {listing(map(str, values))}"
                )
        for field, value in (("minimum", ends[0]), ("maximum", ends[1]), ("values", values)):
            object.__setattr__(self, field, value)
        self._check_unit()

    def _check_unit(self) -> None:
        if not isinstance(self.unit, str | None):
            raise TypeError(f"unit must be a str or None, got {self.unit!r}")
        if self.unit is not None and not self.unit.strip():
            raise ValueError(f"unit must not be empty, got {self.unit!r}; without a unit: None")
        if self.unit is not None and self.is_binary:
            raise ValueError(f"a feature that is 0 or 1 has no unit, got {self.unit!r}")

    @property
    def is_binary(self) -> bool:
        """True if the feature is a condition, 1 where it holds and 0 elsewhere."""
        return self.is_integer and self.minimum >= 0 and self.maximum <= 1

    @classmethod
    def of(cls, column: Any) -> FeatureRange:
        """Collect the range of a column.

        Parameters
        ----------
        column : array-like of shape (n,)
            Finite numbers, n at least 1.

        Returns
        -------
        FeatureRange
        """
        values = np.asarray(column)
        low, high = values.min().item(), values.max().item()
        distinct: set[float] | None = set()
        for start in range(0, len(values), _BLOCK_ROWS):
            block = values[start : start + _BLOCK_ROWS]
            if block.dtype.kind == "f" and not np.array_equal(block, np.rint(block)):
                return cls(low, high, is_integer=False)
            if distinct is not None:
                distinct.update(np.unique(block).tolist())
                if len(distinct) > _MAX_VALUES:
                    distinct = None
        if distinct is None:
            return cls(int(low), int(high))
        return cls(int(low), int(high), values=tuple(sorted(map(int, distinct))))


def printed_range(values: FeatureRange) -> str:
    """The ends of a range with its unit, as in "0 to 3 Hz"."""
    unit = "" if values.unit is None else f" {values.unit}"
    return f"{short(values.minimum)} to {short(values.maximum)}{unit}"


def short(value: float) -> str:
    """An end of a range as printed."""
    return str(value) if isinstance(value, int) and abs(value) < _LONG else f"{value:g}"


def remark_on_rows(rows: NDArray[np.bool_], what: str, what_one_has: str) -> str:
    """A sentence on some rows of a table: how many they are, and the first one.

    Parameters
    ----------
    rows : ndarray of bool, shape (n,)
    what, what_one_has : str
        What these rows have, in the plural, and what the only row of a table has.

    Returns
    -------
    str
        Empty if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.data.feature_ranges import remark_on_rows
    >>> remark_on_rows(np.array([False, True]), "gaps", "a gap")
    '1 of 2 rows have gaps, first at row 1 (rows counted from 0).'
    """
    count = np.count_nonzero(rows)
    if not count:
        return ""
    have = f"row has {what_one_has}" if len(rows) == 1 else f"rows have {what}"
    return f"{count} of {len(rows)} {have}, first at row {np.argmax(rows)} (rows counted from 0)."
