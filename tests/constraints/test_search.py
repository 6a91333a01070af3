"""The search of integer vectors that meet constraints, against trying all of them."""

import itertools
import pickle

import numpy as np
import pytest

from rated import draw
from riskslim import (
    CoefficientSet,
    LinearConstraint,
    RiskScoreProblem,
    TrainingData,
    at_least,
    at_most,
    at_most_variables,
    branch_and_bound,
    either_or,
    exactly,
    if_then,
    lattice_cpa,
    model_size,
    not_both,
    points_in,
)
from riskslim.constraints.rows import ConstraintRows
from riskslim.constraints.search import search_vector
from riskslim.engines.lattice_cpa.conflicts import confirmed
from riskslim.exceptions import InfeasibleProblemError, RiskSLIMError
from riskslim.paper import standard_cpa
from riskslim.problem.conflicts import conflicting_constraints

COEFFICIENTS = {
    "integer": np.arange(1.0, 10.0),
    "tiny": np.array([1.0, 0.5, 1e-6, 3e-7, 2e-8, 1e-9, 1e-10]),
    "large": np.array([1.0, 7.0, 1e3 + 0.1, 33333.3, 999999.0, 1e6]),
    "fractions": np.array([0.1, 0.2, 0.3, 1 / 3, 2 / 3, 0.7, 1e-3]),
    "real": np.random.default_rng(0).normal(size=9),
}
# Distances of a bound from the value of a vector, some below what rows allow for.
OFFSETS = [0.0, 0.0, 1e-12, 5e-10, 2e-9, 1e-7, 1e-5, 0.1, 0.5, 1.0]


def linear(rng, names, low, high):
    """A row whose bound is at, next to or beyond its value at some vector."""
    values = COEFFICIENTS[rng.choice(list(COEFFICIENTS))]
    chosen = rng.choice(names, rng.integers(2, len(names) + 1), replace=False)
    terms = dict(zip(chosen, rng.choice(values, len(chosen)), strict=True))
    points = {name: float(value * rng.choice([-1, 1])) for name, value in terms.items()}
    counted = rng.random() < 0.3 and chosen[0] != "(intercept)"
    used = {chosen[0]: float(rng.choice(values))} if counted else {}
    vector = {name: rng.integers(low, high + 1) for name in chosen}
    total = sum(points[name] * vector[name] for name in chosen)
    total += sum(value for name, value in used.items() if vector[name])
    total += rng.choice(OFFSETS) * rng.choice([1.0, max(map(abs, points.values()))])
    width = [0.0, np.inf, 0.1 * abs(rng.choice(values))][rng.integers(3)]
    ends = (total, total + width) if rng.random() < 0.5 else (total - width, total)
    return LinearConstraint(points=points, used=used, lower=ends[0], upper=ends[1])


def drawn(rng, names, low, high):
    if rng.random() < 0.75:
        return linear(rng, [*names, "(intercept)"] if rng.random() < 0.3 else names, low, high)
    a, b = rng.choice(names, 2, replace=False)
    n = int(rng.integers(1, len(names)))
    kinds = [
        either_or(a, b), not_both(a, b), if_then(a, b), at_least(n, names), at_most(n, names),
        exactly(n, names), at_most_variables(1, {"one": names[:1], "two": names[1:]}),
        points_in(a, sorted({int(value) for value in rng.integers(low, high + 1, 2)})),
    ]  # fmt: skip
    return kinds[rng.integers(len(kinds))]


@pytest.mark.parametrize("seed", range(4))
def test_finds_a_vector_or_proves_that_there_is_none(seed):
    rng = np.random.default_rng(seed)
    n_impossible = n_beyond_propagation = 0
    for _ in range(40):
        names = [f"x{j}" for j in range(rng.integers(2, 5))]
        reach = int(rng.integers(1, 3))
        lower, upper = (np.full(len(names) + 1, end) for end in (-reach, reach))
        lower[1] = rng.integers(-reach, 2)

        constraints = [drawn(rng, names, -reach, reach) for _ in range(rng.integers(2, 5))]
        rows = ConstraintRows(constraints, names)
        ranges = (range(low, high + 1) for low, high in zip(lower, upper, strict=True))
        possible = any(not rows.broken(vector).size for vector in itertools.product(*ranges))
        found = search_vector(rows, lower, upper)
        assert found.is_proven
        assert found.is_impossible is not possible
        if possible:
            assert not rows.broken(found.coef).size
            assert (lower <= found.coef).all()
            assert (found.coef <= upper).all()
        else:
            n_impossible += 1
            n_beyond_propagation += rows.propagate(lower.copy(), upper.copy())
    assert n_impossible > 12
    assert n_beyond_propagation > 0


CYCLE = [
    LinearConstraint(points={a: 1, b: -1}, lower=1, name=f"{a} > {b}")
    for a, b in ("ab", "bc", "ca")
]
BOX = np.array([0, -1000, -1000, -1000]), np.array([0, 1000, 1000, 1000])


def test_a_sum_of_rows_refutes_what_propagation_creeps_along():
    rows = ConstraintRows(CYCLE, "abc")
    assert rows.propagate(*(end.copy() for end in BOX))
    found = search_vector(rows, *BOX)
    assert found.is_impossible
    assert found.nodes == 1


