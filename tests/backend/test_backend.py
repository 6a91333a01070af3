"""The interface for other packages: numbers as NumPy has them, whatever the arrays look like."""

from __future__ import annotations

import itertools
import math
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from riskslim import CoefficientSet, LogisticLoss, TrainingData, backend
from riskslim.backend import prepared as prepared_module

DTYPES = ("bool", "int8", "int64", "uint16", "float32", "float64", ">f8")
LAYOUTS = ("C", "F", "strided", "reversed", "read-only")


def arrays(seed, n=60, d=4, dtype="int8", high=2):
    """X of some dtype, y of 0 and 1."""
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f" and high > 2:
        X = random.normal(size=(n, d)).astype(dtype)
    else:
        X = random.integers(0, high, (n, d)).astype(dtype)
    y = random.integers(0, 2, n)
    y[:2] = 0, 1
    return X, y


def laid_out(X, layout):
    if layout == "F":
        return np.asfortranarray(X)
    if layout == "strided":
        wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), X.dtype)
        wide[::2, ::3] = X
        return wide[::2, ::3]
    if layout == "reversed":
        return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    X = np.ascontiguousarray(X)
    if layout == "read-only":
        X.setflags(write=False)
    return X


def oracle(coef, X, y, weights=None):
    """Loss, gradient and second derivatives, by NumPy alone."""
    z = np.column_stack((np.ones(len(X)), X.astype(np.float64)))
    sign = 2.0 * (y > 0) - 1
    w = np.ones(len(X)) if weights is None else weights.astype(np.float64)
    margin = sign * (z @ coef)
    risk = expit(-margin)
    gradient = -(w * sign * risk) @ z / w.sum()
    hessian = (z * (w * risk * (1 - risk))[:, None]).T @ z / w.sum()
    return w @ np.logaddexp(0, -margin) / w.sum(), gradient, hessian


def weights_for(n, kind):
    if kind == "none":
        return None
    if kind == "counts":
        return np.arange(n) % 3 + 1
    return np.random.default_rng(5).uniform(0.1, 2, n).astype(kind)


# ---- the loss --------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("whole", [True, False], ids=["integers", "reals"])
def test_loss_and_derivatives(dtype, layout, whole):
    for kind, n_threads in (("none", 1), ("counts", 2), ("float32", 1), ("float64", -1)):
        X, y = arrays(1, dtype=dtype, high=9 if not whole and dtype != "bool" else 2)
        X, weights = laid_out(X, layout), weights_for(len(X), kind)
        coef = np.array([-1, 2, 0, 1, -3]) if whole else np.array([0.3, -1.2, 0.5, 0.0, 2.5])
        value, gradient, hessian = oracle(coef, X, y, weights)
        handle = backend.prepare(X, y, weights, n_threads=n_threads)
        for arguments, names in (((handle,), {}), ((X, y, weights), {"n_threads": n_threads})):
            assert backend.loss(coef, *arguments, **names) == pytest.approx(value, rel=1e-13)
            found, slope = backend.loss_and_gradient(coef, *arguments, **names)
            assert found == pytest.approx(value, rel=1e-13)
            np.testing.assert_allclose(slope, gradient, rtol=1e-11, atol=1e-14)
            np.testing.assert_allclose(
                backend.hessian(coef, *arguments, **names), hessian, rtol=1e-11, atol=1e-14
            )


def test_it_is_the_loss_of_the_package():
    X, y = arrays(2, n=500, high=5)
    data = TrainingData(X, y)
    loss = LogisticLoss(data, CoefficientSet(data.feature_names), compress=False)
    for coef in (np.array([-2, 1, 1, 0, 3]), np.array([0.25, -1.5, 0.1, 0.2, 0.3])):
        assert backend.loss(coef, X, y) == loss.value(coef)
        value, gradient = backend.loss_and_gradient(coef, X, y)
        expected = loss.value_and_gradient(coef)
        assert value == expected[0]
        np.testing.assert_array_equal(gradient, expected[1])


