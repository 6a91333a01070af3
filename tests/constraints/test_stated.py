"""How constraints are stated, refused and shown; conflicts by name; risks at several scales."""

from __future__ import annotations

import itertools
import math
import pickle
import types

import numpy as np
import pandas as pd
import polars as pl
import pytest

import riskslim.constraints.side_information
from riskslim import (
    CoefficientSet,
    LinearConstraint,
    LogisticLoss,
    RiskScoreProblem,
    TrainingData,
    at_least,
    at_most,
    at_most_variables,
    branch_and_bound,
    discrete_coordinate_descent,
    either_or,
    exactly,
    false_positive_rate_at_most,
    fixed_points,
    if_then,
    items_per_variable,
    lattice_cpa,
    minimum_points,
    model_size,
    monotone,
    not_both,
    points_in,
    risk_at_least,
    risk_at_most,
    variable,
)
from riskslim.constraints.rows import ConstraintRows
from riskslim.engines.choice import choose_engine, solve
from riskslim.exceptions import ConstantFeatureWarning

NAMES = ["age", "age >= 60", "age < 40", "age is missing", "sex = f"]
RNG = np.random.default_rng(0)
X = np.column_stack((RNG.integers(0, 4, 80), RNG.integers(0, 2, (80, 4)))).astype(float)
Y = (X @ [1, 1, -1, 0, 1] + RNG.normal(size=80) > 2).astype(int)
DATA = TrainingData(X, Y, feature_names=NAMES)
ENGINES = [branch_and_bound, lattice_cpa, lambda problem: lattice_cpa(problem, solver="scip")]
ENGINE_NAMES = ["branch_and_bound", "cplex", "scip"]


def make(*drawn, data=DATA, coefficients=None, scale=1.0, **arguments):
    coefficients = coefficients or CoefficientSet(data.feature_names, -3, 3)
    return RiskScoreProblem(data, coefficients, constraints=drawn, scale=scale, **arguments)


STATED = [
    (at_most(2, variable("age"), name="few"), "at most 2 of the features of 'age' are used"),
    (not_both("age", [NAMES[1], NAMES[2]]),
     "at most 1 of the groups ('age'), ('age >= 60', 'age < 40') is used"),
    (if_then([NAMES[0], NAMES[1]], "sex = f"),
     "if any of 'age', 'age >= 60' is used, 'sex = f' is used"),
    (if_then(variable("age"), variable("sex")),
     "if any of the features of 'age' is used, at least 1 of the features of 'sex' is used"),
    (at_most_variables(1), "at most 1 source variable is used"),
    (at_most_variables(2, name="two"), "at most 2 source variables are used"),
    (at_most_variables(1, [["age", NAMES[1]], [NAMES[4]]]),
     "at most 1 of the groups ('age', 'age >= 60'), ('sex = f') is used"),
    (LinearConstraint(any_used={("age", "sex = f"): 2.5}, points={"age": 1}, upper=3),
     "points of 'age' + 2.5 if any of 'age', 'sex = f' is used: at most 3"),
    (model_size(1, 3), "model size 1 to 3"),
    (model_size(2, name="size"), "model size at least 2"),
    (points_in("age", [0, 2, -1]), "points of 'age' are -1, 0 or 2"),
    (points_in(["age", "sex = f"], [0, 1]), "points of each of 'age', 'sex = f' are 0 or 1"),
    (fixed_points("age", 2), "points of 'age' are 2"),
    (minimum_points(variable("age"), 2),
     "points of the features of 'age' are 0, or at least 2 in absolute value"),
    (monotone("age", "-"), "points of 'age' are not positive"),
    (monotone([variable("age"), "sex = f"], "+", name="up"),
     "more of 'age', 'sex = f' never lowers the risk"),
    (risk_at_least(0.9, {"age": (">=", 2), "sex = f": True}),
     "risk at least 0.9 where 'age' >= 2 and 'sex = f' = 1"),
    (risk_at_most(0.25, profile={"age": 1.5}, name="young"),
     "risk at most 0.25 of a record with 'age' = 1.5"),
    (risk_at_most(0.25, profile={}), "risk at most 0.25 of a record with zeros"),
]  # fmt: skip


