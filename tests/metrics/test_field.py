"""Statistics that clinics and lenders ask for, against independent formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import ks_2samp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, confusion_matrix, roc_auc_score

from riskslim import RiskScore
from riskslim.metrics import (
    auc,
    brier_score,
    brier_skill,
    calibration_line,
    gini,
    information_value,
    integrated_calibration_index,
    kolmogorov_smirnov,
    metrics_by_group,
    operating_points,
    population_stability_index,
    reliability_curve,
    risk_groups,
)


def rows(seed=0, n=400, distinct=12):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, distinct, n)
    log_odds = (scores - distinct / 2) / 2
    y = rng.random(n) < 1 / (1 + np.exp(0.4 - 0.7 * log_odds))
    return y, log_odds, 1 / (1 + np.exp(-log_odds)), rng.integers(0, 4, n)


# --- calibration line -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_the_calibration_line_has_the_greatest_likelihood(seed):
    y, log_odds, _, weight = rows(seed)
    for w in (None, weight):
        line = calibration_line(y, log_odds, w)
        plain = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
        plain.fit(log_odds[:, None], y, sample_weight=w)
        assert line.slope.value == pytest.approx(plain.coef_[0, 0], rel=1e-5)

        def loss(a, w=w):
            found = log_odds + a[0]
            return np.average(np.logaddexp(0, np.where(y, -found, found)), weights=w)

        assert line.intercept.value == pytest.approx(minimize(loss, [0.0]).x[0], abs=1e-4)


def test_whole_weights_are_repeated_rows():
    y, log_odds, risk, weight = rows(1)
    again = np.repeat(np.arange(len(y)), weight)
    for function, values in (
        (brier_score, risk), (brier_skill, risk), (integrated_calibration_index, risk),
        (gini, log_odds), (kolmogorov_smirnov, log_odds),
    ):  # fmt: skip
        repeated = function(y[again], values[again])
        assert function(y, values, weight) == pytest.approx(repeated, abs=1e-12)
    one, other = calibration_line(y, log_odds, weight), calibration_line(y[again], log_odds[again])
    for interval, same in zip(one, other, strict=True):
        assert list(interval) == pytest.approx(list(same), rel=1e-7)
    some = log_odds > 0  # no cell is empty
    assert information_value(y, some, weight) == pytest.approx(
        information_value(y[again], some[again])
    )


def test_intervals_of_the_calibration_line_hold_the_truth():
    n_inside = np.zeros(2)
    for seed in range(300):
        rng = np.random.default_rng(seed)
        log_odds = rng.normal(-1, 1, 300)
        y = rng.random(300) < 1 / (1 + np.exp(-log_odds))
        line = calibration_line(y, log_odds)
        n_inside += [
            line.intercept.lower <= 0 <= line.intercept.upper,
            line.slope.lower <= 1 <= line.slope.upper,
        ]
    assert (n_inside >= 0.91 * 300).all()
    assert (n_inside <= 0.99 * 300).all()


def test_slopes_without_an_end():
    assert calibration_line([0, 0, 1, 1], [-1, 0, 0, 2]).slope.value == math.inf
    assert calibration_line([1, 1, 0, 0], [-1, 0, 0, 2]).slope.value == -math.inf
    line = calibration_line([0, 1, 0, 0], [0.5] * 4)
    assert math.isnan(line.slope.value)
    assert line.intercept.value == pytest.approx(math.log(1 / 3) - 0.5)
    with pytest.raises(ValueError, match="Only one class"):
        calibration_line([1, 1], [0.0, 1.0])


# --- Brier score and smooth curve -----------------------------------------------------------------


def test_brier_scores():
    y, _, risk, weight = rows()
    assert brier_score(y, risk, weight) == pytest.approx(
        brier_score_loss(y, risk, sample_weight=weight)
    )
    share = np.full(len(y), y.mean())
    assert brier_skill(y, share) == pytest.approx(0, abs=1e-12)
    assert brier_skill(y, y.astype(float)) == 1
    assert brier_skill(y, risk) == pytest.approx(1 - brier_score(y, risk) / brier_score(y, share))
    with pytest.raises(ValueError, match="between 0 and 1"):
        brier_score(y, risk + 1)


def lowess(x, y, at, span):
    """Cleveland's definition, row by row: the k-th nearest row gives the width."""
    k = math.ceil(span * len(x) - 1e-9)
    distance = np.abs(x - at)
    width = np.sort(distance)[k - 1]
    weight = np.clip(1 - (distance / width) ** 3, 0, None) ** 3
    design = np.column_stack((np.ones(len(x)), x - at))
    root = np.sqrt(weight)[:, None]
    return np.linalg.lstsq(design * root, y * root[:, 0], rcond=None)[0][0]


