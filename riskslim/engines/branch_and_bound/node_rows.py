"""Rows as the nodes of the search read them: rows with equal features are one.

The loss of a score needs the weights of both classes and nothing else of the labels, so that rows
merge whether their labels agree or not. Where features are out of a subtree, more rows merge: rows
are kept by the set of features that they still tell apart.

Real columns lie one after the other here, not in row tiles: nodes read a few of few rows.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import nodes as kernels
from riskslim.data.distinct import may_be_few, merge_features
from riskslim.data.row_tiles import as_columns, read_column
from riskslim.data.store import KernelRows
from riskslim.data.threads import in_threads

if TYPE_CHECKING:
    from riskslim.loss.logistic import LogisticLoss
    from riskslim.problem.problem import RiskScoreProblem
    from riskslim.rows.functions import MergedPart

__all__ = ["NodeRows", "RowsBySupport", "exchangeable", "find_duplicates"]

_Value = TypeVar("_Value", bound=np.generic)

# Share of the rows that merging may leave, and of the columns that may be left when it is tried
# again. Real numbers take longer to compare, and rows that differ in them rarely merge.
WORTHWHILE = {"integer": 0.85, "real": 0.5}
FEWER_COLUMNS = {"integer": 0.8, "real": 0.5}
# Rows this few cost less than looking for equal ones among them.
FEW_ROWS = 64
# So many rows are merged where no more than this share of the first of them is left: it takes as
# long as some thirty passes over them, and with a sample a node takes few.
MANY_ROWS = 2**17  # four times HESSIAN_ROWS of the kernel
MOST_LEFT = 0.5
# Many rows of equal weights are read by their labels, in two thirds of the time per row:
# they are merged where a sample of them has as many pairs as it should if so few were distinct.
FEW_DISTINCT, FEWEST_PAIRS = 0.4, 80
# Bytes of merged rows that are kept for nodes to come.
KEPT_BYTES = 2**28


def _never() -> bool:
    return False


class _Order(NamedTuple):
    """Another order of rows, whose first ones are drawn from all.

    Attributes
    ----------
    drawn : intp array of shape (s,)
        The first s rows.
    out, free : intp arrays of shape (r,)
        Those of the first s rows that were not drawn, and the places of rows that were, where they
        go. All other rows stay where they are, which takes a fraction of the time.
    """

    drawn: NDArray[np.intp]
    out: NDArray[np.intp]
    free: NDArray[np.intp]

    @classmethod
    def drawn_of(cls, n_rows: int, n_first: int) -> _Order:
        rng = np.random.default_rng(0)
        if n_rows <= 2 * n_first:
            none = np.empty(0, np.intp)
            return cls(rng.permutation(n_rows), none, none)
        drawn = rng.choice(n_rows, n_first, replace=False)
        is_drawn = np.zeros(n_first, np.bool_)
        is_drawn[drawn[drawn < n_first]] = True
        return cls(drawn, np.flatnonzero(~is_drawn), drawn[drawn >= n_first])

    def take(self, column: NDArray[_Value], to: NDArray[_Value]) -> None:
        """Copy a column in this order."""
        first = len(self.drawn)
        to[first:] = column[first:]
        # Any mode but the default spares a pass that checks the indices.
        column.take(self.drawn, out=to[:first], mode="clip")
        to[self.free] = column[self.out]


@dataclasses.dataclass(frozen=True, eq=False)
class NodeRows:
    """Distinct rows of some features, with the weights of both classes.

    Attributes
    ----------
    integer_columns : int8 array of shape (m, d_int), Fortran order
    real_columns : float64 array of shape (m, d_real), Fortran order
        At least one column each; the kernel looks at those of ``slot`` only.
    slot : int64 array of shape (d,)
        k: integer column k; -1 - k: real column k. 0 for features without a column.
    positive, negative : float64 array of shape (m,)
        Weights of the classes; they add up to one. Rows that stand for constraints have the weights
        -w and w (:mod:`riskslim.engines.branch_and_bound.multipliers`).
    features : bool array of shape (d,)
        Features that have a column.
    n_elsewhere : int, default 0
        Rows that these stand for and that are not in memory: nothing is known of them but what
        passes over them say.
    """

    integer_columns: NDArray[np.int8]
    real_columns: NDArray[np.float64]
    slot: NDArray[np.int64]
    positive: NDArray[np.float64]
    negative: NDArray[np.float64]
    features: NDArray[np.bool_]
    n_elsewhere: int = 0

    @property
    def n_rows(self) -> int:
        """Number m of rows."""
        return len(self.positive)

    @property
    def n_read(self) -> int:
        """Rows that a pass over all that they stand for reads."""
        return self.n_elsewhere or self.n_rows

    @property
    def kind(self) -> str:
        """True if one of the columns is "real", or all are "integer"."""
        return "real" if (self.slot < 0).any() else "integer"

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return self.integer_columns.nbytes + self.real_columns.nbytes + 2 * self.positive.nbytes

    @classmethod
    def of(
        cls,
        loss: LogisticLoss,
        features: NDArray[np.bool_],
        should_stop: Callable[[], bool] = _never,
        sample_rows: int = 0,
    ) -> NodeRows:
        """Rows of a loss, with the columns of some features.

        Parameters
        ----------
        loss : LogisticLoss
        features : bool array of shape (d,)
        should_stop : callable, optional
            Asked between passes; after True rows are neither read, shuffled nor merged any more:
            nobody may look at their values.
        sample_rows : int, default 0
            See :meth:`shuffled`.

        Returns
        -------
        NodeRows
        """
        rows = loss.rows
        source = cls(
            rows.integer_columns,
            as_columns(rows.real_row_tiles, rows.n_rows, should_stop),
            rows.slots,
            *rows.weights_by_class(rows.total_weight),
            np.ones(len(features), np.bool_),
        )
        found = None
        if not features.all() or _may_merge(rows):
            found = source.merged(features, should_stop, loss.n_threads)
        if found is None and not features.all():
            found = source._taken(features, None, should_stop, loss.n_threads)
        # Columns that nobody reads do no harm.
        found = source if found is None else found
        return found.shuffled(sample_rows, should_stop, loss.n_threads)

    def shuffled(
        self,
        sample_rows: int = 0,
        should_stop: Callable[[], bool] = _never,
        n_threads: int = 1,
    ) -> NodeRows:
        """Many rows in another order; a few as they are.

        The first rows are a sample of all: second derivatives are estimated from them, and nodes
        relaxed on them. Rows that come after any sample stay where they are.

        Parameters
        ----------
        sample_rows : int, default 0
            Samples of more rows than other ones need.
        should_stop : callable, optional
            Asked between columns; after True all stays as it is.
        n_threads : int, default 1

        Returns
        -------
        NodeRows
        """
        is_wide = np.count_nonzero(self.features) > kernels.WIDE
        sampled = kernels.WIDE_ROWS if is_wide else kernels.HESSIAN_ROWS
        if self.n_rows <= sampled or should_stop():
            return self
        order = _Order.drawn_of(self.n_rows, max(sample_rows, MANY_ROWS))
        taken = self._taken(self.features, order, should_stop, n_threads)
        return self if taken is None else taken._reweighted(order, n_threads)

    @classmethod
    def of_merged(
        cls, found: MergedPart, features: NDArray[np.bool_], loss: LogisticLoss
    ) -> NodeRows:
        """Rows that were merged already.

        Parameters
        ----------
        found : MergedPart
            With the columns of the features.
        features : bool array of shape (d,)
        loss : LogisticLoss

        Returns
        -------
        NodeRows
        """
        is_integer = loss.data.is_integer
        slot = np.zeros(len(features), np.int64)
        integers, reals = features & is_integer, features & ~is_integer
        slot[integers] = np.arange(np.count_nonzero(integers))
        slot[reals] = -1 - np.arange(np.count_nonzero(reals))
        total = loss.data.total_weight
        return cls(
            _at_least_one_column(found.integer_columns),
            _at_least_one_column(found.real_columns),
            slot,
            found.positive / total,
            found.negative / total,
            features.copy(),
        )

    def _reweighted(self, order: _Order, n_threads: int) -> NodeRows:
        weights = np.empty((2, self.n_rows))

        def take(k: int) -> None:
            order.take((self.positive, self.negative)[k], weights[k])

        in_threads(take, 2, n_threads)
        return dataclasses.replace(self, positive=weights[0], negative=weights[1])

    def first(self, n: int) -> NodeRows:
        """Take the first rows, with weights that add up to what those of all do.

        Parameters
        ----------
        n : int
            Most of them.

        Returns
        -------
        NodeRows
        """
        if n >= self.n_rows:
            return self
        positive, negative = self.positive[:n], self.negative[:n]
        total = positive.sum() + negative.sum()
        share = (self.positive.sum() + self.negative.sum()) / total if total > 0 else 1.0
        return dataclasses.replace(
            self,
            integer_columns=_head(self.integer_columns, n),
            real_columns=_head(self.real_columns, n),
            positive=positive * share,
            negative=negative * share,
        )

    def followed_by(self, records: NDArray[np.float64]) -> NodeRows:
        """These rows and some more, without weight.

        Parameters
        ----------
        records : float64 array of shape (k, d)
            Whole numbers of at most 127 in absolute value where columns are integers.

        Returns
        -------
        NodeRows
        """
        index = np.flatnonzero(self.features)
        slot = self.slot[index]
        integers, reals = self.integer_columns, self.real_columns
        if (slot >= 0).any():
            more = np.zeros((len(records), integers.shape[1]), np.int8)
            more[:, slot[slot >= 0]] = records[:, index[slot >= 0]]
            integers = np.asfortranarray(np.concatenate((integers, more)))
        if (slot < 0).any():
            others = np.zeros((len(records), reals.shape[1]))
            others[:, -1 - slot[slot < 0]] = records[:, index[slot < 0]]
            reals = np.asfortranarray(np.concatenate((reals, others)))
        none = np.zeros(len(records))
        return dataclasses.replace(
            self,
            integer_columns=integers,
            real_columns=reals,
            positive=np.concatenate((self.positive, none)),
            negative=np.concatenate((self.negative, none)),
        )

    def merged(
        self,
        features: NDArray[np.bool_],
        should_stop: Callable[[], bool] = _never,
        n_threads: int = 1,
    ) -> NodeRows | None:
        """Merge rows that some features do not tell apart.

        Parameters
        ----------
        features : bool array of shape (d,)
            Among those that have a column.
        should_stop : callable, optional
            Asked between blocks of rows; True ends the work.
        n_threads : int, default 1

        Returns
        -------
        NodeRows or None
            None: too few rows are equal, or the work was to end.
        """
        if self.n_rows <= FEW_ROWS or should_stop():
            return None
        columns = self._columns(features, None, should_stop, n_threads)
        if columns is None:
            return None
        found = merge_features(
            *columns,
            self.positive,
            self.negative,
            int(WORTHWHILE[self.kind] * self.n_rows),
            should_stop,
            n_threads,
        )
        if found is None:
            return None
        first, positive, negative = found
        taken = self._taken(features, first, should_stop, n_threads)
        if taken is None:
            return None
        return dataclasses.replace(taken, positive=positive, negative=negative)

    def _columns(
        self,
        features: NDArray[np.bool_],
        index: NDArray[np.intp] | _Order | None,
        should_stop: Callable[[], bool],
        n_threads: int,
    ) -> tuple[NDArray[np.int8], NDArray[np.float64]] | None:
        slot = self.slot[features]
        integers = _chosen(self.integer_columns, slot[slot >= 0], index, should_stop, n_threads)
        reals = _chosen(self.real_columns, -1 - slot[slot < 0], index, should_stop, n_threads)
        return None if integers is None or reals is None else (integers, reals)

    def _taken(
        self,
        features: NDArray[np.bool_],
        index: NDArray[np.intp] | _Order | None,
        should_stop: Callable[[], bool] = _never,
        n_threads: int = 1,
    ) -> NodeRows | None:
        """Chosen columns of all or some rows; None if it is told to stop."""
        columns = self._columns(features, index, should_stop, n_threads)
        if columns is None:
            return None
        integers, reals = columns
        chosen = np.flatnonzero(features)
        is_integer = self.slot[chosen] >= 0
        slot = np.zeros(len(features), np.int64)
        slot[chosen[is_integer]] = np.arange(integers.shape[1])
        slot[chosen[~is_integer]] = -1 - np.arange(reals.shape[1])
        return NodeRows(
            _at_least_one_column(integers),
            _at_least_one_column(reals),
            slot,
            self.positive,
            self.negative,
            features.copy(),
        )


def _may_merge(rows: KernelRows) -> bool:
    """True if it may pay to merge rows, whatever their labels."""
    if len(rows.weights) or rows.n_rows <= MANY_ROWS:
        return True
    unlabelled = dataclasses.replace(rows, labels=np.ones(rows.n_rows, np.int8))
    return may_be_few(unlabelled, FEW_DISTINCT, FEWEST_PAIRS)


def _chosen(
    columns: NDArray[_Value],
    slots: NDArray[np.int64],
    index: NDArray[np.intp] | _Order | None,
    should_stop: Callable[[], bool],
    n_threads: int,
) -> NDArray[_Value] | None:
    """Some columns of all or some rows, copied or as they are; None if it is told to stop."""
    if index is None and np.array_equal(slots, np.arange(columns.shape[1])):
        return columns  # nobody writes into them
    n_rows = len(index) if isinstance(index, np.ndarray) else len(columns)
    chosen = np.empty((n_rows, len(slots)), columns.dtype, order="F")

    def copy(k: int) -> None:
        if should_stop():
            return
        column = columns[:, slots[k]]
        if index is None:
            chosen[:, k] = column
        elif isinstance(index, _Order):
            index.take(column, chosen[:, k])
        else:  # any mode but the default spares a pass that checks the indices
            column.take(index, out=chosen[:, k], mode="clip")

    in_threads(copy, len(slots), n_threads)
    return None if should_stop() else chosen


def _head(columns: NDArray[_Value], n: int) -> NDArray[_Value]:
    """First rows of columns; a stand-in for missing columns has one row."""
    return np.asfortranarray(columns[:n])


def _at_least_one_column(columns: NDArray[_Value]) -> NDArray[_Value]:
    if columns.shape[1]:
        return np.asfortranarray(columns)
    return np.zeros((1, 1), columns.dtype, order="F")


class RowsBySupport:
    """Rows for the features that are not out at a node, merged where that pays.

    What a node gets depends on its box and its parent's set of features alone, not on what is
    still in memory: the search is the same for any number of threads.

    Parameters
    ----------
    rows : NodeRows
        All of them.
    merge : bool
        Whether to merge rows in subtrees.
    should_stop : callable, optional
        Asked while rows are merged; after True nodes get rows that tell more features apart than
        they need.

    Attributes
    ----------
    seconds : float
        Time spent on merging, of all threads.
    """

    def __init__(
        self, rows: NodeRows, *, merge: bool = True, should_stop: Callable[[], bool] = _never
    ) -> None:
        self.rows = rows
        self.merge = merge
        self.should_stop = should_stop
        self.all_features = rows.features.tobytes()
        self.seconds = 0.0
        self._kept: OrderedDict[bytes, NodeRows] = OrderedDict()
        self._bytes = 0
        # Where many rows are equal, some of a few are: most sets of features need no look at all.
        many = rows.n_rows > MANY_ROWS
        self._first = rows.first(kernels.HESSIAN_ROWS) if merge and many else None
        self._lock = threading.Lock()

    @property
    def most_rows(self) -> int:
        """Most rows that a node can have."""
        return self.rows.n_rows

    def at(self, box: NDArray[np.float64], inherited: bytes) -> tuple[NodeRows, bytes]:
        """Rows to use at a node.

        Parameters
        ----------
        box : ndarray of shape (2, d + 1)
            Lower and upper bounds, intercept first.
        inherited : bytes
            Set of features that the parent's rows tell apart.

        Returns
        -------
        rows : NodeRows
        features : bytes
            Set of features that they tell apart, for the node's children.
        """
        live = ((box[0, 1:] != 0) | (box[1, 1:] != 0)) & self.rows.features
        before = np.frombuffer(inherited, np.bool_)
        if not self.merge or live.sum() > FEWER_COLUMNS[self.rows.kind] * before.sum():
            return self._rows(inherited), inherited
        key = live.tobytes()
        return self._rows(key), key

    def _rows(self, key: bytes) -> NodeRows:
        if key == self.all_features:
            return self.rows
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept
        began = perf_counter()
        features = np.frombuffer(key, np.bool_)
        merged = None
        if self._is_worthwhile(features):
            merged = self.rows.merged(features, self.should_stop)
        found = self.rows if merged is None else merged
        if self.should_stop():
            return found  # not to be kept: it may not be what there is to find
        with self._lock:
            self.seconds += perf_counter() - began
            if key not in self._kept:
                self._kept[key] = found
                self._bytes += 0 if merged is None else found.nbytes
            while self._bytes > KEPT_BYTES and len(self._kept) > 1:
                dropped = self._kept.popitem(last=False)[1]
                self._bytes -= 0 if dropped is self.rows else dropped.nbytes
        return found

    def _is_worthwhile(self, features: NDArray[np.bool_]) -> bool:
        """True if merging may leave few rows; of many rows the first ones decide."""
        if self._first is None:
            return True
        merged = self._first.merged(features, self.should_stop)
        return merged is not None and merged.n_rows <= MOST_LEFT * self._first.n_rows


def find_duplicates(
    loss: LogisticLoss,
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    penalty: NDArray[np.float64],
    eligible: NDArray[np.bool_],
    *,
    complements: bool,
    should_stop: Callable[[], bool] = _never,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    r"""Features whose columns are equal, or complementary, to an earlier one's.

    Points of equal columns add up, so that of two such features the later one is needed only where
    the earlier is at the end of its box: every other vector has one as good, with no more features,
    that is like this. Of complementary columns :math:`x_b = c - x_a` it is the difference of the
    points that counts, and the intercept takes up :math:`c \lambda_b`.

    Parameters
    ----------
    loss : LogisticLoss
    lower, upper : ndarray of int64, shape (d + 1,)
    penalty : ndarray of float64, shape (d + 1,)
    eligible : bool array of shape (d,)
        Features that no other requirement speaks of.
    complements : bool
        Whether the intercept is free enough for complementary columns.
    should_stop : callable, optional
        Asked between columns; after True no more of them are looked at.

    Returns
    -------
    duplicate : ndarray of int64, shape (d + 1,)
        Coefficient of the earlier feature, -1 without one.
    ends : ndarray of float64, shape (2, d + 1)
        The earlier coefficient's value if this one is positive, and if it is negative.
    """
    rows = loss.rows
    duplicate = np.full(len(lower), -1, np.int64)
    ends = np.zeros((2, len(lower)))
    groups: dict[bytes, list[tuple[int, int]]] = {}
    shapes: list[tuple[bytes, int] | None] = [None] * len(rows.integer_index)

    def look_at(k: int) -> None:
        if eligible[rows.integer_index[k]] and not should_stop():
            shapes[k] = _shape(rows.integer_columns[:, k], complements)

    in_threads(look_at, len(shapes), loss.n_threads)
    for j, found in zip(rows.integer_index.tolist(), shapes, strict=True):
        if found is not None:
            groups.setdefault(found[0], []).append((j + 1, found[1]))
    for k, j in enumerate(rows.real_index):
        if eligible[j] and not should_stop():
            column = read_column(rows.real_row_tiles, k, 0, rows.n_rows)
            groups.setdefault(_digest(column), []).append((int(j) + 1, 1))
    for members in groups.values():
        for (a, sign_a), (b, sign_b) in pairwise(members):
            same = sign_a == sign_b
            low, high = (lower[a], upper[a]) if same else (-upper[a], -lower[a])
            contains = low <= lower[b] <= 0 <= upper[b] <= high
            if contains and penalty[a] <= penalty[b]:
                duplicate[b] = a
                ends[:, b] = (upper[a], lower[a]) if same else (lower[a], upper[a])
    return duplicate, ends


def _shape(column: NDArray[np.int8], complements: bool) -> tuple[bytes, int]:
    """Return what equal (and complementary) columns share, and the sign that sets them apart."""
    if not complements:
        return _digest(column), 1
    steps = column.astype(np.int16) - column[0]
    first = steps[np.argmax(steps != 0)]
    sign = -1 if first < 0 else 1
    return _digest(sign * steps), sign


def _digest(column: NDArray[Any]) -> bytes:
    """Equal for equal columns only: columns of millions of rows are not kept to compare them."""
    return sha256(column.tobytes()).digest()


def exchangeable(problem: RiskScoreProblem) -> NDArray[np.bool_]:
    """Find the features that can be exchanged for one that says the same.

    Parameters
    ----------
    problem : RiskScoreProblem

    Returns
    -------
    bool array of shape (d,)
    """
    constraints = problem.constraint_rows
    if constraints is None:
        return problem.usable
    involved = np.zeros(problem.n_features, np.bool_)
    for terms in (constraints.points[:, 1:], constraints.used):
        involved |= (terms != 0).any(axis=0)
    for group in constraints.groups:
        involved[group] = True
    for _, j, _ in constraints.allowed_points:
        involved[j - 1] = True
    if (constraints.points[:, 0] != 0).any():
        involved[:] = True  # an exchange may move the intercept
    return problem.usable & ~involved
