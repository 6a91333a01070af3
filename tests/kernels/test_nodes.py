"""The node kernel against enumeration of small boxes and plain NumPy."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest

from riskslim._kernels import nodes

CASES, PART = 300, 50
SEEDS = [range(first, first + PART) for first in range(0, CASES, PART)]
TOLERANCE = 1e-9
RULES = 5
# What one point is worth: as in the paper, some other number, or anything in an interval. The same
# with a ridge penalty.
RIDGED = "ridged "
WORTHS = ("one", "other", "interval", RIDGED + "other", RIDGED + "interval")
# Values of t in an interval at which every vector is looked at.
N_WORTHS = 8


class Rows:
    """Random rows with columns of both kinds in random order, and weights that add up to one."""

    def __init__(self, rng, n, n_integers, n_reals):
        self.integers = rng.integers(-2, 4, (n, n_integers)).astype(np.int8)
        self.reals = rng.normal(size=(n, n_reals)).round(2)
        slot = np.concatenate((np.arange(n_integers), -1 - np.arange(n_reals)))
        self.slot = rng.permutation(slot).astype(np.int64)
        # Rows of one class, of both, and of none.
        weights = rng.exponential(size=(2, n)) * (rng.random((2, n)) < 0.7)
        weights[:, 0] = 1.0
        self.positive, self.negative = weights / weights.sum()

    @property
    def columns(self):
        """All columns as float64, the intercept's first."""
        columns = [self.integers[:, k] if k >= 0 else self.reals[:, -1 - k] for k in self.slot]
        return np.column_stack((np.ones(len(self.positive)), *columns))

    def losses(self, coefs):
        """Loss of each vector."""
        scores = self.columns @ np.asarray(coefs, float).T
        return self.positive @ np.logaddexp(0, -scores) + self.negative @ np.logaddexp(0, scores)

    def derivatives(self, coef):
        """Gradient and second derivatives at one point."""
        columns = self.columns
        p = 1 / (1 + np.exp(-columns @ coef))
        gradient = columns.T @ (self.negative * p - self.positive * (1 - p))
        curvature = (self.positive + self.negative) * p * (1 - p)
        return gradient, (columns.T * curvature) @ columns


class Case:
    """A small node: rows, penalties, limits, and everything in its box."""

    def __init__(self, seed, *, duplicates=False, worth="one"):
        rng = np.random.default_rng(seed)
        self.worth = random_worth(np.random.default_rng([seed, 1]), worth)
        d = int(rng.integers(1, 5))
        n_reals = int(rng.integers(0, d + 1))
        self.rows = Rows(rng, int(rng.integers(1, 40)), d - n_reals, n_reals)
        p = d + 1
        self.penalty = np.where(rng.random(p) < 0.2, 0.0, 10.0 ** rng.uniform(-5, -1, p))
        self.penalty[0] = 0.0
        self.ridge = random_ridge(np.random.default_rng([seed, 2]), p, worth)
        lower, upper = rng.integers(-3, 1, p), rng.integers(0, 4, p)
        moved = rng.random(p) < 0.2  # a feature that is in, or the intercept away from zero
        shift = rng.choice([-3, 3], p)
        self.box = np.array([lower, upper], float) + np.where(moved, shift, 0)
        self.box[:, rng.random(p) < 0.1] = 0.0
        self.min_size = int(rng.integers(1, p)) if rng.random() < 0.3 else 0
        self.max_size = int(rng.integers(max(self.min_size, 1), p))
        self.duplicate, self.ends = np.full(p, -1, np.int64), np.zeros((2, p))
        if duplicates:
            self._make_duplicates()
        self._enumerate()
        self.cutoff = self._cutoff(rng)

    def _make_duplicates(self):
        """Let the last feature say what the first one says."""
        self.rows.slot[-1] = self.rows.slot[0]
        self.min_size, self.penalty[-1] = 0, self.penalty[1]
        self.box[:, 1] = [-2.0, 2.0]
        self.box[:, -1] = [-1.0, 2.0]
        if len(self.penalty) > 2:
            self.duplicate[-1], self.ends[:, -1] = 1, (2.0, -2.0)

    def _enumerate(self):
        values = [np.arange(low, high + 1) for low, high in self.box.T]
        vectors = np.array(list(itertools.product(*values)), float)
        sizes = np.count_nonzero(vectors[:, 1:], axis=1)
        vectors = vectors[(sizes >= self.min_size) & (sizes <= self.max_size)]
        _, low, high = self.worth
        values = np.geomspace(low, high, N_WORTHS) if low < high else np.array([low])
        self.vectors = np.repeat(vectors, len(values), axis=0)
        self.t = np.tile(values, len(vectors))
        losses = self.rows.losses(self.t[:, None] * self.vectors)
        self.objectives = losses + (self.vectors != 0) @ self.penalty
        self.objectives += (self.t[:, None] * self.vectors) ** 2 @ self.ridge
        self.optimum = self.objectives.min(initial=math.inf)

    def _cutoff(self, rng):
        if rng.random() < 0.25 or not len(self.vectors):
            return math.inf
        share = rng.choice([-0.05, 1e-6, 0.01, 0.1, 0.5, 1.0])
        return float(self.optimum + share * (self.objectives.max() - self.optimum))

    @property
    def better(self):
        """Which vectors have an objective below the cutoff."""
        return self.objectives < self.cutoff

    def within(self, box, worth):
        """Which vectors are in a box, worth what they may be worth."""
        inside = ((self.vectors >= box[0]) & (self.vectors <= box[1])).all(axis=1)
        return inside & (worth[1] <= self.t * (1 + 1e-12)) & (self.t <= worth[2] * (1 + 1e-12))


