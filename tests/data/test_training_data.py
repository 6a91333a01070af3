import datetime
import decimal
import fractions
import gzip
import pickle
import re
import subprocess
import sys
import tracemalloc
import warnings

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import scipy.sparse

from riskslim.data.files import read_table, read_verbatim
from riskslim.data.training_data import TrainingData
from riskslim.exceptions import ConstantFeatureWarning
from riskslim.reader import read

INTEGERS = np.array([[0, -128, 7], [1, 127, 7], [5, 0, 6]])
LABELS = [0, 1, 1]


def columns_of(data):
    return np.column_stack([data.column(j) for j in range(data.n_features)])


def arrays_of(data):
    return {name: v for name, v in values_of(data).items() if isinstance(v, np.ndarray)}


def values_of(data):
    """Everything that data hold, row by row and of all rows."""
    held = vars(data) | {f"rows.{name}": value for name, value in vars(data.rows).items()}
    del held["rows"]
    return held


def assert_equal_data(a, b):
    assert values_of(a).keys() == values_of(b).keys()
    for name, value in values_of(a).items():
        np.testing.assert_array_equal(value, values_of(b)[name], err_msg=name, strict=True)


def error(X=INTEGERS, y=LABELS, *args, exception=ValueError, **kwargs):
    """Return the text of the error; any other outcome fails the test."""
    with pytest.raises(exception) as info:
        TrainingData(X, y, *args, **kwargs)
    return str(info.value)


# --- what is stored -------------------------------------------------------------------------------


def test_attributes():
    X = np.array([[1.0, 0.5, 200.0, -3.0], [2.0, 1.5, 0.0, 4.0], [0.0, -7.25, 1.0, 0.0]])
    data = TrainingData(X, [0, 1, 0], [1.0, 2.0, 0.5])
    assert (data.n_samples, data.n_features) == (3, 4)
    assert data.feature_names == ("x1", "x2", "x3", "x4")
    assert data.outcome_name == "outcome"
    assert data.classes == (0, 1)
    assert data.total_weight == 3.5
    assert data.labels.dtype == np.int8
    np.testing.assert_array_equal(data.labels, [-1, 1, -1])
    np.testing.assert_array_equal(data.sample_weight, [1.0, 2.0, 0.5], strict=True)
    np.testing.assert_array_equal(
        data.integer_columns, np.array([[1, -3], [2, 4], [0, 0]], np.int8), strict=True
    )
    np.testing.assert_array_equal(data.real_row_tiles[0, :, :3], X[:, 1:3].T, strict=True)
    np.testing.assert_array_equal(data.integer_index, np.array([0, 3], np.intp), strict=True)
    np.testing.assert_array_equal(data.real_index, np.array([1, 2], np.intp), strict=True)
    np.testing.assert_array_equal(data.is_integer, [True, False, False, True], strict=True)
    np.testing.assert_array_equal(data.feature_min, X.min(axis=0), strict=True)
    np.testing.assert_array_equal(data.feature_max, X.max(axis=0), strict=True)
    assert data.integer_columns.flags.f_contiguous
    assert data.real_row_tiles.flags.c_contiguous
    assert data.constant_features.dtype == np.intp
    assert data.constant_features.size == 0


def test_without_weights_none_are_stored():
    data = TrainingData(INTEGERS, LABELS)
    assert data.sample_weight is None
    assert type(data.total_weight) is float
    assert data.total_weight == 3.0


@pytest.mark.parametrize(
    ("values", "integer"),
    [
        ([-128, 127], True),
        ([-129, 0], False),
        ([0, 128], False),
        ([0, 256], False),  # wraps around to 0 in int8
        ([0.0, 1.0 + 2**-52], False),
        ([0.0, 5e-324], False),
        ([-0.0, 1.0], True),
        ([0.0, 2.0**64], False),
        ([0.0, -1e300], False),
    ],
)
def test_integer_or_real_is_decided_by_value(values, integer):
    data = TrainingData(np.array(values)[:, None], [0, 1])
    assert data.is_integer.tolist() == [integer]
    np.testing.assert_array_equal(data.column(0), values)


def test_a_late_value_decides_too():
    # Later than any block of the packing, in both layouts.
    X = np.zeros((100_001, 3))
    X[0] = 1
    X[-1, 1] = 0.5
    for layout in (X, np.asfortranarray(X)):
        data = TrainingData(layout, np.arange(len(X)) % 2)
        assert data.is_integer.tolist() == [True, False, True]
        np.testing.assert_array_equal(columns_of(data), X)


@pytest.mark.parametrize("n_features", [1, 31, 32, 33, 70])
@pytest.mark.parametrize("order", ["C", "F"])
def test_many_columns_of_both_kinds(n_features, order):
    rng = np.random.default_rng(n_features)
    X = rng.integers(-128, 128, (9001, n_features)).astype(float)
    X[:, ::3] += 0.5
    data = TrainingData(np.asarray(X, order=order), rng.integers(0, 2, len(X)))
    np.testing.assert_array_equal(data.is_integer, np.arange(n_features) % 3 != 0)
    np.testing.assert_array_equal(columns_of(data), X)
    np.testing.assert_array_equal(data.feature_min, X.min(axis=0))
    np.testing.assert_array_equal(data.feature_max, X.max(axis=0))


# --- every dtype and layout -----------------------------------------------------------------------

DTYPES = [*"?bBhHiIlLqQefdg", ">f8", ">i4", "O"]
LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "reversed": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "every other": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "transposed": lambda X: np.ascontiguousarray(X.T).T,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_and_layouts(dtype, layout):
    X = LAYOUTS[layout](np.array([[0, 1, 1], [1, 100, 0], [1, 0, 1]]).astype(dtype))
    X.setflags(write=False)
    data = TrainingData(X, LABELS)
    assert data.is_integer.all()
    np.testing.assert_array_equal(columns_of(data), X.astype(np.int8))


