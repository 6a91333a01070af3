/* Supports of nested items: bounds of all scores that use one item of each of several ranges.
 *
 * A chain is a list of items each of which holds a part of the rows of the one before, such as the
 * cut-offs of a measurement in ascending order; an item that nests with nothing is a chain of one.
 * The rank of a row in a chain is the number of its items that the row has: it has item j if its
 * rank is above j. A node is a set of elements; an element is a chain, a sign, a range of its items
 * and a range of points, and stands for one item of the range with points of that sign. A leaf has
 * one item in each range: it is a support.
 *
 * Relaxation. Instead of one item with u points the rows get u_1, u_2, .. of several items of the
 * range, none negative, with a sum in the range of points (convex hull). Newton steps on the
 * intercept and up to RS_ACTIVE items of each range, from where the parent's ended, choose scores
 * s_c of the cells that these items make. Whatever these are, convexity in the scores gives
 *
 *     loss >= loss(s) + sum_c g_c (s'_c - s_c),                                              (1)
 *
 * g the slopes at s, and the right side is least for one item of each range, and points at an end:
 * the sum of g over the rows of every item of a range comes from one pass over the rows that its
 * items tell apart. A ridge penalty of a u^2, u the sum of an element's points and a the least penalty
 * of its chain, is part of the relaxation; in (1) g u + a u^2 is least where its slope is 0, or at an
 * end. This bounds all supports of the node. An item at an end of a range, or a number
 * of points, with which (1) reaches the cutoff leaves the node.
 *
 * Rounding errors, u = 2^-53. (1) holds for computed scores exactly as they are. Slopes are within 8u
 * of their terms' sizes; sums over cells add u per cell, sums over rows of a range u per row, each
 * times the sum of sizes, which is at most 1, and times what it is multiplied by: the width of the
 * intercept and the largest points. Squares have 4u of their size beside that, and are added to the
 * losses. rs_cut_bound takes four times all of it off.
 */
#ifndef RISKSLIM_CUTOFFS_H
#define RISKSLIM_CUTOFFS_H

#include "support_enumeration.h"

#define RS_ELEMENTS 6
#define RS_ACTIVE 3
/* Cells: RS_ACTIVE + 1 levels of each element; a multiple of RS_CUT_LANES. */
#define RS_CUT_CELLS 4096
#define RS_CUT_LANES 8
#define RS_CUT_COEF (1 + RS_ELEMENTS * RS_ACTIVE)
#define RS_CUT_STEPS 2
/* Nodes that wait within one call, and children of one node at most. */
#define RS_WAITING 4096
#define RS_CHILDREN 64
#define RS_ELEMENT_INTS (6 + 1 + RS_ACTIVE)
#define RS_NODE_INTS (6 + RS_ELEMENTS * RS_ELEMENT_INTS)
#define RS_NODE_REALS (2 + RS_ELEMENTS * RS_ACTIVE)

typedef struct {
    int32_t chain, first, last, sign; /* 1: negative points */
    int32_t low, high;                /* of the size of its points */
    int32_t n;
    int32_t item[RS_ACTIVE]; /* ascending */
} rs_element;

typedef struct {
    int32_t size, low, high; /* of the intercept */
    int32_t split;           /* element to divide, -1 for the intercept */
    int32_t by_points, at;
    rs_element element[RS_ELEMENTS];
    double bound, intercept;
    double u[RS_ELEMENTS][RS_ACTIVE];
} rs_cut_node;

typedef struct {
    int64_t n_rows, n_chains, n_items, most_rank;
    const uint16_t *label;     /* n_rows */
    const int32_t *multiple;   /* n_rows: each stands for so many */
    const int16_t *rank;       /* (n_chains, n_rows) */
    const int32_t *order;      /* (n_chains, n_rows): rows by rank */
    const int32_t *start;      /* (n_chains, most_rank + 2): first of a rank in that order */
    const int64_t *item;       /* (n_chains, most_rank): numbers of the items */
    const double *chain_price; /* least price of its items */
    const double *price;       /* n_items */
    const double *chain_ridge; /* least penalty of a squared coefficient of its items, or 0 */
    const double *ridge;       /* n_items; NULL: there is none */
    const double *low;         /* n_items + 1, intercept first, log-odds */
    const double *high;
    const double *value;       /* 0, 1 of each element */
    const uint8_t *apart;      /* (n_items, n_items) */
    double unit[2];
    double t_low, t_high, cutoff, level;
    int64_t n_uniform;         /* not 0: every row stands for itself */
    /* workspace */
    uint16_t *cell_of;         /* n_rows */
    int32_t *count;            /* (2, RS_CUT_CELLS) */
    int32_t *code;             /* RS_CUT_CELLS */
    uint8_t *level_of;         /* (RS_ELEMENTS, RS_CUT_CELLS) */
    double *slope;             /* (2, RS_CUT_CELLS), by code */
    double *positive, *negative, *score, *other, *gradient, *curvature; /* RS_CUT_CELLS */
    double *column;            /* (RS_CUT_COEF, RS_CUT_CELLS) */
    double *derivative;        /* (RS_ELEMENTS, most_rank) */
    double *system;            /* RS_CUT_COEF^2 */
    rs_cells *cells;
    rs_box *stack;
    rs_cut_node *waiting;      /* RS_WAITING + RS_CHILDREN */
    int64_t *counted;          /* nodes bounded, leaves, left */
    /* of the present node */
    int32_t radix[RS_ELEMENTS];
    int64_t n_cells, n_padded;
    double least[RS_ELEMENTS];    /* of points in log-odds */
    double most[RS_ELEMENTS];
    double of_square[RS_ELEMENTS]; /* ridge penalty of squared points in log-odds */
    int32_t best_item[RS_ELEMENTS];
    double excess[RS_ELEMENTS];   /* what (1) would fall by with the best item */
} rs_cuts;

/* ---- loops over cells ------------------------------------------------------------------ */

/* Sums run in RS_CUT_LANES partial sums; cells are padded with empty ones. */
RS_INLINE double rs_cut_total(const double *t)
{
    return ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
}

