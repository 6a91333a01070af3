"""Numba counterpart of nodes.pyx: the same kernels, arguments and results.

What the kernels do, and why, is told there. Structures are named tuples here; what changes in them
are arrays. Numba has no clock in compiled code: all seconds of a call count as seconds on rows.
Second derivatives are added in an order of their own, as in the other kernels.
"""

from __future__ import annotations

import time
from math import inf, prod, sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import float64, int8, int64

from riskslim._kernels.numba_backend import blocks
from riskslim._kernels.numba_backend.blocks import BLOCK
from riskslim._kernels.numba_backend.compiled import helper, kernel, merged, read, write

HESSIAN_ROWS = 32768
WIDE_ROWS, WIDE = 8192, 32
PRUNED, OPEN = 1, 0
KNOWN = 3

_SLACK = 1e-9
_ENTERING = 8
_CANDIDATES = 5
_GRADIENT_ERROR = 2e-14
_SUM_ERROR = 1e-15
_SLOPE_ERROR = 1e-15
_SCORE_ERROR = 2.5e-16
_STALE = 0.2
_LEAST_SHARE = 0.02
_T_SPREAD = 4.0
_T_STEPS = 12
_IDLE = 0.05
_SETTLING = 4

# Entries of _Node.values.
_LOSS, _OBJECTIVE, _BOUND, _MULTIPLIER, _SLOPE_SIZE, _CURVATURE, _T, _T_LOW, _T_HIGH = range(9)
_N_VALUES = 9
# Branching rules that ask for the relaxation of the node itself, and for what is known of it.
_ROOT, _SETTLE = -1, -2
_NO_CHILDREN = np.empty((0, 2, 0)), np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 0))


class _Problem(NamedTuple):
    columns: Any  # transposed, as are the real columns
    real_columns: Any
    slot: Any
    positive: Any
    negative: Any
    penalty: Any
    largest: Any
    twin: Any
    ends: Any
    min_size: Any
    max_size: Any
    cutoff: Any
    tolerance: Any
    tilt: Any  # empty, or what the rows lack of the gradient of all of them
    constant: Any  # and of the loss
    stop: Any
    halted: Any  # one entry
    counters: Any


class _Node(NamedTuple):
    lower: Any
    upper: Any
    coef: Any
    gradient: Any
    values: Any


class _Model(NamedTuple):
    size: Any  # one entry
    working: Any
    hessian: Any
    point: Any
    gradient: Any


class _Scratch(NamedTuple):
    scores: Any
    slopes: Any
    curvatures: Any
    block: Any
    tile: Any  # columns of a block, the intercept's first
    lane: Any
    sums: Any
    pending: Any
    factor: Any
    qp: Any
    value: Any
    saved: Any
    boxes: Any  # two, lower and upper bounds
    order: Any
    interior: Any
    state: Any


@helper
def _copy(target, source):
    for i in range(target.shape[0]):
        target[i] = source[i]


# ---- the end of all work -------------------------------------------------------------------


@helper
def _halts(problem):
    """Look whether work is to end: then no bound is drawn from what passes were about to fill."""
    if not problem.halted[0]:
        now = problem.stop[0]
        if now < 0:
            problem.stop[0] = 1 if now == -1 else now + 1
        problem.halted[0] = now > 0 or now == -1
    return problem.halted[0] != 0


# ---- passes over the rows ------------------------------------------------------------------


@helper
def _is_free(node, j):
    return j > 0 and node.lower[j] <= 0.0 <= node.upper[j] and node.lower[j] < node.upper[j]


@helper
def _is_in(node, j):
    return j > 0 and (node.lower[j] > 0.0 or node.upper[j] < 0.0)


@helper
def _is_fixed(node, j):
    """Say whether a coefficient cannot change: neither its points nor what they are worth can."""
    fixed_worth = node.values[_T_LOW] == node.values[_T_HIGH]
    return node.lower[j] == node.upper[j] and (node.lower[j] == 0.0 or fixed_worth)


@helper
def _add_pending(problem, coef, scores, start, pending):
    """Add four integer columns."""
    stop = start + scores.shape[0]
    j0, j1, j2, j3 = pending[0], pending[1], pending[2], pending[3]
    blocks.add_4_columns_i8(
        scores,
        problem.columns[problem.slot[j0 - 1], start:stop],
        problem.columns[problem.slot[j1 - 1], start:stop],
        problem.columns[problem.slot[j2 - 1], start:stop],
        problem.columns[problem.slot[j3 - 1], start:stop],
        coef[j0],
        coef[j1],
        coef[j2],
        coef[j3],
    )


@helper
def _block_scores(problem, coef, scores, start, pending):
    stop, k = start + scores.shape[0], 0
    for i in range(scores.shape[0]):
        scores[i] = coef[0]
    for j in range(1, coef.shape[0]):
        if coef[j] == 0.0:
            continue
        slot = problem.slot[j - 1]
        if slot < 0:
            blocks.add_column_f64(scores, problem.real_columns[-1 - slot, start:stop], coef[j])
            continue
        pending[k] = j
        k += 1
        if k == 4:
            _add_pending(problem, coef, scores, start, pending)
            k = 0
    for i in range(k):
        j = pending[i]
        column = problem.columns[problem.slot[j - 1], start:stop]
        blocks.add_column_i8(scores, column, coef[j])


@helper
def row_losses(losses, slopes, curvatures, scores, positive, negative):
    """Loss, d loss / d score and second derivative of each row, from one exponential."""
    for i in range(scores.shape[0]):
        size, above, below = abs(scores[i]), positive[i], negative[i]
        e = blocks.exp_nonpositive(-size)
        q = 1.0 / (1.0 + e)
        wrong = below if scores[i] > 0.0 else above
        right = above if scores[i] > 0.0 else below
        slope_size = q * (wrong - right * e)
        losses[i] = (wrong + right) * blocks.log1p(e) + wrong * size
        slopes[i] = slope_size if scores[i] > 0.0 else -slope_size
        curvatures[i] = (wrong + right) * (e * q * q)


@helper
def _losses(problem, node, scratch, shifted, shift):
    """Scores of node.coef (or the present ones and a shift), loss, slopes, curvatures.

    Returns the sums of slopes and of curvatures.
    """
    n, sums, lane = problem.positive.shape[0], scratch.sums, scratch.lane
    problem.counters[0] += 1.0
    for k in range(sums.shape[0]):
        sums[k, 0] = sums[k, 1] = 0.0
    for start in range(0, n, BLOCK):
        if _halts(problem):
            break
        stop = min(start + BLOCK, n)
        scores, values = scratch.scores[start:stop], scratch.block[: stop - start]
        slopes, curvatures = scratch.slopes[start:stop], scratch.curvatures[start:stop]
        if shifted:
            for i in range(scores.shape[0]):
                scores[i] += shift
        else:
            _block_scores(problem, node.coef, scores, start, scratch.pending)
        above, below = problem.positive[start:stop], problem.negative[start:stop]
        row_losses(values, slopes, curvatures, scores, above, below)
        blocks.add_to(sums, 0, blocks.total(values, lane))
        blocks.add_to(sums, 1, blocks.total(slopes, lane))
        blocks.add_to(sums, 2, blocks.total(curvatures, lane))
        for i in range(values.shape[0]):
            values[i] = abs(slopes[i])
        blocks.add_to(sums, 3, blocks.total(values, lane))
    node.values[_LOSS] = sums[0, 0] + sums[0, 1]
    node.values[_SLOPE_SIZE] = sums[3, 0] + sums[3, 1]
    return sums[1, 0] + sums[1, 1], sums[2, 0] + sums[2, 1]


