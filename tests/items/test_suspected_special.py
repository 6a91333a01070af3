"""Values that look like codes among measurements are named, with the option that takes them."""

from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import pytest

from riskslim import CoefficientSet, ItemEncoder, RiskScoreProblem, TrainingData, read
from riskslim.items.codes import suspected_special

YEARS = np.arange(20, 80).repeat(5)
SCORE = np.arange(94).repeat(4)


def heap(value, n=20):
    return np.full(n, value)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([SCORE, heap(-9), heap(-8), heap(-7)], (-9, -8, -7)),
        ([YEARS, heap(999)], (999,)),
        ([YEARS, heap(998), heap(999), heap(-99)], (-99, 998, 999)),
        ([np.arange(9).repeat(9), heap(99)], (99,)),
        ([YEARS, heap(99)], ()),  # an age
        ([YEARS, heap(999, 1)], ()),  # no heap
        ([YEARS, heap(400)], ()),  # no code
        ([np.arange(-3, 30).repeat(9)], ()),  # below zero
        ([SCORE, heap(-9), heap(-4.5)], ()),  # others are negative, too
        ([np.arange(3).repeat(99), heap(99)], ()),  # levels
        ([np.arange(2000.0)], ()),
        ([np.random.default_rng(0).normal(size=500) * 100], ()),
        ([YEARS, heap(np.nan)], ()),
        ([heap(np.nan)], ()),
    ],
)
def test_heaps_that_are_unlike_all_others(parts, expected):
    assert suspected_special(np.concatenate(parts)) == expected


def table():
    rng = np.random.default_rng(1)
    n = 400
    age = np.where(np.arange(n) % 20 == 3, -9, rng.integers(20, 80, n))
    return pd.DataFrame({"age": age, "dose": rng.integers(0, 50, n)}), rng.integers(0, 2, n)


def test_encoders_name_them_unless_they_are_stated(caplog):
    X, y = table()
    caplog.set_level(logging.WARNING, "riskslim")
    ItemEncoder().fit(X, y)
    (note,) = (one.getMessage() for one in caplog.records if "unlike all others" in one.message)
    assert "'age' (-9): if they are codes" in note
    assert "special_values={...}" in note
    assert "--special NAME=V,V" in note
    caplog.clear()
    ItemEncoder(special_values={"age": [-9]}).fit(X, y)
    ItemEncoder(categorical=["age", "dose"]).fit(X, y)
    ItemEncoder(missing="indicator").fit(X.where(X != -9), y)
    assert not [one for one in caplog.records if "unlike all others" in one.message]


def test_scores_of_raw_columns_name_them():
    """A score had "[-9 to 79] -1 point x value" without a word."""
    X, y = table()
    data = TrainingData(X, y)
    problem = RiskScoreProblem(data, CoefficientSet(data.feature_names, -5, 5))
    said = [one for one in problem.remarks([0, 1, 1]) if "unlike all others" in one]
    assert len(said) == 1
    assert said[0].startswith(
        "Columns have values that are unlike all others of theirs, 'age' (-9)"
    )
    assert not any("unlike" in one for one in problem.remarks([0, 0, 1]))


@pytest.mark.parametrize("most", [2**16, 16])
def test_files_that_are_read_in_batches_are_searched_as_frames_are(
    most, tmp_path, caplog, monkeypatch
):
    """By the counts of distinct values, or a sample of the rows where these are too many."""
    X, y = table()
    X["visits"] = np.where(np.arange(400) % 25 == 1, 999, X["dose"])
    (tmp_path / "parts").mkdir()
    for k in range(2):
        rows = slice(200 * k, 200 * (k + 1))
        X.iloc[rows].assign(died=y[rows]).to_csv(tmp_path / "parts" / f"{k}.csv", index=False)
    for name in ("riskslim.data.summaries", "riskslim.rows.reading"):
        monkeypatch.setattr(f"{name}.MAX_DISTINCT", most, raising=False)
    caplog.set_level(logging.WARNING, "riskslim")

    def notes(call):
        caplog.clear()
        call()
        return [one.getMessage() for one in caplog.records if "unlike all others" in one.message]

    (of_frame,) = notes(lambda: ItemEncoder().fit(X, y))
    assert notes(lambda: read(tmp_path / "parts", "died", items=ItemEncoder())) == [of_frame]
    stated = ItemEncoder(special_values={"age": [-9], "visits": [999]})
    assert not notes(lambda: read(tmp_path / "parts", "died", items=stated))
