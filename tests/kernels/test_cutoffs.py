"""Kernels of the search over cut-offs, against plain NumPy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from riskslim._kernels import cutoffs as kernels


class Sample:
    """Rows, chains of nested items, and roots of all their combinations."""

    def __init__(self, seed, n=60, weighted=False, interval=False, most_points=3, strength=0.0):
        rng = np.random.default_rng(seed)
        lengths = rng.integers(1, 6, 3)
        self.chains, first = [], 0
        for length in lengths:
            self.chains.append(np.arange(first, first + length))
            first += length
        self.m, longest = first, int(lengths.max())
        self.rank = np.array([rng.integers(0, k + 1, n) for k in lengths], np.int16)
        y = rng.random(n) < 0.2 + 0.6 * self.rank[0] / lengths[0]
        self.labels = y.astype(np.uint16)
        self.labels[:2] = 0, 1
        self.multiples = (2 ** rng.integers(0, 3, n) if weighted else np.ones(n)).astype(np.int32)
        total = self.multiples.sum()
        self.unit = np.array([1.0, 1.0]) / total * (1 - 1e-15)
        self.order = np.argsort(self.rank, axis=1, kind="stable").astype(np.int32)
        self.start = np.array(
            [np.searchsorted(np.sort(r), np.arange(longest + 2)) for r in self.rank], np.int32
        )
        self.item = np.full((3, longest), -1, np.int64)
        for c, chain in enumerate(self.chains):
            self.item[c, : len(chain)] = chain
        self.price = rng.uniform(0.0, 0.02, self.m)
        self.chain_price = np.array([self.price[chain].min() for chain in self.chains])
        # Without a penalty, with that of one item in some chains, or with one of every item.
        some = np.random.default_rng([seed, 1]).choice([0.0, 1.0, 1.0, 2.0], self.m)
        self.ridge = strength * some if strength else np.empty(0)
        self.chain_ridge = np.array([(strength * some)[chain].min() for chain in self.chains])
        self.t = (0.5, 0.9) if interval else (0.8, 0.8)
        self.points, self.intercept = most_points, 4
        ends = np.full(self.m + 1, most_points * self.t[1])
        ends[0] = self.intercept * self.t[1]
        self.low, self.high = -ends, ends
        self.apart = np.zeros((self.m, self.m), np.uint8)
        if rng.random() < 0.5:
            self.apart[0, self.m - 1] = self.apart[self.m - 1, 0] = 1

    def roots(self, size):
        signed = [(c, s) for c in range(3) for s in (0, 1)]
        chosen = list(itertools.combinations_with_replacement(signed, size))
        whole = np.zeros((len(chosen), kernels.NODE_INTS), np.int32)
        real = np.zeros((len(chosen), kernels.NODE_REALS))
        real[:, 0] = -1.0
        for row, combination in enumerate(chosen):
            whole[row, :3] = size, -self.intercept, self.intercept
            for i, (c, sign) in enumerate(combination):
                last = len(self.chains[c]) - 1
                at = 6 + i * kernels.ELEMENT_INTS
                whole[row, at : at + 8] = c, 0, last, sign, 1, self.points, 1, last // 2
                real[row, 2 + 3 * i] = 0.7
        return whole, real

    def search(self, nodes, cutoff, level, most=10**6, room=4096):
        whole_out = np.zeros((room, kernels.NODE_INTS), np.int32)
        real_out = np.zeros((room, kernels.NODE_REALS))
        found = np.full((room, nodes[0][0, 0]), -7, np.int64)
        counted = np.zeros(3, np.int64)
        done, n_open, n_found = kernels.search(
            self.labels, self.multiples, self.unit, self.rank, self.order, self.start, self.item,
            self.chain_price, self.price, self.chain_ridge, self.ridge, self.low, self.high,
            self.apart, *self.t, cutoff, level, most, np.zeros(1, np.int64), *nodes, whole_out,
            real_out, found, counted,
            np.empty(kernels.room(len(self.labels), self.item.shape[1]), np.uint64),
        )  # fmt: skip
        return done, whole_out[:n_open], real_out[:n_open], found[:n_found], counted

    def columns(self, support):
        chain = [next(c for c in range(3) if j in self.chains[c]) for j in support]
        return np.array(
            [
                self.rank[c] > np.flatnonzero(self.chains[c] == j)
                for c, j in zip(chain, support, strict=True)
            ]
        ).astype(float)

    def objective(self, support, t, signs=None):
        """Least objective of integer points, none zero, at one worth of a point."""
        X, best = self.columns(support), math.inf
        y, weight = np.where(self.labels, 1.0, -1.0), self.multiples * self.unit[self.labels]
        values = [v for v in range(-self.points, self.points + 1) if v]
        shifts = np.arange(-self.intercept, self.intercept + 1)[:, None]
        for points in itertools.product(values, repeat=len(support)):
            if signs is not None and (np.sign(points) != signs).any():
                continue
            margins = t * y * (shifts + np.array(points) @ X)
            squares = (
                self.ridge[list(support)] @ (t * np.array(points)) ** 2 if len(self.ridge) else 0
            )
            best = min(best, float((np.logaddexp(0.0, -margins) @ weight).min() + squares))
        return best + self.price[list(support)].sum()

    def supports(self, size):
        for support in itertools.combinations(range(self.m), size):
            if not any(self.apart[a, b] for a, b in itertools.combinations(support, 2)):
                yield support


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("interval", [False, True])
@pytest.mark.parametrize("strength", [0.0, 0.01])
def test_no_support_below_the_cutoff_is_lost(weighted, interval, strength):
    for seed in range(8):
        sample = Sample(seed, weighted=weighted, interval=interval, strength=strength)
        size = 1 + seed % 2
        worths = np.linspace(*sample.t, 4) if interval else sample.t[:1]
        objective = {
            support: min(sample.objective(support, t) for t in worths)
            for support in sample.supports(size)
        }
        cutoff = np.quantile(list(objective.values()), 0.3)
        *_, found, counted = sample.search(sample.roots(size), cutoff, cutoff)
        left = {tuple(sorted(row)) for row in found.tolist()}
        wanted = {support for support, value in objective.items() if value < cutoff}
        assert wanted <= left, seed
        assert left <= set(objective), seed
        assert counted[2] == len(found)
        if not interval:  # nothing is left of what branching on the cells excludes
            assert len(left) <= 1.1 * len(wanted) + 2, seed


@pytest.mark.parametrize("most", [1, 7, 40])
def test_open_nodes_and_supports_cover_what_is_left(most):
    """Ended anywhere, a search that goes on from its open nodes finds the same supports."""
    for seed in range(8):
        sample, size = Sample(seed), 2
        values = [sample.objective(support, sample.t[0]) for support in sample.supports(size)]
        cutoff, level = np.quantile(values, 0.3), np.quantile(values, 0.05)
        *_, whole_found, _ = sample.search(sample.roots(size), cutoff, cutoff)
        nodes, parts = sample.roots(size), set()
        for step in itertools.count():
            own = cutoff if step > 3 else level
            done, whole, real, found, _ = sample.search(nodes, cutoff, own, most)
            parts |= {tuple(sorted(row)) for row in found.tolist()}
            assert (real[:, 0] < cutoff).all()
            nodes = (
                np.concatenate((whole, nodes[0][done:])), np.concatenate((real, nodes[1][done:]))
            )  # fmt: skip
            if not len(nodes[0]):
                break
        assert parts == {tuple(sorted(row)) for row in whole_found.tolist()}, seed


@pytest.mark.parametrize("strength", [0.0, 0.01])
def test_bounds_are_below_every_score_of_a_node(strength):
    """Of roots that are not divided: each bound against all supports and points in it."""
    for seed in range(12):
        sample, size = Sample(seed, strength=strength), 2
        whole, real = sample.roots(size)
        _, whole, real, *_ = sample.search((whole, real), 10.0, 0.0)
        for node, numbers in zip(whole, real, strict=True):
            elements = [node[6 + i * kernels.ELEMENT_INTS :][:6] for i in range(size)]
            ranges = [sample.chains[c][a : b + 1] for c, a, b, *_ in elements]
            values = (
                sample.objective(support, sample.t[0], [1 - 2 * e[3] for e in elements])
                for support in itertools.product(*ranges)
                if support[0] != support[1]
            )
            least = min(values, default=math.inf)
            assert numbers[0] <= least + 1e-12, seed
