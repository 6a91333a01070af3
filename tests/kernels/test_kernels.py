"""Every kernel against one naive NumPy (or mpmath) oracle."""

import functools
import math

import mpmath
import numpy as np
import pytest

from grids import for_each
from riskslim._kernels import BACKENDS, integer, load, ranges, real
from riskslim.data.row_tiles import TILE_ROWS, as_row_tiles

pytestmark = pytest.mark.usefixtures("backend")

BLOCK = 2048
SIZES = [1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5]


def read_only(array):
    array.setflags(write=False)
    return array


class Rows:
    """Random rows with int8 and float64 columns, all read-only."""

    def __init__(self, seed, n, *, d_integer=4, d_real=3, weighted=False, largest=5, extreme=False):
        rng = np.random.default_rng(seed)
        columns = rng.integers(-largest, min(largest, 127) + 1, (n, d_integer)).astype(np.int8)
        if extreme:
            columns[:, 0] = -128
        self.columns = read_only(np.asfortranarray(columns))
        self.real_columns = read_only(np.asfortranarray(rng.normal(size=(n, d_real))))
        self.row_tiles = read_only(as_row_tiles(self.real_columns))
        self.labels = read_only(rng.choice(np.array([-1, 1], dtype=np.int8), n))
        self.weights = read_only(rng.exponential(size=n) if weighted else np.empty(0))
        self.coef = read_only(rng.integers(-3, 4, d_integer).astype(np.int32))
        self.real_coef = read_only(rng.normal(size=d_real))
        self.intercept = 2

    @property
    def scores(self):
        return self.intercept + self.columns.astype(np.int64) @ self.coef

    @property
    def real_scores(self):
        columns = np.hstack((self.columns, self.real_columns))
        return 0.25 + columns @ np.concatenate((self.coef + 0.5, self.real_coef))

    @property
    def weight(self):
        return self.weights if self.weights.size else np.ones(len(self.labels))

    def real_arguments(self):
        return (self.columns, self.coef + 0.5, self.row_tiles, self.real_coef, 0.25)


@functools.cache
def exact_loss(margin):
    """log(1 + exp(-margin)) to fifty digits, rounded once."""
    with mpmath.workdps(50):
        return float(mpmath.log1p(mpmath.exp(-mpmath.mpf(margin))))


@functools.cache
def exact_slope(margin):
    with mpmath.workdps(50):
        return float(-1 / (1 + mpmath.exp(mpmath.mpf(margin))))


def naive_losses(margins):
    return np.log1p(np.exp(-np.abs(margins))) + np.maximum(-margins, 0)


def naive_slopes(scores, labels):
    margins = scores * labels
    return (
        -labels
        * np.where(margins > 0, np.exp(-np.abs(margins)), 1)
        / (1 + np.exp(-np.abs(margins)))
    )


# ---- scalar numerics -------------------------------------------------------------

ADVERSARIAL = [
    *(sign * 10.0**k for k in range(-300, 3, 7) for sign in (1, -1)),
    *(sign * math.log(math.sqrt(2) - 1) + eps for sign in (1, -1) for eps in (-1e-15, 0, 1e-15)),
    *(k * math.log(2) * 0.5 for k in range(-60, 61)),
    *(sign * x for x in (36.7, 37.5, 700.0, 708.4, 709.8, 735.0, 743.9) for sign in (1, -1)),
    0.0,
    1e4,
    -1e4,
    1e300,
    -1e300,
]


@for_each(margin=ADVERSARIAL)
def test_loss_of_one_score_is_accurate(margin):
    one, none = np.array([1], dtype=np.int8), np.empty(0)
    got = real.scores_loss(np.array([margin]), one, none, 1)
    expected = exact_loss(margin)
    # Subnormal results have fewer digits: one unit of the last place is 5e-324.
    assert got == pytest.approx(expected, rel=4e-16, abs=5e-324)
    assert real.scores_loss(np.array([-margin]), -one, none, 1) == got


