# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Smallest and largest score of each row over a box with at most k non-zero coefficients."""

from libc.stdint cimport int8_t

from riskslim._kernels.row_tiles cimport rs_row_tiles, rs_unpack_column
from riskslim._kernels.pool cimport run
from riskslim._kernels.threads cimport RS_CHUNK, n_chunks, n_workers


cdef extern from "blocks.h" nogil:
    void rs_insert_largest(double *top, double *value, Py_ssize_t k, Py_ssize_t n) noexcept


# Rows per block: k values per row stay in the first-level cache for the usual k.
cdef enum:
    ROWS = 256


def row_block():
    """Rows per block, for the size of the workspace."""
    return ROWS


cdef inline void add_contribution(
    double lower, double upper, Py_ssize_t keep, Py_ssize_t n,
    double *x, double *below, double *low, double *high, double *top_low, double *top_high,
) noexcept nogil:
    """Let one column contribute to ``low`` and ``high``; x and below are scratch."""
    cdef Py_ssize_t i
    cdef double a, b
    cdef bint required = lower > 0.0 or upper < 0.0
    for i in range(n):
        a = lower * x[i]
        b = upper * x[i]
        x[i] = max(a, b)
        below[i] = min(a, b)
    if required or keep < 0:
        # max(., 0): a feature that may stay out never has to lower the best score.
        for i in range(n):
            high[i] += x[i] if required else max(x[i], 0.0)
            low[i] += below[i] if required else min(below[i], 0.0)
        return
    for i in range(n):
        x[i] = max(x[i], 0.0)
        below[i] = max(-below[i], 0.0)
    rs_insert_largest(top_high, x, keep, n)
    rs_insert_largest(top_low, below, keep, n)


cdef struct Rows:
    Py_ssize_t n
    Py_ssize_t first             # row of the columns that comes first
    Py_ssize_t stride            # rows of a column
    Py_ssize_t d
    Py_ssize_t keep
    const int8_t *columns
    const double *lower
    const double *upper
    rs_row_tiles row_tiles
    const double *real_lower
    const double *real_upper
    double *workspace            # of the first worker
    Py_ssize_t scratch           # entries per worker
    double *low
    double *high


cdef void range_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t start = chunk * RS_CHUNK, end = min(rows.n, start + RS_CHUNK)
    cdef double *workspace = rows.workspace + worker * rows.scratch
    while start < end:
        range_block(rows, start, min(ROWS, end - start), workspace)
        start += ROWS


cdef void range_block(
    const Rows *rows, Py_ssize_t start, Py_ssize_t n, double *x
) noexcept nogil:
    cdef Py_ssize_t i, j, t, kept = max(rows.keep, 0)
    cdef double *below = x + ROWS
    cdef double *top_low = below + ROWS
    cdef double *top_high = top_low + kept * ROWS
    cdef double *low = rows.low + start
    cdef double *high = rows.high + start
    cdef const int8_t *integers
    for i in range(2 * kept * ROWS):
        top_low[i] = 0.0
    for i in range(n):
        low[i] = high[i] = 0.0
    for j in range(rows.d):
        if rows.lower[j] != 0.0 or rows.upper[j] != 0.0:
            integers = rows.columns + j * rows.stride + rows.first + start
            for i in range(n):
                x[i] = <double>integers[i]
            add_contribution(rows.lower[j], rows.upper[j], rows.keep, n, x, below,
                             low, high, top_low, top_high)
    for j in range(rows.row_tiles.d):
        if rows.real_lower[j] != 0.0 or rows.real_upper[j] != 0.0:
            rs_unpack_column(x, &rows.row_tiles, rows.first + start, j, n, False)
            add_contribution(rows.real_lower[j], rows.real_upper[j], rows.keep, n, x, below,
                             low, high, top_low, top_high)
    for t in range(kept):
        for i in range(n):
            low[i] -= top_low[t * n + i]
            high[i] += top_high[t * n + i]


def row_ranges(
    const int8_t[::1, :] columns, const double[::1] lower, const double[::1] upper,
    const double[:, :, ::1] row_tiles, const double[::1] real_lower,
    const double[::1] real_upper, Py_ssize_t keep, Py_ssize_t first,
    double[:, :, ::1] workspace, double[::1] low, double[::1] high, int n_threads,
):
    """Range of the scores (intercept apart) of rows first, first + 1, ... into low and high.

    ``first`` begins a row tile.
    Columns whose bounds exclude zero always count; of the others at most ``keep`` do, chosen
    for each row as the largest contributions. A negative ``keep`` means no limit.
    ``workspace`` has, for each thread, 2 max(keep, 0) + 2 rows of row_block() entries.
    """
    cdef Rows rows
    rows.n = low.shape[0]
    rows.first = first
    rows.stride = columns.shape[0]
    rows.d = lower.shape[0]
    rows.keep = keep
    rows.columns = &columns[0, 0]
    rows.lower = &lower[0]
    rows.upper = &upper[0]
    rows.row_tiles.x = &row_tiles[0, 0, 0]
    rows.row_tiles.d = row_tiles.shape[1]
    rows.real_lower = &real_lower[0]
    rows.real_upper = &real_upper[0]
    rows.workspace = &workspace[0, 0, 0]
    rows.scratch = workspace.shape[1] * workspace.shape[2]
    rows.low = &low[0]
    rows.high = &high[0]
    with nogil:
        run(range_chunk, &rows, n_chunks(rows.n), n_workers(n_chunks(rows.n), n_threads))
