"""How flat the loss is around the cut-offs of a score.

Which of several nearly equal cut-offs is best on some rows is often chance. Here all cut-offs of a
variable are tried in the place of the one that a score has, everything else left as it is: points,
intercept, scale, and the other features. Rows are sorted once by the variable's values; that a row
meets the condition or not changes its own loss alone, so that the losses of all cut-offs are sums
over the beginning or the end of that order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import checked_number
from riskslim.data.faults import ColumnError
from riskslim.data.tables import Table
from riskslim.items.columns import ColumnEncoder
from riskslim.items.item import COMPARISONS, Item, plain_number, value_text

if TYPE_CHECKING:
    from riskslim.score.protocol import ScoreLike

__all__ = ["SHARE", "CutoffRange", "cutoff_ranges", "remark_on_ranges_of_cutoffs"]

# How much another cut-off may change the objective to be called as good.
SHARE = 0.001
# Relative differences of objectives that are rounding alone.
_SAME = 1e-12


@dataclasses.dataclass(frozen=True)
class CutoffRange:
    """The cut-offs that do as well as that of a feature, on the rows that a score was fitted to.

    Parameters
    ----------
    lower, upper : float
        All cut-offs from the one to the other change the objective by at most ``share``,
        everything else in the score left as it is.
    best : float
        The cut-off with the least objective.
    change : float
        The relative change of the objective that it makes, at most 0.
    share : float, default 0.001

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

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            checked_number(getattr(self, field.name), field.name)
        if self.lower > self.upper:
            raise ValueError(f"lower must be at most upper, got {self.lower!r} and {self.upper!r}")
        if self.change > 0:
            raise ValueError(f"change must be at most 0, got {self.change!r}")
        if not 0 < self.share < 1:
            raise ValueError(f"share must be between 0 and 1, got {self.share!r}")

    def describe(self, name: str) -> str:
        """Say it in words.

        Parameters
        ----------
        name : str
            Of the feature.

        Returns
        -------
        str
            A sentence.
        """
        within = f"within {100 * self.share:.4g}%"
        if self.lower == self.upper:
            text = f"{name}: no other cut-off nearby gives an objective {within}, all else as it is"
        else:
            text = (
                f"{name}: any cut-off {self._ends()} gives an objective {within}, all else as it is"
            )
        return f"{text}{self._better()}."

    def _ends(self) -> str:
        return f"from {value_text(self.lower)} to {value_text(self.upper)}"

    def _better(self) -> str:
        if self.change >= -self.share:
            return ""
        return f"; {value_text(self.best)} would lower it by {-100 * self.change:.2g}%"


