"""A score as SQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from riskslim._wording import listing, near
from riskslim.exports.common import free_name, headline_of, tabled_risks
from riskslim.exports.dialects import SQL_DIALECTS, Dialect, dialect_of
from riskslim.exports.reasons import VariableCost, costs_of
from riskslim.exports.terms import Term, chosen_inputs, is_truth_value, terms_of
from riskslim.score.lines import shift_of
from riskslim.score.link import link_of
from riskslim.score.operating_point import shown_threshold

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["SQL_DIALECTS", "to_sql"]

# Beyond these log-odds SQL gives 0 and 1: exp would overflow or, an error in PostgreSQL, underflow.
_MOST_LOG_ODDS = 708.0


def to_sql(
    score: RiskScore,
    dialect: str = "ansi",
    *,
    table: str | Sequence[str] | None = None,
    boolean_columns: Iterable[str] = (),
    inputs: str | None = None,
    score_column: str | None = None,
    risk_column: str | None = None,
    reasons: int | None = None,
    average: Mapping[str, float] | None = None,
    best: str | None = None,
    fixed: Sequence[str] = (),
) -> str:
    """Write a risk score as an SQL expression, or as a query of a table.

    Parameters
    ----------
    score : RiskScore
    dialect : str, default "ansi"
        One of :data:`SQL_DIALECTS`: "bigquery", "databricks" (as "spark"), "duckdb", "mariadb" (as
        "mysql"), "mysql", "postgresql", "snowflake", "spark", "sqlite", "sqlserver"; or "ansi", for
        other databases that keep to the standard, with names in double quotes, double precision
        numbers as in IEEE 754 and the function EXP.
    table : str or sequence of str, optional
        Name of a table, or the parts of a qualified one such as ``("clinic", "patients")``.
    boolean_columns : iterable of str, optional
        Inputs whose columns are of type BOOLEAN, which standard SQL, PostgreSQL, BigQuery, Spark
        and Snowflake do not compare with numbers.
    inputs : {"raw", "items"}, optional
        What columns the table has: the raw columns, of which the query computes the items, or the
        features with points. Default: "raw" where the score knows its ``variables``.
    score_column, risk_column : str, optional
        Names of what the query adds to the columns of the table. Default: "score" and "risk", with
        underscores at the end where a feature has the name.
    reasons : int, optional
        The query adds so many columns "reason_1", "reason_2", ... with the variables that cost the
        row most points, as in :func:`to_python`; NULL where no other costs any, or the risk is.
    average, best, fixed : optional
        As in :func:`to_python`.

    Returns
    -------
    str
        Without ``table`` a scalar expression, the risk of a row, for a list of columns, a
        condition, or a view. With it a SELECT of the score, all columns of the table, the risk,
        and of a score with an operating point the column "positive": 1 from the threshold on, 0
        below it, NULL where there is no score.
        The columns of the inputs have their names. The database refuses a table that has a column
        named as ``score_column`` or ``risk_column`` itself, or "positive" where the query adds
        that, since a name in the query is ambiguous then. The risk is NULL where a value is NULL or
        not finite, in SQLite also where it is text; other databases raise an error for text that is
        no number, but MySQL and MariaDB, which take it for the number that it begins with, or 0. Of
        raw columns NULL is a missing value, which meets no condition where there were some in the
        training data; the risk is NULL where there were none, and for unknown levels.

    Raises
    ------
    ValueError
        An unknown dialect, a name or level that no database can have, names that the database does
        not tell apart, a boolean column that is no input of numbers, an output that is named as an
        input or without a table, or ``inputs`` as in :func:`to_python`.
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
    /* Risk that 'outcome' = 1, from a risk score of riskslim 0.1.0.
       A table with a column "score" or "risk" of its own is refused: a name is ambiguous then. */
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
      FROM "patients" AS t CROSS JOIN (VALUES (0, 0)) AS o ("score", "risk")
      WHERE "score" = "risk"
    ) AS s
    """
    syntax = dialect_of(dialect)
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
    count, costs = costs_of(score, reasons, average, best, fixed)
    if table is None:
        if count:
            raise ValueError("reasons are columns of queries: pass table as well")
        if score_column is not None or risk_column is not None:
            raise ValueError("score_column and risk_column are for queries: pass table as well")
        total = _sql_total(terms, "", booleans, syntax)
        return "\n".join(_sql_risk(score, f"({total})", 0, syntax, is_closed=is_closed))
    parts = [table] if isinstance(table, str) else list(table)
    if not parts or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"table must be a name, or the parts of a qualified one, got {table!r}")
    outputs = _outputs(score, score_column, risk_column, names, syntax)
    added = [syntax.name(name) for name in outputs]
    total, risk = added[:2]
    shift = shift_of(score)
    *case, end = _sql_risk(score, f"s.{total}", shift, syntax, is_closed=is_closed)
    decided = _sql_decision(score, f"s.{total}", added, syntax)
    return "\n".join(
        [
            *_comment(score, outputs),
            "SELECT",
            "  s.*,",
            *_indented([*case, f"{end} AS {risk}{',' if count or decided else ''}"]),
            *_indented([*decided[:-1], f"{decided[-1]}{',' if count else ''}"] if decided else []),
            *_reason_columns(
                costs,
                [_sql_total([term], "s.", booleans, syntax) for term in terms],
                f"s.{total}",
                _names_of_reasons(count, [*names, *outputs], syntax),
                syntax,
            ),
            "FROM (",
            f"  SELECT {_sql_total(terms, 't.', booleans, syntax)}{_sql_plus(shift)} "
            f"AS {total}, t.*",
            # Outputs without a table before them: ambiguous, so refused, where the table has one.
            f"  FROM {'.'.join(map(syntax.name, parts))} AS t CROSS JOIN {syntax.one_row(added)}",
            f"  WHERE {' AND '.join(f'{total} = {name}' for name in added[1:])}",
            ") AS s",
        ]
    )


def _outputs(
    score: RiskScore,
    score_column: str | None,
    risk_column: str | None,
    names: Iterable[str],
    syntax: Dialect,
) -> list[str]:
    """Names of the columns that a query adds: score, risk and, with a threshold, the decision."""
    inputs = {syntax.key(name) for name in names}
    taken = set(inputs)
    outputs = []
    for given, usual, what in (
        (score_column, "score", "score_column"),
        (risk_column, "risk", "risk_column"),
    ):
        if given is None:
            outputs.append(free_name(usual, taken))
            continue
        if syntax.key(given) in taken:
            raise ValueError(f"{what} must not be the name of another column, got {given!r}")
        taken.add(syntax.key(given))
        outputs.append(given)
    if score.operating_point is not None:
        outputs.append(free_name("positive", taken))
    return outputs


def _sql_decision(score: RiskScore, total: str, added: Sequence[str], syntax: Dialect) -> list[str]:
    """Lines of the column that is 1 from the threshold of a score on, 0 below it, else NULL."""
    threshold = shown_threshold(score)
    if threshold is None:
        return []
    limit = syntax.literal(threshold)
    return [
        "CASE",
        f"  WHEN {total} BETWEEN {limit} AND {syntax.largest} THEN 1",
        f"  WHEN {total} BETWEEN -{syntax.largest} AND {limit} THEN 0",
        f"END AS {added[2]}",
    ]


def _names_of_reasons(count: int, names: Iterable[str], syntax: Dialect) -> list[str]:
    """Names of the columns of reasons; underscores follow where an input has the name."""
    taken = {syntax.key(name) for name in names}
    return [free_name(f"reason_{k}", taken) for k in range(1, count + 1)]


def _reason_columns(
    costs: Sequence[VariableCost],
    terms: Sequence[str],
    total: str,
    columns: Sequence[str],
    syntax: Dialect,
) -> list[str]:
    """Lines of the columns of reasons: in each the variable that so many others exceed.

    Of equal costs the first in order exceeds the others.
    """
    if not columns:
        return []
    points = [
        f"({' + '.join(terms[k] for k in one.terms)} - {syntax.literal(float(one.reference))})"
        for one in costs
    ]
    ranks = [
        " + ".join(
            f"CASE WHEN {other} {'>=' if j < k else '>'} {own} THEN 1 ELSE 0 END"
            for j, other in enumerate(points)
            if j != k
        )
        or "0"
        for k, own in enumerate(points)
    ]
    lines = []
    for position, name in enumerate(columns):
        lines.append(f"CASE WHEN {total} IS NULL THEN NULL")
        for own, rank, one in zip(points, ranks, costs, strict=True):
            lines.append(
                f"  WHEN {own} > {syntax.literal(0.0)} AND {rank} = {position} "
                f"THEN {syntax.result(one.label)}"
            )
        comma = "," if position < len(columns) - 1 else ""
        lines.append(f"END AS {syntax.name(name)}{comma}")
    return _indented(lines)


def _comment(score: RiskScore, outputs: Iterable[str]) -> list[str]:
    columns = " or ".join(f'"{name}"' for name in outputs)
    lines = [
        f"{headline_of(score)}.",
        f"A table with a column {columns} of its own is refused: a name is ambiguous then.",
    ]
    first, second = (line.replace("*/", "* /").replace("/*", "/ *") for line in lines)
    return [f"/* {first}", f"   {second} */"]


def _indented(lines: list[str]) -> list[str]:
    # Not with textwrap.indent: a line may hold a name that has line breaks of its own.
    return [f"  {line}" for line in lines]


def _check_columns(columns: Iterable[str], names: Iterable[str], dialect: str) -> None:
    """Refuse a column that may be taken for another one of the names."""
    key = dialect_of(dialect).key
    taken: dict[str, list[str]] = {}
    for name in names:
        taken.setdefault(key(name), []).append(name)
    for name in columns:
        if len(same := taken[key(name)]) > 1:
            raise ValueError(
                f"{dialect} does not tell columns named {listing(map(repr, same))} apart: rename "
                "these features"
            )


def _sql_total(terms: Iterable[Term], prefix: str, booleans: set[str], syntax: Dialect) -> str:
    parts = []
    for term in terms:
        column = prefix + syntax.name(term.column)
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


def _sql_condition(term: Term, column: str, is_boolean: bool, syntax: Dialect) -> str:
    """The points of a condition: 0 where it is not met, NULL where the value is not valid."""
    if is_boolean and not syntax.booleans_are_numbers:
        met, valid = column, f"{column} IS NOT NULL"
    elif term.levels:
        is_text = any(isinstance(level, str) for level in term.levels)
        compared = syntax.text_column.format(column) if is_text else column
        met, valid = (
            f"{compared} IN ({', '.join(map(syntax.level, levels))})"
            for levels in (term.value or term.levels, term.levels)
        )
    else:
        valid = syntax.between(column, f"-{syntax.largest}", syntax.largest)
        met = ""
        if term.kind == "comparison":
            met = _sql_comparison(term, column, syntax)
        elif term.kind == "numbers":
            met = _sql_among(term.value, column, syntax)
    if term.kind == "missing":
        met = f"{column} IS NULL"
    points, nothing = map(syntax.literal, (term.points, 0))
    lacking = f" WHEN {column} IS NULL THEN {nothing}"
    if not term.may_lack or term.kind == "missing":
        lacking = ""
    return f"CASE WHEN {met} THEN {points} WHEN {valid} THEN {nothing}{lacking} END"


def _sql_comparison(term: Term, column: str, syntax: Dialect) -> str:
    threshold = syntax.literal(term.value)
    low, high = (
        (threshold, syntax.largest)
        if term.operator.startswith(">")
        else (f"-{syntax.largest}", threshold)
    )
    met = syntax.between(column, low, high)
    if "=" not in term.operator:
        met = f"{met} AND {column} <> {threshold}"
    if term.exceptions:
        met = f"{met} AND NOT ({_sql_among(term.exceptions, column, syntax)})"
    return met


def _sql_among(values: Iterable[float], column: str, syntax: Dialect) -> str:
    """Say that a column has one of some numbers, and no text that reads as one."""
    literals = map(syntax.literal, values)
    return " OR ".join(syntax.between(column, one, one) for one in literals)


def _sql_plus(number: int) -> str:
    """A whole number that is added, if it is not 0."""
    return f" {'+' if number > 0 else '-'} {abs(number)}" if number else ""


def _sql_risk(
    score: RiskScore, total: str, shift: int, syntax: Dialect, *, is_closed: bool
) -> list[str]:
    """Lines of an expression for the risk of a total, which is a column or in parentheses.

    It exceeds the sum of the fitted points by a shift.
    """
    link = link_of(score)
    middle, margin = shift - link.intercept, _MOST_LOG_ODDS * link.scale
    of_points = f"({total}{_sql_plus(-shift)})" if shift else total
    intercept = link.intercept if score.recalibration is None else syntax.literal(link.intercept)
    low, high = (syntax.approximate(middle + side * margin) for side in (-1, 1))
    zero, one, scale = map(syntax.literal, (0.0, 1.0, link.scale))
    formula = [
        "CASE",
        f"  WHEN {total} BETWEEN {low} AND {high} THEN",
        f"    {one} / ({one} + EXP(-({intercept} + {of_points}) / {scale}))",
        f"  WHEN {total} BETWEEN -{syntax.largest} AND {low} THEN {zero}",
        f"  WHEN {total} BETWEEN {high} AND {syntax.largest} THEN {one}",
        "END",
    ]
    tabled = tabled_risks(score)
    if not tabled:
        return formula
    entries = [
        f"WHEN {known + shift} THEN {syntax.literal(risk)}" for known, risk in tabled.items()
    ]
    if not is_closed:
        entries += [f"ELSE {formula[0]}", *formula[1:]]
    return [f"CASE {total}", *_indented(entries), "END"]
