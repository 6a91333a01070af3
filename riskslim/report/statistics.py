"""Tables of the report with the statistics that clinics and lenders ask for, and as records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim.items.item import source_variable
from riskslim.metrics.agreement import (
    brier_score,
    brier_skill,
    calibration_line,
    integrated_calibration_index,
)
from riskslim.metrics.bootstrap import Interval
from riskslim.metrics.discrimination import operating_points
from riskslim.metrics.groups import RiskGroup, metrics_by_group, risk_groups
from riskslim.metrics.scorecards import gini, information_value, kolmogorov_smirnov
from riskslim.report.cells import Cell, ReportTable, finite_or_none
from riskslim.report.rows import METRIC_NAMES, Rows, feature_values
from riskslim.score.lines import shift_of
from riskslim.score.link import link_of

if TYPE_CHECKING:
    from riskslim.score.protocol import ScoreLike

__all__ = ["RECORD", "group_table", "information_table", "records", "statistics_table"]

# Columns of the records.
RECORD = ("data", "part", "name", "statistic", "value", "lower", "upper")

# Groups of risk that rows are put into where no cut points are given: quarters of the first rows.
_QUANTILES = (0.25, 0.5, 0.75)
_NAMES = {
    "calibration_intercept": "Calibration intercept",
    "calibration_slope": "Calibration slope",
    "ici": "ICI",
    "brier": "Brier score",
    "brier_skill": "Scaled Brier score",
    "gini": "Gini",
    "ks": "KS",
    "iv": "Information value of the score",
}


def statistics_of(score: ScoreLike, rows: Rows) -> dict[str, float | Interval]:
    """Statistics of the rows, by name.

    Parameters
    ----------
    score : RiskScore
    rows : Rows

    Returns
    -------
    dict
    """
    positive, risk, weight, scores = rows.positive, rows.risk, rows.weight, rows.scores
    log_odds = link_of(score).log_odds(scores.astype(np.float64))
    line = calibration_line(positive, log_odds, weight)
    return {
        "calibration_intercept": line.intercept,
        "calibration_slope": line.slope,
        "ici": integrated_calibration_index(positive, risk, weight),
        "brier": brier_score(positive, risk, weight),
        "brier_skill": brier_skill(positive, risk, weight),
        "gini": gini(positive, scores, weight),
        "ks": kolmogorov_smirnov(positive, scores, weight),
        "iv": information_value(positive, scores, weight),
    }


def statistics_table(score: ScoreLike, rows: Sequence[Rows]) -> ReportTable:
    """Statistics of all data side by side.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows

    Returns
    -------
    ReportTable
    """
    found = [statistics_of(score, one) for one in rows]
    table = [
        [Cell(text), *(_cell(of_rows[name]) for of_rows in found)] for name, text in _NAMES.items()
    ]
    note = (
        "Calibration intercept: what to add to all log-odds, 0 is perfect; slope: of observed on "
        "predicted log-odds, 1 is perfect; both with Wald's 95% intervals. ICI: mean distance of "
        "risks from a smooth calibration curve. Scaled Brier score: 1 is perfect, 0 as good as one "
        "risk for all. Gini: 2 AUC \u2212 1. KS: largest distance of the distributions of scores "
        "in both classes."
    )
    return ReportTable(
        "Further statistics", ("Statistic", *(one.name for one in rows)), table, note
    )


def _cell(value: float | Interval) -> Cell:
    if isinstance(value, Interval):
        text = _number(value.value)
        if math.isnan(value.lower):
            return Cell(text, finite_or_none(value.value))
        between = f"{_number(value.lower)} to {_number(value.upper)}"
        return Cell(text, finite_or_none(value.value), value, between)
    return Cell(_number(value), finite_or_none(value))


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}".replace("-", "\u2212")


def group_table(score: ScoreLike, rows: Sequence[Rows]) -> ReportTable | None:
    """Rows in groups of risk, with predicted and observed risk of each.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows
        Cut points are the quartiles of the first ones.

    Returns
    -------
    ReportTable or None
        None where all rows have one risk.
    """
    cuts = _cuts(rows[0].risk, rows[0].weight)
    if not cuts:
        return None
    every = [risk_groups(one.positive, one.risk, cuts, one.weight, pos_label=True) for one in rows]
    table = []
    for groups in zip(*every, strict=True):
        cells = [Cell(_range_text(groups[0]), groups[0].lower)]
        for group in groups:
            cells += [Cell(str(group.n), group.n), _share_cell(group.predicted)]
            cells.append(_observed_cell(group.observed))
        table.append(cells)
    heads = ["Risk"]
    for one in rows:
        heads += [f"Rows, {one.name}", "Predicted", "Observed"]
    note = (
        f"Groups begin at the quartiles of risk in the {rows[0].name}; observed risks have "
        "Wilson's 95% intervals."
    )
    return ReportTable("Groups of risk", heads, table, note)


def _cuts(risk: NDArray[np.float64], weight: NDArray[np.float64] | None) -> list[float]:
    """Risks at which a quarter of the rows, by weight, are below; none at the least risk."""
    order = np.argsort(risk, kind="stable")
    shares = np.cumsum(np.ones(len(risk)) if weight is None else weight[order])
    places = np.searchsorted(shares, np.array(_QUANTILES) * shares[-1])
    found = np.unique(risk[order][places]).tolist()
    return [cut for cut in found if risk.min() < cut < 1]


def _range_text(group: RiskGroup) -> str:
    if group.lower == 0:
        return f"below {group.upper:.1%}"
    if group.upper == 1:
        return f"{group.lower:.1%} and more"
    return f"{group.lower:.1%} to below {group.upper:.1%}"


def _share_cell(value: float) -> Cell:
    return Cell("-" if math.isnan(value) else f"{value:.1%}", finite_or_none(value))


def _observed_cell(observed: Interval) -> Cell:
    if math.isnan(observed.value):
        return Cell("-")
    between = f"{observed.lower:.1%} to {observed.upper:.1%}"
    return Cell(f"{observed.value:.1%}", observed.value, observed, between)


def information_table(score: ScoreLike, rows: Sequence[Rows]) -> ReportTable | None:
    """Information value of each variable of the score: of the points that its items add up to.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows

    Returns
    -------
    ReportTable or None
        None for a score without points.
    """
    if not score.points:
        return None
    found = [variable_information(score, one) for one in rows]
    names = sorted(found[0], key=lambda name: -found[0][name])
    table = [[Cell(name), *(_cell(of_rows[name]) for of_rows in found)] for name in names]
    note = (
        "Of the points that the items of a variable add up to. Usual reading: below 0.02 nothing, "
        "from 0.1 something, from 0.3 much, above 0.5 ask why."
    )
    heads = ("Variable", *(one.name for one in rows))
    return ReportTable("Information value", heads, table, note)


def variable_information(score: ScoreLike, rows: Rows) -> dict[str, float]:
    """Information value of the points of each variable.

    Parameters
    ----------
    score : RiskScore
    rows : Rows

    Returns
    -------
    dict from str to float
    """
    sums: dict[str, Any] = {}
    for name, points in score.points.items():
        item = score.items.get(name)
        variable = source_variable(name) if item is None else item.variable
        values = points * np.asarray(feature_values(score, name, rows.X), np.float64)
        sums[variable] = sums.get(variable, 0.0) + values
    return {
        variable: information_value(rows.positive, values, rows.weight)
        for variable, values in sums.items()
    }


def records(
    score: ScoreLike,
    parts: Sequence[tuple[Rows, Any]],
    *,
    threshold: float = 0.5,
) -> list[dict[str, Any]]:
    """All statistics of a report as rows of a long table, with groups of a column.

    Parameters
    ----------
    score : RiskScore
    parts : sequence of (Rows, groups)
        Given rows, and test rows if there are any; ``groups`` is None or a label for each row that
        was given, those of weight 0 among them.
    threshold : float, default 0.5
        The risk from which on rows of a group are called positive.

    Returns
    -------
    list of dict
        With the keys :data:`RECORD`. ``part`` is "metric", "threshold", "risk group", "variable" or
        "group", ``name`` the threshold, the lower end of the risk group, the variable or the label;
        NaN where there is no value or no interval.

    Raises
    ------
    ValueError, TypeError
        As in :func:`~riskslim.metrics.metrics_by_group`.
    """
    found: list[dict[str, Any]] = []
    cuts: list[float] | None = None
    for rows, groups in parts:
        cuts = _cuts(rows.risk, rows.weight) if cuts is None else cuts
        lines = [
            *_metric_lines(score, rows), *_threshold_lines(score, rows), *_risk_lines(rows, cuts)
        ]  # fmt: skip
        for name, value in variable_information(score, rows).items():
            lines.append(("variable", name, "iv", value))
        if groups is not None:
            lines += _group_lines(score, rows, groups, threshold)
        found += [_record(rows.name, *line) for line in lines]
    return found


_Line = tuple[str, Any, str, "float | Interval"]


def _record(data: str, part: str, name: Any, statistic: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, tuple):
        value = Interval(float(value), math.nan, math.nan)
    return dict(zip(RECORD, (data, part, name, statistic, *value), strict=True))


def _metric_lines(score: ScoreLike, rows: Rows) -> list[_Line]:
    lines: list[_Line] = []
    for name in METRIC_NAMES:
        interval = rows.intervals.get(name)
        own = isinstance(interval, Interval)  # the others are what chance alone makes
        lines.append(("metric", "", name, interval if own else rows.metric(name)))  # type: ignore[arg-type]
    lines += [("metric", "", name, value) for name, value in statistics_of(score, rows).items()]
    return lines


def _threshold_lines(score: ScoreLike, rows: Rows) -> list[_Line]:
    """Rates at all thresholds, which are scores as the sheet adds them up."""
    scores = rows.scores + shift_of(score, score.layout)
    points = operating_points(rows.positive, scores, rows.weight)
    lines: list[_Line] = []
    for rate in ("sensitivity", "specificity", "ppv", "npv"):
        ends = points.intervals(rate)
        values = zip(points.thresholds, getattr(points, rate), *ends, strict=True)
        lines += [
            ("threshold", float(at), rate, Interval(*map(float, value)))
            for at, *value in values
            if at < math.inf
        ]
    return lines


def _risk_lines(rows: Rows, cuts: Sequence[float]) -> list[_Line]:
    lines: list[_Line] = []
    for group in risk_groups(rows.positive, rows.risk, cuts, rows.weight, pos_label=True):
        lines += [
            ("risk group", group.lower, name, getattr(group, name))
            for name in ("upper", "n", "share", "predicted", "observed")
        ]
    return lines


def _group_lines(score: ScoreLike, rows: Rows, groups: Any, threshold: float) -> list[_Line]:
    labels, given = np.asarray(groups), rows.given.sample_weight
    if given is not None:
        labels = labels[np.asarray(given) > 0]
    log_odds = link_of(score).log_odds(rows.scores.astype(np.float64))
    found = metrics_by_group(
        rows.positive, log_odds, labels, rows.weight, threshold=threshold,
        n_resamples=max(rows.n_resamples, 1), pos_label=True,
    )  # fmt: skip
    lines: list[_Line] = []
    for one in found:
        name = "all rows" if one.group is None else one.group
        for statistic, value in one._asdict().items():
            if statistic == "auc" and not rows.n_resamples:  # one resample makes no interval
                value = value.value
            if statistic != "group":
                lines.append(("group", name, statistic, value))
    return lines
