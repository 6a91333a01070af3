# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Loss and gradient of real-valued scores: any coefficients on any columns.

The exponential is taken of -|margin| only (numerics.h). Rows are summed in a fixed order:
32 partial sums within a block, which has 64 rows for each of them, eight of which share a
logarithm, and 8 for the products with a real column; then blocks, and chunks of blocks, with
their rounding errors kept. The result is the same for any number of threads.
"""

from libc.stdint cimport int8_t, int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from riskslim._kernels.row_tiles cimport (
    RS_ROW_TILE_LANES, rs_add_row_tiles, rs_fold_row_tile, rs_row_tiles, rs_products_room,
    rs_sum_row_tile_losses, rs_sum_row_tile_losses_and_slopes, rs_unpack_column,
)
from riskslim._kernels.pool cimport run
from riskslim._kernels.threads cimport (
    RS_BLOCK, RS_CHUNK, RS_CHUNK_BLOCKS, n_blocks, n_chunks, n_parts, n_workers, part_begin,
    rs_work,
)


cdef extern from "blocks.h" nogil:
    enum:
        RS_TILE
        RS_TILE_LANES
    ctypedef struct rs_sum:
        double high
        double low
    void rs_add(rs_sum *sum, double value) noexcept
    void rs_fill_f64(double *s, double value, Py_ssize_t n) noexcept
    void rs_add_column_i8(double *s, const int8_t *x, double c, Py_ssize_t n) noexcept
    void rs_add_4_columns_i8(
        double *s, const int8_t *x0, const int8_t *x1, const int8_t *x2, const int8_t *x3,
        double c0, double c1, double c2, double c3, Py_ssize_t n) noexcept
    double rs_sum_losses(const double *s, const int8_t *label, const double *weight,
                         Py_ssize_t n) noexcept
    double rs_sum_losses_and_slopes(double *slope, const double *s, const int8_t *label,
                                    const double *weight, Py_ssize_t n) noexcept
    void rs_multiply(double *v, const double *weight, Py_ssize_t n) noexcept
    void rs_score_curvatures(double *curvature, const double *s, Py_ssize_t n) noexcept
    void rs_tile_i8(double *z, const int8_t *x, Py_ssize_t n) noexcept
    void rs_tile_product(double *out, const double *a, const double *b) noexcept
    void rs_add_tile_products(double *sums, const double *v, const double *z) noexcept
    double rs_total(const double *v, Py_ssize_t n) noexcept
    double rs_dot_i8(const double *v, const int8_t *x, Py_ssize_t n) noexcept
    double rs_dot_f64(const double *v, const double *x, Py_ssize_t n) noexcept
    void rs_class_losses(double *loss, double *slope, double *curvature, const double *s,
                         const double *positive, const double *negative, Py_ssize_t n) noexcept


cdef struct Rows:
    # Rows, a vector, and where the results go.
    Py_ssize_t n
    Py_ssize_t d
    const int8_t *columns
    const double *coef
    rs_row_tiles row_tiles             # in use: real columns whose coefficients are not zero
    int64_t *used
    double *used_coef
    double intercept
    const int8_t *labels
    const double *weights        # NULL: every row counts once
    const double *given          # scores that need not be computed
    double *scores
    rs_sum *sums                 # by chunk: the loss; or also the gradient; by part: products
    Py_ssize_t n_sums
    Py_ssize_t n_parts
    Py_ssize_t n_chosen          # columns of a Gram matrix
    const int64_t *slot          # k for integer column k, -1 - k for real column k
    double *scratch              # of the first worker
    Py_ssize_t scratch_size


cdef int open_rows(
    Rows *rows, const int8_t[::1, :] columns, const double[::1] coef,
    const double[:, :, ::1] row_tiles, const double[::1] real_coef, double intercept,
) except -1:
    cdef Py_ssize_t j, m = 0, d_real = row_tiles.shape[1]
    rows.used = <int64_t *>malloc((d_real + 1) * sizeof(int64_t))
    rows.used_coef = <double *>malloc((d_real + 1) * sizeof(double))
    if rows.used == NULL or rows.used_coef == NULL:
        close_rows(rows)
        raise MemoryError
    for j in range(d_real):
        if real_coef[j] != 0.0:
            rows.used[m] = j
            rows.used_coef[m] = real_coef[j]
            m += 1
    rows.row_tiles.x = &row_tiles[0, 0, 0]
    rows.row_tiles.d = d_real
    rows.row_tiles.used = rows.used
    rows.row_tiles.coef = rows.used_coef
    rows.row_tiles.n_used = m
    rows.n = columns.shape[0]
    rows.d = coef.shape[0]
    rows.columns = &columns[0, 0]
    rows.coef = &coef[0]
    rows.intercept = intercept
    rows.labels = NULL
    rows.weights = NULL
    rows.given = NULL
    rows.scores = NULL
    rows.sums = NULL
    rows.n_sums = 1
    rows.n_parts = 1
    rows.n_chosen = 0
    rows.slot = NULL
    rows.scratch = NULL
    rows.scratch_size = 0
    return 0


cdef void close_rows(Rows *rows) noexcept nogil:
    free(rows.used)
    free(rows.used_coef)


cdef inline void integer_scores(
    const Rows *rows, double *scores, Py_ssize_t start, Py_ssize_t n
) noexcept nogil:
    """Scores of a block as far as the intercept and integer columns go."""
    cdef Py_ssize_t j, k = 0
    cdef (const int8_t *)[4] x
    cdef double[4] c
    rs_fill_f64(scores, rows.intercept, n)
    for j in range(rows.d):
        if rows.coef[j] != 0.0:
            x[k] = rows.columns + j * rows.n + start
            c[k] = rows.coef[j]
            k += 1
            if k == 4:
                rs_add_4_columns_i8(scores, x[0], x[1], x[2], x[3], c[0], c[1], c[2], c[3], n)
                k = 0
    for j in range(k):
        rs_add_column_i8(scores, x[j], c[j], n)


cdef inline void block_scores(
    const Rows *rows, double *scores, Py_ssize_t start, Py_ssize_t n
) noexcept nogil:
    integer_scores(rows, scores, start, n)
    if rows.row_tiles.n_used:
        rs_add_row_tiles(scores, &rows.row_tiles, start, n)


cdef void score_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, end = min(rows.n, (chunk + 1) * RS_CHUNK)
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        block_scores(rows, rows.scores + start, start, min(RS_BLOCK, end - start))


def scores(
    const int8_t[::1, :] columns, const double[::1] coef,
    const double[:, :, ::1] row_tiles, const double[::1] real_coef,
    double intercept, double[::1] out, int n_threads,
):
    """Scores of all rows into ``out``."""
    cdef Rows rows
    open_rows(&rows, columns, coef, row_tiles, real_coef, intercept)
    rows.scores = &out[0]
    with nogil:
        run(score_chunk, &rows, n_chunks(rows.n), n_workers(n_chunks(rows.n), n_threads))
        close_rows(&rows)


cdef inline const double *weights_from(const Rows *rows, Py_ssize_t start) noexcept nogil:
    return rows.weights + start if rows.weights != NULL else NULL


cdef void loss_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m, end = min(rows.n, (chunk + 1) * RS_CHUNK)
    cdef double[RS_BLOCK] scores
    cdef double total
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        integer_scores(rows, scores, start, m)
        if rows.row_tiles.n_used:
            total = rs_sum_row_tile_losses(&rows.row_tiles, start, scores, rows.labels + start,
                                        weights_from(rows, start), m)
        else:
            total = rs_sum_losses(scores, rows.labels + start, weights_from(rows, start), m)
        rs_add(&rows.sums[chunk], total)


cdef void given_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m, end = min(rows.n, (chunk + 1) * RS_CHUNK)
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        rs_add(&rows.sums[chunk], rs_sum_losses(rows.given + start, rows.labels + start,
                                                weights_from(rows, start), m))


cdef double summed_loss(Rows *rows, rs_work work, int n_threads) noexcept nogil:
    """Sum of the losses; -1 if there is no memory for the chunks' sums."""
    cdef Py_ssize_t chunk, chunks = n_chunks(rows.n)
    cdef rs_sum total
    total.high = total.low = 0.0
    rows.sums = <rs_sum *>calloc(chunks + 1, sizeof(rs_sum))
    if rows.sums == NULL:
        return -1.0
    run(work, rows, chunks, n_workers(chunks, n_threads))
    for chunk in range(chunks):
        add_sum(&total.high, &total.low, rows.sums[chunk])
    free(rows.sums)
    return total.high + total.low


