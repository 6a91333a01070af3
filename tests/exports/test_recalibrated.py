"""Exports, sheets and explanations of recalibrated scores have the new risks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from export_targets import Pmml, run_javascript, run_python
from riskslim import RiskScore
from riskslim.data.feature_ranges import FeatureRange

SCORE = RiskScore(
    -3, {"smoker": 2, "age >= 60": 1}, outcome_name="died", classes=("no", "yes"), prevalence=0.2
)


def rows(seed=0, n=4000, intercept=-4.3, scale=1.3):
    rng = np.random.default_rng(seed)
    X = {"smoker": rng.integers(0, 2, n), "age >= 60": rng.integers(0, 2, n)}
    risk = expit((intercept + SCORE.score_samples(X)) / scale)
    return X, np.where(rng.random(n) < risk, "yes", "no")


def test_everything_that_shows_risks_shows_the_new_ones(javascript):
    X, y = rows()
    for found in (
        SCORE.recalibrated(prevalence=0.05),
        SCORE.recalibrated(X, y, with_scale=True),
        RiskScore(-3, {"smoker": 2}, feature_ranges={"smoker": FeatureRange(0, 5000)},
                  classes=("no", "yes"), scale=40.0).recalibrated(prevalence=0.3,
                                                                  from_prevalence=0.1),
    ):  # fmt: skip
        check_forms(found, javascript)


def check_forms(found, javascript):
    recalibration, total = found.recalibration, sum(found.points.values())
    record = dict.fromkeys(found.points, 1)
    risk = expit((recalibration.intercept + total) / recalibration.scale)
    assert found.predict_proba(record)[0, 1] == pytest.approx(risk, rel=1e-12)
    assert found.score_samples(record) == total
    assert found.predict(record) == ["yes" if risk > 0.5 else "no"]
    assert run_python(found)(record) == pytest.approx((risk, total), rel=1e-12)
    ((of_javascript, _),) = run_javascript(javascript, found, [record])
    assert of_javascript == pytest.approx(risk, rel=1e-12)
    assert Pmml(found.to_pmml()).predict(record)["risk"] == pytest.approx(risk, rel=1e-12)
    for export in (found.to_python(), found.to_javascript(), found.to_sql(table="t"),
                   found.to_pmml()):  # fmt: skip
        assert "Recalibrated to" in export
    assert found.explain(record).risk == pytest.approx(risk, rel=1e-12)
    printed = f"{risk:.1%}"
    sheet = found.sheet()
    if all(known.is_binary for known in found.feature_ranges.values()):
        assert printed in [row.risk for row in found.risk_table()]
        for text in (str(sheet), sheet.to_markdown(), sheet.to_html(), sheet.to_latex()):
            assert printed.replace("%", r"\%") in text or printed in text
    # The printed formula is that of the new risks.
    formula = sheet.formula.split(" = ", 1)[1].replace("exp", "np.exp")
    assert eval(formula, {"np": np, "score": total}) == pytest.approx(risk, rel=1e-4)
    assert "the points are as they were." in str(sheet)


def test_sql_has_the_new_risks(sqlite):
    X, y = rows()
    found = SCORE.recalibrated(X, y, with_scale=True)
    sqlite.execute('CREATE TABLE people ("smoker", "age >= 60")')
    sqlite.execute("INSERT INTO people VALUES (1, 1), (7, 0)")
    query = found.to_sql("sqlite", table="people")
    risks = [row[-1] for row in sqlite.execute(query)]
    records = {"smoker": [1, 7], "age >= 60": [1, 0]}
    assert risks == pytest.approx(found.predict_proba(records)[:, 1].tolist(), rel=1e-12)
