"""Rows merged as they come are the distinct rows, whatever the room and the batches."""

from __future__ import annotations

import numpy as np
import pytest

from riskslim.data.layout import WordLayout
from riskslim.data.merging import MergedKeys, RowMerger, split_counts
from riskslim.data.row_tiles import as_row_tiles


def rows_of(n: int, d_binary: int, d_bytes: int, d_real: int, seed: int = 0):
    random = np.random.default_rng(seed)
    integers = np.empty((n, d_binary + d_bytes), np.int8, order="F")
    integers[:, :d_binary] = random.random((n, d_binary)) < 0.15
    integers[:, d_binary:] = random.choice([-128, -1, 0, 127], (n, d_bytes), p=[0.1, 0.1, 0.7, 0.1])
    integers = np.asfortranarray(integers[:, random.permutation(d_binary + d_bytes)])
    reals = np.asfortranarray(random.choice([0.0, -0.0, 1.5, -1e300], (n, d_real)))
    labels = random.choice(np.array([-1, 1], np.int8), n)
    return integers, reals, labels, random.integers(1, 5, n) / 4


def counted(keys: np.ndarray, counts: np.ndarray, weights: np.ndarray) -> dict:
    found: dict = {}
    for key, count, weight in zip(map(tuple, keys), counts, weights, strict=True):
        before = found.get(key, (0, 0.0))
        found[key] = (before[0] + int(count), before[1] + float(weight))
    return found


@pytest.mark.parametrize(("shape"), [(1, 0, 0), (30, 0, 0), (60, 3, 0), (5, 20, 2), (0, 0, 3)])
@pytest.mark.parametrize(
    ("weighted", "n_bytes", "batch"),  # every two of them together
    [(False, 1, 100), (True, 1, 3001), (True, 10**7, 100), (False, 10**7, 3001)],
)
def test_rows_are_the_distinct_ones(shape, weighted, n_bytes, batch):
    n = 6000
    integers, reals, labels, weights = rows_of(n, *shape)
    is_binary = (integers.min(axis=0) >= 0) & (integers.max(axis=0) <= 1)
    layout = WordLayout.of(is_binary, reals.shape[1])
    given_up: list[dict] = []
    merger = RowMerger(
        layout, weighted, n_bytes,
        lambda one: given_up.append(counted(one.keys, one.counts, one.weights)),
    )  # fmt: skip
    for start in range(0, n, batch):
        part = slice(start, start + batch)
        merger.add(
            np.asfortranarray(integers[part]), as_row_tiles(reals[part]), labels[part],
            weights[part] if weighted else None,
        )  # fmt: skip
    held = merger.finish()
    assert merger.n_rows == len(held.keys)
    found = counted(held.keys, held.counts, held.weights)
    assert len(found) == len(held.keys)  # no two are equal
    for other in given_up:
        for key, (count, weight) in other.items():
            before = found.get(key, (0, 0.0))
            found[key] = (before[0] + count, before[1] + weight)
    # What the words say are the rows.
    keys = np.array([*found], np.uint64).reshape(len(found), layout.n_words)
    rows = np.column_stack([layout.labels(keys), layout.integers(keys), layout.reals(keys)])
    table = dict(zip(map(tuple, rows.astype(float)), found.values(), strict=True))
    expected: dict = {}
    for row, weight in zip(
        map(tuple, np.column_stack([labels, integers, reals + 0.0]).astype(float)),
        weights if weighted else np.ones(n), strict=True,
    ):  # fmt: skip
        before = expected.get(row, (0, 0.0))
        expected[row] = (before[0] + 1, before[1] + weight)
    assert table == expected  # weights are quarters: their sums are exact
    assert bool(given_up) == (n_bytes == 1 and len(expected) > 1024)


def test_rows_that_come_often_stay():
    """A common row comes between many that do not merge; it is never given up."""
    random = np.random.default_rng(0)
    layout = WordLayout.of(np.ones(40, np.bool_), 0)
    given_up: list[MergedKeys] = []
    merger = RowMerger(layout, False, 1, lambda one: given_up.append(one))
    for _ in range(20):
        integers = np.asfortranarray(random.integers(0, 2, (500, 40)).astype(np.int8))
        integers[::5] = 1
        merger.add(integers, as_row_tiles(np.empty((500, 0))), np.ones(500, np.int8))
    held = merger.finish()
    common = layout.integers(held.keys).all(axis=1)
    assert held.counts[common].tolist() == [2000]
    assert sum(len(one.keys) for one in given_up) + len(held.keys) == 8001
    assert given_up


def test_order_is_that_of_first_appearance():
    layout = WordLayout.of(np.array([False]), 0)
    merger = RowMerger(layout, False, 10**6, pytest.fail)
    for values in ([5, 3, 5], [3, 9, -4]):
        columns = np.array(values, np.int8).reshape(-1, 1, order="F")
        merger.add(columns, as_row_tiles(np.empty((3, 0))), np.ones(3, np.int8))
    held = merger.finish()
    assert layout.integers(held.keys)[:, 0].tolist() == [5, 3, 9, -4]
    assert held.counts.tolist() == [2, 2, 1, 1]


def test_counts_of_more_than_16_bits_are_split():
    counts = np.array([3, 200_000, 65_535], np.int64)
    merged = MergedKeys(np.arange(3, dtype=np.uint64)[:, None], counts, counts.astype(float))
    split = split_counts(merged)
    assert split.keys[:, 0].tolist() == [0, 1, 1, 1, 1, 2]
    assert split.counts.tolist() == [3, 65_535, 65_535, 65_535, 3395, 65_535]
    assert split.weights.tolist() == split.counts.tolist()
    few = MergedKeys(merged.keys[[0]], counts[[0]], counts[[0]].astype(float))
    assert split_counts(few) is few


@pytest.mark.parametrize(
    ("d_binary", "d_bytes", "words"),
    [(56, 0, 1), (57, 0, 2), (0, 7, 1), (0, 8, 2), (48, 1, 1), (49, 1, 2)],
)
def test_words_of_a_row(d_binary, d_bytes, words):
    is_binary = np.r_[np.ones(d_binary, np.bool_), np.zeros(d_bytes, np.bool_)]
    layout = WordLayout.of(is_binary, 2)
    assert layout.n_words == words + 2
    taken = [bit for place, bits in zip(layout.places, layout.bits, strict=True)
             for bit in range(place, place + bits)]  # fmt: skip
    assert len(set(taken)) == len(taken) == d_binary + 8 * d_bytes
    assert min(taken) >= 8
    assert max(taken) < 64 * words
