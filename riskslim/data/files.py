"""Reading CSV and Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riskslim._wording import listing, near

if TYPE_CHECKING:
    import os

    import pyarrow

__all__ = ["as_arrow", "check_one_column", "open_file", "read_table", "read_verbatim"]


# ---------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------


def read_table(path: str | os.PathLike[str]) -> pyarrow.Table:
    r"""Read a CSV or Parquet file.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends in .csv (comma-separated, with a header row), .csv.gz or .parquet.

    Returns
    -------
    pyarrow.Table
        In CSV files empty cells and "NA", "NaN", "null" and the like are missing values.

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
    pyarrow = _import_pyarrow()
    try:
        if kind == "csv":
            return _read_csv(path, strings_can_be_null=True)
        import pyarrow.parquet as parquet

        return parquet.ParquetFile(path).read()
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path} cannot be read as {kind}: {error}") from error


def read_verbatim(
    path: str | os.PathLike[str], table: pyarrow.Table, name: str
) -> pyarrow.ChunkedArray:
    """Return one column of a file as it stands there: "007" and "NA" in a CSV file stay so.

    Parameters
    ----------
    path : str or path-like
    table : pyarrow.Table
        What :func:`read_table` made of the file.
    name : str

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
    text = {name: _import_pyarrow().string()}
    return _read_csv(path, include_columns=[name], column_types=text).column(0)


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


def _read_csv(path: Path, **options: Any) -> pyarrow.Table:
    import pyarrow.csv as csv

    with path.open("rb") as file:
        if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            raise _not_utf8(path, "its byte order mark", "utf-16")
    table = csv.read_csv(path, convert_options=csv.ConvertOptions(**options))
    try:
        names = table.column_names
    except UnicodeDecodeError:
        raise _not_utf8(path, "its header", "cp1252") from None
    for name, kind in zip(names, table.schema.types, strict=True):
        if str(kind) == "binary":  # instead of text
            raise _not_utf8(path, f"column {name!r}", "cp1252")
    return table


def _not_utf8(path: Path, where: str, encoding: str) -> ValueError:
    return ValueError(
        f"{path} is not encoded in UTF-8, as {where} shows. Save it as UTF-8: choose the file type "
        f"'CSV UTF-8' in a spreadsheet program, or use pandas.read_csv(path, encoding="
        f"{encoding!r}).to_csv(new_path, index=False), if that is the encoding it has."
    )


def _file_kind(path: Path) -> str:
    name = path.name.lower()
    kinds = {".csv": "csv", ".csv.gz": "csv", ".parquet": "parquet"}
    kind = next((kind for suffix, kind in kinds.items() if name.endswith(suffix)), None)
    if kind is None:
        raise ValueError(
            f"{path} has an unknown type: expected a name that ends in {', '.join(kinds)}."
        )
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path} (looked in {Path.cwd()}).")
    return kind


def as_arrow(names: Sequence[str], columns: Sequence[pyarrow.ChunkedArray]) -> pyarrow.Table:
    """Return columns of a file as a table."""
    return _import_pyarrow().table(list(columns), names=list(names))


def _import_pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            "Reading files needs pyarrow, which is not installed: pip install 'riskslim[cli]'."
        ) from error
    return pyarrow


@contextmanager
def open_file(
    path: str | os.PathLike[str],
) -> Iterator[tuple[list[str], Callable[[int], Any]]]:
    """Open a file as column names and a function that reads the column at a position.

    A Parquet file is read one column at a time; a CSV file has to be parsed as a whole.
    """
    path = Path(path)
    if _file_kind(path) == "csv":
        table = read_table(path)
        yield list(table.column_names), table.column
        return
    pyarrow = _import_pyarrow()
    import pyarrow.parquet as parquet

    try:
        file = parquet.ParquetFile(path)
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path} cannot be read as parquet: {error}") from error
    with file:
        names = list(file.schema_arrow.names)
        yield names, lambda i: file.read(columns=[names[i]]).column(names[i])
