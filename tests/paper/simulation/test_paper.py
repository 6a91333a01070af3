"""The paper's simulation procedure: nested, deterministic, faithful to its source data."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskslim import TrainingData
from riskslim.exceptions import ConstantFeatureWarning
from riskslim.paper.simulation import SimulatedData, simulate, source_data

KINDS = ("integer", "binary", "real")

# More rows than one block holds, and not a multiple of it.
N_LARGE = 2 * 32768 + 5000


@pytest.fixture(scope="module")
def large() -> dict[str, SimulatedData]:
    return {kind: simulate(N_LARGE, 21, kind=kind, random_state=3) for kind in KINDS}


def same(a: SimulatedData, b: SimulatedData) -> bool:
    return (
        np.array_equal(a.X, b.X)
        and np.array_equal(a.y, b.y)
        and a.feature_names == b.feature_names
        and np.array_equal(a.source_features, b.source_features)
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("n", "d"),
    [
        (1, 1),
        (2, 9),
        (999, 10),
        (999, 21),
        (32767, 1),
        (32768, 10),
        (32769, 20),
        (65536, 10),
        (N_LARGE, 1),
        (N_LARGE, 10),
        (N_LARGE, 21),
    ],
)
def test_smaller_data_are_the_top_left_part(large, kind, n, d):
    small, whole = simulate(n, d, kind=kind, random_state=3), large[kind]
    part = SimulatedData(
        whole.X[:n, :d], whole.y[:n], whole.feature_names[:d], whole.source_features[:d]
    )
    assert same(small, part)


@given(
    n=st.integers(1, 300),
    d=st.integers(1, 30),
    more_rows=st.integers(0, 300),
    more_features=st.integers(0, 30),
    seed=st.integers(0, 2**64),
    n_source=st.integers(2, 40),
    d_source=st.integers(1, 12),
)
def test_nested_for_any_source(n, d, more_rows, more_features, seed, n_source, d_source):
    random = np.random.default_rng(n_source * 100 + d_source)
    X = random.integers(0, 11, size=(n_source, d_source))
    X[:2] = [[0], [10]]  # no constant columns
    source = (X, np.arange(n_source) % 2)
    small = simulate(n, d, source=source, random_state=seed)
    large = simulate(n + more_rows, d + more_features, source=source, random_state=seed)
    assert np.array_equal(large.X[:n, :d], small.X)
    assert np.array_equal(large.y[:n], small.y)
    assert large.feature_names[:d] == small.feature_names


def test_shapes_types_and_layout(large):
    for kind, data in large.items():
        assert data.X.shape == (N_LARGE, 21)
        assert data.X.dtype == (np.float64 if kind == "real" else np.int8)
        assert data.X.flags.f_contiguous
        assert data.X.flags.owndata
        assert data.y.shape == (N_LARGE,)
        assert data.y.dtype == np.int8
        assert set(np.unique(data.y)) == {0, 1}
        assert data.source_features.dtype == np.intp
        assert len(set(data.feature_names)) == 21


def test_ranges(large):
    assert set(np.unique(large["integer"].X)) == set(range(11))
    assert set(np.unique(large["binary"].X)) == {0, 1}
    real = large["real"].X
    assert real.min() == 0
    assert real.max() == 10
    inside = real[(real > 0) & (real < 10)]
    assert (inside != np.rint(inside)).mean() > 0.999


def test_kinds_come_from_the_same_draws(large):
    real, integer, binary = (large[kind] for kind in ("real", "integer", "binary"))
    assert np.array_equal(np.rint(real.X), integer.X)
    medians = np.median(source_data()[0], axis=0)[integer.source_features]
    assert np.array_equal(medians < integer.X, binary.X)
    assert np.array_equal(real.y, integer.y)
    assert np.array_equal(binary.y, integer.y)


def test_binary_feature_at_the_upper_bound():
    # The median is 10: values that the noise lifts above 10 are cut to 10 first.
    source = (np.array([[10], [10], [10], [0]]), [0, 1, 0, 1])
    assert not simulate(1000, 1, source=source, kind="binary").X.any()


def test_deterministic_and_seeded():
    first = simulate(2000, 12, random_state=5)
    assert same(first, simulate(2000, 12, random_state=np.int64(5)))
    other = simulate(2000, 12, random_state=6)
    assert (first.X != other.X).mean() > 0.3
    assert (first.y != other.y).mean() > 0.3


def test_each_source_feature_once_per_round():
    for seed in range(20):
        chosen = simulate(1, 30, random_state=seed).source_features
        for first in range(0, 27, 9):
            assert sorted(chosen[first : first + 9]) == list(range(9))
        assert len(set(chosen[27:])) == 3
    orders = {tuple(simulate(1, 9, random_state=seed).source_features) for seed in range(20)}
    assert len(orders) == 20


def test_names_tell_feature_and_copy():
    data = simulate(1, 20)
    copies = dict.fromkeys(range(9), 0)
    for name, k in zip(data.feature_names, data.source_features, strict=True):
        copies[k] += 1
        assert name == f"x{k + 1}_{copies[k]}"


def test_without_noise_rows_are_source_rows():
    X, y = source_data()
    data = simulate(3000, 9, noise=0.0)
    back = np.empty_like(data.X)
    back[:, data.source_features] = data.X
    originals = {(*row, label) for row, label in zip(X.tolist(), y.tolist(), strict=True)}
    drawn = {(*row, label) for row, label in zip(back.tolist(), data.y.tolist(), strict=True)}
    assert drawn <= originals
    # Each row is missed with probability (1 - 1/683)^3000 = 1.2 %.
    assert len(drawn) > 0.95 * len(originals)


def test_rows_are_drawn_uniformly():
    # One feature with one value per row identifies the row.
    source = (np.arange(10)[:, None], np.arange(10) % 2)
    counts = np.bincount(simulate(N_LARGE, 1, source=source, noise=0.0).X[:, 0], minlength=10)
    expected = N_LARGE / 10
    # Chi-square with 9 degrees of freedom; 33.7 has probability 1e-4.
    assert ((counts - expected) ** 2 / expected).sum() < 33.7


@pytest.mark.parametrize("noise", [0.25, 0.5, math.sqrt(0.5)])
def test_noise_is_normal_with_this_standard_deviation(noise):
    # Far from the bounds nothing is cut off.
    source = (np.full((4, 2), 5.0) + np.array([[-0.5], [0.5], [-0.5], [0.5]]), [0, 1, 0, 1])
    data = simulate(N_LARGE, 4, source=source, kind="real", noise=noise)
    residual = (data.X - np.where(data.y == 1, 5.5, 4.5)[:, None]) / noise
    error = 5 / math.sqrt(residual.size)
    assert abs(residual.mean()) < error
    assert abs((residual**2).mean() - 1) < error * math.sqrt(2)
    assert abs((residual**3).mean()) < error * math.sqrt(15)
    assert abs((residual**4).mean() - 3) < error * math.sqrt(96)
    quantiles = np.quantile(residual, [0.025, 0.5, 0.975])
    assert np.allclose(quantiles, [-1.959964, 0, 1.959964], atol=0.02)
    # Columns, also copies of one feature, have noise of their own; so have blocks of rows.
    correlation = np.corrcoef(residual.T) - np.eye(4)
    assert abs(correlation).max() < 5 / math.sqrt(N_LARGE)
    assert abs(np.corrcoef(residual[:32768, 0], residual[32768:65536, 0])[0, 1]) < 5 / 181


def test_follows_the_source(large):
    X, y = source_data()
    data = large["integer"]
    standard_error = 0.5 / math.sqrt(N_LARGE)
    assert abs(data.y.mean() - y.mean()) < 5 * standard_error
    sources = X[:, data.source_features].astype(float)
    assert np.allclose(data.X.mean(axis=0), sources.mean(axis=0), atol=0.1)
    # Noise of 0.5 and rounding weaken correlations a little.
    wanted = np.corrcoef(sources.T)
    assert np.allclose(np.corrcoef(data.X.T), wanted, atol=0.12)
    copies = data.source_features[:, None] == data.source_features
    assert np.corrcoef(data.X.T)[copies].min() > 0.88
    by_label = [np.corrcoef(column, data.y)[0, 1] for column in data.X.T]
    assert np.allclose(by_label, [np.corrcoef(c, y)[0, 1] for c in sources.T], atol=0.05)


def test_built_in_source():
    X, y = source_data()
    assert X.shape == (683, 9)
    assert X.dtype == y.dtype == np.int8
    assert X.min() == 0
    assert X.max() == 10
    assert y.sum() == 239
    again = source_data()
    assert np.array_equal(X, again[0])
    assert np.array_equal(y, again[1])
    correlation = np.corrcoef(X.T)
    assert correlation.min() > 0.3
    assert correlation[~np.eye(9, dtype=bool)].max() < 0.95
    assert all(column.std() > 1 for column in X.T)


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        ([-1, 1, 1], np.int8),
        ([False, True, True], np.bool_),
        (["ill", "well", "well"], np.dtype("<U4")),
        ([0.0, 1.0, 1.0], np.float64),
        ([0, 1000, 1000], np.int64),
    ],
)
def test_labels_are_those_of_the_source(labels, dtype):
    X = [[0, 3], [5, 6], [10, 9]]
    data = simulate(500, 2, source=(X, labels), noise=0.0)
    assert data.y.dtype == dtype
    first = data.X[:, list(data.source_features).index(0)]
    assert np.array_equal(data.y, np.array(labels)[first // 5])


def test_source_as_data_frame():
    frame = pd.DataFrame({"age": [1, 2, 3], "dose": [0.5, 9.25, 4.0]})
    data = simulate(100, 3, source=(frame, pd.Series([0, 1, 1])), kind="real", noise=0.0)
    assert {name.split("_")[0] for name in data.feature_names} == {"age", "dose"}
    for j, name in enumerate(data.feature_names):
        assert set(data.X[:, j]) == set(frame[name.split("_")[0]])


@pytest.mark.shared_data
def test_paper_source(shared_data):
    frame = pd.read_csv(shared_data / "breastcancer_data.csv")
    X, y = frame.drop(columns="Benign"), frame["Benign"]
    data = simulate(20000, 30, source=(X, y))
    assert set(np.unique(data.X)) == set(range(11))
    assert np.allclose(data.X.mean(axis=0), X.mean().to_numpy()[data.source_features], atol=0.15)
    assert abs(data.y.mean() - y.mean()) < 0.02
    assert data.feature_names[0].rsplit("_", 1)[0] in X.columns


def test_goes_into_training_data_as_it_is():
    data = simulate(400, 12)
    packed = TrainingData(data.X, data.y, feature_names=data.feature_names)
    assert packed.is_integer.all()
    assert np.array_equal(packed.integer_columns, data.X)


@pytest.mark.parametrize(("kind", "bytes_per_cell"), [("integer", 1), ("real", 8)])
def test_memory_is_that_of_the_result(kind, bytes_per_cell):
    tracemalloc.start()
    try:
        data = simulate(300_000, 20, kind=kind)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert data.X.nbytes == 300_000 * 20 * bytes_per_cell
    # Beside the result: a few blocks of 32768 rows, 256 KiB each.
    assert peak < data.X.nbytes + data.y.nbytes + 2_000_000


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_samples": 0}, ValueError, "n_samples must be at least 1, got 0"),
        ({"n_features": -3}, ValueError, "n_features must be at least 1, got -3"),
        ({"n_samples": 1e3}, TypeError, "n_samples must be an int, got 1000.0"),
        ({"n_features": True}, TypeError, "n_features must be an int, got True"),
        ({"random_state": -1}, ValueError, "random_state must be at least 0, got -1"),
        ({"random_state": None}, TypeError, "random_state must be an int, got None"),
        ({"noise": -0.1}, ValueError, "noise must be finite and at least 0, got -0.1"),
        ({"noise": math.nan}, ValueError, "noise must be finite"),
        ({"noise": math.inf}, ValueError, "noise must be finite"),
        ({"kind": "int"}, ValueError, "kind must be one of 'integer', 'binary', 'real', got 'int'"),
        ({"source": "breastcancer"}, TypeError, r"source must be a pair \(X, y\), got str"),
        ({"source": ([[1], [2]],)}, TypeError, r"source must be a pair \(X, y\), got tuple"),
        ({"source": ([[1], [2]], [1, 1])}, ValueError, "class"),
        ({"source": ([[1], [math.nan]], [0, 1])}, ValueError, "missing|NaN"),
        (
            {"source": ([[1, 0, 3], [2, 11, -1]], [0, 1])},
            ValueError,
            r"2 of 3 source features .* outside of 0..10, the first one is 'x2' with 0..11",
        ),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        simulate(**{"n_samples": 10, "n_features": 2, **arguments})


def test_constant_source_feature_is_told():
    with pytest.warns(ConstantFeatureWarning, match="'x2'"):
        simulate(10, 2, source=([[1, 4], [2, 4]], [0, 1]))
