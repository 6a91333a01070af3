"""The scale of a risk score: sets of scales, loss, problem, engines, certificate."""

from __future__ import annotations

import math
import time
import warnings
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from enumeration import (
    SmallProblem,
    meets_constraints,
    objective,
    slopes,
)
from riskslim import (
    CoefficientSet,
    LogisticLoss,
    RiskScoreProblem,
    Status,
    TrainingData,
    branch_and_bound,
    lattice_cpa,
)
from riskslim.engines.certify import certify
from riskslim.engines.choice import solve
from riskslim.engines.settings import TunedSettings
from riskslim.exceptions import CertificateError
from riskslim.scale import (
    FREE_SCALE,
    PAPER_SCALE,
    SCALE_TOLERANCE,
    ScaleSet,
    fewest_digits,
    least_over,
)
from riskslim.solution import Certificate

# ---- sets of scales ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_scale", "low", "high", "values"),
    [
        (1, 1.0, 1.0, (1.0,)),
        (np.float64(2.5), 2.5, 2.5, (2.5,)),
        ([4, 1, 2, 1], 1.0, 4.0, (1.0, 2.0, 4.0)),
        (np.array([3.0, 2.0]), 2.0, 3.0, (2.0, 3.0)),
        ((0.5, 12), 0.5, 12.0, None),
        ((2, 2), 2.0, 2.0, (2.0,)),
        ("free", *FREE_SCALE, None),
    ],
)
def test_what_users_write(given_scale, low, high, values):
    scales = ScaleSet.of(given_scale)
    assert (scales.low, scales.high, scales.values) == (low, high, values)
    assert ScaleSet.of(scales) is scales
    assert ScaleSet.from_plain(scales.to_plain()) == scales
    assert scales.is_single == (values is not None and len(values) == 1)
    assert scales.is_interval == (values is None)
    assert low in scales
    assert high in scales
    assert scales.nearest_to_one in scales
    assert (0.5 * (low + high) in scales) == (values is None or len(values) == 1)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        (0, ValueError, "from 1e-06 to 1e"),
        (-1.0, ValueError, "got -1.0"),
        (math.inf, ValueError, "finite"),
        (math.nan, ValueError, "finite"),
        (True, TypeError, "bool"),
        ("wide", ValueError, "'wide'"),
        ([], ValueError, "got 0"),
        ([1, "2"], TypeError, "'2'"),
        ((1, 2, 3), ValueError, "list"),
        ((1,), ValueError, "two numbers"),
        ((3, 1), ValueError, "increase"),
        ((0, 1), ValueError, "got 0.0"),
        (None, TypeError, "NoneType"),
        ([1.0] * 2000, ValueError, "2000"),
    ],
)
def test_what_is_no_set_of_scales(wrong, error, words):
    with pytest.raises(error, match=words):
        ScaleSet.of(wrong)


@pytest.mark.parametrize("plain", [None, "free", {"low": 1}, {"low": 1, "high": 2, "x": 3}])
def test_plain_values_that_are_no_scales(plain):
    with pytest.raises(ValueError, match="scale"):
        ScaleSet.from_plain(plain)


@given(st.floats(0.51, 11.9), st.floats(1e-6, 0.1))
def test_fewest_digits(scale, tolerance):
    scales = ScaleSet.of((0.5, 12))
    rounded = fewest_digits(scale, scales, lambda m: abs(m - scale) <= tolerance * scale)
    assert abs(rounded - scale) <= tolerance * scale
    digits = len(Decimal(repr(rounded)).normalize().as_tuple().digits)
    shorter = [float(f"{scale:.{k}g}") for k in range(1, digits)]
    assert all(abs(m - scale) > tolerance * scale or m not in scales for m in shorter)


# ---- the loss at a scale -------------------------------------------------------------------


def small_data(seed, *, real=False, weighted=False, n=120):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 6, (n, 3)).astype(float)
    if real:
        X[:, 1] = rng.normal(size=n)
    risk = 1 / (1 + np.exp(-(X @ [0.3, -0.4, 0.1] - 0.2)))
    y = np.where(rng.random(n) < risk, 1, -1)
    weights = rng.exponential(size=n) if weighted else None
    return TrainingData(X, y, weights)


