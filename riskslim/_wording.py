"""Numbers, names and installation commands as messages and tables write them."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable

__all__ = [
    "aligned",
    "how_to_install",
    "listing",
    "near",
    "not_installed",
    "percent",
    "pip_install",
    "printable",
]


def aligned(lines: list[list[str]], n_left: int = 0) -> str:
    """Put the cells of lines below each other.

    Parameters
    ----------
    lines : list of list of str
        All of one length.
    n_left : int, default 0
        So many columns are aligned on the left, the others on the right.

    Returns
    -------
    str

    Examples
    --------
    >>> from riskslim._wording import aligned
    >>> print(aligned([["AUC", "0.7"], ["loss", "0.51"]], n_left=1))
    AUC    0.7
    loss  0.51
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    sides = "<" * n_left + ">" * (len(widths) - n_left)
    return "\n".join(
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(line, sides, widths, strict=True)
        ).rstrip()
        for line in lines
    )


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


def pip_install(extra: str = "") -> str:
    """Command that installs an extra, or with "" what the package itself requires.

    Another project has this package's name on the public index, so the command never names it.

    Parameters
    ----------
    extra : str
        Name of the extra; "": none.

    Returns
    -------
    str

    Examples
    --------
    >>> from riskslim._wording import pip_install
    >>> print(pip_install("cli"), pip_install())
    `pip install ".[cli]"` `pip install .`
    """
    return f'`pip install ".[{extra}]"`' if extra else "`pip install .`"


def how_to_install(extra: str = "") -> str:
    """Command that installs an extra, and what its dot stands for.

    Parameters
    ----------
    extra : str
        Name of the extra; "": none.

    Returns
    -------
    str

    Examples
    --------
    >>> from riskslim._wording import how_to_install
    >>> print(how_to_install("cli"))
    `pip install ".[cli]"` (the dot stands for riskslim's source folder or wheel file)
    """
    return f"{pip_install(extra)} (the dot stands for riskslim's source folder or wheel file)"


def not_installed(user: str, *packages: str, extra: str) -> str:
    """Name what needs packages that are missing, and the command that installs them.

    Parameters
    ----------
    user : str
        What needs them, with its verb.
    *packages : str
    extra : str
        The extra that has them.

    Returns
    -------
    str
        A sentence without a full stop.

    Examples
    --------
    >>> from riskslim._wording import not_installed
    >>> print(not_installed("drawing needs", "matplotlib", extra="report"))
    drawing needs matplotlib, which is not installed: `pip install ".[report]"` (the dot stands
    for riskslim's source folder or wheel file)
    """
    are = "is" if len(packages) == 1 else "are"
    return f"{user} {' and '.join(packages)}, which {are} not installed: {how_to_install(extra)}"


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
