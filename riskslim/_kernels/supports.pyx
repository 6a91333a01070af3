# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Counts of cells of packed items, the best step of every item, and points polished on cells.

A *plane* is a packed column: bit i of its words says whether row i has one value of an item. Rows
are ordered by segment (label, and weight where rows have one), every segment begins with a word,
and bits that belong to no row are 0 in every plane. A set S of k planes divides the rows into 2^k
*cells*; bit a of the number of a cell says whether its rows are in plane a. What a score on S is
worth depends on how many rows of either label each cell has, and on nothing else.
"""

from libc.stdint cimport int8_t, int32_t, int64_t, uint64_t

from riskslim._kernels.pool cimport run
from riskslim._kernels.threads cimport n_workers


cdef extern from "bits.h" nogil:
    enum:
        RS_WORDS
        RS_MOST_PLANES
    ctypedef struct rs_planes:
        const uint64_t *bits
        Py_ssize_t n_words
        const int64_t *planes
        int n_planes
        uint64_t *scratch
    uint64_t rs_pack_word(const int8_t *column, const int64_t *order, int8_t value) noexcept
    int64_t rs_count_and(const uint64_t *a, const uint64_t *b, Py_ssize_t n) noexcept
    void rs_count_sets(const rs_planes *p, Py_ssize_t begin, Py_ssize_t n,
                       int64_t *counts) noexcept
    void rs_sets_to_cells(int64_t *counts, int n_planes) noexcept
    void rs_fill_masks(const rs_planes *p, const uint64_t *rows, Py_ssize_t cell, int a,
                       Py_ssize_t begin, Py_ssize_t n, const int32_t *group,
                       uint64_t *masks) noexcept


def most_planes():
    """Most planes whose cells can be counted."""
    return RS_MOST_PLANES


def pack_plane(
    const int8_t[::1] column, int8_t value, const int64_t[::1] order, uint64_t[:] plane
):
    """Fill a plane with the bits column[order] == value.

    ``order`` has 64 entries per word; a negative one is no row, and neither are those after it in
    the word.
    """
    cdef Py_ssize_t w
    with nogil:
        for w in range(plane.shape[0]):
            plane[w] = rs_pack_word(&column[0], &order[64 * w], value)


cdef enum:
    BLOCKS = 4  # of RS_WORDS words each, that a thread takes at a time


cdef struct CellRows:
    # Planes with the scratch of the first thread, and what the rows of a share are counted or
    # gathered in; segments of cells, all words of masks.
    rs_planes planes
    const int64_t *first_word
    const int64_t *first_share
    Py_ssize_t n_segments
    int64_t *counts
    const uint64_t *valid
    const int32_t *group
    uint64_t *masks


cdef CellRows cell_rows(
    const uint64_t[:, ::1] planes, const int64_t[::1] chosen, uint64_t[:, ::1] scratch
) noexcept nogil:
    cdef CellRows rows
    rows.planes.bits = &planes[0, 0]
    rows.planes.n_words = planes.shape[1]
    rows.planes.planes = &chosen[0] if chosen.shape[0] else NULL
    rows.planes.n_planes = <int>chosen.shape[0]
    rows.planes.scratch = &scratch[0, 0]
    rows.first_word = rows.first_share = NULL
    rows.n_segments = 0
    rows.counts = NULL
    rows.valid = rows.masks = NULL
    rows.group = NULL
    return rows


cdef rs_planes planes_of(const CellRows *rows, int worker) noexcept nogil:
    cdef rs_planes own = rows.planes
    own.scratch += <Py_ssize_t>worker * RS_MOST_PLANES * RS_WORDS
    return own


cdef void count_share(void *argument, Py_ssize_t item, int worker) noexcept nogil:
    cdef CellRows *rows = <CellRows *>argument
    cdef rs_planes own = planes_of(rows, worker)
    cdef Py_ssize_t begin, end, last, g = 0
    cdef int64_t *counts
    while item >= rows.first_share[g + 1]:
        g += 1
    begin = rows.first_word[g] + (item - rows.first_share[g]) * BLOCKS * RS_WORDS
    last = min(begin + BLOCKS * RS_WORDS, rows.first_word[g + 1])
    counts = rows.counts + ((<Py_ssize_t>worker * rows.n_segments + g) << own.n_planes)
    while begin < last:
        end = min(begin + RS_WORDS, last)
        rs_count_sets(&own, begin, end - begin, counts)
        begin = end


def count_cells(
    const uint64_t[:, ::1] planes, const int64_t[::1] chosen, const int64_t[::1] first_word,
    const int64_t[::1] n_rows, int64_t[::1] first_share, uint64_t[:, ::1] scratch,
    int64_t[:, :, ::1] counts,
):
    """Fill counts[0, g, cell] with the rows of segment g in each cell of the chosen planes.

    ``first_word`` has one entry more than there are segments, and so has ``first_share``, which is
    workspace. As many threads work as both ``scratch`` (of most_planes() * 512 words each) and
    ``counts`` have rows.
    """
    cdef CellRows rows = cell_rows(planes, chosen, scratch)
    cdef Py_ssize_t g, c, worker, n = n_rows.shape[0], width = BLOCKS * RS_WORDS
    rows.first_word = &first_word[0]
    rows.first_share = &first_share[0]
    rows.n_segments = n
    rows.counts = &counts[0, 0, 0]
    with nogil:
        counts[:, :, :] = 0
        first_share[0] = 0
        for g in range(n):
            first_share[g + 1] = (
                first_share[g] + (first_word[g + 1] - first_word[g] + width - 1) // width)
        run(count_share, &rows, first_share[n], n_workers(
            first_share[n], <int>min(scratch.shape[0], counts.shape[0])))
        for worker in range(1, counts.shape[0]):
            for g in range(n):
                for c in range(counts.shape[2]):
                    counts[0, g, c] += counts[worker, g, c]
        for g in range(n):
            counts[0, g, 0] = n_rows[g]
            rs_sets_to_cells(&counts[0, g, 0], rows.planes.n_planes)


cdef void mask_share(void *argument, Py_ssize_t item, int worker) noexcept nogil:
    cdef CellRows *rows = <CellRows *>argument
    cdef rs_planes own = planes_of(rows, worker)
    cdef Py_ssize_t n, begin = item * BLOCKS * RS_WORDS
    cdef Py_ssize_t last = min(begin + BLOCKS * RS_WORDS, own.n_words)
    while begin < last:
        n = min(<Py_ssize_t>RS_WORDS, last - begin)
        rs_fill_masks(&own, rows.valid + begin, 0, 0, begin, n, rows.group, rows.masks)
        begin += n


def fill_masks(
    const uint64_t[:, ::1] planes, const int64_t[::1] chosen, const uint64_t[::1] valid,
    const int32_t[::1] group, uint64_t[:, ::1] scratch, uint64_t[:, ::1] masks,
):
    """Fill masks[r] with the rows whose cell of the chosen planes has group[cell] == r.

    As many threads work as ``scratch`` has rows, of most_planes() * 512 words each.
    """
    cdef CellRows rows = cell_rows(planes, chosen, scratch)
    cdef Py_ssize_t width = BLOCKS * RS_WORDS
    cdef Py_ssize_t n_shares = (rows.planes.n_words + width - 1) // width
    rows.valid = &valid[0]
    rows.group = &group[0]
    rows.masks = &masks[0, 0]
    with nogil:
        masks[:, :] = 0
        run(mask_share, &rows, n_shares, n_workers(n_shares, <int>scratch.shape[0]))


cdef struct Joint:
    # What a pass over the planes counts.
    const uint64_t *planes
    const int64_t *chosen
    Py_ssize_t n_words
    const uint64_t *masks
    Py_ssize_t n_groups
    const int64_t *first_word
    const int64_t *side
    const double *weight
    Py_ssize_t n_segments
    double *out
    const int64_t *stop


cdef void count_plane(void *argument, Py_ssize_t item, int worker) noexcept nogil:
    cdef Joint *joint = <Joint *>argument
    cdef const uint64_t *plane = joint.planes + joint.chosen[item] * joint.n_words
    cdef double *out = joint.out + joint.chosen[item] * 2 * joint.n_groups
    cdef Py_ssize_t g, r, begin, n
    if joint.stop[0]:
        return
    for r in range(2 * joint.n_groups):
        out[r] = 0.0
    for g in range(joint.n_segments):
        begin = joint.first_word[g]
        n = joint.first_word[g + 1] - begin
        for r in range(joint.n_groups):
            out[joint.side[g] * joint.n_groups + r] += joint.weight[g] * <double>rs_count_and(
                plane + begin, joint.masks + r * joint.n_words + begin, n)


def count_joint(
    const uint64_t[:, ::1] planes, const int64_t[::1] chosen, const uint64_t[:, ::1] masks,
    const int64_t[::1] first_word, const int64_t[::1] side, const double[::1] weight,
    double[:, :, ::1] out, const int64_t[::1] stop, int n_threads,
):
    """Fill out[p, l, r] with the weight of the rows of each chosen plane p, side l and mask r.

    The rows of segment g are on side[g] and weigh weight[g] each. Nothing is said of other planes,
    and of those that are not reached before stop[0] is set.
    """
    cdef Joint joint
    joint.planes = &planes[0, 0]
    joint.chosen = &chosen[0]
    joint.n_words = planes.shape[1]
    joint.masks = &masks[0, 0]
    joint.n_groups = masks.shape[0]
    joint.first_word = &first_word[0]
    joint.side = &side[0]
    joint.weight = &weight[0]
    joint.n_segments = side.shape[0]
    joint.out = &out[0, 0, 0]
    joint.stop = &stop[0]
    with nogil:
        run(count_plane, &joint, chosen.shape[0], n_workers(chosen.shape[0], n_threads))


# ---- the best step of every item ------------------------------------------------------------

cdef enum:
    # In which two values are searched, either with the other one kept: of an item of many values,
    # and of one of two, where a turn costs less, and more are needed only if the ridge is strong.
    TURNS = 8
    RIDGE_TURNS = 32

cdef struct Steps:
    # Weights by part (value of the item), side and group; scores by group; tables by score, and
    # what a point adds to what their slopes are by.
    const double *weights
    Py_ssize_t n_parts
    Py_ssize_t n_groups
    const int64_t *values
    const int64_t *position      # of each group's score in the tables
    const double *losses
    const double *slopes
    Py_ssize_t width
    double unit
    double ridge                 # penalty of a point of the item, which grows with its square


cdef double sum_by_table(
    const Steps *s, const double *table, Py_ssize_t part, int64_t shift
) noexcept nogil:
    """Sum of a table over the rows of a part whose scores are shifted."""
    cdef const double *negative = s.weights + 2 * part * s.n_groups
    cdef const double *positive = negative + s.n_groups
    cdef double a = 0.0, b = 0.0
    cdef Py_ssize_t r, at
    for r in range(s.n_groups):
        at = <Py_ssize_t>(s.position[r] + shift)
        a += negative[r] * table[at]
        b += positive[r] * table[s.width + at]
    return a + b


cdef double loss_of(const Steps *s, int64_t shift, int64_t step) noexcept nogil:
    """Loss after a step and a shift, and the step's ridge penalty."""
    cdef double total = s.ridge * <double>step * <double>step
    cdef Py_ssize_t q
    for q in range(s.n_parts):
        total += sum_by_table(s, s.losses, q, shift + step * s.values[q])
    return total


