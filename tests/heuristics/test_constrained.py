"""Descent and rounding under constraints against brute force."""

from __future__ import annotations

import copy
import functools
import itertools

import numpy as np
import pytest

from enumeration import (
    enumerate_optimum,
    objective,
    random_constrained_problem,
    slopes,
    violations,
)
from riskslim import (
    CoefficientSet,
    RiskScoreProblem,
    TrainingData,
    at_least,
    at_most,
    discrete_coordinate_descent,
    exactly,
    sequential_rounding,
)
from riskslim.engines.branch_and_bound.incumbents import Incumbents
from riskslim.heuristics import constrained
from riskslim.heuristics import descent as heuristics
from riskslim.heuristics.subsampling import Subsampling
from searches import StopAfter, neighbours

SEEDS = range(30)


@functools.cache
def feasible_problem(seed):
    """A random feasible problem with constraints, and the generator after it."""
    rng = np.random.default_rng([seed, 33])
    while True:
        small = random_constrained_problem(rng)
        if enumerate_optimum(small).feasible:
            return small, rng


def drawn(seed, scale=1.0, ridge=False):
    """A random feasible problem with constraints, feasible vectors of it, and a generator."""
    small, rng = copy.deepcopy(feasible_problem(seed))
    small.scale = scale
    if ridge:
        sizes = np.array([0.0, 1e-3, 0.02, 0.3])
        small.l2_penalty = np.random.default_rng(seed).choice(sizes, small.d)
    problem = small.build()
    grid = rng.permutation(slopes(small))[:400]
    intercepts = rng.integers(problem.lower[0], problem.upper[0], len(grid), endpoint=True)
    vectors = np.column_stack((intercepts, grid))
    feasible = filter(problem.is_feasible, vectors)
    return small, problem, list(itertools.islice(feasible, 3)), rng


def is_one_opt(problem, coef, objective, directions=None):
    near = (problem.objective(vector) for vector in neighbours(problem, coef, directions))
    return min(near, default=np.inf) >= objective - 1e-12


@pytest.mark.parametrize("line_search", ["golden_section", "exhaustive"])
@pytest.mark.parametrize("swaps", [False, True])
@pytest.mark.parametrize("ridge", [False, True])
def test_descent_is_feasible_and_one_opt(line_search, swaps, ridge):
    moves = 0
    for seed in SEEDS:
        small, problem, starts, _ = drawn(seed, ridge=ridge)
        for start in starts[:1]:
            found = discrete_coordinate_descent(
                problem, start, line_search=line_search, swaps=swaps
            )
            moves += found.n_iterations
            assert not violations(small, found.coefficients), seed
            assert found.objective <= problem.objective(start)
            assert found.objective == problem.objective(found.coefficients)
            assert is_one_opt(problem, found.coefficients, found.objective), seed
    assert moves > 15


def test_line_searches_reach_the_same():
    same = [
        discrete_coordinate_descent(problem, start).objective
        == discrete_coordinate_descent(problem, start, line_search="exhaustive").objective
        for ridge in (False, True)
        for _, problem, starts, _ in (drawn(seed, ridge=ridge) for seed in SEEDS)
        for start in starts[:1]
    ]
    assert np.mean(same) > 0.95  # the rest are ties that lead elsewhere


def test_descent_in_restricted_directions():
    for seed in SEEDS:
        _, problem, starts, _ = drawn(seed)
        for start in starts[:1]:
            found = discrete_coordinate_descent(problem, start, directions=[0, 2], swaps=True)
            kept = np.delete(np.arange(len(start)), [0, 2])
            np.testing.assert_array_equal(found.coefficients[kept], start[kept])
            assert is_one_opt(problem, found.coefficients, found.objective, [0, 2])


def test_iterations_and_counters():
    _, problem, starts, _ = drawn(4)
    full = discrete_coordinate_descent(problem, starts[0])
    assert full.n_iterations > 1
    before, start = problem.loss.n_evaluations, starts[0].copy()
    one = discrete_coordinate_descent(problem, starts[0], max_iterations=1)
    assert one.n_iterations == 1
    assert one.reason == "iteration limit"
    assert 0 < one.n_evaluations <= problem.loss.n_evaluations - before
    np.testing.assert_array_equal(starts[0], start)
    none = discrete_coordinate_descent(problem, starts[0], max_iterations=0)
    np.testing.assert_array_equal(none.coefficients, start)