def plain_loss(data, coef, scale):
    """The definition in plain NumPy."""
    X = np.column_stack([np.ones(data.n_samples), *(data.column(j) for j in range(3))])
    weights = np.ones(data.n_samples) if data.sample_weight is None else data.sample_weight
    margins = data.labels * (X @ coef) / scale
    return math.fsum(weights * np.logaddexp(0.0, -margins)) / math.fsum(weights)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("compress", [False, True])
def test_loss_and_derivatives_at_a_scale(real, weighted, compress):
    data = small_data(1, real=real, weighted=weighted)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    rng = np.random.default_rng(2)
    for scale in (0.3, 1.7, 8.0):
        loss = LogisticLoss(data, coefficients, scale=scale, compress=compress)
        for _ in range(5):
            coef = rng.integers(-5, 6, 4).astype(float)
            expected = plain_loss(data, coef, scale)
            assert loss.value(coef) == pytest.approx(expected, rel=1e-13)
            assert loss.reference_value(coef) == pytest.approx(expected, rel=1e-13)
            assert loss.value(coef + 0.25) == pytest.approx(
                plain_loss(data, coef + 0.25, scale), rel=1e-13
            )
            assert loss.value_of_scores(loss.scores(coef)) == pytest.approx(expected, rel=1e-13)
            assert loss.value_of_scores(loss.scores(coef).astype(float)) == pytest.approx(
                expected, rel=1e-13
            )
            check_derivatives(loss, coef)


def check_derivatives(loss, coef):
    value, gradient = loss.value_and_gradient(coef)
    assert value == pytest.approx(loss.value(coef), rel=1e-13)
    hessian, step = loss.hessian(coef), 1e-5
    for j in range(len(coef)):
        moved = np.zeros(len(coef))
        moved[j] = step
        above, below = loss.value_and_gradient(coef + moved), loss.value_and_gradient(coef - moved)
        assert gradient[j] == pytest.approx((above[0] - below[0]) / (2 * step), abs=1e-7)
        np.testing.assert_allclose(hessian[j], (above[1] - below[1]) / (2 * step), atol=1e-7)


def test_at_scale_one_nothing_changes_to_the_last_bit():
    for seed in range(4):
        data = small_data(seed, real=seed > 1, weighted=bool(seed % 2))
        coefficients = CoefficientSet(data.feature_names, -5, 5)
        default, one = LogisticLoss(data, coefficients), LogisticLoss(data, coefficients, scale=1)
        back = LogisticLoss(data, coefficients, scale=(0.5, 3)).at_scale(2.0)
        assert back.scale == 2.0
        wide = LogisticLoss(data, coefficients, scale=(0.5, 3)).at_scale(1.0)
        assert default.coefficients.intercept_lower == one.coefficients.intercept_lower
        assert wide.coefficients.intercept_lower <= one.coefficients.intercept_lower
        for coef in ([-1, 2, -3, 1], [0, 0, 5, -5], [0.5, 1.25, -2, 0]):
            for other in (one, wide):
                assert other.value(coef) == default.value(coef)
                np.testing.assert_array_equal(
                    other.value_and_gradient(coef)[1], default.value_and_gradient(coef)[1]
                )
                np.testing.assert_array_equal(other.hessian(coef), default.hessian(coef))
        assert one.bounds() == default.bounds()


def test_scales_that_a_loss_does_not_have():
    data = small_data(0)
    loss = LogisticLoss(data, CoefficientSet(data.feature_names), scale=(0.5, 3))
    with pytest.raises(ValueError, match=r"scale 3\.1 is not within 0.5 to 3"):
        loss.at_scale(3.1)
    assert loss.with_scales((0.5, 3)) is loss
    assert loss.with_scales(4).scales == ScaleSet.of(4)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("compress", [False, True])
