"""The reader: training data of tables in memory, of files of any size, and of Dask collections."""

from __future__ import annotations

import dataclasses
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riskslim.data.batches import DATA_SUFFIXES, ParquetFiles, find_files
from riskslim.data.csv_format import CsvFormat
from riskslim.data.files import as_arrow, format_of_file, open_file
from riskslim.data.labels import is_plain_order
from riskslim.data.lazy import is_collection
from riskslim.data.roles import Columns
from riskslim.data.tables import Table, open_table, series_values
from riskslim.data.training_data import TrainingData
from riskslim.data.warned import warn_of_order
from riskslim.data.weights import checked_weights
from riskslim.items.rules import fit_items
from riskslim.rows.collections import read_collections
from riskslim.rows.file_rows import read_files
from riskslim.rows.reading import default_memory_limit, makes_items

if TYPE_CHECKING:
    from riskslim.items.encoder import ItemEncoder
    from riskslim.items.item import Item
    from riskslim.rows.reading import ReadProgress

__all__ = ["are_held", "are_paths", "bytes_in_memory", "read"]

logger = logging.getLogger("riskslim.reader")

# Bytes in memory for each byte of a CSV file, and of one that is compressed.
_CSV_BYTES, _GZ_BYTES = 3, 20
# Items for each column of numbers, where as many as usual are made, and for others.
_ITEMS_OF_NUMBERS, _ITEMS_OF_OTHERS = 9, 2
# Text is held as Python objects while items are made of it.
_TEXT_BYTES = 64


def read(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    items: ItemEncoder | Iterable[Item] | Mapping[str, Item] | None = None,
    positive_label: Any = None,
    features: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    csv_format: CsvFormat | None = None,
    feature_names: Sequence[str] | None = None,
    outcome_name: str | None = None,
    memory_limit: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    progress: Callable[[ReadProgress], None] | None = None,
    random_state: int = 0,
) -> TrainingData:
    r"""Read training data of any size: files, a table in memory, or Dask collections.

    Parameters
    ----------
    X : path-like, several of them, table of shape (n, d), or Dask data frame or array
        CSV files (names end in .csv or .csv.gz) or Parquet files (.parquet), and folders: all files
        in them whose names begin with neither "_" nor ".". All have the same columns. A table is
        what :class:`TrainingData` takes.
    y, sample_weight : str, or array-like of shape (n,)
        Labels and, if rows have some, weights: of files the names of columns, else the values; of
        Dask in the partitions of X, as columns of the same data frame are.
    items : ItemEncoder, or iterable or mapping of Item, optional
        An encoder is fitted to the rows, and makes the features. Items say what columns are, as in
        :class:`TrainingData`. Default: columns are features as they are, numbers all of them.
    positive_label : optional
        As in :class:`TrainingData`.
    features, exclude : iterable of str, optional
        Columns of files to use, in the order of the files, by default all others; and columns to
        leave out, for example identifiers.
    csv_format : CsvFormat, optional
        How CSV files are written; a score of the data keeps it.
    feature_names, outcome_name
        Of tables and Dask, as in :class:`TrainingData`.
    memory_limit : int, optional
        Bytes that the rows may take in this process, here and in a search afterwards. Default:
        half of the machine's memory.
    scratch : str or path-like, optional
        Folder in which a folder is made for rows that have no room in memory; it is removed
        with the data, at the end of the process, and where reading fails. Default: where the
        system keeps temporary files.
    progress : callable, optional
        Called after each batch or partition with :class:`riskslim.rows.reading.ReadProgress`.
    random_state : int, default 0
        Seed of the sample of columns with too many values to count.

    Returns
    -------
    TrainingData
        Of a table, and of one file that fits in memory, its rows are those of X in their order.
        Else equal rows are merged as they come, with ``counts``; and where they have no room in
        memory, they are in scratch files or on the workers (``data.rows``).

    Raises
    ------
    FileNotFoundError, OSError
        There is no such file or folder; the scratch folder cannot be written.
    ImportError
        pyarrow is not installed.
    TypeError, ValueError
        Arguments of files with a table, or the other way round; folders without files, damaged
        files, columns that differ between files or partitions; values that cannot be used, with
        the file and the row of the first one; what :class:`TrainingData` refuses.
    RowsLostError
        The Dask cluster is gone, or a partition was lost with its workers again and again.

    Notes
    -----
    What is merged is read twice: once to see what is in the columns, once to encode. Columns of up
    to 65,536 distinct values get the items that they would get in memory; of others thresholds come
    from a sample of 200,000 rows. How long it takes, and how clusters are used, is in
    docs/large_data.md.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> from riskslim import ItemEncoder, read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in range(2):
    ...         rows = {"age": [38, 72, 61, 38], "smoker": [0, 1, 1, 0], "died": [0, 1, 0, 0]}
    ...         pq.write_table(pa.table(rows), pathlib.Path(folder, f"part-{part}.parquet"))
    ...     data = read(folder, "died", items=ItemEncoder())
    >>> data.feature_names, data.n_samples, data.counts
    (('age >= 61', 'age >= 72', 'smoker'), 8, array([4, 2, 2]))
    """
    if are_paths(X):
        if feature_names is not None or outcome_name is not None:
            raise TypeError("files have names of their own: leave out feature_names, outcome_name")
        columns = Columns.of(y, sample_weight, positive_label, features, exclude)
        if are_held(X, memory_limit, encoded=makes_items(items)):
            return _whole(X, columns, items, csv_format)
        data = read_files(
            X, csv_format, columns, items=items, memory_limit=memory_limit, scratch=scratch,
            progress=progress, seed=random_state,
        )  # fmt: skip
        return _told(data, positive_label)
    if features is not None or exclude or csv_format is not None:
        raise TypeError(
            "features, exclude and csv_format are about files: choose the columns of a table, "
            "X[[...]]"
        )
    named: dict[str, Any] = {
        "feature_names": feature_names, "outcome_name": outcome_name,
        "positive_label": positive_label,
    }  # fmt: skip
    if not is_collection(X):
        return _of_table(X, y, sample_weight, items, **named)
    data = read_collections(
        X, y, sample_weight, items=items, memory_limit=memory_limit, scratch=scratch,
        progress=progress, seed=random_state, **named,
    )  # fmt: skip
    return _told(data, positive_label)


