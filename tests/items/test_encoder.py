"""Items: what their names say, and that the encoder makes of raw records what they say."""

from __future__ import annotations

import datetime
import logging
import math
import pickle
import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from riskslim import (
    CoefficientSet,
    ItemEncoder,
    RiskScore,
    RiskSLIMClassifier,
    TrainingData,
    at_most,
    monotone,
    variable,
)
from riskslim.items.item import Item, source_variable


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("age >= 60", "age"),
        ("age > 60", "age"),
        ("age>=60", "age"),
        ("bmi <= 18.5", "bmi"),
        ("bmi < 18.5", "bmi"),
        ("age ≥ 60", "age"),
        ("sex = female", "sex"),
        ("sex == female", "sex"),
        ("sex != female", "sex"),
        ("blood pressure >= -1.5e3", "blood pressure"),
        ("age is missing", "age"),
        ("age is not missing", "age"),
        ("country in {A, B}", "country"),
        ("country not in {A, B}", "country"),
        ("age in [40, 60)", "age"),
        ("40 <= age < 60", "age"),
        ("grade = A >= B", "grade"),
        ("MaxFrequencyLPD >= 0.5Hz", "MaxFrequencyLPD"),
        ("age", "age"),
        (" age ", "age"),
        ("days in hospital", "days in hospital"),
        ("report is missing pages", "report is missing pages"),
        ("is missing", "is missing"),
        (">= 60", ">= 60"),
        ("risk >", "risk >"),
        ("<10", "<10"),
        ("0 >= 5", "0"),
        ("42", "42"),
        ("", ""),
    ],
)
def test_the_source_of_an_item(name, variable):
    assert source_variable(name) == variable


def expected_failures(estimator):
    if not sklearn.__version__.startswith("1.6."):
        return {}
    found = {}
    if estimator.missing == "error":
        found["check_positive_only_tag_during_fit"] = (
            "the check of 1.6 subtracts a mean from integers"
        )
    if estimator.thresholds == "supervised":
        found["check_sample_weight_equivalence_on_dense_data"] = (
            "the check of 1.6 makes three labels two by the first of the shuffled rows"
        )
    return found


# Checks transform rows that had no weight in fit, which are none of those that the ranges are of.
@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")
@parametrize_with_checks(
    [
        ItemEncoder(),
        ItemEncoder(n_thresholds=3, direction="<="),
        ItemEncoder(missing="indicator", handle_unknown="ignore", drop=None),
        ItemEncoder(numeric="passthrough"),
        ItemEncoder(thresholds="supervised", special_values=[-9]),
    ],
    expected_failed_checks=expected_failures,
)
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


# ---------------------------------------------------------------------------------------------
# Values are what the names say
# ---------------------------------------------------------------------------------------------


def is_missing(cell):
    return cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell))


def cell_oracle(item: Item, column: str, cell):
    """What one cell is by the words of its item."""
    name, text = item.name, str(column)
    if name == f"{text} is missing":
        return int(is_missing(cell))
    if is_missing(cell):
        return 0
    if name == text:
        return cell
    operator, value = name.removeprefix(f"{text} ").split(" ", 1)
    if operator == ">=":
        return int(cell >= float(value))
    if operator == "<=":
        return int(cell <= float(value))
    if operator == "=":
        return int(str(cell) == value)
    assert operator == "in"
    return int(str(cell) in value[1:-1].split(", "))


def oracle(encoder, rows, columns):
    """Items of rows, cell by cell, each about the column that its name begins with."""
    encoded = []
    for item in encoder.items_:
        (column,) = (c for c in columns if item.name == c or item.name.startswith(f"{c} "))
        encoded.append([cell_oracle(item, column, row[columns.index(column)]) for row in rows])
    return np.array(encoded).T


