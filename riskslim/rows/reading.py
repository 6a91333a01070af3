"""Training data from files that need not fit in memory.

Two passes over the files. The first one finds out what columns have, and chooses the items; the
second one makes items of each batch of rows, and merges equal rows as they come. What does not
merge and has no room goes to files of packed rows in a scratch folder.
"""

from __future__ import annotations

import copy
import dataclasses
import errno
import logging
import math
import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from riskslim._threads import Pool
from riskslim.config import physical_memory
from riskslim.data.batches import (
    BatchFiles,
    FileBatch,
    RetypedError,
)
from riskslim.data.faults import ColumnError, raise_faults
from riskslim.data.files import import_pyarrow
from riskslim.data.labels import encode_labels
from riskslim.data.layout import WordLayout
from riskslim.data.merging import MergedKeys, RowMerger, merged_data, room_for, split_counts
from riskslim.data.packing import ADVICE
from riskslim.data.roles import Columns
from riskslim.data.row_tiles import as_row_tiles
from riskslim.data.store import KernelRows
from riskslim.data.summaries import (
    MAX_DISTINCT,
    SAMPLE_ROWS,
    ColumnSummary,
    TableSummary,
    numbers_of,
)
from riskslim.data.training_data import TrainingData, stated_items
from riskslim.data.weights import check_class_totals
from riskslim.rows.base import PartitionedRows, RowsSchema
from riskslim.rows.block_files import BlockFileError
from riskslim.rows.disk import BLOCK_ROWS, BlockWriter, DiskRows, ScratchFolder

if TYPE_CHECKING:
    from riskslim.items.encoder import ItemEncoder
    from riskslim.items.item import Item

__all__ = [
    "ReadProgress",
    "default_memory_limit",
    "label_of_events",
    "makes_items",
]

logger = logging.getLogger("riskslim.rows.reading")

_Result = TypeVar("_Result")

# Share of the memory limit that the table of merged rows may take, and copies of the rows in
# memory that there has to be room for: the rows themselves, and what a search makes of them
# (3.6 GB in all for 11 million rows of 30 items, of 49 bytes each).
TABLE_SHARE = 4
_COPIES = 7
# Rows that are taken from words to columns at a time.
_UNPACKED_ROWS = 2**18

# Without a limit: this share of the machine's memory, or so much where it cannot be found out.
_MEMORY_SHARE, _USUAL_MEMORY = 2, 4 * 2**30

_SECONDS_BETWEEN_LINES = 10.0

# Errors of a disk that is full, or of what a user may have of it.
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))

# Labels that are counted, so that an error can name some where there are not two.
MAX_LABELS = 2**10


def label_of_events(found: Collection[Any]) -> Any:
    """Return the label of the rows with the outcome, where it chooses cut-offs.

    Parameters
    ----------
    found : collection
        Labels of all rows.

    Returns
    -------
    object
        The last one in sorted order, whatever is the positive label; None if there are not two.
    """
    labels = np.array(sorted(found)) if len(found) == 2 else None
    return None if labels is None else encode_labels(labels, 2, None)[1][1]


def makes_items(items: Any) -> bool:
    """True if items are an encoder, and not what columns are.

    Parameters
    ----------
    items : object

    Returns
    -------
    bool
    """
    return hasattr(items, "fit_summary")