RS_KERNEL double rs_cut_loss(
    const double *RS_RESTRICT positive, const double *RS_RESTRICT negative,
    const double *RS_RESTRICT score, ptrdiff_t n)
{
    double t[RS_CUT_LANES] = {0};
    for (ptrdiff_t c = 0; c < n; c += RS_CUT_LANES)
        for (int q = 0; q < RS_CUT_LANES; q++) {
            const double s = score[c + q], p = positive[c + q], m = negative[c + q];
            const double size = fabs(s), e = rs_exp_nonpositive(-size);
            t[q] += (p + m) * rs_log1p(e) + (s > 0.0 ? m : p) * size;
        }
    return rs_cut_total(t);
}

/* Gradient and second derivative by the score of each cell. */
RS_KERNEL void rs_cut_slopes(
    double *RS_RESTRICT gradient, double *RS_RESTRICT curvature, const double *RS_RESTRICT positive,
    const double *RS_RESTRICT negative, const double *RS_RESTRICT score, ptrdiff_t n)
{
    for (ptrdiff_t c = 0; c < n; c++) {
        const double s = score[c], e = rs_exp_nonpositive(-fabs(s)), q = 1.0 / (1.0 + e);
        const double risk = s > 0.0 ? q : e * q, rest = s > 0.0 ? e * q : q;
        curvature[c] = (positive[c] + negative[c]) * (risk * rest);
        gradient[c] = negative[c] * risk - positive[c] * rest;
    }
}

RS_KERNEL double rs_cut_sum(const double *RS_RESTRICT a, ptrdiff_t n)
{
    double t[RS_CUT_LANES] = {0};
    for (ptrdiff_t c = 0; c < n; c += RS_CUT_LANES)
        for (int q = 0; q < RS_CUT_LANES; q++) t[q] += a[c + q];
    return rs_cut_total(t);
}

RS_KERNEL double rs_cut_dot(const double *RS_RESTRICT a, const double *RS_RESTRICT b, ptrdiff_t n)
{
    double t[RS_CUT_LANES] = {0};
    for (ptrdiff_t c = 0; c < n; c += RS_CUT_LANES)
        for (int q = 0; q < RS_CUT_LANES; q++) t[q] += a[c + q] * b[c + q];
    return rs_cut_total(t);
}

RS_KERNEL double rs_cut_product(
    const double *RS_RESTRICT a, const double *RS_RESTRICT b, const double *RS_RESTRICT w, ptrdiff_t n)
{
    double t[RS_CUT_LANES] = {0};
    for (ptrdiff_t c = 0; c < n; c += RS_CUT_LANES)
        for (int q = 0; q < RS_CUT_LANES; q++) t[q] += (a[c + q] * b[c + q]) * w[c + q];
    return rs_cut_total(t);
}

/* ---- the cells of a node ------------------------------------------------------------------ */

RS_KERNEL void rs_cut_label(uint16_t *RS_RESTRICT out, const uint16_t *RS_RESTRICT label, int32_t by, ptrdiff_t n)
{
    for (ptrdiff_t r = 0; r < n; r++) out[r] = (uint16_t)(label[r] * by);
}

RS_KERNEL void rs_cut_add(
    uint16_t *RS_RESTRICT out, const int16_t *RS_RESTRICT rank, int16_t item, uint16_t by, ptrdiff_t n)
{
    for (ptrdiff_t r = 0; r < n; r++) out[r] += rank[r] > item ? by : 0;
}

/* Cells of the active items: weights of both classes, and how many active items each has. */
static void rs_cut_cells(rs_cuts *cuts, const rs_cut_node *node)
{
    int32_t codes = 1;
    int64_t n = 0;
    for (int i = 0; i < node->size; i++) {
        cuts->radix[i] = codes;
        codes *= node->element[i].n + 1;
    }
    rs_cut_label(cuts->cell_of, cuts->label, codes, cuts->n_rows);
    for (int i = 0; i < node->size; i++) {
        const rs_element *e = &node->element[i];
        for (int l = 0; l < e->n; l++)
            rs_cut_add(cuts->cell_of, cuts->rank + e->chain * cuts->n_rows, (int16_t)e->item[l],
                       (uint16_t)cuts->radix[i], cuts->n_rows);
    }
    memset(cuts->count, 0, 2 * (size_t)codes * sizeof *cuts->count);
    if (cuts->n_uniform)
        for (int64_t r = 0; r < cuts->n_rows; r++) cuts->count[cuts->cell_of[r]]++;
    else
        for (int64_t r = 0; r < cuts->n_rows; r++) cuts->count[cuts->cell_of[r]] += cuts->multiple[r];
    for (int32_t code = 0; code < codes; code++) {
        if (!cuts->count[code] && !cuts->count[code + codes]) continue;
        cuts->negative[n] = cuts->count[code] * cuts->unit[0];
        cuts->positive[n] = cuts->count[code + codes] * cuts->unit[1];
        cuts->code[n++] = code;
    }
    cuts->n_cells = n;
    cuts->n_padded = (n + RS_CUT_LANES - 1) / RS_CUT_LANES * RS_CUT_LANES;
    for (int64_t c = n; c < cuts->n_padded; c++) {
        cuts->negative[c] = cuts->positive[c] = 0.0;
        cuts->code[c] = 0;
    }
    for (int i = 0; i < node->size; i++) {
        uint8_t *level = cuts->level_of + i * RS_CUT_CELLS;
        const int32_t levels = node->element[i].n + 1;
        for (int64_t c = 0; c < cuts->n_padded; c++)
            level[c] = (uint8_t)(cuts->code[c] / cuts->radix[i] % levels);
    }
}

static void rs_cut_scores(
    const rs_cuts *cuts, const rs_cut_node *node, double intercept, double u[RS_ELEMENTS][RS_ACTIVE],
    double *score)
{
    for (int64_t c = 0; c < cuts->n_padded; c++) score[c] = intercept;
    for (int i = 0; i < node->size; i++) {
        const uint8_t *level = cuts->level_of + i * RS_CUT_CELLS;
        const double sign = node->element[i].sign ? -1.0 : 1.0;
        double sum[RS_ACTIVE + 1];
        sum[0] = 0.0;
        for (int l = 0; l < node->element[i].n; l++) sum[l + 1] = sum[l] + sign * u[i][l];
        for (int64_t c = 0; c < cuts->n_padded; c++) score[c] += sum[level[c]];
    }
}

