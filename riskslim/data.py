r"""Training data, validated once and packed once.

A :class:`TrainingData` holds the rows :math:`(x_i, y_i, w_i)`, :math:`i = 1, \dots, n`, of the
training problem in the layout that the kernels read:

``labels``
    int8 ``(n,)``, the class of each row as -1 or +1.
``integer_columns``
    int8 ``(n, d_int)`` in Fortran order: every feature whose values are all integers in
    -128..127, one contiguous byte string per feature, because the kernels read only the columns
    of non-zero coefficients.
``real_columns``
    float64 ``(n, d_real)`` in Fortran order: every other feature.
``sample_weight``
    float64 ``(n,)``, or None: without weights nothing is stored.

``integer_index`` and ``real_index`` say which feature a stored column is. The constant column of
the intercept is implied and never stored.

The input is never copied as a whole. Columns come one at a time (from a data frame through
narwhals, from a Parquet file through pyarrow) and are cast into the int8 storage in blocks that
stay in the cache; the cast is compared with the original, which decides integer or real, and
refuses nothing silently. Columns that lie strided in memory (a C-ordered array) are packed
together, block of rows by block of rows. A column that turns out to be real is read a second time
into float64 storage of exactly the right size. Peak memory is therefore what the object holds,
plus one column.
"""

from __future__ import annotations

import difflib
import math
import numbers
import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from riskslim.exceptions import ConstantFeatureWarning

if TYPE_CHECKING:
    import os

    import pyarrow
    from numpy.typing import NDArray

    Column = NDArray[Any]

__all__ = ["TrainingData", "read_table"]

# A block of one column (float64 source, int8 copy, comparison) stays within half of a common L2
# cache, and is long enough that the cost of the NumPy calls vanishes. Strided columns are packed
# 32 at a time: 4096 rows of 32 float64 values are 1 MiB.
_BLOCK_ROWS = 16384
_STRIDED_BLOCK_ROWS = 4096
_STRIDED_GROUP = 32

# Integers from here on are no longer all exact in float64.
_EXACT_INTEGER_LIMIT = 2.0**53

# Names listed in one message before "... and k more".
_MAX_LISTED = 10


