# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Loss and gradient of integer scores by a histogram and a table.

Scores of integer coefficients on integer features are integers in a proven range
[low, low + width). One pass counts the rows (or sums the weights) of each score and class;
the loss is then a sum over the few scores. With C[s] the count of score s, t(s) =
log(1 + exp(-|s|)), and N, P the counts of the negative and positive class:

    sum_i log(1 + exp(-y_i s_i)) = sum_s C[s] t(s) + sum_s (N[s] max(s, 0) + P[s] max(-s, 0))

The second sum is an exact integer and no term is negative: nothing cancels. Counts are exact
whatever the order, and the sum over the scores is carried in twice the working precision: the
loss depends neither on the block size nor on how the rows are ordered or merged.

Rows that count once, with positions of at most 16 bits (``count_*``): sums of slopes times
features run in fixed point (blocks.h), exactly. Rows with weights, or more scores: positions
of 32 bits, weights summed with their rounding errors kept, slopes in float64.

A position is score - low, and ``width`` further on for the positive class.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint16_t, uint64_t


cdef extern from "blocks.h" nogil:
    ctypedef struct rs_sum:
        double high
        double low
    enum:
        RS_BLOCK
        RS_COPIES
        RS_DIGIT_BASE
    const double RS_DIGIT_SCALE
    Py_ssize_t n_blocks "rs_n_blocks" (Py_ssize_t n) noexcept
    void rs_add(rs_sum *sum, double value) noexcept
    void rs_add_product(rs_sum *sum, double a, double b) noexcept
    double rs_loss(double margin) noexcept
    double rs_slope(double margin) noexcept
    void rs_prefetch_next_block(const void *address, Py_ssize_t bytes) noexcept
    void rs_fill_u16(uint16_t *s, uint16_t value, Py_ssize_t n) noexcept
    void rs_add_column_u16(uint16_t *s, const int8_t *x, int16_t c, Py_ssize_t n) noexcept
    void rs_add_4_columns_u16(
        uint16_t *s, const int8_t *x0, const int8_t *x1, const int8_t *x2, const int8_t *x3,
        int16_t c0, int16_t c1, int16_t c2, int16_t c3, Py_ssize_t n) noexcept
    void rs_count_u16(int64_t *counts, Py_ssize_t length, const uint16_t *s,
                      Py_ssize_t n) noexcept
    void rs_split_classes_u16(uint16_t *s, const int8_t *label, uint16_t width,
                              Py_ssize_t n) noexcept
    uint64_t rs_pack_digits(double slope) noexcept
    void rs_lookup_u64(uint64_t *out, const uint64_t *table, const uint16_t *s,
                       Py_ssize_t n) noexcept
    void rs_split_digits(int16_t *d0, int16_t *d1, int16_t *d2, const uint64_t *packed,
                         Py_ssize_t n) noexcept
    void rs_dot_digits(int64_t *sums, const int16_t *d0, const int16_t *d1,
                       const int16_t *d2, const int8_t *x, Py_ssize_t n) noexcept
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


def fill_digits(const double[:, ::1] slope, uint64_t[:, ::1] digits):
    """Fill the slopes in fixed point."""
    cdef Py_ssize_t k
    cdef int c
    with nogil:
        for c in range(2):
            for k in range(digits.shape[1]):
                digits[c, k] = rs_pack_digits(slope[c, k])


def n_copies():
    """Copies of a histogram: the first dimension of counts."""
    return RS_COPIES


# ---- rows that count once, positions of 16 bits -------------------------------------------

cdef inline void block_positions_u16(
    uint16_t *position, const int8_t[::1, :] columns, const int32_t[::1] coef,
    int32_t offset, const int8_t *labels, Py_ssize_t width, Py_ssize_t start, Py_ssize_t n,
) noexcept nogil:
    cdef Py_ssize_t j, k = 0
    cdef (const int8_t *)[4] x
    cdef int16_t[4] c
    rs_fill_u16(position, <uint16_t>offset, n)
    for j in range(coef.shape[0]):
        if coef[j] != 0:
            x[k] = &columns[start, j]
            c[k] = <int16_t>coef[j]
            k += 1
            if k == 4:
                rs_add_4_columns_u16(position, x[0], x[1], x[2], x[3], c[0], c[1], c[2], c[3], n)
                k = 0
    for j in range(k):
        rs_add_column_u16(position, x[j], c[j], n)
    rs_split_classes_u16(position, labels + start, <uint16_t>width, n)


def count_scores(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept,
    const int8_t[::1] labels, int32_t low, int64_t[:, :, ::1] counts,
):
    """Add the rows of each class and score to counts[., class, score - low].

    The first dimension of ``counts`` is copies, which are to be added up.
    """
    cdef Py_ssize_t block, start, m, j, n = labels.shape[0], width = counts.shape[2]
    cdef uint16_t[RS_BLOCK] position
    with nogil:
        for block in range(n_blocks(n)):
            start = block * RS_BLOCK
            m = min(RS_BLOCK, n - start)
            block_positions_u16(
                position, columns, coef, intercept - low, &labels[0], width, start, m)
            for j in range(coef.shape[0]):
                if coef[j] != 0:
                    rs_prefetch_next_block(&columns[start, j], m)
            rs_count_u16(&counts[0, 0, 0], 2 * width, position, m)


