"""The picture of a list of scores: a row for each item, a column for each score.

It is written as SVG by itself, not drawn by matplotlib: each score is one group of elements, which
the filters of the page take out and bring back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from riskslim.report.svg import Diagram
from riskslim.score.typesetting import one_line, typeset

__all__ = ["Column", "Strip", "matrix"]

# Lengths in pixels: a row, a strip above the rows and what is between strips, the margins, and the
# narrowest and the widest column.
_ROW, _STRIP, _GAP, _MARGIN = 20, 40, 14, 8
_LETTER, _WIDTH, _NARROWEST, _WIDEST = 6.6, 720, 1.4, 30.0
# Letters of a name, and shades of points.
_MOST_LETTERS, _SHADES = 44, 5
# From this width on, points are written into their fields.
_WITH_TEXT = 18.0


class Column(NamedTuple):
    """A score as a column of the picture.

    Attributes
    ----------
    rank : int
    points : mapping from int to int
        By row.
    title : str
        All about the score in a line, which browsers show where the pointer is.
    """

    rank: int
    points: Mapping[int, int]
    title: str


class Strip(NamedTuple):
    """A figure of each score, as dots above the rows.

    Attributes
    ----------
    name : str
    values : sequence of float or None
        One for each column; None where there is none.
    texts : tuple of two str
        Smallest and largest value in words.
    """

    name: str
    values: Sequence[float | None]
    texts: tuple[str, str]


def matrix(
    rows: Sequence[tuple[str, str]],
    columns: Sequence[Column],
    strips: Sequence[Strip],
    alternative: str,
    caption: str,
) -> Diagram:
    """Draw which score has which item.

    Parameters
    ----------
    rows : sequence of (str, str)
        Name of each item, and what is written behind its row.
    columns : sequence of Column
    strips : sequence of Strip
    alternative : str
        What the picture shows, for those who do not see it.
    caption : str

    Returns
    -------
    Diagram
    """
    names = [_shortened(name) for name, _ in rows]
    labels = [*names, *(strip.name for strip in strips)]
    left = _MARGIN + _LETTER * max(map(len, labels), default=0) + _MARGIN
    width = min(max(_WIDTH / max(len(columns), 1), _NARROWEST), _WIDEST)
    top = len(strips) * (_STRIP + _GAP) + _MARGIN
    right = left + width * len(columns)
    behind = [behind for _, behind in rows] + [text for strip in strips for text in strip.texts]
    whole = right + _MARGIN + _LETTER * max(map(len, behind), default=0) + _MARGIN
    height = top + _ROW * len(rows) + _ROW + _MARGIN
    kind = "matrix written" if width >= _WITH_TEXT else "matrix"
    text = [
        f'<svg class="{kind}" viewBox="0 0 {whole:.0f} {height}" width="{whole:.0f}" '
        f'height="{height}" role="img" aria-label={quoteattr(one_line(alternative))}>'
    ]
    for k, strip in enumerate(strips):
        text += _strip_frame(strip, _MARGIN + k * (_STRIP + _GAP), left, right)
    for k, (name, (_, share)) in enumerate(zip(names, rows, strict=True)):
        text += _row_frame(name, share, top + k * _ROW, left, right)
    shade = max((abs(p) for one in columns for p in one.points.values()), default=1)
    for k, column in enumerate(columns):
        dots = [
            _dot(strip, k, _MARGIN + j * (_STRIP + _GAP), width) for j, strip in enumerate(strips)
        ]
        text.append(
            f'<g class="score" transform="translate({left + k * width:.1f})">'
            f"<title>{escape(one_line(column.title))}</title>{''.join(filter(None, dots))}"
            f"{_fields(column.points, top, width, shade)}</g>"
        )
    text += _ranks(columns, top + _ROW * len(rows), left, width)
    return Diagram("".join([*text, "</svg>"]), caption)


def _shortened(name: str) -> str:
    name = one_line(name)
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 1]}\u2026"


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    of = f' class="{kind}"' if kind else ""
    return f'<text{of} x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _strip_frame(strip: Strip, top: float, left: float, right: float) -> list[str]:
    """The name of a strip, and the ends of its values."""
    low, high = strip.texts
    return [
        _text(left - _MARGIN, top + _STRIP / 2 + 4, strip.name, "end"),
        f'<path class="line" d="M{left:.1f} {top}H{right:.1f}M{left:.1f} {top + _STRIP}'
        f'H{right:.1f}"/>',
        _text(right + _MARGIN, top + 6, high),
        *([_text(right + _MARGIN, top + _STRIP + 2, low)] if low != high else []),
    ]


def _row_frame(name: str, share: str, top: float, left: float, right: float) -> list[str]:
    return [
        _text(left - _MARGIN, top + 14, name, "end"),
        f'<path class="line" d="M{left:.1f} {top + _ROW}H{right:.1f}"/>',
        _text(right + _MARGIN, top + 14, share),
    ]


def _dot(strip: Strip, k: int, top: float, width: float) -> str | None:
    """The value of a score, between the least and the largest of all."""
    value = strip.values[k]
    if value is None:
        return None
    known = [one for one in strip.values if one is not None]
    low, high = min(known), max(known)
    share = (value - low) / (high - low) if high > low else 1.0
    radius = min(max(width / 3, 1.2), 3.5)
    return f'<circle cx="{width / 2:.1f}" cy="{top + _STRIP * (1 - share):.1f}" r="{radius:.1f}"/>'


def _fields(points: Mapping[int, int], top: float, width: float, most: int) -> str:
    """The fields of a score, those with the same points as one shape, and the points in them."""
    shapes: dict[str, list[str]] = {}
    gap = 1.0 if width > 4 else 0.0
    for row, worth in points.items():
        level = -(-abs(worth) * _SHADES // most)
        kind = f"{'more' if worth > 0 else 'less'} s{level}"
        shape = f"M0 {top + row * _ROW + 2}h{width - gap:.1f}v{_ROW - 4}H0z"
        shapes.setdefault(kind, []).append(shape)
    found = [f'<path class="{kind}" d="{"".join(one)}"/>' for kind, one in shapes.items()]
    if width >= _WITH_TEXT:
        found += [
            _text((width - gap) / 2, top + row * _ROW + 14, typeset(str(worth)), "middle")
            for row, worth in points.items()
        ]
    return "".join(found)


def _ranks(columns: Sequence[Column], top: float, left: float, width: float) -> list[str]:
    """The ranks beneath the columns, as many as there is room for."""
    widest = _LETTER * len(str(max((one.rank for one in columns), default=0))) + 6
    step = next(
        step
        for power in range(7)
        for step in (10**power, 2 * 10**power, 5 * 10**power)
        if step * width >= widest
    )
    found = [_text(left - _MARGIN, top + 15, "rank", "end")]
    for k, column in enumerate(columns):
        if k % step == 0:
            found.append(_text(left + (k + 0.5) * width, top + 15, str(column.rank), "middle"))
    return found
