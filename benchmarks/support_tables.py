"""Fit the predicted time of tables of supports, and time searches that end by them.

    python -m benchmarks.support_tables
    python -m benchmarks.support_tables --search 1e6 [--threads 2] [--time-limit 600]

The first prints nanoseconds per support of scans that exclude nearly everything, beside what
:func:`~riskslim.engines.branch_and_bound.support_enumeration.predicted_seconds` says and what plain
NumPy takes for the same counts. The constants of that module are those that made the two agree
best.

With ``--search``, rows of ten normal variables are simulated, each of which is cut at -0.7, 0 and
0.7 to an item of 0 and 1; the outcome depends on six of them. Scores of five of these 30 items are
searched for, and one JSON object says by the clock and in processor time how long it takes to take
the rows over, to state the problem and to prove the best score, and the peak of the memory.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time

import numpy as np

from benchmarks.large import Clock
from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData, branch_and_bound
from riskslim._kernels import support_enumeration as kernels
from riskslim.engines.branch_and_bound.enumeration_items import EnumerationItems
from riskslim.engines.branch_and_bound.support_enumeration import (
    MOST_FOUND,
    count_supports,
    most_sorted,
    predicted_seconds,
)

SIZES = (
    (1_000, 60, 4), (1_000, 60, 5), (10_000, 60, 4), (100_000, 60, 4), (100_000, 40, 5),
    (1_000_000, 60, 3),
)  # fmt: skip

# Of the simulated rows.
N_VARIABLES, CUT_OFFS, MAX_SIZE = 10, (-0.7, 0.0, 0.7), 5
INTERCEPT, EFFECTS = -2.0, (1.1, -0.8, 0.7, 0.5, -0.4, 0.3)
ROWS_AT_ONCE = 10**6


def packed_items(n: int, d: int) -> tuple[EnumerationItems, np.ndarray, np.ndarray]:
    """Independent items, of which three matter."""
    rng = np.random.default_rng(0)
    X = (rng.random((n, d)) < rng.uniform(0.1, 0.6, d)).astype(np.int8)
    odds = -1.0 + 1.2 * X[:, 0] - 1.0 * X[:, 1] + 0.8 * X[:, 2]
    y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-odds)), 1, -1)
    data = TrainingData(X, y, feature_names=[f"x{j}" for j in range(d)])
    loss = LogisticLoss(data, CoefficientSet(data.feature_names, -5, 5))
    return EnumerationItems.of(loss, np.arange(d)), X, y


def scan_seconds(packed: EnumerationItems, max_size: int, level: int, cutoff: float) -> float:
    """CPU seconds of a scan of all supports."""
    m, depth = len(packed.features), most_sorted(0, [], max_size)
    high = np.full(m + 1, 5.0)
    n_words, n_integers, n_floats = kernels.room(
        packed.words.shape[0], packed.n_words, len(packed.n_rows), int(packed.n_rows.sum()), depth
    )
    arguments = (
        packed.words, packed.n_rows, packed.side, packed.shifts, packed.unit, packed.value,
        packed.first, -high, high, 1.0, 1.0, np.full(m, 1e-6), np.zeros((m, m), np.uint8),
        np.empty(0, np.int64), 0, 0, max_size, depth, cutoff, level, np.zeros((0, 4)), 0,
        np.zeros(1, np.int64), np.empty((MOST_FOUND, max_size), np.int64), np.empty(MOST_FOUND),
        np.empty((1, 1), np.int64), np.zeros(5, np.int64), np.empty(n_words, np.uint64),
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


def simulated(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Items of independent normal variables, as int8, and an outcome that depends on some."""
    rng = np.random.default_rng(0)
    X = np.empty((n, N_VARIABLES * len(CUT_OFFS)), np.int8, order="F")
    y = np.empty(n, np.int8)
    for begin in range(0, n, ROWS_AT_ONCE):
        rows = slice(begin, min(begin + ROWS_AT_ONCE, n))
        variables = rng.normal(size=(rows.stop - begin, N_VARIABLES))
        for k, (j, cut_off) in enumerate(itertools.product(range(N_VARIABLES), CUT_OFFS)):
            X[rows, k] = variables[:, j] > cut_off
        odds = INTERCEPT + variables[:, : len(EFFECTS)] @ EFFECTS
        y[rows] = rng.random(len(odds)) < 1.0 / (1.0 + np.exp(-odds))
    return X, y


def search(n: int, n_threads: int, time_limit: float) -> dict[str, object]:
    """Find the best score of simulated rows, and say how long that takes."""
    X, y = simulated(n)
    clock = Clock()
    data = TrainingData(X, y)
    found: dict[str, object] = {"rows": n, "threads": n_threads, "data": clock.lap()}
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    problem = RiskScoreProblem(
        data, coefficients, n_threads=n_threads, max_size=MAX_SIZE, l0_penalty=1e-6
    )
    found["problem"] = clock.lap()
    solution = branch_and_bound(problem, time_limit=time_limit, n_threads=n_threads)
    certificate, statistics = solution.certificate, solution.statistics
    return found | {
        "search": clock.lap(),
        "status": certificate.status.value,
        "objective": certificate.objective,
        "gap": certificate.optimality_gap,
        "nodes": statistics.nodes,
        "supports": statistics.table_supports,
    }


def main(arguments: list[str]) -> int:
    """Time one search, or print one line per size and level of instructions."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.support_tables")
    parser.add_argument("--search", type=float, metavar="ROWS")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=600.0)
    options = parser.parse_args(arguments)
    if options.search:
        found = search(int(options.search), options.threads, options.time_limit)
        sys.stdout.write(json.dumps(found) + "\n")
    else:
        time_scans()
    return 0


def time_scans() -> None:
    """Print one line per size and level of instructions."""
    print("      n   d  k  level   ns/support  predicted       numpy")
    for n, d, k in SIZES:
        packed, X, y = packed_items(n, d)
        each = numpy_seconds(X, y, k)
        supports = count_supports(d, k)
        predicted = predicted_seconds(d, 0, k, packed.n_words, len(packed.n_rows))
        for level in range(kernels.best_level() + 1):
            seconds = scan_seconds(packed, k, level, 0.3)
            print(
                f"{n:7d} {d:3d} {k:2d} {level:6d} {1e9 * seconds / supports:12.1f} "
                f"{1e9 * predicted / supports:10.1f} {1e9 * each:11.0f}"
            )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
