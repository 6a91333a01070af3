"""Original and recalibrated risks side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim.metrics.agreement import brier_score, calibration_line
from riskslim.metrics.performance import performance
from riskslim.report.cells import Cell, ReportTable, number_cell
from riskslim.report.rows import EXTREME, METRIC_NAMES, Rows, share_or_metric_text, weighted_mean
from riskslim.score.link import link_of, original_link_of
from riskslim.score.table import RiskRow, RiskScale, logistic

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["links_of", "metrics_of", "recalibration_tables", "risk_ends"]

_METRICS = ("loss", "cal", "predicted", "observed")
_OTHERS = {
    "calibration_intercept": "Calibration intercept",
    "calibration_slope": "Calibration slope",
    "brier": "Brier score",
}


def recalibration_tables(score: RiskScore, rows: Sequence[Rows]) -> list[ReportTable]:
    """Metrics and risks before and after a recalibration.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows

    Returns
    -------
    list of ReportTable
        Of the metrics of all data, and of the risk of every score that rows have; empty for a score
        that was not recalibrated.
    """
    if score.recalibration is None:
        return []
    return [_metrics_table(score, rows), _risks_table(score, rows)]


def links_of(score: RiskScore) -> dict[str, RiskScale]:
    """From scores to risks, before and after the recalibration."""
    return {"original": original_link_of(score), "recalibrated": link_of(score)}


def _metrics_table(score: RiskScore, rows: Sequence[Rows]) -> ReportTable:
    heads, columns = ["Metric"], [[Cell(METRIC_NAMES[name]) for name in _METRICS]]
    columns[0] += map(Cell, _OTHERS.values())
    for one in rows:
        for name, link in links_of(score).items():
            heads.append(f"{one.name}: {name}")
            columns.append(_metric_cells(metrics_of(link, one)))
    note = "AUC, sensitivity and specificity are those of the scores: recalibration leaves them."
    return ReportTable("Original and recalibrated", heads, list(zip(*columns, strict=True)), note)


def metrics_of(link: RiskScale, rows: Rows) -> dict[str, float]:
    """Metrics of the risks that a link gives the scores of rows, by name.

    Parameters
    ----------
    link : RiskScale
    rows : Rows

    Returns
    -------
    dict from str to float
    """
    log_odds = link.log_odds(rows.scores.astype(np.float64))
    risk, positive, weight = logistic(log_odds), rows.positive, rows.weight
    found = performance(positive, risk, log_odds, weight, 0, math.nan, rows.bins)
    intercept = slope = math.nan
    if rows.has_both_classes:
        line = calibration_line(positive, log_odds, weight)
        intercept, slope = line.intercept.value, line.slope.value
    return {
        "loss": found.loss, "cal": found.cal, "predicted": weighted_mean(risk, weight),
        "observed": weighted_mean(positive, weight),
        "calibration_intercept": intercept, "calibration_slope": slope,
        "brier": brier_score(positive, risk, weight),
    }  # fmt: skip


def _metric_cells(values: dict[str, float]) -> list[Cell]:
    cells = [Cell(share_or_metric_text(name, values[name]), values[name]) for name in _METRICS]
    return cells + [
        Cell("-") if math.isnan(values[name]) else number_cell(values[name], ".3f")
        for name in _OTHERS
    ]


def _risks_table(score: RiskScore, rows: Sequence[Rows]) -> ReportTable:
    """The risk of every entry of the risk table by both; rows have no score beyond its ends."""
    scores, links = rows[0].scores, links_of(score)
    table = [
        [Cell(one.score), *(Cell(_between(link, one, scores)) for link in links.values())]
        for one in score.risk_table()
    ]
    return ReportTable("Risks, original and recalibrated", ("Score", *links), table)


def _between(link: RiskScale, entry: RiskRow, scores: NDArray[Any]) -> str:
    return " to ".join(dict.fromkeys(link.printed(_ends(entry, scores), EXTREME)))


def _ends(entry: RiskRow, scores: NDArray[Any]) -> list[float]:
    """The scores of an entry, as far as rows have such scores."""
    low, high = float(scores.min()), float(scores.max())
    ends = [min(entry.highest, max(entry.lowest, low)), max(entry.lowest, min(entry.highest, high))]
    return sorted(ends)


def risk_ends(link: RiskScale, entry: RiskRow, scores: NDArray[Any]) -> tuple[float, float]:
    """The least and the largest risk of an entry of the risk table.

    Parameters
    ----------
    link : RiskScale
    entry : RiskRow
    scores : ndarray of shape (n,)
        Of rows: where an entry has an open end, no further than these.

    Returns
    -------
    float, float
    """
    low, high = logistic(link.log_odds(np.array(_ends(entry, scores)))).tolist()
    return low, high
