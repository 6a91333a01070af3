"""Calibration, discrimination and net benefit: hand-computed cases and the paper's figures."""

from __future__ import annotations

import csv
import functools
import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit, logit
from scipy.stats import binomtest
from sklearn.metrics import roc_curve

from riskslim import RiskScore, read
from riskslim.metrics import (
    auc,
    bootstrap_interval,
    bootstrap_intervals,
    calibration_consistency,
    calibration_error,
    decision_curve,
    log_loss,
    logistic_loss,
    maximum_calibration_error,
    operating_points,
    population_stability_index,
    reliability_curve,
)
from riskslim.metrics.rows import positive_rows

# Score 0: one of four positive, predicted 0.5; score 1: three of five positive, predicted 0.7;
# score 2: one row, positive, predicted 0.9.
SCORES = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 2])
LABELS = np.array([0, 0, 1, 0, 1, 0, 1, 1, 0, 1])
RISKS = np.array([0.5, 0.7, 0.9])[SCORES]

# Points, intercept; loss, AUC and CAL on all rows.
PRINTED = {
    "mammo": (
        {"IrregularShape": 1, "Age_geq_60": 1, "OvalShape": -1, "ObscuredMargin": -1,
         "CircumscribedMargin": -2}, 0, 0.4685542313, 0.8491, 0.0306),
    "adult": (
        {"Married": 3, "AnyCapitalGains": 2, "Age_22_to_29": -1, "HSDiploma": -2, "NoHS": -3},
        -2, 0.3850100909, 0.8605, 0.0417),
    "mushroom": (
        {"odor_eq_foul": 5, "gill_size_eq_broad": -3, "odor_eq_almond": -5, "odor_eq_anise": -5,
         "odor_eq_none": -5}, 4, 0.0686878766, 0.9898, 0.0105),
    "bank": (
        {"call_in_Q1": 1, "called_before": 1, "calls_b4_campaign_successful": 1,
         "nr_employed_lt_5100": 1, "euribor3m_geq_100": -1}, -2, 0.2891637444, 0.7596, 0.0108),
}  # fmt: skip


def test_calibration_error_by_hand():
    # 4 |0.5 - 0.25| + 5 |0.7 - 0.6| + 1 |0.9 - 1| = 1.6 of 10 rows
    assert calibration_error(LABELS, RISKS) == pytest.approx(0.16)
    assert calibration_error(LABELS, RISKS, scores=SCORES) == pytest.approx(0.16)
    assert maximum_calibration_error(LABELS, RISKS) == pytest.approx(0.25)


def test_weights_count_as_rows_do():
    weight = np.array([1, 2, 0, 1, 3, 1, 1, 2, 1, 4])
    repeated = np.repeat(np.arange(10), weight)
    for metric in (calibration_error, maximum_calibration_error, log_loss, auc):
        expected = metric(LABELS[repeated], RISKS[repeated])
        assert metric(LABELS, RISKS, weight) == pytest.approx(expected)
        assert metric(LABELS, RISKS, weight / 7) == pytest.approx(expected)
    weighted = operating_points(LABELS, SCORES, weight)
    rows = operating_points(LABELS[repeated], SCORES[repeated])
    assert rows.risk is weighted.risk is None
    for name, values in vars(rows).items():
        if values is not None:
            np.testing.assert_allclose(getattr(weighted, name), values, err_msg=name)
    curves = (
        decision_curve(LABELS, RISKS, weight).net_benefit,
        decision_curve(LABELS[repeated], RISKS[repeated]).net_benefit,
    )
    np.testing.assert_allclose(*curves)


def test_reliability_curve_by_hand():
    curve = reliability_curve(LABELS, RISKS, scores=SCORES)
    assert not curve.is_binned
    np.testing.assert_array_equal(curve.scores, [0, 1, 2])
    np.testing.assert_array_equal(curve.lowest, curve.highest)
    np.testing.assert_array_equal(curve.counts, [4, 5, 1])
    np.testing.assert_allclose(curve.predicted, [0.5, 0.7, 0.9])
    np.testing.assert_allclose(curve.observed, [0.25, 0.6, 1.0])
    first = curve.records()[0]
    assert (first["counts"], first["observed"], first["scores"]) == (4, 0.25, 0.0)


@pytest.mark.parametrize(("interval", "method"), [("wilson", "wilson"), ("exact", "exact")])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_are_those_of_scipy(interval, method, level):
    counts = [(0, 1), (0, 7), (3, 7), (7, 7), (1, 400)]
    scores = np.repeat(np.arange(len(counts)), [n for _, n in counts])
    labels = np.concatenate([np.arange(n) < k for k, n in counts])
    risk = scores / 10
    curve = reliability_curve(labels, risk, interval=interval, level=level)
    for group, (k, n) in enumerate(counts):
        expected = binomtest(k, n).proportion_ci(level, method)
        assert curve.lower[group] == pytest.approx(expected.low, abs=1e-12)
        assert curve.upper[group] == pytest.approx(expected.high, abs=1e-12)


def test_equal_weights_leave_the_interval_as_it_is():
    plain = reliability_curve(LABELS, RISKS)
    scaled = reliability_curve(LABELS, RISKS, np.full(10, 3.5))
    np.testing.assert_allclose(scaled.lower, plain.lower)
    uneven = reliability_curve(LABELS, RISKS, np.where(np.arange(10) % 2, 1.0, 9.0))
    assert (uneven.upper - uneven.lower > plain.upper - plain.lower)[1]