tables = st.integers(2, 30).flatmap(
    lambda n: st.fixed_dictionaries(
        {
            "age": st.lists(st.integers(-5, 90), min_size=n, max_size=n),
            "lab": st.lists(
                st.one_of(st.none(), st.floats(-10, 10).map(lambda v: round(v, 1) + 0.0)),
                min_size=n, max_size=n,
            ),
            "sex": st.lists(st.sampled_from(["f", "m"]), min_size=n, max_size=n),
            "site": st.lists(
                st.one_of(st.none(), st.sampled_from("ABCDE")), min_size=n, max_size=n
            ),
            "smoker": st.lists(st.booleans(), min_size=n, max_size=n),
        }
    )
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")
@settings(max_examples=40, deadline=None)
@given(
    table=tables.filter(lambda table: all(set(table[name]) != {None} for name in table)),
    new=tables,
    direction=st.sampled_from([">=", "<="]),
    n_thresholds=st.integers(1, 6),
    min_frequency=st.sampled_from([None, 2, 0.3]),
    drop=st.sampled_from(["if_binary", None]),
    library=st.sampled_from(["pandas", "polars", "pyarrow"]),
)
def test_items_are_what_their_names_say(
    table, new, direction, n_thresholds, min_frequency, drop, library
):
    encoder = ItemEncoder(
        n_thresholds=n_thresholds, direction=direction, min_frequency=min_frequency, drop=drop,
        missing="indicator", handle_unknown="ignore",
    )  # fmt: skip
    X = nw.from_dict(table, backend=library).to_native()
    try:
        encoder.fit(X)
    except ValueError as error:
        assert "all columns are constant" in str(error)  # noqa: PT017
        assert all(len(set(map(str, values))) == 1 for values in table.values())
        return
    for some in (table, {name: new[name] for name in table}):
        columns, rows = list(some), list(zip(*some.values(), strict=True))
        gaps = [c for c in columns if c not in ("lab", "site") or f"{c} is missing" in
                encoder.get_feature_names_out() or None not in some[c]]  # fmt: skip
        frame = nw.from_dict(some, backend=library).to_native()
        # In fit these were columns of yes and no.
        doubtful = [
            column
            for column in ("age", "lab")
            if {*table[column]} - {None} == {0, 1} and not {*some[column]} <= {None, 0, 1}
        ]
        if doubtful:
            with pytest.raises(
                ValueError, match=r"Columns with (missing values|values other than)"
            ):
                encoder.transform(frame)
            continue
        if len(gaps) < len(columns):
            with pytest.raises(ValueError, match="Columns with missing values"):
                encoder.transform(frame)
            continue
        result = nw.from_native(encoder.transform(frame))
        assert result.columns == [item.name for item in encoder.items_]
        assert result.implementation.value == library
        np.testing.assert_array_equal(result.to_numpy(), oracle(encoder, rows, columns))
        assert {str(kind) for kind in result.schema.values()} == {"Int8"}
    for column, names in encoder.groups_.items():
        assert {source_variable(name) for name in names} == {column}
        counts = sum(name.startswith(f"{column} ") and " is " not in name for name in names)
        if column in ("age", "lab"):
            assert counts <= max(n_thresholds, 1)


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.integers(0, 12), min_size=2, max_size=60),
    n=st.integers(1, 8),
    direction=st.sampled_from([">=", "<="]),
)
def test_thresholds_lie_at_the_quantiles(values, n, direction):
    sign = 1 if direction == ">=" else -1
    rows = sorted(sign * value for value in values)
    distinct = sorted(set(rows))
    if distinct in ([0, 1], [-1, 0]) or len(distinct) == 1:
        return
    if len(distinct) <= n + 1:
        expected = distinct[1:]
    else:
        first = rows.count(distinct[0])
        if first * (n + 1) < len(rows):
            ranks = [math.ceil(k * len(rows) / (n + 1)) for k in range(1, n + 1)]
        else:
            rows = rows[first:]
            ranks = [max(1, math.ceil(k * len(rows) / n)) for k in range(n)]
        expected = sorted({max(rows[rank - 1], distinct[1]) for rank in ranks})
    encoder = ItemEncoder(n_thresholds=n, direction=direction).fit(pd.DataFrame({"v": values}))
    assert [item.value for item in encoder.items_] == sorted(sign * v for v in expected)
    assert not encoder.constant_items_


