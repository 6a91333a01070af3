/* Real columns in row tiles: RS_ROW_TILE rows of every column, column after column, then the next rows.
 *
 * A pass over all columns is one stream through memory, which a processor reads ahead of
 * time while it computes exponentials and products of the row tiles at hand; with one stream per
 * column it waits for memory and computes by turns. A pass over a few columns reads two cache
 * lines of each row tile per column and asks for them early. Row tiles begin at cache lines; the
 * rows that are missing in the last one are zero in memory and not looked at elsewhere.
 *
 * Scores are added up column by column. Products run in RS_ROW_TILE_LANES partial sums, each of
 * which takes two rows of a row tile at a time. Either order is the same for any width of vectors.
 */
#ifndef RISKSLIM_ROW_TILES_H
#define RISKSLIM_ROW_TILES_H

#include "blocks.h"

#define RS_ROW_TILE 16
#define RS_ROW_TILE_LANES 8

typedef struct {
    const double *x;
    ptrdiff_t d;            /* columns */
    const int64_t *used;    /* columns that a pass reads */
    const double *coef;     /* and their coefficients */
    ptrdiff_t n_used;
} rs_row_tiles;

/* Room for the partial sums of m products. The gap keeps those of two threads, which are written
 * all the time, out of each other's cache lines. */
RS_INLINE ptrdiff_t rs_products_room(ptrdiff_t m)
{
    return (m + 2) * RS_ROW_TILE_LANES;
}

/* How many bytes ahead of their use columns are requested: as many row tiles as hold 8 KiB of the
 * columns in use, which is best between 4 and 16; less comes too late. A request beyond the end
 * of the data is harmless. */
RS_INLINE ptrdiff_t rs_row_tiles_ahead(ptrdiff_t d, ptrdiff_t n_used)
{
    const ptrdiff_t bytes = d * RS_ROW_TILE * (ptrdiff_t)sizeof(double);
    return n_used > 0 ? (64 + n_used - 1) / n_used * bytes : 0;
}

RS_INLINE void rs_prefetch_ahead(const double *x, ptrdiff_t bytes)
{
#if defined(__GNUC__)
    const uintptr_t address = (uintptr_t)x + (uintptr_t)bytes;
    __builtin_prefetch((const void *)address, 0, 3);
    __builtin_prefetch((const void *)(address + 64), 0, 3);
#else
    (void)x;
    (void)bytes;
#endif
}

/* ---- one row tile --------------------------------------------------------------------- */

/* n <= RS_ROW_TILE values, and zeros up to a whole row tile. */
RS_INLINE void rs_fill_row_tile(
    double *RS_RESTRICT out, const double *RS_RESTRICT v, ptrdiff_t n)
{
    for (ptrdiff_t k = 0; k < RS_ROW_TILE; k++) out[k] = k < n ? v[k] : 0.0;
}

/* s = base + the sum of coef times column; base has n rows, s all of a row tile. Four columns at a
 * time, but added one after the other: five columns take half of the time that they take in
 * a loop of five turns. */
RS_INLINE void rs_row_tile_scores(
    double *RS_RESTRICT s, const double *RS_RESTRICT base, ptrdiff_t n,
    const double *RS_RESTRICT row_tile, const int64_t *RS_RESTRICT used,
    const double *RS_RESTRICT coef, ptrdiff_t n_used, ptrdiff_t ahead)
{
    double sum[RS_ROW_TILE];
    rs_fill_row_tile(sum, base, n);
    ptrdiff_t j = 0;
    for (; j + 4 <= n_used; j += 4) {
        const double *RS_RESTRICT x0 = row_tile + used[j] * RS_ROW_TILE;
        const double *RS_RESTRICT x1 = row_tile + used[j + 1] * RS_ROW_TILE;
        const double *RS_RESTRICT x2 = row_tile + used[j + 2] * RS_ROW_TILE;
        const double *RS_RESTRICT x3 = row_tile + used[j + 3] * RS_ROW_TILE;
        const double c0 = coef[j], c1 = coef[j + 1], c2 = coef[j + 2], c3 = coef[j + 3];
        rs_prefetch_ahead(x0, ahead);
        rs_prefetch_ahead(x1, ahead);
        rs_prefetch_ahead(x2, ahead);
        rs_prefetch_ahead(x3, ahead);
        for (int k = 0; k < RS_ROW_TILE; k++)
            sum[k] = (((sum[k] + c0 * x0[k]) + c1 * x1[k]) + c2 * x2[k]) + c3 * x3[k];
    }
    for (; j < n_used; j++) {
        const double *RS_RESTRICT x = row_tile + used[j] * RS_ROW_TILE;
        const double c = coef[j];
        rs_prefetch_ahead(x, ahead);
        for (int k = 0; k < RS_ROW_TILE; k++) sum[k] += c * x[k];
    }
    for (int k = 0; k < RS_ROW_TILE; k++) s[k] = sum[k];
}

