/* Tables of supports: what is the least loss of any score that uses only some items of few values?
 *
 * Items are columns of two to eight values. An item has one to three planes, the bits of the number
 * of its value in a row. Rows that the k planes of some items do not tell apart are one of at most
 * 2^k cells; cell c has the weights P(c) and N(c) of the two classes, and all weights add up to at
 * most one. No score of these items, whatever its points, intercept and scale, has a loss below
 *
 *     h = sum_c P log(1 + N / P) + N log(1 + P / N),                                         (1)
 *
 * the minimum over one free log-odds per cell. A support that h does not exclude is bounded a second
 * time, by the convex loss over real points of a box (rs_cells_bound). A ridge penalty is part of the
 * second bound; beside h there is what the least points of each item make it.
 *
 * Counting. Rows are bits of 64-bit words, sorted by the cell of a prefix of items and by segment; a
 * segment holds rows of one class, each of which stands for 2^shift rows. Eight planes lie side by
 * side: word w of plane j is words[((j / 8) * n_words + w) * 8 + j % 8]. With the counts of a cell
 * and of single items within it, a pair (a, b) of further items of two values needs popcount(a & b)
 * alone. Rows are sorted by the planes of every item of more values: it comes before those of two.
 *
 * Everything that is counted is an integer below 2^31, hence exact. Every floating-point result is
 * the same bits on every machine: no contraction, a fixed order, and our own logarithm.
 *
 * Rounding errors, u = 2^-53:
 *
 * - (1) has no subtraction. P and N are products of an integer and a class's unit (1 rounding), the
 *   quotient has one more; rs_log1p is below 2 ulp, and log1p's relative condition number is at most
 *   1; the product is one more. Each term is within 6u of its value, and a sum of 2 * cells
 *   non-negative terms within 2 * cells * u: h (1 - RS_H_ERROR(cells)) is below the exact one,
 *   however many rows there are.
 * - The first test (rs_test_pairs) is in single precision, v = 2^-24. With r = (P - N) / (P + N) and
 *   q = r^2 the term of a cell is (P + N) H(q) where
 *
 *     H(q) = log 2 - sum_{i >= 1} q^i / (2i (2i - 1)) >= log 2 - sum_{i <= 4} c_i q^i - t q^5,
 *
 *   t = log 2 - c_1 - .. - c_4: the coefficients that are left out add up to t, and q <= 1. As a
 *   function of P and N the right side times P + N has derivatives of at most 6, so that errors of 3v
 *   in each (unit, conversion, product) matter by 18v (P + N); evaluation adds at most 16v (P + N),
 *   and the sum v per cell. RS_TEST_ERROR is twice all of that and more. Where a cell is empty, the
 *   smallest normal number is divided by, not 0.
 */
#ifndef RISKSLIM_SUPPORT_ENUMERATION_H
#define RISKSLIM_SUPPORT_ENUMERATION_H

#include "knapsack.h"
#include "best_points.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define RS_X86 1
#include <immintrin.h>
#else
#define RS_X86 0
#endif

#define RS_TEST_ERROR(cells) ((80.0 + 2.0 * (double)(cells)) * (0.5 * FLT_EPSILON))

#define RS_FULL (-1)
#define RS_STOPPED (-2)
/* Words of eight planes that are counted, and words that are sorted, between two looks at the flag
 * that ends a scan. */
#define RS_COUNTED_WORDS 16384
#define RS_SORTED_WORDS 64

typedef struct {
    int64_t bits;  /* rows */
    int64_t word;  /* its first word */
    int32_t cell;  /* values of the prefix's items, the first one in the lowest bits */
    int16_t label; /* 1: positive class */
    int16_t shift; /* each row stands for 2^shift */
    int64_t ones;  /* of its rows, those in the plane that it is split by, */
    int64_t ones_at; /* and their first word at the next level */
} rs_segment;

/* The rows, sorted by the cells of a prefix. */
typedef struct {
    uint64_t *words;
    int64_t n_words;
    rs_segment *segment;
    int32_t n_segments;
    int32_t n_cells;
    int32_t *pattern; /* of each cell that has rows */
    int32_t *total;   /* (n_cells, 2): rows by class */
    int32_t *single;  /* (n_cells, 2, width): of them those in each plane */
} rs_level;

/* ---- counts ---------------------------------------------------------------------- */

/* count[lane] = number of rows of a segment that have both one item and each of eight others. */
typedef void (*rs_counter)(int32_t *count, const uint64_t *one, const uint64_t *eight, int64_t n);

static void rs_count_portable(
    int32_t *RS_RESTRICT count, const uint64_t *RS_RESTRICT one, const uint64_t *RS_RESTRICT eight,
    int64_t n)
{
    uint64_t sum[8] = {0};
    for (int64_t w = 0; w < n; w++)
        for (int k = 0; k < 8; k++) {
            uint64_t x = one[w] & eight[8 * w + k];
            x -= (x >> 1) & 0x5555555555555555u;
            x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
            x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
            sum[k] += (x * 0x0101010101010101u) >> 56;
        }
    for (int k = 0; k < 8; k++) count[k] = (int32_t)sum[k];
}

