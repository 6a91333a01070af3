"""A score sheet as a picture, for print and slides.

The sheet is laid out in points at letters of 10 points, from widths of text that are measured.
In axes of a given size the layout is scaled as a whole.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from riskslim._wording import not_installed
from riskslim.score.typesetting import (
    NO_POINTS,
    Lines,
    SheetContent,
    folded,
    one_line,
    typeset,
    typeset_condition,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from riskslim.score.band import Band

__all__ = ["draw", "pyplot"]

_SIZE = 10.0
# Of what is proven and required: beneath everything else, for those who look for it.
_SMALL_SIZE = 7.5
_LINE = 1.35 * _SIZE
_PADDING = 0.6 * _SIZE
_BLANK = 3.5 * _SIZE
_MARGIN = 0.8 * _SIZE
# The least width that lines of the risk table may have before they are folded.
_LEAST_WIDTH = 42 * _SIZE
# The least width of titles and notes.
_LEAST_TEXT = 24 * _SIZE
_NAME_CHARACTERS = 48
_CONDITION_CHARACTERS = 36
# Greys, which print and are told apart by everybody.
_HEAD, _TINT, _INK = "#d9d9d9", "#f2f2f2", "black"


@dataclasses.dataclass(frozen=True)
class _Text:
    x: float
    y: float
    text: str
    align: str = "left"
    is_bold: bool = False
    size: float = _SIZE


@dataclasses.dataclass(frozen=True)
class _Line:
    x: tuple[float, float]
    y: tuple[float, float]


@dataclasses.dataclass(frozen=True)
class _Area:
    x: float
    y: float
    width: float
    height: float
    color: str


def pyplot() -> Any:
    """Return matplotlib's pyplot.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(not_installed("drawing needs", "matplotlib", extra="report")) from error
    return plt


def draw(sheet: SheetContent, ax: Axes | None) -> Axes:
    """Draw a sheet.

    Parameters
    ----------
    sheet : SheetContent
    ax : matplotlib Axes or None
        Where to draw; None for a new figure of the size of the sheet.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ImportError
        matplotlib is not installed.
    """
    plt = pyplot()
    layout = _Layout(sheet)
    if ax is None:
        figure = plt.figure(figsize=(layout.width / 72, layout.height / 72))
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    box = ax.get_window_extent()
    width, height = (72 * side / ax.figure.dpi for side in (box.width, box.height))
    scale = min(width / layout.width, height / layout.height)
    # One unit of the axes is a point of the layout.
    ax.set_xlim(0, width / scale)
    ax.set_ylim(height / scale, 0)
    ax.set_axis_off()
    for item in layout.items:
        _put(ax, item, scale)
    return ax


def _put(ax: Axes, item: _Text | _Line | _Area, scale: float) -> None:
    if isinstance(item, _Text):
        ax.text(
            item.x,
            item.y,
            item.text,
            ha=item.align,
            va="baseline",
            color=_INK,
            fontsize=item.size * scale,
            fontweight="bold" if item.is_bold else "normal",
            parse_math=False,
            usetex=False,
        )
    elif isinstance(item, _Line):
        from matplotlib.lines import Line2D

        ax.add_line(Line2D(item.x, item.y, color=_INK, linewidth=0.7 * scale))
    else:
        from matplotlib.patches import Rectangle

        corner = (item.x, item.y)
        ax.add_patch(Rectangle(corner, item.width, item.height, color=item.color, linewidth=0))


def _width(text: str, *, is_bold: bool = False, size: float = _SIZE) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if is_bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width)


def _wrapped(text: str, width: float, *, is_bold: bool, size: float = _SIZE) -> list[str]:
    """Lines of a text that are at most so wide, if its words are."""
    characters = max(len(text), 1)
    while True:
        lines = wrapped(text, characters)
        widest = max(_width(line, is_bold=is_bold, size=size) for line in lines)
        if widest <= width or characters <= 8:
            return lines
        characters = max(min(characters - 1, int(characters * width / widest)), 8)


