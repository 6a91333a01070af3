/* Operations on one block of rows, small enough to stay in the first-level cache.
 *
 * Each function is one simple loop that the compiler vectorises. On x86-64 Linux every
 * function is compiled for AVX-512, AVX2 and the baseline, and the loader picks one.
 * All versions give the same bits: integers are exact, and floating-point sums run in
 * RS_LANES fixed partial sums whatever the width of the machine's vectors.
 */
#ifndef RISKSLIM_BLOCKS_H
#define RISKSLIM_BLOCKS_H

#include <stddef.h>
#include "numerics.h"

#define RS_BLOCK 2048

/* Whether work is to end: stop[0] is positive, which another thread may make it at any time, or
 * negative and counted up to 0 by this and earlier looks. */
RS_INLINE int rs_stopped(int64_t *stop)
{
    int64_t now = *(volatile int64_t *)stop;
    if (now < 0) {
        *stop = now == -1 ? 1 : now + 1;
        return now == -1;
    }
    return now != 0;
}

/* Floating-point sums run in 32 partial sums, histograms in 4 copies: enough to keep a
 * machine busy while it waits for the previous addition to the same place. */
#define RS_LANES 32
#define RS_COPIES 4

/* Not every module uses every function. Clang allows no other attribute beside target_clones. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GLIBC__) \
    && (defined(__clang__) ? __clang_major__ >= 17 : __GNUC__ >= 12)
#define RS_CLONES target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")
#endif

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunused-function"
#endif

#if defined(RS_CLONES) && defined(__clang__)
#define RS_KERNEL __attribute__((RS_CLONES)) static
#elif defined(RS_CLONES)
#define RS_KERNEL __attribute__((noinline, unused, RS_CLONES)) static
#elif defined(__GNUC__)
#define RS_KERNEL __attribute__((noinline, unused)) static
#else
#define RS_KERNEL static
#endif

/* Columns are read one block at a time, too short a stretch for hardware prefetchers: the
 * same rows of the next block are requested while those of the present one are computed.
 * A request beyond the end of the data is harmless. */
RS_INLINE void rs_prefetch_next_block(const void *address, ptrdiff_t bytes)
{
#if defined(__GNUC__)
    const uintptr_t next = (uintptr_t)address + RS_BLOCK;
    for (ptrdiff_t k = 0; k < bytes; k += 64) __builtin_prefetch((const void *)(next + k), 0, 2);
#else
    (void)address;
    (void)bytes;
#endif
}

RS_INLINE ptrdiff_t rs_n_blocks(ptrdiff_t n)
{
    return (n + RS_BLOCK - 1) / RS_BLOCK;
}

/* ---- scores ------------------------------------------------------------------- */

RS_KERNEL void rs_fill_i32(int32_t *RS_RESTRICT s, int32_t value, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) s[i] = value;
}

RS_KERNEL void rs_add_column_i32(
    int32_t *RS_RESTRICT s, const int8_t *RS_RESTRICT x, int32_t c, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) s[i] += c * (int32_t)x[i];
}

RS_KERNEL void rs_fill_f64(double *RS_RESTRICT s, double value, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) s[i] = value;
}

/* Compilers turn int8 into double well only by way of int32, in a loop of its own. */
#define RS_STRIP 256

RS_INLINE void rs_widen_i32(int32_t *RS_RESTRICT wide, const int8_t *RS_RESTRICT x, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) wide[i] = x[i];
}

RS_KERNEL void rs_add_column_i8(
    double *RS_RESTRICT s, const int8_t *RS_RESTRICT x, double c, ptrdiff_t n)
{
    int32_t wide[RS_STRIP];
    for (ptrdiff_t begin = 0; begin < n; begin += RS_STRIP) {
        const ptrdiff_t m = n - begin < RS_STRIP ? n - begin : RS_STRIP;
        rs_widen_i32(wide, x + begin, m);
        for (ptrdiff_t i = 0; i < m; i++) s[begin + i] += c * (double)wide[i];
    }
}

