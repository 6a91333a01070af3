/* The least weight of one class that rules call wrong, from cells: a fractional knapsack.
 *
 * A rule calls some cells positive and the others negative. A cell weighs a of the class of which a
 * share is required, and b of the other one. What is called as the other class may hold at most the
 * capacity K of the first, so that for every price >= 0
 *
 *     wrong b >= sum_c min(b, price a) - price K:                                              (4)
 *
 * a cell that is called as the first class costs b, and one that is not costs price a, of which all
 * together are at most price K. The best price gives what filling the capacity in order of b / a
 * gives, the last cell in part. Whatever the price is, (4) holds: cells are not sorted, and those
 * that are empty matter nowhere.
 *
 * (4) is concave in the price, with slopes sum of a over price a < b, less K. Between a price at
 * which it grows and one at which it does not, the next one is where the two lines meet; where (4)
 * reaches them there, it is the best one.
 */
#ifndef RISKSLIM_KNAPSACK_H
#define RISKSLIM_KNAPSACK_H

#include "cells.h"

#define RS_KNAPSACK_STEPS 60

typedef struct {
    int side;        /* 1: a share of the positives is required, 0: of the negatives */
    double capacity; /* K */
    double price;    /* the latest one */
} rs_knapsack;

/* (4) of a good price, less what rounding can amount to; ends as soon as it reaches `enough`. The
 * price is where it begins, and ends. */
static double rs_least_wrong(
    const double *RS_RESTRICT a, const double *RS_RESTRICT b, int32_t n, double capacity, double enough,
    double *price)
{
    double above = -capacity, most = 0.0, best = 0.0, error = DBL_EPSILON * ((double)n + 8.0);
    for (int32_t c = 0; c < n; c++) {
        above += b[c] > 0.0 ? a[c] : 0.0;
        most += a[c] > 0.0 ? b[c] : 0.0;
    }
    if (above <= 0.0) return 0.0;
    if (capacity <= 0.0) return most * (1.0 - error);
    double low_at = 0.0, low_slope = above, high_at = most, high_slope = -capacity, chosen = 0.0;
    double next = *price > 0.0 ? *price : most / (above + capacity);
    for (int step = 0; step < RS_KNAPSACK_STEPS; step++) {
        double sum = 0.0, slope = -capacity;
        for (int32_t c = 0; c < n; c++) {
            const double priced = next * a[c];
            sum += priced < b[c] ? priced : b[c];
            slope += priced < b[c] ? a[c] : 0.0;
        }
        const double value = sum - next * capacity, safe = value - error * (sum + next * capacity);
        if (safe > best) {
            best = safe;
            chosen = next;
        }
        if (best >= enough) break;
        if (slope > 0.0) {
            low_at = value - slope * next;
            low_slope = slope;
        } else {
            high_at = value - slope * next;
            high_slope = slope;
        }
        const double meeting = (high_at - low_at) / (low_slope - high_slope);
        if (!(meeting > 0.0) || fabs(meeting - next) <= 1e-12 * next
            || low_at + low_slope * meeting - value <= 1e-12 * (sum + next * capacity))
            break;
        next = meeting;
    }
    if (chosen > 0.0) *price = chosen;
    return best;
}

/* The same of the cells of a support. */
static double rs_knapsack_bound(const rs_cells *cells, rs_knapsack *knapsack, double enough)
{
    const double *a = knapsack->side ? cells->positive : cells->negative;
    const double *b = knapsack->side ? cells->negative : cells->positive;
    return rs_least_wrong(a, b, cells->n, knapsack->capacity, enough, &knapsack->price);
}

/* ---- in single precision, of many supports at once ------------------------------------ */

/* Sums of (4) have no subtraction: each term is within 3v of its value, v = 2^-24, and a sum over
 * `cells` cells of up to four parts each within (cells + 4) v. */
#define RS_PRICED_ERROR(cells) (((double)(cells) + 8.0) * FLT_EPSILON)

RS_INLINE float rs_priced_term(int32_t a, int32_t b, float price)
{
    const float priced = price * (float)a, other = (float)b;
    return priced < other ? priced : other;
}

/* out[j] += what the four parts have into which item i and each item j divide one cell. */
RS_KERNEL void rs_price_pairs(
    float *RS_RESTRICT out, const int32_t *RS_RESTRICT both_a, const int32_t *RS_RESTRICT both_b,
    const int32_t *RS_RESTRICT single_a, const int32_t *RS_RESTRICT single_b, int32_t i_a, int32_t i_b,
    int32_t all_a, int32_t all_b, float price, ptrdiff_t n)
{
    for (ptrdiff_t j = 0; j < n; j++) {
        const int32_t a = both_a[j], b = both_b[j], sa = single_a[j], sb = single_b[j];
        const float both = rs_priced_term(a, b, price);
        const float only_i = rs_priced_term(i_a - a, i_b - b, price);
        const float only_j = rs_priced_term(sa - a, sb - b, price);
        const float none = rs_priced_term(all_a - i_a - sa + a, all_b - i_b - sb + b, price);
        out[j] += (both + only_i) + (only_j + none);
    }
}

/* The same of the two parts into which one item divides a cell. */
RS_KERNEL void rs_price_singles(
    float *RS_RESTRICT out, const int32_t *RS_RESTRICT single_a, const int32_t *RS_RESTRICT single_b,
    int32_t all_a, int32_t all_b, float price, ptrdiff_t n)
{
    for (ptrdiff_t j = 0; j < n; j++)
        out[j] += rs_priced_term(single_a[j], single_b[j], price)
                  + rs_priced_term(all_a - single_a[j], all_b - single_b[j], price);
}

#endif
