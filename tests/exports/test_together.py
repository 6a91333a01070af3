"""What a score knows, all at once: raw columns, cut-offs, a format of files, recalibrated risks."""

from __future__ import annotations

import json
import warnings

import jsonschema
import numpy as np
import pandas as pd
import pytest

from command_line import run
from export_targets import Pmml, run_javascript, run_python
from paths import DOCS
from riskslim import (
    CsvFormat,
    ItemEncoder,
    RiskScore,
    RiskSLIMClassifier,
    cross_validate_risk_score,
    model_size_path,
)
from riskslim.exceptions import ExtrapolationWarning

N = 200


def raw_rows():
    rng = np.random.default_rng(4)
    raw = pd.DataFrame(
        {
            "age": rng.integers(20, 90, N),
            "bmi": np.round(rng.normal(27, 4, N), 1),
            "ward": rng.choice(["icu", "medicine", "surgery"], N),
        }
    )
    raw.loc[rng.random(N) < 0.1, "bmi"] = np.nan
    risk = 1 / (1 + np.exp(4 - 0.07 * raw["age"] + (raw["ward"] == "icu")))
    return raw, np.where(rng.random(N) < risk, "dead", "moved")


def classifier(**parameters):
    encoder = ItemEncoder(n_thresholds=8, round_thresholds=True, missing="indicator")
    return RiskSLIMClassifier(
        items=encoder, items_per_variable=1, max_size=2, **{"time_limit": 20, **parameters}
    )


@pytest.fixture(scope="module")
def fitted():
    raw, y = raw_rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return classifier(positive_label="dead").fit(raw, y), raw, y


# ---------------------------------------------------------------------------------------------
# Items and a label that is not the last one
# ---------------------------------------------------------------------------------------------


def test_a_classifier_on_raw_columns_is_told_the_label(fitted):
    model, raw, y = fitted
    score = model.risk_score_
    assert list(model.classes_) == ["dead", "moved"]
    assert (model.positive_label_, score.classes) == ("dead", ("moved", "dead"))
    np.testing.assert_array_equal(model.predict_proba(raw)[:, 0], score.predict_proba(raw)[:, 1])
    np.testing.assert_array_equal(model.decision_function(raw), -score.decision_function(raw))
    np.testing.assert_array_equal(model.predict(raw), score.predict(raw))
    assert model.score(raw, y) > 0.6
    assert score.prevalence == pytest.approx((y == "dead").mean())
    assert score.cutoff_ranges
    assert score.variables.keys() >= {item.variable for item in score.items.values()}
    texts = [one.text for one in score.requirements]
    assert "at most 1 of the features of 'age' is used" in texts
    assert all(one.is_met for one in score.requirements)


def test_the_other_label_is_that_of_exchanged_labels(fitted):
    model, raw, y = fitted
    other = classifier().fit(raw, np.where(y == "dead", "yes", "no"))
    assert other.certificate_.objective == model.certificate_.objective
    np.testing.assert_array_equal(other.predict_proba(raw)[:, ::-1], model.predict_proba(raw))


def test_values_in_another_unit_are_said_once(fitted):
    model, raw, _ = fitted
    far = raw.assign(age=raw["age"] * 365)
    for predict in (model.predict_proba, model.risk_score_.predict_proba):
        with pytest.warns(ExtrapolationWarning, match="'age'") as caught:
            predict(far)
        assert len(caught) == 1


@pytest.mark.slow
def test_paths_and_folds_are_about_the_label(fitted):
    _, raw, y = fitted
    model = classifier(positive_label="dead", time_limit=5)
    path = model_size_path(model, raw, y)
    assert [one.risk_score.classes for one in path.entries] == [("moved", "dead")] * 2
    folds = cross_validate_risk_score(model, raw, y, cv=3)
    assert folds.mean("auc") > 0.6


# ---------------------------------------------------------------------------------------------
# Files and programs
# ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def everything(fitted):
    """A score of a file that is written in another way, recalibrated."""
    model, raw, _ = fitted
    known = CsvFormat(missing=["k. A."], separator=";", decimal=",", encoding="cp1252")
    score = RiskScore.from_json(model.risk_score_.to_json())
    assert score == model.risk_score_
    plain = json.loads(score.to_json())
    plain["csv_format"] = known.to_plain()
    score = RiskScore.from_json(json.dumps(plain)).recalibrated(prevalence=0.1)
    assert score.csv_format == known
    return score, raw


def test_files_keep_everything(everything, tmp_path):
    score, raw = everything
    schema = json.loads((DOCS / "risk_score.schema.json").read_text(encoding="utf-8"))
    document = json.loads(score.to_json())
    jsonschema.Draft202012Validator(schema).validate(document)
    assert document["version"] == 8  # that of a ridge penalty
    assert document["certificate"]["ridge"] > 0
    assert all(key in document for key in ("csv_format", "recalibration", "requirements"))
    assert any("cutoff_range" in one for one in document["points"])
    score.save(tmp_path / "score.json")
    again = RiskScore.load(tmp_path / "score.json")
    assert again == score
    assert again.to_json() == score.to_json()
    assert again.cutoff_ranges == score.cutoff_ranges
    assert again.remarks() == score.remarks()
    assert any("Recalibrated to" in one for one in again.remarks())
    assert any("an objective within" in one for one in again.remarks())
    np.testing.assert_array_equal(again.predict_proba(raw), score.predict_proba(raw))


def test_ranges_of_cutoffs_are_about_the_certified_risks(everything, fitted):
    """The objective is that of the integers: recalibrated risks have another loss."""
    score, raw = everything
    _, _, y = fitted
    before = score.with_cutoff_ranges(raw, y).cutoff_ranges
    assert before == fitted[0].risk_score_.with_cutoff_ranges(raw, y).cutoff_ranges
    weights = np.where(np.arange(N) % 3, 1.0, 0.0)
    some = weights > 0
    weighted = score.with_cutoff_ranges(raw, y, weights).cutoff_ranges
    assert weighted == score.with_cutoff_ranges(raw[some], y[some]).cutoff_ranges


def test_programs_predict_the_same(everything, javascript):
    score, raw = everything
    rows = raw[list(score.variables)].astype(object)
    records = rows.where(rows.notna(), None).to_dict("records")[:40]
    expected = list(
        zip(score.predict_proba(records)[:, 1].tolist(), score.score_samples(records).tolist(),
            strict=True)
    )  # fmt: skip
    predict = run_python(score)
    assert [predict(record) for record in records] == expected
    assert run_javascript(javascript, score, records) == expected
    model = Pmml(score.to_pmml())
    found = [model.predict(record) for record in records]
    assert [(one["risk"], one["score"]) for one in found] == expected


def test_the_command_line_reads_files_as_the_score_says(everything, tmp_path):
    score, raw = everything
    score.save(tmp_path / "score.json")
    table = raw.astype(object)
    cells = table.map(lambda value: str(value).replace(".", ",")).where(table.notna(), "k. A.")
    cells.to_csv(tmp_path / "rows.csv", sep=";", index=False, encoding="cp1252")
    saved, out = tmp_path / "score.json", tmp_path / "out.csv"
    run("predict", saved, tmp_path / "rows.csv", "--output", out)
    found = pd.read_csv(out)
    np.testing.assert_array_equal(found["score"], score.score_samples(raw))
    np.testing.assert_allclose(found["risk"], score.predict_proba(raw)[:, 1], rtol=1e-12)
    for dialect in ("mysql", "snowflake"):
        result = run("export", saved, "--format", "sql", "--dialect", dialect, "--table", "t")
        assert "Recalibrated to" in result.stdout