@pytest.mark.parametrize("dtype", ["h", "H", "i", "I", "l", "L", "e", "f", "d", "g", ">f8", "O"])
def test_wide_values_become_float64(dtype):
    X = np.array([[0, 1000], [1, 2000]]).astype(dtype)
    data = TrainingData(X, [0, 1])
    assert data.is_integer.tolist() == [True, False]
    np.testing.assert_array_equal(data.column(1), [1000.0, 2000.0], strict=True)


def test_unsigned_values_do_not_wrap():
    X = np.array([[255, 0], [2**53 - 1, 1]], np.uint64)
    np.testing.assert_array_equal(TrainingData(X, [0, 1]).column(0), [255.0, 2.0**53 - 1])


def test_broadcast_and_unaligned_input():
    X = np.broadcast_to(np.array([[3.0], [4.0]]), (2, 2))
    np.testing.assert_array_equal(columns_of(TrainingData(X, [0, 1])), X)
    records = np.array([(1, [2.5, 3.0]), (2, [4.5, 5.0])], dtype=[("a", "i1"), ("b", "f8", 2)])
    np.testing.assert_array_equal(columns_of(TrainingData(records["b"], [0, 1])), records["b"])


def test_matrix_and_other_array_likes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        matrix = np.matrix(INTEGERS)
    np.testing.assert_array_equal(columns_of(TrainingData(matrix, LABELS)), INTEGERS)

    class ArrayLike:
        def __array__(self, dtype=None, copy=None):
            return INTEGERS.astype(dtype or float)

    np.testing.assert_array_equal(columns_of(TrainingData(ArrayLike(), LABELS)), INTEGERS)


def test_objects_of_many_number_types():
    values = [True, np.bool_(True), 2, 2.5, np.float32(0.5), np.int8(3), decimal.Decimal("1.25")]
    values.append(fractions.Fraction(1, 4))
    X = np.array(values, dtype=object)[:, None]
    data = TrainingData(X, np.arange(len(X)) % 2)
    np.testing.assert_array_equal(data.column(0), [1, 1, 2, 2.5, 0.5, 3, 1.25, 0.25])


def test_nested_lists_and_tuples():
    np.testing.assert_array_equal(columns_of(TrainingData(INTEGERS.tolist(), LABELS)), INTEGERS)
    rows = tuple(map(tuple, INTEGERS + 0.5))
    np.testing.assert_array_equal(columns_of(TrainingData(rows, LABELS)), INTEGERS + 0.5)


def test_input_is_neither_kept_nor_changed():
    X = np.asfortranarray(INTEGERS.astype(np.int8))
    weights = np.array([1.0, 2.0, 3.0])
    y = np.array([-1, 1, 1], np.int8)
    data = TrainingData(X, y, weights)
    for kept, given in ((data.integer_columns, X), (data.sample_weight, weights), (data.labels, y)):
        assert not np.shares_memory(kept, given)
        assert given.flags.writeable


# --- data frames ----------------------------------------------------------------------------------

FRAME = {
    "age": [41.5, 60.0, 33.25],
    "visits": [3, 0, 127],
    "smoker": [True, False, True],
    "income": [1000, 2000, 3000],
}
FRAMES = {
    "dict": dict,
    "dict of arrays": lambda columns: {k: np.array(v) for k, v in columns.items()},
    "dict of series": lambda columns: {
        k: (pd.Series if i % 2 else pl.Series)(v) for i, (k, v) in enumerate(columns.items())
    },
    "pandas": pd.DataFrame,
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas arrow": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "pandas object": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas index": lambda columns: pd.DataFrame(columns, index=[7, 7, -1]),
    "polars": pl.DataFrame,
    "polars chunked": lambda columns: pl.concat(
        [pl.DataFrame(columns)[:1], pl.DataFrame(columns)[1:]], rechunk=False
    ),
    "pyarrow": pa.table,
    "pyarrow chunked": lambda columns: pa.concat_tables(
        [pa.table(columns)[:1], pa.table(columns)[1:]]
    ),
    "record batch": lambda columns: pa.RecordBatch.from_pydict(columns),
}


@pytest.mark.parametrize("library", FRAMES)
def test_frames(library):
    data = TrainingData(FRAMES[library](FRAME), LABELS)
    assert data.feature_names == tuple(FRAME)
    assert data.is_integer.tolist() == [False, True, True, False]
    for j, values in enumerate(FRAME.values()):
        np.testing.assert_array_equal(data.column(j), values)


def test_pandas_block_that_is_strided():
    X = np.arange(20_000.0).reshape(-1, 2) % 100
    frame = pd.DataFrame(X, copy=False)
    np.testing.assert_array_equal(columns_of(TrainingData(frame, np.arange(10_000) % 2)), X)


def test_other_numeric_column_types():
    decimals = [decimal.Decimal("1.50"), decimal.Decimal("2.25")]
    frame = pl.DataFrame(
        {
            "decimal": pl.Series(decimals, dtype=pl.Decimal(10, 2)),
            "int128": pl.Series([1, 2], dtype=pl.Int128),
            "uint8": pl.Series([200, 1], dtype=pl.UInt8),
        }
    )
    for table in (frame, frame.drop("int128").to_arrow()):
        data = TrainingData(table, [0, 1])
        np.testing.assert_array_equal(data.column(0), [1.5, 2.25])
        np.testing.assert_array_equal(data.column(data.n_features - 1), [200, 1])
    series = {
        "category of numbers": pd.Series([1, 2], dtype="category"),
        "sparse": pd.Series(pd.arrays.SparseArray([0.0, 0.5])),
        "float16": pa.chunked_array([np.array([0.5, 1], np.float16)]),
    }
    data = TrainingData(series, [0, 1])
    np.testing.assert_array_equal(columns_of(data), [[1, 0, 0.5], [2, 0.5, 1]])


# --- names ----------------------------------------------------------------------------------------


