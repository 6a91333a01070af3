"""The paper's baselines: elastic nets, rounding rules, choice of a model, the paper's values."""

from __future__ import annotations

import csv
import logging
import re

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from paths import DOCS
from riskslim import (
    CoefficientSet,
    LogisticLoss,
    RiskScoreProblem,
    TrainingData,
    at_least,
    at_most,
    branch_and_bound,
    discrete_coordinate_descent,
)
from riskslim.data.distinct import distinct_rows
from riskslim.datasets import load_breast_cancer_binary
from riskslim.paper.baselines import (
    METHODS,
    PenalizedLogisticRegression,
    PooledRescaledRounding,
    PooledRounding,
    PooledSequentialRounding,
    RescaledRounding,
    Rounding,
    elastic_net,
    fit_baselines,
    rescaled_rounding,
    rounding,
    unit_weights,
)
from riskslim.paper.baselines.elastic_net import (
    Design,
    elastic_net_path,
    penalty_path,
    platt_scaling,
)

DOCUMENT = DOCS / "baselines.md"
ROUNDED = ("Rd", "RsRd", "Unit")
POOLED = tuple(name for name in METHODS if name.startswith("Pooled"))
# Small pools: what is looked at here does not need 1,100 models.
FEW = {"l1_ratios": [0.3, 1.0], "n_penalties": 15}
# Enough that some models meet constraints of every kind.
MORE = {"l1_ratios": [0.3, 1.0], "n_penalties": 40}


@pytest.fixture(scope="module")
def demo():
    return load_breast_cancer_binary()


@pytest.fixture(scope="module")
def frame(demo):
    X = pd.DataFrame(demo.integer_columns, columns=list(demo.feature_names))
    return X, pd.Series(demo.labels, name="benign")


@pytest.fixture(scope="module")
def fitted(frame):
    return fit_baselines(*frame, **FEW)


# ---------------------------------------------------------------------------------------------
# Elastic nets
# ---------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*penalty.*:FutureWarning")
@pytest.mark.parametrize("mixing", [0.0, 0.4, 1.0])
def test_elastic_nets_are_those_of_scikit_learn(demo, mixing):
    """SAGA on standardised features: coefficients agree to 1e-4."""
    design = Design.of(demo.rows)
    penalties = penalty_path(design, mixing, n_penalties=12)[[3, 6, 8]]
    path = elastic_net_path(design, mixing, penalties)
    assert path.n_unfinished == 0
    mean, scale = design.values.mean(axis=0), design.values.std(axis=0)
    for penalty, coef in zip(penalties, path.coefficients, strict=True):
        saga = LogisticRegression(
            penalty="elasticnet",
            l1_ratio=mixing,
            C=1 / (penalty * demo.n_samples),
            solver="saga",
            tol=1e-9,
            max_iter=20_000,
            random_state=0,
        ).fit((design.values - mean) / scale, demo.labels)
        expected = saga.coef_[0] / scale
        np.testing.assert_allclose(coef[1:], expected, atol=1e-4)
        assert coef[0] == pytest.approx(saga.intercept_[0] - expected @ mean, abs=1e-4)


def test_penalties_are_those_of_glmnet(demo):
    design = Design.of(demo.rows)
    for mixing in (0.3, 1.0):
        penalties = penalty_path(design, mixing)
        assert len(penalties) == 100
        assert penalties[-1] == pytest.approx(1e-4 * penalties[0])
        np.testing.assert_allclose(penalties[1:] / penalties[:-1], 1e-4 ** (1 / 99))
        around = np.array([1.0001, 0.999]) * penalties[0]
        first, second = elastic_net_path(design, mixing, around).coefficients[:, 1:]
        assert not first.any()
        assert np.count_nonzero(second) == 1
    # Ridge begins where a mixing value of 0.001 would.
    assert penalty_path(design, 0.0)[0] == pytest.approx(1000 * penalty_path(design, 1.0)[0])
    wide = Design(design.values[:20], design.targets[:20], np.full(20, 0.05), 20)
    penalties = penalty_path(wide, 1.0)
    assert penalties[-1] == pytest.approx(0.01 * penalties[0]), "fewer rows than features"