/* ---- Newton steps on the active items -------------------------------------------------------- */

typedef struct {
    double low, high;    /* of the intercept */
    double intercept;
    double u[RS_ELEMENTS][RS_ACTIVE];
    double sum[RS_ELEMENTS];
    double slope[RS_ELEMENTS][RS_ACTIVE], slope_0;
    int pivot[RS_ELEMENTS];
    uint8_t tied[RS_ELEMENTS]; /* the sum of its points is kept */
    uint8_t fixed[RS_ELEMENTS][RS_ACTIVE], fixed_0;
    double step[RS_ELEMENTS][RS_ACTIVE], step_0;
} rs_newton;

/* Which coefficients move: those at an end of their range that would leave it do not, and where the
 * sum of points is at an end, what one item gets another one loses. */
static void rs_cut_working_set(const rs_cuts *cuts, const rs_cut_node *node, rs_newton *w)
{
    w->slope_0 = rs_cut_sum(cuts->gradient, cuts->n_padded);
    w->fixed_0 = w->low >= w->high || (w->intercept <= w->low && w->slope_0 > 0.0)
              || (w->intercept >= w->high && w->slope_0 < 0.0);
    for (int i = 0; i < node->size; i++) {
        const rs_element *e = &node->element[i];
        const uint8_t *level = cuts->level_of + i * RS_CUT_CELLS;
        const double sign = e->sign ? -1.0 : 1.0;
        double part[RS_ACTIVE + 1] = {0}, sum = 0.0;
        for (int64_t c = 0; c < cuts->n_cells; c++) part[level[c]] += cuts->gradient[c];
        for (int l = e->n - 1; l >= 0; l--) {
            sum += part[l + 1];
            w->slope[i][l] = sign * sum;
        }
        w->sum[i] = 0.0;
        w->pivot[i] = 0;
        for (int l = 0; l < e->n; l++) {
            w->sum[i] += w->u[i][l];
            if (w->u[i][l] > w->u[i][w->pivot[i]]) w->pivot[i] = l;
        }
        for (int l = 0; l < e->n; l++) w->slope[i][l] += 2.0 * cuts->of_square[i] * w->sum[i];
        const double lead = w->slope[i][w->pivot[i]];
        w->tied[i] = cuts->least[i] == cuts->most[i] || (w->sum[i] >= cuts->most[i] - 1e-9 && lead < 0.0)
                  || (w->sum[i] <= cuts->least[i] + 1e-9 && lead > 0.0);
        for (int l = 0; l < e->n; l++) {
            const double g = w->slope[i][l] - (w->tied[i] ? lead : 0.0);
            w->fixed[i][l] = (w->tied[i] && l == w->pivot[i]) || (w->u[i][l] <= 1e-12 && g >= 0.0);
        }
    }
}

/* Newton direction of what moves; 0 if there is none. */
static int rs_cut_direction(rs_cuts *cuts, const rs_cut_node *node, rs_newton *w)
{
    int element[RS_CUT_COEF], which[RS_CUT_COEF], m = 0;
    double b[RS_CUT_COEF], largest = 0.0;
    double *a = cuts->system;
    if (!w->fixed_0) {
        element[m] = -1;
        which[m] = 0;
        for (int64_t c = 0; c < cuts->n_padded; c++) cuts->column[c] = 1.0;
        b[m++] = -w->slope_0;
        largest = fabs(w->slope_0);
    }
    for (int i = 0; i < node->size; i++) {
        const uint8_t *level = cuts->level_of + i * RS_CUT_CELLS;
        const double sign = node->element[i].sign ? -1.0 : 1.0;
        const int pivot = w->tied[i] ? w->pivot[i] : RS_ACTIVE;
        for (int l = 0; l < node->element[i].n; l++) {
            if (w->fixed[i][l]) continue;
            double *column = cuts->column + m * RS_CUT_CELLS, value[RS_ACTIVE + 1];
            for (int v = 0; v <= RS_ACTIVE; v++) value[v] = sign * ((v > l) - (v > pivot));
            for (int64_t c = 0; c < cuts->n_padded; c++) column[c] = value[level[c]];
            element[m] = i;
            which[m] = l;
            b[m] = (w->tied[i] ? w->slope[i][pivot] : 0.0) - w->slope[i][l];
            if (fabs(b[m]) > largest) largest = fabs(b[m]);
            m++;
        }
    }
    if (!m || largest < 1e-7) return 0;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = rs_cut_product(cuts->column + i * RS_CUT_CELLS, cuts->column + j * RS_CUT_CELLS,
                                        cuts->curvature, cuts->n_padded);
            if (element[i] >= 0 && element[i] == element[j] && !w->tied[element[i]])
                sum += 2.0 * cuts->of_square[element[i]];
            if (i == j) sum += 1e-9 + 1e-6 * sum;
            for (int k = 0; k < j; k++) sum -= a[i * RS_CUT_COEF + k] * a[j * RS_CUT_COEF + k];
            if (i > j)
                a[i * RS_CUT_COEF + j] = sum / a[j * RS_CUT_COEF + j];
            else if (sum > 0.0)
                a[i * RS_CUT_COEF + i] = sqrt(sum);
            else
                return 0;
        }
    }
    for (int i = 0; i < m; i++) {
        for (int k = 0; k < i; k++) b[i] -= a[i * RS_CUT_COEF + k] * b[k];
        b[i] /= a[i * RS_CUT_COEF + i];
    }
    for (int i = m - 1; i >= 0; i--) {
        for (int k = i + 1; k < m; k++) b[i] -= a[k * RS_CUT_COEF + i] * b[k];
        b[i] /= a[i * RS_CUT_COEF + i];
    }
    w->step_0 = 0.0;
    memset(w->step, 0, sizeof w->step);
    for (int i = 0; i < m; i++) {
        if (element[i] < 0) {
            w->step_0 = b[i];
            continue;
        }
        w->step[element[i]][which[i]] += b[i];
        if (w->tied[element[i]]) w->step[element[i]][w->pivot[element[i]]] -= b[i];
    }
    return 1;
}