def _condition_lines(band: Band) -> list[str]:
    """The values of a band, in lines."""
    return wrapped(typeset_condition(band), _CONDITION_CHARACTERS)


class _Layout:
    """The parts of a sheet, in points from the upper left corner."""

    def __init__(self, sheet: SheetContent) -> None:
        self.items: list[_Text | _Line | _Area] = []
        self._sheet = sheet
        self._names = [
            wrapped(one_line(line.label), _NAME_CHARACTERS)
            for line in sheet.variables or sheet.lines
        ]
        self._columns = self._widths_of_points()
        # Tables have one width: that of the wider one.
        blocks = list(self._blocks(max(sum(self._columns), _LEAST_WIDTH)))
        self._inner = max(sum(self._columns), _LEAST_TEXT, *(sum(widths) for _, widths in blocks))
        self._columns[1] += self._inner - sum(self._columns)
        self.width = self._inner + 2 * _MARGIN
        self._y = _MARGIN
        self._paragraph(sheet.title, is_bold=True)
        if sheet.variables:
            self._variables_table()
        elif sheet.lines:
            self._points_table()
        else:
            self._paragraph(NO_POINTS)
        for lines, widths in blocks:
            self._risk_block(lines, widths)
        if sheet.rule:
            self._paragraph(typeset(sheet.rule[0]), is_bold=True)
        if sheet.rule[1:]:
            self._paragraph(" ".join(sheet.rule[1:]))
        for note in [typeset(sheet.formula), *sheet.notes]:
            self._paragraph(note)
        for note in sheet.footnotes:
            self._paragraph(note, size=_SMALL_SIZE)
        self.height = self._y + _MARGIN

    def _widths_of_points(self) -> list[float]:
        """Widths of the columns of the points table; by variable those of the bands in addition."""
        sheet = self._sheet
        names = [line for name in self._names for line in name]
        self._worths = [typeset(one_line(line.worth)) for line in sheet.lines]
        worths = self._worths
        if sheet.variables:
            bands = [band for one in sheet.variables for band in one.bands]
            worths = [typeset(one_line(band.printed_points)) for band in bands]
        columns = [
            _width(f"{sheet.n_rows}.") + 2 * _PADDING,
            max(map(_width, [*names, sheet.instruction])) + 2 * _PADDING,
            max([*map(_width, worths), _width("Score", is_bold=True)]) + 2 * _PADDING,
            _width("= ") + _BLANK + 2 * _PADDING,
        ]
        if sheet.variables:
            # The instruction spans names and conditions.
            conditions = max(_width(line) for band in bands for line in _condition_lines(band))
            conditions += 2 * _PADDING
            columns[1] = max(
                max(map(_width, names)) + 2 * _PADDING,
                _width(sheet.instruction) + 2 * _PADDING - conditions,
            )
            columns.insert(2, conditions)
        return columns

    def _blocks(self, room: float) -> Iterator[tuple[Lines, list[float]]]:
        """Parts of the risk table that fit the room, and the widths of their columns."""
        lines = tuple((head, tuple(map(typeset, cells))) for head, cells in self._sheet.risk_lines)
        head = max(_width(name, is_bold=True) for name, _ in lines) + 2 * _PADDING
        cell = max(_width(text) for _, cells in lines for text in cells) + 2 * _PADDING
        for block in folded(lines, max(int((room - head) / cell), 1)):
            yield block, [head] + [cell] * len(block[0][1])

    def _paragraph(self, text: str, *, is_bold: bool = False, size: float = _SIZE) -> None:
        for line in _wrapped(text, self._inner, is_bold=is_bold, size=size):
            self.items.append(_Text(_MARGIN, self._y + size, line, is_bold=is_bold, size=size))
            self._y += _LINE * size / _SIZE
        self._y += 0.3 * _LINE

    def _text(self, x: float, text: str, *, align: str = "left", is_bold: bool = False) -> None:
        """Text in the line that begins at the present height."""
        self.items.append(_Text(x, self._y + _SIZE, text, align, is_bold=is_bold))

    def _rule(self, width: float) -> None:
        self.items.append(_Line((_MARGIN, _MARGIN + width), (self._y, self._y)))

    def _sides(self, top: float, edges: list[float]) -> None:
        for x in edges:
            self.items.append(_Line((x, x), (top, self._y)))

    def _points_table(self) -> None:
        top = self._y
        number, name, worth, blank = itertools.accumulate(self._columns[:-1], initial=_MARGIN)
        self._rule(self._inner)
        for k, lines in enumerate(self._names):
            self._y += 0.5 * _PADDING
            self._text(name - _PADDING, f"{k + 1}.", align="right")
            self._text(worth + _PADDING, self._worths[k])
            self._blank(blank, "+" if k else "")
            for line in lines:
                self._text(name + _PADDING, line)
                self._y += _LINE
            self._y += 0.5 * _PADDING
        self._total(name, worth + _PADDING, blank)
        self._sides(top, [number, blank, _MARGIN + self._inner])
        self._y += _LINE

    def _variables_table(self) -> None:
        """Rows of variables, one line for each band, and rules between variables."""
        top = self._y
        number, name, condition, worth, blank = itertools.accumulate(
            self._columns[:-1], initial=_MARGIN
        )
        for k, (variable, names) in enumerate(zip(self._sheet.variables, self._names, strict=True)):
            self._rule(self._inner)
            self._y += 0.5 * _PADDING
            start = self._y
            self._text(name - _PADDING, f"{k + 1}.", align="right")
            for line in names:
                self._text(name + _PADDING, line)
                self._y += _LINE
            end, self._y = self._y, start
            for band in variable.bands:
                points = typeset(one_line(band.printed_points))
                self._text(blank - _PADDING, points, align="right")
                for line in _condition_lines(band):
                    self._text(condition + _PADDING, line)
                    self._y += _LINE
            self._y = max(self._y, end) - _LINE
            self._blank(blank, "+" if k else "")
            self._y += _LINE + 0.5 * _PADDING
        self._total(name, worth + _PADDING, blank)
        self._sides(top, [number, blank, _MARGIN + self._inner])
        self._y += _LINE

    def _total(self, name: float, score: float, blank: float) -> None:
        """The line below all others, with room for the sum."""
        self._rule(self._inner)
        height = _LINE + _PADDING
        self.items.append(_Area(_MARGIN, self._y, self._inner, height, _TINT))
        self._rule(self._inner)
        self._y += 0.5 * _PADDING
        self._text(name + _PADDING, self._sheet.instruction)
        self._text(score, "Score", is_bold=True)
        self._blank(blank, "=")
        self._y += _LINE + 0.5 * _PADDING
        self._rule(self._inner)

    def _blank(self, left: float, sign: str) -> None:
        """A sign and a line to write on."""
        x = left + _PADDING
        self._text(x, sign)
        x += _width("= ")
        self.items.append(_Line((x, x + _BLANK), (self._y + 1.15 * _SIZE,) * 2))

    def _risk_block(self, lines: Lines, widths: list[float]) -> None:
        top = self._y
        height = _LINE + _PADDING
        edges = list(itertools.accumulate(widths, initial=_MARGIN))
        for k, (head, cells) in enumerate(lines):
            if k < 2:  # scores and risks stand out from what was observed
                color = (_HEAD, _TINT)[k]
                self.items.append(_Area(_MARGIN, self._y, sum(widths), height, color))
            self._rule(sum(widths))
            self._y += 0.5 * _PADDING
            self._text(_MARGIN + _PADDING, head, is_bold=True)
            for cell, left, right in zip(cells, edges[1:], edges[2:], strict=False):
                self._text((left + right) / 2, cell, align="center")
            self._y += _LINE + 0.5 * _PADDING
        self._rule(sum(widths))
        self._sides(top, edges)
        self._y += 0.7 * _LINE
