"""Chains of packed columns each of which holds the next one, as cut-offs of a variable do.

A row that is 50 or older is 40 or older: of all items "age >= ..." it is enough to know how many a
row has, its *rank*. Then one pass over the rows counts all of them at once, where bits need one
pass for each (:mod:`riskslim._kernels.chains`). Chains are found in the rows, not in names.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import chains as kernels
from riskslim._kernels import supports
from riskslim.data.packed import PackedItems

__all__ = ["FEWEST", "Chains", "find_chains"]

# Fewest planes of a chain that is kept: its ranks, of two bytes, take no more room than its bits.
FEWEST = 16
# Most planes of a chain: ranks have 16 bits.
MOST = 65535
# Places before and behind a plane at which the chain that it continues is looked for. Columns of
# cut-offs stand side by side, or one in two where there are complements.
REACH = 64
# Planes times groups from which a pass over ranks is faster than one over bits, where a machine
# counts the bits of eight words at once; others gain from fewer on.
WORTHWHILE = 500


@dataclasses.dataclass(frozen=True, eq=False)
class Chains:
    """Planes of packed items, by chain.

    Attributes
    ----------
    first : ndarray of int64, shape (number of chains + 1,)
        Chain c has members[first[c]] .. members[first[c + 1] - 1].
    members : ndarray of int64
        Planes of items of two values, from the one with most rows on.
    ranks : ndarray of uint16, shape (number of chains, 64 * number of words)
        How many planes of a chain each row has; 2 bytes per row and chain.
    others : ndarray of int64
        Planes that are in no chain.
    n_rows : ndarray of int64, shape (number of planes,)
        Rows of each plane.
    """

    first: NDArray[np.int64]
    members: NDArray[np.int64]
    ranks: NDArray[np.uint16]
    others: NDArray[np.int64]
    n_rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first) - 1

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

    def count(
        self,
        packed: PackedItems,
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
        packed : PackedItems
            Those that the chains are of.
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
        n_groups = len(masks)
        length = np.diff(self.first)
        wanted = np.arange(len(self)) if only is None else np.array([only])
        swept = wanted[length[wanted] * n_groups >= WORTHWHILE]
        by_bits = [self.planes_of(c) for c in np.setdiff1d(wanted, swept).tolist()]
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
                self.ranks, group, swept, self.first, self.members, packed.first_word, packed.side,
                packed.weight, scratch, out, stop, n_threads,
            )  # fmt: skip
        return len(planes), int(length[swept].sum()), len(swept)


def find_chains(packed: PackedItems) -> Chains:
    """Find chains of at least :data:`FEWEST` planes among items of two values.

    Parameters
    ----------
    packed : PackedItems

    Returns
    -------
    Chains

    Notes
    -----
    Planes are taken by the number of their rows, and each is added to the nearest chain whose last
    plane holds it. That takes a comparison of one word where a chain does not, a pass over the
    plane where it does.
    """
    n_planes = len(packed.values)
    n_rows = _rows_of(packed)
    single = packed.first[:-1][np.diff(packed.first) == 1]
    order = single[np.argsort(-n_rows[single], kind="stable")]
    chain = np.full(n_planes, -1, np.int64)
    length = np.zeros(n_planes, np.int64)
    n_chains = kernels.find_chains(
        packed.planes, order, REACH, MOST, chain, length, np.empty(n_planes, np.uint8)
    )
    # By chain, and within a chain in the order in which planes were added.
    by_chain = order[np.argsort(chain[order], kind="stable")]
    kept = length[:n_chains] >= FEWEST
    members = by_chain[kept[chain[by_chain]]]
    first = np.concatenate(([0], np.cumsum(length[:n_chains][kept]))).astype(np.int64)
    ranks = np.empty((len(first) - 1, 64 * packed.planes.shape[1]), np.uint16)
    for c, rank in enumerate(ranks):
        kernels.fill_ranks(packed.planes, members[first[c] : first[c + 1]], rank)
    others = np.setdiff1d(np.arange(n_planes), members)
    return Chains(first, members, ranks, others, n_rows)


def _rows_of(packed: PackedItems) -> NDArray[np.int64]:
    """Number of rows of each plane."""
    n_planes = len(packed.values)
    counts = np.empty((n_planes, 2, 1))
    supports.count_joint(
        packed.planes, np.arange(n_planes), packed.valid.reshape(1, -1), packed.first_word,
        packed.side, np.ones(len(packed.side)), counts, np.zeros(1, np.int64), 1,
    )  # fmt: skip
    n_rows: NDArray[np.int64] = counts.sum(axis=(1, 2)).astype(np.int64)
    return n_rows
