"""Metrics of groups of rows: those with the same value in a column that the report was given."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from riskslim._checks import checked_number
from riskslim._wording import listing, near
from riskslim.items.item import value_text
from riskslim.items.rules import raw_table
from riskslim.metrics.bootstrap import Interval
from riskslim.metrics.groups import GroupMetrics, metrics_by_group
from riskslim.report.cells import Cell, ReportTable, finite_or_none
from riskslim.report.rows import Rows
from riskslim.score.link import link_of
from riskslim.score.operating_point import shown_threshold, threshold_text
from riskslim.score.rows import named_rows

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["GroupedRows", "group_name", "grouped_rows", "grouped_tables"]

_SHARES = {
    "observed": "Observed",
    "predicted": "Predicted",
    "called_positive": "Called positive",
    "sensitivity": "Sensitivity",
    "specificity": "Specificity",
    "ppv": "PPV",
    "npv": "NPV",
}
_NUMBERS = {"auc": "AUC", "brier": "Brier score", "calibration_intercept": "Calibration intercept"}


class GroupedRows(NamedTuple):
    """Metrics of the groups of some rows.

    Attributes
    ----------
    column : str
        Whose values are the groups.
    data : str
        What the report calls the rows: "training data".
    called : str
        Which rows are called positive, in words.
    found : tuple of GroupMetrics
        Of all rows, then of each group.
    """

    column: str
    data: str
    called: str
    found: tuple[GroupMetrics, ...]


def grouped_rows(
    score: RiskScore, rows: Sequence[Rows], columns: Sequence[str], threshold: float | None = None
) -> list[GroupedRows]:
    """Judge a score in the groups of columns of the rows.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows
    columns : sequence of str
        Names of columns of X; one that is named twice counts once.
    threshold : float, optional
        The risk from which on rows are called positive. By default the threshold of the score
        decides, and the risk 0.5 where it has none.

    Returns
    -------
    list of GroupedRows
        For each column those of all rows.

    Raises
    ------
    TypeError, ValueError
        As in :func:`~riskslim.metrics.metrics_by_group`; X has no such column. Column and rows are
        named.
    """
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise TypeError(f"groups must be a sequence of names of columns, got {columns!r}")
    if threshold is None and score.operating_point is None:
        threshold = 0.5
    if threshold is None:
        words = threshold_text(score)
    else:
        threshold = checked_number(threshold, "group_threshold")
        words = f"Rows with a risk of at least {100 * threshold:g}% are called positive."
    found = []
    for column in dict.fromkeys(columns):
        for one in rows:
            labels = _labels(score, one, column)
            decided = (
                {"called": one.scores >= shown_threshold(score)}
                if threshold is None
                else {"threshold": threshold}
            )
            try:
                metrics = metrics_by_group(
                    one.positive, link_of(score).log_odds(one.scores.astype("float64")), labels,
                    one.weight, **decided, n_resamples=max(one.n_resamples, 1), pos_label=True,
                )  # fmt: skip
            except ValueError as error:
                raise ValueError(f"{column!r} of the {one.name}: {error}") from error
            if not one.n_resamples:  # one resample makes no interval
                metrics = tuple(_without_interval(group) for group in metrics)
            found.append(GroupedRows(column, one.name, words, metrics))
    return found


def _without_interval(group: GroupMetrics) -> GroupMetrics:
    return group._replace(auc=Interval(group.auc.value, math.nan, math.nan))


def _labels(score: RiskScore, rows: Rows, column: str) -> NDArray[Any]:
    """The values of a column, of rows with weight."""
    table = raw_table(named_rows(score, rows.given.X))
    names = [str(name) for name in table.names or ()]
    if column not in names:
        which = f"their columns are {listing(map(repr, names))}" if names else "columns need names"
        raise ValueError(
            f"the {rows.name} have no column {column!r}{near(column, names)} for groups: {which}"
        )
    return table.counted(rows.given.sample_weight).values(names.index(column))


def group_name(group: GroupMetrics) -> str:
    """The label of a group as printed; "all rows" for all of them."""
    return "all rows" if group.group is None else value_text(group.group)


def grouped_tables(grouped: Sequence[GroupedRows]) -> list[ReportTable]:
    """Write a table for each column and set of rows.

    Parameters
    ----------
    grouped : sequence of GroupedRows

    Returns
    -------
    list of ReportTable
    """
    return [_table(one) for one in grouped]


def _table(grouped: GroupedRows) -> ReportTable:
    table = []
    for group in grouped.found:
        cells = [Cell(group_name(group)), Cell(f"{group.n}", group.n)]
        cells += [_cell(getattr(group, name), ".1%") for name in _SHARES]
        table.append([*cells, *(_cell(getattr(group, name), ".3f") for name in _NUMBERS)])
    note = (
        f"{grouped.called} Shares have Wilson's 95% intervals. Groups differ by chance as well, "
        "the more the smaller they are: compare intervals."
    )
    if any(group.n_positive in (0, group.n) for group in grouped.found):
        note += " AUC and calibration intercept take rows with the outcome and rows without it."
    heads = (grouped.column, "Rows", *_SHARES.values(), *_NUMBERS.values())
    return ReportTable(f"By {grouped.column}, {grouped.data}", heads, table, note)


def _cell(value: float | Interval, form: str) -> Cell:
    if not isinstance(value, Interval):
        value = Interval(value, math.nan, math.nan)
    if math.isnan(value.value):
        return Cell("-")
    text, lower, upper = (f"{one:{form}}".replace("-", "\u2212") for one in value)
    if math.isnan(value.lower):
        return Cell(text, finite_or_none(value.value))
    return Cell(text, value.value, value, f"{lower} to {upper}")
