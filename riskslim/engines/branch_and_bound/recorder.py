"""The trace of a search: which of its states are worth a record."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable

from riskslim.solution import Trace, TraceRecord

__all__ = ["Recorder"]

logger = logging.getLogger("riskslim.branch_and_bound")

# Change of the gap that is worth a line of the log and a record of the trace.
RECORDED_CHANGE = 1e-3
# The same of the share of supports that tables have looked at.
RECORDED_SHARE = 0.05


class Recorder:
    """Records of a search.

    Parameters
    ----------
    progress : callable, optional
        Called with every new record.

    Attributes
    ----------
    trace : Trace
    """

    def __init__(self, progress: Callable[[TraceRecord], None] | None = None) -> None:
        self.progress = progress
        self.trace = Trace()
        self._gap, self._updates, self._share = math.inf, -1, 0.0

    def is_due(self, gap: float, updates: int, share: float) -> bool:
        """True if there is a new score, or a gap or a share of supports that has changed.

        Parameters
        ----------
        gap : float
        updates : int
            Times that the best score changed.
        share : float

        Returns
        -------
        bool
        """
        is_more = abs(share - self._share) >= RECORDED_SHARE
        return updates != self._updates or is_more or self._gap - gap >= RECORDED_CHANGE

    def add(self, record: TraceRecord, n_open: int) -> None:
        """Add a record to trace and log, and tell of it.

        Parameters
        ----------
        record : TraceRecord
        n_open : int
            Open nodes.
        """
        self.trace.append(record)
        self._gap, self._updates = record.gap, record.incumbent_updates
        self._share = record.table_share
        logger.info(
            "%8.1fs  objective %.8g  bound %.8g  gap %7.2f%%  nodes %d  open %d%s",
            record.time, record.upper_bound, record.lower_bound,
            100 * record.gap, record.nodes, n_open, record.supports_done,
        )  # fmt: skip
        if self.progress is not None:
            self.progress(record)