#if RS_X86
__attribute__((target("popcnt"))) static void rs_count_popcnt(
    int32_t *RS_RESTRICT count, const uint64_t *RS_RESTRICT one, const uint64_t *RS_RESTRICT eight,
    int64_t n)
{
    uint64_t sum[8] = {0};
    for (int64_t w = 0; w < n; w++)
        for (int k = 0; k < 8; k++)
            sum[k] += (uint64_t)__builtin_popcountll(one[w] & eight[8 * w + k]);
    for (int k = 0; k < 8; k++) count[k] = (int32_t)sum[k];
}

/* Bits of each half byte are looked up, sums of bytes added over eight at a time (Mula). */
__attribute__((target("avx2"))) static void rs_count_avx2(
    int32_t *RS_RESTRICT count, const uint64_t *RS_RESTRICT one, const uint64_t *RS_RESTRICT eight,
    int64_t n)
{
    const __m256i table = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
    __m256i first = zero, second = zero;
    int64_t w = 0;
    while (w < n) {
        /* A byte counts up to 8 per word: 31 words fit. */
        const int64_t end = n - w > 31 ? w + 31 : n;
        __m256i bytes_first = zero, bytes_second = zero;
        for (; w < end; w++) {
            const __m256i mask = _mm256_set1_epi64x((long long)one[w]);
            const __m256i *at = (const __m256i *)(eight + 8 * w);
            const __m256i x = _mm256_and_si256(mask, _mm256_loadu_si256(at));
            const __m256i y = _mm256_and_si256(mask, _mm256_loadu_si256(at + 1));
            const __m256i x_high = _mm256_and_si256(_mm256_srli_epi16(x, 4), low);
            const __m256i y_high = _mm256_and_si256(_mm256_srli_epi16(y, 4), low);
            bytes_first = _mm256_add_epi8(bytes_first, _mm256_add_epi8(
                _mm256_shuffle_epi8(table, _mm256_and_si256(x, low)),
                _mm256_shuffle_epi8(table, x_high)));
            bytes_second = _mm256_add_epi8(bytes_second, _mm256_add_epi8(
                _mm256_shuffle_epi8(table, _mm256_and_si256(y, low)),
                _mm256_shuffle_epi8(table, y_high)));
        }
        first = _mm256_add_epi64(first, _mm256_sad_epu8(bytes_first, zero));
        second = _mm256_add_epi64(second, _mm256_sad_epu8(bytes_second, zero));
    }
    uint64_t sum[8];
    _mm256_storeu_si256((__m256i *)sum, first);
    _mm256_storeu_si256((__m256i *)(sum + 4), second);
    for (int k = 0; k < 8; k++) count[k] = (int32_t)sum[k];
}

__attribute__((target("avx512f,avx512vpopcntdq"))) static void rs_count_avx512(
    int32_t *RS_RESTRICT count, const uint64_t *RS_RESTRICT one, const uint64_t *RS_RESTRICT eight,
    int64_t n)
{
    __m512i even = _mm512_setzero_si512(), odd = even;
    int64_t w = 0;
    for (; w + 2 <= n; w += 2) {
        const __m512i x = _mm512_and_si512(
            _mm512_loadu_si512(eight + 8 * w), _mm512_set1_epi64((long long)one[w]));
        const __m512i y = _mm512_and_si512(
            _mm512_loadu_si512(eight + 8 * w + 8), _mm512_set1_epi64((long long)one[w + 1]));
        even = _mm512_add_epi64(even, _mm512_popcnt_epi64(x));
        odd = _mm512_add_epi64(odd, _mm512_popcnt_epi64(y));
    }
    if (w < n)
        even = _mm512_add_epi64(even, _mm512_popcnt_epi64(_mm512_and_si512(
            _mm512_loadu_si512(eight + 8 * w), _mm512_set1_epi64((long long)one[w]))));
    _mm256_storeu_si256((__m256i *)count, _mm512_cvtepi64_epi32(_mm512_add_epi64(even, odd)));
}
#endif

/* Best level of instructions that this machine has: 0 portable, 1 popcnt, 2 AVX2, 3 AVX-512. */
static int rs_best_level(void)
{
#if RS_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vpopcntdq")) return 3;
    if (__builtin_cpu_supports("avx2")) return 2;
    if (__builtin_cpu_supports("popcnt")) return 1;
#endif
    return 0;
}

static rs_counter rs_counter_of(int level)
{
#if RS_X86
    if (level == 3) return rs_count_avx512;
    if (level == 2) return rs_count_avx2;
    if (level == 1) return rs_count_popcnt;
#endif
    (void)level;
    return rs_count_portable;
}

/* ---- splitting the rows by one more plane ----------------------------------------- */

/* Moves that bring the bits of a mask together at the low end, a halving at a time (Warren,
 * Hacker's Delight, 7-4). They are computed once for all items. */
typedef struct {
    uint64_t mask;
    uint64_t move[6];
} rs_compress;

RS_INLINE rs_compress rs_compress_of(uint64_t m)
{
    rs_compress out;
    uint64_t to_move = ~m << 1;
    out.mask = m;
    for (int i = 0; i < 6; i++) {
        uint64_t odd = to_move ^ (to_move << 1);
        odd ^= odd << 2;
        odd ^= odd << 4;
        odd ^= odd << 8;
        odd ^= odd << 16;
        odd ^= odd << 32;
        out.move[i] = odd & m;
        m = (m ^ out.move[i]) | (out.move[i] >> (1 << i));
        to_move &= ~odd;
    }
    return out;
}

