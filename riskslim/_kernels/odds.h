/* Losses without exponential and logarithm of each row: products of odds.
 *
 * The odds w = exp(-score) of a row tell its loss, log(1 + w) for the positive class and
 * log(1 + w) + score for the negative one, and follow a step along a column by a factor that
 * depends on the feature's value alone. A sum of logarithms is the logarithm of a product.
 *
 * Neither is accurate enough to be a loss that is reported; both are to tell which candidates
 * cannot win. Scores are within RS_ODDS_REACH, also after the step: then a product of
 * four factors 1 + w and a number below 2 does not overflow (4 log2(1 + e^170) < 982).
 */
#ifndef RISKSLIM_ODDS_H
#define RISKSLIM_ODDS_H

#include "blocks.h"

#define RS_ODDS_REACH 170.0
#define RS_ODDS_BITS 4
#define RS_ODDS_VALUES 256
#define RS_ODDS_STRIP 128

/* exp(x) for |x| < 700, error below 1 ulp: rs_exp_nonpositive, where one power of two will do. */
RS_INLINE double rs_exp_moderate(double x)
{
    const double shift = 6755399441055744.0;
    const double ln2_high = 6.93147180369123816490e-01;
    const double ln2_low = 1.90821492927058770002e-10;
    const double shifted = x * 1.44269504088896340736 + shift;
    const double k = shifted - shift;
    const double r = (x - k * ln2_high) - k * ln2_low;
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
    p = 1.0 + (r + r * r * p);
    return rs_from_bits(rs_bits(p) + (rs_bits(shifted) << 52));
}

/* Odds of given scores; those of scores beyond +-600 are wrong, but out of reach, too. */
RS_KERNEL void rs_odds(double *RS_RESTRICT odds, const double *RS_RESTRICT s, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const double x = s[i] < -600.0 ? -600.0 : s[i];
        odds[i] = rs_exp_moderate(-(x > 600.0 ? 600.0 : x));
    }
}

/* Rows whose odds are not within bottom .. top, those of undefined odds included. */
RS_KERNEL int64_t rs_odds_outside(
    const double *RS_RESTRICT odds, double bottom, double top, ptrdiff_t n)
{
    int64_t within = 0;
    for (ptrdiff_t i = 0; i < n; i++) within += (odds[i] >= bottom) & (odds[i] <= top);
    return n - within;
}

/* ---- factors of a step along a column ------------------------------------------------- */

RS_KERNEL void rs_odds_all(
    double *RS_RESTRICT out, const double *RS_RESTRICT odds, double factor, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) out[i] = odds[i] * factor;
}

/* Odds times a factor for the value `first` and one for each bit of the difference from it.
 * Choosing up to four factors is quicker than reading a table. */
RS_INLINE void rs_odds_some_bits(
    double *RS_RESTRICT out, const double *RS_RESTRICT odds, const int8_t *RS_RESTRICT x,
    int64_t first, const double *RS_RESTRICT factor, const int bits, ptrdiff_t n)
{
    int64_t wide[RS_ODDS_STRIP]; /* as wide as what is chosen */
    for (ptrdiff_t begin = 0; begin < n; begin += RS_ODDS_STRIP) {
        const ptrdiff_t m = n - begin < RS_ODDS_STRIP ? n - begin : RS_ODDS_STRIP;
        rs_prefetch_next_block(x + begin, m);
        for (ptrdiff_t i = 0; i < m; i++) wide[i] = x[begin + i];
        for (ptrdiff_t i = 0; i < m; i++) {
            const int64_t value = wide[i] - first;
            double moved = odds[begin + i] * factor[0];
            moved *= value & 1 ? factor[1] : 1.0;
            if (bits > 1) moved *= value & 2 ? factor[2] : 1.0;
            if (bits > 1) moved *= value & 4 ? factor[3] : 1.0;
            if (bits > 1) moved *= value & 8 ? factor[4] : 1.0;
            out[begin + i] = moved;
        }
    }
}

