"""Numba counterpart of ranges.pyx: the same kernels, arguments and results."""

from __future__ import annotations

from numba import float64, int8, int64

from riskslim._kernels.numba_backend import blocks
from riskslim._kernels.numba_backend.chunks import CHUNK, n_chunks, run
from riskslim._kernels.numba_backend.compiled import helper, kernel, read, write

_ROWS = 256


def row_block():
    return _ROWS


@helper
def _add_contribution(column, lower, upper, keep, x, below, low, high, top_low, top_high):
    """Let one column contribute to ``low`` and ``high``; x and below are scratch."""
    required = lower > 0.0 or upper < 0.0
    for i in range(low.shape[0]):
        a, b = lower * column[i], upper * column[i]
        x[i] = a if a > b else b
        below[i] = b if a > b else a
    if required:
        for i in range(low.shape[0]):
            high[i] += x[i]
            low[i] += below[i]
        return
    # A feature that may stay out never has to lower the best score.
    for i in range(low.shape[0]):
        x[i] = x[i] if x[i] > 0.0 else 0.0
        below[i] = -below[i] if below[i] < 0.0 else 0.0
    if keep < 0:
        for i in range(low.shape[0]):
            high[i] += x[i]
            low[i] -= below[i]
        return
    blocks.insert_largest(top_high, x)
    blocks.insert_largest(top_low, below)


@helper
def _clear(values):
    for i in range(values.shape[0]):
        values[i] = 0.0


@kernel(
    *(read(int8, 2), read(float64), read(float64), read(float64, 3), read(float64)),
    *(read(float64), int64, int64, write(float64, 2), write(float64), write(float64)),
    *(int64, int64),
)
def _row_ranges(
    columns, lower, upper, row_tiles, real_lower, real_upper, keep, offset, workspace,
    low, high, begin, end,
):  # fmt: skip
    kept = max(keep, 0)
    for start in range(begin, end, _ROWS):
        m = min(_ROWS, end - start)
        first, last = offset + start, offset + start + m
        x, below = workspace[0, :m], workspace[1, :m]
        top_low, top_high = workspace[2 : 2 + kept], workspace[2 + kept : 2 + 2 * kept]
        least, most = low[start : start + m], high[start : start + m]
        for t in range(kept):
            _clear(top_low[t])
            _clear(top_high[t])
        _clear(least)
        _clear(most)
        for j in range(lower.shape[0]):
            if lower[j] != 0.0 or upper[j] != 0.0:
                _add_contribution(
                    columns[j, first:last], lower[j], upper[j], keep, x, below,
                    least, most, top_low, top_high,
                )  # fmt: skip
        for j in range(real_lower.shape[0]):
            if real_lower[j] != 0.0 or real_upper[j] != 0.0:
                blocks.unpack_column(x, row_tiles, first, j)
                _add_contribution(
                    x, real_lower[j], real_upper[j], keep, x, below,
                    least, most, top_low, top_high,
                )  # fmt: skip
        for t in range(kept):
            for i in range(m):
                least[i] -= top_low[t, i]
                most[i] += top_high[t, i]


def row_ranges(
    columns, lower, upper, row_tiles, real_lower, real_upper, keep, first, workspace,
    low, high, n_threads,
):  # fmt: skip
    arguments = (columns.T, lower, upper, row_tiles, real_lower, real_upper, keep, first)
    run(
        lambda begin, end, worker: _row_ranges(
            *arguments, workspace[worker], low, high, begin * CHUNK, min(end * CHUNK, len(low))
        ),
        n_chunks(len(low)),
        n_threads,
    )