@settings(max_examples=50, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from("ABC"), st.integers(0, 3)),
        min_size=2, max_size=30,
    ),
    factor=st.sampled_from([1, 0.1, 1 / 3]),
)  # fmt: skip
def test_weights_count_like_repeated_rows(rows, factor):
    weighted = pd.DataFrame(rows, columns=["v", "level", "weight"])
    repeated = weighted.loc[weighted.index.repeat(weighted["weight"])]
    encoder = ItemEncoder(n_thresholds=3, min_frequency=0.2)
    columns = ["v", "level"]
    try:
        expected = clone(encoder).fit(repeated[columns]).items_
    except ValueError:
        with pytest.raises(ValueError, match=r"0 sample|constant|zero|at least one"):
            encoder.fit(weighted[columns], sample_weight=weighted["weight"] * factor)
        return
    encoder.fit(weighted[columns], sample_weight=weighted["weight"] * factor)
    assert encoder.items_ == expected


# ---------------------------------------------------------------------------------------------
# Items and their names
# ---------------------------------------------------------------------------------------------

PATIENTS = pd.DataFrame(
    {
        "age": [30, 45, 60, 75],
        "bmi": [18.5, 22.25, 31.0, 40.5],
        "sex": ["female", "male", "male", "female"],
        "ward": ["A", "B", "C", "A"],
        "smoker": [True, False, False, True],
        "code": [0, 1, 1, 0],
    },
    index=[7, 5, 3, 1],
)


def names(X, **parameters):
    return ItemEncoder(**parameters).fit(X).get_feature_names_out().tolist()


def test_the_items_of_every_kind_of_column():
    assert names(PATIENTS) == [
        "age >= 45", "age >= 60", "age >= 75", "bmi >= 22.25", "bmi >= 31", "bmi >= 40.5",
        "sex = male", "ward = A", "ward = B", "ward = C", "smoker", "code",
    ]  # fmt: skip
    encoder = ItemEncoder(
        thresholds={"age": [60, 50, 50.0], "bmi": 1},
        direction={"bmi": "<="},
        categorical=["code"],
        min_frequency=2,
        drop=None,
    ).fit(PATIENTS)
    assert [(item.name, item.variable, item.kind, item.value) for item in encoder.items_] == [
        ("age >= 50", "age", ">=", 50),
        ("age >= 60", "age", ">=", 60),
        ("bmi <= 31", "bmi", "<=", 31.0),
        ("sex = female", "sex", "=", "female"),
        ("sex = male", "sex", "=", "male"),
        ("ward = A", "ward", "=", "A"),
        ("ward in {B, C}", "ward", "in", ("B", "C")),
        ("smoker", "smoker", "boolean", None),
        ("code = 0", "code", "=", 0),
        ("code = 1", "code", "=", 1),
    ]
    assert encoder.groups_ == {
        "age": ("age >= 50", "age >= 60"),
        "bmi": ("bmi <= 31",),
        "sex": ("sex = female", "sex = male"),
        "ward": ("ward = A", "ward in {B, C}"),
        "smoker": ("smoker",),
        "code": ("code = 0", "code = 1"),
    }
    assert at_most(1, encoder.groups_["age"]).upper == 1
    items = encoder.transform(PATIENTS)
    assert items.index.tolist() == [7, 5, 3, 1]
    assert items["ward in {B, C}"].tolist() == [0, 1, 1, 0]


def test_a_column_that_is_an_item_already_belongs_to_its_variable():
    X = pd.DataFrame({"age >= 60": [True, False], "age": [70, 50]})
    encoder = ItemEncoder().fit(X)
    assert encoder.groups_ == {"age": ("age >= 60", "age >= 70")}
    with pytest.raises(
        ValueError, match="Items of several columns have the same name: 'age >= 60'"
    ):
        ItemEncoder(thresholds={"age": [60]}).fit(X)


