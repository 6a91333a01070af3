"""Partitions of a table as batches of rows, read and packed one by one, wherever they are.

A partition is a piece of a data frame or array, the labels of its rows, and their weights. What a
process does with one, wherever that is, stands here: functions of modules, which others call.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from riskslim.data.batches import (
    BATCH_ROWS,
    BatchFiles,
    FileBatch,
    check_names,
    common_schema,
    in_schema,
)
from riskslim.data.layout import WordLayout
from riskslim.data.merging import (
    MergedKeys,
    RowMerger,
    merge_keys,
    never_called,
    room_for,
    split_counts,
)
from riskslim.data.roles import Columns
from riskslim.data.store import KernelRows, Weighting
from riskslim.data.summaries import ColumnSummary, RowSample, TableSummary
from riskslim.rows.functions import PartSummary, summarised
from riskslim.rows.reading import Features, Reading, Totals, part_of

if TYPE_CHECKING:
    import pyarrow

    from riskslim.items.encoder import ItemEncoder

__all__ = [
    "Packed",
    "Part",
    "PartitionSummary",
    "Partitions",
    "Recipe",
    "as_batch",
    "draw",
    "labels_found",
    "merge_packed",
    "pack",
    "place_of",
    "schema_of_all",
    "size_of",
    "summarise",
    "summary_of",
    "unpack",
]

# Rows, labels, and weights or None.
Part: TypeAlias = "tuple[Any, Any, Any]"

# What errors call the whole of which a partition is one.
_WHOLE = Path("the collection")


def place_of(number: int) -> Path:
    """Name a partition, as files have names.

    Parameters
    ----------
    number : int

    Returns
    -------
    Path
    """
    return Path(f"partition {number}")


class Partitions(BatchFiles):
    """Partitions, read as files are.

    Parameters
    ----------
    names : sequence of str
        Of the columns, the outcome and the weights included.
    numbers : sequence of int
        Of the partitions.
    loads : sequence of callable
        Return them as record batches.
    schema : pyarrow.Schema, optional
        Types of the columns. Default: those of the first partition.
    """

    def __init__(
        self,
        names: Sequence[str],
        numbers: Sequence[int],
        loads: Sequence[Callable[[], pyarrow.RecordBatch]],
        schema: pyarrow.Schema | None = None,
    ) -> None:
        self.paths = tuple(place_of(number) for number in numbers)
        self.sizes = (0,) * len(self.paths)
        self._names, self._loads, self._schema = list(names), tuple(loads), schema

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self._names)

    @property
    def n_rows(self) -> None:
        """Collections need not know how many rows they have."""
        return

    def kinds(self, columns: Sequence[str]) -> list[pyarrow.DataType]:
        """Types of columns; see :meth:`BatchFiles.kinds`."""
        if self._schema is None:
            self._schema = self._loads[0]().schema
        return [self._schema.field(name).type for name in columns]

    def batches(self, columns: Sequence[str]) -> Iterator[FileBatch]:
        """Read columns; see :meth:`BatchFiles.batches`."""
        import pyarrow

        schema = pyarrow.schema(list(zip(columns, self.kinds(columns), strict=True)))
        for path, load in zip(self.paths, self._loads, strict=True):
            rows = in_schema(load(), schema, path)
            for start in range(0, rows.num_rows, BATCH_ROWS):
                yield FileBatch(path, start, rows.slice(start, BATCH_ROWS), 0)


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Instructions for a process to read any of the partitions.

    Attributes
    ----------
    names : tuple of str
        Of the columns of X.
    columns : Columns
    given_names : tuple or None
        How a data frame itself calls its columns; None: X is an array.
    special : dict from str to tuple of float
        Numbers that are no measurements, by column.
    event : object
        The label of the rows with the outcome, where it chooses cut-offs.
    """

    names: tuple[str, ...]
    columns: Columns
    given_names: tuple[Any, ...] | None
    special: dict[str, tuple[float, ...]] = dataclasses.field(default_factory=dict)
    event: Any = None

    @property
    def all_names(self) -> list[str]:
        """Names of all columns of a batch."""
        beside = [self.columns.outcome]
        if self.columns.weights is not None:
            beside.append(self.columns.weights)
        return [*self.names, *beside]

    def reading(self, number: int, batch: pyarrow.RecordBatch) -> Reading:
        """The reading of one partition alone.

        Parameters
        ----------
        number : int
        batch : pyarrow.RecordBatch

        Returns
        -------
        Reading
        """
        files = Partitions(self.all_names, [number], [lambda: batch])
        reading = Reading(files, self.columns, None, 1, None, 0)
        reading.special, reading.event = self.special, self.event
        return reading