def random_ridge(rng, p, kind):
    """Ridge penalty of each coefficient; some have none."""
    if not kind.startswith(RIDGED):
        return np.zeros(p)
    ridge = np.where(rng.random(p) < 0.2, 0.0, 10.0 ** rng.uniform(-4, 0, p))
    ridge[0] = 0.0
    return ridge


def random_worth(rng, kind):
    """What one point is worth at first, and the interval of it."""
    kind = kind.removeprefix(RIDGED)
    if kind == "one":
        return np.ones(3)
    low, high = sorted(10.0 ** rng.uniform(-1, 0.4, 2))
    if kind == "other":
        return np.full(3, low)
    return np.array([rng.uniform(low, high), low, high])


@functools.cache
def case(seed, *, duplicates=False, worth="one"):
    return Case(seed, duplicates=duplicates, worth=worth)


class Run:
    """Arrays that the kernel changes, for one node."""

    def __init__(self, node, *, stop=False, cutoff=None, tolerance=TOLERANCE):
        self.node = node
        rows, p = node.rows, len(node.penalty)
        largest = np.abs(rows.columns).max(axis=0)
        fill = [
            np.asfortranarray(x) if x.shape[1] else np.zeros((1, 1), x.dtype, order="F")
            for x in (rows.integers, rows.reals)
        ]
        self.arguments = (
            *fill, rows.slot, rows.positive, rows.negative, node.penalty, node.ridge, largest,
            node.duplicate, node.ends, node.min_size, node.max_size,
            node.cutoff if cutoff is None else cutoff, tolerance, np.empty(0),
        )  # fmt: skip
        n_floats, n_indices = nodes.scratch_sizes(len(rows.positive), p)
        # Nothing is read before it has been written.
        self.rest = (
            np.full(1, int(stop)), np.zeros(5), np.full(n_floats, np.nan),
            np.full(n_indices, -(2**40)),
        )  # fmt: skip
        self.box, self.coef, self.worth = node.box.copy(), np.zeros(p), node.worth.copy()
        self.result = np.array([-math.inf, math.inf, 0.0, 0.0])
        self.child_box, self.child_coef = np.full((3, 2, p), np.nan), np.full((3, p), np.nan)
        self.child_worth, self.child_result = np.full((3, 3), np.nan), np.full((3, 4), np.nan)

    def solve_root(self, iterations=200):
        own = (self.box, self.coef, self.worth, self.result)
        return nodes.solve_root(*self.arguments, iterations, *own, *self.rest)

    def expand(self, rule, iterations=25):
        own = (self.box, self.coef, self.worth, self.result)
        children = (self.child_box, self.child_coef, self.child_worth, self.child_result)
        return nodes.expand(*self.arguments, iterations, rule, *own, *children, *self.rest)