def test_a_column_of_mostly_one_value_has_thresholds_above_it():
    X = pd.DataFrame({"count": [0] * 90 + list(range(1, 11))})
    assert names(X, n_thresholds=2) == ["count >= 1", "count >= 5"]
    assert names(-X, n_thresholds=2, direction="<=") == ["count <= -5", "count <= -1"]


def test_numbers_stay_as_they_are_where_that_is_wanted():
    encoder = ItemEncoder(numeric=["bmi"], thresholds={"age": [60]}).fit(PATIENTS)
    items = encoder.transform(PATIENTS)
    assert encoder.items_[1] == Item("bmi", "bmi", "numeric")
    assert items["bmi"].tolist() == PATIENTS["bmi"].tolist()
    assert items.dtypes.drop("bmi").unique().tolist() == [np.int8]
    array = ItemEncoder(numeric="passthrough", thresholds={"x0": [60]}).fit_transform(
        PATIENTS[["age", "bmi", "code"]].to_numpy()
    )
    assert array.dtype == np.float64
    np.testing.assert_array_equal(array[:, 1:], PATIENTS[["bmi", "code"]])
    np.testing.assert_array_equal(array[:, 0], [0, 0, 1, 1])
    gaps = PATIENTS.assign(bmi=[20, None, 30, None])
    for missing in ("error", "indicator"):
        with pytest.raises(ValueError, match=r"'bmi' \(2 of 4 rows, first at row 1\)"):
            ItemEncoder(numeric=["bmi"], missing=missing).fit(gaps)
    with pytest.raises(ValueError, match="could not convert string to float: 'female'"):
        ItemEncoder(numeric=["sex"]).fit(PATIENTS)


@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")
def test_float32_thresholds_are_what_their_names_say():
    X = np.array([[0.1], [0.2], [0.3]], dtype=np.float32)
    encoder = ItemEncoder().fit(X)
    assert [item.name for item in encoder.items_] == ["x0 >= 0.2", "x0 >= 0.3"]
    expected = [[0, 0], [1, 0], [1, 1]]
    np.testing.assert_array_equal(encoder.transform(X), expected)
    np.testing.assert_array_equal(encoder.transform([[0.1], [0.2], [0.3]]), expected)


def test_constant_items_are_left_out_and_said_so(caplog):
    X = PATIENTS.assign(site="A", zero=0)
    with caplog.at_level(logging.WARNING, logger="riskslim"):
        encoder = ItemEncoder(thresholds={"age": [20, 60, 99]}).fit(X)
    assert encoder.groups_["age"] == ("age >= 60",)
    constant = ["age >= 20", "age >= 99", "site = A", "zero >= 0"]
    assert [item.name for item in encoder.constant_items_] == constant
    assert "left out 4 items that are constant in the rows of fit: 'age >= 20'" in caplog.text
    with pytest.raises(ValueError, match="all columns are constant"):
        ItemEncoder().fit(X[["site", "zero"]])


@pytest.mark.parametrize(("n_levels", "is_named"), [(50, True), (30, True), (20, False)])
def test_a_column_that_says_who_a_row_is_is_named(caplog, n_levels, is_named):
    rows = np.arange(60)
    X = pd.DataFrame({"age": rows, "patient id": [f"P{k % n_levels}" for k in rows]})
    with caplog.at_level(logging.WARNING, logger="riskslim"):
        encoder = ItemEncoder().fit(X)
    assert len(encoder.groups_["patient id"]) == n_levels
    message = f"column 'patient id' has {n_levels} levels in 60 rows"
    assert (message in caplog.text) == is_named