/* Takes what would leave its range at once out of what moves; 1 if there was something. */
static int rs_cut_take_out(const rs_cuts *cuts, const rs_cut_node *node, rs_newton *w)
{
    int found = 0;
    if (!w->fixed_0 && ((w->intercept <= w->low && w->step_0 < 0.0)
                        || (w->intercept >= w->high && w->step_0 > 0.0)))
        found = w->fixed_0 = 1;
    for (int i = 0; i < node->size; i++) {
        double change = 0.0;
        for (int l = 0; l < node->element[i].n; l++) {
            change += w->step[i][l];
            if (!w->fixed[i][l] && w->u[i][l] <= 1e-12 && w->step[i][l] < 0.0)
                found = w->fixed[i][l] = 1;
        }
        if (!w->tied[i] && ((change > 0.0 && w->sum[i] >= cuts->most[i] - 1e-9)
                            || (change < 0.0 && w->sum[i] <= cuts->least[i] + 1e-9)))
            found = w->tied[i] = w->fixed[i][w->pivot[i]] = 1;
    }
    return found;
}

/* The longest part of a step that stays within all ranges. */
static double rs_cut_share(const rs_cuts *cuts, const rs_cut_node *node, const rs_newton *w)
{
    double share = 1.0;
    if (w->step_0 < 0.0 && (w->low - w->intercept) / w->step_0 < share)
        share = (w->low - w->intercept) / w->step_0;
    if (w->step_0 > 0.0 && (w->high - w->intercept) / w->step_0 < share)
        share = (w->high - w->intercept) / w->step_0;
    for (int i = 0; i < node->size; i++) {
        double change = 0.0;
        for (int l = 0; l < node->element[i].n; l++) {
            change += w->step[i][l];
            if (w->step[i][l] < 0.0 && w->u[i][l] > 0.0 && -w->u[i][l] / w->step[i][l] < share)
                share = -w->u[i][l] / w->step[i][l];
        }
        if (w->tied[i] || fabs(change) <= 1e-14) continue;
        const double room = (change > 0.0 ? cuts->most[i] : cuts->least[i]) - w->sum[i];
        if (room / change < share) share = room / change;
    }
    return share > 0.0 ? share : 0.0;
}

/* Ridge penalty of the points of all elements. */
static double rs_cut_squares(
    const rs_cuts *cuts, const rs_cut_node *node, const double (*u)[RS_ACTIVE])
{
    double total = 0.0;
    for (int i = 0; i < node->size; i++) {
        double sum = 0.0;
        for (int l = 0; l < node->element[i].n; l++) sum += u[i][l];
        total += cuts->of_square[i] * sum * sum;
    }
    return total;
}

/* Newton steps, then the intercept alone: its slope is multiplied by its width. Returns the loss. */
static double rs_cut_minimise(rs_cuts *cuts, const rs_cut_node *node, rs_newton *w)
{
    double next[RS_ELEMENTS][RS_ACTIVE], loss;
    rs_cut_scores(cuts, node, w->intercept, w->u, cuts->score);
    loss = rs_cut_loss(cuts->positive, cuts->negative, cuts->score, cuts->n_padded)
           + rs_cut_squares(cuts, node, w->u);
    for (int it = 0; it < RS_CUT_STEPS; it++) {
        int found = 1, halving = 0;
        rs_cut_slopes(cuts->gradient, cuts->curvature, cuts->positive, cuts->negative, cuts->score,
                      cuts->n_padded);
        rs_cut_working_set(cuts, node, w);
        for (int tries = 0; tries < RS_CUT_COEF; tries++) {
            found = rs_cut_direction(cuts, node, w);
            if (!found || !rs_cut_take_out(cuts, node, w)) break;
            found = 0;
        }
        if (!found) break;
        double share = rs_cut_share(cuts, node, w), intercept = 0.0, tried = 0.0;
        for (; halving < 8; halving++, share *= 0.5) {
            intercept = w->intercept + share * w->step_0;
            for (int i = 0; i < node->size; i++)
                for (int l = 0; l < node->element[i].n; l++) {
                    const double u = w->u[i][l] + share * w->step[i][l];
                    next[i][l] = u > 0.0 ? u : 0.0;
                }
            rs_cut_scores(cuts, node, intercept, next, cuts->other);
            tried = rs_cut_loss(cuts->positive, cuts->negative, cuts->other, cuts->n_padded)
                    + rs_cut_squares(cuts, node, next);
            if (tried <= loss) break;
        }
        if (halving == 8) break;
        const double gain = loss - tried;
        double *swap = cuts->score;
        cuts->score = cuts->other;
        cuts->other = swap;
        w->intercept = intercept;
        memcpy(w->u, next, sizeof next);
        loss = tried;
        if (gain < 1e-7 && share > 0.99) break;
    }
    for (int it = 0;; it++) {
        rs_cut_slopes(cuts->gradient, cuts->curvature, cuts->positive, cuts->negative, cuts->score,
                      cuts->n_padded);
        double to = w->intercept - rs_cut_sum(cuts->gradient, cuts->n_padded)
                                 / (rs_cut_sum(cuts->curvature, cuts->n_padded) + 1e-12);
        to = to < w->low ? w->low : to > w->high ? w->high : to;
        double by = to - w->intercept;
        if (it == 8 || fabs(by) < 1e-11) break;
        by = by > 2.0 ? 2.0 : by < -2.0 ? -2.0 : by;
        w->intercept += by;
        for (int64_t c = 0; c < cuts->n_padded; c++) cuts->score[c] += by;
    }
    return rs_cut_loss(cuts->positive, cuts->negative, cuts->score, cuts->n_padded);
}

/* ---- bound, and what leaves the node ---------------------------------------------------------- */

