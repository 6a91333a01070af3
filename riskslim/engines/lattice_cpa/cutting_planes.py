"""The loop of the cutting plane algorithm, which initializes the lattice version."""

from __future__ import annotations

import dataclasses
import logging
import math
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from riskslim.bounds import ObjectiveBounds
from riskslim.engines.lattice_cpa.formulation import OBJECTIVE_SCALE, Cut
from riskslim.engines.lattice_cpa.lattice_search import VIOLATION
from riskslim.engines.lattice_cpa.model import RiskSlimLP, RiskSlimMIP, translated_errors
from riskslim.engines.lattice_cpa.ridge import RidgeRow
from riskslim.engines.runs import INTERRUPTED
from riskslim.exceptions import RiskSLIMError
from riskslim.problem.problem import RiskScoreProblem
from riskslim.solution import optimality_gap

__all__ = ["CPAIteration", "CPAResult", "cutting_planes"]

logger = logging.getLogger("riskslim.lattice_cpa")


@dataclasses.dataclass(frozen=True)
class CPAIteration:
    """One iteration of the cutting plane algorithm.

    Parameters
    ----------
    time : float
        Seconds since the start, at the end of the iteration.
    seconds : float
        Duration of this iteration.
    lower_bound, upper_bound : float
        Bounds on the optimal value of the problem that is solved (the relaxation's for RiskSlimLP).
    gap : float
        1 - lower_bound / upper_bound.
    """

    time: float
    seconds: float
    lower_bound: float
    upper_bound: float
    gap: float


@dataclasses.dataclass(frozen=True)
class CPAResult:
    """The outcome of the cutting plane algorithm.

    Parameters
    ----------
    coef : ndarray of float64, shape (d + 1,), or None
        Best point: integer for RiskSlimMIP, real-valued for RiskSlimLP.
    lower_bound, upper_bound : float
        Bounds on the optimal value of RiskSlimMIP's or RiskSlimLP's problem. Every lower bound
        for the relaxation is one for the risk score problem.
    cuts : list of Cut
        All cuts, in the order of their generation.
    binding : list of int
        Indices of the cuts that the last surrogate held with equality.
    iterations : list of CPAIteration
    converged : bool
        Whether the gap is within the tolerance.
    message : str
        Why it ended.
    """

    coef: NDArray[np.float64] | None
    lower_bound: float
    upper_bound: float
    cuts: list[Cut]
    binding: list[int]
    iterations: list[CPAIteration]
    converged: bool
    message: str

    @property
    def gap(self) -> float:
        """1 - lower_bound / upper_bound."""
        return optimality_gap(self.upper_bound, self.lower_bound)


def cutting_planes(
    problem: RiskScoreProblem,
    relaxation: bool,
    gap_tolerance: float,
    time_limit: float,
    max_iterations: int,
    bounds: ObjectiveBounds,
    stop: Callable[[], bool] | None,
) -> CPAResult:
    """Solve the surrogate of a feasible problem and cut at its solution, again and again.

    Parameters
    ----------
    problem : RiskScoreProblem
    relaxation, gap_tolerance, time_limit, max_iterations, bounds, stop
        As in :func:`riskslim.paper.standard_cpa`.

    Returns
    -------
    CPAResult
    """
    model = RiskSlimLP(problem, bounds) if relaxation else RiskSlimMIP(problem, bounds)
    run = _CuttingPlanes(model, bounds.objective_min, gap_tolerance)
    start = time.perf_counter()
    message = f"{max_iterations} iterations done"
    for _ in range(max_iterations):
        remaining = start + time_limit - time.perf_counter()
        if remaining <= 0:
            message = "time limit reached"
            break
        if stop is not None and stop():
            message = "stopped"
            break
        finished = run.iterate(start, remaining)
        if finished is not None:
            message = finished
            break
    return run.result(message)


