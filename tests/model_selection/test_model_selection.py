"""Folds, cross-validation and paths of model sizes: what is fitted to which rows."""

from __future__ import annotations

import csv
import dataclasses
import math
import signal
import threading
from collections import Counter
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from riskslim import (
    CoefficientSet,
    ItemEncoder,
    RiskScoreProblem,
    RiskSLIMClassifier,
    Status,
    TrainingData,
    at_least,
    branch_and_bound,
    calibration_error,
    cross_validate_risk_score,
    model_size_path,
    read,
)
from riskslim.datasets import load_breast_cancer_binary
from riskslim.engines.branch_and_bound import driver
from riskslim.engines.runs import stopped_by
from riskslim.metrics.performance import Performance, metric_text
from riskslim.model_selection import (
    CrossValidation,
    Fold,
    ModelSizePath,
    SizeOnPath,
    read_folds,
    size_path,
    stratified_folds,
    write_folds,
)
from riskslim.score import predictions
from riskslim.solution import percent

DATA = load_breast_cancer_binary()
X = np.ascontiguousarray(DATA.integer_columns[:, :8])
Y = (DATA.labels > 0).astype(int)
WEIGHT = np.random.default_rng(0).uniform(0.5, 2.0, len(Y))


def problem_of(data, max_size=4, **arguments):
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    return RiskScoreProblem(data, coefficients, max_size=max_size, **arguments)


def same_performance(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert value == other[name] or (math.isnan(value) and math.isnan(other[name])), name


# ---------------------------------------------------------------------------------------------
# Folds
# ---------------------------------------------------------------------------------------------


def test_folds_are_stratified_and_reproducible():
    folds = stratified_folds(Y, 5, random_state=3)
    np.testing.assert_array_equal(folds, stratified_folds(Y * 2 - 1, 5, random_state=3))
    assert (folds != stratified_folds(Y, 5, random_state=4)).any()
    for label in (0, 1):
        counts = np.bincount(folds[label == Y])
        assert len(counts) == 5
        assert np.ptp(counts) <= 1


def test_folds_need_labels_and_a_number():
    with pytest.raises(TypeError, match="n_folds must be an int, got '5'"):
        stratified_folds(Y, "5")
    with pytest.raises(ValueError, match=r"y_true contains NaN: 2 of 6 labels.* first at row 1"):
        stratified_folds(["a", None, "b", "b", math.nan, "a"], 2)


def test_folds_go_through_files(tmp_path):
    folds = stratified_folds(Y, 3)
    write_folds(tmp_path / "folds.csv", folds)
    assert (tmp_path / "folds.csv").read_text().startswith("fold\n")
    np.testing.assert_array_equal(read_folds(tmp_path / "folds.csv"), folds)
    (tmp_path / "bare.csv").write_text("1\n0\n1\n")
    np.testing.assert_array_equal(read_folds(tmp_path / "bare.csv"), [1, 0, 1])
    (tmp_path / "wide.csv").write_text("id,fold,other\n7,1,0\n8,2,1\n")
    np.testing.assert_array_equal(read_folds(tmp_path / "wide.csv"), [1, 2])
    np.testing.assert_array_equal(read_folds(tmp_path / "wide.csv", column="other"), [0, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("1.0\n2.0\n", r"line 1: expected a whole number.*\['1.0'\]"),
        ("fold\n1\nx\n", r"line 3: expected a whole number.*\['x'\]"),
        ("a,b\n1,2\n", r"has no column 'fold'; its columns are \['a', 'b'\]"),
        ("id,fold\n1\n", "line 2: expected a whole number"),
        ("fold\n1\n1\n", "at least two folds"),
        ("fold\n-1\n1\n", "whole numbers of at least 0"),
    ],
)
def test_bad_files_of_folds_are_refused(tmp_path, text, message):
    path = tmp_path / "folds.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_folds(path)


@pytest.mark.slow
def test_all_ways_of_stating_folds_are_the_same(tmp_path):
    folds = stratified_folds(Y, 3, random_state=1)
    path = tmp_path / "folds.csv"
    write_folds(path, folds)
    splitter = StratifiedKFold(3, shuffle=True, random_state=1)
    ways = [
        3, folds, folds.tolist(), pd.Series(folds), path, str(path), splitter,
        list(splitter.split(X, Y)), splitter.split(X, Y),
        [(folds != k, folds == k) for k in range(3)],
    ]  # fmt: skip
    found = [
        cross_validate_risk_score(BernoulliNB(), X, Y, cv=way, random_state=1).records()
        for way in ways
    ]
    assert len(found[0]) == 7
    for records in found[1:]:
        for one, other in zip(records, found[0], strict=True):
            assert one["auc"] == other["auc"]


def test_groups_and_repeats_are_those_of_the_splitter():
    groups = np.arange(len(Y)) // 7
    result = cross_validate_risk_score(BernoulliNB(), X, Y, cv=GroupKFold(3), groups=groups)
    tested = [set(groups[fold.test_rows]) for fold in result.folds]
    assert not tested[0] & tested[1]
    assert sum(len(fold.test_rows) for fold in result.folds) == len(Y)
    repeated = RepeatedStratifiedKFold(n_splits=2, n_repeats=3, random_state=0)
    assert len(cross_validate_risk_score(BernoulliNB(), X, Y, cv=repeated).folds) == 6


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (np.zeros(len(Y), int), "at least two folds"),
        (np.zeros(3, int), "inconsistent numbers of samples"),
        (np.linspace(0, 1, len(Y)), "whole numbers"),
        (1 - Y, r"fold 0 has no positive row .* among its \d+ train rows"),
        ([(np.arange(500), np.arange(499, 569)), (np.arange(10), np.arange(10))], "fold 0 trains"),
        (
            [(np.arange(500), np.arange(500, 570)), (np.arange(10), np.arange(10))],
            "has the row 569",
        ),
        ([(np.arange(500), np.arange(500, 569))], "at least two folds"),
        (400, "smaller class has 212"),
    ],
)
def test_folds_that_do_not_fit_are_refused(cv, message):
    with pytest.raises(ValueError, match=message):
        cross_validate_risk_score(BernoulliNB(), X, Y, cv=cv)


def test_folds_of_another_kind_are_refused():
    with pytest.raises(TypeError, match="cv must be a number of folds"):
        cross_validate_risk_score(BernoulliNB(), X, Y, cv=2.5)