RS_KERNEL void rs_add_4_columns_i8(
    double *RS_RESTRICT s,
    const int8_t *RS_RESTRICT x0, const int8_t *RS_RESTRICT x1,
    const int8_t *RS_RESTRICT x2, const int8_t *RS_RESTRICT x3,
    double c0, double c1, double c2, double c3, ptrdiff_t n)
{
    int32_t w0[RS_STRIP], w1[RS_STRIP], w2[RS_STRIP], w3[RS_STRIP];
    for (ptrdiff_t begin = 0; begin < n; begin += RS_STRIP) {
        const ptrdiff_t m = n - begin < RS_STRIP ? n - begin : RS_STRIP;
        rs_widen_i32(w0, x0 + begin, m);
        rs_widen_i32(w1, x1 + begin, m);
        rs_widen_i32(w2, x2 + begin, m);
        rs_widen_i32(w3, x3 + begin, m);
        for (ptrdiff_t i = 0; i < m; i++)
            s[begin + i] += (c0 * (double)w0[i] + c1 * (double)w1[i])
                          + (c2 * (double)w2[i] + c3 * (double)w3[i]);
    }
}

RS_KERNEL void rs_add_column_f64(
    double *RS_RESTRICT s, const double *RS_RESTRICT x, double c, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) s[i] += c * x[i];
}

/* ---- 16-bit positions --------------------------------------------------------------- */

/* Scores less the lowest one lie in 0..65535. Sums on the way there may leave that range:
 * unsigned arithmetic brings them back. */
RS_KERNEL void rs_fill_u16(uint16_t *RS_RESTRICT s, uint16_t value, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) s[i] = value;
}

RS_KERNEL void rs_add_column_u16(
    uint16_t *RS_RESTRICT s, const int8_t *RS_RESTRICT x, int16_t c, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) s[i] += (uint16_t)(c * x[i]);
}

RS_KERNEL void rs_add_4_columns_u16(
    uint16_t *RS_RESTRICT s,
    const int8_t *RS_RESTRICT x0, const int8_t *RS_RESTRICT x1,
    const int8_t *RS_RESTRICT x2, const int8_t *RS_RESTRICT x3,
    int16_t c0, int16_t c1, int16_t c2, int16_t c3, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        s[i] += (uint16_t)(c0 * x0[i] + c1 * x1[i] + c2 * x2[i] + c3 * x3[i]);
}

/* Rows of the positive class are found `width` positions further on. */
RS_KERNEL void rs_split_classes_u16(
    uint16_t *RS_RESTRICT s, const int8_t *RS_RESTRICT label, uint16_t width, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) s[i] += (uint16_t)(label[i] > 0 ? width : 0);
}

/* Positions of given scores; returns how many of them lie outside of low .. low + width - 1. */
RS_KERNEL int32_t rs_given_positions_u16(
    uint16_t *RS_RESTRICT position, const int32_t *RS_RESTRICT s,
    const int8_t *RS_RESTRICT label, int32_t low, int32_t width, ptrdiff_t n)
{
    int32_t outside = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint32_t p = (uint32_t)s[i] - (uint32_t)low;
        outside += p >= (uint32_t)width;
        position[i] = (uint16_t)(p + (label[i] > 0 ? (uint32_t)width : 0));
    }
    return outside;
}

/* Row i counts in copy i mod RS_COPIES; the copies are `length` apart. */
static inline void rs_count_u16(
    int64_t *RS_RESTRICT counts, ptrdiff_t length, const uint16_t *RS_RESTRICT s, ptrdiff_t n)
{
    int64_t *RS_RESTRICT copy1 = counts + length;
    int64_t *RS_RESTRICT copy2 = copy1 + length;
    int64_t *RS_RESTRICT copy3 = copy2 + length;
    ptrdiff_t i = 0;
    for (; i + RS_COPIES <= n; i += RS_COPIES) {
        counts[s[i]]++;
        copy1[s[i + 1]]++;
        copy2[s[i + 2]]++;
        copy3[s[i + 3]]++;
    }
    for (; i < n; i++) counts[s[i]]++;
}