RS_INLINE int rs_popcount(uint64_t x)
{
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int)((x * 0x0101010101010101u) >> 56);
}

/* Appends chosen bits of eight words to eight strings of bits that are `at` long. A word is set
 * when it is first reached, and added to later. */
RS_INLINE void rs_append(
    uint64_t *RS_RESTRICT to, const uint64_t *RS_RESTRICT from, const rs_compress *c, int64_t at,
    int n_bits)
{
    uint64_t x[8];
    const int offset = (int)(at & 63);
    uint64_t *first = to + 8 * (at >> 6);
    for (int k = 0; k < 8; k++) x[k] = from[k] & c->mask;
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 8; k++) {
            const uint64_t t = x[k] & c->move[i];
            x[k] = (x[k] ^ t) | (t >> (1 << i));
        }
    if (offset == 0) {
        for (int k = 0; k < 8; k++) first[k] = x[k];
        return;
    }
    for (int k = 0; k < 8; k++) first[k] |= x[k] << offset;
    if (offset + n_bits > 64)
        for (int k = 0; k < 8; k++) first[8 + k] = x[k] >> (64 - offset);
}

/* Words of one segment, of the groups from `group` on: those in the plane to `ones`, the others
 * to `zeros`. Not 0 if it was stopped. */
RS_KERNEL int rs_split_words(
    uint64_t *RS_RESTRICT to, int64_t to_words, int64_t zeros, int64_t ones,
    const uint64_t *RS_RESTRICT from, int64_t from_words, int64_t word, int64_t bits, int64_t plane,
    int64_t group, int64_t n_groups, int64_t *stop)
{
    const uint64_t *chosen = from + ((plane / 8) * from_words + word) * 8 + plane % 8;
    int64_t at_one = 0, at_zero = 0;
    for (int64_t w = 0; 64 * w < bits; w++) {
        if (w % RS_SORTED_WORDS == RS_SORTED_WORDS - 1 && rs_stopped(stop)) return RS_STOPPED;
        const int64_t left = bits - 64 * w;
        const uint64_t valid = left >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << left) - 1;
        const uint64_t have = chosen[8 * w];
        const rs_compress one = rs_compress_of(have), zero = rs_compress_of(~have & valid);
        const int n_one = rs_popcount(one.mask), n_zero = rs_popcount(zero.mask);
        for (int64_t g = group; g < n_groups; g++) {
            const uint64_t *source = from + (g * from_words + word + w) * 8;
            uint64_t *base = to + g * to_words * 8;
            if (n_one) rs_append(base + 8 * ones, source, &one, at_one, n_one);
            if (n_zero) rs_append(base + 8 * zeros, source, &zero, at_zero, n_zero);
        }
        at_one += n_one;
        at_zero += n_zero;
    }
    return 0;
}

/* ---- the first test ------------------------------------------------------------------ */

RS_INLINE float rs_test_term(int32_t positive, int32_t negative, float p_unit, float n_unit)
{
    const float p = (float)positive * p_unit, n = (float)negative * n_unit;
    const float sum = p + n;
    const float r = (p - n) / (sum + FLT_MIN);
    const float q = r * r;
    float v = 0.058623400f; /* a little above log 2 - 1/2 - 1/12 - 1/30 - 1/56 */
    v = v * q + 0.017857144f;
    v = v * q + 0.033333335f;
    v = v * q + 0.083333336f;
    v = v * q + 0.5f;
    return sum * (0.69314718f - v * q);
}

/* out[b] += what the four parts have into which item a and each item b divide one cell. */
RS_KERNEL void rs_test_pairs(
    float *RS_RESTRICT out, const int32_t *RS_RESTRICT both_p, const int32_t *RS_RESTRICT both_n,
    const int32_t *RS_RESTRICT single_p, const int32_t *RS_RESTRICT single_n, int32_t a_p, int32_t a_n,
    int32_t all_p, int32_t all_n, float p_unit, float n_unit, ptrdiff_t n)
{
    for (ptrdiff_t b = 0; b < n; b++) {
        const int32_t p = both_p[b], m = both_n[b], sp = single_p[b], sm = single_n[b];
        const float both = rs_test_term(p, m, p_unit, n_unit);
        const float only_a = rs_test_term(a_p - p, a_n - m, p_unit, n_unit);
        const float only_b = rs_test_term(sp - p, sm - m, p_unit, n_unit);
        const float none = rs_test_term(all_p - a_p - sp + p, all_n - a_n - sm + m, p_unit, n_unit);
        out[b] += (both + only_a) + (only_b + none);
    }
}

/* The same of the two parts into which one item divides a cell. */
RS_KERNEL void rs_test_singles(
    float *RS_RESTRICT out, const int32_t *RS_RESTRICT single_p, const int32_t *RS_RESTRICT single_n,
    int32_t all_p, int32_t all_n, float p_unit, float n_unit, ptrdiff_t n)
{
    for (ptrdiff_t b = 0; b < n; b++) {
        const float one = rs_test_term(single_p[b], single_n[b], p_unit, n_unit);
        const float other = rs_test_term(all_p - single_p[b], all_n - single_n[b], p_unit, n_unit);
        out[b] += one + other;
    }
}

