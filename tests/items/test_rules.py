"""Items computed from raw columns by their names: the same as those of the encoder."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from riskslim import ItemEncoder, RiskScore
from riskslim.items.rules import fit_items, with_items


def raw(n=60, seed=0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 90, n),
            "BMI": rng.normal(27, 4, n).round(2),
            "sex": rng.choice(["female", "male"], n),
            "country": rng.choice(["A", "B b", "C", ""], n, p=[0.8, 0.08, 0.06, 0.06]),
            "code": rng.integers(1, 4, n),
            "smoker": rng.random(n) < 0.4,
            "score >= 2": rng.integers(0, 2, n),
        }
    )


def columns_of(table, names) -> np.ndarray:
    position = {name: j for j, name in enumerate(table.names)}
    return np.column_stack([table.values(position[name]) for name in names]).astype(float)


OPTIONS = {"categorical": ["code"], "min_frequency": 8, "missing": "indicator"}


def frame_of(table):
    """A data frame of a table whose columns are computed when they are read."""
    return pd.DataFrame({name: table.values(j) for j, name in enumerate(table.names)})


@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")
@pytest.mark.parametrize("direction", [">=", "<="])
@pytest.mark.parametrize("lacking", [False, True])
def test_the_same_as_the_encoder(direction, lacking):
    train, other = raw(), raw(40, seed=1)
    if lacking:
        for frame in (train, other):
            frame["smoker"] = frame["smoker"].astype(object)
            frame["code"] = frame["code"].astype(float)
            for k, name in enumerate(frame.columns[:-1]):
                frame.loc[[3 + k, 21], name] = None
    encoder = ItemEncoder(direction=direction, **OPTIONS)
    items = frame_of(fit_items(encoder, train))
    names = list(items.columns)
    assert any(name.startswith("country in {") for name in names)
    assert ("age is missing" in names) is lacking
    for frame in (train, other):
        expected = encoder.transform(frame)
        found = columns_of(with_items(frame, names, names), names)
        np.testing.assert_array_equal(found, expected.to_numpy())


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int16])
def test_thresholds_of_any_type(kind):
    frame = pd.DataFrame({"x": (np.random.default_rng(0).normal(0, 30, 50)).astype(kind)})
    items = frame_of(fit_items(ItemEncoder(), frame))
    names = list(items.columns)
    np.testing.assert_array_equal(
        columns_of(with_items(frame, names, names), names), items.to_numpy()
    )


def test_missing_values_are_refused_where_the_score_does_not_know_them():
    score = RiskScore(-1, {"age >= 60": 2, "smoker": 1, "sex = male": 1})
    rows = {"age": [70, None, 30], "smoker": [1, 0, 1], "sex": ["male", None, "female"]}
    with pytest.raises(ValueError, match=r"contains NaN") as caught:
        with_items(rows, tuple(score.points), score.feature_names)
    assert "'age' (1 of 3 rows, first at row 1), 'sex' (1 of 3 rows" in str(caught.value)
    assert "remove these rows, or impute" in str(caught.value)
    known = [*score.feature_names, "age is missing", "sex is missing"]
    table = with_items(rows, tuple(score.points), known)
    assert score.score_samples(table).tolist() == [4, 0, 1]


def test_missing_values_of_a_column_of_two_values():
    score = RiskScore(-1, {"smoker": 3, "age": 1}, feature_names=[
        "smoker", "age", "smoker is missing", "age is missing"])  # fmt: skip
    table = with_items(
        {"smoker": [True, None, False], "age": [4, 5, 6]}, ("smoker", "age"), score.feature_names
    )
    assert score.score_samples(table).tolist() == [7, 5, 6]
    # Numbers have no such item: what was done with missing values is not known.
    table = with_items(
        {"smoker": [1, 0, 1], "age": [4, None, 6]}, ("smoker", "age"), score.feature_names
    )
    with pytest.raises(ValueError, match=r"'age' \(1 of 3 rows"):
        score.score_samples(table)


def test_items_that_are_given_are_not_computed():
    rows = {"age": [70, 30], "age >= 60": [0, 1]}
    assert columns_of(with_items(rows, ["age >= 60"], []), ["age >= 60"]).tolist() == [[0], [1]]


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("x > 2", [1, 2, 3], [0, 0, 1]),
        ("x < 2", [1, 2, 3], [1, 0, 0]),
        ("x ≥ 2", [1, 2, 3], [0, 1, 1]),
        ("x≤2", [1, 2, 3], [1, 1, 0]),
        ("x >= 1e-3", [0.0009, 0.001, 2], [0, 1, 1]),
        ("x == 2", [1, 2, 3], [0, 1, 0]),
        ("x = 2", [1.0, 2.0, 3.5], [0, 1, 0]),
        ("x = 007", [7, 8, 70], [1, 0, 0]),
        ("x = 7", ["7", "8", "new"], [1, 0, 0]),
        ("x = ''", ["", "a", "b"], [1, 0, 0]),
        ("x = true", [True, False, True], [1, 0, 1]),
        ("x = a >= b", ["a >= b", "a", "b"], [1, 0, 0]),
        ("x in {A, B}", ["A", "C", "B"], [1, 0, 1]),
        ("x is missing", [None, "a", "b"], [1, 0, 0]),
        ("x is missing", [1, 2, 3], [0, 0, 0]),
    ],
)
def test_conditions(name, values, expected):
    assert columns_of(with_items({"x": values}, [name], []), [name])[:, 0].tolist() == expected


@pytest.mark.parametrize(
    "name", ["x != 2", "x is not missing", "x not in {A}", "x in [1, 2]", "x >= tall", "1 <= x < 2"]
)
def test_other_names_are_not_guessed(name):
    table = with_items({"x": [1, 2, 3]}, [name], [])
    assert list(table.names) == ["x"]
    with pytest.raises(ValueError, match="X lacks 1 of the 1 features with points"):
        RiskScore(0, {name: 1}).score_samples(table)


def test_a_name_with_two_readings_is_refused():
    rows = {"x": ["a >= 3", "b"], "x = a": [1, 5]}
    with pytest.raises(ValueError, match="'x = a >= 3' is a condition on several columns"):
        with_items(rows, ["x = a >= 3"], [])


def test_text_where_numbers_are_needed():
    with pytest.raises(ValueError, match=r"could not convert string to float[\s\S]*'x' \(1 of 2"):
        with_items({"x": ["old", 3]}, ["x >= 2", "x >= 3"], [])


@pytest.mark.parametrize(
    ("values", "options"),
    [
        (["A, B", "C", "D", "D", "D"], {"min_frequency": 2}),
        ([" A", "A", "B", "B"], {}),
        (["a >= 3", "a = b", "", "a >= 3", "a = b"], {}),
    ],
)
def test_stated_items_are_computed_whatever_their_names(values, options):
    frame = pd.DataFrame({"x": values})
    encoder = ItemEncoder(**options)
    made = frame_of(fit_items(encoder, frame))
    items = {item.name: item for item in encoder.items_}
    table = with_items(frame, list(items), list(items), encoder.variables_, items)
    for name in items:
        values = table.values([*table.names].index(name))
        assert values.tolist() == made[name].tolist()


def test_items_with_the_name_of_a_column_are_refused():
    frame = pd.DataFrame({"x": ["a", "b", "a"], "x = b": [5.0, 5.0, 5.0]})
    with pytest.raises(ValueError, match="'x = b': conditions have the names of columns"):
        fit_items(ItemEncoder(), frame)


def test_arrays_have_no_names_to_read():
    table = with_items(np.eye(2), ["age >= 60"], [])
    assert (table.n_features, table.names) == (2, None)


def test_levels_that_the_score_does_not_know_are_reported(caplog):
    known = ("smoker = never", "smoker = former", "smoker = current", "age >= 60", "sex = male")
    raw = {
        "smoker": np.array(["never", "Current", None, "former"], object),
        "age": np.array([1, 2, 3, 70]),
        "sex": np.array(["male", "Male", "female", "male"], object),
    }
    known = (*known, "smoker is missing")
    table = with_items(raw, known[:3], known)
    (record,) = caplog.records
    assert "column 'smoker' has values that are none of the levels" in record.getMessage()
    assert "'current': 'Current'. They get no points" in record.getMessage()
    assert [table.values(j).tolist() for j in (3, 4, 5)] == [
        [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0],
    ]  # fmt: skip
    caplog.clear()
    # One item of two levels does not tell what the other is called; ages have no levels.
    with_items(raw, known[3:5], known)
    with_items({"sex": ["f", "f"]}, ["sex = male"], known)
    right = np.array(["never", "current", "former", None], object)
    with_items({**raw, "smoker": right}, known[:3], known)
    assert not caplog.records


def test_two_levels_neither_of_which_is_known_are_reported(caplog):
    with_items({"sex": ["M", "F", "M"]}, ["sex = male"], ["sex = male"])
    (record,) = caplog.records
    assert "known to the score, 'male': 'M', 'F'. They get no points" in record.getMessage()


@pytest.mark.parametrize(
    "raw",
    [
        {"age": [47, 71], "sex": ["male", "female"]},
        pd.DataFrame({"age": [47, 71], "sex": ["male", "female"]}),
        [{"age": 47, "sex": "male"}, {"age": 71, "sex": "female"}],
    ],
)
def test_scores_apply_to_raw_records(raw):
    score = RiskScore(-2, {"age >= 60": 2, "sex = male": 1})
    table = score.with_items(raw)
    assert score.score_samples(table).tolist() == [1, 2]
    assert score.boolean_rule(2).holds(table).tolist() == [False, True]
    assert sum(row.n_samples for row in score.sheet(table, [0, 1]).risks) == 2
    # Not by themselves, but with advice.
    advice = r"can be computed from 'age', 'sex', which X has: pass score\.with_items\(X\)"
    for method in (score.predict_proba, score.remarks, lambda X: score.sheet(X, [0, 1])):
        with pytest.raises(ValueError, match=advice):
            method(raw)


def test_scores_apply_to_one_raw_record():
    score = RiskScore(-2, {"age >= 60": 2, "sex = male": 1})
    record = {"age": 60, "sex": "male"}
    for raw in (record, pd.Series(record)):
        assert score.explain(score.with_items(raw)).score == 3
        with pytest.raises(ValueError, match=r"pass score\.with_items\(X\) in place of X"):
            score.explain(raw)
    with pytest.raises(ValueError, match=r"X has no column 'age' or 'sex' either to compute"):
        score.predict({"weight": 60})