@pytest.mark.parametrize("dtype", ["int8", "float64"])
def test_results_do_not_depend_on_threads(dtype):
    X, y = arrays(3, n=40_000, dtype=dtype, high=9)
    coef = np.array([0.5, -1.0, 0.25, 0.125, 1.5])
    one, three = (backend.prepare(X, y, n_threads=n) for n in (1, 3))
    for function in (backend.loss_and_gradient, backend.hessian):
        for a, b in zip(function(coef, one), function(coef, three), strict=True):
            np.testing.assert_array_equal(a, b)


def test_scores_beyond_the_table():
    X, y = arrays(4, high=2)
    for coef in ([20_000, 1, 2, 3, 4], [0, -9000, 9000, 9000, 0], [-(2**31), 0, 2**31, 1, 1]):
        expected = oracle(np.array(coef), X, y)
        value, gradient = backend.loss_and_gradient(np.array(coef), X, y)
        assert value == pytest.approx(expected[0], rel=1e-12)
        np.testing.assert_allclose(gradient, expected[1], rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (False, True), (0.0, 1.0)])
def test_labels(labels):
    X, y = arrays(5)
    given_labels = np.where(y > 0, labels[1], labels[0])
    coef = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    assert backend.loss(coef, X, given_labels) == backend.loss(coef, X, y)


def test_constant_columns_are_the_callers_business():
    X, y = arrays(6)
    X[:, 2] = 1  # warnings are errors in these tests
    coef = np.array([0, 1, 1, 2, 0])
    assert backend.loss(coef, X, y) == pytest.approx(oracle(coef, X, y)[0], rel=1e-13)
    handle = backend.prepare(X, y)
    assert math.isinf(backend.best_steps(np.zeros(5, int), handle).loss[2])


def test_out_is_written_to():
    X, y = arrays(7)
    coef = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    out, square = np.full(5, np.nan), np.full((3, 3), np.nan)
    value, gradient = backend.loss_and_gradient(coef, X, y, out=out)
    assert gradient is out
    np.testing.assert_array_equal(out, backend.loss_and_gradient(coef, X, y)[1])
    features = np.array([3, 0])
    assert backend.hessian(coef, X, y, features=features, out=square) is square
    at = [0, 4, 1]
    np.testing.assert_allclose(square, oracle(coef, X, y)[2][np.ix_(at, at)], rtol=1e-12)
    assert value > 0


@given(st.data())
def test_any_small_arrays(data):
    n, d = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 4))
    dtype = data.draw(st.sampled_from(DTYPES))
    numbers = st.integers(0, 1 if dtype == "bool" else 100)
    cells = data.draw(st.lists(numbers, min_size=n * d, max_size=n * d))
    X = laid_out(np.array(cells).reshape(n, d).astype(dtype), data.draw(st.sampled_from(LAYOUTS)))
    y = np.array([0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))])
    of_rows = st.lists(st.integers(1, 1000), min_size=n, max_size=n)
    weights = data.draw(st.none() | of_rows.map(lambda w: np.array(w) / 8))
    points = st.integers(-3, 3) if data.draw(st.booleans()) else st.floats(-3, 3)
    coef = np.array(data.draw(st.lists(points, min_size=d + 1, max_size=d + 1)))
    value, gradient, _ = oracle(coef, X, y, weights)
    found, slope = backend.loss_and_gradient(coef, X, y, weights)
    assert found == pytest.approx(value, rel=1e-12, abs=1e-300)
    np.testing.assert_allclose(slope, gradient, rtol=1e-9, atol=1e-12)


# ---- searches ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["none", "counts", "float64"])
@pytest.mark.parametrize(("dtype", "high"), [("int8", 4), ("float64", 9)])
def test_line_search_is_the_best_of_all(dtype, high, kind):
    for seed in range(4):
        X, y = arrays(seed, dtype=dtype, high=high)
        weights = weights_for(len(X), kind)
        handle = backend.prepare(X, y, weights)
        coef = np.random.default_rng(seed).integers(-2, 3, 5)
        for position in range(5):
            names = {"lower": -4, "upper": 3, "intercept_lower": -4, "intercept_upper": 3}
            value, loss = backend.line_search(coef, position, handle, **names)
            losses = {}
            for other in range(-4, 4):
                moved = coef.copy()
                moved[position] = other
                losses[other] = oracle(moved, X, y, weights)[0]
            assert loss == pytest.approx(min(losses.values()), rel=1e-12)
            assert losses[value] == pytest.approx(loss, rel=1e-12)
            again = backend.line_search(coef, position, X, y, weights, **names)
            assert again == (value, pytest.approx(loss, rel=1e-14))


