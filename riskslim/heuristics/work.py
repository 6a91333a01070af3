"""Work of a search in predicted seconds: what budgets are counted in.

A budget on the clock would end a search earlier on a busy machine, and its result would depend on
the load. Work is predicted from sizes alone, so that one problem with one budget has one result.
A deadline on the clock is for those who have a time limit, at which results depend on it anyway.
"""

from __future__ import annotations

import dataclasses
import math
import time

__all__ = ["Work"]

# Nanoseconds, fitted to CPU times of searches (n = 10^3 to 10^6, 30 to 300 items, k = 5 and 8) on
# one core of a busy machine: the predicted total was within 15% of the measured one.
# Counts for a step: in all; and in each group, of each word of a plane, of each word.
COUNTS_NS = (6e4, 0.15, 4.4)
# The same by ranks: of each row and chain, of each plane and group.
SWEEP_NS = (0.3, 6.0)
# A step: of each plane and group.
STEP_NS = (67.0,)
# Cells of a support: in all, of each word and cell, of each segment and cell.
CELLS_NS = (3.8e4, 0.19, 140.0)
# Points polished on cells: in all, and of each cell and the coefficients, or pairs of them.
POLISH_NS = (1.1e4, 14.0)
# A column read by a pass over the rows: in all, and of each row.
COLUMN_NS = (2e3, 2.0)
# A loss along one column: in all, and of each row, of real scores and of those in tables.
LOSS_NS = (3e3, 1.5)
TABLE_LOSS_NS = (3e3, 0.5)
# A box that constraints are propagated over: in all, and of each row and feature.
PROPAGATION_NS = (1.2e5, 25.0)


@dataclasses.dataclass
class Work:
    """Work that was done, and how much of it is allowed.

    Attributes
    ----------
    seconds : float
        Predicted time of all that was done.
    limit : float
        Seconds at which the budget is spent.
    deadline : float
        Time of :func:`time.perf_counter` at which it is spent, too.

    Examples
    --------
    >>> from riskslim.heuristics.work import Work
    >>> work = Work()
    >>> work.allow(1e-4)
    >>> work.is_spent
    False
    >>> work.counts(100, 0, 0, n_words=500, n_groups=20)
    >>> work.is_spent
    True
    """

    seconds: float = 0.0
    limit: float = math.inf
    deadline: float = math.inf

    def allow(self, budget: float, deadline: float = math.inf) -> None:
        """Allow for some more work.

        Parameters
        ----------
        budget : float
            Seconds, infinite for no limit.
        deadline : float, default infinity
            On the clock.
        """
        self.limit, self.deadline = self.seconds + budget, deadline

    @property
    def is_spent(self) -> bool:
        """True if all that is allowed was done."""
        return self.seconds >= self.limit or (
            math.isfinite(self.deadline) and time.perf_counter() >= self.deadline
        )

    def counts(
        self, by_bits: int, by_ranks: int, n_chains: int, *, n_words: int, n_groups: int
    ) -> None:
        """Count one call of ``ThresholdCounter.count`` of planes in all groups.

        Parameters
        ----------
        by_bits, by_ranks : int
            Planes that were counted either way.
        n_chains : int
            Chains that the ranks are of.
        n_words, n_groups : int
        """
        fixed, word, mask = COUNTS_NS
        row, rank = SWEEP_NS
        self.seconds += 1e-9 * (fixed + n_groups * n_words * (word * by_bits + mask))
        self.seconds += 1e-9 * (row * n_chains * 64 * n_words + rank * by_ranks * n_groups)

    def steps(self, n_planes: int, n_groups: int) -> None:
        """Count the best steps of items.

        Parameters
        ----------
        n_planes, n_groups : int
        """
        self.seconds += 1e-9 * STEP_NS[0] * n_planes * n_groups

    def cells(self, n_words: int, n_planes: int, n_segments: int) -> None:
        """Count the cells of a support.

        Parameters
        ----------
        n_words, n_planes, n_segments : int
        """
        fixed, word, segment = CELLS_NS
        self.seconds += 1e-9 * (fixed + 2.0**n_planes * (word * n_words + segment * n_segments))

    def polish(self, n_cells: int, n_coefficients: int, *, pairs: bool) -> None:
        """Count a support whose points were polished on its cells.

        Parameters
        ----------
        n_cells, n_coefficients : int
        pairs : bool
            Moves of two coefficients were tried, too.
        """
        fixed, cell = POLISH_NS
        moves = n_coefficients**2 if pairs else n_coefficients
        self.seconds += 1e-9 * (fixed + cell * n_cells * moves)

    def columns(self, n_rows: int, n_columns: float) -> None:
        """Count columns that were read.

        Parameters
        ----------
        n_rows : int
        n_columns : float
            All passes together.
        """
        fixed, row = COLUMN_NS
        self.seconds += 1e-9 * n_columns * (fixed + row * n_rows)

    def losses(self, n_rows: int, n_losses: int, *, integer: bool) -> None:
        """Count losses along single columns.

        Parameters
        ----------
        n_rows, n_losses : int
        integer : bool
            They come from tables.
        """
        fixed, row = TABLE_LOSS_NS if integer else LOSS_NS
        self.seconds += 1e-9 * n_losses * (fixed + row * n_rows)

    def propagations(self, n_rows: int, n_features: int, n_boxes: int = 1) -> None:
        """Count boxes that constraints were propagated over.

        Parameters
        ----------
        n_rows, n_features : int
            Of the constraints.
        n_boxes : int, default 1
        """
        fixed, entry = PROPAGATION_NS
        self.seconds += 1e-9 * n_boxes * (fixed + entry * n_rows * n_features)
