"""``riskslim report`` and ``recalibrate`` on several files and folders: as on one with all rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import run, usage_error
from riskslim import RiskScore
from riskslim.items import read_items

POINTS = {"age >= 60": 2, "sex = male": 1}


@pytest.fixture
def rows(tmp_path, monkeypatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    RiskScore(-2, POINTS, outcome_name="died", items=read_items(POINTS)).save("s.json")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({
        "age": rng.integers(20, 90, 300),
        "sex": rng.choice(["male", "female"], 300),
        "site": rng.choice(["a", "b"], 300),
        "times": rng.integers(1, 3, 300),
    })  # fmt: skip
    rows["died"] = (rng.random(300) < 0.2 + 0.4 * (rows["age"] >= 60)).astype(int)
    rows.to_csv("all.csv", index=False)
    Path("parts").mkdir()
    rows[:100].to_csv("parts/a.csv", index=False)
    rows[100:].to_csv("parts/b.csv", index=False)
    rows[:100].astype({"age": float}).to_parquet("a.parquet")
    rows[100:].to_parquet("b.parquet")
    return rows


SOURCES = [["parts"], ["parts/a.csv", "parts/b.csv"], ["a.parquet", "b.parquet"]]


@pytest.mark.parametrize("sources", SOURCES)
def test_risks_are_fitted_to_all_rows(rows, sources):
    options = ["--outcome", "died", "--weights", "times", "--with-scale"]
    run("recalibrate", "s.json", "all.csv", *options, "--output", "one.json")
    run("recalibrate", "s.json", *sources, *options, "--output", "several.json")
    one, several = (RiskScore.load(name).recalibration for name in ("one.json", "several.json"))
    assert several.intercept == pytest.approx(one.intercept, rel=1e-12)
    assert (several.prevalence, several.n_samples) == (one.prevalence, 300)


@pytest.mark.usefixtures("no_diagrams")
def test_figures_of_a_report_are_of_all_rows(rows):
    pytest.importorskip("matplotlib")
    options = ["--resamples", 0, "--group", "site", "--weights", "times"]
    figures = []
    for data in (["all.csv"], *SOURCES):
        tests = [text for one in data for text in ("--test", one)]
        run("report", "s.json", *data, *tests, *options, "--output", "report.html",
            "--metrics-output", "figures.csv")  # fmt: skip
        figures.append(Path("figures.csv").read_text())
        assert figures[-1] == figures[0], data


def test_files_that_do_not_fit_together_or_into_memory_are_refused(rows):
    rows[:9].astype({"died": str}).assign(died="yes").to_parquet("text.parquet")
    common = ("recalibrate", "s.json", "b.parquet")
    assert "Column 'died' has the type" in usage_error(*common, "text.parquet")
    assert "given twice" in usage_error(*common, "b.parquet")
    found = usage_error(*common, "a.parquet", "--memory-limit", "10kB")
    assert "recalibrate needs all rows in memory: with b.parquet they would take" in found
    assert "--memory-limit" in found
    rows[:9].drop(columns="died").to_parquet("unlabelled.parquet")
    assert "unlabelled.parquet has no column 'died'" in usage_error(*common, "unlabelled.parquet")


def test_remarks_name_the_file(rows):
    rows.assign(age=200.0)[:3].to_csv("parts/c.csv", index=False)
    score = RiskScore.load("s.json")
    assert score.remarks(score.with_items(rows)) == ()
    assert "parts/c.csv" not in run("predict", "s.json", "all.csv").stderr
