"""Nodes of many rows: relaxed on a sample of them, with bounds from few passes over all.

The loss is above its linearisation at any point. A relaxation therefore need not read all rows: it
is solved on a sample, whose gradient is corrected by what it lacks of that of all rows at the last
point where both are known. A pass over all rows at the point where that ends gives a valid bound,
however good the sample is, and the correction for what comes next.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import nodes as kernels

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.rows import NodeRows
    from riskslim.engines.branch_and_bound.workspace import NodeWork, Part, Worker

__all__ = ["SampledNodes"]

# Most passes over all rows for a child of a node.
PASSES = 3
# A sample is worth it where there are so many times as many rows.
WORTHWHILE = 3

_Known = NDArray[np.float64]


class SampledNodes:
    """Expansion of nodes by relaxations on a sample and passes over all rows.

    Of a node a linearisation of the loss of all rows is *known*: its point, its gradient, what the
    sample's gradient lacks of it there, loss, sum of the sizes of the rows' slopes, and what the
    sample's loss lacks, 3 p + 3 numbers. Bounds, boxes and whatever else is proven come from that.

    Parameters
    ----------
    rows : NodeRows
        All of them, in random order.
    n : int
        Rows of the sample.

    Attributes
    ----------
    sample : NodeRows
    """

    def __init__(self, rows: NodeRows, n: int) -> None:
        self.rows = rows
        self.sample = rows.first(n)
        self._labels = _labels(rows)

    @classmethod
    def of(cls, rows: NodeRows, n: int) -> SampledNodes | None:
        """Take a sample; None where there are too few rows for it.

        Parameters
        ----------
        rows : NodeRows
        n : int

        Returns
        -------
        SampledNodes or None
        """
        return cls(rows, n) if rows.n_rows > WORTHWHILE * n else None

    def is_for(self, rows: NodeRows) -> bool:
        """Say whether a node that needs these rows is worth a sample.

        Parameters
        ----------
        rows : NodeRows
            All of them, or the same merged.

        Returns
        -------
        bool
        """
        return rows.n_rows > WORTHWHILE * self.sample.n_rows

    def expand(
        self,
        part: Part,
        known: _Known,
        work: NodeWork,
        exact: NodeWork,
        rows: NodeRows,
        worker: Worker,
    ) -> tuple[int, list[tuple[Part, _Known]], _Known]:
        """Branch on a node.

        Parameters
        ----------
        part : Part
            The node; box and bound get better.
        known : ndarray of float64
            What is known of it, empty at first.
        work : NodeWork
            On the sample.
        exact : NodeWork
            On ``rows``, for children that the sample says too little of.
        rows : NodeRows
            Rows that are not a sample.
        worker : Worker

        Returns
        -------
        status : int
            That of the kernel: -3 where work was to end before the node had children.
        children : list of pairs
            Those that are open, and what is known of them.
        known : ndarray of float64
            What is known of the node.
        """
        if not len(known):
            found = self._linearised([part], work, rows, worker)
            if found is None:
                return -3, [], known
            known = found[0]
        work = work.knowing(known)
        status, parts = work.expand(part, worker)
        children = [(child, known) for child in parts]
        return status, self._proven(children, work, exact, rows, worker), known

    def _proven(
        self,
        children: list[tuple[Part, _Known]],
        work: NodeWork,
        exact: NodeWork,
        rows: NodeRows,
        worker: Worker,
    ) -> list[tuple[Part, _Known]]:
        """Bound and shrink relaxed children by passes over all rows; those that stay open."""
        done: list[tuple[Part, _Known]] = []
        rest = children
        for i in range(PASSES):
            if not rest:
                break
            found = self._linearised([part for part, _ in rest], work, rows, worker)
            if found is None:
                return done + rest
            last, rest = rest, []
            for (part, _), known in zip(last, found, strict=True):
                own = work.knowing(known)
                if own.settle(part, worker) == kernels.PRUNED:
                    continue
                if not _can_be_pruned(part, own):
                    done.append((part, known))
                elif i == PASSES - 1:  # the sample is not good enough
                    if exact.relax(part, worker) != kernels.PRUNED:
                        done.append((part, known))
                elif not self._relaxed(part, own, worker):
                    done.append((part, known))
                else:
                    rest.append((part, known))
        return done

    def _relaxed(self, part: Part, work: NodeWork, worker: Worker) -> bool:
        """Relax once more; whether it seems that a linearisation there prunes the node."""
        bound = part.result[0]
        part.result[1] = math.inf
        work.relax(part, worker)
        part.result[0] = bound  # the other one is an estimate
        return not work.stop[0] and bool(part.result[1] >= work.arguments.cutoff)

    def _linearised(
        self, parts: list[Part], work: NodeWork, rows: NodeRows, worker: Worker
    ) -> list[_Known] | None:
        """Linearise the loss at the points of nodes, whose intercepts move; None after a stop."""
        t = np.array([part.worth[0] for part in parts])
        boxes = np.array([part.box for part in parts])
        # Constraints can have shrunk a box since its point was found, and rows need have no columns
        # of the features that are out.
        coefs = np.clip([part.coef for part in parts], boxes[:, 0], boxes[:, 1])
        points, reach = t[:, None] * coefs, t[:, None] * boxes[:, :, 0]
        wanted = np.any(boxes != 0, axis=(0, 1)).astype(np.int64)
        known = self._evaluated(rows, points, reach, wanted, True, work, worker)
        part_of_it = self._evaluated(self.sample, points, reach, wanted, False, work, worker)
        if known is None or part_of_it is None:
            return None
        p = points.shape[1]
        known[:, 2 * p : 3 * p] = (known - part_of_it)[:, p : 2 * p]
        at_point = (known[:, 2 * p : 3 * p] * points).sum(axis=1)
        known[:, -1] = (known - part_of_it)[:, 3 * p] - at_point
        for part, point, coef in zip(parts, points, coefs, strict=True):
            part.coef[:] = coef
            part.coef[0] = point[0] / part.worth[0]
        return [one.copy() for one in known]  # nodes keep them, one by one

    def _evaluated(
        self,
        rows: NodeRows,
        points: NDArray[np.float64],
        reach: NDArray[np.float64],
        wanted: NDArray[np.int64],
        polish: bool,
        work: NodeWork,
        worker: Worker,
    ) -> NDArray[np.float64] | None:
        """Losses and gradients at all points, from one pass; None if it was to end."""
        b, p = points.shape
        known, sums = np.zeros((b, 3 * p + kernels.KNOWN)), np.empty((b, p + 2, 2))
        has_labels = rows is self.rows or rows is self.sample
        labels = self._labels[: rows.n_rows if has_labels else 0]
        ended = kernels.linearise(
            rows.integer_columns, rows.real_columns, rows.slot, rows.positive, rows.negative,
            labels, points, reach, wanted, polish, known, sums, work.stop, worker.counters,
        )  # fmt: skip
        return known if ended else None


def _can_be_pruned(part: Part, work: NodeWork) -> bool:
    """Whether another linearisation may prune a node, and it is not solved as well as asked for.

    The objective is that of a point of the relaxation, whose least value is no larger.
    """
    bound, objective = part.result[:2]
    is_solved = objective - bound <= work.arguments.tolerance
    return bool(objective >= work.arguments.cutoff and not is_solved)


def _labels(rows: NodeRows) -> NDArray[np.int8]:
    """Classes of rows that have one each and equal weights; empty if they have not."""
    largest = np.maximum(rows.positive, rows.negative)
    if (np.minimum(rows.positive, rows.negative) != 0.0).any() or (largest != largest[0]).any():
        return np.empty(0, np.int8)
    return np.where(rows.positive > 0.0, 1, -1).astype(np.int8)
