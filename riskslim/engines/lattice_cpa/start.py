"""The start of a tree of LCPA: bounds, cuts, and a score."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskslim.bounds import ObjectiveBounds, chained_updates
from riskslim.engines.lattice_cpa.formulation import Cut
from riskslim.exceptions import InfeasibleProblemError
from riskslim.problem.problem import RiskScoreProblem

__all__ = [
    "Initialization",
    "below",
    "best_possible_bounds",
    "penalty_ranges",
    "require_feasible",
    "widened",
]


@dataclasses.dataclass(frozen=True)
class Initialization:
    """The start of the lattice cutting plane algorithm.

    Parameters
    ----------
    coef : ndarray of int64, shape (d + 1,)
        Best integer solution.
    objective : float
        Its objective.
    cuts : list of Cut
        Cuts of the relaxation, the binding ones first; empty without CPA.
    n_binding : int
        How many of the cuts the last surrogate held with equality.
    bounds : ObjectiveBounds
        Bounds on objective, loss and model size of an optimal solution.
    interrupted : bool
        Whether Ctrl-C ended the procedure.
    box : (lower, upper), optional
        Every vector with an objective below ``cutoff`` lies between them.
    cutoff : float
    complete : bool
        Whether there is no such vector.
    """

    coef: NDArray[np.int64]
    objective: float
    cuts: list[Cut]
    n_binding: int
    bounds: ObjectiveBounds
    interrupted: bool = False
    box: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    cutoff: float = math.inf
    complete: bool = False


def widened(
    box: tuple[NDArray[np.int64], NDArray[np.int64]], coef: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The smallest box that contains another box and a vector.

    Parameters
    ----------
    box : (lower, upper)
    coef : ndarray of int64, shape (d + 1,)

    Returns
    -------
    (lower, upper)
    """
    return np.minimum(box[0], coef), np.maximum(box[1], coef)


def best_possible_bounds(
    problem: RiskScoreProblem, should_stop: Callable[[], bool] | None = None
) -> ObjectiveBounds:
    """Bounds that follow from the data and the coefficient set alone (Proposition 1).

    Parameters
    ----------
    problem : RiskScoreProblem
        Must be feasible.
    should_stop : callable, optional
        Asked between parts of the rows; True leaves the bounds wider.

    Returns
    -------
    ObjectiveBounds
    """
    require_feasible(problem)
    loss_min, loss_max = problem.loss.bounds(should_stop=should_stop)
    required = int(np.count_nonzero(problem.required))
    bounds = ObjectiveBounds(
        0.0, math.inf, loss_min, loss_max, max(problem.min_size, required), problem.max_size
    )
    return chained_updates(bounds, **penalty_ranges(problem))


def below(bounds: ObjectiveBounds, objective: float) -> ObjectiveBounds:
    """Bounds of scores that are at least as good as a known one.

    A ridge penalty makes their ranges small, and with them the numbers that a solver gets.

    Parameters
    ----------
    bounds : ObjectiveBounds
    objective : float
        Of the known score.

    Returns
    -------
    ObjectiveBounds
    """
    return dataclasses.replace(bounds, objective_max=min(bounds.objective_max, objective))


def penalty_ranges(problem: RiskScoreProblem) -> dict[str, Any]:
    """Penalties of the features that can be used, as chained updates take them.

    Parameters
    ----------
    problem : RiskScoreProblem
        With one scale.

    Returns
    -------
    dict
        Arguments of :func:`~riskslim.chained_updates`.
    """
    usable = problem.usable
    prices = {"l0_penalty": problem.l0_penalty[usable]}
    if not problem.has_ridge:
        return prices
    low, high, price = problem.lower[1:], problem.upper[1:], problem.point_ridge
    ends = np.abs(np.array([low, high], dtype=np.float64))
    least = np.where((low > 0) | (high < 0), ends.min(axis=0), 1.0)
    most = ends.max(axis=0)
    return {**prices, "ridge": ((price * least**2)[usable], (price * most**2)[usable])}


def require_feasible(problem: RiskScoreProblem) -> None:
    """Raise where it is known that no vector meets the requirements."""
    if problem.infeasibility is not None:
        raise InfeasibleProblemError(problem.infeasibility)
