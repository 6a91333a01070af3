"""Stores of rows: blocks behind one interface, of which rows in memory are one block.

What adds up over rows is a function of a block. A store calls it with each of its blocks
(:meth:`RowStore.map`), wherever these are: :class:`KernelRows` is a block in memory and the store
that has no other; blocks in files and on other machines are in :mod:`riskslim.rows`.
"""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from riskslim.data.row_tiles import read_column
from riskslim.data.weights import check_size_of_weights
from riskslim.exceptions import RiskSLIMError

__all__ = [
    "NO_NUMBERS",
    "NO_WEIGHTS",
    "KernelRows",
    "RowStore",
    "RowsElsewhereError",
    "Weighting",
]

_Result = TypeVar("_Result")
_Array = NDArray[np.float64]

# How rows count: once each, as numbers of equal rows, or by weights.
Weighting = Literal["none", "numbers", "weights"]

NO_WEIGHTS: NDArray[np.float64] = np.empty(0)
NO_NUMBERS: NDArray[np.uint16] = np.empty(0, np.uint16)


class RowsElsewhereError(RiskSLIMError):
    """Rows were asked for that are in files, or on other machines."""


class RowStore(abc.ABC):
    """Rows in blocks.

    Attributes
    ----------
    is_block : bool
        Whether the rows are one block in memory, :meth:`block_for`.
    read_cost : float
        Time that reading a row takes, of one in memory 1.
    n_samples : int
        Rows that the stored ones stand for.
    total_weight : float
        What sums over the rows are divided by.
    integer_index, real_index : intp array
        Features that are stored as small integers, and as float64.
    known : dict
        Findings of passes that are needed again.
    """

    is_block: ClassVar[bool] = False
    read_cost: ClassVar[float] = 1.0
    n_samples: int
    total_weight: float
    integer_index: NDArray[np.intp]
    real_index: NDArray[np.intp]
    known: dict[str, object]

    @property
    @abc.abstractmethod
    def n_rows(self) -> int:
        """Rows that are stored."""

    @property
    @abc.abstractmethod
    def n_counted(self) -> int:
        """Rows of positive weight that the stored ones stand for."""

    @property
    @abc.abstractmethod
    def weighting(self) -> Weighting:
        """The way in which rows count."""

    @property
    @abc.abstractmethod
    def class_weights(self) -> tuple[float, float]:
        """Weight of the negative and of the positive class."""

    @property
    def class_sums(self) -> tuple[float, float]:
        """The same, for shares: of rows in memory to the last digit as NumPy adds them up."""
        return self.class_weights

    @property
    def n_features(self) -> int:
        """Number d of features."""
        return len(self.integer_index) + len(self.real_index)

    @property
    def has_weights(self) -> bool:
        """True if rows have weights that are no numbers of rows."""
        return self.weighting == "weights"

    @abc.abstractmethod
    def map(
        self,
        function: Callable[..., _Result],
        *arguments: Any,
        each: Sequence[tuple[Any, ...] | None] | None = None,
    ) -> Iterator[_Result]:
        """Call a function with each block.

        Parameters
        ----------
        function : callable
            Of a module, since other processes import it. Called with a block
            (:class:`KernelRows`), which is not kept, and with ``arguments``.
        *arguments
            The same for all blocks.
        each : sequence, optional
            For each block a tuple of arguments that come before those, or None: it is left out.

        Yields
        ------
        object
            Results, in the order of the blocks.
        """

    @abc.abstractmethod
    def map_in_threads(
        self,
        function: Callable[..., _Result],
        *arguments: Any,
        n_threads: int,
        should_stop: Callable[[], bool] | None,
    ) -> Iterator[_Result]:
        """Call a function with each block, by threads that share the blocks or one of them.

        Parameters
        ----------
        function : callable
            Of a module. Called with a block, with ``arguments``, a number of threads and a
            function to ask whether to stop, or None.
        *arguments
        n_threads : int
        should_stop : callable, optional

        Yields
        ------
        object
            Results, in the order of the blocks.

        Raises
        ------
        StoppedError
            ``should_stop`` said so.
        """

    @abc.abstractmethod
    def used_by(
        self, n_threads: int = 1, should_stop: Callable[[], bool] | None = None
    ) -> RowStore:
        """The same rows, whose blocks are read by so many threads, until they are to stop.

        Parameters
        ----------
        n_threads : int, default 1
        should_stop : callable, optional
            Asked between blocks.

        Returns
        -------
        RowStore
        """

    @abc.abstractmethod
    def block_for(self, what: str) -> KernelRows:
        """The rows, if they are one block in memory.

        Parameters
        ----------
        what : str
            What needs them, for the error.

        Returns
        -------
        KernelRows

        Raises
        ------
        RowsElsewhereError
            They are not.
        """

    @abc.abstractmethod
    def with_class_factors(self, factors: tuple[float, float]) -> RowStore:
        """The same rows, with their weights multiplied by a factor for each class.

        Parameters
        ----------
        factors : tuple of two float
            Of the negative and of the positive class.

        Returns
        -------
        RowStore

        Raises
        ------
        ValueError
            Weights that are too large or too small for double precision.
        """

    def freeze(self) -> None:  # noqa: B027 - other stores hold no rows that could be written to
        """Let nobody write to rows in memory."""

    @abc.abstractmethod
    def ranges(self) -> tuple[_Array, _Array]:
        """Smallest and largest values of features.

        Returns
        -------
        least, most : ndarray of float64, shape (d,)
        """

    @abc.abstractmethod
    def counted_values(self, j: int, most: int) -> NDArray[Any]:
        """Values of a feature: in rows that count, or in a sample of rows that are elsewhere.

        Parameters
        ----------
        j : int
        most : int
            Rows of a sample.

        Returns
        -------
        int8 or float64 array
        """

    @abc.abstractmethod
    def counted_ranges(self) -> tuple[_Array, _Array] | None:
        """Smallest and largest values of features in rows that count.

        Returns
        -------
        tuple of two ndarray of float64, or None
            None: as in all rows, as far as is known.
        """