@pytest.mark.parametrize(
    ("values", "parameters", "is_named"),
    [
        (10_000_000 + np.arange(1200), {}, True),
        (np.where(np.arange(1200) % 150, np.arange(1200), np.nan), {"missing": "indicator"}, True),
        (np.arange(1200).clip(10), {}, True),  # a few rows share a number
        (np.arange(1200).clip(100), {}, False),
        (np.arange(1200) / 8, {}, False),  # no integers
        (np.arange(1000), {}, False),  # ages, or the like, of few rows
        (np.arange(1200), {"thresholds": {"number": [600]}}, False),
        (np.arange(1200), {"thresholds": {"number": 3}}, False),
        (np.arange(1200), {"numeric": ["number"]}, False),
    ],
)
def test_integers_that_say_who_a_row_is_are_named(caplog, values, parameters, is_named):
    X = pd.DataFrame({"number": values, "age": np.arange(len(values)) % 70})
    with caplog.at_level(logging.WARNING, logger="riskslim"):
        ItemEncoder(**parameters).fit(X)
    message = f"column 'number' has different integers in nearly all of {len(X)} rows"
    assert (message in caplog.text) == is_named
    assert "column 'age' has" not in caplog.text


@pytest.mark.parametrize(
    "values",
    [["2021-07-25", "2022-1-5"], ["25.07.2021", "5.1.2022"], ["7/25/2021", "1/5/2022"],
     ["2021-07-25 13:05", "2021-07-25T13:05:12+01:00"]],
)  # fmt: skip
def test_dates_are_refused_as_text_too(values):
    X = pd.DataFrame({"age": [1, 2, 3], "day": [None, *values]}, dtype=object)
    encoder = ItemEncoder(missing="indicator")
    for frame in (X, X.assign(day=[None, *[datetime.date(2021, 1, 1)] * 2])):
        with pytest.raises(
            TypeError, match=r"with dates or times .*: 'day' \(2 of 3 rows, first at"
        ):
            encoder.fit(frame)
    assert encoder.set_params(categorical=["day"]).fit(X).groups_["day"][-1] == "day is missing"
    mixed = X.assign(day=[*values, "later"])
    assert len(ItemEncoder().fit(mixed).groups_["day"]) == 3


@pytest.mark.parametrize(
    ("values", "is_named"),
    [
        (["61", "70", "80"], True),
        (["0,5", " 1,5", "-2"], True),
        ([f"{k} y" for k in range(21)], True),
        (["1 pack", "2 pack", "3 pack"], False),
        ([f"{k} {'my'[k % 2]}" for k in range(21)], False),
        (["1", "2", "none"], False),
        ([1, 2, 3], False),
    ],
)
def test_numbers_that_are_text_are_named(caplog, values, is_named):
    X = pd.DataFrame({"x": values * 20})
    with caplog.at_level(logging.WARNING, logger="riskslim"):
        ItemEncoder().fit(X)
    expected = f"'x' is text that reads as numbers, such as {sorted(values)[0]!r}, with an item"
    assert (expected in caplog.text) == is_named
    caplog.clear()
    ItemEncoder(categorical=["x"]).fit(X)
    assert not caplog.records


@pytest.mark.parametrize("kind", ["category", "enum"])
def test_categorical_types_are_levels_even_of_numbers(kind):
    if kind == "category":
        X = pd.DataFrame({"grade": pd.Categorical([1, 2, 3])})
    else:
        X = pl.DataFrame({"grade": ["1", "2", "3"]}, schema={"grade": pl.Enum(["3", "2", "1"])})
    assert names(X, categorical=["grade"]) == ["grade = 1", "grade = 2", "grade = 3"]


# ---------------------------------------------------------------------------------------------
# Missing values, unknown levels, other faults
# ---------------------------------------------------------------------------------------------


def test_missing_values_are_refused_by_default():
    X = PATIENTS.assign(age=[30, np.nan, 60, 75], ward=["A", None, None, "B"])
    with pytest.raises(ValueError, match="Input X contains NaN") as caught:
        ItemEncoder().fit(X)
    assert (
        "'age' (1 of 4 rows, first at row 1), 'ward' (2 of 4 rows, first at row 1). Remove these "
        "rows or impute the values; or set missing='indicator'"
    ) in str(caught.value)
    with pytest.raises(ValueError, match=r"'age' \(1 of 4 rows, first at row 1\). There were none"):
        ItemEncoder(missing="indicator").fit(PATIENTS).transform(X.assign(ward="A"))
    weights = [0, 0, 1, 1]
    with pytest.raises(ValueError, match=r"'ward' \(1 of 4 rows, first at row 2\)"):
        ItemEncoder().fit(X, sample_weight=weights)


