"""Arrays that are checked and packed once, for any number of passes over them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import as_number, checked_threads
from riskslim.backend.border import (
    checked_bounds,
    checked_labels,
    checked_matrix,
    checked_whole,
)
from riskslim.coefficients import CoefficientSet
from riskslim.data.packed import MAX_WEIGHTS, PackedItems
from riskslim.data.training_data import TrainingData
from riskslim.loss.logistic import LogisticLoss
from riskslim.problem.problem import RiskScoreProblem, checked_ridge
from riskslim.rows.bit_planes import pack_items

__all__ = ["Box", "Prepared", "handle", "prepare"]

# Score ranges that the table of the loss covers; the fastest kernels have room for 2**15 scores.
_LARGEST_SCORE = 2**14 - 1

# Largest part of a score that a column may add in a search.
_LARGEST_PART = 1e100

# Problems that are remembered: a caller's search has one box, or a few.
_REMEMBERED = 8

_LABELS = ((0, 1), (-1, 1))


class _Rows(TrainingData):
    """Training data of arrays, whose constant columns are the caller's business."""

    def _warn_constant(self) -> None:
        pass


class Box(NamedTuple):
    """Integers that a search may use, and what columns cost.

    Attributes
    ----------
    lower, upper : int or array of shape (d,)
    intercept_lower, intercept_upper : int or None
    max_size : int or None
    l0_penalty : float
    l2_penalty : float or array of shape (d,)
    """

    lower: Any = -5
    upper: Any = 5
    intercept_lower: Any = None
    intercept_upper: Any = None
    max_size: Any = None
    l0_penalty: Any = 0.0
    l2_penalty: Any = 0.0


class Prepared:
    """Rows, labels and weights, packed; made by :func:`prepare`.

    Functions of :mod:`riskslim.backend` take it in place of X, y and the weights. It holds a
    copy: the arrays that it was made of may change afterwards. It is safe to use from several
    threads, and can be pickled.

    Attributes
    ----------
    n_samples : int
        Number n of rows.
    n_features : int
        Number d of columns.
    n_threads : int
        Threads of each pass.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import backend
    >>> X = np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 5)
    >>> y = np.array([0, 1, 1, 0] * 4 + [1, 0, 1, 0])
    >>> rows = backend.prepare(X, y)
    >>> rows.n_samples, rows.n_features
    (20, 2)
    >>> round(backend.loss(np.array([-1, 2, 0]), rows), 4)
    0.4133
    """

    def __init__(self, data: TrainingData, n_threads: int, merge: bool) -> None:
        none = CoefficientSet(
            data.feature_names, 0, 0, intercept_lower=-_LARGEST_SCORE,
            intercept_upper=_LARGEST_SCORE,
        )  # fmt: skip
        # Without a coefficient the table is as wide as the intercept alone allows, whatever the
        # columns are. It serves all integer vectors whose scores lie within it.
        self.loss = LogisticLoss(
            data, none, n_threads=n_threads, compress="auto" if merge else False
        )
        self._merge = merge
        self.lock = threading.Lock()
        self._items: PackedItems | None = None
        self._problems: OrderedDict[bytes, RiskScoreProblem] = OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        return Prepared, (self.data, self.n_threads, self._merge)

    @property
    def data(self) -> TrainingData:
        """The packed rows; no part of the interface."""
        return self.loss.data

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.data.n_samples

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.data.n_features

    @property
    def n_threads(self) -> int:
        """Threads of each pass."""
        return self.loss.n_threads

    def __repr__(self) -> str:
        n_real = len(self.data.real_index)
        return (
            f"Prepared({self.n_samples} rows, {self.n_features} columns, {n_real} of them float64"
            f"{', weighted' if self.data.is_weighted else ''}, n_threads={self.n_threads})"
        )

    def items(self) -> PackedItems:
        """Pack columns of few values to bits, when they are first needed; no part of the interface.

        Returns
        -------
        PackedItems

        Raises
        ------
        ValueError
            There is no such column, or rows of a class have more than 48 different weights.
        """
        with self.lock:
            if self._items is None:
                self._items = self._packed()
            return self._items

    def _packed(self) -> PackedItems:
        rows = self.data.block if self.data.is_weighted else self.loss.rows
        if self.data.is_weighted:
            for label in (-1, 1):
                n = len(np.unique(rows.weights[rows.labels == label]))
                if n > MAX_WEIGHTS:
                    raise ValueError(
                        f"counts of weighted rows need at most {MAX_WEIGHTS} different weights in "
                        f"each class, but rows of label {label:+d} have {n}"
                    )
        packed = pack_items(rows, np.ones(self.n_features, np.bool_), self.n_threads)
        if packed is None:
            raise ValueError("no column of X has few values (at most 8 integers within -128..127)")
        return packed

    def problem(self, box: Box) -> RiskScoreProblem:
        """State the problem of a search, or find it among the last ones; no part of the interface.

        Parameters
        ----------
        box : Box

        Returns
        -------
        RiskScoreProblem

        Raises
        ------
        TypeError, ValueError
            Bounds, a size or a penalty that are none.
        """
        d = self.n_features
        lower, upper = (checked_bounds(getattr(box, end), end, d) for end in ("lower", "upper"))
        ends = tuple(
            None if value is None else checked_whole(value, what)
            for what, value in (
                ("intercept_lower", box.intercept_lower),
                ("intercept_upper", box.intercept_upper),
                ("max_size", box.max_size),
            )
        )
        penalty = as_number(box.l0_penalty, "l0_penalty")
        ridge = checked_ridge(box.l2_penalty, self.data.feature_names)
        arrays = b"".join(one.tobytes() for one in (lower, upper, ridge))
        key = arrays + repr((ends, penalty)).encode()
        with self.lock:
            known = self._problems.get(key)
            if known is not None:
                self._problems.move_to_end(key)
                return known
        self._check_size_of_scores(np.maximum(np.abs(lower), np.abs(upper)))
        coefficients = CoefficientSet(
            self.data.feature_names, lower, upper, intercept_lower=ends[0], intercept_upper=ends[1]
        )
        made = RiskScoreProblem(
            self.data, coefficients, max_size=ends[2], l0_penalty=penalty,
            l2_penalty=ridge, n_threads=self.n_threads, compress=False,
        )  # fmt: skip
        # Equal rows have been merged already, if that pays: they stand for all rows.
        if self.loss.rows.n_rows < self.data.n_rows:
            made.loss = made.loss.on_rows(self.loss.rows)
        with self.lock:
            self._problems[key] = made
            if len(self._problems) > _REMEMBERED:
                self._problems.popitem(last=False)
        return made

    def _check_size_of_scores(self, coef: NDArray[np.int64]) -> None:
        """Refuse columns whose scores, or sums of their squares, would leave float64."""
        values = np.maximum(np.abs(self.data.feature_min), np.abs(self.data.feature_max))
        with np.errstate(over="ignore"):
            largest = coef * values
        if not largest.max() <= _LARGEST_PART:
            j = int(np.argmax(largest))
            raise ValueError(
                f"column {j} of X reaches {values[j]:.6g}, so that scores would leave float64: "
                "rescale it, or bound its coefficient by 0"
            )


