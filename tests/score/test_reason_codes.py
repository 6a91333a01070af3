"""Ranked reasons: in explanations, and the same in exports."""

from __future__ import annotations

import itertools
import re
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from command_line import run, usage_error
from riskslim import ItemEncoder, RiskScore
from riskslim.data.feature_ranges import FeatureRange
from riskslim.exports import SQL_DIALECTS
from riskslim.items import read_items
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


SHIFTED = RiskScore(1, {"exercise": -2, "age >= 60": -1, "smoker": 1})


def test_explanations_are_in_the_points_of_the_sheet():
    """Fitted points beside a total of the sheet do not add up to it."""
    record = {"exercise": 1, "smoker": 0, "age >= 60": 0}
    assert str(SHIFTED.explain(record)).startswith("Score -2: the risk")
    found = SHIFTED.with_layout(points="non-negative").explain(record, 3)
    assert found.score == 1
    assert (
        str(found)
        == """\
Score 1: the risk of outcome = 1 is 26.9%.
Points by item:
  +1  age < 60: yes (1 point)
  +0  exercise: yes (2 points for no)
  +0  smoker: no (1 point)
What would change it, all else equal:
  exercise: no in place of yes (score 3, risk 73.1%)
  smoker: yes in place of no (score 2, risk 50.0%)
  age < 60: no in place of yes (score 0, risk 11.9%)
Fewest changes that lead to a score of at least 3 (score 3, risk 73.1%):
  exercise: no in place of yes"""
    )


def test_explanations_have_the_rows_and_labels_of_a_sheet_by_variable():
    ranges = {"visits": FeatureRange(0, 7)}
    points = {"age >= 60": 3, "smoker": 2, "age >= 40": -1, "visits": 1}
    items = read_items(["age >= 60", "age >= 40"])
    fitted = RiskScore(-4, points, items=items, feature_ranges=ranges)
    labels = {
        "age": {"text": "Age", "unit": "years"},
        "smoker": {"text": "Smoking", "levels": {"yes": "smokes", "no": "does not"}},
        "visits": {"text": "Visits", "unit": "times"},
    }
    fitted = fitted.with_labels(labels).with_layout(by="variable", points="non-negative")
    found = fitted.explain({"age >= 60": 0, "smoker": 1, "age >= 40": 1, "visits": 3}, 5)
    assert (
        str(found)
        == """\
Score 5: the risk of outcome = 1 is 50.0%.
Points by variable:
  +3  Visits: 3 times (x 1 point per times)
  +2  Smoking: smokes
  +0  Age (years): 40 to < 60
What would change it, all else equal:
  Visits: 7 times in place of 3 times (score 9, risk 98.2%)
  Age (years): >= 60 in place of 40 to < 60 (score 8, risk 95.3%)
  Visits: 0 times in place of 3 times (score 2, risk 4.7%)
  Smoking: does not in place of smokes (score 3, risk 11.9%)
  Age (years): < 40 in place of 40 to < 60 (score 6, risk 73.1%)
Fewest changes that lead to a score below 5 (score 3, risk 11.9%):
  Smoking: does not in place of smokes"""
    )


def _printed(explained):
    """Total, points of the rows, and scores with their risks, as printed."""
    lines = str(explained).splitlines()
    total = float(re.match("Score (.*): the risk", lines[0])[1])
    points = [float(line.split()[0]) for line in lines if re.match(r" +[+-]\d", line)]
    reached = re.findall(r"\(score (\S+), risk (\S+)\)", str(explained))
    return total, points, reached


@pytest.mark.parametrize("by", ["item", "variable"])
@pytest.mark.parametrize("shown", ["fitted", "non-negative"])
def test_printed_points_add_up_to_the_printed_total_and_to_the_sheet(by, shown):
    rng = np.random.default_rng(5)
    for _ in range(25):
        worths = (rng.integers(1, 6, len(NAMES)) * rng.choice([-1, 1], len(NAMES))).tolist()
        fitted = score(worths).with_layout(by=by, points=shown)
        sheet = fitted.sheet(max_rows=None)
        risks = {row.score: row.risk for row in sheet.risks}
        rows = {line.label.removesuffix(": no") for line in sheet.lines}
        rows |= {one.label for one in sheet.variables}
        record = RECORDS[rng.integers(len(RECORDS))]
        explained = fitted.explain(record)
        assert explained.score == fitted.score_samples(record)[0]
        total, points, reached = _printed(explained)
        assert sum(points) == total == explained.score
        reached.append((f"{total:g}", re.search(r"outcome = 1 is (\S+)\.\n", str(explained))[1]))
        assert len(explained.rows) == len(rows) == len(points)
        assert all(any(str(one).startswith(label) for label in rows) for one in explained.rows)
        for other, risk in reached:
            assert risks.get(other) == risk or risk in ("<0.1%", ">99.9%")
        assert shown == "fitted" or min(points) >= 0