@pytest.mark.parametrize(("dtype", "high"), [("bool", 2), ("int8", 4), ("float32", 9)])
def test_best_steps(dtype, high):
    for seed in range(4):
        X, y = arrays(seed, d=5, dtype=dtype, high=high)
        coef = np.array([-1, 2, 0, 0, 0, 0])
        steps = backend.best_steps(coef, X, y, intercept_lower=-9, intercept_upper=9)
        assert math.isinf(steps.loss[0])
        for j in range(1, 5):
            assert steps.value[j] != 0
            moved = coef.copy()
            moved[[0, j + 1]] = steps.intercept[j], steps.value[j]
            assert steps.loss[j] == pytest.approx(oracle(moved, X, y)[0], rel=1e-12)
            alone = coef.copy()
            alone[0] = steps.intercept[j]
            lines = []
            for value in (*range(-5, 0), *range(1, 6)):
                alone[j + 1] = value
                lines.append(oracle(alone, X, y)[0])
            assert steps.loss[j] <= min(lines) * (1 + 1e-12)


def test_descent_and_rounding_find_what_the_package_finds():
    from riskslim import RiskScoreProblem, discrete_coordinate_descent, sequential_rounding

    X, y = arrays(9, n=300, d=6, high=3)
    data = TrainingData(X, y)
    coefficients = CoefficientSet(data.feature_names, -4, 4)
    problem = RiskScoreProblem(data, coefficients, max_size=3, l0_penalty=1e-3)
    names = {"lower": -4, "upper": 4, "max_size": 3, "l0_penalty": 1e-3}
    handle = backend.prepare(X, y)
    real = np.array([0.3, -0.4, 1.7, 0.2, -2.6, 0.7, 0.1])
    for arguments in ((handle,), (X, y)):
        rounded = backend.sequential_rounding(real, *arguments, **names)
        expected = sequential_rounding(problem, real)
        np.testing.assert_array_equal(rounded.coef, expected.coefficients)
        assert rounded.objective == pytest.approx(expected.objective, rel=1e-14)
        found = backend.coordinate_descent(rounded.coef, *arguments, swaps=True, **names)
        expected = discrete_coordinate_descent(problem, rounded.coef, swaps=True)
        np.testing.assert_array_equal(found.coef, expected.coefficients)
        assert found.objective == pytest.approx(expected.objective, rel=1e-14)


def test_descent_is_1_opt():
    X, y = arrays(10, n=100, d=3, high=3)
    found = backend.coordinate_descent(np.zeros(4, int), X, y, lower=-2, upper=2)
    assert found.objective == pytest.approx(oracle(found.coef, X, y)[0], rel=1e-12)
    for j, value in itertools.product(range(1, 4), range(-2, 3)):
        other = found.coef.copy()
        other[j] = value
        assert oracle(other, X, y)[0] >= found.objective * (1 - 1e-12)


def test_bounds_of_columns():
    X, y = arrays(11, n=200)
    lower, upper = np.array([0, -5, 0, 1]), np.array([5, 0, 0, 2], np.int8)
    start = np.array([0, 0, 0, 0, 1])
    found = backend.coordinate_descent(start, X, y, lower=lower, upper=upper)
    assert ((lower <= found.coef[1:]) & (found.coef[1:] <= upper)).all()
    handle = backend.prepare(X, y)
    for most in range(20):  # more problems than are remembered
        backend.coordinate_descent(np.zeros(5, int), handle, upper=most)
    again = backend.coordinate_descent(start, handle, lower=lower, upper=upper)
    np.testing.assert_array_equal(again.coef, found.coef)


