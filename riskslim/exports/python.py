"""A score as a Python function."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from riskslim.exports.common import check_function_name, headline_of, tabled_risks
from riskslim.exports.reasons import VariableCost, costs_of
from riskslim.exports.terms import Term, chosen_inputs, terms_of
from riskslim.score.link import link_of

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["to_python"]

# ---------------------------------------------------------------------------------------------
# Python
# ---------------------------------------------------------------------------------------------

_PYTHON = '''\
# {headline}.
import math


def {name}(record):
    """Return ({returned}) of a mapping from the names of {inputs} to values.

    {refused}
    """
    risks = {{{risks}}}
{helpers}
    score, is_integer = 0.0, True
{costs}    for points, value in ({terms}):
        score += points * value
{adding}        is_integer = is_integer and float(value).is_integer()
    if not math.isfinite(score):
        raise ValueError(f"the score overflows: {{record!r}} has too large values")
    if is_integer and abs(score) < 2**53:
        score = int(score)
    risk = risks.get(score)
    if risk is None:  # not a score of the training data
        log_odds = ({intercept} + score) / {scale!r}
        small = math.exp(-abs(log_odds))
        risk = (1.0 if log_odds >= 0 else small) / (1.0 + small)
{deciding}{shifting}{ranking}    return {returned}
'''

# What the function has in addition where a threshold says which records are positive.
_PYTHON_DECIDING = """\
    positive = score >= {threshold!r}
"""
# What the function has in addition where sheets show other points than the fitted ones.
_PYTHON_SHIFTING = """\
    score += {shift}  # as on the sheet; risks are listed by the sum of the fitted points
"""
# What the function has in addition where it gives reasons.
_PYTHON_COSTS = """\
    costs, variables = [0.0] * {n_variables}, iter(({variables}))
"""
_PYTHON_ADDING = """\
        costs[next(variables)] += points * value
"""
_PYTHON_RANKING = """\
    # Points of each variable in excess of those that they are compared with.
    costs = [points - other for points, other in zip(costs, ({references}))]
    names = ({names})
    ranked = sorted(range(len(costs)), key=lambda k: -costs[k])[:{count}]
    reasons = [names[k] for k in ranked if costs[k] > 0]
"""

_PYTHON_NUMBER = """
    def number(name):
        if name not in record:
            raise ValueError(f"the record lacks {name!r}")
        value = record[name]
        try:
            found = math.nan if isinstance(value, (str, bytes, bytearray)) else float(value)
        except (TypeError, ValueError, OverflowError):
            found = math.nan
        if not math.isfinite(found):
            raise ValueError(f"{name!r} must be a finite number, got {value!r}")
        if abs(found) >= 2**53 and hasattr(value, "__index__"):
            raise ValueError(f"{name!r} must be below 2**53 if an integer, got {value!r}")
        return found
"""

_PYTHON_RAW = """
    def is_missing(name, known):
        if name not in record:
            raise ValueError(f"the record lacks {name!r}")
        value = record[name]
        missing = value is None or type(value).__name__ in ("NAType", "NaTType")
        missing = missing or (not isinstance(value, str) and bool(value != value))
        if missing and not known:
            raise ValueError(f"{name!r} is missing, which it never was in the training data")
        return missing

    def number_or_nan(name, known):
        return math.nan if is_missing(name, known) else number(name)

    def level(name, levels, known):
        if is_missing(name, known):
            return None
        value = record[name]
        if value not in levels:
            raise ValueError(f"{name!r} must be one of {levels!r}, got {value!r}")
        return value
