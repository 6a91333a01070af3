"""Recalibrated scores: the same points, other risks, in every form that a score has."""

from __future__ import annotations

import dataclasses
import json
import pickle
import re
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest
from scipy.special import expit, logit

from paths import DOCS
from riskslim import RiskScore, RiskSLIMClassifier, TrainingData
from riskslim.report import render
from riskslim.score.recalibration import Recalibration, to_observations
from riskslim.score.table import Observations, RiskScale

pytestmark = pytest.mark.usefixtures("no_diagrams")

SCHEMA = json.loads((DOCS / "risk_score.schema.json").read_text(encoding="utf-8"))
SCORE = RiskScore(
    -3, {"smoker": 2, "age >= 60": 1}, outcome_name="died", classes=("no", "yes"), prevalence=0.2
)


def rows(seed=0, n=4000, intercept=-4.3, scale=1.3):
    rng = np.random.default_rng(seed)
    X = {"smoker": rng.integers(0, 2, n), "age >= 60": rng.integers(0, 2, n)}
    risk = expit((intercept + SCORE.score_samples(X)) / scale)
    return X, np.where(rng.random(n) < risk, "yes", "no")


def mean_risk(score, X, weights=None):
    return np.average(score.predict_proba(X)[:, 1], weights=weights)


def test_a_prevalence_moves_all_odds_alike():
    """No step of whole points: the recipe with whole points was off by up to exp(0.5)."""
    found = SCORE.recalibrated(prevalence=0.0385)
    X, _ = rows()
    moved = found.decision_function(X) - SCORE.decision_function(X)
    np.testing.assert_allclose(moved, logit(0.0385) - logit(0.2), rtol=1e-12)
    assert found.recalibration.prevalence == 0.0385
    assert found.recalibration.n_samples is None
    # From there to a third one is as from the first.
    third = found.recalibrated(prevalence=0.5)
    assert third.recalibration.intercept == pytest.approx(-3 + logit(0.5) - logit(0.2))
    by_hand = RiskScore(-3, {"smoker": 2}).recalibrated(prevalence=0.1, from_prevalence=0.3)
    assert by_hand.recalibration.intercept == pytest.approx(-3 + logit(0.1) - logit(0.3))


