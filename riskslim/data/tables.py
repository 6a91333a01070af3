"""Tables of any kind as columns of numbers, and the faults that columns can have.

The rows of a training set or of records to be scored come as arrays, lists, mappings, data frames
of any library (through narwhals), or files (through pyarrow). Here they become one thing: a
:class:`Table`, whose columns are read one at a time. What is wrong with columns is collected, so
that one error can name them all.
"""

from __future__ import annotations

import difflib
import numbers
import re
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import os

    import pyarrow


__all__ = [
    "ColumnError",
    "Table",
    "UnusableColumnsError",
    "as_arrow",
    "check_columns",
    "check_numeric",
    "check_one_column",
    "check_present",
    "is_row",
    "is_sparse",
    "listing",
    "missing_among",
    "near",
    "open_file",
    "open_records",
    "open_table",
    "raise_faults",
    "read_table",
    "read_verbatim",
    "real_faults",
    "the_only_column",
]

# A column of numbers, truth values or text, shape (n,).
Column: TypeAlias = NDArray[Any]

# Integers from here on are no longer all exact in float64.
EXACT_INTEGER_LIMIT = 2.0**53

# Names listed in one message before "... and k more".
MAX_LISTED = 10


# ---------------------------------------------------------------------------------------------
# Where columns come from
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """A source of columns: `values(j)` returns one as a 1-d array of any dtype."""

    n_samples: int
    n_features: int
    names: Sequence[Hashable] | None
    values: Callable[[int], Column]

    def column(self, j: int) -> Column:
        """Return a column of numbers, or raise ColumnError."""
        return check_numeric(self.values(j))


def open_table(X: Any) -> Table:
    """Find out what X is, and check its shape."""
    table = X if isinstance(X, Table) else _dispatch_table(X)
    shape = (table.n_samples, table.n_features)
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
            )
    return table


