"""The best share of one class that is called right, where that of the other is required."""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._kernels import require_all
from riskslim.constraints.rows import clash
from riskslim.constraints.search import search_vector
from riskslim.engines.branch_and_bound.driver import BranchAndBoundRun, checked_pool
from riskslim.engines.branch_and_bound.recorder import Recorder
from riskslim.engines.branch_and_bound.search import BOUND_TOLERANCE
from riskslim.engines.branch_and_bound.support_enumeration import (
    MOST_PLANES,
    Completion,
    SupportEnumeration,
)
from riskslim.engines.certify import certify, loss_accuracy
from riskslim.engines.operating_points.exchanges import exchanged
from riskslim.engines.operating_points.row_bounds import least_wrong_of_rows
from riskslim.engines.operating_points.rule_list import fits_of_list, rule_pool
from riskslim.engines.operating_points.rule_search import BestRule, RuleList, RuleSearch
from riskslim.engines.operating_points.shares import best_threshold, shares_at
from riskslim.engines.operating_points.support_rules import MOST_NODES, Measure, SupportRules
from riskslim.engines.operating_points.ties import Fit, fitted_on_rows, least_objective
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
from riskslim.engines.settings import BranchAndBoundSettings
from riskslim.exceptions import CertificateError, RiskSLIMError, SearchInterruptedError
from riskslim.operating_point import TOLERANCE, RequiredShare, RuleCertificate
from riskslim.problem.conflicts import conflicting_constraints
from riskslim.problem.problem import RiskScoreProblem
from riskslim.rows.base import StoppedError
from riskslim.solution import Certificate, Solution, SolveStatistics, Status, TraceRecord

__all__ = ["RuleRun", "best_rule"]

logger = logging.getLogger("riskslim.operating_points")

ENGINE = "operating_points"
DONE = "all sets of features were looked at"
# Of the time limit: exchanges of items before all supports are looked at.
EXCHANGE_SHARE = 0.1
# The same of changes that are counted on the rows, of scores that tables cannot have, or of more
# items than tables can have all sets of.
ROWS_SHARE, TABLE_SIZE = 0.3, 6