def prepare(
    X: NDArray[Any],
    y: NDArray[Any],
    sample_weight: NDArray[Any] | None = None,
    *,
    n_threads: int = 1,
) -> Prepared:
    """Check and pack arrays once, for many calls.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        bool, integers, float32 or float64, in C or Fortran order or any strides, n and d at least
        1. The intercept is added by the functions: X has no column for it.
    y : ndarray of shape (n,)
        Labels 0 and 1, -1 and +1, or bool. Both have to occur.
    sample_weight : ndarray of shape (n,), optional
        Weights that are not negative, and not all zero in a class.
    n_threads : int, default 1
        Threads of each pass over the rows; -1 for all cores. No result depends on it.

    Returns
    -------
    Prepared
        Columns of integers within -128..127 as int8, all others as float64; equal rows merged
        where that pays.

    Raises
    ------
    TypeError
        Something else than arrays of these numbers.
    ValueError
        Wrong shapes, NaN and infinite values, other labels, negative weights.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import backend
    >>> X = np.array([[0, 1.5], [1, 0.5], [1, 2.5], [0, 0.5]], np.float32)
    >>> backend.prepare(X, np.array([0, 1, 1, 0]))
    Prepared(4 rows, 2 columns, 1 of them float64, n_threads=1)
    """
    return _packed(X, y, sample_weight, n_threads, merge=True)


def _packed(X: Any, y: Any, sample_weight: Any, n_threads: Any, *, merge: bool) -> Prepared:
    matrix = checked_matrix(X)
    labels = checked_labels(y, "y", len(matrix))
    if sample_weight is not None:
        checked_labels(sample_weight, "sample_weight", len(matrix))
    threads = checked_threads(n_threads)
    names = [f"column {j}" for j in range(matrix.shape[1])]
    data = _Rows(matrix, labels, sample_weight, feature_names=names, items=())
    if data.classes not in _LABELS:
        raise ValueError(f"y must be 0 and 1, or -1 and +1, got {data.classes[0]} and "
                         f"{data.classes[1]}")  # fmt: skip
    return Prepared(data, threads, merge)


def handle(X: Any, y: Any, sample_weight: Any, n_threads: int | None) -> Prepared:
    """Return arguments that are prepared already, or prepare them for one call.

    Parameters
    ----------
    X : Prepared or ndarray of shape (n, d)
    y, sample_weight : ndarray of shape (n,) or None
    n_threads : int or None

    Returns
    -------
    Prepared

    Raises
    ------
    TypeError
        Something besides a handle, or no labels.
    ValueError
        As :func:`prepare` says.
    """
    if not isinstance(X, Prepared):
        if y is None:
            raise TypeError("y is missing: give X and y, or what riskslim.backend.prepare returns")
        # Merging rows pays after a few passes only.
        return _packed(X, y, sample_weight, 1 if n_threads is None else n_threads, merge=False)
    given = {"y": y, "sample_weight": sample_weight, "n_threads": n_threads}
    besides = [name for name, value in given.items() if value is not None]
    if besides:
        raise TypeError(f"{besides[0]} was given besides prepared data, which have their own")
    return X
