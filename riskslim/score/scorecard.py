r"""A score in the points of scorecards: so many at some odds, so many more where the odds double.

A score s has the log-odds :math:`(\lambda_0 + s) / m`, so that s points more double the odds where
:math:`s = m \ln 2`: a score has "points to double the odds" (PDO) already, and a scorecard has
others. Each of its points is a whole multiple k of a fitted one, and the sum is

.. math::

    T = B \pm k s, \qquad k = \max(1, \mathrm{round}(\mathrm{PDO} / (m \ln 2))),

with a whole number B. So there is one total for each score, in the same (or the reverse) order, and
its risk is that of the score to the last bit. The price of whole numbers is paid by the PDO
:math:`k m \ln 2` and by the odds at the base points, which are next to what was asked for, and
stated; points rounded one by one would have several risks for one total.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import checked_integer, checked_number
from riskslim._wording import listing
from riskslim._writing import csv_text
from riskslim.score.band import Band, VariableBands
from riskslim.score.bands import bands_of
from riskslim.score.lines import shift_of
from riskslim.score.link import link_of
from riskslim.score.operating_point import number_text
from riskslim.score.presentation import sheet as sheet_of
from riskslim.score.presentation import worth_of_a_point
from riskslim.score.sheet import ScoreSheet
from riskslim.score.table import RiskScale, logistic, moved_rows

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["HigherIs", "Scorecard", "scorecard_of"]

HigherIs: TypeAlias = Literal["safer", "riskier"]

# Totals remain exact in all forms of a score.
_MOST = 10**9
BASE_POINTS, BASE_ODDS, PDO = 600, 50, 20


@dataclasses.dataclass(frozen=True)
class Scorecard(ScoreSheet):
    """A sheet in the points of scorecards: ``print`` it, or render it as any other sheet.

    Parameters
    ----------
    outcome, lines, risks, formula, notes, requirements, variables, proof
        As in :class:`~riskslim.score.sheet.ScoreSheet`; the first of ``variables`` has the points
        that every record starts with.
    factor : int
        What a fitted point is worth: negative where a higher total is a lower risk.
    offset : int
        The total of a record with the score 0, as :meth:`RiskScore.score_samples` computes it.
    pdo : float
        Points that double the odds, as they are with whole points.
    odds_at_base : float
        Odds at the base points that were asked for, or at the lowest total of a span: against the
        outcome where a higher total is safer, else for it.
    link : RiskScale
        From scores to risks.
    """

    factor: int = 1
    offset: int = 0
    pdo: float = math.nan
    odds_at_base: float = math.nan
    link: RiskScale = dataclasses.field(default_factory=lambda: RiskScale(0, 1.0))

    @property
    def base(self) -> int:
        """The points that every record starts with."""
        return self.variables[0].bands[0].points

    def to_csv(self, *, formulas: bool = True) -> str:
        """Write the points as CSV, a line for each band.

        Parameters
        ----------
        formulas : bool, default True
            False: text that spreadsheets would compute, such as a level "=1+1", gets an apostrophe
            before it.

        Returns
        -------
        str
            With the columns variable (the raw column, or a feature), label, condition and points;
            the base points first. Conditions are those of the sheet.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> print(RiskScore(-3, {"smoker": 2}).scorecard().to_csv())
        variable,label,condition,points
        ,Base points,,516
        smoker,smoker,no,58
        smoker,smoker,yes,0
        <BLANKLINE>
        """
        lines = [
            [one.variable, one.label, band.condition, band.points]
            for one in self.variables
            for band in one.bands
        ]
        return csv_text([["variable", "label", "condition", "points"], *lines], formulas=formulas)

    def totals(self, scores: Any) -> NDArray[np.int64]:
        """Return the totals of scores.

        Parameters
        ----------
        scores : array-like of int, shape (n,)
            As :meth:`RiskScore.score_samples` computes them.

        Returns
        -------
        ndarray of int64, shape (n,)

        Raises
        ------
        TypeError
            Scores of another type, such as an empty list, which has none.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-3, {"smoker": 2})
        >>> card = score.scorecard(pdo=20, base_points=600, base_odds=50)
        >>> card.totals(score.score_samples({"smoker": [0, 1]}))
        array([574, 516])
        """
        whole = np.asarray(scores)
        if whole.dtype.kind not in "iu":
            raise TypeError(f"scores must be integers, got the type {whole.dtype}")
        return np.asarray(self.factor * whole.astype(np.int64) + self.offset)

    def risk(self, totals: Any) -> NDArray[np.float64]:
        """Return the risks of totals: those of the scores that they stand for, bit by bit.

        Parameters
        ----------
        totals : array-like of int, shape (n,)

        Returns
        -------
        ndarray of float64, shape (n,)

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-3, {"smoker": 2})
        >>> card = score.scorecard(pdo=20, base_points=600, base_odds=50)
        >>> card.risk([574, 516]).round(3), score.predict_proba({"smoker": [0, 1]})[:, 1].round(3)
        (array([0.047, 0.269]), array([0.047, 0.269]))
        """
        scores = (np.asarray(totals, dtype=np.float64) - self.offset) / self.factor
        return logistic(self.link.log_odds(scores))


def scorecard_of(
    score: RiskScore,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    *,
    base_points: float,
    base_odds: float,
    pdo: float,
    higher_is: HigherIs,
    span: tuple[int, int] | None,
    extreme: float,
    max_rows: int | None,
) -> Scorecard:
    """Write a score in the points of scorecards, as :meth:`riskslim.RiskScore.scorecard` says."""
    shift = shift_of(score)
    score = score.with_layout(by="variable", points="fitted")
    sheet = sheet_of(score, X, y, sample_weight, extreme=extreme, max_rows=max_rows)
    _check_conditions(score)
    if higher_is not in ("safer", "riskier"):
        raise ValueError(f"higher_is must be 'safer' or 'riskier', got {higher_is!r}")
    sign = -1 if higher_is == "safer" else 1
    link, bands = link_of(score), [*bands_of(score)[0]]
    if span is None:
        wanted = checked_number(base_points, "base_points")
        odds = _positive(base_odds, "base_odds")
        worth = _worth_of_a_point(_positive(pdo, "pdo"), link.scale)
        offset = wanted + worth * (sign * link.intercept - link.scale * math.log(odds))
        if not max(abs(offset), worth * sum(map(abs, score.points.values()))) <= _MOST:
            raise ValueError(
                f"base_points={base_points!r}, base_odds={base_odds!r} and pdo={pdo!r} give totals "
                f"beyond {_MOST:,}"
            )
        start = round(offset)
        note = functools.partial(_note, wanted=wanted, odds=odds, pdo=pdo)
    else:
        if (base_points, base_odds, pdo) != (BASE_POINTS, BASE_ODDS, PDO):
            raise ValueError("span takes the place of base_points, base_odds and pdo")
        wanted, highest = _checked_span(span)
        ends = sum(one.least for one in bands), sum(one.most for one in bands)
        worth = _worth_within(highest - wanted, ends[1] - ends[0])
        start = wanted - sign * worth * ends[sign < 0]
        reached = wanted + worth * (ends[1] - ends[0])
        note = functools.partial(_note_on_span, asked=(wanted, highest), reached=reached)
    factor = sign * worth
    bands = [one.moved(factor, 0) for one in bands]
    base = start + sum(one.least for one in bands)
    bands = [one.moved(1, -one.least) for one in bands]
    at_base = _exp((sign * link.intercept + (wanted - start) / worth) / link.scale)
    card = Scorecard(
        outcome=sheet.outcome,
        lines=(),
        risks=moved_rows(sheet.risks, factor, start),
        formula=_formula(link, factor, start),
        variables=(_base_row(base), *bands),
        requirements=sheet.requirements,
        proof=sheet.proof,
        rule=_rule(score, sheet.rule, factor, start),
        factor=factor,
        offset=start - factor * shift,
        pdo=worth * link.scale * math.log(2),
        odds_at_base=at_base,
        link=dataclasses.replace(link, shift=shift),
    )
    own = worth_of_a_point(score)  # which is said of the points that the card has
    notes = [note for note in sheet.notes if note != own]
    return dataclasses.replace(card, notes=(note(card), *notes))


def _rule(score: RiskScore, rule: tuple[str, ...], factor: int, start: int) -> tuple[str, ...]:
    """The same rule about totals: low ones are positive where a higher total is safer."""
    if score.operating_point is None:
        return rule
    total = number_text(factor * score.operating_point.threshold + start)
    return (f"Total of {total} or {'less' if factor < 0 else 'more'}: positive.", *rule[1:])


def _check_conditions(score: RiskScore) -> None:
    others = [name for name, values in score.feature_ranges.items() if not values.is_binary]
    if others:
        raise ValueError(
            f"a scorecard has points for bands of values, but {listing(map(repr, others))} "
            f"{'is' if len(others) == 1 else 'are'} multiplied by points: make conditions of "
            "numbers (ItemEncoder) and fit again"
        )


def _positive(number: float, what: str) -> float:
    if not 0 < checked_number(number, what) < math.inf:
        raise ValueError(f"{what} must be a positive number, got {number!r}")
    return float(number)


def _worth_of_a_point(pdo: float, scale: float) -> int:
    """Whole points of the scorecard for each fitted one."""
    exact = pdo / (scale * math.log(2))
    if not exact <= _MOST:
        raise ValueError(f"pdo={pdo!r} gives totals beyond {_MOST:,}")
    if exact < 0.5:
        raise ValueError(
            f"pdo={pdo!r} is too small: a fitted point is worth one point at least, so that the "
            f"odds double with {scale * math.log(2):.4g} points or more"
        )
    return round(exact) or 1


def _exp(log_odds: float) -> float:
    return math.exp(log_odds) if log_odds < 709 else math.inf


def _base_row(points: int) -> VariableBands:
    return VariableBands("", "Base points", None, (), (Band("", points, ((),)),))


def _formula(link: RiskScale, factor: int, start: int) -> str:
    even = start - factor * link.intercept
    width = f"{abs(factor) * link.scale:.6g}"
    center = f"{even:.10g}"
    inner = f"score - {center}" if factor < 0 else f"{center} - score"
    if even < 0:
        inner = f"score + {center[1:]}" if factor < 0 else f"-{center[1:]} - score"
    return f"risk = 1 / (1 + exp(({inner}) / {width}))"


def _checked_span(span: tuple[int, int]) -> tuple[int, int]:
    """The lowest and the highest total that are asked for."""
    if not isinstance(span, (tuple, list)) or len(span) != 2:
        raise TypeError(f"span must be two whole numbers, such as (300, 850), got {span!r}")
    lowest, highest = (checked_integer(one, "an end of span") for one in span)
    if not -_MOST <= lowest < highest <= _MOST:
        raise ValueError(f"span must be from a lower to a higher total, got {span!r}")
    return lowest, highest


def _worth_within(room: int, width: int) -> int:
    """Whole points for each fitted one, the most with which scores of a width fit into a span."""
    if width > room:
        raise ValueError(
            f"a span of {room} points is too narrow for scores that differ by up to {width}: give "
            "a wider one"
        )
    return room // width if width else 1


def _note(card: Scorecard, wanted: float, odds: float, pdo: float) -> str:
    """Say what whole points made of the odds and of the points that double them."""
    side = "against" if card.factor < 0 else "for"
    return (
        f"{wanted:g} points are odds of {card.odds_at_base:.4g} to 1 {side} the outcome, and "
        f"{card.pdo:.4g} points more double them (asked for: {odds:g} to 1 and {pdo:g}; points are "
        f"whole). {_total(card)}"
    )


def _note_on_span(card: Scorecard, asked: tuple[int, int], reached: int) -> str:
    """Say what whole points made of the ends, and what that makes of the odds."""
    side = "against" if card.factor < 0 else "for"
    return (
        f"Totals are from {asked[0]} to {reached} (asked for: {asked[0]} to {asked[1]}; points are "
        f"whole). {asked[0]} points are odds of {card.odds_at_base:.4g} to 1 {side} the "
        f"outcome, and {card.pdo:.4g} points more double them. {_total(card)}"
    )


def _total(card: Scorecard) -> str:
    sign = "-" if card.factor < 0 else "+"
    return f"Total = {card.offset} {sign} {abs(card.factor)} x the score, with the same risk."
