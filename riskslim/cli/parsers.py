"""Parsers of options whose complaints show what was given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

__all__ = ["number"]


def number(
    kind: type[int] | type[float], least: float | None = None, words: tuple[str, ...] = ()
) -> Callable[[str], Any]:
    """Return a parser of numbers.

    Parameters
    ----------
    kind : {int, float}
    least : float, optional
        The smallest one that is allowed.
    words : tuple of str, default ()
        What may stand in place of a number.

    Returns
    -------
    callable
    """
    what = "a whole number" if kind is int else "a number"
    if least is not None:
        what += f" of at least {least:g}"
    if words:
        what = f"{', '.join((what, *words[:-1]))} or {words[-1]}"

    def parse(text: str) -> Any:
        if text in words:
            return text
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or (least is not None and not value >= least):
            raise typer.BadParameter(f"expected {what}, got {str(text)!r}")
        return value

    return parse