def visits(n_patients=60, n_visits=5):
    """Nearly equal visits of patients, in no order, whose outcome says little of the features."""
    rng = np.random.default_rng(1)
    patient = rng.permutation(np.repeat(np.arange(n_patients), n_visits))
    features = (rng.random((n_patients, 12)) < 0.5)[patient] ^ (
        rng.random((len(patient), 12)) < 0.02
    )
    return features.astype(int), (rng.random(n_patients) < 0.4).astype(int)[patient], patient


def test_folds_by_number_keep_groups_together_and_classes_apart():
    _, y, patient = visits()
    folds = stratified_folds(y, 4, groups=patient)
    assert len(set(zip(folds, patient, strict=True))) == 60
    share = np.bincount(folds, y) / np.bincount(folds)
    assert np.ptp(share) < 0.1
    assert np.ptp(np.bincount(folds)) <= 15
    names = pd.Series(patient).map("p{}".format)
    np.testing.assert_array_equal(folds, stratified_folds(y, 4, groups=names))
    assert (folds != stratified_folds(y, 4, groups=patient, random_state=1)).any()
    with pytest.raises(ValueError, match="smaller class is in 26 of 60 groups"):
        stratified_folds(y, 30, groups=patient)
    with pytest.raises(ValueError, match="groups has 1 missing labels, first at row 3 "):
        stratified_folds(y, 4, groups=names.where(np.arange(len(y)) != 3))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        stratified_folds(y, 4, groups=patient[1:])


@pytest.mark.parametrize("inner", [3, StratifiedGroupKFold(3), GroupKFold(3)])
def test_inner_folds_part_no_group(inner):
    """Inner folds had parted the visits of a patient, whose neighbours then chose one neighbour."""
    features, y, patient = visits()
    tuned = {"param_grid": {"n_neighbors": [1, 80]}, "inner_cv": inner, "tuning_metric": "loss"}
    found = cross_validate_risk_score(
        KNeighborsClassifier(), features, y, cv=3, groups=patient, **tuned
    )
    assert [fold.parameters for fold in (found.final, *found.folds)] == [{"n_neighbors": 80}] * 4
    for fold in found.folds:
        rest = np.delete(patient, fold.test_rows)
        assert not set(patient[fold.test_rows]) & set(rest)


def test_a_search_within_the_estimator_gets_the_groups():
    features, y, patient = visits()
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 80]}, cv=GroupKFold(3))
    pipeline = make_pipeline(StandardScaler(), search)
    found = cross_validate_risk_score(pipeline, features, y, cv=3, groups=patient)
    assert {fold.model[-1].best_params_["n_neighbors"] for fold in found.folds} == {80}


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_folds_that_part_groups_are_refused():
    features, y, patient = visits()
    for cv in (StratifiedKFold(3), stratified_folds(y, 3), [*StratifiedKFold(3).split(y, y)]):
        with pytest.raises(ValueError, match=r"fold 0 parts \d+ of the groups: it tests on row"):
            cross_validate_risk_score(BernoulliNB(), features, y, cv=cv, groups=patient)


def test_a_path_of_sizes_takes_groups():
    features, y, patient = visits()
    names = [f"x{j}" for j in range(features.shape[1])]
    problem = problem_of(TrainingData(features, y, feature_names=names), 1)
    path = model_size_path(problem, cv=3, groups=patient)
    tested = [set(patient[fold.test_rows]) for fold in path.entries[0].cross_validation.folds]
    assert sum(map(len, tested)) == 60
    with pytest.raises(ValueError, match="groups are for folds, but there are none"):
        model_size_path(problem, groups=patient)


def test_a_fold_that_cannot_be_fitted_or_tested_is_named():
    folds = stratified_folds(Y, 3)
    folds[Y == 1] = 1
    with pytest.raises(ValueError, match=r"fold 1 has no positive row .* among its \d+ train rows"):
        model_size_path(problem_of(DATA, 1), cv=folds)
    folds = stratified_folds(Y, 3)
    with pytest.raises(ValueError, match="fold 2 has no test row"):
        cross_validate_risk_score(BernoulliNB(), X, Y, np.where(folds == 2, 0.0, 1.0), cv=folds)


def sites():
    """Folds of which one has no positive row, as a site without events."""
    folds = stratified_folds(Y, 3)
    folds[(folds == 1) & (Y == 1)] = 2
    return folds


@pytest.mark.parametrize(("of_path", "weighted"), [(False, True), (True, False), (True, True)])
def test_a_site_without_events_has_all_metrics_but_the_auc(of_path, weighted, tmp_path):
    """It had ended the whole validation with an error."""
    folds, weight = sites(), None
    if weighted:  # the same folds by weight
        weight = np.where((folds == 2) & (Y == 0) & (np.arange(len(Y)) % 2 == 0), 0.0, WEIGHT)
    data = TrainingData(X, Y, weight, feature_names=[f"x{j}" for j in range(8)])
    if of_path:
        path = model_size_path(problem_of(data, 2), cv=folds)
        found = path.entries[1].cross_validation
        record = path.records()[1]
        assert record["test_auc_mean"] == found.mean("auc")
        assert path.best(metric="auc").max_size in (1, 2)
        assert "nan" not in str(path)
        path.plot()
    else:
        found = cross_validate_risk_score(BernoulliNB(), X, Y, weight, cv=folds)
    values = found.values("auc")
    assert np.isnan(values).tolist() == [False, True, False]
    assert found.mean("auc") == values[[0, 2]].mean()
    assert found.standard_error("auc") == values[[0, 2]].std(ddof=1) / math.sqrt(2)
    assert found.summary("auc").startswith(f"{values[[0, 2]].mean():.3f} (")
    assert not np.isnan(found.values("loss")).any()
    assert not np.isnan(found.values("cal")).any()
    assert "AUC: of 2 of 3 folds. Test rows of the others have one class alone" in str(found)
    assert "Test rows of the others" not in str(
        cross_validate_risk_score(BernoulliNB(), X, Y, cv=3)
    )
    found.plot_roc()
    found.plot_reliability()
    if of_path and not weighted:
        score = path.entries[1].risk_score
        score.report(tmp_path / "report.html", data, cv=found, n_resamples=0)
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "AUC: of 2 of 3 folds. Test rows of the others have one class alone" in page