cdef double slope_of(
    const Steps *s, int64_t shift, int64_t step, bint by_step
) noexcept nogil:
    """Slope of loss_of by the step or by the shift, over the unit."""
    cdef double total = 2.0 * s.ridge * <double>step / s.unit if by_step else 0.0, slope
    cdef Py_ssize_t q
    for q in range(s.n_parts):
        if by_step and s.values[q] == 0:
            continue
        slope = sum_by_table(s, s.slopes, q, shift + step * s.values[q])
        total += <double>s.values[q] * slope if by_step else slope
    return total


cdef double part_loss(
    const Steps *s, Py_ssize_t part, int64_t shift, double ridge, int64_t other
) noexcept nogil:
    """Loss of one part, and the ridge penalty of what its shift differs from that of the other."""
    cdef double step = <double>(shift - other)
    return sum_by_table(s, s.losses, part, shift) + ridge * step * step


cdef int64_t best_part_shift(
    const Steps *s, Py_ssize_t part, int64_t low, int64_t high, double ridge, int64_t other
) noexcept nogil:
    """The shift in low..high with the least part_loss, by bisection of its slope."""
    cdef int64_t middle, first = low
    while low < high:
        middle = low + (high - low) // 2
        if (sum_by_table(s, s.slopes, part, middle)
                + 2.0 * ridge * <double>(middle - other) / s.unit) < 0.0:
            low = middle + 1
        else:
            high = middle
    # The first shift at which the loss does not fall any more, or the one before it.
    if low > first and (part_loss(s, part, low - 1, ridge, other)
                        <= part_loss(s, part, low, ridge, other)):
        low -= 1
    return low