def best_rule(
    problem: RiskScoreProblem,
    required: RequiredShare,
    *,
    time_limit: float = DEFAULT_TIME_LIMIT,
    gap_tolerance: float = DEFAULT_GAP_TOLERANCE,
    node_limit: int | None = None,
    n_solutions: int | None = None,
    within: float | None = None,
    n_threads: int = 1,
    random_state: int = 0,
    start: ArrayLike | None = None,
    settings: BranchAndBoundSettings | None = None,
    progress: Callable[[TraceRecord], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Solution:
    r"""Find the rule with the most of one share, where the other one is required.

    A rule is a score with a threshold: rows with at least so many points are called positive. Among
    all scores that meet the requirements of a problem, and all thresholds, the best one is
    found; among rules that are equally good, that of the least objective. Scale and
    intercept are those of the least objective for its points.

    Parameters
    ----------
    problem : RiskScoreProblem
    required : RequiredShare
        Weights of the classes move no share.
    time_limit : float, default 60.0
        Seconds of wall-clock time for everything.
    gap_tolerance : float, default 0.0
        Part of the other class: rules that are better by no more are not looked for.
    node_limit : int, optional
        Most sets of items whose points are looked at.
    n_solutions : int, optional
        Find the best rules of this many sets of items; ``solution.pool`` has them, a
        :class:`~riskslim.solution.RulePool`.
    within : float, optional
        Find the best rule of every set of items whose share is less than the best one by at most
        this: 0.01 is one point; or the best ``n_solutions`` of them. A list is complete where the
        best rule can be proven, and no limit is reached before.
    n_threads : int, default 1
        Sets of items that are worked on at once. -1 for all cores. The result does not depend on
        it.
    random_state : int, default 0
        Nothing here is random: it is there for the engines to be called alike.
    start : array-like of int, shape (d + 1,), optional
        A feasible vector to start from, intercept first.
    settings : BranchAndBoundSettings, optional
    progress : callable, optional
        Called with a :class:`~riskslim.solution.TraceRecord` at each change of a bound. Its bounds
        are parts of the other class that are called wrong.
    should_stop : callable, optional
        Asked several times a second; True interrupts the search.

    Returns
    -------
    Solution
        Its certificate has a ``rule``, and the status OPTIMAL where no rule is better by more than
        ``gap_tolerance``, FEASIBLE (a limit was reached), INFEASIBLE or INTERRUPTED.

    Raises
    ------
    ValueError, TypeError
        Limits out of range; ``start`` not feasible; constraints on rates.
    KernelsUnavailableError
        The compiled kernels are missing.
    RiskSLIMError
        A limit was reached before any vector was found that meets the constraints.
    CertificateError
        The result failed its re-check.

    Notes
    -----
    The best rule is proven where all features that can be used have at most eight values, and no
    score more than ten of them; how is said in docs/best_rules.md. Else the rule is good, and its
    bound is what is known of all rows.

    Examples
    --------
    >>> from riskslim import CoefficientSet, RiskScoreProblem, TrainingData
    >>> from riskslim.engines.operating_points.best_rule import best_rule
    >>> from riskslim.operating_point import RequiredShare
    >>> X = [[0, 1], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]]
    >>> data = TrainingData(X, [0, 1, 1, 0, 0, 0], feature_names=["age >= 60", "smoker"])
    >>> problem = RiskScoreProblem(data, CoefficientSet(data.feature_names, -3, 3), max_size=1)
    >>> solution = best_rule(problem, RequiredShare("sensitivity", 0.9))
    >>> print(solution.certificate.rule)
    sensitivity 100.00%, specificity 75.00%, specificity proven best
    """
    limits = checked_limits(time_limit, gap_tolerance, node_limit, n_threads, random_state)
    settings = checked_settings(problem, settings, BranchAndBoundSettings)
    limits["n_solutions"], limits["within"] = checked_pool(n_solutions, within)
    if within is not None and within > 1:
        raise ValueError(f"within must be a share of rows, at most 1, got {within!r}")
    if not isinstance(required, RequiredShare):
        raise TypeError(f"required must be a RequiredShare, got {type(required).__name__}")
    if problem.rates or problem.is_constrained_per_scale:
        raise ValueError(
            "constraints on rates and risks are about predictions at one risk; a rule has a "
            "threshold of its own. Leave them out"
        )
    vector = checked_start(problem, start)
    call = EngineCall(problem, settings, limits, vector, progress, should_stop)
    return run_interruptibly(RuleRun(call, required))


class RuleRun(EngineRun[BranchAndBoundSettings]):
    """One call of :func:`best_rule`.

    Parameters
    ----------
    call : EngineCall
    required : RequiredShare
    """

    def __init__(self, call: EngineCall[BranchAndBoundSettings], required: RequiredShare) -> None:
        require_all()
        super().__init__(ENGINE, call)
        self.call, self.required = call, required
        self.recorder = Recorder(self.progress)
        self.search: RuleSearch | None = None
        self.fits: list[Fit] = []
        self.wants_list = (self.limits["n_solutions"], self.limits["within"]) != (1, None)

    def solve(self) -> Solution:
        """Search, and certify the best rule."""
        if self.problem.infeasibility is not None:
            return self.infeasible(self.problem.infeasibility)
        ended: Ended | None = None
        reason = ""
        try:
            with self.watched():
                first = self._first()
                if first is None:
                    rows = self.problem.rows_with_size
                    assert rows is not None
                    reason = clash(conflicting_constraints(self.problem, self.is_stopped))
                else:
                    ended = self._searched(first)
        except StoppedError:
            self.failure = self.failure or self._without_any_score()
        self.problem.loss.should_stop = None  # the result is re-checked all the same
        if self.failure is not None:
            raise self.failure
        return self.infeasible(reason) if ended is None else self._solution(ended)

    # ---- a first score -------------------------------------------------------------------

    def _first(self) -> NDArray[np.int64] | None:
        """Some feasible vector; None: there is none."""
        problem = self.problem
        if self.start is not None:
            return self.start
        vector = _smallest(problem)
        if problem.is_feasible(vector):
            return vector
        rows = problem.rows_with_size
        assert rows is not None
        found = search_vector(
            rows, problem.lower, problem.upper, seconds=self.remaining, should_stop=self.is_stopped
        )
        if found.coef is None and not found.is_impossible:
            raise RiskSLIMError(
                "no risk score was found in time that meets the constraints; whether there is one "
                "is not known. Give more time, or a start"
            )
        return found.coef

    def _without_any_score(self) -> RiskSLIMError:
        if self.interrupted.is_set():
            return SearchInterruptedError(f"{INTERRUPTED} before the rows were read once")
        return RiskSLIMError("time limit reached before the rows were read once. Give more time")

    # ---- the search ----------------------------------------------------------------------

    def _searched(self, first: NDArray[np.int64]) -> Ended:
        problem = self.problem
        rows = problem.loss.store.used_by(self.limits["n_threads"], self.is_stopped)
        rule = best_threshold(rows, first, self.required)
        tables = SupportEnumeration(
            problem, memory=self.settings.memory_limit, should_stop=self.is_stopped
        )
        completion, is_all = self._completion(tables)
        if completion is None:
            return self._without_tables(first, rule.wrong)
        measure = Measure.of(self.required, completion.packed, rows.class_weights)
        packed = tables.packed
        assert packed is not None
        rules = SupportRules(problem, packed, measure, self.stop)
        begin = BestRule(
            Fit(first, problem.objective(first)), measure.counted(rule.wrong),
            np.flatnonzero(first[1:]),
        )  # fmt: skip
        limits, gap = self.limits, self._gap(measure)
        search = self.search = RuleSearch(
            problem, rules, tables, completion, begin,
            gap=gap, node_limit=math.inf if limits["node_limit"] is None else limits["node_limit"],
            n_threads=limits["n_threads"], on_change=self._record,
            listed=self._rule_list(measure),
        )  # fmt: skip
        self._record()
        until = self.seconds + EXCHANGE_SHARE * self.remaining
        search.exchange(lambda: self.seconds > until)
        if not is_all or problem.max_size > TABLE_SIZE:
            search.consider(self._exchanged(search.best.fit.coef))
        self.initialization_seconds = self.seconds
        search.scan()
        if not is_all:
            search.is_scanned, search.unscanned = False, np.flatnonzero(problem.usable)
        if not search.is_scanned:
            least = least_wrong_of_rows(rows, search.unscanned, self.required)
            search.least = least / measure.weight(1.0) * (1.0 - TOLERANCE)
        ended = self._with_tie(search)
        # Where not all points of a support were looked at, what ties were looked for in is better.
        found = best_threshold(rows, ended.fit.coef, self.required)
        if self.wants_list:
            self.fits = fits_of_list(search, ended.fit)
        return dataclasses.replace(ended, wrong=min(ended.wrong, found.wrong))

    def _gap(self, measure: Measure) -> float:
        """Least by which rules are to be better, in rows or weight; 0 where others are listed."""
        gap: float = 0.0 if self.wants_list else self.limits["gap_tolerance"] * measure.whole
        return math.floor(gap) if measure.is_exact else gap

    def _rule_list(self, measure: Measure) -> RuleList | None:
        if not self.wants_list:
            return None
        within = self.limits["within"]
        allowance = math.inf if within is None else within * measure.whole
        if measure.is_exact and within is not None:
            allowance = math.floor(allowance * (1.0 + TOLERANCE))
        return RuleList(self.limits["n_solutions"], min(allowance, measure.whole))

    def _completion(self, tables: SupportEnumeration) -> tuple[Completion | None, bool]:
        """All supports, or those of items of few values, and of as many as tables can have."""
        problem = self.problem
        box = np.array([problem.lower, problem.upper], np.float64)
        is_item = tables.planes > 0
        is_all = not (problem.usable & ~is_item).any()
        if (problem.required & ~is_item).any():
            return None, False
        box[:, 1:][:, ~is_item] = 0.0
        for size in range(problem.max_size, 0, -1):
            tables.max_size = size
            found = tables.completion(box, 1.0, 1.0)
            if found is not None:
                return found, is_all and size == problem.max_size
        return None, False

    def _with_tie(self, search: RuleSearch) -> Ended:
        """Look for the least objective of rules that are equally good."""
        best, measure = search.best, search.measure
        message = self._why_incomplete(search)
        wrong = measure.weight(best.wrong)
        bound = measure.weight(search.bound)
        equal = measure.as_good_as(best.wrong)
        is_known = search.is_complete and search.keeps_ties and search.unsettled > equal
        known = [best.features] if search.rules.has(best.features) else []
        supports = search.equals if is_known else known
        tie = least_objective(search.rules, supports, equal, best.fit)
        fit = best.fit if tie.best is None else tie.best
        if is_known and len(best.features):
            return Ended(fit, wrong, bound, tie.bound, tie.bound >= fit.objective, message)
        ended = Ended(fit, wrong, bound, 0.0, False, message)
        return self._with_objective(ended, search) if search.is_complete else ended

    def _why_incomplete(self, search: RuleSearch) -> str:
        """Say why not all is proven; empty if all is."""
        if search.is_complete and search.unsettled > search.better:
            return ""
        if search.is_complete and not self.stop[0]:
            return f"of some sets of features only {MOST_NODES:,} vectors of points were looked at"
        if search.n_searched >= search.node_limit:
            return "node limit reached"
        return self._beyond_tables

    @property
    def _beyond_tables(self) -> str:
        """Say what has kept tables from looking at all supports."""
        if self.stop[0]:
            return "time limit reached"
        return (
            "not all sets of features were looked at: these are up to "
            f"{MOST_PLANES} items of two values, or fewer of up to eight, within memory_limit"
        )

    def _without_tables(self, first: NDArray[np.int64], wrong: float) -> Ended:
        coef = self._exchanged(first)
        rule = best_threshold(self.problem.loss.store, coef, self.required)
        fit, wrong = fitted_on_rows(self.problem, coef), min(wrong, rule.wrong)
        features = np.flatnonzero(self.problem.usable)
        least = least_wrong_of_rows(self.problem.loss.store, features, self.required)
        return Ended(fit, wrong, min(least, wrong), 0.0, False, self._beyond_tables)

    def _with_objective(self, ended: Ended, search: RuleSearch) -> Ended:
        """Look for the least objective by the loss, where too many supports have such rules.

        That is so where nothing is better than to call everybody positive.
        """
        coef, rows, measure = ended.fit.coef, self.problem.loss.store, search.measure
        most = measure.as_good_as(search.best.wrong)

        def accepts(vector: NDArray[np.int64]) -> bool:
            return measure.counted(best_threshold(rows, vector, self.required).wrong) <= most

        if self.stop[0] or self.remaining <= 0:
            return ended
        limits = self.limits | {
            "time_limit": self.remaining, "gap_tolerance": 0.0, "node_limit": None,
            "n_solutions": 1, "within": None,
        }  # fmt: skip
        problem = self.problem.reaching(int(coef[0]), int(coef[0]))
        call = EngineCall(problem, self.settings, limits, coef, should_stop=self.is_stopped)
        try:
            found = BranchAndBoundRun(call, accepts=accepts).solve()
        except RiskSLIMError:  # time was over before it had begun: the rule stays
            if self.stop[0]:
                return ended
            raise
        if found.coefficients is None:
            return ended
        of_loss = found.certificate
        assert found.intercept is not None
        vector = np.array([found.intercept, *found.coefficients.tolist()], np.int64)
        fit = Fit(vector, of_loss.objective)
        return dataclasses.replace(
            ended, fit=fit, lower_bound=of_loss.lower_bound,
            is_tie_proven=of_loss.is_optimal and search.unsettled > most,
        )  # fmt: skip

    def _exchanged(self, coef: NDArray[np.int64]) -> NDArray[np.int64]:
        """A vector with a better rule, by changes that are counted on the rows."""
        rows, until = self.problem.loss.store, self.seconds + ROWS_SHARE * self.remaining
        if not rows.is_block:
            return coef
        b = int(coef[0])
        return exchanged(
            self.problem.reaching(b, b), rows.block_for("exchanges"), self.required, coef,
            lambda: self.is_stopped() or self.seconds > until,
        )  # fmt: skip

    def _record(self) -> None:
        search = self.search
        assert search is not None
        whole = search.measure.whole
        wrong, bound = search.best.wrong / whole, search.bound / whole
        if not self.recorder.is_due(wrong - bound, search.n_updates, search.share):
            return
        record = TraceRecord(
            self.seconds, wrong, bound, wrong - bound, search.n_searched, 0, search.n_updates,
            search.share,
        )  # fmt: skip
        self.recorder.add(record, 0)

    # ---- the result ----------------------------------------------------------------------

    def _solution(self, ended: Ended) -> Solution:
        coef = ended.fit.coef
        problem = self.problem.reaching(int(coef[0]), int(coef[0]))
        self.problem = problem
        scale = problem.reported_scale(coef)
        objective = problem.at_scale(scale).objective(coef)
        accuracy = loss_accuracy(problem.at_scale(scale), coef, objective)
        interrupted = self.interrupted.is_set() and bool(ended.message)
        certificate = certify(
            problem, coef, min(ended.lower_bound, objective),
            gap_tolerance=max(self.limits["gap_tolerance"], problem.scales.tolerance),
            bound_tolerance=max(BOUND_TOLERANCE, accuracy), engine=ENGINE,
            message=INTERRUPTED if interrupted else ended.message or DONE, scale=scale,
        )  # fmt: skip
        certificate = self._about_rule(certificate, problem, ended, interrupted)
        logger.info("%s: %s", certificate.status, certificate.explain())
        pool = None
        if self.wants_list:
            assert certificate.rule is not None
            fits = self.fits or [Fit(coef, objective)]
            pool = rule_pool(self.call.problem, certificate.rule, fits, self.search)
        statistics = self._statistics()
        return self.assembled(coef, certificate, self.recorder.trace, statistics, pool)

    def _about_rule(
        self, certificate: Certificate, problem: RiskScoreProblem, ended: Ended, interrupted: bool
    ) -> Certificate:
        """The certificate with what is proven of the rule, which is counted again on all rows."""
        data, coef = problem.loss.data, ended.fit.coef
        rule = best_threshold(data.rows, coef, self.required)
        shares = shares_at(data, coef, rule.threshold)
        other = self.required.other
        factor = data.class_factors[int(other == "sensitivity")]
        right, whole = shares.right(other), shares.total(other)
        for wrong in (rule.wrong, ended.wrong):
            if not abs(whole - right - wrong / factor) <= TOLERANCE * whole:
                raise CertificateError(
                    f"{ENGINE} found a rule that calls the weight {wrong / factor!r} wrong; "
                    f"counted again it is {whole - right!r}"
                )
        if not self.required.is_met_by(shares):
            raise CertificateError(f"{ENGINE} returned a rule that does not reach {self.required}")
        bound = right + max(ended.wrong - ended.bound, 0.0) / factor
        found = RuleCertificate(
            self.required, rule.threshold, shares, min(bound, whole), ended.is_tie_proven
        )
        is_best = found.is_best or found.gap <= self.limits["gap_tolerance"]
        status = Status.FEASIBLE
        if is_best:
            status = Status.OPTIMAL
        elif interrupted:
            status = Status.INTERRUPTED
        return dataclasses.replace(certificate, status=status, rule=found)

    def _statistics(self) -> SolveStatistics:
        search = self.search
        return SolveStatistics(
            total_seconds=self.seconds,
            initialization_seconds=self.initialization_seconds,
            nodes=0 if search is None else search.n_searched,
            incumbent_updates=0 if search is None else search.n_updates,
            loss_evaluations=self.problem.loss.n_evaluations,
            table_supports=0 if search is None else search.n_scanned,
            table_left=0 if search is None else search.n_left,
            table_share=0.0 if search is None else search.share,
        )


@dataclasses.dataclass(frozen=True)
class Ended:
    """The rule that a search ended with, and what is proven of it.

    Attributes
    ----------
    fit : Fit
    wrong : float
        Weight of the other class that the rule calls wrong, weights of the classes included.
    bound : float
        No rule calls less of it wrong.
    lower_bound : float
        Of the objective of rules that are as good; of all scores where that is not proven.
    is_tie_proven : bool
    message : str
        Why it ended before all was proven; empty if all is.
    """

    fit: Fit
    wrong: float
    bound: float
    lower_bound: float
    is_tie_proven: bool
    message: str


def _smallest(problem: RiskScoreProblem) -> NDArray[np.int64]:
    """A vector within the bounds, of a permitted size, that is as near to zero as possible."""
    coef: NDArray[np.int64] = np.clip(0, problem.lower, problem.upper).astype(np.int64)
    missing = problem.min_size - problem.model_size(coef)
    for j in np.flatnonzero(problem.usable & (coef[1:] == 0))[: max(missing, 0)].tolist():
        coef[1 + j] = 1 if problem.upper[1 + j] >= 1 else -1
    return coef
