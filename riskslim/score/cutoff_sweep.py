"""The loss around the cut-offs of a score, and how flat it is.

Which of several nearly equal cut-offs is best on some rows is often chance. Here all cut-offs of a
variable are tried in place of the one that a score has, everything else left as it is: points,
intercept, scale, and the other features. Rows are sorted once by the variable's values; that a row
meets the condition or not changes its own loss alone, so that the losses of all cut-offs are sums
over the beginning or the end of that order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import checked_number
from riskslim.data.faults import ColumnError
from riskslim.data.tables import Table
from riskslim.items.columns import ColumnEncoder
from riskslim.items.item import COMPARISONS, Item, met_by_numbers, plain_number
from riskslim.items.variables import special_among
from riskslim.score.cutoff_ranges import SHARE, CutoffRange
from riskslim.score.observations import observations_of
from riskslim.score.predictions import table_with_items

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore
    from riskslim.solution import SolutionPool

__all__ = ["cutoff_ranges", "ranges_with_other_points", "with_cutoff_ranges"]

# Relative differences of objectives that are rounding alone.
_SAME = 1e-12
# Relative error of the objectives of a list whose scales are rounded.
_ROUNDED = 1e-6


def with_cutoff_ranges(
    score: RiskScore, X: Any, y: Any, sample_weight: Any = None, *, share: float = SHARE
) -> RiskScore:
    """Find ranges, as :meth:`riskslim.RiskScore.with_cutoff_ranges` says."""
    if X is None or y is None:
        raise ValueError("rows and labels are needed, got None")
    table = table_with_items(score, X)
    fitted = score.with_layout(points="fitted")
    observed = observations_of(fitted, table, y, sample_weight)
    assert observed is not None
    ranges = cutoff_ranges(
        score,
        table.counted(sample_weight),
        observed.scores,
        observed.is_positive,
        observed.weights,
        share=checked_number(share, "share"),
    )
    return dataclasses.replace(score, cutoff_ranges=ranges)


def cutoff_ranges(
    score: RiskScore,
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
    score : RiskScore
        Cut-offs are the features with points whose items are conditions of the kinds ">=", "<=",
        ">" and "<".
    raw : Table
        The raw columns of the rows that it was fitted to.
    scores : ndarray of shape (n,)
        Sums of the fitted points of these rows.
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
    features and the ridge penalty of its weights, which a cut-off does not change.
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
    found: dict[str, CutoffRange] = {}
    columns: dict[str, _Sorted | None] = {}
    for name, item in cutoffs.items():
        if item.variable not in columns:
            values = raw.values(names.index(item.variable))[counted]
            columns[item.variable] = _sorted(values, item.special)
        column = columns[item.variable]
        if column is None:
            continue
        points = score.points[name]
        met = met_by_numbers(item, column.values)
        without = total - points * met
        losses = [
            weight * np.logaddexp(0.0, -sign * (without + added) / score.scale)
            for added in (0, points)
        ]
        without_item = float(losses[0].sum()) + price
        change = losses[1] - losses[0]
        swept = _swept(column, item.kind, without_item, change)
        own = without_item + float(change[met].sum())
        found[name] = _range(item, _own_split(column, item), *swept, own, share)
    return found


def ranges_with_other_points(
    ranges: Mapping[str, CutoffRange],
    score: RiskScore,
    pool: SolutionPool,
    items: Mapping[str, Item],
) -> dict[str, CutoffRange]:
    """Widen ranges by the scores of a list, which have points of their own.

    Parameters
    ----------
    ranges : mapping from str to CutoffRange
        Of :func:`cutoff_ranges`.
    score : RiskScore
        The best one of the list.
    pool : SolutionPool
    items : mapping from str to Item
        What is stated of all features that the scores were chosen from.

    Returns
    -------
    dict from str to CutoffRange
        The same ranges unless the list has all scores within their share.

    Notes
    -----
    A range is widened by the next cut-off of its variable where no value lies between both, and the
    list has a score with it in place of the present one, and with the other features.
    """
    best = float(pool.objectives[0])
    supports = [
        {pool.feature_names[j] for j in np.flatnonzero(coef[1:]).tolist()}
        for coef in pool.coefficients
    ]
    found = dict(ranges)
    for name, one in ranges.items():
        most = (1 + one.share) * best
        if pool.bound < most * (1 - _ROUNDED):
            continue
        others = set(score.points) - {name}
        as_good = {
            other
            for support, objective in zip(supports, pool.objectives, strict=True)
            if objective <= most and len(support) == len(others) + 1 and others < support
            for other in support - others
        }
        found[name] = _widened(one, score.items[name], as_good, items)
    return found


def _widened(
    one: CutoffRange, own: Item, as_good: set[str], items: Mapping[str, Item]
) -> CutoffRange:
    """A range with the cut-offs next to it that are as good, one after the other."""
    cutoffs = sorted(
        (
            item
            for item in items.values()
            if (item.variable, item.kind) == (own.variable, own.kind) and item.interval is not None
        ),
        key=lambda item: item.value,
    )
    if own not in cutoffs:
        return one
    first = last = cutoffs.index(own)

    def is_next(item: Item, below: Item, above: Item) -> bool:
        are_neighbours = below.interval and above.interval and (
            below.interval[1] == above.interval[0]
        )  # fmt: skip
        return bool(are_neighbours) and item.name in as_good

    while first > 0 and is_next(cutoffs[first - 1], cutoffs[first - 1], cutoffs[first]):
        first -= 1
    while last + 1 < len(cutoffs) and is_next(cutoffs[last + 1], cutoffs[last], cutoffs[last + 1]):
        last += 1
    return dataclasses.replace(
        one,
        lower=min(one.lower, cutoffs[first].value),
        upper=max(one.upper, cutoffs[last].value),
        refitted=True,
    )


class _Sorted(NamedTuple):
    """A column of numbers, its distinct values in ascending order, and where each row's is."""

    values: NDArray[Any]
    there: NDArray[np.bool_]
    distinct: NDArray[Any]
    position: NDArray[np.intp]  # of rows that have a value


