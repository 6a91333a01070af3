"""Bounds of boxes of a search by their relaxations, on the rows that each of them needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import nodes as kernels
from riskslim.engines.branch_and_bound.incumbents import Incumbents
from riskslim.engines.branch_and_bound.node_rows import NodeRows, RowsBySupport
from riskslim.engines.branch_and_bound.nodes import Child, InverseScale, Node
from riskslim.engines.branch_and_bound.passes import LinearisationPoints, SampledNodes, answered
from riskslim.engines.branch_and_bound.relaxations import Relaxations
from riskslim.engines.branch_and_bound.support_enumeration import Scanned, relaxation_seconds
from riskslim.engines.branch_and_bound.workspace import NOTHING_KNOWN, KernelNode, NodeWork, Worker

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.elimination import Subproblem
    from riskslim.engines.settings import BranchAndBoundSettings
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["Boxes"]

# Times as long as at one scale that a relaxation over an interval of scales takes.
INTERVAL_FACTOR = 2.5


class Boxes:
    """Bounds of boxes.

    Parameters
    ----------
    problem : RiskScoreProblem
    settings : BranchAndBoundSettings
    incumbents : Incumbents
    stop : int64 array of shape (1,)
        Not zero: end as soon as possible.
    rows : RowsBySupport
    orders_duplicates : bool
        Of features that say the same, the first is to be used first.

    Attributes
    ----------
    rows : RowsBySupport
    stop : int64 array of shape (1,)
    relaxations : Relaxations
    sampled : SampledNodes or None
        Where nodes are relaxed on a sample.
    is_over_interval : bool
        Whether a root has an interval of scales.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        settings: BranchAndBoundSettings,
        incumbents: Incumbents,
        stop: NDArray[np.int64],
        rows: RowsBySupport,
        *,
        orders_duplicates: bool,
    ) -> None:
        self._problem, self._incumbents, self.stop = problem, incumbents, stop
        self._merges_rows = settings.merge_rows
        self.rows = rows
        self.relaxations = Relaxations(
            problem,
            settings,
            stop,
            orders_duplicates=orders_duplicates,
            should_stop=self.is_stopped,
        )
        self.sampled: SampledNodes | None = None
        self.is_over_interval = False

    @property
    def cutoff(self) -> float:
        """Objective from which nothing is looked for, as it is now."""
        return self._incumbents.cutoff

    def is_stopped(self) -> bool:
        """True if the work is to end."""
        return bool(self.stop[0])

    def price_constraints(self, box: NDArray[np.float64], worker: Worker) -> None:
        """Let relaxations take account of linear constraints on points, by multipliers.

        Parameters
        ----------
        box : ndarray of float64, shape (2, d + 1)
            Of the root.
        worker : Worker
        """
        given = self.rows.rows
        if given.n_elsewhere:
            return
        rows = self.relaxations.price(given, box, worker, self.propagate)
        if rows is not given:
            self.rows = RowsBySupport(rows, merge=self._merges_rows, should_stop=self.is_stopped)

    def propagate(self, box: NDArray[np.float64]) -> bool:
        """Shrink a box by the constraints.

        Parameters
        ----------
        box : ndarray of float64, shape (2, d + 1)

        Returns
        -------
        bool
            False if no vector of it meets them.
        """
        constraints, allows = self._problem.constraint_rows, self._incumbents.allows
        if constraints is None and allows is None:
            return True
        lower, upper = np.rint(box).astype(np.int64)
        if constraints is not None and not constraints.propagate(lower, upper):
            return False
        box[:] = lower, upper
        return allows is None or allows(lower, upper)

    def bound(self, result: NDArray[np.float64]) -> float:
        """Bound on the objective that the kernel's result means.

        Parameters
        ----------
        result : ndarray of float64, shape (4,)

        Returns
        -------
        float
        """
        return self.relaxations.bound(result)

    def work(self, rows: NodeRows, cutoff: float, lower_bound: float) -> NodeWork:
        """Work of the kernels on some rows.

        Parameters
        ----------
        rows : NodeRows
        cutoff, lower_bound : float
            Of the search.

        Returns
        -------
        NodeWork
        """
        return self.relaxations.work(rows, cutoff, lower_bound)

    def answer(self, asked: LinearisationPoints, worker: Worker) -> NDArray[np.float64] | None:
        """Linearise the loss of all rows at points.

        Parameters
        ----------
        asked : LinearisationPoints
        worker : Worker

        Returns
        -------
        ndarray of float64, or None
            None after a stop.
        """
        assert self.sampled is not None
        return self.sampled.answer(asked, self.stop, worker)

    def relaxed(
        self,
        worker: Worker,
        box: NDArray[np.float64],
        coef: NDArray[np.float64],
        worth: NDArray[np.float64],
        cutoff: float,
        lower_bound: float,
    ) -> NDArray[np.float64] | None:
        """Relax and shrink a box on its own rows.

        Parameters
        ----------
        worker : Worker
        box : ndarray of float64, shape (2, d + 1)
            As ``coef`` and ``worth`` changed in place.
        coef : ndarray of float64, shape (d + 1,)
            Points to start from.
        worth : ndarray of float64, shape (3,)
        cutoff, lower_bound : float
            Of the search.

        Returns
        -------
        ndarray of float64, shape (4,), or None
            None if it is pruned.
        """
        part = KernelNode(box, coef, worth, np.array([-math.inf, math.inf, 0.0, 0.0]))
        rows, _ = self.rows.at(box, self.rows.all_features)
        exact, sampled = self.work(rows, cutoff, lower_bound), self.sampled
        if sampled is None or not sampled.is_for(rows):
            return None if exact.relax(part, worker) == kernels.PRUNED else part.result
        work = self.work(sampled.sample, cutoff, lower_bound)
        sampled.move(part, work, worker)
        steps = sampled.proven([(part, NOTHING_KNOWN)], work, exact, rows, worker)
        return part.result if answered(steps, lambda asked: self.answer(asked, worker)) else None

    def bound_by(self, *arguments: Any) -> float:
        """Bound of a box that is relaxed and shrunk in place.

        Parameters
        ----------
        *arguments
            As :meth:`relaxed` has them.

        Returns
        -------
        float
            Infinite if it is pruned.
        """
        result = self.relaxed(*arguments)
        return math.inf if result is None else self.bound(result)

    def supported(
        self,
        node: Node | Subproblem,
        box: NDArray[np.float64],
        scanned: Scanned,
        worker: Worker,
        cutoff: float,
        lower_bound: float,
    ) -> list[Child]:
        """Relax what is left of a box for each of the supports that tables leave.

        Parameters
        ----------
        node : Node or Subproblem
        box : ndarray of float64, shape (2, d + 1)
            Its box.
        scanned : Scanned
        worker : Worker
        cutoff, lower_bound : float
            Of the search.

        Returns
        -------
        list of Child
        """
        children = []
        for support, bound in zip(scanned.supports, scanned.bounds.tolist(), strict=True):
            out = np.ones(box.shape[1], np.bool_)
            out[0] = out[1 + support] = False
            own, coef, worth = box.copy(), np.zeros(box.shape[1]), np.array(node.worth)
            own[:, out] = 0.0
            result = self.relaxed(worker, own, coef, worth, cutoff, lower_bound)
            if result is not None:
                least, worth_left = max(node.bound, bound, self.bound(result)), worth.tolist()
                children.append(
                    Child(least, own, coef, float(result[2]), InverseScale(*worth_left))
                )
        return children

    def child(self, node: Node, part: KernelNode, known: NDArray[np.float64]) -> Child:
        """Part of a node that has been relaxed.

        Parameters
        ----------
        node : Node
        part : KernelNode
        known : ndarray of float64
            A linearisation of the loss of all rows, or empty.

        Returns
        -------
        Child
        """
        return Child(
            max(node.bound, self.bound(part.result)), part.box, part.coef,
            float(part.result[2]), InverseScale(*part.worth.tolist()), known,
        )  # fmt: skip

    def seconds(self, box: NDArray[Any], rows: NodeRows | None = None) -> float:
        """Predict the time of a node's relaxation.

        Parameters
        ----------
        box : ndarray of shape (2, d + 1)
        rows : NodeRows, optional
            Default: all.

        Returns
        -------
        float
        """
        live = int(np.count_nonzero((box[0, 1:] != 0) | (box[1, 1:] != 0)))
        factor = INTERVAL_FACTOR if self.is_over_interval else 1.0
        n_rows = (self.rows.rows if rows is None else rows).n_read
        return factor * relaxation_seconds(n_rows, live)
