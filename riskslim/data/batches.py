"""Files of rows read batch by batch: Parquet or CSV, one, several, or folders of them.

All files have the same columns. What differs is said before anything is read, as far as the files
tell it themselves. Numbers of different types become the type that holds both, as in one file.
"""

from __future__ import annotations

import abc
import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing, near
from riskslim.data.csv_format import CsvFormat
from riskslim.data.files import (
    csv_fault,
    format_of_file,
    import_pyarrow,
    longer_block,
    not_utf8,
    open_parquet,
)

if TYPE_CHECKING:
    import pyarrow

__all__ = [
    "BATCH_ROWS",
    "DATA_SUFFIXES",
    "BatchFiles",
    "CsvFiles",
    "FileBatch",
    "ParquetFiles",
    "Paths",
    "RetypedError",
    "check_names",
    "common_schema",
    "find_files",
    "in_schema",
]

# Files and folders to read.
Paths: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"

# Names of files of rows end in one of these.
DATA_SUFFIXES = (".csv", ".csv.gz", ".parquet")

# Rows of a batch at most: a few megabytes of a few dozen columns.
BATCH_ROWS = 2**17
# Bytes of a CSV file that are parsed together.
_CSV_BLOCK = 2**22  # more where a header or a row has more
# Bytes of a Parquet file that are read ahead of what is decoded, for each column.
_PARQUET_BUFFER = 2**18

# In the order in which types are tried where a CSV file does not say what a column is.
_CSV_TYPES = (
    "null", "int64", "bool", "date32", "time32[s]", "timestamp[s]", "timestamp[ns]", "double",
    "string",
)  # fmt: skip
_CSV_FAULT = re.compile(r"In CSV column #(\d+): .*conversion error", re.DOTALL)


@dataclass(frozen=True)
class FileBatch:
    """Rows of a file that follow each other.

    Attributes
    ----------
    path : Path
    first_row : int
        Number of the first row in the file, from 0.
    rows : pyarrow.RecordBatch
    n_bytes : int
        Bytes of the file that are read up to here, about.
    chosen : ndarray of intp or None
        Positions of the rows among those of the whole batch, where it is some of them.
    """

    path: Path
    first_row: int
    rows: pyarrow.RecordBatch
    n_bytes: int
    chosen: NDArray[np.intp] | None = None

    def only(self, chosen: NDArray[np.intp]) -> FileBatch:
        """Some of the rows.

        Parameters
        ----------
        chosen : ndarray of intp
            Positions in increasing order.

        Returns
        -------
        FileBatch
        """
        rows = self.rows.take(import_pyarrow().array(chosen))
        return replace(self, rows=rows, chosen=chosen)

    def number(self, row: int) -> int:
        """Number of a row in the file.

        Parameters
        ----------
        row : int
            Its position in the batch.

        Returns
        -------
        int
        """
        return self.first_row + (row if self.chosen is None else int(self.chosen[row]))


class RetypedError(Exception):
    """A column is of another type than in the rows so far, or rows are long: read all anew."""


