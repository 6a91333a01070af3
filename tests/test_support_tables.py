"""Tables of supports: the kernel against plain NumPy, the search against enumeration."""

from __future__ import annotations

import dataclasses
import itertools
import math
import warnings

import numpy as np
import pytest
from enumeration import (
    enumerate_optimum,
    enumerate_over_scales,
    enumerate_ranked,
    random_constrained_problem,
    random_problem,
    violations,
)
from test_branch_and_bound_enumeration import (
    EQUAL,
    REQUESTS,
    pool_faults,
    strict_faults,
    twin_problem,
    variant,
)
from test_enumeration import constrained_faults, report

from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    LogisticLoss,
    RiskScoreProblem,
    Status,
    TrainingData,
    at_most,
    branch_and_bound,
)
from riskslim._kernels import load
from riskslim.engines.branch_and_bound import search
from riskslim.engines.branch_and_bound.packed import PackedItems, binary_features
from riskslim.engines.branch_and_bound.tables import (
    SupportTables,
    count_supports,
    predicted_seconds,
    saturated_losses,
)

BACKENDS = {name: load(name)["tables"] for name in ("cython", "numba")}


# ---------------------------------------------------------------------------------------------
# The kernel and the packed rows
# ---------------------------------------------------------------------------------------------


def sample(rng, n, d, kind):
    X = (rng.random((n, d)) < rng.uniform(0.05, 0.95, d)).astype(float)
    X[0], X[-1] = 1, 0
    y = np.where(rng.random(n) < 0.15 + 0.7 * X[:, 0], 1, -1)
    y[0], y[-1] = 1, -1
    weights = {
        "none": None,
        "counts": rng.integers(1, 9, n).astype(float),
        "classes": np.where(y > 0, 3.7, 1.1),
        "real": rng.uniform(0.05, 4.0, n),
    }[kind]
    return X, y, weights


def packed_items(X, y, weights):
    data = TrainingData(X, y, weights, feature_names=[f"x{j}" for j in range(X.shape[1])])
    loss = LogisticLoss(data, CoefficientSet(data.feature_names, -5, 5))
    return PackedItems.of(loss, np.arange(X.shape[1]))


def scan(kernels, packed, *, prefix=(), first=0, sizes=(0, 3), cutoff=math.inf, level=3, box=5.0,
         price=1e-3, apart=None, stop=0, room=100_000):  # fmt: skip
    """All arguments of a scan, most of them by default."""
    m, (least, most) = len(packed.features), sizes
    high = np.full(m + 1, box)
    high[0] = 20 * box
    n_words, n_integers, n_floats = kernels.room(
        packed.words.shape[0], packed.n_words, len(packed.bits), int(packed.bits.sum()), most,
        len(prefix),
    )  # fmt: skip
    found, bound = np.empty((room, max(most, 1)), np.int64), np.empty(room)
    counted = np.zeros(4, np.int64)
    n = kernels.scan(
        packed.words, packed.bits, packed.labels, packed.shifts, packed.unit, packed.value, -high,
        high, 1.0, 1.0, np.full(m, price), np.zeros((m, m), np.uint8) if apart is None else apart,
        np.array(prefix, np.int64), first, least, most, cutoff, level, np.array([stop]), found,
        bound, counted, np.empty(n_words, np.uint64), np.empty(n_integers, np.int32),
        np.empty(n_floats, np.float32),
    )  # fmt: skip
    supports = [tuple(int(j) for j in row if j >= 0) for row in found[: max(n, 0), :most]]
    return n, dict(zip(supports, bound[: max(n, 0)], strict=True)), counted


def cells(X, y, weights, support):
    """Weights of both classes in each cell, naively."""
    weights = np.ones(len(y)) if weights is None else weights
    weights = weights / weights.sum()
    code = X[:, list(support)].astype(int) @ (1 << np.arange(len(support)))
    size = 1 << len(support)
    return (
        np.bincount(code, weights * (y > 0), minlength=size),
        np.bincount(code, weights * (y < 0), minlength=size),
    )