class TrainingData:
    r"""Rows, labels and weights of a training problem, validated and packed.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
        Features as numbers: a NumPy array of any real dtype and layout, nested lists, a mapping
        from names to columns, or any data frame that narwhals understands (pandas, polars, a
        pyarrow table, ...). The intercept is added by the package: X has no column for it.
    y : array-like of shape (n,)
        Two distinct labels of any kind: {0, 1}, {-1, 1}, bool, strings, categories.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights :math:`w_i` of the rows. Each class needs a positive total weight.
    feature_names : sequence of str, optional
        One name per column of X. Default: the names in the data frame, else "x1", ..., "xd".
        Names that are not strings are converted with ``str``.
    outcome_name : str, optional
        Default: the name of `y` if it is a series with a name, else "outcome".
    positive_label : optional
        The label of the positive class, whose risk is predicted. It is looked up among the labels
        by equality, then by its text (so that "1" from a command line finds 1). Default: the
        larger of the two labels in sorted order, thus 1, True, or "yes" rather than "no".

    Attributes
    ----------
    n_samples, n_features : int
        The numbers n of rows and d of features; the intercept is not counted.
    feature_names : tuple of str, length d
    outcome_name : str
    classes : tuple
        (negative label, positive label) as the user wrote them.
    labels : int8 array of shape (n,)
        -1 or +1.
    sample_weight : float64 array of shape (n,) or None
    total_weight : float
        Sum of the weights, n without weights.
    integer_columns : int8 array of shape (n, d_int), Fortran order
    integer_index : intp array of shape (d_int,)
        The feature that each integer column holds, increasing.
    real_columns : float64 array of shape (n, d_real), Fortran order
    real_index : intp array of shape (d_real,)
        The feature that each real column holds, increasing.
    is_integer : bool array of shape (d,)
        Which features are stored as int8.
    feature_min, feature_max : float64 array of shape (d,)
        Smallest and largest value of each feature over all rows, those of weight zero included.
    constant_features : intp array
        Indices of the features with one value in all rows.

    Raises
    ------
    ValueError
        For missing or infinite values, text, complex numbers, integers of 2**53 and beyond,
        anything but two classes, duplicate names, inconsistent or empty shapes, and weights that
        are negative, not finite, or zero for a whole class.
    TypeError
        For sparse matrices, lazy frames, dates, and objects that are no numbers.

    Warns
    -----
    ConstantFeatureWarning
        If features have one value in all rows; they are kept but never selected.

    Notes
    -----
    All arrays are owned by the object and read-only. Values are stored exactly, except that
    decimals and extended-precision floats are rounded to float64.

    Examples
    --------
    >>> from riskslim import TrainingData
    >>> data = TrainingData(
    ...     {"age": [41.5, 60.0, 33.25, 70.0], "smoker": [0, 1, 0, 1]}, ["no", "yes", "no", "yes"]
    ... )
    >>> data  # doctest: +NORMALIZE_WHITESPACE
    TrainingData(n_samples=4, n_features=2 (1 integer, 1 real), outcome='outcome',
                 classes=('no', 'yes'), weighted=False)
    >>> data.labels
    array([-1,  1, -1,  1], dtype=int8)
    >>> data.column(1)
    array([0, 1, 0, 1], dtype=int8)
    """

    n_samples: int
    n_features: int
    feature_names: tuple[str, ...]
    outcome_name: str
    classes: tuple[Any, Any]
    labels: NDArray[np.int8]
    sample_weight: NDArray[np.float64] | None
    total_weight: float
    integer_columns: NDArray[np.int8]
    integer_index: NDArray[np.intp]
    real_columns: NDArray[np.float64]
    real_index: NDArray[np.intp]
    is_integer: NDArray[np.bool_]
    feature_min: NDArray[np.float64]
    feature_max: NDArray[np.float64]
    constant_features: NDArray[np.intp]

    def __init__(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        feature_names: Sequence[str] | None = None,
        outcome_name: str | None = None,
        positive_label: Any = None,
    ) -> None:
        # The cheap checks come first: a wrong label must not wait for the packing of X.
        table = _open_table(X)
        self.n_samples, self.n_features = table.n_samples, table.n_features
        self.feature_names = _resolve_names(table, feature_names)
        self.outcome_name = outcome_name or _series_name(y) or "outcome"
        self.labels, self.classes = _encode_labels(y, self.n_samples, positive_label)
        self.sample_weight = _check_weights(sample_weight, self.labels, self.classes)
        self.total_weight = float(
            self.n_samples if self.sample_weight is None else self.sample_weight.sum()
        )

        packed = _pack(table, self.feature_names)
        self.is_integer = packed.is_integer
        self.integer_columns = packed.integer_columns
        self.integer_index = np.flatnonzero(packed.is_integer)
        self.real_columns = packed.real_columns
        self.real_index = np.flatnonzero(~packed.is_integer)
        self.feature_min, self.feature_max = packed.feature_min, packed.feature_max
        self.constant_features = np.flatnonzero(packed.feature_min == packed.feature_max)
        self._freeze()
        self._warn_constant()

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        outcome: str,
        *,
        weights: str | None = None,
        positive_label: Any = None,
        exclude: Iterable[str] = (),
    ) -> TrainingData:
        r"""Read a CSV or Parquet file; every column not named otherwise is a feature.

        Parameters
        ----------
        path : str or path-like
            A file as for :func:`read_table`. Parquet is read column by column.
        outcome : str
            Column of the labels.
        weights : str, optional
            Column of the sample weights.
        positive_label : optional
            As in :class:`TrainingData`.
        exclude : iterable of str, optional
            Columns to leave out, for example identifiers.

        Returns
        -------
        TrainingData

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ImportError
            If pyarrow is not installed.
        ValueError
            If a named column is not in the file, or the data are refused by
            :class:`TrainingData`.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from riskslim import TrainingData
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "patients.csv")
        ...     _ = path.write_text("id,age,died\n17,60,1\n18,41,0\n19,70,1")
        ...     data = TrainingData.from_file(path, "died", exclude=["id"])
        >>> data.feature_names, data.outcome_name
        (('age',), 'died')
        """
        exclude = (exclude,) if isinstance(exclude, str) else tuple(exclude)
        with _open_file(path) as (names, read_column):
            position = _locate_columns(names, outcome, weights, exclude, path)
            features = [name for name in names if name not in {outcome, weights, *exclude}]
            y = read_column(position[outcome])
            table = _Table(
                n_samples=len(y),
                n_features=len(features),
                names=features,
                column=lambda j: _column_values(read_column(position[features[j]])),
            )
            return cls(
                table,
                y,
                None if weights is None else read_column(position[weights]),
                outcome_name=outcome,
                positive_label=positive_label,
            )

    def column(self, j: int) -> NDArray[Any]:
        """Return the stored values of feature `j`.

        Parameters
        ----------
        j : int
            Index of the feature, 0 <= j < d.

        Returns
        -------
        int8 or float64 array of shape (n,)
            A read-only, contiguous view.

        Raises
        ------
        IndexError
            If there is no feature `j`.
        """
        if not 0 <= j < self.n_features:
            raise IndexError(f"no feature {j}: features are numbered 0..{self.n_features - 1}")
        if self.is_integer[j]:
            return self.integer_columns[:, np.searchsorted(self.integer_index, j)]
        return self.real_columns[:, np.searchsorted(self.real_index, j)]

    def __repr__(self) -> str:
        n_int, n_real = len(self.integer_index), len(self.real_index)
        return (
            f"TrainingData(n_samples={self.n_samples}, "
            f"n_features={self.n_features} ({n_int} integer, {n_real} real), "
            f"outcome={self.outcome_name!r}, classes={self.classes!r}, "
            f"weighted={self.sample_weight is not None})"
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Pickles do not keep the read-only flag.
        self.__dict__.update(state)
        self._freeze()

    def _freeze(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def _warn_constant(self) -> None:
        if len(self.constant_features):
            names = [self.feature_names[j] for j in self.constant_features]
            warnings.warn(
                f"{len(names)} of {self.n_features} features have the same value in all "
                f"{self.n_samples} rows and are never selected (the intercept is added "
                f"automatically): {_listing(map(repr, names))}",
                ConstantFeatureWarning,
                stacklevel=_user_stacklevel(),
            )


def _user_stacklevel() -> int:
    """Return the stacklevel with which the caller's warning points at code outside the package."""
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level


# ---------------------------------------------------------------------------------------------
# Where columns come from
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Table:
    """A source of columns: `column(j)` returns a 1-d array of numbers or raises _ColumnFault."""

    n_samples: int
    n_features: int
    names: Sequence[Hashable] | None
    column: Callable[[int], Column]


def _open_table(X: Any) -> _Table:
    """Find out what X is, and check its shape."""
    table = X if isinstance(X, _Table) else _dispatch_table(X)
    shape = (table.n_samples, table.n_features)
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
            )
    return table


def _dispatch_table(X: Any) -> _Table:
    if isinstance(X, np.ndarray):
        return _table_from_array(X)
    if isinstance(X, (list, tuple)):
        return _table_from_array(_array_from_lists(X))
    if isinstance(X, Mapping):
        return _table_from_mapping(X)
    if _is_sparse(X):
        raise TypeError(
            "Sparse data was passed for X, but dense data is required. Use '.toarray()' to "
            "convert to a dense numpy array."
        )
    frame = _open_frame(X)
    if frame is not None:
        return frame
    return _table_from_array(np.asarray(X))


def _is_sparse(X: Any) -> bool:
    # Whoever holds a sparse matrix has imported scipy.sparse; nobody else has to.
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def _open_frame(X: Any) -> _Table | None:
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
    return _Table(n_samples, n_features, list(frame.columns), lambda j: _column_values(frame[:, j]))


def _table_from_mapping(X: Mapping[Any, Any]) -> _Table:
    columns = [_values_of(values, f"column {name!r}") for name, values in X.items()]
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        k = next(k for k in range(len(lengths)) if lengths[k] != lengths[0])
        names = list(X)
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: column {names[0]!r} "
            f"has {lengths[0]}, column {names[k]!r} has {lengths[k]}."
        )
    return _Table(
        lengths[0] if lengths else 0,
        len(columns),
        list(X),
        lambda j: _check_numeric(columns[j]),
    )


