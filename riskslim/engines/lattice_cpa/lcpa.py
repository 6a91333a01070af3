r"""The lattice cutting plane algorithm (LCPA) on CPLEX or SCIP.

One branch and bound search over the surrogate problem, whose approximation of the loss gets
a cut at every integer solution that the search meets (Ustun & Rudin 2019, Algorithm *LCPA*).
"""

from __future__ import annotations

import dataclasses
import logging
import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._kernels import are_complete
from riskslim.constraints.shares import OperatingPointConstraint
from riskslim.engines.certify import certify
from riskslim.engines.lattice_cpa.feasibility import feasible_start
from riskslim.engines.lattice_cpa.formulation import BuildStoppedError, accuracy_of
from riskslim.engines.lattice_cpa.initialization import initialize, initialize_by_root
from riskslim.engines.lattice_cpa.lattice_search import LatticeSearch, report
from riskslim.engines.lattice_cpa.listing import list_in_order
from riskslim.engines.lattice_cpa.model import check_size, new_cplex
from riskslim.engines.lattice_cpa.relaxation import Relaxation, RelaxationRun
from riskslim.engines.lattice_cpa.solvers import import_solver
from riskslim.engines.lattice_cpa.start import Initialization, best_possible_bounds
from riskslim.engines.lattice_cpa.tree import MAX_SECONDS, TreeLimits, TreeSearch
from riskslim.engines.runs import (
    DEFAULT_GAP_TOLERANCE,
    DEFAULT_SOLVER,
    DEFAULT_TIME_LIMIT,
    INTERRUPTED,
    EngineCall,
    EngineRun,
    check_rows_in_memory,
    check_solver,
    checked_limits,
    checked_settings,
    checked_start,
    run_interruptibly,
)
from riskslim.engines.scales import ScalesRun
from riskslim.engines.settings import LatticeCPASettings
from riskslim.exceptions import CertificateError, InfeasibleProblemError, ProblemSizeError
from riskslim.heuristics.subsampling import Subsampling, pays
from riskslim.problem.problem import RiskScoreProblem
from riskslim.solution import Solution, SolveStatistics, Trace, TraceRecord, optimality_gap

__all__ = ["lattice_cpa"]

logger = logging.getLogger("riskslim.lattice_cpa")

ENGINE = "lattice_cpa"
SOLVER_NAMES = {"cplex": "CPLEX", "scip": "SCIP"}
# Cuts per node that suit a solver, measured (docs/lattice_cpa.md).
FRACTIONAL_ROUNDS = {"cplex": 1, "scip": 3}
DISTRUSTED = (
    "{solver}'s arithmetic did not hold on features of this size, and its bounds were dropped; "
    "rescale the largest features"
)
TIME_LIMIT = "time limit reached"
TOO_LARGE = (
    "the problem is too large for the Community Edition of CPLEX: use branch_and_bound, "
    "solver='scip', fewer features, or features that fewer records differ in"
)
RATES_CHECKED = "scores were met in order of their objective, and their rates counted"
RATES_LEFT_OUT = "constraints on rates, which this score meets, were left out of the search"


