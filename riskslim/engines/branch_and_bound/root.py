"""The root of the search alone: what it is worth to an engine that goes on in another way."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim.engines.branch_and_bound.incumbents import Incumbents
from riskslim.engines.branch_and_bound.search import BOUND_TOLERANCE, Search
from riskslim.engines.branch_and_bound.settings import BranchAndBoundSettings

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
    # Of twins only one may be left in a box, and then another one is in an equally good vector.
    settings = BranchAndBoundSettings(order_twins=False, merge_rows=False, swaps=swaps)
    search = Search(problem, settings, incumbents, 1, stop, time.perf_counter())
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