def test_many_scores_are_put_into_bins_of_equally_many_rows():
    scores = np.arange(310)
    labels, risk = np.arange(310) % 2, (scores + 0.5) / 310
    curve = reliability_curve(labels, risk, scores=scores)
    assert curve.is_binned
    np.testing.assert_array_equal(curve.counts, np.full(10, 31))
    np.testing.assert_allclose(curve.predicted, np.arange(10) / 10 + 0.05)
    np.testing.assert_array_equal(curve.lowest, np.arange(10) * 31)
    np.testing.assert_array_equal(curve.highest, np.arange(10) * 31 + 30)
    # The metric is the paper's unless bins are asked for: here each observed risk is 0 or 1.
    assert calibration_error(labels, risk) == pytest.approx(np.abs(risk - labels).mean())
    binned = calibration_error(labels, risk, scores=scores, bins=10)
    assert binned == pytest.approx(curve.calibration_error)
    assert binned == calibration_error(labels, risk, bins="auto")


def test_equal_scores_share_a_bin():
    scores = np.repeat([0, 1, 2], [90, 5, 5])
    curve = reliability_curve(np.arange(100) % 2, scores / 4, bins=4)
    np.testing.assert_array_equal(curve.counts, [90, 10])
    np.testing.assert_array_equal((curve.lowest, curve.highest), [[0, 0.25], [0, 0.5]])


def test_operating_points_by_hand():
    points = operating_points(LABELS, SCORES)
    np.testing.assert_array_equal(points.thresholds, [np.inf, 2, 1, 0])
    np.testing.assert_allclose(points.sensitivity, [0, 0.2, 0.8, 1])
    np.testing.assert_allclose(points.specificity, [1, 1, 0.6, 0])
    np.testing.assert_allclose(points.fpr, [0, 0, 0.4, 1])
    np.testing.assert_allclose(points.ppv, [np.nan, 1, 4 / 6, 0.5])
    np.testing.assert_allclose(points.npv, [0.5, 5 / 9, 3 / 4, np.nan])
    np.testing.assert_allclose(points.true_positives, [0, 1, 4, 5])
    np.testing.assert_allclose(points.false_negatives, [5, 4, 1, 0])
    assert points.auc == pytest.approx(auc(LABELS, SCORES)) == pytest.approx(0.74)
    assert points.records()[2]["false_positives"] == pytest.approx(2)


def test_weights_of_any_size_keep_their_digits():
    # Of the rows below the threshold 0, and of those at the score -1, hardly any weight.
    y, scores = [0, 1, 0, 1, 0], [-2, -2, -1, 0, 1]
    weight = np.array([1e-8, 3e-8, 1e-30, 1e8, 1e8])
    points = operating_points(y, scores, weight)
    np.testing.assert_allclose(points.true_negatives[3:], [1e-8, 0.0], rtol=1e-12)
    np.testing.assert_allclose(points.npv[3], 0.25, rtol=1e-12)
    curve = reliability_curve(y, [0.1, 0.1, 0.2, 0.5, 0.7], weight * 1e-75, scores)
    alone = reliability_curve([0, 1], [0.2, 0.7])
    np.testing.assert_allclose(curve.upper[1], alone.upper[0], rtol=1e-12)
    for size in (1e308, 5e-324):
        for metric in (calibration_error, auc, log_loss, decision_curve, operating_points):
            with pytest.raises(ValueError, match=r"The largest sample_weight is .*divide all"):
                metric(LABELS, RISKS, np.full(10, size))


def test_counts_of_operating_points_are_whole():
    rng = np.random.default_rng(11)
    y, scores = rng.integers(0, 2, 4003), rng.integers(0, 9, 4003)
    points = operating_points(y, scores)
    for name, rows in (("true_positives", y == 1), ("false_positives", y == 0)):
        expected = [np.count_nonzero(scores[rows] >= t) for t in points.thresholds]
        np.testing.assert_array_equal(getattr(points, name), expected)
    for name, rows in (("false_negatives", y == 1), ("true_negatives", y == 0)):
        expected = [np.count_nonzero(scores[rows] < t) for t in points.thresholds]
        np.testing.assert_array_equal(getattr(points, name), expected)
    fpr, tpr, thresholds = roc_curve(y, scores, drop_intermediate=False)
    np.testing.assert_allclose((points.fpr, points.sensitivity), (fpr, tpr), rtol=1e-15)
    np.testing.assert_array_equal(points.thresholds, thresholds)


def test_counts_are_integers_unless_rows_have_weights():
    for weight, kind in ((None, "i"), (np.ones(10), "f")):
        points = operating_points(LABELS, SCORES, weight)
        for name in ("true", "false"):
            assert getattr(points, f"{name}_positives").dtype.kind == kind
            assert getattr(points, f"{name}_negatives").dtype.kind == kind


def test_an_operating_point_is_the_best_with_a_rate():
    rng = np.random.default_rng(3)
    y, scores = rng.integers(0, 2, 300), rng.integers(-3, 4, 300)
    scores[y == 1] += 1
    for weight in (None, rng.uniform(0, 1, 300)):
        points = operating_points(y, scores, weight)
        for asked, other in (("sensitivity", "specificity"), ("specificity", "sensitivity")):
            wanted, others = getattr(points, asked), getattr(points, other)
            for rate in (0.0, 0.5, 0.9, *wanted[1:]):
                found = points.at(**{asked: rate})
                enough = (wanted >= rate - 1e-12) & np.isfinite(points.thresholds)
                assert getattr(found, other) == others[enough].max()
                assert getattr(found, asked) == wanted[enough & (others == others[enough].max())][0]
        for threshold in (-9, -1, 0.5, 2):
            found = points.at(threshold=threshold)
            called = scores >= threshold
            weights = np.ones(300) if weight is None else weight
            assert found.true_positives == pytest.approx(weights[called & (y == 1)].sum())
            assert found.true_negatives == pytest.approx(weights[~called & (y == 0)].sum())
            assert found.risk is None
    above = operating_points(y, scores).at(threshold=99)
    assert (above.threshold, above.sensitivity, above.false_positives) == (np.inf, 0, 0)
    assert str(above).startswith("No row positive: sensitivity 0.0%, specificity 100.0%, PPV -, ")


