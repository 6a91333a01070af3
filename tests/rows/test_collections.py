"""Training data from Dask collections, and predictions of such: without a cluster, and on one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from riskslim import (
    CoefficientSet,
    ItemEncoder,
    RiskScore,
    RiskScoreProblem,
    RiskSLIMClassifier,
    TrainingData,
    branch_and_bound,
    read,
)
from riskslim.data.lazy import is_collection
from riskslim.rows import collections
from riskslim.rows.cluster import current_client

pytest.importorskip("pyarrow")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

RAW = ["age", "sex", "lab", "smoker"]


def patients(n: int = 600, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": random.integers(20, 90, n),
            "sex": random.choice(["m", "f"], n),
            "lab": np.round(random.normal(5, 1, n), 1),
            "smoker": random.integers(0, 2, n).astype(bool),
        }
    )
    odds = 0.06 * (frame["age"] - 60) + (frame["sex"] == "m") + 0.5 * frame["smoker"] - 1
    frame["died"] = np.where(random.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")
    frame.loc[random.random(n) < 0.1, "lab"] = np.nan
    frame["w"] = random.integers(0, 4, n) / 4
    return frame


FRAME = patients()


def encoder() -> ItemEncoder:
    return ItemEncoder(max_thresholds=4, missing="indicator")


@pytest.fixture(scope="module")
def client():
    """A cluster of two workers in this process."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


@pytest.fixture(params=[pytest.param("cluster", marks=pytest.mark.slow), "no cluster"])
def where(request):
    """Both with and without a cluster."""
    if request.param == "cluster":
        with request.getfixturevalue("client").as_current():
            yield request.param
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("riskslim.rows.collections.current_client", lambda: None)
        yield request.param


def certified(data: TrainingData):
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    problem = RiskScoreProblem(data, coefficients, max_size=2)
    return branch_and_bound(problem, time_limit=60)


def same(data: TrainingData, reference: TrainingData, accuracy: float = 0.0) -> None:
    """Both lead to the same score with the same certificate."""
    assert data.feature_names == reference.feature_names
    assert data.n_samples == reference.n_samples
    assert data.n_counted == reference.n_counted
    assert data.classes == reference.classes
    assert data.outcome_name == reference.outcome_name
    found, expected = certified(data), certified(reference)
    np.testing.assert_array_equal(found.coef, expected.coef)
    for name in ("objective", "lower_bound", "loss"):
        assert getattr(found.certificate, name) == pytest.approx(
            getattr(expected.certificate, name), rel=0, abs=accuracy
        )
    assert found.certificate.status == expected.certificate.status


def in_memory(frame: pd.DataFrame, weighted: bool = False) -> TrainingData:
    weights = frame["w"] if weighted else None
    items = encoder().fit_transform(frame[RAW], sample_weight=weights)
    return TrainingData(items, frame["died"], weights, positive_label="yes")


def collected(frame, *, weighted=False, **options) -> TrainingData:
    return read(
        frame[RAW], frame["died"], frame["w"] if weighted else None,
        items=encoder(), positive_label="yes", **options,
    )  # fmt: skip


@pytest.mark.parametrize(("n_partitions", "weighted"), [(1, False), (2, True), (7, False)])
def test_partitions_make_no_difference(where, n_partitions, weighted):
    frame = dd.from_pandas(FRAME, npartitions=n_partitions)
    data = collected(frame, weighted=weighted)
    assert data.rows.is_block
    assert data.n_rows < len(FRAME)
    same(data, in_memory(FRAME, weighted), 1e-14 if weighted else 0.0)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_that_have_no_room_stay_elsewhere(where, weighted):
    frame = dd.from_pandas(FRAME, npartitions=3)
    data = collected(frame, weighted=weighted, memory_limit=1000)
    expected = "DaskRows" if where == "cluster" else "DiskRows"
    assert type(data.rows).__name__ == expected
    same(data, in_memory(FRAME, weighted), 1e-14)


