"""The problem without its constraints on rates, solved by the native branch and bound.

What is left out makes the lower bound smaller at most, so that it holds for the whole problem. The
best score without these constraints often meets them, and is then the best one with them.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskslim.engines.branch_and_bound.driver import BranchAndBoundRun
from riskslim.engines.branch_and_bound.search import BOUND_TOLERANCE
from riskslim.engines.runs import INTERRUPTED, EngineCall
from riskslim.engines.settings import BranchAndBoundSettings
from riskslim.exceptions import CertificateError, RiskSLIMError
from riskslim.problem.problem import RiskScoreProblem
from riskslim.solution import (
    Certificate,
    SolveStatistics,
    Status,
    Trace,
    TraceRecord,
    optimality_gap,
)

__all__ = ["Relaxation", "RelaxationRun"]

# Of the time limit, while the best score without constraints on rates breaks them.
SHARE = 0.4


@dataclasses.dataclass(frozen=True)
class Relaxation:
    """Findings on a problem without the constraints on its rates.

    Parameters
    ----------
    lower_bound : float
        No vector that meets all constraints has a smaller objective, to within
        ``bound_tolerance``.
    bound_tolerance : float
    coef : ndarray of int64, shape (d + 1,), or None
        The best vector met on the way that meets all constraints.
    is_best : bool
        Whether no better one was met that breaks constraints on rates: the search has done for the
        whole problem what it could.
    message : str
        How it ended; empty if it was given up, or found no vector at all.
    infeasibility : str or None
        Why no vector meets the other constraints.
    statistics : SolveStatistics
    trace : Trace
        Of the whole problem's bounds, since the first vector that meets all constraints.
    progress : callable, optional
        Told of records.
    """

    lower_bound: float
    bound_tolerance: float
    coef: NDArray[np.int64] | None
    is_best: bool
    message: str
    infeasibility: str | None
    statistics: SolveStatistics
    trace: Trace

    progress: Callable[[TraceRecord], None] | None

    @property
    def floor(self) -> float:
        """A lower bound that holds as it is."""
        return max(self.lower_bound - self.bound_tolerance, 0.0)

    def finish(self, certificate: Certificate, seconds: float) -> None:
        """Close the trace with what a certificate states.

        Parameters
        ----------
        certificate : Certificate
        seconds : float
            Since the search began.
        """
        record = TraceRecord(
            time=seconds,
            upper_bound=certificate.objective,
            lower_bound=certificate.lower_bound,
            gap=certificate.optimality_gap,
            nodes=self.statistics.nodes,
            cuts=self.statistics.cuts,
            incumbent_updates=self.statistics.incumbent_updates,
        )
        self.trace.append(record)
        if self.progress is not None:
            self.progress(record)


class RelaxationRun:
    """One search without constraints on rates, which keeps what meets them.

    Parameters
    ----------
    problem : RiskScoreProblem
        With one scale and constraints on rates.
    limits : dict
        As of :func:`~riskslim.engines.runs.checked_limits`.
    start : ndarray of int64, shape (d + 1,), optional
        A feasible vector.
    began : float
        ``time.perf_counter()`` at which time begins to count.
    cutoff : float
        The search ends where its bound reaches it.
    progress : callable, optional
    should_stop : callable
        Asked several times a second, from another thread.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        limits: dict[str, Any],
        start: NDArray[np.int64] | None,
        began: float,
        cutoff: float,
        progress: Callable[[TraceRecord], None] | None,
        should_stop: Callable[[], bool],
    ) -> None:
        self.problem = problem
        self.limits = limits
        self.start = start
        self.began = began
        self.cutoff = cutoff
        self.progress = progress
        self.user_stop = should_stop
        self.coef: NDArray[np.int64] | None = None
        self.objective = math.inf
        self.lower_bound = 0.0
        self.trace = Trace()
        self._least = math.inf  # objective of whatever meets the other constraints

    @property
    def is_best(self) -> bool:
        """True if no score is known that is better and breaks constraints on rates."""
        return self.coef is not None and self.objective <= self._least

    def solve(self) -> Relaxation:
        """Search until there is nothing more to gain, or a limit is reached."""
        time_left = self.began + self.limits["time_limit"] - time.perf_counter()
        limits = {"time_limit": max(time_left, 0.0), "n_solutions": 1, "within": None}
        call = EngineCall(
            self.problem.without_rates(),
            BranchAndBoundSettings(),
            self.limits | limits,
            self.start,
            self._record,
            self._should_stop,
        )
        try:
            solution = BranchAndBoundRun(call, on_score=self._consider).solve()
        except CertificateError:
            raise
        except RiskSLIMError:
            # A limit came before any vector that meets the other constraints: nothing is known.
            return self._relaxation(0.0, 0.0, "", None, SolveStatistics())
        certificate = solution.certificate
        reason = None
        if certificate.status is Status.INFEASIBLE:
            reason = certificate.message
        return self._relaxation(
            certificate.lower_bound,
            certificate.bound_tolerance,
            "" if certificate.message == INTERRUPTED else certificate.message,
            reason,
            solution.statistics,
        )

    def _relaxation(
        self,
        lower_bound: float,
        bound_tolerance: float,
        message: str,
        infeasibility: str | None,
        statistics: SolveStatistics,
    ) -> Relaxation:
        return Relaxation(
            lower_bound=lower_bound,
            bound_tolerance=bound_tolerance,
            coef=self.coef,
            is_best=self.is_best,
            message=message,
            infeasibility=infeasibility,
            statistics=statistics,
            trace=self.trace,
            progress=self.progress,
        )

    def _consider(self, coef: NDArray[np.int64], objective: float) -> None:
        """Keep the best vector that meets the constraints on rates, too."""
        self._least = min(self._least, objective)
        if objective < self.objective and self.problem.is_feasible(coef):
            self.coef, self.objective = coef.copy(), objective

    def _should_stop(self) -> bool:
        if self.user_stop() or self.lower_bound >= self.cutoff:
            return True
        share_is_over = time.perf_counter() > self.began + SHARE * self.limits["time_limit"]
        return share_is_over and not self.is_best

    def _record(self, record: TraceRecord) -> None:
        """Take over a record, as one of the whole problem."""
        self.lower_bound = max(self.lower_bound, record.lower_bound)
        if self.coef is None:
            return
        # As the search that goes on from here has it.
        lower = max(min(self.lower_bound, self.objective) - BOUND_TOLERANCE, 0.0)
        own = record._replace(
            time=time.perf_counter() - self.began,
            upper_bound=self.objective,
            lower_bound=lower,
            gap=optimality_gap(self.objective, lower),
        )
        self.trace.append(own)
        if self.progress is not None:
            self.progress(own)
