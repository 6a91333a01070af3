"""Chained updates and safe rounding: bounds may only ever err on the loose side."""

from __future__ import annotations

import dataclasses
import itertools
import math
import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enumeration import enumerate_optimum, enumerate_ranked, loss, objective, random_problem
from riskslim import chained_updates
from riskslim.bounds import SLACK, ObjectiveBounds, safe_ceil, safe_floor
from riskslim.engines.lattice_cpa.start import best_possible_bounds, penalty_ranges
from small_problems import Case

LOW = ["objective_min", "loss_min", "size_min"]
HIGH = ["objective_max", "loss_max", "size_max"]


def within_seconds(function, *arguments, seconds=10.0):
    """Result of a call that must end; a creeping loop fails the test instead of hanging it."""
    result = []
    thread = threading.Thread(target=lambda: result.append(function(*arguments)), daemon=True)
    thread.start()
    thread.join(seconds)
    assert result, f"{function.__name__}{arguments} did not end within {seconds} s"
    return result[0]


def assert_no_looser(tightened, given_bounds):
    for name in LOW:
        assert getattr(tightened, name) >= getattr(given_bounds, name), name
    for name in HIGH:
        assert getattr(tightened, name) <= getattr(given_bounds, name), name


def assert_contains(bounds, optimum, optimal_loss, size):
    """The size exactly; values up to the rounding of a few additions."""
    allowed = 1e-14 * max(1.0, abs(optimum))
    assert bounds.objective_min <= optimum + allowed
    assert bounds.objective_max >= optimum - allowed
    assert bounds.loss_min <= optimal_loss + allowed
    assert bounds.loss_max >= optimal_loss - allowed
    assert bounds.size_min <= size <= bounds.size_max


# ---------------------------------------------------------------------------------------------
# safe_floor, safe_ceil
# ---------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.floats(1e-9, 10.0), st.floats(-5.0, 5.0))
def test_safe_floor_keeps_exact_multiples(k, denominator, shift):
    # The difference is off by the rounding of `shift`, not only by its own.
    numerator = (shift + k * denominator) - shift
    assert safe_floor(numerator, denominator) >= k
    assert safe_ceil(numerator, denominator) <= k


@given(st.floats(-1e6, 1e6), st.floats(1e-9, 1e3))
def test_safe_floor_and_ceil_enclose_the_exact_quotient(numerator, denominator):
    exact = Fraction(numerator) / Fraction(denominator)
    floor, ceil = safe_floor(numerator, denominator), safe_ceil(numerator, denominator)
    assert floor >= math.floor(exact)
    assert ceil <= math.ceil(exact)
    # Never further off than the stated slack, and the rounding of the quotient itself.
    slack = Fraction(2 * SLACK * max(1.0, abs(numerator))) / Fraction(denominator)
    assert floor <= exact + slack + Fraction(1, 10**6)
    assert ceil >= exact - slack - Fraction(1, 10**6)


def test_safe_floor_survives_overflow():
    assert safe_floor(1e300, 1e-300) == math.inf
    assert safe_floor(-1e300, 1e-300) == -math.inf
    assert safe_floor(math.inf, 1.0) == math.inf


@pytest.mark.parametrize(
    ("numerator", "denominator", "floor", "ceil"),
    [(0.3, 0.1, 3, 3), (0.7, 0.1, 7, 7), (0.35, 0.1, 3, 4), (0.0, 0.1, 0, 0), (-0.35, 0.1, -4, -3)],
)
def test_safe_floor_examples(numerator, denominator, floor, ceil):
    assert safe_floor(numerator, denominator) == floor
    assert safe_ceil(numerator, denominator) == ceil


# ---------------------------------------------------------------------------------------------
# ObjectiveBounds
# ---------------------------------------------------------------------------------------------

START = ObjectiveBounds(0.0, 0.5, 0.3, 0.7, 0, 30)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"objective_min": 0.6}, "objective"),
        ({"loss_min": 0.8}, "loss"),
        ({"size_min": 31}, "size"),
        ({"objective_max": math.nan}, "objective"),
        ({"objective_min": math.nan}, "objective"),
        ({"loss_max": math.nan}, "loss"),
        ({"objective_max": -math.inf}, "objective"),
    ],
)
def test_contradicting_bounds_are_refused(change, name):
    with pytest.raises(ValueError, match=f"{name} bounds contradict each other"):
        dataclasses.replace(START, **change)


