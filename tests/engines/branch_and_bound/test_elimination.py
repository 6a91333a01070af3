"""Supports divided by the items that they use, against enumeration."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from checked_solutions import (
    certificate_over_scales_faults,
    constrained_faults,
    cut_off,
    report,
    strict_faults,
    unfinished_faults,
)
from enumeration import (
    enumerate_optimum,
    enumerate_over_scales,
    random_constrained_problem,
    random_problem,
)
from pools import REQUESTS, pool_faults
from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    LogisticLoss,
    RiskScoreProblem,
    Status,
    TrainingData,
    branch_and_bound,
)
from riskslim.engines.branch_and_bound import elimination
from small_problems import few_valued, twin_problem
from variants import variant

SCALES = ([0.7, 1.0, 2.5], (0.5, 3.0), 2.0, (1.0, 8.0))


def drawn(seed, most_values=2, max_slopes=2000):
    rng = np.random.default_rng([seed, 77])
    if seed % 4 == 3:
        small = twin_problem(seed)
    elif seed % 2:
        small = random_constrained_problem(rng, max_slopes)
    else:
        small = random_problem(rng, max_slopes)
    return few_valued(small, rng, most_values)


def settings_of(seed):
    tables = ("auto", "nodes")[seed // 2 % 2]
    return dataclasses.replace(
        variant(seed), tables=tables, cutoffs="never", elimination="always", batch_size=1 + seed % 4
    )


@pytest.fixture(autouse=True)
def calls(monkeypatch):
    """Count pieces, and divide these although tables would take no time."""
    counts = {"divided": 0, "scanned": 0, "levels": 0}
    divide = elimination.Elimination.divide

    def counted(self, *arguments):
        found = divide(self, *arguments)
        counts["divided"] += 1
        counts["scanned"] += found.scanned is not None
        counts["levels"] += found.scanned is not None and len(found.pieces) == 1
        return found

    monkeypatch.setattr(elimination.Elimination, "divide", counted)
    monkeypatch.setattr(elimination, "RELAXATIONS", 0.0)
    monkeypatch.setattr(elimination, "AHEAD", 0.5)
    return counts


@pytest.mark.parametrize("most_values", [2, 8])
@pytest.mark.parametrize("cost", [1.0, 1e-3, 1e3])
def test_the_enumerated_optimum_is_found(calls, most_values, cost):
    """Tables that cost much leave the pieces to be divided up to single supports."""
    failures = []
    for seed in range(60):
        small = drawn(seed, most_values)
        best, problem = enumerate_optimum(small), small.build()
        settings = dataclasses.replace(settings_of(seed), table_cost=cost)
        solution = branch_and_bound(problem, settings=settings)
        wrong = constrained_faults(small, best, problem, solution)
        wrong += strict_faults(best, solution)
        if wrong:
            failures.append(report(seed, cost, wrong))
    assert not failures, "\n".join(failures)
    assert calls["divided"] > 150
    assert (calls["scanned"] > 10) == (cost < 1e3)
    assert calls["levels"] > 0 or cost > 1.0


@pytest.mark.parametrize("most_values", [2, 8])
def test_lists_of_the_best_scores(calls, most_values):
    failures = []
    for seed in range(30):
        small = drawn(seed, most_values, max_slopes=150)
        small.intercept = (-3, 3)
        problem = small.build()
        n_solutions, within = REQUESTS[seed % len(REQUESTS)]
        solution = branch_and_bound(
            problem, n_solutions=n_solutions, within=within, settings=settings_of(seed)
        )
        if wrong := pool_faults(small, problem, solution, n_solutions, within):
            failures.append(report(seed, (n_solutions, within), wrong))
    assert not failures, "\n".join(failures)
    assert calls["divided"] > 100


def test_scales(calls):
    failures = []
    for seed in range(16):
        rng = np.random.default_rng([seed, 32])
        small = few_valued(random_problem(rng, 300), rng, 2)
        small.scale, small.intercept = SCALES[seed % 4], (-6, 6)
        (_, objectives), problem = enumerate_over_scales(small), small.build()
        certificate = branch_and_bound(problem, settings=settings_of(seed)).certificate
        if wrong := certificate_over_scales_faults(problem, certificate, objectives):
            failures.append(report(seed, small.scale, wrong))
    assert not failures, "\n".join(failures)
    assert calls["divided"] > 50


@pytest.mark.parametrize("n_steps", [0, 1, 3, 6])
def test_a_run_that_is_cut_off_has_a_valid_bound(monkeypatch, n_steps):
    n_cut_off, failures = 0, []
    for seed in range(40):
        small = drawn(seed)
        best, problem = enumerate_optimum(small), small.build()
        if not best.feasible:
            continue
        solution = cut_off(
            monkeypatch, "_advance_elimination", problem, n_steps, elimination="always"
        )
        if solution.coef is None:
            continue
        n_cut_off += solution.certificate.status is Status.FEASIBLE
        if wrong := unfinished_faults(small, best, solution):
            failures.append(report(seed, n_steps, wrong))
    assert not failures, "\n".join(failures)
    assert n_cut_off > 0


def wide_problem(seed=3, n=400, d=30, **options):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) > rng.uniform(-0.8, 0.8, d)).astype(np.int8)
    y = rng.random(n) < 1 / (1 + np.exp(-(X[:, :5] @ np.array([2, -1, 1, -2, 1]) - 0.5)))
    data = TrainingData(X, y)
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    loss = LogisticLoss(data, coefficients)
    return RiskScoreProblem(loss, coefficients, max_size=4, l0_penalty=1e-4, **options)


def test_threads_change_nothing_but_the_time(calls):
    found = []
    for n_threads in (1, 2, 3):
        solution = branch_and_bound(
            wide_problem(), n_threads=n_threads, time_limit=300,
            settings=BranchAndBoundSettings(elimination="always"),
        )  # fmt: skip
        statistics, certificate = solution.statistics, solution.certificate
        counts = (statistics.nodes, statistics.table_supports, statistics.table_nodes)
        found.append((certificate.objective, certificate.lower_bound, *counts))
        assert certificate.is_optimal
    assert len(set(found)) == 1, found
    assert calls["divided"] > 30


def test_it_finds_what_other_ways_find():
    objectives = {
        branch_and_bound(
            wide_problem(), time_limit=300, settings=BranchAndBoundSettings(elimination=way)
        ).certificate.objective
        for way in ("always", "never")
    }
    assert len(objectives) == 1


def test_too_many_supports_are_divided(monkeypatch, calls):
    monkeypatch.setattr("riskslim.engines.branch_and_bound.tables.MOST_FOUND", 2)
    monkeypatch.setattr(elimination, "RELAXATIONS", 1e9)
    solution = branch_and_bound(
        wide_problem(d=12), n_solutions=20, time_limit=300,
        settings=BranchAndBoundSettings(elimination="always"),
    )  # fmt: skip
    assert solution.pool.complete
    assert calls["divided"] > 2 * calls["scanned"] > 0


def test_settings_are_checked():
    with pytest.raises(ValueError, match="elimination must be one of 'auto', 'always', 'never'"):
        BranchAndBoundSettings(elimination="sometimes")
