"""Table of risks and sheet of a risk score, in all forms."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from riskslim.items.cutoffs import note_on_cutoffs
from riskslim.items.families import condition_families, note_on_sums
from riskslim.items.item import Item
from riskslim.items.variables import note_on_missing, note_on_special
from riskslim.scale import PAPER_SCALE, scale_text
from riskslim.score.fields import check_known
from riskslim.score.link import link_of
from riskslim.score.observations import observations_of
from riskslim.score.predictions import Predictions
from riskslim.score.sheet import ScoreSheet
from riskslim.score.table import (
    AttainableScores,
    RiskRow,
    checked_extreme,
    checked_max_rows,
    risk_rows,
)
from riskslim.score.typesetting import one_line, score_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self

__all__ = ["Presentation"]

# Risks below it, and above 1 minus it, are printed as bounds.
_EXTREME = 0.001
# Entries of the risk table on a sheet.
_MAX_ROWS = 30

# Units of log-odds per point for which it is said what the point does to the odds.
_LEAST_POINT, _MOST_POINT = 0.001, 10.0


def _notes_on_scores(risks: tuple[RiskRow, ...], attainable: AttainableScores) -> Iterator[str]:
    """Return what the entries of a risk table do not say of the scores that they are for."""
    has_data = risks[0].n_samples is not None
    if any(" to " in row.score and not row.highest.is_integer() for row in risks):
        yield "Scores a to b: from a up to, but not including, b."
    elif not has_data and _skips_scores(risks, attainable):
        yield "The table shows some of the scores: between them, use the formula."


def _skips_scores(risks: tuple[RiskRow, ...], attainable: AttainableScores) -> bool:
    if not attainable.are_integers:
        return True
    gaps = (after.lowest - row.highest for row, after in itertools.pairwise(risks))
    return attainable.enumerated() is None and any(gap > 1 for gap in gaps)


class Presentation(Predictions):
    """The methods of a risk score that show it."""

    def risk_table(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        extreme: float = _EXTREME,
        max_rows: int | None = None,
    ) -> tuple[RiskRow, ...]:
        """List the risk of every attainable score, and with data what was observed.

        Where all features with points are integers with few values, the scores are all sums that
        their values in the training data allow, without conditions that contradict each
        other, such as "age >= 60" without "age >= 40"; those with a risk below 0.1% share one
        entry, and so do those above 99.9%. With other features the entries are
        for scores at equal steps, from a risk of 0.1% to one of 99.9% or
        to the ends of what the training data allow. The larger the scale, the further apart
        are these scores.

        With data every row has an entry: scores that only the data have are listed as well, and
        where scores are not enumerated, the entries are for all scores from one step to the next.

        Parameters
        ----------
        X, optional
            Rows, as in :meth:`score_samples`.
        y : array-like of shape (n,), optional
            Their labels, which must be those in ``classes``. Given with X.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of the rows. Without them all rows weigh the same.
        extreme : float, default 0.001
            Risks below it are printed as "<0.1%", those above 1 minus it as ">99.9%".
        max_rows : int, optional
            Most entries, at least 5: more scores are put into groups such as "2 to 5". By default
            scores have entries of their own however many they are.

        Returns
        -------
        tuple of RiskRow
            In order of the score.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`score_samples`; X is given without y or the reverse; y has labels that
            are not in ``classes``; weights are negative or not finite; there are no rows;
            ``extreme`` or ``max_rows`` is out of range.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-3, {"smoker": 2, "exercise": -1})
        >>> for row in score.risk_table():
        ...     print(row.score, row.risk)
        -1 1.8%
        0 4.7%
        1 11.9%
        2 26.9%
        >>> X = {"smoker": [1, 1, 1, 0, 0], "exercise": [0, 0, 1, 0, 0]}
        >>> for row in score.risk_table(X, [1, 0, 0, 0, 0]):
        ...     print(row.score, row.risk, row.observed, row.n_positive, row.n_samples)
        -1 1.8% None 0 0
        0 4.7% 0.0 0 2
        1 11.9% 0.0 0 1
        2 26.9% 0.5 1 2
        """
        return risk_rows(
            self._attainable,
            link_of(self),
            extreme=checked_extreme(extreme),
            max_rows=checked_max_rows(max_rows),
            observations=observations_of(self, X, y, sample_weight),
        )

    @property
    def _attainable(self) -> AttainableScores:
        return AttainableScores(self.points, self.feature_ranges, self.items)

    def __str__(self) -> str:
        return str(self.sheet())

    def sheet(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        extreme: float = _EXTREME,
        max_rows: int | None = _MAX_ROWS,
    ) -> ScoreSheet:
        """Write the words and numbers of a sheet on which people add up points.

        Parameters
        ----------
        X, y, sample_weight, extreme, max_rows
            As in :meth:`risk_table`. By default there are at most 30 entries.

        Returns
        -------
        ScoreSheet
            What is rendered: as text by ``str``, and with ``to_markdown``, ``to_html``,
            ``to_latex`` and ``plot``. The methods of the score with these names render
            ``score.sheet()``.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`risk_table`.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-3, {"smoker": 2, "exercise": -1})
        >>> X = {"smoker": [1, 1, 1, 0, 0], "exercise": [0, 0, 1, 0, 0]}
        >>> print(score.sheet(X, [1, 0, 0, 0, 0], extreme=0.05))
        RISK SCORE: probability that outcome = 1
        +----------------------------+-----------+-------+
        | 1. smoker                  |  2 points |   ... |
        | 2. exercise                | -1 point  | + ... |
        +----------------------------+-----------+-------+
        |    ADD THE POINTS OF ROWS 1 TO 2 SCORE | = ... |
        +----------------------------+-----------+-------+
        <BLANKLINE>
        +----------+------+-------+-------+
        | SCORE    | <= 0 |     1 |     2 |
        | RISK     |  <5% | 11.9% | 26.9% |
        | OBSERVED | 0.0% |  0.0% | 50.0% |
        | CASES    |  0/2 |   0/1 |   1/2 |
        +----------+------+-------+-------+
        risk = 1 / (1 + exp(3 - score))
        Observed: share of rows with outcome = 1. Cases: number of such rows / of all rows.
        """
        risks = self.risk_table(X, y, sample_weight, extreme=extreme, max_rows=max_rows)
        return ScoreSheet(
            outcome=f"probability that {self._positive}",
            lines=tuple(
                score_line(name, points, self.feature_ranges[name])
                for name, points in self.points.items()
            ),
            risks=risks,
            formula=self._formula(),
            notes=tuple(
                one_line(note) for note in self._notes(risks, is_weighted=sample_weight is not None)
            ),
            requirements=tuple(self.requirements),
        )

    def _notes(self, risks: tuple[RiskRow, ...], *, is_weighted: bool) -> Iterator[str]:
        yield from self._of_risks()
        for family in condition_families(self.points, self.feature_ranges, self.items):
            if note := note_on_sums(family, self.items):
                yield note
        chosen = self.certificate is not None and self.certificate.scales != PAPER_SCALE
        if chosen or link_of(self).scale != 1.0:
            yield self._worth_of_a_point()
        yield from _notes_on_scores(risks, self._attainable)
        if risks[0].n_samples is not None:
            share = "share, by weight," if is_weighted else "share"
            yield (
                f"Observed: {share} of rows with {self._positive}. "
                "Cases: number of such rows / of all rows."
            )
        if note := self._note_on_cutoffs():
            yield note
        for name, variable in self.variables.items():
            if note := note_on_missing(variable, self._computed_from(name)):
                yield note
            if note := note_on_special(variable, self._computed_from(name)):
                yield note
        if not all(values.is_binary for values in self.feature_ranges.values()):
            yield "[a to b]: the values of the feature in the training data."
        if self.certificate is not None:
            yield str(self.certificate)
            if self.recalibration is not None:
                yield self.recalibration.note_on_certificate(self.intercept)

    def _note_on_cutoffs(self) -> str:
        items = [self.items[name] for name in self.points if name in self.items]
        return note_on_cutoffs(items, [self.variables.get(item.variable) for item in items])

    def _computed_from(self, variable: str) -> dict[str, Item | None]:
        """Features with points that are computed from a raw column, and what they are."""
        items = {name: self.items.get(name) for name in self.points}
        return {
            name: item
            for name, item in items.items()
            if name == variable or (item is not None and item.variable == variable)
        }

    def to_markdown(self) -> str:
        """Write the sheet in Markdown: :meth:`ScoreSheet.to_markdown` of :meth:`sheet`.

        Returns
        -------
        str
        """
        return self.sheet().to_markdown()

    def to_html(self) -> str:
        """Write the sheet as a fragment of HTML: :meth:`ScoreSheet.to_html` of :meth:`sheet`.

        Returns
        -------
        str
        """
        return self.sheet().to_html()

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_latex(self) -> str:
        """Write the sheet in LaTeX: :meth:`ScoreSheet.to_latex` of :meth:`sheet`.

        Returns
        -------
        str
        """
        return self.sheet().to_latex()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the sheet: :meth:`ScoreSheet.plot` of :meth:`sheet`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw, by default in a new figure.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        return self.sheet().plot(ax)

    def with_units(self, units: Mapping[str, str | None]) -> Self:
        """Say what the values of features count.

        Parameters
        ----------
        units : mapping from str to str
            Unit per feature, as in :class:`FeatureRange`; None removes it. Features without
            points are ignored, since nothing is printed of them.

        Returns
        -------
        RiskScore
            The same score, printed with "x 2 points per Hz" in place of "2 points x value".

        Raises
        ------
        TypeError, ValueError
            Features that are not in ``feature_names``, units that are no text, empty, or of
            a feature that is 0 or 1.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> from riskslim.risk_score import FeatureRange
        >>> ranges = {"frequency": FeatureRange(0, 3)}
        >>> score = RiskScore(-3, {"frequency": 2}, feature_ranges=ranges)
        >>> print(str(score.with_units({"frequency": "Hz"})).splitlines()[2])
        | 1. frequency [0 to 3 Hz] | x 2 points per Hz |   ... |
        """
        check_known(units, tuple(self.feature_names), "units")
        ranges = dict(self.feature_ranges)
        for name in units:
            if name in ranges:
                try:
                    ranges[name] = dataclasses.replace(ranges[name], unit=units[name])
                except (TypeError, ValueError) as error:
                    raise type(error)(f"units[{name!r}]: {error}") from None
        return self._replaced(feature_ranges=ranges)

    def _formula(self) -> str:
        link = link_of(self)
        if link.scale != 1.0:
            sign = "-" if link.intercept < 0 else "+"
            sum_of_all = "score"
            if link.intercept:
                sum_of_all = f"(score {sign} {self._printed(abs(link.intercept))})"
            return f"risk = 1 / (1 + exp(-{sum_of_all} / {self._printed(link.scale)}))"
        if link.intercept == 0:
            return "risk = 1 / (1 + exp(-score))"
        return f"risk = 1 / (1 + exp({self._printed(-link.intercept)} - score))"

    def _printed(self, number: float) -> str:
        """Intercept or scale for people: fitted ones have more digits than a sheet has use for."""
        return scale_text(number) if self.recalibration is None else f"{number:.6g}"

    def _worth_of_a_point(self) -> str:
        scale = link_of(self).scale
        worth = 1.0 / scale
        text = f"Scale {self._printed(scale)}: one point adds {worth:.4g} to the log-odds"
        if _LEAST_POINT <= worth <= _MOST_POINT:
            text += f" and multiplies the odds by {math.exp(worth):.4g}"
        return f"{text}."