"""


def _python_value(term: Term) -> str:
    column, known = repr(term.column), term.may_lack
    if term.kind == "number":
        return f"number({column})"
    if term.kind == "comparison":
        found = f"number_or_nan({column}, {known})"
        others = f" and {found} not in {term.exceptions!r}" if term.exceptions else ""
        return f"{found} {term.operator} {term.value!r}{others}"
    if term.kind == "numbers":
        return f"number_or_nan({column}, {known}) in {term.value!r}"
    if not term.levels:
        return f"math.isnan(number_or_nan({column}, {known}))"
    found = f"level({column}, {term.levels!r}, {known})"
    return f"{found} is None" if term.kind == "missing" else f"{found} in {term.value!r}"


def _is_free_in_python(name: str) -> bool:
    taken = keyword.iskeyword(name) or name in {*dir(builtins), "math"}
    return name.isidentifier() and not taken


def to_python(
    score: RiskScore,
    *,
    function_name: str = "predict_risk",
    inputs: str | None = None,
    reasons: int | None = None,
    average: Mapping[str, float] | None = None,
    best: str | None = None,
    fixed: Sequence[str] = (),
) -> str:
    """Write a risk score as a Python function.

    Parameters
    ----------
    score : RiskScore
    function_name : str, default "predict_risk"
    inputs : {"raw", "items"}, optional
        What the record has: the raw columns, of which the function computes the items, or the
        features with points. Default: "raw" where the score knows its ``variables``.
    reasons : int, optional
        The function returns reasons as well, behind the others: a list of at most so many
        variables, those that cost the record most points first, against the least points that a
        measured value has. None that costs nothing is among them.
    average : mapping from str to float, optional
        Compare with these points by feature in place of the least ones: those of
        :meth:`~riskslim.RiskScore.average_points`.
    best : {"measured", "any"}, optional
        "any": the least points of missing and special values count as well.
    fixed : sequence of str, default ()
        Features or variables that cannot change, such as "age", and are no reasons.

    Returns
    -------
    str
        A module that imports nothing but `math`, with one function: it takes a mapping from the
        names of the inputs to values, and returns (risk, score); of a score with an operating
        point (risk, score, positive), whether the score is at least the threshold. Like
        :meth:`~riskslim.RiskScore.predict_proba` it raises ValueError for values that are missing,
        infinite or no numbers; of raw columns for unknown levels, and for values that are missing
        where none was in the training data. None and NaN are missing.

    Raises
    ------
    ValueError
        The name of the function is no identifier, or that of a builtin; ``inputs="raw"`` of a
        score that does not know its variables; a number of reasons below 1; averages of other
        features.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.exports import to_python
    >>> namespace = {}
    >>> exec(to_python(RiskScore(-3, {"smoker": 2})), namespace)
    >>> risk, points = namespace["predict_risk"]({"smoker": True})
    >>> round(risk, 4), points
    (0.2689, 2)
    """
    check_function_name(function_name, "Python", _is_free_in_python)

    def lines(entries: Iterable[str]) -> str:
        text = "".join(f"        {entry},\n" for entry in entries)
        return f"\n{text}    " if text else ""

    chosen = chosen_inputs(score, inputs)
    found = costs_of(score, reasons, average, best, fixed)
    extra = _reasons(found, len(score.points))
    returned = ["risk", "score"]
    returned += ["positive"] * (score.operating_point is not None)
    returned += ["reasons"] * (found[0] > 0)
    link = link_of(score)
    all_terms = terms_of(score, chosen)
    has_conditions = any(term.kind != "number" for term in all_terms)
    refused = "Raises ValueError where a value is missing or anything else than a finite number."
    if chosen == "raw":
        refused = (
            "None and NaN are missing. Raises ValueError for values that the training data cannot\n"
            "    have had: text for numbers, unknown levels, missing where none was."
        )
    return _PYTHON.format(
        headline=headline_of(score),
        name=function_name,
        inputs="features" if chosen == "items" else "raw columns",
        refused=refused,
        helpers=_PYTHON_NUMBER + (_PYTHON_RAW if has_conditions else ""),
        terms=lines(f"({term.points}, {_python_value(term)})" for term in all_terms),
        risks=lines(f"{total}: {risk!r}" for total, risk in tabled_risks(score).items()),
        intercept=link.intercept,
        scale=link.scale,
        deciding=""
        if score.operating_point is None
        else _PYTHON_DECIDING.format(threshold=score.operating_point.threshold),
        shifting=_PYTHON_SHIFTING.format(shift=link.shift) if link.shift else "",
        returned=", ".join(returned),
        **extra,
    )


def _reasons(found: tuple[int, list[VariableCost]], n_terms: int) -> dict[str, str]:
    """The parts of the function that rank reasons."""
    count, costs = found
    if not count:
        return {"costs": "", "adding": "", "ranking": ""}
    variable = {term: k for k, one in enumerate(costs) for term in one.terms}
    # Terms of variables that cannot change add to a last number, which is compared with none.
    numbers = [variable.get(term, len(costs)) for term in range(n_terms)]
    return {
        "costs": _PYTHON_COSTS.format(
            n_variables=max(numbers, default=-1) + 1, variables=_tuple_text(numbers)
        ),
        "adding": _PYTHON_ADDING,
        "ranking": _PYTHON_RANKING.format(
            references=_tuple_text(float(one.reference) for one in costs),
            names=_tuple_text(one.label for one in costs),
            count=count,
        ),
    }


def _tuple_text(values: Iterable[object]) -> str:
    """The inside of a tuple, of one value as well."""
    return "".join(f"{value!r}, " for value in values).rstrip(" ")
