"""Rows in files: blocks that are in memory only while they are read."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim.data.row_tiles import as_columns, as_row_tiles
from riskslim.data.store import KernelRows
from riskslim.rows.base import PartitionedRows, RowsSchema, joined, run_in_order
from riskslim.rows.block_files import (
    BlockFileError,
    read_ahead,
    read_block,
    read_header,
    write_block,
)
from riskslim.rows.functions import summarised

__all__ = ["BLOCK_ROWS", "BlockWriter", "DiskRows", "ScratchFolder"]

_Result = TypeVar("_Result")

# Rows of a block: 8 MB of 30 small integers.
BLOCK_ROWS = 2**18

# Most equal rows that are counted by one row.
_MAX_NUMBER = 2**16 - 1


def _removed(path: Path, process: int) -> None:
    # A fork ends with the objects of its parent: the folder is not its own.
    if os.getpid() == process:
        shutil.rmtree(path, ignore_errors=True)


class ScratchFolder:
    """A folder that is gone with its owner: at its end, with the object, or with the process.

    Parameters
    ----------
    parent : str or path-like, optional
        Where it is made. Default: where the system keeps temporary files.

    Attributes
    ----------
    path : Path

    Raises
    ------
    OSError
        It cannot be made.

    Examples
    --------
    >>> from riskslim.rows.disk import ScratchFolder
    >>> with ScratchFolder() as folder:
    ...     path = folder.path
    >>> path.exists()
    False
    """

    def __init__(self, parent: str | os.PathLike[str] | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="riskslim-", dir=parent))
        self._finalizer = weakref.finalize(self, _removed, self.path, os.getpid())

    def remove(self) -> None:
        """Remove it with all that is in it; once more does no harm."""
        self._finalizer()

    def __enter__(self) -> ScratchFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.remove()


class DiskRows(PartitionedRows):
    """Rows in the files of a folder.

    Parameters
    ----------
    folder : ScratchFolder, str or path-like
        A :class:`ScratchFolder` is kept as long as the rows are, and removed with them; another
        folder is left as it is.

    Raises
    ------
    BlockFileError
        There are no files of rows, or one of them is missing, cut off, damaged, or has other
        columns than the first one.

    Notes
    -----
    Each thread has one block in memory. What a file holds is compared with the CRC that was written
    when it is read for the first time, and later with what was read then.
    """

    def __init__(self, folder: ScratchFolder | str | os.PathLike[str]) -> None:
        # Kept for its life: the folder goes with the last one who reads it.
        self._owner = folder if isinstance(folder, ScratchFolder) else None
        self.folder = folder.path if isinstance(folder, ScratchFolder) else Path(folder)
        self.paths = tuple(sorted(self.folder.glob("*.rows")))
        if not self.paths:
            raise BlockFileError(f"{self.folder} has no files of rows")
        headers = [read_header(path) for path in self.paths]
        for number, (path, header) in enumerate(zip(self.paths, headers, strict=True)):
            if path.name != _name(number):
                raise BlockFileError(f"{self.folder / _name(number)} is missing: there are others")
            if header.schema != headers[0].schema:
                raise BlockFileError(f"{path} has other columns than {self.paths[0].name}")
        super().__init__(headers[0].schema, [header.summary for header in headers])
        self.n_bytes = sum(header.size for header in headers)
        self._digests: list[bytes | None] = [None] * len(headers)

    def __enter__(self) -> DiskRows:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the files, if they are in a scratch folder."""
        if self._owner is not None:
            self._owner.remove()

    def __getstate__(self) -> dict[str, Any]:
        # A copy in another process reads the files, and is not their owner.
        return {**self.__dict__, "_owner": None, "should_stop": None}

    def _read(self, number: int) -> KernelRows:
        if number + 1 < len(self.paths):
            read_ahead(self.paths[number + 1])
        part, self._digests[number] = read_block(self.paths[number], self._digests[number])
        return part

    def _call(
        self, function: Callable[..., _Result], number: int, arguments: tuple[Any, ...]
    ) -> _Result:
        return function(self._read(number), *arguments)

    def map(
        self,
        function: Callable[..., _Result],
        *arguments: Any,
        each: Sequence[tuple[Any, ...] | None] | None = None,
    ) -> Iterator[_Result]:
        """Call a function with each block; see :meth:`PartitionedRows.map`."""
        own: Sequence[tuple[Any, ...] | None] = [()] * self.n_parts if each is None else each
        calls = (
            functools.partial(self._call, function, number, (*before, *arguments))
            for number, before in enumerate(own)
            if before is not None
        )
        return run_in_order(calls, self.n_threads, self.check_stop)