def test_reasons_state_all_values_that_nothing_tells_apart():
    raw = pd.DataFrame({"age": [30, 40, 70, 80, 999, np.nan]})
    encoder = ItemEncoder(
        thresholds={"age": [60]}, special_values={"age": [999]}, missing="indicator"
    ).fit(raw)
    score = RiskScore(-1, {"age >= 60": -2}).with_variables(encoder)
    for age in (30, 999, None):
        (reason,) = score.explain({"age": age}).reasons
        assert reason.condition == "< 60 or 999 or missing"


def test_a_known_number_is_neither_missing_nor_special():
    raw = pd.DataFrame({"glucose": [0, 90, 110, 150, np.nan, 120], "w": [*"abcab", None]})
    encoder = ItemEncoder(
        thresholds={"glucose": [100, 146]}, special_values={"glucose": [0]}, missing="indicator"
    ).fit(raw)
    points = {"glucose >= 100": 4, "glucose >= 146": 4, "w = a": 1}
    score = RiskScore(-5, points, feature_names=encoder.get_feature_names_out().tolist())
    score = score.with_variables(encoder).with_layout(by="variable")
    unknown = "< 100 or 0 or missing"
    # What is no number is said as before: items alone do not tell these apart.
    expected = {0: unknown, 90: "< 100", 110: "100 to 145", np.nan: unknown}
    for value, words in expected.items():
        explained = score.explain({"glucose": value, "w": "b"})
        (found,) = [row.value for row in explained.rows if row.item == "glucose"]
        assert found == words
        (to_most,) = [one for one in explained.changes if "glucose: >= 146" in one.text]
        assert to_most.text == f"glucose: >= 146 in place of {words}"
    rows = score.explain_rows(raw[:5])
    assert [row.value for one in rows for row in one.rows if row.item == "glucose"] == [
        unknown, "< 100", "100 to 145", ">= 146", unknown,
    ]  # fmt: skip
    # Reasons are those of exports, which see items.
    falling = RiskScore(-5, {"glucose >= 100": -4}, feature_names=score.feature_names)
    (reason,) = falling.with_variables(encoder).explain({"glucose": 90, "w": "b"}).reasons
    assert reason.condition == unknown
    # Of items that are given, nothing more is known.
    given = score.explain({**dict.fromkeys(points, 0), "w = a": 1})
    assert unknown in {row.value for row in given.rows}


def lender():
    """A score in which no bureau record, and no answer, have the fewest points."""
    raw = pd.DataFrame(
        {
            "months": [-9, 4, 30, 90, 12, 50, -9, 70],
            "asked": [0, 1, 2, 5, np.nan, 1, 3, 0],
            "job": ["a", "b", None, "a", "b", "a", "b", None],
        }
    )
    encoder = ItemEncoder(
        thresholds={"months": [24, 60], "asked": [2]}, special_values={"months": [-9]},
        missing="indicator",
    ).fit(raw)  # fmt: skip
    points = {
        "months = -9": -4, "months >= 24": -1, "months >= 60": -1,
        "asked >= 2": 2, "asked is missing": -3, "job is missing": -2, "job = a": 1,
    }  # fmt: skip
    names = encoder.get_feature_names_out().tolist()
    return raw, RiskScore(1, points, feature_names=names).with_variables(encoder)


@pytest.mark.parametrize("best", ["measured", "any"])
@pytest.mark.parametrize("labelled", [False, True])
def test_what_cannot_be_aimed_at_is_no_reference(best, labelled):
    """With no bureau record as the best, months were the first reason of most applicants."""
    raw, fitted = lender()
    if labelled:  # of features with labels of their own
        fitted = fitted.with_labels({"job is missing": "Job not stated"})
    least = {"months": (-2, -4), "asked": (0, -3), "job": (0, -2)}
    worths = pd.DataFrame(
        {
            "months": np.select(
                [raw.months == -9, raw.months >= 60, raw.months >= 24], [-4, -2, -1]
            ),
            "asked": np.select([raw.asked.isna(), raw.asked >= 2], [-3, 2]),
            "job": np.select([raw.job.isna(), raw.job == "a"], [-2, 1]),
        }
    )
    costs = worths - pd.Series({name: ends[best == "any"] for name, ends in least.items()})
    namespace: dict = {}
    exec(fitted.to_python(reasons=3, best=best), namespace)
    with closing(sqlite3.connect(":memory:")) as database:
        raw.to_sql("p", database, index=False)
        query = fitted.to_sql("sqlite", table="p", reasons=3, best=best)
        of_rows = pd.read_sql(query, database)[["reason_1", "reason_2", "reason_3"]]
    for k, explained in enumerate(fitted.explain_rows(raw, best=best)):
        found = {one.variable: one.cost for one in explained.reasons}
        if not labelled:
            assert found == {name: cost for name, cost in costs.iloc[k].items() if cost > 0}
        assert namespace["predict_risk"](raw.iloc[k].to_dict())[2] == list(found)
        assert of_rows.iloc[k].dropna().tolist() == list(found)
    default = fitted.explain(raw.iloc[3]).reasons
    assert (default == fitted.explain(raw.iloc[3], best=best).reasons) == (best == "measured")
    assert (fitted.to_python(reasons=2) == fitted.to_python(reasons=2, best=best)) == (
        best == "measured"
    )