def use(coef, box):
    """Share of the budget of each free feature, and which features are in."""
    free = (box[0] <= 0) & (box[1] >= 0) & (box[0] < box[1])
    needed = (box[0] > 0) | (box[1] < 0)
    free[0] = needed[0] = False
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(coef > 0, coef / box[1], np.where(coef < 0, coef / box[0], 0.0))
    return np.where(free, shares, 0.0), needed


def lagrangian(node, box, coef, worth, multiplier):
    """Relaxation with a multiplier of the budget: each free feature has the best use for it."""
    shares, needed = use(coef, box)
    squares = node.ridge * (worth[0] * coef) ** 2
    prices = node.penalty + multiplier
    with np.errstate(invalid="ignore", divide="ignore"):
        uses = np.clip(np.nan_to_num(np.sqrt(squares / prices)), shares, 1.0)
        costs = np.where(shares > 0, prices * uses + squares / uses, 0.0)
    total = node.rows.losses(worth[0] * coef[None])[0] + needed @ (node.penalty + squares)
    return total + costs.sum() - multiplier * (node.max_size - needed.sum())


def check_point(node, box, coef, worth, result):
    """A relaxation's point is in its box and budget, and its values are what they claim."""
    assert node.worth[1] <= worth[1] <= worth[0] <= worth[2] <= node.worth[2]
    shares, needed = use(coef, box)
    assert (box == np.rint(box)).all()
    assert (coef >= box[0] - 1e-9).all()
    assert (coef <= box[1] + 1e-9).all()
    if node.ridge.any():
        if math.isfinite(result[1]):
            expected = lagrangian(node, box, coef, worth, result[2])
            assert result[1] == pytest.approx(expected, abs=1e-9)
        return
    # Nearly dependent columns leave rounding errors of this size in a step along the budget.
    assert shares.sum() <= node.max_size - needed.sum() + 1e-7
    expected = node.rows.losses(worth[0] * coef[None])[0] + node.penalty @ (shares + needed)
    if math.isfinite(result[1]):
        assert result[1] == pytest.approx(expected, abs=1e-9)
        # The bound knows of min_size, and of penalties at every t; the relaxation does not.
        if not node.min_size and worth[1] == worth[2]:
            assert result[0] <= result[1] + 1e-12


def check_bound(node, box, worth, bound):
    """The bound holds for everything in the box that is still wanted."""
    inside = node.objectives[node.within(box, worth) & node.better]
    assert bound <= inside.min(initial=math.inf)


# ---- the relaxation of one node ------------------------------------------------------------


@pytest.mark.parametrize("worth", WORTHS)
@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: str(seeds.start))
def test_relaxation_bounds_the_box(seeds, worth):
    for seed in seeds:
        node = case(seed, worth=worth)
        run = Run(node)
        if run.solve_root() == nodes.PRUNED:
            assert not node.better.any(), seed
            continue
        assert node.within(run.box, run.worth)[node.better].all(), seed
        check_bound(node, run.box, run.worth, run.result[0])
        check_point(node, run.box, run.coef, run.worth, run.result)


@pytest.mark.parametrize("worth", WORTHS[:-1])  # of intervals, a ridge penalty is not all in bounds
def test_relaxations_are_solved(worth):
    gaps = []
    for seed in range(CASES):
        node = Case(seed, worth=worth)
        if worth == "interval":
            node.penalty[:] = 0.0  # prices are counted at one t, in the bound at any
        run = Run(node, cutoff=math.inf)
        if not node.min_size and run.solve_root() == nodes.OPEN:
            gaps.append(run.result[1] - run.result[0])
    assert len(gaps) > CASES / 2
    assert max(gaps) <= 1e-7  # of the tolerance 1e-9, where rounding errors permit


