"""Training data from files of any size, read batch by batch.

:class:`FromBatches` is the part of :class:`~riskslim.TrainingData` that opens the door; what reads
is :mod:`riskslim.rows.reading`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from riskslim.data.beyond_memory import readers
from riskslim.data.csv_format import CsvFormat
from riskslim.data.labels import is_plain_order
from riskslim.data.warned import warn_of_order

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["FromBatches", "Paths"]

# Files and folders to read.
Paths: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"


class FromBatches:
    """Ways to read training data that need not fit in memory."""

    classes: tuple[Any, Any]

    @classmethod
    def from_parquet(
        cls,
        path: Paths,
        outcome: str,
        *,
        items: Any = None,
        sample_weight: str | None = None,
        positive_label: Any = None,
        features: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
        memory_limit: int | None = None,
        scratch: str | os.PathLike[str] | None = None,
        progress: Callable[[Any], None] | None = None,
        random_state: int = 0,
    ) -> Self:
        """Read Parquet files of any size, batch by batch, and merge equal rows as they come.

        Parameters
        ----------
        path : path-like, or iterable of them
            Files, and folders: all files in them whose names end in .parquet and begin with
            neither "_" nor ".". All have the same columns.
        outcome : str
            Column of the labels.
        items : ItemEncoder, optional
            Is fitted to the rows, and makes the features. Columns of up to 65,536 distinct values
            get the items that they would get in memory; of others thresholds are quantiles of a
            sample of 200,000 rows. Default: columns are features as they are, numbers all of them.
        sample_weight : str, optional
            Column of the weights.
        positive_label : optional
            As in :class:`TrainingData`.
        features, exclude : iterable of str, optional
            As in :meth:`from_file`.
        memory_limit : int, optional
            Bytes that the rows may take, here and in a search afterwards. Default: half of the
            machine's memory.
        scratch : str or path-like, optional
            Folder in which a folder is made for rows that have no room in memory; it is removed
            with the data, at the end of the process, and where reading fails. Default: where the
            system keeps temporary files.
        progress : callable, optional
            Called after each batch with an object that has ``step``, ``n_rows``, ``n_distinct``,
            ``n_bytes``, ``total_bytes`` and a ``summary()`` in words.
        random_state : int, default 0
            Seed of the sample.

        Returns
        -------
        TrainingData
            Its rows are the distinct ones, with ``counts``; or they are in scratch files, where
            they have no room in memory (``rows``).

        Raises
        ------
        FileNotFoundError
            There is no such file or folder.
        ImportError
            pyarrow is not installed.
        ValueError
            Folders without files; files that are damaged, or differ in their columns; values that
            cannot be used, with the file and the row of the first one; an outcome that does not
            have two classes in all files together.
        OSError
            The scratch folder cannot be written, as on a full disk.

        Notes
        -----
        The files are read twice: once to see what is in the columns, once to encode and merge. How
        long that takes and what it needs is in docs/large_data.md.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import pyarrow as pa, pyarrow.parquet as pq
        >>> from riskslim import ItemEncoder, TrainingData
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for part in range(2):
        ...         rows = {"age": [38, 72, 61, 38], "smoker": [0, 1, 1, 0], "died": [0, 1, 0, 0]}
        ...         pq.write_table(pa.table(rows), pathlib.Path(folder, f"part-{part}.parquet"))
        ...     data = TrainingData.from_parquet(folder, "died", items=ItemEncoder())
        >>> data.feature_names, data.n_samples
        (('age >= 61', 'age >= 72', 'smoker'), 8)
        >>> data.counts
        array([4, 2, 2])
        """
        return cls._read_batches(
            "parquet", path, None, outcome, sample_weight, positive_label, features, exclude,
            items=items, memory_limit=memory_limit, scratch=scratch, progress=progress,
            seed=random_state,
        )  # fmt: skip

    @classmethod
    def from_csv(
        cls,
        path: Paths,
        outcome: str,
        *,
        items: Any = None,
        sample_weight: str | None = None,
        positive_label: Any = None,
        features: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
        csv_format: CsvFormat | None = None,
        memory_limit: int | None = None,
        scratch: str | os.PathLike[str] | None = None,
        progress: Callable[[Any], None] | None = None,
        random_state: int = 0,
    ) -> Self:
        r"""Read CSV files of any size, batch by batch, and merge equal rows as they come.

        Parameters
        ----------
        path : path-like, or iterable of them
            As in :meth:`from_parquet`, with names that end in .csv or .csv.gz.
        outcome, items, sample_weight, positive_label, features, exclude
            As there.
        csv_format : CsvFormat, optional
            How the files are written; a score of the data keeps it.
        memory_limit, scratch, progress, random_state
            As there.

        Returns
        -------
        TrainingData

        Raises
        ------
        FileNotFoundError, ImportError, ValueError, OSError
            As there.

        Notes
        -----
        A column has the type that all of its values in all files have. Where a later row shows
        that it is another one than the first rows said, reading begins anew.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from riskslim import TrainingData
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "patients.csv")
        ...     _ = path.write_text("smoker,died\n1,1\n0,0\n1,1\n")
        ...     data = TrainingData.from_csv(path, "died")
        >>> data.column(0), data.counts
        (array([1, 0], dtype=int8), array([2, 1]))
        """
        return cls._read_batches(
            "csv", path, csv_format, outcome, sample_weight, positive_label, features, exclude,
            items=items, memory_limit=memory_limit, scratch=scratch, progress=progress,
            seed=random_state,
        )  # fmt: skip

    @classmethod
    def from_dask(
        cls,
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
        progress: Callable[[Any], None] | None = None,
        random_state: int = 0,
    ) -> Self:
        """Read Dask collections where their partitions are, and merge equal rows there.

        Parameters
        ----------
        X : Dask data frame, or Dask array of shape (n, d)
        y : Dask series or array of shape (n,)
            In the partitions of X, as a column of the same data frame is.
        sample_weight : Dask series or array of shape (n,), optional
            Likewise.
        items, positive_label, scratch, random_state
            As in :meth:`from_parquet`.
        feature_names, outcome_name
            As in :class:`TrainingData`.
        memory_limit : int, optional
            Bytes that the rows may take in this process, here and in a search afterwards. Default:
            half of the machine's memory. What workers may take is Dask's own setting.
        progress : callable, optional
            As in :meth:`from_parquet`, called after each partition; bytes are 0.

        Returns
        -------
        TrainingData
            Its rows are the distinct ones, with ``counts``; or they are on the workers, where they
            have no room here (``rows``).

        Raises
        ------
        ImportError
            pyarrow is not installed.
        TypeError
            X is a collection of another kind, or y and the weights are no collections; an
            asynchronous client.
        ValueError
            Partitions that are not cut alike, or that differ in their columns; values that cannot
            be used, with the partition and the row of the first one; an outcome that does not have
            two classes in all partitions together.
        RowsLostError
            The cluster is gone, or a partition was lost with its workers again and again.

        Notes
        -----
        The collections are computed twice: once to see what is in the columns, once to encode and
        merge; a data frame that fits in the memory of the cluster may be persisted before. Work is
        done by the workers of the Dask client that is connected. Without a client partitions are
        computed in this process by Dask's default scheduler, one after the other, and what has no
        room in memory goes to scratch files.

        A worker that dies is replaced by Dask, and what it held is computed again from the source:
        files that the collections are from have to be there as long as the data are used.

        Examples
        --------
        >>> import pandas as pd
        >>> import dask.dataframe as dd
        >>> from riskslim import ItemEncoder, TrainingData
        >>> rows = {"age": [38, 72, 61, 38], "smoker": [0, 1, 1, 0], "died": [0, 1, 0, 0]}
        >>> frame = dd.from_pandas(pd.DataFrame(rows), npartitions=2)
        >>> data = TrainingData.from_dask(
        ...     frame[["age", "smoker"]], frame["died"], items=ItemEncoder()
        ... )
        >>> data.feature_names, data.counts
        (('age >= 61', 'age >= 72', 'smoker'), array([2, 1, 1]))
        """
        return cls._read_collections(
            X, y, sample_weight, items=items, feature_names=feature_names,
            outcome_name=outcome_name, positive_label=positive_label, memory_limit=memory_limit,
            scratch=scratch, progress=progress, seed=random_state,
        )  # fmt: skip

    @classmethod
    def _read_collections(cls, X: Any, y: Any, sample_weight: Any, **options: Any) -> Self:
        data: Self = readers().collections.read_collections(X, y, sample_weight, **options)
        return data

    @classmethod
    def _read_batches(
        cls,
        kind: str,
        paths: Paths,
        csv_format: CsvFormat | None,
        outcome: str,
        sample_weight: str | None,
        positive_label: Any,
        features: Iterable[str] | None,
        exclude: Iterable[str],
        **options: Any,
    ) -> Self:
        reading = readers().files
        wanted = (features,) if isinstance(features, str) else features
        columns = reading.Columns(
            outcome,
            sample_weight,
            positive_label,
            None if wanted is None else tuple(wanted),
            (exclude,) if isinstance(exclude, str) else tuple(exclude),
        )
        data: Self = reading.read_files(kind, paths, csv_format, columns, **options)
        if positive_label is None and not is_plain_order(data.classes):
            warn_of_order(data.classes)
        return data
