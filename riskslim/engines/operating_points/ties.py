"""The least objective among rules that are equally good.

Every support that may hold such a rule is known. Its vectors of points that reach the share are
listed, and each is given its best intercept and scale on the cells. Supports of which the loss that
no score is below, h, and the prices are too high are passed over.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import support_enumeration as tables
from riskslim.engines.operating_points.intercepts import best_intercepts
from riskslim.engines.operating_points.shares import weights_by_score

if TYPE_CHECKING:
    from riskslim.engines.operating_points.support_rules import Found, SupportRules
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["Fit", "Tie", "fitted", "fitted_on_rows", "least_objective"]

# Vectors of points of one support that are compared.
MOST_VECTORS = 400_000
# Cells of all vectors that are fitted at a time: limits are asked for in between, and these take a
# part of a second.
CELLS_AT_A_TIME = 8192


class Fit(NamedTuple):
    """A vector of points with its best intercept.

    Attributes
    ----------
    coef : ndarray of int64, shape (d + 1,)
    objective : float
    """

    coef: NDArray[np.int64]
    objective: float


class Tie(NamedTuple):
    """The least objective of rules that are equally good, as far as it is known.

    Attributes
    ----------
    best : Fit or None
        That of the least objective that was met.
    bound : float
        None of them has a smaller one.
    """

    best: Fit | None
    bound: float


def least_objective(
    rules: SupportRules, supports: Sequence[NDArray[np.int64]], wrong: float, known: Fit | None
) -> Tie:
    """The least objective of all rules that call no more wrong than a limit.

    Parameters
    ----------
    rules : SupportRules
    supports : sequence of int64 arrays
        Features of all supports that may have such a rule.
    wrong : float
        The limit, in rows or weight.
    known : Fit, optional
        A rule to begin with.

    Returns
    -------
    Tie
    """
    best, bound = known, math.inf
    least: list[tuple[float, int]] = []
    for k, features in enumerate(supports):
        least.append((_least_of(rules, features), k))
    least.sort()
    for lower, k in least:
        if best is not None and lower >= best.objective:
            break
        if rules.stop[0]:
            bound = min(bound, lower)
            break
        found = rules.all(supports[k], wrong, MOST_VECTORS)
        if found is None or not found.is_all:
            bound = min(bound, lower)
        fit = None if found is None else fitted(rules, found, best)
        if rules.stop[0]:
            bound = min(bound, lower)
        if fit is not None:
            best = fit
    return Tie(best, bound if best is None else min(bound, best.objective))


def _least_of(rules: SupportRules, features: NDArray[np.int64]) -> float:
    """An objective that no score of a support is below; 0 after a stop."""
    cells = rules.cells(features) if len(features) and not rules.stop[0] else None
    if cells is None:
        return 0.0
    share = _shares(rules, cells.weights)
    h = tables.saturated(*(np.ascontiguousarray(own) for own in share[::-1]))
    return (h + math.fsum(rules.problem.l0_penalty[features])) * (1.0 - 1e-12)


def _shares(rules: SupportRules, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of cells as parts of the whole."""
    measure, total = rules.measure, rules.problem.loss.data.total_weight
    if not measure.is_exact:
        return weights / total
    unit = np.empty(2)
    unit[measure.side], unit[1 - measure.side] = measure.unit
    return weights * (unit / total)[:, None]


def fitted(rules: SupportRules, found: Found, known: Fit | None = None) -> Fit | None:
    """The vector of the least objective among some of one support.

    Parameters
    ----------
    rules : SupportRules
    found : Found
    known : Fit, optional
        A vector of another objective, which is to be less.

    Returns
    -------
    Fit or None
        Of those that were fitted before a stop. None: it was stopped before, or all are worse, or
        none is feasible.
    """
    problem, features = rules.problem, found.features
    cells = rules.cells(features) if len(found.points) else None
    if cells is None:
        return None
    x, weights = _values_of(cells.value, cells.n_bits), _shares(rules, cells.weights)
    counted = weights.any(axis=0)
    x, weights = x[:, counted], weights[:, counted]
    price = math.fsum(problem.l0_penalty[features])
    best = known
    at_a_time = max(CELLS_AT_A_TIME // max(x.shape[1], 1), 1)
    for start in range(0, len(found.points), at_a_time):
        if start and rules.stop[0]:
            break
        points = found.points[start : start + at_a_time]
        low, high = rules.intercepts(features, points)
        squares = (points.astype(np.float64) ** 2) @ problem.l2_penalty[features]
        fit = best_intercepts(points @ x, weights, problem.scales, squares, low, high)
        for k in np.argsort(fit.values, kind="stable").tolist():
            objective = float(fit.values[k]) + price
            if not math.isfinite(objective) or (best is not None and objective >= best.objective):
                break
            coef = np.zeros(problem.n_features + 1, np.int64)
            coef[0], coef[1 + features] = fit.intercepts[k], points[k]
            if rules.accepts(coef, float(found.wrong[start + k])):
                best = Fit(coef, objective)
                break
    return None if best is known else best


def fitted_on_rows(problem: RiskScoreProblem, coef: NDArray[np.int64]) -> Fit:
    """A vector with the best intercept for its points, as far as that is allowed.

    Parameters
    ----------
    problem : RiskScoreProblem
    coef : ndarray of int64, shape (d + 1,)
        Feasible.

    Returns
    -------
    Fit
    """
    parts = list(problem.loss.store.map(weights_by_score, coef))
    scores = np.concatenate([part for part, _ in parts])
    weights = np.concatenate([part for _, part in parts], axis=1) / problem.loss.data.total_weight
    low, high = problem.open_intercepts
    fit = best_intercepts(
        scores[None], weights, problem.scales, np.array([problem.sum_of_squares(coef)]),
        np.array([-math.inf if low else float(problem.lower[0])]),
        np.array([math.inf if high else float(problem.upper[0])]),
    )  # fmt: skip
    moved = coef.copy()
    moved[0] = fit.intercepts[0]
    for vector in (moved, coef):
        wide = problem.reaching(int(vector[0]), int(vector[0]))
        if wide.is_feasible(vector):
            break
    return Fit(vector, wide.objective(vector))


def _values_of(value: NDArray[np.float64], n_bits: NDArray[np.int64]) -> NDArray[np.float64]:
    """Values of each item in each cell."""
    number, below = np.arange(1 << int(n_bits.sum())), int(n_bits.sum())
    found = []
    for own, bits in zip(value, n_bits.tolist(), strict=True):
        below -= bits
        found.append(own[number >> below & ((1 << bits) - 1)])
    return np.array(found).reshape(len(n_bits), -1)