def test_feature_names_are_converted_to_text():
    frame = pd.DataFrame(INTEGERS, columns=[0, ("a", "b"), 2.5])
    assert TrainingData(frame, LABELS).feature_names == ("0", "('a', 'b')", "2.5")
    names = np.array(["a", "b", "c"])
    data = TrainingData(frame, LABELS, feature_names=names)
    assert data.feature_names == ("a", "b", "c")
    assert all(type(name) is str for name in data.feature_names)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(INTEGERS, columns=["a", "b", "a"]),
        pa.table([[0, 1, 1]] * 3, names=["a", "b", "a"]),
        pd.DataFrame(INTEGERS, columns=["1", "b", 1]),
        {"a": [0, 1, 1], 1: [1, 2, 3], "1": [0, 1, 2]},
    ],
)
def test_duplicate_names(frame):
    assert "must be unique" in error(frame)


def test_wrong_feature_names():
    assert "2 names, but X has 3 features" in error(feature_names=["a", "b"])
    assert "'a' and 'a' are the same" in error(feature_names=["a", "b", "a"])
    assert "sequence of names" in error(feature_names="abc", exception=TypeError)


def test_outcome_name():
    assert TrainingData(INTEGERS, pd.Series(LABELS, name="died")).outcome_name == "died"
    assert TrainingData(INTEGERS, pl.Series("died", LABELS)).outcome_name == "died"
    assert TrainingData(INTEGERS, pd.Series(LABELS, name=0)).outcome_name == "0"
    assert TrainingData(INTEGERS, pd.Series(LABELS)).outcome_name == "outcome"
    assert TrainingData(INTEGERS, pl.Series(LABELS)).outcome_name == "outcome"
    data = TrainingData(INTEGERS, pd.Series(LABELS, name="died"), outcome_name="death")
    assert data.outcome_name == "death"


# --- labels ---------------------------------------------------------------------------------------

SERIES = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "objects": lambda values: np.array(values, dtype=object),
    "strided": lambda values: np.repeat(np.array(values), 2)[::2],
    "pandas": pd.Series,
    "pandas index": lambda values: pd.Index(values),
    "pandas nullable": lambda values: pd.Series(values).convert_dtypes(),
    "pandas arrow": lambda values: pd.Series(values).convert_dtypes(dtype_backend="pyarrow"),
    "pandas category": lambda values: pd.Series(values, dtype="category"),
    "pandas objects": lambda values: pd.Series(values, dtype=object),
    "polars": pl.Series,
    "pyarrow": lambda values: pa.chunked_array([values[:1], values[1:]]),
    "pyarrow array": pa.array,
    "pyarrow dictionary": lambda values: pa.chunked_array([pa.array(values).dictionary_encode()]),
}
POLARS_TEXT = {
    "polars category": lambda values: pl.Series(values, dtype=pl.Categorical),
    "polars enum": lambda values: pl.Series(values, dtype=pl.Enum(["yes", "no"])),
}


@pytest.mark.parametrize(
    "pair", [(0, 1), (-1, 1), (False, True), (1, 2), (-3, 7), (0.5, 1.5), ("no", "yes")]
)
@pytest.mark.parametrize("library", SERIES)
def test_labels(library, pair):
    y = SERIES[library]([pair[1], pair[0], pair[1]])
    data = TrainingData(INTEGERS, y)
    assert data.classes == pair
    assert [type(label) for label in data.classes] == [type(label) for label in pair]
    np.testing.assert_array_equal(data.labels, np.array([1, -1, 1], np.int8), strict=True)
    data = TrainingData(INTEGERS, y, positive_label=pair[0])
    assert data.classes == pair[::-1]
    np.testing.assert_array_equal(data.labels, [-1, 1, -1])
    assert TrainingData(INTEGERS, y, positive_label=str(pair[0])).classes == pair[::-1]


@pytest.mark.parametrize("library", POLARS_TEXT)
def test_labels_of_polars_categories(library):
    data = TrainingData(INTEGERS, POLARS_TEXT[library](["yes", "no", "no"]))
    assert data.classes == ("no", "yes")
    np.testing.assert_array_equal(data.labels, [1, -1, -1])


def test_labels_of_two_types():
    y = [1, "a", "a"]
    assert "positive_label=" in error(y=y)
    data = TrainingData(INTEGERS, y, positive_label="a")
    assert data.classes == (1, "a")
    np.testing.assert_array_equal(data.labels, [-1, 1, 1])


def test_text_does_not_hide_an_equal_label():
    # Equality goes first, so that "1" beside 1 is no ambiguity.
    data = TrainingData(INTEGERS, [1, "1", "1"], positive_label="1")
    assert data.classes == (1, "1")


def test_unknown_positive_label():
    text = error(positive_label=2)
    assert "positive_label=2" in text
    assert "0, 1" in text


@pytest.mark.parametrize("library", SERIES)
def test_one_class(library):
    assert "only one class: 'a'" in error(y=SERIES[library](["a", "a", "a"]))
    assert "only one class: 1" in error(y=SERIES[library]([1, 1, 1]))


@pytest.mark.parametrize("library", SERIES)
def test_three_classes(library):
    assert "multiclass: y has 3 distinct labels, 0, 1, 2." in error(y=SERIES[library]([2, 1, 0]))
    assert "'a', 'b', 'c'" in error(y=SERIES[library](["c", "a", "b"]))


def test_many_classes_are_cut_short():
    text = error(np.arange(100)[:, None], np.arange(100))
    assert "8, 9, ... and 90 more" in text


def test_continuous_target():
    assert "Unknown label type: continuous" in error(y=[0.5, 1.25, 2.0])


@pytest.mark.parametrize(
    "y",
    [
        [0.0, np.nan, 1.0],
        [0, None, 1],
        ["a", None, "b"],
        ["a", np.nan, "b"],
        [True, None, False],
        pd.Series([0, pd.NA, 1], dtype="Int64"),
        pd.Series(["a", None, "b"]),
        pd.Series(["a", pd.NA, "b"], dtype="string"),
        pd.Series(["a", None, "b"], dtype="category"),
        pd.Series([True, pd.NA, False], dtype="boolean"),
        pd.Series([True, pd.NA, False], dtype=object),
        pl.Series([0, None, 1]),
        pl.Series([0.0, float("nan"), 1.0]),
        pl.Series(["a", None, "b"]),
        pl.Series(["a", None, "b"], dtype=pl.Categorical),
        pa.chunked_array([[True, None, False]]),
        pa.array(["a", None, "b"]),
        np.ma.MaskedArray([0, 5, 1], mask=[False, True, False]),
    ],
)
def test_missing_labels(y):
    text = error(y=y)
    assert "Input y contains NaN" in text
    assert "1 of 3 labels are missing, first at row 1" in text