/* Adds v times column to the partial sums of every column. */
RS_INLINE void rs_row_tile_products(
    double *RS_RESTRICT sums, const double *RS_RESTRICT v, const double *RS_RESTRICT x,
    ptrdiff_t d, ptrdiff_t ahead)
{
    for (ptrdiff_t j = 0; j < d; j++, x += RS_ROW_TILE, sums += RS_ROW_TILE_LANES) {
        rs_prefetch_ahead(x, ahead);
        for (int k = 0; k < RS_ROW_TILE_LANES; k++)
            sums[k] += v[k] * x[k] + v[k + RS_ROW_TILE_LANES] * x[k + RS_ROW_TILE_LANES];
    }
}

/* Adds v times column, then u times its square, for the columns in use. */
RS_INLINE void rs_row_tile_derivatives(
    double *RS_RESTRICT sums, const double *RS_RESTRICT v, const double *RS_RESTRICT u,
    const double *RS_RESTRICT row_tile, const int64_t *RS_RESTRICT used, ptrdiff_t n_used,
    ptrdiff_t ahead)
{
    for (ptrdiff_t j = 0; j < n_used; j++, sums += 2 * RS_ROW_TILE_LANES) {
        const double *RS_RESTRICT x = row_tile + used[j] * RS_ROW_TILE;
        rs_prefetch_ahead(x, ahead);
        for (int k = 0; k < RS_ROW_TILE_LANES; k++) {
            const double x0 = x[k], x1 = x[k + RS_ROW_TILE_LANES];
            sums[k] += v[k] * x0 + v[k + RS_ROW_TILE_LANES] * x1;
            sums[k + RS_ROW_TILE_LANES] += u[k] * (x0 * x0) + u[k + RS_ROW_TILE_LANES] * (x1 * x1);
        }
    }
}

RS_INLINE double rs_fold_row_tile(double *lane)
{
    for (int width = RS_ROW_TILE_LANES / 2; width > 0; width /= 2)
        for (int k = 0; k < width; k++) lane[k] += lane[k + width];
    return lane[0];
}

/* ---- blocks of rows ------------------------------------------------------------------ */

/* `start` is the first row of a block, a multiple of RS_ROW_TILE. The action is compiled twice:
 * for full row tiles, whose number of rows is a constant, and for the last one. */
#define RS_FOR_ROW_TILES(i, n, rows, action) \
    do { \
        ptrdiff_t i = 0; \
        for (; i + RS_ROW_TILE <= (n); i += RS_ROW_TILE) { enum { rows = RS_ROW_TILE }; action; } \
        if (i < (n)) { const ptrdiff_t rows = (n) - i; action; } \
    } while (0)

/* Adds coef times column to the scores. */
RS_KERNEL void rs_add_row_tiles(
    double *RS_RESTRICT s, const rs_row_tiles *row_tiles, ptrdiff_t start, ptrdiff_t n)
{
    const rs_row_tiles p = *row_tiles;
    const ptrdiff_t ahead = rs_row_tiles_ahead(p.d, p.n_used);
    const double *x = p.x + start * p.d;
    double sum[RS_ROW_TILE];
    RS_FOR_ROW_TILES(i, n, rows, {
        rs_row_tile_scores(sum, s + i, rows, x + i * p.d, p.used, p.coef, p.n_used, ahead);
        for (ptrdiff_t k = 0; k < rows; k++) s[i + k] = sum[k];
    });
}

/* Sum of the losses (as rs_sum_losses) of rows with scores base + coef times column. */
RS_KERNEL double rs_sum_row_tile_losses(
    const rs_row_tiles *row_tiles, ptrdiff_t start, const double *RS_RESTRICT base,
    const int8_t *RS_RESTRICT label, const double *RS_RESTRICT weight, ptrdiff_t n)
{
    const rs_row_tiles p = *row_tiles;
    const ptrdiff_t ahead = rs_row_tiles_ahead(p.d, p.n_used);
    rs_strip strip;
    double lane[RS_LANES] = {0}, s[RS_ROW_TILE];
    for (ptrdiff_t begin = 0; begin < n; begin += RS_STRIP) {
        const ptrdiff_t m = n - begin < RS_STRIP ? n - begin : RS_STRIP;
        const double *x = p.x + (start + begin) * p.d;
        RS_FOR_ROW_TILES(i, m, rows, {
            rs_row_tile_scores(s, base + begin + i, rows, x + i * p.d,
                            p.used, p.coef, p.n_used, ahead);
            rs_read_rows(strip.tail + i, strip.hinge + i, s, label + begin + i, rows);
        });
        rs_add_losses(lane, &strip, weight ? weight + begin : NULL, m);
    }
    return rs_fold(lane);
}

/* The same; leaves d loss / d score of each row, times its weight, in `slope`, and adds the
 * products with every column to `sums`. */
