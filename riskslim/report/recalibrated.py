"""Original and recalibrated risks side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from riskslim.metrics.agreement import brier_score, calibration_line
from riskslim.metrics.performance import performance
from riskslim.report.cells import Cell, ReportTable, number_cell
from riskslim.report.rows import EXTREME, METRIC_NAMES, Rows, share_or_metric_text, weighted_mean
from riskslim.score.lines import shift_of
from riskslim.score.link import link_of
from riskslim.score.table import RiskRow, RiskScale, logistic, moved_rows

if TYPE_CHECKING:
    from riskslim.score.protocol import ScoreLike

__all__ = ["recalibration_tables"]

_METRICS = ("loss", "cal", "predicted", "observed")


def recalibration_tables(score: ScoreLike, rows: Sequence[Rows]) -> list[ReportTable]:
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


def _links(score: ScoreLike) -> dict[str, RiskScale]:
    return {"original": RiskScale(score.intercept, score.scale), "recalibrated": link_of(score)}


def _metrics_table(score: ScoreLike, rows: Sequence[Rows]) -> ReportTable:
    heads, columns = ["Metric"], [[Cell(METRIC_NAMES[name]) for name in _METRICS]]
    columns[0] += [Cell("Calibration intercept"), Cell("Calibration slope"), Cell("Brier score")]
    for one in rows:
        for name, link in _links(score).items():
            heads.append(f"{one.name}: {name}")
            columns.append(_metrics(link, one))
    note = "AUC, sensitivity and specificity are those of the scores: recalibration leaves them."
    return ReportTable("Original and recalibrated", heads, list(zip(*columns, strict=True)), note)


def _metrics(link: RiskScale, rows: Rows) -> list[Cell]:
    log_odds = link.log_odds(rows.scores.astype(np.float64))
    risk, positive, weight = logistic(log_odds), rows.positive, rows.weight
    found = performance(positive, risk, log_odds, weight, 0, math.nan, rows.bins)
    line = calibration_line(positive, log_odds, weight)
    values = {
        "loss": found.loss, "cal": found.cal, "predicted": weighted_mean(risk, weight),
        "observed": weighted_mean(positive, weight),
    }  # fmt: skip
    cells = [Cell(share_or_metric_text(name, value), value) for name, value in values.items()]
    others = (line.intercept.value, line.slope.value, brier_score(positive, risk, weight))
    return cells + [number_cell(value, ".3f") for value in others]


def _risks_table(score: ScoreLike, rows: Sequence[Rows]) -> ReportTable:
    """The risk of every entry of the risk table by both; rows have no score beyond its ends."""
    low, high = rows[0].scores.min(), rows[0].scores.max()
    entries = score.risk_table()
    shown = moved_rows(entries, 1, shift_of(score, score.layout))
    table = [
        [
            Cell(text.score),
            *(Cell(_between(link, one, low, high)) for link in _links(score).values()),
        ]
        for text, one in zip(shown, entries, strict=True)
    ]
    return ReportTable("Risks, original and recalibrated", ("Score", *_links(score)), table)


def _between(link: RiskScale, entry: RiskRow, low: float, high: float) -> str:
    ends = [min(entry.highest, max(entry.lowest, low)), max(entry.lowest, min(entry.highest, high))]
    return " to ".join(dict.fromkeys(link.printed(sorted(ends), EXTREME)))
