"""``riskslim scorecard``: the scorecard of the library, in every form, and what is refused."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from command_line import run, usage_error
from riskslim import RiskScore
from riskslim.data.feature_ranges import FeatureRange
from riskslim.items import read_items

POINTS = {"age < 25": 2, "age < 35": 1, "income >= 4": -1, "moved": 1}
HOSTILE = {"age": {"text": "Age <b> | _ % \n \u2265"}, "moved": {"levels": {"yes": "a, b"}}}


@pytest.fixture
def score(tmp_path, monkeypatch) -> RiskScore:
    monkeypatch.chdir(tmp_path)
    found = RiskScore(-5, POINTS, outcome_name="default", items=read_items(POINTS))
    found = found.with_labels(HOSTILE)
    found.save("s.json")
    return found


CARD = {"base_points": 500, "base_odds": 20, "pdo": 40}
OPTIONS = ["--base-points", 500, "--base-odds", 20, "--pdo", 40]


def test_every_form_is_that_of_the_library(score):
    card = score.scorecard(**CARD)
    texts = {
        "text": str(card), "markdown": card.to_markdown(), "html": card.to_html(),
        "latex": card.to_latex(), "csv": card.to_csv(),
    }  # fmt: skip
    for form, text in texts.items():
        shown = run("scorecard", "s.json", *OPTIONS, "--format", form).stdout
        assert shown == f"{text.removesuffix(chr(10))}\n"
        run("scorecard", "s.json", *OPTIONS, "--format", form, "--output", f"card.{form}")
        assert Path(f"card.{form}").read_text(encoding="utf-8") == shown
    assert run("scorecard", "s.json").stdout == f"{score.scorecard()}\n"
    riskier = run("scorecard", "s.json", "--higher-is", "riskier").stdout
    assert riskier == f"{score.scorecard(higher_is='riskier')}\n"


def test_the_points_as_csv_add_up_to_totals(score):
    text = run("scorecard", "s.json", *OPTIONS, "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    card = score.scorecard(**CARD)
    assert rows[0] == {
        "variable": "", "label": "Base points", "condition": "", "points": str(card.base),
    }  # fmt: skip
    assert {row["variable"] for row in rows[1:]} == {"age", "income", "moved"}
    worth = {(row["variable"], row["condition"]): int(row["points"]) for row in rows}
    record = {"age < 25": 0, "age < 35": 1, "income >= 4": 1, "moved": 1}
    bands = [("age", "25 to < 35"), ("income", ">= 4"), ("moved", "a, b")]
    total = card.base + sum(worth[band] for band in bands)
    assert [total] == card.totals(score.score_samples(record)).tolist()


def test_totals_of_a_span(score):
    shown = run("scorecard", "s.json", "--span", "300:850").stdout
    assert shown == f"{score.scorecard(span=(300, 850))}\n"
    for text in ("300", "300:850:900", "a:b", "300:850.5"):
        message = f"--span must be two whole numbers such as 300:850, got '{text}'"
        assert message in usage_error("scorecard", "s.json", "--span", text)


def test_labels_of_a_file(score):
    Path("labels.toml").write_text('income = "Income"\n', encoding="utf-8")
    assert "Income" in run("scorecard", "s.json", "--labels", "labels.toml").stdout
    assert "Income" not in run("scorecard", "s.json").stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--format", "pdf"],
            "--format must be one of text, markdown, html, latex, csv, got 'pdf'",
        ),
        (["--higher-is", "better"], "--higher-is must be 'safer' or 'riskier', got 'better'"),
        (["--base-odds", 0], "--base-odds must be a positive number, got 0.0"),
        (["--pdo", -3], "--pdo must be a positive number, got -3.0"),
        (["--pdo", 0.1], "the odds double with 0.6931 points or more"),
        (["--base-points", "nan"], "--base-points"),
        (["--output", "s.json"], "s.json"),
        (["--labels", "nowhere.toml"], "nowhere.toml"),
    ],
)
def test_what_is_refused(score, options, message):
    assert message in usage_error("scorecard", "s.json", *options)
    assert RiskScore.load("s.json") == score


def test_scores_that_have_no_scorecard(score):
    RiskScore(-3, {"visits": 2}, feature_ranges={"visits": FeatureRange(0, 7)}).save("v.json")
    message = usage_error("scorecard", "v.json")
    assert "'visits' is multiplied by points: make conditions of numbers" in message
    assert "nowhere.json" in usage_error("scorecard", "nowhere.json")
    Path("text.json").write_text("{}", encoding="utf-8")
    assert "text.json" in usage_error("scorecard", "text.json")