@dataclasses.dataclass(frozen=True)
class ReadProgress:
    """Progress of the reading of files.

    Attributes
    ----------
    step : int
        1: finding out what columns have; 2: encoding and merging.
    n_rows : int
        Rows that were read in this step.
    n_distinct : int
        Distinct rows among them so far; 0 in the first step.
    n_bytes, total_bytes : int
        Bytes of the files that were read in this step, and of all files; 0 where rows do not come
        from files.
    """

    step: int
    n_rows: int
    n_distinct: int
    n_bytes: int
    total_bytes: int

    def summary(self) -> str:
        """Say it in one line.

        Returns
        -------
        str

        Examples
        --------
        >>> from riskslim.rows.reading import ReadProgress
        >>> ReadProgress(2, 500_000, 20_000, 5_000_000, 20_000_000).summary()
        'reading, step 2 of 2: 500,000 rows, 20,000 distinct, 5.0 MB of 20.0 MB'
        """
        distinct = f", {self.n_distinct:,} distinct" if self.step == 2 else ""
        text = f"reading, step {self.step} of 2: {self.n_rows:,} rows{distinct}"
        if not self.total_bytes:
            return text
        return f"{text}, {_megabytes(self.n_bytes)} of {_megabytes(self.total_bytes)}"


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"


def default_memory_limit() -> int:
    """Half of the machine's memory in bytes; 4 GiB where it cannot be found out.

    Returns
    -------
    int
    """
    total = physical_memory()
    return _USUAL_MEMORY if total is None else total // _MEMORY_SHARE


def checked_limit(memory_limit: int | None, scratch: str | os.PathLike[str] | None) -> int:
    """Return the memory limit in bytes, after checking that and what reading needs.

    Parameters
    ----------
    memory_limit : int, optional
        Default: :func:`default_memory_limit`.
    scratch : str or path-like, optional
        Folder for scratch files.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        A limit that is none, a folder that there is not.
    ImportError
        pyarrow is not installed.
    """
    limit = default_memory_limit() if memory_limit is None else memory_limit
    if not limit > 0:
        raise ValueError(f"memory_limit must be a positive number of bytes, got {limit!r}")
    if scratch is not None and not Path(scratch).is_dir():
        raise ValueError(f"there is no folder {scratch} for scratch files")
    import_pyarrow()
    return int(limit)


@dataclasses.dataclass(frozen=True)
class Features:
    """The features, and how they are stored."""

    names: tuple[str, ...]
    items: dict[str, Item]
    is_integer: NDArray[np.bool_]
    minimum: NDArray[np.float64]
    maximum: NDArray[np.float64]

    def with_range(self, totals: Totals) -> Features:
        """The same with the range of integer columns that was noted while they were read.

        Parameters
        ----------
        totals : Totals

        Returns
        -------
        Features
        """
        minimum, maximum = self.minimum.copy(), self.maximum.copy()
        minimum[self.is_integer], maximum[self.is_integer] = totals.low, totals.high
        return dataclasses.replace(self, minimum=minimum, maximum=maximum)

    @property
    def layout(self) -> WordLayout:
        is_binary = (self.minimum >= 0) & (self.maximum <= 1)
        return WordLayout.of(is_binary[self.is_integer], int(np.count_nonzero(~self.is_integer)))


@dataclasses.dataclass
class Totals:
    """Sums over all rows of the second pass."""

    n_rows: int = 0
    n_counted: int = 0
    n_positive: int = 0
    weights: list[tuple[float, float]] = dataclasses.field(default_factory=list)
    low: NDArray[np.int8] | None = None  # of integer columns, where some of the rows are read
    high: NDArray[np.int8] | None = None

    def take_range(self, integers: NDArray[np.int8]) -> None:
        """Note the range of integer columns of a batch.

        Parameters
        ----------
        integers : int8 array of shape (n, d_int)
        """
        low, high = integers.min(axis=0), integers.max(axis=0)
        self.low = low if self.low is None else np.minimum(self.low, low)
        self.high = high if self.high is None else np.maximum(self.high, high)

    @classmethod
    def of(cls, parts: Sequence[Totals]) -> Totals:
        """Add up the sums of several parts.

        Parameters
        ----------
        parts : sequence of Totals

        Returns
        -------
        Totals
        """
        return cls(
            sum(part.n_rows for part in parts),
            sum(part.n_counted for part in parts),
            sum(part.n_positive for part in parts),
            [pair for part in parts for pair in part.weights],
        )