# ---- counts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["none", "counts"])
@pytest.mark.parametrize("merge", [True, False])
def test_support_tables(kind, merge):
    X, y = arrays(12, n=3000, d=5, high=3)
    X[:, 1] -= 1
    weights = weights_for(len(X), kind)
    w = np.ones(len(X)) if weights is None else weights
    arguments = (backend.prepare(X, y, weights),) if merge else (X, y, weights)
    if kind == "none" and merge:
        assert arguments[0].loss.rows.n_rows < len(X)  # equal rows are merged
    for features in ([], [2], [3, 0], [4, 1, 2]):
        table = backend.support_table(np.array(features, int), *arguments)
        assert table.values.shape == (len(table.weights), len(features))
        assert len(np.unique(table.values, axis=0)) == len(table.values) or not features
        for values, counted in zip(table.values, table.weights, strict=True):
            here = (X[:, features] == values).all(axis=1)
            expected = [w[here & (y == label)].sum() for label in (0, 1)]
            np.testing.assert_allclose(counted, expected, rtol=1e-12, atol=1e-9)
        assert table.weights.sum() == pytest.approx(w.sum())


@pytest.mark.parametrize("kind", ["none", "counts"])
def test_joint_counts(kind):
    X, y = arrays(13, n=2000, d=5, high=3)
    X = X.astype(float)
    X[:, 3] += 0.5  # not counted
    X[:, 4] += 1
    weights = weights_for(len(X), kind)
    w = np.ones(len(X)) if weights is None else weights
    coef = np.array([-1, 2, 0, -1, 0, 0])
    found = backend.joint_counts(coef, X, y, weights)
    scores = (coef[0] + X @ coef[1:]).astype(int)
    np.testing.assert_array_equal(found.scores, np.unique(scores))
    assert set(found.features.tolist()) == {0, 1, 2, 4}
    assert found.rest.tolist() == [0] * 6 + [1] * 2
    for g, score in enumerate(found.scores):
        for label in (0, 1):
            here = (scores == score) & (y == label)
            assert found.total[label, g] == pytest.approx(w[here].sum(), abs=1e-9)
            for p, (j, value) in enumerate(zip(found.features, found.values, strict=True)):
                expected = w[here & (X[:, j] == value)].sum()
                assert found.weights[p, label, g] == pytest.approx(expected, abs=1e-9)


def test_joint_counts_price_any_step():
    X, y = arrays(14, n=500, d=4)
    coef = np.array([-1, 2, 0, 0, 0])
    found = backend.joint_counts(coef, X, y)
    sign = np.array([[-1], [1]])
    for p, j in enumerate(found.features.tolist()):
        moved = coef.copy()
        moved[1 + j] += 3
        with_item, without = found.weights[p], found.total - found.weights[p]
        loss = (with_item * np.logaddexp(0, -sign * (found.scores + 3))).sum()
        loss += (without * np.logaddexp(0, -sign * found.scores)).sum()
        assert loss / len(X) == pytest.approx(oracle(moved, X, y)[0], rel=1e-12)


def test_columns_without_a_plane():
    X, y = np.full((6, 2), 3), np.array([0, 1] * 3)
    counts = backend.joint_counts(np.zeros(3, int), X, y)
    assert counts.features.size == 0
    assert counts.total.tolist() == [[3.0], [3.0]]
    assert backend.support_table(np.array([1, 0]), X, y).values.tolist() == [[3, 3]]


# ---- handles ------------------------------------------------------------------------------------


def test_a_handle_holds_a_copy():
    X, y = arrays(15)
    handle = backend.prepare(X, y)
    coef = np.array([0, 1, -1, 2, 0])
    before = backend.loss(coef, handle)
    X[:] = 7
    y[:] = 0
    assert backend.loss(coef, handle) == before


def test_handles_travel():
    X, y = arrays(16)
    handle = backend.prepare(X, y, np.arange(1, 61), n_threads=2)
    other = pickle.loads(pickle.dumps(handle))
    coef = np.array([0, 1, -1, 2, 0])
    assert backend.loss(coef, other) == backend.loss(coef, handle)
    assert repr(other) == repr(handle)
    assert "weighted" in repr(handle)
    assert (other.n_samples, other.n_features, other.n_threads) == (60, 4, 2)


