"""Items of a risk score: conditions on a variable, such as "age >= 60" or "sex = female".

An :class:`Item` says as data what a feature is: the variable, the kind of condition, the value. Its
name is for people. A name alone states nothing; whoever wants names to be taken at their word says
so, by :meth:`Item.parse` or :func:`read_items`.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import as_float
from riskslim._wording import listing, near

__all__ = [
    "COMPARISONS",
    "Item",
    "ItemKind",
    "as_condition",
    "as_written",
    "bound_for",
    "conditions",
    "lies_between",
    "met_by_numbers",
    "number_of",
    "plain_number",
    "read_item",
    "read_items",
    "readings",
    "source_variable",
    "unknown_feature",
    "value_text",
    "variable_of",
]

ItemKind: TypeAlias = Literal[">=", "<=", ">", "<", "=", "in", "missing", "boolean", "numeric"]

_KINDS = (">=", "<=", ">", "<", "=", "in", "missing", "boolean", "numeric")

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip

_UFUNCS: dict[str, np.ufunc] = {
    ">=": np.greater_equal, "<=": np.less_equal, ">": np.greater, "<": np.less,
}  # fmt: skip

# How names write kinds, beside the kinds themselves.
_SPELLINGS = {"≥": ">=", "≤": "<=", "==": "=", "is missing": "missing"}

# "not age >= 40" is no condition on a variable "not age".
_NEGATION = re.compile(r"\b(?:not?|without|except|unless|neither|nor)\b|[!~¬]", re.IGNORECASE)

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

    Parameters
    ----------
    name : str
        How the item reads in a risk score, for example "age >= 60": the name of its feature.
    variable : str
        The raw column that it is a condition on.
    kind : {">=", "<=", ">", "<", "=", "in", "missing", "boolean", "numeric"}
        "in" stands for several levels of a categorical variable; "boolean" and "numeric" for a
        column of 0 and 1, and one of numbers, as it is.
    value : float, str, bool, tuple or None
        The threshold, the level, or the tuple of levels; None for the other kinds.
    interval : (float, float), optional
        Of a threshold: the neighbouring values of the training rows between which it lies. All
        thresholds between them split these rows alike: for ">=" and "<" those above the first one
        and up to the second one, for "<=" and ">" those from the first one to below the second
        one. It is a note on the training rows and no part of the condition: items are equal
        without it.
    special : tuple of float, default ()
        Of a threshold: values of the variable that are no measurements, such as -9 for "unknown".
        They do not meet the condition, whatever their number is.
    order : {">=", "<="}, optional
        Of levels in an order: whether those of the higher or of the lower end are meant. It says
        how the item grows with its variable, and is no part of the condition.

    Raises
    ------
    TypeError, ValueError
        Names that are no text, another kind, or a value that is not of the kind; an interval
        that is none, or of another kind.

    Examples
    --------
    >>> from riskslim.items import Item
    >>> Item.of("age", ">=", 60.0)
    Item(name='age >= 60', variable='age', kind='>=', value=60.0)
    >>> Item.of("country", "in", ("A", "B")).name
    'country in {A, B}'
    >>> Item("senior", "age", ">=", 65)
    Item(name='senior', variable='age', kind='>=', value=65)
    """

    name: str
    variable: str
    kind: ItemKind
    value: Any = None
    interval: tuple[float, float] | None = field(default=None, compare=False, repr=False)
    special: tuple[float, ...] = ()
    order: Literal[">=", "<="] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """The arguments that make the item, without notes and what it does not have."""
        special = f", special={self.special!r}" if self.special else ""
        return (
            f"Item(name={self.name!r}, variable={self.variable!r}, kind={self.kind!r}, "
            f"value={self.value!r}{special})"
        )

    def __post_init__(self) -> None:
        for text, what in ((self.name, "name"), (self.variable, "variable")):
            if not isinstance(text, str):
                raise TypeError(f"the {what} of an item must be a str, got {text!r}")
        if self.kind not in _KINDS:
            raise ValueError(
                f"the kind of an item must be one of {', '.join(map(repr, _KINDS))}, got "
                f"{self.kind!r}"
            )
        if not _is_of_kind(self.value, self.kind):
            raise ValueError(
                f"the value of an item of kind {self.kind!r} must be {_WANTED[self.kind]}, got "
                f"{self.value!r}"
            )
        if self.interval is not None:
            _check_interval(self)
        if self.special:
            _check_special(self)
        if self.order is not None and (self.order not in (">=", "<=") or not self.levels):
            raise ValueError(
                f"the order of an item must be '>=' or '<=', and of levels, got {self.order!r} of "
                f"{self.name!r}"
            )

    @classmethod
    def of(
        cls,
        column: str,
        kind: ItemKind,
        value: Any = None,
        interval: tuple[float, float] | None = None,
        special: tuple[float, ...] = (),
    ) -> Item:
        """Return the item with the name that its column, kind and value give it.

        Parameters
        ----------
        column : str
        kind, value, interval, special
            As in :class:`Item`.

        Returns
        -------
        Item
        """
        name = column
        if kind == "missing":
            name = f"{column} is missing"
        elif kind == "in":
            name = f"{column} in {{{', '.join(map(value_text, value))}}}"
        elif value is not None:
            name = f"{column} {kind} {value_text(value)}"
        return cls(name, column, kind, value, interval, special)

    @classmethod
    def parse(cls, name: str) -> Item:
        """State that a name says what the item is.

        Parameters
        ----------
        name : str
            A variable, an operator (``>=``, ``>``, ``<=``, ``<``, ``=``, ``==``, ``≥``, ``≤``,
            ``in``) and a value; or a variable followed by "is missing".

        Returns
        -------
        Item
            Levels are text: "ward = 7" is met by the number 7 as well.

        Raises
        ------
        ValueError
            The name is no condition, an interval, can be read in two ways, or has a negation.

        Examples
        --------
        >>> from riskslim.items import Item
        >>> Item.parse("age >= 60")
        Item(name='age >= 60', variable='age', kind='>=', value=60)
        >>> Item.parse("ward in {A, B}").value
        ('A', 'B')
        """
        known = readings(name)
        unclear = len(known) != 1 or _OPERATOR.search(known[0].variable, 1)  # "40 <= age < 60"
        if unclear or _NEGATION.search(known[0].variable):
            what = "can be read in two ways" if len(known) > 1 else "does not say what the item is"
            raise ValueError(f"{name!r} {what}: state it by Item(name, variable, kind, value)")
        return known[0]

    @property
    def is_condition(self) -> bool:
        """True if the item is computed from its variable, and is not the variable itself."""
        return self.kind not in ("boolean", "numeric")

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels that a condition names, as text; none of a condition of another kind."""
        if self.kind == "in":
            return tuple(map(value_text, self.value))
        return (value_text(self.value),) if self.kind == "=" else ()

    @property
    def exceptions(self) -> tuple[float, ...]:
        """Special values that would meet the condition if they were measurements."""
        if self.kind not in COMPARISONS:
            return ()
        return tuple(one for one in self.special if COMPARISONS[self.kind](one, self.value))

    @property
    def numbers(self) -> tuple[float, ...]:
        """The levels that a condition names, as numbers; without those that are none."""
        found = map(number_of, self.levels)
        return tuple(one for one in found if one is not None)


_WANTED = {
    **dict.fromkeys(COMPARISONS, "a finite number"),
    "=": "a level",
    "in": "a tuple of levels",
    **dict.fromkeys(("missing", "boolean", "numeric"), "None"),
}


def _is_of_kind(value: Any, kind: ItemKind) -> bool:
    if kind in COMPARISONS:
        # A threshold in a name may be too large for float64: such an item is never met.
        return not isinstance(value, bool) and isinstance(value, (int, float)) and value == value
    if kind == "in":
        return isinstance(value, tuple) and len(value) > 0
    return (value is not None) == (kind == "=")


def as_condition(item: Item) -> Item | None:
    """Return an item as a condition on its variable: a column of 0 and 1 has to be 1.

    Parameters
    ----------
    item : Item

    Returns
    -------
    Item or None
        The item itself if it is a condition; None for a column of numbers.

    Examples
    --------
    >>> from riskslim.items.item import Item, as_condition
    >>> as_condition(Item.of("smoker", "boolean"))
    Item(name='smoker', variable='smoker', kind='=', value=1)
    """
    if item.kind == "boolean":
        return Item(item.name, item.variable, "=", 1)
    return item if item.is_condition else None


def lies_between(cutoff: Any, lower: Any, upper: Any, kind: str) -> bool:
    """True if a cut-off tells two neighbouring values apart.

    Parameters
    ----------
    cutoff, lower, upper : float
    kind : {">=", "<=", ">", "<"}

    Returns
    -------
    bool
        For ">=" and "<" it has to be above the lower value and at most the upper one; for "<=" and
        ">" at least the lower one, and below the upper one.
    """
    if kind in (">=", "<"):
        return bool(lower < cutoff <= upper)
    return bool(lower <= cutoff < upper)


def _check_interval(item: Item) -> None:
    """Refuse an interval that does not hold the item's threshold."""
    ends = item.interval
    are_numbers = isinstance(ends, tuple) and len(ends) == 2
    are_numbers = are_numbers and all(
        _is_of_kind(end, ">=") and math.isfinite(as_float(end)) for end in ends or ()
    )
    if item.kind not in COMPARISONS or not are_numbers or ends is None:
        raise ValueError(
            "the interval of an item must be two numbers around a threshold, got "
            f"{item.interval!r} of {item.name!r}"
        )
    lower, upper = ends
    if not lies_between(item.value, lower, upper, item.kind):
        raise ValueError(
            f"{item.name!r}: the threshold {item.value!r} is not within its interval, {lower!r} to "
            f"{upper!r}"
        )