def _table_from_array(X: Column) -> _Table:
    if X.ndim != 2:
        raise ValueError(_expected_2d(X.ndim, "an array"))
    if X.dtype.names is not None:
        raise ValueError("X is a structured array: pass a mapping from names to columns instead.")
    if isinstance(X, np.ma.MaskedArray):
        return _table_from_masked(X)
    X = np.asarray(X)  # np.matrix would slice to two dimensions
    return _Table(X.shape[0], X.shape[1], None, lambda j: _check_numeric(X[:, j]))


def _table_from_masked(X: np.ma.MaskedArray[Any, Any]) -> _Table:
    mask, values = np.ma.getmaskarray(X), np.ma.getdata(X)

    def column(j: int) -> Column:
        if mask[:, j].any():
            raise _ColumnError.at("missing", mask[:, j])
        return _check_numeric(values[:, j])

    return _Table(values.shape[0], values.shape[1], None, column)


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


def _series_name(values: Any) -> str | None:
    name = getattr(values, "name", None)
    if name is None or isinstance(values, (np.ndarray, list, tuple)):
        return None
    return str(name) or None


def _as_series(values: Any) -> Any:
    """Return a narwhals series, or None if `values` is no series of any library."""
    if isinstance(values, (np.ndarray, list, tuple)):
        return None
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    return series if isinstance(series, nw.Series) else None


