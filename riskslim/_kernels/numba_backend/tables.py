"""Numba counterpart of tables.pyx and tables.h: the same kernels, arguments and results.

The reasons for what is computed, and its rounding errors, are stated in tables.h.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float32, float64, int32, int64, uint8, uint64

from riskslim._kernels.numba_backend import blocks, rated
from riskslim._kernels.numba_backend.blocks import stopped
from riskslim._kernels.numba_backend.compiled import helper, inlined, kernel, read, write

MOST_ITEMS = 12
MOST_RATES = rated.MOST_RATES
FULL, STOPPED = -1, -2

_MOST_CELLS = 1 << MOST_ITEMS
_MOST_COEF = MOST_ITEMS + 1
_DEEPEST = 256
_MOST_BOXES = 1000
_CELLS_OF_A_BOX, _TERMS_OF_A_CELL = 16, 12
_COUNTED_WORDS, _SORTED_WORDS = 16384, 64
_NEWTON_STEPS = 40
_FIRST_PRICES, _PRICES, _MOST_RATED_BOXES = 12, 2, 5000
_NO_VECTOR = -(2**63)
_EPSILON = 2.220446049250313e-16
_FLOAT_MIN = np.float32(1.17549435e-38)

# Unsigned constants: numba turns unsigned combined with signed 64-bit integers into floats.
_U0, _U1, _U2, _U4 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(4)
_U8, _U16, _U32, _U63 = np.uint64(8), np.uint64(16), np.uint64(32), np.uint64(63)
_U56, _U64 = np.uint64(56), np.uint64(64)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_FIVES, _THREES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_NIBBLES, _BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)

# Columns of a segment, of what a scan is told, and of where a level's words are.
_BITS, _WORD, _CELL, _LABEL, _SHIFT, _ONES, _ONES_AT = range(7)

_T4, _T3, _T2, _T1 = (np.float32(x) for x in (0.017857144, 0.033333335, 0.083333336, 0.5))
_TAIL, _LOG2 = np.float32(0.058623400), np.float32(0.69314718)


def best_level():
    return 0


def _most_segments(n_segments, n_bits, size):
    return min(n_segments << size, n_bits)


class _Scan(NamedTuple):
    place: Any
    segments: Any
    n_segments: Any
    item: Any
    unit: Any
    value: Any
    plane: Any
    low: Any
    high: Any
    ends: Any  # t_low, t_high, cutoff
    price: Any
    apart: Any
    stop: Any
    found: Any
    bounds: Any
    counted: Any
    room: Any
    single: Any
    both: Any
    test: Any
    patterns: Any
    totals: Any
    cell_pattern: Any
    weights: Any
    moves: Any
    stack: Any
    own_value: Any
    work: Any
    n_cells: Any  # of each depth
    unlooked: Any  # one entry
    pairs_from: Any
    shift: Any
    rates: Any
    settles: Any
    vector: Any
    points: Any  # found, and the best ones, of one support
    rate: Any  # that has a price, with its numbers
    lines: Any
    ranges: Any  # four of each cell
    over: Any


def room(n_groups, n_words, n_segments, n_bits, depth):
    words64 = n_groups * n_words * 8
    stride = n_words
    for size in range(1, depth + 1):
        stride += _most_segments(n_segments, n_bits, size - 1)
        words64 += 8 * n_groups * stride
    cells = min(_most_segments(n_segments, n_bits, depth), 1 << depth)
    return words64 + stride + 8, 4 * cells * 8 * n_groups, 8 * n_groups


# ---- counts -----------------------------------------------------------------------------------


@inlined
def _popcount(x):
    x = x - ((x >> _U1) & _FIVES)
    x = (x & _THREES) + ((x >> _U2) & _THREES)
    x = (x + (x >> _U4)) & _NIBBLES
    return np.int64((x * _BYTES) >> _U56)


@inlined
def _valid(left):
    return _ALL if left >= 64 else (_U1 << np.uint64(left)) - _U1


@helper
def _compress_of(m, moves):
    """Moves that bring the bits of a mask together at the low end."""
    to_move = ~m << _U1
    for i in range(6):
        odd = to_move ^ (to_move << _U1)
        odd ^= odd << _U2
        odd ^= odd << _U4
        odd ^= odd << _U8
        odd ^= odd << _U16
        odd ^= odd << _U32
        moves[i] = odd & m
        m = (m ^ moves[i]) | (moves[i] >> (_U1 << np.uint64(i)))
        to_move &= ~odd


@helper
def _append(to, begin, source, mask, moves, at, n_bits):
    """Append chosen bits of eight words to eight strings of bits that are ``at`` long."""
    offset = np.uint64(at & 63)
    first = begin + 8 * (at >> 6)
    for k in range(8):
        x = source[k] & mask
        for i in range(6):
            t = x & moves[i]
            x = (x ^ t) | (t >> (_U1 << np.uint64(i)))
        if offset == _U0:
            to[first + k] = x
        else:
            to[first + k] |= x << offset
            if np.int64(offset) + n_bits > 64:
                to[first + 8 + k] = x >> (_U64 - offset)


@inlined
def _copy_row(to, source):
    for k in range(to.shape[0]):
        to[k] = source[k]


@helper
def _split_words(s, depth, plane, segment, word, group, n_groups):
    """Words of one segment at the next depth; False if it was stopped."""
    base, n_words = s.place[depth, 0], s.place[depth, 1]
    next_base, next_words = s.place[depth + 1, 0], s.place[depth + 1, 1]
    have = base + ((plane // 8) * n_words + segment[_WORD]) * 8 + plane % 8
    bits, at_one, at_zero = segment[_BITS], 0, 0
    for w in range((bits + 63) // 64):
        if w % _SORTED_WORDS == _SORTED_WORDS - 1 and stopped(s.stop):
            return False
        one = s.room[have + 8 * w]
        zero = ~one & _valid(bits - 64 * w)
        n_one, n_zero = _popcount(one), _popcount(zero)
        _compress_of(one, s.moves[0])
        _compress_of(zero, s.moves[1])
        for g in range(group, n_groups):
            begin = base + (g * n_words + segment[_WORD] + w) * 8
            source = s.room[begin : begin + 8]
            to = next_base + g * next_words * 8
            if n_one:
                _append(s.room, to + 8 * segment[_ONES_AT], source, one, s.moves[0], at_one, n_one)
            if n_zero:
                _append(s.room, to + 8 * word, source, zero, s.moves[1], at_zero, n_zero)
        at_one += n_one
        at_zero += n_zero
    return True


@helper
def _split(s, depth, plane, n_groups, place):
    """Segments of the next depth, those not in the plane first; False if it was stopped."""
    base, n_words = s.place[depth, 0], s.place[depth, 1]
    word, n_next = 0, 0
    group = (plane + 1) // 8
    for k in range(s.n_segments[depth]):
        segment = s.segments[depth, k]
        bits = segment[_BITS]
        have = base + ((plane // 8) * n_words + segment[_WORD]) * 8 + plane % 8
        ones = 0
        for w in range((bits + 63) // 64):
            ones += _popcount(s.room[have + 8 * w])
        segment[_ONES] = ones
        segment[_ONES_AT] = word + (bits - ones + 63) // 64
        if group < n_groups and not _split_words(s, depth, plane, segment, word, group, n_groups):
            return False
        if bits > ones:
            child = s.segments[depth + 1, n_next]
            _copy_row(child, segment)
            child[_BITS], child[_WORD] = bits - ones, word
            n_next += 1
        word = segment[_ONES_AT] + (ones + 63) // 64
    for k in range(s.n_segments[depth]):
        segment = s.segments[depth, k]
        if segment[_ONES]:
            child = s.segments[depth + 1, n_next]
            _copy_row(child, segment)
            child[_BITS], child[_WORD] = segment[_ONES], segment[_ONES_AT]
            child[_CELL] = segment[_CELL] | (1 << place)
            n_next += 1
    s.n_segments[depth + 1] = n_next
    return True


@inlined
def _bits(s):
    return 1 if s.value.shape[1] == 2 else 3


@helper
def _sort(s, size, depth, item, is_last):
    """Sort the rows by the planes of one more item; False if it was stopped."""
    begin, end = s.plane[item], s.plane[item + 1]
    s.item[size] = item
    for p in range(begin, end):
        n_groups = s.test.shape[0] // 8
        if is_last:
            n_groups = 0 if p + 1 == end else (end + 7) // 8
        if not _split(s, depth + p - begin, p, n_groups, _bits(s) * size + p - begin):
            return False
    return True


@inlined
def _may_go_on(s, n_words):
    """Count words, and look at the flag once they are many; False if it was stopped."""
    s.unlooked[0] += n_words
    if s.unlooked[0] < _COUNTED_WORDS:
        return True
    s.unlooked[0] = 0
    return not stopped(s.stop)


@helper
def _count_level(s, depth, first, with_singles):
    """Totals of each cell, and the rows of each plane in it; False if it was stopped."""
    base, n_words = s.place[depth, 0], s.place[depth, 1]
    pattern, total, n_cells = s.patterns[depth], s.totals[depth], 0
    for k in range(s.n_segments[depth]):
        segment = s.segments[depth, k]
        if n_cells == 0 or pattern[n_cells - 1] != segment[_CELL]:
            pattern[n_cells] = segment[_CELL]
            total[n_cells, 0] = total[n_cells, 1] = 0
            if with_singles:
                s.single[n_cells] = 0
            n_cells += 1
        label, shift = segment[_LABEL], segment[_SHIFT]
        total[n_cells - 1, label] += np.int32(segment[_BITS] << shift)
        if not with_singles:
            continue
        n = (segment[_BITS] + 63) // 64
        for g in range(first // 8, s.test.shape[0] // 8):
            begin = base + (g * n_words + segment[_WORD]) * 8
            for lane in range(8):
                count = 0
                for w in range(n):
                    count += _popcount(s.room[begin + 8 * w + lane])
                s.single[n_cells - 1, label, 8 * g + lane] += np.int32(count << shift)
            if not _may_go_on(s, n):
                return False
    s.n_cells[depth] = n_cells
    return True


@helper
def _count_pairs(s, depth, plane, begin_group):
    base, n_words = s.place[depth, 0], s.place[depth, 1]
    s.both[: s.n_cells[depth]] = 0
    c = 0
    for k in range(s.n_segments[depth]):
        segment = s.segments[depth, k]
        while s.patterns[depth, c] != segment[_CELL]:
            c += 1
        label, shift, n = segment[_LABEL], segment[_SHIFT], (segment[_BITS] + 63) // 64
        one = base + ((plane // 8) * n_words + segment[_WORD]) * 8 + plane % 8
        for g in range(begin_group, s.test.shape[0] // 8):
            begin = base + (g * n_words + segment[_WORD]) * 8
            for lane in range(8):
                count = 0
                for w in range(n):
                    count += _popcount(s.room[one + 8 * w] & s.room[begin + 8 * w + lane])
                s.both[c, label, 8 * g + lane] += np.int32(count << shift)
            if not _may_go_on(s, n):
                return False
    return True


# ---- the first test -----------------------------------------------------------------------------


@inlined
def _test_term(positive, negative, p_unit, n_unit):
    p = np.float32(np.float32(positive) * p_unit)
    n = np.float32(np.float32(negative) * n_unit)
    total = np.float32(p + n)
    r = np.float32(np.float32(p - n) / np.float32(total + _FLOAT_MIN))
    q = np.float32(r * r)
    v = np.float32(np.float32(_TAIL * q) + _T4)
    v = np.float32(np.float32(v * q) + _T3)
    v = np.float32(np.float32(v * q) + _T2)
    v = np.float32(np.float32(v * q) + _T1)
    return np.float32(total * np.float32(_LOG2 - np.float32(v * q)))


@helper
def _test_singles(out, single, total, begin, n_items, p_unit, n_unit):
    for b in range(begin, n_items):
        one = _test_term(single[1, b], single[0, b], p_unit, n_unit)
        other = _test_term(total[1] - single[1, b], total[0] - single[0, b], p_unit, n_unit)
        out[b] = np.float32(out[b] + np.float32(one + other))


@helper
def _test_pairs(out, both, single, total, a, begin, n_items, p_unit, n_unit):
    a_p, a_n = single[1, a], single[0, a]
    for b in range(begin, n_items):
        p, m, sp, sm = both[1, b], both[0, b], single[1, b], single[0, b]
        term = _test_term(p, m, p_unit, n_unit)
        only_a = _test_term(a_p - p, a_n - m, p_unit, n_unit)
        only_b = _test_term(sp - p, sm - m, p_unit, n_unit)
        none = _test_term(total[1] - a_p - sp + p, total[0] - a_n - sm + m, p_unit, n_unit)
        four = np.float32(np.float32(term + only_a) + np.float32(only_b + none))
        out[b] = np.float32(out[b] + four)


@helper
def _test_cells(total, n_cells, p_unit, n_unit):
    found = 0.0
    for c in range(n_cells):
        found += np.float64(_test_term(total[c, 1], total[c, 0], p_unit, n_unit))
    return found


@inlined
def _test_error(cells):
    return (80.0 + 2.0 * cells) * (0.5 * 1.1920928955078125e-07)


# ---- bounds of one support --------------------------------------------------------------------


@helper
def _saturated(positive, negative, n):
    total = 0.0
    for c in range(n):
        p, m = positive[c], negative[c]
        if p > 0.0 and m > 0.0:
            total += p * blocks.log1p(m / p) + m * blocks.log1p(p / m)
    return total * (1.0 - (2.0 * n + 8.0) * _EPSILON)


@kernel(read(float64), read(float64))
def saturated(positive, negative):
    return _saturated(positive, negative, positive.shape[0])


@helper
def _solve(a, b, m):
    """Solve a x = b in place for a positive definite matrix; False if it is not."""
    for i in range(m):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= a[i, k] * a[j, k]
            if i > j:
                a[i, j] = total / a[j, j]
            elif total > 0.0:
                a[i, i] = np.sqrt(total)
            else:
                return False
    for i in range(m):
        total = b[i]
        for k in range(i):
            total -= a[i, k] * b[k]
        b[i] = total / a[i, i]
    for i in range(m - 1, -1, -1):
        total = b[i]
        for k in range(i + 1, m):
            total -= a[k, i] * b[k]
        b[i] = total / a[i, i]
    return True


@helper
def _linearised(
    n_cells, pattern, weights, value, low, high, m, z, gradient, hessian, x, rate, lines
):
    """Bound of the linearisation at z over a box, and the loss there."""
    loss, size, reach, on_lines = 0.0, 0.0, 0.0, 0.0
    bits, last = (1, 1) if value.shape[1] == 2 else (3, 7)
    for i in range(m):
        gradient[i] = 0.0
        for j in range(i + 1):
            hessian[i, j] = 0.0
    for c in range(n_cells):
        s = z[0]
        x[0] = 1.0
        for j in range(1, m):
            x[j] = value[j - 1, pattern[c] >> (bits * (j - 1)) & last]
            s += z[j] * x[j]
        p, n = weights[1, c], weights[0, c]
        e = blocks.exp_nonpositive(-abs(s))
        q = 1.0 / (1.0 + e)
        wrong, right = (n, p) if s > 0.0 else (p, n)
        slope = q * (wrong - right * e)
        curvature = (wrong + right) * (e * q * q)
        term, steep = (wrong + right) * blocks.log1p(e) + wrong * abs(s), q * (wrong + right * e)
        slope = slope if s > 0.0 else -slope
        if rate[rated.IS_PRICED] > 0.0:
            u = rate[rated.DIRECTION] * s
            if u <= lines[rated.FROM, c]:
                term += rate[rated.PRICE] * (p if rate[rated.DIRECTION] > 0.0 else n)
            elif u < lines[rated.TO, c]:
                term = lines[rated.AT, c] + lines[rated.SLOPE, c] * u
                slope = rate[rated.DIRECTION] * lines[rated.SLOPE, c]
                on_lines += abs(lines[rated.AT, c]) + abs(lines[rated.SLOPE, c] * u)
                steep = abs(slope)
                curvature *= 0.25
        loss += term
        size += steep
        for i in range(m):
            gradient[i] += slope * x[i]
            scaled = curvature * x[i]
            for j in range(i + 1):
                hessian[i, j] += scaled * x[j]
    bound, widths = loss, 0.0
    for i in range(m):
        below, above = low[i] - z[i], high[i] - z[i]
        one, other = gradient[i] * below, gradient[i] * above
        largest = 1.0
        if i > 0:
            largest = 0.0
            for v in range(last + 1):
                size_of = abs(value[i - 1, v])
                largest = size_of if size_of > largest else largest
        bound += one if one < other else other
        widths += largest * (-below if -below > above else above)
        reach += largest * abs(z[i])
    terms = n_cells + 12.0
    error = (2.0 * _EPSILON) * (
        terms * (2.0 * (loss + on_lines) + size * widths) + np.float64(m + 2) * reach * size
    )
    if rate[rated.IS_PRICED] > 0.0:
        return bound - error - rate[rated.SLACK], loss
    return bound - error, loss


@helper
def _newton_step(hessian, gradient, low, high, z, system, step, chosen, n_free):
    """Newton step without the coefficients that it would push out of the box."""
    while True:
        for i in range(n_free):
            for j in range(i + 1):
                system[i, j] = hessian[int(chosen[i]), int(chosen[j])]
            system[i, i] += 1e-10
            step[i] = -gradient[int(chosen[i])]
        if not _solve(system, step, n_free):
            return False, n_free
        kept = 0
        for i in range(n_free):
            j = int(chosen[i])
            outwards = (z[j] <= low[j] and step[i] < 0.0) or (z[j] >= high[j] and step[i] > 0.0)
            if not outwards:
                chosen[kept] = j
                kept += 1
        if kept == n_free:
            return True, n_free
        n_free = kept


@helper
def _cells_bound(n_cells, pattern, weights, value, low, high, m, enough, z, work, rate, lines):
    """Bound of the loss over real coefficients within a box, by Newton steps."""
    nearest, gradient, step, x = work[0, 0], work[0, 1], work[0, 2], work[0, 3]
    chosen = work[0, 4]
    hessian, system = work[1], work[2]
    best = 0.0
    for i in range(m):
        z[i] = low[i] if z[i] < low[i] else high[i] if z[i] > high[i] else z[i]
    bound, loss = _linearised(
        n_cells, pattern, weights, value, low, high, m, z, gradient, hessian, x, rate,
        lines,
    )  # fmt: skip
    for _ in range(_NEWTON_STEPS):
        n_free, change, share = 0, 0.0, 1.0
        if bound > best:
            best = bound
        if best >= enough or loss - best < 1e-10 or (loss < enough and loss - best < 1e-6):
            break
        for i in range(m):
            at_low = z[i] <= low[i] and gradient[i] >= 0.0
            at_high = z[i] >= high[i] and gradient[i] <= 0.0
            if not at_low and not at_high:
                chosen[n_free] = i
                n_free += 1
        solved, n_free = _newton_step(hessian, gradient, low, high, z, system, step, chosen, n_free)
        if not solved:
            break
        for i in range(m):
            nearest[i] = z[i]
        for i in range(n_free):
            j = int(chosen[i])
            to = z[j] + step[i]
            nearest[j] = low[j] if to < low[j] else high[j] if to > high[j] else to
            change += abs(nearest[j] - z[j])
            space = low[j] - z[j] if step[i] < 0.0 else high[j] - z[j]
            if step[i] != 0.0 and space / step[i] < share:
                share = space / step[i]
        if not change > 0.0:
            break
        tried, halving = 0.0, 0
        while True:
            bound, tried = _linearised(
                n_cells, pattern, weights, value, low, high, m, nearest, gradient, hessian, x, rate,
                lines,
            )  # fmt: skip
            if bound > best:
                best = bound
            if tried <= loss or halving == 12:
                break
            if halving == 0 and share < 1.0:
                for i in range(n_free):
                    j = int(chosen[i])
                    nearest[j] = z[j] + share * step[i]
            else:
                for i in range(m):
                    nearest[i] = 0.5 * (nearest[i] + z[i])
            halving += 1
        if tried > loss:
            break
        loss = tried
        for i in range(m):
            z[i] = nearest[i]
    return best


@inlined
def _below(x):
    return x - 2.0 * _EPSILON * abs(x)


@inlined
def _above(x):
    return x + 2.0 * _EPSILON * abs(x)


@helper
def _divide(low, high, z, m, t_low, t_high):
    """Coefficient to divide a relaxation at, -1 for none, and the ends of the two parts."""
    chosen, most = -1, 0.0
    for i in range(1, m):
        if low[i] >= 0.0 or high[i] <= 0.0:
            continue
        inside = 1.0 - abs(z[i]) / t_low
        if inside > most:
            most, chosen = inside, i
    if chosen >= 0:
        return chosen, _above(-t_low), _below(t_low)
    if t_low != t_high:
        return -1, 0.0, 0.0
    most = 1e-6
    for i in range(m):
        points = z[i] / t_low
        part = abs(points - np.rint(points))
        if part > most and high[i] - low[i] > 0.5 * t_low:
            most, chosen = part, i
    if chosen < 0:
        return -1, 0.0, 0.0
    points = np.floor(z[chosen] / t_low)
    return chosen, _above(t_low * points), _below(t_low * (points + 1.0))


@helper
def _is_excluded(
    n_cells, pattern, weights, value, stack, m, t_low, t_high, enough, work, stop
):  # fmt: skip
    """Say whether integer points of a box hold nothing below ``enough``; bound, number of boxes."""
    n, n_boxes, bound = 1, 0, 0.0
    while n:
        low, high, z = stack[n - 1, 0], stack[n - 1, 1], stack[n - 1, 2]
        least = _cells_bound(
            n_cells, pattern, weights, value, low, high, m, enough, z, work, work[3, 0], work[3]
        )
        if n_boxes == 0:
            bound = least
        n_boxes += 1
        if n_boxes > _MOST_BOXES or n == _DEEPEST:
            return False, bound, n_boxes
        if n_boxes > 1 and stopped(stop):
            return False, bound, n_boxes
        if least >= enough:
            n -= 1
            continue
        i, below, above = _divide(low, high, z, m, t_low, t_high)
        if i < 0:
            return False, bound, n_boxes
        for k in range(3):
            _copy_row(stack[n, k], stack[n - 1, k])
        if z[i] - below < above - z[i]:
            low[i], stack[n, 1, i] = above, below
        else:
            high[i], stack[n, 0, i] = below, above
        n += 1
    return True, bound, n_boxes


# ---- limits on rates --------------------------------------------------------------------------


@helper
def _priced_bound(s, n_cells, box, m, enough, n_prices):
    """Bound of a box over real points, of the best of a few prices; how many were tried."""
    rate, lines = s.rate, s.lines
    least, most = s.ranges[0], s.ranges[1]
    start = rate[rated.PRICE] if rate[rated.PRICE] > 0.0 else 0.5
    best, low, high, kept, n_tried = 0.0, 0.0, np.inf, rate[rated.PRICE], 0
    if n_prices == _FIRST_PRICES:
        rate[rated.PRICE] = 0.0
    for _ in range(n_prices):
        begin = rate[rated.PRICE] * rate[rated.LIMIT]
        rate[rated.SLACK] = 0.0
        for c in range(n_cells):
            p, n = s.weights[1, c], s.weights[0, c]
            if rate[rated.DIRECTION] > 0.0:
                rated.bridge(rate, lines, c, p, n, least[c], most[c])
            else:
                rated.bridge(rate, lines, c, n, p, -most[c], -least[c])
        bound = _cells_bound(
            n_cells, s.cell_pattern, s.weights, s.own_value, box[0], box[1], m,
            enough + begin * (1.0 + 1e-15), box[2], s.work, rate, lines,
        ) - begin * (1.0 + 2.0 * _EPSILON)  # fmt: skip
        n_tried += 1
        if bound > best:
            best, kept = bound, rate[rated.PRICE]
        if best >= enough:
            break
        over = rated.excess(n_cells, s.cell_pattern, s.weights, s.own_value, box[2], m, rate, lines)
        if over > 0.0:
            low = rate[rated.PRICE]
        else:
            high = rate[rated.PRICE]
        if high <= 0.0 or high - low <= 1e-3 * high:
            break
        if high < np.inf:
            rate[rated.PRICE] = 0.5 * (low + high)
        else:
            rate[rated.PRICE] = 2.0 * low if low > 0.0 else start
    rate[rated.PRICE] = kept
    return best, n_tried


@helper
def _divide_widest(low, high, z, m, t):
    """The widest range of whole points, divided next to z; -1 if there is but one vector."""
    chosen, most = -1, 0.5 * t
    for i in range(m):
        if high[i] - low[i] > most:
            most, chosen = high[i] - low[i], i
    if chosen < 0:
        return -1, 0.0, 0.0
    if chosen > 0 and low[chosen] < 0.0 and high[chosen] > 0.0:
        return chosen, _above(-t), _below(t)
    points = np.rint(z[chosen] / t)
    if t * (points + 0.5) > high[chosen]:
        points -= 1.0
    return chosen, _above(t * points), _below(t * (points + 1.0))


@helper
def _rated_boxes(s, n_cells, m, enough):
    """Say whether all whole points of a support are excluded but the best ones that were found.

    And what loss is not looked for, the bound, how many were tried, whether any was found.
    """
    stack, t_low, t_high = s.stack, s.ends[0], s.ends[1]
    n, n_boxes, n_tried, bound, is_found = 1, 0, 0, 0.0, False
    while n:
        box, other = stack[n - 1], stack[n]
        low, high, z = box[0], box[1], box[2]
        n_boxes += 1
        if n_boxes > _MOST_RATED_BOXES or n == _DEEPEST or (n_boxes > 1 and stopped(s.stop)):
            return False, enough, bound, n_tried, is_found
        rated.ranges(n_cells, s.cell_pattern, s.own_value, box, m, s.ranges[0], s.ranges[1])
        is_broken = False
        for r in range(s.rates.shape[0]):
            is_broken |= rated.breaks(s.weights, n_cells, s.rates[r], s.ranges[0], s.ranges[1])
        if is_broken:
            n -= 1
            n_tried += 1
            continue
        lower, tried = _priced_bound(
            s, n_cells, box, m, enough, _FIRST_PRICES if n_boxes == 1 else _PRICES
        )
        n_tried += tried
        if n_boxes == 1:
            bound = lower
        if lower >= enough:
            n -= 1
            continue
        i, below, above = _divide(low, high, z, m, t_low, t_high)
        if i < 0 and t_low != t_high:
            return False, enough, bound, n_tried, is_found
        if i < 0:
            for j in range(m):
                s.points[0, j] = int(np.rint(z[j] / t_low))
            loss = rated.loss_of_points(
                n_cells, s.cell_pattern, s.weights, s.own_value, s.points[0], m, t_low, s.rates,
                s.over,
            )  # fmt: skip
            if loss < enough:
                for j in range(m):
                    s.points[1, j] = s.points[0, j]
                is_found = True
                if not s.settles:
                    return False, enough, bound, n_tried, is_found
                enough = loss
            i, below, above = _divide_widest(low, high, z, m, t_low)
            if i < 0:
                n -= 1
                continue
        for k in range(3):
            _copy_row(other[k], box[k])
        if z[i] - below < above - z[i]:
            low[i], other[1, i] = above, below
        else:
            high[i], other[0, i] = below, above
        n += 1
    return True, enough, bound, n_tried, is_found


# ---- the scan ---------------------------------------------------------------------------------


@inlined
def _put(s, n, cell, positive, negative):
    if positive == 0 and negative == 0:
        return n
    s.cell_pattern[n] = cell
    s.weights[1, n] = np.float64(positive) * s.unit[1]
    s.weights[0, n] = np.float64(negative) * s.unit[0]
    return n + 1


@helper
def _consider(s, n_cells, size):
    """Test one support whose cells are known; FULL if there is no room for it, or STOPPED."""
    cutoff, item = s.ends[2], s.item
    if stopped(s.stop):
        return STOPPED
    s.counted[1] += 1
    total = 0.0
    for i in range(size):
        total += s.price[item[i]]
    total *= 1.0 - size * _EPSILON
    saturated_loss = _saturated(s.weights[1], s.weights[0], n_cells)
    if saturated_loss + total >= cutoff:
        return 0
    s.counted[2] += 1
    box = s.stack[0]
    box[0, 0], box[1, 0], box[2, 0] = s.low[0], s.high[0], 0.0
    for i in range(size):
        j = item[i]
        box[0, i + 1], box[1, i + 1], box[2, i + 1] = s.low[j + 1], s.high[j + 1], 0.0
        _copy_row(s.own_value[i], s.value[j])
    if s.rates.shape[0] and n_cells <= rated.CELLS:
        return _consider_rates(s, n_cells, size, saturated_loss, total)
    excluded, bound, n_boxes = _is_excluded(
        n_cells, s.cell_pattern, s.weights, s.own_value, s.stack, size + 1, s.ends[0], s.ends[1],
        cutoff - total, s.work, s.stop,
    )  # fmt: skip
    _count_terms(s, n_boxes, n_cells, size)
    if excluded:
        return 0
    if saturated_loss > bound:
        bound = saturated_loss
    return _note(s, size, bound + total, False)


@inlined
def _count_terms(s, n_boxes, n_cells, size):
    terms = (size + 1) * (size + 2) // 2 + _TERMS_OF_A_CELL
    s.counted[4] += n_boxes * (n_cells + _CELLS_OF_A_BOX) * terms


@helper
def _note(s, size, bound, has_points):
    """Note a support that is left, or a vector of it; FULL if there is no room for it."""
    n_found = s.unlooked[1]
    if n_found == s.bounds.shape[0]:
        return FULL
    if bound < np.inf:
        s.counted[3] += 1
    for i in range(s.found.shape[1]):
        s.found[n_found, i] = s.item[i] if i < size else -1
    if s.rates.shape[0]:
        s.vector[n_found, 0] = _NO_VECTOR
        if has_points:
            for i in range(size + 1):
                s.vector[n_found, i] = s.points[1, i]
    s.bounds[n_found] = bound
    s.unlooked[1] += 1
    return 0


@helper
def _consider_rates(s, n_cells, size, least, price):
    """Bound a support under limits on rates; FULL if there is no room for it."""
    for r in range(s.rates.shape[0]):
        bound, of_rate = rated.saturated(s.weights, n_cells, s.rates[r], s.ranges[2], s.ranges[3])
        if bound + price >= s.ends[2]:
            return 0
        if r and bound <= least:
            continue
        least = bound if bound > least else least
        for k in range(4):
            s.rate[k] = s.rates[r, k]
        s.rate[rated.PRICE], s.rate[rated.IS_PRICED] = of_rate, 1.0
    settled, enough, bound, n_tried, is_found = _rated_boxes(
        s, n_cells, size + 1, s.ends[2] - price
    )
    _count_terms(s, n_tried, n_cells, size)
    if settled and not is_found:
        return 0
    if is_found and s.settles and enough + price < s.ends[2]:
        s.ends[2] = enough + price
    if least > bound:
        bound = least
    return _note(s, size, np.inf if settled else bound + price, is_found)


@inlined
def _is_apart(s, size, other):
    for i in range(size):  # noqa: SIM110 (numba knows no any())
        if s.apart[s.item[i], other]:
            return True
    return False


@inlined
def _price(s, size):
    price = 0.0
    for i in range(size):
        price += s.price[s.item[i]]
    return price


@helper
def _scan_itself(s, size, depth):
    n_cells, pattern, total = s.n_cells[depth], s.patterns[depth], s.totals[depth]
    s.counted[0] += 1
    if depth > size:
        found = _test_cells(total, n_cells, np.float32(s.unit[1]), np.float32(s.unit[0]))
        least = found - _test_error(n_cells)
        if least + _price(s, size) * (1.0 - 1e-14) >= s.ends[2]:
            return 0
    n = 0
    for c in range(n_cells):
        n = _put(s, n, pattern[c], total[c, 1], total[c, 0])
    return _consider(s, n, size)


@helper
def _scan_singles(s, size, depth, first):
    n_cells, pattern, total = s.n_cells[depth], s.patterns[depth], s.totals[depth]
    n_items = s.price.shape[0]
    begin, with_b = (first + s.shift) // 8 * 8, 1 << (_bits(s) * size)
    s.test[:] = 0
    for c in range(n_cells):
        if stopped(s.stop):
            return STOPPED
        _test_singles(
            s.test, s.single[c], total[c], begin, n_items + s.shift, np.float32(s.unit[1]),
            np.float32(s.unit[0]),
        )  # fmt: skip
    prices = _price(s, size)
    for b in range(first, n_items):
        if _is_apart(s, size, b):
            continue
        s.counted[0] += 1
        least = np.float64(s.test[b + s.shift]) - _test_error(2 * n_cells)
        if least + (prices + s.price[b]) * (1.0 - 1e-14) >= s.ends[2]:
            continue
        n = 0
        s.item[size] = b
        for c in range(n_cells):
            one, zero = s.single[c, 1, b + s.shift], s.single[c, 0, b + s.shift]
            n = _put(s, n, pattern[c], total[c, 1] - one, total[c, 0] - zero)
            n = _put(s, n, pattern[c] | with_b, one, zero)
        status = _consider(s, n, size + 1)
        if status:
            return status
    return 0


@helper
def _scan_pairs(s, size, depth, a):
    n_cells, pattern, total = s.n_cells[depth], s.patterns[depth], s.totals[depth]
    n_items, plane = s.price.shape[0], a + s.shift
    begin = (plane + 1) // 8 * 8
    if not _count_pairs(s, depth, plane, begin // 8):
        return STOPPED
    s.test[:] = 0
    for c in range(n_cells):
        if stopped(s.stop):
            return STOPPED
        _test_pairs(
            s.test, s.both[c], s.single[c], total[c], plane, begin, n_items + s.shift,
            np.float32(s.unit[1]), np.float32(s.unit[0]),
        )  # fmt: skip
    s.item[size] = a
    prices = s.price[a]
    for i in range(size):
        prices += s.price[s.item[i]]
    with_a, with_b = 1 << (_bits(s) * size), 1 << (_bits(s) * (size + 1))
    for b in range(a + 1, n_items):
        if _is_apart(s, size + 1, b):
            continue
        s.counted[0] += 1
        other = b + s.shift
        least = np.float64(s.test[other]) - _test_error(4 * n_cells)
        if least + (prices + s.price[b]) * (1.0 - 1e-14) >= s.ends[2]:
            continue
        n = 0
        s.item[size + 1] = b
        for c in range(n_cells):
            p, m = s.both[c, 1, other], s.both[c, 0, other]
            ap, an = s.single[c, 1, plane], s.single[c, 0, plane]
            bp, bn = s.single[c, 1, other], s.single[c, 0, other]
            cell = pattern[c]
            n = _put(s, n, cell, total[c, 1] - ap - bp + p, total[c, 0] - an - bn + m)
            n = _put(s, n, cell | with_a, ap - p, an - m)
            n = _put(s, n, cell | with_b, bp - p, bn - m)
            n = _put(s, n, cell | with_a | with_b, p, m)
        status = _consider(s, n, size + 2)
        if status:
            return status
    return 0


@helper
def _scan_level(s, size, depth, first, min_size, max_size):
    """The prefix itself, and with further items of two values that complete its supports."""
    more, n_items = max_size - size, s.price.shape[0]
    pairs_from = max(first, s.pairs_from)
    with_singles = 0 < more <= 2 and pairs_from < n_items
    if not _count_level(s, depth, pairs_from + s.shift, with_singles):
        return STOPPED
    status = 0
    if size >= min_size:
        status = _scan_itself(s, size, depth)
    if not status and with_singles and (more == 1 or size + 1 >= min_size):
        status = _scan_singles(s, size, depth, pairs_from)
    if status or more != 2:
        return status
    for a in range(pairs_from, n_items - 1):
        if stopped(s.stop):
            return STOPPED
        if not _is_apart(s, size, a):
            status = _scan_pairs(s, size, depth, a)
            if status:
                return status
    return 0


@kernel(
    *(
        write(int64, 2),
        write(int64, 3),
        write(int64),
        write(int64),
        read(float64),
        read(float64, 2),
    ),
    *(read(int64), read(float64), read(float64), write(float64), read(float64), read(uint8, 2)),
    *(read(int64), int64, int64, int64, write(int64), write(int64, 2), write(float64)),
    *(write(int64), write(uint64), write(int32, 3), write(int32, 3), write(float32)),
    *(write(int64, 2), write(int32, 3), write(int32), write(float64, 2), write(uint64, 2)),
    *(write(float64, 3), write(float64, 2), write(float64, 3), write(int64, 2)),
    *(read(float64, 2), int64, write(int64, 2), write(int64, 2), write(float64)),
    *(write(float64, 2), write(float64, 2), write(float64)),
)
def _scan(
    place, segments, n_segments, item, unit, value, plane, low, high, ends, price, apart, prefix,
    first, min_size, max_size, stop, found, bounds, counted, room, single, both, test, patterns,
    totals, cell_pattern, weights, moves, stack, own_value, work, state, rates, settles, vector,
    points, rate, lines, ranges, over,
):  # fmt: skip
    n_items = price.shape[0]
    pairs_from = n_items
    while pairs_from > 0 and plane[pairs_from] - plane[pairs_from - 1] == 1:
        pairs_from -= 1
    # By size: the next item, and the depth; by depth: the number of cells.
    position, depths, n_cells, unlooked = state[0], state[1], state[2], state[3]
    s = _Scan(
        place, segments, n_segments, item, unit, value, plane, low, high, ends, price, apart, stop,
        found, bounds, counted, room, single, both, test, patterns, totals, cell_pattern, weights,
        moves, stack, own_value, work, n_cells, unlooked, pairs_from,
        plane[pairs_from] - pairs_from, rates, settles, vector, points, rate, lines, ranges, over,
    )  # fmt: skip
    size, depth = 0, 0
    for k in range(prefix.shape[0]):
        if not _sort(s, size, depth, prefix[k], False):
            return STOPPED
        depth += plane[prefix[k] + 1] - plane[prefix[k]]
        size += 1
    bottom = size
    position[size], depths[size] = first, depth
    entering = True
    while True:
        depth = depths[size]
        if entering:
            entering = False
            status = _scan_level(s, size, depth, position[size], min_size, max_size)
            if status:
                return status
        more, a = max_size - size, position[size]
        if more >= 1 and a < (n_items if more > 2 else pairs_from):
            position[size] = a + 1
            if stopped(stop):
                return STOPPED
            if not _is_apart(s, size, a):
                if not _sort(s, size, depth, a, more == 1):
                    return STOPPED
                size += 1
                position[size], depths[size] = a + 1, depth + plane[a + 1] - plane[a]
                entering = True
        elif size == bottom:
            return unlooked[1]
        else:
            size -= 1


def scan(
    words, bits, labels, shifts, unit, value, plane, low, high, t_low, t_high, price, apart, prefix,
    first, min_size, max_size, depth, cutoff, level, rates, settles, stop, found, bound, vector,
    counted, room64, room32, room_float,
):  # fmt: skip
    n_bits, n_groups, n_words = int(bits.sum()), words.shape[0], words.shape[1]
    place = np.empty((depth + 1, 2), np.int64)
    place[0] = 0, n_words
    for size in range(depth):
        begin, stride = place[size]
        more = _most_segments(len(bits), n_bits, size)
        place[size + 1] = begin + n_groups * stride * 8, stride + more
    room64[: words.size] = words.ravel()
    most = _most_segments(len(bits), n_bits, depth)
    cells = min(most, 1 << depth)
    segments = np.zeros((depth + 1, most, 7), np.int64)
    n_segments = np.zeros(depth + 1, np.int64)
    n_segments[0] = len(bits)
    starts = np.concatenate(([0], np.cumsum((bits + 63) // 64)[:-1]))
    segments[0, : len(bits)] = np.column_stack(
        (
            bits,
            starts,
            np.zeros_like(bits),
            labels,
            shifts,
            np.zeros_like(bits),
            np.zeros_like(bits),
        )
    )
    width = 8 * n_groups
    halves = room32[: 4 * cells * width].reshape(2, cells, 2, width)
    return _scan(
        place, segments, n_segments, np.zeros(MOST_ITEMS, np.int64), unit, value, plane, low, high,
        np.array([t_low, t_high, cutoff]), price, apart, prefix, first, min_size, max_size, stop,
        found, bound, counted, room64, halves[0], halves[1], room_float,
        np.zeros((depth + 1, cells), np.int64), np.zeros((depth + 1, cells, 2), np.int32),
        np.zeros(_MOST_CELLS, np.int32), np.zeros((2, _MOST_CELLS)), np.zeros((2, 6), np.uint64),
        np.zeros((_DEEPEST + 1, 3, _MOST_COEF)), np.zeros((MOST_ITEMS, value.shape[1])),
        np.zeros((4, _MOST_COEF, _MOST_COEF)), np.zeros((4, MOST_ITEMS + 1), np.int64), rates,
        int(settles), vector, np.zeros((2, _MOST_COEF), np.int64), np.zeros(7),
        np.zeros((4, rated.CELLS)), np.zeros((4, rated.CELLS)), np.zeros(MOST_RATES),
    )  # fmt: skip
