"""Branch and bound against exhaustive enumeration on small random problems.

Failures name the seed: ``random_problem(np.random.default_rng(seed))`` draws the problem again.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from checked_solutions import (
    EQUAL_NATIVE,
    constrained_faults,
    faults,
    report,
    strict_faults,
    trace_faults,
)
from enumeration import (
    enumerate_optimum,
    enumerate_ranked,
    random_bounded_problem,
    random_constrained_problem,
    random_problem,
    violations,
)
from pools import MORE_THAN_ALL, REQUESTS, intercepts_beyond, pool_faults
from riskslim import BranchAndBoundSettings, Status, branch_and_bound, lattice_cpa
from riskslim.engines.branch_and_bound import search
from riskslim.engines.branch_and_bound.multipliers import priced
from small_problems import (
    CORNERS,
    TIED,
    constrained,
    corner_problem,
    infeasible,
    plain,
    solved,
    twin_problem,
)
from variants import variant


@pytest.mark.parametrize("first_seed", range(0, 700, 100))
def test_the_enumerated_optimum_is_found(first_seed):
    failures = []
    for seed in range(first_seed, first_seed + 100):
        small, best, problem = solved(seed)
        solution = branch_and_bound(problem, settings=variant(seed))
        wrong = faults(small, best, problem, solution) + strict_faults(best, solution)
        if wrong:
            failures.append(report(seed, variant(seed), wrong))
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("first_seed", range(0, 400, 100))
def test_the_enumerated_optimum_is_found_under_constraints(first_seed):
    failures = []
    for seed in range(first_seed, first_seed + 100):
        small, best, problem = constrained(seed)
        solution = branch_and_bound(problem, settings=variant(seed))
        wrong = constrained_faults(small, best, problem, solution) + strict_faults(best, solution)
        if wrong:
            failures.append(report(seed, variant(seed), wrong))
    assert not failures, "\n".join(failures)


def test_the_enumerated_optimum_is_found_under_bounds_on_scores(monkeypatch):
    """Constraints that the relaxation takes account of."""
    pricings = []

    def recorded(*arguments, **options):
        pricings.append(priced(*arguments, **options))
        return pricings[-1]

    monkeypatch.setattr(search, "priced", recorded)
    failures = []
    for seed in range(100):
        small = random_bounded_problem(np.random.default_rng([seed, 77]))
        best, problem = enumerate_optimum(small), small.build()
        solution = branch_and_bound(problem, settings=variant(seed))
        wrong = constrained_faults(small, best, problem, solution) + strict_faults(best, solution)
        if wrong:
            failures.append(report(seed, variant(seed), wrong))
    assert not failures, "\n".join(failures)
    assert sum(one is not None for one in pricings) > 50


@pytest.mark.parametrize("corner", CORNERS)
@pytest.mark.parametrize("real", [False, True])
def test_corners(corner, real):
    small = corner_problem(corner, real)
    best, problem = enumerate_optimum(small), small.build()
    solution = branch_and_bound(problem)
    assert not faults(small, best, problem, solution) + strict_faults(best, solution)


@pytest.mark.parametrize("price", [0.0, 0.05])
@pytest.mark.parametrize("box", [(-3, 3), (0, 3), (-2, 0), (-1, 1)])
@pytest.mark.parametrize("kind", TIED)
def test_features_that_a_constraint_counts_have_points(kind, box, price):
    small = plain(
        np.random.default_rng(4), 4, constraints=(TIED[kind],), l0_penalty=price,
        lower=np.full(4, box[0]), upper=np.full(4, box[1]),
    )  # fmt: skip
    best, problem = enumerate_optimum(small), small.build()
    assert not constrained_faults(small, best, problem, branch_and_bound(problem))


@pytest.mark.parametrize("seed", range(12))
def test_infeasible_problems(seed):
    problem = infeasible(seed).build()
    solution = branch_and_bound(problem)
    assert solution.certificate.status is Status.INFEASIBLE
    assert solution.certificate.message == problem.infeasibility
    assert solution.coefficients is None


def test_equal_and_complementary_columns():
    failures = []
    for seed in range(120):
        small = twin_problem(seed)
        best, problem = enumerate_optimum(small), small.build()
        solution = branch_and_bound(problem)
        wrong = constrained_faults(small, best, problem, solution) + strict_faults(best, solution)
        if wrong:
            failures.append(report(seed, "twins", wrong))
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("node_limit", [0, 1, 3])
def test_a_node_limit_leaves_valid_bounds(node_limit):
    statuses = []
    settings = BranchAndBoundSettings(batch_size=1, swaps=False)
    for seed in range(40, 100):
        small, best, problem = solved(seed)
        solution = branch_and_bound(problem, node_limit=node_limit, settings=settings)
        statuses.append(solution.certificate.status)
        assert not violations(small, solution.coef), seed
        assert solution.certificate.lower_bound <= best.objective + EQUAL_NATIVE, seed
        assert best.objective <= solution.certificate.objective + EQUAL_NATIVE, seed
        assert solution.statistics.nodes <= node_limit, seed
        assert not trace_faults(solution, best), seed
    assert set(statuses) == {Status.OPTIMAL, Status.FEASIBLE}


@pytest.mark.parametrize("gap_tolerance", [0.01, 0.2])
def test_gap_tolerance_is_kept(gap_tolerance):
    for seed in range(20, 60):
        _, best, problem = solved(seed)
        certificate = branch_and_bound(problem, gap_tolerance=gap_tolerance).certificate
        assert certificate.status is Status.OPTIMAL, seed
        assert certificate.optimality_gap <= gap_tolerance, seed
        assert certificate.lower_bound <= best.objective + EQUAL_NATIVE, seed
        assert certificate.objective <= best.objective / (1 - gap_tolerance) + EQUAL_NATIVE, seed


def test_threads_change_nothing_but_the_time():
    for seed in range(0, 60, 3):
        small, _, problem = solved(seed)
        settings = dataclasses.replace(variant(seed), batch_size=4)
        one, two, again = (
            branch_and_bound(p, n_threads=n, settings=settings)
            for p, n in ((problem, 1), (problem, 3), (small.build(), 1))
        )
        for other in (two, again):
            np.testing.assert_array_equal(one.coef, other.coef)
            assert one.certificate == other.certificate, seed
            assert one.statistics.nodes == other.statistics.nodes, seed
            for column in ("lower_bound", "upper_bound", "nodes", "cuts"):
                np.testing.assert_array_equal(one.trace[column], other.trace[column])


def test_start_changes_nothing_but_the_way():
    failures = []
    for seed in range(200, 260):
        small, best, problem = solved(seed)
        rng = np.random.default_rng(seed)
        candidates = rng.integers(problem.lower, problem.upper + 1, (300, small.d + 1))
        starts = [vector for vector in candidates if problem.is_feasible(vector)][:1]
        for start in [*starts, best.vectors[0]]:
            if not problem.is_feasible(start):
                continue  # an optimal intercept beyond the derived bounds
            solution = branch_and_bound(problem, start=start, settings=variant(seed))
            if wrong := faults(small, best, problem, solution) + strict_faults(best, solution):
                failures.append(report(seed, f"start {start}", wrong))
    assert not failures, "\n".join(failures)


# ---------------------------------------------------------------------------------------------
# Lists of the best scores
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first_seed", range(0, 240, 60))
def test_lists_of_the_best_scores(first_seed):
    failures = []
    for seed in range(first_seed, first_seed + 60):
        rng = np.random.default_rng([seed, 9])
        n_solutions, within = REQUESTS[seed % len(REQUESTS)]
        max_slopes = 100 if n_solutions == MORE_THAN_ALL else 300
        small = (random_constrained_problem if seed % 3 == 0 else random_problem)(rng, max_slopes)
        problem = small.build()
        solution = branch_and_bound(
            problem, n_solutions=n_solutions, within=within, settings=variant(seed)
        )
        if wrong := pool_faults(small, problem, solution, n_solutions, within):
            failures.append(report(seed, (n_solutions, within, variant(seed)), wrong))
    assert not failures, "\n".join(failures)


def test_lists_that_a_limit_ends_have_a_valid_bound():
    cut_off = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 9])
        small = random_problem(rng, 300)
        problem = small.build()
        request = ({"n_solutions": 10}, {"within": 0.1})[seed % 2]
        solution = branch_and_bound(
            problem, node_limit=3, settings=BranchAndBoundSettings(batch_size=2), **request
        )
        pool = solution.pool
        cut_off += not pool.complete
        vectors, objectives = enumerate_ranked(small, *intercepts_beyond(small, problem, pool))
        listed = set(map(tuple, pool.coefficients.tolist()))
        is_other = [tuple(vector) not in listed for vector in vectors.tolist()]
        assert pool.bound <= objectives[is_other].min(initial=math.inf) + EQUAL_NATIVE, seed
        assert solution.certificate.lower_bound <= objectives[0] + EQUAL_NATIVE, seed
    assert cut_off > 20


# ---------------------------------------------------------------------------------------------
# Both engines
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_engines_agree(seed):
    """On problems too large for enumeration."""
    rng = np.random.default_rng([seed, 17])
    small = plain(
        rng, int(rng.integers(8, 13)), intercept=(None, None), max_size=int(rng.integers(2, 6)),
        min_size=int(rng.integers(0, 3)), l0_penalty=float(rng.choice([1e-6, 1e-3, 1e-2])),
    )  # fmt: skip
    if seed % 2:
        small.X = small.X + rng.integers(0, 3, small.X.shape)
    problem = small.build()
    ours, theirs = branch_and_bound(problem), lattice_cpa(problem)
    assert ours.certificate.status is theirs.certificate.status is Status.OPTIMAL
    assert ours.certificate.objective == pytest.approx(theirs.certificate.objective, abs=1e-9)