def _values_of(values: Any, what: str) -> Column:
    """Return a series, array or list as a 1-d array, of any dtype."""
    if _is_sparse(values):
        raise TypeError(f"Sparse data was passed for {what}, but dense data is required.")
    series = _as_series(values)
    if series is not None:
        array = _series_values(series)
    elif isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        array = np.ma.getdata(values).astype(object)
        array[np.ma.getmaskarray(values)] = None
    else:
        array = np.asarray(values)
        if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
            array = np.asarray(values, dtype=object)  # ["a", None, 1] keeps its None and its 1
    if array.ndim != 1:
        raise ValueError(
            f"{what} should be a 1d array, got an array of shape {array.shape} instead."
        )
    return array


def _column_values(native_or_series: Any) -> Column:
    import narwhals as nw

    return _check_numeric(_series_values(nw.from_native(native_or_series, series_only=True)))


def _series_values(series: Any) -> Column:
    """Return the values of a narwhals series as an array, without a copy where possible."""
    import narwhals as nw

    if series.dtype in (nw.Int128, nw.UInt128):  # NumPy has no such type
        return np.array(series.to_list(), dtype=object)
    if series.dtype == nw.Decimal:
        series = series.cast(nw.Float64)
    return np.asarray(series.to_numpy())


# ---------------------------------------------------------------------------------------------
# Faults of columns, collected so that one error names them all
# ---------------------------------------------------------------------------------------------

