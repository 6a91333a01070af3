"""Paths of strengths and sizes: the same folds and figures, starts, rules, the classifier."""

from __future__ import annotations

import dataclasses
import math
import sys
import threading
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from riskslim import (
    ItemEncoder,
    RiskSLIMClassifier,
    RiskSLIMClassifierCV,
    TrainingData,
    at_least,
    cross_validate_risk_score,
    model_size_path,
    shrinkage_path,
)
from riskslim.datasets import load_breast_cancer_binary
from riskslim.engines.workers import Workers
from riskslim.exceptions import InfeasibleProblemError, RiskSLIMError, RowsLostError
from riskslim.model_selection import (
    SHRINKAGES,
    ModelSizePath,
    ShrinkagePath,
    SizeOnPath,
    size_path,
)
from riskslim.report import render

DATA = load_breast_cancer_binary()
N = 90
# Without columns that others are nearly the same as: ties could be broken otherwise.
X = pd.DataFrame(DATA.integer_columns[:N, [0, 1, 4, 6, 8]], columns=list("abcde"))
Y = np.where(DATA.labels[:N] > 0, "yes", "no")
WEIGHT = np.random.default_rng(0).uniform(0.5, 2.0, N)
PLAIN = RiskSLIMClassifier(max_size=2, scale=[1, 2])
STRENGTHS = (0.0, 1.0, 4.0)


@pytest.fixture(scope="module")
def path():
    return shrinkage_path(PLAIN, X, Y, shrinkages=STRENGTHS, cv=3)


def figures(records):
    """Records of a path without what differs from run to run."""
    return [{k: v for k, v in one.items() if k != "seconds"} for one in records]


# --- the path -------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_each_strength_is_a_path_of_sizes_on_the_same_folds(weight, path):
    if weight is not None:
        path = shrinkage_path(PLAIN, X, Y, weight, shrinkages=STRENGTHS, cv=3)
    assert path.shrinkages == STRENGTHS
    assert path.is_complete
    for strength, found in zip(path.shrinkages, path.paths, strict=True):
        alone = model_size_path(clone(PLAIN).set_params(shrinkage=strength), X, Y, weight, cv=3)
        for one, other in zip(figures(found.records()), figures(alone.records()), strict=True):
            assert one["points"] == other["points"]
            for name in ("objective", "test_loss_mean", "test_auc_min", "test_cal_max", "loss"):
                assert one[name] == pytest.approx(other[name], rel=1e-9)
        for entry in found.entries:
            rows = [fold.test_rows for fold in entry.cross_validation.folds]
            assert sorted(np.concatenate(rows)) == list(range(N))


def test_searches_start_from_the_best_of_what_is_known(monkeypatch):
    started = []
    solve = size_path.solve

    def noted(problem, **arguments):
        start = arguments["start"]
        solution = solve(problem, **arguments)
        if start is not None:
            assert solution.certificate.objective <= problem.objective(start) + 1e-12
        started.append((problem.max_size, start is not None))
        return solution

    monkeypatch.setattr(size_path, "solve", noted)
    shrinkage_path(PLAIN, X, Y, shrinkages=[1, 4], cv=None)
    assert started == [(1, False), (2, True), (1, True), (2, True)]


def test_the_start_is_the_better_one_that_meets_the_requirements():
    problem = clone(PLAIN).problem_on(TrainingData(X, Y))
    best = problem.smallest_points(size_path.solve(problem, engine="branch_and_bound").coef)
    none, large = np.zeros_like(best), np.full_like(best, 5)
    assert size_path._best_start(problem, None, None) is None
    assert size_path._best_start(problem, large, None) is None  # five features
    assert size_path._best_start(problem, none, best) is best
    assert size_path._best_start(problem, best, none) is best
    assert size_path._best_start(problem, np.zeros(3, np.int64), none) is none  # of other columns


def test_processes_give_equal_results(monkeypatch):
    arguments = {"shrinkages": [0, 4], "cv": 2}
    one = shrinkage_path(PLAIN, X, Y, **arguments)
    begun = []
    begin = Workers.__init__
    monkeypatch.setattr(Workers, "__init__", lambda *a: begun.append(1) or begin(*a))
    other = shrinkage_path(PLAIN, X, Y, **arguments, n_jobs=2)
    assert len(begun) == 1  # the same processes for all strengths
    assert figures(other.records()) == figures(one.records())


