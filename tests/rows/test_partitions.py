"""Sums over rows are the same whatever the parts are, and what holds them."""

from __future__ import annotations

import numpy as np
import pytest

from partitions import KINDS, in_parts, on_disk, partitions, random_data, rows_of
from riskslim.loss.reference import reference_sum
from riskslim.rows.base import PartitionedRows, RowsSchema, StoppedError
from riskslim.rows.bit_planes import pack_items
from riskslim.rows.functions import MergedPart
from riskslim.rows.memory import MemoryRows

# Every two of them together.
CASES = [
    (kind, weighted, bool((number + weighted) % 2))
    for number, kind in enumerate(KINDS)
    for weighted in (False, True)
]


def points_for(rows: PartitionedRows, seed: int, n: int = 4) -> np.ndarray:
    points = np.random.default_rng(seed).integers(-3, 4, (n, rows.n_features + 1))
    points[:, 1 + rows.real_index] = 0
    return points


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_linearisations_read_what_is_wanted(kind, weighted):
    """A point's numbers are its own, and derivatives that nobody wants are zero."""
    data = random_data(5, kind=kind, weighted=weighted)
    rows = in_parts(rows_of(data, merged=False), 3)
    points = np.random.default_rng(5).normal(size=(3, rows.n_features + 1))
    wanted = np.ones(rows.n_features + 1, np.int64)
    whole = rows.linearisations(points, wanted)
    assert (whole[:, 1] <= np.minimum(whole[:, 0], 1.0)).all()  # a slope is below the loss
    for j in range(1, rows.n_features + 1):
        fewer, few = points.copy(), wanted.copy()
        fewer[:, j] = few[j] = 0
        found, expected = rows.linearisations(fewer, few), rows.linearisations(fewer, wanted)
        expected[:, 2 + j] = 0.0
        np.testing.assert_array_equal(found, expected)
    for k in range(3):
        np.testing.assert_array_equal(rows.linearisations(points[k : k + 1], wanted)[0], whole[k])


@pytest.mark.parametrize(("kind", "weighted", "merged"), CASES)
@pytest.mark.parametrize("seed", range(2))
def test_sums_do_not_depend_on_the_parts(kind, weighted, merged, seed):
    data = random_data(seed, kind=kind, weighted=weighted, n=150)
    rows = rows_of(data, merged=merged)
    one, *others = in_parts(rows, 1), *partitions(rows, slice(1 + seed, None, 2))
    points = points_for(one, seed)
    reals = np.random.default_rng(seed).normal(size=(3, one.n_features + 1))
    integers = one.integer_index.tolist()
    expected = one.histogram(points, -60, 121), one.joint_counts(points[0], integers, -60, 121)
    losses, gradients = one.values_and_gradients(reals, 1.5)
    wanted = np.ones(one.n_features + 1, np.int64)
    lines, bends = (
        one.linearisations(reals / 1.5, wanted),
        one.slope_derivatives(reals / 1.5, wanted),
    )
    np.testing.assert_allclose(lines[:, 0], losses, rtol=1e-13)
    np.testing.assert_allclose(lines[:, 2:] / 1.5, gradients, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(bends[:, 0], lines[:, 2], rtol=1e-12, atol=1e-14)
    assert one.total_weight == pytest.approx(data.total_weight, rel=1e-15)
    reference = reference_sum(data.rows, reals[0], 1.5)
    assert losses[0] == pytest.approx(reference / data.total_weight, rel=1e-13)
    for other in others:
        assert other.total_weight == pytest.approx(one.total_weight, rel=1e-15)
        assert other.n_samples == (data.n_samples if not weighted else rows.n_rows)
        histogram = other.histogram(points, -60, 121)
        joint = other.joint_counts(points[0], integers, -60, 121)
        if weighted:
            np.testing.assert_allclose(histogram, expected[0], rtol=1e-14, atol=1e-14)
            for a, b in zip(joint, expected[1], strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)
        else:
            assert histogram.dtype == np.int64
            np.testing.assert_array_equal(histogram, expected[0])
            for a, b in zip(joint, expected[1], strict=True):
                np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(other.values(reals, 1.5), losses, rtol=1e-14)
        again, slopes = other.values_and_gradients(reals, 1.5)
        np.testing.assert_allclose(again, losses, rtol=1e-14)
        np.testing.assert_allclose(slopes, gradients, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(other.linearisations(reals / 1.5, wanted), lines, atol=1e-13)
        np.testing.assert_allclose(other.slope_derivatives(reals / 1.5, wanted), bends, atol=1e-13)
        assert other.reference_sum(reals[0], 1.5) == pytest.approx(reference, rel=1e-15)


@pytest.mark.parametrize("merged", [False, True])
def test_digits_are_the_same(merged):
    rows = rows_of(random_data(5, kind="integers"), merged=merged)
    one, *others = partitions(rows)
    points = points_for(one, 1)
    counts, digits = one.slope_sums(points, -60, 121, 2.0)
    np.testing.assert_array_equal(counts, one.histogram(points, -60, 121))
    for other in others:
        again, more = other.slope_sums(points, -60, 121, 2.0)
        np.testing.assert_array_equal(again, counts)
        np.testing.assert_array_equal(more, digits)


def test_rows_with_weights_have_no_digits():
    rows = in_parts(rows_of(random_data(5, weighted=True), merged=False), 2)
    with pytest.raises(ValueError, match="no exact sums"):
        rows.slope_sums(points_for(rows, 0), -60, 121, 1.0)


@pytest.mark.parametrize(("kind", "weighted", "merged"), CASES)
def test_the_same_rows_are_drawn(kind, weighted, merged):
    rows = rows_of(random_data(3, kind=kind, weighted=weighted), merged=merged)
    one, *others = partitions(rows)
    for n in (10, 10**6):
        sample = one.sample(n, 7)
        for other in others:
            again = other.sample(n, 7)
            for name in ("integer_columns", "real_row_tiles", "labels", "weights", "numbers"):
                np.testing.assert_array_equal(getattr(again, name), getattr(sample, name))
            assert again.total_weight == pytest.approx(sample.total_weight, rel=1e-15)
            assert again.n_samples == sample.n_samples
    everything = one.sample(10**6, 0)
    assert everything.total_weight == pytest.approx(one.total_weight, rel=1e-15)
    np.testing.assert_array_equal(everything.integer_columns, rows.integer_columns)


@pytest.mark.parametrize(("kind", "weighted", "merged"), CASES)
@pytest.mark.parametrize("seed", range(1))
def test_planes_are_those_of_rows_in_one_piece(kind, weighted, merged, seed, tmp_path):
    rows = rows_of(random_data(seed, kind=kind, weighted=weighted, n=300), merged=merged)
    usable = np.random.default_rng(seed).random(6) < 0.9
    expected = pack_items(rows, usable)
    for number, other in enumerate(partitions(rows)):
        found = pack_items(other, usable, folder=tmp_path if number % 2 else None)
        if expected is None:
            assert found is None
            continue
        assert found is not None
        for name in ("features", "first", "values", "base", "planes", "valid", "first_word",
                     "n_rows", "side"):  # fmt: skip
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
        np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-14)
    assert not list(tmp_path.iterdir())


def test_planes_of_many_weights():
    data = random_data(1, kind="zero_one", n=900)
    data = data.reweighted(np.random.default_rng(0).exponential(size=900) + 1e-9)
    rows = rows_of(data, merged=False)
    usable = np.ones(6, np.bool_)
    expected = pack_items(rows, usable)
    assert expected is not None
    for other in partitions(rows):
        found = pack_items(other, usable)
        assert found is not None
        np.testing.assert_array_equal(found.planes, expected.planes)
        np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-13)