@helper
def _evaluate(problem, node, scratch):
    """Loss, slopes and curvatures at node.coef, whose intercept is polished; the objective."""
    t, shifted, change = node.values[_T], False, 0.0
    width = node.values[_T_HIGH] * (node.upper[0] - node.lower[0])
    for _ in range(4):
        slope, curvature = _losses(problem, node, scratch, shifted, change)
        if shifted:
            node.coef[0] += change
        if problem.halted[0]:
            node.values[_OBJECTIVE] = inf
            return
        if problem.tilt.shape[0]:
            slope += problem.tilt[0]
            if slope * slope < _IDLE * problem.tolerance * curvature:
                break
        elif abs(slope) * width < 0.05 * problem.tolerance:
            break
        if not curvature > 0.0:
            break
        change = max(-slope / curvature, t * node.lower[0] - node.coef[0])
        change = min(change, t * node.upper[0] - node.coef[0])
        if change == 0.0 or abs(change) > 2.0:
            break
        shifted = True
    node.gradient[0], node.values[_CURVATURE] = slope, curvature
    if problem.tilt.shape[0]:
        node.values[_LOSS] += problem.constant
        for j in range(node.coef.shape[0]):
            node.values[_LOSS] += problem.tilt[j] * node.coef[j]
    node.values[_OBJECTIVE] = node.values[_LOSS] + _penalties(problem, node)


@helper
def _fill_gradient(problem, node, scratch):
    """Derivatives of coefficients that can change; the others are multiplied by zero."""
    n = problem.positive.shape[0]
    problem.counters[1] += 1.0
    for j in range(1, node.coef.shape[0]):
        node.gradient[j] = 0.0
        if _is_fixed(node, j):
            continue
        slot, high, low = problem.slot[j - 1], 0.0, 0.0
        for start in range(0, n, BLOCK):
            if _halts(problem):
                return
            stop = min(start + BLOCK, n)
            slopes = scratch.slopes[start:stop]
            if slot < 0:
                column = problem.real_columns[-1 - slot, start:stop]
                value = blocks.dot(slopes, column, scratch.lane)
            else:
                value = blocks.dot(slopes, problem.columns[slot, start:stop], scratch.lane)
            high, low = blocks.add(high, low, value)
        node.gradient[j] = high + low
        if problem.tilt.shape[0]:
            node.gradient[j] += problem.tilt[j]


@helper
def _fill_tile(problem, model, tile, start, stop):
    """Columns of the working set, but for the intercept's."""
    for a in range(1, model.size[0]):
        slot, z = problem.slot[model.working[a] - 1], tile[a]
        if slot < 0:
            x = problem.real_columns[-1 - slot, start:stop]
            for i in range(stop - start):
                z[i] = x[i]
        else:
            y = problem.columns[slot, start:stop]
            for i in range(stop - start):
                z[i] = np.float64(np.int32(y[i]))


@helper
def _sampled(problem, m):
    """Rows that second derivatives on m features are computed from."""
    return min(problem.positive.shape[0], WIDE_ROWS if m > WIDE else HESSIAN_ROWS)


@helper
def _fill_hessian(problem, model, scratch, curvature_sum, exact):
    """Second derivatives on the working set from the curvatures, of all or of the first rows."""
    n, m, h, tile = problem.positive.shape[0], model.size[0], model.hessian, scratch.tile
    rows, seen = n if exact else _sampled(problem, m), 0.0
    problem.counters[2] += 1.0
    for i in range(BLOCK):
        tile[0, i] = 1.0
    for a in range(m):
        for b in range(a, m):
            h[a, b] = 0.0
    for start in range(0, rows, BLOCK):
        if _halts(problem):
            return
        stop = min(start + BLOCK, rows)
        curvatures, weighted = scratch.curvatures[start:stop], scratch.block[: stop - start]
        seen += blocks.total(curvatures, scratch.lane)
        _fill_tile(problem, model, tile, start, stop)
        for a in range(m):
            z = tile[a]
            for i in range(stop - start):
                weighted[i] = curvatures[i] * z[i]
            for b in range(a, m):
                h[a, b] += blocks.dot(weighted, tile[b, : stop - start], scratch.lane)
    share = curvature_sum / seen if rows < n and seen > 0.0 else 1.0
    for a in range(m):
        for b in range(a, m):
            h[a, b] *= share
            h[b, a] = h[a, b]


# ---- the safe bound, and what it says about the box ------------------------------------------


class _Choice(NamedTuple):
    bound: Any
    worst: Any
    following: Any
    n_used: Any
    room: Any
    forced: Any


@helper
def _cheapest(g, lower, upper):
    """Least g z over the non-zero integers z of a box around zero."""
    least = inf
    if upper >= 1.0:
        least = min(g * upper, g)
    if lower <= -1.0:
        least = min(least, min(g * lower, -g))
    return least


@helper
def _insert(order, n, j, value):
    """Put j into an ascending order of n indices by value."""
    k = n
    while k > 0 and value[order[k - 1]] > value[j]:
        order[k] = order[k - 1]
        k -= 1
    order[k] = j


@helper
def _linear_bound(problem, node, coef, gradient, loss, slope_size, t, scratch):
    """Minimum of a linearisation and penalties over the node's integer vectors, worth t each.

    An infinite bound means that there is none.
    """
    order, value = scratch.order, scratch.value
    bound, size, reach, n_free, n_in = loss, loss, 0.0, 0, 0
    for j in range(coef.shape[0]):
        low, high = node.lower[j], node.upper[j]
        if low > high:
            return _Choice(inf, 0.0, 0.0, 0, 0, 0)
        v = gradient[j] * coef[j]
        bound -= v
        size += abs(v)
        if low == high == 0.0 and j > 0:
            reach += 2.0 * problem.largest[j] * abs(coef[j])
            continue
        g = t * gradient[j]
        reach += problem.largest[j] * (2.0 * abs(coef[j]) + t * max(abs(low), abs(high)))
        if _is_free(node, j):
            value[j] = problem.penalty[j] + _cheapest(g, low, high)
            _insert(order, n_free, j, value)
            n_free += 1
            continue
        least = min(g * low, g * high)
        if j > 0:
            n_in += 1
            least += problem.penalty[j]
        bound += least
        size += abs(least)
    room, forced = problem.max_size - n_in, max(0, problem.min_size - n_in)
    if room < 0 or forced > n_free:
        return _Choice(inf, 0.0, 0.0, 0, 0, 0)
    k = 0
    while k < n_free and k < room and (value[order[k]] < 0.0 or k < forced):
        bound += value[order[k]]
        size += abs(value[order[k]])
        k += 1
    for i in range(n_free):
        scratch.state[order[i]] = 1 if i < k else 0
    worst = value[order[k - 1]] if k > 0 else -inf
    following = value[order[k]] if k < n_free else inf
    p = coef.shape[0]
    bound -= (
        _SUM_ERROR * (p + 10) * size
        + _SLOPE_ERROR * loss * reach
        + (_GRADIENT_ERROR + _SCORE_ERROR * p) * (slope_size * reach + loss)
    )
    return _Choice(bound, worst, following, k, room, forced)


@helper
def _whole(quotient):
    """The quotient rounded down, on the loose side."""
    return np.floor(quotient + _SLACK * (1.0 + abs(quotient)))


@helper
def _lowered(bound, quotient, start):
    return min(bound, start + _whole(quotient)) if quotient < 1e9 else bound


@helper
def _raised(bound, quotient, start):
    return max(bound, start - _whole(quotient)) if quotient < 1e9 else bound


@helper
def _tighten_used(node, j, g, slack):
    """The intercept or a feature that is in: one unit away from its best end costs |g|."""
    low, high = node.lower[j], node.upper[j]
    if g > 0.0:
        node.upper[j] = _lowered(high, slack / g, low)
    elif g < 0.0:
        node.lower[j] = _raised(low, slack / -g, high)
    return 1 if low != node.lower[j] or high != node.upper[j] else 0


@helper
def _without_and_others(choice, used, value):
    """Bound without a free feature, and of everything but this feature with it."""
    if used:
        instead = choice.following
        if choice.n_used > choice.forced:
            instead = min(0.0, instead)
        others = choice.bound - value
        return others + instead, others
    dropped = max(0.0, choice.worst) if choice.n_used < choice.room else choice.worst
    return choice.bound, choice.bound - dropped


