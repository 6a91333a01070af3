/* Rows as strings of 64-bit words: equal words mean equal rows.
 *
 * Word k of row i lies at plane[k][i] while a block of rows is read (columns are contiguous)
 * and at keys[g * n_words + k] once row i begins group g.
 */
#ifndef RISKSLIM_ROWS_H
#define RISKSLIM_ROWS_H

#include <stddef.h>
#include "numerics.h"

#define RS_ROWS 512

#if defined(__GNUC__)
#define RS_PREFETCH(address) __builtin_prefetch(address)
#else
#define RS_PREFETCH(address) ((void)(address))
#endif

RS_INLINE void rs_clear_words(uint64_t *RS_RESTRICT word, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) word[i] = 0;
}

RS_INLINE void rs_put_bytes(
    uint64_t *RS_RESTRICT word, const int8_t *RS_RESTRICT x, int shift, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) word[i] |= (uint64_t)(uint8_t)x[i] << shift;
}

/* Adding zero turns -0.0 into 0.0 and changes no other value. */
RS_INLINE void rs_put_reals(
    uint64_t *RS_RESTRICT word, const double *RS_RESTRICT x, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) word[i] = rs_bits(x[i] + 0.0);
}

/* Multiplication carries a difference to the high bits, the shift back to the low ones. */
RS_INLINE uint64_t rs_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
}

RS_INLINE uint64_t rs_finish(uint64_t hash)
{
    hash *= 0xd6e8feb86659fd93u;
    return hash ^ (hash >> 29);
}

RS_INLINE void rs_mix_words(
    uint64_t *RS_RESTRICT hash, const uint64_t *RS_RESTRICT word, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) hash[i] = rs_mix(hash[i], word[i]);
}

RS_INLINE void rs_finish_words(uint64_t *RS_RESTRICT hash, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) hash[i] = rs_finish(hash[i]);
}

/* A slot holds the number of a group plus one in its low 40 bits (0: empty), and the high 24
 * bits of the group's hash, which tell most different rows apart without a look at their words.
 */
#define RS_GROUP_BITS 40
#define RS_GROUP_MASK ((UINT64_C(1) << RS_GROUP_BITS) - 1)

RS_INLINE uint64_t rs_slot(uint64_t hash, ptrdiff_t group)
{
    return (hash & ~RS_GROUP_MASK) | (uint64_t)(group + 1);
}

RS_INLINE int rs_same_hash(uint64_t slot, uint64_t hash)
{
    return ((slot ^ hash) & ~RS_GROUP_MASK) == 0;
}

RS_INLINE int rs_same_words(
    const uint64_t *RS_RESTRICT key, const uint64_t *RS_RESTRICT plane, ptrdiff_t n_words)
{
    for (ptrdiff_t k = 0; k < n_words; k++)
        if (key[k] != plane[k * RS_ROWS]) return 0;
    return 1;
}

#endif
