"""LCPA on SCIP: against enumeration, against CPLEX, limits, interruption, faults."""

from __future__ import annotations

import itertools
import math
import signal
import threading
import warnings

import numpy as np
import pytest

from checked_solutions import faults
from enumeration import (
    enumerate_optimum,
    random_constrained_problem,
    random_problem,
)
from paths import HELPERS
from problems import OPTIMUM, make_problem, paper_problem
from programs import run_code
from riskslim import (
    CoefficientSet,
    LatticeCPASettings,
    LinearConstraint,
    RiskScoreProblem,
    Status,
    TrainingData,
    branch_and_bound,
    lattice_cpa,
)
from riskslim.exceptions import RiskSLIMError, SolverUnavailableError

pytest.importorskip("pyscipopt")

from riskslim.engines.lattice_cpa import scip, scip_model
from riskslim.engines.lattice_cpa.lattice_search import LatticeSearch
from searches import StopWhen


@pytest.fixture(scope="module")
def problem():
    return make_problem(n=400, d=8, seed=2, max_size=4)


# ---- enumeration ---------------------------------------------------------------------------


# These ended with a worse score than SCIP had accepted, before its candidates were considered.
@pytest.mark.parametrize("seed", [1239, 1591, 2125, 2692, 2838])
def test_candidates_of_scip_are_incumbents(seed):
    draw = random_constrained_problem if seed % 2 else random_problem
    small = draw(np.random.default_rng(seed), 2000)
    best, problem = enumerate_optimum(small), small.build()
    assert not faults(small, best, problem, lattice_cpa(problem, solver="scip"))


def test_both_solvers_and_the_native_engine_agree(problem):
    certificates = [
        lattice_cpa(problem).certificate,
        lattice_cpa(problem, solver="scip").certificate,
        branch_and_bound(problem).certificate,
    ]
    assert {certificate.status for certificate in certificates} == {Status.OPTIMAL}
    objectives = [certificate.objective for certificate in certificates]
    assert max(objectives) - min(objectives) <= 1e-9
    assert certificates[1].engine.startswith("lattice_cpa (SCIP ")


@pytest.mark.shared_data
@pytest.mark.parametrize("name", [pytest.param("mammo", marks=pytest.mark.slow), "breastcancer"])
def test_paper_data_is_solved_whatever_the_scaling_of_the_lps(shared_data, name):
    """With the first scaling, SCIP 10.0 cannot solve an LP of mammo."""
    problem = paper_problem(shared_data, name)
    certificate = lattice_cpa(problem, solver="scip").certificate
    assert certificate.status is Status.OPTIMAL
    assert certificate.optimality_gap == 0.0
    assert certificate.objective == pytest.approx(OPTIMUM[name], abs=1e-10)


def test_an_lp_that_cannot_be_solved_is_tried_again(problem, monkeypatch):
    tried, original = [], scip._solve

    def unlucky(model, search, should_stop):
        tried.append(model.scip.getParam("lp/scaling"))
        if len(tried) < 3:
            return scip.TreeResult("SCIP gave up", failed=True)
        return original(model, search, should_stop)

    monkeypatch.setattr(scip, "_solve", unlucky)
    assert lattice_cpa(problem, solver="scip").certificate.is_optimal
    assert tried == list(scip.SCALINGS)


@pytest.mark.shared_data
@pytest.mark.slow
@pytest.mark.parametrize(("name", "gap"), [("mushroom", 0.2), ("adult", 0.1)])
def test_paper_data(shared_data, name, gap):
    stop = StopWhen(OPTIMUM[name], gap)
    solution = lattice_cpa(
        paper_problem(shared_data, name), solver="scip", time_limit=300,
        progress=stop.progress, should_stop=stop,
    )  # fmt: skip
    assert np.all(solution.trace["lower_bound"] <= OPTIMUM[name] + 1e-10)
    assert solution.certificate.objective == pytest.approx(OPTIMUM[name], abs=1e-10)
    assert solution.certificate.optimality_gap <= gap


# ---- limits and interruption ---------------------------------------------------------------


def test_limits_leave_valid_bounds(problem):
    optimum = lattice_cpa(problem, solver="scip").certificate.objective
    settings = LatticeCPASettings(rounding=False, polishing=False)
    for limits in ({"node_limit": 3}, {"time_limit": 0.05}, {"gap_tolerance": 0.3}):
        solution = lattice_cpa(problem, solver="scip", settings=settings, **limits)
        certificate = solution.certificate
        assert certificate.lower_bound <= optimum + 1e-9
        assert certificate.objective >= optimum - 1e-9
        assert np.all(np.diff(solution.trace["lower_bound"]) >= 0)
        assert problem.is_feasible(solution.coef)
    assert certificate.status is Status.OPTIMAL
    assert certificate.optimality_gap <= 0.3


