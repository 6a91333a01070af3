"""The engine against exhaustive enumeration on small random problems.

Every problem is solved with all parts of the algorithm switched on, and with one of the sixteen
combinations of initialization, chained updates, rounding and polishing. The other settings vary
with the problem. Failures name the seed:
``random_problem(np.random.default_rng(seed))`` draws the problem again.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math

import numpy as np
import pytest

from checked_solutions import EQUAL, constrained_faults, faults, report, trace_faults
from enumeration import (
    SmallProblem,
    enumerate_completely,
    enumerate_optimum,
    limit_number_of_slopes,
    loss,
    meets_constraints,
    objective,
    random_constrained_problem,
    random_problem,
    slopes,
    violations,
)
from riskslim import (
    LatticeCPASettings,
    LinearConstraint,
    Status,
    at_least,
    exactly,
    lattice_cpa,
    sequential_rounding,
    standard_cpa,
)
from riskslim.engines.branch_and_bound.root import solve_root
from riskslim.engines.lattice_cpa import feasibility
from riskslim.exceptions import InfeasibleProblemError, RiskSLIMError
from small_problems import CORNERS, TIED, constrained, corner_problem, infeasible, plain, solved

PARTS = ("initialization", "chained_updates", "rounding", "polishing")
COMBINATIONS = list(itertools.product([True, False], repeat=len(PARTS)))
PER_COMBINATION = 20
# Values of the other settings: problem by problem one of each, in all their combinations.
LEVERS = {
    "fractional_rounds": [3, 0, 1, 50],
    "fractional_threshold": [0.001, 0.0, 0.3],
    "cut_pool": [1000, 0, 4],
    "branching_priority": [None, True, False],
    "native_root": [True, False],
    "probing": [True, False],
    "sign_split": [True, False],
}


def levers(seed: int) -> dict:
    """Settings beside the parts, drawn for a problem."""
    rng = np.random.default_rng([seed, 5])
    return {name: values[rng.integers(len(values))] for name, values in LEVERS.items()}


# ---------------------------------------------------------------------------------------------
# The oracle itself
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_enumeration_agrees_with_complete_enumeration(seed):
    rng = np.random.default_rng([seed, 7])
    small = random_problem(rng)
    # Few slope vectors, and every intercept with each of them.
    small.lower, small.upper = np.maximum(small.lower, -1), np.minimum(small.upper, 1)
    small.lower = np.minimum(small.lower, small.upper)
    small.fixed, small.min_size, small.max_size = {}, min(small.min_size, 1), None
    small.lower[3:] = small.upper[3:] = 0
    if seed % 3 and small.intercept != (None, None):
        small.intercept = (-4, 4)
    assert enumerate_optimum(small).objective == pytest.approx(
        enumerate_completely(small), rel=0, abs=1e-13
    )


def test_enumeration_finds_ties():
    # A column and its copy: each can carry the coefficient.
    X = np.array([[0, 0], [1, 1], [1, 1], [0, 0], [1, 1], [0, 0.0]])
    small = SmallProblem(
        X, np.array([-1, 1, 1, -1, 1, 1]), None, np.array([-3, -3]), np.array([3, 3]),
        [0, 0], {}, np.full(2, np.nan), 0.01, 0, 1, (None, None),
    )  # fmt: skip
    best = enumerate_optimum(small)
    assert len(best.vectors) == 2
    assert sorted(map(tuple, best.vectors[:, 1:])) == [(0, 3), (3, 0)]
    assert best.objective == pytest.approx(enumerate_completely(small), abs=1e-14)


def test_random_problems_have_the_mixture():
    smalls = [solved(seed)[0] for seed in range(len(COMBINATIONS) * PER_COMBINATION)]
    problems = [solved(seed)[2] for seed in range(len(smalls))]
    forms = [problem.loss.form for problem in problems]
    assert min(forms.count("lookup_table"), forms.count("real_valued")) > 40
    required = [np.count_nonzero(problem.required) for problem in problems]
    for kind in (
        [small.weights is not None for small in smalls],
        [small.weights is not None and np.any(small.weights == 0) for small in smalls],
        [small.intercept == (None, None) for small in smalls],
        [None not in small.intercept for small in smalls],
        [np.any(~np.isnan(small.feature_penalty)) for small in smalls],
        [small.max_size is not None and small.max_size < small.d for small in smalls],
        [small.min_size > need for small, need in zip(smalls, required, strict=True)],
        [need > 0 for need in required],
        [any(small.sign) for small in smalls],
        [len(small.fixed) > 0 for small in smalls],
        [small.l0_penalty < 1e-6 for small in smalls],
        [small.l0_penalty > 1e-3 for small in smalls],
        [solved(seed)[1].objective < 0.2 for seed in range(len(smalls))],
        [small.d == 6 for small in smalls],
    ):
        assert 10 <= sum(kind) <= len(smalls) - 10


# ---------------------------------------------------------------------------------------------
# lattice_cpa
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "chosen",
    COMBINATIONS,
    ids=["+".join(itertools.compress(PARTS, chosen)) or "none" for chosen in COMBINATIONS],
)
def test_lattice_cpa_finds_the_enumerated_optimum(chosen):
    settings = dict(zip(PARTS, chosen, strict=True))
    failures = []
    first = COMBINATIONS.index(chosen) * PER_COMBINATION
    for seed in range(first, first + PER_COMBINATION):
        small, best, problem = solved(seed)
        chosen_too = {**settings, **levers(seed)}
        for on in (chosen_too, dict.fromkeys(PARTS, True)):
            solution = lattice_cpa(problem, settings=LatticeCPASettings(**on))
            if wrong := faults(small, best, problem, solution):
                failures.append(report(seed, on, wrong))
    assert not failures, "\n".join(failures)


def root_faults(small, best, problem, probing, polishing) -> list[str]:
    """What the root of the native search claims, against all optimal vectors."""
    root = solve_root(problem, probing=probing, polishing=polishing, starts=[])
    found = []
    if root.lower_bound > best.objective + 1e-12:
        found.append(f"lower bound {root.lower_bound!r}, optimum {best.objective!r}")
    if root.objective < best.objective - 1e-12:
        found.append(f"objective {root.objective!r}, optimum {best.objective!r}")
    if root.coef is not None and (broken := violations(small, root.coef)):
        found.append(f"{root.coef} is infeasible: {broken}")
    if best.objective < root.cutoff - 1e-12:
        if root.complete:
            found.append(f"nothing below {root.cutoff!r}, optimum {best.objective!r}")
        for vector in best.vectors:
            inside = (root.lower <= vector) & (vector <= root.upper)
            # An optimal intercept may lie beyond the derived bounds.
            if not np.all(inside) and problem.is_feasible(vector):
                found.append(f"{vector} is not between {root.lower} and {root.upper}")
    return found


@functools.cache
def at_some_scale(draw, seed: int):
    """A problem at one of three scales, its optimum, and the package's statement of it."""
    small = draw(np.random.default_rng([seed, 31]))
    small.scale = [1.0, 1.7, 0.4][seed % 3]
    return small, enumerate_optimum(small), small.build()


