"""LogisticLoss: value and gradient against oracles, forms, proven ranges and bounds."""

import copy
import itertools
import os

import mpmath
import numpy as np
import pytest

from riskslim import CoefficientSet, LogisticLoss, TrainingData
from riskslim.exceptions import ConstantFeatureWarning
from riskslim.loss import reference
from riskslim.loss.form import MAX_TABLE_ENTRIES, tables_by_score
from riskslim.loss.ranges import score_range

pytestmark = pytest.mark.usefixtures("backend")


def make_loss(seed=0, *, kind="integer", weighted=False, n=120, d=5, bounds=(-4, 4), **options):
    rng = np.random.default_rng(seed)
    if kind == "integer":
        X = rng.integers(-3, 6, (n, d)).astype(float)
    elif kind == "real":
        X = rng.normal(size=(n, d))
    else:
        X = np.where(np.arange(d) % 2, rng.normal(size=(n, d)), rng.integers(0, 2, (n, d)))
    y = rng.random(n) < 1 / (1 + np.exp(X[:, 0] - X[:, 1] + 1))
    y[:2] = [True, False]
    data = TrainingData(X, y, rng.exponential(size=n) if weighted else None)
    return LogisticLoss(data, CoefficientSet(data.feature_names, *bounds), **options), rng


def exact_value(loss, coef):
    data = loss.data
    columns = [data.column(j) for j in range(data.n_features)]
    weights = np.ones(data.n_samples) if data.sample_weight is None else data.sample_weight
    with mpmath.workdps(40):
        total = mpmath.mpf(0)
        for i in range(data.n_samples):
            score = mpmath.mpf(float(coef[0])) + mpmath.fsum(
                mpmath.mpf(float(c)) * mpmath.mpf(float(x[i]))
                for c, x in zip(coef[1:], columns, strict=True)
            )
            margin = int(data.labels[i]) * score
            total += mpmath.mpf(float(weights[i])) * mpmath.log1p(mpmath.exp(-margin))
        return float(total / mpmath.fsum(map(mpmath.mpf, weights.tolist())))