@pytest.mark.parametrize(("constraint", "words"), STATED)
def test_constraints_are_values(constraint, words):
    assert constraint.describe() == words
    assert constraint.label == (constraint.name or words)
    again = eval(repr(constraint))
    assert again == constraint
    assert hash(again) == hash(constraint)
    assert repr(again) == repr(constraint)
    assert pickle.loads(pickle.dumps(constraint)) == constraint
    with pytest.raises(AttributeError):
        constraint.name = "other"


def test_different_constraints_differ():
    for one, other in itertools.combinations([constraint for constraint, _ in STATED], 2):
        assert one != other
    assert points_in("age", [0, 2]) != points_in("age", [0, 2], name="n")
    assert risk_at_least(0.5, {"age": 1}) != risk_at_least(0.5, profile={"age": 1})
    # The order of a group does not matter.
    assert LinearConstraint(any_used={("a", "b"): 1}, upper=0) == LinearConstraint(
        any_used={("b", "a"): 1}, upper=0
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: variable(3), TypeError, "name of a variable must be a str, got 3"),
        (lambda: not_both("a", ["b", "a"]), ValueError, "'a' is named twice"),
        (lambda: not_both("a", []), ValueError, "no features are named"),
        (lambda: if_then("a", 3), TypeError, "expected names of features, got 3"),
        (lambda: at_most_variables(-1), ValueError, "must be at least 0, got -1"),
        (lambda: at_most_variables(1, []), ValueError, "no groups are given"),
        (lambda: at_most_variables(1, "ab"), TypeError, "several groups of features, got 'ab'"),
        (lambda: at_most_variables(1, variable("a")), TypeError, "several groups of features"),
        (lambda: at_most_variables(1, [["a", "b"], ["b"]]), ValueError, "'b' is named twice"),
        (lambda: at_most_variables(1, {"v": []}), ValueError, "no features are named"),
        (lambda: model_size(), ValueError, "needs a lower or an upper limit"),
        (lambda: model_size(3, 2), ValueError, "least model size, 3, exceeds the largest one, 2"),
        (lambda: model_size(1.5, 2), TypeError, "must be an int"),
        (lambda: points_in("a", []), ValueError, "no values are given"),
        (lambda: points_in("a", [0.5]), TypeError, "points must be an int, got 0.5"),
        (lambda: fixed_points("a", True), TypeError, "points must be an int, got True"),
        (lambda: minimum_points("a", 0), ValueError, "must be at least 1, got 0"),
        (lambda: monotone("a", "up"), ValueError, "sign must be '[+]', '-' or 'auto', got 'up'"),
        (lambda: monotone(sign="+"), ValueError, "for features that are named"),
        (lambda: items_per_variable(0), ValueError, "at least 1, got 0"),
        (lambda: items_per_variable("2"), TypeError, "items_per_variable"),
        (lambda: monotone([], "+"), ValueError, "no features are named"),
        (lambda: monotone("a", ["+"]), ValueError, "sign must be '[+]', '-' or 'auto', got"),
        (lambda: points_in("a", 3), TypeError, "several integers.*got 3; fixed_points"),
        (lambda: points_in("a", [0, 10**400]), ValueError, "points must be at most 2147483647"),
        (lambda: minimum_points("a", 2**31), ValueError, "points must be at most 2147483647"),
        (lambda: risk_at_most(0.5, profile={"a": 10**400}), ValueError, "must be finite"),
        (lambda: risk_at_most(0.5, profile={"(intercept)": 1}), ValueError, "about features of"),
        (lambda: risk_at_most(0.5, {"(intercept)": 1}), ValueError, "about features of records"),
        (lambda: points_in("a", [1], name=2), TypeError, "name must be a str, got 2"),
        (lambda: LinearConstraint(any_used={"ab": 1}, upper=0), TypeError, "tuples of features"),
        (lambda: LinearConstraint(any_used={("(intercept)", "a"): 1}, upper=0), ValueError,
         "the intercept is always used"),
        (lambda: LinearConstraint(any_used={("a", "b"): 1e7}, upper=0), ValueError,
         "at most 1e[+]06"),
        (lambda: risk_at_least(0, {"a": 1}), ValueError, "between 0 and 1, both excluded, got 0"),
        (lambda: risk_at_most(1.0, {"a": 1}), ValueError, "between 0 and 1"),
        (lambda: risk_at_most(math.nan, {"a": 1}), ValueError, "between 0 and 1"),
        (lambda: risk_at_most("high", {"a": 1}), TypeError, "risk must be a number, got 'high'"),
        (lambda: risk_at_most(0.5), ValueError, "conditions .where. or a record .profile."),
        (lambda: risk_at_most(0.5, {"a": 1}, profile={"a": 1}), ValueError, "and not both"),
        (lambda: risk_at_most(0.5, {}), ValueError, "no conditions are given"),
        (lambda: risk_at_most(0.5, pd.Series({"a": None})), TypeError, "number.*got None"),
        (lambda: risk_at_most(0.5, pd.Series([1, 2])), TypeError, "must map features.*got Series"),
        (lambda: risk_at_most(0.5, ["a"]), TypeError, "must map features to values.*got list"),
        (lambda: risk_at_most(0.5, {3: 1}), TypeError, "feature names must be str, got 3"),
        (lambda: risk_at_most(0.5, {"a": "yes"}), TypeError, r"a number, or a pair such as"),
        (lambda: risk_at_most(0.5, {"a": ("~", 1)}), ValueError, "operator for 'a' must be one of"),
        (lambda: risk_at_most(0.5, {"a": math.inf}), ValueError, "must be finite, got inf"),
        (lambda: risk_at_most(0.5, profile={"a": ("<", 1)}), TypeError, "must be a number, got"),
    ],
)  # fmt: skip
def test_bad_calls(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (at_most(1, variable("Age")), r"the variable 'Age', of which there is no feature .did you "
         "mean 'age'"),
        (at_most(1, [variable("age"), "age < 40"]), "names the feature 'age < 40' twice, once by"),
        (at_most(1, ["age", "ages"]), "features that do not exist: 'ages'"),
        (not_both("age", ["heigth"]), "features that do not exist: 'heigth'"),
        (points_in("bmi", [0, 1]), "features that do not exist: 'bmi'"),
        (points_in("(intercept)", [0, 1]), "names the intercept: bound it by intercept_lower"),
        (monotone(variable("sex"), "+"), "none of its features grows or falls with it: name those "
         "that are meant, of 'sex = f'"),
        (at_most(1, ["sex"]), r"'sex' .a variable, with features 'sex = f'; in constraints "
         r"variable.'sex'. stands for them"),
        (risk_at_least(0.5, {"agee": 1}), r"not exist: 'agee' .did you mean 'age'"),
        (risk_at_least(0.5, profile={"agee": 1}), "not exist: 'agee'"),
        (risk_at_least(0.5, {"age": 17}), "no training record satisfies the conditions"),
        (if_then(variable("sex"), "sex = f"), "names the feature 'sex = f' twice"),
    ],
)  # fmt: skip
def test_what_a_problem_refuses(constraint, message):
    if constraint == if_then(variable("sex"), "sex = f"):
        constraint = LinearConstraint(used={variable("sex"): 1, "sex = f": 1}, upper=1)
    with pytest.raises(ValueError, match=message):
        make(constraint)