@pytest.mark.parametrize("draw", [random_problem, random_constrained_problem])
@pytest.mark.parametrize("probing", [True, False])
@pytest.mark.parametrize("polishing", [True, False])
def test_boxes_of_the_native_root_contain_what_is_better(draw, probing, polishing):
    failures, narrower, better = [], 0, 0
    for seed in range(120):
        small, best, problem = at_some_scale(draw, seed)
        if not best.feasible:
            continue
        if wrong := root_faults(small, best, problem, probing, polishing):
            failures.append(report(seed, "root", wrong))
        root = solve_root(problem, probing=probing, polishing=polishing)
        narrower += bool(np.any(root.upper - root.lower < problem.upper - problem.lower))
        better += best.objective < root.cutoff - 1e-12
    assert not failures, "\n".join(failures)
    assert narrower > 20
    assert better > 0 or polishing


@pytest.mark.parametrize("scale", [0.3, 1.7, 8.0])
@pytest.mark.parametrize("constrained", [False, True])
def test_lattice_cpa_finds_the_enumerated_optimum_at_a_scale(scale, constrained):
    failures, elsewhere = [], 0
    draw = random_constrained_problem if constrained else random_problem
    for seed in range(40):
        rng = np.random.default_rng([seed, 77])
        small = draw(rng)
        at_one = enumerate_optimum(small)
        small.scale = scale
        if scale > 2 and not constrained:  # as many log-odds are within reach
            small.lower = np.where(small.lower < 0, 3 * small.lower, small.lower)
            small.upper = np.where(small.upper > 0, 3 * small.upper, small.upper)
            limit_number_of_slopes(rng, small)
        best, problem = enumerate_optimum(small), small.build()
        solution = lattice_cpa(problem)
        if not best.feasible:
            assert solution.certificate.status is Status.INFEASIBLE, seed
            continue
        elsewhere += not np.array_equal(best.vectors[0], at_one.vectors[0])
        if wrong := faults(small, best, problem, solution):
            failures.append(report(seed, scale, wrong))
    assert not failures, "\n".join(failures)
    assert elsewhere > 5