def test_threads_of_the_caller():
    X, y = arrays(17, n=5000, d=6)
    handle = backend.prepare(X, y)
    coef = np.array([0, 1, -1, 0, 0, 0, 0])

    def all_of_it():
        return (
            backend.loss(coef, handle),
            backend.coordinate_descent(coef, handle).objective,
            backend.joint_counts(coef, handle).weights.sum(),
            backend.support_table(np.array([0, 2]), handle).weights.tolist(),
        )

    expected, found = all_of_it(), []
    threads = [threading.Thread(target=lambda: found.append(all_of_it())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


# ---- the border ---------------------------------------------------------------------------------

COEF = np.array([0, 1, -1, 2, 0])


def refused(X=None, y=None, weights=None, coef=COEF, function=backend.loss, **names):
    good_X, good_y = arrays(18)
    X, y = good_X if X is None else X, good_y if y is None else y
    function(coef, X, y, weights, **names)


def with_cell(value, dtype="float64"):
    X, _ = arrays(18, dtype=dtype)
    X[3, 2] = value
    return X


WRONG = [
    ({"X": [[0, 1]]}, TypeError, "X must be a plain NumPy array, got list"),
    ({"X": np.ma.masked_array(arrays(18)[0])}, TypeError, "got MaskedArray"),
    ({"X": arrays(18)[0].astype(complex)}, TypeError, "X has dtype complex128"),
    ({"X": arrays(18)[0].astype("float16")}, TypeError, "X has dtype float16"),
    *(  # which is float64 on some systems
        [({"X": arrays(18)[0].astype("longdouble")}, TypeError, "X has dtype")]
        if np.dtype("longdouble") != np.dtype("float64")
        else []
    ),
    ({"X": arrays(18)[0].astype(str)}, TypeError, "X has dtype <U"),
    ({"X": arrays(18)[0].astype(object)}, TypeError, "X has dtype object"),
    ({"X": arrays(18)[0].astype("M8[s]")}, TypeError, "X has dtype datetime64"),
    ({"X": np.zeros(60)}, ValueError, r"X has shape \(60,\), expected an array of 2 dimensions"),
    ({"X": np.zeros((60, 0))}, ValueError, "at least one row and one column"),
    ({"X": np.zeros((0, 4)), "y": np.zeros(0)}, ValueError, "at least one row and one column"),
    ({"X": np.zeros((1, 4)), "y": np.ones(1)}, ValueError, "only one class"),
    ({"X": with_cell(np.nan)}, ValueError, "column 2"),
    ({"X": with_cell(-np.inf, "float32")}, ValueError, "column 2"),
    ({"X": with_cell(2**60, "int64")}, ValueError, "column 2"),
    ({"y": np.zeros(60)}, ValueError, "only one class"),
    ({"y": np.arange(60) % 3}, ValueError, "Only binary"),
    ({"y": np.arange(60) % 2 + 1}, ValueError, "y must be 0 and 1, or -1 and [+]1, got 1 and 2"),
    ({"y": np.arange(59) % 2}, ValueError, r"y has shape \(59,\), expected \(60,\)"),
    ({"y": (np.arange(60) % 2)[:, None]}, ValueError, "expected an array of 1 dimension$"),
    ({"y": np.where(np.arange(60) % 2, 1.0, np.nan)}, ValueError, "NaN"),
    ({"y": [0, 1] * 30}, TypeError, "y must be a plain NumPy array"),
    ({"weights": np.ones(3)}, ValueError, r"sample_weight has shape \(3,\)"),
    ({"weights": -np.ones(60)}, ValueError, "Negative"),
    ({"weights": np.full(60, np.nan)}, ValueError, "NaN"),
    ({"weights": np.zeros(60)}, ValueError, "non-zero"),
    ({"weights": "balanced"}, TypeError, "sample_weight must be a plain NumPy array"),
    ({"coef": [0, 1, 2, 3, 4]}, TypeError, "coef must be a plain NumPy array"),
    ({"coef": np.zeros(4)}, ValueError, r"coef has shape \(4,\), expected \(5,\)"),
    ({"coef": np.zeros(0)}, ValueError, r"coef has shape \(0,\)"),
    ({"coef": np.zeros((5, 1))}, ValueError, "expected an array of 1 dimension$"),
    ({"coef": np.array([0, 1, np.nan, 1, 1])}, ValueError, "first one at position 2"),
    ({"coef": np.full(5, 2**60)}, ValueError, "2[*][*]53"),
    ({"coef": np.full(5, 1e308), "X": np.full((60, 4), 9)}, ValueError, "leave float64"),
    ({"n_threads": 0}, ValueError, "n_threads"),
    ({"n_threads": 1.5}, TypeError, "n_threads"),
]


@pytest.mark.parametrize(("wrong", "error", "message"), WRONG)
def test_wrong_arrays(wrong, error, message):
    with pytest.raises(error, match=message):
        refused(**wrong)


def test_derivatives_leave_float64():
    X, y = arrays(18)
    for function in (backend.loss_and_gradient, backend.hessian):
        found = function(1e150 * COEF, X * 100, y)
        assert all(np.isfinite(part).all() for part in found)
        with pytest.raises(ValueError, match="leave float64"):
            function(8e307 * COEF, X * 100, y)


def read_only(shape):
    out = np.empty(shape)
    out.setflags(write=False)
    return out


OUTPUTS = [
    ([0.0] * 5, TypeError, "out must be a NumPy array of float64, got list"),
    (np.empty(5, np.float32), TypeError, "got dtype float32"),
    (np.empty(5, ">f8"), TypeError, "got dtype >f8"),
    (np.empty(4), ValueError, r"out has shape \(4,\), expected \(5,\)"),
    (np.empty((5, 1)), ValueError, r"out has shape \(5, 1\)"),
    (read_only(5), ValueError, "out is read-only"),
    (np.empty(10)[::2], ValueError, "contiguous"),
    (np.empty(41, np.int8)[1:].view(np.float64), ValueError, "aligned"),
]


@pytest.mark.parametrize(("out", "error", "message"), OUTPUTS)
def test_wrong_outputs(out, error, message):
    with pytest.raises(error, match=message):
        refused(function=backend.loss_and_gradient, out=out)


def test_outputs_that_overlap():
    X, y = np.zeros((60, 5)), np.arange(60) % 2.0
    X[::3] = 1
    with pytest.raises(ValueError, match="out shares memory with X"):
        backend.loss_and_gradient(np.zeros(5), X[:, :4], y, out=X[7])
    coef = np.zeros(5)
    with pytest.raises(ValueError, match="out shares memory with coef"):
        backend.loss_and_gradient(coef, X[:, :4], y, out=coef)
    with pytest.raises(ValueError, match="out shares memory with y"):
        backend.loss_and_gradient(coef, X[:, :4], y, out=y[:5])
    weights = np.ones(60)
    with pytest.raises(ValueError, match="out shares memory with sample_weight"):
        backend.hessian(coef, X[:, :4], y, weights, out=weights[:25].reshape(5, 5))
    beside = X[7, 4:5]  # between cells that are read, and none of them
    assert backend.hessian(
        np.zeros(5), X[:, :4], y, features=np.zeros(0, int), out=beside[None]
    ) == pytest.approx(0.25)


@pytest.mark.parametrize("features", [[0], np.array([0.0]), np.array([[0]]), np.array([4]),
                                      np.array([-1]), np.array([True])])  # fmt: skip
def test_wrong_columns(features):
    X, y = arrays(18)
    with pytest.raises((TypeError, ValueError), match="features"):
        backend.hessian(COEF, X, y, features=features)
    with pytest.raises((TypeError, ValueError), match="features"):
        backend.support_table(features, X, y)


def test_wrong_counts():
    X, y = arrays(18)
    with pytest.raises(ValueError, match="features must differ"):
        backend.support_table(np.array([1, 1]), X, y)
    real = X + 0.5
    with pytest.raises(ValueError, match="no column of X has few values"):
        backend.support_table(np.array([1]), real, y)
    real[:, 0] = X[:, 0]
    with pytest.raises(ValueError, match="column 1 of X has more than 8 different values"):
        backend.support_table(np.array([1]), real, y)
    with pytest.raises(ValueError, match="at most 48 different weights"):
        backend.joint_counts(COEF, np.tile(X, (2, 1)), np.tile(y, 2), np.linspace(1, 2, 120))
    wide = np.tile(np.arange(60)[:, None] % 8, (1, 3))
    with pytest.raises(ValueError, match="21 values besides one of each, more than 16"):
        backend.support_table(np.arange(3), wide, y)
    items, labels = np.random.default_rng(0).integers(0, 2, (2000, 9)), np.arange(2000) % 2
    with pytest.raises(ValueError, match="more than 256"):
        backend.joint_counts(np.concatenate(([0], 2 ** np.arange(9))), items, labels)


SEARCHES = [
    lambda coef, *rest, **names: backend.line_search(coef, 1, *rest, **names),
    backend.best_steps,
    backend.coordinate_descent,
]


@pytest.mark.parametrize("function", SEARCHES)
@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"coef": COEF + 0.5}, ValueError, "no integers"),
        ({"coef": COEF * 2.0**40}, ValueError, "no integers within"),
        ({"coef": COEF * 6}, ValueError, "outside of -5..5"),
        ({"lower": 1.5}, TypeError, "lower must be an int"),
        ({"lower": np.zeros(3, int)}, ValueError, r"lower has shape \(3,\), expected \(4,\)"),
        ({"upper": np.zeros(4)}, TypeError, "upper has dtype float64"),
        ({"upper": 2**40}, ValueError, "upper must be at most"),
        ({"lower": np.full(4, -(2**40))}, ValueError, "lower must be at most"),
        ({"lower": 3, "upper": 2}, ValueError, "exceeds"),
        ({"intercept_lower": 1.0}, TypeError, "intercept_lower must be an int"),
        ({"intercept_lower": 3, "intercept_upper": 2}, ValueError, "intercept"),
    ],
)
def test_wrong_searches(function, wrong, error, message):
    with pytest.raises(error, match=message):
        refused(function=function, **wrong)


