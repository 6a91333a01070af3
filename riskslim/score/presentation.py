"""The table of risks and the sheet of a risk score: its lines, its formula, and its notes.

:func:`risk_table` and :func:`sheet` are what the methods of :class:`~riskslim.RiskScore` with these
names call: they say what is taken, returned and refused.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING, Any

from riskslim.items.cutoffs import note_on_cutoffs
from riskslim.items.families import condition_families, note_on_sums
from riskslim.items.item import variable_of
from riskslim.items.variables import note_on_missing, note_on_special
from riskslim.scale import PAPER_SCALE, scale_text
from riskslim.score.band import VariableBands
from riskslim.score.bands import bands_of
from riskslim.score.layout import PointsShown, SheetLayout, ShownBy
from riskslim.score.lines import item_lines, note_on_layout, shift_of, turned_features
from riskslim.score.link import link_of
from riskslim.score.naming import outcome_text
from riskslim.score.observations import observations_of
from riskslim.score.operating_point import words_of
from riskslim.score.predictions import remarks_on_risks
from riskslim.score.requirements import of_names
from riskslim.score.sheet import ScoreSheet
from riskslim.score.table import (
    AttainableScores,
    RiskRow,
    checked_extreme,
    checked_max_rows,
    risk_rows,
)
from riskslim.score.typesetting import ScoreLine, one_line

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["EXTREME", "MAX_ROWS", "risk_table", "sheet", "worth_of_a_point"]

# Risks below it, and above 1 minus it, are printed as bounds.
EXTREME = 0.001
# Entries of the risk table on a sheet.
MAX_ROWS = 30

# Labels that say no more than that there is an outcome: headlines leave them out.
_TRUE = ("1", "1.0", "true")

# Units of log-odds per point for which it is said what the point does to the odds.
_LEAST_POINT, _MOST_POINT = 0.001, 10.0


def risk_table(
    score: RiskScore,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    *,
    extreme: float = EXTREME,
    max_rows: int | None = None,
) -> tuple[RiskRow, ...]:
    """List the risk of every attainable score, and with data what was observed."""
    link = link_of(score)
    return risk_rows(
        AttainableScores(score, link.shift),
        link,
        extreme=checked_extreme(extreme),
        max_rows=checked_max_rows(max_rows),
        observations=observations_of(score, X, y, sample_weight),
    )


def sheet(
    score: RiskScore,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    *,
    extreme: float = EXTREME,
    max_rows: int | None = MAX_ROWS,
    by: ShownBy | None = None,
    points: PointsShown | None = None,
) -> ScoreSheet:
    """Write the words and numbers of a sheet on which people add up points."""
    in_own_layout = score
    score = score.with_layout(by=by, points=points)
    layout = score.layout
    lines: tuple[ScoreLine, ...] = ()
    variables: tuple[VariableBands, ...] = ()
    if layout.by == "variable":
        variables, _ = bands_of(score, layout.points)
    else:
        lines, _ = item_lines(score, layout.points)
    risks = risk_table(score, X, y, sample_weight, extreme=extreme, max_rows=max_rows)
    # Headlines leave out labels that say no more than that there is an outcome.
    is_short = str(score.classes[1]).lower() in _TRUE
    outcome = outcome_text(score)
    notes = [
        *remarks_on_risks(score),
        *([f"Risk: the probability that {outcome}."] if is_short else []),
        *_notes_on_points(score),
        *filter(None, [note_on_layout(score, in_own_layout)]),
        *_notes(score, risks, layout, is_weighted=sample_weight is not None),
    ]
    return ScoreSheet(
        outcome=f"risk of {score.outcome_name}" if is_short else f"probability that {outcome}",
        lines=lines,
        variables=variables,
        risks=risks,
        formula=_formula(score),
        notes=tuple(map(one_line, notes)),
        proof=tuple(map(one_line, _proof(score))),
        rule=tuple(map(one_line, words_of(score))),
        requirements=of_names(score.requirements, _names_in_use(score)),
    )


def _names_in_use(score: RiskScore) -> set[str]:
    """Features with points, and the variables that they are made of."""
    return {*score.points, *(variable_of(name, score.items) for name in score.points)}


def _formula(score: RiskScore) -> str:
    link = link_of(score)
    intercept = link.intercept - link.shift
    if link.scale != 1.0:
        sign = "-" if intercept < 0 else "+"
        sum_of_all = "score"
        if intercept:
            sum_of_all = f"(score {sign} {_printed(score, abs(intercept))})"
        return f"risk = 1 / (1 + exp(-{sum_of_all} / {_printed(score, link.scale)}))"
    if intercept == 0:
        return "risk = 1 / (1 + exp(-score))"
    return f"risk = 1 / (1 + exp({_printed(score, -intercept)} - score))"


def _printed(score: RiskScore, number: float) -> str:
    """Intercept or scale for people: fitted ones have more digits than a sheet has use for."""
    return scale_text(number) if score.recalibration is None else f"{number:.6g}"


def _proof(score: RiskScore) -> Iterator[str]:
    """Say what is proven: small print, since it is no help with adding up points."""
    if score.certificate is not None:
        yield str(score.certificate)
        if score.recalibration is not None:
            yield score.recalibration.note_on_certificate()


# ---- notes ---------------------------------------------------------------------------------------


def _notes_on_points(score: RiskScore) -> Iterator[str]:
    """Return what is to be said of the points that the sheet lists."""
    if score.layout.by == "item":
        turned = turned_features(score, score.layout.points)
        families = condition_families(score.points, score.feature_ranges, score.items)
        for family in families:
            # Of conditions that are turned round others hold together.
            if set(family.names).isdisjoint(turned):
                if note := note_on_sums(family, score.items):
                    yield note
            elif len(family.names) > 1:
                variable = variable_of(family.names[0], score.items)
                yield f"Points of several conditions on {variable} add up."


def _notes(
    score: RiskScore, risks: tuple[RiskRow, ...], layout: SheetLayout, *, is_weighted: bool
) -> Iterator[str]:
    chosen = score.certificate is not None and score.certificate.scales != PAPER_SCALE
    if chosen or link_of(score).scale != 1.0:
        yield worth_of_a_point(score)
    yield from _notes_on_scores(risks, AttainableScores(score, shift_of(score)))
    if risks[0].n_samples is not None:
        share = "share, by weight," if is_weighted else "share"
        yield (
            f"Observed: {share} of rows with {outcome_text(score)}. "
            "Cases: number of such rows / of all rows."
        )
    items = [score.items[name] for name in score.points if name in score.items]
    if note := note_on_cutoffs(items, [score.variables.get(item.variable) for item in items]):
        yield note
    if layout.by == "item":
        yield from _notes_on_values(score, turned_features(score, layout.points))
    if not all(values.is_binary for values in score.feature_ranges.values()):
        yield "[a to b]: the values of the feature in the training data."


def worth_of_a_point(score: RiskScore) -> str:
    """Say what one point does to the log-odds, and to the odds."""
    scale = link_of(score).scale
    worth = 1.0 / scale
    text = f"Scale {_printed(score, scale)}: one point adds {worth:.4g} to the log-odds"
    if _LEAST_POINT <= worth <= _MOST_POINT:
        text += f" and multiplies the odds by {math.exp(worth):.4g}"
    return f"{text}."


def _notes_on_scores(risks: tuple[RiskRow, ...], scores: AttainableScores) -> Iterator[str]:
    """Return what the entries of a risk table do not say of the scores that they are for."""
    has_data = risks[0].n_samples is not None
    if any(" to " in row.score and not row.highest.is_integer() for row in risks):
        yield "Scores a to b: from a up to, but not including, b."
    elif not has_data and _skips_scores(risks, scores):
        yield "The table shows some of the scores: between them, use the formula."


def _skips_scores(risks: tuple[RiskRow, ...], scores: AttainableScores) -> bool:
    if not scores.are_integers:
        return True
    gaps = (after.lowest - row.highest for row, after in itertools.pairwise(risks))
    return scores.enumerated() is None and any(gap > 1 for gap in gaps)


def _notes_on_values(score: RiskScore, turned: Container[str]) -> Iterator[str]:
    """Say how missing and special values count, where conditions do not say it themselves."""
    for variable_name, variable in score.variables.items():
        features = {name: score.items.get(name) for name in score.points if name not in turned}
        kept = {
            name: item
            for name, item in features.items()
            if name == variable_name or (item is not None and item.variable == variable_name)
        }
        if note := note_on_missing(variable, kept):
            yield note
        if note := note_on_special(variable, kept):
            yield note