def find_files(paths: Paths, suffixes: Sequence[str]) -> list[Path]:
    """Find the files that are meant.

    Parameters
    ----------
    paths : path, or iterable of paths
        Files, and folders, whose files are taken, those of their folders included. Names that
        begin with "_" or "." are none of rows.
    suffixes : sequence of str
        One of which the name of a file has to end in.

    Returns
    -------
    list of Path
        Those of a folder in the order of their names.

    Raises
    ------
    FileNotFoundError
        There is no such file or folder; a link in a folder leads nowhere.
    ValueError
        No path; a folder without files; a file of another type; a file that is given twice;
        folders that name values, as in ``year=2024``; links to folders inside of a folder.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from riskslim.data.batches import find_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("part-1.parquet", "part-0.parquet", "_SUCCESS"):
    ...         pathlib.Path(folder, name).touch()
    ...     found = [path.name for path in find_files(folder, [".parquet"])]
    >>> found
    ['part-0.parquet', 'part-1.parquet']
    """
    given = [Path(paths)] if isinstance(paths, (str, os.PathLike)) else [Path(one) for one in paths]
    if not given:
        raise ValueError("no file is given to read")
    found: list[Path] = []
    wanted = ", ".join(suffixes)
    for path in given:
        if path.is_dir():
            inside = _files_in(path, suffixes)
            if not inside:
                raise ValueError(f"The folder {path} has no file whose name ends in {wanted}.")
            found += inside
        elif not path.is_file():
            raise FileNotFoundError(f"There is no file or folder {path} (looked in {Path.cwd()}).")
        elif not path.name.lower().endswith(tuple(suffixes)):
            raise ValueError(f"{path} has an unknown type: expected a name that ends in {wanted}.")
        else:
            found.append(path)
    seen: set[Path] = set()
    for path in found:
        if path.resolve() in seen:
            raise ValueError(f"{path} is given twice: its rows would count twice.")
        seen.add(path.resolve())
    return found


def _files_in(folder: Path, suffixes: Sequence[str]) -> list[Path]:
    found = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if any(part.startswith(("_", ".")) for part in parts):
            continue
        if path.is_symlink():
            _check_link(folder, path, suffixes)
        if not path.is_file():
            continue
        if not path.name.lower().endswith(tuple(suffixes)):
            continue
        named = [part for part in parts[:-1] if "=" in part]
        if named:
            raise ValueError(
                f"The folders of {folder} name values of a column, such as {named[0]}, which the "
                "files do not have: such columns are not read. Give the folders below it one by "
                "one, which leaves them out, or write the column into the files."
            )
        found.append(path)
    return found


def _check_link(folder: Path, path: Path, suffixes: Sequence[str]) -> None:
    """Refuse links whose rows would be missing without a word."""
    if path.is_dir():
        raise ValueError(
            f"{path} is a link to a folder, which is not followed: give {path.resolve()} beside "
            f"{folder}, or leave the link out"
        )
    if not path.exists() and path.name.lower().endswith(tuple(suffixes)):
        raise FileNotFoundError(f"{path} is a link to {path.readlink()}, which does not exist.")


