"""Discrete coordinate descent and sequential rounding against brute force."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from riskslim import (
    CoefficientSet,
    LogisticLoss,
    RiskScoreProblem,
    TrainingData,
    discrete_coordinate_descent,
    sequential_rounding,
)
from riskslim._kernels import BACKENDS, load, real
from riskslim.data.row_tiles import read_column
from riskslim.heuristics import descent as heuristics
from riskslim.heuristics.descent import best_line_steps, within_box
from searches import neighbours

pytestmark = pytest.mark.usefixtures("backend")

KINDS = ["binary", "integer", "real", "mixed", "wide"]
SCALES = [0.3, 1.7, 8.0]


def make_features(rng, kind, n, d):
    binary = rng.integers(0, 2, (n, d)).astype(float)
    if kind == "binary":
        return binary
    if kind == "integer":
        return rng.integers(-4, 9, (n, d)).astype(float)
    if kind == "real":
        return rng.normal(size=(n, d))
    if kind == "wide":  # joint histograms have too many cells: one table lookup per row
        return rng.integers(-120, 121, (n, d)).astype(float)
    binary[:, ::2] = rng.normal(size=binary[:, ::2].shape)
    return binary


def make_problem(seed, kind, *, weighted=False, reach=1, ridge=False, **options):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 6))
    n = int(rng.integers(20, 90))
    X = make_features(rng, kind, n, d)
    X[0], X[1] = X.min(axis=0) - 1, X.max(axis=0)  # no constant column
    truth = rng.normal(size=d)
    scale = np.abs(X @ truth).mean()
    y = rng.random(n) < 1 / (1 + np.exp(-2 * X @ truth / scale))
    y[:2] = [True, False]
    weights = rng.uniform(0.2, 3.0, n) if weighted else None
    data = TrainingData(X, y, weights)
    lower, upper = rng.integers(-4, 1, d), rng.integers(0, 5, d)
    upper = np.where(lower == upper, 3, upper)
    coefficients = CoefficientSet(
        data.feature_names,
        reach * lower,
        reach * upper,
        intercept_lower=-6 * reach,
        intercept_upper=6 * reach,
    )
    options.setdefault("max_size", int(rng.integers(1, d + 1)))
    options.setdefault("l0_penalty", float(rng.choice([1e-8, 1e-3, 0.05])))
    if ridge:  # some features have none
        sizes = np.array([0.0, 1e-4, 0.01, 0.3])
        options["l2_penalty"] = np.random.default_rng(seed).choice(sizes, d) / reach**2
    problem = RiskScoreProblem(data, coefficients, **options)
    return problem, rng


def random_start(problem, rng):
    """A feasible vector, not always the zero vector."""
    while True:
        vector = rng.integers(problem.lower, problem.upper + 1)
        keep = rng.permutation(len(vector) - 1)[: rng.integers(0, problem.max_size + 1)]
        sparse = np.zeros_like(vector)
        sparse[0], sparse[1 + keep] = vector[0], vector[1 + keep]
        if problem.is_feasible(sparse):
            return sparse


def literal_descent(problem, coef):
    """The paper's algorithm, every step by enumeration."""
    coef, objective = coef.copy(), problem.objective(coef)
    while True:
        candidates = [(problem.objective(other), other) for other in neighbours(problem, coef)]
        best = min(candidates, key=lambda pair: pair[0], default=(np.inf, coef))
        if best[0] >= objective - 1e-13 * objective:
            return coef, objective
        objective, coef = best


def literal_rounding(problem, coef):
    """The paper's algorithm on the problem's objective, sizes permitting."""
    coef = np.array(coef, dtype=float)
    pending = [j for j in range(len(coef)) if coef[j] != round(coef[j])]

    def reachable(vector, rest):
        sizes = {0}
        for j in range(1, len(vector)):
            options = {np.floor(vector[j]), np.ceil(vector[j])} if j in rest else {vector[j]}
            sizes = {size + (option != 0) for size in sizes for option in options}
        return any(problem.min_size <= size <= problem.max_size for size in sizes)

    if not reachable(coef, pending):
        return None
    while pending:
        best = (np.inf, None)
        for direction in (np.floor, np.ceil):
            for j in pending:
                other = coef.copy()
                other[j] = direction(other[j])
                rest = [k for k in pending if k != j]
                value = problem.objective(other)
                if value < best[0] and reachable(other, rest):
                    best = (value, (j, other))
        j, coef = best[1]
        pending.remove(j)
    return coef.astype(int)


