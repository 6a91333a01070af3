/* Bounds of one support from its cells: what tables of supports, and limits on rates, are made of.
 *
 * The method and the rounding errors are those of support_enumeration.h: (1) is its h.
 */
#ifndef RISKSLIM_CELLS_H
#define RISKSLIM_CELLS_H

#include <float.h>
#include "blocks.h"

/* Items of a support, and values of coefficients with the intercept. All planes of a support are at
 * most as many, too; where items have up to eight values, at most ten items fit into a pattern. */
#define RS_MOST_ITEMS 12
#define RS_MOST_COEF (RS_MOST_ITEMS + 1)
#define RS_MOST_CELLS (1 << RS_MOST_ITEMS)
/* Boxes of one support that wait. */
#define RS_DEEPEST 256

#define RS_H_ERROR(cells) ((2.0 * (double)(cells) + 8.0) * DBL_EPSILON)

/* ---- bounds of one support ------------------------------------------------------------- */

/* Cells of one support: weights of both classes, and the numbers of its items' values: each in as
 * many bits, one where all items have two values, and three otherwise. */
typedef struct {
    int32_t n;
    int32_t pattern[RS_MOST_CELLS];
    double positive[RS_MOST_CELLS];
    double negative[RS_MOST_CELLS];
} rs_cells;

/* (1), less what rounding can amount to. */
static double rs_saturated(const rs_cells *cells)
{
    double sum = 0.0;
    for (int32_t c = 0; c < cells->n; c++) {
        const double p = cells->positive[c], n = cells->negative[c];
        if (p > 0.0 && n > 0.0) sum += p * rs_log1p(n / p) + n * rs_log1p(p / n);
    }
    return sum * (1.0 - RS_H_ERROR(cells->n));
}

/* Limits that a score may be asked to keep, and cells of supports that they are looked at in. */
#define RS_MOST_RATES 8
#define RS_RATED_CELLS 1024

/* A limit on the weight of the rows of one class that are predicted wrongly (rated.h). */
typedef struct {
    double direction; /* 1: positives, -1: negatives; u = direction * score */
    double bad;       /* wrong up to here, */
    double good;      /* right from here on */
    double limit;
} rs_rate;

/* Terms of cells in which a rate has a price: with it for u <= from, a line up to `to`. */
typedef struct {
    rs_rate rate;
    double price;
    double slack; /* by which bounds may be too high */
    double slope[RS_RATED_CELLS];
    double at[RS_RATED_CELLS];
    double from[RS_RATED_CELLS];
    double to[RS_RATED_CELLS];
} rs_priced;

/* Solves a x = b in place for a positive definite matrix, rows of `m`; 0 if it is not. */
static int rs_solve(double *a, double *b, int m)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = a[i * RS_MOST_COEF + j];
            for (int k = 0; k < j; k++) sum -= a[i * RS_MOST_COEF + k] * a[j * RS_MOST_COEF + k];
            if (i > j)
                a[i * RS_MOST_COEF + j] = sum / a[j * RS_MOST_COEF + j];
            else if (sum > 0.0)
                a[i * RS_MOST_COEF + i] = sqrt(sum);
            else
                return 0;
        }
    }
    for (int i = 0; i < m; i++) {
        double sum = b[i];
        for (int k = 0; k < i; k++) sum -= a[i * RS_MOST_COEF + k] * b[k];
        b[i] = sum / a[i * RS_MOST_COEF + i];
    }
    for (int i = m - 1; i >= 0; i--) {
        double sum = b[i];
        for (int k = i + 1; k < m; k++) sum -= a[k * RS_MOST_COEF + i] * b[k];
        b[i] = sum / a[i * RS_MOST_COEF + i];
    }
    return 1;
}

/* Loss, gradient and second derivatives at z; returns the bound that its linearisation there gives
 * over the box. `priced` says how cells differ that a rate has a price in, or is NULL. `ridge` has
 * the penalty of the squared coefficient of each item, which is part of all results, or is NULL.
 *
 * By convexity in the scores the loss of any z' is at least loss(s) + slope . (X z' - s) at the
 * computed scores s, whatever their errors; X z' - s is X (z' - z) plus at most (k + 2) u sum |z_j
 * x_j|. Slopes are within 8u of their terms' sizes, a sum over cells adds u per cell, and a
 * derivative is multiplied by a width of the box. `error` has four times the sum of all that.
 *
 * A ridge penalty is not linearised: g (z' - z) + a z'^2 is least where z' = -g / (2 a), or at the end
 * of the box next to it. The place y that is computed is within 2u |y| of that, so that the term is
 * above the least one by at most a (2u y)^2; the sum of its two parts has the errors of a slope's
 * and 4u a y^2 beside. Squares at z and at y are in `error` as losses are.
 */
