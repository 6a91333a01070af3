/* Bounds of one support under limits on rates, from its cells.
 *
 * A rate counts the rows of one class that are predicted wrongly. Let u = s or u = -s be the score
 * in the direction in which they are predicted rightly: those of the class at u <= bad are wrong,
 * and no row lies between bad and good. With a(c) the weight of the class in cell c, b(c) that of the
 * other, and F(u) = a log(1 + e^-u) + b log(1 + e^u), a score that keeps a limit has, for every
 * price >= 0,
 *
 *     loss >= sum_c F(u_c) + price * (sum over wrong cells of a - limit)                        (2)
 *          >= sum_c min(least F for u >= good, least F for u <= bad, + price a) - price limit.  (3)
 *
 * (3) bounds whole supports at any scale, as h does; its largest value is found where rows at the
 * margin cost as much per weight on one side as on the other. Weights that are rounded down make both
 * smaller: F grows with weights, and so does the weight of wrong rows, whose limit stays the same.
 *
 * Over real points of a box, a term of (2) is replaced by its convex envelope on the range of u: F +
 * price a up to u1 <= bad, F from u2 >= good on, and between them a line. For any slope v the line of
 * that slope below both parts has the intercept min(i1, i2), i1 = min over u <= bad of F + price a -
 * v u, i2 = min over u >= good of F - v u, whose places are known: F' = v at e^u = (a + v) / (b - v).
 * i1 - i2 grows with v, concave at first and convex then, so that Newton steps from the chord of bad
 * and good lead to its root without passing it. Where they end |i1 - i2| is left: a tangent of the
 * left part, of a slope below v, lies above the right part by no more than that, and the other way
 * round. rs_priced.slack adds this up, with rounding errors of four losses and products per cell.
 *
 * Boxes of integers are divided down to single vectors. A vector that keeps all limits and is better
 * than what is looked for so far is what is looked for from then on. Where shares at a free threshold
 * are asked for (shares.h), boxes that cannot have them are left, and no vector without them is found.
 */
#ifndef RISKSLIM_RATED_H
#define RISKSLIM_RATED_H

#include "shares.h"

#define RS_BRIDGE_STEPS 30
/* Prices that are tried for the first box of a support, and for others. */
#define RS_FIRST_PRICES 12
#define RS_PRICES 2
/* Boxes that one support may be divided into where what is found in them settles it, or else. */
#define RS_MOST_RATED_BOXES 5000
/* The same where shares at a free threshold are asked for: their limits leave boxes that losses do not,
 * and in the search each of them would be a node. */
#define RS_MOST_SHARED_BOXES 100000

RS_INLINE double rs_cell_loss(double a, double b, double u)
{
    const double e = rs_exp_nonpositive(-fabs(u));
    return (a + b) * rs_log1p(e) + (u > 0.0 ? b : a) * fabs(u);
}

/* e^x where it does not overflow: it decides which of two values that hardly differ is taken. */
RS_INLINE double rs_odds(double x)
{
    return x > 0.0 ? 1.0 / rs_exp_nonpositive(x < 700.0 ? -x : -700.0) : rs_exp_nonpositive(x);
}

/* Where the slope of F is `slope`, within an interval. */
RS_INLINE double rs_place(double a, double b, double slope, double least, double most)
{
    const double above = a + slope, below = b - slope;
    if (!(above > 0.0)) return least;
    if (!(below > 0.0)) return most;
    const double odds = above / below;
    const double u = odds >= 1.0 ? rs_log1p(odds - 1.0) : -rs_log1p(1.0 / odds - 1.0);
    return u < least ? least : u > most ? most : u;
}

/* (3) of the price that makes it largest, less what rounding can amount to. */
static double rs_rated(const rs_cells *cells, const rs_rate *rate, double *right, double *wrong, double *price)
{
    const double at_good = rs_odds(rate->good), at_bad = rs_odds(rate->bad);
    double over = -rate->limit, sum = 0.0;
    for (int32_t c = 0; c < cells->n; c++) {
        const double a = rate->direction > 0.0 ? cells->positive[c] : cells->negative[c];
        const double b = rate->direction > 0.0 ? cells->negative[c] : cells->positive[c];
        const double h = a > 0.0 && b > 0.0 ? a * rs_log1p(b / a) + b * rs_log1p(a / b) : 0.0;
        right[c] = b * at_good <= a ? h : rs_cell_loss(a, b, rate->good);
        wrong[c] = b * at_bad >= a ? h : rs_cell_loss(a, b, rate->bad);
        if (wrong[c] < right[c]) over += a;
    }
    *price = 0.0;
    while (over > 0.0) {
        double least = HUGE_VAL, weight = 0.0;
        for (int32_t c = 0; c < cells->n; c++) {
            const double a = rate->direction > 0.0 ? cells->positive[c] : cells->negative[c];
            const double each = (right[c] - wrong[c]) / a;
            if (!(a > 0.0) || !(each > *price) || each > least) continue;
            weight = each < least ? a : weight + a;
            least = each;
        }
        if (!(least < HUGE_VAL)) break;
        *price = least;
        over -= weight;
    }
    for (int32_t c = 0; c < cells->n; c++) {
        const double a = rate->direction > 0.0 ? cells->positive[c] : cells->negative[c];
        const double priced = wrong[c] + *price * a;
        sum += priced < right[c] ? priced : right[c];
    }
    return sum - *price * rate->limit
           - DBL_EPSILON * ((double)cells->n + 32.0) * (sum + *price * rate->limit);
}

