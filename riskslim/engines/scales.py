"""A search over a list of scales: one search after the other, with shared bounds."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from typing import TYPE_CHECKING, Any

from riskslim.engines.certify import certify
from riskslim.engines.runs import INTERRUPTED
from riskslim.exceptions import (
    CertificateError,
    ProblemSizeError,
    RiskSLIMError,
    RowsLostError,
    SolverUnavailableError,
)
from riskslim.solution import Solution, SolveStatistics, Status, Trace, TraceRecord, optimality_gap

if TYPE_CHECKING:
    from collections.abc import Callable

    from riskslim.engines.runs import EngineCall, InterruptibleRun

__all__ = ["ScalesRun"]


class ScalesRun:
    """One call of an engine on a problem with several scales.

    Every search starts from the best score of those before it, and ends as soon as its lower bound
    reaches that score's objective. It has its share of the time that is left.

    Parameters
    ----------
    name : str
        The engine's.
    call : EngineCall
        Of a problem with a list of scales.
    new_run : callable
        Makes the run of one scale from a call and an objective to beat. It may call a scale
        infeasible that has no score below this objective.
    """

    def __init__(
        self,
        name: str,
        call: EngineCall[Any],
        new_run: Callable[[EngineCall[Any], float], InterruptibleRun],
    ) -> None:
        assert call.problem.scales.values is not None
        self.name = name
        self.call = call
        self.problem = call.problem
        self.scales = call.problem.scales.values
        self.new_run = new_run
        self.limits = call.limits
        self.start = call.start
        self.progress = call.progress
        self.interrupted = threading.Event()
        self.began = time.perf_counter()
        self.trace = Trace()
        self.solutions: list[Solution] = []
        self.n_infeasible = 0
        self._failure: RiskSLIMError | None = None  # of a scale of which nothing is known
        self._running: InterruptibleRun | None = None
        self._finished = (0, 0, 0)  # nodes, cuts, incumbents of the searches that have ended
        self._present = 0.0  # lower bound of the one that runs

    def interrupt(self) -> None:
        """End the search as soon as possible; may be called from another thread."""
        self.interrupted.set()
        if self._running is not None:
            self._running.interrupt()

    def solve(self) -> Solution:
        """Search scale by scale, and certify the best score over all of them."""
        for k, scale in enumerate(self.scales):
            limits = self._limits_left(len(self.scales) - k)
            if limits is None:
                break
            try:
                solution = self._solved(scale, limits)
            except (CertificateError, ProblemSizeError, SolverUnavailableError):
                raise
            except RowsLostError as lost:
                self._complete(lost)
                raise
            except RiskSLIMError as error:
                if not self.problem.is_constrained_per_scale:
                    raise
                self._failure = error
                continue
            if solution.certificate.status is Status.INFEASIBLE:
                if not self.problem.is_constrained_per_scale or self._is_last(k):
                    return solution
                self.n_infeasible += 1
                continue
            self.solutions.append(solution)
            if solution.certificate.status is Status.INTERRUPTED:
                self.interrupted.set()
        return self._combined()

    def _complete(self, lost: RowsLostError) -> None:
        """Say what is known of all scales where the rows are lost at one of them."""
        best = self._best()
        if best is not None:
            objective = best.certificate.objective
            if lost.objective is None or objective <= lost.objective:
                lost.coef, lost.objective, lost.scale = best.coef, objective, best.scale
        lost.lower_bound = self._lower_bound(lost.lower_bound or 0.0)

    def _is_last(self, k: int) -> bool:
        """True if there is no scale left that could have a score, and none had."""
        return not self.solutions and self._failure is None and k == len(self.scales) - 1

    def _limits_left(self, n_left: int) -> dict[str, Any] | None:
        """Limits of the next search; None if there is nothing left to spend."""
        remaining = self.began + self.limits["time_limit"] - time.perf_counter()
        limits = {**self.limits, "time_limit": max(remaining / n_left, 0.01)}
        if self.limits["node_limit"] is not None:
            limits["node_limit"] = max(self.limits["node_limit"] - self._finished[0], 0)
        over = remaining <= 0 or self.interrupted.is_set()
        return None if over and self.solutions else limits

    def _solved(self, scale: float, limits: dict[str, Any]) -> Solution:
        best = self._best()
        start = self.start if best is None else best.coef
        cutoff = math.inf if best is None else best.certificate.objective
        part = self.problem.at_scale(scale)
        if start is not None and not part.is_feasible(start):
            start = None  # a bound on risks is another one at every scale
        call = dataclasses.replace(
            self.call, problem=part, limits=limits, start=start, progress=self._record
        )
        run = self.new_run(call, cutoff)
        self._running, self._present = run, 0.0
        if self.interrupted.is_set():
            run.interrupt()
        solution = run.solve()
        statistics = solution.statistics
        self._finished = (
            self._finished[0] + statistics.nodes,
            self._finished[1] + statistics.cuts,
            self._finished[2] + statistics.incumbent_updates,
        )
        return solution

    def _best(self) -> Solution | None:
        return min(self.solutions, key=lambda one: one.certificate.objective, default=None)

    def _lower_bound(self, present: float) -> float:
        """Bound on all scales, with that of the search that runs; others have a loss above 0."""
        known = [one.certificate.lower_bound for one in self.solutions]
        n_known = self.n_infeasible + len(known)
        if n_known < len(self.scales):
            known.append(present)
            n_known += 1
        return min(known) if n_known == len(self.scales) else 0.0

    def _record(self, record: TraceRecord) -> None:
        """Take over a record of the search that runs, as one of the search over all scales."""
        nodes, cuts, updates = self._finished
        best = self._best()
        upper = record.upper_bound
        if best is not None:
            upper = min(upper, best.certificate.objective)
        lower = min(self._lower_bound(record.lower_bound), upper)
        if record.lower_bound < self._present:  # it has taken back its bounds
            self.trace = self.trace.lowered(lower)
        self._present = record.lower_bound
        if len(self.trace):
            lower = max(lower, float(self.trace["lower_bound"][-1]))
        self._append(
            record._replace(
                time=time.perf_counter() - self.began,
                upper_bound=upper,
                lower_bound=lower,
                gap=optimality_gap(upper, lower) if math.isfinite(upper) else 1.0,
                nodes=nodes + record.nodes,
                cuts=cuts + record.cuts,
                incumbent_updates=updates + record.incumbent_updates,
            )
        )

    def _append(self, record: TraceRecord) -> None:
        self.trace.append(record)
        if self.progress is not None:
            self.progress(record)

    def _combined(self) -> Solution:
        best = self._best()
        if best is None:
            assert self._failure is not None
            raise self._failure
        objective = best.certificate.objective
        bound = min(self._lower_bound(math.inf), objective) if self._is_complete() else 0.0
        certificate = certify(
            self.problem,
            best.coef,
            bound,
            gap_tolerance=self.limits["gap_tolerance"],
            bound_tolerance=max(one.certificate.bound_tolerance for one in self.solutions),
            engine=best.certificate.engine,
            message=self._message(bound),
            interrupted=self.interrupted.is_set(),
            scale=best.scale,
        )
        self.trace = self.trace.lowered(certificate.lower_bound)
        last = next(reversed(list(self.trace)))
        self._append(
            last._replace(
                time=time.perf_counter() - self.began,
                upper_bound=certificate.objective,
                lower_bound=certificate.lower_bound,
                gap=certificate.optimality_gap,
            )
        )
        return dataclasses.replace(
            best,
            certificate=certificate,
            trace=self.trace,
            statistics=self._statistics(),
            settings={**best.settings, **self.limits},
        )

    def _is_complete(self) -> bool:
        return self.n_infeasible + len(self.solutions) == len(self.scales)

    def _message(self, bound: float) -> str:
        if self.interrupted.is_set():
            return INTERRUPTED
        if not self._is_complete():
            return "time limit reached"
        # What ended the search that leaves the bound where it is.
        weakest = min(self.solutions, key=lambda one: one.certificate.lower_bound)
        return "search completed" if bound >= weakest.certificate.objective else (
            weakest.certificate.message
        )  # fmt: skip

    def _statistics(self) -> SolveStatistics:
        totals = SolveStatistics()
        for solution in self.solutions:
            for field in dataclasses.fields(SolveStatistics):
                own, total = getattr(solution.statistics, field.name), getattr(totals, field.name)
                combine = max if field.name == "subsampling_epsilon" else sum
                setattr(totals, field.name, combine((own, total)))
        totals.total_seconds = time.perf_counter() - self.began
        return totals
