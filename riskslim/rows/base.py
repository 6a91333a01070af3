r"""Rows in parts: the interface of all that adds up over the rows.

The loss, its gradient, histograms of scores and tables of counts are sums over rows. A
:class:`PartitionedRows` has the rows in parts (blocks in files, partitions on other processes),
and one operation, :meth:`~PartitionedRows.map`, that calls a function with each of them. All else
is written once, here: what a function returns of the parts is added up in their order.

Sums of integers are exact, and the same to the last bit for any partition: counts, histograms, and
what follows from them. Sums of floating-point numbers are compensated: another partition can
change them by a few units of the last place.
"""

from __future__ import annotations

import copy
import functools
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from riskslim._threads import Pool
from riskslim.data.row_tiles import as_columns, as_row_tiles
from riskslim.data.store import KernelRows, RowsElsewhereError, RowStore, Weighting
from riskslim.exceptions import RiskSLIMError
from riskslim.rows import functions as of_parts
from riskslim.rows.functions import MergedPart, PartSummary

__all__ = ["PartitionedRows", "RowsSchema", "StoppedError", "Sums", "run_in_order"]

_Result = TypeVar("_Result")
_Rows = TypeVar("_Rows", bound="PartitionedRows")
_Array = NDArray[np.float64]

# Rows of merged parts that are put together before they are merged again.
_ROWS_TO_MERGE = 2**20


class StoppedError(RiskSLIMError):
    """A pass over the rows was to end before it had seen all of them."""


class RowsSchema(NamedTuple):
    """The columns that all parts have.

    Parameters
    ----------
    integer_index, real_index : tuple of int
        Features that are stored as small integers, and as float64; increasing.
    weighting : {"none", "numbers", "weights"}
        Rows count once each, as numbers of equal rows, or by weights.
    """

    integer_index: tuple[int, ...]
    real_index: tuple[int, ...]
    weighting: Weighting = "none"

    @property
    def n_features(self) -> int:
        """Number d of features."""
        return len(self.integer_index) + len(self.real_index)

    def check(self) -> None:
        """Raise ``ValueError`` unless each feature has one column."""
        index = sorted((*self.integer_index, *self.real_index))
        in_order = all(list(part) == sorted(part) for part in (self.integer_index, self.real_index))
        if index != list(range(len(index))) or not in_order:
            raise ValueError(
                "integer_index and real_index must name each feature 0..d-1 once, in increasing "
                f"order, got {self.integer_index} and {self.real_index}"
            )
        if self.weighting not in ("none", "numbers", "weights"):
            raise ValueError(
                f"weighting must be 'none', 'numbers' or 'weights', got {self.weighting!r}"
            )


