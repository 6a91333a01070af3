"""A risk score as a sheet for people: points to add up, and the risk of what they add up to.

A :class:`ScoreSheet` holds the words and numbers of the sheet. Every rendering is made from it
and computes nothing, so that no two of them can disagree.
"""

from __future__ import annotations

import dataclasses
import math
import textwrap

from riskslim.risk_table import RiskRow

__all__ = ["ScoreLine", "ScoreSheet", "one_line"]

_MAX_WIDTH = 80
# Longer names of features are wrapped.
_MAX_NAME_WIDTH = 64


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
        What follows the number of points: "point", "points x value".
    """

    label: str
    points: int
    unit: str


@dataclasses.dataclass(frozen=True)
class ScoreSheet:
    """The words and numbers of a sheet.

    Parameters
    ----------
    outcome : str
        What the risk is: "probability that stroke = 1".
    lines : sequence of ScoreLine
        The points table.
    risks : sequence of RiskRow
        The risk table.
    formula : str
        How the risk is computed from the score.
    notes : sequence of str
        What else is to be said beneath the tables, one sentence or two each.
    """

    outcome: str
    lines: tuple[ScoreLine, ...]
    risks: tuple[RiskRow, ...]
    formula: str
    notes: tuple[str, ...] = ()

    @property
    def instruction(self) -> str:
        """What to do with the points: nothing to add where there is one item."""
        n_lines = len(self.lines)
        return f"ADD THE POINTS OF ROWS 1 TO {n_lines}" if n_lines > 1 else ""

    def __str__(self) -> str:
        head = one_line(f"RISK SCORE: {self.outcome}")
        risks = "\n".join(_boxed_risks(block) for block in _blocks(self.risks))
        return "\n".join([head, _points_text(self), "", risks, self.formula, *self.notes])


def one_line(text: str) -> str:
    """A name as it can stand in a table: without line breaks and other control characters."""
    return "".join(c if c.isprintable() else " " for c in text)


# ---------------------------------------------------------------------------------------------
# Text
# ---------------------------------------------------------------------------------------------


def _points_text(sheet: ScoreSheet) -> str:
    if not sheet.lines:
        return "No feature has points: the score of every row is 0."
    digits = max(len(str(line.points)) for line in sheet.lines)
    cells = []
    for k, line in enumerate(sheet.lines, start=1):
        blank = "  ..." if k == 1 else "+ ..."
        label = f"{k:>{len(str(len(sheet.lines)))}}. {one_line(line.label)}"
        indent = " " * (label.index(". ") + 2)
        first, *others = textwrap.wrap(label, _MAX_NAME_WIDTH, subsequent_indent=indent)
        cells.append((first, f"{line.points:>{digits}} {line.unit}", blank))
        cells.extend((other, "", "") for other in others)
    return _boxed_points(cells, f"   {sheet.instruction}")


def _boxed_points(lines: list[tuple[str, str, str]], total: str) -> str:
    widths = [max(len(line[k]) for line in lines) for k in range(3)]
    # The line below the features spans two cells.
    widths[0] = max(widths[0], len(total) + len(" SCORE") - 3 - widths[1])
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    spanned = widths[0] + 3 + widths[1]
    body = [
        f"| {name:<{widths[0]}} | {points:<{widths[1]}} | {blank:<{widths[2]}} |"
        for name, points, blank in lines
    ]
    return "\n".join(
        [rule, *body, rule, f"| {total}{'SCORE':>{spanned - len(total)}} | = ... |", rule]
    )


def _blocks(rows: tuple[RiskRow, ...]) -> list[tuple[RiskRow, ...]]:
    """Parts of a risk table that fit the page, of equal length."""
    width = max(max(len(row.score), len(row.risk)) for row in rows) + 3
    per_block = max((_MAX_WIDTH - len("| SCORE |")) // width, 1)
    n_blocks = math.ceil(len(rows) / per_block)
    per_block = math.ceil(len(rows) / n_blocks)
    return [rows[k : k + per_block] for k in range(0, len(rows), per_block)]


def _boxed_risks(rows: tuple[RiskRow, ...]) -> str:
    widths = [max(len(row.score), len(row.risk)) for row in rows]
    rule = "+-------+" + "+".join("-" * (width + 2) for width in widths) + "+"
    scores, risks = (
        " | ".join(f"{row[k]:>{width}}" for row, width in zip(rows, widths, strict=True))
        for k in (0, 1)
    )
    return "\n".join([rule, f"| SCORE | {scores} |", f"| RISK  | {risks} |", rule])