cdef void approach(
    const Steps *s, int64_t low, int64_t high, int64_t *at, int64_t *on
) noexcept nogil:
    """Move the best shifts of both parts towards each other, in turns, as the ridge pulls them."""
    cdef int64_t first_at = at[0], first_on = on[0], before_at, before_on, least, most
    cdef int turn
    for turn in range(RIDGE_TURNS):
        before_at = at[0]
        before_on = on[0]
        least = min(first_on, at[0])
        most = max(first_on, at[0])
        on[0] = best_part_shift(s, 1, least, most, s.ridge, at[0])
        least = max(low, min(first_at, on[0]))
        most = min(high, max(first_at, on[0]))
        at[0] = best_part_shift(s, 0, least, most, s.ridge, on[0])
        if at[0] == before_at and on[0] == before_on:
            return


cdef int64_t best_shift(
    const Steps *s, int64_t step, int64_t low, int64_t high
) noexcept nogil:
    """The shift of all scores with the least loss after a step."""
    cdef int64_t middle, first = low
    while low < high:
        middle = low + (high - low) // 2
        if slope_of(s, middle, step, False) < 0.0:
            low = middle + 1
        else:
            high = middle
    if low > first and loss_of(s, low - 1, step) <= loss_of(s, low, step):
        low -= 1
    return low


