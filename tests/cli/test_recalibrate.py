"""``riskslim recalibrate``: the three ways to new risks, what does not go together, exit codes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from command_line import run, usage_error
from riskslim import RiskScore


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A score of raw columns, and rows that it was not fitted to."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    age, smoker = rng.integers(20, 90, 400), rng.choice(["yes", "no"], 400)
    risk = 1 / (1 + np.exp(5 - 0.06 * age - (smoker == "yes")))
    died = np.where(rng.random(400) < risk, "yes", "no")
    rows = pd.DataFrame({"age": age, "smoker": smoker, "died": died})
    rows["times"] = rng.integers(0, 3, 400)
    rows[:250].drop(columns="times").to_csv("first.csv", index=False)
    rows[250:].to_csv("later.csv", index=False)
    rows[250:].rename(columns={"died": "dead"}).to_csv("renamed.csv", index=False)
    run("fit", "first.csv", "--outcome", "died", "--items", "--max-size", 3, "--output", "s.json")
    return rows[250:], RiskScore.load("s.json")


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (["later.csv"], {"labels": True}),
        (["renamed.csv", "--outcome", "dead"], {"labels": True}),
        (["later.csv", "--with-scale"], {"labels": True, "with_scale": True}),
        (["later.csv", "--weights", "times"], {"labels": True, "weighted": True}),
        (["later.csv", "--prevalence", "0.05"], {"rows": True, "prevalence": 0.05}),
        (["--prevalence", "0.05"], {"prevalence": 0.05}),
        (
            ["--prevalence", "0.05", "--from-prevalence", "0.5"],
            {"prevalence": 0.05, "from_prevalence": 0.5},
        ),
    ],
)
def test_the_score_is_that_of_the_library(files, options, arguments):
    later, score = files
    rows = []
    if arguments.pop("labels", False):
        rows = [later, later["died"]]
    elif arguments.pop("rows", False):
        rows = [later]
    weights = {"sample_weight": later["times"]} if arguments.pop("weighted", False) else {}
    expected = score.recalibrated(*rows, **weights, **arguments)
    result = run("recalibrate", "s.json", *options, "--output", "new.json")
    saved = RiskScore.load("new.json")
    assert saved.recalibration == expected.recalibration
    assert saved.points == score.points
    assert result.stdout == f"{expected}\n"
    assert "Recalibrated to " in run("show", "new.json").stdout
    risks = run("predict", "new.json", "later.csv").stdout.splitlines()[1]
    assert float(risks.split(",")[1]) == expected.predict_proba(later)[0, 1]


def test_nothing_is_written_without_output(files, tmp_path):
    before = sorted(tmp_path.iterdir())
    run("recalibrate", "s.json", "later.csv")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "recalibrate needs DATA with a column of the outcome, or --prevalence"),
        (["--with-scale"], "recalibrate needs DATA"),
        (["later.csv", "--from-prevalence", "0.1"], "--from-prevalence needs --prevalence"),
        (
            ["later.csv", "--prevalence", "0.1", "--from-prevalence", "0.1"],
            "--from-prevalence needs --prevalence without DATA",
        ),
        (
            ["later.csv", "--prevalence", "0.1", "--outcome", "died"],
            "--outcome and --prevalence cannot both be given",
        ),
        (["later.csv", "--prevalence", "0.1", "--with-scale"], "--with-scale needs DATA with"),
        (["--prevalence", "0.1", "--weights", "times"], "--weights needs DATA"),
        (["--prevalence", "1.5"], "prevalence must be between 0 and 1, both excluded, got 1.5"),
        (["later.csv", "--outcome", "die"], "no column 'die' (did you mean 'died'?)"),
        (["later.csv", "--weights", "time"], "no column 'time' (did you mean 'times'?)"),
        (["renamed.csv"], "renamed.csv has no column 'died'"),
        (["missing.csv"], "missing.csv"),
        (["later.csv", "--output", "later.csv"], "would replace the data"),
        (["later.csv", "--output", "s.json"], "would replace the risk score"),
        (["later.csv", "--output", "none/new.json"], "there is no folder none"),
        (["later.csv", "--unknown-levels", "no"], "--unknown-levels must be error or ignore"),
    ],
)
def test_errors_name_options(options, message):
    assert message in usage_error("recalibrate", "s.json", *options)


def test_rows_of_one_class_are_refused(files):
    later, _ = files
    later[later["died"] == "no"].to_csv("no.csv", index=False)
    assert "all " in usage_error("recalibrate", "s.json", "no.csv")
    later.drop(columns="age").to_csv("no.csv", index=False)
    assert "lacks columns that the risk score needs: 'age'" in usage_error(
        "recalibrate", "s.json", "no.csv"
    )


def test_wrong_numbers_are_wrong_usage(files):
    result = run("recalibrate", "s.json", "--prevalence", "few", code=2)
    assert "expected a number, got 'few'" in result.stderr


def test_show_says_how_far_cutoffs_can_be_moved(files):
    _, score = files
    assert score.cutoff_ranges
    remark = next(one for one in score.remarks() if "within 0.1%" in one)
    shown = run("show", "s.json")
    of_fit = [f"At the fit: {one}" for one in score.fit_remarks]
    assert shown.stderr == "".join(f"Remark: {one}\n" for one in (*of_fit, remark))
    assert shown.stdout.startswith(f"{score}\n")
