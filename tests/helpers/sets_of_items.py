"""The best score of each set of features of a small problem, by brute force."""

from __future__ import annotations

import math

import numpy as np

from enumeration import (
    SmallProblem,
    enumerate_over_scales,
    enumerate_ranked,
    random_constrained_problem,
    random_problem,
    random_ridge,
    random_scaled_problem,
)
from riskslim import Solution
from riskslim.scale import SCALE_TOLERANCE

# Beyond these no open bound of an intercept is looked at: points and features of these problems are
# small.
FAR = 40
# Objectives of two computations that count as one.
SAME = 1e-9

Set = tuple[bool, ...]


def used(vector: np.ndarray) -> Set:
    return tuple((np.asarray(vector)[1:] != 0).tolist())


def best_of_sets(small: SmallProblem) -> dict[Set, float]:
    """Least objective of each set of features that has a feasible score."""
    if np.ndim(small.scale):
        vectors, objectives = enumerate_over_scales(small)
    else:
        first, last = small.intercept_range()
        if small.intercept[0] is None:
            first = max(first, min(-FAR, last))
        if small.intercept[1] is None:
            last = min(last, max(FAR, first))
        vectors, objectives = enumerate_ranked(small, first, last)
    best: dict[Set, float] = {}
    for vector, objective in zip(vectors, objectives.tolist(), strict=True):
        key = used(vector)
        best[key] = min(best.get(key, math.inf), objective)
    return best


def random_sets_problem(rng: np.random.Generator) -> SmallProblem:
    """A small problem of any kind: weights, ridge penalties, constraints, scales, 0/1 features."""
    kind = rng.random()
    if kind < 0.3:
        small = random_scaled_problem(rng, 400)
    else:
        small = (random_constrained_problem if kind < 0.5 else random_problem)(rng, 1500)
    if rng.random() < 0.5:
        small.l2_penalty = random_ridge(rng, small.d)
    if rng.random() < 0.6:
        halves = (np.median(small.X, axis=0) < small.X).astype(float)
        if np.ptp(halves, axis=0).all():  # fixed points of a constant feature are impossible
            small.X = halves
    if rng.random() < 0.4:
        small.weights = None
    return small


def accuracy(small: SmallProblem, best: float) -> float:
    """To within what objectives of a list are known: scales over intervals are rounded."""
    return SAME + (3.0 * SCALE_TOLERANCE * best if np.ndim(small.scale) else 0.0)


def faults(
    small: SmallProblem,
    solution: Solution,
    best: dict[Set, float],
    *,
    within: float | None = None,
    n_sets: int | None = None,
) -> list[str]:
    """Everything that a list by items claims and brute force denies."""
    pool, ranked = solution.pool, sorted(best.values())
    eps, limit = accuracy(small, ranked[0]), math.inf
    if within is not None:
        limit = ranked[0] * (1.0 + within)
    if n_sets is not None and n_sets <= len(ranked):
        limit = min(limit, ranked[n_sets - 1])
    listed = {used(coef): rank for rank, coef in enumerate(pool.coefficients)}
    found = [] if len(listed) == len(pool) else ["a set is listed twice"]
    if (np.diff(pool.objectives) < 0).any():
        found.append("not sorted")
    for key, rank in listed.items():
        objective, lower = pool.objectives[rank], pool.lower_bounds[rank]
        least = best.get(key, math.inf)
        if objective < least - eps:
            found.append(f"{objective} of a set whose best score has {least}")
        if lower > least + SAME:
            found.append(f"the bound {lower} of a set whose best score has {least}")
        # The bound is that of the best scale, before it is rounded.
        if pool.complete and (abs(objective - least) > eps or lower < least - SAME):
            found.append(f"{objective}, bound {lower} of a set whose best score has {least}")
        if pool.complete and objective > limit + eps:
            found.append(f"{objective} is listed, beyond {limit}")
    for key, least in best.items():
        if key in listed:
            continue
        if least < pool.bound - eps:
            found.append(f"a set with {least} is not listed, below the bound {pool.bound}")
        if pool.complete and least < limit - eps:
            found.append(f"a set with {least} is not listed, within {limit}")
    return found
