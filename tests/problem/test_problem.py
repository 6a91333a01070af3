"""RiskScoreProblem: objective, feasibility, and what it resolves of its ingredients."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enumeration import enumerate_optimum, loss, objective, random_problem, violations
from riskslim import (
    CoefficientSet,
    ItemEncoder,
    RiskScore,
    RiskScoreProblem,
    RiskSLIMClassifier,
    TrainingData,
    at_most,
    branch_and_bound,
    false_negative_rate_at_most,
    false_positive_rate_at_most,
    rate_gap_at_most,
    risk_at_least,
)
from riskslim.data.distinct import distinct_rows
from riskslim.exceptions import ConstantFeatureWarning
from riskslim.problem.separation import column_facts

X = np.array([[0, 1, 2], [1, 0, 2], [1, 1, 0], [0, 0, 1], [1, 1, 1], [0, 1, 0]])
Y = np.array([0, 1, 1, 0, 1, 0])
NAMES = ("age", "smoker", "bmi")
DATA = TrainingData(X, Y, feature_names=NAMES)
# The same with labels that no feature separates.
MIXED = TrainingData(X, [1, 1, 1, 0, 0, 0], feature_names=NAMES)


def make(coefficients=None, data=DATA, **sizes) -> RiskScoreProblem:
    """A problem on the data above."""
    coefficients = CoefficientSet(NAMES, -3, 3) if coefficients is None else coefficients
    return RiskScoreProblem(data, coefficients, **sizes)


# ---------------------------------------------------------------------------------------------
# Sizes and penalties
# ---------------------------------------------------------------------------------------------


def test_defaults():
    problem = make()
    assert problem.n_features == 3
    assert (problem.min_size, problem.max_size) == (0, 3)
    np.testing.assert_array_equal(problem.l0_penalty, [1e-6] * 3)
    np.testing.assert_array_equal(problem.lower[1:], [-3] * 3)
    np.testing.assert_array_equal(problem.upper[1:], [3] * 3)
    assert problem.lower.dtype == problem.upper.dtype == np.int64
    assert problem.infeasibility is None
    assert problem.usable.tolist() == [True] * 3
    assert problem.required.tolist() == [False] * 3


def test_max_size_is_at_most_what_can_be_used():
    coefficients = CoefficientSet(NAMES, -3, 3, fixed={"bmi": 0})
    assert make(coefficients, max_size=17).max_size == 2
    assert make(coefficients).max_size == 2
    assert make(coefficients, max_size=1).max_size == 1
    assert make(max_size=np.int64(2)).max_size == 2


def test_loss_is_that_of_the_size():
    """Score range (Proposition 1) and intercept bounds; restated for another size, both anew."""
    coefficients = CoefficientSet(NAMES, -3, 3, intercept_lower=-5, intercept_upper=5)
    problem = RiskScoreProblem(DATA, coefficients, max_size=1)
    assert problem.loss.data is DATA
    assert problem.loss.max_size == 1
    assert problem.loss.score_range == (-11, 11)  # 5 + 3 * 2
    larger = problem.restated(max_size=2)
    assert (problem.max_size, problem.loss.score_range) == (1, (-11, 11))
    stated = RiskScoreProblem(DATA, coefficients, max_size=2)
    assert larger.loss.score_range == stated.loss.score_range != problem.loss.score_range
    assert larger.loss.store is problem.loss.store
    assert larger.restated(max_size=1).loss.score_range == (-11, 11)


@pytest.mark.parametrize("seed", range(4))
def test_restated_is_what_would_be_stated(seed):
    """For any size: derived intercept bounds, those that constraints reach, tables, scales."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (60, 4)), rng.random(60) < 0.4
    data = TrainingData(X, y)
    names = data.feature_names
    options = {
        "constraints": [risk_at_least(0.9, {names[0]: 2})] if seed % 2 else [],
        "scale": (0.5, 4.0) if seed == 2 else 2.0,
        "min_size": 1,
    }
    stated = {
        size: RiskScoreProblem(data, CoefficientSet(names, -3, 3), max_size=size, **options)
        for size in (1, 2, 4)
    }
    for size, problem in stated.items():
        for other in (1, 2, 4):
            found = stated[other].restated(max_size=size)
            np.testing.assert_array_equal(found.lower, problem.lower)
            np.testing.assert_array_equal(found.upper, problem.upper)
            for name in ("max_size", "min_size", "scales", "intercept_is_derived"):
                assert getattr(found, name) == getattr(problem, name), name
            for name in ("score_range", "form", "max_size", "scale"):
                assert getattr(found.loss, name) == getattr(problem.loss, name), name
    with pytest.raises(ValueError, match="max_size 0 is smaller than min_size 1"):
        stated[2].restated(max_size=0)