/* The same of cells as they are. */
static double rs_test_cells(
    const int32_t *RS_RESTRICT total, int32_t n_cells, float p_unit, float n_unit)
{
    double sum = 0.0;
    for (int32_t c = 0; c < n_cells; c++)
        sum += (double)rs_test_term(total[2 * c + 1], total[2 * c], p_unit, n_unit);
    return sum;
}

/* ---- the scan --------------------------------------------------------------------------- */

typedef struct {
    int64_t n_items;
    int64_t n_groups;
    int64_t width;         /* 8 * n_groups */
    int bits;              /* of an item's value in a pattern: 1, or 3 */
    const int64_t *plane;  /* n_items + 1: item i has the planes plane[i] .. plane[i + 1] - 1 */
    int64_t pairs_from;    /* items from here on have two values */
    int64_t shift;         /* an item's plane less the item, of those */
    const double *value;   /* (n_items, 2^bits) */
    const double *low;     /* n_items + 1, intercept first, in log-odds per unit of value */
    const double *high;
    const double *price;   /* n_items: what an item costs at least */
    const double *fee;     /* n_items: of it, what does not depend on its points */
    const double *ridge;   /* n_items: penalty of a squared coefficient; NULL: there is none */
    const uint8_t *apart;  /* (n_items, n_items): not both */
    double unit[2];        /* weight of one row, by class; 1: positive */
    double t_low;          /* what one point may be worth */
    double t_high;
    double cutoff;
    int64_t min_size;
    int64_t max_size;
    const rs_rate *rates;
    int n_rates;
    const rs_shares *shares; /* that scores have at some threshold, or NULL */
    int settles;           /* of what is no better than a vector that keeps them nothing is wanted: of
                            * no support, or, RS_EACH, of its own */
    rs_knapsack *knapsack; /* rules are looked for, not scores: weights are counts (knapsack.h) */
    int64_t *stop;
    rs_counter counter;
    /* results */
    int64_t capacity;
    int64_t n_found;
    int64_t *found;        /* (capacity, max_size) */
    double *bound;         /* capacity; infinite: nothing is left but the vector */
    int64_t *vector;       /* (capacity, max_size + 1), intercept first; RS_NO_VECTOR: none */
    int64_t *counted;      /* supports: looked at, past the first test, past h, left; work on boxes */
    /* workspace */
    rs_level *level;       /* by planes of the prefix */
    int32_t *both;         /* (cells, 2, width) */
    float *test;           /* width */
    uint64_t *chosen;      /* words of one plane */
    rs_cells *cells;
    rs_box *stack;         /* RS_DEEPEST */
    rs_priced *priced;
    int64_t item[RS_MOST_ITEMS];
    int64_t unlooked;      /* words that were counted since the last look at the flag */
} rs_scan;

#define RS_NO_VECTOR INT64_MIN
#define RS_EACH 2

/* Whether points of a support are looked for that keep limits: as many cells as their boxes have room
 * for, and whole scores. */
RS_INLINE int rs_is_limited(const rs_scan *scan)
{
    const int is_whole = scan->shares && scan->shares->is_whole;
    return (scan->n_rates || is_whole) && scan->cells->n <= RS_RATED_CELLS;
}

/* Notes a support that is left, or a vector of it; 0 or RS_FULL. */
static int rs_note(rs_scan *scan, int size, double bound, const int64_t *points)
{
    if (scan->n_found == scan->capacity) return RS_FULL;
    scan->counted[3] += bound < HUGE_VAL;
    for (int i = 0; i < scan->max_size; i++)
        scan->found[scan->n_found * scan->max_size + i] = i < size ? scan->item[i] : -1;
    if (scan->n_rates || scan->shares || scan->settles == RS_EACH) {
        int64_t *vector = scan->vector + scan->n_found * (scan->max_size + 1);
        vector[0] = RS_NO_VECTOR;
        for (int i = 0; points && i < size + 1; i++) vector[i] = points[i];
    }
    scan->bound[scan->n_found++] = bound;
    return 0;
}

/* Bounds a support under limits on rates, in the box that begins the stack; 0 or RS_FULL. */
static int rs_consider_rates(
    rs_scan *scan, const double *value, const double *ridge, int size, double saturated, double price,
    double fee)
{
    double right[RS_RATED_CELLS], wrong[RS_RATED_CELLS], bound, enough = scan->cutoff - fee;
    int64_t points[RS_MOST_COEF], n_tried = 0;
    int is_found, settled;
    rs_priced *priced = scan->priced;
    /* Boxes of points tell scores apart by half a point. */
    const rs_shares *shares = scan->shares && scan->shares->is_whole ? scan->shares : NULL;
    /* A limit that all rows keep, where there is no other one. */
    const rs_rate none = {1.0, 0.0, 0.0, 2.0};
    priced->rate = none;
    priced->price = 0.0;
    /* The limit that bounds best has a price; the others are looked at in boxes. */
    for (int r = 0; r < scan->n_rates; r++) {
        double of_rate;
        const double rated = rs_rated(scan->cells, &scan->rates[r], right, wrong, &of_rate);
        if (rated + price >= scan->cutoff) return 0;
        if (r && rated <= saturated) continue;
        saturated = rated > saturated ? rated : saturated;
        priced->rate = scan->rates[r];
        priced->price = of_rate;
    }
    settled = rs_rated_boxes(
        scan->cells, scan->bits, value, scan->stack, size + 1, scan->t_low, scan->t_high, scan->rates,
        scan->n_rates, shares, scan->settles, priced, ridge, &enough, &bound, &n_tried, &is_found, points,
        scan->stop);
    scan->counted[4] += n_tried * (scan->cells->n + RS_CELLS_OF_A_BOX)
                        * ((size + 1) * (size + 2) / 2 + RS_TERMS_OF_A_CELL);
    if (settled && !is_found) return 0;
    if (is_found && scan->settles == 1 && enough + fee < scan->cutoff) scan->cutoff = enough + fee;
    bound += fee;
    if (saturated + price > bound) bound = saturated + price;
    return rs_note(scan, size, settled ? HUGE_VAL : bound, is_found ? points : NULL);
}

