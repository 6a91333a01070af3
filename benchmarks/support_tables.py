"""Fit the predicted time of tables of supports: ``python -m benchmarks.support_tables``.

Prints nanoseconds per support of scans that exclude nearly everything, beside what
:func:`~riskslim.engines.branch_and_bound.tables.predicted_seconds` says and what plain NumPy takes
for the same counts. The constants of that module are those that made the two agree best.
"""

from __future__ import annotations

import itertools
import time

import numpy as np

from riskslim import CoefficientSet, LogisticLoss, TrainingData
from riskslim._kernels import tables as kernels
from riskslim.engines.branch_and_bound.packed import TableItems
from riskslim.engines.branch_and_bound.tables import (
    MOST_FOUND,
    count_supports,
    most_sorted,
    predicted_seconds,
)

SIZES = ((1_000, 60, 4), (1_000, 60, 5), (10_000, 60, 4), (100_000, 60, 4), (100_000, 40, 5))


def packed_items(n: int, d: int) -> tuple[TableItems, np.ndarray, np.ndarray]:
    """Independent items, of which three matter."""
    rng = np.random.default_rng(0)
    X = (rng.random((n, d)) < rng.uniform(0.1, 0.6, d)).astype(np.int8)
    odds = -1.0 + 1.2 * X[:, 0] - 1.0 * X[:, 1] + 0.8 * X[:, 2]
    y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-odds)), 1, -1)
    data = TrainingData(X, y, feature_names=[f"x{j}" for j in range(d)])
    loss = LogisticLoss(data, CoefficientSet(data.feature_names, -5, 5))
    return TableItems.of(loss, np.arange(d)), X, y


def scan_seconds(packed: TableItems, max_size: int, level: int, cutoff: float) -> float:
    """CPU seconds of a scan of all supports."""
    m, depth = len(packed.features), most_sorted(0, [], max_size)
    high = np.full(m + 1, 5.0)
    n_words, n_integers, n_floats = kernels.room(
        packed.words.shape[0], packed.n_words, len(packed.bits), int(packed.bits.sum()), depth
    )
    arguments = (
        packed.words, packed.bits, packed.labels, packed.shifts, packed.unit, packed.value,
        packed.plane, -high, high, 1.0, 1.0, np.full(m, 1e-6), np.zeros((m, m), np.uint8),
        np.empty(0, np.int64), 0, 0, max_size, depth, cutoff, level, np.zeros(1, np.int64),
        np.empty((MOST_FOUND, max_size), np.int64),
        np.empty(MOST_FOUND), np.zeros(5, np.int64), np.empty(n_words, np.uint64),
        np.empty(n_integers, np.int32), np.empty(n_floats, np.float32),
    )  # fmt: skip
    began = time.process_time()
    assert kernels.scan(*arguments) >= 0
    return time.process_time() - began


def numpy_seconds(X: np.ndarray, y: np.ndarray, max_size: int, n_supports: int = 200) -> float:
    """CPU seconds of the saturated loss of one support by plain NumPy."""
    began = time.process_time()
    for support in itertools.islice(
        itertools.combinations(range(X.shape[1]), max_size), n_supports
    ):
        code = X[:, support].astype(np.int64) @ (1 << np.arange(max_size))
        p, n = (np.bincount(code[y == s], minlength=1 << max_size) for s in (1, -1))
        p, n = p[(p > 0) & (n > 0)], n[(p > 0) & (n > 0)]
        (p * np.log1p(n / p) + n * np.log1p(p / n)).sum()
    return (time.process_time() - began) / n_supports


def main() -> None:
    """Print one line per size and level of instructions."""
    print("      n   d  k  level   ns/support  predicted       numpy")
    for n, d, k in SIZES:
        packed, X, y = packed_items(n, d)
        each = numpy_seconds(X, y, k)
        supports = count_supports(d, k)
        predicted = predicted_seconds(d, 0, k, packed.n_words, len(packed.bits))
        for level in range(kernels.best_level() + 1):
            seconds = scan_seconds(packed, k, level, 0.3)
            print(
                f"{n:7d} {d:3d} {k:2d} {level:6d} {1e9 * seconds / supports:12.1f} "
                f"{1e9 * predicted / supports:10.1f} {1e9 * each:11.0f}"
            )


if __name__ == "__main__":
    main()