def by_row(found: MergedPart) -> dict[tuple[float, ...], tuple[float, float]]:
    keys = np.hstack([found.integer_columns, found.real_columns])
    return {
        tuple(key): (positive, negative)
        for key, positive, negative in zip(
            keys.tolist(), found.positive.tolist(), found.negative.tolist(), strict=True
        )
    }


@pytest.mark.parametrize(("kind", "weighted", "merged"), CASES)
def test_merged_rows_of_some_features(kind, weighted, merged):
    rows = rows_of(random_data(2, kind=kind, weighted=weighted), merged=merged)
    features = np.array([True, False, True, False, False, True])
    one, *others = partitions(rows)
    expected = one.merged(features, 10**4)
    assert expected is not None
    total = expected.positive.sum() + expected.negative.sum()
    assert total == pytest.approx(one.total_weight, rel=1e-14)
    for other in others:
        found = other.merged(features, 10**4)
        assert found is not None
        assert found.n_rows == expected.n_rows
        known = by_row(expected)
        for key, weights in by_row(found).items():
            np.testing.assert_allclose(weights, known[key], rtol=1e-13, atol=1e-15)
        assert other.merged(features, expected.n_rows - 1) is None


@pytest.mark.parametrize("looks", range(12))
def test_merging_ends_when_it_is_told_to(looks):
    """Copying and merging the rows of all parts took a second in which nobody looked."""
    rows = in_parts(rows_of(random_data(2, kind="reals"), merged=False), 4)
    seen = []

    def should_stop() -> bool:
        seen.append(1)
        return len(seen) > looks

    with pytest.raises(StoppedError):
        rows.used_by(1, should_stop).merged(np.ones(6, np.bool_), 10**4)


def test_numbers_beyond_16_bits_are_split():
    from riskslim.rows.disk import BlockWriter, ScratchFolder

    writer = BlockWriter(ScratchFolder(), RowsSchema((0,), (), "numbers"))
    writer.append(np.array([[0], [1]], np.int8), None, [-1, 1], [200_000, 65_535])
    with writer.finish() as rows:
        assert (rows.n_rows, rows.n_samples, rows.total_weight) == (5, 265_535, 265_535.0)
        counts = rows.histogram(np.array([[0, 1]]), 0, 2)
        np.testing.assert_array_equal(counts[0], [[200_000, 0], [0, 65_535]])


def test_a_pass_can_be_stopped():
    rows = in_parts(rows_of(random_data(0), merged=False), 7)
    asked = []

    def should_stop() -> bool:
        asked.append(1)
        return len(asked) > 3

    for n_threads in (1, 2):
        asked.clear()
        with pytest.raises(StoppedError):
            rows.used_by(n_threads, should_stop).values(np.zeros((1, 7)), 1.0)
        assert len(asked) == 4


def test_parts_must_fit():
    whole = rows_of(random_data(0), merged=False)
    merged = rows_of(random_data(0), merged=True)
    with pytest.raises(ValueError, match="2 kinds of parts"):
        MemoryRows([whole, merged])
    with pytest.raises(ValueError, match="must have rows"):
        MemoryRows([])
    with pytest.raises(ValueError, match=r"each feature 0\.\.d-1 once"):
        RowsSchema((0, 2), (0,)).check()
    with pytest.raises(ValueError, match="weighting must be"):
        RowsSchema((0,), (), "some").check()  # type: ignore[arg-type]


def test_what_is_said_of_rows():
    rows = rows_of(random_data(0), merged=True)
    assert repr(in_parts(rows, 2)).startswith(f"MemoryRows({rows.n_rows} rows for 300 in 2 parts")
    assert repr(on_disk(rows, 10**6)).startswith(f"DiskRows({rows.n_rows} rows for 300 in 1 parts")