/* The best points of a support, in the box that begins the stack; 0 or RS_FULL. */
static int rs_consider_each(
    rs_scan *scan, const double *value, const double *ridge, int size, double saturated, double price,
    double fee)
{
    double bound, enough = scan->cutoff - fee;
    int64_t points[RS_MOST_COEF], n_boxes;
    int is_found, settled;
    const rs_bound_of bound_of = scan->bits == 1 ? rs_cells_bound : rs_wide_cells_bound;
    if (scan->t_low == scan->t_high)
        settled = rs_best_points(
            bound_of, scan->cells, scan->bits, value, scan->stack, size + 1, scan->t_low, ridge, &enough,
            &bound, &n_boxes, &is_found, points, scan->stop);
    else
        settled = rs_best_points_over_scales(
            bound_of, scan->cells, scan->bits, value, scan->stack, size + 1, scan->t_low, scan->t_high,
            ridge, &enough, &bound, &n_boxes, &is_found, points, scan->stop);
    scan->counted[4] += n_boxes * (scan->cells->n + RS_CELLS_OF_A_BOX)
                        * ((size + 1) * (size + 2) / 2 + RS_TERMS_OF_A_CELL);
    if (settled) return is_found ? rs_note(scan, size, HUGE_VAL, points) : 0;
    bound += fee;
    if (saturated + price > bound) bound = saturated + price;
    return rs_note(scan, size, bound, NULL);
}

/* Tests one support whose cells are known; 0, RS_FULL or RS_STOPPED. */
static int rs_consider(rs_scan *scan, int size)
{
    double price = 0.0, fee = 0.0, bound = 0.0, value[8 * RS_MOST_ITEMS], ridge[RS_MOST_ITEMS];
    const double *of_points = scan->ridge ? ridge : NULL;
    rs_box *box = &scan->stack[0];
    const int n_values = 1 << scan->bits;
    int64_t n_boxes;
    if (rs_stopped(scan->stop)) return RS_STOPPED;
    scan->counted[1]++;
    if (scan->knapsack) {
        const double wrong = rs_knapsack_bound(scan->cells, scan->knapsack, scan->cutoff);
        return wrong >= scan->cutoff ? 0 : rs_note(scan, size, wrong, NULL);
    }
    for (int i = 0; i < size; i++) price += scan->price[scan->item[i]];
    price *= 1.0 - (double)size * DBL_EPSILON;
    for (int i = 0; i < size; i++) fee += scan->fee[scan->item[i]];
    fee *= 1.0 - (double)size * DBL_EPSILON;
    const double saturated = rs_saturated(scan->cells);
    if (saturated + price >= scan->cutoff) return 0;
    if (scan->shares && rs_shares_are_out_of_reach(scan->cells, scan->shares)) return 0;
    scan->counted[2]++;
    box->low[0] = scan->low[0];
    box->high[0] = scan->high[0];
    box->z[0] = 0.0;
    for (int i = 0; i < size; i++) {
        const int64_t j = scan->item[i];
        box->low[i + 1] = scan->low[j + 1];
        box->high[i + 1] = scan->high[j + 1];
        /* A vector without points of an item is one of another support. */
        if (scan->settles == RS_EACH && box->low[i + 1] == 0.0) box->low[i + 1] = rs_below(scan->t_low);
        if (scan->settles == RS_EACH && box->high[i + 1] == 0.0) box->high[i + 1] = -rs_below(scan->t_low);
        box->z[i + 1] = 0.0;
        if (scan->ridge) ridge[i] = scan->ridge[j];
        for (int v = 0; v < n_values; v++) value[n_values * i + v] = scan->value[n_values * j + v];
    }
    if (rs_is_limited(scan))
        return rs_consider_rates(scan, value, of_points, size, saturated, price, fee);
    if (scan->settles == RS_EACH && !scan->n_rates && !scan->shares)
        return rs_consider_each(scan, value, of_points, size, saturated, price, fee);
    const int excluded = rs_boxes_are_excluded(
        scan->bits == 1 ? rs_cells_bound : rs_wide_cells_bound, scan->cells, value, scan->stack,
        size + 1, scan->t_low, scan->t_high, scan->cutoff - fee, of_points, &bound, &n_boxes, scan->stop);
    scan->counted[4] += n_boxes * (scan->cells->n + RS_CELLS_OF_A_BOX)
                        * ((size + 1) * (size + 2) / 2 + RS_TERMS_OF_A_CELL);
    if (excluded) return 0;
    bound += fee;
    if (saturated + price > bound) bound = saturated + price;
    return rs_note(scan, size, bound, NULL);
}

