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
from concurrent.futures import Executor
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import nodes as kernels
from riskslim.data.threads import in_threads
from riskslim.engines.branch_and_bound.workspace import NOTHING_KNOWN
from riskslim.rows.base import Sums

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.node_rows import NodeRows
    from riskslim.engines.branch_and_bound.search_rows import RowsOfParts
    from riskslim.engines.branch_and_bound.workspace import KernelNode, NodeWork, Worker

__all__ = ["LinearisationPoints", "SampledNodes", "Steps", "answered", "answered_together"]

_Result = TypeVar("_Result")

# Most passes over all rows for a child of a node.
PASSES = 3
# Linearisations of the root, each at the solution of a relaxation that the last one corrects.
ROOT_PASSES = 3
# A sample is worth it where there are so many times as many rows.
WORTHWHILE = 3
# Rows in each of the parts that threads share, and most of these.
PART_ROWS, MOST_PARTS = 2**15, 16

_NO_LABELS = np.empty(0, np.int8)

_Known = NDArray[np.float64]


class LinearisationPoints(NamedTuple):
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
    def of(cls, parts: list[KernelNode], rows: NodeRows) -> LinearisationPoints:
        """Name the points of nodes, inside of their boxes.

        Constraints can have shrunk a box since its point was found, and rows need have no columns
        of the features that are out.

        Parameters
        ----------
        parts : list of KernelNode
        rows : NodeRows

        Returns
        -------
        LinearisationPoints
        """
        t = np.array([part.worth[0] for part in parts])
        boxes = np.array([part.box for part in parts])
        coefs = np.clip([part.coef for part in parts], boxes[:, 0], boxes[:, 1])
        for part, coef in zip(parts, coefs, strict=True):
            part.coef[:] = coef
        wanted = np.any(boxes != 0, axis=(0, 1)).astype(np.int64)
        wanted[0] = 1
        return cls(rows, t[:, None] * coefs, t[:, None] * boxes[:, :, 0], wanted)

    def move_intercepts(self, sums: NDArray[np.float64]) -> None:
        """Move intercepts, within their reach, to where the loss is nearly least.

        Parameters
        ----------
        sums : ndarray of float64, shape (b, 3)
            Slopes at the points, and their two derivatives by the score.
        """
        for point, reach, own in zip(self.points, self.reach, sums.tolist(), strict=True):
            moved = point[0] + kernels.intercept_step(*own)
            point[0] = min(max(moved, reach[0]), reach[1])

    def known(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Linearisations at the points, from sums over all rows.

        Parameters
        ----------
        sums : ndarray of float64, shape (b, p + 2)
            Losses, sizes of slopes, and gradients.

        Returns
        -------
        ndarray of float64, shape (b, 3 p + 3)
            As :class:`SampledNodes` says; what a sample lacks is zero.
        """
        b, p = self.points.shape
        known = np.zeros((b, 3 * p + kernels.KNOWN))
        known[:, :p] = self.points
        known[:, p : 2 * p] = sums[:, 2:] * self.wanted
        known[:, 3 * p : 3 * p + 2] = sums[:, :2]
        return known


# The work on a node: it yields points, and is sent what is known there, None after a stop.
Steps = Generator[LinearisationPoints, _Known | None, _Result]


def answered(
    steps: Steps[_Result], answer: Callable[[LinearisationPoints], _Known | None]
) -> _Result:
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


def answered_together(
    steps: list[Steps[_Result]],
    answers: Callable[[list[LinearisationPoints]], list[_Known | None]],
    pool: Executor,
    n_workers: int,
) -> list[_Result]:
    """Do the work on several nodes side by side, with common answers to what they ask.

    Parameters
    ----------
    steps : list of generators
        Those whose positions differ by a multiple of ``n_workers`` share a worker.
    answers : callable
        Linearises the loss of all rows at the points of several.
    pool : Executor
    n_workers : int

    Returns
    -------
    list of object
        The outcome of each.
    """
    found: dict[int, _Result] = {}
    known: dict[int, _Known | None] = dict.fromkeys(range(len(steps)))

    def advance(first: int) -> dict[int, LinearisationPoints]:
        asked = {}
        for i in range(first, len(steps), n_workers):
            if i not in known:
                continue
            try:
                asked[i] = steps[i].send(known[i])
            except StopIteration as end:
                found[i] = end.value
        return asked

    while known:
        asked = {}
        for some in pool.map(advance, range(n_workers)):
            asked.update(some)
        order = sorted(asked)
        known = dict(zip(order, answers([asked[i] for i in order]), strict=True))
    return [found[i] for i in range(len(steps))]


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
    passes : RowsOfParts, optional
        Over rows that are not in memory.
    """

    def __init__(self, rows: NodeRows, sample: NodeRows, passes: RowsOfParts | None = None) -> None:
        self.rows = rows
        self.sample = sample
        self.passes = passes
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
        """True if a node that needs these rows is worth a sample.

        Parameters
        ----------
        rows : NodeRows
            All of them, or the same merged.

        Returns
        -------
        bool
        """
        if self.passes is not None:  # all other rows are those of few combinations of values
            return bool(rows.n_elsewhere)
        return rows.n_rows > WORTHWHILE * self.sample.n_rows

    def root(
        self,
        part: KernelNode,
        relaxing: NodeWork,
        work: Callable[[], NodeWork],
        on_point: Callable[[NDArray[np.float64], float], None],
        rows: NodeRows,
        worker: Worker,
    ) -> Steps[_Known | None]:
        """Bound the root by linearisations at solutions of relaxations on the sample.

        Parameters
        ----------
        part : KernelNode
            The root. What is found is in its arrays.
        relaxing : NodeWork
            On the sample.
        work : callable
            Makes the same for a proof, with the cutoff of the moment.
        on_point : callable
            Called with the coefficients of each of these solutions, and what a point is worth.
        rows : NodeRows
            That the root needs.
        worker : Worker

        Returns
        -------
        ndarray of float64 or None
            What is known of the root; None if it is pruned.
        """
        known = NOTHING_KNOWN
        for _ in range(ROOT_PASSES):
            self.move(part, relaxing.knowing(known), worker)
            on_point(part.coef, float(part.worth[0]))
            proven = yield from self.proven([(part, known)], work(), None, rows, worker)
            if not proven:
                return None
            known = proven[0][1]
            if relaxing.stop[0]:
                break
        return known

    def move(self, part: KernelNode, work: NodeWork, worker: Worker) -> None:
        """Move a node's point to the solution of its relaxation on the sample.

        Of what a sample says nothing but the point is kept.

        Parameters
        ----------
        part : KernelNode
        work : NodeWork
            On the sample.
        worker : Worker
        """
        estimate = part._replace(
            box=part.box.copy(), worth=part.worth.copy(), result=part.result.copy()
        )
        work.relax(estimate, worker)
        part.worth[0] = min(max(estimate.worth[0], part.worth[1]), part.worth[2])

    def expand(
        self,
        part: KernelNode,
        known: _Known,
        work: NodeWork,
        exact: NodeWork | None,
        rows: NodeRows,
        worker: Worker,
    ) -> Steps[tuple[int, list[tuple[KernelNode, _Known]], _Known]]:
        """Branch on a node.

        Parameters
        ----------
        part : KernelNode
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
        children: list[tuple[KernelNode, _Known]],
        work: NodeWork,
        exact: NodeWork | None,
        rows: NodeRows,
        worker: Worker,
    ) -> Steps[list[tuple[KernelNode, _Known]]]:
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
        done: list[tuple[KernelNode, _Known]] = []
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
                if own.apply_cut(part, worker) == kernels.PRUNED:
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

    def _relaxed(self, part: KernelNode, work: NodeWork, worker: Worker) -> bool:
        """Relax once more; whether it seems that a linearisation there prunes the node."""
        bound = part.result[0]
        part.result[1] = math.inf
        work.relax(part, worker)
        part.result[0] = bound  # the other one is an estimate
        return not work.stop[0] and bool(part.result[1] >= work.arguments.cutoff)

    def _linearised(
        self, parts: list[KernelNode], work: NodeWork, rows: NodeRows, worker: Worker
    ) -> Steps[list[_Known] | None]:
        """Linearise the loss at the points of nodes, whose intercepts move; None after a stop."""
        asked = LinearisationPoints.of(parts, rows)
        known = yield asked
        if known is None:
            return None
        of_sample = asked._replace(rows=self.sample)
        part_of_it = self.answer(of_sample, work.stop, worker, polish=False)
        if part_of_it is None:
            return None
        points, p = asked.points, asked.points.shape[1]
        known[:, 2 * p : 3 * p] = (known - part_of_it)[:, p : 2 * p]
        at_point = (known[:, 2 * p : 3 * p] * points).sum(axis=1)
        known[:, -1] = (known - part_of_it)[:, 3 * p] - at_point
        for part, point in zip(parts, points, strict=True):
            part.coef[0] = point[0] / part.worth[0]
        return [one.copy() for one in known]  # nodes keep them, one by one

    def answer(
        self,
        asked: LinearisationPoints,
        stop: NDArray[np.int64],
        worker: Worker,
        *,
        polish: bool = True,
    ) -> _Known | None:
        """Linearise the loss of rows.

        Parameters
        ----------
        asked : LinearisationPoints
        stop : int64 array of shape (1,)
        worker : Worker
        polish : bool, default True
            Let intercepts move, which takes a pass more.

        Returns
        -------
        ndarray of float64, shape (b, 3 p + 3), or None
            What is known at the points; None after a stop.
        """
        rows = asked.rows
        if rows.n_elsewhere:
            assert self.passes is not None
            return self.passes.answers([asked], worker)[0]
        began, (b, p) = perf_counter(), asked.points.shape
        labels = self._labels.get(id(rows), _NO_LABELS)
        given = (
            rows.integer_columns, rows.real_columns, rows.slot, rows.positive, rows.negative,
            labels, asked.points,
        )  # fmt: skip

        def slopes(begin: int, end: int, sums: _Known) -> bool:
            return kernels.slope_sums(*given, begin, end, sums, stop, np.zeros(5))

        def losses(begin: int, end: int, sums: _Known) -> bool:
            wanted = asked.wanted
            return kernels.linearise(*given, wanted, begin, end, sums, stop, np.zeros(5))

        if polish:
            sums = _summed(slopes, rows.n_rows, (b, 3), worker.n_threads)
            if sums is None:
                return None
            asked.move_intercepts(sums)
        sums = _summed(losses, rows.n_rows, (b, p + 2), worker.n_threads)
        if sums is None:
            return None
        if len(labels):
            sums *= max(rows.positive[0], rows.negative[0])
        known = asked.known(sums)
        worker.counters += ((1 + polish) * b, b, 0, 0, perf_counter() - began)
        return known


def _summed(
    work: Callable[[int, int, _Known], bool], n: int, shape: tuple[int, int], n_threads: int
) -> _Known | None:
    """Sums over n rows, of parts that threads share; None if work on one was to end."""
    n_parts = min(max(n // PART_ROWS, 1), MOST_PARTS)
    ends = [n * k // n_parts for k in range(n_parts + 1)]
    sums, ended = np.empty((n_parts, *shape, 2)), [False] * n_parts

    def add_up(k: int) -> None:
        ended[k] = work(ends[k], ends[k + 1], sums[k])

    in_threads(add_up, n_parts, n_threads)
    if not all(ended):
        return None
    total = Sums(shape)
    for part in sums:
        total.add(part[..., 0], part[..., 1])
    return total.value


def _can_be_pruned(part: KernelNode, work: NodeWork) -> bool:
    """True if one more linearisation may prune a node, which is not solved as well as asked.

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
