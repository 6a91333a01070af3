"""Numerics and operations on one block of rows: the counterpart of numerics.h and blocks.h.

The formulas, their error bounds and the reasons for them stand in those two files. Here is the
same arithmetic in the same order, without fast-math, so that both backends give the same bits.
Integers are cast because numba widens every integer operation to 64 bits; LLVM narrows it again,
and vectorises, when the result is cast back.
"""

from __future__ import annotations

import numpy as np

from riskslim._kernels.numba_backend.compiled import helper, inlined

BLOCK = 2048
LANES = 32
STRIP = 4 * LANES  # the lanes are read and written once for so many rows
LOSS_STRIP = 8 * LANES  # eight rows share a logarithm
ROW_TILE = 16  # rows of each real column that lie together
ROW_TILE_LANES = 8
COPIES = 4
DIGIT_ROWS = 256
DIGIT_BASE = 65535
DIGIT_SCALE = 70368744177664.0

_SHIFT = 6755399441055744.0
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10

# ---- sums in twice the working precision ---------------------------------------------


@inlined
def stopped(stop):
    """True if work is to end, as rs_stopped."""
    now = stop[0]
    if now < 0:
        stop[0] = 1 if now == -1 else now + 1
        return now == -1
    return now != 0


@inlined
def add(high, low, value):
    """Add ``value`` to the sum high + low: Knuth's TwoSum."""
    total = high + value
    part = total - high
    return total, low + ((high - (total - part)) + (value - part))


