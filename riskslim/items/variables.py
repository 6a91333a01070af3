"""The raw columns that the items of a score are made of, as they were in the training data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import checked_number
from riskslim.data.extrapolation import far_values
from riskslim.data.feature_ranges import remark_on_rows, short
from riskslim.items.item import Item, bound_for, plain_number, value_text

__all__ = [
    "CutoffSource", "RawVariable", "VariableKind", "note_on_missing", "note_on_special",
    "special_among",
]  # fmt: skip

VariableKind: TypeAlias = Literal["numeric", "boolean", "categorical"]
CutoffSource: TypeAlias = Literal["given", "quantiles", "all", "supervised"]

_KINDS = ("numeric", "boolean", "categorical")


@dataclasses.dataclass(frozen=True)
class RawVariable:
    """A column from which items are computed, and its values in the training data.

    Parameters
    ----------
    name : str
        Of the column.
    kind : {"numeric", "boolean", "categorical"}
        "boolean" is a column of 0 and 1, or of True and False.
    minimum, maximum : float, optional
        Smallest and largest value of a numeric column; None if all values are missing.
    levels : tuple, default ()
        All values of a categorical column, also those that have no item of their own.
    special : tuple of float, default ()
        Values of a numeric column that are no measurements, such as -9 for "unknown": the range is
        without them, and no cut-off counts them.
    n_missing, n_samples : int, default 0
        Rows in which the value is missing, and all rows. Where values are missing in none,
        it was not learned what that means: records without the value are refused.
    cutoffs : {"given", "quantiles", "all", "supervised"}, optional
        Where the cut-offs of the column were taken from: the user, quantiles of the training rows,
        all that tell these apart, or the outcome of these. No prediction depends on it.

    Raises
    ------
    ValueError
        Another kind, a range or levels that are not of the kind, more missing values than rows.

    Examples
    --------
    >>> from riskslim.items.variables import RawVariable
    >>> RawVariable("creatinine", "numeric", 0.3, 5.1, n_missing=223, n_samples=1800).range_text
    '0.3 to 5.1'
    """

    name: str
    kind: VariableKind
    minimum: float | None = None
    maximum: float | None = None
    levels: tuple[Any, ...] = ()
    n_missing: int = 0
    n_samples: int = 0
    special: tuple[float, ...] = ()
    cutoffs: CutoffSource | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"the name of a variable must be a str, got {self.name!r}")
        if self.kind not in _KINDS:
            raise ValueError(f"kind must be one of {', '.join(map(repr, _KINDS))}, got {self.kind}")
        ends = [end for end in (self.minimum, self.maximum) if end is not None]
        for end, what in zip(ends, ("minimum", "maximum"), strict=False):
            checked_number(end, what)
        if ends and (self.kind != "numeric" or len(ends) != 2 or ends[0] > ends[1]):
            raise ValueError(
                "minimum and maximum are for numeric variables, both of them and in order, got "
                f"{self.minimum!r} and {self.maximum!r} of a {self.kind} one"
            )
        levels = tuple(one.item() if isinstance(one, np.generic) else one for one in self.levels)
        if (levels and self.kind != "categorical") or len(set(levels)) < len(levels):
            raise ValueError(
                f"levels are for categorical variables, each given once, got {levels!r}"
            )
        for one in self.special:
            checked_number(one, "special")
        special = tuple(map(plain_number, self.special))
        if (special and self.kind != "numeric") or len(set(special)) < len(special):
            raise ValueError(
                f"special values are for numeric variables, each given once, got {special!r}"
            )
        counts = (self.n_missing, self.n_samples)
        if not all(type(count) is int for count in counts) or not 0 <= counts[0] <= counts[1]:
            raise ValueError(
                f"n_missing must be an int from 0 to n_samples, got {counts[0]!r} and {counts[1]!r}"
            )
        if self.cutoffs is not None and self.cutoffs not in get_args(CutoffSource):
            raise ValueError(
                f"cutoffs must be one of {', '.join(map(repr, get_args(CutoffSource)))}, or None, "
                f"got {self.cutoffs!r}"
            )
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "special", special)

    @property
    def may_lack(self) -> bool:
        """True if values were missing in training, so that it is known what that means."""
        return self.n_missing > 0

    @property
    def range_text(self) -> str:
        """The ends of the range as printed; empty where there is none."""
        if self.minimum is None or self.maximum is None:
            return ""
        return f"{short(self.minimum)} to {short(self.maximum)}"

    def outside(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Find which numbers are outside of the range; missing and special ones are not.

        Parameters
        ----------
        values : ndarray of shape (n,)

        Returns
        -------
        ndarray of bool, shape (n,)
        """
        if self.minimum is None or self.maximum is None:
            return np.zeros(len(values), dtype=np.bool_)
        outside = np.asarray((values < self.minimum) | (values > self.maximum))
        return outside & ~self.are_special(values) if self.special else outside

    def are_special(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Find which numbers are special values.

        Parameters
        ----------
        values : ndarray of shape (n,)

        Returns
        -------
        ndarray of bool, shape (n,)
        """
        return special_among(values, self.special)

    def _measured(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values with NaN in place of special ones."""
        where = self.are_special(values)
        return np.where(where, np.nan, values) if where.any() else values

    def remark(self, values: NDArray[Any]) -> str:
        """Say which values are outside of the range: the unit may be another one.

        Parameters
        ----------
        values : ndarray of shape (n,)
            Numbers, NaN where they are missing.

        Returns
        -------
        str
            A sentence with the number of rows, and both ranges; empty if there are none.

        Examples
        --------
        >>> import numpy as np
        >>> from riskslim.items.variables import RawVariable
        >>> print(RawVariable("age", "numeric", 18, 95).remark(np.array([50, 120])))
        1 of 2 rows have values outside of the training range of 'age' (18 to 95; here 50 to 120),
        first at row 1 (rows counted from 0).
        """
        outside = self.outside(values)
        if not outside.any():
            return ""
        values = self._measured(values)
        low, high = short(np.nanmin(values).item()), short(np.nanmax(values).item())
        here = low if len(values) == 1 else f"{low} to {high}"
        where = f"outside of the training range of {self.name!r} ({self.range_text}; here {here})"
        return remark_on_rows(outside, f"values {where}", f"a value {where}")

    def far(self, values: NDArray[Any]) -> str:
        """Say that values are far outside of the range, as in another unit.

        Parameters
        ----------
        values : ndarray of shape (n,)
            Numbers, NaN where they are missing.

        Returns
        -------
        str
            As :func:`riskslim.data.extrapolation.far_values` says; empty if they are not.
        """
        if self.minimum is None or self.maximum is None:
            return ""
        return far_values(self.name, self.minimum, self.maximum, self._measured(values))

    @classmethod
    def from_plain(cls, plain: Any) -> RawVariable:
        """The inverse of :meth:`to_plain`.

        Parameters
        ----------
        plain : dict

        Returns
        -------
        RawVariable

        Raises
        ------
        ValueError
            Something is missing or not as it should be.
        """
        wanted = {"name", "kind", "n_missing", "n_samples"}
        if not isinstance(plain, Mapping) or not wanted <= set(plain):
            raise ValueError(f"a variable must be an object with {', '.join(sorted(wanted))}")
        levels = plain.get("levels", [])
        if not isinstance(levels, list):
            raise ValueError(f"levels of {plain['name']!r} must be a list, got {levels!r}")
        if not all(isinstance(level, (bool, int, float, str)) for level in levels):
            raise ValueError(f"levels must be true or false, numbers or text, got {levels!r}")
        if not all(math.isfinite(level) for level in levels if isinstance(level, float)):
            raise ValueError(f"levels of {plain['name']!r} must be finite, got {levels!r}")
        special = plain.get("special", [])
        if not isinstance(special, list):
            raise ValueError(f"special values of {plain['name']!r} must be a list, got {special!r}")
        return cls(
            plain["name"],
            plain["kind"],
            plain.get("minimum"),
            plain.get("maximum"),
            tuple(levels),
            plain["n_missing"],
            plain["n_samples"],
            tuple(special),
            plain.get("cutoffs"),
        )

    def to_plain(self) -> dict[str, Any]:
        """Return what JSON can hold of it, without what its kind does not have.

        Returns
        -------
        dict

        Raises
        ------
        TypeError
            Levels are neither bool, int, float nor str.
        """
        for level in self.levels:
            if not isinstance(level, (bool, int, float, str)):
                raise TypeError(
                    f"levels of type {type(level).__name__!r} of the variable {self.name!r} cannot "
                    "be saved; make them text or numbers"
                )
        plain = dataclasses.asdict(self)
        if self.minimum is None:
            del plain["minimum"], plain["maximum"]
        if self.kind == "categorical":
            plain["levels"] = list(self.levels)
        else:
            del plain["levels"]
        if self.special:
            plain["special"] = list(self.special)
        else:
            del plain["special"]
        if self.cutoffs is None:
            del plain["cutoffs"]
        return plain


def special_among(values: NDArray[Any], special: Iterable[float]) -> NDArray[np.bool_]:
    """Find which numbers are among some special values.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers, NaN where they are missing.
    special : iterable of float

    Returns
    -------
    ndarray of bool, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.items.variables import special_among
    >>> special_among(np.array([3.0, -9.0, np.nan]), [-7, -9])
    array([False,  True, False])
    """
    found = np.zeros(len(values), dtype=np.bool_)
    for one in special:
        found |= np.asarray(values == bound_for(values, one))
    return found


def note_on_special(variable: RawVariable, features: Mapping[str, Item | None]) -> str:
    """Say how special values count, in words.

    Parameters
    ----------
    variable : RawVariable
    features : mapping from str to Item or None
        As in :func:`note_on_missing`.

    Returns
    -------
    str
        Empty where there are none that would meet a cut-off as numbers.

    Examples
    --------
    >>> from riskslim.items import Item, RawVariable
    >>> from riskslim.items.variables import note_on_special
    >>> months = RawVariable("months", "numeric", 0, 240, special=(-9, 999))
    >>> item = Item.of("months", ">=", 12, special=(-9, 999))
    >>> print(note_on_special(months, {item.name: item}))
    months = -9 or 999 is no number: 'months >= 12' counts as no.
    """
    cutoffs = [name for name, item in features.items() if item and item.exceptions]
    if not cutoffs:
        return ""
    counted = f"'{cutoffs[0]}' counts"
    if len(cutoffs) > 1:
        counted = f"its {len(cutoffs)} cut-offs count"
    *others, last = map(value_text, variable.special)
    values = f"{', '.join(others)} or {last}" if others else last
    return f"{variable.name} = {values} is no number: {counted} as no."


def note_on_missing(variable: RawVariable, features: Mapping[str, Item | None]) -> str:
    """Say how a missing value counts, in words.

    Parameters
    ----------
    variable : RawVariable
    features : mapping from str to Item or None
        The features with points that are computed from it, and what they are; None of the
        variable itself.

    Returns
    -------
    str
        Empty if no value was missing in the training data, or if the one feature is "is missing".

    Examples
    --------
    >>> from riskslim.items import RawVariable, read_items
    >>> from riskslim.items.variables import note_on_missing
    >>> creatinine = RawVariable("creatinine", "numeric", 0.3, 5.1, (), 223, 1800)
    >>> note_on_missing(creatinine, read_items(["creatinine >= 1.5"]))
    "creatinine missing (223 of 1,800 training rows): 'creatinine >= 1.5' counts as no."
    """
    conditions = [name for name, item in features.items() if not item or item.kind != "missing"]
    if not variable.may_lack or not conditions:
        return ""
    rows = f"{variable.n_missing:,} of {variable.n_samples:,} training rows"
    counted = f"'{conditions[0]}' counts"
    if len(conditions) > 1:
        other = "other " if len(conditions) < len(features) else ""
        counted = f"its {len(conditions)} {other}conditions count"
    return f"{variable.name} missing ({rows}): {counted} as no."
