"""Parts of rows that are all in memory."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from riskslim.data.store import KernelRows, RowStore
from riskslim.rows.base import PartitionedRows, RowsSchema, run_in_order
from riskslim.rows.functions import summarised

__all__ = ["MemoryRows", "parted", "schema_of"]

_Result = TypeVar("_Result")


def schema_of(part: KernelRows) -> RowsSchema:
    """Name the columns of a part.

    Parameters
    ----------
    part : KernelRows

    Returns
    -------
    RowsSchema
    """
    return RowsSchema(
        tuple(part.integer_index.tolist()), tuple(part.real_index.tolist()), part.weighting
    )


class MemoryRows(PartitionedRows):
    """Rows in parts in memory.

    Parameters
    ----------
    parts : sequence of KernelRows
        With the same columns, and rows that count alike.

    Raises
    ------
    ValueError
        They have not.
    """

    def __init__(self, parts: Sequence[KernelRows]) -> None:
        self.parts = tuple(part for part in parts if part.n_rows)
        schemas = {schema_of(part) for part in self.parts}
        if len(schemas) != 1:
            raise ValueError(
                "parts must have rows, and the same columns and kind of weights; got "
                f"{len(schemas)} kinds of parts"
            )
        super().__init__(schemas.pop(), [summarised(part) for part in self.parts])

    def map(
        self,
        function: Callable[..., _Result],
        *arguments: Any,
        each: Sequence[tuple[Any, ...] | None] | None = None,
    ) -> Iterator[_Result]:
        """Call a function with each part; see :meth:`PartitionedRows.map`."""
        own = [()] * self.n_parts if each is None else each
        calls = (
            functools.partial(function, part, *before, *arguments)
            for part, before in zip(self.parts, own, strict=True)
            if before is not None
        )
        return run_in_order(calls, self.n_threads, self.check_stop)


def parted(rows: RowStore) -> PartitionedRows:
    """Rows of any store as parts, of which a block in memory is one.

    Parameters
    ----------
    rows : RowStore

    Returns
    -------
    PartitionedRows
        What it knows of a block takes a pass.
    """
    return rows if isinstance(rows, PartitionedRows) else MemoryRows([rows.block_for("a part")])