def test_descent_refuses_what_breaks_a_constraint():
    problem = patients(at_most(1, ["x0", "x1"]))
    with pytest.raises(ValueError, match="not feasible: at most 1 of 'x0', 'x1' is used: broken"):
        discrete_coordinate_descent(problem, [0, 1, 1, 0, 0, 0])


def patients(*constraints, seed=0, **options):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (120, 5))
    y = X @ [3, 2, -1, 1, 0] + rng.normal(size=120) > 2
    data = TrainingData(X, y, feature_names=[f"x{j}" for j in range(5)])
    coefficients = CoefficientSet(data.feature_names, -4, 4)
    return RiskScoreProblem(data, coefficients, constraints=constraints, **options)


def test_swaps_leave_a_poor_choice():
    problem = patients(exactly(2, [f"x{j}" for j in range(5)]))
    start = [0, 0, 0, 0, -1, 1]
    stuck = discrete_coordinate_descent(problem, start)
    np.testing.assert_array_equal(stuck.coefficients[1:] != 0, [0, 0, 0, 1, 1])
    swapped = discrete_coordinate_descent(problem, start, swaps=True)
    np.testing.assert_array_equal(swapped.coefficients[1:] != 0, [1, 1, 0, 0, 0])


@pytest.mark.slow
def test_without_consequence_constraints_change_nothing():
    """The same steps as the compiled descent and rounding."""
    descents, roundings = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        size = {"max_size": int(rng.integers(1, 6)), "l0_penalty": float(rng.choice([1e-6, 0.02]))}
        size["l2_penalty"] = rng.choice([0.0, 0.01, 0.05], 5) if seed % 2 else 0.0
        free = patients(seed=seed, **size)
        bound = patients(at_most(5, free.coefficients.feature_names), seed=seed, **size)
        ends = [discrete_coordinate_descent(p, np.zeros(6, dtype=int)) for p in (free, bound)]
        descents.append(np.array_equal(*(end.coefficients for end in ends)))
        assert ends[0].objective == pytest.approx(ends[1].objective, abs=1e-12)
        point = rng.uniform(free.lower, free.upper)
        point[1:][rng.random(5) < 0.4] = 0
        ends = [sequential_rounding(problem, point) for problem in (free, bound)]
        if ends[0].coefficients is None:
            continue  # the compiled one has no way to other integers than the two next to a value
        roundings.append(np.array_equal(*(end.coefficients for end in ends)))
    assert np.mean(descents) > 0.95
    assert len(roundings) > 15
    assert np.mean(roundings) > 0.9


def test_rounding_is_feasible_or_none():
    found = 0
    for seed in SEEDS:
        small, problem, _, rng = drawn(seed)
        for _ in range(5):
            point = rng.uniform(problem.lower, problem.upper)
            point[rng.random(len(point)) < 0.4] = 0
            result = sequential_rounding(problem, np.clip(point, problem.lower, problem.upper))
            if result.coefficients is None:
                assert result.reason == "no rounding meets the constraints"
                assert result.objective == np.inf
                continue
            found += 1
            assert result.reason == "all rounded"
            assert not violations(small, result.coefficients), seed
            assert result.objective == problem.objective(result.coefficients)
    assert found > 0.8 * 5 * len(SEEDS)


def test_feasible_integers_stay_as_they_are():
    for seed in SEEDS:
        _, problem, starts, _ = drawn(seed)
        for start in starts:
            result = sequential_rounding(problem, start)
            np.testing.assert_array_equal(result.coefficients, start)
            assert result.n_iterations == 0