KINDS = ["integer", "real", "mixed"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
class TestEvaluation:
    def vectors(self, loss, rng):
        d = loss.data.n_features
        yield np.zeros(d + 1, dtype=int)
        for _ in range(6):
            yield rng.integers(-4, 5, d + 1)
        yield rng.normal(size=d + 1)
        yield 40 * rng.normal(size=d + 1)  # far outside of the set
        yield [int(v) for v in rng.integers(-300, 300, d + 1)]

    def test_value(self, kind, weighted):
        loss, rng = make_loss(1, kind=kind, weighted=weighted)
        for coef in self.vectors(loss, rng):
            expected = exact_value(loss, coef)
            # Scores of real numbers are rounded before the loss sees them.
            size = np.abs(loss.scores(coef)).max()
            assert loss.value(coef) == pytest.approx(expected, rel=1e-14 + 1e-15 * size)
            assert loss.reference_value(coef) == pytest.approx(expected, rel=1e-14 + 1e-15 * size)

    def test_value_and_gradient(self, kind, weighted):
        loss, rng = make_loss(2, kind=kind, weighted=weighted)
        data = loss.data
        columns = np.column_stack(
            [np.ones(data.n_samples)] + [data.column(j) for j in range(data.n_features)]
        )
        weights = np.ones(data.n_samples) if data.sample_weight is None else data.sample_weight
        for coef in self.vectors(loss, rng):
            value, gradient = loss.value_and_gradient(coef)
            assert value == loss.value(coef)
            margins = data.labels * (columns @ np.asarray(coef, dtype=float))
            with np.errstate(over="ignore"):
                slopes = -data.labels * weights / (1 + np.exp(margins)) / data.total_weight
            scale = np.abs(columns * slopes[:, None]).sum(axis=0)
            np.testing.assert_array_less(
                np.abs(gradient - slopes @ columns), 1e-12 * scale + 1e-300
            )

    def test_gradient_is_the_slope_of_the_value(self, kind, weighted):
        loss, rng = make_loss(3, kind=kind, weighted=weighted)
        coef = rng.integers(-2, 3, loss.data.n_features + 1).astype(float)
        gradient = loss.value_and_gradient(coef)[1]
        step = 1e-5
        for j in range(coef.size):
            up, down = coef.copy(), coef.copy()
            up[j] += step
            down[j] -= step
            slope = (loss.value(up) - loss.value(down)) / (2 * step)
            assert gradient[j] == pytest.approx(slope, rel=1e-6, abs=1e-8)

    def test_hessian_is_the_slope_of_the_gradient(self, kind, weighted):
        loss, rng = make_loss(7, kind=kind, weighted=weighted)
        coef = 0.3 * rng.normal(size=loss.data.n_features + 1)
        hessian = loss.hessian(coef)
        step = 1e-5
        for j in range(coef.size):
            up, down = coef.copy(), coef.copy()
            up[j] += step
            down[j] -= step
            slope = loss.value_and_gradient(up)[1] - loss.value_and_gradient(down)[1]
            np.testing.assert_allclose(hessian[j], slope / (2 * step), rtol=1e-6, atol=1e-8)
        chosen = [3, 0]
        part = loss.hessian(coef, chosen)
        index = np.array([0, 4, 1])
        np.testing.assert_allclose(part, hessian[np.ix_(index, index)], rtol=1e-14)
        assert loss.hessian(coef, []).shape == (1, 1)

    def test_scores(self, kind, weighted):
        loss, rng = make_loss(4, kind=kind, weighted=weighted)
        coef = rng.integers(-4, 5, loss.data.n_features + 1)
        expected = coef[0] + sum(coef[1 + j] * loss.data.column(j) * 1.0 for j in range(5))
        got = loss.scores(coef)
        assert got.dtype == (np.int32 if kind == "integer" else np.float64)
        np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_value_of_scores(kind, weighted):
    loss, rng = make_loss(8, kind=kind, weighted=weighted, n=3000)
    for coef in (rng.integers(-4, 5, 6), rng.integers(-300, 300, 6), rng.normal(size=6)):
        scores = loss.scores(coef)
        assert loss.value_of_scores(scores) == pytest.approx(loss.value(coef), rel=1e-14)
    for scale in (1, 3000, 10**6, 2**40):
        scores = scale * rng.integers(-5, 6, 3000)
        expected = loss.value_of_scores(scores.astype(float))
        for dtype in (np.int64, np.int32, np.int16, np.uint8, "i8"):
            if np.array_equal(scores.astype(dtype), scores):
                assert loss.value_of_scores(scores.astype(dtype)) == pytest.approx(
                    expected, rel=1e-14
                )
    strided = np.repeat(scores, 2)[::2]
    assert loss.value_of_scores(strided) == loss.value_of_scores(scores)


def test_value_of_scores_refuses():
    loss, _ = make_loss()
    with pytest.raises(ValueError, match=r"shape \(3,\), expected \(120,\): one per row"):
        loss.value_of_scores([1, 2, 3])
    scores = np.zeros(120)
    scores[[7, 9]] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"2 of 120 scores are NaN or infinite, .* position 7"):
        loss.value_of_scores(scores)


def test_one_class_separated_by_far_keeps_relative_accuracy():
    data = TrainingData([[0], [1]] * 50, [0, 1] * 50)
    loss = LogisticLoss(data, CoefficientSet(["x1"], -100, 100))
    assert loss.form == "lookup_table"
    assert loss.value([-40, 80]) == pytest.approx(exact_value(loss, [-40, 80]), rel=1e-14)


def test_forms_agree_on_vectors_that_only_one_covers():
    loss, rng = make_loss(5, max_size=2)
    for _ in range(20):
        coef = rng.integers(-4, 5, 6)  # mostly more than two non-zero coefficients
        assert loss.value(coef) == pytest.approx(loss.value(coef + 1e-13), rel=1e-11)
        assert loss.value(coef) == pytest.approx(loss.reference_value(coef), rel=1e-14)


