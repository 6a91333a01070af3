"""Points that a search of supports may use, and the losses of their scores."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from riskslim.data.packed import PackedItems
from riskslim.loss.form import MAX_TABLE_ENTRIES, tables_by_score

__all__ = ["FINE", "FINE_STEPS", "STEPS", "Grid", "fine_bounds"]

# Points are 1 / FINE units of log-odds where there are several scales, of which an item has at most
# WIDEST.
FINE = 32
WIDEST = 12
# Steps of the points, largest first, where their range is at least four times as large; fine points
# are polished to an eighth of a unit of log-odds, and rounded afterwards.
STEPS = (64, 16, 4, 1)
FINE_STEPS = (64, 16, 4)


@dataclasses.dataclass(frozen=True)
class Grid:
    """Points that a search may use, and what scores of them cost."""

    lower: NDArray[np.int64]  # of the intercept and of each item
    upper: NDArray[np.int64]
    low: int  # score of the tables' first entry
    losses: NDArray[np.float64]
    slopes: NDArray[np.float64]
    scale: float  # points of one unit of log-odds
    steps: NDArray[np.int64]

    @classmethod
    def of(
        cls, lower: NDArray[np.int64], upper: NDArray[np.int64], max_size: int,
        packed: PackedItems, scale: float, steps: tuple[int, ...],
    ) -> Grid | None:  # fmt: skip
        """The grid of points between bounds; None where the tables would be too large."""
        reach = np.zeros((2, len(packed)), np.int64)
        for i in range(len(packed)):
            values = [packed.base[i], *packed.values[packed.first[i] : packed.first[i + 1]]]
            ends = [x * end for x in values for end in (lower[i + 1], upper[i + 1])]
            reach[:, i] = min(0, *ends), max(0, *ends)
        low = int(lower[0] + np.sort(reach[0])[:max_size].sum())
        high = int(upper[0] + np.sort(reach[1])[::-1][:max_size].sum())
        if high - low >= MAX_TABLE_ENTRIES:
            return None
        losses, slopes = tables_by_score(low, high, scale)
        widest = int((upper - lower).max())
        chosen = [step for step in steps if step == steps[-1] or 4 * step <= widest]
        return cls(lower, upper, low, losses, slopes, scale, np.array(chosen, np.int64))


def fine_bounds(
    lower: NDArray[np.int64], upper: NDArray[np.int64], low: float, high: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bounds of points in 1 / FINE units of log-odds that any scale can lead to."""
    least = np.minimum(lower / low, lower / high)
    most = np.maximum(upper / low, upper / high)
    reach = np.full(len(lower), float(WIDEST))
    reach[0] = 4 * WIDEST
    least = np.clip(np.floor(least * FINE), -reach * FINE, reach * FINE)
    most = np.clip(np.ceil(most * FINE), -reach * FINE, reach * FINE)
    return least.astype(np.int64), most.astype(np.int64)
