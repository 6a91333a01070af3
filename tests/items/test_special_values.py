"""Special values: items of their own, out of the cut-offs, wherever a score is computed."""

from __future__ import annotations

import itertools
import json
import logging

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from export_targets import Pmml, identifier, run_javascript, run_python, run_sql
from riskslim import ItemEncoder, RiskScore, RiskSLIMClassifier, read
from riskslim.data import batches, summaries
from riskslim.data.summaries import ColumnSummary
from riskslim.exceptions import UnboundCertificateWarning
from riskslim.items import Item, RawVariable
from riskslim.items.cutoffs import equivalent_cutoffs
from riskslim.items.families import families
from riskslim.items.item import met_by_numbers

MONTHS = [3, 12, -9, 999, 24, 36, -7, 12, 999, 5]
RAW = pd.DataFrame({"months": MONTHS, "age": [30, 40, 50, 60, 70, -9, 35, 45, 55, 65]})


def fitted(special, **options):
    options = {"thresholds": {"months": [12, 24]}, "n_thresholds": 2, **options}
    return ItemEncoder(special_values=special, **options).fit(RAW)


def names(encoder):
    return [item.name for item in encoder.items_]


def test_each_has_an_item_and_meets_no_cutoff():
    encoder = fitted({"months": [-7, -9, 999]})
    items = encoder.transform(RAW)
    assert names(encoder)[:5] == [
        "months >= 12", "months >= 24", "months = -7", "months = -9", "months = 999",
    ]  # fmt: skip
    assert items["months >= 12"].tolist() == [0, 1, 0, 0, 1, 1, 0, 1, 0, 0]
    assert items["months = 999"].tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 1, 0]
    variable = encoder.variables_["months"]
    assert (variable.minimum, variable.maximum, variable.special) == (3, 36, (-7, -9, 999))
    assert (encoder.variables_["age"].minimum, encoder.variables_["age"].special) == (-9, ())


def test_groups_share_an_item():
    encoder = fitted({"months": [[-7, -9], 999]})
    assert names(encoder)[2:4] == ["months in {-7, -9}", "months = 999"]
    assert encoder.transform(RAW)["months in {-7, -9}"].tolist() == [0, 0, 1, 0, 0, 0, 1, 0, 0, 0]


def test_of_all_columns_those_that_occur_have_items():
    encoder = fitted([-7, -9, 999])
    assert [name for name in names(encoder) if "= -" in name] == [
        "months = -7", "months = -9", "age = -9",
    ]  # fmt: skip
    assert encoder.variables_["age"].minimum == 30
    later = pd.DataFrame({"months": [-9], "age": [999]})  # which no age in fit was
    assert not encoder.transform(later).filter(like="age").to_numpy().any()


@pytest.mark.parametrize("direction", [">=", "<="])
@pytest.mark.parametrize("kind", ["int8", "int64", "float32", "float64", "object", "Int64"])
def test_every_type_of_numbers(direction, kind):
    values = [3, 12, -9, 99, 24, 36, -7, 12, 99, 5]
    raw = pd.DataFrame({"x": pd.Series(values).astype(kind)})
    encoder = ItemEncoder(special_values=[-9, -7, 99], direction=direction).fit(raw)
    items = encoder.transform(raw)
    compare = np.greater_equal if direction == ">=" else np.less_equal
    plain = np.array(values)
    for item in encoder.items_:
        expected = plain == item.value
        if item.kind != "=":
            expected = compare(plain, item.value) & ~np.isin(plain, [-9, -7, 99])
        assert items[item.name].tolist() == expected.astype(int).tolist()


def test_missing_values_are_none_of_them():
    raw = pd.DataFrame({"x": [1.0, 2, np.nan, -9, 3, np.nan]})
    encoder = ItemEncoder(special_values=[-9], missing="indicator").fit(raw)
    assert names(encoder) == ["x >= 2", "x >= 3", "x = -9", "x is missing"]
    assert encoder.transform(raw)["x = -9"].tolist() == [0, 0, 0, 1, 0, 0]
    assert encoder.variables_["x"].n_missing == 2


def test_columns_of_two_values():
    raw = pd.DataFrame(
        {"flag": [0, 1, 1, -9, 0], "other": [0, 1, 0, 1, 0], "truth": [True] * 4 + [False]}
    )
    encoder = ItemEncoder(special_values=[-9]).fit(raw)
    assert names(encoder) == ["flag >= 1", "flag = -9", "other", "truth"]
    assert encoder.transform(raw)["flag >= 1"].tolist() == [0, 1, 1, 0, 0]