/* The envelope of one cell's term of (2) for u between `least` and `most`. */
RS_INLINE void rs_bridge(rs_priced *priced, int32_t c, double a, double b, double least, double most)
{
    const rs_rate *rate = &priced->rate;
    const double cost = priced->price * a, middle = 0.5 * (rate->bad + rate->good);
    priced->slope[c] = priced->at[c] = 0.0;
    priced->from[c] = priced->to[c] = -HUGE_VAL;
    if (!(cost > 0.0) || least >= middle) return;
    if (most <= middle) {
        priced->from[c] = HUGE_VAL;
        return;
    }
    if (least > rate->bad) least = rate->bad;
    if (most < rate->good) most = rate->good;
    double u1 = rate->bad, u2 = rate->good, one, other;
    double slope = (rs_cell_loss(a, b, u2) - rs_cell_loss(a, b, u1) - cost) / (u2 - u1);
    for (int step = 0;; step++) {
        u1 = rs_place(a, b, slope, least, rate->bad);
        u2 = rs_place(a, b, slope, rate->good, most);
        one = rs_cell_loss(a, b, u1) + cost;
        other = rs_cell_loss(a, b, u2);
        const double next = (other - one) / (u2 - u1);
        if (step == RS_BRIDGE_STEPS || fabs(next - slope) <= 1e-9 * (a + b + fabs(slope))) break;
        slope = next;
    }
    const double left = one - slope * u1, right = other - slope * u2;
    priced->slope[c] = slope;
    priced->at[c] = left < right ? left : right;
    /* At an end of the range, which a place of the slope may be beyond, tangents need not be below. */
    priced->from[c] = u1 <= least ? -HUGE_VAL : u1;
    priced->to[c] = u2 >= most ? HUGE_VAL : u2;
    priced->slack += fabs(left - right)
                     + 16.0 * DBL_EPSILON * (one + other + fabs(slope) * (fabs(u1) + fabs(u2)));
}

/* Range of the score of each cell over a box. */
static void rs_ranges(
    const rs_cells *cells, int bits, const double *value, const rs_box *box, int m, double *least,
    double *most)
{
    for (int32_t c = 0; c < cells->n; c++) {
        least[c] = box->low[0];
        most[c] = box->high[0];
        for (int j = 1; j < m; j++) {
            const int at = j - 1;
            const double x = value[(at << bits) + (cells->pattern[c] >> (bits * at) & ((1 << bits) - 1))];
            const double one = x * box->low[j], other = x * box->high[j];
            least[c] += one < other ? one : other;
            most[c] += one < other ? other : one;
        }
    }
}

/* Whether the rows that are wrong all over a box are more than a limit allows. */
static int rs_breaks(const rs_cells *cells, const rs_rate *rate, const double *least, const double *most)
{
    const double middle = 0.5 * (rate->bad + rate->good);
    double sum = 0.0;
    for (int32_t c = 0; c < cells->n; c++) {
        const double highest = rate->direction > 0.0 ? most[c] : -least[c];
        if (highest <= middle) sum += rate->direction > 0.0 ? cells->positive[c] : cells->negative[c];
    }
    return sum > rate->limit;
}

/* Weight of wrong rows where a relaxation ends, parts of those on lines, beyond the limit. */
static double rs_excess(
    const rs_cells *cells, int bits, const double *value, const double *z, int m, const rs_priced *priced)
{
    const rs_rate *rate = &priced->rate;
    double sum = -rate->limit;
    for (int32_t c = 0; c < cells->n; c++) {
        double s = z[0];
        for (int j = 1; j < m; j++) {
            const int at = j - 1;
            s += z[j] * value[(at << bits) + (cells->pattern[c] >> (bits * at) & ((1 << bits) - 1))];
        }
        const double a = rate->direction > 0.0 ? cells->positive[c] : cells->negative[c];
        const double u = rate->direction * s, middle = 0.5 * (rate->bad + rate->good);
        const double left = priced->from[c], right = priced->to[c];
        if (left > -HUGE_VAL && right < HUGE_VAL && u > left && u < right)
            sum += a * (right - u) / (right - left);
        else if (u <= middle)
            sum += a;
    }
    return sum;
}