def test_penalties_are_resolved_per_feature():
    coefficients = CoefficientSet(NAMES, -3, 3, l0_penalty={"smoker": 0.5, "bmi": 0.0})
    problem = make(coefficients, l0_penalty=0.01)
    np.testing.assert_array_equal(problem.l0_penalty, [0.01, 0.5, 0.0])
    assert problem.penalty([9, 0, 0, 0]) == 0.0
    assert problem.penalty([0, 1, 0, -2]) == 0.01
    assert problem.penalty([0, -3, 3, 3]) == pytest.approx(0.51, abs=1e-15)
    assert problem.model_size([9, 1, 0, -2]) == 2
    for array in (problem.l0_penalty, problem.lower, problem.upper):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"max_size": -1}, ValueError, "max_size must be at least 0, got -1"),
        ({"max_size": 2.0}, TypeError, r"max_size must be an int, got 2\.0"),
        ({"max_size": True}, TypeError, "max_size must be an int, got True"),
        ({"min_size": "1"}, TypeError, "min_size must be an int, got '1'"),
        ({"min_size": 4}, ValueError, "min_size must be between 0 and the 3 features, got 4"),
        ({"min_size": -1}, ValueError, "min_size must be between 0 and the 3 features, got -1"),
        ({"min_size": 2, "max_size": 1}, ValueError, "max_size 1 is smaller than min_size 2"),
        ({"l0_penalty": -1e-9}, ValueError, "l0_penalty must be between 0 and 10000"),
        ({"l0_penalty": math.nan}, ValueError, "l0_penalty must be between 0 and 10000"),
        ({"l0_penalty": math.inf}, ValueError, "l0_penalty must be between 0 and 10000"),
    ],
)
def test_bad_sizes_and_penalties(arguments, error, message):
    with pytest.raises(error, match=message):
        make(**arguments)


# ---------------------------------------------------------------------------------------------
# Coefficient set
# ---------------------------------------------------------------------------------------------


def test_bounds_and_signs():
    coefficients = CoefficientSet(
        NAMES, -1, 2, sign={"age": "+"}, intercept_lower=-4, intercept_upper=9
    )
    problem = make(coefficients)
    np.testing.assert_array_equal(problem.lower, [-4, 0, -1, -1])
    np.testing.assert_array_equal(problem.upper, [9, 2, 2, 2])


def test_other_features_than_those_of_the_data():
    with pytest.raises(ValueError, match=r"has 3 features \(age, bmi, smoker, \.\.\.\), the data"):
        make(CoefficientSet(["age", "bmi", "smoker"], -3, 3))


def test_something_else_than_a_coefficient_set():
    with pytest.raises(TypeError, match="coefficients must be a CoefficientSet, got dict"):
        make({"age": 1})


@pytest.mark.parametrize("bounds", [(50, 60), (-60, -50), (50, None)])
def test_given_intercept_beyond_the_bounds_that_would_be_derived(bounds):
    coefficients = CoefficientSet(
        NAMES, -3, 3, intercept_lower=bounds[0], intercept_upper=bounds[1]
    )
    problem = make(coefficients)
    assert problem.lower[0] >= bounds[0]
    assert problem.is_feasible([bounds[0], 0, 0, 0])


def test_constant_features_are_left_out():
    with pytest.warns(ConstantFeatureWarning, match="smoker"):
        data = TrainingData(np.where([False, True, False], 1, X), Y, feature_names=NAMES)
    problem = make(data=data)
    np.testing.assert_array_equal(problem.lower[1:], [-3, 0, -3])
    np.testing.assert_array_equal(problem.upper[1:], [3, 0, 3])
    assert problem.usable.tolist() == [True, False, True]
    assert problem.max_size == 2
    assert not problem.is_feasible([0, 0, 1, 0])


def test_intercept_bounds_follow_the_size():
    coefficients = CoefficientSet(NAMES, -3, 3)
    large, small = make(coefficients), make(coefficients, max_size=1)
    assert large.lower[0] <= small.lower[0] <= small.upper[0] <= large.upper[0]
    assert small.upper[0] - small.lower[0] < large.upper[0] - large.lower[0]
    given_bounds = CoefficientSet(NAMES, -3, 3, intercept_lower=-40, intercept_upper=30)
    problem = make(given_bounds, max_size=1)
    assert (problem.lower[0], problem.upper[0]) == (-40, 30)


@pytest.mark.parametrize("seed", range(40))
def test_derived_intercept_bounds_contain_an_optimal_intercept(seed):
    small = random_problem(np.random.default_rng([seed, 3]))
    small.intercept = (None, None)
    problem = small.build()
    best = enumerate_optimum(small)
    inside = [vector for vector in best.vectors if problem.is_feasible(vector)]
    assert inside, (problem, best.vectors)


# ---------------------------------------------------------------------------------------------
# Feasibility
# ---------------------------------------------------------------------------------------------


def test_too_many_required_features():
    coefficients = CoefficientSet(NAMES, [1, -3, -3], [3, -1, 3])
    assert make(coefficients, max_size=2).infeasibility is None
    problem = make(coefficients, max_size=1)
    assert problem.required.tolist() == [True, True, False]
    assert problem.infeasibility == (
        "the bounds of 2 features exclude zero (age, smoker), but max_size is 1"
    )


def test_many_required_features_are_listed_in_part():
    names = [f"x{j}" for j in range(8)]
    data = TrainingData(np.eye(8), [0, 1] * 4, feature_names=names)
    coefficients = CoefficientSet(names, 1, 2)
    problem = RiskScoreProblem(data, coefficients, max_size=3)
    assert "8 features exclude zero (x0, x1, x2, x3, x4, ...)" in problem.infeasibility


