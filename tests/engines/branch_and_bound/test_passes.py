"""Nodes that are relaxed on a handful of rows, with bounds from passes over all of them.

Samples of one to five rows say next to nothing of the others: what is proven cannot rely on them.
"""

from __future__ import annotations

import numpy as np
import pytest

from checked_solutions import (
    constrained_faults,
)
from enumeration import (
    enumerate_optimum,
    random_problem,
)
from problems import make_problem
from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    RiskScoreProblem,
    Status,
    TrainingData,
    branch_and_bound,
    if_then,
)
from riskslim._kernels import nodes as kernels
from riskslim.engines.branch_and_bound import incumbents, node_rows, passes, workspace
from riskslim.engines.settings import TunedSettings


@pytest.fixture
def passes_made(monkeypatch):
    """Numbers of points of the passes over all rows and over samples."""
    made = []

    class Counted:
        def __getattr__(self, name):
            if name != "linearise":
                return getattr(kernels, name)

            def called(*arguments):
                made.append(len(arguments[6]))
                return kernels.linearise(*arguments)

            return called

    monkeypatch.setattr(passes, "kernels", Counted())
    return made


def wide_problem(weighted: bool) -> RiskScoreProblem:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, (900, 9)) + np.where(np.arange(9) < 3, rng.normal(size=(900, 9)), 0.0)
    y = rng.random(900) < 1 / (1 + np.exp(-(X @ rng.integers(-2, 3, 9) - 2)))
    weights = rng.uniform(0.2, 3.0, 900) if weighted else None
    data = TrainingData(X, y, sample_weight=weights)
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    return RiskScoreProblem(data, coefficients, max_size=3)


def test_larger_problems_end_at_the_same_score(passes_made, monkeypatch):
    """Rows of one weight, and of many, merged in subtrees or not, as where there are millions."""
    monkeypatch.setattr(node_rows, "MANY_ROWS", 100)
    for weighted in (False, True):
        problem = wide_problem(weighted)
        expected = branch_and_bound(problem, settings=BranchAndBoundSettings(tables="never"))
        for merge_rows in (False, True):
            passes_made.clear()
            monkeypatch.setattr(incumbents, "ROUGH_ROWS", 100)
            settings = TunedSettings(sample_rows=60, tables="never", merge_rows=merge_rows)
            found = branch_and_bound(problem, settings=settings)
            assert found.certificate.status is Status.OPTIMAL
            objective = expected.certificate.objective
            assert found.certificate.objective == pytest.approx(objective, abs=1e-9)
            assert passes_made


class StopWithin:
    """Kernels, of which one call finds the flag set at one of its looks."""

    def __init__(self, call, looks):
        self.call, self.looks = call, looks
        self.calls = 0

    def __getattr__(self, name):
        kernel = getattr(kernels, name)
        if name not in ("solve_root", "expand", "settle", "linearise"):
            return kernel

        def called(*arguments):
            stop = next(
                a for a in arguments
                if isinstance(a, np.ndarray) and a.dtype == np.int64 and a.shape == (1,)
            )  # fmt: skip
            self.calls += 1
            if self.calls == self.call:
                stop[0] = -self.looks
            found = kernel(*arguments)
            if self.calls == self.call:
                stop[0] = 1
            return found

        return called