def test_of_equal_rates_the_point_has_more_of_what_was_asked_for():
    points = operating_points([0, 1, 1, 0], [0, 1, 2, 3])
    assert points.at(sensitivity=0.5).threshold == 1
    assert points.at(specificity=0.5).threshold == 1
    assert operating_points([0, 0, 1], [0, 1, 2]).at(specificity=0.5).threshold == 2


def test_a_sensitivity_that_leaves_out_nobody_says_so():
    points = operating_points([0, 1, 0, 1, 0, 1], [1, 1, 2, 3, 2, 3])
    point = points.at(sensitivity=0.9)
    assert point.threshold == 1
    assert "All rows are positive: no threshold with a sensitivity of at least 90.0%" in str(point)
    assert "a sensitivity of 66.7% with a specificity of 100.0% from a score of 3" in str(
        operating_points([0, 1, 1, 1], [1, 1, 3, 3]).at(sensitivity=0.9)
    )
    # What is asked for is had by more than that, or a threshold was asked for.
    for other in (points.at(sensitivity=0.6), points.at(threshold=1), points.at(specificity=0.1)):
        assert not other.note
    assert "Next to it" not in operating_points([0, 1], [2, 2]).at(sensitivity=1).note


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, TypeError, "exactly one of sensitivity, specificity and threshold, got none of them"),
        ({"sensitivity": 0.9, "threshold": 1}, TypeError, "got sensitivity and threshold"),
        ({"sensitivity": 90}, ValueError, "sensitivity must be between 0 and 1, got 90"),
        ({"specificity": np.nan}, ValueError, "specificity must be between 0 and 1, got nan"),
        ({"threshold": np.nan}, ValueError, "threshold must be a number, got NaN"),
        (
            {"specificity": 0.9},
            ValueError,
            r"no score has a specificity of 0\.9: the largest is 0\.5, from a score of 3 on, "
            r"with a sensitivity of 0",
        ),
    ],
)
def test_operating_points_that_there_are_not(arguments, error, message):
    with pytest.raises(error, match=message):
        operating_points([0, 1, 1, 0], [0, 1, 2, 3]).at(**arguments)


def test_operating_points_are_printed_as_a_table():
    head, first, *others = str(operating_points(LABELS, SCORES)).splitlines()
    assert " ".join(head.split()) == "Score Sensitivity Specificity PPV NPV TP FP TN FN"
    assert " ".join(first.split()) == ">= 2 20.0% 100.0% 100.0% 55.6% 1 0 5 4"
    assert len(others) == 2
    scores = np.linspace(0, 1, 500)
    *lines, note = str(operating_points(np.arange(500) % 2, scores)).splitlines()
    assert note == f"500 scores occur; the table has {len(lines) - 1} of them."
    assert 20 <= len(lines) - 1 <= 30
    assert lines[-1].split()[1] == "0"


def test_losses_agree_until_risks_cannot_say_it():
    log_odds = np.linspace(-5, 5, 10)
    risk = 1 / (1 + np.exp(-log_odds))
    weight = np.arange(1, 11)
    assert logistic_loss(LABELS, log_odds, weight) == pytest.approx(log_loss(LABELS, risk, weight))
    assert logistic_loss([0, 1], [1000, 1000]) == 500.0


def test_decision_curve_by_hand():
    curve = decision_curve(LABELS, RISKS, thresholds=[0, 0.5, 0.6, 0.95])
    # At 0.6 the scores 1 and 2: 4 true and 2 false positives of 10, a false one weighing 1.5.
    np.testing.assert_allclose(curve.net_benefit, [0.5, 0, 0.4 - 0.2 * 1.5, 0], atol=1e-15)
    np.testing.assert_allclose(curve.treat_all, [0.5, 0, 0.5 - 0.5 * 1.5, 0.5 - 0.5 * 19])


def test_bootstrap_is_seeded_stratified_and_weighted():
    seen = []

    def metric(y_true, prediction, sample_weight=None):
        seen.append((y_true.sum(), len(y_true), None if sample_weight is None else prediction))
        if sample_weight is not None:  # rows keep their weights
            np.testing.assert_array_equal(sample_weight, prediction)
        return float(prediction.mean())

    values = np.arange(1.0, 11.0)
    first = bootstrap_interval(metric, LABELS, values, values, n_resamples=50)
    assert first == bootstrap_interval(metric, LABELS, values, values, n_resamples=50)
    other = bootstrap_interval(metric, LABELS, values, n_resamples=50, random_state=1)
    assert first.value == other.value == 5.5
    assert (first.lower, first.upper) != (other.lower, other.upper)
    assert first.lower < 5.5 < first.upper
    assert {n for _, n, _ in seen} == {10}
    assert len({positives for positives, _, _ in seen}) > 1
    seen.clear()
    bootstrap_interval(metric, LABELS, values, n_resamples=50, stratified=True)
    assert {(positives, n) for positives, n, _ in seen} == {(5, 10)}


def test_bootstrap_draws_no_rows_without_weight():
    # One positive row of five has weight: a resample without it would have no AUC.
    weight = np.where(np.arange(10) == 2, 1.0, 1.0 - LABELS)
    value, lower, upper = bootstrap_interval(auc, LABELS, SCORES, weight, n_resamples=100)
    assert lower <= value <= upper


def test_bootstrap_interval_of_a_mean_is_that_of_theory():
    rng = np.random.default_rng(5)
    values = rng.normal(size=2000)
    interval = bootstrap_interval(
        lambda y, p, sample_weight: p.mean(), np.zeros(2000), values, n_resamples=2000
    )
    half = 1.96 * values.std() / np.sqrt(2000)
    assert interval.lower == pytest.approx(values.mean() - half, abs=0.1 * half)
    assert interval.upper == pytest.approx(values.mean() + half, abs=0.1 * half)