/* Bound of a box over real points, of the best of a few prices; `price` is where they begin. */
static double rs_priced_bound(
    const rs_cells *cells, int bits, const double *value, rs_box *box, int m, double enough,
    const double *least, const double *most, rs_priced *priced, int n_prices, const double *ridge,
    int64_t *n_tried)
{
    const double start = priced->price > 0.0 ? priced->price : 0.5;
    double best = 0.0, low = 0.0, high = HUGE_VAL, kept = priced->price;
    /* Without a price first: that takes little time, and most supports are excluded then. */
    if (n_prices == RS_FIRST_PRICES) priced->price = 0.0;
    for (int k = 0; k < n_prices; k++) {
        const double from = priced->price * priced->rate.limit;
        priced->slack = 0.0;
        for (int32_t c = 0; c < cells->n; c++) {
            if (priced->rate.direction > 0.0)
                rs_bridge(priced, c, cells->positive[c], cells->negative[c], least[c], most[c]);
            else
                rs_bridge(priced, c, cells->negative[c], cells->positive[c], -most[c], -least[c]);
        }
        const double bound = rs_bound_of_cells(cells, bits, value, box->low, box->high, m,
                                               enough + from * (1.0 + 1e-15), priced, ridge, box->z)
                             - from * (1.0 + 2.0 * DBL_EPSILON);
        ++*n_tried;
        if (bound > best) {
            best = bound;
            kept = priced->price;
        }
        if (best >= enough) break;
        const double over = rs_excess(cells, bits, value, box->z, m, priced);
        if (over > 0.0)
            low = priced->price;
        else
            high = priced->price;
        if (high <= 0.0 || high - low <= 1e-3 * high) break;
        priced->price = high < HUGE_VAL ? 0.5 * (low + high) : low > 0.0 ? 2.0 * low : start;
    }
    priced->price = kept;
    return best;
}

/* Whether a vector of whole points has no threshold with the shares. */
static int rs_points_break_shares(
    const rs_cells *cells, int bits, const double *value, const int64_t *points, int m,
    const rs_shares *shares)
{
    double score[RS_RATED_CELLS];
    for (int32_t c = 0; c < cells->n; c++) {
        score[c] = 0.0;
        for (int j = 1; j < m; j++) {
            const int at = j - 1;
            score[c] += (double)points[j]
                        * value[(at << bits) + (cells->pattern[c] >> (bits * at) & ((1 << bits) - 1))];
        }
    }
    return rs_breaks_shares(cells, shares, score, score, 0.5);
}

/* Whether points of an item may have either sign. */
RS_INLINE int rs_is_astride(const rs_box *box, int i)
{
    return i > 0 && box->low[i] < 0.0 && box->high[i] > 0.0;
}

/* Loss of a vector of whole points, with the ridge penalty; infinite if it does not keep all limits. */
static double rs_loss_of_points(
    const rs_cells *cells, int bits, const double *value, const int64_t *points, int m, double t,
    const rs_rate *rates, int n_rates, const rs_shares *shares, const double *ridge)
{
    double over[RS_MOST_RATES], loss = 0.0;
    for (int j = 1; ridge && j < m; j++)
        loss += ridge[j - 1] * (t * (double)points[j]) * (t * (double)points[j]);
    for (int r = 0; r < n_rates; r++) over[r] = -rates[r].limit;
    for (int32_t c = 0; c < cells->n; c++) {
        double s = (double)points[0];
        for (int j = 1; j < m; j++) {
            const int at = j - 1;
            s += (double)points[j]
                 * value[(at << bits) + (cells->pattern[c] >> (bits * at) & ((1 << bits) - 1))];
        }
        s *= t;
        loss += rs_cell_loss(cells->positive[c], cells->negative[c], s);
        for (int r = 0; r < n_rates; r++)
            if (rates[r].direction * s <= 0.5 * (rates[r].bad + rates[r].good))
                over[r] += rates[r].direction > 0.0 ? cells->positive[c] : cells->negative[c];
    }
    for (int r = 0; r < n_rates; r++)
        if (over[r] > 0.0) return HUGE_VAL;
    if (shares && rs_points_break_shares(cells, bits, value, points, m, shares)) return HUGE_VAL;
    return loss;
}