def test_merged_rows_have_the_same_elastic_nets():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(300, 4)).astype(float)
    y = rng.random(300) < expit(X @ [1.0, -1.0, 0.5, 0.0])
    data = TrainingData(X, y)
    every, merged = Design.of(data.rows), Design.of(distinct_rows(data, always=True))
    assert len(merged.targets) <= 32
    penalties = penalty_path(every, 0.5, n_penalties=10)
    np.testing.assert_allclose(penalty_path(merged, 0.5, n_penalties=10), penalties)
    paths = [elastic_net_path(d, 0.5, penalties).coefficients for d in (every, merged)]
    np.testing.assert_allclose(*paths, atol=1e-5)


def test_a_path_can_be_continued(demo):
    design = Design.of(demo.rows)
    penalties = penalty_path(design, 0.6, n_penalties=20)
    whole = elastic_net_path(design, 0.6, penalties).coefficients
    head = elastic_net_path(design, 0.6, penalties[:8]).coefficients
    tail = elastic_net_path(design, 0.6, penalties[8:], start=head[-1]).coefficients
    np.testing.assert_allclose(np.vstack((head, tail)), whole, atol=1e-4)


@pytest.mark.parametrize("mixing", [0.0, 0.7])
def test_bounds_and_constant_features(demo, mixing):
    design = Design.of(demo.rows)
    design.values[:, 3] = 1.0
    lower, upper = np.full(30, -np.inf), np.full(30, np.inf)
    lower[:10] = 0.0
    upper[20:] = 0.0
    lower[25] = 0.0
    path = elastic_net_path(
        design, mixing, penalty_path(design, mixing)[::10], lower=lower, upper=upper
    ).coefficients
    free = elastic_net_path(design, mixing, penalty_path(design, mixing)[::10]).coefficients
    assert (free[:, 1:11] < 0).any(), "otherwise the bounds do nothing"
    assert (path[:, 1:] >= lower).all()
    assert (path[:, 1:] <= upper).all()
    assert not path[:, 1 + 25].any()
    assert not path[:, 1 + 3].any()
    assert np.count_nonzero(path[-1]) > 5


def test_without_features_the_intercept_is_the_base_rate():
    design = Design(np.ones((4, 2)), np.array([1.0, 0, 0, 0]), np.full(4, 0.25), 4)
    penalties = penalty_path(design, 1.0, n_penalties=3)
    assert (np.diff(penalties) < 0).all()
    path = elastic_net_path(design, 1.0, penalties).coefficients
    np.testing.assert_allclose(path, [[-np.log(3), 0, 0]] * 3)


def test_without_glum_it_is_said_what_to_install(frame, monkeypatch):
    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr(elastic_net, "import_module", refuse)
    with pytest.raises(ImportError, match=r'pip install "\.\[baselines\]"'):
        Rounding(**FEW).fit(*frame)


# ---------------------------------------------------------------------------------------------
# Rules
# ---------------------------------------------------------------------------------------------


def test_rounding():
    coef = [[-6.4, 0.49, -0.51, 7.2, -9.0, 0.0], [0.4, 1.6, 0.0, 0.0, 0.0, 2.4]]
    assert rounding(coef).tolist() == [[-6, 0, -1, 5, -5, 0], [0, 2, 0, 0, 0, 2]]
    assert rounding(coef[0], max_coef=2).tolist() == [-6, 0, -1, 2, -2, 0]


