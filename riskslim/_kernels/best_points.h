/* The best whole points of a support, from its cells.
 *
 * Boxes of integers are bounded as in cells.h and divided down to single vectors, the nearer part
 * first. A vector that is better than what is looked for is what is looked for from then on, less
 * RS_SAME_LOSS: losses that are this near are not told apart, and a box whose relaxation ends at the
 * vector is excluded by it, whose bound is below its loss by rounding errors. Weights that were
 * rounded down make losses smaller, so that the vector is the best one only where they are exact.
 */
#ifndef RISKSLIM_BEST_POINTS_H
#define RISKSLIM_BEST_POINTS_H

#include "rated.h"

#define RS_SAME_LOSS 5e-11
/* Boxes that one support may be divided into: each costs a part of what a node does. */
#define RS_MOST_BEST_BOXES 20000

/* 1: no points have a loss, with their ridge penalty, below *enough, but those of `points` where
 * *is_found; their loss less RS_SAME_LOSS is then in *enough. 0: that is not known. The box begins
 * the stack; its own bound is in `bound`. One point is worth t. */
static int rs_best_points(
    rs_bound_of bound_of, const rs_cells *cells, int bits, const double *value, rs_box *stack, int m,
    double t, const double *ridge, double *enough, double *bound, int64_t *n_boxes, int *is_found,
    int64_t *points, int64_t *stop)
{
    int n = 1;
    *n_boxes = 0;
    *is_found = 0;
    while (n) {
        rs_box *box = &stack[n - 1], *other = &stack[n];
        double below, above;
        const double least = bound_of(cells, value, box->low, box->high, m, *enough, ridge, box->z);
        if (*n_boxes == 0) *bound = least;
        if (++*n_boxes > RS_MOST_BEST_BOXES || n == RS_DEEPEST) return 0;
        if (*n_boxes > 1 && rs_stopped(stop)) return 0;
        if (least >= *enough) {
            n--;
            continue;
        }
        int i = rs_divide(box, m, t, t, &below, &above);
        if (i < 0) {
            int64_t found[RS_MOST_COEF];
            for (int j = 0; j < m; j++) found[j] = (int64_t)rint(box->z[j] / t);
            const double loss =
                rs_loss_of_points(cells, bits, value, found, m, t, NULL, 0, NULL, ridge);
            if (loss < *enough) {
                for (int j = 0; j < m; j++) points[j] = found[j];
                *is_found = 1;
                *enough = loss - RS_SAME_LOSS;
                continue; /* it is bounded once more, with what is looked for now */
            }
            i = rs_divide_widest(box, 0, m, t, &below, &above);
            if (i < 0) {
                n--;
                continue;
            }
        }
        rs_part(box, other, i, below, above);
        n++;
    }
    return 1;
}

/* ---- the same over an interval of scales ------------------------------------------------------
 *
 * A cone has whole points l to u and an interval of t: coefficients are z with t l <= z <= t u. The
 * loss is linearised at solutions for single t. With the gradient g at z, it is at least
 *
 *     loss + g . (z' - z) >= loss - g . z + t sum_i min(g_i l_i, g_i u_i)                          (1)
 *
 * for all z' of the cone with this t: a line in t. One line bounds the cone by its lower end; two of
 * opposite slopes by where they meet, which is the next t to look at. The ridge penalty is convex, and
 * linearised with the loss.
 *
 * Rounding errors: weights add up to at most one, so that the parts of a derivative are at most the
 * largest value x of its item, beside 2 a |z| of a ridge penalty. Losses are within (cells + 32) u of
 * themselves, derivatives within that share of their parts, and each is multiplied by z or by points
 * and t. `error` in rs_line has four times the sum of all that.
 */

/* Losses of a cone that are this near are not worth another t. */
#define RS_CONE_TOLERANCE (0.4 * RS_SAME_LOSS)
#define RS_CONE_STEPS 24
/* Intervals of t are halved until their ends are this near to each other; then points are divided. */
#define RS_NARROW 1.25
#define RS_SCALE_STEPS 200

typedef struct {
    double low[RS_MOST_COEF]; /* whole points */
    double high[RS_MOST_COEF];
    double t_low;
    double t_high;
    double t;
    double z[RS_MOST_COEF];
} rs_cone;

/* A lower bound of the loss in a cone: at + slope t, less `error`. */
typedef struct {
    double at;
    double slope;
    double error;
} rs_line;

