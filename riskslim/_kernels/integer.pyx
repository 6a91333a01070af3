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
features run in fixed point (blocks.h), exactly. So they do for rows that stand for a number of
equal ones (``count_numbers*``), with the same results as these have one by one. Rows with
weights, or more scores: positions of 32 bits, weights summed with their rounding errors kept,
slopes in float64.

A position is score - low, and ``width`` further on for the positive class.

Results are the same for any number of threads: counts and digits are exact, and sums of
floating-point numbers are added in the order of chunks that depend on the data alone.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from riskslim._kernels.row_tiles cimport (
    RS_ROW_TILE_LANES, rs_add_row_tile_products, rs_fold_row_tile, rs_row_tiles, rs_products_room,
)
from riskslim._kernels.pool cimport run
from riskslim._kernels.threads cimport (
    RS_BLOCK, RS_CHUNK, RS_CHUNK_BLOCKS, RS_HAS_THREADS, n_blocks, n_chunks, n_parts, n_workers,
    part_begin, rs_work,
)


cdef extern from "blocks.h" nogil:
    ctypedef struct rs_sum:
        double high
        double low
    enum:
        RS_COPIES
        RS_DIGIT_BASE
    const double RS_DIGIT_SCALE
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
    int32_t rs_given_positions_u16(
        uint16_t *position, const int32_t *s, const int8_t *label, int32_t low, int32_t width,
        Py_ssize_t n) noexcept
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
    int64_t rs_fixed_point(double slope) noexcept
    void rs_count_numbers(int64_t *counts, const uint16_t *number, const uint16_t *s,
                          Py_ssize_t n) noexcept
    void rs_split_products(int16_t *d0, int16_t *d1, int16_t *d2, int16_t *d3, uint64_t *q,
                           const uint16_t *number, Py_ssize_t n) noexcept
    void rs_dot_products(int64_t *sums, const int16_t *d0, const int16_t *d1,
                         const int16_t *d2, const int16_t *d3, const int8_t *x,
                         Py_ssize_t n) noexcept
    void rs_fill_i32(int32_t *s, int32_t value, Py_ssize_t n) noexcept
    void rs_add_column_i32(int32_t *s, const int8_t *x, int32_t c, Py_ssize_t n) noexcept
    void rs_positions(int32_t *p, const int8_t *label, int32_t low, int32_t width,
                      Py_ssize_t n) noexcept
    void rs_count(int64_t *counts, const int32_t *position, Py_ssize_t n) noexcept
    void rs_count_weights(rs_sum *sums, const double *weight, const int32_t *position,
                          Py_ssize_t n) noexcept
    void rs_lookup(double *out, const double *table, const int32_t *position,
                   Py_ssize_t n) noexcept
    int32_t rs_given_positions(
        int32_t *position, const int32_t *s, const int8_t *label, int32_t low, int32_t width,
        Py_ssize_t n) noexcept
    double rs_dot_table(const double *weight, const double *table, const int32_t *position,
                        Py_ssize_t n) noexcept
    void rs_multiply(double *v, const double *weight, Py_ssize_t n) noexcept
    double rs_dot_i8(const double *v, const int8_t *x, Py_ssize_t n) noexcept


def fill_tables(Py_ssize_t low, double scale, double[::1] tail, double[:, ::1] slope):
    """Fill tail[k] = log(1 + exp(-|s|)), slope[c, k] = d loss / d s for s = (low + k) / scale.

    Row 0 of ``slope`` is the negative class, row 1 the positive one.
    """
    cdef Py_ssize_t k
    cdef double s
    with nogil:
        for k in range(tail.shape[0]):
            s = <double>(low + k) / scale
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


def fill_fixed_point(const double[:, ::1] slope, uint64_t[:, ::1] fixed_point):
    """Fill the slopes in fixed point, not yet divided into digits."""
    cdef Py_ssize_t k
    cdef int c
    with nogil:
        for c in range(2):
            for k in range(fixed_point.shape[1]):
                fixed_point[c, k] = <uint64_t>rs_fixed_point(slope[c, k])