/* ---- slopes in fixed point ---------------------------------------------------------- */

/* A slope in [-1, 1] is the integer q nearest to slope * 2^46, written in three balanced
 * digits of base 65535: q = d0 + 65535 d1 + 65535^2 d2, |d| <= 32767. Sums of digit times
 * feature are exact, whatever their order, and run in 16-bit multiply-adds:
 * |d x| <= 32767 * 128, so that RS_DIGIT_ROWS products fit into an int32.
 * The error of a slope is 2^-47. */
#define RS_DIGIT_ROWS 512
#define RS_DIGIT_BASE 65535
#define RS_DIGIT_SCALE 70368744177664.0

RS_INLINE int64_t rs_fixed_point(double slope)
{
    const double scaled = slope * RS_DIGIT_SCALE;
    return (int64_t)(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
}

RS_INLINE uint64_t rs_pack_digits(double slope)
{
    int64_t q = rs_fixed_point(slope);
    uint64_t packed = 0;
    for (int k = 0; k < 3; k++) {
        int64_t digit = q % RS_DIGIT_BASE;
        if (digit > RS_DIGIT_BASE / 2) digit -= RS_DIGIT_BASE;
        if (digit < -(RS_DIGIT_BASE / 2)) digit += RS_DIGIT_BASE;
        q = (q - digit) / RS_DIGIT_BASE;
        packed |= (uint64_t)(uint16_t)digit << (16 * k);
    }
    return packed;
}

static inline void rs_lookup_u64(
    uint64_t *RS_RESTRICT out, const uint64_t *RS_RESTRICT table,
    const uint16_t *RS_RESTRICT s, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) out[i] = table[s[i]];
}

RS_KERNEL void rs_split_digits(
    int16_t *RS_RESTRICT d0, int16_t *RS_RESTRICT d1, int16_t *RS_RESTRICT d2,
    const uint64_t *RS_RESTRICT packed, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) d0[i] = (int16_t)packed[i];
    for (ptrdiff_t i = 0; i < n; i++) d1[i] = (int16_t)(packed[i] >> 16);
    for (ptrdiff_t i = 0; i < n; i++) d2[i] = (int16_t)(packed[i] >> 32);
}

/* Adds the sums of digit times feature to sums[0..2]. */
RS_KERNEL void rs_dot_digits(
    int64_t *RS_RESTRICT sums, const int16_t *RS_RESTRICT d0, const int16_t *RS_RESTRICT d1,
    const int16_t *RS_RESTRICT d2, const int8_t *RS_RESTRICT x, ptrdiff_t n)
{
    int16_t wide[RS_DIGIT_ROWS];
    for (ptrdiff_t begin = 0; begin < n; begin += RS_DIGIT_ROWS) {
        const ptrdiff_t m = n - begin < RS_DIGIT_ROWS ? n - begin : RS_DIGIT_ROWS;
        int32_t a0 = 0, a1 = 0, a2 = 0;
        rs_prefetch_next_block(x + begin, m);
        /* 16-bit factors in one loop are what compilers recognise as multiply-add. */
        for (ptrdiff_t i = 0; i < m; i++) wide[i] = x[begin + i];
        for (ptrdiff_t i = 0; i < m; i++) {
            a0 += wide[i] * d0[begin + i];
            a1 += wide[i] * d1[begin + i];
            a2 += wide[i] * d2[begin + i];
        }
        sums[0] += a0;
        sums[1] += a1;
        sums[2] += a2;
    }
}

/* ---- rows that stand for several -------------------------------------------------- */

/* Slopes in fixed point are integers |q| <= 2^46. Times the number of a row's
 * copies, below 2^16, they stay below 2^62 and are written in four digits of base 2^16, the
 * lower three in [-2^15, 2^15). RS_NUMBER_ROWS products fit into an int32. */
#define RS_NUMBER_ROWS 256