def test_best_scale(real, weighted, compress):
    data = small_data(3, real=real, weighted=weighted)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    loss = LogisticLoss(data, coefficients, scale=(0.5, 40), compress=compress)
    grid, met_ends = np.geomspace(0.5, 40, 150), set()
    for coef in np.random.default_rng(4).integers(-5, 6, (10, 4)):
        best = loss.best_scale(coef)
        least = plain_loss(data, coef, best)
        assert least <= min(plain_loss(data, coef, m) for m in grid) + 1e-14
        met_ends.add(best in (0.5, 40.0))
        for near in (best * 1.0001, best / 1.0001):
            if near in loss.scales:
                assert plain_loss(data, coef, near) >= least - 1e-15
        chosen = loss.with_scales([0.5, 1, 2, 4, 8, 16]).best_scale(coef)
        if coef.any():
            assert chosen == min([0.5, 1, 2, 4, 8, 16], key=lambda m: plain_loss(data, coef, m))
        else:
            assert best == chosen == 1.0
    assert met_ends == {True, False}


def test_the_best_scale_takes_few_looks_at_the_rows():
    """Also where a step of Newton's method is too short to leave the point that it starts from."""
    rng, scales = np.random.default_rng(5), ScaleSet.of("free")
    for number in range(400):
        scores = rng.integers(-8, 9, int(rng.integers(20, 400))) + rng.normal() * (number % 2)
        risks = expit(scores / rng.uniform(0.7, 6))
        margins = np.where(rng.random(len(scores)) < risks, scores, -scores)
        looks = []

        def derivatives(t, margins=margins, looks=looks):
            looks.append(t)
            wrong = expit(-margins * t)
            return (
                np.logaddexp(0, -margins * t).mean(),
                -(margins * wrong).mean(),
                (margins**2 * wrong * (1 - wrong)).mean(),
            )

        best = least_over(scales, derivatives)
        assert len(looks) <= 14
        if best not in FREE_SCALE:
            slopes = [derivatives(t)[1] for t in ((1 - 1e-9) / best, (1 + 1e-9) / best)]
            assert slopes[0] < 0 < slopes[1]


def test_perfect_separation_wants_the_smallest_scale():
    data = TrainingData({"a": [0, 1, 0, 1]}, [0, 1, 0, 1])
    loss = LogisticLoss(data, CoefficientSet(["a"], -5, 5), scale=(0.5, 12))
    assert loss.best_scale([-1, 2]) == 0.5
    assert loss.best_scale([1, -2]) == 12.0
    assert loss.best_scale([0, 0]) in loss.scales


def test_bounds_and_intercepts_hold_for_every_scale():
    rng = np.random.default_rng(5)
    for seed in range(20):
        data = small_data(seed, real=bool(seed % 2), weighted=seed % 3 == 0, n=25)
        coefficients = CoefficientSet(data.feature_names, -2, 2)
        loss = LogisticLoss(data, coefficients, scale=(0.4, 6))
        low, high = loss.bounds()
        first = loss.coefficients.intercept_lower
        last = loss.coefficients.intercept_upper
        for scale in (0.4, 1.1, 6.0):
            slopes = rng.integers(-2, 3, 3)
            losses = {
                b: plain_loss(data, np.concatenate(([b], slopes)), scale)
                for b in range(first - 30, last + 31)
            }
            inside = [losses[b] for b in range(first, last + 1)]
            assert min(inside) <= min(losses.values()) + 1e-12
            assert low <= min(inside)
            assert max(inside) <= high


# ---- the problem ---------------------------------------------------------------------------


def two_binary_items(scale, **sizes):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 2))
    y = rng.random(400) < 1 / (1 + np.exp(-(X @ [0.9, 0.6] - 0.7)))
    data = TrainingData(X, y.astype(int), feature_names=["a", "b"])
    coefficients = CoefficientSet(["a", "b"], -5, 5, intercept_lower=-20, intercept_upper=20)
    return RiskScoreProblem(data, coefficients, scale=scale, **sizes)