def test_rows_of_partitions_are_put_together_in_their_order(where):
    one = collected(dd.from_pandas(FRAME, npartitions=1))
    many = collected(dd.from_pandas(FRAME, npartitions=11))
    for name in ("integer_columns", "labels", "counts", "sample_weight"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


def test_columns_as_they_are(where):
    """Reals, small integers and truth values, of which no two rows are equal."""
    frame = FRAME[["age", "smoker"]].assign(lab=np.random.default_rng(3).normal(size=len(FRAME)))
    data = read(
        dd.from_pandas(frame, npartitions=4),
        dd.from_pandas(FRAME["died"], npartitions=4),
        positive_label="yes",
    )
    assert data.counts is None
    same(data, TrainingData(frame, FRAME["died"], positive_label="yes"))


def test_arrays(where):
    values = np.column_stack([FRAME["age"], FRAME["smoker"], FRAME["lab"].fillna(0)]).astype(float)
    labels = (FRAME["died"] == "yes").to_numpy()
    X = da.from_array(values, chunks=(250, 2))
    y = da.from_array(labels[:, None], chunks=(100, 1))
    data = read(X, y, da.from_array(FRAME["w"].to_numpy(), chunks=600))
    same(data, TrainingData(values, labels, FRAME["w"].to_numpy()), 1e-14)


def test_items_can_be_stated(where):
    frame = dd.from_pandas(FRAME, npartitions=2)
    made = encoder().fit(FRAME[RAW])
    items = made.transform(FRAME[RAW])
    data = read(
        dd.from_pandas(pd.DataFrame(items), npartitions=2), frame["died"], positive_label="yes",
        items=made.items_, outcome_name="death",
    )  # fmt: skip
    assert data.items == {item.name: item for item in made.items_}
    assert data.outcome_name == "death"


def test_empty_partitions_and_partitions_of_one_class(where):
    sorted_frame = FRAME.sort_values("died", ignore_index=True)
    pieces = [sorted_frame[:0], sorted_frame[:100], sorted_frame[100:100], sorted_frame[100:]]
    assert sorted_frame[:100]["died"].nunique() == 1
    frame = dd.from_map(lambda k: pieces[k], [0, 1, 2, 3], meta=sorted_frame[:0])
    same(collected(frame), in_memory(sorted_frame))


def test_columns_of_many_values_are_sampled_alike(where, monkeypatch):
    monkeypatch.setattr(collections, "MAX_DISTINCT", 30)
    monkeypatch.setattr(collections, "SAMPLE_ROWS", 100)
    names = [
        collected(dd.from_pandas(FRAME, npartitions=n), random_state=seed).feature_names
        for n, seed in ((1, 5), (7, 5), (7, 6))
    ]
    assert names[0] == names[1]
    assert names[1] != names[2]
    assert names[0] != in_memory(FRAME).feature_names


def test_progress_is_told(where):
    told = []
    collected(dd.from_pandas(FRAME, npartitions=3), progress=told.append)
    assert [(one.step, one.n_rows) for one in told] == [
        (step, n) for step in (1, 2) for n in (200, 400, 600)
    ]
    assert told[-1].n_distinct > 0
    assert told[-1].summary().startswith("reading, step 2 of 2: 600 rows, ")


# ---- what is refused ---------------------------------------------------------------------------


def broken(number: int, change):
    """Three partitions, the columns of one of which are changed."""

    def piece(k: int) -> pd.DataFrame:
        part = FRAME[200 * k : 200 * (k + 1)]
        return change(part.copy()) if k == number else part

    return dd.from_map(piece, [0, 1, 2], meta=FRAME[:0])


def _with(column, values):
    return lambda part: part.assign(**{column: values})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_with("age", "old"), "Column 'age' has the type .* in partition 1, but int64 in"),
        (_with("died", [None, *["yes"] * 199]), "missing values: the first is at row 0 of part"),
        (_with("died", "maybe"), "[Tt]wo|binary|classes"),
        (_with("lab", [0.0] * 7 + [np.inf] + [0.0] * 192), "row 7 of partition 1"),
    ],
)
def test_a_partition_that_differs_is_named(where, change, message):
    with pytest.raises(ValueError, match=message):
        collected(broken(1, change))


def test_a_partition_with_other_columns(where):
    labels = dd.from_pandas(FRAME["died"], npartitions=3)
    numbers = FRAME[["age", "lab"]].fillna(0)

    def piece(k: int, change) -> pd.DataFrame:
        part = numbers[200 * k : 200 * (k + 1)].copy()
        return change(part) if k == 1 else part

    def opened(change) -> TrainingData:
        X = dd.from_map(piece, [0, 1, 2], change=change, meta=numbers[:0])
        return read(X, labels, positive_label="yes")

    assert opened(lambda part: part[["lab", "age"]]).n_samples == 600
    with pytest.raises(ValueError, match=r"partition 1 has no column 'lab'.*, which the coll"):
        opened(lambda part: part.rename(columns={"lab": "labor"}))
    with pytest.raises(ValueError, match="partition 1 has columns that the collection lacks: 'x'"):
        opened(_with("x", 1))
    with (
        dask.config.set({"dataframe.convert-string": False}),
        pytest.raises(ValueError, match="Column 'age' of partition 1 has values of several types"),
    ):
        opened(_with("age", [1, "x"] * 100))


def test_weights_that_cannot_be(where):
    frame = broken(2, _with("w", [1.0, -2.0] + [1.0] * 198))
    with pytest.raises(ValueError, match=r"got -2\.0 at row 1 of partition 2"):
        collected(frame, weighted=True)
    with pytest.raises(ValueError, match="no row of class 'yes' has a positive weight"):
        collected(
            dd.from_pandas(FRAME.assign(w=(FRAME["died"] == "no") * 1.0), npartitions=2),
            weighted=True,
        )


