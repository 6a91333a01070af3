"""Scores in order of their objective, until none is left that could be better with its rates.

The native branch and bound sees a problem without its constraints on rates, and meets every score
below its cutoff: the objective of the best score so far that meets the rates, which are counted for
each score that is met. Whatever bound it has, of the scores that are left, holds for the whole
problem.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskslim.engines.branch_and_bound.driver import BranchAndBoundRun
from riskslim.engines.branch_and_bound.search import BOUND_TOLERANCE
from riskslim.engines.lattice_cpa.lattice_search import LatticeSearch
from riskslim.engines.runs import EngineCall
from riskslim.engines.settings import BranchAndBoundSettings
from riskslim.solution import SolveStatistics, TraceRecord

__all__ = ["MAX_CHECKED", "Listing", "list_in_order"]

# Of the time that is left.
SHARE = 0.5
# Of that time, what passes before its pace is judged. Scores become more with their objective, so
# that the list takes longer than its pace so far predicts.
TRIED = 0.1
# Scores whose rates are counted; each is remembered.
MAX_CHECKED = 200_000


@dataclasses.dataclass(frozen=True)
class Listing:
    """The end of a list.

    Parameters
    ----------
    complete : bool
        No score is left that could be better.
    statistics : SolveStatistics
    """

    complete: bool
    statistics: SolveStatistics


class _Checks:
    """Answers of the list to the search: scores that meet the rates, and bounds."""

    def __init__(
        self,
        search: LatticeSearch,
        gap_tolerance: float,
        ends: float,
        should_stop: Callable[[], bool],
    ) -> None:
        self.search = search
        self.gap_tolerance = gap_tolerance
        self.began = time.perf_counter()
        self.ends = ends
        self.first_floor = search.floor
        self.user_stop = should_stop
        self.n_checked = 0
        self.nodes_before = search.nodes_before

    def accept(self, coef: NDArray[np.int64]) -> bool:
        """True if a score meets the rates; the best one so far is the incumbent, too."""
        self.n_checked += 1
        if not self.search.problem.is_feasible(coef):
            return False
        self.search.consider(coef, self.search.problem.loss.value(coef))
        return True

    def should_stop(self) -> bool:
        """Asked from another thread."""
        if self.user_stop() or self.n_checked >= MAX_CHECKED or self._takes_too_long():
            return True
        return self.gap_tolerance > 0 and self.search.gap <= self.gap_tolerance

    def _takes_too_long(self) -> bool:
        """True if time is over, or would be at the pace so far before the bound gets there."""
        spent, whole = time.perf_counter() - self.began, self.ends - self.began
        if spent < TRIED * whole:
            return False
        way = self.search.objective - self.first_floor
        return spent >= whole or whole * (self.search.floor - self.first_floor) < spent * way

    def record(self, record: TraceRecord) -> None:
        """Take over bound and count of nodes."""
        self.search.nodes_before = self.nodes_before + record.nodes
        self.search.raise_floor(record.lower_bound - BOUND_TOLERANCE)


def list_in_order(
    search: LatticeSearch,
    limits: dict[str, Any],
    remaining: float,
    should_stop: Callable[[], bool],
) -> Listing:
    """Go through scores in order of their objective, and check the rates of each.

    Parameters
    ----------
    search : LatticeSearch
        Of a problem with one scale, constraints on rates and an incumbent. Its incumbent and its
        bound become those of the list.
    limits : dict
        As of :func:`~riskslim.engines.runs.checked_limits`.
    remaining : float
        Seconds that are left.
    should_stop : callable
        Asked several times a second, from another thread.

    Returns
    -------
    Listing
    """
    assert search.coef is not None
    checks = _Checks(
        search, limits["gap_tolerance"], time.perf_counter() + SHARE * remaining, should_stop
    )
    own = {"time_limit": max(remaining, 0.0), "n_solutions": 1, "within": None}
    call = EngineCall(
        search.problem.without_rates(),
        BranchAndBoundSettings(),
        limits | own,
        search.coef,
        checks.record,
        checks.should_stop,
    )
    solution = BranchAndBoundRun(call, accepts=checks.accept).solve()
    certificate = solution.certificate
    search.nodes_before = checks.nodes_before + solution.statistics.nodes
    search.raise_floor(certificate.lower_bound - certificate.bound_tolerance)
    return Listing(certificate.lower_bound >= certificate.objective, solution.statistics)
