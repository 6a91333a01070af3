# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Supports of nested items: bounds of all scores that use one item of each of several ranges.

The method and its rounding errors are those of cutoffs.h.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint64_t

cdef extern from "cutoffs.h" nogil:
    enum:
        RS_ELEMENTS
        RS_ACTIVE
        RS_CUT_CELLS
        RS_CUT_COEF
        RS_WAITING
        RS_CHILDREN
        RS_ELEMENT_INTS
        RS_NODE_INTS
        RS_NODE_REALS
        RS_DEEPEST
    ctypedef struct rs_cells:
        int32_t n
    ctypedef struct rs_box:
        double[13] low
    ctypedef struct rs_cut_node:
        int32_t size
    ctypedef struct rs_cuts:
        int64_t n_rows
        int64_t n_chains
        int64_t n_items
        int64_t most_rank
        const uint16_t *label
        const int32_t *multiple
        const int16_t *rank
        const int32_t *order
        const int32_t *start
        const int64_t *item
        const double *chain_price
        const double *price
        const double *chain_ridge
        const double *ridge
        const double *low
        const double *high
        const double *value
        const uint8_t *apart
        double[2] unit
        double t_low
        double t_high
        double cutoff
        double level
        int64_t n_uniform
        uint16_t *cell_of
        int32_t *count
        int32_t *code
        uint8_t *level_of
        double *slope
        double *positive
        double *negative
        double *score
        double *other
        double *gradient
        double *curvature
        double *column
        double *derivative
        double *system
        rs_cells *cells
        rs_box *stack
        rs_cut_node *waiting
        int64_t *counted
    ctypedef struct rs_cut_results:
        int64_t capacity
        int64_t n
        int64_t found_capacity
        int64_t n_found
        int64_t width
        int64_t most_evaluated
        int32_t *whole
        double *real
        int64_t *found
        const int64_t *stop
    int64_t rs_cut_run(rs_cuts *cuts, rs_cut_results *out, const int32_t *whole, const double *real,
                       int64_t n) noexcept


MOST_ELEMENTS = RS_ELEMENTS
MOST_ACTIVE = RS_ACTIVE
ELEMENT_INTS = RS_ELEMENT_INTS
NODE_INTS = RS_NODE_INTS
NODE_REALS = RS_NODE_REALS


cdef Py_ssize_t words(Py_ssize_t n_bytes) noexcept:
    return (n_bytes + 63) // 64 * 8


cdef Py_ssize_t reals(Py_ssize_t most_rank) noexcept:
    """Numbers in double precision of a workspace."""
    return (8 + RS_CUT_COEF) * RS_CUT_CELLS + RS_ELEMENTS * most_rank + RS_CUT_COEF * RS_CUT_COEF + 64


def room(Py_ssize_t n_rows, Py_ssize_t most_rank):
    """Workspace of a search: number of uint64."""
    return (
        reals(most_rank) + words(2 * n_rows) + words(3 * 4 * RS_CUT_CELLS)
        + words(RS_ELEMENTS * RS_CUT_CELLS) + words(sizeof(rs_cells))
        + words((RS_DEEPEST + 1) * sizeof(rs_box))
        + words((RS_WAITING + RS_CHILDREN) * sizeof(rs_cut_node))
    )


