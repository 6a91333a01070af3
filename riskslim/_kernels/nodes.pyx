# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
r"""Nodes of the branch and bound: relaxation, bound, tightening, branching.

A node is an integer box. A feature is *in* (its box excludes zero), *out* (its box is zero) or
*free*. The relaxation minimises

    loss(coef) + sum_in C0_j + sum_free C0_j use_j(coef_j),   sum_free use_j <= max_size - n_in,

with use_j = coef_j / upper_j above zero and coef_j / lower_j below it, by projected Newton steps on
a working set of coefficients. Whatever the point that it ends in, the loss is at least its
linearisation there, and the minimum of that over the node's integer vectors is a valid bound.

Points are worth t = 1 / scale. Inside of this module coef is that of the features, t times the
points, and so is a box where it limits coef: the loss is convex in it. Where t may lie in an
interval, it is a variable of the relaxation. All (t, coef) with coef / t in the relaxed box and
budget form a convex set, and at fixed t everything is as with one scale; the slope of the optimal
value by t is gradient . coef / t. A linearisation is linear in t for every integer vector: where
it reaches the cutoff at both ends of the interval, it does between them, so that bound and
tightening at the two ends are those of the interval.

A ridge penalty alpha_j coef_j^2 is never linearised. The bound has it as it is at one t. Over an
interval of t it has it with a tangent of t^2, which keeps it linear in t, and besides as it is
with a t for each feature, which is weaker in narrow intervals and strong in wide ones. The
relaxation has its convex envelope, for a multiplier of the budget that is searched for (ridge.h):
node.objective is the Lagrangian function then.
"""

from libc.math cimport ceil, fabs, floor, INFINITY, rint, sqrt
from libc.stdint cimport int8_t, int64_t
from libc.string cimport memcpy, memset

cdef extern from "nodes.h" nogil:
    enum:
        RS_BLOCK
        RS_TILE
        RS_TILE_LANES
    ctypedef struct rs_sum:
        double high
        double low
    double rs_seconds() noexcept
    bint rs_stopped(int64_t *stop) noexcept
    void rs_add(rs_sum *sum, double value) noexcept
    void rs_fill_f64(double *s, double value, Py_ssize_t n) noexcept
    void rs_shift_f64(double *s, double shift, Py_ssize_t n) noexcept
    void rs_add_column_i8(double *s, const int8_t *x, double c, Py_ssize_t n) noexcept
    void rs_add_4_columns_i8(
        double *s, const int8_t *x0, const int8_t *x1, const int8_t *x2, const int8_t *x3,
        double c0, double c1, double c2, double c3, Py_ssize_t n) noexcept
    void rs_add_column_f64(double *s, const double *x, double c, Py_ssize_t n) noexcept
    void rs_class_losses(double *loss, double *slope, double *curvature, const double *s,
                         const double *positive, const double *negative, Py_ssize_t n) noexcept
    void rs_factorise(double *a, double *column, Py_ssize_t f) noexcept
    void rs_node_slopes(double *slope, double *curvature, double *third, const double *s,
                        const double *positive, const double *negative, Py_ssize_t n) noexcept
    void rs_label_slopes(double *slope, double *curvature, double *third, const double *s,
                         const int8_t *label, Py_ssize_t n) noexcept
    double rs_sum_losses_and_slopes(double *slope, const double *s, const int8_t *label,
                                    const double *weight, Py_ssize_t n) noexcept
    void rs_tile_i8(double *z, const int8_t *x, Py_ssize_t n) noexcept
    void rs_tile_product(double *out, const double *a, const double *b) noexcept
    void rs_add_tile_products(double *sums, const double *v, const double *z) noexcept
    double rs_total(const double *v, Py_ssize_t n) noexcept
    double rs_total_size(const double *v, Py_ssize_t n) noexcept
    double rs_dot_i8(const double *v, const int8_t *x, Py_ssize_t n) noexcept
    double rs_dot_f64(const double *v, const double *x, Py_ssize_t n) noexcept

cdef extern from "ridge.h" nogil:
    double rs_ridge_term(double g, double q, double z) noexcept
    double rs_ridge_size(double g, double q, double z) noexcept
    double rs_ridge_least(double g, double q, double low, double high, double *at) noexcept
    bint rs_ridge_within(double g, double q, double limit, double *low, double *high) noexcept
    double rs_ridge_least_apart(double g, double alpha, double low, double high, double t_low,
                                double t_high, double *at) noexcept
    double rs_ridge_least_apart_below(double g, double alpha, double low, double high,
                                      double t_low, double t_high, double *at) noexcept
    bint rs_ridge_within_apart(double g, double alpha, double limit, double t_low, double t_high,
                               double *low, double *high) noexcept
    bint rs_ridge_within_apart_below(double g, double alpha, double limit, double t_low,
                                     double t_high, double *low, double *high) noexcept
    double rs_turn(double end, double c, double alpha) noexcept
    double rs_line_slope(double turn, double c, double alpha) noexcept
    double rs_envelope(double x, double end, double c, double alpha) noexcept
    double rs_ridge_use(double x, double end, double c, double alpha) noexcept
    double rs_least_use(double slope, double end, double alpha) noexcept


# Relative slack of a quotient before it is rounded to an integer; loosens boxes only.
DEF SLACK = 1e-9
# Features that enter the working set at a time.
DEF ENTERING = 8
DEF CANDIDATES = 5
# Rounding errors of a gradient, relative to the sum of its terms' sizes, and of sums of p terms.
DEF GRADIENT_ERROR = 2e-14
DEF SUM_ERROR = 1e-15
# Of a row's slope, relative to its loss: the slopes of its two classes can cancel. And of a score,
# for each of its terms.
DEF SLOPE_ERROR = 1e-15
DEF SCORE_ERROR = 2.5e-16

# Second derivatives are renewed where a step with the present ones leaves more of the gap.
DEF STALE = 0.2

# Share of an interval of t that is worth cutting off.
DEF LEAST_SHARE = 0.02
# Values of one coefficient that an interval of t may leave open before it is split.
DEF T_SPREAD = 4.0
# The same with a ridge penalty, whose bounds are strong in narrow intervals; and the share of the
# gap from which on what a bound lacks of the relaxation is worth a split.
DEF RIDGED_SPREAD = 0.5
DEF LOST_SHARE = 0.5
# Ratio of an interval of t up to which nothing that matters is lost to it.
DEF NARROW = 1.0 + 1e-6
# Quadratic programs in search of the best t.
DEF T_STEPS = 12

# Rows whose second derivatives stand for those of all rows.
HESSIAN_ROWS = 32768
# The same of working sets of more than so many features: products grow with their square.
WIDE_ROWS, WIDE = 8192, 32
cdef Py_ssize_t FIRST_ROWS = HESSIAN_ROWS, FIRST_WIDE_ROWS = WIDE_ROWS, FEW = WIDE

# Ratio of an interval of t up to which a tangent of t^2 says something.
DEF WIDEST = 3.0
# Multipliers of the budget that are tried, and how exact they have to be where a ridge penalty asks
# for them: as a share of the tolerance, and in uses.
DEF MULTIPLIERS = 12
DEF MULTIPLIER_SHARE = 0.02
DEF USE_ERROR = 1e-9

# Share of the tolerance that an intercept may cost where all that is asked for is an estimate.
DEF IDLE = 0.05
# Looks of one linearisation at a box that shrinks.
DEF SETTLING = 4
# Entries beside three vectors of what is known of a node: loss, size of slopes, and a constant.
KNOWN = 3

# How a node ended.
PRUNED, OPEN = 1, 0
DEF IS_PRUNED = 1
DEF IS_OPEN = 0


cdef struct Problem:
    Py_ssize_t n                  # rows
    Py_ssize_t p                  # coefficients, the intercept first
    const int8_t *integers
    const double *reals
    const int64_t *slot           # k: integer column k; -1 - k: real column k; by feature
    const double *positive
    const double *negative
    const double *penalty         # by coefficient; 0 for the intercept
    const double *ridge           # the same
    bint has_ridge
    const double *largest         # largest |x| of each column; 1 for the intercept
    const int64_t *duplicate           # coefficient that has to be at an end before this one is used
    const double *end_above       # the duplicate's value if this one is positive,
    const double *end_below       # and if it is negative
    const double *tilt            # NULL, or what the rows lack of the gradient of all of them
    double constant               # and of the loss
    Py_ssize_t max_size
    Py_ssize_t min_size
    double cutoff
    double tolerance
    int64_t *stop                 # another thread may set it to end all work
    int *halted                   # whether that was seen: what passes left is not to be used
    double *counters              # evaluations, gradients, Hessians, QPs, seconds on rows


cdef struct Model:
    # Quadratic model of the loss at a point, on a working set.
    Py_ssize_t m
    Py_ssize_t *working
    double *hessian               # m x m, rows of m
    double *point                 # p
    double *gradient              # p
    double loss


cdef struct Node:
    double *lower                 # p, in points
    double *upper
    double t                      # what one point is worth,
    double t_low                  # and what it may be worth
    double t_high
    double *coef                  # t times the points
    double *gradient
    double loss
    double objective              # of the relaxation
    double bound
    double multiplier             # of the budget
    double slope_size             # sum of |d loss / d score|
    double curvature              # sum of second derivatives by the score
    Py_ssize_t n_in


cdef struct Scratch:
    double *scores                # n
    double *slopes
    double *curvatures
    double *losses                # RS_BLOCK
    double *tile                  # (p + 6) x RS_TILE
    double *lanes
    double *factor                # p x p
    double *qp                    # 13 p
    double *value                 # p
    double *size                  # p
    double *saved                 # p
    double *boxes                 # 4 p
    Py_ssize_t *order             # p
    Py_ssize_t *interior          # p
    int *state                    # p


# ---- the end of all work -------------------------------------------------------------------

cdef inline bint halts(const Problem *pb) noexcept nogil:
    """Look whether work is to end; passes over the rows do so at every block of them.

    Once it is, that holds for the rest of the call. What a pass was about to fill says nothing
    then: no bound is drawn from it.
    """
    if not pb.halted[0] and rs_stopped(pb.stop):
        pb.halted[0] = 1
    return pb.halted[0]


# ---- passes over the rows ------------------------------------------------------------------

cdef inline bint is_free(const Node *node, Py_ssize_t j) noexcept nogil:
    return j > 0 and node.lower[j] <= 0.0 and node.upper[j] >= 0.0 and (
        node.lower[j] < node.upper[j])


cdef inline bint is_in(const Node *node, Py_ssize_t j) noexcept nogil:
    return j > 0 and (node.lower[j] > 0.0 or node.upper[j] < 0.0)


cdef inline bint is_fixed(const Node *node, Py_ssize_t j) noexcept nogil:
    """Say if a coefficient cannot change: its points cannot, and nor can what they are worth."""
    return node.lower[j] == node.upper[j] and (
        node.lower[j] == 0.0 or node.t_low == node.t_high)


