"""Options on the sheet: rows by variable, points that are not negative, labels."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import run, usage_error
from riskslim import RiskScore
from riskslim.cli.layout import shown_of
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


@pytest.mark.slow
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
    average = score.average_points(pd.read_csv("patients.csv"))
    asked = ["export", "s.json", "--format", "python", "--reasons", "2"]
    found = run(*asked, "--average-of", "patients.csv").stdout
    assert found == score.to_python(reasons=2, average=average)
    assert run(*asked, "--best", "any").stdout == score.to_python(reasons=2, best="any")
    both = ["--average-of", "patients.csv", "--best", "any"]
    assert "two ways to compare points" in usage_error(*asked, *both)
    for option in (both[:2], both[2:]):
        assert "need --reasons" in usage_error(*asked[:-2], *option)
    assert "--best must be any, got 'all'" in usage_error(*asked, "--best", "all")
    message = "--reasons needs --format python or sql, got pmml"
    assert message in usage_error("export", "s.json", "--format", "pmml", "--reasons", "1")


def test_commands_have_the_score_of_the_sheet_or_say_that_it_is_another_one(files):
    run(*FIT, "--output", "fitted.json")
    turning = ["--points", "non-negative"]
    saved = run("show", "fitted.json", *turning, "--output", "turned.json").stdout
    fitted, score = RiskScore.load("fitted.json"), RiskScore.load("turned.json")
    shift = -sum(points for points in score.points.values() if points < 0)
    assert shift > 0
    predicted = {}
    for name in ("fitted", "turned"):
        run("predict", f"{name}.json", "patients.csv", "--output", f"{name}.csv")
        predicted[name] = pd.read_csv(f"{name}.csv")
    assert (predicted["turned"]["score"] == predicted["fitted"]["score"] + shift).all()
    assert (predicted["turned"]["risk"] == predicted["fitted"]["risk"]).all()
    # Threshold and scores of explanations are those of the sheet, too.
    threshold = int(predicted["turned"]["score"].max())
    asked = ["patients.csv", "--row", "0", "--threshold", threshold]
    explained = run("explain", "turned.json", *asked)
    assert f"Score {predicted['turned']['score'][0]}: " in explained.stdout
    assert re.search(rf"a score (below|of at least) {threshold}\b", explained.stdout)
    # A layout that is shown only once moves scores: it is said wherever they are seen.
    note = f"Scores here are {shift} above those that predictions and exports have"
    assert note not in saved + explained.stderr
    for command in (["show"], ["explain", *asked], ["report", "patients.csv", "-o", "r.html"]):
        name, *rest = command
        result = run(name, "fitted.json", *rest, *turning)
        assert note in " ".join((result.stdout + result.stderr).split())
    assert str(fitted.sheet(points="non-negative")) in run("show", "fitted.json", *turning).stdout


def test_fit_demo_and_classifier_have_one_default():
    from inspect import signature

    from riskslim import RiskSLIMClassifier
    from riskslim.cli.fit import demo, fit

    assert RiskSLIMClassifier().points == "fitted"
    assert {signature(one).parameters["points"].default for one in (fit, demo)} == {None}
    # What is left out changes no layout.
    assert shown_of(None, None, None).of(RiskScore(0, {"a": -1})).layout == SheetLayout()


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
