"""A block in memory is a store of rows as parts are, and says the same of them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from partitions import KINDS, partitions, random_data, rows_of
from riskslim.data.store import KernelRows, RowsElsewhereError
from riskslim.rows.functions import gradient_sums, scores
from riskslim.rows.memory import parted

CASES = [(kind, *ways) for kind in KINDS for ways in ((False, False), (False, True), (True, False))]


@pytest.mark.parametrize(("kind", "weighted", "merged"), CASES)
def test_a_block_and_parts_of_it_say_the_same(kind, weighted, merged):
    rows = rows_of(random_data(3, kind=kind, weighted=weighted), merged=merged)
    point = np.random.default_rng(3).normal(size=(1, rows.n_features + 1))
    expected = next(rows.map(gradient_sums, point, 1.5)).sum(axis=0)
    for other in partitions(rows):
        for fact in ("n_rows", "n_samples", "n_counted", "weighting", "has_weights", "n_features"):
            assert getattr(other, fact) == getattr(rows, fact), fact
        for fact in ("class_weights", "class_sums", "total_weight"):
            np.testing.assert_allclose(getattr(other, fact), getattr(rows, fact), 1e-15)
        for found, known in zip(other.ranges(), rows.ranges(), strict=True):
            np.testing.assert_array_equal(found, known)
        found = sum(part.sum(axis=0) for part in other.map(gradient_sums, point, 1.5))
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        found = list(other.map_in_threads(scores, point[0], False, n_threads=2, should_stop=None))
        (known,) = rows.map_in_threads(scores, point[0], False, n_threads=2, should_stop=None)
        np.testing.assert_array_equal(np.concatenate(found), known)
        assert not other.is_block
        with pytest.raises(RowsElsewhereError, match="a test would need the rows in memory"):
            other.block_for("a test")
    assert rows.is_block
    assert rows.block_for("a test") is rows is rows.used_by(2)
    assert parted(rows).n_parts == 1


@pytest.mark.parametrize(("kind", "weighted", "merged"), CASES)
def test_classes_of_any_rows_get_other_weights(kind, weighted, merged):
    """Twice as well; what was counted is counted anew, and the rows stay what they were."""
    rows = rows_of(random_data(3, kind=kind, weighted=weighted), merged=merged)
    point = np.random.default_rng(3).normal(size=(1, rows.n_features + 1))
    twice = rows.with_class_factors((1.0, 3.5)).with_class_factors((0.3, 2.0))
    factors = np.where(rows.labels > 0, 7.0, 0.3)
    np.testing.assert_allclose(twice.weights, rows.each_weight * factors, rtol=1e-15)
    assert twice.total_weight == twice.weights.sum()
    expected = next(twice.map(gradient_sums, point, 1.5)).sum(axis=0)
    for other in partitions(rows):
        before = other.class_weights
        found = other.with_class_factors((1.0, 3.5)).with_class_factors((0.3, 2.0))
        assert other.class_weights == before
        for fact in ("n_rows", "n_samples", "weighting", "has_weights", "n_features"):
            assert getattr(found, fact) == getattr(twice, fact), fact
        # A block with weights does not know for how many rows each of its rows stands.
        assert found.n_counted == rows.n_counted
        for fact in ("class_weights", "class_sums", "total_weight"):
            np.testing.assert_allclose(getattr(found, fact), getattr(twice, fact), 1e-15)
        for threads in (1, 2):
            sums = found.used_by(threads).map(gradient_sums, point, 1.5)
            total = sum(part.sum(axis=0) for part in sums)
            np.testing.assert_allclose(total, expected, rtol=1e-12, atol=1e-12)
        drawn = found.sample(found.n_rows, 0)
        np.testing.assert_allclose(sorted(drawn.weights), sorted(twice.weights), rtol=1e-15)
        with pytest.raises(ValueError, match="leave float64"):
            other.with_class_factors((1e300, 1.0))


def test_a_block_is_left_out_or_has_arguments_of_its_own():
    rows = random_data(1).rows

    def first(part: KernelRows, n: int, more: int) -> int:
        return part.n_rows + 10 * n + more

    assert list(rows.map(first, 1, each=[None])) == []
    assert list(rows.map(first, 1, each=[(2,)])) == [321]
    with pytest.raises(ValueError, match="unpack"):
        list(rows.map(first, 1, each=[(2,), (3,)]))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_without_weight_do_not_count(kind):
    rows = random_data(2, kind=kind).rows
    weights = np.ones(rows.n_rows)
    extreme = [int(np.argmax(rows.values_of(j))) for j in range(rows.n_features)]
    weights[extreme] = 0.0
    some = dataclasses.replace(rows, weights=weights)
    assert rows.counted_ranges() is None
    assert some.n_counted == rows.n_rows - len(set(extreme))
    least, most = some.counted_ranges()
    for j in range(rows.n_features):
        counted = rows.values_of(j)[weights > 0]
        np.testing.assert_array_equal(some.counted_values(j, 5), counted)
        assert (least[j], most[j]) == (counted.min(), counted.max())
    assert np.all(most <= some.ranges()[1])