@for_each(n=[1, 31, 255, 256, 257, 700], scale=[1e-9, 1.0, 30.0, 700.0])
def test_losses_that_share_a_logarithm_keep_their_accuracy(n, scale):
    rng = np.random.default_rng(n)
    labels = rng.choice(np.array([-1, 1], dtype=np.int8), n)
    # All margins positive: the sum is as small as the tails are.
    scores = labels * rng.uniform(0.5, 1.0, n) * scale
    for signs in (1.0, rng.choice([-1.0, 1.0], n)):
        with mpmath.workdps(50):
            terms = [mpmath.log1p(mpmath.exp(-mpmath.mpf(m))) for m in signs * scores * labels]
            expected = float(mpmath.fsum(terms))
        assert real.scores_loss(signs * scores, labels, np.empty(0), 1) == pytest.approx(
            expected, rel=1e-15
        )


@for_each(value=[np.nan, -np.inf], weights=[np.empty(0), np.ones(300)])
def test_scores_that_are_not_finite_are_not_hidden(value, weights):
    scores, labels = np.zeros(300), np.ones(300, dtype=np.int8)
    scores[137] = value
    assert not math.isfinite(real.scores_loss(scores, labels, weights, 1))


@for_each(margin=ADVERSARIAL)
def test_slope_of_one_score_is_accurate(margin):
    sums, errors = np.zeros((2, 1))
    nothing = np.empty((1, 0)), np.empty(0)
    real.loss_and_gradient(
        np.empty((1, 0), dtype=np.int8, order="F"),
        nothing[1],
        as_row_tiles(nothing[0]),
        nothing[1],
        margin,
        np.array([1], dtype=np.int8),
        np.empty(0),
        sums,
        errors,
        1,
    )
    assert sums[0] == pytest.approx(exact_slope(margin), rel=6e-16, abs=5e-324)


def test_tables_are_accurate():
    low, high = -800, 900
    tail, slope = np.empty(high - low + 1), np.empty((2, high - low + 1))
    integer.fill_tables(low, 1.0, tail, slope)
    for k, score in enumerate(range(low, high + 1)):
        assert tail[k] == pytest.approx(exact_loss(abs(score)), rel=4e-16, abs=5e-324)
        assert slope[0, k] == pytest.approx(-exact_slope(-score), rel=6e-16, abs=5e-324)
        assert slope[1, k] == pytest.approx(exact_slope(score), rel=6e-16, abs=5e-324)


# ---- integer scores ----------------------------------------------------------------


