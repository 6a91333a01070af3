"""Search of supports: kernels against plain NumPy, and what the search finds."""

from __future__ import annotations

import dataclasses
import itertools
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from enumeration import SmallProblem, enumerate_optimum
from riskslim import (
    CoefficientSet,
    LogisticLoss,
    RiskScoreProblem,
    TrainingData,
    at_most,
    branch_and_bound,
    discrete_coordinate_descent,
    lattice_cpa,
)
from riskslim._kernels import supports as kernels
from riskslim.data import packed as packed_module
from riskslim.data.packed import READS, scratch_words
from riskslim.engines.branch_and_bound import driver
from riskslim.engines.branch_and_bound.enumeration_items import EnumerationItems
from riskslim.engines.branch_and_bound.incumbents import Incumbents
from riskslim.engines.branch_and_bound.search import Search
from riskslim.heuristics.problem_items import packed_items
from riskslim.heuristics.supports import SupportSearch, search_supports
from riskslim.loss.form import tables_by_score
from riskslim.rows.bit_planes import pack_items
from searches import least_objective


def make_data(rng, n=700, d=9, kind="binary", weights=None):
    X = (rng.random((n, d)) < rng.uniform(0.1, 0.8, d)).astype(np.int64)
    if kind == "few":
        X[:, 1] = rng.integers(-1, 3, n)
        X[:, 4] = rng.integers(2, 5, n)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(1.5 - X @ rng.normal(0, 1.2, d))), 1, -1)
    y[:2] = -1, 1
    sample_weight = {
        None: None,
        "class": np.where(y > 0, 2.5, 0.5),
        "few": rng.choice([0.5, 1.0, 3.0], n),
        "many": rng.uniform(0.1, 4.0, n),
    }[weights]
    return TrainingData(X.astype(float), y, sample_weight)


def make_problem(data, reach=5, **options):
    options = {"max_size": 4, **options}
    scale = options.pop("scale", 1.0)
    coefficients = options.pop("coefficients", None) or CoefficientSet(
        data.feature_names, -reach, reach
    )
    return RiskScoreProblem(data, coefficients, scale=scale, **options)


def columns_of(data):
    return np.column_stack([data.column(j) for j in range(data.n_features)])


# ---- kernels ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["binary", "few"])
@pytest.mark.parametrize("weights", [None, "class", "few"])
def test_cells_and_joint_counts_are_those_of_the_rows(kind, weights):
    rng = np.random.default_rng(1)
    data = make_data(rng, n=5000, kind=kind, weights=weights)
    X, w = columns_of(data), data.sample_weight
    w = np.ones(len(X)) if w is None else w
    w = w / w.sum()
    packed = pack_items(data.rows, np.ones(data.n_features, bool))
    for items in [(), (0,), (1, 4), (0, 2, 3, 5, 8)]:
        cells = packed.cells(items)
        expected = {}
        for x, label, weight in zip(X[:, list(items)], data.labels, w, strict=True):
            both = expected.setdefault(tuple(x), [0.0, 0.0])
            both[int(label > 0)] += weight
        got = {
            tuple(cells.x[1:, c]): cells.weights[:, c].tolist() for c in range(len(cells.number))
        }
        assert got.keys() == expected.keys()
        for key, both in expected.items():
            assert got[key] == pytest.approx(both, rel=1e-12, abs=1e-15)
        # Every plane's rows in groups of cells, some of which are left out.
        chosen = packed.planes_of(items)
        group = rng.integers(-1, 3, 2 ** len(chosen)).astype(np.int32)
        masks = np.empty((3, packed.planes.shape[1]), np.uint64)
        kernels.fill_masks(packed.planes, chosen, packed.valid, group, scratch_words(1), masks)
        n_planes = len(packed.values)
        joint = np.empty((2, n_planes, 2, 3))
        for k in (0, 1):
            kernels.count_joint(
                packed.planes, np.arange(n_planes), masks, packed.first_word, packed.side,
                packed.weight, joint[k], np.zeros(1, np.int64), k + 1,
            )  # fmt: skip
        assert (joint[0] == joint[1]).all()
        values = [
            (packed.features[i], packed.values[p])
            for i in range(len(packed))
            for p in range(packed.first[i], packed.first[i + 1])
        ]
        code = np.zeros(len(X), int)
        for bit, plane in enumerate(chosen):
            feature, value = values[plane]
            code |= (X[:, feature] == value).astype(int) << bit
        groups = group[code]
        for plane, (feature, value) in enumerate(values):
            here = X[:, feature] == value
            for side, r in itertools.product((0, 1), range(3)):
                rows = here & (groups == r) & ((data.labels > 0) == side)
                assert joint[0, plane, side, r] == pytest.approx(w[rows].sum(), abs=1e-14)


