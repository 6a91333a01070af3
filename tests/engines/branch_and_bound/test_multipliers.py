"""Multipliers of linear constraints: rows that stand for them, and what the relaxation gains."""

import numpy as np
import pytest

from riskslim import (
    CoefficientSet,
    LinearConstraint,
    RiskScoreProblem,
    TrainingData,
    at_most,
    branch_and_bound,
    lattice_cpa,
    risk_at_least,
    risk_at_most,
)
from riskslim.engines.branch_and_bound.multipliers import MAX_PRICED, PricedRows, Sides, priced
from riskslim.engines.branch_and_bound.node_rows import NodeRows
from riskslim.engines.branch_and_bound.root import solve_root

NAMES = ["a", "b", "c", "real"]


def make(*constraints, n=200, scale=1.0, **arguments):
    rng = np.random.default_rng(0)
    X = np.column_stack((rng.integers(0, 4, (n, 3)), rng.normal(0, 2, n)))
    y = rng.random(n) < 1 / (1 + np.exp(1 - X @ [0.8, -0.5, 0.3, 0.4]))
    data = TrainingData(X, y, feature_names=NAMES)
    coefficients = CoefficientSet(NAMES, -5, 5, intercept_lower=-9, intercept_upper=9)
    return RiskScoreProblem(data, coefficients, scale=scale, constraints=constraints, **arguments)


def loss_of(rows: NodeRows, coef: np.ndarray) -> float:
    scores = np.full(rows.n_rows, float(coef[0]))
    for j in np.flatnonzero(rows.features):
        k = rows.slot[j]
        scores += coef[1 + j] * (
            rows.integer_columns[:, k] if k >= 0 else rows.real_columns[:, -1 - k]
        )
    return rows.positive @ np.logaddexp(0, -scores) + rows.negative @ np.logaddexp(0, scores)


CONSTRAINTS = [
    risk_at_least(0.9, profile={"a": 1, "real": -2.5}),
    risk_at_most(0.2, profile={"a": 3, "b": 1}),
    LinearConstraint(points={"a": 2, "b": -1}, lower=-1, upper=3),
    LinearConstraint(points={"(intercept)": -2, "c": 4}, upper=1),
]


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_rows_with_multipliers_are_the_loss_and_the_excess(scale):
    problem = make(*CONSTRAINTS, scale=scale)
    rows = NodeRows.of(problem.loss, problem.usable)
    sides = Sides.of(problem, rows)
    assert len(sides) == 5
    rng = np.random.default_rng(1)
    multipliers = rng.uniform(0, 0.3, len(sides))
    found = PricedRows(rows, sides, 1 / scale)
    for coef in rng.integers(-4, 5, (20, 5)):
        excess = sides.excess(coef.astype(float))
        expected = problem.loss.value(coef) + multipliers @ excess / scale
        value = loss_of(found.weighted(multipliers), coef / scale) + found.constant(multipliers)
        assert value == pytest.approx(expected, rel=1e-12)
        # Whatever meets the constraints exceeds none of the sides.
        rows_met = not problem.constraint_rows.broken(coef).size
        assert rows_met == bool((excess <= 1e-8).all())


@pytest.mark.parametrize(
    "constraint",
    [
        at_most(2, NAMES),
        LinearConstraint(points={"a": 1}, used={"b": 1}, upper=2),
        LinearConstraint(points={"a": 1, "b": 0.5123456789}, upper=2),  # no integers
        LinearConstraint(points={"a": 1, "b": 128}, upper=2),  # does not fit
    ],
)
def test_other_constraints_are_left_to_propagation(constraint):
    problem = make(constraint)
    assert not len(Sides.of(problem, NodeRows.of(problem.loss, problem.usable)))


def test_features_that_are_left_out_do_not_count():
    coefficients = CoefficientSet(NAMES, -5, 5, fixed={"b": 0})
    problem = make(LinearConstraint(points={"a": 1, "b": 1000}, upper=2))
    problem = RiskScoreProblem(problem.loss.data, coefficients, constraints=problem.constraints)
    sides = Sides.of(problem, NodeRows.of(problem.loss, problem.usable))
    assert sides.records.tolist() == [[1, 0, 0, 0]]


def test_what_holds_anyway_gets_no_multiplier():
    problem = make(risk_at_least(0.001, profile={}))
    rows = NodeRows.of(problem.loss, problem.usable)
    sides = Sides.of(problem, rows)
    box, largest = np.array([problem.lower, problem.upper], float), np.full(5, 9.0)

    def relax(rows):
        return 0.5, np.zeros(5)

    assert priced(sides, rows, 1.0, relax=relax, largest=largest, box=box) is None


def test_the_root_is_bounded_far_better():
    binding = [risk_at_least(0.97, profile={"b": 1}), risk_at_most(0.3, profile={"a": 2, "c": 1})]
    problem = make(*binding, max_size=3)
    optimum = branch_and_bound(problem).certificate.objective
    free = solve_root(make(max_size=3), probing=False).lower_bound
    root = solve_root(problem, probing=False)
    assert free < root.lower_bound <= optimum
    assert root.lower_bound - free > 0.5 * (optimum - free)
    assert lattice_cpa(problem).certificate.objective == pytest.approx(optimum, rel=1e-12)


def test_many_records_and_one_that_is_not_among_the_data():
    problem = make(
        risk_at_least(0.3, where={"a": (">=", 1)}),
        risk_at_most(0.6, profile={"a": 9, "b": 100, "real": 1e3}),
    )
    assert len(Sides.of(problem, NodeRows.of(problem.loss, problem.usable))) > MAX_PRICED
    solution = branch_and_bound(problem)
    assert solution.certificate.is_optimal
    assert lattice_cpa(problem).certificate.objective == pytest.approx(
        solution.certificate.objective, rel=1e-12
    )


@pytest.mark.parametrize("largest", [1e4, 1e9, 1e200])
def test_rounding_errors_of_wide_features_cost_no_bound(largest):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (200, 4)).astype(float)
    X[:, 0] = largest * rng.normal(size=200)
    y = rng.random(200) < 1 / (1 + np.exp(-(X[:, 1:] @ [1.0, -1.0, 0.5])))
    data = TrainingData(X, y, feature_names=["wide", "a", "b", "c"])
    coefficients = CoefficientSet(data.feature_names, -5, 5, intercept_lower=-9, intercept_upper=9)
    problem = RiskScoreProblem(
        data,
        coefficients,
        constraints=[risk_at_least(0.9, profile={"a": 1}), risk_at_most(0.4, profile={"c": 1})],
    )
    free = RiskScoreProblem(problem.loss.data, coefficients)
    bound = solve_root(problem, probing=False, polishing=False).lower_bound
    assert bound >= solve_root(free, probing=False, polishing=False).lower_bound - 1e-6