static inline void rs_count_numbers(
    int64_t *RS_RESTRICT counts, const uint16_t *RS_RESTRICT number,
    const uint16_t *RS_RESTRICT s, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) counts[s[i]] += number[i];
}

RS_KERNEL void rs_split_products(
    int16_t *RS_RESTRICT d0, int16_t *RS_RESTRICT d1, int16_t *RS_RESTRICT d2,
    int16_t *RS_RESTRICT d3, uint64_t *RS_RESTRICT q, const uint16_t *RS_RESTRICT number,
    ptrdiff_t n)
{
    const uint64_t half = 0x8000, halves = 0x800080008000;
    /* With half of the base added the lower digits are not negative: nothing is borrowed. */
    for (ptrdiff_t i = 0; i < n; i++) q[i] = q[i] * number[i] + halves;
    for (ptrdiff_t i = 0; i < n; i++) d0[i] = (int16_t)(uint16_t)(q[i] ^ half);
    for (ptrdiff_t i = 0; i < n; i++) d1[i] = (int16_t)(uint16_t)((q[i] >> 16) ^ half);
    for (ptrdiff_t i = 0; i < n; i++) d2[i] = (int16_t)(uint16_t)((q[i] >> 32) ^ half);
    for (ptrdiff_t i = 0; i < n; i++) d3[i] = (int16_t)(uint16_t)(q[i] >> 48);
}

/* Adds the sums of digit times feature to sums[0..3]. */
RS_KERNEL void rs_dot_products(
    int64_t *RS_RESTRICT sums, const int16_t *RS_RESTRICT d0, const int16_t *RS_RESTRICT d1,
    const int16_t *RS_RESTRICT d2, const int16_t *RS_RESTRICT d3,
    const int8_t *RS_RESTRICT x, ptrdiff_t n)
{
    int16_t wide[RS_NUMBER_ROWS];
    for (ptrdiff_t begin = 0; begin < n; begin += RS_NUMBER_ROWS) {
        const ptrdiff_t m = n - begin < RS_NUMBER_ROWS ? n - begin : RS_NUMBER_ROWS;
        int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0;
        rs_prefetch_next_block(x + begin, m);
        for (ptrdiff_t i = 0; i < m; i++) wide[i] = x[begin + i];
        for (ptrdiff_t i = 0; i < m; i++) {
            a0 += wide[i] * d0[begin + i];
            a1 += wide[i] * d1[begin + i];
            a2 += wide[i] * d2[begin + i];
            a3 += wide[i] * d3[begin + i];
        }
        sums[0] += a0;
        sums[1] += a1;
        sums[2] += a2;
        sums[3] += a3;
    }
}

/* ---- histograms of table positions -------------------------------------------- */

/* position = score - low, and further on by `width` for rows of the positive class. */
RS_KERNEL void rs_positions(
    int32_t *RS_RESTRICT position, const int8_t *RS_RESTRICT label,
    int32_t low, int32_t width, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        position[i] += (label[i] > 0 ? width : 0) - low;
}

static inline void rs_count(
    int64_t *RS_RESTRICT counts, const int32_t *RS_RESTRICT position, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) counts[position[i]]++;
}

/* Weights are summed with their rounding errors kept, in the order of the rows. */
static inline void rs_count_weights(
    rs_sum *RS_RESTRICT sums, const double *RS_RESTRICT weight,
    const int32_t *RS_RESTRICT position, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) rs_add(sums + position[i], weight[i]);
}

static inline void rs_lookup(
    double *RS_RESTRICT out, const double *RS_RESTRICT table,
    const int32_t *RS_RESTRICT position, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) out[i] = table[position[i]];
}

/* Positions of given scores; returns how many of them lie outside of low .. low + width - 1. */
RS_KERNEL int32_t rs_given_positions(
    int32_t *RS_RESTRICT position, const int32_t *RS_RESTRICT s,
    const int8_t *RS_RESTRICT label, int32_t low, int32_t width, ptrdiff_t n)
{
    int32_t outside = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint32_t p = (uint32_t)s[i] - (uint32_t)low;
        outside += p >= (uint32_t)width;
        position[i] = (int32_t)(p + (label[i] > 0 ? (uint32_t)width : 0));
    }
    return outside;
}

