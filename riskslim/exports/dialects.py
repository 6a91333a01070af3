"""The ways of databases: how they write names, numbers and text, and what they tell apart."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from riskslim._wording import near
from riskslim.exports.common import LARGEST_NUMBER

__all__ = ["DIALECTS", "SQL_DIALECTS", "Dialect", "approximate_literal", "dialect_of"]

# PostgreSQL cuts identifiers off after this number of octets.
_POSTGRESQL_NAME_BYTES = 63
# Characters that databases do not take.
_NOT_SQL = re.compile("[\0\ud800-\udfff]")
# Those that no column of BigQuery has in its name.
_NOT_BIGQUERY = re.compile(r"[!\"$()*,./;?@\[\\\]^`{}~\0-\x1f]")
# Powers of two up to this one are 64-bit integers.
_LARGEST_POWER = 62


# ---------------------------------------------------------------------------------------------
# Numbers
# ---------------------------------------------------------------------------------------------


def approximate_literal(value: float) -> str:
    """Write a float64 with an exponent: without one, SQL takes it for a decimal number.

    Parameters
    ----------
    value : float

    Returns
    -------
    str

    Examples
    --------
    >>> from riskslim.exports.dialects import approximate_literal
    >>> approximate_literal(0.1), approximate_literal(1e300)
    ('0.1E0', '1E+300')
    """
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


def _snowflake_literal(value: float) -> str:
    # A number with an exponent may be a decimal one there.
    return f"CAST('{approximate_literal(value)}' AS FLOAT)"


def _cast(number: str) -> Callable[[str, int], str]:
    return lambda column, points: f"{points} * CAST({column} AS {number})"


def _sqlite_product(column: str, points: int) -> str:
    # A cast would turn text that is no number into 0.
    return f"CASE WHEN typeof({column}) IN ('integer', 'real') THEN {points}.0 * {column} END"


def _between(column: str, low: str, high: str) -> str:
    return f"{column} BETWEEN {low} AND {high}"


def _sqlite_between(column: str, low: str, high: str) -> str:
    # Text is greater than every number.
    return f"typeof({column}) IN ('integer', 'real') AND {_between(column, low, high)}"


# ---------------------------------------------------------------------------------------------
# Names
# ---------------------------------------------------------------------------------------------


def _quoted(opening: str, closing: str) -> Callable[[str], str]:
    return lambda name: f"{opening}{name.replace(closing, 2 * closing)}{closing}"


def _lower_ascii(name: str) -> str:
    return "".join(c.lower() if c.isascii() else c for c in name)


def _cut_off(name: str) -> str:
    return name.encode(errors="surrogatepass")[:_POSTGRESQL_NAME_BYTES].decode(errors="ignore")


def _without_accents(name: str) -> str:
    """As MySQL compares names: without regard to case and accents."""
    parts = unicodedata.normalize("NFKD", name.casefold())
    return "".join(c for c in parts if not unicodedata.combining(c))


def _is_mysql_name(name: str) -> bool:
    return len(name) <= 64 and not name[-1].isspace() and all(ord(c) <= 0xFFFF for c in name)


# ---------------------------------------------------------------------------------------------
# Text
# ---------------------------------------------------------------------------------------------


def _standard_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _hexadecimal(text: str) -> str:
    return f"X'{text.encode().hex().upper()}'"


def _mysql_text(text: str) -> str:
    # Backslashes are escapes or not, other characters depend on the connection: octets do not.
    if text.isascii() and "\\" not in text:
        return f"CAST({_standard_text(text)} AS BINARY)"
    return _hexadecimal(text)


def _bigquery_text(text: str) -> str:
    escapes = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"}
    return "'" + "".join(escapes.get(c, f"\\x{ord(c):02x}" if c < " " else c) for c in text) + "'"


def _spark_text(text: str) -> str:
    # Backslashes are escapes or not, 'it''s' is two texts, ${x} is a variable: octets are none.
    if set("\\'$") & set(text):
        return f"CAST({_hexadecimal(text)} AS STRING)"
    return f"'{text}'"


def _snowflake_text(text: str) -> str:
    return _standard_text(text.replace("\\", "\\\\"))


@dataclass(frozen=True)
class Dialect:
    """The ways of a database where the standard leaves it open, or it does not keep to it.

    Attributes
    ----------
    identifier : callable
        Quotes a name.
    product : callable
        Points times the value of a column, as a float64.
    literal : callable
        Writes a float64 with all its digits.
    approximate : callable
        Writes one of which the last digits do not matter.
    largest : str
        What exceeds this is taken to be infinite.
    between : callable
        A condition that a column is a number between two, written as they are.
    text : callable
        Writes a level that is text.
    words : callable, optional
        Writes a text that is a result, where that is not as levels are written.
    text_column : str
        A column ``{}``, as such levels are compared with.
    key : callable
        What a name is to the database: names that it does not tell apart have the same key.
    is_name : callable
        Whether a column can have the name.
    booleans_are_numbers : bool
    has_values : bool
        Whether a table of one row for FROM is written with VALUES, as the standard has it.
    """

    identifier: Callable[[str], str]
    product: Callable[[str, int], str]
    literal: Callable[[float], str] = approximate_literal
    approximate: Callable[[float], str] = approximate_literal
    largest: str = LARGEST_NUMBER
    between: Callable[[str, str, str], str] = _between
    text: Callable[[str], str] = _standard_text
    words: Callable[[str], str] | None = None
    text_column: str = "{}"
    key: Callable[[str], str] = str
    is_name: Callable[[str], bool] = bool
    booleans_are_numbers: bool = False
    has_values: bool = False

    def one_row(self, names: Sequence[str]) -> str:
        """A table of one row, for FROM, whose columns are all 0.

        Parameters
        ----------
        names : sequence of str
            Of the columns, in quotes.

        Returns
        -------
        str
        """
        if self.has_values:
            return f"(VALUES ({', '.join('0' for _ in names)})) AS o ({', '.join(names)})"
        return f"(SELECT {', '.join(f'0 AS {name}' for name in names)}) AS o"

    def name(self, name: str) -> str:
        """Quote the name of a table or a column.

        Parameters
        ----------
        name : str

        Returns
        -------
        str

        Raises
        ------
        ValueError
            The database has no such names.
        """
        if not name or _NOT_SQL.search(name) or not self.is_name(name):
            raise ValueError(f"no table or column of a database can have the name {name!r}")
        return self.identifier(name)

    def result(self, text: str) -> str:
        """Write a text that a query returns.

        Parameters
        ----------
        text : str

        Returns
        -------
        str

        Raises
        ------
        ValueError
            No text of a database can be this.
        """
        if _NOT_SQL.search(text):
            raise ValueError(f"no text in a database can be {text!r}")
        return (self.words or self.text)(text)

    def level(self, level: object) -> str:
        """Write a value that a column may have.

        Parameters
        ----------
        level : bool, int, float or str

        Returns
        -------
        str

        Raises
        ------
        ValueError
            No text of a database can be this.
        """
        if isinstance(level, bool):
            # In SQLite TRUE is the column of this name if there is one.
            return str(int(level)) if self.booleans_are_numbers else str(level).upper()
        if isinstance(level, int):
            return str(level)
        if isinstance(level, str):
            if _NOT_SQL.search(level):
                raise ValueError(f"no text in a database can be {level!r}")
            return self.text(level)
        assert isinstance(level, float)
        return self.literal(level)


_ANSI = Dialect(_quoted('"', '"'), _cast("DOUBLE PRECISION"), has_values=True)
_MYSQL = Dialect(
    _quoted("`", "`"),
    _cast("DOUBLE"),
    text=_mysql_text,
    words=lambda text: f"CONVERT({_mysql_text(text)} USING utf8mb4)",
    # Text is compared by the collation of the column: most take Male for male.
    text_column="CAST(CONVERT({} USING utf8mb4) AS BINARY)",
    key=_without_accents,
    is_name=_is_mysql_name,
    booleans_are_numbers=True,
)
_SPARK = Dialect(
    _quoted("`", "`"),
    _cast("DOUBLE"),
    text=_spark_text,
    key=str.casefold,
    is_name=lambda name: "${" not in name,
)

DIALECTS: dict[str, Dialect] = {
    "ansi": _ANSI,
    "bigquery": Dialect(
        _quoted("`", "`"),
        _cast("FLOAT64"),
        text=_bigquery_text,
        key=str.casefold,
        is_name=lambda name: len(name) <= 300 and not _NOT_BIGQUERY.search(name),
    ),
    "databricks": _SPARK,
    "duckdb": Dialect(
        _quoted('"', '"'), _cast("DOUBLE"), key=_lower_ascii, booleans_are_numbers=True
    ),
    "mariadb": _MYSQL,
    "mysql": _MYSQL,
    "postgresql": replace(_ANSI, key=_cut_off),
    "snowflake": Dialect(
        _quoted('"', '"'),
        _cast("FLOAT"),
        literal=_snowflake_literal,
        approximate=_snowflake_literal,
        largest=f"CAST('{LARGEST_NUMBER}' AS FLOAT)",
        text=_snowflake_text,
        is_name=lambda name: len(name) <= 255,
    ),
    "spark": _SPARK,
    # SQLite takes a name in double quotes that is no column's for a text.
    "sqlite": Dialect(
        _quoted("`", "`"),
        _sqlite_product,
        _sqlite_literal,
        between=_sqlite_between,
        key=_lower_ascii,
        booleans_are_numbers=True,
    ),
    "sqlserver": Dialect(
        _quoted("[", "]"),
        _cast("FLOAT"),
        text=lambda text: f"CAST(N{_standard_text(text)} AS VARBINARY(MAX))",
        words=lambda text: f"N{_standard_text(text)}",
        # As in MySQL; and all collations ignore spaces at the end.
        text_column="CAST(CAST({} AS NVARCHAR(MAX)) AS VARBINARY(MAX))",
        key=str.casefold,
        is_name=lambda name: len(name.encode("utf-16-le", "surrogatepass")) <= 256,
        booleans_are_numbers=True,
    ),
}

SQL_DIALECTS: tuple[str, ...] = tuple(DIALECTS)


def dialect_of(name: str) -> Dialect:
    """Return the dialect of a name.

    Parameters
    ----------
    name : str

    Returns
    -------
    Dialect

    Raises
    ------
    ValueError
        There is none.
    """
    dialect = DIALECTS.get(name)
    if dialect is None:
        raise ValueError(
            f"dialect must be one of {', '.join(SQL_DIALECTS)}, got {name!r}"
            f"{near(name, SQL_DIALECTS)}"
        )
    return dialect