def test_rescaled_rounding():
    # 5 / 0.4 = 12.5: -21.25, 1.25, -5, 0.5 rounded to even
    assert rescaled_rounding([-1.7, 0.1, -0.4, 0.04]).tolist() == [-21, 1, -5, 0]
    # 5 / 10 = 0.5: large coefficients shrink
    assert rescaled_rounding([3.2, 10.0, -4.2]).tolist() == [2, 5, -2]
    assert rescaled_rounding([-1.7, 0.0, 0.0]).tolist() == [-2, 0, 0]
    assert rescaled_rounding([[-1.7, 0.0, 0.0], [1.0, 2.0, -1.0]], 2).tolist() == [
        [-2, 0, 0],
        [1, 2, -1],
    ]


def test_unit_weights():
    assert unit_weights([-0.454, 7.0, -0.001, 0.0]).tolist() == [-1, 1, -1, 0]
    assert unit_weights([[0.0, 0.0], [2.0, -3.0]]).tolist() == [[0, 0], [1, -1]]


def test_platt_scaling_solves_its_equations():
    rng = np.random.default_rng(1)
    scores = rng.integers(-5, 6, 400).astype(float)
    positive = rng.random(400) < expit(0.4 * scores - 0.7)
    weights = rng.integers(1, 4, 400).astype(float)
    slope, intercept = platt_scaling(scores, positive, weights)
    n_positive, n_negative = weights[positive].sum(), weights[~positive].sum()
    targets = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    residuals = weights * (expit(slope * scores + intercept) - targets) / weights.sum()
    np.testing.assert_allclose([residuals.sum(), residuals @ scores], 0, atol=1e-6)
    assert 0.2 < slope < 0.6
    # A score that separates the classes, and one that says nothing.
    slope, _ = platt_scaling(np.array([-1.0, -1, 1, 1]), np.array([0, 0, 1, 1]) > 0, np.ones(4))
    assert slope == pytest.approx(np.log(3), abs=1e-4)
    slope, intercept = platt_scaling(np.full(4, 2.0), np.array([0, 0, 0, 1]) > 0, np.ones(4))
    assert slope == 0
    assert expit(intercept) == pytest.approx((3 / 5 + 2 / 3) / 4)


# ---------------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------------


# Cheap fits.
CHECKED = {"cv": 2, "l1_ratios": [1.0], "n_penalties": 4, "max_size": None}


# What all have in common is checked on the method with the most of its own: it makes a risk score
# of every elastic net, and polishes it.
@pytest.mark.slow
@parametrize_with_checks([PooledSequentialRounding(**CHECKED)])
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


# What others override: the constructor, and the model that comes of an elastic net.
OF_CONSTRUCTORS = {
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_dont_overwrite_parameters",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_overwrite_params",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
}
OF_MODELS = {
    "check_classifiers_classes",
    "check_classifiers_train",
    "check_estimators_dtypes",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit2d_predict1d",
    "check_methods_sample_order_invariance",
    "check_sample_weight_equivalence_on_dense_data",
}


def run_checks(estimator, wanted):
    """Run the checks of these names; a failure names the estimator and the check."""
    left, failures = set(wanted), []
    for model, check in estimator_checks_generator(estimator):
        name = check.func.__name__
        if name not in wanted:
            continue
        left -= {name}
        try:
            check(model)
        except Exception as error:
            failures.append(f"{model}, {check.func.__name__}: {error!r}")
    assert not left, f"no check has this name any more: {left}"
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("name", METHODS)
def test_constructors_follow_scikit_learn(name):
    run_checks(METHODS[name](**CHECKED), OF_CONSTRUCTORS)


@pytest.mark.parametrize("name", [pytest.param("PLR", marks=pytest.mark.slow), "RsRd"])
def test_models_follow_scikit_learn(name):
    run_checks(METHODS[name](**CHECKED), OF_MODELS)