/* Sums of slopes of rows of one rank after the other, from the first active item on. */
static void rs_cut_sweep(rs_cuts *cuts, const rs_cut_node *node, int i)
{
    const rs_element *e = &node->element[i];
    const int32_t *order = cuts->order + e->chain * cuts->n_rows;
    const int32_t *start = cuts->start + e->chain * (cuts->most_rank + 2);
    const uint8_t *level = cuts->level_of + i * RS_CUT_CELLS;
    const uint16_t *cell = cuts->cell_of;
    double *out = cuts->derivative + i * cuts->most_rank, g = 0.0;
    const double sign = e->sign ? -1.0 : 1.0;
    for (int64_t c = 0; c < cuts->n_cells; c++)
        if (level[c] > 0) g += cuts->gradient[c];
    g *= sign;
    out[e->item[0]] = g;
    for (int side = 0; side < 2; side++) {
        double sum = g;
        const int32_t end = side ? e->last : e->first, step = side ? 1 : -1;
        for (int32_t j = e->item[0]; j != end; j += step) {
            /* Rows of rank j + 1 have item j, not j + 1; those of rank j have j - 1, not j. */
            const int32_t rank = side ? j + 1 : j;
            double part = 0.0;
            if (cuts->n_uniform)
                for (int32_t q = start[rank]; q < start[rank + 1]; q++)
                    part += cuts->slope[cell[order[q]]];
            else
                for (int32_t q = start[rank]; q < start[rank + 1]; q++)
                    part += cuts->slope[cell[order[q]]] * cuts->multiple[order[q]];
            sum = side ? sum - sign * part : sum + sign * part;
            out[j + step] = sum;
        }
    }
}

/* Points with the least cost for a slope: they lie between two positive numbers. */
RS_INLINE double rs_cut_points(const rs_cuts *cuts, int i, double slope)
{
    const double a = cuts->of_square[i], free = a > 0.0 ? -slope / (2.0 * a) : 0.0;
    if (!(a > 0.0)) return slope < 0.0 ? cuts->most[i] : cuts->least[i];
    return free < cuts->least[i] ? cuts->least[i] : free > cuts->most[i] ? cuts->most[i] : free;
}

/* Least of points times slope, and their ridge penalty. */
RS_INLINE double rs_cut_cost(const rs_cuts *cuts, int i, double slope)
{
    if (cuts->of_square[i] > 0.0) {
        const double u = rs_cut_points(cuts, i, slope);
        return slope * u + cuts->of_square[i] * u * u;
    }
    return slope * (slope < 0.0 ? cuts->most[i] : cuts->least[i]);
}

/* (1) less its rounding errors; `best_item`, `excess` and the least cost of each element. */
static double rs_cut_bound(
    rs_cuts *cuts, const rs_cut_node *node, const rs_newton *w, double loss, double *cost)
{
    int32_t codes = 1;
    double size = 0.0, bound, widths = 0.0, errors = 0.0, squares = 0.0;
    for (int i = 0; i < node->size; i++) codes *= node->element[i].n + 1;
    for (int64_t c = 0; c < cuts->n_cells; c++) {
        const double s = cuts->score[c], e = rs_exp_nonpositive(-fabs(s)), q = 1.0 / (1.0 + e);
        const double risk = s > 0.0 ? q : e * q, rest = s > 0.0 ? e * q : q;
        cuts->slope[cuts->code[c]] = risk * cuts->unit[0];
        cuts->slope[cuts->code[c] + codes] = -rest * cuts->unit[1];
        size += cuts->negative[c] * risk + cuts->positive[c] * rest;
    }
    const double slope = rs_cut_sum(cuts->gradient, cuts->n_padded);
    bound = loss - rs_cut_dot(cuts->gradient, cuts->score, cuts->n_padded);
    bound += slope * (slope < 0.0 ? w->high : w->low);
    widths = fabs(w->low) > fabs(w->high) ? fabs(w->low) : fabs(w->high);
    for (int i = 0; i < node->size; i++) {
        const rs_element *e = &node->element[i];
        const int32_t *start = cuts->start + e->chain * (cuts->most_rank + 2);
        const double *g = cuts->derivative + i * cuts->most_rank;
        double at = 0.0, sum = 0.0;
        rs_cut_sweep(cuts, node, i);
        int32_t best = e->first;
        for (int32_t j = e->first; j <= e->last; j++)
            if (g[j] < g[best]) best = j;
        cuts->best_item[i] = best;
        cost[i] = rs_cut_cost(cuts, i, g[best]);
        bound += cost[i];
        for (int l = 0; l < e->n; l++) {
            at += w->u[i][l] * g[e->item[l]];
            sum += w->u[i][l];
        }
        if (cuts->of_square[i] > 0.0) {
            const double u = rs_cut_points(cuts, i, g[best]);
            squares += cuts->of_square[i] * u * u;
            at += cuts->of_square[i] * sum * sum;
        }
        cuts->excess[i] = at - cost[i];
        widths += cuts->most[i];
        errors += cuts->most[i] * (double)(start[e->last + 1] - start[e->first + 1] + 8);
    }
    const double terms = (double)cuts->n_cells + 24.0;
    return bound - 4.0 * DBL_EPSILON * (terms * (loss + squares + 2.0 * size * widths) + size * errors);
}

/* The same of a number of points at one scale. */
RS_INLINE double rs_cut_least(const rs_cuts *cuts, int i, int32_t points, double slope)
{
    const double below = rs_below(cuts->t_low * points), above = rs_above(cuts->t_low * points);
    return slope * (slope < 0.0 ? above : below) + cuts->of_square[i] * below * below;
}

/* Items at the ends of ranges, and points, that reach the cutoff leave. */
static void rs_cut_trim(rs_cuts *cuts, rs_cut_node *node, double slack, const double *cost)
{
    for (int i = 0; i < node->size; i++) {
        rs_element *e = &node->element[i];
        const double *g = cuts->derivative + i * cuts->most_rank;
        const double most = cost[i] + slack;
        while (e->first < e->last && rs_cut_cost(cuts, i, g[e->first]) >= most) e->first++;
        while (e->last > e->first && rs_cut_cost(cuts, i, g[e->last]) >= most) e->last--;
        if (cuts->t_low != cuts->t_high) continue;
        double least = g[e->first];
        for (int32_t j = e->first; j <= e->last; j++)
            if (g[j] < least) least = g[j];
        while (e->low < e->high && rs_cut_least(cuts, i, e->low, least) >= most) e->low++;
        while (e->high > e->low && rs_cut_least(cuts, i, e->high, least) >= most) e->high--;
    }
}