def test_rounding_with_a_ridge_is_that_of_the_objective():
    """Candidates come in the order of bounds that the ridge is part of: none is missed."""
    rounded = 0
    for seed in range(15):
        small, problem, _, rng = drawn(seed, scale=1.7, ridge=True)
        assert problem.has_ridge
        point = rng.uniform(problem.lower, problem.upper)
        rounding = constrained._Rounding(problem, point, lambda: False)
        assert rounding.enter_box()
        start = rounding.point.copy()
        pending = start != np.rint(start)
        loss, gradient = problem.loss.value_and_gradient(start)
        least = rounding._least_objective(pending, loss, gradient)
        corners = itertools.product(*zip(np.floor(start), np.ceil(start), strict=True))
        corners = list(itertools.islice(corners, 256))
        assert least <= min(map(problem.objective, corners)) + 1e-12
        tried = {}
        for j in np.flatnonzero(pending):
            for value in (np.floor(start[j]), np.ceil(start[j])):
                if rounding._box_with(j, int(value)) is not None:
                    vector = start.copy()
                    vector[j] = value
                    tried[j] = min(tried.get(j, np.inf), problem.objective(vector))
        j = rounding._round_best(pending, loss, gradient)
        assert tried[j] == pytest.approx(min(tried.values()), rel=1e-12)
        result = sequential_rounding(problem, point)
        rounded += result.coefficients is not None and not violations(small, result.coefficients)
    assert rounded > 10


def test_rounding_brings_in_the_most_useful_feature():
    problem = patients(at_least(1, ["x0", "x4"]))
    point = sequential_rounding(problem, [-1, 0, 0.0, 0, 0, 0])
    np.testing.assert_array_equal(point.coefficients, [-1, 1, 0, 0, 0, 0])


def test_rounding_of_a_problem_without_solution():
    problem = patients(at_least(3, ["x0", "x1", "x2"]), max_size=2)
    result = sequential_rounding(problem, [0, 0.5, 0.5, 0.5, 0, 0])
    assert result.coefficients is None
    assert result.reason == "the constraints cannot be met"


def test_cutoff_stops_only_what_cannot_reach_it():
    stopped = 0
    for seed in SEEDS:
        _, problem, _, rng = drawn(seed)
        point = rng.uniform(problem.lower, problem.upper)
        free = sequential_rounding(problem, point)
        if free.coefficients is None:
            continue
        within = np.all((np.floor(point) <= free.coefficients)
                        & (free.coefficients <= np.ceil(point)))  # fmt: skip
        above = sequential_rounding(problem, point, cutoff=free.objective + 1e-9)
        assert not within or above.coefficients is not None
        low = sequential_rounding(problem, point, cutoff=0.5 * free.objective)
        if low.coefficients is None:
            stopped += 1
            assert low.reason == "cutoff"
    assert stopped > 5


def test_rounding_on_samples_of_the_rows_is_feasible():
    for seed in SEEDS:
        small, problem, _, rng = drawn(seed)
        sampled = Subsampling(random_state=seed)
        for _ in range(3):
            point = rng.uniform(problem.lower, problem.upper)
            found = sampled.round_and_polish(problem, point, objective_max=np.inf, swaps=True)
            if found is not None:
                assert not violations(small, found[0])
                assert found[1] == problem.objective(found[0])


@pytest.mark.parametrize("scale", [0.3, 1.7, 8.0])
def test_heuristics_at_a_scale(scale):
    moves = rounded = 0
    for seed in range(30):
        small, problem, starts, rng = drawn(seed, scale)
        for start in starts[:1]:
            found = discrete_coordinate_descent(problem, start, swaps=seed % 2 == 0)
            moves += found.n_iterations
            assert not violations(small, found.coefficients)
            assert found.objective == pytest.approx(objective(small, found.coefficients), rel=1e-12)
            assert is_one_opt(problem, found.coefficients, found.objective), seed
        point = rng.uniform(problem.lower, problem.upper)
        result = sequential_rounding(problem, point)
        if result.coefficients is not None:
            rounded += 1
            assert not violations(small, result.coefficients)
            value = objective(small, result.coefficients)
            assert result.objective == pytest.approx(value, rel=1e-12)
    assert moves > 15
    assert rounded > 15