RS_INLINE double rs_linearised(
    const rs_cells *cells, int bits, const double *value, const double *low, const double *high, int m,
    const double *z, const rs_priced *priced, const double *ridge, double *loss_out, double *gradient,
    double *hessian)
{
    double loss = 0.0, size = 0.0, reach = 0.0, lines = 0.0, squares = 0.0, least_squares = 0.0;
    for (int i = 0; i < m; i++) {
        gradient[i] = 0.0;
        for (int j = 0; j <= i; j++) hessian[i * RS_MOST_COEF + j] = 0.0;
    }
    for (int32_t c = 0; c < cells->n; c++) {
        double x[RS_MOST_COEF], s = z[0];
        x[0] = 1.0;
        for (int j = 1; j < m; j++) {
            const int at = j - 1;
            x[j] = value[(at << bits) + (cells->pattern[c] >> (bits * at) & ((1 << bits) - 1))];
            s += z[j] * x[j];
        }
        const double p = cells->positive[c], n = cells->negative[c];
        const double e = rs_exp_nonpositive(-fabs(s)), q = 1.0 / (1.0 + e);
        const double wrong = s > 0.0 ? n : p, right = s > 0.0 ? p : n;
        double slope = q * (wrong - right * e);
        double curvature = (wrong + right) * (e * q * q);
        double term = (wrong + right) * rs_log1p(e) + wrong * fabs(s), steep = q * (wrong + right * e);
        slope = s > 0.0 ? slope : -slope;
        if (priced) {
            const double u = priced->rate.direction * s;
            if (u <= priced->from[c]) {
                term += priced->price * (priced->rate.direction > 0.0 ? p : n);
            } else if (u < priced->to[c]) {
                term = priced->at[c] + priced->slope[c] * u;
                slope = priced->rate.direction * priced->slope[c];
                lines += fabs(priced->at[c]) + fabs(priced->slope[c] * u);
                steep = fabs(slope);
                curvature *= 0.25; /* of a line there is none, and Newton's steps would be endless */
            }
        }
        loss += term;
        size += steep;
        for (int i = 0; i < m; i++) {
            gradient[i] += slope * x[i];
            const double scaled = curvature * x[i];
            for (int j = 0; j <= i; j++) hessian[i * RS_MOST_COEF + j] += scaled * x[j];
        }
    }
    double bound = loss, widths = 0.0;
    for (int i = 0; i < m; i++) {
        const double below = low[i] - z[i], above = high[i] - z[i];
        const double one = gradient[i] * below, other = gradient[i] * above;
        double largest = 1.0;
        if (i > 0) {
            const double *own = value + ((i - 1) << bits);
            largest = 0.0;
            for (int v = 0; v < 1 << bits; v++) largest = fabs(own[v]) > largest ? fabs(own[v]) : largest;
        }
        if (ridge && i > 0 && ridge[i - 1] > 0.0) {
            const double a = ridge[i - 1], free = -gradient[i] / (2.0 * a);
            const double y = free < low[i] ? low[i] : free > high[i] ? high[i] : free;
            bound += gradient[i] * (y - z[i]) + a * y * y;
            least_squares += a * y * y;
            squares += a * z[i] * z[i];
            gradient[i] += 2.0 * a * z[i];
            hessian[i * RS_MOST_COEF + i] += 2.0 * a;
        } else {
            bound += one < other ? one : other;
        }
        widths += largest * (-below > above ? -below : above);
        reach += largest * fabs(z[i]);
    }
    const double terms = (double)cells->n + 12.0;
    const double sizes = loss + lines + least_squares;
    const double error = 2.0 * DBL_EPSILON * (terms * (2.0 * sizes + size * widths)
                                              + (double)(m + 2) * reach * size);
    *loss_out = loss + squares;
    return priced ? bound - error - priced->slack : bound - error;
}

#define RS_NEWTON_STEPS 40

/* Newton step of the coefficients in `free`, without those at an end of the box that it would
 * push outwards; 0 if the second derivatives say nothing. */
