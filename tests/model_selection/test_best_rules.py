"""Rules through every door: the estimator, the command line, folds, sizes, reports."""

from __future__ import annotations

import itertools
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_predict

from command_line import invoke
from riskslim import (
    ItemEncoder,
    RiskScore,
    RiskSLIMClassifier,
    cross_validate_risk_score,
    model_size_path,
    rule_margin,
)
from riskslim.model_selection.rules import _checked_aims
from riskslim.operating_point import RequiredShare

SHARES = ("sensitivity", "specificity")


def rows(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 2, (n, d)), columns=[f"x{j}" for j in range(d)])
    risk = 1 / (1 + np.exp(2.2 - 1.5 * X["x0"] - 1.1 * X["x1"] + 0.9 * X["x2"]))
    return X, pd.Series(np.where(rng.random(n) < risk, "yes", "no"), name="died")


def best_by_hand(X, y, size, most, required, weight=None):
    """The largest other share of all scores, by trying every one of them."""
    positive = np.asarray(y == "yes")
    weight = np.ones(len(X)) if weight is None else weight
    best = 0.0
    for support in itertools.combinations(range(X.shape[1]), size):
        for points in itertools.product(range(-most, most + 1), repeat=size):
            scores = X.to_numpy()[:, support] @ np.array(points)
            for threshold in np.unique(scores):
                called = scores >= threshold
                found, left_out = (
                    weight[right & of_class].sum() / weight[of_class].sum()
                    for right, of_class in ((called, positive), (~called, ~positive))
                )
                wanted, other = (found, left_out)
                if required.name == "specificity":
                    wanted, other = other, wanted
                if wanted >= required.share - 1e-12:
                    best = max(best, other)
    return best


@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_classifier_finds_the_best_rule(name, weighted):
    X, y = rows()
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None
    required = RequiredShare(name, 0.8)
    classifier = RiskSLIMClassifier(max_size=2, max_coef=2, **{name: 0.8}).fit(X, y, weight)
    score, rule = classifier.risk_score_, classifier.certificate_.rule
    assert classifier.certificate_.is_optimal
    assert rule.required == required
    assert rule.is_best
    best = best_by_hand(X, y, 2, 2, required, weight)
    assert getattr(rule.shares, required.other) == pytest.approx(best, abs=1e-12)
    assert score.operating_point.training == rule.shares
    again = score.with_operating_point(
        X, y, weight, threshold=score.operating_point.threshold
    ).operating_point
    assert again.training == rule.shares


@pytest.mark.parametrize("shown", ["fitted", "non-negative"])
@pytest.mark.parametrize("positive", ["yes", "no"])
def test_predictions_agree_with_the_threshold(shown, positive):
    X, y = rows()
    classifier = RiskSLIMClassifier(
        max_size=2, sensitivity=0.9, points=shown, positive_label=positive
    ).fit(X, y)
    score = classifier.risk_score_
    threshold = score.sheet().rule[0].split()[2]
    called = classifier.score_samples(X) >= float(threshold)
    other = "no" if positive == "yes" else "yes"
    labels = classifier.predict(X)
    assert (labels == np.where(called, positive, other)).all()
    assert (score.predict(X) == labels).all()
    decision = classifier.decision_function(X)
    assert ((decision > 0) == (labels == "yes")).all()
    # Probabilities are the calibrated ones.
    risks = classifier.predict_proba(X)
    assert np.allclose(np.log(risks), classifier.predict_log_proba(X))
    log_odds = X.to_numpy() @ classifier.coef_[0] + classifier.intercept_[0]
    assert np.allclose(risks[:, 1], 1 / (1 + np.exp(-log_odds)))
    assert np.ptp(decision - log_odds) < 1e-9
    shares = score.operating_point.training
    assert shares.true_positives == (called & (y == positive)).sum()
    assert shares.positives == (y == positive).sum()


def test_weights_of_classes_move_no_share_and_no_count():
    X, y = rows()
    plain = RiskSLIMClassifier(max_size=2, sensitivity=0.9).fit(X, y)
    for class_weight in ("balanced", {"yes": 7.3}):
        weighted = clone(plain).set_params(class_weight=class_weight).fit(X, y)
        ours, theirs = (one.risk_score_.operating_point.training for one in (weighted, plain))
        assert ours == theirs
        assert weighted.certificate_.rule.shares.specificity == pytest.approx(theirs.specificity)


