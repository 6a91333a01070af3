"""CPLEX's legacy callbacks: the places where the surrogate learns about the true loss.

Importing this module imports cplex. An exception raised in a callback ends the solve and
reaches the caller of ``Cplex.solve`` unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from riskslim._lattice_cpa.formulation import OBJECTIVE_SCALE
from riskslim._lattice_cpa.initialization import best_possible_bounds
from riskslim._lattice_cpa.model import RiskSlimMIP, import_cplex
from riskslim._lattice_cpa.search import VIOLATION, Search

import_cplex()  # in its own way, before anything else imports it

from cplex.callbacks import (  # noqa: E402
    HeuristicCallback,
    IncumbentCallback,
    LazyConstraintCallback,
    UserCutCallback,
)

__all__ = ["register"]

# Times that one incumbent is proposed to CPLEX before it is left alone.
MAX_PROPOSALS = 3


class _Shared:
    """What the callbacks have in common; CPLEX creates them, so it is attached later."""

    search: Search
    model: RiskSlimMIP
    should_stop: Callable[[], bool]

    def _point(self) -> tuple[Any, float]:
        """Coefficients and loss of the present LP solution or candidate."""
        values = self.get_values(*self.model.value_range)  # type: ignore[attr-defined]
        return self.model.coef_and_loss(values)

    def _observe(self) -> bool:
        """Take over counts and bound from CPLEX; True if the search is to end."""
        if self.should_stop():
            self.abort()  # type: ignore[attr-defined]
            return True
        # Threads count for themselves in between.
        nodes = self.get_num_nodes()  # type: ignore[attr-defined]
        self.search.nodes = max(self.search.nodes, nodes)
        return False


class _LazyConstraint(_Shared, LazyConstraintCallback):  # type: ignore[misc]
    """Cut at every integer solution (LCPA, step "integer feasible")."""

    def __call__(self) -> None:
        if self._observe():
            return
        search = self.search
        point, surrogate_loss = self._point()
        coef = np.rint(point)
        integral = bool(np.all(np.abs(coef - point) <= 1e-9))
        # A cut at a point next to a lattice point would leave the lattice point itself
        # understated, and the other way round: cut where CPLEX stands.
        cut = search.cut_at(coef.astype(np.int64) if integral else point)
        if surrogate_loss < cut.loss - VIOLATION:
            self._add_cut(cut)
        if not integral:
            return
        vector = coef.astype(np.int64)
        improved = search.consider(vector, cut.loss)
        improved |= search.polish(vector, cut.loss)
        if improved and search.coef is not None:
            self._add_cut(search.cut_at(search.coef))
        self._pass_bounds()

    def _add_cut(self, cut: Any) -> None:
        row, sense, rhs = self.model.cut_row(cut)
        self.add(row, sense, rhs, self.use_constraint.purge)

    def _pass_bounds(self) -> None:
        """Bounds improved by chained updates become rows on the variables V, L and R.

        Legacy callbacks cannot change bounds globally; a row with one variable does the same.
        """
        if not self.search.settings.chained_updates:
            return
        ends = self.model.bounds_of_variables(self.search.bounds)
        for variable, (low, high) in ends.items():
            known_low, known_high = self.passed.get(variable, (low, high))
            # Tiny improvements are not worth a row of the LP.
            step = 1.0 if variable == self.model.size else 1e-3 * max(1.0, abs(high))
            if low >= known_low + step:
                self.add([[variable], [1.0]], "G", low)
                known_low = low
            if high <= known_high - step:
                self.add([[variable], [1.0]], "L", high)
                known_high = high
            self.passed[variable] = (known_low, known_high)

    passed: dict[int, tuple[float, float]]


class _UserCut(_Shared, UserCutCallback):  # type: ignore[misc]
    """Cut at fractional LP solutions, at every node."""

    def __call__(self) -> None:
        if not self.is_after_cut_loop() or self._observe():
            return
        point, surrogate_loss = self._point()
        cut = self.search.fractional_cut(point, surrogate_loss, self.get_node_ID())
        if cut is not None:
            self.add(*self.model.cut_row(cut), self.use_cut.purge)


class _Heuristic(_Shared, HeuristicCallback):  # type: ignore[misc]
    """Round and polish LP solutions, and propose incumbents that CPLEX does not have."""

    def __call__(self) -> None:
        if self._observe():
            return
        search = self.search
        self._take_lower_bound()
        point, _ = self._point()
        search.round(point)
        if search.coef is None:
            return
        known = self.get_incumbent_objective_value()
        if search.objective + search.tolerance < known / OBJECTIVE_SCALE:
            self._propose()

    def _take_lower_bound(self) -> None:
        """Best bound over the open nodes, this one among them."""
        bound = min(self.get_best_objective_value(), self.get_objective_value())
        if abs(bound) < 1e20:
            self.search.raise_lower_bound(bound / OBJECTIVE_SCALE)

    def _propose(self) -> None:
        search = self.search
        key = search.coef.tobytes()  # type: ignore[union-attr]
        tries = self.proposals.get(key, 0)
        if tries >= MAX_PROPOSALS:
            return
        self.proposals[key] = tries + 1
        indices, values, objective = self.model.solution_vector(
            search.coef,  # type: ignore[arg-type]
            search.coef_loss,
        )
        self.set_solution([indices, values], objective)

    proposals: dict[bytes, int]


class _Incumbent(_Shared, IncumbentCallback):  # type: ignore[misc]
    """Recompute the loss of every candidate and refuse one that understates it.

    CPLEX does not call the lazy callback for solutions from the heuristic callback and believes
    their values, so that an understated loss would become a false certificate.
    """

    def __call__(self) -> None:
        point, claimed = self._point()
        coef = np.rint(point).astype(np.int64)
        cut_loss = self.search.cut_at(coef).loss
        if claimed < cut_loss - self.search.tolerance:
            self.search.refused += 1
            self.reject()
            if self.get_solution_source() == self.solution_source.node_solution:
                # The lazy callback has cut at every node solution. If CPLEX offers one that is
                # understated all the same, its arithmetic does not hold, and refusing may lose
                # the node: no bound of this search can be trusted.
                self.search.distrust(best_possible_bounds(self.search.problem))
                self.abort()
            return
        # A point beyond a constraint by less than CPLEX's tolerance is no incumbent of ours. CPLEX
        # may keep it: that makes its bound smaller, not false.
        if not self.search.consider(coef, cut_loss) and not self.search.problem.is_feasible(coef):
            self.search.beyond_constraints = True


def register(model: RiskSlimMIP, search: Search, should_stop: Callable[[], bool]) -> None:
    """Attach the callbacks to a model.

    Parameters
    ----------
    model : RiskSlimMIP
    search : Search
        State that they share.
    should_stop : callable
        Asked at every call; True aborts the solve.
    """
    lazy = model.cpx.register_callback(_LazyConstraint)
    lazy.passed = model.bounds_of_variables(search.bounds)
    heuristic = model.cpx.register_callback(_Heuristic)
    heuristic.proposals = {}
    incumbent = model.cpx.register_callback(_Incumbent)
    callbacks = [lazy, heuristic, incumbent]
    if search.settings.fractional_rounds:
        callbacks.append(model.cpx.register_callback(_UserCut))
    for callback in callbacks:
        callback.search = search
        callback.model = model
        callback.should_stop = should_stop