def test_too_few_usable_features():
    problem = make(CoefficientSet(NAMES, fixed={"age": 0, "bmi": 0}), min_size=2)
    assert problem.infeasibility == "min_size is 2, but only 1 features can be used"
    assert not problem.is_feasible([0, 0, 1, 0])


@pytest.mark.parametrize(
    ("coef", "message"),
    [
        ([0, 1, 0, 0], None),
        ([-5, 3, -3, 0], None),
        (np.array([0.0, -1.0, 0.0, 0.0]), None),
        ([0, 0, 0, 0], r"model size is 0, outside of 1\.\.2"),
        ([0, 1, 1, 1], r"model size is 3, outside of 1\.\.2"),
        ([6, 1, 0, 0], r"coefficient of '\(intercept\)' is 6, outside of -5\.\.5"),
        ([0, 0, 0, 4], r"coefficient of 'bmi' is 4, outside of -3\.\.3"),
        ([0, -4, 0, 0], r"coefficient of 'age' is -4, outside of -3\.\.3"),
        ([0, 0.5, 0, 0], r"coefficient of 'age' is .*0\.5.*, not an integer"),
        ([0.25, 1, 0, 0], r"coefficient of '\(intercept\)' is .*0\.25.*, not an integer"),
        ([0, 1, 0], r"\(3,\) coefficients, expected shape \(4,\)"),
        ([[0, 1, 0, 0]], r"\(1, 4\) coefficients, expected shape \(4,\)"),
        ([0, math.nan, 0, 0], "coefficients that are not finite"),
        ([0, math.inf, 0, 0], "coefficients that are not finite"),
    ],
)
def test_violations(coef, message):
    coefficients = CoefficientSet(NAMES, -3, 3, intercept_lower=-5, intercept_upper=5)
    problem = make(coefficients, min_size=1, max_size=2)
    found = problem.violations(coef)
    assert problem.is_feasible(coef) == (message is None)
    if message is None:
        assert found == []
    else:
        assert len(found) == 1
        assert re.fullmatch(message, found[0])


def test_every_violation_is_listed():
    problem = make(CoefficientSet(NAMES, -3, 3, intercept_lower=0, intercept_upper=0), max_size=1)
    assert len(problem.violations([1, 0.5, 7, 0])) == 4


@given(st.lists(st.integers(-4, 4), min_size=4, max_size=4), st.integers(0, 3), st.integers(0, 3))
def test_feasibility_agrees_with_its_definition(coef, a, b):
    problem = make(
        CoefficientSet(NAMES, [-3, 0, 1], [3, 2, 3], intercept_lower=-2, intercept_upper=3),
        min_size=min(a, b),
        max_size=max(a, b),
    )
    low, high, vector = np.array([-2, -3, 0, 1]), np.array([3, 3, 2, 3]), np.array(coef)
    size = sum(value != 0 for value in coef[1:])
    expected = bool(np.all((low <= vector) & (vector <= high))) and min(a, b) <= size <= max(a, b)
    assert problem.is_feasible(coef) == expected


# ---------------------------------------------------------------------------------------------
# Remarks
# ---------------------------------------------------------------------------------------------


def patients(**columns) -> RiskScoreProblem:
    """A problem on columns of four rows, with points from -5 to 5 and a free intercept."""
    data = TrainingData(columns, [0, 1, 1, 0])
    coefficients = CoefficientSet(data.feature_names)
    return RiskScoreProblem(data, coefficients)


def but_for_the_scale(problem, coef) -> tuple[str, ...]:
    """Remarks on other things; tests/problem/test_scale_remark.py is about the scale."""
    return tuple(one for one in problem.remarks(coef) if "scale is fixed" not in one)


def test_nothing_to_remark():
    problem = patients(smoker=[0, 1, 0, 1], visits=[0, 10, 2, 3])
    assert but_for_the_scale(problem, [-3, 4, -4]) == ()
    assert but_for_the_scale(problem, np.array([problem.lower[0], 1, 0])) == ()  # a derived bound


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([18, 58, 24, 30], "40 units of log-odds for 'x' (18 to 58, divide it by 10)."),
        ([20, 92, 20, 40], "72 units of log-odds for 'x' (20 to 92, divide it by 20)."),
        ([0, 10.5, 1, 2], "10.5 units of log-odds for 'x' (0 to 10.5, divide it by 5)."),
        ([0, 0, 25, 0], "25 units of log-odds for 'x' (0 to 25, divide it by 5)."),
        ([0, 50_001, 7, 9], "5e+04 units of log-odds for 'x' (0 to 50001, divide it by 20000)."),
    ],
)
@pytest.mark.parametrize("points", [0, 1])
def test_a_unit_that_is_too_small_for_a_point(values, expected, points):
    (remark,) = but_for_the_scale(patients(x=values, smoker=[0, 1, 0, 1]), [-1, points, 1])
    assert remark.startswith(f"One point per unit spans {expected}")
    # Divided as advised, there is nothing left to remark, and one point is not too little.
    divided = np.array(values) / float(re.search(r"divide it by ([\d.]+)\)", remark)[1])
    assert 1.5 < np.ptp(divided) <= 5
    assert but_for_the_scale(patients(x=divided, smoker=[0, 1, 0, 1]), [-1, points, 1]) == ()


