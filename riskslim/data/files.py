"""Reading CSV and Parquet files."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riskslim._wording import listing, near, not_installed
from riskslim.data.csv_format import CsvFormat

if TYPE_CHECKING:
    import os

    import pyarrow

__all__ = [
    "as_arrow",
    "check_one_column",
    "csv_fault",
    "format_of_file",
    "hint_on_separator",
    "import_pyarrow",
    "longer_block",
    "not_utf8",
    "open_file",
    "open_parquet",
    "read_table",
    "read_verbatim",
]

# Bytes of a CSV file that are parsed together; more where a header or a row has more.
_CSV_BLOCK, _LONGEST_BLOCK = 2**20, 2**30
# The line that tells spreadsheet programs the separator, and bytes in which it is.
_SEPARATOR_LINE = re.compile(r'\ufeff?"?sep=([^\r\n"])\1*"?(?:\r|\n)', re.IGNORECASE)
_SEPARATOR_BYTES = 64
_ODD_LINE = re.compile(r"Expected (\d+) columns, got (\d+): (.+)", re.DOTALL)
_SEPARATORS = ",;\t|"  # that are thought of where a file has one column
# Characters of a line that errors show.
_SHOWN = 60


# ---------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------


def read_table(path: str | os.PathLike[str], csv_format: CsvFormat | None = None) -> pyarrow.Table:
    r"""Read a CSV or Parquet file.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends in .csv (with a header row), .csv.gz or .parquet.
    csv_format : CsvFormat, optional
        How a CSV file is written. Default: with commas, decimal points and UTF-8; empty cells and
        "NA", "NaN", "null" and the like are missing values.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the name ends otherwise, or the file is not what its name says.
    ImportError
        If pyarrow is not installed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from riskslim.data.files import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "patients.csv")
    ...     _ = path.write_text("age,died\n60,1\n41,0\n")
    ...     table = read_table(path)
    >>> table.column_names, table.num_rows
    (['age', 'died'], 2)
    """
    path = Path(path)
    kind = _file_kind(path)
    pyarrow = import_pyarrow()
    try:
        if kind == "csv":
            texts = ["", *(csv_format or CsvFormat()).missing]
            return _read_csv(path, csv_format, strings_can_be_null=True, null_values=texts)
        return open_parquet(path).read()
    except pyarrow.ArrowInvalid as error:
        if kind == "csv":
            raise csv_fault(path, csv_format or CsvFormat(), error) from error
        raise ValueError(f"{path} cannot be read as {kind}: {error}") from error
    except OSError as error:
        raise _unreadable(path, kind, error) from error


def read_verbatim(
    path: str | os.PathLike[str],
    table: pyarrow.Table,
    name: str,
    csv_format: CsvFormat | None = None,
) -> pyarrow.ChunkedArray:
    """Return one column of a file as it stands there: "007" and "NA" in a CSV file stay so.

    Parameters
    ----------
    path : str or path-like
    table : pyarrow.Table
        What :func:`read_table` made of the file.
    name : str
    csv_format : CsvFormat, optional
        As there.

    Returns
    -------
    pyarrow.ChunkedArray

    Raises
    ------
    ValueError
        If the file has no such column, or several.
    """
    check_one_column(path, table.column_names, name)
    path = Path(path)
    if _file_kind(path) == "parquet":
        return table.column(name)
    text = {name: import_pyarrow().string()}
    return _read_csv(path, csv_format, include_columns=[name], column_types=text).column(0)


def check_one_column(
    path: str | os.PathLike[str], names: Sequence[str], name: str, hint: str = ""
) -> None:
    """Refuse a name that is not that of exactly one column of a file.

    Parameters
    ----------
    path : str or path-like
    names : sequence of str
        Of all columns.
    name : str
    hint : str, default ""
        The option that names the column.

    Raises
    ------
    ValueError
    """
    if names.count(name) != 1:
        count = names.count(name)
        found = f"{count} columns" if count else "no column"
        raise ValueError(
            f"{path} has {found} {name!r}{near(name, names)}{hint}. "
            f"Its {len(names)} columns are {listing(map(repr, names))}.{hint_on_separator(names)}"
        )


def hint_on_separator(names: Sequence[str]) -> str:
    """Ask for the separator of a CSV file whose one column has a name that looks like several.

    Parameters
    ----------
    names : sequence of str
        Of all columns.

    Returns
    -------
    str
        A sentence after a blank; empty where there is nothing to ask.

    Examples
    --------
    >>> from riskslim.data.files import hint_on_separator
    >>> hint_on_separator(["died;age"])
    " Is its separator ';'? CsvFormat(separator=...) in Python, --separator on the command line."
    >>> hint_on_separator(["died", "age"])
    ''
    """
    marks = [mark for mark in _SEPARATORS if len(names) == 1 and mark in names[0]]
    if not marks:
        return ""
    return (
        f" Is its separator {max(marks, key=names[0].count)!r}? CsvFormat(separator=...) in "
        "Python, --separator on the command line."
    )


def _read_csv(path: Path, csv_format: CsvFormat | None, **options: Any) -> pyarrow.Table:
    import pyarrow
    import pyarrow.csv as csv

    form, n_skipped = format_of_file(path, csv_format or CsvFormat())
    if form.is_utf8:
        with path.open("rb") as file:
            if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
                raise not_utf8(path, "its byte order mark", "utf-16")
    block_size = _CSV_BLOCK
    while True:
        try:
            table = csv.read_csv(
                path,
                csv.ReadOptions(
                    encoding="utf8" if form.is_utf8 else form.encoding,
                    block_size=block_size,
                    skip_rows=n_skipped,
                ),
                csv.ParseOptions(delimiter=form.separator),
                csv.ConvertOptions(decimal_point=form.decimal, **options),
            )
            break
        except UnicodeError as error:
            raise ValueError(f"{path} is not encoded in {form.encoding}: {error}") from None
        except pyarrow.ArrowInvalid as error:
            longer = longer_block(error, path, block_size)
            if longer is None:
                raise
            block_size = longer
    try:
        names = table.column_names
    except UnicodeDecodeError:
        raise not_utf8(path, "its header", "cp1252") from None
    for name, kind in zip(names, table.schema.types, strict=True):
        if str(kind) == "binary":  # instead of text
            raise not_utf8(path, f"column {name!r}", "cp1252")
    return table


def format_of_file(path: Path, csv_format: CsvFormat) -> tuple[CsvFormat, int]:
    """Read the separator that the first line of a file may say, as "sep=;" for spreadsheets.

    Parameters
    ----------
    path : Path
    csv_format : CsvFormat

    Returns
    -------
    csv_format : CsvFormat
        With the separator of the file.
    n_skipped : int
        Lines before the header.

    Raises
    ------
    ValueError
        The separator is the decimal mark.
    """
    encoding = "utf-8-sig" if csv_format.is_utf8 else csv_format.encoding
    start = b""
    with contextlib.suppress(OSError, EOFError, zlib.error):  # reading says what is wrong with it
        if path.name.lower().endswith(".gz"):
            with gzip.open(path) as file:
                start = file.read(_SEPARATOR_BYTES)
        else:
            with path.open("rb") as file:
                start = file.read(_SEPARATOR_BYTES)
    said = _SEPARATOR_LINE.match(start.decode(encoding, "ignore"))
    if said is None:
        return csv_format, 0
    try:
        return dataclasses.replace(csv_format, separator=said[1]), 1
    except ValueError as error:
        raise ValueError(f"{path}, whose first line says its separator: {error}") from None


def longer_block(error: Exception, path: Path, block_size: int) -> int | None:
    """Return the bytes to parse together where a row of a CSV file, or its header, has too many.

    Parameters
    ----------
    error : Exception
        What pyarrow raised.
    path : Path
    block_size : int
        Bytes that were parsed together.

    Returns
    -------
    int or None
        None where that is not what is wrong.
    """
    is_packed = path.name.lower().endswith(".gz")
    most = _LONGEST_BLOCK if is_packed else min(path.stat().st_size, _LONGEST_BLOCK)
    text = str(error)
    if block_size >= most or not ("straddl" in text or "cannot infer number of columns" in text):
        return None
    return min(8 * block_size, _LONGEST_BLOCK)


def csv_fault(
    path: Path, csv_format: CsvFormat, error: Exception, n_rows: int | None = None
) -> ValueError:
    """Return the error of a CSV file that cannot be parsed: in which line, where that can be said.

    Parameters
    ----------
    path : Path
    csv_format : CsvFormat
    error : Exception
        What pyarrow raised.
    n_rows : int, optional
        Rows before it.

    Returns
    -------
    ValueError
    """
    after = "" if n_rows is None else f" after row {n_rows}"
    found = _ODD_LINE.search(str(error))
    if "Empty CSV file" in str(error):
        return ValueError(f"{path} cannot be read as csv: it is empty, without a header")
    if found is None:
        return ValueError(f"{path} cannot be read as csv{after}: {error}")
    wanted, got, row = int(found[1]), int(found[2]), found[3].splitlines()[0]
    form, _ = format_of_file(path, csv_format)
    header, number = _header_and_line(path, form, row.removesuffix(" ..."))
    where = "a line" if number is None else f"line {number}"
    there = f"{got} column" if got == 1 else f"{got} columns"
    hint = ""
    if any(mark in header + row for mark in _SEPARATORS if mark != form.separator):
        hint = (
            f" Is there another separator than {form.separator!r}? CsvFormat(separator=...) in "
            "Python, --separator on the command line."
        )
    return ValueError(
        f"{path} cannot be read as csv: {where} has {there}, {row[:_SHOWN]!r}, but the "
        f"header has {wanted}, {header[:_SHOWN]!r}. Leave out lines that are no rows, such as "
        f"comments and footers.{hint}"
    )


def _header_and_line(path: Path, csv_format: CsvFormat, row: str) -> tuple[str, int | None]:
    """Return the first line that is not blank, and the number of the one that begins with a row."""
    header = ""
    is_packed = path.name.lower().endswith(".gz")
    with (gzip.open if is_packed else open)(
        path, "rt", encoding="utf-8-sig" if csv_format.is_utf8 else csv_format.encoding,
        errors="replace",
    ) as file:  # fmt: skip
        for number, line in enumerate(file, 1):
            if not header and not _SEPARATOR_LINE.match(line):
                header = line.strip("\r\n")
            if header and line.startswith(row):
                return header, number
    return header, None


def not_utf8(path: Path, where: str, encoding: str) -> ValueError:
    """Return the error of a file that has another encoding, as something of it shows."""
    return ValueError(
        f"{path} is not encoded in UTF-8, as {where} shows. If it is in {encoding}, say so: "
        f"csv_format=CsvFormat(encoding={encoding!r}) in Python, --encoding {encoding} on the "
        "command line. Or save it as UTF-8: choose the file type 'CSV UTF-8' in a spreadsheet "
        "program."
    )


def _file_kind(path: Path) -> str:
    name = path.name.lower()
    kinds = {".csv": "csv", ".csv.gz": "csv", ".parquet": "parquet"}
    kind = next((kind for suffix, kind in kinds.items() if name.endswith(suffix)), None)
    if path.is_dir():
        raise ValueError(f"{path} is a folder: one file is read here. Give one of its files.")
    if kind is None:
        raise ValueError(
            f"{path} has an unknown type: expected a name that ends in {', '.join(kinds)}."
        )
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path} (looked in {Path.cwd()}).")
    return kind


def _unreadable(path: Path, kind: str, error: OSError) -> Exception:
    """Return an error that names the file: what pyarrow raises of a damaged one does not."""
    if error.errno is not None:  # the system's
        return error
    return ValueError(f"{path} cannot be read as {kind}: {error}. It seems to be damaged")


def as_arrow(names: Sequence[str], columns: Sequence[pyarrow.ChunkedArray]) -> pyarrow.Table:
    """Return columns of a file as a table."""
    return import_pyarrow().table(list(columns), names=list(names))


def import_pyarrow() -> Any:
    """Import pyarrow; without it, say how to get it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(not_installed("reading files needs", "pyarrow", extra="cli")) from error
    return pyarrow


