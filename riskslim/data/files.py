"""Reading CSV and Parquet files."""

from __future__ import annotations

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
    "import_pyarrow",
    "not_utf8",
    "open_file",
    "read_table",
    "read_verbatim",
]


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
        import pyarrow.parquet as parquet

        return parquet.ParquetFile(path).read()
    except pyarrow.ArrowInvalid as error:
        hint = ""
        if kind == "csv" and "columns, got" in str(error):
            form = csv_format or CsvFormat()
            hint = (
                f". Is there another separator than {form.separator!r}? CsvFormat(separator=...) "
                "in Python, --separator on the command line"
            )
        raise ValueError(f"{path} cannot be read as {kind}: {error}{hint}") from error
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


def check_one_column(path: str | os.PathLike[str], names: Sequence[str], name: str) -> None:
    """Refuse a name that is not that of exactly one column of a file.

    Parameters
    ----------
    path : str or path-like
    names : sequence of str
        Of all columns.
    name : str

    Raises
    ------
    ValueError
    """
    if names.count(name) != 1:
        count = names.count(name)
        found = f"{count} columns" if count else "no column"
        raise ValueError(
            f"{path} has {found} {name!r}{near(name, names)}. "
            f"Its {len(names)} columns are {listing(map(repr, names))}."
        )


def _read_csv(path: Path, csv_format: CsvFormat | None, **options: Any) -> pyarrow.Table:
    import pyarrow.csv as csv

    form = csv_format or CsvFormat()
    if form.is_utf8:
        with path.open("rb") as file:
            if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
                raise not_utf8(path, "its byte order mark", "utf-16")
    try:
        table = csv.read_csv(
            path,
            csv.ReadOptions(encoding="utf8" if form.is_utf8 else form.encoding),
            csv.ParseOptions(delimiter=form.separator),
            csv.ConvertOptions(decimal_point=form.decimal, **options),
        )
    except UnicodeError as error:
        raise ValueError(f"{path} is not encoded in {form.encoding}: {error}") from None
    try:
        names = table.column_names
    except UnicodeDecodeError:
        raise not_utf8(path, "its header", "cp1252") from None
    for name, kind in zip(names, table.schema.types, strict=True):
        if str(kind) == "binary":  # instead of text
            raise not_utf8(path, f"column {name!r}", "cp1252")
    return table


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
    import pyarrow.parquet as parquet

    try:
        file = parquet.ParquetFile(path)
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