def least_of_real_weights(node, box, coef, t):
    """Least linearisation at a point, with the penalties, over real weights within the budget."""
    gradient, _ = node.rows.derivatives(t * coef)
    _, needed = use(coef, box)
    low, high = t * box

    def least(j, low, high):
        if not node.ridge[j]:
            return min(gradient[j] * low, gradient[j] * high)
        best = np.clip(-gradient[j] / (2 * node.ridge[j]), low, high)
        return gradient[j] * best + node.ridge[j] * best**2

    total = node.rows.losses(t * coef[None])[0] - gradient @ (t * coef)
    room, gains = node.max_size - needed.sum(), []
    for j in range(len(coef)):
        if j == 0 or needed[j]:
            total += least(j, low[j], high[j]) + node.penalty[j]
        elif low[j] < high[j]:
            gains.append(node.penalty[j] + least(j, low[j], high[j]))
    return total + sum(gain for gain in sorted(gains)[:room] if gain < 0)


def test_relaxations_with_a_ridge_penalty_are_as_strong_as_their_linearisation():
    """Strong duality: it fails where the penalty's envelope is not the convex one."""
    met = 0
    for seed in range(CASES):
        node = Case(seed, worth=RIDGED + "other")
        # Points of next to nothing: integers are nearly real numbers.
        node.worth, node.box = node.worth / 10_000, node.box * 10_000
        run = Run(node, cutoff=math.inf)
        if node.min_size or run.solve_root() == nodes.PRUNED:
            continue
        found = least_of_real_weights(node, run.box, run.coef, run.worth[0])
        assert run.result[1] == pytest.approx(found, abs=1e-6), seed
        met += 1
    assert met > CASES / 3


def test_bounds_with_a_ridge_penalty_lie_between_relaxation_and_optimum():
    met = 0
    for seed in range(CASES):
        node = Case(seed, worth=RIDGED + "other")
        run = Run(node, cutoff=math.inf)
        if not node.min_size and run.solve_root() == nodes.OPEN:
            assert run.result[1] - 1e-6 <= run.result[0] <= node.optimum, seed
            met += 1
    assert met > CASES / 3


def test_the_best_worth_of_one_vector_is_found():
    for seed in range(100):
        node = Case(seed, worth="interval")
        node.box[:] = np.rint(node.vectors[0]) if len(node.vectors) else 0.0
        node.min_size, node.max_size = 0, len(node.penalty) - 1
        run = Run(node, cutoff=math.inf)
        assert run.solve_root() == nodes.OPEN
        t = np.linspace(run.worth[1], run.worth[2], 2001)
        objectives = node.rows.losses(t[:, None] * node.box[:1])
        objectives += node.penalty @ (node.box[0] != 0)
        assert run.result[0] <= objectives.min()
        assert run.result[1] == pytest.approx(objectives.min(), abs=1e-5)
        assert run.result[1] - run.result[0] <= 1e-7


class Large:
    """A node without constraints on many rows, whose intercept is fixed."""

    def __init__(self, n, box, n_integers=5):
        rng = np.random.default_rng(n)
        self.rows = Rows(rng, n, n_integers, 3)
        p = n_integers + 4
        self.penalty, self.duplicate, self.ends = np.zeros(p), np.full(p, -1), np.zeros((2, p))
        self.ridge = np.zeros(p)
        self.min_size, self.max_size, self.cutoff = 0, p - 1, math.inf
        self.worth = np.ones(3)
        self.box = np.tile([[-box], [box]], p).astype(float)
        self.box[:, 0] = 1.0
        self.start = np.concatenate(([1.0], rng.uniform(-0.3, 0.3, p - 1)))


@pytest.mark.parametrize("n", [1, 7, 2047, 2048, 2049, 6149, 40_000])
def test_bound_is_the_minimum_of_the_linearisation(n):
    node = Large(n, 2)
    run = Run(node)
    run.coef[:] = node.start
    assert run.solve_root(iterations=1) == nodes.OPEN
    gradient, _ = node.rows.derivatives(node.start)
    steps = np.where(gradient > 0, node.box[0], node.box[1]) - node.start
    expected = node.rows.losses(node.start[None])[0] + gradient @ steps
    assert run.result[0] == pytest.approx(expected, abs=1e-11)
    assert run.result[0] <= expected