def as_batch(recipe: Recipe, number: int, part: Part) -> pyarrow.RecordBatch:
    """Return a partition as a record batch.

    Parameters
    ----------
    recipe : Recipe
    number : int
        Of the partition, for errors.
    part : tuple
        A pandas.DataFrame or ndarray of shape (n, d); labels and, unless they are None, weights, as
        pandas.Series or ndarray of shape (n,).

    Returns
    -------
    pyarrow.RecordBatch

    Raises
    ------
    ValueError
        Other columns than the collection has; rows, labels and weights that are not as many; values
        of several types in a column.
    """
    import pyarrow

    X, y, weights = part
    if recipe.given_names is None:
        columns = [X[:, j] for j in range(X.shape[1])]
    else:
        path = place_of(number)
        check_names(_WHOLE, recipe.names, path, [str(name) for name in X.columns])
        columns = [X[name] for name in recipe.given_names]
    for values, what in ((y, "labels"), (weights, "weights")):
        if values is not None and len(values) != len(X):
            raise ValueError(
                f"Partition {number} has {len(X)} rows, but {len(values)} {what}: X, y and the "
                "weights must be cut into the same partitions, as columns of one data frame are."
            )
    columns += [y] if weights is None else [y, weights]
    arrays = []
    for name, values in zip(recipe.all_names, columns, strict=True):
        try:
            array = pyarrow.array(values, from_pandas=True)
        except pyarrow.ArrowException as error:
            raise ValueError(
                f"Column {name!r} of partition {number} has values of several types, or of one "
                f"that no column can have: {error}"
            ) from error
        if isinstance(array, pyarrow.ChunkedArray):
            array = array.combine_chunks()
        arrays.append(array)
    return pyarrow.RecordBatch.from_arrays(arrays, recipe.all_names)


@dataclasses.dataclass(frozen=True, eq=False)
class PartitionSummary:
    """Facts from one pass over a partition.

    Attributes
    ----------
    number, n_rows : int
    schema : pyarrow.Schema
    table : TableSummary
    outcome : ColumnSummary
    """

    number: int
    n_rows: int
    schema: pyarrow.Schema
    table: TableSummary
    outcome: ColumnSummary


def labels_found(recipe: Recipe, number: int, part: Part) -> list[Any]:
    """Return the labels of a partition.

    Parameters
    ----------
    recipe : Recipe
    number : int
    part : tuple
        The partition.

    Returns
    -------
    list
    """
    return recipe.reading(number, as_batch(recipe, number, part)).labels_found()


def summarise(recipe: Recipe, number: int, most: int, part: Part) -> PartitionSummary:
    """Find out what the columns of a partition have.

    Parameters
    ----------
    recipe : Recipe
    number : int
    most : int
        Distinct values of a column that are counted.
    part : tuple
        The partition.

    Returns
    -------
    PartitionSummary
    """
    batch = as_batch(recipe, number, part)
    table, outcome = recipe.reading(number, batch).summaries(most, sample_rows=0)
    table.place = None  # leads to the rows
    return PartitionSummary(number, batch.num_rows, batch.schema, table, outcome)


def draw(
    recipe: Recipe,
    number: int,
    columns: Sequence[int],
    most: int,
    seed: int,
    first_row: int,
    part: Part,
) -> RowSample:
    """Draw from the rows of a partition.

    Parameters
    ----------
    recipe : Recipe
    number : int
    columns : sequence of int
        Of which values are needed.
    most, seed : int
        Of the sample of all rows.
    first_row : int
        Number of the first row among those of all partitions.
    part : tuple
        The partition.

    Returns
    -------
    RowSample
    """
    batch = as_batch(recipe, number, part)
    sample = RowSample(columns, most, seed)
    checked = recipe.reading(number, batch)
    for piece in checked.files.batches(checked.all_names):
        weights = checked.weights_of(piece)
        events = checked.events_of(piece, weights)
        sample.add(piece.rows, weights, first_row + piece.first_row, events)
    return sample