def calibrated(seed: int, n=1200):
    rng = np.random.default_rng(seed)
    risk = rng.choice([0.05, 0.1, 0.2, 0.3, 0.5, 0.7], n)
    return rng.random(n) < risk, risk


@pytest.mark.slow
def test_basic_interval_mirrors_percentiles_within_bounds():
    y, risk = calibrated(25)
    options = {"n_resamples": 200}
    with pytest.warns(UserWarning, match="method='basic' allows for that"):
        value, low, high = bootstrap_interval(
            maximum_calibration_error, y, risk, method="percentile", **options
        )
    assert value < low
    found = bootstrap_interval(maximum_calibration_error, y, risk, **options)
    assert found == (value, 0, value)  # calibrated risks show such an error by chance
    free = bootstrap_interval(
        maximum_calibration_error, y, risk, bounds=(-1, 1), method="basic", **options
    )
    assert free == (value, pytest.approx(min(2 * value - high, 0)), value)
    percentiles = bootstrap_interval(
        lambda y, p, sample_weight: maximum_calibration_error(y, p), y, risk,
        bounds=(-1, 1), method="basic", **options,
    )  # fmt: skip
    assert percentiles == (value, pytest.approx(2 * value - high), value)
    # Its percentiles are around the value: mirrored they are nearly the same.
    value, low, high = bootstrap_interval(auc, y, risk, **options)
    found = bootstrap_interval(auc, y, risk, method="basic", **options)
    assert found == (value, pytest.approx(2 * value - high), pytest.approx(2 * value - low))
    for wrong, message in (({"method": "bca"}, "'basic', got 'bca'"), ({"bounds": (1, 0)}, "got")):
        with pytest.raises(ValueError, match=message):
            bootstrap_interval(auc, y, risk, **wrong)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_intervals_of_calibration_errors_hold_their_values():
    metrics = [
        calibration_error,
        maximum_calibration_error,
        functools.partial(functools.partial(calibration_error, bins=3), pos_label=True),
    ]
    for seed in range(10):
        for metric in metrics:
            value, lower, upper = bootstrap_interval(metric, *calibrated(seed), n_resamples=60)
            assert 0 <= lower <= value <= upper <= 1


def test_calibration_consistency_by_hand():
    def errors(*arguments, **options):
        found = calibration_consistency(*arguments, n_resamples=20_000, **options)
        return found["cal"], found["mcal"]

    # Of four rows k are positive with probabilities of 1, 4, 6, 4, 1 in 16.
    cal, mcal = errors([0.5] * 4)
    assert cal == mcal == (pytest.approx(0.1875, abs=0.004), 0, 0.5)
    # A row of weight 3: the share is 0, 1/4, 3/4 or 1, all equally likely; weight 0 is no row.
    cal, _ = errors([0.5, 0.5, 0.9], [3, 1, 0])
    assert cal == (pytest.approx(0.375, abs=0.004), 0.25, 0.5)
    # Each by itself is off by its risk, or by one less it; in one bin the two are off together.
    cal, mcal = errors([0.25, 0.75], level=0.5)
    assert cal == (pytest.approx(0.375, abs=0.004), 0.25, 0.5)
    assert mcal.mean == pytest.approx(9 / 16 * 0.25 + 7 / 16 * 0.75, abs=0.006)
    cal, _ = errors([0.25, 0.75], bins=1)
    assert cal == (pytest.approx(6 / 16 * 0.5, abs=0.004), 0, 0.5)
    assert errors([0.0, 1.0]) == ((0, 0, 0), (0, 0, 0))
    # Rows of one score count with their own distances, 1/4 each where one of them is positive.
    cal, mcal = errors([0.25, 0.75], scores=[7, 7])
    assert cal == (pytest.approx(6 / 16 * 0.5 + 10 / 16 * 0.25, abs=0.004), 0.25, 0.5)


@pytest.mark.parametrize(
    ("distinct", "weighted", "bins"),  # every two of them together
    [(False, False, None), (False, True, 4), (True, False, 4), (True, True, None)],
)
def test_calibration_consistency_is_that_of_drawn_labels(distinct, weighted, bins):
    rng = np.random.default_rng(9)
    n = 150
    risk = rng.random(n) if distinct else rng.choice([0.1, 0.4, 0.8], n)
    weight = rng.integers(0, 4, n) * 1e90 if weighted else None
    found = calibration_consistency(risk, weight, bins=bins, n_resamples=4000)
    assert found == calibration_consistency(risk, weight, bins=bins, n_resamples=4000)
    for name, metric in (("cal", calibration_error), ("mcal", maximum_calibration_error)):
        values = [
            metric(rng.random(n) < risk, risk, weight, bins=bins, pos_label=True)
            for _ in range(400)
        ]
        expected = (np.mean(values), *np.quantile(values, [0.025, 0.975]))
        width = max(expected[2] - expected[1], 1e-12)
        assert found[name] == pytest.approx(expected, abs=0.17 * width)


def test_calibration_consistency_tells_calibrated_scores_from_others():
    inside, above = 0, 0
    for seed in range(200):
        y, risk = calibrated(seed, 400)
        _, lower, upper = calibration_consistency(risk, n_resamples=200, random_state=seed)["cal"]
        inside += lower <= calibration_error(y, risk) <= upper
        off = risk + 0.1  # too large by 10 percentage points
        above += calibration_error(y, off) > calibration_consistency(off, n_resamples=200)["cal"][2]
    assert 180 <= inside <= 198
    assert above >= 180


