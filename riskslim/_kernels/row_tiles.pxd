"""Real columns in row tiles of rows (row_tiles.h)."""

from libc.stdint cimport int8_t, int64_t


cdef extern from "row_tiles.h" nogil:
    enum:
        RS_ROW_TILE
        RS_ROW_TILE_LANES
    ctypedef struct rs_row_tiles:
        const double *x
        Py_ssize_t d
        const int64_t *used
        const double *coef
        Py_ssize_t n_used
    Py_ssize_t rs_products_room(Py_ssize_t m) noexcept
    double rs_fold_row_tile(double *lane) noexcept
    void rs_add_row_tiles(double *s, const rs_row_tiles *row_tiles, Py_ssize_t start,
                       Py_ssize_t n) noexcept
    double rs_sum_row_tile_losses(
        const rs_row_tiles *row_tiles, Py_ssize_t start, const double *base, const int8_t *label,
        const double *weight, Py_ssize_t n) noexcept
    double rs_sum_row_tile_losses_and_slopes(
        double *sums, double *slope, const rs_row_tiles *row_tiles, Py_ssize_t start,
        const double *base, const int8_t *label, const double *weight, Py_ssize_t n) noexcept
    void rs_add_row_tile_products(
        double *sums, const rs_row_tiles *row_tiles, Py_ssize_t start, const double *v,
        Py_ssize_t n) noexcept
    void rs_add_row_tile_derivatives(
        double *sums, const rs_row_tiles *row_tiles, Py_ssize_t start, const double *v,
        const double *u, Py_ssize_t n) noexcept
    void rs_unpack_column(double *out, const rs_row_tiles *row_tiles, Py_ssize_t start, Py_ssize_t j,
                          Py_ssize_t n, bint cached) noexcept
    double rs_sum_row_tile_line_losses(
        const rs_row_tiles *row_tiles, Py_ssize_t start, Py_ssize_t j, double step, double shift,
        const double *s, const int8_t *label, const double *weight, Py_ssize_t n) noexcept