@pytest.mark.parametrize("n", [50, 257, 2049, 6149, 40_000])
def test_first_step_is_a_newton_step(n):
    node = Large(n, 1000)
    run = Run(node, tolerance=1e-13)
    run.coef[:] = node.start
    run.solve_root(iterations=1)
    gradient, hessian = node.rows.derivatives(node.start)
    step = -np.linalg.solve(hessian[1:, 1:], gradient[1:])
    # The first rows stand for all of them where there are many.
    accuracy = 0.1 if n > nodes.HESSIAN_ROWS else 1e-6
    assert np.abs(run.coef[1:] - node.start[1:] - step).max() <= accuracy * np.abs(step).max()


def test_many_features_take_second_derivatives_from_fewer_rows():
    """Steps differ, bounds and the relaxation they end in do not."""
    for n, accuracy in ((nodes.WIDE_ROWS, (0.0, 1e-6)), (12_000, (1e-5, 0.3))):
        node = Large(n, 1000, nodes.WIDE)
        node.start[1:] *= 0.1
        run = Run(node, tolerance=1e-13)
        run.coef[:] = node.start
        run.solve_root(iterations=1)
        gradient, hessian = node.rows.derivatives(node.start)
        step = -np.linalg.solve(hessian[1:, 1:], gradient[1:])
        error = np.abs(run.coef[1:] - node.start[1:] - step).max() / np.abs(step).max()
        assert accuracy[0] <= error <= accuracy[1]
        node.box = np.clip(node.box, -2, 2)
        run = Run(node, tolerance=1e-7)
        assert run.solve_root() == nodes.OPEN
        gradient, _ = node.rows.derivatives(run.coef)
        assert np.abs(gradient[1:]).max() < 1e-5
        assert run.result[1] == pytest.approx(node.rows.losses(run.coef[None])[0], abs=1e-12)
        assert run.result[1] - 1e-7 <= run.result[0] <= run.result[1]


# ---- branching -----------------------------------------------------------------------------


def expanded(seed, worth="one"):
    """A case, relaxed and expanded; None where there is nothing to expand.

    As in a search, the relaxation knows of a worse cutoff than the expansion.
    """
    node = case(seed, worth=worth)
    first = Run(node, tolerance=1e-4, cutoff=math.inf)
    if first.solve_root() == nodes.PRUNED:
        return None
    run = Run(node, tolerance=1e-4)
    run.coef[:], run.result[:], run.worth[:] = first.coef, first.result, first.worth
    return node, run, run.expand(seed % RULES)


@pytest.mark.parametrize("worth", WORTHS)
@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: str(seeds.start))
def test_children_cover_what_is_better(seeds, worth):
    for seed in seeds:
        found = expanded(seed, worth)
        if found is None:
            continue
        node, run, status = found
        if status == -1:
            assert not node.better.any(), seed
        elif status == -2:
            np.testing.assert_array_equal(run.box[0], run.box[1])
            assert node.within(run.box, run.worth)[node.better].all(), seed
        else:
            check_children(node, run, status)


def check_children(node, run, n_open):
    covered = np.zeros(len(node.vectors), int)
    for i in range(n_open):
        box, coef, result = run.child_box[i], run.child_coef[i], run.child_result[i]
        worth = run.child_worth[i]
        covered += node.within(box, worth)
        check_bound(node, box, worth, result[0])
        assert run.result[0] <= result[0] < node.cutoff
        assert (box[0] >= run.box[0]).all()
        assert (box[1] <= run.box[1]).all()
        check_point(node, box, coef, worth, result)
    assert covered.max(initial=0) <= 1
    assert (covered[node.better] == 1).all()
    assert np.isnan(run.child_box[n_open:]).all() or n_open < 3


def test_every_end_of_an_expansion_is_met():
    ends = [found[2] for seed in range(CASES) if (found := expanded(seed)) is not None]
    assert set(ends) == {-2, -1, 0, 1, 2, 3}


def test_of_duplicates_one_best_vector_stays():
    met = 0
    for seed in range(200):
        node = case(seed, duplicates=True)
        if node.duplicate.max() < 0 or not node.optimum + 1e-9 < node.cutoff:
            continue
        run = Run(node, tolerance=1e-4)
        assert run.solve_root() == nodes.OPEN
        best = node.objectives <= node.optimum + 1e-12
        assert (node.within(run.box, run.worth) & best).any(), seed
        status = run.expand(seed % RULES)
        boxes = run.child_box[:status] if status >= 0 else [run.box]
        assert status != -1
        assert any((node.within(box, run.worth) & best).any() for box in boxes), seed
        met += 1
    assert met > 50


