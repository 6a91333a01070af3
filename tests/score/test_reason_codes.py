"""Ranked reasons: in explanations, and the same in exports."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from riskslim import ItemEncoder, RiskScore
from riskslim.data.feature_ranges import FeatureRange
from riskslim.exports import SQL_DIALECTS
from riskslim.items.variables import RawVariable

NAMES = ["age >= 66", "age >= 71", "w = A", "w = B", "sex = m", "smoker"]


def score(points=(1, 2, 3, -1, -1, 2)) -> RiskScore:
    variables = [
        RawVariable("age", "numeric", 18, 90, (), 3, 99),
        RawVariable("w", "categorical", levels=("A", "B", "it's"), n_samples=99),
        RawVariable("sex", "categorical", levels=("f", "m"), n_samples=99),
        RawVariable("smoker", "boolean", n_samples=99),
    ]
    found = RiskScore(
        2, dict(zip(NAMES, points, strict=True)), variables={one.name: one for one in variables}
    )
    return found.with_labels({"w": "Ward's \u00e9tage", "sex": {"text": "Sex"}})


RECORDS = [
    dict(zip(("age", "w", "sex", "smoker"), values, strict=True))
    for values in itertools.product((None, 30, 66, 80), ("A", "B", "it's"), ("f", "m"), (0, 1))
]


def costs_by_hand(fitted, average=None):
    """Costs of variables of all records, from their items."""
    items = fitted.with_items(pd.DataFrame(RECORDS))
    found = {}
    for variable in ("age", "w", "sex", "smoker"):
        names = [name for name in NAMES if name.split(" ")[0] == variable]
        points = sum(fitted.points[name] * items[name].to_numpy() for name in names)
        other = points.min() if average is None else sum(average[name] for name in names)
        found[variable] = points - other
    return found


@pytest.mark.parametrize("with_average", [False, True])
def test_reasons_are_ranked_by_what_they_cost(with_average):
    fitted = score()
    average = fitted.average_points(pd.DataFrame(RECORDS)) if with_average else None
    names = {"age": "age", "w": "Ward's \u00e9tage", "sex": "Sex", "smoker": "smoker"}
    costs = costs_by_hand(fitted, average)
    for k in range(0, len(RECORDS), 5):
        explained = fitted.explain(RECORDS[k], average=average)
        reasons = explained.reasons_against_average if with_average else explained.reasons
        assert reasons is not None
        expected = {names[key]: cost[k] for key, cost in costs.items() if cost[k] > 0}
        assert {one.variable: one.cost for one in reasons} == pytest.approx(expected)
        assert [one.cost for one in reasons] == sorted((one.cost for one in reasons), reverse=True)
        if with_average:
            assert "Points above the average:" in str(explained)
        else:
            assert explained.reasons_against_average is None
            assert "Points above" not in str(explained)


@pytest.mark.parametrize("with_average", [False, True])
def test_exports_give_the_reasons_of_explanations(with_average):
    fitted = score()
    average = fitted.average_points(pd.DataFrame(RECORDS)) if with_average else None
    namespace: dict = {}
    exec(fitted.to_python(reasons=3, average=average), namespace)
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE p (age, w, sex, smoker)")
        database.executemany(
            "INSERT INTO p VALUES (?, ?, ?, ?)", [tuple(record.values()) for record in RECORDS]
        )
        query = fitted.to_sql("sqlite", table="p", reasons=3, average=average)
        rows = database.execute(query).fetchall()
        n_reasons = set()
        for record, row in zip(RECORDS, rows, strict=True):
            explained = fitted.explain(record, average=average)
            reasons = explained.reasons_against_average if with_average else explained.reasons
            assert reasons is not None
            names = [one.variable for one in reasons[:3]]
            risk, total, found = namespace["predict_risk"](record)
            assert (risk, total) == (explained.risk, explained.score)
            assert found == names
            assert [one for one in row[-3:] if one is not None] == names
            assert row[5] == risk
            n_reasons.add(len(names))
        assert n_reasons >= {1, 3}
        database.execute("INSERT INTO p VALUES (50, 'unknown', 'f', 1)")
        assert database.execute(query).fetchall()[-1][-4:] == (None, None, None, None)


@pytest.mark.parametrize("dialect", SQL_DIALECTS)
def test_reasons_in_every_dialect(dialect):
    query = score().to_sql(dialect, table="p", reasons=2)
    assert query.count("reason_1") == 1
    assert query.count("reason_2") == 1
    assert "reason_3" not in query
    if dialect in ("mysql", "mariadb"):
        assert "CONVERT(X'" in query
    if dialect == "sqlserver":
        assert "N'Ward''s" in query
    # Without reasons queries are as they were.
    assert "reason" not in score().to_sql(dialect, table="p")


def test_numbers_of_reasons_beyond_the_variables():
    small = RiskScore(-3, {"smoker": 2})
    namespace: dict = {}
    exec(small.to_python(reasons=4), namespace)
    assert namespace["predict_risk"]({"smoker": 1})[2] == ["smoker"]
    assert namespace["predict_risk"]({"smoker": 0})[2] == []
    exec(RiskScore(-3, {}).to_python(reasons=1), namespace)
    assert namespace["predict_risk"]({})[2] == []
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE p (smoker)")
        database.execute("INSERT INTO p VALUES (1)")
        query = small.to_sql("sqlite", table="p", reasons=3)
        assert database.execute(query).fetchone()[3:] == ("smoker", None, None)


def test_reasons_of_numbers_and_contradictions():
    ranges = {"visits": FeatureRange(1, 7, unit="times")}
    fitted = RiskScore(0, {"visits": 2}, feature_ranges=ranges)
    (reason,) = fitted.explain({"visits": 4}).reasons
    assert (reason.condition, reason.points, reason.cost) == ("4 times", 8, 6)
    items = score()
    raw = dict.fromkeys(NAMES, 0) | {"age >= 71": 1}
    contradiction = RiskScore(2, dict(items.points), items=items.items).explain(raw)
    assert "age >= 71" in [one.condition for one in contradiction.reasons]


def test_average_points():
    fitted = RiskScore(-3, {"a": 2, "b": -1})
    X = {"a": [1, 1, 0, 0], "b": [1, 0, 0, 0]}
    assert fitted.average_points(X) == {"a": 1.0, "b": -0.25}
    assert fitted.average_points(X, [1, 0, 0, 1]) == {"a": 1.0, "b": -0.5}
    with pytest.raises(ValueError, match="no row has a positive weight"):
        fitted.average_points(X, np.zeros(4))
    for average, error, message in (
        ({"a": 1.0}, ValueError, "average must have the mean points .* 'b'"),
        ({"a": 1.0, "b": 0.0, "c": 1.0}, ValueError, "'c'"),
        ({"a": 1.0, "b": float("nan")}, ValueError, "average of 'b'"),
        ([1.0, 2.0], TypeError, "average must be the mean points by feature"),
    ):
        with pytest.raises(error, match=message):
            fitted.explain({"a": 1, "b": 0}, average=average)
        with pytest.raises(error, match=message):
            fitted.to_python(reasons=1, average=average)
    with pytest.raises(ValueError, match="average is for reasons"):
        fitted.to_python(average={"a": 1.0, "b": 0.0})
    with pytest.raises(ValueError, match="reasons must be at least 1, or None for none, got 0"):
        fitted.to_sql(table="p", reasons=0)
    with pytest.raises(ValueError, match="pass table as well"):
        fitted.to_sql(reasons=1)


def test_explanations_name_the_score_on_the_sheet():
    fitted = RiskScore(1, {"exercise": -2, "smoker": 1})
    record = {"exercise": 1, "smoker": 0}
    assert str(fitted.explain(record)).startswith("Score -2: the risk")
    shown = fitted.with_layout(points="non-negative").explain(record)
    assert str(shown).startswith("Score -2 (0 on the sheet): the risk of outcome = 1 is 26.9%.")
    assert shown.score_on_sheet == 0


def test_reasons_state_all_values_that_nothing_tells_apart():
    raw = pd.DataFrame({"age": [30, 40, 70, 80, 999, np.nan]})
    encoder = ItemEncoder(
        thresholds={"age": [60]}, special_values={"age": [999]}, missing="indicator"
    ).fit(raw)
    score = RiskScore(-1, {"age >= 60": -2}).with_variables(encoder)
    for age in (30, 999, None):
        (reason,) = score.explain({"age": age}).reasons
        assert reason.condition == "< 60 or 999 or missing"
