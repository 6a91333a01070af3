"""A risk score as a sheet for people: points to add up, and the risk of what they add up to.

A :class:`ScoreSheet` holds the words and numbers of the sheet. Every rendering is made from it
and computes nothing, so that no two of them can disagree.
"""

from __future__ import annotations

import dataclasses
import html
import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from riskslim.feature_ranges import FeatureRange, printed_range
from riskslim.risk_table import RiskRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ScoreLine", "ScoreSheet"]

# Characters in a line of text.
_MAX_WIDTH = 80
# Widths in LaTeX's class article, in points: a line, a character, what separates two columns.
_LATEX_LINE, _LATEX_CHARACTER, _LATEX_SEPARATOR = 345, 5, 12
# In HTML, in hundredths of an em: a line on a page of A4, a character, the padding of a cell.
_HTML_LINE, _HTML_CHARACTER, _HTML_SEPARATOR = 4300, 62, 80
# Longer names of features are wrapped.
_MAX_NAME_WIDTH = 64
_MAX_LATEX_NAME_WIDTH = 36


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
class ScoreSheet:
    """The words and numbers of a sheet on which people add up points and read off the risk.

    Parameters
    ----------
    outcome : str
        What the risk is: "probability that stroke = 1".
    lines : sequence of ScoreLine
        The points table.
    risks : sequence of RiskRow
        The risk table, in order of the score.
    formula : str
        How the risk is computed from the score.
    notes : sequence of str
        What else is to be said beneath the tables, one sentence or two each.

    Notes
    -----
    ``str(sheet)`` is the sheet as plain text; notebooks show :meth:`to_html`.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> sheet = RiskScore(-3, {"smoker": 2, "exercise": -1}, outcome_name="stroke").sheet()
    >>> print(sheet)
    RISK SCORE: probability that stroke = 1
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
    """

    outcome: str
    lines: tuple[ScoreLine, ...]
    risks: tuple[RiskRow, ...]
    formula: str
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What the sheet is."""
        return one_line(f"Risk score: {self.outcome}").rstrip()

    @property
    def instruction(self) -> str:
        """What to do with the points: nothing to add where there is one item."""
        n_lines = len(self.lines)
        return f"Add the points of rows 1 to {n_lines}" if n_lines > 1 else ""

    @property
    def risk_lines(self) -> Lines:
        """Head and cells of each line of the risk table, one cell for each entry."""
        lines = [
            ("Score", tuple(row.score for row in self.risks)),
            ("Risk", tuple(row.risk for row in self.risks)),
        ]
        if self.risks[0].n_samples is not None:
            lines += [
                ("Observed", tuple(_observed(row) for row in self.risks)),
                ("Cases", tuple(f"{row.n_positive}/{row.n_samples}" for row in self.risks)),
            ]
        return tuple(lines)

    def __str__(self) -> str:
        risks = "\n".join(map(_boxed, _fitting(self, _MAX_WIDTH - len("|"), 1, len(" | "))))
        head = one_line(f"RISK SCORE: {self.outcome}")
        return "\n".join([head, _points_text(self), "", risks, self.formula, *self.notes])

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
        **Risk score: probability that outcome = 1**
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
        """
        heads, columns = zip(*self.risk_lines, strict=True)
        parts = [
            f"**{_markdown(self.title)}**",
            _points_markdown(self),
            _markdown_table(heads, ["--:"] * len(heads), zip(*columns, strict=True)),
            *map(_markdown, [self.formula, *self.notes]),
        ]
        return "\n\n".join(parts) + "\n"

    def to_html(self) -> str:
        """Write the sheet as a fragment of HTML that needs no style sheet.

        Returns
        -------
        str
            A ``figure`` with two tables, whose rows and columns have heads and captions, so that
            screen readers can follow, and a caption with formula and notes. Colours are those of
            the page.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> text = RiskScore(-3, {"smoker": 2}).sheet().to_html()
        >>> text.splitlines()[0][:30], text.splitlines()[-1]
        ('<figure class="riskslim-score"', '</figure>')
        """
        notes = "\n".join(
            f'<p style="margin:0.2em 0">{_html(note)}</p>'
            for note in [typeset(self.formula), *self.notes]
        )
        return (
            '<figure class="riskslim-score" style="margin:1em 0">\n'
            f"{_points_html(self)}\n{_risks_html(self)}\n"
            '<figcaption style="font-size:0.9em;text-align:left">\n'
            f"{notes}\n</figcaption>\n</figure>\n"
        )

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
        \multicolumn{4}{@{}l}{\bfseries Risk score: probability that outcome = 1} \\
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
        \par
        <BLANKLINE>
        """
        tables = [
            _points_latex(self),
            *map(_risks_latex, _fitting(self, _LATEX_LINE, _LATEX_CHARACTER, _LATEX_SEPARATOR)),
        ]
        notes = _NEW_LINE.join([_latex(typeset(self.formula)), *map(_latex, self.notes)])
        body = "\n\\par\\medskip\\noindent\n".join([*tables, notes])
        return f"% Needs \\usepackage{{booktabs}}.\n\\par\\noindent\n{body}\n\\par\n"

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
        from riskslim.drawing import draw

        return draw(self, ax)


# ---------------------------------------------------------------------------------------------
# Common to the renderings
# ---------------------------------------------------------------------------------------------


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


def typeset(text: str) -> str:
    """Numbers and formulas, not names, with the signs of mathematics instead of ASCII ones."""
    text = text.replace("<= ", "\u2264 ").replace(">= ", "\u2265 ")
    text = re.sub(r"(^| )x ", "\\1\u00d7 ", text)
    return re.sub(r"-(?=\d)|(?<= )-(?= )|(?<=\()-", "\u2212", text)


def folded(lines: Lines, room: int) -> Blocks:
    """Parts of a risk table with at most so many entries, of equal length."""
    n_entries = len(lines[0][1])
    n_blocks = math.ceil(n_entries / room)
    per_block = math.ceil(n_entries / n_blocks)
    return [
        tuple((head, cells[k : k + per_block]) for head, cells in lines)
        for k in range(0, n_entries, per_block)
    ]


def _fitting(sheet: ScoreSheet, line: int, character: int, separator: int) -> Blocks:
    """Parts of the risk table that fit a line of some width."""
    lines = sheet.risk_lines
    widest = character * max(len(cell) for _, cells in lines for cell in cells) + separator
    head = character * len(_longest(lines)) + separator
    return folded(lines, max((line - head) // widest, 1))


def _longest(lines: Lines) -> str:
    return max((head for head, _ in lines), key=len)


def _observed(row: RiskRow) -> str:
    return "-" if row.observed is None else f"{row.observed:.1%}"


# ---------------------------------------------------------------------------------------------
# Text
# ---------------------------------------------------------------------------------------------

NO_POINTS = "No feature has points: the score of every row is 0."


def _points_text(sheet: ScoreSheet) -> str:
    if not sheet.lines:
        return NO_POINTS
    digits = max(len(str(line.points)) for line in sheet.lines)
    room_for_sign = 2 * any(line.is_factor for line in sheet.lines)
    cells = []
    for k, line in enumerate(sheet.lines, start=1):
        blank = "  ..." if k == 1 else "+ ..."
        label = f"{k:>{len(str(len(sheet.lines)))}}. {one_line(line.label)}"
        indent = " " * (label.index(". ") + 2)
        first, *others = textwrap.wrap(label, _MAX_NAME_WIDTH, subsequent_indent=indent)
        sign = f"{'x' if line.is_factor else '':<{room_for_sign}}"
        cells.append((first, f"{sign}{line.points:>{digits}} {one_line(line.unit)}", blank))
        cells.extend((other, "", "") for other in others)
    return _boxed_points(cells, f"   {sheet.instruction.upper()}")


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes: ideographs two, combining marks none."""
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
    head = len(_longest(lines))
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
    """Text whose characters are not taken for markup; a ``<`` is only where a tag could begin."""
    return re.sub(r"[\\`*_\[\]#|~$&]|<(?=[A-Za-z/!?])", r"\\\g<0>", one_line(text))