def has_threads():
    """Say if the kernels were built with threads; without them any number of threads is one."""
    return bool(RS_HAS_THREADS)


def n_copies():
    """Copies of a histogram: the first dimension of counts."""
    return RS_COPIES


# ---- rows that count once, positions of 16 bits -------------------------------------------

cdef struct Rows:
    # Rows, a vector, and where the results go.
    Py_ssize_t n
    Py_ssize_t d
    const int8_t *columns
    const int32_t *coef
    int32_t intercept
    rs_row_tiles row_tiles
    double *products             # of slopes with real columns, of the first worker
    const int8_t *labels
    const double *weights        # NULL: every row counts once
    const uint16_t *numbers      # of the rows that each stands for
    int32_t low
    int32_t width
    int32_t *scores
    const int32_t *given         # scores that need not be computed
    const uint64_t *digits
    const double *slope
    int64_t *counts
    Py_ssize_t count_stride      # from the counts of one worker to those of the next
    int64_t *digit_sums          # or the number of scores outside of the range
    int n_digits                 # per column
    Py_ssize_t digit_stride
    rs_sum *sums                 # weights by part and position, or slopes by chunk and column
    Py_ssize_t n_parts


cdef Rows described(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept, Py_ssize_t n
) noexcept nogil:
    cdef Rows rows
    rows.n = n
    rows.d = coef.shape[0]
    rows.columns = &columns[0, 0]
    rows.coef = &coef[0]
    rows.intercept = intercept
    rows.row_tiles.x = NULL
    rows.row_tiles.d = rows.row_tiles.n_used = 0
    rows.products = NULL
    rows.labels = NULL
    rows.weights = NULL
    rows.numbers = NULL
    rows.low = rows.width = 0
    rows.scores = NULL
    rows.given = NULL
    rows.digits = NULL
    rows.slope = NULL
    rows.counts = rows.digit_sums = NULL
    rows.n_digits = 3
    rows.count_stride = rows.digit_stride = 0
    rows.sums = NULL
    rows.n_parts = 1
    return rows


cdef inline const int8_t *column(const Rows *rows, Py_ssize_t j, Py_ssize_t start) noexcept nogil:
    return rows.columns + j * rows.n + start


cdef inline Py_ssize_t chunk_end(const Rows *rows, Py_ssize_t chunk) noexcept nogil:
    return min(rows.n, (chunk + 1) * RS_CHUNK)