@helper
def _sides(low, high, g, room):
    """Box of the values z of a free feature with g z <= room; ends next to zero if it is in."""
    least, most = 1.0, -1.0
    if high >= 1.0:
        if g > 0.0:
            high = _lowered(high, room / g, 0.0) if room >= 0.0 else 0.0
        elif g * high > room:
            high = 0.0
        elif g < 0.0 and room < 0.0:
            least = max(1.0, -_whole(-room / g))
    if low <= -1.0:
        if g < 0.0:
            low = _raised(low, room / -g, 0.0) if room >= 0.0 else 0.0
        elif g * low > room:
            low = 0.0
        elif g > 0.0 and room < 0.0:
            most = min(-1.0, _whole(room / g))
    return min(low, 0.0), max(high, 0.0), least, most


@helper
def _tighten_free(problem, node, j, g, choice, used, value):
    """A free feature: values that the bound with the feature in, or out, excludes. -1: all."""
    if choice.room <= 0:
        node.lower[j] = node.upper[j] = 0.0
        return 1
    without, others = _without_and_others(choice, used, value)
    room = problem.cutoff - others - problem.penalty[j]
    low, high, least, most = _sides(node.lower[j], node.upper[j], g, room)
    if without >= problem.cutoff:
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


@helper
def _tighten(problem, node, gradient, t, choice, scratch):
    """Shrink the box by what the bound excludes; the number of changes, -1 if nothing is left."""
    changes, slack = 0, problem.cutoff - choice.bound
    if slack <= 0.0:
        return -1
    if not slack < inf:
        return 0
    for j in range(gradient.shape[0]):
        if node.lower[j] == node.upper[j]:
            continue
        if _is_free(node, j):
            used, value = scratch.state[j], scratch.value[j]
            change = _tighten_free(problem, node, j, t * gradient[j], choice, used, value)
        else:
            change = _tighten_used(node, j, t * gradient[j], slack)
        if change < 0 or node.lower[j] > node.upper[j]:
            return -1
        changes += change
    return changes


@helper
def _order_twins(problem, node):
    """Of columns that say the same, the later is used where the earlier is at its end."""
    changes, lower, upper = 0, node.lower, node.upper
    for j in range(1, lower.shape[0]):
        a = problem.twin[j]
        if a < 0 or lower[j] == 0.0 == upper[j]:
            continue
        above, below = problem.ends[0, j], problem.ends[1, j]
        if upper[j] > 0.0 and not lower[a] <= above <= upper[a]:
            upper[j] = 0.0
            changes += 1
        if lower[j] < 0.0 and not lower[a] <= below <= upper[a]:
            lower[j] = 0.0
            changes += 1
        if lower[j] > upper[j]:
            return -1
        if _is_in(node, j) and lower[a] < upper[a]:
            lower[a] = upper[a] = above if lower[j] > 0.0 else below
            changes += 1
    return changes


@helper
def _bound_at(problem, node, source, t, scratch):
    """Bound by the linearisation at ``source`` with points worth t; changes of the box, or -1."""
    loss, slope_size = source.values[_LOSS], source.values[_SLOPE_SIZE]
    choice = _linear_bound(
        problem, node, source.coef, source.gradient, loss, slope_size, t, scratch
    )
    if choice.bound >= problem.cutoff:
        return choice.bound, -1
    return choice.bound, _tighten(problem, node, source.gradient, t, choice, scratch)


@helper
def _cut_interval(node, end, share):
    """Cut a share off an end of the interval of t; whether it is worth it."""
    share = (1.0 - 1e-9) * share - 1e-12
    if not share > _LEAST_SHARE:
        return 0
    cut = share * (node.values[_T_HIGH] - node.values[_T_LOW])
    if end == 1:
        node.values[_T_HIGH] -= cut
    else:
        node.values[_T_LOW] += cut
    return 1


@merged
def _bound_interval(problem, node, source, scratch):
    """The same over an interval of t, from its two ends."""
    lower, upper, boxes = node.lower, node.upper, scratch.boxes
    _copy(boxes[0], lower)
    _copy(boxes[1], upper)
    at_low, low_changes = _bound_at(problem, node, source, node.values[_T_LOW], scratch)
    _copy(boxes[2], lower)
    _copy(boxes[3], upper)
    _copy(lower, boxes[0])
    _copy(upper, boxes[1])
    at_high, high_changes = _bound_at(problem, node, source, node.values[_T_HIGH], scratch)
    if at_low == at_low and at_high == at_high:  # numbers, both
        node.values[_BOUND] = max(node.values[_BOUND], min(at_low, at_high))
    if node.values[_BOUND] >= problem.cutoff or (low_changes < 0 and high_changes < 0):
        return -1
    changes = 0
    for j in range(lower.shape[0]):
        if low_changes >= 0 and high_changes >= 0:
            lower[j] = min(lower[j], boxes[2, j])
            upper[j] = max(upper[j], boxes[3, j])
        elif low_changes >= 0:
            lower[j], upper[j] = boxes[2, j], boxes[3, j]
        if lower[j] != boxes[0, j] or upper[j] != boxes[1, j]:
            changes += 1
    if at_low >= problem.cutoff:
        changes += _cut_interval(node, 0, (at_low - problem.cutoff) / (at_low - at_high))
    if at_high >= problem.cutoff:
        changes += _cut_interval(node, 1, (at_high - problem.cutoff) / (at_high - at_low))
    return changes


@helper
def _estimate(problem, node, source, scratch):
    """Bound of a linearisation of what stands for the loss: it proves nothing."""
    bound, slope = inf, node.gradient[0]
    node.gradient[0] = 0.0  # the pass that follows polishes the intercept
    for t in (node.values[_T_LOW], node.values[_T_HIGH]):
        choice = _linear_bound(
            problem, node, source.coef, source.gradient, source.values[_LOSS],
            source.values[_SLOPE_SIZE], t, scratch,
        )  # fmt: skip
        bound = min(bound, choice.bound)
    node.gradient[0] = slope
    if bound < inf:
        node.values[_BOUND] = max(node.values[_BOUND], bound)
    return 0


@helper
def _settle_node(problem, node, known, values, scratch):
    """Bound and box of a node by a linearisation of the loss of all rows; -1 if it is pruned."""
    p, changes = node.coef.shape[0], 0
    proven = _Problem(
        problem.columns, problem.real_columns, problem.slot, problem.positive, problem.negative,
        problem.penalty, problem.largest, problem.twin, problem.ends, problem.min_size,
        problem.max_size, problem.cutoff, problem.tolerance, problem.tilt[:0], 0.0,
        problem.stop, problem.halted, problem.counters,
    )  # fmt: skip
    values[_LOSS], values[_SLOPE_SIZE] = known[3 * p], known[3 * p + 1]
    source = _Node(node.lower, node.upper, known[:p], known[p : 2 * p], values)
    for _ in range(_SETTLING):
        changes = _proven(proven, node, source, scratch)
        if changes <= 0:
            return changes
    return 0


@helper
def _bound_and_tighten(problem, node, source, scratch):
    """Bound by the linearisation at ``source``; changes of the box, or -1: it is done with."""
    if problem.halted[0]:
        return 0  # loss and gradient may be those of no point
    if problem.tilt.shape[0]:
        return _estimate(problem, node, source, scratch)
    return _proven(problem, node, source, scratch)


@helper
def _proven(problem, node, source, scratch):
    if problem.halted[0]:
        return 0
    if node.values[_T_LOW] < node.values[_T_HIGH]:
        changes = _bound_interval(problem, node, source, scratch)
    else:
        bound, changes = _bound_at(problem, node, source, node.values[_T], scratch)
        node.values[_BOUND] = max(node.values[_BOUND], bound)
        if node.values[_BOUND] >= problem.cutoff:
            return -1
    more = -1 if changes < 0 else _order_twins(problem, node)
    return -1 if more < 0 else changes + more


# ---- the relaxation ----------------------------------------------------------------------------


@helper
def _use(x, lower, upper):
    if x > 0.0:
        return x / upper
    if x < 0.0:
        return x / lower
    return 0.0


@helper
def _use_at(node, j, x):
    t = node.values[_T]
    return _use(x, t * node.lower[j], t * node.upper[j])


