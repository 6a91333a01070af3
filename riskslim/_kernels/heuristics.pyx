# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Discrete coordinate descent and sequential rounding, each compiled as a whole.

Both keep the scores of all rows and move them along one column at a time (a *line*). The loss
along a line comes from one of three sources, all with the same value up to rounding:

*joint histogram*
    Integer scores and a feature of few values: one pass counts the rows of each (feature
    value, class, score); the loss of every step is then a sum over these few cells.
*table*
    Integer scores, too many cells: one pass with a table lookup per row and step.
*real*
    Real-valued scores: one pass with an exponential per row and step.

Most lines need not be looked at. With f the loss as a function of the step t along a column,
g and h its first and second derivative at t = 0, and M the largest |x| of the column, the
second derivative decays no faster than exp(-M |t|) (the logistic function is generalised
self-concordant: its third derivative is at most its second one), whence

    f(t) >= f(0) + g t + h (exp(-M |t|) + M |t| - 1) / M^2

One pass gives g and h of all lines. Lines are searched in the order of the objective that
this bound leaves possible, until the next one cannot beat the best move found: the move is the
same as if all lines had been searched.

With a ridge penalty a_j v^2 for v points of feature j, which is convex as the loss is, the sum of
both is what a line search minimises. The bound above has the penalty added as it is.

A point adds 1 / m, the *unit*, to a score: with a scale m steps are in points, real-valued scores and
the tables are those of score / m. Derivatives and magnitudes are by points, too: M is the largest
|x| times the unit.

Sequential rounding looks for the best of some dozens of steps, one of which is taken. Which one
that is mostly shows in *quick losses* from products of odds (odds.h), in a fraction of the time,
and these are given up as soon as the rows seen so far, together with the bound on the others,
tell that the step cannot win. Only if several steps are left, whose quick losses differ by no
more than their rounding errors, are their losses computed in full accuracy, and compared: the
step is the same as if that had been done for all of them.
"""

from libc.math cimport INFINITY, ceil, exp, fabs, floor, log
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from riskslim._kernels.row_tiles cimport (
    RS_ROW_TILE_LANES, rs_add_row_tile_derivatives, rs_fold_row_tile, rs_row_tiles, rs_products_room,
    rs_sum_row_tile_line_losses, rs_unpack_column,
)
from riskslim._kernels.pool cimport run
from riskslim._kernels.threads cimport (
    RS_BLOCK, RS_CHUNK, RS_CHUNK_BLOCKS, n_blocks, n_chunks, n_parts,
    n_workers, part_begin, rs_work,
)


cdef extern from "odds.h" nogil:
    enum:
        RS_ODDS_BITS
        RS_ODDS_VALUES
        RS_ODDS_NARROW
    const double RS_ODDS_REACH
    const double RS_ODDS_SLOPE_UNIT
    const double RS_ODDS_CURVATURE_UNIT
    ctypedef struct rs_product:
        pass
    double rs_exp_moderate(double x) noexcept
    void rs_odds(double *odds, const double *s, Py_ssize_t n) noexcept
    int64_t rs_odds_outside(const double *odds, double bottom, double top,
                            Py_ssize_t n) noexcept
    void rs_odds_all(double *out, const double *odds, double factor, Py_ssize_t n) noexcept
    void rs_odds_bit(double *out, const double *odds, const int8_t *x, int64_t first,
                     const double *factor, Py_ssize_t n) noexcept
    void rs_odds_bits(double *out, const double *odds, const int8_t *x, int64_t first,
                      const double *factor, Py_ssize_t n) noexcept
    void rs_odds_table(double *out, const double *odds, const int8_t *x, int32_t first,
                       const double *factor, Py_ssize_t n) noexcept
    void rs_odds_real(double *out, const double *odds, const double *x, double step,
                      Py_ssize_t n) noexcept
    void rs_product_open(rs_product *product) noexcept
    void rs_product_extend(rs_product *product, const double *odds, Py_ssize_t n) noexcept
    double rs_product_log(const rs_product *product) noexcept
    void rs_log_odds(double *odds, Py_ssize_t n) noexcept
    void rs_odds_slopes(double *slope, const double *odds, const int8_t *label,
                        Py_ssize_t n) noexcept
    void rs_odds_digits(int16_t *high, int16_t *low, int16_t *flat, const double *slope,
                        const double *curvature, Py_ssize_t n) noexcept
    void rs_dot_odds_digits(int64_t *sums, const int16_t *high, const int16_t *low,
                            const int16_t *flat, const int8_t *x, Py_ssize_t n) noexcept
    void rs_negative(double *out, const int8_t *label, Py_ssize_t n) noexcept


cdef extern from "blocks.h" nogil:
    bint rs_stopped(int64_t *stop) noexcept
    ctypedef struct rs_sum:
        double high
        double low
    void rs_add(rs_sum *sum, double value) noexcept
    void rs_count(int64_t *counts, const int32_t *position, Py_ssize_t n) noexcept
    void rs_lookup(double *out, const double *table, const int32_t *position,
                   Py_ssize_t n) noexcept
    void rs_add_column_positions(int32_t *position, const int8_t *x, int32_t step,
                                 int32_t shift, Py_ssize_t n) noexcept
    void rs_joint_cells(int32_t *cell, const int32_t *position, const int8_t *x,
                        int32_t first, int32_t stride, Py_ssize_t n) noexcept
    void rs_add_weights(double *mass, const double *weight, const int32_t *cell,
                        Py_ssize_t n) noexcept
    void rs_line_i8(double *out, const double *s, const int8_t *x, double step, double shift,
                    Py_ssize_t n) noexcept
    void rs_line_f64(double *out, const double *s, const double *x, double step,
                     double shift, Py_ssize_t n) noexcept
    double rs_sum_losses(const double *s, const int8_t *label, const double *weight,
                         Py_ssize_t n) noexcept
    double rs_sum_losses_and_slopes(double *slope, const double *s, const int8_t *label,
                                    const double *weight, Py_ssize_t n) noexcept
    void rs_multiply(double *v, const double *weight, Py_ssize_t n) noexcept
    double rs_total(const double *v, Py_ssize_t n) noexcept
    double rs_dot_f64(const double *v, const double *x, Py_ssize_t n) noexcept
    double rs_dot_i8(const double *v, const int8_t *x, Py_ssize_t n) noexcept
    double rs_dot_square_i8(const double *v, const int8_t *x, Py_ssize_t n) noexcept
    void rs_curvatures(double *curvature, const double *slope, Py_ssize_t n) noexcept


# ---- rows, and the loss along a line ------------------------------------------------

cdef struct Bounds:
    # One entry per coefficient, intercept first.
    uint8_t *wanted              # lines that are worth a derivative
    double *gradient
    double *curvature
    double *objective            # least objective that the line may hold
    const double *magnitude      # largest change of a score by one point
    double slack                 # rounding errors of the bounds


cdef struct Rows:
    Py_ssize_t n
    double total_weight
    double unit                  # what a point adds to a score
    const int8_t *integers
    rs_row_tiles row_tiles             # in use: the real columns of wanted lines
    int64_t *used
    double *products             # derivatives along those, of the first worker
    const int64_t *slot          # of feature j: k for integer column k, -1 - k for real column k
    const int8_t *labels
    const double *weights        # NULL: every row counts once
    # Integer scores: position = score - low, + width for the positive class.
    bint integer
    int32_t *position
    Py_ssize_t low
    Py_ssize_t width
    const double *losses         # by position
    const double *slopes         # d loss / d (score times unit), by position
    int64_t *counts              # joint histogram, 2 * width positions per feature value
    double *mass                 # the same in float64, or sums of weights
    Py_ssize_t capacity          # cells of a joint histogram
    # Real-valued scores, times the unit.
    double *scores
    # The current line.
    Py_ssize_t line              # coefficient (0: the intercept)
    Py_ssize_t first             # smallest feature value
    Py_ssize_t n_values          # 0: no joint histogram
    Py_ssize_t begin             # scores lie in low + begin .. low + end - 1
    Py_ssize_t end
    Py_ssize_t n_parts           # of the joint histogram, where rows have weights
    # The current pass: points, or with real-valued scores points times the unit.
    double step
    double shift
    Bounds *bounds
    Py_ssize_t n_lines
    rs_sum *sums                 # by chunk: loss, then first and second derivatives of lines
    int n_threads
    Py_ssize_t n_evaluations
    int64_t *stop                # as of rs_stopped; passes leave out chunks then, and mean nothing


cdef int open_rows(
    Rows *rows, const int8_t[::1, :] columns, const double[:, :, ::1] row_tiles,
    const int64_t[::1] slot, const int8_t[::1] labels, const double[::1] weights,
    double total_weight, double unit, int64_t[::1] stop, int n_threads,
) except -1:
    cdef Py_ssize_t n_reals = row_tiles.shape[1]
    rows.n = labels.shape[0]
    rows.total_weight = total_weight
    rows.unit = unit
    rows.integers = &columns[0, 0] if columns.shape[1] else NULL
    rows.row_tiles.x = &row_tiles[0, 0, 0]
    rows.row_tiles.d = n_reals
    rows.row_tiles.n_used = 0
    rows.slot = &slot[0]
    rows.labels = &labels[0]
    rows.weights = &weights[0] if weights.shape[0] else NULL
    rows.stop = &stop[0]
    rows.n_threads = n_threads
    rows.n_evaluations = 0
    rows.n_lines = slot.shape[0] + 1
    rows.sums = <rs_sum *>calloc(n_chunks(rows.n) * (2 * rows.n_lines + 1), sizeof(rs_sum))
    rows.used = <int64_t *>calloc(n_reals + 1, sizeof(int64_t))
    rows.products = <double *>calloc(
        n_workers(n_chunks(rows.n), n_threads) * rs_products_room(2 * n_reals), sizeof(double))
    rows.row_tiles.used = rows.used
    if rows.sums == NULL or rows.used == NULL or rows.products == NULL:
        close_rows(rows)
        raise MemoryError
    return 0


cdef void close_rows(Rows *rows) noexcept nogil:
    free(rows.sums)
    free(rows.used)
    free(rows.products)


cdef inline void run_chunks(Rows *rows, rs_work work) noexcept nogil:
    """Run a pass over all rows."""
    run(work, rows, n_chunks(rows.n), n_workers(n_chunks(rows.n), rows.n_threads))


cdef inline double summed(const Rows *rows, Py_ssize_t k, Py_ssize_t stride) noexcept nogil:
    """Sum k of each chunk, added in the order of the chunks."""
    cdef Py_ssize_t chunk
    cdef rs_sum total, part
    total.high = total.low = 0.0
    for chunk in range(n_chunks(rows.n)):
        part = rows.sums[chunk * stride + k]
        rs_add(&total, part.high)
        total.low += part.low
    return total.high + total.low


cdef inline const int8_t *integer_column(const Rows *rows, Py_ssize_t line) noexcept nogil:
    return rows.integers + rows.slot[line - 1] * rows.n


cdef inline bint is_real(const Rows *rows, Py_ssize_t line) noexcept nogil:
    return line > 0 and rows.slot[line - 1] < 0


cdef inline const double *real_block(
    const Rows *rows, Py_ssize_t line, double *room, Py_ssize_t start, Py_ssize_t m
) noexcept nogil:
    """Values of a real column in a block, copied into ``room``."""
    rs_unpack_column(room, &rows.row_tiles, start, -1 - rows.slot[line - 1], m, False)
    return room


cdef void prepare_line(
    Rows *rows, Py_ssize_t line, Py_ssize_t first, Py_ssize_t last,
    Py_ssize_t begin, Py_ssize_t end,
) noexcept nogil:
    """Make ``line`` the current one: feature values first..last, scores as in Rows."""
    rows.line = line
    rows.first = first
    rows.begin = begin
    rows.end = end
    rows.n_values = last - first + 1
    if not rows.integer or rows.n_values * 2 * rows.width > rows.capacity:
        rows.n_values = 0
        return
    if rows.weights == NULL:
        count_line(rows)
    else:
        weigh_line(rows)


cdef inline void block_cells(
    const Rows *rows, int32_t *cells, Py_ssize_t start, Py_ssize_t n
) noexcept nogil:
    """Cells of the joint histogram to which rows belong."""
    cdef Py_ssize_t i
    if rows.line == 0:
        for i in range(n):
            cells[i] = rows.position[start + i]
    else:
        rs_joint_cells(cells, rows.position + start, integer_column(rows, rows.line) + start,
                       <int32_t>rows.first, <int32_t>(2 * rows.width), n)


cdef void count_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m, end = min(rows.n, (chunk + 1) * RS_CHUNK)
    cdef int32_t[RS_BLOCK] cells
    if rs_stopped(rows.stop):
        return
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        block_cells(rows, cells, start, m)
        rs_count(rows.counts + worker * rows.capacity, cells, m)


cdef void count_line(Rows *rows) noexcept nogil:
    """Fill the joint histogram by counting; every worker has one of its own."""
    cdef Py_ssize_t k, i, cell
    cdef int worker, workers = n_workers(n_chunks(rows.n), rows.n_threads)
    for worker in range(workers):
        for k in range(2 * rows.n_values):
            for i in range(rows.begin, rows.end):
                rows.counts[worker * rows.capacity + k * rows.width + i] = 0
    run_chunks(rows, count_chunk)
    for k in range(2 * rows.n_values):
        for i in range(rows.begin, rows.end):
            cell = k * rows.width + i
            for worker in range(1, workers):
                rows.counts[cell] += rows.counts[worker * rows.capacity + cell]
            rows.mass[cell] = <double>rows.counts[cell]


cdef void weigh_part(void *argument, Py_ssize_t part, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m, end = part_begin(rows.n, rows.n_parts, part + 1)
    cdef double *mass = rows.mass + part * rows.n_values * 2 * rows.width
    cdef int32_t[RS_BLOCK] cells
    for block in range(part_begin(rows.n, rows.n_parts, part) // RS_BLOCK, n_blocks(end)):
        if rs_stopped(rows.stop):
            return
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        block_cells(rows, cells, start, m)
        rs_add_weights(mass, rows.weights + start, cells, m)


cdef void weigh_line(Rows *rows) noexcept nogil:
    """Fill the joint histogram by adding weights, in parts of the rows that are then added."""
    cdef Py_ssize_t k, i, cell, part, n_cells = rows.n_values * 2 * rows.width
    rows.n_parts = n_parts(rows.n, n_cells)
    for k in range(2 * rows.n_values * rows.n_parts):
        for i in range(rows.begin, rows.end):
            rows.mass[k * rows.width + i] = 0.0
    run(weigh_part, rows, rows.n_parts, n_workers(rows.n_parts, rows.n_threads))
    for part in range(1, rows.n_parts):
        for k in range(2 * rows.n_values):
            for i in range(rows.begin, rows.end):
                cell = k * rows.width + i
                rows.mass[cell] += rows.mass[part * n_cells + cell]


cdef inline double pass_step(const Rows *rows, double points) noexcept nogil:
    """A step in the terms of the scores at hand."""
    return points if rows.integer else points * rows.unit


cdef double line_loss(Rows *rows, double step, double shift) noexcept nogil:
    """Loss after ``step`` points along the current line and ``shift`` of the intercept."""
    cdef Py_ssize_t v, c, cell, move
    cdef Py_ssize_t length = rows.end - rows.begin
    cdef rs_sum total
    rows.n_evaluations += 1
    if not rows.n_values:
        rows.step = pass_step(rows, step)
        rows.shift = pass_step(rows, shift)
        run_chunks(rows, line_loss_chunk)
        return summed(rows, 0, 1) / rows.total_weight
    total.high = total.low = 0.0
    for v in range(rows.n_values):
        move = <Py_ssize_t>step * (rows.first + v) + <Py_ssize_t>shift
        for c in range(2):
            cell = c * rows.width + rows.begin
            rs_add(&total, rs_dot_f64(rows.mass + v * 2 * rows.width + cell,
                                      rows.losses + cell + move, length))
    return (total.high + total.low) / rows.total_weight


cdef void line_loss_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m, end = min(rows.n, (chunk + 1) * RS_CHUNK)
    cdef double[RS_BLOCK] values
    cdef rs_sum total
    total.high = total.low = 0.0
    rows.sums[chunk] = total
    if rs_stopped(rows.stop):
        return
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        if rows.integer:
            table_losses(rows, values, <int32_t>rows.step, <int32_t>rows.shift, start, m)
            rs_add(&total, weighted_total(rows, values, start, m))
        elif is_real(rows, rows.line):
            rs_add(&total, rs_sum_row_tile_line_losses(
                &rows.row_tiles, start, -1 - rows.slot[rows.line - 1], rows.step, rows.shift,
                rows.scores + start, rows.labels + start, weights_from(rows, start), m))
        else:
            moved_scores(rows, values, rows.step, rows.shift, start, m)
            rs_add(&total, rs_sum_losses(values, rows.labels + start,
                                         weights_from(rows, start), m))
    rows.sums[chunk] = total


cdef inline const double *weights_from(const Rows *rows, Py_ssize_t start) noexcept nogil:
    return rows.weights + start if rows.weights != NULL else NULL


cdef inline double weighted_total(
    const Rows *rows, double *values, Py_ssize_t start, Py_ssize_t m
) noexcept nogil:
    """Sum of a block's values times the weights, which are left in ``values``."""
    if rows.weights != NULL:
        rs_multiply(values, rows.weights + start, m)
    return rs_total(values, m)