def saturated(positive, negative):
    both = (positive > 0) & (negative > 0)
    p, n = positive[both], negative[both]
    return float((p * np.log1p(n / p) + n * np.log1p(p / n)).sum())


def convex_loss(X, y, weights, support, box):
    """Least loss over real points, by many steps of bounded quasi-Newton from SciPy."""
    from scipy.optimize import minimize

    weights = np.ones(len(y)) if weights is None else weights
    weights = weights / weights.sum()
    Z = np.column_stack((np.ones(len(y)), X[:, list(support)]))

    def value(z):
        margins = y * (Z @ z)
        slopes = -weights * y / (1 + np.exp(margins))
        return weights @ np.logaddexp(0, -margins), Z.T @ slopes

    bounds = [(-20 * box, 20 * box)] + [(-box, box)] * len(support)
    found = minimize(
        value, np.zeros(Z.shape[1]), jac=True, bounds=bounds, method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 2000},
    )  # fmt: skip
    return found.fun


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["none", "counts", "classes", "real"])
@pytest.mark.parametrize(("n", "d"), [(3, 2), (40, 9), (300, 17)])
def test_supports_and_their_bounds_are_those_of_naive_counts(backend, kind, n, d):
    rng = np.random.default_rng([n, d])
    X, y, weights = sample(rng, n, d, kind)
    packed = packed_items(X, y, weights)
    _, found, counted = scan(BACKENDS[backend], packed, sizes=(0, 3))
    everything = [s for k in range(4) for s in itertools.combinations(range(d), k)]
    assert sorted(found) == sorted(everything)
    assert counted[0] == len(everything)
    for support in everything[:: max(1, len(everything) // 60)]:
        bound = found[support] - 1e-3 * len(support)
        least = convex_loss(X, y, weights, support, 5.0)
        assert bound <= least + 1e-9, support
        # Real weights are rounded down to multiples of 1/4096 of their mean.
        assert bound >= saturated(*cells(X, y, weights, support)) * (1 - 2e-3) - 1e-9, support
        assert bound >= least - (1e-3 if kind == "real" else 1e-5), support


@pytest.mark.parametrize("kind", ["none", "counts", "real"])
def test_what_a_cutoff_excludes_is_excluded_rightly(kind):
    """Every support with an integer vector below the cutoff is found."""
    for seed in range(12):
        rng = np.random.default_rng([seed, 5])
        X, y, weights = sample(rng, int(rng.integers(5, 120)), 6, kind)
        packed = packed_items(X, y, weights)
        best = {}
        for support in (s for k in range(4) for s in itertools.combinations(range(6), k)):
            p, n = cells(X, y, weights, support)
            bits = np.arange(len(p))[:, None] >> np.arange(len(support)) & 1
            grid = [v for v in itertools.product(range(-2, 3), repeat=len(support)) if all(v)]
            scores = np.array(grid).reshape(len(grid), len(support)) @ bits.T
            scores = scores[:, None] + np.arange(-40, 41)[None, :, None]
            losses = np.logaddexp(0, -scores) @ p + np.logaddexp(0, scores) @ n
            best[support] = losses.min() + 1e-3 * len(support)
        ranked = sorted(best.values())
        for cutoff in (ranked[0], ranked[3] + 1e-9, ranked[20]):
            results = [scan(k, packed, cutoff=cutoff, box=2.0) for k in BACKENDS.values()]
            _, found, _ = results[0]
            assert results[0][1] == results[1][1]
            assert {s for s, value in best.items() if value < cutoff - 1e-12} <= set(found)
            assert all(found[s] <= best[s] + 1e-12 for s in found)


def test_ways_of_counting_agree():
    rng = np.random.default_rng(0)
    packed = packed_items(*sample(rng, 2100, 20, "counts"))
    kernels = BACKENDS["cython"]
    results = [scan(kernels, packed, sizes=(0, 4), cutoff=0.58, level=k) for k in range(4)]
    assert results[0][0] > 0
    for other in (*results[1:], scan(BACKENDS["numba"], packed, sizes=(0, 4), cutoff=0.58)):
        assert other[1] == results[0][1]
        np.testing.assert_array_equal(other[2], results[0][2])


@pytest.mark.parametrize("backend", BACKENDS)
def test_prefixes_sizes_and_items_that_are_apart(backend):
    rng = np.random.default_rng(1)
    packed = packed_items(*sample(rng, 90, 7, "none"))
    apart = np.zeros((7, 7), np.uint8)
    apart[0, 3] = apart[3, 0] = apart[5, 6] = apart[6, 5] = 1
    for prefix, first, sizes in (
        ((), 0, (2, 4)), ((0,), 1, (1, 4)), ((0, 2), 4, (0, 2)), ((1, 4), 5, (3, 3)),
        ((1, 2, 3), 4, (0, 4)), ((), 2, (0, 1)),
    ):  # fmt: skip
        _, found, _ = scan(
            BACKENDS[backend], packed, prefix=prefix, first=first, sizes=sizes, apart=apart
        )
        expected = [
            (*prefix, *more)
            for k in range(5)
            for more in itertools.combinations(range(first, 7), k)
            if sizes[0] <= len(prefix) + k <= sizes[1]
        ]
        expected = [s for s in expected if not {0, 3} <= set(s) and not {5, 6} <= set(s)]
        assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_scan_can_be_stopped_and_can_be_full(backend):
    kernels = BACKENDS[backend]
    packed = packed_items(*sample(np.random.default_rng(2), 50, 9, "none"))
    assert scan(kernels, packed, stop=1)[0] == kernels.STOPPED
    assert scan(kernels, packed, room=10)[0] == kernels.FULL


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_saturated_loss_is_below_the_exact_one(backend):
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(3)
    with mpmath.workdps(50):
        for trial in range(60):
            n = int(rng.integers(1, 65))
            positive = np.floor(10.0 ** rng.uniform(0, 8, n))
            negative = np.floor(10.0 ** rng.uniform(0, 8 if trial % 2 else 1, n))
            negative[rng.random(n) < 0.2] = 0
            if trial % 3 == 0:
                positive, negative = positive / 1e8 / n, negative / 1e8 / n
            exact = mpmath.mpf(0)
            for p, m in zip(map(mpmath.mpf, positive), map(mpmath.mpf, negative), strict=True):
                if p and m:
                    exact += p * mpmath.log1p(m / p) + m * mpmath.log1p(p / m)
            ours = BACKENDS[backend].saturated(positive, negative)
            assert ours <= exact
            assert ours >= exact * (1 - mpmath.mpf(10) ** -13)


def test_the_first_test_is_below_the_exact_loss():
    """Single precision and a polynomial: with its stated error it excludes nothing wrongly."""
    for seed in range(30):
        rng = np.random.default_rng([seed, 8])
        X, y, _ = sample(rng, int(rng.integers(20, 3000)), 8, "none")
        exact = {
            s: saturated(*cells(X, y, None, s))
            for k in range(5) for s in itertools.combinations(range(8), k)
        }  # fmt: skip
        cutoff = float(np.quantile(list(exact.values()), rng.random()))
        _, _, counted = scan(
            BACKENDS["cython"], packed_items(X, y, None), sizes=(0, 4), cutoff=cutoff, price=0.0
        )
        below = sum(value < cutoff - 1e-12 for value in exact.values())
        assert counted[1] >= counted[2] >= below
        assert counted[2] <= sum(value < cutoff + 1e-12 for value in exact.values())


def test_packed_rows_have_the_weights_of_the_rows():
    for seed in range(20):
        rng = np.random.default_rng([seed, 4])
        kind = ("none", "counts", "classes", "real")[seed % 4]
        X, y, weights = sample(rng, int(rng.integers(2, 200)), 11, kind)
        packed = packed_items(X, y, weights)
        total = packed.unit[packed.labels] * 2.0**packed.shifts @ packed.bits
        assert 1 - (2e-3 if kind == "real" else 1e-12) <= total <= 1
        expected = [saturated(*cells(X, y, weights, (j,))) for j in range(11)]
        np.testing.assert_allclose(saturated_losses(packed), expected, rtol=2e-3, atol=1e-12)


def test_columns_of_two_values_are_items():
    X = np.array([[0, 1, -1, 0.5, 0, 7], [1, 2, 1, 2.5, 1, 7], [1, 1, 1, 0.5, 2, 7]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = TrainingData(X, [0, 1, 0], feature_names=list("abcdef"))
        loss = LogisticLoss(data, CoefficientSet(data.feature_names, -5, 5))
    np.testing.assert_array_equal(binary_features(loss), [True] * 4 + [False] * 2)


def test_predictions_grow_with_the_work():
    assert count_supports(30, 5) == sum(math.comb(30, k) for k in range(6))
    sizes = [predicted_seconds(n, 0, 5, 100, 2) for n in (10, 50, 100)]
    assert sizes == sorted(sizes)
    assert predicted_seconds(50, 0, 5, 100, 2) < predicted_seconds(50, 0, 5, 1000, 2)


# ---------------------------------------------------------------------------------------------
# The search
# ---------------------------------------------------------------------------------------------


def binary(small, rng):
    """The same problem with columns of two values."""
    low, high = (0.0, 1.0) if rng.random() < 0.8 else (-1.0, 2.0)
    small.X = np.where(small.X - np.median(small.X, axis=0) > 0, high, low)
    for j in np.flatnonzero(np.ptp(small.X, axis=0) == 0):
        small.X[0, j] = low + high - small.X[0, j]
    return small


def drawn(seed, max_slopes=2000):
    rng = np.random.default_rng([seed, 99])
    if seed % 3 == 0:
        return binary(random_problem(rng, max_slopes), rng)
    if seed % 3 == 1:
        return binary(random_constrained_problem(rng, max_slopes), rng)
    small = twin_problem(seed)
    return binary(small, rng) if seed % 2 else small


MODES = ("always", "nodes", "auto")


def with_tables(seed, mode):
    return dataclasses.replace(variant(seed), tables=mode)


@pytest.mark.parametrize("first_seed", range(0, 240, 60))
def test_the_enumerated_optimum_is_found(first_seed):
    failures, completed = [], 0
    for seed in range(first_seed, first_seed + 60):
        small = drawn(seed)
        best, problem = enumerate_optimum(small), small.build()
        for mode in MODES:
            solution = branch_and_bound(problem, settings=with_tables(seed, mode))
            wrong = constrained_faults(small, best, problem, solution)
            wrong += strict_faults(best, solution)
            completed += solution.statistics.table_nodes
            if wrong:
                failures.append(report(seed, mode, wrong))
    assert not failures, "\n".join(failures)
    assert completed > 20


@pytest.mark.parametrize("first_seed", range(0, 90, 45))
def test_lists_of_the_best_scores(first_seed):
    failures = []
    for seed in range(first_seed, first_seed + 45):
        small = drawn(seed, 150)
        small.intercept = (-3, 3)
        problem = small.build()
        n_solutions, within = REQUESTS[seed % len(REQUESTS)]
        solution = branch_and_bound(
            problem, n_solutions=n_solutions, within=within,
            settings=with_tables(seed, ("always", "nodes")[seed // 9 % 2]),
        )  # fmt: skip
        if wrong := pool_faults(small, problem, solution, n_solutions, within):
            failures.append(report(seed, (n_solutions, within), wrong))
    assert not failures, "\n".join(failures)


SCALES = ([0.7, 1.0, 2.5], (0.5, 3.0), 2.0, (1.0, 8.0))


@pytest.mark.parametrize("first_seed", range(0, 60, 30))
def test_scales(first_seed):
    failures = []
    for seed in range(first_seed, first_seed + 30):
        rng = np.random.default_rng([seed, 31])
        small = binary(random_problem(rng, 300), rng)
        small.scale, small.intercept = SCALES[seed % 4], (-6, 6)
        _, values = enumerate_over_scales(small)
        best, problem = values.min(initial=math.inf), small.build()
        for mode in ("always", "nodes"):
            certificate = branch_and_bound(problem, settings=with_tables(seed, mode)).certificate
            if certificate.status is Status.INFEASIBLE:
                continue
            within = best * 1e-5 if problem.scales.is_interval else 0.0
            if not best - EQUAL <= certificate.objective <= best + within + EQUAL:
                failures.append((seed, mode, certificate.objective, best))
            if certificate.lower_bound > best + EQUAL:
                failures.append((seed, mode, certificate.lower_bound, best))
    assert not failures, failures


@pytest.fixture
def small_steps(monkeypatch):
    """Tables of a few supports at a time, so that a run can be cut off between them."""
    from riskslim.engines.branch_and_bound import stage, tables

    for module in (stage, tables):
        monkeypatch.setattr(module, "TASK_SECONDS", 1e-7)
    monkeypatch.setattr(search, "LONG_SECONDS", 0.0)


def cut_off_after(n_checks):
    """An end of the run at one of the times that it looks at its flag."""
    left = [n_checks]

    def advanced(self, stage, pool, original=search.Search._advance):
        left[0] -= 1
        if left[0] < 0:
            self.stop[0] = 1
        original(self, stage, pool)

    return advanced


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("n_steps", [0, 1, 2])
def test_a_run_that_is_cut_off_has_a_valid_bound(monkeypatch, n_steps):
    cut_off = 0
    for seed in range(60):
        small = drawn(seed)
        best, problem = enumerate_optimum(small), small.build()
        if not best.feasible:
            continue
        with monkeypatch.context() as patch:
            patch.setattr(search.Search, "_advance", cut_off_after(n_steps))
            settings = BranchAndBoundSettings(tables="always", batch_size=2, swaps=False)
            solution = branch_and_bound(problem, settings=settings)
        if solution.coef is None:
            continue
        cut_off += solution.certificate.status is Status.FEASIBLE
        assert not violations(small, solution.coef), seed
        assert np.all(solution.trace["lower_bound"] <= best.objective + EQUAL), seed
        assert solution.certificate.lower_bound <= best.objective + EQUAL, seed
        assert np.all(np.diff(solution.trace["lower_bound"]) >= 0), seed
    assert cut_off > 0


@pytest.mark.usefixtures("small_steps")
def test_steps_end_where_the_whole_does():
    for seed in range(45):
        small = drawn(seed)
        best, problem = enumerate_optimum(small), small.build()
        solution = branch_and_bound(problem, settings=with_tables(seed, "always"))
        wrong = constrained_faults(small, best, problem, solution) + strict_faults(best, solution)
        assert not wrong, report(seed, "always", wrong)


@pytest.mark.usefixtures("small_steps")
def test_too_many_supports_are_left_to_relaxations(monkeypatch):
    from riskslim.engines.branch_and_bound import tables

    monkeypatch.setattr(tables, "MOST_FOUND", 1)
    for seed in range(30):
        small = drawn(seed)
        best, problem = enumerate_optimum(small), small.build()
        solution = branch_and_bound(problem, settings=with_tables(seed, "always"))
        wrong = constrained_faults(small, best, problem, solution) + strict_faults(best, solution)
        assert not wrong, report(seed, "always", wrong)


def items_problem(rng, n=600, d=24, **options):
    X, y, _ = sample(rng, n, d, "none")
    y = np.where(rng.random(n) < 1 / (1 + np.exp(1.5 - 2 * X[:, 1] + X[:, 2] - X[:, 3])), 1, -1)
    data = TrainingData(X, y, feature_names=[f"x{j}" for j in range(d)])
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    return RiskScoreProblem(
        LogisticLoss(data, coefficients), coefficients, max_size=4, **options
    )  # fmt: skip


def test_threads_change_nothing_but_the_time(monkeypatch):
    from riskslim.engines.branch_and_bound import stage, tables

    for module in (stage, tables):
        monkeypatch.setattr(module, "TASK_SECONDS", 1e-5)
    monkeypatch.setattr(search, "LONG_SECONDS", 0.0)
    settings = BranchAndBoundSettings(tables="always", batch_size=4)
    one, three = (
        branch_and_bound(items_problem(np.random.default_rng(5)), n_threads=n, settings=settings)
        for n in (1, 3)
    )
    assert one.certificate == three.certificate
    assert one.certificate.status is Status.OPTIMAL
    np.testing.assert_array_equal(one.coef, three.coef)
    for name in ("nodes", "table_nodes", "table_supports", "table_saturated", "table_left"):
        assert getattr(one.statistics, name) == getattr(three.statistics, name)
    np.testing.assert_array_equal(one.trace["lower_bound"], three.trace["lower_bound"])


def test_settings_choose_the_way_and_not_the_result():
    problem = items_problem(np.random.default_rng(6))
    solutions = {
        mode: branch_and_bound(problem, settings=BranchAndBoundSettings(tables=mode))
        for mode in (*MODES, "never")
    }
    objectives = {s.certificate.objective for s in solutions.values()}
    assert max(objectives) - min(objectives) <= EQUAL
    assert all(s.certificate.status is Status.OPTIMAL for s in solutions.values())
    assert solutions["never"].statistics.table_supports == 0
    always = solutions["always"].statistics
    assert always.table_nodes >= 1
    # Supports whose size is permitted, but for those of a root that lost items before.
    assert 0 < always.table_supports <= count_supports(24, 4)
    assert always.table_left <= always.table_saturated <= always.table_supports


def test_items_that_exclude_each_other_are_not_counted():
    rng = np.random.default_rng(7)
    free = items_problem(rng)
    rng = np.random.default_rng(7)
    group = at_most(1, [f"x{j}" for j in range(12)])
    bound = items_problem(rng, constraints=[group])
    settings = BranchAndBoundSettings(tables="always")
    both = [branch_and_bound(problem, settings=settings) for problem in (free, bound)]
    assert both[1].statistics.table_supports < both[0].statistics.table_supports / 2
    assert both[1].certificate.status is Status.OPTIMAL
    alone = branch_and_bound(bound, settings=BranchAndBoundSettings(tables="never"))
    assert both[1].certificate.objective == pytest.approx(alone.certificate.objective, abs=EQUAL)


def test_features_of_many_values_are_left_to_relaxations():
    rng = np.random.default_rng(8)
    X = np.column_stack((rng.integers(0, 2, (80, 3)), rng.integers(0, 9, 80)))
    y = np.where(rng.random(80) < 0.3 + 0.05 * X[:, 3], 1, -1)
    data = TrainingData(X, y, feature_names=list("abcd"))
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    problem = RiskScoreProblem(LogisticLoss(data, coefficients), coefficients, max_size=3)
    tables = SupportTables(problem)
    box = np.array([problem.lower, problem.upper], float)
    assert not tables.can_complete(box)
    box[:, 4] = 0.0
    assert tables.can_complete(box)
    solution = branch_and_bound(problem, settings=BranchAndBoundSettings(tables="always"))
    assert solution.certificate.status is Status.OPTIMAL


@pytest.mark.parametrize(("name", "value"), [("tables", "sometimes"), ("table_cost", 0.0)])
def test_settings_are_checked(name, value):
    with pytest.raises(ValueError, match=name):
        BranchAndBoundSettings(**{name: value})


def test_ranked_lists_of_items():
    """A list from tables is that of the enumeration."""
    rng = np.random.default_rng(9)
    small = binary(random_problem(rng, 200), rng)
    small.intercept = (-4, 4)
    problem = small.build()
    _, objectives = enumerate_ranked(small, int(problem.lower[0]), int(problem.upper[0]))
    settings = BranchAndBoundSettings(tables="always")
    pool = branch_and_bound(problem, n_solutions=10, settings=settings).pool
    np.testing.assert_allclose(pool.objectives, objectives[:10], atol=EQUAL)
