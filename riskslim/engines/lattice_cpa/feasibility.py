"""A first vector that meets the constraints, found by a solver where search alone does not."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from riskslim.engines.lattice_cpa.conflicts import (
    NOT_FOUND,
    SLICE,
    confirmed,
    found_in_time,
    without_loss,
)
from riskslim.engines.lattice_cpa.model import RiskSlimMIP, translated_errors
from riskslim.engines.lattice_cpa.start import require_feasible
from riskslim.exceptions import RiskSLIMError
from riskslim.heuristics.descent import discrete_coordinate_descent, sequential_rounding
from riskslim.problem.problem import RiskScoreProblem

__all__ = ["feasible_start"]


def feasible_start(
    problem: RiskScoreProblem,
    *,
    time_limit: float = math.inf,
    stop: Callable[[], bool] | None = None,
    flag: NDArray[np.int64] | None = None,
    solver: str = "cplex",
) -> tuple[NDArray[np.int64], float]:
    """The smallest feasible model, every coefficient as close to zero as it may be.

    With constraints, any feasible vector: one that rounding finds next to zero or, failing that,
    one that the solver finds on RiskSlimMIP without the loss.

    Parameters
    ----------
    problem : RiskScoreProblem
    time_limit : float, default infinity
        Seconds for the solver.
    stop : callable, optional
        Asked now and then while the solver searches.
    flag : int64 array of shape (1,), optional
        Not zero: no vector is improved any more.
    solver : {"cplex", "scip"}

    Returns
    -------
    coef : ndarray of int64, shape (d + 1,)
    objective : float

    Raises
    ------
    InfeasibleProblemError
        No vector meets the requirements.
    RiskSLIMError
        The solver found no feasible vector in time.
    """
    require_feasible(problem)
    coef = np.clip(0, problem.lower, problem.upper)
    missing = problem.min_size - problem.model_size(coef)
    if missing > 0:
        unused = 1 + np.flatnonzero(problem.usable & (coef[1:] == 0))[:missing]
        coef[unused] = np.where(problem.upper[unused] > 0, 1, -1)
    if not problem.is_feasible(coef):
        rounded = sequential_rounding(problem, coef, stop=flag).coefficients
        coef = _found_by(solver, problem, time_limit, stop) if rounded is None else rounded
    start = discrete_coordinate_descent(problem, coef, directions=[0], should_stop=stop, stop=flag)
    assert start.coefficients is not None
    return start.coefficients, start.objective


def _found_by(
    solver: str, problem: RiskScoreProblem, time_limit: float, stop: Callable[[], bool] | None
) -> NDArray[np.int64]:
    if solver == "scip":
        from riskslim.engines.lattice_cpa.scip_model import found_by_scip

        return found_by_scip(problem, time_limit, stop)
    return _found_by_cplex(problem, time_limit, stop)


def _found_by_cplex(
    problem: RiskScoreProblem, time_limit: float, stop: Callable[[], bool] | None
) -> NDArray[np.int64]:
    """Any feasible vector, from the constraints alone."""
    deadline = time.perf_counter() + time_limit
    with found_in_time():
        model = RiskSlimMIP(problem, without_loss(problem), should_stop=stop)
    cpx, status = model.cpx, model.cpx.solution.status
    cpx.objective.set_linear(model.objective, 0.0)
    cpx.parameters.mip.limits.solutions.set(1)
    cpx.parameters.timelimit.set(SLICE)
    with translated_errors(model):
        cpx.solve()
        while cpx.solution.get_status() == status.MIP_time_limit_infeasible:
            if time.perf_counter() >= deadline or (stop is not None and stop()):
                break
            cpx.solve()  # goes on from where it was
    if cpx.solution.get_status() in (status.MIP_infeasible, status.MIP_infeasible_or_unbounded):
        remaining = deadline - time.perf_counter()
        return confirmed(problem, "CPLEX", seconds=remaining, stop=stop)
    if not cpx.solution.is_primal_feasible():
        raise RiskSLIMError(NOT_FOUND)
    coef, _ = model.coef_and_loss(cpx.solution.get_values(*model.value_range))
    found = np.rint(coef).astype(np.int64)
    violations = problem.violations(found)
    if violations:
        raise RiskSLIMError(
            "CPLEX's arithmetic does not tell whether the constraints can be met; state them with "
            f"integer coefficients where possible ({'; '.join(violations)})"
        )
    return found