def test_records_with_large_values():
    data = TrainingData({"a": [0, 1, 0, 1], "income": [2e6, -3e6, 0, 1]}, [0, 1, 1, 0])
    message = "the constraint .rich. is about a record with 'income' = -3000000; at most 1e[+]06"
    with pytest.raises(ValueError, match=message):
        make(risk_at_least(0.5, {"a": (">=", 0)}, name="rich"), data=data)
    left_out = CoefficientSet(data.feature_names, fixed={"income": 0})
    make(risk_at_least(0.5, {"a": (">=", 0)}), data=data, coefficients=left_out)


def test_names_out_of_arrays_are_names():
    features = np.array(["age", "sex = f"])
    assert repr(at_most(1, features)) == repr(at_most(1, ["age", "sex = f"]))
    assert LinearConstraint(used={features[0]: 1}, upper=0).describe().count("np.str_") == 0
    assert risk_at_most(0.5, profile={features[0]: 1}).describe().count("np.str_") == 0


@pytest.mark.parametrize(
    "record",
    [
        pd.Series({"age": 2, "sex = f": 1}),
        pd.DataFrame({"age": [2], "sex = f": [True], "note": ["x"]})[["age", "sex = f"]].iloc[0],
        pd.Series({"age": 2, "sex = f": 1}, dtype="Int64"),
        pl.DataFrame({"age": [2], "sex = f": [1]}).row(0, named=True),
        types.MappingProxyType({"age": np.int8(2), "sex = f": np.True_}),
    ],
)
def test_records_of_any_library(record):
    expected = {"age": 2, "sex = f": 1}
    assert risk_at_least(0.5, record) == risk_at_least(0.5, expected)
    assert risk_at_most(0.5, profile=record) == risk_at_most(0.5, profile=expected)


