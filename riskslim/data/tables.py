"""Tables of any kind as columns of numbers, and the faults that columns can have.

The rows of a training set or of records to be scored come as arrays, lists, mappings, data frames
of any library (through narwhals), or files (through pyarrow). Here they become one thing: a
:class:`Table`, whose columns are read one at a time. What is wrong with columns is collected, so
that one error can name them all.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from riskslim._wording import listing, near
from riskslim.data.faults import (
    EXACT_INTEGER_LIMIT,
    Column,
    ColumnError,
    check_numeric,
    raise_faults,
    real_faults,
)

__all__ = [
    "Table",
    "check_blanks",
    "check_columns",
    "check_present",
    "has_names",
    "is_empty_list",
    "is_row",
    "is_scalar",
    "is_sparse",
    "open_records",
    "open_table",
    "record_of",
    "table_without_rows",
    "the_only_column",
]


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

    def counted(self, sample_weight: Any) -> Table:
        """Return the rows of positive weight, all of them where no weights are given."""
        if sample_weight is None:
            return self
        rows = np.flatnonzero(np.asarray(sample_weight, dtype=np.float64))
        if len(rows) == self.n_samples:
            return self
        return replace(self, n_samples=len(rows), values=lambda j: np.asarray(self.values(j))[rows])


def open_table(X: Any, *, may_be_empty: bool = False) -> Table:
    """Find out what X is, and check its shape: without rows there is nothing to fit to."""
    table = X if isinstance(X, Table) else _dispatch_table(X)
    shape = (table.n_samples, table.n_features)
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0 and not (may_be_empty and what == "sample"):
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
            )
    return table


def _dispatch_table(X: Any) -> Table:
    if has_names(X) and not is_row(X):  # one as a table is refused below
        record = record_of(X)
        if record is not None:
            return _table_from_mapping(record)
        names = dict.fromkeys(str(name) for row in X for name in record_of(row) or ())
        return _table_from_rows(X, [*names], "columns of other rows")
    if isinstance(X, np.ndarray):
        return _table_from_array(X)
    if isinstance(X, (list, tuple)):
        return _table_from_array(_array_from_lists(X))
    if is_sparse(X):
        raise TypeError(
            "Sparse data was passed for X, but dense data is required. Use '.toarray()' to "
            "convert to a dense numpy array. In a pipeline, let the step before return dense data, "
            "as OneHotEncoder(sparse_output=False) does, or put FunctionTransformer("
            "operator.methodcaller('toarray'), accept_sparse=True) behind it."
        )
    frame = _open_frame(X)
    if frame is not None:
        return frame
    return _table_from_array(np.asarray(X))


def is_sparse(X: Any) -> bool:
    """True if X is a sparse matrix or array of SciPy."""
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
    columns = list(frame.iter_columns())  # frame[:, j] reads all names, for each j
    return Table(n_samples, n_features, list(frame.columns), lambda j: series_values(columns[j]))


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
        raise ValueError("X is a structured array of two dimensions: pass one of one dimension.")
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
    convert: Any = np.ma.asarray if any(map(np.ma.isMaskedArray, X)) else np.asarray
    try:
        array = convert(X)
    except ValueError as error:
        lengths = [len(row) if hasattr(row, "__len__") else 0 for row in X]
        odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is None:
            raise
        raise ValueError(
            f"All rows of X must have the same length: row 0 has {lengths[0]} values, "
            f"row {odd} has {lengths[odd]} (rows counted from 0)."
        ) from error
    found: Column = convert(X, dtype=object) if array.dtype.kind in "US" else array
    return found


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
    values = np.asarray(series.to_numpy())
    if values.dtype.kind == "f" and series.dtype.is_integer():  # some are missing
        with np.errstate(invalid="ignore"):
            if (np.abs(values) >= EXACT_INTEGER_LIMIT).any():
                return np.array(series.to_list(), dtype=object)
    return values


# ---------------------------------------------------------------------------------------------
# Records: single rows that name their values
# ---------------------------------------------------------------------------------------------


def open_records(X: Any, wanted: Sequence[str], what: str) -> Table | None:
    """Return a table of the wanted columns if X is a record, or a list of records; else None.

    A record has single values with names; see :func:`record_of`.
    """
    if is_empty_list(X):
        return table_without_rows(wanted)
    if not has_names(X):
        return None
    record = record_of(X)
    if record is None:
        return _table_from_rows(X, wanted, what)
    if all(map(is_scalar, record.values())):
        return _table_from_rows([record], wanted, what)
    return None


def is_empty_list(X: Any) -> bool:
    """True if X is a list of no rows, which does not say what columns they would have."""
    return isinstance(X, (list, tuple)) and not X


def table_without_rows(names: Sequence[str]) -> Table:
    """Return columns without values."""
    return Table(0, len(names), names, lambda j: np.empty(0))


def has_names(X: Any) -> bool:
    """True if X has names of its own without being a data frame, or is a list of such rows."""
    if record_of(X) is not None:
        return True
    return isinstance(X, Sequence) and any(record_of(row) is not None for row in X)


def record_of(X: Any) -> Mapping[Any, Any] | None:
    """Return what X has by name; None of data frames, and where it has no names.

    Names have mappings, rows of a pandas data frame, named tuples, rows of databases (of sqlite3,
    SQLAlchemy, pyodbc, asyncpg, Spark and others), structured arrays, and data classes.
    """
    if type(X) in _WITHOUT_NAMES or isinstance(X, Table) or is_sparse(X):
        return None
    if isinstance(X, Mapping):
        return X
    if is_row(X):
        row: dict[Any, Any] = X.to_dict()
        return row
    if isinstance(X, (np.ndarray, np.void)):
        if X.dtype.names is None or X.ndim > 1:
            return None
        found = {name: X[name] for name in X.dtype.names}
        return {name: None if one is np.ma.masked else one for name, one in found.items()}
    if is_dataclass(X) and not isinstance(X, type):
        return {field.name: getattr(X, field.name) for field in fields(X)}
    names = _names_of_values(X)
    if names is None:
        return None
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(f"X has several columns named {listing(map(repr, twice))}.")
    return dict(zip(names, X, strict=True))


# Most of what rows and lists are made of.
_WITHOUT_NAMES = {list, tuple, str, bytes, int, float, bool, type(None), np.float64, np.int64}


def _names_of_values(row: Any) -> list[str] | None:
    """Names of the values that a tuple, or a row of a database, has in this order."""
    if isinstance(row, Sequence):
        # Of named tuples and SQLAlchemy; of Spark.
        given = getattr(row, "_fields", None) or getattr(row, "__fields__", None)
        if given is not None:
            return [*given]
    if hasattr(row, "shape") or not hasattr(row, "__getitem__"):  # data frames have keys as well
        return None
    if callable(getattr(row, "keys", None)):
        return [*row.keys()]
    described = getattr(row, "cursor_description", None)
    return None if described is None else [column[0] for column in described]


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


def check_blanks(names: Iterable[str], has: str) -> None:
    """Refuse names that differ in blanks alone, around words or between: people see one name."""
    seen: dict[str, str] = {}
    for name in names:
        # The blanks of a level are its own: "sex =  m" is not "sex = m".
        plain = name.strip() if " = " in name else " ".join(name.split())
        other = seen.setdefault(plain, name)
        if other != name:
            raise ValueError(
                f"{has} columns {other!r} and {name!r}, whose names differ in blanks alone: rename "
                "one, or leave it out."
            )


def is_row(X: Any) -> bool:
    """True if X is one row as a pandas series, as ``frame.iloc[0]`` is: indexed by names."""
    index: Any = getattr(X, "index", None)
    return (
        hasattr(X, "to_dict")
        and getattr(X, "ndim", None) == 1
        and getattr(index, "is_unique", False) is True
        and all(isinstance(name, str) for name in index)
    )


def is_scalar(value: Any) -> bool:
    """True if a value is a single one: text, a number, nothing; not a column or a row."""
    return isinstance(value, (str, bytes)) or not hasattr(value, "__len__") or value is np.ma.masked


def _table_from_rows(rows: Sequence[Any], wanted: Sequence[str], what: str) -> Table:
    named: list[dict[str, Any]] = []
    for i, row in enumerate(rows):
        record = record_of(row)
        if record is None:
            raise TypeError(
                f"X is a list of rows with names, but row {i} (rows counted from 0) is of type "
                f"{type(row).__name__!r}, without names."
            )
        named.append({str(name): value for name, value in record.items()})
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