RS_KERNEL void rs_odds_bit(
    double *RS_RESTRICT out, const double *RS_RESTRICT odds, const int8_t *RS_RESTRICT x,
    int64_t first, const double *RS_RESTRICT factor, ptrdiff_t n)
{
    const double local[2] = {factor[0], factor[1]};
    rs_odds_some_bits(out, odds, x, first, local, 1, n);
}

RS_KERNEL void rs_odds_bits(
    double *RS_RESTRICT out, const double *RS_RESTRICT odds, const int8_t *RS_RESTRICT x,
    int64_t first, const double *RS_RESTRICT factor, ptrdiff_t n)
{
    const double local[5] = {factor[0], factor[1], factor[2], factor[3], factor[4]};
    rs_odds_some_bits(out, odds, x, first, local, 4, n);
}

/* factor[k] belongs to the value first + k. */
RS_KERNEL void rs_odds_table(
    double *RS_RESTRICT out, const double *RS_RESTRICT odds, const int8_t *RS_RESTRICT x,
    int32_t first, const double *RS_RESTRICT factor, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) out[i] = odds[i] * factor[x[i] - first];
}

RS_KERNEL void rs_odds_real(
    double *RS_RESTRICT out, const double *RS_RESTRICT odds, const double *RS_RESTRICT x,
    double step, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) out[i] = odds[i] * rs_exp_moderate(-(step * x[i]));
}

/* ---- sums of log(1 + odds) ---------------------------------------------------------------- */

/* A product in partial products, each a number in [1, 2) and a power of two. */
typedef struct {
    double lane[RS_LANES];
    int64_t exponent[RS_LANES];
} rs_product;

RS_INLINE void rs_product_open(rs_product *product)
{
    for (int k = 0; k < RS_LANES; k++) {
        product->lane[k] = 1.0;
        product->exponent[k] = 0;
    }
}

