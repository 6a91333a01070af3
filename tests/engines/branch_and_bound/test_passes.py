"""Nodes that are relaxed on a handful of rows, with bounds from passes over all of them.

Samples of one to five rows say next to nothing of the others: what is proven cannot rely on them.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from checked_solutions import (
    EQUAL_NATIVE,
    constrained_faults,
    faults,
    report,
    scale_faults,
    strict_faults,
    trace_faults,
)
from enumeration import (
    enumerate_optimum,
    enumerate_over_scales,
    random_bounded_problem,
    random_constrained_problem,
    random_problem,
    random_scaled_problem,
    violations,
)
from pools import REQUESTS, pool_faults
from problems import make_problem
from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    LogisticLoss,
    RiskScoreProblem,
    Status,
    TrainingData,
    branch_and_bound,
    if_then,
)
from riskslim._kernels import nodes as kernels
from riskslim.engines.branch_and_bound import incumbents, passes, rows, workspace
from small_problems import constrained, solved, twin_problem
from variants import VARIANTS, variant

SAMPLES = (1, 2, 5)


def sampled(seed: int, **changes) -> BranchAndBoundSettings:
    """Settings of a variant under which nodes of more than a few rows are sampled."""
    return dataclasses.replace(
        variant(seed), sample_rows=SAMPLES[seed % 3], tables="never", cutoffs="never", **changes
    )


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


@pytest.mark.parametrize("first_seed", range(0, 600, 100))
def test_the_enumerated_optimum_is_found(first_seed, passes_made):
    failures = []
    for seed in range(first_seed, first_seed + 100):
        small, best, problem = solved(seed)
        solution = branch_and_bound(problem, settings=sampled(seed))
        wrong = faults(small, best, problem, solution) + strict_faults(best, solution)
        if wrong := wrong + trace_faults(solution, best):
            failures.append(report(seed, sampled(seed), wrong))
    assert not failures, "\n".join(failures)
    assert len(passes_made) > 1000
    assert max(passes_made) == 3


@pytest.mark.parametrize("first_seed", range(0, 300, 100))
def test_the_enumerated_optimum_is_found_under_constraints(first_seed):
    failures = []
    for seed in range(first_seed, first_seed + 100):
        small, best, problem = constrained(seed)
        solution = branch_and_bound(problem, settings=sampled(seed))
        wrong = constrained_faults(small, best, problem, solution) + strict_faults(best, solution)
        if wrong:
            failures.append(report(seed, sampled(seed), wrong))
    assert not failures, "\n".join(failures)


def test_the_enumerated_optimum_is_found_under_bounds_on_scores():
    """Constraints that the relaxation takes account of, as rows that no sample has."""
    failures = []
    for seed in range(100):
        small = random_bounded_problem(np.random.default_rng([seed, 77]))
        best, problem = enumerate_optimum(small), small.build()
        solution = branch_and_bound(problem, settings=sampled(seed))
        wrong = constrained_faults(small, best, problem, solution) + strict_faults(best, solution)
        if wrong:
            failures.append(report(seed, sampled(seed), wrong))
    assert not failures, "\n".join(failures)


def test_equal_and_complementary_columns():
    failures = []
    for seed in range(100):
        small = twin_problem(seed)
        best, problem = enumerate_optimum(small), small.build()
        solution = branch_and_bound(problem, settings=sampled(seed))
        wrong = constrained_faults(small, best, problem, solution) + strict_faults(best, solution)
        if wrong:
            failures.append(report(seed, "twins", wrong))
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("first_seed", range(0, 150, 50))
def test_scales_of_a_list_and_of_an_interval(first_seed, passes_made):
    failures = []
    for seed in range(first_seed, first_seed + 50):
        small = random_scaled_problem(np.random.default_rng(seed))
        vectors, objectives = enumerate_over_scales(small)
        problem = small.build()
        change = {"memory_limit": 2**31} if "memory_limit" in VARIANTS[seed % 7] else {}
        solution = branch_and_bound(problem, settings=sampled(seed, **change))
        if wrong := scale_faults(small, problem, solution, vectors, objectives):
            failures.append(f"seed {seed}, {small.scale}: {'; '.join(wrong)}")
    assert not failures, "\n".join(failures)
    assert len(passes_made) > 500


@pytest.mark.parametrize("first_seed", range(0, 120, 40))
def test_lists_of_the_best_scores(first_seed):
    failures = []
    for seed in range(first_seed, first_seed + 40):
        rng = np.random.default_rng([seed, 9])
        n_solutions, within = REQUESTS[seed % len(REQUESTS)]
        draw = random_constrained_problem if seed % 3 == 0 else random_problem
        small = draw(rng, 100)
        problem = small.build()
        solution = branch_and_bound(
            problem, n_solutions=n_solutions, within=within, settings=sampled(seed)
        )
        if wrong := pool_faults(small, problem, solution, n_solutions, within):
            failures.append(report(seed, (n_solutions, within, sampled(seed)), wrong))
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("node_limit", [0, 1, 3])
def test_a_node_limit_leaves_valid_bounds(node_limit):
    statuses = []
    settings = BranchAndBoundSettings(batch_size=1, swaps=False, sample_rows=2, tables="never")
    for seed in range(40, 100):
        small, best, problem = solved(seed)
        solution = branch_and_bound(problem, node_limit=node_limit, settings=settings)
        statuses.append(solution.certificate.status)
        assert not violations(small, solution.coef), seed
        assert solution.certificate.lower_bound <= best.objective + EQUAL_NATIVE, seed
        assert not trace_faults(solution, best), seed
    assert set(statuses) == {Status.OPTIMAL, Status.FEASIBLE}


def test_threads_change_nothing_but_the_time():
    for seed in range(0, 60, 3):
        _, _, problem = solved(seed)
        settings = sampled(seed, batch_size=4)
        one, three = (branch_and_bound(problem, n_threads=n, settings=settings) for n in (1, 3))
        np.testing.assert_array_equal(one.coef, three.coef)
        assert one.certificate == three.certificate, seed
        assert one.statistics.nodes == three.statistics.nodes, seed
        for column in ("lower_bound", "upper_bound", "nodes", "cuts"):
            np.testing.assert_array_equal(one.trace[column], three.trace[column])


def wide_problem(weighted: bool) -> RiskScoreProblem:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, (900, 9)) + np.where(np.arange(9) < 3, rng.normal(size=(900, 9)), 0.0)
    y = rng.random(900) < 1 / (1 + np.exp(-(X @ rng.integers(-2, 3, 9) - 2)))
    weights = rng.uniform(0.2, 3.0, 900) if weighted else None
    data = TrainingData(X, y, sample_weight=weights)
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    return RiskScoreProblem(LogisticLoss(data, coefficients), coefficients, max_size=3)


def test_larger_problems_end_at_the_same_score(passes_made, monkeypatch):
    """Rows of one weight, and of many, merged in subtrees or not, as where there are millions."""
    monkeypatch.setattr(rows, "MANY_ROWS", 100)
    for weighted in (False, True):
        problem = wide_problem(weighted)
        expected = branch_and_bound(problem, settings=BranchAndBoundSettings(tables="never"))
        for merge_rows in (False, True):
            passes_made.clear()
            monkeypatch.setattr(incumbents, "ROUGH_ROWS", 100)
            settings = BranchAndBoundSettings(sample_rows=60, tables="never", merge_rows=merge_rows)
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
    own = rows.NodeRows(
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
        asked = passes.Asked(own, points.copy(), reach, wanted)
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
    asked = passes.Asked(own, points.copy(), reach, wanted)
    assert sampled.answer(asked, np.ones(1, np.int64), workspace.Worker(1, d + 1)) is None


@pytest.mark.parametrize("scale", [1.0, (0.5, 2.0)])
def test_stops_within_nodes_and_passes(scale, monkeypatch):
    stated = make_problem(n=150, d=7, seed=1, levels=3)
    problem = RiskScoreProblem(
        stated.loss, stated.coefficients, max_size=3, l0_penalty=1e-6, scale=scale
    )
    settings = BranchAndBoundSettings(sample_rows=4, tables="never", batch_size=3)
    optimum = branch_and_bound(problem, settings=settings).certificate.objective
    counted = StopWithin(0, 0)
    for module in (passes, workspace):
        monkeypatch.setattr(module, "kernels", counted)
    branch_and_bound(problem, settings=settings)
    bounds = []
    for call in range(1, counted.calls + 1, 1 + counted.calls // 12):
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


def test_points_lie_in_the_boxes_that_constraints_have_shrunk(monkeypatch):
    """Merged rows have no columns of what is out: a point that uses one is a point of no score."""
    monkeypatch.setattr(rows, "FEW_ROWS", 2)
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
    for seed in range(950190, 950220):
        rng = np.random.default_rng([seed, 5])
        small = random_problem(rng, 400)
        if small.d < 3:
            continue
        small.X[:] = rng.random(small.X.shape) < 0.5
        small.lower[:], small.upper[:] = np.minimum(small.lower, 0), np.maximum(small.upper, 0)
        small.fixed, small.min_size, small.max_size = {}, 0, None
        small.constraints = (if_then(small.names[0], [small.names[1]]),)
        settings = BranchAndBoundSettings(
            swaps=False, order_twins=False, rounding_interval=1000, batch_size=1, sample_rows=1,
            tables="always", cutoffs="never", max_node_tolerance=1.0, node_tolerance=1.0,
        )  # fmt: skip
        best, problem = enumerate_optimum(small), small.build()
        solution = branch_and_bound(problem, settings=settings)
        wrong = constrained_faults(small, best, problem, solution)
        if wrong:
            failures.append(f"{seed}: {wrong}")
    assert not failures
    assert made