class Reading:
    """Two passes over files."""

    def __init__(
        self,
        files: BatchFiles,
        columns: Columns,
        items: Any,
        memory_limit: int,
        progress: Callable[[ReadProgress], None] | None,
        seed: int,
    ) -> None:
        self.files, self.columns = files, columns
        self.items: ItemEncoder | None = items if makes_items(items) else None
        self.stated: Any = None if makes_items(items) else items
        self.memory_limit, self.progress, self.seed = memory_limit, progress, seed
        self.names = columns.chosen(files.names, files.paths[0])
        self.special = {} if self.items is None else self.items.prepared(self.names)
        beside = [columns.outcome] + ([] if columns.weights is None else [columns.weights])
        self.all_names = [*self.names, *beside]
        self.total_bytes = sum(files.sizes)
        # Which rows are read; None: all of them.
        self.rows: NDArray[np.bool_] | None = None
        # The label of the rows with the outcome, where it chooses cut-offs.
        self.event: Any = None
        self.n_rows = 0
        self.classes: tuple[Any, Any] = (None, None)
        # Files with rows, and the first row of each among all rows, for errors.
        self.started: list[os.PathLike[str]] = []
        self.starts: list[int] = []
        self._last_line = time.monotonic()

    # ---- the first pass ----------------------------------------------------------------------

    def first_pass(self, *, chosen: bool = False) -> TableSummary:
        """Find out what the columns have, and which the classes are.

        Parameters
        ----------
        chosen : bool, default False
            The items have been chosen: no values are counted for them.

        Returns
        -------
        TableSummary
        """
        while True:
            try:
                if self.items is not None and self.items.uses_outcome and not chosen:
                    self.event = label_of_events(self.labels_found())
                return self._first_pass(0 if chosen else None)
            except RetypedError as found:
                logger.info("%s: reading anew", found)

    def _first_pass(self, most: int | None) -> TableSummary:
        summary, outcome = self.summaries(most)
        if not summary.n_rows:
            raise ValueError(f"{self._listed()} has no rows.")
        self.take_summaries(summary, outcome)
        return summary

    def labels_found(self) -> list[Any]:
        """Labels of all rows, in a pass over them alone; more than two are not all listed.

        Returns
        -------
        list
        """
        reading = self.beside()
        (kind,) = self.files.kinds([self.columns.outcome])
        outcome = ColumnSummary(self.columns.outcome, kind, MAX_LABELS)
        for batch in reading.batches():
            outcome.add(batch.rows.column(0), None, outcome.n_rows)
            if not outcome.is_counted or outcome.n_missing:
                return []  # the first pass says what is wrong with it
        return list(outcome.values(counted=False)[0].tolist())

    def beside(self) -> Reading:
        """The reading of the outcome and the weights alone."""
        other = copy.copy(self)
        other.names, other.items, other.progress = [], None, None
        other.all_names = self.all_names[len(self.names) :]
        return other

    def on(self, rows: NDArray[np.bool_]) -> Reading:
        """The reading of some of the rows.

        Parameters
        ----------
        rows : bool array
            For each row of all files.

        Returns
        -------
        Reading
        """
        other = copy.copy(self)
        other.rows, other.progress = rows, None
        return other

    def summaries(
        self, most: int | None = None, sample_rows: int | None = None
    ) -> tuple[TableSummary, ColumnSummary]:
        """Find out what the columns and the outcome have; refuse what no rows could put right.

        Parameters
        ----------
        most : int, optional
            Distinct values of a column that are counted. Default: none, unless items are made.
        sample_rows : int, optional
            Rows that are drawn of columns with more. Default: those that reading draws.

        Returns
        -------
        summary : TableSummary
        outcome : ColumnSummary
        """
        *kinds, outcome_kind = self.files.kinds([*self.names, self.columns.outcome])
        if most is None:
            most = 0 if self.items is None else MAX_DISTINCT
        rows = SAMPLE_ROWS if sample_rows is None else sample_rows
        summary = TableSummary(
            self.names, kinds, most=most, sample_rows=rows, seed=self.seed, special=self.special
        )
        summary.place = self.place
        outcome = ColumnSummary(self.columns.outcome, outcome_kind, MAX_LABELS)
        if self.rows is None:
            self.starts, self.started = [], []
        for batch in self.batches(1):
            if batch.first_row == 0 and self.rows is None:
                self.starts.append(summary.n_rows)
                self.started.append(batch.path)
            weights = self.weights_of(batch)
            outcome.add(batch.rows.column(len(self.names)), None, summary.n_rows)
            self.check_labels(outcome)
            events = self.events_of(batch, weights)
            summary.add(batch.rows.select(range(len(self.names))), weights, events)
        return summary, outcome

    def take_summaries(self, summary: TableSummary, outcome: ColumnSummary) -> None:
        """Decide on the classes.

        Parameters
        ----------
        summary : TableSummary
            Of all rows.
        outcome : ColumnSummary

        Raises
        ------
        ValueError
            There are not two classes.
        """
        self.n_rows = summary.n_rows
        labels = outcome.values(counted=False)[0]
        _, self.classes = encode_labels(labels, len(labels), self.columns.positive_label)

    def check_labels(self, outcome: ColumnSummary) -> None:
        """Refuse an outcome as soon as something is wrong with it."""
        for kind, what in (("missing", "missing values"), ("infinite", "infinite values")):
            fault = outcome.faults[kind]
            if fault.count:
                raise ValueError(
                    f"The outcome {outcome.name!r} has {what}: the first is at "
                    f"{self.place(fault.first)} (rows counted from 0). Remove these rows."
                )
        if not outcome.is_counted:
            raise ValueError(
                f"The outcome {outcome.name!r} has no two classes: it is of type {outcome.kind}, "
                f"with more than {outcome.most} values."
            )
        labels = outcome.values(counted=False)[0]
        if len(labels) > 2:
            encode_labels(labels, len(labels), self.columns.positive_label)  # refuses them

    def features_of(self, summary: TableSummary, *, chosen: bool = False) -> Features:
        """Choose the features, unless they have been chosen; find out what they have."""
        faults: list[tuple[int, ColumnError]] = []
        if self.items is None:
            used = list(range(len(self.names)))
            names = tuple(self.names)
            made = stated_items(self.stated, names)
            for j, column in enumerate(summary.columns):
                if not column.is_numeric:
                    faults.append((j, summary.text_fault(j)))
        else:
            if not chosen:
                self.items.fit_summary(summary)
            at = {name: j for j, name in enumerate(self.names)}
            made = {item.name: item for item in self.items.items_}
            names = tuple(made)
            used = [at[one.variable] if one.kind == "numeric" else -1 for one in made.values()]
        is_integer, minimum = np.ones(len(used), np.bool_), np.zeros(len(used))
        maximum = np.ones(len(used))
        for k, j in enumerate(used):
            if j < 0 or not summary.columns[j].is_numeric:
                continue
            column = summary.columns[j]
            faults += [
                (j, summary.placed(ColumnError(kind, fault.count, fault.first)))
                for kind, fault in column.faults.items()
                if fault.count
            ]
            minimum[k], maximum[k] = column.minimum, column.maximum
            is_integer[k] = column.are_integers and column.minimum >= -128 and column.maximum <= 127
        raise_faults(faults, self.names, summary.n_rows, ADVICE)
        return Features(names, made, is_integer, minimum, maximum)

    # ---- the second pass ---------------------------------------------------------------------

    def second_pass(
        self, features: Features, scratch: str | os.PathLike[str] | None
    ) -> TrainingData:
        """Encode and merge all rows."""
        layout, weighted = features.layout, self.columns.weights is not None
        with _Spill(features, layout, weighted, scratch) as spill:
            room = min(self.memory_limit // TABLE_SHARE, room_for(layout, weighted, self.n_rows))
            merger = RowMerger(layout, weighted, room, spill.take)
            totals = self.merge_all(features, merger, lambda: merger.n_rows + spill.n_rows)
            self.check_classes(totals)
            if totals.low is not None:
                features = features.with_range(totals)
            merged = merger.finish()
            logger.info(
                "%d rows, %d of them distinct in memory and %d in scratch files",
                totals.n_rows, len(merged.keys), spill.n_rows,
            )  # fmt: skip
            rows: DiskRows | None = None
            if spill.n_rows or not self.fits(features, len(merged.keys)):
                spill.take(merged)
                rows = spill.finish()
        return self.training_data(features, layout, merged, rows, totals)

    def merge_all(
        self, features: Features, merger: RowMerger, n_distinct: Callable[[], int]
    ) -> Totals:
        totals = Totals()
        for batch in self.batches(2, n_distinct):
            if not batch.rows.num_rows:
                continue
            weights, labels = self.weights_of(batch), self.labels_of(batch, self.classes[1])
            integers, reals = self._encoded(features, batch)
            if self.rows is not None:
                totals.take_range(integers)
            positive = labels > 0
            totals.n_rows += len(labels)
            totals.n_positive += int(np.count_nonzero(positive))
            if weights is None:
                totals.n_counted += len(labels)
            else:
                totals.weights.append(
                    (float(weights.sum(where=~positive)), float(weights.sum(where=positive)))
                )
                used = weights > 0
                totals.n_counted += int(np.count_nonzero(used))
                if not used.all():
                    # Rows of weight zero add nothing to any sum.
                    integers, reals = np.asfortranarray(integers[used]), reals[used]
                    labels, weights = labels[used], weights[used]
            merger.add(integers, as_row_tiles(reals), labels, weights)
        if totals.n_rows != self.n_rows:
            raise ValueError(
                f"{self._listed()} changed while it was read: there were {self.n_rows} rows, and "
                f"then {totals.n_rows}."
            )
        return totals

    def values_of(self, batch: FileBatch) -> tuple[NDArray[np.int8], dict[int, NDArray[Any]]]:
        """Features of a batch: items, and by position columns as they are.

        Parameters
        ----------
        batch : FileBatch

        Returns
        -------
        block : int8 array of shape (n, d), Fortran order
        given : dict from int to ndarray of shape (n,)
            The block has nothing there.
        """
        rows = batch.rows.select(range(len(self.names)))
        if self.items is not None:
            place = f" of {batch.path}"
            return self.items.encode_batch(rows, lambda row: f"row {batch.number(row)}{place}")
        block = np.empty((rows.num_rows, len(self.names)), np.int8, order="F")
        return block, {k: numbers_of(rows.column(k)) for k in range(len(self.names))}

    def _encoded(
        self, features: Features, batch: FileBatch
    ) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        """Integer and real columns of a batch."""
        block, given = self.values_of(batch)
        if not given:
            return block, np.empty((len(block), 0), order="F")
        is_integer = features.is_integer
        real = np.flatnonzero(~is_integer).tolist()
        reals = np.empty((len(block), len(real)), order="F")
        for position, k in enumerate(real):
            reals[:, position] = given[k]
        for k, values in given.items():
            if is_integer[k]:
                np.copyto(block[:, k], values, casting="unsafe")
        return (np.asfortranarray(block[:, is_integer]) if real else block), reals

    def labels_of(self, batch: FileBatch, positive: Any) -> NDArray[np.int8]:
        """Labels of a batch as -1 and +1."""
        column = batch.rows.column(len(self.names))
        import pyarrow
        import pyarrow.compute as compute

        if pyarrow.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if isinstance(positive, str):
            met = compute.equal(column, pyarrow.scalar(positive, column.type))
            where = met.to_numpy(zero_copy_only=False)
        else:
            where = numbers_of(column) == positive
        return np.where(where, np.int8(1), np.int8(-1))

    def check_classes(self, totals: Totals) -> None:
        """Refuse weights with which nothing can be learnt."""
        if totals.weights:
            negative, positive = (math.fsum(part) for part in zip(*totals.weights, strict=True))
            check_class_totals((negative, positive), self.classes)

    # ---- the result --------------------------------------------------------------------------

    def fits(self, features: Features, n_rows: int) -> bool:
        """True if so many rows have room in memory, with what a search makes of them."""
        n_integers = int(np.count_nonzero(features.is_integer))
        per_row = n_integers + 8 * (len(features.names) - n_integers) + 1 + 8 + 2
        return _COPIES * per_row * n_rows <= self.memory_limit

    def training_data(
        self,
        features: Features,
        layout: WordLayout,
        merged: MergedKeys | None,
        rows: PartitionedRows | None,
        totals: Totals,
    ) -> TrainingData:
        """Make training data of all rows.

        Parameters
        ----------
        features : Features
        layout : WordLayout
        merged : MergedKeys, optional
            The rows in memory, unless ``rows`` are given.
        rows : PartitionedRows, optional
            The rows, where they are elsewhere.
        totals : Totals
            Of all rows.

        Returns
        -------
        TrainingData
        """
        named: dict[str, Any] = {
            "feature_names": features.names,
            "outcome_name": self.columns.outcome,
            "classes": self.classes,
            "items": features.items,
        }
        if rows is not None:
            data = TrainingData.from_rows(rows, **named)
        else:
            assert merged is not None
            weighted = self.columns.weights is not None
            if len(merged.keys) == totals.n_rows:
                counts = None  # no two of them are equal
            elif weighted:
                counts = merged.counts.copy()
            else:
                merged = split_counts(merged)
                counts = merged.counts
            part = part_of(features, layout, merged, weighted or counts is not None)
            data = merged_data(
                part, counts, is_weighted=weighted,
                feature_min=features.minimum, feature_max=features.maximum, **named,
            )  # fmt: skip
        data.encoder = self.items
        data.n_samples = totals.n_rows
        data._n_counted = totals.n_counted
        return data

    # ---- of both passes ----------------------------------------------------------------------

    def batches(
        self, step: int = 0, n_distinct: Callable[[], int] = lambda: 0
    ) -> Iterator[FileBatch]:
        """Read batches ahead, and say how far it is."""
        n_rows = 0
        for batch in _ahead(self.files.batches(self.all_names)):
            begin, n_rows = n_rows, n_rows + batch.rows.num_rows
            if self.rows is None:
                yield batch
            else:
                yield batch.only(np.flatnonzero(self.rows[begin:n_rows]))
            state = ReadProgress(step, n_rows, n_distinct(), batch.n_bytes, self.total_bytes)
            if self.progress is not None:
                self.progress(state)
            if time.monotonic() - self._last_line >= _SECONDS_BETWEEN_LINES:
                self._last_line = time.monotonic()
                logger.info("%s", state.summary())

    def weights_of(self, batch: FileBatch) -> NDArray[np.float64] | None:
        if self.columns.weights is None:
            return None
        column = batch.rows.column(len(self.names) + 1)
        summary = ColumnSummary(self.columns.weights, column.type, 0)
        if not summary.is_numeric:
            raise ValueError(
                f"The weights {summary.name!r} must be non-negative numbers, but the column has "
                f"the type {column.type} in {batch.path}."
            )
        weights = numbers_of(column, missing=np.nan).astype(np.float64)
        wrong = ~(np.isfinite(weights) & (weights >= 0.0))
        if wrong.any():
            first = int(np.argmax(wrong))
            raise ValueError(
                f"The weights {summary.name!r} must be finite and not negative, got "
                f"{weights[first]} at row {batch.number(first)} of {batch.path} (rows counted "
                "from 0)."
            )
        return weights

    def events_of(
        self, batch: FileBatch, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        """Weights of the rows with the outcome, 0 of others; None where it chooses nothing."""
        if self.event is None:
            return None
        events = (self.labels_of(batch, self.event) > 0).astype(np.float64)
        return events if weights is None else events * weights

    def place(self, row: int) -> str:
        """Name the file of a row, and its number there."""
        if self.rows is not None:
            row = int(np.flatnonzero(self.rows)[row])
        number = int(np.searchsorted(self.starts, row, side="right")) - 1
        return f"row {row - self.starts[number]} of {self.started[number]}"

    def _listed(self) -> str:
        first, *others = self.files.paths
        return f"{first} with {len(others)} other files" if others else str(first)


class _Spill:
    """Rows that have no room in memory, in a scratch folder that is made for the first of them."""

    def __init__(
        self,
        features: Features,
        layout: WordLayout,
        weighted: bool,
        scratch: str | os.PathLike[str] | None,
    ) -> None:
        self._layout, self._scratch = layout, scratch
        self._schema = RowsSchema(
            tuple(np.flatnonzero(features.is_integer).tolist()),
            tuple(np.flatnonzero(~features.is_integer).tolist()),
            "weights" if weighted else "numbers",
        )
        self._writer: BlockWriter | None = None

    def __enter__(self) -> _Spill:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        if kind is not None and self._writer is not None:
            self._writer.discard()

    @property
    def n_rows(self) -> int:
        """Rows that were written so far."""
        return 0 if self._writer is None else self._writer.n_rows

    def take(self, merged: MergedKeys) -> None:
        """Write rows."""
        try:
            self._write(merged)
        except OSError as error:
            raise self._unwritten(error) from error

    def _unwritten(self, error: OSError) -> OSError:
        if isinstance(error, BlockFileError):  # what was written cannot be read again
            return error
        room = "make room, " if error.errno in _NO_ROOM else ""
        return OSError(
            error.errno,
            f"scratch files for rows that have no room in memory cannot be written "
            f"({error.strerror or error}): {room}name another folder (scratch, --scratch), or "
            "allow more memory",
        )

    def _write(self, merged: MergedKeys) -> None:
        if self._writer is None:
            folder = ScratchFolder(self._scratch)
            logger.info("rows that have no room in memory go to %s", folder.path)
            self._writer = BlockWriter(folder, self._schema, block_rows=BLOCK_ROWS)
        for start in range(0, len(merged.keys), _UNPACKED_ROWS):
            rows = slice(start, start + _UNPACKED_ROWS)
            keys = merged.keys[rows]
            self._writer.append(
                self._layout.integers(keys),
                self._layout.reals(keys),
                self._layout.labels(keys),
                merged.weights[rows],
            )

    def finish(self) -> DiskRows:
        """Return all rows that were written."""
        assert self._writer is not None
        try:
            return self._writer.finish()
        except OSError as error:
            raise self._unwritten(error) from error


def part_of(
    features: Features, layout: WordLayout, merged: MergedKeys, has_weights: bool
) -> KernelRows:
    """Unpack rows."""
    weights = merged.weights if has_weights else np.empty(0)
    return KernelRows(
        integer_columns=layout.integers(merged.keys),
        integer_index=np.flatnonzero(features.is_integer),
        real_row_tiles=as_row_tiles(layout.reals(merged.keys)),
        real_index=np.flatnonzero(~features.is_integer),
        labels=layout.labels(merged.keys),
        weights=weights,
        numbers=np.empty(0, np.uint16),
        total_weight=float(weights.sum() if has_weights else len(merged.keys)),
        n_samples=len(merged.keys),
    )


def _ahead(items: Iterator[_Result]) -> Iterator[_Result]:
    """Make the next one of some things while the last one is used."""
    with Pool(1) as pool:
        waiting: Future[_Result | None] = pool.submit(next, items, None)
        while (now := waiting.result()) is not None:
            waiting = pool.submit(next, items, None)
            yield now
