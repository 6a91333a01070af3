"""``riskslim validate``: columns and labels of another place, and the commands that come next."""

from __future__ import annotations

import csv
import shlex

import numpy as np
import pandas as pd
import pytest

from programs import program
from riskslim import ItemEncoder, RiskScore, RiskSLIMClassifier
from riskslim.items import read_items


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A score on ``age`` and ``died``, and rows of another hospital with AGE and dead."""
    path = tmp_path_factory.mktemp("validate")
    points = {"age >= 60": 3, "smoker": 1}
    score = RiskScore(
        -3, points, outcome_name="died", classes=("no", "yes"), items=read_items(points)
    )
    score.save(path / "score.json")
    random = np.random.default_rng(0)
    age, smoker = random.integers(30, 90, 400), random.integers(0, 2, 400)
    log_odds = -4.0 + 3 * (age >= 60) + smoker
    dead = (random.random(400) < 1 / (1 + np.exp(-log_odds))).astype(int)
    with (path / "other.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["AGE", "smoker", "dead"])
        writer.writerows(zip(age.tolist(), smoker.tolist(), dead.tolist(), strict=True))
    return path


OTHER = ("--outcome", "dead", "--positive", "1", "--rename", "age=AGE")


def test_columns_and_labels_of_another_place(folder):
    done = program("validate", "score.json", "other.csv", *OTHER, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Validation of the risk of died: 400 rows" in done.stdout
    assert "Recalibration of intercept is advised" in done.stdout
    same = program(
        "validate", "score.json", "other.csv", "--rename", "died=dead", "--positive", "1",
        "--rename", "age=AGE", cwd=folder,
    )  # fmt: skip
    assert same.stdout.split("    riskslim")[0] == done.stdout.split("    riskslim")[0]


def test_the_commands_that_come_next_work(folder):
    done = program(
        "validate", "score.json", "other.csv", *OTHER, "--metrics-output", "m.csv", cwd=folder
    )
    commands = [line.split("riskslim ", 1)[1] for line in done.stdout.splitlines()
                if line.startswith("    riskslim")]  # fmt: skip
    assert [command.split()[0] for command in commands] == ["report", "recalibrate"]
    for command in commands:
        after = program(*shlex.split(command), cwd=folder)
        assert after.returncode == 0, after.stderr
    assert (folder / "score_validation.html").stat().st_size > 10_000
    again = program("validate", "score_recalibrated.json", "other.csv", *OTHER, cwd=folder)
    assert "no recalibration is needed" in again.stdout
    with (folder / "m.csv").open() as file:
        figures = {(row["part"], row["name"]): row["value"] for row in csv.DictReader(file)}
    assert figures["rows", "n_samples"] == "400"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--outcome", "dead"], "'age' (did you mean 'AGE'?) to compute 'age >= 60'"),
        (["--outcome", "dead"], "--rename NAME=COLUMN"),
        (["--outcome", "dead", "--rename", "age=AGE"], "'dead' has the labels"),
        (["--outcome", "dead", "--rename", "age=AGE"], "state by --positive"),
        ([*OTHER[:4], "--rename", "age=years"], "no column 'years'"),
        ([*OTHER[:4], "--rename", "smoker=AGE"], "has a column 'smoker' already"),
        ([*OTHER[:4], "--rename", "age"], "--rename must be NAME=COLUMN"),
        (
            ["--rename", "age=AGE"],
            "(--outcome). Its 3 columns are 'age', 'smoker', 'dead'.",
        ),
        (["--outcome", "dead", "--positive", "2", "--rename", "age=AGE"], "--positive '2' is not"),
        ([*OTHER, "--thresholds", "0.1;0.2"], "--thresholds must be risks between 0 and 1"),
    ],
)
def test_what_cannot_be_used_is_said(folder, options, message):
    done = program("validate", "score.json", "other.csv", *options, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert not done.stdout


def test_other_commands_know_columns_by_other_names(folder):
    done = program(
        "predict", "score.json", "other.csv", "--rename", "age=AGE", "--id", "AGE", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("AGE,score,risk\n")
    explained = program(
        "explain", "score.json", "other.csv", "--rename", "age=AGE", "--row", "0", cwd=folder
    )
    assert "the risk of died" in explained.stdout


def test_files_that_have_the_names_are_taken_as_they_are(folder):
    lines = (folder / "other.csv").read_text().splitlines()
    here = ["age,smoker,dead", *lines[1:200]]
    (folder / "here.csv").write_text("\n".join(here) + "\n")
    done = program(
        "report", "score.json", "here.csv", "--test", "other.csv", *OTHER, "--output", "both.html",
        "--resamples", 0, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "test data" in (folder / "both.html").read_text()


def test_a_variable_that_is_missing_here_is_remarked(folder):
    random = np.random.default_rng(1)
    X = {"lab": random.normal(size=300), "age": random.integers(20, 90, 300)}
    y = random.random(300) < 1 / (1 + np.exp(-X["lab"] - X["age"] / 20 + 3))
    X["lab"][:30] = np.nan
    encoder = ItemEncoder(missing="indicator", thresholds={"lab": [0.0], "age": [60]})
    fitted = RiskSLIMClassifier(max_size=2, items=encoder).fit(pd.DataFrame(X), y)
    fitted.risk_score_.save(folder / "lab.json")
    rows = ["lab,age,outcome", *(f",{a},{b}" for a, b in zip(X["age"], y, strict=True))]
    (folder / "empty.csv").write_text("\n".join(rows) + "\n")
    done = program("validate", "lab.json", "empty.csv", "--positive", "True", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "'lab' is missing in 100% of these rows, in training it was in 10%" in done.stderr


def test_names_that_change_places_and_typing_errors(folder):
    lines = (folder / "other.csv").read_text().splitlines()
    (folder / "turned.csv").write_text("\n".join(["smoker,age,died", *lines[1:]]) + "\n")
    given = ["--positive", "1", "--rename", "age=smoker"]
    turned = program(
        "validate", "score.json", "turned.csv", *given, "--rename", "smoker=age", cwd=folder
    )
    straight = program("validate", "score.json", "other.csv", *OTHER, cwd=folder)
    assert turned.stdout.split("    riskslim")[0] == straight.stdout.split("    riskslim")[0]
    wrong = program("predict", "score.json", "turned.csv", "--rename", "age=AGEE", cwd=folder)
    assert wrong.returncode == 2
    assert "no column 'AGEE'" in wrong.stderr


def test_labels_that_are_real_numbers(folder):
    text = (folder / "other.csv").read_text().replace(",1\n", ",1.0\n").replace(",0\n", ",0.0\n")
    (folder / "real.csv").write_text(text)
    done = program("validate", "score.json", "real.csv", *OTHER, cwd=folder)
    assert done.returncode == 0, done.stderr


def test_options_take_the_name_in_the_score_and_in_the_files(folder):
    rename = ["--rename", "age=AGE", "--rename", "died=dead"]
    ids = {}
    for name in ("age", "AGE"):
        done = program("predict", "score.json", "other.csv", *rename, "--id", name, cwd=folder)
        assert done.returncode == 0, done.stderr
        head, _, ids[name] = done.stdout.partition("\n")
        assert head == f"{name},score,risk"
        row = ["--row", ids[name].split(",")[0]]
        explained = program(
            "explain", "score.json", "other.csv", *rename, "--id", name, *row, cwd=folder
        )
        assert f"{name} = {row[1]}" in explained.stdout
    assert ids["age"] == ids["AGE"]
    found = [
        program(
            command,
            "score.json",
            "other.csv",
            *rename,
            "--positive",
            "1",
            "--outcome",
            name,
            cwd=folder,
        )
        for command in ("validate", "recalibrate")
        for name in ("died", "dead")
    ]
    assert all(done.returncode == 0 for done in found), [done.stderr for done in found]
    assert found[0].stdout.split("    riskslim")[0] == found[1].stdout.split("    riskslim")[0]
    assert found[2].stdout == found[3].stdout
    pages = [
        program(
            "report", "score.json", "other.csv", *rename, "--positive", "1", "--output", "r.html",
            "--metrics-output", "m.csv", "--group", "smoker", "--group", name, cwd=folder,
        )
        for name in ("age", "AGE")
    ]  # fmt: skip
    assert all(done.returncode == 0 for done in pages), [done.stderr for done in pages]
    # Both names of two columns: nobody can say which one is meant.
    turned = ["--rename", "age=smoker", "--rename", "smoker=AGE", "--outcome", "dead"]
    both = program(
        "predict", "score.json", "other.csv", *turned[:4], "--id", "smoker", cwd=folder
    )  # fmt: skip
    assert both.returncode == 2
    assert "--id smoker: by --rename this is a column of the files, 'age' in the score" in (
        both.stderr
    )
