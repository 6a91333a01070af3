"""Items of a problem as bits, wherever its rows are."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from riskslim.data.packed import PackedItems, pack
from riskslim.rows.base import StoppedError
from riskslim.rows.planes import pack_items

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["packed_items"]


def packed_items(problem: RiskScoreProblem, should_stop: Callable[[], bool]) -> PackedItems | None:
    """Pack the columns of few values that a problem has, of rows in memory or in parts.

    Parameters
    ----------
    problem : RiskScoreProblem
    should_stop : callable
        Asked between columns, or parts; True ends the work.

    Returns
    -------
    PackedItems or None
        None if there is no such column, or if the work was to end.
    """
    loss = problem.loss
    if not loss.store.is_block:
        if loss.packed is None:
            with contextlib.suppress(StoppedError):
                loss.packed = pack_items(loss.blocks(should_stop), problem.usable)
        return loss.packed
    in_memory = loss.rows
    if loss.data.rows.is_block and in_memory.has_weights:
        # Sums of weights of equal rows are many; the weights themselves may be few.
        in_memory = loss.data.block
    packed = pack(in_memory, problem.usable, should_stop, loss.n_threads)
    if packed is not None and loss.bits is not None and in_memory is loss.rows:
        loss.bits.share(packed)
    return packed