def test_small_units_of_several_features_share_a_remark():
    (remark,) = but_for_the_scale(
        patients(age=[20, 90, 30, 45], bmi=[20, 55, 21.5, 30]), [-1, 0, 1]
    )
    assert remark == (
        "One point per unit spans 70 units of log-odds for 'age' (20 to 90, divide it by 20), 35 "
        "for 'bmi' (20 to 55, divide it by 10). That is too coarse: divide, or use cut-offs such "
        "as 'age >= 37.5'."
    )


def test_features_that_are_not_chosen_by_the_search_need_no_cut_offs():
    data = TrainingData({"age": [20, 90, 30, 45], "bmi": [20, 55, 21.5, 30]}, [0, 1, 1, 0])
    coefficients = CoefficientSet(data.feature_names, fixed={"age": 0, "bmi": 1})
    problem = RiskScoreProblem(data, coefficients)
    assert but_for_the_scale(problem, [-30, 0, 1]) == ()


def test_an_empty_score():
    problem = make()
    (remark,) = problem.remarks([0, 0, 0, 0])
    assert remark.startswith("No feature has points, so every row has the same risk")
    assert "points or a whole-number intercept are probably too coarse" in remark
    (remark,) = make(l0_penalty=0.5).remarks([0, 0, 0, 0])
    assert remark.endswith("can use lowers the loss by more than its price (l0_penalty).")
    assert make(max_size=0).remarks([0, 0, 0, 0]) == ()  # as was asked for


def test_points_that_are_all_ones():
    data = TrainingData(
        {"a": [0, 1, 1, 0], "b": [1, 0, 1, 0], "age": [20, 24, 22, 21]}, [0, 1, 0, 1]
    )

    def said(coef, most=5, scale=1) -> list[str]:
        coefficients = CoefficientSet(data.feature_names, -most, most)
        problem = RiskScoreProblem(data, coefficients, scale=scale)
        return [one for one in problem.remarks(coef) if "have 1 or -1" in one]

    (remark,) = said([-1, 1, -1, 0])
    assert remark.startswith("All 2 features with points have 1 or -1: one unit of log-odds may be")
    assert "A larger scale (2, 3 or free)" in remark
    assert not said([-1, 2, -1, 0])
    assert not said([-1, 1, 0, 0])
    assert not said([-1, 1, 0, 1])  # a point per year spans 4 units
    assert not said([-1, 1, -1, 0], scale=2)
    assert not said([-1, 1, -1, 0], scale=[1, 2])
    assert not said([-1, 1, -1, 0], most=1)


def test_points_that_are_nearly_all_ones():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 4))
    data = TrainingData(X, rng.random(60) < 0.2 + 0.2 * X[:, 0] + 0.2 * X[:, 1])
    coefficients = CoefficientSet(data.feature_names)
    problem = RiskScoreProblem(data, coefficients)
    said = [
        [one.partition(" features")[0] for one in problem.remarks(coef) if "have 1 or -1" in one]
        for coef in ([-1, 1, 1, -1, 2], [-1, 1, 1, 2, 0], [-1, 1, -1, 1, 1])
    ]
    assert said == [["3 of 4"], [], ["All 4"]]


def test_points_at_a_bound():
    coefficients = CoefficientSet(
        NAMES, -3, 3, sign={"bmi": "+"}, fixed={"smoker": 3}, intercept_lower=-2, intercept_upper=9
    )
    problem = make(coefficients, data=MIXED)
    assert but_for_the_scale(problem, [-1, 0, 3, 0]) == ()  # 0 is a sign's doing, 3 a fixed value
    assert but_for_the_scale(problem, [-2, -3, 3, 3]) == (
        "At a bound of the coefficient set: 'age' (-3), 'bmi' (3), the intercept (-2). Wider "
        "bounds may give a better score.",
    )


def test_bounds_that_force_a_feature_in_are_no_obstacle():
    lower, upper = {"age": 1, "smoker": -5}, {"age": 3, "smoker": -2}
    coefficients = CoefficientSet(NAMES, lower, upper, intercept_lower=1, intercept_upper=9)
    problem = make(coefficients, data=MIXED)
    assert but_for_the_scale(problem, [2, 1, -2, 0]) == ()
    (remark,) = but_for_the_scale(problem, [1, 3, -5, 0])
    assert remark.startswith(
        "At a bound of the coefficient set: 'age' (3), 'smoker' (-5), the intercept (1). "
    )


def test_remarks_need_all_coefficients():
    with pytest.raises(ValueError, match=r"coef has shape \(3,\), expected \(4,\)"):
        make().remarks([0, 1, 2])


# ---------------------------------------------------------------------------------------------
# Arguments in each other's place
# ---------------------------------------------------------------------------------------------


def test_a_loss_in_the_place_of_the_data():
    with pytest.raises(TypeError, match=r"data must be TrainingData, got LogisticLoss: .*Training"):
        RiskScoreProblem(make().loss, CoefficientSet(NAMES))


