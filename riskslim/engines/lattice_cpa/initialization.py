r"""The standard cutting plane algorithm, and what LCPA starts from.

:mod:`~riskslim.engines.lattice_cpa.cutting_planes` is the loop of the paper's Algorithm CPA. On
RiskSlimMIP it solves the risk score problem itself, until a surrogate stalls; on RiskSlimLP it
solves the convex relaxation, and gives LCPA its first cuts and bounds. :func:`initialize` is the
paper's initialization procedure (appendix on algorithmic improvements): CPA on the relaxation,
rounding and polishing of its iterates, chained updates.
"""

from __future__ import annotations

import dataclasses
import logging
import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from riskslim.bounds import chained_updates
from riskslim.engines.branch_and_bound.root import solve_root
from riskslim.engines.lattice_cpa.cutting_planes import cutting_planes
from riskslim.engines.lattice_cpa.feasibility import feasible_start
from riskslim.engines.lattice_cpa.formulation import Cut
from riskslim.engines.lattice_cpa.start import (
    Initialization,
    below,
    best_possible_bounds,
    penalty_ranges,
)
from riskslim.engines.runs import INTERRUPTED
from riskslim.heuristics.descent import round_and_polish
from riskslim.heuristics.subsampling import Subsampling
from riskslim.problem.problem import RiskScoreProblem

__all__ = ["initialize", "initialize_by_root"]

logger = logging.getLogger("riskslim.lattice_cpa")


def initialize_by_root(
    problem: RiskScoreProblem,
    *,
    starts: list[NDArray[np.int64]],
    polish: bool = True,
    swaps: bool = True,
    probing: bool = True,
    time_limit: float = 20.0,
    stop: NDArray[np.int64] | None = None,
    on_score: Callable[[NDArray[np.int64], float], None] | None = None,
) -> Initialization:
    """Initialization by the root of the native branch and bound, in place of CPA.

    The relaxation of the true loss is solved by Newton's method; its solution is rounded and
    polished; and the box of the coefficients shrinks to what can be better than the result. The cut
    at the solution makes the surrogate's relaxation as good as that of the loss itself, since it
    holds the gradient of the loss where the relaxation is optimal.

    Parameters
    ----------
    problem : RiskScoreProblem
        Must be feasible.
    starts : list of ndarray of int64, shape (d + 1,)
        Feasible vectors, one at least.
    polish, swaps : bool, default True
        Polish what is found, with exchanges of features.
    probing : bool, default True
        Relax the root with every feature used either way, and not used, and with the ends of its
        box only.
    time_limit : float, default 20.0
        Seconds for probing.
    stop : int64 array of shape (1,), optional
        Not zero: end with what there is.
    on_score : callable, optional
        Told of every feasible vector that is met, with its objective.

    Returns
    -------
    Initialization

    Notes
    -----
    The box is valid for vectors that are better than ``cutoff``, 1e-10 below the best objective.
    A vector outside has an objective of ``cutoff`` or more, so that the smaller one of
    ``cutoff`` and a bound on the vectors of the box holds for all vectors. The best vector may lie
    outside, where the solver would refuse it: it needs the box widened by
    :func:`widened`, which keeps it valid.
    """
    root = solve_root(
        problem,
        starts=starts,
        swaps=swaps,
        polishing=polish,
        probing=probing,
        stop=stop,
        time_limit=time_limit,
        on_score=on_score,
    )
    assert root.coef is not None
    bounds = best_possible_bounds(problem, None if stop is None else lambda: bool(stop[0]))
    bounds = dataclasses.replace(
        bounds,
        objective_min=max(bounds.objective_min, root.lower_bound),
        objective_max=min(bounds.objective_max, root.objective),
    )
    cuts: list[Cut] = []
    # The two that the first LP needs; the others are worth a row where they are violated.
    for point in [*root.points[:1], root.coef, *root.points[1:]]:
        if len(cuts) >= 2 and stop is not None and stop[0]:
            break
        loss, gradient = problem.loss.value_and_gradient(point)
        cuts.append(Cut(np.asarray(point, dtype=np.float64), loss, gradient))
    return Initialization(
        coef=root.coef,
        objective=root.objective,
        cuts=cuts,
        n_binding=min(2, len(cuts)),
        bounds=chained_updates(bounds, **penalty_ranges(problem)),
        box=(root.lower, root.upper),
        cutoff=root.cutoff,
        complete=root.complete,
    )


def initialize(
    problem: RiskScoreProblem,
    *,
    gap_tolerance: float = 1e-3,
    time_limit: float = 20.0,
    max_iterations: int = 500,
    polish: bool = True,
    stop: Callable[[], bool] | None = None,
    subsampling: Subsampling | None = None,
    start: tuple[NDArray[np.int64], float] | None = None,
) -> Initialization:
    """Initialization procedure of LCPA.

    Runs the standard cutting plane algorithm on RiskSlimLP, rounds all its iterates sequentially
    and polishes them by discrete coordinate descent, the latest first, and tightens the bounds by
    chained updates.

    Parameters
    ----------
    problem : RiskScoreProblem
        Must be feasible.
    gap_tolerance : float, default 1e-3
        Gap of the relaxation at which CPA stops.
    time_limit : float, default 20.0
        Seconds for CPA, and as many for rounding and polishing.
    max_iterations : int, default 500
        Of CPA.
    polish : bool, default True
        Polish every rounded iterate.
    stop : callable, optional
        Asked now and then; True ends the procedure with what there is.
    subsampling : Subsampling, optional
        Where iterates are rounded and polished; on all rows if None.
    start : (coef, objective), optional
        A feasible vector; that of :func:`feasible_start` if None.

    Returns
    -------
    Initialization

    Raises
    ------
    InfeasibleProblemError
        No vector meets the requirements.
    SolverUnavailableError, ProblemSizeError
        CPLEX is missing, or its licence too small.

    Notes
    -----
    Ustun & Rudin (2019), Algorithm *Initialization Procedure for LCPA*.
    """
    best, objective = start or feasible_start(problem, time_limit=time_limit, stop=stop)
    bounds = best_possible_bounds(problem, stop)
    if problem.has_ridge:
        bounds = below(bounds, objective)
    cpa = cutting_planes(problem, True, gap_tolerance, time_limit, max_iterations, bounds, stop)
    deadline = time.perf_counter() + time_limit
    for point in (cut.point for cut in reversed(cpa.cuts)):
        if time.perf_counter() > deadline or (stop is not None and stop()):
            break
        if subsampling is not None:
            found = subsampling.round_and_polish(
                problem,
                point,
                objective_max=objective,
                objective_min=max(bounds.objective_min, cpa.lower_bound),
                polish=polish,
            )
        else:
            cutoff = math.inf if polish else objective
            found = round_and_polish(problem, point, cutoff, polish=polish)
        if found is not None and found[1] < objective:
            best, objective = found
    bounds = dataclasses.replace(
        bounds,
        objective_min=max(bounds.objective_min, cpa.lower_bound),
        objective_max=min(bounds.objective_max, objective),
    )
    binding = set(cpa.binding)
    order = [*cpa.binding, *(i for i in range(len(cpa.cuts)) if i not in binding)]
    return Initialization(
        coef=best,
        objective=objective,
        cuts=[cpa.cuts[i] for i in order],
        n_binding=len(binding),
        bounds=chained_updates(bounds, **penalty_ranges(problem)),
        interrupted=cpa.message == INTERRUPTED,
    )
