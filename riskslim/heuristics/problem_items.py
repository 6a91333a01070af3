"""Items of a problem as bits, wherever its rows are."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from riskslim.data.packed import PackedItems
from riskslim.rows.base import StoppedError
from riskslim.rows.bit_planes import pack_items

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["packed_items"]


def packed_items(problem: RiskScoreProblem, should_stop: Callable[[], bool]) -> PackedItems | None:
    """Pack the columns of few values that a problem has.

    Parameters
    ----------
    problem : RiskScoreProblem
    should_stop : callable
        Asked between columns, or blocks; True ends the work.

    Returns
    -------
    PackedItems or None
        None if there is no such column, or if the work was to end.
    """
    loss, rows, packed = problem.loss, problem.loss.store, problem.loss.packed
    if rows.has_weights and loss.data.rows.is_block:
        # Sums of weights of equal rows are many; the weights themselves may be few.
        rows = loss.data.rows
    if packed is None:
        with contextlib.suppress(StoppedError):
            packed = pack_items(rows, problem.usable, loss.n_threads, should_stop)
    if not rows.is_block:
        loss.packed = packed
    elif packed is not None and loss.bits is not None:
        loss.bits.share(packed)
    return packed
