r"""Training data, validated once and packed once.

A :class:`TrainingData` holds the rows :math:`(x_i, y_i, w_i)`, :math:`i = 1, \dots, n`, of the
training problem in the layout that the kernels read:

``labels``
    int8 ``(n,)``, the class of each row as -1 or +1.
``integer_columns``
    int8 ``(n, d_int)`` in Fortran order: every feature whose values are all integers in
    -128..127, one contiguous byte string per feature, because the kernels read only the columns
    of non-zero coefficients.
``real_row_tiles``
    float64 ``(ceil(n / 16), d_real, 16)``: every other feature, 16 rows of each at a time
    (:mod:`riskslim.data.row_tiles`).
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

import copy
import dataclasses
import math
import os
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing, near
from riskslim.data.class_weights import ClassWeighting, class_factors
from riskslim.data.csv_format import CsvFormat
from riskslim.data.labels import encode_labels, is_plain_order
from riskslim.data.lazy import is_collection
from riskslim.data.packing import pack
from riskslim.data.store import NO_NUMBERS, NO_WEIGHTS, KernelRows, RowStore
from riskslim.data.tables import (
    Table,
    check_blanks,
    open_table,
    series_name,
    the_only_column,
)
from riskslim.data.warned import user_stacklevel, warn_of_order
from riskslim.data.weights import check_class_totals, weights_of_rows
from riskslim.exceptions import ConstantFeatureWarning

if TYPE_CHECKING:
    from riskslim.items.item import Item

__all__ = ["TrainingData", "resolve_names", "stated_items"]


class TrainingData:
    r"""Rows, labels and weights of a training problem, validated and packed.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
        Features as numbers: a NumPy array of any real dtype and layout, nested lists, a mapping
        from names to columns, or any data frame that narwhals understands (pandas, polars, a
        pyarrow table, ...). The intercept is added by the package: X has no column for it. Files,
        and Dask data frames and arrays, are read by :func:`riskslim.read`.
    y : array-like of shape (n,) or (n, 1)
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
        larger of the two labels in sorted order, thus 1, True, or "yes" rather than "no"; with a
        ``PositiveLabelWarning`` where two texts such as "injury" and "no injury" do not say it.
    items : iterable of Item, or mapping from str to Item, optional
        What features are: conditions on raw columns, as :class:`riskslim.items.Item`, such as the
        ``items_`` of the :class:`~riskslim.ItemEncoder` that made X. Default: plain columns.

    Attributes
    ----------
    n_samples, n_features : int
        The numbers n of rows and d of features; the intercept is not counted.
    n_rows : int
        Rows that are held: fewer than n where equal ones were merged while they were read.
    counts : int64 array of shape (n_rows,) or None
        How many rows each of them stands for, those of weight zero left out; None: each for itself.
        ``sample_weight`` has the sums of their weights, or the counts; all arrays below that are
        said to have n rows have ``n_rows`` then.
    feature_names : tuple of str, length d
    outcome_name : str
    classes : tuple
        (negative label, positive label) as the user wrote them.
    items : dict from str to Item
        What is stated of features, by name.
    labels : int8 array of shape (n,)
        -1 or +1.
    sample_weight : float64 array of shape (n,) or None
    total_weight : float
        Sum of the weights, n without weights.
    class_factors : (float, float)
        By what :meth:`with_class_weight` multiplied the weights of the negative and of the
        positive class; (1.0, 1.0) if it did not.
    integer_columns : int8 array of shape (n, d_int), Fortran order
    integer_index : intp array of shape (d_int,)
        The feature that each integer column holds, increasing.
    real_row_tiles : float64 array of shape (ceil(n / 16), d_real, 16)
        Row i of real column k is ``real_row_tiles[i // 16, k, i % 16]``; missing rows are zero.
    real_index : intp array of shape (d_real,)
        The feature that each real column holds, increasing.
    is_integer : bool array of shape (d,)
        Which features are stored as int8.
    feature_min, feature_max : float64 array of shape (d,)
        Smallest and largest value of each feature over all rows, those of weight zero included:
        bounds of scores and intercepts that come from them hold, if they are wider for it.
    constant_features : intp array
        Indices of the features with one value in all rows.
    csv_format : CsvFormat or None
        How the files that the rows are from are written, where :func:`riskslim.read` was told.
    encoder : ItemEncoder or None
        What made the features of raw columns, where :func:`riskslim.read` was given one.
    raw : Table or None
        These raw columns, row by row, where the rows are held one by one.
    files : FileRows or None
        The rows one by one, to be read again, where equal ones were merged.
    rows : RowStore
        All of that row by row: one block in memory, or, of data that :meth:`from_rows` made, blocks
        in files or on other machines. There are then no ``labels``, ``sample_weight``,
        ``integer_columns`` and ``real_row_tiles``.
    has_each_row : bool
        Whether each row is in memory by itself.

    Raises
    ------
    ValueError
        For missing or infinite values, text, complex numbers, integers of 2**53 and beyond,
        anything but two classes, duplicate names, inconsistent or empty shapes, and weights that
        are negative, not finite, or zero for a whole class.
    TypeError
        For sparse matrices, lazy frames, dates, objects that are no numbers, names in the
        place of values, and ``items`` that are none.

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
    items: dict[str, Item]
    rows: RowStore
    class_factors: tuple[float, float] = (1.0, 1.0)
    is_integer: NDArray[np.bool_]
    feature_min: NDArray[np.float64]
    feature_max: NDArray[np.float64]
    constant_features: NDArray[np.intp]
    csv_format: CsvFormat | None = None
    encoder: Any = None
    raw: Table | None = None
    files: Any = None
    counts: NDArray[np.int64] | None = None
    _n_counted: int | None = None  # where rows that stand for several have weights

    def __init__(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        feature_names: Sequence[str] | None = None,
        outcome_name: str | None = None,
        positive_label: Any = None,
        items: Iterable[Item] | Mapping[str, Item] | None = None,
    ) -> None:
        if isinstance(X, (str, os.PathLike)):
            raise TypeError(
                f"X is {X!r}: a file is read by riskslim.read({str(X)!r}, outcome), where outcome "
                "is the name of a column."
            )
        if isinstance(y, str):
            raise TypeError(
                f"y is the text {y!r}, but the labels themselves are needed: y=frame[{y!r}], "
                f"with X the other columns. For a file: riskslim.read(path, {y!r})."
            )
        if is_collection(X):
            raise TypeError("X is a Dask collection, which is read by riskslim.read(X, y).")
        y = the_only_column(y)
        # The cheap checks come first: a wrong label must not wait for the packing of X.
        table = open_table(X)
        self.feature_names = resolve_names(table, feature_names)
        self.items = stated_items(items, self.feature_names)
        self.outcome_name = outcome_name or series_name(y) or "outcome"
        labels, self.classes = encode_labels(y, table.n_samples, positive_label)
        if positive_label is None and not is_plain_order(self.classes):
            warn_of_order(self.classes)
        weights = weights_of_rows(sample_weight, labels, self.classes)
        packed = pack(table, self.feature_names)
        rows = KernelRows(
            integer_columns=packed.integer_columns,
            integer_index=np.flatnonzero(packed.is_integer),
            real_row_tiles=packed.real_row_tiles,
            real_index=np.flatnonzero(~packed.is_integer),
            labels=labels,
            numbers=NO_NUMBERS,
            n_samples=table.n_samples,
            **_weighted(weights, table.n_samples),
        )
        self._hold(rows, packed.feature_min, packed.feature_max)
        self._warn_constant()

    @classmethod
    def from_rows(
        cls,
        rows: RowStore,
        *,
        feature_names: Sequence[str] | None = None,
        outcome_name: str = "outcome",
        classes: tuple[Any, Any] = (0, 1),
        items: Iterable[Item] | Mapping[str, Item] = (),
    ) -> TrainingData:
        """Training data of rows that are packed already, in files or on other machines.

        Parameters
        ----------
        rows : PartitionedRows
            Blocks in files or on other machines.
        feature_names : sequence of str, optional
            Default: "x1", ..., "xd".
        outcome_name : str, default "outcome"
        classes : tuple, default (0, 1)
            What the negative and the positive class are called.
        items : iterable of Item, or mapping from str to Item
            What features are.

        Returns
        -------
        TrainingData
            The rows stay where they are: ``labels``, ``column`` and what else needs them in memory
            raise :class:`~riskslim.data.store.RowsElsewhereError`.

        Raises
        ------
        ValueError
            Names that are not unique or not one for each feature, a class without weight.

        Warns
        -----
        ConstantFeatureWarning
            If features have one value in all rows.

        Examples
        --------
        >>> from riskslim import TrainingData
        >>> from riskslim.rows.memory import MemoryRows
        >>> small = TrainingData({"smoker": [0, 1, 0, 1]}, [0, 1, 1, 1])
        >>> data = TrainingData.from_rows(MemoryRows([small.rows]), feature_names=["smoker"])
        >>> data.n_samples, data.prevalence
        (4, 0.75)
        """
        data = cls.__new__(cls)
        table = Table(rows.n_samples, rows.n_features, None, lambda j: np.empty(0))
        data.feature_names = resolve_names(table, feature_names)
        data.items = stated_items(items, data.feature_names)
        data.outcome_name = outcome_name
        data.classes = classes
        check_class_totals(rows.class_weights, classes)
        data._hold(rows, *rows.ranges())
        data._warn_constant()
        return data

    def reweighted(self, sample_weight: Any) -> TrainingData:
        """The same rows with other weights.

        Parameters
        ----------
        sample_weight : array-like of shape (n,) or None
            As in :class:`TrainingData`.

        Returns
        -------
        TrainingData
            It shares features and labels with this one: nothing is packed again.

        Raises
        ------
        ValueError
            The weights are refused; or equal rows were merged, so that there is no row for each.

        Examples
        --------
        >>> from riskslim import TrainingData
        >>> data = TrainingData({"smoker": [0, 1, 0, 1]}, [0, 1, 1, 0])
        >>> data.reweighted([1, 2, 1, 1]).total_weight
        5.0
        """
        rows = self.rows.block_for("new weights")
        if self.counts is not None:
            raise ValueError(
                "equal rows were merged while these data were read, so that rows cannot get other "
                "weights: name the column of the weights (sample_weight) when reading"
            )
        weights = weights_of_rows(sample_weight, rows.labels, self.classes)
        own = _weighted(weights, rows.n_samples)
        return self._with_rows(dataclasses.replace(rows, numbers=NO_NUMBERS, **own), (1.0, 1.0))

    def _with_rows(self, rows: RowStore, class_factors: tuple[float, float]) -> TrainingData:
        other = copy.copy(self)
        other.rows, other.class_factors = rows, class_factors
        other._freeze()
        return other

    def with_class_weight(self, class_weight: Any) -> TrainingData:
        """The same rows, with the weights of each class multiplied by a factor.

        Parameters
        ----------
        class_weight : mapping from labels to weights, or "balanced"
            1 for a label that is not named; "balanced" gives both classes the same total weight.

        Returns
        -------
        TrainingData
            As :meth:`reweighted` returns it. Scores that are fitted to it say that their risks are
            those of weighted classes.

        Raises
        ------
        ValueError
            Something else, labels that there are not, weights that are not positive.

        Examples
        --------
        >>> from riskslim import TrainingData
        >>> data = TrainingData({"smoker": [0, 1, 0, 1]}, ["no", "no", "yes", "no"])
        >>> data.with_class_weight({"yes": 3}).class_weighting
        ClassWeighting(prevalence=0.25, weighted_prevalence=0.5)
        """
        factors = class_factors(class_weight, self.classes, self.rows.class_sums)
        rows = self.rows.with_class_factors(factors)
        check_class_totals(rows.class_sums, self.classes)
        negative, positive = self.class_factors
        return self._with_rows(rows, (negative * factors[0], positive * factors[1]))

    @property
    def n_rows(self) -> int:
        """Number of rows that are held, here or elsewhere."""
        return self.rows.n_rows

    @property
    def block(self) -> KernelRows:
        """All rows, of data that hold them in memory."""
        return self.rows.block_for("this")

    @property
    def has_each_row(self) -> bool:
        """True if each row is in memory by itself: not merged with others, nor elsewhere."""
        return self.counts is None and self.rows.is_block

    @property
    def labels(self) -> NDArray[np.int8]:
        """Class of each row, -1 or +1."""
        return self.rows.block_for("labels").labels

    @property
    def sample_weight(self) -> NDArray[np.float64] | None:
        """Weights of the rows, None if each counts once."""
        weights = self.rows.block_for("sample_weight").weights
        return weights if len(weights) else None

    @property
    def integer_columns(self) -> NDArray[np.int8]:
        """Features of small integers."""
        return self.rows.block_for("integer_columns").integer_columns

    @property
    def integer_index(self) -> NDArray[np.intp]:
        """The feature that each integer column holds."""
        return self.rows.integer_index

    @property
    def real_row_tiles(self) -> NDArray[np.float64]:
        """All other features, 16 rows at a time."""
        return self.rows.block_for("real_row_tiles").real_row_tiles

    @property
    def real_index(self) -> NDArray[np.intp]:
        """The feature that each real column holds."""
        return self.rows.real_index

    @property
    def total_weight(self) -> float:
        """Sum of the weights, n without weights."""
        return self.rows.total_weight

    @property
    def counted(self) -> NDArray[np.intp] | slice:
        """Rows that count: those of positive weight, all of them without weights."""
        return self.rows.block_for("rows that count").counted

    @property
    def is_weighted(self) -> bool:
        """True if rows have weights; numbers of equal rows are none."""
        return self.rows.has_weights

    @property
    def class_weights(self) -> tuple[float, float]:
        """Weight of the negative and of the positive class."""
        return self.rows.class_weights

    @property
    def n_counted(self) -> int:
        """Number of rows of positive weight."""
        return self.rows.n_counted if self._n_counted is None else self._n_counted

    @property
    def prevalence(self) -> float:
        """Share of the positive class, by the weights of the rows."""
        return self._prevalence((1.0, 1.0))

    @property
    def class_weighting(self) -> ClassWeighting | None:
        """Prevalence without and with the weights of the classes; None if they are the same."""
        if math.isclose(*self.class_factors):
            return None
        return ClassWeighting(self._prevalence(self.class_factors), self.prevalence)

    def _prevalence(self, divisors: tuple[float, float]) -> float:
        """Share of the positive class by the weights divided by one number for each class."""
        negative, positive = self.rows.class_sums
        negative, positive = negative / divisors[0], positive / divisors[1]
        return positive / (negative + positive)

    def column(self, j: int) -> NDArray[Any]:
        """Return the stored values of feature `j`.

        Parameters
        ----------
        j : int
            Index of the feature, 0 <= j < d.

        Returns
        -------
        int8 or float64 array of shape (n,)
            Read-only and contiguous; real values are copied.

        Raises
        ------
        IndexError
            If there is no feature `j`.
        """
        if not 0 <= j < self.n_features:
            raise IndexError(f"no feature {j}: features are numbered 0..{self.n_features - 1}")
        values = self.rows.block_for("values of a feature").values_of(j)
        values.setflags(write=False)
        return values

    def __repr__(self) -> str:
        n_int, n_real = len(self.integer_index), len(self.real_index)
        merged = "" if self.n_rows == self.n_samples else f"n_rows={self.n_rows}, "
        return (
            f"TrainingData(n_samples={self.n_samples}, {merged}"
            f"n_features={self.n_features} ({n_int} integer, {n_real} real), "
            f"outcome={self.outcome_name!r}, classes={self.classes!r}, "
            f"weighted={self.is_weighted})"
        )

    def __getstate__(self) -> dict[str, Any]:
        # Raw columns are read where they are, and not sent to other processes.
        return {name: value for name, value in vars(self).items() if name != "raw"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Pickles do not keep the read-only flag.
        self.__dict__.update(state)
        self._freeze()

    def _hold(
        self, rows: RowStore, feature_min: NDArray[np.float64], feature_max: NDArray[np.float64]
    ) -> None:
        """Keep packed rows, with what is known of their features."""
        self.rows = rows
        self.n_samples, self.n_features = rows.n_samples, rows.n_features
        self.is_integer = np.zeros(rows.n_features, np.bool_)
        self.is_integer[rows.integer_index] = True
        self.feature_min, self.feature_max = feature_min, feature_max
        self.constant_features = np.flatnonzero(feature_min == feature_max)
        self._freeze()

    def _freeze(self) -> None:
        self.rows.freeze()
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def _warn_constant(self) -> None:
        if len(self.constant_features):
            names = [self.feature_names[j] for j in self.constant_features]
            warnings.warn(
                f"{len(names)} of {self.n_features} features have the same value in all "
                f"{self.n_samples} rows and are never selected (the intercept is added "
                f"automatically): {listing(map(repr, names))}",
                ConstantFeatureWarning,
                stacklevel=user_stacklevel(),
            )


class _Weighted(TypedDict):
    weights: NDArray[np.float64]
    total_weight: float


def _weighted(weights: NDArray[np.float64] | None, n_samples: int) -> _Weighted:
    """Weights of rows as they are stored, and their sum."""
    if weights is None:
        return {"weights": NO_WEIGHTS, "total_weight": float(n_samples)}
    return {"weights": weights, "total_weight": float(weights.sum())}


def stated_items(
    items: Iterable[Item] | Mapping[str, Item] | None,
    feature_names: Sequence[str],
) -> dict[str, Item]:
    """Find out what features are, as the caller says.

    Parameters
    ----------
    items : iterable of Item, or mapping from str to Item, optional
        As in :class:`TrainingData`.
    feature_names : sequence of str

    Returns
    -------
    dict from str to Item
        By name.

    Raises
    ------
    TypeError, ValueError
        Something else, or items that are no features.
    """
    by_name: dict[str, Item] = {}
    for item in items.values() if isinstance(items, Mapping) else items or ():
        if not all(hasattr(item, part) for part in ("name", "variable", "kind", "value")):
            raise TypeError(f"items must be riskslim.items.Item, got {item!r}")
        if item.name in by_name:
            raise ValueError(f"items state twice what {item.name!r} is")
        by_name[item.name] = item
    known = set(feature_names)
    unknown = [name for name in by_name if name not in known]
    if unknown:
        named = listing(f"{name!r}{near(name, feature_names)}" for name in unknown)
        raise ValueError(f"items state what features are that X does not have: {named}")
    return {name: by_name[name] for name in feature_names if name in by_name}


def resolve_names(table: Table, feature_names: Sequence[str] | None) -> tuple[str, ...]:
    """Name the features of a table.

    Parameters
    ----------
    table : Table
    feature_names : sequence of str, optional
        As in :class:`TrainingData`.

    Returns
    -------
    tuple of str

    Raises
    ------
    TypeError, ValueError
        Names that are none, or not unique.
    """
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
        if not text:
            raise ValueError(
                f"Feature names must not be empty: column {len(seen) + 1} of {len(given)} in X has "
                "no name. Name it, or leave it out."
            )
        if text in seen:
            raise ValueError(
                "Feature names must be unique after conversion to text: "
                f"{seen[text]!r} and {name!r} are the same name."
            )
        seen[text] = name
    check_blanks(seen, "X has")
    return tuple(seen)