static int rs_newton_step(
    const double *hessian, const double *gradient, const double *low, const double *high,
    const double *z, double *system, double *step, int *free, int *n_free)
{
    for (;;) {
        int kept = 0;
        for (int i = 0; i < *n_free; i++) {
            for (int j = 0; j <= i; j++)
                system[i * RS_MOST_COEF + j] = hessian[free[i] * RS_MOST_COEF + free[j]];
            system[i * RS_MOST_COEF + i] += 1e-10;
            step[i] = -gradient[free[i]];
        }
        if (!rs_solve(system, step, *n_free)) return 0;
        for (int i = 0; i < *n_free; i++) {
            const int j = free[i];
            const int outwards = (z[j] <= low[j] && step[i] < 0.0) || (z[j] >= high[j] && step[i] > 0.0);
            if (!outwards) free[kept++] = j;
        }
        if (kept == *n_free) return 1;
        *n_free = kept;
    }
}

/* A bound of the loss over real coefficients within a box, and of their ridge penalty where there is
 * one, by Newton steps on those that are not at an end of it; ends as soon as it reaches `enough`, or
 * where it cannot rise any more. z is where it begins, and ends. Each item has 2^bits values. */
RS_INLINE double rs_bound_of_cells(
    const rs_cells *cells, int bits, const double *value, const double *low, const double *high, int m,
    double enough, const rs_priced *priced, const double *ridge, double *z)
{
    double next[RS_MOST_COEF], gradient[RS_MOST_COEF], step[RS_MOST_COEF];
    double hessian[RS_MOST_COEF * RS_MOST_COEF], system[RS_MOST_COEF * RS_MOST_COEF];
    int free[RS_MOST_COEF];
    double loss, best = 0.0, tried, bound;
    for (int i = 0; i < m; i++) z[i] = z[i] < low[i] ? low[i] : z[i] > high[i] ? high[i] : z[i];
    bound = rs_linearised(cells, bits, value, low, high, m, z, priced, ridge, &loss, gradient, hessian);
    for (int it = 0; it < RS_NEWTON_STEPS; it++) {
        int n_free = 0;
        double change = 0.0, share = 1.0;
        if (bound > best) best = bound;
        if (best >= enough || loss - best < 1e-10 || (loss < enough && loss - best < 1e-6)) break;
        for (int i = 0; i < m; i++) {
            const int at_low = z[i] <= low[i] && gradient[i] >= 0.0;
            const int at_high = z[i] >= high[i] && gradient[i] <= 0.0;
            if (!at_low && !at_high) free[n_free++] = i;
        }
        if (!rs_newton_step(hessian, gradient, low, high, z, system, step, free, &n_free)) break;
        for (int i = 0; i < m; i++) next[i] = z[i];
        for (int i = 0; i < n_free; i++) {
            const int j = free[i];
            const double to = z[j] + step[i];
            next[j] = to < low[j] ? low[j] : to > high[j] ? high[j] : to;
            change += fabs(next[j] - z[j]);
            /* Where the step would leave the box. */
            const double room = step[i] < 0.0 ? low[j] - z[j] : high[j] - z[j];
            if (step[i] != 0.0 && room / step[i] < share) share = room / step[i];
        }
        if (!(change > 0.0)) break;
        for (int halving = 0;; halving++) {
            bound = rs_linearised(
                cells, bits, value, low, high, m, next, priced, ridge, &tried, gradient, hessian);
            if (bound > best) best = bound;
            if (tried <= loss || halving == 12) break;
            /* A step of which single coefficients are cut off need not lead down; as a whole it does. */
            if (halving == 0 && share < 1.0)
                for (int i = 0; i < n_free; i++) next[free[i]] = z[free[i]] + share * step[i];
            else
                for (int i = 0; i < m; i++) next[i] = 0.5 * (next[i] + z[i]);
        }
        if (tried > loss) break;
        loss = tried;
        for (int i = 0; i < m; i++) z[i] = next[i];
    }
    return best;
}

/* The same of items of two values. */
static double rs_cells_bound(
    const rs_cells *cells, const double *value, const double *low, const double *high, int m,
    double enough, const double *ridge, double *z)
{
    return rs_bound_of_cells(cells, 1, value, low, high, m, enough, NULL, ridge, z);
}

/* The same of items of up to eight values. */
static double rs_wide_cells_bound(
    const rs_cells *cells, const double *value, const double *low, const double *high, int m,
    double enough, const double *ridge, double *z)
{
    return rs_bound_of_cells(cells, 3, value, low, high, m, enough, NULL, ridge, z);
}

/* The work on a box is counted in second derivatives: cells that take as long as the rest of what is
 * done for it, and second derivatives that do so for a cell. */