def test_monotone_variables():
    names = ["age", "age >= 60", "age > 70", "age<40", "age ≤ 30", "age = 50", "age is missing",
             "40 <= age < 60", "ageing", "sex = f"]  # fmt: skip
    rows = ConstraintRows([monotone([variable("age"), "sex = f"], "-")], names)
    signs = {names[j - 1]: -1 if ends == ((-math.inf, 0),) else 1
             for _, j, ends in rows.allowed_points}  # fmt: skip
    assert signs == {
        "age": -1, "age >= 60": -1, "age > 70": -1, "age<40": 1, "age ≤ 30": 1, "sex = f": -1,
    }  # fmt: skip


def test_groups_of_one_feature_are_features():
    rows = ConstraintRows([at_most_variables(1)], NAMES)
    assert [group.tolist() for group in rows.groups] == [[0, 1, 2, 3]]
    np.testing.assert_array_equal(rows.used, [[0, 0, 0, 0, 1]])
    np.testing.assert_array_equal(rows.any_used, [[1]])
    assert rows.violations([9, 0, 2, 0, 0, 1]) == [
        "at most 1 source variable is used: broken by 'age >= 60' (2), 'sex = f' (1)"
    ]
    assert rows.violations([9, 0, 2, 1, 0, 0]) == []
    same = LinearConstraint(any_used={("age", "sex = f"): 1, ("sex = f", "age"): -1}, upper=0)
    with pytest.raises(ValueError, match="cancel out"):
        ConstraintRows([same], NAMES)


@pytest.mark.parametrize(
    ("constraint", "box", "expected"),
    [
        # A member is in: the other group is out.
        (not_both("age", NAMES[1:3]), ([0, 0, 1, 0, 0, 0], [0, 3, 3, 3, 0, 0]),
         ([0, 0, 1, 0, 0, 0], [0, 0, 3, 3, 0, 0])),
        # The last member of a group that must be in.
        (if_then("age", NAMES[1:3]), ([0, 1, 0, 0, 0, 0], [0, 3, 3, 0, 0, 0]),
         ([0, 1, 1, 0, 0, 0], [0, 3, 3, 0, 0, 0])),
        (if_then(NAMES[1:3], "age"), ([0, 0, 0, 0, 0, 0], [0, 0, 3, 3, 0, 0]),
         ([0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0])),
        (at_most_variables(1), ([0, 0, 0, 0, 0, 2], [0, 3, 3, 3, 3, 3]),
         ([0, 0, 0, 0, 0, 2], [0, 0, 0, 0, 0, 3])),
        # Ends of intervals move to the next allowed points.
        (points_in("age", [-3, 0, 2]), ([0, -2, 0, 0, 0, 0], [0, 3, 0, 0, 0, 0]),
         ([0, 0, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0])),
        (points_in("age", [-3, 2]), ([0, -2, 0, 0, 0, 0], [0, 3, 0, 0, 0, 0]),
         ([0, 2, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0])),
        (points_in("age", [-3, 2]), ([0, -2, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]), None),
        (minimum_points("age", 2), ([0, -1, 0, 0, 0, 0], [0, 3, 0, 0, 0, 0]),
         ([0, 0, 0, 0, 0, 0], [0, 3, 0, 0, 0, 0])),
        (fixed_points("age", 2), ([0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]), None),
    ],
)  # fmt: skip
def test_propagation_of_groups_and_points(constraint, box, expected):
    low, high = np.array(box[0]), np.array(box[1])
    fits = ConstraintRows([constraint], NAMES).propagate(low, high)
    assert (low.tolist(), high.tolist()) == expected if fits else expected is None