def _name(number: int) -> str:
    return f"{number:06d}.rows"


class BlockWriter:
    """Writes rows to a folder as they come.

    Parameters
    ----------
    folder : ScratchFolder, str or path-like
        Without files of rows.
    schema : RowsSchema
        The columns of all rows.
    block_rows : int, default 262144
        Rows of a block; a multiple of 16.

    Attributes
    ----------
    n_rows : int
        Rows so far.
    n_bytes : int
        Bytes that were written so far.

    Raises
    ------
    ValueError
        A schema or a number of rows that cannot be.

    Notes
    -----
    A scratch folder is removed where a write fails, on a full disk for example, and where the
    context ends with an error.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.rows.base import RowsSchema
    >>> from riskslim.rows.disk import BlockWriter, ScratchFolder
    >>> with BlockWriter(ScratchFolder(), RowsSchema((0, 1), ())) as writer:
    ...     writer.append(np.array([[0, 1], [1, 1], [1, 0]], np.int8), None, [-1, 1, 1])
    ...     rows = writer.finish()
    >>> rows
    DiskRows(3 rows in 1 parts, 2 features)
    >>> rows.close()
    """

    def __init__(
        self,
        folder: ScratchFolder | str | os.PathLike[str],
        schema: RowsSchema,
        *,
        block_rows: int = BLOCK_ROWS,
    ) -> None:
        schema.check()
        if block_rows < 1:
            raise ValueError(f"block_rows must be at least 1, got {block_rows}")
        self._given = folder
        self.folder = folder.path if isinstance(folder, ScratchFolder) else Path(folder)
        if any(self.folder.glob("*.rows")):
            raise ValueError(f"{self.folder} has files of rows already")
        self.schema = schema
        self.block_rows = block_rows
        self.n_rows = 0
        self.n_bytes = 0
        self._n_blocks = 0
        self._waiting: list[KernelRows] = []
        self._n_waiting = 0

    def __enter__(self) -> BlockWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            self.discard()

    def discard(self) -> None:
        """Remove what was written."""
        self._waiting = []
        if isinstance(self._given, ScratchFolder):
            self._given.remove()
            return
        for number in range(self._n_blocks):
            with contextlib.suppress(OSError):
                (self.folder / _name(number)).unlink(missing_ok=True)

    def append(
        self,
        integer_columns: NDArray[np.int8] | None,
        real_columns: NDArray[np.float64] | None,
        labels: ArrayLike,
        weights: ArrayLike | None = None,
    ) -> None:
        """Add rows.

        Parameters
        ----------
        integer_columns : int8 array of shape (m, d_int), optional
            Those of the schema, in its order.
        real_columns : float64 array of shape (m, d_real), optional
        labels : array-like of shape (m,)
            -1 or +1.
        weights : array-like of shape (m,), optional
            Weights, or numbers of equal rows: whole numbers of at least 1, of any size.

        Raises
        ------
        ValueError
            Shapes or values that do not fit.
        OSError
            A file cannot be written.
        """
        part = self._part(integer_columns, real_columns, labels, weights)
        self.n_rows += part.n_rows
        begin = 0
        while begin < part.n_rows:
            end = min(part.n_rows, begin + self.block_rows - self._n_waiting)
            self._waiting.append(_cut(part, begin, end))
            self._n_waiting += end - begin
            begin = end
            if self._n_waiting == self.block_rows:
                self._write()

    def _part(
        self,
        integer_columns: NDArray[np.int8] | None,
        real_columns: NDArray[np.float64] | None,
        labels: ArrayLike,
        weights: ArrayLike | None,
    ) -> KernelRows:
        signs = np.asarray(labels)
        n = len(signs)
        if not (np.abs(signs) == 1).all():
            raise ValueError("labels must be -1 or +1")
        integers = np.empty((n, 0), np.int8) if integer_columns is None else integer_columns
        reals = np.empty((n, 0)) if real_columns is None else np.asarray(real_columns, np.float64)
        shapes = (n, len(self.schema.integer_index)), (n, len(self.schema.real_index))
        if (integers.shape, reals.shape) != shapes or integers.dtype != np.int8:
            raise ValueError(
                f"expected int8 columns of shape {shapes[0]} and real ones of shape {shapes[1]}, "
                f"got {integers.dtype} {integers.shape} and {reals.shape}"
            )
        if not np.isfinite(reals).all():
            raise ValueError("real columns must be finite")
        if (weights is None) != (self.schema.weighting == "none"):
            raise ValueError(f"weighting {self.schema.weighting!r} and weights do not go together")
        given = np.empty(0) if weights is None else np.asarray(weights, np.float64)
        if weights is not None and (
            given.shape != (n,) or not np.isfinite(given).all() or (given < 0).any()
        ):
            raise ValueError(f"weights must be {n} finite numbers of at least 0")
        numbers = np.empty(0, np.uint16)
        if self.schema.weighting == "numbers":
            if (given != np.rint(given)).any() or (given < 1).any():
                raise ValueError("numbers of rows must be whole numbers of at least 1")
            index, given = _split(given)
            if len(index) > n:
                integers, reals, signs = integers[index], reals[index], signs[index]
            numbers = given.astype(np.uint16)
        return KernelRows(
            integer_columns=np.asfortranarray(integers),
            integer_index=np.array(self.schema.integer_index, np.intp),
            real_row_tiles=as_row_tiles(reals),
            real_index=np.array(self.schema.real_index, np.intp),
            labels=signs.astype(np.int8),
            weights=given,
            numbers=numbers,
            total_weight=1.0,
            n_samples=0,
        )

    def _write(self) -> None:
        part = joined(self._waiting)
        path = self.folder / _name(self._n_blocks)
        try:
            self.n_bytes += write_block(path, part, self.schema, summarised(part))
        except OSError:
            self.discard()
            raise
        self._n_blocks += 1
        self._waiting, self._n_waiting = [], 0

    def finish(self) -> DiskRows:
        """Write what is left.

        Returns
        -------
        DiskRows
            All rows; it owns the folder if that is a scratch folder.

        Raises
        ------
        ValueError
            There are no rows.
        OSError
            A file cannot be written.
        """
        if self._n_waiting:
            self._write()
        if not self._n_blocks:
            raise ValueError("there are no rows")
        return DiskRows(self._given)


def _cut(part: KernelRows, begin: int, end: int) -> KernelRows:
    """Copy consecutive rows."""
    if (begin, end) == (0, part.n_rows):
        return part
    rows = slice(begin, end)
    reals = as_columns(part.real_row_tiles, part.n_rows)[rows]
    return KernelRows(
        integer_columns=np.asfortranarray(part.integer_columns[rows]),
        integer_index=part.integer_index,
        real_row_tiles=as_row_tiles(reals),
        real_index=part.real_index,
        labels=part.labels[rows].copy(),
        weights=part.weights[rows].copy(),
        numbers=part.numbers[rows].copy(),
        total_weight=1.0,
        n_samples=0,
    )


def _split(numbers: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Repeat rows that stand for too many, so that each part counts few enough."""
    times = np.maximum(np.ceil(numbers / _MAX_NUMBER), 1).astype(np.int64)
    index = np.repeat(np.arange(len(numbers)), times)
    parts = np.full(len(index), float(_MAX_NUMBER))
    parts[np.cumsum(times) - 1] = numbers - (times - 1.0) * _MAX_NUMBER
    return index, parts
