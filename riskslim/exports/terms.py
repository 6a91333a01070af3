"""Terms that a risk score adds up, as functions of its inputs: items, or raw columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from riskslim.items.item import COMPARISONS
from riskslim.items.rules import is_level
from riskslim.items.variables import RawVariable

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["Inputs", "Term", "chosen_inputs", "is_truth_value", "terms_of"]

Inputs: TypeAlias = Literal["raw", "items"]


class Term(NamedTuple):
    """Points times a column, or points for a condition on it.

    Attributes
    ----------
    points : int
    column : str
        The input that it is computed from.
    kind : {"number", "comparison", "numbers", "levels", "missing"}
        The column itself; a comparison with ``value``; whether the number is among ``value``;
        whether the level is; whether there is none.
    variable : RawVariable or None
        The column in the training data; None of a feature that is an input itself.
    operator : {">=", "<=", ">", "<", ""}
        Of a comparison.
    value : float, tuple or None
    exceptions : tuple of float
        Of a comparison: numbers that do not meet it, although they would.
    """

    points: int
    column: str
    kind: Literal["number", "comparison", "numbers", "levels", "missing"]
    variable: RawVariable | None = None
    operator: str = ""
    value: Any = None
    exceptions: tuple[float, ...] = ()

    @property
    def may_lack(self) -> bool:
        """True if it is known what a missing value means."""
        return self.variable is not None and self.variable.may_lack

    @property
    def levels(self) -> tuple[Any, ...]:
        """All values that the column may have; empty if it has numbers."""
        if self.variable is None or self.variable.kind == "numeric":
            return ()
        return (0, 1) if self.variable.kind == "boolean" else self.variable.levels


def chosen_inputs(score: RiskScore, inputs: str | None) -> Inputs:
    """Choose the inputs that an export of a score reads.

    Parameters
    ----------
    score : RiskScore
    inputs : {"raw", "items"} or None
        None: raw columns where the score knows its variables.

    Returns
    -------
    {"raw", "items"}

    Raises
    ------
    ValueError
        Something else, or raw columns of a score that does not know them.
    """
    if inputs not in (None, "raw", "items"):
        raise ValueError(f"inputs must be 'raw' or 'items', got {inputs!r}")
    if inputs == "raw" and not score.variables:
        raise ValueError(
            "inputs='raw' needs the raw columns that features are computed from, which this score "
            "does not know: score.with_variables(encoder) tells it"
        )
    return "raw" if score.variables and inputs != "items" else "items"


def terms_of(score: RiskScore, inputs: Inputs) -> tuple[Term, ...]:
    """List what a score adds up, in the order in which predictions do.

    Parameters
    ----------
    score : RiskScore
    inputs : {"raw", "items"}

    Returns
    -------
    tuple of Term

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.items.variables import RawVariable
    >>> from riskslim.exports.terms import terms_of
    >>> age = RawVariable("age", "numeric", 18, 95)
    >>> score = RiskScore(-3, {"age >= 60": 2}, variables={"age": age})
    >>> (term,) = terms_of(score, "items")
    >>> term.column, term.levels  # no other value is one of an item
    ('age >= 60', (0, 1))
    >>> (term,) = terms_of(score, "raw")
    >>> term.column, term.kind, term.operator, term.value
    ('age', 'comparison', '>=', 60)
    """
    if inputs == "items":
        return tuple(_item_term(score, name, points) for name, points in score.points.items())
    return tuple(_raw_term(score, name, points) for name, points in score.points.items())


def _item_term(score: RiskScore, name: str, points: int) -> Term:
    """A feature that is given: one that is stated to be met or not has the values 0 and 1 alone."""
    item, variable = score.items.get(name), score.variables.get(name)
    if variable is None and item is not None and item.kind != "numeric":
        variable = RawVariable(name, "boolean")
    if variable is not None and variable.kind == "boolean":
        return Term(points, name, "levels", variable, value=(1,))
    return Term(points, name, "number")


def _raw_term(score: RiskScore, name: str, points: int) -> Term:
    variable = score.variables.get(name)
    if variable is not None:
        if variable.kind == "boolean":
            return _item_term(score, name, points)
        return Term(points, name, "number", variable)
    item = score.items.get(name)
    if item is None or not item.is_condition:
        return _item_term(score, name, points)
    variable = score.variables.get(item.variable)
    if variable is None:  # of a column that is no raw one: the item is given
        return _item_term(score, name, points)
    if item.kind == "missing":
        return Term(points, item.variable, "missing", variable)
    if item.kind in COMPARISONS:
        what = (item.kind, item.value, item.exceptions)
        return Term(points, item.variable, "comparison", variable, *what)
    if variable.kind == "numeric":
        return Term(points, item.variable, "numbers", variable, value=item.numbers)
    named = tuple(level for level in variable.levels if is_level(level, item.levels))
    return Term(points, item.variable, "levels", variable, value=named)


def is_truth_value(term: Term) -> bool:
    """True if a term reads a column of 0 and 1, or of True and False."""
    return term.variable is not None and term.variable.kind == "boolean"