@pytest.mark.parametrize("name", METHODS)
def test_pool(fitted, demo, name):
    model = fitted[name]
    pool = model.pool_
    coefficients = CoefficientSet(
        demo.feature_names, -5, 5, intercept_lower=-100, intercept_upper=100
    )
    loss = LogisticLoss(demo, coefficients)
    problem = RiskScoreProblem(demo, coefficients, max_size=5)
    assert len(pool) == 30
    np.testing.assert_allclose(pool.losses, [loss.value(c) for c in pool.coefficients], atol=1e-12)
    np.testing.assert_array_equal(pool.sizes, [problem.model_size(c) for c in pool.coefficients])
    feasible = pool.sizes <= 5
    if name in POOLED:
        assert pool.coefficients.dtype == np.int64
        feasible = [problem.is_feasible(c) for c in pool.coefficients]
    np.testing.assert_array_equal(pool.is_feasible, feasible)
    assert 0 < model.n_feasible_ == np.sum(feasible) < 30
    assert pool.counts() == {
        "monotonicity": 30,
        "model size": int((pool.sizes <= 5).sum()),
        "operational": 30,
        "all": model.n_feasible_,
    }
    np.testing.assert_array_equal(np.isfinite(pool.mean_auc), pool.is_feasible)
    assert pool.mean_auc[model.best_index_] == pytest.approx(np.nanmax(pool.mean_auc))
    assert model.penalty_ == pool.penalties[model.best_index_]
    assert model.l1_ratio_ == pool.l1_ratios[model.best_index_]


def test_rounded_models_come_from_the_same_elastic_net(fitted):
    chosen = fitted["PLR"].pool_.coefficients[fitted["PLR"].best_index_]
    rules = {"Rd": rounding, "RsRd": rescaled_rounding, "Unit": unit_weights}
    for name in ROUNDED:
        expected = rules[name](chosen)
        np.testing.assert_array_equal(fitted[name].points_[0], expected[1:])
        assert fitted[name].intercept_points_[0] == expected[0]


def test_mean_auc_is_that_of_the_folds(frame, fitted):
    """The chosen elastic net, fitted to each fold by itself, from another start."""
    X, y = frame
    for name, convert in (("PLR", np.asarray), ("PooledRd", rounding)):
        model, found = fitted[name], []
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        for train, test in folds.split(X, y):
            design = Design.of(TrainingData(X.iloc[train], y.iloc[train]).rows)
            penalty = np.array([model.penalty_])
            coef = convert(elastic_net_path(design, model.l1_ratio_, penalty).coefficients[0])
            found.append(roc_auc_score(y.iloc[test], X.iloc[test] @ coef[1:]))
        expected = model.pool_.mean_auc[model.best_index_]
        assert np.mean(found) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("name", METHODS)
def test_predictions(fitted, frame, name):
    X, _ = frame
    model = fitted[name]
    log_odds = model.intercept_[0] + X.to_numpy() @ model.coef_[0]
    np.testing.assert_allclose(model.decision_function(X), log_odds)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(log_odds))
    np.testing.assert_array_equal(model.predict(X), np.where(log_odds > 0, 1, -1))
    if name != "PLR":
        assert model.risk_score_.outcome_name == "benign"
        np.testing.assert_allclose(model.risk_score_.decision_function(X), log_odds)
        assert model.violations_ == ()


@pytest.mark.slow
def test_polishing_of_wide_points_ends(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 5)).astype(float)
    y = rng.random(300) < expit(X @ [1.0, -1.0, 0.5, 0.7, -0.3])
    moves = []

    def counted(*arguments, **options):
        found = discrete_coordinate_descent(*arguments, **options)
        moves.append(found.n_iterations)
        return found

    monkeypatch.setattr("riskslim.paper.baselines.estimators.discrete_coordinate_descent", counted)
    # Without a limit the descents of 1e5 take 1e5 moves, and those of 1e7 take minutes.
    PooledRescaledRounding(max_coef=10**5, l1_ratios=[1.0], n_penalties=3, cv=2).fit(X, y)
    assert max(moves) == 1000


def test_polishing_lowers_the_loss_and_adds_no_feature(fitted):
    for name in ("PooledRd", "PooledRsRd", "PooledSeqRd"):
        before, after = fitted[name].pool_, fitted[name + "*"].pool_
        assert (after.losses <= before.losses + 30e-6).all()  # the price of 30 features
        assert (after.losses < before.losses - 1e-3).any()
        unused = before.coefficients[:, 1:] == 0
        assert not after.coefficients[:, 1:][unused].any()