cdef int64_t best_step_at(
    const Steps *s, int64_t shift, int64_t low, int64_t high
) noexcept nogil:
    """The step in low..high with the least loss while the shift is kept."""
    cdef int64_t middle, first = low
    while low < high:
        middle = low + (high - low) // 2
        if slope_of(s, shift, middle, True) < 0.0:
            low = middle + 1
        else:
            high = middle
    if low > first and loss_of(s, shift, low - 1) <= loss_of(s, shift, low):
        low -= 1
    return low


cdef void settle(
    const Steps *s, int64_t step, int64_t low, int64_t high, double *loss, int64_t *best,
    int64_t *shift,
) noexcept nogil:
    """Take a step with its best shift, if that is better than the best step so far."""
    cdef int64_t at = best_shift(s, step, low, high)
    cdef double value = loss_of(s, at, step)
    if value < loss[0]:
        loss[0] = value
        best[0] = step
        shift[0] = at


cdef void best_of_item(
    const Steps *s, int64_t lower, int64_t upper, int64_t low, int64_t high,
    double *loss, int64_t *best, int64_t *shift,
) noexcept nogil:
    """The best step in lower..upper that is not 0, with a shift of the scores in low..high."""
    cdef int64_t at, on, step, before
    cdef int turn
    loss[0] = 1e300
    best[0] = shift[0] = 0
    if s.n_parts == 2 and s.values[0] == 0 and s.values[1] == 1:
        # Rows without the item are shifted, those with it are shifted and stepped: either part has
        # a best place of its own, from which a ridge penalty draws both towards each other. Where
        # both cannot be had, a step at an end is the best one (convexity), with one shift for both.
        at = best_part_shift(s, 0, low, high, 0.0, 0)
        on = best_part_shift(s, 1, low + lower, high + upper, 0.0, 0)
        if s.ridge > 0.0:
            approach(s, low, high, &at, &on)
        step = on - at
    else:
        step = at = 0
        for turn in range(TURNS):
            before = step
            step = best_step_at(s, at, lower, upper)
            at = best_shift(s, step, low, high)
            if step == before:
                break
    step = max(lower, min(upper, step))
    if step != 0:
        settle(s, step, low, high, loss, best, shift)
    else:
        if upper >= 1 and lower <= 1:
            settle(s, 1, low, high, loss, best, shift)
        if lower <= -1 and upper >= -1:
            settle(s, -1, low, high, loss, best, shift)