# Kind of fault -> (exception, first sentence in scikit-learn's words, what is counted, advice).
_FAULTS: dict[str, tuple[type[Exception], str, str, str]] = {
    "text": (
        ValueError,
        "could not convert string to float: {example}.",
        "text",
        "Encode text as numbers (for example one 0/1 column per category) or leave it out.",
    ),
    "complex": (ValueError, "Complex data not supported.", "complex numbers", "Use real numbers."),
    "date": (
        TypeError,
        "float() argument must be a string or a real number, not {example}.",
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
}


class _ColumnError(Exception):
    """One column cannot be used; caught, collected and raised again with the column's name."""

    def __init__(self, kind: str, count: int, first: int, example: str = "") -> None:
        super().__init__(kind, count, first, example)
        self.kind, self.count, self.first, self.example = kind, count, first, example

    @classmethod
    def at(cls, kind: str, where: NDArray[np.bool_], example: str = "") -> _ColumnError:
        return cls(kind, int(np.count_nonzero(where)), int(np.argmax(where)), example)


def _raise_faults(
    faults: list[tuple[int, _ColumnError]], names: Sequence[str], n_samples: int
) -> None:
    """Raise one error for all faults: the first sentence and type are those of the worst kind."""
    if not faults:
        return
    kinds = [kind for kind in _FAULTS if any(fault.kind == kind for _, fault in faults)]
    lines = []
    for kind in kinds:
        _, headline, counted, advice = _FAULTS[kind]
        columns = sorted(((j, f) for j, f in faults if f.kind == kind), key=lambda pair: pair[0])
        listing = _listing(
            f"{names[j]!r} ({f.count} of {n_samples} rows, first at row {f.first})"
            for j, f in columns
        )
        lines.append(headline.format(example=columns[0][1].example))
        lines.append(f"Columns with {counted} (rows counted from 0): {listing}. {advice}")
    raise _FAULTS[kinds[0]][0]("\n".join(lines))


def _listing(items: Iterable[str]) -> str:
    items = list(items)
    shown = ", ".join(items[:_MAX_LISTED])
    more = len(items) - _MAX_LISTED
    return f"{shown}, ... and {more} more" if more > 0 else shown


def _check_numeric(values: Column) -> Column:
    """Return a column as an array of a real dtype, or raise _ColumnError."""
    if values.ndim != 1:
        raise _ColumnError("object", len(values), 0, "'array'")
    kind = values.dtype.kind
    if kind in "biuf":
        return values
    if kind == "O":
        return _numbers_from_objects(values)
    example = repr(values[0].item()) if kind in "US" else repr(str(values.dtype))
    fault = {"U": "text", "S": "text", "c": "complex", "M": "date", "m": "date"}
    raise _ColumnError(fault.get(kind, "object"), len(values), 0, example)


def _numbers_from_objects(values: Column) -> NDArray[np.float64]:
    """Convert Python numbers; None, pandas.NA and the like are missing, text is never parsed."""
    faults = {kind: fault for kind in set(map(type, values)) if (fault := _object_fault(kind))}
    for fault in _FAULTS:
        types = {kind for kind, found in faults.items() if found == fault}
        if types:
            where = np.array([type(v) in types for v in values])
            if fault == "missing":
                where |= [isinstance(v, float) and v != v for v in values]
            first = values[np.argmax(where)]
            example = repr(first) if fault == "text" else repr(type(first).__name__)
            raise _ColumnError.at(fault, where, example)
    try:
        converted = values.astype(np.float64)
    except OverflowError:
        exact = np.array([isinstance(v, (int, Fraction)) for v in values])
        huge = exact & (np.abs(values) >= _EXACT_INTEGER_LIMIT)
        raise _ColumnError.at("inexact", huge) from None
    if np.any(large := np.abs(converted) >= _EXACT_INTEGER_LIMIT):
        integral = [isinstance(v, numbers.Integral) for v in values[large]]
        large[large] = integral
        if large.any():
            raise _ColumnError.at("inexact", large)
    return converted


def _object_fault(kind: type) -> str | None:
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


def _resolve_names(table: _Table, feature_names: Sequence[str] | None) -> tuple[str, ...]:
    if isinstance(feature_names, str):
        raise TypeError(
            f"feature_names must be a sequence of names, got the text {feature_names!r}."
        )
    given: Sequence[Hashable] | None = table.names
    if feature_names is not None:
        given = list(feature_names)
    if given is None:
        return tuple(f"x{j}" for j in range(1, table.n_features + 1))
    if len(given) != table.n_features:
        raise ValueError(
            f"feature_names has {len(given)} names, but X has {table.n_features} features."
        )
    seen: dict[str, Hashable] = {}
    for name in given:
        text = str(name)
        if text in seen:
            raise ValueError(
                "Feature names must be unique after conversion to text: "
                f"{seen[text]!r} and {name!r} are the same name."
            )
        seen[text] = name
    return tuple(seen)


# ---------------------------------------------------------------------------------------------
# Labels and weights
# ---------------------------------------------------------------------------------------------


def _encode_labels(
    y: Any, n_samples: int, positive_label: Any
) -> tuple[NDArray[np.int8], tuple[Any, Any]]:
    """Return the labels as -1 and +1, and the two labels as the user has them."""
    if y is None:
        raise ValueError("y is None, but the labels are needed: a 1d array with two classes.")
    series = _as_series(y)
    if series is not None and _is_text_series(series):
        values, distinct = series, _distinct_text(series)
    else:
        values = _values_of(y, "y")
        _check_length("y", len(values), n_samples)
        distinct = _distinct_labels(values)
    _check_length("y", len(values), n_samples)
    classes = _order_classes(distinct, positive_label)
    positive = values == classes[1]
    if values is series:
        positive = positive.to_numpy()
    # True, False -> +1, -1 without a second temporary.
    labels: NDArray[np.int8] = np.asarray(positive).astype(np.int8)
    labels *= 2
    labels -= 1
    return labels, classes


def _is_text_series(series: Any) -> bool:
    # Text is compared inside its own library: n Python strings would cost 60 bytes each.
    import narwhals as nw

    if series.dtype == nw.String:
        return True
    return series.dtype in (nw.Categorical, nw.Enum) and not series.implementation.is_pandas_like()


def _distinct_text(series: Any) -> list[Any]:
    if series.null_count():
        _raise_missing_labels(series.is_null().to_numpy())
    distinct = series.unique().to_list()
    return _check_two(distinct)


def _distinct_labels(y: Column) -> list[Any]:
    """Return the two distinct labels in y as Python scalars."""
    kind = y.dtype.kind
    if kind == "O":
        return _check_two(_distinct_objects(y))
    if kind not in "biufUS":
        raise ValueError(f"Unknown label type: y has dtype {y.dtype}; expected numbers or text.")
    if kind == "f":
        _check_finite_labels(y)
    first = y[0]
    rest = y != first
    second = y[np.argmax(rest)]
    rest &= y != second
    if not rest.any():
        distinct = [first, second] if second != first else [first]
    else:
        distinct = list(np.unique(y))
        if kind == "f" and any(label != np.rint(label) for label in distinct):
            raise ValueError(
                f"Unknown label type: continuous. y has {len(distinct)} distinct values that are "
                "not all integers; a classifier expects two classes."
            )
    return _check_two([label.item() for label in distinct])


def _check_finite_labels(y: Column) -> None:
    if np.isfinite(y.min()) and np.isfinite(y.max()):  # NaN propagates
        return
    if (missing := np.isnan(y)).any():
        _raise_missing_labels(missing)
    infinite = np.isinf(y)
    raise ValueError(
        f"Input y contains infinity: {np.count_nonzero(infinite)} of {len(y)} labels, first at "
        f"row {np.argmax(infinite)} (rows counted from 0)."
    )


def _distinct_objects(y: Column) -> list[Any]:
    faults = {kind: _object_fault(kind) for kind in set(map(type, y))}
    missing = [faults[type(v)] == "missing" or (isinstance(v, float) and v != v) for v in y]
    if any(missing):
        _raise_missing_labels(missing)
    for kind, fault in faults.items():
        if fault not in {None, "text"}:
            raise ValueError(
                f"Unknown label type: y contains objects of type {kind.__name__!r}; expected "
                "numbers or text."
            )
    return [label.item() if isinstance(label, np.generic) else label for label in set(y.tolist())]


def _raise_missing_labels(missing: Any) -> NoReturn:
    missing = np.asarray(missing)
    raise ValueError(
        f"Input y contains NaN: {np.count_nonzero(missing)} of {len(missing)} labels are missing, "
        f"first at row {np.argmax(missing)} (rows counted from 0). Remove these rows."
    )


def _check_two(distinct: list[Any]) -> list[Any]:
    if len(distinct) == 1:
        raise ValueError(
            f"Two classes are needed, but y contains only one class: {distinct[0]!r} in all rows."
        )
    if len(distinct) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y has {len(distinct)} distinct labels, {_listing(map(repr, _sorted(distinct)))}."
        )
    return distinct


