"""The loss on rows in parts is that of the same rows in one piece."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from partitions import KINDS, in_parts, on_disk, partitions, random_data, rows_of
from riskslim import CoefficientSet, LogisticLoss, TrainingData
from riskslim.data.store import RowsElsewhereError
from riskslim.exceptions import ConstantFeatureWarning
from riskslim.loss.intercept_levels import LossByIntercept
from riskslim.rows.base import StoppedError
from riskslim.rows.bit_planes import pack_items
from riskslim.rows.memory import MemoryRows

# Every two of them together.
CASES = [
    (kind, weighted, bool((number + weighted) % 2))
    for number, kind in enumerate(KINDS)
    for weighted in (False, True)
]


def losses(kind, weighted, merged, seed=0, scale=1.0, **options):
    """The loss in memory, and on each second partition of the same rows: on others in turn."""
    turn = (KINDS.index(kind) // 2 + weighted) % 2
    data = random_data(seed, kind=kind, weighted=weighted, n=150)
    coefficients = CoefficientSet(data.feature_names, -3, 3, **options)
    whole = LogisticLoss(data, coefficients, max_size=4, compress=merged, scale=scale)
    found = []
    for rows in partitions(rows_of(data, merged=merged), slice(turn, None, 2)):
        other = TrainingData.from_rows(rows, feature_names=data.feature_names)
        found.append(LogisticLoss(other, coefficients, max_size=4, scale=scale))
    return whole, found


def vectors(loss: LogisticLoss, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    points = rng.integers(-3, 4, (6, loss.data.n_features + 1)).astype(float)
    points[:, 0] = np.clip(points[:, 0], loss.coefficients.intercept_lower, 2)
    points[3] = 0
    points[4:] += rng.normal(size=points[4:].shape)
    return points


@pytest.mark.parametrize(("kind", "weighted", "merged"), CASES)
def test_the_loss_is_the_same(kind, weighted, merged):
    whole, others = losses(kind, weighted, merged)
    points = vectors(whole, 1)
    values = np.array([whole.value(point) for point in points])
    gradients = np.array([whole.value_and_gradient(point)[1] for point in points])
    exact = not weighted and kind in ("zero_one", "integers")
    for loss in others:
        assert loss.form == whole.form
        assert loss.score_range == whole.score_range
        assert loss.coefficients.intercept_lower == whole.coefficients.intercept_lower
        assert loss.coefficients.intercept_upper == whole.coefficients.intercept_upper
        found = loss.values(points)
        np.testing.assert_allclose(found, values, rtol=2e-14)
        again, slopes = loss.values_and_gradients(points)
        np.testing.assert_allclose(again, values, rtol=2e-14)
        np.testing.assert_allclose(slopes, gradients, rtol=1e-11, atol=1e-13)
        if exact:  # the first four are whole numbers, counted in a table
            np.testing.assert_array_equal(found[:4], values[:4])
            np.testing.assert_array_equal(again[:4], values[:4])
            np.testing.assert_array_equal(slopes[:4], gradients[:4])
        for point, value in zip(points, found, strict=True):
            assert loss.value(point) == value
            assert loss.value(point, every_row=True) == value
            assert loss.reference_value(point) == pytest.approx(value, rel=1e-13)
        one = loss.value_and_gradient(points[0])
        assert one[0] == again[0]
        np.testing.assert_array_equal(one[1], slopes[0])
        np.testing.assert_allclose(loss.bounds(), whole.bounds(), rtol=1e-10)
        np.testing.assert_allclose(loss.bounds(2), whole.bounds(2), rtol=1e-10)
        hessian = loss.hessian(points[5], [0, 2, 5])
        np.testing.assert_allclose(hessian, whole.hessian(points[5], [0, 2, 5]), rtol=1e-11)


@pytest.mark.parametrize(("kind", "weighted", "merged"), CASES)
def test_scores_and_scales(kind, weighted, merged):
    whole, others = losses(kind, weighted, merged, scale=(0.5, 8.0))
    points = vectors(whole, 2)
    reach = LossByIntercept.of(whole)
    assert reach is not None
    for loss in others:
        for point in points[[0, 4]]:
            assert loss.best_scale(point) == pytest.approx(whole.best_scale(point), rel=1e-8)
            if not merged:
                np.testing.assert_array_equal(loss.scores(point), whole.scores(point))
        found = LossByIntercept.of(loss)
        assert found is not None
        assert found.range_within(1.0, 0, 0) == reach.range_within(1.0, 0, 0)
        assert loss.at_scale(2.0).value(points[0]) == pytest.approx(
            whole.at_scale(2.0).value(points[0]), rel=2e-14
        )


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_packed_items_give_the_same_bits(weighted, merged):
    whole, others = losses("integers", weighted, merged)
    points = vectors(whole, 3)[:4]
    points[0, 2:] = 0
    for loss in others:
        before = loss.values(points)
        loss.packed = pack_items(loss.blocks(), np.ones(6, np.bool_))
        assert loss.packed is not None
        np.testing.assert_array_equal(loss.values(points), before)
        if not weighted:

            def stop() -> bool:
                return True

            loss.should_stop = stop  # no pass is made where items are packed
            np.testing.assert_array_equal(loss.values(points[:1]), before[:1])
            with pytest.raises(StoppedError):
                loss.value(points[0], every_row=True)


def test_rows_with_tiny_slopes():
    """Digits of slopes stop somewhere: rows in parts then add them up as numbers, too."""
    data = random_data(4, kind="zero_one")
    coefficients = CoefficientSet(
        data.feature_names, -60, 60, intercept_lower=-100, intercept_upper=100
    )
    whole = LogisticLoss(data, coefficients, compress=False)
    loss = LogisticLoss(TrainingData.from_rows(in_parts(data.rows, 3)), coefficients)
    for point in ([-95, 0, 0, 0, 0, 0, 0], [90, 1, -1, 0, 0, 0, 1]):
        value, gradient = loss.value_and_gradient(point)
        expected = whole.value_and_gradient(point)
        assert value == pytest.approx(expected[0], rel=2e-14)
        np.testing.assert_allclose(gradient, expected[1], rtol=1e-10, atol=1e-14)


def test_wide_tables():
    """Spans that a 16-bit kernel cannot count, and groups of points whose spans lie apart."""
    data = random_data(4, kind="integers")
    coefficients = CoefficientSet(
        data.feature_names, -3000, 3000, intercept_lower=-30_000, intercept_upper=30_000
    )
    whole = LogisticLoss(data, coefficients, compress=False)
    assert whole.form == "lookup_table"
    points = [
        [-30_000, 0, 0, 0, 0, 0, 0], [30_000, 5, 0, 0, 0, 0, 0], [0, 3000, -3000, 3000, 0, 1, 0],
        [0, 1, 1, 1, 1, 1, 1],
    ]  # fmt: skip
    for rows in partitions(data.rows):
        loss = LogisticLoss(TrainingData.from_rows(rows), coefficients)
        np.testing.assert_array_equal(loss.values(points), [whole.value(p) for p in points])
        values, gradients = loss.values_and_gradients(points)
        for k, point in enumerate(points):
            value, gradient = whole.value_and_gradient(point)
            assert values[k] == pytest.approx(value, rel=2e-14)
            np.testing.assert_allclose(gradients[k], gradient, rtol=1e-11, atol=1e-14)


def test_several_points_in_memory():
    whole, _ = losses("mixed", weighted=False, merged=False)
    points = vectors(whole, 1)
    values, gradients = whole.values_and_gradients(points)
    for k, point in enumerate(points):
        value, gradient = whole.value_and_gradient(point)
        assert values[k] == value
        np.testing.assert_array_equal(gradients[k], gradient)
    np.testing.assert_array_equal(whole.values(points), [whole.value(point) for point in points])
    assert whole.values([]).shape == (0,)
    assert whole.values_and_gradients([])[1].shape == (0, 7)


def test_passes_can_be_stopped():
    data = random_data(0, kind="zero_one")
    loss = LogisticLoss(
        TrainingData.from_rows(in_parts(data.rows, 7)),
        CoefficientSet(data.feature_names, -3, 3),
    )
    loss.should_stop = lambda: True
    for call in (loss.value, loss.value_and_gradient, loss.reference_value, loss.hessian):
        with pytest.raises(StoppedError):
            call(np.zeros(7))
    assert loss.bounds(should_stop=lambda: True) == (0.0, np.inf)
    assert loss.tighten(1, should_stop=lambda: True) is False
    assert LossByIntercept.of(loss, lambda: True) is None


# ---- data whose rows are elsewhere -------------------------------------------------------------


def test_what_is_known_without_rows():
    data = random_data(2, kind="mixed", weighted=True)
    other = TrainingData.from_rows(
        on_disk(data.rows, 50), feature_names=data.feature_names, classes=("no", "yes")
    )
    assert (other.n_samples, other.n_counted) == (data.n_samples, data.n_counted)
    assert other.prevalence == pytest.approx(data.prevalence, rel=1e-15)
    assert other.class_weights == pytest.approx(data.class_weights, rel=1e-15)
    assert other.is_weighted
    assert other.class_weighting is None
    np.testing.assert_array_equal(other.is_integer, data.is_integer)
    np.testing.assert_array_equal(other.feature_min, data.feature_min)
    np.testing.assert_array_equal(other.feature_max, data.feature_max)
    assert "classes=('no', 'yes'), weighted=True" in repr(other)


def test_rows_are_refused_clearly():
    data = random_data(2)
    other = TrainingData.from_rows(in_parts(data.rows, 2))
    for ask in (
        lambda: other.labels,
        lambda: other.integer_columns,
        lambda: other.real_row_tiles,
        lambda: other.sample_weight,
        lambda: other.counted,
        lambda: other.column(0),
        lambda: other.reweighted(np.ones(300)),
    ):
        with pytest.raises(RowsElsewhereError, match=r"would need the rows in memory.*MemoryRows"):
            ask()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        other.nothing  # noqa: B018
    loss = LogisticLoss(other, CoefficientSet(other.feature_names, -3, 3))
    with pytest.raises(RowsElsewhereError, match="would need the rows in memory"):
        loss.rows  # noqa: B018
    with pytest.raises(RowsElsewhereError):
        loss.value_of_scores(np.zeros(300))
    assert copy.copy(other).n_samples == 300
    assert pickle.loads(pickle.dumps(other)).n_samples == 300


def test_data_of_rows_are_checked():
    data = random_data(2)
    rows = in_parts(data.rows, 2)
    with pytest.raises(ValueError, match="feature_names has 2 names"):
        TrainingData.from_rows(rows, feature_names=["a", "b"])
    one_class = TrainingData([[0], [1], [1]], [0, 1, 1])
    positive = MemoryRows([one_class.rows]).sample(3, 0)
    alone = dataclasses.replace(positive, labels=np.ones(3, np.int8))
    with pytest.raises(ValueError, match="no row of class 'no' has a positive weight"):
        TrainingData.from_rows(MemoryRows([alone]), classes=("no", "yes"))
    with pytest.warns(ConstantFeatureWarning):
        constant = TrainingData([[0, 5], [1, 5], [1, 5]], [0, 1, 1])
    with pytest.warns(ConstantFeatureWarning, match="'x2'"):
        TrainingData.from_rows(MemoryRows([constant.rows]))
