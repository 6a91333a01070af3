"""The layout of real columns."""

import numpy as np
import pytest

from riskslim.data.row_tiles import (
    TILE_ROWS,
    as_columns,
    as_row_tiles,
    empty_row_tiles,
    read_column,
    take_row_tiles,
    write_column,
)

SHAPES = [(1, 1), (15, 3), (16, 2), (17, 1), (100, 5), (40_003, 2), (3, 0), (0, 2)]


def rows_of(row_tiles, n):
    return row_tiles.swapaxes(1, 2).reshape(len(row_tiles) * TILE_ROWS, row_tiles.shape[1])[:n]


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_rows_and_columns_lie_where_the_module_says(n, d):
    columns = np.random.default_rng(n).normal(size=(n, d))
    row_tiles = as_row_tiles(columns)
    assert row_tiles.shape == (-(-n // TILE_ROWS), d, TILE_ROWS)
    assert row_tiles.flags.c_contiguous
    for i, j in [(0, 0), (n // 2, d - 1), (n - 1, 0)] if n and d else ():
        assert row_tiles[i // TILE_ROWS, j, i % TILE_ROWS] == columns[i, j]
    np.testing.assert_array_equal(rows_of(row_tiles, n), columns)
    np.testing.assert_array_equal(as_columns(row_tiles, n), columns, strict=True)
    for j in range(d):
        np.testing.assert_array_equal(read_column(row_tiles, j, 0, n), columns[:, j])
    assert not row_tiles[n // TILE_ROWS :, :, n % TILE_ROWS :].any()


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_missing_rows_are_zero_and_row_tiles_aligned(n, d):
    row_tiles = empty_row_tiles(n, d)
    assert row_tiles.ctypes.data % 128 == 0 or row_tiles.size == 0
    assert not row_tiles[n // TILE_ROWS :, :, n % TILE_ROWS :].any()


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_are_written_in_parts(order):
    columns = np.asarray(np.random.default_rng(0).normal(size=(75, 3)), order=order)
    row_tiles = empty_row_tiles(75, 3)
    for start in (32, 0, 64):
        for j in (2, 0, 1):
            write_column(row_tiles, j, start, columns[start : start + 32, j])
    np.testing.assert_array_equal(row_tiles, as_row_tiles(columns))
    np.testing.assert_array_equal(read_column(row_tiles, 1, 32, 70), columns[32:70, 1])


@pytest.mark.parametrize("m", [0, 1, 16, 16_384, 16_385, 40_003])
@pytest.mark.parametrize("d", [0, 1, 3])
def test_rows_are_taken(m, d):
    rng = np.random.default_rng(m)
    columns = rng.normal(size=(40_003, d))
    index = np.sort(rng.choice(40_003, m, replace=False))
    taken = take_row_tiles(as_row_tiles(columns), index)
    np.testing.assert_array_equal(taken, as_row_tiles(columns[index]))
