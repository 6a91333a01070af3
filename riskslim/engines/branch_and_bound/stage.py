"""A node whose supports are so many that they are looked at in several steps."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskslim.engines.branch_and_bound.nodes import Child, Node
from riskslim.engines.branch_and_bound.support_enumeration import (
    TASK_SECONDS,
    Completion,
    Scanned,
    SupportTables,
    Task,
)

__all__ = ["Stage", "cheaper"]


class Stage:
    """State of the completion of a node.

    Parameters
    ----------
    node : node of the search
    box : ndarray of float64, shape (2, d + 1)
        Its box.
    completion : Completion
        Its supports.
    bound : float
        Lower bound of the objectives of what has not been looked at.
    """

    def __init__(
        self, node: Any, box: NDArray[np.float64], completion: Completion, bound: float
    ) -> None:
        self.node = node
        self.box = box
        self.completion = completion
        self.bound = bound
        # Tasks can be millions: they are drawn when they are due.
        self._drawn: deque[Task] = deque()
        self._others = completion.tasks()
        self._n_out = 0

    @property
    def is_done(self) -> bool:
        """Say whether all supports have been looked at."""
        return self._next() is None

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
    tables: SupportTables, roots: list[Node], nodes: list[Node], most: float = math.inf
) -> tuple[list[Node], float]:
    """Open nodes, or the roots if tables complete these sooner, and the time that that takes.

    Every open node is part of a root, and so is what is left of those it came from.

    Parameters
    ----------
    tables : SupportTables
    roots, nodes : list of Node
    most : float, default infinity
        From so many seconds on it does not matter how long it takes.

    Returns
    -------
    nodes : list of Node
    seconds : float
    """
    of_roots = sum(tables.predicted_seconds(node.box) for node in roots)
    total = 0.0
    for node in nodes:
        if not node.by_relaxation:
            total += tables.predicted_seconds(node.box)
        if total > min(of_roots, most):
            return roots, of_roots
    return nodes, total