def test_platt_scaling_of_a_risk_score(frame):
    X, y = frame
    raw = RescaledRounding(**FEW).fit(X, y)
    scaled = RescaledRounding(platt_scaling=True, **FEW).fit(X, y)
    np.testing.assert_array_equal(scaled.points_, raw.points_)
    np.testing.assert_array_equal(raw.coef_, raw.points_)
    log_odds = (X.to_numpy() @ scaled.coef_.T + scaled.intercept_)[:, 0]
    np.testing.assert_allclose(scaled.decision_function(X), log_odds, rtol=1e-12)
    assert scaled.risk_score_ == raw.risk_score_
    assert (raw.platt_slope_, raw.platt_intercept_) == (1.0, 0.0)
    expected = scaled.platt_slope_ * raw.decision_function(X) + scaled.platt_intercept_
    np.testing.assert_allclose(scaled.decision_function(X), expected)
    losses = [np.logaddexp(0, -y * m.decision_function(X)).mean() for m in (raw, scaled)]
    assert losses[1] < losses[0]


@pytest.fixture(scope="module")
def constrained(frame):
    X, y = frame
    names = list(X.columns)
    return fit_baselines(
        X, y, max_size=8, sign=dict.fromkeys(names[:20], "-"),
        constraints=[at_most(4, names[20:]), at_least(1, names[:20])], **MORE,
    )  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_signs_and_constraints(constrained, name):
    pool = constrained[name].pool_
    used = pool.coefficients[:, 1:] != 0
    signs = (pool.coefficients[:, 1:21] <= 0).all(axis=1)
    operational = (used[:, 20:].sum(axis=1) <= 4) & used[:, :20].any(axis=1)
    assert signs.all()
    np.testing.assert_array_equal(pool.obeys_signs, signs)
    np.testing.assert_array_equal(pool.obeys_constraints, operational)
    assert 0 < operational.sum() < len(pool)
    np.testing.assert_array_equal(pool.is_feasible, operational & (used.sum(axis=1) <= 8))


def test_rounding_can_break_a_constraint_and_says_so(frame):
    X, y = frame
    model = Rounding(max_size=8, constraints=[at_least(7, X.columns)], **MORE).fit(X, y)
    assert np.count_nonzero(model.coef_) < 7
    assert len(model.violations_) == 1


def test_nothing_feasible(frame):
    X, y = frame
    for cls in (PenalizedLogisticRegression, PooledRounding):
        model = cls(max_size=3, constraints=[at_least(5, X.columns)], **FEW)
        with pytest.raises(ValueError, match=r"none of the 30 models .* model size: \d+"):
            model.fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"l1_ratios": [0.5, 1.1]}, "l1_ratios must be numbers between 0 and 1"),
        ({"l1_ratios": []}, "l1_ratios must be numbers between 0 and 1"),
        ({"l1_ratios": 0.5}, "l1_ratios must be numbers between 0 and 1, in a sequence, got 0.5"),
        ({"l1_ratios": [np.nan]}, "l1_ratios must be numbers between 0 and 1"),
        ({"max_coef": "5"}, "max_coef must be an int of at least 0, got '5'"),
        ({"max_coef": 2.5}, "max_coef must be an int of at least 0, got 2.5"),
        ({"max_intercept": -1}, "max_intercept must be an int of at least 0, got -1"),
        ({"n_penalties": 0}, "n_penalties must be an int of at least 1"),
        ({"min_penalty_ratio": 0.0}, "min_penalty_ratio must be in"),
        ({"max_size": -1}, "max_size must be an int of at least 0 or None"),
        ({"cv": 400}, "cannot be greater than the number of members in each class"),
        ({"sign": {"no such feature": "+"}}, "no such feature"),
    ],
)
def test_parameters_are_checked(frame, parameters, message):
    with pytest.raises(ValueError, match=message):
        Rounding(**FEW | parameters).fit(*frame)


