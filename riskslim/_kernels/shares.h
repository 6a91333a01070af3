/* Shares at a free threshold, from the cells of a support.
 *
 * A score is to have a threshold c so that the positive rows below it weigh at most `missed`, and the
 * negative rows from it on at most `called`. Weights of cells are rounded down, the limits are not, so
 * that whatever rows allow is allowed here.
 *
 * Whatever the points are, a threshold calls each cell positive or negative: what knapsack.h says that
 * such rules call wrong must not be more than `called`.
 *
 * Of a box of points, positive rows are taken at their largest scores and negative ones at their
 * least: the largest threshold that misses no more than is allowed calls the fewest.
 */
#ifndef RISKSLIM_SHARES_H
#define RISKSLIM_SHARES_H

#include "knapsack.h"

typedef struct {
    double missed; /* weight of positive rows that may be below the threshold, */
    double called; /* and of negative rows that may reach it */
    int is_whole;  /* scores are whole numbers times what a point is worth */
} rs_shares;

/* Whether no threshold on any score of a support has the shares, however its cells are called. */
static int rs_shares_are_out_of_reach(const rs_cells *cells, const rs_shares *shares)
{
    const double enough = nextafter(shares->called, HUGE_VAL);
    double price = 0.0;
    return rs_least_wrong(
        cells->positive, cells->negative, cells->n, shares->missed, enough, &price) > shares->called;
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
