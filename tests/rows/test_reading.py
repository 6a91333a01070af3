"""Data read batch by batch are the data read whole: items, rows, losses and certificates."""

from __future__ import annotations

import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from riskslim import (
    CoefficientSet,
    ItemEncoder,
    LogisticLoss,
    RiskScore,
    RiskScoreProblem,
    RiskSLIMClassifier,
    TrainingData,
    branch_and_bound,
    false_negative_rate_at_most,
    model_size_path,
    reader,
    sampled,
)
from riskslim.data import batches
from riskslim.data.store import RowsElsewhereError
from riskslim.engines.branch_and_bound.search_rows import prepare
from riskslim.exceptions import ConstantFeatureWarning, PositiveLabelWarning
from riskslim.rows import disk, reading, subsets

N = 3000
# So small that half of the rows and more are spilled.
LITTLE = 200_000


def frame(n: int = N, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    columns = {
        "age": random.integers(18, 95, n),
        "pressure": random.normal(120, 20, n).round(1),
        "sex": random.choice(["female", "male"], n),
        "ward": random.choice([*"ABCDE"], n),
        "smoker": random.random(n) < 0.3,
        "visits": random.integers(0, 2, n),
        "marker": np.where(random.random(n) < 0.1, np.nan, random.normal(size=n).round(1)),
    }
    odds = 0.03 * columns["age"] + columns["smoker"] - 3
    columns["died"] = np.where(random.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")
    columns["weight"] = random.integers(0, 4, n)
    return pd.DataFrame(columns)


def write(table: pd.DataFrame, folder: Path, kind: str, n_files: int) -> Path:
    """The table in so many files of a new folder."""
    folder = folder / f"{kind}-{n_files}"
    folder.mkdir()
    cuts = np.linspace(0, len(table), n_files + 1).astype(int)
    for number, (start, stop) in enumerate(itertools.pairwise(cuts)):
        part = pa.Table.from_pandas(table.iloc[start:stop], preserve_index=False)
        if kind == "parquet":
            pq.write_table(part, folder / f"part-{number}.parquet", row_group_size=700)
        else:
            pcsv.write_csv(part, folder / f"part-{number}.csv")
    return folder


def read(folder, outcome: str = "died", **options) -> TrainingData:
    return reader.read(folder, outcome, **options)


def encoder(**options) -> ItemEncoder:
    return ItemEncoder(**{"missing": "indicator", "n_thresholds": 3, **options})


def in_memory(table: pd.DataFrame, weights: str | None = None, **options) -> TrainingData:
    """The same by way of a table."""
    X = pa.Table.from_pandas(table.drop(columns=["died", "weight"]), preserve_index=False)
    w = None if weights is None else table[weights]
    used = encoder(**options)
    made = used.fit_transform(X, sample_weight=w)
    return TrainingData(made, table["died"], w, outcome_name="died", items=used.items_)


def solved(data: TrainingData, max_size: int = 3):
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    return branch_and_bound(RiskScoreProblem(data, coefficients, max_size=max_size), time_limit=60)


def unmerged(data: TrainingData) -> list[tuple]:
    """All rows with their weights, sorted; equal ones added up."""
    columns = np.column_stack(
        [data.labels, *(data.column(j) for j in range(data.n_features))]
    ).astype(float)
    weights = np.ones(data.n_rows) if data.sample_weight is None else data.sample_weight
    rows = pd.DataFrame(columns).assign(weight=weights).query("weight > 0")
    added = rows.groupby([*range(columns.shape[1])], as_index=False)["weight"].sum()
    return list(added.itertuples(index=False, name=None))


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(batches, "BATCH_ROWS", 512)
    monkeypatch.setattr(reader, "are_held", lambda *_, **options: False)
    monkeypatch.setattr(batches, "_CSV_BLOCK", 20_000)


# ---- the same as in memory ---------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize(("kind", "n_files"), [("parquet", 1), ("parquet", 4), ("csv", 3)])
def test_certificates_are_those_of_data_in_memory(tmp_path, kind, n_files, weights):
    table = frame()
    used = encoder()
    data = read(
        write(table, tmp_path, kind, n_files), items=used, sample_weight=weights,
        exclude=["weight"] if weights is None else [],
    )  # fmt: skip
    expected = in_memory(table, weights)
    assert data.feature_names == expected.feature_names
    assert data.items == expected.items
    assert [i.interval for i in data.items.values()] == [
        i.interval for i in expected.items.values()
    ]
    assert (data.n_samples, data.n_counted) == (expected.n_samples, expected.n_counted)
    assert data.n_rows < data.n_samples == N
    assert data.total_weight == expected.total_weight
    assert (data.classes, data.outcome_name) == (expected.classes, expected.outcome_name)
    assert data.prevalence == expected.prevalence
    np.testing.assert_array_equal(data.feature_min, expected.feature_min)
    np.testing.assert_array_equal(data.feature_max, expected.feature_max)
    assert data.is_weighted == expected.is_weighted == (weights is not None)
    assert unmerged(data) == unmerged(expected)
    found, wanted = solved(data), solved(expected)
    assert found.coef.tolist() == wanted.coef.tolist()
    assert found.certificate == wanted.certificate
    assert found.certificate.is_optimal


def test_the_rows_that_evaluations_read_are_those_that_are_merged_in_memory(tmp_path):
    table = frame(n=6000)
    data = read(write(table, tmp_path, "parquet", 2), items=encoder(n_thresholds=1),
                exclude=["weight"])  # fmt: skip
    expected = in_memory(table, n_thresholds=1)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    rows, others = (LogisticLoss(one, coefficients).rows for one in (data, expected))
    assert others.n_rows < expected.n_samples
    for name in ("integer_columns", "labels", "weights", "numbers"):
        np.testing.assert_array_equal(getattr(rows, name), getattr(others, name))
    assert (rows.total_weight, rows.n_samples) == (others.total_weight, others.n_samples)


@pytest.mark.parametrize("batch_rows", [1, 37, 10_000])
def test_batches_do_not_matter(tmp_path, monkeypatch, batch_rows):
    table = frame(n=150)
    folder = write(table, tmp_path, "parquet", 3)
    expected = read(folder, items=encoder(), exclude=["weight"])
    monkeypatch.setattr(batches, "BATCH_ROWS", batch_rows)
    data = read(folder, items=encoder(), exclude=["weight"])
    assert data.items == expected.items
    np.testing.assert_array_equal(data.integer_columns, expected.integer_columns)
    np.testing.assert_array_equal(data.counts, expected.counts)


@pytest.mark.parametrize(
    "options",
    [
        {"n_thresholds": "all", "thresholds": {"age": [50, 65], "pressure": 4}},
        {"direction": "<=", "threshold_position": "middle", "drop": None},
        {"round_thresholds": True, "min_frequency": 0.25},
        {"categorical": ["visits"], "min_frequency": 700},
        {"numeric": ["age", "pressure"]},
    ],
)
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_items_are_those_of_data_in_memory(tmp_path, kind, options):
    table = frame(n=1500)
    used = encoder(**options)
    data = read(write(table, tmp_path, kind, 2), items=used, exclude=["weight"])
    expected = encoder(**options)
    X = pa.Table.from_pandas(table.drop(columns=["died", "weight"]), preserve_index=False)
    made = TrainingData(expected.fit_transform(X), table["died"])
    assert used.items_ == expected.items_
    assert [item.interval for item in used.items_] == [item.interval for item in expected.items_]
    for name in ("variables_", "groups_", "limited_", "constant_items_"):
        assert getattr(used, name) == getattr(expected, name), name
    assert data.is_integer.tolist() == made.is_integer.tolist()
    np.testing.assert_array_equal(data.feature_min, made.feature_min)
    assert unmerged(data) == unmerged(made)
    # The encoder encodes other rows as one does that was fitted in memory.
    new = X.slice(0, 50)
    assert used.transform(new).equals(expected.transform(new))


def test_columns_as_they_are(tmp_path):
    table = frame().drop(columns=["sex", "ward", "marker"])
    table["pressure"] = np.random.default_rng(1).permutation(N) + 0.5
    data = read(write(table, tmp_path, "parquet", 3), exclude=["weight"])
    expected = TrainingData(table.drop(columns=["died", "weight"]), table["died"])
    assert data.feature_names == expected.feature_names
    assert data.is_integer.tolist() == [True, False, True, True]
    assert unmerged(data) == unmerged(expected)
    # No two rows are equal: nothing is counted.
    assert data.counts is None
    assert data.sample_weight is None
    assert data.n_rows == N
    np.testing.assert_array_equal(data.column(1), expected.column(1))


@pytest.mark.parametrize("weights", [None, "weight"])
def test_rows_without_room_go_to_files(tmp_path, weights):
    table = frame()
    folder, scratch = write(table, tmp_path, "parquet", 2), tmp_path / "scratch"
    scratch.mkdir()
    options = {
        "items": encoder(), "sample_weight": weights,
        "exclude": ["weight"] if weights is None else [],
    }  # fmt: skip
    data = read(folder, memory_limit=LITTLE, scratch=scratch, **options)
    expected = in_memory(table, weights)
    assert not data.rows.is_block
    assert len(list(scratch.iterdir())) == 1
    assert (data.n_samples, data.n_counted) == (expected.n_samples, expected.n_counted)
    assert data.total_weight == expected.total_weight
    assert data.prevalence == expected.prevalence
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    losses = [LogisticLoss(one, coefficients) for one in (data, expected)]
    random = np.random.default_rng(1)
    for _ in range(5):
        point = random.integers(-5, 6, data.n_features + 1)
        assert losses[0].value(point) == losses[1].value(point)
    data.rows.close()
    assert not list(scratch.iterdir())


def test_files_are_gone_with_the_data(tmp_path):
    folder = write(frame(), tmp_path, "parquet", 1)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    data = read(folder, memory_limit=LITTLE, scratch=scratch, items=encoder(), exclude=["weight"])
    assert list(scratch.iterdir())
    del data
    assert not list(scratch.iterdir())


def test_bit_planes_are_where_scratch_files_are(tmp_path, monkeypatch):
    """The default folder of the system may have no room: --scratch names another one."""
    folder = write(frame(), tmp_path, "parquet", 2)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    data = read(folder, memory_limit=LITTLE, scratch=scratch, items=encoder(), exclude=["weight"])
    problem = RiskScoreProblem(data, CoefficientSet(data.feature_names, -5, 5), max_size=3)
    parents = []

    class Noted(disk.ScratchFolder):
        def __init__(self, parent=None):
            parents.append(parent)
            super().__init__(parent)

    monkeypatch.setattr("riskslim.engines.branch_and_bound.search_rows.ScratchFolder", Noted)
    prepare(problem, memory=1.0)
    assert parents == [scratch]
    assert problem.loss.packed is not None


@pytest.mark.slow
def test_one_row_for_more_than_kernels_can_count(tmp_path):
    n = 150_000
    table = pd.DataFrame({"a": np.arange(n) % 2, "died": (np.arange(n) // 2) % 2})
    data = read(write(table, tmp_path, "parquet", 1))
    assert data.n_samples == data.counts.sum() == n
    assert data.counts.max() == 37_500
    table = pd.DataFrame({"a": [0, 1] * 70_000, "died": [0, 1] * 70_000})
    data = read(write(table, tmp_path / "..", "parquet", 2), exclude=())
    assert sorted(data.counts.tolist()) == [4465, 4465, 65535, 65535]
    expected = TrainingData(table[["a"]], table["died"])
    assert unmerged(data) == unmerged(expected)


def test_what_needs_rows_one_by_one(tmp_path):
    table = frame()
    folder = write(table, tmp_path, "parquet", 2)
    whole = in_memory(table)
    for limit in (None, LITTLE):
        used = encoder()
        data = read(folder, items=used, exclude=["weight"], memory_limit=limit)
        solution = solved(data)
        score = RiskScore.from_solution(solution, data, encoder=used)
        assert score.points == RiskScore.from_solution(solved(whole), whole).points
        with pytest.raises(ValueError, match="looked at row by row"):
            RiskScore.from_solution(solution, data, encoder=used, raw=table)
        with pytest.raises(ValueError, match=r"pass a sample, riskslim.sampled"):
            score.report(tmp_path / "report.html", data)
        sample = sampled(data, 500, random_state=3)
        assert (sample.n_samples, sample.n_rows, sample.counts) == (500, 500, None)
        assert not sample.is_weighted
        assert (sample.classes, sample.items) == (data.classes, data.items)
        assert abs(sample.prevalence - data.prevalence) < 0.1
        # All rows are drawn where there are not more, each as often as it is there.
        assert unmerged(sampled(data, 10**6)) == unmerged(whole)
    with pytest.raises(ValueError, match="n must be at least 1"):
        sampled(data, 0)
    with pytest.raises(ValueError, match="is of class"):
        sampled(data, 1)


def test_subsets(tmp_path, monkeypatch):
    """The values of some features, and those of a sample where they are too many."""
    table = frame()
    folder = write(table, tmp_path, "parquet", 2)
    used = encoder(numeric=["age", "pressure"])
    data = read(folder, items=used, exclude=["weight"], memory_limit=LITTLE)
    whole = in_memory(table, numeric=["age", "pressure"])
    coef = np.zeros(data.n_features + 1, int)
    position = {name: 1 + j for j, name in enumerate(data.feature_names)}
    for names in ([], ["smoker"], ["age", "smoker"], ["age", "pressure", "smoker"]):
        coef[:] = 0
        coef[[position[name] for name in names]] = 1
        score, expected = (RiskScore.from_coefficients(coef, one) for one in (data, whole))
        assert dict(score.feature_ranges) == dict(expected.feature_ranges)
        assert score.prevalence == expected.prevalence
    monkeypatch.setattr(subsets, "_MOST_DISTINCT", 50)
    score = RiskScore.from_coefficients(coef, data)
    for name in ("age", "pressure"):
        found, wanted = (one.feature_ranges[name] for one in (score, expected))
        assert (found.minimum, found.maximum) == (wanted.minimum, wanted.maximum)
        assert found.is_integer == wanted.is_integer


@pytest.mark.parametrize("limit", [None, LITTLE])
def test_weights_of_classes(limit, tmp_path):
    """Wherever the rows are: of merged ones in memory, and in scratch files."""
    table = frame()
    folder = write(table, tmp_path, "parquet", 2)
    options = {"exclude": ["weight"], "memory_limit": limit}
    data = read(folder, items=encoder(), **options)
    assert data.rows.is_block is (limit is None)
    expected = in_memory(table).with_class_weight("balanced")
    balanced = data.with_class_weight("balanced")
    assert balanced.is_weighted
    assert not data.is_weighted
    for name in ("prevalence", "weighted_prevalence"):
        found, wanted = (getattr(one.class_weighting, name) for one in (balanced, expected))
        assert found == pytest.approx(wanted, rel=1e-14)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    point = np.arange(data.n_features + 1) % 4 - 1
    found, wanted = (LogisticLoss(one, coefficients).value(point) for one in (balanced, expected))
    assert found == pytest.approx(wanted, rel=1e-14)
    with pytest.raises((ValueError, RowsElsewhereError), match=r"were merged|rows in memory"):
        data.reweighted(np.ones(data.n_rows))
    scores = []
    for rows in (balanced, expected):
        classifier = RiskSLIMClassifier(max_size=2, scale=1).fit(rows)
        assert classifier.certificate_.is_optimal
        scores.append(classifier.risk_score_)
    assert len({one.class_weighting.describe("ill = yes") for one in scores}) == 1
    assert scores[0].points == scores[1].points
    objectives = [one.certificate.objective for one in scores]
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-12)


# ---- columns with too many values to count -----------------------------------------------------


@pytest.mark.slow
def test_quantiles_of_a_sample(tmp_path, monkeypatch):
    n = 20_000
    random = np.random.default_rng(0)
    x = random.normal(size=n)
    x[7] = np.nan
    table = pd.DataFrame({"x": x, "died": (random.random(n) < 0.5).astype(int)})
    folder = write(table, tmp_path, "parquet", 4)
    monkeypatch.setattr(reading, "MAX_DISTINCT", 100)
    monkeypatch.setattr(reading, "SAMPLE_ROWS", 4000)
    first, again, other = (
        read(folder, items=encoder(n_thresholds=4), random_state=seed) for seed in (0, 0, 1)
    )
    values = [item.value for item in first.items.values() if item.kind == ">="]
    assert len(values) == 4
    assert set(values) <= set(x)
    ranks = [np.mean(x[~np.isnan(x)] < value) for value in values]
    np.testing.assert_allclose(ranks, [0.2, 0.4, 0.6, 0.8], atol=0.03)
    assert "x is missing" in first.feature_names
    assert first.items == again.items != other.items
    assert all(item.interval is None for item in first.items.values())
    monkeypatch.setattr(batches, "BATCH_ROWS", 77)
    assert read(folder, items=encoder(n_thresholds=4)).items == first.items
    used = encoder(n_thresholds=4)
    read(folder, items=used)
    variable = used.variables_["x"]
    assert (variable.minimum, variable.maximum) == (np.nanmin(x), np.nanmax(x))
    assert (variable.n_missing, variable.n_samples) == (1, n)


# ---- what cannot be read -----------------------------------------------------------------------


def faulty(tmp_path, column: str, row: int, value, kind: str = "parquet") -> Path:
    """Three files; one value, of the second file, is another one."""
    table = frame(n=900)
    if isinstance(value, str):
        table[column] = table[column].astype(str)
    elif value is None:
        table[column] = table[column].astype(object)
    table.loc[300 + row, column] = value
    return write(table, tmp_path, kind, 3)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("column", "value", "options", "words"),
    [
        ("marker", np.inf, {}, ["infinity", "'marker' (1 of 900 rows"]),
        ("pressure", np.nan, {"missing": "error", "categorical": ["marker"]},
         ["NaN", "'pressure' (1 of 900 rows"]),
        ("died", None, {}, ["The outcome 'died' has missing values"]),
        ("weight", -1, {}, ["The weights 'weight' must be finite and not negative, got -1.0"]),
    ],
)  # fmt: skip
def test_faults_name_file_column_and_row(tmp_path, kind, column, value, options, words):
    folder = faulty(tmp_path, column, 12, value, kind)
    with pytest.raises(ValueError, match="row 12") as error:
        read(folder, items=encoder(**options), sample_weight="weight")
    for word in (*words, f"row 12 of {folder / f'part-1.{kind}'}"):
        assert word in str(error.value)


def test_text_among_numbers(tmp_path):
    folder = faulty(tmp_path, "pressure", 5, "<80", "csv")
    with pytest.raises(ValueError, match="'pressure'") as error:
        read(folder, items=encoder(), exclude=["weight"])
    assert f"first '<80' at row 5 of {folder / 'part-1.csv'}" in str(error.value)
    assert "1 of 900 rows" in str(error.value)
    with pytest.raises(ValueError, match="could not convert string to float: '<80'") as error:
        read(folder, exclude=["weight", "sex", "ward", "marker"])
    assert f"1 of 900 rows, first '<80' at row 5 of {folder / 'part-1.csv'}" in str(error.value)
    with pytest.raises(ValueError, match=r"could not convert string to float: '(fe)?male'"):
        read(folder, exclude=["weight", "ward", "marker", "pressure"])


def test_dates_and_other_things(tmp_path):
    table = frame(n=300)
    table["born"] = pd.Timestamp("1950-01-01") + pd.to_timedelta(table["age"], unit="D")
    table["list"] = [[1, 2]] * 300
    folder = write(table, tmp_path, "parquet", 2)
    for options in ({"items": encoder()}, {"exclude": ["weight", "sex", "ward", "marker"]}):
        with pytest.raises(TypeError, match="dates or times") as error:
            read(folder, **options)
        assert "'born' (300 of 300 rows" in str(error.value)
        assert "'list' (300 of 300 rows" in str(error.value)


def test_levels_that_only_rows_of_weight_zero_have(tmp_path):
    table = frame(n=900)
    table.loc[333, ["ward", "weight"]] = ["X", 0]
    folder = write(table, tmp_path, "parquet", 3)
    with pytest.raises(ValueError, match="unknown categories 'X'") as error:
        read(folder, items=encoder(), sample_weight="weight")
    assert f"row 33 of {folder / 'part-1.parquet'}" in str(error.value)
    used = encoder(handle_unknown="ignore")
    assert read(folder, items=used, sample_weight="weight").n_samples == 900


def test_one_class_in_a_part_is_fine_and_in_all_is_not(tmp_path):
    table = frame(n=900).sort_values("died", ignore_index=True)
    data = read(write(table, tmp_path, "parquet", 9), items=encoder(), exclude=["weight"])
    assert unmerged(data) == unmerged(in_memory(table))
    table["died"] = "no"
    with pytest.raises(ValueError, match="only one class: 'no'"):
        read(write(table, tmp_path, "parquet", 2), items=encoder(), exclude=["weight"])
    table.loc[500:, "weight"] = 0
    table["died"] = np.where(np.arange(900) < 500, "no", "yes")
    with pytest.raises(ValueError, match="no row of class 'yes' has a positive weight"):
        read(write(table, tmp_path, "parquet", 3), items=encoder(), sample_weight="weight")


def test_more_than_two_classes(tmp_path):
    table = frame(n=300)
    table["died"] = np.arange(300) % 3
    with pytest.raises(ValueError, match="3 distinct labels, 0, 1, 2"):
        read(write(table, tmp_path, "parquet", 1), items=encoder())
    table["died"] = np.random.default_rng(0).normal(size=300)
    with pytest.raises(ValueError, match="continuous"):
        read(write(table, tmp_path, "parquet", 2), items=encoder())


@pytest.mark.parametrize(
    ("classes", "positive", "expected"),
    [
        ([0, 1], None, (0, 1)), ([-1, 1], -1, (1, -1)), ([False, True], None, (False, True)),
        ([0.0, 1.0], "0.0", (1.0, 0.0)), (["yes", "no"], None, ("no", "yes")),
    ],
)  # fmt: skip
def test_labels_of_any_kind(tmp_path, classes, positive, expected):
    table = frame(n=300)
    table["died"] = [classes[i % 2] for i in range(300)]
    data = read(write(table, tmp_path, "parquet", 2), items=encoder(), positive_label=positive)
    assert data.classes == expected
    assert [type(label) for label in data.classes] == [type(label) for label in expected]
    assert data.prevalence == 0.5


def test_labels_that_do_not_say_which_is_positive(tmp_path):
    table = frame(n=300)
    table["died"] = ["injury", "no injury"] * 150
    folder = write(table, tmp_path, "parquet", 1)
    with pytest.warns(PositiveLabelWarning, match="'no injury'"):
        read(folder, items=encoder())


def test_constant_features(tmp_path):
    table = frame(n=300)[["age", "died"]].assign(one=1)
    with pytest.warns(ConstantFeatureWarning, match="'one'"):
        data = read(write(table, tmp_path, "parquet", 2))
    assert data.constant_features.tolist() == [1]


def test_columns_that_differ_between_files(tmp_path):
    folder = write(frame(n=300), tmp_path, "parquet", 3)
    first, second = folder / "part-0.parquet", folder / "part-1.parquet"
    table = pq.read_table(second)
    cases = [
        (table.rename_columns(["Age", *table.column_names[1:]]), f"{second} has no column 'age'"),
        (table.append_column("more", table.column(0)), f"{second} has columns that {first} lacks"),
        (
            table.set_column(0, "age", table.column(0).cast("string")),
            f"Column 'age' has the type string in {second}, but int64 in {first}",
        ),
    ]
    for other, message in cases:
        pq.write_table(other, second)
        with pytest.raises(ValueError, match="part-1") as error:
            read(folder, items=encoder())
        assert message in str(error.value)
    # Numbers are numbers, in any order of the columns, and all of them may be missing.
    for kind in ("float64", "int8"):
        other = table.set_column(0, "age", table.column(0).cast(kind))
        pq.write_table(other.select(other.column_names[::-1]), second)
        data = read(folder, items=encoder(), exclude=["weight"])
        assert unmerged(data) == unmerged(in_memory(frame(n=300)))
    pq.write_table(table.set_column(0, "age", pa.nulls(len(table))), second)
    data = read(folder, items=encoder(), exclude=["weight"])
    assert "age is missing" in data.feature_names


def test_files_that_are_not_there_or_damaged(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file or folder .*nowhere"):
        read(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"has no file whose name ends in \.csv, "):
        read(tmp_path)
    with pytest.raises(ValueError, match="no file is given"):
        batches.find_files([], batches.DATA_SUFFIXES)
    folder = write(frame(n=3000), tmp_path, "parquet", 2)
    path = folder / "part-1.parquet"
    with pytest.raises(ValueError, match="is given twice"):
        read([folder, path])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"part-1.parquet cannot be read as parquet"):
        read(folder, items=encoder())
    # The footer is fine, what it speaks of is not.
    middle = len(whole) // 4
    path.write_bytes(whole[:100] + bytes(middle) + whole[100 + middle :])
    with pytest.raises(ValueError, match=r"part-1.parquet cannot be read as parquet after row"):
        read(folder, items=encoder())
    named = tmp_path / "by year" / "year=2024"
    named.mkdir(parents=True)
    path.rename(named / "part.parquet")
    with pytest.raises(ValueError, match="year=2024"):
        read(named.parent)


def test_links_that_lead_nowhere_are_said(tmp_path):
    folder = write(frame(n=900), tmp_path, "parquet", 2)
    expected = read(folder, items=encoder())
    (folder / "_old.parquet").symlink_to("gone")
    (folder / "notes").symlink_to("gone")
    aside = tmp_path / "aside"
    aside.mkdir()
    (folder / "part-0.parquet").rename(aside / "some.parquet")
    (folder / "part-0.parquet").symlink_to(aside / "some.parquet")
    assert read(folder, items=encoder()).n_samples == expected.n_samples
    (folder / "part-2.parquet").symlink_to("nowhere")
    with pytest.raises(FileNotFoundError, match=r"part-2.parquet is a link to nowhere, which does"):
        read(folder)
    (folder / "part-2.parquet").unlink()
    (folder / "more").symlink_to(aside)
    with pytest.raises(ValueError, match=r"more is a link to a folder, which is not followed"):
        read(folder)


def test_a_file_that_changes_between_the_passes(tmp_path, monkeypatch):
    folder = write(frame(n=900), tmp_path, "parquet", 2)
    path = folder / "part-1.parquet"
    before = reading.Reading.features_of

    def changed(self, summary):
        pq.write_table(pq.read_table(path).slice(0, 100), path)
        return before(self, summary)

    monkeypatch.setattr(reading.Reading, "features_of", changed)
    with pytest.raises(ValueError, match=r"part-1.parquet says that it has|changed while"):
        read(folder, items=encoder(), exclude=["weight"])


def test_no_rows(tmp_path):
    folder = write(frame(n=300).iloc[:0], tmp_path, "parquet", 1)
    with pytest.raises(ValueError, match="has no rows"):
        read(folder, items=encoder())
    # An empty file among others is as good as none.
    table = frame(n=300)
    folder = write(table, tmp_path, "parquet", 2)
    empty = pq.read_table(folder / "part-0.parquet").slice(0, 0)
    pq.write_table(empty, folder / "part-00.parquet")
    data = read(folder, items=encoder(), exclude=["weight"])
    assert unmerged(data) == unmerged(in_memory(table))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outcome": "dead"}, "no column 'dead'"),
        ({"features": ["age", "agee"]}, "no column 'agee'"),
        ({"sample_weight": "died"}, "given as outcome and as weights"),
        ({"memory_limit": 0}, "memory_limit must be a positive number"),
        ({"scratch": "nowhere"}, "no folder nowhere for scratch"),
        ({"sample_weight": "ward"}, "must be non-negative numbers, but the column has the type"),
    ],
)
def test_options_that_cannot_be(tmp_path, options, message):
    folder = write(frame(n=300), tmp_path, "parquet", 1)
    with pytest.raises(ValueError, match=message):
        read(folder, items=encoder(), **options)


# ---- what needs rows one by one ------------------------------------------------------------


def problem_on(data: TrainingData) -> RiskScoreProblem:
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    return RiskScoreProblem(data, coefficients, max_size=2)


@pytest.mark.parametrize(
    ("kind", "limit", "weights"),
    [("parquet", None, None), ("parquet", LITTLE, "weight"),
     *(pytest.param(*slow, marks=pytest.mark.slow)
       for slow in (("csv", None, "weight"), ("parquet", LITTLE, None)))],
)  # fmt: skip
def test_folds_are_those_of_data_in_memory(tmp_path, kind, limit, weights):
    """Rows are divided in the order of the files, wherever they are: the same to the bit."""
    table = frame(n=1500)
    options = {"numeric": ["age"], "n_thresholds": 2}
    folder = write(table, tmp_path, kind, 3)
    data = read(
        folder, items=encoder(**options), sample_weight=weights, memory_limit=limit,
        exclude=["weight"] if weights is None else [],
    )  # fmt: skip
    assert data.rows.is_block == (limit is None)
    whole = in_memory(table, weights, **options)
    found, expected = (
        model_size_path(problem_on(one), cv=3, sizes=[1, 2]) for one in (data, whole)
    )
    same_paths(found, expected)


def same_paths(found, expected) -> None:
    assert found.is_complete
    assert len(found.entries) == len(expected.entries) > 0
    for one, other in zip(found.entries, expected.entries, strict=True):
        assert one.solution.coef.tolist() == other.solution.coef.tolist()
        assert one.solution.certificate == other.solution.certificate
        assert one.train == other.train
        folds, wanted = one.cross_validation, other.cross_validation
        np.testing.assert_array_equal(folds.positive, wanted.positive)
        assert (folds.sample_weight is None) == (wanted.sample_weight is None)
        for fold, another in zip(folds.folds, wanted.folds, strict=True):
            assert dict(fold.model.points) == dict(another.model.points)
            assert fold.model.intercept == another.model.intercept
            assert fold.model.certificate == another.model.certificate
            assert (fold.train, fold.test) == (another.train, another.test)
            for name in ("test_rows", "test_risk", "test_scores"):
                np.testing.assert_array_equal(getattr(fold, name), getattr(another, name))


@pytest.mark.parametrize("limit", [None, LITTLE])
def test_folds_choose_items_of_their_own(tmp_path, limit):
    """Cut-offs that the outcome chooses are those of the training rows of a fold."""
    table = frame(n=1500).drop(columns="weight")
    folder = write(table, tmp_path, "parquet", 3)
    options = {"thresholds": "supervised", "n_thresholds": 3, "missing": "indicator"}
    classifier = RiskSLIMClassifier(
        max_size=2, items=ItemEncoder(**options), positive_label="yes", gap_tolerance=0.01,
        l2_penalty=0,  # bounds of merged rows are then the same to the last bit
    )  # fmt: skip
    paths = []
    with pytest.MonkeyPatch.context() as patch:
        if limit is not None:
            patch.setattr(reading, "default_memory_limit", lambda: limit)
        paths.append(model_size_path(classifier, folder, "died", cv=3, sizes=[2]))
    paths.append(model_size_path(classifier, table.drop(columns="died"), table["died"], cv=3,
                                 sizes=[2]))  # fmt: skip
    same_paths(*paths)
    assert len({tuple(one.model.points) for one in paths[0].entries[0].cross_validation.folds}) > 1


def test_folds_are_rows_once(tmp_path):
    table = frame(n=600)
    data = read(write(table, tmp_path, "parquet", 2), items=encoder(), exclude=["weight"])
    rows = np.arange(600)
    chosen = data.files.reading.on(rows % 7 == 4)
    chosen.first_pass()
    for number, row in enumerate(rows[4::7]):  # errors name the row of the file
        assert chosen.place(number).startswith(f"row {row % 300} of ")
        assert chosen.place(number).endswith(f"part-{row // 300}.parquet")
    with pytest.raises(ValueError, match="a fold has a row twice"):
        model_size_path(problem_on(data), cv=[(np.r_[rows[:300], 0], rows[300:])] * 2)
    drawn = sampled(data, 10**6)
    drawn.counts = np.ones(600, np.int64)
    with pytest.raises(ValueError, match=r"cross-validation divides rows.*riskslim\.sampled"):
        model_size_path(problem_on(drawn), cv=2)


@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_cut_offs_by_the_outcome_are_those_of_data_in_memory(tmp_path, kind, weights):
    table = frame(n=1500)
    options = {
        "thresholds": "supervised", "n_thresholds": 4, "min_events": 20, "min_frequency": 30,
        "special_values": {"age": [33]}, "missing": "indicator",
    }  # fmt: skip
    used, expected = ItemEncoder(**options), ItemEncoder(**options)
    read(
        write(table, tmp_path, kind, 3), items=used, sample_weight=weights, positive_label="no",
        exclude=["weight"] if weights is None else [],
    )  # fmt: skip
    X = pa.Table.from_pandas(table.drop(columns=["died", "weight"]), preserve_index=False)
    expected.fit(X, table["died"], sample_weight=None if weights is None else table[weights])
    assert used.items_ == expected.items_
    assert used.variables_ == expected.variables_
    assert sum(item.kind == ">=" for item in used.items_) > 4


def test_cut_offs_by_the_outcome_in_columns_of_many_values(tmp_path, monkeypatch):
    """They are those of a sample: with room for all rows, the same."""
    table = frame(n=1500).drop(columns="weight")
    folder = write(table, tmp_path, "parquet", 2)
    options = {"thresholds": "supervised", "n_thresholds": 4, "missing": "indicator"}
    expected = ItemEncoder(**options).fit(table.drop(columns="died"), table["died"])
    monkeypatch.setattr(reading, "MAX_DISTINCT", 40)
    used = ItemEncoder(**options)
    read(folder, items=used)
    assert [item.name for item in used.items_] == [item.name for item in expected.items_]
    assert any(item.kind == ">=" and item.interval is None for item in used.items_)
    assert all(item.interval for item in expected.items_ if item.kind == ">=")


@pytest.mark.parametrize("items", [None, ItemEncoder(n_thresholds=3, missing="indicator")])
def test_a_classifier_is_fitted_to_files(tmp_path, items):
    table = frame(n=900)
    if items is None:
        table = table[["age", "smoker", "visits", "died", "weight"]]
    folder = write(table, tmp_path, "parquet", 2)
    model = RiskSLIMClassifier(max_size=2, items=items, positive_label="yes")
    expected = clone(model).fit(table.drop(columns=["died", "weight"]), table["died"],
                                table["weight"])  # fmt: skip
    found = [
        clone(model).fit(folder, "died", "weight"),
        clone(model).fit([str(path) for path in sorted(folder.iterdir())], "died", "weight"),
    ]
    data = read(folder, sample_weight="weight", items=items, positive_label="yes")
    found.append(RiskSLIMClassifier(max_size=2).fit(data))
    raw = table.drop(columns=["died", "weight"])
    for one in found:
        assert one.certificate_ == expected.certificate_
        assert one.coef_.tolist() == expected.coef_.tolist()
        assert one.classes_.tolist() == expected.classes_.tolist()
        assert one.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
        np.testing.assert_array_equal(one.predict_proba(raw), expected.predict_proba(raw))
        assert one.risk_score_.items == expected.risk_score_.items
        assert one.risk_score_.variables == expected.risk_score_.variables
    with pytest.raises(TypeError, match="training data have what items would say"):
        RiskSLIMClassifier(items=ItemEncoder()).fit(data)
    with pytest.raises(TypeError, match=r"have what y, sample_weight, positive_label would"):
        RiskSLIMClassifier(positive_label="no").fit(data, [0, 1], [1, 1])
    with pytest.raises(TypeError, match="y is the name of a column, got Series"):
        RiskSLIMClassifier().fit(folder, table["died"])
    with pytest.raises(TypeError, match="sample_weight is the name of a column, got ndarray"):
        RiskSLIMClassifier().fit(folder, "died", np.ones(900))
    with pytest.raises(TypeError, match="steps of a pipeline take tables"):
        model_size_path(make_pipeline(ItemEncoder(), model), folder, "died")


def test_arguments_of_files_and_of_tables(tmp_path):
    table = frame(n=100)[["age", "smoker", "died"]]
    with pytest.raises(TypeError, match="features, exclude and csv_format are about files"):
        reader.read(table[["age"]], table["died"], exclude=["age"])
    with pytest.raises(TypeError, match="files have names of their own"):
        read(tmp_path, outcome_name="death")
    made = encoder().fit(table[["age", "smoker"]])
    for given in (made, made.items_):
        rows = (
            table[["age", "smoker"]] if given is made else made.transform(table[["age", "smoker"]])
        )
        data = reader.read(rows, table["died"], items=given, positive_label="yes")
        assert data.items == {item.name: item for item in made.items_}
        assert data.encoder is (given if given is made else None)
    assert pickle.loads(pickle.dumps(reader.read(table[["age"]], table["died"], items=encoder(),
                                                 positive_label="yes"))).raw is None  # fmt: skip


# ---- CSV ---------------------------------------------------------------------------------------


def test_a_column_that_turns_out_to_be_of_another_type(tmp_path, monkeypatch):
    """Whole numbers in the first block, decimals far below, and text in a column of the end."""
    n = 20_000
    table = pd.DataFrame(
        {
            "late": np.r_[np.arange(n - 1) % 7, 2.5],
            "text": [*(np.arange(n - 1) % 3).astype(str), "other"],
            "empty": [""] * (n - 1) + ["1"],
            "died": np.arange(n) % 2,
        }
    )
    table.insert(0, "left out", np.arange(n))
    path, other = tmp_path / "rows.csv", tmp_path / "rows 2.csv"
    texts = table.astype(str).replace(r"\.0$", "", regex=True)
    texts.to_csv(path, index=False)
    used = encoder(n_thresholds="all")
    data = read(path, items=used, exclude=["left out"])
    expected = encoder(n_thresholds="all")
    with monkeypatch.context() as patch:
        patch.setattr(reader, "are_held", lambda *_, **options: True)
        read(path, items=expected, exclude=["left out"])
    assert used.items_ == expected.items_
    assert used.variables_ == expected.variables_
    assert data.n_samples == n
    assert "text = other" in data.feature_names
    assert "late >= 2.5" in data.feature_names
    # The same in two files, the second with its columns in another order.
    texts.iloc[:5000].to_csv(path, index=False)
    texts.iloc[5000:, ::-1].to_csv(other, index=False)
    again = read([path, other], items=encoder(n_thresholds="all"), exclude=["left out"])
    assert again.items == data.items
    assert unmerged(again) == unmerged(data)


def test_csv_formats(tmp_path):
    from riskslim import CsvFormat

    table = frame(n=300)[["pressure", "ward", "died"]]
    table["ward"] = table["ward"].replace("E", "Ä")
    path = tmp_path / "rows.csv"
    table.to_csv(path, index=False, sep=";", decimal=",", encoding="cp1252")
    form = CsvFormat(separator=";", decimal=",", encoding="cp1252")
    data = read(path, items=encoder(), csv_format=form)
    assert data.csv_format == form
    assert "ward = Ä" in data.feature_names
    with pytest.raises(ValueError, match="not encoded in UTF-8"):
        read(path, items=encoder(), csv_format=CsvFormat(separator=";", decimal=","))
    packed = tmp_path / "rows.csv.gz"
    table.to_csv(packed, index=False)
    plain = tmp_path / "plain.csv"
    table.to_csv(plain, index=False)
    first, second = (read(one, items=encoder()) for one in (packed, plain))
    np.testing.assert_array_equal(first.integer_columns, second.integer_columns)
    plain.write_text("a,died\n1,0\n2,1\n3,4,5\n")
    with pytest.raises(ValueError, match=r"plain.csv cannot be read as csv: line 4 has 3 columns"):
        read(plain)


# ---- nothing is left behind --------------------------------------------------------------------


def spilling(tmp_path) -> tuple[Path, Path]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return write(frame(n=6000), tmp_path, "parquet", 3), scratch


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_full_disk_or_an_interruption_leaves_nothing(tmp_path, monkeypatch, error):
    folder, scratch = spilling(tmp_path)
    before, calls = disk.write_block, []

    def full(*arguments):
        calls.append(arguments[0])
        if len(calls) == 3:
            raise error
        return before(*arguments)

    monkeypatch.setattr(disk, "write_block", full)
    monkeypatch.setattr(reading, "BLOCK_ROWS", 256)
    message = "cannot be written .No space left" if isinstance(error, OSError) else None
    with pytest.raises(type(error), match=message):
        read(folder, items=encoder(), exclude=["weight"], memory_limit=LITTLE, scratch=scratch)
    assert len(calls) == 3
    assert not list(scratch.iterdir())


def test_a_fault_in_the_second_pass_leaves_nothing(tmp_path, monkeypatch):
    folder, scratch = spilling(tmp_path)
    before, rows = reading.Reading._encoded, []

    def encoded(self, features, batch):
        rows.append(batch.rows.num_rows)
        if sum(rows) > 5000:
            assert list(scratch.iterdir())  # there is something to be left
            raise ValueError("out of order")
        return before(self, features, batch)

    monkeypatch.setattr(reading.Reading, "_encoded", encoded)
    with pytest.raises(ValueError, match="out of order"):
        read(folder, items=encoder(), exclude=["weight"], memory_limit=LITTLE, scratch=scratch)
    assert not list(scratch.iterdir())
    assert threading.active_count() < 20


PROGRAM = """
import sys
from riskslim import ItemEncoder, read
from riskslim.data import batches
from riskslim.data.store import RowsElsewhereError
batches.BATCH_ROWS = 128
folder, scratch, what = sys.argv[1:]
def progress(state):
    if what == "wait" and state.n_distinct > 3000:
        print(state.summary(), flush=True)
        import time; time.sleep(60)
data = read(
    folder, "died", items=ItemEncoder(missing="indicator", n_thresholds=3), exclude=["weight"],
    memory_limit=200_000, scratch=scratch, progress=progress,
)
import pathlib
assert list(pathlib.Path(scratch).iterdir())
print(data)
"""


@pytest.mark.slow
def test_the_end_of_the_process_leaves_nothing(tmp_path):
    folder, scratch = spilling(tmp_path)
    command = [sys.executable, "-c", PROGRAM, str(folder), str(scratch)]
    done = subprocess.run([*command, "end"], capture_output=True, text=True, check=True)
    assert "n_samples=6000" in done.stdout
    assert not list(scratch.iterdir())


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_leaves_nothing(tmp_path):
    folder, scratch = spilling(tmp_path)
    command = [sys.executable, "-c", PROGRAM, str(folder), str(scratch), "wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        line = process.stdout.readline()
        assert line.startswith(b"reading, step 2 of 2"), process.stderr.read()
        assert list(scratch.iterdir())
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) != 0
    assert not list(scratch.iterdir())


# ---- how far it is -----------------------------------------------------------------------------


def test_progress(tmp_path):
    folder = write(frame(), tmp_path, "parquet", 3)
    states = []
    read(folder, items=encoder(), exclude=["weight"], progress=states.append)
    size = sum(path.stat().st_size for path in folder.iterdir())
    for step in (1, 2):
        own = [state for state in states if state.step == step]
        assert [state.n_rows for state in own] == sorted(state.n_rows for state in own)
        assert own[-1].n_rows == N
        assert own[-1].n_bytes == own[-1].total_bytes == size
        assert all(0 < state.n_bytes <= size for state in own)
    assert states[-1].n_distinct > 0 == states[0].n_distinct
    assert "3,000 rows" in states[-1].summary()


def test_progress_is_logged(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(reading, "_SECONDS_BETWEEN_LINES", 0.0)
    with caplog.at_level("INFO", logger="riskslim.rows.reading"):
        read(write(frame(), tmp_path, "csv", 2), items=encoder(), exclude=["weight"])
    assert any("reading, step 1 of 2" in line for line in caplog.messages)
    assert any("distinct in memory and 0 in scratch files" in line for line in caplog.messages)


def test_default_memory_limit(monkeypatch):
    assert reading.default_memory_limit() > 10**8
    monkeypatch.setattr(os, "sysconf", lambda name: {"SC_PAGE_SIZE": 4096}.get(name, 2**20))
    assert reading.default_memory_limit() == 2**31
    monkeypatch.delattr(os, "sysconf")
    assert reading.default_memory_limit() == 4 * 2**30


def test_samples_of_merged_rows_are_of_those_that_they_stand_for(tmp_path, monkeypatch):
    """Scores are polished on a sample of many rows, merged or not."""
    from riskslim.engines.branch_and_bound import incumbents

    monkeypatch.setattr(incumbents, "ROUGH_ROWS", 10)
    table = frame()
    merged = read(write(table, tmp_path, "parquet", 3), items=encoder())
    assert 4 * incumbents.ROUGH_ROWS < merged.n_rows < merged.n_samples
    found, expected = solved(merged), solved(in_memory(table))
    assert found.certificate.objective == expected.certificate.objective
    assert found.certificate.status.value == "optimal"


@pytest.mark.slow
def test_rates_count_the_rows_that_merged_ones_stand_for(tmp_path):
    table = frame()
    certificates = []
    for data in (read(write(table, tmp_path, "parquet", 2), items=encoder()), in_memory(table)):
        coefficients = CoefficientSet(data.feature_names, -3, 3)
        problem = RiskScoreProblem(
            data, coefficients, max_size=2,
            constraints=[false_negative_rate_at_most(0.3, 0.5)],
        )  # fmt: skip
        certificates.append(branch_and_bound(problem).certificate)
    assert certificates[0].objective == certificates[1].objective
    assert certificates[0].status is certificates[1].status


def test_text_with_and_without_a_dictionary_and_floats_of_16_bits(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    ward, y = ["a", "b", "a", "c"] * 10, [0, 1, 1, 0, 1] * 8
    half = pa.array(np.arange(40, dtype=np.float16))
    pq.write_table(pa.table({"ward": ward, "x": half, "y": y}), tmp_path / "0.parquet")
    coded = pa.array(ward).dictionary_encode()
    pq.write_table(pa.table({"ward": coded, "x": half, "y": y}), tmp_path / "1.parquet")
    data = read(tmp_path, "y", items=ItemEncoder(n_thresholds=2))
    assert {"ward = a", "ward = b", "ward = c"} < set(data.feature_names)
    assert data.n_samples == 80