RS_INLINE int32_t rs_cut_inside(int32_t item, const rs_element *e)
{
    return item < e->first ? e->first : item > e->last ? e->last : item;
}

/* Where to divide a range: between the items that the relaxation mixes, half of the rows each. */
static int32_t rs_cut_between(const rs_cuts *cuts, const rs_element *e, int32_t first, int32_t last)
{
    const int32_t *start = cuts->start + e->chain * (cuts->most_rank + 2);
    if (first >= last) {
        first = e->first;
        last = e->last;
    }
    const int32_t middle = (int32_t)(((int64_t)start[first + 1] + start[last + 1]) / 2);
    int32_t j = first;
    while (j + 1 < last && start[j + 2] <= middle) j++;
    return j;
}

/* Which element to divide, by its items or by its points; by the loss that this is likely to add. */
static void rs_cut_choose(rs_cuts *cuts, rs_cut_node *node, const rs_newton *w)
{
    const double all = rs_cut_sum(cuts->curvature, cuts->n_padded);
    const double row = cuts->unit[0] > cuts->unit[1] ? cuts->unit[0] : cuts->unit[1];
    double most = -1.0;
    node->split = -2;
    for (int i = 0; i < node->size; i++) {
        const rs_element *e = &node->element[i];
        const int32_t *start = cuts->start + e->chain * (cuts->most_rank + 2);
        int32_t first = e->last, last = e->first;
        double sum = 0.0, mixed = 0.0;
        if (e->first == e->last) continue;
        for (int l = 0; l < e->n; l++) sum += w->u[i][l];
        for (int l = 0; l < e->n; l++) {
            const int32_t j = rs_cut_inside(e->item[l], e);
            const double share = w->u[i][l] / (sum > 1e-9 ? sum : 1e-9);
            mixed += share * (1.0 - share);
            if (w->u[i][l] <= 0.02) continue;
            first = j < first ? j : first;
            last = j > last ? j : last;
        }
        if (cuts->excess[i] > 1e-5) {
            const int32_t j = rs_cut_inside(cuts->best_item[i], e);
            first = j < first ? j : first;
            last = j > last ? j : last;
        }
        const double between = last > first ? (start[last + 1] - start[first + 1]) * row : 0.0;
        const double gain = 0.5 * cuts->excess[i] + 0.09 * sum * sum * mixed * between
                          + 1e-7 * (start[e->last + 1] - start[e->first + 1]) * row;
        if (gain > most) {
            most = gain;
            node->split = i;
            node->by_points = 0;
            node->at = rs_cut_between(cuts, e, first, last);
        }
    }
    if (cuts->t_low != cuts->t_high) return;
    for (int i = -1; i < node->size; i++) {
        double z = w->intercept, curvature = 0.25 * all;
        if (i >= 0 ? node->element[i].low >= node->element[i].high : node->low >= node->high) continue;
        if (i >= 0) {
            const uint8_t *level = cuts->level_of + i * RS_CUT_CELLS;
            double own = 0.0;
            z = 0.0;
            for (int l = 0; l < node->element[i].n; l++) z += w->u[i][l];
            for (int64_t c = 0; c < cuts->n_cells; c++)
                if (level[c] > 0) own += cuts->curvature[c];
            curvature = own - own * own / (all + 1e-12);
        }
        const double points = z / cuts->t_low, part = points - floor(points);
        if (part < 1e-5 || part > 1.0 - 1e-5) continue;
        const int32_t low = i < 0 ? node->low : node->element[i].low;
        const int32_t high = i < 0 ? node->high : node->element[i].high;
        if (floor(points) < low || floor(points) >= high) continue;
        const double gain = curvature * cuts->t_low * cuts->t_low * part * (1.0 - part);
        if (gain > most) {
            most = gain;
            node->split = i;
            node->by_points = 1;
            node->at = (int32_t)floor(points);
        }
    }
}

/* The items that the relaxation mixes, and the one that (1) asks for, for the children. */
static void rs_cut_keep(const rs_cuts *cuts, rs_cut_node *node, const rs_newton *w)
{
    for (int i = 0; i < node->size; i++) {
        rs_element *e = &node->element[i];
        const int32_t wanted = rs_cut_inside(cuts->best_item[i], e);
        int32_t item[RS_ACTIVE + 1];
        double u[RS_ACTIVE + 1];
        int n = 0, has = 0;
        for (int l = 0; l < e->n; l++) {
            const int32_t j = rs_cut_inside(e->item[l], e);
            if (w->u[i][l] <= 1e-6) continue;
            if (n && item[n - 1] == j) {
                u[n - 1] += w->u[i][l];
            } else {
                item[n] = j;
                u[n++] = w->u[i][l];
            }
            has |= j == wanted;
        }
        if (!n || (cuts->excess[i] > 1e-6 && !has)) {
            int at = n, least = 0;
            if (n == RS_ACTIVE) {
                for (int l = 1; l < n; l++)
                    if (u[l] < u[least]) least = l;
                at = least;
            } else {
                u[n] = n ? 0.0 : cuts->least[i];
                n++;
            }
            item[at] = wanted;
            for (int l = 1; l < n; l++)
                for (int k = l; k > 0 && item[k] < item[k - 1]; k--) {
                    const int32_t j = item[k];
                    const double x = u[k];
                    item[k] = item[k - 1];
                    u[k] = u[k - 1];
                    item[k - 1] = j;
                    u[k - 1] = x;
                }
        }
        e->n = n;
        for (int l = 0; l < n; l++) {
            e->item[l] = item[l];
            node->u[i][l] = u[l];
        }
    }
}

