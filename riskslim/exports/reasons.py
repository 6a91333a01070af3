"""Reasons in exports: which terms belong to a variable, and what they are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from riskslim.score.explanation import fixed_features
from riskslim.score.reason_codes import checked_average, checked_number_of_reasons, references

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["VariableCost", "costs_of"]


class VariableCost(NamedTuple):
    """A variable whose points are compared with those of others.

    Attributes
    ----------
    label : str
        What it is called as a reason.
    terms : tuple of int
        Numbers of its terms, in the order of the points of the score.
    reference : float
        The points that it is compared with.
    """

    label: str
    terms: tuple[int, ...]
    reference: float


def costs_of(
    score: RiskScore,
    reasons: int | None,
    average: Mapping[str, float] | None,
    best: str | None = None,
    fixed: Sequence[str] = (),
) -> tuple[int, list[VariableCost]]:
    """List the variables that can be reasons, in the order in which ties are broken.

    Parameters
    ----------
    score : RiskScore
    reasons : int or None
        How many an export gives.
    average : mapping from str to float or None
        Mean points by feature; None compares with the least points.
    best : {"measured", "any"} or None
        Of which values; None for measured ones.
    fixed : sequence of str, default ()
        Features or variables that cannot change, and are no reasons.

    Returns
    -------
    int
        How many; 0 for none.
    list of VariableCost

    Raises
    ------
    TypeError, ValueError
        A number below 1; averages of other features; ``average``, ``best`` or ``fixed`` without
        ``reasons``; ``average`` and ``best``; another ``best``; unknown names that are ``fixed``.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.exports.reasons import costs_of
    >>> costs_of(RiskScore(-3, {"smoker": 2, "exercise": -1}), 4, None)[1]
    [VariableCost(label='smoker', terms=(0,), reference=0),
    VariableCost(label='exercise', terms=(1,), reference=-1)]
    """
    wanted = checked_number_of_reasons(reasons)
    if not wanted:
        for name, value in (("average", average), ("best", best), ("fixed", fixed or None)):
            if value is not None:
                raise ValueError(f"{name} is for reasons: pass their number as well (reasons=4)")
        return 0, []
    if average is not None and best is not None:
        raise ValueError("average and best are two ways to compare points: pass one of them")
    against = None if average is None else checked_average(average, tuple(score.points))
    number = {name: k for k, name in enumerate(score.points)}
    stays = fixed_features(score, fixed)
    compared = references(score, against, best or "measured", stays)  # type: ignore[arg-type]  # checked there
    found = [
        VariableCost(one.label, tuple(number[name] for name in one.features), reference)
        for one, reference in compared
    ]
    if fixed and not found:
        raise ValueError("fixed names all variables of the score: none is left to be a reason")
    return wanted, found
