"""Whether constraints can be met, and which contradict each other: RiskSlimMIP without the loss.

HiGHS, which comes with SciPy, decides whether the constraints, or part of them, can be met; it is
there whatever the engine and its solver.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskslim._lattice_cpa.formulation import INFINITY, Accuracy, Formulation
from riskslim.bounds import ObjectiveBounds
from riskslim.problem import RiskScoreProblem

__all__ = ["conflicting_constraints", "met_or_conflicting", "without_loss"]

# Seconds for one part of the constraints, and for all: what is not known by then is named as well.
PART_SECONDS = 2.0
TOTAL_SECONDS = 10.0
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


def conflicting_constraints(problem: RiskScoreProblem) -> list[str]:
    """Names of constraints of an infeasible problem that cannot be met together.

    None of them is superfluous: each constraint is left out for good if the others are still
    impossible to meet. The limits of the model size are the last one.

    Parameters
    ----------
    problem : RiskScoreProblem
        With constraints, and one scale.

    Returns
    -------
    list of str
        All of them, in the order of the problem, if HiGHS finds no contradiction at all.
    """
    rows = problem.rows_with_size
    assert rows is not None
    parts = _Parts(problem.at_scale(problem.loss.scale))
    deadline = time.perf_counter() + TOTAL_SECONDS
    left_out: set[int] = set()
    for i in range(len(rows.names)):
        remaining = deadline - time.perf_counter()
        if remaining > 0 and parts.is_impossible({*left_out, i}, min(remaining, PART_SECONDS)):
            left_out.add(i)
    return [name for i, name in enumerate(rows.names) if i not in left_out]


def met_or_conflicting(
    problem: RiskScoreProblem, time_limit: float
) -> tuple[NDArray[np.int64] | None, list[str]]:
    """A vector that meets all requirements, or constraints that cannot be met together.

    Parameters
    ----------
    problem : RiskScoreProblem
        With constraints, none of which depends on the scale where there are several.
    time_limit : float
        Seconds for the search of a vector.

    Returns
    -------
    coef : ndarray of int64, shape (d + 1,), or None
        Nearest integers of what HiGHS found: whoever uses them checks whether they are feasible.
    conflict : list of str
        As of :func:`conflicting_constraints`; empty if there is a vector, or if time ran out.
    """
    parts = _Parts(problem.at_scale(problem.loss.scale))
    found = parts.solved((), time_limit)
    if found.x is not None:
        coef, _ = parts.model.coef_and_loss(found.x[: parts.model.loss + 1].tolist())
        return np.rint(coef).astype(np.int64), []
    is_impossible = int(found.status) == _INFEASIBLE
    return None, conflicting_constraints(problem) if is_impossible else []


class _Parts:
    """The rows of a model, in which some constraints may be left out."""

    def __init__(self, problem: RiskScoreProblem) -> None:
        from scipy.sparse import csr_array

        # Features of any size are allowed: the loss is left out. No row may rely on the limits of
        # the model size, which may be left out as well.
        model = Formulation(
            problem,
            dataclasses.replace(
                without_loss(problem), size_min=0, size_max=int(np.count_nonzero(problem.usable))
            ),
            accuracy=Accuracy(row_error=0.0, caution=True),
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
        """Whether the other constraints are known to contradict each other."""
        return int(self.solved(left_out, seconds).status) == _INFEASIBLE

    def solved(self, left_out: Iterable[int], seconds: float) -> Any:
        """Result of HiGHS on the other constraints, as of ``scipy.optimize.milp``."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        row_ends, ends = self.row_ends.copy(), self.ends.copy()
        for i in left_out:
            if i < len(self.owned):
                row_ends[self.owned[i]] = -np.inf, np.inf
            else:
                ends[self.size] = 0.0, self.n_indicators
        return milp(
            np.zeros(len(ends)),
            integrality=self.is_integer,
            bounds=Bounds(*ends.T),
            constraints=LinearConstraint(self.matrix, *row_ends.T),
            options={"time_limit": seconds},
        )