def test_objective_is_that_of_the_best_scale():
    problem = two_binary_items((0.5, 12))
    coef = [-4, 5, 3]
    best = problem.loss.best_scale(coef)
    assert problem.objective(coef) == problem.objective(coef, scale=best)
    assert problem.objective(coef) < min(
        problem.objective(coef, scale=m) for m in (0.5, best * 0.99, best * 1.01, 12.0)
    )
    assert problem.at_scale(2.0).objective(coef) == problem.objective(coef, scale=2.0)
    assert problem.at_scale(2.0).scales == ScaleSet.of(2)


def test_reported_scale_has_few_digits_and_costs_little():
    problem = two_binary_items((0.5, 12))
    for coef in ([-4, 5, 3], [-2, 3, 2], [-1, 5, 5]):
        scale = problem.reported_scale(coef)
        assert len(repr(scale)) <= 5
        least = problem.objective(coef)
        assert least <= problem.objective(coef, scale=scale) <= least * (1 + SCALE_TOLERANCE)
    assert two_binary_items([0.7, 3]).reported_scale([-4, 5, 3]) in (0.7, 3.0)


def test_smallest_points_of_a_large_intercept_take_no_time():
    data = TrainingData([[0.0], [1.0], [1.0]], [0, 1, 0])
    points = CoefficientSet(data.feature_names, intercept_lower=-(10**9), intercept_upper=0)
    problem = RiskScoreProblem(data, points, scale=(1e-6, 1e8))
    coef = np.array([-69_315_000, 0])  # of a risk of 1/3 at a scale beyond the largest
    before = time.process_time()
    np.testing.assert_array_equal(problem.smallest_points(coef), coef)
    assert time.process_time() - before < 2