def test_merged_rows_give_the_same_bits():
    rng = np.random.default_rng(6)
    X, y = rng.integers(0, 3, (3000, 3)), rng.integers(0, 2, 3000)
    rows, counts = np.unique(np.column_stack((X, y)), axis=0, return_counts=True)
    one = LogisticLoss(TrainingData(X, y), CoefficientSet(["x1", "x2", "x3"]))
    merged = LogisticLoss(
        TrainingData(rows[:, :3], rows[:, 3], counts), CoefficientSet(["x1", "x2", "x3"])
    )
    for _ in range(20):
        coef = rng.integers(-5, 6, 4)
        assert one.value(coef) == merged.value(coef)
    assert one.coefficients == merged.coefficients


@pytest.mark.parametrize("weighted", [False, True])
def test_the_reference_does_not_depend_on_threads(weighted, monkeypatch):
    monkeypatch.setattr(reference, "CHUNK_ROWS", 32)
    loss, rng = make_loss(3, kind="mixed", weighted=weighted, n=410)
    coef = rng.integers(-4, 5, loss.data.n_features + 1)
    found = []
    for n_threads in (1, 2, 5):
        loss.n_threads = n_threads
        found.append(loss.reference_value(coef))
    assert found[0] == found[1] == found[2]
    assert found[0] == pytest.approx(exact_value(loss, coef), rel=1e-13)


def test_order_of_rows_does_not_matter():
    rng = np.random.default_rng(7)
    X, y = rng.integers(0, 9, (9000, 4)), rng.integers(0, 2, 9000)
    order = rng.permutation(9000)
    names = ["a", "b", "c", "d"]
    losses = [
        LogisticLoss(TrainingData(X[o], y[o], feature_names=names), CoefficientSet(names))
        for o in (slice(None), order)
    ]
    coef = [-3, 1, -2, 0, 4]
    assert losses[0].value(coef) == losses[1].value(coef)


# ---- forms and tables --------------------------------------------------------------------


def test_form_follows_from_the_usable_features():
    X = np.column_stack((np.arange(20) % 2, np.linspace(0, 1, 20)))
    data = TrainingData(X, [0, 1] * 10, feature_names=["a", "b"])
    both = LogisticLoss(data, CoefficientSet(["a", "b"], -2, 2))
    assert both.form == "real_valued"
    assert both.kernel == "real-valued loss"
    assert "1 of 2 features" in both.reason
    only_a = LogisticLoss(data, CoefficientSet(["a", "b"], -2, 2, fixed={"b": 0}))
    assert only_a.form == "lookup_table"
    assert only_a.kernel == "histogram of integer scores"
    np.testing.assert_allclose(
        only_a.value_and_gradient([1, -2, 0])[1], both.value_and_gradient([1, -2, 0])[1], rtol=1e-13
    )
    assert only_a.value([0, 1, 0.5]) == both.value([0, 1, 0.5])
    assert only_a.value([0, 1, 1]) == both.value([0, 1, 1])


def test_wide_scores_take_the_real_valued_form():
    X = np.tile(np.arange(-100, 101, 20)[:, None], (2, 3))
    data = TrainingData(X, [0, 1] * 11, feature_names=["a", "b", "c"])
    huge = 2**31 - 1
    coefficients = CoefficientSet(
        data.feature_names, -huge, huge, intercept_lower=-huge, intercept_upper=huge
    )
    loss = LogisticLoss(data, coefficients)
    assert loss.form == "real_valued"
    assert f"more than {MAX_TABLE_ENTRIES} values" in loss.reason
    assert loss.value([0, 1, -1, 2]) == pytest.approx(loss.reference_value([0, 1, -1, 2]))
    assert loss.value([0, huge, 0, 0]) == pytest.approx(loss.reference_value([0, huge, 0, 0]))