def test_wrong_searches_of_some_functions():
    X, y = arrays(18)
    with pytest.raises(ValueError, match="model size is 3"):
        backend.coordinate_descent(COEF, X, y, max_size=2)
    with pytest.raises(ValueError, match="max_size"):
        backend.coordinate_descent(COEF, X, y, max_size=-1)
    with pytest.raises(TypeError, match="max_size must be an int"):
        backend.coordinate_descent(COEF, X, y, max_size=2.0)
    with pytest.raises(TypeError, match="swaps"):
        backend.coordinate_descent(COEF, X, y, swaps=1)
    for penalty in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="l0_penalty"):
            backend.sequential_rounding(COEF, X, y, l0_penalty=penalty)
    with pytest.raises(TypeError, match="l0_penalty"):
        backend.sequential_rounding(COEF, X, y, l0_penalty="1")
    with pytest.raises(ValueError, match="cannot be rounded"):
        backend.sequential_rounding(COEF, X, y, max_size=2)
    with pytest.raises(ValueError, match="not within their bounds"):
        backend.sequential_rounding(COEF * 3.0, X, y)
    for position, error in ((5, ValueError), (-1, ValueError), (1.0, TypeError), (True, TypeError)):
        with pytest.raises(error, match="position"):
            backend.line_search(COEF, position, X, y)


