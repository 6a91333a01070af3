"""Numba counterpart of chains.pyx: the same kernels, arguments and results."""

from __future__ import annotations

import numpy as np
from numba import float64, int32, int64, uint8, uint16, uint64

from riskslim._kernels.numba_backend import chunks
from riskslim._kernels.numba_backend.compiled import helper, kernel, read, write

_ZERO, _ONE = np.uint64(0), np.uint64(1)


@helper
def _is_within(a, b):
    i = 0
    while i < a.shape[0] and not a[i] & ~b[i]:
        i += 1
    return i == a.shape[0]


@helper
def _nearest_holder(planes, p, reach, longest, chain, length, is_last):
    for distance in range(1, reach + 1):
        for side in range(2):
            q = p - distance if side == 0 else p + distance
            if q < 0 or q >= planes.shape[0] or not is_last[q] or length[chain[q]] >= longest:
                continue
            if _is_within(planes[p], planes[q]):
                return q
    return -1


@kernel(
    read(uint64, 2), read(int64), int64, int64, write(int64), write(int64), write(uint8)
)  # fmt: skip
def find_chains(planes, order, reach, longest, chain, length, is_last):
    n_chains = 0
    is_last[:] = 0
    for i in range(order.shape[0]):
        p = order[i]
        q = _nearest_holder(planes, p, reach, longest, chain, length, is_last)
        if q >= 0:
            is_last[q] = 0
            chain[p] = chain[q]
            length[chain[p]] += 1
        else:
            chain[p] = n_chains
            length[n_chains] = 1
            n_chains += 1
        is_last[p] = 1
    return n_chains


@kernel(read(uint64, 2), read(int64), write(uint16))
def fill_ranks(planes, members, rank):
    n = members.shape[0]
    rank[:] = 0
    for t in range(n):
        for w in range(planes.shape[1]):
            only = planes[members[t], w]
            if t + 1 < n:
                only &= ~planes[members[t + 1], w]
            i = 64 * w
            while only != _ZERO:
                if only & _ONE:
                    rank[i] = t + 1
                only >>= _ONE
                i += 1


@kernel(read(uint64, 2), write(uint8))
def fill_groups(masks, group):
    group[:] = 0
    for r in range(1, masks.shape[0]):
        for w in range(masks.shape[1]):
            word = masks[r, w]
            i = 64 * w
            while word != _ZERO:
                if word & _ONE:
                    group[i] = r
                word >>= _ONE
                i += 1


@kernel(
    read(uint16, 2), read(uint8), read(int64), read(int64), read(int64), read(int64), read(int64),
    read(float64), write(int32, 2), write(float64, 3), read(int64), int64, int64, int64,
)  # fmt: skip
def _sweep_chains(
    ranks, group, chosen, first, members, first_word, side, weight, scratch, out, stop, begin, end,
    worker,
):  # fmt: skip
    n = out.shape[2]
    count = scratch[worker]
    for item in range(begin, end):
        if stop[0]:
            return
        c = chosen[item]
        length = first[c + 1] - first[c]
        planes = members[first[c] : first[c + 1]]
        rank = ranks[c]
        for t in range(length):
            out[planes[t]] = 0.0
        for g in range(side.shape[0]):
            count[: (length + 1) * n] = 0
            for i in range(64 * first_word[g], 64 * first_word[g + 1]):
                count[np.int64(rank[i]) * n + np.int64(group[i])] += 1
            for t in range(length, 0, -1):
                if t < length:
                    for r in range(n):
                        count[t * n + r] += count[(t + 1) * n + r]
                for r in range(n):
                    out[planes[t - 1], side[g], r] += weight[g] * np.float64(count[t * n + r])


def sweep_chains(
    ranks, group, chosen, first, members, first_word, side, weight, scratch, out, stop, n_threads
):
    def work(begin, end, worker):
        _sweep_chains(
            ranks, group, chosen, first, members, first_word, side, weight, scratch, out, stop,
            begin, end, worker,
        )  # fmt: skip

    chunks.run(work, len(chosen), n_threads)
