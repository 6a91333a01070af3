r"""The lattice cutting plane algorithm (LCPA) on CPLEX.

One branch and bound search over the surrogate problem, whose approximation of the loss gets
a cut at every integer solution that the search meets (Ustun & Rudin 2019, Algorithm *LCPA*).
"""

from __future__ import annotations

import copy
import dataclasses
import logging
import math
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._lattice_cpa.formulation import OBJECTIVE_SCALE, accuracy_of
from riskslim._lattice_cpa.initialization import (
    InfeasibleProblemError,
    Initialization,
    best_possible_bounds,
    feasible_start,
    initialize,
    initialize_by_root,
    widened,
)
from riskslim._lattice_cpa.model import RiskSlimMIP, new_cplex, translated_errors
from riskslim._lattice_cpa.scales import ScalesRun
from riskslim._lattice_cpa.search import LatticeCPASettings, Search
from riskslim.engine import check_solver
from riskslim.exceptions import CertificateError, RiskSLIMError
from riskslim.problem import RiskScoreProblem
from riskslim.runs import (
    INTERRUPTED,
    checked_limits,
    checked_start,
    infeasible_solution,
    run_interruptibly,
)
from riskslim.solution import Certificate, Solution, SolveStatistics, TraceRecord, certify
from riskslim.subsampling import Subsampling, pays

__all__ = ["lattice_cpa"]

logger = logging.getLogger("riskslim.lattice_cpa")

# What CPLEX's parameter can hold.
MAX_SECONDS = 1e9
DISTRUSTED = (
    "{solver}'s arithmetic did not hold on features of this size, and its bounds were dropped; "
    "rescale the largest features"
)

# Most by which a solution that violates unscaled rows a little can understate its objective.
UNSCALED_INFEASIBILITY = 1e-6