class PartitionedRows(RowStore):
    """Rows in parts.

    Parameters
    ----------
    schema : RowsSchema
    summaries : sequence of PartSummary
        Of the parts, in their order; at least one.

    Attributes
    ----------
    schema : RowsSchema
    n_samples : int
        Rows that they stand for.
    total_weight : float
        What sums over the rows are divided by.
    integer_index, real_index : intp array
        Features that are stored as small integers, and as float64.
    feature_min, feature_max : ndarray of float64, shape (d,)
    n_threads : int
        Parts that are worked on at once.
    should_stop : callable or None
        Asked between parts.
    known : dict
        Findings of passes that are needed again, shared by copies.

    Raises
    ------
    ValueError
        No rows, or columns that do not fit each other.
    """

    # Its block is fetched and unpacked before it is read.
    read_cost: ClassVar[float] = 3.0

    def __init__(self, schema: RowsSchema, summaries: Sequence[PartSummary]) -> None:
        schema.check()
        if not summaries:
            raise ValueError("there are no rows")
        self.schema = schema
        self.summaries = tuple(summaries)
        self.n_samples = sum(part.n_samples for part in summaries)
        self.total_weight = self.class_weights[0] + self.class_weights[1]
        self.integer_index = np.array(schema.integer_index, np.intp)
        self.real_index = np.array(schema.real_index, np.intp)
        self.feature_min = np.min([part.feature_min for part in summaries], axis=0)
        self.feature_max = np.max([part.feature_max for part in summaries], axis=0)
        self.n_threads = 1
        self.should_stop: Callable[[], bool] | None = None
        # What was found out by a pass and is asked for again; copies share it.
        self.known: dict[str, object] = {}

    def __copy__(self: _Rows) -> _Rows:
        # Not by way of a pickle, which leaves out what belongs to this process.
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    # ---- what is known without the rows ----------------------------------------------------

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return len(self.summaries)

    @functools.cached_property
    def n_rows(self) -> int:
        """Rows that are stored; see :attr:`RowStore.n_rows`."""
        return sum(part.n_rows for part in self.summaries)

    @functools.cached_property
    def n_counted(self) -> int:
        """Rows of positive weight; see :attr:`RowStore.n_counted`."""
        return sum(part.n_counted for part in self.summaries)

    @functools.cached_property
    def class_weights(self) -> tuple[float, float]:
        """Weight of either class; see :attr:`RowStore.class_weights`."""
        return (
            math.fsum(part.class_weights[0] for part in self.summaries),
            math.fsum(part.class_weights[1] for part in self.summaries),
        )

    @property
    def weighting(self) -> Weighting:
        """The way in which rows count; see :attr:`RowStore.weighting`."""
        return self.schema.weighting

    def block_for(self, what: str) -> KernelRows:
        """Refuse: the rows are in parts; see :meth:`RowStore.block_for`."""
        raise RowsElsewhereError(
            f"{what} would need the rows in memory, and they are elsewhere ({self!r}): work on a "
            "sample of them, or read fewer rows"
        )

    def map_in_threads(
        self,
        function: Callable[..., _Result],
        *arguments: Any,
        n_threads: int,
        should_stop: Callable[[], bool] | None,
    ) -> Iterator[_Result]:
        """Threads share the parts; see :meth:`RowStore.map_in_threads`."""
        return self.used_by(n_threads, should_stop).map(function, *arguments, 1, None)

    def ranges(self) -> tuple[_Array, _Array]:
        """Ranges of features; see :meth:`RowStore.ranges`."""
        return self.feature_min, self.feature_max

    def counted_values(self, j: int, most: int) -> NDArray[Any]:
        """Values of a feature in a sample; see :meth:`RowStore.counted_values`."""
        return self.sample(most, 0).values_of(j)

    def counted_ranges(self) -> None:
        """Rows that count are not known one by one; see :meth:`RowStore.counted_ranges`."""
        return

    def used_by(
        self: _Rows, n_threads: int = 1, should_stop: Callable[[], bool] | None = None
    ) -> _Rows:
        """The same rows, read by so many threads, until they are to stop.

        Parameters
        ----------
        n_threads : int, default 1
        should_stop : callable, optional
            Asked between parts.

        Returns
        -------
        PartitionedRows
        """
        other = copy.copy(self)
        other.n_threads, other.should_stop = n_threads, should_stop
        return other

    def with_class_factors(self, factors: tuple[float, float]) -> PartitionedRows:
        """The same rows with other weights; see :meth:`RowStore.with_class_factors`."""
        return ReweightedRows(self, factors)

    def check_stop(self) -> None:
        """Raise :class:`StoppedError` if a pass is to end."""
        if self.should_stop is not None and self.should_stop():
            raise StoppedError("a pass over the rows was stopped")

    def __repr__(self) -> str:
        merged = "" if self.n_rows == self.n_samples else f" for {self.n_samples}"
        return (
            f"{type(self).__name__}({self.n_rows} rows{merged} in {self.n_parts} parts, "
            f"{self.n_features} features)"
        )

    # ---- sums over all rows ----------------------------------------------------------------

    def histogram(
        self, points: NDArray[np.int64], low: int, width: int
    ) -> NDArray[np.int64] | _Array:
        """Weight of the rows of each class and score, for several points in one pass.

        Parameters
        ----------
        points : ndarray of int64, shape (b, d + 1)
            Intercept first; zero for features that are no integers.
        low, width : int
            All scores lie in ``low`` .. ``low + width - 1``.

        Returns
        -------
        ndarray of int64, shape (b, 2, width)
            Numbers of rows, exact; float64 where rows have weights.
        """
        found = self.map(of_parts.histograms, points, low, width)
        if not self.has_weights:
            counts = np.zeros((len(points), 2, width), np.int64)
            for part in found:
                counts += part.astype(np.int64, copy=False)
            return counts
        sums = Sums((len(points), 2, width))
        for total, error in found:
            sums.add(total, error)
        return sums.value

    def slope_sums(
        self, points: NDArray[np.int64], low: int, width: int, scale: float
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Histograms, and sums of slope times integer feature in digits; exact.

        Parameters
        ----------
        points, low, width
            As in :meth:`histogram`; ``2 * width`` is at most 65536.
        scale : float

        Returns
        -------
        counts : ndarray of int64, shape (b, 2, width)
        digits : ndarray of int64, shape (b, d_int, 3 or 4)

        Raises
        ------
        ValueError
            Rows have weights.
        """
        if self.has_weights:
            raise ValueError("rows with weights have no exact sums")
        counts, digits = np.zeros((len(points), 2, width), np.int64), None
        for of_part, more in self.map(of_parts.slope_sums, points, low, width, scale):
            counts += of_part
            digits = more if digits is None else digits + more
        assert digits is not None
        return counts, digits

    def values(self, points: _Array, scale: float) -> _Array:
        """Losses of several points in one pass.

        Parameters
        ----------
        points : ndarray of float64, shape (b, d + 1)
            Intercept first.
        scale : float

        Returns
        -------
        ndarray of float64, shape (b,)
        """
        sums = Sums((len(points),))
        for part in self.map(of_parts.loss_sums, points, scale):
            sums.add(part)
        return sums.value / self.total_weight

    def values_and_gradients(self, points: _Array, scale: float) -> tuple[_Array, _Array]:
        """Losses of several points and their gradients in one pass.

        Parameters
        ----------
        points : ndarray of float64, shape (b, d + 1)
            Intercept first.
        scale : float

        Returns
        -------
        values : ndarray of float64, shape (b,)
        gradients : ndarray of float64, shape (b, d + 1)
        """
        sums = Sums((len(points), points.shape[1] + 1))
        for total, error in self.map(of_parts.gradient_sums, points, scale):
            sums.add(total, error)
        found = sums.value / self.total_weight
        return found[:, 0].copy(), found[:, 1:] / scale

    def slope_derivatives(self, points: _Array, wanted: NDArray[np.int64]) -> _Array:
        """Sums over the rows that say where an intercept is best, for several points in one pass.

        Parameters
        ----------
        points : ndarray of float64, shape (b, d + 1)
            Of real numbers: scores are their products with the features, at scale 1.
        wanted : ndarray of int64, shape (d + 1,)
            Zero for features that no point uses.

        Returns
        -------
        ndarray of float64, shape (b, 3)
            Derivatives of the loss by the intercept: first, second, third.
        """
        sums = Sums((len(points), 3))
        for total, error in self.map(of_parts.slope_derivatives, points, wanted):
            sums.add(total, error)
        return sums.value / self.total_weight

    def linearisations(self, points: _Array, wanted: NDArray[np.int64]) -> _Array:
        """Loss, size of slopes, and gradient at several points, in one pass.

        A row's slope is the derivative of its loss by its score. A point's numbers do not depend
        on those beside it.

        Parameters
        ----------
        points, wanted
            As in :meth:`slope_derivatives`. Derivatives by features that are not wanted are zero.

        Returns
        -------
        ndarray of float64, shape (b, d + 3)
            The loss, the sum of the sizes of slopes, and the gradient.
        """
        sums = Sums((len(points), points.shape[1] + 2))
        for total, error in self.map(of_parts.linearisations, points, wanted):
            sums.add(total, error)
        return sums.value / self.total_weight

    def joint_counts(
        self, point: NDArray[np.int64], features: Sequence[int], low: int, width: int
    ) -> list[_Array]:
        """Weight of the rows of each class, score and value of a feature, in one pass.

        Parameters
        ----------
        point : ndarray of int64, shape (d + 1,)
        features : sequence of int
            Stored as small integers.
        low, width : int
            As in :meth:`histogram`.

        Returns
        -------
        list of ndarray of float64, shape (2, width, number of values)
            The values of a feature are ``feature_min`` .. ``feature_max``. Whole numbers, exact,
            unless rows have weights.
        """
        values = tuple((int(self.feature_min[j]), int(self.feature_max[j])) for j in features)
        sums = [Sums((2, width, most - least + 1)) for least, most in values]
        for part in self.map(of_parts.joint_counts, point, tuple(features), values, low, width):
            for one, counts in zip(sums, part, strict=True):
                one.add(counts)
        return [one.value for one in sums]

    def union_counts(
        self,
        blocks: tuple[tuple[int, ...], ...],
        values: tuple[tuple[_Array, ...], ...],
        unions: tuple[tuple[int, ...], ...],
    ) -> list[NDArray[np.int64]]:
        """Rows of each class and combination of the values of several blocks, in one pass; exact.

        Parameters
        ----------
        blocks, values, unions
            As :func:`~riskslim.rows.functions.union_counts` has them.

        Returns
        -------
        list of ndarray of int64
            Of each union, shape (2, number of combinations).

        Raises
        ------
        ValueError
            Rows have weights.
        """
        if self.has_weights:
            raise ValueError("rows with weights have no exact counts")
        total: list[NDArray[np.int64]] = []
        for found in self.map(of_parts.union_counts, blocks, values, unions):
            for counts, more in zip(total, found, strict=False):
                counts += more
            total = total or [counts.astype(np.int64) for counts in found]
        return [counts.reshape(2, -1) for counts in total]

    def reference_sum(self, vector: _Array, scale: float) -> float:
        """Sum the losses of all rows on a path that shares nothing with the kernels.

        Parameters
        ----------
        vector : ndarray of float64, shape (d + 1,)
        scale : float

        Returns
        -------
        float
            Not divided by the weight of the rows.
        """
        return math.fsum(
            term for part in self.map(of_parts.reference_losses, vector, scale) for term in part
        )

    # ---- rows ------------------------------------------------------------------------------

    def sample(self, n: int, seed: int) -> KernelRows:
        """Copy some rows into memory, drawn without replacement.

        Parameters
        ----------
        n : int
            Rows; all of them if there are not so many.
        seed : int
            The same rows are drawn whatever the parts are.

        Returns
        -------
        KernelRows
            Where stored rows are numbers of equal ones, those are drawn, and merged again.
        """
        sizes = [
            part.n_samples if self.weighting == "numbers" else part.n_rows
            for part in self.summaries
        ]
        total = sum(sizes)
        if n >= total:
            positions = np.arange(total)
        else:
            positions = np.random.default_rng(seed).choice(total, n, replace=False, shuffle=False)
            positions.sort()
        ends = np.cumsum(sizes)
        cuts = np.searchsorted(positions, ends)
        chosen = [
            positions[begin:end] - (last - size)
            for begin, end, last, size in zip((0, *cuts[:-1]), cuts, ends, sizes, strict=True)
        ]
        each = [(part,) if len(part) else None for part in chosen]
        return joined(list(self.map(of_parts.taken, each=each)))

    def merged(self, features: NDArray[np.bool_], limit: int) -> MergedPart | None:
        """Distinct rows of some features, with the weights of both classes.

        Parameters
        ----------
        features : bool array of shape (d,)
        limit : int
            Most distinct rows that are worth it.

        Returns
        -------
        MergedPart or None
            None: there are more.
        """
        kept: MergedPart | None = None
        waiting: list[MergedPart] = []
        n_waiting = 0
        for number, part in enumerate(self.map(of_parts.merged_part, features, limit), start=1):
            if part is None:
                return None
            waiting.append(part)
            n_waiting += part.n_rows
            if n_waiting < _ROWS_TO_MERGE and number < self.n_parts:
                continue
            first, *others = waiting if kept is None else [kept, *waiting]
            stop = self.should_stop
            kept = first.followed_by(others, stop).merged(limit, stop)
            if kept is None:
                self.check_stop()
                return None
            waiting, n_waiting = [], 0
        return kept


class ReweightedRows(PartitionedRows):
    """Parts whose weights are multiplied by a factor for each class as they are read.

    Parameters
    ----------
    rows : PartitionedRows
    factors : tuple of two float
        Of the negative and of the positive class.

    Raises
    ------
    ValueError
        Weights that are too large or too small for double precision.
    """

    def __init__(self, rows: PartitionedRows, factors: tuple[float, float]) -> None:
        self._rows, self._factors = rows, factors
        known = [(part.n_samples, part.n_counted) for part in rows.summaries]
        found = rows.map(self._weighted(_summarised), each=known)
        schema = rows.schema._replace(weighting="weights")
        super().__init__(schema, list(found))

    def map(
        self,
        function: Callable[..., _Result],
        *arguments: Any,
        each: Sequence[tuple[Any, ...] | None] | None = None,
    ) -> Iterator[_Result]:
        """Call a function with each part; see :meth:`PartitionedRows.map`."""
        rows = self._rows.used_by(self.n_threads, self.should_stop)
        return rows.map(self._weighted(function), *arguments, each=each)

    def _weighted(self, function: Callable[..., _Result]) -> Callable[..., _Result]:
        return functools.partial(_call_weighted, function, self._factors)


def _call_weighted(
    function: Callable[..., _Result],
    factors: tuple[float, float],
    part: KernelRows,
    *arguments: Any,
) -> _Result:
    return function(part.with_class_factors(factors), *arguments)


def _summarised(part: KernelRows, n_samples: int, n_counted: int) -> PartSummary:
    return of_parts.summarised(part, n_samples, n_counted)


class Sums:
    """Arrays that are added up with their rounding errors.

    Parameters
    ----------
    shape : tuple of int

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.rows.base import Sums
    >>> sums = Sums((1,))
    >>> for number in (1e16, 1.0, -1e16):
    ...     sums.add(np.array([number]))
    >>> sums.value
    array([1.])
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._high, self._low = np.zeros((2, *shape))

    def add(self, values: _Array, errors: _Array | None = None) -> None:
        """Add numbers, and small ones beside.

        Parameters
        ----------
        values : ndarray of float64
        errors : ndarray of float64, optional
            Of the same shape.
        """
        total = self._high + values
        before = total - values
        self._low += (self._high - before) + (values - (total - before))
        if errors is not None:
            self._low += errors
        self._high = total

    @property
    def value(self) -> _Array:
        """The sums."""
        return np.asarray(self._high + self._low)


def joined(parts: Sequence[KernelRows]) -> KernelRows:
    """Put rows of equal columns together, one part after the other.

    Parameters
    ----------
    parts : sequence of KernelRows
        At least one.

    Returns
    -------
    KernelRows
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    columns = [as_columns(part.real_row_tiles, part.n_rows) for part in parts]
    integers = np.empty(
        (sum(part.n_rows for part in parts), len(first.integer_index)), np.int8, order="F"
    )
    np.concatenate([part.integer_columns for part in parts], out=integers)
    return KernelRows(
        integer_columns=integers,
        integer_index=first.integer_index,
        real_row_tiles=as_row_tiles(np.concatenate(columns)),
        real_index=first.real_index,
        labels=np.concatenate([part.labels for part in parts]),
        weights=np.concatenate([part.weights for part in parts]),
        numbers=np.concatenate([part.numbers for part in parts]),
        total_weight=math.fsum(part.total_weight for part in parts),
        n_samples=sum(part.n_samples for part in parts),
    )


def run_in_order(
    calls: Iterator[Callable[[], _Result]], n_threads: int, check: Callable[[], None]
) -> Iterator[_Result]:
    """Make calls by several threads, and yield what they return in their order.

    Parameters
    ----------
    calls : iterator of callable
    n_threads : int
    check : callable
        Called before each of them; may raise.

    Yields
    ------
    object
    """
    if n_threads == 1:
        for call in calls:
            check()
            yield call()
        return
    waiting: deque[Future[_Result]] = deque()
    with Pool(n_threads) as pool:
        try:
            for call in calls:
                check()
                waiting.append(pool.submit(call))
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
