"""Tables of supports: the kernel and the packed rows against plain NumPy."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest

from riskslim import CoefficientSet, LogisticLoss, TrainingData
from riskslim._kernels import support_enumeration as kernels
from riskslim.data.packed import distinct_values
from riskslim.engines.branch_and_bound.enumeration_items import (
    EnumerationItems,
    plane_counts,
    saturated_losses,
)
from riskslim.engines.branch_and_bound.support_enumeration import most_sorted
from small_problems import items_sample, mixed_sample


def packed_items(X, y, weights):
    data = TrainingData(X, y, weights, feature_names=[f"x{j}" for j in range(X.shape[1])])
    loss = LogisticLoss(data, CoefficientSet(data.feature_names, -5, 5))
    return EnumerationItems.of(loss, np.arange(X.shape[1]))


def scan(packed, *, prefix=(), first=0, sizes=(0, 3), cutoff=math.inf, level=3, box=5.0,
         price=1e-3, ridge=0.0, apart=None, stop=0, room=100_000, rates=(), shares=(),
         settles=0, vectors=None, knapsack=()):  # fmt: skip
    """All arguments of a scan, most of them by default; one point is worth 1 in log-odds."""
    rates = np.array(rates, float).reshape(-1, 4)
    m, (least, most) = len(packed.features), sizes
    high = np.full(m + 1, box)
    high[0] = 20 * box
    planes, n_prefix = packed.n_planes, len(prefix)
    depth = most_sorted(
        int(planes[list(prefix)].sum()), [n for n in planes[first:].tolist() if n > 1],
        most - n_prefix,
    )  # fmt: skip
    n_words, n_integers, n_floats = kernels.room(
        packed.words.shape[0], packed.n_words, len(packed.n_rows), int(packed.n_rows.sum()), depth
    )
    found, bound = np.empty((room, max(most, 1)), np.int64), np.empty(room)
    counted = np.zeros(5, np.int64)
    flag = stop if isinstance(stop, np.ndarray) else np.array([stop])
    n = kernels.scan(
        packed.words, packed.n_rows, packed.side, packed.shifts, packed.unit, packed.value,
        packed.first, -high, high, 1.0, 1.0, np.full(m, price) + ridge,
        np.full(m, price), np.full(m, ridge)[: m * bool(np.any(ridge))],
        np.zeros((m, m), np.uint8) if apart is None else apart, np.array(prefix, np.int64), first,
        least, most, depth, cutoff, level, rates, np.array(shares, float), settles,
        np.array(knapsack, float), flag, found, bound,
        vectors if len(rates) or len(shares) else np.zeros((1, 1), np.int64), counted,
        np.empty(n_words, np.uint64), np.empty(n_integers, np.int32),
        np.empty(n_floats, np.float32),
    )  # fmt: skip
    supports = [tuple(int(j) for j in row if j >= 0) for row in found[: max(n, 0), :most]]
    return n, dict(zip(supports, bound[: max(n, 0)], strict=True)), counted


def cells(X, y, weights, support):
    """Weights of both classes in each cell, naively."""
    weights = np.ones(len(y)) if weights is None else weights
    weights = weights / weights.sum()
    if not len(support):
        return weights[y > 0].sum(keepdims=True), weights[y < 0].sum(keepdims=True)
    _, code = np.unique(X[:, list(support)], axis=0, return_inverse=True)
    code = code.ravel()
    return np.bincount(code, weights * (y > 0)), np.bincount(code, weights * (y < 0))


def saturated(positive, negative):
    both = (positive > 0) & (negative > 0)
    p, n = positive[both], negative[both]
    return float((p * np.log1p(n / p) + n * np.log1p(p / n)).sum())


def convex_loss(X, y, weights, support, box, ridge=0.0):
    """Least loss over real points, by many steps of bounded quasi-Newton from SciPy."""
    from scipy.optimize import minimize

    weights = np.ones(len(y)) if weights is None else weights
    weights = weights / weights.sum()
    Z = np.column_stack((np.ones(len(y)), X[:, list(support)]))

    def value(z):
        margins = y * (Z @ z)
        slopes = -weights * y / (1 + np.exp(margins))
        squares = np.concatenate(([0.0], ridge * z[1:]))
        return weights @ np.logaddexp(0, -margins) + squares @ z, Z.T @ slopes + 2 * squares

    bounds = [(-20 * box, 20 * box)] + [(-box, box)] * len(support)
    found = minimize(
        value, np.zeros(Z.shape[1]), jac=True, bounds=bounds, method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 2000},
    )  # fmt: skip
    return found.fun


@pytest.mark.parametrize("kind", ["none", "counts", "classes", "real"])
@pytest.mark.parametrize(
    ("n", "d", "n_wide"), [(3, 2, 0), (40, 9, 0), (300, 17, 0), (60, 6, 6), (200, 11, 4)]
)
@pytest.mark.parametrize("strength", [0.0, 1e-3, 0.1])
def test_supports_and_their_bounds_are_those_of_naive_counts(kind, n, d, n_wide, strength):
    rng = np.random.default_rng([n, d])
    X, y, weights = mixed_sample(rng, n, d, kind, n_wide)
    ridge = strength * rng.choice([0.0, 1.0, 3.0], d)
    packed = packed_items(X, y, weights)
    _, found, counted = scan(packed, sizes=(0, 3), ridge=ridge)
    everything = [s for k in range(4) for s in itertools.combinations(range(d), k)]
    assert sorted(found) == sorted(everything)
    assert counted[0] == len(everything)
    for support in everything[:: max(1, len(everything) // 4)]:
        bound, own = found[support] - 1e-3 * len(support), ridge[list(support)]
        least = max(
            convex_loss(X, y, weights, support, 5.0, own),
            saturated(*cells(X, y, weights, support)) + own.sum(),
        )
        assert bound <= least + 1e-9, support
        # Real weights are rounded down to multiples of 1/4096 of their mean.
        assert bound >= saturated(*cells(X, y, weights, support)) * (1 - 2e-3) - 1e-9, support
        assert bound >= least - (1e-3 if kind == "real" else 1e-5), support


@pytest.mark.parametrize("kind", ["none", "counts", "real"])
@pytest.mark.parametrize("n_wide", [0, 3])
@pytest.mark.parametrize("strength", [0.0, 1e-3, 0.03])
def test_what_a_cutoff_excludes_is_excluded_rightly(kind, n_wide, strength):
    """Every support with an integer vector below the cutoff is found."""
    for seed in range(4):
        rng = np.random.default_rng([seed, 5])
        ridge = strength * rng.choice([0.0, 1.0, 3.0], 6)
        n = int(rng.integers(5, 120))
        X, y, weights = mixed_sample(rng, n, 6, kind, min(n_wide, n // 8))
        packed = packed_items(X, y, weights)
        best = {}
        for support in (s for k in range(4) for s in itertools.combinations(range(6), k)):
            p, n = cells(X, y, weights, support)
            rows = np.unique(X[:, list(support)], axis=0) if support else np.empty((1, 0))
            grid = [v for v in itertools.product(range(-2, 3), repeat=len(support)) if all(v)]
            scores = np.array(grid).reshape(len(grid), len(support)) @ rows.T
            scores = scores[:, None] + np.arange(-40, 41)[None, :, None]
            losses = np.logaddexp(0, -scores) @ p + np.logaddexp(0, scores) @ n
            squares = np.array(grid).reshape(len(grid), len(support)) ** 2
            losses += (squares @ ridge[list(support)])[:, None]
            best[support] = losses.min() + 1e-3 * len(support)
        ranked = sorted(best.values())
        for cutoff in (ranked[0], ranked[3] + 1e-9, ranked[20]):
            _, found, _ = scan(packed, cutoff=cutoff, box=2.0, ridge=ridge)
            assert {s for s, value in best.items() if value < cutoff - 1e-12} <= set(found)
            assert all(found[s] <= best[s] + 1e-12 for s in found)


def test_ways_of_counting_agree():
    rng = np.random.default_rng(0)
    packed = packed_items(*items_sample(rng, 2100, 20, "counts"))
    results = [scan(packed, sizes=(0, 4), cutoff=0.58, level=k) for k in range(4)]
    assert results[0][0] > 0
    for other in results[1:]:
        assert other[1] == results[0][1]
        np.testing.assert_array_equal(other[2], results[0][2])


@pytest.mark.parametrize("n_wide", [0, 1, 3, 7])
def test_prefixes_sizes_and_items_that_are_apart(n_wide):
    rng = np.random.default_rng(1)
    packed = packed_items(*mixed_sample(rng, 90, 7, "none", n_wide))
    apart = np.zeros((7, 7), np.uint8)
    apart[0, 3] = apart[3, 0] = apart[5, 6] = apart[6, 5] = 1
    for prefix, first, sizes in (
        ((), 0, (2, 4)), ((0,), 1, (1, 4)), ((0, 2), 4, (0, 2)), ((1, 4), 5, (3, 3)),
        ((1, 2, 3), 4, (0, 4)), ((), 2, (0, 1)),
    ):  # fmt: skip
        _, found, _ = scan(packed, prefix=prefix, first=first, sizes=sizes, apart=apart)
        expected = [
            (*prefix, *more)
            for k in range(5)
            for more in itertools.combinations(range(first, 7), k)
            if sizes[0] <= len(prefix) + k <= sizes[1]
        ]
        expected = [s for s in expected if not {0, 3} <= set(s) and not {5, 6} <= set(s)]
        assert sorted(found) == sorted(expected)


def test_a_scan_can_be_stopped_and_can_be_full():
    packed = packed_items(*items_sample(np.random.default_rng(2), 50, 9, "none"))
    assert scan(packed, stop=1)[0] == kernels.STOPPED
    assert scan(packed, room=10)[0] == kernels.FULL


@pytest.mark.parametrize("n_wide", [0, 2])
def test_a_scan_looks_at_its_flag_within_items(n_wide):
    rng = np.random.default_rng(3)
    packed = packed_items(*mixed_sample(rng, 40, 5, "none", n_wide))
    stop = np.array([-(2**40)])
    _, every, _ = scan(packed, stop=stop)
    looks = int(stop[0]) + 2**40
    assert looks > 3 * len(every)  # more than one for each support
    for k in range(1, looks + 1, 7):
        stop = np.array([-k])
        n, _, counted = scan(packed, stop=stop)
        assert (n, stop[0]) == (kernels.STOPPED, 1) or (n == len(every) and k > looks - 9)
        assert counted[3] <= len(every)


def test_a_scan_looks_at_its_flag_while_it_counts_and_sorts():
    """Between two items, too, where rows or items are many."""
    rng = np.random.default_rng(4)
    looks = []
    for n, d, prefix in ((50_000, 25, ()), (400_000, 25, ()), (50_000, 25, (0, 1))):
        X = rng.random((n, d)) < 0.5
        packed = packed_items(X.astype(float), np.where(X[:, 0], 1, -1), None)
        stop = np.array([-(2**40)])
        sizes = (len(prefix), len(prefix) + 2)
        scan(packed, prefix=prefix, first=15, sizes=sizes, cutoff=0.0, stop=stop)
        looks.append(int(stop[0]) + 2**40)
    assert looks[1] > looks[0]
    assert looks[2] > looks[0] + 10


def test_the_saturated_loss_is_below_the_exact_one():
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(3)
    with mpmath.workdps(50):
        for trial in range(60):
            n = int(rng.integers(1, 65))
            positive = np.floor(10.0 ** rng.uniform(0, 8, n))
            negative = np.floor(10.0 ** rng.uniform(0, 8 if trial % 2 else 1, n))
            negative[rng.random(n) < 0.2] = 0
            if trial % 3 == 0:
                positive, negative = positive / 1e8 / n, negative / 1e8 / n
            exact = mpmath.mpf(0)
            for p, m in zip(map(mpmath.mpf, positive), map(mpmath.mpf, negative), strict=True):
                if p and m:
                    exact += p * mpmath.log1p(m / p) + m * mpmath.log1p(p / m)
            ours = kernels.saturated(positive, negative)
            assert ours <= exact
            assert ours >= exact * (1 - mpmath.mpf(10) ** -13)


def test_the_first_test_is_below_the_exact_loss():
    """Single precision and a polynomial: with its stated error it excludes nothing wrongly."""
    for seed in range(8):
        rng = np.random.default_rng([seed, 8])
        X, y, _ = items_sample(rng, int(rng.integers(20, 2000)), 8, "none")
        exact = {
            s: saturated(*cells(X, y, None, s))
            for k in range(5) for s in itertools.combinations(range(8), k)
        }  # fmt: skip
        cutoff = float(np.quantile(list(exact.values()), rng.random()))
        _, _, counted = scan(packed_items(X, y, None), sizes=(0, 4), cutoff=cutoff, price=0.0)
        below = sum(value < cutoff - 1e-12 for value in exact.values())
        assert counted[1] >= counted[2] >= below
        assert counted[2] <= sum(value < cutoff + 1e-12 for value in exact.values())


def test_packed_rows_have_the_weights_of_the_rows():
    for seed in range(20):
        rng = np.random.default_rng([seed, 4])
        kind = ("none", "counts", "classes", "real")[seed % 4]
        X, y, weights = items_sample(rng, int(rng.integers(2, 200)), 11, kind)
        packed = packed_items(X, y, weights)
        total = packed.unit[packed.side] * 2.0**packed.shifts @ packed.n_rows
        assert 1 - (2e-3 if kind == "real" else 1e-12) <= total <= 1
        expected = [saturated(*cells(X, y, weights, (j,))) for j in range(11)]
        np.testing.assert_allclose(saturated_losses(packed), expected, rtol=2e-3, atol=1e-12)


def test_columns_of_two_values_are_items():
    X = np.array([[0, 1, -1, 0.5, 0, 7], [1, 2, 1, 2.5, 1, 7], [1, 1, 1, 0.5, 2, 7]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = TrainingData(X, [0, 1, 0], feature_names=list("abcdef"))
        loss = LogisticLoss(data, CoefficientSet(data.feature_names, -5, 5))
    np.testing.assert_array_equal(plane_counts(loss), [1, 1, 1, 1, 2, 0])


def test_columns_of_few_values_are_items_of_several_planes():
    rng = np.random.default_rng(6)
    columns = [
        rng.permutation(np.resize(np.arange(n) * step - 2, 60))
        for n in (1, 2, 3, 4, 5, 8, 9)
        for step in (1, 3, 0.25)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = [f"x{j}" for j in range(len(columns))]
        data = TrainingData(np.column_stack(columns), np.resize([1, -1], 60), feature_names=names)
        loss = LogisticLoss(data, CoefficientSet(names, -5, 5))
    planes = plane_counts(loss)
    np.testing.assert_array_equal(planes, np.repeat([0, 1, 2, 2, 3, 3, 0], 3))
    features = np.flatnonzero(planes)
    packed = EnumerationItems.of(loss, features)
    np.testing.assert_array_equal(packed.n_planes, planes[features])
    for order in (np.arange(len(features)), rng.permutation(len(features))[:9]):
        taken = packed.taken(order)
        bits = np.unpackbits(
            taken.words.swapaxes(1, 2).copy().view(np.uint8), axis=-1, bitorder="little"
        )
        bits = bits.reshape(-1, bits.shape[-1])
        for i, j in enumerate(taken.features):
            begin, end = taken.first[i : i + 2]
            number = (bits[begin:end] << np.arange(end - begin)[:, None]).sum(axis=0)
            found = taken.value[i][np.concatenate((number[:30], number[64:94]))]
            y = loss.rows.labels
            expected = np.concatenate((columns[j][y < 0], columns[j][y > 0]))
            np.testing.assert_array_equal(found, expected)


def test_values_of_a_column():
    np.testing.assert_array_equal(distinct_values(np.array([2.5, -1.0, 2.5])), [-1.0, 2.5])
    assert distinct_values(np.arange(9)) is None
    late = np.zeros(5000)
    late[-8:] = np.arange(1, 9)
    assert distinct_values(late) is None


# ---- limits on rates -----------------------------------------------------------------------------


def whole(X):
    """As many whole values in place of those of each column."""
    return np.column_stack([np.unique(x, return_inverse=True)[1] for x in X.T]).astype(float)


def limits_of(rng, y, weights):
    """One or two limits as the kernel takes them: at least one keeps few rows wrong."""
    weights = np.ones(len(y)) if weights is None else weights
    found = []
    for direction in rng.permutation([1.0, -1.0])[: rng.integers(1, 3)]:
        first = int(rng.integers(-2, 2))
        ends = (first - 1, first) if direction > 0 else (-first, 1 - first)
        total = weights[y == direction].sum() / weights.sum()
        found.append((direction, *ends, total * rng.choice([0.0, 0.05, 0.2, 0.5])))
    return np.array(found)


def points_by_loss(X, y, weights, support, box, limits, ridge):
    """Losses, ridge penalty included, of all points of a support that keep limits; best first."""
    weights = np.ones(len(y)) if weights is None else weights
    weights = weights / weights.sum()
    own = [k for k in range(-box, box + 1) if k]
    points = np.array(
        [(b, *p) for p in itertools.product(own, repeat=len(support))
         for b in range(-20 * box, 20 * box + 1)]
    )  # fmt: skip
    scores = points[:, :1] + points[:, 1:] @ X[:, list(support)].T
    kept = np.ones(len(points), bool)
    for direction, bad, good, limit in limits:
        wrong = direction * scores <= (bad + good) / 2
        kept &= (wrong & (y == direction)) @ weights <= limit + 1e-12
    losses = np.logaddexp(0, -y * scores[kept]) @ weights + points[kept][:, 1:] ** 2 @ ridge
    order = np.argsort(losses, kind="stable")
    return losses[order], points[kept][order]


@pytest.mark.parametrize("kind", ["none", "counts", "classes", "real"])
def test_limits_exclude_what_does_not_keep_them_and_nothing_else(kind):
    n_found = n_excluded = 0
    for seed in range(8):
        rng = np.random.default_rng([seed, len(kind)])
        X, y, weights = mixed_sample(rng, 60, 4, kind, seed % 2)
        X = whole(X)
        packed = packed_items(X, y, weights)
        limits = limits_of(rng, y, weights)
        ridge = (seed % 4 > 1) * rng.choice([0.0, 0.003, 0.05], 4)
        for support in itertools.combinations(range(4), 2):
            losses, points = points_by_loss(X, y, weights, support, 2, limits, ridge[list(support)])
            best = losses[0] if len(losses) else math.inf
            for cutoff in (best - 1e-4, best + 1e-4, best + 0.1, math.inf):
                for settles in (0, 1):
                    vectors = np.zeros((10, 3), np.int64)
                    _, found, counted = scan(
                        packed, prefix=support, first=4, sizes=(2, 2), box=2.0,
                        price=0.0, ridge=ridge, cutoff=cutoff, rates=limits, settles=settles,
                        vectors=vectors, room=10,
                    )  # fmt: skip
                    if not found:
                        assert not best < cutoff - 1e-12, (seed, support, cutoff)
                        n_excluded += 1
                        continue
                    assert found[support] <= best + 1e-12 or math.isinf(found[support])
                    assert counted[3] == math.isfinite(found[support])
                    if vectors[0, 0] == np.iinfo(np.int64).min:
                        assert math.isfinite(found[support])
                        continue
                    place = (points == vectors[0]).all(axis=1)
                    if kind != "real":
                        assert place.any(), (seed, support, vectors[0])
                    if settles and kind != "real":
                        assert math.isinf(found[support])
                        assert losses[place] == pytest.approx(best, rel=1e-12)
                    n_found += 1
    assert min(n_found, n_excluded) > 20


@pytest.mark.parametrize("seed", range(8))
def test_cells_are_out_of_reach_only_where_no_set_of_them_has_the_shares(seed):
    """Empty cells, ties and weights of all sizes; cells may be taken in part."""
    rng = np.random.default_rng([seed, 3])
    n_out = n_near = 0
    for _ in range(300):
        n = int(rng.integers(1, 9))
        kinds = (
            lambda n: rng.integers(0, 4, n).astype(float),
            lambda n: rng.exponential(1.0, n) * (rng.random(n) < 0.7),
            lambda n: 10.0 ** rng.uniform(-9, 0, n),
        )
        positive, negative = (kinds[int(rng.integers(3))](n) for _ in range(2))
        total = max(positive.sum() + negative.sum(), 1e-300)
        positive, negative = positive / total, negative / total
        missed = float(rng.uniform(0, 1.1) * positive.sum())
        # The exact least: cells in order of negative over positive weight, the last one in part.
        order = sorted(np.flatnonzero(positive).tolist(), key=lambda c: negative[c] / positive[c])
        need, least = positive.sum() - missed, 0.0
        for c in order:
            part = min(max(need / positive[c], 0.0), 1.0)
            least += part * negative[c]
            need -= part * positive[c]
        for called in (least * 0.99 - 1e-12, least * 1.01 + 1e-12):
            out = kernels.out_of_reach(positive, negative, missed, max(called, 0.0))
            if called >= least:
                assert not out, (positive, negative, missed)
                n_near += 1
            elif called > 0.0:
                assert out, (positive, negative, missed)
                n_out += 1
        sets = [[c for c in range(n) if k >> c & 1] for k in range(2**n)]
        misses = np.array([positive.sum() - positive[own].sum() for own in sets])
        calls = np.array([negative[own].sum() for own in sets])
        best = calls[misses <= missed].min(initial=np.inf)
        if best < np.inf:
            assert not kernels.out_of_reach(positive, negative, missed, best * (1 + 1e-12))
    assert n_out > 50
    assert n_near > 50
