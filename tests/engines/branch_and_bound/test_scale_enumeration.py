"""Free scales against exhaustive enumeration with exact minimisation over the scale.

Failures name the seed: ``random_scaled_problem(np.random.default_rng(seed))`` draws the problem
again.
"""

from __future__ import annotations

import numpy as np
import pytest

from checked_solutions import EQUAL_NATIVE
from enumeration import enumerate_over_scales, objective, random_scaled_problem, violations
from riskslim import Status, branch_and_bound
from riskslim.scale import SCALE_TOLERANCE
from variants import VARIANTS, variant


def equivalents(coef: np.ndarray) -> list[np.ndarray]:
    """Vectors of smaller points that a common factor makes of this one."""
    divisor = int(np.gcd.reduce(coef))
    return [coef // k for k in range(2, divisor + 1) if divisor % k == 0]


def faults(small, problem, solution, vectors, objectives) -> list[str]:
    """Everything wrong with a solution that claims to be optimal over all scales."""
    certificate, found = solution.certificate, []
    if not len(vectors):
        return [] if certificate.status is Status.INFEASIBLE else [f"infeasible, {certificate}"]
    if certificate.status is not Status.OPTIMAL:
        return [f"{certificate.status}: {certificate.message}"]
    optimum = objectives.min()
    coef, scale = solution.coef, solution.scale
    if broken := [*violations(small, coef), *problem.violations(coef)]:
        found.append(f"{coef} is infeasible: {broken}")
    if scale not in problem.scales or scale != certificate.scale:
        found.append(f"scale {scale!r}, certificate {certificate.scale!r}")
    own = objectives[(vectors == coef).all(axis=1)]
    if not len(own) or not abs(own[0] - optimum) <= EQUAL_NATIVE:
        found.append(f"{coef} has objective {own} at its best scale, optimum {optimum!r}")
    if not abs(certificate.objective - objective(small, coef, scale)) <= 1e-13:
        found.append(f"{certificate.objective!r}, really {objective(small, coef, scale)!r}")
    tolerance = SCALE_TOLERANCE if problem.scales.is_interval else 0.0
    if not certificate.objective <= optimum * (1.0 + tolerance) + EQUAL_NATIVE:
        found.append(f"objective {certificate.objective!r}, optimum {optimum!r}")
    if not max(certificate.lower_bound, *solution.trace["lower_bound"]) <= optimum + EQUAL_NATIVE:
        found.append(f"bounds up to {certificate.lower_bound!r}, optimum {optimum!r}")
    for smaller in equivalents(coef):
        same = objectives[(vectors == smaller).all(axis=1)]
        if len(same) and same[0] <= own[0] + 1e-14:
            found.append(f"{coef} is {smaller} times a number")
    return found


@pytest.mark.parametrize("first_seed", range(0, 300, 25))
def test_the_enumerated_optimum_over_all_scales_is_found(first_seed):
    failures = []
    for seed in range(first_seed, first_seed + 25):
        small = random_scaled_problem(np.random.default_rng(seed))
        vectors, objectives = enumerate_over_scales(small)
        problem = small.build()
        settings = variant(seed) if "memory_limit" not in VARIANTS[seed % len(VARIANTS)] else None
        solution = branch_and_bound(problem, settings=settings)
        wrong = faults(small, problem, solution, vectors, objectives)
        if wrong:
            failures.append(f"seed {seed}, {small.scale}: {'; '.join(wrong)}")
    assert not failures, "\n".join(failures)
