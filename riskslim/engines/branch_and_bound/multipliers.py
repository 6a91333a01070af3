r"""Linear constraints on points in the relaxation, by Lagrange multipliers.

A constraint :math:`a \cdot \lambda \le b` with a multiplier :math:`w \ge 0` adds
:math:`w\,(a \cdot \lambda - b)` to the objective. That is at most 0 for every vector that meets it,
so that bounds of the sum are bounds of the problem, whatever the multiplier. Kernels need not know
of it, since

.. math:: \log(1 + e^{s}) - \log(1 + e^{-s}) = s

makes a linear term of a row with the weights -w and w of its two classes.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.node_rows import NodeRows
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["PricedRows", "Pricing", "Sides", "priced"]

# Constraints that get a multiplier, the most violated ones, and rounds of choosing them.
MAX_PRICED = 24
ROUNDS = 4
# Relaxations for one choice of multipliers.
MAX_EVALUATIONS = 60
# Multipliers are looked for in units of this, and up to so many of them: a unit of score is worth
# some hundredths of the loss.
UNIT = 0.05
MOST_UNITS = 1e3
# What a constraint is broken by if it is worth a multiplier.
LEAST_EXCESS = 1e-4
# Largest value of a record that fits into an integer column.
LARGEST = 127

# Bound and solution of the relaxation on rows.
_Relax: TypeAlias = Callable[["NodeRows"], tuple[float, "NDArray[np.float64]"]]


@dataclasses.dataclass(frozen=True, eq=False)
class Sides:
    """Sides of linear constraints on points, intercept + record . points <= bound.

    Attributes
    ----------
    intercept : ndarray of float64, shape (m,)
    records : ndarray of float64, shape (m, d)
    bounds : ndarray of float64, shape (m,)
    """

    intercept: NDArray[np.float64]
    records: NDArray[np.float64]
    bounds: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.bounds)

    def excess(self, coef: NDArray[np.float64]) -> NDArray[np.float64]:
        """By how much a vector breaks each of them."""
        sums: NDArray[np.float64] = self.intercept * coef[0] + self.records @ coef[1:]
        return sums - self.bounds

    def taking(self, index: NDArray[np.intp]) -> Sides:
        """Some of the sides."""
        return Sides(self.intercept[index], self.records[index], self.bounds[index])

    @classmethod
    def of(cls, problem: RiskScoreProblem, rows: NodeRows) -> Sides:
        """Sides of the constraints of a problem whose records fit into the columns of rows."""
        d = problem.n_features
        found = problem.constraint_rows
        if found is None or not problem.scales.is_single:
            return cls(np.zeros(0), np.zeros((0, d)), np.zeros(0))
        about_points = ~(found.used.any(axis=1) | found.any_used.any(axis=1))
        points = np.vstack((found.points, -found.points))
        bounds = np.concatenate((found.upper, -found.lower))
        # A risk's row is a record times a factor, that of the intercept.
        scale = np.where(points[:, 0] == 0, 1.0, np.abs(points[:, 0]))
        points, bounds = points / scale[:, None], bounds / scale
        points[:, 1:][:, ~rows.features] = 0.0
        integers = points[:, 1:][:, rows.features & (rows.slot >= 0)]
        fits = (integers == np.rint(integers)) & (np.abs(integers) <= LARGEST)
        kept = np.tile(about_points, 2) & np.isfinite(bounds) & fits.all(axis=1)
        return cls(points[kept, 0], points[kept, 1:], bounds[kept])


class PricedRows:
    r"""Rows of the loss and one for each constraint that has a multiplier.

    Parameters
    ----------
    rows : NodeRows
    sides : Sides
    t : float
        What one point is worth.
    """

    def __init__(self, rows: NodeRows, sides: Sides, t: float) -> None:
        self.sides = sides
        self.t = t
        # The last record is that of zeros, for what the intercept counts other than once.
        records = np.vstack((sides.records, np.zeros((1, sides.records.shape[1]))))
        self._given = rows
        self._extended = rows.followed_by(records)

    def weighted(self, multipliers: NDArray[np.float64]) -> NodeRows:
        """The rows with given multipliers."""
        weights = np.append(multipliers, float(multipliers @ (self.sides.intercept - 1.0)))
        return dataclasses.replace(
            self._extended,
            positive=np.concatenate((self._given.positive, -weights)),
            negative=np.concatenate((self._given.negative, weights)),
        )

    def constant(self, multipliers: NDArray[np.float64]) -> float:
        """Number that has to be added to a bound on these rows."""
        return -self.t * float(multipliers @ self.sides.bounds)

    def error(
        self,
        multipliers: NDArray[np.float64],
        largest: NDArray[np.float64],
        box: NDArray[np.float64],
    ) -> float:
        """Rounding errors of a bound beyond those that the kernel subtracts.

        The kernel takes the loss for the sum of its terms' sizes, which it is not: some are
        negative. In size they are at most their weights times the largest score.
        """
        p = len(largest)
        reach = self.t * float(largest @ np.abs(box).max(axis=0))
        weights = np.append(multipliers, multipliers @ np.abs(self.sides.intercept - 1.0))
        size = float(np.abs(weights).sum()) * reach + abs(self.constant(multipliers))
        return 2.0 * size * (3e-15 * reach + 1e-13 + 4e-15 * p)


class Pricing(NamedTuple):
    """Rows with multipliers.

    Attributes
    ----------
    rows : NodeRows
    constant : float
        What has to be added to a bound on these rows, less the rounding errors that come with them.
    largest : ndarray of float64, shape (d + 1,)
        Largest absolute values of their columns.
    """

    rows: NodeRows
    constant: float
    largest: NDArray[np.float64]


def priced(
    sides: Sides,
    rows: NodeRows,
    t: float,
    *,
    relax: _Relax,
    largest: NDArray[np.float64],
    box: NDArray[np.float64],
) -> Pricing | None:
    """Choose constraints and their multipliers by the relaxation of the root.

    Parameters
    ----------
    sides : Sides
    rows : NodeRows
        Those of the loss.
    t : float
        What one point is worth.
    relax : callable
        Bound and solution of the root's relaxation on rows.
    largest : ndarray of float64, shape (d + 1,)
        Largest absolute values of the columns.
    box : ndarray of float64, shape (2, d + 1)
        The root's, for the size of rounding errors.

    Returns
    -------
    Pricing or None
        None where the relaxation meets all constraints without, or where rounding errors take away
        what multipliers are worth: features of 1e7 make large ones.
    """
    chosen, multipliers = np.zeros(0, np.intp), np.zeros(0)
    given, coef = relax(rows)
    bound = given
    for _ in range(ROUNDS):
        excess = sides.excess(coef)
        excess[chosen] = 0.0
        more = np.argsort(-excess, kind="stable")[: MAX_PRICED - len(chosen)]
        more = more[excess[more] > LEAST_EXCESS]
        if not len(more):
            break
        chosen = np.concatenate((chosen, more))
        start = np.concatenate((multipliers, np.zeros(len(more))))
        bound, multipliers, coef = _best_multipliers(
            PricedRows(rows, sides.taking(chosen), t), relax, start
        )
    is_used = multipliers > 0
    if not is_used.any():
        return None
    multipliers, sides = multipliers[is_used], sides.taking(chosen[is_used])
    largest = np.maximum(largest, np.append(1.0, np.abs(sides.records).max(axis=0)))
    found = PricedRows(rows, sides, t)
    error = found.error(multipliers, largest, box)
    if not bound - error > given:
        return None
    return Pricing(found.weighted(multipliers), found.constant(multipliers) - error, largest)


def _best_multipliers(
    rows: PricedRows, relax: _Relax, start: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """The largest bound that is found, the multipliers that lead to it, and their solution.

    The bound is a concave function of the multipliers; its slopes are by how much the solution
    breaks the constraints.
    """
    from scipy.optimize import minimize

    best, best_coef, best_bound = start, np.zeros(len(rows.sides.records[0]) + 1), -math.inf

    def negative_bound(units: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        nonlocal best, best_coef, best_bound
        multipliers = UNIT * np.maximum(units, 0.0)
        bound, coef = relax(rows.weighted(multipliers))
        bound += rows.constant(multipliers)
        if bound > best_bound:
            best, best_coef, best_bound = multipliers, coef.copy(), bound
        return -bound, -UNIT * rows.t * rows.sides.excess(coef)

    minimize(
        negative_bound,
        start / UNIT,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, MOST_UNITS)] * len(start),
        options={"maxfun": MAX_EVALUATIONS},
    )
    return best_bound, best, best_coef