cdef void table_losses(
    Rows *rows, double *out, int32_t step, int32_t shift, Py_ssize_t start, Py_ssize_t m,
) noexcept nogil:
    cdef int32_t[RS_BLOCK] position
    cdef Py_ssize_t i
    for i in range(m):
        position[i] = rows.position[start + i]
    if rows.line == 0:
        for i in range(m):
            position[i] += step + shift
    else:
        rs_add_column_positions(position, integer_column(rows, rows.line) + start, step, shift, m)
    rs_lookup(out, rows.losses, position, m)


cdef void moved_scores(
    Rows *rows, double *out, double step, double shift, Py_ssize_t start, Py_ssize_t m,
) noexcept nogil:
    cdef Py_ssize_t i
    cdef double[RS_BLOCK] x
    if rows.line == 0:
        for i in range(m):
            out[i] = rows.scores[start + i] + (step + shift)
    elif is_real(rows, rows.line):
        rs_line_f64(out, rows.scores + start, real_block(rows, rows.line, x, start, m),
                    step, shift, m)
    else:
        rs_line_i8(out, rows.scores + start, integer_column(rows, rows.line) + start,
                   step, shift, m)


cdef void move_scores(Rows *rows, Py_ssize_t line, double step) noexcept nogil:
    """Take a step along a column for good."""
    rows.line = line
    rows.step = pass_step(rows, step)
    run_chunks(rows, move_chunk)


cdef void move_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m, i, end = min(rows.n, (chunk + 1) * RS_CHUNK)
    cdef double[RS_BLOCK] moved
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        if not rows.integer:
            moved_scores(rows, moved, rows.step, 0.0, start, m)
            for i in range(m):
                rows.scores[start + i] = moved[i]
        elif rows.line == 0:
            for i in range(m):
                rows.position[start + i] += <int32_t>rows.step
        else:
            rs_add_column_positions(
                rows.position + start, integer_column(rows, rows.line) + start,
                <int32_t>rows.step, 0, m)


