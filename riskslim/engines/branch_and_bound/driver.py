r"""Branch and bound without a solver: limits, interruption, certificate."""

from __future__ import annotations

import itertools
import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._checks import as_number, int_between
from riskslim._kernels import require_all
from riskslim.constraints.rows import clash
from riskslim.constraints.search import search_vector
from riskslim.engines.branch_and_bound.best_of_sets import BestOfSets
from riskslim.engines.branch_and_bound.incumbents import MAX_SOLUTIONS, Incumbents
from riskslim.engines.branch_and_bound.pace import Patience
from riskslim.engines.branch_and_bound.rates import Rates
from riskslim.engines.branch_and_bound.search import BOUND_TOLERANCE, OUT_OF_PATIENCE, Search
from riskslim.engines.branch_and_bound.search_rows import SearchRows, prepare
from riskslim.engines.branch_and_bound.wider_intercepts import WiderIntercepts
from riskslim.engines.certify import certify, loss_accuracy
from riskslim.engines.runs import (
    DEFAULT_GAP_TOLERANCE,
    DEFAULT_TIME_LIMIT,
    INTERRUPTED,
    EngineCall,
    EngineRun,
    checked_limits,
    checked_settings,
    checked_start,
    run_interruptibly,
)
from riskslim.engines.scales import ScalesRun
from riskslim.engines.settings import BranchAndBoundSettings
from riskslim.exceptions import RiskSLIMError, RowsLostError, SearchInterruptedError
from riskslim.problem.conflicts import conflicting_constraints
from riskslim.problem.problem import RiskScoreProblem
from riskslim.rows.base import StoppedError
from riskslim.solution import Solution, SolutionPool, SolveStatistics, TraceRecord

__all__ = ["BranchAndBoundRun", "branch_and_bound"]

logger = logging.getLogger("riskslim.branch_and_bound")

ENGINE = "branch_and_bound"
# What a list can hold: vectors, or the best one of each set of items.
DISTINCT = ("scores", "items")
# Of the time that is left, for a vector that meets the constraints, where rounding has found none.
CONSTRAINT_SHARE = 0.5
NO_BETTER = "there is no better score than one that is known"
# Of the time that is left, for descents to vectors that meet constraints on rates, each time that
# they are tried; and predicted seconds of nodes until they are tried again, doubled every time.
RATES_SHARE = 0.1
RATES_PATIENCE = 1.0
# Of the time limit, in predicted work, for each search of supports: a beam before the relaxation of
# the root, and wider ones later, of which each takes some GROWTH times as long as all before it
# together. It is due where it takes no more than SUPPORT_PART of the predicted time of the problem,
# the widest one besides only when nodes have taken as long.
SUPPORT_SHARE = 0.2
BEAM_EFFORT, WIDE_EFFORT = 0, 3
GROWTH, SUPPORT_PART = 4.0, 0.03
# Seconds of an entry of the data until the root has its bound, measured on a busy machine. So long
# before the time limit, on the clock, the search before the root ends, for a score without a bound
# has a gap of 100%; half of the limit is left to it. What ends earlier depends on no clock.
ROOT_SECONDS, ROOT_SHARE = 2e-7, 0.5
MANY_ITEMS = 50
# Seconds of nodes after which columns of many values are searched more widely, and those that the
# problem is then predicted to take at least: the search takes a few seconds itself.
MIXED_PATIENCE = Patience(5.0, 40.0)
MIXED_EFFORT, WIDE_MIXED_EFFORT = 1, 2
# Entries of the data (rows times features) from which the relaxation of the root takes seconds, or
# minutes, in which no better score is found: there the wide search comes before it.
LARGE_ENTRIES = 10**7