def literal_swaps(problem, coef):
    """One feature out, intercept searched, one feature in, intercept searched."""

    def best_of(vector, j, values):
        choices = np.tile(vector, (len(values), 1))
        choices[:, j] = values
        return min(choices, key=problem.objective)

    intercepts = np.arange(problem.lower[0], problem.upper[0] + 1)
    for out, new in itertools.permutations(range(1, len(coef)), 2):
        if coef[out] == 0 or coef[new] != 0 or not problem.lower[out] <= 0 <= problem.upper[out]:
            continue
        vector = coef.copy()
        vector[out] = 0
        vector = best_of(vector, 0, intercepts)
        values = np.arange(problem.lower[new], problem.upper[new] + 1)
        vector = best_of(vector, new, values[values != 0])
        yield best_of(vector, 0, intercepts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("line_search", ["golden_section", "exhaustive"])
@pytest.mark.parametrize("ridge", [False, True])
def test_descent_is_one_opt_and_follows_the_algorithm(kind, weighted, line_search, ridge):
    for seed in range(3):
        problem, rng = make_problem(seed, kind, weighted=weighted, ridge=ridge)
        start = random_start(problem, rng)
        result = discrete_coordinate_descent(problem, start, line_search=line_search)
        coef, objective = literal_descent(problem, start)
        assert result.coefficients.dtype == np.int64
        assert problem.is_feasible(result.coefficients)
        assert result.objective == problem.objective(result.coefficients)
        assert result.objective == pytest.approx(objective, rel=1e-12)
        np.testing.assert_array_equal(result.coefficients, coef)
        for other in neighbours(problem, result.coefficients):
            assert problem.objective(other) >= result.objective * (1 - 1e-13)


def test_both_line_searches_are_identical():
    for seed in range(60):
        problem, rng = make_problem(
            seed, KINDS[seed % 5], weighted=seed % 2 == 0, ridge=seed % 4 > 1
        )
        start = random_start(problem, rng)
        golden = discrete_coordinate_descent(problem, start, swaps=seed % 3 == 0)
        full = discrete_coordinate_descent(
            problem, start, swaps=seed % 3 == 0, line_search="exhaustive"
        )
        np.testing.assert_array_equal(golden.coefficients, full.coefficients)
        assert golden.objective == full.objective
        assert golden.n_iterations == full.n_iterations


def test_descent_in_restricted_directions():
    for seed in range(20):
        problem, rng = make_problem(seed, "integer", ridge=seed % 2 == 0)
        start = random_start(problem, rng)
        directions = [j for j in range(len(start)) if rng.random() < 0.5]
        result = discrete_coordinate_descent(problem, start, directions=directions, swaps=True)
        fixed = [j for j in range(len(start)) if j not in directions]
        np.testing.assert_array_equal(result.coefficients[fixed], start[fixed])
        for other in neighbours(problem, result.coefficients, directions):
            assert problem.objective(other) >= result.objective * (1 - 1e-13)


@pytest.mark.parametrize("swaps", [False, True])
def test_descent_keeps_to_the_size_limits(swaps):
    for seed in range(40):
        options = {"max_size": 2, "min_size": 2, "l0_penalty": 0.1, "ridge": seed % 2 == 0}
        problem, rng = make_problem(seed, KINDS[seed % 5], **options)
        result = discrete_coordinate_descent(problem, random_start(problem, rng), swaps=swaps)
        assert problem.model_size(result.coefficients) == 2
        assert problem.is_feasible(result.coefficients)


@pytest.mark.parametrize("kind", ["binary", "real"])
@pytest.mark.parametrize("intercept", [-100_000, -777, 0, 1, 64, 99_999])
def test_descent_of_a_far_intercept(kind, intercept):
    rng = np.random.default_rng(1)
    X = make_features(rng, kind, 50, 2)
    data = TrainingData(X, rng.integers(0, 2, 50))
    coefficients = CoefficientSet(
        data.feature_names, -2, 2, intercept_lower=-100_000, intercept_upper=100_000
    )
    problem = RiskScoreProblem(data, coefficients)
    result = discrete_coordinate_descent(problem, [intercept, 1, -2], directions=[0])
    near = min(range(-5, 6), key=lambda b: problem.objective([b, 1, -2]))
    np.testing.assert_array_equal(result.coefficients, [near, 1, -2])
    assert result.n_evaluations < 60


def test_descent_next_to_a_forbidden_zero():
    # The loss alone wants 0, the size limits forbid it: -1 and 1 must both be looked at.
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    data = TrainingData(X, ([0, 1, 0, 1] * 4) + [1, 0, 1, 0])
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    problem = RiskScoreProblem(data, coefficients, min_size=2, max_size=2)
    result = discrete_coordinate_descent(problem, [0, 5, 5])
    assert abs(result.coefficients[1]) == 1
    for other in neighbours(problem, result.coefficients):
        assert problem.objective(other) >= result.objective * (1 - 1e-13)


def test_swaps_only_improve_and_leave_no_swap_behind():
    improved = 0
    for seed in range(60):
        options = {"weighted": seed % 2 == 0, "max_size": 1 + seed % 3 // 2, "ridge": seed % 4 > 1}
        problem, rng = make_problem(seed, KINDS[seed % 5], **options)
        start = random_start(problem, rng)
        plain = discrete_coordinate_descent(problem, start)
        swapped = discrete_coordinate_descent(problem, start, swaps=True)
        assert problem.is_feasible(swapped.coefficients)
        assert swapped.objective <= plain.objective * (1 + 1e-14)
        improved += swapped.objective < plain.objective - 1e-9
        for other in literal_swaps(problem, swapped.coefficients):
            assert problem.is_feasible(other)
            assert problem.objective(other) >= swapped.objective * (1 - 1e-13)
    assert improved > 0


def test_iteration_limit_and_counters():
    problem, _ = make_problem(9, "integer", max_size=2, l0_penalty=1e-6)
    zero = np.zeros(len(problem.lower), dtype=int)
    full = discrete_coordinate_descent(problem, zero)
    assert full.n_iterations >= 2
    before = problem.loss.n_evaluations
    one = discrete_coordinate_descent(problem, zero, max_iterations=1)
    assert one.n_iterations == 1
    assert one.reason == "iteration limit"
    assert full.objective < one.objective < problem.objective(zero)
    # The two objectives above, and the last one of the descent itself.
    assert problem.loss.n_evaluations == before + one.n_evaluations + 2
    assert problem.loss.seconds > 0


def test_descent_after_the_loss_was_tightened():
    problem, _ = make_problem(5, "integer", max_size=2)
    zero = np.zeros(len(problem.lower), dtype=int)
    before = discrete_coordinate_descent(problem, zero)
    problem.loss.tighten(0)
    after = discrete_coordinate_descent(problem, zero)
    np.testing.assert_array_equal(before.coefficients, after.coefficients)


def test_descent_refuses_bad_input():
    problem, _ = make_problem(1, "binary", max_size=1)
    zero = np.zeros(len(problem.lower), dtype=int)
    wrong = zero.copy()
    wrong[1:3] = np.where(problem.upper[1:3] > 0, 1, -1)
    with pytest.raises(ValueError, match=r"not feasible.*model size is 2"):
        discrete_coordinate_descent(problem, wrong)
    with pytest.raises(ValueError, match=r"not feasible.*intercept.*outside of -6\.\.6"):
        discrete_coordinate_descent(problem, zero + 99 * (np.arange(len(zero)) == 0))
    with pytest.raises(ValueError, match="not an integer"):
        discrete_coordinate_descent(problem, zero + 0.5)
    with pytest.raises(ValueError, match="direction 17 does not exist"):
        discrete_coordinate_descent(problem, zero, directions=[17])
    with pytest.raises(ValueError, match="line_search must be"):
        discrete_coordinate_descent(problem, zero, line_search="newton")
    with pytest.raises(ValueError, match="max_iterations"):
        discrete_coordinate_descent(problem, zero, max_iterations=-1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_rounding_follows_the_algorithm(kind, weighted):
    none = 0
    for seed in range(30):
        problem, rng = make_problem(seed, kind, weighted=weighted, ridge=seed % 2 == 0)
        point = rng.uniform(problem.lower, problem.upper)
        point[rng.random(len(point)) < 0.3] = 0.0
        result = sequential_rounding(problem, point)
        expected = literal_rounding(problem, point)
        if expected is None:
            none += 1
            assert result.coefficients is None
            assert result.objective == np.inf
            assert result.reason == "no rounding has a permitted size"
            continue
        np.testing.assert_array_equal(result.coefficients, expected)
        assert result.objective == problem.objective(expected)
        assert problem.is_feasible(result.coefficients)
        assert np.all(np.abs(result.coefficients - point) < 1)
    assert none < 30


def test_rounding_with_a_minimum_size():
    for seed in range(40):
        options = {"min_size": 2, "max_size": 2, "l0_penalty": 0.3, "ridge": seed % 2 == 0}
        problem, rng = make_problem(seed, "binary", **options)
        point = rng.uniform(-0.9, 0.9, len(problem.lower)).clip(problem.lower, problem.upper)
        expected = literal_rounding(problem, point)
        result = sequential_rounding(problem, point)
        if expected is None:
            assert result.coefficients is None
        else:
            np.testing.assert_array_equal(result.coefficients, expected)


def test_rounding_saves_evaluations():
    problem, rng = make_problem(7, "real", max_size=None)
    point = rng.uniform(problem.lower, problem.upper)
    result = sequential_rounding(problem, point)
    d = len(point) - 1
    assert result.n_iterations == d + 1
    assert result.n_evaluations < d * (d + 1)


def test_cutoff_stops_only_what_cannot_reach_it():
    stopped = 0
    for seed in range(60):
        problem, rng = make_problem(seed, KINDS[seed % 5], max_size=None, ridge=seed % 2 == 0)
        point = rng.uniform(problem.lower, problem.upper)
        corners = itertools.product(*zip(np.floor(point), np.ceil(point), strict=True))
        best = min(problem.objective(corner) for corner in corners)
        full = sequential_rounding(problem, point)
        just_above = sequential_rounding(problem, point, cutoff=best * (1 + 1e-9))
        if full.objective == best:
            np.testing.assert_array_equal(just_above.coefficients, full.coefficients)
        low = sequential_rounding(problem, point, cutoff=0.8 * best)
        if low.coefficients is None:
            stopped += 1
            assert low.reason == "cutoff"
        assert sequential_rounding(problem, point, cutoff=0.0).coefficients is None
    assert stopped > 0


def test_rounding_of_noisy_integers_stays_in_the_box():
    problem, _ = make_problem(11, "binary", max_size=None)
    point = problem.upper + 4e-10
    result = sequential_rounding(problem, point)
    np.testing.assert_array_equal(result.coefficients, problem.upper)
    assert result.n_iterations == 0
    result = sequential_rounding(problem, problem.lower - 5e-7)
    np.testing.assert_array_equal(result.coefficients, problem.lower)


def test_rounding_refuses_bad_input():
    problem, _ = make_problem(1, "binary")
    zero = np.zeros(len(problem.lower))
    with pytest.raises(ValueError, match="has shape"):
        sequential_rounding(problem, zero[1:])
    with pytest.raises(ValueError, match=r"1 coefficients are not within.*'\(intercept\)'"):
        sequential_rounding(problem, [9.5, *zero[1:]])
    with pytest.raises(ValueError, match="nan"):
        sequential_rounding(problem, [np.nan, *zero[1:]])


def exhaustive_rounding(problem, point):
    """Sequential rounding that computes every loss with the kernel of given scores."""
    rows, coef = problem.loss.rows, within_box(problem, point)
    unit = 1.0 / problem.loss.scale
    scaled = coef / problem.loss.scale
    columns = np.ones((rows.n_rows, len(coef)))
    columns[:, 1 + rows.integer_index] = rows.integer_columns
    for k, j in enumerate(rows.real_index):
        columns[:, 1 + j] = read_column(rows.real_row_tiles, k, 0, rows.n_rows)
    scores = np.empty(rows.n_rows)
    real.scores(
        rows.integer_columns,
        scaled[1 + rows.integer_index],
        rows.real_row_tiles,
        scaled[1 + rows.real_index],
        scaled[0],
        scores,
        1,
    )
    pending = [j for j in range(len(coef)) if coef[j] != np.rint(coef[j])]
    while pending:
        used = sum(price for j, price in enumerate(problem.l0_penalty, 1) if coef[j] != 0)
        used += sum(problem.point_ridge * coef[1:] ** 2)
        best = (np.inf, None)
        for direction in (np.floor, np.ceil):
            for j in pending:
                moved = scores + columns[:, j] * ((direction(coef[j]) - coef[j]) * unit)
                value = real.scores_loss(moved, rows.labels, rows.weights, 1)
                value = value / rows.total_weight + used
                if j > 0 and direction(coef[j]) == 0.0:
                    value -= problem.l0_penalty[j - 1]
                if j > 0:
                    value += problem.point_ridge[j - 1] * (direction(coef[j]) ** 2 - coef[j] ** 2)
                if value < best[0]:
                    best = (value, (j, direction(coef[j]), moved))
        j, coef[j], scores = best[1][0], best[1][1], best[1][2]
        pending.remove(j)
    return coef.astype(np.int64)


def adversarial_problem(seed, n=None, scale=1.0, ridge=0.0):
    """Columns that are equal, opposite, or multiples of each other; extreme weights and ranges."""
    rng = np.random.default_rng(seed)
    n, d = n or int(rng.integers(10, 200)), int(rng.integers(2, 8))
    X = make_features(rng, KINDS[seed % 5], n, d)
    X[:, -1] = X[:, 0] * rng.choice([1, 1, -1, 2])
    if seed % 3 == 0:
        X[:, rng.integers(d)] = rng.integers(-128, 128, n)
    if seed % 7 == 0:
        X[:, rng.integers(d)] = rng.normal(size=n) * 10.0 ** rng.integers(-6, 4)
    y = rng.random(n) < 0.4
    if seed % 4 == 0:  # separated: losses close to nothing
        y = X[:, 0] > np.median(X[:, 0])
    y[:2] = [True, False]
    weights = None
    if seed % 2:
        weights = 10.0 ** rng.uniform(*rng.choice([(-1, 1), (-9, 9), (0, 12)]), n)
    data = TrainingData(X, y, weights)
    bound = int(rng.choice([1, 2, 5, 30]))
    coefficients = CoefficientSet(
        data.feature_names, -bound, bound, intercept_lower=-40, intercept_upper=40
    )
    penalty = float(rng.choice([0.0, 1e-9, 1e-3, 0.1]))
    problem = RiskScoreProblem(
        data,
        coefficients,
        compress=bool(seed % 5 == 1),
        scale=scale,
        l0_penalty=max(penalty, 1e-15),
        l2_penalty=ridge,
    )
    point = rng.uniform(problem.lower, problem.upper)
    if seed % 3 == 1:
        point = np.clip(np.rint(point) + 0.5, problem.lower, problem.upper)  # down or up: a tie
    point[-1] = point[1]
    return problem, point


def test_rounding_is_the_exhaustive_one_to_the_last_tie():
    for seed in range(160):
        problem, point = adversarial_problem(seed)
        result = sequential_rounding(problem, point)
        expected = exhaustive_rounding(problem, point)
        np.testing.assert_array_equal(result.coefficients, expected, err_msg=str(seed))
        # Every value below it would be an improvement; the one found is none.
        above = sequential_rounding(problem, point, cutoff=result.objective * (1 + 1e-9) + 1e-12)
        np.testing.assert_array_equal(above.coefficients, expected, err_msg=str(seed))


@pytest.mark.parametrize("seed", range(7))
def test_rounding_of_many_chunks_is_the_exhaustive_one(seed):
    problem, point = adversarial_problem(seed, n=9 * 16384 + 77)
    expected = exhaustive_rounding(problem, point)
    for n_threads in (1, 2):
        problem.loss.n_threads = n_threads
        result = sequential_rounding(problem, point)
        np.testing.assert_array_equal(result.coefficients, expected)


def test_rounding_with_a_ridge_is_the_exhaustive_one():
    """Of quick losses, too; ties are those of rounding errors here, and may go either way."""
    same = 0
    for seed in range(120):
        ridge = float(np.random.default_rng(seed).choice([1e-5, 0.01, 0.3]))
        problem, point = adversarial_problem(seed, ridge=ridge, scale=1.0 + seed % 3)
        point[-1] += 0.125 * (point[-1] + 0.125 <= problem.upper[-1])
        result = sequential_rounding(problem, point)
        expected = exhaustive_rounding(problem, point)
        found = (result.coefficients == expected).all()
        same += found
        if not found:
            assert result.objective == pytest.approx(problem.objective(expected), rel=1e-12)
        above = sequential_rounding(problem, point, cutoff=result.objective * (1 + 1e-9) + 1e-12)
        np.testing.assert_array_equal(above.coefficients, result.coefficients, err_msg=str(seed))
    assert same >= 118


@pytest.mark.parametrize("kind", KINDS)
def test_best_line_steps_are_best_in_either_direction(kind):
    """Of the value and the intercept, either is best with the other one kept: by brute force."""
    n_steps = 0
    for seed in range(8):
        problem, rng = make_problem(
            seed, kind, weighted=seed % 2 == 0, ridge=seed % 4 < 3, max_size=None, scale=1.7
        )
        vector = random_start(problem, rng)
        vector[1 + rng.integers(problem.n_features)] = 0
        every = np.ones(problem.n_features, bool)
        steps = best_line_steps(problem, vector, every, np.zeros(1, np.int64))
        for line in range(1, len(vector)):
            if vector[line] != 0 or problem.lower[line] == problem.upper[line]:
                assert steps.objective[line] == np.inf
                continue
            moved = vector.copy()
            moved[0], moved[line] = steps.intercept[line], steps.value[line]
            assert moved[line] != 0
            objective = problem.objective(moved)
            assert steps.objective[line] == pytest.approx(objective, rel=1e-13)
            for other in neighbours(problem, moved, [0]):
                assert problem.objective(other) >= objective * (1 - 1e-13)
            n_steps += 1
    assert n_steps > 8


def test_best_steps_are_mostly_those_of_brute_force():
    """One item and the intercept: turns mostly end at the least objective of all pairs."""
    best = n_steps = 0
    for seed in range(15):
        problem, _ = make_problem(seed, "binary", ridge=True, max_size=None)
        vector = np.zeros(problem.n_features + 1, np.int64)
        every = np.ones(problem.n_features, bool)
        steps = best_line_steps(problem, vector, every, np.zeros(1, np.int64))
        for line in range(1, len(vector)):
            pairs = itertools.product(
                range(problem.lower[0], problem.upper[0] + 1),
                set(range(problem.lower[line], problem.upper[line] + 1)) - {0},
            )
            least = np.inf
            for intercept, value in pairs:
                vector[[0, line]] = intercept, value
                least = min(least, problem.objective(vector))
            vector[:] = 0
            assert steps.objective[line] >= least * (1 - 1e-13)
            best += steps.objective[line] <= least * (1 + 1e-13)
            n_steps += 1
    assert best >= 0.8 * n_steps


@pytest.mark.numba
@pytest.mark.parametrize("backend", ["numba"], indirect=True)  # once: it loads both
def test_backends_compute_the_same_losses():
    for seed in (*range(40), 1000, 1001):
        n, ridge = 5 * 16384 + 3 if seed >= 1000 else None, 0.01 * (seed % 3 == 0)
        problem, point = adversarial_problem(seed, n=n, ridge=ridge)
        start, found, flag = np.zeros(len(point), np.int64), [], np.zeros(1, np.int64)
        every = np.ones(len(point) - 1, bool)
        for backend in BACKENDS:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(heuristics, "kernels", load(backend)["heuristics"])
                rounded = sequential_rounding(problem, point)
                polished = discrete_coordinate_descent(problem, start, swaps=True, max_iterations=3)
                steps = best_line_steps(problem, start, every, flag)
                found.append((rounded.coefficients, polished.coefficients, *steps[1:3]))
                found[-1] += rounded.n_evaluations, polished.n_evaluations, steps.n_evaluations
        first, *others = found
        for other in others:
            for a, b in zip(first, other, strict=True):
                np.testing.assert_array_equal(a, b, err_msg=str(seed))


def rounded_scores(monkeypatch, problem, point):
    """Scores that a rounding was given, and what it left of them."""
    kernels, kept = heuristics.kernels, []

    def watched(*arguments):
        scores = arguments[9]
        kept.extend((scores.copy(), scores))
        return kernels.sequential_rounding(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(heuristics, "kernels", SimpleNamespace(sequential_rounding=watched))
        sequential_rounding(problem, point)
    return kept


def test_exact_losses_are_only_computed_when_odds_do_not_decide(monkeypatch):
    rng = np.random.default_rng(0)
    X = make_features(rng, "integer", 500, 4)
    y = rng.random(500) < 1 / (1 + np.exp(X[:, 0] - X[:, 1] / 2))
    point = np.array([0.3, -0.7, 0.4, 0.2, -0.1])

    def problem_of(X, largest=5):
        data = TrainingData(X, y)
        coefficients = CoefficientSet(
            data.feature_names, -largest, largest, intercept_lower=-9, intercept_upper=9
        )
        return RiskScoreProblem(data, coefficients)

    before, after = rounded_scores(monkeypatch, problem_of(X), point)
    np.testing.assert_array_equal(before, after)
    twins = np.column_stack((X, X[:, 0]))
    before, after = rounded_scores(monkeypatch, problem_of(twins), [*point, -0.7])
    assert (before != after).any()
    far = problem_of(X * 15, 20)
    before, after = rounded_scores(monkeypatch, far, point * 25)
    assert np.abs(before).max() > 170
    assert (before != after).any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_number_of_threads_does_not_change_a_bit(kind, weighted):
    rng = np.random.default_rng(5)
    X = make_features(rng, kind, 5 * 16384 + 3, 4)
    y = rng.random(len(X)) < 1 / (1 + np.exp(X[:, 0] - X[:, 1]))
    data = TrainingData(X, y, rng.uniform(0.2, 3.0, len(X)) if weighted else None)
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    start = rng.uniform(-1, 1, 5)
    expected = None
    for n_threads in (1, 2, 3, 7):
        problem = RiskScoreProblem(data, coefficients, n_threads=n_threads)
        assert problem.loss.n_threads == n_threads
        rounded = sequential_rounding(problem, np.clip(start, problem.lower, problem.upper))
        polished = discrete_coordinate_descent(problem, rounded.coefficients)
        found = [
            (*result.coefficients, result.objective, result.n_iterations, result.n_evaluations)
            for result in (rounded, polished)
        ]
        expected = expected or found
        assert found == expected


# ---- other scales -------------------------------------------------------------------------


def problem_at(seed, kind, scale, **options):
    """As many log-odds are within reach at every scale."""
    return make_problem(seed, kind, scale=scale, reach=max(1, round(scale)), **options)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_descent_at_a_scale(kind, weighted, scale):
    moves = 0
    for seed in (0, 1)[weighted:][:1]:
        problem, rng = problem_at(seed, kind, scale, weighted=weighted)
        start = random_start(problem, rng)
        result = discrete_coordinate_descent(problem, start)
        coef, objective = literal_descent(problem, start)
        moves += result.n_iterations
        np.testing.assert_array_equal(result.coefficients, coef)
        assert result.objective == problem.objective(coef) == pytest.approx(objective, rel=1e-12)
        margins = problem.loss.data.labels * problem.loss.scores(coef) / scale
        losses = np.log1p(np.exp(-np.abs(margins))) + np.maximum(-margins, 0.0)
        average = np.average(losses, weights=problem.loss.data.sample_weight)
        assert result.objective == pytest.approx(average + problem.penalty(coef), rel=1e-12)
        full = discrete_coordinate_descent(problem, start, line_search="exhaustive")
        np.testing.assert_array_equal(full.coefficients, coef)
    assert moves > 0


@pytest.mark.parametrize("scale", SCALES)
def test_swaps_at_a_scale(scale):
    improved = 0
    for seed in range(20):
        problem, rng = problem_at(
            seed, KINDS[seed % 5], scale, weighted=seed % 2 == 0, max_size=1, l0_penalty=1e-6
        )
        start = random_start(problem, rng)
        plain = discrete_coordinate_descent(problem, start)
        swapped = discrete_coordinate_descent(problem, start, swaps=True)
        improved += swapped.objective < plain.objective - 1e-9
        for other in itertools.chain(
            literal_swaps(problem, swapped.coefficients), neighbours(problem, swapped.coefficients)
        ):
            assert problem.objective(other) >= swapped.objective * (1 - 1e-13)
    assert improved > 0


@pytest.mark.parametrize("scale", SCALES)
def test_rounding_at_a_scale(scale):
    rounded = 0
    for seed in range(40):
        problem, rng = problem_at(seed, KINDS[seed % 5], scale, weighted=seed % 2 == 0)
        point = rng.uniform(problem.lower, problem.upper)
        point[rng.random(len(point)) < 0.3] = 0.0
        expected = literal_rounding(problem, point)
        result = sequential_rounding(problem, point)
        assert (result.coefficients is None) == (expected is None)
        if expected is not None:
            rounded += 1
            np.testing.assert_array_equal(result.coefficients, expected)
            assert result.objective == problem.objective(expected)
    assert rounded > 10


@pytest.mark.parametrize("scale", [*SCALES, 0.01, 300.0])
def test_rounding_at_a_scale_is_the_exhaustive_one_to_the_last_tie(scale):
    for seed in range(50):
        problem, point = adversarial_problem(seed, scale=scale)
        result = sequential_rounding(problem, point)
        expected = exhaustive_rounding(problem, point)
        np.testing.assert_array_equal(result.coefficients, expected, err_msg=str(seed))
        above = sequential_rounding(problem, point, cutoff=result.objective * (1 + 1e-9) + 1e-12)
        np.testing.assert_array_equal(above.coefficients, expected, err_msg=str(seed))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rounding_of_many_chunks_at_a_scale_is_the_exhaustive_one(seed, scale):
    problem, point = adversarial_problem(seed, n=9 * 16384 + 77, scale=scale)
    expected = exhaustive_rounding(problem, point)
    for n_threads in (1, 2):
        problem.loss.n_threads = n_threads
        np.testing.assert_array_equal(sequential_rounding(problem, point).coefficients, expected)


@pytest.mark.parametrize("kind", ["integer", "real", "mixed"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [0.25, 2.0])
def test_features_and_scale_times_a_power_of_two_change_no_bit(kind, weighted, scale):
    """Bounds, choices and even the number of evaluations are those of the scale 1."""
    rng = np.random.default_rng(4)
    X = make_features(rng, kind, 6 * 16384, 4) * 4.0
    y = rng.random(len(X)) < 1 / (1 + np.exp(X[:, 1] - X[:, 0]))
    weights = rng.uniform(0.2, 3.0, len(X)) if weighted else None
    point, found = np.array([0.0, 1.3, -0.7, 0.4, 0.2]), []
    for factor in (1.0, scale):
        data = TrainingData(X * factor, y, weights)
        coefficients = CoefficientSet(
            data.feature_names, -3, 3, intercept_lower=0, intercept_upper=0
        )
        problem = RiskScoreProblem(data, coefficients, scale=factor, l0_penalty=1e-3)
        rounded = sequential_rounding(problem, point)
        polished = discrete_coordinate_descent(problem, [0, 3, 0, 0, -2], swaps=True)
        found.append(
            [
                (*one.coefficients, one.objective, one.n_iterations, one.n_evaluations)
                for one in (rounded, polished)
            ]
        )
    assert found[0] == found[1]
    assert found[0][1][-2] > 0


# ---- several scales -------------------------------------------------------------------------

SETS = [(0.3, 12.0), [0.5, 1.7, 8.0]]


@pytest.mark.parametrize("scales", SETS)
@pytest.mark.parametrize("swaps", [False, True])
def test_descent_with_free_scale(scales, swaps):
    moved = better = 0
    for seed in range(20):
        problem, rng = make_problem(
            seed, KINDS[seed % 5], weighted=seed % 2 == 0, reach=2, scale=scales,
            ridge=seed % 4 > 1,
        )  # fmt: skip
        start = random_start(problem, rng)
        kept = start.copy()
        result = discrete_coordinate_descent(problem, start, swaps=swaps)
        np.testing.assert_array_equal(start, kept)
        moved += problem.best_scale(start) != problem.best_scale(result.coefficients)
        assert problem.is_feasible(result.coefficients)
        assert result.objective == problem.objective(result.coefficients)
        assert result.objective <= problem.objective(start)
        final = problem.at_scale(problem.best_scale(result.coefficients))
        for other in neighbours(final, result.coefficients):
            assert final.objective(other) >= result.objective * (1 - 1e-12)
        if swaps:
            for other in literal_swaps(final, result.coefficients):
                assert final.objective(other) >= result.objective * (1 - 1e-12)
        fixed = discrete_coordinate_descent(
            problem.at_scale(problem.best_scale(start)), start, swaps=swaps
        )
        assert result.objective <= fixed.objective * (1 + 1e-12)
        better += result.objective < fixed.objective * (1 - 1e-6)
    assert moved > 2
    assert better > 2


def test_free_scale_goes_on_after_the_first_descent():
    """The descent at the start's best scale ends, at the new vector's best scale it goes on."""
    further = 0
    for seed in range(40):
        problem, rng = make_problem(seed, KINDS[seed % 5], reach=2, scale=(0.3, 12.0))
        start = random_start(problem, rng)
        first = discrete_coordinate_descent(problem.at_scale(problem.best_scale(start)), start)
        result = discrete_coordinate_descent(problem, start)
        further += (result.coefficients != first.coefficients).any()
        assert result.n_iterations >= first.n_iterations
        for most in range(result.n_iterations + 2):
            limited = discrete_coordinate_descent(problem, start, max_iterations=most)
            assert limited.n_iterations == min(most, result.n_iterations)
            ended = limited.n_iterations < most
            assert limited.reason == (
                "no move improves the objective" if ended else "iteration limit"
            )
            assert result.objective <= limited.objective <= problem.objective(start)
    assert further > 5


def test_free_scale_looks_for_each_best_scale_once(monkeypatch):
    """Of many rows it takes a while, that of the result after Ctrl-C, too."""
    real, asked = LogisticLoss.best_scale, []

    def best_scale(loss, coef, **options):
        if not loss.scales.is_single:  # where there is one, it is that
            asked.append((seed, *coef))
        return real(loss, coef, **options)

    for seed in range(20):
        problem, rng = make_problem(seed, KINDS[seed % 5], reach=2, scale=(0.3, 12.0))
        start = random_start(problem, rng)
        with monkeypatch.context() as patch:
            patch.setattr(LogisticLoss, "best_scale", best_scale)
            result = discrete_coordinate_descent(problem, start)
        assert result.objective == problem.objective(result.coefficients)
    assert len(set(asked)) == len(asked) >= 20


@pytest.mark.parametrize("scales", SETS)
def test_rounding_with_free_scale(scales):
    for seed in range(20):
        problem, rng = make_problem(
            seed, KINDS[seed % 5], weighted=seed % 2 == 0, max_size=None, reach=2, scale=scales,
            ridge=seed % 4 > 1,
        )  # fmt: skip
        point = rng.uniform(problem.lower, problem.upper)
        result = sequential_rounding(problem, point)
        at = problem.at_scale(problem.loss.scale)
        np.testing.assert_array_equal(result.coefficients, exhaustive_rounding(at, point))
        assert result.objective == problem.objective(result.coefficients)
        assert result.objective <= at.objective(result.coefficients)
        other = sequential_rounding(problem.at_scale(8.0), point)
        expected = exhaustive_rounding(problem.at_scale(8.0), point)
        np.testing.assert_array_equal(other.coefficients, expected)


@pytest.mark.parametrize("scales", [1.7, *SETS])
def test_work_at_several_scales_is_counted(scales):
    problem, rng = make_problem(9, "integer", max_size=None, reach=2, scale=scales)
    for heuristic, vector in (
        (discrete_coordinate_descent, np.zeros(len(problem.lower))),
        (sequential_rounding, rng.uniform(problem.lower, problem.upper)),
    ):
        before, seconds = problem.loss.n_evaluations, problem.loss.seconds
        result = heuristic(problem, vector)
        counted = problem.loss.n_evaluations - before
        assert result.n_evaluations > 2
        objective = problem.loss.n_evaluations
        problem.objective(result.coefficients)
        again = problem.loss.n_evaluations - objective
        if heuristic is discrete_coordinate_descent and not problem.scales.is_single:
            again = 0  # it is known from the last descent
        assert counted == result.n_evaluations + again
        assert problem.loss.seconds > seconds


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", ["integer", "real"])
def test_a_swap_at_a_scale_that_moves_the_intercept(kind, scale):
    rng = np.random.default_rng(2)
    X = rng.normal([3, -3], 1, (200, 2))
    X = np.rint(2 * X) if kind == "integer" else X
    y = rng.random(200) < 1 / (1 + np.exp(-4 * (X[:, 1] - X[:, 1].mean())))
    data = TrainingData(X, y)
    reach = 4 * max(1, round(scale))
    coefficients = CoefficientSet(
        data.feature_names, -reach, reach, intercept_lower=-20 * reach, intercept_upper=20 * reach
    )
    problem = RiskScoreProblem(
        data, coefficients, scale=scale, max_size=1, min_size=1, l0_penalty=1e-8
    )
    start = discrete_coordinate_descent(problem, [0, 1, 0]).coefficients
    assert start[1] != 0
    swapped = discrete_coordinate_descent(problem, start, swaps=True, max_iterations=1)
    (expected,) = literal_swaps(problem, start)
    assert expected[0] != start[0]
    np.testing.assert_array_equal(swapped.coefficients, expected)


def test_quick_losses_at_a_scale_are_not_given_up_too_early():
    """The rows of the best step come first, its likely rival looks better by derivatives."""
    scale, n = 0.3, 8 * 16384
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (n, 2))
    X[n // 2 :, 0] = 0.0
    X[:, 1] *= 6.0
    point = np.array([0.0, 0.1, 0.1])
    y = rng.random(n) < 1 / (1 + np.exp(-X @ point[1:] / scale))
    data = TrainingData(X, y)

    def problem_with(prices):
        coefficients = CoefficientSet(
            data.feature_names, -2, 2, intercept_lower=0, intercept_upper=0, l0_penalty=prices
        )
        return RiskScoreProblem(
            data, coefficients, scale=scale, compress=False, min_size=1, max_size=1
        )

    loss = problem_with(1e-6).loss
    without = [loss.value(point * (np.arange(3) != j)) - loss.value(point) for j in (1, 2)]
    problem = problem_with([0.0, without[1] - 1.1 * without[0]])
    _, gradient = loss.value_and_gradient(point)
    step, curvature = -point[1:], np.diag(loss.hessian(point))[1:]
    likely = gradient[1:] * step + 0.5 * curvature * step**2 - problem.l0_penalty
    assert likely[1] < likely[0]
    assert without[0] < without[1] - problem.l0_penalty[1]
    np.testing.assert_array_equal(sequential_rounding(problem, point).coefficients, [0, 0, 1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_flag_ends_the_descent(kind):
    moves = 0
    for seed in range(5):
        problem, _ = make_problem(seed, kind, max_size=2)
        start = np.zeros(problem.n_features + 1, int)
        stopped = discrete_coordinate_descent(problem, start, swaps=True, stop=np.ones(1, np.int64))
        assert stopped.reason == "stopped"
        assert not stopped.coefficients.any()
        # Within the compiled descent: not one move is made once the flag is set.
        arguments = problem.lower, problem.upper, np.ones(len(start), np.uint8), False, True, 10
        for flag in (1, 0):
            vector, n_moves, _ = heuristics._compiled_descent(
                problem, start.copy(), *arguments, np.full(1, flag)
            )
            assert (n_moves > 0) == bool(vector.any())
            if flag:
                assert n_moves == 0
            moves += n_moves
    assert moves > 0
