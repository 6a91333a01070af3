"""Functions of one part of the rows, for sums over all parts.

They are functions of a module, since they are sent to where a part is. Each calls the kernels on a
:class:`~riskslim.data.store.KernelRows` with one thread: parts are what threads share. Sums are
not divided by weights.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import integer, nodes, real
from riskslim.data.distinct import merge_features, take_rows
from riskslim.data.row_tiles import as_columns, read_column
from riskslim.data.store import KernelRows

__all__ = [
    "MAX_POSITIONS",
    "MergedPart",
    "PartSummary",
    "RowMarks",
    "count_scores",
    "gradient_sum",
    "gradient_sums",
    "hessian_sums",
    "histograms",
    "joint_counts",
    "linearisations",
    "loss_sum",
    "loss_sums",
    "merged_part",
    "put_by_feature",
    "put_gradient",
    "reference_losses",
    "row_marks",
    "scale_derivatives",
    "scores",
    "slope_derivatives",
    "slope_sum",
    "slope_sums",
    "summarised",
    "taken",
    "union_counts",
]

# Positions (score and class) that the 16-bit kernels can tell apart.
MAX_POSITIONS = 2**16

# Rows that are marked at a time, a multiple of those of a row tile.
_MARKED_ROWS = 2**16

_Array = NDArray[np.float64]
_NodeArguments = tuple[
    NDArray[np.int8], _Array, NDArray[np.int64], _Array, _Array, NDArray[np.int8]
]


@dataclasses.dataclass(frozen=True, eq=False)
class PartSummary:
    """Facts about a part without its rows.

    Parameters
    ----------
    n_rows : int
        Rows that are stored.
    n_samples, n_counted : int
        Rows that they stand for, and those of positive weight among them.
    class_weights : tuple of two float
        Weight of the negative and of the positive class.
    feature_min, feature_max : ndarray of float64, shape (d,)
    """

    n_rows: int
    n_samples: int
    n_counted: int
    class_weights: tuple[float, float]
    feature_min: _Array
    feature_max: _Array


def summarised(
    part: KernelRows, n_samples: int | None = None, n_counted: int | None = None
) -> PartSummary:
    """Find out what is to be known of a part.

    Parameters
    ----------
    part : KernelRows
        With at least one row.
    n_samples, n_counted : int, optional
        Where rows with weights stand for several others.

    Returns
    -------
    PartSummary
    """
    least, most = part.ranges()
    positive = part.labels > 0
    if len(part.numbers):
        # Whole numbers: sums are exact.
        n = int(part.numbers.sum(dtype=np.int64))
        n_positive = float(part.numbers.sum(where=positive, dtype=np.int64))
        return PartSummary(part.n_rows, n, n, (n - n_positive, n_positive), least, most)
    counted = part.n_rows
    if len(part.weights):
        counted = int(np.count_nonzero(part.weights))
        weights = math.fsum(part.weights[~positive]), math.fsum(part.weights[positive])
    else:
        n_positive = float(np.count_nonzero(positive))
        weights = part.n_rows - n_positive, n_positive
    return PartSummary(
        part.n_rows,
        part.n_rows if n_samples is None else n_samples,
        counted if n_counted is None else n_counted,
        weights, least, most,
    )  # fmt: skip


def count_scores(
    part: KernelRows, point: NDArray[np.generic], low: int, width: int, n_threads: int = 1
) -> NDArray[np.int64]:
    """Count the rows of each class and score, merged ones as many.

    Parameters
    ----------
    part : KernelRows
        Without weights, or with those that are numbers.
    point : ndarray of whole numbers, shape (d + 1,)
    low, width : int
        All scores lie in ``low`` .. ``low + width - 1``.
    n_threads : int, default 1

    Returns
    -------
    ndarray of int64, shape (copies, 2, width)
        To be added up over the copies.
    """
    scored = (*part.integer_scored(point), part.labels)
    counts = np.zeros((1, 2, width), np.int64)
    if len(part.numbers) and 2 * width <= MAX_POSITIONS:
        integer.count_numbers(*scored, part.numbers, low, counts, n_threads)
    elif len(part.numbers):
        total, error = np.zeros((2, 2, width))
        integer.weighted_histogram(*scored, part.weights, low, total, error, n_threads)
        counts[0] = total  # whole numbers below 2^53: exact, and without errors
    elif 2 * width <= MAX_POSITIONS:
        counts = np.zeros((integer.n_copies(), 2, width), np.int64)
        integer.count_scores(*scored, low, counts, n_threads)
    else:
        integer.histogram(*scored, low, counts, n_threads)
    return counts


def histograms(
    part: KernelRows, points: NDArray[np.int64], low: int, width: int
) -> NDArray[np.int64] | NDArray[np.float64]:
    """Weight of the rows of each class and score, for several points.

    Parameters
    ----------
    part : KernelRows
    points : ndarray of int64, shape (b, d + 1)
    low, width : int

    Returns
    -------
    ndarray of int64, shape (b, 2, width)
        Numbers of rows; of rows with weights float64 of shape (2, b, 2, width): sums and their
        errors.
    """
    if not part.has_weights:
        found = np.empty((len(points), 2, width), np.int64)
        for k, point in enumerate(points):
            found[k] = count_scores(part, point, low, width).sum(axis=0)
        return found
    sums = np.zeros((2, len(points), 2, width))
    for k, point in enumerate(points):
        scored = (*part.integer_scored(point), part.labels, part.weights)
        integer.weighted_histogram(*scored, low, sums[0, k], sums[1, k], 1)
    return sums


@functools.lru_cache(maxsize=8)
def _fixed_point(low: int, width: int, scale: float, counted: bool) -> NDArray[np.uint64]:
    tail, slope = np.empty(width), np.empty((2, width))
    integer.fill_tables(low, scale, tail, slope)
    found = np.empty((2, width), np.uint64)
    fill = integer.fill_fixed_point if counted else integer.fill_digits
    fill(slope, found)
    return found


def slope_sums(
    part: KernelRows, points: NDArray[np.int64], low: int, width: int, scale: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count scores, and add up slopes times integer features in digits: exact sums of integers.

    Parameters
    ----------
    part : KernelRows
        Without weights, or with those that are numbers; at least one integer column.
    points : ndarray of int64, shape (b, d + 1)
    low, width : int
        ``2 * width`` is at most 65536.
    scale : float

    Returns
    -------
    counts : ndarray of int64, shape (b, 2, width)
    digits : ndarray of int64, shape (b, d_int, 3 or 4)
        Four digits of rows that are numbers of others.
    """
    counted = len(part.numbers) > 0
    fixed_point = _fixed_point(low, width, scale, counted)
    counts = np.empty((len(points), 2, width), np.int64)
    digits = np.empty((len(points), len(part.integer_index), 4 if counted else 3), np.int64)
    for k, point in enumerate(points):
        copies, digits[k] = slope_sum(part, point, low, fixed_point)
        counts[k] = copies.sum(axis=0)
    return counts, digits


