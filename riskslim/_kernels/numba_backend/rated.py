"""Numba counterpart of rated.h: bounds of cells under limits on rates."""

from __future__ import annotations

import numpy as np

from riskslim._kernels.numba_backend import blocks
from riskslim._kernels.numba_backend.compiled import helper, inlined

MOST_RATES, CELLS = 8, 1024
# Columns of a rate.
DIRECTION, BAD, GOOD, LIMIT = range(4)
# Further numbers of one that has a price: the price, slack, and whether it has one.
PRICE, SLACK, IS_PRICED = 4, 5, 6
# Rows of the terms of cells.
SLOPE, AT, FROM, TO = range(4)

_BRIDGE_STEPS = 30
_EPSILON = 2.220446049250313e-16


@inlined
def cell_loss(a, b, u):
    e = blocks.exp_nonpositive(-abs(u))
    return (a + b) * blocks.log1p(e) + (b if u > 0.0 else a) * abs(u)


@inlined
def _odds(x):
    if x > 0.0:
        return 1.0 / blocks.exp_nonpositive(-x if x < 700.0 else -700.0)
    return blocks.exp_nonpositive(x)


@helper
def _place(a, b, slope, least, most):
    """Score at which the slope of a cell's loss is ``slope``, within an interval."""
    above, below = a + slope, b - slope
    if not above > 0.0:
        return least
    if not below > 0.0:
        return most
    odds = above / below
    u = blocks.log1p(odds - 1.0) if odds >= 1.0 else -blocks.log1p(1.0 / odds - 1.0)
    return least if u < least else most if u > most else u


@helper
def saturated(weights, n_cells, rate, right, wrong):
    """Bound of all scores that keep a limit, and the price of wrong rows that it is for."""
    own, other = (1, 0) if rate[DIRECTION] > 0.0 else (0, 1)
    at_good, at_bad = _odds(rate[GOOD]), _odds(rate[BAD])
    over, total, price = -rate[LIMIT], 0.0, 0.0
    for c in range(n_cells):
        a, b = weights[own, c], weights[other, c]
        h = 0.0
        if a > 0.0 and b > 0.0:
            h = a * blocks.log1p(b / a) + b * blocks.log1p(a / b)
        right[c] = h if b * at_good <= a else cell_loss(a, b, rate[GOOD])
        wrong[c] = h if b * at_bad >= a else cell_loss(a, b, rate[BAD])
        if wrong[c] < right[c]:
            over += a
    while over > 0.0:
        least, weight = np.inf, 0.0
        for c in range(n_cells):
            a = weights[own, c]
            if not a > 0.0:
                continue
            each = (right[c] - wrong[c]) / a
            if not each > price or each > least:
                continue
            weight = a if each < least else weight + a
            least = each
        if not least < np.inf:
            break
        price = least
        over -= weight
    for c in range(n_cells):
        priced = wrong[c] + price * weights[own, c]
        total += priced if priced < right[c] else right[c]
    of_limit = price * rate[LIMIT]
    bound = total - of_limit - _EPSILON * (n_cells + 32.0) * (total + of_limit)
    return bound, price


@helper
def bridge(rate, lines, c, a, b, least, most):
    """The envelope of one cell's term for scores between two numbers."""
    cost, middle = rate[PRICE] * a, 0.5 * (rate[BAD] + rate[GOOD])
    lines[SLOPE, c] = lines[AT, c] = 0.0
    lines[FROM, c] = lines[TO, c] = -np.inf
    if not cost > 0.0 or least >= middle:
        return
    if most <= middle:
        lines[FROM, c] = np.inf
        return
    least = rate[BAD] if least > rate[BAD] else least
    most = rate[GOOD] if most < rate[GOOD] else most
    u1, u2 = rate[BAD], rate[GOOD]
    slope = (cell_loss(a, b, u2) - cell_loss(a, b, u1) - cost) / (u2 - u1)
    one, other, step = 0.0, 0.0, 0
    while True:
        u1 = _place(a, b, slope, least, rate[BAD])
        u2 = _place(a, b, slope, rate[GOOD], most)
        one = cell_loss(a, b, u1) + cost
        other = cell_loss(a, b, u2)
        following = (other - one) / (u2 - u1)
        if step == _BRIDGE_STEPS or abs(following - slope) <= 1e-9 * (a + b + abs(slope)):
            break
        slope = following
        step += 1
    left, right = one - slope * u1, other - slope * u2
    lines[SLOPE, c] = slope
    lines[AT, c] = left if left < right else right
    lines[FROM, c] = -np.inf if u1 <= least else u1
    lines[TO, c] = np.inf if u2 >= most else u2
    rate[SLACK] += abs(left - right) + 16.0 * _EPSILON * (
        one + other + abs(slope) * (abs(u1) + abs(u2))
    )


@helper
def ranges(n_cells, pattern, value, box, m, least, most):
    """Range of the score of each cell over a box."""
    bits, last = (1, 1) if value.shape[1] == 2 else (3, 7)
    for c in range(n_cells):
        least[c], most[c] = box[0, 0], box[1, 0]
        for j in range(1, m):
            x = value[j - 1, pattern[c] >> (bits * (j - 1)) & last]
            one, other = x * box[0, j], x * box[1, j]
            least[c] += one if one < other else other
            most[c] += other if one < other else one


@helper
def breaks(weights, n_cells, rate, least, most):
    """Say whether rows that are wrong all over a box are more than a limit allows."""
    middle, total = 0.5 * (rate[BAD] + rate[GOOD]), 0.0
    for c in range(n_cells):
        if rate[DIRECTION] > 0.0:
            if most[c] <= middle:
                total += weights[1, c]
        elif -least[c] <= middle:
            total += weights[0, c]
    return total > rate[LIMIT]


@helper
def excess(n_cells, pattern, weights, value, z, m, rate, lines):
    """Weight of wrong rows where a relaxation ends, beyond the limit."""
    bits, last = (1, 1) if value.shape[1] == 2 else (3, 7)
    total, middle = -rate[LIMIT], 0.5 * (rate[BAD] + rate[GOOD])
    for c in range(n_cells):
        s = z[0]
        for j in range(1, m):
            s += z[j] * value[j - 1, pattern[c] >> (bits * (j - 1)) & last]
        a = weights[1, c] if rate[DIRECTION] > 0.0 else weights[0, c]
        u = rate[DIRECTION] * s
        left, right = lines[FROM, c], lines[TO, c]
        if left > -np.inf and right < np.inf and u > left and u < right:
            total += a * (right - u) / (right - left)
        elif u <= middle:
            total += a
    return total


@helper
def loss_of_points(n_cells, pattern, weights, value, points, m, t, rates, over):
    """Loss of a vector of whole points, infinite if it does not keep all limits."""
    bits, last = (1, 1) if value.shape[1] == 2 else (3, 7)
    loss = 0.0
    for r in range(rates.shape[0]):
        over[r] = -rates[r, LIMIT]
    for c in range(n_cells):
        s = np.float64(points[0])
        for j in range(1, m):
            s += np.float64(points[j]) * value[j - 1, pattern[c] >> (bits * (j - 1)) & last]
        s *= t
        loss += cell_loss(weights[1, c], weights[0, c], s)
        for r in range(rates.shape[0]):
            if rates[r, DIRECTION] * s <= 0.5 * (rates[r, BAD] + rates[r, GOOD]):
                over[r] += weights[1, c] if rates[r, DIRECTION] > 0.0 else weights[0, c]
    for r in range(rates.shape[0]):
        if over[r] > 0.0:
            return np.inf
    return loss
