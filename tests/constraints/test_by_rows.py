"""Constraints that the training rows state in full: signs of trends, limits for each variable."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from riskslim import (
    CoefficientSet,
    ItemEncoder,
    LogisticLoss,
    RiskScoreProblem,
    RiskSLIMClassifier,
    TrainingData,
    at_most,
    branch_and_bound,
    items_per_variable,
    monotone,
    variable,
)
from riskslim.constraints.base import Setting
from riskslim.constraints.rows import ConstraintRows
from riskslim.exceptions import ConstantFeatureWarning
from riskslim.loss.marginal_directions import marginal_directions


def problem_on(data, constraints, **options):
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    return RiskScoreProblem(data, coefficients, **options, max_size=3, constraints=constraints)


def table(seed=0, n=80):
    rng = np.random.default_rng(seed)
    raw = pd.DataFrame({
        "age": rng.integers(20, 90, n), "fitness": rng.integers(0, 30, n),
        "sex": rng.choice(["f", "m"], n), "smoker": rng.random(n) < 0.4,
    })  # fmt: skip
    odds = 0.05 * (raw["age"] - 55) - 0.1 * (raw["fitness"] - 15) + raw["smoker"]
    return raw, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_trends_are_covariances(seed, scale):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 40))
    X = np.column_stack(
        [rng.integers(-3, 4, n), rng.normal(size=n), np.full(n, 2), rng.random(n) < 0.5]
    )
    y = rng.random(n) < 0.4
    y[:2] = True, False
    weights = None if seed % 2 else rng.integers(0, 4, n).astype(float)
    if weights is not None:
        weights[:2] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantFeatureWarning)
        data = TrainingData(X, y, weights)
    found = marginal_directions(
        LogisticLoss(data, CoefficientSet(data.feature_names, -5, 5), scale=scale)
    )
    expected = [
        np.cov(column, y, aweights=weights, bias=True)[0, 1] for column in X.T.astype(float)
    ]
    assert found == pytest.approx(expected, abs=1e-12)
    assert found[2] == 0


def test_each_variable_gets_its_sign():
    raw, y = table()
    items = ItemEncoder(n_thresholds=3).fit_transform(raw)
    problem = problem_on(TrainingData(items, y), [monotone()])
    described = [one.describe() for one in problem.constraints]
    assert described == [
        "more of 'age' never lowers the risk, as its trend in the training rows",
        "more of 'fitness' never raises the risk, as its trend in the training rows",
        "more of 'smoker' never lowers the risk, as its trend in the training rows",
    ]
    solution = branch_and_bound(problem, time_limit=20)
    texts = [one.text for one in problem.requirements(solution.coef)]
    assert texts[-3:] == described
    for name, points in solution.points.items():
        assert points > 0 or not name.startswith(("age", "smoker"))
        assert points < 0 or not name.startswith("fitness")


def test_directions_do_not_matter():
    raw, y = table(1)
    signs = []
    for direction in (">=", "<="):
        items = ItemEncoder(n_thresholds=4, direction=direction).fit_transform(
            raw[["age", "fitness"]]
        )
        problem = problem_on(
            TrainingData(items, y), [monotone([variable("age"), variable("fitness")])]
        )
        signs.append([one.sign for one in problem.constraints])
    assert signs == [[1, -1], [1, -1]]


def test_features_that_are_named():
    data = TrainingData(
        {"a": [0, 1, 1, 0, 1], "b": [1, 0, 0, 1, 1], "c": [1, 1, 0, 1, 0]}, [0, 1, 1, 0, 1]
    )
    problem = problem_on(data, [monotone(["a", "b"], "auto", name="signs")])
    assert [(one.features, one.sign, one.name) for one in problem.constraints] == [
        (("a",), 1, "signs"), (("b",), -1, "signs"),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="names features that do not exist: 'd'"):
        problem_on(data, [monotone("d")])
    with pytest.raises(ValueError, match="names the variable 'd'"):
        problem_on(data, [monotone(variable("d"))])


def test_no_trend_is_no_constraint():
    data = TrainingData({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1]}, [0, 0, 1, 1])
    (only,) = problem_on(data, [monotone()]).constraints
    assert only.features == (variable("b"),)


def test_other_rows_have_other_signs():
    data = TrainingData({"a": [0, 1, 1, 0]}, [0, 1, 1, 0])
    other = TrainingData({"a": [1, 0, 0, 1]}, [0, 1, 1, 0])
    problem = problem_on(data, [monotone(), items_per_variable(1)])
    assert [one.sign for one in problem.constraints] == [1]
    assert [one.sign for one in problem.restated(other).constraints] == [-1]
    assert [one.sign for one in problem.restated(max_size=1).constraints] == [1]


def test_without_rows_there_is_no_trend():
    with pytest.raises(ValueError, match="needs training rows"):
        ConstraintRows([monotone()], Setting(("a",)))


def test_items_per_variable():
    names = ("age >= 40", "age >= 60", "bmi >= 30", "smoker")
    assert items_per_variable(1, name="few").on(Setting(names)) == (
        at_most(1, variable("age"), name="few"),
    )
    rows = ConstraintRows([items_per_variable(1)], Setting(names))
    assert not rows.culprits(np.array([0, 1, 0, 1, 1]))
    assert rows.culprits(np.array([0, 1, 1, 0, 0]))
    assert repr(items_per_variable(2)) == "items_per_variable(2)"
    assert repr(monotone()) == "monotone(sign='auto')"
    assert repr(monotone("a", "auto", name="b")) == "monotone(['a'], sign='auto', name='b')"


def test_of_a_classifier():
    raw, y = table()
    encoder = ItemEncoder(n_thresholds=4)
    options = {"items": encoder, "max_size": 4, "items_per_variable": 1}
    model = RiskSLIMClassifier(**options, monotone="auto").fit(raw, y)
    texts = [one.text for one in model.risk_score_.requirements]
    assert sum("as its trend in the training rows" in text for text in texts) == 3
    assert "as its trend in the training rows" in str(model.risk_score_).replace("\n", " ")
    assert len({item.variable for item in model.risk_score_.items.values()}) == len(
        model.risk_score_.points
    )
    forced = RiskSLIMClassifier(**options, monotone={"age": "-", "fitness": "auto"}).fit(raw, y)
    assert not any(name.startswith("age") for name in forced.risk_score_.points) or any(
        points < 0 for name, points in forced.risk_score_.points.items() if name.startswith("age")
    )
    assert forced.loss_ >= model.loss_ - 1e-12
    for wrong in ("up", 1, ["age"]):
        with pytest.raises(ValueError, match="monotone must be 'auto', a mapping"):
            RiskSLIMClassifier(monotone=wrong).fit(raw[["age"]], y)
