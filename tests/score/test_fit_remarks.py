"""What a fit says of its score is kept with it: in files, pages and the command line."""

from __future__ import annotations

import dataclasses
import json
import pickle
import re
import warnings

import jsonschema
import numpy as np
import pandas as pd
import pytest
from markupsafe import escape

from command_line import run
from paths import DOCS
from riskslim import Certificate, RiskScore, RiskSLIMClassifier, Status, model_size_path
from riskslim.exceptions import UnboundCertificateWarning
from riskslim.report import render
from riskslim.score.fit_remarks import remarks_at_fit

pytestmark = [pytest.mark.faults, pytest.mark.usefixtures("no_diagrams")]

SCHEMA = json.loads((DOCS / "risk_score.schema.json").read_text(encoding="utf-8"))
CERTIFICATE = Certificate(Status.OPTIMAL, 0.4, 0.39, 1, 0.4, 0.0, 1e-10, "example", 961)
REMARK = "At a bound of the coefficient set: 'smoker' (2). Wider bounds may give a better score."
SCORE = RiskScore(
    -3, {"smoker": 2}, certificate=CERTIFICATE, fit_remarks=[REMARK], prevalence=0.2
)  # fmt: skip


def table():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 2, (400, 3)), columns=["a", "b", "c"])
    y = (rng.random(400) < 1 / (1 + np.exp(2 - 3.1 * X["a"] - 0.8 * X["b"]))).astype(int)
    return X, y.rename("died")


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return RiskSLIMClassifier(max_coef=1, scale=1).fit(X, y), X, y


def read(document) -> tuple[RiskScore, int]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", UnboundCertificateWarning)
        score = RiskScore.from_json(json.dumps(document))
    return score, len(seen)


def remarks_of(page: str) -> str:
    found = re.search(r'<section class="remarks".*?</section>', page, re.DOTALL)
    return "" if found is None else found[0]


def test_a_fit_keeps_its_remarks_with_the_score(fitted):
    classifier, *_ = fitted
    score = classifier.risk_score_
    assert len(score.fit_remarks) >= 2
    assert any(one.startswith("At a bound") for one in score.fit_remarks)
    assert any("scale" in one for one in score.fit_remarks)
    assert classifier.remarks_[: len(score.fit_remarks)] == score.fit_remarks
    assert pickle.loads(pickle.dumps(score)) == score


def test_files_keep_them(fitted):
    score = fitted[0].risk_score_
    document = json.loads(score.to_json())
    jsonschema.validate(document, SCHEMA)
    assert document["fit_remarks"] == list(score.fit_remarks)
    assert read(document) == (score, 0)


def test_files_from_before_have_none_and_keep_their_certificate():
    document = json.loads(dataclasses.replace(SCORE, fit_remarks=()).to_json())
    assert "fit_remarks" not in document
    # The digest of such a file, as it was computed before there were remarks in files.
    assert document["digest"] == (
        "sha256:99196e76fef1956ac042f1c91ca0258bc1760b7772fe24e24947993ebd39a224"
    )
    score, n_warnings = read(document)
    assert (score.certificate, score.fit_remarks, n_warnings) == (CERTIFICATE, (), 0)


@pytest.mark.parametrize("changed", [[], [REMARK, REMARK], ["All is well."]])
def test_remarks_that_were_changed_cost_the_certificate(changed):
    score, n_warnings = read({**json.loads(SCORE.to_json()), "fit_remarks": changed})
    assert (score.certificate, score.fit_remarks, n_warnings) == (None, (), 1)


def test_an_edited_score_loses_them():
    document = json.loads(SCORE.to_json())
    document["points"][0]["points"] = 1
    assert read(document)[0].fit_remarks == ()
    without = {**json.loads(SCORE.to_json()), "certificate": None}
    assert read(without)[0].fit_remarks == ()
    assert dataclasses.replace(SCORE, intercept=-2, certificate=None).fit_remarks == ()
    assert RiskScore(-3, {"smoker": 2}, fit_remarks=[REMARK]).fit_remarks == ()


@pytest.mark.parametrize("wrong", [None, REMARK, {"text": REMARK}, 5, [None], [REMARK, 5], [[]]])
def test_files_with_something_else_are_refused(wrong):
    with pytest.raises(ValueError, match="'fit_remarks' must be"):
        RiskScore.from_json(json.dumps({**json.loads(SCORE.to_json()), "fit_remarks": wrong}))


@pytest.mark.parametrize("wrong", [REMARK, [5], [None]])
def test_something_else_is_no_remark(wrong):
    with pytest.raises(TypeError, match="fit_remarks must be texts"):
        dataclasses.replace(SCORE, fit_remarks=wrong)