def test_partitions_that_are_cut_otherwise(where):
    frame, other = dd.from_pandas(FRAME, npartitions=3), dd.from_pandas(FRAME, npartitions=2)
    with pytest.raises(ValueError, match="X has 3 partitions, but y has 2"):
        read(frame[["age"]], other["died"])
    labels = da.from_array((FRAME["died"] == "yes").to_numpy(), chunks=((200, 150, 250),))
    with pytest.raises(ValueError, match="Partition 1 has 200 rows, but 150 labels"):
        read(frame[["age"]], labels)


def test_what_is_no_collection_of_rows():
    frame = dd.from_pandas(FRAME, npartitions=2)
    nobody = frame[frame["age"] > 1000]
    with pytest.raises(TypeError, match="but y is pandas"):
        read(frame[RAW], FRAME["died"])
    with pytest.raises(TypeError, match="but sample_weight is numpy"):
        read(frame[RAW], frame["died"], np.ones(600))
    with pytest.raises(TypeError, match="Dask data frame or a Dask array"):
        read(frame["age"], frame["died"])
    with pytest.raises(ValueError, match="2-dimensional"):
        read(da.ones(5, chunks=2), frame["died"])
    with pytest.raises(ValueError, match="1-dimensional"):
        read(da.ones((5, 1), chunks=2), da.ones((5, 2), chunks=2))
    with pytest.raises(ValueError, match="name of the outcome, 'died'"):
        read(frame, frame["died"])
    with pytest.raises(ValueError, match="X has no rows"):
        read(nobody[["age"]], nobody["died"])


# ---- the classifier, and predictions -----------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    model = RiskSLIMClassifier(max_size=2, items=encoder(), positive_label="yes")
    return model.fit(FRAME[RAW], FRAME["died"])


def test_classifier(where, fitted):
    frame = dd.from_pandas(FRAME, npartitions=3)
    model = RiskSLIMClassifier(max_size=2, items=encoder(), positive_label="yes")
    model.fit(frame[RAW], frame["died"])
    assert model.certificate_.objective == fitted.certificate_.objective
    assert model.risk_score_.points == fitted.risk_score_.points
    assert list(model.feature_names_in_) == RAW
    assert model.score(FRAME[RAW], FRAME["died"]) == fitted.score(FRAME[RAW], FRAME["died"])


METHODS = ["predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples"]


@pytest.mark.parametrize(
    ("method", "of_score"),
    [(method, of_score) for method in METHODS for of_score in (False, True)
     if not (of_score and method == "predict_log_proba")],
)  # fmt: skip
def test_predictions_are_lazy(client, fitted, method, of_score):
    model = fitted.risk_score_ if of_score else fitted
    pieces = [FRAME[:0], FRAME[:250], FRAME[250:]]
    looked_at = []

    def piece(k: int) -> pd.DataFrame:
        looked_at.append(k)
        return pieces[k]

    frame = dd.from_map(piece, [0, 1, 2], meta=FRAME[:0])
    found = getattr(model, method)(frame[RAW])
    assert is_collection(found)
    assert looked_at == []
    computed = found.compute(scheduler="sync")
    assert computed.dtype == found.dtype
    np.testing.assert_array_equal(computed, getattr(model, method)(FRAME[RAW]))


@pytest.mark.parametrize("method", METHODS)
def test_predictions_of_arrays(method):
    values = FRAME[["age", "smoker"]].to_numpy(float)
    model = RiskSLIMClassifier(max_size=2).fit(values, FRAME["died"] == "yes")
    found = getattr(model, method)(da.from_array(values, chunks=(400, 1)))
    assert found.shape == getattr(model, method)(values).shape
    np.testing.assert_array_equal(found.compute(), getattr(model, method)(values))


def test_predictions_of_other_columns(fitted):
    frame = dd.from_pandas(FRAME, npartitions=2)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame[["age", "sex"]])
    with pytest.raises(ValueError, match=r"X lacks 1 of 1 columns: 'smoke'"):
        RiskScore(-1, {"smoke": 2}).predict(frame)
    with pytest.raises(ValueError, match="2-dimensional"):
        RiskScore(-1, {"smoke": 2}).predict(da.ones(4))
    with pytest.raises(TypeError, match="must be a Dask data frame or a Dask array"):
        RiskScore(-1, {"smoke": 2}).predict(frame["age"])


def test_a_model_is_small_in_the_graph(fitted):
    frame = dd.from_pandas(FRAME, npartitions=2)
    fitted.predict_proba(frame[RAW])
    assert hasattr(fitted, "solution_")  # the copy that is sent lacks it, not the model


def test_no_client_and_asynchronous_clients(monkeypatch):
    monkeypatch.setattr(distributed, "default_client", _no_client)
    assert current_client() is None

    class Asynchronous:
        asynchronous = True

    monkeypatch.setattr(distributed, "default_client", Asynchronous)
    with pytest.raises(TypeError, match="asynchronous"):
        current_client()


def _no_client():
    raise ValueError("No clients found")
