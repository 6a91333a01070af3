"""The root of the search alone: what it is worth to an engine that goes on in another way."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim.engines.branch_and_bound.incumbents import Incumbents
from riskslim.engines.branch_and_bound.nodes import Child, InverseScale, Root, signs
from riskslim.engines.branch_and_bound.search import BOUND_TOLERANCE, Search
from riskslim.engines.branch_and_bound.workspace import KernelNode
from riskslim.engines.settings import TunedSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from riskslim.problem.problem import RiskScoreProblem

# How widely supports are searched for where items are many, and the share of the time for the root
# that it may take, in predicted work.
SUPPORT_EFFORT = 3
MANY_ITEMS = 50
SUPPORT_SHARE = 0.5

__all__ = ["SolvedRoot", "solve_root"]

# There are few relaxations to round, and all that follows depends on the best result.
EXCHANGE_MARGIN = 0.3


class RootSearch(Search):
    """A search that looks at the root alone."""

    def root(self) -> Root:
        """Relax the root, round it and shrink its box by what that found, for another engine.

        Nothing is left to search if no vector can be better than the best one.
        """
        if self.stop[0]:
            return Root(self._box, self.lower_bound, [np.zeros(self._box.shape[1])])
        self._prepare()
        self._boxes.price_constraints(self._box, self._workers[0])
        t = 1.0 / self.problem.loss.scale
        child = self._solved_root(t, t)
        if child is None:
            return Root(self._box, self.incumbents.cutoff, [])
        self.lower_bound = max(self.lower_bound, min(self.incumbents.cutoff, child.bound))
        return Root(child.box, self.lower_bound, [child.coef])

    def probe(self, root: Root, deadline: float) -> Root:
        """Relax the root with every feature in turn used either way, and not used.

        What is left of the root's box is the hull of the boxes of the parts that stay open; the
        smallest of their bounds is one for the root.

        Parameters
        ----------
        root : Root
        deadline : float
            ``time.perf_counter()`` at which probing ends.

        Returns
        -------
        Root
            With the solutions of all relaxations.
        """
        coef = root.points[0]
        box, bound, points = root.box.copy(), root.lower_bound, list(root.points)
        spread = self.incumbents.spread
        for j in np.argsort(-np.abs(coef) * spread, kind="stable"):
            if j == 0 or box[0, j] == box[1, j] or not box[0, j] <= 0 <= box[1, j]:
                continue
            if self.stop[0] or time.perf_counter() >= deadline:
                break
            parts = [self._part(box, coef, int(j), ends) for ends in signs(*box[:, j])]
            open_parts = [part for part in parts if part is not None]
            if not open_parts:
                return Root(box, self.incumbents.cutoff, [])
            box = np.array(
                [
                    np.min([part.box[0] for part in open_parts], axis=0),
                    np.max([part.box[1] for part in open_parts], axis=0),
                ]
            )
            bound = max(bound, min(part.bound for part in open_parts))
            points.extend(part.coef for part in open_parts)
            for part in open_parts:
                self.incumbents.round(part.coef, self.problem.loss.scale)
        self.lower_bound = max(self.lower_bound, min(bound, self.incumbents.cutoff))
        return Root(box, self.lower_bound, points)

    def shave(self, root: Root, deadline: float) -> Root:
        """Cut off the ends of every range that cannot hold a better score, found by bisection.

        Parameters
        ----------
        root : Root
        deadline : float
            ``time.perf_counter()`` at which shaving ends.

        Returns
        -------
        Root
            With the same points.
        """
        coef, box = root.points[0], root.box.copy()
        for j in range(len(coef)):
            middle = float(np.clip(np.rint(coef[j]), *box[:, j]))
            for end, outwards in ((0, -1.0), (1, 1.0)):
                open_at = middle  # the end of the range is there or farther out
                while open_at != box[end, j]:
                    if self.stop[0] or time.perf_counter() >= deadline:
                        return root._replace(box=box)
                    first = open_at + outwards * np.ceil(abs(box[end, j] - open_at) / 2)
                    ends = (first, box[1, j]) if end else (box[0, j], first)
                    part = self._part(box, coef, j, ends)
                    if part is None:
                        box[end, j] = first - outwards
                    else:
                        box[end, j], open_at = part.box[end, j], first
        return root._replace(box=box)

    def _part(
        self,
        box: NDArray[np.float64],
        coef: NDArray[np.float64],
        j: int,
        ends: tuple[float, float],
    ) -> Child | None:
        """Relaxation with one coefficient between two ends, None if it is pruned."""
        box, coef = box.copy(), coef.copy()
        worth = np.full(3, 1.0 / self.problem.loss.scale)
        box[:, j] = ends
        part = KernelNode(box, coef, worth, np.array([-math.inf, math.inf, 0.0, 0.0]))
        work = self._boxes.work(self._boxes.rows.rows, self.incumbents.cutoff, self.lower_bound)
        if not self._boxes.propagate(box) or work.relax(part, self._workers[0]):
            return None
        bound, multiplier = self._boxes.bound(part.result), part.result[2]
        return Child(bound, box, coef, multiplier, InverseScale(*worth.tolist()))


@dataclasses.dataclass(frozen=True)
class SolvedRoot:
    """Findings of the root's relaxation, of its probes and of the heuristics.

    Parameters
    ----------
    coef : ndarray of int64, shape (d + 1,), or None
        Best feasible vector.
    objective : float
        Its objective, infinite without one.
    lower, upper : ndarray of int64, shape (d + 1,)
        Every feasible vector with an objective below ``cutoff`` lies between them. The best
        vector need not.
    cutoff : float
        Next to nothing below ``objective``.
    lower_bound : float
        No feasible vector has a smaller objective.
    points : list of ndarray of float64, shape (d + 1,)
        Solutions of relaxations, the root's first.
    complete : bool
        Whether no vector is better than ``cutoff``.
    """

    coef: NDArray[np.int64] | None
    objective: float
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    cutoff: float
    lower_bound: float
    points: list[NDArray[np.float64]]
    complete: bool


def solve_root(
    problem: RiskScoreProblem,
    *,
    starts: Sequence[NDArray[np.int64]] = (),
    swaps: bool = True,
    polishing: bool = True,
    probing: bool = True,
    stop: NDArray[np.int64] | None = None,
    time_limit: float = np.inf,
    on_score: Callable[[NDArray[np.int64], float], None] | None = None,
) -> SolvedRoot:
    """Relax the root, round and polish its solution, and shrink its box by what that found.

    Parameters
    ----------
    problem : RiskScoreProblem
        With one scale. Work is added to the counters of its loss.
    starts : sequence of ndarray of int64, shape (d + 1,)
        Feasible vectors.
    swaps, polishing : bool
        Whether vectors are improved by coordinate descent, with exchanges of features.
    probing : bool, default True
        Relax the root with every feature used either way, and not used.
    stop : int64 array of shape (1,), optional
        Not zero: end as soon as possible.
    time_limit : float, default infinity
        Seconds from now on at whose end probing ends. The search of supports has a share of them in
        predicted work.
    on_score : callable, optional
        Told of every feasible vector that is met, with its objective.

    Returns
    -------
    SolvedRoot
    """
    deadline = time.perf_counter() + time_limit
    stop = np.zeros(1, np.int64) if stop is None else stop
    incumbents = Incumbents(
        problem,
        1,
        None,
        swaps=swaps,
        polishing=polishing,
        exchange_margin=EXCHANGE_MARGIN,
        tolerance=BOUND_TOLERANCE,
        stop=stop,
        on_score=on_score,
    )
    # Of duplicates only one may be left in a box, and then another one is in an equally good
    # vector.
    settings = TunedSettings(order_duplicates=False, merge_rows=False, swaps=swaps)
    search = RootSearch(problem, settings, incumbents, 1, stop, time.perf_counter())
    for start in starts:
        incumbents.polish(start)
        incumbents.offer(start)
    effort = SUPPORT_EFFORT if incumbents.n_items >= MANY_ITEMS else 1
    incumbents.search_supports(starts, effort=effort, budget=SUPPORT_SHARE * time_limit)
    root = search.root()
    if root.points:
        incumbents.search_mixed(effort=1, budget=SUPPORT_SHARE * time_limit)
    if probing and root.points:
        root = search.probe(root, deadline)
    if probing and root.points:
        root = search.shave(root, deadline)
    evaluations, _, _, _, seconds = search.statistics
    problem.loss.seconds += float(seconds)
    problem.loss.n_evaluations += int(evaluations)
    lower, upper = np.rint(root.box).astype(np.int64)
    return SolvedRoot(
        coef=incumbents.best,
        objective=incumbents.objective,
        lower=lower,
        upper=upper,
        cutoff=incumbents.cutoff,
        lower_bound=min(root.lower_bound, incumbents.cutoff),
        points=root.points,
        complete=not root.points,
    )
