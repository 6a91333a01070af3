"""Statistics in the report and as a CSV file."""

from __future__ import annotations

import csv
import math
import re

import numpy as np
import pandas as pd
import pytest

from command_line import run, usage_error
from riskslim import RiskScore
from riskslim.metrics import (
    brier_score,
    calibration_line,
    gini,
    information_value,
    metrics_by_group,
    operating_points,
    risk_groups,
)

SCORE = RiskScore(
    -3,
    {"age >= 40": 1, "age >= 60": 2, "smoker": 1},
    outcome_name="died",
    classes=("no", "yes"),
    feature_names=("age >= 40", "age >= 60", "smoker"),
)


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 90, n)
    X = pd.DataFrame({"age >= 40": age >= 40, "age >= 60": age >= 60}).astype(int)
    X["smoker"] = rng.integers(0, 2, n)
    risk = SCORE.predict_proba(X)[:, 1]
    return X, np.where(rng.random(n) < risk, "yes", "no")


def test_the_report_has_the_statistics(tmp_path):
    X, y = rows()
    SCORE.report(tmp_path / "r.html", X, y, n_resamples=20)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    for caption in ("Further statistics", "Groups of risk", "Information value"):
        assert f"<caption>{caption}</caption>" in page
    died, log_odds = y == "yes", SCORE.decision_function(X)
    line = calibration_line(died, log_odds)
    shown = f"{line.slope.value:.3f}"
    (cell,) = re.findall(r"Calibration slope</th>\s*<td[^>]*>(.*?)</td>", page, re.S)
    assert cell.startswith(shown)
    assert f"{line.slope.lower:.3f} to {line.slope.upper:.3f}" in cell
    (cell,) = re.findall(r"Brier score</th>\s*<td[^>]*>(.*?)</td>", page, re.S)[:1]
    assert cell.strip() == f"{brier_score(died, SCORE.predict_proba(X)[:, 1]):.3f}"
    # Items of a variable are taken together.
    assert '<th scope="row">age</th>' in page.replace(' data-value=""', "")
    lower, upper = operating_points(died, log_odds).intervals("sensitivity")
    assert f"{lower[2]:.1%} to {upper[2]:.1%}" in page


def test_a_score_without_points_has_groups_of_nothing(tmp_path):
    X, y = rows()
    empty = RiskScore(-1, {}, outcome_name="died", classes=("no", "yes"))
    empty.report(tmp_path / "r.html", X, y, n_resamples=0)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Further statistics" in page
    assert "Groups of risk" not in page
    assert "<caption>Information value" not in page


@pytest.fixture
def files(tmp_path):
    for name, seed in (("a", 0), ("b", 1)):
        X, y = rows(seed=seed)
        X.assign(died=y, sex=np.where(np.arange(len(y)) % 3, "m", "f")).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    SCORE.save(tmp_path / "s.json")
    return tmp_path


def test_all_statistics_are_written_to_a_file(files):
    run(
        "report", files / "s.json", files / "a.csv", "--test", files / "b.csv", "--output",
        files / "r.html", "--metrics-output", files / "m.csv", "--group", "sex", "--threshold",
        0.3, "--resamples", 20,
    )  # fmt: skip
    with (files / "m.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    assert {row["data"] for row in found} == {"given data", "test data"}
    values = {
        (row["part"], row["name"], row["statistic"]): row
        for row in found
        if row["data"] == "test data"
    }
    X, y = rows(seed=1)
    died, log_odds = y == "yes", SCORE.decision_function(X)
    line = calibration_line(died, log_odds)

    def numbers(*key):
        row = values[key]
        return [float(row[name] or "nan") for name in ("value", "lower", "upper")]

    assert numbers("metric", "", "calibration_intercept") == pytest.approx(list(line.intercept))
    assert numbers("metric", "", "gini")[0] == pytest.approx(gini(died, log_odds))
    assert math.isnan(numbers("metric", "", "gini")[1])
    points = operating_points(died, SCORE.score_samples(X))
    lower, upper = points.intervals("ppv")
    k = points.thresholds.tolist().index(2)
    assert numbers("threshold", "2.0", "ppv") == pytest.approx([points.ppv[k], lower[k], upper[k]])
    ages = X["age >= 40"] + 2 * X["age >= 60"]
    assert numbers("variable", "age", "iv")[0] == pytest.approx(information_value(died, ages))
    sex = np.where(np.arange(len(y)) % 3, "m", "f")
    _, women, _ = metrics_by_group(died, log_odds, sex, threshold=0.3, n_resamples=20)
    assert numbers("group", "f", "npv") == pytest.approx(list(women.npv))
    assert numbers("group", "f", "auc") == pytest.approx(list(women.auc))
    # Cut points are those of the given rows.
    cuts = sorted({float(name) for part, name, _ in values if part == "risk group"} - {0.0})
    groups = risk_groups(died, SCORE.predict_proba(X)[:, 1], cuts)
    assert numbers("risk group", str(cuts[0]), "observed") == pytest.approx(
        list(groups[1].observed)
    )


def test_options_that_do_not_go_together(files):
    fit = ["report", files / "s.json", files / "a.csv", "--output", files / "r.html"]
    assert "--group needs --metrics-output" in usage_error(*fit, "--group", "sex")
    more = [*fit, "--metrics-output", files / "m.csv"]
    assert "--threshold needs --group" in usage_error(*more, "--threshold", 0.5)
    message = usage_error(*more, "--group", "sexx")
    assert "has no column 'sexx' (did you mean 'sex'?) (--group)" in message
    for wrong in (["--group", "sexx"], ["--group", "sex", "--threshold", 1.5]):
        usage_error(*more, *wrong)
        assert not (files / "r.html").exists()  # nothing is written before all is checked


def test_without_resamples_there_are_no_intervals_of_groups(files):
    run(
        "report", files / "s.json", files / "a.csv", "--output", files / "r.html",
        "--metrics-output", files / "m.csv", "--group", "sex", "--resamples", 0,
    )  # fmt: skip
    with (files / "m.csv").open(newline="") as file:
        areas = [row for row in csv.DictReader(file) if row["statistic"] == "auc"]
    assert {row["part"] for row in areas} == {"metric", "group"}
    assert all(row["value"] and not row["lower"] and not row["upper"] for row in areas)