RS_INLINE void rs_put_cell(rs_scan *scan, int32_t pattern, int32_t positive, int32_t negative)
{
    rs_cells *cells = scan->cells;
    if (positive == 0 && negative == 0) return;
    cells->pattern[cells->n] = pattern;
    cells->positive[cells->n] = (double)positive * scan->unit[1];
    cells->negative[cells->n++] = (double)negative * scan->unit[0];
}

/* Segments of the next level, with the words of groups of planes before `n_groups`. Those that are
 * not in the plane come first: cells, which have its bit at `place`, stay in ascending order. */
static int rs_split(rs_scan *scan, int depth, int64_t plane, int64_t n_groups, int place)
{
    const rs_level *from = &scan->level[depth];
    rs_level *to = &scan->level[depth + 1];
    const int64_t group = (plane + 1) / 8;
    int64_t word = 0;
    to->n_segments = 0;
    for (int32_t s = 0; s < from->n_segments; s++) {
        rs_segment *segment = &from->segment[s];
        const int64_t n = (segment->bits + 63) / 64;
        const uint64_t *have =
            from->words + ((plane / 8) * from->n_words + segment->word) * 8 + plane % 8;
        int64_t ones = 0;
        for (int64_t w = 0; w < n; w++) ones += rs_popcount(have[8 * w]);
        segment->ones = ones;
        segment->ones_at = word + (segment->bits - ones + 63) / 64;
        if (group < n_groups
            && rs_split_words(to->words, to->n_words, word, segment->ones_at, from->words,
                              from->n_words, segment->word, segment->bits, plane, group, n_groups,
                              scan->stop))
            return RS_STOPPED;
        if (segment->bits > ones) {
            rs_segment *child = &to->segment[to->n_segments++];
            *child = *segment;
            child->bits = segment->bits - ones;
            child->word = word;
        }
        word = segment->ones_at + (ones + 63) / 64;
    }
    for (int32_t s = 0; s < from->n_segments; s++) {
        const rs_segment *segment = &from->segment[s];
        if (!segment->ones) continue;
        rs_segment *child = &to->segment[to->n_segments++];
        *child = *segment;
        child->bits = segment->ones;
        child->word = segment->ones_at;
        child->cell = segment->cell | (int32_t)1 << place;
    }
    return 0;
}

/* Sorts the rows by the planes of one more item; 0 or RS_STOPPED. Of the last item of a support
 * only the cells are wanted. */
static int rs_sort(rs_scan *scan, int size, int depth, int64_t item, int is_last)
{
    const int64_t begin = scan->plane[item], end = scan->plane[item + 1];
    scan->item[size] = item;
    for (int64_t p = begin; p < end; p++) {
        const int64_t n_groups = !is_last ? scan->n_groups : p + 1 == end ? 0 : (end + 7) / 8;
        const int bit = (int)(p - begin);
        if (rs_split(scan, depth + bit, p, n_groups, scan->bits * size + bit)) return RS_STOPPED;
    }
    return 0;
}

/* Adds the rows of one segment that are in `chosen` and in each plane of the groups from `group`
 * on; 0 or RS_STOPPED. */
static int rs_add_counts(
    rs_scan *scan, int32_t *sum, const rs_level *level, const rs_segment *segment, int64_t group)
{
    const int64_t n = (segment->bits + 63) / 64;
    int32_t count[8];
    for (int64_t g = group; g < scan->n_groups; g++) {
        scan->counter(count, scan->chosen, level->words + (g * level->n_words + segment->word) * 8, n);
        for (int k = 0; k < 8; k++) sum[8 * g + k] += (int32_t)((uint32_t)count[k] << segment->shift);
        scan->unlooked += n;
        if (scan->unlooked < RS_COUNTED_WORDS) continue;
        scan->unlooked = 0;
        if (rs_stopped(scan->stop)) return RS_STOPPED;
    }
    return 0;
}

/* Totals of each cell, and where asked for the rows of each plane from `first` on in it; 0 or
 * RS_STOPPED. */
static int rs_count_level(rs_scan *scan, int depth, int64_t first, int with_singles)
{
    rs_level *level = &scan->level[depth];
    const int64_t width = scan->width;
    level->n_cells = 0;
    for (int32_t s = 0; s < level->n_segments; s++) {
        const rs_segment *segment = &level->segment[s];
        const int64_t n = (segment->bits + 63) / 64;
        if (!level->n_cells || level->pattern[level->n_cells - 1] != segment->cell) {
            level->pattern[level->n_cells] = segment->cell;
            for (int side = 0; side < 2; side++) level->total[2 * level->n_cells + side] = 0;
            if (with_singles)
                memset(level->single + 2 * level->n_cells * width, 0,
                       2 * (size_t)width * sizeof *level->single);
            level->n_cells++;
        }
        const int32_t row = 2 * (level->n_cells - 1) + segment->label;
        level->total[row] += (int32_t)(segment->bits << segment->shift);
        if (!with_singles) continue;
        for (int64_t w = 0; w < n; w++) scan->chosen[w] = ~UINT64_C(0);
        if (rs_add_counts(scan, level->single + row * width, level, segment, first / 8))
            return RS_STOPPED;
    }
    return 0;
}

