"""The paragraph on methods says what the score states, and nothing else."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from riskslim import (
    ItemEncoder,
    RiskScore,
    RiskSLIMClassifier,
    __version__,
    cross_validate_risk_score,
)
from riskslim.report import methods_text, render
from riskslim.report.methods import CITATION, tripod_table


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"age": rng.integers(20, 90, 400), "smoker": rng.integers(0, 2, 400)})
    risk = 1 / (1 + np.exp(3 - (table["age"] > 60) - table["smoker"]))
    died = rng.random(400) < risk
    encoder = ItemEncoder(n_thresholds=5).fit(table)
    items = encoder.transform(table)
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
    assert model.risk_score_.certificate.explain() in text
    for requirement in model.risk_score_.requirements:
        assert requirement.text in text
    assert text.endswith(CITATION)
    assert "cross-validation" not in text
    assert "\n" not in text


def test_conditions_and_their_variables(fitted):
    model, *_ = fitted
    score = model.risk_score_
    variables = {item.variable for item in score.items.values() if item.variable}
    stated = re.search(r"\((\d+) conditions? on (\d+) variables? among those", score.methods_text())
    assert stated is not None
    assert int(stated[2]) == len(variables)
    assert int(stated[1]) <= len(score.points)


def test_cross_validation_and_its_folds(fitted):
    model, items, died = fitted
    cv = cross_validate_risk_score(model, items, died, cv=3)
    text = methods_text(cv.final_score, cv)
    assert "with 3 folds, for each of which" in text
    for metric in ("loss", "auc", "cal"):
        assert cv.summary(metric) in text


def test_scores_by_hand_and_recalibrated_ones():
    score = RiskScore(-1, {"smoker": 2}, outcome_name="death")
    text = score.methods_text()
    assert "that were given, not learned" in text
    assert "riskslim" not in text
    assert "Recalibrated" not in text
    moved = score.recalibrated(prevalence=0.1, from_prevalence=0.3)
    assert moved.recalibration.describe("death = 1", -1, 1.0) in moved.methods_text()


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
