"""Table of risks and sheet of a risk score, in all forms."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from riskslim.items.cutoffs import note_on_cutoffs
from riskslim.items.families import condition_families, note_on_sums
from riskslim.items.item import Item, variable_of
from riskslim.items.variables import note_on_missing, note_on_special
from riskslim.scale import PAPER_SCALE, scale_text
from riskslim.score.band import VariableBands
from riskslim.score.bands import bands_of
from riskslim.score.fields import check_known
from riskslim.score.labels import LabelLike, labels_of
from riskslim.score.layout import PointsShown, SheetLayout, ShownBy
from riskslim.score.lines import item_lines, turned_features
from riskslim.score.link import link_of
from riskslim.score.observations import observations_of
from riskslim.score.predictions import Predictions
from riskslim.score.scorecard import HigherIs, Scorecard, scorecard_of
from riskslim.score.sheet import ScoreSheet
from riskslim.score.table import (
    AttainableScores,
    RiskRow,
    checked_extreme,
    checked_max_rows,
    moved_rows,
    risk_rows,
)
from riskslim.score.typesetting import ScoreLine, one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self

__all__ = ["Presentation"]

# Risks below it, and above 1 minus it, are printed as bounds.
_EXTREME = 0.001
# Entries of the risk table on a sheet.
_MAX_ROWS = 30

# Labels that say no more than that there is an outcome: headlines leave them out.
_TRUE = ("1", "1.0", "true")

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
        by: ShownBy | None = None,
        points: PointsShown | None = None,
    ) -> ScoreSheet:
        """Write the words and numbers of a sheet on which people add up points.

        Parameters
        ----------
        X, y, sample_weight, extreme, max_rows
            As in :meth:`risk_table`. By default there are at most 30 entries.
        by : {"item", "variable"}, optional
            One line for each item, or one row for each variable with its bands, as scorecards
            have them: "< 66: 0, 66 to 70: 1, >= 71: 3". Default: the ``layout`` of the score.
        points : {"fitted", "non-negative"}, optional
            Points as they were fitted; or conditions with negative points turned round, so that
            the least that an item, or a variable, adds is 0. The scores on the sheet are then
            larger than those of :meth:`score_samples`, by a number that the sheet states; the
            risks are the same. Default: the ``layout`` of the score.

        Returns
        -------
        ScoreSheet
            What is rendered: as text by ``str``, and with ``to_markdown``, ``to_html``,
            ``to_latex`` and ``plot``. The methods of the score with these names render
            ``score.sheet()``.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`risk_table`; another ``by`` or ``points``.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-3, {"smoker": 2, "exercise": -1})
        >>> X = {"smoker": [1, 1, 1, 0, 0], "exercise": [0, 0, 1, 0, 0]}
        >>> print(score.sheet(X, [1, 0, 0, 0, 0], extreme=0.05))
        RISK SCORE: risk of outcome
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
        Risk: the probability that outcome = 1.
        Observed: share of rows with outcome = 1. Cases: number of such rows / of all rows.

        With conditions turned round, by variable:

        >>> sheet = score.sheet(by="variable", points="non-negative")
        >>> for one in sheet.variables:
        ...     print(one)
        smoker: no: 0, yes: 2
        exercise: no: 1, yes: 0
        """
        layout = self.layout.changed(by, points)
        lines: tuple[ScoreLine, ...] = ()
        variables: tuple[VariableBands, ...] = ()
        if layout.by == "variable":
            variables, shift = bands_of(self, layout.points)
        else:
            lines, shift = item_lines(self, layout.points)
        risks = self.risk_table(X, y, sample_weight, extreme=extreme, max_rows=max_rows)
        is_weighted = sample_weight is not None
        notes = [
            *self._of_risks(),
            *self._statements_of_risk(),
            *self._notes_on_points(layout, shift),
            *self._notes(risks, layout, is_weighted=is_weighted),
        ]
        return ScoreSheet(
            outcome=self._risk_in_words,
            lines=lines,
            variables=variables,
            risks=moved_rows(risks, 1, shift) if shift else risks,
            formula=self._formula(shift),
            notes=tuple(map(one_line, notes)),
            proof=tuple(map(one_line, self._proof())),
            requirements=tuple(self.requirements),
        )

    def bands(self, points: PointsShown | None = None) -> tuple[VariableBands, ...]:
        """List the points by variable: the ranges or levels of each that have the same points.

        Parameters
        ----------
        points : {"fitted", "non-negative"}, optional
            As in :meth:`sheet`.

        Returns
        -------
        tuple of VariableBands
            Those whose points differ most first. ``str`` of one is readable.

        Raises
        ------
        ValueError
            Another ``points``.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> from riskslim.items import read_items
        >>> points = {"age >= 66": 1, "age >= 71": 2, "sex = male": 1}
        >>> for one in RiskScore(-3, points, items=read_items(points)).bands():
        ...     print(one)
        age: < 66: 0, 66 to < 71: 1, >= 71: 3
        sex: male: 1, other: 0
        """
        return bands_of(self, self.layout.changed(None, points).points)[0]

    def scorecard(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        base_points: float = 600,
        base_odds: float = 50,
        pdo: float = 20,
        higher_is: HigherIs = "safer",
        extreme: float = _EXTREME,
        max_rows: int | None = _MAX_ROWS,
    ) -> Scorecard:
        """Write the score in the points of scorecards: 600 at odds of 50 to 1, 20 double them.

        Parameters
        ----------
        X, y, sample_weight, extreme, max_rows
            As in :meth:`sheet`.
        base_points : float, default 600
            The total at which the odds are ``base_odds``.
        base_odds : float, default 50
            Odds against the outcome where a higher total is safer, for it where it is riskier.
        pdo : float, default 20
            Points that double the odds. Those of the score itself are its scale times ln 2.
        higher_is : {"safer", "riskier"}, default "safer"
            Of a higher total, whether the risk is lower or higher.

        Returns
        -------
        Scorecard
            A sheet by variable with whole points, none of which is negative but for base points.
            Each total is a whole multiple of the score, plus a constant: totals are in the order of
            risks, and each has the risk that :meth:`predict_proba` gives, the same bits. In
            exchange odds and points that double them are as near to what is asked for as whole
            points allow; the sheet states them.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`sheet`; features with points are no conditions; numbers out of range; a
            ``pdo`` for which a fitted point would be worth less than half a point.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> from riskslim.items import read_items
        >>> points = {"age < 25": 2, "age < 35": 1, "defaulted before": 3}
        >>> score = RiskScore(-5, points, outcome_name="default", items=read_items(points))
        >>> card = score.scorecard(base_points=600, base_odds=50, pdo=20)
        >>> for one in card.variables:
        ...     print(one)
        Base points: 458
        defaulted before: no: 87, yes: 0
        age: < 25: 0, 25 to < 35: 58, >= 35: 87
        >>> for row in card.risks:
        ...     print(row.score, row.risk)
        458 73.1%
        516 26.9%
        545 11.9%
        603 1.8%
        632 0.7%
        >>> print(card.notes[0])
        600 points are odds of 49.23 to 1 against the outcome, and 20.1 points more double them
        (asked for: 50 to 1 and 20; points are whole). Total = 632 - 29 x the score of the fitted
        points, with the same risk.
        """
        sheet = self.sheet(
            X, y, sample_weight,
            extreme=extreme, max_rows=max_rows, by="variable", points="fitted",
        )  # fmt: skip
        return scorecard_of(
            self,
            dataclasses.replace(sheet, notes=tuple(self._notes_of_card(sheet.notes))),
            base_points=base_points,
            base_odds=base_odds,
            pdo=pdo,
            higher_is=higher_is,
        )

    def _notes_of_card(self, notes: tuple[str, ...]) -> Iterator[str]:
        """Return the notes of a sheet without the one on its points."""
        own = self._worth_of_a_point()
        return (note for note in notes if note != own)

    def _notes_on_points(self, layout: SheetLayout, shift: int) -> Iterator[str]:
        """Return what is to be said of the points that the sheet lists."""
        if layout.by == "item":
            turned = turned_features(self, layout.points)
            families = condition_families(self.points, self.feature_ranges, self.items)
            for family in families:
                # Of conditions that are turned round others hold together.
                if set(family.names).isdisjoint(turned):
                    if note := note_on_sums(family, self.items):
                        yield note
                elif len(family.names) > 1:
                    variable = variable_of(family.names[0], self.items)
                    yield f"Points of several conditions on {variable} add up."
        if shift:
            side = "above" if shift > 0 else "below"
            why = (
                "the points of each variable start at 0"
                if layout.by == "variable"
                else "conditions with negative points are turned round"
            )
            yield (
                f"Scores here are {abs(shift)} {side} those of the fitted points, since {why}. "
                "Risks are the same."
            )

    def _notes(
        self, risks: tuple[RiskRow, ...], layout: SheetLayout, *, is_weighted: bool
    ) -> Iterator[str]:
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
        if layout.by == "item":
            yield from self._notes_on_values(turned_features(self, layout.points))
        if not all(values.is_binary for values in self.feature_ranges.values()):
            yield "[a to b]: the values of the feature in the training data."

    def _proof(self) -> Iterator[str]:
        """Say what is proven: small print, since it is no help with adding up points."""
        if self.certificate is not None:
            yield str(self.certificate)
            if self.recalibration is not None:
                yield self.recalibration.note_on_certificate()

    @property
    def _risk_in_words(self) -> str:
        """Name the risk as a headline does."""
        if str(self.classes[1]).lower() in _TRUE:
            return f"risk of {self.outcome_name}"
        return f"probability that {self._positive}"

    def _statements_of_risk(self) -> Iterator[str]:
        """State exactly what a headline says in short."""
        if str(self.classes[1]).lower() in _TRUE:
            yield f"Risk: the probability that {self._positive}."

    def _notes_on_values(self, turned: Container[str]) -> Iterator[str]:
        """Say how missing and special values count, where conditions do not say it themselves."""
        for name, variable in self.variables.items():
            features = self._computed_from(name)
            kept = {one: item for one, item in features.items() if one not in turned}
            if note := note_on_missing(variable, kept):
                yield note
            if note := note_on_special(variable, kept):
                yield note

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
        """Write the sheet in Markdown.

        As :meth:`~riskslim.score.sheet.ScoreSheet.to_markdown` of :meth:`sheet`.

        Returns
        -------
        str
        """
        return self.sheet().to_markdown()

    def to_html(self) -> str:
        """Write the sheet as a fragment of HTML.

        As :meth:`~riskslim.score.sheet.ScoreSheet.to_html` of :meth:`sheet`.

        Returns
        -------
        str
        """
        return self.sheet().to_html()

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_latex(self) -> str:
        """Write the sheet in LaTeX.

        As :meth:`~riskslim.score.sheet.ScoreSheet.to_latex` of :meth:`sheet`.

        Returns
        -------
        str
        """
        return self.sheet().to_latex()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the sheet: :meth:`~riskslim.score.sheet.ScoreSheet.plot` of :meth:`sheet`.

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

    def with_labels(self, labels: Mapping[str, LabelLike]) -> Self:
        """Say what variables, features and levels are called on sheets, and what they count.

        Parameters
        ----------
        labels : mapping from str to str, Label or mapping
            By raw column or feature: a text; or :class:`~riskslim.score.labels.Label`, or a
            mapping, with ``text``, ``unit`` and ``levels``. Labels that the score has of other
            names stay.

        Returns
        -------
        RiskScore
            The same score; predictions, files of data, requirements and remarks of the fit know
            the names as they are.

        Raises
        ------
        TypeError, ValueError
            Names that the score does not have; labels that are no text.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> from riskslim.items import read_items
        >>> points = {"age >= 66": 1, "sex = m": 1}
        >>> score = RiskScore(-3, points, items=read_items(points)).with_labels(
        ...     {
        ...         "age": {"text": "Age", "unit": "years"},
        ...         "sex": {"text": "Sex", "levels": {"m": "male", "other": "female"}},
        ...     }
        ... )
        >>> for one in score.bands():
        ...     print(one)
        Age (years): < 66: 0, >= 66: 1
        Sex: male: 1, female: 0
        """
        return self._replaced(labels={**self.labels, **labels_of(labels)})

    def with_layout(self, *, by: ShownBy | None = None, points: PointsShown | None = None) -> Self:
        """Choose how sheets of the score list its points where nothing else is said.

        Parameters
        ----------
        by, points
            As in :meth:`sheet`; None leaves it as it is.

        Returns
        -------
        RiskScore
            The same score with the same predictions; reports and files have the layout, too.

        Raises
        ------
        ValueError
            Something else.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(1, {"exercise": -2}).with_layout(points="non-negative")
        >>> for k in (2, -3, -1):
        ...     print(str(score).splitlines()[k])
        | 1. exercise: no | 2 points |   ... |
        risk = 1 / (1 + exp(1 - score))
        Scores here are 2 above those of the fitted points, since conditions with negative points
        are turned round. Risks are the same.
        """
        return self._replaced(layout=self.layout.changed(by, points))

    def with_dummies(self, groups: Mapping[str, Mapping[str, Any]]) -> Self:
        """State that features are levels of a variable, so that one row shows them together.

        Parameters
        ----------
        groups : mapping from str to mapping from str to object
            By variable: its features of 0 and 1, each with its level.

        Returns
        -------
        RiskScore
            With ``items`` for the features that have points: of the levels of one variable one at
            most holds.

        Raises
        ------
        ValueError
            Features that the score does not have, that are not 0 or 1, or of which something is
            stated already.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-2, {"ward_icu": 2, "ward_er": 1})
        >>> grouped = score.with_dummies({"ward": {"ward_icu": "ICU", "ward_er": "ER"}})
        >>> print(*grouped.bands(), len(score.risk_table()), len(grouped.risk_table()))
        ward: ICU: 2, ER: 1, other: 0 4 3
        """
        return self._replaced(items={**self.items, **self._items_of_dummies(groups)})

    def _items_of_dummies(self, groups: Mapping[str, Mapping[str, Any]]) -> dict[str, Item]:
        found = {}
        for variable, levels in groups.items():
            check_known(levels, tuple(self.feature_names), f"groups[{variable!r}]")
            for name, level in levels.items():
                known = self.feature_ranges.get(name)
                if name in found or (name in self.items and self.items[name].is_condition):
                    raise ValueError(f"groups[{variable!r}]: it is stated already what {name!r} is")
                if known is None:
                    continue  # without points
                if not known.is_binary:
                    raise ValueError(f"groups[{variable!r}]: {name!r} is not 0 or 1")
                found[name] = Item(name, variable, "=", level)
        return found

    def _formula(self, shift: int = 0) -> str:
        """The risk of a score that is larger than that of the record by a shift."""
        link = link_of(self)
        link = dataclasses.replace(link, intercept=link.intercept - shift)
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
