r"""The standard cutting plane algorithm, and what LCPA starts from.

:func:`standard_cpa` is the paper's Algorithm CPA. On RiskSlimMIP it solves the risk score
problem itself, until a surrogate stalls; on RiskSlimLP it solves the convex relaxation, and
gives LCPA its first cuts and bounds. :func:`initialize` is the paper's initialization
procedure (appendix on algorithmic improvements): CPA on the relaxation, rounding and polishing
of its iterates, chained updates.
"""

from __future__ import annotations

import dataclasses
import logging
import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from riskslim._branch_and_bound.root import solve_root
from riskslim._lattice_cpa.conflicts import NOT_FOUND, confirmed, found_in_time, without_loss
from riskslim._lattice_cpa.formulation import OBJECTIVE_SCALE, Cut
from riskslim._lattice_cpa.model import RiskSlimLP, RiskSlimMIP, translated_errors
from riskslim.bounds import ObjectiveBounds, chained_updates
from riskslim.exceptions import InfeasibleProblemError, RiskSLIMError
from riskslim.heuristics import discrete_coordinate_descent, sequential_rounding
from riskslim.problem import RiskScoreProblem
from riskslim.runs import INTERRUPTED
from riskslim.solution import optimality_gap
from riskslim.subsampling import Subsampling

__all__ = [
    "CPAIteration",
    "CPAResult",
    "Initialization",
    "best_possible_bounds",
    "feasible_start",
    "initialize",
    "initialize_by_root",
    "standard_cpa",
    "widened",
]

logger = logging.getLogger("riskslim.lattice_cpa")


# Seconds between two looks at whether a search for a feasible vector is still wanted.
SLICE = 0.5


@dataclasses.dataclass(frozen=True)
class CPAIteration:
    """One iteration of the standard cutting plane algorithm.

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
    """What the standard cutting plane algorithm found.

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


def standard_cpa(
    problem: RiskScoreProblem,
    *,
    relaxation: bool = False,
    gap_tolerance: float = 0.0,
    time_limit: float = 60.0,
    max_iterations: int = 10_000,
    bounds: ObjectiveBounds | None = None,
    stop: Callable[[], bool] | None = None,
) -> CPAResult:
    r"""Standard cutting plane algorithm (CPA) on RiskSlimMIP or RiskSlimLP.

    Each iteration solves the surrogate to optimality, evaluates the loss at its solution and
    adds the cut there. Its optimal value is a lower bound; the best objective of any iterate
    is the upper bound.

    Parameters
    ----------
    problem : RiskScoreProblem
        Must be feasible.
    relaxation : bool, default False
        Solve the linear relaxation (RiskSlimLP): real-valued coefficients, and
        :math:`\alpha_j \in [0, 1]` in the place of the count of features.
    gap_tolerance : float, default 0.0
        Stop when 1 - lower/upper bound is at most this (:math:`\varepsilon^{stop}`).
    time_limit : float, default 60.0
        Seconds.
    max_iterations : int, default 10000
    bounds : ObjectiveBounds, optional
        Valid bounds to start from; computed from the data if None.
    stop : callable, optional
        Asked before each iteration; True ends the run.

    Returns
    -------
    CPAResult

    Raises
    ------
    InfeasibleProblemError
        No vector meets the requirements.
    ValueError
        A limit is negative, or a feature's values are too large.
    SolverUnavailableError, ProblemSizeError
        CPLEX is missing, or its licence too small.

    Notes
    -----
    Ustun & Rudin (2019), Algorithm *CPA*. The surrogate holds at most as many cuts as fit into
    CPLEX's Community Edition; beyond that the slackest cuts leave it. They remain in the
    result, and the lower bound never falls.

    Examples
    --------
    >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
    >>> from riskslim import standard_cpa
    >>> data = TrainingData([[0, 1], [1, 0], [1, 1], [0, 0]], [0, 1, 1, 0])
    >>> coefficients = CoefficientSet(data.feature_names, -3, 3)
    >>> problem = RiskScoreProblem(LogisticLoss(data, coefficients), coefficients)
    >>> standard_cpa(problem).converged
    True
    """
    _require_feasible(problem)
    if time_limit < 0 or max_iterations < 0 or gap_tolerance < 0:
        raise ValueError("time_limit, max_iterations and gap_tolerance must be at least 0")
    if problem.constraint_rows is not None:
        feasible_start(problem, time_limit=time_limit, stop=stop)
    return _cutting_planes(
        problem,
        relaxation,
        gap_tolerance,
        time_limit,
        max_iterations,
        best_possible_bounds(problem) if bounds is None else bounds,
        stop,
    )


