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


@pytest.mark.slow
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


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.usefixtures("no_diagrams")
def test_a_part_without_rows_is_no_part(rows, suffix):
    pytest.importorskip("matplotlib")
    Path("empty").mkdir()
    if suffix == "csv":
        rows[:0].to_csv("parts/aa.csv", index=False)
        rows[:0].to_csv("empty/a.csv", index=False)
        source = "parts"
    else:
        for path in ("empty/a.parquet", "parts/aa.parquet"):
            rows[:0].to_parquet(path)
        Path("parts/a.csv").unlink()
        Path("parts/b.csv").unlink()
        for name in ("a", "b"):
            Path(f"{name}.parquet").rename(f"parts/{name}.parquet")
        source = "parts"
    common = ("--outcome", "died", "--weights", "times")
    figures = ("--resamples", 0, "--output", "r.html", "--metrics-output")
    for data, name in (("all.csv", "one"), (source, "several")):
        run("predict", "s.json", data, "--id", "site", "--output", f"{name}.csv")
        run("recalibrate", "s.json", data, *common, "--output", f"{name}.json")
        run("explain", "s.json", data, "--average-of", data, "--id", "site", "--output",
            f"{name}.explained.csv")  # fmt: skip
        run("report", "s.json", data, *common, *figures, f"{name}.figures.csv")
    for ending in ("csv", "explained.csv", "figures.csv"):
        assert Path(f"one.{ending}").read_text() == Path(f"several.{ending}").read_text()
    one, several = (RiskScore.load(f"{name}.json").recalibration for name in ("one", "several"))
    assert several.intercept == pytest.approx(one.intercept, rel=1e-12)
    # Nothing but such files.
    assert run("predict", "s.json", "empty").stdout == "score,risk\n"
    run("explain", "s.json", "empty", "--output", "none.csv")
    assert Path("none.csv").read_text().count("\n") == 1
    for command in ("recalibrate", "report"):
        last = () if command == "recalibrate" else ("--output", "r.html")
        found = usage_error(command, "s.json", "empty", "--outcome", "died", *last)
        assert f"empty: no rows, of which {command} needs some" in found


def test_what_is_wrong_with_rows_names_the_file(rows):
    rows.astype({"age": object}).assign(age="<80")[:3].to_csv("parts/aa.csv", index=False)
    for command in ("predict", "recalibrate", "explain"):
        assert "Error: parts/aa.csv: " in usage_error(command, "s.json", "parts")
