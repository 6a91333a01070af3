"""Items and families as the calculator takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riskslim.data.feature_ranges import printed_range
from riskslim.items.families import condition_families
from riskslim.score.bands import bands_of
from riskslim.score.lines import item_line, item_lines, turned_features
from riskslim.score.naming import feature_text
from riskslim.score.typesetting import typeset, typeset_condition

if TYPE_CHECKING:
    from riskslim.score.protocol import ScoreLike

__all__ = ["calculator_families", "calculator_items", "calculator_variables"]


def calculator_items(score: ScoreLike) -> list[dict[str, Any]]:
    """Return what the calculator asks for.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    list of dict
        One for each feature with points, of values that JSON has.
    """
    turned = turned_features(score, score.layout.points if score.layout.by == "item" else "fitted")
    found = []
    for name, points in score.points.items():
        values, line = score.feature_ranges[name], item_line(score, name, is_turned=name in turned)
        found.append(
            {
                "name": name,
                "label": line.label if values.is_binary else feature_text(score, name),
                "points": points,
                # Ticked where the condition does not hold.
                "isTurned": name in turned,
                "shownPoints": line.points,
                "isCondition": values.is_binary,
                "isInteger": values.is_integer,
                "minimum": values.minimum,
                "maximum": values.maximum,
                "range": typeset(printed_range(values)),
                "worth": typeset(line.worth),
            }
        )
    return found


def calculator_variables(score: ScoreLike) -> tuple[list[dict[str, Any]], int]:
    """Return what the calculator asks for by variable, where the layout of the score is that.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    list of dict
        One for each variable: its label, the numbers of its items, and its bands with the values
        of these items and the points; empty by item. One whose values are multiplied has no bands.
    int
        By how much the score that is shown exceeds that of the record.
    """
    if score.layout.by == "item":
        return [], item_lines(score, score.layout.points)[1]
    number = {name: k for k, name in enumerate(score.points)}
    variables, shift = bands_of(score, score.layout.points)
    return [
        {
            "label": one.label,
            "items": [number[name] for name in one.features],
            "bands": [
                {
                    "text": typeset_condition(band),
                    "points": band.points,
                    "values": list(band.patterns[0]),
                }
                for band in one.bands
                if not one.is_factor
            ],
        }
        for one in variables
    ], shift


def calculator_families(score: ScoreLike) -> list[dict[str, Any]]:
    """Find which ticks of the calculator can be together.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    list of dict
        For conditions on one variable, of which not all can hold together: the numbers of the
        items, and all that can be true of them.
    """
    number = {name: k for k, name in enumerate(score.points)}
    return [
        {"items": [number[name] for name in family.names], "patterns": family.patterns}
        for family in condition_families(score.points, score.feature_ranges, score.items)
        if not family.is_free
    ]
