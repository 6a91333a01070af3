"""Statements on the columns of a table by those who made it.

A data frame holds names and numbers. What an encoder knows besides, which condition on which raw
column each of its columns is, travels beside the frame: it is remembered for this very object, for
as long as the object exists. A frame that is made from it by anybody else states nothing.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any, Protocol

__all__ = ["Statement", "state", "stated"]


class Statement(Protocol):
    """A statement of what a column is; :class:`riskslim.items.Item` is the one kind there is."""

    @property
    def name(self) -> str:
        """The column's name."""

    @property
    def variable(self) -> str:
        """The raw column that it is made of."""

    @property
    def kind(self) -> Any:
        """The kind of condition."""

    @property
    def value(self) -> Any:
        """Value that the variable is compared with."""

    @property
    def is_condition(self) -> bool:
        """Say whether it is computed from the variable, and is not the variable itself."""


# By the identity of the table; an entry goes with its table.
_STATED: dict[int, tuple[weakref.ref[Any], tuple[Statement, ...]]] = {}


def state(table: Any, statements: Iterable[Statement]) -> None:
    """Remember what the columns of a table are.

    Parameters
    ----------
    table : data frame
        Something that can be referenced weakly, as data frames and arrays can; of others nothing
        is remembered.
    statements : iterable of Statement
    """
    key = id(table)
    try:
        reference = weakref.ref(table, lambda _: _STATED.pop(key, None))
    except TypeError:
        return
    _STATED[key] = (reference, tuple(statements))


def stated(table: Any) -> tuple[Statement, ...]:
    """Return what is stated of the columns of a table.

    Parameters
    ----------
    table : object

    Returns
    -------
    tuple of Statement
        Empty where nothing is.
    """
    reference, statements = _STATED.get(id(table), (None, ()))
    return statements if reference is not None and reference() is table else ()
