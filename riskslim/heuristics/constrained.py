r"""The heuristics on problems with constraints.

Descent and rounding as in :mod:`riskslim.heuristics.descent`, with one difference: which values a
coefficient may take depends on the other coefficients. They are called where the compiled
heuristics break a constraint. A move of the descent is compiled wherever the values that a
coefficient may take make up an interval; the rest evaluate the loss one vector at a time. Which
values the rates of a vector allow is no interval: with constraints on rates values are tried in the
order of their costs, and the intercept follows other coefficients.

A user's wish to stop is asked for between the candidates; what was found until then is kept.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import real
from riskslim.data.row_tiles import read_column
from riskslim.loss.sharing import real_scores

if TYPE_CHECKING:
    from riskslim.constraints.rows import ConstraintRows
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["Move", "descend", "project", "round_sequentially"]

# The vector after the best move, from a vector, lower and upper bounds, and the directions.
Move: TypeAlias = Callable[
    [NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]], NDArray[np.int64]
]

# Features that may come in for one that goes out, the most promising ones.
MAX_SUBSTITUTES = 8
# Values of a coefficient that are tried, the best first, until the rates are as demanded.
MAX_TRIES = 500


class _Candidate(NamedTuple):
    """An integer vector and its objective."""

    objective: float
    coef: NDArray[np.int64]


def descend(
    problem: RiskScoreProblem,
    coef: NDArray[np.int64],
    directions: NDArray[np.bool_],
    *,
    exhaustive: bool,
    swaps: bool,
    max_iterations: int,
    tolerance: float,
    compiled_move: Move,
    should_stop: Callable[[], bool],
) -> tuple[NDArray[np.int64], int]:
    """Discrete coordinate descent among the vectors that meet the constraints.

    Parameters
    ----------
    problem : RiskScoreProblem
        With constraints.
    coef : ndarray of int64, shape (d + 1,)
        Feasible.
    directions : ndarray of bool, shape (d + 1,)
        Coefficients that may change.
    exhaustive : bool
        Evaluate every value of a coefficient; otherwise bisection of the convex loss.
    swaps : bool
        Where no change helps, exchange a used feature for an unused one.
    max_iterations : int
    tolerance : float
        Relative improvement below which a move is none.
    compiled_move : callable
        Makes the best move of one coefficient, each within an interval of its own.
    should_stop : callable
        Asked between candidates; the best vector so far is returned.

    Returns
    -------
    coef : ndarray of int64, shape (d + 1,)
    n_iterations : int
    """
    descent = _Descent(problem, directions, exhaustive, compiled_move, should_stop)
    best = _Candidate(problem.objective(coef), coef)
    for iteration in range(max_iterations):
        target = best.objective - tolerance * abs(best.objective)
        move = descent.best_move(best.coef, target)
        if move is None and swaps:
            move = descent.best_swap(best.coef, target)
        if move is None:
            return best.coef, iteration
        best = move
    return best.coef, max_iterations


class _Descent:
    """Moves of one coefficient, and exchanges of two."""

    def __init__(
        self,
        problem: RiskScoreProblem,
        directions: NDArray[np.bool_],
        exhaustive: bool,
        compiled_move: Move | None,
        should_stop: Callable[[], bool],
    ) -> None:
        assert problem.rows_with_size is not None
        self.problem = problem
        self.rows: ConstraintRows = problem.rows_with_size
        self.directions = directions
        self.exhaustive = exhaustive
        self.compiled_move = compiled_move
        self.should_stop = should_stop
        self.prices = np.concatenate(([0.0], problem.l0_penalty))
        self.ridge = _point_ridge(problem)
        # Whether the intercept follows where another coefficient goes.
        self.follows = bool(problem.rates) and bool(directions[0])
        # Coefficients whose allowed values the intervals of a vector do not tell.
        self.scattered = np.full(len(directions), bool(problem.rates))
        for _, j, _ in self.rows.allowed_points:
            self.scattered[j] = True

    def best_move(self, coef: NDArray[np.int64], target: float) -> _Candidate | None:
        """Best change of one coefficient with an objective below the target."""
        if self.should_stop():
            return None
        values = self.rows.allowed(coef, self.problem.lower, self.problem.upper)
        best, left = self._best_compiled(coef, values, target)
        if not left.any():
            return best
        if best is not None:
            target = best.objective
        loss, gradient = self.problem.loss.value_and_gradient(coef)
        promise = np.where(left, self._promise(coef, loss, gradient, *values), np.inf)
        for k, j in enumerate(np.argsort(promise, kind="stable").tolist()):
            # What a coefficient promises is without a change of the intercept.
            if not promise[j] < (math.inf if self.follows and k < MAX_SUBSTITUTES else target):
                break
            if self.should_stop():
                break
            for found in self._moves(coef, j, values, gradient[j] + 2.0 * self.ridge[j] * coef[j]):
                if found.objective < target:
                    best, target = found, found.objective
        return best

    def _best_compiled(
        self,
        coef: NDArray[np.int64],
        values: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]],
        target: float,
    ) -> tuple[_Candidate | None, NDArray[np.bool_]]:
        """Best change of a coefficient that may take all values of an interval, and the others."""
        least, most, zero = values
        some = least <= most
        # Zero is looked at by the compiled descent wherever an interval contains it.
        whole = np.where(zero, ~some | ((least <= 1) & (most >= -1)), (least > 0) | (most < 0))
        whole &= ~self.scattered
        left = self.directions & ~whole
        lower = np.where(some, np.where(zero, np.minimum(least, 0), least), 0)
        upper = np.where(some, np.where(zero, np.maximum(most, 0), most), 0)
        moving = self.directions & whole & (some | zero) & (lower <= coef) & (coef <= upper)
        moving &= lower < upper
        if self.compiled_move is None or not moving.any():
            return None, self.directions
        moved = self.compiled_move(coef, lower, upper, moving)
        # What rounding errors let through is a matter of the last digits of a bound.
        if self.rows.broken(moved).size:
            return None, self.directions
        objective = self.problem.objective(moved)
        return (_Candidate(objective, moved) if objective < target else None), left

    def best_swap(self, coef: NDArray[np.int64], target: float) -> _Candidate | None:
        """Best exchange of a used feature for an unused one, with the best intercept to it."""
        lower, upper = self.problem.lower, self.problem.upper
        leaving = (coef != 0) & (lower <= 0) & (upper >= 0) & self.directions
        best = None
        for j in (1 + np.flatnonzero(leaving[1:])).tolist():
            if self.should_stop():
                break
            without = coef.copy()
            without[j] = 0
            for found in self._substitutes(without, j):
                if found.objective < target:
                    best, target = found, found.objective
        return best

    def _substitutes(self, coef: NDArray[np.int64], left: int) -> list[_Candidate]:
        """Vectors that use one more feature, after feature ``left`` has gone out."""
        values = self.rows.allowed(coef, self.problem.lower, self.problem.upper)
        least, most, _ = values
        entering = (coef == 0) & (least <= most) & self.directions
        entering[[0, left]] = False
        if not entering.any():
            return []
        loss, gradient = self.problem.loss.value_and_gradient(coef)
        promise = np.where(entering, self._promise(coef, loss, gradient, *values), np.inf)
        order = np.argsort(promise, kind="stable")[:MAX_SUBSTITUTES]
        without_zero = least, most, np.zeros_like(entering)
        found = [
            candidate
            for j in order.tolist()
            if entering[j] and not self.should_stop()
            for candidate in self._moves(coef, j, without_zero, gradient[j])
        ]
        return [self._with_best_intercept(candidate) for candidate in found]

    def _with_best_intercept(self, candidate: _Candidate) -> _Candidate:
        if not self.directions[0]:
            return candidate
        found = self.along_intercept(candidate.coef)
        return candidate if found is None or found.objective > candidate.objective else found

    def along_intercept(self, coef: NDArray[np.int64]) -> _Candidate | None:
        """The best intercept to a vector, which need not be feasible; None if there is none."""
        values = self.rows.allowed(coef, self.problem.lower, self.problem.upper)
        return self._along(coef, 0, values)

    def _moves(
        self,
        coef: NDArray[np.int64],
        j: int,
        values: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]],
        slope: float,
    ) -> list[_Candidate]:
        """The best vectors along a coefficient, and along the intercept from where that is best."""
        found = [self._along(coef, j, values, slope)]
        if self.follows and j and values[0][j] <= values[1][j]:
            line, ends = _Line(self.problem, coef, j), (int(values[0][j]), int(values[1][j]))
            nearest = line.around_minimum(*_downhill(int(coef[j]), *ends, slope))
            found += [self.along_intercept(line.at(value).coef) for value in nearest]
        return [candidate for candidate in found if candidate is not None]

    def _promise(
        self,
        coef: NDArray[np.int64],
        loss: float,
        gradient: NDArray[np.float64],
        least: NDArray[np.int64],
        most: NDArray[np.int64],
        zero: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Lower bound on the objective along each coefficient: the loss is above its tangent."""
        ridge = self.ridge
        fixed = loss + self.problem.penalty(coef) - np.where(coef != 0, self.prices, 0.0)
        fixed -= ridge * coef**2
        vertex = -gradient / np.where(ridge > 0.0, 2.0 * ridge, np.inf)
        values = np.stack((least, most, np.clip(vertex, least, most)))
        lowest = (gradient * (values - coef) + ridge * values**2).min(axis=0)
        used = np.where(least <= most, fixed + lowest + self.prices, np.inf)
        unused = np.where(zero, fixed - gradient * coef, np.inf)
        return np.where(self.directions, np.minimum(used, unused), np.inf)

    def _along(
        self,
        coef: NDArray[np.int64],
        j: int,
        values: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]],
        slope: float | None = None,
    ) -> _Candidate | None:
        """Best vector that differs from ``coef`` in coefficient j alone, or is equal to it.

        Where the derivative is not known, two losses say as well in which direction to go.
        """
        line = _Line(self.problem, coef, j)
        least, most, zero = int(values[0][j]), int(values[1][j]), bool(values[2][j])
        wanted = [0] if zero else []
        if self.exhaustive:
            wanted += [value for value in range(least, most + 1) if value]
        elif self.problem.rates:
            wanted += self._first_allowed(line, least, most)
        elif least <= most:
            slope = line.rise() if slope is None else slope
            # Of points that are allowed, too, the best are next to the minimum (convexity).
            near = line.around_minimum(*_downhill(int(coef[j]), least, most, slope))
            nearest = {value for at in near for value in self.rows.nearest(j, at) if value}
            wanted += sorted(value for value in nearest if least <= value <= most)
        # What rounding errors let through is a matter of the last digits of a bound.
        found = [line.at(value) for value in wanted]
        found = [one for one in found if not self.rows.broken(one.coef).size]
        return min(found, key=lambda one: one.objective, default=None)

    def _first_allowed(self, line: _Line, least: int, most: int) -> list[int]:
        """The value of the least cost, other than zero, that no constraint forbids, if any."""
        tried = itertools.islice(line.by_cost(least, most), MAX_TRIES)
        values = (value for value in tried if value)
        return list(
            itertools.islice((v for v in values if not self.rows.broken(line.at(v).coef).size), 1)
        )


