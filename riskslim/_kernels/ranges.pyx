# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Smallest and largest score of each row over a box with at most k non-zero coefficients."""

from libc.stdint cimport int8_t


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


def row_ranges(
    const int8_t[::1, :] columns, const double[::1] lower, const double[::1] upper,
    const double[::1, :] real_columns, const double[::1] real_lower,
    const double[::1] real_upper, Py_ssize_t keep, Py_ssize_t first,
    double[:, ::1] workspace, double[::1] low, double[::1] high,
):
    """Range of the scores (intercept apart) of rows first, first + 1, ... into low and high.

    Columns whose bounds exclude zero always count; of the others at most ``keep`` do, chosen
    for each row as the largest contributions. A negative ``keep`` means no limit.
    ``workspace`` has 2 max(keep, 0) + 2 rows of row_block() entries.
    """
    cdef Py_ssize_t block, start, m, i, j, t, n = low.shape[0]
    cdef Py_ssize_t kept = max(keep, 0)
    cdef double *x = &workspace[0, 0]
    cdef double *below = &workspace[1, 0]
    cdef double *top_low = below + ROWS
    cdef double *top_high = top_low + kept * ROWS
    cdef const int8_t *integers
    cdef const double *reals
    with nogil:
        for block in range((n + ROWS - 1) // ROWS):
            start = block * ROWS
            m = min(ROWS, n - start)
            for i in range(2 * kept * ROWS):
                top_low[i] = 0.0
            for i in range(m):
                low[start + i] = high[start + i] = 0.0
            for j in range(lower.shape[0]):
                if lower[j] != 0.0 or upper[j] != 0.0:
                    integers = &columns[first + start, j]
                    for i in range(m):
                        x[i] = <double>integers[i]
                    add_contribution(lower[j], upper[j], keep, m, x, below,
                                     &low[start], &high[start], top_low, top_high)
            for j in range(real_lower.shape[0]):
                if real_lower[j] != 0.0 or real_upper[j] != 0.0:
                    reals = &real_columns[first + start, j]
                    for i in range(m):
                        x[i] = reals[i]
                    add_contribution(real_lower[j], real_upper[j], keep, m, x, below,
                                     &low[start], &high[start], top_low, top_high)
            for t in range(kept):
                for i in range(m):
                    low[start + i] -= top_low[t * m + i]
                    high[start + i] += top_high[t * m + i]
