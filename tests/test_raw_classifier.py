"""RiskSLIMClassifier with items: from raw columns to a score by one call."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from riskslim import (
    ItemEncoder,
    RiskScore,
    RiskSLIMClassifier,
    at_most,
    cross_validate_risk_score,
    model_size_path,
    variable,
)
from riskslim.exceptions import ExtrapolationWarning

ALL = ItemEncoder(n_thresholds="all", round_thresholds=True, missing="indicator")


def made_up(n=160, seed=0):
    rng = np.random.default_rng(seed)
    raw = pd.DataFrame(
        {
            "age": rng.integers(30, 60, n),
            "crp": rng.choice([0.5, 1.25, 3.0, 9.5, 20.0], n),
            "sex": rng.choice(["female", "male"], n),
            "smoker": rng.random(n) < 0.4,
        }
    )
    raw.loc[rng.random(n) < 0.1, "crp"] = np.nan
    odds = -2 + 2 * (raw["age"] >= 45) + 1.5 * (raw["crp"] >= 9) + (raw["sex"] == "male")
    return raw, np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")


RAW, Y = made_up()


@pytest.fixture(scope="module")
def fitted():
    return RiskSLIMClassifier(max_size=2, items=ALL, time_limit=120).fit(RAW, Y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ConstantFeatureWarning")
@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([RiskSLIMClassifier(max_size=4, time_limit=2.0, items=ItemEncoder())])
def test_estimator_checks(estimator, check):
    check(estimator)


def test_it_is_the_pipeline_in_one(fitted):
    encoder = clone(ALL)
    pipeline = make_pipeline(encoder, RiskSLIMClassifier(max_size=2, time_limit=120)).fit(RAW, Y)
    assert fitted.certificate_ == pipeline[-1].certificate_
    assert fitted.certificate_.is_optimal
    assert (fitted.predict_proba(RAW) == pipeline.predict_proba(RAW)).all()
    assert (fitted.predict(RAW) == pipeline.predict(RAW)).all()
    assert (fitted.score_samples(RAW) == pipeline[-1].score_samples(encoder.transform(RAW))).all()
    assert fitted.encoder_.items_ == encoder.items_
    assert not hasattr(ALL, "items_")  # a clone was fitted
    assert fitted.coef_.shape == (1, len(encoder.items_))
    assert fitted.n_features_in_ == 4
    assert fitted.feature_names_in_.tolist() == list(RAW)


def test_the_score_applies_to_raw_records(fitted):
    score = fitted.risk_score_
    assert (score.predict_proba(RAW) == fitted.predict_proba(RAW)).all()
    assert set(score.variables) <= set(RAW)
    again = RiskScore.from_json(score.to_json())
    assert again == score
    record = {"age": 47, "crp": None, "sex": "male", "smoker": True}
    assert again.predict_proba(record).shape == (1, 2)


def test_frames_and_arrays():
    wanted = RiskSLIMClassifier(max_size=2, items=ItemEncoder(n_thresholds=5)).fit(RAW[["age"]], Y)
    of_polars = clone(wanted).fit(pl.from_pandas(RAW[["age"]]), Y)
    assert of_polars.risk_score_ == wanted.risk_score_
    array = RAW[["age", "crp"]].to_numpy()
    encoder = ItemEncoder(n_thresholds=4, missing="indicator", feature_names=["age", "crp"])
    of_array = RiskSLIMClassifier(max_size=2, items=encoder).fit(array, Y)
    assert {name.split()[0] for name in of_array.risk_score_.points} <= {"age", "crp"}
    of_frame = RiskSLIMClassifier(
        max_size=2, items=ItemEncoder(n_thresholds=4, missing="indicator")
    )
    of_frame.fit(RAW[["age", "crp"]], Y)
    assert of_array.risk_score_.points == of_frame.risk_score_.points
    assert (of_array.predict_proba(array) == of_frame.predict_proba(RAW[["age", "crp"]])).all()


def test_columns_of_numbers_can_stay():
    raw = RAW.assign(visits=RAW["age"] % 4)[["age", "visits"]]
    encoder = ItemEncoder(n_thresholds=3, numeric=["visits"])
    classifier = RiskSLIMClassifier(max_size=2, items=encoder, min_coef={"visits": 1})
    classifier.fit(raw, Y)
    assert "visits" in classifier.risk_score_.points
    expected = make_pipeline(clone(encoder), clone(classifier).set_params(items=None)).fit(raw, Y)
    assert (classifier.predict_proba(raw) == expected.predict_proba(raw)).all()


def test_search_and_validation_choose_items_too():
    classifier = RiskSLIMClassifier(max_size=1, items=ItemEncoder(missing="indicator"))
    search = GridSearchCV(classifier, {"items__n_thresholds": [1, "all"]}, cv=2).fit(RAW, Y)
    assert search.best_params_["items__n_thresholds"] in (1, "all")
    assert search.predict(RAW).shape == (160,)
    assert cross_val_predict(classifier, RAW, Y, cv=3, method="predict_proba").shape == (160, 2)
    validated = cross_validate_risk_score(classifier, RAW, Y, cv=3)
    assert validated.is_complete
    assert validated.mean("auc") > 0.6
    assert validated.final_score.variables
    # Folds choose their cut-offs on their own rows.
    assert len({tuple(fold.model.encoder_.items_) for fold in validated.folds}) > 1


def test_paths_of_sizes():
    path = model_size_path(RiskSLIMClassifier(max_size=2, items=ItemEncoder(n_thresholds=3,
                           missing="indicator"), items_per_variable=1), RAW, Y, cv=2)  # fmt: skip
    assert [*path.sizes] == [1, 2]
    assert path.is_complete
    best = path.entries[-1].risk_score
    assert best.variables
    wanted = RiskSLIMClassifier(max_size=2, items_per_variable=1,
                                items=ItemEncoder(n_thresholds=3, missing="indicator"))  # fmt: skip
    assert (best.predict_proba(RAW) == wanted.fit(RAW, Y).predict_proba(RAW)).all()


def test_clones_and_pickles(fitted):
    copy = clone(fitted)
    assert copy.items is not fitted.items
    assert copy.get_params()["items__n_thresholds"] == "all"
    assert not hasattr(copy, "encoder_")
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict_proba(RAW) == fitted.predict_proba(RAW)).all()
    few, many = (
        len(pickle.dumps(clone(fitted).set_params(items=ItemEncoder(missing="indicator")).fit(
            pd.concat([RAW] * k), np.tile(Y, k)
        ))) for k in (1, 30)
    )  # fmt: skip
    assert many < 1.2 * few


def test_refitting_forgets(fitted):
    classifier = clone(fitted).fit(RAW, Y).set_params(items=None)
    classifier.fit(RAW[["smoker"]], Y)
    assert classifier.encoder_ is None
    assert set(classifier.risk_score_.points) <= {"smoker"}
    assert classifier.predict(RAW[["smoker"]]).shape == (160,)


def test_tags_are_those_of_the_encoder():
    tags = get_tags(RiskSLIMClassifier(items=ALL))
    assert tags.input_tags.allow_nan
    assert tags.input_tags.string
    plain = get_tags(RiskSLIMClassifier())
    assert not plain.input_tags.allow_nan
    assert tags.classifier_tags == plain.classifier_tags


def test_rows_that_are_odd(fitted):
    assert any(item.kind == ">=" for item in fitted.risk_score_.items.values())
    used = next(iter(fitted.risk_score_.variables))
    other = RAW.assign(**{used: RAW[used] * 1000})
    with pytest.warns(ExtrapolationWarning, match="far outside of those in training"):
        fitted.predict(other)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(RAW[["age"]])
    # All columns are checked, as by the pipeline; the score looks at those that it needs.
    unused = [name for name in RAW if name not in fitted.risk_score_.variables]
    assert "smoker" in unused
    with pytest.raises(ValueError, match="smoker"):
        fitted.predict(RAW.assign(smoker=7))
    fitted.risk_score_.predict(RAW.assign(smoker=7))


def test_levels_that_fit_did_not_have():
    encoder = ItemEncoder()
    classifier = RiskSLIMClassifier(max_size=1, items=encoder, min_coef={"sex = male": 1})
    classifier.fit(RAW[["sex"]], Y)
    strange = pd.DataFrame({"sex": ["male", "unknown"]})
    with pytest.raises(ValueError, match="unknown categories 'unknown'"):
        classifier.predict(strange)
    classifier.set_params(items__handle_unknown="ignore").fit(RAW[["sex"]], Y)
    assert classifier.score_samples(strange).tolist() == [classifier.points_[0, 0], 0]


def test_missing_values_are_refused_unless_told_otherwise():
    with pytest.raises(ValueError, match="missing='indicator'"):
        RiskSLIMClassifier(items=ItemEncoder()).fit(RAW, Y)


def test_weights_reach_cutoffs_and_points():
    weights = np.where(np.arange(len(Y)) % 3, 1.0, 0.0)
    kept = weights > 0
    one = RiskSLIMClassifier(max_size=2, items=ALL).fit(RAW, Y, weights)
    other = RiskSLIMClassifier(max_size=2, items=ALL).fit(RAW[kept], Y[kept])
    assert one.encoder_.items_ == other.encoder_.items_
    assert one.risk_score_.points == other.risk_score_.points
    assert one.risk_score_.cutoff_ranges == pytest.approx(other.risk_score_.cutoff_ranges)


def test_a_score_without_points():
    classifier = RiskSLIMClassifier(max_size=0, items=ALL).fit(RAW, Y)
    assert classifier.risk_score_.points == {}
    assert classifier.predict_proba(RAW).shape == (160, 2)


def test_items_that_are_none():
    for items in ("all", ItemEncoder, object()):
        with pytest.raises(TypeError, match="items must be an ItemEncoder or None"):
            RiskSLIMClassifier(items=items).fit(RAW, Y)


def best_by_hand(columns, y, most_per_column, points, intercepts):
    """The least objective of all choices of cut-offs, points and intercepts, each tried.

    With the prior that so few rows have by default, at the scale 1.
    """
    price, ridge = 1e-6, 1 / len(y)
    sums = [(np.zeros(len(y)), 0)]  # of points of rows, and what the items cost
    for column in columns:
        cutoffs = (np.unique(column)[1:] + np.unique(column)[:-1]) / 2
        choices = []
        for size in range(most_per_column + 1):
            for chosen in itertools.combinations(cutoffs, size):
                for given in itertools.product(points, repeat=size):
                    total = sum(
                        (p * (column >= cutoff) for p, cutoff in zip(given, chosen, strict=True)),
                        np.zeros(len(y)),
                    )
                    choices.append((total, price * size + ridge * np.square(given).sum()))
        sums = [(one + two, a + b) for one, a in sums for two, b in choices]
    totals, costs = np.array([total for total, _ in sums]), np.array([cost for _, cost in sums])
    sign = np.where(y, 1, -1)
    return min(
        (np.logaddexp(0, -sign * (totals + intercept)).mean(axis=1) + costs).min()
        for intercept in intercepts
    )


@pytest.mark.parametrize(("n_columns", "most"), [(2, 1), (1, 2)])
def test_it_is_the_best_choice_of_cutoffs_and_points(n_columns, most):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 30))
        columns = [rng.choice(rng.normal(0, 10, 6).round(seed % 3), n) for _ in range(n_columns)]
        y = rng.random(n) < 0.2 + 0.6 * (columns[0] > np.median(columns[0]))
        if min(len(np.unique(one)) for one in columns) < 3 or len(np.unique(y)) < 2:
            continue
        classifier = RiskSLIMClassifier(
            max_size=None, max_coef=2, max_intercept=3, items_per_variable=most, time_limit=60,
            scale=1, items=ItemEncoder(n_thresholds="all", round_thresholds=bool(seed % 2)),
        )  # fmt: skip
        classifier.fit(np.column_stack(columns), y)
        assert classifier.certificate_.is_optimal
        best = best_by_hand(columns, y, most, (-2, -1, 1, 2), range(-3, 4))
        assert classifier.certificate_.objective == pytest.approx(best, abs=1e-12)
        assert classifier.certificate_.lower_bound <= best + 1e-9


@pytest.mark.slow
def test_few_items_of_each_variable():
    encoder = ItemEncoder(n_thresholds=4, missing="indicator")
    for most in (1, 2):
        classifier = RiskSLIMClassifier(max_size=4, items=encoder, items_per_variable=most)
        points = classifier.fit(RAW, Y).risk_score_.points
        variables = [name.split()[0] for name in points]
        assert max(map(variables.count, variables)) <= most
        stated = [at_most(most, variable(name)) for name in ("age", "crp")]
        same = RiskSLIMClassifier(max_size=4, items=encoder, constraints=stated).fit(RAW, Y)
        assert classifier.certificate_.objective == same.certificate_.objective
    items = encoder.fit_transform(RAW)
    by_name = RiskSLIMClassifier(max_size=4, items_per_variable=1).fit(items, Y)
    one_each = RiskSLIMClassifier(max_size=4, items=encoder, items_per_variable=1).fit(RAW, Y)
    assert by_name.certificate_ == one_each.certificate_
    for most, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError), ("one", TypeError)):
        with pytest.raises(error):
            RiskSLIMClassifier(items=encoder, items_per_variable=most).fit(RAW, Y)


@pytest.mark.parametrize(("most", "error"), [(0, ValueError), (1.5, TypeError), (True, TypeError)])
def test_items_per_variable_is_a_number_of_items(most, error):
    X, y = pd.DataFrame({"age": [30, 40, 50, 60]}), [0, 1, 0, 1]
    model = RiskSLIMClassifier(items=ItemEncoder(), items_per_variable=most)
    with pytest.raises(error, match="items_per_variable must be"):
        model.fit(X, y)
