"""Items of tables that come in batches: chosen from what one pass found out, written per batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim.data.faults import Column, ColumnError
from riskslim.data.summaries import TableSummary
from riskslim.data.tables import series_values
from riskslim.items.columns import ColumnEncoder, ItemRules, fit_column, tell_rows_apart

if TYPE_CHECKING:
    import pyarrow

__all__ = ["fit_summarised", "write_items"]


def fit_summarised(summary: TableSummary, j: int, rules: ItemRules) -> ColumnEncoder:
    """Choose the items of a column of which a summary is known.

    Parameters
    ----------
    summary : TableSummary
    j : int
        The column.
    rules : ItemRules

    Returns
    -------
    ColumnEncoder
        The one that :func:`~riskslim.items.columns.fit_column` makes of all rows, where all
        distinct values are known. Else its cut-offs are those of a sample of the rows, and have no
        intervals: which values lie next to them is not known.

    Raises
    ------
    ColumnError
        What speaks against making items of the column.
    """
    column = summary.columns[j]
    try:
        values, weights, counts, events = summary.short_column(j)
        encoder = fit_column(column.name, values, weights, rules, counts, events)
    except ColumnError as fault:
        raise summary.placed(column.located(fault)) from None
    n_known = summary.n_counted - column.n_missing_counted
    variable = encoder.variable
    if variable is not None:
        variable = replace(
            variable, n_missing=column.n_missing_counted, n_samples=summary.n_counted
        )
    if counts is None:
        return replace(
            encoder,
            variable=variable,
            items=tuple(replace(item, interval=None) for item in encoder.items),
        )
    known = values[: len(values) - bool(column.n_missing_counted)]
    apart = encoder.is_identifier and tell_rows_apart(known, n_known)
    return replace(encoder, variable=variable, is_identifier=apart)


def write_items(
    encoders: Sequence[ColumnEncoder],
    batch: pyarrow.RecordBatch,
    handle_unknown: str,
    block: NDArray[np.int8],
) -> tuple[dict[int, Column], list[tuple[int, ColumnError]]]:
    """Write the items of a batch of rows.

    Parameters
    ----------
    encoders : sequence of ColumnEncoder
        Of the columns of the batch.
    batch : pyarrow.RecordBatch
    handle_unknown : {"error", "ignore"}
    block : int8 array of shape (n, number of items), Fortran order
        Filled, but for columns that stay as they are.

    Returns
    -------
    given : dict from int to ndarray of shape (n,)
        Columns that stay as they are, by item.
    faults : list of (int, ColumnError)
        Columns that cannot be encoded.
    """
    given: dict[int, Column] = {}
    faults: list[tuple[int, ColumnError]] = []
    k = 0
    for j, encoder in enumerate(encoders):
        items = encoder.items
        own = block[:, k : k + len(items)]
        try:
            if encoder.reading == "levels":
                _write_levels(encoder, batch.column(j), handle_unknown, own)
            else:
                column = encoder.read(series_values(_chunked(batch, j)), handle_unknown)
                for position, item in enumerate(items):
                    if item.kind == "numeric":
                        given[k + position] = column.values
                    else:
                        encoder.write(item, column, own[:, position])
        except ColumnError as fault:
            faults.append((j, fault))
        k += len(items)
    return given, faults


def _chunked(batch: pyarrow.RecordBatch, j: int) -> pyarrow.ChunkedArray:
    import pyarrow

    return pyarrow.chunked_array([batch.column(j)])


def _write_levels(
    encoder: ColumnEncoder,
    values: pyarrow.Array,
    handle_unknown: str,
    block: NDArray[np.int8],
) -> None:
    """Write the items of levels: each distinct one is looked at once."""
    import pyarrow

    if pyarrow.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    coded = values.dictionary_encode(null_encoding="encode")
    codes = np.asarray(coded.indices)
    distinct = series_values(pyarrow.chunked_array([coded.dictionary]))
    try:
        column = encoder.read(distinct, handle_unknown)
    except ColumnError as fault:
        if fault.mask is None:
            raise
        raise ColumnError.at(fault.kind, fault.mask[codes], fault.example) from None
    short = np.empty(len(distinct), np.int8)
    for position, item in enumerate(encoder.items):
        encoder.write(item, column, short)
        np.take(short, codes, out=block[:, position], mode="clip")
