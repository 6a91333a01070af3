"""Kernels of additive models, against plain NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from riskslim._kernels import additive as kernels

STEPS = 60


class Sample:
    """Rows of some families, most of which take part."""

    def __init__(self, seed, n=5000):
        rng = np.random.default_rng(seed)
        self.n, sizes = n, rng.integers(2, 12, 5)
        self.codes = np.array([rng.integers(0, size, n) for size in sizes]).astype(np.uint16)
        self.live = np.sort(rng.permutation(5)[: 1 + seed % 5])
        self.first = np.concatenate([[0], np.cumsum(sizes[self.live])])
        self.largest = int(sizes.max())
        self.effects = rng.normal(size=self.first[-1])
        weight = rng.uniform(0.2, 2.0, n)
        is_positive = rng.random(n) < 1 / (1 + np.exp(-self.scores(self.effects)))
        is_both = rng.random(n) < 0.2  # merged rows may have both classes
        self.positive = np.where(is_positive | is_both, weight, 0.0) / weight.sum()
        self.negative = np.where(~is_positive | is_both, weight, 0.0) / weight.sum()

    def places(self):
        return self.first[:-1, None] + self.codes[self.live]

    def scores(self, effects):
        return effects[self.places()].sum(axis=0)

    def loss(self, effects):
        scores = self.scores(effects)
        slopes = self.negative / (1 + np.exp(-scores)) - self.positive / (1 + np.exp(scores))
        value = self.positive @ np.logaddexp(0, -scores) + self.negative @ np.logaddexp(0, scores)
        sums = np.zeros(len(effects))
        for place in self.places():
            np.add.at(sums, place, slopes)
        return value, sums, np.abs(slopes).sum()

    def room(self):
        return np.empty(kernels.scratch_size(self.n, int(self.first[-1]), self.largest))

    def linearise(self, effects, stop=0):
        sums, out = np.full(len(effects), np.nan), np.zeros(2)
        is_done = kernels.linearise(
            self.codes, self.live, self.first, effects, self.positive, self.negative, sums, out,
            np.array([stop]), self.room(),
        )  # fmt: skip
        return is_done, sums, out

    def fit(self, target=np.inf, tolerance=1e-9, steps=STEPS, stop=0, reach=10.0):
        effects, out = np.zeros(self.first[-1]), np.zeros(2)
        passes = kernels.fit(
            self.codes, self.live, self.first, effects, self.positive, self.negative, reach, target,
            tolerance, steps, out, np.array([stop]), self.room(),
        )  # fmt: skip
        return passes, effects, out


@pytest.mark.parametrize("seed", range(10))
def test_loss_and_slopes(seed):
    sample = Sample(seed)
    is_done, sums, out = sample.linearise(sample.effects)
    value, expected, size = sample.loss(sample.effects)
    assert is_done
    assert abs(out[0] - value) < 1e-13
    assert abs(out[1] - size) < 1e-13
    np.testing.assert_allclose(sums, expected, atol=1e-14)


@pytest.mark.parametrize("seed", range(10))
def test_a_fit_is_the_minimum(seed):
    sample = Sample(seed)
    _, effects, out = sample.fit()
    best = minimize(
        lambda effects: sample.loss(effects)[:2], np.zeros(len(effects)), jac=True,
        method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 2000},
    )  # fmt: skip
    assert abs(out[0] - best.fun) < 1e-8
    assert abs(sample.loss(effects)[0] - out[0]) < 1e-13
    assert out[0] - 1e-7 <= out[1] <= out[0]


@pytest.mark.parametrize("seed", range(6))
def test_a_fit_ends_early_where_its_target_is_reached(seed):
    sample = Sample(seed)
    passes, _, (loss, _) = sample.fit()
    early, _, (_, bound) = sample.fit(target=loss - 0.05)
    assert bound >= loss - 0.05
    assert early < passes


def test_patterns_of_one_class_and_without_rows():
    """Effects that have no minimum end the steps all the same."""
    sample = Sample(4, n=200)
    sample.positive[sample.codes[sample.live[0]] == 0] = 0.0
    sample.codes[sample.live[1]][sample.codes[sample.live[1]] == 1] = 0
    passes, effects, out = sample.fit(tolerance=1e-4)
    assert passes < 3 * STEPS
    assert np.isfinite(effects).all()
    assert out[1] >= out[0] - 1e-4


@pytest.mark.parametrize("stop", [1, -1, -2, -3, -7])
def test_a_stop_ends_the_work(stop):
    sample = Sample(4, n=9000)
    is_done, *_ = sample.linearise(sample.effects, stop)
    assert is_done == (stop == -7)  # it looks five times
    passes, *_ = sample.fit(stop=stop)
    assert passes <= 2
    assert passes < sample.fit()[0]