/* ---- lines: scores moved along one column ---------------------------------------- */

RS_KERNEL void rs_add_column_positions(
    int32_t *RS_RESTRICT position, const int8_t *RS_RESTRICT x, int32_t step, int32_t shift,
    ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) position[i] += step * (int32_t)x[i] + shift;
}

/* Cell of the joint histogram (feature value x position), `stride` positions per value. */
RS_KERNEL void rs_joint_cells(
    int32_t *RS_RESTRICT cell, const int32_t *RS_RESTRICT position,
    const int8_t *RS_RESTRICT x, int32_t first, int32_t stride, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        cell[i] = ((int32_t)x[i] - first) * stride + position[i];
}

static inline void rs_add_weights(
    double *RS_RESTRICT mass, const double *RS_RESTRICT weight,
    const int32_t *RS_RESTRICT cell, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) mass[cell[i]] += weight[i];
}

/* Scores after a step along a column, left in `out`. */
RS_KERNEL void rs_line_i8(
    double *RS_RESTRICT out, const double *RS_RESTRICT s, const int8_t *RS_RESTRICT x,
    double step, double shift, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) out[i] = s[i] + (step * (double)x[i] + shift);
}

RS_KERNEL void rs_line_f64(
    double *RS_RESTRICT out, const double *RS_RESTRICT s, const double *RS_RESTRICT x,
    double step, double shift, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) out[i] = s[i] + (step * x[i] + shift);
}

/* ---- curvature of real-valued scores ------------------------------------------- */

/* Second derivative of the loss by the score, from the first one: |slope| (1 - |slope|). */
RS_KERNEL void rs_curvatures(
    double *RS_RESTRICT curvature, const double *RS_RESTRICT slope, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        curvature[i] = fabs(slope[i]) * (1.0 - fabs(slope[i]));
}

/* The same from the score: with e = exp(-|s|) it is e / (1 + e)^2, relative accuracy kept. */
RS_KERNEL void rs_score_curvatures(
    double *RS_RESTRICT curvature, const double *RS_RESTRICT s, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const double e = rs_exp_nonpositive(-fabs(s[i]));
        curvature[i] = e / ((1.0 + e) * (1.0 + e));
    }
}

/* Loss, d loss / d score and second derivative of each row, from one exponential: a row may have
 * weights of both classes. Every term is at least zero, so that losses keep their relative
 * accuracy. */
RS_KERNEL void rs_class_losses(
    double *RS_RESTRICT loss, double *RS_RESTRICT slope, double *RS_RESTRICT curvature,
    const double *RS_RESTRICT s, const double *RS_RESTRICT positive,
    const double *RS_RESTRICT negative, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const double e = rs_exp_nonpositive(-fabs(s[i]));
        const double q = 1.0 / (1.0 + e);
        const double wrong = s[i] > 0.0 ? negative[i] : positive[i];
        const double right = s[i] > 0.0 ? positive[i] : negative[i];
        const double slope_size = q * (wrong - right * e);
        loss[i] = (wrong + right) * rs_log1p(e) + wrong * fabs(s[i]);
        slope[i] = s[i] > 0.0 ? slope_size : -slope_size;
        curvature[i] = (wrong + right) * (e * q * q);
    }
}

RS_KERNEL void rs_multiply(
    double *RS_RESTRICT v, const double *RS_RESTRICT weight, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) v[i] *= weight[i];
}

/* ---- sums and dot products in fixed lanes --------------------------------------- */

/* The lanes are added in pairs; n is a multiple of RS_LANES in all blocks but the last. */
RS_INLINE double rs_fold(double *lane)
{
    for (int width = RS_LANES / 2; width > 0; width /= 2)
        for (int k = 0; k < width; k++) lane[k] += lane[k + width];
    return lane[0];
}