def scores_loss(
    const double[::1] scores, const int8_t[::1] labels, const double[::1] weights, int n_threads
):
    """Sum of the (weighted) losses of given scores."""
    cdef Rows rows
    cdef double total
    rows.n = labels.shape[0]
    rows.given = &scores[0]
    rows.labels = &labels[0]
    rows.weights = &weights[0] if weights.shape[0] else NULL
    with nogil:
        total = summed_loss(&rows, given_chunk, n_threads)
    if total < 0.0:
        raise MemoryError
    return total


def loss(
    const int8_t[::1, :] columns, const double[::1] coef,
    const double[:, :, ::1] row_tiles, const double[::1] real_coef,
    double intercept, const int8_t[::1] labels, const double[::1] weights, int n_threads,
):
    """Sum of the (weighted) losses."""
    cdef Rows rows
    cdef double total
    open_rows(&rows, columns, coef, row_tiles, real_coef, intercept)
    rows.labels = &labels[0]
    rows.weights = &weights[0] if weights.shape[0] else NULL
    with nogil:
        total = summed_loss(&rows, loss_chunk, n_threads)
        close_rows(&rows)
    if total < 0.0:
        raise MemoryError
    return total


cdef void gradient_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m, j, end = min(rows.n, (chunk + 1) * RS_CHUNK)
    cdef rs_sum *sums = rows.sums + chunk * rows.n_sums
    cdef double *products = rows.scratch + worker * rows.scratch_size
    cdef double[RS_BLOCK] slopes
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        memset(products, 0, rows.scratch_size * sizeof(double))
        rs_add(&sums[0], losses_and_slopes(rows, slopes, products, start, m))
        rs_add(&sums[1], rs_total(slopes, m))
        for j in range(rows.d):
            rs_add(&sums[2 + j], rs_dot_i8(slopes, rows.columns + j * rows.n + start, m))
        for j in range(rows.row_tiles.d):
            rs_add(&sums[2 + rows.d + j], rs_fold_row_tile(products + j * RS_ROW_TILE_LANES))