def _sorted(raw: NDArray[Any], special: tuple[float, ...]) -> _Sorted | None:
    """None where there are no two measurements to tell apart."""
    try:
        values = ColumnEncoder("", "numbers", indicator=True).read(raw, "error").values
    except ColumnError:
        return None
    there = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), dtype=np.bool_)
    there &= ~special_among(values, special)
    distinct, position = np.unique(values[there], return_inverse=True)
    return _Sorted(values, there, distinct, position) if len(distinct) > 1 else None


def _swept(
    column: _Sorted, kind: str, without: float, change: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """All cut-offs that split the rows, in ascending order, and the objective of each."""
    distinct = column.distinct
    by_value = np.bincount(column.position, change[column.there], minlength=len(distinct))
    below: NDArray[np.float64] = np.cumsum(by_value)
    # Between neighbouring values: the lower ones meet "<=", the upper ones ">=".
    met = below[:-1] if kind in ("<=", "<") else below[-1] - below[:-1]
    cutoffs = distinct[1:] if kind in (">=", "<") else distinct[:-1]
    return cutoffs, np.asarray(without + met, dtype=np.float64)


def _own_split(column: _Sorted, item: Item) -> int:
    """Position, among cut-offs that split the rows, of the one that splits them as an item does.

    -1 or their number where the item is met by all rows or by none.
    """
    side: Literal["left", "right"] = "left" if item.kind in (">=", "<") else "right"
    return int(np.searchsorted(column.distinct, item.value, side=side)) - 1


def _range(
    item: Item,
    k: int,
    cutoffs: NDArray[Any],
    objectives: NDArray[np.float64],
    own: float,
    share: float,
) -> CutoffRange:
    """The cut-offs around that of an item that change the objective by at most a share."""
    differ = np.abs(objectives - own) > share * own
    before, after = np.flatnonzero(differ[: max(k, 0)]), np.flatnonzero(differ[k + 1 :])
    first = int(before[-1]) + 1 if before.size else 0
    last = k + int(after[0]) if after.size else len(cutoffs) - 1
    lower = upper = item.value
    if first <= last:
        lower = min(lower, plain_number(cutoffs[first]))
        upper = max(upper, plain_number(cutoffs[last]))
    best = int(np.argmin(objectives))
    change = float(objectives[best] / own - 1) if own > 0 else 0.0
    if not change < -_SAME:  # nothing is better, or the objective is 0
        return CutoffRange(lower, upper, item.value, 0.0, share)
    return CutoffRange(lower, upper, plain_number(cutoffs[best]), change, share)