@pytest.mark.slow
def test_threads_share_the_cells_that_are_remembered(monkeypatch):
    """With room for one support, what a thread was just told of is gone when it asks again."""
    monkeypatch.setattr(packed_module, "_REMEMBERED", 1)
    data = make_data(np.random.default_rng(2), n=100)
    packed = pack_items(data.rows, np.ones(data.n_features, bool))
    expected = {(i,): packed.cells((i,)) for i in range(len(packed))}

    def ask(seed):
        rng = np.random.default_rng(seed)
        for i in rng.integers(2, size=3000).tolist():
            found = packed.cells((i,))
            np.testing.assert_array_equal(found.weights, expected[i,].weights)

    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(ask, range(4)))
    finally:
        sys.setswitchinterval(switching)
    assert pickle.loads(pickle.dumps(packed)).cells((0,)).number.tolist() == [0, 1]


def test_cells_and_masks_are_the_same_for_any_number_of_threads():
    rng = np.random.default_rng(5)
    planes = rng.integers(0, 2**64, (3, 7000), np.uint64) & rng.integers(0, 2**64, 7000, np.uint64)
    first_word, n_rows = np.array([0, 30, 6300, 7000]), np.array([1920, 401_280, 44_800])
    chosen, room = np.array([2, 0]), kernels.most_planes() * 512
    one, three = np.empty((1, 3, 4), np.int64), np.empty((3, 3, 4), np.int64)
    for counts in (one, three):
        shares, scratch = np.empty(4, np.int64), np.empty((len(counts), room), np.uint64)
        kernels.count_cells(planes, chosen, first_word, n_rows, shares, scratch, counts)
    assert (one[0] == three[0]).all()
    a, b = planes[2], planes[0]
    of_cells = [~a & ~b, a & ~b, ~a & b, a & b]
    expected = [np.bitwise_count(words).astype(np.int64) for words in of_cells]
    assert (one[0] == np.add.reduceat(expected, first_word[:-1], axis=1).T).all()
    valid, group = np.full(7000, 2**64 - 1, np.uint64), np.array([1, -1, 0, 1], np.int32)
    for n_threads in (1, 3):
        masks, scratch = np.empty((2, 7000), np.uint64), np.empty((n_threads, room), np.uint64)
        kernels.fill_masks(planes, chosen, valid, group, scratch, masks)
        assert (masks[0] == of_cells[2]).all()
        assert (masks[1] == of_cells[0] | of_cells[3]).all()


def test_no_thread_counts_where_there_is_no_room_for_its_counts():
    n = 10**6
    planes = np.random.default_rng(5).integers(0, 2**64, (2, n), np.uint64)
    first_word, n_rows, chosen = np.array([0, n]), np.array([64 * n]), np.array([1, 0])
    scratch = np.empty((3, kernels.most_planes() * 512), np.uint64)
    cells = [~planes[1] & ~planes[0], planes[1] & ~planes[0], planes[0] & ~planes[1]]
    expected = [int(np.bitwise_count(words).sum(dtype=np.int64)) for words in cells]
    for _ in range(20):  # a thread that has not begun in time has nothing to do
        counts = np.full((3, 1, 4), -7)
        kernels.count_cells(
            planes, chosen, first_word, n_rows, np.empty(2, np.int64), scratch, counts[:1]
        )
        assert counts[0, 0, :3].tolist() == expected
        assert (counts[1:] == -7).all()