@pytest.mark.parametrize("prices", [{"age": 0.1}, [0.1, 0.1, 0.1]])
def test_prices_per_feature_belong_to_the_coefficients(prices):
    with pytest.raises(TypeError, match=r"l0_penalty must be one number, got .*CoefficientSet"):
        make(l0_penalty=prices)


# ---------------------------------------------------------------------------------------------
# Objective
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_objective_is_that_of_the_definition(seed):
    rng = np.random.default_rng([seed, 11])
    small = random_problem(rng)
    problem = small.build()
    for vector in rng.integers(-6, 7, (20, small.d + 1)):  # most of them infeasible
        assert problem.objective(vector) == pytest.approx(objective(small, vector), abs=1e-13)
        assert problem.loss.value(vector) == pytest.approx(loss(small, vector), abs=1e-13)
        assert problem.penalty(vector) == pytest.approx(
            small.prices()[vector[1:] != 0].sum(), abs=1e-15
        )
    low, high = problem.lower, problem.upper
    for vector in rng.integers(low, high, (50, small.d + 1), endpoint=True):
        assert problem.is_feasible(vector) == (not violations(small, vector))


def test_objective_of_real_valued_vectors():
    problem = make(l0_penalty=0.01)
    point = np.array([0.5, -0.25, 0.0, 1.75])
    margins = np.where(Y == 1, 1, -1) * (point[0] + X @ point[1:])
    expected = np.mean(np.log1p(np.exp(-margins))) + 0.02
    assert problem.objective(point) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("coef", [[0, 1], [0, 1, 0, 0, 0], [0, math.nan, 0, 0]])
def test_objective_refuses_wrong_vectors(coef):
    with pytest.raises(ValueError, match="coef"):
        make().objective(coef)


def test_repr():
    problem = make(
        CoefficientSet(NAMES, -3, 2, intercept_lower=-7, intercept_upper=8), min_size=1, max_size=2
    )
    assert repr(problem) == (
        "RiskScoreProblem(6 rows, 3 features, size 1..2, coefficients -3..2, intercept -7..8)"
    )


def test_restated_keeps_every_requirement_and_derives_the_rest_anew():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 3)), rng.integers(0, 2, 60)
    data, other = (TrainingData(X[rows], y[rows]) for rows in (slice(None), slice(30)))
    coefficients = CoefficientSet(data.feature_names, -4, 3, l0_penalty=[0.1, None, None])
    problem = RiskScoreProblem(
        data, coefficients, max_size=2, min_size=1, l0_penalty=0.01,
        constraints=[at_most(1, ["x1", "x2"])], scale=[1.0, 2.0],
    )  # fmt: skip
    for restated, rows in (
        (problem.restated(), data), (problem.restated(other), other),
        (problem.restated(other).restated(data), data),
        (problem.restated(max_size=1).restated(max_size=2), data),
    ):  # fmt: skip
        direct = RiskScoreProblem(
            rows, coefficients, max_size=2, min_size=1,
            l0_penalty=0.01, constraints=[at_most(1, ["x1", "x2"])], scale=[1.0, 2.0],
        )  # fmt: skip
        assert restated.loss.data is rows
        assert (restated.min_size, restated.max_size) == (1, 2)
        assert restated.scales == direct.scales
        assert restated.intercept_is_derived
        np.testing.assert_array_equal(restated.l0_penalty, direct.l0_penalty)
        np.testing.assert_array_equal(restated.lower, direct.lower)
        np.testing.assert_array_equal(restated.upper, direct.upper)
        assert restated.violations([0, 1, 1, 0]) == direct.violations([0, 1, 1, 0]) != []
    assert problem.restated(max_size=1).max_size == 1
    with pytest.raises(ValueError, match="max_size 0 is smaller than min_size 1"):
        problem.restated(max_size=0)


def test_restated_points_are_within_those_that_were_stated():
    rng = np.random.default_rng(0)
    data = TrainingData(rng.integers(0, 2, (60, 3)), rng.integers(0, 2, 60))
    names = data.feature_names
    coefficients = CoefficientSet(names, -4, 3, values={names[2]: [-2, 0, 1, 3]})
    problem = RiskScoreProblem(data, coefficients, max_size=2, l0_penalty=0.01)
    points = {names[0]: (0, 0), names[1]: (1, 9), names[2]: (0, 2)}
    narrowed = problem.restated(points=points)
    for found in (
        narrowed, narrowed.restated(max_size=1).restated(max_size=2), narrowed.restated(data),
        problem.restated(points={names[0]: (0, 2)}).restated(points=points),
    ):  # fmt: skip
        assert found.lower[1:].tolist() == [0, 1, 0]
        assert found.upper[1:].tolist() == [0, 3, 1]  # 2 is not among the stated values
        assert found.max_size == 2
        assert found.is_feasible([0, 0, 1, 1])
        assert not found.is_feasible([0, 0, 1, 2])
        assert not found.is_feasible([0, 1, 1, 0])
    assert narrowed.loss.store is problem.loss.store
    assert problem.upper[1:].tolist() == [3, 3, 3]
    with pytest.raises(ValueError, match=f"{names[0]!r} can have no coefficient of 4..9"):
        problem.restated(points={names[0]: (4, 9)})
    with pytest.raises(ValueError, match=f"{names[2]!r} can have no coefficient of 2..2"):
        problem.restated(points={names[2]: (2, 2)})
    with pytest.raises(ValueError, match="no feature is named 'x9'"):
        problem.restated(points={"x9": (0, 0)})


