"""Differences between rows and those of the training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from riskslim.data.class_weights import share
from riskslim.data.feature_ranges import FeatureRange
from riskslim.metrics.drift import population_stability_index
from riskslim.metrics.rows import MOST_DISTINCT_SCORES, N_BINS
from riskslim.report.cells import Cell, ReportTable
from riskslim.report.rows import EXTREME, Rows, feature_values, weighted_mean
from riskslim.score.link import link_of
from riskslim.score.table import AttainableScores, Observations, risk_rows
from riskslim.score.typesetting import typeset

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["SOME_SHIFT", "Drift", "DriftLine", "drift_table", "drifts_of", "index_text"]

# The usual reading of population stability indices, and the level of what chance makes of them.
SOME_SHIFT, _LARGE_SHIFT, _CHANCE_OF_SHIFT = 0.1, 0.25, 0.05


class DriftLine(NamedTuple):
    """One comparison of training and test rows.

    Attributes
    ----------
    entry : str
        The scores that it is about, as the sheet has them; empty for all values.
    values : sequence of two floats
    is_share : bool
        Whether they are shares of rows, not means.
    """

    entry: str
    values: Sequence[float]
    is_share: bool


class Drift(NamedTuple):
    """The distributions of scores, or of a feature, in training and test rows, compared.

    Attributes
    ----------
    name : str or None
        Of the feature; None of the scores.
    lines : sequence of DriftLine
    psi : float
        The population stability index.
    by_chance : float
        Below this it is in 95% of cases where both are samples of the same rows.
    """

    name: str | None
    lines: Sequence[DriftLine]
    psi: float
    by_chance: float


def index_text(index: float) -> str:
    """A population stability index in words."""
    if index < SOME_SHIFT:
        return f"{index:.3f}"
    return f"{index:.3f} ({'large' if index > _LARGE_SHIFT else 'some'} shift)"


def drifts_of(score: RiskScore, rows: Sequence[Rows]) -> list[Drift]:
    """Compare scores and features of training and test rows.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows

    Returns
    -------
    list of Drift
        Of the scores, then of each feature with points; none without test rows.
    """
    if len(rows) < 2:
        return []
    return [_drift_of_scores(score, rows), *(_drift_of(score, name, rows) for name in score.points)]


def _drift_of_scores(score: RiskScore, rows: Sequence[Rows]) -> Drift:
    """Scores in the groups that a risk table of all rows has."""
    scores, positive = (
        np.concatenate([getattr(one, name) for one in rows]) for name in ("scores", "positive")
    )
    link = link_of(score)
    entries = risk_rows(
        AttainableScores(score, link.shift),
        link,
        extreme=EXTREME,
        max_rows=MOST_DISTINCT_SCORES,
        observations=Observations(scores, positive),
    )
    starts = np.array([entry.lowest for entry in entries])
    groups = [
        np.searchsorted(starts, one.scores.astype(np.float64), side="right") - 1 for one in rows
    ]
    means = [weighted_mean(one.scores, one.weight) for one in rows]
    shares = np.array(
        [
            np.bincount(group, one.weight, len(entries)) / np.bincount(group, one.weight).sum()
            for group, one in zip(groups, rows, strict=True)
        ]
    )
    lines = [DriftLine("", means, is_share=False)]
    lines += [
        DriftLine(entry.score, shares[:, k].tolist(), is_share=True)
        for k, entry in enumerate(entries)
        if shares[:, k].any()
    ]
    return Drift(None, lines, *_index_of(groups, rows))


def _drift_of(score: RiskScore, name: str, rows: Sequence[Rows]) -> Drift:
    values = [feature_values(score, name, one.X) for one in rows]
    means = [weighted_mean(v, one.weight) for v, one in zip(values, rows, strict=True)]
    is_condition = all(FeatureRange.of(one).is_binary for one in values)
    line = DriftLine("", means, is_share=is_condition)
    return Drift(name, [line], *_index_of(values, rows))


def _index_of(values: Sequence[NDArray[Any]], rows: Sequence[Rows]) -> tuple[float, float]:
    """The population stability index of values of training and test rows, and by chance."""
    weights = [one.weight for one in rows]
    index = population_stability_index(*values, *weights, bins="auto")
    n_cells = len(np.unique(np.concatenate(values)))
    if n_cells < 2:
        return index, 0.0
    if n_cells > MOST_DISTINCT_SCORES:
        n_cells = N_BINS
    spread = sum(
        1 / len(one.positive)
        if one.weight is None
        else (one.weight**2).sum() / one.weight.sum() ** 2
        for one in rows
    )
    return index, float(chdtri(n_cells - 1, _CHANCE_OF_SHIFT) * spread)


def _words(name: str | None, line: DriftLine) -> str:
    """Words for what a line compares."""
    what = "Score" if name is None else name
    if line.entry:
        return f"{what} {typeset(line.entry)}"
    return what if line.is_share else f"{what}: mean"


def drift_table(rows: Sequence[Rows], drifts: Sequence[Drift]) -> ReportTable | None:
    """Scores and features of training and test rows side by side.

    Parameters
    ----------
    rows : sequence of Rows
    drifts : sequence of Drift
        Of :func:`drifts_of`.

    Returns
    -------
    ReportTable or None
        None without test rows.
    """
    if not drifts:
        return None
    lines = []
    for drift in drifts:
        for k, line in enumerate(drift.lines):
            cells = [Cell(share(v) if line.is_share else f"{v:.4g}", v) for v in line.values]
            index = Cell("") if k else Cell(index_text(drift.psi), drift.psi)
            lines.append([Cell(_words(drift.name, line)), *cells, index])
    given = rows[0].name.removesuffix(" data")
    by_weight = ", by weight" if any(one.weight is not None for one in rows) else ""
    note = (
        f"Shares of rows{by_weight}; for a condition, of those where it holds. PSI is the "
        "population stability index, the sum of (a \u2212 e) log(a / e) over all scores, or over "
        f"the values of a condition, where e is the share of {given} rows and a that of test rows. "
        f"Read it as: below {SOME_SHIFT} little has changed, {SOME_SHIFT} to {_LARGE_SHIFT} some "
        f"shift, above {_LARGE_SHIFT} a large shift. A score that is missing in one set counts as "
        "half a row there. With so many rows, chance alone makes up to "
        f"{drifts[0].by_chance:.2g} for the scores (in 95% of cases)."
    )
    return ReportTable(
        f"Scores and conditions, {given} and test rows",
        ["Score or condition", *(one.name for one in rows), "PSI"],
        lines,
        note,
    )