def test_columns_that_are_too_large():
    X, y = arrays(18, dtype="float64")
    X[5, 3] = 1e150
    coef = np.array([0, 1, -1, 2, 0])
    for function in (backend.best_steps, backend.coordinate_descent, backend.sequential_rounding):
        with pytest.raises(ValueError, match=r"column 3 of X reaches 1e\+150"):
            function(coef, X, y)
    upper = np.array([5, 5, 5, 0])
    found = backend.coordinate_descent(coef, X, y, lower=-upper, upper=upper)
    assert found.objective == pytest.approx(oracle(found.coef, X, y)[0], rel=1e-12)


def test_nothing_besides_a_handle():
    X, y = arrays(18)
    handle = backend.prepare(X, y)
    for names in ({"y": y}, {"sample_weight": np.ones(60)}, {"n_threads": 1}):
        with pytest.raises(TypeError, match="given besides prepared data"):
            backend.loss(COEF, handle, **names)
    with pytest.raises(TypeError, match="y is missing"):
        backend.loss(COEF, X)


# ---- the names ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", backend.__all__)
def test_names_are_described(name):
    described = getattr(backend, name).__doc__
    assert described
    if name[0].islower():
        assert ">>>" in described
        assert "Returns" in described
    else:
        assert "Attributes" in described


def test_memory_of_problems_is_bounded():
    X, y = arrays(19)
    handle = backend.prepare(X, y)
    for most in range(2 * prepared_module._REMEMBERED):
        backend.best_steps(np.zeros(5, int), handle, upper=most)
    assert len(handle._problems) == prepared_module._REMEMBERED
