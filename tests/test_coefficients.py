"""CoefficientSet: what a user may say about coefficients, and how mistakes are answered."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskslim import CoefficientSet
from riskslim.coefficients import MAX_ABSOLUTE_COEFFICIENT

NAMES = ["age", "smoker", "bmi"]


def test_defaults():
    coefficients = CoefficientSet(NAMES)
    assert len(coefficients) == 3
    assert coefficients.feature_names == ("age", "smoker", "bmi")
    np.testing.assert_array_equal(coefficients.lower, [-5, -5, -5])
    np.testing.assert_array_equal(coefficients.upper, [5, 5, 5])
    assert coefficients.lower.dtype == coefficients.upper.dtype == np.int64
    assert np.isnan(coefficients.l0_penalty).all()
    assert coefficients.l0_penalty.dtype == np.float64
    assert coefficients.intercept_lower is None
    assert coefficients.intercept_upper is None


@pytest.mark.parametrize(
    "lower",
    [
        -2,
        -2.0,
        np.int8(-2),
        [-2, -2, -2],
        (-2.0, -2, -2),
        np.array([-2, -2, -2]),
        np.array([-2.0, -2, -2]),
        {"age": -2, "smoker": -2, "bmi": -2},
    ],
)
def test_bounds_as_scalar_sequence_or_mapping(lower):
    np.testing.assert_array_equal(CoefficientSet(NAMES, lower).lower, [-2, -2, -2])


def test_mapping_keeps_the_default_of_the_others():
    coefficients = CoefficientSet(NAMES, {"bmi": -1}, {"age": 9})
    np.testing.assert_array_equal(coefficients.lower, [-5, -5, -1])
    np.testing.assert_array_equal(coefficients.upper, [9, 5, 5])


def test_sequences_other_than_lists_as_names():
    assert CoefficientSet(np.array(["a", "b"])).feature_names == ("a", "b")
    assert CoefficientSet(name for name in "ab").feature_names == ("a", "b")


@pytest.mark.parametrize("plus", ["+", 1, np.int64(1)])
@pytest.mark.parametrize("minus", ["-", -1, np.int64(-1)])
@pytest.mark.parametrize("free", [0, None, ""])
def test_signs(plus, minus, free):
    for sign in (
        [plus, minus, free],
        {"age": plus, "smoker": minus},
        {"age": plus, "smoker": minus, "bmi": free},
    ):
        coefficients = CoefficientSet(NAMES, -4, 3, sign=sign)
        np.testing.assert_array_equal(coefficients.lower, [0, -4, -4])
        np.testing.assert_array_equal(coefficients.upper, [3, 0, 3])


@pytest.mark.parametrize("sign", ["+", 1])
def test_one_sign_for_all(sign):
    np.testing.assert_array_equal(CoefficientSet(NAMES, sign=sign).lower, [0, 0, 0])


def test_sign_keeps_bounds_that_agree_with_it():
    coefficients = CoefficientSet(NAMES, [1, -5, 0], 5, sign="+")
    np.testing.assert_array_equal(coefficients.lower, [1, 0, 0])


def test_fixed():
    coefficients = CoefficientSet(NAMES, fixed={"bmi": 2, "age": 0})
    np.testing.assert_array_equal(coefficients.lower, [0, -5, 2])
    np.testing.assert_array_equal(coefficients.upper, [0, 5, 2])


def test_penalties():
    for penalty in ([0.5, 0, np.nan], {"age": 0.5, "smoker": 0.0}, [0.5, 0, None]):
        np.testing.assert_array_equal(
            CoefficientSet(NAMES, l0_penalty=penalty).l0_penalty, [0.5, 0.0, np.nan]
        )
    np.testing.assert_array_equal(CoefficientSet(NAMES, l0_penalty=0.1).l0_penalty, [0.1] * 3)


def test_intercept():
    coefficients = CoefficientSet(NAMES, intercept_lower=-7, intercept_upper=np.int64(3))
    assert (coefficients.intercept_lower, coefficients.intercept_upper) == (-7, 3)
    assert type(coefficients.intercept_upper) is int


def test_no_features():
    coefficients = CoefficientSet([])
    assert len(coefficients) == 0
    assert "0 features" in repr(coefficients)


# ---------------------------------------------------------------------------------------------
# Mistakes
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lower": 0.5}, r"lower of 'age' must be a finite integer, got 0.5"),
        ({"lower": [0, np.nan, 0]}, r"lower of 'smoker' must be a finite integer, got .*nan"),
        ({"upper": np.inf}, r"upper of 'age' must be a finite integer, got inf"),
        ({"upper": "many"}, r"upper of 'age' must be an integer, got 'many'"),
        ({"upper": [5, 5, None]}, r"upper of 'bmi' must be an integer, got None"),
        ({"upper": 2**31}, r"must be at most 2147483647 in absolute value"),
        ({"upper": 10**400}, r"must be at most 2147483647 in absolute value"),
        ({"lower": [-1, -1]}, r"lower has 2 values, expected 3, one per feature"),
        ({"upper": [1] * 4}, r"upper has 4 values, expected 3"),
        (
            {"lower": {"agee": 1}},
            r"lower names features that do not exist: 'agee' \(did you mean 'age'\?\)",
        ),
        ({"lower": 3, "upper": 2}, r"'age': lower 3 exceeds upper 2 \(3 features in"),
        ({"lower": [0, 6, 0]}, r"'smoker': lower 6 exceeds upper 5$"),
        ({"sign": "plus"}, r"sign of 'age' must be '\+', '-', 1, -1, 0 or None, got 'plus'"),
        ({"sign": ["+", 2, 0]}, r"sign of 'smoker' must be .* got 2"),
        ({"sign": [0, 0, []]}, r"sign of 'bmi' must be .* got \[\]"),
        ({"sign": {"x": "+"}}, r"sign names features that do not exist: 'x'$"),
        ({"sign": ["+"]}, r"sign has 1 values, expected 3"),
        (
            {"lower": 1, "sign": {"bmi": "-"}},
            r"feature 'bmi': its sign leaves no coefficient \(bounds become 1..0\)",
        ),
        (
            {"fixed": {"smokers": 1}},
            r"fixed names features that do not exist: 'smokers' \(did you mean 'smoker'\?\)",
        ),
        ({"fixed": {"smoker": 6}}, r"'smoker' is fixed at 6, outside of its bounds and sign"),
        ({"fixed": {"bmi": -1}, "sign": "+"}, r"'bmi' is fixed at -1, .* \(0..5\)"),
        ({"fixed": {"bmi": 0.5}}, r"fixed coefficient of 'bmi' must be a finite integer, got 0.5"),
        ({"l0_penalty": -0.1}, r"l0_penalty of 'age' must be finite and at least 0, got .*-0.1"),
        ({"l0_penalty": [0, np.inf, 0]}, r"l0_penalty of 'smoker' must be finite"),
        ({"l0_penalty": [0.1]}, r"l0_penalty has 1 values, expected 3"),
        ({"l0_penalty": {"z": 0.1}}, r"l0_penalty names features that do not exist: 'z'$"),
        ({"l0_penalty": {0: 0.1}}, r"l0_penalty names features that do not exist: 0$"),
        ({"intercept_lower": 0.5}, r"intercept_lower must be a finite integer, got 0.5"),
        (
            {"intercept_lower": 3, "intercept_upper": 2},
            r"intercept_lower 3 exceeds intercept_upper 2",
        ),
    ],
)
def test_mistakes_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        CoefficientSet(NAMES, **arguments)


def test_a_variable_is_no_feature():
    names = ["age >= 45", "age >= 60", "management", "smoker"]
    message = (
        "sign names features that do not exist: 'age' (a variable, with features 'age >= 45', "
        "'age >= 60'; in constraints variable('age') stands for them)"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        CoefficientSet(names, sign={"age": "+"})
    for argument in ("lower", "upper", "fixed"):
        with pytest.raises(ValueError, match=f"{argument} names features .* .a variable, with"):
            CoefficientSet(names, **{argument: {"age": 1}})


def test_the_start_of_a_name_is_a_near_match():
    names = ["age (years)", "management", "smoker"]
    with pytest.raises(ValueError, match=r"'age' \(did you mean 'age \(years\)'\?\)"):
        CoefficientSet(names, sign={"age": "+"})
    with pytest.raises(ValueError, match=r"do not exist: 'B'$"):
        CoefficientSet(names, sign={"B": "+"})


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (["a", "b", "a"], ValueError, "feature name 'a' is given more than once"),
        (["a", 3], TypeError, "feature names must be str, got 3"),
        ("abc", TypeError, "must be a sequence of str, got one str"),
    ],
)
def test_bad_names(names, error, message):
    with pytest.raises(error, match=message):
        CoefficientSet(names)


def test_arrays_are_read_only_and_the_users_are_not():
    lower = np.array([-1, -2, -3])
    coefficients = CoefficientSet(NAMES, lower)
    lower[0] = 99
    np.testing.assert_array_equal(coefficients.lower, [-1, -2, -3])
    for array in (coefficients.lower, coefficients.upper, coefficients.l0_penalty):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


# ---------------------------------------------------------------------------------------------
# index, replace, equality, text
# ---------------------------------------------------------------------------------------------


def test_index():
    coefficients = CoefficientSet(NAMES)
    assert [coefficients.index(name) for name in NAMES] == [0, 1, 2]
    with pytest.raises(ValueError, match=r"no feature is named 'agee' \(did you mean 'age'\?\)"):
        coefficients.index("agee")
    with pytest.raises(ValueError, match=r"no feature is named 'zzzz'$"):
        coefficients.index("zzzz")


def test_replace():
    coefficients = CoefficientSet(NAMES, l0_penalty={"age": 0.5}, intercept_lower=-3)
    changed = coefficients.replace(fix_at_zero=[1], intercept_upper=8)
    np.testing.assert_array_equal(changed.lower, [-5, 0, -5])
    np.testing.assert_array_equal(changed.upper, [5, 0, 5])
    np.testing.assert_array_equal(changed.l0_penalty, coefficients.l0_penalty)
    assert (changed.intercept_lower, changed.intercept_upper) == (-3, 8)
    # The original is as it was.
    np.testing.assert_array_equal(coefficients.lower, [-5, -5, -5])
    assert coefficients.intercept_upper is None
    assert coefficients.replace() == coefficients
    narrowed = coefficients.replace(within={0: (1, 7), 2: (-9, -1)})
    np.testing.assert_array_equal(narrowed.lower, [1, -5, -5])
    np.testing.assert_array_equal(narrowed.upper, [5, 5, -1])


def test_replace_refuses_what_cannot_be():
    coefficients = CoefficientSet(NAMES, [1, -5, -5], intercept_lower=0)
    with pytest.raises(ValueError, match=r"'age' cannot be left out: .* bounded to 1..5"):
        coefficients.replace(fix_at_zero=[0])
    with pytest.raises(ValueError, match="intercept_lower 0 exceeds intercept_upper -1"):
        coefficients.replace(intercept_upper=-1)


@pytest.mark.parametrize(
    "other",
    [
        CoefficientSet(["age", "smoker", "BMI"]),
        CoefficientSet(NAMES, -4),
        CoefficientSet(NAMES, -5, 4),
        CoefficientSet(NAMES, l0_penalty=0.1),
        CoefficientSet(NAMES, intercept_lower=-5),
        CoefficientSet(NAMES, intercept_upper=5),
        "a set",
    ],
)
def test_equality(other):
    assert CoefficientSet(NAMES) == CoefficientSet(NAMES, -5, [5, 5, 5], sign=0)
    assert CoefficientSet(NAMES) != other


def test_unhashable():
    # Equal sets would need equal hashes; nothing needs a set of them.
    with pytest.raises(TypeError, match="unhashable"):
        hash(CoefficientSet(NAMES))


def test_repr():
    text = repr(CoefficientSet(NAMES, -2, [1, 2, 3], fixed={"age": 1}))
    assert text == (
        "CoefficientSet(3 features, coefficients -2..3, 1 fixed, intercept derived from data)"
    )
    assert "intercept -4..9" in repr(CoefficientSet(NAMES, intercept_lower=-4, intercept_upper=9))


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))]
)
def test_copies(duplicate):
    coefficients = CoefficientSet(NAMES, -2, l0_penalty={"bmi": 0.1}, intercept_lower=0)
    assert duplicate(coefficients) == coefficients


bound = st.integers(-MAX_ABSOLUTE_COEFFICIENT, MAX_ABSOLUTE_COEFFICIENT)


@given(st.lists(st.tuples(bound, bound, st.sampled_from("+-0")), min_size=1, max_size=6))
def test_box_is_what_was_asked_for(features):
    """The set contains exactly the integers between its bounds that have the right sign."""
    names = [f"x{j}" for j in range(len(features))]
    lower = [min(a, b) for a, b, _ in features]
    upper = [max(a, b) for a, b, _ in features]
    sign = {name: s for name, (_, _, s) in zip(names, features, strict=True) if s != "0"}
    empty = [
        (s == "+" and high < 0) or (s == "-" and low > 0)
        for low, high, (_, _, s) in zip(lower, upper, features, strict=True)
    ]
    if any(empty):
        with pytest.raises(ValueError, match=f"{names[empty.index(True)]}.*sign leaves no"):
            CoefficientSet(names, lower, upper, sign=sign)
        return
    coefficients = CoefficientSet(names, lower, upper, sign=sign)
    for j, (low, high, (_, _, s)) in enumerate(zip(lower, upper, features, strict=True)):
        assert coefficients.lower[j] == (max(low, 0) if s == "+" else low)
        assert coefficients.upper[j] == (min(high, 0) if s == "-" else high)