# ---- ends of a node ------------------------------------------------------------------------


def test_box_of_one_point():
    node = Case(3)
    node.box[:] = np.round(node.box.mean(axis=0))
    node.min_size, node.max_size = 0, len(node.penalty) - 1
    run = Run(node, cutoff=math.inf)
    assert run.expand(2) == -2
    expected = node.rows.losses(node.box[:1])[0] + node.penalty @ (node.box[0] != 0)
    assert run.result[0] == pytest.approx(expected, abs=1e-12)
    assert run.result[0] <= expected
    assert Run(node, cutoff=expected - 1e-9).expand(2) == -1
    assert Run(node, cutoff=expected - 1e-9).solve_root() == nodes.PRUNED


@pytest.mark.parametrize("kind", ["crossed", "too many", "too few", "none allowed"])
def test_infeasible_boxes(kind):
    node = Case(3)
    p = len(node.penalty)
    node.box[:] = [[-2.0], [2.0]]
    node.min_size, node.max_size = 0, p - 1
    if kind == "crossed":
        node.box[:, 1] = 2.0, 1.0
    elif kind == "too many":
        node.box[0, 1:], node.max_size = 1.0, p - 2
    elif kind == "none allowed":
        node.box[0, 1:], node.max_size = 1.0, 0
    else:
        node.box[:, 1], node.min_size = 0.0, p - 1
    for cutoff in (math.inf, 10.0):
        assert Run(node, cutoff=cutoff).solve_root() == nodes.PRUNED
        assert Run(node, cutoff=cutoff).expand(2) == -1


def test_stop_leaves_valid_bounds():
    for seed in range(50):
        node = case(seed)
        run = Run(node, stop=True)
        run.result[0] = 1e-3
        assert run.solve_root() == nodes.OPEN
        np.testing.assert_array_equal(run.box, node.box)
        assert run.result[0] == 1e-3
        run = Run(node, stop=True)
        status = run.expand(2)
        if status == -1:
            assert not node.better.any(), seed
        elif status >= 0:
            covered = sum(
                (node.within(box, run.worth) for box in run.child_box[:status]), np.zeros(1, int)
            )
            assert (np.broadcast_to(covered, node.better.shape)[node.better] == 1).all(), seed


@pytest.mark.parametrize("worth", WORTHS)
def test_stops_at_every_look_leave_valid_bounds(worth):
    for seed in range(12):
        node = case(seed, worth=worth)
        for looks in itertools.count(1):
            run = Run(node, stop=-looks)
            status = run.solve_root()
            if status == nodes.PRUNED:
                assert not node.better.any(), (seed, looks)
            else:
                assert node.within(run.box, run.worth)[node.better].all(), (seed, looks)
                check_bound(node, run.box, run.worth, run.result[0])
            if run.rest[0][0] < 0:  # it was over before
                break
            assert run.rest[0][0] == 1


@pytest.mark.parametrize("worth", WORTHS)
def test_stops_while_branching_leave_all_that_is_wanted(worth):
    met = set()
    for seed in range(12):
        node = case(seed, worth=worth)
        for looks in itertools.count(1):
            run = Run(node)
            if run.solve_root(iterations=2) == nodes.PRUNED:
                break
            run.rest[0][0] = -looks
            status = run.expand(seed % RULES)
            met.add(status)
            wanted = node.within(run.box, run.worth) & node.better
            if status == -3:
                assert wanted.sum() == node.better.sum(), (seed, looks)
                check_bound(node, run.box, run.worth, run.result[0])
            elif status == -1:
                assert not node.better.any(), (seed, looks)
            elif status >= 0:
                covered = np.zeros(len(node.t), bool)
                for i in range(status):
                    covered |= node.within(run.child_box[i], run.child_worth[i])
                    check_bound(node, run.child_box[i], run.child_worth[i], run.child_result[i, 0])
                assert covered[wanted].all(), (seed, looks)
            if run.rest[0][0] < 0:
                break
    assert -3 in met
    assert max(met) > 0