class TestInteger:
    @for_each(n=SIZES, weighted=[False, True])
    def test_scores_and_positions(self, n, weighted):
        rows = Rows(n, n, weighted=weighted)
        out = np.empty(n, dtype=np.int32)
        integer.scores(rows.columns, rows.coef, rows.intercept, out, 1)
        np.testing.assert_array_equal(out, rows.scores)
        low, width = int(out.min()), int(out.max() - out.min()) + 1
        integer.positions(rows.columns, rows.coef, rows.intercept, rows.labels, low, width, out, 1)
        np.testing.assert_array_equal(out, rows.scores - low + width * (rows.labels > 0))

    @for_each(n=SIZES, weighted=[False, True])
    def test_histogram(self, n, weighted):
        rows = Rows(n, n, weighted=weighted)
        low, high = int(rows.scores.min()), int(rows.scores.max())
        expected = np.stack(
            [
                np.bincount((rows.scores - low)[own], rows.weight[own], high - low + 1)
                for own in (rows.labels < 0, rows.labels > 0)
            ]
        )
        arguments = (rows.columns, rows.coef, rows.intercept, rows.labels)
        if weighted:
            total, error = np.zeros_like(expected), np.zeros_like(expected)
            integer.weighted_histogram(*arguments, rows.weights, low, total, error, 1)
            np.testing.assert_allclose(total + error, expected, rtol=1e-13)
            assert math.fsum([*total.flat, *error.flat]) == math.fsum(rows.weights)
        else:
            counts = np.zeros((1, *expected.shape), dtype=np.int64)
            integer.histogram(*arguments, low, counts, 1)
            np.testing.assert_array_equal(counts[0], expected)
            counts = np.zeros((integer.n_copies(), *expected.shape), dtype=np.int64)
            integer.count_scores(*arguments, low, counts, 1)
            np.testing.assert_array_equal(counts.sum(axis=0), expected)
            counts, outside = np.zeros_like(counts), np.zeros(1, dtype=np.int64)
            given = (rows.scores.astype(np.int32), rows.labels)
            integer.count_given(*given, low, counts, outside, 1)
            np.testing.assert_array_equal(counts.sum(axis=0), expected)
            assert outside[0] == 0
            integer.count_given(*given, low + 1, np.zeros_like(counts), outside, 1)
            assert outside[0] == np.count_nonzero(rows.scores == low)
            for extreme in (-(2**31), 2**31 - 1):
                outside[0] = 0
                far = np.full(n, extreme, dtype=np.int32)
                integer.count_given(far, rows.labels, low, np.zeros_like(counts), outside, 1)
                assert outside[0] == n

    @for_each(n=SIZES, weighted=[False, True])
    def test_gradient(self, n, weighted):
        rows = Rows(n, n, weighted=weighted)
        low, high = int(rows.scores.min()), int(rows.scores.max())
        tail, slope = np.empty(high - low + 1), np.empty((2, high - low + 1))
        integer.fill_tables(low, 1.0, tail, slope)
        total, error = np.zeros((2, 4 + 3))
        integer.gradient(
            rows.columns,
            rows.coef,
            rows.intercept,
            rows.row_tiles,
            rows.labels,
            rows.weights,
            low,
            slope,
            total,
            error,
            1,
        )
        slopes = naive_slopes(rows.scores, rows.labels) * rows.weight
        for j, column in enumerate(np.hstack((rows.columns, rows.real_columns)).T):
            terms = slopes * column
            expected = math.fsum(terms)
            scale = math.fsum(np.abs(terms))
            assert total[j] + error[j] == pytest.approx(expected, abs=1e-14 * scale)


@for_each(n=SIZES)
def test_fixed_point_gradient(n):
    for largest in (5, 128):  # the largest products must not overflow
        rows = Rows(n, n, largest=largest, extreme=largest == 128)
        low, high = int(rows.scores.min()), int(rows.scores.max())
        tail, slope = np.empty(high - low + 1), np.empty((2, high - low + 1))
        integer.fill_tables(low, 1.0, tail, slope)
        digits = np.empty(slope.shape, dtype=np.uint64)
        integer.fill_digits(slope, digits)
        counts = np.zeros((integer.n_copies(), *slope.shape), dtype=np.int64)
        sums, gradient = np.zeros((4, 3), dtype=np.int64), np.empty(4)
        arguments = (rows.columns, rows.coef, rows.intercept, rows.labels, low)
        integer.count_scores_and_slopes(*arguments, digits, counts, sums, 1)
        integer.digits_gradient(sums, gradient)
        again = np.zeros_like(counts)
        integer.count_scores(*arguments, again, 1)
        np.testing.assert_array_equal(counts, again)
        slopes = naive_slopes(rows.scores, rows.labels)
        for j, column in enumerate(rows.columns.T.astype(float)):
            error = 2.0**-47 * np.abs(column).sum() + 1e-15 * np.abs(slopes * column).sum()
            assert abs(gradient[j] - math.fsum(slopes * column)) <= error