def count_scores_and_slopes(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept,
    const int8_t[::1] labels, int32_t low, const uint64_t[:, ::1] digits,
    int64_t[:, :, ::1] counts, int64_t[:, ::1] sums,
):
    """As count_scores; also add the sums of slope times feature, in digits.

    ``digits`` begins at score ``low``; ``sums`` has a row of three per column.
    """
    cdef Py_ssize_t block, start, m, j, n = labels.shape[0], width = counts.shape[2]
    cdef uint16_t[RS_BLOCK] position
    cdef uint64_t[RS_BLOCK] packed
    cdef int16_t[RS_BLOCK] digit0
    cdef int16_t[RS_BLOCK] digit1
    cdef int16_t[RS_BLOCK] digit2
    with nogil:
        for block in range(n_blocks(n)):
            start = block * RS_BLOCK
            m = min(RS_BLOCK, n - start)
            block_positions_u16(
                position, columns, coef, intercept - low, &labels[0], width, start, m)
            rs_count_u16(&counts[0, 0, 0], 2 * width, position, m)
            rs_lookup_u64(packed, &digits[0, 0], position, m)
            rs_split_digits(digit0, digit1, digit2, packed, m)
            for j in range(columns.shape[1]):
                rs_dot_digits(&sums[j, 0], digit0, digit1, digit2, &columns[start, j], m)


def digits_gradient(const int64_t[:, ::1] sums, double[::1] gradient):
    """Sums of slope times feature from their digits."""
    cdef Py_ssize_t j
    cdef double base = RS_DIGIT_BASE
    cdef rs_sum total
    with nogil:
        for j in range(sums.shape[0]):
            total.high = total.low = 0.0
            rs_add_product(&total, <double>sums[j, 2], base * base)
            rs_add_product(&total, <double>sums[j, 1], base)
            rs_add(&total, <double>sums[j, 0])
            gradient[j] = (total.high + total.low) / RS_DIGIT_SCALE


# ---- rows with weights, wider scores -----------------------------------------------------

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
    const int8_t[::1] labels, int32_t low, int64_t[:, :, ::1] counts,
):
    """Add the rows of each class and score to counts[0, class, score - low]."""
    cdef Py_ssize_t block, start, m, n = labels.shape[0]
    cdef int32_t width = <int32_t>counts.shape[2]
    cdef int32_t[RS_BLOCK] position
    with nogil:
        for block in range(n_blocks(n)):
            start = block * RS_BLOCK
            m = min(RS_BLOCK, n - start)
            block_scores(position, columns, coef, intercept, start, m)
            rs_positions(position, &labels[start], low, width, m)
            rs_count(&counts[0, 0, 0], position, m)


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
    const int64_t[:, :, ::1] counts, Py_ssize_t low, const double[::1] tail,
    const double[:, ::1] slope,
):
    """Sums over the rows counted in ``counts``: losses, and slopes of either class.

    ``tail`` and ``slope`` begin at score ``low``, as ``counts`` does.
    """
    cdef Py_ssize_t k, s, i
    cdef int64_t negative, positive, hinge = 0
    cdef rs_sum value
    cdef rs_sum[2] slopes
    value.high = value.low = 0.0
    slopes[0] = slopes[1] = value
    with nogil:
        for k in range(counts.shape[2]):
            negative = positive = 0
            for i in range(counts.shape[0]):
                negative += counts[i, 0, k]
                positive += counts[i, 1, k]
            s = low + k
            hinge += s * negative if s > 0 else -s * positive
            rs_add_product(&value, <double>(negative + positive), tail[k])
            rs_add_product(&slopes[0], <double>negative, slope[0, k])
            rs_add_product(&slopes[1], <double>positive, slope[1, k])
        rs_add(&value, <double>hinge)
    return value.high + value.low, slopes[0].high + slopes[0].low, slopes[1].high + slopes[1].low


def weighted_histogram_loss(
    const double[:, ::1] total, const double[:, ::1] error, Py_ssize_t low,
    const double[::1] tail, const double[:, ::1] slope,
):
    """As histogram_loss, from the sums of weights of each class and score."""
    cdef Py_ssize_t k
    cdef int c
    cdef double s, hinge
    cdef rs_sum value
    cdef rs_sum[2] slopes
    value.high = value.low = 0.0
    slopes[0] = slopes[1] = value
    with nogil:
        for k in range(total.shape[1]):
            s = <double>(low + k)
            for c in range(2):
                hinge = max(s, 0.0) if c == 0 else max(-s, 0.0)
                rs_add_product(&value, total[c, k], tail[k])
                rs_add_product(&value, total[c, k], hinge)
                value.low += error[c, k] * (tail[k] + hinge)
                rs_add_product(&slopes[c], total[c, k], slope[c, k])
                slopes[c].low += error[c, k] * slope[c, k]
    return value.high + value.low, slopes[0].high + slopes[0].low, slopes[1].high + slopes[1].low


def gradient(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept,
    const double[::1, :] real_columns, const int8_t[::1] labels, const double[::1] weights,
    int32_t low, const double[:, ::1] slope, double[::1] total, double[::1] error,
):
    """Sum of slope times feature over the rows, added to total + error.

    ``slope`` begins at score ``low``. Entries of ``total``: the integer columns, then the real
    columns (whose coefficients are zero).
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
                add_to(total, error, j, rs_dot_i8(slopes, &columns[start, j], m))
            for j in range(real_columns.shape[1]):
                add_to(total, error, d + j, rs_dot_f64(slopes, &real_columns[start, j], m))


cdef inline void add_to(
    double[::1] total, double[::1] error, Py_ssize_t j, double value
) noexcept nogil:
    cdef rs_sum sum
    sum.high = total[j]
    sum.low = error[j]
    rs_add(&sum, value)
    total[j] = sum.high
    error[j] = sum.low