def _markdown_table(heads: Iterable[str], rules: list[str], rows: Iterable[Iterable[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, rules, *rows])


def _points_markdown(sheet: ScoreSheet) -> str:
    if not sheet.lines:
        return NO_POINTS
    rows = [
        (f"{k}.", _markdown(line.label), _markdown(line.worth), "..." if k == 1 else "+ ...")
        for k, line in enumerate(sheet.lines, start=1)
    ]
    rows.append(("", sheet.instruction, "**Score**", "= ..."))
    return _markdown_table(["", "Item", "Points", ""], ["--:", ":--", ":--", ":--"], rows)


# ---------------------------------------------------------------------------------------------
# HTML
# ---------------------------------------------------------------------------------------------

_CELL = "padding:0.2em 0.6em;border-bottom:1px solid"
_LEFT, _RIGHT = f"text-align:left;{_CELL}", f"text-align:right;{_CELL}"
_NOWRAP = "white-space:nowrap"
_NARROW_CELL = f"padding:0.2em 0.4em;border-bottom:1px solid;{_NOWRAP}"
_CAPTION = "text-align:left;font-weight:bold;padding:0.3em 0;caption-side:top"
_TABLE = '<table style="border-collapse:collapse;margin:0 0 0.8em">'
_BLANK = '<span style="display:inline-block;width:3em;border-bottom:1px dotted">&nbsp;</span>'


def _html(text: str) -> str:
    return html.escape(one_line(text))


def _cell(tag: str, content: str, style: str) -> str:
    name = tag.partition(" ")[0]
    return f'<{tag} style="{style}">{content}</{name}>'


def _html_row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"


def _points_html(sheet: ScoreSheet) -> str:
    caption = f'<caption style="{_CAPTION}">{_html(sheet.title)}</caption>'
    if not sheet.lines:
        return f'<p style="font-weight:bold">{_html(sheet.title)}</p>\n<p>{NO_POINTS}</p>'
    heads = _html_row(
        _cell('th scope="col"', head, _LEFT) for head in ("Row", "Item", "Points", "Add up")
    )
    rows = [
        _html_row(
            (
                _cell("td", f"{k}.", _RIGHT),
                _cell('th scope="row"', _html(line.label), f"font-weight:normal;{_LEFT}"),
                _cell("td", _html(typeset(line.worth)), f"{_LEFT};{_NOWRAP}"),
                _cell("td", ("" if k == 1 else "+ ") + _BLANK, f"{_RIGHT};{_NOWRAP}"),
            )
        )
        for k, line in enumerate(sheet.lines, start=1)
    ]
    total = (
        _cell("td", "", _RIGHT),
        _cell("td", sheet.instruction, _LEFT),
        _cell('th scope="row"', "Score", _LEFT),
        _cell("td", f"= {_BLANK}", f"{_RIGHT};{_NOWRAP}"),
    )
    return "\n".join(
        [
            _TABLE,
            caption,
            f"<thead>{heads}</thead>",
            "<tbody>",
            *rows,
            "</tbody>",
            # On paper the sum is not to be repeated at the end of each page.
            f'<tfoot style="display:table-row-group">{_html_row(total)}</tfoot>',
            "</table>",
        ]
    )


def _risks_html(sheet: ScoreSheet) -> str:
    blocks = _fitting(sheet, _HTML_LINE, _HTML_CHARACTER, _HTML_SEPARATOR)
    # Columns of all parts have the same width.
    longest = max(len(cell) for _, cells in sheet.risk_lines for cell in cells)
    widths = [
        f"{(n * _HTML_CHARACTER + _HTML_SEPARATOR) / 100:g}em"
        for n in (len(_longest(sheet.risk_lines)), longest)
    ]
    tables = [
        _risk_table_html(lines, widths, "" if len(blocks) == 1 else f", {k} of {len(blocks)}")
        for k, lines in enumerate(blocks, start=1)
    ]
    return "\n".join(
        [
            # What is wider than a small screen is scrolled, also with the keyboard.
            '<div role="region" aria-label="Risk of each score" tabindex="0" '
            'style="overflow-x:auto">',
            *tables,
            "</div>",
        ]
    )


def _risk_table_html(lines: Lines, widths: list[str], part: str) -> str:
    rows = []
    for k, (head, cells) in enumerate(lines):
        tag = "td" if k else 'th scope="col"'
        rows.append(
            _html_row(
                [
                    _cell('th scope="row"', head, f"text-align:left;{_NARROW_CELL}"),
                    *(
                        _cell(tag, _html(typeset(cell)), f"text-align:right;{_NARROW_CELL}")
                        for cell in cells
                    ),
                ]
            )
        )
    return "\n".join(
        [
            _TABLE,
            f'<caption style="{_CAPTION}">Risk of each score{part}</caption>',
            f'<colgroup><col style="width:{widths[0]}">'
            f'<col span="{len(lines[0][1])}" style="width:{widths[1]}"></colgroup>',
            f"<thead>{rows[0]}</thead>",
            "<tbody>",
            *rows[1:],
            "</tbody>",
            "</table>",
        ]
    )


# ---------------------------------------------------------------------------------------------
# LaTeX
# ---------------------------------------------------------------------------------------------

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "\u2264": r"$\leq$",
    "\u2265": r"$\geq$",
    "\u2212": "$-$",
    "\u00d7": r"$\times$",
}


