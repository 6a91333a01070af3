"""The threshold of a score: chosen, applied, shown, saved and exported as one and the same."""

from __future__ import annotations

import json
import re
import sqlite3

import jsonschema
import numpy as np
import pytest

from export_targets import Pmml, run_python
from paths import DOCS
from riskslim import Certificate, RiskScore, Status
from riskslim.items import read_items
from riskslim.operating_point import DecisionThreshold, RequiredShare, RuleCertificate, Shares
from riskslim.risk_score import FeatureRange
from riskslim.score.operating_point import called_positive, share_intervals

POINTS = {"a": 3, "b": 2, "c": -2, "d": 1}
SCORE = RiskScore(-2, POINTS, outcome_name="died", scale=1.7)


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = {name: rng.integers(0, 2, n) for name in POINTS}
    risk = 1 / (1 + np.exp(1.5 - X["a"] - X["b"] + X["c"]))
    return X, (rng.random(n) < risk).astype(int)


def certified(threshold=2, shares=None, required=None, bound=None):
    """A score with a certificate about its threshold."""
    shares = shares or Shares(193, 203, 6280, 11841)
    rule = RuleCertificate(
        required or RequiredShare("sensitivity", 0.95), threshold, shares,
        shares.true_negatives if bound is None else bound, True,
    )  # fmt: skip
    certificate = Certificate(
        Status.OPTIMAL if rule.is_best else Status.FEASIBLE, 0.25, 0.24, 4, 0.25, 0.0, 0.0,
        "branch_and_bound", 12044, rule=rule,
    )  # fmt: skip
    point = DecisionThreshold(threshold, shares, None, rule.required)
    return RiskScore(-2, POINTS, certificate=certificate, operating_point=point)


def shares_by_hand(score, X, y, threshold):
    called, positive = score.score_samples(X) >= threshold, np.asarray(y) == 1
    return Shares(
        int((called & positive).sum()), int(positive.sum()),
        int((~called & ~positive).sum()), int((~positive).sum()),
    )  # fmt: skip


# ---- chosen --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shown", ["fitted", "non-negative"])
@pytest.mark.parametrize("name", ["sensitivity", "specificity"])
def test_the_best_threshold_that_reaches_a_share_is_chosen(name, shown):
    X, y = rows()
    score = SCORE.with_layout(points=shown)
    for share in (0.3, 0.6, 0.8, 0.9):
        point = score.with_operating_point(X, y, **{name: share}).operating_point
        threshold = point.threshold + (2 if shown == "non-negative" else 0)
        assert point.training == shares_by_hand(score, X, y, threshold)
        assert point.required == RequiredShare(name, share)
        assert point.required.is_met_by(point.training)
        other = point.required.other
        for each in np.unique(score.score_samples(X)):
            shares = shares_by_hand(score, X, y, each)
            if point.required.is_met_by(shares):
                assert getattr(shares, other) <= getattr(point.training, other)


def test_a_threshold_is_given_as_the_sheet_counts():
    X, y = rows()
    for shown, shift in (("fitted", 0), ("non-negative", 2)):
        score = SCORE.with_layout(points=shown)
        alone = score.with_operating_point(threshold=3)
        assert alone.operating_point == DecisionThreshold(3 - shift)
        with_rows = score.with_operating_point(X, y, threshold=3, X_test=X, y_test=1 - y)
        assert with_rows.operating_point.threshold == 3 - shift
        assert with_rows.operating_point.training == shares_by_hand(score, X, y, 3)
        assert with_rows.operating_point.test == shares_by_hand(score, X, 1 - y, 3)
    assert with_rows.with_operating_point() == score
    # Other rows alone are looked at with the threshold that there is.
    tested = alone.with_operating_point(X_test=X, y_test=y).operating_point
    assert tested == DecisionThreshold(1, test=shares_by_hand(score, X, y, 3))
    with pytest.raises(TypeError, match="got none of them"):
        score.with_operating_point(X_test=X, y_test=y)