def test_a_size_that_is_not_stated_is_not_when_it_is_restated():
    coefficients = CoefficientSet(NAMES, -3, 3, fixed={"age": 0, "bmi": 0})
    problem = make(coefficients, min_size=2)
    assert problem.infeasibility is not None
    assert problem.restated(problem.loss.data).infeasibility == problem.infeasibility


# ---- separation --------------------------------------------------------------------------------


def separable(n=400):
    """Rows with a sign that three of the cases have, and a copy of the outcome."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (n, 2))
    y = rng.random(n) < 1 / (1 + np.exp(2 - 2 * X[:, 0]))
    sign = np.zeros(n, int)
    sign[np.flatnonzero(y)[:3]] = 1
    columns = {"a": X[:, 0], "sign": sign, "copy": y.astype(int), "level": 40 + 3 * y + X[:, 1]}
    return columns, np.where(y, "yes", "no")


def plain_facts(values, y, weights):
    """What a column says of either class, row by row."""
    facts = []
    for outcome in (0, 1):
        own = [v for v, label, w in zip(values, y, weights, strict=True) if label == outcome and w]
        counts = (own.count(0), own.count(1), len(own) - own.count(0) - own.count(1))
        facts.append((min(own, default=np.inf), max(own, default=-np.inf), counts))
    return facts


@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ConstantFeatureWarning")
@pytest.mark.parametrize("kind", ["rows", "weighted", "merged"])
def test_facts_of_columns(kind):
    rng = np.random.default_rng(6)
    for _ in range(40):
        n = int(rng.integers(4, 30))
        columns = {
            "ones": rng.integers(0, 2, n),
            "three": rng.integers(-1, 2, n),
            "levels": rng.integers(0, 4, n),
            "share": rng.choice([0.0, 0.5, 1.0], n),
            "real": rng.normal(size=n).round(1),
        }
        y = rng.permutation(np.arange(n) % 2)
        weights = rng.choice([0.0, 0.5, 1.0], n) if kind == "weighted" else np.ones(n)
        weights[:2] = 1.0
        y[:2] = 0, 1
        data = TrainingData(columns, y, weights if kind == "weighted" else None)
        rows = distinct_rows(data, always=True) if kind == "merged" else data.rows
        facts = column_facts(rows, tuple(range(5)))
        for values, (least, most, counts, totals, _) in zip(columns.values(), facts, strict=True):
            assert totals.tolist() == [sum((y == k) & (weights > 0)) for k in (0, 1)]
            expected = plain_facts(values.tolist(), y, weights)
            assert list(zip(least, most, strict=True)) == [one[:2] for one in expected]
            inside = min(least) >= 0 and max(most) <= 1
            assert counts.tolist() == [list(one[2]) if inside else [0, 0, 0] for one in expected]


@pytest.mark.parametrize("most", [5, 50])
def test_separation_is_said_whatever_the_bounds(most):
    columns, y = separable()
    X = pd.DataFrame({name: columns[name] for name in ("a", "sign")})
    classifier = RiskSLIMClassifier(max_size=2, max_coef=most, l2_penalty=0)
    classifier.fit(X, pd.Series(y, name="died"))
    assert set(classifier.risk_score_.points) == {"a", "sign"}
    (remark,) = classifier.remarks_
    assert remark.startswith("All 3 rows with 'sign' have the outcome (died = yes). More points")
    assert "Wider bounds" not in remark
    assert "allow fewer points" in remark


def test_kinds_of_separation():
    columns, y = separable()
    data = TrainingData(columns | {"not": 1 - columns["sign"], "no": 1 - columns["copy"]}, y)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    problem = RiskScoreProblem(data, coefficients)

    def said(*names):
        vector = [-1] + [int(name in names) for name in data.feature_names]
        return " ".join(problem.remarks(vector))

    assert "have the outcome" not in said("a")
    assert "All 3 rows without 'not' have the outcome" in said("not")
    assert "All rows with 'copy', and no others, have the outcome" in said("copy")
    assert "All rows without 'no', and no others, have the outcome" in said("no")
    assert "Is it known before the outcome is?" in said("no", "a")
    assert "'level' alone tells all rows with the outcome from those without" in said("level")
    assert "All 3 rows with 'sign' have the outcome; all 3 rows without 'not'" in said(
        "sign", "not"
    )
    # Rows of weight 0 do not count: then there is one row with the sign, or none that differs.
    weights = np.ones(len(y))
    weights[np.flatnonzero(columns["sign"])[1:]] = 0
    weighted = TrainingData(columns, y, weights)
    problem = RiskScoreProblem(weighted,
                               CoefficientSet(weighted.feature_names))  # fmt: skip
    assert "The one row with 'sign' has the outcome" in " ".join(problem.remarks([0, 0, 1, 0, 0]))


@pytest.mark.parametrize("n_events", [300, 60, 20])
@pytest.mark.parametrize("turned", [False, True])
def test_a_leak_with_a_few_exceptions_is_named(n_events, turned):
    """With 3 exceptions of 600 rows nothing was said."""
    rng = np.random.default_rng(3)
    y = rng.permutation(np.arange(600) < n_events)
    leak = y.astype(int)
    n_wrong = 3 if n_events > 20 else 1
    wrong = rng.choice(np.flatnonzero(y), n_wrong, replace=False)
    leak[wrong] = 0
    columns = {"a": rng.integers(0, 2, 600), "leak": 1 - leak if turned else leak}
    data = TrainingData(columns, np.where(y, "yes", "no"), outcome_name="died")
    problem = RiskScoreProblem(data, CoefficientSet(data.feature_names, -5, 5))
    points = [0, 0, -5 if turned else 5]
    remarks = problem.remarks(points)
    (remark,) = (one for one in remarks if "alone" in one)
    assert remark == (
        f"'leak' alone tells the outcome of all but {n_wrong} of 600 rows (died = yes): nearly a "
        "copy of it. Is it known before the outcome is? If not, leave it out."
    )
    # Wider bounds may help, as they do not for an exact copy.
    assert any(one.startswith("At a bound of the coefficient set: 'leak'") for one in remarks)
    assert not any("leak" in one for one in problem.remarks([0, 1, 0]))


@pytest.mark.parametrize("n_events", [300, 60, 20])
def test_good_features_are_no_leaks(n_events):
    rng = np.random.default_rng(3)
    y = rng.permutation(np.arange(600) < n_events)
    columns = {}
    for share in (0.02, 0.05, 0.1):
        changed = np.zeros(600, bool)
        for side in (y, ~y):
            of_side = np.flatnonzero(side)
            changed[rng.choice(of_side, int(np.ceil(share * len(of_side))), replace=False)] = True
        columns[f"x{share}"] = (y ^ changed).astype(int)
    columns["never"] = (np.arange(600) == 5).astype(int)
    data = TrainingData(columns, y.astype(int))
    problem = RiskScoreProblem(data, CoefficientSet(data.feature_names, -5, 5))
    assert "copy" not in " ".join(problem.remarks([0, 1, 1, 1, 1]))


@pytest.mark.parametrize("items", [None, ItemEncoder(thresholds={"age": [50]})])
def test_an_outcome_with_the_name_of_a_feature_is_remarked_on(items):
    """A series that was made of a column has the name of the column."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(0, 2, 200) * 40 + 20, "b": rng.integers(0, 2, 200)})
    y = (X["age"] + rng.normal(0, 30, 200) > 60).astype(int)
    if items is None:
        X["age"] //= 50
    named = RiskSLIMClassifier(max_size=2, items=items).fit(X, y)
    assert any(one.startswith("The outcome is called 'age', as one of") for one in named.remarks_)
    other = RiskSLIMClassifier(max_size=2, items=items).fit(X, y.rename("old"))
    assert not any("is called" in one for one in other.remarks_)


