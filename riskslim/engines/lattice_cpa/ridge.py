r"""The ridge penalty in the surrogate: a variable for each feature, and rows on it.

A feature whose point costs :math:`\rho_j`, points squared, has the variable :math:`Q_j` with

.. math::

    Q_j \ge \rho_j \alpha_j, \qquad
    Q_j \ge \rho_j \left((2 v + 1) |\lambda_j| - v (v + 1) \alpha_j\right),
    \quad v = 1, \dots, \text{largest points} - 1,

a row for each v and sign. At a used feature with k points the right-hand sides of the latter are
:math:`\rho_j (k^2 - (k - v)(k - v - 1))`: never above the penalty, and equal to it where v is k or
k - 1. Between integers the rows are the chords of the square, and with :math:`\alpha_j < 1` the
perspective of these chords: together they are the convex envelope of the penalty. An indicator that
is 1 without any points would pay for one, but no row needs that (those of constraints tie
indicators to points). Each row holds everywhere, so that rows are added where they are violated.
:math:`Q_j` alone can be too small: penalties of scores are computed from their points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["RidgeRow", "RidgeRows", "shrunk_box"]

# Share of a coefficient below which its use is taken for an error of rounding.
NEXT_TO_NOTHING = 1e-9


class RidgeRow(NamedTuple):
    """A row: the sum of values times variables is at least 0."""

    indices: list[int]
    values: list[float]


class RidgeRows:
    """Variables of the ridge penalty in a formulation, and the rows that they need.

    Parameters
    ----------
    price : ndarray of float64, shape (r,)
        Penalty of one point of each feature with a penalty, in units of the surrogate.
    lower, upper : ndarray of int64, shape (r,)
        Bounds of their coefficients.
    coefficients, indicators, variables : ndarray of intp, shape (r,)
        Indices of the variables of their coefficients, of their use and of their penalty.
    unit : float
        A penalty is this many units of the surrogate times the penalty.
    """

    def __init__(
        self,
        price: NDArray[np.float64],
        lower: NDArray[np.int64],
        upper: NDArray[np.int64],
        coefficients: NDArray[np.intp],
        indicators: NDArray[np.intp],
        variables: NDArray[np.intp],
        unit: float,
    ) -> None:
        self.price = price
        self.lower, self.upper = lower, upper
        self.coefficients, self.indicators = coefficients, indicators
        self.variables = variables
        self.unit = unit
        # Of the side of each sign: points from which on and up to which chords are needed.
        self._first = np.array([np.maximum(lower, 0), np.maximum(-upper, 0)])
        self._last = np.array([upper, -lower]) - 1

    def __len__(self) -> int:
        """Number of features with a penalty."""
        return len(self.price)

    def least(self) -> NDArray[np.float64]:
        """Least penalties within the bounds, in units of the surrogate, shape (r,)."""
        return self.at(np.clip(0, self.lower, self.upper))

    def at(self, points: NDArray[np.int64]) -> NDArray[np.float64]:
        """Penalties of integer points of the features, in units of the surrogate, shape (r,)."""
        penalties: NDArray[np.float64] = self.price * points.astype(np.float64) ** 2
        return penalties

    def stated(self, values: list[float]) -> float:
        """Sum of the variables, as a penalty.

        Parameters
        ----------
        values : list of float
            Of the first variables of the surrogate, all of :attr:`variables` among them.

        Returns
        -------
        float
        """
        if not len(self):
            return 0.0
        return float(np.array(values)[self.variables].sum()) / self.unit

    def envelope(self, values: list[float]) -> float:
        """Sum of the least values that all rows together allow the variables, as a penalty.

        Parameters
        ----------
        values : list of float
            As of :meth:`stated`.

        Returns
        -------
        float
        """
        if not len(self):
            return 0.0
        needed, _, _ = self._tightest(np.array(values))
        return float(needed.sum()) / self.unit

    def violated(self, values: list[float], allowed: float) -> list[RidgeRow]:
        """Rows that a point violates, the highest one of each feature.

        Parameters
        ----------
        values : list of float
            As of :meth:`stated`.
        allowed : float
            Penalty by which all variables together may be too small.

        Returns
        -------
        list of RidgeRow
            None of them where the variables are large enough.
        """
        if not len(self):
            return []
        point = np.array(values)
        needed, by_points, by_use = self._tightest(point)
        missing = np.maximum(needed - point[self.variables], 0.0)
        if missing.sum() <= allowed * self.unit:
            return []
        share = allowed * self.unit / np.count_nonzero(missing)
        return [
            self._row(k, float(by_points[k]), float(by_use[k]))
            for k in np.flatnonzero(missing > share).tolist()
        ]

    def _tightest(
        self, point: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Value of the highest row of each feature, and its factors of points and of use."""
        coef, used = point[self.coefficients], np.clip(point[self.indicators], 0.0, 1.0)
        side = (coef < 0).astype(np.intp), np.arange(len(self))
        size, first, last = np.abs(coef), self._first[side], self._last[side]
        # The chord from v to v + 1 is the highest where v <= |lambda| / alpha <= v + 1.
        ratio = size / np.maximum(used, NEXT_TO_NOTHING * np.maximum(size, 1.0))
        v = np.maximum(np.minimum(np.floor(ratio), last), first)
        by_size = np.where(v > 0, self.price * (2.0 * v + 1.0), 0.0)
        by_use = np.where(v > 0, -self.price * v * (v + 1.0), self.price)
        needed = by_size * size + by_use * used
        # On a side with no chords, all points are those of the variable's bound.
        needed = np.where(last >= first, needed, 0.0)
        return np.maximum(needed, self.least()), np.copysign(by_size, coef), by_use

    def first(self) -> list[RidgeRow]:
        """Rows that are the highest ones between -2 and 2 points of a feature."""
        rows = []
        for k in range(len(self)):
            price = float(self.price[k])
            if self.lower[k] <= 0 <= self.upper[k] and self.lower[k] < self.upper[k]:
                rows.append(self._row(k, 0.0, price))
            for sign, side in ((1.0, 0), (-1.0, 1)):
                if self._first[side, k] <= 1 <= self._last[side, k]:
                    rows.append(self._row(k, 3.0 * sign * price, -2.0 * price))
        return rows

    def _row(self, k: int, by_points: float, by_use: float) -> RidgeRow:
        indices = [int(one[k]) for one in (self.variables, self.coefficients, self.indicators)]
        return RidgeRow(indices, [1.0, -by_points, -by_use])


def shrunk_box(
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    price: NDArray[np.float64],
    objective_max: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bounds within which the ridge penalty of a coefficient alone is not beyond an objective.

    Parameters
    ----------
    lower, upper : ndarray of int64, shape (d + 1,)
        Of all coefficients, the intercept first.
    price : ndarray of float64, shape (d,)
        Penalty of one point.
    objective_max : float
        May be infinite.

    Returns
    -------
    (lower, upper)
        Vectors outside of them have a larger objective, or break the given ones.
    """
    priced = np.flatnonzero(price > 0) + 1
    # An error of rounding that matters would need points beyond 1e15.
    most = np.floor(np.sqrt(objective_max / price[priced - 1]))
    most = np.minimum(most, np.maximum(np.abs(lower[priced]), np.abs(upper[priced])))
    most = most.astype(np.int64)
    shrunk = lower.copy(), upper.copy()
    shrunk[0][priced] = np.clip(-most, lower[priced], upper[priced])
    shrunk[1][priced] = np.clip(most, lower[priced], upper[priced])
    return shrunk
