"""Search of supports with columns of many values: steps by hand, and what the search finds."""

from __future__ import annotations

import numpy as np
import pytest

from enumeration import SmallProblem, enumerate_optimum
from riskslim import (
    CoefficientSet,
    RiskScoreProblem,
    TrainingData,
    at_most,
    branch_and_bound,
    discrete_coordinate_descent,
)
from riskslim._kernels import BACKENDS, load
from riskslim.engines.branch_and_bound import incumbents
from riskslim.heuristics import descent, mixed
from riskslim.heuristics.descent import best_line_steps
from riskslim.heuristics.mixed import MixedSearch, predicted_gains
from searches import least_objective

GOING = np.zeros(1, np.int64)


def make_data(seed, n=400, d=8, *, kind="mixed", weights=False):
    """Real columns with long tails, integers of many values, and items."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, d))
    for j in range(d):
        if kind == "integers" or j % 3 == 0:
            X[:, j] = rng.integers(-2, 12, n)
        elif j % 3 == 1:
            X[:, j] = np.exp(rng.normal(-1, 1.5, n))
        else:
            X[:, j] = rng.random(n) < 0.4
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    y = rng.random(n) < 1 / (1 + np.exp(0.5 - z @ rng.normal(0, 0.8, d)))
    y[:2] = False, True
    return TrainingData(X, y, rng.choice([0.5, 1.0, 3.0], n) if weights else None)


def make_problem(data, reach=5, *, scale=1.0, coefficients=None, **options):
    options = {"max_size": 3, "l0_penalty": 1e-4, **options}
    coefficients = coefficients or CoefficientSet(data.feature_names, -reach, reach)
    return RiskScoreProblem(data, coefficients, scale=scale, **options)


# ---- the step of every feature ------------------------------------------------------------------


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("kind", ["mixed", "integers"])
@pytest.mark.parametrize("weights", [False, True])
def test_no_other_value_or_intercept_is_better(kind, weights):
    data = make_data(1, n=150, d=5, kind=kind, weights=weights)
    coefficients = CoefficientSet(
        data.feature_names, -3, 3, sign=[0, 0, 1, 0, -1], intercept_lower=-8, intercept_upper=8
    )
    ridge = [0.01, 0, 0.01, 0.2, 0.001] if weights else 0.0
    problem = make_problem(data, coefficients=coefficients, l2_penalty=ridge)
    vector = np.array([1, -1, 0, 0, 0, 0])
    before = vector.copy()
    steps = best_line_steps(problem, vector, problem.usable, GOING)
    assert (vector == before).all()
    assert np.isinf(steps.objective[:2]).all()  # the intercept, and what is used
    for j in range(2, 6):
        value, intercept = int(steps.value[j]), int(steps.intercept[j])
        assert value != 0
        found = vector.copy()
        found[0], found[j] = intercept, value
        assert steps.objective[j] == pytest.approx(problem.objective(found), rel=1e-12)
        assert problem.is_feasible(found)
        for other in range(-8, 9):
            moved = found.copy()
            moved[0] = other
            assert problem.objective(moved) >= steps.objective[j] * (1 - 1e-12)
        # The start is one turn: the best value with the intercept that was there.
        for other in range(int(problem.lower[j]), int(problem.upper[j]) + 1):
            if other:
                moved = vector.copy()
                moved[j] = other
                assert problem.objective(moved) >= steps.objective[j] * (1 - 1e-12)


def steps_of(kind, n_threads=1):
    data = make_data(2, n=40_000 if kind == "mixed" else 500, d=6, kind=kind)
    problem = make_problem(data)
    problem.loss.n_threads = n_threads
    steps = best_line_steps(problem, np.array([-1, 1, 0, 0, 0, 0, 0]), problem.usable, GOING)
    found = steps.value.tolist(), steps.intercept.tolist(), steps.n_evaluations
    return found, steps.objective


@pytest.mark.parametrize("kind", ["mixed", "integers"])
def test_threads_find_the_same_steps(kind):
    one, two = steps_of(kind), steps_of(kind, n_threads=2)
    assert one[0] == two[0]
    np.testing.assert_array_equal(one[1], two[1])


@pytest.mark.numba
@pytest.mark.parametrize("kind", ["mixed", "integers"])
def test_backends_find_the_same_steps(monkeypatch, kind):
    expected = steps_of(kind)
    monkeypatch.setattr(descent, "kernels", load("numba")["heuristics"])
    found = steps_of(kind)
    assert found[0] == expected[0]
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-13)


def test_no_steps_after_a_stop():
    problem = make_problem(make_data(3))
    stopped = np.ones(1, np.int64)
    steps = best_line_steps(problem, np.zeros(9, np.int64), problem.usable, stopped)
    assert np.isinf(steps.objective).all()
    assert steps.n_evaluations == 0


# ---- the search ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "weights", "scale"),
    [  # every two of them together
        (("mixed", "integers")[(weights + k) % 2], weights, scale)
        for weights in (False, True)
        for k, scale in enumerate([1.0, 2.5, [1.0, 2.0, 4.0], (0.5, 12.0)])
    ],
)
def test_what_is_found_is_feasible_and_better_and_better(kind, weights, scale):
    data, ridge = make_data(7, n=200, kind=kind, weights=weights), 0.01 * weights
    problem = make_problem(data, scale=scale, l2_penalty=ridge)
    search = MixedSearch.of(problem)
    objectives = []
    for vector in search.run():
        assert problem.is_feasible(vector)
        assert search.objective == pytest.approx(problem.objective(vector), rel=1e-14)
        objectives.append(search.objective)
    assert objectives == sorted(objectives, reverse=True)
    alone = discrete_coordinate_descent(problem, np.zeros(9, int), swaps=True)
    assert search.objective <= alone.objective + 1e-12


@pytest.mark.slow
def test_runs_are_the_same_and_threads_change_nothing():
    data = make_data(9, n=17_000, d=7)
    found = []
    for n_threads in (1, 1, 2):
        problem = make_problem(data)
        problem.loss.n_threads = n_threads
        search = MixedSearch.of(problem)
        found.append(([v.tolist() for v in search.run(effort=2)], search.work.seconds))
    assert found[0] == found[1] == found[2]


@pytest.mark.numba
@pytest.mark.parametrize("ridge", [0.0, 0.01])
def test_backends_find_the_same(monkeypatch, ridge):
    data, found = make_data(11, n=300), []
    for backend in BACKENDS:
        monkeypatch.setattr(descent, "kernels", load(backend)["heuristics"])
        problem = make_problem(data, l2_penalty=ridge)
        found.append([v.tolist() for v in MixedSearch.of(problem).run()])
    assert found[0] == found[1]


def test_signs_prices_required_and_fixed_points_are_kept():
    data = make_data(13, d=9)
    names = data.feature_names
    coefficients = CoefficientSet(
        names, -4, 4, sign=[1, -1, *[0] * 7], fixed={names[3]: 2, names[7]: 0},
        l0_penalty=[*[1e-6] * 5, 0.3, *[1e-6] * 3],
    )  # fmt: skip
    problem = make_problem(data, coefficients=coefficients, max_size=5, min_size=3)
    vectors = list(MixedSearch.of(problem).run())
    assert vectors
    for vector in vectors:
        assert problem.is_feasible(vector)
        assert vector[4] == 2
        assert vector[8] == 0
    assert vectors[-1][6] == 0  # not worth its price


def test_constraints_are_met():
    data = make_data(17, d=9)
    names = list(data.feature_names)
    problem = make_problem(data, constraints=[at_most(1, names[:4]), at_most(1, names[4:8])])
    vectors = list(MixedSearch.of(problem).run())
    assert vectors
    assert all(problem.is_feasible(vector) for vector in vectors)
    start = discrete_coordinate_descent(problem, np.zeros(10, int), swaps=True)
    assert problem.objective(vectors[-1]) <= start.objective + 1e-9


@pytest.mark.parametrize("due", [0, 1, 5, 40])
def test_stops_when_asked(due):
    asked = []

    def should_stop():
        asked.append(True)
        return len(asked) > due

    problem = make_problem(make_data(19))
    vectors = list(MixedSearch.of(problem, should_stop=should_stop).run())
    assert all(problem.is_feasible(vector) for vector in vectors)
    assert len(asked) == due + 1


def test_budget_is_counted_in_work():
    problem = make_problem(make_data(23, d=12))
    whole = MixedSearch.of(problem)
    vectors = [v.tolist() for v in whole.run()]
    for share in (0.0, 0.05, 0.5):
        search = MixedSearch.of(problem)
        found = [v.tolist() for v in search.run(budget=share * whole.work.seconds)]
        assert found == vectors[: len(found)]
        assert search.n_steps < whole.n_steps


@pytest.mark.slow
def test_share_of_optima():
    """The optimum, by enumeration, of at least 95 in 100 small problems."""
    hits, total = 0, 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(20, 80)), 5
        X = np.round(np.exp(rng.normal(0, 1, (n, d))), 2)
        X[:, rng.integers(0, d)] = rng.random(n) < 0.5
        y = np.where(rng.random(n) < 1 / (1 + np.exp(1 - X[:, 0] + X[:, 1])), 1, -1)
        y[:2] = -1, 1
        X[0] = X[1] + 1  # no constant column
        small = SmallProblem(
            X=X, y=y, weights=rng.choice([1.0, 2.0], n) if seed % 3 == 0 else None,
            lower=np.full(d, -2), upper=np.full(d, 2), sign=[0] * d, fixed={},
            feature_penalty=np.full(d, np.nan), l0_penalty=1e-3, min_size=0, max_size=3,
            intercept=(None, None), scale=float(rng.choice([1.0, 3.0])),
        )  # fmt: skip
        problem = small.build()
        found = list(MixedSearch.of(problem).run())[-1]
        best = enumerate_optimum(small).objective
        total += 1
        assert problem.objective(found) >= best - 1e-12
        hits += problem.objective(found) <= best + 1e-12
    assert hits >= 0.95 * total, (hits, total)


def test_share_of_optima_with_a_ridge():
    """Two columns are equal: half of the points in either of them cost less than all in one."""
    hits = halves = 0
    for seed in range(16):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(20, 80)), 5
        X = np.round(np.exp(rng.normal(0, 1, (n, d))), 2)
        X[:, 2] = rng.random(n) < 0.5
        X[:, 3] = X[:, 0] = np.minimum(X[:, 0], 3.0)
        y = np.where(rng.random(n) < 1 / (1 + np.exp(1 - 2 * X[:, 0] + X[:, 1])), 1, -1)
        y[:2] = -1, 1
        data = TrainingData(X, y, rng.choice([1.0, 2.0], n) if seed % 3 == 0 else None)
        problem = make_problem(
            data, 2, scale=[1.0, 3.0, [1.0, 2.0]][seed % 3], l0_penalty=1e-3,
            l2_penalty=rng.choice([0.0, 0.01, 0.05], d),
        )  # fmt: skip
        *_, found = MixedSearch.of(problem).run()
        best = least_objective(problem)
        assert problem.objective(found) >= best - 1e-12
        hits += problem.objective(found) <= best + 1e-12
        halves += found[1] != 0 and found[4] != 0
    assert hits >= 15
    assert halves >= 2


# ---- engines ------------------------------------------------------------------------------------


def test_items_and_real_columns_are_searched_together():
    rng = np.random.default_rng(29)
    n = 600
    items = (rng.random((n, 24)) < 0.3).astype(float)
    real = np.exp(rng.normal(-1, 1.2, (n, 8)))
    z = 1.5 * items[:, 3] - 1.2 * items[:, 7] + 2 * np.minimum(real[:, 2], 2) - 1.5
    y = rng.random(n) < 1 / (1 + np.exp(-z))
    data = TrainingData(np.hstack((items, real)), y)
    problem = make_problem(data, max_size=4)
    found = incumbents.Incumbents(
        problem, 1, None, swaps=True, tolerance=1e-10, stop=np.zeros(1, np.int64)
    )
    assert (found.n_items, found.is_mixed) == (24, True)
    found.search_supports(effort=0)
    assert (np.flatnonzero(found.best[1:]) < 24).all()
    found.search_mixed(effort=2)
    used = np.flatnonzero(found.best[1:])
    assert (used < 24).any()
    assert (used >= 24).any()
    solution = branch_and_bound(problem, node_limit=0)
    assert solution.certificate.objective <= found.objective + 1e-12
    assert solution.certificate.lower_bound <= found.objective


def test_columns_of_few_values_alone_are_left_to_the_bits():
    data = TrainingData(
        (np.random.default_rng(0).random((200, 24)) < 0.5).astype(float), np.arange(200) % 2
    )
    found = incumbents.Incumbents(
        make_problem(data), 1, None, swaps=True, tolerance=1e-10, stop=np.zeros(1, np.int64)
    )
    assert (found.n_items, found.is_mixed) == (24, False)


@pytest.mark.parametrize("ridge", [0.0, 300.0])
def test_predicted_gains_are_those_of_a_quadratic_model(ridge):
    """By the loss itself, where steps are small beside the scale."""
    data = make_data(31, n=500, d=7, kind="integers", weights=True)
    coefficients = CoefficientSet(
        data.feature_names, -1, 1, intercept_lower=-2000, intercept_upper=2000
    )
    problem = make_problem(data, coefficients=coefficients, scale=400.0, l2_penalty=ridge)
    vector = np.zeros(8, np.int64)
    vector[1] = 1
    vector[0] = discrete_coordinate_descent(problem, vector, directions=[0]).coefficients[0]
    gain = predicted_gains(problem, vector)
    assert np.isinf(gain[0])
    before = problem.objective(vector)
    for k in range(1, 7):
        best = np.inf
        for value in (-1, 1):
            moved = vector.copy()
            moved[1 + k] = value
            best = min(
                best,
                discrete_coordinate_descent(problem, moved, directions=[0]).objective - before,
            )
        assert gain[k] == pytest.approx(best, abs=2e-6)


def test_a_shortlist_is_taken_of_integers_alone(monkeypatch):
    monkeypatch.setattr(mixed, "SHORTLIST", 2)
    data = make_data(33, d=12)
    problem = make_problem(data)
    search = MixedSearch.of(problem)
    wanted = search._shortlist(problem, np.zeros(13, np.int64))
    assert wanted[1::3].all()  # real columns
    assert wanted.sum() == 4 + 2
    vectors = list(search.run())
    assert problem.is_feasible(vectors[-1])


def test_the_exchange_of_a_start_comes_first():
    problem = make_problem(make_data(35, d=9))
    start = np.zeros(10, np.int64)
    start[[2, 5]] = 1
    search = MixedSearch.of(problem)
    vectors = list(search.run([start], effort=1))
    assert vectors[0].tolist() == start.tolist()
    assert problem.objective(vectors[-1]) < problem.objective(start)
    assert list(MixedSearch.of(problem).run([start], effort=0))[-1].tolist() == start.tolist()
