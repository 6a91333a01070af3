/* Scalar numerics of the logistic loss, written so that compilers vectorise them.
 *
 * Nothing here depends on the order in which a machine evaluates: the build forbids
 * fast-math and contraction, so every function gives the same bits everywhere.
 */
#ifndef RISKSLIM_NUMERICS_H
#define RISKSLIM_NUMERICS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER)
#define RS_RESTRICT __restrict
#define RS_INLINE static __forceinline
#else
#define RS_RESTRICT __restrict__
#define RS_INLINE static inline __attribute__((always_inline))
#endif

/* ---- sums in twice the working precision ------------------------------------- */

typedef struct {
    double high;
    double low;
} rs_sum;

/* Knuth's TwoSum: high + low stays the exact sum up to one rounding of low. */
RS_INLINE void rs_add(rs_sum *sum, double value)
{
    const double high = sum->high + value;
    const double part = high - sum->high;
    sum->low += (sum->high - (high - part)) + (value - part);
    sum->high = high;
}

/* Adds a * b; Dekker's product gives the rounding error of a * b without an fma. */
RS_INLINE void rs_add_product(rs_sum *sum, double a, double b)
{
    const double split = 134217729.0; /* 2^27 + 1 */
    const double p = a * b;
    const double ca = split * a, cb = split * b;
    const double a1 = ca - (ca - a), b1 = cb - (cb - b);
    const double a2 = a - a1, b2 = b - b1;
    rs_add(sum, p);
    sum->low += ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2;
}

/* ---- exp and log1p on the ranges that the loss needs -------------------------- */

RS_INLINE double rs_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

RS_INLINE uint64_t rs_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* exp(x) for x <= 0, error below 1 ulp where the result is a normal number.
 *
 * x = k ln 2 + r with |r| <= ln(2)/2; the Taylor polynomial of degree 13 leaves
 * r^14/14! < 2^-57. Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits.
 * The power of two is applied in two factors, so that results below 2^-1022 become
 * subnormal instead of wrapping around; below -746 the result is 0 in any case.
 */
RS_INLINE double rs_exp_nonpositive(double x)
{
    const double shift = 6755399441055744.0;
    const double ln2_high = 6.93147180369123816490e-01; /* 33 bits: k * ln2_high is exact */
    const double ln2_low = 1.90821492927058770002e-10;
    const double y = x < -746.0 ? -746.0 : x;
    const double k = (y * 1.44269504088896340736 + shift) - shift;
    const double r = (y - k * ln2_high) - k * ln2_low;
    const double k1 = k < -1000.0 ? -1000.0 : k;
    const double k2 = k - k1;
    const double scale1 = rs_from_bits((rs_bits(k1 + shift) << 52) + 0x3ff0000000000000u);
    const double scale2 = rs_from_bits((rs_bits(k2 + shift) << 52) + 0x3ff0000000000000u);
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    /* 1 + r rounds once; adding the tail last keeps the error below one ulp. */
    p = 1.0 + (r + r * r * p);
    return p * scale1 * scale2;
}

/* log(1 + t) for 0 <= t <= 1, error below 1 ulp (relative, also for tiny t).
 *
 * 1 + t = 2^k (1 + f) with -0.293 <= f <= 0.415; k = 1 above sqrt(2), where
 * f = (t - 1) / 2 holds without loss. With s = f / (2 + f):
 * log(1 + f) = 2 atanh(s) = f - (f^2/2 - s (f^2/2 + R)), R = 2 (s^2/3 + s^4/5 + ...),
 * |s| <= 0.172, so that the terms after s^20 are below 2^-56.
 */
RS_INLINE double rs_log1p_unit(double t)
{
    const double ln2_high = 6.93147180369123816490e-01;
    const double ln2_low = 1.90821492927058770002e-10;
    const int large = t > 0.41421356237309503;
    const double f = large ? 0.5 * (t - 1.0) : t;
    const double k = large ? 1.0 : 0.0;
    const double half = 0.5 * f * f;
    const double s = f / (2.0 + f);
    const double z = s * s;
    double p = 2.0 / 21.0;
    p = p * z + 2.0 / 19.0;
    p = p * z + 2.0 / 17.0;
    p = p * z + 2.0 / 15.0;
    p = p * z + 2.0 / 13.0;
    p = p * z + 2.0 / 11.0;
    p = p * z + 2.0 / 9.0;
    p = p * z + 2.0 / 7.0;
    p = p * z + 2.0 / 5.0;
    p = p * z + 2.0 / 3.0;
    p = p * z;
    return k * ln2_high - ((half - (s * (half + p) + k * ln2_low)) - f);
}

/* log(1 + exp(-margin)). The exponential is only ever taken of -|margin|: it cannot
 * overflow, and for large margins the result keeps its relative accuracy. */
RS_INLINE double rs_loss(double margin)
{
    const double tail = rs_log1p_unit(rs_exp_nonpositive(-fabs(margin)));
    return margin < 0.0 ? tail - margin : tail;
}

/* d/dmargin log(1 + exp(-margin)) = -1 / (1 + exp(margin)), relative accuracy kept. */
RS_INLINE double rs_slope(double margin)
{
    const double e = rs_exp_nonpositive(-fabs(margin));
    return -((margin < 0.0 ? 1.0 : e) / (1.0 + e));
}

#endif
