"""State of one lattice cutting plane search, shared by the driver and CPLEX's callbacks.

The callbacks translate between CPLEX and this state; everything that decides about cuts,
incumbents and bounds is here, and knows nothing of CPLEX.
"""

from __future__ import annotations

import dataclasses
import logging
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim.bounds import ObjectiveBounds, chained_updates
from riskslim.engines.lattice_cpa.cuts import CutPool
from riskslim.engines.lattice_cpa.formulation import Cut, accuracy_of
from riskslim.engines.lattice_cpa.start import penalty_ranges
from riskslim.engines.settings import LatticeCPASettings
from riskslim.heuristics.descent import discrete_coordinate_descent, round_and_polish
from riskslim.solution import Certificate, Trace, TraceRecord, optimality_gap

if TYPE_CHECKING:
    from riskslim.engines.lattice_cpa.relaxation import Relaxation
    from riskslim.engines.lattice_cpa.ridge import RidgeRow, RidgeRows
    from riskslim.heuristics.subsampling import Subsampling
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["LatticeSearch", "report"]

logger = logging.getLogger("riskslim.lattice_cpa")

# Cuts kept for lattice points that CPLEX visits again; beyond this the memory is emptied.
MAX_REMEMBERED_CUTS = 20_000
# The lower bound has to close this share of the open gap before it counts as moved: rounding
# and polishing at every change in the last digit would take the time of the search itself.
MOVED = 0.01
# A cut is worth a row where the surrogate's loss is too low by more than a solver could tell
# apart: 1e-9 in its units is 1e-12 of loss.
VIOLATION = 1e-11
# Nodes whose rounds of cuts are remembered: more than threads work on at a time.
COUNTED_NODES = 1000
# Change of the gap that is worth a line of the log and a record of the trace.
RECORDED_CHANGE = 1e-3