RS_KERNEL double rs_total(const double *RS_RESTRICT v, ptrdiff_t n)
{
    double lane[RS_LANES] = {0};
    ptrdiff_t i = 0;
    for (; i + RS_LANES <= n; i += RS_LANES)
        for (int k = 0; k < RS_LANES; k++) lane[k] += v[i + k];
    for (int k = 0; i < n; i++, k++) lane[k] += v[i];
    return rs_fold(lane);
}

RS_KERNEL double rs_dot_i8(
    const double *RS_RESTRICT v, const int8_t *RS_RESTRICT x, ptrdiff_t n)
{
    double lane[RS_LANES] = {0};
    int32_t wide[RS_STRIP];
    ptrdiff_t begin = 0;
    for (; begin + RS_STRIP <= n; begin += RS_STRIP) {
        rs_prefetch_next_block(x + begin, RS_STRIP);
        rs_widen_i32(wide, x + begin, RS_STRIP);
        for (ptrdiff_t i = 0; i < RS_STRIP; i += RS_LANES)
            for (int k = 0; k < RS_LANES; k++)
                lane[k] += v[begin + i + k] * (double)wide[i + k];
    }
    for (int k = 0; begin < n; begin++, k = (k + 1) % RS_LANES)
        lane[k] += v[begin] * (double)x[begin];
    return rs_fold(lane);
}

RS_KERNEL double rs_dot_f64(
    const double *RS_RESTRICT v, const double *RS_RESTRICT x, ptrdiff_t n)
{
    double lane[RS_LANES] = {0};
    ptrdiff_t i = 0;
    for (; i + RS_LANES <= n; i += RS_LANES)
        for (int k = 0; k < RS_LANES; k++) lane[k] += v[i + k] * x[i + k];
    for (int k = 0; i < n; i++, k++) lane[k] += v[i] * x[i];
    return rs_fold(lane);
}

/* Sum of weight times table entry. */
RS_KERNEL double rs_dot_table(
    const double *RS_RESTRICT weight, const double *RS_RESTRICT table,
    const int32_t *RS_RESTRICT position, ptrdiff_t n)
{
    double lane[RS_LANES] = {0};
    ptrdiff_t i = 0;
    for (; i + RS_LANES <= n; i += RS_LANES)
        for (int k = 0; k < RS_LANES; k++) lane[k] += weight[i + k] * table[position[i + k]];
    for (int k = 0; i < n; i++, k++) lane[k] += weight[i] * table[position[i]];
    return rs_fold(lane);
}

/* Sum of v x^2. */
RS_KERNEL double rs_dot_square_i8(
    const double *RS_RESTRICT v, const int8_t *RS_RESTRICT x, ptrdiff_t n)
{
    double lane[RS_LANES] = {0};
    int32_t square[RS_STRIP];
    ptrdiff_t begin = 0;
    for (; begin + RS_STRIP <= n; begin += RS_STRIP) {
        for (ptrdiff_t i = 0; i < RS_STRIP; i++) {
            const int32_t wide = x[begin + i];
            square[i] = wide * wide;
        }
        for (ptrdiff_t i = 0; i < RS_STRIP; i += RS_LANES)
            for (int k = 0; k < RS_LANES; k++)
                lane[k] += v[begin + i + k] * (double)square[i + k];
    }
    for (int k = 0; begin < n; begin++, k = (k + 1) % RS_LANES)
        lane[k] += v[begin] * ((double)x[begin] * (double)x[begin]);
    return rs_fold(lane);
}

/* ---- losses of real-valued scores, summed ---------------------------------------- */

/* Rows come in strips of RS_STRIP. A loss is log(1 + tail) + hinge with tail = exp(-|margin|) and
 * hinge = max(-margin, 0). Eight rows of a strip share one logarithm (rs_join), unless
 * they have weights; rows that are missing in the last strip have tail and hinge zero. */
typedef struct {
    double tail[RS_STRIP];
    double hinge[RS_STRIP];
} rs_strip;