def _downhill(value: int, least: int, most: int, slope: float) -> tuple[int, int]:
    """Part of an interval in which a convex function falls at first, if there is one."""
    if slope > 0:
        return (least, min(value, most)) if least <= value else (least, least)
    return (max(value, least), most) if value <= most else (most, most)


class _Line:
    """Objective along one coefficient, each value computed once."""

    def __init__(self, problem: RiskScoreProblem, coef: NDArray[np.int64], j: int) -> None:
        self.problem = problem
        self.coef = coef
        self.j = j
        self.ridge = float(_point_ridge(problem)[j])
        self._losses: dict[int, float] = {}

    def at(self, value: int) -> _Candidate:
        """Vector with this value, and its objective."""
        changed = self._changed(value)
        return _Candidate(self._loss(value) + self.problem.penalty(changed), changed)

    def rise(self) -> float:
        """By how much the cost rises from the value that the vector has to the next one."""
        value = int(self.coef[self.j])
        return self._cost(value + 1) - self._cost(value)

    def around_minimum(self, low: int, high: int) -> list[int]:
        """Values other than zero, within an interval, one of which has the least cost."""
        first, last = low, high
        while first < last:
            middle = (first + last) // 2
            if self._cost(middle) <= self._cost(middle + 1):
                last = middle
            else:
                first = middle + 1
        nearest = [first] if first else [-1, 1]
        return [value for value in nearest if low <= value <= high]

    def by_cost(self, low: int, high: int) -> Iterator[int]:
        """Values of an interval, those of less cost first."""
        if low > high:
            return
        start = self.around_minimum(low, high)[0]
        below, above = start, start + 1
        while below >= low or above <= high:
            if above > high or (below >= low and self._cost(below) <= self._cost(above)):
                yield below
                below -= 1
            else:
                yield above
                above += 1

    def _changed(self, value: int) -> NDArray[np.int64]:
        changed = self.coef.copy()
        changed[self.j] = value
        return changed

    def _cost(self, value: int) -> float:
        """Loss and ridge penalty of a value, which are convex in it."""
        return self._loss(value) + self.ridge * value * value

    def _loss(self, value: int) -> float:
        if value not in self._losses:
            self._losses[value] = self.problem.loss.value(self._changed(value))
        return self._losses[value]