RS_KERNEL double rs_sum_row_tile_losses_and_slopes(
    double *RS_RESTRICT sums, double *RS_RESTRICT slope, const rs_row_tiles *row_tiles,
    ptrdiff_t start, const double *RS_RESTRICT base, const int8_t *RS_RESTRICT label,
    const double *RS_RESTRICT weight, ptrdiff_t n)
{
    const rs_row_tiles p = *row_tiles;
    const ptrdiff_t ahead = rs_row_tiles_ahead(p.d, p.d);
    rs_strip strip;
    double lane[RS_LANES] = {0}, s[RS_ROW_TILE], v[RS_ROW_TILE];
    for (ptrdiff_t begin = 0; begin < n; begin += RS_STRIP) {
        const ptrdiff_t m = n - begin < RS_STRIP ? n - begin : RS_STRIP;
        const double *x = p.x + (start + begin) * p.d;
        RS_FOR_ROW_TILES(i, m, rows, {
            double *RS_RESTRICT out = slope + begin + i;
            rs_row_tile_scores(s, base + begin + i, rows, x + i * p.d, p.used, p.coef, p.n_used, 0);
            rs_read_rows_and_slopes(strip.tail + i, strip.hinge + i, out, s,
                                    label + begin + i, rows);
            if (weight)
                for (ptrdiff_t k = 0; k < rows; k++) out[k] *= weight[begin + i + k];
            rs_fill_row_tile(v, out, rows);
            rs_row_tile_products(sums, v, x + i * p.d, p.d, ahead);
        });
        rs_add_losses(lane, &strip, weight ? weight + begin : NULL, m);
    }
    return rs_fold(lane);
}

/* Adds v times column to the partial sums of every column. */
RS_KERNEL void rs_add_row_tile_products(
    double *RS_RESTRICT sums, const rs_row_tiles *row_tiles, ptrdiff_t start,
    const double *RS_RESTRICT v, ptrdiff_t n)
{
    const ptrdiff_t d = row_tiles->d, ahead = rs_row_tiles_ahead(d, d);
    const double *x = row_tiles->x + start * d;
    double part[RS_ROW_TILE];
    RS_FOR_ROW_TILES(i, n, rows, {
        rs_fill_row_tile(part, v + i, rows);
        rs_row_tile_products(sums, part, x + i * d, d, ahead);
    });
}

/* Adds v times column and u times its square, for the columns in use. */
RS_KERNEL void rs_add_row_tile_derivatives(
    double *RS_RESTRICT sums, const rs_row_tiles *row_tiles, ptrdiff_t start,
    const double *RS_RESTRICT v, const double *RS_RESTRICT u, ptrdiff_t n)
{
    const rs_row_tiles p = *row_tiles;
    const ptrdiff_t ahead = rs_row_tiles_ahead(p.d, p.n_used);
    const double *x = p.x + start * p.d;
    double first[RS_ROW_TILE], second[RS_ROW_TILE];
    RS_FOR_ROW_TILES(i, n, rows, {
        rs_fill_row_tile(first, v + i, rows);
        rs_fill_row_tile(second, u + i, rows);
        rs_row_tile_derivatives(sums, first, second, x + i * p.d, p.used, p.n_used, ahead);
    });
}

/* ---- one column of a block ------------------------------------------------------------- */

RS_INLINE const double *rs_row_tile_column(const rs_row_tiles *row_tiles, ptrdiff_t start, ptrdiff_t j)
{
    return row_tiles->x + start * row_tiles->d + j * RS_ROW_TILE;
}

/* n rows of column j, one after the other; `cached`: somebody has just read them. */
RS_KERNEL void rs_unpack_column(
    double *RS_RESTRICT out, const rs_row_tiles *row_tiles, ptrdiff_t start, ptrdiff_t j, ptrdiff_t n,
    int cached)
{
    const ptrdiff_t d = row_tiles->d, ahead = cached ? 0 : rs_row_tiles_ahead(d, 1);
    const double *x = rs_row_tile_column(row_tiles, start, j);
    RS_FOR_ROW_TILES(i, n, rows, {
        rs_prefetch_ahead(x + i * d, ahead);
        for (ptrdiff_t k = 0; k < rows; k++) out[i + k] = x[i * d + k];
    });
}

/* Sum of the losses of rows with scores s + (step * column j + shift). */
RS_KERNEL double rs_sum_row_tile_line_losses(
    const rs_row_tiles *row_tiles, ptrdiff_t start, ptrdiff_t j, double step, double shift,
    const double *RS_RESTRICT s, const int8_t *RS_RESTRICT label,
    const double *RS_RESTRICT weight, ptrdiff_t n)
{
    const ptrdiff_t d = row_tiles->d, ahead = rs_row_tiles_ahead(d, 1);
    rs_strip strip;
    double lane[RS_LANES] = {0}, moved[RS_STRIP];
    for (ptrdiff_t begin = 0; begin < n; begin += RS_STRIP) {
        const ptrdiff_t m = n - begin < RS_STRIP ? n - begin : RS_STRIP;
        const double *x = rs_row_tile_column(row_tiles, start + begin, j);
        RS_FOR_ROW_TILES(i, m, rows, {
            rs_prefetch_ahead(x + i * d, ahead);
            for (ptrdiff_t k = 0; k < rows; k++)
                moved[i + k] = s[begin + i + k] + (step * x[i * d + k] + shift);
        });
        rs_read_rows(strip.tail, strip.hinge, moved, label + begin, m);
        rs_add_losses(lane, &strip, weight ? weight + begin : NULL, m);
    }
    return rs_fold(lane);
}

#endif