/* Ranges of points in log-odds, outwards; prices. */
static double rs_cut_ranges(rs_cuts *cuts, const rs_cut_node *node, rs_newton *w)
{
    const double a = node->low * cuts->t_low, b = node->low * cuts->t_high;
    const double c = node->high * cuts->t_low, d = node->high * cuts->t_high;
    double price = 0.0;
    w->low = rs_below(a < b ? a : b);
    w->high = rs_above(c > d ? c : d);
    w->intercept = node->intercept < w->low ? w->low
                 : node->intercept > w->high ? w->high : node->intercept;
    memcpy(w->u, node->u, sizeof w->u);
    for (int i = 0; i < node->size; i++) {
        const rs_element *e = &node->element[i];
        double sum = 0.0;
        cuts->least[i] = rs_below(e->low * cuts->t_low);
        cuts->most[i] = rs_above(e->high * cuts->t_high);
        cuts->of_square[i] = cuts->chain_ridge[e->chain];
        price += cuts->chain_price[e->chain];
        for (int l = 0; l < e->n; l++) sum += w->u[i][l];
        const double to = sum < cuts->least[i] ? cuts->least[i] : sum > cuts->most[i] ? cuts->most[i] : sum;
        for (int l = 0; l < e->n; l++) w->u[i][l] = sum > 0.0 ? w->u[i][l] * (to / sum) : to / e->n;
    }
    return price * (1.0 - (double)(node->size + 2) * DBL_EPSILON);
}

/* Bounds a node and takes away what the cutoff excludes; 0 if that is everything. */
static int rs_cut_evaluate(rs_cuts *cuts, rs_cut_node *node)
{
    rs_newton w;
    double cost[RS_ELEMENTS];
    const double price = rs_cut_ranges(cuts, node, &w);
    cuts->counted[0]++;
    rs_cut_cells(cuts, node);
    const double loss = rs_cut_minimise(cuts, node, &w);
    const double bound = rs_cut_bound(cuts, node, &w, loss, cost) + price;
    if (bound > node->bound) node->bound = bound;
    if (node->bound >= cuts->cutoff) return 0;
    /* What (1) says of a part of the node is known to within what the bound is lowered by. */
    rs_cut_trim(cuts, node, (cuts->cutoff - bound) * (1.0 + 1e-12), cost);
    rs_cut_choose(cuts, node, &w);
    rs_cut_keep(cuts, node, &w);
    node->intercept = w.intercept;
    return 1;
}

/* ---- leaves and children ---------------------------------------------------------------------- */

static int rs_cut_is_leaf(const rs_cut_node *node)
{
    for (int i = 0; i < node->size; i++)
        if (node->element[i].first < node->element[i].last) return 0;
    return 1;
}

/* Whether two elements have to be one item, or items that are apart. */
static int rs_cut_clashes(const rs_cuts *cuts, const rs_cut_node *node)
{
    for (int i = 0; i < node->size; i++) {
        const rs_element *e = &node->element[i];
        if (e->first < e->last) continue;
        const int64_t one = cuts->item[e->chain * cuts->most_rank + e->first];
        for (int k = 0; k < i; k++) {
            const rs_element *f = &node->element[k];
            if (f->first < f->last) continue;
            const int64_t other = cuts->item[f->chain * cuts->most_rank + f->first];
            if (one == other || cuts->apart[one * cuts->n_items + other]) return 1;
        }
    }
    return 0;
}

/* Whether the integer points of a leaf hold nothing below the cutoff. */
static int rs_cut_leaf_excluded(rs_cuts *cuts, rs_cut_node *node)
{
    rs_cut_node only = *node;
    rs_box *box = &cuts->stack[0];
    rs_cells *cells = cuts->cells;
    double price = 0.0, bound = 0.0, squares = 0.0, ridge[RS_ELEMENTS];
    cuts->counted[1]++;
    for (int i = 0; i < node->size; i++) {
        rs_element *e = &only.element[i];
        const int64_t item = cuts->item[e->chain * cuts->most_rank + e->first];
        const double low = cuts->low[item + 1], high = cuts->high[item + 1];
        e->n = 1;
        e->item[0] = e->first;
        price += cuts->price[item];
        const double ends[2] = {rs_below(e->low * cuts->t_low), rs_above(e->high * cuts->t_high)};
        const double from = e->sign ? -ends[1] : ends[0], to = e->sign ? -ends[0] : ends[1];
        box->low[i + 1] = low > from ? low : from;
        box->high[i + 1] = high < to ? high : to;
        if (box->low[i + 1] > box->high[i + 1]) return 1;
        box->z[i + 1] = 0.5 * (box->low[i + 1] + box->high[i + 1]);
        if (cuts->ridge) {
            const double least = e->sign ? -box->high[i + 1] : box->low[i + 1];
            ridge[i] = cuts->ridge[item];
            squares += ridge[i] * least * least;
        }
    }
    squares *= 1.0 - (double)(node->size + 4) * DBL_EPSILON;
    price *= 1.0 - (double)(node->size + 2) * DBL_EPSILON;
    const double a = node->low * cuts->t_low, b = node->low * cuts->t_high;
    const double c = node->high * cuts->t_low, d = node->high * cuts->t_high;
    box->low[0] = rs_below(a < b ? a : b);
    box->high[0] = rs_above(c > d ? c : d);
    box->z[0] = node->intercept;
    rs_cut_cells(cuts, &only);
    cells->n = 0;
    for (int64_t q = 0; q < cuts->n_cells; q++) {
        cells->pattern[cells->n] = cuts->code[q];
        cells->positive[cells->n] = cuts->positive[q];
        cells->negative[cells->n++] = cuts->negative[q];
    }
    if (rs_saturated(cells) + price + squares >= cuts->cutoff) return 1;
    if (rs_is_excluded(cells, cuts->value, cuts->stack, node->size + 1, cuts->t_low, cuts->t_high,
                       cuts->cutoff - price, cuts->ridge ? ridge : NULL, &bound))
        return 1;
    if (bound + price > node->bound) node->bound = bound + price;
    return 0;
}

/* Active items of a part of a range. */
static void rs_cut_narrow(rs_cut_node *node, int i)
{
    rs_element *e = &node->element[i];
    int n = 0;
    for (int l = 0; l < e->n; l++) {
        const int32_t j = rs_cut_inside(e->item[l], e);
        const double u = node->u[i][l];
        if (n && e->item[n - 1] == j) {
            node->u[i][n - 1] += u;
        } else {
            e->item[n] = j;
            node->u[i][n++] = u;
        }
    }
    e->n = n;
}

