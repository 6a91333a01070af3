"""Supports divided by the items that they use: what is particular to it."""

from __future__ import annotations

import numpy as np
import pytest

from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    RiskScoreProblem,
    TrainingData,
    branch_and_bound,
)
from riskslim.engines.branch_and_bound import elimination


@pytest.fixture(autouse=True)
def calls(monkeypatch):
    """Count pieces, and divide these although tables would take no time."""
    counts = {"divided": 0, "scanned": 0, "levels": 0}
    divide = elimination.Elimination.divide_piece

    def counted(self, *arguments):
        found = divide(self, *arguments)
        counts["divided"] += 1
        counts["scanned"] += found.scanned is not None
        counts["levels"] += found.scanned is not None and len(found.pieces) == 1
        return found

    monkeypatch.setattr(elimination.Elimination, "divide_piece", counted)
    monkeypatch.setattr(elimination, "RELAXATIONS", 0.0)
    monkeypatch.setattr(elimination, "AHEAD", 0.5)
    return counts


def wide_problem(seed=3, n=400, d=30, **options):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) > rng.uniform(-0.8, 0.8, d)).astype(np.int8)
    y = rng.random(n) < 1 / (1 + np.exp(-(X[:, :5] @ np.array([2, -1, 1, -2, 1]) - 0.5)))
    data = TrainingData(X, y)
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    return RiskScoreProblem(data, coefficients, max_size=4, l0_penalty=1e-4, **options)


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
    monkeypatch.setattr("riskslim.engines.branch_and_bound.support_enumeration.MOST_FOUND", 2)
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