def test_digits_are_balanced_and_exact():
    rng = np.random.default_rng(0)
    special = [0, 1, -1, 0.5, -0.5, 2.0**-46, -(2.0**-47), 32767 / 2**46, -32768 / 2**46]
    slope = np.concatenate((special, rng.uniform(-1, 1, 10_000)))[None].repeat(2, axis=0)
    packed = np.empty(slope.shape, dtype=np.uint64)
    integer.fill_digits(slope, packed)
    digits = packed.view(np.int16).reshape(2, -1, 4).astype(np.int64)
    assert np.abs(digits).max() <= 32767
    value = digits[..., 0] + 65535 * digits[..., 1] + 65535**2 * digits[..., 2]
    np.testing.assert_array_less(np.abs(value / 2.0**46 - slope), 2.0**-47 * (1 + 1e-9))


def test_digit_sums_do_not_overflow():
    # Every product is as large as it can be: digits 32767 times the feature -128.
    n, q = 2 * BLOCK, 32767 + 65535 * 32767 + 65535**2 * 16000
    slope = np.full((2, 1), q / 2.0**46)
    digits = np.empty((2, 1), dtype=np.uint64)
    integer.fill_digits(slope, digits)
    sums, gradient = np.zeros((1, 3), dtype=np.int64), np.empty(1)
    integer.count_scores_and_slopes(
        np.full((n, 1), -128, dtype=np.int8, order="F"),
        np.zeros(1, dtype=np.int32),
        0,
        np.ones(n, dtype=np.int8),
        0,
        digits,
        np.zeros((integer.n_copies(), 2, 1), dtype=np.int64),
        sums,
        1,
    )
    integer.digits_gradient(sums, gradient)
    assert gradient[0] == -128.0 * n * slope[0, 0]


def test_histogram_loss_is_exact_to_the_last_digits():
    rng = np.random.default_rng(0)
    low, width = -60, 150
    tail, slope = np.empty(width), np.empty((2, width))
    integer.fill_tables(low, 1.0, tail, slope)
    counts = rng.integers(0, 10**9, (2, width))
    counts[:, rng.random(width) < 0.3] = 0
    with mpmath.workdps(60):
        value, slopes = mpmath.mpf(0), [mpmath.mpf(0), mpmath.mpf(0)]
        for c, y in enumerate((-1, 1)):
            for k in range(width):
                margin = mpmath.mpf(y * (low + k))
                count = int(counts[c, k])
                value += count * mpmath.log1p(mpmath.exp(-margin))
                slopes[c] -= y * count / (1 + mpmath.exp(margin))
        expected = float(value), float(slopes[0]), float(slopes[1])
    got = integer.histogram_loss(counts[None], low, 1.0, tail, slope)
    assert got == pytest.approx(expected, rel=1e-15)
    weighted = integer.weighted_histogram_loss(
        counts.astype(float), np.zeros(counts.shape), low, 1.0, tail, slope
    )
    assert weighted == pytest.approx(expected, rel=1e-15)


def test_loss_of_separated_rows_keeps_its_relative_accuracy():
    # Every loss is exp(-40): a formula that subtracts scores from each other returns 0 or worse.
    tail, slope = np.empty(81), np.empty((2, 81))
    integer.fill_tables(-40, 1.0, tail, slope)
    counts = np.zeros((2, 81), dtype=np.int64)
    counts[0, 0] = counts[1, 80] = 10**6
    value, negative, positive = integer.histogram_loss(counts[None], -40, 1.0, tail, slope)
    assert value == pytest.approx(2e6 * exact_loss(40), rel=1e-15)
    assert negative == -positive == pytest.approx(-1e6 * exact_slope(40), rel=1e-15)


def test_weighted_histogram_does_not_lose_small_weights():
    n = 40_000
    weights = np.full(n, 1e-9)
    weights[0] = 1e9
    total, error = np.zeros((2, 2, 1))
    integer.weighted_histogram(
        np.zeros((n, 1), dtype=np.int8, order="F"),
        np.zeros(1, dtype=np.int32),
        0,
        np.ones(n, dtype=np.int8),
        weights,
        0,
        total,
        error,
        1,
    )
    assert total[1, 0] + error[1, 0] == math.fsum(weights)


# ---- real-valued scores ----------------------------------------------------------------