# ---- bounds from one gradient ---------------------------------------------------------

cdef void open_bounds(
    Bounds *bounds, uint8_t[::1] wanted, double[:, ::1] workspace, const double[::1] magnitude
) noexcept nogil:
    bounds.wanted = &wanted[0]
    bounds.gradient = &workspace[0, 0]
    bounds.curvature = &workspace[1, 0]
    bounds.objective = &workspace[2, 0]
    bounds.magnitude = &magnitude[0]
    bounds.slack = 0.0


cdef double measure_lines(Rows *rows, Bounds *bounds) noexcept nogil:
    """First and second derivatives along the wanted lines; returns the loss."""
    rows.n_evaluations += 1
    rows.bounds = bounds
    use_wanted_reals(rows)
    run_chunks(rows, measure_chunk)
    add_measures(rows, bounds)
    return summed(rows, 0, 2 * rows.n_lines + 1) / rows.total_weight


cdef void use_wanted_reals(Rows *rows) noexcept nogil:
    """Have the real columns of the wanted lines read."""
    cdef Py_ssize_t line
    rows.row_tiles.n_used = 0
    for line in range(1, rows.n_lines):
        if rows.bounds.wanted[line] and is_real(rows, line):
            rows.used[rows.row_tiles.n_used] = -1 - rows.slot[line - 1]
            rows.row_tiles.n_used += 1


cdef void add_measures(const Rows *rows, Bounds *bounds) noexcept nogil:
    """Derivatives of all rows by points from the sums of the chunks."""
    cdef Py_ssize_t line, stride = 2 * rows.n_lines + 1
    cdef double first = rows.unit, second = rows.unit * rows.unit
    for line in range(rows.n_lines):
        bounds.gradient[line] = bounds.curvature[line] = 0.0
        if bounds.wanted[line]:
            bounds.gradient[line] = first * (
                summed(rows, 2 * line + 1, stride) / rows.total_weight)
            bounds.curvature[line] = second * (
                summed(rows, 2 * line + 2, stride) / rows.total_weight)


cdef void measure_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Rows *rows = <Rows *>argument
    cdef Py_ssize_t block, start, m, line, k, end = min(rows.n, (chunk + 1) * RS_CHUNK)
    cdef double[RS_BLOCK] losses
    cdef double[RS_BLOCK] slopes
    cdef double[RS_BLOCK] curvatures
    cdef rs_sum *sums = rows.sums + chunk * (2 * rows.n_lines + 1)
    for k in range(2 * rows.n_lines + 1):
        sums[k].high = sums[k].low = 0.0
    if rs_stopped(rows.stop):
        return
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        if rows.integer:
            rs_lookup(losses, rows.losses, rows.position + start, m)
            rs_lookup(slopes, rows.slopes, rows.position + start, m)
            rs_add(&sums[0], weighted_total(rows, losses, start, m))
        else:
            rs_add(&sums[0], rs_sum_losses_and_slopes(
                slopes, rows.scores + start, rows.labels + start, weights_from(rows, start), m))
        rs_curvatures(curvatures, slopes, m)
        if rows.weights != NULL:
            rs_multiply(slopes, rows.weights + start, m)
            rs_multiply(curvatures, rows.weights + start, m)
        for line in range(rows.n_lines):
            if rows.bounds.wanted[line] and not is_real(rows, line):
                add_derivatives(rows, sums, line, slopes, curvatures, start, m)
        add_real_derivatives(rows, sums, slopes, curvatures, start, m, worker)


cdef inline void add_derivatives(
    const Rows *rows, rs_sum *sums, Py_ssize_t line, const double *slopes,
    const double *curvatures, Py_ssize_t start, Py_ssize_t m,
) noexcept nogil:
    """Add a block's first and second derivatives along a line to a chunk's sums.

    The line is that of the intercept or of an integer column.
    """
    cdef double first, second
    if line == 0:
        first = rs_total(slopes, m)
        second = rs_total(curvatures, m)
    else:
        first = rs_dot_i8(slopes, integer_column(rows, line) + start, m)
        second = rs_dot_square_i8(curvatures, integer_column(rows, line) + start, m)
    rs_add(&sums[2 * line + 1], first)
    rs_add(&sums[2 * line + 2], second)


cdef inline void add_real_derivatives(
    const Rows *rows, rs_sum *sums, const double *slopes, const double *curvatures,
    Py_ssize_t start, Py_ssize_t m, int worker,
) noexcept nogil:
    """The same for the lines of all real columns that are wanted."""
    cdef Py_ssize_t line
    cdef double *product = rows.products + worker * rs_products_room(2 * rows.row_tiles.d)
    memset(product, 0, 2 * RS_ROW_TILE_LANES * rows.row_tiles.n_used * sizeof(double))
    rs_add_row_tile_derivatives(product, &rows.row_tiles, start, slopes, curvatures, m)
    for line in range(1, rows.n_lines):
        if rows.bounds.wanted[line] and is_real(rows, line):
            rs_add(&sums[2 * line + 1], rs_fold_row_tile(product))
            rs_add(&sums[2 * line + 2], rs_fold_row_tile(product + RS_ROW_TILE_LANES))
            product += 2 * RS_ROW_TILE_LANES


cdef double curvature_factor(
    const Bounds *bounds, Py_ssize_t line, double step
) noexcept nogil:
    """Bound what a step along a line costs per curvature, from below."""
    cdef double t = bounds.magnitude[line] * fabs(step)
    cdef double omega
    if t < 1e-2:    # without cancellation; still a lower bound of exp(-t) + t - 1
        omega = t * t * (0.5 - t / 6.0)
    else:
        omega = exp(-t) + t - 1.0
    return omega / bounds.magnitude[line] / bounds.magnitude[line]


cdef double change_bound(const Bounds *bounds, Py_ssize_t line, double step) noexcept nogil:
    """Lower bound on the change of the loss by a step along a line."""
    return (bounds.gradient[line] * step
            + bounds.curvature[line] * curvature_factor(bounds, line, step))


cdef double least_change(
    const Bounds *bounds, Py_ssize_t line, double a, double b
) noexcept nogil:
    """Least change_bound over the steps from a to b, which have one sign."""
    cdef double g = fabs(bounds.gradient[line]), size
    cdef double steepest = bounds.curvature[line] / bounds.magnitude[line]
    if (bounds.gradient[line] > 0.0) == (a > 0.0) or g == 0.0:
        size = 0.0    # it costs from the first step on
    elif g >= steepest:
        size = INFINITY
    else:
        size = -log(1.0 - g / steepest) / bounds.magnitude[line]
    if a > 0.0:
        return change_bound(bounds, line, min(max(size, a), b))
    return change_bound(bounds, line, max(min(-size, b), a))


cdef enum:
    NEWTON_STEPS = 4

cdef double least_with_ridge(
    const Bounds *bounds, Py_ssize_t line, double a, double b, double now, double ridge
) noexcept nogil:
    """Lower bound on change_bound plus the ridge penalty of a coefficient that was ``now``.

    Over the steps from a to b, which have one sign. change_bound is convex there, and above its
    tangent at any step: the tangent with the penalty has its minimum at the vertex of a parabola.
    Newton's method finds a step near which that is tight.
    """
    cdef double g = bounds.gradient[line], h = bounds.curvature[line]
    cdef double magnitude = bounds.magnitude[line], side = 1.0 if a > 0.0 else -1.0
    cdef double step, slope, flat, vertex
    cdef int k
    if ridge == 0.0:
        return least_change(bounds, line, a, b)
    step = a if a > 0.0 else b
    for k in range(NEWTON_STEPS + 1):
        flat = exp(-magnitude * fabs(step))
        slope = g + side * (h / magnitude) * (1.0 - flat)
        if k < NEWTON_STEPS:
            step -= (slope + 2.0 * ridge * (now + step)) / (h * flat + 2.0 * ridge)
            step = min(max(step, a), b)
    vertex = min(max(-slope / (2.0 * ridge) - now, a), b)
    return (change_bound(bounds, line, step) + slope * (vertex - step)
            + ridge * (now + vertex) * (now + vertex))


# ---- line search --------------------------------------------------------------------

cdef enum:
    REMEMBERED = 8

cdef struct Search:
    # One of the current line's coefficient and the intercept is searched, the other one kept.
    Rows *rows
    const double *ridge          # (d,)
    bint along_intercept
    int64_t at                   # present value of what is searched
    double kept                  # step of the line, or shift of the intercept
    bint exhaustive
    int64_t[REMEMBERED] value
    double[REMEMBERED] loss
    int n_remembered


cdef inline void begin_search(
    Search *search, bint along_intercept, int64_t at, int64_t kept
) noexcept nogil:
    search.along_intercept = along_intercept
    search.at = at
    search.kept = <double>kept
    search.n_remembered = 0


cdef double search_loss(Search *search, int64_t v) noexcept nogil:
    """Loss at value v, and the line's ridge penalty; golden section returns to its last points.

    While the intercept is searched, the line's coefficient has been zero, so that it is its step.
    Infinite once the rows are to stop: searches then end at once, and no value of theirs is taken.
    """
    cdef int k
    cdef double loss, points
    for k in range(min(search.n_remembered, REMEMBERED)):
        if search.value[k] == v:
            return search.loss[k]
    if rs_stopped(search.rows.stop):
        return INFINITY
    if search.along_intercept:
        loss = line_loss(search.rows, search.kept, <double>(v - search.at))
    else:
        loss = line_loss(search.rows, <double>(v - search.at), search.kept)
    if rs_stopped(search.rows.stop):
        return INFINITY
    if search.rows.line > 0:
        points = search.kept if search.along_intercept else <double>v
        loss += search.ridge[search.rows.line - 1] * points * points
    k = search.n_remembered % REMEMBERED
    search.value[k] = v
    search.loss[k] = loss
    search.n_remembered += 1
    return loss


