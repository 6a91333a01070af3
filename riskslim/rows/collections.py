"""Training data from Dask collections.

As with files, one pass finds out what columns have, and a second one makes items of the rows and
merges equal ones. On a cluster both take place where the partitions are; merged rows come here if
they have room, or stay there. Without a cluster partitions are computed here, one after the other.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from riskslim.data.lazy import is_collection
from riskslim.data.merging import MergedKeys, merge_keys, room_for
from riskslim.data.roles import Columns
from riskslim.data.store import Weighting
from riskslim.data.summaries import (
    MAX_DISTINCT,
    SAMPLE_ROWS,
    ColumnSummary,
    RowSample,
    TableSummary,
)
from riskslim.data.tables import Table
from riskslim.data.training_data import TrainingData, resolve_names
from riskslim.rows import partitions
from riskslim.rows.base import RowsSchema
from riskslim.rows.cluster import Cluster, DaskRows, current_client, is_lost
from riskslim.rows.file_rows import FileRows
from riskslim.rows.partitions import Partitions, PartitionSummary, Recipe
from riskslim.rows.reading import (
    MAX_LABELS,
    TABLE_SHARE,
    Features,
    Reading,
    ReadProgress,
    Totals,
    checked_limit,
    label_of_events,
    makes_items,
)

if TYPE_CHECKING:
    import pyarrow
    from distributed import Future

__all__ = ["read_collections"]

logger = logging.getLogger("riskslim.rows.collections")

# Partitions whose rows are merged together, and the share of rows that has to go for another round.
_MERGED_AT_ONCE = 8
_WORTH_IT = 0.8


def read_collections(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    items: Any = None,
    feature_names: Sequence[str] | None = None,
    outcome_name: str | None = None,
    positive_label: Any = None,
    memory_limit: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    progress: Callable[[ReadProgress], None] | None = None,
    seed: int = 0,
) -> TrainingData:
    """Read training data from Dask collections.

    Parameters
    ----------
    X : Dask data frame or array of shape (n, d)
    y, sample_weight : Dask series or array of shape (n,)
        In the partitions of X.
    items : ItemEncoder, or iterable or mapping of Item, optional
        As in :func:`~riskslim.rows.reading.read_files`.
    feature_names, outcome_name, positive_label
        As in :class:`~riskslim.TrainingData`.
    memory_limit, scratch, progress, seed
        As in :func:`~riskslim.rows.reading.read_files`.

    Returns
    -------
    TrainingData
        With the rows in memory, equal ones merged; or on the cluster; or, without a cluster, in
        scratch files.

    Raises
    ------
    ImportError
        pyarrow is not installed.
    TypeError, ValueError
        Other collections; partitions that do not fit each other; what is refused in files.
    RowsLostError
        The cluster is gone.
    """
    limit = checked_limit(memory_limit, scratch)
    source = _Source.of(X, y, sample_weight, feature_names, outcome_name, positive_label)
    if makes_items(items):
        special = {**items.prepared(source.recipe.names)}
        source = dataclasses.replace(
            source, recipe=dataclasses.replace(source.recipe, special=special)
        )
    client = current_client()
    runner = _Here(source) if client is None else _There(source, Cluster(client))
    if makes_items(items) and items.uses_outcome:
        runner.note_events()
    found = [one for one in runner.summaries(_most_counted(items), progress) if one.n_rows]
    if not found:
        raise ValueError("X has no rows.")
    schema = partitions.schema_of_all(found, source.recipe.all_names)
    reading = Reading(
        runner.files(found, schema), source.recipe.columns, items, limit, progress, seed
    )
    features = _first_pass(reading, found, schema, runner)
    data = runner.second_pass(reading, features, found, schema, scratch)
    data.files = FileRows.after(reading, features, scratch)
    return data


def _first_pass(
    reading: Reading, found: Sequence[PartitionSummary], schema: pyarrow.Schema, runner: _Runner
) -> Features:
    """Put together what partitions have, and choose the features."""
    names, items = reading.names, reading.items
    kinds = [schema.field(name).type for name in names]
    summary = TableSummary(
        names, kinds, most=_most_counted(items), seed=reading.seed, special=reading.special
    )
    name = reading.columns.outcome
    outcome = ColumnSummary(name, schema.field(name).type, MAX_LABELS)
    reading.starts, reading.started = [], []
    first_rows = []
    for one in found:
        first_rows.append(summary.n_rows)
        reading.starts.append(summary.n_rows)
        reading.started.append(partitions.place_of(one.number))
        summary.take_over(one.table)
        outcome.take_over(one.outcome)
        reading.check_labels(outcome)
    summary.place = reading.place
    sampled = summary.sampled
    if sampled:
        sample = RowSample(sampled, SAMPLE_ROWS, reading.seed)
        for part in runner.draws(found, first_rows, sampled, reading.seed):
            sample.take_over(part, [kinds[j] for j in sampled])
        summary.set_sample(sample)
    reading.take_summaries(summary, outcome)
    return reading.features_of(summary)


def _most_counted(items: Any) -> int:
    return MAX_DISTINCT if makes_items(items) else 0


# ---- where rows come from ----------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Source:
    """Partitions of collections, and what has to be known to read them."""

    recipe: Recipe
    # Delayed, each to be computed to a partitions.Part.
    parts: tuple[Any, ...]

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        sample_weight: Any,
        feature_names: Sequence[str] | None,
        outcome_name: str | None,
        positive_label: Any,
    ) -> _Source:
        given: tuple[Any, ...] | None
        X, given = _checked_rows(X)
        n_features = len(given) if given is not None else int(X.shape[1])
        if not n_features:
            raise ValueError("X has no columns.")
        table = Table(1, n_features, given, lambda j: _no_values())
        names = resolve_names(table, feature_names)
        outcome = outcome_name or _name_of(y) or "outcome"
        if outcome in names:
            raise ValueError(f"X has a column of the name of the outcome, {outcome!r}.")
        weights_name = None
        if sample_weight is not None:
            weights_name = _name_of(sample_weight) or "sample_weight"
            while weights_name in (*names, outcome):
                weights_name += "_"
        columns = Columns(outcome, weights_name, positive_label)
        beside = [_beside(X, y, "y")]
        if sample_weight is not None:
            beside.append(_beside(X, sample_weight, "sample_weight"))
        return cls(Recipe(names, columns, given), tuple(_parts([X, *beside])))


def _no_values() -> Any:
    raise AssertionError("the columns of a collection are not read one by one")


def _name_of(values: Any) -> str | None:
    name = None if _is_array(values) else getattr(values, "name", None)
    return None if name is None else str(name)


def _is_array(values: Any) -> bool:
    import dask.array

    return isinstance(values, dask.array.Array)


def _checked_rows(X: Any) -> tuple[Any, tuple[Any, ...] | None]:
    """X with all columns in each partition, and the names of the columns of a frame."""
    if _is_array(X):
        if X.ndim != 2:
            raise ValueError(f"Expected a 2-dimensional array, got {X.ndim} dimensions.")
        return X.rechunk({1: -1}), None
    if not (hasattr(X, "to_delayed") and getattr(X, "ndim", 0) == 2):
        raise TypeError(
            "X must be a Dask data frame or a Dask array, got "
            f"{type(X).__module__}.{type(X).__qualname__}."
        )
    return X, tuple(X.columns)


def _n_parts(values: Any) -> int:
    return int(values.numblocks[0]) if _is_array(values) else int(values.npartitions)


def _beside(X: Any, values: Any, what: str) -> Any:
    """Labels or weights, one-dimensional, in the partitions of X."""
    if not is_collection(values):
        raise TypeError(
            f"X is a Dask collection, but {what} is {type(values).__module__}."
            f"{type(values).__qualname__}: give a Dask series or array in the partitions of X, a "
            "column of the same data frame for example."
        )
    if _is_array(values):
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise ValueError(f"{what} should be 1-dimensional, got {values.ndim} dimensions.")
        sizes = X.chunks[0] if _is_array(X) else None
        if sizes is not None and sizes != values.chunks[0] and sum(sizes) == values.shape[0]:
            values = values.rechunk((sizes,))
    elif getattr(values, "ndim", 1) == 2:
        if len(values.columns) != 1:
            raise ValueError(f"{what} should be one column, got {len(values.columns)}.")
        values = values[values.columns[0]]
    elif not hasattr(values, "to_delayed"):
        raise TypeError(f"{what} must be a Dask series or array, got {type(values).__qualname__}.")
    if _n_parts(values) != _n_parts(X):
        raise ValueError(
            f"X has {_n_parts(X)} partitions, but {what} has {_n_parts(values)}: they must be cut "
            "alike, as columns of one data frame are."
        )
    return values


def _parts(collections: list[Any]) -> list[Any]:
    """Partitions of rows, labels and weights side by side, delayed."""
    from dask import delayed

    if not any(_is_array(values) for values in collections):
        import dask.dataframe

        # As one expression: what Dask does to one of them, such as reading several small files as
        # one partition, it does to all; and what they have in common is computed once.
        together = dask.dataframe.map_partitions(
            _side_by_side, *collections, align_dataframes=False, enforce_metadata=False,
            meta=("part", object),
        )  # fmt: skip
        return list(together.to_delayed())
    apart = [
        values.to_delayed().ravel().tolist()
        if _is_array(values)
        else values.to_delayed(optimize_graph=False)
        for values in collections
    ]
    call = delayed(_side_by_side, pure=True)
    return [call(*part) for part in zip(*apart, strict=True)]


def _side_by_side(X: Any, y: Any, weights: Any = None) -> partitions.Part:
    return X, y, weights


# ---- where they are read -----------------------------------------------------------------------


class _Runner(abc.ABC):
    """Reads partitions."""

    def __init__(self, source: _Source) -> None:
        self.source = source

    def note_events(self) -> None:
        """Find out which label the outcome has that chooses cut-offs."""
        tasks = [
            (partitions.labels_found, (self.source.recipe, number), part)
            for number, part in enumerate(self.source.parts)
        ]
        found = {label for labels in self.run(tasks) for label in labels}
        recipe = dataclasses.replace(self.source.recipe, event=label_of_events(found))
        self.source = dataclasses.replace(self.source, recipe=recipe)

    def summaries(
        self, most: int, progress: Callable[[ReadProgress], None] | None
    ) -> Iterator[PartitionSummary]:
        """Find out what the columns of all partitions have."""
        tasks = [
            (partitions.summarise, (self.source.recipe, number, most), part)
            for number, part in enumerate(self.source.parts)
        ]
        n_rows = 0
        for found in self.run(tasks):
            n_rows += found.n_rows
            if progress is not None:
                progress(ReadProgress(1, n_rows, 0, 0, 0))
            yield found

    def draws(
        self,
        found: Sequence[PartitionSummary],
        first_rows: Sequence[int],
        columns: Sequence[int],
        seed: int,
    ) -> Iterator[RowSample]:
        """Draw rows from the partitions that have some."""
        tasks = [
            (
                partitions.draw,
                (
                    self.source.recipe,
                    one.number,
                    tuple(columns),
                    SAMPLE_ROWS,
                    seed,
                    first_row,
                ),
                self.source.parts[one.number],
            )
            for one, first_row in zip(found, first_rows, strict=True)
        ]
        return self.run(tasks)

    @abc.abstractmethod
    def run(self, tasks: Sequence[_Call]) -> Iterator[Any]:
        """Call functions with partitions, and yield what they return in their order."""

    def files(self, found: Sequence[PartitionSummary], schema: pyarrow.Schema) -> Partitions:
        """The partitions with rows as files."""
        return Partitions(
            self.source.recipe.all_names,
            [one.number for one in found],
            [functools.partial(self._load, one.number) for one in found],
            schema,
        )

    def _load(self, number: int) -> pyarrow.RecordBatch:
        import dask

        (part,) = dask.compute(self.source.parts[number])
        return partitions.as_batch(self.source.recipe, number, part)

    @abc.abstractmethod
    def second_pass(
        self,
        reading: Reading,
        features: Features,
        found: Sequence[PartitionSummary],
        schema: pyarrow.Schema,
        scratch: str | os.PathLike[str] | None,
    ) -> TrainingData:
        """Encode and merge all rows."""


# A function, what comes first among its arguments, and a delayed partition.
_Call: TypeAlias = "tuple[Callable[..., Any], tuple[Any, ...], Any]"


class _Here(_Runner):
    """Partitions are computed in this process by Dask's own scheduler, one after the other."""

    def run(self, tasks: Sequence[_Call]) -> Iterator[Any]:
        import dask

        for function, arguments, part in tasks:
            yield function(*arguments, *dask.compute(part))

    def second_pass(
        self,
        reading: Reading,
        features: Features,
        found: Sequence[PartitionSummary],
        schema: pyarrow.Schema,
        scratch: str | os.PathLike[str] | None,
    ) -> TrainingData:
        return reading.second_pass(features, scratch)


