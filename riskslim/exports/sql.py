"""A score as SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from riskslim._wording import listing, near
from riskslim.exports.common import LARGEST_NUMBER, free_name, headline_of, tabled_risks
from riskslim.exports.terms import Term, chosen_inputs, is_truth_value, terms_of
from riskslim.score.link import link_of

if TYPE_CHECKING:
    from riskslim.score.protocol import ScoreLike

__all__ = ["SQL_DIALECTS", "to_sql"]

# Beyond these log-odds SQL gives 0 and 1: exp would overflow or, an error in PostgreSQL, underflow.
_MOST_LOG_ODDS = 708.0

# PostgreSQL cuts identifiers off after this number of octets.
_POSTGRESQL_NAME_BYTES = 63
# Characters that databases do not take.
_NOT_SQL = re.compile("[\0\ud800-\udfff]")
# Powers of two up to this one are 64-bit integers.
_LARGEST_POWER = 62


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
    """The ways of a database where the standard leaves it open, or it does not keep to it."""

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
    score: ScoreLike,
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
    comment = headline_of(score).replace("*/", "* /").replace("/*", "/ *")
    taken = {syntax.key(name) for name in names}
    total, risk = (_quoted(free_name(name, taken), syntax.quote) for name in ("score", "risk"))
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
    return term.kind == "number" or is_truth_value(term)


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
        valid = syntax.between(column, f"-{LARGEST_NUMBER}", LARGEST_NUMBER)
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
        (threshold, LARGEST_NUMBER)
        if term.operator.startswith(">")
        else (f"-{LARGEST_NUMBER}", threshold)
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


def _sql_risk(score: ScoreLike, total: str, syntax: _Dialect, *, is_closed: bool) -> list[str]:
    """Lines of an expression for the risk of a score, which is a column or in parentheses."""
    link = link_of(score)
    middle, margin = -link.intercept, _MOST_LOG_ODDS * link.scale
    intercept = link.intercept if score.recalibration is None else syntax.literal(link.intercept)
    low, high = (_approximate_literal(middle + side * margin) for side in (-1, 1))
    zero, one, scale = map(syntax.literal, (0.0, 1.0, link.scale))
    formula = [
        "CASE",
        f"  WHEN {total} BETWEEN {low} AND {high} THEN",
        f"    {one} / ({one} + EXP(-({intercept} + {total}) / {scale}))",
        f"  WHEN {total} BETWEEN -{LARGEST_NUMBER} AND {low} THEN {zero}",
        f"  WHEN {total} BETWEEN {high} AND {LARGEST_NUMBER} THEN {one}",
        "END",
    ]
    tabled = tabled_risks(score)
    if not tabled:
        return formula
    entries = [f"WHEN {known} THEN {syntax.literal(risk)}" for known, risk in tabled.items()]
    if not is_closed:
        entries += [f"ELSE {formula[0]}", *formula[1:]]
    return [f"CASE {total}", *_indented(entries), "END"]
