# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Additive models of families of features, as the items of one variable are.

In a row the features of a family have one of a few patterns of values: n cut-offs have n + 1, and
so have n levels. A score is a sum of one number for each family, the *effect* of its pattern, so
that scores, slopes by effects and second derivatives take one look-up per row and family, or per
pair of families, however many features there are.

Effects are free here: no box, no number of features limits them. What is found is a point at which
the loss is linearised to bound it (:func:`riskslim._kernels.nodes.apply_cut`); whether it is the
minimum makes no difference to whether that bound is valid.
"""

from libc.math cimport fabs
from libc.stdint cimport int64_t, uint16_t
from libc.string cimport memcpy, memset

cdef extern from "nodes.h" nogil:
    enum:
        RS_BLOCK
    ctypedef struct rs_sum:
        double high
        double low
    bint rs_stopped(int64_t *stop) noexcept
    void rs_add(rs_sum *sum, double value) noexcept
    void rs_class_losses(double *loss, double *slope, double *curvature, const double *s,
                         const double *positive, const double *negative, Py_ssize_t n) noexcept
    double rs_total(const double *v, Py_ssize_t n) noexcept
    double rs_total_size(const double *v, Py_ssize_t n) noexcept


# A step of conjugate gradients ends where the residual is this share of the first one.
DEF RESIDUAL = 0.01
# Longest change of an effect in a step.
DEF LONGEST = 2.0
# Second derivatives are renewed where a step with the present ones leaves more of the slopes.
DEF STALE = 0.25
# Halvings of a step.
DEF HALVINGS = 8
# Of a diagonal entry, added to it: effects may be told apart by few rows, or by none.
DEF RIDGE = 1e-7


cdef struct Model:
    Py_ssize_t n                  # rows
    Py_ssize_t m                  # families that take part
    Py_ssize_t p                  # effects of these
    const uint16_t *codes         # of all families, one after the other
    const int64_t *live           # families that take part
    const int64_t *first          # m + 1: where the effects of each begin
    const double *positive
    const double *negative
    double *scores                # RS_BLOCK
    double *losses                # RS_BLOCK
    double *slopes                # RS_BLOCK
    double *curvatures            # n
    int64_t *stop


cdef bint look(
    const Model *model, const double *effects, double *sums, double *loss, double *size
) noexcept nogil:
    """Loss, its slopes by effects, and curvatures of rows; False if work is to end."""
    cdef Py_ssize_t start = 0, n, i, v
    cdef const uint16_t *code
    cdef const double *effect
    cdef double *sum_of
    cdef rs_sum total, total_size
    total.high = total.low = total_size.high = total_size.low = 0.0
    memset(sums, 0, model.p * sizeof(double))
    while start < model.n:
        if rs_stopped(model.stop):
            return False
        n = min(RS_BLOCK, model.n - start)
        memset(model.scores, 0, n * sizeof(double))
        for v in range(model.m):
            code = model.codes + model.live[v] * model.n + start
            effect = effects + model.first[v]
            for i in range(n):
                model.scores[i] += effect[code[i]]
        rs_class_losses(model.losses, model.slopes, model.curvatures + start, model.scores,
                       model.positive + start, model.negative + start, n)
        rs_add(&total, rs_total(model.losses, n))
        rs_add(&total_size, rs_total_size(model.slopes, n))
        for v in range(model.m):
            code = model.codes + model.live[v] * model.n + start
            sum_of = sums + model.first[v]
            for i in range(n):
                sum_of[code[i]] += model.slopes[i]
        start += n
    loss[0] = total.high + total.low
    size[0] = total_size.high + total_size.low
    return True


cdef bint fill_hessian(const Model *model, double *hessian, double *joint) noexcept nogil:
    """Second derivatives by all pairs of effects (p x p); False if work is to end."""
    cdef Py_ssize_t u, v, i, a, b, width, height
    cdef const uint16_t *one
    cdef const uint16_t *other
    memset(hessian, 0, model.p * model.p * sizeof(double))
    for u in range(model.m):
        one = model.codes + model.live[u] * model.n
        height = model.first[u + 1] - model.first[u]
        for i in range(model.n):
            a = model.first[u] + one[i]
            hessian[a * model.p + a] += model.curvatures[i]
        for v in range(u):
            if rs_stopped(model.stop):
                return False
            other = model.codes + model.live[v] * model.n
            width = model.first[v + 1] - model.first[v]
            memset(joint, 0, height * width * sizeof(double))
            for i in range(model.n):
                joint[one[i] * width + other[i]] += model.curvatures[i]
            for a in range(height):
                for b in range(width):
                    hessian[(model.first[u] + a) * model.p + model.first[v] + b] = (
                        joint[a * width + b])
                    hessian[(model.first[v] + b) * model.p + model.first[u] + a] = (
                        joint[a * width + b])
    return True


cdef void add_multiple(double *y, double a, const double *x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        y[i] += a * x[i]


cdef void solve(
    const double *hessian, const double *gradient, Py_ssize_t p, double *step, double *room
) noexcept nogil:
    """Conjugate gradients for hessian step = gradient, with its diagonal as preconditioner.

    The matrix is singular, as a constant may be moved from one family to another; the gradient is
    in its range. ``room`` has 4 p numbers.
    """
    cdef double *residual = room
    cdef double *direction = room + p
    cdef double *image = room + 2 * p
    cdef double *inverse = room + 3 * p
    cdef Py_ssize_t i, j, k
    cdef double size = 0.0, least, before, length, alpha
    for i in range(p):
        step[i] = 0.0
        residual[i] = gradient[i]
        inverse[i] = hessian[i * p + i]
        inverse[i] = 1.0 / (inverse[i] * (1.0 + RIDGE)) if inverse[i] > 1e-300 else 0.0
        direction[i] = inverse[i] * residual[i]
        size += residual[i] * direction[i]
    least = RESIDUAL * RESIDUAL * size
    for k in range(p):
        if not size > least:
            return
        for i in range(p):
            image[i] = RIDGE * hessian[i * p + i] * direction[i]
        for j in range(p):
            if direction[j] != 0.0:
                add_multiple(image, direction[j], hessian + j * p, p)
        length = 0.0
        for i in range(p):
            length += direction[i] * image[i]
        if not length > 0.0:
            return
        alpha = size / length
        before, size = size, 0.0
        for i in range(p):
            step[i] += alpha * direction[i]
            residual[i] -= alpha * image[i]
            size += residual[i] * inverse[i] * residual[i]
        for i in range(p):
            direction[i] = inverse[i] * residual[i] + (size / before) * direction[i]


cdef double steepest(const Model *model, const double *sums) noexcept nogil:
    """Largest slope by a run of the first effects of a family, as cut-offs have them."""
    cdef Py_ssize_t v, i
    cdef double run, largest = 0.0
    for v in range(model.m):
        run = 0.0
        for i in range(model.first[v], model.first[v + 1]):
            run += sums[i]
            largest = max(largest, max(fabs(run), fabs(sums[i])))
    return largest


cdef void described(
    Model *model, const uint16_t[:, ::1] codes, const int64_t[::1] live, const int64_t[::1] first,
    const double[::1] positive, const double[::1] negative, int64_t[::1] stop, double[::1] work,
) noexcept nogil:
    model.n, model.m = positive.shape[0], live.shape[0]
    model.p = first[model.m]
    model.codes, model.live, model.first = &codes[0, 0], &live[0], &first[0]
    model.positive, model.negative = &positive[0], &negative[0]
    model.stop = &stop[0]
    model.scores = &work[0]
    model.losses = model.scores + RS_BLOCK
    model.slopes = model.losses + RS_BLOCK
    model.curvatures = model.slopes + RS_BLOCK


def scratch_size(Py_ssize_t n, Py_ssize_t p, Py_ssize_t largest):
    """Number of float64 that :func:`linearise` and :func:`fit` work in.

    For n rows, p effects of the families that take part, ``largest`` of which belong to one.
    """
    return 3 * RS_BLOCK + n + p * p + largest * largest + 7 * p


def linearise(
    const uint16_t[:, ::1] codes, const int64_t[::1] live, const int64_t[::1] first,
    const double[::1] effects, const double[::1] positive, const double[::1] negative,
    double[::1] sums, double[::1] out, int64_t[::1] stop, double[::1] work,
):
    """Loss of given effects and its slopes by them, from one pass over the rows.

    ``codes`` (one line for each family) has the pattern of each row; ``live`` the families that
    take part, whose effects and ``sums`` of slopes begin at ``first``, which has one entry more.
    ``out`` gets the loss and the sum of the sizes of the slopes of rows. Sums of slopes are plain
    ones: their errors are up to n times 2^-53 of that size. Returns whether work came to its end.
    """
    cdef Model model
    cdef bint is_done
    with nogil:
        described(&model, codes, live, first, positive, negative, stop, work)
        is_done = look(&model, &effects[0], &sums[0], &out[0], &out[1])
    return is_done


def fit(
    const uint16_t[:, ::1] codes, const int64_t[::1] live, const int64_t[::1] first,
    double[::1] effects, const double[::1] positive, const double[::1] negative, double reach,
    double target, double tolerance, int most, double[::1] out, int64_t[::1] stop,
    double[::1] work,
):
    """Minimise the loss by Newton steps from given effects, which change.

    Of a point with slopes g by the effects it is estimated that other scores are at most ``reach``
    times the largest of g below its linearisation at zero. Steps end where that leaves no more than
    ``tolerance`` between the loss and that bound, or puts the bound at ``target`` or above, after
    ``most`` of them, and soon after ``stop[0]`` is not zero. ``out`` gets the loss and the
    estimated bound. Otherwise as :func:`linearise`. Returns the number of passes over the rows.
    """
    cdef Model model
    cdef Py_ssize_t i, passes = 1
    cdef int taken, halving
    cdef double loss, trial_loss, size, bound, largest, steepness, before = 0.0
    cdef bint is_stale = True, is_better
    cdef double *sums
    cdef double *trial
    cdef double *step
    cdef double *hessian
    cdef double *joint
    cdef double *room
    with nogil:
        described(&model, codes, live, first, positive, negative, stop, work)
        sums = model.curvatures + model.n
        trial = sums + model.p
        step = trial + model.p
        room = step + model.p
        hessian = room + 4 * model.p
        joint = hessian + model.p * model.p
        loss = bound = 0.0
        is_better = look(&model, &effects[0], sums, &loss, &size)
        for taken in range(most if is_better else 0):
            steepness = steepest(&model, sums)
            bound = loss - reach * steepness
            for i in range(model.p):
                bound -= sums[i] * effects[i]
            if bound >= target or loss - bound <= tolerance:
                break
            is_stale = taken > 0 and steepness <= STALE * before
            if not is_stale and not fill_hessian(&model, hessian, joint):
                break
            before = steepness
            solve(hessian, sums, model.p, step, room)
            largest = 0.0
            for i in range(model.p):
                largest = max(largest, fabs(step[i]))
            if largest > LONGEST:
                for i in range(model.p):
                    step[i] *= LONGEST / largest
            is_better = False
            for halving in range(HALVINGS):
                for i in range(model.p):
                    trial[i] = effects[i] - step[i]
                passes += 1
                if not look(&model, trial, sums, &trial_loss, &size):
                    break
                is_better = trial_loss < loss
                if is_better:
                    break
                for i in range(model.p):
                    step[i] *= 0.5
            if not is_better:
                if not is_stale:
                    break
                before = 0.0    # the second derivatives were those of another point
                passes += 1
                if not look(&model, &effects[0], sums, &loss, &size):
                    break
                continue
            loss = trial_loss
            memcpy(&effects[0], trial, model.p * sizeof(double))
        out[0], out[1] = loss, bound
    return passes
