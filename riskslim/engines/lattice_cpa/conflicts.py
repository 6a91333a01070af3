"""Feasibility of constraints: what a solver says, confirmed.

That linear constraints cannot be met is proven by :mod:`riskslim.constraints.search`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from riskslim.bounds import ObjectiveBounds
from riskslim.constraints.rows import clash
from riskslim.constraints.search import search_vector
from riskslim.engines.lattice_cpa.formulation import (
    BuildStoppedError,
)
from riskslim.exceptions import InfeasibleProblemError, RiskSLIMError
from riskslim.problem.conflicts import conflicting_constraints
from riskslim.problem.problem import RiskScoreProblem

__all__ = [
    "NOT_FOUND",
    "SLICE",
    "confirmed",
    "found_in_time",
    "without_loss",
]

NOT_FOUND = (
    "no points that meet the constraints were found so far, and it is not known whether there are "
    "any: give the search more time, or points to start from"
)

# Seconds between two looks at whether a search for a feasible vector is still wanted.
SLICE = 0.5

_INFEASIBLE = 2  # as SciPy has it


def without_loss(problem: RiskScoreProblem) -> ObjectiveBounds:
    """Bounds that say nothing but the limits of the model size.

    Parameters
    ----------
    problem : RiskScoreProblem

    Returns
    -------
    ObjectiveBounds
    """
    return ObjectiveBounds(0.0, math.inf, 0.0, math.inf, problem.min_size, problem.max_size)


@contextlib.contextmanager
def found_in_time() -> Iterator[None]:
    """Say what it means if the model that is to find feasible points is not built in time.

    Raises
    ------
    RiskSLIMError
        In the place of BuildStoppedError.
    """
    try:
        yield
    except BuildStoppedError as error:
        raise RiskSLIMError(NOT_FOUND) from error


def confirmed(
    problem: RiskScoreProblem,
    solver: str,
    *,
    seconds: float,
    stop: Callable[[], bool] | None,
) -> NDArray[np.int64]:
    """Find out whether a solver is right that no vector meets the constraints.

    Parameters
    ----------
    problem : RiskScoreProblem
        With constraints.
    solver : str
        Its name.
    seconds : float
    stop : callable, optional
        Asked now and then; True ends the search.

    Returns
    -------
    ndarray of int64, shape (d + 1,)
        A feasible vector, which the solver's tolerances hid.

    Raises
    ------
    InfeasibleProblemError
        It is right; names constraints that clash. Of constraints on rates there is no proof but the
        solver's.
    RiskSLIMError
        Neither a vector nor a proof was found in time.
    """
    if problem.rates:
        raise InfeasibleProblemError(clash(conflicting_constraints(problem, stop or _never)))
    rows = problem.rows_with_size
    assert rows is not None
    should_stop = _never if stop is None else stop
    found = search_vector(
        rows, problem.lower, problem.upper, seconds=seconds, should_stop=should_stop
    )
    if found.coef is not None:
        return found.coef
    if found.is_impossible:
        raise InfeasibleProblemError(clash(conflicting_constraints(problem, should_stop)))
    raise RiskSLIMError(
        f"{solver} finds no points that meet the constraints, to within its tolerances; that there "
        "are none could not be proven so far. Give the search more time, or points to start from"
    )


def _never() -> bool:
    return False