@pytest.mark.parametrize("kind", ["labels", "weights"])
def test_passes_in_parts_and_on_threads(kind, monkeypatch):
    """Numbers that are those of NumPy, the same for any number of threads."""
    monkeypatch.setattr(passes, "PART_ROWS", 50)
    rng, n, d = np.random.default_rng(8), 730, 4
    columns = np.asfortranarray(rng.integers(-2, 4, (n, d)).astype(np.int8))
    positive = rng.random(n) < 0.4
    weight = np.full(n, 1 / n) if kind == "labels" else rng.dirichlet(np.ones(n))
    own = node_rows.NodeRows(
        columns, np.zeros((1, 1), order="F"), np.arange(d), np.where(positive, weight, 0.0),
        np.where(positive, 0.0, weight), np.ones(d, np.bool_),
    )  # fmt: skip
    sampled = passes.SampledNodes(own, own.first(20))
    points = 0.4 * rng.normal(size=(3, d + 1))
    reach = np.tile([-5.0, 5.0], (3, 1))
    reach[1] = points[1, 0] - 1e-3, points[1, 0] + 1e-3
    wanted, stop = np.array([1, 1, 0, 1, 1]), np.zeros(1, np.int64)
    found, moved = [], []
    for n_threads in (1, 2, 5):
        worker = workspace.Worker(1, d + 1)
        worker.n_threads = n_threads
        asked = passes.LinearisationPoints(own, points.copy(), reach, wanted)
        found.append(sampled.answer(asked, stop, worker))
        moved.append(asked.points)
        assert worker.counters[:2].tolist() == [6, 3]
        np.testing.assert_array_equal(found[-1], found[0])
        np.testing.assert_array_equal(moved[-1], moved[0])
    x = np.column_stack([np.ones(n), columns])
    y = np.where(positive, 1.0, -1.0)

    def slopes_at(coef):
        return -y * weight / (1 + np.exp(y * (x @ coef)))

    for before, after, known, ends in zip(points, moved[0], found[0], reach, strict=True):
        assert ends[0] <= after[0] <= ends[1]
        slopes = slopes_at(after)
        assert abs(slopes.sum()) < abs(slopes_at(before).sum())
        np.testing.assert_array_equal(known[: d + 1], after)
        np.testing.assert_allclose(known[d + 1 : 2 * d + 2], slopes @ x * wanted, atol=1e-15)
        loss = weight @ np.log1p(np.exp(-y * (x @ after)))
        np.testing.assert_allclose(known[-3:], [loss, np.abs(slopes).sum(), 0.0], rtol=1e-13)
    assert abs(moved[0][1, 0] - points[1, 0]) == pytest.approx(1e-3)
    asked = passes.LinearisationPoints(own, points.copy(), reach, wanted)
    assert sampled.answer(asked, np.ones(1, np.int64), workspace.Worker(1, d + 1)) is None


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, (0.5, 2.0)])
def test_stops_within_nodes_and_passes(scale, monkeypatch):
    stated = make_problem(n=100, d=5, seed=1, levels=3)
    problem = RiskScoreProblem(
        stated.loss.data, stated.coefficients, max_size=3, l0_penalty=1e-6, scale=scale
    )
    settings = TunedSettings(sample_rows=4, tables="never", batch_size=3)
    optimum = branch_and_bound(problem, settings=settings).certificate.objective
    counted = StopWithin(0, 0)
    for module in (passes, workspace):
        monkeypatch.setattr(module, "kernels", counted)
    branch_and_bound(problem, settings=settings)
    bounds = []
    for call in range(1, counted.calls + 1, 1 + counted.calls // 8):
        for looks in (1, 3):
            stopping = StopWithin(call, looks)
            for module in (passes, workspace):
                monkeypatch.setattr(module, "kernels", stopping)
            solution = branch_and_bound(problem, settings=settings)
            assert problem.is_feasible(solution.coef)
            bounds.append(solution.certificate.lower_bound)
            assert bounds[-1] <= optimum + 1e-9
            assert solution.certificate.objective >= optimum - 1e-9
    assert min(bounds) < optimum - 1e-6


@pytest.mark.slow
def test_points_lie_in_the_boxes_that_constraints_have_shrunk(monkeypatch):
    """Merged rows have no columns of what is out: a point that uses one is a point of no score."""
    monkeypatch.setattr(node_rows, "FEW_ROWS", 2)
    monkeypatch.setattr(incumbents.Incumbents, "round", lambda *_: None)
    monkeypatch.setattr(incumbents.Incumbents, "polish", incumbents.Incumbents.offer)
    original, made = passes.SampledNodes._linearised, []

    def checked(self, parts, *others):
        moved = [part for part in parts if (part.coef != part.coef.clip(*part.box)).any()]
        found = yield from original(self, parts, *others)
        if found is not None:
            made.extend(moved)
            assert all((part.coef[1:] == part.coef.clip(*part.box)[1:]).all() for part in parts)
        return found

    monkeypatch.setattr(passes.SampledNodes, "_linearised", checked)
    failures = []
    for seed in range(950190, 950205):
        rng = np.random.default_rng([seed, 5])
        small = random_problem(rng, 400)
        if small.d < 3:
            continue
        small.X[:] = rng.random(small.X.shape) < 0.5
        small.lower[:], small.upper[:] = np.minimum(small.lower, 0), np.maximum(small.upper, 0)
        small.fixed, small.min_size, small.max_size = {}, 0, None
        small.constraints = (if_then(small.names[0], [small.names[1]]),)
        settings = TunedSettings(
            swaps=False, order_duplicates=False, rounding_interval=1000, batch_size=1,
            sample_rows=1, tables="always", cutoffs="never", max_node_tolerance=1.0,
            node_tolerance=1.0,
        )  # fmt: skip
        best, problem = enumerate_optimum(small), small.build()
        solution = branch_and_bound(problem, settings=settings)
        wrong = constrained_faults(small, best, problem, solution)
        if wrong:
            failures.append(f"{seed}: {wrong}")
    assert not failures
    assert made
