"""Nodes that are completed by tables: at once, or in several steps where supports are many."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim.engines.branch_and_bound.nodes import Child, Expansion, Node
from riskslim.engines.branch_and_bound.open_sets import Budget, Found, OpenSet
from riskslim.engines.branch_and_bound.support_enumeration import (
    TASK_SECONDS,
    Completion,
    EnumerationCounts,
    Scanned,
    SupportEnumeration,
    Task,
)
from riskslim.engines.branch_and_bound.workspace import Worker

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.boxes import Boxes
    from riskslim.engines.branch_and_bound.incumbents import Incumbents

__all__ = ["RELAXATIONS", "NodeEnumeration", "Stage", "cheaper"]

# Tables complete a node if they take no longer than so many relaxations: of a scale, an interval.
RELAXATIONS, RELAXATIONS_OVER_INTERVAL = 3.0, 1.0
# Predicted time of a node's tables from which on threads share them.
LONG_SECONDS = 0.2
# With a ridge penalty, share of the predicted time of the roots from which on these are taken, not
# open nodes: their rising bound ends them early, and supports of several nodes come once.
RIDGE_SHARE = 0.5


class NodeEnumeration:
    """Tables that complete nodes.

    Parameters
    ----------
    tables : SupportEnumeration or None
        None: they are not used.
    completes_all : bool
        They complete every node that they can.
    counts : EnumerationCounts
    incumbents : Incumbents

    Attributes
    ----------
    tables : SupportEnumeration or None
    completes_all : bool
    boxes : Boxes
        Set by the search once it is prepared.
    """

    boxes: Boxes

    def __init__(
        self,
        tables: SupportEnumeration | None,
        counts: EnumerationCounts,
        incumbents: Incumbents,
        *,
        completes_all: bool,
    ) -> None:
        self.tables, self.completes_all = tables, completes_all
        self._counts, self._incumbents = counts, incumbents

    @property
    def can_exclude(self) -> bool:
        """True if tables may exclude supports: by the cutoff, or by shares they cannot have."""
        return math.isfinite(self._incumbents.cutoff) or (
            self.tables is not None and self.tables.is_limited_by_shares
        )

    def are_cheap(self, node: Node) -> bool:
        """True if a node is completed rather than branched on.

        Parameters
        ----------
        node : Node

        Returns
        -------
        bool
        """
        if self.tables is None or node.by_relaxation or not self.can_exclude:
            return False
        box = node.box.astype(np.float64)
        seconds = self.tables.predicted_seconds(box, is_part=True)
        most = RELAXATIONS if node.worth.low == node.worth.high else RELAXATIONS_OVER_INTERVAL
        if self.completes_all or seconds > most * self.boxes.seconds(box):
            return self.completes_all
        # Rows are merged for it only where that decides: most likely they are needed.
        rows, _ = self.boxes.rows.at(box, node.features)
        return seconds <= most * self.boxes.seconds(box, rows)

    def first_of(self, batch: list[Node]) -> int:
        """Order of the node that is completed alone, 0 where there is none.

        What boxes of supports cost is not known before the first node.

        Parameters
        ----------
        batch : list of Node

        Returns
        -------
        int
        """
        cheap = (node.order for node in batch if self.are_cheap(node))
        return 0 if self.completes_all or self._counts.supports else next(cheap, 0)

    def completed(
        self,
        node: Node,
        box: NDArray[np.float64],
        worker: Worker,
        cutoff: float,
        lower_bound: float,
    ) -> Expansion | None:
        """Look at every support of a node.

        Parameters
        ----------
        node : Node
        box : ndarray of float64, shape (2, d + 1)
            Its box.
        worker : Worker
        cutoff, lower_bound : float
            Of the search.

        Returns
        -------
        Expansion or None
            What is left of it; None if they cannot.
        """
        assert self.tables is not None
        completion = self.tables.completion(box, node.worth.low, node.worth.high)
        if completion is None:
            return None
        scanned = completion.scan(completion.whole(), cutoff, self.boxes.stop)
        if scanned is None:
            return None
        children = self.boxes.supported(node, box, scanned, worker, cutoff, lower_bound)
        seconds = self.tables.predicted_seconds(box, is_part=True)
        return Expansion(children, None, node.features, scanned, seconds)

    def are_long(self, node: Node) -> bool:
        """True if a node is completed, and has so many supports that threads should share them.

        Parameters
        ----------
        node : Node

        Returns
        -------
        bool
        """
        if not self.completes_all or self.tables is None or node.by_relaxation:
            return False
        if not self.can_exclude:
            return False
        return LONG_SECONDS < self.tables.predicted_seconds(node.box) < math.inf

    def begun(self, node: Node) -> Found:
        """Begin to complete a node that takes long.

        Parameters
        ----------
        node : Node

        Returns
        -------
        Found
            The node itself, where they cannot.
        """
        assert self.tables is not None
        box = node.box.astype(np.float64)
        completion = self.tables.completion(box, node.worth.low, node.worth.high)
        if completion is None:
            return Found(returned=node._replace(by_relaxation=True))
        return Found(opened=Stage(node, box, completion, self.boxes, self._counts))


class Stage(OpenSet):
    """A node that is completed in steps.

    Parameters
    ----------
    node : node of the search
    box : ndarray of float64, shape (2, d + 1)
        Its box.
    completion : Completion
        Its supports.
    boxes : Boxes
    counts : EnumerationCounts
        Its ``share`` is that of the supports that have been looked at.
    """

    def __init__(
        self,
        node: Any,
        box: NDArray[np.float64],
        completion: Completion,
        boxes: Boxes,
        counts: EnumerationCounts,
    ) -> None:
        self.node = node
        self.box = box
        self.completion = completion
        self._boxes, self._counts = boxes, counts
        self._bound: float = node.bound
        self._is_over = False
        # Tasks can be millions: they are drawn when they are due.
        self._drawn: deque[Task] = deque()
        self._others = completion.tasks()
        self._n_out = 0
        counts.share = 0.0

    @property
    def bound(self) -> float:
        """Lower bound of what has not been looked at; see :attr:`OpenSet.bound`."""
        return self._bound

    @property
    def is_begun(self) -> bool:
        """Say that it is finished first; see :attr:`OpenSet.is_begun`."""
        return True

    @property
    def is_done(self) -> bool:
        """True if all supports have been looked at; see :attr:`OpenSet.is_done`."""
        return self._is_over

    def prune(self, cutoff: float) -> None:
        """Forget what is left; see :meth:`OpenSet.prune`."""
        if self._bound >= cutoff:
            self._end()

    def _end(self) -> None:
        self._is_over, self._counts.share = True, 1.0

    def divide(self, budget: Budget) -> Iterator[Found]:
        """Look at the next supports; see :meth:`OpenSet.divide`."""
        cutoff, lower_bound = budget.cutoff, budget.lower_bound

        def work(unit: list[Task], worker: Worker) -> list[tuple[Scanned, list[Child]]] | None:
            return self.scan(unit, cutoff, budget.stop, lambda scanned: self._boxes.supported(
                self.node, self.box, scanned, worker, cutoff, lower_bound
            ))  # fmt: skip

        units = self.next_units(budget.size)
        # Each task sorts the rows: units of many take longer than they are predicted to.
        for unit, found in zip(units, budget.share(units, work, len), strict=True):
            if found is None:
                if not budget.stop[0]:  # too many supports are left
                    self._is_over = True
                    yield Found(returned=self.node._replace(bound=self._bound, by_relaxation=True))
                return
            self.done(unit)
            for scanned, children in found:
                yield Found(children, scanned=scanned)
        if self._next() is None:
            self._counts.nodes += 1
            self._end()
            yield Found(is_node=True)
            return
        self._counts.share = self.share
        self._raise_bound(budget)

    def _raise_bound(self, budget: Budget) -> None:
        """Bound what is left by its relaxation without the items that are done."""
        out = None if self._boxes.rows.rows.n_elsewhere else self.newly_out()
        if out is None:
            return
        box, coef = self.box.copy(), np.zeros(self.box.shape[1])
        box[:, 1 + out] = 0.0
        bound = self._boxes.bound_by(
            budget.workers[0], box, coef, np.array(self.node.worth), self._boxes.cutoff,
            budget.lower_bound,
        )  # fmt: skip
        if not budget.stop[0] or bound < math.inf:
            self._bound = max(self._bound, bound)

    @property
    def share(self) -> float:
        """Share of the supports that have been looked at."""
        task = self._next()
        return 1.0 if task is None else self.completion.share_before(task)

    def _next(self) -> Task | None:
        """The first task that has not been looked at."""
        if not self._drawn:
            task = next(self._others, None)
            if task is None:
                return None
            self._drawn.append(task)
        return self._drawn[0]

    def next_units(self, n_units: int) -> list[list[Task]]:
        """Put the next tasks together to units of similar length.

        Parameters
        ----------
        n_units : int
            Most units.

        Returns
        -------
        list of lists of Task
        """
        units: list[list[Task]] = []
        seconds = TASK_SECONDS
        for task in self._drawn_and_others():
            if seconds >= TASK_SECONDS:
                if len(units) == n_units:
                    break
                units.append([])
                seconds = 0.0
            units[-1].append(task)
            seconds += task.seconds
        return units

    def _drawn_and_others(self) -> Iterator[Task]:
        yield from list(self._drawn)
        for task in self._others:
            self._drawn.append(task)
            yield task

    def done(self, unit: list[Task]) -> None:
        """Note that the next unit has been looked at.

        Parameters
        ----------
        unit : list of Task
        """
        for _ in unit:
            self._drawn.popleft()

    def newly_out(self) -> NDArray[np.int64] | None:
        """Features that no support has which is left, None if they are the same as before.

        Tasks come in the order of their first item beyond those that are in: where the next one
        begins with a later item, all supports with earlier ones have been looked at.
        """
        completion, task = self.completion, self._next()
        assert task is not None
        prefix, n_in = task.prefix, completion.n_in
        n_out = prefix[n_in] - n_in if len(prefix) > n_in else 0
        if n_out == self._n_out:
            return None
        self._n_out = n_out
        return completion.packed.features[n_in : n_in + n_out]

    def scan(
        self,
        unit: list[Task],
        cutoff: float,
        stop: NDArray[np.int64],
        supported: Callable[[Scanned], list[Child]],
    ) -> list[tuple[Scanned, list[Child]]] | None:
        """Look at the supports of a unit.

        Parameters
        ----------
        unit : list of Task
        cutoff, stop
            As `Completion.scan` of the support enumeration has them.
        supported : callable
            Relaxes the supports that a task leaves.

        Returns
        -------
        list of pairs, or None
            What each task left, and what is left of that. None: it was stopped, or leaves too
            many supports.
        """
        found = []
        for task in unit:
            scanned = self.completion.scan(task, cutoff, stop)
            if scanned is None:
                return None
            found.append((scanned, supported(scanned)))
        return found


def cheaper(
    tables: SupportEnumeration, roots: list[Node], nodes: list[Node], most: float = math.inf
) -> tuple[list[Node], float]:
    """Open nodes, or the roots if tables complete these sooner, and the time that that takes.

    Every open node is part of a root, and so is what is left of those it came from.

    Parameters
    ----------
    tables : SupportEnumeration
    roots, nodes : list of Node
    most : float, default infinity
        From so many seconds on it does not matter how long it takes.

    Returns
    -------
    nodes : list of Node
    seconds : float
    """
    of_roots = sum(tables.predicted_seconds(node.box) for node in roots)
    enough = RIDGE_SHARE * of_roots if tables.ridge.any() else of_roots
    total = 0.0
    for node in nodes:
        if not node.by_relaxation:
            total += tables.predicted_seconds(node.box)
        if total > min(enough, most):
            return roots, of_roots
    return nodes, total