def remark_on_ranges_of_cutoffs(ranges: Mapping[str, CutoffRange]) -> str:
    """Say how flat the objective is around all cut-offs of a score, in one sentence.

    Parameters
    ----------
    ranges : mapping from str to CutoffRange
        By feature.

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
        return "".join(one.describe(name) for name, one in ranges.items())
    share = max(one.share for one in ranges.values())
    every = "; ".join(
        f"{name} ({'none nearby' if one.lower == one.upper else one._ends()}{one._better()})"
        for name, one in ranges.items()
    )
    return (
        f"Other cut-offs that give an objective within {100 * share:.4g}%, all else as it is: "
        f"{every}."
    )


def cutoff_ranges(
    score: ScoreLike,
    raw: Table,
    scores: NDArray[Any],
    positive: NDArray[np.bool_],
    weight: NDArray[np.float64] | None,
    *,
    share: float = SHARE,
) -> dict[str, CutoffRange]:
    """Find how far each cut-off of a score can be moved before the objective changes.

    Parameters
    ----------
    score : ScoreLike
        Cut-offs are the features with points whose items are conditions of the kinds ">=", "<=",
        ">" and "<".
    raw : Table
        The raw columns of the rows that it was fitted to.
    scores : ndarray of shape (n,)
        Of these rows.
    positive : ndarray of bool, shape (n,)
    weight : ndarray of float64, shape (n,), or None
    share : float, default 0.001

    Returns
    -------
    dict from str to CutoffRange
        By feature, without those whose raw column is not there, or has no other cut-off.

    Notes
    -----
    The objective is the mean loss and, where the score has a certificate, the price of its
    features, which a cut-off does not change.
    """
    names = [str(name) for name in raw.names or ()]
    cutoffs = {
        name: item
        for name in score.points
        if (item := score.items.get(name)) is not None
        and item.kind in COMPARISONS
        and item.variable in names
    }
    if not cutoffs:
        return {}
    counted = np.ones(len(scores), np.bool_) if weight is None else weight > 0
    sign = np.where(positive[counted], 1.0, -1.0)
    weight = np.ones(len(sign)) if weight is None else weight[counted]
    weight = weight / weight.sum()
    total = scores[counted].astype(np.float64) + score.intercept
    certificate = score.certificate
    price = 0.0 if certificate is None else certificate.objective - certificate.loss
    found = {}
    for name, item in cutoffs.items():
        values = _numbers(raw.values(names.index(item.variable))[counted])
        if values is None:
            continue
        points = score.points[name]
        met = COMPARISONS[item.kind](values, item.value)
        without = total - points * met
        losses = [
            weight * np.logaddexp(0.0, -sign * (without + added) / score.scale)
            for added in (0, points)
        ]
        without_item = float(losses[0].sum()) + price
        change = losses[1] - losses[0]
        swept = _swept(values, item.kind, without_item, change)
        if swept is not None:
            own = without_item + float(change[met].sum())
            found[name] = _range(item, *swept, own, share)
    return found


def _numbers(raw: NDArray[Any]) -> NDArray[Any] | None:
    try:
        return ColumnEncoder("", "numbers", indicator=True).read(raw, "error").values
    except ColumnError:
        return None


def _swept(
    values: NDArray[Any], kind: str, without: float, change: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[np.float64]] | None:
    """All cut-offs that split the rows, in ascending order, and the objective of each."""
    there = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), dtype=np.bool_)
    distinct, position = np.unique(values[there], return_inverse=True)
    if len(distinct) < 2:
        return None
    by_value = np.bincount(position, change[there], minlength=len(distinct))
    below: NDArray[np.float64] = np.cumsum(by_value)
    # Between neighbouring values: the lower ones meet "<=", the upper ones ">=".
    met = below[:-1] if kind in ("<=", "<") else below[-1] - below[:-1]
    cutoffs = distinct[1:] if kind in (">=", "<") else distinct[:-1]
    return cutoffs, np.asarray(without + met, dtype=np.float64)


def _range(
    item: Item,
    cutoffs: NDArray[Any],
    objectives: NDArray[np.float64],
    own: float,
    share: float,
) -> CutoffRange:
    """The cut-offs around that of an item that change the objective by at most a share."""
    is_upper = item.kind in (">=", "<")
    # The first cut-off of a value at or above that of the item, the last one at or below it.
    side: Literal["left", "right"] = "left" if is_upper else "right"
    k = int(np.searchsorted(cutoffs, item.value, side=side)) - (not is_upper)
    k = min(max(k, 0), len(cutoffs) - 1)
    differ = np.abs(objectives - own) > share * own
    before, after = np.flatnonzero(differ[:k]), np.flatnonzero(differ[k:])
    first = int(before[-1]) + 1 if before.size else 0
    last = k + int(after[0]) - 1 if after.size else len(cutoffs) - 1
    lower = upper = item.value
    if first <= last:
        lower = min(lower, plain_number(cutoffs[first]))
        upper = max(upper, plain_number(cutoffs[last]))
    best = int(np.argmin(objectives))
    change = float(objectives[best] / own - 1) if own > 0 else 0.0
    if not change < -_SAME:  # nothing is better, or the objective is 0
        return CutoffRange(lower, upper, item.value, 0.0, share)
    return CutoffRange(lower, upper, plain_number(cutoffs[best]), change, share)