def test_a_fold_of_one_class_is_refused(frame):
    X, y = frame
    order = np.argsort(y.to_numpy(), kind="stable")
    halves = [(order[:200], order[200:]), (order[200:], order[:200])]
    with pytest.raises(ValueError, match=r"training fold 1 has rows .* of one class only"):
        Rounding(cv=halves, **FEW).fit(X, y)
    # Rows without weight are none: without this, the AUC of a fold was undefined, with a warning.
    weight = np.zeros(len(y))
    weight[order[:3]] = weight[order[-100:]] = 1.0
    with pytest.raises(ValueError, match=r"fold . has rows .* of one class only"):
        Rounding(**FEW).fit(X, y, weight)


@pytest.mark.slow
def test_fit_baselines_is_fit(frame, fitted):
    for name in ("RsRd", "PooledSeqRd*"):
        alone = METHODS[name](**FEW).fit(*frame)
        np.testing.assert_array_equal(fitted[name].coef_, alone.coef_)
        assert fitted[name].best_index_ == alone.best_index_
        assert clone(fitted[name]).get_params() == alone.get_params()


@pytest.mark.slow
def test_a_fit_to_nets_of_all_methods_has_its_constraints(frame, constrained):
    for name in ("PLR", "PooledRsRd*"):
        together = constrained[name]
        alone = clone(together).fit(*frame)
        np.testing.assert_array_equal(together.coef_, alone.coef_)
        np.testing.assert_array_equal(together.pool_.is_feasible, alone.pool_.is_feasible)


def test_fit_baselines_checks_names(frame):
    with pytest.raises(ValueError, match="'PooledRD'"):
        fit_baselines(*frame, methods=["PooledRD"])
    with pytest.raises(ValueError, match="got none"):
        fit_baselines(*frame, methods=[])
    for parameters in ({"max_points": 5}, {"polish": False}):
        with pytest.raises(TypeError, match=next(iter(parameters))):
            fit_baselines(*frame, methods=["PLR"], **parameters)


@pytest.mark.slow
def test_processes_change_nothing(frame):
    models = [PooledRescaledRounding(n_jobs=n, **FEW).fit(*frame) for n in (1, 2)]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    np.testing.assert_allclose(models[0].pool_.mean_auc, models[1].pool_.mean_auc)


@pytest.mark.slow
def test_progress_is_for_those_who_want_it(frame, caplog, capfd):
    Rounding(**FEW).fit(*frame)
    assert not [record for record in caplog.records if record.levelno < logging.WARNING]
    caplog.clear()
    model = PooledRounding(verbose=2, **FEW).fit(*frame)
    lines = [record.getMessage().partition(" s  ")[2] for record in caplog.records[:-1]]
    ratios = len(FEW["l1_ratios"])
    expected = [f"elastic nets of all rows: {k + 1} of {ratios} paths" for k in range(ratios)]
    expected += ["models of all rows: 30"]
    assert lines[: len(expected)] == expected
    assert lines[-5:] == [f"models tested on {k} of 5 folds" for k in range(1, 6)]
    assert len(lines) > ratios + 1 + 5 + 5
    last = caplog.records[-1].getMessage()
    assert last.startswith(f"{model.n_feasible_} of 30 models are feasible; chosen: mixing value")
    assert {record.name for record in caplog.records} == {"riskslim.paper.baselines.estimators"}
    caplog.clear()
    # Once a second: hardly any line of a fit that takes less.
    fit_baselines(*frame, methods=["Rd", "Unit"], verbose=1, **FEW)
    assert 2 <= len(caplog.records) < len(lines)
    assert capfd.readouterr() == ("", "")


