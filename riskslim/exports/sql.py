r"""Exports of a risk score that predict the same where this package is not installed.

:func:`to_python`, :func:`to_javascript`, :func:`to_sql` and :func:`to_pmml` write a
:class:`~riskslim.RiskScore` as source text. A row has the

.. math::

    \text{score} = \sum_j \lambda_j x_j, \qquad
    \text{risk} = \frac{1}{1 + \exp(-(\lambda_0 + \text{score}) / m)}.

The score is the same everywhere: the same products, added in the same order in float64. The
exponential is not: libraries differ in its last bit. So the risks of the scores that the training
data allow are written as a table of numbers, each with all its digits, and the formula is for
other scores only: those of values outside of the training range, and all scores of risk scores
with features that are no integers or with more than :data:`MAX_TABLED_SCORES` scores.

The inputs are the features with points; or, where the score knows its variables, the raw columns,
of which the export computes the items itself (``inputs``).
"""

from __future__ import annotations

import builtins
import json
import keyword
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from riskslim.score_terms import Term, chosen_inputs, terms_of
from riskslim.tables import listing, near

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["MAX_TABLED_SCORES", "SQL_DIALECTS", "to_javascript", "to_pmml", "to_python", "to_sql"]

# More scores than these are not listed with their risks: the formula gives them to 1e-15.
MAX_TABLED_SCORES = 1000

# Beyond these log-odds SQL gives 0 and 1: exp would overflow or, an error in PostgreSQL, underflow.
_MOST_LOG_ODDS = 708.0
# What exceeds this in SQL is taken to be infinite.
_FINITE = "1E308"
# PostgreSQL cuts identifiers off after this number of octets.
_POSTGRESQL_NAME_BYTES = 63
# Characters that databases do not take.
_NOT_SQL = re.compile("[\0\ud800-\udfff]")
# Powers of two up to this one are 64-bit integers.
_LARGEST_POWER = 62


def _tabled_risks(score: RiskScore) -> dict[int, float]:
    """Risks of the scores that the training data allow; empty where the formula has to do."""
    totals, largest = {0}, 0.0
    for name, points in score.points.items():
        known = score.feature_ranges[name]
        largest += abs(points) * max(abs(known.minimum), abs(known.maximum))
        # Beyond 2**53 float64 does not hold every integer.
        if not known.is_integer or largest >= 2.0**53:
            return {}
        values = known.values
        if values is None:
            if known.maximum - known.minimum >= MAX_TABLED_SCORES:
                return {}
            values = tuple(range(int(known.minimum), int(known.maximum) + 1))
        totals = {total + points * value for total in totals for value in values}
        if len(totals) > MAX_TABLED_SCORES:
            return {}
    ordered = sorted(totals)
    risks = _of_totals(score).predict_proba({"score": ordered})[:, 1]
    return dict(zip(ordered, risks.tolist(), strict=True))


def _of_totals(score: RiskScore) -> RiskScore:
    """Return the risk score whose only feature, of one point, is the score of another."""
    return type(score)(score.intercept, {"score": 1}, scale=score.scale)


def _headline(score: RiskScore) -> str:
    """Say in one line of printable text what is predicted, and who says so."""
    from riskslim import __version__

    label = score.classes[1]
    shown = label if isinstance(label, (bool, int, float, str)) else str(label)
    weighting = score.class_weighting
    return (
        f"Risk that {score.outcome_name!r} = {shown!r}, from a risk score of riskslim {__version__}"
        + ("" if weighting is None else f". {weighting.describe('The outcome').removesuffix('.')}")
    )


def _check_function_name(name: Any, language: str, is_valid: Callable[[str], bool]) -> None:
    if not isinstance(name, str) or not is_valid(name):
        raise ValueError(
            f"function_name must be an identifier that {language} has no other use for, got "
            f"{name!r}"
        )


# ---------------------------------------------------------------------------------------------
# Python
# ---------------------------------------------------------------------------------------------

_PYTHON = '''\
# {headline}.
import math


def {name}(record):
    """Return (risk, score) of a mapping from the names of {inputs} to values.

    {refused}
    """
    risks = {{{risks}}}
{helpers}
    score, is_integer = 0.0, True
    for points, value in ({terms}):
        score += points * value
        is_integer = is_integer and float(value).is_integer()
    if not math.isfinite(score):
        raise ValueError(f"the score overflows: {{record!r}} has too large values")
    if is_integer and abs(score) < 2**53:
        score = int(score)
    risk = risks.get(score)
    if risk is None:  # not a score of the training data
        log_odds = ({intercept} + score) / {scale!r}
        small = math.exp(-abs(log_odds))
        risk = (1.0 if log_odds >= 0 else small) / (1.0 + small)
    return risk, score
'''

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
        return f"number_or_nan({column}, {known}) {term.operator} {term.value!r}"
    if not term.levels:
        return f"math.isnan(number_or_nan({column}, {known}))"
    found = f"level({column}, {term.levels!r}, {known})"
    return f"{found} is None" if term.kind == "missing" else f"{found} in {term.value!r}"