@helper
def _project(problem, node, coef):
    """Move a point into the box and the budget; whether it moved."""
    total, moved, n_in = 0.0, False, 0
    t = min(max(node.values[_T], node.values[_T_LOW]), node.values[_T_HIGH])
    node.values[_T] = t
    for j in range(coef.shape[0]):
        if coef[j] < t * node.lower[j]:
            coef[j] = t * node.lower[j]
            moved = True
        elif coef[j] > t * node.upper[j]:
            coef[j] = t * node.upper[j]
            moved = True
        if _is_in(node, j):
            n_in += 1
        elif _is_free(node, j):
            total += _use_at(node, j, coef[j])
    room = problem.max_size - n_in
    # By less it does not move at all: a linearisation is of one point only.
    if total > room * (1.0 + 1e-12) and total > 0.0:
        moved = True
        for j in range(1, coef.shape[0]):
            if _is_free(node, j):
                coef[j] *= room / total
    return moved


@helper
def _penalties(problem, node):
    total = 0.0
    for j in range(1, node.coef.shape[0]):
        if _is_in(node, j):
            total += problem.penalty[j]
        elif _is_free(node, j):
            total += problem.penalty[j] * _use_at(node, j, node.coef[j])
    return total


@helper
def _insert_best(order, n, j, value, most):
    """Put j into a descending order of at most ``most`` indices by value; how many they are."""
    k = n
    while k > 0 and value[order[k - 1]] < value[j]:
        if k < most:
            order[k] = order[k - 1]
        k -= 1
    if k == most:
        return n
    order[k] = j
    return min(n + 1, most)


@helper
def _choose_working_set(problem, node, model, scratch):
    """Intercept, non-zero and required features, and the zeros that promise most."""
    m, n, value = 1, 0, scratch.value
    model.working[0] = 0
    for j in range(1, node.coef.shape[0]):
        low, high, g = node.lower[j], node.upper[j], node.values[_T] * node.gradient[j]
        if _is_fixed(node, j):
            continue
        if node.coef[j] != 0.0 or _is_in(node, j):
            model.working[m] = j
            m += 1
            continue
        value[j] = -(min(g * low, g * high) + problem.penalty[j])
        if value[j] > 0.98 * node.values[_MULTIPLIER] and value[j] > 0.0:
            n = _insert_best(scratch.order, n, j, value, np.int64(_ENTERING))
    for k in range(n):
        model.working[m + k] = scratch.order[k]
    model.size[0] = m + n


@merged
def _build_model(problem, node, model, scratch, exact):
    _choose_working_set(problem, node, model, scratch)
    _fill_hessian(problem, model, scratch, node.values[_CURVATURE], exact)
    _copy(model.point, node.coef)
    _copy(model.gradient, node.gradient)


@helper
def _move_model(node, model, source):
    """The second derivatives of another point, with the slope of this one."""
    m = source.size[0]
    model.size[0] = m
    for a in range(m):
        model.working[a] = source.working[a]
        _copy(model.hessian[a, :m], source.hessian[a])
    _copy(model.point, node.coef)
    _copy(model.gradient, node.gradient)


# ---- the quadratic program ---------------------------------------------------------------------

_FIXED, _INTERIOR = 0, 1


class _Program(NamedTuple):
    # By position in the working set.
    m: Any
    hessian: Any
    x: Any
    y: Any  # hessian (x - point)
    weight: Any  # use per unit, on the side where x moves
    ridge: Any
    step: Any
    along: Any
    low: Any
    high: Any
    slope: Any  # of the loss at the model's point
    cost: Any
    interior: Any
    state: Any
    factor: Any


@helper
def _program(model, scratch):
    qp = scratch.qp
    return _Program(
        model.size[0], model.hessian, qp[0], qp[1], qp[2], qp[3], qp[4], qp[5], qp[6], qp[7],
        qp[8], qp[9], scratch.interior, scratch.state, scratch.factor,
    )  # fmt: skip


@helper
def _start_program(problem, node, model, qp, coef):
    """Fill the program from the point ``coef``; the use of the budget there."""
    used = 0.0
    for a in range(qp.m):
        j, h = model.working[a], qp.hessian[a, a]
        x, t = coef[j], node.values[_T]
        low, high = t * node.lower[j], t * node.upper[j]
        qp.x[a], qp.low[a], qp.high[a] = x, low, high
        qp.cost[a], qp.slope[a] = problem.penalty[j], model.gradient[j]
        qp.ridge[a] = 1e-9 * h + 1e-12 / (1.0 + (high - low) * (high - low))
        qp.weight[a], qp.state[a] = 0.0, _FIXED
        if _is_free(node, j):
            used += _use(x, low, high)
            if x > 0.0:
                qp.weight[a] = 1.0 / high
            elif x < 0.0:
                qp.weight[a] = 1.0 / low
        if low < x < high and (x != 0.0 or not _is_free(node, j)):
            qp.state[a] = _INTERIOR
    for a in range(qp.m):
        qp.y[a] = 0.0
        for b in range(qp.m):
            qp.y[a] += qp.hessian[a, b] * (qp.x[b] - model.point[model.working[b]])
    return used


@helper
def _list_interior(qp):
    f = 0
    for a in range(qp.m):
        if qp.state[a] == _INTERIOR:
            qp.interior[f] = a
            f += 1
    return f


@helper
def _factorise(qp, f):
    """Cholesky factor for the interior variables; dependent columns do not move."""
    factor = qp.factor
    for a in range(f):
        i = qp.interior[a]
        for b in range(a + 1):
            v = qp.hessian[i, qp.interior[b]]
            if a == b:
                v += qp.ridge[i]
            diagonal = v
            for k in range(b):
                v -= factor[a, k] * factor[b, k]
            if a == b:
                factor[a, a] = sqrt(v) if v > 1e-13 * diagonal else 1e100
            else:
                factor[a, b] = v / factor[b, b]


@helper
def _substitute(factor, f, v):
    for a in range(f):
        for k in range(a):
            v[a] -= factor[a, k] * v[k]
        v[a] /= factor[a, a]
    for a in range(f - 1, -1, -1):
        for k in range(a + 1, f):
            v[a] -= factor[k, a] * v[k]
        v[a] /= factor[a, a]


@helper
def _newton_step(qp, f, tight):
    """Step of the interior variables; change of use, price of the budget, whether it is tight."""
    _factorise(qp, f)
    wd = wz = mu = 0.0
    for i in range(f):
        a = qp.interior[i]
        qp.step[i] = -(qp.slope[a] + qp.y[a] + qp.cost[a] * qp.weight[a])
    _substitute(qp.factor, f, qp.step)
    for i in range(f):
        wd += qp.weight[qp.interior[i]] * qp.step[i]
    if not tight:
        return wd, mu, tight
    for i in range(f):
        qp.along[i] = qp.weight[qp.interior[i]]
    _substitute(qp.factor, f, qp.along)
    for i in range(f):
        wz += qp.weight[qp.interior[i]] * qp.along[i]
    if wz > 0.0:
        mu = wd / wz
        if mu < 0.0:
            return wd, 0.0, False
        for i in range(f):
            qp.step[i] -= mu * qp.along[i]
    return wd, mu, tight


@helper
def _end(qp, a, step):
    """Find where a step of variable a ends at the latest."""
    if step > 0.0:
        return qp.high[a] if qp.weight[a] >= 0.0 else 0.0
    return qp.low[a] if qp.weight[a] <= 0.0 else 0.0


@helper
def _step_length(qp, f, wd, tight, used, room):
    """Share of the step that can be taken, and what blocks it: -1 nothing, m the budget."""
    alpha, block = 1.0, -1
    if not tight and wd > 0.0 and used + wd > room:
        alpha, block = max(0.0, (room - used) / wd), qp.m
    for i in range(f):
        step = qp.step[i]
        if step == 0.0:
            continue
        a = qp.interior[i]
        limit = (_end(qp, a, step) - qp.x[a]) / step
        if limit < alpha:
            alpha, block = max(limit, 0.0), i
    return alpha, block


@helper
def _take_step(qp, f, alpha, used):
    """Move the interior variables; the use of the budget after that."""
    for i in range(f):
        a, v = qp.interior[i], alpha * qp.step[i]
        if v == 0.0:
            continue
        qp.x[a] += v
        used += qp.weight[a] * v
        row = qp.hessian[a]
        for b in range(qp.m):
            qp.y[b] += v * row[b]
    return used


