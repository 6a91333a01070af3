# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Loss and gradient of integer scores by a histogram and a table.

Scores of integer coefficients on integer features are integers in a proven range
[low, low + width). One pass counts the rows (or sums the weights) of each score and
class; the loss is then a sum over the few scores. Counts are exact whatever the order, and
that sum is carried in twice the working precision, so that the loss depends neither on the
block size nor on how the rows are ordered or merged.

With C[s] the count of score s, t(s) = log(1 + exp(-|s|)) and N, P the counts of the classes:

    sum_i log(1 + exp(-y_i s_i)) = sum_s C[s] t(s) + sum_s (N[s] max(s, 0) + P[s] max(-s, 0))

The second sum is an exact integer and no term is negative: nothing cancels.
"""

from libc.stdint cimport int8_t, int32_t, int64_t


cdef extern from "blocks.h" nogil:
    ctypedef struct rs_sum:
        double high
        double low
    enum:
        RS_BLOCK
    Py_ssize_t n_blocks "rs_n_blocks" (Py_ssize_t n) noexcept
    void rs_add(rs_sum *sum, double value) noexcept
    void rs_add_product(rs_sum *sum, double a, double b) noexcept
    double rs_loss(double margin) noexcept
    double rs_slope(double margin) noexcept
    void rs_fill_i32(int32_t *s, int32_t value, Py_ssize_t n) noexcept
    void rs_add_column_i32(int32_t *s, const int8_t *x, int32_t c, Py_ssize_t n) noexcept
    void rs_positions(int32_t *p, const int8_t *label, int32_t low, int32_t width,
                      Py_ssize_t n) noexcept
    void rs_count(int64_t *counts, const int32_t *position, Py_ssize_t n) noexcept
    void rs_count_weights(double *high, double *low, const double *weight,
                          const int32_t *position, Py_ssize_t n) noexcept
    void rs_lookup(double *out, const double *table, const int32_t *position,
                   Py_ssize_t n) noexcept
    void rs_multiply(double *v, const double *weight, Py_ssize_t n) noexcept
    double rs_dot_i8(const double *v, const int8_t *x, Py_ssize_t n) noexcept
    double rs_dot_f64(const double *v, const double *x, Py_ssize_t n) noexcept


def fill_tables(Py_ssize_t low, double[::1] tail, double[:, ::1] slope):
    """Fill tail[k] = log(1 + exp(-|s|)) and slope[c, k] = d loss / d s for s = low + k.

    Row 0 of ``slope`` is the negative class, row 1 the positive one.
    """
    cdef Py_ssize_t k
    cdef double s
    with nogil:
        for k in range(tail.shape[0]):
            s = <double>(low + k)
            tail[k] = rs_loss(s if s > 0 else -s)
            slope[0, k] = -rs_slope(-s)
            slope[1, k] = rs_slope(s)


cdef inline void block_scores(
    int32_t *scores, const int8_t[::1, :] columns, const int32_t[::1] coef,
    int32_t intercept, Py_ssize_t start, Py_ssize_t n,
) noexcept nogil:
    cdef Py_ssize_t j
    rs_fill_i32(scores, intercept, n)
    for j in range(coef.shape[0]):
        if coef[j] != 0:
            rs_add_column_i32(scores, &columns[start, j], coef[j], n)


def scores(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept, int32_t[::1] out
):
    """Integer scores of all rows into ``out``."""
    cdef Py_ssize_t block, start, n = out.shape[0]
    with nogil:
        for block in range(n_blocks(n)):
            start = block * RS_BLOCK
            block_scores(&out[start], columns, coef, intercept, start, min(RS_BLOCK, n - start))


def positions(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept,
    const int8_t[::1] labels, int32_t low, int32_t width, int32_t[::1] out,
):
    """Score minus ``low`` of each row, plus ``width`` for the positive class, into ``out``."""
    cdef Py_ssize_t block, start, m, n = labels.shape[0]
    with nogil:
        for block in range(n_blocks(n)):
            start = block * RS_BLOCK
            m = min(RS_BLOCK, n - start)
            block_scores(&out[start], columns, coef, intercept, start, m)
            rs_positions(&out[start], &labels[start], low, width, m)


def histogram(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept,
    const int8_t[::1] labels, int32_t low, int64_t[:, ::1] counts,
):
    """Add the rows of each class and score to counts[class, score - low]."""
    cdef Py_ssize_t block, start, m, n = labels.shape[0]
    cdef int32_t width = <int32_t>counts.shape[1]
    cdef int32_t[RS_BLOCK] position
    with nogil:
        for block in range(n_blocks(n)):
            start = block * RS_BLOCK
            m = min(RS_BLOCK, n - start)
            block_scores(position, columns, coef, intercept, start, m)
            rs_positions(position, &labels[start], low, width, m)
            rs_count(&counts[0, 0], position, m)


def weighted_histogram(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept,
    const int8_t[::1] labels, const double[::1] weights, int32_t low,
    double[:, ::1] total, double[:, ::1] error,
):
    """Add the weights of each class and score to total + error, in the order of the rows."""
    cdef Py_ssize_t block, start, m, n = labels.shape[0]
    cdef int32_t width = <int32_t>total.shape[1]
    cdef int32_t[RS_BLOCK] position
    with nogil:
        for block in range(n_blocks(n)):
            start = block * RS_BLOCK
            m = min(RS_BLOCK, n - start)
            block_scores(position, columns, coef, intercept, start, m)
            rs_positions(position, &labels[start], low, width, m)
            rs_count_weights(&total[0, 0], &error[0, 0], &weights[start], position, m)


def histogram_loss(
    const int64_t[:, ::1] counts, Py_ssize_t low, const double[::1] tail,
    const double[:, ::1] slope,
):
    """Sums of the losses and of their slopes over the rows counted in ``counts``.

    ``tail`` and ``slope`` begin at score ``low``, as ``counts`` does.
    """
    cdef Py_ssize_t k, s
    cdef int64_t hinge = 0
    cdef rs_sum value, derivative
    value.high = value.low = derivative.high = derivative.low = 0.0
    with nogil:
        for k in range(counts.shape[1]):
            s = low + k
            hinge += s * counts[0, k] if s > 0 else -s * counts[1, k]
            rs_add_product(&value, <double>(counts[0, k] + counts[1, k]), tail[k])
            rs_add_product(&derivative, <double>counts[0, k], slope[0, k])
            rs_add_product(&derivative, <double>counts[1, k], slope[1, k])
        rs_add(&value, <double>hinge)
    return value.high + value.low, derivative.high + derivative.low


def weighted_histogram_loss(
    const double[:, ::1] total, const double[:, ::1] error, Py_ssize_t low,
    const double[::1] tail, const double[:, ::1] slope,
):
    """As histogram_loss, from the sums of weights of each class and score."""
    cdef Py_ssize_t k
    cdef int c
    cdef double s, hinge
    cdef rs_sum value, derivative
    value.high = value.low = derivative.high = derivative.low = 0.0
    with nogil:
        for k in range(total.shape[1]):
            s = <double>(low + k)
            for c in range(2):
                hinge = max(s, 0.0) if c == 0 else max(-s, 0.0)
                rs_add_product(&value, total[c, k], tail[k])
                rs_add_product(&value, total[c, k], hinge)
                value.low += error[c, k] * (tail[k] + hinge)
                rs_add_product(&derivative, total[c, k], slope[c, k])
                derivative.low += error[c, k] * slope[c, k]
    return value.high + value.low, derivative.high + derivative.low


def gradient(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept,
    const double[::1, :] real_columns, const int8_t[::1] labels, const double[::1] weights,
    int32_t low, const double[:, ::1] slope, double[::1] total, double[::1] error,
):
    """Sum of slope times feature over the rows, added to total + error.

    ``slope`` begins at score ``low``. Entries of ``total``: the intercept (untouched: the
    histogram gives it), the integer columns, the real columns (whose coefficients are zero).
    """
    cdef Py_ssize_t block, start, m, j, n = labels.shape[0], d = coef.shape[0]
    cdef int32_t width = <int32_t>slope.shape[1]
    cdef int32_t[RS_BLOCK] position
    cdef double[RS_BLOCK] slopes
    cdef rs_sum *sums
    with nogil:
        for block in range(n_blocks(n)):
            start = block * RS_BLOCK
            m = min(RS_BLOCK, n - start)
            block_scores(position, columns, coef, intercept, start, m)
            rs_positions(position, &labels[start], low, width, m)
            rs_lookup(slopes, &slope[0, 0], position, m)
            if weights.shape[0]:
                rs_multiply(slopes, &weights[start], m)
            for j in range(d):
                add_to(total, error, j + 1, rs_dot_i8(slopes, &columns[start, j], m))
            for j in range(real_columns.shape[1]):
                add_to(total, error, d + j + 1, rs_dot_f64(slopes, &real_columns[start, j], m))


cdef inline void add_to(
    double[::1] total, double[::1] error, Py_ssize_t j, double value
) noexcept nogil:
    cdef rs_sum sum
    sum.high = total[j]
    sum.low = error[j]
    rs_add(&sum, value)
    total[j] = sum.high
    error[j] = sum.low