# ---- constraints on rates ----------------------------------------------------------------------


def rare(n=600):
    rng = np.random.default_rng(7)
    X = rng.integers(0, 2, (n, 4))
    return X, rng.random(n) < 1 / (1 + np.exp(3.3 - 1.6 * X[:, 0] - X[:, 1] - X[:, 2]))


def test_rates_that_inflate_risks_are_named():
    X, y = rare()
    limit = false_negative_rate_at_most(0.05, 0.5)
    classifier = RiskSLIMClassifier(max_size=3, scale=1, constraints=[limit]).fit(X, y)
    risk = classifier.predict_proba(X)[:, 1].mean()
    assert risk > 2 * y.mean()
    (remark,) = (one for one in classifier.remarks_ if "makes risks wrong" in one)
    assert f"the mean predicted risk is {risk:.1%}, where {y.mean():.1%} of the rows" in remark
    assert f"the loss {classifier.loss_:.4g}" in remark
    # What it says of the same points without the constraint is true.
    (intercept,) = map(int, re.findall(r"with the intercept (-?\d+) have", remark))
    other = dataclasses.replace(classifier.risk_score_, intercept=intercept, certificate=None)
    assert f"a mean risk of {other.predict_proba(X)[:, 1].mean():.1%}" in remark
    margins = np.where(y, -1, 1) * other.decision_function(X)
    assert f"and a loss of {np.logaddexp(0, margins).mean():.4g}." in remark
    losses = [np.logaddexp(0, margins + np.where(y, -k, k)).mean() for k in range(-8, 9)]
    assert np.argmin(losses) == 8  # no other intercept has a smaller one


@pytest.mark.parametrize(
    ("constraint", "how"),
    [
        (false_negative_rate_at_most(0.05, 0.01), "all of the rows positive"),
        (false_positive_rate_at_most(0.05, 0.99), "all of the rows negative"),
        (false_positive_rate_at_most(0.05, log_odds=20), "all of the rows negative"),
        (
            rate_gap_at_most(0.0, "positive", groups="x1", threshold=0.99),
            "all of the rows negative",
        ),
    ],
)
def test_rates_that_are_met_without_a_score_are_named(constraint, how):
    X, y = rare()
    data = TrainingData(X, y)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    problem = RiskScoreProblem(data, coefficients, constraints=[constraint])
    (remark,) = (one for one in problem.remarks([-3, 1, 1, 2, 0]) if "is met by" in one)
    assert f"({constraint.describe()}) is met by predicting {how}" in remark