_NEW_LINE = "\n\\par\\noindent\n"


def _latex(text: str) -> str:
    """Text as LaTeX sets it: without commands, and without ligatures of hyphens."""
    escaped = "".join(_LATEX.get(c, c) for c in one_line(text))
    return re.sub(r"-(?=-)", "-{}", escaped)


def _latex_table(columns: str, rows: list[str]) -> str:
    return "\n".join([rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}", *rows, r"\end{tabular}"])


def _points_latex(sheet: ScoreSheet) -> str:
    title = rf"\bfseries {_latex(sheet.title)}"
    if not sheet.lines:
        return f"{{{title}}}{_NEW_LINE}{NO_POINTS}"
    is_wide = max(len(line.label) for line in sheet.lines) > _MAX_LATEX_NAME_WIDTH
    names = r"p{0.5\linewidth}" if is_wide else "l"
    rows = [
        f"{k}. & {_latex(line.label)} & {_latex(typeset(line.worth))} & "
        + (r"\phantom{$+$ }\dots \\" if k == 1 else r"$+$ \dots \\")
        for k, line in enumerate(sheet.lines, start=1)
    ]
    # A title that is wider than the page is no line of a table, but a paragraph.
    head = [rf"\multicolumn{{4}}{{@{{}}l}}{{{title}}} \\"]
    above = ""
    if len(sheet.title) * _LATEX_CHARACTER > _LATEX_LINE:
        head, above = [], f"{{{title}}}{_NEW_LINE}"
    return above + _latex_table(
        f"r{names}ll",
        [
            *head,
            r"\toprule",
            *rows,
            r"\midrule",
            rf" & {sheet.instruction} & \bfseries Score & $=$ \dots \\",
            r"\bottomrule",
        ],
    )


def _risks_latex(lines: Lines) -> str:
    rows = [
        rf"\bfseries {head} & {' & '.join(_latex(typeset(cell)) for cell in cells)} \\"
        for head, cells in lines
    ]
    return _latex_table(
        "l" + "r" * len(lines[0][1]), [r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule"]
    )