def are_paths(X: Any) -> bool:
    """True if something is a path, or a list of paths.

    Parameters
    ----------
    X : object

    Returns
    -------
    bool

    Examples
    --------
    >>> from riskslim.reader import are_paths
    >>> are_paths("patients.csv"), are_paths(["a.parquet", "b.parquet"]), are_paths([[0, 1]])
    (True, True, False)
    """
    several = X if isinstance(X, (list, tuple)) and X else [X]
    return all(isinstance(one, (str, os.PathLike)) for one in several)


def are_held(paths: Any, memory_limit: int | None = None, *, encoded: bool) -> bool:
    """True if rows of files are read as a whole, and held one by one.

    Parameters
    ----------
    paths : path-like, or iterable of them
    memory_limit : int, optional
        Default: half of the machine's memory.
    encoded : bool
        Whether items are made of the columns.

    Returns
    -------
    bool
        True for one file that fits in memory as a table, with items beside it; for one that cannot
        be read, too: reading says why.
    """
    first, *others = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if others or Path(first).is_dir():
        return False
    limit = memory_limit or default_memory_limit()
    needed = bytes_in_memory(Path(first), encoded=encoded)
    if needed > limit:
        logger.info(
            "%s would need about %.1f GB in memory, of %.1f GB: it is read batch by batch",
            first, needed / 1e9, limit / 1e9,
        )  # fmt: skip
    return needed <= limit


def _told(data: TrainingData, positive_label: Any) -> TrainingData:
    """Warn where the order of the labels alone says whose risk it is."""
    if positive_label is None and not is_plain_order(data.classes):
        warn_of_order(data.classes)
    return data


def _of_table(X: Any, y: Any, sample_weight: Any, items: Any, **named: Any) -> TrainingData:
    """Training data of a table in memory."""
    if not makes_items(items):
        return TrainingData(X, y, sample_weight, items=items, **named)
    table = fit_items(items, X, sample_weight, y)
    data = TrainingData(table, y, sample_weight, items=items.items_, **named)
    data.encoder = items
    data.raw = dataclasses.replace(open_table(X), names=[*items.variables_])
    return data


def _whole(paths: Any, columns: Columns, items: Any, csv_format: CsvFormat | None) -> TrainingData:
    """Training data of one file, whose columns are read one by one."""
    path = paths if isinstance(paths, (str, os.PathLike)) else paths[0]
    with open_file(path, csv_format) as (names, read_column):
        chosen = columns.chosen(names, path)
        if not len(read_column(0)):
            raise ValueError(f"{path} has no rows.")
        at = {name: j for j, name in enumerate(names)}
        y = read_column(at[columns.outcome])
        weights = None if columns.weights is None else read_column(at[columns.weights])
        X: Any
        if makes_items(items):
            X = as_arrow(chosen, [read_column(at[name]) for name in chosen])
            weights = None if weights is None else checked_weights(weights, len(y))
        else:
            X = Table(
                len(y), len(chosen), chosen, lambda j: series_values(read_column(at[chosen[j]]))
            )
        data = _of_table(
            X, y, weights, items,
            outcome_name=columns.outcome, positive_label=columns.positive_label,
        )  # fmt: skip
    said, n_skipped = format_of_file(Path(path), csv_format or CsvFormat())
    data.csv_format = said if n_skipped else csv_format
    return data


def bytes_in_memory(path: Path, *, encoded: bool) -> int:
    """Estimate what a file needs as a table in memory, and as items beside it.

    Parameters
    ----------
    path : Path
    encoded : bool
        Whether items are made of the columns.

    Returns
    -------
    int
        0 for a file that cannot be read; reading says why.
    """
    try:
        (path,) = find_files(path, DATA_SUFFIXES)
        name = path.name.lower()
        if not name.endswith(".parquet"):
            return path.stat().st_size * (_GZ_BYTES if name.endswith(".gz") else _CSV_BYTES)
        files = ParquetFiles([path])
        kinds = files.kinds(files.names)
    except (ValueError, OSError, ImportError, KeyError):
        return 0
    per_row = 0
    for kind in kinds:
        try:
            width, n_items = max(kind.bit_width // 8, 1), _ITEMS_OF_NUMBERS
        except ValueError:
            width, n_items = _TEXT_BYTES, _ITEMS_OF_OTHERS
        per_row += width + (n_items if encoded and width > 1 else 1)
    return per_row * files.n_rows
