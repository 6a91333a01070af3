"""The points of a score by item, conditions with negative points turned round where that is asked.

A condition with -2 points adds what its opposite adds with 2 points, and 2 less. So the sum of the
turned points exceeds the score by the same number for every record, and the risks are those of the
score, to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from riskslim.score.bands import bands_of, factor_line
from riskslim.score.naming import feature_text, label_of, turned_text
from riskslim.score.typesetting import ScoreLine, score_line

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore
    from riskslim.score.layout import PointsShown, SheetLayout

__all__ = ["item_line", "item_lines", "note_on_scores", "shift_of", "turned_features"]


def turned_features(score: RiskScore, points: PointsShown) -> tuple[str, ...]:
    """Return the features that are turned round: conditions with negative points.

    Parameters
    ----------
    score : RiskScore
    points : {"fitted", "non-negative"}

    Returns
    -------
    tuple of str
    """
    if points == "fitted":
        return ()
    return tuple(
        name
        for name, worth in score.points.items()
        if worth < 0 and score.feature_ranges[name].is_binary
    )


def item_lines(
    score: RiskScore, points: PointsShown = "fitted"
) -> tuple[tuple[ScoreLine, ...], int]:
    """Write one line for each feature with points.

    Parameters
    ----------
    score : RiskScore
    points : {"fitted", "non-negative"}, default "fitted"

    Returns
    -------
    tuple of ScoreLine
        The largest points first.
    int
        By how much the sums of the points exceed the scores of the records.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.score.lines import item_lines
    >>> lines, shift = item_lines(RiskScore(-1, {"smoker": 1, "age < 60": -2}), "non-negative")
    >>> [(line.label, line.worth) for line in lines], shift
    ([('age >= 60', '2 points'), ('smoker', '1 point')], 2)
    """
    turned = turned_features(score, points)
    lines = [item_line(score, name, is_turned=name in turned) for name in score.points]
    shift = -sum(score.points[name] for name in turned)
    return tuple(sorted(lines, key=lambda line: -line.points)), shift


def item_line(score: RiskScore, name: str, *, is_turned: bool) -> ScoreLine:
    """Write the line of a feature with points.

    Parameters
    ----------
    score : RiskScore
    name : str
    is_turned : bool
        Whether it is a condition that is turned round.

    Returns
    -------
    ScoreLine
    """
    worth, values = score.points[name], score.feature_ranges[name]
    if is_turned:
        return score_line(turned_text(score, name), -worth, values)
    if values.is_binary:
        return score_line(feature_text(score, name), worth, values)
    return factor_line(name, worth, values, label_of(score, name))


def shift_of(score: RiskScore, layout: SheetLayout) -> int:
    """Return by how much the scores on a sheet exceed those of the records.

    Parameters
    ----------
    score : RiskScore
    layout : SheetLayout
        Of the sheet.

    Returns
    -------
    int
    """
    if layout.points == "fitted":
        return 0
    shown = bands_of if layout.by == "variable" else item_lines
    return shown(score, layout.points)[1]


def note_on_scores(score: RiskScore) -> str:
    """Say where scores are others than the totals of the sheet.

    Programs and files of predictions have scores of the fitted points, as ``score_samples`` has.

    Parameters
    ----------
    score : RiskScore
        Its ``layout`` is that of the sheet.

    Returns
    -------
    str
        A sentence; empty where they are the same.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.score.lines import note_on_scores
    >>> score = RiskScore(-1, {"smoker": 1, "age < 60": -2})
    >>> note_on_scores(score), note_on_scores(score.with_layout(points="non-negative"))
    ('', 'Scores are those of the fitted points, 2 below those of the sheet.')
    """
    shift = shift_of(score, score.layout)
    if not shift:
        return ""
    side = "below" if shift > 0 else "above"
    return f"Scores are those of the fitted points, {abs(shift)} {side} those of the sheet."
