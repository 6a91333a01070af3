"""Standard CPA, on the MIP and on its relaxation, against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from checked_solutions import EQUAL, report
from enumeration import enumerate_optimum, loss, objective, random_problem, violations
from riskslim import RiskSlimMIP
from riskslim.engines.lattice_cpa.ridge import RidgeRows
from riskslim.exceptions import InfeasibleProblemError
from riskslim.paper import standard_cpa
from small_problems import Case, infeasible


@pytest.mark.parametrize("relaxation", [False, True])
def test_standard_cpa_under_constraints(relaxation):
    failures = []
    for seed, small, best, problem in cases("constraints", range(15)):
        if not best.feasible:
            with pytest.raises(
                InfeasibleProblemError, match="No risk score meets the requirements: "
            ):
                standard_cpa(problem, relaxation=relaxation)
            continue
        result = standard_cpa(problem, relaxation=relaxation, gap_tolerance=1e-6 * relaxation)
        wrong = [] if result.converged else [f"not converged: {result.message}"]
        if result.lower_bound > best.objective + EQUAL:
            wrong.append(f"lower bound {result.lower_bound!r}, optimum {best.objective!r}")
        if not relaxation and not abs(result.upper_bound - best.objective) <= EQUAL:
            wrong.append(f"objective {result.upper_bound!r}, optimum {best.objective!r}")
        if not relaxation and violations(small, result.coef):
            wrong.append(f"{result.coef} is infeasible: {violations(small, result.coef)}")
        if wrong:
            failures.append(report(seed, "standard_cpa", wrong))
    assert not failures, "\n".join(failures)


def cut_faults(small, problem, result) -> list[str]:
    """Cuts may nowhere exceed the loss."""
    rng = np.random.default_rng(len(result.cuts))
    points = rng.integers(problem.lower, problem.upper + 1, (20, small.d + 1))
    found = []
    for cut in result.cuts:
        if not abs(cut.loss - loss(small, cut.point)) <= 1e-13:
            found.append(f"cut at {cut.point} has loss {cut.loss!r}")
        over = [cut.at(point) - loss(small, point) for point in points]
        if max(over) > 1e-13:
            found.append(f"cut at {cut.point} exceeds the loss by {max(over)!r}")
    return found


def cases(source, seeds):
    """Cases of the paper's problem, and as many with a ridge penalty."""
    for seed, ridge in itertools.product(seeds, (False, True)):
        case = Case(source, "as drawn", seed, ridge=ridge)
        yield seed, case.small, case.best, case.problem


@pytest.mark.slow
def test_standard_cpa_on_the_mip_finds_the_optimum():
    failures = []
    for seed, small, best, problem in cases("any", range(15)):
        result = standard_cpa(problem)
        wrong = cut_faults(small, problem, result)
        if not result.converged:
            wrong.append(f"not converged: {result.message}")
        if not abs(result.upper_bound - best.objective) <= EQUAL:
            wrong.append(f"objective {result.upper_bound!r}, optimum {best.objective!r}")
        if violations(small, result.coef):
            wrong.append(f"{result.coef} is infeasible: {violations(small, result.coef)}")
        if not abs(objective(small, result.coef) - result.upper_bound) <= 1e-13:
            wrong.append(f"objective {result.upper_bound!r} is not that of {result.coef}")
        lower = np.array([iteration.lower_bound for iteration in result.iterations])
        if np.any(np.diff(lower) < 0) or np.any(lower > best.objective + EQUAL):
            wrong.append(f"lower bounds {lower}")
        if wrong:
            failures.append(report(seed, "standard_cpa", wrong))
    assert not failures, "\n".join(failures)


def test_standard_cpa_goes_on_where_rows_of_the_penalty_fill_the_model(monkeypatch):
    """Room for ten rows beside the fixed ones: rows of the ridge leave it as cuts do."""
    monkeypatch.setattr(RiskSlimMIP, "max_cuts", property(lambda self: 10))
    monkeypatch.setattr(RidgeRows, "first", lambda self: [])
    for seed in range(3):
        case = Case("any", "as drawn", seed, ridge=True)
        for relaxation in (False, True):
            result = standard_cpa(case.problem, relaxation=relaxation, max_iterations=60)
            assert result.lower_bound <= case.best.objective + EQUAL
            if not relaxation:
                assert result.upper_bound >= case.best.objective - EQUAL
            assert len(result.binding) < 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1025, 2030, 2174, 2429])
def test_standard_cpa_survives_unscaled_infeasibilities(seed):
    # CPLEX ends surrogates of these problems with status 115: optimal, but a coefficient is off
    # its integer by 1e-9 after presolve is undone. That is no reason to stop.
    small = random_problem(np.random.default_rng(seed))
    result = standard_cpa(small.build())
    assert result.converged, result.message
    assert result.upper_bound == pytest.approx(enumerate_optimum(small).objective, abs=EQUAL)


def test_standard_cpa_on_the_lp_bounds_the_optimum():
    failures = []
    for seed, small, best, problem in cases("any", range(50, 65)):
        result = standard_cpa(problem, relaxation=True, gap_tolerance=1e-6)
        wrong = cut_faults(small, problem, result)
        if not result.converged:
            wrong.append(f"not converged: {result.message}")
        lower = np.array([iteration.lower_bound for iteration in result.iterations])
        if np.any(np.diff(lower) < 0) or np.any(lower > best.objective + EQUAL):
            wrong.append(f"lower bounds {lower}, optimum {best.objective!r}")
        # The relaxation's own optimum is no more than the problem's.
        if result.lower_bound > best.objective + EQUAL:
            wrong.append(f"lower bound {result.lower_bound!r}, optimum {best.objective!r}")
        if result.upper_bound - result.lower_bound > 1e-6 * result.upper_bound + EQUAL:
            wrong.append(f"bounds {result.lower_bound!r}, {result.upper_bound!r}")
        if wrong:
            failures.append(report(seed, "relaxation", wrong))
    assert not failures, "\n".join(failures)


def test_infeasible_problems():
    for seed in range(4):
        with pytest.raises(InfeasibleProblemError, match="No risk score meets"):
            standard_cpa(infeasible(seed).build())