static rs_line rs_line_at(
    const rs_cells *cells, int bits, const double *value, const rs_cone *cone, int m, const double *low,
    const double *high, const double *ridge, double *loss)
{
    double gradient[RS_MOST_COEF], hessian[RS_MOST_COEF * RS_MOST_COEF], parts = 0.0;
    rs_line line;
    rs_linearised(
        cells, bits, value, low, high, m, cone->z, NULL, ridge, loss, gradient, hessian);
    line.at = *loss;
    line.slope = 0.0;
    for (int i = 0; i < m; i++) {
        const double one = gradient[i] * cone->low[i], other = gradient[i] * cone->high[i];
        const double most = fmax(fabs(cone->low[i]), fabs(cone->high[i])) * cone->t_high;
        double largest = 1.0;
        if (i > 0) {
            const double *own = value + ((i - 1) << bits);
            largest = 0.0;
            for (int v = 0; v < 1 << bits; v++) largest = fmax(largest, fabs(own[v]));
            if (ridge) largest += 2.0 * ridge[i - 1] * fabs(cone->z[i]);
        }
        line.at -= gradient[i] * cone->z[i];
        line.slope += one < other ? one : other;
        parts += largest * (most + fabs(cone->z[i]));
    }
    line.error = 4.0 * DBL_EPSILON * ((double)cells->n + 32.0) * (*loss + parts);
    return line;
}

/* The least of the larger one of two lines over an interval of t, and where it is. */
RS_INLINE double rs_lines_meet(const rs_line *falls, const rs_line *rises, double *t)
{
    *t = (falls->at - rises->at) / (rises->slope - falls->slope);
    const double one = falls->at + falls->slope * *t, other = rises->at + rises->slope * *t;
    /* Both lines are at least this at any t, if it is rounded: one falls to the left of it. */
    return (one < other ? one : other) - fmax(falls->error, rises->error)
           - 8.0 * DBL_EPSILON * (fabs(falls->at) + fabs(rises->at) + fabs(falls->slope * *t)
                                  + fabs(rises->slope * *t));
}

/* A bound of the loss in a cone, at most what is needed to reach `enough`; where it does not, t and z
 * are a place with less, or the best one that was found. */
static double rs_cone_bound(
    rs_bound_of bound_of, const rs_cells *cells, int bits, const double *value, rs_cone *cone, int m,
    double enough, const double *ridge, int64_t *n_boxes)
{
    double low[RS_MOST_COEF], high[RS_MOST_COEF], best = 0.0, loss;
    rs_line falls = {0.0, 0.0, 0.0}, rises = {0.0, 0.0, 0.0};
    int has_falls = 0, has_rises = 0;
    if (cone->t < cone->t_low) cone->t = cone->t_low;
    if (cone->t > cone->t_high) cone->t = cone->t_high;
    for (int step = 0; step < RS_CONE_STEPS; step++) {
        for (int i = 0; i < m; i++) {
            low[i] = cone->t * cone->low[i];
            high[i] = cone->t * cone->high[i];
        }
        bound_of(cells, value, low, high, m, enough, ridge, cone->z);
        const rs_line line = rs_line_at(cells, bits, value, cone, m, low, high, ridge, &loss);
        ++*n_boxes;
        const double least = line.at
                             + (line.slope > 0.0 ? cone->t_low : cone->t_high) * line.slope - line.error;
        if (least > best) best = least;
        if (line.slope > 0.0) {
            rises = line;
            has_rises = 1;
        } else {
            falls = line;
            has_falls = 1;
        }
        double t = has_rises ? cone->t_low : cone->t_high;
        if (has_falls && has_rises && rises.slope > falls.slope) {
            const double met = rs_lines_meet(&falls, &rises, &t);
            if (met > best) best = met;
        }
        /* A place with less: it holds something, as far as relaxations can say. */
        if (best >= enough || loss < enough || loss - best < RS_CONE_TOLERANCE) break;
        t = t < cone->t_low ? cone->t_low : t > cone->t_high ? cone->t_high : t;
        if (t == cone->t) break;
        cone->t = t;
    }
    return best;
}

/* Least loss of whole points, with the ridge penalty, over an interval of t: convex in t. What is
 * returned is the loss of some t, and within RS_SAME_LOSS / 5 of the least one. */
static double rs_loss_over_scales(
    const rs_cells *cells, int bits, const double *value, const int64_t *points, int m, double t_low,
    double t_high, const double *ridge, double t)
{
    double score[RS_MOST_CELLS], squares = 0.0, loss = HUGE_VAL;
    for (int32_t c = 0; c < cells->n; c++) {
        score[c] = (double)points[0];
        for (int j = 1; j < m; j++)
            score[c] += (double)points[j]
                        * value[((j - 1) << bits)
                                + (cells->pattern[c] >> (bits * (j - 1)) & ((1 << bits) - 1))];
    }
    for (int j = 1; ridge && j < m; j++) squares += ridge[j - 1] * (double)points[j] * (double)points[j];
    if (!(t >= t_low && t <= t_high)) t = 0.5 * (t_low + t_high);
    for (int step = 0; step < RS_SCALE_STEPS; step++) {
        double sum = squares * t * t, slope = 2.0 * squares * t, curvature = 2.0 * squares;
        for (int32_t c = 0; c < cells->n; c++) {
            const double s = score[c] * t, e = rs_exp_nonpositive(-fabs(s)), q = 1.0 / (1.0 + e);
            const double p = cells->positive[c], n = cells->negative[c];
            const double wrong = s > 0.0 ? n : p, right = s > 0.0 ? p : n;
            const double of_s = q * (wrong - right * e);
            sum += (wrong + right) * rs_log1p(e) + wrong * fabs(s);
            slope += (s > 0.0 ? of_s : -of_s) * score[c];
            curvature += (wrong + right) * (e * q * q) * score[c] * score[c];
        }
        if (sum < loss) loss = sum;
        /* By convexity nothing is lower by more than the slope times the way to that end. */
        const double way = slope > 0.0 ? t - t_low : t_high - t;
        if (fabs(slope) * way <= 0.2 * RS_SAME_LOSS) break;
        if (slope > 0.0)
            t_high = t;
        else
            t_low = t;
        const double newton = curvature > 0.0 ? t - slope / curvature : t_low;
        t = newton > t_low && newton < t_high ? newton : 0.5 * (t_low + t_high);
    }
    return loss;
}

