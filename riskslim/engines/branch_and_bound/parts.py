r"""The search where rows are in parts, and all of them are not in memory.

Distinct rows of all features that can be used are put into memory where they are few: the search is
then that of :mod:`~riskslim.engines.branch_and_bound.search`, on all rows. Otherwise

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
from collections.abc import Callable
from concurrent.futures import Executor
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import nodes as kernels
from riskslim._kernels import supports as cells
from riskslim.data.store import KernelRows
from riskslim.engines.branch_and_bound.nodes import Child, Expansion, Node
from riskslim.engines.branch_and_bound.passes import Asked, SampledNodes
from riskslim.engines.branch_and_bound.rows import KEPT_BYTES, NodeRows, RowsBySupport
from riskslim.engines.branch_and_bound.search import Search
from riskslim.engines.branch_and_bound.stage import Stage
from riskslim.engines.branch_and_bound.tables import relaxation_seconds
from riskslim.engines.branch_and_bound.unions import UnionCells, UnionPlan
from riskslim.engines.branch_and_bound.workspace import Part, Worker
from riskslim.rows.base import StoppedError
from riskslim.rows.disk import ScratchFolder
from riskslim.rows.functions import MergedPart
from riskslim.rows.planes import described, pack_items

if TYPE_CHECKING:
    from riskslim.loss.logistic import LogisticLoss
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["MOST_CELLS", "InMemory", "PartsSearch", "RowsOfParts", "prepare"]

# Rows of the sample that scores are looked for on.
SAMPLE_ROWS = 2**17
# Share of the memory limit that distinct rows may take where they are all in memory. Merging has
# up to three copies of them for a moment.
MERGED_SHARE = 1.0 / 16.0
# The same of packed items; where they take more they are put into a file.
PLANES_SHARE = 0.25
# Combinations of values of a node's features up to which its rows are made of all rows.
MOST_CELLS = 2**16
# Nodes of a union of features, on average, and the share of the predicted time of unions that other
# nodes are tried for first, unless it is that of a few of these.
UNION_NODES, TRIED_SHARE, FEW_NODES = 5.0, 0.1, 25.0


class InMemory(NamedTuple):
    """The part of the rows that is in memory.

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
    rows = loss.blocks(loss.should_stop)
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
    n_sampled : int
        Rows of the sample that other nodes are relaxed on.
    should_stop : callable
        Asked between parts.

    Attributes
    ----------
    rows : NodeRows
        A row without weight: whatever is computed of it bounds nothing from above.
    """

    def __init__(self, loss: LogisticLoss, n_sampled: int, should_stop: Callable[[], bool]) -> None:
        d = loss.data.n_features
        nothing = NodeRows(
            np.zeros((1, max(d, 1)), np.int8, order="F"), np.zeros((1, max(d, 1)), order="F"),
            np.arange(d, dtype=np.int64), np.zeros(1), np.zeros(1), np.ones(d, np.bool_),
        )  # fmt: skip
        super().__init__(nothing, should_stop=should_stop)
        self._loss = loss
        self._n_sampled = n_sampled
        self._n_values = np.where(
            loss.data.is_integer, loss.data.feature_max - loss.data.feature_min + 1.0, math.inf
        )
        known = described(loss.blocks(should_stop)).values
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
        return max(MOST_CELLS, self._n_sampled)

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

    def values_of(self, j: int) -> NDArray[np.float64] | None:
        """Values of a feature that has few, None for others."""
        data = self._loss.data
        if not data.is_integer[j]:
            return None
        known = described(self._loss.blocks()).values[j]
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


def _live(box: NDArray[np.generic]) -> NDArray[np.bool_]:
    live: NDArray[np.bool_] = (box[:, 1:] != 0).any(axis=0)
    return live


class SampledParts(SampledNodes):
    """Nodes of rows in parts: relaxed on a sample wherever they have no rows of their own."""

    def is_for(self, rows: NodeRows) -> bool:
        """Say whether a node has no rows of its own; see :meth:`SampledNodes.is_for`."""
        return rows is self.rows


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
        self._wants_unions = whole is None and not self.problem.loss.store.has_weights
        if whole is None:
            self._wants_cutoffs = self._wants_elimination = False

    def _node_rows(self) -> RowsBySupport:
        if self._whole is None:
            rows = NodeRows.of(self._near.loss, self.problem.usable, self._is_stopped)
            self._sample = rows.first(self.settings.sample_rows)
            return RowsOfParts(self.problem.loss, self._sample.n_rows, self._is_stopped)
        merge = self.settings.merge_rows
        return RowsBySupport(self._whole, merge=merge, should_stop=self._is_stopped)

    def _sampled_nodes(self) -> SampledNodes | None:
        if self._whole is None:
            return SampledParts(self._rows.rows, self._sample)
        return super()._sampled_nodes()

    @property
    def _orders_twins(self) -> bool:
        return False  # columns of all rows would have to be compared

    def _price_constraints(self) -> None:
        if self._whole is not None:
            super()._price_constraints()

    def _n_rows_of(self, rows: NodeRows) -> int:
        if self._whole is None and rows is self._rows.rows:
            return self.problem.loss.n_rows
        return super()._n_rows_of(rows)

    @property
    def _rows_of_parts(self) -> RowsOfParts:
        assert isinstance(self._rows, RowsOfParts)
        return self._rows

    def _choose(self) -> None:
        """Count unions of features, if that saves time; else as :meth:`Search._choose` does."""
        is_due = self.nodes >= self._next_choice and self._stage is None
        if self._wants_unions and is_due and not self._completes_all:
            self._begin_unions()
        super()._choose()

    def _begin_unions(self) -> None:
        """Search unions of features one by one, once that is predicted to take less time."""
        boxes = np.array([root.box for root in self._roots])
        live = np.flatnonzero((boxes[:, :, 1:] != 0).any(axis=(0, 1))).tolist()
        values = [self._rows_of_parts.values_of(j) for j in live]
        few = [known for known in values if known is not None]
        size, loss = self.problem.max_size, self.problem.loss
        plan = UnionPlan.of(live, few, size, MOST_CELLS) if len(few) == len(live) else None
        if plan is None or not plan.fits(self.settings.memory_limit, loss.n_threads):
            self._wants_unions = False
            return
        of_cells = relaxation_seconds(MOST_CELLS, len(plan.features_of(plan.unions[0])))
        seconds = plan.seconds(loss.n_rows) + UNION_NODES * len(plan.unions) * of_cells
        nodes = (*self._heap, *self._dive)
        remaining = self._pace.remaining_seconds(
            self.incumbents.cutoff, (node.bound for node in nodes)
        )
        is_tried = self.seconds >= TRIED_SHARE * seconds
        is_short = seconds <= FEW_NODES * self._relaxation_seconds(self._box)
        if seconds >= remaining or not (is_tried or is_short):
            return
        self._rows_of_parts.unions = UnionCells(plan, loss.blocks(self._is_stopped))
        self.seconds += plan.seconds(loss.n_rows)
        self._wants_unions = False
        self._tables = None  # cells say the same, with fewer counts
        self._heap, self._dive = [], []
        for root, union in itertools.product(self._roots, plan.unions):
            child = self._within(root, plan.features_of(union))
            if child is not None and self._propagate(child.box):
                self._push(child, self._rows.all_features, by_relaxation=True)

    def _within(self, root: Node, features: list[int]) -> Child | None:
        """Bound a root without all but some features; None if it has nothing to offer."""
        box, coef = root.box.astype(np.float64), root.coef.astype(np.float64)
        coef[0] = root.intercept
        out = np.ones(box.shape[1], np.bool_)
        out[0] = out[[1 + j for j in features]] = False
        if (box[0, out] > 0).any() or (box[1, out] < 0).any():
            return None
        box[:, out] = 0.0
        result = np.array([root.bound - self._constant, math.inf, root.multiplier, 0.0])
        part = Part(box, coef, np.array(root.worth), result)
        if len(root.known):
            work = self._work(self._sample, self.incumbents.cutoff, self.lower_bound)
            if work.knowing(root.known).settle(part, self._workers[0]) == kernels.PRUNED:
                return None
        return self._child(root, part, root.known)

    def _expanded(self, batch: list[Node], pool: Executor) -> list[Expansion]:
        """Expand nodes side by side: what they ask is answered by common passes."""
        if self._whole is not None:
            return super()._expanded(batch, pool)
        cutoff, lower_bound, workers = self.incumbents.cutoff, self.lower_bound, self._workers
        self._choose_first(batch)
        steps = [
            self._steps(node, workers[i % len(workers)], cutoff, lower_bound)
            for i, node in enumerate(batch)
        ]
        found: dict[int, Expansion] = {}
        answers: dict[int, NDArray[np.float64] | None] = dict.fromkeys(range(len(batch)))

        def advance(first: int) -> dict[int, Asked]:
            asked = {}
            for i in range(first, len(batch), len(workers)):
                if i not in answers:
                    continue
                try:
                    asked[i] = steps[i].send(answers[i])
                except StopIteration as end:
                    found[i] = end.value
            return asked

        while answers:
            asked = {}
            for some in pool.map(advance, range(len(workers))):
                asked.update(some)
            order = sorted(asked)
            answers = dict(zip(order, self._answers([asked[i] for i in order]), strict=True))
        return [found[i] for i in range(len(batch))]

    def _answer(self, asked: Asked, worker: Worker) -> NDArray[np.float64] | None:
        if self._whole is not None:
            return super()._answer(asked, worker)
        return self._answers([asked])[0]

    def _answers(self, asked: list[Asked]) -> list[NDArray[np.float64] | None]:
        """Linearise the loss of all rows at all points, in two passes; None after a stop.

        The first one says where the intercepts are best.
        """
        if not asked:
            return []
        rows, began = self.problem.loss.blocks(self._is_stopped), perf_counter()
        together = Asked(
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
        self._workers[0].counters += (2 * b, b, 0, 0, perf_counter() - began)
        found: list[NDArray[np.float64] | None] = []
        begin = 0
        for one in asked:
            end = begin + len(one.points)
            one.points[:] = together.points[begin:end]
            found.append(one.known(sums[begin:end]))
            begin = end
        return found

    def _raise_stage(self, stage: Stage) -> None:
        if self._whole is not None:
            super()._raise_stage(stage)
