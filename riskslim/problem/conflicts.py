"""Constraints that clash with each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from riskslim.constraints.search import irreducible, search_vector

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["conflicting_constraints"]


def conflicting_constraints(
    problem: RiskScoreProblem, should_stop: Callable[[], bool] = lambda: False
) -> list[str]:
    """Names of constraints of an infeasible problem that cannot be met together.

    None of them is superfluous as far as is found out in 10 seconds: each constraint is left out
    for good if it is proven that the others are still impossible to meet. The limits of the model
    size are the last one.

    Parameters
    ----------
    problem : RiskScoreProblem
        With constraints.
    should_stop : callable, optional
        True ends the search for superfluous ones.

    Returns
    -------
    list of str
        In the order of the problem.
    """
    rows = problem.rows_with_size
    assert rows is not None

    def is_impossible(kept: list[int], seconds: float) -> bool:
        part = rows.taking(kept)
        return search_vector(
            part, problem.lower, problem.upper, seconds=seconds, should_stop=should_stop
        ).is_impossible

    return irreducible(rows.names, is_impossible)
