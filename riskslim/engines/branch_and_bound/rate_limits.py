"""Constraints on rates as tables of supports see them: limits on rows that are predicted wrongly.

Cells of a support have the weights of both classes, so that a score of its items is known to meet
a limit from the cells alone. The kernel bounds supports and boxes of points with the limits, and
looks for the best whole points that keep them (``_kernels/rated.h``). Of shares at a threshold that
is free it excludes supports whose cells cannot have them, whatever the points
(``_kernels/shares.h``).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import support_enumeration as kernels
from riskslim.constraints.rate_checks import RATE_TOLERANCE, RateCheck
from riskslim.constraints.share_checks import OperatingPointCheck

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.enumeration_items import EnumerationItems

__all__ = ["NO_LIMITS", "NO_SHARES", "RateLimits"]

# By which shares limits are raised, and scores next to a threshold moved apart from each other: far
# more than rounding errors of both.
_LIMIT_SLACK, _SCORE_SLACK = 1e-12, 4 * np.finfo(np.float64).eps

NO_LIMITS, NO_SHARES = np.zeros((0, 4)), np.zeros(0)


@dataclasses.dataclass(frozen=True, eq=False)
class RateLimits:
    """Limits on the rate of one class each, and what a vector that keeps them settles.

    Parameters
    ----------
    checks : sequence of RateCheck
        Those of them that are about one rate.
    total_weight : float
        Of all rows.
    settles : bool
        Whether the best vector of a support that keeps the limits is all that is wanted of it.
    accepts : callable
        Says of a vector whether it meets all requirements of the problem.
    most_wrong : tuple of float, optional
        Weight of positive rows that may be below some threshold, and of negative rows that may
        reach it.
    """

    checks: Sequence[RateCheck]
    total_weight: float
    settles: bool
    accepts: Callable[[NDArray[np.int64]], bool]
    most_wrong: tuple[float, float] | None = None

    @classmethod
    def of(
        cls,
        checks: Sequence[RateCheck | OperatingPointCheck],
        total_weight: float,
        *,
        is_only: bool,
        accepts: Callable[[NDArray[np.int64]], bool],
    ) -> RateLimits | None:
        """Limits of a problem, None where cells say nothing about its checks.

        Parameters
        ----------
        checks : sequence of RateCheck or OperatingPointCheck
            All of the problem.
        total_weight : float
            Of all rows.
        is_only : bool
            Whether one best vector is looked for, and nothing but the checks is required of it.
        accepts : callable
            As in :class:`RateLimits`.

        Returns
        -------
        RateLimits or None
        """
        own = [
            one
            for one in checks
            if isinstance(one, RateCheck) and len(one.rates) == 1 and one.is_integer.all()
        ]
        own = own[: kernels.MOST_RATES]
        free = [one for one in checks if isinstance(one, OperatingPointCheck)]
        n_known = len(own) + sum(one.is_known_by_cells for one in free)
        # What holds at a stated threshold holds at some threshold.
        pairs = [
            *((one.most_missed("sensitivity"), one.most_missed("specificity")) for one in free),
            *_at_one_level(own),
        ]
        # One share alone says nothing.
        most_wrong = next((pair for pair in pairs if all(map(math.isfinite, pair))), None)
        if not own and most_wrong is None:
            return None
        settles = is_only and n_known == len(checks)
        return cls(own, total_weight, settles, accepts, most_wrong)

    def rows(self, packed: EnumerationItems, t_low: float, t_high: float) -> NDArray[np.float64]:
        """Direction, ends and weight of each limit, for scores in log-odds.

        Parameters
        ----------
        packed : EnumerationItems
        t_low, t_high : float
            What a point may be worth.

        Returns
        -------
        float64 array of shape (number of limits, 4)
            None where items have other values than whole numbers, or thresholds are other scores at
            other scales.
        """
        first = [one.level.first_integer for one in self.checks]
        if (packed.value != np.rint(packed.value)).any() or (t_low < t_high and any(first)):
            return NO_LIMITS
        found = []
        for one, level in zip(self.checks, first, strict=True):
            (rate,) = one.rates
            # The largest score that is predicted negative, and the least that is positive.
            negative, positive = t_low * (level - 1), t_low * level
            bad, good = (negative, positive) if rate.of_negative else (-positive, -negative)
            share = float(rate.weights.sum()) / self.total_weight
            found.append((
                1.0 if rate.of_negative else -1.0,
                bad + _SCORE_SLACK * abs(bad),
                good - _SCORE_SLACK * abs(good),
                (one.limit + RATE_TOLERANCE + one.room) * share * (1.0 + _LIMIT_SLACK),
            ))  # fmt: skip
        return np.array(found).reshape(-1, 4)

    def shares(self, packed: EnumerationItems) -> NDArray[np.float64]:
        """Weights that may be called wrong at a free threshold, and if all values are whole.

        Parameters
        ----------
        packed : EnumerationItems

        Returns
        -------
        float64 array of shape (3,) or (0,)
            Weights of the positive class and of the negative one.
        """
        if self.most_wrong is None:
            return NO_SHARES
        missed, called = (
            weight / self.total_weight * (1.0 + _LIMIT_SLACK) for weight in self.most_wrong
        )
        return np.array([missed, called, (packed.value == np.rint(packed.value)).all()], float)

    def settles_in(self, packed: EnumerationItems, t_low: float, t_high: float) -> bool:
        """True if a vector settles the rest of its support, by losses that cells give exactly.

        Parameters
        ----------
        packed, t_low, t_high
            As in :meth:`rows`.

        Returns
        -------
        bool
        """
        return self.settles and packed.is_exact and t_low == t_high


def _at_one_level(checks: Sequence[RateCheck]) -> list[tuple[float, float]]:
    """Weight of either class that may be called wrong at each threshold, the positive one first."""
    found: dict[int, tuple[float, float]] = {}
    for one in checks:
        (rate,) = one.rates
        most = (one.limit + RATE_TOLERANCE + one.room) * float(rate.weights.sum())
        missed, called = found.get(one.level.first_integer, (math.inf, math.inf))
        if rate.of_negative:
            missed = min(missed, most)
        else:
            called = min(called, most)
        found[one.level.first_integer] = missed, called
    return list(found.values())