class _There(_Runner):
    """Partitions are read by the workers of a cluster."""

    def __init__(self, source: _Source, cluster: Cluster) -> None:
        super().__init__(source)
        self.cluster = cluster

    def run(self, tasks: Sequence[_Call]) -> Iterator[Any]:
        work = _Work(self.cluster, [_delayed_call(*task) for task in tasks])
        return work.results(None)

    def second_pass(
        self,
        reading: Reading,
        features: Features,
        found: Sequence[PartitionSummary],
        schema: pyarrow.Schema,
        scratch: str | os.PathLike[str] | None,
    ) -> TrainingData:
        recipe = self.source.recipe
        shared = _shared(recipe), _shared(features), reading.classes
        items = None if reading.items is None else _shared(reading.items)
        work = _Work(
            self.cluster,
            [
                _delayed_call(
                    partitions.pack,
                    (*shared, items, schema, one.number, one.n_rows),
                    self.source.parts[one.number],
                )
                for one in found
            ],
        )
        sizes = self._sizes(work, reading.progress)
        totals = Totals.of([of_part for _, of_part in sizes])
        reading.check_classes(totals)
        counts = self._merge(work, [n for n, _ in sizes], reading, features)
        layout, weighted = features.layout, recipe.columns.weights is not None
        if reading.fits(features, sum(counts)):
            parts: list[MergedKeys] = [one.merged for one in work.results(None)]
            merged = parts[0] if len(parts) == 1 else merge_keys(parts, layout, weighted)
            logger.info("%d rows, %d of them distinct", totals.n_rows, len(merged.keys))
            return reading.training_data(features, layout, merged, None, totals)
        logger.info("%d rows, %d on the workers", totals.n_rows, sum(counts))
        rows = self._rows(work, counts, features, weighted, totals)
        return reading.training_data(features, layout, None, rows, totals)

    def _sizes(
        self, work: _Work, progress: Callable[[ReadProgress], None] | None
    ) -> list[tuple[int, Totals]]:
        sizes: list[tuple[int, Totals]] = []
        n_rows = n_distinct = 0
        for size, totals in work.results(partitions.size_of):
            sizes.append((size, totals))
            n_rows, n_distinct = n_rows + totals.n_rows, n_distinct + size
            if progress is not None:
                progress(ReadProgress(2, n_rows, n_distinct, 0, 0))
        return sizes

    def _merge(
        self, work: _Work, counts: list[int], reading: Reading, features: Features
    ) -> list[int]:
        """Merge the rows of several partitions, as long as many of them are equal.

        Returns how many rows are left in each part.
        """
        layout, weighted = features.layout, self.source.recipe.columns.weights is not None
        room = reading.memory_limit // TABLE_SHARE // (1 + weighted)
        while len(counts) > 1:
            groups = _grouped(counts, lambda n: room_for(layout, True, n) <= room)
            if len(groups) == len(counts):
                break
            work.replace(functools.partial(partitions.merge_packed, layout, weighted), groups)
            before = sum(counts)
            counts = [size for size, _ in work.results(partitions.size_of)]
            if sum(counts) > _WORTH_IT * before and not reading.fits(features, sum(counts)):
                break
        return counts

    def _rows(
        self,
        work: _Work,
        counts: Sequence[int],
        features: Features,
        weighted: bool,
        totals: Totals,
    ) -> DaskRows:
        """Leave the rows where they are."""
        weighting: Weighting = "weights" if weighted else "numbers"
        if not weighted and sum(counts) == totals.n_rows:
            weighting = "none"
        sizes = list(work.results(partitions.size_of))
        kept = [[k] for k, (n, _) in enumerate(sizes) if n]
        work.replace(functools.partial(partitions.unpack, features, weighting), kept)
        found = work.results(partitions.summary_of, [(sizes[k][1],) for (k,) in kept])
        schema = RowsSchema(
            tuple(features.is_integer.nonzero()[0].tolist()),
            tuple((~features.is_integer).nonzero()[0].tolist()),
            weighting,
        )
        return DaskRows(self.cluster, schema, list(found), work.futures, work.recipes)