RS_INLINE int rs_is_apart(const rs_scan *scan, int size, int64_t item)
{
    for (int i = 0; i < size; i++)
        if (scan->apart[scan->item[i] * scan->n_items + item]) return 1;
    return 0;
}

/* A bound of a support from its first test. */
RS_INLINE double rs_least(const rs_scan *scan, float test, int32_t n_cells)
{
    if (!scan->knapsack) return (double)test - RS_TEST_ERROR(n_cells);
    return (double)test * (1.0 - RS_PRICED_ERROR(n_cells))
           - (double)(float)scan->knapsack->price * scan->knapsack->capacity * (1.0 + 1e-15);
}

/* The support of the prefix alone. */
static int rs_scan_itself(rs_scan *scan, int size, int depth)
{
    const rs_level *level = &scan->level[depth];
    double price = 0.0;
    scan->counted[0]++;
    if (depth > size && !scan->knapsack) {
        /* Most supports with items of more than two values come by here. */
        const double least =
            rs_test_cells(level->total, level->n_cells, (float)scan->unit[1], (float)scan->unit[0])
            - RS_TEST_ERROR(level->n_cells);
        for (int i = 0; i < size; i++) price += scan->price[scan->item[i]];
        if (least + price * (1.0 - 1e-14) >= scan->cutoff) return 0;
    }
    scan->cells->n = 0;
    for (int32_t c = 0; c < level->n_cells; c++)
        rs_put_cell(scan, level->pattern[c], level->total[2 * c + 1], level->total[2 * c]);
    return rs_consider(scan, size);
}

/* Supports of the prefix and one more item of two values. */
static int rs_scan_singles(rs_scan *scan, int size, int depth, int64_t first)
{
    const rs_level *level = &scan->level[depth];
    const int64_t width = scan->width, begin = (first + scan->shift) / 8 * 8;
    const int64_t n_planes = scan->n_items + scan->shift;
    const float p_unit = (float)scan->unit[1], n_unit = (float)scan->unit[0];
    const int side = scan->knapsack ? scan->knapsack->side : 1;
    double price = 0.0;
    int status;
    if (scan->knapsack) {
        scan->cells->n = 0;
        for (int32_t c = 0; c < level->n_cells; c++)
            rs_put_cell(scan, level->pattern[c], level->total[2 * c + 1], level->total[2 * c]);
        rs_knapsack_bound(scan->cells, scan->knapsack, HUGE_VAL);
    }
    const float each = scan->knapsack ? (float)scan->knapsack->price : 0.0f;
    memset(scan->test, 0, (size_t)width * sizeof *scan->test);
    for (int32_t c = 0; c < level->n_cells; c++) {
        const int32_t *total = level->total + 2 * c;
        const int32_t *single = level->single + 2 * c * width + begin;
        if (rs_stopped(scan->stop)) return RS_STOPPED;
        if (scan->knapsack)
            rs_price_singles(scan->test + begin, single + side * width, single + (1 - side) * width,
                             total[side], total[1 - side], each, n_planes - begin);
        else
            rs_test_singles(scan->test + begin, single + width, single, total[1], total[0], p_unit,
                            n_unit, n_planes - begin);
    }
    for (int i = 0; i < size; i++) price += scan->price[scan->item[i]];
    for (int64_t b = first; b < scan->n_items; b++) {
        if (rs_is_apart(scan, size, b)) continue;
        scan->counted[0]++;
        if (scan->knapsack) scan->knapsack->price = each;
        const double least = rs_least(scan, scan->test[b + scan->shift], 2 * level->n_cells);
        if (least + (price + scan->price[b]) * (1.0 - 1e-14) >= scan->cutoff) continue;
        scan->cells->n = 0;
        scan->item[size] = b;
        for (int32_t c = 0; c < level->n_cells; c++) {
            const int32_t *all = level->total + 2 * c;
            const int32_t *single = level->single + 2 * c * width + b + scan->shift;
            const int32_t pattern = level->pattern[c], with_b = 1 << scan->bits * size;
            rs_put_cell(scan, pattern, all[1] - single[width], all[0] - single[0]);
            rs_put_cell(scan, pattern | with_b, single[width], single[0]);
        }
        status = rs_consider(scan, size + 1);
        if (status) return status;
    }
    return 0;
}

/* Rows of each cell that have item a, and each other one, from `begin` on; 0 or RS_STOPPED. */
static int rs_count_pairs(rs_scan *scan, const rs_level *level, int64_t plane, int64_t begin)
{
    const int64_t width = scan->width;
    const uint64_t *words = level->words + (plane / 8) * level->n_words * 8 + plane % 8;
    memset(scan->both, 0, 2 * (size_t)(level->n_cells * width) * sizeof *scan->both);
    for (int32_t s = 0, c = 0; s < level->n_segments; s++) {
        const rs_segment *segment = &level->segment[s];
        const int64_t n = (segment->bits + 63) / 64;
        while (level->pattern[c] != segment->cell) c++;
        for (int64_t w = 0; w < n; w++) scan->chosen[w] = words[8 * (segment->word + w)];
        if (rs_add_counts(scan, scan->both + (2 * c + segment->label) * width, level, segment, begin / 8))
            return RS_STOPPED;
    }
    return 0;
}