class BatchFiles(abc.ABC):
    """Files with the same columns.

    Parameters
    ----------
    paths : sequence of Path

    Attributes
    ----------
    paths : tuple of Path
    sizes : tuple of int
        Bytes of each file.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(paths)
        self.sizes = tuple(path.stat().st_size for path in paths)

    @property
    @abc.abstractmethod
    def names(self) -> list[str]:
        """Names of the columns, in the order of the first file."""

    @property
    @abc.abstractmethod
    def n_rows(self) -> int | None:
        """Number of rows of all files, None where they do not say it."""

    @abc.abstractmethod
    def kinds(self, columns: Sequence[str]) -> list[pyarrow.DataType]:
        """Types of columns.

        Parameters
        ----------
        columns : sequence of str

        Returns
        -------
        list of pyarrow.DataType

        Raises
        ------
        ValueError
            A file has other columns, or columns of another kind; it names both.
        """

    @abc.abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[FileBatch]:
        """Read columns, in the given order.

        Parameters
        ----------
        columns : sequence of str

        Yields
        ------
        FileBatch

        Raises
        ------
        ValueError
            A file cannot be read: which, and after how many rows.
        RetypedError
            A column is of another type than :meth:`kinds` said; from now on it says the new one.
        """


def common_schema(
    files: Sequence[tuple[Path, pyarrow.Schema]], columns: Sequence[str]
) -> pyarrow.Schema:
    """Types of some columns in all files; refuse files that have others.

    Parameters
    ----------
    files : sequence of (Path, pyarrow.Schema)
    columns : sequence of str

    Returns
    -------
    pyarrow.Schema

    Raises
    ------
    ValueError
        A file has other columns, or columns of another kind; it names both.
    """
    pyarrow = import_pyarrow()
    first_path, first = files[0]
    fields = {name: first.field(name).type for name in columns}
    for path, schema in files[1:]:
        check_names(first_path, first.names, path, schema.names)
        for name in columns:
            kind = schema.field(name).type
            sorts = {_sort_of(kind), _sort_of(fields[name])} - {"null"}
            if len(sorts) > 1:
                raise ValueError(
                    f"Column {name!r} has the type {kind} in {path}, but {fields[name]} in "
                    f"{first_path}."
                )
            pair = [pyarrow.schema([(name, one)]) for one in _alike(fields[name], kind)]
            if pair[0] != pair[1]:
                fields[name] = (
                    pyarrow.unify_schemas(pair, promote_options="permissive").field(name).type
                )
    # A column without any value can be a number as well as anything else; numbers of 16 bits are
    # little known to Arrow's functions.
    others = {pyarrow.null(): pyarrow.float64(), pyarrow.float16(): pyarrow.float32()}
    return pyarrow.schema([(name, others.get(fields[name], fields[name])) for name in columns])


def _alike(*kinds: pyarrow.DataType) -> list[pyarrow.DataType]:
    """Two types, that of the values where only one of them is a dictionary of these."""
    is_dictionary = import_pyarrow().types.is_dictionary
    if all(map(is_dictionary, kinds)):
        return list(kinds)
    return [kind.value_type if is_dictionary(kind) else kind for kind in kinds]


def check_names(first_path: Path, first: Sequence[str], path: Path, names: Sequence[str]) -> None:
    """Refuse a file that has not the columns of the first one.

    Parameters
    ----------
    first_path : Path
    first : sequence of str
        Names of its columns.
    path : Path
    names : sequence of str

    Raises
    ------
    ValueError
    """
    missing = [name for name in first if name not in names]
    added = [name for name in names if name not in first]
    if missing:
        named = listing(f"{name!r}{near(name, names)}" for name in missing)
        raise ValueError(f"{path} has no column {named}, which {first_path} has.")
    if added:
        raise ValueError(f"{path} has columns that {first_path} lacks: {listing(map(repr, added))}")


def _sort_of(kind: pyarrow.DataType) -> str:
    """Say what values of a type are, where types of the same values are alike."""
    types = import_pyarrow().types
    if types.is_dictionary(kind):
        return _sort_of(kind.value_type)
    if types.is_boolean(kind):
        return "boolean"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind):
        return "text"
    return str(kind)


def in_schema(batch: Any, schema: pyarrow.Schema, path: Path) -> pyarrow.RecordBatch:
    """Columns in an order and with types.

    Parameters
    ----------
    batch : pyarrow.RecordBatch
    schema : pyarrow.Schema
    path : Path
        For errors.

    Returns
    -------
    pyarrow.RecordBatch

    Raises
    ------
    ValueError
        A column cannot be of its type.
    """
    pyarrow = import_pyarrow()
    columns = []
    for field in schema:
        column = batch.column(batch.schema.get_field_index(field.name))
        if column.type != field.type:
            try:
                column = column.cast(field.type)
            except pyarrow.ArrowInvalid as error:
                raise ValueError(
                    f"Column {field.name!r} of {path} cannot be read as {field.type}, as other "
                    f"files have it: {error}"
                ) from error
        columns.append(column)
    return pyarrow.RecordBatch.from_arrays(columns, schema=schema)


class ParquetFiles(BatchFiles):
    """Parquet files.

    Parameters
    ----------
    paths : sequence of Path

    Raises
    ------
    ValueError
        A file is no Parquet file.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        super().__init__(paths)
        self._schemas: list[tuple[Path, pyarrow.Schema]] = []
        self._n_rows: list[int] = []
        for path in self.paths:
            with self._open(path) as file:
                self._schemas.append((path, file.schema_arrow))
                self._n_rows.append(file.metadata.num_rows)

    @property
    def names(self) -> list[str]:
        """Names of the columns, in the order of the first file."""
        return list(self._schemas[0][1].names)

    @property
    def n_rows(self) -> int:
        """Number of rows of all files."""
        return sum(self._n_rows)

    def kinds(self, columns: Sequence[str]) -> list[pyarrow.DataType]:
        """Types of columns; see :meth:`BatchFiles.kinds`."""
        return list(common_schema(self._schemas, columns).types)

    def batches(self, columns: Sequence[str]) -> Iterator[FileBatch]:
        """Read columns; see :meth:`BatchFiles.batches`."""
        pyarrow = import_pyarrow()
        schema = common_schema(self._schemas, columns)
        before = 0
        for path, size, expected in zip(self.paths, self.sizes, self._n_rows, strict=True):
            row = 0
            with self._open(path) as file:
                read = file.iter_batches(BATCH_ROWS, columns=list(columns))
                while True:
                    try:
                        batch = next(read, None)
                    except (pyarrow.ArrowInvalid, OSError) as error:
                        raise ValueError(
                            f"{path} cannot be read as parquet after row {row} of {expected}: "
                            f"{error}"
                        ) from error
                    if batch is None:
                        break
                    done = before + size * (row + batch.num_rows) // max(expected, 1)
                    yield FileBatch(path, row, in_schema(batch, schema, path), done)
                    row += batch.num_rows
            if row != expected:
                raise ValueError(f"{path} says that it has {expected} rows, but it has {row}.")
            before += size

    @staticmethod
    def _open(path: Path) -> Any:
        pyarrow = import_pyarrow()
        try:
            return open_parquet(path, buffer_size=_PARQUET_BUFFER, pre_buffer=False)
        except FileNotFoundError:
            raise FileNotFoundError(f"There is no file {path} any more.") from None
        except (pyarrow.ArrowInvalid, OSError) as error:
            raise ValueError(f"{path} cannot be read as parquet: {error}") from error