@pytest.mark.parametrize(
    "values",
    [
        [True, None, False],
        pd.array([True, pd.NA, False], dtype="boolean"),
        pd.array([1, pd.NA, 0], dtype="Int64"),
        np.array([1.0, np.nan, 0.0]),
        np.array([1.0, np.nan, 0.0], dtype=object),
        pl.Series([True, None, False]),
        pl.Series([1, None, 0]),
        pa.chunked_array([[True, None, False]]),
        np.ma.masked_array([1, 7, 0], [False, True, False]),
    ],
)
def test_missing_values_of_every_library(values):
    encoder = ItemEncoder(missing="indicator").fit({"smoker": values})
    assert [item.name for item in encoder.items_] == ["smoker", "smoker is missing"]
    np.testing.assert_array_equal(encoder.transform({"smoker": values}), [[1, 0], [0, 1], [0, 0]])


def test_unknown_levels():
    new = PATIENTS.assign(ward=["A", "X", "Y", "B"])
    with pytest.raises(ValueError, match="Found unknown categories 'X', 'Y' during transform") as e:
        ItemEncoder().fit(PATIENTS).transform(new)
    assert "'ward' (2 of 4 rows, first at row 1). handle_unknown='ignore'" in str(e.value)
    items = ItemEncoder(handle_unknown="ignore").fit(PATIENTS).transform(new)
    assert items.filter(like="ward").to_numpy().tolist() == [[1, 0, 0], [0] * 3, [0] * 3, [0, 1, 0]]


def test_values_that_a_boolean_column_did_not_have():
    with pytest.raises(ValueError, match="Found 2 in a column that had no values but 0 and 1") as e:
        ItemEncoder().fit(PATIENTS).transform(PATIENTS.assign(code=[0, 1, 2, 0]))
    assert "'code' (1 of 4 rows, first at row 2)" in str(e.value)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (
            {"a": ["x", 1]},
            TypeError,
            r"uniformly strings or numbers. Column 'a' has \['int', 'str'",
        ),
        ({"a": [[1], [2]]}, ValueError, "1d array"),
        ({"a": pd.Series([{}, {}])}, TypeError, "argument must be a string or a real number"),
        ({"a": pd.to_datetime(["2020-01-01", "2021-01-01"])}, TypeError, "dates or times: |dates"),
        ({"a": [1.0, np.inf]}, ValueError, "contains infinity"),
        ([1, 2], ValueError, "Expected 2D array"),
        (pl.LazyFrame({"a": [1, 2]}), TypeError, "lazy frame"),
    ],
)
def test_columns_that_cannot_be_encoded(X, error, message):
    with pytest.raises(error, match=message):
        ItemEncoder().fit(X)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_thresholds": 0}, ValueError, "n_thresholds must be at least 1, got 0"),
        ({"n_thresholds": 2.5}, TypeError, "n_thresholds must be an int, got 2.5"),
        ({"thresholds": {"agee": [60]}}, ValueError, "'agee' .did you mean 'age'"),
        ({"thresholds": {"age": ["60"]}}, ValueError, "thresholds of 'age' must be a sequence of"),
        ({"thresholds": {"age": "60"}}, ValueError, "thresholds of 'age' must be a sequence of"),
        ({"thresholds": {"age": []}}, ValueError, "thresholds of 'age' must be a sequence of"),
        ({"thresholds": {"age": [math.nan]}}, ValueError, "finite numbers"),
        ({"thresholds": {"sex": [1]}}, ValueError, "could not convert string to float: 'female'"),
        ({"direction": ">"}, ValueError, "direction must be one of '>=', '<=', got '>'"),
        ({"direction": {"sexx": ">="}}, ValueError, "direction names columns .* 'sexx'"),
        ({"missing": "drop"}, ValueError, "missing must be one of 'error', 'indicator', got"),
        ({"handle_unknown": "x"}, ValueError, "handle_unknown must be one of"),
        ({"drop": "first"}, ValueError, "drop must be one of 'if_binary', None, got 'first'"),
        ({"numeric": "age"}, ValueError, "numeric must be one of 'passthrough', got 'age'"),
        ({"categorical": "age"}, ValueError, "must be a sequence of names, got the text 'age'"),
        ({"numeric": ["age"], "thresholds": {"age": [60]}}, ValueError, "in thresholds: 'age'"),
        ({"min_frequency": 0}, ValueError, "min_frequency must be at least 1"),
        ({"min_frequency": 1.5}, ValueError, "min_frequency must be an int"),
    ],
)
def test_parameters_that_make_no_sense(parameters, error, message):
    with pytest.raises(error, match=message):
        ItemEncoder(**parameters).fit(PATIENTS)