def test_groups_stay_together():
    groups = np.arange(N) // 3
    path = shrinkage_path(PLAIN, X, Y, shrinkages=[1], sizes=[1], cv=3, groups=groups)
    for fold in path.paths[0].entries[0].cross_validation.folds:
        inside = np.isin(np.arange(N), fold.test_rows)
        assert not set(groups[inside]) & set(groups[~inside])


def test_a_pipeline_and_supervised_items_are_fitted_in_folds():
    rng = np.random.default_rng(1)
    raw = pd.DataFrame({"age": rng.integers(20, 90, N), "dose": rng.integers(0, 50, N)})
    died = np.where(raw["age"] + rng.normal(0, 15, N) > 60, 1, 0)
    encoder = ItemEncoder(thresholds="supervised", n_thresholds=2)
    items = RiskSLIMClassifier(max_size=2, scale=1, items=encoder)
    steps = make_pipeline(SelectKBest(k=3), PLAIN)
    for estimator, table, y in ((items, raw, died), (steps, X, (Y == "yes").astype(int))):
        path = shrinkage_path(estimator, table, y, shrinkages=[0, 2], cv=3)
        plain = clone(estimator)
        last = plain.steps[-1][1] if estimator is steps else plain
        last.set_params(shrinkage=2)
        alone = model_size_path(plain, table, y, cv=3)
        for one, other in zip(path.paths[1].entries, alone.entries, strict=True):
            found, expected = one.cross_validation, other.cross_validation
            assert found.values("loss") == pytest.approx(expected.values("loss"), rel=1e-9)


def test_progress_counts_all_and_names_rows_and_strength():
    steps, records = [], []
    shrinkage_path(
        PLAIN, X, Y, shrinkages=[0, 4], sizes=[1], cv=2, progress=steps.append,
        search_progress=lambda *one: records.append(one[:2]),
    )  # fmt: skip
    assert [(one.done, one.total) for one in steps] == [(k, 6) for k in range(1, 7)]
    assert steps[0].what == "all rows, shrinkage 0"
    assert steps[-1].what == "fold 1, shrinkage 4"
    assert ("fold 0, shrinkage 4", 1) in records


# --- interruptions and checkpoints ----------------------------------------------------------------


def test_what_is_finished_is_kept():
    stop = threading.Event()

    def progress(step):
        if step.done == 5:  # the first strength, and all rows of the second
            stop.set()

    arguments = {"shrinkages": STRENGTHS, "cv": 3, "should_stop": stop.is_set}
    path = shrinkage_path(PLAIN, X, Y, progress=progress, **arguments)
    assert not path.is_complete
    assert path.shrinkages == (0.0, 1.0)
    assert path.best()[0] == 0
    assert "stopped" in str(path)
    nothing = shrinkage_path(PLAIN, X, Y, **arguments)
    assert (nothing.paths, nothing.is_complete) == ((), False)
    with pytest.raises(ValueError, match="none is finished on all folds"):
        nothing.best()


def test_an_error_of_rows_and_ctrl_c_keep_what_was_finished(monkeypatch):
    for error in (RowsLostError("the cluster is gone"), KeyboardInterrupt()):
        find = size_path.WantedPath.find
        calls = []

        def fails(self, *, _calls=calls, _find=find, _error=error, **arguments):
            _calls.append(1)
            if len(_calls) == 2:
                raise _error
            return _find(self, **arguments)

        monkeypatch.setattr(size_path.WantedPath, "find", fails)
        path = shrinkage_path(PLAIN, X, Y, shrinkages=STRENGTHS, cv=2)
        assert (path.shrinkages, path.is_complete) == ((0.0,), False)
        assert path.rows_failure == getattr(error, "reason", "")
        calls[:] = [1]
        with pytest.raises(type(error)):
            shrinkage_path(PLAIN, X, Y, shrinkages=STRENGTHS, cv=2)
        calls.clear()
        with pytest.raises(RiskSLIMError if path.rows_failure else KeyboardInterrupt):
            RiskSLIMClassifierCV(max_size=1, cv=2).fit(X, Y)
        monkeypatch.setattr(size_path.WantedPath, "find", find)


