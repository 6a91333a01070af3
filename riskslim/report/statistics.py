"""Tables of the report with the statistics that clinics and lenders ask for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from riskslim.items.item import source_variable
from riskslim.metrics.agreement import (
    brier_score,
    brier_skill,
    calibration_line,
    integrated_calibration_index,
)
from riskslim.metrics.bootstrap import Interval
from riskslim.metrics.groups import RiskGroup, risk_groups
from riskslim.metrics.rows import weighted_quantiles
from riskslim.metrics.scorecards import gini, information_value, kolmogorov_smirnov
from riskslim.report.cells import Cell, ReportTable, finite_or_none
from riskslim.report.rows import Rows, feature_values
from riskslim.score.link import link_of

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = [
    "cut_points",
    "group_table",
    "information_table",
    "statistics_of",
    "statistics_table",
    "variable_information",
]

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


def statistics_of(score: RiskScore, rows: Rows) -> dict[str, float | Interval]:
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
    if not rows.has_both_classes:
        found: dict[str, float | Interval] = dict.fromkeys(_NAMES, math.nan)
        return found | {
            "ici": integrated_calibration_index(positive, risk, weight),
            "brier": brier_score(positive, risk, weight),
        }
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


def statistics_table(score: RiskScore, rows: Sequence[Rows]) -> ReportTable:
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


def group_table(score: RiskScore, rows: Sequence[Rows]) -> ReportTable | None:
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
    cuts = cut_points(rows[0])
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


def cut_points(rows: Rows) -> list[float]:
    """Risks at which a quarter of the rows, by weight, are below; none at the least risk."""
    found = np.unique(weighted_quantiles(rows.risk, _QUANTILES, rows.weight)).tolist()
    return [cut for cut in found if rows.risk.min() < cut < 1]


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


def information_table(score: RiskScore, rows: Sequence[Rows]) -> ReportTable | None:
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


def variable_information(score: RiskScore, rows: Rows) -> dict[str, float]:
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
        if rows.has_both_classes
        else math.nan
        for variable, values in sums.items()
    }