def test_calls_are_counted():
    run = Run(case(1), cutoff=math.inf)
    run.solve_root()
    evaluations, gradients, hessians, programs, seconds = run.rest[1]
    assert evaluations >= gradients >= 1
    assert hessians <= programs
    assert seconds > 0


# ---- nodes that are relaxed on a sample ------------------------------------------------------


def linearised(run, points, *, wanted=None, label=None, looks=0, rows=None):
    """What is known at points, and whether work ended."""
    b, p = points.shape
    sums, stop = np.full((b, p + 2, 2), np.nan), np.array([-looks])
    wanted = np.ones(p, np.int64) if wanted is None else wanted
    begin, end = (0, len(run.arguments[3])) if rows is None else rows
    ended = nodes.linearise(
        *run.arguments[:5], np.empty(0, np.int8) if label is None else label, points, wanted,
        begin, end, sums, stop, np.zeros(5),
    )  # fmt: skip
    known, total = np.zeros((b, 3 * p + nodes.KNOWN)), sums.sum(axis=2)
    if label is not None:
        total *= max(run.arguments[3][0], run.arguments[4][0])
    known[:, :p], known[:, p : 2 * p] = points, total[:, 2:]
    known[:, 3 * p : 3 * p + 2] = total[:, :2]
    return known, ended


def one_class_each(rows, rng):
    """Rows of one class and equal weights; their labels."""
    label = rng.choice([-1, 1], len(rows.positive)).astype(np.int8)
    rows.positive, rows.negative = (label > 0) / len(label), (label < 0) / len(label)
    return label


