r"""Bounds on the optimal value of the risk score problem and their chained updates.

Everything here may err on the loose side only: a bound that is too tight by a rounding
error cuts off the optimum and makes a certificate false.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ObjectiveBounds", "chained_updates", "safe_ceil", "safe_floor"]

# Relative error allowed for in numbers that went through a handful of double operations.
# It is a thousand times the rounding unit, and far below any useful improvement.
SLACK = 1e-12


def safe_floor(numerator: float, denominator: float) -> float:
    """Largest integer that the exact quotient can reach, erring upwards.

    Parameters
    ----------
    numerator : float
        Computed in double precision, in error by up to :data:`SLACK` times
        ``max(1, abs(numerator))``.
    denominator : float
        Positive.

    Returns
    -------
    float
        floor of the quotient after its numerator is raised by the slack; inf where the
        quotient overflows.

    Examples
    --------
    >>> from riskslim.bounds import safe_floor
    >>> 0.3 / 0.1, safe_floor(0.3, 0.1)
    (2.9999999999999996, 3.0)
    """
    quotient = (numerator + SLACK * max(1.0, abs(numerator))) / denominator
    return float(math.floor(quotient)) if math.isfinite(quotient) else quotient


def safe_ceil(numerator: float, denominator: float) -> float:
    """Smallest integer that the exact quotient can reach, erring downwards.

    Parameters
    ----------
    numerator, denominator : float
        As for :func:`safe_floor`.

    Returns
    -------
    float
    """
    return -safe_floor(-numerator, denominator)


@dataclasses.dataclass(frozen=True)
class ObjectiveBounds:
    r"""Bounds on the objective, the loss and the model size of an optimal risk score.

    Parameters
    ----------
    objective_min, objective_max : float
        :math:`V^{\min} \le V(\lambda^{*}) \le V^{\max}`.
    loss_min, loss_max : float
        :math:`L^{\min} \le l(\lambda^{*}) \le L^{\max}`.
    size_min, size_max : int
        :math:`R^{\min} \le \|\lambda^{*}\|_0 \le R^{\max}`.

    Raises
    ------
    ValueError
        A lower bound exceeds its upper bound by more than rounding can explain, or one is NaN.
    """

    objective_min: float
    objective_max: float
    loss_min: float
    loss_max: float
    size_min: int
    size_max: int

    def __post_init__(self) -> None:
        for name in ("objective", "loss", "size"):
            low, high = getattr(self, f"{name}_min"), getattr(self, f"{name}_max")
            if not low <= high + 1e-9 * max(1.0, abs(high)):
                raise ValueError(
                    f"{name} bounds contradict each other: lower bound {low!r}, "
                    f"upper bound {high!r}; one of them is not valid"
                )


def chained_updates(
    bounds: ObjectiveBounds,
    l0_penalty: ArrayLike,
    *,
    ridge: tuple[ArrayLike, ArrayLike] | None = None,
) -> ObjectiveBounds:
    r"""Tighten bounds on objective, loss and model size until none improves.

    Applies Propositions 2 to 4 of Ustun & Rudin (2019) in turn (their Algorithm
    *ChainedUpdates*):

    .. math::

        V^{\min} &\gets \max(V^{\min}, L^{\min} + P^{\min}(R^{\min})) \\
        V^{\max} &\gets \min(V^{\max}, L^{\max} + P^{\max}(R^{\max})) \\
        L^{\min} &\gets \max(L^{\min}, V^{\min} - P^{\max}(R^{\max})) \\
        L^{\max} &\gets \min(L^{\max}, V^{\max} - P^{\min}(R^{\min})) \\
        R^{\max} &\gets \max\{r \le R^{\max} : P^{\min}(r) \le V^{\max} - L^{\min}\}

    where :math:`P^{\min}(r)` and :math:`P^{\max}(r)` are the smallest and the largest
    penalty of r features. With one price :math:`C_0` for all of them, and no ridge penalty, both
    are :math:`C_0 r`, and the last line is
    :math:`\lfloor (V^{\max} - L^{\min}) / C_0 \rfloor`.

    Parameters
    ----------
    bounds : ObjectiveBounds
        Valid bounds.
    l0_penalty : float or array-like of shape (d,)
        :math:`C_0 \ge 0`, or one per feature that can be used.
    ridge : (least, most), optional
        Least and largest ridge penalty of each feature that can be used, where it is used: that of
        its points next to zero, and of those farthest from it. None: there is no ridge penalty.

    Returns
    -------
    ObjectiveBounds
        Valid bounds, none looser than the given ones. Improvements below rounding error
        are not made.

    Raises
    ------
    ValueError
        A penalty is negative or not finite, there are too few of them, or the given bounds
        contradict each other.

    Examples
    --------
    >>> from riskslim import chained_updates
    >>> from riskslim.bounds import ObjectiveBounds
    >>> start = ObjectiveBounds(0.0, 0.5, 0.3, 0.7, 0, 30)
    >>> chained_updates(start, l0_penalty=0.01).size_max
    20
    >>> chained_updates(start, 0.01, ridge=([0.03] * 30, [0.75] * 30)).size_max
    5
    """
    penalty = _PenaltyBySize(l0_penalty, bounds.size_max, ridge)
    v_min, v_max = bounds.objective_min, bounds.objective_max
    l_min, l_max = bounds.loss_min, bounds.loss_max
    r_min, r_max = bounds.size_min, bounds.size_max
    changed = True
    while changed:
        before = (v_min, v_max, l_min, l_max, r_max)
        v_min = _raised(v_min, l_min + penalty.smallest(r_min))
        v_max = _lowered(v_max, l_max + penalty.largest(r_max))
        l_min = _raised(l_min, v_min - penalty.largest(r_max))
        l_max = _lowered(l_max, v_max - penalty.smallest(r_min))
        r_max = max(r_min, min(r_max, penalty.most_features(v_max - l_min, r_max)))
        changed = before != (v_min, v_max, l_min, l_max, r_max)
    return ObjectiveBounds(v_min, v_max, l_min, l_max, r_min, r_max)


class _PenaltyBySize:
    """Smallest and largest total penalty of a model of a given size."""

    def __init__(
        self,
        l0_penalty: ArrayLike,
        size_max: int,
        ridge: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> None:
        prices = _checked(l0_penalty, "l0_penalty")
        self._uniform: float | None = None
        if ridge is not None:
            least, most = (prices + _checked(one, "ridge") for one in ridge)
            if np.any(least > most):
                raise ValueError(f"the least ridge penalty is above the largest one: {ridge!r}")
        elif prices.ndim == 0:
            self._uniform = float(prices)
            return
        else:
            least = most = prices
        for penalties in (least, most):
            if penalties.ndim != 1 or penalties.size < size_max:
                raise ValueError(
                    f"l0_penalty must be one number or one per usable feature, and ridge one per "
                    f"usable feature: got shape {penalties.shape} for models of up to {size_max} "
                    "features"
                )
        self._cheapest = _cumulative(np.sort(least))
        self._dearest = _cumulative(np.sort(most)[::-1])

    def smallest(self, size: int) -> float:
        if self._uniform is not None:
            return self._uniform * size
        return float(self._cheapest[size])

    def largest(self, size: int) -> float:
        if self._uniform is not None:
            return self._uniform * size
        return float(self._dearest[size])

    def most_features(self, budget: float, size_max: int) -> int:
        """Largest size up to ``size_max`` whose smallest penalty fits the budget."""
        if self._uniform is not None:
            if self._uniform == 0.0:
                return size_max
            return int(min(size_max, safe_floor(budget, self._uniform)))
        slack = SLACK * max(1.0, abs(budget))
        fits = self._cheapest[: size_max + 1] <= budget + slack
        return int(np.count_nonzero(fits)) - 1


def _checked(penalty: ArrayLike, what: str) -> NDArray[np.float64]:
    penalties = np.asarray(penalty, dtype=np.float64)
    if not np.all(np.isfinite(penalties)) or np.any(penalties < 0):
        raise ValueError(f"{what} must be finite and at least 0, got {penalty!r}")
    return penalties


def _cumulative(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate(([0.0], np.cumsum(values)))


# An update below rounding error gains nothing, and could creep upwards for ever. The candidate
# scales the slack: the bound may be infinite, and inf - inf is no number to compare with.
def _raised(bound: float, candidate: float) -> float:
    return candidate if candidate - SLACK * max(1.0, abs(candidate)) > bound else bound


def _lowered(bound: float, candidate: float) -> float:
    return candidate if candidate + SLACK * max(1.0, abs(candidate)) < bound else bound