def _dispatch_table(X: Any) -> Table:
    if isinstance(X, np.ndarray):
        return _table_from_array(X)
    if isinstance(X, (list, tuple)):
        return _table_from_array(_array_from_lists(X))
    if is_sparse(X):
        raise TypeError(
            "Sparse data was passed for X, but dense data is required. Use '.toarray()' to "
            "convert to a dense numpy array."
        )
    if isinstance(X, Mapping):  # as sparse matrices of one format are
        return _table_from_mapping(X)
    frame = _open_frame(X)
    if frame is not None:
        return frame
    return _table_from_array(np.asarray(X))


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of SciPy."""
    # Whoever holds a sparse matrix has imported scipy.sparse; nobody else has to.
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def _open_frame(X: Any) -> Table | None:
    """Return a table over the columns of a data frame; None if X is none."""
    import narwhals as nw

    try:
        frame = nw.from_native(X, pass_through=True, allow_series=True)
        if frame is X and hasattr(X, "__arrow_c_stream__"):  # a record batch, for example
            frame = nw.from_arrow(X, backend="pyarrow")
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"Feature names must be unique. {error}") from None
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(
            f"X is a lazy frame ({type(X).__module__}.{type(X).__qualname__}), but its values "
            "are needed: materialise it first, for example with its collect() method."
        )
    if isinstance(frame, nw.Series):
        raise ValueError(_expected_2d(1, "a series"))
    if not isinstance(frame, nw.DataFrame):
        return None
    n_samples, n_features = frame.shape
    return Table(n_samples, n_features, list(frame.columns), lambda j: series_values(frame[:, j]))


def _table_from_mapping(X: Mapping[Any, Any]) -> Table:
    columns = [values_of(values, f"column {name!r}") for name, values in X.items()]
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        k = next(k for k in range(len(lengths)) if lengths[k] != lengths[0])
        names = list(X)
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: column {names[0]!r} "
            f"has {lengths[0]}, column {names[k]!r} has {lengths[k]}."
        )
    return Table(lengths[0] if lengths else 0, len(columns), list(X), columns.__getitem__)


def _table_from_array(X: Column) -> Table:
    if X.ndim != 2:
        raise ValueError(_expected_2d(X.ndim, "an array"))
    if X.dtype.names is not None:
        raise ValueError("X is a structured array: pass a mapping from names to columns instead.")
    if isinstance(X, np.ma.MaskedArray):
        masked = X
        return Table(masked.shape[0], masked.shape[1], None, lambda j: _masked_values(masked[:, j]))
    X = np.asarray(X)  # np.matrix would slice to two dimensions
    return Table(X.shape[0], X.shape[1], None, lambda j: X[:, j])


def _masked_values(values: np.ma.MaskedArray[Any, Any]) -> Column:
    """Values of a masked array, None where they are masked."""
    mask = np.ma.getmaskarray(values)
    if not mask.any():
        return np.ma.getdata(values)
    array = np.ma.getdata(values).astype(object)
    array[mask] = None
    return array


def _array_from_lists(X: Any) -> Column:
    """Convert nested sequences without turning numbers into text beside a text column."""
    try:
        array = np.asarray(X)
    except ValueError as error:
        lengths = [len(row) if hasattr(row, "__len__") else 0 for row in X]
        odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is None:
            raise
        raise ValueError(
            f"All rows of X must have the same length: row 0 has {lengths[0]} values, "
            f"row {odd} has {lengths[odd]} (rows counted from 0)."
        ) from error
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array


def _expected_2d(ndim: int, what: str) -> str:
    if ndim > 2:
        return f"Found array with dim {ndim}, while dim <= 2 is required for X."
    got = "scalar array" if ndim == 0 else "1D array"
    return (
        f"Expected 2D array, got {got} instead (X is {what}). Reshape your data either using "
        "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it "
        "contains a single sample."
    )


def series_name(values: Any) -> str | None:
    name = getattr(values, "name", None)
    if name is None or isinstance(values, (np.ndarray, list, tuple)):
        return None
    return str(name) or None


def the_only_column(values: Any) -> Any:
    """Return the column of an array or frame that has just one, anything else as it is."""
    if isinstance(values, np.ndarray):
        return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values is None or isinstance(values, (list, tuple)):
        return values
    import narwhals as nw

    frame = nw.from_native(values, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame) and frame.shape[1] == 1:
        return frame[:, 0].to_native()
    return values


def as_series(values: Any) -> Any:
    """Return a narwhals series, or None if `values` is no series of any library."""
    if isinstance(values, (np.ndarray, list, tuple)):
        return None
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    return series if isinstance(series, nw.Series) else None


def values_of(values: Any, what: str) -> Column:
    """Return a series, array or list as a 1-d array, of any dtype."""
    if is_sparse(values):
        raise TypeError(f"Sparse data was passed for {what}, but dense data is required.")
    series = as_series(values)
    if series is not None:
        array = series_values(series)
    elif isinstance(values, np.ma.MaskedArray):
        array = _masked_values(values)
    else:
        array = np.asarray(values)
        if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
            array = np.asarray(values, dtype=object)  # ["a", None, 1] keeps its None and its 1
    if array.ndim != 1:
        raise ValueError(
            f"{what} should be a 1d array, got an array of shape {array.shape} instead."
        )
    return array


def series_values(native_or_series: Any) -> Column:
    """Return the values of a series as an array, without a copy where possible."""
    import narwhals as nw

    series = nw.from_native(native_or_series, series_only=True)
    if series.dtype in (nw.Int128, nw.UInt128):  # NumPy has no such type
        return np.array(series.to_list(), dtype=object)
    if series.dtype == nw.Decimal:
        series = series.cast(nw.Float64)
    return np.asarray(series.to_numpy())


# ---------------------------------------------------------------------------------------------
# Records: single rows that name their values
# ---------------------------------------------------------------------------------------------


def open_records(X: Any, wanted: Sequence[str], what: str) -> Table | None:
    """Return a table of the wanted columns if X is a record, or a list of mappings; else None.

    A record is a mapping from names to single values, or one row of a pandas data frame.
    """
    if is_sparse(X):
        return None
    if is_row(X):
        X = X.to_dict()
    if isinstance(X, Mapping) and all(_is_scalar(value) for value in X.values()):
        return _table_from_rows([X], wanted, what)
    if isinstance(X, (list, tuple)) and any(isinstance(row, Mapping) for row in X):
        return _table_from_rows(X, wanted, what)
    return None


class MissingColumnsError(ValueError):
    """A table lacks columns that are needed.

    Parameters
    ----------
    message : str
    missing, names : sequence of str
        The columns that are needed and not there, and those that are.
    """

    def __init__(self, message: str, missing: Sequence[str], names: Sequence[str]) -> None:
        super().__init__(message)
        self.missing = tuple(missing)
        self.names = tuple(names)


def check_present(wanted: Sequence[str], names: Sequence[str], what: str) -> None:
    """Check that a table with columns of these names has all that are wanted."""
    present = set(names)
    missing = [name for name in wanted if name not in present]
    if missing:
        raise MissingColumnsError(
            f"X lacks {len(missing)} of the {len(wanted)} {what}: "
            f"{listing(repr(name) + near(name, names) for name in missing)}.",
            missing,
            names,
        )


def is_row(X: Any) -> bool:
    """Whether X is one row as a pandas series, as ``frame.iloc[0]`` is: its index has the names."""
    index: Any = getattr(X, "index", None)
    return (
        hasattr(X, "to_dict")
        and getattr(X, "ndim", None) == 1
        and getattr(index, "is_unique", False) is True
        and all(isinstance(name, str) for name in index)
    )


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, bytes)) or not hasattr(value, "__len__")


def _table_from_rows(rows: Sequence[Any], wanted: Sequence[str], what: str) -> Table:
    named: list[dict[str, Any]] = []
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise TypeError(
                f"X is a list of mappings, but row {i} (rows counted from 0) is of type "
                f"{type(row).__name__!r}."
            )
        named.append({str(name): value for name, value in row.items()})
        try:
            check_present(wanted, list(named[-1]), what)
        except MissingColumnsError as error:
            if len(rows) == 1:
                raise
            raise MissingColumnsError(
                f"Row {i} (rows counted from 0): {error}", error.missing, error.names
            ) from None

    def values(j: int) -> Column:
        column = np.empty(len(named), dtype=object)
        for i, row in enumerate(named):
            column[i] = row[wanted[j]]
        return column

    return Table(len(named), len(wanted), wanted, values)


# ---------------------------------------------------------------------------------------------
# Faults of columns, collected so that one error names them all
# ---------------------------------------------------------------------------------------------

# Kind of fault -> (exception, first sentence in scikit-learn's words if it has some that help, what
# is counted, advice).
FAULTS: dict[str, tuple[type[Exception], str, str, str]] = {
    "text": (
        ValueError,
        "could not convert string to float: {example}.",
        "text",
        "Encode text as numbers (for example one 0/1 column per category) or leave it out.",
    ),
    "complex": (ValueError, "Complex data not supported.", "complex numbers", "Use real numbers."),
    "date": (
        TypeError,
        "",
        "dates or times",
        "Convert them to numbers (for example days since a reference date) or leave them out.",
    ),
    "object": (
        TypeError,
        "float() argument must be a string or a real number, not {example}.",
        "objects that are no numbers",
        "Convert them to numbers or leave them out.",
    ),
    "missing": (
        ValueError,
        "Input X contains NaN.",
        "missing values",
        "Remove these rows, or impute the values and add a 0/1 column that says where.",
    ),
    "infinite": (
        ValueError,
        "Input X contains infinity or a value too large for dtype('float64').",
        "infinite values",
        "Remove these rows or replace the values.",
    ),
    "inexact": (
        ValueError,
        "Input X contains integers too large to be exact in dtype('float64').",
        "integers of magnitude 2**53 or more",
        "Is this an identifier? Leave it out; otherwise rescale it.",
    ),
    "not boolean": (
        ValueError,
        "Found {example} in a column that had no values but 0 and 1 in fit.",
        "values other than 0 and 1",
        "Correct them, or fit on rows that have such values.",
    ),
    "unknown": (
        ValueError,
        "Found unknown categories {example} during transform.",
        "levels that did not occur in fit",
        "handle_unknown='ignore' makes all items of theirs 0.",
    ),
}


class ColumnError(Exception):
    """One column cannot be used; caught, collected and raised again with the column's name."""

    def __init__(self, kind: str, count: int, first: int, example: str = "") -> None:
        super().__init__(kind, count, first, example)
        self.kind, self.count, self.first, self.example = kind, count, first, example

    @classmethod
    def at(cls, kind: str, where: NDArray[np.bool_], example: str = "") -> ColumnError:
        """Count the rows at fault and find the first of them."""
        return cls(kind, int(np.count_nonzero(where)), int(np.argmax(where)), example)