cdef int64_t golden_section(Search *search, int64_t a, int64_t b) noexcept nogil:
    """Smallest minimiser of search_loss over the integers a..b.

    This function f is convex: f(p) <= f(q) for p < q puts the smallest minimiser below q,
    f(p) > f(q) puts it above p.
    """
    cdef int64_t p, q
    cdef double inverse_square = 0.3819660112501051     # of the golden ratio
    while b > a:
        p = a + <int64_t>(inverse_square * <double>(b - a))
        q = b - (p - a)
        if q == p:
            q = p + 1
        if search_loss(search, p) <= search_loss(search, q):
            b = q - 1
        else:
            a = p + 1
    return a


cdef int64_t line_minimum(Search *search, int64_t a, int64_t b) noexcept nogil:
    """Smallest minimiser of search_loss over a..b, which contains the present value.

    The minimum is mostly near, and an intercept may have hundreds of values: steps that double
    find an interval around it, golden section the minimum within.
    """
    cdef int64_t v, best = a, near = search.at, step = 1
    if search.exhaustive:
        for v in range(a + 1, b + 1):
            if search_loss(search, v) < search_loss(search, best):
                best = v
        return best
    if near < b and search_loss(search, near + 1) < search_loss(search, near):
        while near + step <= b and search_loss(search, near + step) < search_loss(search, near):
            a = near + 1
            near += step
            step *= 2
        return golden_section(search, a, min(b, near + step - 1))
    b = near
    while near - step >= a and search_loss(search, near - step) <= search_loss(search, near):
        b = near - 1
        near -= step
        step *= 2
    return golden_section(search, max(a, near - step + 1), b)


# ---- discrete coordinate descent ----------------------------------------------------

cdef struct Vector:
    Py_ssize_t d
    int64_t *coef                # (d + 1,), intercept first, as lower and upper
    const int64_t *lower
    const int64_t *upper
    const double *penalty        # (d,)
    const double *ridge          # (d,): penalty of a point, which grows with its square
    const uint8_t *direction     # (d + 1,): may this coefficient change
    const int64_t *feature_min   # (d,), integer scores only
    const int64_t *feature_max
    Py_ssize_t min_size
    Py_ssize_t max_size
    Py_ssize_t size


cdef struct Move:
    double objective
    Py_ssize_t out               # feature that leaves (-1: none)
    Py_ssize_t line
    int64_t value
    int64_t intercept


cdef inline double ridge_of(const Vector *vector, Py_ssize_t line, double value) noexcept nogil:
    return vector.ridge[line - 1] * value * value if line > 0 else 0.0


cdef double penalty_without(const Vector *vector, Py_ssize_t line) noexcept nogil:
    """Penalty of all features but one, added in their order whatever the path here."""
    cdef Py_ssize_t j
    cdef double total = 0.0
    for j in range(1, vector.d + 1):
        if j != line and vector.coef[j] != 0:
            total += vector.penalty[j - 1] + ridge_of(vector, j, <double>vector.coef[j])
    return total


cdef void open_line(Rows *rows, const Vector *vector, Py_ssize_t line) noexcept nogil:
    """Prepare a line; the scores' range follows from the coefficients at hand."""
    cdef Py_ssize_t j
    cdef int64_t a, b, low, high
    if not rows.integer:
        prepare_line(rows, line, 0, 0, 0, 0)
        return
    low = high = vector.coef[0] - rows.low
    for j in range(1, vector.d + 1):
        if vector.coef[j] != 0:
            a = vector.coef[j] * vector.feature_min[j - 1]
            b = vector.coef[j] * vector.feature_max[j - 1]
            low += min(a, b)
            high += max(a, b)
    if line == 0:
        prepare_line(rows, 0, 1, 1, low, high + 1)
    else:
        prepare_line(rows, line, vector.feature_min[line - 1], vector.feature_max[line - 1],
                     low, high + 1)


cdef inline void consider(
    Move *best, double objective, Py_ssize_t line, int64_t value
) noexcept nogil:
    """Keep the better move; of equal ones that of the first line, whatever the order here."""
    if objective < best.objective or (objective == best.objective and line < best.line):
        best.objective = objective
        best.line = line
        best.value = value
        best.out = -1


cdef void bound_lines(
    const Vector *vector, Bounds *bounds, double loss
) noexcept nogil:
    """Least objective that a change of each coefficient may reach."""
    cdef Py_ssize_t line
    cdef double now, a, b, rest, price, ridge, change, reach = 0.0
    for line in range(vector.d + 1):
        bounds.objective[line] = INFINITY
        if not bounds.wanted[line]:
            continue
        now = <double>vector.coef[line]
        a = <double>vector.lower[line] - now
        b = <double>vector.upper[line] - now
        reach = max(reach, bounds.magnitude[line] * max(-a, b)
                    + ridge_of(vector, line, max(fabs(now + a), fabs(now + b))))
        rest = penalty_without(vector, line)
        price = vector.penalty[line - 1] if line > 0 else 0.0
        ridge = vector.ridge[line - 1] if line > 0 else 0.0
        if a < 0.0:
            bounds.objective[line] = least_with_ridge(bounds, line, a, -1.0, now, ridge) + price
        if b > 0.0:
            change = least_with_ridge(bounds, line, 1.0, b, now, ridge) + price
            bounds.objective[line] = min(bounds.objective[line], change)
        if now != 0.0 and a <= -now <= b:
            change = change_bound(bounds, line, -now)
            bounds.objective[line] = min(bounds.objective[line], change)
        bounds.objective[line] += loss + rest
    bounds.slack = 1e-13 * (1.0 + loss + reach)


cdef void try_lines(
    Rows *rows, Vector *vector, Search *search, Bounds *bounds, Move *best
) noexcept nogil:
    """Best change of one coefficient."""
    cdef Py_ssize_t line, next_line
    cdef double loss
    for line in range(vector.d + 1):
        bounds.wanted[line] = (
            vector.direction[line] and vector.lower[line] < vector.upper[line]
            and (line == 0 or vector.coef[line] != 0 or vector.size < vector.max_size))
    loss = measure_lines(rows, bounds)
    bound_lines(vector, bounds, loss)
    while True:
        if rs_stopped(rows.stop):
            return
        next_line = -1
        for line in range(vector.d + 1):
            if bounds.wanted[line] and (
                    next_line < 0 or bounds.objective[line] < bounds.objective[next_line]):
                next_line = line
        if next_line < 0 or bounds.objective[next_line] - bounds.slack > best.objective:
            return
        try_coordinate(rows, vector, search, bounds, next_line, best)
        bounds.wanted[next_line] = 0


cdef int64_t searched_minimum(
    Vector *vector, Search *search, const Bounds *bounds, Py_ssize_t line
) noexcept nogil:
    """Best value of a coefficient by the loss and its ridge penalty."""
    cdef int64_t a = vector.lower[line], b = vector.upper[line], now = vector.coef[line]
    cdef double slope = bounds.gradient[line]
    # The slope at the present value tells on which side the minimum lies.
    if line > 0:
        slope += 2.0 * vector.ridge[line - 1] * <double>now
    if not search.exhaustive:
        if slope > bounds.slack:
            b = now
        elif slope < -bounds.slack:
            a = now
    return line_minimum(search, a, b)


cdef void try_coordinate(
    Rows *rows, Vector *vector, Search *search, const Bounds *bounds, Py_ssize_t line,
    Move *best,
) noexcept nogil:
    """Best value of one coefficient, the others kept."""
    cdef int64_t now = vector.coef[line], v
    cdef double rest = penalty_without(vector, line), price
    cdef bint may_be_zero
    open_line(rows, vector, line)
    begin_search(search, False, now, 0)
    v = searched_minimum(vector, search, bounds, line)
    if line == 0:
        if v != now:
            consider(best, search_loss(search, v) + rest, 0, v)
        return
    price = vector.penalty[line - 1]
    may_be_zero = (vector.lower[line] <= 0 <= vector.upper[line]
                   and (now == 0 or vector.size > vector.min_size))
    if v == 0 and not may_be_zero:
        # What is searched is convex: next to a minimum at zero are the best non-zero values.
        if vector.lower[line] < 0:
            consider(best, search_loss(search, -1) + price + rest, line, -1)
        if vector.upper[line] > 0:
            consider(best, search_loss(search, 1) + price + rest, line, 1)
    elif v != 0 and v != now:
        consider(best, search_loss(search, v) + price + rest, line, v)
    if may_be_zero and now != 0:
        consider(best, search_loss(search, 0) + rest, line, 0)


cdef void try_swaps(
    Rows *rows, Vector *vector, Search *search, Py_ssize_t out, Move *best
) noexcept nogil:
    """Best exchange of feature ``out`` for another one, with the intercept adapted.

    The intercept is adapted to the loss of a feature before the new one is searched, and once
    more after that.
    """
    cdef Py_ssize_t line
    cdef int64_t now = vector.coef[out], intercept = vector.coef[0], without = intercept, v
    cdef double rest
    if now == 0 or not vector.direction[out] or vector.lower[out] > 0 or vector.upper[out] < 0:
        return
    move_scores(rows, out, <double>(-now))
    vector.coef[out] = 0
    rest = penalty_without(vector, 0)
    if vector.direction[0]:
        open_line(rows, vector, 0)
        begin_search(search, False, intercept, 0)
        without = line_minimum(search, vector.lower[0], vector.upper[0])
    for line in range(1, vector.d + 1):
        if rs_stopped(rows.stop):
            break
        if (line == out or vector.coef[line] != 0 or not vector.direction[line]
                or vector.lower[line] == vector.upper[line]):
            continue
        open_line(rows, vector, line)
        begin_search(search, False, 0, without - intercept)
        v = line_minimum(search, vector.lower[line], vector.upper[line])
        if v != 0:
            consider_swap(vector, search, out, line, v, without, rest, best)
            continue
        # Zero is no exchange; beside it the neighbours are best (convexity).
        if vector.lower[line] < 0:
            consider_swap(vector, search, out, line, -1, without, rest, best)
        if vector.upper[line] > 0:
            consider_swap(vector, search, out, line, 1, without, rest, best)
    move_scores(rows, out, <double>now)
    vector.coef[out] = now


