"""Options on the sheet: rows by variable, points that are not negative, labels."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import run, usage_error
from riskslim import RiskScore
from riskslim.score.layout import SheetLayout

LABELS = """\
smoker = "Smoker"

[age]
text = "Age"
unit = "years"
"""


@pytest.fixture
def files(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    age, smoker = rng.integers(20, 95, 300), rng.integers(0, 2, 300)
    odds = np.exp(2 - 2 * (age >= 60) - 1.5 * smoker)
    died = np.where(rng.random(300) < 1 / (1 + odds), "no", "yes")
    frame = pd.DataFrame({"age": age, "smoker": smoker, "died": died})
    frame.to_csv("patients.csv", index=False)
    Path("labels.toml").write_text(LABELS, encoding="utf-8")
    return tmp_path


FIT = ["fit", "patients.csv", "--outcome", "died", "--items", "--thresholds", "age=60", "--quiet"]


def test_fit_and_show_lay_out_the_sheet(files):
    shown = ["--points", "non-negative", "--by", "variable", "--labels", "labels.toml"]
    result = run(*FIT, *shown, "--output", "s.json")
    score = RiskScore.load("s.json")
    assert score.layout == SheetLayout("variable", "non-negative")
    assert re.search(r"\| 1\. Age \(years\) +\| < 60 +\| \d \|", result.stdout)
    assert "Smoker" in result.stdout
    assert score.certificate is not None
    run(*FIT, "--output", "plain.json")
    plain = RiskScore.load("plain.json")
    assert plain.layout == SheetLayout()
    assert dict(plain.points) == dict(score.points)
    assert min(plain.points.values()) < 0
    # Laid out later, the score is the same.
    result = run("show", "plain.json", *shown, "--output", "later.json")
    assert result.stdout.startswith(f"{score}\n")
    assert RiskScore.load("later.json") == score
    assert run("show", "plain.json", "--by", "variable").stdout.startswith(
        f"{plain.sheet(by='variable')}\n"
    )
    # What is given goes before what the file says.
    assert run("show", "later.json", "--by", "item", "--points", "fitted").stdout.startswith(
        str(score.sheet(by="item", points="fitted"))
    )
    run("report", "plain.json", "patients.csv", *shown, "--output", "page.html", "--resamples", "0")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Age (years)" in page
    assert 'id="variable-0"' in page


def test_options_that_are_refused(files):
    assert "--by must be item or variable, got 'row'" in usage_error(*FIT, "--by", "row")
    message = "--points must be fitted or non-negative, got 'none'"
    assert message in usage_error(*FIT, "--points", "none")
    Path("labels.toml").write_text('agee = "Age"', encoding="utf-8")
    # Before the search, as all that is known by then.
    error = usage_error(*FIT, "--labels", "labels.toml", "--output", "s.json")
    assert "labels name what the score does not have: 'agee' (did you mean 'age'?)" in error
    assert not Path("s.json").exists()
    for text, message in (
        ("age = 3", "labels.toml: labels['age']: the text of a label must be a str, got 3"),
        ("[age]\nunits = 'y'", "labels.toml: labels['age']: "),
        ("age = ", "labels.toml cannot be read as TOML"),
    ):
        Path("labels.toml").write_text(text, encoding="utf-8")
        assert message in usage_error(*FIT, "--labels", "labels.toml")
    error = usage_error(*FIT, "--labels", "labels.toml", "--output", "labels.toml")
    assert "labels" in error


def test_export_with_reasons(files):
    run(*FIT, "--output", "s.json")
    score = RiskScore.load("s.json")
    found = run("export", "s.json", "--format", "python", "--reasons", "2").stdout
    assert found == score.to_python(reasons=2)
    found = run("export", "s.json", "--format", "sql", "--table", "p", "--reasons", "1").stdout
    assert found == score.to_sql(table="p", reasons=1) + "\n"
    message = "--reasons needs --format python or sql, got pmml"
    assert message in usage_error("export", "s.json", "--format", "pmml", "--reasons", "1")


def test_predictions_and_programs_say_that_scores_are_those_of_the_fitted_points(files):
    run(*FIT, "--output", "fitted.json")
    run("show", "fitted.json", "--points", "non-negative", "--output", "turned.json")
    score = RiskScore.load("turned.json")
    shift = -sum(points for points in score.points.values() if points < 0)
    note = f"Scores are those of the fitted points, {shift} below those of the sheet."
    said = run("predict", "turned.json", "patients.csv", "--output", "turned.csv").stderr
    assert shift > 0
    assert said.count("Scores are") == said.count(note) == 1
    assert "Scores are" not in run("predict", "fitted.json", "patients.csv").stderr
    exported = (score.to_sql(table="t"), score.to_python(), score.to_javascript(), score.to_pmml())
    assert [text.count(note.removesuffix(".")) for text in exported] == [1] * 4
    assert "Scores are" not in RiskScore.load("fitted.json").to_python()


@pytest.mark.parametrize("ending", [".csv", ".JSON", ".parquet"])
def test_a_report_is_no_file_of_figures(files, ending):
    run(*FIT, "--output", "s.json")
    page = f"page{ending}"
    for options in (
        ["report", "s.json", "patients.csv", "--output", page],
        [*FIT, "--report", page],
    ):
        message = usage_error(*options)
        assert f"{options[-2]} is a page of HTML and cannot end in {ending}" in message
        assert "riskslim report --metrics-output" in message
    assert not Path(page).exists()
