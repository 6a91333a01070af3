"""Items and families as the calculator takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riskslim.data.feature_ranges import printed_range
from riskslim.items.families import condition_families
from riskslim.score.typesetting import score_line, typeset

if TYPE_CHECKING:
    from riskslim.score.protocol import ScoreLike

__all__ = ["calculator_families", "calculator_items"]


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
    return [
        {
            "name": name,
            "points": points,
            "isCondition": values.is_binary,
            "isInteger": values.is_integer,
            "minimum": values.minimum,
            "maximum": values.maximum,
            "range": typeset(printed_range(values)),
            "worth": typeset(score_line(name, points, values).worth),
        }
        for (name, points), values in zip(
            score.points.items(), score.feature_ranges.values(), strict=True
        )
    ]


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