# ---------------------------------------------------------------------------------------------
# What comes out, and what takes it
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["array", "pandas", "polars", "pyarrow", "record"])
@pytest.mark.parametrize("wanted", ["default", "pandas", "polars"])
@pytest.mark.parametrize("numeric", [[], ["age"]])
def test_containers(given, wanted, numeric):
    columns = {"age": [30, 45, 60], "bmi": [20.5, 30.5, 25.0]}
    frame = pd.DataFrame(columns, index=[3, 2, 1])
    kinds = {
        "array": frame.to_numpy(),
        "polars": pl.DataFrame(columns),
        "pyarrow": pa.table(columns),
    }
    X = kinds.get(given, frame)
    parameters = {"feature_names": ["age", "bmi"]} if given == "array" else {}
    encoder = ItemEncoder(thresholds={"bmi": [22, 28]}, numeric=numeric, **parameters)
    encoder.set_output(transform=wanted)
    items = encoder.fit(X).transform({"age": 30, "bmi": 20.5} if given == "record" else X)
    expected = encoder.get_feature_names_out().tolist()
    assert expected[-2:] == ["bmi >= 22", "bmi >= 28"]
    if given == "array" and wanted == "default":
        assert isinstance(items, np.ndarray)
        assert items.dtype == (np.float64 if numeric else np.int8)
    else:
        result = nw.from_native(items)
        kind = {"record": "pandas"}.get(given, given)
        assert result.implementation.value == (kind if wanted == "default" else wanted)
        assert result.columns == expected
        assert result.schema["bmi >= 22"] == nw.Int8
        if isinstance(items, pd.DataFrame) and given == "pandas":
            assert items.index.tolist() == [3, 2, 1]
        items = result.to_numpy()
    np.testing.assert_array_equal(items[:, -2:], [[0, 0], [1, 1], [1, 0]][: len(items)])