/* Supports of the prefix and two more items of two values, of which the first one is a. */
static int rs_scan_pairs(rs_scan *scan, int size, int depth, int64_t a)
{
    const rs_level *level = &scan->level[depth];
    const int64_t width = scan->width, n_planes = scan->n_items + scan->shift;
    const int64_t plane = a + scan->shift, begin = (plane + 1) / 8 * 8;
    const float p_unit = (float)scan->unit[1], n_unit = (float)scan->unit[0];
    const int side = scan->knapsack ? scan->knapsack->side : 1;
    double price = scan->price[a];
    int status = rs_count_pairs(scan, level, plane, begin);
    if (status) return status;
    if (scan->knapsack) {
        scan->cells->n = 0;
        for (int32_t c = 0; c < level->n_cells; c++) {
            const int32_t *all = level->total + 2 * c, *own = level->single + 2 * c * width + plane;
            rs_put_cell(scan, 0, own[width], own[0]);
            rs_put_cell(scan, 0, all[1] - own[width], all[0] - own[0]);
        }
        rs_knapsack_bound(scan->cells, scan->knapsack, HUGE_VAL);
    }
    const float each = scan->knapsack ? (float)scan->knapsack->price : 0.0f;
    memset(scan->test, 0, (size_t)width * sizeof *scan->test);
    for (int32_t c = 0; c < level->n_cells; c++) {
        const int32_t *total = level->total + 2 * c, *both = scan->both + 2 * c * width + begin;
        const int32_t *single = level->single + 2 * c * width;
        if (rs_stopped(scan->stop)) return RS_STOPPED;
        if (scan->knapsack)
            rs_price_pairs(scan->test + begin, both + side * width, both + (1 - side) * width,
                           single + side * width + begin, single + (1 - side) * width + begin,
                           single[side * width + plane], single[(1 - side) * width + plane],
                           total[side], total[1 - side], each, n_planes - begin);
        else
            rs_test_pairs(scan->test + begin, both + width, both, single + width + begin,
                          single + begin, single[width + plane], single[plane], total[1], total[0],
                          p_unit, n_unit, n_planes - begin);
    }
    scan->item[size] = a;
    for (int i = 0; i < size; i++) price += scan->price[scan->item[i]];
    for (int64_t b = a + 1; b < scan->n_items; b++) {
        const int64_t other = b + scan->shift;
        if (scan->knapsack) scan->knapsack->price = each;
        const double least = rs_least(scan, scan->test[other], 4 * level->n_cells);
        if (rs_is_apart(scan, size + 1, b)) continue;
        scan->counted[0]++;
        if (least + (price + scan->price[b]) * (1.0 - 1e-14) >= scan->cutoff) continue;
        scan->cells->n = 0;
        scan->item[size + 1] = b;
        for (int32_t c = 0; c < level->n_cells; c++) {
            const int32_t *all = level->total + 2 * c, *single = level->single + 2 * c * width;
            const int32_t *both = scan->both + 2 * c * width;
            const int32_t pattern = level->pattern[c];
            const int32_t with_a = 1 << scan->bits * size, with_b = with_a << scan->bits;
            const int32_t p = both[width + other], n = both[other];
            const int32_t ap = single[width + plane], an = single[plane];
            const int32_t bp = single[width + other], bn = single[other];
            rs_put_cell(scan, pattern, all[1] - ap - bp + p, all[0] - an - bn + n);
            rs_put_cell(scan, pattern | with_a, ap - p, an - n);
            rs_put_cell(scan, pattern | with_b, bp - p, bn - n);
            rs_put_cell(scan, pattern | with_a | with_b, p, n);
        }
        status = rs_consider(scan, size + 2);
        if (status) return status;
    }
    return 0;
}

/* The prefix of `size` items with `depth` planes, and all supports that it begins and that end with
 * later ones. */
static int rs_scan_prefix(rs_scan *scan, int size, int depth, int64_t first)
{
    const int64_t more = scan->max_size - size;
    const int64_t pairs_from = first > scan->pairs_from ? first : scan->pairs_from;
    const int with_singles = more > 0 && more <= 2 && pairs_from < scan->n_items;
    int status = rs_count_level(scan, depth, pairs_from + scan->shift, with_singles);
    if (!status && size >= scan->min_size) status = rs_scan_itself(scan, size, depth);
    if (!status && with_singles && (more == 1 || size + 1 >= scan->min_size))
        status = rs_scan_singles(scan, size, depth, pairs_from);
    if (status || more < 1) return status;
    if (more == 2)
        for (int64_t a = pairs_from; a + 1 < scan->n_items; a++) {
            if (rs_stopped(scan->stop)) return RS_STOPPED;
            if (rs_is_apart(scan, size, a)) continue;
            status = rs_scan_pairs(scan, size, depth, a);
            if (status) return status;
        }
    /* From here on the counts of this level are not needed any more. */
    for (int64_t a = first; a < (more <= 2 ? scan->pairs_from : scan->n_items); a++) {
        if (rs_stopped(scan->stop)) return RS_STOPPED;
        if (rs_is_apart(scan, size, a)) continue;
        status = rs_sort(scan, size, depth, a, more == 1);
        if (!status)
            status = rs_scan_prefix(
                scan, size + 1, depth + (int)(scan->plane[a + 1] - scan->plane[a]), a + 1);
        if (status) return status;
    }
    return 0;
}

#endif