def test_rounding_is_no_contradiction():
    assert ObjectiveBounds(0.5 + 1e-10, 0.5, 0.3, 0.7, 0, 30).objective_max == 0.5


def test_infinite_bounds_are_allowed():
    assert ObjectiveBounds(-math.inf, math.inf, 0.0, math.inf, 0, 3).size_max == 3


# ---------------------------------------------------------------------------------------------
# chained_updates: each proposition by itself
# ---------------------------------------------------------------------------------------------


def test_objective_min_follows_from_loss_and_size():
    found = chained_updates(ObjectiveBounds(0.0, 9.0, 0.3, 9.0, 2, 5), 0.01)
    assert found.objective_min == pytest.approx(0.32, abs=1e-15)


def test_objective_max_follows_from_loss_and_size():
    found = chained_updates(ObjectiveBounds(0.0, 9.0, 0.3, 0.7, 0, 5), 0.01)
    assert found.objective_max == pytest.approx(0.75, abs=1e-15)


def test_loss_min_follows_from_objective_proposition_4():
    found = chained_updates(ObjectiveBounds(0.5, 0.9, 0.1, 0.9, 0, 5), 0.01)
    assert found.loss_min == pytest.approx(0.45, abs=1e-15)


def test_loss_max_follows_from_objective_proposition_3():
    found = chained_updates(ObjectiveBounds(0.1, 0.4, 0.1, 0.9, 2, 5), 0.01)
    assert found.loss_max == pytest.approx(0.38, abs=1e-15)


def test_size_max_follows_from_objective_and_loss_proposition_2():
    assert chained_updates(ObjectiveBounds(0.1, 0.425, 0.3, 0.9, 0, 30), 0.01).size_max == 12
    # An exact quotient belongs to the feasible side.
    assert chained_updates(ObjectiveBounds(0.1, 0.42, 0.3, 0.9, 0, 30), 0.01).size_max == 12


def test_updates_are_chained():
    # size_max falls to floor(5.95); only then does V_min - 0.01 * 5 raise loss_min, and L_max
    # with the new size lower V_max: one pass over the propositions is not enough.
    found = chained_updates(ObjectiveBounds(0.459, 0.4595, 0.4, 0.9, 0, 30), 0.01)
    assert found.size_max == 5
    assert found.loss_min == pytest.approx(0.409, abs=1e-15)
    found = chained_updates(ObjectiveBounds(0.45, 0.47, 0.4, 0.41, 0, 30), 0.01)
    assert found.size_max == 7
    assert found.objective_max == 0.47
    found = chained_updates(ObjectiveBounds(0.4, 0.475, 0.4, 0.401, 0, 30), 0.01)
    assert found.size_max == 7
    assert found.objective_max == pytest.approx(0.471, abs=1e-15)


def test_no_penalty_leaves_the_size_alone():
    found = chained_updates(ObjectiveBounds(0.4, 0.5, 0.1, 0.9, 0, 30), 0.0)
    assert found.size_max == 30
    assert (found.loss_min, found.loss_max) == (0.4, 0.5)


def test_infinite_bounds_are_improved():
    found = chained_updates(ObjectiveBounds(-math.inf, math.inf, 0.1, 0.5, 0, 3), 0.01)
    assert found.objective_min == 0.1
    assert found.objective_max == pytest.approx(0.53, abs=1e-15)
    nothing = ObjectiveBounds(-math.inf, math.inf, -math.inf, math.inf, 0, 3)
    assert chained_updates(nothing, 0.01) == nothing


def test_size_min_is_never_undercut():
    # Bounds that only a model of the smallest size can meet, to within rounding.
    found = chained_updates(ObjectiveBounds(0.32, 0.32 - 1e-13, 0.3, 0.9, 2, 5), 0.01)
    assert found.size_max == 2


def test_penalties_per_feature():
    # The two cheapest fit into 0.1; three do not.
    prices = [0.5, 0.03, 0.2, 0.06]
    found = chained_updates(ObjectiveBounds(0.0, 0.4, 0.3, 0.9, 0, 4), prices)
    assert found.size_max == 2
    # The dearest two bound what a model of two can pay.
    found = chained_updates(ObjectiveBounds(0.39, 0.4, 0.3, 0.9, 1, 2), [0.01, 0.05, 0.02, 0.05])
    assert found.loss_max == pytest.approx(0.39, abs=1e-15)
    assert found.loss_min == pytest.approx(0.3, abs=1e-15)