def test_every_feasible_vector_is_within_the_proven_range():
    for seed in range(10):
        loss, _ = make_loss(seed, d=4, bounds=(-3, 2), max_size=2)
        low, high = loss.score_range
        seen = [np.inf, -np.inf]
        lower, upper = loss.coefficients.intercept_lower, loss.coefficients.intercept_upper
        for coef in itertools.product(range(-3, 3), repeat=4):
            if np.count_nonzero(coef) <= 2:
                for intercept in (lower, upper):
                    scores = loss.scores([intercept, *coef])
                    assert scores.dtype == np.int32
                    seen = [min(seen[0], scores.min()), max(seen[1], scores.max())]
        assert low <= seen[0]
        assert seen[1] <= high


@pytest.mark.parametrize("scale", [2, 7, 1000, 2**29])
def test_vectors_outside_of_the_set_do_not_read_beyond_the_table(scale):
    loss, rng = make_loss(8, max_size=1)
    for _ in range(50):
        coef = scale * rng.integers(-4, 5, 6)
        assert loss.value(coef) == pytest.approx(loss.reference_value(coef), rel=1e-13)
        value, gradient = loss.value_and_gradient(coef)
        assert value == loss.value(coef)
        assert np.all(np.isfinite(gradient))


def test_tighten():
    loss, rng = make_loss(9, d=5)
    vectors = [np.concatenate(([1], rng.permutation([2, -3, 0, 0, 0]))) for _ in range(20)]
    before = [loss.value(v) for v in vectors]
    original = copy.copy(loss)
    old_range = loss.score_range
    assert not loss.tighten(5)
    assert loss.tighten(2)
    assert loss.max_size == 2
    assert old_range[0] < loss.score_range[0]
    assert loss.score_range[1] < old_range[1]
    assert [loss.value(v) for v in vectors] == before
    assert not loss.tighten(4)
    assert loss.max_size == 2
    # A copy made before is as it was.
    assert original.score_range == old_range
    assert [original.value(v) for v in vectors] == before
    with pytest.raises(ValueError, match="max_size must be at least 0"):
        loss.tighten(-1)


def test_tighten_can_bring_back_the_table():
    rng = np.random.default_rng(0)
    X = rng.integers(-100, 101, (50, 30))
    data = TrainingData(X, [0, 1] * 25)
    names = data.feature_names
    loss = LogisticLoss(
        data, CoefficientSet(names, -2000, 2000, intercept_lower=-9, intercept_upper=9)
    )
    assert loss.form == "real_valued"
    assert loss.tighten(2)
    assert loss.form == "lookup_table"


def test_tables_by_score():
    losses, slopes = tables_by_score(-5, 7, 1.0)
    scores = np.arange(-5, 8)
    np.testing.assert_allclose(losses[0], np.logaddexp(0, scores), rtol=1e-14)
    np.testing.assert_allclose(losses[1], np.logaddexp(0, -scores), rtol=1e-14)
    np.testing.assert_allclose(slopes[0], 1 / (1 + np.exp(-scores)), rtol=1e-14)
    np.testing.assert_allclose(slopes[1], -1 / (1 + np.exp(scores)), rtol=1e-14)


def test_score_range_with_required_features():
    data = TrainingData([[0, 2, -1], [3, 4, 5], [1, 2, 0]], [0, 1, 1])
    coefficients = CoefficientSet(
        data.feature_names, [-1, 2, -1], [1, 3, 1], intercept_lower=-7, intercept_upper=7
    )
    # x2 always counts: 2..3 times 2..4. Of the others one may be used.
    assert score_range(data, coefficients, 2) == (-7 + 4 - 5, 7 + 12 + 5)
    assert score_range(data, coefficients, 3) == (-7 + 4 - 8, 7 + 12 + 8)


