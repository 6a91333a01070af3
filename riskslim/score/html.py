"""The sheet of a score in HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable

from riskslim.score.typesetting import (
    NO_POINTS,
    Lines,
    SheetContent,
    fitting_blocks,
    longest_cell,
    one_line,
    typeset,
    typeset_condition,
)

__all__ = ["PAGE_LINE", "sheet_html"]

# In HTML, in hundredths of an em: a line on a page of A4, a character, the padding of a cell.
_HTML_LINE, _HTML_CHARACTER, _HTML_SEPARATOR = 4300, 62, 80
# A line on a screen of 1280 pixels; style sheets of pages with it have to care for others.
PAGE_LINE = 6200

_CELL = "padding:0.2em 0.6em;border-bottom:1px solid"
_LEFT, _RIGHT = f"text-align:left;{_CELL}", f"text-align:right;{_CELL}"
_NOWRAP = "white-space:nowrap"
_NO_LINE = "border-bottom:none;padding-bottom:0"
_NARROW_CELL = f"padding:0.2em 0.4em;border-bottom:1px solid;{_NOWRAP}"
_CAPTION = "text-align:left;font-weight:bold;padding:0.3em 0;caption-side:top"
_TABLE = '<table style="border-collapse:collapse;margin:0 0 0.8em">'
_RULE = "margin:0 0 0.6em;font-size:1.1em"
_SMALL_PRINT = "margin:0.4em 0 0;font-size:0.85em"
_BLANK = '<span style="display:inline-block;width:3em;border-bottom:1px dotted">&nbsp;</span>'


def sheet_html(sheet: SheetContent, line: int = _HTML_LINE) -> str:
    """Write a sheet as a fragment of HTML that needs no style sheet.

    Parameters
    ----------
    sheet : SheetContent
    line : int
        Width of the risk table, beyond which it is folded, in hundredths of an em.

    Returns
    -------
    str
    """
    notes = "\n".join(
        [
            *_rule(sheet),
            *(
                f'<p style="margin:0.2em 0">{_escaped(note)}</p>'
                for note in [typeset(sheet.formula), *sheet.notes]
            ),
            *(f'<p style="{_SMALL_PRINT}">{_escaped(note)}</p>' for note in sheet.footnotes),
        ]
    )
    return (
        '<figure class="riskslim-score" style="margin:1em 0">\n'
        f"{_points_table(sheet)}\n{_risk_tables(sheet, line)}\n"
        '<figcaption style="font-size:0.9em;text-align:left">\n'
        f"{notes}\n</figcaption>\n</figure>\n"
    )


def _rule(sheet: SheetContent) -> list[str]:
    """From which score on rows are positive, larger than the notes."""
    if not sheet.rule:
        return []
    first, *others = map(_escaped, sheet.rule)
    text = " ".join([f"<strong>{typeset(first)}</strong>", *others])
    return [f'<p class="riskslim-rule" style="{_RULE}">{text}</p>']


def _escaped(text: str) -> str:
    return html.escape(one_line(text))


def _cell(tag: str, content: str, style: str) -> str:
    name = tag.partition(" ")[0]
    return f'<{tag} style="{style}">{content}</{name}>'


def _html_row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"


def _points_table(sheet: SheetContent) -> str:
    caption = f'<caption style="{_CAPTION}">{_escaped(sheet.title)}</caption>'
    if not sheet.n_rows:
        return f'<p style="font-weight:bold">{_escaped(sheet.title)}</p>\n<p>{NO_POINTS}</p>'
    heads, rows = _rows_of_variables(sheet) if sheet.variables else _rows_of_items(sheet)
    total = (
        _cell("td", "", _RIGHT),
        _cell('td colspan="2"' if sheet.variables else "td", sheet.instruction, _LEFT),
        _cell('th scope="row"', "Score", _RIGHT if sheet.variables else _LEFT),
        _cell("td", f"= {_BLANK}", f"{_RIGHT};{_NOWRAP}"),
    )
    return "\n".join(
        [
            _TABLE,
            caption,
            f"<thead>{_heads(*heads)}</thead>",
            *rows,
            # On paper the sum is not to be repeated at the end of each page.
            f'<tfoot style="display:table-row-group">{_html_row(total)}</tfoot>',
            "</table>",
        ]
    )


def _heads(*names: str) -> str:
    return _html_row(_cell('th scope="col"', name, _LEFT) for name in names)


def _rows_of_items(sheet: SheetContent) -> tuple[tuple[str, ...], list[str]]:
    """Heads and rows of the points table by item."""
    rows = [
        _html_row(
            (
                _cell("td", f"{k}.", _RIGHT),
                _cell('th scope="row"', _escaped(line.label), f"font-weight:normal;{_LEFT}"),
                _cell("td", _escaped(typeset(line.worth)), f"{_LEFT};{_NOWRAP}"),
                _cell("td", ("" if k == 1 else "+ ") + _BLANK, f"{_RIGHT};{_NOWRAP}"),
            )
        )
        for k, line in enumerate(sheet.lines, start=1)
    ]
    return ("Row", "Item", "Points", "Add up"), ["<tbody>", *rows, "</tbody>"]


def _rows_of_variables(sheet: SheetContent) -> tuple[tuple[str, ...], list[str]]:
    """Heads and rows of the points table by variable: one body for each, one row for each band."""
    lines = []
    for k, variable in enumerate(sheet.variables, start=1):
        n_bands = len(variable.bands)
        # Lines between variables alone: what belongs together stays together.
        span = f' rowspan="{n_bands}"'
        lines.append('<tbody style="break-inside:avoid">')
        for j, band in enumerate(variable.bands):
            is_last = j == n_bands - 1
            top, inner = ";vertical-align:top", "" if is_last else f";{_NO_LINE}"
            cells = [
                _cell("td", _escaped(typeset_condition(band)), f"{_LEFT}{top}{inner}"),
                _cell(
                    "td", _escaped(typeset(band.printed_points)), f"{_RIGHT};{_NOWRAP}{top}{inner}"
                ),
            ]
            if j == 0:
                name = _cell(
                    f'th scope="rowgroup"{span}',
                    _escaped(variable.label),
                    f"font-weight:normal;vertical-align:top;{_LEFT}",
                )
                blank = _cell(
                    f"td{span}",
                    ("" if k == 1 else "+ ") + _BLANK,
                    f"vertical-align:bottom;{_RIGHT};{_NOWRAP}",
                )
                number = _cell(f"td{span}", f"{k}.", f"vertical-align:top;{_RIGHT}")
                cells = [number, name, *cells, blank]
            lines.append(_html_row(cells))
        lines.append("</tbody>")
    return ("Row", "Variable", "Values", "Points", "Add up"), lines


def _risk_tables(sheet: SheetContent, line: int) -> str:
    blocks = fitting_blocks(sheet, line, _HTML_CHARACTER, _HTML_SEPARATOR)
    # Columns of all parts have the same width.
    longest = max(len(cell) for _, cells in sheet.risk_lines for cell in cells)
    widths = [
        f"{(n * _HTML_CHARACTER + _HTML_SEPARATOR) / 100:g}em"
        for n in (len(longest_cell(sheet.risk_lines)), longest)
    ]
    tables = [
        _risk_table_html(
            lines, widths, "" if len(blocks) == 1 else f"<span>, {k} of {len(blocks)}</span>"
        )
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
                        _cell(tag, _escaped(typeset(cell)), f"text-align:right;{_NARROW_CELL}")
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