def test_share_of_positive_rows_of_calibrated_scores_by_hand():
    # Of two rows with a risk of 0.5, none, one or both are positive in 1/4, 1/2 and 1/4 of cases.
    found = calibration_consistency([0.5, 0.5], n_resamples=20_000)["observed"]
    assert found == (pytest.approx(0.5, abs=0.01), 0, 1)
    # A row with three quarters of the weight.
    found = calibration_consistency([1.0, 0.0], [3.0, 1.0], n_resamples=10)["observed"]
    assert found == (0.75, 0.75, 0.75)
    # Many rows: the normal distribution.
    found = calibration_consistency(np.full(10_000, 0.2), n_resamples=5000)["observed"]
    half = 1.96 * np.sqrt(0.2 * 0.8 / 10_000)
    assert found == pytest.approx((0.2, 0.2 - half, 0.2 + half), abs=0.05 * half)


def test_population_stability_index_by_hand():
    # Shares 1/2, 1/4, 1/4 and 1/4, 1/4, 1/2: twice 1/4 log 2.
    expected, actual = [0, 0, 1, 2], [0, 1, 2, 2]
    assert population_stability_index(expected, actual) == pytest.approx(0.5 * np.log(2))
    assert population_stability_index(actual, expected) == pytest.approx(0.5 * np.log(2))
    assert population_stability_index(expected, expected * 3) == pytest.approx(0, abs=1e-15)
    # A cell that is empty among ten rows has the share 0.5 / 10, or what is asked for.
    some, none = [0] * 8 + [1] * 2, [0] * 10
    by_hand = (1 - 0.8) * np.log(1 / 0.8) + (0.05 - 0.2) * np.log(0.05 / 0.2)
    assert population_stability_index(some, none) == pytest.approx(by_hand)
    assert population_stability_index(none, some) == pytest.approx(by_hand)
    by_hand = (1 - 0.8) * np.log(1 / 0.8) + (0.1 - 0.2) * np.log(0.1 / 0.2)
    assert population_stability_index(some, none, empty_rows=1) == pytest.approx(by_hand)


def test_population_stability_index_by_weight():
    expected, actual = [0, 0, 1, 2], [0, 1, 2, 2]
    once = population_stability_index([0, 1, 2], [0, 1, 2], [2, 1, 1], [1e90, 1e90, 2e90])
    assert once == pytest.approx(population_stability_index(expected, actual))
    # Rows without weight are none: their values are no cells, and empty cells count fewer rows.
    weight = [1.0] * 4 + [0.0]
    assert population_stability_index([*expected, 7], [*actual, 9], weight, weight) == once


def test_population_stability_index_in_bins():
    expected = np.arange(100)
    # Quarters of the expected rows start at 0, 25, 50 and 75; values beyond are in the outer ones.
    actual = [-5, 3, 10, 24.9, 25, 60, 99, 1000]
    by_hand = sum((a - 0.25) * np.log(a / 0.25) for a in (4 / 8, 1 / 8, 1 / 8, 2 / 8))
    assert population_stability_index(expected, actual, bins=4) == pytest.approx(by_hand)
    assert population_stability_index(expected, actual, bins="auto") == pytest.approx(
        population_stability_index(expected, actual, bins=10)
    )
    # Few distinct values are cells by themselves.
    for few in ("auto", None):
        assert population_stability_index([0, 1], [1, 1, 0], bins=few) == pytest.approx(
            (1 / 6) * np.log(4 / 3) - (1 / 6) * np.log(2 / 3)
        )


def test_population_stability_index_of_real_numbers():
    """Every value had been a cell: log(2) for any two samples, equal or shifted by 10."""
    rng = np.random.default_rng(0)
    expected, same = rng.normal(size=(2, 2000))
    assert population_stability_index(expected, same) < 0.02
    assert population_stability_index(expected, same + 0.5) == pytest.approx(0.25, abs=0.05)
    assert population_stability_index(expected, same + 10) > 5
    assert population_stability_index(expected, same, bins=None) == pytest.approx(np.log(2))


@pytest.mark.parametrize("bins", ["auto", None, 10])
def test_population_stability_index_of_values_that_one_sample_has(bins):
    rng = np.random.default_rng(0)
    zeros, later = np.zeros(500), rng.normal(5, 1, 500)
    for expected, actual in ((zeros, later), (zeros, -later), (later, zeros)):
        assert population_stability_index(expected, actual, bins=bins) > 5
    # Nearly all rows are equal, and what few others there are is far away.
    expected, actual = np.where(rng.random((2, 2000)) < 0.95, 0, rng.random((2, 2000)))
    moved = np.where(actual > 0, actual + 100, 0)
    if bins is not None:
        assert population_stability_index(expected, actual, bins=bins) < 0.02
        assert population_stability_index(expected, moved, bins=bins) > 0.2


def test_population_stability_index_of_text_and_missing_values():
    by_hand = 0.25 * np.log(0.75 / 0.5) - 0.25 * np.log(0.25 / 0.5)
    for none in (None, np.nan, float("nan"), pd.NA):
        for one in ("yes", 1, 1.0, True):
            expected, actual = [none, none, one, one], [none, one, one, one]
            assert population_stability_index(expected, actual) == pytest.approx(by_hand)
    text = ["a", "a", "b", "b"]
    for kind in (list, np.array, pd.Series, pl.Series, pd.Categorical):
        found = population_stability_index(kind(text), kind(["a", "b", "b", "b"]))
        assert found == pytest.approx(by_hand)
    # A level that is new, and one that is gone: half a row of eight each.
    expected, actual = ["a"] * 4 + ["b"] * 4, ["a"] * 4 + ["c"] * 4
    gone = (0.0625 - 0.5) * np.log(0.0625 / 0.5)
    assert population_stability_index(expected, actual) == pytest.approx(2 * gone)
    # Numbers that are missing in one sample, among many or alone.
    many = np.arange(100.0)
    some = np.where(many < 50, np.nan, many)
    assert population_stability_index(many, some) > 1
    assert population_stability_index(some, some[::-1]) == pytest.approx(0, abs=1e-15)
    assert population_stability_index(np.full(9, np.nan), many) > 1
    assert population_stability_index(many, np.full(9, np.nan)) > 1
    assert population_stability_index([1], [np.nan]) == pytest.approx(np.log(2))


