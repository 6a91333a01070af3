r"""Search of supports that have columns of many values, beside items of few.

Real numbers and integers of more than eight values have no cells to count. The search goes on as
:class:`~riskslim.heuristics.supports.SupportSearch` does, on the rows:

1. **Step.** For a column that is not in the support, the best points and the best intercept to them
   are searched in turns, along the loss itself. For columns of real numbers a quadratic model of
   the loss is no substitute: where a column has a long tail, the best point is far from where the
   curvature at zero points to. Columns of integers are looked at if that model has them
   among the :data:`SHORTLIST` best.
2. **Polish.** Discrete coordinate descent among the points of the support and the intercept.

A step reads the rows some twenty times for each column; widths are smaller than those of items
alone. With several scales, each vector is looked at with its best one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim.data.packed import BYTE_VALUES
from riskslim.heuristics.descent import best_line_steps, polished_within
from riskslim.heuristics.supports import Support, SupportSearch, Width, by_objective
from riskslim.loss.sharing import real_scores, take_over_work

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["MixedSearch", "predicted_gains"]

FIRST = Width(3, 1, 4, (3, 2))
NEXT = Width(5, 3, 6, (4, 3))
# Columns of integers whose steps are searched, of those that a quadratic model finds best.
SHORTLIST = 24
# Descents, each at the best scale of the one before, where there are several scales.
MOST_SCALES = 4
_TOLERANCE = 1e-12
_SMALL = 1e-300


def predicted_gains(problem: RiskScoreProblem, vector: NDArray[np.int64]) -> NDArray[np.float64]:
    """Predict the objective's change by the best step of each column of integers.

    Parameters
    ----------
    problem : RiskScoreProblem
        With one scale.
    vector : ndarray of int64, shape (d + 1,)

    Returns
    -------
    ndarray of float64, shape (number of columns of integers,)
        By a quadratic model of the loss in the column and the intercept, to which the ridge penalty
        is added; infinite for columns that are used.
    """
    loss, rows = problem.loss, problem.loss.rows
    scores = real_scores(loss, vector.astype(np.float64))
    risk = 0.5 * (1.0 + np.tanh(0.5 * scores))
    weights = rows.each_weight
    weights = weights / rows.total_weight
    curvature = weights * risk * (1.0 - risk) / loss.scale**2
    slope = weights * (risk - (rows.labels > 0)) / loss.scale
    total, rise = curvature.sum(), slope.sum()
    gain, ridge = np.full(len(rows.integer_index), np.inf), problem.point_ridge
    for k, j in enumerate(rows.integer_index.tolist()):
        low, high = problem.lower[1 + j], problem.upper[1 + j]
        if vector[1 + j] or low == high:
            continue
        codes = rows.integer_columns[:, k].view(np.uint8)
        curved, sloped = np.bincount(codes, curvature, 256), np.bincount(codes, slope, 256)
        mixed = curved @ BYTE_VALUES
        share = mixed / max(total, _SMALL)  # the intercept follows
        h = max(float(curved @ BYTE_VALUES**2 - share * mixed), _SMALL) + 2.0 * ridge[j]
        g = float(sloped @ BYTE_VALUES - share * rise)
        steps = {round(max(min(-g / h, high), low)), 1, -1}
        changes = [g * v + 0.5 * h * v * v for v in steps if v and low <= v <= high]
        gain[k] = min(changes, default=np.inf) + problem.l0_penalty[j]
    return gain


class MixedSearch(SupportSearch):
    """One search of supports among all features; see the module.

    Parameters
    ----------
    problem : RiskScoreProblem
    stop : int64 array of shape (1,)
    should_stop : callable

    Notes
    -----
    Items are features here, numbered from 0, and the points of a support are those of the problem.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        stop: NDArray[np.int64],
        should_stop: Callable[[], bool],
    ) -> None:
        self._begin(problem, np.arange(problem.n_features), stop, should_stop)

    @classmethod
    def of(
        cls,
        problem: RiskScoreProblem,
        *,
        stop: NDArray[np.int64] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> MixedSearch | None:
        """The search for a problem; None where it has nothing to choose.

        Parameters
        ----------
        problem : RiskScoreProblem
        stop : int64 array of shape (1,), optional
        should_stop : callable, optional

        Returns
        -------
        MixedSearch or None
        """
        if problem.infeasibility is not None or problem.max_size == 0:
            return None
        flag = np.zeros(1, np.int64) if stop is None else stop
        return cls(problem, flag, should_stop or (lambda: False))

    def _stages(self, given: list[Support], effort: int) -> Iterator[Iterator[NDArray[np.int64]]]:
        # Exchanges in a good vector find more than a beam does, in a third of the time.
        for support in given:
            yield self._offer([support])
            if effort >= 1:
                yield self._exchange(support, 1, FIRST)
        if effort >= 1:
            yield self._shake()
        if effort >= 2:
            yield self._look_around(FIRST, [], 1)
            yield self._shake()
            yield self._look_around(NEXT, [], 1)
            yield self._look_further(NEXT)
            yield self._shake()

    def _shake(self) -> Iterator[NDArray[np.int64]]:
        """Move a point of the best vector, and polish the others, until that helps no more."""
        while self.best is not None:
            before, support = self.objective, self._of_vector(self.best, self.objective)
            for a, by in itertools.product(range(len(support.points)), (-1, 1)):
                if self._stopped():
                    return
                yield from self._offer(self._moved(support, a, by))
            if not self.objective < before - _TOLERANCE:
                return

    def _moved(self, support: Support, a: int, by: int) -> list[Support]:
        """The support with one of its points moved, if it may be, and the others polished."""
        vector = self._vector(support.items, support.points)
        where = [0, *(1 + i for i in support.items)][a]
        vector[where] += by
        if not self.problem.lower[where] <= vector[where] <= self.problem.upper[where]:
            return []
        kept = [i for i in support.items if 1 + i != where]
        scaled = self._at_best_scale(vector)
        vector, n_evaluations = polished_within(
            scaled, vector, np.array(kept, np.intp), self.stop, intercept=where != 0
        )
        self._count(scaled, n_evaluations)
        moved = self._of_vector(vector, self.problem.objective(vector))
        return [self._polished(moved.items, moved.points, pairs=False)]

    # ---- supports --------------------------------------------------------------------------

    def _spread(self, supports: list[Support]) -> Iterator[Support]:
        return iter(supports)  # features of many values are no near-copies of each other

    def _shifted(self, support: Support) -> Support:
        return support

    def _has_room(self, items: Iterable[int]) -> bool:
        return True

    def _grown(
        self,
        support: Support,
        width: int,
        banned: frozenset[int] = frozenset(),
        chain: int | None = None,
    ) -> list[Support]:
        """A support with each of the most promising features, not polished yet."""
        if self._stopped() or len(support.items) >= self.problem.max_size:
            return []
        vector = self._vector(support.items, support.points)
        scaled = self._at_best_scale(vector)
        steps = best_line_steps(scaled, vector, self._shortlist(scaled, vector), self.stop)
        self._count(scaled, steps.n_evaluations)
        self.n_steps += 1
        objectives = steps.objective[1:].copy()
        objectives[list(banned)] = np.inf
        found: list[Support] = []
        for i in np.argsort(objectives, kind="stable").tolist():
            if len(found) == width or not np.isfinite(objectives[i]):
                break
            items = tuple(sorted((*support.items, i)))
            if self._is_extensible(items):
                points = [int(steps.intercept[1 + i]), *support.points[1:]]
                points.insert(1 + items.index(i), int(steps.value[1 + i]))
                found.append(Support(items, tuple(points), float(objectives[i])))
        return found

    def _shortlist(self, scaled: RiskScoreProblem, vector: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Features whose steps are searched: all real ones, and the most promising others."""
        rows = scaled.loss.rows
        wanted = scaled.usable.copy()
        columns = rows.integer_index
        if np.count_nonzero(wanted[columns]) <= SHORTLIST:
            return wanted
        gain = predicted_gains(scaled, vector)
        self.work.columns(rows.n_rows, 2 * len(columns))
        order = columns[np.argsort(gain, kind="stable")]
        wanted[order[SHORTLIST:]] = False
        return wanted

    def _polished(
        self, items: tuple[int, ...], points: tuple[int, ...] | None, *, pairs: bool
    ) -> Support:
        """Improve the points of some features on the rows."""
        if points is None:
            where = [0, *(1 + i for i in items)]
            points = tuple(np.clip(0, self.problem.lower[where], self.problem.upper[where]))
        vector = self._vector(items, points)
        features = np.array(items, np.intp)
        best, least = vector, np.inf
        for _ in range(1 if self.problem.scales.is_single else MOST_SCALES):
            scaled = self._at_best_scale(vector)
            vector, n_evaluations = polished_within(scaled, vector, features, self.stop)
            self._count(scaled, n_evaluations)
            objective = self.problem.objective(vector)
            if not objective < least - _TOLERANCE:
                break
            best, least = vector, objective
        self.n_polished += 1
        return self._of_vector(best, least)

    def _all_polished(self, supports: Iterable[Support], *, pairs: bool) -> list[Support]:
        """Polish supports, best first; where points become zero, several become the same one."""
        polished = super()._all_polished(supports, pairs=pairs)
        first = {one.items: one for one in reversed(polished)}
        return sorted(first.values(), key=by_objective)

    def _of_vector(self, vector: NDArray[np.int64], objective: float) -> Support:
        used = np.flatnonzero(vector[1:])
        points = (int(vector[0]), *vector[1 + used].tolist())
        return Support(tuple(used.tolist()), points, objective)

    def _support_of(self, vector: NDArray[np.int64]) -> Support | None:
        return self._of_vector(vector, self.problem.objective(vector))

    def _offer(self, supports: Iterable[Support]) -> Iterator[NDArray[np.int64]]:
        """Yield the vectors of supports that are better than the best one."""
        for support in supports:
            if support.objective < self.objective - _TOLERANCE and not self.stop[0]:
                yield from self._take(self._vector(support.items, support.points))

    # ---- scales and work ---------------------------------------------------------------------

    def _at_best_scale(self, vector: NDArray[np.int64]) -> RiskScoreProblem:
        if self.problem.scales.is_single:
            return self.problem
        return self.problem.at_scale(self.problem.best_scale(vector))

    def _count(self, scaled: RiskScoreProblem, n_evaluations: int) -> None:
        loss = scaled.loss
        if scaled is not self.problem:
            take_over_work(self.problem.loss, loss)
        self.work.losses(loss.n_rows, n_evaluations, integer=loss.form == "lookup_table")