def test_bands_know_what_is_measured():
    _, fitted = lender()
    found = {
        f"{one.variable} {band.condition}": band.is_measured
        for one in fitted.bands()
        for band in one.bands
    }
    unmeasured = {name for name, is_measured in found.items() if not is_measured}
    assert unmeasured == {"months -9", "asked missing", "job missing"}
    # Without thresholds, special values are levels.
    special = {"x": RawVariable("x", "numeric", 0, 9, special=(-9, -8), n_samples=9)}
    for worth, unmeasured in ((-2, {"-9", "-8"}), (-1, {"-9, -8"})):
        score = RiskScore(0, {"x = -9": -1, "x = -8": worth}, variables=special)
        (one,) = score.bands()
        assert {band.condition for band in one.bands if not band.is_measured} == unmeasured
        assert (one.least, one.least_measured) == (worth, 0)


def test_best_and_average_are_two_ways():
    _, fitted = lender()
    average = dict.fromkeys(fitted.points, 0.0)
    for arguments, message in (
        ({"best": "any"}, "best is for reasons"),
        ({"reasons": 2, "best": "any", "average": average}, "average and best are two ways"),
        ({"reasons": 2, "best": "least"}, "best must be 'measured' or 'any', got 'least'"),
    ):
        with pytest.raises(ValueError, match=message):
            fitted.to_python(**arguments)
    with pytest.raises(ValueError, match="best must be 'measured' or 'any'"):
        fitted.explain({"months": 3, "asked": 1, "job": "a"}, best="least")


def test_what_is_fixed_is_no_reason(tmp_path):
    """In explanations, the Python function, queries and on the command line alike."""
    raw, fitted = lender()
    raw = raw.iloc[:40]
    namespace: dict = {}
    exec(fitted.to_python(reasons=3, fixed=["months"]), namespace)
    with closing(sqlite3.connect(":memory:")) as database:
        raw.to_sql("p", database, index=False)
        query = fitted.to_sql("sqlite", table="p", reasons=3, fixed=["months"])
        of_rows = pd.read_sql(query, database)[["reason_1", "reason_2", "reason_3"]]
    average = fitted.average_points(raw)
    plain = fitted.explain_rows(raw, average=average)
    for k, explained in enumerate(fitted.explain_rows(raw, fixed=["months"], average=average)):
        names = [one.variable for one in explained.reasons]
        assert names == [one.variable for one in plain[k].reasons if one.variable != "months"]
        assert "months" not in [one.variable for one in explained.reasons_against_average]
        assert namespace["predict_risk"](raw.iloc[k].to_dict())[2] == names
        assert of_rows.iloc[k].dropna().tolist() == names
        assert explained.score == plain[k].score
    assert any("months" in [one.variable for one in explained.reasons] for explained in plain)
    # One of several conditions on a variable: the others can change.
    one = next(name for name in fitted.points if name.startswith("months >="))
    assert fitted.explain_rows(raw, fixed=[one])[0].reasons == plain[0].reasons
    with pytest.raises(ValueError, match="none is left to be a reason"):
        fitted.to_python(reasons=1, fixed=["months", "asked", "job"])
    with pytest.raises(ValueError, match="fixed is for reasons"):
        fitted.to_python(fixed=["months"])
    with pytest.raises(ValueError, match="fixed names what the score does not have: 'mont'"):
        fitted.to_sql(table="p", reasons=2, fixed=["mont"])
    fitted.save(tmp_path / "s.json")
    command = ["export", tmp_path / "s.json", "--format", "python", "--fixed", "months"]
    assert run(*command, "--reasons", 3).stdout == fitted.to_python(reasons=3, fixed=["months"])
    assert "--average-of, --best and --fixed need --reasons" in usage_error(*command)
