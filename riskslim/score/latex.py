"""The sheet of a score in LaTeX."""

from __future__ import annotations

import re

from riskslim.score.typesetting import (
    NO_POINTS,
    Lines,
    SheetContent,
    fitting_blocks,
    one_line,
    typeset,
    typeset_condition,
)

__all__ = ["sheet_latex"]

# Widths in LaTeX's class article, in points: a line, a character, what separates two columns.
_LINE, _CHARACTER, _SEPARATOR = 345, 5, 12

_MAX_NAME_WIDTH = 36

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


def sheet_latex(sheet: SheetContent) -> str:
    """Write a sheet in LaTeX, with tables of the package booktabs.

    Parameters
    ----------
    sheet : SheetContent

    Returns
    -------
    str
    """
    blocks = fitting_blocks(sheet, _LINE, _CHARACTER, _SEPARATOR)
    tables = [_points_table(sheet), *map(_risk_table, blocks), *_rule(sheet)]
    notes = _NEW_LINE.join([_escaped(typeset(sheet.formula)), *map(_escaped, sheet.notes)])
    if sheet.footnotes:
        small = _NEW_LINE.join(map(_escaped, sheet.footnotes))
        notes += f"{_NEW_LINE}{{\\footnotesize {small}\\par}}"
    body = "\n\\par\\medskip\\noindent\n".join([*tables, notes])
    return f"% Needs \\usepackage{{booktabs}}.\n\\par\\noindent\n{body}\n\\par\n"


def _rule(sheet: SheetContent) -> list[str]:
    if not sheet.rule:
        return []
    first, *others = sheet.rule
    return [" ".join([rf"{{\bfseries {_escaped(typeset(first))}}}", *map(_escaped, others)])]


def _escaped(text: str) -> str:
    """Text as LaTeX sets it: without commands, and without ligatures of hyphens."""
    escaped = "".join(_LATEX.get(c, c) for c in one_line(text))
    return re.sub(r"-(?=-)", "-{}", escaped)


def _latex_table(columns: str, rows: list[str]) -> str:
    return "\n".join([rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}", *rows, r"\end{tabular}"])


def _points_table(sheet: SheetContent) -> str:
    title = rf"\bfseries {_escaped(sheet.title)}"
    if sheet.variables:
        return _variables_table(sheet)
    if not sheet.lines:
        return f"{{{title}}}{_NEW_LINE}{NO_POINTS}"
    is_wide = max(len(line.label) for line in sheet.lines) > _MAX_NAME_WIDTH
    names = r"p{0.5\linewidth}" if is_wide else "l"
    rows = [
        f"{k}. & {_escaped(line.label)} & {_escaped(typeset(line.worth))} & "
        + (r"\phantom{$+$ }\dots \\" if k == 1 else r"$+$ \dots \\")
        for k, line in enumerate(sheet.lines, start=1)
    ]
    above, head = _title(sheet, 4)
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


def _title(sheet: SheetContent, n_columns: int) -> tuple[str, list[str]]:
    """Return the text above a table, and its first row: a wide title is a paragraph."""
    title = rf"\bfseries {_escaped(sheet.title)}"
    if len(sheet.title) * _CHARACTER > _LINE:
        return f"{{{title}}}{_NEW_LINE}", []
    return "", [rf"\multicolumn{{{n_columns}}}{{@{{}}l}}{{{title}}} \\"]


def _variables_table(sheet: SheetContent) -> str:
    """The points by variable, one row for each band, more space between variables."""
    longest = max(len(one.label) for one in sheet.variables)
    widest = max(len(band.condition) for one in sheet.variables for band in one.bands)
    columns = ("l", "l")
    if longest + widest > _MAX_NAME_WIDTH + 12:
        columns = (r"p{0.35\linewidth}", r"p{0.3\linewidth}")
    rows = []
    for k, variable in enumerate(sheet.variables, start=1):
        if k > 1:
            rows.append(r"\addlinespace")
        for j, band in enumerate(variable.bands):
            name = "" if j else _escaped(variable.label)
            blank = ""
            if j == len(variable.bands) - 1:
                blank = r"\phantom{$+$ }\dots" if k == 1 else r"$+$ \dots"
            rows.append(
                f"{'' if j else f'{k}.'} & {name} & {_escaped(typeset_condition(band))} & "
                rf"{_escaped(typeset(band.printed_points))} & {blank} \\"
            )
    above, head = _title(sheet, 5)
    return above + _latex_table(
        f"r{''.join(columns)}rl",
        [
            *head,
            r"\toprule",
            *rows,
            r"\midrule",
            rf" & \multicolumn{{2}}{{l}}{{{sheet.instruction}}} & \bfseries Score & $=$ \dots \\",
            r"\bottomrule",
        ],
    )


def _risk_table(lines: Lines) -> str:
    rows = [
        rf"\bfseries {head} & {' & '.join(_escaped(typeset(cell)) for cell in cells)} \\"
        for head, cells in lines
    ]
    return _latex_table(
        "l" + "r" * len(lines[0][1]), [r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule"]
    )