def test_a_checkpoint_is_of_all_strengths(tmp_path, monkeypatch, path):
    file = tmp_path / "kept"
    arguments = {"shrinkages": STRENGTHS, "cv": 3, "checkpoint": file}
    assert figures(shrinkage_path(PLAIN, X, Y, **arguments).records()) == figures(path.records())
    searched = Mock()
    monkeypatch.setattr("riskslim.engines.checkpoint.solve", searched)
    again = shrinkage_path(PLAIN, X, Y, **arguments)
    assert [one["points"] for one in again.records()] == [one["points"] for one in path.records()]
    searched.assert_not_called()
    with pytest.raises(ValueError, match=r"shrinkages is 0, 1, kept: 0, 1, 4"):
        shrinkage_path(PLAIN, X, Y, **(arguments | {"shrinkages": [0, 1]}))


# --- choice ---------------------------------------------------------------------------------------


def entry(size, mean, error=0.1):
    found = Mock(is_complete=True)
    found.mean.return_value, found.standard_error.return_value = mean, error
    return SizeOnPath(size, Mock(), Mock(), None, found)


def made(table, shrinkages=(0.0, 1.0), error=0.1):
    """A path of the mean losses of strengths, each of sizes 1, 2, ..."""
    paths = tuple(
        ModelSizePath(tuple(entry(k + 1, mean, error) for k, mean in enumerate(means)), True)
        for means in table
    )
    return ShrinkagePath(shrinkages, paths, True)


@pytest.mark.parametrize(
    ("table", "rule", "chosen"),
    [
        ([[0.9, 0.5], [0.7, 0.4]], "best_mean", (1, 2)),
        ([[0.9, 0.4], [0.7, 0.5]], "best_mean", (0, 2)),
        ([[0.4, 0.4], [0.4, 0.4]], "best_mean", (0, 1)),  # of equals the smallest, the weakest
        ([[0.9, 0.5], [0.4, 0.4]], "best_mean", (1, 1)),
        ([[0.48, 0.45], [0.45, 0.4]], "one_standard_error", (1, 1)),
        ([[0.45, 0.45], [0.48, 0.4]], "one_standard_error", (0, 1)),
        ([[0.9, 0.49], [0.51, 0.4]], "one_standard_error", (1, 2)),
    ],
)
def test_rules(table, rule, chosen):
    strength, found = made(table).best(rule)
    assert (strength, found.max_size) == chosen


def test_of_one_fold_there_is_no_error_and_of_auc_more_is_better():
    assert made([[0.45], [0.4]], error=math.nan).best("one_standard_error")[0] == 1
    assert made([[0.8], [0.7]]).best(metric="auc")[0] == 0
    assert made([[0.7], [0.8]]).explain(metric="auc") == (
        "Shrinkage 1 and size 1 by best_mean: test auc 0.80000 (without shrinkage 0.70000)."
    )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"shrinkages": []}, ValueError, "at least one"),
        ({"shrinkages": [-1]}, ValueError, "at least 0"),
        ({"shrinkages": [math.inf]}, ValueError, "finite"),
        ({"shrinkages": [math.nan]}, ValueError, "finite"),
        ({"shrinkages": 1}, TypeError, "numbers such as"),
        ({"shrinkages": "cv"}, TypeError, "must be a number"),
        ({"sizes": [9]}, ValueError, "between 0 and 2"),
        ({"cv": None, "groups": np.arange(N)}, ValueError, "groups are for folds"),
    ],
)
def test_arguments_that_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        shrinkage_path(PLAIN, X, Y, **arguments)


def test_the_default_of_the_classifier_is_no_prior_that_was_given(path):
    stated = clone(PLAIN).set_params(shrinkage="auto", l2_penalty=None)
    same = shrinkage_path(stated, X, Y, shrinkages=STRENGTHS, cv=3)
    assert figures(same.records()) == figures(path.records())
    # The strength that the classifier has by itself is one of those that were tried.
    alone, tried = clone(PLAIN).fit(X, Y).certificate_, path.of_shrinkage(1).of_size(2)
    assert alone.ridge == pytest.approx(tried.solution.certificate.ridge, rel=1e-12)
    assert alone.ridge > 0


