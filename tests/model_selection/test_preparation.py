"""Paths of sizes for pipelines, and for items that the outcome chooses: folds fit them anew."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from riskslim import (
    ItemEncoder,
    RiskSLIMClassifier,
    cross_validate_risk_score,
    model_size_path,
)
from riskslim.model_selection.preparation import Preparation


def table(n=240, seed=0):
    rng = np.random.default_rng(seed)
    raw = pd.DataFrame({"age": rng.integers(20, 90, n), "sex": rng.choice(["f", "m"], n)})
    odds = 0.06 * (raw["age"] - 55) + (raw["sex"] == "m")
    return raw, np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")


SUPERVISED = ItemEncoder(thresholds="supervised", n_thresholds=4)


@pytest.mark.parametrize(
    ("make", "weighted"),
    [
        (lambda: RiskSLIMClassifier(max_size=2, items=SUPERVISED), True),
        (lambda: make_pipeline(SUPERVISED, RiskSLIMClassifier(max_size=2)), False),
        (lambda: make_pipeline(SUPERVISED, RiskSLIMClassifier(max_size=2)), True),
        (lambda: make_pipeline(make_pipeline(ItemEncoder()), RiskSLIMClassifier(max_size=2)), True),
        (lambda: make_pipeline("passthrough", Pipeline([
            ("items", ItemEncoder()), ("score", RiskSLIMClassifier(max_size=2))
        ])), False),
    ],
    ids=["classifier", "pipeline without weights", "pipeline", "nested", "passed through"],
)  # fmt: skip
def test_folds_are_those_of_separate_fits(make, weighted):
    raw, y = table()
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None
    model = make()
    path = model_size_path(model, raw, y, weights, sizes=[2], cv=3)
    assert path.is_complete
    (entry,) = path.entries
    separate = cross_validate_risk_score(model, raw, y, weights, cv=3)
    for fold, other in zip(entry.cross_validation.folds, separate.folds, strict=True):
        assert np.array_equal(fold.test_rows, other.test_rows)
        assert np.allclose(fold.test_risk, other.test_risk, rtol=1e-12)
        assert fold.test.loss == pytest.approx(other.test.loss, rel=1e-12)
    assert entry.train.loss == pytest.approx(separate.final.train.loss, rel=1e-12)


class Remembering(TransformerMixin, BaseEstimator):
    """Notes which rows it was fitted to."""

    fitted: ClassVar[list[int]] = []

    def fit(self, X, y=None):
        self.fitted.append(len(X))
        assert y is not None
        return self

    def transform(self, X):
        return X


def test_steps_see_training_rows_alone():
    raw, y = table()
    Remembering.fitted.clear()
    steps = make_pipeline(Remembering(), ItemEncoder(), RiskSLIMClassifier(max_size=1))
    model_size_path(steps, raw, y, cv=4)
    assert Remembering.fitted == [240, *[180] * 4]
    assert not hasattr(steps[1], "items_")


@pytest.mark.slow
def test_arrays_without_names_in_parallel_as_in_series():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((200, 3)) < 0.1, np.nan, rng.random((200, 3)) < 0.5)
    y = (np.nan_to_num(X[:, 0]) + rng.random(200) > 0.9).astype(int)
    model = make_pipeline(SimpleImputer(strategy="most_frequent"), RiskSLIMClassifier(max_size=2))
    paths = [model_size_path(model, X, y, sizes=2, cv=3, n_jobs=n_jobs) for n_jobs in (1, 2)]
    for path in paths:
        assert path.is_complete
        assert path.best().max_size in (1, 2)
    for one, other in zip(*(path.records() for path in paths), strict=True):
        one.pop("seconds"), other.pop("seconds")
        assert one == other


def test_levels_that_the_training_rows_lack():
    raw, y = table()
    raw.loc[0, "sex"] = "x"
    model = RiskSLIMClassifier(max_size=1, items=SUPERVISED)
    with pytest.raises(ValueError, match="unknown categories 'x'"):
        model_size_path(model, raw, y, cv=3)
    model.set_params(items__handle_unknown="ignore")
    assert model_size_path(model, raw, y, cv=3).is_complete


def test_what_is_no_classifier():
    raw, y = table()
    for wrong in (ItemEncoder(), make_pipeline(ItemEncoder(), SimpleImputer()), 3):
        assert Preparation.of(wrong, raw, y, None) is None
        with pytest.raises(TypeError, match="or a pipeline that ends in one"):
            model_size_path(wrong, raw, y)
    with pytest.raises(ValueError, match="needs data"):
        model_size_path(make_pipeline(ItemEncoder(), RiskSLIMClassifier()))


def test_sparse_steps_say_what_can_be_done():
    raw, y = table()
    with pytest.raises(TypeError, match=r"In a pipeline.*OneHotEncoder\(sparse_output=False\)"):
        make_pipeline(OneHotEncoder(), RiskSLIMClassifier()).fit(raw[["sex"]], y)
    import operator

    from sklearn.preprocessing import FunctionTransformer

    dense = FunctionTransformer(operator.methodcaller("toarray"), accept_sparse=True)
    for steps in ((OneHotEncoder(), dense), (OneHotEncoder(sparse_output=False),)):
        model = make_pipeline(*steps, RiskSLIMClassifier(max_size=1)).fit(raw[["sex"]], y)
        assert model[-1].risk_score_.points


def test_sheets_of_a_path_show_the_points_that_the_classifier_asks_for():
    X, y = np.tile([[0, 1], [1, 0], [1, 1], [0, 0]], (12, 1)), [1, 0, 0, 1] * 12
    y[:6] = [0, 1, 0, 1, 0, 1]
    path = model_size_path(RiskSLIMClassifier(points="non-negative"), X, y, sizes=1)
    assert path.entries[0].risk_score.layout.points == "non-negative"


def one_value_is_missing():
    raw, y = table()
    raw = raw.astype({"age": float})
    raw.loc[17, "age"] = np.nan
    raw["smoker"] = np.random.default_rng(5).integers(0, 2, len(raw)).astype(float)
    raw.loc[30, "smoker"] = np.nan
    raw.loc[45, "sex"] = None
    return raw, y


@pytest.mark.parametrize("thresholds", [None, "supervised"])
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_values_that_are_missing_in_a_test_fold_alone(thresholds, in_pipeline):
    """They meet no condition, as in the fit to all rows; no fold ends the others."""
    raw, y = one_value_is_missing()
    encoder = ItemEncoder(thresholds=thresholds, missing="indicator")
    model = RiskSLIMClassifier(max_size=3, items=encoder)
    if in_pipeline:
        model = make_pipeline(encoder, RiskSLIMClassifier(max_size=3))
    separate = cross_validate_risk_score(model, raw, y, cv=3)
    (entry,) = model_size_path(model, raw, y, sizes=[3], cv=3).entries
    assert len(separate.folds) == len(entry.cross_validation.folds) == 3
    if thresholds is not None:
        for fold, other in zip(entry.cross_validation.folds, separate.folds, strict=True):
            assert fold.test.loss == pytest.approx(other.test.loss, rel=1e-12)
    # Alone, an encoder refuses what it has not seen: nothing says what it means.
    later = encoder.fit(raw.dropna(), y[raw.notna().all(axis=1)])
    with pytest.raises(ValueError, match="There were none in fit"):
        later.transform(raw)


def test_missing_values_of_a_test_fold_in_files(tmp_path):
    """Of one file, and of a folder that is read batch by batch, as in memory."""
    raw, y = one_value_is_missing()
    whole = raw.assign(died=y)
    whole.to_csv(tmp_path / "all.csv", index=False)
    (tmp_path / "parts").mkdir()
    for k, rows in enumerate(np.array_split(np.arange(len(whole)), 2)):
        whole.iloc[rows].to_csv(tmp_path / "parts" / f"{k}.csv", index=False)
    items = ItemEncoder(thresholds="supervised", missing="indicator")
    classifier = RiskSLIMClassifier(max_size=2, items=items)
    found = [
        model_size_path(classifier, *rows, sizes=[2], cv=3).entries[0].cross_validation
        for rows in ((raw, y), (tmp_path / "all.csv", "died"), (tmp_path / "parts", "died"))
    ]
    assert str(found[0]) == str(found[1]) == str(found[2])
    assert len(found[0].folds) == 3