class NamesOfFeatures(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.data_ = TrainingData(X, y)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


def test_a_pipeline_applies_to_raw_records():
    pipeline = make_pipeline(ItemEncoder(thresholds={"age": [60]}), NamesOfFeatures())
    pipeline.fit(PATIENTS[["age", "sex"]], [0, 1, 1, 0])
    assert pipeline[-1].data_.feature_names == ("age >= 60", "sex = male")
    assert pipeline[-1].data_.column(0).dtype == np.int8
    record = {"sex": "male", "age": 61, "name": "not used"}
    for rows in (record, [record], pd.Series(record), PATIENTS[["age", "sex"]].iloc[3]):
        assert pipeline.predict(rows).tolist() == [1]
    with pytest.raises(ValueError, match="X lacks 1 of the 2 columns of fit: 'age'"):
        pipeline.predict({"sex": "male"})
    with pytest.raises(ValueError, match="could not convert string to float: '61'"):
        pipeline.predict({"sex": "male", "age": "61"})
    again = pickle.loads(pickle.dumps(pipeline))
    assert again.predict(record).tolist() == [1]


def test_mappings_of_columns_are_found_by_name():
    encoder = ItemEncoder().fit({"a": [1, 2, 3], "b": ["x", "y", "x"]})
    assert encoder.feature_names_in_.tolist() == ["a", "b"]
    items = encoder.transform({"b": ["y"], "a": [3]})
    assert dict(zip(encoder.get_feature_names_out(), items[0].tolist(), strict=True)) == {
        "a >= 2": 1, "a >= 3": 1, "b = y": 1,
    }  # fmt: skip
    with pytest.raises(ValueError, match="X lacks 1 of the 2 columns of fit: 'b'"):
        encoder.transform({"a": [3]})


def test_names_of_the_columns_of_arrays():
    X = np.array([[1, 5], [2, 6]])
    assert names(X) == ["x0 >= 2", "x1 >= 6"]
    assert names(X, feature_names=["a", "b"]) == ["a >= 2", "b >= 6"]
    for wrong in (["a"], ["a", "a"]):
        with pytest.raises(ValueError, match="feature_names must be 2 different names"):
            ItemEncoder(feature_names=wrong).fit(X)


def test_levels_of_32_bit_numbers_are_named_as_they_are_printed():
    x = np.array([0.1, 0.7, 0.3, 0.1], np.float32)
    encoder = ItemEncoder(categorical=["x"])
    items = encoder.fit_transform(pd.DataFrame({"x": x}))
    assert list(items.columns) == ["x = 0.1", "x = 0.3", "x = 0.7"]
    assert items.to_numpy().sum(axis=0).tolist() == [2, 1, 1]
    wide = encoder.transform(pd.DataFrame({"x": [0.1, 0.7, 0.3, 0.1]}))
    np.testing.assert_array_equal(wide.to_numpy(), items.to_numpy())
    score = RiskScore(-1, {"x = 0.7": 2}).with_variables(encoder)
    assert score.score_samples({"x": x}).tolist() == [0, 2, 0, 0]


def test_folds_that_lack_a_level_are_cross_validated():
    from sklearn.model_selection import cross_val_score

    rng = np.random.default_rng(0)
    ward = np.where(np.arange(60) == 7, "burns", np.where(np.arange(60) % 2, "surgery", "medicine"))
    X = pd.DataFrame({"age": rng.integers(20, 90, 60), "ward": ward})
    y = (X["age"] > 50).to_numpy() ^ (rng.random(60) < 0.1)
    steps = {"error": np.nan, "ignore": 0.0}
    for handle_unknown, least in steps.items():
        encoder = ItemEncoder(n_thresholds=3, handle_unknown=handle_unknown)
        pipeline = make_pipeline(encoder, RiskSLIMClassifier(max_size=2, time_limit=10))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = cross_val_score(pipeline, X, y, cv=3)
        assert np.isnan(found).sum() == np.isnan(least)
    encoder = ItemEncoder(n_thresholds=3).fit(X[X["ward"] != "burns"])
    with pytest.raises(ValueError, match="training rows of a fold lack a level"):
        encoder.transform(X)


@pytest.mark.slow
def test_names_of_one_fold_are_none_of_another():
    """Constraints by names of items fail in a grid, and say what to write; variables do not."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.normal(60, 15, 150), "sex": rng.choice(["f", "m"], 150)})
    died = rng.random(150) < 1 / (1 + np.exp(6 - 0.1 * frame["age"]))
    encoder = ItemEncoder().fit(frame)

    def grid(*constraints):
        model = make_pipeline(
            ItemEncoder(), RiskSLIMClassifier(max_size=2, constraints=constraints, time_limit=5)
        )
        return GridSearchCV(
            model, {"riskslimclassifier__max_coef": [2, 3]}, cv=3, error_score="raise"
        )

    message = r"in each fold of a cross-validation; in constraints variable\('age'\) stands for all"
    for named in (
        at_most(1, encoder.groups_["age"]),
        monotone(list(encoder.groups_["age"]), "+"),
    ):
        with pytest.raises(ValueError, match=message):
            grid(named).fit(frame, died)
    with pytest.raises(ValueError, match=message):
        CoefficientSet(encoder.get_feature_names_out(), sign={"age >= 12.34": "+"})
    found = grid(at_most(1, variable("age")), monotone(variable("age"), "+")).fit(frame, died)
    assert found.best_score_ > 0.5