def test_equal_penalties_per_feature_are_one_penalty():
    one = chained_updates(START, 0.01)
    each = chained_updates(START, np.full(30, 0.01))
    assert one.size_max == each.size_max
    for name in ("objective_min", "objective_max", "loss_min", "loss_max"):
        assert getattr(one, name) == pytest.approx(getattr(each, name), abs=1e-14)


def test_ridge_penalties_widen_what_features_pay():
    least, most = [0.02, 0.01, 0.05], [0.5, 0.04, 0.1]
    bounds = ObjectiveBounds(0.39, 0.4, 0.3, 0.9, 1, 2)
    found = chained_updates(bounds, 0.01, ridge=(least, most))
    # One feature pays 0.02 at least; two pay 0.51 + 0.11 at most, which says nothing of the loss.
    assert found.loss_max == pytest.approx(0.38, abs=1e-15)
    assert found.loss_min == 0.3
    assert found.size_max == 2
    assert chained_updates(bounds, 0.01).loss_min == pytest.approx(0.37, abs=1e-15)
    # Three pay 0.02 + 0.03 + 0.06 at least.
    roomy = ObjectiveBounds(0.0, 0.4, 0.3, 0.9, 0, 3)
    assert chained_updates(roomy, 0.01, ridge=(least, most)).size_max == 2
    # And largest penalties bound the objective.
    found = chained_updates(ObjectiveBounds(0.0, 9.0, 0.3, 0.9, 0, 1), 0.01, ridge=(least, most))
    assert found.objective_max == pytest.approx(1.41, abs=1e-15)


@pytest.mark.parametrize(
    ("ridge", "message"),
    [
        (([-0.1] * 30, [0.1] * 30), "finite and at least 0"),
        (([0.1] * 30, [math.nan] * 30), "finite and at least 0"),
        (([0.1] * 29, [0.2] * 29), "one per usable feature"),
        (([0.2] * 30, [0.1] * 30), "above the largest one"),
    ],
)
def test_bad_ridge_penalties_are_refused(ridge, message):
    with pytest.raises(ValueError, match=message):
        chained_updates(START, 0.01, ridge=ridge)


@pytest.mark.parametrize(
    ("penalty", "message"),
    [
        (-1e-6, "finite and at least 0"),
        (math.nan, "finite and at least 0"),
        (math.inf, "finite and at least 0"),
        ([0.1] * 29 + [-0.1], "finite and at least 0"),
        ([0.1] * 29, "one per usable feature"),
        (np.ones((30, 2)), "one per usable feature"),
    ],
)
def test_bad_penalties_are_refused(penalty, message):
    with pytest.raises(ValueError, match=message):
        chained_updates(START, penalty)


def test_contradicting_results_are_refused():
    # V <= 0.2 cannot hold if L >= 0.3.
    with pytest.raises(ValueError, match="contradict each other"):
        chained_updates(ObjectiveBounds(0.0, 0.2, 0.3, 0.9, 0, 5), 0.01)


# ---------------------------------------------------------------------------------------------
# chained_updates: an exact quotient is never rounded down
# ---------------------------------------------------------------------------------------------


def _sums(l_min, k, c0):
    """L_min + k C0 in the ways that a program may add it up."""
    repeated = l_min
    for _ in range(k):
        repeated += c0
    yield l_min + k * c0
    yield l_min + math.fsum([c0] * k)
    yield repeated
    yield float(np.float64(l_min) + np.full(k, c0).sum())


@pytest.mark.parametrize("c0", [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1 / 3, 3e-8, 7e-5])
def test_exact_quotients(c0):
    rng = np.random.default_rng(17)
    naive_failures = 0
    for k in [*range(1, 31, 2), 50, 100, 300]:
        for l_min in [0.0, 0.1, 0.3, *rng.uniform(0, 1, 7)]:
            for v_max in _sums(l_min, k, c0):
                naive_failures += math.floor((v_max - l_min) / c0) < k
                bounds = ObjectiveBounds(l_min, v_max, l_min, l_min + 1, 0, 1000)
                found = chained_updates(bounds, c0)
                assert found.size_max >= k, (k, l_min, v_max)
                # Loose by the slack at most.
                assert found.size_max <= k + math.ceil(4 * SLACK / c0)
                per_feature = chained_updates(bounds, np.full(1000, c0))
                assert per_feature.size_max >= k, (k, l_min, v_max)
    # The cases are hard ones: without slack a good part of them would be wrong.
    assert naive_failures > 50