def _point_ridge(problem: RiskScoreProblem) -> NDArray[np.float64]:
    """Ridge penalty of one point of each coefficient, intercept first."""
    return np.concatenate(([0.0], problem.point_ridge))


def project(
    problem: RiskScoreProblem, point: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.int64] | None:
    """Integers near a point that meet the constraints, found without a look at the loss.

    Parameters
    ----------
    problem : RiskScoreProblem
        With constraints.
    point : ndarray of float64, shape (d + 1,)
        Within the box.
    weight : ndarray of float64, shape (d + 1,)
        Coefficients of large weight are fixed first, those that are rounded to zero last.

    Returns
    -------
    ndarray of int64, shape (d + 1,), or None
        None where propagation allows for no value, or where rates are not as demanded.
    """
    rounding = _Rounding(problem, point, lambda: False)
    if not rounding.enter_box():
        return None
    order = np.argsort(-np.where(np.rint(point) != 0, weight, 0.0), kind="stable")
    coef = rounding.fix(order.tolist(), np.zeros(len(point)))
    return coef if coef is not None and problem.is_feasible(coef) else None


def round_sequentially(
    problem: RiskScoreProblem,
    point: NDArray[np.float64],
    cutoff: float,
    should_stop: Callable[[], bool],
) -> tuple[NDArray[np.int64] | None, int, str]:
    """Round one coefficient at a time, each such that the constraints can still be met.

    Parameters
    ----------
    problem : RiskScoreProblem
        With constraints and one scale.
    point : ndarray of float64, shape (d + 1,)
        Within the box.
    cutoff : float
        Give up where no rounding can have an objective below it.
    should_stop : callable
        Asked between candidates; once it is true, the rest is rounded without a look at the loss.

    Returns
    -------
    coef : ndarray of int64, shape (d + 1,), or None
    n_rounded : int
    reason : str
    """
    return _Rounding(problem, point, should_stop).run(cutoff)


