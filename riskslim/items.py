"""Items of a risk score: conditions on a variable, such as "age >= 60" or "sex = female"."""

from __future__ import annotations

import re

__all__ = ["source_variable"]

# What stands between a variable and a value. Symbols may touch their neighbours; words may not,
# and "in" has to be followed by a set or an interval: "days in hospital" is a plain name.
_OPERATOR = re.compile(
    r"\s*(?<![<>=!])(?:>=|<=|!=|==|[<>=≥≤≠])\s*(?=\S)|\s+is(?:\s+not)?\s+missing$|\s+(?:not\s+)?in\s+(?=[{\[(])"
)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def source_variable(name: str) -> str:
    """Return the variable that an item is a condition on, as its name says.

    Parameters
    ----------
    name : str
        Name of an item: a variable, an operator (``>=``, ``>``, ``<=``, ``<``, ``=``, ``==``,
        ``!=``, their typographic forms, ``in``, ``not in``) and a value; or a variable followed by
        "is missing" or "is not missing"; or an interval, "40 <= age < 60".

    Returns
    -------
    str
        What stands before the first operator, or between the operators of an interval. A name
        without an operator is a variable itself.

    Examples
    --------
    >>> from riskslim.items import source_variable
    >>> [source_variable(name) for name in ("age >= 60", "sex != female", "age is missing", "BMI")]
    ['age', 'sex', 'age', 'BMI']
    >>> source_variable("country in {A, B}"), source_variable("40 <= age < 60")
    ('country', 'age')
    """
    variable, condition = _split(name.strip())
    if _NUMBER.fullmatch(variable):
        middle, upper_end = _split(condition)
        return middle if upper_end else variable
    return variable


def _split(name: str) -> tuple[str, str]:
    """Text before and after the first operator that has a text before it."""
    match = _OPERATOR.search(name, 1)
    return (name[: match.start()], name[match.end() :]) if match else (name, "")