@pytest.mark.slow
def test_heuristics_with_free_scale():
    moved = rounded = 0
    for seed in range(40):
        _, fixed, starts, rng = drawn(seed, 3.0)
        problem = RiskScoreProblem(
            fixed.loss.data,
            fixed.coefficients,
            max_size=fixed.max_size,
            min_size=fixed.min_size,
            l0_penalty=1e-4,
            l2_penalty=0.02 * (seed % 2),
            constraints=fixed.constraints,
            scale=(0.3, 12.0),
        )
        for start in starts[:1]:
            found = discrete_coordinate_descent(problem, start)
            scale = problem.best_scale(found.coefficients)
            moved += scale != problem.best_scale(start)
            assert problem.is_feasible(found.coefficients)
            assert found.objective == problem.objective(found.coefficients)
            assert found.objective <= problem.objective(start)
            assert is_one_opt(problem.at_scale(scale), found.coefficients, found.objective)
        point = rng.uniform(problem.lower, problem.upper)
        result = sequential_rounding(problem, point)
        at = sequential_rounding(problem.at_scale(problem.loss.scale), point)
        if result.coefficients is not None:
            rounded += 1
            np.testing.assert_array_equal(result.coefficients, at.coefficients)
            assert result.objective == problem.objective(result.coefficients) <= at.objective
    assert moved > 10
    assert rounded > 15


def test_a_loss_that_was_tightened():
    _, problem, starts, _ = drawn(4)
    expected = discrete_coordinate_descent(problem, starts[0])
    tightened = copy.copy(problem)
    tightened.loss = copy.copy(problem.loss)
    tightened.loss.tighten(1)
    found = discrete_coordinate_descent(tightened, starts[0])
    np.testing.assert_array_equal(found.coefficients, expected.coefficients)


def breaking(seed):
    """A problem and a point of which the rounding without constraints breaks them."""
    rng = np.random.default_rng(seed)
    problem = patients(at_most(2, [f"x{j}" for j in range(5)]), seed=seed)
    return problem, np.r_[-1.5, rng.uniform(1.1, 3.9, 5)]


def test_rounding_that_is_stopped_keeps_what_it_has():
    for seed in range(10):
        problem, point = breaking(seed)
        endless, nobody = StopAfter(10**9), np.zeros(1, np.int64)  # no thread asks beside
        full = sequential_rounding(problem, point, should_stop=endless, stop=nobody)
        assert full.reason == "all rounded"
        rounded = []
        for calls in range(endless.asked):
            stop = StopAfter(calls)
            found = sequential_rounding(problem, point, should_stop=stop, stop=nobody)
            # After that nothing is looked at, compiled or not.
            assert stop.asked <= calls + 2
            assert found.reason == "stopped"
            assert found.n_evaluations <= full.n_evaluations
            assert problem.is_feasible(found.coefficients)
            assert found.objective == problem.objective(found.coefficients)
            rounded.append(found.n_iterations)
        assert rounded[0] == 0
        assert rounded == sorted(rounded)
        assert rounded[-1] < full.n_iterations


@pytest.mark.slow
def test_descent_that_is_stopped_keeps_the_best_so_far():
    shortened = 0
    for seed in range(5):
        problem, _ = breaking(seed)
        start = np.array([0, 0, 0, 0, -1, 1])
        endless, nobody = StopAfter(10**9), np.zeros(1, np.int64)  # no thread asks beside
        full = discrete_coordinate_descent(
            problem, start, swaps=True, should_stop=endless, stop=nobody
        )
        last = problem.objective(start)
        for calls in range(endless.asked):
            found = discrete_coordinate_descent(
                problem, start, swaps=True, should_stop=StopAfter(calls), stop=nobody
            )
            assert found.reason == "stopped"
            assert problem.is_feasible(found.coefficients)
            if calls == 0:
                np.testing.assert_array_equal(found.coefficients, start)
            assert full.objective <= found.objective <= last + 1e-15
            last = found.objective
            shortened += found.n_iterations < full.n_iterations
        assert full.reason == "no move improves the objective"
    assert shortened > 10


def test_a_free_scale_is_stopped_between_descents():
    problem = patients(at_most(2, [f"x{j}" for j in range(5)]))
    free = RiskScoreProblem(
        problem.loss.data,
        problem.coefficients,
        constraints=problem.constraints,
        scale=(0.5, 8.0),
    )
    start = [0, 0, 0, 0, -1, 1]
    found = discrete_coordinate_descent(free, start, should_stop=lambda: True)
    np.testing.assert_array_equal(found.coefficients, start)
    assert found.reason == "stopped"