def test_what_does_not_go_together_is_refused():
    X, y = rows()
    for parameters, message in (
        ({"sensitivity": 0.9, "specificity": 0.5}, "exclude each other"),
        ({"sensitivity": 90}, "as 0.95 for 95%"),
        ({"specificity": 0}, "above 0"),
        ({"sensitivity": 0.9, "within": 1.1}, "a share of rows, at most 1"),
    ):
        with pytest.raises(ValueError, match=message):
            RiskSLIMClassifier(**parameters).fit(X, y)


def test_lattice_cpa_knows_no_rules(monkeypatch):
    monkeypatch.setattr("riskslim.classifier.import_solver", lambda _: None)
    X, y = rows()
    with pytest.raises(ValueError, match="sensitivity needs engine='branch_and_bound'"):
        RiskSLIMClassifier(engine="lattice_cpa", sensitivity=0.9).fit(X, y)


def test_a_search_that_ends_early_says_what_is_open():
    X, y = rows(400, 12, 3)
    with pytest.warns(ConvergenceWarning, match="No score within the requirements that finds at"):
        classifier = RiskSLIMClassifier(
            max_size=4, sensitivity=0.9, node_limit=1, time_limit=20
        ).fit(X, y)
    rule = classifier.certificate_.rule
    assert rule.bound >= rule.shares.true_negatives
    assert "leaves out more than" in classifier.risk_score_.sheet().rule[-1]


def test_files_reports_and_methods_have_the_proof(tmp_path):
    X, y = rows()
    classifier = RiskSLIMClassifier(max_size=2, sensitivity=0.9).fit(X, y)
    score = classifier.risk_score_
    assert RiskScore.from_json(score.to_json()) == score
    cv = cross_validate_risk_score(classifier, X, y, cv=3)
    path = model_size_path(classifier, X, y, cv=3)
    score.report(
        tmp_path / "report.html", X, y, X_test=X[:80], y_test=y[:80], cv=cv, size_path=path,
        n_resamples=0,
    )  # fmt: skip
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    words = score.sheet().rule
    assert words[2].startswith("No score within the requirements that finds at least 90%")
    assert f"<strong>{words[0]}</strong> {' '.join(words[1:])}" in page
    assert "The rule on rows" in page
    assert "test rows of 3 folds" in page
    assert 'const calculatorDecision = {"positive": "Positive: the score is' in page
    assert "Sensitivity against specificity of the best rules" in page
    text = score.methods_text(cv)
    assert "chosen for a rule that finds at least 90% of the positive rows" in text
    assert text.count(score.operating_point.training.describe()) == 1
    assert f"sensitivity {cv.summary('sensitivity')}" in text
    validation = score.validate(X[:80], y[:80], n_resamples=0)
    tested = score.with_operating_point(X_test=X[:80], y_test=y[:80]).operating_point.test
    assert validation.shares["sensitivity"].value == tested.sensitivity
    assert tested.describe() in str(validation)
    parts = [one["name"] for one in validation.records() if one["part"] == "rule"]
    assert parts == [*SHARES]


def test_folds_have_the_shares_of_their_own_thresholds():
    X, y = rows()
    classifier = RiskSLIMClassifier(max_size=2, sensitivity=0.9)
    found = cross_validate_risk_score(classifier, X, y, cv=3)
    assert found.has_shares
    for fold in found.folds:
        labels = fold.model.predict(X.iloc[fold.test_rows])
        truth = y.to_numpy()[fold.test_rows]
        assert fold.test.sensitivity == (labels[truth == "yes"] == "yes").mean()
        assert fold.test.specificity == (labels[truth == "no"] == "no").mean()
        assert fold.train.sensitivity >= 0.9
    assert "\nsensitivity " in str(found)
    assert {*SHARES} <= {*found.records()[0]}
    plain = cross_validate_risk_score(RiskSLIMClassifier(max_size=2), X, y, cv=3)
    assert not plain.has_shares
    assert "sensitivity" not in str(plain)
    assert not {*SHARES} & {*plain.records()[0]}