static int rs_cut_same(const rs_element *a, const rs_element *b)
{
    return a->chain == b->chain && a->sign == b->sign && a->first == b->first && a->last == b->last;
}

/* Children into `out`, at most RS_CHILDREN; they are not bounded yet.
 *
 * Elements with one range are divided together. Where their points are in one range, too, only how
 * many of them get the lower half matters: otherwise which. */
static int rs_cut_divide(const rs_cut_node *node, rs_cut_node *out)
{
    int member[RS_ELEMENTS], n = 0, same = 1, children = 0;
    if (node->by_points) {
        for (int side = 0; side < 2; side++) {
            rs_cut_node *child = &out[side];
            *child = *node;
            int32_t *end = node->split < 0 ? (side ? &child->low : &child->high)
                         : side ? &child->element[node->split].low : &child->element[node->split].high;
            *end = node->at + side;
        }
        return 2;
    }
    const rs_element *e = &node->element[node->split];
    for (int i = 0; i < node->size; i++) {
        const rs_element *f = &node->element[i];
        if (!rs_cut_same(e, f)) continue;
        member[n++] = i;
        if (f->low != e->low || f->high != e->high) same = 0;
    }
    for (int mask = 0; mask < 1 << n; mask++) {
        int n_upper = 0;
        if (same && (mask & (mask + 1))) continue;
        for (int i = 0; i < n; i++) n_upper += mask >> i & 1;
        if (n_upper > e->last - node->at || n - n_upper > node->at - e->first + 1) continue;
        rs_cut_node *child = &out[children++];
        *child = *node;
        for (int i = 0; i < n; i++) {
            if (mask >> i & 1)
                child->element[member[i]].first = node->at + 1;
            else
                child->element[member[i]].last = node->at;
            rs_cut_narrow(child, member[i]);
        }
    }
    return children;
}

static void rs_cut_load(rs_cut_node *node, const int32_t *whole, const double *real)
{
    memcpy(&node->size, whole, 6 * sizeof *whole);
    memcpy(node->element, whole + 6, sizeof node->element);
    node->bound = real[0];
    node->intercept = real[1];
    memcpy(node->u, real + 2, sizeof node->u);
}

static void rs_cut_store(const rs_cut_node *node, int32_t *whole, double *real)
{
    memcpy(whole, &node->size, 6 * sizeof *whole);
    memcpy(whole + 6, node->element, sizeof node->element);
    real[0] = node->bound;
    real[1] = node->intercept;
    memcpy(real + 2, node->u, sizeof node->u);
}

/* What becomes of a node that has just been made: 0 nothing, 1 it is open, 2 a support is left. */
static int rs_cut_open(rs_cuts *cuts, rs_cut_node *node)
{
    if (rs_cut_clashes(cuts, node) || !rs_cut_evaluate(cuts, node)) return 0;
    if (rs_cut_clashes(cuts, node)) return 0;
    if (!rs_cut_is_leaf(node)) return 1;
    if (rs_cut_leaf_excluded(cuts, node)) return 0;
    cuts->counted[2]++;
    return 2;
}

/* Open nodes, and supports that are left, of one call. */
typedef struct {
    int64_t capacity, n, found_capacity, n_found, width, most_evaluated;
    int32_t *whole; /* (capacity, RS_NODE_INTS) */
    double *real;   /* (capacity, RS_NODE_REALS) */
    int64_t *found; /* (found_capacity, width) */
    const int64_t *stop;
} rs_cut_results;

static void rs_cut_out(rs_cut_results *out, const rs_cut_node *node)
{
    rs_cut_store(node, out->whole + out->n * RS_NODE_INTS, out->real + out->n * RS_NODE_REALS);
    out->n++;
}

/* Takes a new node; 1 if it is to be divided now. */
static int rs_cut_take(rs_cuts *cuts, rs_cut_results *out, rs_cut_node *node)
{
    const int status = rs_cut_open(cuts, node);
    if (status == 1 && node->bound < cuts->level) return 1;
    if (status == 1) rs_cut_out(out, node);
    if (status != 2) return 0;
    for (int64_t i = 0; i < out->width; i++) {
        const rs_element *e = &node->element[i];
        out->found[out->n_found * out->width + i]
            = i < node->size ? cuts->item[e->chain * cuts->most_rank + e->first] : -1;
    }
    out->n_found++;
    return 0;
}

static int rs_cut_is_full(const rs_cuts *cuts, const rs_cut_results *out, int64_t n_waiting)
{
    return *(volatile const int64_t *)out->stop || cuts->counted[0] >= out->most_evaluated
        || out->capacity - out->n < n_waiting + 2 * RS_CHILDREN
        || out->found_capacity - out->n_found < RS_CHILDREN;
}

/* Divides nodes until none has a bound below the level, depth first; returns how many of those that
 * were given are done. What a call has no time or room for is open: nothing is lost. */
static int64_t rs_cut_run(
    rs_cuts *cuts, rs_cut_results *out, const int32_t *whole, const double *real, int64_t n)
{
    rs_cut_node *waiting = cuts->waiting, *child = waiting + RS_WAITING;
    for (int64_t p = 0; p < n; p++) {
        int64_t n_waiting = 1;
        if (rs_cut_is_full(cuts, out, 1)) return p;
        rs_cut_load(waiting, whole + p * RS_NODE_INTS, real + p * RS_NODE_REALS);
        if (waiting->bound < 0.0) {
            waiting->bound = 0.0;
            n_waiting = rs_cut_take(cuts, out, waiting);
        }
        while (n_waiting) {
            if (rs_cut_is_full(cuts, out, n_waiting)) {
                while (n_waiting) rs_cut_out(out, &waiting[--n_waiting]);
                return p + 1;
            }
            const int n_children = rs_cut_divide(&waiting[--n_waiting], child);
            for (int i = 0; i < n_children; i++) {
                if (!rs_cut_take(cuts, out, &child[i])) continue;
                if (n_waiting < RS_WAITING)
                    waiting[n_waiting++] = child[i];
                else
                    rs_cut_out(out, &child[i]);
            }
        }
    }
    return n;
}

#endif
