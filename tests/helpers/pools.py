"""What is wrong with a list of the best scores, compared with that of the enumeration."""

from __future__ import annotations

import math

import numpy as np

from checked_solutions import EQUAL_NATIVE
from enumeration import enumerate_ranked, objective
from riskslim import Status

MORE_THAN_ALL = 99_999
# What is asked for: as n_solutions and within. Long lists take long, and there are few of these.
SHORT = ((2, None), (7, None), (None, 0.0), (None, 0.02), (None, 0.1), (5, 0.05), (1, 0.1),
         (12, None))  # fmt: skip
REQUESTS = (*SHORT, *SHORT, (30, None), (None, 0.3), (400, 0.5), (MORE_THAN_ALL, None))


def intercepts_beyond(small, problem, pool) -> tuple[int, int]:
    """Those of the problem, and of the list, and more where no bound was given."""
    low, high = int(problem.lower[0]), int(problem.upper[0])
    if pool is not None:
        low, high = min(low, *pool.coefficients[:, 0]), max(high, *pool.coefficients[:, 0])
    more = math.ceil(12 * np.max(small.scale))
    first, last = small.intercept
    return (
        int(low - more) if first is None else int(low),
        int(high + more) if last is None else int(high),
    )


def _stated_faults(small, pool) -> list[str]:
    """Everything wrong with a list that has all scores with some intercepts, and states these."""
    low, high = pool.intercepts
    vectors = enumerate_ranked(small, low, high)[0]
    found = ["it says that it is complete"] if pool.complete else []
    if set(map(tuple, pool.coefficients.tolist())) != set(map(tuple, vectors.tolist())):
        found.append(f"{len(pool)} scores; there are {len(vectors)}")
    beyond = [
        enumerate_ranked(small, *ends)[1].min(initial=math.inf)
        for end, ends in zip(
            small.intercept, ((low - 20, low - 1), (high + 1, high + 20)), strict=True
        )
        if end is None
    ]
    if not 0.0 < pool.bound <= min(beyond) + EQUAL_NATIVE:
        found.append(f"bound {pool.bound}, beyond the intercepts there is {min(beyond)}")
    return found


def _ranked(small, first, last):
    """The enumeration of a problem, once for all ways in which it is solved."""
    held = vars(small).setdefault("ranked", {})
    if (first, last) not in held:
        held[first, last] = enumerate_ranked(small, first, last)
    return held[first, last]


def pool_faults(small, problem, solution, n_solutions, within) -> list[str]:
    """Everything wrong with a list of the best scores; ties at its end may be any of them."""
    pool = solution.pool
    stated = None if pool is None else pool.intercepts
    if stated is not None and (n_solutions or 0) >= MORE_THAN_ALL and None in small.intercept:
        return _stated_faults(small, pool)
    vectors, objectives = _ranked(small, *intercepts_beyond(small, problem, pool))
    if not len(vectors):
        status = solution.certificate.status
        return [] if status is Status.INFEASIBLE and solution.pool is None else [repr(solution)]
    ceiling = math.inf if within is None else objectives[0] * (1 + within)
    expected = np.count_nonzero(objectives <= ceiling + 1e-13)
    expected = expected if n_solutions is None else min(expected, n_solutions)
    found = []
    if solution.certificate.status is not Status.OPTIMAL or not pool.complete:
        found.append(f"{solution!r}, list complete: {pool.complete}")
    if len(pool) != expected:
        return [*found, f"{len(pool)} scores; there are {expected}"]
    if np.any(np.diff(pool.objectives) < 0):
        found.append(f"not sorted: {pool.objectives}")
    if np.abs(pool.objectives - objectives[:expected]).max() > EQUAL_NATIVE:
        found.append(f"objectives {pool.objectives}, enumerated {objectives[:expected]}")
    exact = [objective(small, vector) for vector in pool.coefficients]
    if np.abs(pool.objectives - exact).max() > 1e-13:
        found.append(f"objectives {pool.objectives}, really {exact}")
    listed = set(map(tuple, pool.coefficients.tolist()))
    if len(listed) != expected:
        found.append("a score is listed twice")
    certain = vectors[: np.searchsorted(objectives, pool.objectives[-1] - EQUAL_NATIVE)]
    if missing := set(map(tuple, certain.tolist())) - listed:
        found.append(f"not listed: {missing}")
    is_other = [tuple(vector) not in listed for vector in vectors.tolist()]
    following = objectives[is_other].min(initial=math.inf)
    if not pool.bound <= following + EQUAL_NATIVE:
        found.append(f"bound {pool.bound}, the next one has {following}")
    if within is None and len(pool) < n_solutions and pool.bound < math.inf:
        found.append(f"bound {pool.bound}, but there is no other one")
    return found


def unfinished_pool_faults(small, problem, solution) -> list[str]:
    """What is wrong with the bound of a list that need not be complete."""
    pool = solution.pool
    if pool is None:
        return []
    vectors, objectives = _ranked(small, *intercepts_beyond(small, problem, pool))
    listed = set(map(tuple, pool.coefficients.tolist()))
    is_other = [tuple(vector) not in listed for vector in vectors.tolist()]
    following = objectives[is_other].min(initial=math.inf)
    found = [] if listed <= set(map(tuple, vectors.tolist())) else ["a vector that is infeasible"]
    if not pool.bound <= following + EQUAL_NATIVE:
        found.append(f"bound {pool.bound}, the next one has {following}")
    return found