def test_sizes_of_rules_have_shares_and_keep_their_own_bounds():
    X, y = rows()
    classifier = RiskSLIMClassifier(max_size=3, specificity=0.7)
    path = model_size_path(classifier, X, y, cv=3)
    assert path.has_rules
    assert path.free_share == "sensitivity"
    found = [entry.train.sensitivity for entry in path.entries]
    assert found == sorted(found)
    for entry in path.entries:
        alone = clone(classifier).set_params(max_size=entry.max_size).fit(X, y)
        ours, theirs = entry.solution.certificate, alone.certificate_
        assert ours.rule.shares == theirs.rule.shares
        assert ours.objective == pytest.approx(theirs.objective, rel=1e-4)
        score = entry.risk_score
        assert score.operating_point.training == ours.rule.shares
    # Folds of the path are those of the cross-validation.
    last = path.entries[-1].cross_validation
    same = cross_validate_risk_score(classifier, X, y, cv=3)
    assert last.values("sensitivity") == pytest.approx(same.values("sensitivity"))
    assert "test specificity" in str(path)
    assert "test_sensitivity_mean" in path.records()[0]
    ax = path.plot_rules()
    assert ax.get_xlabel() == "Specificity"
    assert {text.get_text() for text in ax.texts} == {"1", "2", "3"}
    assert path.best("best_mean", "sensitivity").max_size in (1, 2, 3)


def test_the_margin_is_the_least_aim_that_folds_keep():
    X, y = rows()
    classifier = RiskSLIMClassifier(max_size=2, sensitivity=0.8)
    found = rule_margin(classifier, X, y, aims=[1.0, 0.8, 0.9], cv=2)
    assert [one.required.share for one in found.entries] == [0.8, 0.9, 1.0]
    for one in found.entries:
        aimed = clone(classifier).set_params(sensitivity=one.required.share)
        again = cross_validate_risk_score(aimed, X, y, cv=2)
        assert one.mean == again.mean("sensitivity")
        assert one.worst == again.values("sensitivity").min()
        assert one.other == again.mean("specificity")
    enough = [one.required.share for one in found.entries if one.mean >= 0.8]
    assert found.aim == enough[0]
    assert found.margin == pytest.approx(enough[0] - 0.8)
    assert f"aim at {100 * found.aim:.4g}%" in str(found)
    assert len(found.records()) == 3
    none = rule_margin(clone(classifier).set_params(sensitivity=0.99), X, y, aims=[0.5], cv=2)
    assert none.aim is None
    assert none.margin is None
    assert "No aim keeps a sensitivity of 99%" in str(none)


def test_sizes_without_thresholds_are_not_chosen_by_shares():
    X, y = rows(120)
    path = model_size_path(RiskSLIMClassifier(max_size=1), X, y, cv=2)
    assert not path.has_rules
    with pytest.raises(ValueError, match="its scores have no threshold"):
        path.best("best_mean", "sensitivity")


def test_six_aims_are_tried_by_default():
    found = _checked_aims(None, RequiredShare("sensitivity", 0.8))
    assert found == pytest.approx([0.8, 0.84, 0.88, 0.92, 0.96, 1.0])
    assert _checked_aims(None, RequiredShare("specificity", 1.0)) == [1.0]


def test_margins_of_other_things_are_refused():
    X, y = rows(60)
    for wrong, error, message in (
        (RiskSLIMClassifier(), ValueError, "must have the share"),
        (object(), TypeError, "must be a RiskSLIMClassifier"),
    ):
        with pytest.raises(error, match=message):
            rule_margin(wrong, X, y)
    with pytest.raises(ValueError, match="aims must be shares"):
        rule_margin(RiskSLIMClassifier(sensitivity=0.9), X, y, aims=[90])
    for aims in (0.95, "0.95"):
        with pytest.raises(TypeError, match="aims must be a sequence of shares"):
            rule_margin(RiskSLIMClassifier(sensitivity=0.9), X, y, aims=aims)
    stopped = rule_margin(RiskSLIMClassifier(sensitivity=0.9), X, y, should_stop=lambda: True)
    assert stopped.entries == ()


def test_scikit_learn_takes_rules_like_any_other_classifier():
    X, y = rows()
    classifier = RiskSLIMClassifier(max_size=2, sensitivity=0.9)
    labels = cross_val_predict(classifier, X, y, cv=3)
    assert set(labels) == {"yes", "no"}
    assert clone(classifier).get_params()["sensitivity"] == 0.9


