/* The best rule of one support: all points on its cells, depth first, with bounds.
 *
 * A rule calls the cells with the least u = direction * (sum of points times values) negative, or
 * positive where a share of the negatives is required: those that come first in the order of u, as
 * many as the capacity K of the required class's weight a admits (knapsack.h).
 *
 * Points of the first d items order the combinations of their values. Cells that have the same values
 * of all other items are a chain: whatever the other points are, what is called wrong in it is a
 * prefix of that order. The upper concave envelope of a chain's prefixes, in a and b, has pieces of
 * falling b / a, and (4) of the pieces of all chains bounds every rule with these points. Points that
 * order the combinations alike have the same bound.
 *
 * The order is found by merging, one item at a time. Sums of whole points and whole values are exact.
 * Of other values equal sums may differ in their last digits: that allows for more rules, never for
 * fewer.
 */
#ifndef RISKSLIM_RULES_H
#define RISKSLIM_RULES_H

#include "support_enumeration.h"

/* Points that are tried between two looks at the flag. */
#define RS_RULES_LOOK 256

typedef struct {
    int n_items;
    const int64_t *n_bits;       /* of each item's value in a cell's number, first item first */
    int64_t n_cells;
    const double *a;             /* of the class of which a share is required */
    const double *b;
    const double *value;         /* (n_items, 8), direction included */
    const int64_t *points;       /* those of item i: points[first_point[i]] .. */
    const int64_t *first_point;
    int64_t n_rows;              /* limits on sums of points */
    const double *row_points;    /* (n_rows, n_items + 1), intercept first */
    const double *row_low;
    const double *row_high;
    const double *rest_low;      /* (n_rows, n_items + 1): least of what items from here on add */
    const double *rest_high;
    int64_t intercept_low;
    int64_t intercept_high;
    double capacity;
    double most;                 /* weight b that may be called wrong */
    double step;                 /* by which the next rule is to be better; below 0: list all */
    double slack;
    int64_t most_nodes;
    int64_t *stop;
    /* results */
    int64_t capacity_found;
    int64_t n_found;
    int64_t *found;              /* (capacity_found, n_items) */
    double *wrong;
    int64_t n_nodes;
    /* workspace */
    double *sum;                 /* (n_items + 1, n_cells): u of combinations, in their order */
    int32_t *order;              /* the same: their numbers, -1 - number where u is that before */
    int32_t *known;              /* (n_items + 1, n_cells): the order that was bounded last */
    double *piece;               /* (2, n_cells) */
    double *added;               /* (n_items + 1, n_rows) */
    int64_t *chosen;             /* n_items */
    double price;
} rs_rules;

/* Merges the orders of the combinations of `depth` items with each value of the next one. */
static void rs_order_more(rs_rules *rules, int depth, int64_t n_before, int64_t point)
{
    const int64_t n_values = INT64_C(1) << rules->n_bits[depth];
    const double *sum = rules->sum + depth * rules->n_cells, *value = rules->value + 8 * depth;
    const int32_t *order = rules->order + depth * rules->n_cells;
    double *to = rules->sum + (depth + 1) * rules->n_cells;
    int32_t *at = rules->order + (depth + 1) * rules->n_cells;
    int64_t n = 0;
    /* From the end: what is merged already lies before what is written. */
    for (int64_t v = 0; v < n_values; v++) {
        const double more = (double)point * value[v];
        int64_t i = n - 1, j = n_before - 1, k = n + n_before - 1;
        while (j >= 0) {
            const double u = sum[j] + more;
            if (i >= 0 && to[i] > u) {
                to[k] = to[i];
                at[k--] = at[i--];
            } else {
                const int32_t number = order[j] < 0 ? -1 - order[j] : order[j];
                to[k] = u;
                at[k--] = (int32_t)((int64_t)number * n_values + v);
                j--;
            }
        }
        n += n_before;
    }
    for (int64_t k = 1; k < n; k++)
        if (to[k] == to[k - 1]) at[k] = -1 - at[k];
}

/* Pieces of the envelopes of all chains, in rules->piece; returns how many. */
static int32_t rs_pieces(rs_rules *rules, int depth, int64_t n)
{
    const int32_t *order = rules->order + depth * rules->n_cells;
    const int64_t n_rest = rules->n_cells / n;
    double *pa = rules->piece, *pb = rules->piece + rules->n_cells;
    int32_t top = 0;
    for (int64_t rest = 0; rest < n_rest; rest++) {
        const int32_t begin = top;
        for (int64_t k = 0; k < n;) {
            double a = 0.0, b = 0.0;
            do {
                const int64_t number = order[k] < 0 ? -1 - order[k] : order[k];
                a += rules->a[number * n_rest + rest];
                b += rules->b[number * n_rest + rest];
                k++;
            } while (k < n && order[k] < 0);
            if (a == 0.0 && b == 0.0) continue;
            while (top > begin && pb[top - 1] * a <= b * pa[top - 1]) {
                a += pa[--top];
                b += pb[top];
            }
            pa[top] = a;
            pb[top++] = b;
        }
    }
    return top;
}

