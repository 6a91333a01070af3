"""Say whether constraints can be met: what a solver says, confirmed; those on rates.

That linear constraints cannot be met is proven by :mod:`riskslim.constraints.search`. Which ones
clash with constraints on rates is found by HiGHS, which comes with SciPy, on RiskSlimMIP without
the loss.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from riskslim.bounds import ObjectiveBounds
from riskslim.constraints.rows import clash
from riskslim.constraints.search import irreducible, search_vector
from riskslim.engines.lattice_cpa.formulation import (
    INFINITY,
    Accuracy,
    BuildStoppedError,
    Formulation,
)
from riskslim.exceptions import InfeasibleProblemError, RiskSLIMError
from riskslim.problem.conflicts import conflicting_constraints
from riskslim.problem.problem import RiskScoreProblem

__all__ = [
    "NOT_FOUND",
    "SLICE",
    "confirmed",
    "conflicting_with_rates",
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
        raise InfeasibleProblemError(clash(conflicting_with_rates(problem, stop or _never)))
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


def conflicting_with_rates(problem: RiskScoreProblem, should_stop: Callable[[], bool]) -> list[str]:
    """Constraints that HiGHS finds to contradict each other, none superfluous for all it knows.

    Parameters
    ----------
    problem : RiskScoreProblem
        With constraints on rates that cannot be met together with all others.
    should_stop : callable
        True ends the search for superfluous ones.

    Returns
    -------
    list of str
    """
    rows = problem.rows_with_size
    assert rows is not None
    try:
        parts = _Parts(problem.at_scale(problem.loss.scale), should_stop)
    except BuildStoppedError:
        return list(rows.names)
    every = set(range(len(rows.names)))

    def is_impossible(kept: list[int], seconds: float) -> bool:
        return not should_stop() and parts.is_impossible(every.difference(kept), seconds)

    return irreducible(rows.names, is_impossible)


class _Parts:
    """The rows of a model, in which some constraints may be left out."""

    def __init__(self, problem: RiskScoreProblem, should_stop: Callable[[], bool]) -> None:
        from scipy.sparse import csr_array

        # Features of any size are allowed: the loss is left out. No row may rely on the limits of
        # the model size, which may be left out as well.
        model = Formulation(
            problem,
            dataclasses.replace(
                without_loss(problem), size_min=0, size_max=int(np.count_nonzero(problem.usable))
            ),
            accuracy=Accuracy(row_error=0.0, caution=True),
            should_stop=should_stop,
        )
        self.model = model
        self.owned = model.constraint_rows
        self.size, self.n_indicators = model.size, len(model.alpha)
        starts = np.cumsum([0, *(len(row.indices) for row in model.rows)])
        indices = np.array([i for row in model.rows for i in row.indices], dtype=np.int64)
        values = np.array([value for row in model.rows for value in row.values])
        shape = (len(model.rows), len(model.variables))
        self.matrix = csr_array((values, indices, starts), shape=shape)
        self.row_ends = np.array([(row.low, row.high) for row in model.rows]).reshape(-1, 2)
        ends = np.array([(variable.low, variable.high) for variable in model.variables])
        self.ends = np.where(ends >= INFINITY, np.inf, ends)
        self.ends[model.size] = problem.min_size, problem.max_size
        self.is_integer = np.array([variable.kind != "C" for variable in model.variables])

    def is_impossible(self, left_out: Iterable[int], seconds: float) -> bool:
        """Say whether HiGHS finds that the other constraints contradict each other."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        row_ends, ends = self.row_ends.copy(), self.ends.copy()
        for i in left_out:
            if i < len(self.owned):
                row_ends[self.owned[i]] = -np.inf, np.inf
            else:
                ends[self.size] = 0.0, self.n_indicators
        result = milp(
            np.zeros(len(ends)),
            integrality=self.is_integer,
            bounds=Bounds(*ends.T),
            constraints=LinearConstraint(self.matrix, *row_ends.T),
            options={"time_limit": seconds},
        )
        return int(result.status) == _INFEASIBLE