@helper
def _fix(qp, i):
    """Leave the i-th interior variable at its end."""
    a = qp.interior[i]
    qp.x[a] = _end(qp, a, qp.step[i])
    qp.state[a] = _FIXED
    if qp.x[a] == 0.0:
        qp.weight[a] = 0.0


@helper
def _budget_price(qp):
    """No interior variable says what the budget is worth: the least useful one at its end."""
    mu = inf
    for a in range(qp.m):
        if qp.weight[a] != 0.0:
            mu = min(mu, -(qp.slope[a] + qp.y[a]) / qp.weight[a] - qp.cost[a])
    return max(0.0, mu) if mu < inf else 0.0


@helper
def _gain_rate(qp, a, free, price):
    """Descent per unit of a fixed variable that moves, and the weight that it gets."""
    slope, low, high = qp.slope[a] + qp.y[a], qp.low[a], qp.high[a]
    if not free:
        return (-slope if qp.x[a] <= low else slope), qp.weight[a]
    if qp.x[a] > 0.0:
        return slope + price / high, qp.weight[a]
    if qp.x[a] < 0.0:
        return -(slope + price / low), qp.weight[a]
    up = -(slope + price / high) if high > 0.0 else 0.0
    down = slope + price / low if low < 0.0 else 0.0
    if down > up:
        return down, 1.0 / low
    return up, (1.0 / high if high > 0.0 else 0.0)


@helper
def _release(node, model, qp, mu, accuracy):
    """Set the fixed variable free that gains most by moving; whether there is one."""
    best, worst, weight = -1, accuracy, 0.0
    for a in range(qp.m):
        if qp.state[a] == _INTERIOR or qp.low[a] == qp.high[a]:
            continue
        v, moving = _gain_rate(qp, a, _is_free(node, model.working[a]), qp.cost[a] + mu)
        if v <= 0.0:
            continue
        curvature = qp.hessian[a, a] + qp.ridge[a]
        v = min(0.5 * v * v / curvature, v * (qp.high[a] - qp.low[a]))
        if v > worst:
            worst, best, weight = v, a, moving
    if best >= 0:
        qp.state[best], qp.weight[best] = _INTERIOR, weight
    return best >= 0


@helper
def _finish_program(node, model, qp, coef):
    """Take over the solution; the value of the model there."""
    total = 0.0
    for a in range(qp.m):
        j = model.working[a]
        coef[j] = qp.x[a]
        total += (qp.slope[a] + 0.5 * qp.y[a]) * (qp.x[a] - model.point[j])
        if _is_free(node, j):
            total += qp.cost[a] * _use(qp.x[a], qp.low[a], qp.high[a])
        elif _is_in(node, j):
            total += qp.cost[a]
    return total


@helper
def _solve_qp(problem, node, model, coef, accuracy, scratch):
    """Minimise the model from the feasible ``coef``; its value, and the price of the budget.

    Primal active set method; ``coef`` is changed on the working set.
    """
    qp = _program(model, scratch)
    problem.counters[3] += 1.0
    room, mu, stalled = float(problem.max_size), 0.0, 0
    for j in range(1, coef.shape[0]):
        if _is_in(node, j):
            room -= 1.0
    used = _start_program(problem, node, model, qp, coef)
    tight = used >= room - 1e-9
    for _ in range(30 + 8 * qp.m):
        if _halts(problem):
            break
        f = _list_interior(qp)
        if f > 0:
            wd, mu, tight = _newton_step(qp, f, tight)
            alpha, block = _step_length(qp, f, wd, tight, used, room)
            used = _take_step(qp, f, alpha, used)
            if block == qp.m:
                tight = True
                continue
            if block >= 0:
                _fix(qp, block)
                stalled += alpha < 1e-12
                if stalled > 2 * qp.m + 10:
                    break
                continue
        else:
            mu = _budget_price(qp) if tight else 0.0
        if not _release(node, model, qp, mu, accuracy):
            break
    return _finish_program(node, model, qp, coef), mu


@helper
def _slope_by_t(model, qp, t):
    """Slope of the program's optimal value by t, and its curvature with the points kept."""
    slope = curvature = 0.0
    for a in range(model.size[0]):
        slope += (qp[8, a] + qp[1, a]) * qp[0, a]
        for b in range(model.size[0]):
            curvature += qp[0, a] * model.hessian[a, b] * qp[0, b]
    return slope / t, curvature / (t * t)


@helper
def _solve_model(problem, node, model, coef, accuracy, scratch):
    """Minimise the model over t as well, by the sign of the slope of its least value by t."""
    value, mu = _solve_qp(problem, node, model, coef, accuracy, scratch)
    t_low, t_high = node.values[_T_LOW], node.values[_T_HIGH]
    low, high, before, slope_before = t_low, t_high, 0.0, 0.0
    for i in range(_T_STEPS if low < high else 0):
        if problem.halted[0]:
            break
        now = node.values[_T]
        slope, curvature = _slope_by_t(model, scratch.qp, now)
        if slope > 0.0:
            high = now
        else:
            low = now
        if abs(slope) * (high - low) <= accuracy:
            break
        t = now - slope / curvature if curvature > 0.0 else 0.5 * (low + high)
        if i > 0 and (slope - slope_before) * (now - before) > 0.0:
            t = now - slope * (now - before) / (slope - slope_before)
        # The slope is that of a convex function with kinks: a secant may hardly move.
        if i % 3 == 2 or not low < t < high:
            if t >= high and high == t_high:
                t = high
            elif t <= low and low == t_low:
                t = low
            else:
                t = 0.5 * (low + high)
        if t == now:
            break
        before, slope_before = now, slope
        for j in range(coef.shape[0]):
            coef[j] *= t / now
        node.values[_T] = t
        _project(problem, node, coef)
        value, mu = _solve_qp(problem, node, model, coef, accuracy, scratch)
    return value, mu


# ---- Newton steps --------------------------------------------------------------------------------


@merged
def _step_back(problem, node, scratch, before, t):
    """Halve a step until it does not lead up."""
    for _ in range(10):
        if problem.halted[0] or not node.values[_OBJECTIVE] > before + 1e-15:
            break
        node.values[_T] = t + 0.5 * (node.values[_T] - t)
        for j in range(node.coef.shape[0]):
            node.coef[j] = scratch.saved[j] + 0.5 * (node.coef[j] - scratch.saved[j])
        _evaluate(problem, node, scratch)


@merged
def _newton_iteration(problem, node, model, scratch, known):
    """Minimise the model, go there; whether that is progress, from a point known or not."""
    before, t = node.values[_OBJECTIVE], node.values[_T]
    _copy(scratch.saved, node.coef)
    accuracy = 0.001 * problem.tolerance / model.size[0]
    _, mu = _solve_model(problem, node, model, node.coef, accuracy, scratch)
    node.values[_MULTIPLIER] = mu
    _evaluate(problem, node, scratch)
    if not known:
        return True
    _step_back(problem, node, scratch, before, t)
    return not node.values[_OBJECTIVE] > before - 1e-13


@helper
def _relax(problem, node, model, parent, given, scratch, iterations):
    """Solve the relaxation to the tolerance, or until the node is pruned.

    ``given``: the parent's model is there to begin with.
    """
    known, renewed, fresh, gap_before = False, False, False, inf
    # Whether there is a model, and whether it is the parent's.
    present, inherited = given, given
    _project(problem, node, node.coef)
    for i in range(iterations):
        if _halts(problem):
            return OPEN
        if i > 0 or not given:
            if not known:
                _evaluate(problem, node, scratch)
                known = True
            _fill_gradient(problem, node, scratch)
            changes = _bound_and_tighten(problem, node, node, scratch)
            if problem.halted[0]:
                return OPEN
            if changes < 0:
                return PRUNED
            if changes > 0:
                if _project(problem, node, node.coef):
                    known = False
                    continue
                node.values[_OBJECTIVE] = node.values[_LOSS] + _penalties(problem, node)
            gap = node.values[_OBJECTIVE] - node.values[_BOUND]
            if gap <= problem.tolerance:
                return OPEN
            if not present or gap > _STALE * gap_before:
                # A second renewal in a row: the first rows were not good enough.
                exact = renewed and gap > 0.7 * gap_before
                _build_model(problem, node, model, scratch, exact)
                renewed, fresh = present, True
                is_sampled = problem.positive.shape[0] > _sampled(problem, model.size[0])
                gap_before = gap if is_sampled else inf
            else:
                _move_model(node, model, parent if inherited else model)
                renewed, fresh, gap_before = False, False, gap
            if problem.halted[0]:
                return OPEN
            present, inherited = True, False
        progress = _newton_iteration(problem, node, parent if inherited else model, scratch, known)
        if problem.halted[0]:
            return OPEN
        if not progress and not fresh:
            # Another coefficient may have to enter, or the second derivatives are too old.
            present = False
        elif not progress:
            # The bound at this point is the last one.
            _fill_gradient(problem, node, scratch)
            return PRUNED if _bound_and_tighten(problem, node, node, scratch) < 0 else OPEN
        known = True
    return OPEN