def test_population_stability_index_by_chance():
    # As documented: about (k - 1)(1/n + 1/m) where nothing has changed.
    rng = np.random.default_rng(4)
    found = [
        population_stability_index(rng.integers(0, 8, 2000), rng.integers(0, 8, 500))
        for _ in range(300)
    ]
    assert np.mean(found) == pytest.approx(7 * (1 / 2000 + 1 / 500), rel=0.1)


def test_population_stability_index_refuses_what_metrics_refuse():
    for arguments, message in (
        (([], [1]), "0 sample.*expected is empty"),
        (([1], []), "0 sample.*actual is empty"),
        (([1], [np.inf]), "Input actual contains infinity"),
        (([1], [1j]), "actual must hold numbers or text"),
        (([1], [None, object()]), "actual must hold numbers or text"),
        (([1, 2], [1], [1.0]), r"\[2, 1\] \(expected has 2 rows, sample_weight has 1\)"),
        (([1, 2], [1], None, [0.0]), "at least one non-zero"),
        (([1, 2], [1], [-1.0, 1.0]), "Negative values"),
    ):
        with pytest.raises(ValueError, match=message):
            population_stability_index(*arguments)
    for options in ({"bins": 0}, {"empty_rows": 0}, {"empty_rows": 2}, {"empty_rows": True}):
        with pytest.raises(ValueError, match=next(iter(options))):
            population_stability_index([1], [2], **options)


def test_calibration_consistency_refuses_what_metrics_refuse():
    for arguments, message in (
        (([],), "0 sample"),
        (([0.5, 1.5],), "between 0 and 1, got .*1.5.* at row 1"),
        (([0.5, np.nan],), "Input risk contains NaN"),
        (([0.5, 0.5], [1.0]), r"\[2, 1\] \(risk has 2 rows, sample_weight has 1\)"),
        (([0.5, 0.5], [0, 0]), "at least one non-zero"),
        (([0.5, 0.5], None, [1]), r"\(risk has 2 rows, scores has 1\)"),
    ):
        with pytest.raises(ValueError, match=message):
            calibration_consistency(*arguments)
    for options in ({"n_resamples": 0}, {"level": 95}, {"bins": 0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            calibration_consistency([0.5], **options)


def drawn(n=300, seed=6):
    rng = np.random.default_rng(seed)
    z = rng.integers(-3, 4, n) / 2
    return rng.random(n) < 1 / (1 + np.exp(-2 * z)), z, rng.integers(0, 4, n) / 3


# What each is of: log-odds, or risks.
METRICS = {
    "loss": (logistic_loss, np.asarray),
    "auc": (auc, np.asarray),
    "cal": (calibration_error, expit),
    "mcal": (maximum_calibration_error, expit),
}


@pytest.mark.parametrize(("bins", "weighted"), [(None, True), (3, False), ("auto", True)])
def test_bootstrap_of_counts_is_that_of_rows(bins, weighted):
    y, z, weight = drawn()
    check_same_intervals(y, z, weight if weighted else None, bins)
    check_same_intervals(y, z + 0.5, weight if weighted else None, bins, stratified=True)
    check_same_intervals(y, z + 1.5, weight if weighted else None, bins)


def test_resamples_have_both_classes():
    y, z = np.arange(40) == 3, np.arange(40) % 4 - 2.0  # one positive row: a third lacks it
    check_same_intervals(y, z, None, None)


def test_bootstrap_of_distinct_rows_is_that_of_rows():
    rng = np.random.default_rng(7)
    z = rng.normal(size=400)  # each row is of its own kind
    check_same_intervals(rng.random(400) < expit(z), z, None, None)


def check_same_intervals(y, z, weight, bins, *, stratified=False):
    """One resampling is behind both functions: the same seed draws the same rows."""
    options = {"n_resamples": 20, "random_state": 3, "stratified": stratified}
    found = bootstrap_intervals(y, z, weight, bins=bins, **options)
    for name, (metric, of) in METRICS.items():
        if name in ("cal", "mcal"):
            metric = functools.partial(metric, bins=bins)
        expected = bootstrap_interval(metric, y, of(z), weight, **options)
        assert found[name] == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.slow
def test_bootstrap_draws_rows_with_equal_probabilities():
    """Numbers of equal rows are drawn from their distribution: that of rows drawn one by one."""
    predictions = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, 3.0]])  # of any shape
    of_rows = bootstrap_interval(
        lambda y, p, sample_weight: p[:, 1].mean(), np.zeros(4), predictions, n_resamples=20_000
    )
    of_kinds = bootstrap_interval(
        lambda y, p, sample_weight: p.mean(), np.zeros(4), predictions[:, 1], n_resamples=20_000
    )
    every = [np.mean(rows) for rows in itertools.product([1, 2, 3, 3], repeat=4)]
    expected = np.quantile(every, [0.025, 0.975])
    assert of_rows[1:] == pytest.approx(expected, abs=0.25)  # one step of the distribution
    assert of_kinds[1:] == pytest.approx(expected, abs=0.25)


