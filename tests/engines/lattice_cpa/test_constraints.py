"""LCPA under constraints at the edge of its solver's arithmetic, and vectors to start from."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from checked_solutions import EQUAL, constrained_faults
from enumeration import enumerate_optimum, slopes, violations
from riskslim import (
    LinearConstraint,
    Status,
    at_least,
    exactly,
    lattice_cpa,
    sequential_rounding,
)
from riskslim.engines.lattice_cpa import feasibility
from riskslim.exceptions import RiskSLIMError
from small_problems import plain


@pytest.mark.slow
def test_coefficients_of_very_different_size():
    rng = np.random.default_rng(3)
    for _ in range(12):
        values = rng.choice([1e6, -1e6, 1e3, 1.0, -3.0, 1e-3, 1e-6], 4)
        points = dict(zip(["x0", "x1", "x2", "x3"], values.tolist(), strict=True))
        small = plain(rng, 4)
        total = slopes(small) @ values
        bound = float(np.quantile(total, 0.3))
        small.constraints = (LinearConstraint(points=points, upper=bound),)
        best, problem = enumerate_optimum(small), small.build()
        assert not constrained_faults(small, best, problem, lattice_cpa(problem))


@pytest.mark.parametrize("excess", [0.3e-9, 0.5e-9, 1e-9, 2e-9, 4e-9, 1e-8])
def test_points_next_to_the_tolerance_make_no_false_certificate(excess):
    # x0 = x1 = v breaks x0 <= (1 - excess) x1 by v * excess: within our tolerance, within what
    # CPLEX may accept, or beyond both.
    rng = np.random.default_rng(1)
    small = plain(rng, 2)
    small.X[:, 1] = np.where(rng.random(80) < 0.1, 1 - small.X[:, 0], small.X[:, 0])
    small.y = np.where(small.X.sum(axis=1) + rng.normal(size=80) > 1, 1, -1)
    row = LinearConstraint(points={"x0": 1.0, "x1": -(1.0 - excess)}, lower=-0.5, upper=0.0)
    small.constraints = (row,)
    best, problem = enumerate_optimum(small), small.build()
    solution = lattice_cpa(problem)
    certificate = solution.certificate
    assert not violations(small, solution.coef)
    assert certificate.lower_bound <= best.objective + EQUAL
    assert certificate.objective >= best.objective - EQUAL
    if certificate.is_optimal:
        assert certificate.objective == pytest.approx(best.objective, abs=EQUAL)
    else:
        reasons = ("break a constraint by less than it can tell", "numerical difficulties")
        assert any(reason in certificate.message for reason in reasons)


def test_a_start_that_only_cplex_finds(monkeypatch):
    """Sums of large coefficients that hardly any points reach."""
    weights = {"x0": 127.0, "x1": 101.0, "x2": 83.0, "x3": 61.0, "x4": 37.0}
    small = plain(np.random.default_rng(2), 5)
    values = set(slopes(small) @ np.array(list(weights.values())))
    for target in sorted(values, key=abs)[40:]:
        small.constraints = (LinearConstraint(points=weights, lower=target, upper=target),)
        if sequential_rounding(small.build(), np.zeros(6)).coefficients is None:
            break
    best, problem = enumerate_optimum(small), small.build()
    assert len(best.vectors)
    calls = []
    by_cplex = feasibility._found_by_cplex
    monkeypatch.setattr(
        feasibility, "_found_by_cplex", lambda *given: calls.append(given) or by_cplex(*given)
    )
    assert not constrained_faults(small, best, problem, lattice_cpa(problem))
    assert len(calls) == 1
    small = dataclasses.replace(small, lower=np.full(5, -1), upper=np.full(5, 1), constraints=())
    values = set(slopes(small) @ np.array(list(weights.values())))
    absent = next(k for k in range(1, 400) if k not in values)
    small.constraints = (LinearConstraint(points=weights, lower=absent, upper=absent, name="odd"),)
    problem = small.build()
    assert problem.infeasibility is None
    certificate = lattice_cpa(problem).certificate
    assert certificate.status is Status.INFEASIBLE
    assert certificate.message == "no points within their bounds meet the constraint (odd)"


def test_clashes_that_cplex_finds_are_named():
    names = [f"x{j}" for j in range(5)]
    small = plain(
        np.random.default_rng(2), 5, max_size=2,
        constraints=(at_least(1, names[:2]), at_least(3, names), exactly(1, names[:2])),
    )  # fmt: skip
    problem = small.build()
    assert problem.infeasibility is None
    assert lattice_cpa(problem).certificate.message == (
        "these constraints contradict each other: (at least 3 of 'x0', 'x1', 'x2', 'x3', 'x4' are "
        "used) and (model size 0 to 2)"
    )


def test_no_start_in_time(monkeypatch):
    names = [f"x{j}" for j in range(5)]
    small = plain(np.random.default_rng(2), 5, constraints=(at_least(3, names),), max_size=2)
    monkeypatch.setattr(feasibility, "SLICE", 0.0)
    with pytest.raises(RiskSLIMError, match="no points that meet the constraints were found so f"):
        feasibility.feasible_start(small.build(), time_limit=0.0)