@pytest.mark.parametrize("features", [[0, 1, 2, 4, 5], [5, 0, 7], [0, 3, 5]])
def test_bits_that_a_search_holds_are_read_by_others(features):
    rng = np.random.default_rng(6)
    n, d = 20_001, 8
    X = (rng.random((n, d)) < rng.uniform(0.1, 0.9, d)).astype(np.int8)
    X[:, 3] *= -1
    data = TrainingData(X, rng.random(n) < 0.3, feature_names=[f"x{j}" for j in range(d)])
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    problem = RiskScoreProblem(data, coefficients, compress=False)
    loss = problem.loss
    before = EnumerationItems.of(loss, np.array(features))
    vector = np.array([-1, 2, -1, 1, 0, 0, 0, 0, 3])
    value = loss.value(vector)
    packed = packed_items(problem, lambda: False)
    assert loss.bits.shared is packed
    after = EnumerationItems.of(loss, np.array(features))
    for field in dataclasses.fields(EnumerationItems):
        one, other = (np.asarray(getattr(each, field.name)) for each in (before, after))
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    assert {loss.value(vector) for _ in range(2 * READS)} == {value}
    assert pickle.loads(pickle.dumps(loss)).bits.shared is None
    del packed
    assert loss.bits.shared is None  # nothing is kept for it


def naive_loss(scores, labels, weights, scale=1.0):
    return float(weights @ np.logaddexp(0.0, -labels * scores / scale) / weights.sum())


@pytest.mark.parametrize("kind", ["binary", "few"])
@pytest.mark.parametrize("bounds", [(-3, 3), (0, 3), (-2, -1), (2, 3)])
@pytest.mark.parametrize("ridge", [0.0, 0.002, 0.05, 3.0])
def test_best_step_of_every_item(kind, bounds, ridge):
    """By all points and shifts; items of several values may end next to the best step."""
    rng = np.random.default_rng(3)
    data = make_data(rng, kind=kind)
    X, labels = columns_of(data), data.labels.astype(float)
    coefficients = CoefficientSet(
        data.feature_names, *bounds, intercept_lower=-6, intercept_upper=6
    )
    ridge = ridge * np.array([1, 0, 1, 0.5, 1, 1, 2, 1, 1])
    problem = make_problem(
        data, coefficients=coefficients, max_size=9, l2_penalty=4.0 * ridge, scale=2.0
    )
    search = SupportSearch.of(problem)
    items = (0, 2)
    points = (-1, bounds[0] or 1, bounds[1])
    support = search._polished(items, points, pairs=False)
    losses, steps, shifts = search._steps(support)
    base = support.points[0] + X[:, list(items)] @ support.points[1:]
    ones = np.ones(len(X))
    for i in range(data.n_features):
        by_hand = {
            (v, s): naive_loss(base + s + v * X[:, i], labels, ones, 2.0) + ridge[i] * v**2
            for v in range(bounds[0], bounds[1] + 1) if v
            for s in range(-6 - support.points[0], 7 - support.points[0])
        }  # fmt: skip
        found = by_hand[steps[i], shifts[i]]
        assert losses[i] == pytest.approx(found, rel=1e-12)
        if kind == "binary" or i not in (1, 4):
            assert found == pytest.approx(min(by_hand.values()), rel=1e-12)
        else:
            assert found <= min(by_hand.values()) * 1.05


