"""Statistics in the report and as a CSV file."""

from __future__ import annotations

import csv
import math
import re

import html5lib
import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from command_line import run, usage_error
from riskslim import ItemEncoder, RiskScore, RiskSLIMClassifier
from riskslim.metrics import (
    brier_score,
    calibration_consistency,
    calibration_line,
    gini,
    information_value,
    metrics_by_group,
    operating_points,
    population_stability_index,
    risk_groups,
)
from riskslim.report import render
from riskslim.report.grouped import grouped_rows
from riskslim.report.page import page_of
from riskslim.report.records import RECORD, records
from riskslim.report.rows import judged_rows
from riskslim.report.rule import shares_of_rows
from riskslim.score.operating_point import shown_threshold

pytestmark = pytest.mark.usefixtures("no_diagrams")

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
    assert {row["data"] for row in found} == {"", "given data", "test data"}
    assert {row["column"] for row in found if row["part"] == "group"} == {"sex"}
    assert {row["column"] for row in found if row["part"] != "group"} == {""}
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
    more = [*fit, "--metrics-output", files / "m.csv"]
    assert "--threshold needs --group" in usage_error(*more, "--threshold", 0.5)
    message = usage_error(*more, "--group", "sexx")
    assert "has no column 'sexx' (did you mean 'sex'?) (--group)" in message
    for wrong in (["--group", "sexx"], ["--group", "sex", "--threshold", 1.5]):
        usage_error(*more, *wrong)
        assert not (files / "r.html").exists()  # nothing is written before all is checked


def _numbers(text):
    return {float(found) for found in text if found != "" and math.isfinite(float(found))}


def _lacking(page, records):
    """Figures of the tables of a report, with their intervals, that the records do not have."""
    tables = "".join(re.findall(r'<table class="(?:numbers|words).*?</table>', page, re.S))
    shown = sorted(_numbers(re.findall(r'data-(?:value|lower|upper)="([^"]*)"', tables)))
    assert len(shown) > 50
    texts = (str(row[name]) for row in records for name in ("value", "lower", "upper"))
    known = np.array(sorted(_numbers(texts)))
    above = np.clip(np.searchsorted(known, shown), 1, len(known) - 1)
    return [
        one
        for one, *others in zip(shown, known[above], known[above - 1], strict=True)
        if not any(math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) for other in others)
    ]


def _raw_score():
    """A score on raw columns with missing and special values, and rows of another kind."""
    rng = np.random.default_rng(6)
    table = pd.DataFrame(
        {
            "age": np.where(rng.random(400) < 0.1, -9, rng.integers(20, 90, 400)),
            "lab": np.where(rng.random(400) < 0.2, np.nan, rng.normal(size=400)),
            "ward": rng.choice(["A", "B"], 400),
        }
    )
    died = rng.random(400) < 0.2 + 0.4 * (table["age"] > 60)
    items = ItemEncoder(
        thresholds={"age": [40, 60], "lab": 2}, missing="indicator", special_values={"age": [-9]}
    )
    model = RiskSLIMClassifier(max_size=3, items=items, max_coef=3, scale=1.0)
    score = model.fit(table, died).risk_score_
    return score.with_labels({"age": {"levels": {"-9": "not known"}}}), table, died


@pytest.mark.parametrize(("weighted", "recalibrated"), [(True, False), (False, True)])
def test_the_file_has_every_figure_of_the_tables(weighted, recalibrated):
    score, X, y = _raw_score()
    rng = np.random.default_rng(7)
    weight = rng.integers(0, 4, len(y)) if weighted else None
    if recalibrated:
        score = score.recalibrated(X, y, weight, with_scale=True)
    score = score.with_layout(points="non-negative")
    chosen = rng.permutation(len(y))[:150]
    test = (X.iloc[chosen], y[chosen], None if weight is None else weight[chosen])
    rows = judged_rows(score, (X, y, weight), test, n_resamples=20)
    groups = grouped_rows(score, rows, ["ward", "age"], 0.3)
    page = page_of(score, rows, groups=groups)
    found = records(score, rows, groups)
    assert _lacking(page, found) == []
    assert all(set(one) == set(RECORD) for one in found)
    # Without one part of it, something is lacking: the check sees each of them.
    for part in ("metric", "threshold", "risk group", "item", "group"):
        assert _lacking(page, [one for one in found if one["part"] != part]), part