def test_should_stop(problem):
    calls = itertools.count()
    solution = lattice_cpa(
        problem,
        solver="scip",
        should_stop=lambda: next(calls) > 20,
        settings=LatticeCPASettings(initialization=False),
    )
    assert solution.certificate.status is Status.INTERRUPTED
    assert problem.is_feasible(solution.coef)


@pytest.fixture(scope="module")
def noise():
    """Rows of 0 and 1 that say little of the outcome: SCIP has a lot to do."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (200, 8)), rng.integers(0, 2, 200)
    return problem_of(X, y)


def problem_of(X, y):
    data = TrainingData(X, y)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    return RiskScoreProblem(data, coefficients, max_size=5)


class StopFrom:
    """True from the k-th call on."""

    def __init__(self, k):
        self.k, self.calls = k, 0

    def __call__(self):
        self.calls += 1
        return self.calls >= self.k


@pytest.mark.slow
def test_a_stop_at_any_call_leaves_the_best_score(noise, capfd):
    """SCIP refuses to be interrupted while it gets ready for its search."""
    optimum = branch_and_bound(noise).certificate.objective
    seen = set()
    for k in range(41):
        records, stop = [], StopFrom(k)
        solution = lattice_cpa(noise, solver="scip", should_stop=stop, progress=records.append)
        certificate = solution.certificate
        assert noise.is_feasible(solution.coef)
        assert certificate.status is Status.INTERRUPTED
        assert certificate.message == "interrupted by the user"
        assert certificate.lower_bound <= optimum + certificate.bound_tolerance
        assert certificate.objective == min(record.upper_bound for record in records)
        seen.add(certificate.lower_bound)
    assert len(seen) > 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("k", range(5, 20))
def test_a_fault_of_should_stop_reaches_the_caller_from_any_call(noise, capfd, k):
    stop = StopFrom(k)

    def fail():
        if stop():
            raise OSError("no more calls")
        return False

    with pytest.raises(OSError, match="no more calls"):
        lattice_cpa(noise, solver="scip", should_stop=fail)
    assert capfd.readouterr() == ("", "")


def test_time_is_over_while_scip_gets_ready(noise, monkeypatch, capfd):
    """As above, by the limit: no later call may take SCIP for finished."""
    observe = scip._Plugin.observe
    getting_ready = []

    def late(self):
        if self.model.scip.getStage() == scip.pyscipopt.SCIP_STAGE.INITSOLVE:
            getting_ready.append(True)
            self.events.should_stop = lambda: True
        return observe(self)

    monkeypatch.setattr(scip._Plugin, "observe", late)
    certificate = lattice_cpa(noise, solver="scip").certificate
    assert getting_ready
    assert certificate.status is Status.FEASIBLE
    assert certificate.message == "time limit reached"
    assert certificate.lower_bound < certificate.objective
    assert capfd.readouterr() == ("", "")


def test_refusals_name_the_solver():
    large = problem_of([[3e8, 0], [1e8, 1], [2e8, 1], [-1e8, 0]], [0, 1, 1, 0])
    with pytest.raises(ValueError, match="too large for SCIP"):
        lattice_cpa(large, solver="scip")


@pytest.mark.slow
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_the_search():
    script = """
import os, signal, threading
from problems import make_problem
from riskslim import lattice_cpa
p = make_problem(n=1000, d=30, seed=1, max_size=8)
seen = []
def progress(record):
    if record.nodes > 20 and not seen:
        seen.append(record)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