def test_levels_are_left_as_they_are():
    raw = pd.DataFrame({"code": [-9, 1, 2, 1], "sex": ["f", "m", "f", "-9"]})
    encoder = ItemEncoder(special_values=[-9], categorical=["code"]).fit(raw)
    assert names(encoder) == ["code = -9", "code = 1", "code = 2", "sex = -9", "sex = f", "sex = m"]


def test_thresholds_that_are_given_and_kept_numbers():
    encoder = fitted({"months": [999]}, thresholds={"months": [20]}, numeric=["age"])
    assert encoder.transform(RAW)["months >= 20"].sum() == 2
    assert encoder.variables_["age"].special == ()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"special_values": {"month": [1]}}, ValueError, "special_values names columns.*month"),
        ({"special_values": "-9"}, TypeError, "must be numbers such as"),
        ({"special_values": 9}, TypeError, "must be numbers such as"),
        ({"special_values": []}, ValueError, "must be numbers such as"),
        ({"special_values": {"months": [[]]}}, TypeError, "special_values of 'months'"),
        ({"special_values": [float("inf")]}, TypeError, "must be numbers"),
        ({"special_values": [True]}, TypeError, "must be numbers"),
        ({"special_values": [1, [1.0]]}, ValueError, "has 1 twice"),
        ({"special_values": {"age": [-9]}, "numeric": ["age"]}, ValueError,
         "named in numeric and in special_values: 'age'"),
        ({"special_values": {"age": [-9]}, "categorical": ["age"]}, ValueError,
         "named in categorical and in special_values: 'age'"),
        ({"special_values": [-9], "numeric": "passthrough"}, ValueError,
         r"special values.*'months' \(1 of 10 rows, first at row 2\), 'age' \(1 .*row 5\)"),
    ],
)  # fmt: skip
def test_bad_calls(options, error, message):
    with pytest.raises(error, match=message):
        ItemEncoder(**options).fit(RAW)


def test_columns_of_text_that_are_named():
    with pytest.raises(ValueError, match=r"levels, of which special values.*'sex'"):
        ItemEncoder(special_values={"sex": [1]}).fit(pd.DataFrame({"sex": ["f", "m"]}))


def test_numbers_that_32_bits_do_not_hold():
    raw = pd.DataFrame({"x": np.array([0.1, 1, 2], dtype=np.float32)})
    with pytest.raises(ValueError, match=r"does not hold exactly.*'x'.*float64"):
        ItemEncoder(special_values=[0.1]).fit(raw)
    ItemEncoder(special_values=[0.3]).fit(raw)  # which is none of them


def test_items_state_them(caplog):
    item = Item.of("x", ">=", 5, special=(-9, 7))
    assert item.exceptions == (7,)
    assert repr(item).endswith("value=5, special=(-9, 7))")
    assert item != Item.of("x", ">=", 5)
    assert met_by_numbers(item, np.array([4, 5, 7, -9])).tolist() == [False, True, False, False]
    for wrong in ((float("nan"),), ["7"], ("7",)):
        with pytest.raises(ValueError, match="special values of an item"):
            Item.of("x", ">=", 5, special=wrong)
    with pytest.raises(ValueError, match="special values of an item"):
        Item("x = 1", "x", "=", 1, special=(1,))
    with caplog.at_level(logging.WARNING):
        fitted({"months": [-7, 4444]})
    assert "left out 1 items that are constant in the rows of fit: 'months = 4444'" in caplog.text


def test_variables_state_them():
    variable = RawVariable("x", "numeric", 0, 10, special=(-9, 99))
    assert RawVariable.from_plain(json.loads(json.dumps(variable.to_plain()))) == variable
    values = np.array([-9.0, 5, 99, 11, np.nan])
    assert variable.outside(values).tolist() == [False, False, False, True, False]
    assert "here 5 to 11" in variable.remark(values)
    assert not variable.far(np.array([99.0, -9.0]))
    for wrong in ({"special": (1, 1)}, {"kind": "boolean", "minimum": None, "maximum": None}):
        with pytest.raises(ValueError, match="special values are for numeric"):
            RawVariable(
                **{
                    "name": "x",
                    "kind": "numeric",
                    "minimum": 0,
                    "maximum": 1,
                    "special": (1,),
                    **wrong,
                }
            )


def test_conditions_that_exclude_each_other():
    items = [
        Item.of("x", ">=", 5, special=(-9, 7)),
        Item.of("x", ">=", 8, special=(-9, 7)),
        Item.of("x", "=", 7),
        Item.of("x", "in", (-9, 4.5)),
    ]
    (family,) = families([item.name for item in items], {item.name: item for item in items})
    values = np.array([*np.arange(-10, 12, 0.5)])
    found = {
        tuple(map(int, row))
        for row in zip(*(met_by_numbers(i, values) for i in items), strict=True)
    }
    assert set(family.patterns) == found