cdef void block_scores(
    const Problem *pb, const double *coef, double *s, Py_ssize_t start, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t j, k = 0
    cdef int64_t slot
    cdef (const int8_t *)[4] x
    cdef double[4] c
    rs_fill_f64(s, coef[0], n)
    for j in range(1, pb.p):
        if coef[j] == 0.0:
            continue
        slot = pb.slot[j - 1]
        if slot < 0:
            rs_add_column_f64(s, pb.reals + (-1 - slot) * pb.n + start, coef[j], n)
            continue
        x[k] = pb.integers + slot * pb.n + start
        c[k] = coef[j]
        k += 1
        if k == 4:
            rs_add_4_columns_i8(s, x[0], x[1], x[2], x[3], c[0], c[1], c[2], c[3], n)
            k = 0
    for j in range(k):
        rs_add_column_i8(s, x[j], c[j], n)


cdef void losses(
    const Problem *pb, Node *node, Scratch *sc, bint shifted, double shift,
    double *slope_sum, double *curvature_sum,
) noexcept nogil:
    """Scores of node.coef (or the present ones and a shift), loss, slopes, curvatures."""
    cdef Py_ssize_t start = 0, n
    cdef double began = rs_seconds()
    cdef rs_sum loss, slope, curvature, size
    loss.high = loss.low = slope.high = slope.low = 0.0
    curvature.high = curvature.low = size.high = size.low = 0.0
    pb.counters[0] += 1.0
    while start < pb.n and not halts(pb):
        n = min(RS_BLOCK, pb.n - start)
        if shifted:
            rs_shift_f64(sc.scores + start, shift, n)
        else:
            block_scores(pb, node.coef, sc.scores + start, start, n)
        rs_class_losses(sc.losses, sc.slopes + start, sc.curvatures + start, sc.scores + start,
                       pb.positive + start, pb.negative + start, n)
        rs_add(&loss, rs_total(sc.losses, n))
        rs_add(&slope, rs_total(sc.slopes + start, n))
        rs_add(&curvature, rs_total(sc.curvatures + start, n))
        rs_add(&size, rs_total_size(sc.slopes + start, n))
        start += n
    node.loss = loss.high + loss.low
    node.slope_size = size.high + size.low
    slope_sum[0] = slope.high + slope.low
    curvature_sum[0] = curvature.high + curvature.low
    pb.counters[4] += rs_seconds() - began


cdef void evaluate(const Problem *pb, Node *node, Scratch *sc) noexcept nogil:
    """Loss, slopes and curvatures at node.coef, whose intercept is polished.

    The bound multiplies the intercept's derivative by the width of its box, which is wide: a
    derivative that is not zero costs more there than two more looks at the scores.
    """
    cdef double slope, curvature, change
    cdef Py_ssize_t j
    cdef int i
    losses(pb, node, sc, False, 0.0, &slope, &curvature)
    for i in range(4):
        if pb.halted[0]:
            return
        if pb.tilt != NULL:
            slope += pb.tilt[0]
        if i == 3:
            break
        if pb.tilt != NULL:
            if slope * slope < IDLE * pb.tolerance * curvature:
                break    # the pass that follows goes on from here
        elif fabs(slope) * (node.t_high * (node.upper[0] - node.lower[0])) < 0.05 * pb.tolerance:
            break
        if not curvature > 0.0:
            break
        change = -slope / curvature
        change = max(change, node.t * node.lower[0] - node.coef[0])
        change = min(change, node.t * node.upper[0] - node.coef[0])
        if change == 0.0 or fabs(change) > 2.0:
            break
        losses(pb, node, sc, True, change, &slope, &curvature)
        node.coef[0] += change
    node.gradient[0] = slope
    node.curvature = curvature
    if pb.tilt != NULL:
        node.loss += pb.constant
        for j in range(pb.p):
            node.loss += pb.tilt[j] * node.coef[j]


cdef void fill_gradient(const Problem *pb, Node *node, Scratch *sc) noexcept nogil:
    """Derivatives of coefficients that can change; the others are multiplied by zero."""
    cdef Py_ssize_t j, start, n
    cdef int64_t slot
    cdef double began = rs_seconds()
    cdef rs_sum sum
    pb.counters[1] += 1.0
    for j in range(1, pb.p):
        node.gradient[j] = 0.0
        if is_fixed(node, j):
            continue
        slot = pb.slot[j - 1]
        sum.high = sum.low = 0.0
        start = 0
        while start < pb.n and not halts(pb):
            n = min(RS_BLOCK, pb.n - start)
            if slot < 0:
                rs_add(&sum, rs_dot_f64(
                    sc.slopes + start, pb.reals + (-1 - slot) * pb.n + start, n))
            else:
                rs_add(&sum, rs_dot_i8(sc.slopes + start, pb.integers + slot * pb.n + start, n))
            start += n
        node.gradient[j] = sum.high + sum.low
        if pb.tilt != NULL:
            node.gradient[j] += pb.tilt[j]
    pb.counters[4] += rs_seconds() - began


cdef inline Py_ssize_t sampled(const Problem *pb, Py_ssize_t m) noexcept nogil:
    """Rows that second derivatives on m features are computed from."""
    return min(pb.n, FIRST_WIDE_ROWS if m > FEW else FIRST_ROWS)


cdef inline Py_ssize_t padded(Py_ssize_t m) noexcept nogil:
    return (m + 3) // 4 * 4


cdef void fill_hessian(
    const Problem *pb, Model *model, Scratch *sc, double curvature_sum, bint exact
) noexcept nogil:
    """Second derivatives on the working set from the curvatures.

    Unless they are to be exact, the first rows stand for all of them where there are many: rows
    come in random order, and the bound needs no second derivatives.
    """
    cdef Py_ssize_t m = model.m, width = padded(m), products = width * (width + 4) // 2
    cdef Py_ssize_t i, j, k, a, start = 0, n, product = 0
    cdef int64_t slot
    cdef double *weighted = sc.tile + width * RS_TILE
    cdef double *lanes
    cdef double[RS_TILE] curvature
    cdef double total, seen = 0.0, began = rs_seconds()
    cdef Py_ssize_t rows = pb.n if exact else sampled(pb, m)
    pb.counters[2] += 1.0
    memset(sc.tile, 0, width * RS_TILE * sizeof(double))
    memset(sc.lanes, 0, products * RS_TILE_LANES * sizeof(double))
    for i in range(RS_TILE):
        sc.tile[i] = 1.0
    while start < rows and not halts(pb):
        n = min(RS_TILE, rows - start)
        seen += rs_total(sc.curvatures + start, n)
        for a in range(1, m):
            slot = pb.slot[model.working[a] - 1]
            if slot < 0:
                memcpy(sc.tile + a * RS_TILE, pb.reals + (-1 - slot) * pb.n + start,
                       n * sizeof(double))
            else:
                rs_tile_i8(sc.tile + a * RS_TILE, pb.integers + slot * pb.n + start, n)
        memcpy(curvature, sc.curvatures + start, n * sizeof(double))
        for i in range(n, RS_TILE):
            curvature[i] = 0.0
        lanes = sc.lanes
        for j in range(0, width, 2):
            rs_tile_product(weighted, curvature, sc.tile + j * RS_TILE)
            rs_tile_product(weighted + RS_TILE, curvature, sc.tile + (j + 1) * RS_TILE)
            for k in range(j - j % 4, width, 4):
                rs_add_tile_products(lanes, weighted, sc.tile + k * RS_TILE)
                lanes += 8 * RS_TILE_LANES
        start += n
    seen = curvature_sum / seen if rows < pb.n and seen > 0.0 else 1.0
    lanes = sc.lanes
    for j in range(0, width, 2):
        for k in range(j - j % 4, width, 4):
            for i in range(8):
                total = 0.0
                for a in range(RS_TILE_LANES):
                    total += seen * lanes[a]
                lanes += RS_TILE_LANES
                if j + i // 4 < m and k + i % 4 < m:
                    model.hessian[(j + i // 4) * m + k + i % 4] = total
                    model.hessian[(k + i % 4) * m + j + i // 4] = total
    pb.counters[4] += rs_seconds() - began


# ---- the safe bound, and what it says about the box ------------------------------------------

cdef struct Choice:
    # Features that the minimum of a linearisation uses.
    double bound
    double worst                  # most expensive one that is used
    double following              # cheapest one that is not
    Py_ssize_t n_used
    Py_ssize_t room
    Py_ssize_t forced


cdef inline double cheapest(double g, double lower, double upper) noexcept nogil:
    """Least g z over the non-zero integers z of a box around zero."""
    cdef double least = INFINITY
    if upper >= 1.0:
        least = min(g * upper, g)
    if lower <= -1.0:
        least = min(least, min(g * lower, -g))
    return least


cdef struct Square:
    # t^2 in the ridge penalty of a bound at t, or less than that, and the size of its terms.
    double value
    double size


cdef inline Square square_at(const Node *node, double t) noexcept nogil:
    """t^2, or its tangent at the node's t where t may lie in an interval: it is linear in t."""
    cdef Square square
    cdef double touched
    if node.t_low == node.t_high:
        square.value = square.size = t * t
        return square
    touched = min(max(node.t, node.t_low), node.t_high)
    square.value = touched * (2.0 * t - touched)
    square.size = touched * (2.0 * t + touched)
    return square


cdef inline double cheapest_ridged(
    double g, double q, double lower, double upper, double *at
) noexcept nogil:
    """Least g z + q z^2 over the non-zero integers z of a box around zero, and one with it."""
    cdef double least = INFINITY, below, z
    at[0] = 0.0
    if upper >= 1.0:
        least = rs_ridge_least(g, q, 1.0, upper, at)
    if lower <= -1.0:
        below = rs_ridge_least(g, q, lower, -1.0, &z)
        if below < least:
            least = below
            at[0] = z
    return least


cdef double least_apart(
    const Problem *pb, const Node *node, Py_ssize_t j, double gradient, double *size
) noexcept nogil:
    """Least gradient t z + ridge (t z)^2 over the integers z != 0 of a box and all t of the node.

    Of the intercept over z = 0 as well. ``size`` gets that of the terms that may cancel.
    """
    cdef double low = node.lower[j], high = node.upper[j], least = INFINITY, v, w, g
    cdef int end
    size[0] = 0.0
    if pb.ridge[j] == 0.0:
        for end in range(2):
            g = gradient * (node.t_high if end else node.t_low)
            least = min(least, cheapest(g, low, high) if is_free(node, j) else
                        min(g * low, g * high))
        return least
    if high >= 1.0:
        least = rs_ridge_least_apart(
            gradient, pb.ridge[j], max(low, 1.0), high, node.t_low, node.t_high, &w)
        size[0] = rs_ridge_size(gradient, pb.ridge[j], w)
    if low <= -1.0:
        v = rs_ridge_least_apart_below(
            gradient, pb.ridge[j], low, min(high, -1.0), node.t_low, node.t_high, &w)
        if v < least:
            least = v
            size[0] = rs_ridge_size(gradient, pb.ridge[j], w)
    return least


cdef bint linear_bound(
    const Problem *pb, Node *node, const double *coef, const double *gradient, double loss,
    double slope_size, double t, bint apart, Scratch *sc, Choice *choice,
) noexcept nogil:
    """Minimum of loss + gradient (t z - coef) + penalties over the node's integer vectors z.

    Where features are ``apart``, each may have a t of its own from the node's interval, and ``t``
    is the largest one. False if there is none. ``sc.value`` has the price of using each free feature.
    """
    cdef Py_ssize_t j, k, n_free = 0
    cdef double bound = loss, size = loss, reach = 0.0, least, v, g, q, z
    cdef Square square = square_at(node, t)
    node.n_in = 0
    for j in range(pb.p):
        if node.lower[j] > node.upper[j]:
            return False
        if node.lower[j] == node.upper[j] and node.lower[j] == 0.0 and j > 0:
            if coef[j] != 0.0:
                v = gradient[j] * coef[j]
                bound -= v
                size += fabs(v)
                reach += 2.0 * pb.largest[j] * fabs(coef[j])
            continue
        v = gradient[j] * coef[j]
        bound -= v
        size += fabs(v)
        g = t * gradient[j]
        reach += pb.largest[j] * (
            2.0 * fabs(coef[j]) + t * max(fabs(node.lower[j]), fabs(node.upper[j])))
        if is_free(node, j):
            if apart:
                v = pb.penalty[j] + least_apart(pb, node, j, gradient[j], &sc.size[j])
            elif pb.ridge[j] == 0.0:
                v = pb.penalty[j] + cheapest(g, node.lower[j], node.upper[j])
                sc.size[j] = 0.0
            else:
                q = pb.ridge[j] * square.value
                v = pb.penalty[j] + cheapest_ridged(g, q, node.lower[j], node.upper[j], &z)
                sc.size[j] = rs_ridge_size(g, pb.ridge[j] * square.size, z)
            sc.value[j] = v
            k = n_free
            while k > 0 and sc.value[sc.order[k - 1]] > v:
                sc.order[k] = sc.order[k - 1]
                k -= 1
            sc.order[k] = j
            n_free += 1
            continue
        if apart:
            least = least_apart(pb, node, j, gradient[j], &z)
            size += z
        elif pb.ridge[j] == 0.0:
            least = min(g * node.lower[j], g * node.upper[j])
        else:
            q = pb.ridge[j] * square.value
            least = rs_ridge_least(g, q, node.lower[j], node.upper[j], &z)
            size += rs_ridge_size(g, pb.ridge[j] * square.size, z)
        if j > 0:
            node.n_in += 1
            least += pb.penalty[j]
        bound += least
        size += fabs(least)
    choice.room = pb.max_size - node.n_in
    choice.forced = max(0, pb.min_size - node.n_in)
    if choice.room < 0 or choice.forced > n_free:
        return False
    k = 0
    while k < n_free and k < choice.room:
        v = sc.value[sc.order[k]]
        if v >= 0.0 and k >= choice.forced:
            break
        bound += v
        size += fabs(v) + sc.size[sc.order[k]]
        k += 1
    choice.n_used = k
    choice.worst = sc.value[sc.order[k - 1]] if k > 0 else -INFINITY
    choice.following = sc.value[sc.order[k]] if k < n_free else INFINITY
    for j in range(n_free):
        # Marks what is used, for tighten().
        sc.state[sc.order[j]] = 1 if j < k else 0
    choice.bound = bound - (
        SUM_ERROR * (pb.p + 10) * size + SLOPE_ERROR * loss * reach
        + (GRADIENT_ERROR + SCORE_ERROR * pb.p) * (slope_size * reach + loss))
    return True


cdef inline double lowered(double bound, double quotient, double start) noexcept nogil:
    """min(bound, start + floor(quotient)), on the loose side."""
    if not quotient < 1e9:
        return bound
    return min(bound, start + floor(quotient + SLACK * (1.0 + fabs(quotient))))


cdef inline double raised(double bound, double quotient, double start) noexcept nogil:
    if not quotient < 1e9:
        return bound
    return max(bound, start - floor(quotient + SLACK * (1.0 + fabs(quotient))))


cdef int tighten_used(
    const Problem *pb, Node *node, Py_ssize_t j, double g, double slack
) noexcept nogil:
    """The intercept or a feature that is in: one unit away from its best end costs |g|."""
    cdef double before
    if g > 0.0:
        before = node.upper[j]
        node.upper[j] = lowered(before, slack / g, node.lower[j])
        return node.upper[j] != before
    if g < 0.0:
        before = node.lower[j]
        node.lower[j] = raised(before, slack / -g, node.upper[j])
        return node.lower[j] != before
    return 0


cdef int tighten_used_ridged(
    Node *node, Py_ssize_t j, double g, double q, double slack
) noexcept nogil:
    """A feature that is in: integers whose term is above the least one by more than the slack."""
    cdef double low = node.lower[j], high = node.upper[j], at, least
    least = rs_ridge_least(g, q, low, high, &at)
    if not rs_ridge_within(g, q, least + slack, &low, &high):
        low = high = at
    low, high = min(low, at), max(high, at)
    if low == node.lower[j] and high == node.upper[j]:
        return 0
    node.lower[j], node.upper[j] = low, high
    return 1


cdef int tighten_used_apart(
    const Problem *pb, Node *node, Py_ssize_t j, double g, double slack
) noexcept nogil:
    """The same with a t for each feature."""
    cdef double low = node.lower[j], high = node.upper[j], size
    cdef double limit = least_apart(pb, node, j, g, &size) + slack
    cdef bint found
    if low > 0.0:
        found = rs_ridge_within_apart(
            g, pb.ridge[j], limit, node.t_low, node.t_high, &low, &high)
    else:
        found = rs_ridge_within_apart_below(
            g, pb.ridge[j], limit, node.t_low, node.t_high, &low, &high)
    # The least one is within: what is lost by rounding errors leaves the box as it is.
    if not found or (low == node.lower[j] and high == node.upper[j]):
        return 0
    node.lower[j], node.upper[j] = low, high
    return 1


cdef inline void keep_within(
    const Node *node, double g, double q, bint apart, double limit, double *least, double *most,
    double *low, double *high,
) noexcept nogil:
    """Shrink both sides of a free feature's box to what a limit permits; 0 for none of a side."""
    if high[0] >= 1.0 and not (
            rs_ridge_within_apart(g, q, limit, node.t_low, node.t_high, least, high) if apart else
            rs_ridge_within(g, q, limit, least, high)):
        high[0] = 0.0
    if low[0] <= -1.0 and not (
            rs_ridge_within_apart_below(g, q, limit, node.t_low, node.t_high, low, most) if apart
            else rs_ridge_within(g, q, limit, low, most)):
        low[0] = 0.0


cdef int tighten_free(
    const Problem *pb, Node *node, Py_ssize_t j, double g, double q, bint apart,
    const Choice *choice, bint used, double value,
) noexcept nogil:
    """A free feature: values that the bound with the feature in, or out, excludes. -1: all.

    With a ridge penalty a value z costs g z + q z^2, or, with a t for each feature,
    g t z + q (t z)^2 at its best t.
    """
    cdef double others, without, room, low = node.lower[j], high = node.upper[j]
    cdef double least = 1.0, most = -1.0    # ends of the sides next to zero
    if choice.room <= 0:
        node.lower[j] = node.upper[j] = 0.0
        return 1
    if used:
        others = choice.bound - value
        without = others + (
            min(0.0, choice.following) if choice.n_used > choice.forced else choice.following)
    else:
        others = choice.bound - (
            max(0.0, choice.worst) if choice.n_used < choice.room else choice.worst)
        without = choice.bound
    # z costs others + penalty + g z; it stays if g z <= room.
    room = pb.cutoff - others - pb.penalty[j]
    if pb.ridge[j] > 0.0:
        keep_within(node, g, q, apart, room, &least, &most, &low, &high)
    elif high >= 1.0:
        if g > 0.0:
            high = lowered(high, room / g, 0.0) if room >= 0.0 else 0.0
        elif g * high > room:
            high = 0.0
        elif g < 0.0 and room < 0.0:
            least = max(1.0, ceil(room / g - SLACK * (1.0 + fabs(room / g))))
    if low <= -1.0 and pb.ridge[j] == 0.0:
        if g < 0.0:
            low = raised(low, room / -g, 0.0) if room >= 0.0 else 0.0
        elif g * low > room:
            low = 0.0
        elif g > 0.0 and room < 0.0:
            most = min(-1.0, floor(room / g + SLACK * (1.0 + fabs(room / g))))
    high, low = max(high, 0.0), min(low, 0.0)
    if without >= pb.cutoff:
        if high == 0.0 and low == 0.0:
            return -1
        if low == 0.0:
            low = least
        elif high == 0.0:
            high = most
    if low > high:
        return -1
    if low == node.lower[j] and high == node.upper[j]:
        return 0
    node.lower[j], node.upper[j] = low, high
    return 1


cdef int tighten(
    const Problem *pb, Node *node, const double *gradient, double t, const Choice *choice,
    Scratch *sc
) noexcept nogil:
    """Shrink the box by what the bound excludes; the number of changes, -1 if nothing is left."""
    cdef Py_ssize_t j
    cdef int changes = 0, change
    cdef double slack = pb.cutoff - choice.bound, q
    cdef Square square = square_at(node, t)
    if slack <= 0.0:
        return -1
    if not slack < INFINITY:    # nor if it is not a number
        return 0
    for j in range(pb.p):
        if node.lower[j] == node.upper[j]:
            continue
        q = pb.ridge[j] * square.value
        if is_free(node, j):
            change = tighten_free(
                pb, node, j, t * gradient[j], q, False, choice, sc.state[j], sc.value[j])
        elif pb.ridge[j] > 0.0:
            change = tighten_used_ridged(node, j, t * gradient[j], q, slack)
        else:
            change = tighten_used(pb, node, j, t * gradient[j], slack)
        if change < 0 or node.lower[j] > node.upper[j]:
            return -1
        changes += change
    return changes


cdef int order_duplicates(const Problem *pb, Node *node) noexcept nogil:
    """Of columns that say the same, the later is used where the earlier is at its end."""
    cdef Py_ssize_t j, a
    cdef int changes = 0
    cdef double end
    for j in range(1, pb.p):
        a = pb.duplicate[j]
        if a < 0 or node.lower[j] == 0.0 == node.upper[j]:
            continue
        if node.upper[j] > 0.0 and not node.lower[a] <= pb.end_above[j] <= node.upper[a]:
            node.upper[j] = 0.0
            changes += 1
        if node.lower[j] < 0.0 and not node.lower[a] <= pb.end_below[j] <= node.upper[a]:
            node.lower[j] = 0.0
            changes += 1
        if node.lower[j] > node.upper[j]:
            return -1
        if is_in(node, j) and node.lower[a] < node.upper[a]:
            end = pb.end_above[j] if node.lower[j] > 0.0 else pb.end_below[j]
            node.lower[a] = node.upper[a] = end
            changes += 1
    return changes


cdef int bound_and_tighten(
    const Problem *pb, Node *node, const double *coef, const double *gradient, double loss,
    double slope_size, Scratch *sc,
) noexcept nogil:
    """Bound of a linearisation; changes of the box, or -1 if the node is done with."""
    cdef Choice choice
    cdef int changes, more
    if pb.halted[0]:
        return 0    # loss and gradient may be those of no point
    if pb.tilt != NULL:
        return estimate(pb, node, coef, gradient, loss, slope_size, sc)
    if node.t_low < node.t_high:
        changes = 0
        if pb.has_ridge:
            changes = bound_apart(pb, node, coef, gradient, loss, slope_size, sc)
        if changes >= 0 and not (pb.has_ridge and node.t_high > WIDEST * node.t_low):
            more = bound_interval(pb, node, coef, gradient, loss, slope_size, sc)
            changes = -1 if more < 0 else changes + more
    elif not linear_bound(
            pb, node, coef, gradient, loss, slope_size, node.t, False, sc, &choice):
        node.bound = INFINITY
        return -1
    else:
        node.bound = max(node.bound, choice.bound)
        if node.bound >= pb.cutoff:
            return -1
        changes = tighten(pb, node, gradient, node.t, &choice, sc)
    if changes < 0:
        return -1
    more = order_duplicates(pb, node)
    return -1 if more < 0 else changes + more


cdef int bound_apart(
    const Problem *pb, Node *node, const double *coef, const double *gradient, double loss,
    double slope_size, Scratch *sc,
) noexcept nogil:
    """Bound and box over an interval of t with a t for each feature; -1 if the node is pruned."""
    cdef Choice choice
    cdef Py_ssize_t j
    cdef int changes = 0, change
    if not linear_bound(
            pb, node, coef, gradient, loss, slope_size, node.t_high, True, sc, &choice):
        node.bound = INFINITY
        return -1
    node.bound = max(node.bound, choice.bound)
    if node.bound >= pb.cutoff:
        return -1
    if not pb.cutoff - choice.bound < INFINITY:
        return 0
    for j in range(1, pb.p):
        if node.lower[j] == node.upper[j] or pb.ridge[j] == 0.0:
            continue
        if is_free(node, j):
            change = tighten_free(
                pb, node, j, gradient[j], pb.ridge[j], True, &choice, sc.state[j], sc.value[j])
        else:
            change = tighten_used_apart(pb, node, j, gradient[j], pb.cutoff - choice.bound)
        if change < 0:
            return -1
        changes += change
    return changes


cdef int estimate(
    const Problem *pb, Node *node, const double *coef, const double *gradient, double loss,
    double slope_size, Scratch *sc,
) noexcept nogil:
    """Bound of a linearisation of what stands for the loss: it says when a relaxation is solved.

    It proves nothing: the box stays as it is, and no node is pruned.
    """
    cdef Choice choice
    cdef double bound = INFINITY, slope = gradient[0]
    cdef int end
    node.gradient[0] = 0.0    # the pass that follows polishes the intercept
    for end in range(2 if node.t_low < node.t_high else 1):
        if not linear_bound(pb, node, coef, gradient, loss, slope_size,
                            node.t_high if end else node.t_low, False, sc, &choice):
            break
        bound = min(bound, choice.bound)
    if pb.has_ridge and node.t_low < node.t_high and linear_bound(
            pb, node, coef, gradient, loss, slope_size, node.t_high, True, sc, &choice):
        bound = max(bound, choice.bound)
    node.gradient[0] = slope
    if bound < INFINITY:
        node.bound = max(node.bound, bound)
    return 0


cdef int apply_cut_to(
    const Problem *pb, Node *node, const double *known, Scratch *sc
) noexcept nogil:
    """Bound and box of a node by a linearisation of the loss of all rows; -1 if it is pruned.

    ``known`` has its point, gradient, what a sample lacks, loss, and size of slopes.
    """
    cdef Problem proven = pb[0]
    cdef Py_ssize_t p = pb.p
    cdef int changes, i
    proven.tilt = NULL
    for i in range(SETTLING):
        changes = bound_and_tighten(
            &proven, node, known, known + p, known[3 * p], known[3 * p + 1], sc)
        if changes <= 0:
            return changes
    return 0


cdef int bound_interval(
    const Problem *pb, Node *node, const double *coef, const double *gradient, double loss,
    double slope_size, Scratch *sc,
) noexcept nogil:
    """The same over an interval of t, from its two ends.

    What is excluded at both ends is excluded between them, since the linearisation of an integer
    vector is linear in t. The least one of all vectors is concave: it is above its chord.
    """
    cdef Choice[2] choice
    cdef int[2] changes
    cdef double *given = sc.boxes
    cdef double *other = sc.boxes + 2 * pb.p
    cdef Py_ssize_t j
    cdef int end, changed = 0
    cdef double t, share
    memcpy(given, node.lower, pb.p * sizeof(double))
    memcpy(given + pb.p, node.upper, pb.p * sizeof(double))
    for end in range(2):
        t = node.t_high if end else node.t_low
        if not linear_bound(
                pb, node, coef, gradient, loss, slope_size, t, False, sc, &choice[end]):
            node.bound = INFINITY
            return -1
        changes[end] = -1
        if not choice[end].bound >= pb.cutoff:    # also if it is not a number
            changes[end] = tighten(pb, node, gradient, t, &choice[end], sc)
        if end == 0:
            memcpy(other, node.lower, pb.p * sizeof(double))
            memcpy(other + pb.p, node.upper, pb.p * sizeof(double))
            memcpy(node.lower, given, pb.p * sizeof(double))
            memcpy(node.upper, given + pb.p, pb.p * sizeof(double))
    if choice[0].bound == choice[0].bound and choice[1].bound == choice[1].bound:
        node.bound = max(node.bound, min(choice[0].bound, choice[1].bound))
    if node.bound >= pb.cutoff or (changes[0] < 0 and changes[1] < 0):
        return -1
    for j in range(pb.p):
        if changes[0] >= 0 and changes[1] >= 0:
            node.lower[j] = min(node.lower[j], other[j])
            node.upper[j] = max(node.upper[j], other[pb.p + j])
        elif changes[0] >= 0:
            node.lower[j], node.upper[j] = other[j], other[pb.p + j]
        changed += node.lower[j] != given[j] or node.upper[j] != given[pb.p + j]
    for end in range(2):
        if choice[end].bound < pb.cutoff:
            continue
        share = (choice[end].bound - pb.cutoff) / (choice[end].bound - choice[1 - end].bound)
        share = (1.0 - 1e-9) * share - 1e-12
        if not share > LEAST_SHARE:
            continue
        t = share * (node.t_high - node.t_low)
        if end:
            node.t_high -= t
        else:
            node.t_low += t
        changed += 1
    return changed


# ---- the relaxation ----------------------------------------------------------------------------

cdef inline double use(double x, double lower, double upper) noexcept nogil:
    if x > 0.0:
        return x / upper
    if x < 0.0:
        return x / lower
    return 0.0


cdef inline double use_at(const Node *node, Py_ssize_t j, double x) noexcept nogil:
    return use(x, node.t * node.lower[j], node.t * node.upper[j])


cdef bint project(const Problem *pb, Node *node, double *coef) noexcept nogil:
    """Move a point into the box and the budget; whether it moved."""
    cdef Py_ssize_t j
    cdef double total = 0.0, room
    cdef bint moved = False
    node.n_in = 0
    node.t = min(max(node.t, node.t_low), node.t_high)
    for j in range(pb.p):
        if coef[j] < node.t * node.lower[j]:
            coef[j] = node.t * node.lower[j]
            moved = True
        elif coef[j] > node.t * node.upper[j]:
            coef[j] = node.t * node.upper[j]
            moved = True
        if is_in(node, j):
            node.n_in += 1
        elif is_free(node, j):
            total += use_at(node, j, coef[j])
    room = pb.max_size - node.n_in
    # By less it does not move at all: a linearisation is of one point only.
    if total > room * (1.0 + 1e-12) and total > 0.0:
        moved = True
        for j in range(1, pb.p):
            if is_free(node, j):
                coef[j] *= room / total
    return moved


cdef inline double end_at(const Node *node, Py_ssize_t j, double x) noexcept nogil:
    """Largest size of a coefficient on the side of x."""
    return node.t * (node.upper[j] if x > 0.0 else -node.lower[j])


cdef double ridged_penalties(const Problem *pb, const Node *node) noexcept nogil:
    """Envelope of the penalties with the multiplier of the budget, less what the budget gives."""
    cdef Py_ssize_t j
    cdef double total = 0.0, x
    cdef Py_ssize_t room = pb.max_size
    for j in range(1, pb.p):
        x = node.coef[j]
        if is_in(node, j):
            total += pb.penalty[j] + pb.ridge[j] * x * x
            room -= 1
        elif is_free(node, j) and x != 0.0:
            total += rs_envelope(
                fabs(x), end_at(node, j, x), pb.penalty[j] + node.multiplier, pb.ridge[j])
    return total - node.multiplier * room


cdef double penalties(const Problem *pb, const Node *node) noexcept nogil:
    cdef Py_ssize_t j
    cdef double total = 0.0
    if pb.has_ridge:
        return ridged_penalties(pb, node)
    for j in range(1, pb.p):
        if is_in(node, j):
            total += pb.penalty[j]
        elif is_free(node, j):
            total += pb.penalty[j] * use_at(node, j, node.coef[j])
    return total


cdef double penalties_of(
    const Problem *pb, Node *node, double *coef, double t
) noexcept nogil:
    """Penalties of another point with the node's box and multiplier."""
    cdef double *own = node.coef
    cdef double own_t = node.t, total
    node.coef, node.t = coef, t
    total = penalties(pb, node)
    node.coef, node.t = own, own_t
    return total


cdef void choose_working_set(
    const Problem *pb, const Node *node, Model *model, Scratch *sc
) noexcept nogil:
    """Intercept, non-zero and required features, and the zeros that promise most."""
    cdef Py_ssize_t j, k, n = 0, entering = 0
    cdef double v, g
    model.working[0] = 0
    model.m = 1
    for j in range(1, pb.p):
        if is_fixed(node, j):
            continue
        if node.coef[j] != 0.0 or is_in(node, j):
            model.working[model.m] = j
            model.m += 1
            continue
        g = node.t * node.gradient[j]
        if pb.ridge[j] > 0.0:
            v = -(min(rs_least_use(node.gradient[j], node.t * node.upper[j], pb.ridge[j]),
                      rs_least_use(-node.gradient[j], -node.t * node.lower[j], pb.ridge[j]))
                  + pb.penalty[j])
        else:
            v = -(min(g * node.lower[j], g * node.upper[j]) + pb.penalty[j])
        if v <= 0.98 * node.multiplier or v <= 0.0:
            continue
        sc.value[j] = v
        k = n
        while k > 0 and sc.value[sc.order[k - 1]] < v:
            if k < ENTERING:
                sc.order[k] = sc.order[k - 1]
            k -= 1
        if k < ENTERING:
            sc.order[k] = j
            n = min(n + 1, ENTERING)
    for k in range(n):
        model.working[model.m] = sc.order[k]
        model.m += 1


cdef void build_model(
    const Problem *pb, const Node *node, Model *model, Scratch *sc, bint exact
) noexcept nogil:
    choose_working_set(pb, node, model, sc)
    fill_hessian(pb, model, sc, node.curvature, exact)
    memcpy(model.point, node.coef, pb.p * sizeof(double))
    memcpy(model.gradient, node.gradient, pb.p * sizeof(double))
    model.loss = node.loss


cdef void move_model(
    const Problem *pb, const Node *node, Model *model, const Model *source
) noexcept nogil:
    """The second derivatives of another point, with value and slope of this one."""
    if model != source:
        model.m = source.m
        memcpy(model.working, source.working, source.m * sizeof(Py_ssize_t))
        memcpy(model.hessian, source.hessian, source.m * source.m * sizeof(double))
    memcpy(model.point, node.coef, pb.p * sizeof(double))
    memcpy(model.gradient, node.gradient, pb.p * sizeof(double))
    model.loss = node.loss


# The quadratic program: states of its variables.
DEF FIXED = 0
DEF INTERIOR = 1


cdef void factorise(
    const double *h, Py_ssize_t m, const Py_ssize_t *index, Py_ssize_t f, const double *ridge,
    double *factor, double *room,
) noexcept nogil:
    """Cholesky factor of the rows and columns ``index`` of h; dependent columns do not move."""
    cdef Py_ssize_t a, b
    for a in range(f):
        for b in range(a):
            factor[a * f + b] = h[index[a] * m + index[b]]
        factor[a * f + a] = h[index[a] * m + index[a]] + ridge[index[a]]
    rs_factorise(factor, room, f)


cdef void substitute(const double *factor, Py_ssize_t f, double *v) noexcept nogil:
    cdef Py_ssize_t a, k
    for a in range(f):
        for k in range(a):
            v[a] -= factor[a * f + k] * v[k]
        v[a] /= factor[a * f + a]
    for a in range(f - 1, -1, -1):
        for k in range(a + 1, f):
            v[a] -= factor[k * f + a] * v[k]
        v[a] /= factor[a * f + a]


cdef double solve_qp(
    const Problem *pb, const Node *node, const Model *model, double *coef, double *multiplier,
    double accuracy, Scratch *sc,
) noexcept nogil:
    """Minimise the model over the node's relaxed box and budget at t, from a feasible ``coef``.

    Primal active set method; ``coef`` is changed on the working set. Returns the value of the
    model (loss part relative to the model's point, and the penalties' linear parts).
    """
    cdef Py_ssize_t m = model.m, a, b, i, j, f, block, limit = 30 + 8 * m
    cdef Py_ssize_t *interior = sc.interior
    cdef int *state = sc.state
    cdef double *x = sc.qp
    cdef double *y = sc.qp + m              # hessian (x - point)
    cdef double *weight = sc.qp + 2 * m     # use per unit, on the side where x moves
    cdef double *ridge = sc.qp + 3 * m
    cdef double *step = sc.qp + 4 * m
    cdef double *along = sc.qp + 5 * m
    cdef double *low = sc.qp + 6 * m
    cdef double *high = sc.qp + 7 * m
    cdef double *c = sc.qp + 8 * m
    cdef double *cost = sc.qp + 9 * m
    cdef const double *h = model.hessian
    cdef double used = 0.0, room, mu = 0.0, alpha, limit_a, wd, wz, v, worst, slope, total
    cdef bint tight
    cdef int stalled = 0, side
    pb.counters[3] += 1.0
    room = pb.max_size
    for j in range(1, pb.p):
        if is_in(node, j):
            room -= 1.0
    for a in range(m):
        j = model.working[a]
        x[a] = coef[j]
        low[a], high[a] = node.t * node.lower[j], node.t * node.upper[j]
        cost[a] = pb.penalty[j]
        c[a] = model.gradient[j]
        ridge[a] = 1e-9 * h[a * m + a] + 1e-12 / (1.0 + (high[a] - low[a]) * (high[a] - low[a]))
        weight[a] = 0.0
        state[a] = FIXED
        if low[a] == high[a]:
            continue
        if is_free(node, j):
            used += use(x[a], low[a], high[a])
            if x[a] > 0.0:
                weight[a] = 1.0 / high[a]
                state[a] = INTERIOR if x[a] < high[a] else FIXED
            elif x[a] < 0.0:
                weight[a] = 1.0 / low[a]
                state[a] = INTERIOR if x[a] > low[a] else FIXED
        elif low[a] < x[a] < high[a]:
            state[a] = INTERIOR
    for a in range(m):
        y[a] = 0.0
        for b in range(m):
            y[a] += h[a * m + b] * (x[b] - model.point[model.working[b]])
    tight = used >= room - 1e-9
    while limit > 0 and not halts(pb):
        limit -= 1
        f = 0
        for a in range(m):
            if state[a] == INTERIOR:
                interior[f] = a
                f += 1
        block = -1
        alpha = 1.0
        if f > 0:
            factorise(h, m, interior, f, ridge, sc.factor, sc.qp + 10 * m)
            wd = wz = 0.0
            for i in range(f):
                a = interior[i]
                step[i] = -(c[a] + y[a] + cost[a] * weight[a])
            substitute(sc.factor, f, step)
            for i in range(f):
                wd += weight[interior[i]] * step[i]
            mu = 0.0
            if tight:
                for i in range(f):
                    along[i] = weight[interior[i]]
                substitute(sc.factor, f, along)
                for i in range(f):
                    wz += weight[interior[i]] * along[i]
                if wz > 0.0:
                    mu = wd / wz
                    if mu < 0.0:
                        mu = 0.0
                        tight = False
                    else:
                        for i in range(f):
                            step[i] -= mu * along[i]
            if not tight and wd > 0.0 and used + wd > room:
                alpha = max(0.0, (room - used) / wd)
                block = m
            for i in range(f):
                a = interior[i]
                if step[i] > 0.0:
                    v = high[a] if weight[a] >= 0.0 else 0.0
                elif step[i] < 0.0:
                    v = low[a] if weight[a] <= 0.0 else 0.0
                else:
                    continue
                limit_a = (v - x[a]) / step[i]
                if limit_a < alpha:
                    alpha = max(limit_a, 0.0)
                    block = i
            total = 0.0
            for i in range(f):
                v = alpha * step[i]
                if v == 0.0:
                    continue
                a = interior[i]
                total += fabs(v)
                x[a] += v
                used += weight[a] * v
                for b in range(m):
                    y[b] += v * h[a * m + b]
            if block == m:
                tight = True
                continue
            if block >= 0:
                a = interior[block]
                if step[block] > 0.0:
                    v = high[a] if weight[a] >= 0.0 else 0.0
                else:
                    v = low[a] if weight[a] <= 0.0 else 0.0
                x[a] = v
                state[a] = FIXED
                if v == 0.0:
                    weight[a] = 0.0
                if alpha < 1e-12:
                    stalled += 1
                    if stalled > 2 * m + 10:
                        break
                continue
        elif tight:
            # No interior variable says what the budget is worth: the least useful one at its end.
            mu = INFINITY
            for a in range(m):
                if weight[a] != 0.0:
                    mu = min(mu, -(c[a] + y[a]) / weight[a] - cost[a])
            mu = max(0.0, mu) if mu < INFINITY else 0.0
        else:
            mu = 0.0
        # Which fixed variable gains most by moving?
        block, worst, side = -1, accuracy, 0
        for a in range(m):
            if state[a] == INTERIOR or low[a] == high[a]:
                continue
            slope = c[a] + y[a]
            j = model.working[a]
            if is_free(node, j):
                if x[a] == 0.0:
                    v = 0.0
                    if high[a] > 0.0:
                        v = -(slope + (cost[a] + mu) / high[a])
                        b = 1
                    if low[a] < 0.0 and slope + (cost[a] + mu) / low[a] > v:
                        v = slope + (cost[a] + mu) / low[a]
                        b = -1
                elif x[a] > 0.0:
                    v = slope + (cost[a] + mu) / high[a]
                    b = 2
                else:
                    v = -(slope + (cost[a] + mu) / low[a])
                    b = 2
            elif x[a] <= low[a]:
                v = -slope
                b = 2
            else:
                v = slope
                b = 2
            if v <= 0.0:
                continue
            v = min(0.5 * v * v / (h[a * m + a] + ridge[a]), v * (high[a] - low[a]))
            if v > worst:
                worst, block, side = v, a, <int>b
        if block < 0:
            break
        state[block] = INTERIOR
        if side == 1:
            weight[block] = 1.0 / high[block]
        elif side == -1:
            weight[block] = 1.0 / low[block]
    multiplier[0] = mu
    total = 0.0
    for a in range(m):
        j = model.working[a]
        coef[j] = x[a]
        v = x[a] - model.point[j]
        total += (c[a] + 0.5 * y[a]) * v
        if is_free(node, j):
            total += cost[a] * use(x[a], low[a], high[a])
        elif is_in(node, j):
            total += cost[a]
    return total


# The same with a ridge penalty: a variable is on a line of its envelope, or beyond its turn.
DEF ON_LINE = 1
DEF BEYOND = 2


cdef struct Ends:
    # Values between which a variable's penalty is what it is at x, and its two derivatives there.
    double low
    double high
    double slope
    double curvature
    double weight                 # by which a multiplier of the budget changes the slope


cdef inline Ends ends_at(
    const Problem *pb, const Node *node, Py_ssize_t j, double x, int state, double mu
) noexcept nogil:
    """The part of a variable's envelope that it is on."""
    cdef Ends ends
    cdef double c, alpha = pb.ridge[j], end, turn
    ends.low, ends.high = node.t * node.lower[j], node.t * node.upper[j]
    ends.slope, ends.curvature, ends.weight = 2.0 * alpha * x, 2.0 * alpha, 0.0
    if not is_free(node, j) or x == 0.0:
        return ends
    c, end = pb.penalty[j] + mu, end_at(node, j, x)
    turn = rs_turn(end, c, alpha)
    if state == BEYOND:
        if x > 0.0:
            ends.low = turn
        else:
            ends.high = -turn
        return ends
    ends.slope, ends.curvature, ends.weight = rs_line_slope(turn, c, alpha), 0.0, 1.0 / turn
    if x > 0.0:
        ends.low, ends.high = 0.0, turn
    else:
        ends.low, ends.high = -turn, 0.0
        ends.slope, ends.weight = -ends.slope, -ends.weight
    return ends


cdef inline int state_at(
    const Problem *pb, const Node *node, Py_ssize_t j, double x, double mu
) noexcept nogil:
    cdef double low = node.t * node.lower[j], high = node.t * node.upper[j], end
    if low == high or (not is_free(node, j) and (x <= low or x >= high)):
        return FIXED
    if not is_free(node, j):
        return BEYOND
    if x == 0.0 or x <= low or x >= high:
        return FIXED
    end = end_at(node, j, x)
    return BEYOND if fabs(x) >= rs_turn(end, pb.penalty[j] + mu, pb.ridge[j]) else ON_LINE


cdef double gain_of_moving(
    const Problem *pb, const Node *node, Py_ssize_t j, double x, double slope, double mu,
    int *state, double *start,
) noexcept nogil:
    """Slope by which a fixed variable falls as it leaves its place, 0 if it is best there.

    ``state`` is the part of the envelope that it enters, ``start`` 1 or -1, the way it goes.
    """
    cdef double low = node.t * node.lower[j], high = node.t * node.upper[j], best = 0.0, v
    cdef double c = pb.penalty[j] + mu, alpha = pb.ridge[j], turn
    cdef int way
    for way in range(-1, 2, 2):
        if (way > 0 and x >= high) or (way < 0 and x <= low):
            continue
        if x == 0.0 and is_free(node, j):
            turn = rs_turn(high if way > 0 else -low, c, alpha)
            v = -(way * slope + rs_line_slope(turn, c, alpha))
            if v > best:
                best = v
                state[0] = ON_LINE if turn > 0.0 else BEYOND
                start[0] = way
            continue
        v = 2.0 * alpha * x
        if is_free(node, j):    # at its end, from where it goes back
            turn = rs_turn(high if x > 0.0 else -low, c, alpha)
            if fabs(x) <= turn:
                v = rs_line_slope(turn, c, alpha) * (1.0 if x > 0.0 else -1.0)
        v = -way * (slope + v)
        if v > best:
            best = v
            state[0] = BEYOND
            if is_free(node, j) and fabs(x) <= turn:
                state[0] = ON_LINE
            start[0] = way
    return best


cdef double solve_ridged_qp(
    const Problem *pb, const Node *node, const Model *model, double *coef, double mu,
    double accuracy, double *used, double *falling, Scratch *sc,
) noexcept nogil:
    """Minimise the model, with the envelope of all penalties at a multiplier of the budget.

    Primal active set method, as in :func:`solve_qp`. ``used`` gets the sum of uses, ``falling``
    what it falls by for each unit of the multiplier.
    """
    cdef Py_ssize_t m = model.m, a, b, i, j, f, block, limit = 60 + 12 * m
    cdef Py_ssize_t *interior = sc.interior
    cdef int *state = sc.state
    cdef double *x = sc.qp
    cdef double *y = sc.qp + m              # hessian (x - point)
    cdef double *way = sc.qp + 2 * m        # the way that a variable at 0 is to go
    cdef double *ridge = sc.qp + 3 * m
    cdef double *step = sc.qp + 4 * m
    cdef double *along = sc.qp + 5 * m
    cdef double *low = sc.qp + 6 * m
    cdef double *high = sc.qp + 7 * m
    cdef double *c = sc.qp + 8 * m
    cdef double *weight = sc.qp + 9 * m
    cdef double *bend = sc.qp + 12 * m    # behind the two columns of factorise()
    cdef const double *h = model.hessian
    cdef double alpha, limit_a, v, worst, total, c_mu, side = 0.0, width
    cdef Ends ends
    cdef int entered = FIXED, stalled = 0, chosen = FIXED
    pb.counters[3] += 1.0
    for a in range(m):
        j = model.working[a]
        x[a] = coef[j]
        c[a] = model.gradient[j]
        width = node.t * (node.upper[j] - node.lower[j])
        bend[a] = 1e-9 * h[a * m + a] + 1e-12 / (1.0 + width * width)
        state[a] = state_at(pb, node, j, x[a], mu)
        way[a] = 1.0 if x[a] > 0.0 else -1.0
    for a in range(m):
        y[a] = 0.0
        for b in range(m):
            y[a] += h[a * m + b] * (x[b] - model.point[model.working[b]])
    while True:
        f = 0
        for a in range(m):
            if state[a] != FIXED:
                j = model.working[a]
                # A variable that leaves 0 is on the line that it enters.
                v = x[a] if x[a] != 0.0 else 1e-300 * way[a]
                ends = ends_at(pb, node, j, v, state[a], mu)
                low[a], high[a], weight[a] = ends.low, ends.high, ends.weight
                ridge[a] = bend[a] + ends.curvature
                step[f] = -(c[a] + y[a] + (ends.slope if state[a] == ON_LINE else
                                           2.0 * pb.ridge[j] * x[a]))
                interior[f] = a
                f += 1
        if f > 0:
            factorise(h, m, interior, f, ridge, sc.factor, sc.qp + 10 * m)
        limit -= 1
        if limit <= 0 or halts(pb):
            break
        block = -1
        alpha = 1.0
        if f > 0:
            substitute(sc.factor, f, step)
            for i in range(f):
                a = interior[i]
                if step[i] > 0.0:
                    v = high[a]
                elif step[i] < 0.0:
                    v = low[a]
                else:
                    continue
                limit_a = (v - x[a]) / step[i]
                if limit_a < alpha:
                    alpha = max(limit_a, 0.0)
                    block = i
            for i in range(f):
                v = alpha * step[i]
                if v == 0.0:
                    continue
                a = interior[i]
                x[a] += v
                for b in range(m):
                    y[b] += v * h[a * m + b]
            if block >= 0:
                a = interior[block]
                j = model.working[a]
                v = high[a] if step[block] > 0.0 else low[a]
                x[a] = v
                if v == node.t * node.lower[j] or v == node.t * node.upper[j]:
                    state[a] = FIXED
                elif is_free(node, j) and v == 0.0:
                    state[a] = FIXED
                else:
                    state[a] = ON_LINE if state[a] == BEYOND else BEYOND
                if alpha < 1e-12:
                    stalled += 1
                    if stalled > 3 * m + 20:
                        break
                continue
        # Which fixed variable gains most by moving?
        block, worst = -1, accuracy
        for a in range(m):
            j = model.working[a]
            if state[a] != FIXED or node.lower[j] == node.upper[j]:
                continue
            v = gain_of_moving(pb, node, j, x[a], c[a] + y[a], mu, &entered, &side)
            if v <= 0.0:
                continue
            width = node.t * (node.upper[j] - node.lower[j])
            v = min(0.5 * v * v / (h[a * m + a] + bend[a]), v * width)
            if v > worst:
                worst, block, chosen = v, a, entered
                way[a] = side
        if block < 0:
            break
        state[block] = chosen
    # What the multiplier changes: lines become steeper, and turns move.
    used[0] = falling[0] = total = 0.0
    for i in range(f):
        along[i] = weight[interior[i]]
    if f > 0:
        substitute(sc.factor, f, along)
    for i in range(f):
        falling[0] += weight[interior[i]] * along[i]
    for a in range(m):
        j = model.working[a]
        coef[j] = x[a]
        total += (c[a] + 0.5 * y[a]) * (x[a] - model.point[j])
        if is_in(node, j):
            total += pb.penalty[j] + pb.ridge[j] * x[a] * x[a]
        elif is_free(node, j) and x[a] != 0.0:
            c_mu = pb.penalty[j] + mu
            v = end_at(node, j, x[a])
            total += rs_envelope(fabs(x[a]), v, c_mu, pb.ridge[j])
            width = rs_ridge_use(fabs(x[a]), v, c_mu, pb.ridge[j])
            used[0] += width
            if width < 1.0 and c_mu < pb.ridge[j] * v * v:
                falling[0] += 0.5 * width / c_mu
    return total


cdef double solve_ridged(
    const Problem *pb, const Node *node, const Model *model, double *coef, double *multiplier,
    double accuracy, Scratch *sc,
) noexcept nogil:
    """Minimise the model with the multiplier at which the budget is used up, or 0.

    The least value is concave in the multiplier, and its slope the sum of uses less the budget.
    """
    cdef double low = 0.0, high = INFINITY, mu = multiplier[0], used, falling, value, over, new
    cdef Py_ssize_t j, room = pb.max_size
    cdef int i
    for j in range(1, pb.p):
        if is_in(node, j):
            room -= 1
    for i in range(MULTIPLIERS):
        value = solve_ridged_qp(pb, node, model, coef, mu, accuracy, &used, &falling, sc)
        value -= mu * room
        over = used - room
        if pb.halted[0] or i == MULTIPLIERS - 1:
            break
        if over > 0.0:
            low = mu
        else:
            high = mu
        if fabs(over) <= USE_ERROR or (mu == 0.0 and over <= 0.0):
            break
        new = mu + over / falling if falling > 0.0 else INFINITY
        if 0.5 * fabs(over * (new - mu)) <= MULTIPLIER_SHARE * pb.tolerance:
            break
        if not low < new < high:
            new = 0.5 * (low + high) if high < INFINITY else 4.0 * max(mu, 1e-6)
            if low == 0.0 and i < 2 and over < 0.0:
                new = 0.0
        if high < INFINITY and high - low <= 1e-14 * high:
            break
        mu = new
    multiplier[0] = mu
    return value


cdef double solve_at(
    const Problem *pb, const Node *node, const Model *model, double *coef, double *multiplier,
    double accuracy, Scratch *sc,
) noexcept nogil:
    """Minimise the model at the node's t."""
    if pb.has_ridge:
        return solve_ridged(pb, node, model, coef, multiplier, accuracy, sc)
    return solve_qp(pb, node, model, coef, multiplier, accuracy, sc)


cdef void add_ridge_by_t(
    const Problem *pb, const Node *node, const Model *model, double mu, double *slope,
    double *curvature, Scratch *sc,
) noexcept nogil:
    """Derivatives of the penalties by log t, of points that stay as they are with their uses."""
    cdef Py_ssize_t a, j
    cdef double x, v
    for a in range(model.m):
        j, x = model.working[a], sc.qp[a]
        if j == 0 or x == 0.0:
            continue
        v = 2.0 * pb.ridge[j] * x * x
        if is_free(node, j):
            v /= rs_ridge_use(fabs(x), end_at(node, j, x), pb.penalty[j] + mu, pb.ridge[j])
        slope[0] += v
        curvature[0] += v


cdef double solve_model(
    const Problem *pb, Node *node, const Model *model, double *coef, double *multiplier,
    double accuracy, Scratch *sc,
) noexcept nogil:
    """Minimise the model over t as well, by the sign of the slope of its least value by t."""
    cdef double value = solve_at(pb, node, model, coef, multiplier, accuracy, sc)
    cdef double low = node.t_low, high = node.t_high, slope, curvature, t, ratio
    cdef double before = 0.0, slope_before = 0.0
    cdef Py_ssize_t a, j, m = model.m
    cdef int i
    if low == high:
        return value
    for i in range(T_STEPS):
        if pb.halted[0]:
            break
        slope = curvature = 0.0
        for a in range(m):
            # Point, hessian (point - given) and gradient, as solve_qp leaves them.
            slope += (sc.qp[8 * m + a] + sc.qp[m + a]) * sc.qp[a]
            for j in range(m):
                curvature += sc.qp[a] * model.hessian[a * m + j] * sc.qp[j]
        if pb.has_ridge:
            add_ridge_by_t(pb, node, model, multiplier[0], &slope, &curvature, sc)
        slope /= node.t
        curvature /= node.t * node.t
        if slope > 0.0:
            high = node.t
        else:
            low = node.t
        if fabs(slope) * (high - low) <= accuracy:
            break
        t = node.t - slope / curvature if curvature > 0.0 else 0.5 * (low + high)
        if i > 0 and (slope - slope_before) * (node.t - before) > 0.0:
            t = node.t - slope * (node.t - before) / (slope - slope_before)
        # The slope is that of a convex function with kinks: a secant may hardly move.
        if i % 3 == 2 or not low < t < high:
            t = (high if t >= high and high == node.t_high else
                 low if t <= low and low == node.t_low else 0.5 * (low + high))
        if t == node.t:
            break
        before, slope_before = node.t, slope
        ratio = t / node.t
        node.t = t
        for j in range(pb.p):
            coef[j] *= ratio
        project(pb, node, coef)
        value = solve_at(pb, node, model, coef, multiplier, accuracy, sc)
    return value


cdef void evaluate_relaxation(const Problem *pb, Node *node, Scratch *sc) noexcept nogil:
    evaluate(pb, node, sc)
    node.objective = INFINITY if pb.halted[0] else node.loss + penalties(pb, node)


cdef int relax(
    const Problem *pb, Node *node, Model *model, const Model *given, Scratch *sc, int iterations
) noexcept nogil:
    """Solve the relaxation to the tolerance, or until the node is pruned.

    ``given`` is a model to begin with (the parent's), or NULL. Second derivatives cost more than
    everything else: those at hand are kept while steps with them close the gap fast enough.
    """
    cdef const Model *present = given
    cdef bint known = False             # whether node.objective belongs to node.coef
    cdef bint renewed = False, exact, fresh = False
    cdef int i, changes, halving
    cdef Py_ssize_t j
    cdef double before, gap, gap_before = INFINITY, t, loss
    project(pb, node, node.coef)
    for i in range(iterations):
        if halts(pb):
            return IS_OPEN    # the bound is valid as far as it got
        if i > 0 or given == NULL:
            if not known:
                evaluate_relaxation(pb, node, sc)
                known = True
            fill_gradient(pb, node, sc)
            changes = bound_and_tighten(
                pb, node, node.coef, node.gradient, node.loss, node.slope_size, sc)
            if pb.halted[0]:
                return IS_OPEN
            if changes < 0:
                return IS_PRUNED
            if changes > 0:
                if project(pb, node, node.coef):
                    known = False
                    continue
                node.objective = node.loss + penalties(pb, node)
            gap = node.objective - node.bound
            if gap <= pb.tolerance:
                return IS_OPEN
            if present == NULL or gap > STALE * gap_before:
                # A second renewal in a row: the first rows were not good enough.
                exact = renewed and gap > 0.7 * gap_before
                build_model(pb, node, model, sc, exact)
                fresh = True
                renewed = present != NULL
                gap_before = gap if pb.n > sampled(pb, model.m) else INFINITY
            else:
                move_model(pb, node, model, present)
                fresh = renewed = False
                gap_before = gap
            if pb.halted[0]:
                return IS_OPEN
            present = model
        memcpy(sc.saved, node.coef, pb.p * sizeof(double))
        before = node.objective
        t, loss = node.t, node.loss
        solve_model(pb, node, present, node.coef, &node.multiplier,
                    0.001 * pb.tolerance / present.m, sc)
        if pb.has_ridge and known:
            before = loss + penalties_of(pb, node, sc.saved, t)
        evaluate_relaxation(pb, node, sc)
        if pb.halted[0]:
            return IS_OPEN
        if known:
            halving = 0
            while node.objective > before + 1e-15 and halving < 10 and not pb.halted[0]:
                halving += 1
                node.t = t + 0.5 * (node.t - t)
                for j in range(pb.p):
                    node.coef[j] = sc.saved[j] + 0.5 * (node.coef[j] - sc.saved[j])
                evaluate_relaxation(pb, node, sc)
            if node.objective > before - 1e-13 and not fresh:
                # Another coefficient may have to enter, or the second derivatives are too old.
                present = NULL
            elif node.objective > before - 1e-13:
                # No progress: the bound at this point is the last one.
                fill_gradient(pb, node, sc)
                changes = bound_and_tighten(
                    pb, node, node.coef, node.gradient, node.loss, node.slope_size, sc)
                return IS_PRUNED if changes < 0 else IS_OPEN
        known = True
    return IS_OPEN


# ---- branching ----------------------------------------------------------------------------------

cdef struct Branch:
    Py_ssize_t variable           # -1: none
    int kind                      # 0: a free feature, three ways; 1: two ways at `at`; 2: t at `at`
    double at


cdef double predicted(
    const Problem *pb, Node *node, const Model *model, Py_ssize_t j, double lower, double upper,
    double *coef, Scratch *sc,
) noexcept nogil:
    """Value of the model's minimum with the box of one coefficient replaced."""
    cdef double low = node.lower[j], high = node.upper[j], value, mu = node.multiplier, t = node.t
    cdef double used, falling
    node.lower[j], node.upper[j] = lower, upper
    memcpy(coef, node.coef, pb.p * sizeof(double))
    project(pb, node, coef)
    if pb.has_ridge:    # a prediction at the same t and multiplier takes a tenth of the time
        value = solve_ridged_qp(
            pb, node, model, coef, mu, 1e-3 * pb.tolerance, &used, &falling, sc)
        value -= mu * (pb.max_size - node.n_in)
    else:
        value = solve_model(pb, node, model, coef, &mu, 1e-3 * pb.tolerance, sc)
    node.lower[j], node.upper[j], node.t = low, high, t
    return value


cdef bint splits_t(const Problem *pb, const Node *node) noexcept nogil:
    """Say if points could be many values by t alone, so that splitting values tells little."""
    cdef Py_ssize_t j
    cdef double spread = 0.0
    for j in range(1, pb.p):
        if node.lower[j] < node.upper[j]:
            spread = max(spread, fabs(node.coef[j]))
    return spread * (1.0 / node.t_low - 1.0 / node.t_high) > (
        RIDGED_SPREAD if pb.has_ridge else T_SPREAD)


cdef Branch split_of_t(const Node *node) noexcept nogil:
    cdef Branch branch
    branch.variable, branch.kind = 0, 2
    branch.at = sqrt(node.t_low * node.t_high)
    return branch


cdef bint is_lost_to_t(const Problem *pb, const Node *node, Scratch *sc) noexcept nogil:
    """True if a bound over an interval of t is weaker by much than at the relaxation's t alone.

    It lets features have different t, or has less than the ridge penalty: t is split first. What a
    bound lacks because the relaxation is not solved, or by rounding errors, no split gives back.
    """
    cdef double gap = pb.cutoff - node.bound, alone
    cdef Py_ssize_t j, n_open = 0
    cdef const double *known = pb.tilt - 2 * pb.p if pb.tilt != NULL else NULL
    cdef Node part = node[0]
    cdef Choice choice
    if not pb.has_ridge or node.t_high <= NARROW * node.t_low:
        return False
    for j in range(pb.p):
        n_open += node.lower[j] < node.upper[j]
    if n_open == 0:    # the only vector is evaluated at its best t
        return False
    if not gap < INFINITY:
        gap = fabs(node.objective)
    if not node.objective - node.bound > LOST_SHARE * gap:
        return False
    part.t_low = part.t_high = node.t
    alone = node.objective
    # Of nodes that are relaxed on a sample the bound is that of what is known of all rows.
    if (linear_bound(pb, &part, node.coef, node.gradient, node.loss, node.slope_size, node.t,
                     False, sc, &choice) if known == NULL else
            linear_bound(pb, &part, known, known + pb.p, known[3 * pb.p], known[3 * pb.p + 1],
                         node.t, False, sc, &choice)):
        alone = min(alone, choice.bound)
    return alone - node.bound > LOST_SHARE * gap


cdef Branch choose_branch(
    const Problem *pb, Node *node, const Model *model, double *coef, Scratch *sc, int rule
) noexcept nogil:
    cdef Branch branch
    cdef Py_ssize_t[CANDIDATES] top
    cdef double[CANDIDATES] weight
    cdef Py_ssize_t a, j, k, n = 0
    cdef double x, v, best, base, zero, same, other, gap, least, most, share
    branch.variable, branch.kind, branch.at = -1, 0, 0.0
    if is_lost_to_t(pb, node, sc):
        return split_of_t(node)
    for a in range(1, model.m):
        j = model.working[a]
        x = node.coef[j] / node.t
        if not is_free(node, j) or fabs(x) < 1e-9:
            continue
        share = 0.0
        if pb.ridge[j] > 0.0:
            share = rs_ridge_use(
                fabs(node.coef[j]), end_at(node, j, x), pb.penalty[j] + node.multiplier,
                pb.ridge[j])
            if share >= 1.0 - 1e-6:
                continue    # settled, whatever its points are
        if use(x, node.lower[j], node.upper[j]) >= 1.0 - 1e-6 and fabs(x - rint(x)) <= 1e-6:
            continue
        x = node.coef[j]
        v = x * x * model.hessian[a * model.m + a] * (1.0 - share)
        k = n
        while k > 0 and weight[k - 1] < v:
            if k < CANDIDATES:
                weight[k], top[k] = weight[k - 1], top[k - 1]
            k -= 1
        if k < CANDIDATES:
            weight[k], top[k] = v, j
            n = min(n + 1, CANDIDATES)
    if n == 1 or (n > 1 and rule == 0):
        branch.variable = top[0]
        return branch
    if n > 1:
        best = -INFINITY
        branch.variable = top[0]    # where predictions overflow, none is better than another
        base = predicted(pb, node, model, top[0], node.lower[top[0]], node.upper[top[0]], coef, sc)
        gap = max(pb.cutoff - node.objective, 1e-9) if pb.cutoff < INFINITY else 1.0
        for k in range(n):
            if pb.halted[0]:
                break
            j = top[k]
            zero = predicted(pb, node, model, j, 0.0, 0.0, coef, sc) - base
            if node.coef[j] > 0.0:
                same = predicted(pb, node, model, j, 1.0, node.upper[j], coef, sc) - base
            else:
                same = predicted(pb, node, model, j, node.lower[j], -1.0, coef, sc) - base
            zero, same = max(zero, 0.0), max(same, 0.0)
            if rule == 1:
                v = zero
            elif rule == 2:
                v = min(zero, gap) * max(min(same, gap), 1e-3 * gap)
            elif rule == 3:
                v = min(zero, gap) + min(same, gap)
            else:
                v = 0.8 * min(min(zero, same), gap) + 0.2 * min(max(zero, same), gap)
            if v > best:
                best = v
                branch.variable = j
        return branch
    # The support is settled. Where points could be several values by t alone, t is split.
    if node.t_low < node.t_high and splits_t(pb, node):
        return split_of_t(node)
    # Split the values of the coefficient that is furthest from integer.
    branch.kind = 1
    best = 1e-6
    for j in range(pb.p):
        if node.lower[j] < node.upper[j]:
            x = node.coef[j] / node.t
            v = fabs(x - rint(x))
            if v > best:
                best = v
                branch.variable = j
                branch.at = floor(x)
    if branch.variable >= 0:
        return branch
    # An integer point whose bound is not closed: the widest box is split next to it.
    best = 0.0
    for j in range(pb.p):
        v = (node.upper[j] - node.lower[j]) * (1.0 if j > 0 else 0.5)
        if v > best:
            best = v
            branch.variable = j
    if branch.variable >= 0:
        j = branch.variable
        x = rint(node.coef[j] / node.t)
        if x != x:    # the relaxation overflowed
            x = floor(0.5 * (node.lower[j] + node.upper[j]))
        branch.at = x if x < node.upper[j] else x - 1.0
        if is_free(node, j):
            branch.kind = 0
    return branch


cdef Py_ssize_t padded_p(Py_ssize_t p) noexcept nogil:
    return padded(p) + 8


def scratch_sizes(Py_ssize_t n, Py_ssize_t p):
    """Numbers of float64 and of int64 that :func:`expand` and :func:`solve_root` work in."""
    cdef Py_ssize_t width = padded_p(p)
    return (
        3 * n + RS_BLOCK + (width + 2) * RS_TILE + width * (width + 4) // 2 * RS_TILE_LANES
        + 3 * p * p + 13 * p + 19 * p,
        5 * p,
    )


cdef void lay_out(
    Scratch *sc, Model *own, Model *parent, double **rest, double[::1] work, int64_t[::1] index,
    Py_ssize_t n, Py_ssize_t p,
) noexcept nogil:
    cdef double *at = &work[0]
    cdef Py_ssize_t *indices = <Py_ssize_t *>&index[0]
    cdef Py_ssize_t width = padded_p(p)
    sc.scores = at; at += n
    sc.slopes = at; at += n
    sc.curvatures = at; at += n
    sc.losses = at; at += RS_BLOCK
    sc.tile = at; at += (width + 2) * RS_TILE
    sc.lanes = at; at += width * (width + 4) // 2 * RS_TILE_LANES
    sc.factor = at; at += p * p
    own.hessian = at; at += p * p
    parent.hessian = at; at += p * p
    sc.qp = at; at += 13 * p
    sc.value = at; at += p
    sc.size = at; at += p
    sc.saved = at; at += p
    sc.boxes = at; at += 4 * p
    own.point = at; at += p
    own.gradient = at; at += p
    parent.point = at; at += p
    parent.gradient = at; at += p
    rest[0] = at
    sc.order = indices
    sc.interior = indices + p
    own.working = indices + 2 * p
    parent.working = indices + 3 * p
    sc.state = <int *>(indices + 4 * p)


cdef Problem described(
    const int8_t[::1, :] integers, const double[::1, :] reals, const int64_t[::1] slot,
    const double[::1] positive, const double[::1] negative, const double[::1] penalty, const double[::1] ridge,
    const double[::1] largest, const int64_t[::1] duplicate, const double[:, ::1] ends,
    Py_ssize_t min_size, Py_ssize_t max_size, double cutoff,
    double tolerance, const double[::1] known, int64_t[::1] stop, int *halted,
    double[::1] counters,
) noexcept nogil:
    cdef Problem pb
    cdef Py_ssize_t j
    pb.n = positive.shape[0]
    pb.p = penalty.shape[0]
    pb.integers = &integers[0, 0]
    pb.reals = &reals[0, 0]
    pb.slot = &slot[0]
    pb.positive = &positive[0]
    pb.negative = &negative[0]
    pb.penalty = &penalty[0]
    pb.ridge = &ridge[0]
    pb.has_ridge = False
    for j in range(pb.p):
        pb.has_ridge = pb.has_ridge or ridge[j] > 0.0
    pb.largest = &largest[0]
    pb.duplicate = &duplicate[0]
    pb.end_above = &ends[0, 0]
    pb.end_below = &ends[1, 0]
    pb.max_size = max_size
    pb.min_size = min_size
    pb.cutoff = cutoff
    pb.tolerance = tolerance
    pb.stop = &stop[0]
    pb.halted = halted
    pb.counters = &counters[0]
    pb.tilt, pb.constant = NULL, 0.0
    if known.shape[0] > 0:
        pb.tilt, pb.constant = &known[2 * pb.p], known[3 * pb.p + 2]
    return pb


cdef void open_worth(const Problem *pb, Node *node, const double *worth) noexcept nogil:
    """Take over what points are worth, and turn points into coefficients."""
    cdef Py_ssize_t j
    node.t, node.t_low, node.t_high = worth[0], worth[1], worth[2]
    for j in range(pb.p):
        node.coef[j] *= node.t


cdef void close_worth(const Problem *pb, Node *node, double *worth) noexcept nogil:
    cdef Py_ssize_t j
    worth[0], worth[1], worth[2] = node.t, node.t_low, node.t_high
    for j in range(pb.p):
        node.coef[j] /= node.t


def solve_root(
    const int8_t[::1, :] integers, const double[::1, :] reals, const int64_t[::1] slot,
    const double[::1] positive, const double[::1] negative, const double[::1] penalty, const double[::1] ridge,
    const double[::1] largest, const int64_t[::1] duplicate, const double[:, ::1] ends,
    Py_ssize_t min_size, Py_ssize_t max_size, double cutoff,
    double tolerance, const double[::1] known, int iterations, double[:, ::1] box,
    double[::1] coef, double[::1] worth, double[::1] result, int64_t[::1] stop, double[::1] counters, double[::1] work, int64_t[::1] index,
):
    """Relax one node from scratch.

    ``box`` and ``coef`` are in points, each of which is worth ``worth`` (t, and the interval that t
    may be in); ``result`` has bound, objective and multiplier. All of them change.

    Work ends soon after ``stop[0]`` becomes positive, with a node that is open and a bound that is
    valid as far as it got. A negative number ends it at that many looks from now.
    """
    cdef int halted = 0
    cdef Problem pb = described(integers, reals, slot, positive, negative, penalty, ridge, largest, duplicate,
                                ends, min_size, max_size, cutoff, tolerance, known, stop,
                                &halted, counters)
    cdef Scratch sc
    cdef Model own, parent
    cdef Node node
    cdef double *rest
    cdef int status
    with nogil:
        lay_out(&sc, &own, &parent, &rest, work, index, pb.n, pb.p)
        node.lower, node.upper = &box[0, 0], &box[1, 0]
        node.coef, node.gradient = &coef[0], rest
        node.bound, node.objective, node.multiplier = result[0], INFINITY, result[2]
        open_worth(&pb, &node, &worth[0])
        status = relax(&pb, &node, &own, NULL, &sc, iterations)
        close_worth(&pb, &node, &worth[0])
        result[0], result[1], result[2] = node.bound, node.objective, node.multiplier
    return status


cdef void sum_slopes(
    const Problem *pb, const double *coef, const int8_t *label, Py_ssize_t start, Py_ssize_t end,
    rs_sum *sums,
) noexcept nogil:
    """Add up slopes and their first and second derivatives by the score, as far as work goes."""
    cdef double[RS_BLOCK] scores
    cdef double[RS_BLOCK] slopes
    cdef double[RS_BLOCK] curvatures
    cdef double[RS_BLOCK] thirds
    cdef Py_ssize_t n
    memset(sums, 0, 3 * sizeof(rs_sum))
    while start < end and not halts(pb):
        n = min(RS_BLOCK, end - start)
        block_scores(pb, coef, scores, start, n)
        if label != NULL:
            rs_label_slopes(slopes, curvatures, thirds, scores, label + start, n)
        else:
            rs_node_slopes(slopes, curvatures, thirds, scores, pb.positive + start,
                           pb.negative + start, n)
        rs_add(&sums[0], rs_total(slopes, n))
        rs_add(&sums[1], rs_total(curvatures, n))
        rs_add(&sums[2], rs_total(thirds, n))
        start += n


def intercept_step(double slope, double curvature, double third):
    """Change of an intercept at which slopes add up to nearly zero, from their derivatives.

    Of third order; 0 where it would lead too far away.
    """
    cdef double bend, change = 0.0
    if curvature > 0.0:
        bend = 2.0 * curvature * curvature - slope * third
        if bend > curvature * curvature:
            change = -2.0 * slope * curvature / bend
        else:
            change = -slope / curvature
    return change if fabs(change) <= 2.0 else 0.0


cdef void linearise_block(
    const Problem *pb, const double *coef, const int8_t *label, const int64_t *wanted,
    Py_ssize_t start, Py_ssize_t n, rs_sum *sums,
) noexcept nogil:
    """Add a block's loss, sizes of slopes, and derivatives by the coefficients."""
    cdef double[RS_BLOCK] scores
    cdef double[RS_BLOCK] values
    cdef double[RS_BLOCK] slopes
    cdef double[RS_BLOCK] curvatures
    cdef Py_ssize_t j
    cdef int64_t slot
    block_scores(pb, coef, scores, start, n)
    if label != NULL:
        rs_add(&sums[0], rs_sum_losses_and_slopes(slopes, scores, label + start, NULL, n))
    else:
        rs_class_losses(values, slopes, curvatures, scores, pb.positive + start,
                       pb.negative + start, n)
        rs_add(&sums[0], rs_total(values, n))
    rs_add(&sums[1], rs_total_size(slopes, n))
    rs_add(&sums[2], rs_total(slopes, n))
    for j in range(1, pb.p):
        if not wanted[j]:
            continue
        slot = pb.slot[j - 1]
        if slot < 0:
            rs_add(&sums[2 + j], rs_dot_f64(
                slopes, pb.reals + (-1 - slot) * pb.n + start, n))
        else:
            rs_add(&sums[2 + j], rs_dot_i8(slopes, pb.integers + slot * pb.n + start, n))


def linearise(
    const int8_t[::1, :] integers, const double[::1, :] reals, const int64_t[::1] slot,
    const double[::1] positive, const double[::1] negative, const int8_t[::1] label,
    const double[:, ::1] points, const int64_t[::1] wanted, Py_ssize_t begin, Py_ssize_t end,
    double[:, :, ::1] sums, int64_t[::1] stop, double[::1] counters,
):
    """Loss and gradient at several points, from one pass over the rows from begin to end.

    ``points`` (shape (b, p)) are coefficients. ``sums`` (shape (b, p + 2, 2)) gets the loss, the
    sum of the sizes of slopes, and the gradient by the intercept and by the coefficients that are
    ``wanted`` (0 for the others), each with its rounding error. ``label`` is empty, or has the
    classes of rows that have one each and equal weights: sums are then without their weight.
    Returns whether work came to its end; nothing that is filled is to be used otherwise.

    A point's numbers do not depend on those beside it. ``counters`` gets nothing but the seconds.
    """
    cdef Problem pb
    cdef Py_ssize_t b = points.shape[0], p = points.shape[1], i, start = begin, n
    cdef int halted = 0
    cdef double began = rs_seconds()
    cdef const int8_t *labels = NULL
    pb.n, pb.p = positive.shape[0], p
    pb.integers, pb.reals, pb.slot = &integers[0, 0], &reals[0, 0], &slot[0]
    pb.positive, pb.negative = &positive[0], &negative[0]
    pb.stop, pb.halted, pb.counters = &stop[0], &halted, &counters[0]
    if label.shape[0] > 0:
        labels = &label[0]
    with nogil:
        memset(&sums[0, 0, 0], 0, b * (p + 2) * sizeof(rs_sum))
        while start < end and not halts(&pb):
            n = min(RS_BLOCK, end - start)
            for i in range(b):
                linearise_block(&pb, &points[i, 0], labels, &wanted[0], start, n,
                                <rs_sum *>&sums[i, 0, 0])
            start += n
    counters[4] += rs_seconds() - began
    return not halted


def slope_sums(
    const int8_t[::1, :] integers, const double[::1, :] reals, const int64_t[::1] slot,
    const double[::1] positive, const double[::1] negative, const int8_t[::1] label,
    const double[:, ::1] points, Py_ssize_t begin, Py_ssize_t end, double[:, :, ::1] sums,
    int64_t[::1] stop, double[::1] counters,
):
    """Slopes and their two derivatives by the score, added up at several points.

    ``sums`` (shape (b, 3, 2)) gets each sum and its rounding error. All else is as for
    :func:`linearise`.
    """
    cdef Problem pb
    cdef Py_ssize_t i
    cdef int halted = 0
    cdef double began = rs_seconds()
    cdef const int8_t *labels = NULL
    pb.n, pb.p = positive.shape[0], points.shape[1]
    pb.integers, pb.reals, pb.slot = &integers[0, 0], &reals[0, 0], &slot[0]
    pb.positive, pb.negative = &positive[0], &negative[0]
    pb.stop, pb.halted, pb.counters = &stop[0], &halted, &counters[0]
    if label.shape[0] > 0:
        labels = &label[0]
    with nogil:
        for i in range(points.shape[0]):
            sum_slopes(&pb, &points[i, 0], labels, begin, end, <rs_sum *>&sums[i, 0, 0])
    counters[4] += rs_seconds() - began
    return not halted


def apply_cut(
    const int8_t[::1, :] integers, const double[::1, :] reals, const int64_t[::1] slot,
    const double[::1] positive, const double[::1] negative, const double[::1] penalty, const double[::1] ridge,
    const double[::1] largest, const int64_t[::1] duplicate, const double[:, ::1] ends,
    Py_ssize_t min_size, Py_ssize_t max_size, double cutoff,
    double tolerance, const double[::1] known, double[:, ::1] box, double[::1] coef,
    double[::1] worth, double[::1] result, int64_t[::1] stop, double[::1] counters,
    double[::1] work, int64_t[::1] index,
):
    """Bound and shrink a node by a linearisation of the loss of all rows, which are not read.

    ``known`` has the point, the gradient, nothing of interest, the loss and the sum of the sizes of
    slopes. The objective of ``result`` is that of the relaxation at the point, and infinite where
    the node's point is moved, as it has left the box.
    """
    cdef int halted = 0
    cdef Problem pb = described(integers, reals, slot, positive, negative, penalty, ridge, largest, duplicate,
                                ends, min_size, max_size, cutoff, tolerance, known, stop,
                                &halted, counters)
    cdef Scratch sc
    cdef Model own, parent
    cdef Node node
    cdef double *rest
    cdef int status
    with nogil:
        lay_out(&sc, &own, &parent, &rest, work, index, pb.n, pb.p)
        node.lower, node.upper = &box[0, 0], &box[1, 0]
        node.coef, node.gradient = &coef[0], rest
        node.bound, node.objective, node.multiplier = result[0], INFINITY, result[2]
        open_worth(&pb, &node, &worth[0])
        status = IS_PRUNED if apply_cut_to(&pb, &node, &known[0], &sc) < 0 else IS_OPEN
        if not project(&pb, &node, node.coef):
            node.objective = known[3 * pb.p] + penalties(&pb, &node)
        close_worth(&pb, &node, &worth[0])
        result[0], result[1] = node.bound, node.objective
    return status


def expand(
    const int8_t[::1, :] integers, const double[::1, :] reals, const int64_t[::1] slot,
    const double[::1] positive, const double[::1] negative, const double[::1] penalty, const double[::1] ridge,
    const double[::1] largest, const int64_t[::1] duplicate, const double[:, ::1] ends,
    Py_ssize_t min_size, Py_ssize_t max_size, double cutoff,
    double tolerance, const double[::1] known, int iterations, int rule, double[:, ::1] box,
    double[::1] coef, double[::1] worth, double[::1] result, double[:, :, ::1] child_box, double[:, ::1] child_coef,
    double[:, ::1] child_worth, double[:, ::1] child_result, int64_t[::1] stop,
    double[::1] counters, double[::1] work, int64_t[::1] index,
):
    """Branch on a node and relax its children; returns how many of them stay open.

    -1: the node itself is pruned; -2: its box is a single point; -3: work was to end before it
    had children, and the node is open as before, with a box and a bound that may be better.
    ``stop`` is as for :func:`solve_root`; children that it keeps from being relaxed are open.
    """
    cdef int halted = 0
    cdef Problem pb = described(integers, reals, slot, positive, negative, penalty, ridge, largest, duplicate,
                                ends, min_size, max_size, cutoff, tolerance, known, stop,
                                &halted, counters)
    cdef Scratch sc
    cdef Model own, parent
    cdef Node node, child
    cdef Branch branch
    cdef double *rest
    cdef Py_ssize_t n_open = 0
    with nogil:
        lay_out(&sc, &own, &parent, &rest, work, index, pb.n, pb.p)
        node.lower, node.upper = &box[0, 0], &box[1, 0]
        node.coef, node.gradient = &coef[0], rest
        node.bound, node.multiplier = result[0], result[2]
        open_worth(&pb, &node, &worth[0])
        project(&pb, &node, node.coef)
        if pb.tilt != NULL:
            n_open = prepare_estimate(&pb, &node, &parent, &known[0], &sc)
        else:
            n_open = prepare(&pb, &node, &parent, &sc)
        result[0] = node.bound
        if n_open == 0:
            branch = choose_branch(&pb, &node, &parent, rest + 2 * pb.p, &sc, rule)
            result[3] = branch.variable
            if halted:
                n_open = -3
            elif branch.variable < 0:
                n_open = -2
            else:
                n_open = relax_children(
                    &pb, &node, &branch, &own, &parent, &sc, rest + pb.p, iterations,
                    NULL if pb.tilt == NULL else &known[0], child_box, child_coef, child_worth, child_result)
        close_worth(&pb, &node, &worth[0])
    return n_open


cdef int prepare(const Problem *pb, Node *node, Model *model, Scratch *sc) noexcept nogil:
    """Model of the loss at the node's point; -1 if the cutoff prunes the node, -3 if work ends."""
    cdef int changes, i
    for i in range(20):
        evaluate_relaxation(pb, node, sc)
        fill_gradient(pb, node, sc)
        if pb.halted[0]:
            return -3
        # The last time the box stays as it is: loss and gradient must be those of the point.
        if i == 19:
            break
        changes = bound_and_tighten(
            pb, node, node.coef, node.gradient, node.loss, node.slope_size, sc)
        if changes < 0:
            return -1
        if not project(pb, node, node.coef):
            break
    build_model(pb, node, model, sc, False)
    return -3 if pb.halted[0] else 0


cdef int prepare_estimate(
    const Problem *pb, Node *node, Model *model, const double *known, Scratch *sc
) noexcept nogil:
    """The same from what is known of all rows and from some that stand for them."""
    if apply_cut_to(pb, node, known, sc) < 0:
        return -1
    project(pb, node, node.coef)
    evaluate_relaxation(pb, node, sc)
    fill_gradient(pb, node, sc)
    if pb.halted[0]:
        return -3
    build_model(pb, node, model, sc, False)
    return -3 if pb.halted[0] else 0


cdef Py_ssize_t relax_children(
    const Problem *pb, const Node *node, const Branch *branch, Model *own, const Model *parent,
    Scratch *sc, double *gradient, int iterations, const double *known,
    double[:, :, ::1] child_box, double[:, ::1] child_coef, double[:, ::1] child_worth, double[:, ::1] child_result,
) noexcept nogil:
    cdef Node child
    cdef Py_ssize_t n_open = 0, j = branch.variable
    cdef int way
    cdef double low, high, bound
    for way in range(3 if branch.kind == 0 else 2):
        low, high = node.lower[j], node.upper[j]
        child.t, child.t_low, child.t_high = node.t, node.t_low, node.t_high
        if branch.kind == 2:
            if way == 0:
                child.t_high = branch.at
            else:
                child.t_low = branch.at
        elif branch.kind == 0:
            if way == 0:
                low = max(low, 1.0)
            elif way == 1:
                low, high = 0.0, 0.0
            else:
                high = min(high, -1.0)
        elif way == 0:
            high = branch.at
        else:
            low = branch.at + 1.0
        if low > high:
            continue
        child.lower, child.upper = &child_box[n_open, 0, 0], &child_box[n_open, 1, 0]
        child.coef, child.gradient = &child_coef[n_open, 0], gradient
        memcpy(child.lower, node.lower, pb.p * sizeof(double))
        memcpy(child.upper, node.upper, pb.p * sizeof(double))
        memcpy(child.coef, node.coef, pb.p * sizeof(double))
        child.lower[j], child.upper[j] = low, high
        child.bound, child.multiplier = node.bound, node.multiplier
        child.objective = INFINITY
        # What the parent's linearisation says about the child costs no look at the rows.
        if known != NULL:
            if apply_cut_to(pb, &child, known, sc) < 0:
                continue
        elif bound_and_tighten(pb, &child, node.coef, node.gradient, node.loss, node.slope_size,
                               sc) < 0:
            continue
        bound = child.bound
        if relax(pb, &child, own, parent, sc, iterations) == IS_PRUNED:
            continue
        if known != NULL:
            child.bound = bound    # that of the relaxation is an estimate
        close_worth(pb, &child, &child_worth[n_open, 0])
        child_result[n_open, 0] = child.bound
        child_result[n_open, 1] = child.objective
        child_result[n_open, 2] = child.multiplier
        n_open += 1
    return n_open