cdef void consider_swap(
    Vector *vector, Search *search, Py_ssize_t out, Py_ssize_t line, int64_t value,
    int64_t intercept, double rest, Move *best,
) noexcept nogil:
    cdef double objective
    begin_search(search, True, vector.coef[0], value)
    if vector.direction[0]:
        intercept = line_minimum(search, vector.lower[0], vector.upper[0])
    objective = search_loss(search, intercept) + vector.penalty[line - 1] + rest
    if objective < best.objective:
        best.objective = objective
        best.out = out
        best.line = line
        best.value = value
        best.intercept = intercept


cdef void take(Rows *rows, Vector *vector, Py_ssize_t line, int64_t value) noexcept nogil:
    if value == vector.coef[line]:
        return
    move_scores(rows, line, <double>(value - vector.coef[line]))
    if line > 0:
        vector.size += (value != 0) - (vector.coef[line] != 0)
    vector.coef[line] = value


cdef void open_scores(
    Rows *rows, bint integer, Py_ssize_t low, const double[:, ::1] losses,
    const double[:, ::1] slopes, int32_t[::1] position, double[::1] scores,
    int64_t[:, ::1] counts, double[::1] mass,
):
    """Scores as positions in tables, with room for joint histograms, or as real numbers."""
    rows.integer = integer
    rows.position = &position[0] if integer else NULL
    rows.scores = NULL if integer else &scores[0]
    rows.low = low
    rows.width = losses.shape[1]
    rows.losses = &losses[0, 0] if integer else NULL
    rows.slopes = &slopes[0, 0] if integer else NULL
    rows.capacity = counts.shape[1]
    rows.counts = &counts[0, 0] if rows.capacity else NULL
    rows.mass = &mass[0] if rows.capacity else NULL


cdef void open_vector(
    Vector *vector, int64_t[::1] coef, const int64_t[::1] lower, const int64_t[::1] upper,
    const double[::1] penalty, const double[::1] ridge, const uint8_t[::1] direction,
    const int64_t[::1] feature_min, const int64_t[::1] feature_max,
):
    cdef Py_ssize_t line
    vector.d = penalty.shape[0]
    vector.coef = &coef[0]
    vector.lower = &lower[0]
    vector.upper = &upper[0]
    vector.penalty = &penalty[0]
    vector.ridge = &ridge[0]
    vector.direction = &direction[0]
    vector.feature_min = &feature_min[0]
    vector.feature_max = &feature_max[0]
    vector.min_size = 0
    vector.max_size = vector.d
    vector.size = 0
    for line in range(1, vector.d + 1):
        vector.size += coef[line] != 0


def coordinate_descent(
    const int8_t[::1, :] columns, const double[:, :, ::1] row_tiles, const int64_t[::1] slot,
    const int8_t[::1] labels, const double[::1] weights, double total_weight, double unit,
    bint integer, Py_ssize_t low, const double[:, ::1] losses, const double[:, ::1] slopes,
    const int64_t[::1] feature_min, const int64_t[::1] feature_max,
    int32_t[::1] position, double[::1] scores, int64_t[:, ::1] counts, double[::1] mass,
    int64_t[::1] coef, const int64_t[::1] lower, const int64_t[::1] upper,
    const double[::1] penalty, const double[::1] ridge, const double[::1] magnitude,
    const uint8_t[::1] direction,
    uint8_t[::1] wanted, double[:, ::1] workspace, Py_ssize_t min_size, Py_ssize_t max_size,
    bint exhaustive, bint swaps, Py_ssize_t max_iterations, double tolerance,
    int64_t[::1] stop, int n_threads,
):
    """Polish ``coef`` in place; returns the numbers of moves and of losses computed.

    ``position`` (scores minus low, plus width for the positive class) or ``scores`` belong to
    ``coef`` on entry, and are used up. ``losses`` and ``slopes`` have a row per class,
    begin at score low, and cover every feasible vector. ``magnitude`` (d + 1,) is the largest
    absolute value of each feature times ``unit``; ``wanted`` (d + 1,) and ``workspace`` (3, d + 1)
    are scratch. ``unit`` is what a point adds to a score: ``scores`` and the tables have it as a
    factor, ``position`` and ``low`` are in points. ``ridge`` (d,) is the penalty of one point; it
    grows with the square of the points.
    ``counts`` (one row per thread) and ``mass`` hold the joint histograms; lines that need
    more cells than a row of ``counts`` go without. ``mass`` has as many cells as such a row, and
    with weights at least n / 8. A move must lower the objective by more than ``tolerance`` of it.
    Once stop[0] is above 0, which is looked at before each chunk of the rows, no move is made;
    below 0 it is counted up by each look.
    """
    cdef Rows rows
    cdef Vector vector
    cdef Search search
    cdef Bounds bounds
    cdef Move best
    cdef Py_ssize_t line, n_moves = 0
    cdef double objective
    open_rows(&rows, columns, row_tiles, slot, labels, weights, total_weight, unit, stop, n_threads)
    open_scores(&rows, integer, low, losses, slopes, position, scores, counts, mass)
    open_vector(&vector, coef, lower, upper, penalty, ridge, direction, feature_min, feature_max)
    vector.min_size = min_size
    vector.max_size = max_size
    open_bounds(&bounds, wanted, workspace, magnitude)
    search.rows = &rows
    search.ridge = &ridge[0]
    search.exhaustive = exhaustive
    with nogil:
        open_line(&rows, &vector, 0)
        objective = line_loss(&rows, 0.0, 0.0) + penalty_without(&vector, 0)
        while n_moves < max_iterations:
            best.objective = objective
            best.out = best.line = -1
            best.value = best.intercept = 0
            try_lines(&rows, &vector, &search, &bounds, &best)
            if swaps and not best.objective < objective - tolerance * objective:
                for line in range(1, vector.d + 1):
                    if rs_stopped(&stop[0]):
                        break
                    try_swaps(&rows, &vector, &search, line, &best)
            if rs_stopped(&stop[0]) or not best.objective < objective - tolerance * objective:
                break
            if best.out >= 0:
                take(&rows, &vector, best.out, 0)
                take(&rows, &vector, 0, best.intercept)
            take(&rows, &vector, best.line, best.value)
            objective = best.objective
            n_moves += 1
        close_rows(&rows)
    return n_moves, rows.n_evaluations


# ---- the best step of every feature -------------------------------------------------------

cdef enum:
    TURNS = 3

cdef double step_objective(
    Vector *vector, Search *search, Py_ssize_t line, int64_t value, int64_t *intercept,
) noexcept nogil:
    """Objective, less the prices of the other features, with the best intercept to a value."""
    begin_search(search, True, vector.coef[0], value)
    if vector.direction[0]:
        intercept[0] = line_minimum(search, vector.lower[0], vector.upper[0])
    return search_loss(search, intercept[0]) + vector.penalty[line - 1]


cdef double best_step(
    Vector *vector, Search *search, Py_ssize_t line, int64_t *value, int64_t *intercept,
) noexcept nogil:
    """Best value of an unused feature and the intercept to it, searched in turns."""
    cdef int64_t v, at = vector.coef[0]
    cdef int turn, side
    cdef double objective, least = INFINITY
    value[0] = 0
    intercept[0] = vector.coef[0]
    for turn in range(TURNS):
        begin_search(search, False, 0, intercept[0] - vector.coef[0])
        v = line_minimum(search, vector.lower[line], vector.upper[line])
        if v == value[0] and turn > 0:
            break
        if v == 0:
            # Zero is no step; beside it the neighbours are best (convexity).
            if turn > 0:
                break
            for side in range(-1, 2, 2):
                if vector.lower[line] <= side <= vector.upper[line]:
                    at = vector.coef[0]
                    objective = step_objective(vector, search, line, side, &at)
                    if objective < least:
                        least = objective
                        value[0] = side
                        intercept[0] = at
            continue
        at = intercept[0]
        objective = step_objective(vector, search, line, v, &at)
        if not objective < least:
            break
        least = objective
        value[0] = v
        intercept[0] = at
    return least