def test_a_score_knows_the_prevalence_of_its_training_rows():
    X = np.array([[0], [1], [1], [0]] * 5)
    y = np.array([0, 1, 0, 0] * 5)
    weights = np.where(y == 1, 3.0, 1.0)
    for weight, expected in ((None, 0.25), (weights, 0.5)):
        score = RiskScore.from_coefficients([-1, 1], TrainingData(X, y, weight))
        assert score.prevalence == pytest.approx(expected)
    classifier = RiskSLIMClassifier(max_size=1, class_weight="balanced").fit(X, y)
    assert classifier.risk_score_.prevalence == pytest.approx(0.5)
    found = classifier.risk_score_.recalibrated(prevalence=0.25)
    assert mean_risk(found, X) == pytest.approx(0.25, abs=0.05)
    assert not any("Not calibrated" in note for note in found.sheet().notes)
    # A file of an older version has the weights of the classes alone.
    text = json.loads(classifier.risk_score_.to_json())
    del text["prevalence"]
    assert RiskScore.from_json(json.dumps(text)).recalibrated(prevalence=0.25).recalibration == (
        found.recalibration
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_rows_with_labels_make_the_risks_right_on_average(weighted, scale):
    X, y = rows()
    weights = np.random.default_rng(1).integers(0, 3, len(y)) if weighted else None
    score = RiskScore(-3, dict(SCORE.points), classes=("no", "yes"), scale=scale)
    found = score.recalibrated(X, y, weights)
    observed = np.average(y == "yes", weights=weights)
    assert mean_risk(found, X, weights) == pytest.approx(observed, rel=1e-12)
    assert found.recalibration.prevalence == pytest.approx(observed)
    assert found.recalibration.n_samples == (np.count_nonzero(weights) if weighted else len(y))
    assert found.recalibration.scale == scale
    # Rows without labels, of which the share is known, say the same.
    other = score.recalibrated(X, sample_weight=weights, prevalence=observed)
    assert other.recalibration.intercept == pytest.approx(found.recalibration.intercept, rel=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_intercept_and_scale_are_those_of_logistic_regression(weighted):
    from sklearn.linear_model import LogisticRegression

    X, y = rows()
    weights = np.random.default_rng(1).integers(0, 3, len(y)) if weighted else None
    found = SCORE.recalibrated(X, y, weights, with_scale=True).recalibration
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(
        SCORE.score_samples(X)[:, np.newaxis], y, weights
    )
    assert 1 / found.scale == pytest.approx(model.coef_.item(), rel=1e-5)
    assert found.intercept / found.scale == pytest.approx(model.intercept_.item(), rel=1e-5)
    if not weighted:  # what the rows were made with
        assert found.intercept == pytest.approx(-4.3, abs=0.4)
        assert found.scale == pytest.approx(1.3, abs=0.2)


def test_hard_rows_are_fitted_or_refused():
    """Scores of any size; a likelihood that has no greatest value is refused, in each case."""
    rng = np.random.default_rng(3)
    link = RiskScale(0, 1.0)
    for size in (1e-3, 1.0, 1e4):
        for rare in (0.0, 6.0):
            scores = (rng.normal(size=3000) + 50) * size
            positive = rng.random(3000) < expit(scores / size - 50 - rare)
            positive[:2] = True, False
            found = to_observations(link, Observations(scores, positive), with_scale=True)
            risk = expit((found.intercept + scores) / found.scale)
            # Where the likelihood is greatest, risks and outcomes have the same moments.
            assert risk.sum() == pytest.approx(positive.sum(), rel=1e-8)
            centred = scores / size - 50
            assert risk @ centred == pytest.approx(positive @ centred, rel=1e-6, abs=1e-6)
    for scores, labels, message in (
        ([0, 0, 2, 2], [0, 0, 1, 1], "tell the two classes apart"),
        ([0, 1, 1, 2], [0, 0, 1, 1], "tell the two classes apart"),
        ([2, 2, 0, 0], [0, 0, 1, 1], "tell the two classes apart"),
        ([1, 1, 1, 1], [0, 0, 1, 1], "have the score 1"),
        ([0, 0, 0, 1, 1, 1], [1, 1, 0, 0, 0, 1], "a higher score goes with a lower risk"),
    ):
        observed = Observations(np.array(scores), np.array(labels, bool))
        with pytest.raises(ValueError, match=message):
            to_observations(link, observed, with_scale=True)
        alone = to_observations(link, observed, with_scale=False)
        assert expit(alone.intercept + np.array(scores)).mean() == pytest.approx(np.mean(labels))


def test_files_keep_it_and_old_ones_are_read():
    X, y = rows()
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for found in (SCORE.recalibrated(prevalence=0.05), SCORE.recalibrated(X, y, with_scale=True)):
        plain = json.loads(found.to_json())
        validator.validate(plain)
        assert plain["version"] == 4
        assert RiskScore.from_json(found.to_json()) == found
        assert pickle.loads(pickle.dumps(found)) == found
        assert found != SCORE
        for version in (1, 3):  # whose readers would not see it
            older = plain | {"version": version}
            with pytest.raises(ValueError, match=f"version {version} of the format has no"):
                RiskScore.from_json(json.dumps(older))
            assert not validator.is_valid(older)
        for wrong in ({"intercept": -1}, {"scale": 0}, [], {"intercept": None}):
            damaged = plain["recalibration"] | wrong if isinstance(wrong, dict) else wrong
            if wrong == {"intercept": -1}:
                damaged = wrong
            with pytest.raises(ValueError, match="recalibration"):
                RiskScore.from_json(json.dumps(plain | {"recalibration": damaged}))
    plain = json.loads(SCORE.to_json())
    assert plain["version"] == 1  # older versions of the package read it
    for wrong in (0, 1, "much"):
        with pytest.raises(ValueError, match="prevalence"):
            RiskScore.from_json(json.dumps(plain | {"prevalence": wrong}))
    del plain["prevalence"]
    assert RiskScore.from_json(json.dumps(plain)).prevalence is None


def test_a_report_says_what_is_proven_and_what_is_not():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (400, 3))
    y = rng.random(400) < expit(2 * X[:, 0] - 2)
    classifier = RiskSLIMClassifier(max_size=2, class_weight="balanced").fit(X, y)
    found = classifier.risk_score_.recalibrated(X, y)
    assert found.certificate == classifier.certificate_
    note = "What is proven is about the points, with the risks that they had on the training data"
    assert note in str(found)
    text = render(found, X, y, problem=classifier, n_resamples=0)
    assert note in text
    assert "Recalibrated to 400 rows" in text
    assert "Not calibrated" not in text
    risk = found.predict_proba(X)[0, 1]
    assert f"{risk:.1%}" in text
    # Of a score without weights the rows are known as those of the certificate.
    plain = RiskSLIMClassifier(max_size=2).fit(X, y).risk_score_
    for score in (plain, plain.recalibrated(prevalence=0.01)):
        text = render(score, X, y, n_resamples=0)
        assert "The certificate is about other rows" not in text


def test_remarks_name_the_rows_that_the_risks_are_for():
    X, y = rows()
    (remark,) = SCORE.recalibrated(X, y).remarks(X)
    assert re.match(r"Recalibrated to 4000 rows of which .*% have died = yes: the risks", remark)
    assert "a new scale" in SCORE.recalibrated(X, y, with_scale=True).remarks(X)[0]
    assert "scale" not in remark


def test_few_events_are_worded_with_their_interval():
    """Of one event in 600 rows it was said that 0.17% have the outcome, as if that were known."""
    rng = np.random.default_rng(5)
    X = {name: rng.integers(0, 2, 600) for name in SCORE.points}
    y = np.array(["no"] * 599 + ["yes"])
    found = SCORE.recalibrated(X, y)
    assert (found.recalibration.n_samples, found.recalibration.n_positive) == (600, 1)
    text = (
        "Recalibrated to 600 rows of which 0.17% (95% interval 0.029% to 0.94%) have died = yes: "
        "the risks are new"
    )
    assert found.remarks()[0].startswith(text)
    assert text in " ".join(str(found).split())
    assert RiskScore.from_json(found.to_json()) == found
    plain = json.loads(found.to_json())
    del plain["recalibration"]["n_positive"]  # as earlier versions wrote it
    older = RiskScore.from_json(json.dumps(plain))
    assert older.recalibration.n_positive is None
    assert "interval" not in older.remarks()[0]
    # A share that was given is not estimated from the rows, and many events say what it is.
    for other in (SCORE.recalibrated(X, prevalence=0.1), SCORE.recalibrated(*rows())):
        assert "interval" not in other.remarks()[0]
    for n_positive in (0, 600, 700):
        with pytest.raises(ValueError, match="n_positive of the recalibration must be between 0"):
            dataclasses.replace(found.recalibration, n_positive=n_positive)


def _risk_by(formula):
    """The risk of a score by the formula of a sheet."""
    assert formula.startswith("risk = ")
    return lambda score: eval(formula.removeprefix("risk = "), {"exp": np.exp, "score": score})


@pytest.mark.parametrize("by", ["item", "variable"])
@pytest.mark.parametrize("points", ["fitted", "non-negative"])
@pytest.mark.parametrize("with_scale", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1.7])
def test_a_sheet_has_one_formula_and_it_is_that_of_the_predictions(by, points, with_scale, scale):
    """Two intercepts on a sheet leave it open which one counts."""
    worths = {"smoker": 2, "age >= 60": 1, "active": -3}
    rng = np.random.default_rng(4)
    X = {name: rng.integers(0, 2, 3000) for name in worths}
    score = RiskScore(-17, worths, scale=scale).with_layout(by=by, points=points)
    y = rng.random(3000) < expit((score.decision_function(X) * scale + 15.75) / 2.2)
    found = score.recalibrated(X, y.astype(int), with_scale=with_scale)
    sheets = [found.sheet(), found.scorecard(base_points=0, pdo=50, higher_is="riskier")]
    for sheet in sheets:
        risk = _risk_by(sheet.formula)
        for row in sheet.risks:
            assert row.risk == f"{risk(row.lowest):.1%}" or row.risk.startswith(("<", ">"))
        everything = "\n".join([str(sheet), sheet.to_html(), sheet.to_latex(), sheet.to_markdown()])
        assert "17" not in re.sub(r"17\.\d|\.\d+", "", everything)
        assert sum(line.startswith("risk = ") for line in str(sheet).splitlines()) == 1
    records = found.predict_proba(X)[:, 1]
    by_formula = _risk_by(sheets[0].formula)(found.score_samples(X))
    np.testing.assert_allclose(by_formula, records, rtol=1e-4)