class UnusableColumnsError(Exception):
    """Columns cannot be used: which, and what is wrong with them, beside the message.

    Parameters
    ----------
    message : str
    """

    faults: tuple[tuple[str, ColumnError], ...] = ()
    n_samples: int = 0


class UnusableValuesError(UnusableColumnsError, ValueError):
    """Columns have values that cannot be used."""


class UnusableObjectsError(UnusableColumnsError, TypeError):
    """Columns have objects that are no numbers."""


def raise_faults(
    faults: list[tuple[int, ColumnError]],
    names: Sequence[str],
    n_samples: int,
    advice: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Raise one error for all faults, a line for each kind; its type is that of the worst one.

    `advice` replaces what FAULTS advises for some kinds.
    """
    if not faults:
        return
    faults = sorted(faults, key=lambda pair: pair[0])
    kinds = [kind for kind in FAULTS if any(fault.kind == kind for _, fault in faults)]
    lines = []
    for kind in kinds:
        _, headline, counted, usual_advice = FAULTS[kind]
        columns = [(j, fault) for j, fault in faults if fault.kind == kind]
        listed = listing(
            f"{names[j]!r} ({f.count} of {n_samples} rows, first at row {f.first})"
            for j, f in columns
        )
        found = [
            headline.format(example=columns[0][1].example),
            f"Columns with {counted} (rows counted from 0): {listed}. "
            f"{advice.get(kind, usual_advice)}",
        ]
        # What float() says of objects tells people little.
        order = found if FAULTS[kind][0] is ValueError else found[::-1]
        lines.append(" ".join(filter(None, order)))
    is_value_error = FAULTS[kinds[0]][0] is ValueError
    error = (UnusableValuesError if is_value_error else UnusableObjectsError)("\n".join(lines))
    error.faults = tuple((str(names[j]), fault) for j, fault in faults)
    error.n_samples = n_samples
    raise error


def check_columns(table: Table, names: Sequence[str]) -> None:
    """Refuse a table with missing, infinite or non-numeric values in any column."""
    faults: list[tuple[int, ColumnError]] = []
    for j in range(table.n_features):
        try:
            column = table.column(j)
        except ColumnError as fault:
            faults.append((j, fault))
            continue
        if column.dtype.kind == "f":
            values = np.asarray(column, dtype=np.float64)
            faults.extend((j, fault) for fault in real_faults(values, "f"))
    raise_faults(faults, names, table.n_samples)


def listing(items: Iterable[str]) -> str:
    """Join the first few items with commas, and count the others."""
    items = list(items)
    shown = ", ".join(items[:MAX_LISTED])
    more = len(items) - MAX_LISTED
    return f"{shown}, ... and {more} more" if more > 0 else shown


def near(name: object, names: Iterable[str]) -> str:
    """Ask whether a similar name was meant; empty if there is none."""
    folded = {str(known).casefold(): known for known in names}
    wanted = str(name).casefold()
    found = difflib.get_close_matches(wanted, folded, n=3)
    if not found and wanted:  # 'age' for 'age >= 60'
        found = [known for known in folded if re.match(rf"{re.escape(wanted)}[\W_]", known)][:3]
    meant = " or ".join(repr(folded[match]) for match in found)
    return f" (did you mean {meant}?)" if meant else ""


def check_numeric(values: Column) -> Column:
    """Return a column as an array of a real dtype, or raise ColumnError."""
    if values.ndim != 1:
        raise ColumnError("object", len(values), 0, "'array'")
    kind = values.dtype.kind
    if kind in "biuf":
        return values
    if kind == "O":
        return _numbers_from_objects(values)
    example = repr(values[0].item()) if kind in "US" else repr(str(values.dtype))
    fault = {"U": "text", "S": "text", "c": "complex", "M": "date", "m": "date"}
    raise ColumnError(fault.get(kind, "object"), len(values), 0, example)


def _numbers_from_objects(values: Column) -> NDArray[np.float64]:
    """Convert Python numbers; None, pandas.NA and the like are missing, text is never parsed."""
    faults = {kind: fault for kind in set(map(type, values)) if (fault := object_fault(kind))}
    for fault in FAULTS:
        types = {kind for kind, found in faults.items() if found == fault}
        if types:
            where = np.array([type(v) in types for v in values])
            if fault == "missing":
                where |= [isinstance(v, float) and v != v for v in values]
            first = values[np.argmax(where)]
            example = repr(first) if fault == "text" else repr(type(first).__name__)
            raise ColumnError.at(fault, where, example)
    try:
        converted = values.astype(np.float64)
    except OverflowError:
        exact = np.array([isinstance(v, (int, Fraction)) for v in values])
        huge = exact & (np.abs(values) >= EXACT_INTEGER_LIMIT)
        raise ColumnError.at("inexact", huge) from None
    if np.any(large := np.abs(converted) >= EXACT_INTEGER_LIMIT):
        integral = [isinstance(v, numbers.Integral) for v in values[large]]
        large[large] = integral
        if large.any():
            raise ColumnError.at("inexact", large)
    return converted


def object_fault(kind: type) -> str | None:
    """Return the kind of fault that objects of this type are in a column of numbers."""
    if kind is type(None) or kind.__name__ in {"NAType", "NaTType"}:
        return "missing"
    if issubclass(kind, (str, bytes)):
        return "text"
    if issubclass(kind, (date, time, timedelta, np.datetime64, np.timedelta64)):
        return "date"
    if issubclass(kind, (numbers.Real, np.bool_, Decimal)):
        return None
    return "complex" if issubclass(kind, numbers.Complex) else "object"


def missing_among(labels: Sequence[Any] | NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which of some objects are no labels but missing: None, NaN, NA and NaT.

    Parameters
    ----------
    labels : sequence or ndarray of shape (n,)

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    kinds = {kind for kind in set(map(type, labels)) if object_fault(kind) == "missing"}
    missing = [
        type(label) in kinds or (isinstance(label, float) and label != label) for label in labels
    ]
    return np.array(missing, dtype=bool)


def real_faults(column: NDArray[np.float64], kind: str) -> Iterator[ColumnError]:
    """Faults of a float64 column that came from an array of the given kind."""
    with np.errstate(over="ignore", invalid="ignore"):
        if kind not in "iu" and np.isfinite(column.sum()):
            return  # one pass, and no array, where nothing is wrong
    for fault, where in (
        ("missing", np.isnan(column)),
        ("infinite", np.isinf(column)),
        ("inexact", (np.abs(column) >= EXACT_INTEGER_LIMIT) & (kind in "iu")),
    ):
        if where.any():
            yield ColumnError.at(fault, where)


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
    >>> from riskslim.tables import read_table
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
