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
    """Return (risk, score) of a mapping from the names of features to numbers.

    Raises ValueError where a value is missing or anything else than a finite number.
    """
    points = {{{points}}}
    risks = {{{risks}}}
    score, is_integer = 0.0, True
    for feature, weight in points.items():
        if feature not in record:
            raise ValueError(f"the record lacks {{feature!r}}")
        value = record[feature]
        try:
            number = math.nan if isinstance(value, (str, bytes, bytearray)) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(f"{{feature!r}} must be a finite number, got {{value!r}}")
        if abs(number) >= 2**53 and hasattr(value, "__index__"):
            raise ValueError(f"{{feature!r}} must be below 2**53 if an integer, got {{value!r}}")
        score += weight * number
        is_integer = is_integer and number.is_integer()
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


def _is_free_in_python(name: str) -> bool:
    taken = keyword.iskeyword(name) or name in {*dir(builtins), "math"}
    return name.isidentifier() and not taken


def to_python(score: RiskScore, *, function_name: str = "predict_risk") -> str:
    """Write a risk score as a Python function.

    Parameters
    ----------
    score : RiskScore
    function_name : str, default "predict_risk"

    Returns
    -------
    str
        A module that imports nothing but `math`, with one function: it takes a mapping from the
        names of the features with points to numbers, and returns (risk, score). Like
        :meth:`~riskslim.RiskScore.predict_proba` it raises ValueError for values that are missing,
        infinite or no numbers.

    Raises
    ------
    ValueError
        The name of the function is no identifier, or that of a builtin.

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

    def entries(items: Iterable[tuple[Any, Any]]) -> str:
        lines = "".join(f"        {key!r}: {value!r},\n" for key, value in items)
        return f"\n{lines}    " if lines else ""

    return _PYTHON.format(
        headline=_headline(score),
        name=function_name,
        points=entries(score.points.items()),
        risks=entries(_tabled_risks(score).items()),
        intercept=score.intercept,
        scale=score.scale,
    )


# ---------------------------------------------------------------------------------------------
# JavaScript
# ---------------------------------------------------------------------------------------------

_JAVASCRIPT = """\
// {headline}.
// {name}(record) returns {{ risk, score }} of an object with the values of the features, which are
// numbers or booleans. It throws where one is missing, not finite or something else.
function {name}(record) {{
  "use strict";
  const points = [{points}];
  let score = 0;
  for (const [feature, weight] of points) {{
    if (!Object.prototype.hasOwnProperty.call(record, feature)) {{
      throw new TypeError("the record lacks " + JSON.stringify(feature));
    }}
    const value = record[feature];
    const converted = typeof value === "boolean" || typeof value === "bigint";
    const number = converted ? Number(value) : value;
    if (!Number.isFinite(number) || (converted && !Number.isSafeInteger(number))) {{
      const got = String(value);
      throw new TypeError(JSON.stringify(feature) + " must be a finite number, got " + got);
    }}
    score += weight * number;
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


def to_javascript(score: RiskScore, *, function_name: str = "predictRisk") -> str:
    """Write a risk score as a JavaScript function.

    Parameters
    ----------
    score : RiskScore
    function_name : str, default "predictRisk"

    Returns
    -------
    str
        A script, ASCII throughout, with one function that takes an object with the features with
        points as its own properties, and returns an object with `risk` and `score`. It throws where
        :meth:`~riskslim.RiskScore.predict_proba` raises. In a browser the function is global, in
        CommonJS it is exported; it stands in a script element of HTML as it is.

    Raises
    ------
    ValueError
        The name of the function is no identifier of ASCII characters, or is reserved.

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
    points = "".join(
        f"\n    [{javascript_text(name)}, {points}]," for name, points in score.points.items()
    )
    risks = "".join(
        f"\n    case {total}: return {{ risk: {risk!r}, score }};"
        for total, risk in _tabled_risks(score).items()
    )
    return _JAVASCRIPT.format(
        headline=javascript_text(_headline(score)).strip('"'),
        name=function_name,
        points=f"{points}\n  " if points else "",
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
    # What a name is to the database: names that it does not tell apart have the same key.
    key: Callable[[str], str]
    booleans_are_numbers: bool


def _lower_ascii(name: str) -> str:
    return "".join(c.lower() if c.isascii() else c for c in name)


def _cut_off(name: str) -> str:
    return name.encode(errors="surrogatepass")[:_POSTGRESQL_NAME_BYTES].decode(errors="ignore")


def _double_precision(column: str, points: int) -> str:
    return _cast(column, points, "DOUBLE PRECISION")


_DIALECTS = {
    "ansi": _Dialect('"', _approximate_literal, _double_precision, str, False),
    "duckdb": _Dialect(
        '"',
        _approximate_literal,
        lambda column, points: _cast(column, points, "DOUBLE"),
        _lower_ascii,
        True,
    ),
    "postgresql": _Dialect('"', _approximate_literal, _double_precision, _cut_off, False),
    # SQLite takes a name in double quotes that is no column's for a text.
    "sqlite": _Dialect("`", _sqlite_literal, _sqlite_product, _lower_ascii, True),
}

SQL_DIALECTS: tuple[str, ...] = tuple(_DIALECTS)


def to_sql(
    score: RiskScore,
    dialect: str = "ansi",
    *,
    table: str | Sequence[str] | None = None,
    boolean_columns: Iterable[str] = (),
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
        Features whose columns are of type BOOLEAN, which neither standard SQL nor PostgreSQL
        turns into a number.

    Returns
    -------
    str
        Without ``table`` a scalar expression, the risk of a row, for a list of columns, a
        condition, or a view. With it a SELECT of the score, all columns of the table, and the risk.
        The columns of the features have their names; "score" and "risk" get underscores at the
        end where a feature has the name. The risk is NULL where a value is NULL or not
        finite, in SQLite also where it is text; other databases raise an error for text that is no
        number.

    Raises
    ------
    ValueError
        An unknown dialect, a name that no table or column can have, names that the database does
        not tell apart, or a boolean column that is no feature with points.
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
    booleans = set(boolean_columns)
    unknown = booleans - set(score.points)
    if unknown:
        raise ValueError(
            "boolean_columns must be features with points, got "
            f"{listing(repr(name) + near(name, score.points) for name in sorted(unknown))}"
        )
    _check_columns(score, dialect)
    if table is None:
        total = _sql_total(score, "", booleans, syntax)
        return "\n".join(_sql_risk(score, f"({total})", syntax))
    parts = [table] if isinstance(table, str) else list(table)
    if not parts or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"table must be a name, or the parts of a qualified one, got {table!r}")
    source = ".".join(_quoted(part, syntax.quote) for part in parts)
    comment = _headline(score).replace("*/", "* /").replace("/*", "/ *")
    taken = {syntax.key(name) for name in score.feature_names}
    total, risk = (_quoted(_free_name(name, taken), syntax.quote) for name in ("score", "risk"))
    *case, end = _sql_risk(score, f"s.{total}", syntax)
    lines = [
        f"/* {comment}. */",
        "SELECT",
        "  s.*,",
        *_indented([*case, f"{end} AS {risk}"]),
        # The score comes first: where the table has a column of this name, SQLite reads the first.
        "FROM (",
        f"  SELECT {_sql_total(score, 't.', booleans, syntax)} AS {total}, t.*",
        f"  FROM {source} AS t",
        ") AS s",
    ]
    return "\n".join(lines)


def _indented(lines: list[str]) -> list[str]:
    # Not with textwrap.indent: a line may hold a name that has line breaks of its own.
    return [f"  {line}" for line in lines]


def _quoted(name: str, quote: str) -> str:
    if not name or re.search("[\0\ud800-\udfff]", name):
        raise ValueError(f"no table or column of a database can have the name {name!r}")
    return f"{quote}{name.replace(quote, 2 * quote)}{quote}"


def _check_columns(score: RiskScore, dialect: str) -> None:
    """Refuse a name that may get the column of another feature."""
    key = _DIALECTS[dialect].key
    taken: dict[str, list[str]] = {}
    for name in score.feature_names:
        taken.setdefault(key(name), []).append(name)
    for name in score.points:
        if len(same := taken[key(name)]) > 1:
            raise ValueError(
                f"{dialect} does not tell columns named {listing(map(repr, same))} apart: rename "
                "these features"
            )


def _sql_total(score: RiskScore, prefix: str, booleans: set[str], syntax: _Dialect) -> str:
    if not score.points:
        return syntax.product("0", 0)
    products = []
    for name, points in score.points.items():
        column = prefix + _quoted(name, syntax.quote)
        if name in booleans and not syntax.booleans_are_numbers:
            column = f"CASE WHEN {column} THEN 1 WHEN NOT {column} THEN 0 END"
        products.append(syntax.product(column, points))
    return " + ".join(products)


def _sql_risk(score: RiskScore, total: str, syntax: _Dialect) -> list[str]:
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
    entries += [f"ELSE {formula[0]}", *formula[1:]]
    return [f"CASE {total}", *_indented(entries), "END"]


# ---------------------------------------------------------------------------------------------
# PMML
# ---------------------------------------------------------------------------------------------

_NUMBER = {"optype": "continuous", "dataType": "double"}
_NAMESPACE = "http://www.dmg.org/PMML-4_4"

# What XML 1.0 cannot hold, escaped or not.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


# What is finite, in the sense of the fields of PMML.
_FINITE_INTERVAL = {"closure": "closedClosed", "leftMargin": f"-{_FINITE}", "rightMargin": _FINITE}


def to_pmml(score: RiskScore) -> str:
    """Write a risk score as PMML 4.4.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    str
        A document with a RegressionModel for classification. Its inputs are the features with
        points; its outputs are `risk`, `score`, `label`, and the target field, which is named after
        the outcome. A name that is taken gets underscores at its end. An evaluator refuses records
        whose values are missing, infinite or no numbers, or gives no result for them.

    Raises
    ------
    ValueError
        A name or a label has characters that XML cannot hold, or both labels read the same.

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
    for text in (score.outcome_name, *labels, *score.points):
        if wrong := _NOT_XML.search(text):
            raise ValueError(f"XML cannot hold the character {wrong.group()!r} of {text!r}")
    taken = set(score.points)
    target, *outputs = (
        _free_name(name, taken) for name in (score.outcome_name, "risk", "score", "label")
    )
    fields = [_free_name(f"riskslim {what}", taken) for what in ("score", "risk")]

    root = ET.Element("PMML", xmlns=_NAMESPACE, version="4.4")
    header = _add(root, "Header", description=_headline(score))
    _add(header, "Application", name="riskslim", version=__version__)
    dictionary = _add(root, "DataDictionary", numberOfFields=len(score.points) + 1)
    field = _add(dictionary, "DataField", name=target, optype="categorical", dataType=kind)
    for label in labels:
        _add(field, "Value", value=label)
    model = _add(root, "RegressionModel", functionName="classification", normalizationMethod="none")
    schema = _add(model, "MiningSchema")
    _add(schema, "MiningField", name=target, usageType="target")
    for name in score.points:
        field = _add(dictionary, "DataField", name=name, **_NUMBER)
        _add(field, "Interval", **_FINITE_INTERVAL)
        _add(schema, "MiningField", name=name, missingValueTreatment="returnInvalid")
    _add_outputs(_add(model, "Output"), outputs, fields, kind, labels)
    _add_derived_fields(_add(model, "LocalTransformations"), score, fields, taken)
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
    kinds = {type(label) for label in classes}
    kind = {bool: "boolean", int: "integer", float: "double"}.get(kinds.pop(), "string")
    texts = [str(label).lower() if isinstance(label, bool) else str(label) for label in classes]
    if texts[0] == texts[1]:
        raise ValueError(f"PMML does not tell the classes {classes!r} apart: rename one of them")
    return ("string" if kinds else kind), texts


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
    parent: ET.Element, score: RiskScore, fields: list[str], taken: set[str]
) -> None:
    def field(name: str) -> ET.Element:
        return _add(parent, "DerivedField", name=name, **_NUMBER)

    total, risk = fields
    _add_sum(field(total), list(score.points.items()))
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