solution = lattice_cpa(p, solver="scip", time_limit=60, progress=progress)
print(solution.certificate.status, p.is_feasible(solution.coef))
"""
    done = run_code(script, folder=HELPERS)
    assert done.stdout.split() == ["interrupted", "True"], done.stderr


def test_handler_of_signals_is_left_alone(problem):
    before = signal.getsignal(signal.SIGINT)
    lattice_cpa(problem, solver="scip")
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_of_the_main_thread(problem):
    found = []
    worker = threading.Thread(target=lambda: found.append(lattice_cpa(problem, solver="scip")))
    worker.start()
    worker.join()
    assert found[0].certificate.status is Status.OPTIMAL


def test_same_seed_same_result(problem):
    one, other = (lattice_cpa(problem, solver="scip", random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.coef, other.coef)
    assert one.statistics.nodes == other.statistics.nodes


def test_two_threads(problem):
    one = lattice_cpa(problem, solver="scip")
    two = lattice_cpa(problem, solver="scip", n_threads=2)
    np.testing.assert_array_equal(one.coef, two.coef)
    assert one.certificate.objective == two.certificate.objective
    assert one.statistics.nodes == two.statistics.nodes


# ---- faults --------------------------------------------------------------------------------


def test_exceptions_in_callbacks_reach_the_caller(problem, monkeypatch):
    for name in ("cut_at", "fractional_cut", "round"):

        def fail(self, *args, name=name):
            raise RuntimeError(f"{name} failed")

        with monkeypatch.context() as patch:
            patch.setattr(LatticeSearch, name, fail)
            with pytest.raises(RuntimeError, match=f"{name} failed"):
                lattice_cpa(problem, solver="scip")


def test_understated_candidates_are_refused(problem, monkeypatch):
    """What SCIP is told of a loss must not become its bound unless the loss is really so low."""
    honest = lattice_cpa(problem, solver="scip").certificate
    original = scip_model.ScipMIP.solution_vector

    def understated(self, coef, loss):
        return original(self, coef, loss - 0.2)

    monkeypatch.setattr(scip_model.ScipMIP, "solution_vector", understated)
    certificate = lattice_cpa(problem, solver="scip").certificate
    assert certificate.objective == pytest.approx(honest.objective, abs=1e-9)
    assert certificate.lower_bound <= honest.objective + 1e-9


def test_a_loss_that_scip_does_not_see_costs_the_bound(problem, monkeypatch):
    """If a cut does not reach SCIP's point, SCIP's bounds cannot be trusted."""
    monkeypatch.setattr(scip._Plugin, "add_cut", lambda self, cut: False)
    certificate = lattice_cpa(problem, solver="scip", time_limit=10).certificate
    optimum = branch_and_bound(problem).certificate.objective
    assert certificate.lower_bound <= optimum + 1e-9
    assert certificate.status is Status.FEASIBLE


def test_contradictions_are_named():
    small = make_problem(n=100, d=4, seed=0, max_size=4)
    names = small.coefficients.feature_names
    from riskslim import RiskScoreProblem

    constraints = [
        LinearConstraint(points={names[0]: 2.0, names[1]: 2.0}, lower=1, upper=1, name="odd"),
        LinearConstraint(points={names[2]: 1.0}, upper=3, name="harmless"),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = RiskScoreProblem(small.loss.data, small.coefficients, constraints=constraints)
    certificate = lattice_cpa(problem, solver="scip").certificate
    assert certificate.status is Status.INFEASIBLE
    assert "odd" in certificate.message
    assert "harmless" not in certificate.message


def test_no_start_in_time(problem, monkeypatch):
    monkeypatch.setattr(scip_model, "_solve_for_feasibility", lambda scip, deadline, stop: None)
    with pytest.raises(RiskSLIMError, match="not known whether"):
        scip_model.found_by_scip(problem, 1.0, None)


class Busy:
    """A model that no slice of time is enough for, or that SCIP gives up."""

    def __init__(self, fault=None):
        self.fault, self.limits = fault, []

    def setParam(self, name, value):  # noqa: N802
        assert name == "limits/time"
        self.limits.append(value)

    def getSolvingTime(self):  # noqa: N802
        return self.limits[-1] if self.limits else 0.0

    def optimizeNogil(self):  # noqa: N802
        if self.fault is not None:
            raise self.fault

    def getStatus(self):  # noqa: N802
        return "timelimit"


def test_the_search_for_a_start_looks_at_the_stop():
    model, stop = Busy(), StopFrom(3)
    scip_model._solve_for_feasibility(model, math.inf, stop)
    assert stop.calls == 3
    assert model.limits == [0.5, 1.0, 1.5]
    late = Busy()
    scip_model._solve_for_feasibility(late, -math.inf, None)
    assert late.limits == [0.01]
    with pytest.raises(RiskSLIMError, match=r"SCIP gave up \(out of luck\).*not known whether"):
        scip_model._solve_for_feasibility(Busy(Exception("out of luck")), math.inf, None)


def test_solvers_that_there_are_not(problem):
    with pytest.raises(ValueError, match="'cplex', 'scip', got 'highs'; HiGHS has no callback"):
        lattice_cpa(problem, solver="highs")


def test_without_the_package():
    script = """
import sys
sys.modules["pyscipopt"] = None
from problems import make_problem
from riskslim import lattice_cpa
from riskslim.exceptions import SolverUnavailableError
try:
    lattice_cpa(make_problem(n=50, d=3, seed=0, max_size=2), solver="scip")
except SolverUnavailableError as error:
    print(error)
"""
    done = run_code(script, folder=HELPERS)
    assert done.returncode == 0, done.stderr
    assert 'pip install ".[scip]"' in done.stdout
    assert issubclass(SolverUnavailableError, RiskSLIMError)


def test_rows_of_scip_are_those_of_the_formulation(problem):
    from riskslim.engines.lattice_cpa.start import best_possible_bounds

    model = scip_model.ScipMIP(problem, best_possible_bounds(problem))
    assert model.scip.getNVars() == len(model.variables)
    assert model.scip.getNConss() == len(model.rows)
    assert math.isclose(model.variables[model.objective].price, 1.0)
