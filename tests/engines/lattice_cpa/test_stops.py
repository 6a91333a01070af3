"""LCPA that is stopped within its parts: what it states is proven all the same."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from problems import make_problem
from riskslim import LatticeCPASettings, RiskScoreProblem, Status, at_most, lattice_cpa
from riskslim.engines import runs
from riskslim.engines.lattice_cpa import lcpa
from riskslim.engines.lattice_cpa.start import best_possible_bounds
from riskslim.heuristics import descent, subsampling
from riskslim.heuristics.descent import compiled_move, sequential_rounding
from riskslim.heuristics.subsampling import Subsampling
from riskslim.loss import intercept, ranges

SETTINGS = {
    "root": LatticeCPASettings(),
    "paper": LatticeCPASettings(native_root=False, subsampling=True),
    "plain": LatticeCPASettings(initialization=False, subsampling=True),
}


@pytest.fixture(scope="module")
def problem():
    return make_problem(n=1000, d=8, seed=1, levels=3)


@pytest.fixture(scope="module")
def constrained(problem):
    names = problem.coefficients.feature_names
    return RiskScoreProblem(
        problem.loss.data, problem.coefficients, max_size=3, l0_penalty=1e-6,
        constraints=[at_most(1, names[:3])],
    )  # fmt: skip


@pytest.fixture(scope="module")
def optimum(problem, constrained):
    return {id(one): lattice_cpa(one).certificate.objective for one in (problem, constrained)}


@pytest.fixture
def found_runs(monkeypatch):
    """Runs of the engine, which happen in the thread of the caller."""
    found = []

    def run_here(run):
        found.append(run)
        return run.solve()

    monkeypatch.setattr(lcpa, "run_interruptibly", run_here)
    return found


PARTS = [
    (ranges, "row_ranges"),
    (intercept, "row_ranges"),
    (subsampling, "row_ranges"),
    (descent.kernels, "sequential_rounding"),
    (descent.kernels, "coordinate_descent"),
    (subsampling, "loss_range"),
    (descent, "real_scores"),
]


@pytest.mark.parametrize(
    ("owner", "name", "settings", "which"),
    [  # every two of part, settings and problem together
        pytest.param(
            owner, name, SETTINGS[settings], ("problem", "constrained")[(i + k) % 2],
            id=f"{owner.__name__}-{name}-{settings}",
        )
        for i, (owner, name) in enumerate(PARTS)
        for k, settings in enumerate(SETTINGS)
    ],
)  # fmt: skip
def test_stops_at_every_part(
    owner, name, which, settings, found_runs, optimum, monkeypatch, request
):
    """The flag is set, as at the end of the time, when a part begins."""
    one = request.getfixturevalue(which)
    original = getattr(owner, name)
    for due in (1, 4):
        calls = []

        def part(*arguments, calls=calls, due=due, **named):
            calls.append(1)
            if found_runs and len(calls) == due:
                found_runs[-1].stop[0] = 1
                found_runs[-1].deadline = -math.inf
            return original(*arguments, **named)

        monkeypatch.setattr(owner, name, part)
        solution = lattice_cpa(one, settings=settings)
        certificate = solution.certificate
        assert one.is_feasible(solution.coef)
        assert certificate.lower_bound <= optimum[id(one)] + 1e-6
        assert certificate.objective >= optimum[id(one)] - 1e-6
        if certificate.status is Status.OPTIMAL:
            assert certificate.objective == pytest.approx(optimum[id(one)], abs=1e-6)
        if len(calls) < due:
            break
        # What looks at the flag does not begin again and again.
        assert len(calls) <= due + 40


def test_ranges_of_rows_look_at_the_flag(problem, monkeypatch):
    monkeypatch.setattr(ranges, "CHUNK_ROWS", 200)
    loss = problem.loss.on_rows(problem.loss.rows)
    n_chunks = -(-loss.n_rows // 200)
    asked = []
    whole = loss.bounds(should_stop=lambda: asked.append(1) is not None)
    assert len(asked) == n_chunks
    assert whole == loss.bounds()
    for due in range(n_chunks):
        left = iter([False] * due + [True])
        assert loss.bounds(should_stop=left.__next__) == (0.0, math.inf)
    bounds = best_possible_bounds(problem, lambda: True)
    tight = best_possible_bounds(problem)
    assert bounds.loss_min <= tight.loss_min
    assert bounds.loss_max >= tight.loss_max


def test_tightening_that_is_stopped_changes_nothing(monkeypatch):
    loss = make_problem(n=2000, d=6, seed=3, levels=4, max_size=6).loss
    before = (loss.max_size, loss.score_range, loss.coefficients)
    assert not loss.tighten(2, should_stop=lambda: True)
    assert (loss.max_size, loss.score_range, loss.coefficients) == before
    assert loss.tighten(2, should_stop=lambda: False)
    assert loss.max_size == 2


@pytest.mark.usefixtures("backend")
def test_rounding_looks_at_the_flag(problem):
    point = np.linspace(-0.9, 0.8, problem.n_features + 1)
    whole = sequential_rounding(problem, point)
    assert whole.coefficients is not None
    stopped = sequential_rounding(problem, point, stop=np.ones(1, np.int64))
    assert stopped.coefficients is None
    assert stopped.reason == "stopped"
    assert stopped.n_evaluations < whole.n_evaluations


def test_rounding_under_constraints_ends_with_a_vector_all_the_same(constrained):
    point = np.linspace(-0.9, 0.8, constrained.n_features + 1)
    before = constrained.loss.n_evaluations
    found = sequential_rounding(constrained, point, stop=np.ones(1, np.int64))
    assert found.coefficients is not None
    assert constrained.is_feasible(found.coefficients)
    assert constrained.loss.n_evaluations - before <= 3  # of the result


def test_rounding_is_stopped_while_it_runs():
    """By another thread, in the middle of a long one: it gives up."""
    problem = make_problem(n=200_000, d=30, seed=2, levels=9, max_size=30)
    point = np.random.default_rng(0).uniform(-2.9, 2.9, 31)
    point = np.clip(point, problem.lower, problem.upper)
    stop = np.zeros(1, np.int64)
    timer = threading.Timer(0.01, stop.fill, [1])
    timer.start()
    found = sequential_rounding(problem, point, stop=stop)
    timer.join()
    assert found.reason in ("stopped", "all rounded")
    assert (found.coefficients is None) == (found.reason == "stopped")


def test_compiled_moves_under_constraints_look_at_the_flag(constrained):
    stop = np.zeros(1, np.int64)
    move = compiled_move(constrained, False, stop)
    every = np.ones(constrained.n_features + 1, bool)
    start = np.zeros(constrained.n_features + 1, np.int64)
    start[0] = 17  # far from the best intercept
    arguments = (start, constrained.lower, constrained.upper, every)
    assert not np.array_equal(move(*arguments), start)
    stop[0] = 1
    np.testing.assert_array_equal(move(*arguments), start)


def test_samples_are_not_drawn_after_a_stop(problem):
    found = Subsampling().round_and_polish(
        problem, np.full(problem.n_features + 1, 0.4), objective_max=0.6, stop=np.ones(1, np.int64)
    )
    assert found is None


@pytest.mark.parametrize("limit", [0.5, 10.0, math.inf])
def test_the_re_check_is_reserved_for(problem, monkeypatch, limit):
    """The deadline leaves the time that the re-check of all rows is predicted to take."""
    seen = []
    monkeypatch.setattr(lcpa, "run_interruptibly", seen.append)
    monkeypatch.setattr(runs, "RECHECK_SECONDS", 1e-3)
    lattice_cpa(problem, time_limit=limit)
    (run,) = seen
    reserved = min(3.0, runs.MOST_OF_LIMIT * limit)
    assert run.deadline == pytest.approx(run.began + limit - reserved)