/* Weight b that the best rule with all points calls wrong. */
static double rs_wrong_of_points(const rs_rules *rules)
{
    const int64_t n = rules->n_cells;
    const int32_t *order = rules->order + rules->n_items * n;
    double held = 0.0, wrong = 0.0;
    int64_t k = 0;
    while (k < n) {
        double a = 0.0;
        int64_t end = k;
        do {
            const int64_t number = order[end] < 0 ? -1 - order[end] : order[end];
            a += rules->a[number];
            end++;
        } while (end < n && order[end] < 0);
        if (held + a > rules->capacity) break;
        held += a;
        k = end;
    }
    for (; k < n; k++) {
        const int64_t number = order[k] < 0 ? -1 - order[k] : order[k];
        wrong += rules->b[number];
    }
    return wrong;
}

/* Whether limits on sums of points can still be kept, or are where all points are chosen. */
static int rs_rows_allow(rs_rules *rules, int depth)
{
    const int m = rules->n_items;
    double low = (double)rules->intercept_low, high = (double)rules->intercept_high;
    for (int64_t r = 0; r < rules->n_rows; r++) {
        const double *row = rules->row_points + r * (m + 1);
        double *added = rules->added + r;
        double sum = 0.0;
        if (depth) sum = added[(depth - 1) * rules->n_rows]
                         + row[depth] * (double)rules->chosen[depth - 1];
        added[depth * rules->n_rows] = sum;
        const double least = sum + rules->rest_low[r * (m + 1) + depth];
        const double most = sum + rules->rest_high[r * (m + 1) + depth];
        if (least > rules->row_high[r] || most < rules->row_low[r]) return 0;
        if (depth < m || row[0] == 0.0) continue;
        const double one = (rules->row_low[r] - sum) / row[0], other = (rules->row_high[r] - sum) / row[0];
        const double below = one < other ? one : other, above = one < other ? other : one;
        if (below - 1e-9 > low) low = below - 1e-9;
        if (above + 1e-9 < high) high = above + 1e-9;
    }
    return depth < m || ceil(low) <= floor(high);
}

/* Whether the order of a depth is that which was bounded last with the same points before. */
static int rs_is_known(rs_rules *rules, int depth, int64_t n)
{
    const size_t size = (size_t)n * sizeof *rules->order;
    const int32_t *order = rules->order + depth * rules->n_cells;
    int32_t *known = rules->known + depth * rules->n_cells;
    if (!memcmp(known, order, size)) return 1;
    memcpy(known, order, size);
    return 0;
}

/* All points of the items from `depth` on; 0, or what ended it. */
static int rs_all_points(rs_rules *rules, int depth, int64_t n)
{
    const int m = rules->n_items;
    double bound = 0.0;
    if (depth == m) {
        const double wrong = rs_wrong_of_points(rules);
        if (wrong > rules->most) return 0;
        if (rules->step < 0.0) {
            if (rules->n_found == rules->capacity_found) return RS_FULL;
        } else {
            rules->n_found = 0;
            rules->most = wrong - rules->step;
        }
        memcpy(rules->found + rules->n_found * m, rules->chosen, (size_t)m * sizeof *rules->found);
        rules->wrong[rules->n_found++] = wrong;
        return 0;
    }
    const int64_t n_after = n << rules->n_bits[depth];
    int has_bound = 0;
    for (int64_t p = rules->first_point[depth]; p < rules->first_point[depth + 1]; p++) {
        if (rules->n_nodes++ % RS_RULES_LOOK == 0 && rs_stopped(rules->stop)) return RS_STOPPED;
        if (rules->n_nodes > rules->most_nodes) return RS_FULL;
        rules->chosen[depth] = rules->points[p];
        if (rules->n_rows && !rs_rows_allow(rules, depth + 1)) continue;
        rs_order_more(rules, depth, n, rules->points[p]);
        if (depth + 1 < m) {
            if (!rs_is_known(rules, depth + 1, n_after) || !has_bound) {
                const int32_t n_pieces = rs_pieces(rules, depth + 1, n_after);
                bound = rs_least_wrong(rules->piece, rules->piece + rules->n_cells, n_pieces,
                                       rules->capacity, rules->most + 2.0 * rules->slack, &rules->price);
                has_bound = 1;
            }
            if (bound - rules->slack > rules->most) continue;
        }
        const int status = rs_all_points(rules, depth + 1, n_after);
        if (status) return status;
    }
    return 0;
}

/* Adds the rows of a segment to the cells of some planes, the first one in the highest bit. */
static void rs_count_word(
    int64_t *RS_RESTRICT cells, uint64_t *RS_RESTRICT parts, const uint64_t *words, int64_t n_words,
    int64_t word, uint64_t valid, const int64_t *planes, int64_t n_planes, int64_t shift)
{
    parts[0] = valid;
    for (int64_t k = 0; k < n_planes; k++) {
        const uint64_t own = words[((planes[k] / 8) * n_words + word) * 8 + planes[k] % 8];
        for (int64_t c = (INT64_C(1) << k) - 1; c >= 0; c--) {
            const uint64_t x = parts[c];
            parts[2 * c + 1] = x & own;
            parts[2 * c] = x & ~own;
        }
    }
    for (int64_t c = 0; c < INT64_C(1) << n_planes; c++)
        if (parts[c]) cells[c] += (int64_t)rs_popcount(parts[c]) << shift;
}

#endif