@given(
    st.lists(st.floats(1e-8, 0.5), min_size=1, max_size=12),
    st.floats(0.0, 2.0),
    st.data(),
)
def test_exact_sums_of_penalties_per_feature(prices, l_min, data):
    k = data.draw(st.integers(0, len(prices)))
    cheapest = sorted(prices)[:k]
    data.draw(st.randoms(use_true_random=False)).shuffle(cheapest)
    v_max = l_min
    for price in cheapest:
        v_max += price
    bounds = ObjectiveBounds(0.0, v_max, l_min, l_min + 10, 0, len(prices))
    assert chained_updates(bounds, prices).size_max >= k


# ---------------------------------------------------------------------------------------------
# chained_updates: properties
# ---------------------------------------------------------------------------------------------


@st.composite
def models_and_bounds(draw):
    """Prices, a set of models (features, loss), and valid bounds on the best of them."""
    d = draw(st.integers(1, 6))
    uniform = draw(st.booleans())
    price = st.sampled_from([0.0, 1e-8, 1e-6, 1e-3, 0.01, 0.05, 0.1]) | st.floats(0.0, 0.2)
    prices = [draw(price)] * d if uniform else draw(st.lists(price, min_size=d, max_size=d))
    supports = st.sets(st.integers(0, d - 1))
    models = draw(st.lists(st.tuples(supports, st.floats(1e-6, 2.0)), min_size=1, max_size=8))
    values = [value + sum(prices[j] for j in support) for support, value in models]
    best = min(range(len(models)), key=values.__getitem__)
    optimum, (support, best_loss) = values[best], models[best]
    size = len(support)
    slack = st.just(0.0) | st.floats(0.0, 1.0) | st.sampled_from([1e-16, 1e-13, 1e-9, 1e-7])
    bounds = ObjectiveBounds(
        draw(st.just(-math.inf) | slack.map(lambda s: optimum - s)),
        draw(st.just(math.inf) | st.sampled_from(values) | slack.map(lambda s: optimum + s)),
        best_loss - draw(slack),
        draw(st.just(math.inf) | slack.map(lambda s: best_loss + s)),
        draw(st.integers(0, size)),
        draw(st.integers(size, d)),
    )
    return (prices[0] if uniform else prices), bounds, (optimum, best_loss, size)


@given(models_and_bounds())
def test_optimum_is_never_excluded(case):
    penalty, bounds, optimum = case
    found = within_seconds(chained_updates, bounds, penalty)
    assert_contains(found, *optimum)
    assert_no_looser(found, bounds)


@given(models_and_bounds())
def test_idempotent(case):
    penalty, bounds, _ = case
    once = chained_updates(bounds, penalty)
    assert chained_updates(once, penalty) == once


@given(
    st.floats(0.0, 10.0), st.floats(0.0, 1.0), st.integers(0, 40), st.floats(0.0, 0.3), st.data()
)
def test_ends_where_sizes_meet(l_min, width, size, c0, data):
    # With one size left, V and L determine each other; rounding must not lift them for ever.
    v_min = l_min + size * c0 + data.draw(st.sampled_from([-1e-3, -1e-15, 0.0, 1e-16, 1e-15]))
    bounds = ObjectiveBounds(v_min, v_min + width + 1.0, l_min, l_min + width + 1.0, size, size)
    found = within_seconds(chained_updates, bounds, c0)
    assert found.size_min == found.size_max == size
    assert_no_looser(found, bounds)
    # Whatever order the propositions come in: no more than rounding above what they allow.
    assert found.loss_min <= max(l_min, v_min - size * c0) + 1e-14 * max(1.0, l_min)


@given(
    st.lists(st.floats(0.0, 0.3), min_size=1, max_size=10), st.floats(0.0, 1e3), st.floats(0, 1e3)
)
def test_ends_where_sizes_meet_with_penalties_per_feature(prices, l_min, v_min):
    d = len(prices)
    bounds = ObjectiveBounds(v_min, 1e5, l_min, 1e5, d, d)
    found = within_seconds(chained_updates, bounds, prices)
    assert_no_looser(found, bounds)
    exact = max(Fraction(l_min), Fraction(v_min) - sum(map(Fraction, prices)))
    assert found.loss_min <= exact + Fraction(1, 10**9)