REAL_ROWS = {"n": SIZES, "weighted": [False, True], "d_integer": [0, 4], "d_real": [0, 3, 19]}


class TestReal:
    def rows(self, n, weighted, d_integer, d_real):
        return Rows(n, n, weighted=weighted, d_integer=d_integer, d_real=d_real)

    @for_each(**REAL_ROWS)
    def test_scores(self, n, weighted, d_integer, d_real):
        rows = self.rows(n, weighted, d_integer, d_real)
        out = np.empty(n)
        real.scores(*rows.real_arguments(), out, 1)
        np.testing.assert_allclose(out, rows.real_scores, rtol=1e-13, atol=1e-13)

    @for_each(**REAL_ROWS)
    def test_loss(self, n, weighted, d_integer, d_real):
        rows = self.rows(n, weighted, d_integer, d_real)
        scores = np.empty(n)
        real.scores(*rows.real_arguments(), scores, 1)
        expected = math.fsum(rows.weight * naive_losses(scores * rows.labels))
        got = real.loss(*rows.real_arguments(), rows.labels, rows.weights, 1)
        assert got == pytest.approx(expected, rel=1e-14)
        assert real.scores_loss(scores, rows.labels, rows.weights, 1) == got

    @for_each(**REAL_ROWS)
    def test_loss_and_gradient(self, n, weighted, d_integer, d_real):
        rows = self.rows(n, weighted, d_integer, d_real)
        scores = np.empty(n)
        real.scores(*rows.real_arguments(), scores, 1)
        total, error = np.zeros((2, 1 + d_integer + d_real))
        value = real.loss_and_gradient(
            *rows.real_arguments(), rows.labels, rows.weights, total, error, 1
        )
        assert value == real.loss(*rows.real_arguments(), rows.labels, rows.weights, 1)
        slopes = naive_slopes(scores, rows.labels) * rows.weight
        columns = np.hstack((np.ones((n, 1)), rows.columns, rows.real_columns))
        for j, column in enumerate(columns.T):
            expected = math.fsum(slopes * column)
            scale = math.fsum(np.abs(slopes * column))
            assert total[j] + error[j] == pytest.approx(expected, abs=1e-14 * scale)


@for_each(
    n=SIZES, weighted=[False, True],
    slot=[[], [2], [-1, 0], [3, -3, 1, -2], [0, 1, 2, 3, -1, -2, -3, 0]],
)  # fmt: skip
def test_hessian(n, weighted, slot):
    rows = Rows(n, n, weighted=weighted)
    out = np.full((len(slot) + 1, len(slot) + 1), np.nan)
    real.hessian(*rows.real_arguments(), rows.weights, np.array(slot, dtype=np.int64), out, 1)
    columns = [np.ones(n)]
    columns += [rows.columns[:, k] if k >= 0 else rows.real_columns[:, -1 - k] for k in slot]
    scores = np.empty(n)
    real.scores(*rows.real_arguments(), scores, 1)
    e = np.exp(-np.abs(scores))
    curvatures = rows.weight * e / (1 + e) ** 2
    np.testing.assert_array_equal(out, out.T)
    for j, k in np.ndindex(out.shape):
        terms = curvatures * columns[j] * columns[k]
        scale = math.fsum(np.abs(terms))
        assert out[j, k] == pytest.approx(math.fsum(terms), abs=2e-14 * scale)


@for_each(score=[0.0, 1e-9, -3.0, 36.0, -40.0, 700.0, -744.0, 1e5])
def test_curvature_keeps_its_relative_accuracy(score):
    out, nothing = np.empty((1, 1)), np.empty((1, 0))
    real.hessian(
        np.empty((1, 0), dtype=np.int8, order="F"), nothing[0], as_row_tiles(nothing),
        nothing[0], score, nothing[0], np.empty(0, dtype=np.int64), out, 1,
    )  # fmt: skip
    with mpmath.workdps(50):
        e = mpmath.exp(-abs(mpmath.mpf(score)))
        expected = float(e / (1 + e) ** 2)
    assert out[0, 0] == pytest.approx(expected, rel=1e-15, abs=5e-324)


