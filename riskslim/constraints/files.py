"""Constraints in TOML files, for the command line.

Each table of a file is one constraint, named by its function: ``[[at_most]]`` is
:func:`~riskslim.at_most`, and its keys are the function's arguments. :data:`KINDS` lists all of
them.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

from riskslim._wording import listing, near, not_installed
from riskslim.constraints.allowed_points import fixed_points, minimum_points, monotone, points_in
from riskslim.constraints.base import Constraint, Feature, Variable, variable
from riskslim.constraints.linear import (
    LinearConstraint,
    at_least,
    at_most,
    at_most_variables,
    either_or,
    exactly,
    if_then,
    items_per_variable,
    model_size,
    not_both,
)
from riskslim.constraints.rates import (
    false_negative_rate_at_most,
    false_positive_rate_at_most,
    rate_gap_at_most,
)
from riskslim.constraints.shares import operating_point_at_least
from riskslim.constraints.side_information import risk_at_least, risk_at_most

__all__ = ["KINDS", "read_constraints"]


# ---------------------------------------------------------------------------------------------
# Values that TOML writes in another way than Python
# ---------------------------------------------------------------------------------------------


def _feature(value: Any) -> Any:
    """One feature by name, or all of a variable: {variable = "age"}."""
    if isinstance(value, dict):
        _check_keys(value, ("variable",))
        return variable(value["variable"])
    return value


def _features(value: Any) -> Any:
    return [_feature(one) for one in value] if isinstance(value, list) else _feature(value)


def _several(value: Any) -> Any:
    if not isinstance(value, list):
        raise TypeError(f"expected a list such as [0, 2, 5], got {value!r}")
    return value


def _groups(value: Any) -> Any:
    """Groups of features, with or without names."""
    if isinstance(value, dict):
        return {name: _group(features) for name, features in value.items()}
    if not isinstance(value, list):
        raise TypeError(f'expected {{age = ["age >= 40"]}} or a list of groups, got {value!r}')
    return [_features(one) for one in value]


def _group(value: Any) -> Any:
    """The features of one group: a variable may stand for all of them."""
    features = _features(value)
    return [features] if isinstance(features, (str, Variable)) else features


def _terms(value: Any) -> Any:
    """Coefficients by feature: {age = 1}, or [{variable = "age", coefficient = 1}]."""
    return _listed_terms(value, "feature", _feature) if isinstance(value, list) else value


def _group_terms(value: Any) -> Any:
    """Coefficients by group: [{features = ["LDL", "HDL"], coefficient = 1}]."""
    if not isinstance(value, list):
        raise TypeError(
            'expected a list such as [{features = ["LDL", "HDL"], coefficient = 1}], got '
            f"{value!r}"
        )
    return _listed_terms(value, "features", lambda features: tuple(_group(features)))


def _listed_terms(value: list[Any], key: str, read: Callable[[Any], Any]) -> dict[Any, Any]:
    terms: dict[Any, Any] = {}
    for term in value:
        if not isinstance(term, dict):
            raise TypeError(f"expected tables with {key} and coefficient, got {term!r}")
        _check_keys(term, ("coefficient",), (key, "variable"))
        feature: Feature | tuple[Feature, ...] = (
            variable(term["variable"]) if "variable" in term else read(term[key])
        )
        if feature in terms:
            raise ValueError(f"{feature!r} is given twice")
        terms[feature] = term["coefficient"]
    return terms


def _conditions(value: Any) -> Any:
    """Values of features, or pairs of operator and value: {male = 1, age = [">=", 60]}."""
    if not isinstance(value, dict):
        return value
    return {
        name: tuple(condition) if isinstance(condition, list) else condition
        for name, condition in value.items()
    }


def _check_keys(
    table: Mapping[str, Any], required: tuple[str, ...], one_of: tuple[str, ...] = ()
) -> None:
    """Refuse a small table with other keys than these, or without some of them."""
    for key in table:
        if key not in (*required, *one_of):
            raise ValueError(
                f"unknown key {key!r}{near(key, (*required, *one_of))}; expected "
                f"{listing((*required, *one_of))}"
            )
    missing = [key for key in required if key not in table]
    if missing:
        raise ValueError(f"{dict(table)!r} lacks {listing(missing)}")
    if one_of and sum(key in table for key in one_of) != 1:
        raise ValueError(f"{dict(table)!r} must have one of {listing(one_of)}")


# ---------------------------------------------------------------------------------------------
# Kinds
# ---------------------------------------------------------------------------------------------


class _Key(NamedTuple):
    """A key of a table: the argument that it gives, and how its value is read."""

    argument: str
    read: Callable[[Any], Any]


@dataclasses.dataclass(frozen=True)
class _Kind:
    """A kind of table: the function that it calls, and its keys."""

    function: Callable[..., Constraint]
    keys: Mapping[str, _Key]

    @property
    def required(self) -> list[str]:
        """Keys whose arguments have no default."""
        parameters = inspect.signature(self.function).parameters
        return [
            key
            for key, (argument, _) in self.keys.items()
            if parameters[argument].default is inspect.Parameter.empty
        ]


def _kind(
    function: Callable[..., Constraint],
    rename: Mapping[str, str] = MappingProxyType({}),
    **readers: Callable[[Any], Any],
) -> _Kind:
    """A kind whose keys are the arguments of a function.

    `rename` has other names for arguments in files; `readers`, by argument, those whose values TOML
    writes in another way.
    """
    arguments = {name: name for name in inspect.signature(function).parameters}
    renamed = {rename.get(name, name): name for name in arguments}
    keys = {key: _Key(name, readers.get(name, _as_it_is)) for key, name in renamed.items()}
    return _Kind(function, keys)


def _as_it_is(value: Any) -> Any:
    return value


# What the tables of a file may be called, and what they make.
KINDS: Mapping[str, _Kind] = {
    "at_most": _kind(at_most, features=_features),
    "at_least": _kind(at_least, features=_features),
    "exactly": _kind(exactly, features=_features),
    "model_size": _kind(model_size),
    "either_or": _kind(either_or),
    "not_both": _kind(not_both, a=_features, b=_features),
    "if_then": _kind(if_then, {"feature": "if"}, feature=_features, then=_features),
    "at_most_variables": _kind(at_most_variables, {"m": "n"}, groups=_groups),
    "items_per_variable": _kind(items_per_variable),
    "monotone": _kind(monotone, features=_features),
    "points_in": _kind(points_in, features=_features, values=_several),
    "minimum_points": _kind(minimum_points, features=_features),
    "fixed_points": _kind(fixed_points, features=_features),
    "risk_at_least": _kind(risk_at_least, {"p": "risk"}, where=_conditions),
    "risk_at_most": _kind(risk_at_most, {"p": "risk"}, where=_conditions),
    "linear": _kind(LinearConstraint, points=_terms, used=_terms, any_used=_group_terms),
    "false_positive_rate_at_most": _kind(false_positive_rate_at_most),
    "false_negative_rate_at_most": _kind(false_negative_rate_at_most),
    "rate_gap_at_most": _kind(rate_gap_at_most),
    "operating_point_at_least": _kind(operating_point_at_least),
}


# ---------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------


def read_constraints(path: str | os.PathLike[str]) -> list[Constraint]:
    """Read constraints from a TOML file.

    Parameters
    ----------
    path : str or path-like
        Every table is one constraint, of the kind that its name says: ``[[at_most]]``,
        ``[[if_then]]`` and so on, the keys of :data:`KINDS`. Its keys are the arguments of the
        function of this name, but for ``if`` (of ``if_then``), ``risk`` (of the bounds on risks)
        and ``n`` (of ``at_most_variables``); ``[[linear]]`` is a
        :class:`~riskslim.LinearConstraint`. Where there is a key ``features``, ``variable =
        "age"`` may stand for all features of a variable, and ``{variable = "age"}`` may stand for
        them among other features.

    Returns
    -------
    list of Constraint
        In the order of the file.

    Raises
    ------
    OSError
        The file cannot be read.
    ValueError
        It is not TOML, or a table or key is wrong: the table, its line and the key are named.
    ImportError
        On Python 3.10 only: tomli is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from riskslim.constraints.files import read_constraints
    >>> text = '''
    ... [[at_most]]
    ... n = 2
    ... variable = "age"
    ...
    ... [[risk_at_least]]
    ... risk = 0.9
    ... where = {male = 1, age = [">=", 60]}
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "constraints.toml")
    ...     _ = path.write_text(text)
    ...     for constraint in read_constraints(path):
    ...         print(constraint)
    LinearConstraint(used={variable('age'): 1}, upper=2)
    risk_at_least(0.9, where={'male': 1, 'age': ('>=', 60)})
    """
    document, text = read_toml(path)
    found = [
        (entry.line, _constraint(entry, path))
        for kind, tables in document.items()
        for entry in _entries(kind, tables, text, path)
    ]
    if all(line is not None for line, _ in found):
        found.sort(key=lambda pair: pair[0] or 0)
    return [constraint for _, constraint in found]


def read_toml(path: str | os.PathLike[str]) -> tuple[dict[str, Any], str]:
    """Read a TOML file.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    dict
        The document.
    str
        Its text.

    Raises
    ------
    OSError, ValueError, ImportError
        As in :func:`read_constraints`.
    """
    tomllib = _toml_module()
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        return tomllib.loads(text), text
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not encoded in UTF-8: {error}") from None
    except RecursionError:
        raise ValueError(f"{path} cannot be read as TOML: it is nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} cannot be read as TOML: {error}") from None


def _toml_module() -> ModuleType:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        try:
            import tomli as tomllib
        except ImportError as error:
            raise ImportError(
                not_installed("reading TOML files needs", "tomli", extra="cli")
            ) from error
    return tomllib


class _Entry(NamedTuple):
    """One table of a file."""

    kind: str
    number: int  # among the tables of its kind, from 1 on
    line: int | None  # None where it is not written as [[kind]]
    table: dict[str, Any]

    def error(self, path: Any, message: object) -> ValueError:
        where = f"table {self.number}" if self.line is None else f"line {self.line}"
        return ValueError(f"{path}, [[{self.kind}]] ({where}): {message}")


def _entries(kind: str, tables: Any, text: str, path: Any) -> Iterator[_Entry]:
    lines = [
        1 + text.count("\n", 0, match.start())
        for match in re.finditer(rf"^[ \t]*\[\[\s*['\"]?{re.escape(kind)}['\"]?\s*\]\]", text, re.M)
    ]
    if kind not in KINDS:
        raise _Entry(kind, 1, lines[0] if lines else None, {}).error(
            path, f"there is no such constraint{near(kind, KINDS)}; there are {', '.join(KINDS)}"
        )
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ValueError(
            f"{path}: {kind} must be written as [[{kind}]], with two brackets on each side, since "
            f"there may be several, got {type(tables).__name__}"
        )
    # A line of a text may look like the head of a table.
    known: list[int | None] = [*lines] if len(lines) == len(tables) else [None] * len(tables)
    for number, (line, table) in enumerate(zip(known, tables, strict=True), 1):
        yield _Entry(kind, number, line, table)


def _constraint(entry: _Entry, path: Any) -> Constraint:
    kind, table = KINDS[entry.kind], dict(entry.table)
    if "features" in kind.keys and "variable" in table:
        if "features" in table:
            raise entry.error(path, "give features or variable, not both")
        table["features"] = {"variable": table.pop("variable")}
    for key in table:
        if key not in kind.keys:
            keys = [*kind.keys, *(["variable"] if "features" in kind.keys else [])]
            raise entry.error(
                path, f"unknown key {key!r}{near(key, keys)}; expected {', '.join(keys)}"
            )
    missing = [key for key in kind.required if key not in table]
    if missing:
        raise entry.error(path, f"lacks {' and '.join(map(repr, missing))}")
    arguments = {}
    for key, value in table.items():
        argument, read = kind.keys[key]
        try:
            arguments[argument] = read(value)
        except (TypeError, ValueError) as error:
            raise entry.error(path, f"key {key!r}: {error}") from None
    try:
        return kind.function(**arguments)
    except (TypeError, ValueError) as error:
        raise entry.error(path, error) from None
