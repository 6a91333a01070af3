r"""The search where rows are in parts, and all of them are not in memory.

Distinct rows of all features that can be used are put into memory where they are few: the search is
then that of :mod:`~riskslim.engines.branch_and_bound.search`, on all rows. Otherwise

* scores are looked for on a sample, and evaluated on all rows;
* the root is bounded by a linearisation of the loss at the solution of the sample's relaxation,
  with value and gradient from all rows: it lies below the loss everywhere, wherever it touches it;
* tables of supports look at all sets of items by counts of all rows;
* the supports that they leave have few items: the rows of a node are the combinations of their
  values, with the weights of all rows that have them.

What none of this reaches stays open, and the certificate says so.
"""

from __future__ import annotations

import copy
import dataclasses
import heapq
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import nodes as kernels
from riskslim._kernels import supports as cells
from riskslim.data.distinct import KernelRows
from riskslim.engines.branch_and_bound.nodes import Child, Expansion, Node, Worth, unexpanded
from riskslim.engines.branch_and_bound.rows import KEPT_BYTES, NodeRows, RowsBySupport
from riskslim.engines.branch_and_bound.search import (
    MULTIPLIER_TOLERANCE,
    ROOT_STEPS,
    Search,
)
from riskslim.engines.branch_and_bound.stage import Stage
from riskslim.engines.branch_and_bound.workspace import Worker
from riskslim.rows.disk import ScratchFolder
from riskslim.rows.functions import MergedPart
from riskslim.rows.planes import described, pack_items

if TYPE_CHECKING:
    from riskslim.loss.logistic import LogisticLoss
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["MOST_CELLS", "InMemory", "PartsSearch", "RowsOfParts", "cut_bound", "prepare"]

# Rows of the sample that scores are looked for on.
SAMPLE_ROWS = 2**17
# Share of the memory limit that distinct rows may take where they are all in memory. Merging has
# up to three copies of them for a moment.
MERGED_SHARE = 1.0 / 16.0
# The same of packed items; where they take more they are put into a file.
PLANES_SHARE = 0.25
# Combinations of values of a node's features up to which its rows are made of all rows.
MOST_CELLS = 2**16
# What rounding may have changed in a gradient, relative to the largest values of the features.
GRADIENT_ERROR = 1e-11


class InMemory(NamedTuple):
    """What of the rows is in memory.

    Parameters
    ----------
    sample : KernelRows
    whole : NodeRows or None
        The distinct rows of the features that can be used; None if they are too many.
    """

    sample: KernelRows
    whole: NodeRows | None

    def near(self, problem: RiskScoreProblem) -> RiskScoreProblem:
        """The same problem on the sample: objectives are estimates.

        Parameters
        ----------
        problem : RiskScoreProblem

        Returns
        -------
        RiskScoreProblem
        """
        near = copy.copy(problem)
        near.loss = problem.loss.on_rows(self.sample)
        return near


def cut_bound(
    problem: RiskScoreProblem,
    box: NDArray[np.float64],
    point: NDArray[np.float64],
    value: float,
    gradient: NDArray[np.float64],
) -> float:
    """Bound the objectives of a box by a linearisation of the loss.

    Parameters
    ----------
    problem : RiskScoreProblem
    box : ndarray of float64, shape (2, d + 1)
        Whole numbers.
    point : ndarray of float64, shape (d + 1,)
        Where the loss was linearised; anywhere.
    value : float
    gradient : ndarray of float64, shape (d + 1,)

    Returns
    -------
    float
        At most the objective of each vector of the box with a permitted size, and at least 0.
    """
    data = problem.loss.data
    largest = np.concatenate(
        ([1.0], np.maximum(np.abs(data.feature_min), np.abs(data.feature_max)))
    )
    low, high = box
    reach = np.maximum(np.abs(low - point), np.abs(high - point))
    error = float(((np.abs(gradient) * 1e-12 + GRADIENT_ERROR * largest) * reach).sum())
    least = np.minimum(gradient * low, gradient * high)
    price = problem.l0_penalty + least[1:]
    required = (low[1:] > 0) | (high[1:] < 0)
    used = price[required].sum()
    free = np.sort(price[~required])
    n_in = int(required.sum())
    most, fewest = max(problem.max_size - n_in, 0), max(problem.min_size - n_in, 0)
    chosen = free[: min(most, max(int(np.searchsorted(free, 0.0)), fewest))]
    constant = value - math.fsum(gradient * point)
    found = math.fsum((constant, least[0], used, *chosen.tolist()))
    size = abs(value) + float(np.abs(gradient * point).sum() + np.abs(least).sum())
    return max(found - error - 1e-12 * size, 0.0)


