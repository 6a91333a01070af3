"""Merged rows: exactly the distinct ones, and nothing that depends on them changes."""

from __future__ import annotations

import copy
import csv
import dataclasses
import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskslim import (
    CoefficientSet,
    LatticeCPASettings,
    LogisticLoss,
    RiskScoreProblem,
    TrainingData,
    discrete_coordinate_descent,
    lattice_cpa,
    read,
    sequential_rounding,
)
from riskslim._kernels import integer
from riskslim.data import distinct
from riskslim.data.distinct import (
    MAX_SHARE,
    KernelRows,
    distinct_rows,
    may_be_few,
    merge_features,
    take_rows,
)
from riskslim.exceptions import ConstantFeatureWarning

pytestmark = pytest.mark.usefixtures("backend")


def make_data(seed, *, n=200, d_int=3, d_real=0, values=3, weighted=False):
    """Data with many equal rows; few values per feature, columns of both kinds interleaved."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(-1, values - 1, n).astype(float) for _ in range(d_int)]
    columns += [rng.integers(0, values, n) * 0.37 - 0.5 for _ in range(d_real)]
    for column in columns:
        column[:2] = column.min(), column.max() + 1
    columns = [columns[j] for j in rng.permutation(len(columns))]
    y = rng.random(n) < 0.4
    y[:2] = True, False
    weights = None
    if weighted:
        weights = rng.choice([0.0, 1.0, 1 / 3, 1e-9, 1e6], n)
        weights[:2] = 1.0
    return TrainingData(np.column_stack(columns), y, weights)


def oracle(data):
    """Distinct (x, y), first appearance first, with the number of rows and their weights."""
    groups = {}
    X = np.column_stack([data.column(j).astype(float) for j in range(data.n_features)])
    for i, (row, label) in enumerate(zip(X + 0.0, data.labels, strict=True)):
        groups.setdefault((*row.tolist(), int(label)), []).append(i)
    members = list(groups.values())
    weights = None
    if data.sample_weight is not None:
        weights = np.array([np.sum(data.sample_weight[group]) for group in members])
    return np.array([group[0] for group in members]), np.array(list(map(len, members))), weights


def both_losses(data, bound=5, **options):
    coefficients = CoefficientSet(data.feature_names, -bound, bound)
    return [
        LogisticLoss(data, coefficients, compress=compress, **options) for compress in (False, True)
    ]


def both_problems(data, bound=5, **options):
    coefficients = CoefficientSet(data.feature_names, -bound, bound)
    return [
        RiskScoreProblem(data, coefficients, compress=compress, **options)
        for compress in (False, True)
    ]


# ---- the rows ---------------------------------------------------------------------------


def reals(rows, n):
    """Real columns as an array of n rows."""
    row_tiles = rows.real_row_tiles
    return row_tiles.swapaxes(1, 2).reshape(16 * len(row_tiles), row_tiles.shape[1])[:n]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("d_int", "d_real"), [(1, 0), (3, 0), (7, 0), (8, 0), (15, 0), (16, 1), (0, 2), (2, 2)]
)
def test_rows_are_the_distinct_ones(d_int, d_real, weighted):
    data = make_data(d_int, n=700, d_int=d_int, d_real=d_real, weighted=weighted)
    rows = distinct_rows(data, always=True)
    first, counts, weights = oracle(data)
    if weighted:
        first, expected = first[weights > 0], weights[weights > 0]
        assert rows.weights == pytest.approx(expected, rel=1e-13, abs=0)
        assert rows.numbers.size == 0
    else:
        assert (rows.weights == counts).all()
        assert (rows.numbers == counts).all()
    assert (rows.integer_columns == data.integer_columns[first]).all()
    assert (reals(rows, rows.n_rows) == reals(data, data.n_samples)[first]).all()
    assert (rows.labels == data.labels[first]).all()
    assert rows.n_samples == data.n_samples
    assert rows.total_weight == data.total_weight
    assert rows.integer_columns.flags.f_contiguous
    assert rows.real_row_tiles.flags.c_contiguous


@given(
    st.lists(
        st.tuples(
            st.integers(-2, 2), st.sampled_from([0.0, -0.0, 0.5, 1e300, 5e-324]), st.booleans()
        ),
        min_size=3,
        max_size=60,
    )
)
def test_any_rows(table):
    table = [(-1, 0.25, True), (1, 0.75, False), *table]
    data = TrainingData([row[:2] for row in table], [row[2] for row in table])
    rows = distinct_rows(data, always=True)
    first, counts, _ = oracle(data)
    assert (rows.weights == counts).all()
    assert (reals(rows, rows.n_rows) == reals(data, data.n_samples)[first]).all()
    assert (rows.integer_columns == data.integer_columns[first]).all()


def test_zero_has_one_value():
    data = TrainingData([[0.0], [-0.0], [0.5], [0.0]], [0, 0, 1, 0])
    rows = distinct_rows(data, always=True)
    assert reals(rows, 2)[:, 0].tolist() == [0.0, 0.5]
    assert rows.weights.tolist() == [3.0, 1.0]


def test_rows_of_one_hash_are_not_merged():
    # The hash is invertible step by step: two words that leave the same state behind.
    multiplier, mask = 0x9E3779B97F4A7C15, 2**64 - 1
    inverse = pow(multiplier, -1, 2**64)

    def mix(state, word):
        state = (state ^ word) * multiplier & mask
        return state ^ state >> 32

    def word_for(state, wanted):
        before = wanted ^ wanted >> 32
        return (before * inverse & mask) ^ state

    def hash_of(row):
        state = mix(0, 0xFF)  # the label -1, no integers
        for value in row:
            state = mix(state, int(np.float64(value).view(np.uint64)))
        return state

    a = np.array([1.5, 2.5])
    for k in range(1, 200):  # the second word must be an ordinary number, too
        first = 3.0 + k / 64
        state = mix(mix(0, 0xFF), int(np.float64(first).view(np.uint64)))
        second = np.uint64(word_for(state, hash_of(a))).view(np.float64)
        if np.isfinite(second) and second != 0:
            break
    b = np.array([first, second])
    assert hash_of(a) == hash_of(b)
    data = TrainingData(np.vstack([a, b, a, b, a, -a]), [0, 0, 0, 0, 0, 1])
    rows = distinct_rows(data, always=True)
    assert rows.weights.tolist() == [3.0, 2.0, 1.0]
    assert (reals(rows, 3) == [a, b, -a]).all()


def test_large_table_grows():
    n = 60_000
    rng = np.random.default_rng(0)
    X = rng.integers(0, 100, (n, 3))
    data = TrainingData(X, rng.random(n) < 0.5)
    rows = distinct_rows(data, always=True)
    merged, counts = np.unique(np.column_stack([X, data.labels]), axis=0, return_counts=True)
    assert rows.n_rows == len(merged) > 2**14
    found = np.column_stack([rows.integer_columns, rows.labels]).astype(int)
    order = np.lexsort(found.T[::-1])
    assert (found[order] == merged).all()
    assert (rows.numbers[order] == counts).all()


def test_a_row_of_many_is_repeated():
    n = 200_000
    X = np.zeros((n, 2), np.int8)
    X[:3] = [[1, 0], [0, 1], [1, 1]]
    y = np.zeros(n, bool)
    y[0] = True
    data = TrainingData(X, y)
    rows = distinct_rows(data)
    assert rows.numbers.sum() == n
    assert rows.n_rows == 3 + 4
    loss, merged = both_losses(data)
    for coef in ([-12, 0, 0], [-10, 2, 5], [-9, -1, 1]):
        assert merged.value(coef) == loss.value(coef)
        value, gradient = merged.value_and_gradient(coef)
        expected, by_row = loss.value_and_gradient(coef)
        assert value == expected
        assert (gradient == by_row).all()


def test_small_weights_are_not_lost():
    n = 100_000
    X = np.zeros((n, 1))
    X[-1] = 1
    weights = np.full(n, 1e-17)
    weights[[0, -1]] = 1.0
    data = TrainingData(X, np.arange(n) == n - 1, weights)
    rows = distinct_rows(data)
    assert rows.weights[0] == pytest.approx(1.0 + (n - 2) * 1e-17, rel=2e-15, abs=0)


def test_order_and_choice_are_deterministic():
    data = make_data(3, n=30_000, d_int=6, values=4)
    first, second = distinct_rows(data), distinct_rows(data)
    assert (first.integer_columns == second.integer_columns).all()
    assert (first.weights == second.weights).all()


# ---- when it pays -----------------------------------------------------------------------


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "n_rows"), [("mammo", 146), ("adult", 9787), ("mushroom", None), ("spambase", None)]
)
def test_the_papers_data(shared_data, name, n_rows):
    with (shared_data / f"{name}_data.csv").open(encoding="utf-8") as file:
        outcome = next(csv.reader(file))[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantFeatureWarning)
        data = read(shared_data / f"{name}_data.csv", outcome)
    loss = LogisticLoss(data, CoefficientSet(data.feature_names, -5, 5))
    assert loss.n_samples == data.n_samples
    assert loss.n_rows == (data.n_samples if n_rows is None else n_rows)


@pytest.mark.parametrize("n", [50, 20_000, 200_000])
@pytest.mark.parametrize("copies", [1, 3, 8])
def test_pays_where_few_rows_are_distinct(n, copies):
    """Each row the same number of times: a sample of such rows has the fewest pairs."""
    rng = np.random.default_rng(copies)
    n_distinct = n // copies
    values = rng.permutation(np.arange(n) % n_distinct)
    X = np.column_stack([values % 100, values // 100 % 100, values // 10_000]).astype(np.int8)
    X = X[:, X.min(axis=0) < X.max(axis=0)]
    data = TrainingData(X, X[:, 0] % 2)
    rows = distinct_rows(data)
    if copies == 1:
        assert rows is None
    else:
        assert rows.n_rows == n_distinct <= MAX_SHARE * n


def test_one_frequent_row_does_not_deceive():
    """Many pairs, and still too many distinct rows: grouping itself stops."""
    rng = np.random.default_rng(0)
    X = rng.integers(-100, 100, (100_000, 4)).astype(np.int8)
    X[rng.random(len(X)) < 0.3] = 0
    data = TrainingData(X, X.sum(axis=1) > 0)
    assert distinct_rows(data) is None
    assert distinct_rows(data, always=True).n_rows < 0.8 * len(X)


@pytest.mark.parametrize("share", [0.5, 0.4, 0.1])
def test_a_sample_says_whether_few_rows_are_distinct(share):
    """Rows that appear equally often are the hardest case: no others have as few pairs."""
    rng, n = np.random.default_rng(4), 40_000

    def rows_with(n_distinct):
        numbers = rng.permutation(np.arange(n) % n_distinct)
        X = numbers[:, None] >> np.arange(n_distinct.bit_length()) & 1
        return TrainingData(X, rng.random(n) < 0.5).rows

    unlabelled = dataclasses.replace(rows_with(int(share * n)), labels=np.ones(n, np.int8))
    assert may_be_few(unlabelled, share)
    many = dataclasses.replace(rows_with(n // 2 if share < 0.5 else n), labels=np.ones(n, np.int8))
    assert not may_be_few(many, share, fewest=80)
    assert may_be_few(take_rows(many, np.arange(300)), share)


@pytest.mark.parametrize("least", [0, -1])
def test_columns_of_bits_and_of_bytes_merge_alike(least):
    rng, n = np.random.default_rng(6), 3000
    columns = np.asfortranarray(rng.integers(least, 2, (n, 7)).astype(np.int8))
    columns[:, 0] = rng.integers(-128, 128, n)
    weights = rng.random((2, n))
    found = merge_features(columns, np.empty((n, 0), order="F"), *weights, n)
    assert found is not None
    first, positive, negative = found
    values, index, inverse = np.unique(columns, axis=0, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(first, np.sort(index))
    order = np.argsort(index)
    for sums, weight in ((positive, weights[0]), (negative, weights[1])):
        expected = np.bincount(inverse.ravel(), weight, minlength=len(values))[order]
        np.testing.assert_allclose(sums, expected, rtol=1e-14)


@pytest.fixture
def small_pieces(monkeypatch):
    """Rows that are few are grouped in pieces, too, and soon have no room in the table."""
    monkeypatch.setattr(distinct, "_FEWEST_IN_PIECES", 2)
    monkeypatch.setattr(distinct, "_FIRST_SLOTS", 2**11)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("d_int", "d_real", "values"), [(3, 0, 2), (9, 1, 4), (0, 2, 5)])
def test_rows_in_pieces_are_grouped_alike(small_pieces, weighted, d_int, d_real, values):
    data = make_data(3, n=9001, d_int=d_int, d_real=d_real, values=values, weighted=weighted)
    first, counts, weights = oracle(data)
    index = first[weights > 0] if weighted else first
    found = [distinct_rows(data, always=True, n_threads=n) for n in (1, 2, 3)]
    for rows in found:
        if weighted:
            np.testing.assert_allclose(rows.weights, weights[weights > 0], rtol=1e-13)
            assert (rows.weights == found[0].weights).all()
        else:
            assert (rows.weights == counts).all()
        assert (rows.integer_columns == data.integer_columns[index]).all()
        assert (reals(rows, rows.n_rows) == reals(data, data.n_samples)[index]).all()


def test_pieces_keep_to_limits_and_stops(small_pieces):
    rng, n = np.random.default_rng(8), 6000
    columns = np.asfortranarray(rng.integers(-128, 128, (n, 2)).astype(np.int8))
    none, weights = np.empty((n, 0), order="F"), rng.random((2, n))
    n_groups = len(np.unique(columns, axis=0))
    for n_threads in (1, 2):
        for limit, is_enough in ((n_groups, True), (n_groups - 1, False), (n // 8, False)):
            found = merge_features(columns, none, *weights, limit, n_threads=n_threads)
            assert (found is not None) == is_enough
        for n_looks in range(8):
            looks = itertools.chain([False] * n_looks, itertools.repeat(True))
            assert merge_features(columns, none, *weights, n, looks.__next__, n_threads) is None


def test_compress_is_checked():
    data = make_data(0)
    coefficients = CoefficientSet(data.feature_names)
    with pytest.raises(ValueError, match="compress must be 'auto', True or False, got 'yes'"):
        LogisticLoss(data, coefficients, compress="yes")


# ---- the loss -----------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 400),
    values=st.integers(1, 6),
    bound=st.sampled_from([2, 5, 1000]),
)
def test_integer_losses_are_equal_to_the_last_bit(seed, n, values, bound):
    data = make_data(seed, n=n, d_int=4, values=values)
    rng = np.random.default_rng(seed)
    loss, merged = both_losses(data, bound)
    assert merged.coefficients == loss.coefficients
    assert merged.score_range == loss.score_range
    assert merged.form == loss.form == "lookup_table"
    for _ in range(5):
        coef = rng.integers(-bound, bound + 1, 5)
        assert merged.value(coef) == loss.value(coef) == merged.value(coef, every_row=True)
        value, gradient = merged.value_and_gradient(coef)
        expected, by_row = loss.value_and_gradient(coef)
        assert value == expected
        slopes = np.exp(-np.logaddexp(0, data.labels * loss.scores(coef).astype(float)))
        if bound < 1000 and slopes.mean() > 1 / 64:
            assert (gradient == by_row).all()
        scale = np.abs(by_row).max(initial=1e-300)
        assert gradient == pytest.approx(by_row, rel=1e-12, abs=1e-12 * scale)
        assert (merged.scores(coef) == loss.scores(coef)).all()
        assert merged.reference_value(coef) == loss.reference_value(coef)
    assert merged.bounds() == pytest.approx(loss.bounds(), rel=1e-14, abs=0)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 400),
    d_int=st.integers(0, 3),
    weighted=st.booleans(),
    integral=st.booleans(),
)
def test_other_losses_agree_to_rounding(seed, n, d_int, weighted, integral):
    data = make_data(seed, n=n, d_int=d_int, d_real=3 - d_int, weighted=weighted)
    rng = np.random.default_rng(seed)
    loss, merged = both_losses(data, max_size=2)
    assert merged.coefficients == loss.coefficients
    for _ in range(5):
        coef = rng.integers(-5, 6, 4) if integral else rng.uniform(-5, 5, 4)
        assert merged.value(coef) == pytest.approx(loss.value(coef), rel=2e-15, abs=0)
        assert merged.value(coef, every_row=True) == loss.value(coef)
        assert merged.reference_value(coef) == loss.reference_value(coef)
        value, gradient = merged.value_and_gradient(coef)
        expected, by_row = loss.value_and_gradient(coef)
        assert value == pytest.approx(expected, rel=2e-15, abs=0)
        assert gradient == pytest.approx(by_row, rel=1e-12, abs=1e-14)
        assert merged.scores(coef) == pytest.approx(loss.scores(coef), rel=1e-15, abs=1e-15)
    assert merged.bounds(1) == pytest.approx(loss.bounds(1), rel=1e-14, abs=0)


@pytest.mark.parametrize("compress", [False, True])
def test_table_wider_than_16_bits(compress):
    rng = np.random.default_rng(1)
    X = rng.choice([-100, 0, 100], (300, 3))
    data = TrainingData(X, rng.random(300) < 0.5)
    coefficients = CoefficientSet(data.feature_names, -300, 300)
    loss = LogisticLoss(data, coefficients, compress=compress)
    assert loss.score_range[1] - loss.score_range[0] > 2**15
    for coef in ([0, 300, -300, 300], [7, 1, 0, -2]):
        assert loss.value(coef) == pytest.approx(loss.reference_value(coef), rel=1e-14, abs=0)
        plain = LogisticLoss(data, coefficients, compress=False)
        assert loss.value(coef) == plain.value(coef)


def test_copies_and_tightened_copies_share_the_rows():
    data = make_data(5, n=500)
    _, merged = both_losses(data)
    other = copy.copy(merged)
    other.tighten(1)
    assert other.rows is merged.rows
    plain, _ = both_losses(data, max_size=1)
    assert other.coefficients == plain.coefficients
    assert other.value([1, 2, 0, 0]) == plain.value([1, 2, 0, 0])


def test_repr_names_both_numbers():
    data = make_data(5, n=500)
    plain, merged = both_losses(data)
    assert repr(plain).startswith("LogisticLoss(500 rows, 3 features")
    assert repr(merged).startswith(f"LogisticLoss(500 rows read as {merged.n_rows}, 3 features")


# ---- kernels ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("n", [1, 255, 256, 2049, 40_000])
@pytest.mark.parametrize("d", [1, 4, 5, 11])
def test_counted_kernels_against_integers_of_any_size(n, d, n_threads):
    rng = np.random.default_rng(n + d)
    columns = np.asfortranarray(rng.integers(-128, 128, (n, d)).astype(np.int8))
    columns[:, 0] = -128
    labels = rng.choice(np.array([-1, 1], np.int8), n)
    numbers = rng.integers(1, 2**16, n).astype(np.uint16)
    numbers[0] = 2**16 - 1
    coef = rng.integers(-2, 3, d).astype(np.int32)
    scores = columns.astype(int) @ coef + 3
    low, width = int(scores.min()), int(np.ptp(scores)) + 1
    slope = rng.uniform(-1, 1, (2, width))
    slope[:, 0] = -1.0
    fixed_point = np.empty((2, width), np.uint64)
    integer.fill_fixed_point(slope, fixed_point)
    assert np.abs(fixed_point.view(np.int64) / 2**46 - slope).max() <= 2.0**-47
    counts, digits = np.zeros((1, 2, width), np.int64), np.zeros((d, 4), np.int64)
    integer.count_numbers_and_slopes(
        columns, coef, 3, labels, numbers, low, fixed_point, counts, digits, n_threads
    )
    only = np.zeros_like(counts)
    integer.count_numbers(columns, coef, 3, labels, numbers, low, only, n_threads)
    side = (labels > 0).astype(int)
    expected = np.zeros_like(counts)
    np.add.at(expected[0], (side, scores - low), numbers)
    assert (counts == expected).all()
    assert (only == expected).all()
    slopes = fixed_point.view(np.int64)[side, scores - low].tolist()
    for j in range(d):
        terms = zip(numbers.tolist(), slopes, columns[:, j].tolist(), strict=True)
        exact = sum(number * q * x for number, q, x in terms)
        assert sum(int(digits[j, k]) << 16 * k for k in range(4)) == exact
        gradient = np.empty(d)
        integer.products_gradient(digits, gradient)
        assert gradient[j] == exact / 2**46


# ---- heuristics and engine -----------------------------------------------------------------


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(6, 300),
    d_real=st.integers(0, 2),
    weighted=st.booleans(),
    swaps=st.booleans(),
)
def test_heuristics_find_the_same(seed, n, d_real, weighted, swaps):
    data = make_data(seed, n=n, d_int=5 - d_real, d_real=d_real, values=4, weighted=weighted)
    rng = np.random.default_rng(seed)
    plain, merged = both_problems(data, 4, max_size=3, l0_penalty=1e-4)
    assert (plain.lower == merged.lower).all()
    assert (plain.upper == merged.upper).all()
    start = np.zeros(6, int)
    start[0] = np.clip(0, plain.lower[0], plain.upper[0])
    start[1 + rng.permutation(5)[:3]] = rng.integers(-4, 5, 3)
    found = [discrete_coordinate_descent(p, start, swaps=swaps) for p in (plain, merged)]
    assert (found[0].coefficients == found[1].coefficients).all()
    assert found[0].objective == pytest.approx(found[1].objective, rel=2e-15, abs=0)
    if not weighted and not d_real:
        assert found[0].objective == found[1].objective
    point = np.clip(rng.uniform(-4, 4, 6), plain.lower, plain.upper)
    point[4:] = 0
    rounded = [sequential_rounding(p, point) for p in (plain, merged)]
    assert (rounded[0].coefficients == rounded[1].coefficients).all()
    assert rounded[0].objective == pytest.approx(rounded[1].objective, rel=2e-15, abs=0)


@pytest.mark.parametrize("d_real", [0, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_certificates_are_equal_to_the_last_digit(seed, weighted, d_real):
    data = make_data(seed, n=250, d_int=5 - d_real, d_real=d_real, values=4, weighted=weighted)
    problems = both_problems(data, 3, max_size=3, l0_penalty=1e-4)
    # On a busy machine numba compiles for longer than the search takes, and than it may take.
    patient = LatticeCPASettings(initialization_time_limit=600.0)
    solutions = [lattice_cpa(p, time_limit=1200.0, settings=patient) for p in problems]
    plain, merged = (solution.certificate for solution in solutions)
    assert plain.is_optimal
    assert (solutions[0].coef == solutions[1].coef).all()
    assert plain.objective == merged.objective
    assert plain.loss == merged.loss
    assert plain.lower_bound == merged.lower_bound
    assert plain.n_samples == merged.n_samples == data.n_counted


def test_certificates_are_checked_on_every_row():
    """Wrong merged rows do not get past the re-check."""
    from riskslim.exceptions import CertificateError

    data = make_data(1, n=250)
    plain, merged = both_problems(data, 3)
    wrong: KernelRows = take_rows(data.rows, np.arange(200))
    merged.loss.store = wrong
    coef = discrete_coordinate_descent(plain, [0, 0, 0, 0]).coefficients
    assert merged.loss.value(coef) != plain.loss.value(coef)
    assert merged.loss.value(coef, every_row=True) == plain.loss.value(coef)
    with pytest.raises(CertificateError):
        lattice_cpa(merged)
