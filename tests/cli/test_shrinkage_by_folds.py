"""``riskslim fit --shrinkage cv``: the choice of the prior's strength on the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from command_line import run, usage_error
from riskslim import (
    ItemEncoder,
    RiskScore,
    RiskSLIMClassifier,
    RiskSLIMClassifierCV,
    shrinkage_path,
)
from riskslim.datasets import load_breast_cancer_binary
from riskslim.model_selection import SHRINKAGES

DATA = load_breast_cancer_binary()
N = 60
X = pd.DataFrame(DATA.integer_columns[:N, [0, 1, 4, 6]], columns=list("abcd"))
Y = (DATA.labels[:N] > 0).astype(int)
FIT = ("--outcome", "died", "--scale", "1,2", "--quiet")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "patients.csv"
    X.assign(died=Y).to_csv(path, index=False)
    return path


def test_the_score_is_that_of_the_classifier(table, tmp_path):
    result = run("fit", table, *FIT, "--max-size", 2, "--shrinkage", "cv", "--output",
                 tmp_path / "s.json")  # fmt: skip
    model = RiskSLIMClassifierCV(max_size=2, scale=[1, 2]).fit(X, Y)
    path = model.shrinkage_path_
    score = RiskScore.load(tmp_path / "s.json")
    assert score.points == model.risk_score_.points
    assert score.certificate == model.certificate_
    assert score.requirements == model.risk_score_.requirements
    assert result.stdout.startswith(f"{path.table()}\n{path.explain()}\n\nRISK SCORE")
    assert "5 of 5 folds" in result.stdout


def test_sizes_strengths_rules_and_files(table, tmp_path):
    sizes, folds, page = tmp_path / "p.json", tmp_path / "cv.csv", tmp_path / "r.html"
    result = run("fit", table, *FIT, "--max-size", 2, "--path", "--cv", 3, "--shrinkage", "cv",
                 "--rule", "one_standard_error", "--metric", "auc", "--path-output", sizes,
                 "--cv-output", folds, "--report", page, "--checkpoint", tmp_path / "kept",
                 "--output", tmp_path / "s.json")  # fmt: skip
    path = shrinkage_path(RiskSLIMClassifier(max_size=2, scale=[1, 2]), X, Y, cv=3)
    rule = ("one_standard_error", "auc")
    assert path.explain(*rule) in result.stdout
    assert RiskScore.load(tmp_path / "s.json").points == path.best(*rule)[1].risk_score.points
    records = json.loads(sizes.read_text())
    assert [(one["shrinkage"], one["max_size"]) for one in records] == [
        (s, k) for s in SHRINKAGES for k in (1, 2)
    ]
    found = [one["test_loss_mean"] for one in records]
    assert found == pytest.approx([one["test_loss_mean"] for one in path.records()])
    tested = pd.read_csv(folds)
    assert tested.columns[0] == "shrinkage"
    assert len(tested) == len(records) * (1 + 2 * 3)
    text = page.read_text(encoding="utf-8")
    assert "Mean test loss by shrinkage and largest size" in text
    assert "Mean test loss over the folds against the strength of the prior" in text
    again = run("fit", table, *FIT, "--max-size", 2, "--path", "--cv", 3, "--shrinkage", "cv",
                "--checkpoint", tmp_path / "kept")  # fmt: skip
    assert path.explain() in again.stdout


def test_supervised_cut_offs_are_chosen_in_each_fold(tmp_path):
    rng = np.random.default_rng(0)
    raw = pd.DataFrame({"age": rng.integers(20, 90, 120)})
    died = (raw["age"] + rng.normal(0, 15, 120) > 60).astype(int)
    raw.assign(died=died).to_csv(tmp_path / "raw.csv", index=False)
    result = run("fit", tmp_path / "raw.csv", *FIT, "--max-size", 2, "--cv", 2, "--items",
                 "--thresholds", "supervised", "--n-thresholds", 3, "--shrinkage",
                 "cv")  # fmt: skip
    encoder = ItemEncoder(thresholds="supervised", n_thresholds=3, handle_unknown="ignore")
    plain = RiskSLIMClassifier(max_size=2, scale=[1, 2], items=encoder)
    path = shrinkage_path(plain, raw, died, sizes=[2], cv=2)
    assert path.explain() in result.stdout


def test_an_end_before_any_strength_is_tested_keeps_the_first_score(table, tmp_path, monkeypatch):
    from riskslim.model_selection import size_path

    solve, calls = size_path.solve, []

    def interrupted_in_a_fold(problem, **arguments):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return solve(problem, **arguments)

    monkeypatch.setattr(size_path, "solve", interrupted_in_a_fold)
    result = run("fit", table, *FIT, "--max-size", 2, "--shrinkage", "cv", "--report",
                 tmp_path / "r.html", "--output", tmp_path / "s.json", code=130)  # fmt: skip
    assert "Shrinkage 0, as none is finished on all folds." in result.stdout
    assert RiskScore.load(tmp_path / "s.json").certificate.is_optimal
    assert "Shrinkage and model size" not in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_what_cannot_be_met_and_what_is_refused(table, tmp_path):
    toml = tmp_path / "c.toml"
    toml.write_text('[[at_least]]\nn = 3\nfeatures = ["a", "b", "c"]\n')
    result = run("fit", table, *FIT, "--max-size", 2, "--shrinkage", "cv", "--constraints", toml,
                 code=3)  # fmt: skip
    assert result.stderr.startswith("No risk score meets the requirements")
    fit = ("fit", table, *FIT, "--shrinkage", "cv")
    assert "leave out --l2-penalty" in usage_error(*fit, "--l2-penalty", 0.1)
    assert "list the scores of one search" in usage_error(*fit, "--n-solutions", 3)
    assert "--rule must be one of" in usage_error(*fit, "--rule", "least")
