"""What is found out of parts of a table, put together, is what is found out of the whole."""

from __future__ import annotations

import datetime
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskslim.data.batches import common_schema
from riskslim.data.layout import WordLayout
from riskslim.data.merging import MergedKeys, RowMerger, merge_keys, never_called, room_for
from riskslim.data.row_tiles import as_row_tiles
from riskslim.data.summaries import ColumnSummary, RowSample, TableSummary

pa = pytest.importorskip("pyarrow")


def merged(layout, integers, reals, labels, weights):
    room = room_for(layout, True, len(labels))
    merger = RowMerger(layout, weights is not None, room, never_called)
    merger.add(np.asfortranarray(integers), as_row_tiles(reals), labels, weights)
    return merger.finish().copied()


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 400),
    is_binary=st.lists(st.booleans(), min_size=1, max_size=11),
    d_real=st.integers(0, 2),
    weighted=st.booleans(),
    shares=st.lists(st.floats(0, 1), max_size=5),
)
def test_keys(seed, n, is_binary, d_real, weighted, shares):
    random = np.random.default_rng(seed)
    d, is_binary = len(is_binary), np.array(is_binary)
    integers = random.integers(-2, 3, (n, d)).astype(np.int8)
    integers[:, is_binary] &= 1
    reals = random.integers(0, 2, (n, d_real)) / 3
    labels = random.choice(np.array([-1, 1], np.int8), n)
    weights = random.integers(1, 9, n) / 8 if weighted else None
    layout = WordLayout.of(is_binary, d_real)
    whole = merged(layout, integers, reals, labels, weights)
    cuts = [0, *sorted(round(share * n) for share in shares), n]
    parts = []
    for a, b in pairwise(cuts):
        own = None if weights is None else weights[a:b]
        parts.append(merged(layout, integers[a:b], reals[a:b], labels[a:b], own))
    found = merge_keys(parts, layout, weights is not None)
    for name in ("keys", "counts", "weights"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))


def test_large_counts():
    layout = WordLayout.of(np.array([True]), 0)
    part = MergedKeys(np.array([[1]], np.uint64), np.array([2**40]), np.array([2.0**40]))
    found = merge_keys([part] * 3, layout, False)
    assert found.counts.tolist() == [3 * 2**40]


DAY = datetime.date(2024, 2, 29)
COLUMNS = {
    "integers": [3, 1, None, 2, 300, -7, 1, 2**40, 5, None],
    "large integers": [3, 1, None, 2, 300, -7, 1, 2**54, 5, None],
    "reals": [0.5, float("nan"), 0.5, 2.0, None, 1e300, float("inf"), 2.0, -1.0, 0.25],
    "truth": [True, None, False, True, True, True, None, False, True, True],
    "texts": ["b", "a", None, "b", "c", "", "a", "c", "c", None],
    "days": [DAY, None, DAY, DAY + datetime.timedelta(3), *[DAY] * 6],
    "nothing": [None] * 10,
    "number at last": [None] * 9 + [7],
}


def summary(table, names, kinds, weights, most=100):
    found = TableSummary(names, kinds, most=most, sample_rows=4, seed=1)
    found.add(table, weights)
    return found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("most", [0, 2, 100])
@pytest.mark.parametrize("cuts", [(4,), (1, 2, 9), (0, 5, 5)])
def test_summaries(cuts, most, weighted):
    weights = np.array([1.0, 0.5, 0.0, 2.0, 1.0, 0.0, 1.0, 0.25, 1.0, 3.0]) if weighted else None
    names = list(COLUMNS)
    ends = [0, *cuts, 10]
    parts = []
    for a, b in pairwise(ends):
        # Types as one part has them: of nothing but missing values that of nulls, for example.
        arrays = [pa.array(values[a:b]) for values in COLUMNS.values()]
        own = None if weights is None else weights[a:b]
        parts.append((pa.RecordBatch.from_arrays(arrays, names), own))
    schema = common_schema([(k, part.schema) for k, (part, _) in enumerate(parts)], names)
    arrays = map(pa.array, COLUMNS.values(), schema.types)
    whole = pa.RecordBatch.from_arrays(list(arrays), names)
    expected = summary(whole, names, schema.types, weights, most)
    found = TableSummary(names, schema.types, most=most)
    first_row = 0
    for part, own in parts:
        found.take_over(summary(part, names, part.schema.types, own, most))
    if found.sampled:
        sample = RowSample(found.sampled, 4, 1)
        for part, own in parts:
            drawn = RowSample(found.sampled, 4, 1)
            drawn.add(part, own, first_row)
            sample.take_over(drawn, [schema.types[j] for j in found.sampled])
            first_row += part.num_rows
        found.set_sample(sample)
    assert (found.n_rows, found.n_counted) == (expected.n_rows, expected.n_counted)
    assert found.sampled == expected.sampled
    for j, (one, other) in enumerate(zip(found.columns, expected.columns, strict=True)):
        check_column(one, other)
        refused = [one.faults[kind].count for kind in ("infinite", "inexact")]
        if j in found.sampled and not any(refused):
            drawn, wanted = found.short_column(j), expected.short_column(j)
            assert drawn[2:] == wanted[2:] == (None, None)  # neither counts nor events
            np.testing.assert_array_equal(drawn[:2], wanted[:2])


def check_column(found: ColumnSummary, expected: ColumnSummary) -> None:
    for name in (
        "n_rows", "n_counted", "n_missing", "n_missing_counted", "minimum", "maximum",
        "are_integers", "is_counted",
    ):  # fmt: skip
        assert getattr(found, name) == getattr(expected, name), (found.name, name)
    for kind, fault in expected.faults.items():
        assert found.faults[kind].count == fault.count
        if fault.count:
            assert found.faults[kind].first == fault.first
    if not expected.is_counted:
        return
    for counted in (False, True):
        sides = []
        for one in (found, expected):
            values, weights, counts = one.values(counted=counted)
            sides.append(sorted(zip(map(str, values), weights, counts, strict=True)))
        assert sides[0] == sides[1]
