"""Linear constraints: how they are stated, what they say, and that propagation is safe."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumeration import meet
from riskslim import (
    CoefficientSet,
    LinearConstraint,
    RiskScoreProblem,
    TrainingData,
    at_least,
    at_most,
    either_or,
    exactly,
    if_then,
    lattice_cpa,
    points_in,
)
from riskslim.constraints.rows import ConstraintRows
from riskslim.problem.conflicts import conflicting_constraints

NAMES = ["a", "b", "c"]

# ---------------------------------------------------------------------------------------------
# One constraint
# ---------------------------------------------------------------------------------------------


def test_terms_and_bounds():
    constraint = LinearConstraint(
        points={"a": 2, "(intercept)": -0.5, "b": 0}, used={"c": np.int64(3)}, upper=4, name="n"
    )
    assert constraint.points == {"a": 2.0, "(intercept)": -0.5}
    assert constraint.used == {"c": 3.0}
    assert (constraint.lower, constraint.upper, constraint.name) == (-math.inf, 4.0, "n")


def test_constraints_are_immutable():
    constraint = at_most(1, NAMES)
    constraint.used["a"] = 7.0
    assert constraint.used["a"] == 1.0
    for attribute in ("points", "used", "lower", "upper", "name", "other"):
        with pytest.raises(AttributeError):
            setattr(constraint, attribute, 1)


def test_equality():
    one = LinearConstraint(points={"a": 1, "b": 2}, upper=3)
    other = LinearConstraint(points={"b": 2, "a": 1, "c": 0}, upper=3.0)
    assert one == other
    assert hash(one) == hash(other)
    assert one == pickle.loads(pickle.dumps(one))
    assert len({one, other, at_most(1, NAMES)}) == 2
    for different in (
        LinearConstraint(points={"a": 1, "b": 2}, upper=4),
        LinearConstraint(points={"a": 1, "b": 2}, lower=0, upper=3),
        LinearConstraint(points={"a": 1, "b": 1}, upper=3),
        LinearConstraint(used={"a": 1, "b": 2}, upper=3),
        LinearConstraint(points={"a": 1, "b": 2}, upper=3, name="budget"),
    ):
        assert one != different
    assert one != "a"


@pytest.mark.parametrize(
    "constraint",
    [
        LinearConstraint(points={"a": 1, "(intercept)": -2.5}, used={"b": 1}, lower=-1, upper=0.1),
        exactly(2, NAMES),
        if_then("a", "b"),
        LinearConstraint(used={"a'b": 1}, upper=0, name='the "name"'),
    ],
)
def test_repr_is_the_constraint(constraint):
    assert eval(repr(constraint)) == constraint


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        (at_most(1, ["a"]), "at most 1 of 'a' is used"),
        (at_most(2, NAMES), "at most 2 of 'a', 'b', 'c' are used"),
        (at_most(0, ["a"]), "at most 0 of 'a' are used"),
        (at_least(1, NAMES), "at least 1 of 'a', 'b', 'c' is used"),
        (exactly(2, NAMES), "exactly 2 of 'a', 'b', 'c' are used"),
        (either_or("a", "b"), "at most 1 of 'a', 'b' is used"),
        (if_then("a", "b"), "if 'a' is used, 'b' is used"),
        (if_then("b", ("a", "c")), "if 'b' is used, at least 1 of 'a', 'c' is used"),
        (LinearConstraint(used=dict.fromkeys(NAMES, 1), lower=1, upper=2),
         "1 to 2 of 'a', 'b', 'c' are used"),
        (LinearConstraint(used={"a": -1, "b": -1}, lower=0), "- 1 if 'a' is used - 1 if 'b' is "
         "used: at least 0"),
        (LinearConstraint(points={"a": 1, "b": -1}, lower=0), "points of 'a' - points of 'b': at "
         "least 0"),
        (LinearConstraint(points={"(intercept)": 1, "a": -0.5}, used={"c": 3}, lower=-1, upper=4),
         "the intercept - 0.5 times points of 'a' + 3 if 'c' is used: -1 to 4"),
        (at_most(3, [f"x{j}" for j in range(12)]),
         "at most 3 of 'x0', 'x1', 'x2', 'x3', 'x4', 'x5', 'x6', 'x7', 'x8', 'x9', ... and 2 more "
         "are used"),
        (LinearConstraint(points={f"x{j}": 1 for j in range(12)}, upper=9),
         " + ".join(f"points of 'x{j}'" for j in range(10)) + " ... and 2 more terms: at most 9"),
    ],
)  # fmt: skip
def test_descriptions(constraint, words):
    assert constraint.describe() == words


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"upper": 1}, ValueError, "at least one coefficient other than 0"),
        ({"points": {"a": 0.0}, "upper": 1}, ValueError, "at least one coefficient other than 0"),
        ({"points": {"a": 1}}, ValueError, "finite lower or upper bound"),
        ({"points": {"a": 1}, "lower": 2, "upper": 1}, ValueError, "lower bound 2 exceeds"),
        ({"points": {"a": 1}, "lower": math.inf}, ValueError, "finite lower or upper bound"),
        ({"points": {"a": 1}, "upper": math.nan}, ValueError, "upper must not be NaN"),
        ({"points": {"a": 1}, "upper": "3"}, TypeError, "upper must be a number, got '3'"),
        ({"points": {"a": math.nan}, "upper": 1}, ValueError, "coefficient of 'a' in points"),
        ({"points": {"a": math.inf}, "upper": 1}, ValueError, "at most 1e.06 in absolute value"),
        ({"used": {"a": 1e7}, "upper": 1}, ValueError, "coefficient of 'a' in used"),
        ({"used": {"a": True}, "upper": 1}, TypeError, "must be a number, got True"),
        ({"used": {3: 1}, "upper": 1}, TypeError, "used must be named by str, got 3"),
        ({"used": ["a"], "upper": 1}, TypeError, "used must map names to coefficients.*got list"),
        ({"used": {"(intercept)": 1}, "upper": 1}, ValueError, "intercept is always used"),
        ({"used": {"a": 1}, "upper": 1, "name": 1}, TypeError, "name must be a str"),
        ({"used": {"a": 10**400}, "upper": 1}, ValueError, "coefficient of 'a' in used"),
        ({"used": {"a": 1}, "lower": 10**400}, ValueError, "finite lower or upper bound"),
    ],
)
def test_bad_constraints(arguments, error, message):
    with pytest.raises(error, match=message):
        LinearConstraint(**arguments)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: at_most(-1, NAMES), ValueError, "must be at least 0, got -1"),
        (lambda: at_most(1.0, NAMES), TypeError, r"must be an int, got 1\.0"),
        (lambda: at_most(1, "abc"), TypeError, "several names of features, got one str, 'abc'"),
        (lambda: at_most(NAMES, 2), TypeError, r"number comes first: at_most\(n, features\)"),
        (lambda: at_least(NAMES, 2), TypeError, r"number comes first: at_least\(n, features\)"),
        (lambda: exactly(NAMES, 2), TypeError, r"number comes first: exactly\(n, features\)"),
        (lambda: if_then("a", 2), TypeError, r"expected names of features, got 2$"),
        (lambda: at_most(1, []), ValueError, "no features are named"),
        (lambda: at_most(1, None), TypeError, r"expected names of features, got None$"),
        (lambda: at_most(1, ["a", "b", "a"]), ValueError, "'a' is named twice"),
        (lambda: at_least(4, NAMES), ValueError, "between 0 and 3, the features named, got 4"),
        (lambda: exactly(4, NAMES), ValueError, "between 0 and 3"),
        (lambda: either_or("a", "a"), ValueError, "'a' is named twice"),
        (lambda: either_or("a", 1), TypeError, "feature names must be str, got 1"),
        (lambda: if_then("a", ["b", "a"]), ValueError, "'a' is named twice"),
        (lambda: if_then("a", []), ValueError, "no features are named"),
    ],
)
def test_bad_calls(call, error, message):
    with pytest.raises(error, match=message):
        call()


# ---------------------------------------------------------------------------------------------
# Rows
# ---------------------------------------------------------------------------------------------


def test_rows_are_resolved_by_name():
    rows = ConstraintRows(
        [
            LinearConstraint(points={"c": 2, "(intercept)": 1}, used={"a": -1}, upper=3.5),
            LinearConstraint(points={"b": 0.5}, lower=1, upper=2.2, name="half"),
            LinearConstraint(points={"b": np.pi, "a": -1}, lower=1, upper=2, name="pi"),
        ],
        NAMES,
    )
    np.testing.assert_array_equal(rows.points, [[1, 0, 0, 2], [0, 0, 1, 0], [0, -1, np.pi, 0]])
    np.testing.assert_array_equal(rows.used, [[-1, 0, 0], [0, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(rows.lower, [-np.inf, 2, 1 - 1e-9 * np.pi])
    np.testing.assert_array_equal(rows.upper, [3, 4, 2 + 1e-9 * np.pi])
    assert rows.is_integer.tolist() == [True, True, False]
    assert rows.names == (rows.constraints[0].describe(), "half", "pi")
    assert len(rows) == 3
    assert repr(rows) == "ConstraintRows(3 rows, 3 features)"
    np.testing.assert_array_equal(rows.sums([1, 4, 3, 2]), [4, 3, 3 * np.pi - 4])
    for array in (rows.points, rows.used, rows.lower, rows.upper):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_common_divisors_are_taken_out():
    even = LinearConstraint(points={"a": 2, "(intercept)": 4}, used={"b": -2}, lower=1, upper=7)
    decimal = LinearConstraint(points={"a": 0.3}, any_used={("b", "c"): 0.6}, lower=0.1)
    rows = ConstraintRows([even, decimal], NAMES)
    assert rows.points.tolist() == [[2, 1, 0, 0], [0, 1, 0, 0]]
    assert (rows.lower.tolist(), rows.upper.tolist()) == ([1, 1], [3, math.inf])
    nothing = LinearConstraint(points=dict.fromkeys(NAMES, 2), lower=1, upper=1, name="odd")
    problem = make(nothing)
    assert problem.infeasibility == "no points within their bounds meet the constraint (odd)"


@pytest.mark.parametrize(
    ("values", "factor"),
    [
        ([3, -2], 1),
        ([0.1, 0.2], 10),
        ([0.1 + 0.2, 1], 10),
        ([1 / 3, 0.25], 12),
        ([2 / 3, -1 / 3], 3),
        ([12.75, 99.98], 100),
        ([0.125, 2], 8),
        ([0.0001, 1], 10_000),
        ([0.0001, 1e3], None),  # would be too large
        ([0.00001, 1], None),
        ([2**0.5, 1], None),
        ([1e-300, 1], None),
    ],
)
def test_decimals_become_integers(values, factor):
    terms = dict(zip("ab", values, strict=True))
    rows = ConstraintRows([LinearConstraint(points=terms, lower=-0.3, upper=2)], NAMES)
    assert rows.is_integer.tolist() == [factor is not None]
    expected = np.array(values) if factor is None else np.rint(np.array(values) * factor)
    np.testing.assert_array_equal(rows.points[0, 1:3], expected)
    if factor is not None:
        assert rows.lower[0] == np.ceil(-0.3 * factor)
        assert rows.upper[0] == 2 * factor


def test_unknown_names():
    with pytest.raises(ValueError, match=r"\(at most 1 of .*\) names .* not exist: 'smokers' \(di"):
        ConstraintRows([at_most(1, ["age", "smokers"])], ["age", "smoker"])
    with pytest.raises(ValueError, match=r"names '.intercept.', and so is a feature"):
        ConstraintRows([LinearConstraint(points={"(intercept)": 1}, upper=1)], ["(intercept)"])


@pytest.mark.parametrize("bad", [at_most(1, NAMES), [("a", 1)], None])
def test_something_else_than_constraints(bad):
    with pytest.raises(TypeError, match="constraints must be"):
        ConstraintRows(bad, NAMES)


def test_violations_in_words():
    rows = ConstraintRows([at_most(1, NAMES), at_least(1, ["b", "c"]), if_then("a", "b")], NAMES)
    assert rows.violations([5, 0, 1, 0]) == []
    assert rows.violations([0, 2, 0, -1]) == [
        "at most 1 of 'a', 'b', 'c' is used: broken by 'a' (2), 'c' (-1)",
        "if 'a' is used, 'b' is used: broken by 'a' (2)",
    ]
    assert rows.violations(np.zeros(4)) == [
        "at least 1 of 'b', 'c' is used: broken, none has points"
    ]


def test_integers_are_exact_and_others_have_a_little_room():
    def broken(upper, points, coef):
        row = ConstraintRows([LinearConstraint(points=points, upper=upper)], NAMES)
        return row.violations(coef) != []

    assert not broken(0.3, {"a": 0.1, "b": 0.2}, [0, 1, 1, 0])  # 0.1 + 0.2 is 0.30000000000000004
    assert broken(0.3, {"a": 0.1, "b": 0.2}, [0, 2, 1, 0])
    assert broken(1e6 - 1, {"a": 1e6}, [0, 1, 0, 0])
    assert not broken(1e6, {"a": 1e6}, [0, 1, 0, 0])
    assert broken(1e15, {"a": 1e6, "b": 1}, [0, 10**9, 1, 0])


# ---------------------------------------------------------------------------------------------
# Propagation
# ---------------------------------------------------------------------------------------------


def propagated(constraints, lower, upper):
    low, high = np.array(lower), np.array(upper)
    fits = ConstraintRows(constraints, NAMES).propagate(low, high)
    assert low.dtype == high.dtype == np.int64
    return (low.tolist(), high.tolist()) if fits else None


FREE = ([-9, -5, -5, -5], [9, 5, 5, 5])


@pytest.mark.parametrize(
    ("constraints", "box", "expected"),
    [
        # Full: the others are out.
        ([at_most(1, NAMES)], ([-9, 1, -5, -5], [9, 5, 5, 5]), ([-9, 1, 0, 0], [9, 5, 0, 0])),
        ([at_most(1, NAMES)], FREE, FREE),
        ([at_most(1, NAMES)], ([0, 1, 1, -5], [0, 5, 5, 5]), None),
        # The last ones that can: in, where one sign is left.
        ([at_least(2, NAMES)], ([0, 0, -5, 0], [0, 5, 0, 0]), ([0, 1, -5, 0], [0, 5, -1, 0])),
        ([at_least(2, NAMES)], ([0, -5, -5, 0], [0, 5, 5, 0]), ([0, -5, -5, 0], [0, 5, 5, 0])),
        ([at_least(3, NAMES)], ([0, -5, -5, 0], [0, 5, 5, 0]), None),
        ([if_then("a", "b")], ([0, 2, 0, 0], [0, 2, 3, 3]), ([0, 2, 1, 0], [0, 2, 3, 3])),
        ([if_then("a", "b")], ([0, -5, 0, 0], [0, 5, 0, 3]), ([0, 0, 0, 0], [0, 0, 0, 3])),
        # One after the other.
        ([if_then("a", "b"), if_then("b", "c")], ([0, 1, 0, 0], [0, 1, 5, 5]),
         ([0, 1, 1, 1], [0, 1, 5, 5])),
        ([if_then("a", "b"), either_or("a", "b")], ([0, -5, 0, 0], [0, 5, 5, 5]),
         ([0, -5, 0, 0], [0, 5, 5, 5])),  # 'a' cannot be in, which no single row tells
        ([if_then("a", "b"), either_or("a", "b")], ([0, 1, 0, 0], [0, 5, 5, 5]), None),
        # Points.
        ([LinearConstraint(points={"a": 2, "b": 3}, upper=4)], ([0, 0, 0, 0], [0, 5, 5, 5]),
         ([0, 0, 0, 0], [0, 2, 1, 5])),
        ([LinearConstraint(points={"a": 1, "b": -1}, lower=0)], ([0, -5, 2, 0], [0, 4, 5, 0]),
         ([0, 2, 2, 0], [0, 4, 4, 0])),
        ([LinearConstraint(points={"(intercept)": 1, "a": 1}, lower=3, upper=3)],
         ([-9, 0, 0, 0], [9, 5, 0, 0]), ([-2, 0, 0, 0], [3, 5, 0, 0])),
        ([LinearConstraint(points={"a": 0.1, "b": 0.2}, upper=0.3)],
         ([0, 1, 0, 0], [0, 5, 5, 0]), ([0, 1, 0, 0], [0, 3, 1, 0])),
        # Points and use of one feature: 2 points more because it is used.
        ([LinearConstraint(points={"a": 1}, used={"a": 2}, upper=3)], FREE,
         ([-9, -5, -5, -5], [9, 1, 5, 5])),
        ([LinearConstraint(points={"a": 1}, used={"a": 5}, upper=3)], ([0, 0, 0, 0], [0, 5, 0, 0]),
         ([0, 0, 0, 0], [0, 0, 0, 0])),
        ([LinearConstraint(points={"a": 1}, used={"a": -2}, lower=1)], ([0, 0, 0, 0], [0, 5, 0, 0]),
         ([0, 3, 0, 0], [0, 5, 0, 0])),
        # Nothing in between two integers.
        ([LinearConstraint(points={"a": 1}, lower=0.4, upper=0.6)], FREE, None),
        ([LinearConstraint(points={"a": 2, "b": 2}, lower=0.4, upper=0.6)], FREE, None),
        # Bounds that are no bounds.
        ([LinearConstraint(points={"a": 1}, upper=1e300)], FREE, FREE),
        ([LinearConstraint(points={"a": 1}, lower=1e300)], FREE, None),
        ([LinearConstraint(points={"a": 1e-300}, lower=-1)], FREE, FREE),
    ],
)  # fmt: skip
def test_propagation(constraints, box, expected):
    assert propagated(constraints, *box) == expected


def test_slow_convergence_ends():
    less = [LinearConstraint(points={"a": 1, "b": -1}, upper=-1),
            LinearConstraint(points={"b": 1, "a": -1}, upper=-1)]  # fmt: skip
    most = 2**31 - 1
    assert propagated(less, [0, 0, 0, 0], [0, most, most, 0]) is not None
    assert propagated(less, [0, 0, 0, 0], [0, 5, 5, 0]) is None


def test_no_rows():
    assert propagated([], *FREE) == FREE


VALUES = st.sampled_from([1, 1, 1, -1, -1, 2, -3, 0.5, 0.1, -0.3, 1 / 3, 7.25, 1e6, -1e6])
TERMS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3)
POINTS = st.dictionaries(st.sampled_from(["(intercept)", *NAMES]), VALUES, max_size=3)
GROUPS = st.dictionaries(
    st.sampled_from([("a", "b"), ("b", "c"), ("c", "b", "a"), ("a", "c")]), VALUES, max_size=2
)
SETS = st.builds(
    points_in,
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True),
    st.sets(st.integers(-4, 4), min_size=1, max_size=5),
)
BOUNDS = st.sampled_from([-math.inf, -2, -1, -0.6, 0, 0.1, 0.3, 1, 2, 3.7, 1e6, math.inf])


@st.composite
def constraints(draw):
    points, used, groups = draw(POINTS), draw(TERMS), draw(GROUPS)
    low, high = sorted((draw(BOUNDS), draw(BOUNDS)))
    if not (points or used or groups):
        used = {"a": 1}
    if low == high and math.isinf(low):
        low, high = -math.inf, 1
    if low == math.inf or high == -math.inf or (math.isinf(low) and math.isinf(high)):
        low, high = 0, math.inf
    return LinearConstraint(points=points, used=used, any_used=groups, lower=low, upper=high)


EVERY = st.one_of(constraints(), constraints(), SETS)
ENDS = st.tuples(st.integers(-3, 3), st.integers(-3, 3)).map(sorted)


def grid(lower, upper):
    return np.array(list(itertools.product(*map(range, lower, np.asarray(upper) + 1))))


@given(st.lists(EVERY, min_size=1, max_size=4), st.lists(ENDS, min_size=4, max_size=4))
def test_propagation_cuts_off_nothing_feasible(drawn, ends):
    low, high = (np.array(side, dtype=np.int64) for side in zip(*ends, strict=True))
    vectors = grid(low, high)
    feasible = vectors[meet(tuple(drawn), NAMES, vectors)]
    rows = ConstraintRows(drawn, NAMES)
    np.testing.assert_array_equal(
        [not rows.violations(vector) for vector in vectors], meet(tuple(drawn), NAMES, vectors)
    )
    tight_low, tight_high = low.copy(), high.copy()
    if not rows.propagate(tight_low, tight_high):
        assert not len(feasible)
        return
    assert np.all(tight_low >= low)
    assert np.all(tight_high <= high)
    assert np.all(tight_low <= tight_high)
    if len(feasible):
        assert np.all(feasible >= tight_low)
        assert np.all(feasible <= tight_high)
    again = tight_low.copy(), tight_high.copy()
    assert rows.propagate(*again)
    np.testing.assert_array_equal(again, (tight_low, tight_high))


@given(
    st.lists(EVERY, min_size=1, max_size=4),
    st.lists(ENDS, min_size=4, max_size=4),
    st.sets(st.integers(1, 3), min_size=1),
)
def test_propagation_with_what_is_to_be_used(drawn, ends, used):
    low, high = (np.array(side, dtype=np.int64) for side in zip(*ends, strict=True))
    vectors = grid(low, high)
    feasible = vectors[meet(tuple(drawn), NAMES, vectors)]
    feasible = feasible[(feasible[:, sorted(used)] != 0).all(axis=1)]
    rows = ConstraintRows(drawn, NAMES)
    fits = rows.propagate(low, high, used=sorted(used))
    assert fits or not len(feasible)
    if fits and len(feasible):
        assert np.all(feasible >= low)
        assert np.all(feasible <= high)


def test_use_between_the_signs_is_counted():
    two = ConstraintRows([at_most(2, NAMES)], NAMES)
    low, high = (np.array(side) for side in FREE)
    assert two.propagate(low, high, used=[1, 3])
    assert (low.tolist(), high.tolist()) == ([-9, -5, 0, -5], [9, 5, 0, 5])
    assert not two.propagate(*(np.array(side) for side in FREE), used=[1, 2, 3])


@given(st.lists(EVERY, min_size=1, max_size=3), st.lists(ENDS, min_size=4, max_size=4))
def test_propagation_decides_single_vectors(drawn, ends):
    rows = ConstraintRows(drawn, NAMES)
    vector = np.array([low for low, _ in ends], dtype=np.int64)
    assert rows.propagate(vector.copy(), vector.copy()) == (not rows.violations(vector))


@given(st.lists(EVERY, min_size=1, max_size=3), st.lists(ENDS, min_size=4, max_size=4))
def test_allowed_values(drawn, ends):
    rows = ConstraintRows(drawn, NAMES)
    vector = np.array([low for low, _ in ends], dtype=np.int64)
    low, high = np.full(4, -4), np.full(4, 4)
    least, most, zero = rows.allowed(vector, low, high)
    for j in range(4):
        for value in range(-4, 5):
            changed = vector.copy()
            changed[j] = value
            expected = bool(zero[j]) if value == 0 else bool(least[j] <= value <= most[j])
            expected = expected and rows.nearest(j, value) == [value]
            assert expected == (not rows.violations(changed))


# ---------------------------------------------------------------------------------------------
# Problems
# ---------------------------------------------------------------------------------------------

X = np.array([[0, 1, 2], [1, 0, 2], [1, 1, 0], [0, 0, 1], [1, 1, 1], [0, 1, 0]])
Y = [0, 1, 1, 0, 1, 0]
DATA = TrainingData(X, Y, feature_names=NAMES)


@given(st.lists(EVERY, min_size=2, max_size=5, unique_by=repr))
@settings(deadline=None, max_examples=60)
def test_conflicts_are_irreducible(drawn):
    vectors = grid([-2] * 4, [2] * 4)
    met = [meet((one,), NAMES, vectors) for one in drawn]
    if np.logical_and.reduce(met).any():
        return
    coefficients = CoefficientSet(NAMES, -2, 2, intercept_lower=-2, intercept_upper=2)
    problem = make(*drawn, coefficients=coefficients)
    names = problem.constraint_rows.contradiction(problem.lower, problem.upper)
    if names is None:
        names = conflicting_constraints(problem)
    stated = problem.constraint_rows.names
    kept = [one for one, name in zip(met, stated, strict=True) if name in names]
    assert not np.logical_and.reduce(kept).any()
    if problem.infeasibility is not None:  # propagation need not see that one less is too many
        return
    for i in range(len(kept)):
        assert len(kept) == 1 or np.logical_and.reduce(kept[:i] + kept[i + 1 :]).any()


def make(*drawn, coefficients=None, **arguments) -> RiskScoreProblem:
    coefficients = CoefficientSet(NAMES, -3, 3) if coefficients is None else coefficients
    return RiskScoreProblem(DATA, coefficients, constraints=drawn, **arguments)


def test_a_problem_without_constraints():
    problem = make()
    assert problem.constraints == ()
    assert problem.constraint_rows is None
    assert problem.rows_with_size is None


def test_a_problem_with_constraints():
    problem = make(at_most(1, ["a", "b"]), if_then("c", "a"), max_size=2)
    assert problem.constraints == (at_most(1, ["a", "b"]), if_then("c", "a"))
    assert problem.infeasibility is None
    assert problem.is_feasible([0, 1, 0, 1])
    assert problem.violations([0, 1, 1, 1]) == [
        "model size is 3, outside of 0..2",
        "at most 1 of 'a', 'b' is used: broken by 'a' (1), 'b' (1)",
    ]
    assert problem.rows_with_size.violations([0, 0, 1, 1]) == [
        "if 'c' is used, 'a' is used: broken by 'c' (1)"
    ]
    assert problem.rows_with_size.names[-1] == "model size 0 to 2"
    assert repr(problem).endswith("intercept -7..7, 2 constraints)")
    assert repr(make(if_then("c", "a"))).endswith(", 1 constraint)")


def test_constraints_may_be_any_iterable():
    coefficients = CoefficientSet(NAMES, -3, 3)
    problem = RiskScoreProblem(
        DATA,
        coefficients,
        constraints=(either_or("a", name) for name in "bc"),
    )
    assert len(problem.constraints) == 2


def test_one_constraint_belongs_into_a_list():
    coefficients = CoefficientSet(NAMES, -3, 3)
    with pytest.raises(TypeError, match=r"must be a list, got one .*: write constraints=\[...\]"):
        RiskScoreProblem(DATA, coefficients, constraints=either_or("a", "b"))


def test_unknown_features_of_a_problem():
    with pytest.raises(ValueError, match=r"features that do not exist: 'A' .did you mean 'a'"):
        make(at_most(1, ["A", "b"]))


@pytest.mark.parametrize(
    ("drawn", "arguments", "message"),
    [
        ([LinearConstraint(points={"a": 1}, lower=4)], {},
         "no points within their bounds meet the constraint (points of 'a': at least 4)"),
        ([at_least(3, NAMES)], {"max_size": 2},
         "these constraints contradict each other: (at least 3 of 'a', 'b', 'c' are used) and "
         "(model size 0 to 2)"),
        ([at_most(2, NAMES), at_most(0, ["a"]), either_or("b", "c"), at_least(1, ["a"])], {},
         "these constraints contradict each other: (at most 0 of 'a' are used) and (at least 1 of "
         "'a' is used)"),
        ([at_most(1, ["a", "b"])], {"min_size": 3},
         "these constraints contradict each other: (at most 1 of 'a', 'b' is used) and (model size "
         "3 to 3)"),
    ],
)  # fmt: skip
def test_conflicts_are_named(drawn, arguments, message):
    problem = make(*drawn, **arguments)
    assert problem.infeasibility == message


def test_more_features_asked_for_than_can_be_used():
    coefficients = CoefficientSet(NAMES, -3, 3, fixed={"a": 0, "b": 0})
    problem = make(at_most(1, NAMES), coefficients=coefficients, min_size=2)
    assert problem.infeasibility == "min_size is 2, but only 1 features can be used"
    assert lattice_cpa(problem).certificate.message == problem.infeasibility


def test_conflicts_with_bounds():
    coefficients = CoefficientSet(NAMES, -3, 3, fixed={"a": 0}, sign={"b": "+"})
    assert (
        "(at least 1 of 'a' is used)"
        in make(at_least(1, ["a"]), coefficients=coefficients).infeasibility
    )
    assert make(exactly(2, ["a", "b", "c"]), coefficients=coefficients).infeasibility is None


def test_given_bounds_of_the_intercept_stay():
    constraint = LinearConstraint(points={"(intercept)": 1, "a": 1}, lower=0, name="base")
    both = CoefficientSet(NAMES, -3, 3, intercept_lower=-50, intercept_upper=2)
    problem = make(constraint, coefficients=both)
    assert (problem.lower[0], problem.upper[0]) == (-50, 2)
    assert problem.violations([-2, 1, 0, 0]) == ["base: broken by '(intercept)' (-2), 'a' (1)"]


def test_derived_bounds_of_the_intercept_reach_where_constraints_push_it():
    free = make()
    far = LinearConstraint(points={"(intercept)": 1, "a": 1}, lower=30)
    problem = make(far)
    assert problem.lower[0] == free.lower[0]
    assert 33 <= problem.upper[0] <= 35
    assert problem.loss.coefficients.intercept_upper == problem.upper[0]
    half = CoefficientSet(NAMES, -3, 3, intercept_lower=-5)
    assert make(far, coefficients=half).lower[0] == -5
    near = LinearConstraint(points={"(intercept)": 1}, lower=0, upper=1)
    assert (make(near).lower[0], make(near).upper[0]) == (free.lower[0], free.upper[0])
    # At most one feature: the sum of the others' points is 0.
    three = LinearConstraint(points={"(intercept)": -2, "a": 1, "b": 1, "c": 1}, lower=50)
    assert make(three).lower[0] == -31
    assert make(three, max_size=1).lower[0] == -28
    with pytest.raises(ValueError, match="push the intercept to"):
        make(LinearConstraint(points={"(intercept)": 1}, lower=1e15))


@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ConstantFeatureWarning")
def test_constant_features_are_zero():
    data = TrainingData(np.column_stack((X, np.ones(6))), Y, feature_names=[*NAMES, "one"])
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    problem = RiskScoreProblem(data, coefficients, constraints=[at_least(1, ["one"])])
    assert "(at least 1 of 'one' is used)" in problem.infeasibility
    problem = RiskScoreProblem(data, coefficients, constraints=[at_least(1, ["one", "a"])])
    assert problem.infeasibility is None
    assert problem.is_feasible([0, 1, 0, 0, 0])
    assert not problem.is_feasible([0, 0, 1, 0, 0])