def test_estimators_that_are_refused():
    for penalty in (
        {"shrinkage": 1}, {"shrinkage": 0}, {"shrinkage": {"a": 1}}, {"l2_penalty": 0.1},
        {"l2_penalty": 0}, {"l2_penalty": {"a": 0.0}},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="must be left out"):
            shrinkage_path(clone(PLAIN).set_params(**penalty), X, Y)
    with pytest.raises(TypeError, match="must be a RiskSLIMClassifier"):
        shrinkage_path(SelectKBest(), X, Y)
    with pytest.raises(ValueError, match="needs data"):
        shrinkage_path(PLAIN)
    with pytest.raises(TypeError, match="states no single problem"):
        shrinkage_path(RiskSLIMClassifierCV(), X, Y)
    with pytest.raises(TypeError, match="states no single problem"):
        model_size_path(RiskSLIMClassifierCV(), X, Y, cv=3)
    with pytest.raises(ValueError, match="rule must be one of"):
        made([[1], [1]]).best("least")
    with pytest.raises(KeyError, match="no shrinkage 3"):
        made([[1], [1]]).of_shrinkage(3)


def test_table_records_and_picture(path):
    lines = str(path).splitlines()
    assert lines[1].split() == ["shrinkage", "1", "2"]
    assert [line.split()[0] for line in lines[2:5]] == ["0", "1", "4"]
    assert lines[5] == path.explain()
    records = path.records()
    assert [(one["shrinkage"], one["max_size"]) for one in records] == [
        (s, k) for s in STRENGTHS for k in (1, 2)
    ]
    pytest.importorskip("matplotlib")
    ax = path.plot()
    labels = ax.get_legend_handles_labels()[1]
    strength, chosen = path.best()
    assert labels == ["size 1", "size 2", f"best mean: {strength:g}, size {chosen.max_size}"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1", "4"]
    for size, line in zip((1, 2), ax.get_lines(), strict=False):
        means = [one["test_loss_mean"] for one in records if one["max_size"] == size]
        assert line.get_ydata() == pytest.approx(means)
    # Places of the axis rise, and 0 has one.
    places = ax.transData.transform([(s, 0.4) for s in STRENGTHS])[:, 0]
    assert np.isfinite(places).all()
    assert (np.diff(places) > 0).all()


def test_a_report_takes_a_path_that_is_tested(path):
    score = path.best()[1].risk_score
    page = render(score, X, Y, size_path=path)
    assert "Shrinkage and model size" in page
    assert f"{path.records()[0]['test_loss_mean']:.5f}" in page
    untested = shrinkage_path(PLAIN, X, Y, shrinkages=[0], sizes=[1], cv=None)
    with pytest.raises(ValueError, match="no strength that is finished"):
        render(score, X, Y, size_path=untested)


# --- the classifier -------------------------------------------------------------------------------

CHECKED = RiskSLIMClassifierCV(
    max_size=2, shrinkages=[0, 2], cv=2, scale=1, time_limit=1.0, max_coef=2
)


def expected_failures(estimator):
    if sklearn.__version__.startswith("1.6."):
        return {"check_sample_weight_equivalence_on_dense_data": "corrected in 1.7"}
    return {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ConstantFeatureWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([CHECKED], expected_failed_checks=expected_failures)
def test_estimator_checks(estimator, check):
    check(estimator)


def same_fit(one, other):
    assert one.risk_score_.to_json() == other.risk_score_.to_json()
    assert one.remarks_ == other.remarks_
    assert one.certificate_.objective == other.certificate_.objective
    assert (one.predict_proba(X) == other.predict_proba(X)).all()


def test_the_fit_is_that_of_the_plain_classifier(monkeypatch):
    model = RiskSLIMClassifierCV(max_size=2, scale=[1, 2], cv=3, shrinkages=STRENGTHS)
    solved = []
    solve = size_path.solve
    monkeypatch.setattr(size_path, "solve", lambda *a, **k: solved.append(1) or solve(*a, **k))
    model.fit(X, Y)
    assert len(solved) == 3 * 4  # no search beside those of the path
    assert model.max_size_ == 2
    assert model.shrinkage_path_.best()[0] == model.shrinkage_
    assert model.shrinkage_path_.paths[0].sizes == (2,)
    same_fit(model, clone(PLAIN).set_params(shrinkage=model.shrinkage_).fit(X, Y))


def test_sizes_and_rule():
    model = RiskSLIMClassifierCV(
        max_size=1, sizes=(1, 2), scale=1, cv=3, shrinkages=[1], rule="one_standard_error"
    ).fit(X, Y)
    path = model.shrinkage_path_
    assert path.paths[0].sizes == (1, 2)
    assert model.max_size_ == path.best("one_standard_error")[1].max_size
    assert clone(model).set_params(sizes=2).fit(X, Y).max_size_ == model.max_size_
    assert RiskSLIMClassifierCV(max_size=None, cv=2, shrinkages=[8]).fit(X[["a"]], Y).max_size_ == 1


def test_weights_classes_and_items():
    table = X.assign(f=np.arange(N) % 7)
    model = RiskSLIMClassifierCV(
        max_size=2, scale=1, cv=2, shrinkages=[1], items=ItemEncoder(), class_weight="balanced",
        positive_label="no", points="non-negative",
    ).fit(table, Y, WEIGHT)  # fmt: skip
    plain = RiskSLIMClassifier(
        max_size=2, scale=1, shrinkage=1, items=ItemEncoder(), class_weight="balanced",
        positive_label="no", points="non-negative",
    ).fit(table, Y, WEIGHT)  # fmt: skip
    assert model.risk_score_.to_json() == plain.risk_score_.to_json()
    assert (model.predict_proba(table) == plain.predict_proba(table)).all()


def test_nested_estimates():
    model = RiskSLIMClassifierCV(max_size=1, scale=1, cv=2, shrinkages=[0, 4])
    groups = np.arange(N) // 3
    found = cross_validate_risk_score(model, X, Y, cv=3, groups=groups)
    assert found.is_complete
    for fold in found.folds:
        assert fold.model.shrinkage_ in (0, 4)
        inner = fold.model.shrinkage_path_.paths[0].entries[0].cross_validation
        own = groups[np.setdiff1d(np.arange(N), fold.test_rows)]
        for one in inner.folds:
            inside = np.isin(np.arange(len(own)), one.test_rows)
            assert not set(own[inside]) & set(own[~inside])
    grid = GridSearchCV(model, {"max_size": [1, 2]}, cv=2, scoring="neg_log_loss").fit(X, Y)
    assert grid.best_estimator_.max_size_ == grid.best_params_["max_size"]
    splits = list(LeaveOneGroupOut().split(X, Y, np.arange(N) % 3))
    assert len(clone(model).set_params(cv=splits).fit(X, Y).shrinkage_path_.paths) == 2


def test_what_the_classifier_refuses():
    for name in ("l2_penalty", "shrinkage", "start"):
        with pytest.raises(TypeError, match=f"{name} is no parameter"):
            RiskSLIMClassifierCV(**{name: 0})
        assert name not in RiskSLIMClassifierCV().get_params()
    with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
        RiskSLIMClassifierCV(size=3)
    with pytest.raises(ValueError, match="rule must be one of"):
        RiskSLIMClassifierCV(rule="least").fit(X, Y)
    impossible = [at_least(1, ["a"]), at_least(1, ["b"])]
    with pytest.raises(InfeasibleProblemError):
        RiskSLIMClassifierCV(max_size=1, constraints=impossible, cv=2, shrinkages=[0]).fit(X, Y)
    assert repr(RiskSLIMClassifierCV(cv=3)) == "RiskSLIMClassifierCV(cv=3)"
    assert RiskSLIMClassifierCV().shrinkages == SHRINKAGES


def test_a_search_that_ends_early_is_told():
    rough = RiskSLIMClassifierCV(max_size=2, cv=2, shrinkages=[1], node_limit=0)
    with pytest.warns(sklearn.exceptions.ConvergenceWarning, match="optimality gap"):
        rough.fit(DATA.integer_columns, DATA.labels)


def test_lost_processes_are_named():
    path = made([[0.5], [0.4]])
    broken = tuple(dataclasses.replace(one, lost=("fold 1",)) for one in path.paths[:1])
    path = dataclasses.replace(path, paths=broken, shrinkages=(0.0,), is_complete=False)
    assert path.lost == ("fold 1",)
    with pytest.MonkeyPatch.context() as patch:
        module = sys.modules["riskslim.model_selection.shrinkage"]
        patch.setattr(module, "shrinkage_path", lambda *_, **__: path)
        with pytest.raises(MemoryError, match="fold 1"):
            RiskSLIMClassifierCV().fit(X, Y)
