"""How long relaxations need for the rest, from how fast their bound has risen."""

from __future__ import annotations

import math

__all__ = ["Pace"]

# More doublings of the number of nodes than this are as good as infinitely many.
MOST_DOUBLINGS = 40.0


class Pace:
    """Lower bounds at doublings of the number of nodes."""

    def __init__(self) -> None:
        self._before = 0.0

    def remaining_seconds(self, spent: float, cutoff: float, bound: float) -> float:
        """Predict the time that relaxations need for the rest.

        With twice as many nodes the bound rises by as much as with the last doubling, as a rule.

        Parameters
        ----------
        spent : float
            Seconds that the nodes so far took.
        cutoff, bound : float
            Where the bound is to get to, and where it is.

        Returns
        -------
        float
            Infinite where it does not rise.
        """
        before, self._before = self._before, bound
        left, gained = cutoff - bound, bound - before
        if gained <= 0.0 or left > MOST_DOUBLINGS * gained:
            return math.inf
        return float(spent * (2.0 ** (left / gained) - 1.0))
