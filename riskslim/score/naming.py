"""Names of features on sheets: from features to their labels, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riskslim.items.item import COMPARISONS, Item, as_written, value_text
from riskslim.items.rules import is_level
from riskslim.score.labels import Label

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = [
    "feature_text", "label_of", "may_lack", "no_text", "opposite_text", "outcome_text",
    "stated_item", "turned_text", "variable_text",
]  # fmt: skip

_NO_LABEL = Label()
# Of a condition that does not hold, the one that does.
_OPPOSITE = {">=": "<", "<": ">=", "<=": ">", ">": "<="}


def outcome_text(score: RiskScore) -> str:
    """Return what the risk is of: "died = yes"."""
    return f"{score.outcome_name} = {score.classes[1]}"


def label_of(score: RiskScore, name: str) -> Label:
    """Return the label of a variable or feature; an empty one where it has none."""
    return score.labels.get(name, _NO_LABEL)


def may_lack(score: RiskScore, variable: str) -> bool:
    """True if a variable may be missing in records, so that its conditions count as no."""
    known = score.variables.get(variable)
    if known is not None or score.variables:
        return known is not None and known.may_lack
    stated = any(
        (item.variable, item.kind) == (variable, "missing") for item in score.items.values()
    )
    return stated or f"{variable} is missing" in score.feature_names


def stated_item(score: RiskScore, name: str) -> Item | None:
    """Return what a feature is: as it is stated, or as its name says of a comparison.

    A name alone says nothing about other features; of this one it is taken at its word.
    """
    item = score.items.get(name)
    if item is not None:
        return item
    try:
        item = Item.parse(name)
    except ValueError:
        return None
    return item if item.kind in COMPARISONS else None


def feature_text(score: RiskScore, name: str) -> str:
    """Return what a feature is called: by its own label, by that of its variable, or its name."""
    text = label_of(score, name).text
    item = score.items.get(name)
    if text is not None:
        return text
    if item is None or not item.is_condition or item.variable not in score.labels:
        return name
    return _condition_text(item, item.kind, label_of(score, item.variable))


def _condition_text(item: Item, kind: str, label: Label) -> str:
    """A condition in the words of a label."""
    variable = label.text or item.variable
    if kind == "missing":
        return f"{variable} is missing"
    if kind in COMPARISONS:
        unit = f" {label.unit}" if label.unit else ""
        return f"{variable} {kind} {value_text(item.value)}{unit}"
    levels = [label.level(level) for level in item.levels]
    return f"{variable} = {levels[0]}" if kind == "=" else f"{variable} in {{{', '.join(levels)}}}"


def variable_text(score: RiskScore, variable: str) -> str:
    """Return what a variable is called, with its unit."""
    label = label_of(score, variable)
    return f"{label.text or variable} ({label.unit})" if label.unit else label.text or variable


def no_text(score: RiskScore, name: str) -> str:
    """Return what a feature of 0 and 1 by itself is called where it is 0."""
    item = score.items.get(name)
    is_condition = item is not None and item.is_condition
    lacks = may_lack(score, item.variable if item is not None and is_condition else name)
    lacking = " or missing" if lacks and (item is None or item.kind != "missing") else ""
    special = _or_special(score, item) if item is not None and is_condition else ""
    return f"{label_of(score, name).level('no')}{special}{lacking}"


def _or_special(score: RiskScore, item: Item) -> str:
    """Values that are no measurements: no cut-off is met by them, whatever it is turned into."""
    label = label_of(score, item.variable)
    return "".join(f" or {label.level(value_text(as_written(one)))}" for one in item.special)


def turned_text(score: RiskScore, name: str) -> str:
    """Write the condition that holds where a feature of 0 and 1 is 0.

    Parameters
    ----------
    score : RiskScore
    name : str
        A condition with points.

    Returns
    -------
    str
        "age < 60" of "age >= 60", and "age < 60 or missing" where the age may be missing, or "age <
        60 or 999" where 999 is no age; "smoker: no" of features that do not say what they are.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.score.naming import turned_text
    >>> score = RiskScore(-1, {"age >= 60": -2, "smoker": -1})
    >>> turned_text(score, "age >= 60"), turned_text(score, "smoker")
    ('age < 60', 'smoker: no')
    """
    return opposite_text(score, name) or f"{feature_text(score, name)}: {no_text(score, name)}"


def opposite_text(score: RiskScore, name: str) -> str | None:
    """Write the condition that holds where another one does not.

    Parameters
    ----------
    score : RiskScore
    name : str
        A feature of 0 and 1 with points.

    Returns
    -------
    str or None
        As :func:`turned_text`; None of features that do not say what they are.
    """
    item = stated_item(score, name)
    own = label_of(score, name)
    if own.text is not None or own.levels or item is None or not item.is_condition:
        return None
    label = label_of(score, item.variable)
    variable = label.text or item.variable
    if item.kind == "missing":
        return f"{variable} is known"
    lacking = " or missing" if may_lack(score, item.variable) else ""
    if item.kind in COMPARISONS:
        opposite = _condition_text(item, _OPPOSITE[item.kind], label)
        return f"{opposite}{_or_special(score, item)}{lacking}"
    known = score.variables.get(item.variable)
    others = [level for level in known.levels if not is_level(level, item.levels)] if known else []
    if len(others) == 1:
        return f"{variable} = {label.level(value_text(others[0]))}{lacking}"
    levels = [label.level(level) for level in item.levels]
    if len(levels) == 1:
        return f"{variable} is not {levels[0]}{lacking}"
    return f"{variable} not in {{{', '.join(levels)}}}{lacking}"