def search(
    const uint16_t[::1] labels, const int32_t[::1] multiples, const double[::1] unit,
    const int16_t[:, ::1] rank, const int32_t[:, ::1] order, const int32_t[:, ::1] start,
    const int64_t[:, ::1] item, const double[::1] chain_price, const double[::1] price,
    const double[::1] chain_ridge, const double[::1] ridge,
    const double[::1] low, const double[::1] high, const uint8_t[:, ::1] apart,
    double t_low, double t_high, double cutoff, double level, Py_ssize_t most_evaluated,
    const int64_t[::1] stop, const int32_t[:, ::1] whole, const double[:, ::1] real,
    int32_t[:, ::1] whole_out, double[:, ::1] real_out, int64_t[:, ::1] found,
    int64_t[::1] counted, uint64_t[::1] room64,
):
    """Divide nodes until none has a bound below ``level``, depth first.

    Row r of the class ``labels`` (1 or 0) stands for ``multiples`` rows of the weight ``unit`` of
    its class. In chain c it has the items ``item[c, :rank[c, r]]``; ``order[c]`` has the rows by
    rank, and those of rank v begin at ``start[c, v]`` there. ``chain_price`` is the least price of
    a chain's items, ``ridge`` the penalty of an item's squared coefficient (empty: there is none),
    ``chain_ridge`` the least one of a chain's items. ``low`` and ``high`` of coefficients, intercept first, are in log-odds: t times
    points, and t lies between ``t_low`` and ``t_high``. Items that are ``apart`` are not in one
    support.

    A node is a row of ``whole`` and ``real``: its size, ends of the intercept, and what it is
    divided by (element, by points or not, where); of each element the chain, first and last item,
    sign (1: negative), ends of the size of its points, active items. Its bound, negative where it
    is not known yet; the intercept, and the points of active items in log-odds.

    Nodes that are left open go to ``whole_out`` and ``real_out``, supports that may hold a score
    with an objective below ``cutoff`` to ``found`` (items, -1 after them);
    ``counted`` has the nodes bounded, the leaves, and the supports found, in this call; it ends
    after ``most_evaluated`` of the first. Returns how many of the nodes are done, the number of
    open ones, and of supports found.
    """
    cdef rs_cuts c
    cdef rs_cut_results out
    cdef double[2 * 6] value
    cdef double *at = <double *>&room64[0]
    cdef uint64_t *at64
    cdef Py_ssize_t k
    cdef int64_t done
    cdef double **arrays[7]
    for k in range(6):
        value[2 * k], value[2 * k + 1] = 0.0, 1.0
    c.n_rows, c.n_chains, c.n_items, c.most_rank = (
        labels.shape[0], rank.shape[0], price.shape[0], item.shape[1])
    c.label, c.multiple, c.rank, c.order = &labels[0], &multiples[0], &rank[0, 0], &order[0, 0]
    c.start, c.item, c.chain_price, c.price = &start[0, 0], &item[0, 0], &chain_price[0], &price[0]
    c.chain_ridge, c.ridge = &chain_ridge[0], &ridge[0] if ridge.shape[0] else NULL
    c.low, c.high, c.value, c.apart = &low[0], &high[0], value, &apart[0, 0]
    c.unit[0], c.unit[1] = unit[0], unit[1]
    c.t_low, c.t_high, c.cutoff, c.level = t_low, t_high, cutoff, level
    c.n_uniform = 1
    for k in range(multiples.shape[0]):
        if multiples[k] != 1:
            c.n_uniform = 0
            break
    c.slope = at
    at += 2 * RS_CUT_CELLS
    arrays[0], arrays[1], arrays[2], arrays[3] = &c.positive, &c.negative, &c.score, &c.other
    arrays[4], arrays[5] = &c.gradient, &c.curvature
    for k in range(6):
        arrays[k][0] = at
        at += RS_CUT_CELLS
    c.column = at
    c.derivative = c.column + RS_CUT_COEF * RS_CUT_CELLS
    c.system = c.derivative + RS_ELEMENTS * c.most_rank
    at64 = &room64[0] + reals(c.most_rank)
    c.cell_of = <uint16_t *>at64
    at64 += words(2 * c.n_rows)
    c.count = <int32_t *>at64
    c.code = c.count + 2 * RS_CUT_CELLS
    at64 += words(3 * 4 * RS_CUT_CELLS)
    c.level_of = <uint8_t *>at64
    at64 += words(RS_ELEMENTS * RS_CUT_CELLS)
    c.cells = <rs_cells *>at64
    at64 += words(sizeof(rs_cells))
    c.stack = <rs_box *>at64
    at64 += words((RS_DEEPEST + 1) * sizeof(rs_box))
    c.waiting = <rs_cut_node *>at64
    for k in range(3):
        counted[k] = 0
    c.counted = &counted[0]
    out.capacity, out.n, out.width = whole_out.shape[0], 0, found.shape[1]
    out.found_capacity, out.n_found = found.shape[0], 0
    out.most_evaluated = most_evaluated
    out.whole, out.real = &whole_out[0, 0], &real_out[0, 0]
    out.found, out.stop = &found[0, 0], &stop[0]
    with nogil:
        done = rs_cut_run(&c, &out, &whole[0, 0], &real[0, 0], whole.shape[0])
    return done, out.n, out.n_found
