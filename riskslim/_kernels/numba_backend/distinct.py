"""Numba counterpart of distinct.pyx: the same kernels, arguments and results."""

from __future__ import annotations

import numpy as np
from numba import float64, int8, int64, uint64

from riskslim._kernels.numba_backend import blocks
from riskslim._kernels.numba_backend.compiled import helper, inlined, kernel, read, write

_ROWS = 512
# Unsigned constants: numba turns unsigned combined with signed 64-bit integers into floats.
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_GROUP_MASK = np.uint64((1 << 40) - 1)
_MIX, _FINISH = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_MIX_SHIFT, _FINISH_SHIFT = np.uint64(32), np.uint64(29)


def block_rows():
    return _ROWS


@inlined
def _mix(hashed, word):
    hashed = (hashed ^ word) * _MIX
    return hashed ^ (hashed >> _MIX_SHIFT)


@inlined
def _finish(hashed):
    hashed = hashed * _FINISH
    return hashed ^ (hashed >> _FINISH_SHIFT)


@inlined
def _slot(hashed, group):
    return (hashed & ~_GROUP_MASK) | np.uint64(group + 1)


@inlined
def _group(slot):
    return np.int64((slot & _GROUP_MASK) - _ONE)


@helper
def _put_bytes(word, x, shift):
    for i in range(x.shape[0]):
        word[i] |= np.uint64(np.uint8(x[i])) << np.uint64(shift)


@helper
def _read_rows(plane, hashes, columns, row_tiles, labels, places, start, end):
    """Words and hashes of some rows."""
    m, n_all = end - start, plane.shape[0]
    n_packed = n_all - row_tiles.shape[1]
    for k in range(n_packed):
        for i in range(m):
            plane[k, i] = _ZERO
    _put_bytes(plane[0], labels[start:end], 0)
    for j in range(columns.shape[0]):
        _put_bytes(plane[places[j] // 64], columns[j, start:end], places[j] % 64)
    for j in range(row_tiles.shape[1]):
        word = plane[n_packed + j]
        for i in range(m):
            x = row_tiles[(start + i) // blocks.ROW_TILE, j, (start + i) % blocks.ROW_TILE]
            # Adding zero turns -0.0 into 0.0 and changes no other value.
            word[i] = np.uint64(np.float64(x + 0.0).view(np.int64))
    for i in range(m):
        hashes[i] = _ZERO
    for k in range(n_all):
        word = plane[k]
        for i in range(m):
            hashes[i] = _mix(hashes[i], word[i])
    for i in range(m):
        hashes[i] = _finish(hashes[i])


@inlined
def _same_words(keys, group, plane, i):
    for k in range(keys.shape[1]):  # noqa: SIM110 (numba knows no all())
        if keys[group, k] != plane[k, i]:
            return False
    return True


@kernel(
    *(read(int8, 2), read(float64, 3), read(int8), read(float64, 2), read(int64), int64, int64),
    *(write(uint64, 2), write(uint64), write(uint64, 2), write(int64), write(int64)),
    *(write(float64, 2), write(uint64)),
)
def _group_rows(
    columns, row_tiles, labels, weights, places, row, n_groups, plane, slots, keys, first,
    counts, sums, hashes,
):  # fmt: skip
    n, words = labels.shape[0], keys.shape[1]
    capacity = min(keys.shape[0], slots.shape[0] // 2)
    mask = np.uint64(slots.shape[0] - 1)
    while row < n and n_groups + _ROWS <= capacity:
        m = min(_ROWS, n - row)
        _read_rows(plane[:words], hashes, columns, row_tiles, labels, places, row, row + m)
        for i in range(m):
            at = hashes[i] & mask
            while True:
                slot = slots[at]
                if slot == _ZERO:
                    group = n_groups
                    n_groups += 1
                    slots[at] = _slot(hashes[i], group)
                    for k in range(words):
                        keys[group, k] = plane[k, i]
                    if first.shape[0]:
                        first[group] = row + i
                    counts[group] = 0
                    for w in range(sums.shape[1]):
                        sums[group, w] = 0.0
                    break
                group = _group(slot)
                same_hash = ((slot ^ hashes[i]) & ~_GROUP_MASK) == _ZERO
                if same_hash and _same_words(keys, group, plane, i):
                    break
                at = (at + _ONE) & mask
            counts[group] += 1
            for w in range(weights.shape[0]):
                sums[group, 2 * w], sums[group, 2 * w + 1] = blocks.add(
                    sums[group, 2 * w], sums[group, 2 * w + 1], weights[w, row + i]
                )
        row += m
    return row, n_groups


def group_rows(columns, row_tiles, *arguments):
    return _group_rows(columns.T, row_tiles, *arguments, np.empty(_ROWS, np.uint64))


@inlined
def _hash_of(keys, group):
    hashed = _ZERO
    for k in range(keys.shape[1]):
        hashed = _mix(hashed, keys[group, k])
    return _finish(hashed)


@inlined
def _same_keys(keys, group, others, other):
    for k in range(keys.shape[1]):  # noqa: SIM110 (numba knows no all())
        if keys[group, k] != others[other, k]:
            return False
    return True


@kernel(
    *(read(uint64, 2), read(int64), read(int64), read(float64, 2), int64, int64, int64),
    *(write(uint64), write(uint64, 2), write(int64), write(int64), write(float64, 2)),
)
def merge_groups(
    from_keys, from_first, from_counts, from_sums, group, end, n_groups, slots, keys, first,
    counts, sums,
):  # fmt: skip
    capacity = min(keys.shape[0], slots.shape[0] // 2)
    mask = np.uint64(slots.shape[0] - 1)
    while group < end and n_groups + _ROWS <= capacity:
        last = min(group + _ROWS, end)
        while group < last:
            hashed = _hash_of(from_keys, group)
            at = hashed & mask
            while True:
                slot = slots[at]
                if slot == _ZERO:
                    own = n_groups
                    n_groups += 1
                    slots[at] = _slot(hashed, own)
                    for k in range(keys.shape[1]):
                        keys[own, k] = from_keys[group, k]
                    first[own] = from_first[group]
                    counts[own] = 0
                    for w in range(sums.shape[1]):
                        sums[own, w] = 0.0
                    break
                own = _group(slot)
                same_hash = ((slot ^ hashed) & ~_GROUP_MASK) == _ZERO
                if same_hash and _same_keys(keys, own, from_keys, group):
                    break
                at = (at + _ONE) & mask
            counts[own] += from_counts[group]
            for w in range(sums.shape[1] // 2):
                high, low = blocks.add(
                    sums[own, 2 * w], sums[own, 2 * w + 1], from_sums[group, 2 * w]
                )
                sums[own, 2 * w] = high
                sums[own, 2 * w + 1] = low + from_sums[group, 2 * w + 1]
            group += 1
    return group, n_groups


@kernel(read(uint64, 2), int64, write(uint64))
def fill_slots(keys, n_groups, slots):
    mask = np.uint64(slots.shape[0] - 1)
    for group in range(n_groups):
        hashed = _hash_of(keys, group)
        at = hashed & mask
        while slots[at] != _ZERO:
            at = (at + _ONE) & mask
        slots[at] = _slot(hashed, group)
