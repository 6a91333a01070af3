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
    from riskslim.score.layout import PointsShown

__all__ = ["item_line", "item_lines", "note_on_layout", "shift_of", "turned_features"]


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


def shift_of(score: RiskScore) -> int:
    """Return by how much scores exceed the sums of the fitted points.

    The score that is shown is the score everywhere: ``score_samples``, exports and thresholds have
    it, too.

    Parameters
    ----------
    score : RiskScore
        Its ``layout`` says how points are shown.

    Returns
    -------
    int

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.score.lines import shift_of
    >>> score = RiskScore(-1, {"smoker": 1, "age < 60": -2})
    >>> shift_of(score), shift_of(score.with_layout(points="non-negative"))
    (0, 2)
    """
    points, by = score.layout.points, score.layout.by
    if points == "fitted":
        return 0
    return (bands_of if by == "variable" else item_lines)(score, points)[1]


def note_on_layout(shown: RiskScore, score: RiskScore) -> str:
    """Say where scores are others than those of predictions, since a layout is shown only once.

    Parameters
    ----------
    shown : RiskScore
        The score in the layout that is shown.
    score : RiskScore
        The same in its own one.

    Returns
    -------
    str
        A sentence or two; empty where scores are the same.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.score.lines import note_on_layout
    >>> score = RiskScore(-1, {"smoker": 1, "age < 60": -2})
    >>> note_on_layout(score.with_layout(points="non-negative"), score).partition(": ")[0]
    'Scores here are 2 above those that predictions and exports have'
    """
    moved = shift_of(shown) - shift_of(score)
    if not moved:
        return ""
    side = "above" if moved > 0 else "below"
    return (
        f"Scores here are {abs(moved)} {side} those that predictions and exports have: the layout "
        "of the risk score is another one. Risks are the same."
    )