def test_rates_that_a_score_meets_are_not_remarked_on():
    X, y = rare()
    limit = false_negative_rate_at_most(0.2, 0.1)
    classifier = RiskSLIMClassifier(max_size=3, constraints=[limit]).fit(X, y)
    assert not any("rates" in remark or "rate at most" in remark for remark in classifier.remarks_)


@pytest.mark.parametrize(
    ("points", "is_wrong"), [([3, 3, 3, 3, 3], True), ([1, 1, 2, 1, 1], False)]
)
def test_remarks_on_rates_are_about_the_scale_of_the_score(points, is_wrong):
    """The best scale of the points breaks the constraint: remarks had the figures of that score."""
    rng = np.random.default_rng(3)
    X = (rng.random((2000, 5)) < 0.3).astype(int)
    risk = 1 / (1 + np.exp(6 - X @ [1.5, 1, 2, 0.7, 1.2]))
    y = np.random.default_rng(1).random(2000) < risk
    data = TrainingData(X, y)
    fixed = dict(zip(data.feature_names, points, strict=True))
    problem = RiskScoreProblem(
        data, CoefficientSet(data.feature_names, -5, 5, fixed=fixed), scale=[1, 1.5, 2, 3],
        constraints=[false_negative_rate_at_most(0.05, threshold=0.02)],
    )  # fmt: skip
    solution = branch_and_bound(problem)
    coef, scale = solution.coef, solution.certificate.scale
    best = problem.loss.best_scale(coef)
    assert scale > best
    assert not problem.at_scale(best).is_feasible(coef)
    score = RiskScore.from_solution(solution, data, problem=problem)
    on_rates = [one for one in score.fit_remarks if "rates makes risks wrong" in one]
    assert len(on_rates) == is_wrong
    mean = score.predict_proba(X)[:, 1].mean()
    assert all(f"the mean predicted risk is {mean:.1%}, where" in remark for remark in on_rates)
    # The scale need not be told: it is the best one of those that are allowed.
    assert problem.remarks(coef) == problem.remarks(coef, scale=scale) == score.fit_remarks
    assert any(f"The scale {scale:g} is an end" in one for one in score.fit_remarks) == is_wrong
    assert "(low, high)" not in " ".join(score.fit_remarks)
    # Where none is, the best one of all: points of 0 miss everybody.
    assert problem.remarks([-9, 0, 0, 0, 0, 0]) == problem.remarks([-9, 0, 0, 0, 0, 0], scale=3)


def ranked(n_wrong, *, n=600, turned=False, seed=0):
    """A column of numbers with a cut-off that is wrong about so many rows."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    marker = np.where(y, rng.normal(9, 0.5, n), rng.normal(2, 0.5, n)).round(2)
    wrong = rng.choice(n, n_wrong, replace=False)
    marker[wrong] = np.where(y[wrong], 2.0, 9.0)
    return {"age": rng.integers(20, 90, n), "marker": -marker if turned else marker}, y.astype(int)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("n_wrong", "is_said"), [(1, True), (5, True), (20, False)])
def test_a_column_of_numbers_that_is_nearly_a_copy(n_wrong, is_said, turned):
    """Of a laboratory value as of a condition: it may not be known before the outcome is."""
    columns, y = ranked(n_wrong, turned=turned)
    data = TrainingData(columns, np.where(y, "yes", "no"), outcome_name="died")
    problem = RiskScoreProblem(data, CoefficientSet(data.feature_names, -5, 5))
    said = " ".join(problem.remarks([-1, 0, 1]))
    text = (
        f"a cut-off of 'marker' tells the outcome of all but {n_wrong} of 600 rows (died = yes): "
        "nearly a copy of it. Is it known before the outcome is?"
    )
    assert (text in said) == is_said
    assert "nearly a copy" not in " ".join(problem.remarks([-1, 1, 0]))


def test_nearly_a_copy_in_many_blocks(monkeypatch):
    """Of many rows some are looked at, block by block, and a share of them is said."""
    columns, y = ranked(9, n=6000)
    data = TrainingData(columns, y)
    problem = RiskScoreProblem(data, CoefficientSet(data.feature_names, -5, 5))
    assert "of all but 9 of 6000 rows" in " ".join(problem.remarks([-1, 0, 1]))
    monkeypatch.setattr("riskslim.problem.separation._KEPT_ROWS", 500)
    monkeypatch.setattr("riskslim.problem.separation._MOST_KEPT", 800)
    assert re.search(r"of all but 0\.\d\d% of rows", " ".join(problem.remarks([-1, 0, 1])))
    halves = [column_facts(TrainingData(
        {name: values[k::2] for name, values in columns.items()}, y[k::2]).rows, (1,))[0]
        for k in (0, 1)]  # fmt: skip
    joined = halves[0].joined(halves[1])
    assert joined.totals.sum() == 6000
    assert all(0 < len(kept) <= 800 for kept in joined.kept)