class LatticeSearch:
    """Incumbent, bounds and cuts of one run.

    Parameters
    ----------
    problem : RiskScoreProblem
    settings : LatticeCPASettings
        With a number of ``fractional_rounds``.
    bounds : ObjectiveBounds
        Valid bounds to start from.
    started : float
        ``time.perf_counter()`` at the start of the run.
    progress : callable, optional
        Called with every new :class:`~riskslim.solution.TraceRecord`.
    subsampling : Subsampling, optional
        Where LP solutions are rounded; on all rows if None.
    cutoff : float, default infinity
        The solver sees all vectors with an objective below it, but not all others: its bounds
        hold up to here.
    should_stop : callable, optional
        Ends the polishing of a vector under constraints.

    Attributes
    ----------
    coef : ndarray of int64, shape (d + 1,), or None
        The incumbent, with ``objective``.
    lower_bound : float
        Valid to within ``tolerance``.
    beyond_constraints : bool
        Whether the solver keeps to points that break a constraint by next to nothing.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        settings: LatticeCPASettings,
        bounds: ObjectiveBounds,
        started: float,
        progress: Callable[[TraceRecord], None] | None = None,
        subsampling: Subsampling | None = None,
        cutoff: float = math.inf,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        self.problem = problem
        self.subsampling = subsampling
        self.cutoff = cutoff
        self.should_stop = should_stop
        self.stop = np.zeros(1, np.int64)  # not zero: descents are to end
        assert settings.fractional_rounds is not None
        self.settings = settings
        self.fractional_rounds = settings.fractional_rounds
        self.bounds = bounds
        self.started = started
        self.progress = progress
        self.coef: NDArray[np.int64] | None = None
        self.objective = math.inf
        self.coef_loss = math.inf
        self.trace = Trace()
        self.nodes = self.nodes_before = 0
        self.floor = 0.0  # a lower bound in which the solver has no part
        self.n_cuts = 0
        self.incumbent_updates = 0
        self.refused = 0
        self.distrusted = False
        self.beyond_constraints = False
        self._accuracy = accuracy_of(problem)
        self._penalties = penalty_ranges(problem)
        self._cuts: dict[bytes, Cut] = {}
        self._pool = CutPool(len(problem.lower), settings.cut_pool)
        self._rounds: dict[int, int] = {}
        self._ridge_rounds: dict[int, int] = {}
        self._polished: set[bytes] = set()
        self._rounded: set[bytes] = set()
        self._rounded_at = -math.inf
        self._recorded_gap = 1.0

    @property
    def lower_bound(self) -> float:
        """Best valid lower bound so far."""
        return min(self.bounds.objective_min, self.objective)

    @property
    def tolerance(self) -> float:
        """Absolute accuracy of the solver's bounds."""
        return self._accuracy.bound_tolerance(self.objective)

    @property
    def gap(self) -> float:
        """Optimality gap of the incumbent, 1 without one."""
        if self.coef is None:
            return 1.0
        return optimality_gap(self.objective, self.lower_bound)

    def cut_at(self, coef: NDArray[Any]) -> Cut:
        """Cut of the loss at a point, computed once per point.

        Parameters
        ----------
        coef : ndarray, shape (d + 1,)

        Returns
        -------
        Cut
        """
        point = np.asarray(coef, dtype=np.float64)
        key = point.tobytes()
        cut = self._cuts.get(key)
        if cut is None:
            if len(self._cuts) >= MAX_REMEMBERED_CUTS:
                self._cuts.clear()
            cut = self._cuts[key] = self._evaluated(coef)
        return cut

    def follow(self, relaxation: Relaxation) -> None:
        """Go on from the search without constraints on rates: its bound, trace and counts.

        Parameters
        ----------
        relaxation : Relaxation
        """
        self.floor = relaxation.floor
        floor = max(self.bounds.objective_min, self.floor)
        self.bounds = dataclasses.replace(self.bounds, objective_min=floor)
        self.trace = relaxation.trace.lowered(self.floor)
        self.nodes_before = relaxation.statistics.nodes
        self.n_cuts = relaxation.statistics.cuts
        self.incumbent_updates = relaxation.statistics.incumbent_updates

    def begin_with(self, trace: Trace) -> None:
        """Go on from scores that were met before the search began, the last one of them too.

        Parameters
        ----------
        trace : Trace
            A record of each of them.
        """
        self.trace = trace
        self.incumbent_updates = max(len(trace) - 1, 0)  # the last one is counted when it is taken

    def remember(self, cuts: list[Cut]) -> None:
        """Put cuts of the initialization into the pool.

        Parameters
        ----------
        cuts : list of Cut
        """
        self.n_cuts += len(cuts)
        for cut in cuts if self._pool.capacity else ():
            self._pool.add(cut)

    def fractional_cut(
        self, point: NDArray[np.float64], surrogate_loss: float, node: int
    ) -> Cut | None:
        """Cut for the LP solution of a node, if one is worth its row.

        The loss is convex, so that every cut holds at all nodes.

        Parameters
        ----------
        point : ndarray of float64, shape (d + 1,)
            Coefficients of the LP solution.
        surrogate_loss : float
            What the surrogate says of their loss.
        node : int
            Any number that tells nodes apart: each gets ``fractional_rounds`` cuts.

        Returns
        -------
        Cut or None
            None where the surrogate is accurate enough, or the node has had its cuts.
        """
        if self._rounds.get(node, 0) >= self.fractional_rounds:
            return None
        too_low = self._too_low()
        # The solver drops cuts that were slack for a while: they are found again here.
        cut, value = self._pool.highest(point)
        if cut is None or value - surrogate_loss <= too_low:
            cut = self._evaluated(point)
            if cut.loss - surrogate_loss <= too_low:
                return None
        _count(self._rounds, node)
        return cut

    def fractional_ridge(self, ridge: RidgeRows, values: list[float], node: int) -> list[RidgeRow]:
        """Rows of the ridge penalty for the LP solution of a node, if they are worth it.

        Parameters
        ----------
        ridge : RidgeRows
        values : list of float
            As the rows take them.
        node : int
            As in :meth:`fractional_cut`, with as many rounds.

        Returns
        -------
        list of RidgeRow
        """
        if self._ridge_rounds.get(node, 0) >= self.fractional_rounds:
            return []
        rows = ridge.violated(values, self._too_low())
        if rows:
            _count(self._ridge_rounds, node)
        return rows

    def _too_low(self) -> float:
        """Loss, or penalty, that a fractional solution may claim too little of."""
        if self.coef is None:
            return VIOLATION
        open_gap = self.objective - self.lower_bound
        return max(VIOLATION, self.settings.fractional_threshold * open_gap)

    def _evaluated(self, coef: NDArray[Any]) -> Cut:
        loss, gradient = self.problem.loss.value_and_gradient(coef)
        cut = Cut(np.asarray(coef, dtype=np.float64), loss, gradient)
        self.n_cuts += 1
        if self._pool.capacity:
            self._pool.add(cut)
        return cut

    def consider(self, coef: NDArray[np.int64], loss: float) -> bool:
        """Take a feasible vector as incumbent if it is better than the present one.

        Parameters
        ----------
        coef : ndarray of int64, shape (d + 1,)
        loss : float
            Its loss, computed by this package.

        Returns
        -------
        bool
            Whether it became the incumbent.
        """
        objective = loss + self.problem.penalty(coef)
        if objective >= self.objective or not self.problem.is_feasible(coef):
            return False
        self.coef, self.objective, self.coef_loss = coef.copy(), objective, loss
        self.incumbent_updates += 1
        self._update_bounds(
            dataclasses.replace(
                self.bounds, objective_max=min(self.bounds.objective_max, objective)
            )
        )
        self._record()
        return True

    def polish(self, coef: NDArray[np.int64], loss: float) -> bool:
        """Polish an integer solution that is close enough to the incumbent.

        Parameters
        ----------
        coef : ndarray of int64, shape (d + 1,)
        loss : float
            Its loss.

        Returns
        -------
        bool
            Whether the polished solution became the incumbent.
        """
        objective = loss + self.problem.penalty(coef)
        if not self.settings.polishing or not self.problem.is_feasible(coef):
            return False
        if objective > self.objective * (1.0 + self.settings.polishing_margin):
            return False
        if not _first_time(self._polished, coef):
            return False
        polished = discrete_coordinate_descent(
            self.problem,
            coef,
            swaps=self.settings.swaps,
            should_stop=self.should_stop,
            stop=self.stop,
        )
        assert polished.coefficients is not None
        self._polished.add(polished.coefficients.tobytes())
        return self._take(polished.coefficients)

    def round(self, point: NDArray[np.float64]) -> bool:
        """Round an LP solution sequentially and polish it, if the lower bound has moved.

        Parameters
        ----------
        point : ndarray of float64, shape (d + 1,)
            Within the box.

        Returns
        -------
        bool
            Whether the result became the incumbent.
        """
        if not self.settings.rounding or not self._has_moved():
            return False
        self._rounded_at = self.bounds.objective_min
        pattern = np.concatenate((np.floor(point), np.ceil(point)))
        if not _first_time(self._rounded, pattern):
            return False
        found = self._rounded_and_polished(point)
        if found is None:
            return False
        # Polishing again costs little, and may exchange features.
        improved = self._take(found[0])
        return self.polish(found[0], self.problem.loss.value(found[0])) or improved

    def _rounded_and_polished(
        self, point: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], float] | None:
        settings = self.settings
        if self.subsampling is None:
            return round_and_polish(
                self.problem, point, self.objective, polish=settings.polishing, stop=self.stop
            )
        return self.subsampling.round_and_polish(
            self.problem,
            point,
            objective_max=self.objective,
            objective_min=self.bounds.objective_min,
            cutoff=self.objective,
            polish=settings.polishing,
            swaps=settings.swaps,
            stop=self.stop,
        )

    def _has_moved(self) -> bool:
        if self.coef is None or not math.isfinite(self._rounded_at):
            return True
        open_gap = self.objective - self._rounded_at
        return self.bounds.objective_min - self._rounded_at > MOVED * max(open_gap, 0.0)

    def _take(self, coef: NDArray[np.int64]) -> bool:
        return self.consider(coef, self.problem.loss.value(coef))

    def raise_lower_bound(self, bound: float) -> bool:
        """Take over a lower bound on the optimal value, if it is better.

        Parameters
        ----------
        bound : float
            As the solver states it; valid to within its tolerance.

        Returns
        -------
        bool
            Whether the bound improved.
        """
        safe = min(bound - self.tolerance, self.objective, self.cutoff)
        if self.distrusted or not math.isfinite(safe) or safe <= self.bounds.objective_min:
            return False
        self._update_bounds(dataclasses.replace(self.bounds, objective_min=safe))
        if self._recorded_gap - self.gap >= RECORDED_CHANGE:
            self._record()
        return True

    def raise_floor(self, bound: float) -> None:
        """Take over a lower bound that holds as it is, and in which the solver has no part.

        Parameters
        ----------
        bound : float
        """
        self.floor = max(self.floor, bound)
        safe = min(self.floor, self.objective)
        if safe > self.bounds.objective_min:
            self._update_bounds(dataclasses.replace(self.bounds, objective_min=safe))
            if self._recorded_gap - self.gap >= RECORDED_CHANGE:
                self._record()

    def distrust(self, bounds: ObjectiveBounds) -> None:
        """Take back every lower bound that came from the solver, in the trace as well.

        Parameters
        ----------
        bounds : ObjectiveBounds
            Valid bounds that the solver had no part in.
        """
        self.distrusted = True
        trusted = max(bounds.objective_min, self.floor)
        self.bounds = dataclasses.replace(
            bounds,
            objective_min=trusted,
            objective_max=min(bounds.objective_max, self.objective),
        )
        self.trace = self.trace.lowered(trusted)

    def finish(self, certificate: Certificate) -> None:
        """Close the trace with what the certificate states.

        Parameters
        ----------
        certificate : Certificate
        """
        self.bounds = dataclasses.replace(self.bounds, objective_min=certificate.lower_bound)
        self.trace = self.trace.lowered(certificate.lower_bound)
        self._record()

    def _update_bounds(self, bounds: ObjectiveBounds) -> None:
        if self.settings.chained_updates:
            bounds = chained_updates(bounds, **self._penalties)
            self.problem.loss.tighten(bounds.size_max, should_stop=self._is_flagged)
        self.bounds = bounds

    def _is_flagged(self) -> bool:
        return bool(self.stop[0])

    def _record(self) -> None:
        record = TraceRecord(
            time=time.perf_counter() - self.started,
            upper_bound=self.objective,
            lower_bound=self.lower_bound,
            gap=self.gap,
            nodes=self.nodes_before + self.nodes,
            cuts=self.n_cuts,
            incumbent_updates=self.incumbent_updates,
        )
        self.trace.append(record)
        self._recorded_gap = record.gap
        report(record, self.progress)


def report(record: TraceRecord, progress: Callable[[TraceRecord], None] | None) -> None:
    """Log a record, and tell the user of it.

    Parameters
    ----------
    record : TraceRecord
    progress : callable, optional
        The user's.
    """
    logger.info(
        "%8.1fs  objective %.8g  bound %.8g  gap %7.2f%%  nodes %d  cuts %d",
        record.time, record.upper_bound, record.lower_bound,
        100 * record.gap, record.nodes, record.cuts,
    )  # fmt: skip
    if progress is not None:
        progress(record)


def _count(rounds: dict[int, int], node: int) -> None:
    if node not in rounds and len(rounds) >= COUNTED_NODES:
        rounds.clear()
    rounds[node] = rounds.get(node, 0) + 1


def _first_time(seen: set[bytes], values: NDArray[Any]) -> bool:
    key = values.tobytes()
    if key in seen:
        return False
    seen.add(key)
    return True
