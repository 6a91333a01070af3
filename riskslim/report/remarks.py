"""Remarks at the head of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from riskslim._wording import listing
from riskslim.data.class_weights import share
from riskslim.report.drift import SOME_SHIFT, Drift, index_text
from riskslim.report.rows import SAME_SHARE, SHARES, Rows, share_or_metric_text, vector_of

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem
    from riskslim.score.protocol import ScoreLike

__all__ = ["remarks"]


# ---------------------------------------------------------------------------------------------
# Words and tables
# ---------------------------------------------------------------------------------------------


def remarks(
    score: ScoreLike,
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
    found = [] if problem is None else list(problem.remarks(vector_of(score)))
    if score.recalibration is not None and weighting is not None:  # what it did is mended
        of_weights = weighting.describe(f"{score.outcome_name} = {score.classes[1]}")
        found = [remark for remark in found if remark != of_weights]
    if certificate is not None and rows[0].name != "training data":
        found.append(
            f"The certificate is about other rows or weights than these: {certificate.n_samples} "
            f"rows with a loss of {certificate.loss:.6g}, and not {rows[0].performance.n_samples} "
            f"rows with a loss of {rows[0].performance.loss:.6g}."
        )
    found += _remarks_on_calibration(score, rows)
    found += _remarks_on_drift(rows, drifts)
    for one in rows:
        found += [
            f"{_title(one)}: {remark}" for remark in score.remarks(one.X) if remark not in of_score
        ]
    return of_score + [remark for remark in found if remark not in of_score]


def _title(rows: Rows) -> str:
    return rows.name[0].upper() + rows.name[1:]


def _remarks_on_calibration(score: ScoreLike, rows: Sequence[Rows]) -> list[str]:
    """Say where risks are off by more than chance, on rows the score was not chosen by."""
    trained = rows[0] if rows[0].name == "training data" else None
    found = [
        f"{_title(one)}: {remark}"
        for one in rows
        if one is not trained and (remark := _remark_on_calibration(one, trained)) is not None
    ]
    if found and score.certificate is not None:
        found.append(
            "The certificate is about the training rows only: it says how close the score is to "
            "the best one there, and not that risks are true for other rows."
        )
    return found


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
