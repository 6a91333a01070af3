"""The layout of real columns."""

import numpy as np
import pytest

from riskslim.data.panels import (
    PANEL_ROWS,
    as_columns,
    as_panels,
    empty_panels,
    read_column,
    take_panels,
    write_column,
)

SHAPES = [(1, 1), (15, 3), (16, 2), (17, 1), (100, 5), (40_003, 2), (3, 0), (0, 2)]


def rows_of(panels, n):
    return panels.swapaxes(1, 2).reshape(len(panels) * PANEL_ROWS, panels.shape[1])[:n]


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_rows_and_columns_lie_where_the_module_says(n, d):
    columns = np.random.default_rng(n).normal(size=(n, d))
    panels = as_panels(columns)
    assert panels.shape == (-(-n // PANEL_ROWS), d, PANEL_ROWS)
    assert panels.flags.c_contiguous
    for i, j in [(0, 0), (n // 2, d - 1), (n - 1, 0)] if n and d else ():
        assert panels[i // PANEL_ROWS, j, i % PANEL_ROWS] == columns[i, j]
    np.testing.assert_array_equal(rows_of(panels, n), columns)
    np.testing.assert_array_equal(as_columns(panels, n), columns, strict=True)
    for j in range(d):
        np.testing.assert_array_equal(read_column(panels, j, 0, n), columns[:, j])
    assert not panels[n // PANEL_ROWS :, :, n % PANEL_ROWS :].any()


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_missing_rows_are_zero_and_panels_aligned(n, d):
    panels = empty_panels(n, d)
    assert panels.ctypes.data % 128 == 0 or panels.size == 0
    assert not panels[n // PANEL_ROWS :, :, n % PANEL_ROWS :].any()


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_are_written_in_parts(order):
    columns = np.asarray(np.random.default_rng(0).normal(size=(75, 3)), order=order)
    panels = empty_panels(75, 3)
    for start in (32, 0, 64):
        for j in (2, 0, 1):
            write_column(panels, j, start, columns[start : start + 32, j])
    np.testing.assert_array_equal(panels, as_panels(columns))
    np.testing.assert_array_equal(read_column(panels, 1, 32, 70), columns[32:70, 1])


@pytest.mark.parametrize("m", [0, 1, 16, 16_384, 16_385, 40_003])
@pytest.mark.parametrize("d", [0, 1, 3])
def test_rows_are_taken(m, d):
    rng = np.random.default_rng(m)
    columns = rng.normal(size=(40_003, d))
    index = np.sort(rng.choice(40_003, m, replace=False))
    taken = take_panels(as_panels(columns), index)
    np.testing.assert_array_equal(taken, as_panels(columns[index]))
