"""Passes over chunks of the rows: the counterpart of threads.h, with threads of Python's own.

Kernels release the GIL, so that plain threads run them side by side; none of numba's threading
layers is needed. What is summed by chunk is added in the order of the chunks: the results do not
depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable

from numba import float64

from riskslim._kernels.numba_backend.blocks import BLOCK, add_to
from riskslim._kernels.numba_backend.compiled import helper, kernel, read, write
from riskslim._threads import Pool

CHUNK = 8 * BLOCK
_PARTS = 16


def n_chunks(n):
    return (n + CHUNK - 1) // CHUNK


@helper
def n_parts(n, cells):
    """Parts of n rows that get a histogram of their own: as many as are cheap to add up."""
    return max(1, min(n // (8 * cells), _PARTS, (n + CHUNK - 1) // CHUNK))


@helper
def part_begin(n, parts, part):
    """First row of a part; parts begin where chunks do."""
    return min((n + CHUNK - 1) // CHUNK * part // parts * CHUNK, n)


def n_workers(n_items, n_threads):
    return max(1, min(n_items, n_threads))


def run(work: Callable[[int, int, int], object], n_items: int, n_threads: int) -> None:
    """Call work(first, end, worker) for ranges of items, which together are all of them."""
    workers = n_workers(n_items, n_threads)
    if workers == 1:
        work(0, n_items, 0)
        return
    edges = [n_items * k // workers for k in range(workers + 1)]
    with Pool(workers) as pool:
        for _ in pool.map(work, edges[:-1], edges[1:], range(workers)):
            pass


@kernel(read(float64, 3), write(float64, 2))
def add_chunks(sums, total):
    """Add sums[chunk, k] to total[k], chunk by chunk; either has its rounding error beside it."""
    for chunk in range(sums.shape[0]):
        for k in range(total.shape[0]):
            add_to(total, k, sums[chunk, k, 0])
            total[k, 1] += sums[chunk, k, 1]