@for_each(n=[1, 31, BLOCK, BLOCK + 1, 3 * BLOCK + 5], t=[0.05, 1.0, 7.0])
def test_derivatives_by_the_scale(n, t):
    """Of scores that are few, as where rows are counted, some with weights of both classes."""
    rng = np.random.default_rng(n)
    scores = rng.normal(scale=4.0, size=n)
    positive, negative = rng.exponential(size=(2, n)) * (rng.random((2, n)) < 0.7)
    margins = np.concatenate((scores, -scores))
    weights, e = np.concatenate((positive, negative)), np.exp(-np.abs(t * margins))
    terms = (
        weights * naive_losses(t * margins),
        -weights * margins * np.where(margins > 0, e, 1) / (1 + e),
        weights * margins**2 * e / (1 + e) ** 2,
    )
    found = real.scale_derivatives(scores, positive, negative, t)
    for got, each in zip(found, terms, strict=True):
        assert got == pytest.approx(math.fsum(each), abs=1e-13 * math.fsum(np.abs(each)))


@pytest.mark.slow
def test_real_loss_of_ten_million_rows():
    n = 10**7
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=3.0, size=n)
    labels = rng.choice(np.array([-1, 1], dtype=np.int8), n)
    expected = math.fsum(naive_losses(scores * labels))
    assert real.scores_loss(scores, labels, np.empty(0), 1) == pytest.approx(expected, rel=1e-13)


# ---- ranges ----------------------------------------------------------------------------


def naive_ranges(rows, lower, upper, keep):
    columns = np.hstack((rows.columns, rows.real_columns))
    low, high = np.zeros(len(columns)), np.zeros(len(columns))
    required = (lower > 0) | (upper < 0)
    for i, x in enumerate(columns):
        most, least = np.maximum(lower * x, upper * x), np.minimum(lower * x, upper * x)
        free_most = np.sort(np.maximum(most[~required], 0))[::-1][: keep if keep >= 0 else None]
        free_least = np.sort(np.minimum(least[~required], 0))[: keep if keep >= 0 else None]
        high[i] = most[required].sum() + free_most.sum()
        low[i] = least[required].sum() + free_least.sum()
    return low, high