RS_INLINE void rs_product_normalise(double *lane, int64_t *exponent)
{
    for (int k = 0; k < RS_LANES; k++) {
        const uint64_t bits = rs_bits(lane[k]);
        exponent[k] += (int64_t)(bits >> 52) - 1023;
        lane[k] = rs_from_bits((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
    }
}

/* Multiplies the product by 1 + odds of each row. */
RS_KERNEL void rs_product_extend(
    rs_product *RS_RESTRICT product, const double *RS_RESTRICT odds, ptrdiff_t n)
{
    double lane[RS_LANES];
    int64_t exponent[RS_LANES];
    ptrdiff_t i = 0;
    memcpy(lane, product->lane, sizeof lane);
    memcpy(exponent, product->exponent, sizeof exponent);
    for (; i + 4 * RS_LANES <= n; i += 4 * RS_LANES) {
        for (int part = 0; part < 4; part++)
            for (int k = 0; k < RS_LANES; k++) lane[k] *= 1.0 + odds[i + part * RS_LANES + k];
        rs_product_normalise(lane, exponent);
    }
    for (int k = 0; i < n; i++, k = (k + 1) % RS_LANES) lane[k] *= 1.0 + odds[i];
    rs_product_normalise(lane, exponent);
    memcpy(product->lane, lane, sizeof lane);
    memcpy(product->exponent, exponent, sizeof exponent);
}

/* Logarithm of the product. */
static inline double rs_product_log(const rs_product *product)
{
    double lane = 1.0, power = 0.0;
    for (int k = 0; k < RS_LANES; k++) {
        lane *= product->lane[k];
        power += (double)product->exponent[k];
    }
    return power * 6.93147180559945286227e-01 + rs_log1p(lane - 1.0);
}

/* log(1 + odds) of each row, in place. Beyond 2^52 rs_log1p is that of the odds themselves. */
RS_KERNEL void rs_log_odds(double *RS_RESTRICT odds, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) odds[i] = rs_log1p(odds[i]);
}

/* ---- derivatives ---------------------------------------------------------------------------- */

/* d loss / d score. */
RS_KERNEL void rs_odds_slopes(
    double *RS_RESTRICT slope, const double *RS_RESTRICT odds, const int8_t *RS_RESTRICT label,
    ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        slope[i] = 1.0 / (1.0 + odds[i]) - (label[i] > 0 ? 1.0 : 0.0);
}

/* Slopes in two digits of 15 bits, cut off below 2^-29, and curvatures cut off below 2^-16:
 * good enough for a bound, and their products with features of at most RS_ODDS_NARROW run in
 * 16-bit multiply-adds. Sums of RS_DIGIT_ROWS products fit into an int32, since a curvature
 * is at most 2^14 of its units, and 512 * 15^2 * 2^14 < 2^31. */
#define RS_ODDS_NARROW 15
#define RS_ODDS_SLOPE_UNIT 1.862645149230957e-09
#define RS_ODDS_CURVATURE_UNIT 1.52587890625e-05

RS_KERNEL void rs_odds_digits(
    int16_t *RS_RESTRICT high, int16_t *RS_RESTRICT low, int16_t *RS_RESTRICT flat,
    const double *RS_RESTRICT slope, const double *RS_RESTRICT curvature, ptrdiff_t n)
{
    int32_t q[RS_ODDS_STRIP], c[RS_ODDS_STRIP];
    for (ptrdiff_t begin = 0; begin < n; begin += RS_ODDS_STRIP) {
        const ptrdiff_t m = n - begin < RS_ODDS_STRIP ? n - begin : RS_ODDS_STRIP;
        for (ptrdiff_t i = 0; i < m; i++) q[i] = (int32_t)(slope[begin + i] * 536870912.0);
        for (ptrdiff_t i = 0; i < m; i++) c[i] = (int32_t)(curvature[begin + i] * 65536.0);
        for (ptrdiff_t i = 0; i < m; i++) high[begin + i] = (int16_t)(q[i] >> 15);
        for (ptrdiff_t i = 0; i < m; i++) low[begin + i] = (int16_t)(q[i] & 32767);
        for (ptrdiff_t i = 0; i < m; i++) flat[begin + i] = (int16_t)c[i];
    }
}

/* Sums of slope times feature and of curvature times its square, in their units. */
RS_KERNEL void rs_dot_odds_digits(
    int64_t *RS_RESTRICT sums, const int16_t *RS_RESTRICT high, const int16_t *RS_RESTRICT low,
    const int16_t *RS_RESTRICT flat, const int8_t *RS_RESTRICT x, ptrdiff_t n)
{
    int16_t wide[RS_DIGIT_ROWS], square[RS_DIGIT_ROWS];
    sums[0] = sums[1] = 0;
    for (ptrdiff_t begin = 0; begin < n; begin += RS_DIGIT_ROWS) {
        const ptrdiff_t m = n - begin < RS_DIGIT_ROWS ? n - begin : RS_DIGIT_ROWS;
        int32_t a0 = 0, a1 = 0, a2 = 0;
        rs_prefetch_next_block(x + begin, m);
        for (ptrdiff_t i = 0; i < m; i++) wide[i] = x[begin + i];
        for (ptrdiff_t i = 0; i < m; i++) square[i] = (int16_t)(wide[i] * wide[i]);
        for (ptrdiff_t i = 0; i < m; i++) {
            a0 += wide[i] * high[begin + i];
            a1 += wide[i] * low[begin + i];
            a2 += square[i] * flat[begin + i];
        }
        sums[0] += (int64_t)a0 * 32768 + a1;
        sums[1] += a2;
    }
}

/* 1 for rows of the negative class, 0 for the others. */
RS_KERNEL void rs_negative(double *RS_RESTRICT out, const int8_t *RS_RESTRICT label, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) out[i] = label[i] < 0 ? 1.0 : 0.0;
}

#endif
