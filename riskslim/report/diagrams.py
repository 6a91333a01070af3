"""The diagrams of a report: those of :mod:`riskslim.plots`, with what they show in words."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim.metrics.calibration import reliability_curve
from riskslim.metrics.decision import decision_curve
from riskslim.metrics.discrimination import operating_points
from riskslim.metrics.rows import MOST_DISTINCT_SCORES, weighted_quantiles
from riskslim.plots import (
    plot_decision_curve,
    plot_reliability,
    plot_risk_by_score,
    plot_roc,
    plot_score_histogram,
)
from riskslim.report.inputs import is_of_strengths
from riskslim.report.rows import Rows, weighted_mean
from riskslim.report.svg import Diagram, drawn, drawn_on_grid
from riskslim.score.typesetting import one_line

if TYPE_CHECKING:
    from riskslim.model_selection.cross_validation import CrossValidation
    from riskslim.risk_score import RiskScore

__all__ = ["diagrams", "path_diagram", "thresholds"]

# Letters in a line of a legend, and lines: more would leave no room for what is drawn.
_LEGEND_CHARACTERS, _LEGEND_LINES = 56, 3
# Decision curves end at this quantile of the risks: beyond it hardly any row is acted on.
_QUANTILE = 0.99
# They end before, where the net benefit stays below this share of the largest possible one.
_SMALL_BENEFIT, _N_THRESHOLDS = 0.02, 100
_SQUARE, _WIDE, _SMALL, _LARGE = (4.8, 5.0), (6.0, 4.2), (4.6, 3.4), (8.2, 6.2)


def thresholds(rows: Sequence[Rows]) -> NDArray[np.float64]:
    """The risks that decision curves are drawn at: from which on to act, as the prevalence allows.

    Parameters
    ----------
    rows : sequence of Rows

    Returns
    -------
    ndarray of float64, shape (100,)
        Up to where hardly anything is gained any more by acting, or to the 99% quantile of the
        risks if that comes first, and twice the prevalence at least.
    """
    # Without any outcome nothing is gained at any risk.
    end = min(max(map(_last_benefit, rows)) or max(one.risk.max() for one in rows), 0.99)
    step = 10.0 ** math.floor(math.log10(end)) / 2
    end = min(math.ceil(end / step - 1e-9) * step, 0.99)
    return np.linspace(end / _N_THRESHOLDS, end, _N_THRESHOLDS)


def _last_benefit(rows: Rows) -> float:
    # Between two distinct risks the net benefit falls: its peaks are at the risks themselves.
    risks = np.unique(rows.risk[(rows.risk > 0) & (rows.risk < 1)])
    share = weighted_mean(rows.positive, rows.weight)
    if not len(risks):
        return 2 * share
    curve = decision_curve(rows.positive, rows.risk, rows.weight, thresholds=risks)
    useful = curve.thresholds[curve.net_benefit > _SMALL_BENEFIT * share]
    (quantile,) = weighted_quantiles(rows.risk, [_QUANTILE], rows.weight)
    return max(2 * share, min(float(useful.max(initial=0.0)), float(quantile)))


def diagrams(
    score: RiskScore,
    rows: Rows,
    thresholds: NDArray[np.float64],
    cv: CrossValidation | None = None,
) -> dict[str, Diagram]:
    """Draw what the score does on some rows.

    Parameters
    ----------
    score : RiskScore
    rows : Rows
    thresholds : ndarray of float64, shape (m,)
        Of the decision curve.
    cv : CrossValidation, optional
        Its folds are drawn in grey.

    Returns
    -------
    dict from str to Diagram
        "risks", "reliability", "roc" if there are both classes, "histogram" and "decision".
    """
    found = {"risks": _risks(score, rows), "reliability": _reliability(score, rows, cv)}
    if rows.has_both_classes:
        found["roc"] = _roc(score, rows, cv)
    return found | {
        "histogram": _histogram(score, rows),
        "decision": _decision(rows, thresholds),
    }


def _reliability(score: RiskScore, rows: Rows, cv: CrossValidation | None) -> Diagram:
    log_odds = score.log_odds(rows.X)
    curve = reliability_curve(rows.positive, rows.risk, rows.weight, log_odds)
    folds = [] if cv is None else [cv.reliability_curve(fold) for fold in cv.folds]
    of = "groups of scores" if curve.is_binned else "scores"
    shown = ", ".join(
        f"{predicted:.0%} and {observed:.0%}"
        for predicted, observed in zip(curve.predicted, curve.observed, strict=True)
    )
    return drawn(
        lambda ax: plot_reliability(curve, folds=folds, label=rows.name, ax=ax),
        f"reliability-{rows.key}",
        f"Reliability diagram, {rows.name}: predicted and observed risk of {len(curve)} {of}: "
        f"{shown}.",
        f"Reliability diagram, {rows.name}: observed against predicted risk of {len(curve)} {of}, "
        f"with intervals of {curve.level:.0%}; on the dotted line they are equal."
        + (" Grey: the scores of the folds on their test rows." if folds else ""),
        _SQUARE,
    )


def _risks(score: RiskScore, rows: Rows) -> Diagram:
    curve = reliability_curve(rows.positive, rows.risk, rows.weight, rows.scores)
    of = "groups of scores" if curve.is_binned else "scores"
    shown = ", ".join(
        f"{number:.6g}: {predicted:.0%} and {observed:.0%}"
        for number, predicted, observed in zip(
            curve.scores, curve.predicted, curve.observed, strict=True
        )
    )
    return drawn(
        lambda ax: plot_risk_by_score(curve, ax=ax),
        f"risks-{rows.key}",
        f"Risk by score, {rows.name}: predicted and observed risk of {len(curve)} {of}: {shown}.",
        f"Risk by score, {rows.name}: the line is predicted, dots were observed, with intervals "
        f"of {curve.level:.0%}.",
        _SMALL,
    )


def _roc(score: RiskScore, rows: Rows, cv: CrossValidation | None) -> Diagram:
    points = operating_points(rows.positive, rows.scores, rows.weight)
    folds = [] if cv is None else [cv.operating_points(fold) for fold in cv.folds_with_auc]
    is_marked = len(points) - 1 <= MOST_DISTINCT_SCORES
    return drawn(
        lambda ax: plot_roc(points, folds=folds, label=rows.name, mark=is_marked, ax=ax),
        f"roc-{rows.key}",
        f"ROC curve, {rows.name}: sensitivity against false positive rate at "
        f"{len(points) - 1} thresholds, the area under it is {points.auc:.3f}. The table of "
        "operating points has the numbers.",
        f"ROC curve, {rows.name}"
        + (", with the scores from which on rows are called positive." if is_marked else ".")
        + (" Grey: the scores of the folds on their test rows." if folds else ""),
        _SQUARE,
    )


def _histogram(score: RiskScore, rows: Rows) -> Diagram:
    names = [_in_legend(f"with {score.outcome_name} = {label}") for label in score.classes]
    means = [
        weighted_mean(rows.scores[kind], None if rows.weight is None else rows.weight[kind])
        for kind in (~rows.positive, rows.positive)
    ]
    return drawn(
        lambda ax: plot_score_histogram(
            rows.positive, rows.scores, rows.weight, class_names=names, ax=ax
        ),
        f"histogram-{rows.key}",
        f"Scores by class, {rows.name}: the mean score of rows {names[0]} is {_mean(means[0])}, "
        f"that of rows {names[1]} is {_mean(means[1])}.",
        f"Scores by class, {rows.name}: share of the rows of each class that have a score.",
        _WIDE,
    )


def _mean(value: float) -> str:
    return "missing, for there are none" if math.isnan(value) else f"{value:.3g}"


def _in_legend(text: str) -> str:
    """A name in lines that end between words, if none is longer than a line."""
    return "\n".join(
        textwrap.wrap(
            one_line(text), _LEGEND_CHARACTERS, max_lines=_LEGEND_LINES, placeholder=" \u2026"
        )
    )


def _decision(rows: Rows, thresholds: NDArray[np.float64]) -> Diagram:
    curve = decision_curve(rows.positive, rows.risk, rows.weight, thresholds=thresholds)
    better = curve.net_benefit > np.maximum(curve.treat_all, 0.0)
    where = "nowhere above both others"
    if better.any():
        low, high = curve.thresholds[better][[0, -1]]
        where = f"above both others at thresholds between {100 * low:.3g}% and {100 * high:.3g}%"
    return drawn(
        lambda ax: plot_decision_curve(curve, ax=ax),
        f"decision-{rows.key}",
        f"Decision curve, {rows.name}: net benefit of acting by the score, on all and on none, for "
        f"risks of up to {100 * thresholds[-1]:.3g}%; that of the score is {where}.",
        f"Decision curve, {rows.name}: net benefit of acting on rows whose risk is at least the "
        f"one on the axis, up to {100 * thresholds[-1]:.3g}%: beyond, hardly anything is gained or "
        f"risks are above {_QUANTILE:.0%} of all.",
        _WIDE,
    )


def path_diagram(path: Any) -> Diagram:
    """Draw metrics against the model size, or the test loss against the strength of the prior.

    Parameters
    ----------
    path : ModelSizePath or ShrinkagePath

    Returns
    -------
    Diagram
    """
    if is_of_strengths(path):
        return drawn(
            lambda ax: path.plot(ax),
            "path",
            f"Mean test loss for shrinkage from {path.shrinkages[0]:g} to "
            f"{path.shrinkages[-1]:g}, one line for each size; the table has the numbers.",
            "Mean test loss over the folds against the strength of the prior (shrinkage); the best "
            "mean is marked.",
            _WIDE,
        )
    if path.has_rules:
        return drawn(
            path.plot_rules,
            "path",
            f"Sensitivity and specificity of the best rules of sizes {path.sizes[0]} to "
            f"{path.sizes[-1]}; the table has the numbers.",
            "Sensitivity against specificity of the best rules, each with its largest size: on the "
            "training rows, and on test rows where there are folds.",
            _WIDE,
        )
    return drawn_on_grid(
        path.plot,
        "path",
        f"Loss, AUC, CAL and optimality gap of the best scores of sizes {path.sizes[0]} to "
        f"{path.sizes[-1]}; the table has the numbers.",
        "Loss, AUC, CAL and optimality gap against the largest model size.",
        _LARGE,
        (2, 2),
    )