class CsvFiles(BatchFiles):
    """CSV files.

    Parameters
    ----------
    paths : sequence of Path
        Names end in .csv or .csv.gz.
    csv_format : CsvFormat, optional

    Raises
    ------
    ValueError
        A file cannot be read as CSV.
    """

    def __init__(self, paths: Sequence[Path], csv_format: CsvFormat | None = None) -> None:
        super().__init__(paths)
        given = csv_format or CsvFormat()
        self._formats = {path: format_of_file(path, given) for path in self.paths}
        self._block = _CSV_BLOCK
        said = {form for form, n_skipped in self._formats.values() if n_skipped}
        # As far as all files are written in one way.
        self.csv_format = said.pop() if len({*self._formats.values()}) == 1 and said else csv_format
        # What the first block of each file looks like; later ones can show that it is otherwise.
        schemas = []
        for path in self.paths:
            with self._opened(path, None, {}) as (_, reader):
                schemas.append((path, reader.schema))
        first_path, first = schemas[0]
        for path, schema in schemas[1:]:
            check_names(first_path, first.names, path, schema.names)
        self._names = list(first.names)
        self._names_in = {path: list(schema.names) for path, schema in schemas}
        self._rank = {
            name: max(_CSV_TYPES.index(self._known(schema.field(name).type))
                      for _, schema in schemas)
            for name in self._names
        } if len(set(self._names)) == len(self._names) else {}  # fmt: skip

    @property
    def names(self) -> list[str]:
        """Names of the columns, in the order of the first file."""
        return list(self._names)

    @property
    def n_rows(self) -> None:
        """CSV files do not say how many rows they have."""
        return

    def kinds(self, columns: Sequence[str]) -> list[pyarrow.DataType]:
        """Types of columns, as far as they are known; see :meth:`BatchFiles.kinds`."""
        pyarrow = import_pyarrow()
        types = [_CSV_TYPES[self._rank[name]] for name in columns]
        return [
            pyarrow.float64() if kind == "null" else pyarrow.type_for_alias(kind) for kind in types
        ]

    def batches(self, columns: Sequence[str]) -> Iterator[FileBatch]:
        """Read columns; see :meth:`BatchFiles.batches`."""
        pyarrow = import_pyarrow()
        types = {name: pyarrow.type_for_alias(_CSV_TYPES[self._rank[name]]) for name in columns}
        kinds = self.kinds(columns)
        schema = pyarrow.schema(list(zip(columns, kinds, strict=True)))
        before = 0
        for path, size in zip(self.paths, self.sizes, strict=True):
            row = 0
            with self._opened(path, columns, types) as (file, reader):
                while True:
                    try:
                        batch = reader.read_next_batch()
                    except StopIteration:
                        break
                    except (pyarrow.ArrowInvalid, OSError, UnicodeError) as error:
                        self._retype(path, error)
                        if longer := longer_block(error, path, self._block):
                            self._block = longer
                            raise RetypedError(f"a row of {path} is long") from None
                        raise self._fault(path, error, row) from error
                    done = before + min(file.tell(), size)
                    yield FileBatch(path, row, in_schema(batch, schema, path), done)
                    row += batch.num_rows
            before += size

    def _retype(self, path: Path, error: Exception) -> None:
        """Try the next type of a column that has values of another one."""
        found = _CSV_FAULT.search(str(error))
        names = self._names_in[path]
        if found is None or int(found[1]) >= len(names):
            return
        name = names[int(found[1])]
        if self._rank[name] + 1 < len(_CSV_TYPES):
            self._rank[name] += 1
            raise RetypedError(f"column {name!r} has values of another type") from None

    @contextlib.contextmanager
    def _opened(
        self, path: Path, columns: Sequence[str] | None, types: dict[str, Any]
    ) -> Iterator[tuple[IO[bytes], Any]]:
        """Open a file and a reader of its batches, of longer blocks where the header needs it."""
        pyarrow = import_pyarrow()
        with contextlib.ExitStack() as stack:
            while True:
                file = stack.enter_context(path.open("rb"))
                try:
                    reader = self._reader(path, file, columns, types)
                    break
                except (pyarrow.ArrowInvalid, OSError, UnicodeError) as error:
                    if columns is not None:
                        self._retype(path, error)
                    longer = longer_block(error, path, self._block)
                    if longer is None:
                        raise self._fault(path, error, 0) from error
                    self._block = longer
            yield file, stack.enter_context(reader)

    def _reader(
        self, path: Path, file: IO[bytes], columns: Sequence[str] | None, types: dict[str, Any]
    ) -> Any:
        pyarrow = import_pyarrow()
        import pyarrow.csv as csv

        form, n_skipped = self._formats[path]
        source: Any = file
        if path.name.lower().endswith(".gz"):
            source = pyarrow.CompressedInputStream(file, "gzip")
        elif form.is_utf8:
            if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
                raise not_utf8(path, "its byte order mark", "utf-16")
            file.seek(0)
        return csv.open_csv(
            source,
            csv.ReadOptions(
                encoding="utf8" if form.is_utf8 else form.encoding,
                block_size=self._block,
                skip_rows=n_skipped,
            ),
            csv.ParseOptions(delimiter=form.separator),
            csv.ConvertOptions(
                decimal_point=form.decimal,
                strings_can_be_null=True,
                null_values=["", *form.missing],
                include_columns=None if columns is None else list(columns),
                column_types=types,
            ),
        )

    def _fault(self, path: Path, error: Exception, row: int) -> ValueError:
        form, _ = self._formats[path]
        if isinstance(error, UnicodeError) and not form.is_utf8:
            return ValueError(f"{path} is not encoded in {form.encoding}: {error}")
        if "UTF8" in str(error) or isinstance(error, UnicodeError):
            return not_utf8(path, f"what follows row {row}", "cp1252")
        return csv_fault(path, form, error, row)

    @staticmethod
    def _known(kind: pyarrow.DataType) -> str:
        """The name of a type that was found in a file; what is no text in UTF-8 is text, too."""
        names = {str(import_pyarrow().type_for_alias(name)): name for name in _CSV_TYPES}
        return names.get(str(kind), "string")