/* n <= RS_STRIP rows of scores s. */
RS_INLINE void rs_read_rows(
    double *RS_RESTRICT tail, double *RS_RESTRICT hinge, const double *RS_RESTRICT s,
    const int8_t *RS_RESTRICT label, ptrdiff_t n)
{
    int32_t wide[RS_STRIP];
    rs_widen_i32(wide, label, n);
    for (ptrdiff_t i = 0; i < n; i++) {
        const double margin = s[i] * (double)wide[i];
        tail[i] = rs_exp_nonpositive(-fabs(margin));
        hinge[i] = margin < 0.0 ? -margin : 0.0;
    }
}

/* The same, and d loss / d score of each row from the same exponential. */
RS_INLINE void rs_read_rows_and_slopes(
    double *RS_RESTRICT tail, double *RS_RESTRICT hinge, double *RS_RESTRICT slope,
    const double *RS_RESTRICT s, const int8_t *RS_RESTRICT label, ptrdiff_t n)
{
    int32_t wide[RS_STRIP];
    rs_widen_i32(wide, label, n);
    for (ptrdiff_t i = 0; i < n; i++) {
        const double y = (double)wide[i];
        const double margin = s[i] * y;
        const double e = rs_exp_nonpositive(-fabs(margin));
        tail[i] = e;
        hinge[i] = margin < 0.0 ? -margin : 0.0;
        slope[i] = -y * ((margin < 0.0 ? 1.0 : e) / (1.0 + e));
    }
}

RS_INLINE void rs_add_strip(double *RS_RESTRICT lane, const rs_strip *RS_RESTRICT strip)
{
    const double *RS_RESTRICT t = strip->tail, *RS_RESTRICT h = strip->hinge;
    for (int k = 0; k < RS_LANES; k++) {
        const double t0 = rs_join(t[k], t[k + RS_LANES]);
        const double t2 = rs_join(t[k + 2 * RS_LANES], t[k + 3 * RS_LANES]);
        const double t4 = rs_join(t[k + 4 * RS_LANES], t[k + 5 * RS_LANES]);
        const double t6 = rs_join(t[k + 6 * RS_LANES], t[k + 7 * RS_LANES]);
        const double h0 = (h[k] + h[k + RS_LANES]) + (h[k + 2 * RS_LANES] + h[k + 3 * RS_LANES]);
        const double h4 = (h[k + 4 * RS_LANES] + h[k + 5 * RS_LANES])
                        + (h[k + 6 * RS_LANES] + h[k + 7 * RS_LANES]);
        lane[k] += rs_log1p(rs_join(rs_join(t0, t2), rs_join(t4, t6))) + (h0 + h4);
    }
}

RS_INLINE void rs_add_weighted_strip(
    double *RS_RESTRICT lane, const rs_strip *RS_RESTRICT strip,
    const double *RS_RESTRICT weight, ptrdiff_t n)
{
    double loss[RS_STRIP];
    for (ptrdiff_t i = 0; i < n; i++)
        loss[i] = weight[i] * (rs_log1p(strip->tail[i]) + strip->hinge[i]);
    for (ptrdiff_t i = n; i < RS_STRIP; i++) loss[i] = 0.0;
    for (ptrdiff_t i = 0; i < RS_STRIP; i += RS_LANES)
        for (int k = 0; k < RS_LANES; k++) lane[k] += loss[i + k];
}

/* Adds the losses of a strip, n rows of which have been read. */
RS_INLINE void rs_add_losses(
    double *RS_RESTRICT lane, rs_strip *RS_RESTRICT strip, const double *RS_RESTRICT weight,
    ptrdiff_t n)
{
    for (ptrdiff_t i = n; i < RS_STRIP; i++) strip->tail[i] = strip->hinge[i] = 0.0;
    if (weight) rs_add_weighted_strip(lane, strip, weight, n);
    else rs_add_strip(lane, strip);
}

