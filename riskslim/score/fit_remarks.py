"""Remarks of a fit on its score, kept with the score: of what the score alone no longer shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from riskslim.score.naming import outcome_text
from riskslim.score.typesetting import one_line

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["checked_remarks", "remarks_at_fit", "remarks_from_plain"]


def checked_remarks(given: Iterable[str]) -> tuple[str, ...]:
    """Refuse what are no remarks.

    Parameters
    ----------
    given : iterable of str

    Returns
    -------
    tuple of str

    Raises
    ------
    TypeError
        One text in place of several, or something that is no text.
    """
    if isinstance(given, str):
        raise TypeError(f"fit_remarks must be texts, not one str, got {given!r}")
    found = tuple(given)
    wrong = [one for one in found if not isinstance(one, str)]
    if wrong:
        raise TypeError(f"fit_remarks must be texts, got {wrong[0]!r}")
    return found


def remarks_from_plain(plain: Any) -> tuple[str, ...]:
    """Remarks as they stand in a file.

    Raises
    ------
    ValueError
        Something else than a list of texts.
    """
    if not isinstance(plain, list):
        raise ValueError(f"'fit_remarks' must be a list, got {plain!r}")
    for k, one in enumerate(plain):
        if not isinstance(one, str):
            raise ValueError(f"entry {k} of 'fit_remarks' must be a text, got {one!r}")
    return tuple(plain)


def remarks_at_fit(score: RiskScore) -> tuple[str, ...]:
    """Say what the fit said of a score, and that it was then.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    tuple of str
        Each in one line. Without what weights of classes do to risks, which is said of the score as
        it is.

    Examples
    --------
    >>> from riskslim import Certificate, RiskScore, Status
    >>> from riskslim.score.fit_remarks import remarks_at_fit
    >>> certificate = Certificate(Status.OPTIMAL, 0.4, 0.39, 1, 0.4, 0.0, 0.0, "example", 99)
    >>> remarks = ["At a bound of the coefficient set: 'smoker' (5)."]
    >>> score = RiskScore(-1, {"smoker": 5}, certificate=certificate, fit_remarks=remarks)
    >>> remarks_at_fit(score)
    ("At the fit: At a bound of the coefficient set: 'smoker' (5).",)
    """
    weighting, of_weights = score.class_weighting, ""
    if weighting is not None:
        of_weights = weighting.describe(outcome_text(score))
    when = "At the fit"
    if score.recalibration is not None:
        when += ", before the risks were recalibrated"
    if score.layout.points != "fitted":
        when += ", of the points as fitted"
    return tuple(f"{when}: {one_line(text)}" for text in score.fit_remarks if text != of_weights)
