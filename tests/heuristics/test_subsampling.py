"""Rounding on random rows: what the theorem says, and that all rows decide in the end."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskslim import (
    CoefficientSet,
    LatticeCPASettings,
    LogisticLoss,
    RiskScoreProblem,
    TrainingData,
    lattice_cpa,
)
from riskslim.heuristics import subsampling as module
from riskslim.heuristics.subsampling import (
    Subsampling,
    epsilon,
    loss_range,
    pays,
    sample_size,
    sampled_problem,
)


def make_data(seed, n, d=4, *, real=False, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, d)).astype(float)
    if real:
        X[:, 0] = rng.normal(size=n)
    y = rng.random(n) < 1 / (1 + np.exp(3 - X @ rng.uniform(-1, 2, d)))
    y[:2] = True, False
    return TrainingData(X, y, rng.choice([0.0, 1.0, 2.5], n) if weighted else None)


def make_problem(
    seed, n, d=4, *, compress="auto", max_size=None, scale=1.0, l2_penalty=0.0, **options
):
    data = make_data(seed, n, d, **options)
    coefficients = CoefficientSet(data.feature_names, -4, 4)
    return RiskScoreProblem(
        data, coefficients, compress=compress, scale=scale, max_size=max_size, l0_penalty=1e-3,
        l2_penalty=l2_penalty,
    )  # fmt: skip


def middle(problem, seed=0):
    """A point well within the box."""
    rng = np.random.default_rng(seed)
    low, high = (np.clip(end, problem.lower, problem.upper) for end in (-2, 2))
    return rng.uniform(low, high)


def roundings(point):
    choices = [sorted({math.floor(x), math.ceil(x)}) for x in point]
    return [np.array(choice) for choice in itertools.product(*choices)]


# ---- the theorem ------------------------------------------------------------------------


def test_epsilon_is_the_corollarys():
    for delta, m, n, d, width in [
        (0.05, 10, 100, 3, 2.0),
        (0.5, 1, 2, 0, 7.5),
        (1e-9, 3, 4, 60, 0.1),
    ]:
        direct = width * math.sqrt(
            (math.log(1 / delta) + d * math.log(2)) / 2 * (1 / m) * (1 - m**2 / n**2)
        )
        assert epsilon(delta, m, n, d, width) == pytest.approx(direct, rel=1e-13)
    assert epsilon(0.05, 100, 100, 3, 2.0) == 0.0
    # One row is missing: 1 - m^2/n^2 would have lost its digits.
    n = 10**9
    exact = math.sqrt((math.log(20) + 10 * math.log(2)) / 2 / (n - 1) * (2 * n - 1)) / n
    assert epsilon(0.05, n - 1, n, 10, 1.0) == pytest.approx(exact, rel=1e-14)


@given(
    delta=st.floats(1e-12, 0.999),
    wanted=st.one_of(st.just(0.0), st.floats(1e-12, 100.0)),
    n=st.one_of(st.integers(1, 30), st.integers(1, 10**10)),
    d=st.integers(0, 500),
    width=st.one_of(st.just(0.0), st.floats(1e-6, 1e4)),
)
def test_sample_size_is_the_smallest(delta, wanted, n, d, width):
    m = sample_size(delta, wanted, n, d, width)
    assert 1 <= m <= n
    assert epsilon(delta, m, n, d, width) <= wanted
    assert m == 1 or epsilon(delta, m - 1, n, d, width) > wanted
    if n <= 30:
        fits = [k for k in range(1, n + 1) if epsilon(delta, k, n, d, width) <= wanted]
        assert m == fits[0]


def test_sample_size_at_the_ends():
    assert sample_size(0.05, 0.0, 1000, 10, 3.0) == 1000
    assert sample_size(0.05, math.inf, 1000, 10, 3.0) == 1
    assert sample_size(0.05, 0.0, 1000, 10, 0.0) == 1
    assert sample_size(0.05, 1e-9, 1, 10, 3.0) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delta": 0.0}, "delta must be between 0 and 1"),
        ({"delta": 1.0}, "delta must be between 0 and 1"),
        ({"n": 0}, "n must be at least 1"),
        ({"d": -1}, "d must be at least 0"),
        ({"loss_range": -1.0}, "loss_range must be finite"),
        ({"loss_range": math.nan}, "loss_range must be finite"),
    ],
)
def test_wrong_arguments(arguments, message):
    good = {"delta": 0.05, "n": 100, "d": 3, "loss_range": 1.0}
    with pytest.raises(ValueError, match=message):
        epsilon(m=1, **{**good, **arguments})
    with pytest.raises(ValueError, match=message):
        sample_size(epsilon=0.1, **{**good, **arguments})


def test_wrong_sizes():
    for m in (0, 101):
        with pytest.raises(ValueError, match="m must be between 1 and n = 100"):
            epsilon(0.05, m, 100, 3, 1.0)
    with pytest.raises(ValueError, match="epsilon must be at least 0, got nan"):
        sample_size(0.05, math.nan, 100, 3, 1.0)


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [1.0, 0.3, 8.0])
def test_loss_range_covers_every_rounding(weighted, real, compress, scale):
    for seed in range(5):
        problem = make_problem(
            seed, 60, real=real, weighted=weighted, compress=compress, scale=scale
        )
        data, point = problem.loss.data, middle(problem, seed)
        weights = np.ones(60) if data.sample_weight is None else data.sample_weight
        spans = []
        for coef in roundings(point):
            losses = np.logaddexp(0, -data.labels * problem.loss.scores(coef) / scale)
            spans.append(np.ptp(losses * weights * 60 / weights.sum()))
        assert max(spans) <= loss_range(problem.loss, point)
        # With one rounding there is nothing to bound but that one.
        (only,) = roundings(np.rint(point))
        losses = np.logaddexp(0, -data.labels * problem.loss.scores(only) / scale)
        exact = np.ptp(losses * weights * 60 / weights.sum())
        assert loss_range(problem.loss, np.rint(point)) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("m_share", [0.1, 0.7])
def test_theorem_holds_in_simulation(weighted, m_share, monkeypatch):
    """Violations are at most delta; as the bound is not tight, they are far fewer."""
    n, delta = 300, 0.3
    monkeypatch.setattr(module, "MIN_SAMPLE", int(m_share * n))
    problem = make_problem(1, n, d=2, weighted=weighted)
    point = middle(problem)
    width = loss_range(problem.loss, point)
    bound = epsilon(delta, int(m_share * n), n, 3, width)
    candidates = roundings(point)
    full = np.array([problem.loss.value(coef) for coef in candidates])
    subsampling = Subsampling(delta, random_state=5)
    worst = []
    for _ in range(400):
        sample = subsampling._draw(problem, point, 0.0)
        assert sample.n_rows == int(m_share * n)
        worst.append(max(full - [sample.value(coef) for coef in candidates]))
    assert np.mean(np.array(worst) >= bound) <= delta


def test_theorem_is_not_idle(monkeypatch):
    """Two losses, one vector: violations are within a small factor of what is allowed."""
    n, m, delta = 400, 40, 0.5
    monkeypatch.setattr(module, "MIN_SAMPLE", m)
    data = TrainingData(np.arange(n)[:, None] % 2, np.arange(n) // 2 % 2)
    coefficients = CoefficientSet(data.feature_names, intercept_lower=-5, intercept_upper=5)
    problem = RiskScoreProblem(data, coefficients)
    coef = np.array([-1.0, 2.0])
    width = loss_range(problem.loss, coef)
    assert width == pytest.approx(1.0)  # margins of -1 and 1
    bound = epsilon(delta, m, n, 0, width)
    subsampling, full = Subsampling(delta, random_state=2), problem.loss.value(coef)
    excess = [full - subsampling._draw(problem, coef, 0.0).value(coef) for _ in range(1000)]
    assert 0.05 < np.mean(np.array(excess) >= bound) <= delta
    assert np.mean(excess) == pytest.approx(0.0, abs=5 * np.std(excess) / math.sqrt(1000))


def test_rows_are_drawn_uniformly_without_replacement():
    n, draws = 2000, 300
    X = np.column_stack([np.arange(n) % 50, np.arange(n) // 50])
    data = TrainingData(X, np.arange(n) % 2)
    coefficients = CoefficientSet(data.feature_names)
    problem = RiskScoreProblem(data, coefficients)
    subsampling, times = Subsampling(), np.zeros(n)
    for _ in range(draws):
        columns = subsampling._draw(problem, np.zeros(3), 0.1).rows.integer_columns.astype(int)
        index = columns[:, 0] + 50 * columns[:, 1]
        assert len(np.unique(index)) == len(index) == 1000
        times[index] += 1
    expected, deviation = draws / 2, math.sqrt(draws) / 2
    assert np.abs(times - expected).max() < 5.5 * deviation
    assert times.std() == pytest.approx(deviation, rel=0.1)


# ---- rounding on samples -------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("compress", [False, True])
def test_results_are_those_of_all_rows(compress, real, weighted):
    options = {"real": real, "weighted": weighted, "compress": compress}
    problem = make_problem(3, 20_000, l2_penalty=0.02 * weighted, **options)
    subsampling = Subsampling(random_state=1)
    found = subsampling.round_and_polish(problem, middle(problem), objective_max=10.0)
    coef, objective = found
    assert problem.is_feasible(coef)
    assert objective == problem.objective(coef)
    assert objective == pytest.approx(
        problem.loss.reference_value(coef) + problem.penalty(coef), rel=1e-12
    )
    assert subsampling.n_roundings == subsampling.n_checks == subsampling.n_accepted == 1
    assert subsampling.epsilon > 0


def test_a_sample_of_all_rows_changes_nothing():
    problem = make_problem(4, 800, weighted=True)
    sample = Subsampling()._draw(problem, middle(problem), 0.1)
    for coef in roundings(middle(problem)):
        assert sample.value(coef) == pytest.approx(problem.loss.value(coef), rel=1e-14)


def test_samples_are_rows_of_the_data_not_merged_ones():
    problem = make_problem(5, 20_000, d=2, compress=True)
    assert problem.loss.n_rows < 50
    rows = Subsampling()._draw(problem, middle(problem), 0.01).rows
    assert rows.n_rows == rows.n_samples == rows.total_weight == 1000
    assert rows.weights.size == rows.numbers.size == 0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("compress", [False, True])
def test_sampled_problem(weighted, compress):
    options = {"compress": compress, "weighted": weighted}
    problem = make_problem(5, 3000, l2_penalty=0.02 * weighted, **options)
    coef = np.array([-1, 1, 0, 2, -1])
    evaluations = problem.loss.n_evaluations
    one, same = sampled_problem(problem, 1500), sampled_problem(problem, 1500)
    assert one.loss.rows.n_rows == 1500
    assert one.objective(coef) == same.objective(coef)
    assert one.objective(coef) == pytest.approx(problem.objective(coef), rel=0.2)
    assert one.objective(coef) != problem.objective(coef)
    assert problem.loss.n_evaluations == evaluations + 2
    everything = sampled_problem(problem, problem.loss.data.n_samples)
    assert everything.objective(coef) == pytest.approx(problem.objective(coef), rel=1e-12)
    np.testing.assert_array_equal(one.lower, problem.lower)


def test_what_is_not_promising_is_not_checked(monkeypatch):
    problem = make_problem(6, 20_000)
    subsampling, point = Subsampling(), middle(problem)
    evaluations = problem.loss.n_evaluations
    assert subsampling.round_and_polish(problem, point, objective_max=1e-3) is None
    assert (subsampling.n_roundings, subsampling.n_checks) == (1, 0)
    assert problem.loss.n_evaluations == evaluations
    assert problem.loss.seconds > 0


def test_what_is_promising_only_on_the_sample_is_refused():
    """An incumbent between the objectives on the sample and on all rows."""
    problem, refused = make_problem(7, 20_000), 0
    for seed in range(20):
        reference = Subsampling(random_state=seed)
        coef, objective = reference.round_and_polish(problem, middle(problem), objective_max=10.0)
        sampled = Subsampling(random_state=seed)._draw(problem, middle(problem), 10.0)
        estimate = sampled.value(coef) + problem.penalty(coef)
        if estimate >= objective:
            continue
        subsampling = Subsampling(random_state=seed)
        incumbent = (estimate + objective) / 2
        found = subsampling.round_and_polish(
            problem, middle(problem), objective_max=incumbent, objective_min=incumbent - 10.0
        )
        if subsampling.n_checks:
            assert found is None or found[1] < incumbent
            refused += found is None
            assert subsampling.n_accepted == (found is not None)
    assert refused > 3


def test_a_sample_serves_until_something_is_accepted():
    problem = make_problem(8, 20_000)
    subsampling, point = Subsampling(), middle(problem)
    samples = []
    for _ in range(module.MAX_USES + 1):
        assert subsampling.round_and_polish(problem, point, objective_max=1e-3) is None
        samples.append(subsampling._loss)
    assert len(set(map(id, samples[:-1]))) == 1
    assert samples[-1] is not samples[0]
    assert subsampling.round_and_polish(problem, point, objective_max=10.0) is not None
    subsampling.round_and_polish(problem, point, objective_max=1e-3)
    assert subsampling._loss is not samples[-1]


def test_seeds_decide():
    problem = make_problem(9, 20_000)

    def drawn(seed):
        subsampling = Subsampling(random_state=seed)
        return [
            subsampling._draw(problem, middle(problem), 0.1).rows.integer_columns.tolist()
            for _ in range(2)
        ]

    assert drawn(0) == drawn(0)
    assert drawn(0) != drawn(1)
    assert drawn(0)[0] != drawn(0)[1]


@pytest.mark.parametrize(("gap", "fewest"), [(2.0, True), (1e-4, False)])
def test_size_follows_from_the_gap(gap, fewest):
    problem = make_problem(10, 30_000, compress=False)
    subsampling = Subsampling(delta=0.1)
    point = middle(problem)
    m = subsampling._draw(problem, point, gap).n_rows
    wanted = sample_size(0.1, gap, 30_000, 5, loss_range(problem.loss, point))
    assert m == min(max(wanted, 1000), 3000) == (1000 if fewest else 3000)
    between = epsilon(0.1, 2000, 30_000, 5, loss_range(problem.loss, point))
    assert subsampling._draw(problem, point, between).n_rows == 2000


def test_noise_of_a_solver_does_not_leave_the_box():
    problem = make_problem(11, 5000)
    point = problem.upper + np.array([1e-7, -1e-7, 1e-12, 0, -0.5])
    found = Subsampling().round_and_polish(problem, point, objective_max=1e3, polish=False)
    assert problem.is_feasible(found[0])


def test_wrong_delta():
    with pytest.raises(ValueError, match=r"delta must be between 0 and 1, both excluded, got 1\.5"):
        Subsampling(1.5)
    with pytest.raises(ValueError, match=r"subsampling_delta must be between 0 and 1.*got 0"):
        LatticeCPASettings(subsampling_delta=0)


# ---- in the engine ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def medium():
    return make_problem(12, 6000, d=6, max_size=3)


@pytest.mark.parametrize("initialization", [False, True])
@pytest.mark.parametrize("polishing", [False, True])
def test_optimal_with_and_without(medium, initialization, polishing):
    runs = {}
    for subsampling in (False, True):
        settings = LatticeCPASettings(
            subsampling=subsampling,
            initialization=initialization,
            native_root=False,
            polishing=polishing,
        )
        runs[subsampling] = lattice_cpa(medium, settings=settings)
        assert runs[subsampling].certificate.is_optimal
    assert runs[False].certificate.objective == pytest.approx(
        runs[True].certificate.objective, abs=1e-10
    )
    assert runs[False].statistics.subsampled_roundings == 0
    statistics = runs[True].statistics
    assert statistics.subsampled_roundings >= statistics.subsampled_checks
    assert statistics.subsampled_roundings > 0
    assert runs[True].settings["subsampling"] is True
    assert runs[True].settings["subsampling_delta"] == 0.05
    every_row = medium.loss.reference_value(runs[True].coef) + medium.penalty(runs[True].coef)
    assert runs[True].certificate.objective == pytest.approx(every_row, rel=1e-12)


def test_runs_are_repeatable(medium):
    settings = LatticeCPASettings(subsampling=True)
    runs = [lattice_cpa(medium, settings=settings, random_state=3) for _ in range(2)]
    assert runs[0].coef.tolist() == runs[1].coef.tolist()
    for name in ("nodes", "cuts", "subsampled_roundings", "subsampled_checks"):
        assert getattr(runs[0].statistics, name) == getattr(runs[1].statistics, name)
    assert runs[0].statistics.subsampling_epsilon == runs[1].statistics.subsampling_epsilon


def test_an_accepted_incumbent_reports_its_guarantee(medium):
    # The root of the native search evaluates all rows, and leaves nothing to round here.
    settings = LatticeCPASettings(subsampling=True, native_root=False)
    solution = lattice_cpa(medium, settings=settings)
    assert solution.statistics.subsampled_checks > 0
    assert solution.statistics.subsampling_epsilon > 0


def test_automatic(medium, monkeypatch):
    assert not pays(medium.loss)
    by_cpa = LatticeCPASettings(native_root=False)
    assert lattice_cpa(medium, settings=by_cpa).statistics.subsampled_roundings == 0
    monkeypatch.setattr(module, "MIN_ROWS", medium.loss.n_rows)
    assert pays(medium.loss)
    assert lattice_cpa(medium, settings=by_cpa).statistics.subsampled_roundings > 0
    off = LatticeCPASettings(subsampling=False, native_root=False)
    assert lattice_cpa(medium, settings=off).statistics.subsampled_roundings == 0


def test_pays_counts_the_rows_that_are_read():
    data = make_data(13, module.MIN_ROWS, d=2)
    coefficients = CoefficientSet(data.feature_names)
    assert pays(LogisticLoss(data, coefficients, compress=False))
    assert not pays(LogisticLoss(data, coefficients))