# ---- branching ----------------------------------------------------------------------------------


class _Branch(NamedTuple):
    variable: Any  # -1: none
    kind: Any  # 0: a free feature, three ways; 1: two ways at `at`; 2: t at `at`
    at: Any


@helper
def _predicted(problem, node, model, j, lower, upper, coef, scratch):
    """Value of the model's minimum with the box of one coefficient replaced."""
    low, high, t = node.lower[j], node.upper[j], node.values[_T]
    node.lower[j], node.upper[j] = lower, upper
    _copy(coef, node.coef)
    _project(problem, node, coef)
    value, _ = _solve_model(problem, node, model, coef, 1e-3 * problem.tolerance, scratch)
    node.lower[j], node.upper[j], node.values[_T] = low, high, t
    return value


@helper
def _list_candidates(node, model, top, value):
    """Free features that are partly used, the most important ones first; how many they are."""
    n = 0
    for a in range(1, model.size[0]):
        j = model.working[a]
        x, low, high = node.coef[j] / node.values[_T], node.lower[j], node.upper[j]
        if not _is_free(node, j) or abs(x) < 1e-9:
            continue
        if _use(x, low, high) >= 1.0 - 1e-6 and abs(x - np.rint(x)) <= 1e-6:
            continue
        value[j] = node.coef[j] * node.coef[j] * model.hessian[a, a]
        n = _insert_best(top, n, j, value, np.int64(_CANDIDATES))
    return n


@helper
def _score(rule, zero, same, gap):
    """Estimate what branching promises, from the changes that are predicted for two children."""
    if rule == 1:
        return zero
    if rule == 2:
        return min(zero, gap) * max(min(same, gap), 1e-3 * gap)
    if rule == 3:
        return min(zero, gap) + min(same, gap)
    return 0.8 * min(min(zero, same), gap) + 0.2 * min(max(zero, same), gap)


