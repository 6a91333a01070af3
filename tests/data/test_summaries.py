"""What one pass finds out of columns is what all rows together say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from riskslim.data.faults import ColumnError
from riskslim.data.summaries import ColumnSummary, TableSummary

N = 2000


def columns(seed: int = 0) -> dict[str, pa.Array]:
    random = np.random.default_rng(seed)
    gaps = random.random(N) < 0.1
    return {
        "int8": pa.array(random.integers(-128, 128, N).astype(np.int8)),
        "uint8": pa.array(random.integers(0, 2, N).astype(np.uint8)),
        "int16": pa.array(random.integers(-(2**15), 2**15, N).astype(np.int16)),
        "narrow": pa.array(random.integers(-5, 2000, N), mask=gaps),
        "wide": pa.array(random.integers(-(10**9), 10**9, N) // 10**7 * 10**7),
        "bool": pa.array(random.random(N) < 0.3, mask=gaps),
        "float": pa.array(np.where(gaps, np.nan, random.integers(0, 9, N) / 2)),
        "float32": pa.array((random.integers(0, 9, N) / 10).astype(np.float32)),
        "text": pa.array(random.choice(["a", "b", "c"], N), mask=gaps),
        "levels": pa.array(random.choice(["x", "y"], N)).dictionary_encode(),
        "decimal": pa.array(random.integers(0, 5, N)).cast(pa.decimal128(20, 1)),
    }


def summarised(array: pa.Array, weights, size: int) -> ColumnSummary:
    found = ColumnSummary("x", array.type, 3000)
    for start in range(0, N, size):
        part = None if weights is None else weights[start : start + size]
        found.add(array.slice(start, size), part, start)
    return found


@pytest.mark.parametrize(
    ("name", "size", "weighted"),
    [
        *((name, *of) for name in columns() for of in ((137, False), (N, False), (137, True))),
        *((name, 1, True) for name in ("narrow", "float", "text")),
    ],
)
def test_counts(name, size, weighted):
    array = columns()[name]
    weights = np.random.default_rng(1).integers(0, 3, N).astype(float) if weighted else None
    found = summarised(array, weights, size)
    plain = array.dictionary_decode() if name == "levels" else array
    rows = [None if value != value else value for value in plain.to_pylist()]
    used = np.ones(N) if weights is None else weights
    expected: dict = {}
    for value, weight in zip(rows, used, strict=True):
        if weight > 0:
            n, total = expected.get(value, (0, 0.0))
            expected[value] = (n + 1, total + weight)
    values, sums, counts = found.values(counted=True)
    keys = [
        None if value is None or value != value else value
        for value in (v.item() if isinstance(v, np.generic) else v for v in values)
    ]
    assert {k: (c, w) for k, c, w in zip(keys, counts, sums, strict=True)} == {
        (float(k) if name == "decimal" and k is not None else k): v for k, v in expected.items()
    }
    assert found.n_counted == (used > 0).sum()
    assert found.n_missing == sum(value is None for value in rows)
    assert found.n_missing_counted == sum(
        value is None for value, weight in zip(rows, used, strict=True) if weight > 0
    )
    if found.is_numeric:
        known = [float(value) for value in rows if value is not None]
        assert (found.minimum, found.maximum) == (min(known), max(known))
        assert found.are_integers == all(value == int(value) for value in known)


def test_more_values_than_are_counted():
    array = pa.array(np.arange(N) + 0.5)
    found = ColumnSummary("x", array.type, 100)
    for start in range(0, N, 64):
        found.add(array.slice(start, 64), None, start)
    assert not found.is_counted
    assert (found.minimum, found.maximum, found.are_integers) == (0.5, N - 0.5, False)


def test_faults_know_their_first_row():
    values = np.arange(N, dtype=float)
    values[[700, 900]] = np.inf
    values[[800, 1300, 1301]] = np.nan
    found = summarised(pa.array(values), None, 100)
    assert (found.faults["infinite"].count, found.faults["infinite"].first) == (2, 700)
    assert (found.faults["missing"].count, found.faults["missing"].first) == (3, 800)
    big = np.arange(N) * 10
    big[1234] = 2**60
    found = summarised(pa.array(big), None, 100)
    assert (found.faults["inexact"].count, found.faults["inexact"].first) == (1, 1234)
    table = TableSummary(["x"], [pa.string()], most=50)
    table.place = "row {} of a file".format
    table.add(pa.RecordBatch.from_pydict({"x": [str(k / 2) for k in range(40)] + ["<3", "<3"]}))
    fault = table.text_fault(0)
    assert (fault.kind, fault.count, fault.place) == ("mixed", 2, "row 40 of a file")
    table.add(pa.RecordBatch.from_pydict({"x": [f"t{k}" for k in range(60)]}))
    with pytest.raises(ColumnError) as error:
        table.short_column(0)
    assert (error.value.kind, error.value.example) == ("levels", "50")


@pytest.mark.parametrize("weighted", [False, True])
def test_the_sample_does_not_depend_on_the_batches(weighted):
    random = np.random.default_rng(0)
    n = 20_000
    batch = pa.RecordBatch.from_pydict({"x": random.normal(size=n), "y": random.normal(size=n)})
    weights = random.integers(0, 3, n).astype(float) if weighted else None
    found = []
    for size in (500, 7001, n):
        table = TableSummary(["x", "y"], [pa.float64()] * 2, most=10, sample_rows=300, seed=5)
        for start in range(0, n, size):
            table.add(
                batch.slice(start, size), None if weights is None else weights[start : start + size]
            )
        found.append([table.short_column(j)[:2] for j in range(2)])
        assert table.short_column(0)[2] is None
    values, sums = found[0][0]
    assert len(values) == 302  # and the extreme ones
    assert set(values) <= set(batch.column(0).to_numpy())
    assert {values.min(), values.max()} == {
        batch.column(0).to_numpy().min(), batch.column(0).to_numpy().max()
    }  # fmt: skip
    position = {value: k for k, value in enumerate(batch.column(0).to_numpy())}
    rows = [position[value] for value in values[:300]]
    if weighted:
        assert sums[:300].tolist() == weights[rows].tolist()
        assert sums[:300].min() > 0
    # Columns of one row stay together.
    assert found[0][1][0][:300].tolist() == batch.column(1).to_numpy()[rows].tolist()
    for other in found[1:]:
        for (one, its), (two, others) in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
            np.testing.assert_array_equal(its, others)