def raw_table(folder, n=300):
    rng = np.random.default_rng(2)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "smoker": rng.integers(0, 2, n),
        }
    )
    table["died"] = (
        rng.random(n) < 0.05 + 0.4 * (table["age"] >= 60) + 0.2 * table["smoker"]
    ).astype(int)
    table.to_csv(folder / "t.csv", index=False)
    return table


def test_the_command_line_does_what_the_estimator_does(tmp_path):
    table = raw_table(tmp_path)
    files = {name: str(tmp_path / name) for name in ("t.csv", "s.json", "r.html", "p.csv")}
    result = invoke(
        "fit", files["t.csv"], "--outcome", "died", "--items", "--n-thresholds", "3",
        "--sensitivity", "0.95", "--max-size", "3", "--output", files["s.json"], "--report",
        files["r.html"],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "\nAll sets of features were looked at after " in result.stdout
    assert "Engine:" not in result.stderr  # there is no other one for rules
    X = table.drop(columns="died")
    classifier = RiskSLIMClassifier(
        items=ItemEncoder(n_thresholds=3), max_size=3, sensitivity=0.95
    ).fit(X, table["died"])
    score = RiskScore.load(files["s.json"])
    assert score.operating_point == classifier.risk_score_.operating_point
    assert " ".join(score.sheet().rule) in " ".join(result.stdout.split())
    assert score.cutoff_ranges == {}  # they would be about the loss
    predicted = invoke("predict", files["s.json"], files["t.csv"], "--output", files["p.csv"])
    assert predicted.exit_code == 0, predicted.output
    found = pd.read_csv(files["p.csv"])
    assert list(found) == ["score", "risk", "positive"]
    assert (found["positive"] == classifier.predict(X)).all()
    clash = invoke("predict", files["s.json"], files["t.csv"], "--id", "positive")
    assert "already" in clash.stderr
    validated = invoke("validate", files["s.json"], files["t.csv"], "--resamples", "0")
    assert "Sensitivity of the rule" in validated.stdout
    explained = invoke("explain", files["s.json"], files["t.csv"], "--row", "0")
    assert ("Positive:" if found["positive"][0] else "Negative:") in explained.stdout
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "The rule on rows" in page


def test_the_command_line_chooses_sizes_of_rules_by_the_free_share(tmp_path):
    raw_table(tmp_path)
    result = invoke(
        "fit", str(tmp_path / "t.csv"), "--outcome", "died", "--items", "--n-thresholds", "2",
        "--specificity", "0.6", "--max-size", "2", "--path", "--cv", "3", "--path-output",
        str(tmp_path / "sizes.json"),
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "by the rule one_standard_error on the test sensitivity" in result.stdout
    records = json.loads((tmp_path / "sizes.json").read_text(encoding="utf-8"))
    assert all(one["specificity"] >= 0.6 for one in records)


def test_the_command_line_lists_the_best_rule_of_each_set_of_items(tmp_path):
    raw_table(tmp_path, 60)
    result = invoke(
        "fit", str(tmp_path / "t.csv"), "--outcome", "died", "--items", "--sensitivity", "0.9",
        "--max-size", "2", "--within", "0.05", "--n-solutions", "4",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "rank  sensitivity  specificity   objective  positive from  points" in result.stdout
    assert "The list has the best rule of each set of items. It is complete" in result.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--sensitivity", "0.9", "--specificity", "0.5"), "exclude each other"),
        (("--sensitivity", "95"), "as 0.95 for 95%"),
        (("--sensitivity", "0.9", "--within", "2"), "a share of rows, at most 1"),
    ],
)
def test_the_command_line_refuses_what_the_estimator_refuses(tmp_path, options, message):
    raw_table(tmp_path, 60)
    result = invoke("fit", str(tmp_path / "t.csv"), "--outcome", "died", "--items", *options)
    assert result.exit_code != 0
    assert message in " ".join(result.stderr.split())


def test_rules_warn_of_nothing(tmp_path):
    X, y = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RiskSLIMClassifier(max_size=2, sensitivity=0.9).fit(X, y)
