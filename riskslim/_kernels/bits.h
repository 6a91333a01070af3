/* Counting rows by bits: 64 rows of a 0/1 column in a word.
 *
 * How many rows have all of some items is the number of bits that the items' words have in common,
 * and every other count follows from these. Whether a machine counts the bits of eight words at
 * once (AVX-512 VPOPCNTDQ), of one word (POPCNT), or by shifts and additions, is decided when the
 * first count is asked for: no feature level of RS_CLONES implies the first of them. Counts are
 * integers, the same whichever it is.
 */
#ifndef RISKSLIM_BITS_H
#define RISKSLIM_BITS_H

#include <stddef.h>
#include <stdint.h>
#include "numerics.h"

/* Words that are worked on at a time: the columns of five items and the masks in between stay in
 * the first-level cache. */
#define RS_WORDS 512

/* Most planes whose cells are counted: 2^16 counts per segment. */
#define RS_MOST_PLANES 16

RS_INLINE int64_t rs_bits_of_word(uint64_t x)
{
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int64_t)((x * 0x0101010101010101u) >> 56);
}

#define RS_COUNT_AND(COUNT)                                                                       \
    int64_t total = 0;                                                                            \
    for (ptrdiff_t i = 0; i < n; i++) total += (int64_t)COUNT(a[i] & b[i]);                       \
    return total;

#define RS_AND_COUNT(COUNT)                                                                       \
    int64_t total = 0;                                                                            \
    for (ptrdiff_t i = 0; i < n; i++) {                                                           \
        const uint64_t both = a[i] & b[i];                                                        \
        out[i] = both;                                                                            \
        total += (int64_t)COUNT(both);                                                            \
    }                                                                                             \
    return total;

#if defined(__x86_64__) && defined(__GNUC__)
#define RS_HAS_LEVELS 1
#define RS_POPCNT __attribute__((noinline, target("popcnt")))
#define RS_VPOPCNT                                                                                \
    __attribute__((noinline, target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt,"  \
                                    "prefer-vector-width=512")))
#define RS_WIDE_COUNT __builtin_popcountll
#elif defined(__GNUC__)
#define RS_HAS_LEVELS 0
#define RS_WIDE_COUNT __builtin_popcountll
#else
#define RS_HAS_LEVELS 0
#define RS_WIDE_COUNT rs_bits_of_word
#endif

#if RS_HAS_LEVELS
static int64_t rs_count_and_plain(const uint64_t *a, const uint64_t *b, ptrdiff_t n)
{
    RS_COUNT_AND(rs_bits_of_word)
}

RS_POPCNT static int64_t rs_count_and_popcnt(const uint64_t *a, const uint64_t *b, ptrdiff_t n)
{
    RS_COUNT_AND(RS_WIDE_COUNT)
}

RS_VPOPCNT static int64_t rs_count_and_avx512(const uint64_t *a, const uint64_t *b, ptrdiff_t n)
{
    RS_COUNT_AND(RS_WIDE_COUNT)
}

static int64_t rs_and_count_plain(
    uint64_t *RS_RESTRICT out, const uint64_t *a, const uint64_t *b, ptrdiff_t n)
{
    RS_AND_COUNT(rs_bits_of_word)
}

RS_POPCNT static int64_t rs_and_count_popcnt(
    uint64_t *RS_RESTRICT out, const uint64_t *a, const uint64_t *b, ptrdiff_t n)
{
    RS_AND_COUNT(RS_WIDE_COUNT)
}

RS_VPOPCNT static int64_t rs_and_count_avx512(
    uint64_t *RS_RESTRICT out, const uint64_t *a, const uint64_t *b, ptrdiff_t n)
{
    RS_AND_COUNT(RS_WIDE_COUNT)
}

/* 0: shifts and additions, 1: POPCNT, 2: VPOPCNTDQ. */
static int rs_bits_level(void)
{
    static int level = -1; /* threads that find it unset all find the same */
    if (level < 0) {
        __builtin_cpu_init();
        if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512bw")
            && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
            level = 2;
        else
            level = __builtin_cpu_supports("popcnt") ? 1 : 0;
    }
    return level;
}
#endif

/* Number of bits that a and b have in common. */
static inline int64_t rs_count_and(const uint64_t *a, const uint64_t *b, ptrdiff_t n)
{
#if RS_HAS_LEVELS
    const int level = rs_bits_level();
    if (level == 2) return rs_count_and_avx512(a, b, n);
    return level == 1 ? rs_count_and_popcnt(a, b, n) : rs_count_and_plain(a, b, n);
#else
    RS_COUNT_AND(RS_WIDE_COUNT)
#endif
}

/* The same, and the bits themselves. */
static inline int64_t rs_and_count(
    uint64_t *RS_RESTRICT out, const uint64_t *a, const uint64_t *b, ptrdiff_t n)
{
#if RS_HAS_LEVELS
    const int level = rs_bits_level();
    if (level == 2) return rs_and_count_avx512(out, a, b, n);
    return level == 1 ? rs_and_count_popcnt(out, a, b, n) : rs_and_count_plain(out, a, b, n);
#else
    RS_AND_COUNT(RS_WIDE_COUNT)
#endif
}

/* Bits of a that are not in b; 0 where there are none. */
static inline int rs_and_not(
    uint64_t *RS_RESTRICT out, const uint64_t *a, const uint64_t *b, ptrdiff_t n)
{
    uint64_t any = 0;
    for (ptrdiff_t i = 0; i < n; i++) any |= out[i] = a[i] & ~b[i];
    return any != 0;
}

static inline void rs_or_into(uint64_t *RS_RESTRICT out, const uint64_t *a, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) out[i] |= a[i];
}

/* Bits of 64 rows of a column: row order[i] for bit i, none where it is negative. Eight bytes are
 * compared at a time: bytes that are equal become 0 by exclusive or, and a byte of 0 is the only one
 * whose top bit neither is set nor becomes set by adding 127 to its lower bits. The product brings
 * the eight top bits side by side. */
RS_INLINE uint64_t rs_pack_word(const int8_t *column, const int64_t *order, int8_t value)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7fu;
    const uint64_t wanted = 0x0101010101010101u * (uint8_t)value;
    uint64_t word = 0;
    if (order[63] < 0) {
        for (int i = 0; i < 64; i++)
            if (order[i] >= 0) word |= (uint64_t)(column[order[i]] == value) << i;
        return word;
    }
    for (int k = 0; k < 8; k++) {
        uint64_t eight = 0;
        for (int i = 0; i < 8; i++)
            eight |= (uint64_t)(uint8_t)column[order[8 * k + i]] << (8 * i);
        eight ^= wanted;
        eight = ~(((eight & low) + low) | eight) & ~low;
        word |= (((eight >> 7) * 0x0102040810204080u) >> 56) << (8 * k);
    }
    return word;
}

