"""Good rules by changes of single points and exchanges of features, counted on the rows.

Nothing is proven here, and nothing is asked of the features: columns of many values, and scores of
more items than tables of supports can have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim.operating_point import RequiredShare

if TYPE_CHECKING:
    from riskslim.data.store import KernelRows
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["exchanged"]

# Points of a feature that are tried: more are tried at even distances.
MOST_TRIED = 21


def exchanged(
    problem: RiskScoreProblem,
    rows: KernelRows,
    required: RequiredShare,
    start: NDArray[np.int64],
    should_stop: Callable[[], bool],
) -> NDArray[np.int64]:
    """Improve the rule of a feasible vector as long as one change of it helps.

    Parameters
    ----------
    problem : RiskScoreProblem
    rows : KernelRows
    required : RequiredShare
    start : ndarray of int64, shape (d + 1,)
    should_stop : callable
        Asked between changes.

    Returns
    -------
    ndarray of int64, shape (d + 1,)
        Feasible; ``start`` where no change of it helps.
    """
    counting = _Counting(rows, required)
    best, scores = start.copy(), counting.scores(start)
    wrong, improved = counting.wrong(scores), True
    while improved and wrong > 0.0:
        improved = False
        for changes in _changes(problem, best):
            if should_stop():
                return best
            changed = scores.copy()
            for j, points in changes:
                changed += float(points - best[1 + j]) * counting.column(j)
            found = counting.wrong(changed)
            if not found < wrong:
                continue
            candidate = best.copy()
            for j, points in changes:
                candidate[1 + j] = points
            if problem.is_feasible(candidate):
                best, scores, wrong, improved = candidate, changed, found, True
                break
    return best


def _changes(problem: RiskScoreProblem, coef: NDArray[np.int64]) -> Iterator[list[tuple[int, int]]]:
    """Other points of one feature, of a new one also in the place of one that is used."""
    used = np.flatnonzero(coef[1:]).tolist()
    others = [j for j in np.flatnonzero(problem.usable).tolist() if j not in used]
    for j in [*used, *others]:
        low, high = int(problem.lower[1 + j]), int(problem.upper[1 + j])
        step = max((high - low) // (MOST_TRIED - 1), 1)
        for points in range(low, high + 1, step):
            if points == coef[1 + j]:
                continue
            if j in used or len(used) < problem.max_size:
                yield [(j, points)]
            elif points:
                yield from ([(i, 0), (j, points)] for i in used)


class _Counting:
    """Weight that the best threshold of given scores calls wrong.

    Parameters
    ----------
    rows : KernelRows
    required : RequiredShare
    """

    def __init__(self, rows: KernelRows, required: RequiredShare) -> None:
        positive, negative = rows.weights_by_class()
        of_positives = required.name == "sensitivity"
        self._rows, self._sign = rows, 1.0 if of_positives else -1.0
        self._own, self._other = (positive, negative) if of_positives else (negative, positive)
        self._limit = required.most_missed(math.fsum(self._own))
        self._columns: dict[int, NDArray[np.float64]] = {}

    def column(self, j: int) -> NDArray[np.float64]:
        """Values of a feature."""
        if j not in self._columns:
            self._columns[j] = self._rows.values_of(j).astype(np.float64)
        return self._columns[j]

    def scores(self, coef: NDArray[np.int64]) -> NDArray[np.float64]:
        """Sums of points, the intercept left out."""
        scores = np.zeros(self._rows.n_rows)
        for j in np.flatnonzero(coef[1:]).tolist():
            scores += float(coef[1 + j]) * self.column(j)
        return scores

    def wrong(self, scores: NDArray[np.float64]) -> float:
        """Weight of the other class that is called wrong."""
        values, place = np.unique(self._sign * scores, return_inverse=True)
        own = np.bincount(place, self._own, len(values))
        other = np.bincount(place, self._other, len(values))
        n = int(np.count_nonzero(np.cumsum(own) <= self._limit))
        return float(other[n:].sum())
