"""Numbers and names as messages and tables write them."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable

__all__ = ["listing", "near", "percent", "printable"]


def percent(risk: float, extreme: float) -> str:
    """Print a risk.

    Parameters
    ----------
    risk : float
    extreme : float
        Risks below it, and above 1 minus it, are printed as bounds.

    Returns
    -------
    str

    Examples
    --------
    >>> from riskslim.score.table import percent
    >>> percent(0.119203, 0.001), percent(0.0179, 0.05), percent(0.99991, 0.001)
    ('11.9%', '<5%', '>99.9%')
    """
    if risk < extreme:
        return f"<{fixed_decimals(100 * extreme)}%"
    if risk > 1.0 - extreme:
        return f">{fixed_decimals(100 * (1.0 - extreme))}%"
    # As many decimals as it takes to tell the smallest risk that is printed from 0.
    return f"{risk:.{max(math.ceil(-math.log10(extreme)) - 2, 1)}%}"


def fixed_decimals(number: float) -> str:
    """A number with ten decimals at most, and no exponent."""
    return f"{number:.10f}".rstrip("0").removesuffix(".")


# Names listed in one message before "... and k more".
MAX_LISTED = 10


def listing(items: Iterable[str]) -> str:
    """Join the first few items with commas, and count the others."""
    items = list(items)
    shown = ", ".join(items[:MAX_LISTED])
    more = len(items) - MAX_LISTED
    return f"{shown}, ... and {more} more" if more > 0 else shown


def near(name: object, names: Iterable[str]) -> str:
    """Ask whether a similar name was meant; empty if there is none."""
    folded = {str(known).casefold(): known for known in names}
    wanted = str(name).casefold()
    found = difflib.get_close_matches(wanted, folded, n=3)
    if not found and wanted:  # 'age' for 'age >= 60'
        found = [known for known in folded if re.match(rf"{re.escape(wanted)}[\W_]", known)][:3]
    meant = " or ".join(repr(folded[match]) for match in found)
    return f" (did you mean {meant}?)" if meant else ""


def printable(text: str, *, lines: bool = True) -> str:
    r"""Spell out what a terminal would obey rather than show: escape sequences, directions.

    Parameters
    ----------
    text : str
    lines : bool, default True
        Leave line breaks as they are; a name has none.

    Returns
    -------
    str

    Examples
    --------
    >>> from riskslim._wording import printable
    >>> printable("age\x1b[2J\n>= 60", lines=False)
    'age\\x1b[2J\\n>= 60'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or (lines and c == "\n") else c.encode("unicode_escape").decode()
        for c in text
    )
