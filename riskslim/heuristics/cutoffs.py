"""Cut-offs of one variable, of which hundreds are nearly the same item.

Neighbours of a chain (:mod:`riskslim.data.nested_thresholds`) differ in a few rows, and so do their
losses. Of thousands of items, points of some evenly spaced ones of each chain are looked for at
first, and then of all those around the two best ones of each. Where a few of the most promising
items are wanted, near-copies count as one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from riskslim.data.nested_thresholds import NestedThresholds, ThresholdCounter, count_rows
from riskslim.data.packed import PackedItems

__all__ = ["CutOffs"]

# About so many items are looked at first: all of them up to twice as many, as of the cut-offs of a
# thousand rows, of which neighbours differ more. The others around so many of the best ones follow.
COARSE = 1024
AROUND = 2
# Items of a chain are near-copies where the log-odds of having them are in one interval of such a
# width: about 6% of the rows in the middle, a quarter of the rows that have a rare item. Twice as
# much is for a search of many supports, which are to differ.
NEAR, FAR = 0.25, 0.5
# Near-copies that are kept of what was to be chosen from.
MOST_KIN = 1

_T = TypeVar("_T")


class CutOffs:
    """The chains of packed items, item by item.

    Parameters
    ----------
    packed : PackedItems

    Attributes
    ----------
    counter : ThresholdCounter
    chains : NestedThresholds
    chain_of : ndarray of int64, shape (number of items,)
        Chain of each item, -1 for those that are in none.
    kin : ndarray of int64, shape (number of items,)
        Near-copies have the same number, all others have different ones.
    """

    def __init__(self, packed: PackedItems) -> None:
        self.counter = ThresholdCounter(packed)
        self.chains: NestedThresholds = self.counter.chains
        n_items = len(packed)
        item_of = np.repeat(np.arange(n_items), np.diff(packed.first))
        self._items = [item_of[self.chains.planes_of(c)] for c in range(len(self.chains))]
        self.chain_of = np.full(n_items, -1, np.int64)
        self._log_odds = np.zeros(n_items)
        n_rows, total = count_rows(packed.planes), int(packed.n_rows.sum())
        for c, items in enumerate(self._items):
            self.chain_of[items] = c
            have = n_rows[self.chains.planes_of(c)]
            self._log_odds[items] = np.log((have + 0.5) / (total - have + 0.5))
        self._kin_of_width: dict[float, NDArray[np.int64]] = {}
        self.tell_apart(NEAR)
        self._stride = max(1, len(self.chains.members) // COARSE)
        self._coarse = [items[:: self._stride].copy() for items in self._items]
        others = np.flatnonzero(self.chain_of < 0)
        self._first = np.concatenate([others, *self._coarse])

    def tell_apart(self, width: float) -> None:
        """Say which items count as near-copies from now on.

        Parameters
        ----------
        width : float
            Of the intervals of log-odds in one of which they are.
        """
        kin = self._kin_of_width.get(width)
        if kin is None:
            kin = self._kin_of_width[width] = np.arange(len(self.chain_of))
            for items in self._items:
                # Intervals fall along the chain: its first item of each stands for all.
                interval = -np.floor(self._log_odds[items] / width)
                _, begin, which = np.unique(interval, return_index=True, return_inverse=True)
                kin[items] = items[begin][which]
        self.kin = kin
        self._kin: list[int] = kin.tolist()

    @property
    def are_skipped(self) -> bool:
        """True if some items are not looked at."""
        return self._stride > 1

    def first_look(self, chain: int | None = None) -> NDArray[np.int64]:
        """Items that are looked at first.

        Parameters
        ----------
        chain : int, optional
            All items of this chain instead.

        Returns
        -------
        ndarray of int64
        """
        return self._first if chain is None else self._items[chain]

    def second_look(
        self,
        objectives: NDArray[np.float64],
        barred: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.int64]:
        """Items around the best ones of each chain.

        Parameters
        ----------
        objectives : ndarray of float64, shape (number of items,)
            After the first look.
        barred : ndarray of bool, shape (number of items,), optional
            Items that cannot be the best one.

        Returns
        -------
        ndarray of int64
        """
        stride = self._stride
        if stride == 1:
            return np.empty(0, np.int64)
        if barred is not None:
            objectives = np.where(barred, np.inf, objectives)
        found = [np.empty(0, np.int64)]
        for c in range(len(self.chains)):
            items, coarse = self._items[c], objectives[self._coarse[c]]
            within = np.zeros(len(items), np.bool_)
            for _ in range(AROUND):
                best = int(coarse.argmin())
                within[max((best - 1) * stride, 0) : (best + 1) * stride] = True
                coarse[max(best - 1, 0) : best + 2] = np.inf
            within[::stride] = False
            found.append(items[within])
        return np.concatenate(found)

    def spread(
        self, found: Iterable[_T], items_of: Callable[[_T], tuple[int, ...]]
    ) -> Iterator[_T]:
        """Leave out what has only near-copies of the items of something before it.

        Parameters
        ----------
        found : iterable
            Best first.
        items_of : callable
            Items of one of them.

        Yields
        ------
        object
            Of ``found``, at most :data:`MOST_KIN` with the same kin.
        """
        met: Counter[tuple[int, ...]] = Counter()
        for one in found:
            key = tuple(sorted(self._kin[i] for i in items_of(one)))
            met[key] += 1
            if met[key] <= MOST_KIN:
                yield one
