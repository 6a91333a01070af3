"""Nodes of many rows: relaxed on a sample of them, with bounds from few passes over all.

A linearisation of the loss is below it at whatever point it is taken. So a relaxation need not read
all rows to be worth a bound: it is solved on a sample whose gradient is corrected by what it lacks
of that of all rows at the last point where both are known. One pass over all rows, at the point
that this leads to, then gives a valid bound, and the correction for what comes next.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import nodes as kernels
from riskslim.engines.branch_and_bound.nodes import Child, Node, Worth

if TYPE_CHECKING:
    from collections.abc import Callable

    from riskslim.engines.branch_and_bound.rows import NodeRows
    from riskslim.engines.branch_and_bound.workspace import KernelArguments, Worker

__all__ = ["SampledNodes"]

# Passes that a child may take: the second one where the first moved its box or might prune it.
ROUNDS = 3
# An intercept's derivative times its range, as a share of the tolerance.
POLISHED = 0.2
# So many times as many rows as the sample are worth a sample.
WORTHWHILE = 4


class _Part(NamedTuple):
    """A child that is being relaxed, in the numbers of the kernels."""

    box: NDArray[np.float64]
    coef: NDArray[np.float64]
    worth: NDArray[np.float64]
    result: NDArray[np.float64]


class SampledNodes:
    """Relaxations on a sample, and passes over all rows.

    Parameters
    ----------
    rows : NodeRows
        All of them, in random order.
    n : int
        Rows of the sample.
    """

    def __init__(self, rows: NodeRows, n: int) -> None:
        self.rows = rows
        self.sample = rows.first(n)
        self._labels = _labels(rows)

    def linearised(
        self,
        rows: NodeRows,
        parts: list[_Part],
        tolerance: float,
        stop: NDArray[np.int64],
        worker: Worker,
    ) -> list[NDArray[np.float64]] | None:
        """Linearise the loss of all rows at the points of some boxes; None if told to stop."""
        p = len(parts[0].coef)
        points = np.array([part.worth[0] * part.coef for part in parts])
        reach = np.array(
            [
                (
                    part.worth[0] * part.box[0, 0],
                    part.worth[0] * part.box[1, 0],
                    part.worth[2] * (part.box[1, 0] - part.box[0, 0]),
                    POLISHED * tolerance,
                )
                for part in parts
            ]
        )
        wanted = np.any([(part.box != 0).any(axis=0) for part in parts], axis=0).astype(np.int64)
        known = np.zeros((len(parts), 3 * p + kernels.KNOWN))
        sample = np.zeros_like(known)
        sums = np.empty((len(parts), p + 2, 2))
        for source, polish, found in ((rows, True, known), (self.sample, False, sample)):
            if not kernels.linearise(
                source.integer_columns, source.real_columns, source.slot, source.positive,
                source.negative, self._labels[: source.n_rows] if source is rows is self.rows or source is self.sample else self._labels[:0], points, reach, wanted, polish, found, sums, stop, worker.counters,
            ):  # fmt: skip
                return None
        tilt = known[:, p : 2 * p] - sample[:, p : 2 * p]
        known[:, 2 * p : 3 * p] = tilt
        known[:, 3 * p + 2] = (
            known[:, 3 * p] - sample[:, 3 * p] - (tilt * known[:, :p]).sum(axis=1)
        )
        for part, point in zip(parts, points, strict=True):
            part.coef[0] = point[0] / part.worth[0]
        return list(known)

    def children(
        self,
        parts: list[_Part],
        parent: NDArray[np.float64],
        rows: NodeRows,
        arguments: Callable[[NDArray[np.float64]], KernelArguments],
        steps: int,
        stop: NDArray[np.int64],
        worker: Worker,
        constant: float,
    ) -> list[Child]:
        children, rest = [], [(part, parent) for part in parts]
        stats = self.stats
        for round_ in range(ROUNDS):
            if not rest:
                break
            last, rest = rest, []
            settings = arguments(parent)
            cutoff, tolerance = settings.cutoff, settings.tolerance
            found = self.linearised(rows, [part for part, _ in last], tolerance, stop, worker)
            if found is None:
                children += [self._child(part, known, constant) for part, known in last]
                break
            stats['passes', round_] = stats.get(('passes', round_), 0) + len(last)
            for (part, _), known in zip(last, found, strict=True):
                own = arguments(known)
                if kernels.settle(*own, part.box, part.coef, part.worth, part.result, stop,
                    worker.counters, worker.work, worker.index) == kernels.PRUNED:  # fmt: skip
                    stats['pruned', round_] = stats.get(('pruned', round_), 0) + 1
                    continue
                bound, objective = part.result[:2]
                if objective < cutoff or objective - bound <= tolerance or round_ == ROUNDS - 1:
                    children.append(self._child(part, known, constant))
                    stats['open', round_] = stats.get(('open', round_), 0) + 1
                    continue
                kernels.solve_root(
                    *own, steps, part.box, part.coef, part.worth, part.result, stop,
                    worker.counters, worker.work, worker.index,
                )  # fmt: skip
                estimate = part.result[1]
                part.result[0] = bound
                if estimate < cutoff or stop[0]:
                    children.append(self._child(part, known, constant))
                    stats['openest', round_] = stats.get(('openest', round_), 0) + 1
                    continue
                rest.append((part, known))
        return children

    stats: dict = {}

    @staticmethod
    def _child(part: _Part, known: NDArray[np.float64], constant: float) -> Child:
        return Child(
            max(float(part.result[0]) + constant, 0.0), part.box, part.coef,
            float(part.result[2]), Worth(*part.worth.tolist()), known,
        )  # fmt: skip


def _labels(rows: NodeRows) -> NDArray[np.int8]:
    """Classes of rows of one class and one weight; empty if they are not like that."""
    largest = np.maximum(rows.positive, rows.negative)
    if (np.minimum(rows.positive, rows.negative) != 0.0).any() or (largest != largest[0]).any():
        return np.empty(0, np.int8)
    return np.where(rows.positive > 0.0, 1, -1).astype(np.int8)
