# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Loss and gradient of real-valued scores: any coefficients on any columns.

The exponential is taken of -|margin| only (numerics.h). Rows are summed in a fixed order:
eight partial sums within a block, blocks with their rounding errors kept. A block has 256
rows per partial sum, which bounds the relative error of a loss by about 3e-14.
"""

from libc.stdint cimport int8_t


cdef extern from "blocks.h" nogil:
    ctypedef struct rs_sum:
        double high
        double low
    enum:
        RS_BLOCK
    Py_ssize_t n_blocks "rs_n_blocks" (Py_ssize_t n) noexcept
    void rs_add(rs_sum *sum, double value) noexcept
    void rs_fill_f64(double *s, double value, Py_ssize_t n) noexcept
    void rs_add_column_i8(double *s, const int8_t *x, double c, Py_ssize_t n) noexcept
    void rs_add_4_columns_i8(
        double *s, const int8_t *x0, const int8_t *x1, const int8_t *x2, const int8_t *x3,
        double c0, double c1, double c2, double c3, Py_ssize_t n) noexcept
    void rs_add_column_f64(double *s, const double *x, double c, Py_ssize_t n) noexcept
    void rs_losses(double *out, const double *s, const int8_t *label, Py_ssize_t n) noexcept
    void rs_losses_and_slopes(double *out, double *slope, const double *s,
                              const int8_t *label, Py_ssize_t n) noexcept
    void rs_multiply(double *v, const double *weight, Py_ssize_t n) noexcept
    double rs_total(const double *v, Py_ssize_t n) noexcept
    double rs_dot_i8(const double *v, const int8_t *x, Py_ssize_t n) noexcept
    double rs_dot_f64(const double *v, const double *x, Py_ssize_t n) noexcept


cdef inline void block_scores(
    double *scores, const int8_t[::1, :] columns, const double[::1] coef,
    const double[::1, :] real_columns, const double[::1] real_coef,
    double intercept, Py_ssize_t start, Py_ssize_t n,
) noexcept nogil:
    cdef Py_ssize_t j, k = 0
    cdef (const int8_t *)[4] x
    cdef double[4] c
    rs_fill_f64(scores, intercept, n)
    for j in range(coef.shape[0]):
        if coef[j] != 0.0:
            x[k] = &columns[start, j]
            c[k] = coef[j]
            k += 1
            if k == 4:
                rs_add_4_columns_i8(scores, x[0], x[1], x[2], x[3], c[0], c[1], c[2], c[3], n)
                k = 0
    for j in range(k):
        rs_add_column_i8(scores, x[j], c[j], n)
    for j in range(real_coef.shape[0]):
        if real_coef[j] != 0.0:
            rs_add_column_f64(scores, &real_columns[start, j], real_coef[j], n)


def scores(
    const int8_t[::1, :] columns, const double[::1] coef,
    const double[::1, :] real_columns, const double[::1] real_coef,
    double intercept, double[::1] out,
):
    """Scores of all rows into ``out``."""
    cdef Py_ssize_t block, start, n = out.shape[0]
    with nogil:
        for block in range(n_blocks(n)):
            start = block * RS_BLOCK
            block_scores(&out[start], columns, coef, real_columns, real_coef, intercept,
                         start, min(RS_BLOCK, n - start))


def scores_loss(const double[::1] scores, const int8_t[::1] labels, const double[::1] weights):
    """Sum of the (weighted) losses of given scores."""
    cdef Py_ssize_t block, start, m, n = labels.shape[0]
    cdef double[RS_BLOCK] losses
    cdef rs_sum total
    total.high = total.low = 0.0
    with nogil:
        for block in range(n_blocks(n)):
            start = block * RS_BLOCK
            m = min(RS_BLOCK, n - start)
            rs_losses(losses, &scores[start], &labels[start], m)
            if weights.shape[0]:
                rs_multiply(losses, &weights[start], m)
            rs_add(&total, rs_total(losses, m))
    return total.high + total.low


def loss(
    const int8_t[::1, :] columns, const double[::1] coef,
    const double[::1, :] real_columns, const double[::1] real_coef,
    double intercept, const int8_t[::1] labels, const double[::1] weights,
):
    """Sum of the (weighted) losses."""
    cdef Py_ssize_t block, start, m, n = labels.shape[0]
    cdef double[RS_BLOCK] scores
    cdef double[RS_BLOCK] losses
    cdef rs_sum total
    total.high = total.low = 0.0
    with nogil:
        for block in range(n_blocks(n)):
            start = block * RS_BLOCK
            m = min(RS_BLOCK, n - start)
            block_scores(scores, columns, coef, real_columns, real_coef, intercept, start, m)
            rs_losses(losses, scores, &labels[start], m)
            if weights.shape[0]:
                rs_multiply(losses, &weights[start], m)
            rs_add(&total, rs_total(losses, m))
    return total.high + total.low


def loss_and_gradient(
    const int8_t[::1, :] columns, const double[::1] coef,
    const double[::1, :] real_columns, const double[::1] real_coef,
    double intercept, const int8_t[::1] labels, const double[::1] weights,
    double[::1] gradient, double[::1] error,
):
    """Sum of the (weighted) losses; their gradient is added to gradient + error.

    Entries of ``gradient``: the intercept, the integer columns, the real columns.
    """
    cdef Py_ssize_t block, start, m, j, n = labels.shape[0], d = coef.shape[0]
    cdef double[RS_BLOCK] scores
    cdef double[RS_BLOCK] losses
    cdef double[RS_BLOCK] slopes
    cdef rs_sum total
    total.high = total.low = 0.0
    with nogil:
        for block in range(n_blocks(n)):
            start = block * RS_BLOCK
            m = min(RS_BLOCK, n - start)
            block_scores(scores, columns, coef, real_columns, real_coef, intercept, start, m)
            rs_losses_and_slopes(losses, slopes, scores, &labels[start], m)
            if weights.shape[0]:
                rs_multiply(losses, &weights[start], m)
                rs_multiply(slopes, &weights[start], m)
            rs_add(&total, rs_total(losses, m))
            add_to(gradient, error, 0, rs_total(slopes, m))
            for j in range(d):
                add_to(gradient, error, j + 1, rs_dot_i8(slopes, &columns[start, j], m))
            for j in range(real_coef.shape[0]):
                add_to(gradient, error, d + j + 1,
                       rs_dot_f64(slopes, &real_columns[start, j], m))
    return total.high + total.low


cdef inline void add_to(
    double[::1] total, double[::1] error, Py_ssize_t j, double value
) noexcept nogil:
    cdef rs_sum sum
    sum.high = total[j]
    sum.low = error[j]
    rs_add(&sum, value)
    total[j] = sum.high
    error[j] = sum.low