# ---------------------------------------------------------------------------------------------
# Conflicts
# ---------------------------------------------------------------------------------------------

CONFLICTS = [
    # Propagation alone sees nothing in these.
    ([LinearConstraint(points={"age": 1, "age >= 60": 1}, lower=1, upper=1, name="odd"),
      at_most(3, NAMES, name="superfluous"),
      LinearConstraint(points={"age": 1, "age >= 60": -1}, lower=0, upper=0, name="even")],
     {"odd", "even"}),
    ([at_least(2, NAMES[:3], name="two"), not_both("age", "age >= 60", name="ab"),
      model_size(0, 4, name="superfluous"), either_or("age >= 60", "age < 40", name="bc"),
      not_both(["age", "sex = f"], "age < 40", name="ac")],
     {"two", "ab", "bc", "ac"}),
    ([exactly(2, ["age", "age >= 60", "sex = f"], name="two"), at_most_variables(1, name="one"),
      points_in(["age", "age >= 60"], [0, 1, 3], name="sets"),
      LinearConstraint(points={"age": 1, "age >= 60": 1}, lower=3, upper=3, name="three"),
      minimum_points(["age"], 2, name="large"), points_in("age >= 60", [0, 1, 2], name="small"),
      LinearConstraint(points={"age": 1}, upper=2, name="not 3")],
     {"sets", "three", "small", "not 3"}),
    ([risk_at_least(0.9, {"age": (">=", 2)}, name="old"), monotone("age", "+"),
      risk_at_most(0.5, {"age": 3}, name="oldest")], {"old", "oldest"}),
    ([risk_at_most(0.1, profile={}, name="none"), fixed_points("age", -1, name="falls"),
      risk_at_least(0.5, profile={"age": 2}, name="age 2"), model_size(0, 4)],
     {"none", "falls", "age 2"}),
]  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES, ids=ENGINE_NAMES)
@pytest.mark.parametrize(("drawn", "names"), CONFLICTS)
def test_conflicts_are_named(drawn, names, engine):
    problem = make(*drawn)
    certificate = engine(problem).certificate
    assert certificate.status.value == "infeasible"
    listed = certificate.message.removeprefix("these constraints contradict each other: ")
    assert set(listed.removeprefix("(").removesuffix(")").split(") and (")) == names


def test_gaps_of_the_coefficient_set_are_named():
    coefficients = CoefficientSet(NAMES, -3, 3, values={"age": [0, 3]})
    odd = LinearConstraint(points={"age": 1}, lower=1, upper=2, name="one or two")
    assert make(odd, coefficients=coefficients).infeasibility == (
        "these constraints contradict each other: (points of 'age' are 0 or 3) and (one or two)"
    )


# ---------------------------------------------------------------------------------------------
# Coefficient sets with gaps
# ---------------------------------------------------------------------------------------------


def test_values_are_the_coefficients():
    coefficients = CoefficientSet(NAMES, -3, 3, values={"age": [9, 0, 2, 2], "sex = f": range(3)})
    assert coefficients.gaps == {"age": (0, 2, 9)}
    assert (coefficients.lower[0], coefficients.upper[0]) == (0, 9)
    assert (coefficients.lower[4], coefficients.upper[4]) == (0, 2)
    assert "1 with gaps" in repr(coefficients)
    assert coefficients != CoefficientSet(NAMES, [0, -3, -3, -3, 0], [9, 3, 3, 3, 2])
    assert coefficients.replace(fix_at_zero=[0]).gaps == {}
    assert coefficients.replace(intercept_lower=3).gaps == coefficients.gaps
    fixed = CoefficientSet(NAMES, values={"age": [0, 2]}, fixed={"age": 2})
    assert (fixed.lower[0], fixed.upper[0], fixed.gaps) == (2, 2, {})


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"values": {"agee": [1]}}, ValueError, "values names features that do not exist: 'agee'"),
        ({"values": {"age": []}}, ValueError, "values of 'age' must be several .* got none"),
        ({"values": {"age": 3}}, TypeError, "values of 'age' must be several integers, got 3"),
        ({"values": {"age": [0.5]}}, ValueError, "each of values of 'age' must be a"),
        ({"values": {"age": [-1, 2]}, "sign": {"age": "+"}}, ValueError,
         "values of 'age' are -1, 2: -1 contradicts its sign"),
        ({"values": {"age": [0, 2]}, "fixed": {"age": 1}}, ValueError,
         r"fixed at 1, which is none of its values \(0, 2\)"),
    ],
)  # fmt: skip
def test_bad_values(arguments, error, message):
    with pytest.raises(error, match=message):
        CoefficientSet(NAMES, **arguments)