@merged
def _look_ahead(problem, node, model, top, n, coef, scratch, rule):
    """The candidate whose children the model likes best."""
    best, variable, gap, base, zero = -inf, top[0], 1.0, 0.0, 0.0
    if problem.cutoff < inf:
        gap = max(problem.cutoff - node.values[_OBJECTIVE], 1e-9)
    # Each candidate in three boxes; before them the node itself.
    for trial in range(-1, 2 * n):
        if problem.halted[0]:
            break
        j = top[max(trial, 0) // 2]
        low, high = node.lower[j], node.upper[j]
        if trial >= 0 and trial % 2 == 0:
            low = high = 0.0
        elif trial >= 0 and node.coef[j] > 0.0:
            low = 1.0
        elif trial >= 0:
            high = -1.0
        value = _predicted(problem, node, model, j, low, high, coef, scratch)
        if trial < 0:
            base = value
        elif trial % 2 == 0:
            zero = max(value - base, 0.0)
        else:
            v = _score(rule, zero, max(value - base, 0.0), gap)
            if v > best:
                best, variable = v, j
    return variable


@helper
def _splits_t(node):
    """Say whether points could be many values by t alone: splitting values tells little."""
    low, high, spread = node.values[_T_LOW], node.values[_T_HIGH], 0.0
    for j in range(1, node.coef.shape[0]):
        if node.lower[j] < node.upper[j]:
            spread = max(spread, abs(node.coef[j]))
    return low < high and spread * (1.0 / low - 1.0 / high) > _T_SPREAD


@helper
def _split_values(node):
    """The support is settled: split the values of one coefficient, or what they are worth."""
    best, variable, t = 1e-6, -1, node.values[_T]
    if _splits_t(node):
        return _Branch(0, 2, sqrt(node.values[_T_LOW] * node.values[_T_HIGH]))
    for j in range(node.coef.shape[0]):
        v = abs(node.coef[j] / t - np.rint(node.coef[j] / t))
        if node.lower[j] < node.upper[j] and v > best:
            best, variable = v, j
    if variable >= 0:
        return _Branch(variable, 1, np.floor(node.coef[variable] / t))
    # An integer point whose bound is not closed: the widest box is split next to it.
    best = 0.0
    for j in range(node.coef.shape[0]):
        v = (node.upper[j] - node.lower[j]) * (1.0 if j > 0 else 0.5)
        if v > best:
            best, variable = v, j
    if variable < 0:
        return _Branch(variable, 1, 0.0)
    at = np.rint(node.coef[variable] / t)
    if np.isnan(at):  # the relaxation overflowed
        at = np.floor(0.5 * (node.lower[variable] + node.upper[variable]))
    if at >= node.upper[variable]:
        at -= 1.0
    return _Branch(variable, 0 if _is_free(node, variable) else 1, at)


@merged
def _choose_branch(problem, node, model, coef, scratch, rule):
    top = scratch.order
    n = _list_candidates(node, model, top, scratch.value)
    if n == 0:
        return _split_values(node)
    if n == 1 or rule == 0:
        return _Branch(top[0], 0, 0.0)
    return _Branch(_look_ahead(problem, node, model, top, n, coef, scratch, rule), 0, 0.0)


@merged
def _prepare(problem, node, model, scratch):
    """Model of the loss at the node's point; -1 if the cutoff prunes the node, -3 if work ends."""
    for i in range(20):
        _evaluate(problem, node, scratch)
        _fill_gradient(problem, node, scratch)
        if problem.halted[0]:
            return -3
        # The last time the box stays as it is: loss and gradient must be those of the point.
        if i == 19:
            break
        if _bound_and_tighten(problem, node, node, scratch) < 0:
            return -1
        if not _project(problem, node, node.coef):
            break
    _build_model(problem, node, model, scratch, np.bool_(False))
    return -3 if problem.halted[0] else 0


@merged
def _prepare_estimate(problem, node, model, known, values, scratch):
    """The same from what is known of all rows and from some that stand for them."""
    if _settle_node(problem, node, known, values, scratch) < 0:
        return -1
    _project(problem, node, node.coef)
    _evaluate(problem, node, scratch)
    _fill_gradient(problem, node, scratch)
    if problem.halted[0]:
        return -3
    _build_model(problem, node, model, scratch, np.bool_(False))
    return -3 if problem.halted[0] else 0


@helper
def _part(low, high, branch, way):
    """Box of the branching variable in one of the children."""
    if branch.kind == 2:
        return low, high
    if branch.kind == 0:
        if way == 0:
            return max(low, 1.0), high
        return (0.0, 0.0) if way == 1 else (low, min(high, -1.0))
    return (low, branch.at) if way == 0 else (branch.at + 1.0, high)


@helper
def _open_worth(node, worth):
    """Take over what points are worth, and turn points into coefficients."""
    node.values[_T], node.values[_T_LOW], node.values[_T_HIGH] = worth[0], worth[1], worth[2]
    for j in range(node.coef.shape[0]):
        node.coef[j] *= worth[0]


@helper
def _close_worth(node, worth):
    worth[0], worth[1], worth[2] = node.values[_T], node.values[_T_LOW], node.values[_T_HIGH]
    for j in range(node.coef.shape[0]):
        node.coef[j] /= worth[0]


@merged
def _relax_children(
    problem, node, branch, own, parent, scratch, gradient, values, given, known, iterations,
    boxes, coefs, worths, results,
):  # fmt: skip
    n_open, j = 0, branch.variable
    for way in range(3 if branch.kind == 0 else 2):
        low, high = _part(node.lower[j], node.upper[j], branch, way)
        if low > high:
            continue
        child = _Node(boxes[n_open, 0], boxes[n_open, 1], coefs[n_open], gradient, values)
        _copy(child.lower, node.lower)
        _copy(child.upper, node.upper)
        _copy(child.coef, node.coef)
        child.lower[j], child.upper[j] = low, high
        values[_BOUND], values[_MULTIPLIER] = node.values[_BOUND], node.values[_MULTIPLIER]
        values[_OBJECTIVE] = inf
        for k in range(_T, _T_HIGH + 1):
            values[k] = node.values[k]
        if branch.kind == 2:
            values[_T_HIGH if way == 0 else _T_LOW] = branch.at
        # What the parent's linearisation says about the child costs no look at the rows.
        if known.shape[0]:
            if _settle_node(problem, child, known, given, scratch) < 0:
                continue
        elif _bound_and_tighten(problem, child, node, scratch) < 0:
            continue
        bound = values[_BOUND]
        if _relax(problem, child, own, parent, np.bool_(True), scratch, iterations) == PRUNED:
            continue
        if known.shape[0]:
            values[_BOUND] = bound  # that of the relaxation is an estimate
        _close_worth(child, worths[n_open])
        results[n_open, 0], results[n_open, 1] = values[_BOUND], values[_OBJECTIVE]
        results[n_open, 2] = values[_MULTIPLIER]
        n_open += 1
    return n_open


# ---- calls from Python ---------------------------------------------------------------------------


# One kernel does the work of both functions: most of it would be compiled twice otherwise.
@kernel(
    *(read(int8, 2), read(float64, 2), read(int64), read(float64), read(float64), read(float64)),
    *(read(float64), read(int64), read(float64, 2), int64, int64, float64, float64),
    *(read(float64), int64, int64),
    *(write(float64, 2), write(float64), write(float64), write(float64)),
    *(write(float64, 3), write(float64, 2), write(float64, 2), write(float64, 2), write(int64)),
    write(float64),
    *(write(float64, 2), write(float64), write(float64, 2), write(float64, 3)),
    *(write(float64, 2), write(float64, 2), write(float64, 2), write(float64), write(float64, 2)),
    write(int64, 2),
)
def _work_on(
    columns, real_columns, slot, positive, negative, penalty, largest, twin, ends,
    min_size, max_size, cutoff, tolerance, known, iterations, rule, box, coef, worth, result,
    boxes, coefs, worths, results, stop, counters, rows, block, tile, squares, qp, vectors,
    values, lane, sums, indices,
):  # fmt: skip
    p = coef.shape[0]
    problem = _Problem(
        columns, real_columns, slot, positive, negative, penalty, largest, twin, ends, min_size,
        max_size, cutoff, tolerance, known[2 * p : 3 * p], known[3 * p + 2] if known.size else 0.0,
        stop, indices[8], counters,
    )  # fmt: skip
    scratch = _Scratch(
        rows[0], rows[1], rows[2], block, tile, lane, sums, indices[5], squares[0], qp,
        vectors[0], vectors[1], vectors[9:13], indices[0], indices[1], indices[2],
    )  # fmt: skip
    own = _Model(indices[6], indices[3], squares[1], vectors[2], vectors[3])
    parent = _Model(indices[7], indices[4], squares[2], vectors[4], vectors[5])
    node = _Node(box[0], box[1], coef, vectors[6], values[0])
    node.values[_BOUND], node.values[_OBJECTIVE] = result[0], inf
    node.values[_MULTIPLIER] = result[2]
    problem.halted[0] = 0
    _open_worth(node, worth)
    if rule == _ROOT:
        status = _relax(problem, node, own, parent, np.bool_(False), scratch, iterations)
        result[1], result[2] = node.values[_OBJECTIVE], node.values[_MULTIPLIER]
    elif rule == _SETTLE:
        done = _settle_node(problem, node, known, values[2], scratch) < 0
        status = PRUNED if done else OPEN
        if not _project(problem, node, coef):
            node.values[_OBJECTIVE] = known[3 * p] + _penalties(problem, node)
        result[1] = node.values[_OBJECTIVE]
    else:
        _project(problem, node, coef)
        if known.size:
            status = _prepare_estimate(problem, node, parent, known, values[2], scratch)
        else:
            status = _prepare(problem, node, parent, scratch)
        if status == 0:
            branch = _choose_branch(problem, node, parent, vectors[8], scratch, rule)
            result[3] = branch.variable
            status = -3 if problem.halted[0] else -2
            if branch.variable >= 0 and not problem.halted[0]:
                status = _relax_children(
                    problem, node, branch, own, parent, scratch, vectors[7], values[1],
                    values[2], known, iterations, boxes, coefs, worths, results,
                )  # fmt: skip
    _close_worth(node, worth)
    result[0] = node.values[_BOUND]
    return status


@kernel(
    *(read(float64), read(float64), read(float64), float64, write(float64, 2), write(float64, 2)),
    write(float64),
)
def _scale_derivatives(scores, positive, negative, t, block, sums, lane):
    for start in range(0, scores.shape[0], BLOCK):
        stop = min(start + BLOCK, scores.shape[0])
        m = stop - start
        s, losses, slopes, curvatures = block[0, :m], block[1, :m], block[2, :m], block[3, :m]
        for i in range(m):
            s[i] = t * scores[start + i]
        row_losses(losses, slopes, curvatures, s, positive[start:stop], negative[start:stop])
        blocks.add_to(sums, 0, blocks.total(losses, lane))
        blocks.add_to(sums, 1, blocks.dot(slopes, scores[start:stop], lane))
        for i in range(m):
            s[i] = scores[start + i] * scores[start + i]
        blocks.add_to(sums, 2, blocks.dot(curvatures, s, lane))


def scale_derivatives(scores, positive, negative, t):
    sums = np.zeros((3, 2))
    room = np.empty((4, BLOCK)), sums, np.empty(blocks.LANES)
    _scale_derivatives(scores, positive, negative, t, *room)
    return tuple(sums.sum(axis=1).tolist())


def _float_shapes(n, p):
    """Shapes of the float64 arrays that the kernel works in, in the order of its arguments."""
    return (
        *((3, n), (BLOCK,), (p, BLOCK), (3, p, p), (10, p), (13, p)),
        *((3, _N_VALUES), (blocks.LANES,), (4, 2)),
    )


def _index_shape(p):
    return 9, max(p, 4)


def scratch_sizes(n, p):
    return sum(prod(shape) for shape in _float_shapes(n, p)), prod(_index_shape(p))


def _call(data, limits, node, children, stop, counters, work, index):
    began, at, arrays = time.perf_counter(), 0, []
    columns, real_columns, slot, positive, negative, penalty, *rest = data
    for shape in _float_shapes(len(positive), len(penalty)):
        arrays.append(work[at : at + prod(shape)].reshape(shape))
        at += prod(shape)
    shape = _index_shape(len(penalty))
    status = _work_on(
        columns.T, real_columns.T, slot, positive, negative, penalty, *rest, *limits, *node,
        *children, stop, counters, *arrays, index[: prod(shape)].reshape(shape),
    )  # fmt: skip
    counters[4] += time.perf_counter() - began
    return status


def solve_root(
    integers, reals, slot, positive, negative, penalty, largest, twin, ends, min_size, max_size,
    cutoff, tolerance, known, iterations, box, coef, worth, result, stop, counters, work, index,
):  # fmt: skip
    return _call(
        (integers, reals, slot, positive, negative, penalty, largest, twin, ends),
        (min_size, max_size, cutoff, tolerance, known, iterations, _ROOT),
        (box, coef, worth, result),
        _NO_CHILDREN, stop, counters, work, index,
    )  # fmt: skip


def expand(
    integers, reals, slot, positive, negative, penalty, largest, twin, ends, min_size, max_size,
    cutoff, tolerance, known, iterations, rule, box, coef, worth, result, child_box, child_coef,
    child_worth, child_result, stop, counters, work, index,
):  # fmt: skip
    return _call(
        (integers, reals, slot, positive, negative, penalty, largest, twin, ends),
        (min_size, max_size, cutoff, tolerance, known, iterations, rule),
        (box, coef, worth, result),
        (child_box, child_coef, child_worth, child_result), stop, counters, work, index,
    )  # fmt: skip


def settle(
    integers, reals, slot, positive, negative, penalty, largest, twin, ends, min_size, max_size,
    cutoff, tolerance, known, box, coef, worth, result, stop, counters, work, index,
):  # fmt: skip
    return _call(
        (integers, reals, slot, positive, negative, penalty, largest, twin, ends),
        (min_size, max_size, cutoff, tolerance, known, 0, _SETTLE),
        (box, coef, worth, result),
        _NO_CHILDREN, stop, counters, work, index,
    )  # fmt: skip


# ---- passes over all rows ------------------------------------------------------------------------


@helper
def _row_slopes(slopes, curvatures, thirds, scores, positive, negative):
    """Slope and the second and third derivative of each row's loss by its score."""
    for i in range(scores.shape[0]):
        above, below = positive[i], negative[i]
        e = blocks.exp_nonpositive(-abs(scores[i]))
        q = 1.0 / (1.0 + e)
        wrong = below if scores[i] > 0.0 else above
        right = above if scores[i] > 0.0 else below
        slope_size = q * (wrong - right * e)
        bend = (wrong + right) * (e * q * q)
        change = bend * ((1.0 - e) * q)
        slopes[i] = slope_size if scores[i] > 0.0 else -slope_size
        curvatures[i] = bend
        thirds[i] = -change if scores[i] > 0.0 else change


@helper
def _label_slopes(slopes, curvatures, thirds, scores, label):
    """The same of rows of one class and of weight one each."""
    for i in range(scores.shape[0]):
        y = np.float64(label[i])
        margin = scores[i] * y
        e = blocks.exp_nonpositive(-abs(margin))
        share = (1.0 if margin < 0.0 else e) / (1.0 + e)
        bend = share * (1.0 - share)
        slopes[i] = -y * share
        curvatures[i] = bend
        thirds[i] = bend * (y * (2.0 * share - 1.0))


class _Rows(NamedTuple):
    columns: Any  # transposed, as are the real columns
    real_columns: Any
    slot: Any
    positive: Any
    negative: Any
    label: Any
    stop: Any
    halted: Any
    counters: Any
    block: Any  # (4, BLOCK)
    strip: Any
    lane: Any
    pending: Any


@helper
def _sum_slopes(rows, coef, begin, end, sums):
    """Add up slopes and their first and second derivatives by the score, as far as work goes."""
    for k in range(3):
        sums[k, 0] = sums[k, 1] = 0.0
    for start in range(begin, end, BLOCK):
        if _halts(rows):
            return
        stop = min(start + BLOCK, end)
        m = stop - start
        scores, slopes = rows.block[0, :m], rows.block[1, :m]
        curvatures, thirds = rows.block[2, :m], rows.block[3, :m]
        _block_scores(rows, coef, scores, start, rows.pending)
        if rows.label.shape[0]:
            _label_slopes(slopes, curvatures, thirds, scores, rows.label[start:stop])
        else:
            above, below = rows.positive[start:stop], rows.negative[start:stop]
            _row_slopes(slopes, curvatures, thirds, scores, above, below)
        blocks.add_to(sums, 0, blocks.total(slopes, rows.lane))
        blocks.add_to(sums, 1, blocks.total(curvatures, rows.lane))
        blocks.add_to(sums, 2, blocks.total(thirds, rows.lane))


@kernel(float64, float64, float64)
def intercept_step(slope, curvature, third):
    change = 0.0
    if curvature > 0.0:
        bend = 2.0 * curvature * curvature - slope * third
        if bend > curvature * curvature:
            change = -2.0 * slope * curvature / bend
        else:
            change = -slope / curvature
    return change if abs(change) <= 2.0 else 0.0


@helper
def _linearise_block(rows, coef, wanted, start, stop, sums):
    """Add a block's loss, sizes of slopes, and derivatives by the coefficients."""
    m = stop - start
    scores, values = rows.block[0, :m], rows.block[1, :m]
    slopes, curvatures = rows.block[2, :m], rows.block[3, :m]
    _block_scores(rows, coef, scores, start, rows.pending)
    if rows.label.shape[0]:
        label, ones = rows.label[start:stop], rows.positive[:0]
        loss = blocks.sum_losses_and_slopes(slopes, scores, label, ones, rows.strip, rows.lane)
    else:
        above, below = rows.positive[start:stop], rows.negative[start:stop]
        row_losses(values, slopes, curvatures, scores, above, below)
        loss = blocks.total(values, rows.lane)
    blocks.add_to(sums, 0, loss)
    for i in range(m):
        values[i] = abs(slopes[i])
    blocks.add_to(sums, 1, blocks.total(values, rows.lane))
    blocks.add_to(sums, 2, blocks.total(slopes, rows.lane))
    for j in range(1, coef.shape[0]):
        if not wanted[j]:
            continue
        slot = rows.slot[j - 1]
        if slot < 0:
            value = blocks.dot(slopes, rows.real_columns[-1 - slot, start:stop], rows.lane)
        else:
            value = blocks.dot(slopes, rows.columns[slot, start:stop], rows.lane)
        blocks.add_to(sums, 2 + j, value)


@kernel(
    *(read(int8, 2), read(float64, 2), read(int64), read(float64), read(float64), read(int8)),
    *(read(float64, 2), read(int64), int64, int64, write(float64, 3), write(int64)),
    *(write(float64), write(float64, 2), write(float64, 2), write(float64), write(int64)),
    write(int64),
)
def _linearise(
    columns, real_columns, slot, positive, negative, label, points, wanted, begin, end, sums,
    stop, counters, block, strip, lane, pending, halted,
):  # fmt: skip
    rows = _Rows(
        columns, real_columns, slot, positive, negative, label, stop, halted, counters, block,
        strip, lane, pending,
    )  # fmt: skip
    b, p = points.shape
    for i in range(b):
        for j in range(p + 2):
            sums[i, j, 0] = sums[i, j, 1] = 0.0
    for start in range(begin, end, BLOCK):
        if _halts(rows):
            break
        for i in range(b):
            _linearise_block(rows, points[i], wanted, start, min(start + BLOCK, end), sums[i])


def linearise(
    integers, reals, slot, positive, negative, label, points, wanted, begin, end, sums, stop,
    counters,
):  # fmt: skip
    began, halted = time.perf_counter(), np.zeros(1, np.int64)
    _linearise(
        integers.T, reals.T, slot, positive, negative, label, points, wanted, begin, end, sums,
        stop, counters, np.empty((4, BLOCK)), np.empty((2, blocks.LOSS_STRIP)),
        np.empty(blocks.LANES), np.empty(4, np.int64), halted,
    )  # fmt: skip
    counters[4] += time.perf_counter() - began
    return not halted[0]


@kernel(
    *(read(int8, 2), read(float64, 2), read(int64), read(float64), read(float64), read(int8)),
    *(read(float64, 2), int64, int64, write(float64, 3), write(int64), write(float64)),
    *(write(float64, 2), write(float64), write(int64), write(int64)),
)
def _slope_sums(
    columns, real_columns, slot, positive, negative, label, points, begin, end, sums, stop,
    counters, block, lane, pending, halted,
):  # fmt: skip
    rows = _Rows(
        columns, real_columns, slot, positive, negative, label, stop, halted, counters, block,
        block, lane, pending,
    )  # fmt: skip
    for i in range(points.shape[0]):
        _sum_slopes(rows, points[i], begin, end, sums[i])


def slope_sums(
    integers, reals, slot, positive, negative, label, points, begin, end, sums, stop, counters
):  # fmt: skip
    began, halted = time.perf_counter(), np.zeros(1, np.int64)
    _slope_sums(
        integers.T, reals.T, slot, positive, negative, label, points, begin, end, sums, stop,
        counters, np.empty((4, BLOCK)), np.empty(blocks.LANES), np.empty(4, np.int64), halted,
    )  # fmt: skip
    counters[4] += time.perf_counter() - began
    return not halted[0]
