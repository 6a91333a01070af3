"""Relaxations of nodes: all that kernels are told of a problem, whatever the rows of a node are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim.engines.branch_and_bound.multipliers import Sides, priced
from riskslim.engines.branch_and_bound.node_rows import NodeRows, exchangeable, find_duplicates
from riskslim.engines.branch_and_bound.workspace import (
    NOTHING_KNOWN,
    KernelArguments,
    KernelNode,
    NodeWork,
    Worker,
)
from riskslim.engines.settings import BRANCHING, BranchAndBoundSettings

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["LEAST_TOLERANCE", "ROOT_STEPS", "ROOT_TOLERANCE", "Relaxations"]

# Accuracy of the first relaxation, and Newton steps that it and the others may take.
ROOT_TOLERANCE = 1e-7
ROOT_STEPS = 200
STEPS = 25
# Least accuracy of a node's relaxation that is worth asking for.
LEAST_TOLERANCE = 1e-9
# Accuracy of relaxations by which multipliers of constraints are chosen.
MULTIPLIER_TOLERANCE = 1e-6


class Relaxations:
    """Relaxations of the nodes of a problem.

    Parameters
    ----------
    problem : RiskScoreProblem
    settings : BranchAndBoundSettings
    stop : int64 array of shape (1,)
        Not zero: end as soon as possible.
    orders_duplicates : bool
        Of features that say the same, the first is to be used first.
    should_stop : callable
        Asked between columns.

    Attributes
    ----------
    constant : float
        What a bound of the kernel lacks: the constant part of constraints with multipliers.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        settings: BranchAndBoundSettings,
        stop: NDArray[np.int64],
        *,
        orders_duplicates: bool,
        should_stop: Callable[[], bool],
    ) -> None:
        self._problem, self._settings, self._stop = problem, settings, stop
        p, data = len(problem.lower), problem.loss.data
        self._penalty = np.concatenate(([0.0], problem.l0_penalty))
        self._ridge = np.concatenate(([0.0], problem.l2_penalty))
        largest = np.maximum(np.abs(data.feature_min), np.abs(data.feature_max))
        self._largest = np.concatenate(([1.0], largest))
        self._duplicate, self._ends = np.full(p, -1, np.int64), np.zeros((2, p))
        if orders_duplicates:
            self._duplicate, self._ends = find_duplicates(
                problem.loss, problem.lower, problem.upper, self._penalty, exchangeable(problem),
                complements=problem.intercept_is_derived, should_stop=should_stop,
            )  # fmt: skip
        self.constant = 0.0

    def arguments(self, rows: NodeRows, cutoff: float, tolerance: float) -> KernelArguments:
        """Arguments of kernels for nodes that need some rows.

        Parameters
        ----------
        rows : NodeRows
        cutoff : float
            Objective from which nothing is looked for.
        tolerance : float
            Accuracy of the relaxation.

        Returns
        -------
        KernelArguments
        """
        return KernelArguments(
            rows.integer_columns, rows.real_columns, rows.slot, rows.positive, rows.negative,
            self._penalty, self._ridge, self._largest, self._duplicate, self._ends,
            self._problem.min_size, self._problem.max_size, cutoff - self.constant, tolerance,
            NOTHING_KNOWN,
        )  # fmt: skip

    def work(self, rows: NodeRows, cutoff: float, lower_bound: float) -> NodeWork:
        """Work on nodes, as accurate as the gap between the bounds asks for.

        Parameters
        ----------
        rows : NodeRows
        cutoff, lower_bound : float

        Returns
        -------
        NodeWork
        """
        settings = self._settings
        share = settings.node_tolerance * (cutoff - lower_bound)
        tolerance = min(settings.max_node_tolerance, max(LEAST_TOLERANCE, share))
        arguments = self.arguments(rows, cutoff, tolerance)
        return NodeWork(arguments, STEPS, BRANCHING[settings.branching], self._stop)

    def bound(self, result: NDArray[np.float64]) -> float:
        """Bound on the objective that the kernel's result means, which is at least 0."""
        return max(float(result[0]) + self.constant, 0.0)

    def relax_root(self, rows: NodeRows, root: KernelNode, cutoff: float, worker: Worker) -> bool:
        """Relax and shrink a root, all in place; False if it is pruned.

        Parameters
        ----------
        rows : NodeRows
        root : KernelNode
        cutoff : float
        worker : Worker

        Returns
        -------
        bool
        """
        arguments = self.arguments(rows, cutoff, ROOT_TOLERANCE)
        return not NodeWork(arguments, ROOT_STEPS, 0, self._stop).relax(root, worker)

    def price(
        self, rows: NodeRows, box: NDArray[np.float64], worker: Worker,
        propagate: Callable[[NDArray[np.float64]], bool],
    ) -> NodeRows:  # fmt: skip
        """Let relaxations take account of linear constraints on points, by multipliers.

        Parameters
        ----------
        rows : NodeRows
            All of them.
        box : ndarray of float64, shape (2, d + 1)
            Of the root.
        worker : Worker
        propagate : callable
            Shrinks a box by the constraints; False if no vector of it meets them.

        Returns
        -------
        NodeRows
            With rows that stand for constraints, where there are such.
        """
        sides, shrunk = Sides.of(self._problem, rows), box.copy()
        if not len(sides) or not propagate(shrunk):
            return rows
        coef, t = np.zeros(box.shape[1]), 1.0 / self._problem.loss.scale

        def relax(rows: NodeRows) -> tuple[float, NDArray[np.float64]]:
            root = KernelNode(
                shrunk.copy(), coef, np.full(3, t), np.array([-math.inf, math.inf, 0, 0])
            )
            arguments = self.arguments(rows, math.inf, MULTIPLIER_TOLERANCE)
            NodeWork(arguments, ROOT_STEPS, 0, self._stop).relax(root, worker)
            return float(root.result[0]), coef

        found = priced(sides, rows, t, relax=relax, largest=self._largest, box=box)
        if found is None:
            return rows
        self.constant, self._largest = found.constant, found.largest
        return found.rows
