/* Shares at a free threshold, from the cells of a support.
 *
 * A score is to have a threshold c so that the positive rows below it weigh at most `missed`, and the
 * negative rows from it on at most `called`. Weights of cells are rounded down, the limits are not, so
 * that whatever rows allow is allowed here.
 *
 * Whatever the points are, a threshold calls each cell positive or negative. With P(c) and N(c), a
 * cell is called positive at the cost N(c), or is missed at the cost P(c), so that for every price q >= 0
 *
 *     called >= sum_c min(N(c), q P(c)) - q missed,                                          (4)
 *
 * whose largest right side is the least weight that is called if cells may be taken in part. It is
 * concave in q and linear between the quotients N / P: the point where a tangent on either side of its
 * top meet is tried until one of them is found again. Any price gives a valid bound, so that it does
 * not matter how exactly the best one is found; cells without positive rows are no trouble.
 *
 * Of a box of points, positive rows are taken at their largest scores and negative ones at their
 * least: the largest threshold that misses no more than is allowed calls the fewest.
 */
#ifndef RISKSLIM_SHARES_H
#define RISKSLIM_SHARES_H

#include "cells.h"

#define RS_SHARE_PRICES 40

typedef struct {
    double missed; /* weight of positive rows that may be below the threshold, */
    double called; /* and of negative rows that may reach it */
    int is_whole;  /* scores are whole numbers times what a point is worth */
} rs_shares;

/* Whether no threshold on any score of a support has the shares: (4) of some price.
 *
 * The sums are within (cells + 4) u of their values, of which the larger ones count.
 */
static int rs_shares_are_out_of_reach(const rs_cells *cells, const rs_shares *shares)
{
    double left = 0.0, right = 0.0, slope_left = -shares->missed, slope_right = -shares->missed;
    const double error = ((double)cells->n + 8.0) * DBL_EPSILON;
    for (int32_t c = 0; c < cells->n; c++) {
        if (cells->positive[c] > 0.0) right += cells->negative[c];
        if (cells->negative[c] > 0.0) slope_left += cells->positive[c];
    }
    for (int k = 0; k < RS_SHARE_PRICES; k++) {
        double constant = 0.0, slope = 0.0, sum = 0.0;
        if (slope_left <= slope_right) return 0;
        const double price = (right - left) / (slope_left - slope_right);
        if (!(price > 0.0)) return 0;
        for (int32_t c = 0; c < cells->n; c++) {
            const double p = price * cells->positive[c], n = cells->negative[c];
            if (n <= p)
                constant += n;
            else
                slope += cells->positive[c];
            sum += n <= p ? n : p;
        }
        const double paid = price * shares->missed;
        if (sum - paid - error * (sum + paid) > shares->called) return 1;
        /* No price gives more than where the tangents meet. */
        if (left + slope_left * price <= shares->called) return 0;
        slope -= shares->missed;
        if (slope > 0.0) {
            if (constant == left && slope == slope_left) return 0;
            left = constant;
            slope_left = slope;
        } else {
            if (constant == right && slope == slope_right) return 0;
            right = constant;
            slope_right = slope;
        }
    }
    return 0;
}

/* Positive rows by their scores, ascending: of some dozen cells, or a few hundred. */
static void rs_sort_scores(double *score, double *weight, int32_t n)
{
    for (int32_t gap = n > 16 ? 57 : 1; gap; gap = gap == 57 ? 13 : gap == 13 ? 4 : gap == 4 ? 1 : 0)
        for (int32_t i = gap; i < n; i++) {
            const double s = score[i], w = weight[i];
            int32_t j = i;
            for (; j >= gap && score[j - gap] > s; j -= gap) {
                score[j] = score[j - gap];
                weight[j] = weight[j - gap];
            }
            score[j] = s;
            weight[j] = w;
        }
}

/* Whether no scores between the least and the largest ones of each cell have the shares. Scores that
 * differ by no more than `tie` are one. */
static int rs_breaks_shares(
    const rs_cells *cells, const rs_shares *shares, const double *least, const double *most, double tie)
{
    double score[RS_RATED_CELLS], weight[RS_RATED_CELLS], sum = 0.0;
    int32_t n = 0, k = 0;
    for (int32_t c = 0; c < cells->n; c++) {
        if (!(cells->positive[c] > 0.0)) continue;
        score[n] = most[c];
        weight[n++] = cells->positive[c];
    }
    rs_sort_scores(score, weight, n);
    while (k < n && (sum += weight[k]) <= shares->missed) k++;
    if (k == n) return 0;
    const double threshold = score[k] - tie;
    sum = 0.0;
    for (int32_t c = 0; c < cells->n; c++)
        if (least[c] >= threshold) sum += cells->negative[c];
    return sum > shares->called;
}

#endif