# ---- bounds of the intercept ---------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_intercept_bounds_contain_an_optimum_for_every_choice(kind, weighted):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(1, 4))
        loss, _ = make_loss(
            seed, kind=kind, weighted=weighted, n=25, d=3, bounds=(-2, 2), max_size=size
        )
        lower, upper = loss.coefficients.intercept_lower, loss.coefficients.intercept_upper
        for coef in itertools.product(range(-2, 3), repeat=3):
            if np.count_nonzero(coef) > size:
                continue
            scores = loss.scores([0, *coef])
            intercepts = np.arange(lower - 40, upper + 41)
            margins = loss.data.labels * (scores + intercepts[:, None])
            weight = 1 if loss.data.sample_weight is None else loss.data.sample_weight
            values = (np.logaddexp(0, -margins) * weight).sum(axis=1)
            inside = (lower <= intercepts) & (intercepts <= upper)
            assert values[inside].min() <= values.min() * (1 + 1e-13)


def test_intercept_bounds_are_not_needlessly_wide():
    # Without features the optimum is the log-odds: log(1 / 3) lies between -2 and -1.
    data = TrainingData([[0], [1], [0], [1]] * 5, [0, 0, 0, 1] * 5)
    loss = LogisticLoss(data, CoefficientSet(["x1"], 0, 0))
    assert (loss.coefficients.intercept_lower, loss.coefficients.intercept_upper) == (-2, -1)
    assert loss.max_size == 0


@pytest.mark.parametrize("lighter", [0, 1])
@pytest.mark.parametrize("weight", [1e-6, 1e-9, 1e-12, 2e-14])
def test_intercept_bounds_with_very_uneven_weights(lighter, weight):
    y = np.array([0, 0, 1, 1])
    data = TrainingData([[0], [1], [0], [1]], y, np.where(y == lighter, weight, 1.0))
    loss = LogisticLoss(data, CoefficientSet(["x1"], -1, 1))
    values = [loss.value([b, 0]) for b in range(-60, 61)]
    best = int(np.argmin(values)) - 60
    assert loss.coefficients.intercept_lower <= best <= loss.coefficients.intercept_upper
    assert loss.coefficients.intercept_upper - loss.coefficients.intercept_lower < 20


@pytest.mark.parametrize("given", [(-3, None), (None, 2), (50, None), (None, -50), (-3, 2)])
def test_given_intercept_bounds_are_kept(given):
    loss, _ = make_loss(1)
    names = loss.data.feature_names
    coefficients = CoefficientSet(names, -4, 4, intercept_lower=given[0], intercept_upper=given[1])
    got = LogisticLoss(loss.data, coefficients).coefficients
    assert got.intercept_lower <= got.intercept_upper
    for bound, value in zip(given, (got.intercept_lower, got.intercept_upper), strict=True):
        assert bound is None or bound == value


def test_intercept_beyond_every_small_integer():
    X = np.linspace(0, 1e10, 20)[:, None] + 0.5
    data = TrainingData(X, [0, 1] * 10)
    with pytest.raises(ValueError, match="rescale the features"):
        LogisticLoss(data, CoefficientSet(["x1"]))


# ---- loss bounds -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_loss_bounds(kind, weighted):
    loss, _ = make_loss(3, kind=kind, weighted=weighted, n=40, d=3, bounds=(-2, 3))
    lower, upper = loss.coefficients.intercept_lower, loss.coefficients.intercept_upper
    ends = {}
    for size in range(4):
        loss_min, loss_max = ends[size] = loss.bounds(size)
        for coef in itertools.product(range(-2, 4), repeat=3):
            if np.count_nonzero(coef) <= size:
                for intercept in (lower, upper):
                    assert loss_min <= loss.value([intercept, *coef]) <= loss_max
    assert loss.bounds() == ends[3]
    assert ends[3][0] < ends[1][0] < ends[0][0]
    assert ends[0][1] < ends[1][1] < ends[3][1]


