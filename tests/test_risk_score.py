"""RiskScore: what is printed is what is predicted, and what is saved is what is loaded."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
import math
import os
import pickle
import stat
import threading

import hypothesis.strategies as st
import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import example, given, settings

from riskslim import Certificate, RiskScore, Solution, SolutionPool, Status, TrainingData
from riskslim.data.feature_ranges import FeatureRange
from riskslim.exceptions import UnboundCertificateWarning
from riskslim.scale import ScaleSet

CERTIFICATE = Certificate(
    Status.FEASIBLE, 0.4, 0.3999, 3, 0.38, 0.0, 1e-12, "example 1.0", 961, "time limit reached"
)
POINTS = {"age": 1, "smoker": 3, "exercise": -2}
NAMES = ("id", "smoker", "age", "exercise", "bmi")
RANGES = {"age": FeatureRange(2, 9, values=(2, 3, 5, 9))}


@pytest.fixture
def score() -> RiskScore:
    return RiskScore(
        -4,
        POINTS,
        outcome_name="died",
        classes=("no", "yes"),
        feature_names=NAMES,
        feature_ranges=RANGES,
        certificate=CERTIFICATE,
    )


ROWS = np.array([[17, 1, 5, 0, 30.5], [18, 0, 9, 1, 22.0], [19, 1, 2, 1, 27.25]])
TOTALS = [8, 7, 3]


def error(function, *args, exception=ValueError, **kwargs) -> str:
    with pytest.raises(exception) as info:
        function(*args, **kwargs)
    return str(info.value)


def printed_risks(text: str) -> dict[str, str]:
    """Scores and risks as a reader of the printed tables sees them."""
    found: dict[str, str] = {}
    lines = text.splitlines()
    for above, below in itertools.pairwise(lines):
        if above.startswith("| SCORE |"):
            assert below.startswith("| RISK  |")
            scores, risks = (
                [cell.strip() for cell in line.split("|")[2:-1]] for line in (above, below)
            )
            assert len(scores) == len(risks)
            found.update(zip(scores, risks, strict=True))
    return found


def percent(risk: float) -> str:
    """The format of risks, stated a second time."""
    if risk < 0.001:
        return "<0.1%"
    return ">99.9%" if risk > 0.999 else f"{risk * 100:.1f}%"


def covers(label: str, total: float) -> bool:
    if label.startswith("<= "):
        return total <= float(label[3:])
    if label.startswith(">= "):
        return total >= float(label[3:])
    return total == float(label)


# --- what a score is ------------------------------------------------------------------------------


def test_fields(score):
    assert score.intercept == -4
    # Largest points first, as the points table lists them.
    assert list(score.points.items()) == [("smoker", 3), ("age", 1), ("exercise", -2)]
    assert score.outcome_name == "died"
    assert score.classes == ("no", "yes")
    assert score.feature_names == NAMES
    assert score.feature_ranges == {
        "smoker": FeatureRange(0, 1),
        "age": FeatureRange(2, 9, values=(2, 3, 5, 9)),
        "exercise": FeatureRange(0, 1),
    }
    assert score.certificate is CERTIFICATE


def test_equal_points_keep_the_order_of_the_features():
    score = RiskScore(0, {"c": 1, "b": 1, "a": 2}, feature_names=["b", "a", "d", "c"])
    assert list(score.points) == ["a", "b", "c"]
    assert list(RiskScore(0, {"c": 1, "b": 1, "a": 2}).points) == ["a", "c", "b"]


def test_features_without_points_are_left_out():
    score = RiskScore(1, {"a": 0, "b": np.int8(-2)})
    assert dict(score.points) == {"b": -2}
    assert type(score.points["b"]) is int
    assert score.feature_names == ("a", "b")


def test_is_frozen(score):
    with pytest.raises(dataclasses.FrozenInstanceError):
        score.intercept = 3
    with pytest.raises(TypeError):
        score.points["smoker"] = 4
    with pytest.raises(TypeError):
        score.feature_ranges["smoker"] = FeatureRange(0, 2)


def test_is_a_value(score):
    twin = pickle.loads(pickle.dumps(score))
    for other in (twin, copy.copy(score), copy.deepcopy(score)):
        assert other == score
        assert hash(other) == hash(score)
        assert str(other) == str(score)
    assert dataclasses.replace(score, intercept=-5) != score
    assert eval(repr(RiskScore(-3, {"a": 2}))) == RiskScore(-3, {"a": 2})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.5, {"a": 1}), "intercept must be an integer, got 1.5"),
        ((True, {"a": 1}), "intercept must be an integer, got True"),
        ((0, {"a": 1.0}), "points of 'a' must be an integer, got 1.0"),
        ((0, {"a": "2"}), "points of 'a' must be an integer, got '2'"),
        ((0, {"a": 2**31}), "points of 'a' must be at most 2147483647 in absolute value"),
        ((0, {"": 1}), "feature names must be non-empty str, got ''"),
        ((0, {3: 1}), "feature names must be non-empty str, got 3"),
    ],
)
def test_points_must_be_integers(arguments, message):
    assert message in error(RiskScore, *arguments)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"feature_names": ["b"]}, r"points names features .* not among feature_names: ['a']"),
        ({"feature_names": ["a", "a"]}, "feature name 'a' is given more than once"),
        ({"feature_ranges": {"z": FeatureRange(0, 1)}}, "feature_ranges names features"),
        ({"classes": (1, 1)}, "classes must be two different labels"),
        ({"classes": (0, 1, 2)}, "classes must be two different labels"),
        ({"classes": "no"}, "classes must be two different labels"),
    ],
)
def test_keywords_are_checked(keywords, message):
    text = error(RiskScore, 0, {"a": 1}, **keywords)
    assert all(part in text for part in message.split(" .* ")[0].split(r"\."))


def test_wrong_types_of_keywords():
    assert "must be a FeatureRange" in error(
        RiskScore, 0, {"a": 1}, feature_ranges={"a": (0, 1)}, exception=TypeError
    )
    assert "must be a Certificate" in error(
        RiskScore, 0, {"a": 1}, certificate={"objective": 1}, exception=TypeError
    )


# --- ranges ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([0, 1, 1, 0], FeatureRange(0, 1, values=(0, 1))),
        ([True, False], FeatureRange(0, 1, values=(0, 1))),
        ([5.0, -2.0, 5.0], FeatureRange(-2, 5, values=(-2, 5))),
        ([1000.0, 3.0], FeatureRange(3, 1000, values=(3, 1000))),
        ([0.5, 3.0], FeatureRange(0.5, 3.0, is_integer=False)),
        ([0, 0.25], FeatureRange(0.0, 0.25, is_integer=False)),
        (range(-128, 128), FeatureRange(-128, 127, values=tuple(range(-128, 128)))),
        (range(300), FeatureRange(0, 299)),
    ],
)
def test_range_of_a_column(column, expected):
    found = FeatureRange.of(np.array(column))
    assert found == expected
    assert (type(found.minimum) is int) == expected.is_integer


def test_range_of_a_long_column():
    # Longer than a block: the last block alone has the odd value.
    column = np.zeros(200_000, dtype=np.int8)
    column[-1] = 7
    assert FeatureRange.of(column).values == (0, 7)
    real = column.astype(float)
    real[150_000] = 0.5
    assert not FeatureRange.of(real).is_integer
    assert FeatureRange.of(np.arange(200_000.0)).values is None


def test_binary_features():
    assert [FeatureRange(*ends).is_binary for ends in [(0, 1), (0, 0), (1, 1)]] == [True] * 3
    assert [FeatureRange(*ends).is_binary for ends in [(0, 2), (-1, 1), (1, 2)]] == [False] * 3
    assert not FeatureRange(0.0, 1.0, is_integer=False).is_binary


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 1), "minimum 2.0 exceeds maximum 1.0"),
        ((0, math.inf), "maximum must be finite"),
        ((math.nan, 1), "minimum must be finite"),
        ((0, 10**400), "maximum must be finite"),
        (("0", 1), "minimum must be a number"),
        ((0, 1.5), "end of an integer range must be an integer, got 1.5"),
        ((0, 3, True, (0, 2)), "values must increase from the minimum 0 to the maximum 3"),
        ((0, 3, True, (0, 2, 1, 3)), "values must increase"),
        ((0, 3, True, (0, 1.5, 3)), "a value of an integer feature must be an integer"),
        ((0, 3, True, ()), "values must increase"),
        ((0, 3, False, (0, 3)), "values are listed for integer features only"),
    ],
)
def test_ranges_are_checked(arguments, message):
    assert message in error(FeatureRange, *arguments)


# --- from a solution ------------------------------------------------------------------------------


@pytest.fixture
def data() -> TrainingData:
    frame = {
        "smoker": [0, 1, 0, 1],
        "age": [2, 9, 3, 5],
        "bmi": [20.5, 31.0, 27.25, 24.0],
        "visits": [0.0, 1000.0, 3.0, 3.0],
        "exercise": [1, 0, 1, 1],
    }
    return TrainingData(frame, ["no", "yes", "no", "yes"], outcome_name="died")


def solution_of(data, intercept, **points) -> Solution:
    coefficients = np.array([points.get(name, 0) for name in data.feature_names])
    certificate = dataclasses.replace(CERTIFICATE, n_samples=data.n_samples)
    return Solution(coefficients, intercept, certificate, data.feature_names)


def test_from_solution(data):
    solution = solution_of(data, -3, age=1, bmi=2, visits=-1, exercise=-2)
    score = RiskScore.from_solution(solution, data)
    assert score.intercept == -3
    assert list(score.points.items()) == [("bmi", 2), ("age", 1), ("visits", -1), ("exercise", -2)]
    assert score.feature_ranges == {
        "bmi": FeatureRange(20.5, 31.0, is_integer=False),
        "age": FeatureRange(2, 9, values=(2, 3, 5, 9)),
        "visits": FeatureRange(0, 1000, values=(0, 3, 1000)),
        "exercise": FeatureRange(0, 1),
    }
    assert score.feature_names == data.feature_names
    assert (score.outcome_name, score.classes) == ("died", ("no", "yes"))
    assert score.certificate is solution.certificate
    expected = [2 * 20.5 + 2 - 0 - 2, 62.0 + 9 - 1000, 54.5 + 3 - 3 - 2, 48.0 + 5 - 3 - 2]
    np.testing.assert_array_equal(score.score_samples(data), expected)


def test_from_an_infeasible_solution(data):
    certificate = Certificate(
        Status.INFEASIBLE, math.inf, math.inf, 0, math.inf, 0.0, 0.0, "x", 4, "min_size is 9"
    )
    nothing = Solution(None, None, certificate, data.feature_names)
    assert "there is no risk score: min_size is 9" in error(RiskScore.from_solution, nothing, data)


def test_from_one_score_of_several(data):
    solution = solution_of(data, -3, age=1)
    vectors = np.array([[-3, 0, 1, 0, 0, 0], [-2, 0, 0, 2, 0, 0]])
    pool = SolutionPool(vectors, np.array([0.4, 0.41]), data.feature_names, True, 0.42)
    several = dataclasses.replace(solution, pool=pool)
    best, other = (RiskScore.from_solution(several, data, rank=rank) for rank in (0, 1))
    assert best == RiskScore.from_solution(solution, data)
    assert (other.intercept, dict(other.points)) == (-2, {"bmi": 2})
    # What is proven is about the best one.
    assert (best.certificate, other.certificate) == (solution.certificate, None)
    assert "optimal" not in str(other)
    for rank in (-1, 2):
        message = error(RiskScore.from_solution, several, data, rank=rank)
        assert message.startswith(f"rank must be between 0 and 1, got {rank}: the solution has 2")
    for rank in (True, 1.0, "1", None):
        with pytest.raises(TypeError, match="rank must be an int"):
            RiskScore.from_solution(several, data, rank=rank)
    message = error(RiskScore.from_solution, solution, data, rank=1)
    assert "the solution has 1 risk score; a search with n_solutions or within" in message


def test_from_a_solution_and_something_else(data):
    frame = pd.DataFrame({"smoker": [0, 1]})
    message = error(
        RiskScore.from_solution, solution_of(data, 0, age=1), frame, exception=TypeError
    )
    assert "data must be the TrainingData that the problem was stated on, got DataFrame" in message


def test_from_a_solution_of_other_data(data):
    other = TrainingData([[0, 1], [1, 0]], [0, 1], feature_names=["a", "b"])
    message = error(RiskScore.from_solution, solution_of(data, 0, age=1), other)
    assert "5 features that are not the 2 features of the data" in message


# --- predictions ----------------------------------------------------------------------------------


def frames():
    columns = {name: ROWS[:, j] for j, name in enumerate(NAMES)}
    integers = {name: columns[name].astype(int) for name in ("smoker", "age", "exercise")}
    shuffled = {name: columns[name] for name in ("bmi", "exercise", "age", "other", "smoker")
                if name in columns}  # fmt: skip
    rows = [dict(zip(NAMES, row, strict=True)) for row in ROWS.tolist()]
    text = {"comment": ["a", None, "b"], **integers}
    return {
        "float64": ROWS,
        "float32": ROWS.astype(np.float32),
        "Fortran": np.asfortranarray(ROWS),
        "read-only view": np.broadcast_to(ROWS, (1, *ROWS.shape))[0],
        "lists": ROWS.tolist(),
        "object array": ROWS.astype(object),
        "pandas": pd.DataFrame(columns),
        "pandas, other order": pd.DataFrame(shuffled),
        "pandas, used columns only": pd.DataFrame(integers),
        "pandas, text beside": pd.DataFrame(text),
        "pandas nullable": pd.DataFrame(integers).astype("Int64"),
        "pandas bool": pd.DataFrame({**integers, "smoker": [True, False, True]}),
        "polars": pl.DataFrame(columns),
        "polars, text beside": pl.DataFrame(text),
        "arrow": pa.table(columns),
        "mapping of columns": columns,
        "mapping of lists": {name: values.tolist() for name, values in columns.items()},
        "list of rows": rows,
        "tuple of rows": tuple(rows),
        "rows with other keys": [{**row, "comment": "x"} for row in rows],
    }


@pytest.mark.parametrize("kind", frames())
def test_every_kind_of_input(score, kind):
    X = frames()[kind]
    totals = score.score_samples(X)
    assert totals.dtype == np.int64
    assert totals.tolist() == TOTALS
    np.testing.assert_array_equal(score.decision_function(X), np.array(TOTALS) - 4.0)
    assert score.predict(X).tolist() == ["yes", "yes", "no"]
    risks = score.predict_proba(X)
    assert risks.shape == (3, 2)
    np.testing.assert_allclose(risks[:, 1], [1 / (1 + math.exp(4 - t)) for t in TOTALS], rtol=1e-15)
    np.testing.assert_allclose(risks.sum(axis=1), 1.0, rtol=1e-15)


def test_one_row(score):
    row = {"smoker": 1, "age": np.int64(5), "exercise": np.float64(0), "comment": "ignored"}
    assert score.score_samples(row).tolist() == [8]
    assert score.predict_proba(row).shape == (1, 2)
    assert score.predict({**row, "smoker": False, "age": 3}).tolist() == ["no"]


def test_one_row_of_a_pandas_frame(score):
    frame = pd.DataFrame(ROWS, columns=NAMES).assign(comment="x")
    assert score.score_samples(frame.iloc[1]).tolist() == [TOTALS[1]]
    assert score.predict_proba(frame[list(POINTS)].iloc[0]).shape == (1, 2)
    # A column is no row, and a row has each name once.
    assert "Expected 2D array" in error(score.predict, frame["age"])
    assert "Expected 2D array" in error(score.predict, pd.Series([1, 2], index=["age", "age"]))


def test_training_data_as_input(data, score):
    score = RiskScore(-4, POINTS, feature_names=data.feature_names)
    assert score.score_samples(data).tolist() == [0, 12, 1, 6]


def test_real_values_give_real_scores(score):
    rows = [{"smoker": 1, "age": 2.5, "exercise": 0}, {"smoker": 0, "age": 2, "exercise": 1}]
    totals = score.score_samples(rows)
    assert totals.dtype == np.float64
    assert totals.tolist() == [5.5, 0.0]
    assert score.score_samples(rows[1]).dtype == np.int64


@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")
def test_values_outside_of_the_training_range_are_allowed(score):
    assert score.score_samples({"smoker": 7, "age": -100, "exercise": 0}).tolist() == [-79]


def test_remarks_about_values_outside_of_the_training_range(score):
    frame = pd.DataFrame({"smoker": [0, 1, 1, 0], "age": [1.5, 2, 9, 10], "exercise": [0, 1, 0, 0]})
    (remark,) = score.remarks(frame)
    assert remark == (
        "2 of 4 rows have values outside of the training range of 'age' (2 to 9), first at row 0 "
        "(rows counted from 0)."
    )
    assert score.remarks(frame[1:3]) == ()
    assert "'smoker' (0 to 1)" in score.remarks({"smoker": -1, "age": 2, "exercise": 0})[0]
    assert len(score.remarks({"smoker": [2], "age": [0], "exercise": [9]})) == 3
    assert "1 of 1 row has a value" in score.remarks({"smoker": 2, "age": 2, "exercise": 0})[0]
    with pytest.raises(ValueError, match=r"Columns with text .*: 'smoker' \(2 of 2 rows"):
        score.remarks({"smoker": ["no", "yes"], "age": [0, 1], "exercise": [0, 1]})


def test_no_features():
    score = RiskScore(0, {"a": 0}, feature_names=["a", "b"])
    assert score.score_samples([[1, 2], [3, 4]]).tolist() == [0, 0]
    assert score.predict_proba({"b": [1, 2, 3]}).tolist() == [[0.5, 0.5]] * 3
    assert score.predict_proba({}).tolist() == [[0.5, 0.5]]
    # A risk of 50% is not above 50%.
    assert score.predict([[1, 2]]).tolist() == [0]
    assert printed_risks(str(score)) == {"0": "50.0%"}


@pytest.mark.parametrize(
    ("classes", "dtype"),
    [
        ((0, 1), np.int64),
        ((-1, 1), np.int64),
        ((False, True), np.bool_),
        ((1.0, 2.0), np.float64),
        (("b", "a"), "<U1"),
        ((0, "one"), object),
    ],
)
def test_predictions_are_the_users_labels(classes, dtype):
    labels = RiskScore(-1, {"a": 2}, classes=classes).predict([[0], [1]])
    assert labels.dtype == dtype
    assert labels.tolist() == list(classes)


@given(st.integers(-2_000, 2_000))
@example(0)
@example(-800)
@example(709)
@example(-745)
def test_risks_are_accurate_in_both_tails(log_odds):
    with mpmath.workdps(60):
        exact = [1 / (1 + mpmath.exp(sign * mpmath.mpf(log_odds))) for sign in (1, -1)]
    found = RiskScore(0, {"a": 1}).predict_proba([[log_odds]])[0]
    for value, truth in zip(found.tolist(), exact, strict=True):
        # Below the normal range a number has fewer digits.
        assert abs(value - truth) <= max(4e-16 * truth, 1e-323)


def test_huge_scores_stay_exact_or_become_real():
    score = RiskScore(0, {"a": 2**31 - 1})
    assert score.score_samples([[2**21]]).tolist() == [(2**31 - 1) * 2**21]
    assert score.score_samples([[2**40]]).dtype == np.float64
    np.testing.assert_array_equal(score.predict_proba([[2.0**40], [-(2.0**40)]]), [[0, 1], [1, 0]])
    message = error(score.score_samples, [[1.0], [1e300], [-1e300]])
    assert "overflows float64 in 2 of 3 rows, first at row 1" in message


# --- faults of the input --------------------------------------------------------------------------


def test_missing_columns_are_named_with_near_matches(score):
    frame = pd.DataFrame({"smoker": [1], "Age": [3], "exercise_": [0], "id": [1]})
    message = error(score.predict_proba, frame)
    assert message.startswith("X lacks 2 of the 3 features with points: 'age'")
    assert "'exercise' (did you mean 'exercise_'?)" in message
    assert "X lacks 1 of the 3" in error(score.predict, {"smoker": 1, "age": 2})


def test_missing_keys_name_the_row(score):
    rows = [{"smoker": 1, "age": 2, "exercise": 0}, {"smoker": 1, "exercise": 0}]
    message = error(score.predict_proba, rows)
    assert "Row 1 (rows counted from 0): X lacks 1 of the 3 features with points: 'age'" in message


def test_wrong_number_of_columns(score):
    message = error(score.predict_proba, np.ones((4, 3)))
    assert "X has 3 features, but RiskScore is expecting 5 features as input" in message


def test_faulty_values_are_counted_by_column(score):
    frame = pd.DataFrame(
        {"age": [1, np.nan, np.nan], "smoker": [np.inf, 0, 1], "exercise": [0, 1, 0]}
    )
    message = error(score.predict_proba, frame)
    assert message.startswith("Input X contains NaN.")
    assert "'age' (2 of 3 rows, first at row 1)" in message
    assert "'smoker' (1 of 3 rows, first at row 0)" in message
    assert "exercise" not in message


@pytest.mark.parametrize(
    ("X", "exception", "message"),
    [
        ({"smoker": [0], "age": ["old"], "exercise": [1]}, ValueError, "convert string to float"),
        ({"smoker": 0, "age": "old", "exercise": 1}, ValueError, "'age' (1 of 1 rows"),
        ({"smoker": 0, "age": None, "exercise": 1}, ValueError, "Input X contains NaN"),
        ({"smoker": 0, "age": math.nan, "exercise": 1}, ValueError, "Input X contains NaN"),
        ({"smoker": 0, "age": pd.NA, "exercise": 1}, ValueError, "Input X contains NaN"),
        ({"smoker": 0, "age": 1j, "exercise": 1}, ValueError, "Complex data not supported"),
        ([{"smoker": 0, "age": [1, 2], "exercise": 1}], TypeError, "'list'"),
        ([{"smoker": 0, "age": 1, "exercise": 1}, [1, 2]], TypeError, "row 1 (rows counted"),
        ({"smoker": 0, "age": 2**60, "exercise": 1}, ValueError, "too large to be exact"),
        ({"smoker": [0, 1], "age": [2], "exercise": [1, 1]}, ValueError, "inconsistent numbers"),
        (np.ones(5), ValueError, "Expected 2D array, got 1D array"),
        (np.full((1, 5), np.nan), ValueError, "'smoker' (1 of 1 rows"),
        (pd.Series([1, 2, 3, 4, 5]), ValueError, "Expected 2D array"),
        (scipy.sparse.csr_array(np.ones((1, 5))), TypeError, "Sparse data was passed"),
        (pl.DataFrame({"age": [1]}).lazy(), TypeError, "lazy frame"),
        ("smoker", ValueError, "Expected 2D array"),
        (None, ValueError, "Expected 2D array"),
    ],
)
def test_bad_input(score, X, exception, message):
    assert message in error(score.predict_proba, X, exception=exception)


def test_faults_in_unused_columns_do_not_matter(score):
    rows = ROWS.copy()
    rows[:, [0, 4]] = np.nan
    assert score.score_samples(rows).tolist() == TOTALS


def test_ambiguous_names_are_refused():
    frame = pd.DataFrame([[1, 2]], columns=[1, "1"])
    assert "several columns named '1'" in error(RiskScore(0, {"1": 1}).score_samples, frame)


# --- tables ---------------------------------------------------------------------------------------


def test_the_printed_score(score):
    assert str(score) == PRINTED


PRINTED = """\
RISK SCORE: probability that died = yes
+---------------------+------------------+-------+
| 1. smoker           |  3 points        |   ... |
| 2. age [2 to 9]     |  1 point x value | + ... |
| 3. exercise         | -2 points        | + ... |
+---------------------+------------------+-------+
|    ADD THE POINTS OF ROWS 1 TO 3 SCORE | = ... |
+---------------------+------------------+-------+