def best_line_steps(
    const int8_t[::1, :] columns, const double[:, :, ::1] row_tiles, const int64_t[::1] slot,
    const int8_t[::1] labels, const double[::1] weights, double total_weight, double unit,
    bint integer, Py_ssize_t low, const double[:, ::1] losses, const double[:, ::1] slopes,
    const int64_t[::1] feature_min, const int64_t[::1] feature_max,
    int32_t[::1] position, double[::1] scores, int64_t[:, ::1] counts, double[::1] mass,
    int64_t[::1] coef, const int64_t[::1] lower, const int64_t[::1] upper,
    const double[::1] penalty, const double[::1] ridge, const uint8_t[::1] direction,
    double[::1] objective, int64_t[::1] value, int64_t[::1] intercept,
    int64_t[::1] stop, int n_threads,
):
    """Best value of every unused feature with the intercept to it, all other points kept.

    Arguments as those of :func:`coordinate_descent`; ``coef`` and its scores are left as they are.
    ``objective``, ``value`` and ``intercept`` (d + 1,) are written. Features that are used, or not
    in ``direction``, that may only be zero, or of which no loss is known before stop[0] is set,
    which is looked at before each chunk of the rows, have an infinite objective. Value and
    intercept are searched in turns: either is best with the other one kept, or has been searched
    three times. Returns the number of losses computed.
    """
    cdef Rows rows
    cdef Vector vector
    cdef Search search
    cdef Py_ssize_t line
    cdef double rest
    open_rows(&rows, columns, row_tiles, slot, labels, weights, total_weight, unit, stop, n_threads)
    open_scores(&rows, integer, low, losses, slopes, position, scores, counts, mass)
    open_vector(&vector, coef, lower, upper, penalty, ridge, direction, feature_min, feature_max)
    search.rows = &rows
    search.ridge = &ridge[0]
    search.exhaustive = False
    with nogil:
        rest = penalty_without(&vector, 0)
        for line in range(vector.d + 1):
            objective[line] = INFINITY
            value[line] = 0
            intercept[line] = coef[0]
            if (line == 0 or rs_stopped(&stop[0]) or coef[line] != 0 or not direction[line]
                    or lower[line] == upper[line]):
                continue
            open_line(&rows, &vector, line)
            objective[line] = rest + best_step(
                &vector, &search, line, &value[line], &intercept[line])
        close_rows(&rows)
    return rows.n_evaluations


# ---- sequential rounding: which candidates cannot win -----------------------------------

cdef enum:
    DOWN = 0
    UP = 1
    # A quick loss may be given up after each wave of chunks: so many waves, of so many chunks
    # at least.
    WAVES = 16
    WAVE = 4


cdef struct Race:
    # Odds of the rows, exp(-score), and sums of log(1 + odds): quick losses (odds.h).
    Rows *rows
    bint open                    # all odds are within reach, now and after any rounding
    double *odds
    const int64_t *feature_min   # of integer columns
    const int64_t *feature_max
    # By chunk.
    double *negative             # negative class: sum of each feature, then of the scores
    double *moved                # sum of log(1 + odds) after a step
    int64_t *outside             # rows whose odds are not within bottom .. top
    double bottom
    double top
    double noise                 # most by which a quick loss differs from line_loss
    rs_sum score_sum             # of the rows of the negative class
    # The current step, times the unit; and the chunks that are looked at.
    Py_ssize_t line
    double step
    double[RS_ODDS_VALUES] factor
    Py_ssize_t first_chunk
    # Steps taken: those from n_settled on are not in rows.scores yet.
    Py_ssize_t n_steps
    Py_ssize_t n_settled
    int64_t *step_line
    double *step_size


cdef int open_race(
    Race *race, Rows *rows, double[::1] odds, const int64_t[::1] feature_min,
    const int64_t[::1] feature_max,
) except -1:
    cdef Py_ssize_t chunks = n_chunks(rows.n)
    race.rows = rows
    race.open = True
    race.odds = &odds[0]
    race.feature_min = &feature_min[0]
    race.feature_max = &feature_max[0]
    race.n_steps = race.n_settled = 0
    race.line = 0
    race.step = 0.0
    race.negative = <double *>calloc(chunks * (rows.n_lines + 1), sizeof(double))
    race.moved = <double *>calloc(chunks, sizeof(double))
    race.outside = <int64_t *>calloc(chunks, sizeof(int64_t))
    race.step_line = <int64_t *>calloc(rows.n_lines, sizeof(int64_t))
    race.step_size = <double *>calloc(rows.n_lines, sizeof(double))
    if (race.negative == NULL or race.moved == NULL or race.outside == NULL
            or race.step_line == NULL or race.step_size == NULL):
        close_race(race)
        raise MemoryError
    return 0


cdef void close_race(Race *race) noexcept nogil:
    free(race.negative)
    free(race.moved)
    free(race.outside)
    free(race.step_line)
    free(race.step_size)


cdef void begin_race(Race *race) noexcept nogil:
    """Odds of all rows, and what the negative class adds to a quick loss."""
    cdef Py_ssize_t chunk, stride = race.rows.n_lines + 1, chunks = n_chunks(race.rows.n)
    run(begin_chunk, race, chunks, n_workers(chunks, race.rows.n_threads))
    race.score_sum.high = race.score_sum.low = 0.0
    for chunk in range(chunks):
        rs_add(&race.score_sum, race.negative[chunk * stride + stride - 1])


cdef void begin_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Race *race = <Race *>argument
    cdef const Rows *rows = race.rows
    cdef Py_ssize_t block, start, m, line, end = min(rows.n, (chunk + 1) * RS_CHUNK)
    cdef double *sums = race.negative + chunk * (rows.n_lines + 1)
    cdef double[RS_BLOCK] negative
    cdef double[RS_BLOCK] x
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        rs_odds(race.odds + start, rows.scores + start, m)
        rs_negative(negative, rows.labels + start, m)
        if rows.weights != NULL:
            rs_multiply(negative, rows.weights + start, m)
        sums[rows.n_lines] += rs_dot_f64(negative, rows.scores + start, m)
        for line in range(rows.n_lines):
            if not rows.bounds.wanted[line]:
                continue
            if line == 0:
                sums[0] += rs_total(negative, m)
            elif rows.slot[line - 1] >= 0:
                sums[line] += rs_dot_i8(negative, integer_column(rows, line) + start, m)
            else:
                sums[line] += rs_dot_f64(negative, real_block(rows, line, x, start, m), m)


cdef inline bint has_bits(const Race *race, Py_ssize_t line) noexcept nogil:
    """Say if the values of an integer column are few enough for rs_odds_bits."""
    return race.feature_max[line - 1] - race.feature_min[line - 1] < 1 << RS_ODDS_BITS


cdef void prepare_step(Race *race, Py_ssize_t line, double points) noexcept nogil:
    """Make a step the current one: by what factors it changes the odds."""
    cdef Py_ssize_t k
    cdef double first, step = points * race.rows.unit
    race.line = line
    race.step = step
    if line == 0:
        race.factor[0] = rs_exp_moderate(-step)
    elif race.rows.slot[line - 1] >= 0:
        first = <double>race.feature_min[line - 1]
        if has_bits(race, line):
            race.factor[0] = rs_exp_moderate(-(step * first))
            for k in range(RS_ODDS_BITS):
                race.factor[k + 1] = rs_exp_moderate(-(step * <double>(1 << k)))
        else:
            for k in range(race.feature_max[line - 1] - race.feature_min[line - 1] + 1):
                race.factor[k] = rs_exp_moderate(-(step * (first + <double>k)))


cdef inline void moved_odds(
    const Race *race, double *out, Py_ssize_t start, Py_ssize_t m
) noexcept nogil:
    """Odds of a block after the current step."""
    cdef const Rows *rows = race.rows
    cdef const double *odds = race.odds + start
    cdef Py_ssize_t line = race.line
    cdef const int8_t *x
    cdef double[RS_BLOCK] reals
    if line == 0:
        rs_odds_all(out, odds, race.factor[0], m)
    elif is_real(rows, line):
        rs_odds_real(out, odds, real_block(rows, line, reals, start, m), race.step, m)
    else:
        x = integer_column(rows, line) + start
        if race.feature_max[line - 1] - race.feature_min[line - 1] == 1:
            rs_odds_bit(out, odds, x, race.feature_min[line - 1], race.factor, m)
        elif has_bits(race, line):
            rs_odds_bits(out, odds, x, race.feature_min[line - 1], race.factor, m)
        else:
            rs_odds_table(out, odds, x, <int32_t>race.feature_min[line - 1], race.factor, m)


cdef inline void add_log_odds(
    const Rows *rows, double *odds, rs_product *product, rs_sum *sum, Py_ssize_t start,
    Py_ssize_t m,
) noexcept nogil:
    """Add log(1 + odds) of a block to a product, or, times the weights, to a sum."""
    if rows.weights == NULL:
        rs_product_extend(product, odds, m)
        return
    rs_log_odds(odds, m)
    rs_multiply(odds, rows.weights + start, m)
    rs_add(sum, rs_total(odds, m))


cdef double measure_race(Race *race, Bounds *bounds) noexcept nogil:
    """First and second derivatives along the wanted lines after the step taken last.

    Returns the loss; closes the race if odds are out of reach.
    """
    cdef Rows *rows = race.rows
    cdef Py_ssize_t chunk, chunks = n_chunks(rows.n)
    cdef int64_t outside = 0
    rows.n_evaluations += 1
    rows.bounds = bounds
    use_wanted_reals(rows)
    run(measure_odds_chunk, race, chunks, n_workers(chunks, rows.n_threads))
    race.step = 0.0
    for chunk in range(chunks):
        outside += race.outside[chunk]
    race.open = outside == 0
    add_measures(rows, bounds)
    return (summed(rows, 0, 2 * rows.n_lines + 1)
            + (race.score_sum.high + race.score_sum.low)) / rows.total_weight