# ---------------------------------------------------------------------------------------------
# Scores
# ---------------------------------------------------------------------------------------------


def a_score(direction=">="):
    raw = RAW.assign(y=[0, 1, 1, 0, 0, 1, 1, 0, 0, 1])
    encoder = ItemEncoder(
        special_values={"months": [[-7, -9], 999], "age": [-9, 45]}, direction=direction,
        thresholds={"months": [12], "age": [44]},
    ).fit(raw[["months", "age"]])  # fmt: skip
    points = dict(zip(names(encoder), (3, -2, 1, 2, 5, -4), strict=False))
    items = {item.name: item for item in encoder.items_ if item.name in points}
    return encoder, RiskScore(-1, points, items=items, variables=encoder.variables_)


@pytest.mark.parametrize("direction", [">=", "<="])
def test_all_forms_of_a_score_say_the_same(direction, sqlite_and_duck, javascript):
    encoder, score = a_score(direction)
    records = [
        {"months": months, "age": age}
        for months, age in itertools.product(
            [-9, -7, 3, 11, 12, 12.5, 999, 40], [-9, 43, 44, 45, 46.5]
        )
    ]
    raw = pd.DataFrame(records)
    expected = (
        (encoder.transform(raw)[list(score.points)] * pd.Series(score.points)).sum(axis=1).tolist()
    )
    saved = RiskScore.from_json(score.to_json())
    assert saved == score
    assert json.loads(score.to_json())["version"] == 6
    assert saved.score_samples(raw).tolist() == expected
    risks = saved.predict_proba(raw)[:, 1].tolist()
    assert [run_python(saved)(record) for record in records] == list(
        zip(risks, expected, strict=True)
    )
    found, totals = zip(*run_javascript(javascript, saved, records), strict=True)
    assert [*totals] == expected
    assert found == pytest.approx(risks, rel=1e-14)
    outputs = [Pmml(saved.to_pmml()).predict(record) for record in records]
    assert [one["score"] for one in outputs] == expected
    for database, dialect in sqlite_and_duck:
        columns = ", ".join(f"{identifier(name)} DOUBLE" for name in raw)
        database.execute(f"CREATE TABLE patients (position INTEGER, {columns})")
        rows = [(k, *record.values()) for k, record in enumerate(records)]
        database.executemany("INSERT INTO patients VALUES (?, ?, ?)", rows)
        found = run_sql(database, saved, dialect)
        assert [total for _, total in found] == expected
        assert [risk for risk, _ in found] == pytest.approx(risks, rel=1e-13)


@pytest.fixture
def sqlite_and_duck():
    import sqlite3
    from contextlib import closing

    import duckdb

    with closing(sqlite3.connect(":memory:")) as one, closing(duckdb.connect()) as other:
        yield [(one, "sqlite"), (other, "duckdb")]


@pytest.fixture(scope="module")
def javascript():
    from contextlib import closing

    from py_mini_racer import MiniRacer

    with closing(MiniRacer()) as context:
        yield context


def test_a_sheet_says_what_is_no_number():
    _, score = a_score()
    assert "months = -7, -9 or 999 is no number: 'months >= 12' counts as no." in str(score)
    assert "age = -9 or 45 is no number: 'age >= 44' counts as no." in str(score)


def test_older_versions_have_none():
    plain = json.loads(a_score()[1].to_json())
    with pytest.raises(ValueError, match="version 4 of the format has no 'special' values"):
        RiskScore.from_json(json.dumps({**plain, "version": 4}))


def test_items_and_variables_that_differ_are_refused():
    variable = RawVariable("x", "numeric", 0, 9, special=(-9,))
    with pytest.raises(ValueError, match="state the same of both"):
        RiskScore(0, {"x >= 5": 1}, items=[Item.of("x", ">=", 5)], variables={"x": variable})
    with pytest.raises(ValueError, match="cannot be computed from the variable 'x'"):
        RiskScore(0, {"x = 5": 1}, variables={"x": variable})
    score = RiskScore(0, {"x >= 5": 1, "x = -9": 2}, variables={"x": variable})  # by their names
    assert score.items["x >= 5"].special == (-9,)
    assert score.score_samples({"x": [-9, 4, 7]}).tolist() == [2, 0, 1]


