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
 * x = k ln 2 + r with |r| <= ln(2)/2. exp(r) = 1 + r + r^2 p(r), where p is the polynomial of
 * degree 9 with the least relative error of exp(r), 2^-57. Adding 1.5 * 2^52 rounds to an
 * integer and leaves it in the low bits, from where it goes to the exponent. The power of two is
 * applied in two factors, so that results below 2^-1022 become subnormal instead of
 * wrapping around; below -746 the result is 0 in any case.
 */
RS_INLINE double rs_exp_nonpositive(double x)
{
    const double shift = 6755399441055744.0;
    const double ln2_high = 6.93147180369123816490e-01; /* 33 bits: k * ln2_high is exact */
    const double ln2_low = 1.90821492927058770002e-10;
    const double y = x < -746.0 ? -746.0 : x;
    const double shifted = y * 1.44269504088896340736 + shift;
    const double k = shifted - shift;
    const double r = (y - k * ln2_high) - k * ln2_low;
    const double first = shifted < shift - 1000.0 ? shift - 1000.0 : shifted;
    const uint64_t rest = rs_bits((shifted - first) + shift);
    double p = 2.5000056708160523e-08;
    p = p * r + 2.7630247990155085e-07;
    p = p * r + 2.755758638843295e-06;
    p = p * r + 2.480149310007098e-05;
    p = p * r + 0.0001984126950656571;
    p = p * r + 0.0013888888943628945;
    p = p * r + 0.008333333333494465;
    p = p * r + 0.04166666666653016;
    p = p * r + 0.16666666666666413;
    p = p * r + 0.5000000000000011;
    /* 1 + r rounds once; adding the tail last keeps the error below one ulp. */
    p = 1.0 + (r + r * r * p);
    return rs_from_bits(rs_bits(p) + (rs_bits(first) << 52))
         * rs_from_bits((rest << 52) + 0x3ff0000000000000u);
}

/* log(1 + t) for 0 <= t < 2^52, error below 1 ulp for t <= 1 (relative, also for tiny t).
 *
 * 1 + t = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2); the number that is added to the bits
 * carries into the exponent from sqrt(2) on. For k = 0, f = t holds without loss. With
 * s = f / (2 + f): log(1 + f) = 2 atanh(s) = f - (f^2/2 - s (f^2/2 + R)), R = s^2 p(s^2), |s| <=
 * 0.172, where p is the polynomial of degree 6 with the least relative error, 2^-59.
 */
RS_INLINE double rs_log1p(double t)
{
    const double ln2_high = 6.93147180369123816490e-01;
    const double ln2_low = 1.90821492927058770002e-10;
    const double u = 1.0 + t;
    const uint64_t bits = rs_bits(u) + 0x95f619980c433u;
    /* An integer in the low bits of 2^52 is that integer as a double, less 2^52. */
    const double k = rs_from_bits((bits >> 52) | 0x4330000000000000u) - 4503599627371519.0;
    const double scale = rs_from_bits(0x7fe0000000000000u - (bits & 0xfff0000000000000u));
    const double f = k > 0.0 ? u * scale - 1.0 : t;
    const double half = 0.5 * f * f;
    const double s = f / (2.0 + f);
    const double z = s * s;
    double p = 0.14796103418642567;
    p = p * z + 0.15314035998176853;
    p = p * z + 0.18183564862510312;
    p = p * z + 0.22222198563504947;
    p = p * z + 0.2857142874247555;
    p = p * z + 0.3999999999941431;
    p = p * z + 0.6666666666666734;
    p = p * z;
    return k * ln2_high - ((half - (s * (half + p) + k * ln2_low)) - f);
}

/* (1 + a) (1 + b) - 1: log(1 + a) + log(1 + b) from one logarithm. Nothing is subtracted, so
 * that small a and b keep their relative accuracy. */
RS_INLINE double rs_join(double a, double b)
{
    return (a + b) + a * b;
}

/* log(1 + exp(-margin)). The exponential is only ever taken of -|margin|: it cannot
 * overflow, and for large margins the result keeps its relative accuracy. */
RS_INLINE double rs_loss(double margin)
{
    const double tail = rs_log1p(rs_exp_nonpositive(-fabs(margin)));
    return margin < 0.0 ? tail - margin : tail;
}

/* d/dmargin log(1 + exp(-margin)) = -1 / (1 + exp(margin)), relative accuracy kept. */
RS_INLINE double rs_slope(double margin)
{
    const double e = rs_exp_nonpositive(-fabs(margin));
    return -((margin < 0.0 ? 1.0 : e) / (1.0 + e));
}

#endif
