"""A remark on the scale: how far the loss of a score's own features falls at another one.

The search at one scale says nothing about others. What is said here is found without another
search, from the features that have points alone: their cells, the rows that have the same values of
all of them, are few whatever the number of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.data.store import KernelRows
from riskslim.scale import FREE_SCALE, ScaleSet, fewest_digits, least_over

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["BetterScale", "better_scale", "remark_on_scale"]

# A smaller share of the loss is not worth another scale.
_LEAST_FALL = 0.001
# What rounding the scale may give back of the loss.
_ROUNDING = 1e-4
# Cells that are counted, and rows that are taken one by one where values are no whole numbers.
_MOST_CELLS = 1 << 16
_MOST_ROWS = 100_000
# Scales at which the best real coefficients are rounded to points.
_SCALES = np.geomspace(*FREE_SCALE, 40)
# Newton's method: steps, and a ridge that keeps coefficients of separated rows finite.
_MOST_STEPS = 50
_RIDGE = 1e-7


class BetterScale(NamedTuple):
    """A score of the same features at another scale.

    Attributes
    ----------
    scale : float
    points : ndarray of int64
        Of the features in their order.
    intercept : int
    loss, before : float
        Its loss, and that of the score that was given, both with the ridge penalty.
    """

    scale: float
    points: NDArray[np.int64]
    intercept: int
    loss: float
    before: float


class _Cells(NamedTuple):
    """Values of the features, shape (m, k), and weights of rows with and without the outcome.

    ``ridge`` has the ridge penalties of the features, shape (k,).
    """

    values: NDArray[np.float64]
    without: NDArray[np.float64]
    having: NDArray[np.float64]
    ridge: NDArray[np.float64]

    def loss(self, log_odds: NDArray[np.float64]) -> float:
        """Mean loss of the log-odds of every cell."""
        sums = self.having @ np.logaddexp(0, -log_odds) + self.without @ np.logaddexp(0, log_odds)
        return float(sums / (self.having.sum() + self.without.sum()))

    def derivatives(self, totals: NDArray[np.float64], t: float) -> tuple[float, float, float]:
        """The loss of t times the totals, and its first and second derivative by t."""
        log_odds, weight = t * totals, self.having + self.without
        risk = 1 / (1 + np.exp(-np.clip(log_odds, -500, 500)))
        slope = totals @ (weight * risk - self.having)
        curvature = totals**2 @ (weight * risk * (1 - risk))
        whole = weight.sum()
        return self.loss(log_odds), float(slope / whole), float(curvature / whole)

    def fitted(self) -> NDArray[np.float64]:
        """The best real intercept and coefficients, shape (k + 1,)."""
        design = np.column_stack([np.ones(len(self.values)), self.values])
        weight = self.having + self.without
        penalty = np.concatenate(([0.0], self.ridge))
        ridge = weight.sum() * (_RIDGE * np.eye(design.shape[1]) + 2 * np.diag(penalty))
        coef = np.zeros(design.shape[1])
        best = self.loss(design @ coef)
        for _ in range(_MOST_STEPS):
            risk = 1 / (1 + np.exp(-np.clip(design @ coef, -500, 500)))
            slope = design.T @ (weight * risk - self.having) + ridge @ coef
            curvature = (design.T * (weight * risk * (1 - risk))) @ design + ridge
            step = np.linalg.solve(curvature, slope)
            length = 1.0
            while True:
                shorter = coef - length * step
                loss = self.loss(design @ shorter) + float(penalty @ shorter**2)
                if loss <= best or length <= 1e-4:
                    break
                length /= 2
            if best - loss <= 1e-10 * best:
                break
            coef, best = shorter, loss
        return coef


def remark_on_scale(
    problem: RiskScoreProblem, vector: NDArray[np.int64], given_intercepts: Collection[int] = ()
) -> str:
    """Say how far the loss falls at the best scale of a score's features, if it does.

    Parameters
    ----------
    problem : RiskScoreProblem
    vector : ndarray of int64, shape (d + 1,)
        Intercept first.
    given_intercepts : collection of int
        Bounds of the intercept that were given: one that was derived is for this scale alone.

    Returns
    -------
    str
        Empty where it does not, or where nothing is found out; see :func:`better_scale`.
    """
    found = better_scale(problem, vector, given_intercepts)
    if found is None or found.before - found.loss < _LEAST_FALL * found.before:
        return ""
    n = int(np.count_nonzero(vector[1:]))
    features = "this feature" if n == 1 else f"these {n} features"
    what = "loss, with the ridge penalty," if problem.has_ridge else "loss"
    return (
        f"The scale is fixed at {problem.scales.high:.10g}. With other points at the scale "
        f"{found.scale:g}, {features} would have a {what} of {found.loss:.6f} in place of "
        f"{found.before:.6f}, {(found.before - found.loss) / found.before:.1%} less: a free scale "
        "gives a score at least as good."
    )


def better_scale(
    problem: RiskScoreProblem, vector: NDArray[np.int64], given_intercepts: Collection[int] = ()
) -> BetterScale | None:
    """Find points, intercept and scale of the features of a score that have a lower loss.

    Parameters
    ----------
    problem : RiskScoreProblem
        With one scale.
    vector : ndarray of int64, shape (d + 1,)
        Intercept first.
    given_intercepts : collection of int
        As in :func:`remark_on_scale`.

    Returns
    -------
    BetterScale or None
        The best that rounding the best real coefficients at 40 scales of "free" gives, within the
        problem's bounds and constraints. None where none is better, where the scale is not fixed
        or constraints say another thing at every scale, and where no cells are counted: features
        with values that are not whole numbers, or with many of them, of more than 100,000 rows.
    """
    features = np.flatnonzero(vector[1:])
    about_risks = any(one.depends_on_scale for one in problem.constraints)
    if not problem.scales.is_single or not features.size or about_risks:
        return None
    cells = _cells(problem, features)
    if cells is None:
        return None
    before = cells.loss((vector[0] + cells.values @ vector[features + 1]) / problem.scales.high)
    before += problem.ridge(vector)
    real = cells.fitted()
    low, high = int(problem.lower[0]), int(problem.upper[0])
    given = low if low in given_intercepts else None, high if high in given_intercepts else None
    best: BetterScale | None = None
    seen: set[tuple[int, ...]] = set()
    for scale in _SCALES.tolist():
        points = np.rint(np.clip(scale * real[1:], *_bounds(problem, features))).astype(np.int64)
        if tuple(points) in seen or not points.any():
            continue
        seen.add(tuple(points.tolist()))
        if not _is_feasible(problem, vector, features, points):
            continue
        found = _at_best_scale(cells, points, given, before)
        if found.loss < (before if best is None else best.loss):
            best = found
    return best


def _bounds(
    problem: RiskScoreProblem, features: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return problem.lower[features + 1], problem.upper[features + 1]


def _is_feasible(
    problem: RiskScoreProblem,
    vector: NDArray[np.int64],
    features: NDArray[np.intp],
    points: NDArray[np.int64],
) -> bool:
    """True if the points meet what is asked of points."""
    changed = vector.copy()
    changed[features + 1] = points
    return not problem.violations(changed)


def _at_best_scale(
    cells: _Cells,
    points: NDArray[np.int64],
    intercepts: tuple[int | None, int | None],
    before: float,
) -> BetterScale:
    """The best intercept and scale of some points."""
    scores = cells.values @ points
    squares = float(cells.ridge @ points**2)
    line = _Cells(scores[:, np.newaxis], cells.without, cells.having, np.array([squares])).fitted()
    low, high = FREE_SCALE
    scale = min(max(1 / line[1], low), high) if line[1] > 0 else high
    intercept = _best_intercept(cells, scores, scale, round(float(line[0]) * scale), intercepts)
    totals = scores + intercept
    scales = ScaleSet.of(FREE_SCALE)
    scale = least_over(scales, lambda t: cells.derivatives(totals, t), squares)

    def objective(scale: float) -> float:
        return cells.loss(totals / scale) + squares / scale**2

    limit = objective(scale) * (1 + _ROUNDING)
    scale = fewest_digits(scale, scales, lambda rounded: objective(rounded) <= limit)
    return BetterScale(scale, points, intercept, objective(scale), before)


def _best_intercept(
    cells: _Cells,
    scores: NDArray[np.float64],
    scale: float,
    intercept: int,
    bounds: tuple[int | None, int | None],
) -> int:
    """The best whole intercept at a scale: the loss is convex, and one step leads to the next."""
    least, most = bounds
    intercept = intercept if least is None else max(intercept, least)
    intercept = intercept if most is None else min(intercept, most)
    loss = cells.loss((intercept + scores) / scale)
    for step in (1, -1):
        while _is_within(intercept + step, bounds):
            changed = cells.loss((intercept + step + scores) / scale)
            if changed >= loss:
                break
            intercept, loss = intercept + step, changed
    return intercept


def _is_within(intercept: int, bounds: tuple[int | None, int | None]) -> bool:
    least, most = bounds
    return (least is None or intercept >= least) and (most is None or intercept <= most)


def _cells(problem: RiskScoreProblem, features: NDArray[np.intp]) -> _Cells | None:
    """Cells of some features: counted by their values, or else the rows themselves."""
    data, ridge = problem.loss.data, problem.l2_penalty[features]
    low = data.feature_min[features]
    n_values = data.feature_max[features] - low + 1
    if data.is_integer[features].all() and np.prod(n_values) <= _MOST_CELLS:
        shape = tuple(n_values.astype(np.intp).tolist())
        start = tuple(low.astype(np.intp).tolist())
        chosen = tuple(features.tolist())
        counts = np.sum(list(data.rows.map(count_cells, chosen, start, shape)), axis=0)
        index = np.flatnonzero(counts.any(axis=0))
        values = np.stack(np.unravel_index(index, shape), axis=1) + low
        return _Cells(values.astype(np.float64), counts[0, index], counts[1, index], ridge)
    if not data.rows.is_block or data.n_rows > _MOST_ROWS:
        return None
    rows = data.block
    values = np.stack([rows.values_of(j) for j in features.tolist()], axis=1).astype(np.float64)
    positive, negative = rows.weights_by_class()
    return _Cells(values, negative, positive, ridge)


def count_cells(
    part: KernelRows, features: Sequence[int], low: Sequence[int], shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """Add up the weights of rows of each combination of values.

    Parameters
    ----------
    part : KernelRows
    features : sequence of k ints
        Of whole numbers.
    low : sequence of k ints
        Their smallest values.
    shape : tuple of k ints
        Numbers of values from there on.

    Returns
    -------
    ndarray of float64, shape (2, number of cells)
        Of rows without and with the outcome.
    """
    columns = [
        part.values_of(j).astype(np.intp) - least for j, least in zip(features, low, strict=True)
    ]
    cells = np.ravel_multi_index(tuple(columns), shape)
    positive, negative = part.weights_by_class()
    n_cells = int(np.prod(shape))
    return np.stack([np.bincount(cells, own, minlength=n_cells) for own in (negative, positive)])
