"""Rows of files or collections one by one, in their order: read again whenever they are needed.

Equal rows are merged while they are read, and what merges has no order. Folds of a
cross-validation, and figures of their test rows, need one: it is that of the files.
"""

from __future__ import annotations

import copy
import dataclasses
import logging
import math
import os
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim.data.batches import (
    DATA_SUFFIXES,
    CsvFiles,
    FileBatch,
    ParquetFiles,
    Paths,
    find_files,
)
from riskslim.data.csv_format import CsvFormat
from riskslim.data.roles import Columns
from riskslim.data.tables import Table
from riskslim.data.training_data import TrainingData
from riskslim.exceptions import ConstantFeatureWarning, ExtrapolationWarning
from riskslim.rows.reading import Features, Reading, ReadProgress, checked_limit

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["FileRows", "read_files"]

logger = logging.getLogger("riskslim.rows.file_rows")


@dataclasses.dataclass(frozen=True, eq=False)
class FileRows:
    """All rows, or some of them, of files that have been read.

    Parameters
    ----------
    reading : Reading
        Of all rows.
    features : Features
        That were made of them.
    n_rows : int
        Of all files.
    scratch : str or path-like, optional
        Folder for rows that have no room in memory.
    rows : ndarray of intp, optional
        Which rows of all files, in any order, none of them twice. Default: all.
    factors : (float, float), default (1.0, 1.0)
        By which the weights of the negative and of the positive class are multiplied.
    stamps : tuple, optional
        Sizes and times of the files before they were read.
    """

    reading: Reading
    features: Features
    n_rows: int
    scratch: str | os.PathLike[str] | None = None
    rows: NDArray[np.intp] | None = None
    factors: tuple[float, float] = (1.0, 1.0)
    stamps: tuple[tuple[int, int], ...] | None = None
    _known: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False)

    @classmethod
    def after(
        cls, reading: Reading, features: Features, scratch: str | os.PathLike[str] | None
    ) -> FileRows:
        """Rows of files that a reading has read to the end.

        Parameters
        ----------
        reading : Reading
        features : Features
        scratch : str or path-like, optional

        Returns
        -------
        FileRows
        """
        whole = copy.copy(reading)
        whole.progress = whole.rows = None
        return cls(whole, features, reading.n_rows, scratch)

    def of(self, rows: NDArray[np.intp]) -> FileRows:
        """Other rows of the same files.

        Parameters
        ----------
        rows : ndarray of intp

        Returns
        -------
        FileRows

        Raises
        ------
        ValueError
            Rows that are given twice.
        """
        if len(np.unique(rows)) < len(rows):
            raise ValueError("a fold has a row twice: rows of files are read once for each fold")
        return dataclasses.replace(self, rows=rows)

    def weighted(self, factors: tuple[float, float]) -> FileRows:
        """The same rows with weights of classes.

        Parameters
        ----------
        factors : (float, float)

        Returns
        -------
        FileRows
        """
        return dataclasses.replace(self, factors=factors)

    def __len__(self) -> int:
        return self.n_rows if self.rows is None else len(self.rows)

    @property
    def labels(self) -> NDArray[np.int8]:
        """Labels as -1 and +1."""
        return self._chosen(self._labels_and_weights()[0])

    @property
    def sample_weight(self) -> NDArray[np.float64] | None:
        """Weights, with those of the classes; None if all of them are 1."""
        weights = self._labels_and_weights()[1]
        chosen = None if weights is None else self._chosen(weights)
        if self.factors == (1.0, 1.0):
            return chosen
        labels = self.labels
        own = np.ones(len(labels)) if chosen is None else chosen
        return np.asarray(own * np.where(labels > 0, self.factors[1], self.factors[0]))

    def read(self, items: Any = None) -> TrainingData:
        """Read the rows.

        Parameters
        ----------
        items : ItemEncoder, optional
            Fitted to these rows. Default: the features are those of all rows.

        Returns
        -------
        TrainingData
            Its ``files`` are these rows.
        """
        reading = self.reading.on(self._mask())
        reading.event = None
        if items is not None:
            reading.items = items
        with warnings.catch_warnings():
            # Rare values are missing in some folds by chance.
            warnings.simplefilter("ignore", ConstantFeatureWarning)
            chosen = items is None
            features = reading.features_of(reading.first_pass(chosen=chosen), chosen=chosen)
            data = reading.second_pass(features, self.scratch)
            if self.factors != (1.0, 1.0):
                data = data.with_class_weight(dict(zip(data.classes, self.factors, strict=True)))
        reading.rows = None
        data.files = dataclasses.replace(self, reading=reading, features=features)
        return data

    def log_odds(self, score: RiskScore) -> NDArray[np.float64]:
        """Log-odds of the rows by a score.

        Parameters
        ----------
        score : RiskScore

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        reading = self.reading if self.rows is None else self.reading.on(self._mask())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExtrapolationWarning)
            found = np.concatenate([
                score.log_odds(self._features(reading, batch))
                for batch in reading.batches()
                if batch.rows.num_rows
            ])  # fmt: skip
        if self.rows is None:
            return found
        in_order = np.empty(len(found))
        in_order[np.argsort(self.rows)] = found
        return in_order

    def mean_loss(self, vector: NDArray[np.float64], scale: float) -> float | None:
        """Loss of a vector on the rows as they are in the files now.

        Parameters
        ----------
        vector : ndarray of float64, shape (d + 1,)
            Intercept first.
        scale : float

        Returns
        -------
        float or None
            None where files are others than were read, or cannot be read any more, which is logged.
        """
        if self.stamps is None:
            return None
        try:
            if _stamps(self.reading.files.paths) == self.stamps:
                return self._mean_loss(vector, scale)
            reason = "they have changed"
        except (OSError, ValueError) as error:
            reason = str(error)
        except KeyboardInterrupt:  # what was proven before is not lost by it
            reason = "Ctrl-C ended that"
        logger.warning("the score is not compared with the files that were read: %s", reason)
        return None

    def _mean_loss(self, vector: NDArray[np.float64], scale: float) -> float:
        reading = self.reading if self.rows is None else self.reading.on(self._mask())
        used = np.flatnonzero(vector[1:])
        losses, weights = [], []
        for batch in reading.batches():
            if not batch.rows.num_rows:
                continue
            table = self._features(reading, batch)
            margins = np.full(table.n_samples, vector[0])
            for j in used.tolist():
                margins += vector[1 + j] * np.asarray(table.values(j), np.float64)
            labels, own = reading.labels_of(batch, reading.classes[1]), reading.weights_of(batch)
            factors = np.where(labels > 0, self.factors[1], self.factors[0])
            own = factors if own is None else own * factors
            losses.append(float(np.sum(own * np.logaddexp(0, -labels * margins / scale))))
            weights.append(float(np.sum(own)))
        return math.fsum(losses) / math.fsum(weights)

    def _features(self, reading: Reading, batch: FileBatch) -> Table:
        block, given = reading.values_of(batch)
        names = self.features.names
        return Table(batch.rows.num_rows, len(names), names, lambda k: given.get(k, block[:, k]))

    def _mask(self) -> NDArray[np.bool_]:
        mask = np.ones(self.n_rows, np.bool_)
        if self.rows is not None:
            mask[:] = False
            mask[self.rows] = True
        return mask

    def _chosen(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.rows is None else values[self.rows]

    def _labels_and_weights(self) -> tuple[NDArray[np.int8], NDArray[np.float64] | None]:
        """Labels and weights of all rows, read once."""
        if not self._known:
            reading = self.reading.beside()
            labels: list[NDArray[np.int8]] = []
            weights: list[NDArray[np.float64]] = []
            for batch in reading.batches():
                labels.append(reading.labels_of(batch, reading.classes[1]))
                own = reading.weights_of(batch)
                weights += [] if own is None else [own]
            self._known["labels"] = np.concatenate(labels)
            self._known["weights"] = np.concatenate(weights) if weights else None
        return self._known["labels"], self._known["weights"]


def read_files(
    paths: Paths,
    csv_format: CsvFormat | None,
    columns: Columns,
    *,
    items: Any = None,
    memory_limit: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    progress: Callable[[ReadProgress], None] | None = None,
    seed: int = 0,
) -> TrainingData:
    """Read training data in two passes over files.

    Parameters
    ----------
    paths : path-like, or iterable of them
        Files and folders, all CSV or all Parquet.
    csv_format : CsvFormat, optional
        Of CSV files.
    columns : Columns
    items : ItemEncoder, or iterable or mapping of Item, optional
        An encoder is fitted to the rows. Else columns are features as they are, and items say
        what these are.
    memory_limit : int, optional
        Bytes of memory that rows may take here and in a search later. Default:
        :func:`default_memory_limit`.
    scratch : str or path-like, optional
        Folder in which a scratch folder is made for rows that have no room in memory.
    progress : callable, optional
        Called with :class:`ReadProgress` after each batch.
    seed : int, default 0
        Of the sample of columns with too many values to count.

    Returns
    -------
    TrainingData
        With the rows in memory, equal ones merged, or in scratch files.

    Raises
    ------
    ValueError
        Files that cannot be read, or differ in their columns; values that cannot be used, with
        file and row; an outcome that has not two classes in all files; a limit that is none.
    OSError
        The scratch folder cannot be written.
    """
    limit = checked_limit(memory_limit, scratch)
    found = find_files(paths, DATA_SUFFIXES)
    stamps = _stamps(found)
    kinds = {path.suffix.lower() == ".parquet" for path in found}
    if len(kinds) > 1:
        raise ValueError("the files must be all CSV or all Parquet, got both")
    files = ParquetFiles(found) if kinds.pop() else CsvFiles(found, csv_format)
    if isinstance(files, CsvFiles):
        csv_format = files.csv_format
    reading = Reading(files, columns, items, limit, progress, seed)
    features = reading.features_of(reading.first_pass())
    data = reading.second_pass(features, scratch)
    rows = dataclasses.replace(FileRows.after(reading, features, scratch), stamps=stamps)
    data.csv_format, data.files = csv_format, rows
    return data


def _stamps(paths: Iterable[Path]) -> tuple[tuple[int, int], ...]:
    """Sizes of files, and when they were written."""
    return tuple((one.st_size, one.st_mtime_ns) for one in (path.stat() for path in paths))