def _sorted(labels: list[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # labels of different types
        return sorted(labels, key=lambda label: (type(label).__name__, str(label)))


def _order_classes(distinct: list[Any], positive_label: Any) -> tuple[Any, Any]:
    """Return (negative, positive) label."""
    if positive_label is None:
        try:
            negative, positive = sorted(distinct)
        except TypeError:
            raise ValueError(
                f"The labels {distinct[0]!r} and {distinct[1]!r} in y have no order: say which is "
                "the positive one with positive_label=."
            ) from None
        return negative, positive
    for matches in (
        lambda label: label == positive_label,
        lambda label: str(label) == str(positive_label),
    ):
        found = [label for label in distinct if matches(label)]
        if len(found) == 1:
            (negative,) = (label for label in distinct if label is not found[0])
            return negative, found[0]
    raise ValueError(
        f"positive_label={positive_label!r} is not a label in y; the labels are "
        f"{_listing(map(repr, _sorted(distinct)))}."
    )


def _check_length(what: str, length: int, n_samples: int) -> None:
    if length != n_samples:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{n_samples}, {length}] "
            f"(X has {n_samples} rows, {what} has {length})."
        )


def _check_weights(
    sample_weight: Any, labels: NDArray[np.int8], classes: tuple[Any, Any]
) -> NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    values = _values_of(sample_weight, "sample_weight")
    _check_length("sample_weight", len(values), len(labels))
    try:
        weights = np.array(_check_numeric(values), dtype=np.float64)
    except _ColumnError as fault:
        _, _, counted, _ = _FAULTS[fault.kind]
        raise ValueError(
            f"sample_weight must hold non-negative numbers, got {counted} in {fault.count} of "
            f"{len(labels)} rows, first at row {fault.first} (rows counted from 0)."
        ) from None
    for wrong, problem in (
        (np.isnan(weights), "Input sample_weight contains NaN"),
        (np.isinf(weights), "Input sample_weight contains infinity"),
        (weights < 0.0, "Negative values in data passed to `sample_weight`"),
    ):
        if wrong.any():
            raise ValueError(
                f"{problem}: {np.count_nonzero(wrong)} of {len(weights)} rows, first at row "
                f"{np.argmax(wrong)} (rows counted from 0)."
            )
    _check_class_weights(weights, labels, classes)
    return weights


