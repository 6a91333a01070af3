/* Terms of one feature in a node's bound and relaxation where weights have a ridge penalty.
 *
 * A bound minimises g z + q z^2 over integers z: g is the slope of the loss by the points, and
 * q = alpha tau, where tau is t^2, or its tangent at a t0 where t may lie in an interval. Where the
 * tangent is below zero the term is concave, and its ends are all that counts. A bound that is
 * strong over wide intervals, too, lets every feature have a t of its own ("apart").
 *
 * A relaxation has the convex envelope of what a feature costs (perspective form): with a use z of
 * at most 1 and |w| <= z end, c z + alpha w^2 / z, of which the least over z is a line up to a turn
 * and alpha w^2 + c beyond; c is its price and what the budget asks for a use.
 */
#ifndef RISKSLIM_RIDGE_H
#define RISKSLIM_RIDGE_H

#include <math.h>
#include "build.h"

/* Relative slack of quotients and squares before they are rounded to integers; loosens only. */
#define RS_RIDGE_SLACK 1e-9
#define RS_SQUARE_SLACK 1e-12

RS_INLINE double rs_ridge_term(double g, double q, double z) { return g * z + q * z * z; }

/* Size of the terms that may cancel. */
RS_INLINE double rs_ridge_size(double g, double q, double z)
{
    return fabs(g * z) + fabs(q * z * z);
}

/* Least term over the integers from low to high (low <= high), and one with it. */
RS_INLINE double rs_ridge_least(double g, double q, double low, double high, double *at)
{
    double least = rs_ridge_term(g, q, low), term = rs_ridge_term(g, q, high);
    *at = low;
    if (term < least) {
        least = term;
        *at = high;
    }
    if (q > 0.0) {
        const double vertex = -g / (2.0 * q);
        if (vertex > low && vertex < high) {
            /* Both ways: a vertex next to an integer may be on its other side. */
            const double below = floor(vertex), above = fmin(below + 1.0, high);
            term = rs_ridge_term(g, q, below);
            if (term < least) {
                least = term;
                *at = below;
            }
            term = rs_ridge_term(g, q, above);
            if (term < least) {
                least = term;
                *at = above;
            }
        }
    }
    return least;
}

/* Shrink low..high to the hull of its integers whose term is within a limit; 0 if there is none. */
RS_INLINE int rs_ridge_within(double g, double q, double limit, double *low, double *high)
{
    if (!(q > 0.0)) {
        for (int end = 0; end < 2; end++) {
            const double z = end ? *high : *low;
            const double room = RS_SQUARE_SLACK * (rs_ridge_size(g, q, z) + fabs(limit));
            if (!(rs_ridge_term(g, q, z) > limit + room))
                return 1;
        }
        return 0;
    }
    const double vertex = -g / (2.0 * q);
    const double size = vertex * vertex + fabs(limit / q);
    const double square = vertex * vertex + limit / q + RS_SQUARE_SLACK * size;
    if (square < 0.0)
        return 0;
    if (!(square < INFINITY))
        return 1;
    const double reach = sqrt(square);
    const double slack = RS_RIDGE_SLACK * (1.0 + fabs(vertex) + reach);
    *low = fmax(*low, ceil(vertex - reach - slack));
    *high = fmin(*high, floor(vertex + reach + slack));
    return *low <= *high;
}

/* Least g w + alpha w^2 over the coefficients w = t z of integers 1 <= low <= z <= high, each with a
 * t of its own from t_low to t_high, and a w with it. */
RS_INLINE double rs_ridge_least_apart(
    double g, double alpha, double low, double high, double t_low, double t_high, double *at)
{
    const double vertex = -g / (2.0 * alpha);
    double w = fmin(fmax(vertex, low * t_low), high * t_high), least, term;
    const double above = fmin(fmax(ceil(w / t_high), low), high);
    if (above * t_low > w) {
        /* In a gap between the coefficients of two integers. */
        const double below = fmax(above - 1.0, low) * t_high;
        w = above * t_low;
        least = rs_ridge_term(g, alpha, w);
        term = rs_ridge_term(g, alpha, below);
        if (below < w && term < least) {
            least = term;
            w = below;
        }
    } else {
        least = rs_ridge_term(g, alpha, w);
    }
    *at = w;
    return least;
}

/* The same for -1 >= z. */
RS_INLINE double rs_ridge_least_apart_below(
    double g, double alpha, double low, double high, double t_low, double t_high, double *at)
{
    const double least = rs_ridge_least_apart(-g, alpha, -high, -low, t_low, t_high, at);
    *at = -*at;
    return least;
}

/* Shrink 1 <= low..high to the integers of which some coefficient is within a limit; 0 if none. */
RS_INLINE int rs_ridge_within_apart(
    double g, double alpha, double limit, double t_low, double t_high, double *low, double *high)
{
    const double vertex = -g / (2.0 * alpha);
    const double size = vertex * vertex + fabs(limit / alpha);
    const double square = vertex * vertex + limit / alpha + RS_SQUARE_SLACK * size;
    if (square < 0.0)
        return 0;
    if (!(square < INFINITY))
        return 1;
    const double first = (vertex - sqrt(square)) / t_high, last = (vertex + sqrt(square)) / t_low;
    *low = fmax(*low, ceil(first - RS_RIDGE_SLACK * (1.0 + fabs(first) + fabs(vertex) / t_high)));
    *high = fmin(*high, floor(last + RS_RIDGE_SLACK * (1.0 + fabs(last) + fabs(vertex) / t_low)));
    return *low <= *high;
}

/* The same for low..high <= -1. */
RS_INLINE int rs_ridge_within_apart_below(
    double g, double alpha, double limit, double t_low, double t_high, double *low, double *high)
{
    double first = -*high, last = -*low;
    const int found = rs_ridge_within_apart(-g, alpha, limit, t_low, t_high, &first, &last);
    *low = -last;
    *high = -first;
    return found;
}

/* Where the envelope turns from a line to the penalty itself, on a side that ends at `end` > 0. */
RS_INLINE double rs_turn(double end, double c, double alpha)
{
    return c >= alpha * end * end ? end : sqrt(c / alpha);
}

/* Slope of the line, from 0 to the turn. */
RS_INLINE double rs_line_slope(double turn, double c, double alpha)
{
    return (turn > 0.0 ? c / turn : 0.0) + alpha * turn;
}

/* Envelope at |w| = x > 0. */
RS_INLINE double rs_envelope(double x, double end, double c, double alpha)
{
    const double turn = rs_turn(end, c, alpha);
    return x >= turn ? c + alpha * x * x : rs_line_slope(turn, c, alpha) * x;
}

/* Use of a feature at |w| = x > 0. */
RS_INLINE double rs_ridge_use(double x, double end, double c, double alpha)
{
    const double turn = rs_turn(end, c, alpha);
    return x >= turn ? 1.0 : x / turn;
}

/* Least slope x + alpha x^2 over 0 <= x <= end, for a slope below zero; 0 for others. */
RS_INLINE double rs_least_use(double slope, double end, double alpha)
{
    double x = end;
    if (!(slope < 0.0))
        return 0.0;
    if (-slope < 2.0 * alpha * end)
        x = -slope / (2.0 * alpha);
    return (slope + alpha * x) * x;
}

#endif
