"""``RiskSLIMClassifier.alternatives``: the same as of its problem, and what it refuses."""

from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import riskslim
from riskslim import (
    ItemEncoder,
    RiskSLIMClassifier,
    RiskSLIMClassifierCV,
    alternatives,
)
from riskslim.exceptions import InfeasibleProblemError
from riskslim.near_optimal import compare


def raw(n=240):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"age": rng.integers(20, 90, n), "bmi": rng.normal(27, 4, n).round(1)})
    odds = 1.5 * (X["age"] >= 60) + 0.8 * (X["bmi"] > 29) - 1.5
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no"), rng.random(n)


def same(one, other):
    np.testing.assert_array_equal(one.pool.coefficients, other.pool.coefficients)
    np.testing.assert_array_equal(one.pool.objectives, other.pool.objectives)
    assert one.solution.certificate == other.solution.certificate
    assert (one.within, one.variables) == (other.within, other.variables)
    assert [price.price for price in one.prices] == [price.price for price in other.prices]


@pytest.mark.parametrize(
    "parameters",
    [
        {"scale": 2},
        {"class_weight": "balanced", "l2_penalty": 0.01, "scale": 1.5},
        {"scale": 1, "monotone": {"age": "+"}, "items_per_variable": 1},
        {"engine": "branch_and_bound", "shrinkage": 2.0, "max_coef": 3, "scale": 1},
    ],
    ids=str,
)
def test_it_is_that_of_its_problem(parameters):
    X, y, weight = raw()
    classifier = RiskSLIMClassifier(max_size=2, items=ItemEncoder(n_thresholds=3), **parameters)
    found = classifier.alternatives(X, y, weight, within=0.1, prices="used")
    assert len(found) > 1
    assert found.pool.complete
    with pytest.raises(NotFittedError):
        check_is_fitted(classifier)
    data = riskslim.read(X, y, weight, items=ItemEncoder(n_thresholds=3))
    problem = classifier.problem_on(data)
    same(found, alternatives(problem, within=0.1, prices="used"))
    # Data that were read before need nothing else.
    read = classifier.set_params(items=None).alternatives(data, within=0.1, prices="used")
    same(read, found)
    best = classifier.fit(data).risk_score_
    assert found.score(problem.loss.data, encoder=data.encoder).points == best.points
    assert compare(found, problem.loss.data).chosen().points == best.points


def test_lists_that_are_short(caplog):
    X, y, _ = raw()
    classifier = RiskSLIMClassifier(max_size=2, items=ItemEncoder(n_thresholds=3), verbose=1)
    whole = classifier.alternatives(X, y, within=0.05)
    with caplog.at_level(logging.INFO, "riskslim"):
        found = classifier.alternatives(X, y, within=0.05, n_sets=2)
    assert found.explain() in caplog.text
    assert len(found) == 2 < len(whole)
    assert [found.items(k) for k in range(2)] == [whole.items(k) for k in range(2)]


def test_a_start_is_taken():
    X, y, _ = raw()
    data = riskslim.read(X, y, items=ItemEncoder(n_thresholds=3))
    classifier = RiskSLIMClassifier(max_size=2).fit(data)
    plain = classifier.alternatives(data)
    classifier.set_params(start=classifier.risk_score_)
    assert [*map(plain.items, range(len(plain)))] == [
        classifier.alternatives(data).items(k) for k in range(len(plain))
    ]
    with pytest.raises(ValueError, match="start"):
        classifier.set_params(start=[0] * 3).alternatives(data)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"engine": "lattice_cpa"}, "alternatives need engine='branch_and_bound'"),
        ({"n_solutions": 3}, "leave out n_solutions of the classifier"),
        ({"within": 0.1, "sensitivity": 0.9}, "leave out sensitivity, within of the classifier"),
        ({"specificity": 0.9}, "leave out specificity"),
        ({"node_limit": 10}, "leave out node_limit"),
        ({"max_size": -1}, "max_size"),
    ],
)
def test_what_is_refused(parameters, said):
    X, y, _ = raw()
    classifier = RiskSLIMClassifier(items=ItemEncoder(n_thresholds=3)).set_params(**parameters)
    with pytest.raises(ValueError, match=said):
        classifier.alternatives(X, y)


def test_what_its_arguments_cannot_be():
    X, y, _ = raw()
    classifier = RiskSLIMClassifier(max_size=1, items=ItemEncoder(n_thresholds=3))
    with pytest.raises(ValueError, match="within must be"):
        classifier.alternatives(X, y, within=-0.1)
    with pytest.raises(TypeError, match="within must be"):
        classifier.alternatives(X, y, within="much")
    with pytest.raises(ValueError, match="prices must be None, 'used' or 'all', got 'some'"):
        classifier.alternatives(X, y, prices="some")
    with pytest.raises(ValueError, match="n_solutions"):
        classifier.alternatives(X, y, n_sets=0)
    with pytest.raises(TypeError, match="its fit chooses the strength"):
        RiskSLIMClassifierCV(max_size=1).alternatives(X, y == "yes")
    with pytest.raises(InfeasibleProblemError):
        classifier.set_params(max_size=1, min_size=1, max_coef=0).alternatives(X, y)