def test_wrong_labels():
    assert "should be a 1d array, got an array of shape (3, 1)" in error(y=[[0], [1], [1]])
    assert "should be a 1d array" in error(y=1)
    assert "inconsistent numbers of samples: [3, 2]" in error(y=[0, 1])
    assert "inconsistent numbers of samples: [3, 2]" in error(y=pl.Series(["a", "b"]))
    for one_class in ([0, 0], pl.Series(["a", "a"]), pd.Series(["a", "a"])):
        assert "inconsistent numbers of samples: [3, 2]" in error(y=one_class)
    assert "inconsistent numbers of samples: [3, 0]" in error(y=[])
    assert "y is None" in error(y=None)
    assert "Unknown label type" in error(y=[1j, 0, 0])
    assert "Unknown label type" in error(y=np.array(["2020", "2021", "2020"], "M8[Y]"))
    assert "Unknown label type" in error(y=np.array([{}, {}, {}]))
    assert "contains infinity: 1 of 3 labels, first at row 2" in error(y=[0.0, 0.0, np.inf])


# --- weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", [name for name in SERIES if "dictionary" not in name])
def test_weights(library):
    data = TrainingData(INTEGERS, LABELS, SERIES[library]([0.5, 0.0, 2.0]))
    np.testing.assert_array_equal(data.sample_weight, [0.5, 0.0, 2.0], strict=True)
    assert data.total_weight == 2.5
    data = TrainingData(INTEGERS, LABELS, SERIES[library]([2, 1, 3]))
    np.testing.assert_array_equal(data.sample_weight, [2.0, 1.0, 3.0], strict=True)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, -2], "Negative values in data passed to `sample_weight`: 2 of 3 rows, first at"),
        ([1, 1, np.nan], "Input sample_weight contains NaN: 1 of 3 rows, first at row 2"),
        ([1, np.inf, 1], "Input sample_weight contains infinity: 1 of 3 rows, first at row 1"),
        ([1, None, 1], "missing values in 1 of 3 rows, first at row 1"),
        ([0, 0, 0], "at least one non-zero number: all 3 weights are zero"),
        ([1, 0, 0], "all 2 rows of class 1 have weight zero"),
        ([0, 1, 0], "all 1 rows of class 0 have weight zero"),
        ([1, 1], "inconsistent numbers of samples: [3, 2]"),
        ([[1], [1], [1]], "sample_weight should be a 1d array"),
        (2.0, "sample_weight should be a 1d array"),
        (["1", "2", "3"], "got text in 3 of 3 rows"),
        ([1j, 1, 1], "got complex numbers"),
        ([1e308, 1e308, 1e308], "divide all weights by it"),
    ],
)
def test_wrong_weights(weights, message):
    assert message in error(INTEGERS, LABELS, weights)


# --- features that are refused --------------------------------------------------------------------


def test_missing_and_infinite_values_name_columns_counts_and_rows():
    X = np.zeros((10, 4))
    X[3:5, 0] = np.nan
    X[7, 2] = -np.inf
    X[8, 2] = np.nan
    for layout in (X, np.asfortranarray(X), pl.DataFrame(X, schema=["x1", "x2", "x3", "x4"])):
        text = error(layout, [0, 1] * 5)
        assert text.startswith("Input X contains NaN.")
        assert "'x1' (2 of 10 rows, first at row 3), 'x3' (1 of 10 rows, first at row 8)." in text
        assert "Input X contains infinity or a value too large for dtype('float64')." in text
        assert "'x3' (1 of 10 rows, first at row 7)." in text
        assert "x2" not in text


@pytest.mark.parametrize(
    "column",
    [
        [1, None, 2],
        [1.5, np.nan, 2],
        pd.Series([1, pd.NA, 2], dtype="Int64"),
        pd.Series([True, pd.NA, True], dtype="boolean"),
        pd.Series([1, pd.NA, 2], dtype="int64[pyarrow]"),
        pd.Series([1, pd.NaT, 2], dtype=object),
        pl.Series([1, None, 2]),
        pl.Series([True, None, True]),
        pl.Series([1.0, float("nan"), 2.0]),
        pa.chunked_array([[1, None, 2]]),
        np.ma.MaskedArray([1.0, 5.0, 2.0], mask=[False, True, False]),
        [decimal.Decimal(1), decimal.Decimal("nan"), 2],
    ],
)
def test_missing_values_of_every_library(column):
    text = error({"good": [1, 2, 3], "bad": column})
    assert text.startswith("Input X contains NaN.")
    assert "'bad' (1 of 3 rows, first at row 1)" in text


def test_missing_objects_of_two_kinds_are_counted_together():
    assert "'a' (2 of 3 rows, first at row 0)" in error({"a": [np.nan, None, 1]})
    assert "'a' (3 of 3 rows, first at row 0)" in error(pl.DataFrame({"a": [None] * 3}))


def test_masked_array():
    X = np.ma.MaskedArray(INTEGERS, mask=False)
    np.testing.assert_array_equal(columns_of(TrainingData(X, LABELS)), INTEGERS)
    X[2, 1] = np.ma.masked
    assert "'x2' (1 of 3 rows, first at row 2)" in error(X)


@pytest.mark.parametrize(
    "column",
    [
        ["red", "blue", "red"],
        np.array(["red", "blue", "red"]),
        np.array(["red", "blue", "red"], dtype=object),
        pd.Series(["red", "blue", "red"]),
        pd.Series(["red", "blue", "red"], dtype="category"),
        pl.Series(["red", "blue", "red"]),
        pl.Series(["red", "blue", "red"], dtype=pl.Categorical),
        pa.chunked_array([["red", "blue", "red"]]),
    ],
)
def test_text(column):
    text = error({"good": [1, 2, 3], "colour": column})
    assert text.startswith("could not convert string to float: 'red'.")
    assert "'colour' (3 of 3 rows, first at row 0)" in text
    assert "as ItemEncoder does (--items on the command line)" in text
    assert "good" not in text