def lattice_cpa(
    problem: RiskScoreProblem,
    *,
    time_limit: float = DEFAULT_TIME_LIMIT,
    gap_tolerance: float = DEFAULT_GAP_TOLERANCE,
    node_limit: int | None = None,
    n_threads: int = 1,
    random_state: int = 0,
    start: ArrayLike | None = None,
    solver: str = DEFAULT_SOLVER,
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
        ``pip install ".[scip]"``; it works in one thread.
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
        INFEASIBLE is proven as by :func:`~riskslim.branch_and_bound`, unless rates are constrained:
        then it is what the solver finds to within its tolerances.

    Raises
    ------
    ValueError, TypeError
        Limits out of range; ``start`` not feasible; an interval of scales; a constraint of
        :func:`~riskslim.operating_point_at_least`; a usable feature has values beyond 1e6, for
        which the bounds of a solver in double precision are not valid.
    SolverUnavailableError
        The package of the solver cannot be imported or started.
    ProblemSizeError
        The problem is too large for the installed licence of CPLEX. The Community Edition takes
        about 490 features, or 330 with a ridge penalty, whatever the number of rows; constraints on
        rates take up to two rows for each different record beside. More features are refused before
        anything is searched, whatever the limits. Where it is rows that are too many, and a score
        is known that meets all constraints, it is returned instead, as FEASIBLE with a message.
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
    Where rates are constrained, :func:`~riskslim.branch_and_bound` first solves the problem without
    these constraints, for 0.4 of the time limit or for as long as its best score meets them. Its
    bound holds for the whole problem, and such a score is returned with it. Otherwise it goes on to
    meet all scores below the best one that meets the rates, and counts the rates of each, for half
    of the time that is left and 200,000 scores at most, and no longer than its pace gives hope;
    then the solver's search starts from that bound and that score.
    Without compiled kernels (docs/kernels.md) the search starts from the paper's initialization
    procedure, as with ``native_root=False``, and constraints on rates are left to the solver alone.
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
    >>> problem = RiskScoreProblem(data, coefficients, max_size=1)
    >>> solution = lattice_cpa(problem)
    >>> solution.points, solution.certificate.status.value
    ({'age >= 60': 3}, 'optimal')
    """
    limits = checked_limits(time_limit, gap_tolerance, node_limit, n_threads, random_state)
    settings = checked_settings(problem, settings, LatticeCPASettings)
    check_rows_in_memory(problem, "lattice_cpa")
    _check_thresholds(problem)
    check_solver(solver)
    import_solver(solver)
    limits["solver"] = solver
    if problem.scales.is_interval:
        raise ValueError(
            f"the scale may be any number from {problem.scales.describe()}: lattice_cpa takes one "
            "scale or a list of them; branch_and_bound searches over intervals"
        )
    vector = checked_start(problem, start)

    call = EngineCall(problem, settings, limits, vector, progress, should_stop)
    if problem.scales.is_single:
        return run_interruptibly(LatticeCPARun(call))
    return run_interruptibly(ScalesRun(ENGINE, call, LatticeCPARun))


def _check_thresholds(problem: RiskScoreProblem) -> None:
    """Refuse shares at a threshold that is free: rows of a surrogate know outcomes at one alone."""
    free = [one.label for one in problem.constraints if isinstance(one, OperatingPointConstraint)]
    if free:
        raise ValueError(
            f"the constraint ({free[0]}) leaves the threshold to the score: lattice_cpa cannot "
            "state that, branch_and_bound can; or name a risk by false_negative_rate_at_most and "
            "false_positive_rate_at_most"
        )


class LatticeCPARun(EngineRun[LatticeCPASettings]):
    """The search at one scale.

    Parameters
    ----------
    call : EngineCall
        Of a problem with one scale.
    cutoff : float
        Objective of a score with another scale: the search ends where its bound reaches it.
    """

    def __init__(self, call: EngineCall[LatticeCPASettings], cutoff: float = math.inf) -> None:
        if call.settings.fractional_rounds is None:
            rounds = FRACTIONAL_ROUNDS[call.limits["solver"]]
            settings = dataclasses.replace(call.settings, fractional_rounds=rounds)
            call = dataclasses.replace(call, settings=settings)
        super().__init__(ENGINE, call)
        self.cutoff = cutoff
        self.search: LatticeSearch | None = None
        self.subsampling: Subsampling | None = None
        wanted = self.settings.subsampling
        if wanted or (wanted is None and pays(self.problem.loss)):
            self.subsampling = Subsampling(
                self.settings.subsampling_delta, self.limits["random_state"]
            )
        self.solver: str = self.limits["solver"]
        self.abort: Callable[[], None] | None = None
        self.relaxation: Relaxation | None = None
        self.listing = SolveStatistics()  # of scores whose rates were checked
        self.early = Trace()  # of scores that the initialization meets
        self.early_objective = math.inf

    def interrupt(self) -> None:
        """End the search as soon as possible; may be called from another thread."""
        self.interrupted.set()
        self.stop.fill(1)
        if self.abort is not None:
            self.abort()

    def stop_requested(self) -> bool:
        """True if the user wants the search to end."""
        if self.user_stop is not None and self.user_stop():
            self.interrupted.set()
        return self.interrupted.is_set()

    def out_of_time(self) -> bool:
        """True if the time limit is reached, or the search has nothing to find any more."""
        over = self.stop_requested() or self.remaining <= 0
        return over or self._beyond_cutoff()

    def _beyond_cutoff(self) -> bool:
        return self.search is not None and self.search.lower_bound >= self.cutoff

    def solve(self) -> Solution:
        """Initialise, search, certify."""
        # Passes over many rows take seconds: they look at the flag between their parts.
        timer = threading.Timer(min(max(self.remaining, 0.0), MAX_SECONDS), self.stop.fill, [1])
        timer.daemon = True
        timer.start()
        try:
            return self._solved()
        finally:
            timer.cancel()

    def _solved(self) -> Solution:
        if self.problem.infeasibility is not None:
            return self.infeasible(self.problem.infeasibility)
        engine = self._engine()  # fails here, before any work, without the solver
        # Refuses here what the surrogate would refuse later.
        accuracy_of(self.problem, SOLVER_NAMES[self.solver])
        has_relaxation = bool(self.problem.rates) and are_complete()
        if self.solver == "cplex" and not has_relaxation:
            check_size(self.problem)
        if has_relaxation:  # else the tree of outcomes does it all
            self.relaxation = self._without_rates()
            if self.relaxation.infeasibility is not None:
                return self.infeasible(self.relaxation.infeasibility)
            solution = self._solved_without_rates(self.relaxation)
            if solution is not None:
                return solution
        try:
            initial = self._initialize()
        except InfeasibleProblemError as error:
            return self.infeasible(error.reason)
        except ProblemSizeError:
            if self.relaxation is None or self.relaxation.coef is None:
                raise
            return self._of_relaxation(self.relaxation, TOO_LARGE)
        if initial.interrupted:
            self.interrupted.set()
        search = LatticeSearch(
            self.problem,
            self.settings,
            initial.bounds,
            self.began,
            self.progress,
            self.subsampling,
            initial.cutoff,
            self.out_of_time,
        )
        self.search = search
        search.stop = self.stop
        if self.relaxation is not None:
            search.follow(self.relaxation)
        else:
            search.begin_with(self.early)
        search.remember(initial.cuts)
        search.consider(initial.coef, self.problem.loss.value(initial.coef))
        search.polish(initial.coef, search.coef_loss)
        if self.start is not None:
            search.consider(self.start, self.problem.loss.value(self.start))
            search.polish(self.start, self.problem.loss.value(self.start))
        self.initialization_seconds = self.seconds
        if not self.stop_requested() and (initial.complete or self._is_settled(search)):
            message = "search completed"
        elif self.out_of_time():
            message = self._ended_early()
        else:
            message = self._listed(search) or self._search_tree(search, initial)
        return self._solution(search, message, engine)

    def _ended_early(self) -> str:
        """Say why the search is over before the tree has come to an end."""
        return INTERRUPTED if self.stop_requested() else TIME_LIMIT

    def _without_rates(self) -> Relaxation:
        """Solve the problem without constraints on rates; start from what meets them."""
        relaxation = RelaxationRun(
            self.problem,
            self.limits,
            self.start,
            self.began,
            self.cutoff,
            self.progress,
            self.stop_requested,
        ).solve()
        if relaxation.coef is not None:
            self.start = relaxation.coef
        self.initialization_seconds = self.seconds
        return relaxation

    def _solved_without_rates(self, relaxation: Relaxation) -> Solution | None:
        """The solution, where the tree of outcomes has nothing to add or no time."""
        if relaxation.coef is None:
            return None
        if self.stop_requested():
            return self._of_relaxation(relaxation, INTERRUPTED)
        if relaxation.is_best and relaxation.message:
            return self._of_relaxation(relaxation, f"{relaxation.message}; {RATES_LEFT_OUT}")
        if self.remaining <= 0 or relaxation.lower_bound >= self.cutoff:
            return self._of_relaxation(relaxation, TIME_LIMIT)
        return None

    def _of_relaxation(self, relaxation: Relaxation, message: str) -> Solution:
        """The best score that the search without constraints on rates has met."""
        assert relaxation.coef is not None
        certificate = certify(
            self.problem,
            relaxation.coef,
            min(relaxation.lower_bound, self.problem.objective(relaxation.coef)),
            gap_tolerance=self.limits["gap_tolerance"],
            bound_tolerance=relaxation.bound_tolerance,
            engine=f"{ENGINE} (branch_and_bound without rates)",
            message=message,
            interrupted=message == INTERRUPTED,
        )
        relaxation.finish(certificate, self.seconds)
        logger.info("%s: %s", certificate.status, certificate.explain())
        statistics = dataclasses.replace(
            relaxation.statistics,
            total_seconds=self.seconds,
            initialization_seconds=self.initialization_seconds,
        )
        return self.assembled(relaxation.coef, certificate, relaxation.trace, statistics)

    def _is_settled(self, search: LatticeSearch) -> bool:
        """True if the bound without constraints on rates is all that has to be proven."""
        if self.relaxation is None:
            return False
        share: float = self.limits["gap_tolerance"]
        allowed = max(share * search.objective, 2 * search.tolerance)
        return search.objective - search.lower_bound <= allowed

    def _engine(self) -> str:
        """Name of the engine, with the version of its solver."""
        if self.solver == "cplex":
            return f"{ENGINE} (CPLEX {new_cplex().get_version()})"
        from riskslim.engines.lattice_cpa.scip_model import scip_version

        return f"{ENGINE} (SCIP {scip_version()})"

    def _initialize(self) -> Initialization:
        """The initialization procedure, or its result without CPA if it is switched off."""
        settings = self.settings
        start = self._feasible_start()
        if settings.initialization and settings.native_root and are_complete():
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
        bounds = best_possible_bounds(self.problem, self._is_flagged)
        return Initialization(*start, [], 0, bounds)

    def _is_flagged(self) -> bool:
        return bool(self.stop[0])

    def _initialize_by_root(self, start: NDArray[np.int64]) -> Initialization:
        starts = [start]
        if self.start is not None and self.start is not start:
            starts.append(self.start)
        limit = min(self.settings.initialization_time_limit, 0.2 * self.limits["time_limit"])
        if self.stop_requested():
            self.stop.fill(1)
        return initialize_by_root(
            self.problem,
            starts=starts,
            polish=self.settings.polishing,
            swaps=self.settings.swaps,
            probing=self.settings.probing,
            time_limit=limit,
            stop=self.stop,
            on_score=None if self.relaxation is not None else self._met,
        )

    def _met(self, coef: NDArray[np.int64], objective: float) -> None:
        """Record a score that the initialization has met, if it is the best one so far."""
        if not objective < self.early_objective:
            return
        self.early_objective = objective
        record = TraceRecord(
            time=self.seconds,
            upper_bound=objective,
            lower_bound=0.0,
            gap=optimality_gap(objective, 0.0),
            nodes=0,
            cuts=0,
            incumbent_updates=len(self.early) + 1,
        )
        self.early.append(record)
        report(record, self.progress)

    def _feasible_start(self) -> tuple[NDArray[np.int64], float]:
        """A feasible vector, the user's where one has to be searched for."""
        if self.problem.constraint_rows is not None and self.start is not None:
            return self.start, self.problem.objective(self.start)
        return feasible_start(
            self.problem,
            time_limit=self.remaining,
            stop=self.out_of_time,
            flag=self.stop,
            solver=self.solver,
        )

    def _listed(self, search: LatticeSearch) -> str:
        """Go through scores in order, where rates are constrained; empty if the tree is needed."""
        if self.relaxation is None:
            return ""
        listing = list_in_order(search, self._limits_left(), self.remaining, self.out_of_time)
        self.listing = listing.statistics
        if listing.complete or self._is_settled(search):
            return f"search completed; {RATES_CHECKED}"
        return self._ended_early() if self.out_of_time() else ""

    def _limits_left(self) -> dict[str, Any]:
        return self.limits | {"node_limit": self._nodes_left()}

    def _search_tree(self, search: LatticeSearch, initial: Initialization) -> str:
        """Branch and bound on RiskSlimMIP; says how it ended."""
        try:
            result = _tree_of(self.solver)(
                search,
                initial,
                self.settings,
                TreeLimits(
                    deadline=self.deadline,
                    gap_tolerance=self.limits["gap_tolerance"],
                    node_limit=self._nodes_left(),
                    n_threads=self.limits["n_threads"],
                    seed=self.limits["random_state"],
                ),
                self.out_of_time,
                self._tree_started,
            )
        except BuildStoppedError:
            return self._ended_early()
        except ProblemSizeError:  # seen when bounds are known; the score has that of the root
            return TOO_LARGE
        if search.distrusted:
            return DISTRUSTED.format(solver=SOLVER_NAMES[self.solver])
        # An abort that neither we nor the time limit asked for: the solver saw Ctrl-C itself.
        if result.aborted and not self.out_of_time():
            self.interrupted.set()
        message = INTERRUPTED if self.interrupted.is_set() else result.message
        return self._take_bound(search, result.bound, message)

    def _nodes_left(self) -> int | None:
        limit: int | None = self.limits["node_limit"]
        if limit is None or self.relaxation is None:
            return limit
        return max(limit - self.relaxation.statistics.nodes - self.listing.nodes, 0)

    def _tree_started(self, abort: Callable[[], None] | None) -> None:
        """Remember how to end the solver's work; None when it has ended."""
        self.abort = abort
        if abort is not None and self.stop_requested():
            abort()

    def _take_bound(self, search: LatticeSearch, bound: float, message: str) -> str:
        """Take over the final bound of the solver, and say how it ended."""
        solver = SOLVER_NAMES[self.solver]
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
            if self.problem.rates:
                message += ", or rates with a threshold that scores do not come so near to"
        return message

    def _solution(self, search: LatticeSearch, message: str, engine: str) -> Solution:
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
        return self.assembled(search.coef, certificate, search.trace, self._statistics(search))

    def _statistics(self, search: LatticeSearch) -> SolveStatistics:
        loss = self.problem.loss
        before = SolveStatistics() if self.relaxation is None else self.relaxation.statistics
        listing = self.listing
        return SolveStatistics(
            total_seconds=self.seconds,
            data_seconds=before.data_seconds + listing.data_seconds + loss.seconds,
            initialization_seconds=self.initialization_seconds,
            nodes=search.nodes_before + search.nodes,
            cuts=listing.cuts + search.n_cuts,
            incumbent_updates=search.incumbent_updates,
            loss_evaluations=(
                before.loss_evaluations + listing.loss_evaluations + loss.n_evaluations
            ),
            refused_candidates=search.refused,
            **({} if self.subsampling is None else self.subsampling.statistics()),
        )


def _tree_of(solver: str) -> TreeSearch:
    """The search of a solver, whose package is imported here."""
    if solver == "scip":
        from riskslim.engines.lattice_cpa import scip

        return scip.search_tree
    from riskslim.engines.lattice_cpa import cplex_tree

    return cplex_tree.search_tree