@pytest.mark.parametrize("corner", CORNERS)
@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("on", [True, False])
def test_corners(corner, real, on):
    small = corner_problem(corner, real)
    best, problem = enumerate_optimum(small), small.build()
    settings = LatticeCPASettings(**dict.fromkeys(PARTS, on))
    solution = lattice_cpa(problem, settings=settings)
    assert not faults(small, best, problem, solution)


@pytest.mark.parametrize("first_seed", [0, 100])
def test_two_threads(first_seed):
    failures = []
    for seed in range(first_seed, first_seed + 12):
        small, best, problem = solved(seed)
        solution = lattice_cpa(problem, n_threads=2)
        if wrong := faults(small, best, problem, solution):
            failures.append(report(seed, "2 threads", wrong))
    assert not failures, "\n".join(failures)


def test_same_seed_same_result():
    for seed in range(5, 60, 11):
        small, _, problem = solved(seed)
        first, second = (lattice_cpa(problem, random_state=3) for _ in range(2))
        again = lattice_cpa(small.build(), random_state=3)
        for other in (second, again):
            np.testing.assert_array_equal(first.coef, other.coef)
            assert first.certificate == other.certificate
            assert first.statistics.nodes == other.statistics.nodes
            assert first.statistics.cuts == other.statistics.cuts


def test_start_changes_nothing_but_the_way():
    failures = []
    for seed in range(200, 212):
        small, best, problem = solved(seed)
        rng = np.random.default_rng(seed)
        candidates = rng.integers(problem.lower, problem.upper + 1, (300, small.d + 1))
        starts = [vector for vector in candidates if problem.is_feasible(vector)][:1]
        for start in [*starts, best.vectors[0]]:
            if not problem.is_feasible(start):
                continue  # an optimal intercept beyond the derived bounds
            solution = lattice_cpa(problem, start=start)
            if wrong := faults(small, best, problem, solution):
                failures.append(report(seed, f"start {start}", wrong))
    assert not failures, "\n".join(failures)


def test_the_problem_is_left_as_it_was():
    _, _, problem = solved(3)
    size, bounds, score_range = (
        problem.loss.max_size,
        problem.lower.copy(),
        problem.loss.score_range,
    )
    evaluations = problem.loss.n_evaluations
    lattice_cpa(problem)
    assert problem.loss.max_size == size
    assert problem.loss.score_range == score_range
    assert problem.loss.n_evaluations == evaluations
    np.testing.assert_array_equal(problem.lower, bounds)


@pytest.mark.parametrize("gap_tolerance", [0.01, 0.2])
def test_gap_tolerance_is_kept(gap_tolerance):
    for seed in range(20, 32):
        _, best, problem = solved(seed)
        off = LatticeCPASettings(**dict.fromkeys(PARTS, False))
        certificate = lattice_cpa(problem, gap_tolerance=gap_tolerance, settings=off).certificate
        assert certificate.status is Status.OPTIMAL, seed
        assert certificate.optimality_gap <= gap_tolerance, seed
        assert certificate.lower_bound <= best.objective + EQUAL, seed
        assert best.objective <= certificate.objective + EQUAL, seed
        assert certificate.objective <= best.objective / (1 - gap_tolerance) + EQUAL, seed


