"""Products of odds: the counterpart of odds.h, which says what they are and why."""

from __future__ import annotations

import numpy as np

from riskslim._kernels.numba_backend.blocks import DIGIT_ROWS, LANES, log1p
from riskslim._kernels.numba_backend.compiled import helper, inlined

REACH = 170.0
BITS = 4
VALUES = 256
NARROW = 15
SLOPE_UNIT = 1.862645149230957e-09
CURVATURE_UNIT = 1.52587890625e-05

_SHIFT = 6755399441055744.0
_LN2 = 6.93147180559945286227e-01
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10


@inlined
def exp_moderate(x):
    shifted = x * 1.44269504088896340736 + _SHIFT
    k = shifted - _SHIFT
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
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
    p = 1.0 + (r + r * r * p)
    power = np.float64(shifted).view(np.int64) << 52
    return np.int64(np.float64(p).view(np.int64) + power).view(np.float64)


@helper
def of_scores(odds, s):
    for i in range(odds.shape[0]):
        x = -600.0 if s[i] < -600.0 else s[i]
        odds[i] = exp_moderate(-(600.0 if x > 600.0 else x))


@helper
def outside(odds, bottom, top):
    within = 0
    for i in range(odds.shape[0]):
        within += int(odds[i] >= bottom) & int(odds[i] <= top)
    return odds.shape[0] - within


# ---- factors of a step along a column -----------------------------------------------------


@helper
def times(out, odds, factor):
    for i in range(out.shape[0]):
        out[i] = odds[i] * factor


@helper
def times_bit(out, odds, x, first, factor):
    f, f1 = factor[0], factor[1]
    for i in range(out.shape[0]):
        moved = odds[i] * f
        moved *= f1 if (np.int64(x[i]) - first) & 1 else 1.0
        out[i] = moved


@helper
def times_bits(out, odds, x, first, factor):
    f, f1, f2, f4, f8 = factor[0], factor[1], factor[2], factor[3], factor[4]
    for i in range(out.shape[0]):
        value = np.int64(x[i]) - first
        moved = odds[i] * f
        moved *= f1 if value & 1 else 1.0
        moved *= f2 if value & 2 else 1.0
        moved *= f4 if value & 4 else 1.0
        moved *= f8 if value & 8 else 1.0
        out[i] = moved


@helper
def times_table(out, odds, x, first, factor):
    for i in range(out.shape[0]):
        out[i] = odds[i] * factor[np.int64(x[i]) - first]


@helper
def times_real(out, odds, x, step):
    for i in range(out.shape[0]):
        out[i] = odds[i] * exp_moderate(-(step * x[i]))


# ---- sums of log(1 + odds) ------------------------------------------------------------------


@inlined
def _normalise(lane, exponent):
    for k in range(LANES):
        bits = np.float64(lane[k]).view(np.int64)
        exponent[k] += (bits >> 52) - 1023
        lane[k] = np.int64((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000).view(np.float64)


@helper
def product_open(lane, exponent):
    for k in range(LANES):
        lane[k] = 1.0
        exponent[k] = 0


@helper
def product_extend(lane, exponent, odds):
    """Multiply the product in ``lane`` and ``exponent`` by 1 + odds of each row."""
    whole = odds.shape[0] // (4 * LANES) * (4 * LANES)
    for i in range(0, whole, 4 * LANES):
        part = odds[i : i + 4 * LANES]
        for k in range(LANES):
            value = lane[k]
            value *= 1.0 + part[k]
            value *= 1.0 + part[k + LANES]
            value *= 1.0 + part[k + 2 * LANES]
            value *= 1.0 + part[k + 3 * LANES]
            lane[k] = value
        _normalise(lane, exponent)
    for i in range(whole, odds.shape[0]):
        lane[(i - whole) % LANES] *= 1.0 + odds[i]
    _normalise(lane, exponent)


@helper
def product_log(lane, exponent):
    product, power = 1.0, 0.0
    for k in range(LANES):
        product *= lane[k]
        power += np.float64(exponent[k])
    return power * _LN2 + log1p(product - 1.0)


@helper
def logs(odds):
    for i in range(odds.shape[0]):
        odds[i] = log1p(odds[i])


# ---- derivatives ------------------------------------------------------------------------------


@helper
def slopes(out, odds, label):
    for i in range(out.shape[0]):
        out[i] = 1.0 / (1.0 + odds[i]) - (1.0 if label[i] > 0 else 0.0)


@helper
def digits(high, low, flat, slope, curvature):
    for i in range(slope.shape[0]):
        q = np.int32(slope[i] * 536870912.0)
        high[i] = np.int16(q >> 15)
        low[i] = np.int16(q & 32767)
        flat[i] = np.int16(np.int32(curvature[i] * 65536.0))


@helper
def dot_digits(high, low, flat, x):
    """Sums of slope times feature and of curvature times its square, in their units."""
    first = second = 0
    for begin in range(0, x.shape[0], DIGIT_ROWS):
        m = min(DIGIT_ROWS, x.shape[0] - begin)
        part, d0, d1, d2 = x[begin:], high[begin:], low[begin:], flat[begin:]
        a0 = a1 = a2 = np.int32(0)
        for i in range(m):
            w = np.int32(part[i])
            a0 = np.int32(a0 + np.int32(w * np.int32(d0[i])))
            a1 = np.int32(a1 + np.int32(w * np.int32(d1[i])))
            a2 = np.int32(a2 + np.int32(np.int32(w * w) * np.int32(d2[i])))
        first += np.int64(a0) * 32768 + np.int64(a1)
        second += np.int64(a2)
    return first, second


@helper
def negative(out, label):
    for i in range(out.shape[0]):
        out[i] = 1.0 if label[i] < 0 else 0.0
