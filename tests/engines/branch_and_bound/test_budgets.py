"""Budgets are counted in predicted work: a busy machine changes no result."""

from __future__ import annotations

import time

import numpy as np
import pytest

from problems import make_problem
from riskslim import BranchAndBoundSettings, RiskScoreProblem, branch_and_bound, lattice_cpa
from riskslim.engines.branch_and_bound import driver
from riskslim.heuristics import work
from riskslim.heuristics.supports import SupportSearch

# Each look at the clock finds so much more time gone, until most of the limit is over.
LIMIT, LOOKS = 1000.0, 40


@pytest.fixture
def busy(monkeypatch):
    """A machine on which everything takes longer and longer."""

    def pretend(load):
        started, looks = time.monotonic(), []

        def clock():
            looks.append(1)
            gone = min(len(looks), LOOKS) / LOOKS * load * LIMIT
            return time.monotonic() - started + gone

        monkeypatch.setattr(time, "perf_counter", clock)

    return pretend


@pytest.fixture(scope="module", params=["single", "interval"])
def items(request):
    problem = make_problem(n=400, d=60, seed=4, max_size=4)
    if request.param == "single":
        return problem
    return RiskScoreProblem(
        problem.loss.data, problem.coefficients, max_size=3, l0_penalty=1e-6, scale=(0.5, 4.0)
    )


# Machines that are predicted to be so slow that searches of supports are cut off, and one on which
# none is.
@pytest.mark.parametrize("slowness", [1.0, 1e3, 2e4])
def test_the_load_changes_nothing(items, busy, monkeypatch, slowness):
    for name in ("COUNTS_NS", "STEP_NS", "CELLS_NS", "POLISH_NS", "COLUMN_NS"):
        slow = tuple(slowness * cost for cost in getattr(work, name))
        monkeypatch.setattr(work, name, slow)
    runs = []
    for load in (0.0, 0.9):
        busy(load)
        solution = branch_and_bound(
            items, time_limit=LIMIT, node_limit=40,
            settings=BranchAndBoundSettings(tables="never"),
        )  # fmt: skip
        statistics = solution.statistics
        runs.append((
            solution.coef.tolist(), solution.certificate.objective,
            solution.certificate.lower_bound, statistics.nodes, statistics.incumbent_updates,
            statistics.loss_evaluations,
            [(record.upper_bound, record.lower_bound, record.nodes) for record in solution.trace],
        ))  # fmt: skip
    assert runs[0] == runs[1]


def test_budgets_do_bind(items, monkeypatch):
    """Of what the test above compares, there is less where the work is predicted to be long."""
    counts = []
    for slowness in (1.0, 2e6):
        for name in ("COUNTS_NS", "STEP_NS", "CELLS_NS", "POLISH_NS", "COLUMN_NS"):
            slow = tuple(slowness * cost for cost in getattr(work, name))
            monkeypatch.setattr(work, name, slow)
        counts.append(branch_and_bound(items, node_limit=1).statistics.loss_evaluations)
        monkeypatch.undo()
    assert counts[1] < counts[0]


@pytest.mark.slow
def test_the_initialization_of_lcpa_counts_work_too(busy):
    problem = make_problem(n=300, d=56, seed=5, max_size=3)
    found = []
    for load in (0.0, 0.15):  # 20 s of probing are its own limit
        busy(load * 20.0 / LIMIT)
        first = []
        lattice_cpa(problem, time_limit=LIMIT, node_limit=0, progress=first.append)
        found.append([(record.upper_bound, record.lower_bound) for record in first])
    assert found[0] == found[1]
    assert np.isfinite(found[0][0][0])


@pytest.mark.parametrize("from_start", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_root_has_its_bound_however_long_the_search_before_it_takes(monkeypatch, from_start):
    """On a path of sizes the search around the last score took all of the time: a gap of 100%."""
    problem = make_problem(n=2000, d=60, seed=4, max_size=4)
    start = branch_and_bound(problem.restated(max_size=1)).coef if from_start else None
    looked_around = SupportSearch._look_around

    def endless(self, *arguments):
        yield from looked_around(self, *arguments)
        while not self._stopped():
            time.sleep(1e-3)

    monkeypatch.setattr(SupportSearch, "_look_around", endless)
    monkeypatch.setattr(driver, "ROOT_SECONDS", 1e-5)
    monkeypatch.setattr(driver, "SUPPORT_SHARE", 1e9)  # work is predicted to take no time
    solution = branch_and_bound(problem, time_limit=1.5, start=start)
    assert solution.certificate.message == "time limit reached"
    assert solution.certificate.optimality_gap < 0.5
    assert solution.statistics.total_seconds < 4.5
