"""What is wrong with a solution, compared with the optimum that enumeration finds."""

from __future__ import annotations

import numpy as np

from enumeration import loss, objective, violations
from riskslim import Status
from riskslim.scale import SCALE_TOLERANCE

# What the certificate promises: its bound_tolerance is 1e-9 on such problems.
EQUAL = 1e-9
# What the certificate promises: its bound_tolerance is 1e-10; room for the rounding of both sums.
EQUAL_NATIVE = 1.01e-10


def faults(small, best, problem, solution) -> list[str]:
    """Everything wrong with a solution that claims to be optimal."""
    certificate = solution.certificate
    found = []
    if certificate.status is not Status.OPTIMAL:
        found.append(f"status {certificate.status}: {certificate.message}")
    if certificate.optimality_gap != 0.0:
        found.append(f"gap {certificate.optimality_gap!r}")
    if solution.coefficients is None:
        return [*found, "no coefficients"]
    coef = solution.coef
    if broken := [*violations(small, coef), *problem.violations(coef)]:
        found.append(f"{coef} is infeasible: {broken}")
    if not abs(certificate.objective - best.objective) <= EQUAL:
        found.append(f"objective {certificate.objective!r}, optimum {best.objective!r}")
    if not abs(certificate.objective - objective(small, coef)) <= 1e-13:
        found.append(f"objective {certificate.objective!r}, really {objective(small, coef)!r}")
    if not abs(certificate.loss - loss(small, coef)) <= 1e-13:
        found.append(f"loss {certificate.loss!r}, really {loss(small, coef)!r}")
    if certificate.model_size != np.count_nonzero(coef[1:]):
        found.append(f"model size {certificate.model_size} of {coef}")
    if not certificate.lower_bound <= best.objective + EQUAL:
        found.append(f"lower bound {certificate.lower_bound!r}, optimum {best.objective!r}")
    return found + trace_faults(solution, best)


def trace_faults(solution, best) -> list[str]:
    trace, found = solution.trace, []
    lower, upper = trace["lower_bound"], trace["upper_bound"]
    if not len(trace):
        return ["empty trace"]
    if np.any(lower > best.objective + EQUAL):
        found.append(f"trace has lower bound {lower.max()!r}, optimum {best.objective!r}")
    if np.any(upper < best.objective - EQUAL):
        found.append(f"trace has upper bound {upper.min()!r}, optimum {best.objective!r}")
    if np.any(lower > upper):
        found.append("trace has a lower bound above the upper one")
    for name, sign in [("lower_bound", 1), ("upper_bound", -1), ("gap", -1), ("time", 1),
                       ("nodes", 1), ("cuts", 1), ("incumbent_updates", 1)]:  # fmt: skip
        if np.any(sign * np.diff(trace[name]) < 0):
            found.append(f"trace is not monotone in {name}: {trace[name]}")
    certificate = solution.certificate
    # On merged rows the search sums losses in another order than the certificate does.
    last = np.abs([lower[-1] - certificate.lower_bound, upper[-1] - certificate.objective])
    if np.any(last > 1e-14 * max(1.0, certificate.objective)):
        found.append(f"trace ends with {lower[-1]!r}, {upper[-1]!r}; certificate {certificate}")
    return found


def constrained_faults(small, best, problem, solution) -> list[str]:
    infeasible = solution.certificate.status is Status.INFEASIBLE
    if best.feasible and not infeasible:
        return faults(small, best, problem, solution)
    return [] if infeasible and not best.feasible else [repr(solution)]


def strict_faults(best, solution) -> list[str]:
    """What is wrong beyond the tolerance of branch and bound, in addition to the faults of any."""
    if not best.feasible or solution.certificate.status is Status.INFEASIBLE:
        return []
    found, limit = [], best.objective + EQUAL_NATIVE
    if not solution.certificate.objective <= limit:
        found.append(f"objective {solution.certificate.objective!r}, optimum {best.objective!r}")
    if np.any(solution.trace["lower_bound"] > limit):
        found.append(f"bounds {solution.trace['lower_bound']}, optimum {best.objective!r}")
    return found


def report(case, how, wrong) -> str:
    return f"{case}, {how}: {'; '.join(wrong)}"


def equivalents(coef: np.ndarray) -> list[np.ndarray]:
    """Vectors of smaller points that a common factor makes of this one."""
    divisor = int(np.gcd.reduce(coef))
    return [coef // k for k in range(2, divisor + 1) if divisor % k == 0]


def scale_faults(small, problem, solution, vectors, objectives) -> list[str]:
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


def stopped_faults(small, best, solution, equal=EQUAL_NATIVE) -> list[str]:
    """Everything wrong with a solution that need not be optimal; None is no score in time."""
    if solution is None:
        return []
    certificate, found = solution.certificate, []
    if certificate.status is Status.INFEASIBLE:
        return ["infeasible"] if best.feasible else []
    bounds = np.array([*solution.trace["lower_bound"], certificate.lower_bound])
    if not (bounds <= best.objective + equal).all():
        found.append(f"bounds up to {bounds.max()!r}, optimum {best.objective!r}")
    if bounds.min() < 0.0:
        found.append(f"bounds from {bounds.min()!r}")
    if (np.diff(bounds[:-1]) < 0).any():
        found.append(f"bounds of the trace fall: {bounds}")
    if solution.coefficients is None:
        return found
    if broken := violations(small, solution.coef):
        found.append(f"{solution.coef} is infeasible: {broken}")
    if not certificate.objective >= best.objective - equal:
        found.append(f"objective {certificate.objective!r}, optimum {best.objective!r}")
    really = objective(small, solution.coef)
    if not abs(certificate.objective - really) <= 1e-13:
        found.append(f"objective {certificate.objective!r}, really {really!r}")
    allowed = best.objective / (1.0 - certificate.gap_tolerance) + EQUAL
    if certificate.status is Status.OPTIMAL and not certificate.objective <= allowed:
        found.append(f"optimal with {certificate.objective!r}, optimum {best.objective!r}")
    return found