@pytest.mark.parametrize("span", [0.3, 0.75, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_calibration_index_is_the_mean_distance_from_lowess(seed, span):
    y, _, risk, _ = rows(seed, n=120)
    curve = np.array([lowess(risk, y.astype(float), one, span) for one in risk])
    expected = np.abs(curve.clip(0, 1) - risk).mean()
    assert integrated_calibration_index(y, risk, span=span) == pytest.approx(expected, abs=1e-9)


def test_the_calibration_index_of_many_risks():
    rng = np.random.default_rng(0)
    risk = rng.random(5000)
    y = rng.random(5000) < risk
    assert integrated_calibration_index(y, risk) < 0.03
    assert integrated_calibration_index(y, risk / 2) == pytest.approx(0.25, abs=0.02)


def test_a_risk_that_most_rows_have():
    y = np.arange(20) < 5
    assert integrated_calibration_index(y, np.full(20, 0.4)) == pytest.approx(0.15)
    with pytest.raises(ValueError, match="span must be above 0"):
        integrated_calibration_index(y, np.full(20, 0.4), span=0)


# --- credit scoring -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_gini_and_kolmogorov_smirnov(seed):
    y, log_odds, _, _ = rows(seed)
    assert gini(y, log_odds) == pytest.approx(2 * roc_auc_score(y, log_odds) - 1)
    assert kolmogorov_smirnov(y, log_odds) == pytest.approx(
        ks_2samp(log_odds[y], log_odds[~y]).statistic
    )


def test_the_information_value_is_an_index_of_stability_between_classes():
    for seed in range(5):
        y, log_odds, _, _ = rows(seed)
        expected = population_stability_index(log_odds[~y], log_odds[y])
        assert information_value(y, log_odds, bins=None) == pytest.approx(expected)
    assert information_value([0, 1, 0, 1], [1, 1, 2, 2]) == 0
    # A cell without positive rows counts half a row of them.
    value = information_value([0, 0, 1, 1], [0, 1, 1, 1])
    assert value == pytest.approx((1 - 0.5) * math.log(2) + (0.25 - 0.5) * math.log(0.5))
    rng = np.random.default_rng(0)
    assert information_value(rng.random(999) < 0.5, rng.random(999)) < 0.1  # ten bins


# --- rates and groups -----------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_of_rates_are_wilsons(level):
    y, log_odds, _, _ = rows()
    points = operating_points(y, log_odds)
    k = len(points) // 2
    called = log_odds >= points.thresholds[k]
    for rate, of, true in (
        ("sensitivity", y, called), ("specificity", ~y, ~called),
        ("ppv", called, y), ("npv", ~called, ~y),
    ):  # fmt: skip
        curve = reliability_curve(true[of], np.full(of.sum(), 0.5), level=level, pos_label=True)
        lower, upper = points.intervals(rate, level)
        assert getattr(points, rate)[k] == pytest.approx(curve.observed[0])
        assert (lower[k], upper[k]) == pytest.approx((curve.lower[0], curve.upper[0]))
    assert np.isnan(points.intervals("ppv")[0][0])
    with pytest.raises(ValueError, match="rate must be one of 'sensitivity'"):
        points.intervals("auc")


def test_groups_of_risk():
    y, _, risk, weight = rows()
    groups = risk_groups(y, risk, [0.2, 0.5, 0.99999], weight)
    assert len(groups) == 4
    ends = [0, 0.2, 0.5, 0.99999, 1.0]
    for group, low, high in zip(groups, ends[:-1], ends[1:], strict=True):
        own = (risk >= low) & (risk < high) & (weight > 0)
        assert (group.lower, group.upper, group.n) == (low, high, own.sum())
        if own.any():
            assert group.share == pytest.approx(weight[own].sum() / weight.sum())
            assert group.predicted == pytest.approx(np.average(risk[own], weights=weight[own]))
            curve = reliability_curve(y[own], np.full(own.sum(), 0.5), weight[own], pos_label=True)
            found = (curve.observed[0], curve.lower[0], curve.upper[0])
            assert group.observed == pytest.approx(found)
    assert math.isnan(groups[-1].observed.value)
    assert groups[-1].n == 0
    assert risk_groups([0, 1], [0.5, 1.0], [0.5])[1].n == 2  # a cut is of the group above it
    for cuts in ([0.5, 0.2], [0.0], [1.0], [0.3, 0.3]):
        with pytest.raises(ValueError, match="cuts must be above 0"):
            risk_groups(y, risk, cuts)


def test_metrics_by_group():
    y, log_odds, risk, _ = rows(n=600)
    sex = np.array(["f", "m", "m"])[np.arange(600) % 3]
    found = metrics_by_group(y, log_odds, sex, threshold=0.3, n_resamples=50)
    assert [one.group for one in found] == [None, "f", "m"]
    for one in found:
        own = np.ones(600, bool) if one.group is None else sex == one.group
        tn, fp, fn, tp = confusion_matrix(y[own], risk[own] >= 0.3).ravel()
        assert (one.n, one.n_positive) == (own.sum(), y[own].sum())
        values = [one.sensitivity, one.specificity, one.ppv, one.npv, one.called_positive]
        expected = [
            tp / (tp + fn),
            tn / (tn + fp),
            tp / (tp + fp),
            tn / (tn + fn),
            risk[own] >= 0.3,
        ]
        expected[-1] = expected[-1].mean()
        assert [value.value for value in values] == pytest.approx(expected)
        assert all(value.lower < value.value < value.upper for value in values)
        assert one.auc.value == pytest.approx(auc(y[own], log_odds[own]))
        assert one.brier == pytest.approx(brier_score_loss(y[own], risk[own]))
        assert one.predicted == pytest.approx(risk[own].mean())
        assert one.calibration_intercept == calibration_line(y[own], log_odds[own]).intercept
        record = one.record()
        assert record["sensitivity_lower"] == one.sensitivity.lower
        assert all(not isinstance(value, tuple) for value in record.values())


def test_groups_of_one_class_and_labels_that_are_refused():
    y, odds = [0, 1, 1, 1], [0.0, 1.0, -1.0, 2.0]
    _, one, two = metrics_by_group(y, odds, [1, 1, 2, 2], n_resamples=20)
    assert two.n_positive == 2
    assert math.isnan(two.auc.value)
    assert math.isnan(two.specificity.value)
    assert one.specificity.value == 0
    found = metrics_by_group(y, odds, ["a", None, "b", "b"], n_resamples=20)
    assert [one.group for one in found] == [None, "a", "b", "(missing)"]
    with pytest.raises(ValueError, match="200 distinct labels, more than 100"):
        metrics_by_group([0, 1] * 100, np.arange(200.0), np.arange(200))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        metrics_by_group(y, odds, [1, 2])
    with pytest.raises(ValueError, match="threshold must be a risk between"):
        metrics_by_group(y, odds, [1, 1, 2, 2], threshold=1.5)


@pytest.mark.parametrize("scale", [1.0, 1.32, 7.0])
def test_rows_whose_risk_is_the_threshold_are_called_positive(scale):
    score = RiskScore(-3, {"a": 1, "b": 2, "c": 3}, scale=scale)
    X = np.array(list(np.ndindex(2, 2, 2)))
    risk, log_odds = score.predict_proba(X)[:, 1], score.decision_function(X)
    y = np.arange(8) % 2
    for threshold in np.unique(risk).tolist():
        everybody = metrics_by_group(y, log_odds, ["x"] * 8, threshold=threshold, n_resamples=2)[0]
        assert everybody.called_positive.value == np.mean(risk >= threshold)


def test_calibration_lines_of_repeated_rows_are_those_of_weights():
    rng = np.random.default_rng(4)
    log_odds = rng.integers(-3, 4, 60) / 2
    y, count = rng.random(60) < 0.4, rng.integers(0, 4, 60)
    of_weights = calibration_line(y, log_odds, count)
    of_rows = calibration_line(np.repeat(y, count), np.repeat(log_odds, count))
    for one, other in zip(of_weights, of_rows, strict=True):
        assert list(one) == pytest.approx(list(other), rel=1e-9)