def test_text_is_found_by_value():
    assert "'x2' (1 of 3 rows, first at row 2)" in error([[1, 2], [3, 4], [5, "6"]])
    assert "'x1' (1 of 2 rows" in error(np.array([["1"], [2]], dtype=object), [0, 1])
    assert "'x1' (2 of 2 rows" in error(np.array([["1", "2"], ["3", "4"]]), [0, 1])


@pytest.mark.parametrize(
    ("column", "exception", "headline"),
    [
        (np.array([1j, 0, 1]), ValueError, "Complex data not supported."),
        (np.array([1j, 0, 1], dtype=object), ValueError, "Complex data not supported."),
        (np.array(["2020", "2021", "2022"], "M8[Y]"), TypeError, "Columns with dates or times"),
        (np.array([1, 2, 3], "m8[s]"), TypeError, "Columns with dates or times"),
        ([datetime.date(2020, 1, 1)] * 3, TypeError, "Columns with dates or times"),
        (pl.Series([datetime.date(2020, 1, 1)] * 3), TypeError, "Columns with dates or times"),
        (pl.Series([datetime.time(1)] * 3), TypeError, "Columns with dates or times"),
        (
            pd.Series(pd.to_datetime(["2020"] * 3, utc=True)),
            TypeError,
            "Columns with dates or times",
        ),
        (pd.Series(pd.period_range("2020", periods=3)), TypeError, "not 'Period'"),
        (np.array([{}, 1, 2], dtype=object), TypeError, "float() argument must be a string or a"),
        (pl.Series([[1], [2], [3]]), TypeError, "not 'ndarray'"),
        (pl.Series([[1, 2]] * 3, dtype=pl.Array(pl.Int64, 2)), TypeError, "float() argument must"),
        (pa.chunked_array([[{"b": 1}] * 3]), TypeError, "float() argument must be"),
    ],
)
def test_columns_that_are_no_numbers(column, exception, headline):
    text = error(
        pl.DataFrame({"a": column}) if isinstance(column, pl.Series) else {"a": column},
        exception=exception,
    )
    assert headline in text
    assert "'a' (" in text


@pytest.mark.parametrize(
    "column",
    [
        [0, 1, 2**53],
        np.array([0, 1, 2**64 - 1], np.uint64),
        np.array([0, 1, -(2**63)]),
        np.array([0, 1, 10**400], dtype=object),
        np.array([0, 1, fractions.Fraction(10**400)], dtype=object),
        np.array([0, 1, -(2**60)], dtype=object),
        pl.Series([0, 1, 2**100], dtype=pl.Int128),
    ],
)
def test_integers_that_float64_cannot_hold(column):
    text = error({"id": column})
    assert "integers of magnitude 2**53 or more" in text
    assert "'id' (1 of 3 rows, first at row 2)" in text


def test_large_floats_are_allowed():
    column = np.array([0, 1e300, 2.0**60], dtype=object)
    for values in (column, column.astype(float)):
        data = TrainingData({"a": values}, LABELS)
        np.testing.assert_array_equal(data.column(0), column.astype(float))


def test_all_kinds_of_faults_in_one_error():
    frame = {
        "ok": [1, 2, 3],
        "name": ["a", "b", "c"],
        "gap": [1, None, 2],
        "when": [datetime.date(2020, 1, 1)] * 3,
        "limit": [1, 2, np.inf],
        "city": ["d", "e", "f"],
    }
    text = error(frame)
    assert re.search("text.*'name' .*'city' ", text)
    assert re.search("missing values.*'gap' ", text)
    assert re.search("dates or times.*'when' ", text)
    assert re.search("infinite values.*'limit' ", text)
    assert "'ok'" not in text


def test_many_columns_are_cut_short():
    text = error(np.full((2, 25), np.nan), [0, 1])
    assert "'x10' " in text
    assert "'x11'" not in text
    assert "... and 15 more" in text


@pytest.mark.parametrize(
    "make",
    [scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_matrix],
)
def test_sparse(make):
    assert ".toarray()" in error(make(INTEGERS), exception=TypeError)
    assert "Sparse" in error(y=make([LABELS]), exception=TypeError)


def test_lazy_frames():
    text = error(pl.LazyFrame(FRAME), exception=TypeError)
    assert "lazy frame (polars" in text
    assert "collect()" in text


def test_shapes():
    assert "Expected 2D array, got 1D array instead" in error([1, 2, 3])
    assert "Expected 2D array, got 1D array instead" in error(pd.Series([1, 2, 3]))
    assert "Expected 2D array, got 1D array instead" in error(pa.array([1, 2, 3]))
    assert "got scalar array instead" in error(None)
    assert "Found array with dim 3" in error(np.zeros((3, 1, 1)))
    assert "row 0 has 2 values, row 2 has 1" in error([[1, 2], [1, 2], [1]])
    assert "'a' has 3, column 'b' has 2" in error({"a": [1, 2, 3], "b": [1, 2]})
    assert "column 'a' should be a 1d array" in error({"a": INTEGERS})
    assert "structured array" in error(np.zeros((3, 1), dtype=[("a", "f8")]))
    for empty in (np.zeros((0, 3)), pd.DataFrame({"a": []}), pl.DataFrame({"a": []}), {"a": []}):
        assert "Found array with 0 sample(s) (shape=(0, " in error(empty, [])
    for empty in (np.zeros((3, 0)), pd.DataFrame(index=range(3)), [[], [], []]):
        assert "Found array with 0 feature(s) (shape=(3, 0))" in error(empty)
    assert "minimum of 1 is required" in error({})


# --- constant features ----------------------------------------------------------------------------