@pytest.mark.parametrize("scale", [1.0, (0.5, 12.0)])
def test_steps_with_a_ridge_are_those_of_the_polished_support(scale):
    """On fine points, too: what a step promises is what the support with it has."""
    data = make_data(np.random.default_rng(3), n=300, kind="few", weights="few")
    ridge = np.array([0.01, 0, 0.01, 0.02, 0.3, 0.01, 0.001, 0.01, 0.01])
    options = {"max_size": 9, "l2_penalty": ridge, "l0_penalty": 1e-15}  # points may become zero
    problem = make_problem(data, scale=scale, **options)
    search = SupportSearch.of(problem)
    support = search._polished((0, 2), (-1, 1, 1), pairs=True)
    wide = CoefficientSet(data.feature_names, -999, 999)
    expected = make_problem(data, coefficients=wide, scale=search._grid.scale, **options)
    for grown in search._grown(support, 20):
        vector = search._vector(grown.items, grown.points)
        assert grown.objective == pytest.approx(expected.objective(vector), rel=1e-12)
        polished = search._polished(grown.items, grown.points, pairs=True)
        assert polished.objective <= grown.objective + 1e-12
        vector = search._vector(polished.items, polished.points)
        assert polished.objective == pytest.approx(expected.objective(vector), rel=1e-12)


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 0.004])
def test_polished_points_have_no_better_move(pairs, alpha):
    rng = np.random.default_rng(5)
    ridge = alpha * np.array([0, 1, 2, 0, 1])
    losses, _ = tables_by_score(-60, 60, 1.0)
    for _ in range(20):
        k, m = 4, 16
        x = np.ones((k + 1, m), np.int64)
        x[1:] = (np.arange(m) >> np.arange(k)[:, None]) & 1
        weights = rng.random((2, m)) / m
        lower, upper = np.array([-20, -5, 0, -5, 1]), np.array([20, 5, 5, 0, 1])
        points = np.clip(rng.integers(-5, 6, k + 1), lower, upper)
        before = points.copy()

        def loss_of(p, x=x, weights=weights):
            scores = p @ x + 60
            loss = (weights[0] * losses[0, scores] + weights[1] * losses[1, scores]).sum()
            return float(loss + ridge @ p**2)

        loss = kernels.polish(
            x, weights, points, lower, upper, losses, -60, np.array([4, 1]), pairs, ridge,
            np.empty(m, np.int64),
        )  # fmt: skip
        assert loss == pytest.approx(loss_of(points), rel=1e-12)
        assert loss <= loss_of(before) + 1e-15
        assert (points >= lower).all()
        assert (points <= upper).all()
        reach = range(-2, 3) if pairs else (0,)
        for a, b in itertools.combinations(range(k + 1), 2):
            for i, j in itertools.product(range(-1, 2), reach):
                moved = points.copy()
                moved[a] += i
                moved[b] += j if pairs else 0
                if (moved >= lower).all() and (moved <= upper).all() and ((i and j) or not i * j):
                    if not pairs and abs(i) + abs(j) > 1:
                        continue
                    if i == 0 and abs(j) == 2:
                        continue
                    assert loss_of(moved) >= loss - 2e-13


# ---- the search ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "weights", "scale"),
    [  # every two of them together
        (("binary", "few")[(i + k) % 2], weights, scale)
        for i, weights in enumerate([None, "class", "few", "many"])
        for k, scale in enumerate([1.0, 2.5, [1.0, 2.0, 4.0], (0.5, 12.0)])
    ],
)
def test_what_is_found_is_feasible_and_better_and_better(kind, weights, scale):
    rng = np.random.default_rng(7)
    data = make_data(rng, n=150, d=8, kind=kind, weights=weights)
    ridge = np.array([0, 0.01, 0.01, 0.003, 0.01, 0.03, 0.01, 0.01]) * (weights is not None)
    problem = make_problem(data, max_size=3, scale=scale, l2_penalty=ridge)
    search = SupportSearch.of(problem)
    objectives = []
    for vector in search.run():
        assert problem.is_feasible(vector)
        assert search.objective == pytest.approx(problem.objective(vector), rel=1e-14)
        objectives.append(search.objective)
    assert objectives == sorted(objectives, reverse=True)
    alone = discrete_coordinate_descent(problem, np.zeros(9, int), swaps=True)
    assert search.objective <= alone.objective + 1e-12


