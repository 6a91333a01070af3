/* Loops of the branch and bound's node relaxation that blocks.h does not have.
 *
 * A row stands for all rows with its features: `positive` and `negative` are the weights of its two
 * classes, and all weights add up to one.
 */
#ifndef RISKSLIM_NODES_H
#define RISKSLIM_NODES_H

#include <time.h>
#include "blocks.h"

/* Wall-clock time in seconds, for statistics. */
RS_INLINE double rs_seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Slope and the second and third derivative of each row's loss by its score. */
RS_KERNEL void rs_node_slopes(
    double *RS_RESTRICT slope, double *RS_RESTRICT curvature, double *RS_RESTRICT third,
    const double *RS_RESTRICT s, const double *RS_RESTRICT positive,
    const double *RS_RESTRICT negative, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const double e = rs_exp_nonpositive(-fabs(s[i]));
        const double q = 1.0 / (1.0 + e);
        const double wrong = s[i] > 0.0 ? negative[i] : positive[i];
        const double right = s[i] > 0.0 ? positive[i] : negative[i];
        const double slope_size = q * (wrong - right * e);
        const double bend = (wrong + right) * (e * q * q);
        const double change = bend * ((1.0 - e) * q);
        slope[i] = s[i] > 0.0 ? slope_size : -slope_size;
        curvature[i] = bend;
        third[i] = s[i] > 0.0 ? -change : change;
    }
}

/* The same of rows of one class and of weight one each. */
RS_KERNEL void rs_label_slopes(
    double *RS_RESTRICT slope, double *RS_RESTRICT curvature, double *RS_RESTRICT third,
    const double *RS_RESTRICT s, const int8_t *RS_RESTRICT label, ptrdiff_t n)
{
    int32_t wide[RS_STRIP];
    for (ptrdiff_t begin = 0; begin < n; begin += RS_STRIP) {
        const ptrdiff_t m = n - begin < RS_STRIP ? n - begin : RS_STRIP;
        rs_widen_i32(wide, label + begin, m);
        for (ptrdiff_t i = 0; i < m; i++) {
            const double y = (double)wide[i];
            const double margin = s[begin + i] * y;
            const double e = rs_exp_nonpositive(-fabs(margin));
            const double p = (margin < 0.0 ? 1.0 : e) / (1.0 + e);
            const double bend = p * (1.0 - p);
            slope[begin + i] = -y * p;
            curvature[begin + i] = bend;
            third[begin + i] = bend * (y * (2.0 * p - 1.0));
        }
    }
}

RS_KERNEL double rs_total_size(const double *RS_RESTRICT v, ptrdiff_t n)
{
    double lane[RS_LANES] = {0};
    ptrdiff_t i = 0;
    for (; i + RS_LANES <= n; i += RS_LANES)
        for (int k = 0; k < RS_LANES; k++) lane[k] += fabs(v[i + k]);
    for (int k = 0; i < n; i++, k++) lane[k] += fabs(v[i]);
    return rs_fold(lane);
}

RS_KERNEL void rs_shift_f64(double *RS_RESTRICT s, double shift, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) s[i] += shift;
}

/* Cholesky factor of a matrix of which the lower triangle is in `a`, rows of f, in place; `column`
 * has room for f. Columns that depend on others do not move. Every entry is computed by the same
 * operations in the same order as by sums over rows, which compilers may not vectorise. */
RS_KERNEL void rs_factorise(double *RS_RESTRICT a, double *RS_RESTRICT column, ptrdiff_t f)
{
    for (ptrdiff_t k = 0; k < f; k++) column[k] = a[k * f + k];
    for (ptrdiff_t b = 0; b < f; b++) {
        const double v = a[b * f + b], diagonal = column[b];
        const double pivot = v > 1e-13 * diagonal ? sqrt(v) : 1e100;
        a[b * f + b] = pivot;
        for (ptrdiff_t i = b + 1; i < f; i++) column[i + f] = a[i * f + b] /= pivot;
        for (ptrdiff_t i = b + 1; i < f; i++) {
            double *RS_RESTRICT row = a + i * f;
            const double *RS_RESTRICT other = column + f;
            const double x = row[b];
            for (ptrdiff_t k = b + 1; k <= i; k++) row[k] -= x * other[k];
        }
    }
}

#endif