@dataclasses.dataclass(frozen=True, eq=False)
class KernelRows(RowStore):
    """A block of rows in memory, in the layout of the kernels.

    Attributes
    ----------
    integer_columns : int8 array of shape (m, d_int), Fortran order
    integer_index : intp array of shape (d_int,)
    real_row_tiles : float64 array of shape (ceil(m / 16), d_real, 16)
    real_index : intp array of shape (d_real,)
        All as in :class:`~riskslim.TrainingData`.
    labels : int8 array of shape (m,)
        -1 or +1.
    weights : float64 array of shape (m,) or (0,)
        Empty: every row counts once.
    numbers : uint16 array of shape (m,) or (0,)
        The same as ``weights`` if these are numbers of equal rows, else empty.
    total_weight : float
        What sums over the rows are divided by.
    n_samples : int
        Number of rows that they stand for.
    known : dict
        As in :class:`RowStore`; other rows that are made of these begin without it.
    """

    integer_columns: NDArray[np.int8]
    integer_index: NDArray[np.intp]
    real_row_tiles: NDArray[np.float64]
    real_index: NDArray[np.intp]
    labels: NDArray[np.int8]
    weights: NDArray[np.float64]
    numbers: NDArray[np.uint16]
    total_weight: float
    n_samples: int
    known: dict[str, object] = dataclasses.field(default_factory=dict, init=False, repr=False)

    is_block: ClassVar[bool] = True

    @property
    def n_rows(self) -> int:
        """Number m of rows."""
        return len(self.labels)

    @property
    def weighting(self) -> Weighting:
        """The way in which rows count; see :attr:`RowStore.weighting`."""
        if len(self.numbers):
            return "numbers"
        return "weights" if len(self.weights) else "none"

    @property
    def n_counted(self) -> int:
        """Rows of positive weight; see :attr:`RowStore.n_counted`."""
        return int(np.count_nonzero(self.weights)) if self.has_weights else self.n_samples

    @property
    def class_weights(self) -> tuple[float, float]:
        """Weight of either class; see :attr:`RowStore.class_weights`."""
        positive = self.labels > 0
        if not len(self.weights):
            n_positive = float(np.count_nonzero(positive))
            return self.n_samples - n_positive, n_positive
        # Each class by itself: a difference would lose a class of little weight.
        return math.fsum(self.weights[~positive]), math.fsum(self.weights[positive])

    @property
    def class_sums(self) -> tuple[float, float]:
        """The same as NumPy adds them up; see :attr:`RowStore.class_sums`."""
        if not len(self.weights):
            return self.class_weights
        positive = self.labels > 0
        return float(self.weights.sum(where=~positive)), float(self.weights.sum(where=positive))

    @property
    def counted(self) -> NDArray[np.intp] | slice:
        """Rows that count: those of positive weight, all of them without weights."""
        return slice(None) if self.weights.all() else np.flatnonzero(self.weights)

    @property
    def each_weight(self) -> _Array:
        """Weight of each row, 1 where rows have none."""
        return self.weights if len(self.weights) else np.ones(self.n_rows)

    def weights_by_class(self, total: float = 1.0) -> tuple[_Array, _Array]:
        """Weights of rows of the positive class and of the negative one, 0 for all others.

        Parameters
        ----------
        total : float, default 1.0
            What they are divided by.

        Returns
        -------
        positive, negative : ndarray of float64, shape (m,)
        """
        weights = (self.weights if len(self.weights) else 1.0) / total
        is_positive = self.labels > 0
        return np.where(is_positive, weights, 0.0), np.where(is_positive, 0.0, weights)

    @property
    def slots(self) -> NDArray[np.int64]:
        """Place of each feature for the kernels: k in integer column k, -1 - k in real column k."""
        slots = np.empty(self.n_features, np.int64)
        slots[self.integer_index] = np.arange(len(self.integer_index))
        slots[self.real_index] = -1 - np.arange(len(self.real_index))
        return slots

    def integer_scored(
        self, point: NDArray[np.generic]
    ) -> tuple[NDArray[np.int8], NDArray[np.int32], int]:
        """Name what integer scores of a point are made of, real columns left out.

        Parameters
        ----------
        point : ndarray of whole numbers, shape (d + 1,)
            Intercept first.

        Returns
        -------
        integer_columns, coef, intercept
            As the kernels take them.
        """
        coef = point[1 + self.integer_index].astype(np.int32)
        return self.integer_columns, coef, int(point[0])

    def real_scored(self, point: _Array) -> tuple[NDArray[np.int8], _Array, _Array, _Array, float]:
        """Name what scores of a point are made of.

        Parameters
        ----------
        point : ndarray of float64, shape (d + 1,)
            Intercept first.

        Returns
        -------
        integer_columns, integer_coef, real_row_tiles, real_coef, intercept
            As the kernels take them.
        """
        return (
            self.integer_columns, point[1 + self.integer_index], self.real_row_tiles,
            point[1 + self.real_index], float(point[0]),
        )  # fmt: skip

    def map(
        self,
        function: Callable[..., _Result],
        *arguments: Any,
        each: Sequence[tuple[Any, ...] | None] | None = None,
    ) -> Iterator[_Result]:
        """Call a function with the one block; see :meth:`RowStore.map`."""
        (own,) = [()] if each is None else each
        if own is not None:
            yield function(self, *own, *arguments)

    def map_in_threads(
        self,
        function: Callable[..., _Result],
        *arguments: Any,
        n_threads: int,
        should_stop: Callable[[], bool] | None,
    ) -> Iterator[_Result]:
        """Call a function with the one block; see :meth:`RowStore.map_in_threads`."""
        yield function(self, *arguments, n_threads, should_stop)

    def used_by(
        self, n_threads: int = 1, should_stop: Callable[[], bool] | None = None
    ) -> KernelRows:
        """The same rows: there is one block; see :meth:`RowStore.used_by`."""
        return self

    def block_for(self, what: str) -> KernelRows:
        """The rows themselves; see :meth:`RowStore.block_for`."""
        return self

    def with_class_factors(self, factors: tuple[float, float]) -> KernelRows:
        """The same rows with other weights; see :meth:`RowStore.with_class_factors`."""
        weights = self.each_weight * np.where(self.labels > 0, factors[1], factors[0])
        if weights.any():  # a part may have no row that counts
            check_size_of_weights(weights)
        return dataclasses.replace(
            self, weights=weights, numbers=NO_NUMBERS, total_weight=float(weights.sum())
        )

    def freeze(self) -> None:
        """Let nobody write to the rows; see :meth:`RowStore.freeze`."""
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def values_of(self, j: int, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Stored values of a feature in consecutive rows.

        Parameters
        ----------
        j : int
        start, stop : int, optional
            First row, a multiple of 16, and the row after the last one. Default: all rows.

        Returns
        -------
        int8 or float64 array of shape (stop - start,)
            Real values are copied.
        """
        stop = self.n_rows if stop is None else stop
        k = int(np.searchsorted(self.integer_index, j))
        if k < len(self.integer_index) and self.integer_index[k] == j:
            return self.integer_columns[start:stop, k]
        k = int(np.searchsorted(self.real_index, j))
        return read_column(self.real_row_tiles, k, start, stop)

    def ranges(self) -> tuple[_Array, _Array]:
        """Ranges of features, in a pass; see :meth:`RowStore.ranges`."""
        return self._ranges_in(slice(None))

    def _ranges_in(self, rows: NDArray[np.intp] | slice) -> tuple[_Array, _Array]:
        least, most = np.empty(self.n_features), np.empty(self.n_features)
        for j in range(self.n_features):
            column = self.values_of(j)[rows]
            least[j], most[j] = column.min(), column.max()
        return least, most

    def counted_values(self, j: int, most: int) -> NDArray[Any]:
        """Values of a feature in rows that count; see :meth:`RowStore.counted_values`."""
        return self.values_of(j)[self.counted]

    def counted_ranges(self) -> tuple[_Array, _Array] | None:
        """Ranges of features in rows that count; see :meth:`RowStore.counted_ranges`."""
        counted = self.counted
        return None if isinstance(counted, slice) else self._ranges_in(counted)