def best_steps(
    const double[:, :, ::1] joint, const double[:, ::1] total, const int64_t[::1] first,
    const int64_t[::1] values, const int64_t[::1] base, const int64_t[::1] position,
    const double[:, ::1] losses, const double[:, ::1] slopes, double unit,
    const double[::1] ridge,
    const int64_t[::1] lower, const int64_t[::1] upper, int64_t low, int64_t high,
    double[::1] work, int64_t[::1] work_values, const int64_t[::1] chosen,
    double[::1] loss, int64_t[::1] step, int64_t[::1] shift, const int64_t[::1] stop,
):
    """The best points of each chosen item that is added to a score, and the intercept's shift.

    Item i has the planes first[i] .. first[i + 1] - 1, whose rows have values[plane], and all other
    rows the value base[i]; ``joint`` (planes, 2, groups) and ``total`` (2, groups) are weights,
    ``position`` says where the group's score is in the tables (2, width). The step lies in
    lower[i] .. upper[i], the shift in low .. high, and no score that they lead to may lie beyond
    the tables. ``slopes`` are by the score times ``unit``; ``ridge`` is the penalty of one point of
    each item, which grows with the square of the points and is part of its ``loss``. ``work`` has room for (most planes of an item + 1) * 2 * groups. Items that are not
    reached before stop[0] is set have an infinite loss.
    """
    cdef Steps s
    cdef Py_ssize_t k, i, q, r, n = total.shape[1]
    s.weights = &work[0]
    s.n_groups = n
    s.values = &work_values[0]
    s.position = &position[0]
    s.losses = &losses[0, 0]
    s.slopes = &slopes[0, 0]
    s.width = losses.shape[1]
    s.unit = unit
    with nogil:
        for k in range(chosen.shape[0]):
            i = chosen[k]
            if stop[0]:
                loss[i] = 1e300
                continue
            s.n_parts = first[i + 1] - first[i] + 1
            s.ridge = ridge[i]
            work_values[0] = base[i]
            for r in range(n):
                work[r] = total[0, r]
                work[n + r] = total[1, r]
            for q in range(first[i], first[i + 1]):
                work_values[q - first[i] + 1] = values[q]
                for r in range(n):
                    work[2 * n * (q - first[i] + 1) + r] = joint[q, 0, r]
                    work[2 * n * (q - first[i] + 1) + n + r] = joint[q, 1, r]
                    work[r] -= joint[q, 0, r]
                    work[n + r] -= joint[q, 1, r]
            best_of_item(&s, lower[i], upper[i], low, high, &loss[i], &step[i], &shift[i])


# ---- points polished on cells ---------------------------------------------------------------

cdef struct Cells:
    Py_ssize_t n
    Py_ssize_t k
    const int64_t *x             # (k + 1, n): what a point of each coefficient adds to the score
    const double *negative
    const double *positive
    int64_t *position            # of each cell's score in the tables
    const double *losses
    Py_ssize_t width
    const double *ridge          # (k + 1,): penalty of a point, which grows with its square
    double kept                  # ridge penalty of the points at hand


cdef inline double ridge_change(
    const Cells *c, const int64_t *points, Py_ssize_t a, int64_t by
) noexcept nogil:
    """By how much a change of a coefficient changes its ridge penalty."""
    return c.ridge[a] * <double>(by * (2 * points[a] + by))


cdef double loss_after(
    const Cells *c, Py_ssize_t a, int64_t by, Py_ssize_t b, int64_t and_by
) noexcept nogil:
    """Loss after a change of two coefficients; infinite beyond the table."""
    cdef const int64_t *x = c.x + a * c.n
    cdef const int64_t *z = c.x + b * c.n
    cdef double first = 0.0, second = 0.0
    cdef int64_t at
    cdef Py_ssize_t i
    for i in range(c.n):
        at = c.position[i] + by * x[i] + and_by * z[i]
        if at < 0 or at >= c.width:
            return 1e300
        first += c.negative[i] * c.losses[at]
        second += c.positive[i] * c.losses[c.width + at]
    return first + second