def _check_class_weights(
    weights: NDArray[np.float64], labels: NDArray[np.int8], classes: tuple[Any, Any]
) -> None:
    if not weights.any():
        raise ValueError(
            f"Sample weights must contain at least one non-zero number: all {len(weights)} "
            "weights are zero."
        )
    for sign, label in zip((-1, 1), classes, strict=True):
        rows = labels == sign
        if not weights.any(where=rows):
            raise ValueError(
                f"Two classes are needed, but only one class has weight: all "
                f"{np.count_nonzero(rows)} rows of class {label!r} have weight zero."
            )
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not math.isfinite(total):
        raise ValueError("The sum of sample_weight overflows float64: rescale the weights.")


# ---------------------------------------------------------------------------------------------
# Packing
# ---------------------------------------------------------------------------------------------


@dataclass
class _Packed:
    """The packed features, and what is found out about each on the way."""

    is_integer: NDArray[np.bool_]
    feature_min: NDArray[np.float64]
    feature_max: NDArray[np.float64]
    integer_columns: NDArray[np.int8] = field(init=False)
    real_columns: NDArray[np.float64] = field(init=False)


def _pack(table: _Table, names: Sequence[str]) -> _Packed:
    d = table.n_features
    packed = _Packed(np.zeros(d, np.bool_), np.empty(d), np.empty(d))
    faults: list[tuple[int, _ColumnError]] = []
    # NaN, infinities and values out of range are found by comparison, not by warnings.
    with np.errstate(invalid="ignore", over="ignore"):
        _pack_integers(table, packed, faults)
        faulty = {j for j, _ in faults}
        reals = [j for j in np.flatnonzero(~packed.is_integer).tolist() if j not in faulty]
        _pack_reals(table, reals, packed, faults)
    _raise_faults(faults, names, table.n_samples)
    return packed


def _for_each_group(
    table: _Table,
    indices: Iterable[int],
    faults: list[tuple[int, _ColumnError]],
    action: Callable[[list[tuple[int, Column]]], None],
) -> None:
    """Call `action` with columns: contiguous ones alone, strided views in groups.

    A contiguous column may be a copy that its library made for us: it is gone when `action`
    returns. Strided columns are views of one array; packed row block by row block together, they
    read each cache line once.
    """
    strided: list[tuple[int, Column]] = []
    for j in indices:
        try:
            group = [(j, table.column(j))]
        except _ColumnError as fault:
            faults.append((j, fault))
            continue
        if group[0][1].flags.c_contiguous:
            action(group)
        else:
            strided += group
        del group  # before the next column is made
    for start in range(0, len(strided), _STRIDED_GROUP):
        action(strided[start : start + _STRIDED_GROUP])


def _blocks(n_samples: int, group: list[tuple[int, Column]]) -> Iterator[slice]:
    rows = _BLOCK_ROWS if len(group) == 1 else _STRIDED_BLOCK_ROWS
    return (slice(start, min(start + rows, n_samples)) for start in range(0, n_samples, rows))


