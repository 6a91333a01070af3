"""Scores that know their raw columns: applied to raw records, which are checked against them."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
import re
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from command_line import invoke
from riskslim import (
    ItemEncoder,
    RiskScore,
    RiskSLIMClassifier,
    TrainingData,
    cross_validate_risk_score,
)
from riskslim.exceptions import ExtrapolationWarning
from riskslim.items import Item, read_items
from riskslim.items.variables import RawVariable, note_on_missing
from riskslim.report import render

N = 400


def patients(seed=0, n=N) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n),
            "creatinine": rng.lognormal(0.1, 0.4, n).clip(0.6, 2.4).round(2),
            "sex": rng.choice(["female", "male"], n),
            "ward": rng.choice(["A", "B", "C"], n),
            "smoker": rng.random(n) < 0.4,
        }
    )
    frame.loc[rng.random(n) < 0.1, "creatinine"] = np.nan
    return frame


ENCODER = ItemEncoder(thresholds={"age": [60], "creatinine": [1.2, 1.5]}, missing="indicator")
POINTS = {
    "age >= 60": 3, "creatinine >= 1.5": 2, "sex = male": 1, "ward = B": 1, "smoker": 1,
}  # fmt: skip


def learned(points=POINTS, frame=None):
    encoder = ENCODER.fit(patients() if frame is None else frame)
    names = [item.name for item in encoder.items_]
    return RiskScore(-4, points, feature_names=names).with_variables(encoder), encoder


# ---------------------------------------------------------------------------------------------
# What is remembered
# ---------------------------------------------------------------------------------------------


def test_the_encoder_knows_its_columns():
    frame = patients()
    known = ENCODER.fit(frame).variables_
    assert list(known) == list(frame)
    assert known["age"] == RawVariable("age", "numeric", 20, 89, n_samples=N, cutoffs="given")
    lacking = frame["creatinine"].isna().sum().item()
    assert known["creatinine"] == RawVariable(
        "creatinine", "numeric", 0.6, 2.4, (), lacking, N, cutoffs="given"
    )
    assert known["sex"] == RawVariable("sex", "categorical", levels=("female", "male"), n_samples=N)
    assert known["smoker"] == RawVariable("smoker", "boolean", n_samples=N)


def test_the_encoder_knows_rare_levels_and_the_rows_that_count():
    frame = pd.DataFrame({"x": ["a"] * 5 + ["b", "c", "d"] + [None] * 2, "y": range(10)})
    weights = [1.0] * 7 + [0.0] * 2 + [2.0]
    encoder = ItemEncoder(min_frequency=2, missing="indicator")
    x, y = encoder.fit(frame, sample_weight=weights).variables_.values()
    assert x == RawVariable("x", "categorical", None, None, ("a", "b", "c"), 1, 8)
    assert (y.maximum, y.n_samples) == (9, 8)


def test_scores_keep_the_columns_that_they_use():
    score, encoder = learned({"age >= 60": 2, "creatinine is missing": 1})
    assert dict(score.variables) == {
        name: encoder.variables_[name] for name in ("age", "creatinine")
    }
    with pytest.raises(TypeError, match="item assignment"):
        score.variables["age"] = None
    assert RiskScore(-4, {"age >= 60": 2}).with_variables(score.variables.values()).variables == {
        "age": encoder.variables_["age"]
    }


def test_files_and_pickles_keep_the_columns(tmp_path):
    score, _ = learned()
    score.save(tmp_path / "score.json")
    document = json.loads((tmp_path / "score.json").read_text())
    assert document["version"] == 3
    assert {entry["feature"]: entry.get("item") for entry in document["points"]} == {
        item.name: {"variable": item.variable, "kind": item.kind, **(
            {} if item.value is None else {"value": item.value}), **(
            {} if item.interval is None else {"interval": [*item.interval]})}
        for item in score.items.values()
    }  # fmt: skip
    assert {item.kind for item in score.items.values()} >= {">=", "="}
    assert document["variables"][0] == {
        "name": "age", "kind": "numeric", "minimum": 20, "maximum": 89, "n_missing": 0,
        "n_samples": N, "cutoffs": "given",
    }  # fmt: skip
    assert document["variables"][2] == {
        "name": "sex", "kind": "categorical", "levels": ["female", "male"], "n_missing": 0,
        "n_samples": N,
    }  # fmt: skip
    for again in (RiskScore.load(tmp_path / "score.json"), pickle.loads(pickle.dumps(score))):
        assert again == score
        assert again.variables == score.variables
        assert np.array_equal(again.predict_proba(patients(1)), score.predict_proba(patients(1)))
    del document["variables"]
    assert RiskScore.from_json(json.dumps(document)) == RiskScore(
        -4, POINTS, feature_names=score.feature_names, items=score.items
    )
    # Older files have columns and no items: there names had been made sure of.
    document = json.loads(score.to_json())
    old = {**document, "version": 1, "points": [
        {key: value for key, value in entry.items() if key != "item"}
        for entry in document["points"]]}  # fmt: skip
    del old["scale"]
    again = RiskScore.from_json(json.dumps(old))
    assert np.array_equal(again.predict_proba(patients(1)), score.predict_proba(patients(1)))
    assert str(again) == str(score)
    assert "variables" not in RiskScore(-4, POINTS).to_json()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (3, "'variables' must be a list"),
        ([3], "entry 0 of 'variables': a variable must be an object with kind, n_missing"),
        ([{"kind": "unknown"}], "kind must be one of 'numeric', 'boolean', 'categorical'"),
        ([{"levels": "ab"}], "levels of 'age' must be a list"),
        ([{"levels": [None]}], "levels must be true or false, numbers or text"),
        ([{"levels": ["a", math.inf]}], "must be finite"),
        ([{"levels": ["a"]}], "levels are for categorical variables"),
        ([{"maximum": 3}], "minimum and maximum are for numeric variables"),
        ([{"minimum": "a", "maximum": "b"}], "minimum must be a number, got 'a'"),
        ([{"n_missing": 5}], "n_missing must be an int from 0 to n_samples, got 5 and 4"),
        ([{"n_samples": 1.5}], "n_missing must be an int"),
        ([{"name": 3}], "name of a variable must be a str"),
        ([{"cutoffs": "chance"}], "cutoffs must be one of 'given', 'quantiles', 'all', 'superv"),
        ([{}, {}], "entry 1 of 'variables' repeats the name 'age'"),
    ],
)
def test_files_with_mistakes(wrong, message):
    if isinstance(wrong, list):
        usual = {"name": "age", "kind": "numeric", "minimum": 20, "n_missing": 0, "n_samples": 4,
                 "maximum": 89}  # fmt: skip
        if wrong == [{"maximum": 3}]:
            usual.pop("minimum")
        wrong = [one if one == 3 else {**usual, **one} for one in wrong]
    document = {**json.loads(RiskScore(-1, {"age >= 60": 1}).to_json()), "variables": wrong}
    with pytest.raises(ValueError, match=message):
        RiskScore.from_json(json.dumps(document))


def test_variables_of_something_else():
    encoder = ENCODER.fit(patients())
    with pytest.raises(ValueError, match=r"no feature with points \('x >= 1'\) is made of"):
        RiskScore(0, {"x >= 1": 1}).with_variables(encoder)
    with pytest.raises(TypeError, match=r"variables\['age'\] must be its RawVariable"):
        RiskScore(0, {"age >= 1": 1}, variables={"age": RawVariable("sex", "boolean")})
    with pytest.raises(TypeError, match="of type 'Fraction' of the variable 'x' cannot be saved"):
        RawVariable("x", "categorical", levels=(Fraction(1, 3),)).to_plain()


@pytest.mark.parametrize(
    ("name", "variable", "has"),
    [
        ("x = C", RawVariable("x", "categorical", levels=("A", "B")), "the levels 'A', 'B'"),
        ("x >= 3", RawVariable("x", "categorical", levels=(1, 2)), "the levels 1, 2"),
        ("x = 3", RawVariable("x", "numeric", 1, 5), "numbers"),
        ("x = 1", RawVariable("x", "boolean"), "0 and 1, so that it is a feature itself"),
    ],
)
def test_conditions_that_a_column_cannot_meet(name, variable, has):
    message = f"'{name}' cannot be computed from the variable 'x', which has {has}$"
    with pytest.raises(ValueError, match=message):
        RiskScore(0, {name: 1}, variables={"x": variable})


def test_names_need_not_say_what_items_are():
    frame = pd.DataFrame({"x": ["A, B", "C", "D", "D", "D"]})
    encoder = ItemEncoder(min_frequency=2).fit(frame)
    (name,) = (item.name for item in encoder.items_ if "in" in item.name)
    # By its name, it would be about the levels A, B and C.
    score = RiskScore(0, {name: 1}).with_variables(encoder)
    assert score.score_samples(frame).tolist() == [1, 1, 0, 0, 0]
    again = RiskScore.from_json(score.to_json())
    assert again.score_samples(frame).tolist() == [1, 1, 0, 0, 0]
    with pytest.raises(ValueError, match="Found unknown categories 'A'"):
        again.score_samples({"x": ["A"]})


def test_what_is_no_encoder_is_refused():
    score = RiskScore(0, {"x >= 3": 1})
    fitted = make_pipeline(ItemEncoder(), RiskSLIMClassifier())
    for wrong, message in (
        (fitted, "such as pipeline[0], got Pipeline"),
        (ItemEncoder(), "got ItemEncoder, not fitted"),
        (pd.DataFrame({"x": [1, 2]}), "got DataFrame with 'x'"),
        (3, "got int"),
    ):
        with pytest.raises(TypeError, match=re.escape(message)):
            score.with_variables(wrong)


def test_items_with_the_names_of_columns_are_refused():
    frame = pd.DataFrame({"x": ["a", "b", "a"], "x = b": [5.0, 5.0, 5.0]})
    encoder = ItemEncoder().fit(frame)
    with pytest.raises(ValueError, match="'x = b': conditions have the names of columns"):
        RiskScore(0, {"x = b": 1}).with_variables(encoder)


# ---------------------------------------------------------------------------------------------
# Raw records
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_raw_records_count_as_the_encoder_says(seed):
    rng = np.random.default_rng(seed)
    frame, other = patients(seed), patients(seed + 50)
    encoder = ItemEncoder(
        n_thresholds=3, missing="indicator", categorical=["age"] if seed % 2 else (),
        direction=[">=", "<="][seed % 2], min_frequency=0.02, numeric=["age"] if seed == 2 else (),
    ).fit(frame)  # fmt: skip
    names = [item.name for item in encoder.items_]
    points = {name: int(rng.integers(-5, 6)) for name in rng.choice(names, 8, replace=False)}
    score = RiskScore(-1, points, feature_names=names).with_variables(encoder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        raw = score.predict_proba(other)
        np.testing.assert_array_equal(raw, score.predict_proba(encoder.transform(other)))
        np.testing.assert_array_equal(raw, score.predict_proba(score.with_items(other)))
        for row in (0, 1, 2):
            record = other.iloc[row]
            assert score.explain(record).score == score.score_samples(other)[row]
            assert score.predict(record.to_dict()) == score.predict(other)[row]
        records = [{**row, "note": 1} if k else row for k, row in enumerate(
            other.to_dict("records"))]  # fmt: skip
        np.testing.assert_array_equal(score.predict_proba(records[::-1])[::-1], raw)


@pytest.mark.usefixtures("no_diagrams")
def test_everything_takes_raw_records(tmp_path):
    score, encoder = learned()
    frame = patients()
    y = (np.arange(N) % 3 == 0).astype(int)
    items = encoder.transform(frame)
    assert score.risk_table(frame, y) == score.risk_table(items, y)
    assert str(score.sheet(frame, y)) == str(score.sheet(items, y))
    assert str(score.operating_points(frame, y)) == str(score.operating_points(items, y))
    assert (
        score.boolean_rule(4).holds(score.with_items(frame)).tolist()
        == (score.score_samples(items) >= 4).tolist()
    )
    score.report(tmp_path / "raw.html", frame, y, n_resamples=0)
    assert "creatinine missing" in (tmp_path / "raw.html").read_text(encoding="utf-8")
    score.report(tmp_path / "array.html", frame[list(score.variables)].to_numpy(), y, n_resamples=0)
    texts = [tmp_path.joinpath(f"{name}.html").read_text("utf-8") for name in ("raw", "array")]
    assert texts[0] == texts[1]


def test_arrays_have_the_raw_columns_in_the_order_of_the_table():
    raw = pd.DataFrame(
        {"bmi": [20.0, 31, 25, None], "age": [38, 72, 61, 50], "sex": ["f", "m", "m", "f"]}
    )
    encoder = ItemEncoder(thresholds={"age": [60], "bmi": [30]}, missing="indicator").fit(raw)
    # The order of the points is another one.
    points = {"age >= 60": 4, "sex = m": 2, "bmi is missing": -1, "visits": 1}
    score = RiskScore(-2, points).with_variables(encoder)
    assert list(score.variables) == ["bmi", "age", "sex"]
    visits = raw.assign(visits=[0, 1, 2, 3])
    expected = score.score_samples(visits)
    assert expected.tolist() == [0, 7, 8, 2]
    rows = visits.astype(object).where(visits.notna(), None).values.tolist()
    again = RiskScore.from_json(score.to_json())
    for X in (visits.to_numpy(), rows, [tuple(row) for row in rows], np.array(rows, dtype=object)):
        for one in (score, again):
            np.testing.assert_array_equal(one.score_samples(X), expected)
            assert one.remarks(X) == score.remarks(visits)
        assert list(score.with_items(X))[:4] == ["bmi", "age", "sex", "visits"]
        for k in range(4):
            assert str(score.explain(X[k])) == str(score.explain(visits.iloc[k]))


@pytest.mark.parametrize("kind", [list, np.array])
def test_arrays_of_a_score_that_knows_its_raw_columns_are_never_items(kind):
    variables = {name: RawVariable(name, "numeric", 0, 99) for name in ("age", "bmi")}
    score = RiskScore(-2, {"age >= 60": 2, "bmi >= 30": 1}, variables=variables)
    assert score.score_samples(kind([[30, 20], [61, 31]])).tolist() == [0, 3]
    one = RiskScore(-2, {"age >= 60": 2, "age >= 40": 1}, variables={"age": variables["age"]})
    assert one.score_samples(kind([[30], [50]])).tolist() == [0, 1]
    for X in ([[1, 1]], [[30, 30]]):
        with pytest.raises(
            ValueError, match=r"2 columns without names, but .* reads 1, .* 'age'\."
        ):
            one.score_samples(kind(X))
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        one.score_samples(kind([30, 61]))


@pytest.mark.parametrize(
    "X",
    [[[30, 1]], np.array([[30.0, 1.0]]), {"age >= 60": 30, "smoker": 1},
     [{"age >= 60": 30, "smoker": 1}], pd.DataFrame({"age >= 60": [30], "smoker": [1]}),
     TrainingData({"age >= 60": [30, 1], "smoker": [1, 0]}, [0, 1])],
    ids=lambda X: type(X).__name__,
)  # fmt: skip
@pytest.mark.parametrize("knows_variables", [False, True])
def test_a_value_that_no_item_can_have_is_an_error(X, knows_variables):
    items = [Item.of("age", ">=", 60), Item.of("smoker", "boolean")]
    score = RiskScore(-2, {"age >= 60": 2, "smoker": 1}, items=items)
    wrong = r"0 and 1 \(rows counted from 0\): 'age >= 60' \(1 of [12] rows, first at row 0\)"
    if knows_variables:
        score = score.with_variables(
            [RawVariable("age", "numeric", 18, 95), RawVariable("smoker", "boolean")]
        )
        if (
            not hasattr(X, "keys")
            and not isinstance(X, TrainingData)
            and not isinstance(X[0], dict)
        ):
            assert score.score_samples(X).tolist() == [1]  # a raw age of 30
            return
    for method in (score.score_samples, score.predict_proba, score.predict, score.remarks):
        with pytest.raises(ValueError, match=wrong):
            method(X)
    with pytest.raises(ValueError, match=r"'smoker' \(1 of 1 rows"):
        score.score_samples({"age >= 60": [1], "smoker": [2]})


def test_unknown_levels_are_refused(caplog):
    score, _ = learned()
    frame = patients().assign(sex=lambda f: f["sex"].map({"female": "F", "male": "M"}))
    frame.loc[7, "ward"] = "b"
    message = (
        r"unknown categories '[FM]', '[FM]' during transform\.\sColumns with levels that did not "
        r"occur in fit \(rows counted from 0\): 'sex' \(400 of 400 rows, first at row 0\), 'ward' "
        r"\(1 of 400 rows, first at row 7\)\. In the training data 'sex' had 'female', 'male'; "
        r"'ward' had 'A', 'B', 'C'\. Correct"
    )
    for method in (score.predict_proba, score.remarks, score.with_items):
        with pytest.raises(ValueError, match=message):
            method(frame)
    ignored = score.with_items(frame, handle_unknown="ignore")
    expected = learned({"age >= 60": 3, "creatinine >= 1.5": 2, "ward = B": 1, "smoker": 1})[0]
    usual = frame.assign(ward=frame["ward"].replace("b", "A"))
    np.testing.assert_array_equal(score.score_samples(ignored), expected.score_samples(usual))
    first, second = (record.getMessage() for record in caplog.records)
    given = ", ".join(map(repr, dict.fromkeys(frame["sex"])))
    assert f"known to the score, 'female', 'male': {given}. They get no points" in first
    assert "column 'ward'" in second
    with pytest.raises(ValueError, match="handle_unknown must be 'error' or 'ignore', got 'drop'"):
        score.with_items(frame, handle_unknown="drop")


@pytest.mark.parametrize("numeric", [(), ["creatinine"]])
def test_an_encoder_reports_other_units_in_the_words_of_a_score(numeric):
    frame, died = patients(), np.arange(N) % 2
    encoder = ItemEncoder(missing="indicator", numeric=numeric)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ExtrapolationWarning)
        if numeric:
            frame = frame.fillna({"creatinine": 1.0})
        classifier = RiskSLIMClassifier(max_size=0)
        pipeline = make_pipeline(encoder, classifier).fit(frame, died)
        pipeline.predict_proba(frame)
        encoder.transform(frame.iloc[:1])
    micromoles = frame.assign(creatinine=frame["creatinine"] * 88.4)
    item = next(name for name in encoder.groups_["creatinine"] if "missing" not in name)
    score = RiskScore(-1, {item: 1}).with_variables(encoder)
    far = encoder.variables_["creatinine"].far(micromoles["creatinine"].to_numpy())
    expected = (
        f"Values far outside of those in training, as in another unit: {far}. The predictions "
        "extrapolate."
    )
    with pytest.warns(ExtrapolationWarning) as caught:
        score.predict_proba(micromoles)
    assert [str(warning.message) for warning in caught] == [expected]
    for method in (encoder.transform, pipeline.predict_proba):
        with pytest.warns(ExtrapolationWarning) as caught:
            method(micromoles)
        (warning,) = caught
        assert str(warning.message) == expected
        assert warning.filename == __file__
    assert far.startswith("'creatinine' (")
    record = {**frame.iloc[0].to_dict(), "age": 500}
    with pytest.warns(ExtrapolationWarning, match=r"'age' \(.* in training; here 500\)"):
        encoder.transform(record)


def test_folds_are_not_said_to_extrapolate():
    frame, died = patients()[["age"]], np.arange(N) % 2
    frame.loc[0, "age"] = 120  # beyond the others, wherever it is tested
    model = make_pipeline(ItemEncoder(), RiskSLIMClassifier(max_size=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ExtrapolationWarning)
        found = cross_validate_risk_score(model, frame, died, cv=2)
    assert len(found.folds) == 2


def test_levels_are_listed_in_the_order_of_the_rows():
    score, _ = learned()
    frame = patients()
    frame["ward"] = [f"w{k % 12}" for k in range(N)]
    shown = ", ".join(f"'w{k}'" for k in range(10))
    with pytest.raises(ValueError, match=rf"categories {shown}, \.\.\. and 2 more during"):
        score.predict(frame)


def test_other_units_are_reported():
    score, _ = learned()
    frame = patients()
    micromoles = frame.assign(creatinine=frame["creatinine"] * 88.4)
    outside = int((micromoles["creatinine"] > frame["creatinine"].max()).sum())
    low, high = (f"{end:g}" for end in (
        micromoles["creatinine"].min(), micromoles["creatinine"].max()))  # fmt: skip
    lower, upper = (f"{end:g}" for end in (frame["creatinine"].min(), frame["creatinine"].max()))
    expected = (
        f"{outside} of {N} rows have values outside of the training range of 'creatinine' "
        f"({lower} to {upper}; here {low} to {high}), first at row"
    )
    (remark,) = score.remarks(micromoles)
    assert remark.startswith(expected)
    for method in (score.predict_proba, score.with_items):
        with pytest.warns(ExtrapolationWarning) as caught:
            table = method(micromoles)
        (warning,) = caught
        ranges = f"'creatinine' ({lower} to {upper} in training; here {low} to {high}, "
        assert ranges in str(warning.message)
        assert warning.filename == __file__
    assert score.predict_proba(table).shape == (N, 2)  # it was said
    assert score.remarks(table) == (remark,)
    assert score.remarks(frame) == ()
    record = {**frame.iloc[0].to_dict(), "creatinine": 124.0}
    (remark,) = score.remarks(record)
    assert remark.startswith("1 of 1 row has a value outside of the training range of 'creatinine'")
    assert "here 124)" in remark


def test_missing_values_where_there_were_none():
    score, _ = learned()
    frame = patients().astype({"age": float})
    frame.loc[3, "age"] = np.nan
    with pytest.raises(
        ValueError, match=r"contains NaN[\s\S]*'age' \(1 of 400 rows, first at row 3"
    ):
        score.predict(frame)
    # Even if the name of a feature says otherwise: in fit there were none.
    known = RiskScore(-1, POINTS, feature_names=[*POINTS, "age is missing"])
    with pytest.raises(ValueError, match=r"'age' \(1 of 400 rows"):
        known.with_variables(score.variables.values()).predict(frame)


def test_columns_that_are_not_there():
    score, _ = learned()
    with pytest.raises(
        ValueError, match=r"points: 'creatinine >= 1.5'\. X has no column 'creatini"
    ):
        score.predict(patients().drop(columns="creatinine"))
    record = patients().iloc[0].to_dict()
    del record["sex"]
    with pytest.raises(ValueError, match=r"'sex = male'\. X has no column 'sex' either"):
        score.predict(record)


@pytest.mark.parametrize("name", ["age >= 60", "smoker"])
def test_conditions_have_no_values_but_0_and_1(name):
    score, encoder = learned()
    items = encoder.transform(patients())
    items.loc[5, name] = 61
    with pytest.raises(
        ValueError, match=rf"Found 61 [\s\S]*other than 0 and 1[\s\S]*'{name}' \(1 of"
    ):
        score.predict_proba(items)
    # Columns of other names are not conditions that the score knows of.
    assert RiskScore(0, {name: 1}).score_samples(items).max() == 61


def test_conditions_that_are_given_need_no_column():
    score, encoder = learned()
    items = encoder.transform(patients())
    items["creatinine"] = "not measured"
    assert score.predict_proba(items).shape == (N, 2)
    assert score.remarks(items) == ()


def test_a_pipeline_predicts_the_same():
    frame, y = patients(), np.arange(N) % 2
    y[frame["age"] >= 60] = 1
    pipeline = make_pipeline(ENCODER, RiskSLIMClassifier(max_size=3, time_limit=20))
    pipeline.fit(frame, y)
    score = pipeline[-1].risk_score_.with_variables(pipeline[0])
    np.testing.assert_array_equal(score.predict_proba(frame), pipeline.predict_proba(frame))


# ---------------------------------------------------------------------------------------------
# What is said of missing values
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (["x >= 1"], "'x >= 1' counts as no."),
        (["x >= 1", "x >= 2"], "its 2 conditions count as no."),
        (["x >= 1", "x is missing"], "'x >= 1' counts as no."),
        (["x = a", "x is missing", "x = b"], "its 2 other conditions count as no."),
        (["x is missing"], None),
    ],
)
def test_note_on_missing_values(features, expected):
    variable = RawVariable("x", "categorical", n_missing=1223, n_samples=9000)
    rows = "x missing (1,223 of 9,000 training rows)"
    items = read_items(features)
    assert note_on_missing(variable, items) == (f"{rows}: {expected}" if expected else "")
    complete = RawVariable("x", "categorical", n_samples=9000)
    assert note_on_missing(complete, items) == ""


def test_every_sheet_says_how_missing_values_count():
    score, encoder = learned()
    n = encoder.variables_["creatinine"].n_missing
    note = f"creatinine missing ({n} of 400 training rows): 'creatinine >= 1.5' counts as no."
    sheet = score.sheet()
    assert note in sheet.notes
    assert note in str(sheet)
    plain = learned(frame=patients().fillna({"creatinine": 1.0}))[0]
    assert not any("missing" in one for one in plain.sheet().notes)
    for name in ("to_markdown", "to_html", "to_latex"):
        text = getattr(sheet, name)()
        assert f"missing ({n} of 400 training rows)" in text
        assert "training rows" not in getattr(plain, name)()
    figure = sheet.plot().figure
    drawn = " ".join(text.get_text() for axes in figure.axes for text in axes.texts)
    assert "creatinine missing" in drawn.replace("\n", " ")


def test_explanations_say_what_is_missing():
    score, encoder = learned()
    record = {"age": 70, "creatinine": None, "sex": "male", "ward": "A", "smoker": True}
    explained = score.explain(record)
    assert explained.missing == ("creatinine",)
    assert "\nMissing: creatinine; its conditions count as no.\n" in str(explained)
    assert score.explain({**record, "creatinine": 1.0}).missing == ()
    assert score.explain(encoder.transform(record)).missing == ()
    variables = {"smoker": RawVariable("smoker", "boolean", n_missing=1, n_samples=9)}
    other = RiskScore(0, {"smoker": 1, "x": 1}, variables=variables)
    assert other.explain({"smoker": None, "x": 1}).missing == ("smoker",)
    variables["x"] = RawVariable("x", "boolean", n_missing=1, n_samples=9)
    other = dataclasses.replace(other, variables=variables)
    text = str(other.explain({"smoker": None, "x": None}))
    assert "\nMissing: smoker, x; their conditions count as no.\n" in text
    # Turned round they count as yes; bands say "missing".
    negative = dataclasses.replace(score, points={one: -n for one, n in score.points.items()})
    turned = negative.with_layout(points="non-negative").explain(record)
    assert "\nMissing: creatinine.\n" in str(turned)
    by_variable = score.with_layout(by="variable").explain(record)
    assert "\nMissing: creatinine.\n" in str(by_variable)
    assert "  creatinine: < 1.5 or missing\n" in str(by_variable)


@pytest.mark.usefixtures("no_diagrams")
@pytest.mark.slow
def test_reports_count_missing_values():
    score, encoder = learned()
    frame = patients()
    lacking = int(frame["creatinine"].isna().sum())
    y = np.arange(N) % 2
    test = frame.iloc[:40].fillna({"creatinine": 1.0}).assign(ward="B", smoker=False)
    options = {"X_test": test, "y_test": y[:40], "n_resamples": 0}
    shown = rows_of_table(render(score, frame, y, **options), "Raw columns")
    assert shown[0][3:] == ["given data: values", "missing", "test data: values", "missing"]
    by_name = {row[0]: row[1:] for row in shown[1:]}
    counted = f"{lacking} ({lacking / N:.1%})"
    low, high = test["creatinine"].min(), test["creatinine"].max()
    assert by_name["creatinine"] == [
        "0.6 to 2.4", counted, "0.6 to 2.4", counted, f"{low:g} to {high:g}", "0",
    ]  # fmt: skip
    assert by_name["ward"] == ["A, B, C", "0", "A, B, C", "0", "B", "0"]
    assert by_name["smoker"] == ["no, yes", "0", "no, yes", "0", "no", "0"]
    # Of items it is not known.
    shown = rows_of_table(render(score, encoder.transform(frame), y, n_resamples=0), "Raw columns")
    given = {row[0]: row[3:] for row in shown[1:]}
    assert given["creatinine"] == ["not given", ""]
    assert "Raw columns" not in render(
        RiskScore(-4, POINTS), encoder.transform(frame), y, n_resamples=0
    )


def rows_of_table(page, caption):
    (table,) = (part for part in page.split("<table")[1:] if f">{caption}<" in part)
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in table.split("<tr")[1:]]
    return [[" ".join(re.sub("<[^>]*>", "", cell).split()) for cell in row] for row in rows]


# ---------------------------------------------------------------------------------------------
# The command line
# ---------------------------------------------------------------------------------------------


@pytest.fixture
def fitted(tmp_path):
    frame = patients()
    rng = np.random.default_rng(0)
    odds = -3 + 3 * (frame["sex"] == "male") + 2 * (frame["creatinine"] >= 1.5)
    frame["died"] = np.where(rng.random(N) < 1 / (1 + np.exp(-odds)), "yes", "no")
    frame.to_csv(tmp_path / "train.csv", index=False)
    result = invoke(
        "fit", tmp_path / "train.csv", "--outcome", "died", "--items", "--thresholds",
        "creatinine=1.5", "--missing", "indicator", "--max-size", 2, "--output",
        tmp_path / "score.json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "counts as no" in result.stdout
    score = RiskScore.load(tmp_path / "score.json")
    assert set(score.variables) == {"creatinine", "sex"}
    return tmp_path, frame, score


def test_predict_checks_raw_columns(fitted):
    folder, frame, score = fitted
    result = invoke("predict", folder / "score.json", folder / "train.csv")
    assert (result.exit_code, result.stderr) == (0, "")
    expected = score.predict_proba(frame)[:, 1]
    assert [float(line.split(",")[1]) for line in result.stdout.splitlines()[1:]] == list(expected)

    frame.assign(sex=frame["sex"].str[0].str.upper()).to_csv(folder / "codes.csv", index=False)
    result = invoke("predict", folder / "score.json", folder / "codes.csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "'sex' had 'female', 'male'" in result.stderr
    assert "--unknown-levels ignore" in result.stderr
    result = invoke(
        "predict", folder / "score.json", folder / "codes.csv", "--unknown-levels", "ignore"
    )
    assert result.exit_code == 0
    assert "They get no points" in result.stderr
    assert len(result.stdout.splitlines()) == N + 1
    result = invoke("predict", folder / "score.json", folder / "codes.csv", "--unknown-levels", "x")
    assert result.exit_code == 2
    assert "--unknown-levels must be error or ignore, got 'x'" in result.stderr

    frame.assign(creatinine=frame["creatinine"] * 88.4).to_csv(folder / "units.csv", index=False)
    result = invoke("predict", folder / "score.json", folder / "units.csv")
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith("Remark: ")
    assert "outside of the training range of 'creatinine' (" in line

    frame.drop(columns="creatinine").to_csv(folder / "lacks.csv", index=False)
    result = invoke("predict", folder / "score.json", folder / "lacks.csv")
    assert result.exit_code == 2
    assert "'creatinine' to compute 'creatinine >= 1.5'" in result.stderr


@pytest.mark.slow
def test_report_checks_raw_columns(fitted):
    folder, frame, _ = fitted
    frame.assign(creatinine=frame["creatinine"] * 88.4).to_csv(folder / "units.csv", index=False)
    frame.assign(sex="M").to_csv(folder / "codes.csv", index=False)
    arguments = ("report", folder / "score.json", folder / "train.csv", "--output",
                 folder / "report.html", "--test")  # fmt: skip
    result = invoke(*arguments, folder / "units.csv")
    assert result.exit_code == 0, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"Remark: {folder / 'units.csv'}: ")
    assert "here" in line
    assert invoke(*arguments, folder / "codes.csv").exit_code == 2
    result = invoke(*arguments, folder / "codes.csv", "--unknown-levels", "ignore")
    assert result.exit_code == 0, result.output
    assert "They get no points" in result.stderr


def test_what_training_rows_contradict_is_not_stated(caplog):
    """A column that is stated to be a condition, but has other values in the training rows."""
    rng = np.random.default_rng(3)
    columns = {"age >= 60": rng.integers(0, 4, 60), "smoker": rng.integers(0, 2, 60)}
    items = [Item.of("age", ">=", 60), Item.of("smoker", "boolean")]
    data = TrainingData(columns, columns["smoker"] + rng.random(60) > 0.7, items=items)
    score = RiskScore.from_coefficients([-1, 2, 1], data)
    assert list(score.items) == ["smoker"]
    assert "contradict what is stated of 'age >= 60': it has other values than 0" in caplog.text
    assert score.score_samples({"age >= 60": [3], "smoker": [1]}).tolist() == [7]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "mapping", "records"])
def test_items_come_in_what_the_records_came_in(library):
    import polars as pl
    import pyarrow as pa

    raw = {"age": [47, 60, 71], "sex": ["male", "female", "male"], "ward": ["a", "b", None]}
    score = RiskScore(-2, {"age >= 60": 2, "sex = male": 1})
    labels = ["p3", "p1", "p2"]
    X = {
        "pandas": lambda: pd.DataFrame(raw, index=labels),
        "polars": lambda: pl.DataFrame(raw),
        "pyarrow": lambda: pa.table(raw),
        "mapping": lambda: raw,
        "records": lambda: [
            dict(zip(raw, row, strict=True)) for row in zip(*raw.values(), strict=True)
        ],
    }[library]()
    found = score.with_items(X)
    if library in ("mapping", "records"):
        assert isinstance(found, dict)
    else:
        assert type(found) is type(X)
    if library == "pandas":
        assert list(found.index) == labels
        assert list(X.columns) == [*raw]  # the caller's frame is as it was
        assert (found[[*raw]].dtypes == X.dtypes).all()
    if library == "polars":
        assert found.schema["ward"] == pl.String
    columns = found.column_names if library == "pyarrow" else list(found)
    if library == "polars":
        columns = found.columns
    assert columns[-2:] == ["age >= 60", "sex = male"]
    assert [int(value) for value in np.asarray(found["age >= 60"])] == [0, 1, 1]
    assert score.score_samples(found).tolist() == [1, 2, 3]
    again = score.with_items(found)
    assert score.score_samples(again).tolist() == [1, 2, 3]


def test_one_record_becomes_columns_of_one_value():
    score = RiskScore(-2, {"age >= 60": 2})
    assert score.with_items({"age": 64})["age >= 60"].tolist() == [1]
    assert score.with_items(pd.Series({"age": 64}))["age >= 60"].tolist() == [1]
    array = np.eye(1)
    assert score.with_items(array) is array  # there are no names to read