def test_constant_features_need_zero_among_their_values():
    with pytest.warns(ConstantFeatureWarning):
        data = TrainingData({"a": X[:, 0], "one": np.ones(80)}, Y)
    coefficients = CoefficientSet(["a", "one"], values={"one": [-2, 3]})
    with pytest.raises(ValueError, match=r"'one' cannot be left out: its coefficient is one of -2"):
        LogisticLoss(data, coefficients)


def test_gaps_are_left_out():
    values = {"age": [0, 3], "age >= 60": [-2, 2], "sex = f": [-3, 0, 5]}
    problem = make(coefficients=CoefficientSet(NAMES, -2, 2, values=values))
    assert problem.violations([0, 1, 2, 0, 0, 0]) == [
        "points of 'age' are 0 or 3: broken by 'age' (1)"
    ]
    best = min(
        problem.objective([b, *points])
        for points in itertools.product([0, 3], [-2, 2], range(-2, 3), range(-2, 3), [-3, 0, 5])
        for b in range(-12, 5)
    )
    for name, engine in zip(ENGINE_NAMES, ENGINES, strict=True):
        solution = engine(problem)
        assert solution.certificate.is_optimal, name
        assert solution.certificate.objective == pytest.approx(best, abs=1e-9), name
    descended = discrete_coordinate_descent(problem, [0, 0, 2, 0, 0, 0], swaps=True)
    assert problem.is_feasible(descended.coefficients)
    assert descended.coefficients[5] in (-3, 0, 5)


# ---------------------------------------------------------------------------------------------
# Side information
# ---------------------------------------------------------------------------------------------


def risk_rows(constraint, **arguments):
    problem = make(constraint, **arguments)
    return problem, problem.constraint_rows


def test_one_row_for_each_different_record():
    _, rows = risk_rows(risk_at_least(0.5, {"age": (">=", 1)}))
    expected = np.unique(X[X[:, 0] >= 1], axis=0)
    assert len(rows) == len(expected)
    np.testing.assert_array_equal(np.unique(rows.points[:, 1:], axis=0), expected)
    np.testing.assert_array_equal(rows.points[:, 0], 1)
    np.testing.assert_array_equal(rows.lower, 0)  # log-odds of 0.5, as an integer row
    # Features that cannot be used tell no records apart.
    fixed = CoefficientSet(NAMES, -3, 3, fixed=dict.fromkeys(NAMES[1:], 0))
    _, rows = risk_rows(risk_at_least(0.5, {"age": (">=", 1)}), coefficients=fixed)
    assert sorted(rows.points[:, 1]) == [1, 2, 3]


def test_records_that_others_imply_are_left_out():
    signs = CoefficientSet(NAMES, -3, 3, sign={"age": "+", "age < 40": "-"})
    problem, rows = risk_rows(risk_at_least(0.2, {"sex = f": 1}), coefficients=signs)
    free, every = risk_rows(risk_at_least(0.2, {"sex = f": 1}))
    assert len(rows) < len(every)
    for vector in RNG.integers(problem.lower, problem.upper, (600, 6), endpoint=True):
        assert (not rows.violations(vector)) == (not every.violations(vector))
    other, few = risk_rows(risk_at_most(0.2, {"sex = f": 1}), coefficients=signs)
    _, most = risk_rows(risk_at_most(0.2, {"sex = f": 1}))
    for vector in RNG.integers(other.lower, other.upper, (600, 6), endpoint=True):
        assert (not few.violations(vector)) == (not most.violations(vector))
    assert free.infeasibility is None


def test_too_many_records(monkeypatch):
    monkeypatch.setattr(riskslim.constraints.side_information, "MAX_RECORDS", 5)
    with pytest.raises(ValueError, match=r"is about \d+ different records, more than the 5 that"):
        make(risk_at_least(0.5, {"age": (">=", 0)}))
    make(risk_at_least(0.5, {"age": 3, "age >= 60": 1, "age < 40": 1}))


