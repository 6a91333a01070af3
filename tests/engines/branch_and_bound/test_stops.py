"""Branch and bound that is stopped within its parts: what it states is proven all the same."""

from __future__ import annotations

import numpy as np
import pytest

from problems import make_problem
from riskslim import BranchAndBoundSettings, RiskScoreProblem, Status, branch_and_bound
from riskslim.data import distinct
from riskslim.engines.branch_and_bound import (
    driver,
    incumbents,
    search,
    workspace,
)
from riskslim.engines.branch_and_bound import (
    enumeration_items as packed,
)
from riskslim.engines.branch_and_bound import (
    node_rows as rows,
)
from riskslim.engines.branch_and_bound import (
    support_enumeration as tables,
)
from riskslim.engines.branch_and_bound.node_rows import NodeRows
from riskslim.heuristics import problem_items as heuristics_packed
from riskslim.heuristics import supports
from riskslim.rows import bit_planes as planes
from searches import StopWithin

NEVER = BranchAndBoundSettings(tables="never")
ALWAYS = BranchAndBoundSettings(tables="always")


@pytest.fixture(scope="module")
def problem():
    return make_problem(n=150, d=8, seed=1, levels=3)


@pytest.fixture(scope="module")
def items():
    """So many 0/1 items that supports are searched for before anything else."""
    return make_problem(n=120, d=56, seed=2, max_size=2, lower=-2, upper=2)


@pytest.fixture(scope="module")
def free_items(items):
    scale = (0.5, 2.0)
    return RiskScoreProblem(
        items.loss.data, items.coefficients, max_size=2, l0_penalty=1e-6, scale=scale
    )


@pytest.fixture(scope="module")
def optimum(problem, items, free_items):
    every = (problem, items, free_items)
    return {id(one): branch_and_bound(one).certificate.objective for one in every}


@pytest.fixture
def runs(monkeypatch):
    """Runs of the engine, which happen in the thread of the caller."""
    found = []

    def run_here(run):
        found.append(run)
        return run.solve()

    monkeypatch.setattr(driver, "run_interruptibly", run_here)
    return found


def check(problem, solution, optimum):
    certificate = solution.certificate
    assert problem.is_feasible(solution.coef)
    assert certificate.lower_bound <= optimum + 1e-6
    assert certificate.objective >= optimum - 1e-6
    if certificate.status is Status.OPTIMAL:
        assert certificate.objective == pytest.approx(optimum, abs=1e-6)


def use_kernels(monkeypatch, kernels):
    monkeypatch.setattr(workspace, "kernels", kernels)


@pytest.mark.parametrize("settings", [NEVER, ALWAYS], ids=["relaxations", "tables"])
def test_stops_within_nodes(problem, optimum, monkeypatch, settings):
    kernels = workspace.kernels
    counted = StopWithin(kernels, 0, 0)
    use_kernels(monkeypatch, counted)
    branch_and_bound(problem, settings=settings)
    for call in range(1, counted.calls + 1, 1 + counted.calls // 25):
        for looks in (1, 3, 20):
            use_kernels(monkeypatch, StopWithin(kernels, call, looks))
            solution = branch_and_bound(problem, settings=settings)
            check(problem, solution, optimum[id(problem)])


@pytest.mark.slow
def test_stops_within_nodes_over_scales(free_items, optimum, monkeypatch):
    kernels = workspace.kernels
    for call in (1, 2, 3):
        for looks in (1, 2, 5, 10, 40):
            use_kernels(monkeypatch, StopWithin(kernels, call, looks))
            solution = branch_and_bound(free_items, settings=NEVER)
            check(free_items, solution, optimum[id(free_items)])


PARTS = [
    (heuristics_packed, "pack_items"),
    (planes, "distinct_values"),
    (planes.kernels, "pack_plane"),
    (supports.kernels, "count_joint"),
    (supports.kernels, "fill_masks"),
    (supports.kernels, "polish"),
    (supports.kernels, "best_steps"),
    (NodeRows, "merged"),
    (rows, "merge_features"),
    (rows, "_chosen"),
    (rows, "_digest"),
    (incumbents, "_spread"),
    (incumbents, "discrete_coordinate_descent"),
    (packed, "pack"),
    (tables, "saturated_losses"),
    (tables.kernels, "scan"),
]


@pytest.mark.parametrize("which", ["problem", "items", "free_items"])
@pytest.mark.parametrize(("owner", "name"), PARTS, ids=[name for _, name in PARTS])
def test_stops_at_every_part(owner, name, which, runs, optimum, monkeypatch, request):
    """The flag is set as a part begins, at its first calls and at later ones."""
    problem = request.getfixturevalue(which)
    original = getattr(owner, name)
    settings = ALWAYS if owner in (packed, tables, tables.kernels) else None
    for due in (1, 2, 3, 10, 100):
        calls = []

        def part(*arguments, calls=calls, due=due, **named):
            calls.append(1)
            if len(calls) == due:
                runs[-1].stop[0] = 1
            return original(*arguments, **named)

        monkeypatch.setattr(owner, name, part)
        solution = branch_and_bound(problem, settings=settings)
        check(problem, solution, optimum[id(problem)])
        if len(calls) < due:
            break


def test_the_first_score_waits_for_no_preparation(items, runs, monkeypatch):
    seen = []
    prepare = search.Search._prepare

    def prepared(self):
        seen.append(len(self.trace))
        prepare(self)

    monkeypatch.setattr(search.Search, "_prepare", prepared)
    branch_and_bound(items)
    assert len(seen) == 1
    assert seen[0] > 0


def test_merging_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    columns = np.asfortranarray(rng.integers(0, 3, (5000, 6)).astype(np.int8))
    none = np.empty((5000, 0), order="F")
    weights = rng.random((2, 5000))
    whole = distinct.merge_features(columns, none, *weights, 5000)
    monkeypatch.setattr(distinct, "ROWS_AT_ONCE", distinct.distinct.block_rows())
    asked = []
    blocks = distinct.merge_features(
        columns, none, *weights, 5000, lambda: asked.append(1) is not None
    )
    for one, other in zip(whole, blocks, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(asked) == -(-5000 // distinct.distinct.block_rows())
    for due in range(1, len(asked) + 1):
        left = iter([False] * (due - 1) + [True])
        assert distinct.merge_features(columns, none, *weights, 5000, left.__next__) is None
