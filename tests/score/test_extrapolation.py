"""Columns in another unit are warned of: by classifiers, scores, loaded scores and items alike."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from riskslim import ItemEncoder, RiskScore, RiskSLIMClassifier
from riskslim.data.extrapolation import far_values
from riskslim.data.feature_ranges import FeatureRange
from riskslim.exceptions import ExtrapolationWarning
from riskslim.report import render

pytestmark = pytest.mark.usefixtures("no_diagrams")


def measured(n=300):
    """Numbers that a score has points for as they are."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"bmi": rng.uniform(1.2, 3.9, n), "visits": rng.integers(0, 4, n)})
    y = rng.random(n) < 1 / (1 + np.exp(6 - 2 * X["bmi"] - X["visits"]))
    return X, y


def in_other_units(X):
    return X.assign(bmi=X["bmi"] * 70, visits=X["visits"] * 52)


MESSAGE = (
    r"^Values far outside of those in training, as in another unit: 'bmi' \(1\.2\d* to 3\.\d+ in "
    r"training; here 8\d.* to 27\d.*, 300 of 300 rows far outside\); 'visits' \(0 to 3 in "
    r"training; here 0 to 156, \d+ of 300 rows far outside\)\. The predictions extrapolate\.$"
)


def test_one_warning_for_all_columns_of_a_call():
    X, y = measured()
    classifier = RiskSLIMClassifier(max_size=2).fit(X, y)
    score = classifier.risk_score_
    assert set(score.points) == {"bmi", "visits"}
    loaded = RiskScore.from_json(score.to_json())
    other = in_other_units(X)
    if [*score.points] != ["bmi", "visits"]:
        other = other[[*score.points]]
    calls = [
        classifier.predict, classifier.predict_proba, classifier.decision_function,
        classifier.predict_log_proba, classifier.score_samples,
        score.predict, score.predict_proba, score.score_samples, score.risk_table,
        loaded.predict_proba, lambda X: loaded.sheet(X, y), lambda X: loaded.operating_points(X, y),
    ]  # fmt: skip
    for call in calls:
        arguments = (other, y) if call == score.risk_table else (other,)
        if getattr(call, "__self__", None) is classifier:
            arguments = (in_other_units(X),)
        with pytest.warns(ExtrapolationWarning) as caught:
            call(*arguments)
        (warning,) = caught
        assert all(name in str(warning.message) for name in ("'bmi'", "'visits'"))
        assert warning.filename == __file__
    with pytest.warns(ExtrapolationWarning, match=MESSAGE):
        RiskScore(0, {"bmi": 2, "visits": 1}, feature_ranges=score.feature_ranges).predict(other)
    with pytest.warns(ExtrapolationWarning, match=r"'bmi' \(1.* in training; here 270\)\."):
        score.predict({"bmi": 270, "visits": 1})
    for call in calls[:5]:
        call(X)  # a warning is an error here


def test_a_pipeline_warns_in_the_words_of_one():
    X, y = measured()
    pipeline = make_pipeline(ItemEncoder(numeric=["bmi", "visits"]), RiskSLIMClassifier(max_size=2))
    pipeline.fit(X, y)
    # Encoder and classifier know nothing of each other: both warn of a column that passes through.
    with pytest.warns(ExtrapolationWarning) as caught:
        pipeline.predict_proba(in_other_units(X))
    assert len({str(warning.message) for warning in caught}) == 1
    # A score that knows its raw columns says the same.
    score = pipeline[-1].risk_score_.with_variables(pipeline[0])
    with pytest.warns(ExtrapolationWarning) as caught:
        score.predict_proba(in_other_units(X))
    assert len(caught) == 1


@pytest.mark.parametrize("items", [False, True])
def test_ordinary_cross_validation_is_silent(items):
    rng = np.random.default_rng(5)
    n = 400
    X = pd.DataFrame({
        "age": rng.normal(60, 15, n), "lab": rng.lognormal(0, 1, n), "count": rng.poisson(1, n)
    })  # fmt: skip
    y = rng.random(n) < 1 / (1 + np.exp(2 - X["count"]))
    model = RiskSLIMClassifier(max_size=2, time_limit=5, gap_tolerance=0.5, scale=10)
    if items:
        model = make_pipeline(ItemEncoder(), model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", ExtrapolationWarning)
        assert cross_val_predict(model, X, y, cv=10).shape == (n,)


def test_the_rule():
    """Beyond the range by more than its width: 5% of the values, or one by ten widths."""
    many = np.full(100, 5.0)
    for values, said in (
        ([0, 10], False),
        ([20, -10], False),  # a width beyond
        ([20.1, 5], True),
        ([-10.1], True),
        (np.r_[many, [30.0] * 5], False),
        (np.r_[many, [30.0] * 6], True),
        (np.r_[many, 110], False),
        (np.r_[many, 110.1], True),
        ([np.nan, 5], False),
        ([np.nan], False),
        ([np.nan, 30], True),
    ):
        assert bool(far_values("x", 0, 10, np.asarray(values, float))) is said, values
    assert far_values("x", 7, 7, np.array([15.0]))  # of one value its size is the width
    assert not far_values("x", 7, 7, np.array([13.0]))


def test_conditions_and_reports_have_words_of_their_own():
    X, y = measured()
    score = RiskSLIMClassifier(max_size=2).fit(X, y).risk_score_
    page = render(score, in_other_units(X), y, n_resamples=0)  # a warning is an error here
    assert "values outside of the training range" in page
    # Nothing is known of 0/1 features, or of features of a score that was made by hand.
    RiskScore(-3, {"visits": 2}).predict({"visits": [40]})
    ranged = RiskScore(-3, {"visits": 2}, feature_ranges={"visits": FeatureRange(0, 4)})
    with pytest.warns(ExtrapolationWarning, match="'visits'"):
        ranged.predict({"visits": [40]})