def test_groups_are_tied_to_their_members():
    few = at_most_variables(1, {"one": ["a", "b"], "two": ["c", "d"]})
    # Of b and c, or of a and d, both are used, by rows alone.
    cross = [
        LinearConstraint(points={"a": 1, "b": 1}, lower=1),
        LinearConstraint(points={"c": 1, "d": 1}, lower=1),
    ]
    rows = ConstraintRows([few, *cross], "abcd")
    assert search_vector(rows, np.full(5, -2), np.full(5, 2)).is_impossible
    assert (
        search_vector(ConstraintRows([few, cross[0]], "abcd"), np.full(5, -2), np.full(5, 2))
        .coef[1:3]
        .any()
    )


def test_allowed_points_alone_and_no_constraints_at_all():
    lower, upper = np.array([0, 1, -5]), np.array([0, 5, 5])
    assert search_vector(ConstraintRows([], "ab"), lower, upper).coef.tolist() == [0, 1, 0]
    gaps = [points_in("a", [-3, 4]), points_in("b", [-2, 2])]
    assert search_vector(ConstraintRows(gaps, "ab"), lower, upper).coef.tolist() in (
        [0, 4, -2], [0, 4, 2]
    )  # fmt: skip
    gaps.append(points_in("a", [0, 1, 2]))
    assert search_vector(ConstraintRows(gaps, "ab"), lower, upper).is_impossible


@pytest.mark.parametrize(
    "limits", [{"seconds": 0.0}, {"node_limit": 1}, {"should_stop": lambda: True}]
)
def test_a_limit_is_no_proof(limits):
    # Any even number is possible, and 7 is not.
    odd = LinearConstraint(points={"a": 6, "b": 10, "c": 15}, lower=29, upper=29)
    rows = ConstraintRows([odd, model_size(0, 3)], "abc")
    lower, upper = np.zeros(4, np.int64), np.array([0, 9, 9, 9])
    found = search_vector(rows, lower, upper, **limits)
    assert (found.coef, found.is_proven, found.is_impossible) == (None, False, False)
    assert search_vector(rows, lower, upper).is_impossible


def make(constraints, names="abc", reach=200, **arguments):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, len(names)))
    data = TrainingData(X, rng.integers(0, 2, 60), feature_names=list(names))
    coefficients = CoefficientSet(data.feature_names, -reach, reach)
    return RiskScoreProblem(data, coefficients, constraints=constraints, **arguments)


@pytest.mark.slow
def test_rates_are_decided():
    """Of small problems with rates, by trying all vectors."""
    n_found = n_impossible = 0
    for seed in range(30):
        small = draw(seed, real=seed % 3 == 0)
        problem = small.build()
        vectors, met, _ = small.enumerate()
        inside = ((vectors >= problem.lower) & (vectors <= problem.upper)).all(axis=1)
        found = search_vector(problem.rows_with_size, problem.lower, problem.upper)
        assert found.is_proven, seed
        assert (found.coef is not None) == (met & inside).any(), seed
        if found.coef is not None:
            assert problem.is_feasible(found.coef), seed
        n_found += found.coef is not None
        n_impossible += found.is_impossible
    assert n_found >= 15
    assert n_impossible >= 3


def test_names_of_a_contradiction():
    problem = make([at_most(2, list("abc"), name="two"), *CYCLE])
    assert problem.infeasibility is None
    assert conflicting_constraints(problem) == ["a > b", "b > c", "c > a"]
    # Whoever does not wait hears of all of them.
    assert len(conflicting_constraints(problem, lambda: True)) == 5
    for engine in (branch_and_bound, lattice_cpa):
        certificate = engine(problem).certificate
        assert certificate.status.value == "infeasible"
        assert certificate.message == (
            "these constraints contradict each other: (a > b) and (b > c) and (c > a)"
        )


def test_a_solver_is_not_believed():
    possible = make([CYCLE[0]])
    assert possible.is_feasible(confirmed(possible, "HAL", seconds=9.0, stop=None))
    impossible = make(CYCLE)
    with pytest.raises(InfeasibleProblemError, match=r"\(a > b\) and \(b > c\) and \(c > a\)"):
        confirmed(impossible, "HAL", seconds=9.0, stop=None)
    with pytest.raises(InfeasibleProblemError, match=r"No risk score .* contradict") as caught:
        standard_cpa(impossible)
    copy = pickle.loads(pickle.dumps(caught.value))  # workers send errors
    assert (str(copy), copy.reason) == (str(caught.value), caught.value.reason)
    with pytest.raises(RiskSLIMError, match=r"HAL finds no points .* could not be proven so far"):
        confirmed(impossible, "HAL", seconds=0.0, stop=None)


def hard():
    """Equations in which rounding finds no vector, and a search finds neither one nor a proof."""
    rng = np.random.default_rng(5)
    names = [f"x{j}" for j in range(30)]
    equations = [
        LinearConstraint(
            points={name: int(value) for name, value in zip(names, row, strict=True)},
            lower=1,
            upper=1,
        )
        for row in rng.integers(1000, 99999, (4, 30))
    ]
    return make(equations, names, reach=9, max_size=6)


@pytest.mark.slow
def test_what_is_not_known_is_not_claimed():
    with pytest.raises(RiskSLIMError, match=r"time limit reached before any .* is not known"):
        branch_and_bound(hard(), time_limit=1.0)


def test_the_search_can_be_interrupted():
    asked = []

    def should_stop():
        asked.append(True)
        return len(asked) > 3

    with pytest.raises(RiskSLIMError, match="interrupted by the user before any risk score"):
        branch_and_bound(hard(), time_limit=600.0, should_stop=should_stop)
