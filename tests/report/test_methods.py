"""The paragraph on methods says what the score states, and nothing else."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from riskslim import (
    ItemEncoder,
    RiskScore,
    RiskSLIMClassifier,
    __version__,
    cross_validate_risk_score,
)
from riskslim.report import methods_text, render
from riskslim.report.methods import CITATION, tripod_table

pytestmark = pytest.mark.usefixtures("no_diagrams")


@pytest.fixture(scope="module")
def encoder():
    return ItemEncoder(n_thresholds=5)


@pytest.fixture(scope="module")
def fitted(encoder):
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"age": rng.integers(20, 90, 400), "smoker": rng.integers(0, 2, 400)})
    risk = 1 / (1 + np.exp(3 - (table["age"] > 60) - table["smoker"]))
    died = rng.random(400) < risk
    items = encoder.fit_transform(table)
    model = RiskSLIMClassifier(max_size=2, scale=2.0).fit(items, died)
    return model, items, died


def test_what_a_fitted_score_states(fitted):
    model, _, died = fitted
    text = methods_text(model.risk_score_)
    assert text == model.risk_score_.methods_text()
    assert f"learned on 400 rows, {died.mean() * 100:g}% of which had the outcome." in text
    assert f"from 2 of {len(model.risk_score_.feature_names)} candidate features" in text
    assert "A point is worth 1/2 units of log-odds." in text
    assert f"riskslim {__version__} (engine: branch_and_bound)" in text
    assert model.risk_score_.certificate.explain(with_scales=False) in text
    ridge = "ridge penalty of the weights: 0.0025 (shrinkage 1 on 400 rows)"
    texts = {requirement.text for requirement in model.risk_score_.requirements}
    assert {one for one in texts if one not in text} == {"scale: 2", ridge}
    assert "has none) times 0.0025. It is as strong as a normal prior of the weights" in text
    assert "around 0 with the variance 0.5." in text
    assert text.endswith(CITATION)
    assert "cross-validation" not in text
    assert "\n" not in text


def test_conditions_and_their_variables(fitted, encoder):
    model, *_ = fitted
    score = model.risk_score_.with_variables(encoder)
    variables = {item.variable for item in score.items.values() if item.variable}
    stated = re.search(r"\((\d+) conditions? on (\d+) variables? among those", score.methods_text())
    assert stated is not None
    assert int(stated[2]) == len(variables)
    assert int(stated[1]) <= len(score.points)


@pytest.fixture(scope="module")
def raw():
    rng = np.random.default_rng(8)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 90, 600),
            "months": np.where(rng.random(600) < 0.1, 999, rng.integers(0, 60, 600)),
            "dose": rng.integers(1, 9, 600).astype(float),
            "lab": np.where(rng.random(600) < 0.2, np.nan, rng.normal(size=600).round(2)),
        }
    )
    log_odds = (table["age"] > 60) + 2 * (table["months"] == 999) - (table["dose"] > 4)
    return table, rng.random(600) < 1 / (1 + np.exp(1 - log_odds - (table["lab"] > 0)))


ITEMS = ItemEncoder(
    thresholds={"age": "supervised", "months": [12, 24], "dose": "all", "lab": 3},
    special_values={"months": [999]},
    missing="indicator",
)
LABELS = {"months": {"text": "Months", "levels": {"999": "never"}}}


def test_how_numbers_became_conditions(raw):
    encoder = ITEMS.fit(*raw)
    points = {f"{name} = 999" if name == "months" else item.name: 1 for name, item in (
        (item.variable, item) for item in encoder.items_
    )}  # fmt: skip
    score = RiskScore(-3, points).with_variables(encoder).with_labels(LABELS)
    assert {*score.variables} == {"age", "months", "dose", "lab"}
    text = score.methods_text()
    assert (
        "Of the cut-offs, those of Months were given; those of lab are quantiles of the training "
        "rows, or all values where these are few; those of dose were chosen with the points, among "
        "all that tell the training rows apart; those of age were chosen by the outcome of the "
        "training rows, as the splits of a shallow decision tree of the variable alone. Special "
        "values, which are no measurements, meet no cut-off and have conditions of their own: "
        "Months = 999 (never). Missing values meet no condition but that the value is missing: "
    ) in text
    n_missing = raw[0]["lab"].isna().sum()
    assert f"is missing: lab ({n_missing} of 600 rows). Points" in text
    # Files keep it; of scores that know no raw columns nothing is said.
    assert RiskScore.from_json(score.to_json()).methods_text() == text
    assert "cut-offs" not in RiskScore(-1, {"age >= 60": 1}).methods_text()


def test_requirements_on_every_variable_are_sentences(raw):
    """One requirement for each of many variables is no sentence of a paper."""
    model = RiskSLIMClassifier(max_size=2, items=ITEMS, items_per_variable=2, monotone="auto")
    score = model.fit(*raw).risk_score_.with_labels(LABELS)
    texts = [one.text for one in score.requirements]
    assert sum(text.startswith("at most 2 of the features of") for text in texts) > 1
    text = score.methods_text()
    assert "At most 2 items of each variable may have points." in text
    trends = [one for one in texts if one.endswith("as its trend in the training rows")]
    assert len(trends) == 4
    assert re.search(
        "The risk is monotone in the following variables, .* rows: more of .* never (lowers|raises)"
        " it",
        text,
    )
    for one in texts:
        has_own_sentence = one in trends or one.startswith("ridge penalty of the weights: ")
        assert (one in text) is not (
            "of the features of" in one or has_own_sentence or "scale" in one
        )
    assert "likewise" not in text
    # Of some variables only, they are named.
    some = [one for one in score.requirements if "'age'" not in one.text]
    some = dataclasses.replace(score, certificate=score.certificate, requirements=some)
    named = re.search("At most 2 items of each of (.*?) may have points.", some.methods_text())
    assert named is not None
    assert "Months" in named[1]
    assert "age" not in named[1]


@pytest.mark.slow
def test_a_score_without_proof_says_why():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (300, 25))
    y = rng.random(300) < 0.4
    with pytest.warns(ConvergenceWarning):
        score = RiskSLIMClassifier(max_size=10, node_limit=1).fit(X, y).risk_score_
    assert not score.certificate.is_optimal
    message = score.certificate.message
    assert f"The search ended before more was proven: {message}." in score.methods_text()


def test_cross_validation_and_its_folds(fitted):
    model, items, died = fitted
    cv = cross_validate_risk_score(model, items, died, cv=3)
    text = methods_text(cv.final_score, cv)
    assert "with 3 folds, for each of which it was learned anew" in text
    for metric in ("loss", "auc", "cal"):
        assert cv.summary(metric) in text


def test_scores_by_hand_and_recalibrated_ones():
    score = RiskScore(-1, {"smoker": 2}, outcome_name="death")
    text = score.methods_text()
    assert "that were given, not learned" in text
    assert "riskslim" not in text
    assert "Recalibrated" not in text
    moved = score.recalibrated(prevalence=0.1, from_prevalence=0.3)
    assert moved.recalibration.describe("death = 1", 1.0) in moved.methods_text()


def test_a_scale_that_was_chosen_with_the_points():
    model = RiskSLIMClassifier(max_size=1, scale=(0.5, 4)).fit(
        np.tile([[0], [1]], (40, 1)), [0, 1, 0, 0, 1, 1, 0, 1] * 10
    )
    assert "chosen together with the points from 0.5 to 4" in model.risk_score_.methods_text()


def test_the_checklist_claims_no_section_that_is_not_there():
    for sections in ([], ["Data"], ["Data", "Drift", "Methods", "Score sheet", "Performance"]):
        answers = [row[2].text for row in tripod_table(sections).rows]
        assert {answer.partition(":")[0] for answer in answers} <= {
            *sections,
            "left to the authors",
        }
        assert "left to the authors" in answers
    numbers = " ".join(row[0].text for row in tripod_table([]).rows)
    for item in range(1, 28):
        assert re.search(rf"\b{item}[a-f]?\b", numbers), item


def test_the_report_has_both(fitted):
    model, items, died = fitted
    page = render(model.risk_score_, items, died, n_resamples=0)
    assert '<h2 id="methods">Methods</h2>' in page
    assert "Items of TRIPOD+AI" in page
    assert "Drift: if data are given" not in page
    both = render(model.risk_score_, items, died, X_test=items, y_test=died, n_resamples=0)
    assert "Drift: if data are given" in both