def test_operating_points_have_the_new_risks():
    X, y = rows()
    found = SCORE.recalibrated(X, y)
    points = found.operating_points(X, y)
    last = points.thresholds == 3
    assert points.risk[last] == pytest.approx(expit(found.recalibration.intercept + 3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "got neither"),
        ({"X": 1}, "got neither"),
        ({"X": 1, "y": 1, "prevalence": 0.1}, "not both"),
        ({"prevalence": 5}, "prevalence must be between 0 and 1"),
        ({"prevalence": 0.1, "from_prevalence": 0}, "from_prevalence must be between"),
        ({"X": 1, "y": 1, "from_prevalence": 0.2}, "belongs to a prevalence"),
        ({"prevalence": 0.1, "with_scale": True}, "needs rows with labels"),
        ({"prevalence": 0.1, "sample_weight": [1]}, "needs rows: X"),
        ({"y": 1}, "X is None"),
        ({"X": 1, "y": 0}, "have the same outcome"),
        ({"X": 1, "y": 1, "sample_weight": 0}, "have the same outcome"),
        ({"X": 1, "prevalence": 0.2, "sample_weight": -1}, "negative"),
    ],
)
def test_what_cannot_be_recalibrated_is_refused(options, message):
    X, y = rows(n=50)
    given = {"X": X, "y": np.where(y == "x", "yes", "no")} if options.get("y") == 0 else {
        "X": X, "y": y,
    }  # fmt: skip
    if "sample_weight" in options and "X" in options:
        weight = np.where(y == "no", 1.0, options["sample_weight"])
        given["sample_weight"] = weight - (options["sample_weight"] < 0) * 2
    arguments = {name: given.get(name, value) for name, value in options.items()}
    with pytest.raises((TypeError, ValueError), match=f"(?i){message}"):
        SCORE.recalibrated(**arguments)


def test_a_score_that_does_not_know_its_prevalence_says_so():
    score = RiskScore(-3, {"smoker": 2})
    with pytest.raises(ValueError, match="give it as from_prevalence, or give rows"):
        score.recalibrated(prevalence=0.1)
    for wrong, error in ((SimpleNamespace(), TypeError), (0.3, TypeError)):
        with pytest.raises(error, match="recalibration must be a Recalibration"):
            RiskScore(-3, {"smoker": 2}, recalibration=wrong)
    for values in ((np.nan, 1.0, 0.5), (0.0, 0.0, 0.5), (0.0, 1.0, 0.0), (0.0, 1.0, 0.5, 0)):
        with pytest.raises(ValueError, match="must be"):
            Recalibration(*values)