#define RS_CELLS_OF_A_BOX 16
#define RS_TERMS_OF_A_CELL 12
/* Boxes that one support may be divided into; what they leave open is left to the search. */
#define RS_MOST_BOXES 1000

/* rs_cells_bound or rs_wide_cells_bound */
typedef double (*rs_bound_of)(const rs_cells *cells, const double *value, const double *low,
                              const double *high, int m, double enough, const double *ridge,
                              double *z);

typedef struct {
    double low[RS_MOST_COEF];
    double high[RS_MOST_COEF];
    double z[RS_MOST_COEF];
} rs_box;

/* Ends of parts of a box, in log-odds: t times whole points, rounded outwards. */
RS_INLINE double rs_below(double x)
{
    return x - 2.0 * DBL_EPSILON * fabs(x);
}

RS_INLINE double rs_above(double x)
{
    return x + 2.0 * DBL_EPSILON * fabs(x);
}

/* Which coefficient of a relaxation to divide at, -1 for none, and the ends of the two parts.
 *
 * Every item of a support has points: -1 and 1 are apart. Other than that, points are whole numbers
 * where one point is worth the same everywhere.
 */
static int rs_divide(const rs_box *box, int m, double t_low, double t_high, double *below, double *above)
{
    int chosen = -1;
    double most = 0.0;
    for (int i = 1; i < m; i++) {
        if (box->low[i] >= 0.0 || box->high[i] <= 0.0) continue;
        const double inside = 1.0 - fabs(box->z[i]) / t_low;
        if (inside > most) {
            most = inside;
            chosen = i;
        }
    }
    if (chosen >= 0) {
        *below = rs_above(-t_low);
        *above = rs_below(t_low);
        return chosen;
    }
    if (t_low != t_high) return -1;
    most = 1e-6;
    for (int i = 0; i < m; i++) {
        const double points = box->z[i] / t_low, part = fabs(points - rint(points));
        if (part > most && box->high[i] - box->low[i] > 0.5 * t_low) {
            most = part;
            chosen = i;
        }
    }
    if (chosen >= 0) {
        const double points = floor(box->z[chosen] / t_low);
        *below = rs_above(t_low * points);
        *above = rs_below(t_low * (points + 1.0));
    }
    return chosen;
}

/* Two parts of a box; the nearer one, where a score would be found, comes last and is looked at first. */
RS_INLINE void rs_part(rs_box *box, rs_box *other, int i, double below, double above)
{
    *other = *box;
    if (box->z[i] - below < above - box->z[i]) {
        box->low[i] = above;
        other->high[i] = below;
    } else {
        box->high[i] = below;
        other->low[i] = above;
    }
}

/* Whether the integer points of a box hold nothing below `enough`: depth first over parts of it.
 * `ridge` is as rs_linearised has it.
 *
 * 0 says no more than that this is not known: a part's relaxation has no coefficient to divide at,
 * so that rounding it is likely to give a score that is looked for, parts are too many, or the scan
 * is stopped. The bound of the box itself is returned in `bound`; `n_boxes` is how many were bounded.
 */
static int rs_boxes_are_excluded(
    rs_bound_of bound_of, const rs_cells *cells, const double *value, rs_box *stack, int m,
    double t_low, double t_high, double enough, const double *ridge, double *bound, int64_t *n_boxes,
    int64_t *stop)
{
    int n = 1;
    *n_boxes = 0;
    while (n) {
        rs_box *box = &stack[n - 1], *other = &stack[n];
        double below, above;
        const double least = bound_of(cells, value, box->low, box->high, m, enough, ridge, box->z);
        if (*n_boxes == 0) *bound = least;
        if (++*n_boxes > RS_MOST_BOXES || n == RS_DEEPEST) return 0;
        if (*n_boxes > 1 && rs_stopped(stop)) return 0;
        if (least >= enough) {
            n--;
            continue;
        }
        const int i = rs_divide(box, m, t_low, t_high, &below, &above);
        if (i < 0) return 0;
        rs_part(box, other, i, below, above);
        n++;
    }
    return 1;
}

/* The same of items of two values, whatever the flag is. */
RS_INLINE int rs_is_excluded(
    const rs_cells *cells, const double *value, rs_box *stack, int m, double t_low, double t_high,
    double enough, const double *ridge, double *bound)
{
    int64_t go_on = 0, n_boxes;
    return rs_boxes_are_excluded(
        rs_cells_bound, cells, value, stack, m, t_low, t_high, enough, ridge, bound, &n_boxes, &go_on);
}

#endif
