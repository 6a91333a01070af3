"""The best vector of each set of items: a list in which no set comes twice.

Every set is looked for whose best vector is within what was asked for. The search prunes as it does
for a list of vectors, by the largest objective of the list. A box in which all vectors have the
same set is pruned by the best one that is known of it, too: others of the set are not listed.
"""

from __future__ import annotations

import bisect
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskslim.engines.branch_and_bound.incumbents import Incumbents

__all__ = ["BestOfSets"]


class BestOfSets(Incumbents):
    """The best feasible vector of each set of features with points, sorted.

    Parameters
    ----------
    *arguments, **options
        As :class:`Incumbents` has them; ``n_solutions`` is a number of sets.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._of_set: dict[bytes, tuple[float, tuple[int, ...]]] = {}

    @property
    def has_sets(self) -> bool:
        """True: of each set one vector is kept; see :attr:`Incumbents.has_sets`."""
        return True

    def cutoff_within(self, box: NDArray[Any]) -> float:
        """Bound from which on a box is pruned; see :meth:`Incumbents.cutoff_within`."""
        cutoff = self.cutoff
        low, high = box[:, 1:]
        is_in = (low > 0) | (high < 0)
        if ((low != 0) | (high != 0))[~is_in].any():
            return cutoff
        known = self._of_set.get(is_in.tobytes())
        return cutoff if known is None else min(cutoff, known[0] - self.tolerance)

    def _keep(self, coef: NDArray[np.int64], objective: float) -> None:
        key = (coef[1:] != 0).tobytes()
        known = self._of_set.get(key)
        if known is not None:
            if not objective < known[0]:
                return
            del self._sorted[bisect.bisect_left(self._sorted, known)]
        self._of_set[key] = entry = (objective, tuple(coef.tolist()))
        bisect.insort(self._sorted, entry)

    def _forget(self, entries: list[tuple[float, tuple[int, ...]]]) -> None:
        for _, coef in entries:
            del self._of_set[(np.array(coef[1:]) != 0).tobytes()]
