"""What a score was found under is kept with it: in sheets, reports and files, with a mark."""

from __future__ import annotations

import json

import jsonschema
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from paths import DOCS
from riskslim import (
    CoefficientSet,
    ItemEncoder,
    RiskScore,
    RiskScoreProblem,
    RiskSLIMClassifier,
    TrainingData,
    at_most,
    model_size_path,
)
from riskslim.report import render
from riskslim.score.requirements import Requirement

pytestmark = pytest.mark.usefixtures("no_diagrams")

SCHEMA = json.loads((DOCS / "risk_score.schema.json").read_text(encoding="utf-8"))


def rows(n=300):
    rng = np.random.default_rng(9)
    X = pd.DataFrame(rng.integers(0, 2, (n, 7)), columns=list("abcdefg"))
    return X, rng.random(n) < 1 / (1 + np.exp(2 - 2 * X["a"] - X["b"] + X["c"]))


def fitted():
    X, y = rows()
    classifier = RiskSLIMClassifier(
        max_size=4, max_coef={"e": 2, "f": 0}, min_coef={"f": 0, "b": 1, "e": -2},
        sign={"a": "+", "c": "-"}, fixed={"d": 1}, coef_values={"g": [0, 2, 4]},
        l0_penalty={"c": 0.001}, max_intercept=12, scale=[1, 2],
        constraints=[at_most(1, ["e", "g"], name="one of them")],
    ).fit(X, y)  # fmt: skip
    return classifier, X, y


EXPECTED = (
    "model size 0 to 4",
    "sign +, points from 0 to 5: 'a'",
    "points from 1 to 5, always used: 'b'",
    "sign -, points from -5 to 0: 'c'",
    "points fixed at 1: 'd'",
    "points from -2 to 2: 'e'",
    "left out (0 points): 'f'",
    "price of each other feature: 1e-06 of the loss",
    "price of 'c': 0.001 of the loss",
)


def test_every_requirement_is_kept_in_words():
    classifier, X, y = fitted()
    score = classifier.risk_score_
    texts = [one.text for one in score.requirements]
    assert set(EXPECTED) <= set(texts), texts
    assert any(text.startswith("scale: ") for text in texts)
    assert any("one of them: at most 1 of" in text for text in texts)
    assert any("'g'" in text and "0, 2" in text for text in texts)  # points with gaps
    assert "intercept from -12 to 12" in texts
    assert all(one.is_met for one in score.requirements)
    assert score.sheet(X, y).requirements == score.requirements
    assert score.recalibrated(X, y).requirements == score.requirements
    page = render(score, X, y, n_resamples=0)
    stated = render(score, X, y, problem=classifier, n_resamples=0)
    for text in (page, stated):
        plain = text.replace("&#39;", "'")
        assert all(f'<span class="mark">✓ met</span><span>{one}' in plain for one in EXPECTED)
        assert "✗ not met" not in plain


def test_files_keep_requirements():
    score = fitted()[0].risk_score_
    plain = json.loads(score.to_json())
    jsonschema.Draft202012Validator(SCHEMA).validate(plain)
    assert RiskScore.from_json(score.to_json()) == score
    assert {"text": EXPECTED[0], "is_met": True, "violation": None} in plain["requirements"]
    del plain["requirements"]  # older versions of the package wrote none
    plain["certificate"] = None  # it speaks of scores that meet them
    del plain["digest"]
    assert RiskScore.from_json(json.dumps(plain)).requirements == ()
    for wrong in ({}, [3], [{"text": 1}], [{"text": "a", "is_met": False}]):
        with pytest.raises(ValueError, match="requirements"):
            RiskScore.from_json(json.dumps(plain | {"requirements": wrong}))
    with pytest.raises(TypeError, match="requirements must be Requirement, got 'size'"):
        RiskScore(0, {"a": 1}, requirements=["size"])


def test_marks_say_what_is_broken():
    X, y = rows()
    data = TrainingData(X, y)
    coefficients = CoefficientSet(
        data.feature_names, -5, 5, sign={"a": "+", "b": "+"}, fixed={"d": 1},
        intercept_lower=-3, intercept_upper=3,
    )  # fmt: skip
    problem = RiskScoreProblem(data, coefficients, max_size=2, constraints=[at_most(0, ["e"])])
    found = problem.requirements([-4, -1, 2, 7, 0, 1, 0, 0])
    assert [one.is_met for one in found] == [False, False, False, False, False]
    assert str(found[0]).startswith("✗ not met: model size 0 to 2 (model size is 4")
    assert found[1].violation == "broken by '(intercept)' (-4), 'c' (7)"
    assert str(found[2]) == "✗ not met: sign +, points from 0 to 5: 'a', 'b' (broken by 'a' (-1))"
    assert found[3] == Requirement("points fixed at 1: 'd'", "broken by 'd' (0)")
    priced = RiskScoreProblem(data, coefficients, l0_penalty=0.01)
    assert "price of each feature: 0.01 of the loss" in [
        one.text for one in priced.requirements([0, 0, 0, 0, 1, 0, 0, 0])
    ]
    with pytest.raises(ValueError, match="expected"):
        problem.requirements([0, 1])


