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

#endif
