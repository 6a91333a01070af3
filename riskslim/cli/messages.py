"""Errors in one line for people."""

from __future__ import annotations

import re
import shlex

__all__ = ["explained", "shell_word"]


def explained(error: Exception) -> str:
    """Say what went wrong, and where a package is missing that riskslim requires, how to get it.

    Parameters
    ----------
    error : Exception

    Returns
    -------
    str
        One line.
    """
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    # Python's own, not one of those that name an extra.
    if type(error) is ModuleNotFoundError and error.name:
        package = error.name.partition(".")[0]
        return (
            f"riskslim requires the package {package}, which is not installed: `pip install "
            "riskslim` installs what is missing"
        )
    # Only line breaks: of other blanks, one too many can be what is wrong.
    return re.sub(r"\s*[\r\n]\s*", " ", str(error).strip("\r\n"))


def shell_word(text: str) -> str:
    r"""Quote a text for the shell; control characters are spelt out, as Bash and Zsh read them.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> from riskslim.cli.messages import shell_word
    >>> print(shell_word("age"), shell_word("date of birth"), shell_word("a\nb's"))
    age 'date of birth' $'a\nb\'s'
    """
    if text.isprintable():
        return shlex.quote(text)
    escaped = "".join(
        f"\\{c}" if c in "\\'" else c if c.isprintable() else c.encode("unicode_escape").decode()
        for c in text
    )
    return f"$'{escaped}'"
