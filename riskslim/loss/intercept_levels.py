r"""Intercepts that scores of at most some loss can have, whatever their points are.

Let :math:`s_i^{\min} \le s_i \le s_i^{\max}` bound the score of row i without intercept, over all
feasible points. With the intercept b a row without the outcome has at least the loss
:math:`\log(1 + \exp((s_i^{\min} + b) / m))`, which grows with b, and a row with it at least
:math:`\log(1 + \exp(-(s_i^{\max} + b) / m))`, which falls. Hence the loss of every score with an
intercept of b or more is at least

.. math::

    h^-(b) = \frac{1}{W} \sum_{i: y_i = -1} w_i \log(1 + \exp((s_i^{\min} + b) / m)),

and that of every score with an intercept of b or less is at least :math:`h^+(b)`, the same sum over
the rows with the outcome. Over several scales each quotient is the smallest one of the set. Extreme
scores are rounded outwards to integers, and sums are reduced by a slack for their rounding errors:
what is wrong makes the bounds of the loss smaller, hence the intercepts more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim.coefficients import MAX_ABSOLUTE_COEFFICIENT
from riskslim.loss.intercept import extreme_scores
from riskslim.loss.ranges import SUM_SLACK, largest_quotient
from riskslim.scale import ScaleSet

if TYPE_CHECKING:
    from riskslim.loss.logistic import LogisticLoss

    _Array = NDArray[np.float64]
    _Extremes = tuple[_Array, _Array, _Array, _Array]

__all__ = ["LossByIntercept"]


@dataclasses.dataclass(frozen=True, eq=False)
class LossByIntercept:
    """Lower bounds of the loss by intercept.

    Parameters
    ----------
    scores_without, shares_without : ndarray of float64, shape (k,)
        Least scores of rows without the outcome, the intercept left out, and the share of all rows
        that has each.
    scores_with, shares_with : ndarray of float64, shape (l,)
        The same of rows with it, of their largest scores with the sign changed.
    scales : ScaleSet
    """

    scores_without: NDArray[np.float64]
    shares_without: NDArray[np.float64]
    scores_with: NDArray[np.float64]
    shares_with: NDArray[np.float64]
    scales: ScaleSet

    @classmethod
    def of(
        cls, loss: LogisticLoss, should_stop: Callable[[], bool] | None = None
    ) -> LossByIntercept | None:
        """Look at the rows of a loss.

        Parameters
        ----------
        loss : LogisticLoss
        should_stop : callable, optional
            Asked between parts of the rows.

        Returns
        -------
        LossByIntercept or None
            None if ``should_stop`` ended that.
        """
        total = loss.data.total_weight

        def extremes(label: int) -> _Extremes | None:
            return extreme_scores(
                loss.data, loss.store, loss.given_coefficients, loss.max_size, loss.n_threads,
                should_stop, label,
            )  # fmt: skip

        without = extremes(-1)
        having = None if without is None else extremes(1)
        if without is None or having is None:
            return None
        return cls(without[0], without[1] / total, -having[2], having[3] / total, loss.scales)

    def least_loss_from(self, intercept: int) -> float:
        """Lower bound of the loss of every score with this intercept or a larger one.

        Parameters
        ----------
        intercept : int

        Returns
        -------
        float
        """
        return self._bound(self.scores_without + intercept, self.shares_without)

    def least_loss_up_to(self, intercept: int) -> float:
        """Lower bound of the loss of every score with this intercept or a smaller one.

        Parameters
        ----------
        intercept : int

        Returns
        -------
        float
        """
        return self._bound(self.scores_with - intercept, self.shares_with)

    def _bound(self, z: NDArray[np.float64], shares: NDArray[np.float64]) -> float:
        smallest = -largest_quotient(-z, self.scales)
        losses = np.maximum(smallest, 0.0) + np.log1p(np.exp(-np.abs(smallest)))
        return float(shares @ losses) * (1.0 - SUM_SLACK)

    def range_within(self, level: float, low: int, high: int) -> tuple[int, int]:
        """Widen a range until no score beyond it has a loss of at most a level.

        Parameters
        ----------
        level : float
        low, high : int
            The range to begin with.

        Returns
        -------
        tuple of two int
            At most as large as intercepts can be: an infinite level has no end.
        """
        return (
            -_first_above(lambda b: self.least_loss_up_to(-b), level, 1 - low) + 1,
            _first_above(self.least_loss_from, level, high + 1) - 1,
        )


def _first_above(bound: Callable[[int], float], level: float, first: int) -> int:
    """Smallest integer from ``first`` on at which a bound, which grows, exceeds a level."""
    most = MAX_ABSOLUTE_COEFFICIENT + 1
    if first >= most or bound(first) > level:
        return first
    inside, step = first, 1
    while inside + step < most and bound(inside + step) <= level:
        inside += step
        step *= 2
    outside = min(inside + step, most)
    while outside - inside > 1:
        middle = (inside + outside) // 2
        if bound(middle) > level:
            outside = middle
        else:
            inside = middle
    return outside