class _Work:
    """Objects on the workers, and what computes each of them from the collections."""

    def __init__(self, cluster: Cluster, recipes: Sequence[Any]) -> None:
        self.cluster, self.recipes = cluster, list(recipes)
        self.futures: list[Future] = cluster.compute(recipes)

    def results(
        self,
        function: Callable[..., Any] | None,
        arguments: Sequence[tuple[Any, ...]] | None = None,
    ) -> Iterator[Any]:
        """The objects themselves, or what a function returns of each where it is, in order."""

        def start(number: int) -> Callable[[], Future]:
            own = () if arguments is None else arguments[number]
            if function is None:
                return lambda: self.futures[number]
            return lambda: self.cluster.submit(function, self.futures[number], *own)

        return self.cluster.results(
            (start(number) for number in range(len(self.futures))), self._repair, _no_check
        )

    def _repair(self, number: int) -> None:
        if not is_lost(self.futures[number]):
            return
        self.futures[number] = self.cluster.compute_again(self.recipes[number])

    def replace(self, function: Callable[..., Any], groups: Sequence[Sequence[int]]) -> None:
        """Put new objects in place of groups of these, which workers then forget."""
        from dask import delayed

        call = delayed(function, pure=False)
        self.recipes = [call(*(self.recipes[k] for k in group)) for group in groups]
        self.futures = [
            self.cluster.submit(function, *(self.futures[k] for k in group)) for group in groups
        ]


def _no_check() -> None:
    """Reading has no limits."""


def _shared(value: Any) -> Any:
    """An argument of many tasks that is sent once."""
    from dask import delayed

    return delayed(value, traverse=False)


def _delayed_call(function: Callable[..., Any], arguments: tuple[Any, ...], part: Any) -> Any:
    from dask import delayed

    return delayed(function, pure=False, traverse=False)(*arguments, part)


def _grouped(counts: Sequence[int], has_room: Callable[[int], bool]) -> list[list[int]]:
    """Cut partitions into groups whose rows are merged together."""
    groups: list[list[int]] = []
    n_rows = 0
    for number, count in enumerate(counts):
        if groups and len(groups[-1]) < _MERGED_AT_ONCE and has_room(n_rows + count):
            groups[-1].append(number)
            n_rows += count
        else:
            groups.append([number])
            n_rows = count
    return groups