@pytest.mark.parametrize("node_limit", [0, 1, 3])
def test_node_limit_leaves_valid_bounds(node_limit):
    statuses = []
    for seed in range(40, 60):
        small, best, problem = solved(seed)
        off = LatticeCPASettings(**dict.fromkeys(PARTS, False))
        solution = lattice_cpa(problem, node_limit=node_limit, settings=off)
        certificate = solution.certificate
        statuses.append(certificate.status)
        assert not violations(small, solution.coef), seed
        assert certificate.objective == pytest.approx(objective(small, solution.coef), abs=1e-13)
        assert certificate.lower_bound <= best.objective + EQUAL, seed
        assert best.objective <= certificate.objective + EQUAL, seed
        assert (certificate.optimality_gap == 0) == (certificate.status is Status.OPTIMAL), seed
        assert solution.statistics.nodes <= node_limit, seed
        assert not trace_faults(solution, best), seed
    assert set(statuses) <= {Status.OPTIMAL, Status.FEASIBLE}
    assert Status.FEASIBLE in statuses


# ---------------------------------------------------------------------------------------------
# Infeasible problems
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_infeasible_problems(seed):
    small = infeasible(seed)
    assert not enumerate_optimum(small).feasible
    problem = small.build()
    settings = LatticeCPASettings(**dict(zip(PARTS, COMBINATIONS[seed], strict=True)))
    solution = lattice_cpa(problem, settings=settings)
    certificate = solution.certificate
    assert certificate.status is Status.INFEASIBLE
    assert certificate.objective == certificate.lower_bound == math.inf
    assert math.isnan(certificate.optimality_gap)
    assert certificate.message == problem.infeasibility
    assert solution.coefficients is None
    assert solution.intercept is None
    with pytest.raises(ValueError, match="there is no risk score"):
        solution.coef  # noqa: B018
    with pytest.raises(InfeasibleProblemError, match="No risk score meets"):
        standard_cpa(problem)


# ---------------------------------------------------------------------------------------------
# Constraints
# ---------------------------------------------------------------------------------------------


CONSTRAINED = 256


def test_random_constraints_have_the_mixture():
    drawn = [constrained(seed) for seed in range(CONSTRAINED)]
    feasible = [best.feasible for _, best, _ in drawn]
    found_early = [problem.infeasibility is not None for _, _, problem in drawn]
    assert not any(itertools.starmap(np.logical_and, zip(feasible, found_early, strict=True)))
    assert sum(found_early) > 25
    assert len(drawn) - sum(feasible) - sum(found_early) >= 5  # left to CPLEX
    rows = [row for small, _, _ in drawn for row in small.constraints]
    for kind in (
        [row.points and row.used for row in rows],
        [not row.points and len(row.used) > 1 for row in rows],
        ["(intercept)" in row.points for row in rows],
        [any(value != round(value) for value in row.points.values()) for row in rows],
        [row.lower == row.upper for row in rows],
        [math.isinf(row.lower) for row in rows],
        [math.isinf(row.upper) for row in rows],
        [min(row.used.values(), default=0) < 0 for row in rows],
    ):
        assert 20 <= sum(map(bool, kind)) <= len(rows) - 20
    # Constraints matter: most optima are not those without them.
    without = [
        enumerate_optimum(dataclasses.replace(small, constraints=())).objective
        for small, best, _ in drawn[:60]
        if best.feasible
    ]
    held = [best.objective for _, best, _ in drawn[:60] if best.feasible]
    assert np.mean(np.array(held) > np.array(without) + 1e-6) > 0.5


@pytest.mark.parametrize("seed", range(10))
def test_enumeration_with_constraints_agrees_with_complete_enumeration(seed):
    small = constrained(seed)[0]
    small = dataclasses.replace(small, fixed={}, min_size=0, max_size=None, intercept=(-4, 4))
    small.lower, small.upper = np.maximum(small.lower, -1), np.minimum(small.upper, 1)
    small.lower = np.minimum(small.lower, small.upper)
    small.lower[3:] = small.upper[3:] = 0
    assert enumerate_optimum(small).objective == pytest.approx(
        enumerate_completely(small), rel=0, abs=1e-13
    )


@pytest.mark.parametrize("first", range(0, CONSTRAINED, 32))
def test_lattice_cpa_finds_the_enumerated_optimum_under_constraints(first):
    failures = []
    for seed in range(first, first + 32):
        on = dict(zip(PARTS, COMBINATIONS[seed % len(COMBINATIONS)], strict=True)) | levers(seed)
        small, best, problem = constrained(seed)
        solution = lattice_cpa(problem, settings=LatticeCPASettings(**on))
        if wrong := constrained_faults(small, best, problem, solution):
            failures.append(report(seed, on, wrong))
    assert not failures, "\n".join(failures)


