"""Cuts that a search remembers, to be found again without a pass over the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riskslim.engines.lattice_cpa.formulation import Cut

__all__ = ["CutPool"]

# A cut counts as near active at a point where it is within this share of the highest one.
NEAR_ACTIVE = 0.01
# Relative difference of gradients that belong to parallel cuts.
PARALLEL = 1e-12


class CutPool:
    """Cuts of the loss, all of them valid everywhere, and the ones that matter kept.

    When the pool is full, half of the cuts leave it: those that have not been near active for
    the longest time at the points that the search asked about. Of parallel cuts the higher stays.

    Parameters
    ----------
    size : int
        Length of a gradient, d + 1.
    capacity : int
        Most cuts that are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.engines.lattice_cpa.cuts import CutPool
    >>> from riskslim.engines.lattice_cpa.formulation import Cut
    >>> pool = CutPool(2, 10)
    >>> pool.add(Cut(np.zeros(2), 0.7, np.array([0.1, -0.1])))
    True
    >>> pool.add(Cut(np.zeros(2), 0.6, np.array([0.1, -0.1])))  # parallel and lower
    False
    >>> round(pool.highest(np.array([1.0, 0.0]))[1], 6)
    0.8
    """

    def __init__(self, size: int, capacity: int) -> None:
        self.capacity = capacity
        self.cuts: list[Cut] = []
        self._gradients = np.empty((capacity, size))
        self._constants = np.empty(capacity)
        self._last_active = np.empty(capacity, dtype=np.int64)
        self._clock = 0

    def __len__(self) -> int:
        return len(self.cuts)

    def add(self, cut: Cut) -> bool:
        """Remember a cut, unless a parallel one is at least as high.

        Parameters
        ----------
        cut : Cut

        Returns
        -------
        bool
            Whether it is new.
        """
        n = len(self.cuts)
        allowed = PARALLEL * np.max(np.abs(cut.gradient), initial=0.0)
        parallel = np.max(np.abs(self._gradients[:n] - cut.gradient), axis=1, initial=0) <= allowed
        constant = cut.constant
        if np.any(self._constants[:n][parallel] >= constant):
            return False
        if np.any(parallel):
            self._keep(np.flatnonzero(~parallel))
        elif n == self.capacity:
            self._keep(np.sort(np.argsort(-self._last_active[:n], kind="stable")[: n // 2]))
        n = len(self.cuts)
        self.cuts.append(cut)
        self._gradients[n], self._constants[n] = cut.gradient, constant
        self._last_active[n] = self._clock
        return True

    def _keep(self, kept: NDArray[np.intp]) -> None:
        self.cuts = [self.cuts[i] for i in kept]
        for values in (self._gradients, self._constants, self._last_active):
            values[: len(kept)] = values[kept]

    def highest(self, point: NDArray[np.float64]) -> tuple[Cut | None, float]:
        """The cut that says most about a point.

        Parameters
        ----------
        point : ndarray of float64, shape (d + 1,)

        Returns
        -------
        cut : Cut or None
            None if the pool is empty.
        value : float
            Its value there, minus infinity without a cut.
        """
        n = len(self.cuts)
        if not n:
            return None, -np.inf
        self._clock += 1
        values = self._constants[:n] + self._gradients[:n] @ point
        best = int(np.argmax(values))
        value = float(values[best])
        self._last_active[:n][values >= value - NEAR_ACTIVE * abs(value)] = self._clock
        return self.cuts[best], value
