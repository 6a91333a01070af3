"""The scikit-learn estimator: its conventions, its results, and what it says when a search ends."""

from __future__ import annotations

import _thread
import json
import logging
import pickle
import signal
import subprocess
import sys
import threading
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer
from sklearn.utils import get_tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from riskslim import (
    CoefficientSet,
    ItemEncoder,
    LatticeCPASettings,
    LinearConstraint,
    RiskScore,
    RiskScoreProblem,
    RiskSLIMClassifier,
    Status,
    TrainingData,
    at_least,
    at_most,
    at_most_variables,
    branch_and_bound,
    false_positive_rate_at_most,
    if_then,
    risk_at_most,
)
from riskslim.datasets import load_breast_cancer_binary
from riskslim.engines.branch_and_bound import driver
from riskslim.engines.settings import TunedSettings
from riskslim.exceptions import (
    ConstantFeatureWarning,
    InfeasibleProblemError,
    PositiveLabelWarning,
    RiskSLIMError,
)
from riskslim.model_selection import cross_validate_risk_score, model_size_path
from riskslim.report import render
from riskslim.scale import ScaleSet

NAMES = ["age >= 60", "smoker", "exercise", "hypertension", "diabetes", "visits"]


def made_up(n=200, seed=0, weights=(2, 1, -1, 1, 0, 0.5)):
    """Five conditions and a count, and an outcome that depends on most of them."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 6)) < 0.4).astype(np.int64)
    X[:, 5] = rng.integers(0, 5, n)
    y = (rng.random(n) < 1 / (1 + np.exp(2 - X @ np.array(weights)))).astype(np.int64)
    return X, y


X, Y = made_up()
FRAME = pd.DataFrame(X, columns=NAMES)


@pytest.fixture(scope="module")
def fitted():
    return RiskSLIMClassifier(max_size=3).fit(FRAME, Y)


# ---------------------------------------------------------------------------------------------
# scikit-learn's own checks
# ---------------------------------------------------------------------------------------------

# Searches on real-valued columns may take longer than a test should, which is no failure.
CHECKED = RiskSLIMClassifier(max_size=3, time_limit=2.0)


def expected_failures(estimator):
    if sklearn.__version__.startswith("1.6."):
        return {
            "check_sample_weight_equivalence_on_dense_data": "the check of 1.6 makes three labels "
            "two by the first of the shuffled rows: the two fits that it compares see different "
            "labels (corrected in 1.7)"
        }
    return {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ConstantFeatureWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([CHECKED], expected_failed_checks=expected_failures)
def test_estimator_checks(estimator, check):
    check(estimator)


# One check of each kind: data as they come, weights, labels, state.
ON_LATTICE_CPA = {
    "check_classifiers_train",
    "check_classifiers_classes",
    "check_sample_weights_pandas_series",
    "check_sample_weights_list",
    "check_class_weight_classifiers",
    "check_estimators_dtypes",
    "check_estimators_pickle",
    "check_fit_idempotent",
    "check_fit2d_1sample",
    "check_dict_unchanged",
    "check_n_features_in",
}


def checks_on_lattice_cpa():
    lattice_cpa = clone(CHECKED).set_params(engine="lattice_cpa")
    pairs = list(estimator_checks_generator(lattice_cpa))
    missing = ON_LATTICE_CPA - {check.func.__name__ for _, check in pairs}
    assert not missing, missing
    return [
        pytest.param(estimator, check, id=check.func.__name__)
        for estimator, check in pairs
        if check.func.__name__ in ON_LATTICE_CPA
    ]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ConstantFeatureWarning")
@pytest.mark.parametrize(("estimator", "check"), checks_on_lattice_cpa())
def test_estimator_checks_of_the_other_engine(estimator, check):
    check(estimator)


def test_tags():
    tags = get_tags(RiskSLIMClassifier())
    assert is_classifier(RiskSLIMClassifier())
    assert not tags.classifier_tags.multi_class
    assert not tags.input_tags.sparse
    assert not tags.input_tags.allow_nan
    assert tags.target_tags.required


# ---------------------------------------------------------------------------------------------
# What is fitted
# ---------------------------------------------------------------------------------------------


def by_hand(X, y, sample_weight=None, **limits):
    data = TrainingData(X, y, sample_weight)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    prior = {"l2_penalty": 1 / data.total_weight}  # the default of so few rows
    problem = RiskScoreProblem(data, coefficients, scale="free", **prior, **limits)
    return branch_and_bound(problem), data


def test_the_steps_by_hand_give_the_same(fitted):
    solution, data = by_hand(FRAME, Y, max_size=3)
    assert fitted.points_.tolist() == [solution.coefficients.tolist()]
    assert fitted.intercept_points_.tolist() == [solution.intercept]
    assert fitted.certificate_ == solution.certificate
    assert fitted.solution_.certificate is fitted.certificate_
    problem = fitted.problem_on(data)
    assert fitted.risk_score_ == RiskScore.from_solution(solution, data, problem=problem)
    assert fitted.certificate_.status is Status.OPTIMAL
    assert np.count_nonzero(fitted.coef_) == 3


def test_shapes_and_types(fitted):
    assert fitted.coef_.shape == fitted.points_.shape == (1, 6)
    assert fitted.intercept_.shape == fitted.intercept_points_.shape == (1,)
    assert fitted.coef_.dtype == fitted.intercept_.dtype == np.float64
    assert fitted.points_.dtype == fitted.intercept_points_.dtype == np.int64
    assert fitted.classes_.tolist() == [0, 1]
    assert fitted.n_features_in_ == 6
    assert fitted.feature_names_in_.tolist() == NAMES
    assert fitted.score(FRAME, Y) == np.mean(fitted.predict(FRAME) == Y) > 0.6
    assert not hasattr(fitted, "n_iter_")


def test_both_engines_agree():
    native = RiskSLIMClassifier(max_size=2, engine="branch_and_bound", scale=1, l2_penalty=0)
    native.fit(FRAME, Y)
    # Scale and prior of the paper's problem are this engine's defaults.
    lattice = RiskSLIMClassifier(max_size=2, engine="lattice_cpa").fit(FRAME, Y)
    assert lattice.certificate_.engine.startswith("lattice_cpa")
    assert native.certificate_.engine.startswith("branch_and_bound")
    assert lattice.certificate_.objective == pytest.approx(native.certificate_.objective, rel=1e-12)


@pytest.mark.shared_data
def test_mammo(shared_data):
    frame = pd.read_csv(shared_data / "mammo_data.csv")
    classifier = RiskSLIMClassifier(max_intercept=100, scale=1, l2_penalty=0)
    classifier.fit(frame.iloc[:, 1:], frame.iloc[:, 0])
    assert classifier.certificate_.is_optimal
    assert classifier.certificate_.objective == pytest.approx(0.46855923131671, abs=1e-12)


# ---------------------------------------------------------------------------------------------
# Predictions
# ---------------------------------------------------------------------------------------------


def assert_same_predictions(classifier, rows):
    """Points that a person adds up, the risk score's predictions, and the classifier's."""
    score, values = classifier.risk_score_, np.asarray(rows, dtype=np.float64)
    positions = {name: j for j, name in enumerate(score.feature_names)}
    totals = [
        sum(points * row[positions[name]] for name, points in score.points.items())
        for row in values.tolist()
    ]
    log_odds = [(total + score.intercept) / score.scale for total in totals]
    assert classifier.score_samples(rows).tolist() == totals
    assert classifier.decision_function(rows).tolist() == log_odds
    expected = values @ classifier.coef_[0] + classifier.intercept_
    np.testing.assert_allclose(log_odds, expected, rtol=1e-12, atol=1e-12)
    for method in ("score_samples", "decision_function", "predict_proba", "predict"):
        ours, theirs = getattr(classifier, method)(rows), getattr(score, method)(values)
        assert (ours == theirs).all(), method
    risks = classifier.predict_proba(rows)
    np.testing.assert_allclose(risks[:, 1], 1 / (1 + np.exp(-np.array(log_odds))), rtol=1e-12)
    np.testing.assert_allclose(classifier.predict_log_proba(rows), np.log(risks), rtol=1e-11)
    positive = classifier.predict(rows) == classifier.classes_[1]
    assert (positive == (np.array(log_odds) > 0)).all()


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(8, 60),
    max_size=st.integers(0, 3),
    max_coef=st.integers(1, 4),
    scale=st.sampled_from([1.0, 2.5, [1, 2, 4], "free"]),
)
def test_points_add_up_to_the_log_odds(seed, n, max_size, max_coef, scale):
    rows, labels = made_up(n, seed)
    labels[:2] = 0, 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantFeatureWarning)
        classifier = RiskSLIMClassifier(
            max_size=max_size, max_coef=max_coef, scale=scale, node_limit=200
        )
        warnings.simplefilter("ignore", ConvergenceWarning)
        classifier.fit(rows, labels)
    assert classifier.score_samples(rows).dtype == np.int64
    assert_same_predictions(classifier, made_up(20, seed + 1)[0])


@settings(max_examples=50)
@given(
    intercept=st.integers(-50, 50),
    points=st.lists(st.integers(-20, 20), min_size=1, max_size=6),
    scale=st.floats(0.1, 50),
    rows=st.data(),
)
def test_points_of_any_score_add_up(intercept, points, scale, rows):
    names = [f"feature {j}" for j in range(len(points))]
    score = RiskScore(
        intercept, dict(zip(names, points, strict=True)), feature_names=names, scale=scale
    )
    values = rows.draw(
        st.lists(
            st.lists(st.integers(-5, 5), min_size=len(points), max_size=len(points)),
            min_size=1, max_size=5,
        )
    )  # fmt: skip
    totals = [sum(p * v for p, v in zip(points, row, strict=True)) for row in values]
    assert score.score_samples(values).tolist() == totals
    assert score.decision_function(values).tolist() == [(t + intercept) / scale for t in totals]


def test_scores_of_real_values_are_real():
    rows = X.astype(np.float64)
    rows[:, 0] = np.random.default_rng(1).normal(size=len(rows)) + Y
    classifier = RiskSLIMClassifier(max_size=1, min_size=1, min_coef={"x1": 1}).fit(rows, Y)
    assert classifier.score_samples(rows).dtype == np.float64
    assert_same_predictions(classifier, rows)


@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")
def test_log_probabilities_of_extreme_rows():
    classifier = RiskSLIMClassifier(max_size=1, min_coef={"x6": 1}).fit(X, Y)
    rows = np.zeros((2, 6))
    rows[:, 5] = 5000.0, -5000.0
    log_odds = classifier.decision_function(rows)
    found = classifier.predict_log_proba(rows)
    assert np.isfinite(found).all()
    assert found[0, 0] == -log_odds[0]
    assert found[1, 1] == log_odds[1]


def test_one_row(fitted):
    for row in (FRAME.iloc[[7]], FRAME[7:8]):
        assert fitted.predict(row).shape == (1,)
        assert fitted.predict_proba(row).shape == (1, 2)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        fitted.predict(X[7])


# ---------------------------------------------------------------------------------------------
# Labels
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("negative", "positive"),
    [("no", "yes"), (False, True), (-1, 1), (0, 1), (3, 7), (0.0, 1.0), (2.5, 10.0)],
)
@pytest.mark.parametrize("container", [np.array, list, pd.Series, pl.Series])
def test_labels_of_any_kind(fitted, negative, positive, container):
    labels = [positive if label else negative for label in Y]
    classifier = RiskSLIMClassifier(max_size=3).fit(FRAME, container(labels))
    assert classifier.coef_.tolist() == fitted.coef_.tolist()
    assert classifier.classes_.tolist() == [negative, positive]
    predicted = classifier.predict(FRAME)
    assert predicted.dtype == classifier.classes_.dtype
    assert predicted.tolist() == [positive if p else negative for p in fitted.predict(FRAME)]


def test_categories_and_names_of_outcomes():
    outcome = pd.Series(np.where(Y, "sick", "ill"), name="state", dtype="category")
    classifier = RiskSLIMClassifier(max_size=1, positive_label="sick").fit(FRAME, outcome)
    assert classifier.classes_.tolist() == ["ill", "sick"]
    assert "probability that state = sick" in str(classifier.risk_score_)


def test_a_column_of_labels_is_warned_about(fitted):
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        classifier = RiskSLIMClassifier(max_size=3).fit(FRAME, Y[:, None])
    assert classifier.coef_.tolist() == fitted.coef_.tolist()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "RiskSLIMClassifier requires y to be passed, but the target y is None"),
        (np.arange(200) % 3, "Only binary classification is supported"),
        (np.zeros(200), "only one class"),
        (Y[:-1], "inconsistent numbers of samples"),
    ],
)
def test_labels_that_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        RiskSLIMClassifier().fit(FRAME, y)


# ---------------------------------------------------------------------------------------------
# Tables
# ---------------------------------------------------------------------------------------------


# Before 1.9 scikit-learn asks data frames for their names through a protocol that polars gave up.
NARWHALS = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_frames_of_any_library(fitted, make):
    if not NARWHALS and make is pl.DataFrame:
        pytest.skip("this scikit-learn finds no names in data frames of polars")
    frame = make({name: FRAME[name].to_numpy() for name in NAMES})
    classifier = RiskSLIMClassifier(max_size=3).fit(frame, Y)
    assert classifier.risk_score_ == fitted.risk_score_
    assert classifier.feature_names_in_.tolist() == NAMES
    assert (fitted.predict_proba(frame) == fitted.predict_proba(FRAME)).all()


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float32, np.float64, bool])
@pytest.mark.parametrize("order", "CF")
def test_arrays_of_any_layout(dtype, order):
    rows = np.asarray(X[:, :5], dtype=dtype, order=order)
    expected = RiskSLIMClassifier(max_size=2).fit(X[:, :5].tolist(), Y)
    classifier = RiskSLIMClassifier(max_size=2).fit(rows, Y)
    assert classifier.risk_score_ == expected.risk_score_
    assert classifier.risk_score_.feature_names == ("x1", "x2", "x3", "x4", "x5")
    assert not hasattr(classifier, "feature_names_in_")
    assert (classifier.predict_proba(rows) == expected.predict_proba(X[:, :5])).all()


def test_names_are_compared(fitted):
    with pytest.raises(ValueError, match="feature names should match those that were passed"):
        fitted.predict(FRAME[NAMES[::-1]])
    with pytest.raises(
        ValueError, match=r"Feature names seen at fit time, yet now missing:\n- smo"
    ):
        fitted.predict(FRAME.drop(columns="smoker"))
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- weight"):
        fitted.predict(FRAME.rename(columns={"smoker": "weight"}))
    with pytest.warns(UserWarning, match="X does not have valid feature names, but RiskSLIMClass"):
        assert (fitted.predict(X) == fitted.predict(FRAME)).all()
    nameless = RiskSLIMClassifier(max_size=3).fit(X, Y)
    with pytest.warns(UserWarning, match="X has feature names, but RiskSLIMClassifier was fitted"):
        assert (nameless.predict(FRAME) == fitted.predict(FRAME)).all()
    with pytest.raises(ValueError, match="X has 5 features, but RiskSLIMClassifier is expecting 6"):
        nameless.predict(X[:, :5])


def test_names_that_are_no_text():
    frame = FRAME.set_axis(range(6), axis=1)
    classifier = RiskSLIMClassifier(max_size=1, max_coef={"0": 1}).fit(frame, Y)
    assert classifier.risk_score_.feature_names == ("0", "1", "2", "3", "4", "5")
    assert not hasattr(classifier, "feature_names_in_")
    assert (classifier.predict(frame) == classifier.predict(X)).all()
    with pytest.raises(ValueError, match="column 2 of 6 in X has no name"):
        RiskSLIMClassifier().fit(FRAME.rename(columns={"smoker": ""}), Y)


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.dok_matrix])
def test_sparse_data_are_refused(fitted, make):
    with pytest.raises(TypeError, match="Sparse data was passed for X, but dense data is required"):
        RiskSLIMClassifier().fit(make(X), Y)
    with pytest.raises(TypeError, match="Sparse data was passed for X"):
        fitted.predict(make(X))


def test_mappings_are_refused(fitted):
    columns = {name: FRAME[name] for name in NAMES}
    with pytest.raises(TypeError, match=r"got a mapping instead\. Pass a data frame"):
        RiskSLIMClassifier().fit(columns, Y)
    with pytest.raises(TypeError, match="got a mapping instead"):
        fitted.predict(columns)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("j", range(6))
@pytest.mark.parametrize("named", [True, False])
def test_every_column_is_checked_before_predictions(fitted, value, j, named):
    rows = FRAME.astype(np.float64)
    rows.iloc[3, j] = value
    kind = "NaN" if np.isnan(value) else "infinity"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises(ValueError, match=f"(?s)Input X contains {kind}.*{NAMES[j]}.*row 3"):
            fitted.predict(rows if named else rows.to_numpy())


def test_sums_beyond_float64_are_no_infinities(fitted):
    rows = FRAME.astype(np.float64)
    unused = next(name for name in NAMES if name not in fitted.risk_score_.points)
    rows[unused] = 1e308
    assert (fitted.predict(rows) == fitted.predict(FRAME)).all()
    nameless = RiskSLIMClassifier(max_size=3).fit(X, Y)
    assert (nameless.predict(rows.to_numpy()) == fitted.predict(FRAME)).all()


def test_unfitted():
    for method in ("predict", "predict_proba", "decision_function", "score_samples"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(RiskSLIMClassifier(), method)(X)


# ---------------------------------------------------------------------------------------------
# Weights
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2, 1: 0.5}])
@pytest.mark.parametrize("j", [None, 5])
def test_whole_weights_are_repeated_rows(class_weight, j):
    rows, labels = made_up(60, seed=3)
    rows = rows.astype(np.float64)
    if j is not None:
        rows[:, j] += np.linspace(0, 0.9, 60)  # a real-valued column: no lookup table
    weights = np.random.default_rng(3).integers(0, 4, 60)
    classifier = RiskSLIMClassifier(max_size=2, class_weight=class_weight)
    weighted = clone(classifier).fit(rows, labels, sample_weight=weights)
    repeated = clone(classifier).fit(rows.repeat(weights, axis=0), labels.repeat(weights))
    assert weighted.points_.tolist() == repeated.points_.tolist()
    assert weighted.intercept_points_.tolist() == repeated.intercept_points_.tolist()
    for name in ("objective", "loss", "lower_bound"):
        found, expected = (getattr(c.certificate_, name) for c in (weighted, repeated))
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_class_weights_multiply_the_rows_weights():
    own = np.random.default_rng(4).uniform(0.5, 2, len(Y))
    classifier = RiskSLIMClassifier(max_size=2, class_weight={1: 3.0}).fit(X, Y, own)
    solution, _ = by_hand(X, Y, own * np.where(Y, 3.0, 1.0), max_size=2)
    assert classifier.certificate_ == solution.certificate
    plain = RiskSLIMClassifier(max_size=2).fit(X, Y, own)
    assert plain.certificate_.objective != classifier.certificate_.objective


def test_balanced_classes_have_the_same_weight():
    classifier = RiskSLIMClassifier(max_size=2, class_weight="balanced").fit(X, Y)
    solution, _ = by_hand(X, Y, compute_sample_weight("balanced", Y), max_size=2)
    assert classifier.certificate_.objective == pytest.approx(
        solution.certificate.objective, rel=1e-12
    )
    assert classifier.points_.tolist() == [solution.coefficients.tolist()]
    empty = RiskSLIMClassifier(max_size=0, class_weight="balanced").fit(X, Y)
    assert empty.intercept_.tolist() == [0]


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({0: 1, 2: 3}, "class_weight names 2, but the labels in y are 0 and 1"),
        ({0: 0}, "class_weight of 0 must be positive, got 0"),
        ({1: "high"}, "class_weight of 1 must be positive, got 'high'"),
        ("equal", "must be a mapping from labels to weights, 'balanced' or None, got 'equal'"),
    ],
)
def test_class_weights_that_are_refused(class_weight, message):
    with pytest.raises(ValueError, match=message):
        RiskSLIMClassifier(class_weight=class_weight).fit(X, Y)


@pytest.mark.parametrize("class_weight", [None, {1: 3.0}])
def test_the_loss_is_that_of_the_weighted_rows(class_weight):
    own = np.random.default_rng(4).uniform(0.5, 2, len(Y))
    classifier = RiskSLIMClassifier(max_size=2, l0_penalty=0.01, class_weight=class_weight)
    classifier.fit(X, Y, own)
    weight = own * compute_sample_weight(class_weight, Y)
    expected = log_loss(Y, classifier.predict_proba(X)[:, 1], sample_weight=weight)
    assert classifier.loss_ == pytest.approx(expected, rel=1e-9)
    assert classifier.loss_ == classifier.certificate_.loss < classifier.certificate_.objective


def test_class_weights_of_text_labels():
    labels = np.where(Y, "yes", "no")
    named = RiskSLIMClassifier(max_size=2, class_weight={"yes": 2}).fit(X, labels)
    numbered = RiskSLIMClassifier(max_size=2, class_weight={1: 2}).fit(X, Y)
    assert named.certificate_ == numbered.certificate_


# ---------------------------------------------------------------------------------------------
# Requirements
# ---------------------------------------------------------------------------------------------


def test_bounds_and_signs():
    classifier = RiskSLIMClassifier(
        max_size=None,
        min_size=4,
        max_coef={"visits": 1, "age >= 60": 3},
        min_coef={"diabetes": 1},
        sign={"hypertension": "-"},
        max_intercept=2,
        l0_penalty={"smoker": 5.0},
    ).fit(FRAME, Y)
    coef = dict(zip(NAMES, classifier.points_[0].tolist(), strict=True))
    assert coef["visits"] <= 1
    assert coef["age >= 60"] <= 3
    assert coef["diabetes"] >= 1
    assert coef["hypertension"] <= 0
    assert coef["smoker"] == 0
    assert abs(classifier.intercept_points_[0]) <= 2
    assert np.count_nonzero(classifier.coef_) >= 4


def test_points_are_symmetric_unless_told_otherwise():
    only_age = dict.fromkeys(NAMES, 0) | {"age >= 60": 1}
    classifier = RiskSLIMClassifier(max_coef=only_age).fit(FRAME, 1 - Y)
    assert classifier.points_.tolist() == [[-1, 0, 0, 0, 0, 0]]
    classifier.set_params(min_coef=0).fit(FRAME, 1 - Y)
    assert not classifier.coef_.any()


def test_points_that_are_given_or_listed():
    classifier = RiskSLIMClassifier(
        fixed={"diabetes": 2, "smoker": 0}, coef_values={"age >= 60": [0, 2, 5], "visits": [-1, 4]}
    ).fit(FRAME, Y)
    coef = dict(zip(NAMES, classifier.points_[0].tolist(), strict=True))
    assert coef["diabetes"] == 2
    assert coef["smoker"] == 0
    assert coef["age >= 60"] in {0, 2, 5}
    assert coef["visits"] in {-1, 4}
    with pytest.raises(ValueError, match="'diabetes' is fixed at 6, outside of its bounds"):
        RiskSLIMClassifier(fixed={"diabetes": 6}).fit(FRAME, Y)


def test_constraints():
    constraints = (
        at_most(1, NAMES[:2]),
        if_then("visits", "diabetes"),
        LinearConstraint(points={"(intercept)": 1}, lower=-1),
    )
    classifier = RiskSLIMClassifier(constraints=constraints).fit(FRAME, Y)
    used = set(classifier.risk_score_.points)
    assert len(used & set(NAMES[:2])) <= 1
    assert "visits" not in used or "diabetes" in used
    assert classifier.intercept_points_[0] >= -1
    assert clone(classifier).constraints == constraints


@pytest.mark.parametrize("engine", ["branch_and_bound", "lattice_cpa"])
def test_contradictions_are_named(engine):
    constraints = [at_least(2, NAMES[:3]), at_most(1, NAMES[:3])]
    classifier = RiskSLIMClassifier(constraints=constraints, engine=engine)
    pattern = "at least 2 of 'age >= 60', .*at most 1 of 'age >= 60'"
    with pytest.raises(InfeasibleProblemError, match=pattern) as caught:
        classifier.fit(FRAME, Y)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, RiskSLIMError)
    with pytest.raises(NotFittedError):
        classifier.predict(FRAME)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"time_limit": 0}, ValueError, "time_limit must be positive"),
        ({"gap_tolerance": 2}, ValueError, "gap_tolerance"),
        ({"n_threads": 0}, ValueError, "n_threads"),
        ({"node_limit": -1}, ValueError, "node_limit"),
        ({"random_state": -1}, ValueError, "random_state must be between 0"),
        ({"random_state": 2**32}, ValueError, "random_state must be between 0"),
        ({"engine": "simplex"}, ValueError, "engine must be one of"),
        ({"solver": "highs"}, ValueError, "solver must be one of"),
        ({"solver": "scip"}, ValueError, "needs engine='lattice_cpa'"),
        ({"engine": "lattice_cpa", "within": 0.1}, ValueError, "within need engine="),
        ({"engine": "lattice_cpa", "scale": "free"}, ValueError, "takes one scale or a list"),
        ({"max_size": -1}, ValueError, "max_size must be at least 0"),
        ({"max_size": 1.5}, TypeError, "max_size must be an int"),
        ({"min_size": 7}, ValueError, "min_size must be between 0 and the 6 features"),
        ({"max_coef": {"smokes": 1}}, ValueError, r"'smokes' \(did you mean 'smoker'\?\)"),
        ({"max_coef": 2.5}, ValueError, "max_coef of 'age >= 60' must be a .* got 2.5"),
        ({"max_coef": [1, 2]}, ValueError, "max_coef has 2 values, expected 6"),
        ({"min_coef": {"smokes": 1}}, ValueError, "min_coef names features that do not exist"),
        ({"min_coef": -2.5}, ValueError, "min_coef of 'age >= 60' must be a finite integer"),
        ({"min_coef": 2, "max_coef": 1}, ValueError, "'age >= 60': min_coef 2 exceeds max_coef 1"),
        ({"coef_values": {"smokes": [1]}}, ValueError, r"coef_values names .*mean 'smoker'\?"),
        ({"coef_values": {"smoker": 1}}, TypeError, "coef_values of 'smoker' must be several int"),
        ({"coef_values": {"smoker": []}}, ValueError, "coef_values of 'smoker' must .* got none"),
        ({"coef_values": {"smoker": [0.5]}}, ValueError, "each of coef_values of 'smoker' must be"),
        ({"coef_values": {"smoker": [-1]}, "sign": "+"}, ValueError,
         "coef_values of 'smoker' are -1: -1 contradicts its sign"),
        ({"fixed": {"smokes": 1}}, ValueError, r"fixed names .* \(did you mean 'smoker'\?\)"),
        ({"sign": {"age": "+"}}, ValueError, r"'age' \(a variable, with .* variable\('age'\)"),
        ({"max_coef": [5, 5, -1, 5, 5, 5]}, ValueError, "'exercise' is -1: give min_coef"),
        ({"max_intercept": "10"}, TypeError, "max_intercept must be an int or None, got '10'"),
        ({"max_intercept": -1}, ValueError, "max_intercept must be at least 0, got -1"),
        ({"max_intercept": 0.5}, ValueError, "max_intercept must be a finite integer, got 0.5"),
        ({"sign": "positive"}, ValueError, "sign of 'age >= 60' must be"),
        ({"l0_penalty": -1.0}, ValueError, "l0_penalty must be between 0 and"),
        ({"l0_penalty": [1.0]}, ValueError, "l0_penalty has 1 values, expected 6"),
        ({"settings": LatticeCPASettings()}, TypeError, "must be BranchAndBoundSettings"),
    ],
)  # fmt: skip
def test_parameters_that_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        RiskSLIMClassifier(**parameters).fit(FRAME, Y)


def test_settings_and_seeds_reach_the_engine():
    classifier = RiskSLIMClassifier(
        max_size=2, settings=TunedSettings(batch_size=3), n_threads=2, node_limit=10**6
    ).fit(FRAME, Y)
    assert classifier.solution_.settings["batch_size"] == 3
    assert classifier.solution_.settings["n_threads"] == 2
    assert classifier.solution_.settings["node_limit"] == 10**6
    for seed in (None, np.random.RandomState(5)):
        classifier.set_params(random_state=seed).fit(FRAME, Y)
        assert classifier.solution_.settings["random_state"] >= 0
    expected = np.random.RandomState(5).randint(2_000_000_000)
    assert classifier.solution_.settings["random_state"] == expected
    classifier.set_params(random_state=2**32 - 1).fit(FRAME, Y)  # as NumPy allows
    assert classifier.solution_.settings["random_state"] == (2**32 - 1) % 2_000_000_000


def test_a_pool_of_scores():
    classifier = RiskSLIMClassifier(max_size=2, n_solutions=3).fit(FRAME, Y)
    pool = classifier.solution_.pool
    assert len(pool) == 3
    assert pool.complete
    assert pool.points(0) == dict(classifier.risk_score_.points)
    near = RiskSLIMClassifier(max_size=2, within=0.01).fit(FRAME, Y).solution_.pool
    assert (near.objectives <= pool.objectives[0] * 1.01).all()


def test_a_free_scale_is_the_default(fitted):
    assert fitted.certificate_.scales == ScaleSet.of("free")
    asked = RiskSLIMClassifier(max_size=3, scale="free").fit(FRAME, Y)
    assert fitted.certificate_ == asked.certificate_
    assert fitted.risk_score_.scale != 1
    papers = RiskSLIMClassifier(max_size=3, scale=1).fit(FRAME, Y)
    assert fitted.certificate_.objective < papers.certificate_.objective
    for classifier in (fitted, papers):
        assert_same_predictions(classifier, FRAME)


@pytest.mark.parametrize(
    "parameters",
    [
        {"engine": "lattice_cpa"},
        {"constraints": [risk_at_most(0.9, {"smoker": 1})]},
        {"constraints": [false_positive_rate_at_most(0.9, threshold=0.3)]},
    ],
)
def test_the_papers_scale_is_the_default_where_an_interval_is_refused(parameters):
    classifier = RiskSLIMClassifier(max_size=2, **parameters).fit(FRAME, Y)
    assert classifier.certificate_.scales == ScaleSet.of(1)
    with pytest.raises(ValueError, match="scale"):
        classifier.set_params(scale="free").fit(FRAME, Y)


def test_remarks():
    rows = FRAME.assign(visits=FRAME["visits"] * 10)
    classifier = RiskSLIMClassifier(max_coef=1, max_size=2, scale=1).fit(rows, Y)
    assert any("too coarse" in remark for remark in classifier.remarks_)
    assert any("At a bound" in remark for remark in classifier.remarks_)


# ---------------------------------------------------------------------------------------------
# Searches that end early, and what is said meanwhile
# ---------------------------------------------------------------------------------------------

HARD = made_up(300, seed=9)[0].astype(np.float64)
HARD += np.random.default_rng(9).normal(size=HARD.shape)
HARD_LABELS = made_up(300, seed=9)[1]


def test_a_limit_is_warned_about():
    classifier = RiskSLIMClassifier(node_limit=1)
    with pytest.warns(ConvergenceWarning, match=r"\(node limit reached\) with an optimality gap of"
                      r" \d+\.\d\d%.*Raise node_limit") as caught:  # fmt: skip
        classifier.fit(HARD, HARD_LABELS)
    certificate = classifier.certificate_
    assert certificate.status is Status.FEASIBLE
    assert f"{certificate.optimality_gap:.2%}" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert classifier.predict(HARD).shape == (300,)
    classifier.set_params(gap_tolerance=0.99).fit(HARD, HARD_LABELS)  # and no warning
    assert classifier.certificate_.is_optimal


def test_time_is_warned_about():
    classifier = RiskSLIMClassifier(time_limit=1e-4)
    with pytest.warns(ConvergenceWarning, match=r"\(time limit reached\).*Raise time_limit"):
        classifier.fit(HARD, HARD_LABELS)
    assert classifier.certificate_.objective < 0.7


class InterruptingWeight(dict):
    """Presses Ctrl-C a moment after the last parameter was looked at."""

    def get(self, *arguments):
        if not hasattr(self, "timer"):
            self.timer = threading.Timer(0.3, _thread.interrupt_main)
            self.timer.start()
        return super().get(*arguments)


@pytest.mark.usefixtures("ctrl_c")
def test_an_interruption_keeps_the_best_score():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 30))
    labels = (rows @ rng.normal(size=30) + rng.normal(size=400) * 4 > 0).astype(int)
    classifier = RiskSLIMClassifier(max_size=15, class_weight=InterruptingWeight())
    with pytest.warns(ConvergenceWarning, match=r"\(interrupted by the user\).*score so far is ke"):
        classifier.fit(rows, labels)
    assert classifier.certificate_.status is Status.INTERRUPTED
    assert classifier.certificate_.lower_bound < classifier.certificate_.objective
    assert classifier.score(rows, labels) > 0.6


def test_progress_is_for_those_who_want_it(caplog, capfd):
    RiskSLIMClassifier(max_size=2).fit(FRAME, Y)
    assert not caplog.records
    RiskSLIMClassifier(max_size=2, scale=1, verbose=2).fit(FRAME, Y)
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0].startswith("engine: branch_and_bound, RiskScoreProblem(200 rows, 6 features")
    assert sum("nodes" in line and "objective" in line for line in lines) >= 2
    assert any(line.startswith("optimal: objective") for line in lines)
    assert capfd.readouterr() == ("", "")
    # The engines' own lines are enough.
    caplog.clear()
    caplog.set_level(logging.INFO, logger="riskslim")
    RiskSLIMClassifier(max_size=2, verbose=1).fit(FRAME, Y)
    names = {r.name for r in caplog.records if "nodes" in r.getMessage()}
    assert "riskslim.classifier" not in names
    assert names


_VERBOSE = """
import json, logging, sys
from riskslim import RiskSLIMClassifier
from riskslim.engines.settings import TunedSettings
rows, labels = json.loads(sys.argv[1])
RiskSLIMClassifier(max_size=1, scale=1).fit(rows, labels)
print("silent", file=sys.stderr, flush=True)
RiskSLIMClassifier(max_size=1, scale=1, verbose=1).fit(rows, labels)
assert not logging.getLogger("riskslim").handlers and not logging.getLogger().handlers
"""


@pytest.mark.slow
def test_lines_go_to_standard_error_where_logging_is_not_set_up(tmp_path):
    data = json.dumps([X[:20].tolist(), Y[:20].tolist()])
    run = subprocess.run(
        [sys.executable, "-c", _VERBOSE, data],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,  # the package that is installed, not the one in this folder
    )
    before, _, after = run.stderr.partition("silent\n")
    assert run.stdout == ""
    assert before == ""
    lines = after.splitlines()
    assert all(line.startswith("[RiskSLIMClassifier] ") for line in lines)
    assert "objective" in lines[1]
    assert lines[-1].startswith("[RiskSLIMClassifier] optimal: objective") or len(lines) > 3


# ---------------------------------------------------------------------------------------------
# Within scikit-learn
# ---------------------------------------------------------------------------------------------


def test_grid_search():
    search = GridSearchCV(
        RiskSLIMClassifier(time_limit=10),
        {"max_size": [0, 1, 2, 3]},
        scoring="neg_log_loss",
        cv=3,
    ).fit(FRAME, Y)
    assert search.best_params_["max_size"] > 0
    losses = -search.cv_results_["mean_test_score"]
    assert losses[0] > losses[search.best_index_]
    assert search.best_estimator_.certificate_.is_optimal


def test_parallel_cross_validation():
    classifier = RiskSLIMClassifier(max_size=2)
    alone = cross_validate(classifier, FRAME, Y, cv=2, scoring="roc_auc", return_estimator=True)
    both = cross_validate(classifier, FRAME, Y, cv=2, scoring="roc_auc", n_jobs=2)
    assert alone["test_score"].tolist() == both["test_score"].tolist()
    assert all(one.certificate_.is_optimal for one in alone["estimator"])
    risks = cross_val_predict(classifier, FRAME, Y, cv=2, method="predict_proba")
    assert risks.shape == (200, 2)


def test_pipeline_with_names():
    pipeline = make_pipeline(
        Binarizer(threshold=0.5).set_output(transform="pandas"), RiskSLIMClassifier(max_size=2)
    ).fit(FRAME, Y)
    assert pipeline[-1].feature_names_in_.tolist() == NAMES
    assert set(pipeline[-1].risk_score_.points) <= set(NAMES)
    assert pipeline.score(FRAME, Y) > 0.6


def test_pipeline_from_raw_columns():
    raw = pd.DataFrame({"age": np.where(X[:, 0], 70.5, 40.0) + X[:, 5], "smoker": X[:, 1]})
    pipeline = make_pipeline(
        ItemEncoder(thresholds={"age": [45, 60]}),
        RiskSLIMClassifier(constraints=(at_most_variables(1),)),
    ).fit(raw, Y)
    assert pipeline[-1].feature_names_in_.tolist()[:2] == ["age >= 45", "age >= 60"]
    assert {name.split()[0] for name in pipeline[-1].risk_score_.points} == {"age"}
    search = GridSearchCV(pipeline, {"riskslimclassifier__max_size": [1, 2]}, cv=2).fit(raw, Y)
    assert search.predict(raw).shape == (200,)


def test_calibration():
    calibrated = CalibratedClassifierCV(RiskSLIMClassifier(max_size=2), cv=3).fit(FRAME, Y)
    risks = calibrated.predict_proba(FRAME)[:, 1]
    assert abs(risks.mean() - Y.mean()) < 0.05


def test_weights_are_routed():
    weights = np.where(FRAME["smoker"], 3.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = RiskSLIMClassifier(max_size=2).set_fit_request(sample_weight=True)
        classifier.set_score_request(sample_weight=False)
        search = GridSearchCV(classifier, {"max_size": [2]}, cv=2)
        search.fit(FRAME, Y, sample_weight=weights)
        assert clone(classifier).get_metadata_routing().fit.requests == {"sample_weight": True}
    expected = RiskSLIMClassifier(max_size=2).fit(FRAME, Y, weights)
    assert search.best_estimator_.certificate_ == expected.certificate_


def test_clone_and_parameters():
    classifier = RiskSLIMClassifier(
        constraints=(at_most(1, NAMES[:2]),),
        max_coef={"visits": 1},
        settings=TunedSettings(batch_size=4),
        class_weight={0: 1, 1: 2},
    )
    copy = clone(classifier)
    assert copy.get_params() == classifier.get_params()
    assert "max_coef={'visits': 1}" in repr(classifier)
    assert repr(RiskSLIMClassifier()) == "RiskSLIMClassifier()"


@pytest.mark.parametrize("library", [pickle, joblib])
def test_pickles(fitted, library, tmp_path):
    path = tmp_path / "classifier"
    with path.open("wb") as file:
        library.dump(fitted, file)
    with path.open("rb") as file:
        again = library.load(file)
    assert again.risk_score_ == fitted.risk_score_
    assert again.certificate_ == fitted.certificate_
    assert (again.predict_proba(FRAME) == fitted.predict_proba(FRAME)).all()


def rebuilt(value):
    """The value as skops writes and reads it: states of objects, and calls of their types."""
    if value is None or isinstance(value, (str, int, float, np.generic, np.ndarray, type)):
        return value
    if isinstance(value, dict):
        assert type(value) is dict
        return {rebuilt(key): rebuilt(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [rebuilt(one) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    called, arguments, *rest = value.__reduce__()
    if called is type(value) and not any(rest):
        return called(*rebuilt(arguments))
    state = value.__getstate__() if hasattr(value, "__getstate__") else value.__dict__
    other = type(value).__new__(type(value))
    if hasattr(other, "__setstate__"):
        other.__setstate__(rebuilt(state))
    else:
        other.__dict__.update(rebuilt(state))
    return other


def test_skops_can_write_a_classifier():
    """It takes no read-only mappings, and no objects with slots."""
    classifier = RiskSLIMClassifier(
        max_size=2, constraints=[at_most(2, NAMES[:3]), if_then(NAMES[0], NAMES[1])],
        items=ItemEncoder(), n_solutions=2, positive_label=0,
    ).fit(FRAME, Y)  # fmt: skip
    again = rebuilt(classifier)
    assert again.risk_score_ == classifier.risk_score_
    assert again.certificate_ == classifier.certificate_
    assert again.constraints == classifier.constraints
    np.testing.assert_array_equal(again.predict_proba(FRAME), classifier.predict_proba(FRAME))
    labelled = classifier.risk_score_.with_labels({NAMES[0]: {"text": "A", "levels": {"yes": "+"}}})
    assert rebuilt(labelled) == labelled


def test_pickles_hold_no_training_data():
    sizes = []
    for repeats in (1, 50):
        rows, labels = np.tile(X, (repeats, 1)), np.tile(Y, repeats)
        classifier = RiskSLIMClassifier(max_size=2).fit(rows, labels)
        sizes.append(len(pickle.dumps(classifier)))
    assert sizes[1] < 1.2 * sizes[0] < 20_000
    assert sizes[1] < rows.nbytes / 10


def test_refitting_forgets(fitted):
    classifier = clone(fitted).fit(FRAME, Y).fit(X[:, :3], np.where(Y, "y", "n"))
    assert classifier.n_features_in_ == 3
    assert not hasattr(classifier, "feature_names_in_")
    assert classifier.coef_.shape == (1, 3)
    assert classifier.classes_.tolist() == ["n", "y"]


def test_the_demos_score():
    data = load_breast_cancer_binary()
    rows = pd.DataFrame({name: data.column(j) for j, name in enumerate(data.feature_names)})
    classifier = RiskSLIMClassifier(max_size=3, scale=1, l2_penalty=0).fit(rows, data.labels)
    assert classifier.certificate_.objective == pytest.approx(0.205017018, abs=1e-9)
    assert classifier.score(rows, data.labels) > 0.9


# ---- the positive label ------------------------------------------------------------------------


def injured(n=300):
    rng = np.random.default_rng(11)
    X = rng.integers(0, 2, (n, 3))
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(2 - 2 * X[:, 0])), "injury", "no injury")


@pytest.mark.parametrize("scale", [1, 2.5, "free"])
@pytest.mark.parametrize("positive", ["injury", "no injury"])
def test_coefficients_are_log_odds_of_the_second_class(positive, scale):
    """What SHAP and others read: they were points for the positive label, off by the scale."""
    X, y = injured()
    told = RiskSLIMClassifier(max_size=2, positive_label=positive, scale=scale).fit(X, y)
    log_odds = X @ told.coef_.T + told.intercept_
    np.testing.assert_allclose(log_odds[:, 0], told.decision_function(X), rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(expit(log_odds[:, 0]), told.predict_proba(X)[:, 1], rtol=1e-14)
    assert not np.signbit(told.coef_[told.points_ == 0]).any()
    score, sign = told.risk_score_, 1 if positive == "no injury" else -1
    points = [score.points.get(name, 0) for name in score.feature_names]
    assert told.points_.tolist() == [points]
    assert told.intercept_points_.tolist() == [score.intercept]
    np.testing.assert_array_equal(told.coef_ * score.scale, sign * told.points_)


def test_a_positive_label_is_modelled_and_scikit_learn_keeps_its_order():
    from sklearn.metrics import get_scorer

    X, y = injured()
    told = RiskSLIMClassifier(max_size=2, positive_label="injury").fit(X, y)
    same = RiskSLIMClassifier(max_size=2).fit(X, (y == "injury").astype(int))
    assert told.risk_score_.points == same.risk_score_.points
    assert told.risk_score_.classes == ("no injury", "injury")
    assert told.positive_label_ == "injury"
    assert same.positive_label_ == 1
    assert "probability that outcome = injury" in str(told.risk_score_)
    # Columns and signs are those of classes_, which are sorted: scorers rely on it.
    assert told.classes_.tolist() == ["injury", "no injury"]
    np.testing.assert_array_equal(told.predict_proba(X), same.predict_proba(X)[:, ::-1])
    np.testing.assert_array_equal(told.decision_function(X), -same.decision_function(X))
    np.testing.assert_allclose(np.exp(told.predict_log_proba(X)), told.predict_proba(X))
    np.testing.assert_array_equal(told.score_samples(X), same.score_samples(X))
    # At a risk of 50% the first of classes_ is predicted, whichever label it is.
    np.testing.assert_array_equal(told.predict(X) == "injury", same.decision_function(X) >= 0)
    for name in ("roc_auc", "neg_log_loss"):
        scorer = get_scorer(name)
        expected = scorer(same, X, (y == "injury").astype(int))
        assert scorer(told, X, y) == pytest.approx(expected), name


def test_sorted_order_of_two_texts_is_warned_of():
    X, y = injured()
    message = "The risk is that of 'no injury', .* positive_label='injury'; positive_label='no inj"
    with pytest.warns(PositiveLabelWarning, match=message) as caught:
        classifier = RiskSLIMClassifier(max_size=1).fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]
    assert classifier.risk_score_.classes == ("injury", "no injury")
    with pytest.warns(PositiveLabelWarning, match="'no injury'") as caught:
        TrainingData(X, y)
    assert [warning.filename for warning in caught] == [__file__]
    for labels in (("no", "yes"), ("no sepsis", "sepsis"), (0, 1), ("0", "1"), (False, True)):
        named = np.array(labels, dtype=object)[(y == "injury").astype(int)]
        TrainingData(X, named)  # a warning is an error here
    TrainingData(X, y, positive_label="no injury")


def test_cross_validation_is_about_the_positive_label():
    X, y = injured()
    series = pd.Series(y, name="harm")
    told = RiskSLIMClassifier(max_size=2, positive_label="injury")
    found = cross_validate_risk_score(told, X, series, cv=3)
    np.testing.assert_array_equal(found.positive, y == "injury")
    assert found.mean("auc") > 0.6
    # The user's words are kept: models are fitted to labels with their name.
    assert "probability that harm = injury" in str(found.final.model.risk_score_)
    path = model_size_path(told, X, series, sizes=[1, 2])
    assert all(entry.risk_score.classes[1] == "injury" for entry in path.entries)


@pytest.mark.usefixtures("no_diagrams")
def test_a_report_has_the_words_of_the_user():
    X, y = injured()
    classifier = RiskSLIMClassifier(
        max_size=2, positive_label="injury", class_weight={"injury": 3.0}
    ).fit(X, pd.Series(y, name="harm"))
    text = render(classifier.risk_score_, X, y, problem=classifier, n_resamples=0)
    assert "harm = injury" in text
    assert "outcome = " not in text
    # At the head, and on the sheet.
    assert text.count("Not calibrated: the classes were weighted. harm = injury") == 2


@pytest.mark.faults
@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("kind", ["grid", "folds", "pipeline in a grid", "calibration"])
def test_ctrl_c_ends_all_the_fits_that_scikit_learn_asked_for(kind, monkeypatch):
    fits = []
    certify = driver.certify

    def pressed(*arguments, **keywords):
        fits.append(arguments)
        if len(fits) == 2:
            signal.raise_signal(signal.SIGINT)
        return certify(*arguments, **keywords)

    monkeypatch.setattr(driver, "certify", pressed)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (80, 3))
    y = (rng.random(80) < 1 / (1 + np.exp(1 - 2 * X[:, 0]))).astype(int)
    model = RiskSLIMClassifier(max_size=2, engine="branch_and_bound")
    grid = {"max_size": [1, 2, 3]}
    run = {
        "grid": lambda: GridSearchCV(model, grid, cv=2).fit(X, y),
        "folds": lambda: cross_val_score(model, X, y, cv=5),
        "pipeline in a grid": lambda: GridSearchCV(
            make_pipeline("passthrough", model),
            {f"riskslimclassifier__{name}": values for name, values in grid.items()},
            cv=2,
        ).fit(X, y),
        "calibration": lambda: CalibratedClassifierCV(model, cv=4).fit(X, y),
    }[kind]
    with pytest.raises(KeyboardInterrupt):
        run()
    assert len(fits) == 2


@pytest.mark.faults
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_one_fit_alone_with_its_score(monkeypatch):
    certify = driver.certify

    def pressed(*arguments, **keywords):
        signal.raise_signal(signal.SIGINT)
        return certify(*arguments, **keywords)

    monkeypatch.setattr(driver, "certify", pressed)
    X = np.array([[0], [1], [1], [0]] * 5)
    y = np.array([0, 1, 1, 0] * 4 + [1, 0, 1, 0])
    for model in (
        RiskSLIMClassifier(engine="branch_and_bound"),
        make_pipeline("passthrough", RiskSLIMClassifier(engine="branch_and_bound")),
    ):
        fitted = model.fit(X, y)
        last = fitted[-1] if hasattr(fitted, "steps") else fitted
        assert last.solution_.is_interrupted
        assert last.risk_score_.certificate.is_optimal


@pytest.mark.parametrize("positive", ["yes", "no"])
def test_pickles_from_before_there_were_points(positive):
    """Then coef_ were the points of the positive label: they are log-odds now."""
    labels = np.where(Y == 1, "yes", "no")
    classifier = RiskSLIMClassifier(max_size=2, positive_label=positive).fit(X, labels)
    state = classifier.__getstate__()
    old = state | {"coef_": state["points_"], "intercept_": state["intercept_points_"]}
    del old["points_"], old["intercept_points_"]
    for pickled in (state, old):
        loaded = RiskSLIMClassifier.__new__(RiskSLIMClassifier)
        loaded.__setstate__(dict(pickled))
        for name in ("coef_", "intercept_", "points_", "intercept_points_"):
            found, expected = getattr(loaded, name), getattr(classifier, name)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_allclose(
            (X @ loaded.coef_.T + loaded.intercept_).ravel(),
            loaded.decision_function(X),
            atol=1e-12,
        )
    pickle.loads(pickle.dumps(RiskSLIMClassifier()))  # one that is not fitted


@pytest.mark.parametrize("positive", ["yes", "no"])
def test_at_log_odds_of_0_the_first_label_is_predicted(positive):
    """As scikit-learn has it, so that predict, decision_function and predict_proba agree."""
    x = np.repeat([0, 1, 2], 40)
    y = np.where(x == 1, np.arange(120) % 2, x == 2)
    y = np.where(np.arange(120) % 10 == 0, ~y.astype(bool), y).astype(bool)
    labels = np.where(y, "yes", "no")
    classifier = RiskSLIMClassifier(scale=1, positive_label=positive).fit(x[:, np.newaxis], labels)
    rows = np.arange(-3, 6)[:, np.newaxis] / 2
    decision = classifier.decision_function(rows)
    assert (decision == 0).any()
    predicted = classifier.predict(rows)
    np.testing.assert_array_equal(predicted, classifier.classes_[(decision > 0).astype(int)])
    risks = classifier.predict_proba(rows)
    np.testing.assert_array_equal(predicted, classifier.classes_[risks.argmax(axis=1)])