def test_two_threads_under_constraints():
    failures = []
    for seed in range(16):
        small, best, problem = constrained(seed)
        if wrong := constrained_faults(small, best, problem, lattice_cpa(problem, n_threads=2)):
            failures.append(report(seed, "2 threads", wrong))
    assert not failures, "\n".join(failures)


def test_subsampling_under_constraints():
    failures = []
    for seed in range(40):
        small, best, problem = constrained(seed)
        settings = LatticeCPASettings(subsampling=True)
        if wrong := constrained_faults(
            small, best, problem, lattice_cpa(problem, settings=settings)
        ):
            failures.append(report(seed, "subsampling", wrong))
    assert not failures, "\n".join(failures)


def test_start_from_an_optimum_under_constraints():
    failures = []
    for seed in range(60, 100):
        small, best, problem = constrained(seed)
        starts = [vector for vector in best.vectors if problem.is_feasible(vector)]
        for start in starts[:1]:
            solution = lattice_cpa(problem, start=start)
            if wrong := constrained_faults(small, best, problem, solution):
                failures.append(report(seed, f"start {start}", wrong))
    assert not failures, "\n".join(failures)


def test_node_limit_under_constraints_leaves_valid_bounds():
    off = LatticeCPASettings(**dict.fromkeys(PARTS, False))
    for seed in range(100, 130):
        small, best, problem = constrained(seed)
        solution = lattice_cpa(problem, node_limit=1, settings=off)
        certificate = solution.certificate
        if not best.feasible:
            assert certificate.status is Status.INFEASIBLE, seed
            continue
        assert not violations(small, solution.coef), seed
        assert certificate.lower_bound <= best.objective + EQUAL, seed
        assert best.objective <= certificate.objective + EQUAL, seed


@pytest.mark.parametrize("relaxation", [False, True])
def test_standard_cpa_under_constraints(relaxation):
    failures = []
    for seed in range(0, CONSTRAINED, 4):
        small, best, problem = constrained(seed)
        if not best.feasible:
            with pytest.raises(
                InfeasibleProblemError, match="No risk score meets the requirements: "
            ):
                standard_cpa(problem, relaxation=relaxation)
            continue
        result = standard_cpa(problem, relaxation=relaxation, gap_tolerance=1e-6 * relaxation)
        wrong = [] if result.converged else [f"not converged: {result.message}"]
        if result.lower_bound > best.objective + EQUAL:
            wrong.append(f"lower bound {result.lower_bound!r}, optimum {best.objective!r}")
        if not relaxation and not abs(result.upper_bound - best.objective) <= EQUAL:
            wrong.append(f"objective {result.upper_bound!r}, optimum {best.objective!r}")
        if not relaxation and violations(small, result.coef):
            wrong.append(f"{result.coef} is infeasible: {violations(small, result.coef)}")
        if wrong:
            failures.append(report(seed, "standard_cpa", wrong))
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("price", [0.0, 0.05])
@pytest.mark.parametrize("box", [(-3, 3), (0, 3), (-2, 0), (-1, 1)])
@pytest.mark.parametrize("kind", TIED)
def test_features_that_a_constraint_counts_have_points(kind, box, price):
    # An indicator of use that is 1 next to a coefficient of 0 would be the cheap way out.
    small = plain(
        np.random.default_rng(4), 4, constraints=(TIED[kind],), l0_penalty=price,
        lower=np.full(4, box[0]), upper=np.full(4, box[1]),
    )  # fmt: skip
    best, problem = enumerate_optimum(small), small.build()
    for on in (True, False):
        settings = LatticeCPASettings(**dict.fromkeys(PARTS, on))
        solution = lattice_cpa(problem, settings=settings)
        assert not constrained_faults(small, best, problem, solution)


