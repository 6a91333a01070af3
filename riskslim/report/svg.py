"""Diagrams as SVG that stands within a page: its colours are the page's, its letters are text."""

from __future__ import annotations

import io
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from riskslim.plots import BLUE, GREY, ORANGE
from riskslim.score.typesetting import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Diagram", "drawn", "drawn_on_grid"]

# What diagrams are drawn with, as variables of the style sheet: they differ in light and dark.
_COLOURS = {
    "#000000": "currentColor",
    "#ffffff": "var(--surface)",
    BLUE.lower(): "var(--blue)",
    ORANGE.lower(): "var(--orange)",
    GREY.lower(): "var(--grey)",
}
_SETTINGS = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "legend.facecolor": "none",
    "savefig.facecolor": "none",
    "font.size": 10.0,
    "svg.fonttype": "none",  # text that can be selected, searched and read aloud
    "svg.hashsalt": "riskslim",  # the same diagram has the same names within
    "text.parse_math": False,  # a $ in a name is a $
}

_SIDES = ("width", "height")
_XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


class Diagram(NamedTuple):
    """A diagram for a page.

    Attributes
    ----------
    svg : str
        An element ``svg``.
    caption : str
        What stands below it.
    """

    svg: str
    caption: str


def drawn(
    draw: Callable[[Axes], Any],
    name: str,
    alternative: str,
    caption: str,
    size: tuple[float, float],
) -> Diagram:
    """Draw on one pair of axes.

    Parameters
    ----------
    draw : callable
        Draws on the axes that it is given.
    name : str
        That of no other diagram of the page.
    alternative : str
        What the diagram shows, for those who do not see it.
    caption : str
    size : (width, height)
        In inches.

    Returns
    -------
    Diagram
    """
    return drawn_on_grid(lambda axes: draw(axes[0, 0]), name, alternative, caption, size, (1, 1))


def drawn_on_grid(
    draw: Callable[[Any], Any],
    name: str,
    alternative: str,
    caption: str,
    size: tuple[float, float],
    shape: tuple[int, int],
) -> Diagram:
    """Draw on several axes.

    Parameters
    ----------
    draw : callable
        Draws on the array of axes that it is given.
    name, alternative, caption, size
        As for :func:`drawn`.
    shape : (rows, columns)

    Returns
    -------
    Diagram
    """
    from matplotlib.figure import Figure

    with _appearance():
        # No figure of pyplot: reports open no window, whatever the backend.
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots(*shape, squeeze=False))
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return Diagram(_inline(file.getvalue(), name, alternative), caption)


@contextmanager
def _appearance() -> Iterator[None]:
    import matplotlib.style

    with matplotlib.style.context(["default", _SETTINGS]), warnings.catch_warnings():
        # The reader's browser has letters that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def _inline(document: str, name: str, alternative: str) -> str:
    """Turn a document of matplotlib's into an element of a page of HTML."""
    root = ET.fromstring(document)
    width, height = (float(root.attrib.pop(side).removesuffix("pt")) for side in _SIDES)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {
            _local(key): value for key, value in element.attrib.items() if key != _XML_SPACE
        }
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "width": f"{width * 4 / 3:.0f}",
        "height": f"{height * 4 / 3:.0f}",
        "role": "img",
        "aria-label": one_line(alternative),
    }
    text = ET.tostring(root, encoding="unicode")
    for colour, variable in _COLOURS.items():
        text = text.replace(f": {colour}", f": {variable}")
    return _with_own_names(text, name)


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _with_own_names(text: str, name: str) -> str:
    """Keep the ids that are referred to, and make them differ from those of other diagrams."""
    used = set(re.findall(r'(?:url\(|href=")#([^")]+)', text))
    text = re.sub(
        r' id="([^"]+)"',
        lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "",
        text,
    )
    return re.sub(r'(url\(|href=")#', rf"\g<1>#{name}-", text)
