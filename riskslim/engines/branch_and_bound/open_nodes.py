"""Open nodes: boxes that are branched on, best bound first, or completed by tables."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim.engines.branch_and_bound.nodes import Child, Expansion, InverseScale, Node, unexpanded
from riskslim.engines.branch_and_bound.open_sets import Budget, Found, OpenSet
from riskslim.engines.branch_and_bound.passes import Steps, answered, answered_together
from riskslim.engines.branch_and_bound.workspace import (
    NOTHING_KNOWN,
    KernelNode,
    Worker,
    smallest_type,
)
from riskslim.exceptions import CertificateError

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.boxes import Boxes
    from riskslim.engines.branch_and_bound.stage import NodeEnumeration

__all__ = ["OpenNodes"]


class OpenNodes(OpenSet):
    """Nodes of a search.

    Parameters
    ----------
    box : ndarray of float64, shape (2, d + 1)
        Of the root.
    tables : NodeEnumeration
        Those that complete nodes.
    cutoff_within : callable
        Says of a box from which objective on nothing is looked for in it.

    Attributes
    ----------
    heap : list of Node
        Those with the least bounds are divided first.
    boxes : Boxes
        Set by the search once it is prepared.
    """

    boxes: Boxes

    def __init__(
        self,
        box: NDArray[np.float64],
        tables: NodeEnumeration,
        cutoff_within: Callable[[NDArray[Any]], float],
    ) -> None:
        self.heap: list[Node] = []
        self._dive: list[Node] = []
        self._order = 0
        self._box_type = smallest_type(box)
        self._tables = tables
        self._cutoff_within = cutoff_within
        self._first = 0  # node that tables complete before all others

    def __len__(self) -> int:
        return len(self.heap) + len(self._dive)

    def __iter__(self) -> Iterator[Node]:
        return iter([*self.heap, *self._dive])

    @property
    def bound(self) -> float:
        """Lower bound of all nodes; see :attr:`OpenSet.bound`."""
        return min((node.bound for node in (*self.heap[:1], *self._dive)), default=math.inf)

    @property
    def is_done(self) -> bool:
        """True if there is no node."""
        return not (self.heap or self._dive)

    @property
    def is_begun(self) -> bool:
        """True if the search dives; see :attr:`OpenSet.is_begun`."""
        return bool(self._dive)

    def prune(self, cutoff: float) -> None:
        """Forget nodes; see :meth:`OpenSet.prune`."""
        self._dive = [
            node for node in self._dive if node.bound < cutoff and not self._is_pruned(node)
        ]
        if self.heap and self.heap[0].bound >= cutoff:
            self.heap.clear()
        # Others are asked when they are due: what is known of their sets grows until then.
        while self.heap and self._is_pruned(self.heap[0]):
            heapq.heappop(self.heap)

    def _is_pruned(self, node: Node) -> bool:
        """True if a node holds nothing that is better than what is known of the same features."""
        return not node.bound < self._cutoff_within(node.box)

    def replace(self, nodes: list[Node]) -> None:
        """Open other nodes in place of those that there are.

        Parameters
        ----------
        nodes : list of Node
        """
        self.heap, self._dive = list(nodes), []
        heapq.heapify(self.heap)

    def push(
        self, child: Child, features: bytes, *, dives: bool = False, by_relaxation: bool = False
    ) -> None:
        """Open a node.

        Parameters
        ----------
        child : Child
        features : bytes
            Those that its rows need.
        dives : bool, default False
            It is divided before all others.
        by_relaxation : bool, default False
            Tables have seen it, or cannot complete it.
        """
        self._order += 1
        node = Node(
            child.bound, self._order, np.rint(child.box).astype(self._box_type),
            child.coef.astype(np.float32), float(child.coef[0]), child.multiplier, child.worth,
            features, by_relaxation, child.known,
        )  # fmt: skip
        if dives:
            self._dive.append(node)
        else:
            heapq.heappush(self.heap, node)

    def put_back(self, node: Node) -> None:
        """Open a node again.

        Parameters
        ----------
        node : Node
        """
        heapq.heappush(self.heap, node)

    def divide(self, budget: Budget) -> Iterator[Found]:
        """Expand a batch of nodes; see :meth:`OpenSet.divide`."""
        batch = self._next_batch(budget)
        if not batch:
            if self.heap and self.heap[0].bound < budget.cutoff:
                yield self._tables.begun(heapq.heappop(self.heap))
            return
        expansions = self._expanded(batch, budget)
        dives = bool(self._dive or len(self.heap) * batch[0].nbytes > budget.memory_limit)
        for node, expansion in zip(batch, expansions, strict=True):
            # The best child last: a dive takes the latest node first.
            yield Found(
                expansion.children, expansion.features,
                by_relaxation=node.by_relaxation or expansion.scanned is not None, dives=dives,
                scanned=expansion.scanned, leaf=expansion.leaf, is_node=True,
                seconds=expansion.seconds, bound=node.bound,
            )  # fmt: skip

    def _next_batch(self, budget: Budget) -> list[Node]:
        """The nodes with the best bounds, or the latest ones of a dive; none: a long one is due."""
        size = budget.size
        if self._dive:
            batch = self._dive[: -size - 1 : -1]
            del self._dive[-size:]
            return batch
        batch = []
        while self.heap and len(batch) < size and self.heap[0].bound < budget.cutoff:
            if self._tables.are_long(self.heap[0]):
                break
            node = heapq.heappop(self.heap)
            if not self._is_pruned(node):
                batch.append(node)
        return batch

    def _expanded(self, batch: list[Node], budget: Budget) -> list[Expansion]:
        lower_bound, workers = budget.lower_bound, budget.workers
        # Taken before threads begin: what is done beside them can lower them.
        cutoffs = {node.order: min(budget.cutoff, self._cutoff_within(node.box)) for node in batch}
        self._first = self._tables.first_of(batch)
        sampled = self.boxes.sampled
        passes = None if sampled is None else sampled.passes
        if passes is not None:  # what nodes ask is answered by common ones
            steps = [
                self._steps(node, workers[i % len(workers)], cutoffs[node.order], lower_bound)
                for i, node in enumerate(batch)
            ]
            return answered_together(
                steps, lambda asked: passes.answers(asked, workers[0]), budget.pool, len(workers)
            )

        def work(node: Node, worker: Worker) -> Expansion:
            return self._expand(node, worker, cutoffs[node.order], lower_bound)

        return budget.share(batch, work)

    def _expand(self, node: Node, worker: Worker, cutoff: float, lower_bound: float) -> Expansion:
        """Branch on a node and relax its children; touches nothing but the worker."""
        steps = self._steps(node, worker, cutoff, lower_bound)
        return answered(steps, lambda asked: self.boxes.answer(asked, worker))

    def _steps(
        self, node: Node, worker: Worker, cutoff: float, lower_bound: float
    ) -> Steps[Expansion]:
        """The same, for somebody who answers what is asked about all rows."""
        boxes = self.boxes
        box = node.box.astype(np.float64)
        coef = node.coef.astype(np.float64)
        coef[0] = node.intercept
        worth = np.array(node.worth)
        if boxes.is_stopped():
            return unexpanded(node, box, coef, node.bound, node.worth)
        if self._first in (0, node.order) and self._tables.are_cheap(node):
            completed = self._tables.completed(node, box, worker, cutoff, lower_bound)
            if completed is not None:
                return completed
        result = np.array([-math.inf, math.inf, node.multiplier, 0.0])
        rows, features = boxes.rows.at(box, node.features)
        part, known = KernelNode(box, coef, worth, result), node.known
        found: list[tuple[KernelNode, NDArray[np.float64]]] = []
        exact = boxes.work(rows, cutoff, lower_bound)
        if boxes.sampled is not None and boxes.sampled.is_for(rows):
            work = boxes.work(boxes.sampled.sample, cutoff, lower_bound)
            n_open, found, known = yield from boxes.sampled.expand(
                part, known, work, exact, rows, worker
            )
        else:
            n_open, parts = exact.expand(part, worker)
            found = [(one, NOTHING_KNOWN) for one in parts]
        if n_open == -3:
            least = max(node.bound, boxes.bound(result))
            worth_left = InverseScale(*worth.tolist())
            return unexpanded(node._replace(known=known), box, coef, least, worth_left)
        children = [boxes.child(node, *one) for one in found]
        if n_open == -2 and (box[0] != box[1]).any():
            raise CertificateError(
                "a node with several vectors was taken for one of a single vector"
            )
        seconds = boxes.seconds(box, rows)
        return Expansion(children, box[0] if n_open == -2 else None, features, None, seconds)