cdef inline void block_positions_u16(
    const Rows *rows, uint16_t *position, Py_ssize_t start, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t j, k = 0
    cdef (const int8_t *)[4] x
    cdef int16_t[4] c
    rs_fill_u16(position, <uint16_t>(rows.intercept - rows.low), n)
    for j in range(rows.d):
        if rows.coef[j] != 0:
            x[k] = column(rows, j, start)
            c[k] = <int16_t>rows.coef[j]
            k += 1
            if k == 4:
                rs_add_4_columns_u16(position, x[0], x[1], x[2], x[3], c[0], c[1], c[2], c[3], n)
                k = 0
    for j in range(k):
        rs_add_column_u16(position, x[j], c[j], n)
    rs_split_classes_u16(position, rows.labels + start, <uint16_t>rows.width, n)


cdef void count_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m, j, end = chunk_end(rows, chunk)
    cdef uint16_t[RS_BLOCK] position
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        block_positions_u16(rows, position, start, m)
        for j in range(rows.d):
            if rows.coef[j] != 0:
                rs_prefetch_next_block(column(rows, j, start), m)
        rs_count_u16(rows.counts + worker * rows.count_stride, 2 * rows.width, position, m)


cdef void count_chunk_and_slopes(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m, j, end = chunk_end(rows, chunk)
    cdef int64_t *sums = rows.digit_sums + worker * rows.digit_stride
    cdef uint16_t[RS_BLOCK] position
    cdef uint64_t[RS_BLOCK] packed
    cdef int16_t[RS_BLOCK] digit0
    cdef int16_t[RS_BLOCK] digit1
    cdef int16_t[RS_BLOCK] digit2
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        block_positions_u16(rows, position, start, m)
        rs_count_u16(rows.counts + worker * rows.count_stride, 2 * rows.width, position, m)
        rs_lookup_u64(packed, rows.digits, position, m)
        rs_split_digits(digit0, digit1, digit2, packed, m)
        for j in range(rows.d):
            rs_dot_digits(sums + 3 * j, digit0, digit1, digit2, column(rows, j, start), m)


cdef void count_numbers_of_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m, end = chunk_end(rows, chunk)
    cdef int64_t *counts = rows.counts + worker * rows.count_stride
    cdef uint16_t[RS_BLOCK] position
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        block_positions_u16(rows, position, start, m)
        rs_count_numbers(counts, rows.numbers + start, position, m)


cdef void count_numbers_and_slopes_of_chunk(
    void *argument, Py_ssize_t chunk, int worker
) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m, j, end = chunk_end(rows, chunk)
    cdef int64_t *counts = rows.counts + worker * rows.count_stride
    cdef int64_t *sums = rows.digit_sums + worker * rows.digit_stride
    cdef uint16_t[RS_BLOCK] position
    cdef uint64_t[RS_BLOCK] slope
    cdef int16_t[RS_BLOCK] digit0
    cdef int16_t[RS_BLOCK] digit1
    cdef int16_t[RS_BLOCK] digit2
    cdef int16_t[RS_BLOCK] digit3
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        block_positions_u16(rows, position, start, m)
        rs_count_numbers(counts, rows.numbers + start, position, m)
        rs_lookup_u64(slope, rows.digits, position, m)
        rs_split_products(digit0, digit1, digit2, digit3, slope, rows.numbers + start, m)
        for j in range(rows.d):
            rs_dot_products(
                sums + 4 * j, digit0, digit1, digit2, digit3, column(rows, j, start), m)


cdef int run_counting(rs_work work, Rows *rows, Py_ssize_t n_counts, int n_threads) noexcept nogil:
    """Run a pass that counts exactly; more workers than one have counts of their own.

    Returns -1 if there is no memory for these.
    """
    cdef Py_ssize_t i, size, chunks = n_chunks(rows.n)
    cdef int worker, workers = n_workers(chunks, n_threads)
    cdef int64_t *counts = rows.counts
    cdef int64_t *digit_sums = rows.digit_sums
    cdef int64_t *own
    if workers == 1:
        run(work, rows, chunks, 1)
        return 0
    # A cache line apart, lest two workers write to the same one.
    rows.count_stride = n_counts + 8
    rows.digit_stride = rows.n_digits * rows.d + 8 if digit_sums != NULL else 0
    size = rows.count_stride + rows.digit_stride
    own = <int64_t *>calloc(workers * size, sizeof(int64_t))
    if own == NULL:
        return -1
    rows.counts = own
    rows.digit_sums = own + workers * rows.count_stride
    run(work, rows, chunks, workers)
    for worker in range(workers):
        for i in range(n_counts):
            counts[i] += rows.counts[worker * rows.count_stride + i]
        if digit_sums != NULL:
            for i in range(rows.n_digits * rows.d):
                digit_sums[i] += rows.digit_sums[worker * rows.digit_stride + i]
    free(own)
    return 0


def count_scores(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept,
    const int8_t[::1] labels, int32_t low, int64_t[:, :, ::1] counts, int n_threads,
):
    """Add the rows of each class and score to counts[., class, score - low].

    The first dimension of ``counts`` is copies, which are to be added up.
    """
    cdef Rows rows = described(columns, coef, intercept, labels.shape[0])
    cdef int failed
    rows.labels = &labels[0]
    rows.low = low
    rows.width = <int32_t>counts.shape[2]
    rows.counts = &counts[0, 0, 0]
    with nogil:
        failed = run_counting(
            count_chunk, &rows, counts.shape[0] * 2 * counts.shape[2], n_threads)
    if failed:
        raise MemoryError


cdef void count_given_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m, end = chunk_end(rows, chunk)
    cdef int32_t n_outside
    cdef uint16_t[RS_BLOCK] position
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        n_outside = rs_given_positions_u16(
            position, rows.given + start, rows.labels + start, rows.low, rows.width, m)
        if n_outside == 0:
            rs_count_u16(rows.counts + worker * rows.count_stride, 2 * rows.width, position, m)
        else:
            rows.digit_sums[worker * rows.digit_stride] += n_outside


def count_given(
    const int32_t[::1] scores, const int8_t[::1] labels, int32_t low,
    int64_t[:, :, ::1] counts, int64_t[::1] outside, int n_threads,
):
    """As count_scores, for given scores.

    The number of scores that have no place in ``counts`` is added to outside[0]; if there are
    any, not all of the others are counted.
    """
    cdef Rows rows
    cdef int failed
    rows.n = labels.shape[0]
    rows.given = &scores[0]
    rows.labels = &labels[0]
    rows.low = low
    rows.width = <int32_t>counts.shape[2]
    rows.counts = &counts[0, 0, 0]
    rows.digit_sums = &outside[0]
    rows.d = rows.n_digits = 1
    rows.count_stride = rows.digit_stride = 0
    with nogil:
        failed = run_counting(
            count_given_chunk, &rows, counts.shape[0] * 2 * counts.shape[2], n_threads)
    if failed:
        raise MemoryError


def count_scores_and_slopes(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept,
    const int8_t[::1] labels, int32_t low, const uint64_t[:, ::1] digits,
    int64_t[:, :, ::1] counts, int64_t[:, ::1] sums, int n_threads,
):
    """As count_scores; also add the sums of slope times feature, in digits.

    ``digits`` begins at score ``low``; ``sums`` has a row of three per column.
    """
    cdef Rows rows = described(columns, coef, intercept, labels.shape[0])
    cdef int failed
    rows.labels = &labels[0]
    rows.low = low
    rows.width = <int32_t>counts.shape[2]
    rows.counts = &counts[0, 0, 0]
    rows.digits = &digits[0, 0]
    rows.digit_sums = &sums[0, 0]
    with nogil:
        failed = run_counting(
            count_chunk_and_slopes, &rows, counts.shape[0] * 2 * counts.shape[2], n_threads)
    if failed:
        raise MemoryError


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


def count_numbers(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept,
    const int8_t[::1] labels, const uint16_t[::1] numbers, int32_t low,
    int64_t[:, :, ::1] counts, int n_threads,
):
    """Add the numbers of the rows of each class and score to counts[0, class, score - low]."""
    cdef Rows rows = described(columns, coef, intercept, labels.shape[0])
    cdef int failed
    rows.labels = &labels[0]
    rows.numbers = &numbers[0]
    rows.low = low
    rows.width = <int32_t>counts.shape[2]
    rows.counts = &counts[0, 0, 0]
    with nogil:
        failed = run_counting(count_numbers_of_chunk, &rows, 2 * counts.shape[2], n_threads)
    if failed:
        raise MemoryError


def count_numbers_and_slopes(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept,
    const int8_t[::1] labels, const uint16_t[::1] numbers, int32_t low,
    const uint64_t[:, ::1] fixed_point, int64_t[:, :, ::1] counts, int64_t[:, ::1] sums,
    int n_threads,
):
    """As count_numbers; also add the sums of number times slope times feature, in digits.

    ``fixed_point`` begins at score ``low``; ``sums`` has a row of four per column.
    """
    cdef Rows rows = described(columns, coef, intercept, labels.shape[0])
    cdef int failed
    rows.labels = &labels[0]
    rows.numbers = &numbers[0]
    rows.low = low
    rows.width = <int32_t>counts.shape[2]
    rows.counts = &counts[0, 0, 0]
    rows.digits = &fixed_point[0, 0]
    rows.digit_sums = &sums[0, 0]
    rows.n_digits = 4
    with nogil:
        failed = run_counting(
            count_numbers_and_slopes_of_chunk, &rows, 2 * counts.shape[2], n_threads)
    if failed:
        raise MemoryError


def products_gradient(const int64_t[:, ::1] sums, double[::1] gradient):
    """Sums of number times slope times feature from their digits."""
    cdef Py_ssize_t j, k
    cdef double base = 65536.0
    cdef rs_sum total
    with nogil:
        for j in range(sums.shape[0]):
            total.high = total.low = 0.0
            for k in range(3, -1, -1):
                total.high *= base
                total.low *= base
                rs_add(&total, <double>sums[j, k])
            gradient[j] = (total.high + total.low) / RS_DIGIT_SCALE


# ---- rows with weights, wider scores -----------------------------------------------------

cdef inline void block_scores(
    const Rows *rows, int32_t *scores, Py_ssize_t start, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t j
    rs_fill_i32(scores, rows.intercept, n)
    for j in range(rows.d):
        if rows.coef[j] != 0:
            rs_add_column_i32(scores, column(rows, j, start), rows.coef[j], n)


cdef inline void block_positions(
    const Rows *rows, int32_t *position, Py_ssize_t start, Py_ssize_t n
) noexcept nogil:
    block_scores(rows, position, start, n)
    rs_positions(position, rows.labels + start, rows.low, rows.width, n)


cdef void score_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m, end = chunk_end(rows, chunk)
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        if rows.labels == NULL:
            block_scores(rows, rows.scores + start, start, m)
        else:
            block_positions(rows, rows.scores + start, start, m)


def scores(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept, int32_t[::1] out,
    int n_threads,
):
    """Integer scores of all rows into ``out``."""
    cdef Rows rows = described(columns, coef, intercept, out.shape[0])
    rows.scores = &out[0]
    with nogil:
        run(score_chunk, &rows, n_chunks(rows.n), n_workers(n_chunks(rows.n), n_threads))


def positions(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept,
    const int8_t[::1] labels, int32_t low, int32_t width, int32_t[::1] out, int n_threads,
):
    """Score minus ``low`` of each row, plus ``width`` for the positive class, into ``out``."""
    cdef Rows rows = described(columns, coef, intercept, labels.shape[0])
    rows.labels = &labels[0]
    rows.low = low
    rows.width = width
    rows.scores = &out[0]
    with nogil:
        run(score_chunk, &rows, n_chunks(rows.n), n_workers(n_chunks(rows.n), n_threads))


cdef void histogram_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m, end = chunk_end(rows, chunk)
    cdef int32_t[RS_BLOCK] position
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        block_positions(rows, position, start, m)
        rs_count(rows.counts + worker * rows.count_stride, position, m)


def histogram(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept,
    const int8_t[::1] labels, int32_t low, int64_t[:, :, ::1] counts, int n_threads,
):
    """Add the rows of each class and score to counts[0, class, score - low]."""
    cdef Rows rows = described(columns, coef, intercept, labels.shape[0])
    cdef int failed
    rows.labels = &labels[0]
    rows.low = low
    rows.width = <int32_t>counts.shape[2]
    rows.counts = &counts[0, 0, 0]
    with nogil:
        failed = run_counting(histogram_chunk, &rows, 2 * rows.width, n_threads)
    if failed:
        raise MemoryError


cdef void weigh_part(void *argument, Py_ssize_t part, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m
    cdef Py_ssize_t end = part_begin(rows.n, rows.n_parts, part + 1)
    cdef rs_sum *sums = rows.sums + part * 2 * rows.width
    cdef int32_t[RS_BLOCK] position
    for block in range(part_begin(rows.n, rows.n_parts, part) // RS_BLOCK, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        block_positions(rows, position, start, m)
        rs_count_weights(sums, rows.weights + start, position, m)


def weighted_histogram(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept,
    const int8_t[::1] labels, const double[::1] weights, int32_t low,
    double[:, ::1] total, double[:, ::1] error, int n_threads,
):
    """Add the weights of each class and score to total + error, in a fixed order.

    Up to sixteen parts of the rows are summed one by one, in the order of the rows; then the
    parts are added.
    """
    cdef Rows rows = described(columns, coef, intercept, labels.shape[0])
    cdef Py_ssize_t k, part, cells = 2 * total.shape[1]
    rows.labels = &labels[0]
    rows.weights = &weights[0]
    rows.low = low
    rows.width = <int32_t>total.shape[1]
    rows.n_parts = n_parts(rows.n, cells)
    rows.sums = <rs_sum *>calloc(rows.n_parts * cells, sizeof(rs_sum))
    if rows.sums == NULL:
        raise MemoryError
    with nogil:
        run(weigh_part, &rows, rows.n_parts, n_workers(rows.n_parts, n_threads))
        for part in range(rows.n_parts):
            for k in range(cells):
                add_sum(&total[0, 0] + k, &error[0, 0] + k, rows.sums[part * cells + k])
        free(rows.sums)


cdef struct Given:
    # Given scores, a table of losses by position, and by chunk the sum and the rows beyond it.
    Py_ssize_t n
    const int32_t *scores
    const int8_t *labels
    const double *weights
    int32_t low
    int32_t width
    const double *losses
    rs_sum *sums
    int64_t *outside


cdef void given_loss_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Given *given = <Given *>argument
    cdef Py_ssize_t block, start, m, end = min(given.n, (chunk + 1) * RS_CHUNK)
    cdef int32_t n_outside
    cdef int32_t[RS_BLOCK] position
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        n_outside = rs_given_positions(
            position, given.scores + start, given.labels + start, given.low, given.width, m)
        given.outside[chunk] += n_outside
        if n_outside == 0:
            rs_add(&given.sums[chunk],
                   rs_dot_table(given.weights + start, given.losses, position, m))


def given_loss(
    const int32_t[::1] scores, const int8_t[::1] labels, const double[::1] weights, int32_t low,
    const double[:, ::1] losses, int64_t[::1] outside, int n_threads,
):
    """Sum of the weighted losses of given scores, which are losses[class, score - low].

    A histogram of weights would take longer: its additions wait for each other, and keep
    their rounding errors. The number of scores that have no place in ``losses`` is added to
    outside[0]; if there are any, the sum lacks the blocks of rows with such scores.
    """
    cdef Given given
    cdef Py_ssize_t chunk, chunks = n_chunks(labels.shape[0])
    cdef double total = 0.0, error = 0.0
    given.n = labels.shape[0]
    given.scores = &scores[0]
    given.labels = &labels[0]
    given.weights = &weights[0]
    given.low = low
    given.width = <int32_t>losses.shape[1]
    given.losses = &losses[0, 0]
    given.sums = <rs_sum *>calloc(chunks, sizeof(rs_sum))
    given.outside = <int64_t *>calloc(chunks, sizeof(int64_t))
    if given.sums == NULL or given.outside == NULL:
        free(given.sums)
        free(given.outside)
        raise MemoryError
    with nogil:
        run(given_loss_chunk, &given, chunks, n_workers(chunks, n_threads))
        for chunk in range(chunks):
            add_sum(&total, &error, given.sums[chunk])
            outside[0] += given.outside[chunk]
        free(given.sums)
        free(given.outside)
    return total + error


def histogram_loss(
    const int64_t[:, :, ::1] counts, Py_ssize_t low, double scale, const double[::1] tail,
    const double[:, ::1] slope,
):
    """Sums over the rows counted in ``counts``: losses, and slopes of either class.

    ``tail`` and ``slope`` are those of :func:`fill_tables` for ``low`` and ``scale``; ``counts``
    begins at score ``low`` as well.
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
        rs_add(&value, <double>hinge / scale)
    return value.high + value.low, slopes[0].high + slopes[0].low, slopes[1].high + slopes[1].low


def weighted_histogram_loss(
    const double[:, ::1] total, const double[:, ::1] error, Py_ssize_t low, double scale,
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
            s = <double>(low + k) / scale
            for c in range(2):
                hinge = max(s, 0.0) if c == 0 else max(-s, 0.0)
                rs_add_product(&value, total[c, k], tail[k])
                rs_add_product(&value, total[c, k], hinge)
                value.low += error[c, k] * (tail[k] + hinge)
                rs_add_product(&slopes[c], total[c, k], slope[c, k])
                slopes[c].low += error[c, k] * slope[c, k]
    return value.high + value.low, slopes[0].high + slopes[0].low, slopes[1].high + slopes[1].low


cdef void slope_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m, j, end = chunk_end(rows, chunk)
    cdef rs_sum *sums = rows.sums + chunk * (rows.d + rows.row_tiles.d)
    cdef double *products = rows.products + worker * rs_products_room(rows.row_tiles.d)
    cdef int32_t[RS_BLOCK] position
    cdef double[RS_BLOCK] slopes
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        block_positions(rows, position, start, m)
        rs_lookup(slopes, rows.slope, position, m)
        if rows.weights != NULL:
            rs_multiply(slopes, rows.weights + start, m)
        for j in range(rows.d):
            rs_add(&sums[j], rs_dot_i8(slopes, column(rows, j, start), m))
        memset(products, 0, RS_ROW_TILE_LANES * rows.row_tiles.d * sizeof(double))
        rs_add_row_tile_products(products, &rows.row_tiles, start, slopes, m)
        for j in range(rows.row_tiles.d):
            rs_add(&sums[rows.d + j], rs_fold_row_tile(products + j * RS_ROW_TILE_LANES))


def gradient(
    const int8_t[::1, :] columns, const int32_t[::1] coef, int32_t intercept,
    const double[:, :, ::1] row_tiles, const int8_t[::1] labels, const double[::1] weights,
    int32_t low, const double[:, ::1] slope, double[::1] total, double[::1] error,
    int n_threads,
):
    """Sum of slope times feature over the rows, added to total + error.

    ``slope`` begins at score ``low``. Entries of ``total``: the integer columns, then the real
    columns (whose coefficients are zero).
    """
    cdef Rows rows = described(columns, coef, intercept, labels.shape[0])
    cdef Py_ssize_t chunk, j, chunks = n_chunks(rows.n)
    cdef Py_ssize_t d = rows.d + row_tiles.shape[1]
    cdef int workers = n_workers(chunks, n_threads)
    rows.row_tiles.x = &row_tiles[0, 0, 0]
    rows.row_tiles.d = row_tiles.shape[1]
    rows.labels = &labels[0]
    rows.weights = &weights[0] if weights.shape[0] else NULL
    rows.low = low
    rows.width = <int32_t>slope.shape[1]
    rows.slope = &slope[0, 0]
    rows.products = <double *>calloc(workers * rs_products_room(rows.row_tiles.d), sizeof(double))
    rows.sums = <rs_sum *>calloc(chunks * d + 1, sizeof(rs_sum))
    if rows.products == NULL or rows.sums == NULL:
        free(rows.products)
        free(rows.sums)
        raise MemoryError
    with nogil:
        run(slope_chunk, &rows, chunks, workers)
        for chunk in range(chunks):
            for j in range(d):
                add_sum(&total[0] + j, &error[0] + j, rows.sums[chunk * d + j])
        free(rows.products)
        free(rows.sums)


cdef inline void add_sum(double *total, double *error, rs_sum value) noexcept nogil:
    cdef rs_sum sum
    sum.high = total[0]
    sum.low = error[0]
    rs_add(&sum, value.high)
    total[0] = sum.high
    error[0] = sum.low + value.low