cdef inline double losses_and_slopes(
    const Rows *rows, double *slopes, double *products, Py_ssize_t start, Py_ssize_t m
) noexcept nogil:
    """Sum of a block's losses; its weighted slopes, and their products with real columns."""
    cdef double[RS_BLOCK] scores
    cdef double total
    integer_scores(rows, scores, start, m)
    if rows.row_tiles.d:
        return rs_sum_row_tile_losses_and_slopes(
            products, slopes, &rows.row_tiles, start, scores, rows.labels + start,
            weights_from(rows, start), m)
    total = rs_sum_losses_and_slopes(
        slopes, scores, rows.labels + start, weights_from(rows, start), m)
    if rows.weights != NULL:
        rs_multiply(slopes, rows.weights + start, m)
    return total


def loss_and_gradient(
    const int8_t[::1, :] columns, const double[::1] coef,
    const double[:, :, ::1] row_tiles, const double[::1] real_coef,
    double intercept, const int8_t[::1] labels, const double[::1] weights,
    double[::1] gradient, double[::1] error, int n_threads,
):
    """Sum of the (weighted) losses; their gradient is added to gradient + error.

    Entries of ``gradient``: the intercept, the integer columns, the real columns.
    """
    cdef Rows rows
    cdef Py_ssize_t chunk, j, chunks
    cdef int workers
    cdef rs_sum total
    total.high = total.low = 0.0
    open_rows(&rows, columns, coef, row_tiles, real_coef, intercept)
    chunks = n_chunks(rows.n)
    workers = n_workers(chunks, n_threads)
    rows.labels = &labels[0]
    rows.weights = &weights[0] if weights.shape[0] else NULL
    rows.n_sums = 2 + rows.d + rows.row_tiles.d
    rows.scratch_size = rs_products_room(rows.row_tiles.d)
    rows.scratch = <double *>calloc(workers * rows.scratch_size, sizeof(double))
    rows.sums = <rs_sum *>calloc(chunks * rows.n_sums, sizeof(rs_sum))
    if rows.scratch == NULL or rows.sums == NULL:
        free(rows.scratch)
        free(rows.sums)
        close_rows(&rows)
        raise MemoryError
    with nogil:
        run(gradient_chunk, &rows, chunks, workers)
        for chunk in range(chunks):
            add_sum(&total.high, &total.low, rows.sums[chunk * rows.n_sums])
            for j in range(1, rows.n_sums):
                add_sum(&gradient[j - 1], &error[j - 1], rows.sums[chunk * rows.n_sums + j])
        free(rows.scratch)
        free(rows.sums)
        close_rows(&rows)
    return total.high + total.low