+-------+------+------+-------+-------+-------+-------+
| SCORE |    0 |    1 |     2 |     3 |     4 |     5 |
| RISK  | 1.8% | 4.7% | 11.9% | 26.9% | 50.0% | 73.1% |
+-------+------+------+-------+-------+-------+-------+
+-------+-------+-------+-------+-------+-------+--------+
| SCORE |     6 |     7 |     8 |     9 |    10 |     12 |
| RISK  | 88.1% | 95.3% | 98.2% | 99.3% | 99.8% | >99.9% |
+-------+-------+-------+-------+-------+-------+--------+
risk = 1 / (1 + exp(4 - score))
[a to b]: the values of the feature in the training data.
feasible (time limit reached): objective 0.4, lower bound 0.38, gap 5.00%, 961 rows"""


def test_one_feature_and_an_intercept_of_zero():
    lines = str(RiskScore(0, {"a": -1})).splitlines()
    assert lines[2] == "| 1. a | -1 point |   ... |"
    assert lines[4] == "|           SCORE | = ... |"
    assert lines[-2:] == ["risk = 1 / (1 + exp(-score))", "Risk: the probability that outcome = 1."]


def test_ranges_of_large_values():
    ranges = {"a": FeatureRange(0, 1234567), "b": FeatureRange(0.1 + 0.2, 4.0, is_integer=False)}
    lines = str(RiskScore(0, {"a": 2, "b": 1}, feature_ranges=ranges)).splitlines()
    assert lines[2].startswith("| 1. a [0 to 1234567] ")
    assert lines[3].startswith("| 2. b [0.3 to 4] ")


def test_names_cannot_break_the_table():
    score = RiskScore(0, {"two\nlines\tand [brackets]": 1, "größer als 3 µm": 2})
    lines = str(score).splitlines()
    assert "| 2. two lines and [brackets] | 1 point  | + ... |" in lines
    assert "| 1. größer als 3 µm          | 2 points |   ... |" in lines


def test_long_names_are_wrapped():
    name = "time from admission to first antibiotic, in hours, " * 4 + "x" * 70
    score = RiskScore(0, {name: -3, "a": 1}, feature_ranges={name: FeatureRange(0, 9)})
    lines = str(score).splitlines()[1:9]
    assert max(map(len, lines)) <= 100
    assert len({len(line) for line in lines}) == 1
    assert lines[2].startswith("| 2. time from admission")
    assert lines[3].startswith("|    ")
    cells = [line.split("|")[1].strip() for line in lines[2:7]]
    assert "".join(cells).replace(" ", "").endswith("x" * 70 + "[0to9]")
    assert "ROWS 1 TO 2 " in str(score)


def test_more_than_nine_features_are_aligned():
    lines = str(RiskScore(0, {f"f{k}": 20 - 2 * k for k in range(13)})).splitlines()
    assert lines[2] == "|  1. f0                      | 20 points |   ... |"
    assert lines[13] == "| 12. f12                     | -4 points | + ... |"
    assert len({len(line) for line in lines[1:17]}) == 1


@pytest.mark.parametrize(
    ("objective", "bound", "expected"),
    [
        (0.4, 0.38, "objective 0.4, lower bound 0.38, gap 5.00%, 961 rows"),
        (0.4, 0.4, "objective 0.4, lower bound 0.4, gap 0.00%, 961 rows"),
        (0.4, 0.4 * (1 - 1e-7), "lower bound 0.39999996, gap <0.01%, 961 rows"),
        (0.16160287777779317, 0.0, "objective 0.161602878, lower bound 0, gap 100.00%"),
    ],
)
def test_the_certificate_is_stated(score, objective, bound, expected):
    certificate = dataclasses.replace(CERTIFICATE, objective=objective, lower_bound=bound)
    last = str(dataclasses.replace(score, certificate=certificate)).splitlines()[-1]
    assert last.startswith("feasible (time limit reached): ")
    assert expected in last
    assert "objective" not in str(dataclasses.replace(score, certificate=None))


def test_few_scores_are_listed_one_by_one():
    score = RiskScore(-3, {"a": 2, "b": -1})
    assert printed_risks(str(score)) == {"-1": "1.8%", "0": "4.7%", "1": "11.9%", "2": "26.9%"}
    # 3 is no sum of 0 or 2 and 0 or 5.
    gaps = RiskScore(0, {"a": 2, "b": 5})
    assert list(printed_risks(str(gaps))) == ["0", "2", "5", "7"]


@pytest.mark.parametrize("count", [15, 20, 21, 30])
def test_extreme_risks_share_an_entry(count):
    values = tuple(range(count))
    ranges = {"a": FeatureRange(0, count - 1, values=values)}
    table = RiskScore(-10, {"a": 1}, feature_ranges=ranges).risk_table()
    shown = [str(total) for total in values[4:17]]
    assert [row.score for row in table] == ["<= 3", *shown, *[">= 17"] * (count > 17)]
    assert (table[0].lowest, table[0].highest, table[0].risk) == (-math.inf, 3, "<0.1%")
    if count > 17:
        assert (table[-1].lowest, table[-1].highest, table[-1].risk) == (17, math.inf, ">99.9%")


def test_a_single_extreme_risk_stays_a_number():
    ranges = {"a": FeatureRange(3, 17, values=tuple(range(3, 18)))}
    table = RiskScore(-10, {"a": 1}, feature_ranges=ranges).risk_table()
    assert [row.score for row in table] == [str(total) for total in range(3, 18)]
    assert (table[0].risk, table[-1].risk) == ("<0.1%", ">99.9%")


def test_long_tables_are_folded():
    more = FeatureRange(0, 40, values=tuple(range(41)))
    text = str(RiskScore(-1000, {"a": 50}, feature_ranges={"a": more}))
    assert max(map(len, text.splitlines())) <= 80
    assert list(printed_risks(text)) == ["<= 950", "1000", ">= 1050"]
    wide = str(
        RiskScore(-10, {"a": 1}, feature_ranges={"a": FeatureRange(0, 19, values=tuple(range(20)))})
    )
    assert sum(line.startswith("| SCORE |") for line in wide.splitlines()) == 3
    assert max(map(len, wide.splitlines())) <= 80


def test_real_features_get_a_grid_of_scores():
    ranges = {"bmi": FeatureRange(18.5, 40.25, is_integer=False)}
    text = str(RiskScore(-30, {"bmi": 1}, feature_ranges=ranges))
    assert "| 1. bmi [18.5 to 40.25] | 1 point x value |   ... |" in text
    assert "The table shows some of the scores: between them, use the formula." in text
    assert "[a to b]: the values of the feature in the training data." in text
    risks = printed_risks(text)
    assert list(risks) == ["<= 23", *map(str, range(24, 37)), ">= 37"]
    assert risks["30"] == "50.0%"


def test_narrow_real_features_get_a_fine_grid():
    ranges = {"x": FeatureRange(0.112, 0.391, is_integer=False)}
    table = RiskScore(-1, {"x": 3}, feature_ranges=ranges).risk_table()
    assert [row.score for row in table] == [f"{k / 10:.1f}" for k in range(4, 12)]
    constant = {"x": FeatureRange(0.3, 0.3, is_integer=False)}
    assert len(RiskScore(-1, {"x": 3}, feature_ranges=constant).risk_table()) == 1


@pytest.mark.parametrize("intercept", [-60, 60])
def test_real_features_whose_risk_is_always_extreme(intercept):
    ranges = {"x": FeatureRange(0.5, 20.5, is_integer=False)}
    score = RiskScore(intercept, {"x": 2}, feature_ranges=ranges)
    (row,) = score.risk_table()
    assert row.risk == ("<0.1%" if intercept < 0 else ">99.9%")
    for value in (0.5, 7.25, 20.5):
        assert covers(row.score, 2 * value)


def test_integers_with_many_values_get_whole_scores():
    ranges = {"balance": FeatureRange(-3000, 15841)}
    text = str(RiskScore(-30, {"balance": 3}, feature_ranges=ranges))
    assert "some of the scores" not in text
    assert list(printed_risks(text)) == ["<= 23", *map(str, range(24, 37)), ">= 37"]


def test_scores_that_spread_too_far_are_not_enumerated():
    ranges = {name: FeatureRange(0, 10**6, values=(0, 10**6)) for name in "ab"}
    table = RiskScore(-3, {"a": 5, "b": -5}, feature_ranges=ranges).risk_table()
    assert table[0].score == "<= -4"
    assert table[-1].score == ">= 10"


SCALES = st.floats(math.log(0.05), math.log(200)).map(math.exp)


def scores_with_values():
    """Risk scores with integer features, each with the values seen in training."""
    few = st.lists(st.integers(-12, 12), min_size=1, max_size=6, unique=True).map(sorted)
    feature = st.tuples(st.integers(-9, 9), few)
    return st.tuples(st.integers(-40, 40), st.lists(feature, max_size=4))


@given(scores_with_values(), st.just(1.0) | st.floats(0.1, 30))
def test_the_table_lists_exactly_the_attainable_scores_and_their_risks(case, scale):
    intercept, features = case
    names = [f"f{j}" for j in range(len(features))]
    score = RiskScore(
        intercept,
        {name: points for name, (points, _) in zip(names, features, strict=True)},
        feature_ranges={
            name: FeatureRange(values[0], values[-1], values=tuple(values))
            for name, (_, values) in zip(names, features, strict=True)
        },
        scale=scale,
    )
    X = np.array(list(itertools.product(*(values for _, values in features))) or [[]])
    X = np.hstack([X, np.zeros((len(X), 1))])  # arrays have at least one column
    score = dataclasses.replace(score, feature_names=[*names, "unused"])
    totals, risks = score.score_samples(X).tolist(), score.predict_proba(X)[:, 1].tolist()
    text = str(score.sheet(max_rows=None))
    table = printed_risks(text)
    # Every row of data is found in the printed table once, with the risk that is predicted.
    used = set()
    for total, risk in zip(totals, risks, strict=True):
        entries = [label for label in table if covers(label, total)]
        assert len(entries) == 1
        assert table[entries[0]] == percent(risk)
        used.update(entries)
    assert used == set(table)
    assert len(table) <= 2 + max(14 * scale, 18)
    lines = [line for line in text.splitlines()[1:] if not line.startswith("Scale ")]
    assert max(map(len, lines)) <= 80
    # What is printed is what the structure says, in increasing order.
    assert table == {row.score: row.risk for row in score.risk_table()}
    ends = [end for row in score.risk_table() for end in (row.lowest, row.highest)]
    assert ends == sorted(ends)


@given(
    st.integers(-40, 40),
    st.lists(
        st.tuples(
            st.integers(-9, 9).filter(bool),
            st.tuples(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4)).map(sorted),
        ),
        min_size=1,
        max_size=3,
    ),
    st.just(1.0) | SCALES,
)
@example(0, [(1, [0.0, 5e-324])], 1.0)
@example(0, [(1, [-1e-9, 1e-9]), (2, [3.0, 3.0])], 1.0)
@example(-7, [(1, [-6.906754778648554, 13.906754778648554])], 1.0)
@example(0, [(1, [-1e4, 1e4])], 1e-6)
@example(0, [(1, [-1e4, 1e4])], 1e9)
def test_a_grid_of_scores_is_never_wrong(intercept, features, scale):
    names = [f"f{j}" for j in range(len(features))]
    score = RiskScore(
        intercept,
        {name: points for name, (points, _) in zip(names, features, strict=True)},
        feature_ranges={
            name: FeatureRange(low, high, is_integer=False)
            for name, (_, (low, high)) in zip(names, features, strict=True)
        },
        scale=scale,
    )
    table = score.risk_table()
    assert 1 <= len(table) <= 20
    one_point = RiskScore(intercept, {"score": 1}, scale=scale)
    for row in table:
        inside = np.clip([row.lowest, row.highest], -1e6, 1e6)
        for risk in one_point.predict_proba(inside[:, None])[:, 1]:
            assert percent(risk) == row.risk
    ends = [end for row in table for end in (row.lowest, row.highest)]
    assert ends == sorted(ends)


# --- the scale ------------------------------------------------------------------------------------


def rescaled(score: RiskScore, scale: float) -> RiskScore:
    certificate = dataclasses.replace(CERTIFICATE, scale=scale, scales=ScaleSet.of(scale))
    return dataclasses.replace(score, scale=scale, certificate=certificate)


@given(st.integers(-40, 40), st.lists(st.integers(-60, 60), min_size=1, max_size=20), SCALES)
@example(-4, [4, 5], 1.0)
@example(0, [1], 1e-6)
@example(0, [1], 1e9)
def test_predictions_with_a_scale(intercept, values, scale):
    score = RiskScore(intercept, {"a": 3}, scale=scale)
    rows = np.array(values)[:, None]
    log_odds = [(intercept + 3 * value) / scale for value in values]
    assert score.score_samples(rows).tolist() == [3 * value for value in values]
    assert score.decision_function(rows).tolist() == log_odds
    with mpmath.workdps(50):
        exact = [
            [1 / (1 + mpmath.exp(s * mpmath.mpf(intercept + 3 * v) / mpmath.mpf(scale)))
             for s in (1, -1)]
            for v in values
        ]  # fmt: skip
    found = score.predict_proba(rows)
    assert np.abs(found - np.array(exact, dtype=float)).max() <= 1e-15
    # Which risks are above 50% does not depend on the scale.
    assert score.predict(rows).tolist() == [int(intercept + 3 * value > 0) for value in values]


@given(st.integers(-2000, 2000), st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_the_scale_1_changes_no_bit(intercept, values):
    rows = np.array(values)[:, None]
    scores = intercept + (7 * rows[:, 0])
    small = np.exp(-np.abs(scores))
    for score in (RiskScore(intercept, {"a": 7}), RiskScore(intercept, {"a": 7}, scale=1)):
        assert score.decision_function(rows).tobytes() == scores.tobytes()
        risks = np.where(scores >= 0, 1.0, small) / (1.0 + small)
        assert score.predict_proba(rows)[:, 1].tobytes() == risks.tobytes()


def test_log_odds_beyond_float64():
    score = RiskScore(0, {"a": 1}, scale=1e-6)
    assert score.predict_proba([[1e305], [-1e305]]).tolist() == [[0, 1], [1, 0]]
    assert score.predict([[1e305], [-1e305]]).tolist() == [1, 0]


@pytest.mark.parametrize("value", [2, 2.0, np.float64(2), np.float32(2), np.int8(2)])
def test_any_number_is_a_scale(value):
    score = RiskScore(-3, {"a": 2}, scale=value)
    assert (type(score.scale), score.scale) == (float, 2.0)
    assert score == RiskScore(-3, {"a": 2}, scale=2.0)
    assert RiskScore(-3, {"a": 2}).scale == 1.0


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "scale must be between 1e-06 and 1e+09, got 0"),
        (-1.5, "scale must be between 1e-06 and 1e+09, got -1.5"),
        (math.nan, "scale must be between 1e-06 and 1e+09, got nan"),
        (math.inf, "scale must be between 1e-06 and 1e+09, got inf"),
        (10**400, "scale must be between 1e-06 and 1e+09, got 1000"),
        (True, "scale must be a number, got True"),
        ("free", "scale must be a number, got 'free'"),
        ((0.5, 2), "scale must be a number, got (0.5, 2)"),
        (None, "scale must be a number, got None"),
    ],
)
def test_scales_are_checked(value, message):
    assert message in error(RiskScore, 0, {"a": 1}, scale=value)


def test_scores_with_a_scale_are_values(score):
    other = rescaled(score, 2.5)
    assert other != score
    assert hash(other) != hash(score)
    for twin in (pickle.loads(pickle.dumps(other)), copy.deepcopy(other)):
        assert twin == other
        assert hash(twin) == hash(other)
    made = RiskScore(-3, {"a": 2}, scale=1 / 3)
    assert repr(made).endswith("classes=(0, 1), scale=0.3333333333333333)")
    assert eval(repr(made)) == made
    assert "scale" not in repr(score)


@pytest.mark.parametrize(
    ("intercept", "scale", "formula"),
    [
        (-4, 1, "4 - score"),
        (-4, 2.5, "-(score - 4) / 2.5"),
        (4, 2.5, "-(score + 4) / 2.5"),
        (0, 2, "-score / 2"),
        (-1, 1 / 3, "-(score - 1) / 0.3333333333333333"),
        (-1, 1e9, "-(score - 1) / 1000000000"),
    ],
)
def test_the_formula(intercept, scale, formula):
    text = str(RiskScore(intercept, {"a": 2}, scale=scale))
    assert f"\nrisk = 1 / (1 + exp({formula}))" in text
    # It is the one that is predicted with.
    for value in (0, 1, 4):
        found = 1 / (1 + math.exp(eval(formula, {"score": 2 * value})))
        risk = RiskScore(intercept, {"a": 2}, scale=scale).predict_proba([[value]])[0, 1]
        assert abs(found - risk) <= 1e-15


def test_the_printed_score_with_a_scale(score):
    assert str(rescaled(score, 1)) == PRINTED
    lines = str(rescaled(score, 2.5)).splitlines()
    assert lines[:6] == PRINTED.splitlines()[:6]
    assert printed_risks("\n".join(lines))["4"] == "50.0%"
    assert printed_risks("\n".join(lines))["5"] == "59.9%"
    assert lines[-4:] == [
        "risk = 1 / (1 + exp(-(score - 4) / 2.5))",
        "Scale 2.5: one point adds 0.4 to the log-odds and multiplies the odds by 1.492.",
        "[a to b]: the values of the feature in the training data.",
        f"{PRINTED.splitlines()[-1]}, scale 2.5",
    ]


@pytest.mark.parametrize(
    ("scale", "worth"),
    [
        (0.01, "Scale 0.01: one point adds 100 to the log-odds."),
        (0.5, "Scale 0.5: one point adds 2 to the log-odds and multiplies the odds by 7.389."),
        (3, "Scale 3: one point adds 0.3333 to the log-odds and multiplies the odds by 1.396."),
        (1e-6, "Scale 1e-06: one point adds 1e+06 to the log-odds."),
        (1e6, "Scale 1000000: one point adds 1e-06 to the log-odds."),
    ],
)
def test_what_a_point_is_worth(scale, worth):
    assert worth in str(RiskScore(-1, {"a": 2}, scale=scale)).splitlines()


def test_a_scale_that_was_chosen_is_stated_whatever_it_is(score):
    certificate = dataclasses.replace(CERTIFICATE, scales=ScaleSet.of([1, 2]))
    text = str(dataclasses.replace(score, certificate=certificate))
    assert (
        "\nrisk = 1 / (1 + exp(4 - score))\n"
        "Scale 1: one point adds 1 to the log-odds and multiplies the odds by 2.718.\n"
    ) in text
    assert text.endswith(", scale 1 (of 1, 2)")


def test_extreme_risks_lie_further_out_with_a_larger_scale():
    ranges = {"a": FeatureRange(-100, 100, values=tuple(range(-100, 101)))}
    for scale, first, last in [(0.5, -4, 4), (1, -7, 7), (2.5, -18, 18), (10, -70, 70)]:
        table = RiskScore(0, {"a": 1}, feature_ranges=ranges, scale=scale).risk_table()
        assert (table[0].score, table[-1].score) == (f"<= {first}", f">= {last}")
        assert len(table) == last - first + 1


@pytest.mark.parametrize(
    ("scale", "first", "last", "step"),
    [(0.1, "<= 29.3", ">= 30.7", 0.1), (1, "<= 23", ">= 37", 1), (2.5, "<= 12", ">= 48", 5),
     (20, "<= -120", ">= 180", 20)],
)  # fmt: skip
def test_the_grid_of_scores_widens_with_the_scale(scale, first, last, step):
    ranges = {"x": FeatureRange(-500.0, 500.0, is_integer=False)}
    table = RiskScore(-30, {"x": 1}, feature_ranges=ranges, scale=scale).risk_table()
    assert float(table[0].score[3:]) <= float(first[3:])
    assert float(table[-1].score[3:]) >= float(last[3:])
    inner = [float(row.score) for row in table[1:-1]]
    np.testing.assert_allclose(np.diff(inner), step)
    assert 8 <= len(table) <= 20
    whole = {"x": FeatureRange(-500, 500)}
    table = RiskScore(-30, {"x": 1}, feature_ranges=whole, scale=scale).risk_table()
    assert [float(row.score) for row in table[1:-1]] == [
        score for score in np.arange(-500, 500, max(step, 1))
        if table[0].highest < score < table[-1].lowest
    ]  # fmt: skip


def test_from_a_solution_with_a_scale(data):
    certificate = dataclasses.replace(CERTIFICATE, scale=2.5, scales=ScaleSet.of((0.5, 12)))
    vectors = np.array([[-3, 0, 1, 0, 0, 0], [-2, 0, 0, 2, 0, 0]])[:, : 1 + data.n_features]
    pool = SolutionPool(
        vectors, np.array([0.4, 0.41]), data.feature_names, True, 0.42, np.array([2.5, 4.0])
    )
    solution = dataclasses.replace(
        solution_of(data, -3, age=1), certificate=certificate, scale=2.5, pool=pool
    )
    best, other = (RiskScore.from_solution(solution, data, rank=rank) for rank in (0, 1))
    assert (best.scale, best.certificate, other.scale) == (2.5, certificate, 4.0)
    assert best.decision_function(data).tolist() == [(v - 3) / 2.5 for v in (2, 9, 3, 5)]
    plain_pool = dataclasses.replace(pool, scales=None)
    of_before = dataclasses.replace(solution_of(data, -3, age=1), pool=plain_pool)
    assert RiskScore.from_solution(of_before, data, rank=1).scale == 1.0
    unknown = dataclasses.replace(solution, pool=plain_pool)
    message = error(RiskScore.from_solution, unknown, data, rank=1)
    assert "with scales of 0.5 to 12, but it does not say which each has" in message
    wrong = dataclasses.replace(solution, scale=1.0)
    message = error(RiskScore.from_solution, wrong, data)
    assert "has the scale 1.0, but its certificate is about the scale 2.5" in message


def test_files_of_scores_with_a_scale(score, tmp_path):
    other = rescaled(score, 2.5)
    document = plain(other)
    assert (document["version"], document["scale"]) == (5, 2.5)
    assert (document["certificate"]["scale"], document["certificate"]["scales"]) == (2.5, 2.5)
    other.save(tmp_path / "s.json")
    assert RiskScore.load(tmp_path / "s.json") == other
    # Apart from version, scale and certificate it is the file of the same points.
    same = plain(score)
    for part in (document, same):
        del part["version"], part["certificate"], part["scale"], part["digest"]
    assert document == same
    # A whole number is a scale, too; 1 may be written.
    bare = plain(dataclasses.replace(other, certificate=None))
    assert bare["version"] == 2
    assert RiskScore.from_json(changed(bare, "scale", to=3)).scale == 3.0
    assert RiskScore.from_json(changed(bare, "scale", to=1)).scale == 1.0
    assert RiskScore.from_json(changed(plain(score), "scale", to=1.0)) == score


def test_files_without_a_scale(score):
    """As they were written before there were scales."""
    bare = dataclasses.replace(score, certificate=None)
    document = plain(bare)
    assert document["version"] == 1
    assert "scale" not in document
    assert RiskScore.from_json(json.dumps(document)) == bare
    document["certificate"] = plain(score)["certificate"]
    del document["certificate"]["scale"], document["certificate"]["scales"]
    with pytest.warns(UnboundCertificateWarning, match="version 1 of the format does not bind"):
        assert RiskScore.from_json(json.dumps(document)) == bare


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "scale must be between 1e-06 and 1e+09, got 0"),
        (-2.5, "scale must be between 1e-06 and 1e+09, got -2.5"),
        (math.inf, "scale must be between 1e-06 and 1e+09, got inf"),
        ("2.5", "scale must be a number, got '2.5'"),
        (None, "scale must be a number, got None"),
        (True, "scale must be a number, got True"),
        ([2.5], "scale must be a number, got [2.5]"),
    ],
)
def test_scales_in_files_are_checked(score, value, message):
    text = changed(plain(rescaled(score, 2.5)), "scale", to=value)
    assert message in error(RiskScore.from_json, text)


def test_readers_that_know_no_scales_must_refuse_them(score):
    text = changed(plain(rescaled(score, 2.5)), "version", to=1)
    assert "version 1 of the format has no scale, got 2.5" in error(RiskScore.from_json, text)
    text = changed(plain(rescaled(score, 2.5)), "scale", drop=True)
    assert "incomplete: it lacks scale" in error(RiskScore.from_json, text)


# --- JSON -----------------------------------------------------------------------------------------


def plain(score) -> dict:
    return json.loads(score.to_json())


def test_the_format(score):
    assert plain(score) == {
        "format": "riskslim.risk_score",
        "version": 5,
        "created_by": plain(score)["created_by"],
        "outcome_name": "died",
        "classes": ["no", "yes"],
        "intercept": -4,
        "scale": 1.0,
        "points": [
            {"feature": "smoker", "points": 3, "minimum": 0, "maximum": 1, "is_integer": True,
             "values": [0, 1]},
            {"feature": "age", "points": 1, "minimum": 2, "maximum": 9, "is_integer": True,
             "values": [2, 3, 5, 9]},
            {"feature": "exercise", "points": -2, "minimum": 0, "maximum": 1, "is_integer": True,
             "values": [0, 1]},
        ],
        "feature_names": ["id", "smoker", "age", "exercise", "bmi"],
        "certificate": {
            "status": "feasible",
            "objective": 0.4,
            "loss": 0.3999,
            "model_size": 3,
            "lower_bound": 0.38,
            "gap_tolerance": 0.0,
            "bound_tolerance": 1e-12,
            "engine": "example 1.0",
            "n_samples": 961,
            "message": "time limit reached",
            "scale": 1.0,
            "scales": 1.0,
            "optimality_gap": CERTIFICATE.optimality_gap,
        },
        "digest": plain(score)["digest"],
    }  # fmt: skip
    assert plain(score)["created_by"].startswith("riskslim ")


@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")
@settings(max_examples=30)
@given(
    st.integers(-(2**31) + 1, 2**31 - 1),
    st.dictionaries(st.text(min_size=1), st.integers(-(2**31) + 1, 2**31 - 1), min_size=1),
    st.data(),
)
def test_a_round_trip_loses_nothing(intercept, points, draw):
    ends = st.tuples(*[st.floats(-1e280, 1e280)] * 2).map(sorted)  # of scores that are numbers
    ranges = {
        name: FeatureRange(*draw.draw(ends), is_integer=False)
        for name in draw.draw(st.sets(st.sampled_from(list(points))))
    }
    loss = draw.draw(st.floats(0, 1e300))
    scale = draw.draw(st.just(1.0) | st.floats(1e-6, 1e9))
    scales = draw.draw(st.sampled_from([scale, [scale, 1.0, 2.0], (scale, scale + 1.0)]))
    certificate = dataclasses.replace(
        CERTIFICATE,
        loss=loss,
        objective=draw.draw(st.floats(loss, 1e300)),
        model_size=sum(map(bool, points.values())),
        lower_bound=draw.draw(st.floats(-math.inf, loss)),
        scale=scale,
        scales=ScaleSet.of(scales),
    )
    score = RiskScore(
        intercept, points, feature_ranges=ranges, certificate=certificate, scale=scale
    )
    loaded = RiskScore.from_json(score.to_json())
    assert loaded == score
    assert loaded.to_json() == score.to_json()
    assert list(loaded.points) == list(score.points)
    rows = draw.draw(
        st.lists(
            st.lists(st.floats(-1e6, 1e6), min_size=len(points), max_size=len(points)),
            min_size=1,
            max_size=5,
        )
    )
    assert loaded.predict_proba(rows).tobytes() == score.predict_proba(rows).tobytes()


@pytest.mark.parametrize(
    "classes",
    [(0, 1), (False, True), (0.0, 1.0), (-1, 1), ("0", "1"), ("nein", "ja, größer"), (0, "1"),
     tuple(np.array([1, 2])), tuple(np.array(["a", "b"])), tuple(np.array([False, True]))],
)  # fmt: skip
def test_classes_keep_their_types(classes):
    score = RiskScore(-1, {"a": 2}, classes=classes)
    loaded = RiskScore.from_json(score.to_json())
    assert loaded.classes == score.classes
    assert list(map(type, loaded.classes)) == list(map(type, score.classes))
    before, after = (s.predict([[0], [1]]) for s in (score, loaded))
    assert before.dtype == after.dtype
    assert before.tolist() == after.tolist() == list(score.classes)


def test_other_classes_cannot_be_saved():
    message = error(RiskScore(0, {"a": 1}, classes=(b"n", b"y")).to_json, exception=TypeError)
    assert "classes of type 'bytes' cannot be saved" in message


def test_infinite_bounds_survive(score):
    certificate = dataclasses.replace(CERTIFICATE, lower_bound=-math.inf)
    text = dataclasses.replace(score, certificate=certificate).to_json()
    assert json.loads(text, parse_constant=pytest.fail)["certificate"]["lower_bound"] == "-inf"
    assert RiskScore.from_json(text).certificate == certificate


def test_without_a_certificate(score):
    bare = dataclasses.replace(score, certificate=None)
    assert plain(bare)["certificate"] is None
    assert RiskScore.from_json(bare.to_json()).certificate is None


def changed(document, *path, to=None, drop=False):
    *parents, last = path
    inner = document
    for key in parents:
        inner = inner[key]
    if drop:
        del inner[last]
    else:
        inner[last] = to
    return json.dumps(document)


@pytest.mark.parametrize("key", ["outcome_name", "classes", "intercept", "points",
                                 "feature_names", "certificate"])  # fmt: skip
def test_missing_keys(score, key):
    text = changed(plain(score), key, drop=True)
    assert f"the risk score is incomplete: it lacks {key}" in error(RiskScore.from_json, text)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "other", "not a risk score: expected a JSON object"),
        (["version"], 10, "reads up to version 9: a newer riskslim is needed"),
        (["version"], 0, "version of the format must be a positive integer, got 0"),
        (["version"], "1", "version of the format must be a positive integer, got '1'"),
        (["version"], True, "version of the format must be a positive integer, got True"),
        (["intercept"], 1.5, "intercept must be an integer, got 1.5"),
        (["intercept"], None, "intercept must be an integer, got None"),
        (["outcome_name"], 3, "'outcome_name' must be a str, got 3"),
        (["classes"], "ab", "'classes' must be a list"),
        (["classes"], [0], "classes must be two different labels"),
        (["classes"], [0, None], "classes must be true or false, numbers or text, got None"),
        (["classes"], [0, [1]], "classes must be true or false, numbers or text, got [1]"),
        (["feature_names"], {}, "'feature_names' must be a list"),
        (["feature_names"], ["smoker"], "points names features that are not among"),
        (["feature_names"], [["smoker"]], "feature names must be non-empty str"),
        (["points"], {}, "'points' must be a list"),
        (["points"], [3], "entry 0 of 'points' lacks feature, points"),
        (["points", 0, "points"], 2.5, "points of 'smoker' must be an integer, got 2.5"),
        (["points", 0, "points"], 3.0, "points of 'smoker' must be an integer, got 3.0"),
        (["points", 0, "points"], "3", "points of 'smoker' must be an integer, got '3'"),
        (["points", 0, "points"], True, "points of 'smoker' must be an integer, got True"),
        (["points", 0, "points"], 10**30, "points of 'smoker' must be at most 2147483647"),
        (["points", 1, "feature"], "smoker", "entry 1 of 'points' has no name of its own"),
        (["points", 1, "feature"], 4, "entry 1 of 'points' has no name of its own"),
        (["points", 1, "minimum"], 10, "entry 1 of 'points', 'age': minimum 10.0 exceeds"),
        (["points", 1, "minimum"], None, "entry 1 of 'points', 'age': minimum must be a number"),
        (["points", 1, "maximum"], math.inf, "'age': maximum must be finite"),
        (["points", 1, "values"], [2, 3], "'age': values must increase from the minimum 2"),
        (["points", 1, "values"], [], "'age': values must increase"),
        (["points", 1, "values"], 3, "entry 1 of 'points', 'age', has no valid range"),
        (["points", 1, "is_integer"], "yes", "entry 1 of 'points', 'age', has no valid range"),
        (["certificate"], "optimal", "'certificate' must be an object"),
        (["certificate", "status"], "excellent", "'excellent' is not a valid Status"),
        (["certificate", "objective"], "low", "'objective' of the certificate must be a number"),
        (["certificate", "n_samples"], 0.5, "'n_samples' of the certificate must be an integer"),
        (["certificate", "scale"], 0, "'scale' of the certificate must be between 1e-06 and"),
        (["certificate", "scale"], "1", "'scale' of the certificate must be a number, got '1'"),
        (["certificate", "scale"], math.nan, "'scale' of the certificate must be between"),
        (["certificate", "scales"], None, "'scales' of the certificate: not a set of scales: None"),
        (["certificate", "scales"], "free", "'scales' of the certificate: not a set of scales"),
        (["certificate", "scales"], True, "'scales' of the certificate: scale must be a positive"),
        (["certificate", "scales"], -1, "'scales' of the certificate: scales must be positive"),
        (["certificate", "scales"], 10**400, "'scales' of the certificate: "),
        (["certificate", "scales"], [], "'scales' of the certificate: give between 1 and"),
        (["certificate", "scales"], [1, "2"], "'scales' of the certificate: scales must be numb"),
        (["certificate", "scales"], {"low": 1}, "'scales' of the certificate: an interval of"),
        (["certificate", "scales"], {"low": 3, "high": 2}, "'scales' of the certificate: an inter"),
    ],
)
@pytest.mark.filterwarnings("ignore::riskslim.exceptions.UnboundCertificateWarning")
def test_malformed_documents(score, path, value, message):
    assert message in error(RiskScore.from_json, changed(plain(score), *path, to=value))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["certificate", "model_size"], -3, "'model_size' of the certificate must not be negative"),
        (["certificate", "message"], None, "'message' of the certificate must be text, got None"),
        (["certificate", "engine"], {}, "'engine' of the certificate must be text, got {}"),
        (["classes", 0], math.nan, "classes must be finite, got nan"),
        (["classes", 1], math.inf, "classes must be finite, got inf"),
        (["feature_names"], [], "'feature_names' is empty: it must have the features in 'points'"),
    ],
)
def test_edited_documents(score, path, value, message):
    assert message in error(RiskScore.from_json, changed(plain(score), *path, to=value))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["points", 0, "points"], 0, "its model_size is 3, but this score has 2 features with"),
        (["certificate", "model_size"], 4, "its model_size is 4, but this score has 3 features"),
        (["certificate", "scale"], 2, r"its scale is 2.0, but this score has the scale 1.0"),
    ],
)
def test_edited_documents_of_earlier_versions(score, path, value, message):
    document = {**plain(score), "version": 4}
    if path[-1] == "scale":
        document["certificate"]["scales"] = 2
    assert message in error(RiskScore.from_json, changed(document, *path, to=value))
    del document["scale"]
    assert "it lacks scale" in error(RiskScore.from_json, json.dumps(document))


def test_what_is_not_read_is_not_written(score):
    edited = dataclasses.replace(score, points={"smoker": 3})
    assert "the certificate is about another score" in error(edited.to_json)
    assert "the certificate is about another score" in error(
        dataclasses.replace(score, scale=2.0).to_json
    )
    bare = dataclasses.replace(edited, certificate=None)
    assert RiskScore.from_json(bare.to_json()) == bare


def test_keys_that_are_given_twice(score):
    text = score.to_json().replace('"intercept": -4', '"intercept": -4, "intercept": -5')
    assert "the key 'intercept' is given more than once" in error(RiskScore.from_json, text)


def test_incomplete_parts(score):
    text = changed(plain(score), "certificate", "lower_bound", drop=True)
    assert "certificate lacks lower_bound" in error(RiskScore.from_json, text)
    text = changed(plain(score), "points", 2, "values", drop=True)
    assert "entry 2 of 'points' lacks values" in error(RiskScore.from_json, text)


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "3", "null", b"\xff\xfe", "[" * 100_000])
def test_documents_of_another_kind(text):
    assert error(RiskScore.from_json, text).startswith("not a risk score: ")


def test_files(score, tmp_path):
    path = tmp_path / "the score.json"
    score.save(path)
    assert RiskScore.load(str(path)) == score
    assert path.read_text(encoding="utf-8") == score.to_json()
    score.save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["the score.json"]


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "score.json"
    for text in ("{}", "a,b"):
        path.write_text(text)
        message = error(RiskScore.load, path)
        assert message.startswith(f"{path}: not a risk score: ")
        assert message.endswith(
            "expected a file that riskslim fit --output or RiskScore.save wrote"
        )
    assert str(tmp_path / "none.json") in error(
        RiskScore.load, tmp_path / "none.json", exception=FileNotFoundError
    )


def test_a_failed_write_leaves_the_old_file(score, tmp_path, monkeypatch):
    path = tmp_path / "score.json"
    score.save(path)
    before = path.read_bytes()

    def full(_):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "No space" in error(
        dataclasses.replace(score, intercept=1).save, path, exception=OSError
    )
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["score.json"]


def test_links_and_permissions(score, tmp_path):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    mask = os.umask(0o027)
    try:
        score.save(target)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    link.symlink_to(target)
    dataclasses.replace(score, intercept=1).save(link)
    assert link.is_symlink()
    assert RiskScore.load(target).intercept == 1


def test_a_pipe_is_written_to_not_replaced(score, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    score.save(pipe)
    reader.join(timeout=10)
    assert found == [score.to_json()]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_names_and_labels_that_are_none():
    with pytest.raises(TypeError, match="feature_names must be names, not one str, got 'ab'"):
        RiskScore(-1, {"a": 1}, feature_names="ab")
    with pytest.raises(ValueError, match="classes must be two different labels"):
        RiskScore(-1, {"a": 1}, classes=(math.nan, 1))


def test_scores_of_integer_vectors():
    data = TrainingData({"age": [40, 62, 55, 71], "smoker": [0, 1, 0, 1]}, [0, 1, 0, 1])
    score = RiskScore.from_coefficients(np.array([-2, 0, 3]), data, scale=2.5)
    assert (score.intercept, dict(score.points), score.scale) == (-2, {"smoker": 3}, 2.5)
    assert score.feature_ranges["smoker"].values == (0, 1)
    assert score.feature_names == ("age", "smoker")
    with pytest.raises(ValueError, match=r"coef must be of shape \(3,\), .* got \(2,\)"):
        RiskScore.from_coefficients([1, 2], data)
    with pytest.raises(ValueError, match="points of 'smoker' must be an integer"):
        RiskScore.from_coefficients([0.0, 0.0, 1.5], data)