def lattice_cpa(
    problem: RiskScoreProblem,
    *,
    time_limit: float = 60.0,
    gap_tolerance: float = 0.0,
    node_limit: int | None = None,
    n_threads: int = 1,
    random_state: int = 0,
    start: ArrayLike | None = None,
    solver: str = "cplex",
    settings: LatticeCPASettings | None = None,
    progress: Callable[[TraceRecord], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Solution:
    r"""Solve the risk score problem by the lattice cutting plane algorithm on CPLEX or SCIP.

    Parameters
    ----------
    problem : RiskScoreProblem
    time_limit : float, default 60.0
        Seconds of wall-clock time for everything, the initialization included.
    gap_tolerance : float, default 0.0
        Relative optimality gap at which the search may stop.
    node_limit : int, optional
        Most nodes of the search tree.
    n_threads : int, default 1
        Threads of CPLEX, and of each pass over the rows: it replaces the ``n_threads`` of the
        problem's loss for this call. -1 for all cores. The callbacks run one at a time, and
        the passes over the rows within them do not depend on the number of threads.
    random_state : int, default 0
        Seed of CPLEX and of subsamples.
    start : array-like of int, shape (d + 1,), optional
        A feasible vector to start from, intercept first.
    solver : {"cplex", "scip"}
        Solver of the surrogate problem. SCIP is free software of no limited size and needs
        ``pip install riskslim[scip]``; it works in one thread.
    settings : LatticeCPASettings, optional
        Parts to switch off, margins and limits of the parts.
    progress : callable, optional
        Called with a :class:`~riskslim.solution.TraceRecord` at each change of a bound.
    should_stop : callable, optional
        Asked at every node; True interrupts the search.

    Returns
    -------
    Solution
        Its certificate has status OPTIMAL, FEASIBLE (a limit was reached), INFEASIBLE or
        INTERRUPTED. Ctrl-C and ``should_stop`` interrupt the search; the best score so far is
        returned with its certificate.

    Raises
    ------
    ValueError, TypeError
        Limits out of range; ``start`` not feasible; an interval of scales; a usable feature has
        values beyond 1e6, for which the bounds of a solver in double precision are not valid.
    SolverUnavailableError
        The package of the solver cannot be imported or started.
    ProblemSizeError
        The problem is too large for the installed licence of CPLEX. The Community Edition takes
        about 490 features, whatever the number of rows.
    CertificateError
        The result failed its re-check.
    RiskSLIMError
        No vector that meets the constraints was found within the limits, nor a proof that there is
        none.

    Notes
    -----
    The objective in the certificate is recomputed from the integer coefficients. The lower bound
    is the solver's best bound, valid to within ``certificate.bound_tolerance``, since solvers
    satisfy rows to within a tolerance; bound and objective that agree to within it count as equal.
    A list of scales is searched one after the other. Each search starts from the best score so far,
    ends where its bound reaches that score's objective, and has its share of the time that is left.
    A second Ctrl-C raises KeyboardInterrupt at once.

    Examples
    --------
    >>> from riskslim import (CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData,
    ...                       lattice_cpa)
    >>> X = [[0, 1], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]]
    >>> data = TrainingData(X, [0, 1, 1, 0, 0, 0], feature_names=["age >= 60", "smoker"])
    >>> coefficients = CoefficientSet(data.feature_names, -3, 3)
    >>> problem = RiskScoreProblem(LogisticLoss(data, coefficients), coefficients, max_size=1)
    >>> solution = lattice_cpa(problem)
    >>> solution.points, solution.certificate.status.value
    ({'age >= 60': 3}, 'optimal')
    """
    limits = checked_limits(time_limit, gap_tolerance, node_limit, n_threads, random_state)
    if not isinstance(problem, RiskScoreProblem):
        raise TypeError(f"problem must be a RiskScoreProblem, got {type(problem).__name__}")
    if settings is not None and not isinstance(settings, LatticeCPASettings):
        raise TypeError(f"settings must be LatticeCPASettings, got {type(settings).__name__}")
    check_solver(solver)
    limits["solver"] = solver
    if problem.scales.is_interval:
        raise ValueError(
            f"the scale may be any number from {problem.scales.describe()}: lattice_cpa takes one "
            "scale or a list of them; branch_and_bound searches over intervals"
        )
    vector = checked_start(problem, start)

    def new_run(
        part: RiskScoreProblem,
        limits: dict[str, Any],
        start: NDArray[np.int64] | None,
        cutoff: float,
        progress: Callable[[TraceRecord], None] | None,
    ) -> Run:
        return Run(
            problem=part,
            settings=settings or LatticeCPASettings(),
            limits=limits,
            start=start,
            cutoff=cutoff,
            progress=progress,
            should_stop=should_stop,
        )

    if problem.scales.is_single:
        return run_interruptibly(new_run(problem, limits, vector, math.inf, progress))
    return run_interruptibly(ScalesRun(problem, new_run, limits, vector, progress))


class Run:
    """The search at one scale.

    Parameters
    ----------
    problem : RiskScoreProblem
        With one scale.
    settings : LatticeCPASettings
    limits : dict
    start : ndarray of int64, shape (d + 1,), optional
    cutoff : float
        Objective of a score with another scale: the search ends where its bound reaches it.
    progress, should_stop : callable, optional
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        settings: LatticeCPASettings,
        limits: dict[str, Any],
        start: NDArray[np.int64] | None,
        cutoff: float,
        progress: Callable[[TraceRecord], None] | None,
        should_stop: Callable[[], bool] | None,
    ) -> None:
        # Tables shrink as the size bound tightens; the caller's problem is left as it is.
        self.problem = copy.copy(problem)
        self.problem.loss = copy.copy(problem.loss)
        self.problem.loss.seconds, self.problem.loss.n_evaluations = 0.0, 0
        self.problem.loss.n_threads = limits["n_threads"]
        self.settings = settings
        self.limits = limits
        self.start = start
        self.cutoff = cutoff
        self.search: Search | None = None
        self.progress = progress
        self.user_stop = should_stop
        self.subsampling: Subsampling | None = None
        if settings.subsampling or (settings.subsampling is None and pays(self.problem.loss)):
            self.subsampling = Subsampling(settings.subsampling_delta, limits["random_state"])
        self.name = "lattice_cpa"
        self.solver: str = limits["solver"]
        self.interrupted = threading.Event()
        self.root_stop = np.zeros(1, np.int64)
        self.began = time.perf_counter()
        self.deadline = self.began + limits["time_limit"]
        self.initialization_seconds = 0.0
        self.aborter: Any = None

    def interrupt(self) -> None:
        """End the search as soon as possible; may be called from another thread."""
        self.interrupted.set()
        self.root_stop.fill(1)
        if self.aborter is not None:
            self.aborter.abort()

    def stop_requested(self) -> bool:
        """Whether the user wants the search to end."""
        if self.user_stop is not None and self.user_stop():
            self.interrupted.set()
        return self.interrupted.is_set()

    def out_of_time(self) -> bool:
        """Whether the time limit is reached, or the search has nothing to find any more."""
        over = self.stop_requested() or time.perf_counter() >= self.deadline
        return over or self._beyond_cutoff()

    def _beyond_cutoff(self) -> bool:
        return self.search is not None and self.search.lower_bound >= self.cutoff

    def solve(self) -> Solution:
        """Initialise, search, certify."""
        if self.problem.infeasibility is not None:
            return self._infeasible(self.problem.infeasibility)
        engine = self._engine()  # fails here, before any work, without the solver
        try:
            initial = self._initialize()
        except InfeasibleProblemError as error:
            return self._infeasible(error.reason)
        if initial.interrupted:
            self.interrupted.set()
        search = Search(
            self.problem,
            self.settings,
            initial.bounds,
            self.began,
            self.progress,
            self.subsampling,
            initial.cutoff,
        )
        self.search = search
        search.remember(initial.cuts)
        search.consider(initial.coef, self.problem.loss.value(initial.coef))
        search.polish(initial.coef, search.coef_loss)
        if self.start is not None:
            search.consider(self.start, self.problem.loss.value(self.start))
            search.polish(self.start, self.problem.loss.value(self.start))
        self.initialization_seconds = time.perf_counter() - self.began
        message = "time limit reached"
        if self.stop_requested():
            message = INTERRUPTED
        elif initial.complete:
            message = "search completed"
        elif not self.out_of_time():
            message = self._search_tree(search, initial)
        return self._solution(search, message, engine)

    def _engine(self) -> str:
        """Name of the engine, with the version of its solver."""
        if self.solver == "cplex":
            return f"lattice_cpa (CPLEX {new_cplex().get_version()})"
        from riskslim._lattice_cpa.scip import scip_version

        return f"lattice_cpa (SCIP {scip_version()})"

    def _initialize(self) -> Initialization:
        """The initialization procedure, or its result without CPA if it is switched off."""
        settings = self.settings
        start = self._feasible_start()
        if settings.initialization and settings.native_root:
            return self._initialize_by_root(start[0])
        # The paper's procedure solves RiskSlimLP on CPLEX.
        if settings.initialization and self.solver == "cplex":
            fifth = 0.2 * self.limits["time_limit"]
            return initialize(
                self.problem,
                gap_tolerance=settings.initialization_gap,
                time_limit=min(settings.initialization_time_limit, fifth),
                max_iterations=settings.initialization_max_iterations,
                polish=settings.polishing,
                stop=self.out_of_time,
                subsampling=self.subsampling,
                start=start,
            )
        return Initialization(*start, [], 0, best_possible_bounds(self.problem))

    def _initialize_by_root(self, start: NDArray[np.int64]) -> Initialization:
        accuracy_of(self.problem)  # refuses here what the surrogate would refuse later
        remaining = max(self.deadline - time.perf_counter(), 0.0)
        limit = min(self.settings.initialization_time_limit, 0.2 * self.limits["time_limit"])
        timer = threading.Timer(min(remaining, MAX_SECONDS), self.root_stop.fill, [1])
        timer.daemon = True
        timer.start()
        try:
            if self.stop_requested():
                self.root_stop.fill(1)
            return initialize_by_root(
                self.problem,
                starts=[start] if self.start is None else [start, self.start],
                polish=self.settings.polishing,
                swaps=self.settings.swaps,
                probing=self.settings.probing,
                time_limit=limit,
                stop=self.root_stop,
            )
        finally:
            timer.cancel()

    def _feasible_start(self) -> tuple[NDArray[np.int64], float]:
        """A feasible vector, the user's where one has to be searched for."""
        if self.problem.constraint_rows is not None and self.start is not None:
            return self.start, self.problem.objective(self.start)
        remaining = self.deadline - time.perf_counter()
        return feasible_start(
            self.problem, time_limit=remaining, stop=self.out_of_time, solver=self.solver
        )

    def _search_tree(self, search: Search, initial: Initialization) -> str:
        """Branch and bound on RiskSlimMIP; says how it ended."""
        tree = self._search_scip if self.solver == "scip" else self._search_cplex
        return tree(search, initial)

    def _search_scip(self, search: Search, initial: Initialization) -> str:
        from riskslim._lattice_cpa import scip

        # An LP that SCIP cannot solve is most often one that it can solve with other scaling.
        for scaling in scip.SCALINGS:
            model = scip.ScipMIP(
                self.problem,
                search.bounds,
                box=_box_with_incumbent(initial, search),
                sign_split=self.settings.sign_split,
            )
            for cut in initial.cuts[: initial.n_binding]:
                model.add_cut(cut)
            if model.should_prefer_indicators(self.settings.branching_priority):
                model.prefer_indicators()
            result = scip.search_tree(
                model,
                search,
                time_limit=self.deadline - time.perf_counter(),
                gap_tolerance=self.limits["gap_tolerance"],
                node_limit=self.limits["node_limit"],
                seed=self.limits["random_state"],
                scaling=scaling,
                should_stop=self.out_of_time,
            )
            if not result.failed or search.distrusted or self.out_of_time():
                break
        if search.distrusted:
            return DISTRUSTED.format(solver="SCIP")
        message = INTERRUPTED if self.interrupted.is_set() else result.message
        return self._take_bound(search, result.bound, message, "SCIP")

    def _search_cplex(self, search: Search, initial: Initialization) -> str:
        from riskslim._lattice_cpa.callbacks import register

        assert search.coef is not None
        model = RiskSlimMIP(
            self.problem,
            search.bounds,
            box=_box_with_incumbent(initial, search),
            sign_split=self.settings.sign_split,
        )
        self._set_parameters(model.cpx)
        self._add_initial_cuts(model, initial)
        if model.should_prefer_indicators(self.settings.branching_priority):
            model.prefer_indicators()
        indices, values, _ = model.solution_vector(search.coef, search.coef_loss)
        cpx = model.cpx
        # Checked by CPLEX like any other candidate; the incumbent callback sees it as well.
        cpx.MIP_starts.add([indices, values], cpx.MIP_starts.effort_level.check_feasibility)
        register(model, search, self.out_of_time)
        self.aborter = _aborter(cpx)
        if self.stop_requested():
            self.aborter.abort()
        try:
            with translated_errors(model):
                cpx.solve()
        finally:
            self.aborter, aborter = None, self.aborter
            cpx.remove_aborter()
            aborter.end()
        search.nodes = max(search.nodes, cpx.solution.progress.get_num_nodes_processed())
        message = self._take_result(cpx, search)
        cpx.end()
        return message

    def _set_parameters(self, cpx: Any) -> None:
        parameters = cpx.parameters
        remaining = self.deadline - time.perf_counter()
        parameters.timelimit.set(min(max(remaining, 0.01), MAX_SECONDS))
        parameters.mip.tolerances.mipgap.set(min(self.limits["gap_tolerance"], 1.0))
        if self.limits["node_limit"] is not None:
            parameters.mip.limits.nodes.set(self.limits["node_limit"])
        parameters.threads.set(self.limits["n_threads"])
        parameters.parallel.set(parameters.parallel.values.deterministic)
        parameters.randomseed.set(self.limits["random_state"])
        # The heuristics of this package find good solutions; the solver's work is the bound.
        parameters.emphasis.mip.set(parameters.emphasis.mip.values.optimality)
        # Cuts of the loss come later: no reduction may rely on the rows seen so far.
        parameters.preprocessing.reduce.set(1)
        parameters.preprocessing.linear.set(0)

    def _add_initial_cuts(self, model: RiskSlimMIP, initial: Initialization) -> None:
        """Add the cuts of the relaxation: those that bind as rows, the others as lazy constraints.

        CPLEX looks at the lazy ones only where it finds a solution that violates them. Both count
        in the Community Edition's limit; the latest cuts, next to the relaxation's optimum, come
        first.
        """
        binding = initial.cuts[: initial.n_binding][: model.max_cuts]
        model.add_cuts(binding)
        if initial.box is not None:
            return  # the others are in the search's pool
        others = initial.cuts[initial.n_binding :][::-1]
        model.add_cuts(others[: model.max_cuts - len(binding)], lazy=True)

    def _take_result(self, cpx: Any, search: Search) -> str:
        """Final bound of CPLEX, and why it stopped."""
        if search.distrusted:
            return DISTRUSTED.format(solver="CPLEX")
        message = _ending(cpx)
        status = cpx.solution.status
        aborted = cpx.solution.get_status() in (
            status.MIP_abort_feasible,
            status.MIP_abort_infeasible,
        )
        # An abort that neither we nor the time limit asked for: CPLEX saw Ctrl-C itself.
        if self.interrupted.is_set() or (aborted and not self.out_of_time()):
            self.interrupted.set()
            message = INTERRUPTED
        bound = cpx.solution.MIP.get_best_objective() / OBJECTIVE_SCALE
        if cpx.solution.get_status() == status.MIP_optimal_infeasible:
            # Rows hold to within CPLEX's scaled tolerance only: give up what that can be worth.
            bound -= UNSCALED_INFEASIBILITY
        return self._take_bound(search, bound, message, "CPLEX")

    def _take_bound(self, search: Search, bound: float, message: str, solver: str) -> str:
        """Take over the final bound of a solver, and say how it ended."""
        if abs(bound) >= 1e17:
            return message  # nothing is proven yet
        if bound > search.objective + 10 * search.tolerance:
            raise CertificateError(
                f"{solver} claims a lower bound of {bound!r}, above the objective "
                f"{search.objective!r} of a feasible vector; the bound is not valid"
            )
        search.raise_lower_bound(bound)
        completed = message.startswith("search completed")
        gap_is_left = bound < search.objective - 10 * search.tolerance
        if search.beyond_constraints and completed and gap_is_left:
            message += (
                f"; {solver} accepted points that break a constraint by less than it can tell: "
                "state the constraint with integer coefficients"
            )
        return message

    def _solution(self, search: Search, message: str, engine: str) -> Solution:
        assert search.coef is not None
        certificate = certify(
            self.problem,
            search.coef,
            search.lower_bound,
            gap_tolerance=self.limits["gap_tolerance"],
            bound_tolerance=2 * search.tolerance,
            engine=engine,
            message=message,
            interrupted=message == INTERRUPTED,
        )
        search.finish(certificate)
        logger.info("%s: %s", certificate.status, certificate.explain())
        return self._assembled(search, certificate)

    def _assembled(self, search: Search, certificate: Certificate) -> Solution:
        loss = self.problem.loss
        assert search.coef is not None
        return Solution(
            coefficients=search.coef[1:],
            intercept=int(search.coef[0]),
            certificate=certificate,
            feature_names=self.problem.coefficients.feature_names,
            trace=search.trace,
            statistics=SolveStatistics(
                total_seconds=time.perf_counter() - self.began,
                data_seconds=loss.seconds,
                initialization_seconds=self.initialization_seconds,
                nodes=search.nodes,
                cuts=search.n_cuts,
                incumbent_updates=search.incumbent_updates,
                loss_evaluations=loss.n_evaluations,
                refused_candidates=search.refused,
                **({} if self.subsampling is None else self.subsampling.statistics()),
            ),
            settings=self._settings(),
            scale=certificate.scale,
        )

    def _infeasible(self, reason: str) -> Solution:
        return infeasible_solution(
            self.problem, reason, "lattice_cpa", self.limits["gap_tolerance"], self._settings()
        )

    def _settings(self) -> dict[str, Any]:
        return {"engine": "lattice_cpa", **self.limits, **dataclasses.asdict(self.settings)}


def _box_with_incumbent(
    initial: Initialization, search: Search
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """The box for a solver, which starts from the best score wherever better ones may lie."""
    assert search.coef is not None
    return None if initial.box is None else widened(initial.box, search.coef)


def _ending(cpx: Any) -> str:
    """Say why CPLEX stopped."""
    status = cpx.solution.status
    words = {
        status.MIP_optimal: "search completed",
        status.optimal_tolerance: "gap tolerance reached",
        status.MIP_optimal_infeasible: "search completed, with numerical difficulties",
        status.node_limit_feasible: "node limit reached",
        status.node_limit_infeasible: "node limit reached",
        status.MIP_time_limit_feasible: "time limit reached",
        status.MIP_time_limit_infeasible: "time limit reached",
        # By the callbacks, when the time is over between two checks of CPLEX's own.
        status.MIP_abort_feasible: "time limit reached",
        status.MIP_abort_infeasible: "time limit reached",
        status.fail_feasible: "CPLEX gave up because of an error in a node",
        status.fail_infeasible: "CPLEX gave up because of an error in a node",
        status.mem_limit_feasible: "CPLEX's memory limit reached",
        status.mem_limit_infeasible: "CPLEX's memory limit reached",
    }
    message = words.get(cpx.solution.get_status())
    if message is None:
        raise RiskSLIMError(
            f"CPLEX ended the search with status {cpx.solution.get_status_string()!r} although "
            "a feasible risk score is known; no bound can be stated"
        )
    return message


def _aborter(cpx: Any) -> Any:
    import cplex

    aborter = cplex.Aborter()
    cpx.use_aborter(aborter)
    return aborter