def test_coefficients_of_very_different_size():
    rng = np.random.default_rng(3)
    for _ in range(12):
        values = rng.choice([1e6, -1e6, 1e3, 1.0, -3.0, 1e-3, 1e-6], 4)
        points = dict(zip(["x0", "x1", "x2", "x3"], values.tolist(), strict=True))
        small = plain(rng, 4)
        total = slopes(small) @ values
        bound = float(np.quantile(total, 0.3))
        small.constraints = (LinearConstraint(points=points, upper=bound),)
        best, problem = enumerate_optimum(small), small.build()
        assert not constrained_faults(small, best, problem, lattice_cpa(problem))


@pytest.mark.parametrize("excess", [0.3e-9, 0.5e-9, 1e-9, 2e-9, 4e-9, 1e-8])
def test_points_next_to_the_tolerance_make_no_false_certificate(excess):
    # x0 = x1 = v breaks x0 <= (1 - excess) x1 by v * excess: within our tolerance, within what
    # CPLEX may accept, or beyond both.
    rng = np.random.default_rng(1)
    small = plain(rng, 2)
    small.X[:, 1] = np.where(rng.random(80) < 0.1, 1 - small.X[:, 0], small.X[:, 0])
    small.y = np.where(small.X.sum(axis=1) + rng.normal(size=80) > 1, 1, -1)
    row = LinearConstraint(points={"x0": 1.0, "x1": -(1.0 - excess)}, lower=-0.5, upper=0.0)
    small.constraints = (row,)
    best, problem = enumerate_optimum(small), small.build()
    solution = lattice_cpa(problem)
    certificate = solution.certificate
    assert not violations(small, solution.coef)
    assert certificate.lower_bound <= best.objective + EQUAL
    assert certificate.objective >= best.objective - EQUAL
    if certificate.is_optimal:
        assert certificate.objective == pytest.approx(best.objective, abs=EQUAL)
    else:
        reasons = ("break a constraint by less than it can tell", "numerical difficulties")
        assert any(reason in certificate.message for reason in reasons)


def test_a_start_that_only_cplex_finds(monkeypatch):
    """Sums of large coefficients that hardly any points reach."""
    weights = {"x0": 127.0, "x1": 101.0, "x2": 83.0, "x3": 61.0, "x4": 37.0}
    small = plain(np.random.default_rng(2), 5)
    values = set(slopes(small) @ np.array(list(weights.values())))
    for target in sorted(values, key=abs)[40:]:
        small.constraints = (LinearConstraint(points=weights, lower=target, upper=target),)
        if sequential_rounding(small.build(), np.zeros(6)).coefficients is None:
            break
    best, problem = enumerate_optimum(small), small.build()
    assert len(best.vectors)
    calls = []
    by_cplex = feasibility._found_by_cplex
    monkeypatch.setattr(
        feasibility, "_found_by_cplex", lambda *given: calls.append(given) or by_cplex(*given)
    )
    assert not constrained_faults(small, best, problem, lattice_cpa(problem))
    assert len(calls) == 1
    small = dataclasses.replace(small, lower=np.full(5, -1), upper=np.full(5, 1), constraints=())
    values = set(slopes(small) @ np.array(list(weights.values())))
    absent = next(k for k in range(1, 400) if k not in values)
    small.constraints = (LinearConstraint(points=weights, lower=absent, upper=absent, name="odd"),)
    problem = small.build()
    assert problem.infeasibility is None
    certificate = lattice_cpa(problem).certificate
    assert certificate.status is Status.INFEASIBLE
    assert certificate.message == "no points within their bounds meet the constraint (odd)"


def test_clashes_that_cplex_finds_are_named():
    names = [f"x{j}" for j in range(5)]
    small = plain(
        np.random.default_rng(2), 5, max_size=2,
        constraints=(at_least(1, names[:2]), at_least(3, names), exactly(1, names[:2])),
    )  # fmt: skip
    problem = small.build()
    assert problem.infeasibility is None
    assert lattice_cpa(problem).certificate.message == (
        "these constraints contradict each other: (at least 3 of 'x0', 'x1', 'x2', 'x3', 'x4' are "
        "used) and (model size 0 to 2)"
    )


def test_no_start_in_time(monkeypatch):
    names = [f"x{j}" for j in range(5)]
    small = plain(np.random.default_rng(2), 5, constraints=(at_least(3, names),), max_size=2)
    monkeypatch.setattr(feasibility, "SLICE", 0.0)
    with pytest.raises(RiskSLIMError, match="no points that meet the constraints were found so f"):
        feasibility.feasible_start(small.build(), time_limit=0.0)


