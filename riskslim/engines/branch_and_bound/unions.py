r"""Sets of features of few values, counted together: all supports of a score lie in one of them.

Features are put into blocks whose values have few combinations. Every support of k features lies in
the union of k blocks. For each union the rows of each class and combination of values, its *cells*,
are counted, all unions in one pass over the rows: 252 unions of 32,768 cells for 30 items and
scores of five. A search of a union needs no further pass. It has the cells as its rows, and the
rows of fewer features are sums of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.rows.functions import MergedPart

if TYPE_CHECKING:
    from riskslim.rows.base import PartitionedRows

__all__ = ["UnionCells", "UnionPlan"]

# Unions that are worth a pass.
MOST_UNIONS = 4096
# Share of the memory limit that counts may take.
MEMORY_SHARE = 1.0 / 3.0


class UnionPlan(NamedTuple):
    """Features that are counted together.

    Parameters
    ----------
    blocks : tuple of tuples of int
        Features of each block.
    values : tuple of tuples of ndarray of float64
        Values of each of them, sorted.
    unions : tuple of tuples of int
        Blocks of each union, in lexicographic order.
    """

    blocks: tuple[tuple[int, ...], ...]
    values: tuple[tuple[NDArray[np.float64], ...], ...]
    unions: tuple[tuple[int, ...], ...]

    @classmethod
    def of(
        cls,
        features: Sequence[int],
        values: Sequence[NDArray[np.float64]],
        size: int,
        most_cells: int,
    ) -> UnionPlan | None:
        """Put features into blocks.

        Parameters
        ----------
        features : sequence of int
            That scores may use.
        values : sequence of ndarray of float64
            Of each of them.
        size : int
            Most features of a score.
        most_cells : int
            Most combinations of values of a union.

        Returns
        -------
        UnionPlan or None
            None where a feature has too many values, there are too many unions, or one would do.
        """
        if size < 1 or not features:
            return None
        room = math.floor(most_cells ** (1.0 / size) + 1e-9)
        blocks: list[list[int]] = []
        products: list[int] = []
        # Large ones first: each goes to the first block that has room for it.
        for i in sorted(range(len(features)), key=lambda i: -len(values[i])):
            n = len(values[i])
            if n > room:
                return None
            fits = (b for b, product in enumerate(products) if product * n <= room)
            b = next(fits, len(blocks))
            if b == len(blocks):
                blocks.append([])
                products.append(1)
            blocks[b].append(i)
            products[b] *= n
        if len(blocks) <= size or math.comb(len(blocks), size) > MOST_UNIONS:
            return None
        blocks = [sorted(block) for block in blocks]
        return cls(
            tuple(tuple(features[i] for i in block) for block in blocks),
            tuple(tuple(values[i] for i in block) for block in blocks),
            tuple(itertools.combinations(range(len(blocks)), size)),
        )

    def n_cells(self) -> int:
        """Combinations of values of all unions together."""
        sizes = [math.prod(map(len, block)) for block in self.values]
        return sum(math.prod(sizes[b] for b in union) for union in self.unions)

    def fits(self, memory: float, n_threads: int) -> bool:
        """True if counts have room.

        Parameters
        ----------
        memory : float
            Bytes that a search may take.
        n_threads : int
            Parts whose counts wait to be added, but for two.

        Returns
        -------
        bool
        """
        return 16.0 * self.n_cells() * (n_threads + 3) <= MEMORY_SHARE * memory

    def features_of(self, union: tuple[int, ...]) -> list[int]:
        """Features of a union, in the order of its cells."""
        return [j for b in union for j in self.blocks[b]]


class UnionCells:
    """Rows of each class in each cell of each union.

    Parameters
    ----------
    plan : UnionPlan
    rows : PartitionedRows
        Without weights; they are read once.

    Raises
    ------
    StoppedError
        The pass was to end.
    """

    def __init__(self, plan: UnionPlan, rows: PartitionedRows) -> None:
        self.plan = plan
        self._counts = rows.union_counts(plan.blocks, plan.values, plan.unions)
        self._block = {j: b for b, block in enumerate(plan.blocks) for j in block}
        self._values = {
            j: values
            for block, of_block in zip(plan.blocks, plan.values, strict=True)
            for j, values in zip(block, of_block, strict=True)
        }

    def merged(self, features: Sequence[int]) -> MergedPart | None:
        """Rows of some features, equal ones merged.

        Parameters
        ----------
        features : sequence of int
            In increasing order.

        Returns
        -------
        MergedPart or None
            None where no union has them all.
        """
        blocks = {self._block.get(j) for j in features}
        found = next((u for u, union in enumerate(self.plan.unions) if blocks <= set(union)), None)
        if found is None:
            return None
        order = self.plan.features_of(self.plan.unions[found])
        counts = self._counts[found].reshape(2, *(len(self._values[j]) for j in order))
        kept = [j for j in order if j in features]
        counts = counts.sum(axis=tuple(1 + a for a, j in enumerate(order) if j not in features))
        # Axes in the order of the features.
        counts = counts.transpose(0, *(1 + kept.index(j) for j in features))
        counts = counts.reshape(2, -1)
        used = np.flatnonzero(counts.any(axis=0))
        columns = np.empty((len(used), len(features)), np.int8, order="F")
        rest = used
        for a in reversed(range(len(features))):
            values = self._values[features[a]]
            rest, place = np.divmod(rest, len(values))
            columns[:, a] = values[place]
        negative, positive = counts[:, used].astype(np.float64)
        return MergedPart(
            columns,
            np.zeros((len(columns), 0)),
            positive,
            negative,
        )