def prepare(problem: RiskScoreProblem, memory: float) -> InMemory:
    """Put into memory what of the rows there is room for.

    Items are packed (into the loss), in memory or in a file of the system's temporary folder.

    Parameters
    ----------
    problem : RiskScoreProblem
    memory : float
        Bytes that the search may take.

    Returns
    -------
    InMemory
    """
    loss = problem.loss
    assert loss.parts is not None
    rows = loss.parts.used_by(loss.n_threads, loss.should_stop)
    usable = problem.usable
    n_reals = int(np.count_nonzero(usable & ~loss.data.is_integer))
    of_row = int(usable.sum()) + 7 * n_reals + 16
    merged = rows.merged(usable, int(MERGED_SHARE * memory / of_row))
    if loss.packed is None:
        n_planes = sum(
            0 if values is None else len(values) - 1
            for j, values in enumerate(described(rows).values)
            if usable[j]
        )
        if n_planes * rows.n_rows / 8 <= PLANES_SHARE * memory:
            loss.packed = pack_items(rows, usable)
        else:
            with ScratchFolder() as folder:
                loss.packed = pack_items(rows, usable, folder.path)
    whole = None if merged is None else NodeRows.of_merged(merged, usable, loss).shuffled()
    sample = rows.sample(SAMPLE_ROWS, 0)
    if not sample.total_weight > 0.0:  # for an estimate any weights do
        n = sample.n_rows
        sample = dataclasses.replace(sample, weights=np.ones(n), total_weight=float(n))
    return InMemory(sample, whole)


class RowsOfParts(RowsBySupport):
    """Rows of nodes with few features, made of all rows.

    Parameters
    ----------
    loss : LogisticLoss
        Of rows in parts.
    should_stop : callable
        Asked between parts.

    Attributes
    ----------
    rows : NodeRows
        A row without weight: whatever is computed of it bounds nothing from above.
    """

    def __init__(self, loss: LogisticLoss, should_stop: Callable[[], bool]) -> None:
        d = loss.data.n_features
        nothing = NodeRows(
            np.zeros((1, max(d, 1)), np.int8, order="F"), np.zeros((1, max(d, 1)), order="F"),
            np.arange(d, dtype=np.int64), np.zeros(1), np.zeros(1), np.ones(d, np.bool_),
        )  # fmt: skip
        super().__init__(nothing, should_stop=should_stop)
        self._loss = loss
        assert loss.parts is not None
        self._n_values = np.where(
            loss.data.is_integer, loss.data.feature_max - loss.data.feature_min + 1.0, math.inf
        )
        known = described(loss.parts.used_by(loss.n_threads, should_stop)).values
        for j, values in enumerate(known):
            if values is not None:
                self._n_values[j] = len(values)
        packed = loss.packed
        self._item: dict[int, int] = {}
        if packed is not None and not loss.parts.has_weights:
            self._item = {int(j): i for i, j in enumerate(packed.features.tolist())}

    @property
    def most_rows(self) -> int:
        """Most rows that a node can have."""
        return MOST_CELLS

    def can_have(self, box: NDArray[np.generic]) -> bool:
        """Say whether the features of a box have few combinations of values.

        Parameters
        ----------
        box : ndarray of shape (2, d + 1)

        Returns
        -------
        bool
        """
        return bool(self._n_values[_live(box)].prod() <= MOST_CELLS)

    def at(self, box: NDArray[np.float64], inherited: bytes) -> tuple[NodeRows, bytes]:
        """Rows to use at a node; see :meth:`RowsBySupport.at`."""
        live = _live(box)
        if not self.can_have(box):
            return self.rows, self.all_features
        key = live.tobytes()
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                found = self._kept[key] = self._made(live)
                self._bytes += found.nbytes
                while self._bytes > KEPT_BYTES and len(self._kept) > 1:
                    self._bytes -= self._kept.popitem(last=False)[1].nbytes
        return found, key

    def _made(self, live: NDArray[np.bool_]) -> NodeRows:
        merged = self._from_cells(live)
        if merged is None:
            loss = self._loss
            assert loss.parts is not None
            rows = loss.parts.used_by(loss.n_threads, self.should_stop)
            merged = rows.merged(live, MOST_CELLS)
            assert merged is not None
        return NodeRows.of_merged(merged, live, self._loss)

    def _from_cells(self, live: NDArray[np.bool_]) -> MergedPart | None:
        """Combinations of values of packed items, counted by bits; None if some is not packed."""
        packed, features = self._loss.packed, np.flatnonzero(live).tolist()
        if packed is None or not all(j in self._item for j in features):
            return None
        items = tuple(self._item[j] for j in features)
        if len(packed.planes_of(items)) > cells.most_planes():
            return None
        found = packed.cells(items)
        numbers = np.rint(found.weights * self._loss.data.total_weight)
        columns = np.asfortranarray(found.x[1:].T.astype(np.int8))
        return MergedPart(columns, np.zeros((len(columns), 0)), numbers[1], numbers[0])