def test_meeting_constraints_is_checked_vector_by_vector():
    small = plain(np.random.default_rng(2), 3, constraints=(at_least(2, ["x0", "x1", "x2"]),))
    vectors = np.array([[0, 1, 1, 0], [9, 1, 0, 0], [0, -1, 2, 3], [1, 0, 0, 0]])
    assert meets_constraints(small, vectors).tolist() == [True, False, True, False]


# ---------------------------------------------------------------------------------------------
# standard_cpa
# ---------------------------------------------------------------------------------------------


def cut_faults(small, problem, result) -> list[str]:
    """Cuts may nowhere exceed the loss."""
    rng = np.random.default_rng(len(result.cuts))
    points = rng.integers(problem.lower, problem.upper + 1, (20, small.d + 1))
    found = []
    for cut in result.cuts:
        if not abs(cut.loss - loss(small, cut.point)) <= 1e-13:
            found.append(f"cut at {cut.point} has loss {cut.loss!r}")
        over = [cut.at(point) - loss(small, point) for point in points]
        if max(over) > 1e-13:
            found.append(f"cut at {cut.point} exceeds the loss by {max(over)!r}")
    return found


@pytest.mark.parametrize("first_seed", range(0, 50, 10))
def test_standard_cpa_on_the_mip_finds_the_optimum(first_seed):
    failures = []
    for seed in range(first_seed, first_seed + 10):
        small, best, problem = solved(seed)
        result = standard_cpa(problem)
        wrong = cut_faults(small, problem, result)
        if not result.converged:
            wrong.append(f"not converged: {result.message}")
        if not abs(result.upper_bound - best.objective) <= EQUAL:
            wrong.append(f"objective {result.upper_bound!r}, optimum {best.objective!r}")
        if violations(small, result.coef):
            wrong.append(f"{result.coef} is infeasible: {violations(small, result.coef)}")
        if not abs(objective(small, result.coef) - result.upper_bound) <= 1e-13:
            wrong.append(f"objective {result.upper_bound!r} is not that of {result.coef}")
        lower = np.array([iteration.lower_bound for iteration in result.iterations])
        if np.any(np.diff(lower) < 0) or np.any(lower > best.objective + EQUAL):
            wrong.append(f"lower bounds {lower}")
        if wrong:
            failures.append(report(seed, "standard_cpa", wrong))
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("seed", [1025, 2030, 2174, 2429])
def test_standard_cpa_survives_unscaled_infeasibilities(seed):
    # CPLEX ends surrogates of these problems with status 115: optimal, but a coefficient is off
    # its integer by 1e-9 after presolve is undone. That is no reason to stop.
    small = random_problem(np.random.default_rng(seed))
    result = standard_cpa(small.build())
    assert result.converged, result.message
    assert result.upper_bound == pytest.approx(enumerate_optimum(small).objective, abs=EQUAL)


@pytest.mark.parametrize("first_seed", range(50, 100, 10))
def test_standard_cpa_on_the_lp_bounds_the_optimum(first_seed):
    failures = []
    for seed in range(first_seed, first_seed + 10):
        small, best, problem = solved(seed)
        result = standard_cpa(problem, relaxation=True, gap_tolerance=1e-6)
        wrong = cut_faults(small, problem, result)
        if not result.converged:
            wrong.append(f"not converged: {result.message}")
        lower = np.array([iteration.lower_bound for iteration in result.iterations])
        if np.any(np.diff(lower) < 0) or np.any(lower > best.objective + EQUAL):
            wrong.append(f"lower bounds {lower}, optimum {best.objective!r}")
        # The relaxation's own optimum is no more than the problem's.
        if result.lower_bound > best.objective + EQUAL:
            wrong.append(f"lower bound {result.lower_bound!r}, optimum {best.objective!r}")
        if result.upper_bound - result.lower_bound > 1e-6 * result.upper_bound + EQUAL:
            wrong.append(f"bounds {result.lower_bound!r}, {result.upper_bound!r}")
        if wrong:
            failures.append(report(seed, "relaxation", wrong))
    assert not failures, "\n".join(failures)