def branch_and_bound(
    problem: RiskScoreProblem,
    *,
    time_limit: float = DEFAULT_TIME_LIMIT,
    gap_tolerance: float = DEFAULT_GAP_TOLERANCE,
    node_limit: int | None = None,
    n_threads: int = 1,
    random_state: int = 0,
    start: ArrayLike | None = None,
    n_solutions: int | None = None,
    within: float | None = None,
    distinct: str = "scores",
    settings: BranchAndBoundSettings | None = None,
    progress: Callable[[TraceRecord], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Solution:
    r"""Solve the risk score problem by branch and bound on the convex relaxation of its loss.

    No solver is needed, and the number of features is not limited.

    Parameters
    ----------
    problem : RiskScoreProblem
    time_limit : float, default 60.0
        Seconds of wall-clock time for everything.
    gap_tolerance : float, default 0.0
        Relative optimality gap at which the search may stop. A search for several scores goes on
        until it has all of them.
    node_limit : int, optional
        Most nodes of the search tree. The last batch is finished.
    n_threads : int, default 1
        Nodes that are worked on at once, and threads of each pass of the heuristics over the
        rows. -1 for all cores. The result does not depend on it.
    random_state : int, default 0
        Nothing here is random: it is there for the engines to be called alike.
    start : array-like of int, shape (d + 1,), optional
        A feasible vector to start from, intercept first.
    n_solutions : int, optional
        Find this many of the best risk scores; ``solution.pool`` has them.
    within : float, optional
        Find all risk scores with an objective of at most (1 + within) times the optimum, or the
        best ``n_solutions`` of them. For lists, derived bounds of the intercept are widened until
        they cut off nothing that belongs to it.
    distinct : {"scores", "items"}, default "scores"
        What a list holds: scores, or the best score of each set of items (features with points).
        ``n_solutions`` is then a number of sets.
    settings : BranchAndBoundSettings, optional
    progress : callable, optional
        Called with a :class:`~riskslim.solution.TraceRecord` at each change of a bound.
    should_stop : callable, optional
        Asked several times a second; True interrupts the search.

    Returns
    -------
    Solution
        Its certificate has status OPTIMAL, FEASIBLE (a limit was reached), INFEASIBLE or
        INTERRUPTED. Ctrl-C and ``should_stop`` interrupt the search; the best score so far is
        returned with its certificate.
        INFEASIBLE is a proof that rests on no solver's tolerances
        (:func:`~riskslim.constraints.search.search_vector`); where constraints are neither met nor
        proven to be impossible in time, RiskSLIMError says so.

    Raises
    ------
    ValueError, TypeError
        Limits out of range; ``start`` not feasible; a list of scores is wanted where constraints
        say another thing at each of several scales.
    KernelsUnavailableError
        The compiled kernels are missing.
    RiskSLIMError
        A limit was reached before any vector was found that meets the constraints.
    CertificateError
        The result failed its re-check.

    Notes
    -----
    A node is a box of integers. Its bound is the minimum, over the integer vectors of the box that
    have a permitted size, of a linearisation of the loss at the solution of the node's convex
    relaxation; since the loss is convex it is valid however accurate that solution is, and the
    rounding errors of its sums are subtracted. Bound and objective that agree to within
    ``certificate.bound_tolerance`` (1e-10) count as equal. See docs/branch_and_bound.md.

    Where rates are constrained, scores are met in order of their bounds, and the rates of each are
    counted: docs/constraints.md. Where constraints say another thing at each scale of a list, one
    scale is searched after the other, each with its share of the time that is left.

    Examples
    --------
    >>> from riskslim import (CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData,
    ...                       branch_and_bound)
    >>> X = [[0, 1], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]]
    >>> data = TrainingData(X, [0, 1, 1, 0, 0, 0], feature_names=["age >= 60", "smoker"])
    >>> coefficients = CoefficientSet(data.feature_names, -3, 3)
    >>> problem = RiskScoreProblem(data, coefficients, max_size=1)
    >>> solution = branch_and_bound(problem, n_solutions=2)
    >>> solution.points, solution.certificate.status.value
    ({'age >= 60': 3}, 'optimal')
    >>> solution.pool.coefficients
    array([[-3,  3,  0],
           [-2,  3,  0]])
    """
    limits = checked_limits(time_limit, gap_tolerance, node_limit, n_threads, random_state)
    settings = checked_settings(problem, settings, BranchAndBoundSettings)
    limits["n_solutions"], limits["within"] = checked_pool(n_solutions, within)
    if distinct not in DISTINCT:
        raise ValueError(f"distinct must be one of {', '.join(DISTINCT)}, got {distinct!r}")
    if distinct != "scores":
        limits["distinct"] = distinct
    vector = checked_start(problem, start)
    call = EngineCall(problem, settings, limits, vector, progress, should_stop)
    if not problem.is_constrained_per_scale:
        return run_interruptibly(BranchAndBoundRun(call))
    if _is_list(limits):
        raise ValueError(
            "a list of scores needs one scale where constraints are about risks: they differ "
            f"between the scales {problem.scales.describe()}"
        )
    return run_interruptibly(
        ScalesRun(ENGINE, call, lambda part, cutoff: BranchAndBoundRun(part, cutoff=cutoff))
    )


def checked_pool(n_solutions: int | None, within: float | None) -> tuple[int | None, float | None]:
    """Number of scores that are wanted, and their share; (1, None) where it is one.

    Parameters
    ----------
    n_solutions : int or None
    within : float or None

    Returns
    -------
    n_solutions : int or None
    within : float or None

    Raises
    ------
    TypeError, ValueError
        One is no such number.
    """
    if n_solutions is not None:
        n_solutions = int_between(n_solutions, "n_solutions", 1, MAX_SOLUTIONS)
    if within is not None:
        if not 0 <= as_number(within, "within") < math.inf:
            raise ValueError(f"within must be at least 0 and finite, got {within!r}")
        return n_solutions, float(within)
    return (1 if n_solutions is None else n_solutions), None


def _is_list(limits: Mapping[str, Any]) -> bool:
    """True if more than one score is looked for."""
    return (limits["n_solutions"], limits["within"]) != (1, None)


class BranchAndBoundRun(EngineRun[BranchAndBoundSettings]):
    """One call of :func:`branch_and_bound`, or of a search that it is a part of.

    Parameters
    ----------
    call : EngineCall
        Its limits name ``n_solutions`` and ``within``, too.
    on_score : callable, optional
        Told of every feasible vector that is met, with its objective.
    accepts : callable, optional
        As :class:`Incumbents` has it. Of a problem without constraints on rates.
    cutoff : float, default infinity
        The objective of a known score: others are of no use, and a problem without a better one
        may be called infeasible.
    """

    def __init__(
        self,
        call: EngineCall[BranchAndBoundSettings],
        on_score: Callable[[NDArray[np.int64], float], None] | None = None,
        accepts: Callable[[NDArray[np.int64]], bool] | None = None,
        cutoff: float = math.inf,
    ) -> None:
        require_all()
        super().__init__(ENGINE, call)
        self.on_score = on_score
        self.accepts = accepts
        self.cutoff = cutoff
        self.rates: Rates | None = None
        if self.problem.rates:
            self.rates = Rates(self.problem)
            self.problem = self.problem.without_rates()
            self.on_score, self.accepts = self.rates.consider, self.rates.accepts
        self.is_impossible = False
        self.is_proven = False
        self.beyond: WiderIntercepts | None = None
        self.conflict: list[str] = []
        self._held: SearchRows | None = None
        self._current: Search | None = None

    def solve(self) -> Solution:
        """Search, and certify the best score.

        Raises
        ------
        RowsLostError
            With the best score so far, which cannot be checked again without rows.
        """
        try:
            return self._solved()
        except RowsLostError as lost:
            search = self._current
            if search is not None and search.incumbents.best is not None:
                lost.coef, lost.objective = search.incumbents.best.copy(), float(search.objective)
                lost.lower_bound = float(min(search.lower_bound, search.objective))
                lost.scale = self._estimated_scale(lost.coef)
            raise

    def _estimated_scale(self, coef: NDArray[np.int64]) -> float:
        """The best scale on the rows that are in memory."""
        if self.problem.scales.is_single:
            return self.problem.scales.low
        near = None if self._held is None else self._held.near(self.problem)
        return (self.problem if near is None else near).reported_scale(coef)

    def _solved(self) -> Solution:
        if self.problem.infeasibility is not None:
            return self.infeasible(self.problem.infeasibility)
        try:
            with self.watched():
                search, message = self._searched()
                self.problem.loss.should_stop = None  # the result is re-checked all the same
                incumbents = search.incumbents
                is_over = search.complete or self.is_impossible
                if incumbents.best is None and search.complete and math.isfinite(self.cutoff):
                    return self.infeasible(NO_BETTER)
                if incumbents.best is None and is_over:
                    self.conflict = conflicting_constraints(self._whole(), self.is_stopped)
        except StoppedError:
            self.failure = self.failure or self._without_any_score()
        if self.failure is not None:
            raise self.failure
        if self.interrupted.is_set() and not search.complete:
            message = INTERRUPTED
        if incumbents.best is None:
            return self._without_score(message)
        return self._solution(search, message)

    def _searched(self) -> tuple[Search, str]:
        """Search; for a list again and again, until no intercept beyond its bounds belongs to it.

        The optimum is known after the first search: derived bounds hold it.
        """
        # Derived bounds of the intercept hold the best one of any points.
        if self._has_sets or not _is_list(self.limits):
            search = self._new_search()
            return search, self._search(search)
        wanted = self.limits["n_solutions"], self.limits["within"]
        self.beyond = WiderIntercepts(self.problem, *wanted, self.is_stopped)
        self.problem = self.beyond.first(self.problem)
        search = self._new_search()
        message = self._search(search)
        while search.complete and not self.stop[0]:
            try:
                wider = self.beyond.wider(self.problem, search.incumbents)
            except StoppedError:  # by a limit or the user: what was found stays
                break
            if wider is None:
                break
            self.is_proven = True
            bound = min(search.incumbents.cutoff, self.beyond.least_loss(self.problem))
            known, nodes = search.incumbents.chosen(), search.nodes
            self.problem = wider
            search = self._new_search()
            search.lower_bound, search.nodes = bound, nodes
            for _, coef in known:
                search.incumbents.offer(np.array(coef, np.int64))
            message = self._search(search)
        return search, message

    @property
    def _has_sets(self) -> bool:
        """True if the best score of each set of items is looked for."""
        return _is_list(self.limits) and self.limits.get("distinct") == "items"

    def _new_search(self) -> Search:
        if self._held is None:
            self._held = prepare(self.problem, self.settings.memory_limit, self.is_stopped)
        kind = BestOfSets if self._has_sets else Incumbents
        incumbents = kind(
            self.problem,
            self.limits["n_solutions"],
            self.limits["within"],
            swaps=self.settings.swaps,
            tolerance=BOUND_TOLERANCE,
            stop=self.stop,
            on_score=self.on_score,
            accepts=self.accepts,
            allows=None if self.rates is None else self._allows,
            known=self.cutoff,
            near=self._held.near(self.problem),
        )
        search = Search(
            self.problem,
            self.settings,
            incumbents,
            self.limits["n_threads"],
            self.stop,
            self.began,
            self.progress,
            self._held,
        )
        if self.rates is not None:
            search.items.limits = self.rates.limits(self.problem, incumbents)
        if self._has_sets:
            search.items.accepts = self._meets_all
        self._current = search
        return search

    def _meets_all(self, coef: NDArray[np.int64]) -> bool:
        """True if a vector meets all requirements, those on rates among them."""
        return self.problem.is_feasible(coef) and (self.accepts is None or self.accepts(coef))

    def _search(self, search: Search) -> str:
        try:
            return self._search_all(search)
        except StoppedError:  # by a pass over the rows; all bounds are those of before
            return "time limit reached"

    def _search_all(self, search: Search) -> str:
        if self.start is not None:
            search.incumbents.polish(self.start)
            search.incumbents.offer(self.start)
        many = search.incumbents.n_items >= MANY_ITEMS
        entries = self.problem.loss.n_rows * self.problem.n_features
        # Of rows in parts what is left to tables should be little.
        is_large = (many and entries >= LARGE_ENTRIES) or not self.problem.loss.store.is_block
        has_ended = self._search_supports(
            search,
            WIDE_EFFORT if is_large else BEAM_EFFORT,
            self.deadline - min(ROOT_SECONDS * entries, ROOT_SHARE * self.limits["time_limit"]),
        )
        search.solve_root()
        if not search.complete:
            search.incumbents.offer_smallest()
        self._meet_rates(search)
        if search.incumbents.best is None and not search.complete:
            self._meet_constraints(search)
            if self.is_impossible:
                return ""
        if not search.complete:
            self._search_mixed(search, MIXED_EFFORT)
        self.initialization_seconds = self.seconds
        first = WIDE_EFFORT + (1 if has_ended else 0) if is_large else BEAM_EFFORT + 1
        return self._search_in_turns(search, first)

    def _search_in_turns(self, search: Search, first: int) -> str:
        """Branch and bound, with a wider search of supports whenever one is worth its time."""
        incumbents = search.incumbents
        limits = self.limits["gap_tolerance"], self.limits["node_limit"], self.deadline
        for effort in range(first, WIDE_EFFORT + 1):
            if not incumbents.n_items:
                break
            seconds = GROWTH * incumbents.support_seconds
            is_widest = effort == WIDE_EFFORT
            patience = Patience(seconds if is_widest else 0.0, seconds / SUPPORT_PART)
            message = search.run(*limits, patience)
            if message != OUT_OF_PATIENCE:
                return message
            self._search_supports(search, effort)
        if incumbents.is_mixed:
            message = search.run(*limits, MIXED_PATIENCE)
            if message != OUT_OF_PATIENCE:
                return message
            self._search_mixed(search, WIDE_MIXED_EFFORT)
        return self._run(search)

    def _run(self, search: Search) -> str:
        """Search until a limit is reached, or nothing is left; look for rates now and then."""
        limits = self.limits["gap_tolerance"], self.limits["node_limit"], self.deadline
        if self.rates is None:
            return search.run(*limits)
        spent = search.seconds + RATES_PATIENCE
        while True:
            message = search.run(*limits, Patience(spent, 0.0))
            if message != OUT_OF_PATIENCE:
                return message
            self._meet_rates(search)
            spent *= 2.0

    def _search_supports(self, search: Search, effort: int, deadline: float = math.inf) -> bool:
        """Search for supports; False if the budget was spent before that came to an end."""
        starts = [] if self.start is None else [self.start]
        return search.incumbents.search_supports(
            starts,
            effort=effort,
            budget=SUPPORT_SHARE * self.limits["time_limit"],
            deadline=deadline,
            on_offer=search.maybe_record,
        )

    def _search_mixed(self, search: Search, effort: int) -> None:
        search.incumbents.search_mixed(
            effort=effort,
            budget=SUPPORT_SHARE * self.limits["time_limit"],
            on_offer=search.maybe_record,
        )

    def _meet_constraints(self, search: Search) -> None:
        """Find a vector by the constraints alone, where rounding has found none.

        Bounds of the loss do not lead there: the search could try all vectors in vain. Tables of
        supports that know the limits do better.
        """
        is_known = search.items.limits is not None and self.settings.tables != "never"
        share = RATES_SHARE if is_known else CONSTRAINT_SHARE
        rows = self._whole().rows_with_size
        assert rows is not None
        found = search_vector(
            rows,
            self.problem.lower,
            self.problem.upper,
            seconds=share * self.remaining,
            should_stop=self.is_stopped,
        )
        self.is_impossible = found.is_impossible
        if found.coef is not None:
            search.incumbents.polish(found.coef)

    def _allows(self, lower: NDArray[np.int64], upper: NDArray[np.int64]) -> bool:
        """True if a box is to be kept, without a look at the rates once time is over."""
        assert self.rates is not None
        return self.is_stopped() or self.rates.allows(lower, upper)

    def _meet_rates(self, search: Search) -> None:
        """Find vectors that meet constraints on rates, next to the best ones without them."""
        if self.rates is None or search.complete:
            return
        deadline = time.perf_counter() + RATES_SHARE * self.remaining

        def is_over() -> bool:
            return time.perf_counter() > deadline

        if search.incumbents.best is None:
            for found in self.rates.first(stop=self.stop, should_stop=is_over):
                search.incumbents.offer(found)
                search.maybe_record()
        near = self.rates.found_near(
            search.incumbents.best, swaps=self.settings.swaps, stop=self.stop, should_stop=is_over
        )
        exchanged: Iterable[NDArray[np.int64]] = ()
        if self.settings.tables != "never" and self.problem.scales.is_single:
            box = np.array([self.problem.lower, self.problem.upper], np.float64)
            exchanged = self.rates.exchanged(
                search.items, box, search.incumbents, stop=self.stop, should_stop=is_over
            )
        for found in itertools.chain(exchanged, near):
            search.incumbents.offer(found)
            search.maybe_record()

    def _whole(self) -> RiskScoreProblem:
        """The problem with its constraints on rates, within the bounds that were searched."""
        if self.rates is None:
            return self.problem
        return self.rates.problem.reaching(int(self.problem.lower[0]), int(self.problem.upper[0]))

    def _solution(self, search: Search, message: str) -> Solution:
        coef, problem = search.incumbents.best, self._whole()
        pool = None if search.incumbents.is_one else self._pool(search)
        if pool is not None:  # scales that are rounded can put another one of equals first
            coef = pool.coefficients[0]
        assert coef is not None
        scale = problem.reported_scale(coef)
        accuracy = loss_accuracy(problem.at_scale(scale), coef, search.objective)
        is_proven = search.complete or self.is_proven
        certificate = certify(
            problem,
            coef,
            min(search.objective, self.cutoff if is_proven else search.lower_bound),
            gap_tolerance=max(self.limits["gap_tolerance"], problem.scales.tolerance),
            # The objective that bounds were compared with is itself known to so many digits only.
            bound_tolerance=max(BOUND_TOLERANCE, accuracy),
            engine=ENGINE,
            message=message,
            interrupted=message == INTERRUPTED,
            scale=scale,
        )
        search.finish(certificate)
        logger.info("%s: %s", certificate.status, certificate.explain())
        # The objective computed again can be lower by a rounding error: no bound is above it.
        trace = search.trace.lowered(certificate.lower_bound)
        return self.assembled(coef, certificate, trace, self._statistics(search), pool)

    def _pool(self, search: Search) -> SolutionPool:
        chosen = search.incumbents.chosen()
        # Infinite if there are fewer feasible vectors than were asked for.
        outside = search.incumbents.cutoff if search.complete else search.lower_bound
        least_beyond = math.inf
        if self.beyond is not None:
            least_beyond = self.beyond.least_loss(self.problem)
        lacks_intercepts = search.complete and least_beyond < outside
        problem, vectors = self.problem, np.array([coef for _, coef in chosen], np.int64)
        scales = np.array([problem.reported_scale(coef) for coef in vectors])
        objectives = np.array([objective for objective, _ in chosen])
        if problem.scales.is_interval:  # the search compares them at scales that are not rounded
            pairs = zip(vectors, scales.tolist(), strict=True)
            objectives = np.array([problem.objective(coef, scale=m) for coef, m in pairs])
        order = np.argsort(objectives, kind="stable")
        lower_bounds = None
        if self._has_sets:
            known = np.array([objective for objective, _ in chosen]) - BOUND_TOLERANCE
            lower_bounds = np.minimum(known, min(outside, least_beyond))[order]
        return SolutionPool(
            coefficients=vectors[order],
            objectives=objectives[order],
            scales=scales[order],
            feature_names=self.problem.coefficients.feature_names,
            complete=search.complete and not lacks_intercepts,
            bound=min(outside, least_beyond),
            intercepts=(int(problem.lower[0]), int(problem.upper[0])) if lacks_intercepts else None,
            distinct="items" if self._has_sets else "scores",
            lower_bounds=lower_bounds,
        )

    def _statistics(self, search: Search) -> SolveStatistics:
        evaluations, gradients, _, _, seconds = search.statistics
        loss, tables, cutoffs = self.problem.loss, search.table_counts, search.cutoff_counts
        return SolveStatistics(
            total_seconds=self.seconds,
            data_seconds=loss.seconds + float(seconds),
            initialization_seconds=self.initialization_seconds,
            nodes=search.nodes,
            cuts=int(gradients),
            incumbent_updates=search.incumbents.n_updates,
            loss_evaluations=loss.n_evaluations + int(evaluations),
            table_nodes=tables.nodes,
            table_supports=tables.supports,
            table_saturated=tables.saturated,
            table_left=tables.left,
            table_vectors=tables.vectors,
            table_share=tables.share,
            cutoff_nodes=cutoffs.nodes,
            cutoff_supports=cutoffs.leaves,
            cutoff_left=cutoffs.left,
        )

    def _without_any_score(self) -> RiskSLIMError:
        if self.interrupted.is_set():
            return SearchInterruptedError(f"{INTERRUPTED} before the rows were read once")
        return RiskSLIMError("time limit reached before the rows were read once. Give more time")

    def _without_score(self, message: str) -> Solution:
        nearest = "" if self.rates is None else self.rates.nearest()
        if self.conflict:
            return self.infeasible(clash(self.conflict) + (nearest and f".{nearest}"))
        raise RiskSLIMError(
            f"{message} before any risk score was found that meets the constraints; whether there "
            f"is one is not known. Give more time, or a start{nearest and f'.{nearest}'}"
        )
