r"""Rows of a search, wherever those of the problem are.

Rows in memory are those of :mod:`~riskslim.engines.branch_and_bound.node_rows`. Of rows in parts
the distinct ones of all features that can be used are put into memory where they are few: the
search is then the same. Otherwise

* scores are looked for on a sample, and evaluated on all rows;
* nodes are relaxed on a sample, and bounded by linearisations of the loss of all rows
  (:mod:`~riskslim.engines.branch_and_bound.passes`): one pass over the parts answers what all nodes
  of a batch ask;
* tables of supports look at all sets of items by counts of all rows;
* nodes of few items have the combinations of their values as rows, with the weights of all rows
  that have them.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import supports as cells
from riskslim.data.store import KernelRows
from riskslim.engines.branch_and_bound import costs
from riskslim.engines.branch_and_bound.node_rows import KEPT_BYTES, NodeRows, RowsBySupport
from riskslim.engines.branch_and_bound.passes import LinearisationPoints, SampledNodes
from riskslim.engines.branch_and_bound.unions import UnionCells, UnionPlan
from riskslim.engines.branch_and_bound.workspace import KernelNode
from riskslim.rows.base import StoppedError
from riskslim.rows.bit_planes import described, pack_items
from riskslim.rows.disk import ScratchFolder
from riskslim.rows.functions import MergedPart

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.nodes import Node
    from riskslim.engines.branch_and_bound.workspace import Worker
    from riskslim.engines.settings import BranchAndBoundSettings
    from riskslim.loss.logistic import LogisticLoss
    from riskslim.problem.problem import RiskScoreProblem

__all__ = [
    "ALL_IN_MEMORY",
    "MOST_CELLS",
    "RowsOfParts",
    "SearchRows",
    "Unions",
    "prepare",
    "roots_within",
    "sampled_nodes",
]

# Rows of the sample that scores are looked for on.
SAMPLE_ROWS = 2**17
# Share of the memory limit that distinct rows may take where they are all in memory. Merging has
# up to three copies of them for a moment.
MERGED_SHARE = 1.0 / 16.0
# The same of packed items; where they take more they are put into a file.
PLANES_SHARE = 0.25
# Combinations of values of a node's features up to which its rows are made of all rows.
MOST_CELLS = 2**16
# Share of the predicted time of unions that other nodes are tried for first, unless it is that of a
# few of these.
TRIED_SHARE, FEW_NODES = 0.1, 25.0


class SearchRows(NamedTuple):
    """Part of the rows that a search has in memory.

    Parameters
    ----------
    sample : KernelRows or None
        Rows that scores are looked for on; None: all, which are in memory.
    whole : NodeRows or None
        The distinct rows of the features that can be used, of rows in parts; None if they are too
        many.
    """

    sample: KernelRows | None = None
    whole: NodeRows | None = None

    def near(self, problem: RiskScoreProblem) -> RiskScoreProblem | None:
        """The same problem on the sample: objectives are estimates.

        Parameters
        ----------
        problem : RiskScoreProblem

        Returns
        -------
        RiskScoreProblem or None
            None: all rows are in memory.
        """
        if self.sample is None:
            return None
        near = copy.copy(problem)
        near.loss = problem.loss.on_rows(self.sample)
        return near

    def of_nodes(
        self,
        problem: RiskScoreProblem,
        settings: BranchAndBoundSettings,
        should_stop: Callable[[], bool],
    ) -> RowsBySupport:
        """Rows for the nodes of a search.

        Parameters
        ----------
        problem : RiskScoreProblem
        settings : BranchAndBoundSettings
        should_stop : callable

        Returns
        -------
        RowsBySupport
        """
        near, whole, n = self.near(problem), self.whole, settings.sample_rows
        if near is not None and whole is None:
            sample = NodeRows.of(near.loss, problem.usable, should_stop).first(n)
            return RowsOfParts(problem.loss, sample, should_stop)
        rows = NodeRows.of(problem.loss, problem.usable, should_stop, n) if whole is None else whole
        return RowsBySupport(rows, merge=settings.merge_rows, should_stop=should_stop)


# Nothing else is to be known of rows in memory.
ALL_IN_MEMORY = SearchRows()


def sampled_nodes(rows: RowsBySupport, n: int) -> SampledNodes | None:
    """Nodes that are relaxed on a sample, where there are so many rows that this pays.

    Parameters
    ----------
    rows : RowsBySupport
    n : int
        Rows of a sample.

    Returns
    -------
    SampledNodes or None
    """
    if isinstance(rows, RowsOfParts):
        return SampledNodes(rows.rows, rows.sample, rows)
    return SampledNodes.of(rows.rows, n)


def prepare(
    problem: RiskScoreProblem, memory: float, should_stop: Callable[[], bool] | None = None
) -> SearchRows:
    """Put into memory what of the rows there is room for.

    Items of rows in parts are packed (into the loss), in memory or in a file of the folder that
    rows of files were given for scratch files, else of the system's temporary one.

    Parameters
    ----------
    problem : RiskScoreProblem
    memory : float
        Bytes that the search may take.
    should_stop : callable, optional
        Asked between parts, now and by all passes of the loss to come.

    Returns
    -------
    SearchRows
    """
    loss = problem.loss
    if loss.store.is_block:
        return ALL_IN_MEMORY
    loss.should_stop = should_stop
    rows, usable = loss.blocks(should_stop), problem.usable
    how = loss.n_threads, should_stop
    n_reals = int(np.count_nonzero(usable & ~loss.data.is_integer))
    of_row = int(usable.sum()) + 7 * n_reals + 16
    merged = rows.merged(usable, int(MERGED_SHARE * memory / of_row))
    if loss.packed is None:
        n_planes = sum(
            0 if values is None else len(values) - 1
            for j, values in enumerate(described(rows, *how).values)
            if usable[j]
        )
        if n_planes * rows.n_rows / 8 <= PLANES_SHARE * memory:
            loss.packed = pack_items(rows, usable, *how)
        else:
            files = loss.data.files
            with ScratchFolder(None if files is None else files.scratch) as folder:
                loss.packed = pack_items(rows, usable, *how, folder.path)
    whole = None if merged is None else NodeRows.of_merged(merged, usable, loss).shuffled()
    sample = rows.sample(SAMPLE_ROWS, 0)
    if not sample.total_weight > 0.0:  # for an estimate any weights do
        n = sample.n_rows
        sample = dataclasses.replace(sample, weights=np.ones(n), total_weight=float(n))
    return SearchRows(sample, whole)


class RowsOfParts(RowsBySupport):
    """Rows of nodes with few features, made of all rows.

    Parameters
    ----------
    loss : LogisticLoss
        Of rows in parts.
    sample : NodeRows
        That other nodes are relaxed on.
    should_stop : callable
        Asked between parts.

    Attributes
    ----------
    rows : NodeRows
        A row without weight: whatever is computed of it bounds nothing from above.
    sample : NodeRows
    """

    def __init__(
        self, loss: LogisticLoss, sample: NodeRows, should_stop: Callable[[], bool]
    ) -> None:
        d = loss.data.n_features
        nothing = NodeRows(
            np.zeros((1, max(d, 1)), np.int8, order="F"), np.zeros((1, max(d, 1)), order="F"),
            np.arange(d, dtype=np.int64), np.zeros(1), np.zeros(1), np.ones(d, np.bool_),
            loss.n_rows,
        )  # fmt: skip
        super().__init__(nothing, should_stop=should_stop)
        self._loss = loss
        self.sample = sample
        self._n_values = np.where(
            loss.data.is_integer, loss.data.feature_max - loss.data.feature_min + 1.0, math.inf
        )
        known = described(loss.store, loss.n_threads, should_stop).values
        for j, values in enumerate(known):
            if values is not None:
                self._n_values[j] = len(values)
        # Counts of bits are whole numbers: weights that are none are summed from the rows.
        self._packed = None if loss.store.has_weights else loss.packed
        self.unions: UnionCells | None = None
        self._item: dict[int, int] = {}
        if self._packed is not None:
            self._item = {int(j): i for i, j in enumerate(self._packed.features.tolist())}

    @property
    def most_rows(self) -> int:
        """Most rows that a node can have."""
        return max(MOST_CELLS, self.sample.n_rows)

    def can_have(self, box: NDArray[np.generic]) -> bool:
        """True if the features of a box have few combinations of values.

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

    def values_of(self, j: int) -> NDArray[np.float64] | None:
        """Values of a feature that has few, None for others."""
        data = self._loss.data
        if not data.is_integer[j]:
            return None
        known = described(self._loss.store).values[j]
        if known is not None:
            return known
        least, most = data.feature_min[j], data.feature_max[j]
        return np.arange(least, most + 1.0)

    def _made(self, live: NDArray[np.bool_]) -> NodeRows:
        merged = None
        if self.unions is not None:
            merged = self.unions.merged(np.flatnonzero(live).tolist())
        if merged is None:
            merged = self._from_cells(live)
        if merged is None:
            merged = self._loss.blocks(self.should_stop).merged(live, MOST_CELLS)
            assert merged is not None
        return NodeRows.of_merged(merged, live, self._loss).shuffled()

    def _from_cells(self, live: NDArray[np.bool_]) -> MergedPart | None:
        """Combinations of values of packed items, counted by bits; None if some is not packed."""
        packed, features = self._packed, np.flatnonzero(live).tolist()
        if packed is None or not all(j in self._item for j in features):
            return None
        items = tuple(self._item[j] for j in features)
        if len(packed.planes_of(items)) > cells.most_planes():
            return None
        found = packed.cells(items, self._loss.n_threads)
        numbers = np.rint(found.weights * self._loss.data.total_weight)
        columns = np.asfortranarray(found.x[1:].T.astype(np.int8))
        return MergedPart(columns, np.zeros((len(columns), 0)), numbers[1], numbers[0])

    def answers(
        self, asked: list[LinearisationPoints], worker: Worker
    ) -> list[NDArray[np.float64] | None]:
        """Linearise the loss of all rows at all points, in two passes.

        The first one says where the intercepts are best.

        Parameters
        ----------
        asked : list of LinearisationPoints
        worker : Worker
            Whose counters say what it took.

        Returns
        -------
        list of ndarray of float64 or None
            What is known at the points of each; None after a stop.
        """
        if not asked:
            return []
        rows, began = self._loss.blocks(self.should_stop), perf_counter()
        together = LinearisationPoints(
            asked[0].rows,
            np.concatenate([one.points for one in asked]),
            np.concatenate([one.reach for one in asked]),
            np.max([one.wanted for one in asked], axis=0),
        )
        try:
            together.move_intercepts(rows.slope_derivatives(together.points, together.wanted))
            sums = rows.linearisations(together.points, together.wanted)
        except StoppedError:
            return [None] * len(asked)
        b = len(together.points)
        worker.counters += (2 * b, b, 0, 0, perf_counter() - began)
        found: list[NDArray[np.float64] | None] = []
        begin = 0
        for one in asked:
            end = begin + len(one.points)
            one.points[:] = together.points[begin:end]
            found.append(one.known(sums[begin:end]))
            begin = end
        return found


