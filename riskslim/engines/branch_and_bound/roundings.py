"""The choice of relaxations of nodes that are rounded, and of the time for it.

Where rows are many, to polish a rounding takes as long as to relax several nodes, and much of it
keeps one thread busy. It waits then for the next work that threads share, and is done beside that:
always there, also by one thread, so that what a search does is the same for any number of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.incumbents import Incumbents

__all__ = ["Roundings"]

# So many of the first relaxations are rounded, and of the later ones some.
ALWAYS_ROUNDED = 50


class Roundings:
    """Rounds relaxations now and then, and where they are integral.

    Parameters
    ----------
    incumbents : Incumbents
        Takes what they become.
    interval : int
        Of later relaxations, one of so many is rounded.
    """

    def __init__(self, incumbents: Incumbents, interval: int) -> None:
        self._incumbents = incumbents
        self._interval = interval
        self._seen = 0
        self._waiting: deque[tuple[NDArray[np.float64], float, float]] = deque()

    @property
    def aside(self) -> Callable[[], None] | None:
        """Work to do beside other work; None where nothing waits."""
        return self.work if self._waiting else None

    def consider(self, coef: NDArray[np.float64], scale: float, bound: float) -> None:
        """Round a relaxation if it is due, at once or with :meth:`work`.

        Parameters
        ----------
        coef : ndarray of float64, shape (d + 1,)
        scale : float
            What it is a relaxation for.
        bound : float
            Of the node. Nothing is done if others exclude the node meanwhile.
        """
        self._seen += 1
        due = self._seen <= ALWAYS_ROUNDED or self._seen % self._interval == 0
        if due or np.abs(coef - np.rint(coef)).max() < 1e-6:
            if self._incumbents.polishing_is_long:
                self._waiting.append((coef, scale, bound))
            else:
                self._incumbents.round(coef, scale)

    def work(self) -> None:
        """Round what waits, or none of it after a stop."""
        while self._waiting:
            coef, scale, bound = self._waiting.popleft()
            if not self._incumbents.stop[0] and bound < self._incumbents.cutoff:
                self._incumbents.round(coef, scale)