def test_weights_count_and_rows_without_weight_do_not():
    X, y = rows()
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    repeated = {name: np.repeat(values, weight.astype(int)) for name, values in X.items()}
    one = SCORE.with_operating_point(X, y, weight, sensitivity=0.9).operating_point
    other = SCORE.with_operating_point(
        repeated, np.repeat(y, weight.astype(int)), sensitivity=0.9
    ).operating_point
    assert one.training == other.training
    assert one.threshold == other.threshold


def test_a_share_of_weights_is_never_above_one():
    """Weights added up without rows of next to no weight can be more, in the last digit."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(20, 60))
        X = {name: rng.integers(0, 2, n) for name in "ad"}
        for name in X:
            X[name][:4] = [0, 0, 1, 1]
        X |= {name: np.zeros(n, int) for name in "bc"}
        y, weights = np.arange(n) % 2, rng.uniform(0.1, 2.0, n)
        weights[X["a"] == 0] = 1e-20
        tested = {"X_test": X, "y_test": y, "sample_weight_test": weights}
        point = SCORE.with_operating_point(X, y, weights, threshold=3, **tested).operating_point
        for shares in (point.training, point.test):
            assert not shares.faults()
            assert shares.sensitivity == 1.0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"sensitivity": 0.9}, ValueError, "pass X and y"),
        ({"sensitivity": 0.9, "threshold": 1}, TypeError, "exactly one of"),
        ({"X": rows()[0], "y": rows()[1]}, TypeError, "got none of them"),
        ({"X": rows()[0], "y": rows()[1], "sensitivity": 95}, ValueError, "as 0.95 for 95%"),
        ({"threshold": float("nan")}, ValueError, "threshold"),
        ({"threshold": "3"}, ValueError, "threshold"),
        ({"y": rows()[1]}, ValueError, "y belongs to rows: pass X as well"),
        ({"threshold": 1, "sample_weight": np.ones(3)}, ValueError, "sample_weight belongs to"),
        ({"y_test": rows()[1]}, ValueError, "y_test belongs to rows: pass X_test as well"),
        (
            {"threshold": 1, "X_test": rows()[0], "y_test": np.zeros(200)},
            ValueError,
            "X_test must have rows of both classes",
        ),
    ],
)
def test_what_is_asked_for_is_checked(arguments, error, message):
    with pytest.raises(error, match=message):
        SCORE.with_operating_point(**arguments)


def test_a_score_takes_nothing_else_for_its_threshold():
    with pytest.raises(TypeError, match="operating_point must be a DecisionThreshold"):
        RiskScore(-1, {"a": 1}, operating_point=3)
    with pytest.raises(TypeError, match="training must be Shares"):
        DecisionThreshold(1, (1, 2, 3, 4))
    with pytest.raises(ValueError, match="test: the rule's counts"):
        DecisionThreshold(1, None, Shares(3, 2, 1, 1))


# ---- applied -------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [-3, -2, 0, 1, 2.5, 3, 6, 7])
@pytest.mark.parametrize("recalibrate", [False, True])
def test_predictions_go_by_the_threshold_and_risks_stay(threshold, recalibrate):
    X, y = rows()
    score = SCORE.recalibrated(X, y) if recalibrate else SCORE
    ruled = score.with_operating_point(threshold=threshold)
    called = score.score_samples(X) >= threshold
    assert (ruled.predict(X) == called).all()
    decision = ruled.decision_function(X)
    assert ((decision > 0) == called).all()
    assert (decision != 0).all()
    assert (ruled.log_odds(X) == score.log_odds(X)).all()
    assert (ruled.predict_proba(X) == score.predict_proba(X)).all()
    assert (called_positive(ruled, ruled.log_odds(X)) == called).all()
    # Log-odds less a constant: the same order.
    assert np.ptp(decision - score.log_odds(X)) < 1e-12
    shown = ruled.with_layout(points="non-negative")
    assert (shown.predict(X) == called).all()
    assert (shown.decision_function(X) == decision).all()


def test_without_a_threshold_nothing_changes():
    X, _ = rows()
    assert (SCORE.decision_function(X) == SCORE.log_odds(X)).all()
    assert (SCORE.predict(X) == (SCORE.predict_proba(X)[:, 1] > 0.5)).all()
    assert called_positive(SCORE, SCORE.log_odds(X)) is None


def test_thresholds_on_real_scores_are_met_exactly():
    score = RiskScore(-1, {"x": 3}, feature_ranges={"x": FeatureRange(0.1, 0.7, is_integer=False)})
    threshold = 3 * 0.1
    ruled = score.with_operating_point(threshold=threshold)
    X = {"x": [np.nextafter(0.1, 0), 0.1, np.nextafter(0.1, 1), 0.0999, 0.7]}
    scores = score.score_samples(X)
    assert (ruled.predict(X) == (scores >= threshold)).all()
    assert ((ruled.decision_function(X) > 0) == (scores >= threshold)).all()
    # Of whole numbers, too, where rows have others.
    whole = RiskScore(-1, {"x": 1}, feature_ranges={"x": FeatureRange(0, 5)})
    decision = whole.with_operating_point(threshold=3).decision_function({"x": [2, 2.7, 3]})
    assert (decision > 0).tolist() == [False, False, True]


# ---- shown ---------------------------------------------------------------------------------------


def test_the_words_are_those_of_the_sheet_in_every_form():
    score = certified()
    words = (
        "Score of 2 or more: positive.",
        "Finds 193 of 203 (95.1%), leaves out 6,280 of 11,841 (53.0%) of the others.",
        "No score within the requirements that finds at least 95% of the positive rows leaves out "
        "more.",
    )
    sheet = score.sheet()
    assert sheet.rule == words
    assert " ".join(words) in " ".join(str(sheet).split())
    assert f"**{words[0]}** {words[1]}" in sheet.to_markdown().replace("\\", "")
    assert f"<strong>{words[0]}</strong> {words[1]}" in sheet.to_html()
    assert rf"{{\bfseries {words[0]}}} Finds 193 of 203" in sheet.to_latex()
    shown = score.with_layout(points="non-negative").sheet()
    assert shown.rule[0] == "Score of 4 or more: positive."
    assert score.sheet(points="non-negative").rule[0] == shown.rule[0]


def test_the_sheet_is_drawn_with_its_rule():
    drawn = certified().plot()
    texts = " ".join(text.get_text() for text in drawn.texts)
    assert "Score of 2 or more: positive." in texts
    assert "Finds 193 of 203" in texts


def test_what_is_open_is_said():
    said = certified(bound=6518).sheet().rule[2]
    assert said.endswith("leaves out more than 6,518 (55.0%).")
    found = certified(required=RequiredShare("specificity", 0.5), bound=195).sheet().rule[2]
    assert found.endswith(
        "leaves out at least 50% of the negative rows finds more than 195 (96.1%)."
    )


def test_another_threshold_has_no_proof():
    X, y = rows()
    for other in (
        certified().with_operating_point(X, y, sensitivity=0.95),
        certified().with_operating_point(threshold=3),
    ):
        assert not any("No score within" in one for one in other.sheet().rule)


def test_the_same_threshold_on_other_rows_has_no_proof():
    X, y = rows()
    required = RequiredShare("sensitivity", 0.9)
    threshold = SCORE.with_operating_point(X, y, sensitivity=0.9).operating_point.threshold
    shares = shares_by_hand(SCORE, X, y, threshold)
    score = certified(threshold, shares, required)
    same = score.with_operating_point(X, y, sensitivity=0.9)
    assert same.sheet().rule == score.sheet().rule
    assert "leaves out more" in score.sheet().rule[2]
    # Fewer of those that are left out, and nothing else: the threshold stays the best one.
    left_out = (y == 0) & (score.predict(X) == 0)
    kept = ~left_out | (np.cumsum(left_out) <= left_out.sum() - 5)
    own = {name: values[kept] for name, values in X.items()}
    other = score.with_operating_point(own, y[kept], sensitivity=0.9)
    assert other.operating_point.threshold == threshold
    assert other.sheet().rule[1] != score.sheet().rule[1]
    assert len(other.sheet().rule) == 2


def test_totals_of_scorecards_have_the_threshold():
    X, y = rows()
    items = read_items(POINTS)
    score = RiskScore(-2, POINTS, items=items).with_operating_point(X, y, sensitivity=0.9)
    for shown in ("fitted", "non-negative"):
        for higher_is, sign in (("safer", -1), ("riskier", 1)):
            laid_out = score.with_layout(points=shown)
            card = laid_out.scorecard(higher_is=higher_is)
            total, word = re.match(r"Total of (-?\d+) or (\w+): positive\.", card.rule[0]).groups()
            totals = card.totals(laid_out.score_samples(X))
            called = totals >= int(total) if sign > 0 else totals <= int(total)
            assert word == ("more" if sign > 0 else "less")
            assert (called == score.predict(X)).all()


def test_explanations_lead_to_the_other_side_of_the_threshold():
    ruled = SCORE.with_operating_point(threshold=3)
    found = ruled.explain({"a": 1, "b": 0, "c": 0, "d": 0})
    assert found.is_positive
    assert "Positive: the score is 3 or more." in str(found)
    assert found.target == "a score below 3"
    assert found.to_dict()["positive"] is True
    below = ruled.explain({"a": 0, "b": 1, "c": 0, "d": 0})
    assert below.is_positive is False
    assert "Negative: the score is below 3." in str(below)
    assert below.target == "a score of at least 3"
    shown = ruled.with_layout(points="non-negative").explain({"a": 1, "b": 0, "c": 0, "d": 0})
    assert "Positive: the score is 5 or more." in str(shown)
    plain = SCORE.explain({"a": 0, "b": 1, "c": 0, "d": 0})
    assert plain.is_positive is None
    assert "positive" not in plain.to_dict()


def test_the_boolean_rule_is_that_of_the_threshold():
    X, _ = rows()
    for threshold in (-1, 1, 2, 3, 5):
        for shown in ("fitted", "non-negative"):
            score = SCORE.with_operating_point(threshold=threshold).with_layout(points=shown)
            assert (score.boolean_rule().holds(X) == score.predict(X)).all()
    with pytest.raises(ValueError, match="no operating point"):
        SCORE.boolean_rule()


def test_intervals_are_those_of_operating_points():
    X, y = rows()
    score = SCORE.with_operating_point(X, y, sensitivity=0.9)
    points = score.operating_points(X, y)
    k = [*points.thresholds].index(score.operating_point.threshold)
    for name, found in share_intervals(score.operating_point.training).items():
        lower, upper = points.intervals(name)
        assert found == pytest.approx((getattr(points, name)[k], lower[k], upper[k]))


# ---- saved ---------------------------------------------------------------------------------------

SCHEMA = json.loads((DOCS / "risk_score.schema.json").read_text(encoding="utf-8"))


def saved():
    X, y = rows()
    return [
        SCORE.with_operating_point(threshold=2),
        SCORE.with_operating_point(threshold=2.5),
        SCORE.with_operating_point(X, y, specificity=0.7, X_test=X, y_test=y),
        certified(),
        certified(bound=7000),
        RiskScore(-2, POINTS, certificate=certified().certificate),
    ]


@pytest.mark.parametrize("score", saved(), ids=range(len(saved())))
def test_files_keep_it_in_a_version_that_earlier_readers_refuse(score):
    document = json.loads(score.to_json())
    assert document["version"] == 9
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert RiskScore.from_json(score.to_json()) == score
    earlier = {**document, "version": 8}
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(earlier)
    with pytest.raises(ValueError, match=r"version 8 of .* no '(operating_point|rule)'"):
        RiskScore.from_json(json.dumps(earlier))


@pytest.mark.parametrize(
    "change",
    [{"threshold": None}, {"threshold": "2"}, {"threshold": True}, {"training": [1, 2, 3, 4]},
     {"training": {"true_positives": 1}}, {"required": {"name": "ppv", "share": 0.9}},
     {"required": {"name": "sensitivity", "share": 95}}, {"required": {"name": "sensitivity"}}],
    ids=repr,
)  # fmt: skip
def test_thresholds_in_files_are_checked(change):
    document = json.loads(certified().to_json())
    document["operating_point"] |= change
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(document)
    with pytest.raises(ValueError, match="'operating_point'"):
        RiskScore.from_json(json.dumps(document))


@pytest.mark.parametrize(
    "change",
    [
        {"bound": "much"}, {"bound": None}, {"shares": {}}, {"required": {}}, {"threshold": "2"},
        {"is_tie_proven": "no"},
    ],
    ids=repr,
)  # fmt: skip
def test_certificates_of_rules_in_files_are_checked(change):
    document = json.loads(certified().to_json())
    document["certificate"]["rule"] |= change
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(document)
    with pytest.raises(ValueError, match="'rule' of the certificate"):
        RiskScore.from_json(json.dumps(document))


def test_a_certificate_that_contradicts_itself_is_refused():
    with pytest.raises(ValueError, match="does not reach the required share"):
        certified(shares=Shares(100, 203, 6280, 11841)).to_json()


# ---- exported ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shown", ["fitted", "non-negative"])
@pytest.mark.parametrize("threshold", [2, 2.5, -1])
def test_exports_call_the_same_rows_positive(threshold, shown):
    X, _ = rows(50)
    score = SCORE.with_operating_point(threshold=threshold).with_layout(points=shown)
    scores, risks = score.score_samples(X), score.predict_proba(X)[:, 1]
    called = score.predict(X).astype(bool)
    records = [
        dict(zip(X, map(int, values), strict=True)) for values in zip(*X.values(), strict=True)
    ]
    found = [run_python(score)(record) for record in records]
    assert found == [*zip(risks.tolist(), scores.tolist(), called.tolist(), strict=True)]
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE patients (a, b, c, d)")
    database.executemany(
        "INSERT INTO patients VALUES (?, ?, ?, ?)", zip(*(map(int, X[k]) for k in X), strict=True)
    )
    lines = database.execute(score.to_sql("sqlite", table="patients"))
    assert [column for column, *_ in lines.description][-2:] == ["risk", "positive"]
    assert [line[-1] for line in lines.fetchall()] == called.tolist()
    database.execute("UPDATE patients SET a = NULL")
    lines = database.execute(score.to_sql("sqlite", table="patients", reasons=1)).fetchall()
    assert {line[-2] for line in lines} == {None}
    document = Pmml(score.to_pmml())
    assert [document.predict(one)["label"] for one in records] == called.astype(int).tolist()


def test_exported_functions_have_reasons_behind_the_decision():
    namespace = {}
    exec(SCORE.with_operating_point(threshold=2).to_python(reasons=1), namespace)
    found = namespace["predict_risk"]({"a": 1, "b": 0, "c": 0, "d": 0})
    assert found[1:] == (3, True, ["a"])


def test_exported_javascript_decides_by_the_sum_of_fitted_points():
    score = SCORE.with_operating_point(threshold=2).with_layout(points="non-negative")
    script = score.to_javascript()
    assert "returns { risk, score, positive }" in script
    assert "score: score + (2), positive: score >= 2 }" in script
    assert "Score of 4 or more: positive." in script
    assert "positive" not in SCORE.to_javascript()