def _live(box: NDArray[np.generic]) -> NDArray[np.bool_]:
    live: NDArray[np.bool_] = (box[:, 1:] != 0).any(axis=0)
    return live


class Unions:
    """Supports divided by unions of features whose cells are counted together.

    Parameters
    ----------
    problem : RiskScoreProblem
    rows : RowsOfParts
        Without weights.
    memory : float
        Bytes that the search may take.

    Attributes
    ----------
    are_possible : bool
        Whether there is such a division, and room for its counts.
    """

    def __init__(self, problem: RiskScoreProblem, rows: RowsOfParts, memory: float) -> None:
        self._problem = problem
        self._rows = rows
        self._memory = memory
        self.are_possible = True

    @classmethod
    def of(cls, problem: RiskScoreProblem, rows: RowsBySupport, memory: float) -> Unions | None:
        """Unions of rows that are not in memory, None of others.

        Parameters
        ----------
        problem : RiskScoreProblem
        rows : RowsBySupport
        memory : float

        Returns
        -------
        Unions or None
        """
        if not isinstance(rows, RowsOfParts) or problem.loss.store.has_weights:
            return None
        return cls(problem, rows, memory)

    def plan(
        self, roots: list[Node], spent: float, remaining: float, of_node: float
    ) -> UnionPlan | None:
        """Unions of the features of roots, once they are predicted to take less time.

        Parameters
        ----------
        roots : list of Node
        spent, remaining : float
            Predicted time of the search so far, and of its rest.
        of_node : float
            Of a node that reads all rows.

        Returns
        -------
        UnionPlan or None
        """
        boxes = np.array([root.box for root in roots])
        live = np.flatnonzero((boxes[:, :, 1:] != 0).any(axis=(0, 1))).tolist()
        values = [self._rows.values_of(j) for j in live]
        few = [known for known in values if known is not None]
        size, loss = self._problem.max_size, self._problem.loss
        plan = UnionPlan.of(live, few, size, MOST_CELLS) if len(few) == len(live) else None
        if plan is None or not plan.fits(self._memory, loss.n_threads):
            self.are_possible = False
            return None
        n_live = len(plan.features_of(plan.unions[0]))
        seconds = costs.unions(loss.n_rows, len(plan.unions), MOST_CELLS, n_live)
        is_tried = spent >= TRIED_SHARE * seconds
        is_short = seconds <= FEW_NODES * of_node
        return plan if seconds < remaining and (is_tried or is_short) else None

    def count(self, plan: UnionPlan) -> float:
        """Count the cells, in a pass: rows of nodes are made of them.

        Parameters
        ----------
        plan : UnionPlan

        Returns
        -------
        float
            Predicted time of that.
        """
        loss = self._problem.loss
        self._rows.unions = UnionCells(plan, loss.blocks(self._rows.should_stop))
        return costs.union_counts(loss.n_rows, len(plan.unions))


def roots_within(
    plan: UnionPlan, roots: list[Node], constant: float
) -> Iterator[tuple[Node, KernelNode]]:
    """Yield the roots with the features of each union alone, where they do not need others.

    Parameters
    ----------
    plan : UnionPlan
    roots : list of Node
    constant : float
        What the kernel's bounds lack.

    Yields
    ------
    root : Node
    part : KernelNode
        With the root's bound.
    """
    for root, union in itertools.product(roots, plan.unions):
        part = _within(root, plan.features_of(union), constant)
        if part is not None:
            yield root, part


def _within(root: Node, features: list[int], constant: float) -> KernelNode | None:
    box, coef = root.box.astype(np.float64), root.coef.astype(np.float64)
    coef[0] = root.intercept
    out = np.ones(box.shape[1], np.bool_)
    out[0] = out[[1 + j for j in features]] = False
    if (box[0, out] > 0).any() or (box[1, out] < 0).any():
        return None
    box[:, out] = 0.0
    result = np.array([root.bound - constant, math.inf, root.multiplier, 0.0])
    return KernelNode(box, coef, np.array(root.worth), result)
