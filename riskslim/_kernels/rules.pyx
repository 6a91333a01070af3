# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rules of one support: the cells of its items, and the points of the best rule on them.

The method and the layout of the cells are those of rules.h.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

cdef extern from "rules.h" nogil:
    enum:
        RS_FULL
        RS_STOPPED
    ctypedef struct rs_rules:
        int n_items
        const int64_t *n_bits
        int64_t n_cells
        const double *a
        const double *b
        const double *value
        const int64_t *points
        const int64_t *first_point
        int64_t n_rows
        const double *row_points
        const double *row_low
        const double *row_high
        const double *rest_low
        const double *rest_high
        int64_t intercept_low
        int64_t intercept_high
        double capacity
        double most
        double step
        double slack
        int64_t most_nodes
        int64_t *stop
        int64_t capacity_found
        int64_t n_found
        int64_t *found
        double *wrong
        int64_t n_nodes
        double *sum
        int32_t *order
        int32_t *known
        double *piece
        double *added
        int64_t *chosen
        double price
    bint rs_stopped(int64_t *stop) noexcept
    int rs_all_points(rs_rules *rules, int depth, int64_t n) noexcept
    void rs_count_word(int64_t *cells, uint64_t *parts, const uint64_t *words, int64_t n_words,
                       int64_t word, uint64_t valid, const int64_t *planes, int64_t n_planes,
                       int64_t shift) noexcept
    double rs_least_wrong(const double *a, const double *b, int32_t n, double capacity,
                          double enough, double *price) noexcept


FULL = RS_FULL
STOPPED = RS_STOPPED
# Words that are counted between two looks at the flag.
DEF LOOK = 1024


def least_wrong(const double[::1] a, const double[::1] b, double capacity):
    """Bound of the weight b that rules call wrong, where cells can be called in part."""
    cdef double price = 0.0
    return rs_least_wrong(&a[0], &b[0], a.shape[0], capacity, 1e300, &price)


def count(const uint64_t[:, :, ::1] words, const int64_t[::1] bits, const int64_t[::1] labels,
          const int64_t[::1] shifts, const int64_t[::1] planes, int64_t[:, ::1] cells,
          uint64_t[::1] parts, int64_t[::1] stop):
    """Count rows of either class in the cells of some planes.

    Row 1 of ``cells`` is that of the positive class; the first plane is the highest bit of a cell's
    number. ``words``, ``bits``, ``labels`` and ``shifts`` are as in ``support_enumeration.scan``;
    ``parts`` has room for one number of each cell. Returns 0 or STOPPED.
    """
    cdef Py_ssize_t s, w, word = 0, n_planes = planes.shape[0], c
    cdef int64_t left
    cdef int status = 0
    with nogil:
        for c in range(cells.shape[1]):
            cells[0, c] = cells[1, c] = 0
        for s in range(bits.shape[0]):
            left = bits[s]
            w = 0
            while left > 0:
                if w % LOOK == LOOK - 1 and rs_stopped(&stop[0]):
                    status = RS_STOPPED
                    break
                rs_count_word(
                    &cells[labels[s], 0], &parts[0], &words[0, 0, 0], words.shape[1], word,
                    ~<uint64_t>0 if left >= 64 else (<uint64_t>1 << left) - 1, &planes[0],
                    n_planes, shifts[s])
                word += 1
                w += 1
                left -= 64
            if status:
                break
    return status


def best_points(
    const int64_t[::1] n_bits, const double[::1] a, const double[::1] b,
    const double[:, ::1] value, const int64_t[::1] points, const int64_t[::1] first_point,
    const double[:, ::1] row_points, const double[:, ::1] row_ends, const double[:, ::1] rest_low,
    const double[:, ::1] rest_high, const int64_t[::1] intercepts, double capacity, double most,
    double step, double slack, int64_t most_nodes, int64_t[::1] stop, int64_t[:, ::1] found,
    double[::1] wrong, int64_t[::1] counted, double[::1] room, int32_t[::1] room32,
):
    """Find the points of the rule that calls the least weight ``b`` wrong, ``most`` at the most.

    Cells have the weights ``a``, of which ``capacity`` may be wrong, and ``b``. Item i takes
    ``n_bits[i]`` bits of a cell's number, the first item the highest ones, and has the values
    ``value[i]``, negated where rules call the largest scores wrong. It may have
    ``points[first_point[i]]`` to ``points[first_point[i + 1] - 1]``.

    Sums of points with ``row_points`` (intercept first) lie between ``row_ends[0]`` and
    ``row_ends[1]``, for an intercept between both ``intercepts``; items from i on add
    ``rest_low[:, i]`` to ``rest_high[:, i]``, the intercept's part included.

    Each rule that is found is to be better by ``step``, and takes the place of the one before; with
    a negative step all are listed. ``slack`` is more than rounding errors of bounds. ``counted``
    has the points that were looked at, at most ``most_nodes``. Returns the status, 0, FULL or
    STOPPED, and the number found.
    """
    cdef rs_rules r
    cdef Py_ssize_t n = a.shape[0], m = n_bits.shape[0], n_rows = row_points.shape[0]
    cdef int64_t[16] chosen
    cdef int status
    r.n_items, r.n_bits, r.n_cells = m, &n_bits[0], n
    r.a, r.b, r.value = &a[0], &b[0], &value[0, 0]
    r.points, r.first_point, r.n_rows = &points[0], &first_point[0], n_rows
    if n_rows:
        r.row_points, r.row_low, r.row_high = &row_points[0, 0], &row_ends[0, 0], &row_ends[1, 0]
        r.rest_low, r.rest_high = &rest_low[0, 0], &rest_high[0, 0]
    r.intercept_low, r.intercept_high = intercepts[0], intercepts[1]
    r.capacity, r.most, r.step, r.slack = capacity, most, step, slack
    r.most_nodes, r.stop = most_nodes, &stop[0]
    r.capacity_found, r.n_found, r.found, r.wrong = found.shape[0], 0, &found[0, 0], &wrong[0]
    r.n_nodes, r.price = 0, 0.0
    r.sum = &room[0]
    r.piece = r.sum + (m + 1) * n
    r.added = r.piece + 2 * n
    r.order = &room32[0]
    r.known = r.order + (m + 1) * n
    r.chosen = chosen
    r.sum[0], r.order[0] = 0.0, 0
    if n_rows:
        for k in range(n_rows):
            r.added[k] = 0.0
    with nogil:
        status = rs_all_points(&r, 0, 1)
    counted[0] += r.n_nodes
    return status, r.n_found