cdef void measure_odds_chunk(void *argument, Py_ssize_t chunk, int worker) noexcept nogil:
    cdef Race *race = <Race *>argument
    cdef const Rows *rows = race.rows
    cdef Py_ssize_t block, start, m, k, end = min(rows.n, (chunk + 1) * RS_CHUNK)
    cdef rs_sum *sums = rows.sums + chunk * (2 * rows.n_lines + 1)
    cdef double *odds
    cdef rs_product product
    cdef double[RS_BLOCK] moved
    cdef double[RS_BLOCK] slopes
    cdef double[RS_BLOCK] curvatures
    rs_product_open(&product)
    for k in range(2 * rows.n_lines + 1):
        sums[k].high = sums[k].low = 0.0
    race.outside[chunk] = 0
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        odds = race.odds + start
        if race.step != 0.0:
            moved_odds(race, moved, start, m)
            memcpy(odds, moved, m * sizeof(double))
        race.outside[chunk] += rs_odds_outside(odds, race.bottom, race.top, m)
        rs_odds_slopes(slopes, odds, rows.labels + start, m)
        rs_curvatures(curvatures, slopes, m)
        if rows.weights != NULL:
            rs_multiply(slopes, rows.weights + start, m)
            rs_multiply(curvatures, rows.weights + start, m)
        if rows.weights != NULL:
            memcpy(moved, odds, m * sizeof(double))
            odds = moved
        add_log_odds(rows, odds, &product, &sums[0], start, m)
        add_odds_derivatives(race, sums, slopes, curvatures, start, m)
        add_real_derivatives(rows, sums, slopes, curvatures, start, m, worker)
    if rows.weights == NULL:
        sums[0].high = rs_product_log(&product)


cdef inline bint has_digits(const Race *race, Py_ssize_t line) noexcept nogil:
    """Say if derivatives along a line come from digits: no weights, small integers."""
    return (race.rows.weights == NULL and line > 0 and race.rows.slot[line - 1] >= 0
            and race.feature_min[line - 1] >= -RS_ODDS_NARROW
            and race.feature_max[line - 1] <= RS_ODDS_NARROW)


cdef void add_odds_derivatives(
    const Race *race, rs_sum *sums, const double *slopes, const double *curvatures,
    Py_ssize_t start, Py_ssize_t m,
) noexcept nogil:
    """Add a block's first and second derivatives along the wanted lines to a chunk's sums.

    Those of real columns are left out.
    """
    cdef const Rows *rows = race.rows
    cdef Py_ssize_t line
    cdef int64_t[2] dots
    cdef int16_t[RS_BLOCK] high
    cdef int16_t[RS_BLOCK] low
    cdef int16_t[RS_BLOCK] flat
    if rows.weights == NULL:
        rs_odds_digits(high, low, flat, slopes, curvatures, m)
    for line in range(rows.n_lines):
        if not rows.bounds.wanted[line] or is_real(rows, line):
            continue
        if not has_digits(race, line):
            add_derivatives(rows, sums, line, slopes, curvatures, start, m)
            continue
        rs_dot_odds_digits(dots, high, low, flat, integer_column(rows, line) + start, m)
        rs_add(&sums[2 * line + 1], <double>dots[0] * RS_ODDS_SLOPE_UNIT)
        rs_add(&sums[2 * line + 2], <double>dots[1] * RS_ODDS_CURVATURE_UNIT)


cdef void race_chunk(void *argument, Py_ssize_t item, int worker) noexcept nogil:
    cdef Race *race = <Race *>argument
    cdef const Rows *rows = race.rows
    cdef Py_ssize_t chunk = race.first_chunk + item
    cdef Py_ssize_t block, start, m, end = min(rows.n, (chunk + 1) * RS_CHUNK)
    cdef double[RS_BLOCK] moved
    cdef rs_product product
    cdef rs_sum total
    total.high = total.low = 0.0
    rs_product_open(&product)
    for block in range(chunk * RS_CHUNK_BLOCKS, n_blocks(end)):
        start = block * RS_BLOCK
        m = min(RS_BLOCK, end - start)
        moved_odds(race, moved, start, m)
        add_log_odds(rows, moved, &product, &total, start, m)
    race.moved[chunk] = total.high + total.low
    if rows.weights == NULL:
        race.moved[chunk] = rs_product_log(&product)


cdef inline double digits_error(const Race *race, Py_ssize_t line, double step) noexcept nogil:
    """Most by which digits make the slope along a line, times a step, too large."""
    if not race.open or not has_digits(race, line):
        return 0.0
    return RS_ODDS_SLOPE_UNIT * race.rows.bounds.magnitude[line] * fabs(step)