def _pack_integers(table: _Table, packed: _Packed, faults: list[tuple[int, _ColumnError]]) -> None:
    """Store every column that int8 can hold; pages of other columns are never touched."""
    n, d = table.n_samples, table.n_features
    store = np.empty(n * d, dtype=np.int8)

    def fill(group: list[tuple[int, Column]]) -> None:
        active = dict(group)
        for rows in _blocks(n, group):
            for j, values in list(active.items()):
                if not _fits_int8(values[rows], store[j * n : (j + 1) * n][rows]):
                    del active[j]
            if not active:
                return
        for j in active:
            packed.is_integer[j] = True
            packed.feature_min[j] = store[j * n : (j + 1) * n].min()
            packed.feature_max[j] = store[j * n : (j + 1) * n].max()

    _for_each_group(table, range(d), faults, fill)
    integers = np.flatnonzero(packed.is_integer).tolist()
    for k, j in enumerate(integers):
        if k != j:
            store[k * n : (k + 1) * n] = store[j * n : (j + 1) * n]
    store.resize(n * len(integers), refcheck=False)  # gives the tail back to the system
    packed.integer_columns = store.reshape((n, len(integers)), order="F")


def _fits_int8(values: Column, out: NDArray[np.int8]) -> bool:
    """Cast to int8 and compare: exactly the integers in -128..127 come through unchanged."""
    values = np.ascontiguousarray(values)
    np.copyto(out, values, casting="unsafe")
    return bool((out == values).all())


def _pack_reals(
    table: _Table,
    indices: list[int],
    packed: _Packed,
    faults: list[tuple[int, _ColumnError]],
) -> None:
    n = table.n_samples
    store = np.empty((n, len(indices)), dtype=np.float64, order="F")
    position = {j: k for k, j in enumerate(indices)}

    def fill(group: list[tuple[int, Column]]) -> None:
        for rows in _blocks(n, group):
            for j, values in group:
                store[rows, position[j]] = values[rows]
        for j, values in group:
            column = store[:, position[j]]
            packed.feature_min[j], packed.feature_max[j] = column.min(), column.max()
            # Both propagate NaN: two reductions find whether anything is wrong.
            largest = max(abs(packed.feature_min[j]), abs(packed.feature_max[j]))
            limit = _EXACT_INTEGER_LIMIT if values.dtype.kind in "iu" else np.inf
            if not largest < limit:
                faults.extend((j, fault) for fault in _real_faults(column, values.dtype.kind))

    _for_each_group(table, indices, faults, fill)
    packed.real_columns = store


def _real_faults(column: NDArray[np.float64], kind: str) -> Iterator[_ColumnError]:
    for fault, where in (
        ("missing", np.isnan(column)),
        ("infinite", np.isinf(column)),
        ("inexact", (np.abs(column) >= _EXACT_INTEGER_LIMIT) & (kind in "iu")),
    ):
        if where.any():
            yield _ColumnError.at(fault, where)


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
    >>> from riskslim.data import read_table
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
        if kind == "parquet":
            import pyarrow.parquet as parquet

            return parquet.ParquetFile(path).read()
        import pyarrow.csv as csv

        return csv.read_csv(path, convert_options=csv.ConvertOptions(strings_can_be_null=True))
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path} cannot be read as {kind}: {error}") from error


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


def _import_pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            "Reading files needs pyarrow, which is not installed: pip install 'riskslim[cli]'."
        ) from error
    return pyarrow


@contextmanager
def _open_file(
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


def _locate_columns(
    names: list[str],
    outcome: str,
    weights: str | None,
    exclude: Sequence[str],
    path: str | os.PathLike[str],
) -> dict[str, int]:
    """Return the position of every column, after checking the names that the user gave."""
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(
            f"Column names must be unique: {path} has {_listing(map(repr, twice))} more than once."
        )
    for name, role in (
        (outcome, "outcome"),
        (weights, "weights"),
        *((e, "exclude") for e in exclude),
    ):
        if name is not None and name not in names:
            near = difflib.get_close_matches(name, names, n=3)
            hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
                hint = " The values must be separated by commas."
            raise ValueError(
                f"{path} has no column {name!r} ({role}).{hint} "
                f"Its {len(names)} columns are {_listing(map(repr, names))}."
            )
    if outcome == weights or outcome in exclude or weights in exclude:
        raise ValueError(
            f"outcome={outcome!r}, weights={weights!r} and exclude={list(exclude)!r} must name "
            "different columns."
        )
    return {name: i for i, name in enumerate(names)}