def test_bootstrap_intervals_are_seeded_and_about_ratios():
    y, z, weight = drawn()
    found = bootstrap_intervals(y, z, weight, n_resamples=100)
    assert found == bootstrap_intervals(y, z, weight, n_resamples=100)
    assert found != bootstrap_intervals(y, z, weight, n_resamples=100, random_state=1)
    huge = bootstrap_intervals(y, z, weight * 1e99, n_resamples=100)
    for name, interval in found.items():
        assert huge[name] == pytest.approx(interval, rel=1e-9)
    narrow = bootstrap_intervals(y, z, weight, n_resamples=100, level=0.5)
    assert all(n.upper - n.lower < found[k].upper - found[k].lower for k, n in narrow.items())
    # Two rows: nothing else can be drawn.
    two = bootstrap_intervals([0, 1], [-800.0, 800.0], n_resamples=10)
    assert two == {"loss": (0, 0, 0), "auc": (1, 1, 1), "cal": (0, 0, 0), "mcal": (0, 0, 0)}


# Of scores -3 to 3, how common they are.
SHARES = np.array([0.25, 0.22, 0.18, 0.14, 0.1, 0.07, 0.04])


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.0, 0.7])
def test_intervals_hold_what_they_are_about(shift):
    """200 samples of 1,000 rows, of calibrated scores and of those whose log-odds are all off.

    With a coverage of 95% the share of samples has a standard error of 1.5%. Percentiles of CAL and
    MCAL, and resamples that keep the numbers of the classes, hold the truth in 60 to 85%.
    """
    scores = np.arange(-3.0, 4.0)
    true = expit(scores + shift)
    negative, positive = SHARES * (1 - true), SHARES * true
    below = np.cumsum(negative) - negative / 2
    truth = {
        "loss": positive @ np.logaddexp(0, -scores) + negative @ np.logaddexp(0, scores),
        "auc": positive @ below / (positive.sum() * negative.sum()),
        "cal": SHARES @ np.abs(true - expit(scores)),
        "mcal": np.abs(true - expit(scores)).max(),
    }
    rng = np.random.default_rng(8)
    ranges = ("chance of cal", "chance of mcal", "chance of observed")
    held = dict.fromkeys([*truth, *ranges, "reliability"], 0.0)
    for seed in range(200):
        score = rng.choice(7, 1000, p=SHARES)
        y = rng.random(1000) < true[score]
        z = scores[score]
        found = bootstrap_intervals(y, z, n_resamples=200, random_state=seed)
        for name, value in truth.items():
            held[name] += found[name].lower - 1e-12 <= value <= found[name].upper + 1e-12
        chance = calibration_consistency(expit(z), n_resamples=200, random_state=seed)
        values = {"cal": found["cal"].value, "mcal": found["mcal"].value, "observed": y.mean()}
        for name, value in values.items():
            held[f"chance of {name}"] += chance[name].lower <= value <= chance[name].upper
        curve = reliability_curve(y, expit(z), scores=z)
        is_held = (curve.lower <= expit(curve.scores + shift)) & (
            expit(curve.scores + shift) <= curve.upper
        )
        held["reliability"] += is_held.mean()
    share = {name: count / 200 for name, count in held.items()}
    assert share["loss"] > 0.92
    assert share["auc"] > 0.92
    assert share["cal"] > 0.91
    assert share["mcal"] > 0.85
    assert share["reliability"] > 0.93
    for name in ranges:
        assert share[name] > 0.92 if shift == 0 else share[name] < 0.3


@pytest.mark.slow
def test_intervals_of_calibration_errors_do_not_keep_the_classes():
    """Of 100 samples: 91 to 95 hold the CAL, and 75 to 80 where resamples keep the classes."""
    scores = np.arange(-3.0, 4.0)
    cal = SHARES @ np.abs(expit(scores + 0.7) - expit(scores))
    rng = np.random.default_rng(8)
    held = 0
    for seed in range(100):
        z = rng.choice(scores, 1000, p=SHARES)
        y = rng.random(1000) < expit(z + 0.7)
        found = bootstrap_intervals(y, z, n_resamples=100, random_state=seed)["cal"]
        held += found.lower <= cal <= found.upper
    assert held >= 87


def test_errors_that_are_chance_may_be_none():
    """An interval of calibrated scores begins at 0; one of scores that are off does not."""
    y, risk = calibrated(3)
    for metric in (calibration_error, maximum_calibration_error):
        assert bootstrap_interval(metric, y, risk, n_resamples=200).lower == 0
        assert bootstrap_interval(metric, y, risk**2, n_resamples=200).lower > 0
    for name in ("cal", "mcal"):
        assert bootstrap_intervals(y, logit(risk), n_resamples=200)[name].lower == 0
        assert bootstrap_intervals(y, logit(risk) - 1, n_resamples=200)[name].lower > 0


def test_rows_of_one_score_may_differ_in_risk():
    """Each row counts with its own distance, as the formula says."""
    y, risk, scores = [1, 0, 1, 1], [0.9, 0.1, 0.5, 0.7], [0, 0, 1, 1]
    assert calibration_error(y[:2], risk[:2], scores=scores[:2]) == pytest.approx(0.4)
    assert calibration_error(y, risk, scores=scores) == pytest.approx((0.4 * 2 + 0.5 + 0.3) / 4)
    assert maximum_calibration_error(y, risk, scores=scores) == pytest.approx(0.4)
    # Of a bin it is the mean risk that counts.
    assert calibration_error(y[:2], risk[:2], scores=scores[:2], bins=1) == 0
    # Two rows with risks of 0.9 and 0.1: 0.4 with one positive among them, else 0.5.
    found = calibration_consistency([0.9, 0.1], scores=[0, 0], n_resamples=20_000)["cal"]
    assert found.mean == pytest.approx(0.82 * 0.4 + 0.18 * 0.5, abs=0.001)
    assert (found.lower, found.upper) == (pytest.approx(0.4), pytest.approx(0.5))