@pytest.mark.slow
def test_a_classifier_from_end_to_end(tmp_path):
    rng = np.random.default_rng(3)
    months = rng.choice([-9, 999, *range(1, 40)], 600, p=[0.15, 0.15] + [0.7 / 39] * 39)
    raw = pd.DataFrame({"months": months, "age": rng.integers(20, 90, 600)})
    risk = np.where(months == 999, 0.9, np.where(months == -9, 0.1, (months > 20) * 0.6 + 0.2))
    y = (rng.random(600) < risk).astype(int)
    encoder = ItemEncoder(special_values={"months": [-9, 999]}, n_thresholds=4)
    model = RiskSLIMClassifier(items=encoder, max_size=4).fit(raw, y)
    score = model.risk_score_
    assert "months = 999" in score.points
    assert np.array_equal(score.predict_proba(raw), model.predict_proba(raw))
    for name, one in score.cutoff_ranges.items():
        plain = np.unique(raw[score.items[name].variable])
        assert one.lower not in (-9, 999), name
        assert equivalent_cutoffs(plain, ">=", one.upper), name
    assert RiskScore.from_json(score.to_json()).certificate == score.certificate is not None
    changed = json.loads(score.to_json())
    stated = [one["item"] for one in changed["points"]] + changed["variables"]
    for one in stated:
        one.pop("special", None)
    changed["points"] = [one for one in changed["points"] if one["item"]["kind"] == ">="]
    with pytest.warns(UnboundCertificateWarning, match="was changed since"):
        assert RiskScore.from_json(json.dumps(changed)).certificate is None
    score.report(tmp_path / "report.html", raw, y)
    page = (tmp_path / "report.html").read_text()
    assert "Special values</th>" in page
    assert ">-9; 999</td>" in page


# ---------------------------------------------------------------------------------------------
# Rows batch by batch
# ---------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Rows in two files, with a column of many values and one of few."""
    monkeypatch.setattr(batches, "BATCH_ROWS", 512)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({
        "x": np.where(rng.random(3000) < 0.1, 999.5, rng.normal(10, 3, 3000)),
        "k": rng.choice([-9, -8, 1, 2, 3, 200], 3000).astype(np.int16),
    })  # fmt: skip
    table.loc[7, "x"] = -5.0  # one row alone has it
    table["y"] = (rng.random(3000) < 0.2 + 0.3 * (table["x"] > 11)).astype(int)
    for k in range(2):
        part = pa.Table.from_pandas(table[1500 * k : 1500 * (k + 1)], preserve_index=False)
        pq.write_table(part, tmp_path / f"{k}.parquet")
    return tmp_path, table


@pytest.mark.parametrize("most", [2**16, 100])
def test_files_of_any_size(folder, most, monkeypatch):
    path, table = folder
    monkeypatch.setattr("riskslim.rows.reading.MAX_DISTINCT", most)
    options = {"special_values": {"x": [999.5, -5], "k": [[-9, -8], 200]}, "n_thresholds": 3}
    encoder = ItemEncoder(**options)
    data = read(path, "y", items=encoder)
    whole = ItemEncoder(**options).fit(table[["x", "k"]])
    assert names(encoder) == names(whole)
    assert encoder.items_ == whole.items_
    for name in ("x", "k"):
        one, other = encoder.variables_[name], whole.variables_[name]
        assert (one.minimum, one.maximum, one.special) == (
            other.minimum,
            other.maximum,
            other.special,
        )
    counts = np.ones(data.n_rows) if data.counts is None else data.counts
    items = whole.transform(table[["x", "k"]])
    assert [int(data.column(j) @ counts) for j in range(data.n_features)] == items.sum().tolist()


@pytest.mark.parametrize("kind", ["int8", "int32", "float64"])
@pytest.mark.parametrize("weighted", [False, True])
def test_summaries_leave_them_out_of_the_range(kind, weighted):
    values = np.array([3, -9, 5, 99, 4, 0, 99]).astype(kind)
    weights = np.array([1, 0, 1, 1, 0, 1, 1.0]) if weighted else None
    parts = [ColumnSummary("x", pa.from_numpy_dtype(kind), 100, (-9, 99, 7)) for _ in range(2)]
    parts[0].add(pa.array(values[:4]), None if weights is None else weights[:4], 0)
    missing = pa.array(values[4:], mask=np.array([False, True, False]))
    parts[1].add(missing, None if weights is None else weights[4:], 0)
    parts[0].take_over(parts[1])
    assert (parts[0].minimum, parts[0].maximum) == (3, 5)
    assert parts[0].special_found == ([99] if weighted else [-9, 99])


def test_collections(folder):
    dd = pytest.importorskip("dask.dataframe")
    _, table = folder
    options = {"special_values": [999.5, -5, -9], "n_thresholds": 2}
    frame = dd.from_pandas(table, npartitions=3)
    encoder = ItemEncoder(**options)
    read(frame[["x", "k"]], frame["y"], items=encoder)
    assert encoder.items_ == ItemEncoder(**options).fit(table[["x", "k"]]).items_
    assert summaries.MAX_DISTINCT > 3000
