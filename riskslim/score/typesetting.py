"""Lines, blocks and lengths that all forms of a sheet share."""

from __future__ import annotations

import dataclasses
import math
import re
import textwrap
from typing import TYPE_CHECKING, TypeAlias

from riskslim._wording import listing
from riskslim.data.feature_ranges import FeatureRange, printed_range
from riskslim.score.requirements import alike
from riskslim.score.table import RiskRow

if TYPE_CHECKING:
    from riskslim.score.band import Band, VariableBands
    from riskslim.score.requirements import Requirement

__all__ = [
    "MAX_NAME_WIDTH",
    "NO_POINTS",
    "Lines",
    "ScoreLine",
    "SheetContent",
    "fitting_blocks",
    "likewise",
    "longest_cell",
    "observed_text",
    "one_line",
    "typeset",
    "typeset_condition",
    "wrapped",
]

NO_POINTS = "No feature has points: the score of every row is 0."

# Parts of a word that is longer than a line: "with_", "an_", "underscore".
_PARTS = re.compile(r"[^_./,]*[_./,]+|[^_./,]+")

# Longer names of features are wrapped.
MAX_NAME_WIDTH = 64

# Head and cells of each line of a risk table, and parts of such a table.
Lines: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
Blocks: TypeAlias = list[Lines]


@dataclasses.dataclass(frozen=True)
class ScoreLine:
    """One item of the points table.

    Parameters
    ----------
    label : str
        The feature, with its values if it is more than a condition: "age [18 to 90]".
    points : int
        What the item is worth.
    unit : str
        What follows the number of points: "point", "points x value", "points per Hz".
    is_factor : bool, default False
        Whether the points are to be multiplied by an amount in some unit, which is shown by a
        sign in front of them: "x 2 points per Hz".
    """

    label: str
    points: int
    unit: str
    is_factor: bool = False

    @property
    def worth(self) -> str:
        """The points in words, as in "3 points" and "x 2 points per Hz"."""
        return f"{'x ' if self.is_factor else ''}{self.points} {self.unit}"


@dataclasses.dataclass(frozen=True)
class SheetContent:
    """The words and numbers of a sheet, from which every form of it is made.

    Parameters
    ----------
    outcome, lines, risks, formula, notes, requirements, variables, proof, rule
        As in :class:`~riskslim.score.sheet.ScoreSheet`.
    """

    outcome: str
    lines: tuple[ScoreLine, ...]
    risks: tuple[RiskRow, ...]
    formula: str
    notes: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    variables: tuple[VariableBands, ...] = ()
    proof: tuple[str, ...] = ()
    rule: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows whose points are added up: items or variables."""
        return len(self.variables) or len(self.lines)

    @property
    def title(self) -> str:
        """Return the headline of the sheet."""
        return one_line(f"Risk score: {self.outcome}").rstrip()

    @property
    def notes_on_requirements(self) -> tuple[str, ...]:
        """Return the requirements that are met, in one sentence, and the others."""
        groups = alike(one_line(one.text) for one in self.requirements if one.is_met)
        met = [likewise(*group) for group in groups]
        all_met = all(one.is_met for one in self.requirements)
        head = "Requirements, all met" if all_met else "Met"
        broken = [
            one_line(f"Not met: {one.text} ({one.violation}).")
            for one in self.requirements
            if not one.is_met
        ]
        return (*([f"{head}: {'; '.join(met)}."] if met else []), *broken)

    @property
    def footnotes(self) -> tuple[str, ...]:
        """Return the small print: what is proven, and the requirements."""
        return (*self.proof, *self.notes_on_requirements)

    @property
    def instruction(self) -> str:
        """Return what to do with the points: nothing to add where there is one item."""
        return f"Add the points of rows 1 to {self.n_rows}" if self.n_rows > 1 else ""

    @property
    def risk_lines(self) -> Lines:
        """Head and cells of each line of the risk table, one cell for each entry."""
        lines = [
            ("Score", tuple(row.score for row in self.risks)),
            ("Risk", tuple(row.risk for row in self.risks)),
        ]
        if self.risks[0].n_samples is not None:
            lines += [
                ("Observed", tuple(observed_text(row) for row in self.risks)),
                ("Cases", tuple(f"{row.n_positive}/{row.n_samples}" for row in self.risks)),
            ]
        return tuple(lines)


def likewise(text: str, names: list[str]) -> str:
    """A text of :func:`~riskslim.score.requirements.alike` with its names."""
    if not names:
        return text
    first, *others = (f"'{name}'" for name in names)
    text = text.replace("''", first, 1)
    return f"{text}, likewise of {listing(others)}" if others else text


def score_line(name: str, points: int, values: FeatureRange) -> ScoreLine:
    """The item of a feature with points."""
    unit = "point" if abs(points) == 1 else "points"
    if values.is_binary:
        return ScoreLine(name, points, unit)
    label = f"{name} [{printed_range(values)}]"
    if values.unit is None:
        return ScoreLine(label, points, f"{unit} x value")
    return ScoreLine(label, points, f"{unit} per {values.unit}", is_factor=True)


def one_line(text: str) -> str:
    """A name as it can stand in a table: without line breaks and other control characters."""
    return "".join(c if c.isprintable() else " " for c in text)


class _Wrapper(textwrap.TextWrapper):
    """Parts words that are longer than a line behind signs, not inside of what they join."""

    def _split(self, text: str) -> list[str]:
        room = self.width - len(self.subsequent_indent)
        return [
            part
            for chunk in super()._split(text)
            for part in ([chunk] if len(chunk) <= room else re.findall(_PARTS, chunk))
        ]


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of a name, which end between words, or behind an underscore, point, slash or comma.

    Parameters
    ----------
    text : str
    width : int
        Most characters in a line. Only what is longer by itself is cut.
    indent : str, default ""
        What lines but the first one begin with.

    Returns
    -------
    list of str
        One line at least.
    """
    return _Wrapper(width, subsequent_indent=indent).wrap(text) or [""]


def typeset(text: str) -> str:
    """Numbers and formulas, not names, with the signs of mathematics instead of ASCII ones."""
    text = text.replace("<= ", "\u2264 ").replace(">= ", "\u2265 ")
    text = re.sub(r"(^| )x ", "\\1\u00d7 ", text)
    return re.sub(r"-(?=\d)|(?<= )-(?= )|(?<=\()-", "\u2212", text)


def typeset_condition(band: Band) -> str:
    """The values of a band, with the signs of mathematics where they are numbers."""
    text = one_line(band.condition)
    return text if band.is_text else typeset(text)


def folded(lines: Lines, room: int) -> Blocks:
    """Parts of a risk table with at most so many entries, of equal length."""
    n_entries = len(lines[0][1])
    n_blocks = math.ceil(n_entries / room)
    per_block = math.ceil(n_entries / n_blocks)
    return [
        tuple((head, cells[k : k + per_block]) for head, cells in lines)
        for k in range(0, n_entries, per_block)
    ]


def fitting_blocks(sheet: SheetContent, line: int, character: int, separator: int) -> Blocks:
    """Parts of the risk table that fit a line of some width."""
    lines = sheet.risk_lines
    widest = character * max(len(cell) for _, cells in lines for cell in cells) + separator
    head = character * len(longest_cell(lines)) + separator
    return folded(lines, max((line - head) // widest, 1))


def longest_cell(lines: Lines) -> str:
    """The longest head of the lines of a risk table."""
    return max((head for head, _ in lines), key=len)


def observed_text(row: RiskRow) -> str:
    """The observed risk as printed; "-" without rows."""
    return "-" if row.observed is None else f"{row.observed:.1%}"