def test_paths_and_the_command_line_keep_them(tmp_path):
    from command_line import run

    X, y = rows()
    path = model_size_path(RiskSLIMClassifier(max_size=2), X, y, sizes=[1, 2])
    for entry in path.entries:
        texts = [one.text for one in entry.risk_score.requirements]
        assert texts[0] == f"model size 0 to {entry.max_size}"
    X.assign(died=y.astype(int)).to_csv(tmp_path / "rows.csv", index=False)
    output = tmp_path / "score.json"
    run("fit", tmp_path / "rows.csv", "--outcome", "died", "--max-size", "2", "--output", output)
    assert RiskScore.load(output).requirements[0].text == "model size 0 to 2"


def test_every_form_of_the_sheet_has_them():
    score = fitted()[0].risk_score_
    texts = [one.text for one in score.requirements]
    assert all(one.is_met for one in score.requirements)
    sentence = f"Requirements, all met: {'; '.join(texts)}."
    sheet = score.sheet()
    assert sheet.notes_on_requirements == (sentence,)
    lines = str(sheet).splitlines()
    assert max(map(len, lines[-3:])) <= 80
    assert " ".join(str(sheet).split()).endswith(sentence)
    for text in (sheet.to_markdown(), sheet.to_html(), sheet.to_latex()):
        assert "Requirements, all met: model size 0 to 4" in text
        assert text.index("Requirements") > text.index("optimal")
    drawn = " ".join(text.get_text() for text in sheet.plot().texts)
    assert "Requirements, all met: model size 0 to 4" in drawn
    plt.close("all")
    assert "Requirements" not in str(RiskScore(-3, {"smoker": 2}))


def test_sheets_put_together_what_differs_in_a_name():
    X, y = rows()
    raw = X.assign(**{f"n{k}": np.arange(len(X)) % (5 + k) for k in range(9)})
    encoder = ItemEncoder(n_thresholds=3)
    classifier = RiskSLIMClassifier(max_size=2, items=encoder, items_per_variable=1, time_limit=20)
    score = classifier.fit(raw, y).risk_score_
    of_variables = [one.text for one in score.requirements if "at most 1 of" in one.text]
    assert len(of_variables) == 9
    # Of the variables of the score alone: of others it says nothing.
    points = {"n0 >= 2": 1, "n2 >= 3": 1, "smoker": 1}
    other = RiskScore(-3, points, requirements=score.requirements)
    (note,) = other.sheet().notes_on_requirements
    assert note.count("at most 1 of") == 1
    assert "at most 1 of the features of 'n0' is used, likewise of 'n2'." in note
    assert len(other.requirements) == len(score.requirements)


def test_sheets_name_requirements_on_other_variables_that_are_broken():
    texts = [
        "more of 'x' never lowers the risk, as its trend in the training rows",
        "at most 2 of the features of 'x' are used",
        "at most 2 of the features of 'a' are used",
    ]
    given = [*map(Requirement, texts), Requirement(texts[1], "3 are used"), Requirement("odd")]
    score = RiskScore(-3, {"a >= 1": 2}, requirements=given)
    assert score.sheet().notes_on_requirements == (
        "Met: at most 2 of the features of 'a' are used; odd.",
        "Not met: at most 2 of the features of 'x' are used (3 are used).",
    )
    assert score.requirements == tuple(given)


def test_sheets_name_requirements_that_are_broken():
    broken = Requirement("one of them", "both are used")
    score = RiskScore(-3, {"a": 2}, requirements=[Requirement("model size 0 to 4"), broken])
    assert score.sheet().notes_on_requirements == (
        "Met: model size 0 to 4.", "Not met: one of them (both are used)."
    )  # fmt: skip
    assert str(score).endswith("Not met: one of them (both are used).")
    alone = RiskScore(-3, {"a": 2}, requirements=[broken])
    assert alone.sheet().notes_on_requirements == ("Not met: one of them (both are used).",)
