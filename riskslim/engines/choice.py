"""The choice of the engine that solves a problem."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from riskslim.engines.lattice_cpa.solvers import is_installed
from riskslim.engines.runs import DEFAULT_SOLVER, beyond_branch_and_bound
from riskslim.problem.problem import RiskScoreProblem

if TYPE_CHECKING:
    from riskslim.solution import Solution

__all__ = ["ENGINES", "EngineChoice", "choose_engine", "engine_arguments", "solve"]

ENGINES = ("auto", "branch_and_bound", "lattice_cpa")


class EngineChoice(NamedTuple):
    """An engine's name, why this one, and the solver that it works on if it needs one."""

    name: str
    reason: str
    solver: str = DEFAULT_SOLVER


def choose_engine(problem: RiskScoreProblem, engine: str = "auto") -> EngineChoice:
    """Say which engine is to solve a problem.

    Parameters
    ----------
    problem : RiskScoreProblem
    engine : {"auto", "branch_and_bound", "lattice_cpa"}
        "auto": branch and bound, if it supports all that the problem asks for. It does not
        support constraints on rates, nor constraints on risks with a list of scales. lattice_cpa
        works on SCIP where that is installed and CPLEX is not, or where rates of so many different
        records are constrained that the installed CPLEX may not take them.

    Returns
    -------
    EngineChoice

    Raises
    ------
    ValueError
        There is no such engine.

    Examples
    --------
    >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
    >>> from riskslim.engines.choice import choose_engine
    >>> data = TrainingData({"a": [0, 1, 1, 0]}, [0, 1, 1, 0])
    >>> coefficients = CoefficientSet(data.feature_names)
    >>> problem = RiskScoreProblem(LogisticLoss(data, coefficients), coefficients)
    >>> choose_engine(problem).name
    'branch_and_bound'
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(map(repr, ENGINES))}, got {engine!r}")
    if engine != "auto":
        return EngineChoice(engine, "asked for")
    unsupported = beyond_branch_and_bound(problem)
    if unsupported is not None:
        reason = f"since branch_and_bound does not support {unsupported}"
        if is_installed("scip"):
            if not is_installed("cplex"):
                return EngineChoice("lattice_cpa", f"{reason}, on SCIP for want of CPLEX", "scip")
            if problem.rates and _is_beyond_cplex(problem):
                return EngineChoice("lattice_cpa", f"{reason}, on SCIP for its size", "scip")
        return EngineChoice("lattice_cpa", reason)
    return EngineChoice(
        "branch_and_bound",
        "which supports all requirements of this problem and needs no solver",
    )


def _is_beyond_cplex(problem: RiskScoreProblem) -> bool:
    """Say whether the installed CPLEX is too small for constraints on rates."""
    if problem.infeasibility is not None:
        return False
    from riskslim.engines.lattice_cpa.formulation import (
        ROWS_BETWEEN_STOPS,
        BuildStoppedError,
        Formulation,
    )
    from riskslim.engines.lattice_cpa.model import COMMUNITY_EDITION_LIMIT, has_limited_size
    from riskslim.engines.lattice_cpa.start import best_possible_bounds

    part = problem.at_scale(problem.loss.scale)
    asked = itertools.count()
    try:
        model = Formulation(
            part,
            best_possible_bounds(part),
            should_stop=lambda: next(asked) * ROWS_BETWEEN_STOPS > COMMUNITY_EDITION_LIMIT,
        )
    except BuildStoppedError:  # no need to build it all, which takes long with many records
        return has_limited_size()
    size = max(len(model.variables), len(model.rows))
    return size > COMMUNITY_EDITION_LIMIT and has_limited_size()


def engine_arguments(
    choice: EngineChoice,
    *,
    solver: str | None = None,
    n_solutions: int | None = None,
    within: float | None = None,
) -> dict[str, Any]:
    """Collect what only one of the engines knows; it is refused by the other, not ignored.

    Parameters
    ----------
    choice : EngineChoice
    solver : str, optional
        None: the one that suits the problem.
    n_solutions, within : optional
        As in :func:`~riskslim.branch_and_bound`.

    Returns
    -------
    dict
        By the names of the chosen engine's parameters.

    Raises
    ------
    ValueError
        The chosen engine does not have what is asked for.
    """
    pool = {"n_solutions": n_solutions, "within": within}
    arguments: dict[str, Any] = {name: value for name, value in pool.items() if value is not None}
    if choice.name == "lattice_cpa":
        if arguments:
            raise ValueError(
                f"{' and '.join(arguments)} need engine='branch_and_bound': lattice_cpa finds one "
                "risk score"
            )
        return {"solver": choice.solver if solver is None else solver}
    if solver is not None:
        raise ValueError(
            f"solver={solver!r} needs engine='lattice_cpa': branch_and_bound has no solver"
        )
    return arguments


def solve(problem: RiskScoreProblem, engine: str = "auto", **arguments: Any) -> Solution:
    """Solve a problem by the engine that is asked for, or that suits it.

    Parameters
    ----------
    problem : RiskScoreProblem
    engine : {"auto", "branch_and_bound", "lattice_cpa"}
    **arguments
        Passed on: ``time_limit``, ``gap_tolerance`` and so on.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        There is no such engine.
    RiskSLIMError
        What the engine raises.
    """
    choice = choose_engine(problem, engine)
    if choice.name == "lattice_cpa":
        arguments.setdefault("solver", choice.solver)
    return _engine(choice.name)(problem, **arguments)


def _engine(name: str) -> Callable[..., Solution]:
    """The function of an engine, imported when it is used: the other one may need a solver."""
    if name == "lattice_cpa":
        from riskslim.engines.lattice_cpa.driver import lattice_cpa

        return lattice_cpa
    from riskslim.engines.branch_and_bound.driver import branch_and_bound

    return branch_and_bound
