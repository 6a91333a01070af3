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
#define RS_LANES 8

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GLIBC__) && defined(__GNUC__) \
    && !defined(__clang__) && __GNUC__ >= 12
#define RS_KERNEL \
    __attribute__((noinline, unused, target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"))) \
    static
#elif defined(__GNUC__)
#define RS_KERNEL __attribute__((noinline, unused)) static
#else
#define RS_KERNEL static
#endif

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

RS_KERNEL void rs_add_column_i8(
    double *RS_RESTRICT s, const int8_t *RS_RESTRICT x, double c, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) s[i] += c * (double)x[i];
}

RS_KERNEL void rs_add_column_f64(
    double *RS_RESTRICT s, const double *RS_RESTRICT x, double c, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) s[i] += c * x[i];
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
    double *RS_RESTRICT high, double *RS_RESTRICT low, const double *RS_RESTRICT weight,
    const int32_t *RS_RESTRICT position, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const int32_t k = position[i];
        rs_sum sum = {high[k], low[k]};
        rs_add(&sum, weight[i]);
        high[k] = sum.high;
        low[k] = sum.low;
    }
}

static inline void rs_lookup(
    double *RS_RESTRICT out, const double *RS_RESTRICT table,
    const int32_t *RS_RESTRICT position, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) out[i] = table[position[i]];
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

/* ---- loss and slope of real-valued scores -------------------------------------- */

RS_KERNEL void rs_losses(
    double *RS_RESTRICT out, const double *RS_RESTRICT s, const int8_t *RS_RESTRICT label,
    ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) out[i] = rs_loss(s[i] * (double)label[i]);
}

/* Loss and d loss / d score of each row, from one exponential. */
RS_KERNEL void rs_losses_and_slopes(
    double *RS_RESTRICT out, double *RS_RESTRICT slope, const double *RS_RESTRICT s,
    const int8_t *RS_RESTRICT label, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const double y = (double)label[i];
        const double margin = s[i] * y;
        const double e = rs_exp_nonpositive(-fabs(margin));
        const double tail = rs_log1p_unit(e);
        out[i] = margin < 0.0 ? tail - margin : tail;
        slope[i] = -y * ((margin < 0.0 ? 1.0 : e) / (1.0 + e));
    }
}

RS_KERNEL void rs_multiply(
    double *RS_RESTRICT v, const double *RS_RESTRICT weight, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) v[i] *= weight[i];
}

/* ---- sums and dot products in fixed lanes --------------------------------------- */

RS_INLINE double rs_fold(const double *lane)
{
    return ((lane[0] + lane[4]) + (lane[1] + lane[5]))
         + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
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
    ptrdiff_t i = 0;
    for (; i + RS_LANES <= n; i += RS_LANES)
        for (int k = 0; k < RS_LANES; k++) lane[k] += v[i + k] * (double)x[i + k];
    for (int k = 0; i < n; i++, k++) lane[k] += v[i] * (double)x[i];
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