class _CuttingPlanes:
    """State of one run of the cutting plane algorithm."""

    def __init__(self, model: RiskSlimMIP, lower_bound: float, gap_tolerance: float) -> None:
        self.model = model
        self.problem = model.problem
        self.gap_tolerance = gap_tolerance
        self.lower_bound = lower_bound
        self.upper_bound = math.inf
        self.coef: NDArray[np.float64] | None = None
        self.cuts: list[Cut] = []
        # Rows after the fixed rows: the indices of cuts, and rows of the ridge penalty.
        self.in_model: list[int | RidgeRow] = []
        self.binding: list[int] = []
        self.exact = True  # whether the last surrogate was solved to optimality
        self.iterations: list[CPAIteration] = []

    def iterate(self, start: float, time_limit: float) -> str | None:
        """Solve the surrogate once and cut at its solution; say why, if this was the last time."""
        began = time.perf_counter()
        ended = self._solve(time_limit)
        if ended is not None:
            return ended
        values = self.model.cpx.solution.get_values(*self.model.value_range)
        coef, _ = self.model.coef_and_loss(values)
        if not self.model.relaxed:
            coef = np.rint(coef)
        self._update_bounds(coef, values)
        ridge = self.model.ridge.violated(values, VIOLATION)[: self.model.max_cuts // 2]
        self._make_room(len(ridge))
        self._add([*ridge, len(self.cuts) - 1])
        now = time.perf_counter()
        gap = optimality_gap(self.upper_bound, self.lower_bound)
        self.iterations.append(
            CPAIteration(now - start, now - began, self.lower_bound, self.upper_bound, gap)
        )
        if self.converged:
            return "gap within the tolerance"
        return None if self.exact else "a surrogate problem was not solved to optimality"

    @property
    def tolerance(self) -> float:
        """Absolute accuracy of the surrogate's optimal value."""
        return self.model.accuracy.bound_tolerance(self.upper_bound)

    @property
    def converged(self) -> bool:
        """True if the bounds agree to within the tolerances, the solver's own included."""
        allowed = max(self.gap_tolerance * self.upper_bound, 2 * self.tolerance)
        return self.upper_bound - self.lower_bound <= allowed

    def _solve(self, time_limit: float) -> str | None:
        """Solve the surrogate; say why, if that gave no solution."""
        cpx = self.model.cpx
        status = cpx.solution.status
        code = self._solve_once(time_limit)
        if code in (status.optimal_infeasible, status.MIP_optimal_infeasible):
            # Optimal after presolve, but not quite feasible once presolve is undone.
            cpx.parameters.preprocessing.presolve.set(0)
            cpx.parameters.advance.set(0)  # or CPLEX takes the present result for an answer
            code = self._solve_once(time_limit)
        if code in (status.abort_user, status.MIP_abort_feasible, status.MIP_abort_infeasible):
            return INTERRUPTED
        if code in (status.abort_time_limit, status.MIP_time_limit_infeasible):
            return "time limit reached"
        self.exact = code in (status.optimal, status.MIP_optimal, status.optimal_tolerance)
        if self.exact:
            self._raise_lower_bound(cpx.solution.get_objective_value())
        elif not cpx.solution.is_primal_feasible():
            raise RiskSLIMError(
                f"CPLEX ended a surrogate problem with status {cpx.solution.get_status_string()!r}"
            )
        elif not self.model.relaxed:
            self._raise_lower_bound(cpx.solution.MIP.get_best_objective())
        self._measure_slacks()
        return None

    def _solve_once(self, time_limit: float) -> int:
        self.model.cpx.parameters.timelimit.set(min(max(time_limit, 0.01), 1e9))
        with translated_errors(self.model):
            self.model.cpx.solve()
        code: int = self.model.cpx.solution.get_status()
        return code

    def _raise_lower_bound(self, value: float) -> None:
        bound = value / OBJECTIVE_SCALE - self.tolerance
        self.lower_bound = max(self.lower_bound, bound)

    def _measure_slacks(self) -> None:
        if not self.in_model:
            return
        rows = self.model.n_fixed_rows
        slacks = self.model.cpx.solution.get_linear_slacks(rows, rows + len(self.in_model) - 1)
        self._slacks = np.abs(slacks)
        tight = np.flatnonzero(self._slacks <= 1e-6 * OBJECTIVE_SCALE)
        binding = [self.in_model[i] for i in tight]
        self.binding = [row for row in binding if isinstance(row, int)]

    def _update_bounds(self, coef: NDArray[np.float64], values: list[float]) -> None:
        loss, gradient = self.problem.loss.value_and_gradient(coef)
        self.cuts.append(Cut(coef, loss, gradient))
        if self.model.relaxed:
            alpha = self.model.cpx.solution.get_values(list(self.model.alpha.values()))
            prices = self.problem.l0_penalty[list(self.model.alpha)]
            objective = loss + float(np.dot(prices, alpha)) + self.model.ridge.envelope(values)
        else:
            objective = loss + self.problem.penalty(coef)
        if objective < self.upper_bound:
            self.upper_bound, self.coef = objective, coef
        self.lower_bound = min(self.lower_bound, self.upper_bound)

    def _make_room(self, n_ridge: int) -> None:
        """Drop the slackest half of the rows when the surrogate is full."""
        limit = self.model.max_cuts - 1 - n_ridge
        if len(self.in_model) < limit:
            return
        keep = np.sort(np.argsort(self._slacks, kind="stable")[: limit // 2])
        kept = [self.in_model[i] for i in keep]
        rows = self.model.cpx.linear_constraints
        rows.delete(self.model.n_fixed_rows, rows.get_num() - 1)
        self.in_model = []
        self._add(kept)

    def _add(self, rows: Sequence[int | RidgeRow]) -> None:
        """Add cuts and rows of the ridge penalty, in this order."""
        cuts = [row for row in rows if isinstance(row, int)]
        ridge = [row for row in rows if not isinstance(row, int)]
        self.model.add_cuts([self.cuts[i] for i in cuts])
        self.model.add_ridge_rows(ridge)
        self.in_model += [*cuts, *ridge]

    def result(self, message: str) -> CPAResult:
        gap = optimality_gap(self.upper_bound, self.lower_bound)
        logger.debug(
            "CPA: %d iterations, lower bound %.8g, gap %.3g; %s",
            len(self.iterations), self.lower_bound, gap, message,
        )  # fmt: skip
        return CPAResult(
            coef=self.coef,
            lower_bound=self.lower_bound,
            upper_bound=self.upper_bound,
            cuts=self.cuts,
            binding=self.binding,
            iterations=self.iterations,
            converged=self.converged,
            message=message,
        )