def slope_sum(
    part: KernelRows,
    point: NDArray[np.generic],
    low: int,
    slopes: NDArray[np.uint64],
    n_threads: int = 1,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count scores, and add up slopes times integer features in digits.

    Parameters
    ----------
    part : KernelRows
        As in :func:`slope_sums`.
    point : ndarray of whole numbers, shape (d + 1,)
    low : int
    slopes : ndarray of uint64, shape (2, width)
        Of the scores from ``low`` on, in fixed point.
    n_threads : int, default 1

    Returns
    -------
    counts : ndarray of int64, shape (copies, 2, width)
        To be added up over the copies.
    digits : ndarray of int64, shape (d_int, 3 or 4)
    """
    counted, width = len(part.numbers) > 0, slopes.shape[1]
    scored = (*part.integer_scored(point), part.labels)
    counts = np.zeros((1 if counted else integer.n_copies(), 2, width), np.int64)
    digits = np.zeros((len(part.integer_index), 4 if counted else 3), np.int64)
    if counted:
        integer.count_numbers_and_slopes(
            *scored, part.numbers, low, slopes, counts, digits, n_threads
        )
    else:
        integer.count_scores_and_slopes(*scored, low, slopes, counts, digits, n_threads)
    return counts, digits


def put_gradient(digits: NDArray[np.int64], out: _Array) -> None:
    """Make numbers of sums of slopes times features in digits.

    Parameters
    ----------
    digits : ndarray of int64, shape (d_int, 3 or 4)
        Four of rows that are numbers of others.
    out : ndarray of float64, shape (d_int or more,)
    """
    if digits.shape[1] == 4:
        integer.products_gradient(digits, out)
    else:
        integer.digits_gradient(digits, out)


def loss_sums(part: KernelRows, points: _Array, scale: float) -> _Array:
    """Sum the losses of several points.

    Parameters
    ----------
    part : KernelRows
    points : ndarray of float64, shape (b, d + 1)
    scale : float

    Returns
    -------
    ndarray of float64, shape (b,)
    """
    return np.array([loss_sum(part, point, scale) for point in points])


def loss_sum(part: KernelRows, point: _Array, scale: float, n_threads: int = 1) -> float:
    """Sum the losses of a point.

    Parameters
    ----------
    part : KernelRows
    point : ndarray of float64, shape (d + 1,)
    scale : float
    n_threads : int, default 1

    Returns
    -------
    float
    """
    scored = (*part.real_scored(point / scale), part.labels, part.weights)
    total: float = real.loss(*scored, n_threads)
    return total


def gradient_sums(part: KernelRows, points: _Array, scale: float) -> _Array:
    """Sum the losses of several points, and slopes times features.

    Parameters
    ----------
    part : KernelRows
    points : ndarray of float64, shape (b, d + 1)
    scale : float

    Returns
    -------
    ndarray of float64, shape (2, b, d + 2)
        Sums and their errors: the loss first, then the intercept and the features, by number.
    """
    found = np.zeros((2, *points.shape))
    by_feature = np.zeros((2, len(points), points.shape[1] + 1))
    for k, point in enumerate(points):
        by_feature[0, k, 0] = gradient_sum(part, point, scale, found[:, k])
    put_by_feature(part, found, by_feature[:, :, 1:])
    return by_feature


def gradient_sum(
    part: KernelRows, point: _Array, scale: float, out: _Array, n_threads: int = 1
) -> float:
    """Sum the losses of a point, and slopes times features.

    Parameters
    ----------
    part : KernelRows
    point : ndarray of float64, shape (d + 1,)
    scale : float
    out : ndarray of float64, shape (2, d + 1)
        Zeros, to which sums and their errors are added: of the intercept, the integer columns and
        the real ones.
    n_threads : int, default 1

    Returns
    -------
    float
        The sum of the losses.
    """
    scored = (*part.real_scored(point / scale), part.labels, part.weights)
    total: float = real.loss_and_gradient(*scored, out[0], out[1], n_threads)
    return total


def put_by_feature(part: KernelRows, by_column: _Array, out: _Array) -> None:
    """Order numbers by feature that are in the order of columns, after that of the intercept.

    Parameters
    ----------
    part : KernelRows
    by_column, out : ndarray of float64, shape (..., d + 1)
    """
    n_integers = len(part.integer_index)
    out[..., 0] = by_column[..., 0]
    out[..., 1 + part.integer_index] = by_column[..., 1 : 1 + n_integers]
    out[..., 1 + part.real_index] = by_column[..., 1 + n_integers :]


def hessian_sums(
    part: KernelRows,
    vector: _Array,
    scale: float,
    features: NDArray[np.intp],
    n_threads: int = 1,
    should_stop: Callable[[], bool] | None = None,
) -> _Array:
    """Sum second derivatives by the intercept and some features.

    Parameters
    ----------
    part : KernelRows
    vector : ndarray of float64, shape (d + 1,)
    scale : float
    features : ndarray of intp, shape (m,)
    n_threads : int, default 1
    should_stop : callable, optional
        Not asked: it is one pass.

    Returns
    -------
    ndarray of float64, shape (m + 1, m + 1)
    """
    out = np.empty((len(features) + 1, len(features) + 1))
    scored = (*part.real_scored(vector / scale), part.weights)
    real.hessian(*scored, part.slots[features], out, n_threads)
    return out


def slope_derivatives(part: KernelRows, points: _Array, wanted: NDArray[np.int64]) -> _Array:
    """Add up the slopes of several points, and their two derivatives by the score.

    Parameters
    ----------
    part : KernelRows
    points : ndarray of float64, shape (b, d + 1)
    wanted : ndarray of int64, shape (d + 1,)
        Zero for features that no point uses.

    Returns
    -------
    ndarray of float64, shape (2, b, 3)
        Sums and their errors.
    """
    sums = np.empty((len(points), 3, 2))
    rows = _node_arguments(part, wanted)
    nodes.slope_sums(*rows, points, 0, part.n_rows, sums, np.zeros(1, np.int64), np.zeros(5))
    return np.ascontiguousarray(np.moveaxis(sums, 2, 0))


def linearisations(part: KernelRows, points: _Array, wanted: NDArray[np.int64]) -> _Array:
    """Add up losses of several points, sizes of slopes, and slopes times features.

    Parameters
    ----------
    part : KernelRows
    points : ndarray of float64, shape (b, d + 1)
    wanted : ndarray of int64, shape (d + 1,)
        Zero for features that no point uses: their sums are zero.

    Returns
    -------
    ndarray of float64, shape (2, b, d + 3)
        Sums and their errors: of losses, sizes, slopes by the intercept and by the features.
    """
    b, p = points.shape
    sums = np.empty((b, p + 2, 2))
    nodes.linearise(
        *_node_arguments(part, wanted), points, wanted, 0, part.n_rows, sums,
        np.zeros(1, np.int64), np.zeros(5),
    )  # fmt: skip
    return np.ascontiguousarray(np.moveaxis(sums, 2, 0))


def _node_arguments(part: KernelRows, wanted: NDArray[np.int64]) -> _NodeArguments:
    """Name a part's rows as the nodes of the search read them; of real columns those wanted."""
    slot = np.where(part.slots >= 0, part.slots, 0)
    chosen = np.flatnonzero(wanted[1 + part.real_index])
    slot[part.real_index[chosen]] = -1 - np.arange(len(chosen))
    reals = np.empty((part.n_rows, len(chosen)), order="F")
    for k, column in enumerate(chosen.tolist()):
        reals[:, k] = read_column(part.real_row_tiles, column, 0, part.n_rows)
    integers = part.integer_columns
    if not integers.shape[1]:
        integers = np.zeros((1, 1), np.int8, order="F")
    if not len(chosen):
        reals = np.zeros((1, 1), order="F")
    if not len(part.weights):
        ones = np.ones(part.n_rows)
        return integers, reals, slot, ones, ones, part.labels
    return integers, reals, slot, *part.weights_by_class(), np.empty(0, np.int8)


def scores(
    part: KernelRows,
    vector: _Array,
    is_whole: bool,
    n_threads: int = 1,
    should_stop: Callable[[], bool] | None = None,
) -> NDArray[np.int32] | _Array:
    """Scores of the rows.

    Parameters
    ----------
    part : KernelRows
    vector : ndarray of float64, shape (d + 1,)
    is_whole : bool
        Scores are integers of 32 bits.
    n_threads : int, default 1
    should_stop : callable, optional
        Not asked: it is one pass.

    Returns
    -------
    ndarray of int32 or float64, shape (m,)
    """
    if is_whole:
        whole = np.empty(part.n_rows, np.int32)
        integer.scores(*part.integer_scored(vector), whole, n_threads)
        return whole
    out = np.empty(part.n_rows)
    real.scores(*part.real_scored(vector), out, n_threads)
    return out


def scale_derivatives(
    part: KernelRows, vector: _Array, total_weight: float, t: float
) -> tuple[float, float, float]:
    """Loss of a vector at the scale 1 / t, and its derivatives by t.

    Parameters
    ----------
    part : KernelRows
    vector : ndarray of float64, shape (d + 1,)
    total_weight : float
        Of all rows.
    t : float

    Returns
    -------
    tuple of three float
    """
    out = scores(part, vector, is_whole=False)
    positive, negative = part.weights_by_class(total_weight)
    found: tuple[float, float, float] = real.scale_derivatives(
        np.asarray(out, np.float64), positive, negative, t
    )
    return found


def joint_counts(
    part: KernelRows,
    point: NDArray[np.int64],
    features: tuple[int, ...],
    values: tuple[tuple[int, int], ...],
    low: int,
    width: int,
) -> list[NDArray[np.float64]]:
    """Weight of the rows of each class, score and value of a feature.

    Parameters
    ----------
    part : KernelRows
    point : ndarray of int64, shape (d + 1,)
    features : tuple of int
        Integer columns.
    values : tuple of pairs of int
        Smallest and largest value of each.
    low, width : int

    Returns
    -------
    list of ndarray of float64, shape (2, width, number of values)
        Of whole numbers, unless rows have weights.
    """
    scores = np.empty(part.n_rows, np.int32)
    integer.scores(*part.integer_scored(point), scores, 1)
    cell = scores.astype(np.int64) - low
    cell[part.labels > 0] += width
    weights = part.weights if len(part.weights) else None
    found = []
    for j, (least, most) in zip(features, values, strict=True):
        column = part.values_of(j)
        n_values = most - least + 1
        position = cell * n_values + (column.astype(np.int64) - least)
        counts = np.bincount(position, weights, 2 * width * n_values).astype(np.float64)
        found.append(counts.reshape(2, width, n_values))
    return found


def union_counts(
    part: KernelRows,
    blocks: tuple[tuple[int, ...], ...],
    values: tuple[tuple[NDArray[np.float64], ...], ...],
    unions: tuple[tuple[int, ...], ...],
) -> list[NDArray[np.signedinteger[Any]]]:
    """Count the rows of each class and combination of the values of several blocks of features.

    Parameters
    ----------
    part : KernelRows
        Without weights, or with those that are numbers.
    blocks : tuple of tuples of int
        Integer features.
    values : tuple of tuples of ndarray of float64
        All values of each of them.
    unions : tuple of tuples of int
        Blocks that are counted together, all as many; fast in lexicographic order.

    Returns
    -------
    list of ndarray of int32 or int64
        Of each union as many as 2 times its combinations: those of the negative class first, the
        values of the last feature next to each other.
    """
    codes, sizes = [], []
    for block, of_block in zip(blocks, values, strict=True):
        code, size = np.zeros(part.n_rows, np.int64), 1
        for j, known in zip(block, of_block, strict=True):
            place = np.zeros(256, np.int64)  # of -128..127
            place[known.astype(np.int64) + 128] = np.arange(len(known))
            column = part.values_of(j)
            code *= len(known)
            code += place[column.astype(np.int16) + 128]
            size *= len(known)
        codes.append(code)
        sizes.append(size)
    numbers = part.weights if len(part.numbers) else None
    n_samples = int(part.numbers.sum(dtype=np.int64)) if len(part.numbers) else part.n_rows
    kind = np.int32 if n_samples < 2**31 else np.int64  # many of them wait to be added up
    # Cells of the first blocks of a union are those of the union before, where it has them too.
    cells = [(part.labels > 0).astype(np.int64)]
    cells += [np.empty_like(cells[0]) for _ in unions[0]]
    found: list[NDArray[np.signedinteger[Any]]] = []
    last = (-1,) * len(unions[0])
    for union in unions:
        same = next(a for a, (b, before) in enumerate(zip(union, last, strict=True)) if b != before)
        for a in range(same, len(union)):
            np.multiply(cells[a], sizes[union[a]], out=cells[a + 1])
            cells[a + 1] += codes[union[a]]
        n_cells = 2 * math.prod(sizes[b] for b in union)
        # Sums of whole numbers are exact.
        found.append(np.bincount(cells[-1], numbers, n_cells).astype(kind))
        last = union
    return found


def taken(part: KernelRows, positions: NDArray[np.int64]) -> KernelRows:
    """Copy some of the rows that a part stands for.

    Parameters
    ----------
    part : KernelRows
    positions : ndarray of int64, shape (m,)
        In increasing order: stored rows or, where these are numbers of equal ones, those.

    Returns
    -------
    KernelRows
        Rows that are numbers of others have the numbers that were taken.
    """
    if not len(part.numbers):
        weights = part.weights[positions] if len(part.weights) else part.weights
        total = float(weights.sum()) if len(weights) else float(len(positions))
        return take_rows(
            part, positions.astype(np.intp), weights=weights,
            total_weight=total, n_samples=len(positions),
        )  # fmt: skip
    ends = np.cumsum(part.numbers, dtype=np.int64)
    index, numbers = np.unique(np.searchsorted(ends, positions, side="right"), return_counts=True)
    return take_rows(
        part, index.astype(np.intp), weights=numbers.astype(np.float64),
        numbers=numbers.astype(np.uint16), total_weight=float(len(positions)),
        n_samples=len(positions),
    )  # fmt: skip


@dataclasses.dataclass(frozen=True, eq=False)
class MergedPart:
    """Distinct rows of some features, with the weights of both classes.

    Parameters
    ----------
    integer_columns : int8 array of shape (m, d_int), Fortran order
    real_columns : float64 array of shape (m, d_real), Fortran order
    positive, negative : float64 array of shape (m,)
    """

    integer_columns: NDArray[np.int8]
    real_columns: _Array
    positive: _Array
    negative: _Array

    @property
    def n_rows(self) -> int:
        """Number m of rows."""
        return len(self.positive)

    def merged(
        self, limit: int, should_stop: Callable[[], bool] | None = None
    ) -> MergedPart | None:
        """Merge equal rows; None if more than a limit are left, or if the work was to end."""
        found = merge_features(
            self.integer_columns, self.real_columns, self.positive, self.negative, limit,
            should_stop,
        )  # fmt: skip
        if found is None:
            return None
        first, positive, negative = found
        return MergedPart(
            np.asfortranarray(self.integer_columns[first]),
            np.asfortranarray(self.real_columns[first]),
            positive, negative,
        )  # fmt: skip

    def followed_by(
        self, others: list[MergedPart], should_stop: Callable[[], bool] | None = None
    ) -> MergedPart:
        """These rows, then others; told to stop, with columns as they happen to be."""
        parts = [self, *others]
        return MergedPart(
            _below_each_other([part.integer_columns for part in parts], should_stop),
            _below_each_other([part.real_columns for part in parts], should_stop),
            np.concatenate([part.positive for part in parts]),
            np.concatenate([part.negative for part in parts]),
        )


def _below_each_other(
    tables: list[NDArray[Any]], should_stop: Callable[[], bool] | None
) -> NDArray[Any]:
    """Put tables below each other, column by column: a row at a time takes ten times as long."""
    n_rows, n_columns = sum(map(len, tables)), tables[0].shape[1]
    whole = np.empty((n_rows, n_columns), tables[0].dtype, order="F")
    for j in range(n_columns):
        if should_stop is not None and should_stop():
            break
        np.concatenate([table[:, j] for table in tables], out=whole[:, j])
    return whole


def merged_part(part: KernelRows, features: NDArray[np.bool_], limit: int) -> MergedPart | None:
    """Merge the rows of a part that some features do not tell apart, whatever their labels.

    Parameters
    ----------
    part : KernelRows
    features : bool array of shape (d,)
    limit : int

    Returns
    -------
    MergedPart or None
        Columns in the order of the features. None: there are more distinct rows than the limit.
    """
    reals = as_columns(part.real_row_tiles, part.n_rows)[:, features[part.real_index]]
    return MergedPart(
        np.asfortranarray(part.integer_columns[:, features[part.integer_index]]),
        np.asfortranarray(reals),
        *part.weights_by_class(),
    ).merged(limit)


def reference_losses(part: KernelRows, vector: _Array, scale: float) -> tuple[float, float]:
    """Sum the losses of a part on a path that shares nothing with the kernels.

    Parameters
    ----------
    part : KernelRows
    vector : ndarray of float64, shape (d + 1,)
    scale : float

    Returns
    -------
    total, rest : float
        The sum of the losses, and what it lacks.
    """
    margins = np.full(part.n_rows, vector[0])
    for k, j in enumerate(part.integer_index.tolist()):
        if vector[1 + j]:
            margins += vector[1 + j] * part.integer_columns[:, k]
    for k, j in enumerate(part.real_index.tolist()):
        if vector[1 + j]:
            margins += vector[1 + j] * read_column(part.real_row_tiles, k, 0, part.n_rows)
    margins *= part.labels
    margins /= scale
    losses = np.log1p(np.exp(-np.abs(margins))) + np.maximum(-margins, 0.0)
    if len(part.weights):
        losses *= part.weights
    # Pairwise, in the longest type that there is: exact to a unit of the last place of float64.
    exact = losses.sum(dtype=np.longdouble)
    total = float(exact)
    return total, float(exact - np.longdouble(total))


class RowMarks(NamedTuple):
    """Sums of marks over rows.

    Attributes
    ----------
    exact : int
        Sum over the rows, each as often as it counts, modulo 2^64; 0 for rows with weights.
    weighted : float
        Sum of weights times marks, these between 0 and 1; 0 for other rows.
    columns : ndarray of uint64, shape (d + 1,)
        As ``exact``, of the label and of each feature by itself.
    shares : ndarray of float64, shape (d + 1,)
        As ``weighted``.
    """

    exact: int
    weighted: float
    columns: NDArray[np.uint64]
    shares: NDArray[np.float64]


def row_marks(part: KernelRows) -> RowMarks:
    """Add up a mark of each row, by which other rows can be told from these.

    A mark is a number of 64 bits that any other value of a feature, and the other label, make
    another one. The sums depend neither on the order of rows nor on whether equal ones are merged.
    Those of single columns say which of them differ; where values are exchanged between rows they
    are the same.

    Parameters
    ----------
    part : KernelRows

    Returns
    -------
    RowMarks
    """
    d = len(part.integer_index) + len(part.real_index)
    # Odd numbers: two values of a feature never have the same product.
    factors = np.random.default_rng(0).integers(0, 2**64, d + 1, np.uint64) | np.uint64(1)
    exact, weighted = 0, []
    columns, shares = np.zeros(d + 1, np.uint64), np.zeros(d + 1)
    weighting = part.weighting
    for start in range(0, part.n_rows, _MARKED_ROWS):
        rows = slice(start, min(start + _MARKED_ROWS, part.n_rows))
        marks = np.zeros(rows.stop - rows.start, np.uint64)
        counts = part.numbers[rows].astype(np.uint64) if weighting == "numbers" else None
        for j, own in _marks_of_columns(part, rows, factors):
            marks += own
            if weighting == "weights":
                shares[j] += float(part.weights[rows] @ (own / 2.0**64))
            else:
                # As an array of one: numbers of NumPy warn where they begin anew at 2^64.
                columns[j : j + 1] += own.sum() if counts is None else (own * counts).sum()
        # Sums of marks must not be marks of sums.
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            marks = (marks ^ (marks >> np.uint64(shift))) * np.uint64(factor)
        marks ^= marks >> np.uint64(31)
        if weighting == "weights":
            weighted += (part.weights[rows] * (marks / 2.0**64)).tolist()
            continue
        if counts is not None:
            marks *= counts
        exact += int(marks.sum(dtype=np.uint64))
    return RowMarks(exact % 2**64, math.fsum(weighted), columns, shares)


def _marks_of_columns(
    part: KernelRows, rows: slice, factors: NDArray[np.uint64]
) -> Iterator[tuple[int, NDArray[np.uint64]]]:
    """Marks of the labels, at position 0, and of the values of each feature."""
    yield 0, np.where(part.labels[rows] > 0, factors[0], np.uint64(0))
    for j in range(part.n_features):
        values = part.values_of(j, rows.start, rows.stop).astype(np.float64)
        yield 1 + j, factors[1 + j] * _folded(values)


def _folded(values: _Array) -> NDArray[np.uint64]:
    """Bits of numbers, those that small integers have in the lower half as well."""
    bits = (values + 0.0).view(np.uint64)  # 0.0 and -0.0 are one
    return bits ^ (bits >> np.uint64(32))
