"""Parts that exports in all languages share: headlines, names, tables of risks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from riskslim._version import __version__
from riskslim.score.link import link_of
from riskslim.score.operating_point import threshold_text
from riskslim.score.table import logistic

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = [
    "LARGEST_NUMBER",
    "MAX_TABLED_SCORES",
    "check_function_name",
    "free_name",
    "headline_of",
    "tabled_risks",
]

# More scores than these are not listed with their risks: the formula gives them to 1e-15.
MAX_TABLED_SCORES = 1000

# What exceeds this in SQL is taken to be infinite.
LARGEST_NUMBER = "1E308"


def tabled_risks(score: RiskScore) -> dict[int, float]:
    """Risks by sum of the fitted points, of the sums that the training data allow.

    Empty where the formula has to do.
    """
    totals, largest = {0}, 0.0
    for name, points in score.points.items():
        known = score.feature_ranges[name]
        largest += abs(points) * max(abs(known.minimum), abs(known.maximum))
        # Beyond 2**53 float64 does not hold every integer.
        if not known.is_integer or largest >= 2.0**53:
            return {}
        values = known.values
        if values is None:
            if known.maximum - known.minimum >= MAX_TABLED_SCORES:
                return {}
            values = tuple(range(int(known.minimum), int(known.maximum) + 1))
        totals = {total + points * value for total in totals for value in values}
        if len(totals) > MAX_TABLED_SCORES:
            return {}
    ordered = sorted(totals)
    log_odds = link_of(score).log_odds_of_sums(np.array(ordered, np.float64))
    risks = logistic(log_odds)
    return dict(zip(ordered, risks.tolist(), strict=True))


def headline_of(score: RiskScore) -> str:
    """Say in one line of printable text what is predicted, and who says so."""
    label = score.classes[1]
    shown = label if isinstance(label, (bool, int, float, str)) else str(label)
    return (
        f"Risk that {score.outcome_name!r} = {shown!r}, from a risk score of riskslim {__version__}"
        f"{_after(_of_risks(score))}{_after(threshold_text(score))}"
    )


def _of_risks(score: RiskScore) -> str:
    """Say which rows the risks are for, where that is not rows like the training rows."""
    text = ""
    if score.recalibration is not None:
        text = score.recalibration.describe("the outcome", score.scale)
    elif score.class_weighting is not None:
        text = score.class_weighting.describe("The outcome")
    return text


def _after(text: str) -> str:
    """A sentence behind another one, whose full stops the caller writes."""
    return text and f". {text.removesuffix('.')}"


def check_function_name(name: Any, language: str, is_valid: Callable[[str], bool]) -> None:
    """Refuse a name that a function cannot have in a language."""
    if not isinstance(name, str) or not is_valid(name):
        raise ValueError(
            f"function_name must be an identifier that {language} has no other use for, got "
            f"{name!r}"
        )


def free_name(name: str, taken: set[str]) -> str:
    """A name that is not taken yet, which it then is."""
    while not name or name in taken:
        name += "_"
    taken.add(name)
    return name
