"""Nodes of many rows: relaxed on a sample of them, with bounds from few passes over all.

The loss is above its linearisation at any point. A relaxation therefore need not read all rows: it
is solved on a sample, whose gradient is corrected by what it lacks of that of all rows at the last
point where both are known. A pass over all rows at the point where that ends gives a valid bound,
however good the sample is, and the correction for what comes next.

Nodes say which passes they need, and wait for them: where rows are in parts, one pass over these
answers all nodes of a batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import nodes as kernels

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.rows import NodeRows
    from riskslim.engines.branch_and_bound.workspace import NodeWork, Part, Worker

__all__ = ["Asked", "SampledNodes", "Steps", "answered"]

_Result = TypeVar("_Result")

# Most passes over all rows for a child of a node.
PASSES = 3
# A sample is worth it where there are so many times as many rows.
WORTHWHILE = 3

_NO_LABELS = np.empty(0, np.int8)

_Known = NDArray[np.float64]


class Asked(NamedTuple):
    """Points at which the loss of all rows is to be linearised.

    Parameters
    ----------
    rows : NodeRows
        That the nodes need, where rows are in memory: all, or the same merged.
    points : ndarray of float64, shape (b, p)
        Coefficients. The intercepts move to where the loss is least.
    reach : ndarray of float64, shape (b, 2)
        Between which they may.
    wanted : ndarray of int64, shape (p,)
        Zero for coefficients that are zero at all points, and whose derivatives nobody needs.
    """

    rows: NodeRows
    points: NDArray[np.float64]
    reach: NDArray[np.float64]
    wanted: NDArray[np.int64]

    @classmethod
    def of(cls, parts: list[Part], rows: NodeRows) -> Asked:
        """Name the points of nodes, inside of their boxes.

        Constraints can have shrunk a box since its point was found, and rows need have no columns
        of the features that are out.

        Parameters
        ----------
        parts : list of Part
        rows : NodeRows

        Returns
        -------
        Asked
        """
        t = np.array([part.worth[0] for part in parts])
        boxes = np.array([part.box for part in parts])
        coefs = np.clip([part.coef for part in parts], boxes[:, 0], boxes[:, 1])
        for part, coef in zip(parts, coefs, strict=True):
            part.coef[:] = coef
        wanted = np.any(boxes != 0, axis=(0, 1)).astype(np.int64)
        wanted[0] = 1
        return cls(rows, t[:, None] * coefs, t[:, None] * boxes[:, :, 0], wanted)


# The work on a node: it yields points, and is sent what is known there, None after a stop.
Steps = Generator[Asked, _Known | None, _Result]


def answered(steps: Steps[_Result], answer: Callable[[Asked], _Known | None]) -> _Result:
    """Do the work on a node, with an answer to each of its questions at once.

    Parameters
    ----------
    steps : generator
    answer : callable
        Linearises the loss of all rows at points.

    Returns
    -------
    object
        The outcome of the work.
    """
    try:
        asked = next(steps)
        while True:
            asked = steps.send(answer(asked))
    except StopIteration as end:
        found: _Result = end.value
        return found


class SampledNodes:
    """Expansion of nodes by relaxations on a sample and passes over all rows.

    Of a node a linearisation of the loss of all rows is *known*: its point, its gradient, what the
    sample's gradient lacks of it there, loss, sum of the sizes of the rows' slopes, and what the
    sample's loss lacks, 3 p + 3 numbers. Bounds, boxes and whatever else is proven come from that.

    Parameters
    ----------
    rows : NodeRows
        All of them, or what stands for those that are not in memory.
    sample : NodeRows
    """

    def __init__(self, rows: NodeRows, sample: NodeRows) -> None:
        self.rows = rows
        self.sample = sample
        self._labels = {id(some): _labels(some) for some in (rows, sample)}

    @classmethod
    def of(cls, rows: NodeRows, n: int) -> SampledNodes | None:
        """Take a sample; None where there are too few rows for it.

        Parameters
        ----------
        rows : NodeRows
            All of them, in random order.
        n : int
            Rows of the sample.

        Returns
        -------
        SampledNodes or None
        """
        return cls(rows, rows.first(n)) if rows.n_rows > WORTHWHILE * n else None

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
        exact: NodeWork | None,
        rows: NodeRows,
        worker: Worker,
    ) -> Steps[tuple[int, list[tuple[Part, _Known]], _Known]]:
        """Branch on a node.

        Parameters
        ----------
        part : Part
            The node; box and bound get better.
        known : ndarray of float64
            What is known of it, empty at first.
        work : NodeWork
            On the sample.
        exact : NodeWork or None
            On ``rows``, for children that the sample says too little of; None: they stay open.
        rows : NodeRows
            That the node needs.
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
            found = yield from self._linearised([part], work, rows, worker)
            if found is None:
                return -3, [], known
            known = found[0]
        work = work.knowing(known)
        status, parts = work.expand(part, worker)
        children = [(child, known) for child in parts]
        proven = yield from self.proven(children, work, exact, rows, worker)
        return status, proven, known

    def proven(
        self,
        children: list[tuple[Part, _Known]],
        work: NodeWork,
        exact: NodeWork | None,
        rows: NodeRows,
        worker: Worker,
    ) -> Steps[list[tuple[Part, _Known]]]:
        """Bound and shrink relaxed nodes by passes over all rows.

        Parameters
        ----------
        children : list of pairs
            Nodes, and what is known of those that they come from.
        work, exact, rows, worker
            As in :meth:`expand`.

        Returns
        -------
        list of pairs
            Those that stay open, and what is known of them.
        """
        done: list[tuple[Part, _Known]] = []
        rest = children
        for i in range(PASSES):
            if not rest:
                break
            parts = [part for part, _ in rest]
            found = yield from self._linearised(parts, work, rows, worker)
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
                    if exact is None or exact.relax(part, worker) != kernels.PRUNED:
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
    ) -> Steps[list[_Known] | None]:
        """Linearise the loss at the points of nodes, whose intercepts move; None after a stop."""
        asked = Asked.of(parts, rows)
        known = yield asked
        if known is None:
            return None
        part_of_it = self._evaluated(self.sample, asked, False, work.stop, worker)
        if part_of_it is None:
            return None
        points, p = asked.points, asked.points.shape[1]
        known[:, 2 * p : 3 * p] = (known - part_of_it)[:, p : 2 * p]
        at_point = (known[:, 2 * p : 3 * p] * points).sum(axis=1)
        known[:, -1] = (known - part_of_it)[:, 3 * p] - at_point
        for part, point in zip(parts, points, strict=True):
            part.coef[0] = point[0] / part.worth[0]
        return [one.copy() for one in known]  # nodes keep them, one by one

    def answer(self, asked: Asked, stop: NDArray[np.int64], worker: Worker) -> _Known | None:
        """Linearise the loss of rows that are in memory.

        Parameters
        ----------
        asked : Asked
        stop : int64 array of shape (1,)
        worker : Worker

        Returns
        -------
        ndarray of float64, shape (b, 3 p + 3), or None
            What is known at the points; None after a stop.
        """
        return self._evaluated(asked.rows, asked, True, stop, worker)

    def _evaluated(
        self,
        rows: NodeRows,
        asked: Asked,
        polish: bool,
        stop: NDArray[np.int64],
        worker: Worker,
    ) -> _Known | None:
        """Losses and gradients at all points, from one pass; None if it was to end."""
        b, p = asked.points.shape
        known, sums = np.zeros((b, 3 * p + kernels.KNOWN)), np.empty((b, p + 2, 2))
        ended = kernels.linearise(
            rows.integer_columns, rows.real_columns, rows.slot, rows.positive, rows.negative,
            self._labels.get(id(rows), _NO_LABELS), asked.points, asked.reach, asked.wanted,
            polish, known, sums, stop, worker.counters,
        )  # fmt: skip
        return known if ended else None


def _can_be_pruned(part: Part, work: NodeWork) -> bool:
    """Say whether one more linearisation may prune a node, which is not solved as well as asked.

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