def test_figures_of_drift_and_chance():
    X, y = rows()
    other, y_other = rows(200, seed=4)
    judged = judged_rows(SCORE, (X, y, None), (other, y_other, None), n_resamples=20)
    found = {
        (one["data"], one["part"], one["name"], one["statistic"]): one
        for one in records(SCORE, judged)
    }
    for name in SCORE.points:
        psi = population_stability_index(X[name], other[name])
        assert found["test data", "item", name, "psi"]["value"] == pytest.approx(psi)
        assert found["test data", "item", name, "psi_by_chance"]["value"] > 0
    assert found["test data", "score", "", "psi"]["value"] >= 0
    assert ("given data", "score", "", "psi") not in found
    chance = calibration_consistency(
        SCORE.predict_proba(X)[:, 1], scores=SCORE.decision_function(X), n_resamples=20
    )
    for name in ("cal", "mcal", "observed"):
        one = found["given data", "metric", "", f"{name}_by_chance"]
        assert [one["value"], one["lower"], one["upper"]] == pytest.approx(list(chance[name]))
    risk = SCORE.predict_proba({"age >= 40": 1, "age >= 60": 0, "smoker": 1})[0, 1]
    assert found["given data", "threshold", 2.0, "risk"]["value"] == pytest.approx(risk)
    called = np.mean(SCORE.score_samples(X) >= 2)
    assert found["given data", "threshold", 2.0, "called_positive"]["value"] == called
    assert found["given data", "score", "2", "risk"]["value"] == pytest.approx(risk)


@pytest.mark.slow
def test_groups_of_several_columns_in_report_and_file(files):
    for name in ("a", "b"):
        table = pd.read_csv(files / f"{name}.csv")
        table["site"] = np.arange(len(table)) % 2
        table.to_csv(files / f"{name}.csv", index=False)
    run(
        "report", files / "s.json", files / "a.csv", "--test", files / "b.csv", "--output",
        files / "r.html", "--metrics-output", files / "m.csv", "--group", "sex", "--group", "site",
        "--group", "sex", "--resamples", 20,
    )  # fmt: skip
    page = (files / "r.html").read_text(encoding="utf-8")
    for column in ("sex", "site"):
        for data in ("given data", "test data"):
            assert page.count(f"<caption>By {column}, {data}</caption>") == 1
        assert f'<th scope="col">{column}</th>' in page
    assert '<h2 id="groups">Groups</h2>' in page
    assert "Rows with a risk of at least 50% are called positive." in page
    with (files / "m.csv").open(newline="") as file:
        found = [row for row in csv.DictReader(file) if row["part"] == "group"]
    assert {(row["column"], row["name"]) for row in found} == {
        ("sex", "all rows"), ("sex", "f"), ("sex", "m"),
        ("site", "all rows"), ("site", "0"), ("site", "1"),
    }  # fmt: skip
    # In the report alone.
    run(
        "report", files / "s.json", files / "a.csv", "--output", files / "r.html", "--group",
        "sex", "--resamples", 0,
    )  # fmt: skip
    assert "<caption>By sex, given data</caption>" in (files / "r.html").read_text("utf-8")