@inlined
def add_product(high, low, a, b):
    """Add a * b with its rounding error: Dekker's product."""
    p = a * b
    ca, cb = 134217729.0 * a, 134217729.0 * b
    a1, b1 = ca - (ca - a), cb - (cb - b)
    a2, b2 = a - a1, b - b1
    high, low = add(high, low, p)
    return high, low + (((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2)


@inlined
def add_to(sums, k, value):
    """Add to the sum in row k, which has its rounding error beside it."""
    sums[k, 0], sums[k, 1] = add(sums[k, 0], sums[k, 1], value)


# ---- exp and log1p on the ranges that the loss needs ----------------------------------


@inlined
def _power_of_two(k):
    shifted = np.float64(k + _SHIFT).view(np.int64)
    return np.int64((shifted << 52) + 0x3FF0000000000000).view(np.float64)


@inlined
def exp_nonpositive(x):
    y = -746.0 if x < -746.0 else x
    shifted = y * 1.44269504088896340736 + _SHIFT
    k = shifted - _SHIFT
    r = (y - k * _LN2_HIGH) - k * _LN2_LOW
    first = _SHIFT - 1000.0 if shifted < _SHIFT - 1000.0 else shifted
    p = 2.5000056708160523e-08
    p = p * r + 2.7630247990155085e-07
    p = p * r + 2.755758638843295e-06
    p = p * r + 2.480149310007098e-05
    p = p * r + 0.0001984126950656571
    p = p * r + 0.0013888888943628945
    p = p * r + 0.008333333333494465
    p = p * r + 0.04166666666653016
    p = p * r + 0.16666666666666413
    p = p * r + 0.5000000000000011
    p = np.float64(1.0 + (r + r * r * p))
    scaled = np.int64(p.view(np.int64) + (np.float64(first).view(np.int64) << 52))
    return scaled.view(np.float64) * _power_of_two(shifted - first)


@inlined
def log1p(t):
    u = np.float64(1.0 + t)
    bits = u.view(np.uint64) + np.uint64(0x95F619980C433)
    exponent = np.uint64((bits >> np.uint64(52)) | np.uint64(0x4330000000000000))
    k = exponent.view(np.float64) - 4503599627371519.0
    scale = np.uint64(np.uint64(0x7FE0000000000000) - (bits & np.uint64(0xFFF0000000000000)))
    f = u * scale.view(np.float64) - 1.0 if k > 0.0 else t
    half = 0.5 * f * f
    s = f / (2.0 + f)
    z = s * s
    p = 0.14796103418642567
    p = p * z + 0.15314035998176853
    p = p * z + 0.18183564862510312
    p = p * z + 0.22222198563504947
    p = p * z + 0.2857142874247555
    p = p * z + 0.3999999999941431
    p = p * z + 0.6666666666666734
    p = p * z
    return k * _LN2_HIGH - ((half - (s * (half + p) + k * _LN2_LOW)) - f)


@inlined
def _join(a, b):
    """(1 + a) (1 + b) - 1: two logarithms from one."""
    return (a + b) + a * b


@inlined
def loss(margin):
    tail = log1p(exp_nonpositive(-abs(margin)))
    return tail - margin if margin < 0.0 else tail


@inlined
def slope(margin):
    e = exp_nonpositive(-abs(margin))
    return -((1.0 if margin < 0.0 else e) / (1.0 + e))


# ---- scores -----------------------------------------------------------------------------


@helper
def add_column_i32(s, x, c):
    for i in range(s.shape[0]):
        s[i] = np.int32(s[i] + np.int32(c * np.int32(x[i])))


@helper
def add_column_i8(s, x, c):
    for i in range(s.shape[0]):
        s[i] += c * np.float64(np.int32(x[i]))


@helper
def add_4_columns_i8(s, x0, x1, x2, x3, c0, c1, c2, c3):
    for i in range(s.shape[0]):
        s[i] += (c0 * np.float64(np.int32(x0[i])) + c1 * np.float64(np.int32(x1[i]))) + (
            c2 * np.float64(np.int32(x2[i])) + c3 * np.float64(np.int32(x3[i]))
        )


# ---- 16-bit positions -------------------------------------------------------------------


@helper
def add_column_u16(s, x, c):
    for i in range(s.shape[0]):
        s[i] = np.uint16(np.int32(s[i]) + np.int32(c) * np.int32(x[i]))


@helper
def add_4_columns_u16(s, x0, x1, x2, x3, c0, c1, c2, c3):
    for i in range(s.shape[0]):
        s[i] = np.uint16(
            np.int32(s[i])
            + np.int32(c0) * np.int32(x0[i])
            + np.int32(c1) * np.int32(x1[i])
            + np.int32(c2) * np.int32(x2[i])
            + np.int32(c3) * np.int32(x3[i])
        )


@helper
def split_classes_u16(s, label, width):
    for i in range(s.shape[0]):
        s[i] = np.uint16(np.int32(s[i]) + np.int32(width if label[i] > 0 else 0))


@helper
def given_positions_u16(position, s, label, low, width):
    outside = 0
    for i in range(s.shape[0]):
        p = np.int64(s[i]) - low
        outside += p < 0 or p >= width
        position[i] = np.uint16(p + (width if label[i] > 0 else 0))
    return outside


@helper
def count_u16(copy0, copy1, copy2, copy3, s):
    whole = s.shape[0] // COPIES * COPIES
    for i in range(0, whole, COPIES):
        copy0[s[i]] += 1
        copy1[s[i + 1]] += 1
        copy2[s[i + 2]] += 1
        copy3[s[i + 3]] += 1
    for i in range(whole, s.shape[0]):
        copy0[s[i]] += 1


# ---- slopes in fixed point --------------------------------------------------------------


@inlined
def fixed_point(value):
    scaled = value * DIGIT_SCALE
    return np.int64(scaled - 0.5 if scaled < 0.0 else scaled + 0.5)


@inlined
def pack_digits(value):
    q = fixed_point(value)
    packed = np.uint64(0)
    for k in range(3):
        digit = q % DIGIT_BASE
        if digit > DIGIT_BASE // 2:
            digit -= DIGIT_BASE
        q = (q - digit) // DIGIT_BASE
        packed |= np.uint64(np.uint16(digit)) << np.uint64(16 * k)
    return packed


@helper
def lookup_digits(d0, d1, d2, table, s):
    for i in range(s.shape[0]):
        packed = table[s[i]]
        d0[i] = np.int16(packed)
        d1[i] = np.int16(packed >> np.uint64(16))
        d2[i] = np.int16(packed >> np.uint64(32))


@helper
def dot_digits(sums, d0, d1, d2, x, wide):
    """Add the sums of digit times feature to ``sums``; ``wide`` is scratch."""
    for begin in range(0, x.shape[0], DIGIT_ROWS):
        m = min(DIGIT_ROWS, x.shape[0] - begin)
        part, e0, e1, e2 = x[begin:], d0[begin:], d1[begin:], d2[begin:]
        for i in range(m):
            wide[i] = part[i]
        a0 = a1 = a2 = np.int32(0)
        for i in range(m):
            w = np.int32(wide[i])
            a0 = np.int32(a0 + np.int32(w * np.int32(e0[i])))
            a1 = np.int32(a1 + np.int32(w * np.int32(e1[i])))
            a2 = np.int32(a2 + np.int32(w * np.int32(e2[i])))
        sums[0] += a0
        sums[1] += a1
        sums[2] += a2


# ---- rows that stand for several --------------------------------------------------------


@helper
def count_numbers(counts, number, s):
    for i in range(s.shape[0]):
        counts[s[i]] += np.int64(number[i])


@helper
def lookup_products(d0, d1, d2, d3, table, number, s):
    half, halves = np.uint64(0x8000), np.uint64(0x800080008000)
    for i in range(s.shape[0]):
        q = table[s[i]] * np.uint64(number[i]) + halves
        d0[i] = np.int16(np.uint16(q ^ half))
        d1[i] = np.int16(np.uint16((q >> np.uint64(16)) ^ half))
        d2[i] = np.int16(np.uint16((q >> np.uint64(32)) ^ half))
        d3[i] = np.int16(np.uint16(q >> np.uint64(48)))


@helper
def dot_products(sums, d0, d1, d2, d3, x, wide):
    """Add the sums of digit times feature to ``sums``; ``wide`` is scratch."""
    for begin in range(0, x.shape[0], DIGIT_ROWS):
        m = min(DIGIT_ROWS, x.shape[0] - begin)
        part, e0, e1, e2, e3 = x[begin:], d0[begin:], d1[begin:], d2[begin:], d3[begin:]
        for i in range(m):
            wide[i] = part[i]
        a0 = a1 = a2 = a3 = np.int32(0)
        for i in range(m):
            w = np.int32(wide[i])
            a0 = np.int32(a0 + np.int32(w * np.int32(e0[i])))
            a1 = np.int32(a1 + np.int32(w * np.int32(e1[i])))
            a2 = np.int32(a2 + np.int32(w * np.int32(e2[i])))
            a3 = np.int32(a3 + np.int32(w * np.int32(e3[i])))
        sums[0] += a0
        sums[1] += a1
        sums[2] += a2
        sums[3] += a3


# ---- histograms of table positions ------------------------------------------------------


@helper
def split_classes(position, label, low, width):
    for i in range(position.shape[0]):
        move = np.int32(width if label[i] > 0 else 0) - np.int32(low)
        position[i] = np.int32(position[i] + np.int32(move))


@helper
def count(counts, position):
    for i in range(position.shape[0]):
        counts[position[i]] += 1


@helper
def count_weights(sums, weight, position):
    for i in range(position.shape[0]):
        add_to(sums, position[i], weight[i])


@helper
def lookup(out, table, position):
    for i in range(position.shape[0]):
        out[i] = table[position[i]]


@helper
def given_positions(position, s, label, low, width):
    outside = 0
    for i in range(s.shape[0]):
        p = np.int64(s[i]) - low
        outside += p < 0 or p >= width
        position[i] = np.int32(p + (width if label[i] > 0 else 0))
    return outside


# ---- lines: scores moved along one column -------------------------------------------------


@helper
def add_column_positions(out, position, x, step, shift):
    for i in range(out.shape[0]):
        out[i] = np.int32(position[i] + np.int32(np.int32(step * np.int32(x[i])) + shift))


@helper
def joint_cells(cell, position, x, first, stride):
    for i in range(cell.shape[0]):
        value = np.int32(np.int32(x[i]) - first)
        cell[i] = np.int32(np.int32(value * stride) + position[i])


@helper
def add_weights(mass, weight, cell):
    for i in range(cell.shape[0]):
        mass[cell[i]] += weight[i]


@helper
def line(out, s, x, step, shift):
    """Scores after a step along a column of either kind."""
    for i in range(out.shape[0]):
        out[i] = s[i] + (step * np.float64(x[i]) + shift)


# ---- curvature of real-valued scores -------------------------------------------------------


@helper
def curvatures(out, slopes):
    for i in range(out.shape[0]):
        out[i] = abs(slopes[i]) * (1.0 - abs(slopes[i]))


@helper
def score_curvatures(out, s):
    for i in range(out.shape[0]):
        e = exp_nonpositive(-abs(s[i]))
        out[i] = e / ((1.0 + e) * (1.0 + e))


@helper
def class_losses(losses, slopes, curvatures, scores, positive, negative):
    """Loss, d loss / d score and second derivative of each row, from one exponential."""
    for i in range(scores.shape[0]):
        size, above, below = abs(scores[i]), positive[i], negative[i]
        e = exp_nonpositive(-size)
        q = 1.0 / (1.0 + e)
        wrong = below if scores[i] > 0.0 else above
        right = above if scores[i] > 0.0 else below
        slope_size = q * (wrong - right * e)
        losses[i] = (wrong + right) * log1p(e) + wrong * size
        slopes[i] = slope_size if scores[i] > 0.0 else -slope_size
        curvatures[i] = (wrong + right) * (e * q * q)


@helper
def multiply(v, weight):
    for i in range(v.shape[0]):
        v[i] *= weight[i]


# ---- sums and dot products in fixed lanes -------------------------------------------------


@inlined
def _fold(lane):
    width = LANES // 2
    while width > 0:
        for k in range(width):
            lane[k] += lane[k + width]
        width //= 2
    return lane[0]


@helper
def total(v, lane):
    """Sum of ``v``; ``lane`` is scratch here and below."""
    for k in range(LANES):
        lane[k] = 0.0
    whole = v.shape[0] // STRIP * STRIP
    for i in range(0, whole, STRIP):
        a = v[i : i + STRIP]
        for k in range(LANES):
            value = lane[k]
            value += a[k]
            value += a[k + LANES]
            value += a[k + 2 * LANES]
            value += a[k + 3 * LANES]
            lane[k] = value
    for i in range(whole, v.shape[0]):
        lane[(i - whole) % LANES] += v[i]
    return _fold(lane)


@helper
def dot(v, x, lane):
    """Sum of v x for int8 or float64 x."""
    for k in range(LANES):
        lane[k] = 0.0
    whole = v.shape[0] // STRIP * STRIP
    for i in range(0, whole, STRIP):
        a, b = v[i : i + STRIP], x[i : i + STRIP]
        for k in range(LANES):
            value = lane[k]
            value += a[k] * np.float64(b[k])
            value += a[k + LANES] * np.float64(b[k + LANES])
            value += a[k + 2 * LANES] * np.float64(b[k + 2 * LANES])
            value += a[k + 3 * LANES] * np.float64(b[k + 3 * LANES])
            lane[k] = value
    for i in range(whole, v.shape[0]):
        lane[(i - whole) % LANES] += v[i] * np.float64(x[i])
    return _fold(lane)


@helper
def dot_table(weight, table, position, lane):
    """Sum of weight times table entry."""
    for k in range(LANES):
        lane[k] = 0.0
    whole = weight.shape[0] // LANES * LANES
    for i in range(0, whole, LANES):
        a, p = weight[i : i + LANES], position[i : i + LANES]
        for k in range(LANES):
            lane[k] += a[k] * table[p[k]]
    for i in range(whole, weight.shape[0]):
        lane[i - whole] += weight[i] * table[position[i]]
    return _fold(lane)


@inlined
def _square(x):
    return np.float64(x) * np.float64(x)


@helper
def dot_square(v, x, lane):
    """Sum of v x^2 for int8 x."""
    for k in range(LANES):
        lane[k] = 0.0
    whole = v.shape[0] // STRIP * STRIP
    for i in range(0, whole, STRIP):
        a, b = v[i : i + STRIP], x[i : i + STRIP]
        for k in range(LANES):
            value = lane[k]
            value += a[k] * _square(b[k])
            value += a[k + LANES] * _square(b[k + LANES])
            value += a[k + 2 * LANES] * _square(b[k + 2 * LANES])
            value += a[k + 3 * LANES] * _square(b[k + 3 * LANES])
            lane[k] = value
    for i in range(whole, v.shape[0]):
        lane[(i - whole) % LANES] += v[i] * _square(x[i])
    return _fold(lane)


# ---- losses of real-valued scores, summed ---------------------------------------------------


@helper
def _read_strip(tail, hinge, s, label):
    n = s.shape[0]
    for i in range(n):
        margin = s[i] * np.float64(label[i])
        tail[i] = exp_nonpositive(-abs(margin))
        hinge[i] = -margin if margin < 0.0 else 0.0
    for i in range(n, LOSS_STRIP):
        tail[i] = hinge[i] = 0.0


@helper
def _read_strip_and_slopes(tail, hinge, slopes, s, label):
    n = s.shape[0]
    for i in range(n):
        y = np.float64(label[i])
        margin = s[i] * y
        e = exp_nonpositive(-abs(margin))
        tail[i] = e
        hinge[i] = -margin if margin < 0.0 else 0.0
        slopes[i] = -y * ((1.0 if margin < 0.0 else e) / (1.0 + e))
    for i in range(n, LOSS_STRIP):
        tail[i] = hinge[i] = 0.0


@helper
def _add_strip(lane, t, h):
    for k in range(LANES):
        t0 = _join(t[k], t[k + LANES])
        t2 = _join(t[k + 2 * LANES], t[k + 3 * LANES])
        t4 = _join(t[k + 4 * LANES], t[k + 5 * LANES])
        t6 = _join(t[k + 6 * LANES], t[k + 7 * LANES])
        h0 = (h[k] + h[k + LANES]) + (h[k + 2 * LANES] + h[k + 3 * LANES])
        h4 = (h[k + 4 * LANES] + h[k + 5 * LANES]) + (h[k + 6 * LANES] + h[k + 7 * LANES])
        lane[k] += log1p(_join(_join(t0, t2), _join(t4, t6))) + (h0 + h4)


@helper
def _add_weighted_strip(lane, tail, hinge, weight):
    n = weight.shape[0]
    for i in range(n):
        tail[i] = weight[i] * (log1p(tail[i]) + hinge[i])
    for i in range(n, LOSS_STRIP):
        tail[i] = 0.0
    for i in range(0, LOSS_STRIP, LANES):
        for k in range(LANES):
            lane[k] += tail[i + k]


@helper
def _add_losses(lane, tail, hinge, weight, begin, end):
    if weight.shape[0]:
        _add_weighted_strip(lane, tail, hinge, weight[begin:end])
    else:
        _add_strip(lane, tail, hinge)


@helper
def sum_losses(s, label, weight, strip, lane):
    """Sum of the losses; ``strip`` (2, LOSS_STRIP) and ``lane`` are scratch."""
    tail, hinge = strip[0], strip[1]
    for k in range(LANES):
        lane[k] = 0.0
    for begin in range(0, s.shape[0], LOSS_STRIP):
        end = min(begin + LOSS_STRIP, s.shape[0])
        _read_strip(tail, hinge, s[begin:end], label[begin:end])
        _add_losses(lane, tail, hinge, weight, begin, end)
    return _fold(lane)


@helper
def sum_losses_and_slopes(slopes, s, label, weight, strip, lane):
    """The same; leaves d loss / d score of each row, without its weight, in ``slopes``."""
    tail, hinge = strip[0], strip[1]
    for k in range(LANES):
        lane[k] = 0.0
    for begin in range(0, s.shape[0], LOSS_STRIP):
        end = min(begin + LOSS_STRIP, s.shape[0])
        _read_strip_and_slopes(tail, hinge, slopes[begin:end], s[begin:end], label[begin:end])
        _add_losses(lane, tail, hinge, weight, begin, end)
    return _fold(lane)


# ---- real columns in row tiles: the counterpart of row_tiles.h ----------------------------------

# The widths of loops over a row tile's rows are read from arrays: LLVM unrolls loops whose widths
# are small constants before it looks for vectors, and then finds none.


@helper
def add_row_tiles(s, row_tiles, start, used, coef):
    """Add the columns ``used`` times ``coef`` to the scores of rows start, start + 1, ..."""
    for i in range(0, s.shape[0], ROW_TILE):
        _add_row_tile(s[i : i + ROW_TILE], row_tiles[(start + i) // ROW_TILE], used, coef)


@helper
def _add_row_tile(s, row_tile, used, coef):
    whole = used.shape[0] // 4 * 4
    for j in range(0, whole, 4):
        x0, x1, x2, x3 = (
            row_tile[used[j]],
            row_tile[used[j + 1]],
            row_tile[used[j + 2]],
            row_tile[used[j + 3]],
        )
        c0, c1, c2, c3 = coef[j], coef[j + 1], coef[j + 2], coef[j + 3]
        for k in range(s.shape[0]):
            s[k] = (((s[k] + c0 * x0[k]) + c1 * x1[k]) + c2 * x2[k]) + c3 * x3[k]
    for j in range(whole, used.shape[0]):
        x, c = row_tile[used[j]], coef[j]
        for k in range(s.shape[0]):
            s[k] += c * x[k]


@helper
def add_row_tile_products(sums, row_tiles, start, v, room):
    """Add v times column to the partial sums of every column; ``room`` is scratch."""
    part = room[:ROW_TILE]
    for i in range(0, v.shape[0], ROW_TILE):
        row_tile = row_tiles[(start + i) // ROW_TILE]
        _fill_row_tile(part, v[i : i + ROW_TILE])
        for j in range(row_tile.shape[0]):
            _add_products(sums[j], part, row_tile[j])


@helper
def add_row_tile_derivatives(sums, row_tiles, start, v, u, used, room):
    """Add v times column and u times its square to the sums of the columns ``used``."""
    first, second = room[:ROW_TILE], room[ROW_TILE : 2 * ROW_TILE]
    for i in range(0, v.shape[0], ROW_TILE):
        _fill_row_tile(first, v[i : i + ROW_TILE])
        _fill_row_tile(second, u[i : i + ROW_TILE])
        row_tile = row_tiles[(start + i) // ROW_TILE]
        for j in range(used.shape[0]):
            _add_products(sums[j, 0], first, row_tile[used[j]])
            _add_squares(sums[j, 1], second, row_tile[used[j]])


@helper
def _fill_row_tile(out, v):
    """Copy at most a row tile's values, with zeros behind them."""
    for k in range(v.shape[0]):
        out[k] = v[k]
    for k in range(v.shape[0], out.shape[0]):
        out[k] = 0.0


@inlined
def _add_products(sums, v, x):
    w, z = v[ROW_TILE_LANES:], x[ROW_TILE_LANES:]
    for k in range(sums.shape[0]):
        sums[k] += v[k] * x[k] + w[k] * z[k]


@inlined
def _add_squares(sums, u, x):
    w, z = u[ROW_TILE_LANES:], x[ROW_TILE_LANES:]
    for k in range(sums.shape[0]):
        sums[k] += u[k] * (x[k] * x[k]) + w[k] * (z[k] * z[k])


@helper
def fold_row_tile(lane):
    width = ROW_TILE_LANES // 2
    while width > 0:
        for k in range(width):
            lane[k] += lane[k + width]
        width //= 2
    return lane[0]


@helper
def unpack_column(out, row_tiles, start, j):
    """Rows start, start + 1, ... of column j, one after the other."""
    for i in range(0, out.shape[0], ROW_TILE):
        part, x = out[i : i + ROW_TILE], row_tiles[(start + i) // ROW_TILE, j]
        for k in range(part.shape[0]):
            part[k] = x[k]


@helper
def clear(values):
    """Set an array of two dimensions to zero."""
    for j in range(values.shape[0]):
        for k in range(values.shape[1]):
            values[j, k] = 0.0


# ---- the k largest of several values per row ----------------------------------------------


@helper
def insert_largest(top, value):
    """Insert value[i] into the descending values top[:, i]; ``value`` is used up."""
    for t in range(top.shape[0]):
        row = top[t]
        for i in range(value.shape[0]):
            above = row[i] if row[i] > value[i] else value[i]
            value[i] = value[i] if row[i] > value[i] else row[i]
            row[i] = above
