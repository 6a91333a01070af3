r"""Files of rows: one block of some hundred thousand rows each.

A file begins with eight bytes that name the format, the length of the header (uint64, little
endian), a CRC of the header and one of all that follows it (uint32 each), and the header itself:
JSON that says how many rows there are, how columns are stored, and where. Arrays begin at multiples
of 128 bytes.

``labels``
    One bit per row: 1 for +1.
``numbers`` or ``weights``
    uint16 or float64, where rows have them.
``bits``
    Integer columns of two values v, v + 1 in this block: one bit per row, column after column, each
    from a new byte on.
``bytes``
    The other integer columns, int8.
``row_tiles``
    Real columns, in the row tiles of :mod:`riskslim.data.row_tiles`: read where they are, without a
    copy.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.data.row_tiles import TILE_ROWS
from riskslim.data.store import KernelRows
from riskslim.exceptions import RowsLostError
from riskslim.rows.base import RowsSchema
from riskslim.rows.functions import PartSummary

__all__ = ["BlockFileError", "Header", "read_ahead", "read_block", "read_header", "write_block"]

_MAGIC = b"rsblock1"
_ALIGNMENT = 128
_PREFIX = len(_MAGIC) + 8 + 4 + 4
_DIGEST_WORDS = 509


class BlockFileError(RowsLostError, OSError):
    """A file of rows is missing, cut off or not as it was written.

    Parameters
    ----------
    reason : str
        Which one, and what of it.
    """


class Header(NamedTuple):
    """Description of the rows of a file.

    Parameters
    ----------
    schema : RowsSchema
    summary : PartSummary
    bit_slots : tuple of int
        Integer columns that are stored as bits.
    bit_base : tuple of int
        Value of each where its bit is 0.
    offsets : dict from str to int
        Where arrays begin in the file.
    size, payload_crc, begin : int
        Bytes of the file, CRC of those after the header, and where they begin.
    """

    schema: RowsSchema
    summary: PartSummary
    bit_slots: tuple[int, ...]
    bit_base: tuple[int, ...]
    offsets: dict[str, int]
    size: int
    payload_crc: int
    begin: int


def write_block(path: Path, part: KernelRows, schema: RowsSchema, summary: PartSummary) -> int:
    """Write a file of rows.

    Parameters
    ----------
    path : Path
        Its name; there must be no such file.
    part : KernelRows
    schema : RowsSchema
    summary : PartSummary

    Returns
    -------
    int
        Bytes of the file.

    Raises
    ------
    OSError
        It cannot be written; nothing is left of it.
    """
    least = summary.feature_min[part.integer_index]
    most = summary.feature_max[part.integer_index]
    is_bits = most - least <= 1
    slots = np.flatnonzero(is_bits)
    arrays: dict[str, NDArray[Any]] = {"labels": np.packbits(part.labels > 0, bitorder="little")}
    if schema.weighting == "numbers":
        arrays["numbers"] = part.numbers.astype("<u2")
    elif schema.weighting == "weights":
        arrays["weights"] = part.weights.astype("<f8")
    bits = np.empty((len(slots), -(-part.n_rows // 8)), np.uint8)
    for k, slot in enumerate(slots.tolist()):
        is_one = part.integer_columns[:, slot] != least[slot]
        bits[k] = np.packbits(is_one, bitorder="little")
    arrays["bits"] = bits
    arrays["bytes"] = part.integer_columns[:, ~is_bits].T
    arrays["row_tiles"] = part.real_row_tiles.astype("<f8", copy=False)
    stored = {
        "n_rows": part.n_rows,
        "n_samples": summary.n_samples,
        "n_counted": summary.n_counted,
        "class_weights": summary.class_weights,
        "integer_index": schema.integer_index,
        "real_index": schema.real_index,
        "weighting": schema.weighting,
        "feature_min": summary.feature_min.tolist(),
        "feature_max": summary.feature_max.tolist(),
        "bit_slots": slots.tolist(),
        "bit_base": least[slots].astype(int).tolist(),
        "sizes": {name: array.nbytes for name, array in arrays.items()},
    }
    text = json.dumps(stored).encode()
    pieces: list[bytes | memoryview] = []
    at = _PREFIX + len(text)
    crc = 0
    for array in arrays.values():
        for piece in (bytes(-at % _ALIGNMENT), np.ascontiguousarray(array).data.cast("B")
                      if array.nbytes else b""):  # fmt: skip
            pieces.append(piece)
            crc = zlib.crc32(piece, crc)
            at += len(piece)
    prefix = (
        _MAGIC + len(text).to_bytes(8, "little") + zlib.crc32(text).to_bytes(4, "little")
        + crc.to_bytes(4, "little")
    )  # fmt: skip
    try:
        with path.open("xb") as file:
            for piece in (prefix, text, *pieces):
                file.write(piece)
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return at


def _opened(path: Path) -> mmap.mmap:
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise BlockFileError(f"{path} is missing: rows were stored there") from None
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise BlockFileError(f"{path} cannot be read: {error}") from error


def read_header(path: Path) -> Header:
    """Read what a file says of its rows.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Header

    Raises
    ------
    BlockFileError
        There is no such file, or it is not as it was written.
    """
    with _opened(path) as file:
        return _parsed(path, file)


def _parsed(path: Path, file: mmap.mmap) -> Header:
    if len(file) < _PREFIX or file[: len(_MAGIC)] != _MAGIC:
        raise BlockFileError(f"{path} is not a file of rows of this version, or it was cut off")
    length = int.from_bytes(file[8:16], "little")
    begin = _PREFIX + length
    text = file[_PREFIX:begin] if begin <= len(file) else b""
    if zlib.crc32(text) != int.from_bytes(file[16:20], "little") or not text:
        raise BlockFileError(f"{path} is damaged: its header is not as it was written")
    stored = json.loads(text)
    offsets, at = {}, begin
    for name, size in stored["sizes"].items():
        at += -at % _ALIGNMENT
        offsets[name] = at
        at += size
    if len(file) != at:
        raise BlockFileError(f"{path} is cut off: it has {len(file)} bytes instead of {at}")
    schema = RowsSchema(
        tuple(stored["integer_index"]), tuple(stored["real_index"]), stored["weighting"]
    )
    negative, positive = stored["class_weights"]
    summary = PartSummary(
        stored["n_rows"], stored["n_samples"], stored["n_counted"], (negative, positive),
        np.array(stored["feature_min"], np.float64), np.array(stored["feature_max"], np.float64),
    )  # fmt: skip
    return Header(
        schema, summary, tuple(stored["bit_slots"]), tuple(stored["bit_base"]), offsets, at,
        int.from_bytes(file[20:24], "little"), begin,
    )  # fmt: skip


def read_block(path: Path, digest: bytes | None = None) -> tuple[KernelRows, bytes]:
    """Read the rows of a file.

    Parameters
    ----------
    path : Path
    digest : bytes, optional
        Of its bytes at an earlier read. Default: they are compared with the CRC that was written,
        which takes longer.

    Returns
    -------
    KernelRows
        Real columns lie in the file, which is mapped as long as they are used; all else is in
        memory.
    bytes
        The digest of all bytes.

    Raises
    ------
    BlockFileError
        There is no such file, or it is not as it was written.
    """
    file = _opened(path)
    found = _digest(file)
    if digest is not None and found != digest:
        raise BlockFileError(f"{path} is damaged: its bytes are not those that were written")
    header = _parsed(path, file)
    if digest is None and zlib.crc32(memoryview(file)[header.begin :]) != header.payload_crc:
        raise BlockFileError(f"{path} is damaged: its bytes are not those that were written")
    n, offsets, schema = header.summary.n_rows, header.offsets, header.schema

    def stored(name: str, dtype: str, count: int) -> NDArray[Any]:
        return np.frombuffer(file, dtype, count, offsets[name])

    numbers, weights = np.empty(0, np.uint16), np.empty(0)
    if schema.weighting == "numbers":
        numbers = stored("numbers", "<u2", n).astype(np.uint16)
        weights = numbers.astype(np.float64)
    elif schema.weighting == "weights":
        weights = stored("weights", "<f8", n).astype(np.float64)
    d_real = len(schema.real_index)
    shape = (-(-n // TILE_ROWS), d_real, TILE_ROWS)
    row_tiles = stored("row_tiles", "<f8", shape[0] * d_real * TILE_ROWS).reshape(shape)
    part = KernelRows(
        integer_columns=_integer_columns(file, header),
        integer_index=np.array(schema.integer_index, np.intp),
        real_row_tiles=row_tiles.astype(np.float64, copy=False),
        real_index=np.array(schema.real_index, np.intp),
        labels=np.int8(2) * _unpacked(stored("labels", "u1", -(-n // 8)), n) - np.int8(1),
        weights=weights,
        numbers=numbers,
        total_weight=sum(header.summary.class_weights),
        n_samples=header.summary.n_samples,
    )
    return part, found


def _digest(file: mmap.mmap) -> bytes:
    """Return a digest of a file, at the speed of memory: a CRC takes longer than most passes.

    The file is a table of so many words of 8 bytes in a row, whose columns are summed up. Every
    change of one word changes the sum of its column. Rows are no multiple of pages or sectors, so
    that one of these in place of another changes other columns.
    """
    n_rows = len(file) // (8 * _DIGEST_WORDS)
    words = np.frombuffer(file, np.uint64, n_rows * _DIGEST_WORDS).reshape(-1, _DIGEST_WORDS)
    digest = hashlib.blake2b(np.add.reduce(words, axis=0), digest_size=16)
    digest.update(memoryview(file)[words.nbytes :])
    return digest.digest()


def _integer_columns(file: mmap.mmap, header: Header) -> NDArray[np.int8]:
    n, d_int = header.summary.n_rows, len(header.schema.integer_index)
    columns = np.empty((n, d_int), np.int8, order="F")
    n_bytes = -(-n // 8)
    at = header.offsets["bits"]
    for slot, base in zip(header.bit_slots, header.bit_base, strict=True):
        packed = np.frombuffer(file, np.uint8, n_bytes, at)
        columns[:, slot] = _unpacked(packed, n)
        if base:
            columns[:, slot] += np.int8(base)
        at += n_bytes
    at = header.offsets["bytes"]
    as_bits = set(header.bit_slots)
    for slot in range(d_int):
        if slot not in as_bits:
            columns[:, slot] = np.frombuffer(file, np.int8, n, at)
            at += n
    return columns


def _unpacked(packed: NDArray[np.uint8], n: int) -> NDArray[np.int8]:
    return np.unpackbits(packed, count=n, bitorder="little").view(np.int8)


def read_ahead(path: Path) -> None:
    """Tell the system that a file is read next, where it can be told.

    Parameters
    ----------
    path : Path
    """
    if not hasattr(os, "posix_fadvise"):
        return
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return  # the read itself says what is wrong
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_WILLNEED)
    finally:
        os.close(descriptor)