def _live(box: NDArray[np.generic]) -> NDArray[np.bool_]:
    live: NDArray[np.bool_] = (box[:, 1:] != 0).any(axis=0)
    return live


class PartsSearch(Search):
    """A search on rows in parts; see the module.

    Parameters
    ----------
    near : RiskScoreProblem
        The problem on a sample, on which the incumbents look for scores.
    whole : NodeRows or None
        The distinct rows of all features that can be used, where they are few.
    *arguments
        As :class:`Search` has them.
    """

    def __init__(self, near: RiskScoreProblem, whole: NodeRows | None, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._near = near
        self._whole = whole
        self._too_many: set[bytes] = set()
        if whole is None:
            self._wants_cutoffs = False

    def _node_rows(self) -> RowsBySupport:
        if self._whole is None:
            return RowsOfParts(self.problem.loss, self._is_stopped)
        merge = self.settings.merge_rows
        return RowsBySupport(self._whole, merge=merge, should_stop=self._is_stopped)

    @property
    def _orders_twins(self) -> bool:
        return False  # columns of all rows would have to be compared

    def _price_constraints(self) -> None:
        if self._whole is not None:
            super()._price_constraints()

    def _solved_root(self, low: float, high: float) -> Child | None:
        """Bound the root by a linearisation at the solution of the sample's relaxation."""
        if self._whole is not None:
            return super()._solved_root(low, high)
        box, coef = self._box.copy(), np.zeros(self._box.shape[1])
        if not self._propagate(box):
            return None
        nearest = min(max(1.0, low), high)
        worth = np.array([nearest, low, high])
        result = np.array([-math.inf, math.inf, 0.0, 0.0])
        rows = NodeRows.of(self._near.loss, self.problem.usable, self._is_stopped)
        worker = Worker(rows.n_rows, len(coef))
        kernels.solve_root(
            *self._arguments(rows, math.inf, MULTIPLIER_TOLERANCE), ROOT_STEPS, box.copy(), coef,
            worth, result, self.stop, worker.counters, worker.work, worker.index,
        )  # fmt: skip
        self.incumbents.round(coef, 1.0 / worth[0])
        bound = 0.0
        if low == high:
            loss = self.problem.loss
            # 1 / (1 / m) can lie next to m.
            scale = min(max(1.0 / low, loss.scales.low), loss.scales.high)
            scaled = loss if loss.scale == scale else loss.at_scale(scale)
            value, gradient = scaled.value_and_gradient(coef)
            bound = cut_bound(self.problem, box, coef, value, gradient)
        return Child(bound, box, coef, 0.0, Worth(nearest, low, high))

    def _choose(self) -> None:
        """Complete all nodes by tables where that is possible: there is no other way."""
        if self._whole is not None:
            super()._choose()
        elif self._tables is not None and math.isfinite(self.incumbents.cutoff):
            self._completes_all = True

    def _next_batch(self) -> list[Node]:
        if self._whole is not None:
            return super()._next_batch()
        for nodes in (self._heap, self._dive):
            out = [node for node in nodes if not self._can_work_on(node)]
            if out:
                self._aside += out
                nodes[:] = [node for node in nodes if self._can_work_on(node)]
        heapq.heapify(self._heap)
        return super()._next_batch()

    @property
    def _rows_of_parts(self) -> RowsOfParts:
        assert isinstance(self._rows, RowsOfParts)
        return self._rows

    def _can_work_on(self, node: Node) -> bool:
        """Whether tables or rows of few features are there for a node."""
        if self._rows_of_parts.can_have(node.box):
            return True
        if node.by_relaxation or self._tables is None or not self._completes_all:
            return False
        if node.box.tobytes() in self._too_many:
            return False
        return math.isfinite(self._tables.predicted_seconds(node.box))

    def _expand(self, node: Node, worker: Worker, cutoff: float, lower_bound: float) -> Expansion:
        """Branch on a node, or complete it by tables; see :meth:`Search._expand`."""
        if self._whole is not None or self._rows_of_parts.can_have(node.box) or self.stop[0]:
            return super()._expand(node, worker, cutoff, lower_bound)
        box, coef = node.box.astype(np.float64), node.coef.astype(np.float64)
        completed = self._completed(node, box, worker, cutoff, lower_bound)
        if completed is not None:
            return completed
        if not self.stop[0]:  # too many supports are left
            self._too_many.add(node.box.tobytes())
        coef[0] = node.intercept
        return unexpanded(node, box, coef, node.bound, node.worth)

    def _raise_stage(self, stage: Stage) -> None:
        if self._whole is not None:
            super()._raise_stage(stage)