def test_nothing_is_chosen_by_an_auc_that_no_fold_has():
    order = np.argsort(Y, kind="stable")
    folds, n = np.empty(len(Y), int), int((Y == 0).sum())
    folds[order] = np.repeat([0, 1, 2, 3], [n // 2, n - n // 2, 100, len(Y) - n - 100])
    path = model_size_path(problem_of(DATA, 1), cv=folds)
    assert path.best().max_size == 1  # each fold is of one class, but has a loss
    with pytest.raises(ValueError, match="no size can be chosen by 'auc'"):
        path.best(metric="auc")
    grid = {"alpha": [0.1, 1.0]}
    inner = [(np.flatnonzero(np.arange(100) >= 2), np.array([k])) for k in (0, 1)]
    with pytest.raises(ValueError, match="parameters cannot be chosen by 'auc'"):
        cross_validate_risk_score(BernoulliNB(), X, Y, cv=2, param_grid=grid, inner_cv=inner)
    found = cross_validate_risk_score(
        BernoulliNB(), X, Y, cv=2, param_grid=grid, inner_cv=inner, tuning_metric="loss"
    )
    assert found.is_complete


# ---------------------------------------------------------------------------------------------
# Cross-validation
# ---------------------------------------------------------------------------------------------


def test_metrics_are_those_of_each_fold():
    folds = stratified_folds(Y, 4)
    result = cross_validate_risk_score(LogisticRegression(), X, Y, WEIGHT, cv=folds)
    assert result.is_complete
    for k, fold in enumerate(result.folds):
        train, test = folds != k, folds == k
        model = LogisticRegression().fit(X[train], Y[train], WEIGHT[train])
        np.testing.assert_array_equal(fold.test_rows, np.flatnonzero(test))
        for rows, found in ((train, fold.train), (test, fold.test)):
            risk, y, w = model.predict_proba(X[rows])[:, 1], Y[rows], WEIGHT[rows]
            assert found.n_samples == rows.sum()
            assert found.loss == pytest.approx(log_loss(y, risk, sample_weight=w))
            assert found.auc == pytest.approx(roc_auc_score(y, risk, sample_weight=w))
            assert found.cal == pytest.approx(calibration_error(y, risk, w))
            assert found.model_size == 8
            assert math.isnan(found.optimality_gap)
    final = LogisticRegression().fit(X, Y, WEIGHT)
    np.testing.assert_allclose(result.model.coef_, final.coef_)


def test_mean_and_range_are_written_as_in_the_paper():
    folds = tuple(
        Fold(k, None, Performance(9, 0.3, 0.9, 0.01), Performance(3, loss, area, cal), *[None] * 3)
        for k, (loss, area, cal) in enumerate([(0.4, 0.8, 0.05), (0.5, 0.9, 0.031), (0.6, 1, 0.2)])
    )
    result = CrossValidation(None, folds, 5, np.array([True]))
    assert result.summary("auc") == "0.900 (0.800 - 1.000)"
    assert result.summary("cal") == "9.4% (3.1% - 20.0%)"
    assert result.summary("optimality_gap") == "-"
    assert result.mean("loss") == pytest.approx(0.5)
    assert result.standard_error("loss") == pytest.approx(0.1 / math.sqrt(3))
    assert not result.is_complete
    assert "3 of 5 folds" in str(result)
    assert "9.4% (3.1% - 20.0%)" in str(result)
    with pytest.raises(ValueError, match="metric must be one of 'loss', 'auc'"):
        result.mean("accuracy")
    with pytest.raises(ValueError, match="'test' or 'train'"):
        result.mean("auc", "all")


@pytest.mark.slow
def test_parallel_is_the_same_as_serial():
    grid = {"C": [0.01, 1.0]}
    results = [
        cross_validate_risk_score(
            LogisticRegression(), X, Y, WEIGHT, cv=3, param_grid=grid, inner_cv=2, n_jobs=n_jobs
        )
        for n_jobs in (1, 2)
    ]
    for one, other in zip(*(result.records() for result in results), strict=True):
        same_performance(one, other)


def test_classifiers_with_certificates_report_size_and_gap():
    classifier = RiskSLIMClassifier(max_size=3, scale=1)
    result = cross_validate_risk_score(classifier, X, Y, cv=3)
    assert not hasattr(classifier, "risk_score_")
    for fold in result.folds:
        assert fold.test.model_size == len(fold.model.risk_score_.points) <= 3
        assert fold.test.optimality_gap == 0
        expected = fold.model.predict_proba(X[fold.test_rows])[:, 1]
        np.testing.assert_array_equal(fold.test_risk, expected)
    piped = cross_validate_risk_score(make_pipeline("passthrough", classifier), X, Y, cv=3)
    assert piped.values("model_size").tolist() == result.values("model_size").tolist()
    assert piped.train.optimality_gap == 0


def test_labels_and_tables_of_any_kind():
    plain = cross_validate_risk_score(LogisticRegression(), X, Y, cv=3)
    words = np.array(["alive", "dead"])[Y]
    frame = pd.DataFrame(X, columns=list("abcdefgh"), index=np.arange(len(Y))[::-1])
    named = cross_validate_risk_score(LogisticRegression(), frame, pd.Series(words), cv=3)
    assert named.mean("auc") == plain.mean("auc")
    other = cross_validate_risk_score(LogisticRegression(), X, words, cv=3, pos_label="alive")
    assert other.mean("auc") == pytest.approx(plain.mean("auc"))
    assert other.mean("cal") == pytest.approx(plain.mean("cal"))
    assert other.mean("loss") == pytest.approx(plain.mean("loss"))
    np.testing.assert_allclose(other.folds[0].test_risk, 1 - plain.folds[0].test_risk)


def test_weights_reach_the_last_step_of_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    weighted = cross_validate_risk_score(pipeline, X, Y, WEIGHT, cv=3)
    expected = pipeline.fit(X, Y, logisticregression__sample_weight=WEIGHT)
    np.testing.assert_allclose(weighted.model[-1].coef_, expected[-1].coef_)
    with pytest.raises(
        ValueError, match="KNeighborsClassifier cannot be fitted with sample_weight"
    ):
        cross_validate_risk_score(KNeighborsClassifier(), X, Y, WEIGHT)


class Spy(ClassifierMixin, BaseEstimator):
    """Writes down which rows it is fitted to and asked about; the first column numbers them."""

    log: list = []  # noqa: RUF012

    def __init__(self, strength=0.0, interrupt_at=None):
        self.strength = strength
        self.interrupt_at = interrupt_at

    def fit(self, X, y):
        if self.interrupt_at is not None and len(self.log) >= self.interrupt_at:
            raise KeyboardInterrupt
        self.classes_ = np.unique(y)
        self.fitted_ = frozenset(X[:, 0].astype(int).tolist())
        self.log.append(("fit", self.strength, self.fitted_, frozenset()))
        return self

    def predict_proba(self, X):
        rows = frozenset(X[:, 0].astype(int).tolist())
        self.log.append(("predict", self.strength, self.fitted_, rows))
        # Better the closer the strength is to 2.
        noise = np.abs(self.strength - 2) * np.sin(X[:, 0])
        risk = 1 / (1 + np.exp(-(X[:, 1] - 0.5 + noise)))
        return np.column_stack((1 - risk, risk))


@pytest.fixture
def spied():
    Spy.log = []
    return np.column_stack((np.arange(60), np.arange(60) % 2)), np.arange(60) % 2


def test_nested_cross_validation_sees_no_test_row(spied):
    X, y = spied
    folds = stratified_folds(y, 3)
    grid = {"strength": [0.0, 2.0, 5.0]}
    result = cross_validate_risk_score(Spy(), X, y, cv=folds, param_grid=grid, inner_cv=2)
    assert [fold.parameters for fold in result.folds] == [{"strength": 2.0}] * 3
    assert result.parameters == {"strength": 2.0}
    fits = [rows for what, _, rows, _ in Spy.log if what == "fit"]
    # For all rows and each fold: three values on two inner folds, and the chosen one on all.
    assert len(fits) == 4 * (3 * 2 + 1)
    everything = frozenset(range(60))
    outer = [frozenset(np.flatnonzero(folds != k).tolist()) for k in range(3)]
    for available in (everything, *outer):
        calls, Spy.log = Spy.log[:7 + 7 + (available != everything)], Spy.log[
            7 + 7 + (available != everything):]  # fmt: skip
        *tuned, chosen = (call for call in calls if call[0] == "fit")
        assert chosen[1:3] == (2.0, available)
        for _, _, fitted, asked in (call for call in calls if call[0] == "predict"):
            if fitted == available:
                continue
            assert fitted | asked == available  # an inner fold: within the training rows
            assert not fitted & asked
        assert all(fit[2] < available for fit in tuned)
    assert not Spy.log


def test_tuning_by_other_metrics_and_its_errors(spied):
    X, y = spied
    for metric in ("loss", "auc", "cal"):
        result = cross_validate_risk_score(
            Spy(), X, y, cv=2, inner_cv=2, tuning_metric=metric,
            param_grid=[{"strength": [9.0]}, {"strength": [2.0, -3.0]}],
        )  # fmt: skip
        expected = {"loss": 2.0, "auc": 2.0}.get(metric)
        assert expected is None or result.parameters == {"strength": expected}
        assert result.records()[0]["param_strength"] == result.parameters["strength"]
    with pytest.raises(ValueError, match="Invalid parameter 'power' for estimator Spy"):
        cross_validate_risk_score(Spy(), X, y, param_grid={"power": [1]})
    with pytest.raises(ValueError, match="tuning_metric must be"):
        cross_validate_risk_score(Spy(), X, y, param_grid={"strength": [1]}, tuning_metric="size")
    with pytest.raises(TypeError, match="StandardScaler has no predict_proba"):
        cross_validate_risk_score(StandardScaler(), X, y)
    with pytest.raises(TypeError, match="X is TrainingData, but the table itself is needed"):
        cross_validate_risk_score(Spy(), DATA, Y)


def test_progress_and_stopping(spied):
    X, y = spied
    steps = []
    result = cross_validate_risk_score(
        Spy(), X, y, cv=4, progress=steps.append, should_stop=lambda: len(steps) == 3
    )
    assert steps == [(1, 5, "all rows"), (2, 5, "fold 0"), (3, 5, "fold 1")]
    assert not result.is_complete
    assert [fold.number for fold in result.folds] == [0, 1]
    assert result.model is not None
    nothing = cross_validate_risk_score(Spy(), X, y, should_stop=lambda: True)
    assert (nothing.model, nothing.folds) == (None, ())
    with pytest.raises(ValueError, match="final model is not finished"):
        nothing.plot_reliability()


@pytest.mark.slow
def test_stopping_in_parallel_gives_up_what_has_begun():
    steps = []
    result = cross_validate_risk_score(
        BernoulliNB(),
        X,
        Y,
        cv=9,
        n_jobs=2,
        progress=steps.append,
        should_stop=lambda: len(steps) > 1,
    )
    assert len(steps) == 2
    assert [step.done for step in steps] == [1, 2]
    assert len(result.folds) + (result.final is not None) == 2
    assert not result.is_complete


def test_an_interruption_returns_what_is_finished(spied):
    X, y = spied
    # Two entries for the final model, three for each fold.
    result = cross_validate_risk_score(Spy(interrupt_at=5), X, y, cv=4)
    assert len(result.folds) == 1
    assert not result.is_complete
    with pytest.raises(KeyboardInterrupt):
        cross_validate_risk_score(Spy(interrupt_at=0), X, y, cv=4)


@pytest.mark.slow
def test_notes_on_items_are_those_of_all_rows_alone(caplog):
    rng = np.random.default_rng(2)
    raw = pd.DataFrame({"age": rng.normal(50, 10, 120), "who": rng.permutation(120) + 10_000})
    raw["once"] = (np.arange(120) == 7).astype(int)
    y = raw["age"] + rng.normal(0, 10, 120) > 50
    encoder = ItemEncoder(n_thresholds="all", max_thresholds=4)
    model = RiskSLIMClassifier(max_size=2, items=encoder, time_limit=20)
    result = cross_validate_risk_score(model, raw, y, cv=3, param_grid={"max_size": [1, 2]})
    assert result.is_complete
    assert [record.message[:6] for record in caplog.records].count("took 4") == 1
    assert sum("items that are constant" in record.message for record in caplog.records) == 0


@pytest.fixture
def late_ctrl_c(ctrl_c, monkeypatch):
    """Press Ctrl-C when the second search is over, but for its certificate."""
    seen = []

    def certify(*args, **kwargs):
        seen.append(args)
        if len(seen) == 2:
            signal.raise_signal(signal.SIGINT)
        return driver.certify.__wrapped__(*args, **kwargs)

    certify.__wrapped__ = driver.certify
    monkeypatch.setattr(driver, "certify", certify)


@pytest.mark.usefixtures("late_ctrl_c")
def test_a_path_ends_at_a_ctrl_c_that_comes_when_a_search_is_over():
    path = model_size_path(problem_of(DATA, 4), engine="branch_and_bound")
    assert [entry.solution.is_interrupted for entry in path.entries] == [False, True]
    # The score itself lacks nothing.
    assert [entry.is_interrupted for entry in path.entries] == [False, False]
    assert all(entry.solution.certificate.is_optimal for entry in path.entries)
    assert not path.is_complete


@pytest.mark.usefixtures("late_ctrl_c")
def test_folds_end_at_a_ctrl_c_that_comes_when_a_search_is_over():
    path = model_size_path(problem_of(DATA, 2), sizes=[2], cv=4, engine="branch_and_bound")
    assert path.entries[0].cross_validation.n_folds == 4
    assert len(path.entries[0].cross_validation.folds) == 1
    assert not path.is_complete


@pytest.mark.usefixtures("late_ctrl_c")
def test_cross_validation_ends_at_a_ctrl_c_that_comes_when_a_search_is_over():
    model = RiskSLIMClassifier(max_size=2, engine="branch_and_bound")
    result = cross_validate_risk_score(model, X, Y, cv=4)
    assert len(result.folds) == 1
    assert not result.is_complete


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("at", [5, 6, 7, 8])
def test_a_ctrl_c_in_an_inner_fold_ends_the_run(monkeypatch, at):
    """Two parameters on two inner folds and the chosen one make five fits of each model."""
    fitted, certify = [], driver.certify

    def counted(*args, **kwargs):
        fitted.append(args)
        if len(fitted) == at + 1:
            signal.raise_signal(signal.SIGINT)
        return certify(*args, **kwargs)

    monkeypatch.setattr(driver, "certify", counted)
    model = RiskSLIMClassifier(engine="branch_and_bound")
    grid = {"max_size": [1, 2]}
    result = cross_validate_risk_score(model, X, Y, cv=3, param_grid=grid, inner_cv=2)
    assert result.final is not None
    assert len(result.folds) == 0
    assert not result.is_complete
    assert len(fitted) == at + 1


@pytest.mark.usefixtures("ctrl_c")
def test_a_path_keeps_what_is_finished_at_a_ctrl_c_between_two_searches(monkeypatch):
    problem, sizes = problem_of(DATA, 4), []
    restated = type(problem).restated

    def between(self, data=None, *, max_size=None):
        sizes.append(max_size)
        if len(sizes) == 3:
            raise KeyboardInterrupt
        return restated(self, data, max_size=max_size)

    monkeypatch.setattr(type(problem), "restated", between)
    path = model_size_path(problem, engine="branch_and_bound")
    assert [entry.max_size for entry in path.entries] == [1, 2]
    assert not path.is_complete
    sizes[:] = [1, 2]  # before anything is finished
    with pytest.raises(KeyboardInterrupt):
        model_size_path(problem, engine="branch_and_bound")


def stop_within_a_search():
    """A function that says so when it is asked by a search, and from then on."""
    asked = []

    def should_stop():
        asked.append(threading.current_thread().name)
        return "branch_and_bound limits" in asked

    return should_stop


@pytest.fixture
def long_searches():
    """A classifier whose fits last until a time limit far away, and its data."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 25))
    y = rng.random(3000) < 1 / (1 + np.exp(-X @ rng.normal(size=25)))
    return RiskSLIMClassifier(max_size=6, time_limit=120, engine="branch_and_bound"), X, y


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("is_grid", [False, True])
def test_a_cross_validation_is_stopped_within_a_search(long_searches, is_grid):
    model, X, y = long_searches
    if is_grid:
        model = GridSearchCV(model, {"max_size": [5, 6]}, cv=2)
    result = cross_validate_risk_score(model, X, y, cv=3, should_stop=stop_within_a_search())
    assert (result.final, result.folds, result.n_folds) == (None, (), 3)


def test_a_search_is_ended_by_all_who_may(long_searches):
    """By what its own call was told, too; and not once the block has ended."""
    _, X, y = long_searches
    problem = problem_of(TrainingData(X, y), 6)
    with stopped_by(lambda: False), stopped_by(stop_within_a_search()), stopped_by(None):
        assert branch_and_bound(problem, time_limit=120).is_interrupted
    with stopped_by(lambda: False):
        solution = branch_and_bound(problem, time_limit=120, should_stop=stop_within_a_search())
        assert solution.is_interrupted
    small = problem_of(DATA, 1)
    assert not branch_and_bound(small).is_interrupted


def test_each_score_of_a_path_is_measured_once(monkeypatch):
    measured, original = [], size_path.performance
    monkeypatch.setattr(
        size_path, "performance", lambda *args: measured.append(args) or original(*args)
    )
    path = model_size_path(problem_of(DATA, 3), cv=2)
    assert path.is_complete
    assert len(measured) == 3 + 2 * 3 * 2
    for entry in path.entries:  # the gaps are those of the last certificates
        assert entry.train.optimality_gap == entry.solution.certificate.optimality_gap


def test_rows_are_read_once_for_a_score_of_a_path(monkeypatch):
    read, real = [], predictions._sums
    monkeypatch.setattr(
        predictions, "_sums", lambda score, X: read.append(X.n_rows) or real(score, X)
    )
    path = model_size_path(problem_of(DATA, 2), cv=3)
    assert path.is_complete
    # All rows, and those of each fold that were left out, and that were not.
    counts = Counter(read)
    assert counts.pop(DATA.n_rows) == 2
    assert sum(counts.values()) == 2 * 3 * 2
    assert sum(n * rows for rows, n in counts.items()) == 2 * 3 * DATA.n_rows


@pytest.mark.parametrize(("at", "sizes", "n_folds"), [(1, 1, 0), (2, 2, 0), (3, 3, 0), (5, 3, 0)])
def test_a_ctrl_c_while_scores_are_measured_loses_none_of_them(monkeypatch, at, sizes, n_folds):
    """The first three are those of all rows; the others of a fold that is not finished."""
    measured, original = [], size_path.performance

    def interrupted(*args):
        measured.append(args)
        if len(measured) == at:
            raise KeyboardInterrupt
        return original(*args)

    monkeypatch.setattr(size_path, "performance", interrupted)
    path = model_size_path(problem_of(DATA, 3), cv=2, engine="branch_and_bound")
    assert not path.is_complete
    assert [entry.max_size for entry in path.entries] == [*range(1, sizes + 1)]
    for entry in path.entries:
        assert entry.solution.certificate.is_optimal
        assert entry.train.auc > 0.5
        assert len(entry.cross_validation.folds) == n_folds
    # What is not finished of a fold is not measured.
    assert len(measured) == (at + 1 if at <= 3 else at)


def test_a_second_ctrl_c_ends_a_path_at_once(monkeypatch):
    monkeypatch.setattr(size_path, "performance", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        model_size_path(problem_of(DATA, 3), engine="branch_and_bound")


def test_diagrams_of_folds(monkeypatch):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    result = cross_validate_risk_score(BernoulliNB(), X, Y, cv=3)
    for ax in (result.plot_reliability(), result.plot_roc()):
        grey = [line for line in ax.lines if mpl.colors.to_hex(line.get_color()) == "#9a9a9a"]
        assert len(grey) == 3
    labels = [text.get_text() for text in result.plot_roc().get_legend().get_texts()]
    assert labels == ["folds, test rows", f"final model, training rows: AUC {result.train.auc:.3f}"]
    path = model_size_path(problem_of(DATA, 2), cv=3)
    first = path.plot()
    axes = first.figure.axes
    assert first is axes[0]
    for ax, metric in zip(axes, ("loss", "auc", "cal", "optimality_gap"), strict=True):
        trained, tested = (line.get_ydata() for line in ax.lines)
        np.testing.assert_array_equal(trained, [getattr(e.train, metric) for e in path.entries])
        means = [entry.cross_validation.mean(metric) for entry in path.entries]
        np.testing.assert_array_equal(tested, means)
        low, high = ax.get_ylim()
        assert low < min(*trained, *tested)
        assert max(entry.cross_validation.values(metric).max() for entry in path.entries) < high
    assert axes[3].get_ylim()[1] == 0.01
    assert [text.get_text() for text in axes[3].texts] == ["all proven optimal"]
    assert not any(ax.texts for ax in axes[:3])
    # One score with a gap, or whose gap is not known: nothing is said.
    for gap in (0.2, np.nan):
        *others, last = path.entries
        left = dataclasses.replace(last, train=dataclasses.replace(last.train, optimality_gap=gap))
        drawn = dataclasses.replace(path, entries=(*others, left)).plot().figure
        assert not drawn.axes[3].texts
    plt.close("all")


# ---------------------------------------------------------------------------------------------
# Paths
# ---------------------------------------------------------------------------------------------


def test_gaps_are_written_alike_everywhere():
    path = model_size_path(problem_of(DATA, 1))
    (entry,) = path.entries
    for gap, text in ((0.0, "0.00%"), (1e-7, "<0.01%"), (0.0321, "3.21%")):
        train = dataclasses.replace(entry.train, optimality_gap=gap)
        shown = dataclasses.replace(path, entries=(dataclasses.replace(entry, train=train),))
        assert text in str(shown).splitlines()[1].split()
        assert metric_text("optimality_gap", gap) == percent(gap) == text


def test_a_path_equals_independent_fits():
    path = model_size_path(problem_of(DATA))
    assert path.is_complete
    assert path.sizes == (1, 2, 3, 4)
    for entry in path.entries:
        alone = branch_and_bound(problem_of(DATA, entry.max_size)).certificate
        certificate = entry.solution.certificate
        assert certificate.objective == pytest.approx(alone.objective, abs=1e-12)
        assert certificate.status is alone.status is Status.OPTIMAL
        assert len(entry.risk_score.points) <= entry.max_size
        assert entry.train.loss == pytest.approx(certificate.loss)
        assert entry.cross_validation is None
    losses = [entry.train.loss for entry in path.entries]
    assert losses == sorted(losses, reverse=True)


def test_what_is_shown_does_not_grow_with_the_rows():
    path = model_size_path(problem_of(DATA, 2), cv=3)
    validation = path.best().cross_validation
    for shown in (path.best(), validation, validation.folds[0]):
        assert "risk_score" in repr(shown) or "RiskScore(" in repr(shown)
        assert "array(" not in repr(shown)


def test_folds_of_a_path_equal_fits_to_their_training_rows():
    folds = stratified_folds(Y, 3)
    path = model_size_path(problem_of(DATA, 3), sizes=[1, 3], cv=folds)
    assert path.sizes == (1, 3)
    for entry in path.entries:
        classifier = RiskSLIMClassifier(max_size=entry.max_size, scale=1, l2_penalty=0)
        frame = pd.DataFrame(DATA.integer_columns, columns=list(DATA.feature_names))
        alone = cross_validate_risk_score(classifier, frame, Y, cv=folds)
        found = entry.cross_validation
        np.testing.assert_allclose(found.values("loss", "train"), alone.values("loss", "train"))
        assert (found.values("optimality_gap") == 0).all()
        for fold in found.folds:
            test = fold.test_rows
            risk = fold.model.predict_proba(frame.iloc[test])[:, 1]
            assert fold.test.auc == roc_auc_score(Y[test], risk)
            assert fold.test.cal == pytest.approx(calibration_error(Y[test], risk))


def test_a_path_of_a_classifier_keeps_its_requirements():
    classifier = RiskSLIMClassifier(
        max_size=3, max_coef=2, sign="-", class_weight={1: 3.0}, gap_tolerance=0.01
    )
    path = model_size_path(classifier, X, Y, WEIGHT, cv=2)
    for entry in path.entries:
        classifier.set_params(max_size=entry.max_size)
        fitted = classifier.fit(X, Y, WEIGHT)
        certificate = entry.solution.certificate
        assert certificate.gap_tolerance == 0.01
        assert certificate.objective <= fitted.certificate_.objective * 1.01
        assert set(entry.risk_score.points.values()) <= {-1, -2}
        # Metrics have the weights of rows and of classes, as the fit has.
        risk = entry.risk_score.predict_proba(X)[:, 1]
        weight = WEIGHT * np.where(Y == 1, 3.0, 1.0)
        assert entry.train.loss == pytest.approx(log_loss(Y, risk, sample_weight=weight))
        assert entry.train.loss == pytest.approx(certificate.loss)
    with pytest.raises(ValueError, match="needs data"):
        model_size_path(classifier)
    with pytest.raises(TypeError, match="time_limit: with a classifier"):
        model_size_path(classifier, X, Y, time_limit=3)
    with pytest.raises(TypeError, match="or a pipeline that ends in one, got BernoulliNB"):
        model_size_path(BernoulliNB(), X, Y)


@pytest.mark.parametrize("thresholds", [None, "supervised"])
@pytest.mark.parametrize("weights", ["balanced", {1: 4}])
def test_weights_of_classes_are_the_same_in_all_figures(thresholds, weights):
    """Items of all rows or of each fold: the table has the weights that the fit states."""
    generator = np.random.default_rng(3)
    age = generator.integers(20, 90, 300)
    y = (generator.random(300) < np.where(age > 60, 0.3, 0.05)).astype(int)
    frame = pd.DataFrame({"age": age})
    items = ItemEncoder() if thresholds is None else ItemEncoder(thresholds=thresholds)
    classifier = RiskSLIMClassifier(max_size=1, items=items, class_weight=weights)
    (entry,) = model_size_path(classifier, frame, y, sizes=[1], cv=3).entries
    factors = {1: 4} if weights != "balanced" else dict(enumerate(150 / np.bincount(y)))
    weight = np.array([factors.get(label, 1) for label in y.tolist()])
    found = entry.cross_validation
    for fold in (*found.folds, found.final):
        rows = fold.test_rows
        expected = log_loss(y[rows], fold.test_risk, sample_weight=weight[rows])
        assert fold.test.loss == pytest.approx(expected)
        assert fold.model.class_weighting is not None
    assert entry.train.loss == pytest.approx(entry.solution.certificate.loss)
    assert "by the weights of their classes, as in the fit" in str(found)
    # Other estimators have other weights: there rows count as they are, which the table says.
    plain = cross_validate_risk_score(classifier, frame, y, cv=3)
    assert "without the weights of their classes, which the fit has" in str(plain)
    assert plain.train.loss == pytest.approx(log_loss(y, plain.final.test_risk))


@pytest.mark.slow
def test_a_path_of_the_other_engine_and_of_scales():
    data = TrainingData(X, Y)
    native, other = (
        model_size_path(problem_of(data, 2), cv=2, engine=engine)
        for engine in ("auto", "lattice_cpa")
    )
    for one, two in zip(native.entries, other.entries, strict=True):
        assert two.solution.certificate.engine.startswith("lattice_cpa")
        assert one.train.loss == pytest.approx(two.train.loss)
    scaled = model_size_path(problem_of(data, 2, scale=(0.5, 3.0)), cv=2)
    for one, two in zip(native.entries, scaled.entries, strict=True):
        assert two.train.loss <= one.train.loss * (1 + 1e-5)
        assert two.risk_score.scale == two.solution.scale != 1
        # The scores that people add up are not log-odds here; metrics know.
        risk = two.risk_score.predict_proba(X)[:, 1]
        assert two.train.loss == pytest.approx(log_loss(Y, risk))


def test_each_size_starts_from_the_one_before(monkeypatch):
    from riskslim.model_selection import size_path as model_selection

    seen = []
    solve = model_selection.solve

    def spy(problem, **arguments):
        solution = solve(problem, **arguments)
        seen.append((problem.max_size, arguments["start"], solution.coef))
        return solution

    monkeypatch.setattr(model_selection, "solve", spy)
    model_size_path(problem_of(DATA, 3), engine="branch_and_bound")
    assert [size for size, _, _ in seen] == [1, 2, 3]
    assert seen[0][1] is None
    np.testing.assert_array_equal(seen[1][1], seen[0][2])
    np.testing.assert_array_equal(seen[2][1], seen[1][2])


def test_a_better_bound_of_a_larger_size_holds_for_the_smaller_one(monkeypatch):
    from riskslim.model_selection import size_path as model_selection

    solve = model_selection.solve

    def impatient(problem, **arguments):
        solution = solve(problem, **arguments)
        if problem.max_size == 3:
            return solution
        early = dataclasses.replace(
            solution.certificate, lower_bound=0.1 * problem.max_size, status=Status.FEASIBLE,
            message="time limit reached",
        )  # fmt: skip
        return dataclasses.replace(solution, certificate=early)

    optimum = branch_and_bound(problem_of(DATA, 3)).certificate.objective
    monkeypatch.setattr(model_selection, "solve", impatient)
    path = model_size_path(problem_of(DATA, 3))
    for size in (1, 2):
        certificate = path.of_size(size).solution.certificate
        assert certificate.lower_bound == pytest.approx(optimum)
        assert optimum < certificate.objective
        assert certificate.status is Status.FEASIBLE
        assert certificate.message.startswith("time limit reached; lower bound from a larger")
        assert path.of_size(size).risk_score.certificate is certificate
    assert path.of_size(3).solution.certificate.status is Status.OPTIMAL


def test_sizes_that_no_score_meets_are_said_to_be_infeasible():
    data = TrainingData(X, Y)
    needed = at_least(2, list(data.feature_names[:5]))
    path = model_size_path(problem_of(data, 3, constraints=[needed]), cv=2)
    first, second, third = path.entries
    assert first.solution.certificate.status is Status.INFEASIBLE
    assert first.risk_score is first.train is None
    assert second.risk_score is not None
    assert third.cross_validation.is_complete
    assert path.best("best_mean").max_size in (2, 3)
    assert "infeasible" in str(path)
    assert "auc" not in path.records()[0]


def test_sizes_are_checked():
    problem = problem_of(DATA, 3, min_size=2)
    assert model_size_path(problem, sizes=2).sizes == (2,)
    for sizes, message in (([1], "between 2 and 3"), (9, "between 2 and 3"), ([], "no size")):
        with pytest.raises(ValueError, match=message):
            model_size_path(problem, sizes=sizes)
    with pytest.raises(TypeError, match="whole numbers"):
        model_size_path(problem, sizes=[2.5])
    with pytest.raises(ValueError, match="has its data"):
        model_size_path(problem, X, Y)
    with pytest.raises(ValueError, match="start is set by the path"):
        model_size_path(problem, start=[0] * 31)
    with pytest.raises(KeyError, match=r"no size 1 on this path; there are \[2\]"):
        model_size_path(problem, sizes=2).of_size(1)


def test_a_path_that_is_stopped_keeps_its_sizes():
    calls = []

    def stop():
        calls.append(None)
        return len(calls) > 1

    path = model_size_path(problem_of(DATA, 4), cv=3, should_stop=stop)
    assert not path.is_complete
    assert 1 <= len(path.entries) <= 4
    assert path.entries[-1].solution.certificate.status is Status.INTERRUPTED
    assert path.entries[-1].risk_score is not None
    assert path.entries[0].cross_validation.folds == ()
    steps = []
    path = model_size_path(
        problem_of(DATA, 2), cv=3, progress=steps.append, should_stop=lambda: len(steps) == 2
    )
    assert [step.what for step in steps] == ["all rows", "fold 0"]
    assert path.sizes == (1, 2)
    assert [len(entry.cross_validation.folds) for entry in path.entries] == [1, 1]
    assert str(path).endswith("The run was stopped: not all sizes and folds are finished.")
    with pytest.raises(ValueError, match="none was tested"):
        path.best()


def test_searches_of_a_path_are_followed():
    seen = []
    path = model_size_path(
        problem_of(TrainingData(X, Y), 2), cv=2, search_progress=lambda *what: seen.append(what)
    )
    names = ("all rows", "fold 0", "fold 1")
    assert list(dict.fromkeys(what[:2] for what in seen)) == [
        (name, size) for name in names for size in (1, 2)
    ]
    for entry in path.entries:
        records = [one for name, size, one in seen if (name, size) == ("all rows", entry.max_size)]
        assert records[-1].upper_bound == entry.solution.certificate.objective


def test_a_time_limit_leaves_a_valid_gap():
    with pytest.warns(ConvergenceWarning):
        RiskSLIMClassifier(max_size=4, node_limit=0).fit(X, Y)
    path = model_size_path(RiskSLIMClassifier(max_size=4, node_limit=0), X, Y)
    optimum = model_size_path(RiskSLIMClassifier(max_size=4), X, Y)
    assert path.is_complete
    for entry, best in zip(path.entries, optimum.entries, strict=True):
        certificate = entry.solution.certificate
        assert certificate.lower_bound <= best.solution.certificate.objective + 1e-10
        assert certificate.objective >= best.solution.certificate.objective - 1e-12


def entry_with(size, losses, areas=None):
    areas = areas or [0.9] * len(losses)
    train = Performance(9, 0.3, 0.9, 0.01, size, 0.0)
    folds = tuple(
        Fold(k, None, train, dataclasses.replace(train, loss=loss, auc=area), *[None] * 3)
        for k, (loss, area) in enumerate(zip(losses, areas, strict=True))
    )
    final = Fold(-1, object(), train, train, *[None] * 3)
    tested = CrossValidation(final, folds, len(folds), np.array([True]))
    return SizeOnPath(size, None, None, train, tested)


def test_rules_of_choosing_a_size():
    entries = [
        entry_with(1, [0.60, 0.62, 0.64], [0.70, 0.70, 0.70]),
        entry_with(2, [0.47, 0.50, 0.53], [0.90, 0.80, 0.85]),
        entry_with(3, [0.44, 0.49, 0.54], [0.91, 0.81, 0.86]),
        entry_with(4, [0.44, 0.49, 0.54], [0.60, 0.60, 0.60]),
    ]
    path = ModelSizePath(tuple(entries), True)
    assert path.best("best_mean").max_size == 3  # the smaller of two that are equal
    assert path.best().max_size == 2  # 0.50 <= 0.49 + 0.05 / sqrt(3)
    assert path.best("best_mean", "auc").max_size == 3
    assert path.best("one_standard_error", "auc").max_size == 2
    with pytest.raises(ValueError, match="rule must be one of 'one_standard_error'"):
        path.best("smallest")
    with pytest.raises(ValueError, match="metric must be"):
        path.best(metric="size")


def test_records_and_text_of_a_path():
    path = model_size_path(problem_of(DATA, 2), cv=3)
    record = path.records()[1]
    found = path.of_size(2).cross_validation
    assert record["max_size"] == record["model_size"] == 2
    assert record["status"] == "optimal"
    assert record["test_auc_mean"] == found.mean("auc")
    assert record["test_cal_max"] == found.values("cal").max()
    assert len(pd.DataFrame(path.records())) == 2
    assert f"{found.mean('loss'):.5f}" in str(path).splitlines()[2]


# ---------------------------------------------------------------------------------------------
# The paper's table: CAL and AUC over five folds with at most 5 features
# ---------------------------------------------------------------------------------------------

PAPER = {
    "mammo": (0.843, 0.050), "mushroom": (0.989, 0.018), "adult": (0.854, 0.026),
    "bank": (0.760, 0.013),
}  # fmt: skip


@pytest.mark.shared_data
@pytest.mark.parametrize(
    "name",
    [
        "mammo",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("mushroom", "adult")),
    ],
)
def test_test_metrics_of_the_paper(shared_data, name):
    path = shared_data / f"{name}_data.csv"
    with path.open(newline="") as file:
        outcome = next(csv.reader(file))[0]
    data = read(path, outcome)
    coefficients = CoefficientSet(
        data.feature_names, -5, 5, intercept_lower=-100, intercept_upper=100
    )
    problem = RiskScoreProblem(data, coefficients, max_size=5)
    found = model_size_path(problem, sizes=[5], cv=5, time_limit=15).of_size(5).cross_validation
    area, cal = PAPER[name]
    assert len(found.folds) == 5
    assert found.mean("auc") == pytest.approx(area, abs=0.005)
    assert found.mean("cal") == pytest.approx(cal, abs=0.01)


def test_a_bound_of_a_larger_size_goes_with_its_own_tolerance():
    from riskslim.datasets import load_breast_cancer_binary
    from riskslim.engines.certify import certify
    from riskslim.model_selection.size_path import _with_bounds_of_larger

    data = load_breast_cancer_binary()
    coefficients = CoefficientSet(data.feature_names, -2, 2)
    problems = [RiskScoreProblem(data, coefficients, max_size=size) for size in (1, 2)]
    solutions = [branch_and_bound(problem) for problem in problems]
    stated = []
    for problem, solution, bound, tolerance in zip(
        problems, solutions, (0.0, solutions[1].certificate.lower_bound), (1e-10, 1e-9), strict=True
    ):
        certificate = certify(
            problem, solution.coef, bound, gap_tolerance=0.0, bound_tolerance=tolerance,
            engine="x", message="stopped",
        )  # fmt: skip
        stated.append(dataclasses.replace(solution, certificate=certificate))
    smaller, larger = _with_bounds_of_larger(problems, stated)
    assert smaller.certificate.lower_bound == larger.certificate.lower_bound
    assert smaller.certificate.bound_tolerance == 1e-9