/* Whether no scores in a box have shares at a free threshold; the intercept moves all of them. */
static int rs_box_breaks_shares(
    const rs_cells *cells, int bits, const double *value, const rs_box *box, int m, double t,
    const rs_shares *shares)
{
    double least[RS_RATED_CELLS], most[RS_RATED_CELLS];
    rs_box slopes = *box;
    slopes.low[0] = slopes.high[0] = 0.0;
    rs_ranges(cells, bits, value, &slopes, m, least, most);
    return rs_breaks_shares(cells, shares, least, most, 0.5 * t);
}

/* The widest range of whole points, from coefficient `first` on, which is divided next to z, or at 0 for
 * it is no point of an item; -1 if there is but one vector. */
static int rs_divide_widest(
    const rs_box *box, int first, int m, double t, double *below, double *above)
{
    int chosen = -1;
    double most = 0.5 * t;
    for (int i = first; i < m; i++)
        if (box->high[i] - box->low[i] > most) {
            most = box->high[i] - box->low[i];
            chosen = i;
        }
    if (chosen > 0 && box->low[chosen] < 0.0 && box->high[chosen] > 0.0) {
        *below = rs_above(-t);
        *above = rs_below(t);
    } else if (chosen >= 0) {
        double points = rint(box->z[chosen] / t);
        if (t * (points + 0.5) > box->high[chosen]) points -= 1.0;
        *below = rs_above(t * points);
        *above = rs_below(t * (points + 1.0));
    }
    return chosen;
}

/* The best whole points of a support that keep all limits and have a loss below *enough.
 *
 * 1: all of them are excluded but those of `points`, if *is_found; their loss is then in *enough. 0:
 * that is not known. Where the first vector that is found does not settle the others, it is the end.
 */
static int rs_rated_boxes(
    const rs_cells *cells, int bits, const double *value, rs_box *stack, int m, double t_low,
    double t_high, const rs_rate *rates, int n_rates, const rs_shares *shares, int settles,
    rs_priced *priced, const double *ridge, double *enough, double *bound, int64_t *n_tried,
    int *is_found, int64_t *points, int64_t *stop)
{
    double least[RS_RATED_CELLS], most[RS_RATED_CELLS];
    int n = 1;
    int64_t n_boxes = 0;
    *is_found = 0;
    *bound = 0.0;
    while (n) {
        rs_box *box = &stack[n - 1], *other = &stack[n];
        double below, above;
        int breaks = 0;
        if (++n_boxes > (shares ? RS_MOST_SHARED_BOXES : RS_MOST_RATED_BOXES)) return 0;
        if (n == RS_DEEPEST) return 0;
        if (n_boxes > 1 && rs_stopped(stop)) return 0;
        rs_ranges(cells, bits, value, box, m, least, most);
        for (int r = 0; r < n_rates; r++) breaks |= rs_breaks(cells, &rates[r], least, most);
        if (shares && !breaks && t_low == t_high)
            breaks = rs_box_breaks_shares(cells, bits, value, box, m, t_low, shares);
        if (breaks) {
            n--;
            ++*n_tried;
            continue;
        }
        const double lower = rs_priced_bound(
            cells, bits, value, box, m, *enough, least, most, priced,
            n_boxes == 1 ? RS_FIRST_PRICES : RS_PRICES, ridge, n_tried);
        if (n_boxes == 1) *bound = lower;
        if (lower >= *enough) {
            n--;
            continue;
        }
        int i = rs_divide(box, m, t_low, t_high, &below, &above);
        if (i < 0 && t_low != t_high) return 0;
        int64_t found[RS_MOST_COEF];
        for (int j = 0; j < m; j++) found[j] = (int64_t)rint(box->z[j] / t_low);
        /* Where the shares are missed, smaller ranges of points say so sooner than whole ones do. */
        if (i >= 0 && shares && t_low == t_high && !rs_is_astride(box, i)
            && rs_points_break_shares(cells, bits, value, found, m, shares)) {
            const int widest = rs_divide_widest(box, 1, m, t_low, &below, &above);
            if (widest >= 0)
                i = widest;
            else
                rs_divide(box, m, t_low, t_high, &below, &above);
        }
        if (i < 0) {
            const double loss =
                rs_loss_of_points(
                    cells, bits, value, found, m, t_low, rates, n_rates, shares, ridge);
            if (loss < *enough) {
                for (int j = 0; j < m; j++) points[j] = found[j];
                *is_found = 1;
                if (!settles) return 0;
                *enough = loss;
            }
            /* The intercept has no say in shares. */
            if (shares) i = rs_divide_widest(box, 1, m, t_low, &below, &above);
            if (i < 0) i = rs_divide_widest(box, 0, m, t_low, &below, &above);
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
