"""Intercepts that a list of the best scores needs, where their bounds were left open.

Derived bounds of the intercept hold an optimal one. A list holds scores that are worse, with
intercepts that can lie beyond them. A search for a list therefore has wider bounds: no score with
an intercept beyond these has an objective of a level or less
(:mod:`riskslim.loss.intercept_levels`). The level is not known before the list is. The search
begins with one that the score without any points gives, and is repeated with that of its list if
this is larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from riskslim.engines.branch_and_bound.incumbents import Incumbents
from riskslim.loss.intercept_levels import LossByIntercept
from riskslim.problem.problem import RiskScoreProblem

__all__ = ["WiderIntercepts"]

# Added to a level, for the tolerance to which bounds and objectives are compared.
SLACK = 1e-9
# Where fewer scores were found than were asked for, each intercept more gives another one; of
# longer lists it is stated which intercepts they hold.
MOST_MORE = 1000


class WiderIntercepts:
    """Scores beyond the intercept's derived bounds, and what is known about them.

    Parameters
    ----------
    problem : RiskScoreProblem
    n_solutions : int or None
    within : float or None
        As of :func:`~riskslim.branch_and_bound`.
    should_stop : callable
        Asked between parts of the rows.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        n_solutions: int | None,
        within: float | None,
        should_stop: Callable[[], bool],
    ) -> None:
        self.n_solutions = n_solutions
        self.within = within
        self._has_more = False
        self._is_open = problem.open_intercepts
        self._reach: LossByIntercept | None = None
        if any(self._is_open):
            self._reach = LossByIntercept.of(problem.loss, should_stop)

    def first(self, problem: RiskScoreProblem) -> RiskScoreProblem:
        """Widen the intercept's bounds by what is known before the search.

        Parameters
        ----------
        problem : RiskScoreProblem

        Returns
        -------
        RiskScoreProblem
        """
        if self._reach is None:
            return problem
        level = self._without_points(problem) * (1.0 + (self.within or 0.0))
        return problem if math.isinf(level) else self._widened(problem, level)

    def _without_points(self, problem: RiskScoreProblem) -> float:
        """Objective of an intercept alone, near the best one; infinite if that is not feasible."""
        assert self._reach is not None
        share, scales = math.fsum(self._reach.shares_with), problem.scales
        log_odds = math.log(share / math.fsum(self._reach.shares_without))
        found = [math.inf]
        for scale in (scales.low, scales.nearest_to_one, scales.high):
            vector = np.zeros(len(problem.lower), np.int64)
            vector[0] = min(max(round(scale * log_odds), problem.lower[0]), problem.upper[0])
            if problem.is_feasible(vector):
                found.append(problem.objective(vector))
        return min(found)

    def wider(self, problem: RiskScoreProblem, incumbents: Incumbents) -> RiskScoreProblem | None:
        """Widen the bounds after a search that has come to its end.

        Parameters
        ----------
        problem : RiskScoreProblem
            That was searched.
        incumbents : Incumbents
            What was found.

        Returns
        -------
        RiskScoreProblem or None
            None if the list lacks nothing, or no bounds are wide enough for it.
        """
        if self._reach is None or incumbents.best is None or incumbents.is_full:
            return None
        if math.isinf(incumbents.cutoff):
            more = self.n_solutions or 0
            if self._has_more or more > MOST_MORE:
                return None
            self._has_more = True
            return problem.reaching(int(problem.lower[0]) - more, int(problem.upper[0]) + more)
        found = self._widened(problem, incumbents.cutoff)
        return None if found is problem else found

    def _widened(self, problem: RiskScoreProblem, level: float) -> RiskScoreProblem:
        assert self._reach is not None
        low, high = int(problem.lower[0]), int(problem.upper[0])
        lower_is_open, upper_is_open = self._is_open
        least, most = self._reach.range_within(level + SLACK, low, high)
        least, most = least if lower_is_open else low, most if upper_is_open else high
        return problem if (least, most) == (low, high) else problem.reaching(least, most)

    def least_loss(self, problem: RiskScoreProblem) -> float:
        """Lower bound of the objective of all scores beyond the intercept's bounds.

        Parameters
        ----------
        problem : RiskScoreProblem

        Returns
        -------
        float
            Infinite where both bounds were given.
        """
        lower_is_open, upper_is_open = self._is_open
        if not (lower_is_open or upper_is_open):
            return math.inf
        if self._reach is None:
            return 0.0  # a limit came before it was known
        return min(
            self._reach.least_loss_up_to(int(problem.lower[0]) - 1) if lower_is_open else math.inf,
            self._reach.least_loss_from(int(problem.upper[0]) + 1) if upper_is_open else math.inf,
        )