@pytest.fixture
def looked(monkeypatch):
    """Names of the heuristics that look at constraints, as they are called."""
    calls = []
    for name in ("descend", "round_sequentially"):
        original = getattr(heuristics, name)

        def noted(*args, original=original, name=name, **options):
            calls.append(name)
            return original(*args, **options)

        monkeypatch.setattr(heuristics, name, noted)
    return calls


def test_what_is_found_without_constraints_is_kept_where_it_meets_them(looked):
    for seed in range(20):
        free = patients(seed=seed)
        bound = patients(at_most(5, free.coefficients.feature_names), seed=seed)
        point = np.random.default_rng(seed).uniform(free.lower, free.upper)
        for found in (
            [sequential_rounding(problem, point) for problem in (free, bound)],
            [discrete_coordinate_descent(problem, np.zeros(6, int)) for problem in (free, bound)],
        ):
            np.testing.assert_array_equal(*(one.coefficients for one in found))
            assert found[0].objective == found[1].objective
    assert looked == []


def test_constraints_are_looked_at_where_they_are_broken(looked):
    problem, point = breaking(0)
    sequential_rounding(problem, point)
    discrete_coordinate_descent(problem, [0, 0, 0, 0, -1, 1])
    assert looked == ["round_sequentially", "descend"]


def test_compiled_moves_are_those_found_one_vector_at_a_time():
    """The same descent with a move that is never compiled."""
    same = moves = 0
    for seed in SEEDS:
        _, problem, starts, _ = drawn(seed, ridge=seed % 2 == 0)
        for start in starts[:1]:
            options = {"exhaustive": False, "swaps": False, "max_iterations": 100,
                       "tolerance": 1e-13, "should_stop": lambda: False}  # fmt: skip
            every = np.ones(len(start), bool)

            def broken(coef, *_, problem=problem):
                return problem.upper + 1  # it breaks a constraint, so that all have to be looked at

            quick, n_moves = constrained.descend(
                problem, start, every, compiled_move=heuristics.compiled_move(
                    problem, False, np.zeros(1, np.int64)
                ),
                **options,
            )  # fmt: skip
            slow, _ = constrained.descend(problem, start, every, compiled_move=broken, **options)
            moves += n_moves
            same += np.isclose(problem.objective(quick), problem.objective(slow), rtol=1e-12)
    assert moves > 15
    assert same > 25  # the rest are ties that lead elsewhere


def test_projection_is_feasible_and_keeps_what_weighs_most():
    found = 0
    for seed in SEEDS:
        small, problem, _, rng = drawn(seed)
        point = rng.uniform(problem.lower, problem.upper)
        coef = constrained.project(problem, point, np.abs(point))
        if coef is not None:
            found += 1
            assert not violations(small, coef), seed
    assert found > 20
    problem = patients(at_most(2, [f"x{j}" for j in range(5)]))
    weight = np.array([1, 5.0, 1.0, 2.0, 4.0, 3.0])
    coef = constrained.project(problem, np.array([-1.2, 2.2, 3.1, -2.7, 1.4, 0.3]), weight)
    np.testing.assert_array_equal(coef, [-1, 2, 0, 0, 1, 0])
    impossible = patients(at_least(3, ["x0", "x1", "x2"]), max_size=2)
    assert constrained.project(impossible, np.zeros(6), np.zeros(6)) is None


@pytest.mark.parametrize("stopped", [False, True])
def test_a_search_projects_relaxations_and_polishes_until_it_is_stopped(looked, stopped):
    problem, point = breaking(0)
    stop = np.array([stopped], np.int64)
    kept = Incumbents(problem, 1, None, swaps=True, tolerance=1e-10, stop=stop)
    kept.round(point, 1.0)
    weight = np.abs(point) * kept.spread
    projected = problem.objective(constrained.project(problem, point, weight))
    assert (kept.objective < projected) != stopped
    assert looked == ([] if stopped else ["descend"] * len(looked))
    assert stopped or looked
    before = len(looked)
    kept.round(point, 1.0)  # the same once more
    assert len(looked) == before
