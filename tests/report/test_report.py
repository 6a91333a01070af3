"""The report: what it says is what is computed, it stands alone, and browsers show it well.

The checks in a browser need ``chromium`` and ``chromedriver`` on the PATH.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import hashlib
import itertools
import json
import re
import sys
import types
from importlib.resources import files
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from command_line import run
from listed import listed
from pages import click, parsed, table, text_of
from riskslim import (
    CoefficientSet,
    ItemEncoder,
    RiskScore,
    RiskScoreProblem,
    RiskSLIMClassifier,
    TrainingData,
    at_most,
    branch_and_bound,
    cross_validate_risk_score,
    minimum_points,
    model_size_path,
    variable,
)
from riskslim._wording import percent
from riskslim.data.feature_ranges import FeatureRange
from riskslim.items import read_items
from riskslim.metrics import (
    auc,
    bootstrap_intervals,
    calibration_consistency,
    calibration_error,
    calibration_line,
    logistic_loss,
    maximum_calibration_error,
    population_stability_index,
)
from riskslim.report import render
from riskslim.report import tables as content
from riskslim.report.calculator import calculator_numbers
from riskslim.report.diagrams import thresholds
from riskslim.report.remarks import _told_apart
from riskslim.score.html import PAGE_LINE, sheet_html
from riskslim.score.lines import shift_of
from riskslim.score.typesetting import one_line

NAMES = ["age >= 60", "smoker", "visits", "exercise"]
HOSTILE = [
    '</script><script>alert("1")</script>',
    '"><img src=x onerror=alert(2)>',
    "a & b &lt; $x$ {{ 7 * 7 }} {% raw %}",
    "_hidden\n\tline\u2028 end",
    "half \ud800 and \u9ad8\u8840\u5727",
    "__proto__",
    "constructor",
    "with_an_underscore_and_no_blank_" * 6,
]


def frame(n=400, seed=0) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.integers(0, 5 if name == "visits" else 2, n) for name in NAMES})
    odds = -3 + 2 * X["age >= 60"] + X["smoker"] + 1.0 * X["visits"] - X["exercise"]
    return X, pd.Series(np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no"), name="died")


@pytest.fixture(scope="module")
def full():
    """Everything that a report can have, with weights."""
    X, y = frame()
    X_test, y_test = frame(200, seed=1)
    weight, weight_test = (np.random.default_rng(2).integers(1, 4, n) / 2 for n in (400, 200))
    data = TrainingData(X, y, weight)
    coefficients = CoefficientSet(data.feature_names, -4, 4)
    problem = RiskScoreProblem(
        data, coefficients, max_size=3,
        constraints=[at_most(1, ["smoker", "exercise"], name="one habit"),
                     minimum_points("visits", 1)],
    )  # fmt: skip
    path = model_size_path(problem, sizes=3, cv=3)
    entry = path.entries[-1]
    page = render(
        entry.risk_score, data, X_test=X_test, y_test=y_test, sample_weight_test=weight_test,
        cv=entry.cross_validation, problem=problem, size_path=path,
    )  # fmt: skip
    return entry, page, (X, y, weight), (X_test, y_test, weight_test), path, problem


def hostile() -> tuple[RiskScore, dict[str, np.ndarray], np.ndarray]:
    rng = np.random.default_rng(3)
    X = {name: rng.integers(0, 2, 200) for name in HOSTILE}
    X[HOSTILE[1]] = rng.normal(0, 1, 200).round(2)
    ranges = {HOSTILE[1]: FeatureRange(-3, 3, is_integer=False, unit="<mg>")}
    score = RiskScore(
        -2, {name: k - 2 or 3 for k, name in enumerate(HOSTILE)}, feature_ranges=ranges,
        outcome_name="</b><i>$o$", classes=("_no</text>", "_yes & \u2028 <i>"),
    )  # fmt: skip
    risk = score.predict_proba(X)[:, 1]
    return score, X, np.array(score.classes)[(rng.random(200) < risk).astype(int)]


# --- the page -------------------------------------------------------------------------------------


def plain() -> str:
    X, y = frame()
    points = {"age >= 60": 2, "visits": 1}
    score = RiskScore(-2, points, outcome_name="died", classes=("no", "yes"))
    return render(score, X, y)


def real() -> str:
    rng = np.random.default_rng(4)
    score = RiskScore(0, {"x": 2}, feature_ranges={"x": FeatureRange(-3, 3, is_integer=False)})
    x = rng.normal(0, 1, 5_000).clip(-3, 3)
    y = (rng.random(len(x)) < 1 / (1 + np.exp(-2 * x))) + 0
    return render(score, {"x": x}, y, n_resamples=30)


def with_alternatives() -> str:
    one = listed()
    return render(one.score, one.X, one.y, n_resamples=0, alternatives=one.found)


PAGES = {
    "plain": plain,
    "hostile": lambda: render(*hostile()),
    "no points": lambda: render(RiskScore(-1, {}, feature_names=["a"]), {"a": [0, 1]}, [0, 1]),
    "real": real,
    "alternatives": with_alternatives,
}


@functools.cache
def page_of(name: str) -> str:
    return PAGES[name]()


@pytest.mark.parametrize(
    "name",
    [*(pytest.param(n, marks=pytest.mark.slow) if n == "real" else n for n in PAGES), "full"],
)
def test_page_is_valid_and_stands_alone(name, full):
    page = full[1] if name == "full" else page_of(name)
    root = parsed(page)
    assert root.tag == "html"
    assert root.get("lang") == "en"
    assert len(page) < 700_000
    for element in root.iter():
        for attribute in ("src", "href", "action", "data", "poster", "srcset"):
            target = element.get(attribute, "#")
            assert target.startswith("#") or target == "data:,", (element.tag, target)
        assert not [key for key in element.attrib if key.lower().startswith("on")]
    assert not re.search(r"@import|url\((?!#)", page)
    # The policy names the one script that there is, and forbids the rest.
    (script,) = root.iter("script")
    digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
    policy = next(m.get("content") for m in root.iter("meta") if m.get("http-equiv"))
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    # Names are unique, and references lead somewhere.
    ids = [one.get("id") for one in root.iter() if one.get("id")]
    assert len(ids) == len(set(ids))
    body = page[: page.index("<script>")]
    wanted = re.findall(r'(?:href="|url\()#([^")]+)', body)
    wanted += [
        one.get(key)
        for one in root.iter()
        for key in ("for", "aria-labelledby", "aria-describedby")
        if one.get(key)
    ]
    assert set(wanted) <= set(ids)


@pytest.mark.parametrize("name", [*PAGES, "full"])
def test_page_is_accessible(name, full):
    root = parsed(full[1] if name == "full" else page_of(name))
    for one in root.iter("table"):
        assert one[0].tag == "caption"
        assert all(cell.get("scope") in ("row", "col") for cell in one.iter("th"))
        widths = {sum(1 for _ in row) for row in one.iter("tr")}
        assert len(widths) == 1
    drawings = list(root.iter("svg"))
    assert len(drawings) >= 4
    assert all(one.get("role") == "img" and len(one.get("aria-label")) > 40 for one in drawings)
    # A label is for what it names, or for what is within it.
    controls = [one.get("id") for one in root.iter() if one.tag in ("input", "select")]
    labels = [
        one.get("for") or next(inner.get("id") for inner in one if inner.tag in ("input", "select"))
        for one in root.iter("label")
    ]
    assert sorted(controls) == sorted(labels)
    levels = [int(one.tag[1]) for one in root.iter() if re.fullmatch("h[1-6]", str(one.tag))]
    assert levels.count(1) == 1
    assert max(levels) == 2
    assert all(one.get("tabindex") == "0" for one in root.iter() if one.get("role") == "region")


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def mixed(one: str, other: str, share: float) -> str:
    """A colour that lets another one through."""
    pairs = ((int(one[k : k + 2], 16), int(other[k : k + 2], 16)) for k in (1, 3, 5))
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_colours_have_contrast():
    style = files("riskslim.report").joinpath("report.css").read_text(encoding="utf-8")
    schemes = [
        dict(re.findall(r"--(\w+): (#\w{6})", block))
        for block in re.findall(r":root \{(.*?)\}", style, re.S)
    ]
    assert len(schemes) == 3  # light, dark, paper
    for colours in schemes:
        for ground in ("surface", "panel"):
            for text in ("ink", "muted", "accent", "bad", "good"):
                assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
        for line in ("blue", "orange", "grey"):
            assert contrast(colours[line], colours["surface"]) >= 3
        # Points that are written into fields are on shades of a colour.
        shades = [
            float(share) for share in re.findall(r"\.written \.s\d \{ fill-opacity: (.*?);", style)
        ]
        assert len(shades) == 5
        for line, share in itertools.product(("blue", "orange"), shades):
            field = mixed(colours[line], colours["surface"], share)
            assert contrast(colours["ink"], field) >= 4.5, (line, share)


@pytest.mark.slow
def test_names_of_any_kind_are_text():
    score, X, y = hostile()
    root = parsed(render(score, X, y, title='<b>"title" & more</b>'))
    assert text_of(root.find("head/title")) == text_of(root.find("body//h1"))
    assert text_of(root.find("head/title")) == '<b>"title" & more</b>'
    for tag in ("img", "b", "i"):
        assert list(root.iter(tag)) == []
    labels = [text_of(one) for one in root.iter("label")]
    assert labels == [" ".join(one_line(name).split()) for name in score.points]
    features = table(root, "Features with points")
    assert [row[0][0] for row in features[1:]] == labels
    assert any("</b><i>$o$ = _yes &" in head for head, _ in features[0])
    # Labels in diagrams that begin with an underscore or hold a dollar are shown as they are.
    legends = [text_of(one) for one in root.iter("text") if text_of(one).startswith("with </b>")]
    assert len(legends) == 2
    assert [one.partition(" = ")[2][:4] for one in legends] == ["_no<", "_yes"]


def test_report_is_the_same_each_time_and_leaves_matplotlib_alone():
    import matplotlib.pyplot as plt

    X, y = frame()
    score = RiskScore(-2, {"age >= 60": 2}, outcome_name="died", classes=("no", "yes"))
    before, open_figures = dict(mpl.rcParams), plt.get_fignums()
    with mpl.rc_context({"lines.linewidth": 9, "text.usetex": False, "font.size": 30}):
        styled = render(score, X, y)
    assert styled == render(score, X, y)
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == open_figures


# --- the numbers ----------------------------------------------------------------------------------


def expected_metrics(score, X, y, weight):
    positive, log_odds = np.asarray(y) == "yes", score.decision_function(X)
    risk = score.predict_proba(X)[:, 1]
    return [
        logistic_loss(positive, log_odds, weight),
        auc(positive, log_odds, weight),
        calibration_error(positive, risk, weight, log_odds),
        maximum_calibration_error(positive, risk, weight, log_odds),
        np.average(risk, weights=weight),
        np.average(positive, weights=weight),
    ]


def test_metrics_are_those_of_the_metrics_module(full):
    entry, page, given, test, *_ = full
    score, cv = entry.risk_score, entry.cross_validation
    head, *rows = table(parsed(page), "Metrics")
    assert [cell for cell, _ in head] == [
        "Metric", "training data", "cross-validation, 3 folds", "test data",
    ]  # fmt: skip
    columns = [[row[k][1] for row in rows[:6]] for k in range(1, 4)]
    np.testing.assert_allclose(columns[0], expected_metrics(score, *given), rtol=1e-12)
    np.testing.assert_allclose(columns[2], expected_metrics(score, *test), rtol=1e-12)
    assert columns[0][:3] == [entry.train.loss, entry.train.auc, entry.train.cal]
    assert columns[1][:3] == [cv.mean(name) for name in ("loss", "auc", "cal")]
    assert [row[2][0] for row in rows[:3]] == [cv.summary(n) for n in ("loss", "auc", "cal")]
    X, y, weight = given
    by_fold = np.transpose([
        expected_metrics(fold.model, *(a.iloc[fold.test_rows] for a in (X, y)),
                         weight[fold.test_rows])[3:]
        for fold in cv.folds
    ])  # fmt: skip
    for k, values in enumerate(by_fold, start=3):
        assert columns[1][k] == pytest.approx(np.mean(values), rel=1e-12)
        ends = f"({min(values):.1%} - {max(values):.1%})"
        assert rows[k][2][0] == f"{np.mean(values):.1%} {ends}"
    assert [row[0][0] for row in rows[4:6]] == ["Mean predicted risk", "Observed risk"]
    assert [row[1][0] for row in rows[6:]] == [str(len(score.points)), "0.00%"]


def intervals(root) -> dict[str, list[tuple[float, float] | None]]:
    """Ends of the intervals in the table of metrics, by the first letters of the metric."""
    (found,) = (one for one in root.iter("table") if text_of(one.find("caption")) == "Metrics")
    return {
        text_of(row[0]).split()[0]: [
            (float(span.get("data-lower")), float(span.get("data-upper")))
            if (span := cell.find("span")) is not None
            else None
            for cell in row[1:]
        ]
        for row in found.find("tbody")
    }


def test_intervals_are_those_of_the_metrics_module(full):
    entry, page, given, test, *_ = full
    root = parsed(page)
    found = intervals(root)
    for k, (X, y, weight) in ((0, given), (2, test)):
        log_odds = entry.risk_score.decision_function(X)
        risk = entry.risk_score.predict_proba(X)[:, 1]
        expected = bootstrap_intervals(y == "yes", log_odds, weight, pos_label=True)
        expected |= calibration_consistency(risk, weight, log_odds)
        assert found["Mean"][k] is None
        for name in ("Loss", "AUC", "CAL", "MCAL", "Observed"):
            assert found[name][k] == expected[name.lower()][1:]
            assert found[name][1] is None
    assert found["Features"] == found["Optimality"] == [None] * 3
    row = next(row for row in table(root, "Metrics") if row[0][0] == "AUC")
    low, high = found["AUC"][0]
    assert row[1][0] == f"{entry.train.auc:.3f} 95%: {low:.3f} to {high:.3f}"
    row = next(row for row in table(root, "Metrics") if row[0][0].startswith("CAL"))
    low, high = found["CAL"][0]
    chance = f"a perfectly calibrated score: {low:.1%} to {high:.1%}"
    assert row[1][0] == f"{entry.train.cal:.1%} {chance}"
    text = text_of(root)
    assert "drawn anew with replacement 1000 times" in text
    assert "outcomes were drawn from the predicted risks 1000 times (consistency" in text
    assert "each row with its weight and counted as one observation (bootstrap, seed 0)" in text
    assert "chosen by how well it does on the training data, so that its values there" in text
    assert "Cross-validation and test rows show that." in text


def drifted(n: int, seed: int, slope=1.0, more=0.0, share=0.4) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows whose log-odds are those of ``CERTAIN``, times a slope and more."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.random(n) < share, "b": rng.random(n) < 0.5, "c": rng.random(n)})
    X = X.astype({"a": int, "b": int}).round({"c": 2})
    odds = slope * CERTAIN.decision_function(X) + more
    return X, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)


CERTAIN = RiskScore(-1, {"a": 2, "b": -1, "c": 1}, feature_ranges={
    "a": FeatureRange(0, 1), "b": FeatureRange(0, 1), "c": FeatureRange(0, 1, is_integer=False),
})  # fmt: skip


def remarks_of(page: str) -> list[str]:
    root = parsed(page)
    return [
        text_of(item)
        for section in root.iter("section")
        if section.get("aria-labelledby") == "remarks"
        for item in section.iter("li")
    ]


def certified(score: RiskScore, X, y) -> RiskScore:
    """The score with a certificate about these rows."""
    data = TrainingData(X, y)
    coefficients = CoefficientSet(data.feature_names, -2, 2)
    problem = RiskScoreProblem(data, coefficients)
    certificate = branch_and_bound(problem, node_limit=1).certificate
    loss = logistic_loss(y, score.decision_function(X))
    return dataclasses.replace(score, certificate=dataclasses.replace(certificate, loss=loss))


def remark_on_line(score: RiskScore, X, y, meaning: str, rows: str = "Test data") -> str:
    """The remark where the intercept of calibration alone is off."""
    found = calibration_line(y, score.decision_function(X)).intercept
    value, lower, upper = (f"{one:.2f}".replace("-", "\u2212") for one in found)
    return (
        f"{rows}: the calibration intercept is {value} (95% interval {lower} to {upper}), where 0 "
        f"is perfect: {meaning}. Recalibration keeps the points and sets the risks right: riskslim "
        "recalibrate SCORE DATA, or score.recalibrated(X, y), on rows like these, and judged on "
        "others."
    )


@pytest.mark.usefixtures("no_diagrams")
@pytest.mark.parametrize(
    ("shift", "slope", "words"),
    [
        (0.0, 1.0, None),
        (0.0, 0.5, "risks are too extreme"),
        (0.0, 2.0, "risks are too much alike"),
        (0.0, -1.0, "higher risks go with fewer outcomes"),
        (1.0, 1.0, "risks are too low on average"),
        (-1.0, 1.0, "risks are too high on average"),
    ],
)
def test_a_poor_calibration_is_remarked_and_a_good_one_is_not(shift, slope, words):
    score = RiskScore(-2, {"a": 2, "b": 1, "c": 1})
    X = {name: np.tile(values, 250) for name, values in zip(
        "abc", np.array(list(itertools.product((0, 1), repeat=3))).T, strict=True
    )}  # fmt: skip
    risk = 1 / (1 + np.exp(-(shift + slope * score.decision_function(X))))
    # As many rows with the outcome among those of each score as the risk says.
    y = np.zeros(len(risk), int)
    for one in np.unique(risk):
        rows = np.flatnonzero(risk == one)
        y[rows[: round(one * len(rows))]] = 1
    remarks = [
        one for one in remarks_of(render(score, X, y, n_resamples=0)) if "calibration" in one
    ]
    assert len(remarks) == (words is not None)
    if words is not None:
        assert words in remarks[0]
        assert ("recalibrate" in remarks[0]) == (slope > 0)
        assert ("--with-scale" in remarks[0]) == (slope not in (1, -1))


@pytest.mark.usefixtures("no_diagrams")
def test_a_page_without_the_problem_has_the_remarks_of_training_rows():
    y = np.repeat([0, 1], 60)
    X = {"a": y * (np.arange(120) % 3 > 0), "b": np.arange(120) % 2}
    weight = np.where(y == 1, 4.0, 1.0)
    data = TrainingData(X, y, weight)
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    problem = RiskScoreProblem(data, coefficients)
    solution = branch_and_bound(problem)
    score = RiskScore.from_solution(solution, data, problem=problem)
    with_it, without = (
        remarks_of(render(score, X, y, weight, problem=one, n_resamples=0))
        for one in (problem, None)
    )
    said = [one for one in with_it if "have the outcome" in one or one.startswith("Weights of")]
    assert len(said) == 2
    # The score has kept them; without, the training rows show these two.
    assert [one for one in without if "At the fit: " in one] == [
        f"At the fit: {one}" for one in with_it
    ]
    bare = dataclasses.replace(score, fit_remarks=())
    found = remarks_of(render(bare, X, y, weight, n_resamples=0))
    assert [one for one in found if one in said] == said
    # Of other rows nothing is said that is about the training rows.
    other = remarks_of(render(bare, X, y, n_resamples=0))
    assert not [one for one in other if one in said]


@pytest.mark.usefixtures("no_diagrams")
@pytest.mark.slow
def test_risks_that_are_off_by_more_than_chance_are_remarked():
    X, y = drifted(3000, 0)
    score = certified(CERTAIN, X, y)

    def remarked(score=score, n_resamples=100, bins=10, **drift) -> list[str]:
        X_test, y_test = drifted(2000, 3, **drift)
        page = render(score, X, y, X_test=X_test, y_test=y_test, n_resamples=n_resamples, bins=bins)
        return remarks_of(page)

    assert remarked() == []
    for more, direction, than in ((0.7, "low", "more"), (-0.7, "high", "less")):
        X_test, y_test = drifted(2000, 3, more=more)
        risk = score.predict_proba(X_test)[:, 1]
        observed, mean = y_test.mean(), risk.mean()
        log_odds = score.decision_function(X_test)
        chance = calibration_consistency(risk, None, log_odds, bins=10, n_resamples=100)
        assert remarked(more=more) == [
            f"Test data: risks are too {direction}: the mean predicted risk is {mean:.1%}, the "
            f"observed risk {observed:.1%}, {100 * abs(observed - mean):.2g} percentage points "
            f"{than}, {observed / mean:.2g} times as much (training data: "
            f"{score.predict_proba(X)[:, 1].mean():.1%} predicted, {y.mean():.1%} observed). With "
            f"true risks it would by chance be {chance['observed'].lower:.1%} to "
            f"{chance['observed'].upper:.1%}. CAL is "
            f"{calibration_error(y_test, risk, scores=log_odds, bins=10):.1%}, where a perfectly "
            f"calibrated score has {chance['cal'].lower:.1%} to {chance['cal'].upper:.1%} by "
            "chance.",
            remark_on_line(score, X_test, y_test, f"risks are too {direction} on average"),
            "The certificate is about the training rows only: it says how close the score is to "
            "the best one there, and not that risks are true for other rows.",
        ]  # fmt: skip
    # Without a certificate there is nothing to be said of it; without resamples the line is left.
    alone, line = remarked(CERTAIN, more=0.7)
    assert alone.startswith("Test data: risks are too low")
    assert "training data" not in alone
    assert remarked(n_resamples=0, more=0.7)[0] == line
    uneven, extreme, certificate = remarked(slope=0.2, more=-0.15)
    assert uneven.startswith("Test data: risks are off by more than chance, though not on average:")
    assert "risks are too extreme" in extreme
    assert "riskslim recalibrate SCORE DATA --with-scale" in extreme
    assert certificate.startswith("The certificate is about the training rows only")


@pytest.mark.usefixtures("no_diagrams")
def test_training_rows_are_not_remarked_but_given_rows_are():
    X, y = drifted(3000, 0, more=0.7)
    assert remarks_of(render(certified(CERTAIN, X, y), X, y, n_resamples=50, bins=10)) == []
    found, line = remarks_of(render(CERTAIN, X, y, n_resamples=50, bins=10))
    assert found.startswith("Given data: risks are too low")
    assert line == remark_on_line(CERTAIN, X, y, "risks are too low on average", "Given data")


def test_shares_are_told_apart():
    assert _told_apart(0.036, 0.055, 0.0349) == ["3.6%", "5.5%", "3.5%"]
    assert _told_apart(0.01234, 0.01236, 0.5) == ["1.23%", "1.24%", "50.00%"]
    assert _told_apart(0.0346, 0.03, 0.0345) == ["3.46%", "3.00%", "3.45%"]
    assert _told_apart(0.5, 0.5) == ["50.000000%"] * 2


@pytest.mark.usefixtures("no_diagrams")
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_and_conditions_of_training_and_test_rows(weighted):
    (X, y), (X_test, y_test) = drifted(500, 0), drifted(400, 1, share=0.7)
    rng = np.random.default_rng(2)
    weights = [rng.integers(0, 4, n) / 2 if weighted else None for n in (500, 400)]
    page = render(
        CERTAIN, X, y, weights[0], X_test=X_test, y_test=y_test, sample_weight_test=weights[1],
        n_resamples=0,
    )  # fmt: skip
    root = parsed(page)
    head, *rows = table(root, "Scores and conditions, given and test rows")
    assert [cell for cell, _ in head] == ["Score or condition", "given data", "test data", "PSI"]
    mean, *scores = rows[:-3]
    for k, (data, weight) in enumerate(zip((X, X_test), weights, strict=True), start=1):
        total = CERTAIN.score_samples(data)
        assert mean[k][1] == pytest.approx(np.average(total, weights=weight))
        assert sum(row[k][1] for row in scores) == pytest.approx(1)
        for row, name in zip(rows[-3:], CERTAIN.points, strict=True):
            assert row[k][1] == pytest.approx(np.average(data[name], weights=weight))
    assert [row[0][0] for row in rows[-3:]] == ["a", "c: mean", "b"]
    assert 5 < len(scores) <= 30
    for row, name in zip(rows[-3:], CERTAIN.points, strict=True):
        expected = population_stability_index(X[name], X_test[name], *weights, bins="auto")
        assert row[3][1] == pytest.approx(expected, rel=1e-12)
    # The index of the scores is of the shares that are listed.
    first, second = (np.array([row[k][1] for row in scores]) for k in (1, 2))
    both = (first > 0) & (second > 0)
    terms = (second - first)[both] * np.log(second[both] / first[both])
    assert mean[3][1] >= terms.sum() - 1e-12
    if both.all():
        assert mean[3][1] == pytest.approx(terms.sum())
    assert rows[-3][3][0].endswith("(large shift)")
    assert rows[-3][3][1] > 0.25
    of_kind = "Test data: rows are of another kind than the given data."
    (shifted,) = (remark for remark in remarks_of(page) if remark.startswith(of_kind))
    assert re.search(r"0\.\d{3} \(large shift\) of 'a'", shifted)
    assert "'b'" not in shifted
    assert "'c'" not in shifted
    assert "below 0.1 little has changed, 0.1 to 0.25 some shift" in text_of(root)


def test_scores_of_training_and_test_rows_are_those_of_the_risk_table(full):
    entry, page, given, test, *_ = full
    root = parsed(page)
    _, mean, *rows = table(root, "Scores and conditions, training and test rows")
    scores = [row for row in rows if row[0][0].startswith("Score ")]
    totals = [entry.risk_score.score_samples(X) for X, *_ in (given, test)]
    for row in scores:
        value = int(row[0][0].removeprefix("Score ").replace("\u2212", "-"))
        for k, (total, (*_, weight)) in enumerate(zip(totals, (given, test), strict=True), start=1):
            assert row[k][1] == pytest.approx(np.average(total == value, weights=weight))
    expected = population_stability_index(*totals, given[2], test[2])
    assert mean[3][1] == pytest.approx(expected, rel=1e-12)
    # Without test rows there is nothing to compare.
    X, y, weight = given
    assert "Scores and conditions" not in render(entry.risk_score, X, y, weight, n_resamples=0)


@pytest.mark.usefixtures("no_diagrams")
@pytest.mark.slow
def test_shifts_that_few_rows_make_by_chance_are_not_remarked():
    (X, y), (X_test, y_test) = drifted(60, 0), drifted(20, 1)
    page = render(CERTAIN, X, y, X_test=X_test, y_test=y_test, n_resamples=0)
    _, mean, *_ = table(parsed(page), "Scores and conditions, given and test rows")
    assert mean[3][1] > 0.1
    shifts = [remark for remark in remarks_of(page) if "of another kind" in remark]
    assert shifts == []


@pytest.mark.slow
@pytest.mark.usefixtures("no_diagrams")
def test_requirements_of_a_classifier_are_checked_on_raw_rows():
    X = pd.DataFrame({"age": np.arange(240) % 70 + 20.0, "job": ["student", "none", "other"] * 80})
    X["income"] = np.where(np.arange(240) % 11, np.arange(240) * 37 % 100, np.nan)
    y = ((np.arange(240) * 7919 % 100) < X["age"]).astype(int)
    encoder = ItemEncoder(n_thresholds=3, missing="indicator").fit(X)
    items = encoder.transform(X)
    constraints = [at_most(1, variable("age")), at_most(0, variable("income"))]
    classifier = RiskSLIMClassifier(max_size=2, constraints=constraints).fit(items, y)
    score = classifier.risk_score_.with_variables(encoder)
    found = marks(render(score, X, y, problem=classifier, n_resamples=0))
    assert found == marks(render(score, items, y, problem=classifier, n_resamples=0))
    assert len(found) >= 2


@pytest.mark.slow
def test_number_of_resamples():
    X, y = frame()
    score = RiskScore(-2, {"age >= 60": 2, "visits": 1}, classes=("no", "yes"))
    fewer = parsed(render(score, X, y, n_resamples=20))
    assert "replacement 20 times, whatever their class (bootstrap" in text_of(fewer)
    assert "If the score was chosen on these rows" in text_of(fewer)
    assert intervals(fewer)["AUC"] != intervals(parsed(page_of("plain")))["AUC"]
    none = parsed(render(score, X, y, n_resamples=0))
    assert all(ends == [None] for ends in intervals(none).values())
    assert "95%:" not in text_of(none)
    assert "bootstrap" not in text_of(none)
    for wrong in (-1, 1.5, True, "10"):
        with pytest.raises(ValueError, match="n_resamples must be an int of at least 0, or None"):
            render(score, X, y, n_resamples=wrong)


@pytest.mark.slow
def test_intervals_that_would_mislead_are_commented():
    # 5,000 distinct scores: what is observed at each of them is one row, and the CAL is large.
    root = parsed(page_of("real"))
    ((low, high),) = intervals(root)["CAL"]
    assert 0.2 < low < high < low + 0.02
    assert "they are large for any score of this kind." in text_of(root)
    rng = np.random.default_rng(9)
    x = rng.normal(0, 1, 300).clip(-3, 3)
    score = RiskScore(0, {"x": 2}, feature_ranges={"x": FeatureRange(-3, 3, is_integer=False)})
    binned = intervals(parsed(render(score, {"x": x}, (x > 0) + 0, bins=10)))
    ((low, high),) = binned["CAL"]
    assert 0 < low < high < 0.1
    few = render(RiskScore(-1, {"a": 2}), {"a": [0, 1, 1, 0]}, [0, 1, 0, 0])
    assert "One class has 1 row only: from so few, intervals are too short." in few


@pytest.mark.usefixtures("no_diagrams")
def test_fewer_resamples_where_each_one_takes_long(monkeypatch):
    from riskslim.report import rows

    monkeypatch.setattr(rows, "MANY_KINDS", 50)
    X, y = frame()
    score = RiskScore(-2, {"age >= 60": 2, "visits": 1}, classes=("no", "yes"))
    weight = np.random.default_rng(10).random(len(y))
    assert "replacement 1000 times" in text_of(parsed(render(score, X, y)))
    assert "replacement 200 times" in text_of(parsed(render(score, X, y, weight)))


def test_operating_points_are_those_of_the_score(full):
    entry, page, given, test, *_ = full
    root = parsed(page)
    for name, rows in (("training data", given), ("test data", test)):
        points = entry.risk_score.operating_points(*rows)
        _, *cells = table(root, f"Operating points, {name}")
        assert len(cells) == len(points) - 1
        for k, row in enumerate(cells, start=1):
            assert row[0][1] == points.thresholds[k]
            expected = [points.sensitivity[k], points.specificity[k], points.ppv[k]]
            assert [value for _, value in row[3:6]] == expected
            lower, upper = (ends[k] for ends in points.intervals("sensitivity"))
            assert row[3][0] == f"{points.sensitivity[k]:.1%} {lower:.1%} to {upper:.1%}"


def test_many_thresholds_are_thinned():
    _, *rows = table(parsed(page_of("real")), "Operating points, given data")
    shares = [row[2][1] for row in rows]
    assert 20 <= len(rows) <= 30
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert np.diff(shares).max() < 0.05


def test_data_are_summarised(full):
    entry, page, (X, y, weight), *_ = full
    root = parsed(page)
    _, *rows = table(root, "Rows and classes")
    positive = y == "yes"
    assert rows[0][1:] == [("400", 400), ("200", 200)]
    assert rows[1][0][0] == "with died = yes"
    assert rows[1][1] == (f"{positive.sum()} ({positive.mean():.1%})", positive.sum())
    assert rows[3][1][1] == weight.sum()
    assert rows[4][1][1] == pytest.approx(np.average(positive, weights=weight))
    _, *features = table(root, "Features with points")
    assert [row[0][0] for row in features] == list(entry.risk_score.points)
    for row in features:
        values = X[row[0][0]]
        for k, kind in ((4, positive), (5, ~positive)):
            mean = np.average(values[kind], weights=weight[kind])
            assert row[k][1] == pytest.approx(mean, rel=1e-12)
        ends = "0 or 1" if row[0][0] != "visits" else f"{values.min()} to {values.max()}"
        assert row[2][0] == row[3][0] == ends


def test_sheet_and_certificate_are_those_of_the_score(full):
    entry, page, _, test, *_ = full
    score = entry.risk_score
    assert sheet_html(score.sheet(*test), line=PAGE_LINE) in page
    assert "Risks observed in the test data are beneath the predicted ones." in page
    assert "Risks observed in the given data are beneath the predicted ones." in page_of("plain")
    root = parsed(page)
    assert score.certificate.explain() in text_of(root.find("body"))
    cells = {row[0][0]: row[1] for row in table(root, "Certificate in numbers")}
    assert cells["Objective"][1] == score.certificate.objective
    assert cells["Lower bound"][1] == score.certificate.lower_bound
    assert cells["Engine"][0] == score.certificate.engine
    versions = {row[0][0]: row[1][0] for row in table(root, "Versions")}
    assert versions["numpy"] == np.__version__
    # Neither solver was used, whether or not it is installed.
    assert not {"cplex", "pyscipopt", "solver"} & set(versions)
    certificate = dataclasses.replace(score.certificate, engine="lattice_cpa (CPLEX 22.1.2.0)")
    found = content.software_table(dataclasses.replace(score, certificate=certificate))
    assert {row[0].text: row[1].text for row in found.rows}["solver"] == "CPLEX 22.1.2.0"
    assert "has no certificate" in page_of("plain")


@pytest.mark.parametrize(
    ("risk", "positive", "last"),
    [
        # At 0.6 four of five are positive: the benefit is 4/20 - 1/20 * 1.5; at 0.9 none is.
        ([0.9] + [0.6] * 4 + [0.1] * 15, [1, 2, 3, 4], 0.6),
        # Nobody gains by acting from 0.3 on: twice the prevalence is shown.
        ([0.3] * 5 + [0.1] * 95, [5, 6, 7, 8], 0.08),
        ([0.004] * 10 + [0.001] * 990, [0], 0.004),
        ([0.62] * 10, [0, 1, 2, 3, 4, 5, 6], 0.99),
        ([0.0] * 10 + [1.0] * 2, [10], 0.2),
    ],
)
def test_decision_curves_end_where_nothing_is_gained(risk, positive, last):
    is_positive = np.isin(np.arange(len(risk)), positive)
    rows = types.SimpleNamespace(risk=np.array(risk), positive=is_positive, weight=None)
    found = thresholds([rows])
    assert len(found) == 100
    assert found[-1] == pytest.approx(last)
    np.testing.assert_allclose(np.diff(found), found[0])
    weighted = types.SimpleNamespace(**vars(rows) | {"weight": np.ones(len(risk)) * 3})
    np.testing.assert_array_equal(thresholds([weighted, rows]), found)


def test_sizes_are_those_of_the_path(full):
    entry, page, *_, path, _ = full
    root = parsed(page)
    _, *rows = table(root, "Best risk score of each size")
    assert [row[0][0] for row in rows] == ["1", "2", "3 (this score)"]
    for row, one in zip(rows, path.entries, strict=True):
        assert [value for _, value in row[3:6]] == [one.train.loss, one.train.auc, one.train.cal]
        assert row[6][0] == one.cross_validation.summary("loss")
    _, *points = table(root, "Points of each size")
    worth = entry.risk_score.points
    shown = ", ".join(f"{name} ({p})" for name, p in worth.items()).replace("-", "\u2212")
    assert points[2][1][0] == shown


def marks(page: str) -> dict[str, str]:
    root = parsed(page)
    (found,) = (one for one in root.iter("ul") if one.get("class") == "requirements")
    return {text_of(item[1]): text_of(item[0]) for item in found}


@pytest.mark.usefixtures("no_diagrams")
def test_requirements_are_checked_on_the_points(full):
    _, page, (X, y, weight), *_, problem = full
    met = marks(page)
    assert set(met.values()) == {"\u2713 met"}
    assert next(iter(met)) == "model size 0 to 3"
    assert list(met)[1].startswith("points of every feature from -4 to 4; intercept from ")
    assert list(met)[2:] == [
        f"one habit: {problem.constraints[0].describe()}", problem.constraints[1].describe(),
    ]  # fmt: skip
    other = RiskScore(
        -2, {"smoker": 1, "exercise": -5, "visits": 1, "age >= 60": 1},
        feature_names=NAMES, classes=("no", "yes"),
    )  # fmt: skip
    broken = marks(render(other, X, y, weight, problem=problem))
    assert [mark[2:] for mark in broken.values()] == ["not met", "not met", "not met", "met"]
    assert "(model size is 4)" in next(iter(broken))
    assert "(broken by 'exercise' (-5))" in list(broken)[1]
    assert "broken by 'smoker' (1), 'exercise' (-5)" in list(broken)[2]


@pytest.mark.slow
def test_a_classifier_is_a_problem():
    X, y = frame()
    classifier = RiskSLIMClassifier(max_size=2, constraints=[at_most(1, NAMES[:2])]).fit(X, y)
    found = marks(render(classifier.risk_score_, X, y, problem=classifier))
    assert list(found.values()) == ["\u2713 met"] * 5
    assert any(text.startswith("ridge penalty of the weights: ") for text in found)
    assert "at most 1 of 'age >= 60', 'smoker'" in list(found)[-1]
    cv = cross_validate_risk_score(classifier, X, y, cv=3)
    page = render(classifier.risk_score_, X, y, cv=cv, problem=classifier)
    assert "folds, test rows" in page


@pytest.mark.usefixtures("no_diagrams")
@pytest.mark.slow
def test_rows_that_are_not_the_certificates_are_told_apart(full):
    entry, page, (X, y, _), *_ = full
    assert "about other rows" not in page
    other = render(entry.risk_score, X, y)
    assert "The certificate is about other rows or weights than these" in other
    assert [cell for cell, _ in table(parsed(other), "Metrics")[0]] == ["Metric", "given data"]
    beyond = X.assign(visits=9)
    remark = "Test data: 400 of 400 rows have values outside of the training range of 'visits'"
    assert remark.replace("'", "&#39;") in render(entry.risk_score, X, y, X_test=beyond, y_test=y)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_a_missing_package_is_named_before_the_work(package, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, package, None)
    score = RiskScore(-1, {"a": 2})
    with pytest.raises(ImportError, match=rf'needs {package}.*pip install "\.\[report\]"'):
        score.report(tmp_path / "report.html", None, None)
    assert list(tmp_path.iterdir()) == []


def test_errors_say_what_is_wrong(full, tmp_path):
    entry, _, (X, y, weight), *_, problem = full
    score, cv = entry.risk_score, entry.cross_validation
    target = tmp_path / "report.html"

    def fails(kind, match, *arguments, one=score, **options):
        with pytest.raises(kind, match=match):
            one.report(target, *arguments, **options)
        assert not target.exists()

    data = TrainingData(X, y)
    fails(ValueError, "X is None, but a report needs rows", None)
    fails(ValueError, "y is None", X)
    fails(ValueError, "leave y and weights out", data, y)
    fails(ValueError, "neither 'no' nor 'yes'", X, np.where(y == "yes", 1, 0))
    fails(ValueError, r"^test data \(X_test, .* y is None", X, y, X_test=X)
    fails(ValueError, "^test data .* X is None", X, y, y_test=y)
    fails(ValueError, "^test data .*lacks 2 of the", X, y, X_test=X[["visits"]], y_test=y)
    fails(ValueError, "^test data .* 0 sample", X, y, X_test=X[:0], y_test=y[:0])
    fails(TypeError, "^test data .*[Ss]parse", X, y, X_test=csr_matrix(np.eye(4)), y_test=y[:4])
    fails(ValueError, "X is None", X, y, sample_weight_test=weight)
    fails(TypeError, "cv must be what cross_validate_risk_score returns.*got int", X, y, cv=5)
    fails(ValueError, "cv is about 400 rows that are not the 200", X[:200], y[:200], cv=cv)
    fails(
        ValueError,
        "cv is about other rows, weights or risks .* a loss of .*, the score one of",
        X,
        y,
        cv=cv,
    )
    fails(ValueError, "other rows, weights or risks", X.assign(visits=0), y, weight, cv=cv)
    other = RiskScore(7, score.points, feature_names=NAMES, classes=("no", "yes"))
    fails(ValueError, "another model than this score", X, y, weight, one=other, cv=cv)
    fails(TypeError, "problem must be a RiskScoreProblem", X, y, problem=[at_most(1, NAMES)])
    fewer = RiskScore(-1, {"smoker": 1}, classes=("no", "yes"))
    fails(ValueError, "4 features that are not the 1 features", X, y, one=fewer, problem=problem)
    fails(TypeError, "size_path must be what model_size_path returns", X, y, size_path=cv)


@pytest.mark.slow
def test_the_file_is_replaced_as_a_whole(tmp_path):
    X, y = frame()
    score = RiskScore(-2, {"age >= 60": 2}, classes=("no", "yes"))
    target = tmp_path / "report.html"
    score.report(target, X, y, title="first")
    score.report(str(target), X, y, title="second")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert target.read_bytes() == render(score, X, y, title="second").encode()
    with pytest.raises(FileNotFoundError):
        score.report(tmp_path / "nowhere" / "report.html", X, y)


# --- the command line -----------------------------------------------------------------------------


@pytest.fixture
def csv(tmp_path) -> Path:
    path = tmp_path / "patients.csv"
    X, y = frame()
    X.assign(died=y, w=np.arange(400) % 3 + 1).to_csv(path, index=False)
    return path


def test_fit_writes_a_report(csv, tmp_path):
    run("fit", csv, "--outcome", "died", "--weights", "w", "--max-size", 2,
        "--output", tmp_path / "score.json", "--report", tmp_path / "report.html")  # fmt: skip
    score = RiskScore.load(tmp_path / "score.json")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    root = parsed(page)
    assert next(iter(marks(page))) == "model size 0 to 2"
    assert table(root, "Metrics")[1][1][1] == pytest.approx(score.certificate.loss, rel=1e-12)
    assert "training data" in page


@pytest.mark.slow
def test_report_of_a_saved_score(csv, tmp_path):
    X, y = frame()
    data = TrainingData(X, y, outcome_name="died")
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    problem = RiskScoreProblem(data, coefficients, max_size=3)
    score = RiskScore.from_solution(branch_and_bound(problem), data)
    score.save(tmp_path / "score.json")
    target = tmp_path / "report.html"
    result = run("report", tmp_path / "score.json", csv, "--output", target)
    assert result.output == ""
    assert target.read_text(encoding="utf-8") == render(score, X, y)
    pd.read_csv(csv)[:150].rename(columns={"died": "dead"}).to_csv(
        tmp_path / "test.csv", index=False
    )
    run("report", tmp_path / "score.json", tmp_path / "test.csv", "--outcome", "dead",
        "--weights", "w", "--test", tmp_path / "test.csv", "--output", target)  # fmt: skip
    head, loss, *_ = table(parsed(target.read_text(encoding="utf-8")), "Metrics")
    assert [cell for cell, _ in head] == ["Metric", "given data", "test data"]
    expected = expected_metrics(score, X[:150], y[:150], np.arange(150) % 3 + 1)[0]
    assert loss[1][1] == loss[2][1] == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_resamples_on_the_command_line(csv, tmp_path):
    score, target = tmp_path / "score.json", tmp_path / "report.html"
    RiskScore(-2, {"visits": 1}, outcome_name="died", classes=("no", "yes")).save(score)
    run("report", score, csv, "--resamples", 30, "--output", target)
    assert "replacement 30 times" in text_of(parsed(target.read_text(encoding="utf-8")))
    run("report", score, csv, "--resamples", 0, "--output", target)
    assert "bootstrap" not in target.read_text(encoding="utf-8")
    error = run("report", score, csv, "--resamples", -1, "--output", target, code=2).stderr
    assert "resamples" in error


@pytest.mark.slow
def test_report_of_a_path_and_folds(csv, tmp_path):
    run("fit", csv, "--outcome", "died", "--exclude", "w", "--max-size", 3, "--path", "--cv", 3,
        "--report", tmp_path / "report.html")  # fmt: skip
    root = parsed((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert [cell for cell, _ in table(root, "Metrics")[0]][1:] == [
        "training data", "cross-validation, 3 folds",
    ]  # fmt: skip
    sizes = [row[0][0] for row in table(root, "Best risk score of each size")[1:]]
    assert len(sizes) == 3
    assert sum("(this score)" in size for size in sizes) >= 1


def test_report_computes_items_of_raw_columns(csv, tmp_path):
    score = tmp_path / "score.json"
    points = {"visits >= 2": 2, "visits >= 4": 1}
    RiskScore(-2, points, outcome_name="died", classes=("no", "yes")).save(score)
    run("report", score, csv, "--output", tmp_path / "report.html")
    root = parsed((tmp_path / "report.html").read_text(encoding="utf-8"))
    X, y = frame()
    at_least_2 = (X["visits"] >= 2)[y == "yes"].mean()
    assert table(root, "Features with points")[1][4][1] == pytest.approx(at_least_2)


def test_command_line_refuses_before_the_work(csv, tmp_path, monkeypatch):
    score = tmp_path / "score.json"
    RiskScore(-1, {"smoker": 1}, outcome_name="died", classes=("no", "yes")).save(score)
    where = tmp_path / "none" / "report.html"
    assert "there is no folder" in run("report", score, csv, "--output", where, code=2).stderr
    assert "would replace the data" in run("report", score, csv, "--output", csv, code=2).stderr
    found = run("report", score, csv, "--output", score, code=2).stderr
    assert "would replace the risk score" in found
    target = tmp_path / "report.html"
    wrong = run("report", score, csv, "--outcome", "dead", "--output", target, code=2)
    assert "'dead'" in wrong.stderr
    fit = ("fit", csv, "--outcome", "died", "--report")
    assert "there is no folder" in run(*fit, where, code=2).stderr
    monkeypatch.setitem(sys.modules, "jinja2", None)
    for command in (("report", score, csv, "--output"), fit):
        error = run(*command, target, code=2).stderr
        assert error.startswith("Error: a report needs jinja2, which is not installed")
    assert not target.exists()


# --- in a browser ---------------------------------------------------------------------------------

FILL = """
const [rows, done] = [arguments[0], []];
const form = document.getElementById("calculator");
for (const row of rows) {
  row.forEach((value, k) => {
    const input = document.getElementById("item-" + k);
    if (input.type === "checkbox") { input.checked = value === 1; } else { input.value = value; }
  });
  form.dispatchEvent(new Event("input"));
  done.push([form.dataset.score, form.dataset.risk,
             document.getElementById("calculator-score").textContent,
             document.getElementById("calculator-risk").textContent]);
}
return done;
"""


def calculated(browser, score: RiskScore, rows: np.ndarray) -> None:
    """The calculator says what the score predicts, to the last bit."""
    found = browser.execute_script(FILL, [[float(v) for v in row] for row in rows])
    records = [dict(zip(score.points, map(float, row), strict=True)) for row in rows]
    risks = score.predict_proba(records)[:, 1]
    scores = score.score_samples(records)
    for (total, risk, shown_total, shown_risk), points, expected in zip(
        found, scores, risks, strict=True
    ):
        assert float(total) == points
        assert float(shown_total.replace("\u2212", "-")) == points
        assert float(risk) == expected
        assert shown_risk == percent(expected, 0.001)


def test_browser_shows_the_page_without_complaints(shown, full):
    for page in (full[1], *map(page_of, PAGES)):
        messages, fetched = shown(page)
        assert messages == []
        assert fetched == set()


def test_browser_would_block_what_is_smuggled_in(shown, browser):
    # The checks above can fail: a script and a picture that are not the report's are complained of.
    extra = '<script>document.title = "taken over"</script><img src="x.png" alt="">'
    page = page_of("plain").replace("</main>", f"{extra}</main>")
    messages, fetched = shown(page)
    assert len([one for one in messages if "Content Security Policy" in one]) >= 2
    assert [url.rpartition("/")[2] for url in fetched] == ["x.png"]
    assert browser.title == "Risk score: probability that died = yes"


@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")
def test_calculator_predicts_the_same(shown, browser, full):
    score = full[0].risk_score
    shown(full[1])
    rng = np.random.default_rng(5)
    ranges = [score.feature_ranges[name] for name in score.points]
    rows = np.array([rng.integers(r.minimum, r.maximum + 1, 150) for r in ranges]).T
    calculated(browser, score, rows)
    # Beyond the training range, too, with a note.
    rows[:, list(score.points).index("visits")] = rng.integers(-3, 40, 150)
    calculated(browser, score, rows)
    note = browser.find_element("id", "calculator-note").text
    assert note == "Beyond the values that the score was learned on: visits (0 to 4)."


@pytest.mark.slow
def test_calculator_of_a_score_that_knows_its_variables(shown, browser):
    rng = np.random.default_rng(13)
    raw = {"age": rng.integers(18, 90, 300), "sex": rng.choice(["female", "male"], 300)}
    encoder = ItemEncoder(thresholds={"age": [45, 75]})
    points = {"age >= 45": 5, "age >= 75": 5, "sex = male": 2}
    score = RiskScore(-6, points).with_variables(encoder.fit(raw))
    shown(render(score, raw, rng.integers(0, 2, 300)))
    calculated(browser, score, np.array(list(itertools.product((0, 1), repeat=3))))


@pytest.mark.slow
def test_calculator_ticks_what_is_implied(shown, browser):
    """Ticks on one variable stay consistent; those on others stay as they are."""
    names = ["age >= 45", "age >= 60", "age >= 75", "sex = male", "sex = female", "smoker",
             "age is missing", "lab > 2", "lab <= 4"]  # fmt: skip
    points = dict(zip(names, range(9, 0, -1), strict=True))
    score = RiskScore(-9, points, items=read_items(names))
    assert list(score.points) == names
    rng = np.random.default_rng(14)
    X = {name: rng.integers(0, 2, 100) for name in names}
    shown(render(score, X, rng.integers(0, 2, 100)))
    assert "Conditions on the same variable" in browser.find_element("id", "calculator").text

    def ticked_by(name: str) -> set[str]:
        click(browser, f"label[for=item-{names.index(name)}]")
        ticks = browser.find_elements("css selector", "#calculator input[type=checkbox]")
        ticked = {name for name, tick in zip(names, ticks, strict=True) if tick.is_selected()}
        total = browser.find_element("id", "calculator-score").text
        assert float(total) == sum(score.points[name] for name in ticked)
        return ticked

    assert ticked_by("age >= 75") == {"age >= 45", "age >= 60", "age >= 75"}
    assert ticked_by("smoker") == {"age >= 45", "age >= 60", "age >= 75", "smoker"}
    assert ticked_by("age >= 60") == {"age >= 45", "smoker"}
    assert ticked_by("sex = male") == {"age >= 45", "smoker", "sex = male"}
    assert ticked_by("sex = female") == {"age >= 45", "smoker", "sex = female"}
    assert ticked_by("sex = female") == {"age >= 45", "smoker"}
    assert ticked_by("age is missing") == {"age is missing", "smoker"}
    assert ticked_by("age >= 60") == {"age >= 45", "age >= 60", "smoker"}
    assert ticked_by("age >= 45") == {"smoker"}
    assert ticked_by("lab > 2") == {"lab > 2", "smoker"}
    assert ticked_by("lab <= 4") == {"lab <= 4", "lab > 2", "smoker"}
    points = {"smoker": 2, "sex = male": 1, "x >= 1e999": 1, "x >= 2": 1}
    score, names[:] = RiskScore(-9, points, items=read_items(points)), points
    X = {name: rng.integers(0, 2, 100) for name in names}
    shown(render(score, X, rng.integers(0, 2, 100)))
    # No number is that large: what is ticked all the same is counted.
    assert ticked_by("x >= 1e999") == {"x >= 1e999"}


FILL_LAYOUT = """
const [rows, turned, variables, done] = [arguments[0], arguments[1], arguments[2], []];
const form = document.getElementById("calculator");
for (const row of rows) {
  row.forEach((value, k) => {
    const input = document.getElementById("item-" + k);
    if (input && input.type === "checkbox") { input.checked = (value === 1) !== turned[k]; }
    else if (input) { input.value = value; }
  });
  variables.forEach((one, v) => {
    const select = document.getElementById("variable-" + v);
    if (select) {
      const values = JSON.stringify(one.items.map((k) => row[k]));
      select.value = String(one.bands.findIndex((band) => band.includes(values)));
    }
  });
  form.dispatchEvent(new Event("input"));
  done.push([form.dataset.score, form.dataset.risk,
             document.getElementById("calculator-score").textContent,
             document.getElementById("calculator-note").textContent]);
}
return done;
"""


@pytest.mark.usefixtures("no_diagrams")
@pytest.mark.parametrize("by", ["item", "variable"])
@pytest.mark.parametrize("points", ["fitted", "non-negative"])
def test_calculator_in_every_layout(shown, browser, by, points):
    """It asks for what the sheet lists, shows the score of the sheet, and predicts the same."""
    names = ["age >= 45", "age >= 75", "sex = male", "sex = female", "smoker", "visits"]
    worths = dict(zip(names, (-2, 3, -1, -2, -3, 1), strict=True))
    ranges = {"visits": FeatureRange(0, 4)}
    score = RiskScore(1, worths, items=read_items(names), feature_ranges=ranges)
    score = score.with_layout(by=by, points=points).with_labels({"age": {"unit": "years"}})
    records = [
        dict(zip(score.points, values, strict=True))
        for values in itertools.product((0, 1), repeat=6)
    ]
    records = [
        record
        for record in records
        if record["age >= 75"] <= record["age >= 45"]
        and record["sex = male"] + record["sex = female"] < 2
    ]
    X = {name: [record[name] for record in records] for name in names}
    page = render(score, X, np.arange(len(records)) % 2, n_resamples=0)
    messages, _ = shown(page)
    assert messages == []
    turned = [
        points == "non-negative" and by == "item" and worth < 0 and name != "visits"
        for name, worth in score.points.items()
    ]
    number = {name: k for k, name in enumerate(score.points)}
    variables = score.bands() if by == "variable" else ()
    bands = [
        {
            "items": [number[name] for name in one.features],
            "bands": [
                [json.dumps(pattern, separators=(",", ":")) for pattern in band.patterns]
                for band in one.bands
            ],
        }
        for one in variables
    ]
    if by == "variable":
        note = browser.find_element("id", "calculator-note").text
        assert note.startswith("Still to be entered: ")
        assert "age (years)" in note
    found = browser.execute_script(
        FILL_LAYOUT, [list(record.values()) for record in records], turned, bands
    )
    assert (shift_of(score) > 0) == (points == "non-negative")
    risks, scores = score.predict_proba(records)[:, 1], score.score_samples(records)
    for (total, risk, printed, note), expected, own in zip(found, risks, scores, strict=True):
        assert note == ""
        assert (float(total), float(risk)) == (own, expected)
        assert float(printed.replace("\u2212", "-")) == own
    # Nothing is ticked to begin with: what is shown is a record that can be.
    browser.find_element("css selector", "#calculator button").click()
    browser.execute_async_script("setTimeout(arguments[0], 20)")
    if by == "item":
        for k, name in enumerate(score.points):
            if name != "visits":
                box = browser.find_element("id", f"item-{k}")
                # Of both sexes one can be: the nearest of what can be true.
                assert not box.is_selected() or (turned[k] and name.startswith("sex"))
    # Thresholds in tables are those of the sheet.
    table = re.search(r"<caption>Operating points.*?</table>", page, re.S)[0]
    thresholds = {float(value) for value in re.findall(r'row" data-value="(.*?)"', table)}
    assert thresholds == {float(one) for one in set(scores.tolist())}


ENTER = """
const [rows, done] = [arguments[0], []];
const form = document.getElementById("calculator");
for (const row of rows) {
  row.forEach((value, n) => {
    const input = document.getElementById("number-" + n);
    input.value = value;
    input.dispatchEvent(new Event("input", {bubbles: true}));
  });
  const [observed, note] = ["observed", "note"].map(
    (name) => document.getElementById("calculator-" + name).textContent);
  done.push([form.dataset.score, form.dataset.risk, observed, note]);
}
return done;"""


def raw_patients() -> tuple[RiskScore, pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(20)
    raw = pd.DataFrame({"age": rng.integers(18, 90, 300), "lab": rng.normal(2, 1, 300).round(2)})
    raw.loc[:20, "lab"] = -9
    raw.loc[280:, "lab"] = np.nan
    encoder = ItemEncoder(
        thresholds={"age": [45, 75], "lab": [0.1 + 0.2, 2]},
        missing="indicator",
        special_values={"lab": [-9]},
    ).fit(raw)
    names = [str(name) for name in encoder.get_feature_names_out()]
    worths = dict(zip(names, itertools.cycle((3, 2, -1, -2)), strict=False))
    score = RiskScore(-2, worths).with_variables(encoder)
    return score.with_labels({"age": {"text": "Age", "unit": "years"}}), raw, rng.random(300) < 0.4


@pytest.mark.usefixtures("no_diagrams")
@pytest.mark.parametrize("points", ["fitted", "non-negative"])
@pytest.mark.parametrize("by", ["item", "variable"])
def test_calculator_takes_raw_numbers(shown, browser, by, points):
    """Numbers set the conditions on them: the risk is that of the raw record, the same bits."""
    score, raw, y = raw_patients()
    score = score.with_layout(by=by, points=points)
    messages, _ = shown(render(score, raw, y.astype(int), n_resamples=0))
    assert messages == []
    labels = {"Age (years)": "age", "lab": "lab"}
    order = [one["label"] for one in calculator_numbers(score)]
    assert sorted(order) == sorted(labels)
    records = [
        {"age": age, "lab": lab}
        for age in (18, 44.999, 45, 74, 75, 89)
        for lab in (0.3, 0.1 + 0.2, 1.99, 2, 3.5, -9)
    ]
    rows = [[record[labels[one]] for one in order] for record in records]
    untouched = browser.execute_script(ENTER, [["", ""]])
    found = browser.execute_script(ENTER, rows)
    # Of one record nothing stays for the next where its numbers are emptied.
    assert browser.execute_script(ENTER, [rows[-1], ["", ""]])[1:] == untouched
    table = pd.DataFrame(records)
    risks, scores = score.predict_proba(table)[:, 1], score.score_samples(table)
    sheet = score.sheet(raw, y.astype(int))
    for (total, risk, observed, note), expected, own in zip(found, risks, scores, strict=True):
        assert (float(total), float(risk), note) == (own, expected, "")
        (entry,) = (row for row in sheet.risks if row.lowest <= own <= row.highest)
        seen = f"({entry.n_positive} of {entry.n_samples} rows)." if entry.n_samples else "no row."
        assert observed.endswith(seen)
    # Far from what was seen it says so; what is chosen by hand is no longer what a number says.
    far = [{"Age (years)": 120, "lab": 1}[one] for one in order]
    ((*_, note),) = browser.execute_script(ENTER, [far])
    assert note == "Beyond the values that the score was learned on: Age (years) (18 to 89)."
    number = browser.find_element("id", f"number-{order.index('Age (years)')}")
    kept = browser.find_element("id", f"number-{order.index('lab')}")
    if by == "item":
        click(browser, f"label[for=item-{list(score.points).index('age >= 75')}]")
    else:
        variable = [one.variable for one in score.bands()].index("age")
        browser.execute_script(
            "const one = document.getElementById(arguments[0]); one.value = '0';"
            "one.dispatchEvent(new Event('input', {bubbles: true}));", f"variable-{variable}",
        )  # fmt: skip
    assert (number.get_attribute("value"), kept.get_attribute("value")) == ("", "1")
    assert browser.find_element("id", "calculator-note").text == ""


@pytest.mark.usefixtures("no_diagrams")
def test_numbers_are_asked_for_where_conditions_are_stated():
    score, *_ = raw_patients()
    (lab,) = (one for one in calculator_numbers(score) if one["label"] == "lab")
    assert lab["special"] == [-9.0]
    assert {test["kind"] for test in lab["tests"]} >= {">=", "missing"}
    assert [0.1 + 0.2] in [test["values"] for test in lab["tests"]]
    # A name states nothing, and levels are no numbers.
    points = {"age >= 45": 1, "sex = male": 1}
    assert calculator_numbers(RiskScore(-1, points)) == []
    (age,) = calculator_numbers(RiskScore(-1, points, items=read_items(points)))
    assert (age["label"], age["range"], age["minimum"]) == ("age", "", None)


@pytest.mark.slow
def test_the_result_of_the_calculator_stays_in_view(shown, browser):
    X = {f"item {k}": np.arange(40) % (k + 2) == 0 for k in range(15)}
    score = RiskScore(-5, dict.fromkeys(X, 1))
    shown(render(score, X, np.arange(40) % 3 == 0, n_resamples=0), 390)
    for k in (0, 14):
        click(browser, f"label[for=item-{k}]")
        top, bottom, height = browser.execute_script(
            "const box = document.querySelector('.result').getBoundingClientRect();"
            "return [box.top, box.bottom, innerHeight]"
        )
        assert 0 <= top < bottom <= height
    assert browser.find_element("id", "calculator-score").text == "2"


def test_phones_show_all_columns_of_wide_tables(shown, browser, full):
    shown(full[1], 390)
    sizes = browser.execute_script("""
    return [...document.querySelectorAll("table.stacked")].map((one) => [
      one.parentElement.scrollWidth, one.parentElement.clientWidth,
      one.tHead.rows[0].cells[3].textContent, one.tBodies[0].rows[0].cells[3].dataset.head,
      getComputedStyle(one.tBodies[0].rows[0].cells[3], "::before").content])""")
    assert [head for *_, head, _ in sizes].count("Sensitivity") == 2  # operating points
    assert len(sizes) == 4
    for inside, there, head, shown_head, printed in sizes:
        assert inside <= there
        assert head == shown_head
        assert printed in (f'"{head}"', "attr(data-head)")


@pytest.mark.slow
@pytest.mark.parametrize("width", [700, 1000, 1024, 1200])
def test_the_last_rate_of_operating_points_is_in_sight(shown, browser, full, width):
    """At 1,000 px the NPV had been beyond the edge."""
    shown(full[1], width)
    sizes = browser.execute_script("""
    return [...document.querySelectorAll("table.stacked")].filter(
      (one) => one.caption.textContent.startsWith("Operating points")).map((one) => [
      one.tHead.rows[0].lastElementChild.textContent,
      one.parentElement.scrollWidth, one.parentElement.clientWidth])""")
    assert len(sizes) == 2
    for head, inside, there in sizes:
        assert head == "NPV"
        assert inside <= there


@pytest.mark.slow
def test_names_in_diagrams_are_not_cut_inside_a_word():
    score, raw, y = raw_patients()
    name = "death within thirty days of admission to an intensive care unit for any reason"
    score = dataclasses.replace(score, outcome_name=name)
    page = render(score, raw, y.astype(int), n_resamples=0)
    diagram = page[page.index('id="discrimination"') : page.index('id="decisions"')]
    lines = re.findall(r"<(?:text|tspan)[^>]*>([^<]+)<", diagram)
    for label in (0, 1):
        said = f"with {name} = {label}".split()
        assert said[0] in " ".join(lines).split()
        wrapped = [line for line in lines if set(line.split()) & {"thirty", "reason"}]
        assert wrapped
        assert all(set(line.split()) <= set(said) | {"0", "1"} for line in wrapped)
    assert "\u2026" not in " ".join(lines)


@pytest.mark.slow
def test_calculator_with_names_of_any_kind(shown, browser):
    score, X, y = hostile()
    shown(render(score, X, y))
    rng = np.random.default_rng(6)
    rows = rng.integers(0, 2, (150, len(HOSTILE))).astype(float)
    rows[:, list(score.points).index(HOSTILE[1])] = rng.normal(0, 2, 150)
    risk = score.predict_proba([dict(zip(score.points, row, strict=True)) for row in rows])[:, 1]
    assert len(np.unique(risk)) > 100
    found = browser.execute_script(FILL, rows.tolist())
    # Real values: the last bit of exp differs from library to library.
    np.testing.assert_allclose([float(one[1]) for one in found], risk, rtol=1e-14)


@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")
@pytest.mark.parametrize("scale", [pytest.param(1, marks=pytest.mark.slow), 2.5])
def test_calculator_with_numbers_of_any_kind(shown, browser, scale):
    """Decimal, negative and out of range: computed; no number: asked for."""
    names = ["real", "below zero", "count"]
    score = RiskScore(
        -2, dict(zip(names, (3, 2, -1), strict=True)), scale=scale,
        feature_ranges={"real": FeatureRange(0, 10, is_integer=False),
                        "below zero": FeatureRange(-5.5, -0.5, is_integer=False),
                        "count": FeatureRange(0, 7)},
    )  # fmt: skip
    assert list(score.points) == names
    rng = np.random.default_rng(12)
    X = {"real": rng.random(50) * 10, "below zero": -0.5 - rng.random(50) * 5,
         "count": rng.integers(0, 8, 50)}  # fmt: skip
    shown(render(score, X, np.arange(50) % 2))
    rows = np.column_stack(
        [rng.normal(0, 5, 200).round(1), rng.normal(0, 5, 200), rng.integers(-3, 12, 200) / 2]
    )
    found = browser.execute_script(FILL, rows.tolist())
    expected = score.predict_proba([dict(zip(names, row, strict=True)) for row in rows])[:, 1]
    np.testing.assert_allclose([float(one[1]) for one in found], expected, rtol=1e-12)
    assert [one[3] for one in found] == [percent(risk, 0.001) for risk in expected]
    # 3 times 0.1 less 2 times 0.1: the score has no errors of the last digits to show.
    (one,) = browser.execute_script(FILL, [[0.1, -0.1, 0]])
    assert (float(one[0]), one[2]) == (3 * 0.1 - 2 * 0.1, "0.1")
    assert browser.find_element("id", "points-0").text == "0.3"
    assert browser.find_element("id", "points-1").text == "\u22120.2"
    for wrong in ("", "abc", "1,5", "-", "1e400", "Infinity"):
        (one,) = browser.execute_script(FILL, [[wrong, -1, 0]])
        assert one == [None, None, "\u2026", "\u2026"]
        assert browser.find_element("id", "calculator-note").text == "Still to be entered: real."
    assert browser.execute_script(FILL, [[1e308, -1, 0]])[0][2:] == ["\u2026", "\u2026"]
    assert "too large values" in browser.find_element("id", "calculator-note").text


@pytest.mark.slow
def test_calculator_waits_for_what_is_missing(shown, browser, full):
    shown(full[1])
    names = list(full[0].risk_score.points)
    number = browser.find_element("id", f"item-{names.index('visits')}")
    risk = browser.find_element("id", "calculator-risk")
    note = browser.find_element("id", "calculator-note")
    assert risk.text == "\u2026"
    assert note.text == "Still to be entered: visits."
    click(browser, f"label[for=item-{names.index('age >= 60')}]")
    number.send_keys("2")
    assert risk.text.endswith("%")
    record = dict.fromkeys(names, 0) | {"visits": 2, "age >= 60": 1}
    for k, name in enumerate(names):
        points = record[name] * full[0].risk_score.points[name]
        assert browser.find_element("id", f"points-{k}").text == str(points)
    expected = full[0].risk_score.predict_proba(record)[0, 1]
    assert risk.text == percent(expected, 0.001)
    assert note.text == ""
    browser.find_element("css selector", "#calculator button").click()
    assert browser.execute_async_script(
        "const done = arguments[0];"
        "setTimeout(() => done(document.getElementById('calculator-risk').textContent), 20)"
    ) == "\u2026"  # fmt: skip


@pytest.mark.parametrize(
    "width", [320, *(pytest.param(width, marks=pytest.mark.slow) for width in (375, 768))]
)
def test_no_page_is_scrolled_sideways(shown, browser, full, width):
    for page in (full[1], *map(page_of, PAGES)):
        shown(page, width)
        assert browser.execute_script("return innerWidth") == width
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        # What is wider scrolls within itself, and the text is not tiny.
        assert browser.execute_script(
            "return Math.min(...[...document.querySelectorAll('p, td, th, label')]"
            ".map((one) => parseFloat(getComputedStyle(one).fontSize)))"
        ) >= 13  # fmt: skip


def with_a_long_risk_table() -> tuple[RiskScore, pd.DataFrame, np.ndarray]:
    points = {f"item {k}": k + 1 for k in range(7)}
    rng = np.random.default_rng(7)
    X = pd.DataFrame({name: rng.integers(0, 2, 300) for name in points})
    score = RiskScore(-14, points, scale=4)
    return score, X, (rng.random(300) < score.predict_proba(X)[:, 1]).astype(int)


@pytest.mark.slow
def test_phones_show_the_whole_risk_table(shown, browser):
    score, X, y = with_a_long_risk_table()
    many = {name: np.tile(X[name], 400) for name in X}  # cases such as "1200/2000"
    shown(render(score, many, np.tile(y, 400), n_resamples=0), 390)
    region = "document.querySelector(\".riskslim-score [role='region']\")"
    sizes = f"return [{region}.scrollWidth, {region}.clientWidth]"
    inside, there = browser.execute_script(sizes)
    assert 300 < inside <= there
    # Entries are one beneath the other, and cells of an entry in a line.
    tops = browser.execute_script(
        f"return [...{region}.querySelector('table').querySelectorAll('tr')].map("
        "(row) => [...row.children].map((cell) => Math.round(cell.getBoundingClientRect().top)))"
    )
    assert len(tops) == 4
    assert all(row == tops[0] == sorted(set(row)) for row in tops)


@pytest.mark.slow
def test_paper_shows_the_whole_risk_table(shown, browser):
    score, X, y = with_a_long_risk_table()
    width = """
    return Math.max(...[...document.querySelectorAll(".riskslim-score table")]
                    .map((one) => one.getBoundingClientRect().width))"""
    page = render(score, X, y)
    # A fragment by itself, as notebooks show it, is not scrolled either.
    for shown_page in (page, f"<!DOCTYPE html><title>sheet</title>{score.sheet(X, y).to_html()}"):
        shown(shown_page, 700)
        assert browser.execute_script("return document.querySelectorAll('table').length") > 3
        assert 400 < browser.execute_script(width) <= 700
    shown(page, 680)  # A4 with margins of 15 mm
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert browser.execute_script(width) <= 680
        hidden = "return getComputedStyle(document.querySelector('.screen')).display"
        assert browser.execute_script(hidden) == "none"
        # The sheet begins beneath the title, whatever its length.
        inside = "return getComputedStyle(document.querySelector('.riskslim-score')).breakInside"
        assert browser.execute_script(inside) == "auto"
        # Small tables are not broken over pages, long ones are.
        broken = """
        return [...document.querySelectorAll(".scroll > table")].map(
          (one) => [one.tBodies[0].rows.length, getComputedStyle(one).breakInside])"""
        kept = {(n <= 6, value) for n, value in browser.execute_script(broken)}
        assert kept == {(True, "avoid"), (False, "auto")}
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