@pytest.mark.parametrize("weights", [None, "class", "few"])
def test_merged_rows_are_counted_exactly(weights):
    data = make_data(np.random.default_rng(37), n=6000, d=6, weights=weights)
    problem = make_problem(data)
    assert problem.loss.n_rows < 300
    search = SupportSearch.of(problem)
    support = search._polished((0, 2, 3), (0, 1, 1, -1), pairs=True)
    vector = search._vector(support.items, support.points)
    assert support.objective == pytest.approx(problem.objective(vector), rel=1e-12)


@pytest.mark.slow
def test_threads_change_nothing():
    data = make_data(np.random.default_rng(9), n=3000, d=12)
    found = []
    for n_threads in (1, 2, 3):
        problem = make_problem(data, scale=(0.5, 12.0))
        problem.loss.n_threads = n_threads
        found.append([v.tolist() for v in search_supports(problem)])
    assert found[0] == found[1] == found[2]


def test_signs_prices_required_and_fixed_points_are_kept():
    rng = np.random.default_rng(13)
    data = make_data(rng, d=10)
    names = data.feature_names
    coefficients = CoefficientSet(
        names, -4, 4, sign=[1, -1, *[0] * 8], fixed={names[3]: 2, names[7]: 0},
        l0_penalty=[*[1e-6] * 5, 0.3, *[1e-6] * 4],
    )  # fmt: skip
    problem = make_problem(data, coefficients=coefficients, max_size=5, min_size=3)
    vectors = list(search_supports(problem))
    assert vectors
    for vector in vectors:
        assert problem.is_feasible(vector)
        assert vector[4] == 2
        assert vector[8] == 0
    assert vectors[-1][6] == 0  # not worth its price


@pytest.mark.slow
def test_constraints_are_met():
    rng = np.random.default_rng(17)
    data = make_data(rng, d=14)
    names = list(data.feature_names)
    rules = [at_most(1, names[:4]), at_most(1, names[4:8])]
    problem = make_problem(data, constraints=rules)
    vectors = list(search_supports(problem))
    assert vectors
    assert all(problem.is_feasible(vector) for vector in vectors)
    free = list(search_supports(make_problem(data)))[-1]
    assert problem.objective(vectors[-1]) >= problem.objective(free) - 1e-12
    start = discrete_coordinate_descent(problem, np.zeros(15, int), swaps=True)
    assert problem.objective(vectors[-1]) <= start.objective + 1e-3


def test_supports_that_use_too_many_of_a_group_are_not_grown():
    """Points of either sign: boxes hold 0, and the search has to say what is used."""
    data = make_data(np.random.default_rng(17), d=14)
    names = list(data.feature_names)
    problem = make_problem(data, constraints=[at_most(1, names[:7])], scale=(0.5, 12.0))
    search = SupportSearch.of(problem)
    assert search._is_extensible((0, 7, 9))
    assert not search._is_extensible((0, 3))
    for layer in search._grow(6):
        assert all(sum(i < 7 for i in support.items) <= 1 for support in layer)
    assert len(layer[0].items) == 4


def test_what_was_grown_is_not_grown_again():
    problem = make_problem(make_data(np.random.default_rng(47), d=20), scale=(0.5, 12.0))
    search = SupportSearch.of(problem)
    layers = list(search._grow(5))
    steps = search.n_steps
    again = list(search._grow(5))
    assert all(one is other for one, other in zip(layers, again, strict=True))
    assert search.n_steps == steps > 0
    # A budget cuts a beam short; what is there is gone on from.
    short = SupportSearch.of(problem)
    short.work.allow(0.0)
    assert len(list(short._grow(5))) == 1
    short.work.allow(np.inf)
    assert list(short._grow(5)) == layers


def test_scores_settle_at_their_own_scale():
    problem = make_problem(make_data(np.random.default_rng(53), n=3000, d=8), scale=(0.5, 12.0))
    search = SupportSearch.of(problem)
    vector = np.zeros(9, np.int64)
    vector[[0, 2, 5]] = -3, 1, 4
    list(search._take(vector))
    settled = list(search._settled(vector))
    assert settled
    ridged = make_problem(problem.loss.data, scale=(0.5, 12.0), l2_penalty=0.05)
    other = SupportSearch.of(ridged)
    list(other._take(vector))
    *_, last = other._settled(vector)
    assert other.objective == ridged.objective(last) < ridged.objective(settled[-1])
    assert problem.objective(settled[-1]) == search.objective < problem.objective(vector)
    assert np.flatnonzero(settled[-1][1:]).tolist() == [1, 4]
    assert list(search._settled(settled[-1])) == []