def test_smallest_points():
    problem = two_binary_items((0.5, 12))
    coef = np.array([-4, 4, 2])
    np.testing.assert_array_equal(problem.smallest_points(coef), coef // 2)
    # Its scale would have to be smaller than allowed.
    narrow = two_binary_items((problem.loss.best_scale(coef), 12))
    np.testing.assert_array_equal(narrow.smallest_points(coef), coef)
    np.testing.assert_array_equal(two_binary_items(2).smallest_points(coef), coef)
    np.testing.assert_array_equal(problem.smallest_points(np.array([-3, 4, 2])), [-3, 4, 2])
    np.testing.assert_array_equal(problem.smallest_points(np.array([0, 0, 0])), [0, 0, 0])


def test_smallest_points_stay_feasible():
    data = two_binary_items(1).loss.data
    coefficients = CoefficientSet(
        ["a", "b"], {"a": 2}, {"a": 5}, intercept_lower=-20, intercept_upper=20
    )
    problem = RiskScoreProblem(data, coefficients, scale=(0.1, 50))
    np.testing.assert_array_equal(problem.smallest_points(np.array([-4, 2, 4])), [-4, 2, 4])
    np.testing.assert_array_equal(problem.smallest_points(np.array([-8, 4, 4])), [-4, 2, 2])


@pytest.mark.parametrize("scale", [(1, 1.5), [1, 1.5], 1])
def test_points_of_which_no_data_tell_the_multiples_are_different_scores(scale):
    # Without the item the outcome is open, with it there is none: 30 points are as good as 90.
    data = TrainingData({"a": [0, 0, 1, 1]}, [0, 1, 0, 0])
    coefficients = CoefficientSet(["a"], -90, 0, intercept_lower=-2, intercept_upper=2)
    problem = RiskScoreProblem(data, coefficients, scale=scale)
    np.testing.assert_array_equal(problem.smallest_points(np.array([0, -90])), [0, -90])
    pool = branch_and_bound(problem, within=0).pool
    assert pool.complete
    assert {(0, -points) for points in range(40, 91)} <= set(map(tuple, pool.coefficients.tolist()))
    free = RiskScoreProblem(data, coefficients, scale=[1, 1.5, 3])
    np.testing.assert_array_equal(free.smallest_points(np.array([0, -90])), [0, -30])


def test_remark_on_a_scale_at_the_end_of_its_interval():
    problem = two_binary_items((4, 12))
    assert any("end of its interval (4 of 4 to 12)" in one for one in problem.remarks([-1, 2, 1]))
    free = two_binary_items((0.1, 50))
    assert not any("interval" in one for one in free.remarks([-1, 2, 1]))
    assert not any("interval" in one for one in problem.remarks([-1, 0, 0]))
    listed = two_binary_items([0.5, 4])
    assert any("an end of the list 0.5, 4" in one for one in listed.remarks([-1, 2, 1]))


def test_remarks_look_for_the_best_scale_once(monkeypatch):
    problem, asked = two_binary_items("free"), []
    real = LogisticLoss.best_scale
    monkeypatch.setattr(
        LogisticLoss, "best_scale",
        lambda loss, coef, **options: asked.append(coef) or real(loss, coef, **options),
    )  # fmt: skip
    problem.remarks([-1, 2, 1])
    assert len(asked) == 1


def test_remark_on_a_scale_that_is_too_small():
    remarks = two_binary_items(0.05).remarks([-1, 2, 1])
    assert any("spans at least 20 units of log-odds" in one for one in remarks)
    assert not any("cut-offs" in one for one in remarks)


# ---- engines -------------------------------------------------------------------------------


def test_the_certificate_states_scale_and_scales():
    solution = branch_and_bound(two_binary_items((0.5, 12)))
    certificate = solution.certificate
    assert certificate.status is Status.OPTIMAL
    assert certificate.scales == ScaleSet.of((0.5, 12))
    assert certificate.scale == solution.scale
    assert certificate.gap_tolerance == SCALE_TOLERANCE
    assert "any scale of 0.5 to 12" in certificate.explain()
    assert f"scale {solution.scale:g} (of 0.5 to 12)" in str(certificate)
    assert Certificate.from_dict(certificate.to_dict()) == certificate
    fixed = branch_and_bound(two_binary_items(3)).certificate
    assert "with the scale 3" in fixed.explain()
    one = branch_and_bound(two_binary_items(1)).certificate
    assert one.scales == PAPER_SCALE
    assert "scale" not in one.explain() + str(one)


def test_a_free_scale_is_at_least_as_good_as_every_fixed_one():
    free = branch_and_bound(two_binary_items((0.5, 12)))
    for scale in (0.5, 1, 2, 3.3, 5, 8, 12):
        fixed = branch_and_bound(two_binary_items(scale)).certificate
        assert free.certificate.objective <= fixed.objective * (1 + SCALE_TOLERANCE)
        assert free.certificate.lower_bound <= fixed.objective


def test_a_list_is_as_good_as_its_best_value():
    scales = [0.7, 1, 2.5, 6]
    listed = branch_and_bound(two_binary_items(scales))
    singly = {m: branch_and_bound(two_binary_items(m)).certificate.objective for m in scales}
    assert listed.certificate.objective == min(singly.values())
    assert singly[listed.scale] == min(singly.values())
    assert listed.certificate.optimality_gap == 0.0


@pytest.mark.parametrize("n_threads", [1, 2])
def test_threads_change_nothing(n_threads):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (300, 6))
    y = (rng.random(300) < 1 / (1 + np.exp(-(X @ rng.normal(size=6) * 0.5)))).astype(int)
    data = TrainingData(X, y)
    coefficients = CoefficientSet(data.feature_names, -4, 4)
    problem = RiskScoreProblem(data, coefficients, max_size=3, scale="free")
    settings = TunedSettings(batch_size=4)
    one = branch_and_bound(problem, settings=settings)
    other = branch_and_bound(problem, settings=settings, n_threads=n_threads)
    np.testing.assert_array_equal(one.coef, other.coef)
    assert one.scale == other.scale
    assert one.statistics.nodes == other.statistics.nodes
    assert one.certificate.lower_bound == other.certificate.lower_bound


