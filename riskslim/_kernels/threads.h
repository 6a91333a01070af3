/* Passes over the rows on several threads, with the same result for any number of them.
 *
 * A pass is divided into items (chunks of rows) that depend on the data alone. Sums of
 * floating-point numbers are kept per item and added in the order of the items; integers are
 * counted per worker, which is exact in any order. The threads are those of pool.h.
 */
#ifndef RISKSLIM_THREADS_H
#define RISKSLIM_THREADS_H

#include <stddef.h>
#include "blocks.h"

#if defined(RISKSLIM_NO_THREADS) || defined(__EMSCRIPTEN__) || defined(__wasi__)
#define RS_HAS_THREADS 0
#else
#define RS_HAS_THREADS 1
#endif

/* Long enough for a thread to be worth waking, short enough to share out 10^5 rows. */
#define RS_CHUNK_BLOCKS 8
#define RS_CHUNK (RS_CHUNK_BLOCKS * RS_BLOCK)

/* Most parts of a histogram of floating-point weights. */
#define RS_PARTS 16

typedef void (*rs_work)(void *pass, ptrdiff_t item, int worker);

RS_INLINE ptrdiff_t rs_n_chunks(ptrdiff_t n)
{
    return (n + RS_CHUNK - 1) / RS_CHUNK;
}

/* Parts of n rows that get a histogram of their own: as many as are cheap to add up. */
RS_INLINE ptrdiff_t rs_n_parts(ptrdiff_t n, ptrdiff_t cells)
{
    const ptrdiff_t worthwhile = n / (8 * cells);
    const ptrdiff_t chunks = rs_n_chunks(n);
    ptrdiff_t parts = worthwhile < RS_PARTS ? worthwhile : RS_PARTS;
    if (parts > chunks) parts = chunks;
    return parts < 1 ? 1 : parts;
}

/* First row of a part; parts begin where chunks do. */
RS_INLINE ptrdiff_t rs_part_begin(ptrdiff_t n, ptrdiff_t n_parts, ptrdiff_t part)
{
    const ptrdiff_t begin = rs_n_chunks(n) * part / n_parts * RS_CHUNK;
    return begin < n ? begin : n;
}

/* Workers that `n_threads` threads have for so many items. */
RS_INLINE int rs_n_workers(ptrdiff_t n_items, int n_threads)
{
#if RS_HAS_THREADS
    if (n_items < n_threads) n_threads = (int)n_items;
    return n_threads < 1 ? 1 : n_threads;
#else
    (void)n_items;
    (void)n_threads;
    return 1;
#endif
}

#endif
