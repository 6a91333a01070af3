"""Original and recalibrated risks side by side."""

from __future__ import annotations

import re

import numpy as np
import pytest

from riskslim import RiskScore
from riskslim.metrics import calibration_error, logistic_loss
from riskslim.report import render
from riskslim.report.recalibrated import recalibration_tables
from riskslim.report.rows import rows_of

pytestmark = pytest.mark.usefixtures("no_diagrams")

SCORE = RiskScore(-3, {"a": 2, "b": 1, "c": -1}, outcome_name="died", scale=1.5)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = {name: rng.integers(0, 2, 500) for name in "abc"}
    log_odds = -1.0 + 1.5 * X["a"] + 0.5 * X["b"]
    return X, (rng.random(500) < 1 / (1 + np.exp(-log_odds))).astype(int)


def rows(score, X, y, weight=None):
    return [rows_of(score, X, y, weight, key="given", bins=None, n_resamples=0)]


def test_nothing_for_scores_that_are_as_they_were(table):
    assert recalibration_tables(SCORE, rows(SCORE, *table)) == []


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("points", ["fitted", "non-negative"])
def test_both_columns_are_those_of_the_scores_themselves(table, weighted, points):
    X, y = table
    weight = np.random.default_rng(1).random(500) if weighted else None
    moved = SCORE.recalibrated(X, y).with_layout(points=points)
    metrics, risks = recalibration_tables(moved, rows(moved, X, y, weight))
    assert metrics.heads[1:] == ["given data: original", "given data: recalibrated"]
    values = {row[0].text: [cell.value for cell in row[1:]] for row in metrics.rows}
    for k, score in enumerate((SCORE, moved)):
        risk = score.predict_proba(X)[:, 1]
        log_odds = score.decision_function(X)
        assert values["Loss (normalised logistic)"][k] == pytest.approx(
            logistic_loss(y, log_odds, weight)
        )
        assert values["CAL (expected calibration error)"][k] == pytest.approx(
            calibration_error(y, risk, weight)
        )
        assert values["Mean predicted risk"][k] == pytest.approx(np.average(risk, weights=weight))
    assert values["Observed risk"][0] == values["Observed risk"][1]
    if not weighted:  # where it was recalibrated it is calibrated
        assert values["Calibration intercept"][1] == pytest.approx(0, abs=1e-6)
    for score, column in ((SCORE, 1), (moved, 2)):
        shown = {row[0].text: row[column].text for row in risks.rows}
        shift = 1 if points == "non-negative" else 0
        for a, b, c in np.ndindex(2, 2, 2):
            record = {"a": a, "b": b, "c": c}
            total = 2 * a + b - c + shift
            assert shown[str(total)] == f"{score.predict_proba(record)[0, 1]:.1%}"


def test_the_report_has_both(table):
    X, y = table
    page = render(SCORE.recalibrated(X, y), X, y, n_resamples=0)
    assert "Original and recalibrated" in page
    assert "given data: recalibrated" in page
    assert re.search("Risks, original and recalibrated", page)
    assert "Original and recalibrated" not in render(SCORE, X, y, n_resamples=0)
