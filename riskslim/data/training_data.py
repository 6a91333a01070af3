r"""Training data, validated once and packed once.

A :class:`TrainingData` holds the rows :math:`(x_i, y_i, w_i)`, :math:`i = 1, \dots, n`, of the
training problem in the layout that the kernels read:

``labels``
    int8 ``(n,)``, the class of each row as -1 or +1.
``integer_columns``
    int8 ``(n, d_int)`` in Fortran order: every feature whose values are all integers in
    -128..127, one contiguous byte string per feature, because the kernels read only the columns
    of non-zero coefficients.
``real_panels``
    float64 ``(ceil(n / 16), d_real, 16)``: every other feature, 16 rows of each at a time
    (:mod:`riskslim.data.panels`).
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
import math
import os
import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing, near
from riskslim.data.class_weights import ClassWeighting, class_factors
from riskslim.data.faults import (
    EXACT_INTEGER_LIMIT,
    FAULTS,
    Column,
    ColumnError,
    check_numeric,
    missing_among,
    object_fault,
    raise_faults,
    real_faults,
)
from riskslim.data.files import as_arrow, open_file
from riskslim.data.panels import empty_panels, read_column, write_column
from riskslim.data.statements import Statement, stated
from riskslim.data.tables import (
    Table,
    as_series,
    open_table,
    series_name,
    series_values,
    the_only_column,
    values_of,
)
from riskslim.exceptions import ConstantFeatureWarning

if TYPE_CHECKING:
    import pyarrow

__all__ = ["TrainingData", "stored_values", "user_stacklevel"]

# A block of one column (float64 source, int8 copy, comparison) stays within half of a common L2
# cache, and is long enough that the cost of the NumPy calls vanishes. Strided columns are packed
# 32 at a time: 4096 rows of 32 float64 values are 1 MiB.
_BLOCK_ROWS = 16384
_STRIDED_BLOCK_ROWS = 4096
_STRIDED_GROUP = 32

# Weights count relative to each other; beyond these, sums of products overflow or vanish.
_WEIGHT_RANGE = (1e-100, 1e100)
_LEAST_CLASS_SHARE = 1e-14


class TrainingData:
    r"""Rows, labels and weights of a training problem, validated and packed.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
        Features as numbers: a NumPy array of any real dtype and layout, nested lists, a mapping
        from names to columns, or any data frame that narwhals understands (pandas, polars, a
        pyarrow table, ...). The intercept is added by the package: X has no column for it.
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
        larger of the two labels in sorted order, thus 1, True, or "yes" rather than "no".
    items : iterable of Item, optional
        What features are: conditions on raw columns, as :class:`riskslim.items.Item`. Default: what
        an :class:`~riskslim.ItemEncoder` stated of the data frame that it made; nothing of others.

    Attributes
    ----------
    n_samples, n_features : int
        The numbers n of rows and d of features; the intercept is not counted.
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
    real_panels : float64 array of shape (ceil(n / 16), d_real, 16)
        Row i of real column k is ``real_panels[i // 16, k, i % 16]``; missing rows are zero.
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
    items: dict[str, Statement]
    labels: NDArray[np.int8]
    sample_weight: NDArray[np.float64] | None
    total_weight: float
    class_factors: tuple[float, float]
    integer_columns: NDArray[np.int8]
    integer_index: NDArray[np.intp]
    real_panels: NDArray[np.float64]
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
        items: Iterable[Statement] | None = None,
    ) -> None:
        if isinstance(X, (str, os.PathLike)):
            raise TypeError(
                f"X is {X!r}: a file is read by TrainingData.from_file({str(X)!r}, outcome), "
                "where outcome is the name of a column."
            )
        if isinstance(y, str):
            raise TypeError(
                f"y is the text {y!r}, but the labels themselves are needed: y=frame[{y!r}], "
                f"with X the other columns. For a file: TrainingData.from_file(path, {y!r})."
            )
        y = the_only_column(y)
        # The cheap checks come first: a wrong label must not wait for the packing of X.
        table = open_table(X)
        self.n_samples, self.n_features = table.n_samples, table.n_features
        self.feature_names = _resolve_names(table, feature_names)
        self.items = _stated_items(stated(X) if items is None else items, self.feature_names)
        self.outcome_name = outcome_name or series_name(y) or "outcome"
        self.labels, self.classes = _encode_labels(y, self.n_samples, positive_label)
        self._set_weights(sample_weight)

        packed = _pack(table, self.feature_names)
        self.is_integer = packed.is_integer
        self.integer_columns = packed.integer_columns
        self.integer_index = np.flatnonzero(packed.is_integer)
        self.real_panels = packed.real_panels
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
        features: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
        encode: Callable[[pyarrow.Table, Column | None], Any] | None = None,
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
        features : iterable of str, optional
            The columns to use, in the order of the file. Default: all others.
        exclude : iterable of str, optional
            Columns to leave out, for example identifiers.
        encode : callable, optional
            Makes the features of those columns: called with them as a table, and with the weights
            or None, it returns anything that :class:`TrainingData` takes for X. For example
            ``lambda X, weights: ItemEncoder().fit_transform(X, sample_weight=weights)``.

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
        wanted = (features,) if isinstance(features, str) else features
        wanted = None if wanted is None else tuple(wanted)
        with open_file(path) as (names, read_column):
            position = _locate_columns(
                names,
                {"outcome": (outcome,), "weights": () if weights is None else (weights,),
                 "exclude": exclude, "features": wanted or ()},
                path,
            )  # fmt: skip
            others = [name for name in names if name not in {outcome, weights, *exclude}]
            chosen = [name for name in others if wanted is None or name in wanted]
            y = read_column(position[outcome])
            given_weights = None if weights is None else read_column(position[weights])
            X: Any = Table(
                n_samples=len(y),
                n_features=len(chosen),
                names=chosen,
                values=lambda j: series_values(read_column(position[chosen[j]])),
            )
            if encode is not None:
                X = encode(
                    as_arrow(chosen, [read_column(position[name]) for name in chosen]),
                    None if given_weights is None else checked_weights(given_weights, len(y)),
                )
            return cls(
                X,
                y,
                given_weights,
                outcome_name=outcome,
                positive_label=positive_label,
            )

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
            The weights are refused.

        Examples
        --------
        >>> from riskslim import TrainingData
        >>> data = TrainingData({"smoker": [0, 1, 0, 1]}, [0, 1, 1, 0])
        >>> data.reweighted([1, 2, 1, 1]).total_weight
        5.0
        """
        other = copy.copy(self)
        other._set_weights(sample_weight)
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
        own = np.ones(self.n_samples) if self.sample_weight is None else self.sample_weight
        positive = self.labels > 0
        totals = float(own.sum(where=~positive)), float(own.sum(where=positive))
        factors = class_factors(class_weight, self.classes, totals)
        other = self.reweighted(own * np.where(positive, factors[1], factors[0]))
        other.class_factors = (
            self.class_factors[0] * factors[0],
            self.class_factors[1] * factors[1],
        )
        return other

    @property
    def prevalence(self) -> float:
        """Share of the positive class, by the weights of the rows."""
        return self._prevalence((1.0, 1.0))

    @property
    def class_weighting(self) -> ClassWeighting | None:
        """What the weights of the classes make of the prevalence; None if they are the same."""
        if math.isclose(*self.class_factors):
            return None
        return ClassWeighting(self._prevalence(self.class_factors), self.prevalence)

    def _prevalence(self, divisors: tuple[float, float]) -> float:
        """Share of the positive class by the weights divided by one number for each class."""
        positive = self.labels > 0
        weights = np.ones(self.n_samples) if self.sample_weight is None else self.sample_weight
        negative_weight = float(weights.sum(where=~positive)) / divisors[0]
        positive_weight = float(weights.sum(where=positive)) / divisors[1]
        return positive_weight / (negative_weight + positive_weight)

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
        return stored_values(self, j, 0, self.n_samples)

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

    def _set_weights(self, sample_weight: Any) -> None:
        self.sample_weight = _check_weights(sample_weight, self.labels, self.classes)
        self.total_weight = float(
            self.n_samples if self.sample_weight is None else self.sample_weight.sum()
        )
        self.class_factors = (1.0, 1.0)

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
                f"automatically): {listing(map(repr, names))}",
                ConstantFeatureWarning,
                stacklevel=user_stacklevel(),
            )


def stored_values(data: TrainingData, j: int, start: int, stop: int) -> NDArray[Any]:
    """Return what :meth:`TrainingData.column` does, for some of the rows.

    Parameters
    ----------
    data : TrainingData
    j : int
    start, stop : int
        First row, a multiple of 16, and the row after the last one.

    Returns
    -------
    int8 or float64 array of shape (stop - start,)
    """
    if data.is_integer[j]:
        return data.integer_columns[start:stop, np.searchsorted(data.integer_index, j)]
    k = int(np.searchsorted(data.real_index, j))
    values = read_column(data.real_panels, k, start, stop)
    values.setflags(write=False)
    return values


def user_stacklevel() -> int:
    """Return the stacklevel with which the caller's warning points at code of the user.

    That is outside of the package, and of scikit-learn, whose pipelines call estimators.
    """
    libraries = {__name__.partition(".")[0], "sklearn"}
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in libraries:
        level, frame = level + 1, frame.f_back
    return level


def _stated_items(items: Iterable[Statement], feature_names: Sequence[str]) -> dict[str, Statement]:
    """What is stated of features, by name; statements on other columns are of no use here."""
    by_name: dict[str, Statement] = {}
    for item in items:
        if not all(hasattr(item, part) for part in ("name", "variable", "kind", "value")):
            raise TypeError(f"items must be riskslim.items.Item, got {item!r}")
        by_name[item.name] = item
    return {name: by_name[name] for name in feature_names if name in by_name}


def _resolve_names(table: Table, feature_names: Sequence[str] | None) -> tuple[str, ...]:
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
    series = as_series(y)
    is_text = series is not None and _is_text_series(series)
    values = series if is_text else values_of(y, "y")
    # Too few labels can be of one class: their number is the fault then.
    check_length("y", len(values), n_samples)
    distinct = _distinct_text(series) if is_text else _distinct_labels(values)
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
    if kind == "c":
        raise ValueError(f"Unknown label type: y has dtype {y.dtype}. Complex data not supported.")
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
    missing = missing_among(y)
    if missing.any():
        _raise_missing_labels(missing)
    faults = {kind: object_fault(kind) for kind in set(map(type, y))}
    for kind, fault in faults.items():
        if fault not in {None, "text"}:
            raise ValueError(
                f"Unknown label type: y contains objects of type {kind.__name__!r}; expected "
                "numbers or text."
            )
    # In the order of the rows: that of a set would differ from run to run.
    labels = dict.fromkeys(y.tolist())
    return [label.item() if isinstance(label, np.generic) else label for label in labels]


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
            f"y has {len(distinct)} distinct labels, {listing(map(repr, _sorted(distinct)))}."
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
        f"{listing(map(repr, _sorted(distinct)))}."
    )


def check_length(what: str, length: int, n_samples: int) -> None:
    """Raise ``ValueError`` unless there is a value of ``what`` for each row."""
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
    weights = checked_weights(sample_weight, len(labels))
    _check_class_weights(weights, labels, classes)
    return weights


def checked_weights(sample_weight: Any, n_samples: int) -> NDArray[np.float64]:
    """Weights as finite non-negative numbers, one for each row; ``ValueError`` otherwise."""
    values = values_of(sample_weight, "sample_weight")
    check_length("sample_weight", len(values), n_samples)
    try:
        weights = np.array(check_numeric(values), dtype=np.float64)
    except ColumnError as fault:
        _, _, counted, _ = FAULTS[fault.kind]
        raise ValueError(
            f"sample_weight must hold non-negative numbers, got {counted} in {fault.count} of "
            f"{n_samples} rows, first at row {fault.first} (rows counted from 0)."
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
    return weights


def check_size_of_weights(weights: NDArray[np.float64]) -> None:
    """Refuse weights, not all of them zero, whose sums and products leave double precision."""
    largest = float(weights.max())
    if not _WEIGHT_RANGE[0] <= largest <= _WEIGHT_RANGE[1]:
        raise ValueError(
            f"The largest sample_weight is {largest:.6g}; sums and products of such weights leave "
            "float64: divide all weights by it, which changes nothing else."
        )


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
    check_size_of_weights(weights)
    total = weights.sum()
    for sign, label in zip((-1, 1), classes, strict=True):
        share = float(weights.sum(where=labels == sign) / total)
        if share < _LEAST_CLASS_SHARE:
            raise ValueError(
                f"Class {label!r} has {share:.3g} of the total sample_weight, less than "
                f"{_LEAST_CLASS_SHARE:g}: nothing can be learnt of it in double precision."
            )


# ---------------------------------------------------------------------------------------------
# Packing
# ---------------------------------------------------------------------------------------------


_ADVICE = {
    "text": (
        "Encode text as numbers, as ItemEncoder does (--items on the command line), or leave it "
        "out."
    ),
    "missing": (
        "Remove these rows, or impute the values and add a 0/1 column that says where; or let "
        "ItemEncoder(missing='indicator') make items of the columns (on the command line --items "
        "--missing indicator)."
    ),
}


@dataclass
class _Packed:
    """The packed features, and what is found out about each on the way."""

    is_integer: NDArray[np.bool_]
    feature_min: NDArray[np.float64]
    feature_max: NDArray[np.float64]
    integer_columns: NDArray[np.int8] = field(init=False)
    real_panels: NDArray[np.float64] = field(init=False)


def _pack(table: Table, names: Sequence[str]) -> _Packed:
    d = table.n_features
    packed = _Packed(np.zeros(d, np.bool_), np.empty(d), np.empty(d))
    faults: list[tuple[int, ColumnError]] = []
    # NaN, infinities and values out of range are found by comparison, not by warnings.
    with np.errstate(invalid="ignore", over="ignore"):
        _pack_integers(table, packed, faults)
        faulty = {j for j, _ in faults}
        reals = [j for j in np.flatnonzero(~packed.is_integer).tolist() if j not in faulty]
        _pack_reals(table, reals, packed, faults)
    raise_faults(faults, names, table.n_samples, _ADVICE)
    return packed


def _for_each_group(
    table: Table,
    indices: Iterable[int],
    faults: list[tuple[int, ColumnError]],
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
        except ColumnError as fault:
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


def _pack_integers(table: Table, packed: _Packed, faults: list[tuple[int, ColumnError]]) -> None:
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
    table: Table,
    indices: list[int],
    packed: _Packed,
    faults: list[tuple[int, ColumnError]],
) -> None:
    n = table.n_samples
    store = empty_panels(n, len(indices))
    position = {j: k for k, j in enumerate(indices)}
    packed.feature_min[indices], packed.feature_max[indices] = np.inf, -np.inf

    def fill(group: list[tuple[int, Column]]) -> None:
        for rows in _blocks(n, group):
            for j, values in group:
                block = np.asarray(values[rows], dtype=np.float64)
                write_column(store, position[j], rows.start, block)
                # Both propagate NaN: two reductions find whether anything is wrong.
                packed.feature_min[j] = np.minimum(packed.feature_min[j], block.min())
                packed.feature_max[j] = np.maximum(packed.feature_max[j], block.max())
        for j, values in group:
            largest = max(abs(packed.feature_min[j]), abs(packed.feature_max[j]))
            limit = EXACT_INTEGER_LIMIT if values.dtype.kind in "iu" else np.inf
            if not largest < limit:
                column = read_column(store, position[j], 0, n)
                faults.extend((j, fault) for fault in real_faults(column, values.dtype.kind))

    _for_each_group(table, indices, faults, fill)
    packed.real_panels = store


def _locate_columns(
    names: list[str], roles: dict[str, tuple[str, ...]], path: str | os.PathLike[str]
) -> dict[str, int]:
    """Return the position of every column, after checking the names that the user gave."""
    named = {name for given in roles.values() for name in given}
    # Where the features are named, what else is in the file does not matter.
    left_out = "" in roles["exclude"] or (bool(roles["features"]) and "" not in named)
    if "" in names and not left_out:
        raise ValueError(
            f"{path} has no name for column {names.index('') + 1} of {len(names)}; pandas writes "
            "its index like that. Write the file with to_csv(..., index=False), name the column, "
            "or exclude it by its empty name, ''."
        )
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(
            f"Column names must be unique: {path} has {listing(map(repr, twice))} more than once."
        )
    taken: dict[str, str] = {}
    for role, given in roles.items():
        for name in given:
            if name not in names:
                hint = ""
                if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
                    hint = " The values must be separated by commas."
                raise ValueError(
                    f"{path} has no column {name!r}{near(name, names)}, given as {role}.{hint} "
                    f"Its {len(names)} columns are {listing(map(repr, names))}."
                )
            if taken.setdefault(name, role) != role:
                raise ValueError(f"Column {name!r} is given as {taken[name]} and as {role}.")
    return {name: i for i, name in enumerate(names)}