def test_an_interrupt_ends_the_fit(frame, monkeypatch):
    calls = []

    def interrupted(*arguments, **options):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return elastic_net_path(*arguments, **options)

    monkeypatch.setattr("riskslim.paper.baselines.pool.elastic_net_path", interrupted)
    model = Rounding(**FEW)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*frame)
    assert len(calls) == 3
    assert not hasattr(model, "coef_")


@pytest.mark.slow
def test_the_document_shows_what_is_printed(capsys):
    blocks = dict(re.findall(r"^```(\w+)\n(.*?)^```$", DOCUMENT.read_text("utf-8"), re.M | re.S))
    exec(compile(blocks["python"], DOCUMENT.name, "exec"), {})
    assert capsys.readouterr().out == blocks["text"]


# ---------------------------------------------------------------------------------------------
# The paper
# ---------------------------------------------------------------------------------------------


def paper_frame(folder, name):
    with (folder / f"{name}_data.csv").open(newline="") as file:
        outcome = next(csv.reader(file))[0]
    table = pd.read_csv(folder / f"{name}_data.csv")
    return table.drop(columns=outcome), table[outcome]


# Loss, model size and AUC on all rows of the traditional approaches (tables of section 5 and the
# appendix). The paper's folds are not known; these do not depend on them.
PRINTED = {"Rd": (0.526, 3, 0.846), "RsRd": (0.745, 5, 0.852), "Unit": (0.484, 5, 0.850)}


@pytest.mark.slow
@pytest.mark.shared_data
def test_no_baseline_beats_the_certified_score(shared_data):
    X, y = paper_frame(shared_data, "mammo")
    few = {"max_size": 5, "l1_ratios": [0.5, 1.0], "n_penalties": 20}
    models = fit_baselines(X, y, **few)
    models |= fit_baselines(X, y, methods=ROUNDED)  # the paper's values are of all 1,100 nets
    data = TrainingData(X, y)
    coefficients = CoefficientSet(
        data.feature_names, -5, 5, intercept_lower=-100, intercept_upper=100
    )
    problem = RiskScoreProblem(data, coefficients, max_size=5, l0_penalty=0.0)
    certificate = branch_and_bound(problem, time_limit=120).certificate
    assert certificate.is_optimal
    for method in (*ROUNDED, *POOLED):
        assert not models[method].violations_
        assert models[method].loss_ >= certificate.loss - 1e-12
    for method, (value, size, auc) in PRINTED.items():
        assert models[method].loss_ == pytest.approx(value, abs=5.1e-4)
        assert np.count_nonzero(models[method].coef_) == size
        scores = models[method].decision_function(X)
        assert roc_auc_score(y, scores) == pytest.approx(auc, abs=6e-4)


@pytest.mark.slow
def test_few_feasible_models_are_remarked_on(caplog):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    y = X.sum(axis=1) + rng.normal(size=200) > 0
    common = {"l1_ratios": [1.0], "n_penalties": 30}
    model = PenalizedLogisticRegression(constraints=[at_most(0, ["a", "b", "c"])], **common)
    model.fit(X, y)
    assert model.n_feasible_ < 3
    (remark,) = model.remarks_
    assert remark.startswith(
        f"{model.n_feasible_} of the 30 models meet all requirements (how many meet each kind: "
        f"monotonicity: 30, model size: 30, operational: {model.n_feasible_}, all: "
        f"{model.n_feasible_}), and the choice is among these alone. The result has no features: "
    )
    assert [record.getMessage() for record in caplog.records] == [
        f"PenalizedLogisticRegression: {remark}"
    ]
    caplog.clear()
    assert PenalizedLogisticRegression(**common).fit(X, y).remarks_ == ()
    # Few are feasible, but what is chosen has a feature: a remark, and no warning.
    one = PenalizedLogisticRegression(max_size=1, l1_ratios=[1.0], n_penalties=100).fit(X, y)
    assert 0 < one.n_feasible_ < 10
    assert np.count_nonzero(one.coef_) == 1
    assert "has no features" not in one.remarks_[0]
    assert not caplog.records