def test_loss_bounds_are_those_of_the_proposition():
    loss, _ = make_loss(4, n=30, d=4)
    data = loss.data
    columns = np.column_stack([data.column(j) for j in range(4)]).astype(float)
    lower, upper = loss.coefficients.intercept_lower, loss.coefficients.intercept_upper
    reach = np.sort(4 * np.abs(columns), axis=1)[:, ::-1][:, :2].sum(axis=1)
    best = np.where(data.labels > 0, upper + reach, -(lower - reach))
    worst = np.where(data.labels > 0, lower - reach, -(upper + reach))
    expected = np.logaddexp(0, -best).mean(), np.logaddexp(0, -worst).mean()
    assert loss.bounds(2) == pytest.approx(expected, rel=1e-7)


# ---- input, counters -----------------------------------------------------------------------


@pytest.mark.parametrize("method", ["value", "value_and_gradient", "scores", "reference_value"])
def test_bad_vectors(method):
    loss, _ = make_loss()
    with pytest.raises(ValueError, match=r"shape \(3,\), expected \(6,\)"):
        getattr(loss, method)([1, 2, 3])
    with pytest.raises(ValueError, match=r"shape \(1, 6\)"):
        getattr(loss, method)(np.zeros((1, 6)))
    with pytest.raises(ValueError, match=r"2 of 6 coefficients are NaN or infinite.*position 3"):
        getattr(loss, method)([0, 1, 2, np.nan, 1, np.inf])


def test_other_features_are_refused():
    loss, _ = make_loss()
    with pytest.raises(ValueError, match=r"has 2 features.*the data have 5"):
        LogisticLoss(loss.data, CoefficientSet(["a", "b"]))
    with pytest.raises(ValueError, match="max_size must be at least 0"):
        LogisticLoss(loss.data, CoefficientSet(loss.data.feature_names), max_size=-1)


def test_constant_features_are_never_used():
    X = np.column_stack((np.arange(10) % 3, np.full(10, 7), np.full(10, 0.5)))
    with pytest.warns(ConstantFeatureWarning):
        data = TrainingData(X, [0, 1] * 5)
    loss = LogisticLoss(data, CoefficientSet(data.feature_names))
    assert loss.form == "lookup_table"
    np.testing.assert_array_equal(loss.coefficients.lower, [-5, 0, 0])
    np.testing.assert_array_equal(loss.coefficients.upper, [5, 0, 0])
    gradient = loss.value_and_gradient([1, -1, 0, 0])[1]
    np.testing.assert_allclose(gradient[2:], gradient[0] * np.array([7, 0.5]), rtol=1e-12)
    with pytest.raises(ValueError, match="cannot be left out"):
        LogisticLoss(data, CoefficientSet(data.feature_names, [-5, 1, -5], 5))


def test_counters():
    loss, _ = make_loss()
    assert loss.n_evaluations == 0
    coef = np.zeros(6)
    loss.value(coef)
    loss.value_and_gradient(coef)
    loss.reference_value(coef)
    assert loss.n_evaluations == 3
    assert 0 < loss.seconds < 10
    other = copy.copy(loss)
    other.value(coef)
    assert (loss.n_evaluations, other.n_evaluations) == (3, 4)


def test_repr():
    loss, _ = make_loss(max_size=2)
    assert repr(loss).startswith("LogisticLoss(120 rows, 5 features, form='lookup_table', scores")


def test_gradient_of_separated_rows_keeps_relative_accuracy():
    # All slopes are about exp(-20): the digits of fixed point alone would leave four of them.
    data = TrainingData([[0, 1], [1, 0]] * 50, [0, 1] * 50)
    loss = LogisticLoss(data, CoefficientSet(data.feature_names, -100, 100))
    value, gradient = loss.value_and_gradient([0, 20, -20])
    with mpmath.workdps(40):
        slope = float(1 / (1 + mpmath.exp(20)))
    assert value == pytest.approx(exact_value(loss, [0, 20, -20]), rel=1e-14)
    np.testing.assert_allclose(gradient, [0, -slope / 2, slope / 2], rtol=1e-12, atol=1e-25)


