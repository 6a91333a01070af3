"""A record in the words and points of the sheet: its items or bands, and what would change them.

An explanation that counts in other points than the sheet on which it was added up explains another
total. So the points of a record are listed as the sheet lists them, turned conditions and bands
included, and add up to the total of the sheet.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from riskslim._wording import listing
from riskslim.data.feature_ranges import short
from riskslim.score.bands import bands_of
from riskslim.score.lines import item_line, turned_features
from riskslim.score.naming import feature_text, label_of, no_text, opposite_text

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore
    from riskslim.score.band import VariableBands

__all__ = ["RecordWords", "ShownPoints", "band_text"]


class ShownPoints(NamedTuple):
    """Points that a row of the sheet adds to the total of a record.

    Attributes
    ----------
    item : str
        The item or variable, as the sheet calls it: "age < 60", "Age".
    value : str
        The value of the record: "yes", "66 to 70".
    points : int or float
    worth : str
        The points of the item in words: "2 points"; empty of bands.
    features : tuple of str
        The features that the points come from.
    """

    item: str
    value: str
    points: float
    worth: str
    features: tuple[str, ...]

    def __str__(self) -> str:
        label = f"{self.item}: {self.value}"
        return f"{label} ({self.worth})" if self.worth else label


class RecordWords:
    """The words of a sheet for one record.

    Parameters
    ----------
    score : RiskScore
        Its ``layout`` is that of the sheet.
    values : mapping from str to int or float
        Values of the features with points.
    measured : collection of str, default ()
        Raw columns in which the record is known to have a number: of bands that the features do
        not tell apart, it is in the one of numbers.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.score.record_words import RecordWords
    >>> score = RiskScore(-1, {"age < 60": -2, "smoker": 1}).with_layout(points="non-negative")
    >>> words = RecordWords(score, {"age < 60": 0, "smoker": 1})
    >>> for one in words.rows():
    ...     print(one.points, one)
    2 age >= 60: yes (2 points)
    1 smoker: yes (1 point)
    >>> words.change({"age < 60": 1})
    'age >= 60: no in place of yes'
    """

    def __init__(
        self, score: RiskScore, values: Mapping[str, float], measured: Collection[str] = ()
    ) -> None:
        self._score, self._values, self._measured = score, values, measured
        self.by = score.layout.by
        self._turned = () if self.by == "variable" else turned_features(score, score.layout.points)
        self._bands: dict[str, VariableBands] = {}
        if self.by == "variable":
            self._bands = {
                name: one for one in bands_of(score, "fitted")[0] for name in one.features
            }

    def rows(self) -> tuple[ShownPoints, ...]:
        """List what each row of the sheet adds, those that add most first.

        Returns
        -------
        tuple of ShownPoints
            Their points add up to the score of the record.
        """
        if self.by == "variable":
            variables = dict.fromkeys(one.features for one in self._bands.values())
            rows = [self._row_of(self._bands[features[0]]) for features in variables]
        else:
            # As on the sheet, turned conditions with the points that they have there.
            worth = {
                name: points * (-1 if name in self._turned else 1)
                for name, points in self._score.points.items()
            }
            rows = [self._row(name) for name in sorted(worth, key=lambda name: -worth[name])]
        return tuple(sorted(rows, key=lambda row: -abs(row.points)))

    def change(self, after: Mapping[str, float]) -> str:
        """Say what changes on the sheet.

        Parameters
        ----------
        after : mapping from str to int or float
            Other values of features on one variable, the one that is meant first.

        Returns
        -------
        str
            "age: >= 75 in place of 60 to 74", "smoker: no in place of yes".
        """
        name, *along = after
        if self.by == "variable":
            one = self._bands[name]
            label = self._factor(name) if one.is_factor else one.label
            # What becomes known is a value, not one of those that stand for none.
            then = band_text(one, {**self._values, **after}, alone=True)
            return f"{label}: {then} in place of {self._band(one)}"
        label, now, then = self._words(name, self._values[name], after[name])
        text = f"{label}: {then} in place of {now}"
        others = [self._words(other, self._values[other], after[other]) for other in along]
        with_it = ", ".join(f"{other}: {value}" for other, _, value in others)
        return f"{text}, and with it {with_it}" if with_it else text

    def missing(self, variables: tuple[str, ...]) -> str:
        """Say of which variables the record has no value, and how that counts.

        Parameters
        ----------
        variables : tuple of str
            Raw columns, one at least.

        Returns
        -------
        str
            What counts as no is left to the rows where these say it: of bands, and of conditions
            that are turned round.
        """
        listed = ", ".join(label_of(self._score, name).text or name for name in variables)
        if self.by == "variable" or self._turned:
            return f"Missing: {listed}."
        counted = "its conditions count" if len(variables) == 1 else "their conditions count"
        return f"Missing: {listed}; {counted} as no."

    def unstated(self, names: tuple[str, ...]) -> str:
        """Say that changes of features on one variable may contradict each other.

        Parameters
        ----------
        names : tuple of str
            Features, two at least.

        Returns
        -------
        str
        """
        listed = listing(f"'{feature_text(self._score, name)}'" for name in names)
        return (
            f"Changes of {listed} are looked at one by one: nothing states how these go together, "
            "so that some may be impossible."
        )

    def _row(self, name: str) -> ShownPoints:
        value, points = self._values[name], self._score.points[name]
        is_turned = name in self._turned
        label, words, _ = self._words(name, value, value)
        worth = item_line(self._score, name, is_turned=is_turned).worth
        if is_turned and not self._has_opposite(name, value):
            worth += f" for {no_text(self._score, name)}"
        total = points * (value - 1) if is_turned else points * value
        return ShownPoints(label, words, total, worth, (name,))

    def _row_of(self, one: VariableBands) -> ShownPoints:
        points = sum(self._score.points[name] * self._values[name] for name in one.features)
        if self._score.layout.points != "fitted" and not one.is_factor:
            points -= one.least
        text = self._band(one)
        if one.is_factor:
            label = self._factor(one.features[0])
            return ShownPoints(label, text, points, one.bands[0].worth, one.features)
        return ShownPoints(one.label, text, points, "", one.features)

    def _band(self, one: VariableBands) -> str:
        return band_text(one, self._values, alone=one.variable in self._measured)

    def _factor(self, name: str) -> str:
        return label_of(self._score, name).text or name

    def _has_opposite(self, name: str, value: float) -> bool:
        return value in (0, 1) and opposite_text(self._score, name) is not None

    def _words(self, name: str, before: float, after: float) -> tuple[str, str, str]:
        """The item as the sheet calls it, and two values of it in words."""
        known = self._score.feature_ranges[name]
        label = feature_text(self._score, name) if known.is_binary else self._factor(name)
        ends = (before, after)
        is_turned = name in self._turned
        if is_turned and all(self._has_opposite(name, value) for value in ends):
            label = opposite_text(self._score, name) or label
            ends = (1 - before, 1 - after)
            is_turned = False
        first, second = (self._value(name, value, is_turned=is_turned) for value in ends)
        return label, first, second

    def _value(self, name: str, value: float, *, is_turned: bool) -> str:
        known, label = self._score.feature_ranges[name], label_of(self._score, name)
        if known.is_binary and value in (0, 1):
            if is_turned and not value:
                return no_text(self._score, name)
            return label.level("yes" if value else "no")
        unit = label.unit or known.unit
        return short(value) if unit is None else f"{short(value)} {unit}"


def band_text(one: VariableBands, values: Mapping[str, float], *, alone: bool = False) -> str:
    """The band of a record in words.

    Parameters
    ----------
    one : VariableBands
    values : mapping from str to int or float
        Values of the features.
    alone : bool, default False
        Of bands that nothing tells apart, the first one only: special and missing values come last.

    Returns
    -------
    str
    """
    if one.is_factor:
        unit = f" {one.unit}" if one.unit else ""
        return f"{short(values[one.features[0]])}{unit}"
    # Several bands have one pattern where nothing tells their values apart: "< 60", "missing".
    pattern = tuple(values[name] for name in one.features)
    found = [band.condition for band in one.bands if pattern in band.patterns]
    if found:
        return found[0] if alone else " or ".join(found)
    # No value of the variable has them all; each has its points nevertheless.
    return ", ".join(name for name in one.features if values[name])