# ---- second derivatives ------------------------------------------------------------------

# Columns of the tile, among them the ones and zeros up to a multiple of four, are multiplied
# two by four: columns j and j + 1 with columns k .. k + 3, k >= j - j % 4.

cdef inline Py_ssize_t padded(Py_ssize_t m) noexcept nogil:
    """Columns of a tile for m columns."""
    return (m + 3) // 4 * 4


cdef inline Py_ssize_t n_products(Py_ssize_t m) noexcept nogil:
    """Products that are computed for m columns."""
    return padded(m) * (padded(m) + 4) // 2


cdef inline void fill_tile(
    const Rows *rows, double *tile, Py_ssize_t start, Py_ssize_t n
) noexcept nogil:
    """Chosen columns of n rows as float64; the column of ones comes before them."""
    cdef Py_ssize_t i, j, k
    cdef double *z
    for j in range(rows.n_chosen):
        k = rows.slot[j]
        z = tile + (j + 1) * RS_TILE
        if k >= 0:
            rs_tile_i8(z, rows.columns + k * rows.n + start, n)
        else:
            rs_unpack_column(z, &rows.row_tiles, start, -1 - k, n, True)
        for i in range(n, RS_TILE):
            z[i] = 0.0


cdef void hessian_part(void *argument, Py_ssize_t part, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t m = padded(rows.n_chosen + 1), products = n_products(rows.n_chosen + 1)
    cdef Py_ssize_t start, i, end = part_begin(rows.n, rows.n_parts, part + 1)
    cdef double *tile = rows.scratch + worker * rows.scratch_size
    cdef double *lanes = tile + (m + 2) * RS_TILE
    memset(tile, 0, m * RS_TILE * sizeof(double))
    for i in range(RS_TILE):
        tile[i] = 1.0
    start = part_begin(rows.n, rows.n_parts, part)
    while start < end:
        memset(lanes, 0, products * RS_TILE_LANES * sizeof(double))
        hessian_chunk(rows, tile, lanes, start, min(end, start + RS_CHUNK))
        for i in range(products * RS_TILE_LANES):
            rs_add(&rows.sums[part * products + i // RS_TILE_LANES], lanes[i])
        start += RS_CHUNK


cdef void hessian_chunk(
    const Rows *rows, double *tile, double *lanes, Py_ssize_t start, Py_ssize_t end
) noexcept nogil:
    """Add the products of the rows start .. end - 1 to ``lanes``."""
    cdef Py_ssize_t i, n
    cdef double[RS_BLOCK] scores
    cdef double[RS_BLOCK + RS_TILE] curvatures
    while start < end:
        n = min(RS_BLOCK, end - start)
        block_scores(rows, scores, start, n)
        rs_score_curvatures(curvatures, scores, n)
        if rows.weights != NULL:
            rs_multiply(curvatures, rows.weights + start, n)
        for i in range(n, n + RS_TILE):
            curvatures[i] = 0.0
        i = 0
        while i < n:
            fill_tile(rows, tile, start + i, min(RS_TILE, n - i))
            add_tile(tile, padded(rows.n_chosen + 1), curvatures + i, lanes)
            i += RS_TILE
        start += n


cdef void add_tile(
    double *tile, Py_ssize_t m, const double *curvatures, double *lanes
) noexcept nogil:
    cdef Py_ssize_t j, k
    cdef double *weighted = tile + m * RS_TILE
    for j in range(0, m, 2):
        rs_tile_product(weighted, curvatures, tile + j * RS_TILE)
        rs_tile_product(weighted + RS_TILE, curvatures, tile + (j + 1) * RS_TILE)
        for k in range(j - j % 4, m, 4):
            rs_add_tile_products(lanes, weighted, tile + k * RS_TILE)
            lanes += 8 * RS_TILE_LANES


def hessian(
    const int8_t[::1, :] columns, const double[::1] coef,
    const double[:, :, ::1] row_tiles, const double[::1] real_coef,
    double intercept, const double[::1] weights, const int64_t[::1] slot,
    double[:, ::1] out, int n_threads,
):
    """Sums of (weighted) curvature times z z' into ``out``, z = (1, chosen columns).

    The curvature of a row is p (1 - p) with p = 1 / (1 + exp(-score)). ``slot`` chooses the
    columns: k for integer column k, -1 - k for real column k.
    """
    cdef Rows rows
    cdef Py_ssize_t j, k, part, m = slot.shape[0] + 1, products = n_products(m)
    cdef Py_ssize_t product = 0
    cdef int i, workers
    cdef rs_sum total
    open_rows(&rows, columns, coef, row_tiles, real_coef, intercept)
    rows.weights = &weights[0] if weights.shape[0] else NULL
    rows.n_chosen = slot.shape[0]
    rows.slot = &slot[0]
    rows.n_parts = n_parts(rows.n, products)
    workers = n_workers(rows.n_parts, n_threads)
    rows.scratch_size = (padded(m) + 2) * RS_TILE + products * RS_TILE_LANES
    rows.scratch = <double *>calloc(workers * rows.scratch_size, sizeof(double))
    rows.sums = <rs_sum *>calloc(rows.n_parts * products, sizeof(rs_sum))
    if rows.scratch == NULL or rows.sums == NULL:
        free(rows.scratch)
        free(rows.sums)
        close_rows(&rows)
        raise MemoryError
    with nogil:
        run(hessian_part, &rows, rows.n_parts, workers)
        for j in range(0, padded(m), 2):
            for k in range(j - j % 4, padded(m), 4):
                for i in range(8):
                    total.high = total.low = 0.0
                    for part in range(rows.n_parts):
                        add_sum(&total.high, &total.low, rows.sums[part * products + product])
                    if j + i // 4 < m and k + i % 4 < m:
                        out[j + i // 4, k + i % 4] = total.high + total.low
                        out[k + i % 4, j + i // 4] = total.high + total.low
                    product += 1
        free(rows.scratch)
        free(rows.sums)
        close_rows(&rows)


cdef inline void add_sum(double *total, double *error, rs_sum value) noexcept nogil:
    cdef rs_sum sum
    sum.high = total[0]
    sum.low = error[0]
    rs_add(&sum, value.high)
    total[0] = sum.high
    error[0] = sum.low + value.low


# ---- scales --------------------------------------------------------------------------------

def scale_derivatives(
    const double[::1] scores, const double[::1] positive, const double[::1] negative, double t
):
    """Loss of the scores times t, and its first and second derivative by t.

    ``positive`` and ``negative`` are the weights of the two classes at each score.
    """
    cdef Py_ssize_t start = 0, n, i
    cdef double[RS_BLOCK] s
    cdef double[RS_BLOCK] loss
    cdef double[RS_BLOCK] slope
    cdef double[RS_BLOCK] curvature
    cdef rs_sum value, first, second
    value.high = value.low = first.high = first.low = second.high = second.low = 0.0
    with nogil:
        while start < scores.shape[0]:
            n = min(RS_BLOCK, scores.shape[0] - start)
            for i in range(n):
                s[i] = t * scores[start + i]
            rs_class_losses(loss, slope, curvature, s, &positive[start], &negative[start], n)
            rs_add(&value, rs_total(loss, n))
            rs_add(&first, rs_dot_f64(slope, &scores[start], n))
            for i in range(n):
                s[i] = scores[start + i] * scores[start + i]
            rs_add(&second, rs_dot_f64(curvature, s, n))
            start += n
    return value.high + value.low, first.high + first.low, second.high + second.low