def test_constant_features_are_named():
    X = np.column_stack([[0, 1, 1], [1, 1, 1], [2.5, 2.5, 2.5], [0.5, 1.0, 2.0]])
    names = ["age", "one", "level", "dose"]
    with pytest.warns(
        ConstantFeatureWarning, match=r"2 of 4 features.*: 'one', 'level'$"
    ) as caught:
        data = TrainingData(X, LABELS, feature_names=names)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(data.constant_features, [1, 2])
    np.testing.assert_array_equal(columns_of(data), X)


def test_rows_of_weight_zero_count_as_rows():
    assert TrainingData([[0], [1], [1]], [1, 0, 1], [0, 1, 1]).constant_features.size == 0


def test_all_features_may_be_constant():
    with pytest.warns(ConstantFeatureWarning, match="20 of 20 .*'x10', ... and 10 more"):
        data = TrainingData(np.ones((2, 20)), [0, 1])
    assert data.constant_features.tolist() == list(range(20))


# --- the object -----------------------------------------------------------------------------------


@pytest.fixture
def mixed():
    return TrainingData(
        {"a": [1, 2, 3], "b": [0.5, 1.5, 2.5], "c": [7, 8, 9]}, ["n", "y", "y"], [1.0, 2.0, 3.0]
    )


def test_arrays_are_read_only(mixed):
    assert len(arrays_of(mixed)) == 11
    for name, array in arrays_of(mixed).items():
        assert not array.flags.writeable, name
    with pytest.raises(ValueError, match="read-only"):
        mixed.column(0)[0] = 1


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(mixed, protocol):
    copy = pickle.loads(pickle.dumps(mixed, protocol))
    assert_equal_data(copy, mixed)
    assert copy.integer_columns.flags.f_contiguous
    assert copy.real_row_tiles.flags.c_contiguous
    assert not any(array.flags.writeable for array in arrays_of(copy).values())


def test_column(mixed):
    for j, (dtype, index) in enumerate([(np.int8, 0), (np.float64, 0), (np.int8, 1)]):
        column = mixed.column(j)
        assert column.dtype == dtype
        assert column.flags.c_contiguous
        assert not column.flags.writeable
        if dtype is np.int8:
            assert np.shares_memory(column, mixed.integer_columns[:, index])
        else:
            np.testing.assert_array_equal(column, mixed.real_row_tiles[0, index, :3])
    for j in (-1, 3):
        with pytest.raises(IndexError, match=rf"no feature {j}: .* 0\.\.2"):
            mixed.column(j)


def test_repr(mixed):
    assert repr(mixed) == (
        "TrainingData(n_samples=3, n_features=3 (2 integer, 1 real), outcome='outcome', "
        "classes=('n', 'y'), weighted=True)"
    )


# --- properties -----------------------------------------------------------------------------------

n_rows = st.shared(st.integers(2, 40), key="n_rows")


def column_of(elements, dtype):
    return n_rows.flatmap(
        lambda n: st.lists(elements, min_size=n, max_size=n).map(lambda v: np.array(v, dtype))
    )


COLUMNS = st.one_of(
    column_of(st.booleans(), bool),
    column_of(st.integers(-128, 127), np.int8),
    column_of(st.integers(-128, 127), np.float64),
    column_of(st.integers(-130, 130), np.float32),
    column_of(st.integers(0, 2**53 - 1), np.uint64),
    column_of(st.integers(-300, 300), np.int64),
    column_of(st.integers(-(2**53) + 1, 2**53 - 1), object),
    column_of(st.floats(allow_nan=False, allow_infinity=False), np.float64),
    column_of(st.floats(allow_nan=False, allow_infinity=False, width=32), np.float32),
    column_of(st.floats(allow_nan=False, allow_infinity=False, width=16), np.float16),
)


@hypothesis.given(columns=st.lists(COLUMNS, min_size=1, max_size=8), seed=st.integers(0, 99))
@hypothesis.settings(max_examples=60, deadline=None)
def test_columns_are_stored_exactly(columns, seed):
    y = np.random.default_rng(seed).permutation(len(columns[0])) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantFeatureWarning)
        data = TrainingData({f"c{j}": column for j, column in enumerate(columns)}, y)
        uniform = np.column_stack([column.astype(np.float64) for column in columns])
        others = [
            TrainingData(layout, y, feature_names=data.feature_names)
            for layout in (uniform, np.asfortranarray(uniform), pd.DataFrame(uniform))
        ]
    for j, column in enumerate(columns):
        values = column.astype(np.float64)
        np.testing.assert_array_equal(data.column(j).astype(np.float64), values, strict=True)
        fits = bool(np.all((values == np.rint(values)) & (values >= -128) & (values <= 127)))
        assert data.is_integer[j] == fits
        assert (data.feature_min[j], data.feature_max[j]) == (values.min(), values.max())
        assert (j in data.constant_features) == (len(set(values.tolist())) == 1)
    for other in others:
        assert_equal_data(other, data)


# --- memory ---------------------------------------------------------------------------------------


def traced(build):
    tracemalloc.start()
    try:
        data = build()
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return data, held, peak


BIG = (200_000, 30)


@pytest.fixture(scope="module")
def big():
    return np.random.default_rng(0).integers(0, 11, BIG).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray, pd.DataFrame])
def test_peak_memory_of_integers(big, make, weighted):
    n, d = BIG
    X, y = make(big), np.arange(n) % 2
    weights = np.ones(n) if weighted else None
    _, held, peak = traced(lambda: TrainingData(X, y, weights))
    assert held < 1.1 * n * d + 10 * n
    assert peak < 1.1 * n * d + 10 * n + 8 * n  # one float64 column; a full copy would be 8 n d


def test_peak_memory_of_frames_that_copy_every_column(big):
    n, d = BIG
    frame = pd.DataFrame(big).convert_dtypes()
    y = pd.Series(np.arange(n) % 2).map({0: "no", 1: "yes"})
    _, _, peak = traced(lambda: TrainingData(frame, y))
    assert peak < 1.1 * n * d + 10 * n + 2 * 8 * n


