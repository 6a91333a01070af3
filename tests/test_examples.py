"""The scripts of the gallery run, and hold what their text says."""

from __future__ import annotations

import runpy
import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from paths import ROOT

EXAMPLES = ROOT / "examples"


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("Agg")

    def run_example(name: str) -> dict[str, Any]:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
            return runpy.run_path(str(EXAMPLES / f"{name}.py"))

    yield run_example
    plt.close("all")


def test_raw_table(run, capsys):
    found = run("raw_table")
    assert found["model"].certificate_.is_optimal
    assert set(found["score"].variables) <= {"age", "troponin", "ward", "smoker"}
    assert "Missing: troponin" in capsys.readouterr().out


def test_credit_scorecard(run, capsys):
    found = run("credit_scorecard")
    certificate = found["model"].certificate_
    assert certificate.is_optimal
    assert certificate.optimality_gap < 1e-4
    assert "points more double them" in capsys.readouterr().out


def test_clinical_constraints(run, capsys):
    found = run("clinical_constraints")
    free, known = found["free"], found["known"]
    assert free.certificate_.is_optimal
    assert known.certificate_.is_optimal
    assert free.certificate_.objective < known.certificate_.objective
    # The sample is one in which pressure seems to protect.
    assert min(free.risk_score_.points.values()) < 0 <= min(known.risk_score_.points.values())
    text = capsys.readouterr().out
    assert text.count("✓ met") == 9
    assert "✓ met: ridge penalty of the weights: 0.001667 (shrinkage 1 on 600 rows)" in text


def test_equally_good_scores(run, capsys):
    found = run("equally_good_scores")
    listed, score = found["found"], found["score"]
    assert listed.pool.complete
    assert 5 < len(listed) < 100
    assert not any(name.startswith("worst concave points") for name in score.points)
    assert score.certificate.objective > listed.objective(0)
    # Without concave points the best score loses most, as the text says.
    prices = {one.feature: one.price for one in listed.variable_prices}
    assert max(prices, key=prices.get) == "worst concave points"
    text = capsys.readouterr().out
    assert "The list is complete" in text
    assert "of the training rows the decision" in text


def test_many_rows(run, capsys, monkeypatch):
    monkeypatch.setenv("RISKSLIM_EXAMPLE_ROWS", "20000")
    found = run("many_rows")
    assert found["data"].n_samples == 20_000
    assert found["data"].n_rows < 20_000  # equal ones are counted
    assert found["solution"].certificate.is_optimal
    assert "20,000 rows" in capsys.readouterr().out


@pytest.mark.slow
def test_fast_backend(run, capsys):
    found = run("fast_backend")
    assert "difference" in capsys.readouterr().out
    assert abs(found["by_numpy"]() - found["backend"].loss(found["coef"], found["rows"])) < 1e-13
    objectives = [score.objective for score in found["scores"]]
    assert objectives == sorted(objectives, reverse=True)
    for size, (score, rounded) in enumerate(
        zip(found["scores"], found["rounded"], strict=True), start=1
    ):
        assert np.count_nonzero(score.coef[1:]) == size
        assert score.objective <= rounded


def test_the_gallery_has_a_title_for_each():
    for path in EXAMPLES.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.stem != "seizure":  # which has a page of its own
            _, title, line = text.splitlines()[:3]
            assert line == "=" * len(title), path.name


def test_must_not_miss(run, capsys):
    found = run("must_not_miss")
    certificate = found["rule"].certificate_
    assert certificate.is_optimal
    assert certificate.rule.is_best
    rule, usual = (found[name].operating_point.training for name in ("score", "usual"))
    assert min(rule.sensitivity, usual.sensitivity) >= 0.95
    # The rule is worth the search: the score with the least loss has none nearly as good.
    assert rule.specificity > usual.specificity + 0.1
    assert found["path"].has_rules
    assert "No score within the requirements" in capsys.readouterr().out