class _Rounding:
    """A box that shrinks to one vector, and a point within it.

    First the fractional coefficients are fixed, at the rounding of the best objective; then the
    others at the values that they have, or next to them where that breaks a constraint.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        point: NDArray[np.float64],
        should_stop: Callable[[], bool],
    ) -> None:
        assert problem.rows_with_size is not None
        self.problem = problem
        self.rows: ConstraintRows = problem.rows_with_size
        self.point = point.copy()
        self.should_stop = should_stop
        self.ridge = _point_ridge(problem)
        self.lower, self.upper = problem.lower.copy(), problem.upper.copy()
        self.n_rounded = 0

    def run(self, cutoff: float) -> tuple[NDArray[np.int64] | None, int, str]:
        if not self.enter_box():
            return None, 0, "the constraints cannot be met"
        pending = self.point != np.rint(self.point)
        stopped = False
        while pending.any() and not stopped:
            stopped = self.should_stop()
            if stopped:
                break
            loss, gradient = self.problem.loss.value_and_gradient(self.point)
            if self._least_objective(pending, loss, gradient) >= cutoff:
                return None, self.n_rounded, "cutoff"
            done = self._round_best(pending, loss, gradient)
            stopped = done is None
            if done is not None:
                pending[done] = False
                pending &= self.point != np.rint(self.point)
        coef = self._settle()
        if coef is not None and not self.problem.is_feasible(coef):
            coef = self._with_intercept(coef)
        if coef is None:
            return None, self.n_rounded, "no rounding meets the constraints"
        return coef, self.n_rounded, "stopped" if stopped else "all rounded"

    def enter_box(self) -> bool:
        """Move the point to where propagation leaves room; False if it leaves none."""
        if not self.rows.propagate(self.lower, self.upper):
            return False
        np.clip(self.point, self.lower, self.upper, out=self.point)
        return True

    def _with_intercept(self, coef: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """The vector with an intercept at which its rates are as demanded."""
        if not self.problem.rates:
            return None
        every = np.ones(len(coef), bool)
        descent = _Descent(self.problem, every, False, None, self.should_stop)
        found = descent.along_intercept(coef)
        return found.coef if found and self.problem.is_feasible(found.coef) else None

    def _least_objective(
        self, pending: NDArray[np.bool_], loss: float, gradient: NDArray[np.float64]
    ) -> float:
        """Lower bound on the objective of the roundings of a point, from the tangent there."""
        low, high = np.floor(self.point), np.ceil(self.point)
        down = gradient * (low - self.point) + self.ridge * low**2
        up = gradient * (high - self.point) + self.ridge * high**2
        kept = (self.ridge * self.point**2)[~pending]
        stays = np.abs(self.point[1:]) >= 1.0
        prices = math.fsum(self.problem.l0_penalty[stays])
        return loss + float(np.minimum(down, up)[pending].sum()) + prices + float(kept.sum())

    def _round_best(
        self, pending: NDArray[np.bool_], loss: float, gradient: NDArray[np.float64]
    ) -> int | None:
        """Fix the coefficient and rounding of the best objective that leave the rest possible.

        Where none does, the first coefficient is left for later. None: the user wants to stop.
        """
        scores = _PointScores(self.problem, self.point)
        base = loss + self.problem.penalty(self.point)
        promising = []
        for j in np.flatnonzero(pending).tolist():
            for value in (math.floor(self.point[j]), math.ceil(self.point[j])):
                saved = self.problem.l0_penalty[j - 1] if j and not value else 0.0
                saved += self.ridge[j] * (self.point[j] ** 2 - value**2)
                promise = base + gradient[j] * (value - self.point[j]) - saved
                promising.append((promise, j, value))
        best, chosen = math.inf, None
        for promise, j, value in sorted(promising):
            if promise >= best:
                break  # the loss is above its tangent
            if self.should_stop():
                return None
            rounded = self.point.copy()
            rounded[j] = value
            objective = scores.loss_with(j, value) + self.problem.penalty(rounded)
            if objective < best and (box := self._box_with(j, value)) is not None:
                best, chosen = objective, (j, box)
        if chosen is None:
            return int(np.flatnonzero(pending)[0])
        j, box = chosen
        self._narrow(*box)
        self.n_rounded += 1
        return j

    def _box_with(self, j: int, value: int) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Return the rest of the box with a coefficient fixed; None if propagation says nothing."""
        if not self.lower[j] <= value <= self.upper[j]:
            return None
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[j] = upper[j] = value
        return (lower, upper) if self.rows.propagate(lower, upper) else None

    def _narrow(self, lower: NDArray[np.int64], upper: NDArray[np.int64]) -> None:
        self.lower, self.upper = lower, upper
        np.clip(self.point, lower, upper, out=self.point)

    def _settle(self) -> NDArray[np.int64] | None:
        """Fix what is left, used features first; None where propagation allows for no value."""
        coef = np.rint(self.point).astype(np.int64)
        if not self.rows.broken(coef).size:
            return coef
        _, gradient = self.problem.loss.value_and_gradient(coef)
        # What is of little use is left out first, so that the most useful one has to come in
        # where there are too few.
        order = np.lexsort((np.abs(gradient), -np.abs(self.point)))
        return self.fix(order.tolist(), gradient)

    def fix(self, order: Iterable[int], gradient: NDArray[np.float64]) -> NDArray[np.int64] | None:
        """Fix coefficients in an order, each next to where it is; None if no value is left."""
        for j in order:
            if self.lower[j] < self.upper[j]:
                values = self._values_near(j, float(gradient[j]))
                boxes = (self._box_with(j, value) for value in values)
                box = next((box for box in boxes if box is not None), None)
                if box is None:
                    return None
                self._narrow(*box)
        return self.lower.copy()

    def _values_near(self, j: int, slope: float) -> list[int]:
        """Values to be tried for a coefficient, the nearest first."""
        low, high, at = int(self.lower[j]), int(self.upper[j]), round(float(self.point[j]))
        downhill = -1 if slope > 0 else 1
        values = {at, at + downhill, at - downhill, at + 2 * downhill, 0, low, high}
        return sorted(values, key=lambda value: (abs(value - at), -downhill * value))


class _PointScores:
    """Scores of a point, from which a change of one coefficient is one column away."""

    def __init__(self, problem: RiskScoreProblem, point: NDArray[np.float64]) -> None:
        self.loss = problem.loss
        self.point = point
        self.scores = real_scores(self.loss, point)

    def loss_with(self, j: int, value: float) -> float:
        """Loss of the point with another value of a coefficient."""
        loss, step = self.loss, (value - self.point[j]) / self.loss.scale
        start = perf_counter()
        changed = self.scores + step * (self._column(j - 1) if j else 1.0)
        rows = loss.rows
        total = real.scores_loss(changed, rows.labels, rows.weights, loss.n_threads)
        loss.seconds += perf_counter() - start
        loss.n_evaluations += 1
        return float(total / rows.total_weight)

    def _column(self, feature: int) -> NDArray[np.float64] | NDArray[np.int8]:
        rows = self.loss.rows
        slot = rows.slots[feature]
        if slot >= 0:
            return rows.integer_columns[:, slot]
        return read_column(rows.real_row_tiles, int(-1 - slot), 0, rows.n_rows)