def test_near_scales_are_on_a_grid():
    data = make_data(np.random.default_rng(59), d=20)
    search = SupportSearch.of(make_problem(data, scale=(0.5, 12.0)))
    near = [search._near(scale, (1.0, 1.2)) for scale in (2.96, 2.98, 0.5, 12.0)]
    assert near[0] == near[1]
    assert near[0] == pytest.approx([2.97, 3.56], rel=0.011)
    assert near[2][0] == 0.5
    assert near[3] == pytest.approx([12.0, 12.0], rel=0.011)
    listed = SupportSearch.of(make_problem(data, scale=[1.0, 2.0, 4.0]))
    assert listed._near(3.0, (1.0, 1.2)) == [4.0, 2.0]


def test_start_is_improved():
    data = make_data(np.random.default_rng(19), d=20)
    problem = make_problem(data)
    start = np.zeros(21, np.int64)
    start[[3, 5, 9]] = 1
    search = SupportSearch.of(problem)
    vectors = list(search.improve(start))
    assert problem.objective(vectors[-1]) < problem.objective(start)


def test_nothing_to_pack():
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    problem = make_problem(TrainingData(X, y))
    assert list(search_supports(problem)) == []


@pytest.mark.parametrize("when", [0, 1, 5, 50])
def test_stops_when_asked(when):
    data = make_data(np.random.default_rng(23), n=2000, d=30)
    asked = []

    def should_stop():
        asked.append(True)
        return len(asked) > when

    problem = make_problem(data)
    vectors = list(search_supports(problem, should_stop=should_stop))
    assert all(problem.is_feasible(vector) for vector in vectors)
    assert len(asked) == when + 1


@pytest.mark.slow
def test_budget_is_counted_in_work():
    data = make_data(np.random.default_rng(23), n=500, d=20)
    problem = make_problem(data)
    whole = SupportSearch.of(problem)
    vectors = [v.tolist() for v in whole.run()]
    for share in (0.0, 0.1, 0.5):
        runs = []
        for _ in range(2):
            search = SupportSearch.of(problem)
            found = [v.tolist() for v in search.run(budget=share * whole.work.seconds)]
            runs.append((found, search.n_steps, search.n_polished, search.work.seconds))
            assert found == vectors[: len(found)]
            # One step or one support more at most.
            assert search.work.seconds <= share * whole.work.seconds + 0.001
            assert search.n_steps < whole.n_steps
        assert runs[0] == runs[1]
    # What was not allowed before can be done later.
    list(search.run())
    assert search.objective == whole.objective


@pytest.mark.slow
def test_share_of_optima():
    """The optimum, by enumeration, of at least 95 in 100 small problems."""
    hits, total = 0, 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(20, 80)), 5
        X = (rng.random((n, d)) < 0.5).astype(float)
        y = np.where(rng.random(n) < 0.5, 1, -1)
        y[:2] = -1, 1
        X[0] = 1 - X[1]  # no constant column
        small = SmallProblem(
            X=X, y=y, weights=rng.choice([1.0, 2.0], n) if seed % 3 == 0 else None,
            lower=np.full(d, -2), upper=np.full(d, 2), sign=[0] * d, fixed={},
            feature_penalty=np.full(d, np.nan), l0_penalty=1e-3, min_size=0, max_size=3,
            intercept=(None, None), scale=float(rng.choice([1.0, 3.0])),
        )  # fmt: skip
        problem = small.build()
        found = list(search_supports(problem))[-1]
        best = enumerate_optimum(small).objective
        total += 1
        assert problem.objective(found) >= best - 1e-12
        hits += problem.objective(found) <= best + 1e-12
    assert hits >= 0.95 * total, (hits, total)


