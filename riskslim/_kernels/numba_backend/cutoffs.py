"""Numba counterpart of cutoffs.pyx and cutoffs.h: the same kernels, arguments and results.

The method, and its rounding errors, are stated in cutoffs.h.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int16, int32, int64, uint8, uint16

from riskslim._kernels.numba_backend import blocks, tables
from riskslim._kernels.numba_backend.compiled import helper, inlined, kernel, read, write

MOST_ELEMENTS, MOST_ACTIVE = 6, 3
ELEMENT_INTS = 7 + MOST_ACTIVE
NODE_INTS = 6 + MOST_ELEMENTS * ELEMENT_INTS
NODE_REALS = 2 + MOST_ELEMENTS * MOST_ACTIVE

_CELLS, _COEF, _STEPS = 4096, 1 + MOST_ELEMENTS * MOST_ACTIVE, 2
_WAITING, _CHILDREN = 4096, 64
_EPSILON = 2.220446049250313e-16

# Positions in a node's integers, and in those of an element.
_SIZE, _LOW, _HIGH, _SPLIT, _BY_POINTS, _AT, _HEAD = range(7)
_CHAIN, _FIRST, _LAST, _SIGN, _LEAST, _MOST, _N, _ITEM = range(8)
# Of the search's scalars, of integers of the present node, and of its reals.
_T_LOW, _T_HIGH, _CUTOFF, _LEVEL = range(4)
_N_CELLS, _N_PADDED, _NOW, _UNIFORM, _FIXED_0 = range(5)
_W_LOW, _W_HIGH, _INTERCEPT, _SLOPE_0, _STEP_0 = range(5)


class _Rows(NamedTuple):
    """Rows and items."""

    label: np.ndarray
    multiple: np.ndarray
    unit: np.ndarray
    rank: np.ndarray
    order: np.ndarray
    start: np.ndarray
    item: np.ndarray
    chain_price: np.ndarray
    price: np.ndarray
    low: np.ndarray
    high: np.ndarray
    apart: np.ndarray
    scalars: np.ndarray


class _Room(NamedTuple):
    """Workspace."""

    cell_of: np.ndarray  # (n_rows,)
    counts: np.ndarray  # (2 * _CELLS,)
    code: np.ndarray  # (_CELLS,)
    level_of: np.ndarray  # (MOST_ELEMENTS, _CELLS)
    weights: np.ndarray  # (2, _CELLS)
    slope: np.ndarray  # (2 * _CELLS,)
    score: np.ndarray  # (2, _CELLS)
    gradient: np.ndarray  # (_CELLS,)
    curvature: np.ndarray
    column: np.ndarray  # (_COEF, _CELLS)
    derivative: np.ndarray  # (MOST_ELEMENTS, most_rank)
    system: np.ndarray  # (_COEF, _COEF)
    small: np.ndarray  # (24, _COEF): short arrays of reals
    whole: np.ndarray  # (8, _COEF): short arrays of integers
    integers: np.ndarray  # of the present node
    reals: np.ndarray
    stack: np.ndarray
    value: np.ndarray
    work: np.ndarray
    pattern: np.ndarray
    never: np.ndarray  # a flag that ends nothing
    counted: np.ndarray


# Rows of _Room.small: points of active items and the ones tried; slopes, steps, all by
# 3 * element + place; ends of points, sums, excess, costs by element; a right side; lanes.
_U, _NEXT, _SLOPES, _STEP, _ENDS_LOW, _ENDS_HIGH, _SUM, _EXCESS, _COST, _B, _LANES, _PART, _KEPT = (
    range(13)
)
# Rows of _Room.whole.
_PIVOT, _TIED, _FIXED, _BEST, _ELEMENT, _WHICH, _RADIX, _MEMBER = range(8)


def room(n_rows, most_rank):
    return 1


# ---- loops over cells --------------------------------------------------------------------------


@inlined
def _total(t):
    return ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]))


@helper
def _loss(weights, score, n, t):
    for q in range(8):
        t[q] = 0.0
    for c in range(n):
        s, p, m = score[c], weights[1, c], weights[0, c]
        size = abs(s)
        e = blocks.exp_nonpositive(-size)
        t[c & 7] += (p + m) * blocks.log1p(e) + (m if s > 0.0 else p) * size
    return _total(t)


@helper
def _slopes(w, score, n):
    for c in range(n):
        s = score[c]
        e = blocks.exp_nonpositive(-abs(s))
        q = 1.0 / (1.0 + e)
        risk = q if s > 0.0 else e * q
        rest = e * q if s > 0.0 else q
        w.curvature[c] = (w.weights[1, c] + w.weights[0, c]) * (risk * rest)
        w.gradient[c] = w.weights[0, c] * risk - w.weights[1, c] * rest


@helper
def _sum(a, n, t):
    for q in range(8):
        t[q] = 0.0
    for c in range(n):
        t[c & 7] += a[c]
    return _total(t)


@helper
def _dot(a, b, n, t):
    for q in range(8):
        t[q] = 0.0
    for c in range(n):
        t[c & 7] += a[c] * b[c]
    return _total(t)


@helper
def _product(a, b, weight, n, t):
    for q in range(8):
        t[q] = 0.0
    for c in range(n):
        t[c & 7] += (a[c] * b[c]) * weight[c]
    return _total(t)


@inlined
def _below(x):
    return x - (2.0 * _EPSILON) * abs(x)


@inlined
def _above(x):
    return x + (2.0 * _EPSILON) * abs(x)


@inlined
def _place(i):
    return _HEAD + i * ELEMENT_INTS


# ---- the cells of a node -----------------------------------------------------------------------


@helper
def _cells(rows, w, node):
    """Cells of the active items: weights of both classes, and how many active items each has."""
    codes, n_rows = 1, rows.label.shape[0]
    for i in range(node[_SIZE]):
        w.whole[_RADIX, i] = codes
        codes *= node[_place(i) + _N] + 1
    for r in range(n_rows):
        w.cell_of[r] = rows.label[r] * codes
    for i in range(node[_SIZE]):
        at = _place(i)
        rank, by = rows.rank[node[at + _CHAIN]], w.whole[_RADIX, i]
        for place in range(node[at + _N]):
            item = node[at + _ITEM + place]
            for r in range(n_rows):
                if rank[r] > item:
                    w.cell_of[r] += by
    for code in range(2 * codes):
        w.counts[code] = 0
    for r in range(n_rows):
        w.counts[w.cell_of[r]] += rows.multiple[r]
    n = 0
    for code in range(codes):
        if w.counts[code] == 0 and w.counts[code + codes] == 0:
            continue
        w.weights[0, n] = w.counts[code] * rows.unit[0]
        w.weights[1, n] = w.counts[code + codes] * rows.unit[1]
        w.code[n] = code
        n += 1
    padded = (n + 7) // 8 * 8
    w.integers[_N_CELLS], w.integers[_N_PADDED] = n, padded
    for c in range(n, padded):
        w.weights[0, c] = w.weights[1, c] = 0.0
        w.code[c] = 0
    for i in range(node[_SIZE]):
        levels = node[_place(i) + _N] + 1
        for c in range(padded):
            w.level_of[i, c] = w.code[c] // w.whole[_RADIX, i] % levels


@helper
def _scores(w, node, intercept, u, score):
    padded, part = w.integers[_N_PADDED], w.small[_PART]
    for c in range(padded):
        score[c] = intercept
    for i in range(node[_SIZE]):
        at = _place(i)
        sign = -1.0 if node[at + _SIGN] else 1.0
        part[0] = 0.0
        for place in range(node[at + _N]):
            part[place + 1] = part[place] + sign * u[3 * i + place]
        for c in range(padded):
            score[c] += part[w.level_of[i, c]]


# ---- Newton steps on the active items ----------------------------------------------------------


@helper
def _working_set(w, node):
    """Find the coefficients that move."""
    u, slopes, part = w.small[_U], w.small[_SLOPES], w.small[_PART]
    low, high, sums = w.small[_ENDS_LOW], w.small[_ENDS_HIGH], w.small[_SUM]
    pivots, tied, fixed = w.whole[_PIVOT], w.whole[_TIED], w.whole[_FIXED]
    reals = w.reals
    reals[_SLOPE_0] = _sum(w.gradient, w.integers[_N_PADDED], w.small[_LANES])
    z, g0 = reals[_INTERCEPT], reals[_SLOPE_0]
    w.integers[_FIXED_0] = (
        reals[_W_LOW] >= reals[_W_HIGH]
        or (z <= reals[_W_LOW] and g0 > 0.0)
        or (z >= reals[_W_HIGH] and g0 < 0.0)
    )
    for i in range(node[_SIZE]):
        at = _place(i)
        n = node[at + _N]
        sign = -1.0 if node[at + _SIGN] else 1.0
        for place in range(MOST_ACTIVE + 1):
            part[place] = 0.0
        for c in range(w.integers[_N_CELLS]):
            part[w.level_of[i, c]] += w.gradient[c]
        total = 0.0
        for place in range(n - 1, -1, -1):
            total += part[place + 1]
            slopes[3 * i + place] = sign * total
        sums[i] = 0.0
        pivots[i] = 0
        for place in range(n):
            sums[i] += u[3 * i + place]
            if u[3 * i + place] > u[3 * i + pivots[i]]:
                pivots[i] = place
        lead = slopes[3 * i + pivots[i]]
        tied[i] = (
            low[i] == high[i]
            or (sums[i] >= high[i] - 1e-9 and lead < 0.0)
            or (sums[i] <= low[i] + 1e-9 and lead > 0.0)
        )
        for place in range(n):
            g = slopes[3 * i + place] - (lead if tied[i] else 0.0)
            fixed[3 * i + place] = (tied[i] and place == pivots[i]) or (
                u[3 * i + place] <= 1e-12 and g >= 0.0
            )


@helper
def _solved(w, m):
    """Newton step of m coefficients from the columns; False if there is none."""
    a, b, padded = w.system, w.small[_B], w.integers[_N_PADDED]
    for i in range(m):
        for j in range(i + 1):
            total = _product(w.column[i], w.column[j], w.curvature, padded, w.small[_LANES])
            if i == j:
                total += 1e-9 + 1e-6 * total
            for k in range(j):
                total -= a[i, k] * a[j, k]
            if i > j:
                a[i, j] = total / a[j, j]
            elif total > 0.0:
                a[i, i] = np.sqrt(total)
            else:
                return False
    for i in range(m):
        for k in range(i):
            b[i] -= a[i, k] * b[k]
        b[i] /= a[i, i]
    for i in range(m - 1, -1, -1):
        for k in range(i + 1, m):
            b[i] -= a[k, i] * b[k]
        b[i] /= a[i, i]
    return True


@helper
def _direction(w, node):
    """Newton direction of what moves; False if there is none."""
    slopes, b, step, part = w.small[_SLOPES], w.small[_B], w.small[_STEP], w.small[_PART]
    pivots, tied, fixed = w.whole[_PIVOT], w.whole[_TIED], w.whole[_FIXED]
    element, which, padded = w.whole[_ELEMENT], w.whole[_WHICH], w.integers[_N_PADDED]
    m, largest = 0, 0.0
    if not w.integers[_FIXED_0]:
        element[0], which[0] = -1, 0
        for c in range(padded):
            w.column[0, c] = 1.0
        b[0] = -w.reals[_SLOPE_0]
        largest = abs(w.reals[_SLOPE_0])
        m = 1
    for i in range(node[_SIZE]):
        at = _place(i)
        sign = -1.0 if node[at + _SIGN] else 1.0
        pivot = pivots[i] if tied[i] else MOST_ACTIVE
        for place in range(node[at + _N]):
            if fixed[3 * i + place]:
                continue
            for v in range(MOST_ACTIVE + 1):
                part[v] = sign * (int(v > place) - int(v > pivot))
            for c in range(padded):
                w.column[m, c] = part[w.level_of[i, c]]
            element[m], which[m] = i, place
            b[m] = (slopes[3 * i + pivot] if tied[i] else 0.0) - slopes[3 * i + place]
            if abs(b[m]) > largest:
                largest = abs(b[m])
            m += 1
    if m == 0 or largest < 1e-7 or not _solved(w, m):
        return False
    w.reals[_STEP_0] = 0.0
    for i in range(3 * MOST_ELEMENTS):
        step[i] = 0.0
    for k in range(m):
        i = element[k]
        if i < 0:
            w.reals[_STEP_0] = b[k]
            continue
        step[3 * i + which[k]] += b[k]
        if tied[i]:
            step[3 * i + pivots[i]] -= b[k]
    return True


@helper
def _take_out(w, node):
    """Take what would leave its range at once out of what moves; True if there was something."""
    u, step, sums = w.small[_U], w.small[_STEP], w.small[_SUM]
    tied, fixed, reals, found = w.whole[_TIED], w.whole[_FIXED], w.reals, False
    if not w.integers[_FIXED_0] and (
        (reals[_INTERCEPT] <= reals[_W_LOW] and reals[_STEP_0] < 0.0)
        or (reals[_INTERCEPT] >= reals[_W_HIGH] and reals[_STEP_0] > 0.0)
    ):
        w.integers[_FIXED_0] = 1
        found = True
    for i in range(node[_SIZE]):
        change = 0.0
        for k in range(3 * i, 3 * i + node[_place(i) + _N]):
            change += step[k]
            if not fixed[k] and u[k] <= 1e-12 and step[k] < 0.0:
                fixed[k] = 1
                found = True
        if not tied[i] and (
            (change > 0.0 and sums[i] >= w.small[_ENDS_HIGH, i] - 1e-9)
            or (change < 0.0 and sums[i] <= w.small[_ENDS_LOW, i] + 1e-9)
        ):
            tied[i] = fixed[3 * i + w.whole[_PIVOT, i]] = 1
            found = True
    return found


@helper
def _share(w, node):
    """Longest part of a step that stays within all ranges."""
    u, step, reals, share = w.small[_U], w.small[_STEP], w.reals, 1.0
    by, z = reals[_STEP_0], reals[_INTERCEPT]
    if by < 0.0 and (reals[_W_LOW] - z) / by < share:
        share = (reals[_W_LOW] - z) / by
    if by > 0.0 and (reals[_W_HIGH] - z) / by < share:
        share = (reals[_W_HIGH] - z) / by
    for i in range(node[_SIZE]):
        change = 0.0
        for k in range(3 * i, 3 * i + node[_place(i) + _N]):
            change += step[k]
            if step[k] < 0.0 and u[k] > 0.0 and -u[k] / step[k] < share:
                share = -u[k] / step[k]
        if w.whole[_TIED, i] or abs(change) <= 1e-14:
            continue
        end = w.small[_ENDS_HIGH, i] if change > 0.0 else w.small[_ENDS_LOW, i]
        if (end - w.small[_SUM, i]) / change < share:
            share = (end - w.small[_SUM, i]) / change
    return share if share > 0.0 else 0.0


@helper
def _stepped(w, node, loss):
    """One Newton step; the loss, and whether there may be another."""
    u, following, lanes = w.small[_U], w.small[_NEXT], w.small[_LANES]
    padded, now = w.integers[_N_PADDED], w.integers[_NOW]
    _slopes(w, w.score[now], padded)
    _working_set(w, node)
    found = True
    for _ in range(_COEF):
        found = _direction(w, node)
        if not found or not _take_out(w, node):
            break
        found = False
    if not found:
        return loss, False
    share, intercept, tried, halving = _share(w, node), 0.0, 0.0, 0
    while halving < 8:
        intercept = w.reals[_INTERCEPT] + share * w.reals[_STEP_0]
        for i in range(node[_SIZE]):
            for k in range(3 * i, 3 * i + node[_place(i) + _N]):
                x = u[k] + share * w.small[_STEP, k]
                following[k] = x if x > 0.0 else 0.0
        _scores(w, node, intercept, following, w.score[1 - now])
        tried = _loss(w.weights, w.score[1 - now], padded, lanes)
        if tried <= loss:
            break
        halving += 1
        share *= 0.5
    if halving == 8:
        return loss, False
    w.integers[_NOW] = 1 - now
    w.reals[_INTERCEPT] = intercept
    for i in range(node[_SIZE]):
        for k in range(3 * i, 3 * i + node[_place(i) + _N]):
            u[k] = following[k]
    return tried, not (loss - tried < 1e-7 and share > 0.99)


@helper
def _minimise(w, node):
    """Newton steps, then the intercept alone; returns the loss."""
    lanes, padded, reals = w.small[_LANES], w.integers[_N_PADDED], w.reals
    _scores(w, node, reals[_INTERCEPT], w.small[_U], w.score[w.integers[_NOW]])
    loss = _loss(w.weights, w.score[w.integers[_NOW]], padded, lanes)
    for _ in range(_STEPS):
        loss, goes_on = _stepped(w, node, loss)
        if not goes_on:
            break
    score = w.score[w.integers[_NOW]]
    it = 0
    while True:
        _slopes(w, score, padded)
        to = reals[_INTERCEPT] - _sum(w.gradient, padded, lanes) / (
            _sum(w.curvature, padded, lanes) + 1e-12
        )
        to = reals[_W_LOW] if to < reals[_W_LOW] else to
        to = reals[_W_HIGH] if to > reals[_W_HIGH] else to
        by = to - reals[_INTERCEPT]
        if it == 8 or abs(by) < 1e-11:
            break
        by = 2.0 if by > 2.0 else -2.0 if by < -2.0 else by
        reals[_INTERCEPT] += by
        for c in range(padded):
            score[c] += by
        it += 1
    return _loss(w.weights, score, padded, lanes)


# ---- bound, and what leaves the node -----------------------------------------------------------


@helper
def _sweep(rows, w, node, i):
    """Sums of slopes of rows of one rank after the other, from the first active item on."""
    at = _place(i)
    chain, item = node[at + _CHAIN], node[at + _ITEM]
    order, start, out = rows.order[chain], rows.start[chain], w.derivative[i]
    sign, g = -1.0 if node[at + _SIGN] else 1.0, 0.0
    uniform = w.integers[_UNIFORM]
    for c in range(w.integers[_N_CELLS]):
        if w.level_of[i, c] > 0:
            g += w.gradient[c]
    g *= sign
    out[item] = g
    for side in range(2):
        total, j = g, np.int64(item)
        end, step = (node[at + _LAST], 1) if side else (node[at + _FIRST], -1)
        while j != end:
            rank, part = j + 1 if side else j, 0.0
            for q in range(start[rank], start[rank + 1]):
                if uniform:
                    part += w.slope[w.cell_of[order[q]]]
                else:
                    part += w.slope[w.cell_of[order[q]]] * rows.multiple[order[q]]
            total = total - sign * part if side else total + sign * part
            j += step
            out[j] = total


@inlined
def _cost(w, i, slope):
    return slope * (w.small[_ENDS_HIGH, i] if slope < 0.0 else w.small[_ENDS_LOW, i])


@helper
def _bound(rows, w, node, loss):
    codes, size, errors, cells = 1, 0.0, 0.0, w.integers[_N_CELLS]
    padded, lanes, score = w.integers[_N_PADDED], w.small[_LANES], w.score[w.integers[_NOW]]
    for i in range(node[_SIZE]):
        codes *= node[_place(i) + _N] + 1
    for c in range(cells):
        s = score[c]
        e = blocks.exp_nonpositive(-abs(s))
        q = 1.0 / (1.0 + e)
        risk = q if s > 0.0 else e * q
        rest = e * q if s > 0.0 else q
        w.slope[w.code[c]] = risk * rows.unit[0]
        w.slope[w.code[c] + codes] = -rest * rows.unit[1]
        size += w.weights[0, c] * risk + w.weights[1, c] * rest
    slope = _sum(w.gradient, padded, lanes)
    bound = loss - _dot(w.gradient, score, padded, lanes)
    low, high = w.reals[_W_LOW], w.reals[_W_HIGH]
    bound += slope * (high if slope < 0.0 else low)
    widths = abs(low) if abs(low) > abs(high) else abs(high)
    for i in range(node[_SIZE]):
        at, g, reached = _place(i), w.derivative[i], 0.0
        start = rows.start[node[at + _CHAIN]]
        _sweep(rows, w, node, i)
        best = node[at + _FIRST]
        for j in range(node[at + _FIRST], node[at + _LAST] + 1):
            if g[j] < g[best]:
                best = j
        w.whole[_BEST, i] = best
        w.small[_COST, i] = _cost(w, i, g[best])
        bound += w.small[_COST, i]
        for place in range(node[at + _N]):
            reached += w.small[_U, 3 * i + place] * g[node[at + _ITEM + place]]
        w.small[_EXCESS, i] = reached - w.small[_COST, i]
        widths += w.small[_ENDS_HIGH, i]
        n_swept = start[node[at + _LAST] + 1] - start[node[at + _FIRST] + 1]
        errors += w.small[_ENDS_HIGH, i] * np.float64(n_swept + 8)
    terms = cells + 24.0
    return bound - (4.0 * _EPSILON) * (terms * (loss + 2.0 * size * widths) + size * errors)


@helper
def _trim(rows, w, node, slack):
    """Items at the ends of ranges, and points, that reach the cutoff leave."""
    t = rows.scalars[_T_LOW]
    for i in range(node[_SIZE]):
        at, g, most = _place(i), w.derivative[i], w.small[_COST, i] + slack
        while node[at + _FIRST] < node[at + _LAST] and _cost(w, i, g[node[at + _FIRST]]) >= most:
            node[at + _FIRST] += 1
        while node[at + _LAST] > node[at + _FIRST] and _cost(w, i, g[node[at + _LAST]]) >= most:
            node[at + _LAST] -= 1
        if t != rows.scalars[_T_HIGH]:
            continue
        least = g[node[at + _FIRST]]
        for j in range(node[at + _FIRST], node[at + _LAST] + 1):
            if g[j] < least:
                least = g[j]
        while (
            node[at + _LEAST] < node[at + _MOST]
            and _below(t * node[at + _LEAST]) * least >= most
            and _above(t * node[at + _LEAST]) * least >= most
        ):
            node[at + _LEAST] += 1
        while (
            node[at + _MOST] > node[at + _LEAST]
            and _below(t * node[at + _MOST]) * least >= most
            and _above(t * node[at + _MOST]) * least >= most
        ):
            node[at + _MOST] -= 1


@inlined
def _inside(item, node, at):
    low, high = np.int64(node[at + _FIRST]), np.int64(node[at + _LAST])
    return low if item < low else high if item > high else np.int64(item)


@helper
def _between(rows, node, at, first, last):
    """Find where to divide a range: between the items that the relaxation mixes."""
    start = rows.start[node[at + _CHAIN]]
    if first >= last:
        first, last = np.int64(node[at + _FIRST]), np.int64(node[at + _LAST])
    middle = (np.int64(start[first + 1]) + np.int64(start[last + 1])) // 2
    j = first
    while j + 1 < last and start[j + 2] <= middle:
        j += 1
    return j


@helper
def _choose_range(rows, w, node):
    """The range to divide, if any; what that is likely to add to the loss."""
    row, most = rows.unit[0] if rows.unit[0] > rows.unit[1] else rows.unit[1], -1.0
    u = w.small[_U]
    node[_SPLIT] = -2
    for i in range(node[_SIZE]):
        at = _place(i)
        start, n = rows.start[node[at + _CHAIN]], node[at + _N]
        first, last = np.int64(node[at + _LAST]), np.int64(node[at + _FIRST])
        total, mixed = 0.0, 0.0
        if node[at + _FIRST] == node[at + _LAST]:
            continue
        for k in range(3 * i, 3 * i + n):
            total += u[k]
        for place in range(n):
            j = _inside(node[at + _ITEM + place], node, at)
            share = u[3 * i + place] / (total if total > 1e-9 else 1e-9)
            mixed += share * (1.0 - share)
            if u[3 * i + place] <= 0.02:
                continue
            first = j if j < first else first
            last = j if j > last else last
        if w.small[_EXCESS, i] > 1e-5:
            j = _inside(w.whole[_BEST, i], node, at)
            first = j if j < first else first
            last = j if j > last else last
        between = (start[last + 1] - start[first + 1]) * row if last > first else 0.0
        n_swept = start[node[at + _LAST] + 1] - start[node[at + _FIRST] + 1]
        gain = (
            0.5 * w.small[_EXCESS, i] + 0.09 * total * total * mixed * between
            + 1e-7 * n_swept * row
        )  # fmt: skip
        if gain > most:
            most = gain
            node[_SPLIT], node[_BY_POINTS] = i, 0
            node[_AT] = _between(rows, node, at, first, last)
    return most


@helper
def _choose(rows, w, node):
    """Choose the element to divide, by its items or by its points."""
    t, everything = rows.scalars[_T_LOW], 0.0
    everything = _sum(w.curvature, w.integers[_N_PADDED], w.small[_LANES])
    most = _choose_range(rows, w, node)
    if t != rows.scalars[_T_HIGH]:
        return
    for i in range(-1, node[_SIZE]):
        z, curvature = w.reals[_INTERCEPT], 0.25 * everything
        low, high = node[_LOW], node[_HIGH]
        if i >= 0:
            low, high = node[_place(i) + _LEAST], node[_place(i) + _MOST]
        if low >= high:
            continue
        if i >= 0:
            own, z = 0.0, 0.0
            for k in range(3 * i, 3 * i + node[_place(i) + _N]):
                z += w.small[_U, k]
            for c in range(w.integers[_N_CELLS]):
                if w.level_of[i, c] > 0:
                    own += w.curvature[c]
            curvature = own - own * own / (everything + 1e-12)
        points = z / t
        whole = np.floor(points)
        part = points - whole
        if part < 1e-5 or part > 1.0 - 1e-5 or whole < low or whole >= high:
            continue
        gain = curvature * t * t * part * (1.0 - part)
        if gain > most:
            most = gain
            node[_SPLIT], node[_BY_POINTS], node[_AT] = i, 1, np.int64(whole)


@helper
def _keep(w, node, real):
    """Keep the items that the relaxation mixes, and the one that it asks for."""
    kept, items = w.small[_KEPT], w.whole[_ELEMENT]
    for i in range(node[_SIZE]):
        at = _place(i)
        wanted, n, has = _inside(w.whole[_BEST, i], node, at), 0, False
        for place in range(node[at + _N]):
            j, x = _inside(node[at + _ITEM + place], node, at), w.small[_U, 3 * i + place]
            if x <= 1e-6:
                continue
            if n and items[n - 1] == j:
                kept[n - 1] += x
            else:
                items[n], kept[n] = j, x
                n += 1
            has = has or j == wanted
        if n == 0 or (w.small[_EXCESS, i] > 1e-6 and not has):
            place, least = n, 0
            if n == MOST_ACTIVE:
                for k in range(1, n):
                    if kept[k] < kept[least]:
                        least = k
                place = least
            else:
                kept[n] = 0.0 if n else w.small[_ENDS_LOW, i]
                n += 1
            items[place] = wanted
            for k in range(1, n):
                b = k
                while b > 0 and items[b] < items[b - 1]:
                    items[b], items[b - 1] = items[b - 1], items[b]
                    kept[b], kept[b - 1] = kept[b - 1], kept[b]
                    b -= 1
        node[at + _N] = n
        for k in range(n):
            node[at + _ITEM + k] = items[k]
            real[2 + 3 * i + k] = kept[k]


@helper
def _ends(rows, w, node):
    """Ends of the intercept in log-odds, outwards."""
    a, b = node[_LOW] * rows.scalars[_T_LOW], node[_LOW] * rows.scalars[_T_HIGH]
    c, d = node[_HIGH] * rows.scalars[_T_LOW], node[_HIGH] * rows.scalars[_T_HIGH]
    w.reals[_W_LOW] = _below(a if a < b else b)
    w.reals[_W_HIGH] = _above(c if c > d else d)


@helper
def _ranges(rows, w, node, real):
    """Ranges of points in log-odds, outwards; prices."""
    reals, u, price = w.reals, w.small[_U], 0.0
    _ends(rows, w, node)
    z = real[1]
    z = reals[_W_LOW] if z < reals[_W_LOW] else reals[_W_HIGH] if z > reals[_W_HIGH] else z
    reals[_INTERCEPT] = z
    for i in range(node[_SIZE]):
        at, total = _place(i), 0.0
        low = _below(node[at + _LEAST] * rows.scalars[_T_LOW])
        high = _above(node[at + _MOST] * rows.scalars[_T_HIGH])
        w.small[_ENDS_LOW, i], w.small[_ENDS_HIGH, i] = low, high
        price += rows.chain_price[node[at + _CHAIN]]
        n = node[at + _N]
        for k in range(3 * i, 3 * i + n):
            u[k] = real[2 + k]
            total += u[k]
        to = low if total < low else high if total > high else total
        for k in range(3 * i, 3 * i + n):
            u[k] = u[k] * (to / total) if total > 0.0 else to / n
    return price * (1.0 - (node[_SIZE] + 2) * _EPSILON)


@helper
def _evaluate(rows, w, node, real):
    """Bound a node and take away what the cutoff excludes; False if that is everything."""
    price, cutoff = _ranges(rows, w, node, real), rows.scalars[_CUTOFF]
    w.counted[0] += 1
    _cells(rows, w, node)
    loss = _minimise(w, node)
    bound = _bound(rows, w, node, loss) + price
    if bound > real[0]:
        real[0] = bound
    if real[0] >= cutoff:
        return False
    _trim(rows, w, node, (cutoff - bound) * (1.0 + 1e-12))
    _choose(rows, w, node)
    _keep(w, node, real)
    real[1] = w.reals[_INTERCEPT]
    return True


# ---- leaves and children -----------------------------------------------------------------------


@helper
def _is_leaf(node):
    open_ranges = 0
    for i in range(node[_SIZE]):
        open_ranges += node[_place(i) + _FIRST] < node[_place(i) + _LAST]
    return open_ranges == 0


@helper
def _clashes(rows, node):
    """Say whether two elements have to be one item, or items that are apart."""
    for i in range(node[_SIZE]):
        e = _place(i)
        if node[e + _FIRST] < node[e + _LAST]:
            continue
        one = rows.item[node[e + _CHAIN], node[e + _FIRST]]
        for k in range(i):
            f = _place(k)
            if node[f + _FIRST] < node[f + _LAST]:
                continue
            other = rows.item[node[f + _CHAIN], node[f + _FIRST]]
            if one == other or rows.apart[one, other]:
                return True
    return False


@helper
def _leaf_excluded(rows, w, node, real):
    """Say whether the integer points of a leaf hold nothing below the cutoff."""
    box, price, t_low, t_high = w.stack[0], 0.0, rows.scalars[_T_LOW], rows.scalars[_T_HIGH]
    cutoff, size = rows.scalars[_CUTOFF], node[_SIZE]
    w.counted[1] += 1
    for i in range(size):
        at = _place(i)
        item = rows.item[node[at + _CHAIN], node[at + _FIRST]]
        node[at + _N], node[at + _ITEM] = 1, node[at + _FIRST]
        price += rows.price[item]
        first, last = _below(node[at + _LEAST] * t_low), _above(node[at + _MOST] * t_high)
        if node[at + _SIGN]:
            first, last = -last, -first
        low, high = rows.low[item + 1], rows.high[item + 1]
        box[0, i + 1] = low if low > first else first
        box[1, i + 1] = high if high < last else last
        if box[0, i + 1] > box[1, i + 1]:
            return True
        box[2, i + 1] = 0.5 * (box[0, i + 1] + box[1, i + 1])
    price *= 1.0 - (size + 2) * _EPSILON
    _ends(rows, w, node)
    box[0, 0], box[1, 0], box[2, 0] = w.reals[_W_LOW], w.reals[_W_HIGH], real[1]
    _cells(rows, w, node)
    cells = w.integers[_N_CELLS]
    for c in range(cells):
        w.pattern[c] = w.code[c]
    if tables._saturated(w.weights[1], w.weights[0], cells) + price >= cutoff:
        return True
    excluded, bound, _ = tables._is_excluded(
        cells, w.pattern, w.weights, w.value, w.stack, size + 1, t_low, t_high, cutoff - price,
        w.work, w.never,
    )  # fmt: skip
    if not excluded and bound + price > real[0]:
        real[0] = bound + price
    return excluded


@helper
def _narrow(node, real, i):
    """Active items of a part of a range."""
    at, n = _place(i), 0
    for place in range(node[at + _N]):
        j, u = _inside(node[at + _ITEM + place], node, at), real[2 + 3 * i + place]
        if n and node[at + _ITEM + n - 1] == j:
            real[2 + 3 * i + n - 1] += u
        else:
            node[at + _ITEM + n], real[2 + 3 * i + n] = j, u
            n += 1
    node[at + _N] = n


@inlined
def _copy(to, to_real, node, real):
    for k in range(NODE_INTS):
        to[k] = node[k]
    for k in range(NODE_REALS):
        to_real[k] = real[k]


@helper
def _divide(w, node, real, out, out_real):
    """Children, which are not bounded yet; returns their number."""
    member = w.whole[_MEMBER]
    if node[_BY_POINTS]:
        for side in range(2):
            _copy(out[side], out_real[side], node, real)
            at = _LOW if node[_SPLIT] < 0 else _place(node[_SPLIT]) + _LEAST
            out[side, at if side else at + 1] = node[_AT] + side
        return 2
    e, n, same, children = _place(node[_SPLIT]), 0, True, 0
    for i in range(node[_SIZE]):
        f, equal = _place(i), True
        for k in range(_CHAIN, _SIGN + 1):
            equal = equal and node[f + k] == node[e + k]
        if not equal:
            continue
        member[n] = i
        n += 1
        same = same and node[f + _LEAST] == node[e + _LEAST] and node[f + _MOST] == node[e + _MOST]
    for mask in range(1 << n):
        n_upper = 0
        if same and mask & (mask + 1):
            continue
        for i in range(n):
            n_upper += mask >> i & 1
        if n_upper > node[e + _LAST] - node[_AT] or n - n_upper > node[_AT] - node[e + _FIRST] + 1:
            continue
        child, child_real = out[children], out_real[children]
        _copy(child, child_real, node, real)
        children += 1
        for i in range(n):
            f = _place(member[i])
            if mask >> i & 1:
                child[f + _FIRST] = node[_AT] + 1
            else:
                child[f + _LAST] = node[_AT]
            _narrow(child, child_real, member[i])
    return children


@helper
def _take(rows, w, node, real, whole_out, real_out, found, ends):
    """Take a new node; True if it is to be divided now."""
    if _clashes(rows, node) or not _evaluate(rows, w, node, real) or _clashes(rows, node):
        return False
    if not _is_leaf(node):
        if real[0] < rows.scalars[_LEVEL]:
            return True
        _copy(whole_out[ends[0]], real_out[ends[0]], node, real)
        ends[0] += 1
        return False
    if _leaf_excluded(rows, w, node, real):
        return False
    w.counted[2] += 1
    for i in range(found.shape[1]):
        at = _place(i)
        found[ends[1], i] = (
            rows.item[node[at + _CHAIN], node[at + _FIRST]] if i < node[_SIZE] else -1
        )
    ends[1] += 1
    return False


@helper
def _is_full(w, stop, most, ends, capacity, found_capacity, n_waiting):
    return (
        stop[0] != 0
        or w.counted[0] >= most
        or capacity - ends[0] < n_waiting + 2 * _CHILDREN
        or found_capacity - ends[1] < _CHILDREN
    )


_ROWS = (
    read(uint16), read(int32), read(float64), read(int16, 2), read(int32, 2), read(int32, 2),
    read(int64, 2), read(float64), read(float64), read(float64), read(float64), read(uint8, 2),
    read(float64),
)  # fmt: skip
_ROOM = (
    write(uint16), write(int32), write(int32), write(uint8, 2), write(float64, 2), write(float64),
    write(float64, 2), write(float64), write(float64), write(float64, 2), write(float64, 2),
    write(float64, 2), write(float64, 2), write(int64, 2), write(int64), write(float64),
    write(float64, 3), write(float64, 2), write(float64, 3), write(int64), write(int64),
    write(int64),
)  # fmt: skip


@kernel(
    *_ROWS, *_ROOM, int64, read(int64), read(int32, 2), read(float64, 2), write(int32, 2),
    write(float64, 2), write(int64, 2), write(int32, 2), write(float64, 2), write(int64),
)  # fmt: skip
def _run(
    label, multiple, unit, rank, order, start, item, chain_price, price, low, high, apart, scalars,
    cell_of, count, code, level_of, weights, slope, score, gradient, curvature, column, derivative,
    system, small, whole_small, integers, reals, stack, value, work, pattern, never, counted,
    most, stop, whole, real, whole_out, real_out, found, waiting, waiting_real, ends,
):  # fmt: skip
    rows = _Rows(
        label, multiple, unit, rank, order, start, item, chain_price, price, low, high, apart,
        scalars,
    )  # fmt: skip
    w = _Room(
        cell_of, count, code, level_of, weights, slope, score, gradient, curvature, column,
        derivative, system, small, whole_small, integers, reals, stack, value, work, pattern,
        never, counted,
    )  # fmt: skip
    capacity, found_capacity = whole_out.shape[0], found.shape[0]
    child, child_real = waiting[_WAITING:], waiting_real[_WAITING:]
    integers[_UNIFORM] = 1
    for r in range(multiple.shape[0]):
        if multiple[r] != 1:
            integers[_UNIFORM] = 0
    for p in range(whole.shape[0]):
        n_waiting = 1
        if _is_full(w, stop, most, ends, capacity, found_capacity, 1):
            return p
        _copy(waiting[0], waiting_real[0], whole[p], real[p])
        if waiting_real[0, 0] < 0.0:
            waiting_real[0, 0] = 0.0
            if not _take(
                rows, w, waiting[0], waiting_real[0], whole_out, real_out, found, ends
            ):  # fmt: skip
                n_waiting = 0
        while n_waiting:
            if _is_full(w, stop, most, ends, capacity, found_capacity, n_waiting):
                while n_waiting:
                    n_waiting -= 1
                    _copy(
                        whole_out[ends[0]], real_out[ends[0]], waiting[n_waiting],
                        waiting_real[n_waiting],
                    )  # fmt: skip
                    ends[0] += 1
                return p + 1
            n_waiting -= 1
            n = _divide(w, waiting[n_waiting], waiting_real[n_waiting], child, child_real)
            for i in range(n):
                if not _take(
                    rows, w, child[i], child_real[i], whole_out, real_out, found, ends
                ):  # fmt: skip
                    continue
                if n_waiting < _WAITING:
                    _copy(waiting[n_waiting], waiting_real[n_waiting], child[i], child_real[i])
                    n_waiting += 1
                else:
                    _copy(whole_out[ends[0]], real_out[ends[0]], child[i], child_real[i])
                    ends[0] += 1
    return whole.shape[0]


def search(
    labels, multiples, unit, rank, order, start, item, chain_price, price, low, high, apart,
    t_low, t_high, cutoff, level, most_evaluated, stop, whole, real, whole_out, real_out, found,
    counted, room64,
):  # fmt: skip
    most_coef = tables.MOST_ITEMS + 1
    value = np.zeros((tables.MOST_ITEMS, 2))
    value[:, 1] = 1.0
    counted[:] = 0
    ends = np.zeros(2, np.int64)
    floats = np.empty((4, _CELLS))
    done = _run(
        labels, multiples, unit, rank, order, start, item, chain_price, price, low, high, apart,
        np.array([t_low, t_high, cutoff, level]), np.empty(len(labels), np.uint16),
        np.empty(2 * _CELLS, np.int32), np.empty(_CELLS, np.int32),
        np.empty((MOST_ELEMENTS, _CELLS), np.uint8), np.empty((2, _CELLS)), np.empty(2 * _CELLS),
        np.empty((2, _CELLS)), floats[0], floats[1], np.empty((_COEF, _CELLS)),
        np.empty((MOST_ELEMENTS, item.shape[1])), np.empty((_COEF, _COEF)), np.empty((13, _COEF)),
        np.zeros((8, _COEF), np.int64), np.zeros(5, np.int64), np.empty(5),
        np.empty((257, 3, most_coef)), value, np.zeros((4, most_coef, most_coef)),
        np.empty(_CELLS, np.int64), np.zeros(1, np.int64), counted, most_evaluated, stop, whole,
        real, whole_out, real_out, found, np.empty((_WAITING + _CHILDREN, NODE_INTS), np.int32),
        np.empty((_WAITING + _CHILDREN, NODE_REALS)), ends,
    )  # fmt: skip
    return int(done), int(ends[0]), int(ends[1])
