"""What the kernels of the package are compared with: the same mathematics in plain NumPy.

Nothing here is slow on purpose, and nothing is cvariant. Features are a float64 matrix in column
order with a leading column of ones, products with it are BLAS gemv, losses of integer scores come
from a table by index, those of other scores from stable ``log1p`` and ``exp``. Work arrays are
allocated once and reused. The heuristics are the paper's algorithms (Ustun & Rudin 2019, Section
4) as they are printed, on the scores of all rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim import RiskScoreProblem

Vector = NDArray[np.float64]

# The share of a bracket at which golden-section search probes it.
GOLDEN = (3.0 - math.sqrt(5.0)) / 2.0

# A descent ends when the objective falls by no more than the rounding error of a loss.
TOLERANCE = 2.0**-46


class ReferenceLoss:
    """Normalised logistic loss on a float64 matrix.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
        0 or 1.
    sample_weight : array of shape (n,), optional
    largest_score : int, optional
        Bound on the absolute value of all integer scores. None: no table, always ``exp``.
    """

    def __init__(
        self,
        X: NDArray[np.generic],
        y: NDArray[np.generic],
        sample_weight: Vector | None = None,
        *,
        largest_score: int | None = None,
    ) -> None:
        n, d = X.shape
        self.matrix = np.empty((n, d + 1), order="F")
        self.matrix[:, 0] = 1.0
        self.matrix[:, 1:] = X
        self.labels = np.where(y == 1, 1.0, -1.0)
        self.weights = sample_weight
        self.total = float(n) if sample_weight is None else math.fsum(sample_weight)
        self.has_table = largest_score is not None
        if largest_score is not None:
            self.table_start = -largest_score
            margins = np.arange(-largest_score, largest_score + 1, dtype=np.float64)
            self.table = np.log1p(np.exp(-np.abs(margins))) - np.minimum(margins, 0.0)
            self.slope_table = -1.0 / (1.0 + np.exp(np.minimum(margins, 700.0)))
        self._margins, self._losses, self._slopes = np.empty(n), np.empty(n), np.empty(n)
        self._index = np.empty(n, dtype=np.intp)

    def scores(self, coef: ArrayLike) -> Vector:
        """Scores of all rows as a new array: one gemv."""
        return self.matrix @ np.asarray(coef, dtype=np.float64)

    def value(self, coef: ArrayLike) -> float:
        """Loss of a coefficient vector."""
        vector = np.asarray(coef, dtype=np.float64)
        np.dot(self.matrix, vector, out=self._margins)
        self._margins *= self.labels
        return self._loss(self._by_table(vector))

    def value_nonzero(self, coef: ArrayLike) -> float:
        """Loss of a coefficient vector, reading only the columns of non-zero coefficients."""
        vector = np.asarray(coef, dtype=np.float64)
        self._margins.fill(vector[0])
        for j in 1 + np.flatnonzero(vector[1:]):
            np.multiply(self.matrix[:, j], vector[j], out=self._losses)
            self._margins += self._losses
        self._margins *= self.labels
        return self._loss(self._by_table(vector))

    def value_and_gradient(self, coef: ArrayLike) -> tuple[float, Vector]:
        """Loss and gradient of a coefficient vector: two gemv."""
        vector = np.asarray(coef, dtype=np.float64)
        np.dot(self.matrix, vector, out=self._margins)
        self._margins *= self.labels
        if self._by_table(vector):
            loss = self._loss(by_table=True)
            self.slope_table.take(self._index, out=self._slopes, mode="clip")
        else:
            # exp(-|m|) gives both: log1p of it the loss, e / (1 + e) the sigmoid of -|m|.
            exponential, slopes = self._losses, self._slopes
            np.abs(self._margins, out=exponential)
            np.negative(exponential, out=exponential)
            np.exp(exponential, out=exponential)
            np.add(exponential, 1.0, out=slopes)
            np.divide(exponential, slopes, out=slopes)
            np.subtract(1.0, slopes, out=slopes, where=self._margins < 0)
            np.negative(slopes, out=slopes)
            np.log1p(exponential, out=self._losses)
            np.minimum(self._margins, 0.0, out=self._margins)
            self._losses -= self._margins
            loss = self._weighted_mean()
        self._slopes *= self.labels
        if self.weights is not None:
            self._slopes *= self.weights
        return loss, (self.matrix.T @ self._slopes) / self.total

    def hessian(self, coef: ArrayLike, features: Iterable[int]) -> Vector:
        """Second derivatives by the intercept and some coefficients: one gemv, one gemm."""
        np.dot(self.matrix, np.asarray(coef, dtype=np.float64), out=self._margins)
        curvature = 1.0 / (1.0 + np.exp(-np.abs(self._margins)))
        curvature *= 1.0 - curvature
        if self.weights is not None:
            curvature *= self.weights
        columns = [0, *(1 + j for j in features)]
        chosen = self.matrix if len(columns) == self.matrix.shape[1] else self.matrix[:, columns]
        return ((chosen * curvature[:, None]).T @ chosen) / self.total

    def value_of_scores(self, scores: NDArray[np.generic], *, by_table: bool) -> float:
        """Loss of given scores; by the table they must hold integers."""
        np.multiply(scores, self.labels, out=self._margins)
        return self._loss(by_table)

    def value_after_move(self, scores: Vector, j: int, step: float, *, by_table: bool) -> float:
        """Loss after coefficient j has changed by ``step``."""
        np.multiply(self.matrix[:, j], step, out=self._margins)
        self._margins += scores
        self._margins *= self.labels
        return self._loss(by_table)

    def _by_table(self, vector: Vector) -> bool:
        return self.has_table and bool((vector == np.rint(vector)).all())

    def _loss(self, by_table: bool) -> float:
        """Mean loss of the margins, which are overwritten."""
        if by_table:
            np.copyto(self._index, self._margins, casting="unsafe")
            self._index -= self.table_start
            self.table.take(self._index, out=self._losses, mode="clip")
        else:
            np.abs(self._margins, out=self._losses)
            np.negative(self._losses, out=self._losses)
            np.exp(self._losses, out=self._losses)
            np.log1p(self._losses, out=self._losses)
            np.minimum(self._margins, 0.0, out=self._margins)
            self._losses -= self._margins
        return self._weighted_mean()

    def _weighted_mean(self) -> float:
        if self.weights is None:
            return float(self._losses.sum()) / self.total
        return float(self.weights @ self._losses) / self.total


def golden_section(
    function: Callable[[int], float], low: int, high: int, start: int, value: float
) -> tuple[int, float]:
    """Minimise a convex function of integers by golden-section search.

    Parameters
    ----------
    function : callable
    low, high : int
        Interval, both ends included.
    start : int
        A point of the interval.
    value : float
        Value of the function there.

    Returns
    -------
    point : int
    value : float
    """
    # The minimum lies strictly between before and after; start is the best point known.
    before, after = low - 1, high + 1
    while after - before > 2:
        upwards = after - start > start - before
        width = after - start if upwards else start - before
        stride = max(1, round(GOLDEN * width))
        point = start + stride if upwards else start - stride
        tried = function(point)
        if tried < value:
            before, after = (start, after) if upwards else (before, start)
            start, value = point, tried
        elif upwards:
            after = point
        else:
            before = point
    return start, value


def coordinate_descent(
    loss: ReferenceLoss, problem: RiskScoreProblem, coef: ArrayLike
) -> tuple[NDArray[np.int64], float, int]:
    """Discrete coordinate descent, algorithm "DCD" of the paper.

    Parameters
    ----------
    loss : ReferenceLoss
    problem : RiskScoreProblem
        Gives bounds, penalties and sizes; its loss is not used.
    coef : array of shape (d + 1,)
        A feasible vector.

    Returns
    -------
    coef : int64 array of shape (d + 1,)
    objective : float
    n_moves : int
    """
    vector = np.array(coef, dtype=np.int64)
    scores = loss.scores(vector)
    current = loss.value_of_scores(scores, by_table=loss.has_table)
    ridge, n_moves = np.concatenate(([0.0], problem.point_ridge)), 0
    while True:
        objective = current + problem.penalty(vector)
        best, best_j, best_target, best_loss = math.inf, 0, 0, 0.0
        for j in range(len(vector)):
            target, value = _best_target(loss, problem, vector, scores, j, current, ridge[j])
            value -= ridge[j] * target**2
            moved = vector.copy()
            moved[j] = target
            tried = value + problem.penalty(moved)
            if tried < best:
                best, best_j, best_target, best_loss = tried, j, target, value
        if not best < objective - TOLERANCE * objective:
            return vector, objective, n_moves
        scores += loss.matrix[:, best_j] * float(best_target - vector[best_j])
        vector[best_j], current = best_target, best_loss
        n_moves += 1


def _best_target(
    loss: ReferenceLoss,
    problem: RiskScoreProblem,
    vector: NDArray[np.int64],
    scores: Vector,
    j: int,
    current: float,
    ridge: float,
) -> tuple[int, float]:
    """Feasible value of coefficient j with the best objective; its loss and ridge penalty."""
    at = int(vector[j])
    current += ridge * at**2

    def function(target: int) -> float:
        if target == at:
            return current
        moved = loss.value_after_move(scores, j, target - at, by_table=loss.has_table)
        return moved + ridge * target**2

    low, high = int(problem.lower[j]), int(problem.upper[j])
    size = problem.model_size(vector)
    if j == 0:
        return golden_section(function, low, high, at, current)
    if at == 0 and size >= problem.max_size:
        return at, current
    if at != 0 and size <= problem.min_size:
        # Zero is not feasible: the best of either side.
        sides = [(low, min(high, -1)), (max(low, 1), high)]
        return min(
            (
                golden_section(function, first, last, first, function(first))
                for first, last in sides
                if first <= last
            ),
            key=lambda found: found[1],
        )
    target, value = golden_section(function, low, high, at, current)
    if target != 0 and low <= 0 <= high:
        # The penalty jumps at zero.
        at_zero = function(0)
        if at_zero <= value + problem.l0_penalty[j - 1]:
            return 0, at_zero
    return target, value


def sequential_rounding(
    loss: ReferenceLoss, problem: RiskScoreProblem, coef: ArrayLike
) -> tuple[NDArray[np.int64], float, int]:
    """Sequential rounding, algorithm "SequentialRounding" of the paper.

    Parameters
    ----------
    loss : ReferenceLoss
    problem : RiskScoreProblem
        Gives the penalties; its sizes must not restrict the rounding.
    coef : array of shape (d + 1,)

    Returns
    -------
    coef : int64 array of shape (d + 1,)
    objective : float
    n_rounded : int
    """
    if problem.max_size < int(problem.usable.sum()) or problem.min_size > 0:
        raise ValueError("the paper's algorithm knows no limits of the model size")
    vector = np.array(coef, dtype=np.float64)
    scores = loss.scores(vector)
    pending = [int(j) for j in np.flatnonzero(vector != np.rint(vector))]
    n_pending = len(pending)
    while pending:
        best = {np.floor: (math.inf, 0), np.ceil: (math.inf, 0)}
        for direction, (lowest, _) in best.items():
            for j in pending:
                rounded = vector.copy()
                rounded[j] = direction(vector[j])
                step = float(rounded[j] - vector[j])
                tried = loss.value_after_move(scores, j, step, by_table=False)
                tried += problem.penalty(rounded)
                if tried < lowest:
                    lowest = tried
                    best[direction] = (tried, j)
        direction = np.ceil if best[np.ceil][0] < best[np.floor][0] else np.floor
        j = best[direction][1]
        target = direction(vector[j])
        scores += loss.matrix[:, j] * float(target - vector[j])
        vector[j] = target
        pending.remove(j)
    integers = vector.astype(np.int64)
    return integers, loss.value(integers) + problem.penalty(integers), n_pending


class StreamRead:
    """Read two float64 arrays once, as in STREAM, with one BLAS dot product.

    Parameters
    ----------
    n_bytes : int
        Size of both arrays together.
    """

    def __init__(self, n_bytes: int) -> None:
        half = n_bytes // 16
        self.first, self.second = np.full(half, 0.5), np.full(half, 2.0)
        self.n_bytes = self.first.nbytes + self.second.nbytes

    def __call__(self) -> float:
        return float(self.first @ self.second)
