"""Scores that a search starts from: by names, as coefficients, as a score."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from riskslim import ItemEncoder, RiskScore, RiskSLIMClassifier, TrainingData, model_size_path
from riskslim.problem.starts import start_of


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame((rng.random((n, 6)) < 0.4).astype(int), columns=[*"abcdef"])
    odds = 2 * X["a"] - X["b"] + X["c"] - 1
    return X, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)


def test_all_forms():
    X, y = rows()
    problem = RiskSLIMClassifier().problem_on(TrainingData(X, y))
    vector = [-1, 2, 0, 0, 0, -3, 0]
    score = RiskScore(-1, {"a": 2, "e": -3})
    for start in (
        vector,
        np.array(vector, dtype=float),
        score,
        {"e": -3, "a": 2, "(intercept)": -1},
    ):
        found = start_of(start, problem)
        assert found.dtype == np.int64
        assert found.tolist() == vector


@pytest.mark.parametrize("seed", range(10))
def test_the_best_intercept(seed):
    X, y = rows(seed=seed)
    problem = RiskSLIMClassifier().problem_on(TrainingData(X, y))
    vector = start_of({"a": int(seed) - 4, "f": 2}, problem)
    every = [
        problem.loss.value([b, *vector[1:]]) for b in range(problem.lower[0], problem.upper[0] + 1)
    ]
    assert problem.loss.value(vector) == min(every)


@pytest.mark.parametrize(
    ("start", "error", "message"),
    [
        ({"g": 1}, ValueError, "start names features that do not exist: 'g'"),
        ({"a": 1.5}, TypeError, "start of 'a'"),
        ({"a": 1, "(intercept)": 0.5}, TypeError, "intercept of start"),
        ([1, 2], ValueError, r"start must be a RiskScore.*7 whole numbers.*shape \(2,\)"),
        ([0.5] * 7, ValueError, "whole numbers"),
        ("a", TypeError, "start must be a RiskScore"),
        ({"a": 9}, ValueError, "start is not feasible"),
        (dict.fromkeys("abcdef", 1), ValueError, "start is not feasible"),
    ],
)
def test_what_is_none(start, error, message):
    with pytest.raises(error, match=message):
        RiskSLIMClassifier(max_size=3, start=start).fit(*rows())


@pytest.mark.parametrize("engine", ["branch_and_bound", "lattice_cpa"])
def test_a_search_from_it_is_at_least_as_good(engine):
    X, y = rows()
    if engine == "lattice_cpa":
        pytest.importorskip("cplex")
    start = {"a": 3, "c": 2}
    limits = {"max_size": 3, "engine": engine}
    model = RiskSLIMClassifier(**limits, start=start)
    problem = model.problem_on(TrainingData(X, y))
    model.fit(X, y)
    assert model.certificate_.objective <= problem.objective(start_of(start, problem)) + 1e-12
    plain = RiskSLIMClassifier(**limits).fit(X, y)
    assert model.certificate_.objective == pytest.approx(plain.certificate_.objective, rel=1e-12)
    again = clone(model).set_params(start=plain.risk_score_).fit(X, y)
    assert again.risk_score_.points == plain.risk_score_.points


def test_no_time_leaves_the_start():
    X, y = rows()
    start = {"a": 3, "c": 2}
    model = RiskSLIMClassifier(max_size=3, start=start, node_limit=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    problem = model.problem_on(TrainingData(X, y))
    assert model.certificate_.objective <= problem.objective(start_of(start, problem)) + 1e-12


def test_items_by_their_names():
    rng = np.random.default_rng(0)
    raw = pd.DataFrame({"age": rng.integers(20, 90, 100)})
    y = (raw["age"] > 55).astype(int)
    encoder = ItemEncoder(thresholds={"age": [40, 60]})
    model = RiskSLIMClassifier(items=encoder, start={"age >= 60": 2}).fit(raw, y)
    assert model.risk_score_.points
    with pytest.raises(ValueError, match=r"'age >= 50'.*features of 'age' are"):
        RiskSLIMClassifier(items=encoder, start={"age >= 50": 2}).fit(raw, y)


def test_a_path_starts_by_itself():
    X, y = rows()
    with pytest.raises(ValueError, match="start is set by the path"):
        model_size_path(RiskSLIMClassifier(start={"a": 1}), X, y)
