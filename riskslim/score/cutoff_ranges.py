"""Ranges in which cut-offs of a score can be moved before the objective changes, in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType

from riskslim._checks import checked_number
from riskslim.items.cutoffs import texts_within
from riskslim.items.item import Item, value_text

__all__ = ["SHARE", "CutoffRange", "remark_on_ranges_of_cutoffs"]

# How much another cut-off may change the objective to be called as good.
SHARE = 0.001
# Digits of a cut-off that is named with others in a sentence.
_DIGITS = 6


@dataclasses.dataclass(frozen=True)
class CutoffRange:
    """The cut-offs that do as well as that of a feature, on the rows that a score was fitted to.

    Parameters
    ----------
    lower, upper : float
        All cut-offs from the one to the other change the objective by at most ``share``.
    best : float
        The cut-off with the least objective.
    change : float
        The relative change of the objective that it makes, at most 0.
    share : float, default 0.001
    refitted : bool, default False
        Whether points and intercept are chosen anew for each cut-off, as in a list of all scores
        within the share; everything else in the score is left as it is in either case.

    Raises
    ------
    TypeError, ValueError
        Something that is no finite number, ends that are not in order, a change above 0, a share
        that is not between 0 and 1.

    Examples
    --------
    >>> from riskslim.score.cutoff_ranges import CutoffRange
    >>> CutoffRange(47, 54, best=51, change=-0.0004).describe("age >= 50")
    'age >= 50: any cut-off from 47 to 54 gives an objective within 0.1%, all else as it is.'
    """

    lower: float
    upper: float
    best: float
    change: float
    share: float = SHARE
    refitted: bool = False

    def __post_init__(self) -> None:
        for name in ("lower", "upper", "best", "change", "share"):
            checked_number(getattr(self, name), name)
        if not isinstance(self.refitted, bool):
            raise TypeError(f"refitted must be True or False, got {self.refitted!r}")
        if self.lower > self.upper:
            raise ValueError(f"lower must be at most upper, got {self.lower!r} and {self.upper!r}")
        if self.change > 0:
            raise ValueError(f"change must be at most 0, got {self.change!r}")
        if not 0 < self.share < 1:
            raise ValueError(f"share must be between 0 and 1, got {self.share!r}")

    def describe(self, name: str, item: Item | None = None) -> str:
        """Say it in words.

        Parameters
        ----------
        name : str
            Of the feature.
        item : Item, optional
            What it is. A range that ends at its cut-off then ends where rows are split in another
            way, as on the sheet.

        Returns
        -------
        str
            A sentence. Ends have as few digits as leave 98% of the range, and lie within it.
        """
        within = f"within {100 * self.share:.4g}%"
        which = f"any cut-off {self._ends(item)} gives"
        if self._is_own(item):
            which = "no other cut-off nearby gives"
        return f"{name}: {which} an objective {within}, {_else(self.refitted)}{self._better()}."

    def _ends(self, item: Item | None) -> str:
        lower, upper, leaves_out = self.lower, self.upper, ""
        if item is not None and item.interval is not None:
            first, last = item.interval
            if item.kind in (">=", "<") and first < lower <= last:
                lower, leaves_out = first, "lower"
            elif item.kind in ("<=", ">") and first <= upper < last:
                upper, leaves_out = last, "upper"
        least, most = texts_within(lower, upper)
        if leaves_out == "lower":
            return f"above {least} and up to {most}"
        return f"from {least} to {'below ' if leaves_out else ''}{most}"

    def _nearby(self, item: Item | None) -> str:
        return "none nearby" if self._is_own(item) else self._ends(item)

    def _is_own(self, item: Item | None) -> bool:
        """True if all cut-offs of the range split rows as the one of the feature does."""
        if self.lower == self.upper or item is None or item.interval is None:
            return self.lower == self.upper
        first, last = item.interval
        if item.kind in (">=", "<"):
            return first < self.lower and self.upper <= last
        return first <= self.lower and self.upper < last

    def _better(self) -> str:
        if self.change >= -self.share:
            return ""
        exact, short = value_text(self.best), f"{self.best:.{_DIGITS}g}"
        which = exact if len(exact) <= len(short) else f"one of about {short}"
        return f"; {which} would lower it by {-100 * self.change:.2g}%"


def remark_on_ranges_of_cutoffs(
    ranges: Mapping[str, CutoffRange], items: Mapping[str, Item] = MappingProxyType({})
) -> str:
    """Say how flat the objective is around all cut-offs of a score, in one sentence.

    Parameters
    ----------
    ranges : mapping from str to CutoffRange
        By feature.
    items : mapping from str to Item, optional
        What the features are.

    Returns
    -------
    str
        Empty if there are none.

    Examples
    --------
    >>> from riskslim.score.cutoff_ranges import CutoffRange, remark_on_ranges_of_cutoffs
    >>> wide, narrow = CutoffRange(47, 54, 51, -0.0004), CutoffRange(30, 30, 28, -0.004)
    >>> print(remark_on_ranges_of_cutoffs({"age >= 50": wide, "BMI >= 30": narrow}))
    Other cut-offs that give an objective within 0.1%, all else as it is: age >= 50 (from 47 to 54);
    BMI >= 30 (none nearby; 28 would lower it by 0.4%).
    """
    if len(ranges) < 2:
        return "".join(one.describe(name, items.get(name)) for name, one in ranges.items())
    share = max(one.share for one in ranges.values())
    refitted = all(one.refitted for one in ranges.values())
    every = "; ".join(
        f"{name} ({one._nearby(items.get(name))}{one._better()})" for name, one in ranges.items()
    )
    return (
        f"Other cut-offs that give an objective within {100 * share:.4g}%, {_else(refitted)}: "
        f"{every}."
    )


def _else(refitted: bool) -> str:
    return "with other points where need be" if refitted else "all else as it is"