def test_groups_that_cannot_be():
    X, y = rows()
    X["sex"] = ["m", "f"] * (len(y) // 2)
    X["number"] = np.arange(len(y))

    def grouped(groups, X=X, weight=None, threshold=0.5):
        judged = judged_rows(SCORE, (X, y, weight), n_resamples=0)
        return grouped_rows(SCORE, judged, groups, threshold)

    for groups, error, message in (
        (
            ["sexx"],
            ValueError,
            r"the given data have no column 'sexx' \(did you mean 'sex'\?\) for",
        ),
        (["number"], ValueError, "'number' of the given data: groups has 300 distinct"),
        ("sex", TypeError, "groups must be a sequence of names"),
        (None, TypeError, "groups must be a sequence of names of columns, got None"),
    ):
        with pytest.raises(error, match=message):
            grouped(groups)
    with pytest.raises(ValueError, match="threshold must be a risk between 0 and 1"):
        grouped(["sex"], threshold=0)
    with pytest.raises(ValueError, match="group_threshold must be a number, got 'half'"):
        grouped(["sex"], threshold="half")
    with pytest.raises(ValueError, match="no column 'sex' for groups: columns need names"):
        grouped(["sex"], X[[*SCORE.points]].to_numpy())
    # Rows of weight 0 are in no group.
    (found,) = grouped(["sex"], weight=np.where(X["sex"] == "m", 0, 1))
    assert [one.group for one in found.found] == [None, "f"]


def test_groups_are_called_as_the_threshold_of_the_score_calls_them():
    score, X, y = _raw_score()
    weights = np.linspace(0.5, 2.0, len(y))
    for weight in (None, weights):
        ruled = score.with_operating_point(X, y, weight, sensitivity=0.8)
        called = np.asarray(ruled.decision_function(X) >= 0)
        judged = judged_rows(ruled, (X, y, weight), n_resamples=0)
        (grouped,) = grouped_rows(ruled, judged, ["ward"])
        assert grouped.called.startswith("Score of ")
        each = np.ones(len(y)) if weight is None else weight
        for one in grouped.found:
            group = np.full(len(y), True) if one.group is None else X["ward"] == one.group
            for name, died in (("sensitivity", True), ("specificity", False)):
                own = group & (y == died)
                share = np.average(called[own] == died, weights=each[own])
                assert getattr(one, name).value == pytest.approx(share)
        found = {row["statistic"]: row for row in records(ruled, judged) if row["part"] == "rule"}
        expected = shares_of_rows(ruled, judged[0])
        assert found["sensitivity"]["value"] == expected.sensitivity
        assert found["sensitivity"]["lower"] < expected.sensitivity < found["sensitivity"]["upper"]
        assert found["true_negatives"]["value"] == expected.true_negatives
        assert found["threshold"]["value"] == shown_threshold(ruled)
    # A risk that is asked for decides all the same.
    (grouped,) = grouped_rows(ruled, judged, ["ward"], 0.25)
    assert grouped.called == "Rows with a risk of at least 25% are called positive."
    assert not [row for row in records(score, judged) if row["part"] == "rule"]


def test_special_values_have_columns_and_labels():
    score, X, y = _raw_score()
    page = render(score, X, y, n_resamples=0, groups=["ward"], group_threshold=0.25)
    assert "Rows with a risk of at least 25% are called positive." in page
    (table,) = re.findall(r"<caption>Raw columns</caption>.*?</table>", page, re.S)
    n = (X["age"] == -9).sum()
    assert '<th scope="col">Special values</th>' in table
    assert ">-9 (not known)</td>" in table
    assert f">-9 (not known): {n} ({n / len(X):.1%})</td>" in table


def test_without_resamples_there_are_no_intervals_of_groups(files):
    run(
        "report", files / "s.json", files / "a.csv", "--output", files / "r.html",
        "--metrics-output", files / "m.csv", "--group", "sex", "--resamples", 0,
    )  # fmt: skip
    with (files / "m.csv").open(newline="") as file:
        areas = [row for row in csv.DictReader(file) if row["statistic"] == "auc"]
    assert {row["part"] for row in areas} == {"metric", "group"}
    assert all(row["value"] and not row["lower"] and not row["upper"] for row in areas)


def test_names_of_groups_and_special_values_are_no_markup():
    score, X, y = _raw_score()
    hostile = '<b>a|_%\n\u2265"</td>'
    score = score.with_labels({"age": {"levels": {"-9": hostile}}})
    X[hostile] = np.where(np.arange(len(X)) % 2, hostile, "b")
    page = render(score, X, y, n_resamples=0, groups=[hostile])
    html5lib.HTMLParser(strict=True).parse(page)
    assert "<b>" not in page
    shown = "&lt;b&gt;a|_% \u2265&#34;&lt;/td&gt;"
    assert f">-9 ({shown})</td>" in page
    assert f'<th scope="row">{shown}</th>' in page
    assert f"<caption>By {shown}, training data</caption>" in page


def test_figures_of_chance_and_weights_by_hand():
    (X, y), (other, y_other) = rows(), rows(200, seed=4)
    weight = np.linspace(1.0, 3.0, len(y))
    judged = judged_rows(SCORE, (X, y, weight), (other, y_other, None), n_resamples=0)
    found = {
        (one["data"], one["part"], one["name"], one["statistic"]): one["value"]
        for one in records(SCORE, judged)
    }
    ends = [found["given data", "rows", "", f"weight_{end}"] for end in ("minimum", "maximum")]
    assert ends == [1.0, 3.0]
    # The index of equal distributions is about chi-square over the number of rows, with a degree of
    # freedom less than there are values: an item has two.
    spread = (weight**2).sum() / weight.sum() ** 2 + 1 / len(other)
    for name, n_values in (*((name, 2) for name in SCORE.points), ("", 5)):
        part = "item" if name else "score"
        chance = found["test data", part, name, "psi_by_chance"]
        assert chance == pytest.approx(chi2.isf(0.05, n_values - 1) * spread)
