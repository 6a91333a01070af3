"""A risk score as a sheet for people: points to add up, and the risk of what they add up to.

A :class:`ScoreSheet` holds the words and numbers of the sheet. Every rendering is made from it
and computes nothing, so that no two of them can disagree.
"""

from __future__ import annotations

import dataclasses
import re
import textwrap
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING

from riskslim.score.html import sheet_html
from riskslim.score.latex import sheet_latex
from riskslim.score.typesetting import (
    MAX_NAME_WIDTH,
    NO_POINTS,
    Lines,
    SheetContent,
    fitting_blocks,
    longest_cell,
    one_line,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ScoreSheet"]

# Characters in a line of text.
_MAX_WIDTH = 80
# Names of variables and values of bands that are longer are wrapped.
_MAX_LABEL_WIDTH, _MAX_CONDITION_WIDTH = 36, 32


@dataclasses.dataclass(frozen=True)
class ScoreSheet(SheetContent):
    """The words and numbers of a sheet on which people add up points and read off the risk.

    Parameters
    ----------
    outcome : str
        What the risk is: "risk of stroke", or "probability that stroke = yes".
    lines : sequence of ScoreLine
        The points table.
    risks : sequence of RiskRow
        The risk table, in order of the score.
    formula : str
        How the risk is computed from the score.
    notes : sequence of str
        What else is to be said beneath the tables, one sentence or two each.
    requirements : sequence of Requirement
        What the score was found under: the last lines beneath the tables.
    variables : sequence of VariableBands
        The points by variable, in place of the points table; ``lines`` are empty then.
    proof : sequence of str
        What is proven of the score, as small print with the requirements.
    rule : sequence of str
        From which score on rows are positive, whom that finds and what is proven of it: behind the
        risk table. Empty where the score has no operating point.

    Notes
    -----
    ``str(sheet)`` is the sheet as plain text; notebooks show :meth:`to_html`.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> sheet = RiskScore(-3, {"smoker": 2, "exercise": -1}, outcome_name="stroke").sheet()
    >>> print(sheet)
    RISK SCORE: risk of stroke
    +----------------------------+-----------+-------+
    | 1. smoker                  |  2 points |   ... |
    | 2. exercise                | -1 point  | + ... |
    +----------------------------+-----------+-------+
    |    ADD THE POINTS OF ROWS 1 TO 2 SCORE | = ... |
    +----------------------------+-----------+-------+
    <BLANKLINE>
    +-------+------+------+-------+-------+
    | SCORE |   -1 |    0 |     1 |     2 |
    | RISK  | 1.8% | 4.7% | 11.9% | 26.9% |
    +-------+------+------+-------+-------+
    risk = 1 / (1 + exp(3 - score))
    Risk: the probability that stroke = 1.
    """

    def __str__(self) -> str:
        risks = "\n".join(map(_boxed, fitting_blocks(self, _MAX_WIDTH - len("|"), 1, len(" | "))))
        head = one_line(f"RISK SCORE: {self.outcome}")
        requirements = [
            line
            for note in self.notes_on_requirements
            for line in textwrap.wrap(note, _MAX_WIDTH, break_long_words=False)
        ]
        rule = textwrap.wrap(one_line(" ".join(self.rule)), _MAX_WIDTH)
        tables = [head, _points_text(self), "", risks, *rule]
        return "\n".join([*tables, self.formula, *self.notes, *self.proof, *requirements])

    def to_markdown(self) -> str:
        """Write the sheet in Markdown, with the tables of GitHub Flavored Markdown.

        Returns
        -------
        str
            One line for each score. Names are escaped: nothing in them is taken for markup.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> print(RiskScore(-3, {"smoker": 2, "age >= 60": 1}).sheet().to_markdown())
        **Risk score: risk of outcome**
        <BLANKLINE>
        |  | Item | Points |  |
        | --: | :-- | :-- | :-- |
        | 1. | smoker | 2 points | ... |
        | 2. | age >= 60 | 1 point | + ... |
        |  | Add the points of rows 1 to 2 | **Score** | = ... |
        <BLANKLINE>
        | Score | Risk |
        | --: | --: |
        | 0 | 4.7% |
        | 1 | 11.9% |
        | 2 | 26.9% |
        | 3 | 50.0% |
        <BLANKLINE>
        risk = 1 / (1 + exp(3 - score))
        <BLANKLINE>
        Risk: the probability that outcome = 1.
        <BLANKLINE>
        """
        heads, columns = zip(*self.risk_lines, strict=True)
        parts = [
            f"**{_markdown(self.title)}**",
            _points_markdown(self),
            _markdown_table(heads, ["--:"] * len(heads), zip(*columns, strict=True)),
            *_rule_markdown(self),
            *map(_paragraph, [self.formula, *self.notes, *self.footnotes]),
        ]
        return "\n\n".join(parts) + "\n"

    def to_html(self) -> str:
        """Write the sheet as a fragment of HTML that needs no style sheet.

        Returns
        -------
        str
            A ``figure`` with two tables, whose rows and columns have heads and captions, so that
            screen readers can follow, and a caption with formula, notes and requirements. Colours
            are those of the page.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> text = RiskScore(-3, {"smoker": 2}).sheet().to_html()
        >>> text.splitlines()[0][:30], text.splitlines()[-1]
        ('<figure class="riskslim-score"', '</figure>')
        """
        return sheet_html(self)

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_latex(self) -> str:
        r"""Write the sheet in LaTeX.

        Returns
        -------
        str
            Tables for the package booktabs, in lines of at most the width of a page. Names are
            escaped; letters beyond ASCII are left as they are, in UTF-8.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> print(RiskScore(-3, {"smoker": 2, "age_60": 1}).sheet().to_latex())
        % Needs \usepackage{booktabs}.
        \par\noindent
        \begin{tabular}{@{}rlll@{}}
        \multicolumn{4}{@{}l}{\bfseries Risk score: risk of outcome} \\
        \toprule
        1. & smoker & 2 points & \phantom{$+$ }\dots \\
        2. & age\_60 & 1 point & $+$ \dots \\
        \midrule
         & Add the points of rows 1 to 2 & \bfseries Score & $=$ \dots \\
        \bottomrule
        \end{tabular}
        \par\medskip\noindent
        \begin{tabular}{@{}lrrrr@{}}
        \toprule
        \bfseries Score & 0 & 1 & 2 & 3 \\
        \midrule
        \bfseries Risk & 4.7\% & 11.9\% & 26.9\% & 50.0\% \\
        \bottomrule
        \end{tabular}
        \par\medskip\noindent
        risk = 1 / (1 + exp(3 $-$ score))
        \par\noindent
        Risk: the probability that outcome = 1.
        \par
        <BLANKLINE>
        """
        return sheet_latex(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the sheet.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw: the sheet is made as large as fits. By default a new figure of the
            size that the sheet needs with letters of 10 points.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        from riskslim.score.drawing import draw

        return draw(self, ax)


def _points_text(sheet: ScoreSheet) -> str:
    if sheet.variables:
        return _variables_text(sheet)
    if not sheet.lines:
        return NO_POINTS
    digits = max(len(str(line.points)) for line in sheet.lines)
    room_for_sign = 2 * any(line.is_factor for line in sheet.lines)
    cells = []
    for k, line in enumerate(sheet.lines, start=1):
        blank = "  ..." if k == 1 else "+ ..."
        label = f"{k:>{len(str(len(sheet.lines)))}}. {one_line(line.label)}"
        indent = " " * (label.index(". ") + 2)
        first, *others = wrapped(label, MAX_NAME_WIDTH, indent)
        sign = f"{'x' if line.is_factor else '':<{room_for_sign}}"
        cells.append((first, f"{sign}{line.points:>{digits}} {one_line(line.unit)}", blank))
        cells.extend((other, "", "") for other in others)
    return _boxed_points(cells, f"   {sheet.instruction.upper()}")


def _variables_text(sheet: ScoreSheet) -> str:
    """Rows of variables, one line for each band."""
    digits = len(str(sheet.n_rows))
    rows: list[list[tuple[str, str, str, str]]] = []
    for k, variable in enumerate(sheet.variables, start=1):
        label = wrapped(
            f"{k:>{digits}}. {one_line(variable.label)}", _MAX_LABEL_WIDTH, " " * (digits + 2)
        )
        bands = [
            (line, "" if j else one_line(band.printed_points))
            for band in variable.bands
            for j, line in enumerate(wrapped(one_line(band.condition), _MAX_CONDITION_WIDTH))
        ]
        height = max(len(label), len(bands))
        label += [""] * (height - len(label))
        bands += [("", "")] * (height - len(bands))
        blanks = [""] * (height - 1) + ["  ..." if k == 1 else "+ ..."]
        rows.append(
            [(name, *band, blank) for name, band, blank in zip(label, bands, blanks, strict=True)]
        )
    cells = [line for row in rows for line in row]
    widths = [max(_columns(line[j]) for line in cells) for j in range(4)]
    total = f"   {sheet.instruction.upper()}"
    # The last line spans three cells.
    widths[0] += max(0, len(total) + len(" SCORE") - sum(widths[:3]) - 6)
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    text = [rule]
    for row in rows:
        text += [
            f"| {_padded(name, widths[0])} | {_padded(condition, widths[1])} | "
            f"{' ' * (widths[2] - _columns(points))}{points} | {_padded(blank, widths[3])} |"
            for name, condition, points, blank in row
        ]
        text.append(rule)
    spanned = sum(widths[:3]) + 6
    return "\n".join([*text, f"| {total}{'SCORE':>{spanned - len(total)}} | = ... |", rule])


def _columns(text: str) -> int:
    """Count the columns of a terminal that a text takes: ideographs two, combining marks none."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    marks = sum(unicodedata.category(c) in ("Mn", "Me", "Cf") for c in text)
    return len(text) + wide - marks


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _columns(text))


def _boxed_points(lines: list[tuple[str, str, str]], total: str) -> str:
    widths = [max(_columns(line[k]) for line in lines) for k in range(3)]
    # The line below the features spans two cells.
    widths[0] = max(widths[0], len(total) + len(" SCORE") - 3 - widths[1])
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    spanned = widths[0] + 3 + widths[1]
    body = [f"| {' | '.join(map(_padded, line, widths))} |" for line in lines]
    return "\n".join(
        [rule, *body, rule, f"| {total}{'SCORE':>{spanned - len(total)}} | = ... |", rule]
    )


def _boxed(lines: Lines) -> str:
    head = len(longest_cell(lines))
    widths = [max(map(len, column)) for column in zip(*(cells for _, cells in lines), strict=True)]
    rule = "+" + "+".join("-" * (width + 2) for width in [head, *widths]) + "+"
    body = [
        f"| {name.upper():<{head}} | "
        + " | ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        + " |"
        for name, cells in lines
    ]
    return "\n".join([rule, *body, rule])


# ---------------------------------------------------------------------------------------------
# Markdown
# ---------------------------------------------------------------------------------------------


def _markdown(text: str) -> str:
    """Text whose characters are not taken for markup; a ``<`` is only where a tag could begin.

    Addresses become links by themselves: "http://x", "www.x" and "x@y".
    """
    markup = r"[\\`*_\[\]#|~$&@]|<(?=[A-Za-z/!?])|:(?=//)|(?i:(?<=www))\."
    return re.sub(markup, r"\\\g<0>", one_line(text))


def _rule_markdown(sheet: ScoreSheet) -> list[str]:
    if not sheet.rule:
        return []
    first, *others = map(_markdown, sheet.rule)
    return [" ".join([f"**{first}**", *others])]


def _paragraph(text: str) -> str:
    """A paragraph that is no quotation, no list, no code and no underline of the one before."""
    return re.sub(r"^([->+=]|\d+(?=[.)]))", _escaped_start, _markdown(text).lstrip())


def _escaped_start(found: re.Match[str]) -> str:
    start = found[0]
    return f"{start}\\" if start[0].isdigit() else f"\\{start}"


def _markdown_table(heads: Iterable[str], rules: list[str], rows: Iterable[Iterable[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, rules, *rows])


def _points_markdown(sheet: ScoreSheet) -> str:
    if sheet.variables:
        return _variables_markdown(sheet)
    if not sheet.lines:
        return NO_POINTS
    rows = [
        (f"{k}.", _markdown(line.label), _markdown(line.worth), "..." if k == 1 else "+ ...")
        for k, line in enumerate(sheet.lines, start=1)
    ]
    rows.append(("", sheet.instruction, "**Score**", "= ..."))
    return _markdown_table(["", "Item", "Points", ""], ["--:", ":--", ":--", ":--"], rows)


def _variables_markdown(sheet: ScoreSheet) -> str:
    """Write one line for each band; the number and name of a variable are in its first one."""
    rows = []
    for k, variable in enumerate(sheet.variables, start=1):
        last = len(variable.bands) - 1
        for j, band in enumerate(variable.bands):
            rows.append(
                (
                    "" if j else f"{k}.",
                    "" if j else _markdown(variable.label),
                    _markdown(band.condition),
                    _markdown(band.printed_points),
                    "" if j < last else "..." if k == 1 else "+ ...",
                )
            )
    rows.append(("", sheet.instruction, "", "**Score**", "= ..."))
    heads = ["", "Variable", "Values", "Points", ""]
    return _markdown_table(heads, ["--:", ":--", ":--", "--:", ":--"], rows)