def test_risks_that_are_written_as_numbers():
    """A risk of a score of 2, computed and written, allows this score."""
    p = 1 / (1 + math.exp(-2))
    for bound in (risk_at_least, risk_at_most):
        problem = make(bound(p, profile={}))
        assert problem.is_feasible([2, 0, 0, 0, 0, 0])
    assert make(risk_at_least(p, profile={})).violations([1, 0, 0, 0, 0, 0]) == [
        "risk at least 0.8807970780 of a record with zeros: broken by '(intercept)' (1)".replace(
            "0.8807970780", f"{p:.10g}")
    ]  # fmt: skip


def test_a_feature_named_as_the_intercept():
    data = TrainingData({"(intercept)": X[:, 0], "b": X[:, 1]}, Y)
    with pytest.raises(ValueError, match="rename the feature"):
        make(risk_at_least(0.5, profile={"b": 1}), data=data)


def test_risks_need_one_scale_or_a_list():
    bound = risk_at_least(0.9, {"age": 3}, name="old")
    with pytest.raises(ValueError, match=r"\(old\) says another thing at every scale.*list"):
        make(bound, scale=(1, 5))
    even = risk_at_least(0.5, {"age": 3})
    assert not even.depends_on_scale
    solution = branch_and_bound(make(even, scale=(1, 5)))
    assert all(X[X[:, 0] == 3] @ solution.coefficients + solution.intercept >= 0)


@pytest.mark.parametrize("solver", ["cplex", "scip"])
def test_risks_with_a_list_of_scales(solver):
    scales = [0.5, 1.0, 3.0]
    drawn = [risk_at_least(0.85, {"age": 3}), risk_at_most(0.3, profile={}), at_most(3, NAMES)]
    problem = make(*drawn, scale=scales)
    assert problem.is_constrained_per_scale
    assert choose_engine(problem).name == "branch_and_bound"
    each = [branch_and_bound(make(*drawn, scale=m)) for m in scales]
    best = min(each, key=lambda one: one.certificate.objective)
    for solution in (solve(problem), solve(problem, "lattice_cpa", solver=solver)):
        assert solution.certificate.is_optimal
        found = solution.certificate.objective
        assert found == pytest.approx(best.certificate.objective, abs=2e-9)
        assert solution.scale == best.scale
        old = (X[X[:, 0] == 3] @ solution.coefficients + solution.intercept) / solution.scale
        assert (1 / (1 + np.exp(-old)) >= 0.85 - 1e-9).all()


def test_scales_without_a_score():
    """The sum of points can reach the risk at small scales alone."""
    few = CoefficientSet(NAMES, -1, 1, intercept_lower=-1, intercept_upper=1)
    bound = risk_at_least(0.99, {"age": 3}, name="old")
    problem = make(bound, coefficients=few, scale=[0.5, 4.0], max_size=1)
    alone = branch_and_bound(make(bound, coefficients=few, scale=0.5, max_size=1)).certificate
    for engine in (branch_and_bound, lattice_cpa):
        solution = engine(problem)
        assert solution.certificate.is_optimal
        assert solution.scale == 0.5
        assert solution.certificate.objective == pytest.approx(alone.objective, abs=2e-9)
        none = engine(make(bound, coefficients=few, scale=[4.0, 5.0], max_size=1))
        assert none.certificate.status.value == "infeasible"
        assert "(old)" in none.certificate.message


# ---------------------------------------------------------------------------------------------
# Kinds that are no rows
# ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_checks_on_the_records():
    problem = make(false_positive_rate_at_most(0, 0.5, name="nobody"), at_most(4, NAMES))
    assert len(problem.rates) == 1
    assert problem.violations([0, 0, 0, 0, 0, 0]) == ["nobody: it is 1"]
    assert problem.is_feasible([-1, 0, 0, 0, 0, 0])
    assert problem.is_feasible(branch_and_bound(problem).coef)
    found = discrete_coordinate_descent(problem, [-1, 0, 0, 0, 0, 0], swaps=True)
    assert problem.is_feasible(found.coefficients)
    assert make(at_most(4, NAMES)).rates == ()
