"""Chains of packed items: found in the rows, and counted by ranks as by bits."""

from __future__ import annotations

import numpy as np
import pytest

from riskslim import TrainingData
from riskslim._kernels import nested_thresholds as kernels
from riskslim.data import nested_thresholds as module
from riskslim.data.nested_thresholds import (
    FEWEST,
    REACH,
    ThresholdCounter,
    count_rows,
    find_nested_thresholds,
)
from riskslim.rows.bit_planes import pack_items


def cut_offs(values, n, *, below=False):
    """Items ``value >= c``, or ``value < c``; a missing value has none of them."""
    cuts = np.nanquantile(values, np.linspace(0.02, 0.98, n))
    return [values < c if below else values >= c for c in cuts]


def table(rng, kind, n=900):
    """0/1 columns of some kinds of chains."""
    age, pressure = rng.normal(size=n), rng.normal(size=n)
    noise = list(rng.random((5, n)) < 0.3)
    if kind == "missing":
        age[rng.random(n) < 0.2] = np.nan
        return [*cut_offs(age, 40), np.isnan(age), *cut_offs(pressure, 30), *noise]
    if kind == "complements":
        pairs = zip(cut_offs(age, 40), cut_offs(age, 40, below=True), strict=True)
        return [column for pair in pairs for column in pair] + noise
    if kind == "duplicates":
        return [column for column in cut_offs(age, 20) for _ in range(3)] + noise
    if kind == "directions":
        return [*cut_offs(age, 40), *cut_offs(pressure, 30)[::-1], *noise]
    if kind == "shuffled":
        columns = [*cut_offs(age, 20), *cut_offs(pressure, 20), *noise]
        return [columns[i] for i in rng.permutation(len(columns))]
    assert kind == "alone"
    return [*noise, *cut_offs(age, FEWEST - 1)]


def packed_items(columns, rng, weights):
    X = np.column_stack(columns).astype(float)
    y = np.where(rng.random(len(X)) < 0.4, 1, -1)
    w = {
        "none": None,
        "few": rng.choice([0.5, 1.5, 4.0], len(X)),
        "many": rng.uniform(0.1, 3.0, len(X)),
    }[weights]
    data = TrainingData(X, y, w)
    return pack_items(data.rows, np.ones(data.n_features, np.bool_))


def bits(planes):
    return np.unpackbits(planes.view(np.uint8), axis=1, bitorder="little").astype(bool)