def test_scores_of_more_than_sixteen_bits():
    rng = np.random.default_rng(0)
    X = rng.integers(-120, 121, (60, 3))
    data = TrainingData(X, [0, 1] * 30)
    coefficients = CoefficientSet(data.feature_names, -900, 900)
    loss = LogisticLoss(data, coefficients)
    low, high = loss.score_range
    assert loss.form == "lookup_table"
    assert high - low > 2**17
    for _ in range(10):
        coef = rng.integers(-900, 901, 4)
        assert loss.value(coef) == pytest.approx(loss.reference_value(coef), rel=1e-14)
        margins = data.labels * (coef[0] + X @ coef[1:])
        slopes = -data.labels / (1 + np.exp(np.minimum(margins, 700.0))) / 60
        expected = np.concatenate(([slopes.sum()], slopes @ X))
        np.testing.assert_allclose(loss.value_and_gradient(coef)[1], expected, rtol=1e-12)


# ---- threads -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_number_of_threads_does_not_change_a_bit(kind, weighted):
    n = 4 * 16384 + 5  # chunks of 16,384 rows are what threads share
    loss, rng = make_loss(3, kind=kind, weighted=weighted, n=n, max_size=3)
    vectors = [rng.integers(-4, 5, 6), rng.integers(-90, 91, 6), rng.normal(size=6)]
    for n_threads in (2, 3, 7):
        other = LogisticLoss(loss.data, loss.given_coefficients, max_size=3, n_threads=n_threads)
        assert other.coefficients == loss.coefficients
        assert other.score_range == loss.score_range
        assert other.bounds() == loss.bounds()
        for coef in vectors:
            assert other.value(coef) == loss.value(coef)
            value, gradient = other.value_and_gradient(coef)
            assert value == loss.value_and_gradient(coef)[0]
            np.testing.assert_array_equal(gradient, loss.value_and_gradient(coef)[1])
            np.testing.assert_array_equal(other.scores(coef), loss.scores(coef))
            np.testing.assert_array_equal(other.hessian(coef, [1, 4]), loss.hessian(coef, [1, 4]))


def test_hessian_refuses_features_that_do_not_exist():
    loss, _ = make_loss()
    for wrong in ([5], [0, -1]):
        with pytest.raises(ValueError, match=r"features must be indices 0\.\.4, got"):
            loss.hessian(np.zeros(6), wrong)
    with pytest.raises(TypeError):
        loss.hessian(np.zeros(6), [0.5])


def test_threads_that_are_asked_for():
    loss, _ = make_loss(n_threads=3)
    assert loss.n_threads == 3
    other = copy.copy(loss)
    other.n_threads = np.int64(2)
    assert (loss.n_threads, other.n_threads) == (3, 2)
    other.n_threads = -1
    assert 1 <= other.n_threads <= os.cpu_count()
    for wrong in (0, -2, 5000):
        with pytest.raises(ValueError, match="n_threads must be between 1 and 4096, or -1"):
            other.n_threads = wrong
    for wrong in (True, 2.0, None, "2"):
        with pytest.raises(TypeError, match="n_threads must be an int"):
            make_loss(n_threads=wrong)


def test_scores_beyond_32_bits_are_not_taken_for_integers():
    X = np.array([[0, 1], [1, 0], [1, 1], [0, 0]])
    data = TrainingData(X, [0, 1, 1, 0])
    most = 2**31 - 1
    for bound in (most, -most):
        coefficients = CoefficientSet(
            data.feature_names, -5, 5, intercept_lower=bound, intercept_upper=bound
        )
        loss = LogisticLoss(data, coefficients)
        assert loss.form == "real_valued"
        sign = 1 if bound > 0 else -1
        coef = np.array([bound, 5 * sign, 5 * sign])
        np.testing.assert_array_equal(loss.scores(coef), bound + 5 * sign * X.sum(axis=1))
        assert loss.value(coef) == pytest.approx(loss.reference_value(coef), rel=1e-13)