/* Packed columns ("planes"), some of them, and scratch of RS_MOST_PLANES * RS_WORDS words. */
typedef struct {
    const uint64_t *bits;
    ptrdiff_t n_words;
    const int64_t *planes;
    int n_planes;
    uint64_t *scratch;
} rs_planes;

RS_INLINE const uint64_t *rs_plane(const rs_planes *p, int a, ptrdiff_t begin)
{
    return p->bits + p->planes[a] * p->n_words + begin;
}

/* counts[set] += rows of n words that have every plane of the set, for all sets that hold `set`
 * and further planes from `first` on. `mask` are the rows of `set`. */
static void rs_count_supersets(
    const rs_planes *p, const uint64_t *mask, ptrdiff_t set, int first, ptrdiff_t begin,
    ptrdiff_t n, int64_t *counts)
{
    for (int a = first; a < p->n_planes; a++) {
        const ptrdiff_t bigger = set | (ptrdiff_t)1 << a;
        const uint64_t *plane = rs_plane(p, a, begin);
        if (a == p->n_planes - 1) {
            counts[bigger] += rs_count_and(mask, plane, n);
        } else {
            uint64_t *both = p->scratch + (ptrdiff_t)a * RS_WORDS;
            const int64_t count = rs_and_count(both, mask, plane, n);
            counts[bigger] += count;
            if (count) rs_count_supersets(p, both, bigger, a + 1, begin, n, counts);
        }
    }
}

/* counts[set] += rows of n words that have every plane of the set, for all but the empty set. */
static inline void rs_count_sets(
    const rs_planes *p, ptrdiff_t begin, ptrdiff_t n, int64_t *counts)
{
    for (int a = 0; a < p->n_planes; a++) {
        const uint64_t *plane = rs_plane(p, a, begin);
        const int64_t count = rs_count_and(plane, plane, n);
        counts[(ptrdiff_t)1 << a] += count;
        if (count) rs_count_supersets(p, plane, (ptrdiff_t)1 << a, a + 1, begin, n, counts);
    }
}

/* From rows that have all planes of a set to rows that have these and no others. */
static inline void rs_sets_to_cells(int64_t *counts, int n_planes)
{
    for (int a = 0; a < n_planes; a++)
        for (ptrdiff_t set = 0; set < (ptrdiff_t)1 << n_planes; set++)
            if (!(set >> a & 1)) counts[set] -= counts[set | (ptrdiff_t)1 << a];
}

/* Gathers the rows of each group of cells: masks of n words, `n_words` apart. `rows` are those of
 * a cell of the first `a` planes. Scratch for both sides of every plane. */
static void rs_fill_masks(
    const rs_planes *p, const uint64_t *rows, ptrdiff_t cell, int a, ptrdiff_t begin, ptrdiff_t n,
    const int32_t *group, uint64_t *masks)
{
    if (a == p->n_planes) {
        if (group[cell] >= 0) rs_or_into(masks + group[cell] * p->n_words + begin, rows, n);
        return;
    }
    uint64_t *side = p->scratch + (ptrdiff_t)a * RS_WORDS;
    const uint64_t *plane = rs_plane(p, a, begin);
    if (rs_and_count(side, rows, plane, n))
        rs_fill_masks(p, side, cell | (ptrdiff_t)1 << a, a + 1, begin, n, group, masks);
    if (rs_and_not(side, rows, plane, n))
        rs_fill_masks(p, side, cell, a + 1, begin, n, group, masks);
}

#endif