@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray])
def test_peak_memory_of_real_values(big, make):
    n, d = BIG
    X = make(big + 0.5 * (np.arange(d) % 2))
    data, held, peak = traced(lambda: TrainingData(X, np.arange(n) % 2))
    assert data.is_integer.sum() == d // 2
    assert held < 4.5 * n * d + 10 * n
    assert peak < 4.5 * n * d + 18 * n


# --- files ----------------------------------------------------------------------------------------

CSV = "id,age,smoker,died,weight\na1,41,true,no,1\na2,60.5,false,yes,2\na3,33,true,no,1\n"


@pytest.fixture(params=["data.csv", "data.csv.gz", "DATA.CSV", "data.parquet"])
def path(request, tmp_path):
    path = tmp_path / request.param
    if path.suffix == ".parquet":
        (tmp_path / "source.csv").write_text(CSV)
        pyarrow.parquet.write_table(pyarrow.csv.read_csv(tmp_path / "source.csv"), path)
    else:
        path.write_bytes(gzip.compress(CSV.encode()) if path.suffix == ".gz" else CSV.encode())
    return path


def test_read_table(path):
    table = read_table(path)
    assert isinstance(table, pa.Table)
    assert table.column_names == ["id", "age", "smoker", "died", "weight"]
    assert table["age"].to_pylist() == [41, 60.5, 33]
    assert read_table(str(path)).equals(table)


def test_from_file(path):
    data = read(path, "died", "weight", exclude=["id"])
    assert data.feature_names == ("age", "smoker")
    assert data.outcome_name == "died"
    assert data.classes == ("no", "yes")
    assert data.is_integer.tolist() == [False, True]
    np.testing.assert_array_equal(columns_of(data), [[41, 1], [60.5, 0], [33, 1]])
    np.testing.assert_array_equal(data.labels, [-1, 1, -1])
    np.testing.assert_array_equal(data.sample_weight, [1, 2, 1])
    other = read(str(path), "smoker", positive_label="False", exclude=("id", "died"))
    assert other.classes == (True, False)
    assert other.feature_names == ("age", "weight")
    assert read(path, "died", exclude="id").feature_names[0] == "age"


def test_from_file_names_bad_columns(path):
    with pytest.raises(ValueError, match=r"could not convert.*'a1'(.|\n)*'id' \(3 of 3 rows"):
        read(path, "died")


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        (
            {"y": "dead"},
            r"no column 'dead' \(did you mean 'died'\?\), given as outcome. Its 5 c",
        ),
        ({"y": "zzz"}, r"no column 'zzz', given as outcome. Its 5 columns are 'id', 'age', "),
        ({"y": "died", "sample_weight": "weigth"}, r"mean 'weight'\?\), given as weights"),
        ({"y": "died", "exclude": ["ID"]}, r"'ID' \(did you mean 'id'\?\), given as exclude"),
        ({"y": "died", "features": ["Age"]}, r"'Age' .*'age'\?\), given as features"),
        ({"y": "died", "features": ["age", "died"]}, "given as outcome and as features"),
        ({"y": "died", "sample_weight": "died"}, "'died' is given as outcome and as weights"),
        ({"y": "died", "exclude": ["died"]}, "'died' is given as outcome and as exclude"),
        ({"y": "died", "features": []}, "no column that is left as a feature"),
        ({"y": "died", "positive_label": "maybe"}, "positive_label='maybe' is not a label"),
        ({"y": "age", "exclude": ["id"]}, "continuous"),
    ],
)
def test_from_file_with_wrong_names(path, kwargs, message):
    with pytest.raises(ValueError, match=message):
        read(path, **kwargs)


@pytest.mark.parametrize(
    "y",
    [
        np.array([["no"], ["yes"], ["no"]]),
        pd.DataFrame({"died": ["no", "yes", "no"]}),
        pl.DataFrame({"died": ["no", "yes", "no"]}),
        pa.table({"died": ["no", "yes", "no"]}),
    ],
    ids=["NumPy", "pandas", "polars", "Arrow"],
)
def test_labels_in_a_table_of_one_column(y):
    data = TrainingData([[0], [1], [1]], y)
    assert data.classes == ("no", "yes")
    assert data.labels.tolist() == [-1, 1, -1]
    named = not isinstance(y, (np.ndarray, pa.Table))  # columns of Arrow have no names
    assert data.outcome_name == ("died" if named else "outcome")


def test_labels_in_a_table_of_two_columns():
    frame = pd.DataFrame({"died": [0, 1, 0], "lost": [0, 1, 1]})
    assert "y should be a 1d array, got an array of shape (3, 2)" in error([[0], [1], [1]], frame)


def test_names_in_the_place_of_values():
    frame = pd.DataFrame({"a": [0, 1], "died": [0, 1]})
    message = error(frame, "died", exception=TypeError)
    assert "y=frame['died']" in message
    assert "riskslim.read(path, 'died')" in message
    message = error("patients.csv", "died", exception=TypeError)
    assert "riskslim.read('patients.csv', outcome)" in message


def test_from_file_with_chosen_features(path):
    data = read(path, "died", features=["weight", "age"])
    assert data.feature_names == ("age", "weight")  # the order of the file
    assert read(path, "died", features="age").feature_names == ("age",)


def test_a_column_without_a_name(tmp_path):
    path = tmp_path / "a.csv"
    pd.DataFrame({"a": [0, 1, 1], "died": [0, 1, 0]}).to_csv(path)  # with the index
    with pytest.raises(ValueError, match=r"a.csv has no name for column 1 of 3; .*index=False"):
        read(path, "died")
    assert read(path, "died", exclude="").feature_names == ("a",)
    assert read(path, "died", features="a").feature_names == ("a",)
    with pytest.raises(ValueError, match="has no name for column 1 of 3"):
        read(path, "died", features=["a", ""])