KINDS = {
    "missing": [30, 40], "complements": [40, 40], "duplicates": [60], "directions": [30, 40],
    "shuffled": [20, 20], "alone": [],
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_chains_are_those_of_the_rows(kind):
    rng = np.random.default_rng(3)
    packed = packed_items(table(rng, kind), rng, "none")
    counter = ThresholdCounter(packed)
    chains = counter.chains
    has = bits(packed.planes)
    assert (count_rows(packed.planes) == has.sum(axis=1)).all()
    for c in range(len(chains)):
        planes = has[chains.planes_of(c)]
        assert len(planes) >= FEWEST
        assert (planes[1:] <= planes[:-1]).all()
        assert (counter.ranks[c] == planes.sum(axis=0)).all()
    # Every plane is in one chain, or among the others.
    assert sorted([*chains.members, *counter.others]) == list(range(len(has)))
    # A rare item that happens to be in another chain may end it early: not many do.
    lengths = sorted(np.diff(chains.first).tolist())
    assert len(lengths) == len(KINDS[kind])
    assert sum(lengths) >= sum(KINDS[kind]) - 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", ["none", "few", "many"])
def test_ranks_count_as_bits_do(monkeypatch, kind, weights):
    rng = np.random.default_rng(5)
    packed = packed_items(table(rng, kind), rng, weights)
    counter = ThresholdCounter(packed)
    chains = counter.chains
    valid = bits(packed.valid[None])[0]
    side = np.repeat(packed.side, np.diff(packed.first_word) * 64)
    weight = np.repeat(packed.weight, np.diff(packed.first_word) * 64)
    has = bits(packed.planes)
    for n_groups in (1, 7, 96):
        group = np.where(valid, rng.integers(0, n_groups, len(valid)), -1)
        masks = np.array(
            [np.packbits(group == r, bitorder="little").view(np.uint64) for r in range(n_groups)]
        )
        found = []
        for worthwhile, n_threads in ((0, 1), (0, 2), (10**9, 1)):
            monkeypatch.setattr(module, "WORTHWHILE", worthwhile)
            out = np.full((len(has), 2, n_groups), np.nan)
            counter.count(masks, out, np.zeros(1, np.int64), n_threads)
            found.append(out)
        assert (found[0] == found[1]).all()
        assert (found[0] == found[2]).all()
        for plane in rng.choice(len(has), 8):
            for s in (0, 1):
                rows = has[plane] & valid & (side == s)
                expected = np.bincount(group[rows], weight[rows], n_groups)
                np.testing.assert_allclose(found[0][plane, s], expected, rtol=1e-12, atol=1e-15)
        for c in range(len(chains)):
            monkeypatch.setattr(module, "WORTHWHILE", 0)
            out = np.full((len(has), 2, n_groups), np.nan)
            counter.count(masks, out, np.zeros(1, np.int64), 1, only=c)
            planes = chains.planes_of(c)
            assert (out[planes] == found[0][planes]).all()
            assert np.isnan(np.delete(out, planes, axis=0)).all()


def test_stop_leaves_counts_undone(monkeypatch):
    rng = np.random.default_rng(7)
    packed = packed_items(table(rng, "directions"), rng, "none")
    counter = ThresholdCounter(packed)
    monkeypatch.setattr(module, "WORTHWHILE", 0)
    out = np.full((len(packed.values), 2, 1), np.nan)
    counter.count(packed.valid[None], out, np.ones(1, np.int64), 1)
    assert np.isnan(out).all()


def test_chains_are_no_longer_than_they_may_be():
    rng = np.random.default_rng(9)
    packed = packed_items(table(rng, "shuffled", n=200), rng, "none")
    order = np.argsort(-bits(packed.planes).sum(axis=1), kind="stable")
    n = len(order)
    for longest in (5, 1000):
        chain, last, length = np.full(n, -1), np.full(n, -1), np.zeros(n, np.int64)
        n_chains = kernels.find_nested_thresholds(
            packed.planes, order, np.zeros(n, np.int64), np.zeros(n, np.int64), REACH, longest, n,
            0, chain, last, length,
        )  # fmt: skip
        assert length.max() == min(longest, 20)
        assert (np.bincount(chain) == length[:n_chains]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_reach_the_fewest_other_rows_count(kind):
    rng = np.random.default_rng(13)
    packed = packed_items(table(rng, kind), rng, "none")
    has, kinds = bits(packed.planes), rng.integers(0, 2, len(packed.planes))
    n_rows, expected = has.sum(axis=1), []
    for p in np.argsort(-n_rows, kind="stable").tolist():
        holders = [c for c in expected if kinds[c[-1]] == kinds[p] and (has[p] <= has[c[-1]]).all()]
        if holders:
            min(holders, key=lambda c: n_rows[c[-1]]).append(p)
        else:
            expected.append([p])
    every = np.arange(len(has))
    found = find_nested_thresholds(packed.planes, every, kind=kinds, most=len(expected))
    assert [found.planes_of(c).tolist() for c in range(len(found))] == expected
    assert find_nested_thresholds(packed.planes, every, kind=kinds, most=len(expected) - 1) is None
    assert (
        find_nested_thresholds(packed.planes, every, kind=kinds, should_stop=lambda: True) is None
    )


def test_items_of_several_values_are_in_no_chain():
    rng = np.random.default_rng(11)
    columns = [c.astype(float) for c in cut_offs(rng.normal(size=500), 20)]
    columns.insert(10, rng.integers(0, 4, 500).astype(float))
    packed = packed_items(columns, rng, "none")
    counter = ThresholdCounter(packed)
    chains = counter.chains
    assert np.diff(chains.first).tolist() == [20]
    assert counter.others.tolist() == [10, 11, 12]