def test_share_of_optima_with_a_ridge():
    """Two columns are equal: half of the points in either of them cost less than all in one."""
    hits = halves = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(20, 80)), 5
        X = (rng.random((n, d)) < 0.5).astype(float)
        y = np.where(rng.random(n) < 1 / (1 + np.exp(2 - 4 * X[:, 0])), 1, -1)
        y[:2] = -1, 1
        X[0] = 1 - X[1]  # no constant column
        X[:, 3] = X[:, 0] if seed % 2 else 1 - X[:, 0]
        data = TrainingData(X, y, rng.choice([1.0, 2.0], n) if seed % 3 == 0 else None)
        problem = make_problem(
            data, 2, scale=[1.0, 3.0, [1.0, 2.0]][seed % 3], max_size=3, l0_penalty=1e-3,
            l2_penalty=rng.choice([0.0, 0.01, 0.05], d),
        )  # fmt: skip
        *_, found = search_supports(problem)
        best = least_objective(problem)
        assert problem.objective(found) >= best - 1e-12
        hits += problem.objective(found) <= best + 1e-12
        halves += found[1] != 0 and found[4] != 0
    assert hits >= 19
    assert halves >= 3


# ---- engines ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("engine", [branch_and_bound, lattice_cpa])
def test_engines_find_a_score_at_once(engine):
    data = make_data(np.random.default_rng(29), n=3000, d=24)
    problem = make_problem(data)
    best = list(search_supports(problem))[-1]
    solution = engine(problem, node_limit=0)
    assert solution.certificate.objective <= problem.objective(best) + 1e-12


@pytest.mark.parametrize("entries", [1, 10**9])
def test_wide_search_comes_before_a_root_of_many_entries(monkeypatch, entries):
    monkeypatch.setattr(driver, "LARGE_ENTRIES", entries)
    calls = []
    search_supports, solve_root = Incumbents.search_supports, Search.solve_root

    def searched(self, *arguments, effort, **options):
        calls.append(effort)
        search_supports(self, *arguments, effort=effort, **options)

    def solved(self):
        calls.append("root")
        solve_root(self)

    monkeypatch.setattr(Incumbents, "search_supports", searched)
    monkeypatch.setattr(Search, "solve_root", solved)
    data = make_data(np.random.default_rng(43), n=300, d=driver.MANY_ITEMS + 5)
    solution = branch_and_bound(make_problem(data, max_size=2))
    assert solution.certificate.status == "optimal"
    if entries == 1:
        assert calls == [driver.WIDE_EFFORT, "root"]
    else:
        assert calls[:2] == [driver.BEAM_EFFORT, "root"]


# ---- the loss by counts -------------------------------------------------------------------------


def test_loss_by_cells_is_the_same_to_the_last_bit():
    rng = np.random.default_rng(31)
    data = make_data(rng, n=9000, d=12, kind="few")
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    loss = LogisticLoss(data, coefficients, compress=False)
    fresh = LogisticLoss(data, coefficients, compress=False)
    fresh._table._bits = None
    for _ in range(6 * READS):
        coef = np.zeros(13)
        used = 1 + rng.choice(12, int(rng.integers(0, 7)), replace=False)
        coef[0], coef[used] = rng.integers(-9, 9), rng.integers(-5, 6, len(used))
        assert loss.value(coef) == fresh.value(coef)
    assert loss.bits._packed.any()
    assert not loss.bits._packed[[1, 4]].any()  # their values are others than 0 and 1


def test_more_required_planes_than_cells_can_tell_apart():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (200, 4)).astype(float)  # seven planes each, all four of them required
    data = TrainingData(X, rng.integers(0, 2, 200))
    coefficients = CoefficientSet(data.feature_names, 1, 2)
    problem = RiskScoreProblem(data, coefficients)
    assert list(search_supports(problem)) == []
    solution = branch_and_bound(problem)
    assert problem.is_feasible(solution.coef)