def test_what_was_said_at_the_fit_is_said_to_be_of_then():
    assert remarks_at_fit(SCORE) == (f"At the fit: {REMARK}",)
    later = SCORE.recalibrated(prevalence=0.1)
    assert remarks_at_fit(later) == (f"At the fit, before the risks were recalibrated: {REMARK}",)
    shown = SCORE.with_layout(points="non-negative").with_labels({"smoker": "smokes"})
    assert remarks_at_fit(shown) == (f"At the fit, of the points as fitted: {REMARK}",)
    assert later.fit_remarks == shown.fit_remarks == SCORE.fit_remarks
    assert read(json.loads(later.to_json())) == (later, 0)


def test_weights_of_classes_are_said_of_the_score_as_it_is():
    X, y = table()
    score = RiskSLIMClassifier(class_weight="balanced", scale=1).fit(X, y).risk_score_
    (of_weights,) = score.remarks()
    assert of_weights in score.fit_remarks
    assert not [one for one in remarks_at_fit(score) if of_weights in one]
    assert remarks_of(render(score, X, y, n_resamples=0)).count("Not calibrated") == 1
    # Recalibration has set it right.
    recalibrated = score.recalibrated(X, y)
    assert "Not calibrated" not in remarks_of(render(recalibrated, X, y, n_resamples=0))


def test_all_pages_on_a_score_have_them(fitted, tmp_path):
    classifier, X, y = fitted
    score = classifier.risk_score_
    loaded = RiskScore.from_json(score.to_json())
    said = [str(escape(one)) for one in score.fit_remarks]
    of_fit = remarks_of(render(score, X, y, problem=classifier, n_resamples=0))
    on_training = remarks_of(render(loaded, X, y, n_resamples=0))
    on_others = remarks_of(render(loaded, X[:200], y[:200], n_resamples=0))
    for text in said:
        assert f"<li>{text}</li>" in of_fit
        assert on_training.count(text) == on_others.count(text) == 1
        assert f"<li>At the fit: {text}</li>" in on_training
        assert f"<li>At the fit: {text}</li>" in on_others
    assert "At the fit" not in of_fit

    data, page = tmp_path / "rows.csv", tmp_path / "page.html"
    X.assign(died=y).to_csv(data, index=False)
    result = run("fit", data, "--outcome", "died", "--max-coef", 1, "--scale", 1,
                 "--output", tmp_path / "score.json", "--report", page)  # fmt: skip
    saved = RiskScore.load(tmp_path / "score.json")
    assert saved.fit_remarks == score.fit_remarks
    assert all(f"Remark: {one}\n" in result.stderr for one in saved.fit_remarks)
    of_command = page.read_text(encoding="utf-8")
    assert all(f"<li>{one}</li>" in of_command for one in said)
    run("report", tmp_path / "score.json", data, "--output", page, "--resamples", 0)
    later = page.read_text(encoding="utf-8")
    assert all(f"<li>At the fit: {one}</li>" in later for one in said)
    shown = run("show", tmp_path / "score.json").stderr
    assert shown == "".join(f"Remark: At the fit: {one}\n" for one in saved.fit_remarks)
    # Predictions are not the place.
    assert "At the fit" not in run("predict", tmp_path / "score.json", data).stderr


def test_texts_of_a_file_are_texts_wherever_they_are_shown(tmp_path):
    bad = "<script>alert(1)</script>\x1b[2J\n\x9bRemark: fake \u202e \ud800 </li>"
    score = dataclasses.replace(SCORE, fit_remarks=[bad, ""])
    path, page = tmp_path / "score.json", tmp_path / "page.html"
    score.save(path)
    assert RiskScore.load(path) == score
    (tmp_path / "rows.csv").write_text("smoker,outcome\n1,1\n0,0\n1,0\n0,1\n")
    run("report", path, tmp_path / "rows.csv", "--output", page, "--resamples", 0)
    text = page.read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<script>alert" not in text
    shown = remarks_of(text)
    assert [c for c in shown if not c.isprintable() and c != "\n"] == []
    shown = run("show", path).stderr
    assert [c for c in shown if not c.isprintable() and c != "\n"] == []
    assert not re.search("^Remark: fake", shown, re.MULTILINE)


def test_folds_have_none_and_their_final_models_do():
    X, y = table()
    path = model_size_path(
        RiskSLIMClassifier(max_size=2, max_coef=1, scale=1), X, y, sizes=[2], cv=2
    )
    (entry,) = path.entries
    assert entry.risk_score.fit_remarks
    assert [fold.model.fit_remarks for fold in entry.cross_validation.folds] == [(), ()]
