"""Remarks at the head of a report."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from riskslim._wording import listing
from riskslim.data.class_weights import share
from riskslim.data.training_data import TrainingData
from riskslim.exceptions import ConstantFeatureWarning
from riskslim.metrics.agreement import calibration_line
from riskslim.metrics.bootstrap import Interval
from riskslim.problem.remarks import remarks_on_rows
from riskslim.report.drift import SOME_SHIFT, Drift, index_text
from riskslim.report.rows import (
    SAME_SHARE,
    SHARES,
    Rows,
    feature_values,
    labelled,
    share_or_metric_text,
    vector_of,
)
from riskslim.score.fit_remarks import remarks_at_fit
from riskslim.score.link import link_of
from riskslim.score.naming import outcome_text

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem
    from riskslim.risk_score import RiskScore

__all__ = ["remarks"]


# ---------------------------------------------------------------------------------------------
# Words and tables
# ---------------------------------------------------------------------------------------------


def remarks(
    score: RiskScore,
    rows: Sequence[Rows],
    problem: RiskScoreProblem | None,
    drifts: Sequence[Drift],
) -> list[str]:
    """Return what is worth knowing before the report is used, in words.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows
    problem : RiskScoreProblem or None
    drifts : sequence of Drift
        Of :func:`drifts_of`.

    Returns
    -------
    list of str
    """
    weighting, certificate = score.class_weighting, score.certificate
    of_score = list(score.remarks())
    found = list(_remarks_of_fit(score, rows[0], problem))
    if score.recalibration is not None and weighting is not None:  # what it did is mended
        of_weights = weighting.describe(outcome_text(score))
        found = [remark for remark in found if remark != of_weights]
    if certificate is not None and rows[0].name != "training data":
        found.append(
            f"The certificate is about other rows or weights than these: {certificate.n_samples} "
            f"rows with a loss of {certificate.loss:.6g}, and not {rows[0].performance.n_samples} "
            f"rows with a loss of {rows[0].performance.loss:.6g}."
        )
    found += [f"{_title(one)}: {why}." for one in rows if (why := one.why_undefined)]
    found += _remarks_on_calibration(score, rows)
    found += _remarks_on_drift(rows, drifts)
    for one in rows:
        found += [
            f"{_title(one)}: {remark}" for remark in score.remarks(one.X) if remark not in of_score
        ]
    return of_score + [remark for remark in found if remark not in of_score]


def _remarks_of_fit(
    score: RiskScore, rows: Rows, problem: RiskScoreProblem | None
) -> tuple[str, ...]:
    """Remarks of a fit on its score; where it kept none, those that training rows still show."""
    if problem is not None:
        return problem.remarks(vector_of(score), scale=score.scale)
    if score.fit_remarks:  # with all that the training rows show
        return remarks_at_fit(score)
    if rows.name != "training data":
        return ()
    if not score.points:
        return ("No feature has points, so every row has the same risk.",)
    values = {name: feature_values(score, name, rows.X) for name in score.points}
    _, labels, weight = labelled(score, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantFeatureWarning)
        data = TrainingData(
            values, labels, weight,
            outcome_name=score.outcome_name, positive_label=score.classes[1],
        )  # fmt: skip
    return remarks_on_rows(data, np.array([score.intercept, *score.points.values()]))


def _title(rows: Rows) -> str:
    return rows.name[0].upper() + rows.name[1:]


def _remarks_on_calibration(score: RiskScore, rows: Sequence[Rows]) -> list[str]:
    """Say where risks are off by more than chance, on rows the score was not chosen by."""
    trained = rows[0] if rows[0].name == "training data" else None
    found: list[str] = []
    for one in rows:
        if one is trained:
            continue
        said = _remark_on_calibration(one, trained), _remark_on_line(score, one)
        found += [f"{_title(one)}: {remark}" for remark in said if remark is not None]
    if found and score.certificate is not None:
        found.append(
            "The certificate is about the training rows only: it says how close the score is to "
            "the best one there, and not that risks are true for other rows."
        )
    return found


def _remark_on_line(score: RiskScore, rows: Rows) -> str | None:
    """Say what the intercept and slope of calibration mean, where they are off by more than chance.

    Both are as the table of further statistics prints them.
    """
    if rows.positive.all() or not rows.positive.any():
        return None
    log_odds = link_of(score).log_odds(rows.scores.astype(np.float64))
    line = calibration_line(rows.positive, log_odds, rows.weight)
    found, option, argument = [], "", ""
    if _is_off(line.slope, 1.0):
        kind = (
            "risks are too extreme, high ones too high and low ones too low"
            if line.slope.value < 1
            else "risks are too much alike, high ones too low and low ones too high"
        )
        if line.slope.upper < 0:
            kind = "higher risks go with fewer outcomes"
        found.append(
            f"the calibration slope is {_with_interval(line.slope)}, where 1 is perfect: {kind}"
        )
        option, argument = " --with-scale", ", with_scale=True"
    if _is_off(line.intercept, 0.0):
        is_low = line.intercept.value > 0
        found.append(
            f"the calibration intercept is {_with_interval(line.intercept)}, where 0 is perfect: "
            f"risks are too {'low' if is_low else 'high'} on average"
        )
    if not found:
        return None
    if line.slope.upper < 0:
        return f"{'; '.join(found)}. Is the outcome the one that the score was learned on?"
    return (
        f"{'; '.join(found)}. Recalibration keeps the points and sets the risks right: "
        f"riskslim recalibrate SCORE DATA{option}, or score.recalibrated(X, y{argument}), on rows "
        "like these, and judged on others."
    )


def _is_off(interval: Interval, perfect: float) -> bool:
    """True if the interval is known, and does not hold what is perfect."""
    return perfect < interval.lower or perfect > interval.upper


def _with_interval(found: Interval) -> str:
    value, lower, upper = (f"{one:.2f}".replace("-", "\u2212") for one in found)
    return f"{value} (95% interval {lower} to {upper})"


def _remark_on_calibration(rows: Rows, trained: Rows | None) -> str | None:
    if not rows.intervals:
        return None
    predicted, observed = (rows.metric(name) for name in SHARES)
    chance, cal_chance = rows.intervals["observed"], rows.intervals["cal"]
    is_low = observed > chance.upper + SAME_SHARE
    is_high = observed < chance.lower - SAME_SHARE
    is_uneven = rows.metric("cal") > cal_chance.upper + SAME_SHARE
    if not (is_low or is_high or is_uneven):
        return None
    of_outcome, of_mean, low, high = _told_apart(observed, predicted, chance.lower, chance.upper)
    cal, *ends = (
        share_or_metric_text("cal", value)
        for value in (rows.metric("cal"), cal_chance.lower, cal_chance.upper)
    )
    of_cal = (
        f"CAL is {cal}, where a perfectly calibrated score has {ends[0]} to {ends[1]} by chance"
    )
    means = f"the mean predicted risk is {of_mean}, the observed risk {of_outcome}"
    if not (is_low or is_high):
        return (
            f"risks are off by more than chance, though not on average: {of_cal}; {means}. The "
            "reliability diagram shows where they are too low and where too high."
        )
    times = f", {observed / predicted:.2g} times as much" if predicted > 0 else ""
    then = ""
    if trained is not None:
        then = " (training data: {} predicted, {} observed)".format(
            *(share(trained.metric(name)) for name in SHARES)
        )
    return (
        f"risks are too {'low' if is_low else 'high'}: {means}, "
        f"{100 * abs(observed - predicted):.2g} percentage points "
        f"{'more' if is_low else 'less'}{times}{then}. With true risks it would by chance be "
        f"{low} to {high}. {of_cal}."
    )


def _told_apart(observed: float, *others: float) -> list[str]:
    """Shares with as many decimals as it takes to tell the first from the others."""
    for digits in range(1, 7):
        first, *rest = (f"{value:.{digits}%}" for value in (observed, *others))
        if first not in rest:
            break
    return [first, *rest]


def _remarks_on_drift(rows: Sequence[Rows], drifts: Sequence[Drift]) -> list[str]:
    shifted = [
        f"{index_text(one.psi)} of {'scores' if one.name is None else repr(one.name)}"
        for one in drifts
        if one.psi >= max(SOME_SHIFT, one.by_chance)
    ]
    if not shifted:
        return []
    return [
        f"{_title(rows[1])}: rows are of another kind than the {rows[0].name}. Population "
        f"stability index: {listing(shifted)}."
    ]
