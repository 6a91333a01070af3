"""Items of a risk score: conditions on a variable, such as "age >= 60" or "sex = female"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from riskslim._wording import listing, near

__all__ = [
    "Item",
    "ItemKind",
    "conditions",
    "plain_number",
    "source_variable",
    "unknown_feature",
    "value_text",
]

ItemKind: TypeAlias = Literal[">=", "<=", "=", "in", "missing", "boolean", "numeric"]

# What stands between a variable and a value. Symbols may touch their neighbours; words may not,
# and "in" has to be followed by a set or an interval: "days in hospital" is a plain name.
_OPERATOR = re.compile(
    r"\s*(?<![<>=!])(?:>=|<=|!=|==|[<>=≥≤≠])\s*(?=\S)"
    r"|\s+is(?:\s+not)?\s+missing$|\s+(?:not\s+)?in\s+(?=[{\[(])"
)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class Item:
    """A condition on one variable, or a variable as it is.

    Attributes
    ----------
    name : str
        How the item reads in a risk score, for example "age >= 60".
    variable : str
        What :func:`source_variable` reads from the name.
    kind : {">=", "<=", "=", "in", "missing", "boolean", "numeric"}
        "in" stands for several levels of a categorical variable; "boolean" and "numeric" for a
        column of 0 and 1, and one of numbers, as it is.
    value : float, str, tuple or None
        The threshold, the level, or the tuple of levels; None for the other kinds.

    Examples
    --------
    >>> from riskslim.items.item import Item
    >>> Item.of("age", ">=", 60.0)
    Item(name='age >= 60', variable='age', kind='>=', value=60.0)
    >>> Item.of("country", "in", ("A", "B")).name
    'country in {A, B}'
    """

    name: str
    variable: str
    kind: ItemKind
    value: Any = None

    @classmethod
    def of(cls, column: str, kind: ItemKind, value: Any = None) -> Item:
        """Return the item with the name that its column, kind and value give it."""
        name = column
        if kind == "missing":
            name = f"{column} is missing"
        elif kind == "in":
            name = f"{column} in {{{', '.join(map(value_text, value))}}}"
        elif value is not None:
            name = f"{column} {kind} {value_text(value)}"
        return cls(name, source_variable(name), kind, value)


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
    >>> from riskslim.items.item import source_variable
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


def unknown_feature(name: str, feature_names: Sequence[str]) -> str:
    """How errors write a name that none of these features has: with what may be meant.

    Parameters
    ----------
    name : str
    feature_names : sequence of str

    Returns
    -------
    str

    Examples
    --------
    >>> from riskslim.items.item import unknown_feature
    >>> unknown_feature("Age", ["age", "sex = female"])
    "'Age' (did you mean 'age'?)"
    >>> unknown_feature("sexx", ["age", "sex = female"])
    "'sexx' (did you mean 'sex'?)"
    >>> print(unknown_feature("age", ["age >= 60", "sex = female"]))
    'age' (a variable, with features 'age >= 60'; in constraints variable('age') stands for them)
    """
    variables = [source_variable(feature) for feature in feature_names]
    of_variable = [
        feature
        for feature, variable in zip(feature_names, variables, strict=True)
        if variable == name
    ]
    if not of_variable:
        return f"{name!r}{near(name, [*feature_names, *variables])}"
    return (
        f"{name!r} (a variable, with features {listing(map(repr, of_variable))}; in constraints "
        f"variable({name!r}) stands for them)"
    )


def plain_number(value: Any) -> Any:
    """Return a NumPy number as a Python number with the same shortest text: 0.1 stays 0.1."""
    if hasattr(value, "item"):
        # The float64 closest to a float32 reads 0.10000000149; what it is shown as reads 0.1.
        return float(str(value)) if value.dtype.kind == "f" else value.item()
    return value


def conditions(name: str) -> Iterator[tuple[str, str, str]]:
    """All ways to read a name as a condition on a variable.

    Parameters
    ----------
    name : str

    Yields
    ------
    variable, operator, value : str
        With an operator as :func:`source_variable` knows them; the value is empty where the
        operator needs none.

    Examples
    --------
    >>> from riskslim.items.item import conditions
    >>> list(conditions("age is missing")), list(conditions("country in {A, B}"))
    ([('age', 'is missing', '')], [('country', 'in', '{A, B}')])
    >>> list(conditions("note = a > b"))
    [('note', '=', 'a > b'), ('note = a', '>', 'b')]
    """
    for match in _OPERATOR.finditer(name, 1):
        yield name[: match.start()], " ".join(match.group().split()), name[match.end() :]


def value_text(value: Any) -> str:
    """How the names of items write a value."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    return str(value) if value != "" else "''"


def _split(name: str) -> tuple[str, str]:
    """Text before and after the first operator that has a text before it."""
    match = _OPERATOR.search(name, 1)
    return (name[: match.start()], name[match.end() :]) if match else (name, "")
