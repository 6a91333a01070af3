"""Items and families as the calculator takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riskslim.data.feature_ranges import printed_range
from riskslim.items.families import condition_families
from riskslim.items.item import COMPARISONS, Item
from riskslim.score.lines import item_line, turned_features
from riskslim.score.naming import feature_text, variable_text
from riskslim.score.typesetting import SheetContent, observed_text, typeset, typeset_condition

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = [
    "calculator_families",
    "calculator_items",
    "calculator_numbers",
    "calculator_risks",
    "calculator_variables",
]


def calculator_items(score: RiskScore) -> list[dict[str, Any]]:
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


def calculator_variables(score: RiskScore) -> list[dict[str, Any]]:
    """Return what the calculator asks for by variable, where the layout of the score is that.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    list of dict
        One for each variable: its label, the numbers of its items, and its bands with all that
        these items can be there and the points; empty by item. One whose values are multiplied
        has no bands.
    """
    if score.layout.by == "item":
        return []
    number = {name: k for k, name in enumerate(score.points)}
    return [
        {
            "label": one.label,
            "items": [number[name] for name in one.features],
            "bands": [
                {
                    "text": typeset_condition(band),
                    "points": band.points,
                    "patterns": [list(pattern) for pattern in band.patterns],
                    "isText": band.is_text,
                }
                for band in one.bands
                if not one.is_factor
            ],
        }
        for one in score.bands()
    ]


def calculator_numbers(score: RiskScore) -> list[dict[str, Any]]:
    """Find the raw numbers that can be entered in place of conditions on them.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    list of dict
        One for each variable with cut-offs, all of whose items are known as conditions on numbers:
        its label, the numbers of its items, how each is computed, and its values that are no
        measurements. In the order of the points.
    """
    found: dict[str, list[int]] = {}
    for k, name in enumerate(score.points):
        if (item := score.items.get(name)) is not None:
            found.setdefault(item.variable, []).append(k)
    names = list(score.points)
    numbers = []
    for variable, places in found.items():
        items = [score.items[names[k]] for k in places]
        if not any(item.kind in COMPARISONS for item in items) or not all(map(_is_number, items)):
            continue
        known = score.variables.get(variable)
        ends = (None, None) if known is None else (known.minimum, known.maximum)
        numbers.append(
            {
                "variable": variable,
                "label": variable_text(score, variable),
                "items": places,
                "tests": [{"kind": item.kind, "values": _values_of(item)} for item in items],
                "special": sorted({float(one) for item in items for one in item.special}),
                "range": "" if known is None or ends[0] is None else typeset(known.range_text),
                "minimum": ends[0],
                "maximum": ends[1],
            }
        )
    return numbers


def _values_of(item: Item) -> list[float]:
    """The numbers that a condition compares with."""
    if item.kind == "missing":
        return []
    values = item.value if isinstance(item.value, tuple) else (item.value,)
    return [float(value) for value in values]


def _is_number(item: Item) -> bool:
    """True if a condition is about numbers alone, or about their absence."""
    if item.kind == "missing":
        return True
    values = item.value if isinstance(item.value, tuple) else (item.value,)
    return item.kind in (*COMPARISONS, "=", "in") and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 2**1023
        for value in values
    )


def calculator_risks(sheet: SheetContent, rows_name: str) -> list[dict[str, Any]]:
    """State what was observed at each entry of the risk table.

    Parameters
    ----------
    sheet : ScoreSheet
        With data.
    rows_name : str
        What the rows are called.

    Returns
    -------
    list of dict
        In the order of the table: the lowest and highest score of the entry, and a sentence.
    """
    found: list[dict[str, Any]] = []
    for row in sheet.risks:
        seen = (
            f"{observed_text(row)} ({row.n_positive} of {row.n_samples} rows)"
            if row.n_samples
            else "no row"
        )
        text = f"Observed in the {rows_name} with score {typeset(row.score)}: {seen}."
        found.append({"lowest": row.lowest, "highest": row.highest, "text": text})
    return found


def calculator_families(score: RiskScore) -> list[dict[str, Any]]:
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