def _is_free_in_python(name: str) -> bool:
    taken = keyword.iskeyword(name) or name in {*dir(builtins), "math"}
    return name.isidentifier() and not taken


def to_python(
    score: RiskScore, *, function_name: str = "predict_risk", inputs: str | None = None
) -> str:
    """Write a risk score as a Python function.

    Parameters
    ----------
    score : RiskScore
    function_name : str, default "predict_risk"
    inputs : {"raw", "items"}, optional
        What the record has: the raw columns, of which the function computes the items, or the
        features with points. Default: "raw" where the score knows its ``variables``.

    Returns
    -------
    str
        A module that imports nothing but `math`, with one function: it takes a mapping from the
        names of the inputs to values, and returns (risk, score). Like
        :meth:`~riskslim.RiskScore.predict_proba` it raises ValueError for values that are missing,
        infinite or no numbers; of raw columns for unknown levels, and for values that are missing
        where none was in the training data. None and NaN are missing.

    Raises
    ------
    ValueError
        The name of the function is no identifier, or that of a builtin; ``inputs="raw"`` of a
        score that does not know its variables.

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
    _check_function_name(function_name, "Python", _is_free_in_python)

    def lines(entries: Iterable[str]) -> str:
        text = "".join(f"        {entry},\n" for entry in entries)
        return f"\n{text}    " if text else ""

    chosen = chosen_inputs(score, inputs)
    refused = "Raises ValueError where a value is missing or anything else than a finite number."
    if chosen == "raw":
        refused = (
            "None and NaN are missing. Raises ValueError for values that the training data cannot\n"
            "    have had: text for numbers, unknown levels, missing where none was."
        )
    return _PYTHON.format(
        headline=_headline(score),
        name=function_name,
        inputs="features" if chosen == "items" else "raw columns",
        refused=refused,
        helpers=_PYTHON_NUMBER + (_PYTHON_RAW if chosen == "raw" else ""),
        terms=lines(f"({term.points}, {_python_value(term)})" for term in terms_of(score, chosen)),
        risks=lines(f"{total}: {risk!r}" for total, risk in _tabled_risks(score).items()),
        intercept=score.intercept,
        scale=score.scale,
    )


# ---------------------------------------------------------------------------------------------
# JavaScript
# ---------------------------------------------------------------------------------------------

_JAVASCRIPT = """\
// {headline}.
// {name}(record) returns {{ risk, score }} of an object with the values of the {inputs}.
// {refused}
function {name}(record) {{
  "use strict";{helpers}
  let score = 0;
  for (const [points, value] of [{terms}]) {{
    score += points * value;
  }}
  if (!Number.isFinite(score)) {{
    throw new RangeError("the score overflows: the record has too large values");
  }}
  switch (score) {{{risks}}}
  // Not a score of the training data.
  const logOdds = ({intercept} + score) / {scale!r};
  const small = Math.exp(-Math.abs(logOdds));
  return {{ risk: (logOdds >= 0 ? 1 : small) / (1 + small), score }};
}}
if (typeof module !== "undefined" && module.exports) {{
  module.exports = {{ {name} }};
}}
"""

_JAVASCRIPT_NUMBER = """
  const get = (name) => {
    if (!Object.prototype.hasOwnProperty.call(record, name)) {
      throw new TypeError("the record lacks " + JSON.stringify(name));
    }
    return record[name];
  };
  const number = (name) => {
    const value = get(name);
    const converted = typeof value === "boolean" || typeof value === "bigint";
    const found = converted ? Number(value) : value;
    if (!Number.isFinite(found) || (converted && !Number.isSafeInteger(found))) {
      const got = String(value);
      throw new TypeError(JSON.stringify(name) + " must be a finite number, got " + got);
    }
    return found;
  };"""

_JAVASCRIPT_RAW = """
  const isMissing = (name, known) => {
    const value = get(name);
    const missing = value === null || value === undefined || Number.isNaN(value);
    if (missing && !known) {
      const never = " is missing, which it never was in the training data";
      throw new TypeError(JSON.stringify(name) + never);
    }
    return missing;
  };
  const numberOrNaN = (name, known) => isMissing(name, known) ? NaN : number(name);
  const level = (name, levels, known) => {
    if (isMissing(name, known)) return null;
    const value = get(name);
    const found = typeof value === "boolean" || typeof value === "bigint" ? Number(value) : value;
    if (!levels.includes(found)) {
      const wanted = " must be one of " + JSON.stringify(levels) + ", got ";
      throw new TypeError(JSON.stringify(name) + wanted + String(value));
    }
    return found;
  };"""


def _javascript_value(term: Term) -> str:
    column, known = javascript_text(term.column), str(term.may_lack).lower()
    if term.kind == "number":
        return f"number({column})"
    if term.kind == "comparison":
        return f"numberOrNaN({column}, {known}) {term.operator} {term.value!r}"
    if not term.levels:
        return f"isMissing({column}, {known}) || Number.isNaN(number({column}))"
    levels, named = (
        javascript_text([int(one) if isinstance(one, bool) else one for one in values])
        for values in (term.levels, term.value or ())
    )
    found = f"level({column}, {levels}, {known})"
    return f"{found} === null" if term.kind == "missing" else f"{named}.includes({found})"


# Words that are reserved or that the exported function uses.
_JAVASCRIPT_WORDS = frozenset(
    """
    arguments async await break case catch class const continue debugger default delete do else
    enum eval export extends false finally for function if implements import in instanceof
    interface let new null package private protected public return static super switch this
    throw true try typeof undefined var void while with yield Infinity JSON Math NaN Number
    Object RangeError String TypeError exports module require
    """.split()  # noqa: SIM905
)


def _is_free_in_javascript(name: str) -> bool:
    is_identifier = re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$]*", name) is not None
    return is_identifier and name not in _JAVASCRIPT_WORDS


def to_javascript(
    score: RiskScore, *, function_name: str = "predictRisk", inputs: str | None = None
) -> str:
    """Write a risk score as a JavaScript function.

    Parameters
    ----------
    score : RiskScore
    function_name : str, default "predictRisk"
    inputs : {"raw", "items"}, optional
        As in :func:`to_python`.

    Returns
    -------
    str
        A script, ASCII throughout, with one function that takes an object with the inputs
        as its own properties, and returns an object with `risk` and `score`. It throws where
        :meth:`~riskslim.RiskScore.predict_proba` raises. In a browser the function is global, in
        CommonJS it is exported; it stands in a script element of HTML as it is. Of raw
        columns null, undefined and NaN are missing.

    Raises
    ------
    ValueError
        The name of the function is no identifier of ASCII characters, or is reserved; ``inputs`` as
        in :func:`to_python`.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.exports import to_javascript
    >>> script = to_javascript(RiskScore(-3, {"smoker": 2}))
    >>> print(script[script.index("  switch") : script.index("  // Not")])  # doctest: +ELLIPSIS
      switch (score) {
        case 0: return { risk: 0.04742587317756..., score };
        case 2: return { risk: 0.26894142136999..., score };
      }
    <BLANKLINE>
    """
    _check_function_name(function_name, "JavaScript", _is_free_in_javascript)
    chosen = chosen_inputs(score, inputs)
    terms = "".join(
        f"\n    [{term.points}, {_javascript_value(term)}]," for term in terms_of(score, chosen)
    )
    refused = "They are numbers or booleans. It throws where one is missing, not finite or another."
    if chosen == "raw":
        refused = (
            "null, undefined and NaN are missing. It throws where a value is one that the training "
            "data\n// cannot have had: text for a number, an unknown level, missing where none was."
        )
    risks = "".join(
        f"\n    case {total}: return {{ risk: {risk!r}, score }};"
        for total, risk in _tabled_risks(score).items()
    )
    return _JAVASCRIPT.format(
        headline=javascript_text(_headline(score)).strip('"'),
        name=function_name,
        inputs="features" if chosen == "items" else "raw columns",
        refused=refused,
        helpers=_JAVASCRIPT_NUMBER + (_JAVASCRIPT_RAW if chosen == "raw" else ""),
        terms=f"{terms}\n  " if terms else "",
        risks=f"{risks}\n  " if risks else "",
        intercept=score.intercept,
        scale=score.scale,
    )


def javascript_text(value: Any) -> str:
    """Text, or what else JSON has, as a literal that ends no script element around it.

    Parameters
    ----------
    value : str, or any value that JSON can hold

    Returns
    -------
    str
        One line of ASCII.
    """
    return json.dumps(value).replace("<", "\\u003c")


# ---------------------------------------------------------------------------------------------
# SQL
# ---------------------------------------------------------------------------------------------


def _approximate_literal(value: float) -> str:
    """Write a float64 with an exponent: without one, SQL takes it for a decimal number."""
    text = repr(float(value)).upper()
    return text if "E" in text else f"{text}E0"


def _sqlite_literal(value: float) -> str:
    """Write a float64 as an integer divided by powers of two.

    SQLite reads only the first 15 digits of a decimal number reliably; this is exact.
    """
    numerator, denominator = float(value).as_integer_ratio()
    if denominator == 1:
        return f"{numerator}.0"
    power = denominator.bit_length() - 1
    divisors = [2**_LARGEST_POWER] * (power // _LARGEST_POWER) + [2 ** (power % _LARGEST_POWER)]
    return f"({' / '.join(map(str, [f'{numerator}.0', *divisors]))})"


def _cast(column: str, points: int, number: str) -> str:
    return f"{points} * CAST({column} AS {number})"


def _sqlite_product(column: str, points: int) -> str:
    # A cast would turn text that is no number into 0.
    return f"CASE WHEN typeof({column}) IN ('integer', 'real') THEN {points}.0 * {column} END"


@dataclass(frozen=True)
class _Dialect:
    """How a database writes what the standard leaves open or the database does not keep to."""

    quote: str
    literal: Callable[[float], str]
    # Points times the value of a column, as a float64.
    product: Callable[[str, int], str]
    # A condition that a column is a number between two, written as they are.
    between: Callable[[str, str, str], str]
    # What a name is to the database: names that it does not tell apart have the same key.
    key: Callable[[str], str]
    booleans_are_numbers: bool


def _between(column: str, low: str, high: str) -> str:
    return f"{column} BETWEEN {low} AND {high}"


def _sqlite_between(column: str, low: str, high: str) -> str:
    # Text is greater than every number.
    return f"typeof({column}) IN ('integer', 'real') AND {_between(column, low, high)}"


def _lower_ascii(name: str) -> str:
    return "".join(c.lower() if c.isascii() else c for c in name)


def _cut_off(name: str) -> str:
    return name.encode(errors="surrogatepass")[:_POSTGRESQL_NAME_BYTES].decode(errors="ignore")


def _double_precision(column: str, points: int) -> str:
    return _cast(column, points, "DOUBLE PRECISION")


_DIALECTS = {
    "ansi": _Dialect('"', _approximate_literal, _double_precision, _between, str, False),
    "duckdb": _Dialect(
        '"',
        _approximate_literal,
        lambda column, points: _cast(column, points, "DOUBLE"),
        _between,
        _lower_ascii,
        True,
    ),
    "postgresql": _Dialect('"', _approximate_literal, _double_precision, _between, _cut_off, False),
    # SQLite takes a name in double quotes that is no column's for a text.
    "sqlite": _Dialect("`", _sqlite_literal, _sqlite_product, _sqlite_between, _lower_ascii, True),
}

SQL_DIALECTS: tuple[str, ...] = tuple(_DIALECTS)


def to_sql(
    score: RiskScore,
    dialect: str = "ansi",
    *,
    table: str | Sequence[str] | None = None,
    boolean_columns: Iterable[str] = (),
    inputs: str | None = None,
) -> str:
    """Write a risk score as an SQL expression, or as a query of a table.

    Parameters
    ----------
    score : RiskScore
    dialect : {"ansi", "duckdb", "postgresql", "sqlite"}, default "ansi"
        "ansi" is for databases that keep to the standard, with double precision numbers as in IEEE
        754 and the function EXP.
    table : str or sequence of str, optional
        Name of a table, or the parts of a qualified one such as ``("clinic", "patients")``.
    boolean_columns : iterable of str, optional
        Inputs whose columns are of type BOOLEAN, which neither standard SQL nor PostgreSQL
        turns into a number.
    inputs : {"raw", "items"}, optional
        What columns the table has: the raw columns, of which the query computes the items, or the
        features with points. Default: "raw" where the score knows its ``variables``.

    Returns
    -------
    str
        Without ``table`` a scalar expression, the risk of a row, for a list of columns, a
        condition, or a view. With it a SELECT of the score, all columns of the table, and the risk.
        The columns of the inputs have their names; "score" and "risk" get underscores at the
        end where a feature has the name. The risk is NULL where a value is NULL or not
        finite, in SQLite also where it is text; other databases raise an error for text that is no
        number. Of raw columns NULL is a missing value, which meets no condition where there were
        some in the training data; the risk is NULL where there were none, and for unknown levels.

    Raises
    ------
    ValueError
        An unknown dialect, a name or level that no database can have, names that the database does
        not tell apart, a boolean column that is no input of numbers, or ``inputs`` as in
        :func:`to_python`.
    TypeError
        One str as ``boolean_columns``.

    Notes
    -----
    SQLite needs its mathematical functions, which it has since version 3.35 unless it was built
    without them.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.exports import to_sql
    >>> print(to_sql(RiskScore(-3, {"smoker": 2}), table="patients"))  # doctest: +ELLIPSIS
    /* Risk that 'outcome' = 1, from a risk score of riskslim 0.1.0. */
    SELECT
      s.*,
      CASE s."score"
        WHEN 0 THEN 0.04742587317756...E0
        WHEN 2 THEN 0.26894142136999...E0
        ELSE CASE
          WHEN s."score" BETWEEN -705.0E0 AND 711.0E0 THEN
            1.0E0 / (1.0E0 + EXP(-(-3 + s."score") / 1.0E0))
          WHEN s."score" BETWEEN -1E308 AND -705.0E0 THEN 0.0E0
          WHEN s."score" BETWEEN 711.0E0 AND 1E308 THEN 1.0E0
        END
      END AS "risk"
    FROM (
      SELECT 2 * CAST(t."smoker" AS DOUBLE PRECISION) AS "score", t.*
      FROM "patients" AS t
    ) AS s
    """
    syntax = _DIALECTS.get(dialect)
    if syntax is None:
        raise ValueError(
            f"dialect must be one of {', '.join(SQL_DIALECTS)}, got {dialect!r}"
            f"{near(dialect, SQL_DIALECTS)}"
        )
    if isinstance(boolean_columns, str):
        raise TypeError(
            f"boolean_columns must be names, not one str: pass [{boolean_columns!r}] in place of "
            f"{boolean_columns!r}"
        )
    chosen = chosen_inputs(score, inputs)
    terms = terms_of(score, chosen)
    booleans = set(boolean_columns)
    possible = dict.fromkeys(term.column for term in terms if _may_be_boolean(term))
    unknown = booleans - set(possible)
    if unknown:
        what = "features with points" if chosen == "items" else "inputs that are 0 or 1"
        raise ValueError(
            f"boolean_columns must be {what}, got "
            f"{listing(repr(name) + near(name, possible) for name in sorted(unknown))}"
        )
    # Where all terms are conditions there are no scores but those of the table.
    ranges = score.feature_ranges.values()
    is_closed = all(term.kind != "number" for term in terms) and all(
        one.values == (0, 1) for one in ranges
    )
    columns = list(dict.fromkeys(term.column for term in terms))
    # Features without points may be columns of the table as well.
    others = score.feature_names if chosen == "items" else ()
    names = list(dict.fromkeys([*others, *columns]))
    _check_columns(columns, names, dialect)
    if table is None:
        total = _sql_total(terms, "", booleans, syntax)
        return "\n".join(_sql_risk(score, f"({total})", syntax, is_closed=is_closed))
    parts = [table] if isinstance(table, str) else list(table)
    if not parts or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"table must be a name, or the parts of a qualified one, got {table!r}")
    source = ".".join(_quoted(part, syntax.quote) for part in parts)
    comment = _headline(score).replace("*/", "* /").replace("/*", "/ *")
    taken = {syntax.key(name) for name in names}
    total, risk = (_quoted(_free_name(name, taken), syntax.quote) for name in ("score", "risk"))
    *case, end = _sql_risk(score, f"s.{total}", syntax, is_closed=is_closed)
    lines = [
        f"/* {comment}. */",
        "SELECT",
        "  s.*,",
        *_indented([*case, f"{end} AS {risk}"]),
        # The score comes first: where the table has a column of this name, SQLite reads the first.
        "FROM (",
        f"  SELECT {_sql_total(terms, 't.', booleans, syntax)} AS {total}, t.*",
        f"  FROM {source} AS t",
        ") AS s",
    ]
    return "\n".join(lines)


def _indented(lines: list[str]) -> list[str]:
    # Not with textwrap.indent: a line may hold a name that has line breaks of its own.
    return [f"  {line}" for line in lines]


def _quoted(name: str, quote: str) -> str:
    if not name or _NOT_SQL.search(name):
        raise ValueError(f"no table or column of a database can have the name {name!r}")
    return f"{quote}{name.replace(quote, 2 * quote)}{quote}"


def _check_columns(columns: Iterable[str], names: Iterable[str], dialect: str) -> None:
    """Refuse a column that may be taken for another one of the names."""
    key = _DIALECTS[dialect].key
    taken: dict[str, list[str]] = {}
    for name in names:
        taken.setdefault(key(name), []).append(name)
    for name in columns:
        if len(same := taken[key(name)]) > 1:
            raise ValueError(
                f"{dialect} does not tell columns named {listing(map(repr, same))} apart: rename "
                "these features"
            )


def _sql_total(terms: Iterable[Term], prefix: str, booleans: set[str], syntax: _Dialect) -> str:
    parts = []
    for term in terms:
        column = prefix + _quoted(term.column, syntax.quote)
        is_boolean = term.column in booleans
        if term.kind != "number":
            parts.append(_sql_condition(term, column, is_boolean, syntax))
            continue
        if is_boolean and not syntax.booleans_are_numbers:
            column = f"CASE WHEN {column} THEN 1 WHEN NOT {column} THEN 0 END"
        parts.append(syntax.product(column, term.points))
    return " + ".join(parts) or syntax.product("0", 0)


def _may_be_boolean(term: Term) -> bool:
    return term.kind == "number" or _is_boolean(term)


def _is_boolean(term: Term) -> bool:
    return term.variable is not None and term.variable.kind == "boolean"


def _sql_condition(term: Term, column: str, is_boolean: bool, syntax: _Dialect) -> str:
    """The points of a condition: 0 where it is not met, NULL where the value is not valid."""
    if is_boolean:
        met, valid = column, f"{column} IS NOT NULL"
    elif term.levels:
        met, valid = (
            f"{column} IN ({', '.join(_sql_level(level, syntax) for level in levels)})"
            for levels in (term.value or term.levels, term.levels)
        )
    else:
        valid = syntax.between(column, f"-{_FINITE}", _FINITE)
        met = _sql_comparison(term, column, syntax) if term.kind == "comparison" else ""
    if term.kind == "missing":
        met = f"{column} IS NULL"
    points, nothing = f"{term.points}.0E0", "0.0E0"
    lacking = f" WHEN {column} IS NULL THEN {nothing}"
    if not term.may_lack or term.kind == "missing":
        lacking = ""
    return f"CASE WHEN {met} THEN {points} WHEN {valid} THEN {nothing}{lacking} END"


def _sql_comparison(term: Term, column: str, syntax: _Dialect) -> str:
    threshold = syntax.literal(term.value)
    low, high = (
        (threshold, _FINITE) if term.operator.startswith(">") else (f"-{_FINITE}", threshold)
    )
    within = syntax.between(column, low, high)
    return within if "=" in term.operator else f"{within} AND {column} <> {threshold}"


def _sql_level(level: Any, syntax: _Dialect) -> str:
    if isinstance(level, bool):
        # In SQLite TRUE is the column of this name if there is one.
        return str(int(level)) if syntax.booleans_are_numbers else str(level).upper()
    if isinstance(level, int):
        return str(level)
    if isinstance(level, str):
        if _NOT_SQL.search(level):
            raise ValueError(f"no text in a database can be {level!r}")
        return "'" + level.replace("'", "''") + "'"
    return syntax.literal(level)


def _sql_risk(score: RiskScore, total: str, syntax: _Dialect, *, is_closed: bool) -> list[str]:
    """Lines of an expression for the risk of a score, which is a column or in parentheses."""
    middle, margin = -score.intercept, _MOST_LOG_ODDS * score.scale
    low, high = (_approximate_literal(middle + side * margin) for side in (-1, 1))
    zero, one, scale = map(syntax.literal, (0.0, 1.0, score.scale))
    formula = [
        "CASE",
        f"  WHEN {total} BETWEEN {low} AND {high} THEN",
        f"    {one} / ({one} + EXP(-({score.intercept} + {total}) / {scale}))",
        f"  WHEN {total} BETWEEN -{_FINITE} AND {low} THEN {zero}",
        f"  WHEN {total} BETWEEN {high} AND {_FINITE} THEN {one}",
        "END",
    ]
    tabled = _tabled_risks(score)
    if not tabled:
        return formula
    entries = [f"WHEN {known} THEN {syntax.literal(risk)}" for known, risk in tabled.items()]
    if not is_closed:
        entries += [f"ELSE {formula[0]}", *formula[1:]]
    return [f"CASE {total}", *_indented(entries), "END"]


# ---------------------------------------------------------------------------------------------
# PMML
# ---------------------------------------------------------------------------------------------

_NUMBER = {"optype": "continuous", "dataType": "double"}
_NAMESPACE = "http://www.dmg.org/PMML-4_4"

# What XML 1.0 cannot hold, escaped or not.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


_PMML_COMPARISONS = {
    ">=": "greaterOrEqual", "<=": "lessOrEqual", ">": "greaterThan", "<": "lessThan",
}  # fmt: skip

# What is finite, in the sense of the fields of PMML.
_FINITE_INTERVAL = {"closure": "closedClosed", "leftMargin": f"-{_FINITE}", "rightMargin": _FINITE}


def to_pmml(score: RiskScore, *, inputs: str | None = None) -> str:
    """Write a risk score as PMML 4.4.

    Parameters
    ----------
    score : RiskScore
    inputs : {"raw", "items"}, optional
        As in :func:`to_python`.

    Returns
    -------
    str
        A document with a RegressionModel for classification. Its inputs are the features with
        points, or the raw columns; its outputs are `risk`, `score`, `label`, and the target field,
        which is named after the outcome. A name that is taken gets underscores at its end. An
        evaluator refuses records whose values are missing, infinite or no numbers, or gives no
        result for them; of raw columns also unknown levels, while missing values are taken where
        the training data had some. Raw columns that are 0 or 1 are numbers.

    Raises
    ------
    ValueError
        A name, level or label has characters that XML cannot hold, both labels read the same, or
        ``inputs`` as in :func:`to_python`.

    Notes
    -----
    A Scorecard would give the score but neither classes nor probabilities; coefficients divided by
    the scale, with ``normalizationMethod="logit"``, would round every one of them. Here fields that
    are derived from the inputs hold the score, a Discretize that lists the risks of the scores of
    the training data, and the formula for others. The regression takes the risk that results
    as it is: ``normalizationMethod="none"``. `label` is as
    :meth:`~riskslim.RiskScore.predict` says; where the risk is exactly 50% evaluators may give the
    target field either label.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.exports import to_pmml
    >>> document = to_pmml(RiskScore(-3, {"smoker": 2}))
    >>> for line in document.splitlines():
    ...     if "DataField" in line or "Table" in line:
    ...         print(line.strip())
    <DataField name="outcome" optype="categorical" dataType="integer">
    </DataField>
    <DataField name="smoker" optype="continuous" dataType="double">
    </DataField>
    <RegressionTable intercept="0" targetCategory="1">
    </RegressionTable>
    <RegressionTable intercept="0" targetCategory="0" />
    """
    from riskslim import __version__

    kind, labels = _pmml_labels(score.classes)
    terms = terms_of(score, chosen_inputs(score, inputs))
    columns = {term.column: term for term in terms}
    levels = [str(level) for term in columns.values() for level in term.levels]
    for text in (score.outcome_name, *labels, *score.points, *columns, *levels):
        if wrong := _NOT_XML.search(text):
            raise ValueError(f"XML cannot hold the character {wrong.group()!r} of {text!r}")
    taken = {*columns, *score.points}
    target, *outputs = (
        _free_name(name, taken) for name in (score.outcome_name, "risk", "score", "label")
    )
    fields = [_free_name(f"riskslim {what}", taken) for what in ("score", "risk")]

    root = ET.Element("PMML", xmlns=_NAMESPACE, version="4.4")
    header = _add(root, "Header", description=_headline(score))
    _add(header, "Application", name="riskslim", version=__version__)
    dictionary = _add(root, "DataDictionary", numberOfFields=len(columns) + 1)
    field = _add(dictionary, "DataField", name=target, optype="categorical", dataType=kind)
    for label in labels:
        _add(field, "Value", value=label)
    model = _add(root, "RegressionModel", functionName="classification", normalizationMethod="none")
    schema = _add(model, "MiningSchema")
    _add(schema, "MiningField", name=target, usageType="target")
    for name, term in columns.items():
        _add_input(dictionary, term)
        treatment = "asIs" if term.may_lack else "returnInvalid"
        _add(schema, "MiningField", name=name, missingValueTreatment=treatment)
    _add_outputs(_add(model, "Output"), outputs, fields, kind, labels)
    derived = _add(model, "LocalTransformations")
    products = _add_conditions(derived, score, terms, taken)
    _add_derived_fields(derived, score, products, fields, taken)
    predicted = _add(model, "RegressionTable", intercept=0, targetCategory=labels[1])
    _add(predicted, "NumericPredictor", name=fields[1], coefficient=1)
    _add(model, "RegressionTable", intercept=0, targetCategory=labels[0])
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add(parent: ET.Element, tag: str, **attributes: object) -> ET.Element:
    return ET.SubElement(parent, tag, {name: str(value) for name, value in attributes.items()})


def _apply(parent: ET.Element, function: str, *arguments: float | str) -> ET.Element:
    """Add a function of numbers and fields; more arguments may be added to it."""
    call = _add(parent, "Apply", function=function)
    for argument in arguments:
        if isinstance(argument, str):
            _add(call, "FieldRef", field=argument)
        else:
            _add(call, "Constant", dataType="double").text = repr(float(argument))
    return call


def _free_name(name: str, taken: set[str]) -> str:
    while not name or name in taken:
        name += "_"
    taken.add(name)
    return name


def _pmml_labels(classes: tuple[Any, Any]) -> tuple[str, list[str]]:
    """Type and text of the labels."""
    kind, texts = _pmml_values(classes)
    if texts[0] == texts[1]:
        raise ValueError(f"PMML does not tell the classes {classes!r} apart: rename one of them")
    return kind, texts


def _pmml_levels(term: Term, levels: tuple[Any, ...]) -> tuple[str, list[str]]:
    """Type of the levels of a column, and texts of some of them."""
    kinds = {type(level) for level in term.levels}
    if kinds == {int, float}:
        return "double", [repr(float(level)) for level in levels]
    return _pmml_values(levels)


def _pmml_values(values: tuple[Any, ...]) -> tuple[str, list[str]]:
    """Type and texts of values."""
    kinds = {type(value) for value in values}
    names = {bool: "boolean", int: "integer", float: "double"}
    kind = names.get(next(iter(kinds)), "string") if len(kinds) == 1 else "string"
    return kind, [str(one).lower() if isinstance(one, bool) else str(one) for one in values]


def _add_input(dictionary: ET.Element, term: Term) -> None:
    """Add a field with the values that it may have."""
    if term.levels and not _is_boolean(term):
        kind, texts = _pmml_levels(term, term.levels)
        field = _add(dictionary, "DataField", name=term.column, optype="categorical", dataType=kind)
        for text in texts:
            _add(field, "Value", value=text)
        return
    field = _add(dictionary, "DataField", name=term.column, **_NUMBER)
    for level in term.levels:
        _add(field, "Interval", closure="closedClosed", leftMargin=level, rightMargin=level)
    if not term.levels:
        _add(field, "Interval", **_FINITE_INTERVAL)


def _add_conditions(
    parent: ET.Element, score: RiskScore, terms: Iterable[Term], taken: set[str]
) -> list[tuple[str, int]]:
    """Add a field for each condition; what is summed up: fields, and the points of each."""
    products = []
    for name, term in zip(score.points, terms, strict=True):
        if term.kind == "number":
            products.append((term.column, term.points))
            continue
        field = _free_name(f"riskslim {name}", taken)
        products.append((field, term.points))
        derived = _add(parent, "DerivedField", name=field, **_NUMBER)
        if term.levels and not _is_boolean(term) and term.kind != "missing":
            _add_indicators(derived, term.column, _pmml_levels(term, term.value)[1])
        else:
            _add_condition(_add(derived, "Apply", function="if"), term)
    return products


def _add_indicators(parent: ET.Element, column: str, levels: list[str]) -> None:
    """Add 1 where a column has one of some levels, 0 elsewhere and where it is missing."""
    *earlier, level = levels
    if earlier:
        parent = _add(parent, "Apply", function="+")
        _add_indicators(parent, column, earlier)
    # In the text of a constant evaluators lose line breaks and what is escaped.
    _add(parent, "NormDiscrete", field=column, value=level, mapMissingTo=0)


def _add_condition(choice: ET.Element, term: Term) -> None:
    """Add a condition on a number, or on whether there is one, and its values."""
    if term.kind == "missing":
        _apply(choice, "isMissing", term.column)
    else:
        condition = choice
        if term.may_lack:
            condition = _add(choice, "Apply", function="and")
            _apply(condition, "isNotMissing", term.column)
        function = _PMML_COMPARISONS.get(term.operator, "equal")
        value = 1.0 if _is_boolean(term) else float(term.value)
        _apply(condition, function, term.column, value)
    for text in ("1.0", "0.0"):
        _add(choice, "Constant", dataType="double").text = text


def _add_outputs(
    output: ET.Element, names: list[str], fields: list[str], kind: str, labels: list[str]
) -> None:
    total, risk = fields
    for name, field in zip(names, (risk, total), strict=False):
        derived = _add(output, "OutputField", name=name, feature="transformedValue", **_NUMBER)
        _add(derived, "FieldRef", field=field)
    categorical = {"optype": "categorical", "dataType": kind}
    derived = _add(output, "OutputField", name=names[2], feature="transformedValue", **categorical)
    choice = _add(derived, "Discretize", field=risk, dataType=kind)
    entry = _add(choice, "DiscretizeBin", binValue=labels[0])
    _add(entry, "Interval", closure="closedClosed", leftMargin=0, rightMargin=0.5)
    entry = _add(choice, "DiscretizeBin", binValue=labels[1])
    _add(entry, "Interval", closure="openClosed", leftMargin=0.5, rightMargin=1)


def _add_derived_fields(
    parent: ET.Element,
    score: RiskScore,
    products: list[tuple[str, int]],
    fields: list[str],
    taken: set[str],
) -> None:
    def field(name: str) -> ET.Element:
        return _add(parent, "DerivedField", name=name, **_NUMBER)

    total, risk = fields
    _add_sum(field(total), products)
    tabled = _tabled_risks(score)
    formula = _free_name("riskslim formula", taken) if tabled else risk
    quotient = _apply(field(formula), "/", 1.0)
    exponential = _apply(_apply(quotient, "+", 1.0), "exp")
    # Divided by -scale: one rounding, as in predictions.
    log_odds = _add(exponential, "Apply", function="/")
    _apply(log_odds, "+", score.intercept, total)
    _add(log_odds, "Constant", dataType="double").text = repr(-score.scale)
    if not tabled:
        return
    known = _free_name("riskslim risk of known score", taken)
    bins = _add(field(known), "Discretize", field=total, dataType="double")
    for value, probability in tabled.items():
        entry = _add(bins, "DiscretizeBin", binValue=repr(probability))
        _add(entry, "Interval", closure="closedClosed", leftMargin=value, rightMargin=value)
    choice = _apply(field(risk), "if")
    _apply(choice, "isMissing", known)
    _add(choice, "FieldRef", field=formula)
    _add(choice, "FieldRef", field=known)


def _add_sum(parent: ET.Element, items: list[tuple[str, int]]) -> None:
    """Add points times values, from the first to the last feature, as predictions do."""
    if not items:
        _add(parent, "Constant", dataType="double").text = "0.0"
        return
    *earlier, (name, points) = items
    if earlier:
        parent = _add(parent, "Apply", function="+")
        _add_sum(parent, earlier)
    _apply(parent, "*", points, name)