/* Sum of the losses of rows with scores s, without weights (NULL) or with them. */
RS_KERNEL double rs_sum_losses(
    const double *RS_RESTRICT s, const int8_t *RS_RESTRICT label,
    const double *RS_RESTRICT weight, ptrdiff_t n)
{
    rs_strip strip;
    double lane[RS_LANES] = {0};
    for (ptrdiff_t begin = 0; begin < n; begin += RS_STRIP) {
        const ptrdiff_t m = n - begin < RS_STRIP ? n - begin : RS_STRIP;
        rs_read_rows(strip.tail, strip.hinge, s + begin, label + begin, m);
        rs_add_losses(lane, &strip, weight ? weight + begin : NULL, m);
    }
    return rs_fold(lane);
}

/* The same; leaves d loss / d score of each row, without its weight, in `slope`. */
RS_KERNEL double rs_sum_losses_and_slopes(
    double *RS_RESTRICT slope, const double *RS_RESTRICT s, const int8_t *RS_RESTRICT label,
    const double *RS_RESTRICT weight, ptrdiff_t n)
{
    rs_strip strip;
    double lane[RS_LANES] = {0};
    for (ptrdiff_t begin = 0; begin < n; begin += RS_STRIP) {
        const ptrdiff_t m = n - begin < RS_STRIP ? n - begin : RS_STRIP;
        rs_read_rows_and_slopes(strip.tail, strip.hinge, slope + begin, s + begin,
                                label + begin, m);
        rs_add_losses(lane, &strip, weight ? weight + begin : NULL, m);
    }
    return rs_fold(lane);
}

/* ---- Gram matrices ------------------------------------------------------------------ */

/* Rows of a tile that holds all columns as float64, one after the other; the rows that are
 * left over at the end are zero. */
#define RS_TILE 256
#define RS_TILE_LANES 8

RS_KERNEL void rs_tile_i8(double *RS_RESTRICT z, const int8_t *RS_RESTRICT x, ptrdiff_t n)
{
    int32_t wide[RS_TILE];
    rs_widen_i32(wide, x, n);
    for (ptrdiff_t i = 0; i < n; i++) z[i] = (double)wide[i];
}

RS_KERNEL void rs_tile_product(
    double *RS_RESTRICT out, const double *RS_RESTRICT a, const double *RS_RESTRICT b)
{
    for (ptrdiff_t i = 0; i < RS_TILE; i++) out[i] = a[i] * b[i];
}

/* Adds the products of two columns v with four columns z to eight times RS_TILE_LANES sums. */
RS_KERNEL void rs_add_tile_products(
    double *RS_RESTRICT sums, const double *RS_RESTRICT v, const double *RS_RESTRICT z)
{
    double a[8][RS_TILE_LANES];
    memcpy(a, sums, sizeof a);
    for (ptrdiff_t i = 0; i < RS_TILE; i += RS_TILE_LANES)
        for (int k = 0; k < RS_TILE_LANES; k++) {
            const double v0 = v[i + k], v1 = v[RS_TILE + i + k];
            const double z0 = z[i + k], z1 = z[RS_TILE + i + k];
            const double z2 = z[2 * RS_TILE + i + k], z3 = z[3 * RS_TILE + i + k];
            a[0][k] += v0 * z0;
            a[1][k] += v0 * z1;
            a[2][k] += v0 * z2;
            a[3][k] += v0 * z3;
            a[4][k] += v1 * z0;
            a[5][k] += v1 * z1;
            a[6][k] += v1 * z2;
            a[7][k] += v1 * z3;
        }
    memcpy(sums, a, sizeof a);
}

/* ---- the k largest of several values per row ------------------------------------ */

/* `top` holds k descending values for each of n rows (top[t * n + i]); inserts value[i]. */
RS_KERNEL void rs_insert_largest(
    double *RS_RESTRICT top, double *RS_RESTRICT value, ptrdiff_t k, ptrdiff_t n)
{
    for (ptrdiff_t t = 0; t < k; t++) {
        double *RS_RESTRICT row = top + t * n;
        for (ptrdiff_t i = 0; i < n; i++) {
            const double above = row[i] > value[i] ? row[i] : value[i];
            value[i] = row[i] > value[i] ? value[i] : row[i];
            row[i] = above;
        }
    }
}

#endif