def all_scores(small, low, high):
    """Every feasible vector with an intercept of a range, its objective and all its best scales.

    An interval's best scale is one number, found by bisection: as exact as 1e-9.
    """
    grid = slopes(small)
    vectors = np.concatenate([np.insert(grid, 0, b, axis=1) for b in range(low, high + 1)])
    vectors = vectors[meets_constraints(small, vectors)]
    weights = np.ones(len(small.y)) if small.weights is None else small.weights
    margins = small.y * (vectors[:, :1] + vectors[:, 1:] @ small.X.T)
    values, scales = best_of_margins(margins, weights / weights.sum(), small.scale)
    values = values + (vectors[:, 1:] != 0) @ small.prices()
    # Where all margins are 0 all scales are as good.
    return {
        tuple(vector): (value, own if is_any else [])
        for vector, value, own, is_any in zip(
            vectors.tolist(), values.tolist(), scales, margins.any(axis=1), strict=True
        )
    }


def best_of_margins(margins, weights, scale):
    """Least loss of each row of margins over the scales, and the scales that have it."""

    def losses(t):
        return np.logaddexp(0.0, -t[:, None] * margins) @ weights

    if not isinstance(scale, tuple):
        tried = np.column_stack([losses(np.full(len(margins), 1 / m)) for m in scale])
        least = tried.min(axis=1)
        near = tried <= least[:, None] * (1 + 1e-12)
        return least, [np.compress(row, scale).tolist() for row in near]
    low, high = (np.full(len(margins), 1 / m) for m in (scale[1], scale[0]))
    for _ in range(60):
        t = 0.5 * (low + high)
        falls = (-margins * expit(-t[:, None] * margins)) @ weights < 0
        low, high = np.where(falls, t, low), np.where(falls, high, t)
    t = 0.5 * (low + high)
    return losses(t), [[1 / one] for one in t.tolist()]