cdef double quick_change(
    Race *race, const Bounds *bounds, Py_ssize_t line, double step, double enough
) noexcept nogil:
    """Change of the loss by a step along a line; infinity once it is seen to exceed ``enough``.

    Of the rows not seen yet the bound from first and second derivatives is added. Several
    threads compute half of the chunks at once, and look at them wave by wave as one does: to
    meet after each wave would cost more than it saves, above all on a busy machine.
    """
    cdef Rows *rows = race.rows
    cdef Py_ssize_t chunk, k, wave, batch, computed = 0, chunks = n_chunks(rows.n)
    cdef Py_ssize_t stride = 2 * rows.n_lines + 1
    cdef double least, moved = step * rows.unit
    cdef double flattened = curvature_factor(bounds, line, step) * rows.unit * rows.unit
    cdef const rs_sum *sums
    cdef rs_sum seen, rest
    seen.high = seen.low = rest.low = 0.0
    rest.high = rows.total_weight * (
        change_bound(bounds, line, step) - digits_error(race, line, step))
    rows.n_evaluations += 1
    prepare_step(race, line, step)
    chunk = 0
    while chunk < chunks:
        wave = min(max(WAVE, (chunks + WAVES - 1) // WAVES), chunks - chunk)
        if computed < chunk + wave:
            batch = wave if rows.n_threads == 1 else max(wave, (chunks + 1) // 2)
            batch = min(batch, chunks - computed)
            race.first_chunk = computed
            run(race_chunk, race, batch, n_workers(batch, rows.n_threads))
            computed += batch
        for k in range(chunk, chunk + wave):
            sums = rows.sums + k * stride
            rs_add(&seen, race.moved[k] - (sums[0].high + sums[0].low))
            rs_add(&seen, moved * race.negative[k * (rows.n_lines + 1) + line])
            rs_add(&rest, -moved * sums[2 * line + 1].high)
            rs_add(&rest, -flattened * sums[2 * line + 2].high)
        chunk += wave
        least = (seen.high + rest.high) + (seen.low + rest.low)
        if chunk < chunks and least / rows.total_weight > enough:
            return INFINITY
    return (seen.high + seen.low) / rows.total_weight


cdef void settle(Race *race) noexcept nogil:
    """Bring the scores up to date."""
    while race.n_settled < race.n_steps:
        move_scores(race.rows, race.step_line[race.n_settled], race.step_size[race.n_settled])
        race.n_settled += 1


# ---- sequential rounding ------------------------------------------------------------------

cdef struct Rounding:
    Race race
    Bounds bounds
    Py_ssize_t d
    double *coef
    uint8_t *pending
    const double *penalty
    const double *ridge          # penalty of a point, which grows with its square
    Py_ssize_t min_size
    Py_ssize_t max_size
    Py_ssize_t n_pending
    Py_ssize_t used              # features that stay whatever is rounded how
    Py_ssize_t optional          # features that may become zero
    double settled               # penalty of all non-zero coefficients, pending ones included
    double squares               # ridge penalty of them, a part of it
    double loss
    double slack                 # rounding errors of the bounds
    double *bound                # of down and up: least objective; infinity if out of question
    double *value                # of down and up: quick objective
    int64_t *stop                # as of rs_stopped: look at no more candidates


cdef struct Choice:
    Py_ssize_t line              # -1: none
    int direction
    double value


cdef inline double rounded(double coef, int direction) noexcept nogil:
    return ceil(coef) if direction == UP else floor(coef)


cdef inline double step_to(const Rounding *r, Py_ssize_t line, int direction) noexcept nogil:
    return rounded(r.coef[line], direction) - r.coef[line]


cdef inline double saved_by(const Rounding *r, Py_ssize_t line, int direction) noexcept nogil:
    """Penalty that is saved by rounding."""
    cdef double value = rounded(r.coef[line], direction), ridge
    if line == 0:
        return 0.0
    ridge = r.ridge[line - 1] * (r.coef[line] - value) * (r.coef[line] + value)
    return r.penalty[line - 1] + ridge if value == 0.0 else ridge


cdef inline bint may_vanish(const Rounding *r, Py_ssize_t line) noexcept nogil:
    return line > 0 and (floor(r.coef[line]) == 0.0 or ceil(r.coef[line]) == 0.0)


cdef bint size_possible(Rounding *r) noexcept nogil:
    """Count features; whether a permitted size can be reached."""
    cdef Py_ssize_t j
    r.n_pending = r.used = r.optional = 0
    r.settled = r.squares = 0.0
    for j in range(r.d + 1):
        r.n_pending += r.pending[j]
        if j == 0 or r.coef[j] == 0.0:
            continue
        r.settled += r.penalty[j - 1]
        r.squares += r.ridge[j - 1] * r.coef[j] * r.coef[j]
        if r.pending[j] and may_vanish(r, j):
            r.optional += 1
        else:
            r.used += 1
    r.settled += r.squares
    return r.used <= r.max_size and r.used + r.optional >= r.min_size


cdef inline bint permitted(const Rounding *r, Py_ssize_t line, int direction) noexcept nogil:
    if not may_vanish(r, line):
        return True
    if rounded(r.coef[line], direction) != 0.0:
        return r.used + 1 <= r.max_size
    return r.used + r.optional - 1 >= r.min_size


cdef double widest_step(const Rounding *r) noexcept nogil:
    """Largest change of a score, times the unit, by one rounding."""
    cdef Py_ssize_t j
    cdef double widest = 0.0
    for j in range(r.d + 1):
        if r.pending[j]:
            widest = max(widest, r.bounds.magnitude[j] * max(
                step_to(r, j, UP), -step_to(r, j, DOWN)))
    return widest


cdef void measure(Rounding *r) noexcept nogil:
    """Loss and derivatives at the present vector, from odds if they are within reach."""
    cdef Race *race = &r.race
    cdef Rows *rows = race.rows
    cdef double widest = widest_step(r), level
    cdef Py_ssize_t stride = 2 * rows.n_lines + 1
    r.slack = 0.0
    if race.open and widest < RS_ODDS_REACH:
        race.top = rs_exp_moderate(RS_ODDS_REACH - widest)
        race.bottom = 1.0 / race.top
        r.loss = measure_race(race, &r.bounds)
        if race.open:
            # A step taken puts 20 roundings into the odds, and moves of the score by less than
            # RS_ODDS_REACH, of 2^-53 each: below 1e-13. Sums of up to 64 terms are below
            # 64 * 2^-53 of their size; the terms are logarithms and scores.
            level = summed(rows, 0, stride) / rows.total_weight
            race.noise = 1e-13 * (
                (1.0 + widest) * <double>(2 + race.n_steps) + level + fabs(r.loss - level)
                + fabs(r.loss))
            r.slack = race.noise
            return
    race.open = False
    settle(race)
    r.loss = measure_lines(rows, &r.bounds)


cdef double bound_roundings(Rounding *r) noexcept nogil:
    """Bound the objective of each rounding into r.bound; returns that of all of them together."""
    cdef Py_ssize_t j
    cdef int direction
    cdef double least, step, price, error, common = r.loss + r.settled
    for j in range(r.d + 1):
        if not r.pending[j]:
            continue
        r.slack = max(r.slack, 1e-13 * (1.0 + r.loss + r.bounds.magnitude[j] + r.squares))
        least = INFINITY
        for direction in range(2):
            step = step_to(r, j, direction)
            price = -saved_by(r, j, direction)
            error = digits_error(&r.race, j, step)
            least = min(least, r.bounds.gradient[j] * step - error + price)
            r.bound[direction * (r.d + 1) + j] = INFINITY
            if permitted(r, j, direction):
                r.bound[direction * (r.d + 1) + j] = (
                    r.loss + r.settled + (change_bound(&r.bounds, j, step) - error) + price)
        common += least
    return common - r.slack * r.n_pending


cdef Choice next_candidate(const Rounding *r) noexcept nogil:
    """The rounding with the least bound."""
    cdef Choice least
    cdef int direction
    cdef Py_ssize_t j
    cdef double bound
    least.line = -1
    least.direction = DOWN
    least.value = INFINITY
    for direction in range(2):
        for j in range(r.d + 1):
            bound = r.bound[direction * (r.d + 1) + j]
            if r.pending[j] and bound < least.value:
                least.line = j
                least.direction = direction
                least.value = bound
    return least


cdef Choice likely_winner(const Rounding *r) noexcept nogil:
    """The rounding with the least objective by second derivatives."""
    cdef Choice least
    cdef int direction
    cdef Py_ssize_t j
    cdef double step, value
    least.line = -1
    least.direction = DOWN
    least.value = INFINITY
    for direction in range(2):
        for j in range(r.d + 1):
            if not r.pending[j] or r.bound[direction * (r.d + 1) + j] == INFINITY:
                continue
            step = step_to(r, j, direction)
            value = (r.bounds.gradient[j] + 0.5 * r.bounds.curvature[j] * step) * step
            value -= saved_by(r, j, direction)
            if value < least.value:
                least.line = j
                least.direction = direction
                least.value = value
    return least


cdef Choice run_race(Rounding *r) noexcept nogil:
    """Leave finite bounds to the roundings that may be best; returns the best by quick losses."""
    cdef Choice best, tried
    cdef Py_ssize_t k, n_left = 0
    cdef double base, change
    best.line = -1
    best.direction = DOWN
    best.value = INFINITY
    for k in range(2 * (r.d + 1)):
        r.value[k] = INFINITY
    tried = likely_winner(r)
    while tried.line >= 0 and not rs_stopped(r.stop):
        k = tried.direction * (r.d + 1) + tried.line
        base = r.loss + r.settled - saved_by(r, tried.line, tried.direction)
        change = quick_change(
            &r.race, &r.bounds, tried.line, step_to(r, tried.line, tried.direction),
            best.value + 2.0 * r.slack - base)
        r.bound[k] = INFINITY
        r.value[k] = base + change
        if r.value[k] < best.value:
            best.line = tried.line
            best.direction = tried.direction
            best.value = r.value[k]
        tried = next_candidate(r)
        if tried.value > best.value + 2.0 * r.slack:
            break
    for k in range(2 * (r.d + 1)):
        r.bound[k] = INFINITY
        if r.value[k] <= best.value + 2.0 * r.slack:
            r.bound[k] = r.value[k]
            n_left += 1
    if n_left != 1:
        best.line = -1
    return best


cdef Choice exact_best(Rounding *r) noexcept nogil:
    """The best rounding among those with finite bounds, by losses in full accuracy."""
    cdef Choice best, tried
    cdef double value
    best.line = -1
    best.direction = DOWN
    best.value = INFINITY
    while True:
        tried = next_candidate(r)
        if tried.line < 0 or tried.value - r.slack > best.value or rs_stopped(r.stop):
            return best
        r.bound[tried.direction * (r.d + 1) + tried.line] = INFINITY
        r.race.rows.line = tried.line
        value = line_loss(
            r.race.rows, step_to(r, tried.line, tried.direction), 0.0) + r.settled
        value -= saved_by(r, tried.line, tried.direction)
        # Equal values: down before up, then the lowest index, as in the paper.
        if value < best.value or (value == best.value and (
                tried.direction < best.direction
                or (tried.direction == best.direction and tried.line < best.line))):
            best = tried
            best.value = value


cdef Choice best_rounding(Rounding *r) noexcept nogil:
    cdef Choice best
    if r.race.open:
        best = run_race(r)
        if best.line >= 0:
            return best
        settle(&r.race)
    return exact_best(r)


cdef void take_rounding(Rounding *r, Choice best) noexcept nogil:
    cdef Race *race = &r.race
    cdef double step = step_to(r, best.line, best.direction)
    cdef Py_ssize_t chunk, stride = race.rows.n_lines + 1
    race.step_line[race.n_steps] = best.line
    race.step_size[race.n_steps] = step
    race.n_steps += 1
    if race.open:
        prepare_step(race, best.line, step)
        for chunk in range(n_chunks(race.rows.n)):
            rs_add(&race.score_sum,
                   step * race.rows.unit * race.negative[chunk * stride + best.line])
    else:
        settle(race)
    r.coef[best.line] = rounded(r.coef[best.line], best.direction)
    r.pending[best.line] = 0


def sequential_rounding(
    const int8_t[::1, :] columns, const double[:, :, ::1] row_tiles, const int64_t[::1] slot,
    const int8_t[::1] labels, const double[::1] weights, double total_weight, double unit,
    const int64_t[::1] feature_min, const int64_t[::1] feature_max,
    double[::1] scores, double[::1] odds, double[::1] coef, const double[::1] penalty,
    const double[::1] ridge, const double[::1] magnitude, Py_ssize_t min_size, Py_ssize_t max_size,
    double cutoff,
    uint8_t[::1] pending, double[:, ::1] workspace, double[:, ::1] bound,
    int64_t[::1] stop, int n_threads,
):
    """Round ``coef`` in place, one coefficient at a time, in the direction that costs least.

    ``scores``, times ``unit``, belong to ``coef`` on entry, and are used up. ``feature_min`` and ``feature_max``
    (d,) are those of the integer columns; ``magnitude`` (d + 1,) is the largest absolute value
    of each feature times ``unit``; ``ridge`` (d,) as in coordinate_descent. ``pending`` marks the
    coefficients that are no integers (and is used up);
    ``odds`` (n,), ``workspace`` (3, d + 1) and ``bound`` (4, d + 1) are scratch.

    Returns the outcome (0: rounded, 1: stopped by the cutoff, 2: no rounding has a permitted
    size, 3: stop[0], which is looked at before each pass and within those that add up exact losses,
    was above 0 while some coefficients were pending) and the number of losses computed.

    Without evaluating anything, the gradient bounds the objective of every rounding of all
    pending coefficients at once, which is compared with the cutoff.
    """
    cdef Rows rows
    cdef Rounding r
    cdef Choice best
    cdef int outcome = 0
    open_rows(&rows, columns, row_tiles, slot, labels, weights, total_weight, unit, stop, n_threads)
    rows.integer = False
    rows.scores = &scores[0]
    rows.n_values = 0
    try:
        open_race(&r.race, &rows, odds, feature_min, feature_max)
    except MemoryError:
        close_rows(&rows)
        raise
    open_bounds(&r.bounds, pending, workspace, magnitude)
    rows.bounds = &r.bounds
    r.d = slot.shape[0]
    r.coef = &coef[0]
    r.pending = &pending[0]
    r.penalty = &penalty[0]
    r.ridge = &ridge[0]
    r.min_size = min_size
    r.max_size = max_size
    r.bound = &bound[0, 0]
    r.value = &bound[2, 0]
    r.stop = &stop[0]
    with nogil:
        while True:
            if not size_possible(&r):
                outcome = 2
                break
            if r.n_pending == 0:
                break
            if r.race.n_steps == 0 and not rs_stopped(&stop[0]):
                begin_race(&r.race)
            if not rs_stopped(&stop[0]):
                measure(&r)
            if rs_stopped(&stop[0]):
                outcome = 3
                break
            if bound_roundings(&r) >= cutoff:
                outcome = 1
                break
            best = best_rounding(&r)
            if rs_stopped(&stop[0]):    # not all candidates may have been looked at
                outcome = 3
                break
            if best.line < 0:    # scores that overflow compare as nothing
                outcome = 2
                break
            take_rounding(&r, best)
        close_race(&r.race)
        close_rows(&rows)
    return outcome, rows.n_evaluations
