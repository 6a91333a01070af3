"""Options on items: special values, thresholds by the outcome, digits, one item per variable."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from command_line import run, usage_error
from riskslim import ItemEncoder, RiskScore, RiskSLIMClassifier


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    months = rng.choice([-9, -7, 999, *range(1, 40)], 300, p=[0.1, 0.1, 0.1] + [0.7 / 39] * 39)
    table = pd.DataFrame({"months": months, "age": rng.integers(20, 90, 300)})
    risk = np.where(months == 999, 0.9, 0.1 + 0.008 * table["age"])
    table["died"] = (rng.random(300) < risk).astype(int)
    path = tmp_path / "data.csv"
    table.to_csv(path, index=False)
    return path, table


def fit(path, *options):
    output = path.with_suffix(".json")
    run("fit", path, "--outcome", "died", "--items", "--quiet", "--output", output, *options)
    return RiskScore.load(output)


def test_special_values(data):
    path, table = data
    for text, special in (
        ("-9,-7,999", [-9, -7, 999]),
        ("months=-9+-7,999", {"months": [[-9, -7], 999]}),
    ):
        score = fit(path, "--special", text, "--max-size", "3", "--l2-penalty", "0")
        raw = table[["months", "age"]]
        encoder = ItemEncoder(special_values=special)
        model = RiskSLIMClassifier(items=encoder, max_size=3, l2_penalty=0)
        model.fit(raw, table["died"])
        assert dict(score.points) == dict(model.risk_score_.points)
        assert score.variables == model.risk_score_.variables
        assert json.loads(path.with_suffix(".json").read_text())["version"] == 6
        predicted = path.with_name("risks.csv")
        run("predict", path.with_suffix(".json"), path, "--output", predicted)
        risks = pd.read_csv(predicted)["risk"]
        assert np.allclose(risks, model.predict_proba(raw)[:, 1], rtol=1e-12)


def test_supervised_thresholds(data):
    path, table = data
    options = ["--min-frequency", "30", "--min-events", "5", "--threshold-digits", "2"]
    score = fit(path, "--thresholds", "supervised", *options, "--n-thresholds", "3")
    encoder = ItemEncoder(
        thresholds="supervised", min_frequency=30, min_events=5, threshold_digits=2, n_thresholds=3
    ).fit(table[["months", "age"]], table["died"])
    assert set(score.points) <= {item.name for item in encoder.items_}
    one = fit(path, "--thresholds", "age=supervised", "--thresholds", "months=20")
    assert {name for name in one.points if name.startswith("months")} <= {"months >= 20"}


@pytest.mark.slow
def test_one_item_per_variable_and_signs_of_trends(data):
    path, _ = data
    score = fit(path, "--items-per-variable", "1", "--monotone", "auto", "--max-size", "4")
    assert len(score.points) == len(score.variables)
    described = " ".join(one.text for one in score.requirements)
    assert "more of 'age' never lowers the risk, as its trend in the training rows" in described
    file = path.with_name("requirements.toml")
    file.write_text('[[items_per_variable]]\nn = 1\n\n[[monotone]]\nsign = "auto"\n')
    again = fit(path, "--constraints", str(file), "--max-size", "4")
    assert again.points == score.points


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--special", "x"], "--special must be numbers"),
        (["--special", "months=x"], "--special must be NAME="),
        (["--special", "months=1", "--special", "months=2"], "given twice for 'months'"),
        (["--special", "month=1"], "--special names columns that the rows do not have: 'month'"),
        (["--thresholds", "supervised", "--thresholds", "age=40"], "give no other ones"),
        (["--thresholds", "tree"], "--thresholds must be all, supervised, NAME=all"),
        (["--min-events", "3"], "--min-events needs --thresholds supervised"),
        (["--min-frequency", "2.5"], "a share below 1 or a whole number"),
        (["--monotone", "up"], "--monotone must be auto"),
    ],
)
def test_what_is_refused(data, options, message):
    path, _ = data
    error = usage_error("fit", path, "--outcome", "died", "--items", *options)
    assert message in " ".join(error.split())


def test_they_need_items(data):
    path, _ = data
    for option in (["--special", "-9"], ["--threshold-digits", "2"], ["--min-frequency", "0.1"]):
        assert f"{option[0]} needs --items" in usage_error(
            "fit", path, "--outcome", "died", *option
        )


def test_columns_that_are_to_stay_numbers(data):
    path, _ = data
    options = ["--numeric", "months", "--special", "-9"]
    error = usage_error("fit", path, "--outcome", "died", "--items", *options, n_lines=3)
    assert "special values, which are to stay as they are in 'months'" in error
    assert "leave them out of --numeric, so that --items makes items of them" in error