@for_each(n=[1, 255, 256, 257, 700], keep=[-1, 0, 1, 2, 5], required=[False, True])
def test_row_ranges(n, keep, required):
    rows = Rows(n, n + TILE_ROWS)
    lower = np.array([-5.0, -1, 0, -3, 0, -2, -4])
    upper = np.array([5.0, 4, 2, 0, 0, 2, 1])
    if required:
        lower[[1, 5]], upper[[1, 5]] = [2, -2], [3, -1]
    low, high = np.empty(n), np.empty(n)
    ranges.row_ranges(
        rows.columns,
        lower[:4],
        upper[:4],
        rows.row_tiles,
        lower[4:],
        upper[4:],
        keep,
        TILE_ROWS,
        np.empty((1, 2 * max(keep, 0) + 2, ranges.row_block())),
        low,
        high,
        1,
    )
    expected = naive_ranges(rows, lower, upper, keep)
    np.testing.assert_allclose(low, expected[0][TILE_ROWS:], rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(high, expected[1][TILE_ROWS:], rtol=1e-13, atol=1e-13)


# ---- threads ---------------------------------------------------------------------------

CHUNK = 8 * BLOCK
THREADS = [2, 3, 7]


def every_kernel(rows, n_threads):
    """Results of all passes over the rows."""
    n, found = len(rows.labels), {}
    low, high = int(rows.scores.min()), int(rows.scores.max())
    width = high - low + 1
    tail, slope = np.empty(width), np.empty((2, width))
    integer.fill_tables(low, 1.0, tail, slope)
    arguments = (rows.columns, rows.coef, rows.intercept)
    found["scores"] = np.empty(n, dtype=np.int32)
    integer.scores(*arguments, found["scores"], n_threads)
    found["positions"] = np.empty(n, dtype=np.int32)
    integer.positions(*arguments, rows.labels, low, width, found["positions"], n_threads)
    arguments = (*arguments, rows.labels)
    found["histogram"] = np.zeros((1, 2, width), dtype=np.int64)
    integer.histogram(*arguments, low, found["histogram"], n_threads)
    counts, sums = np.zeros((integer.n_copies(), 2, width), dtype=np.int64), np.zeros(2)
    integer.count_scores(*arguments, low, counts, n_threads)
    found["count_scores"] = counts.sum(axis=0)
    counts, outside = np.zeros_like(counts), np.zeros(1, dtype=np.int64)
    given = (found["scores"], rows.labels)
    integer.count_given(*given, low, counts, outside, n_threads)
    found["count_given"] = counts.sum(axis=0), outside.copy()
    integer.count_given(*given, low + 1, np.zeros_like(counts), outside, n_threads)
    found["count_given outside"] = outside
    if rows.weights.size:
        losses, outside = np.vstack((slope, tail))[:2], np.zeros(1, dtype=np.int64)
        given = (*given, rows.weights)
        found["given_loss"] = integer.given_loss(*given, low, losses, outside, n_threads)
        assert outside[0] == 0
        found["given_loss outside"] = (
            integer.given_loss(*given, low + 1, losses, outside, n_threads),
            outside,
        )
    digits = np.empty((2, width), dtype=np.uint64)
    integer.fill_digits(slope, digits)
    counts, sums = np.zeros_like(counts), np.zeros((4, 3), dtype=np.int64)
    integer.count_scores_and_slopes(*arguments, low, digits, counts, sums, n_threads)
    found["count_scores_and_slopes"] = counts.sum(axis=0), sums
    if rows.weights.size:
        total, error = np.zeros((2, 2, width))
        integer.weighted_histogram(*arguments, rows.weights, low, total, error, n_threads)
        found["weighted_histogram"] = total, error
    total, error = np.zeros((2, 7))
    integer.gradient(
        *arguments[:3], rows.row_tiles, rows.labels, rows.weights, low, slope, total, error,
        n_threads,
    )  # fmt: skip
    found["gradient"] = total, error
    arguments, classes = rows.real_arguments(), (rows.labels, rows.weights)
    found["real scores"] = np.empty(n)
    real.scores(*arguments, found["real scores"], n_threads)
    found["scores_loss"] = real.scores_loss(found["real scores"], *classes, n_threads)
    found["loss"] = real.loss(*arguments, *classes, n_threads)
    total, error = np.zeros((2, 8))
    value = real.loss_and_gradient(*arguments, *classes, total, error, n_threads)
    found["loss_and_gradient"] = value, total, error
    found["scale_derivatives"] = real.scale_derivatives(
        found["real scores"], *np.abs(np.sin([np.arange(n), np.arange(n) + 1.0])), 0.3
    )
    found["hessian"] = np.empty((4, 4))
    slot = np.array([1, -2, 3])
    real.hessian(*arguments, rows.weights, slot, found["hessian"], n_threads)
    low, high = np.empty((2, n))
    bounds = [np.array(bound, dtype=float) for bound in ([-5, 1, 0, -2], [3, 2, 4, 0])]
    real_bounds = [bound[:3] for bound in bounds]
    workspace = np.empty((n_threads, 6, ranges.row_block()))
    ranges.row_ranges(
        rows.columns, *bounds, rows.row_tiles, *real_bounds, 2, 0, workspace, low, high,
        n_threads,
    )  # fmt: skip
    found["row_ranges"] = low, high
    return found


def assert_same_bits(results, others):
    assert results.keys() == others.keys()
    for name, result in results.items():
        other = others[name]
        for got, expected in zip(
            result if isinstance(result, tuple) else (result,),
            other if isinstance(other, tuple) else (other,),
            strict=True,
        ):
            np.testing.assert_array_equal(got, expected, err_msg=name)


@pytest.mark.parametrize("n", [1, CHUNK, CHUNK + 1, 5 * CHUNK + 17])
@pytest.mark.parametrize("weighted", [False, True])
def test_number_of_threads_does_not_change_a_bit(n, weighted):
    rows = Rows(n, n, weighted=weighted)
    one = every_kernel(rows, 1)
    np.testing.assert_array_equal(one["scores"], rows.scores)
    assert one["loss"] == pytest.approx(
        math.fsum(naive_losses(one["real scores"] * rows.labels) * rows.weight), rel=1e-14
    )
    for n_threads in THREADS:
        assert_same_bits(every_kernel(rows, n_threads), one)


@pytest.mark.numba
@pytest.mark.parametrize("backend", ["numba"], indirect=True)  # once: it loads both
@pytest.mark.parametrize("weighted", [False, True])
def test_backends_agree_to_the_last_bit(monkeypatch, weighted):
    rows, found = Rows(0, CHUNK + 3 * BLOCK + 17, weighted=weighted), []
    for backend in BACKENDS:
        modules = load(backend)
        for name in ("integer", "real", "ranges"):
            monkeypatch.setitem(globals(), name, modules[name])
        found.append(every_kernel(rows, 1))
    # Second derivatives are added in an order that suits either compiler.
    np.testing.assert_allclose(*(results.pop("hessian") for results in found), rtol=1e-11)
    assert_same_bits(*found)


def test_counts_are_added_to_what_is_there():
    rows = Rows(0, 3 * CHUNK)
    low, width = int(rows.scores.min()), int(np.ptp(rows.scores)) + 1
    arguments = (rows.columns, rows.coef, rows.intercept, rows.labels, low)
    once = np.zeros((integer.n_copies(), 2, width), dtype=np.int64)
    integer.count_scores(*arguments, once, 1)
    twice = once.copy()
    integer.count_scores(*arguments, twice, 3)
    np.testing.assert_array_equal(twice.sum(axis=0), 2 * once.sum(axis=0))


@for_each(n=[1, 31, 32, 33, BLOCK + 1, 2 * CHUNK + 65])
def test_weighted_loss_of_given_scores(n):
    rng = np.random.default_rng(n)
    scores, labels = rng.integers(-40, 9, n).astype(np.int32), rng.choice([-1, 1], n)
    labels, weights = labels.astype(np.int8), 10.0 ** rng.uniform(-9, 9, n)
    losses = naive_losses(np.array([[1], [-1]]) * -np.arange(-40.0, 9.0))
    outside = np.zeros(1, dtype=np.int64)
    for n_threads in (1, 3):
        total = integer.given_loss(scores, labels, weights, -40, losses, outside, n_threads)
        assert outside[0] == 0
        assert total == pytest.approx(
            math.fsum(weights * losses[(labels + 1) // 2, scores + 40]), rel=1e-14
        )
    far = scores.copy()
    far[-1] = np.iinfo(np.int32).min
    far[: (n - 1) // 2] = np.iinfo(np.int32).max
    integer.given_loss(far, labels, weights, -40, losses, outside, 2)
    assert outside[0] == 1 + (n - 1) // 2


def test_weights_in_parts_keep_their_rounding_errors():
    rows = Rows(1, 20 * CHUNK, weighted=True)
    low, width = int(rows.scores.min()), int(np.ptp(rows.scores)) + 1
    total, error = np.zeros((2, 2, width))
    integer.weighted_histogram(
        rows.columns, rows.coef, rows.intercept, rows.labels, rows.weights, low, total, error, 2
    )
    for c, k in np.ndindex(2, width):
        own = (rows.scores == low + k) & (rows.labels == 2 * c - 1)
        assert total[c, k] + error[c, k] == math.fsum(rows.weights[own])
