"""Kernels of rules: cells by counting bits, the knapsack bound, and the best points on cells."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from riskslim import CoefficientSet, LogisticLoss, TrainingData
from riskslim._kernels import rules as kernels
from riskslim.engines.branch_and_bound.enumeration_items import EnumerationItems

STOP = np.zeros(1, np.int64)


def found_points(n_bits, a, b, value, points, capacity, most, *, step=1.0, rows=(), ends=(),
                 room=1, most_nodes=10**9, stop=STOP):  # fmt: skip
    """Points that the kernel finds, and what each calls wrong."""
    k, n = len(n_bits), len(a)
    rows = np.array(rows, float).reshape(-1, k + 1)
    ends = np.array(ends, float).reshape(len(rows), 2).T.copy()
    low, high = np.min(points, axis=1) * 1.0, np.max(points, axis=1) * 1.0
    rest = []
    for pick in (np.minimum, np.maximum):
        each = pick(rows[:, 1:] * low, rows[:, 1:] * high)
        later = np.cumsum(each[:, ::-1], axis=1)[:, ::-1]
        rest.append(np.ascontiguousarray(np.hstack((later, np.zeros((len(rows), 1))))))
    found, wrong = np.empty((room, k), np.int64), np.empty(room)
    counted = np.zeros(1, np.int64)
    status, n_found = kernels.best_points(
        np.array(n_bits, np.int64), np.asarray(a, float), np.asarray(b, float), value,
        np.concatenate(points).astype(np.int64), np.cumsum([0, *map(len, points)]).astype(np.int64),
        rows, ends, *rest, np.zeros(2, np.int64), float(capacity), float(most), step, 1e-9,
        most_nodes, stop, found, wrong, counted,
        np.full((k + 3) * n + (k + 1) * max(len(rows), 1), np.nan),
        np.full(2 * (k + 1) * n, -9, np.int32),
    )  # fmt: skip
    return status, found[:n_found], wrong[:n_found], int(counted[0])


def wrong_of(vector, digits, value, a, b, capacity):
    """Try every threshold."""
    u = sum(p * value[i][digits[i]] for i, p in enumerate(vector))
    best = b.sum()
    for threshold in np.unique(u):
        called = u <= threshold
        if a[called].sum() <= capacity:
            best = min(best, b[~called].sum())
    return best


def drawn_cells(seed):
    rng = np.random.default_rng(seed)
    n_bits = [int(bits) for bits in rng.choice([1, 1, 1, 2], int(rng.integers(1, 5)))]
    number = np.arange(1 << sum(n_bits))
    digits, below = [], sum(n_bits)
    for bits in n_bits:
        below -= bits
        digits.append(number >> below & ((1 << bits) - 1))
    value = np.zeros((len(n_bits), 8))
    for i, bits in enumerate(n_bits):
        value[i, : 1 << bits] = np.sort(rng.choice(np.arange(-3, 8), 1 << bits, replace=False))
    a, b = rng.integers(0, 7, (2, len(number))) * (rng.random((2, len(number))) < 0.7)
    points = [[p for p in range(-2, 3) if p] for _ in n_bits]
    return rng, n_bits, digits, value * rng.choice([-1.0, 1.0]), a * 1.0, b * 1.0, points


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_points_are_the_best_of_all(first):
    for seed in range(first, first + 20):
        rng, n_bits, digits, value, a, b, points = drawn_cells(seed)
        capacity = float(rng.integers(0, a.sum() + 1))
        k = len(n_bits)
        rows = [[0.0, *rng.integers(-1, 2, k)]] if seed % 3 == 0 else []
        ends = [(-1.0, 2.0)] if rows else []
        every = [
            (wrong_of(vector, digits, value, a, b, capacity), vector)
            for vector in itertools.product(*points)
            if all(low <= np.dot(row[1:], vector) <= high
                   for row, (low, high) in zip(rows, ends, strict=True))
        ]  # fmt: skip
        status, found, wrong, _ = found_points(
            n_bits, a, b, value, points, capacity, b.sum(), rows=rows, ends=ends
        )
        assert status == 0
        if not every:
            assert not len(found)
            continue
        best = min(each for each, _ in every)
        np.testing.assert_allclose(wrong, [best])
        assert wrong_of(found[0], digits, value, a, b, capacity) == best
        # All that are as good, and none that is better than the best.
        status, found, _, _ = found_points(
            n_bits, a, b, value, points, capacity, best, step=-1.0, rows=rows, ends=ends, room=5000
        )
        assert status == 0
        equal = sorted(vector for each, vector in every if each == best)
        assert sorted(map(tuple, found.tolist())) == equal
        least = kernels.least_wrong(a, b, capacity)
        assert least <= best + 1e-9
        status, found, _, _ = found_points(
            n_bits, a, b, value, points, capacity, best - 1, rows=rows, ends=ends
        )
        assert (status, len(found)) == (0, 0)


def test_limits_end_a_search_of_points():
    _, n_bits, _, value, a, b, points = drawn_cells(3)
    status, found, _, counted = found_points(
        n_bits, a, b, value, points, a.sum(), b.sum(), step=-1.0, room=1
    )
    assert (status, len(found)) == (kernels.FULL, 1)
    status, *_, counted = found_points(
        n_bits, a, b, value, points, 0.0, b.sum(), step=-1.0, room=1000, most_nodes=2
    )
    assert status == kernels.FULL
    assert counted == 3
    stopped = np.ones(1, np.int64)
    assert found_points(n_bits, a, b, value, points, 0.0, b.sum(), stop=stopped)[0] == (
        kernels.STOPPED
    )


@pytest.mark.parametrize("weighting", ["none", "numbers"])
def test_counts_of_cells(weighting):
    rng = np.random.default_rng(4)
    n = 3000
    X = np.column_stack(
        (rng.integers(0, 2, n), rng.integers(0, 5, n), rng.integers(0, 2, n), rng.integers(0, 3, n))
    ).astype(float)
    y = rng.random(n) < 0.3
    weights = None if weighting == "none" else rng.integers(1, 9, n).astype(float)
    data = TrainingData(X, y, weights)
    loss = LogisticLoss(data, CoefficientSet(data.feature_names, -2, 2), compress=False)
    packed = EnumerationItems.of(loss, np.arange(4))
    planes = [
        plane for i in range(4) for plane in range(packed.first[i + 1] - 1, packed.first[i] - 1, -1)
    ]
    cells, n_cells = np.full((2, 1 << len(planes)), 77), 1 << len(planes)
    arguments = (packed.words, packed.n_rows, packed.side, packed.shifts, np.array(planes))
    status = kernels.count(*arguments, cells, np.empty(n_cells, np.uint64), STOP)
    code = np.zeros(n, np.int64)
    for j, bits in enumerate(packed.n_planes.tolist()):
        code = (code << bits) + X[:, j].astype(np.int64)
    each = np.ones(n) if weights is None else weights
    expected = [np.bincount(code[k], each[k], n_cells) for k in (~y, y)]
    assert status == 0
    np.testing.assert_array_equal(cells, expected)
