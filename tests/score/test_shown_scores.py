"""The score that a sheet shows is the score everywhere, whatever its layout."""

from __future__ import annotations

import itertools
import json
import re
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from riskslim import RiskScore, RiskSLIMClassifier
from riskslim.data.feature_ranges import FeatureRange
from riskslim.items import read_items
from riskslim.score.layout import SheetLayout

NAMES = ["age >= 45", "age >= 75", "sex = male", "sex = female", "smoker", "active"]
LAYOUTS = [
    SheetLayout(by, points)
    for by, points in itertools.product(("item", "variable"), ("fitted", "non-negative"))
]
X = pd.DataFrame(
    [
        dict(zip(NAMES, values, strict=True))
        for values in itertools.product((0, 1), repeat=6)
        if values[1] <= values[0] and values[2] + values[3] < 2
    ]
)
Y = (X["age >= 75"] + X["active"] > X["smoker"]).to_numpy().astype(int)
Y[::5] = 1 - Y[::5]


def laid_out(layout: SheetLayout, worths=(-2, 3, -1, -2, -3, 1)) -> RiskScore:
    points = dict(zip(NAMES, worths, strict=True))
    score = RiskScore(1, points, scale=1.7, items=read_items(NAMES))
    return score.with_layout(by=layout.by, points=layout.points)


def read_off(score: RiskScore, record) -> int:
    """Add up the points of a record as a person does, from the lines of the sheet alone."""
    sheet = score.sheet()
    if sheet.variables:
        return sum(one.band_of(record).points for one in sheet.variables)
    opposite = {"age < 45": "age >= 45", "sex is not male": "sex = male"}
    opposite |= {"sex is not female": "sex = female", "smoker: no": "smoker"}
    total = 0
    for line in sheet.lines:
        holds = record[line.label] if line.label in record else 1 - record[opposite[line.label]]
        total += line.points * holds
    return total


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_a_threshold_read_off_the_sheet_is_right_everywhere(layout):
    """With points that are not negative, the 0 of the sheet was -8 in all but the sheet."""
    fitted, score = laid_out(SheetLayout()), laid_out(layout)
    totals = [read_off(score, record) for record in X.to_dict("records")]
    shift = totals[0] - fitted.score_samples(X)[0]
    assert (shift > 0) == (layout.points == "non-negative")
    assert score.score_samples(X).tolist() == totals
    # No risk changes by a bit.
    risks = score.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(risks, fitted.predict_proba(X)[:, 1])
    np.testing.assert_array_equal(score.predict(X), fitted.predict(X))
    by_score = {float(row.score): row.risk for row in score.risk_table()}
    assert [by_score[total] for total in totals] == [f"{risk:.1%}" for risk in risks]
    assert score.sheet().risks == score.risk_table(max_rows=30)
    number = re.search(r"exp\(-(?:score|\(score ([+-]) (\d+)\)) / 1\.7\)", score.sheet().formula)
    assert int(f"{number[1]}{number[2]}") == fitted.intercept - shift
    for threshold in sorted(set(totals)):
        at_least = np.array(totals) >= threshold
        np.testing.assert_array_equal(score.boolean_rule(threshold).holds(X), at_least)
        for k in (0, 5, 30):
            explained = score.explain(X.iloc[k], threshold)
            assert (explained.score, explained.risk) == (totals[k], risks[k])
            assert sum(row.points for row in explained.rows) == totals[k]
            words = "below" if at_least[k] else "of at least"
            assert explained.target == f"a score {words} {threshold}"
            if explained.fewest_changes:
                assert (explained.fewest_changes[-1].score >= threshold) != at_least[k]
    points = score.operating_points(X, Y)
    assert set(points.thresholds[np.isfinite(points.thresholds)]) == set(totals)
    card = score.scorecard()
    np.testing.assert_array_equal(card.risk(card.totals(score.score_samples(X))), risks)
    assert card.variables == fitted.scorecard().variables
    assert card.risks == fitted.scorecard().risks


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_programs_and_databases_have_the_scores_of_the_sheet(layout):
    score = laid_out(layout).recalibrated(X, Y)
    totals, risks = score.score_samples(X).tolist(), score.predict_proba(X)[:, 1].tolist()
    namespace = {}
    exec(score.to_python(), namespace)
    found = [namespace["predict_risk"](record) for record in X.to_dict("records")]
    assert found == list(zip(risks, totals, strict=True))
    with closing(sqlite3.connect(":memory:")) as database:
        X.to_sql("p", database, index=False)
        query = score.to_sql("sqlite", table="p")
        assert pd.read_sql(query, database)["score"].tolist() == totals
        assert pd.read_sql(query, database)["risk"].tolist() == risks
        query = f"SELECT {score.to_sql('sqlite')} AS risk FROM p"
        assert pd.read_sql(query, database)["risk"].tolist() == risks


