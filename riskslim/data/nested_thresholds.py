"""Chains of planes each of which holds the next one, as cut-offs of a variable do.

A row that is 50 or older is 40 or older: of all items "age >= ..." it is enough to know how many a
row has, its *rank*. Then one pass over the rows counts all of them at once, where bits need one
pass for each (:mod:`riskslim._kernels.nested_thresholds`), and rows sorted by rank are those of any
range of cut-offs side by side. Chains are found in the rows, not in names.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import nested_thresholds as kernels
from riskslim._kernels import supports
from riskslim.data.packed import PackedItems

__all__ = ["FEWEST", "NestedThresholds", "ThresholdCounter", "find_nested_thresholds"]

# Fewest planes of a chain that is counted by ranks: these, of two bytes, take no more room than its
# bits.
FEWEST = 16
# Most planes of a chain: ranks have 16 bits.
MOST = 65535
# Places before and behind a plane at which the chain that it continues is looked for. Columns of
# cut-offs stand side by side, or one in two where there are complements.
REACH = 64
# Planes times groups from which a pass over ranks is faster than one over bits, where a machine
# counts the bits of eight words at once; others gain from fewer on.
WORTHWHILE = 500
# Planes that are put into chains between two questions whether to stop.
_PLANES_AT_ONCE = 64


@dataclasses.dataclass(frozen=True, eq=False)
class NestedThresholds:
    """Nested planes.

    Attributes
    ----------
    first : ndarray of int64, shape (number of chains + 1,)
        Chain c has members[first[c]] .. members[first[c + 1] - 1].
    members : ndarray of int64
        Planes, from the one with most rows on.
    """

    first: NDArray[np.int64]
    members: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Planes of each chain."""
        return np.diff(self.first)

    def planes_of(self, chain: int) -> NDArray[np.int64]:
        """Planes of a chain, from the one with most rows on.

        Parameters
        ----------
        chain : int

        Returns
        -------
        ndarray of int64
        """
        return self.members[self.first[chain] : self.first[chain + 1]]


def find_nested_thresholds(
    planes: NDArray[np.uint64],
    chosen: NDArray[np.int64],
    *,
    reach: int = 0,
    kind: NDArray[np.int64] | None = None,
    fewest: int = 1,
    most: int | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> NestedThresholds | None:
    """Put every plane at the end of a chain whose last plane holds it.

    Parameters
    ----------
    planes : ndarray of uint64, shape (number of planes, number of words)
    chosen : ndarray of int64
        The planes that take part.
    reach : int, default 0
        Of chains that a plane could continue, the nearest one whose last plane is at most so many
        places away. 0: the one whose last plane has the fewest rows.
    kind : ndarray of int64, shape (number of planes,), optional
        Without a reach: only planes of one kind form a chain.
    fewest : int, default 1
        Planes of a chain; shorter ones are left out.
    most : int, optional
        Chains that there may be, short ones included.
    should_stop : callable, optional

    Returns
    -------
    NestedThresholds or None
        None if they are too many, or the work was to end.

    Notes
    -----
    Planes are taken by the number of their rows. A chain that does not hold a plane mostly shows
    that in the first word.
    """
    n = len(planes)
    n_rows = count_rows(planes)
    order = chosen[np.argsort(-n_rows[chosen], kind="stable")]
    chain, last, length = np.full(n, -1), np.empty(n, np.int64), np.empty(n, np.int64)
    kind = np.zeros(n, np.int64) if kind is None else kind
    n_chains = 0
    for begin in range(0, len(order), _PLANES_AT_ONCE):
        if should_stop():
            return None
        n_chains = kernels.find_nested_thresholds(
            planes, order[begin : begin + _PLANES_AT_ONCE], kind, n_rows, reach, MOST,
            n if most is None else most, n_chains, chain, last, length,
        )  # fmt: skip
        if n_chains < 0:
            return None
    # By chain, and within a chain in the order in which planes were added.
    by_chain = order[np.argsort(chain[order], kind="stable")]
    kept = length[:n_chains] >= fewest
    first = np.concatenate(([0], np.cumsum(length[:n_chains][kept]))).astype(np.int64)
    return NestedThresholds(first, by_chain[kept[chain[by_chain]]])


def count_rows(planes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Count the rows of each plane.

    Parameters
    ----------
    planes : ndarray of uint64, shape (number of planes, number of words)

    Returns
    -------
    ndarray of int64, shape (number of planes,)
    """
    n_rows = np.empty(len(planes), np.int64)
    kernels.count_rows(planes, n_rows)
    return n_rows


class ThresholdCounter:
    """Counts of packed items, by the ranks of their chains where that is faster.

    Parameters
    ----------
    packed : PackedItems

    Attributes
    ----------
    chains : NestedThresholds
        Of at least :data:`FEWEST` planes of items of two values.
    ranks : ndarray of uint16, shape (number of chains, 64 * number of words)
        How many planes of a chain each row has; 2 bytes per row and chain.
    others : ndarray of int64
        Planes that are in no chain.
    """

    def __init__(self, packed: PackedItems) -> None:
        self._packed = packed
        single = packed.first[:-1][np.diff(packed.first) == 1]
        found = find_nested_thresholds(packed.planes, single, reach=REACH, fewest=FEWEST)
        assert found is not None
        self.chains = found
        self.ranks = np.empty((len(self.chains), 64 * packed.planes.shape[1]), np.uint16)
        for c, rank in enumerate(self.ranks):
            kernels.fill_ranks(packed.planes, self.chains.planes_of(c), rank)
        self.others = np.setdiff1d(np.arange(len(packed.planes)), self.chains.members)

    def count(
        self,
        masks: NDArray[np.uint64],
        out: NDArray[np.float64],
        stop: NDArray[np.int64],
        n_threads: int,
        only: int | None = None,
    ) -> tuple[int, int, int]:
        """Count the rows of each plane, side and group, by ranks or by bits.

        The numbers do not depend on which of the two it is.

        Parameters
        ----------
        masks : ndarray of uint64, shape (number of groups, number of words)
            Rows of each group, at most 256 groups.
        out : ndarray of float64, shape (number of planes, 2, number of groups)
            Overwritten: weights of the rows.
        stop : int64 array of shape (1,)
        n_threads : int
        only : int, optional
            A chain whose planes alone are wanted.

        Returns
        -------
        tuple of int
            Planes that were counted by bits, and by ranks, and chains that the ranks are of.
        """
        packed, chains, n_groups = self._packed, self.chains, len(masks)
        length = chains.lengths
        wanted = np.arange(len(chains)) if only is None else np.array([only])
        swept = wanted[length[wanted] * n_groups >= WORTHWHILE]
        by_bits = [chains.planes_of(c) for c in np.setdiff1d(wanted, swept).tolist()]
        planes = np.concatenate([*by_bits, self.others[: 0 if only is not None else None]])
        if len(planes):
            supports.count_joint(
                packed.planes, planes, masks, packed.first_word, packed.side, packed.weight, out,
                stop, n_threads,
            )  # fmt: skip
        if len(swept):
            group = np.empty(self.ranks.shape[1], np.uint8)
            kernels.fill_groups(masks, group)
            room = (int(length[swept].max()) + 1) * n_groups
            scratch = np.empty((min(n_threads, len(swept)), room), np.int32)
            kernels.sweep_chains(
                self.ranks, group, swept, chains.first, chains.members, packed.first_word,
                packed.side, packed.weight, scratch, out, stop, n_threads,
            )  # fmt: skip
        return len(planes), int(length[swept].sum()), len(swept)