def classes_of(scores, scale):
    """Vectors that are scores of their own, and those that are multiples of another one.

    Neither where that hangs on rounding errors.
    """
    own, multiples = set(), set()
    for vector, (value, _) in scores.items():
        verdicts = set()
        for k in range(2, math.gcd(*vector) + 1):
            smaller = tuple(x // k for x in vector)
            if math.gcd(*vector) % k or smaller not in scores:
                continue
            least, scales = scores[smaller]
            if not scales:
                verdicts.add("unclear")
                continue
            if isinstance(scale, tuple):
                allowed = {k * scales[0] <= scale[1] * (1 + e) for e in (-1e-7, 1e-7)}
            else:
                allowed = {bool(np.isclose(k * m, scale, rtol=1e-12).any()) for m in scales}
            excess = least / value - 1
            equal = {True} if excess < 1e-14 else {False} if excess > 1e-10 else {True, False}
            verdicts.add("no" if allowed == {False} or equal == {False} else
                         "yes" if allowed == equal == {True} else "unclear")  # fmt: skip
        if verdicts <= {"no"}:
            own.add(vector)
        elif "yes" in verdicts:
            multiples.add(vector)
    return own, multiples


def list_faults(small, **request):
    """What is wrong with a list over several scales, by enumeration of all scores near it."""
    pool = branch_and_bound(small.build(), time_limit=600, **request).pool
    if pool is None:
        return [], False
    if not pool.complete:
        return ["not complete"], True
    first, last = small.intercept
    more = math.ceil(8 * np.max(small.scale))
    low = int(pool.coefficients[:, 0].min()) - more if first is None else first
    high = int(pool.coefficients[:, 0].max()) + more if last is None else last
    scores = all_scores(small, low, high)
    own, multiples = classes_of(scores, small.scale)
    listed = set(map(tuple, pool.coefficients.tolist()))
    found = [f"{one} is no feasible score" for one in listed - set(scores)]
    found += [f"{one} is a multiple of another one" for one in listed & multiples]
    level = min(value for value, _ in scores.values()) * (1 + request.get("within", math.inf))
    if "n_solutions" in request and len(listed) == request["n_solutions"]:
        level = min(level, max(scores[one][0] for one in listed))
    found += [f"{one} is missing" for one in own - listed if scores[one][0] < level - 1e-9]
    found += [f"{one} is too much" for one in listed if scores[one][0] > level + 1e-9]
    if len(listed) != len(pool):
        found.append("a score is listed twice")
    for rank, coef in enumerate(pool.coefficients):
        stated = objective(small, coef, pool.scale(rank))
        if abs(pool.objectives[rank] - stated) > 1e-13:
            found.append(f"objective {pool.objectives[rank]}, really {stated}")
    if (np.diff(pool.objectives) < 0).any():
        found.append("not sorted")
    return found, True


def small_over_scales(seed):
    """Some columns of 0/1 or small integers, a pair of equal ones now and then."""
    rng = np.random.default_rng([seed, 19])
    d = int(rng.integers(1, 4))
    X = rng.integers(0, rng.integers(2, 4), (12, d)).astype(float)
    if d > 1 and rng.random() < 0.5:
        X[:, 1] = X[:, 0]
    y = np.where(np.arange(12) % 12 < rng.integers(2, 9), 1, -1)
    rng.shuffle(y)
    scale = [(0.5, 2.0), (1.24, 2.55), [0.5, 1.0], [1.24, 2.55], [1.0, 2.0, 4.0], [0.7, 1.4, 2.1]]
    most = int(rng.integers(1, 4 if d == 3 else 5))
    return SmallProblem(
        X, y, None, np.full(d, -most), np.full(d, most), [0] * d, {}, np.full(d, np.nan),
        float(rng.choice([0.0, 1e-6, 0.01])), 0, d,
        ((-6, 6), (None, None), (None, 3))[seed % 3], (), scale[seed // 3 % len(scale)],
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 45, 15))
def test_lists_over_scales_hold_all_distinct_scores_and_no_multiples(first):
    failures, met = [], 0
    for seed in range(first, first + 15):
        small = small_over_scales(seed)
        request = ({"within": 0.3}, {"within": 0.05}, {"n_solutions": 12})[seed // 7 % 3]
        faults, is_feasible = list_faults(small, **request)
        met += is_feasible
        if faults:
            failures.append(f"{seed} {request} {small.scale} {small.intercept}: {faults[:4]}")
    assert not failures, "\n".join(failures)
    assert met > 12


def test_lists_over_scales_are_complete():
    for seed in range(0, 240, 40):
        assert list_faults(small_over_scales(seed), within=0.1) == ([], True), seed


def test_a_score_at_the_same_scale_as_its_half_is_another_score():
    # b and c twice are b and c at half the scale: which is not the best one of b and c.
    a, c = np.repeat([[1, 1, 0, 0], [1, 0, 1, 0]], 3, axis=1).astype(float)
    y = np.array([-1, -1, -1, -1, -1, 1, -1, -1, 1, -1, 1, 1])
    X = np.column_stack((a, a, c))
    small = SmallProblem(
        X, y, None, np.full(3, -2), np.full(3, 2), [0] * 3, {}, np.full(3, np.nan), 1e-6, 0, 2,
        (0, 0), (), [0.5, 1.0],
    )  # fmt: skip
    pool = branch_and_bound(small.build(), within=0.3).pool
    listed = {tuple(coef): pool.scale(k) for k, coef in enumerate(pool.coefficients.tolist())}
    assert (listed[0, 0, -1, -1], listed[0, 0, -2, -2]) == (1.0, 1.0)
    assert list_faults(small, within=0.3) == ([], True)


def test_the_first_of_a_list_is_the_solution():
    # All of them have the same risks: what rounding makes of their scales decides.
    data = TrainingData({"a": [0, 1] * 15}, [1] * 4 + [0] * 26)
    coefficients = CoefficientSet(["a"], 0, 0, intercept_lower=-50, intercept_upper=50)
    problem = RiskScoreProblem(data, coefficients, scale=(5, 9.9))
    solution = branch_and_bound(problem, n_solutions=10)
    pool, certificate = solution.pool, solution.certificate
    exact = [problem.objective(coef) for coef in pool.coefficients]
    np.testing.assert_array_equal(pool.coefficients[0], solution.coef)
    assert pool.scale(0) == solution.scale == certificate.scale
    assert pool.objectives[0] == pytest.approx(certificate.objective, abs=1e-15)
    assert certificate.status is Status.OPTIMAL
    assert certificate.lower_bound <= min(exact) + 1e-10


def test_lattice_cpa_stops_scales_that_cannot_win():
    scales = [0.6, 1.0, 2.0, 5.0]
    records = []
    solution = lattice_cpa(two_binary_items(scales), progress=records.append)
    assert solution.certificate.optimality_gap == 0.0
    assert list(solution.trace) == records
    assert solution.scale == branch_and_bound(two_binary_items(scales)).scale
    limited = lattice_cpa(two_binary_items(scales), node_limit=0)
    assert limited.certificate.lower_bound <= solution.certificate.objective
    stopped = lattice_cpa(two_binary_items(scales), should_stop=lambda: True)
    assert stopped.certificate.status is Status.INTERRUPTED
    assert stopped.certificate.lower_bound == 0.0


def test_lattice_cpa_says_who_takes_an_interval():
    problem = two_binary_items((0.5, 12))
    with pytest.raises(ValueError, match=r"from 0\.5 to 12.*branch_and_bound searches"):
        lattice_cpa(problem)
    with pytest.raises(ValueError, match="one scale or a list"):
        solve(problem, "lattice_cpa")
    assert solve(problem).certificate.is_optimal


@pytest.mark.parametrize("scale", [(1e-6, 1.0), (0.5, 12.0), [0.5, 1.0], 1.0])
@pytest.mark.parametrize("size", [1e150, 1e200, pytest.param(1e300, marks=pytest.mark.slow)])
def test_features_whose_second_derivatives_overflow(size, scale):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (40, 3)).astype(float)
    X[:, 0] *= size
    y = np.where(X[:, 1] + rng.normal(size=40) > 0.5, 1, -1)
    data, objectives = TrainingData(X, y), []
    for fixed in ({}, {data.feature_names[0]: 0}):
        coefficients = CoefficientSet(
            data.feature_names, -3, 3, fixed=fixed, intercept_lower=-5, intercept_upper=5
        )
        problem = RiskScoreProblem(data, coefficients, scale=scale)
        objectives.append(branch_and_bound(problem).certificate.objective)
    assert objectives[0] <= objectives[1] * (1 + SCALE_TOLERANCE)


def test_certify_refuses_a_scale_that_is_not_allowed():
    problem = two_binary_items((0.5, 12))
    arguments = {"gap_tolerance": 0.0, "bound_tolerance": 0.0, "engine": "test", "message": ""}
    coef = np.array([-1, 2, 1])
    with pytest.raises(CertificateError, match=r"scale 13\.0"):
        certify(problem, coef, 0.0, scale=13.0, **arguments)
    certificate = certify(problem, coef, 0.0, scale=2.0, **arguments)
    assert certificate.objective == problem.objective(coef, scale=2.0)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.2, 5.0), st.floats(1.01, 20.0))
def test_scaling_features_and_scale_is_the_same_problem(seed, scale, factor):
    """Features times a number are worth as much at a scale times that number."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), np.where(rng.random(30) < 0.5, 1, -1)
    y[:2] = 1, -1
    data, wider = TrainingData(X, y), TrainingData(X * factor, y)
    coefficients = CoefficientSet(data.feature_names, -3, 3, intercept_lower=0, intercept_upper=0)
    objectives = [
        branch_and_bound(RiskScoreProblem(one, coefficients, scale=m)).certificate.objective
        for one, m in ((data, scale), (wider, scale * factor))
    ]
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-12)


def test_a_problem_of_one_class_of_scores():
    """All features out: only intercept and scale are left."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = SmallProblem(
            np.ones((6, 1)), np.array([1, -1, -1, -1, 1, -1]), None, np.array([-1]), np.array([1]),
            [0], {}, np.array([math.nan]), 1e-3, 0, 0, (-9, 9), scale=(0.5, 12),
        )  # fmt: skip
        solution = branch_and_bound(small.build())
    assert solution.certificate.objective == pytest.approx(
        -(math.log(2 / 6) * 2 + math.log(4 / 6) * 4) / 6, rel=1e-5
    )