def test_a_recalibration_is_of_the_fitted_points():
    layouts = [laid_out(layout) for layout in LAYOUTS]
    for arguments in ({"y": Y}, {"y": Y, "with_scale": True}, {"prevalence": 0.1}):
        found = [score.recalibrated(X, **arguments).recalibration for score in layouts]
        assert found == found[:1] * len(layouts)


def test_real_values_keep_their_risks_to_the_bit():
    rng = np.random.default_rng(0)
    rows = {"dose": rng.normal(size=200) / 3, "old": rng.integers(0, 2, 200)}
    ranges = {"dose": FeatureRange(-2, 2, is_integer=False)}
    fitted = RiskScore(1, {"dose": 1, "old": -3}, feature_ranges=ranges, scale=0.7)
    score = fitted.with_layout(points="non-negative")
    np.testing.assert_array_equal(score.score_samples(rows), fitted.score_samples(rows) + 3)
    np.testing.assert_array_equal(score.predict_proba(rows), fitted.predict_proba(rows))
    namespace = {}
    exec(score.to_python(), namespace)
    record = {name: values[0] for name, values in rows.items()}
    expected = score.predict_proba(record)[0, 1], score.score_samples(record)[0]
    assert namespace["predict_risk"](record) == expected
    assert score.explain(record).risk == expected[0]


def test_cutoffs_are_swept_with_the_fitted_points():
    ages = np.arange(20, 90)
    died = (ages >= 50) & (ages % 4 > 0) | (ages % 7 == 0)
    score = RiskScore(1, {"age < 50": -2}, items=read_items(["age < 50"]), classes=(False, True))
    rows = {"age": ages}
    moved = score.with_layout(points="non-negative").with_cutoff_ranges(rows, died, share=0.05)
    assert moved.cutoff_ranges == score.with_cutoff_ranges(rows, died, share=0.05).cutoff_ranges


def test_rows_of_variables_start_at_0_where_shifts_cancel_out():
    """The least of one variable is -2, that of the other 2: their sum was taken for no shift."""
    items = read_items(["a >= 1", "b >= 1", "b < 1"])
    score = RiskScore(0, {"a >= 1": -2, "b >= 1": 2, "b < 1": 4}, items=items)
    score = score.with_layout(by="variable", points="non-negative")
    record = {"a >= 1": 1, "b >= 1": 1, "b < 1": 0}
    assert [row.points for row in score.explain(record).rows] == [0, 0]
    assert score.score_samples(record).tolist() == [0]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_files_of_any_version_have_the_scores_of_their_sheets(layout):
    score = laid_out(layout)
    document = json.loads(score.to_json())
    # Earlier readers would add up the fitted points.
    assert document["version"] == (3 if layout.points == "fitted" else 7)
    for version in (3, 5, 6, 7):
        found = RiskScore.from_json(json.dumps({**document, "version": version}))
        assert found == score
        assert str(found) == str(score)
        np.testing.assert_array_equal(found.score_samples(X), score.score_samples(X))


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_a_sheet_in_another_layout_says_that_its_scores_are_others(layout):
    score = laid_out(layout)
    for other in LAYOUTS:
        sheet = score.sheet(by=other.by, points=other.points)
        moved = laid_out(other).score_samples(X)[0] - score.score_samples(X)[0]
        side = "above" if moved > 0 else "below"
        note = f"Scores here are {abs(moved)} {side} those that predictions and exports have"
        assert (note in str(sheet).replace("\n", " ")) == bool(moved)
        assert ("Scores here" in str(sheet)) == bool(moved)


def test_classifiers_have_the_scores_of_their_sheets():
    asked = {"max_size": 3, "max_coef": 3, "scale": 1}
    fitted = RiskSLIMClassifier(**asked).fit(X, 1 - Y)
    turned = RiskSLIMClassifier(**asked, points="non-negative").fit(X, 1 - Y)
    shift = -sum(turned.points_[turned.points_ < 0])
    assert shift > 0
    np.testing.assert_array_equal(turned.score_samples(X), fitted.score_samples(X) + shift)
    np.testing.assert_array_equal(turned.decision_function(X), fitted.decision_function(X))
    np.testing.assert_array_equal(turned.predict_proba(X), fitted.predict_proba(X))


def test_a_validation_is_the_same_in_every_layout():
    found = {str(laid_out(layout).validate(X, Y, n_resamples=0)) for layout in LAYOUTS}
    assert len(found) == 1
