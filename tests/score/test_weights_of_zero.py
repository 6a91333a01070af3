"""Rows of weight 0 do not count: everything is as without them."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from riskslim import (
    CoefficientSet,
    ItemEncoder,
    RiskScore,
    RiskScoreProblem,
    RiskSLIMClassifier,
    TrainingData,
    branch_and_bound,
    false_positive_rate_at_most,
    rate_gap_at_most,
)
from riskslim.items import Item
from riskslim.report import render


def tables(n=300):
    """Rows that count, and the same with others before, between and after them, of weight 0."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.integers(0, 2, (n, 3)), columns=["age >= 40", "age >= 60", "smoker"])
    X["age >= 40"] |= X["age >= 60"]
    X["visits"] = rng.integers(0, 4, n)
    odds = -2 + X["age >= 60"] + X["smoker"] + 0.5 * X["visits"]
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")
    strange = pd.DataFrame(
        {"age >= 40": 0, "age >= 60": 1, "smoker": 0.5, "visits": 99}, index=range(9)
    )
    weight = np.r_[np.zeros(3), rng.integers(1, 3, n), np.zeros(6)]
    others = np.array(["yes"] * 9)
    both = pd.concat([strange[:3], X, strange[3:]], ignore_index=True)
    return (X, y, weight[3:-6]), (both, np.r_[others[:3], y, others[3:]], weight)


def test_scores_sheets_and_certificates_are_as_without_them():
    kept, given = tables()
    one, other = (RiskSLIMClassifier(max_size=4).fit(X, y, w) for X, y, w in (kept, given))
    assert set(one.risk_score_.points) & {"smoker", "visits"} == {"smoker", "visits"}
    assert one.risk_score_.points == other.risk_score_.points
    assert one.risk_score_.feature_ranges == other.risk_score_.feature_ranges
    assert "x value" not in re.sub(r"visits.*", "", str(other.risk_score_))
    assert one.risk_score_.risk_table() == other.risk_score_.risk_table()
    assert one.certificate_.n_samples == other.certificate_.n_samples == len(kept[1])
    assert other.certificate_.loss == pytest.approx(one.certificate_.loss, rel=1e-12)
    assert other.remarks_ == one.remarks_
    assert one.risk_score_.prevalence == pytest.approx(other.risk_score_.prevalence)


@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")
def test_observed_risks_are_as_without_them():
    kept, given = tables()
    score = RiskSLIMClassifier(max_size=4).fit(*kept).risk_score_
    assert score.risk_table(*kept) == score.risk_table(*given)
    assert str(score.sheet(*kept)) == str(score.sheet(*given))
    np.testing.assert_array_equal(
        score.operating_points(*kept).thresholds, score.operating_points(*given).thresholds
    )
    assert score.recalibrated(*kept) == score.recalibrated(*given)
    with pytest.raises(ValueError, match="at least one non-zero"):
        score.risk_table(kept[0], kept[1], np.zeros(len(kept[1])))


@pytest.mark.slow
def test_reports_are_as_without_them():
    kept, given = tables()
    classifier = RiskSLIMClassifier(max_size=4).fit(*given)
    score = classifier.risk_score_

    def text(X, y, weight):
        data = {"X_test": X, "y_test": y, "sample_weight_test": weight}
        page = render(score, X, y, weight, problem=classifier, n_resamples=20, **data)
        # Bounds that are derived from all rows are looser, and cut off nothing.
        return re.sub(r"\d{4}-\d\d-\d\d[^<]*|intercept from [^<]*derived[^<]*", "", page)

    assert text(*kept) == text(*given)
    data = TrainingData(*given, positive_label="yes")
    page = render(score, data, problem=classifier, n_resamples=20)
    assert "The certificate is about other rows" not in page


def test_what_is_stated_is_contradicted_by_rows_that_count_alone():
    kept, given = tables()
    items = [Item("age >= 40", "age", ">=", 40), Item("age >= 60", "age", ">=", 60)]
    for X, y, weight in (kept, given):
        score = RiskScore.from_coefficients(
            [-1, 1, 2, 1, 1], TrainingData(X, y, weight, items=items)
        )
        assert [*score.items] == ["age >= 60", "age >= 40"]


def test_units_and_spans_are_those_of_rows_that_count():
    weights = np.array([1.0, 1, 1, 1, 0])
    data = TrainingData({"x": [0, 3, 1, 2, 900]}, [0, 1, 1, 0, 1], weights)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    problem = RiskScoreProblem(data, coefficients)
    assert not any("too coarse" in remark for remark in problem.remarks([-1, 1]))
    assert branch_and_bound(problem).certificate.n_samples == 4


def test_groups_that_only_they_have_are_no_groups():
    kept, given = tables()
    groups = np.where(kept[0]["smoker"] == 1, "s", "n")
    more = np.r_[["?"] * 3, groups, ["?"] * 6]
    for (X, y, weight), labels in ((kept, groups), (given, more)):
        data = TrainingData(X, y, weight)
        coefficients = CoefficientSet(data.feature_names, -5, 5)
        problem = RiskScoreProblem(
            data,
            coefficients,
            constraints=[
                rate_gap_at_most(0.1, "positive", groups=labels, threshold=0.4),
                rate_gap_at_most(0.9, "positive", groups="smoker", threshold=0.4),
                false_positive_rate_at_most(0.4, 0.4),
            ],
        )
        assert problem.is_feasible([-9, 0, 0, 0, 0])
        assert not problem.is_feasible([-2, 0, 0, 5, 0])


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("age", np.nan, r"contains NaN.*'age' \(1 of 80 rows, first at row 7\).*weight 0"),
        ("age", np.inf, r"contains infinity.*'age' \(1 of 80 rows, first at row 7\)"),
        ("ward", "Z", r"unknown categories 'Z'.*'ward' \(1 of 80 rows, first at row 7\).*weight 0"),
        ("smoker", 2, r"Found 2.*'smoker' \(1 of 80 rows, first at row 7\)"),
    ],
)
def test_values_that_no_item_can_have_are_refused_by_raw_column(column, value, message):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(20, 80, 80).astype(float)})
    X["ward"], X["smoker"] = rng.choice(["A", "B"], 80), rng.integers(0, 2, 80)
    y, weight = rng.integers(0, 2, 80), np.ones(80)
    X.loc[7, column], weight[7] = value, 0
    with pytest.raises(ValueError, match=message) as error:
        RiskSLIMClassifier(max_size=1, items=ItemEncoder()).fit(X, y, weight)
    assert ">=" not in str(error.value)
    encoder = ItemEncoder(handle_unknown="ignore")
    if column == "ward":
        fitted = RiskSLIMClassifier(max_size=1, items=encoder).fit(X, y, weight).encoder_
        assert fitted.variables_["ward"].levels == ("A", "B")
    assert encoder.fit(X, sample_weight=weight).items_  # the encoder alone does not look at them
