"""Scores that were fitted to weighted classes say wherever they show risks what these are not."""

from __future__ import annotations

import dataclasses
import json
import pickle

import numpy as np
import pandas as pd
import pytest

from command_line import invoke
from riskslim import RiskScore, RiskSLIMClassifier, TrainingData, model_size_path
from riskslim.data.class_weights import ClassWeighting

RNG = np.random.default_rng(0)
X = pd.DataFrame({name: RNG.random(400) < 0.4 for name in ("smoker", "male", "old")}).astype(int)
DIED = np.where(RNG.random(400) < 1 / (1 + np.exp(4 - 2 * X["smoker"] - X["old"])), "yes", "no")
Y = pd.Series(DIED, name="died")
CASES = int((DIED == "yes").sum())
WARNING = "Not calibrated: the classes were weighted. died = yes in "
BALANCED = RiskSLIMClassifier(max_size=2, class_weight="balanced", l2_penalty=0).fit(X, Y)
SCORE = BALANCED.risk_score_


def test_the_data_remember_factors_of_classes():
    own = RNG.uniform(0.5, 2, 400)
    data = TrainingData(X, Y, own)
    assert data.class_weighting is None
    assert data.prevalence == pytest.approx(own[DIED == "yes"].sum() / own.sum())
    twice = data.with_class_weight({"yes": 3}).with_class_weight({"yes": 2, "no": 0.5})
    assert twice.class_factors == (0.5, 6.0)
    assert twice.sample_weight == pytest.approx(own * np.where(DIED == "yes", 6, 0.5))
    assert twice.class_weighting.prevalence == pytest.approx(data.prevalence)
    assert twice.class_weighting.weighted_prevalence == pytest.approx(twice.prevalence)
    assert twice.reweighted(own).class_weighting is None
    assert data.with_class_weight({"yes": 3, "no": 3}).class_weighting is None
    assert data.with_class_weight("balanced").prevalence == pytest.approx(0.5)


@pytest.mark.usefixtures("no_diagrams")
def test_the_score_says_it_in_every_form(tmp_path):
    assert SCORE.class_weighting.prevalence == pytest.approx(CASES / 400)
    assert SCORE.class_weighting.weighted_prevalence == pytest.approx(0.5)
    said = f"{WARNING}{CASES / 400:.1%} of the training rows, by weight in 50.0%: these risks are "
    assert f"{said}too high for rows like the training rows.\n" in str(SCORE)
    for text in (SCORE.to_markdown(), SCORE.to_html(), *SCORE.sheet(X, Y).notes[:1]):
        assert WARNING in text
    assert SCORE.remarks(X) == (SCORE.class_weighting.describe("died = yes"),)
    assert "\nNot calibrated: the classes were weighted." in SCORE.to_latex()
    assert any("Not calibrated" in text.get_text() for text in SCORE.plot().figure.axes[0].texts)
    for text in (SCORE.to_python(), SCORE.to_javascript(), SCORE.to_sql(table="t")):
        assert "Not calibrated: the classes were weighted" in text
    assert "Not calibrated: the classes were weighted" in SCORE.to_pmml()
    SCORE.report(tmp_path / "report.html", X, Y, n_resamples=0)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    remarks = page.partition('id="remarks"')[2].partition("</section>")[0]
    assert remarks.count(WARNING) == 1


def test_risks_can_be_too_low():
    rare = RiskSLIMClassifier(max_size=2, class_weight={"no": 5}).fit(X, Y)
    assert "too low for rows like the training rows" in str(rare.risk_score_)
    assert rare.remarks_[0] == rare.risk_score_.class_weighting.describe("died = yes")


def test_nothing_is_said_where_classes_are_not_weighted():
    for class_weight in (None, {"no": 2, "yes": 2}):
        classifier = RiskSLIMClassifier(max_size=2, class_weight=class_weight).fit(X, Y)
        assert classifier.risk_score_.class_weighting is None
        assert "calibrated" not in str(classifier.risk_score_) + str(classifier.remarks_)
        assert "class_weighting" not in classifier.risk_score_.to_json()


def test_weights_of_rows_are_only_remarked_on_where_they_change_much():
    much = RiskSLIMClassifier(max_size=1).fit(X, Y, np.where(DIED == "yes", 4, 1))
    assert much.risk_score_.class_weighting is None
    assert "died = yes is, from" in much.remarks_[0]
    assert "the population that the weights stand for" in much.remarks_[0]
    little = RiskSLIMClassifier(max_size=1).fit(X, Y, np.where(DIED == "yes", 1.4, 1))
    assert not any("population" in remark for remark in little.remarks_)


def test_it_is_kept_in_files_and_pickles():
    plain = json.loads(SCORE.to_json())
    assert plain["version"] == 5
    assert plain["class_weighting"] == dataclasses.asdict(SCORE.class_weighting)
    assert RiskScore.from_json(SCORE.to_json()) == SCORE == pickle.loads(pickle.dumps(SCORE))
    assert (
        RiskScore.from_json(json.dumps(plain | {"class_weighting": None})).class_weighting is None
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0.5, "must have prevalence and weighted_prevalence, got 0.5"),
        ({"prevalence": 0.5}, "must have prevalence and weighted_prevalence"),
        (
            {"prevalence": 0, "weighted_prevalence": 0.5},
            "prevalence must be between 0 and 1",
        ),
        ({"prevalence": "a", "weighted_prevalence": 0.5}, "prevalence must be a number, got 'a'"),
    ],
)
def test_values_that_are_refused_in_files(value, message):
    plain = json.loads(SCORE.to_json()) | {"class_weighting": value}
    with pytest.raises(ValueError, match=rf"'class_weighting'.* {message}"):
        RiskScore.from_json(json.dumps(plain))


def test_a_score_takes_nothing_else():
    with pytest.raises(TypeError, match=r"class_weighting must be a ClassWeighting, got 0\.5"):
        RiskScore(0, {}, feature_names=["x1"], class_weighting=0.5)
    assert ClassWeighting(np.float32(0.5), 0.25).prevalence == 0.5


def test_scores_of_paths_and_folds_remember_it():
    classifier = RiskSLIMClassifier(max_size=1, class_weight="balanced")
    path = model_size_path(classifier, X, Y, cv=2)
    (entry,) = path.entries
    assert entry.risk_score.class_weighting == SCORE.class_weighting
    folds = entry.cross_validation.folds
    assert [fold.model.class_weighting is None for fold in folds] == [False, False]


def test_the_command_line_says_it(tmp_path):
    X.assign(died=Y).to_csv(tmp_path / "data.csv", index=False)
    data, score = str(tmp_path / "data.csv"), str(tmp_path / "score.json")
    fit = ["fit", data, "--outcome", "died", "--class-weight", "balanced", "--output", score]
    quiet = invoke(*fit, "--quiet")
    assert WARNING in quiet.stdout
    assert not quiet.stderr
    assert f"Remark: {WARNING}" in invoke(*fit).stderr
    assert WARNING in invoke("show", score).stdout
    assert f"Remark: {WARNING}" in invoke("predict", score, data).stderr