@given(st.floats(1e-8, 0.1), st.integers(1, 1000), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_agrees_with_exact_arithmetic(c0, size_max, l_min, gap):
    """The algorithm in rational numbers, run until nothing changes."""
    bounds = ObjectiveBounds(l_min, l_min + gap, l_min, l_min + gap + 0.5, 0, size_max)
    exact = _exact_updates(bounds, Fraction(c0))
    found = chained_updates(bounds, c0)
    assert found.size_max >= exact[4]
    assert found.size_max <= exact[4] + math.ceil(10 * SLACK / c0)
    # One feature more moves the bounds on values by its price.
    allowed = (found.size_max - exact[4]) * Fraction(c0) + Fraction(1, 10**11)
    for name, value in zip(
        ["objective_min", "objective_max", "loss_min", "loss_max"], exact, strict=False
    ):
        assert abs(Fraction(getattr(found, name)) - value) <= allowed, name


def _exact_updates(bounds, c0):
    v_min, v_max = Fraction(bounds.objective_min), Fraction(bounds.objective_max)
    l_min, l_max = Fraction(bounds.loss_min), Fraction(bounds.loss_max)
    r_min, r_max = bounds.size_min, bounds.size_max
    while True:
        before = (v_min, v_max, l_min, l_max, r_max)
        v_min = max(v_min, l_min + c0 * r_min)
        v_max = min(v_max, l_max + c0 * r_max)
        l_min = max(l_min, v_min - c0 * r_max)
        l_max = min(l_max, v_max - c0 * r_min)
        r_max = min(r_max, math.floor((v_max - l_min) / c0))
        if before == (v_min, v_max, l_min, l_max, r_max):
            return before


# ---------------------------------------------------------------------------------------------
# chained_updates on enumerated problems
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("c0", [None, 1e-8])
@pytest.mark.parametrize("first_seed", range(0, 30, 10))
def test_optimum_of_enumerated_problems_stays(first_seed, c0):
    for seed in range(first_seed, first_seed + 10):
        rng = np.random.default_rng([seed, 41])
        small = random_problem(rng)
        if c0 is not None:
            small = dataclasses.replace(
                small, l0_penalty=c0, feature_penalty=np.full(small.d, np.nan)
            )
        best = enumerate_optimum(small)
        problem = small.build()
        size_max = small.d if small.max_size is None else min(small.d, small.max_size)
        loss_min, loss_max = problem.loss.bounds()
        penalty = small.prices() if np.any(~np.isnan(small.feature_penalty)) else small.l0_penalty
        # Bounds of all kinds of tightness, as a search would have them.
        lower = [0.0, best.objective - rng.exponential(0.01), best.objective]
        upper = [math.inf, best.objective + rng.exponential(0.01), best.objective]
        for v_min, v_max in itertools.product(lower, upper):
            bounds = ObjectiveBounds(v_min, v_max, loss_min, loss_max, small.min_size, size_max)
            found = chained_updates(bounds, penalty)
            assert_no_looser(found, bounds)
            for vector in best.vectors:
                if objective(small, vector) > best.objective + 1e-15:
                    continue
                size = np.count_nonzero(vector[1:])
                assert_contains(found, best.objective, loss(small, vector), size)


@pytest.mark.parametrize("seed", range(40))
def test_no_vector_within_bounds_of_the_objective_is_lost_under_a_ridge(seed):
    """Any of them meets the bounds on loss and size, not the optimum alone."""
    rng = np.random.default_rng([seed, 43])
    small = Case("any", "as drawn", seed, most_slopes=300, intercept=(-3, 3), ridge=True).small
    problem = small.build()
    vectors, values = enumerate_ranked(small, *problem.lower[[0]], *problem.upper[[0]])
    losses = np.array([loss(small, vector) for vector in vectors])
    sizes = np.count_nonzero(vectors[:, 1:], axis=1)
    for share in (0.0, 0.05, 0.5, 1.0):
        last = int(share * (len(values) - 1))
        first = int(rng.integers(last + 1))
        start = dataclasses.replace(
            best_possible_bounds(problem), objective_min=values[first], objective_max=values[last]
        )
        found = chained_updates(start, **penalty_ranges(problem))
        for k in range(first, last + 1):
            assert found.objective_min <= values[k] + 1e-13
            assert found.objective_max >= values[k] - 1e-13
            assert found.loss_min - 1e-13 <= losses[k] <= found.loss_max + 1e-13
            assert found.size_min <= sizes[k] <= found.size_max