@pytest.mark.filterwarnings("ignore::riskslim.exceptions.PositiveLabelWarning")
@pytest.mark.parametrize(
    ("text", "encoding", "message"),
    [
        ("größe,died\n1,0\n0,1\n", "cp1252", "as its header shows.*encoding='cp1252'"),
        ("a,died\n1,möglich\n0,nein\n", "cp1252", "as column 'died' shows"),
        ("a,died\n1,0\n0,1\n", "utf-16", "as its byte order mark shows.*encoding='utf-16'"),
    ],
)
def test_encodings(tmp_path, text, encoding, message):
    path = tmp_path / "a.csv"
    path.write_text(text, encoding=encoding)
    with pytest.raises(ValueError, match=f"a.csv is not encoded in UTF-8, {message}"):
        read(path, "died")
    for readable in ("utf-8", "utf-8-sig"):
        path.write_text(text, encoding=readable)
        assert read(path, "died").feature_names == (text.partition(",")[0],)


def test_a_column_is_read_as_it_stands_there(tmp_path):
    frame = pd.DataFrame({"id": ["007", "NA", "1e3", ""], "a": [0, 1, 1, 0]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    for path in (tmp_path / "a.csv", tmp_path / "a.parquet"):
        found = read_verbatim(path, read_table(path), "id")
        assert found.to_pylist() == ["007", "NA", "1e3", ""]
    with pytest.raises(ValueError, match=r"no column 'ID' \(did you mean 'id'\?\)"):
        read_verbatim(path, read_table(path), "ID")


def test_missing_values_in_csv(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,y\n1,2,no\n,3,yes\n4,NA,\n")
    with pytest.raises(ValueError, match=r"Input y contains NaN: 1 of 3 .* row 2"):
        read(path, "y")
    path.write_text("a,b,y\n1,2,no\n,3,yes\n4,NA,no\n")
    with pytest.raises(ValueError, match=r"'a' \(1 of 3 rows, first at row 1\), 'b' \(1 of 3"):
        read(path, "y")


def test_constant_column_of_a_file_warns_at_the_caller(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,y\n1,2,0\n1,3,1\n")
    with pytest.warns(ConstantFeatureWarning, match="'a'") as caught:
        read(path, "y")
    assert caught[0].filename == __file__


def test_wrong_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*none.csv"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(FileNotFoundError, match=r"no file .*none.parquet"):
        read(tmp_path / "none.parquet", "y")
    with pytest.raises(ValueError, match=r"unknown type: .*\.csv, \.csv\.gz, \.parquet"):
        read_table(tmp_path / "data.xlsx")
    for name in ("bad.parquet", "empty.csv"):
        (tmp_path / name).write_text("")
        with pytest.raises(ValueError, match="cannot be read as"):
            read_table(tmp_path / name)
        with pytest.raises(ValueError, match="cannot be read as"):
            read(tmp_path / name, "y")
    (tmp_path / "semicolon.csv").write_text("a;y\n1;0\n2;1\n")
    with pytest.raises(ValueError, match="separated by commas"):
        read(tmp_path / "semicolon.csv", "y")
    (tmp_path / "twice.csv").write_text("a,a,y\n1,0,1\n")
    with pytest.raises(ValueError, match="'a' more than once"):
        read(tmp_path / "twice.csv", "y")


def test_parquet_names_with_dots_and_nested_columns(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"a": [1, 2], "a.b": [3, 4], "s": [{"t": 1}, {"t": 2}], "y": [0, 1]})
    pyarrow.parquet.write_table(table, path)
    data = read(path, "y", exclude=["s"])
    assert data.feature_names == ("a", "a.b")
    np.testing.assert_array_equal(columns_of(data), [[1, 3], [2, 4]])
    with pytest.raises(TypeError, match=r"'s' \("):
        read(path, "y")


def test_without_pyarrow(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("a,y\n1,0\n2,1\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for reader in (read_table, lambda path: read(path, "y")):
        with pytest.raises(ImportError, match=r'pip install "\.\[cli\]"'):
            reader(tmp_path / "a.csv")


PARQUET_PEAK = """
import sys
from pathlib import Path
import pyarrow.parquet
from riskslim.data.training_data import TrainingData
from riskslim.reader import read
def peak():
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])
read(sys.argv[1], "y")  # imports and buffers
before = peak()
read(sys.argv[2], "y")
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_peak_memory_of_parquet(big, tmp_path):
    n, d = BIG
    frame = pd.DataFrame(big).rename(columns=str).assign(y=np.where(np.arange(n) % 2, "yes", "no"))
    for name, rows in (("small", 100), ("large", n)):
        pyarrow.parquet.write_table(pa.table(frame[:rows]), tmp_path / f"{name}.parquet")
    arguments = [tmp_path / "small.parquet", tmp_path / "large.parquet"]

    def peak() -> int:
        command = [sys.executable, "-c", PARQUET_PEAK, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return int(done.stdout)

    # The packed data, a few single columns and the allocators' slack; the table alone has 8 n d.
    # How much an allocator holds back varies from run to run: the least of three counts.
    most = 1.1 * n * d + 10 * n + 0.5 * 8 * n * d
    assert any(peak() < most for _ in range(3))


def test_import_is_light():
    code = (
        "import sys, riskslim.data.training_data, riskslim.datasets; print([m for m in "
        "('scipy', 'sklearn', 'pandas', 'polars', 'pyarrow', 'narwhals', 'numba', 'cplex') "
        "if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("scale", [1e-320, 1e-150, 1e150, 1e306])
def test_weights_that_leave_float64(scale):
    X, y = [[0, 1], [1, 0], [1, 1], [0, 0]], [0, 1, 1, 0]
    with pytest.raises(ValueError, match="divide all weights by it"):
        TrainingData(X, y, sample_weight=np.full(4, scale))


@pytest.mark.parametrize("lighter", [0, 1])
def test_class_of_negligible_weight(lighter):
    X, y = [[0, 1], [1, 0], [1, 1], [0, 0]], np.array([0, 1, 1, 0])
    with pytest.raises(ValueError, match=rf"Class {lighter} has 1e-20 of the total sample_weight"):
        TrainingData(X, y, sample_weight=np.where(y == lighter, 1e-20, 1.0))
