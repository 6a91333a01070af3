"""Rows that carry names are read by them, whatever they are."""

from __future__ import annotations

import contextlib
import dataclasses
import sqlite3
from collections import deque, namedtuple

import numpy as np
import pandas as pd
import pytest

from riskslim import ItemEncoder, RiskScore, RiskSLIMClassifier, TrainingData
from riskslim.items import RawVariable

NAMES = ("dbp", "sbp")  # not in the order of the scores below
ROWS = [(85, 150), (95, 120), (70, 110)]

Named = namedtuple("Named", NAMES)
Data = dataclasses.make_dataclass("Data", NAMES)


class OfServer:
    """As rows of pyodbc are: the names are in a description of the cursor."""

    cursor_description = tuple((name, int, None) for name in NAMES)

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, position):
        return self.values[position]


class OfSpark(tuple):
    __slots__ = ()
    __fields__ = NAMES


def _of_sqlite():
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.row_factory = sqlite3.Row
        return [database.execute("select ? as dbp, ? as sbp", row).fetchone() for row in ROWS]


STRUCTURED = np.array(ROWS, [(name, "f8") for name in NAMES])
TABLES = {
    "mappings": [dict(zip(NAMES, row, strict=True)) for row in ROWS],
    "named tuples": [Named(*row) for row in ROWS],
    "a deque": deque(Named(*row) for row in ROWS),
    "itertuples": [*pd.DataFrame(ROWS, columns=NAMES).itertuples()],
    "rows of pandas": [row for _, row in pd.DataFrame(ROWS, columns=NAMES).iterrows()],
    "sqlite": _of_sqlite(),
    "pyodbc": [*map(OfServer, ROWS)],
    "Spark": [*map(OfSpark, ROWS)],
    "data classes": [Data(*row) for row in ROWS],
    "structured": STRUCTURED,
    "masked": np.ma.array(STRUCTURED),
    "records": STRUCTURED.view(np.recarray),
    "rows of structured": [*STRUCTURED],
}
VARIABLES = {"sbp": RawVariable("sbp", "numeric", 90, 200),
             "dbp": RawVariable("dbp", "numeric", 50, 120)}  # fmt: skip
SCORES = {
    "raw": RiskScore(-3, {"sbp >= 140": 1, "dbp >= 90": 2}, variables=VARIABLES),
    "features": RiskScore(-3, {"sbp": 1, "dbp": 2}),
}


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("what", TABLES)
def test_rows_with_names_are_read_by_them(kind, what):
    score, X = SCORES[kind], TABLES[what]
    frame = pd.DataFrame(ROWS, columns=NAMES)
    expected = score.score_samples(frame).tolist()
    assert score.score_samples(X).tolist() == expected
    assert [one.score for one in score.explain_rows(X)] == expected
    assert np.array_equal(score.predict_proba(X), score.predict_proba(frame))
    first = next(iter(X))
    assert score.score_samples(first).tolist() == expected[:1]
    assert [score.explain(one).score for one in (first, [first])] == expected[:1] * 2
    items = [name for name in ("sbp >= 140", "dbp >= 90") if kind == "raw"]
    assert [score.with_items(X)[name].tolist() for name in items] == [
        score.with_items(frame)[name].tolist() for name in items
    ]


@pytest.mark.parametrize("what", TABLES)
def test_fits_read_names(what):
    X, y = TABLES[what], [1, 1, 0]
    assert {*TrainingData(X, y).feature_names} - {"Index"} == {*NAMES}
    encoder = ItemEncoder().fit(X)
    assert {*encoder.feature_names_in_} - {"Index"} == {*NAMES}
    turned = [{name: row[k] for k, name in enumerate(NAMES)} | {"Index": i}
              for i, row in enumerate(ROWS)]  # fmt: skip
    assert np.array_equal(encoder.transform(X), encoder.transform(turned))
    with pytest.raises(TypeError, match=r"got (a mapping|rows with names) instead") as refused:
        RiskSLIMClassifier().fit(X, y)
    assert "Pass a data frame" in str(refused.value)


def test_masked_values_of_records_are_missing():
    masked = np.ma.array(STRUCTURED, mask=[(True, False), (False, False), (False, False)])
    for X in (masked, [*masked]):
        with pytest.raises(ValueError, match=r"'dbp' \(1 of 3 rows, first at row 0\)"):
            SCORES["features"].score_samples(X)


def test_rows_whose_names_do_not_tell():
    score = SCORES["features"]
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.row_factory = sqlite3.Row
        twice = database.execute("select 1 as sbp, 2 as dbp, 3 as sbp").fetchall()
    with pytest.raises(ValueError, match="several columns named 'sbp'"):
        score.score_samples(twice)
    with pytest.raises(TypeError, match=r"row 1 .* is of type 'tuple', without names"):
        score.score_samples([Named(85, 150), (85, 150)])
    with pytest.raises(ValueError, match="structured array of two dimensions"):
        score.score_samples(STRUCTURED[:, np.newaxis])
    # A row that lacks what another one has is nothing to fit to.
    with pytest.raises(ValueError, match=r"Row 1 .* lacks 1 of the 2 columns of other rows: 'sbp'"):
        TrainingData([{"sbp": 1, "dbp": 2}, {"dbp": 2}], [0, 1])


def test_without_names_positions_count():
    assert SCORES["features"].score_samples([[1, 0], [0, 1]]).tolist() == [1, 2]
    assert SCORES["features"].score_samples([np.array([1, 0])]).tolist() == [1]