cdef void move(
    Cells *c, int64_t *points, Py_ssize_t a, int64_t by, Py_ssize_t b, int64_t and_by
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(c.n):
        c.position[i] += by * c.x[a * c.n + i] + and_by * c.x[b * c.n + i]
    c.kept += ridge_change(c, points, a, by)
    points[a] += by
    c.kept += ridge_change(c, points, b, and_by)
    points[b] += and_by


cdef inline bint allowed(
    const int64_t *points, const int64_t *lower, const int64_t *upper, Py_ssize_t a, int64_t by
) noexcept nogil:
    return lower[a] <= points[a] + by <= upper[a]


cdef double descend(
    Cells *c, int64_t *points, const int64_t *lower, const int64_t *upper, int64_t step,
    bint pairs, double loss,
) noexcept nogil:
    """Moves of one coefficient, and of two, by a step and by two of them, until none helps."""
    cdef Py_ssize_t a, b, n_moves, p = c.k + 1
    cdef int64_t by, and_by
    cdef int i, j
    cdef double after
    while True:
        n_moves = 0
        for a in range(p):
            for i in range(2):
                by = -step if i == 0 else step
                while allowed(points, lower, upper, a, by):
                    after = loss_after(c, a, by, a, 0) + (
                        c.kept + ridge_change(c, points, a, by))
                    if not after < loss - 1e-13:
                        break
                    move(c, points, a, by, a, 0)
                    loss = after
                    n_moves += 1
        if n_moves or not pairs:
            if not n_moves:
                return loss
            continue
        for a in range(p):
            for b in range(a + 1, p):
                for i in range(-2, 3):
                    for j in range(-2, 3):
                        # One step of either at least; two of both are two moves.
                        if i * j == 0 or (i * i == 4 and j * j == 4):
                            continue
                        by = i * step
                        and_by = j * step
                        if not (allowed(points, lower, upper, a, by)
                                and allowed(points, lower, upper, b, and_by)):
                            continue
                        after = loss_after(c, a, by, b, and_by) + (c.kept + (
                            ridge_change(c, points, a, by) + ridge_change(c, points, b, and_by)))
                        if after < loss - 1e-13:
                            move(c, points, a, by, b, and_by)
                            loss = after
                            n_moves += 1
        if not n_moves:
            return loss


def polish(
    const int64_t[:, ::1] x, const double[:, ::1] weights, int64_t[::1] points,
    const int64_t[::1] lower, const int64_t[::1] upper, const double[:, ::1] losses, int64_t low,
    const int64_t[::1] steps, bint pairs, const double[::1] ridge, int64_t[::1] position,
):
    """Improve points on cells in place, with steps of each size in turn; returns the loss.

    Part of the loss is a ridge penalty: ridge[a] for one point of coefficient a, growing with the
    square of its points.
    x[a] is what a point of coefficient a adds to the score of each cell (1 for the intercept,
    which is coefficient 0), weights[l] what the rows of side l weigh. ``position`` is scratch. A
    score s is at s - low in the tables (2, width); moves beyond them are not made, and with points
    that are already beyond them nothing is done, and the loss is 1e300.
    """
    cdef Cells c
    cdef Py_ssize_t i, a
    cdef double loss
    c.n = x.shape[1]
    c.k = x.shape[0] - 1
    c.x = &x[0, 0]
    c.negative = &weights[0, 0]
    c.positive = &weights[1, 0]
    c.position = &position[0]
    c.losses = &losses[0, 0]
    c.width = losses.shape[1]
    c.ridge = &ridge[0]
    c.kept = 0.0
    with nogil:
        for i in range(c.n):
            position[i] = -low
            for a in range(c.k + 1):
                position[i] += points[a] * x[a, i]
        for a in range(c.k + 1):
            c.kept += ridge[a] * <double>(points[a] * points[a])
        loss = loss_after(&c, 0, 0, 0, 0) + c.kept
        if loss < 1e300:
            for i in range(steps.shape[0]):
                loss = descend(&c, &points[0], &lower[0], &upper[0], steps[i], pairs, loss)
    return loss