def _check_special(item: Item) -> None:
    """Refuse special values of an item that has no threshold, or that are no numbers."""
    are_numbers = isinstance(item.special, tuple) and all(
        _is_of_kind(one, ">=") and math.isfinite(as_float(one)) for one in item.special
    )
    if item.kind not in COMPARISONS or not are_numbers:
        raise ValueError(
            "the special values of an item must be a tuple of finite numbers, and of a threshold, "
            f"got {item.special!r} of {item.name!r}"
        )


def met_by_numbers(
    item: Item, values: NDArray[Any], out: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Find which numbers meet a condition: a comparison, or one of the values that are named.

    Parameters
    ----------
    item : Item
        Of the kinds ">=", "<=", ">", "<", "=" or "in".
    values : ndarray of shape (n,)
        Numbers, NaN where they are missing, which meets nothing.
    out : ndarray of bool, shape (n,), optional
        Filled and returned.

    Returns
    -------
    ndarray of bool, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.items.item import Item, met_by_numbers
    >>> months = np.array([3, 20, 999, -9])
    >>> met_by_numbers(Item.of("months", ">=", 12, special=(-9, 999)), months)
    array([False,  True, False, False])
    >>> met_by_numbers(Item.of("months", "in", (-9, 999)), months)
    array([False, False,  True,  True])
    """
    met = np.empty(len(values), dtype=np.bool_) if out is None else out
    if item.kind in COMPARISONS:
        _UFUNCS[item.kind](values, bound_for(values, item.value), out=met)
        for one in item.exceptions:
            met &= values != bound_for(values, one)
        return met
    met[:] = False
    for one in item.numbers:
        met |= values == bound_for(values, one)
    return met


def read_item(name: str, columns: Collection[str]) -> Item | None:
    """Read a name as a condition on one of these columns.

    Parameters
    ----------
    name : str
    columns : collection of str

    Returns
    -------
    Item or None
        None if it is a condition on none of them.

    Raises
    ------
    ValueError
        It is a condition on several of them.
    """
    possible = [item for item in readings(name) if item.variable in columns]
    if len(possible) > 1:
        raise ValueError(
            f"{name!r} is a condition on several columns: "
            f"{listing(repr(item.variable) for item in possible)}. Rename one of them."
        )
    return possible[0] if possible else None


def read_items(names: Iterable[str]) -> dict[str, Item]:
    """State that names say what items are, for all names that can be read in one way.

    Parameters
    ----------
    names : iterable of str
        As :meth:`Item.parse` reads them.

    Returns
    -------
    dict from str to Item
        Without the names that are no conditions, or may be several.

    Examples
    --------
    >>> from riskslim.items import read_items
    >>> read_items(["age >= 60", "smoker"])
    {'age >= 60': Item(name='age >= 60', variable='age', kind='>=', value=60)}
    """
    found = {}
    for name in names:
        try:
            found[name] = Item.parse(name)
        except ValueError:
            continue
    return found


def readings(name: str) -> list[Item]:
    """Return all items that a name can be read as.

    Parameters
    ----------
    name : str

    Returns
    -------
    list of Item
    """
    return [item for parts in conditions(name) if (item := _read(name, *parts)) is not None]


def _read(name: str, variable: str, sign: str, text: str) -> Item | None:
    kind: Any = _SPELLINGS.get(sign, sign)
    value: Any = None
    if kind in COMPARISONS:
        value = number_of(text)
        if value is None or value != value:
            return None
    elif kind == "in":
        if not (text.startswith("{") and text.endswith("}")):
            return None
        value = tuple(text[1:-1].split(", "))
    elif kind == "=":
        value = text
    elif kind != "missing":
        return None
    return Item(name, variable, kind, value)


def number_of(text: str) -> float | None:
    """The number that a text is, an int where it can be; None if it is none."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def variable_of(name: str, items: Mapping[str, Item]) -> str:
    """Return the variable that a feature belongs to, where features are named by their variable.

    Parameters
    ----------
    name : str
    items : mapping from str to Item
        What is stated of features. Of others, and of variables as they are, the name says it.

    Returns
    -------
    str
    """
    item = items.get(name)
    return source_variable(name) if item is None or not item.is_condition else item.variable


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


def unknown_feature(name: Any, feature_names: Sequence[str]) -> str:
    """Write a name that none of these features has, with what may be meant, for errors.

    Parameters
    ----------
    name : str
        Or what was given for one, such as a number.
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
    >>> print(unknown_feature("age >= 50", ["age >= 60", "bmi"]))  # doctest: +NORMALIZE_WHITESPACE
    'age >= 50' (did you mean 'age >= 60'?) (features of 'age' are 'age >= 60' in these rows, and
    others in each fold of a cross-validation; in constraints variable('age') stands for all of
    them)
    """
    if not isinstance(name, str):
        return repr(name)
    variables = [source_variable(feature) for feature in feature_names]
    of_variable = [
        feature
        for feature, variable in zip(feature_names, variables, strict=True)
        if variable == name
    ]
    if not of_variable:
        text = f"{name!r}{near(name, [*feature_names, *variables])}"
        source = source_variable(name)
        others = [
            feature
            for feature, variable in zip(feature_names, variables, strict=True)
            if variable == source != feature
        ]
        if not others:
            return text
        # An encoder that is fitted anew, as in each fold, makes other items of a variable.
        return (
            f"{text} (features of {source!r} are {listing(map(repr, others))} in these rows, and "
            "others in each fold of a cross-validation; in constraints "
            f"variable({source!r}) stands for all of them)"
        )
    return (
        f"{name!r} (a variable, with features {listing(map(repr, of_variable))}; in constraints "
        f"variable({name!r}) stands for them)"
    )


def bound_for(values: NDArray[Any], threshold: float) -> Any:
    """The threshold as it is compared with values: in 64 bits, as everywhere beyond their table.

    A float32 of 0.7 is less than 0.7, in a database as well as in exported code.
    """
    if values.dtype.kind != "f":
        return threshold
    try:
        return np.float64(threshold)
    except OverflowError:  # a whole number of more digits
        return np.float64(math.inf if threshold > 0 else -math.inf)


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


def as_written(number: float) -> float:
    """A number as people write it: -7 in place of -7.0."""
    return int(number) if float(number).is_integer() and abs(number) < 2**53 else number


def value_text(value: Any) -> str:
    """Write a value as names of items do."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    return str(value) if value != "" else "''"


def _split(name: str) -> tuple[str, str]:
    """Text before and after the first operator that has a text before it."""
    match = _OPERATOR.search(name, 1)
    return (name[: match.start()], name[match.end() :]) if match else (name, "")
