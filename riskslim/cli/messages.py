"""Errors in one line for people."""

from __future__ import annotations

import re
import shlex

from riskslim._wording import how_to_install

__all__ = ["explained", "shell_word"]

# Parameters of the library that options are named after, where an error says them.
_PARAMETERS = (
    "base_odds", "base_points", "class_weight", "from_prevalence", "gap_tolerance", "higher_is",
    "items_per_variable", "l0_penalty", "l2_penalty",
    "max_coef", "max_intercept", "max_size", "max_thresholds", "min_size", "n_jobs", "n_solutions",
    "n_thresholds", "node_limit", "round_thresholds", "time_limit", "unknown_levels", "with_scale",
)  # fmt: skip
# The same of names that are words: as the first word alone.
_WORDS = (
    "categorical", "missing", "numeric", "pdo", "prevalence", "shrinkage", "thresholds", "within",
)  # fmt: skip
_OTHER_NAMES = {"n_threads": "--threads", "random_state": "--seed", "special_values": "--special"}
_NAMED = re.compile(rf"(?<!['\"])\b(?:{'|'.join((*_PARAMETERS, *_OTHER_NAMES))})\b(?!=)")
_FIRST = re.compile(rf"(?:{'|'.join(_WORDS)})(?= (?:must|names|of '))")


def explained(error: Exception) -> str:
    """Say what went wrong, and where a package is missing that riskslim requires, how to get it.

    Parameters
    ----------
    error : Exception

    Returns
    -------
    str
        One line, with options in place of parameters.
    """
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    # Python's own, not one of those that name an extra.
    if type(error) is ModuleNotFoundError and error.name:
        package = error.name.partition(".")[0]
        return (
            f"riskslim requires the package {package}, which is not installed: {how_to_install()} "
            "installs what is missing"
        )
    # Only line breaks: of other blanks, one too many can be what is wrong.
    text = re.sub(r"\s*[\r\n]\s*", " ", str(error).strip("\r\n"))
    text = _NAMED.sub(lambda found: _option(found[0]), text)
    return (
        _FIRST.sub(lambda found: _option(found[0]), text, count=1) if _FIRST.match(text) else text
    )


def _option(name: str) -> str:
    return _OTHER_NAMES.get(name, f"--{name.replace('_', '-')}")


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
