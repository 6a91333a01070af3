"""The ridge penalty where users meet it: classifier, folds, files, sheets, reports, commands."""

from __future__ import annotations

import dataclasses
import json
import math
import re

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from command_line import run, usage_error
from paths import DOCS
from riskslim import (
    Certificate,
    CoefficientSet,
    ItemEncoder,
    RiskScore,
    RiskScoreProblem,
    RiskSLIMClassifier,
    Status,
    TrainingData,
    backend,
    branch_and_bound,
    discrete_coordinate_descent,
    model_size_path,
    read,
    sequential_rounding,
)
from riskslim.datasets import load_breast_cancer_binary
from riskslim.exceptions import UnboundCertificateWarning
from riskslim.model_selection import size_path
from riskslim.problem.scale_remark import better_scale
from riskslim.report.tables import certificate_table
from riskslim.score.json import VERSION
from riskslim.score.requirements import Requirement
from searches import least_objective


def shipped(n_features: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Some columns of the data that need no file, which the outcome does not copy."""
    data = load_breast_cancer_binary()
    chosen = list(range(0, 3 * n_features, 3))
    columns = {data.feature_names[j]: data.column(j) for j in chosen}
    return pd.DataFrame(columns), np.where(data.labels > 0, "yes", "no")


X, Y = shipped(4)
N = len(Y)
# Of one score with a ridge penalty, scale free.
FITTED = RiskSLIMClassifier(shrinkage=2, max_size=3).fit(X, Y)
SCORE = FITTED.risk_score_


def squares(score: RiskScore) -> float:
    """Sum of the squared weights in log-odds."""
    return sum((points / score.scale) ** 2 for points in score.points.values())


# --- classifier -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "penalty",
    [{"l2_penalty": 0.01}, {"shrinkage": dict.fromkeys(X.columns[1:], 3)},
     {"l2_penalty": [0.1, 0, 0.001, 1]}],
)  # fmt: skip
def test_the_certificate_is_that_of_the_best_of_all_vectors(penalty):
    model = RiskSLIMClassifier(max_coef=2, max_intercept=3, scale=[1, 2], **penalty).fit(X, Y)
    certificate = model.certificate_
    problem = model.problem_on(TrainingData(X, Y))
    assert certificate.is_optimal
    assert certificate.objective == pytest.approx(least_objective(problem), rel=1e-12)
    points = model.points_[0] / model.risk_score_.scale
    assert certificate.ridge == pytest.approx(float(points**2 @ problem.l2_penalty), rel=1e-12)
    assert certificate.ridge > 0
    prices = 1e-6 * np.count_nonzero(points)
    parts = certificate.loss + certificate.ridge + prices
    assert certificate.objective == pytest.approx(parts, rel=1e-13)
    assert model.loss_ == certificate.loss


def test_rounding_errors_of_large_values_split_no_scales():
    # Errors of bounds grow with the loss: where they are all that bounds lack, t is not split.
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (30, 3)).astype(np.float64)
    x[:, 0] = 1e4 * rng.normal(size=30)
    data = TrainingData(x, rng.integers(0, 2, 30), feature_names=["a", "b", "c"])
    points = CoefficientSet(
        data.feature_names, [1, -2, -2], [1, 2, 2], intercept_lower=-3, intercept_upper=3
    )
    problem = RiskScoreProblem(data, points, l2_penalty=0.01, scale=(0.4, 8.0))
    solution = branch_and_bound(problem, node_limit=200)
    assert solution.certificate.message == "search completed"


def test_shrinkage_is_the_penalty_times_the_weight_of_the_rows():
    data = TrainingData(X, Y)
    names = list(X.columns)
    for strength in (2, {names[2]: 3.0}, [0, 1, 2, 3], np.array([0.5, 0, 0, 1])):
        stated = RiskSLIMClassifier(shrinkage=strength).problem_on(data).l2_penalty
        expected = RiskScoreProblem(data, CoefficientSet(names), l2_penalty=strength).l2_penalty / N
        np.testing.assert_array_equal(stated, expected)
    weights = np.linspace(0.5, 3, N)
    model = RiskSLIMClassifier(shrinkage=2, class_weight={"yes": 3})
    stated = model.problem_on(TrainingData(X, Y, weights))
    total = float(np.sum(weights * np.where(Y == "yes", 3, 1)))
    np.testing.assert_allclose(stated.l2_penalty, 2 / total, rtol=1e-14)


def binary(n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows of two columns, the first of which the outcome follows more often than not."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 2, (n, 2)), columns=["a", "b"])
    return table, np.where(rng.random(n) < 0.3 + 0.4 * table["a"], "yes", "no")


def test_fits_to_few_rows_have_a_prior_by_default():
    for n, strength in ((1_999, 1), (2_000, 0)):
        data = TrainingData(*binary(n))
        stated = RiskSLIMClassifier().problem_on(data).l2_penalty
        np.testing.assert_array_equal(stated, [strength / n] * 2)
        for parameters in ({"l2_penalty": 0}, {"shrinkage": 0}, {"engine": "lattice_cpa"}):
            assert not RiskSLIMClassifier(**parameters).problem_on(data).l2_penalty.any()
        for parameters in ({}, {"engine": "lattice_cpa"}):
            stated = RiskSLIMClassifier(shrinkage=1, **parameters).problem_on(data).l2_penalty
            np.testing.assert_array_equal(stated, [1 / n] * 2)
        # Problems have none that they are not given.
        assert not RiskScoreProblem(data, CoefficientSet(["a", "b"])).l2_penalty.any()


def test_the_default_is_about_rows_and_not_their_weight(tmp_path):
    table, labels = binary(2_000)
    weights = np.full(1_999, 3.0)
    few = TrainingData(table[:1_999], labels[:1_999], weights)
    stated = RiskSLIMClassifier().problem_on(few).l2_penalty
    np.testing.assert_array_equal(stated, [1 / (3 * 1_999)] * 2)
    many = TrainingData(table, labels, np.full(2_000, 0.1))
    assert not RiskSLIMClassifier().problem_on(many).l2_penalty.any()
    # Rows of weight zero change nothing.
    unseen = TrainingData(table, labels, np.append(weights, 0.0))
    stated = RiskSLIMClassifier().problem_on(unseen).l2_penalty
    np.testing.assert_array_equal(stated, [1 / (3 * 1_999)] * 2)
    # Equal rows that were merged while they were read count each.
    for n, has_prior in ((1_999, True), (2_000, False)):
        table[:n].assign(y=labels[:n]).to_csv(tmp_path / "rows.csv", index=False)
        merged = read(tmp_path / "rows.csv", "y", memory_limit=30_000)
        assert (merged.n_samples, merged.n_rows) == (n, 8)
        assert RiskSLIMClassifier().problem_on(merged).l2_penalty.any() == has_prior


def test_the_default_is_as_good_as_a_strength_of_1():
    default, stated = (
        RiskSLIMClassifier(max_size=3, **one).fit(X, Y) for one in ({}, {"shrinkage": 1})
    )
    assert default.risk_score_ == stated.risk_score_
    assert default.certificate_ == stated.certificate_
    assert default.certificate_.ridge == pytest.approx(squares(default.risk_score_) / N, rel=1e-12)
    without = RiskSLIMClassifier(max_size=3, l2_penalty=0).fit(X, Y)
    assert squares(without.risk_score_) > squares(default.risk_score_)
    assert without.loss_ < default.loss_


def test_nothing_is_added_without_a_penalty():
    models = [
        RiskSLIMClassifier(max_size=3, **penalty).fit(X, Y)
        for penalty in (
            {"l2_penalty": 0},
            {"shrinkage": 0.0},
            {"l2_penalty": [0.0] * 4},
            {"l2_penalty": 1e-300},
        )
    ]
    first, *others = (model.risk_score_.to_json() for model in models)
    assert others == [first] * 3
    assert "ridge" not in first
    assert "ridge" not in str(models[0].risk_score_)
    assert "ridge" not in models[0].risk_score_.methods_text()


@pytest.mark.parametrize(
    ("penalty", "message"),
    [
        ({"l2_penalty": 0.1, "shrinkage": 2}, "shrinkage must be left out where l2_penalty is"),
        ({"l2_penalty": [0.0] * 4, "shrinkage": 2}, "shrinkage must be left out"),
        ({"l2_penalty": 0, "shrinkage": 1}, "shrinkage must be left out"),
        ({"shrinkage": "cv"}, "shrinkage must be numbers, got 'cv'"),
        ({"l2_penalty": "cv"}, "l2_penalty must be numbers, got 'cv'"),
        ({"shrinkage": -1}, r"shrinkage of '.*' must be between 0 and 5.69e\+06, got -1.0"),
        ({"shrinkage": math.nan}, "shrinkage of .* got nan"),
        ({"shrinkage": [1, 2]}, "shrinkage has 2 values, expected 4"),
        ({"shrinkage": {"other": 1}}, "shrinkage names features that do not exist"),
        ({"l2_penalty": {0: 1}}, "l2_penalty names features that do not exist: 0$"),
    ],
)
def test_penalties_that_are_none(penalty, message):
    with pytest.raises((ValueError, TypeError), match=message):
        RiskSLIMClassifier(**penalty).fit(X, Y)


# --- folds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_other_rows_have_the_same_prior(weighted):
    weights = np.linspace(0.5, 3, N) if weighted else None
    data = TrainingData(X, Y, weights)
    alpha = [0.01, 0.0, 0.3, 1.0]
    problem = RiskScoreProblem(data, CoefficientSet(data.feature_names), l2_penalty=alpha)
    half = TrainingData(X[::2], Y[::2], None if weights is None else weights[::2])
    other = problem.restated(half)
    np.testing.assert_allclose(
        other.l2_penalty * half.total_weight, np.multiply(alpha, data.total_weight), rtol=1e-14
    )
    # There and back, and for another size, they are as they were.
    np.testing.assert_allclose(other.restated(data).l2_penalty, alpha, rtol=1e-15)
    np.testing.assert_array_equal(problem.restated(max_size=2).l2_penalty, alpha)
    np.testing.assert_array_equal(problem.restated(data).l2_penalty, alpha)


@pytest.mark.parametrize("stated", ["problem", "l2_penalty", "shrinkage", "by name"])
def test_folds_of_a_path_have_the_prior_of_the_whole(stated, monkeypatch):
    data = TrainingData(X, Y)
    penalty = {
        "shrinkage": {"shrinkage": 2}, "by name": {"l2_penalty": dict.fromkeys(X, 2 / N)}
    }.get(stated, {"l2_penalty": 2 / N})  # fmt: skip
    seen = []

    def spy(problem, **arguments):
        seen.append(problem)
        return solve(problem, **arguments)

    solve = size_path.solve
    monkeypatch.setattr(size_path, "solve", spy)
    if stated == "problem":
        given = [RiskScoreProblem(data, CoefficientSet(X.columns), scale=2, **penalty)]
    else:
        given = [RiskSLIMClassifier(max_size=None, scale=2, **penalty), X, Y]
    model_size_path(*given, sizes=[2], cv=3)
    totals = [problem.loss.data.total_weight for problem in seen]
    assert sorted(totals)[-1] == N > sorted(totals)[0]
    assert len(totals) == 4
    for problem, total in zip(seen, totals, strict=True):
        np.testing.assert_allclose(problem.l2_penalty * total, 2, rtol=1e-12)


@pytest.mark.parametrize(("n", "strength"), [(1_900, 1), (2_100, 0)])
def test_folds_have_the_default_of_all_rows(n, strength, monkeypatch):
    """The training rows of a fold of 2,100 rows are fewer than 2,000."""
    seen = []

    def spy(problem, **arguments):
        seen.append(problem)
        return solve(problem, **arguments)

    solve = size_path.solve
    monkeypatch.setattr(size_path, "solve", spy)
    classifier = RiskSLIMClassifier(scale=2)
    model_size_path(classifier, *binary(n), sizes=[1], cv=5)
    assert sorted(problem.loss.data.n_samples for problem in seen) == [*[n * 4 // 5] * 5, n]
    for problem in seen:
        total = problem.loss.data.total_weight
        np.testing.assert_allclose(problem.l2_penalty * total, strength, rtol=1e-12)
    # The classifier that was given is left as it was; alone it goes by the rows of each fit.
    assert (classifier.l2_penalty, classifier.shrinkage) == (None, "auto")
    fewer = TrainingData(*binary(n * 4 // 5))
    assert classifier.problem_on(fewer).l2_penalty.all()


def test_fits_to_fewer_rows_keep_what_they_are_told():
    """As in scikit-learn: alpha stays, and the strength of the prior in the other case."""
    fewer = TrainingData(X[::3], Y[::3])
    n = len(Y[::3])
    assert clone(RiskSLIMClassifier(l2_penalty=0.01)).problem_on(fewer).l2_penalty[0] == 0.01
    assert clone(RiskSLIMClassifier(shrinkage=2)).problem_on(fewer).l2_penalty[0] == 2 / n


# --- certificates and files -----------------------------------------------------------------------


def test_files_with_a_ridge_penalty_have_a_version_of_their_own(tmp_path):
    SCORE.save(tmp_path / "score.json")
    assert RiskScore.load(tmp_path / "score.json") == SCORE
    plain = json.loads((tmp_path / "score.json").read_text())
    assert plain["version"] == 8 < VERSION
    assert plain["certificate"]["ridge"] == SCORE.certificate.ridge
    schema = json.loads((DOCS / "risk_score.schema.json").read_text(encoding="utf-8"))
    valid = jsonschema.Draft202012Validator(schema)
    valid.validate(plain)
    for version in range(1, 8):
        assert not valid.is_valid(plain | {"version": version})
        with pytest.raises(ValueError, match=f"version {version} of the format has no "):
            RiskScore.from_json(json.dumps(plain | {"version": version}))
    # A layout that readers of version 6 do not know has no other one than before.
    shown = RiskSLIMClassifier(max_size=3, points="non-negative", l2_penalty=0)
    shown = shown.fit(X, Y).risk_score_
    assert json.loads(shown.to_json())["version"] == 7
    valid.validate(json.loads(shown.to_json()))


@pytest.mark.parametrize("ridge", [None, 0.0, 1e-3])
def test_the_digest_covers_the_ridge_penalty(ridge):
    plain = json.loads(SCORE.to_json())
    if ridge is None:
        del plain["certificate"]["ridge"]
    else:
        plain["certificate"]["ridge"] = ridge
    with pytest.warns(UnboundCertificateWarning, match="was changed since"):
        assert RiskScore.from_json(json.dumps(plain)).certificate is None


@pytest.mark.parametrize(
    ("ridge", "message"),
    [("much", "'ridge' of the certificate must be a number"), (None, "'ridge' of the certificate")],
)
def test_ridge_penalties_that_are_no_numbers(ridge, message):
    plain = json.loads(SCORE.to_json())
    plain["certificate"]["ridge"] = ridge
    with pytest.raises(ValueError, match=message):
        RiskScore.from_json(json.dumps(plain))


@pytest.mark.parametrize(
    ("ridge", "words"),
    [(0.06, "is below the sum of loss 0.35 and ridge penalty 0.06"),
     (-0.1, "the ridge penalty -0.1 is none"), (math.nan, "nan is none")],
)  # fmt: skip
def test_certificates_whose_parts_are_none(ridge, words):
    certificate = Certificate(Status.OPTIMAL, 0.4, 0.35, 1, 0.4, 0.0, 0.0, "example", 9, ridge=0.05)
    assert not certificate.faults()
    assert Certificate.from_dict(certificate.to_dict()) == certificate
    wrong = dataclasses.replace(certificate, ridge=ridge)
    assert words in wrong.faults()[0]
    score = RiskScore(-1, {"a": 2}, certificate=wrong)
    with pytest.raises(ValueError, match="contradicts itself"):
        score.to_json()
    (fault,) = dataclasses.replace(certificate, model_size=0).faults()
    assert fault == "no feature has points, but the ridge penalty is 0.05"


# --- sheets, reports, remarks ---------------------------------------------------------------------


def test_sheets_show_the_parts_of_the_objective():
    certificate = SCORE.certificate
    line = (
        f"objective {certificate.objective:.9g} = loss {certificate.loss:.9g} + ridge "
        f"{certificate.ridge:.9g} + prices {1e-6 * len(SCORE.points):.3g}, lower bound"
    )
    for text in (str(certificate), str(SCORE), SCORE.to_html(), SCORE.to_markdown()):
        assert line in text
    assert "+ ridge" in SCORE.to_latex()
    assert re.match(
        r"Objective 0\.\d+ = loss 0\.\d+ \+ ridge 0\.\d+ \+ prices 3e-06 on 569 rows\. No ",
        certificate.explain(),
    )
    free = dataclasses.replace(certificate, objective=certificate.loss + certificate.ridge)
    assert "prices" not in str(free)


def test_requirements_state_the_penalty_and_its_strength():
    assert "ridge penalty of the weights: 0.003515 (shrinkage 2 on 569 rows)" in {
        one.text for one in SCORE.requirements
    }
    data = TrainingData(X, Y, np.full(N, 0.5))
    a, b, *_ = data.feature_names
    zero = np.zeros(5, int)
    for alpha, texts in (
        ({a: 0.1}, [f"{a!r}: 0.1 (shrinkage 28.45 on"]),
        ([0.1, 0, 0.1, 0.1], ["each other weight: 0.1 (shrinkage", f"{b!r}: 0 (shrinkage 0"]),
    ):
        problem = RiskScoreProblem(data, CoefficientSet(data.feature_names), l2_penalty=alpha)
        found = [one.text for one in problem.requirements(zero) if "ridge" in one.text]
        assert len(found) == len(texts)
        for text, start in zip(found, texts, strict=True):
            assert text.startswith(f"ridge penalty of {start}")
            assert text.endswith(" on rows of total weight 284.5)")


def test_the_methods_text_says_what_the_penalty_is():
    text = SCORE.methods_text()
    assert "plus a price for each feature with points and a ridge penalty on the weights" in text
    assert "times 0.003515. It is as strong as a normal prior of the weights around 0 with" in text
    assert " with the variance 0.25." in text
    assert "(shrinkage" not in text
    bare = dataclasses.replace(SCORE, requirements=()).methods_text()
    assert "and a ridge penalty on the weights" in bare
    assert "normal prior" not in bare
    one = X.columns[0]
    model = RiskSLIMClassifier(max_size=1, l2_penalty={one: 0.1}).fit(X, Y)
    assert f"times 0.1 for '{one}'. It is" in model.risk_score_.methods_text()
    # Texts that others wrote need not have numbers, nor ones that can be divided by.
    for words in ("much (shrinkage 2 on 9 rows)", "1.2.3 (shrinkage 2 on 9 rows)",
                  "1 (shrinkage 0 on 9 rows)"):  # fmt: skip
        stated = [Requirement(f"ridge penalty of the weights: {words}")]
        changed = dataclasses.replace(SCORE, requirements=stated)
        assert "normal prior" not in changed.methods_text()


def test_the_table_of_the_report_has_the_parts_in_order():
    certificate = SCORE.certificate
    rows = {row[0].text: row[1].text for row in certificate_table(SCORE).rows}
    assert list(rows)[:5] == ["Status", "Loss", "Ridge penalty", "Objective", "Lower bound"]
    parts = [float(rows[name]) for name in ("Loss", "Ridge penalty", "Objective")]
    assert parts == pytest.approx([certificate.loss, certificate.ridge, certificate.objective])
    without = RiskSLIMClassifier(max_size=1, l2_penalty=0).fit(X, Y).risk_score_
    names = [row[0].text for row in certificate_table(without).rows]
    assert names[:5] == ["Status", "Objective", "Lower bound", "Optimality gap", "Loss"]


def test_remarks_on_separated_features():
    rng = np.random.default_rng(0)
    separated = np.array([0] * 60 + [1] * 20)
    rows = {"rare": separated, "other": rng.integers(0, 2, 80)}
    data = TrainingData(rows, [*rng.integers(0, 2, 60), *[1] * 20])
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    vector = [0, 5, 1]
    remarks = {
        alpha: " ".join(
            RiskScoreProblem(data, coefficients, l2_penalty={"rare": alpha}).remarks(vector)
        )
        for alpha in (0.0, 0.01)
    }
    assert "their number says what is allowed, not" in remarks[0.0]
    assert "At a bound" not in remarks[0.0]
    # The best number of points is finite, and the bound may be what keeps them from it.
    assert "their number says how strong the ridge penalty is, not" in remarks[0.01]
    assert "At a bound of the coefficient set: 'rare' (5)" in remarks[0.01]


def test_remarks_on_no_features_and_on_the_scale():
    model = RiskSLIMClassifier(shrinkage=1e6, scale=1).fit(X, Y)
    assert not model.risk_score_.points
    assert any("by more than its ridge penalty" in remark for remark in model.remarks_)
    problem = RiskScoreProblem(
        TrainingData(X, Y), CoefficientSet(X.columns), max_size=3, l2_penalty=0.01
    )
    coef = branch_and_bound(problem).coef
    found = better_scale(problem, coef)
    assert found.before == pytest.approx(problem.objective(coef) - 3e-6, rel=1e-12)
    other = coef.copy()
    other[0], other[np.flatnonzero(coef[1:]) + 1] = found.intercept, found.points
    wide = RiskScoreProblem(
        TrainingData(X, Y), CoefficientSet(X.columns), max_size=3, l2_penalty=0.01, scale="free"
    )
    assert found.loss == pytest.approx(wide.objective(other, scale=found.scale) - 3e-6, rel=1e-12)
    assert found.loss >= branch_and_bound(wide).certificate.lower_bound - 3e-6
    assert any("a loss, with the ridge penalty, of" in remark for remark in problem.remarks(coef))


def test_cutoff_ranges_are_of_objectives_with_the_penalty():
    """A share of a larger objective lets cut-offs be moved further."""
    rng = np.random.default_rng(5)
    age = rng.integers(20, 90, 300)
    died = rng.random(300) < 1 / (1 + np.exp(4 - age / 15))
    encoder = ItemEncoder(n_thresholds="all")
    model = RiskSLIMClassifier(max_size=1, shrinkage=20, items=encoder)
    score = model.fit(pd.DataFrame({"age": age}), died).risk_score_
    ((name, found),) = score.cutoff_ranges.items()
    signs, weight = np.where(died, 1, -1), score.points[name]

    def objective(cutoff: float) -> float:
        totals = (score.intercept + weight * (age >= cutoff)) / score.scale
        ridge = 20 / 300 * squares(score)
        return np.logaddexp(0, -signs * totals).mean() + ridge + 1e-6

    own = objective(score.items[name].value)
    assert own == pytest.approx(score.certificate.objective, rel=1e-12)
    within = [one for one in range(20, 90) if abs(objective(one) - own) <= found.share * own]
    assert found.lower in within
    assert found.upper in within


# --- command line ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The rows in one file, and in a folder of several."""
    folder = tmp_path_factory.mktemp("rows")
    table = X.assign(outcome=Y)
    table.to_csv(folder / "all.csv", index=False)
    (folder / "parts").mkdir()
    table[:200].to_csv(folder / "parts" / "a.csv", index=False)
    table[200:].to_csv(folder / "parts" / "b.csv", index=False)
    return folder


@pytest.mark.parametrize("rows", ["all.csv", "parts"])
@pytest.mark.parametrize("option", ["--shrinkage", "--l2-penalty"])
def test_the_command_line_does_what_the_classifier_does(files, tmp_path, rows, option):
    value = 2 if option == "--shrinkage" else 2 / N
    result = run("fit", files / rows, "--outcome", "outcome", "--max-size", 3, option, value,
                 "--output", tmp_path / "s.json")  # fmt: skip
    score = RiskScore.load(tmp_path / "s.json")
    assert (score.intercept, score.points, score.scale) == (
        SCORE.intercept, SCORE.points, SCORE.scale
    )  # fmt: skip
    assert score.certificate == SCORE.certificate
    assert score.requirements == SCORE.requirements
    assert score.certificate.explain() in result.stdout
    assert f" + ridge {score.certificate.ridge:.9g} + " in run("show", tmp_path / "s.json").stdout


def test_the_default_of_the_command_line(files, tmp_path):
    fit = ("fit", files / "all.csv", "--outcome", "outcome", "--max-size", 3, "--output")
    found = {}
    for options in ((), ("--shrinkage", "auto"), ("--shrinkage", 1), ("--l2-penalty", 0),
                    ("--shrinkage", 0)):  # fmt: skip
        run(*fit, tmp_path / "s.json", *options)
        found[options] = RiskScore.load(tmp_path / "s.json").certificate
    default, *same, without, zero = found.values()
    assert default == RiskSLIMClassifier(max_size=3).fit(X, Y).certificate_
    assert same == [default] * 2
    assert default.ridge > 0 == without.ridge
    assert without == zero
    table, labels = binary(2_000)
    table.assign(y=labels).to_csv(tmp_path / "many.csv", index=False)
    assert "ridge" not in run("fit", tmp_path / "many.csv", "--outcome", "y").stdout


def test_files_read_batch_by_batch_have_the_same_strength(files, tmp_path):
    options = ("--outcome", "outcome", "--max-size", 3, "--shrinkage", 2)
    run("fit", files / "all.csv", *options, "--memory-limit", "100kB", "--output",
        tmp_path / "s.json")  # fmt: skip
    found = RiskScore.load(tmp_path / "s.json")
    assert found.certificate.ridge == SCORE.certificate.ridge
    assert found.points == SCORE.points


def test_folds_of_the_command_line(files, tmp_path):
    text = (files / "all.csv", "--outcome", "outcome", "--max-size", 2, "--cv", 3, "--quiet",
            "--cv-output", tmp_path / "cv.json")  # fmt: skip
    found = []
    for option, value in (("--shrinkage", 5), ("--l2-penalty", 5 / N)):
        run("fit", *text, option, value)
        found.append(json.loads((tmp_path / "cv.json").read_text()))
    assert found[0] == found[1]
    run("fit", *text)
    assert json.loads((tmp_path / "cv.json").read_text()) != found[0]


def test_errors_of_the_command_line(files):
    fit = ("fit", files / "all.csv", "--outcome", "outcome")
    text = usage_error(*fit, "--shrinkage", 2, "--l2-penalty", 0.1)
    assert "--shrinkage must be left out where --l2-penalty is given" in text
    assert "--shrinkage of " in usage_error(*fit, "--shrinkage", -1)
    assert "--l2-penalty of " in usage_error(*fit, "--l2-penalty", -1)
    for penalty in (0, 0.1):
        text = usage_error(*fit, "--l2-penalty", penalty, "--shrinkage", "cv")
        assert "--shrinkage cv chooses the prior: leave out --l2-penalty" in text
    wrong = run(*fit, "--shrinkage", "x", code=2).stderr
    assert "expected a number, auto or cv, got 'x'" in wrong


# --- backend --------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.01, np.array([0.1, 0.0, 0.02, 0.5])])
def test_the_backend_minimises_with_the_penalty(alpha):
    rows, labels = X.to_numpy(), (Y == "yes").astype(int)
    data = TrainingData(X, labels)
    problem = RiskScoreProblem(data, CoefficientSet(X.columns), l2_penalty=alpha, l0_penalty=1e-3)
    handle = backend.prepare(rows, labels)
    real, names = np.array([0.3, -1.4, 1.7, 0.2, -2.6]), {"l0_penalty": 1e-3, "l2_penalty": alpha}
    for arguments in ((handle,), (rows, labels)):
        rounded = backend.sequential_rounding(real, *arguments, **names)
        np.testing.assert_array_equal(rounded.coef, sequential_rounding(problem, real).coefficients)
        assert rounded.objective == pytest.approx(problem.objective(rounded.coef), rel=1e-13)
        found = backend.coordinate_descent(rounded.coef, *arguments, **names)
        expected = discrete_coordinate_descent(problem, rounded.coef)
        np.testing.assert_array_equal(found.coef, expected.coefficients)
    without = backend.coordinate_descent(rounded.coef, handle, l0_penalty=1e-3)
    assert without.objective < found.objective
    for wrong in (-1.0, np.ones(3), "much"):
        with pytest.raises((ValueError, TypeError), match="l2_penalty"):
            backend.coordinate_descent(rounded.coef, handle, l2_penalty=wrong)
