"""Masked arrays: metrics leave rows out that are masked, everything else takes them as missing."""

from __future__ import annotations

import numpy as np
import pytest

from riskslim import ItemEncoder, RiskScore, RiskSLIMClassifier, cross_validate_risk_score
from riskslim import metrics as m
from riskslim.model_selection import stratified_folds

RNG = np.random.default_rng(0)
LOG_ODDS = RNG.normal(size=300).round(1)
RISK = 1 / (1 + np.exp(-LOG_ODDS))
Y = (RNG.random(300) < RISK).astype(int)
WEIGHT = RNG.random(300) + 0.1
MASKED = RNG.random(300) < 0.3
X = (RNG.random((300, 3)) < 0.5).astype(int)

METRICS = {
    "auc": lambda y, p, z, w: m.auc(y, p, w),
    "gini": lambda y, p, z, w: m.gini(y, p, w),
    "kolmogorov_smirnov": lambda y, p, z, w: m.kolmogorov_smirnov(y, p, w),
    "information_value": lambda y, p, z, w: m.information_value(y, p, w),
    "log_loss": lambda y, p, z, w: m.log_loss(y, p, w),
    "logistic_loss": lambda y, p, z, w: m.logistic_loss(y, z, w),
    "calibration_error": lambda y, p, z, w: m.calibration_error(y, p, w, z),
    "maximum_calibration_error": lambda y, p, z, w: m.maximum_calibration_error(y, p, w),
    "brier_score": lambda y, p, z, w: m.brier_score(y, p, w),
    "brier_skill": lambda y, p, z, w: m.brier_skill(y, p, w),
    "calibration_line": lambda y, p, z, w: m.calibration_line(y, z, w),
    "integrated_calibration_index": lambda y, p, z, w: m.integrated_calibration_index(y, p, w),
    "reliability_curve": lambda y, p, z, w: m.reliability_curve(y, p, w).records(),
    "decision_curve": lambda y, p, z, w: m.decision_curve(y, p, sample_weight=w).records(),
    "operating_points": lambda y, p, z, w: m.operating_points(y, p, w).records(),
    "risk_groups": lambda y, p, z, w: m.risk_groups(y, p, [0.3], w),
    "bootstrap_interval": lambda y, p, z, w: m.bootstrap_interval(m.auc, y, p, w, n_resamples=9),
    "bootstrap_intervals": lambda y, p, z, w: m.bootstrap_intervals(y, z, w, n_resamples=9),
    "calibration_consistency": lambda y, p, z, w: m.calibration_consistency(
        p, w, z, n_resamples=9
    ),
}  # fmt: skip


def masked(values, wrong):
    return np.ma.masked_array(np.where(MASKED, wrong, values), MASKED)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("which", range(4))
def test_metrics_leave_out_masked_rows(name, which):
    """What was behind a mask had counted: an AUC of 0.377 in place of 0.781."""
    rows = [Y, RISK, LOG_ODDS, WEIGHT]
    given = list(rows)
    given[which] = masked(rows[which], (1 - Y, 1 - RISK, -LOG_ODDS, 50.0)[which])
    if which == 1:
        given[2] = masked(LOG_ODDS, -LOG_ODDS)
    found = METRICS[name](*given)
    uses_z = name in ("logistic_loss", "calibration_line", "bootstrap_intervals")
    if which == 0 and name == "calibration_consistency":
        return
    if which == 2 and not uses_z and name not in ("calibration_error", "calibration_consistency"):
        return
    assert repr(found) == repr(METRICS[name](*(one[~MASKED] for one in rows)))


def test_masks_without_masked_values_change_nothing():
    assert m.auc(Y, np.ma.masked_array(RISK)) == m.auc(Y, RISK)
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        m.auc(Y, np.ma.masked_all(300))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        m.auc(Y[1:], masked(RISK, 0))
    with pytest.raises(ValueError, match="Input thresholds contains NaN"):
        m.decision_curve(Y, RISK, thresholds=np.ma.masked_array([0.1, 0.2], [True, False]))


def test_masked_values_are_a_cell_of_the_stability_index():
    assert m.population_stability_index(masked(RISK, 9.0), masked(RISK, 5.0)) == 0
    expected = m.population_stability_index(np.where(MASKED, np.nan, RISK), RISK)
    assert m.population_stability_index(masked(RISK, 9.0), RISK) == expected > 1


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda y, w: RiskSLIMClassifier().fit(X, y), "Input y contains NaN: "),
        (lambda y, w: RiskSLIMClassifier().fit(X, Y, w), "sample_weight must hold non-negative"),
        (
            lambda y, w: cross_validate_risk_score(RiskSLIMClassifier(), X, y, cv=2),
            "Input y_true contains NaN: ",
        ),
        (
            lambda y, w: cross_validate_risk_score(RiskSLIMClassifier(), X, Y, w, cv=2),
            "sample_weight must hold non-negative",
        ),
        (lambda y, w: stratified_folds(y, 2), "Input y_true contains NaN: "),
        (lambda y, w: ItemEncoder().fit(X, None, w), "Input sample_weight contains NaN"),
    ],
)
def test_fits_take_masked_labels_and_weights_as_missing(what, message):
    with pytest.raises(ValueError, match=message):
        what(masked(Y, 0), masked(WEIGHT, 50.0))


def test_predictions_take_masked_values_as_missing():
    """Of nested rows, masks had been dropped."""
    score = RiskScore(-1, {"a": 1, "b": 1}, feature_names=["a", "b", "c"])
    names = [(name, int) for name in "abc"]
    table = np.ma.masked_array([tuple(row) for row in X], dtype=names)
    table["a"][3] = np.ma.masked
    rows = [np.ma.masked_array(row, [i == 3, 0, 0]) for i, row in enumerate(X)]
    for given in (np.ma.stack(rows), rows, table):
        with pytest.raises(ValueError, match=r"'a' \(1 of 300 rows, first at row 3\)"):
            score.predict_proba(given)
    for record in ({"a": np.ma.masked, "b": 1}, table[3], [table[3]]):
        with pytest.raises(ValueError, match=r"missing values .* 'a'"):
            score.predict_proba(record)
    np.testing.assert_array_equal(score.score_samples(rows[:3]), score.score_samples(X[:3]))