@pytest.mark.parametrize("kind", ["weights", "labels"])
@pytest.mark.parametrize("n", [1, 31, 2048, 4100])
def test_linearisation_at_several_points(n, kind):
    node, rng = Large(n, 2), np.random.default_rng([n, 3])
    label = one_class_each(node.rows, rng) if kind == "labels" else None
    run, p = Run(node), len(node.penalty)
    points = rng.normal(size=(3, p)) * 0.4
    points[1, 1:] = 0.0
    wanted = (rng.random(p) < 0.7).astype(np.int64)
    known, ended = linearised(run, points, wanted=wanted, label=label)
    assert ended
    for i, point in enumerate(points):
        gradient, _ = node.rows.derivatives(point)
        gradient[1:] *= wanted[1:]
        np.testing.assert_allclose(known[i, p : 2 * p], gradient, atol=1e-13)
        assert known[i, 3 * p] == pytest.approx(node.rows.losses(point[None])[0], rel=1e-13)
        alone = linearised(run, points[i : i + 1].copy(), wanted=wanted, label=label)[0]
        np.testing.assert_array_equal(alone[0], known[i])
    chance = 1 / (1 + np.exp(-node.rows.columns @ points[2]))
    slopes = node.rows.negative * chance - node.rows.positive * (1 - chance)
    assert known[2, 3 * p + 1] == pytest.approx(np.abs(slopes).sum(), rel=1e-12)
    cut = n // 3
    of_parts = [
        linearised(run, points, wanted=wanted, label=label, rows=rows)[0]
        for rows in ((0, cut), (cut, n))
    ]
    np.testing.assert_allclose(sum(of_parts)[:, p:], known[:, p:], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", ["weights", "labels"])
@pytest.mark.parametrize("n", [1, 31, 4100])
def test_sums_of_slopes_say_where_the_intercept_is_best(n, kind):
    node, rng = Large(n, 2), np.random.default_rng([n, 6])
    label = one_class_each(node.rows, rng) if kind == "labels" else None
    run, p = Run(node), len(node.penalty)
    points, sums = rng.normal(size=(2, p)) * 0.3, np.full((2, 3, 2), np.nan)
    labels = np.empty(0, np.int8) if label is None else label
    given = (*run.arguments[:5], labels, points)
    assert nodes.slope_sums(*given, 0, n, sums, np.zeros(1, np.int64), np.zeros(5))
    chance = 1 / (1 + np.exp(-points @ node.rows.columns.T))
    slopes = node.rows.negative * chance - node.rows.positive * (1 - chance)
    bends = (node.rows.negative + node.rows.positive) * chance * (1 - chance)
    expected = np.stack([slopes, bends, bends * (1 - 2 * chance)]).sum(axis=2).T
    weight = 1.0 if label is None else 1 / n
    np.testing.assert_allclose(weight * sums.sum(axis=2), expected, rtol=1e-12, atol=1e-15)
    for point, of_point in zip(points, sums.sum(axis=2), strict=True):
        moved, before = point.copy(), node.rows.derivatives(point)[0][0]
        moved[0] += nodes.intercept_step(*of_point.tolist())
        assert abs(moved[0] - point[0]) <= 2.0
        if moved[0] != point[0]:
            share = 0.5 if n == 1 else 0.1
            assert abs(node.rows.derivatives(moved)[0][0]) < share * abs(before)
    parts = np.full((2, 2, 3, 2), np.nan)
    for part, (begin, end) in zip(parts, ((0, n // 2), (n // 2, n)), strict=True):
        assert nodes.slope_sums(*given, begin, end, part, np.zeros(1, np.int64), np.zeros(5))
    np.testing.assert_allclose(parts.sum(axis=(0, 3)), sums.sum(axis=2), rtol=1e-12, atol=1e-12)
    assert nodes.intercept_step(1.0, 0.0, 0.0) == 0.0
    assert nodes.intercept_step(1.0, 1e-3, 0.0) == 0.0  # too far
    assert not nodes.slope_sums(*given, 0, n, sums, np.ones(1, np.int64), np.zeros(5))


def test_linearisation_stops_at_a_block():
    run = Run(Large(6149, 2))
    points = np.zeros((1, 9))
    looks = next(looks for looks in range(1, 20) if linearised(run, points, looks=looks)[1])
    assert looks == 1 + -(-6149 // 2048)


@pytest.mark.parametrize("worth", WORTHS)
@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: str(seeds.start))
def test_what_is_known_bounds_the_box(seeds, worth):
    open_nodes = moved = 0
    for seed in seeds:
        node, rng = case(seed, worth=worth), np.random.default_rng([seed, 8])
        run = Run(node)
        run.coef[:] = rng.uniform(node.box[0] - 0.5, node.box[1] + 0.5)
        point = run.worth[0] * run.coef[None]
        known = linearised(run, point)[0][0]
        run.arguments = (*run.arguments[:-1], known)
        own = (run.box, run.coef, run.worth, run.result)
        if nodes.apply_cut(*run.arguments, *own, *run.rest) == nodes.PRUNED:
            assert not node.better.any(), seed
            continue
        assert node.within(run.box, run.worth)[node.better].all(), seed
        check_bound(node, run.box, run.worth, run.result[0])
        open_nodes += 1
        moved += run.result[1] == math.inf
        check_point(node, run.box, run.coef, run.worth, run.result)
    assert 0 < moved < open_nodes


@pytest.mark.parametrize("worth", WORTHS)
@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: str(seeds.start))
def test_children_of_a_sample_cover_what_is_better(seeds, worth):
    """Rows that have nothing to do with the node's, and what is known of these."""
    for seed in seeds:
        node, rng = case(seed, worth=worth), np.random.default_rng([seed, 12])
        run, p = Run(node, tolerance=1e-4), len(node.penalty)
        run.coef[:] = np.clip(rng.normal(size=p), *node.box)
        known = linearised(run, run.worth[0] * run.coef[None])[0][0]
        known[2 * p : 3 * p], known[-1] = rng.normal(size=p) * 0.1, 0.3
        shuffled = rng.permutation(len(node.rows.positive))
        weights = (node.rows.positive[shuffled].copy(), node.rows.negative.copy())
        run.arguments = (*run.arguments[:3], *weights, *run.arguments[5:-1], known)
        status = run.expand(seed % RULES)
        if status == -1:
            assert not node.better.any(), seed
        elif status == -2:
            np.testing.assert_array_equal(run.box[0], run.box[1])
        else:
            covered = np.zeros(len(node.vectors), int)
            for i in range(status):
                covered += node.within(run.child_box[i], run.child_worth[i])
                check_bound(node, run.child_box[i], run.child_worth[i], run.child_result[i, 0])
            assert (covered[node.better] == 1).all(), seed