@dataclasses.dataclass(frozen=True, eq=False)
class Packed:
    """Distinct rows of a partition, or of several.

    Attributes
    ----------
    merged : MergedKeys
    totals : Totals
        Of all rows that they stand for.
    """

    merged: MergedKeys
    totals: Totals


def pack(
    recipe: Recipe,
    features: Features,
    classes: tuple[Any, Any],
    items: ItemEncoder | None,
    schema: pyarrow.Schema,
    number: int,
    n_rows: int,
    part: Part,
) -> Packed:
    """Make items of the rows of a partition, and merge equal ones.

    Parameters
    ----------
    recipe : Recipe
    features : Features
    classes : tuple
    items : ItemEncoder, optional
        Fitted to all rows.
    schema : pyarrow.Schema
        Types of the columns in all partitions.
    number, n_rows : int
        Of the partition, and its rows as they were counted before.
    part : tuple
        The partition.

    Returns
    -------
    Packed

    Raises
    ------
    ValueError
        The partition has changed since.
    """
    batch = as_batch(recipe, number, part)
    files = Partitions(recipe.all_names, [number], [lambda: batch], schema)
    layout, weighted = features.layout, recipe.columns.weights is not None
    room = room_for(layout, weighted, n_rows)
    reading = Reading(files, recipe.columns, items, room, None, 0)
    reading.n_rows, reading.classes = n_rows, classes
    merger = RowMerger(layout, weighted, room, never_called)
    totals = reading.merge_all(features, merger, lambda: merger.n_rows)
    return Packed(merger.finish().copied(), totals)


def merge_packed(layout: WordLayout, weighted: bool, *packed: Packed) -> Packed:
    """Merge the rows of several partitions.

    Parameters
    ----------
    layout : WordLayout
    weighted : bool
        Whether rows have weights.
    *packed : Packed
        At least one.

    Returns
    -------
    Packed
    """
    if len(packed) == 1:
        return packed[0]
    merged = merge_keys([one.merged for one in packed], layout, weighted)
    return Packed(merged, Totals.of([one.totals for one in packed]))


def size_of(packed: Packed) -> tuple[int, Totals]:
    """Say how many rows there are, and what they stand for.

    Parameters
    ----------
    packed : Packed

    Returns
    -------
    n_rows : int
    totals : Totals
    """
    return len(packed.merged.keys), packed.totals


def unpack(features: Features, weighting: Weighting, packed: Packed) -> KernelRows:
    """Return rows as kernels read them.

    Parameters
    ----------
    features : Features
    weighting : {"none", "numbers", "weights"}
        How rows count.
    packed : Packed

    Returns
    -------
    KernelRows
    """
    merged = packed.merged
    if weighting == "numbers":
        merged = split_counts(merged)
    part = part_of(features, features.layout, merged, weighting != "none")
    if weighting == "numbers":
        return dataclasses.replace(part, numbers=merged.counts.astype(np.uint16))
    return part


def summary_of(part: KernelRows, totals: Totals) -> PartSummary:
    """Find out what is to be known of rows that have been packed.

    Parameters
    ----------
    part : KernelRows
    totals : Totals
        Of the rows that they stand for.

    Returns
    -------
    PartSummary
    """
    if len(part.weights) and not len(part.numbers):
        return summarised(part, totals.n_rows, totals.n_counted)
    return summarised(part)


def schema_of_all(found: Sequence[PartitionSummary], names: Sequence[str]) -> pyarrow.Schema:
    """Types of the columns in all partitions.

    Parameters
    ----------
    found : sequence of PartitionSummary
        Of those that have rows.
    names : sequence of str

    Returns
    -------
    pyarrow.Schema

    Raises
    ------
    ValueError
        They differ by more than the size of numbers.
    """
    return common_schema([(place_of(one.number), one.schema) for one in found], list(names))