def _cutting_planes(
    problem: RiskScoreProblem,
    relaxation: bool,
    gap_tolerance: float,
    time_limit: float,
    max_iterations: int,
    bounds: ObjectiveBounds,
    stop: Callable[[], bool] | None,
) -> CPAResult:
    """:func:`standard_cpa` on a problem that is known to be feasible."""
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
    """State of one run of the standard cutting plane algorithm."""

    def __init__(self, model: RiskSlimMIP, lower_bound: float, gap_tolerance: float) -> None:
        self.model = model
        self.problem = model.problem
        self.gap_tolerance = gap_tolerance
        self.lower_bound = lower_bound
        self.upper_bound = math.inf
        self.coef: NDArray[np.float64] | None = None
        self.cuts: list[Cut] = []
        self.in_model: list[int] = []  # index of the cut in each row after the fixed rows
        self.binding: list[int] = []
        self.exact = True  # whether the last surrogate was solved to optimality
        self.iterations: list[CPAIteration] = []

    def iterate(self, start: float, time_limit: float) -> str | None:
        """Solve the surrogate once and cut at its solution; say why, if this was the last time."""
        began = time.perf_counter()
        ended = self._solve(time_limit)
        if ended is not None:
            return ended
        coef, _ = self.model.coef_and_loss(
            self.model.cpx.solution.get_values(*self.model.value_range)
        )
        if not self.model.relaxed:
            coef = np.rint(coef)
        self._update_bounds(coef)
        self._make_room()
        self.model.add_cuts([self.cuts[-1]])
        self.in_model.append(len(self.cuts) - 1)
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
        """Whether the bounds agree to within the tolerances, the solver's own included."""
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
        self.binding = [self.in_model[i] for i in tight]

    def _update_bounds(self, coef: NDArray[np.float64]) -> None:
        loss, gradient = self.problem.loss.value_and_gradient(coef)
        self.cuts.append(Cut(coef, loss, gradient))
        if self.model.relaxed:
            alpha = self.model.cpx.solution.get_values(list(self.model.alpha.values()))
            prices = self.problem.l0_penalty[list(self.model.alpha)]
            objective = loss + float(np.dot(prices, alpha))
        else:
            objective = loss + self.problem.penalty(coef)
        if objective < self.upper_bound:
            self.upper_bound, self.coef = objective, coef
        self.lower_bound = min(self.lower_bound, self.upper_bound)

    def _make_room(self) -> None:
        """Drop the slackest half of the cuts when the surrogate is full."""
        limit = self.model.max_cuts - 1
        if len(self.in_model) < limit:
            return
        keep = np.sort(np.argsort(self._slacks, kind="stable")[: limit // 2])
        self.in_model = [self.in_model[i] for i in keep]
        rows = self.model.cpx.linear_constraints
        rows.delete(self.model.n_fixed_rows, rows.get_num() - 1)
        self.model.add_cuts([self.cuts[i] for i in self.in_model])

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


@dataclasses.dataclass(frozen=True)
class Initialization:
    """What the lattice cutting plane algorithm starts from.

    Parameters
    ----------
    coef : ndarray of int64, shape (d + 1,)
        Best integer solution.
    objective : float
        Its objective.
    cuts : list of Cut
        Cuts of the relaxation, the binding ones first; empty without CPA.
    n_binding : int
        How many of the cuts the last surrogate held with equality.
    bounds : ObjectiveBounds
        Bounds on objective, loss and model size of an optimal solution.
    interrupted : bool
        Whether Ctrl-C ended the procedure.
    box : (lower, upper), optional
        Every vector with an objective below ``cutoff`` lies between them.
    cutoff : float
    complete : bool
        Whether there is no such vector.
    """

    coef: NDArray[np.int64]
    objective: float
    cuts: list[Cut]
    n_binding: int
    bounds: ObjectiveBounds
    interrupted: bool = False
    box: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    cutoff: float = math.inf
    complete: bool = False


def initialize_by_root(
    problem: RiskScoreProblem,
    *,
    starts: list[NDArray[np.int64]],
    polish: bool = True,
    swaps: bool = True,
    probing: bool = True,
    time_limit: float = 20.0,
    stop: NDArray[np.int64] | None = None,
) -> Initialization:
    """Initialization by the root of the native branch and bound, in the place of CPA.

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
        deadline=time.perf_counter() + time_limit,
    )
    assert root.coef is not None
    bounds = best_possible_bounds(problem)
    bounds = dataclasses.replace(
        bounds,
        objective_min=max(bounds.objective_min, root.lower_bound),
        objective_max=min(bounds.objective_max, root.objective),
    )
    cuts = []
    # The two that the first LP needs; the others are worth a row where they are violated.
    for point in [*root.points[:1], root.coef, *root.points[1:]]:
        loss, gradient = problem.loss.value_and_gradient(point)
        cuts.append(Cut(np.asarray(point, dtype=np.float64), loss, gradient))
    return Initialization(
        coef=root.coef,
        objective=root.objective,
        cuts=cuts,
        n_binding=min(2, len(cuts)),
        bounds=chained_updates(bounds, problem.l0_penalty[problem.usable]),
        box=(root.lower, root.upper),
        cutoff=root.cutoff,
        complete=root.complete,
    )


def widened(
    box: tuple[NDArray[np.int64], NDArray[np.int64]], coef: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The smallest box that contains another box and a vector.

    Parameters
    ----------
    box : (lower, upper)
    coef : ndarray of int64, shape (d + 1,)

    Returns
    -------
    (lower, upper)
    """
    return np.minimum(box[0], coef), np.maximum(box[1], coef)


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
    bounds = best_possible_bounds(problem)
    cpa = _cutting_planes(problem, True, gap_tolerance, time_limit, max_iterations, bounds, stop)
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
        bounds=chained_updates(bounds, problem.l0_penalty[problem.usable]),
        interrupted=cpa.message == INTERRUPTED,
    )


def round_and_polish(
    problem: RiskScoreProblem, point: NDArray[np.float64], cutoff: float, *, polish: bool
) -> tuple[NDArray[np.int64], float] | None:
    """Round a real-valued point sequentially, then polish it.

    Parameters
    ----------
    problem : RiskScoreProblem
    point : ndarray of float64, shape (d + 1,)
        Within the box.
    cutoff : float
        Roundings whose objective cannot fall below it are given up.
    polish : bool
        Apply discrete coordinate descent.

    Returns
    -------
    (coef, objective) or None
    """
    found = sequential_rounding(problem, point, cutoff=cutoff)
    if polish and found.coefficients is not None:
        found = discrete_coordinate_descent(problem, found.coefficients)
    return None if found.coefficients is None else (found.coefficients, found.objective)


def best_possible_bounds(problem: RiskScoreProblem) -> ObjectiveBounds:
    """Bounds that follow from the data and the coefficient set alone (Proposition 1).

    Parameters
    ----------
    problem : RiskScoreProblem
        Must be feasible.

    Returns
    -------
    ObjectiveBounds
    """
    _require_feasible(problem)
    loss_min, loss_max = problem.loss.bounds()
    required = int(np.count_nonzero(problem.required))
    bounds = ObjectiveBounds(
        0.0, math.inf, loss_min, loss_max, max(problem.min_size, required), problem.max_size
    )
    return chained_updates(bounds, problem.l0_penalty[problem.usable])


def feasible_start(
    problem: RiskScoreProblem,
    *,
    time_limit: float = math.inf,
    stop: Callable[[], bool] | None = None,
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
        Asked now and then while CPLEX searches.
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
    _require_feasible(problem)
    coef = np.clip(0, problem.lower, problem.upper)
    missing = problem.min_size - problem.model_size(coef)
    if missing > 0:
        unused = 1 + np.flatnonzero(problem.usable & (coef[1:] == 0))[:missing]
        coef[unused] = np.where(problem.upper[unused] > 0, 1, -1)
    if not problem.is_feasible(coef):
        rounded = sequential_rounding(problem, coef).coefficients
        coef = _found_by(solver, problem, time_limit, stop) if rounded is None else rounded
    start = discrete_coordinate_descent(problem, coef, directions=[0], should_stop=stop)
    assert start.coefficients is not None
    return start.coefficients, start.objective


def _found_by(
    solver: str, problem: RiskScoreProblem, time_limit: float, stop: Callable[[], bool] | None
) -> NDArray[np.int64]:
    if solver == "scip":
        from riskslim._lattice_cpa.scip import found_by_scip

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


def _require_feasible(problem: RiskScoreProblem) -> None:
    if problem.infeasibility is not None:
        raise InfeasibleProblemError(problem.infeasibility)
