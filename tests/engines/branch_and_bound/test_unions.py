"""Unions of features whose cells are counted in one pass: against counts."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from partitions import in_parts, on_disk, random_data, rows_of
from riskslim.engines.branch_and_bound import unions
from riskslim.engines.branch_and_bound.unions import UnionCells, UnionPlan


def values_of(sizes):
    return [np.arange(n, dtype=float) for n in sizes]


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("cells", [64, 2**12, 2**16])
def test_every_support_is_in_a_union(size, cells):
    rng = np.random.default_rng([size, cells])
    found = 0
    for _ in range(20):
        features = np.flatnonzero(rng.random(16) < 0.8).tolist()
        sizes = rng.choice([2, 2, 2, 3, 5], len(features)).tolist()
        plan = UnionPlan.of(features, values_of(sizes), size, cells)
        if plan is None:
            room = int(cells ** (1 / size) + 1e-9)
            most = math.comb(len(features), size)
            assert max(sizes) > room or np.prod(sizes) <= cells or most > unions.MOST_UNIONS
            continue
        found += 1
        n_values = dict(zip(features, sizes, strict=True))
        of_unions = [set(plan.features_of(union)) for union in plan.unions]
        total = 0
        for one in of_unions:
            n_cells = int(np.prod([n_values[j] for j in one]))
            assert n_cells <= cells
            total += n_cells
        assert plan.n_cells() == total
        for support in itertools.combinations(features, min(size, 3)):
            assert any(set(support) <= one for one in of_unions)
        if len(features) <= 9:
            for support in itertools.combinations(features, size):
                assert any(set(support) <= one for one in of_unions)
    assert found or size == 1 or cells == 64


def test_plans_that_are_of_no_use():
    two = values_of([2] * 8)
    assert UnionPlan.of(list(range(8)), two, 8, 2**16) is None  # one union would do
    assert UnionPlan.of(list(range(8)), values_of([2] * 7 + [40]), 3, 2**15) is None
    assert UnionPlan.of([], [], 3, 2**16) is None
    assert UnionPlan.of(list(range(60)), values_of([2] * 60), 5, 32) is None  # too many
    plan = UnionPlan.of(list(range(8)), two, 2, 16)
    assert plan.fits(1e9, 2)
    assert not plan.fits(1e3, 2)


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("kind", ["zero_one", "integers"])
def test_cells_are_counts_of_rows(kind, merged):
    data = random_data(4, kind=kind, n=500)
    features = list(range(data.n_features))
    values = [np.unique(data.column(j)) for j in features]
    plan = UnionPlan.of(features, values, 2, 16 if kind == "zero_one" else 64)
    rows = rows_of(data, merged=merged)
    held = [in_parts(rows, 1), in_parts(rows, 7), on_disk(rows, 60).used_by(2)]
    X = np.column_stack([data.column(j) for j in features])
    for cells in (UnionCells(plan, one) for one in held):
        for size in (0, 1, 2):
            for support in itertools.combinations(features, size):
                found = cells.merged(list(support))
                distinct, place = np.unique(X[:, support], axis=0, return_inverse=True)
                order = np.lexsort(found.integer_columns.T[::-1]) if size else [0]
                np.testing.assert_array_equal(found.integer_columns[order], distinct)
                for label, counts in ((1, found.positive), (-1, found.negative)):
                    expected = np.bincount(
                        place.ravel()[data.labels == label], minlength=len(distinct)
                    )
                    np.testing.assert_array_equal(counts[order], expected)
    outside = [plan.blocks[a][0] for a in range(3)]
    assert cells.merged(sorted(outside)) is None
    with pytest.raises(ValueError, match="no exact counts"):
        UnionCells(plan, in_parts(rows_of(random_data(4, weighted=True), merged=False), 2))