def open_parquet(path: Path, **options: Any) -> pyarrow.parquet.ParquetFile:
    """Open a Parquet file, whose pages are compared with their checksums, where they have some.

    Parameters
    ----------
    path : Path
    **options
        Of pyarrow.

    Returns
    -------
    pyarrow.parquet.ParquetFile
    """
    import pyarrow.parquet as parquet

    return parquet.ParquetFile(path, page_checksum_verification=True, **options)


@contextmanager
def open_file(
    path: str | os.PathLike[str],
    csv_format: CsvFormat | None = None,
) -> Iterator[tuple[list[str], Callable[[int], Any]]]:
    """Open a file as column names and a function that reads the column at a position.

    A Parquet file is read one column at a time; a CSV file has to be parsed as a whole.
    """
    path = Path(path)
    if _file_kind(path) == "csv":
        table = read_table(path, csv_format)
        yield list(table.column_names), table.column
        return
    pyarrow = import_pyarrow()
    try:
        file = open_parquet(path)
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path} cannot be read as parquet: {error}") from error
    except OSError as error:
        raise _unreadable(path, "parquet", error) from error
    with file:
        names = list(file.schema_arrow.names)

        def column(i: int) -> Any:
            try:
                return file.read(columns=[names[i]]).column(names[i])
            except pyarrow.ArrowInvalid as error:
                raise ValueError(f"{path} cannot be read as parquet: {error}") from error
            except OSError as error:
                raise _unreadable(path, "parquet", error) from error

        yield names, column
