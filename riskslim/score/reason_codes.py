"""Reasons for a score: the variables that cost a record most points, in order.

Points raise the risk, so that a variable costs a record what its points exceed others by: the least
that any value has (the best), or what rows have on average. That a value is missing, or a special
one such as "no record", is nothing to be aimed at: only measured values are the best, unless any is
asked for.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from riskslim._checks import checked_integer, checked_number
from riskslim._wording import listing
from riskslim.score.band import VariableBands
from riskslim.score.bands import bands_of
from riskslim.score.record_words import band_text

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = [
    "Best",
    "Reason",
    "checked_average",
    "checked_number_of_reasons",
    "reasons_of",
    "references",
]

Best: TypeAlias = Literal["measured", "any"]


class Reason(NamedTuple):
    """A variable that costs a record points.

    Attributes
    ----------
    variable : str
        Its label.
    condition : str
        The band of the record: ">= 71".
    points : int or float
        The points of the record.
    cost : int or float
        By how much they exceed the least ones, or those of rows on average.
    features : tuple of str
        The items that the points come from.
    """

    variable: str
    condition: str
    points: float
    cost: float
    features: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.variable} ({self.condition}): {self.cost:.4g}"


def references(
    score: RiskScore,
    average: Mapping[str, float] | None = None,
    best: Best = "measured",
    fixed: Collection[str] = (),
) -> list[tuple[VariableBands, float]]:
    """List the variables of a score with the points that a record is compared with.

    Parameters
    ----------
    score : RiskScore
    average : mapping from str to float, optional
        Mean points by feature, as of :func:`checked_average`. Default: the least points.
    best : {"measured", "any"}, default "measured"
        Of which values these are: of measured ones, or of missing and special ones as well.
    fixed : collection of str, default ()
        Features with points that cannot change.

    Returns
    -------
    list of (VariableBands, float)
        In the order in which ties are broken: those whose points differ most first. Those are left
        out of which nothing can change.

    Raises
    ------
    ValueError
        Another ``best``.
    """
    if best not in get_args(Best):
        raise ValueError(f"best must be 'measured' or 'any', got {best!r}")
    found = []
    for one in bands_of(score)[0]:
        if {*one.features} <= {*fixed}:
            continue
        if average is not None:
            reference = math.fsum(average[name] for name in one.features)
        elif one.is_factor:
            values = score.feature_ranges[one.features[0]]
            worth = one.bands[0].points
            reference = min(worth * values.minimum, worth * values.maximum)
        else:
            reference = one.least_measured if best == "measured" else one.least
        found.append((one, reference))
    return found


def reasons_of(
    score: RiskScore,
    values: Mapping[str, float],
    compared: Sequence[tuple[VariableBands, float]],
) -> tuple[Reason, ...]:
    """Rank the variables that cost a record points.

    Parameters
    ----------
    score : RiskScore
    values : mapping from str to int or float
        Values of the features with points.
    compared : sequence of (VariableBands, float)
        Of :func:`references`.

    Returns
    -------
    tuple of Reason
        The largest cost first; variables that cost nothing are left out.
    """
    found = []
    for one, reference in compared:
        points = sum(score.points[name] * values[name] for name in one.features)
        cost = points - reference
        if cost > 0:
            found.append(Reason(one.label, band_text(one, values), points, cost, one.features))
    return tuple(sorted(found, key=lambda reason: -reason.cost))


def checked_average(average: Mapping[str, float], points: Sequence[str]) -> dict[str, float]:
    """Mean points by feature, checked.

    Parameters
    ----------
    average : mapping from str to float
    points : sequence of str
        Features with points.

    Returns
    -------
    dict from str to float

    Raises
    ------
    TypeError, ValueError
        Features with points are missing, or it has others; anything but finite numbers.
    """
    if not isinstance(average, Mapping):
        raise TypeError(
            f"average must be the mean points by feature, as score.average_points(X) returns them, "
            f"got {average!r}"
        )
    wrong = sorted(set(points) ^ set(average))
    if wrong:
        raise ValueError(
            "average must have the mean points of the features with points and of no others; one "
            f"of both lacks {listing(map(repr, wrong))}"
        )
    return {name: checked_number(average[name], f"average of {name!r}") for name in points}


def checked_number_of_reasons(reasons: int | None) -> int:
    """Return the number of reasons of an export; ``ValueError`` if it is none."""
    if reasons is None:
        return 0
    if checked_integer(reasons, "reasons") < 1:
        raise ValueError(f"reasons must be at least 1, or None for none, got {reasons}")
    return int(reasons)
