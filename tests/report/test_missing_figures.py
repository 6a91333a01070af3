"""Figures that some rows do not have: they are missing, with the reason, and all others are there.

Rows without a label of a group, a site without events and test rows of one class had ended the
whole report with an error.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest

from riskslim import RiskScore
from riskslim.metrics import metrics_by_group
from riskslim.report import render
from riskslim.report.grouped import grouped_rows
from riskslim.report.records import records
from riskslim.report.rows import judged_rows

SCORE = RiskScore(-3, {"a": 2, "b": 1, "c": 1})


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.integers(0, 2, n) for name in "abc"})
    X["site"] = rng.choice(["east", "west"], n)
    y = (rng.random(n) < SCORE.predict_proba(X)[:, 1]).astype(int)
    return X, y


X, Y = rows()
X_TEST, Y_TEST = rows(80, seed=1)


def text_of(page):
    page = re.sub(r"<(style|script|svg).*?</\1>", "", page, flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, "masked"])
def test_rows_without_a_label_are_a_group(missing):
    labels = X["site"].to_numpy(object)
    gone = np.arange(len(Y)) % 7 == 2
    if isinstance(missing, str):
        labels = np.ma.masked_array(labels, gone)
    else:
        labels[gone] = missing
    log_odds = SCORE.decision_function(X)
    found = metrics_by_group(Y, log_odds, labels, n_resamples=5)
    assert [one.group for one in found] == [None, "east", "west", "(missing)"]
    # The others are what they are without these rows.
    named = metrics_by_group(Y[~gone], log_odds[~gone], X["site"][~gone], n_resamples=5)
    assert repr(found[1:3]) == repr(named[1:])
    alone = metrics_by_group(Y[gone], log_odds[gone], ["x"] * gone.sum(), n_resamples=5)
    assert repr(found[3]._replace(group="x")) == repr(alone[1])


def test_labels_that_are_numbers_stay_numbers():
    labels = np.where(np.arange(len(Y)) < 9, np.nan, np.arange(len(Y)) % 2)
    found = metrics_by_group(Y, SCORE.decision_function(X), labels, n_resamples=5)
    assert [one.group for one in found] == [None, 0.0, 1.0, "(missing)"]
    weight = np.where(np.isnan(labels), 0.0, 1.0)  # rows without weight are no group
    found = metrics_by_group(Y, SCORE.decision_function(X), labels, weight, n_resamples=5)
    assert [one.group for one in found] == [None, 0.0, 1.0]


def test_a_report_has_a_group_of_rows_without_a_label():
    gaps = X.copy()
    gaps.loc[:20, "site"] = None
    judged = judged_rows(SCORE, (gaps, Y, None), n_resamples=5)
    (grouped,) = grouped_rows(SCORE, judged, ["site"])
    assert [one.n for one in grouped.found if one.group == "(missing)"] == [21]
    assert "(missing)" in text_of(render(SCORE, gaps, Y, groups=["site"], n_resamples=0))
    names = {one["name"] for one in records(SCORE, judged, [grouped]) if one["part"] == "group"}
    assert names == {"all rows", "east", "west", "(missing)"}


@pytest.mark.slow
def test_a_site_without_events_has_its_other_figures():
    y = np.where(X["site"] == "east", 0, Y)
    page = text_of(render(SCORE, X, y, groups=["site"], n_resamples=0))
    assert "AUC and calibration intercept take rows with the outcome and rows without" in page
    assert "take rows with the outcome" not in text_of(
        render(SCORE, X, Y, groups=["site"], n_resamples=0)
    )


@pytest.mark.parametrize(
    ("label", "which", "weighted"),  # every two of them together
    [(0, "given", False), (1, "test", False),
     *(pytest.param(*slow, marks=pytest.mark.slow)
       for slow in ((0, "test", True), (1, "given", True)))],
)  # fmt: skip
def test_rows_of_one_class_have_their_other_figures(label, which, weighted):
    y, y_test = Y, Y_TEST
    if which == "given":
        y = np.full_like(y, label)
    else:
        y_test = np.full_like(y_test, label)
    weight = weight_test = None
    if weighted:  # rows of the other class that weigh nothing
        y, y_test = y.copy(), y_test.copy()
        weight, weight_test = (np.where(np.arange(len(one)) < 3, 0.0, 2.0) for one in (y, y_test))
        y[:3], y_test[:3] = 1 - label, 1 - label
    test = {"X_test": X_TEST, "y_test": y_test, "sample_weight_test": weight_test}
    page = render(SCORE, X, y, weight, **test, groups=["site"], n_resamples=9)
    text = text_of(page)
    of_class = "all rows have" if label else "no row has"
    assert f"{which.title()} data: {of_class} the outcome. AUC, Gini, KS" in text
    assert f"{which} data: {of_class} the outcome." in text
    assert not re.search(r"\bnan\b|\binf\b", text)
    other = {"given": "test", "test": "given"}[which]
    assert f"roc-{which}" not in page
    assert f"roc-{other}" in page
    judged = judged_rows(SCORE, (X, y, weight), (X_TEST, y_test, weight_test), n_resamples=9)
    found = {(one["data"], one["name"], one["statistic"]): one["value"]
             for one in records(SCORE, judged)}  # fmt: skip
    name = f"{which} data"
    for statistic in ("auc", "gini", "ks", "iv", "calibration_slope", "brier_skill"):
        assert math.isnan(found[name, "", statistic])
        assert not math.isnan(found[f"{other} data", "", statistic])
    for statistic in ("loss", "cal", "mcal", "predicted", "observed", "brier", "ici", "n"):
        assert not math.isnan(found[name, "", statistic])
    assert found[name, "", "observed"] == label


@pytest.mark.slow
def test_a_recalibrated_score_is_compared_on_rows_of_one_class():
    score = SCORE.recalibrated(X, Y, with_scale=True)
    text = text_of(render(score, X, Y, X_test=X_TEST, y_test=np.zeros(80, int), n_resamples=0))
    assert "Original and recalibrated" in text
    assert "nan" not in text.lower().split()
