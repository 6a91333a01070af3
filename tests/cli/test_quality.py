"""The last lines of a fit: figures on which rows, and a command that works."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pandas as pd
import pytest

from command_line import run
from riskslim import RiskScore
from riskslim.metrics import auc, calibration_error

FIT = ("--outcome", "died", "--items", "--max-size", "2", "--quiet")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    random = np.random.default_rng(5)
    age, weight = random.integers(20, 90, 300), random.integers(1, 4, 300)
    died = np.where(random.random(300) < 0.1 + 0.6 * (age > 60), "yes", "no")
    path = tmp_path_factory.mktemp("quality") / "patients.csv"
    columns = {"age": age, "lab": random.integers(0, 9, 300), "weight": weight, "died": died}
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("weights", [(), ("--weights", "weight")])
def test_figures_are_those_of_the_training_rows(table, tmp_path, weights):
    output = tmp_path / "score.json"
    text = run("fit", table, *FIT, *weights, "--output", output).stdout
    found = re.search(r"On the training rows, .*: AUC ([0-9.]+), CAL ([0-9.]+)%; --cv 5", text)
    score, frame = RiskScore.load(output), pd.read_csv(table)
    given = frame["weight"] if weights else None
    positive, log_odds = frame["died"] == "yes", score.decision_function(frame)
    assert float(found[1]) == pytest.approx(auc(positive, log_odds, given), abs=6e-4)
    risk = score.predict_proba(frame)[:, 1]
    error = calibration_error(positive, risk, given, log_odds)
    assert float(found[2]) == pytest.approx(100 * error, abs=0.06)


@pytest.mark.slow
def test_the_report_of_the_last_line_is_made(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = run("fit", table, *FIT, "--weights", "weight", "--output", "score.json").stdout
    (command,) = re.findall(r"^Report: riskslim (.*)$", text, re.M)
    run(*shlex.split(command))
    assert (tmp_path / "score.html").stat().st_size > 10_000


def test_rows_that_are_merged_or_many_are_sampled(table, monkeypatch):
    monkeypatch.setattr("riskslim.cli.quality._MANY_ROWS", 10)
    monkeypatch.setattr("riskslim.cli.quality.SAMPLED_ROWS", 200)
    assert "On a sample of the training rows" in run("fit", table, *FIT).stdout


def test_new_rows_are_those_of_the_folds(table):
    text = run("fit", table, *FIT, "--cv", 2).stdout
    assert "the cross-validation above is about new rows" in text
    assert "Report:" not in text  # no file has the score


def test_figures_that_fail_leave_the_score(table, monkeypatch):
    def no_memory(*_, **__):
        raise MemoryError

    monkeypatch.setattr("riskslim.report.rows.judged_rows", no_memory)
    text = run("fit", table, *FIT).stdout
    assert text.startswith("RISK SCORE: ")
    assert "AUC" not in text