def test_bootstrap_intervals_refuse_what_metrics_refuse():
    for arguments, message in (
        (([0, 0], [0, 1]), "no positive row"),
        (([0, 1], [0, np.nan]), "Input log_odds contains NaN"),
        (([0, 1], [0, 1], [1, -1]), "Negative values"),
        (([0, 1], [0, 1], [0, 1]), "no negative row"),
    ):
        with pytest.raises(ValueError, match=message):
            bootstrap_intervals(*arguments)
    for options in ({"n_resamples": 0}, {"level": 95}, {"bins": 0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            bootstrap_intervals([0, 1], [0, 1], **options)


def test_labels_of_any_kind():
    expected = calibration_error(LABELS, RISKS)
    words = np.array(["no", "yes"])[LABELS]
    assert calibration_error(words, RISKS) == calibration_error(LABELS * 2 - 1, RISKS) == expected
    assert calibration_error(LABELS == 1, RISKS) == expected
    assert calibration_error(words, 1 - RISKS, pos_label="no") == pytest.approx(expected)
    np.testing.assert_array_equal(positive_rows([0, 0]), [False, False])
    np.testing.assert_array_equal(positive_rows([-1, -1]), [False, False])
    np.testing.assert_array_equal(positive_rows(["a"], "a"), [True])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0.5]), r"inconsistent numbers of samples: \[2, 1\]"),
        (([0, 1], [0.5, np.nan]), "Input risk contains NaN"),
        (([0, 1], [0.5, 2.0]), r"between 0 and 1, got .*2\.0.* at row 1"),
        (([0, 1], [0.5, 0.5], [1, -1]), "Negative values in data passed to `sample_weight`"),
        (([0, 1], [0.5, 0.5], [0, 0]), "at least one non-zero number"),
        (([0, 1], [0.5, 0.5], None, [1, np.inf]), "Input scores contains infinity"),
        (([0, 1, 2], [0.5, 0.5, 0.5]), "multiclass"),
        (([], []), "0 sample"),
        ((["a", "a"], [0.5, 0.5]), "pos_label="),
        (([1.0, np.nan], [0.5, 0.5]), "Input y_true contains NaN"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        calibration_error(*arguments)


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match="bins must be"):
        calibration_error([0, 1], [0.5, 0.5], bins=0)
    with pytest.raises(ValueError, match="'wilson' or 'exact'"):
        reliability_curve([0, 1], [0.5, 0.5], interval="wald")
    with pytest.raises(ValueError, match="level must be"):
        reliability_curve([0, 1], [0.5, 0.5], level=95)
    with pytest.raises(ValueError, match="not a valid label"):
        calibration_error([0, 1], [0.5, 0.5], pos_label=2)
    with pytest.raises(ValueError, match="thresholds must be"):
        decision_curve([0, 1], [0.5, 0.5], thresholds=[1.0])
    with pytest.raises(ValueError, match="thresholds must hold at least one"):
        decision_curve([0, 1], [0.5, 0.5], thresholds=[])
    with pytest.raises(ValueError, match="n_resamples"):
        bootstrap_interval(auc, [0, 1], [0.5, 0.5], n_resamples=0)
    with pytest.raises(ValueError, match=r"undefined \(NaN\) on 3 of 3 resamples"):
        bootstrap_interval(lambda *_, **__: np.nan, [0, 1], [0, 1], n_resamples=3)


@pytest.mark.parametrize("metric", [auc, operating_points])
def test_one_class_has_no_roc_curve(metric):
    with pytest.raises(ValueError, match=r"Only one class is present in y_true\..*no positive row"):
        metric([0, 0], [0.5, 0.2])
    with pytest.raises(ValueError, match="no negative row"):
        metric([0, 1], [0.5, 0.2], [0.0, 1.0])


@pytest.mark.shared_data
@pytest.mark.parametrize("name", sorted(PRINTED))
def test_models_printed_in_the_paper(shared_data, name):
    points, intercept, loss, area, cal = PRINTED[name]
    path = shared_data / f"{name}_data.csv"
    with path.open(newline="") as file:
        outcome = next(csv.reader(file))[0]
    data = read(path, outcome)
    score = RiskScore(intercept, points, feature_names=data.feature_names)
    risk, scores = score.predict_proba(data)[:, 1], score.score_samples(data)
    assert logistic_loss(data.labels, score.decision_function(data)) == pytest.approx(
        loss, abs=5e-11
    )
    assert log_loss(data.labels, risk) == pytest.approx(loss, abs=5e-11)
    assert auc(data.labels, scores) == pytest.approx(area, abs=5e-5)
    assert calibration_error(data.labels, risk) == pytest.approx(cal, abs=5e-5)
    assert calibration_error(data.labels, risk, scores=scores) == pytest.approx(cal, abs=5e-5)


@pytest.mark.shared_data
def test_cal_of_real_scores_is_at_distinct_scores(shared_data):
    # Printed in the paper: a CAL of 12.3%, and a maximum of 100%, as only distinct scores give;
    # points are rounded, so that the model printed is not the last word on the digits.
    path = shared_data / "spambase_data.csv"
    with path.open(newline="") as file:
        outcome = next(csv.reader(file))[0]
    data = read(path, outcome)
    points = {"CharFreqDollarSign": 5, "WordFreqRemove": 4, "WordFreqFree": 2, "WordFreqHP": -2,
              "WordFreqGeorge": -5}  # fmt: skip
    risk = RiskScore(-1, points, feature_names=data.feature_names).predict_proba(data)[:, 1]
    assert calibration_error(data.labels, risk) == pytest.approx(0.123, abs=0.0025)
    assert maximum_calibration_error(data.labels, risk) == pytest.approx(1.0, abs=1e-3)
    assert calibration_error(data.labels, risk, bins=10) < 0.1
