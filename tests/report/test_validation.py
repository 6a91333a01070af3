"""External validation: figures are those of the metrics, advice follows the intervals."""

from __future__ import annotations

import numpy as np
import pytest

from riskslim import RiskScore
from riskslim.metrics import auc, calibration_line, decision_curve, logistic_loss

SCORE = RiskScore(-3, {"x": 2, "z": 1}, outcome_name="stroke", classes=("no", "yes"))


def drawn(shift: float, slope: float = 1.0, n: int = 2000):
    random = np.random.default_rng(3)
    X = {"x": random.integers(0, 2, n), "z": random.integers(0, 4, n)}
    log_odds = shift + slope * SCORE.decision_function(X)
    y = np.where(random.random(n) < 1 / (1 + np.exp(-log_odds)), "yes", "no")
    return X, y


def test_figures_are_those_of_the_metrics():
    X, y = drawn(0.5)
    weights = np.random.default_rng(4).integers(0, 3, len(y)).astype(float)
    found = SCORE.validate(X, y, weights, thresholds=[0.1, 0.4], n_resamples=50)
    positive, log_odds = y == "yes", SCORE.decision_function(X)
    risk = SCORE.predict_proba(X)[:, 1]
    assert found.n_samples == np.count_nonzero(weights)
    assert found.n_positive == np.count_nonzero(positive & (weights > 0))
    assert found.metrics["auc"] == pytest.approx(auc(positive, log_odds, weights), abs=1e-14)
    loss = logistic_loss(positive, log_odds, weights)
    assert found.metrics["loss"] == pytest.approx(loss, abs=1e-14)
    observed = np.average(positive, weights=weights)
    assert found.metrics["observed"] == pytest.approx(observed, abs=1e-14)
    assert set(found.intervals) >= {"auc", "loss", "cal", "observed"}
    line = calibration_line(positive, log_odds, weights)
    np.testing.assert_allclose(found.line, line, rtol=1e-12)
    curve = decision_curve(positive, risk, weights, thresholds=[0.1, 0.4])
    np.testing.assert_allclose(found.curve.net_benefit, curve.net_benefit, atol=1e-14)
    records = {(one["part"], one["name"]): one for one in found.records()}
    assert records["metric", "auc"]["value"] == found.metrics["auc"]
    assert records["decision", "treat_all from 0.4"]["value"] == found.curve.treat_all[1]


@pytest.mark.parametrize(
    ("shift", "slope", "advised"),
    [(0.0, 1.0, None), (0.9, 1.0, "intercept"), (0.0, 0.3, "intercept and slope")],
)
def test_advice_follows_the_intervals(shift, slope, advised):
    X, y = drawn(shift, slope)
    found = SCORE.validate(X, y, n_resamples=0)
    assert found.advised == advised
    assert not found.intervals
    if advised is None:
        assert found.advice() in str(found)
        return
    again = SCORE.recalibrated(X, y, with_scale=advised != "intercept")
    loss = logistic_loss(y == "yes", again.decision_function(X))
    assert found.recalibrated[advised]["loss"] == pytest.approx(loss, abs=1e-12)
    assert loss < found.metrics["loss"]
    assert f"Recalibration of {advised} is advised" in str(found)
    assert again.validate(X, y, n_resamples=0).advised is None


def test_no_slope_is_advised_from_few_events():
    X, y = drawn(-1.0, 0.1, n=60)
    y[np.flatnonzero(y == "yes")[10:]] = "no"
    found = SCORE.validate(X, y, n_resamples=0)
    assert list(found.recalibrated) == ["intercept"]
    assert found.advised in (None, "intercept")


def test_thresholds_out_of_range_and_one_class_are_refused():
    X, y = drawn(0.0)
    with pytest.raises(ValueError, match="thresholds must be at least 0 and below 1"):
        SCORE.validate(X, y, thresholds=[1.5], n_resamples=0)
    with pytest.raises(ValueError, match="class"):
        SCORE.validate(X, np.full(len(y), "no"), n_resamples=0)


def test_a_score_that_ranks_the_wrong_way_has_its_figures():
    X, y = drawn(0.0)
    turned = np.where(y == "yes", "no", "yes")
    found = SCORE.validate(X, turned, n_resamples=0)
    assert found.metrics["auc"] < 0.5
    assert found.line.slope.value < 0
    assert found.advised is None
    assert "A higher score does not go with a higher risk" in str(found)
