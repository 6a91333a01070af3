"""RiskSlimMIP on SCIP, apart from the callbacks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim.bounds import ObjectiveBounds
from riskslim.engines.lattice_cpa.conflicts import (
    NOT_FOUND,
    SLICE,
    confirmed,
    found_in_time,
    without_loss,
)
from riskslim.engines.lattice_cpa.formulation import Cut, Formulation
from riskslim.engines.lattice_cpa.solvers import import_pyscipopt
from riskslim.engines.lattice_cpa.tree import MAX_SECONDS
from riskslim.exceptions import RiskSLIMError

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["SCALINGS", "ScipMIP", "found_by_scip", "scip_version"]

pyscipopt: Any = import_pyscipopt()

# SCIP's ways of scaling an LP, in the order in which they are tried: some, more, none.
SCALINGS = (1, 2, 0)


def scip_version() -> str:
    """Version of SCIP.

    Returns
    -------
    str
    """
    return str(pyscipopt.Model().version())


class ScipMIP(Formulation):
    """RiskSlimMIP on SCIP, with an empty approximation to begin with.

    Parameters
    ----------
    problem : RiskScoreProblem
    bounds : ObjectiveBounds
    box, sign_split, should_stop
        As in :class:`Formulation`.

    Attributes
    ----------
    scip : pyscipopt.Model
    handles : list
        SCIP's variables.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        bounds: ObjectiveBounds,
        *,
        box: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
        sign_split: bool = False,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        super().__init__(problem, bounds, box=box, sign_split=sign_split, should_stop=should_stop)
        self.scip = pyscipopt.Model("riskslim")
        self.scip.hideOutput()
        self._set_tolerances()
        self.handles = [
            self.scip.addVar(
                name=variable.name,
                vtype=variable.kind,
                lb=variable.low,
                ub=None if math.isinf(variable.high) or variable.high >= 1e20 else variable.high,
                obj=variable.price,
            )
            for variable in self.variables
        ]
        for i, row in enumerate(self.rows):
            self.check_stop(i)
            self.scip.addCons(_between(self._sum(row.indices, row.values), row.low, row.high))
        self.scip.setMinimize()

    def _set_tolerances(self) -> None:
        for name, value in (
            ("numerics/feastol", 1e-9),
            ("numerics/dualfeastol", 1e-9),
            ("numerics/sumepsilon", 1e-9),
            ("limits/gap", 0.0),
            ("limits/absgap", 0.0),
            ("misc/catchctrlc", False),
            # Cuts come later: no reduction may rely on the rows seen so far.
            ("misc/allowstrongdualreds", False),
            ("misc/allowweakdualreds", False),
            ("misc/usesymmetry", 0),
        ):
            self.scip.setParam(name, value)

    def _sum(self, indices: list[int], values: list[float]) -> Any:
        return pyscipopt.quicksum(
            value * self.handles[i] for i, value in zip(indices, values, strict=True)
        )

    def add_cut(self, cut: Cut) -> None:
        """Add a cut as a row, before the search.

        Parameters
        ----------
        cut : Cut
        """
        indices, values, low = self.cut_terms(cut)
        self.scip.addCons(self._sum(indices, values) >= low, removable=True)

    def prefer_indicators(self) -> None:
        """Branch on indicators before coefficients."""
        for variable in self.indicators:
            self.scip.chgVarBranchPriority(self.handles[variable], 1)

    def values(self, solution: Any) -> list[float]:
        """Values of a solution that say what it claims; of the present LP solution if None.

        Parameters
        ----------
        solution : pyscipopt solution or None

        Returns
        -------
        list of float
        """
        first, last = self.value_range
        return [self.scip.getSolVal(solution, self.handles[i]) for i in range(first, last + 1)]

    def point(self, solution: Any) -> tuple[NDArray[np.float64], float]:
        """Coefficients and loss of a solution; of the present LP or pseudo solution if None.

        Parameters
        ----------
        solution : pyscipopt solution or None

        Returns
        -------
        coef : ndarray of float64, shape (d + 1,)
        loss : float
        """
        return self.coef_and_loss(self.values(solution))


def _between(expression: Any, low: float, high: float) -> Any:
    if low == high:
        return expression == low
    if math.isinf(low):
        return expression <= high
    if math.isinf(high):
        return expression >= low
    return low <= (expression <= high)


def found_by_scip(
    problem: RiskScoreProblem, time_limit: float, stop: Callable[[], bool] | None
) -> NDArray[np.int64]:
    """Any feasible vector, from the constraints alone.

    Parameters
    ----------
    problem : RiskScoreProblem
    time_limit : float
        Seconds.
    stop : callable, optional
        Asked before the search, and twice a second in it.

    Returns
    -------
    ndarray of int64, shape (d + 1,)

    Raises
    ------
    InfeasibleProblemError
        There is none; names constraints that clash, none of them superfluous.
    RiskSLIMError
        None was found in time.
    """
    deadline = time.perf_counter() + time_limit
    with found_in_time():
        model = ScipMIP(problem, without_loss(problem), should_stop=stop)
    model.scip.setObjective(0.0)
    model.scip.setParam("limits/solutions", 1)
    if stop is None or not stop():
        _solve_for_feasibility(model.scip, deadline, stop)
    if model.scip.getStatus() == "infeasible":
        remaining = deadline - time.perf_counter()
        return confirmed(problem, "SCIP", seconds=remaining, stop=stop)
    if model.scip.getNSols() == 0:
        raise RiskSLIMError(NOT_FOUND)
    found = np.rint(model.point(model.scip.getBestSol())[0]).astype(np.int64)
    violations = problem.violations(found)
    if violations:
        raise RiskSLIMError(
            "SCIP's arithmetic does not tell whether the constraints can be met; state them with "
            f"integer coefficients where possible ({'; '.join(violations)})"
        )
    return found


def _solve_for_feasibility(scip: Any, deadline: float, stop: Callable[[], bool] | None) -> None:
    """Run SCIP in slices, between which it may be stopped."""
    while True:
        remaining = deadline - time.perf_counter()
        seconds = min(max(remaining, 0.01), SLICE)
        scip.setParam("limits/time", min(scip.getSolvingTime() + seconds, MAX_SECONDS))
        try:
            scip.optimizeNogil()
        except Exception as error:  # pyscipopt has no class of its own
            raise RiskSLIMError(f"SCIP gave up ({error}); {NOT_FOUND}") from error
        if scip.getStatus() != "timelimit" or remaining <= SLICE or (stop is not None and stop()):
            return