/* Where to divide the points of a cone, -1 for nowhere: at zero, next to the most fractional points
 * of its relaxation, or, with `widest`, the widest range. Points up to `below` are one part. */
static int rs_divide_points(const rs_cone *cone, int m, int widest, double *below, double *above)
{
    int chosen = -1;
    double most = 0.0;
    for (int i = 1; i < m; i++) {
        if (cone->low[i] >= 0.0 || cone->high[i] <= 0.0) continue;
        const double inside = widest ? 1.0 : 1.0 - fabs(cone->z[i]) / cone->t;
        if (inside > most) {
            most = inside;
            chosen = i;
        }
    }
    if (chosen >= 0) {
        *below = -1.0;
        *above = 1.0;
        return chosen;
    }
    most = widest ? 0.5 : 1e-6;
    for (int i = 0; i < m; i++) {
        const double points = cone->z[i] / cone->t, range = cone->high[i] - cone->low[i];
        const double part = widest ? range : fabs(points - rint(points));
        if (part > most && range > 0.5) {
            most = part;
            chosen = i;
        }
    }
    if (chosen < 0) return -1;
    *below = floor(cone->z[chosen] / cone->t + (widest ? 0.5 : 0.0));
    if (*below >= cone->high[chosen]) *below = cone->high[chosen] - 1.0;
    if (*below < cone->low[chosen]) *below = cone->low[chosen];
    *above = *below + 1.0;
    return chosen;
}

/* As rs_best_points, for t in an interval; `box` has the ends of points times t. */
static int rs_best_points_over_scales(
    rs_bound_of bound_of, const rs_cells *cells, int bits, const double *value, const rs_box *box, int m,
    double t_low, double t_high, const double *ridge, double *enough, double *bound, int64_t *n_boxes,
    int *is_found, int64_t *points, int64_t *stop)
{
    rs_cone stack[RS_DEEPEST];
    int n = 1, is_first = 1;
    *n_boxes = 0;
    *is_found = 0;
    for (int i = 0; i < m; i++) {
        /* An end that is not 0 is t_high times points, or t_low times them, whichever is beyond. */
        stack[0].low[i] = rint(box->low[i] / (box->low[i] < 0.0 ? t_high : t_low));
        stack[0].high[i] = rint(box->high[i] / (box->high[i] > 0.0 ? t_high : t_low));
        stack[0].z[i] = 0.0;
    }
    stack[0].t_low = t_low;
    stack[0].t_high = t_high;
    stack[0].t = sqrt(t_low * t_high);
    while (n) {
        rs_cone *cone = &stack[n - 1], *other = &stack[n];
        double below, above;
        const double least =
            rs_cone_bound(bound_of, cells, bits, value, cone, m, *enough, ridge, n_boxes);
        if (is_first) *bound = least;
        is_first = 0;
        if (*n_boxes > RS_MOST_BEST_BOXES || n == RS_DEEPEST) return 0;
        if (rs_stopped(stop)) return 0;
        if (least >= *enough) {
            n--;
            continue;
        }
        int i = rs_divide_points(cone, m, 0, &below, &above);
        const int is_sign = i > 0 && below == -1.0 && above == 1.0;
        if (!is_sign && cone->t_high > RS_NARROW * cone->t_low) {
            *other = *cone;
            cone->t_low = other->t_high = sqrt(cone->t_low * cone->t_high);
            n++; /* the smaller t, where points are larger and fit better, first */
            continue;
        }
        if (i < 0) {
            int64_t found[RS_MOST_COEF];
            for (int j = 0; j < m; j++) found[j] = (int64_t)rint(cone->z[j] / cone->t);
            const double loss = rs_loss_over_scales(
                cells, bits, value, found, m, t_low, t_high, ridge, cone->t);
            if (loss < *enough) {
                for (int j = 0; j < m; j++) points[j] = found[j];
                *is_found = 1;
                *enough = loss - RS_SAME_LOSS;
                continue;
            }
            i = rs_divide_points(cone, m, 1, &below, &above);
            if (i < 0) {
                n--;
                continue;
            }
        }
        *other = *cone;
        if (cone->z[i] - below * cone->t < above * cone->t - cone->z[i]) {
            cone->low[i] = above;
            other->high[i] = below;
        } else {
            cone->high[i] = below;
            other->low[i] = above;
        }
        n++;
    }
    return 1;
}

#endif
