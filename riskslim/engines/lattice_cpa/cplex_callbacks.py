"""CPLEX's legacy callbacks: the places where the surrogate learns about the true loss.

Importing this module imports cplex. An exception raised in a callback ends the solve and
reaches the caller of ``Cplex.solve`` unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from riskslim.engines.lattice_cpa.lattice_search import VIOLATION, LatticeSearch
from riskslim.engines.lattice_cpa.model import RiskSlimMIP
from riskslim.engines.lattice_cpa.solvers import import_cplex
from riskslim.engines.lattice_cpa.tree import TreeEvents

__all__ = ["register"]

_callbacks: Any = import_cplex().callbacks


class _Shared:
    """The base of the callbacks; CPLEX creates them, so it is attached later."""

    events: TreeEvents
    search: LatticeSearch
    model: RiskSlimMIP

    def _values(self) -> list[float]:
        """Values of the present LP solution or candidate, as the model takes them."""
        values: list[float] = self.get_values(*self.model.value_range)  # type: ignore[attr-defined]
        return values

    def _observe(self) -> bool:
        """Take over counts and bound from CPLEX; True if the search is to end."""
        if self.events.observe(self.get_num_nodes()):  # type: ignore[attr-defined]
            self.abort()  # type: ignore[attr-defined]
            return True
        return False


class _LazyConstraint(_Shared, _callbacks.LazyConstraintCallback):  # type: ignore[misc]
    """Cut at every integer solution (LCPA, step "integer feasible")."""

    def __call__(self) -> None:
        if self._observe():
            return
        search, values = self.search, self._values()
        point, surrogate_loss = self.model.coef_and_loss(values)
        for ridge_row in self.model.ridge.violated(values, VIOLATION):
            self.add([*ridge_row], "G", 0.0, self.use_constraint.purge)
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


class _UserCut(_Shared, _callbacks.UserCutCallback):  # type: ignore[misc]
    """Cut at fractional LP solutions, at every node."""

    def __call__(self) -> None:
        if not self.is_after_cut_loop() or self._observe():
            return
        values, node = self._values(), self.get_node_ID()
        cut = self.search.fractional_cut(*self.model.coef_and_loss(values), node)
        if cut is not None:
            self.add(*self.model.cut_row(cut), self.use_cut.purge)
        for row in self.search.fractional_ridge(self.model.ridge, values, node):
            self.add([*row], "G", 0.0, self.use_cut.purge)


class _Heuristic(_Shared, _callbacks.HeuristicCallback):  # type: ignore[misc]
    """Round and polish LP solutions, and propose incumbents that CPLEX does not have."""

    def __call__(self) -> None:
        if self._observe():
            return
        # Best bound over the open nodes, this one among them.
        self.events.take_bound(min(self.get_best_objective_value(), self.get_objective_value()))
        point, _ = self.model.coef_and_loss(self._values())
        self.search.round(point)
        if self.events.should_propose(self.get_incumbent_objective_value()):
            indices, values, objective = self.model.solution_vector(
                self.search.coef,  # type: ignore[arg-type]
                self.search.coef_loss,
            )
            self.set_solution([indices, values], objective)


class _Incumbent(_Shared, _callbacks.IncumbentCallback):  # type: ignore[misc]
    """Recompute loss and ridge penalty of every candidate; refuse one that understates them.

    CPLEX does not call the lazy callback for solutions from the heuristic callback and believes
    their values, so that an understated loss would become a false certificate.
    """

    def __call__(self) -> None:
        values, search = self._values(), self.search
        point, claimed = self.model.coef_and_loss(values)
        coef = np.rint(point).astype(np.int64)
        cut_loss = search.cut_at(coef).loss
        missing_ridge = search.problem.ridge(coef) - self.model.ridge.stated(values)
        if max(cut_loss - claimed, missing_ridge) > search.tolerance:
            self.search.refused += 1
            self.reject()
            if self.get_solution_source() == self.solution_source.node_solution:
                # The lazy callback has cut at every node solution. If CPLEX offers one that is
                # understated all the same, its arithmetic does not hold, and refusing may lose
                # the node: no bound of this search can be trusted.
                self.events.distrust()
                self.abort()
            return
        self.events.accept(coef, cut_loss)


def register(model: RiskSlimMIP, search: LatticeSearch, should_stop: Callable[[], bool]) -> None:
    """Attach the callbacks to a model.

    Parameters
    ----------
    model : RiskSlimMIP
    search : LatticeSearch
        State that they share.
    should_stop : callable
        Asked at every call; True aborts the solve.
    """
    lazy = model.cpx.register_callback(_LazyConstraint)
    lazy.passed = model.bounds_of_variables(search.bounds)
    callbacks = [lazy, *map(model.cpx.register_callback, (_Heuristic, _Incumbent))]
    if search.fractional_rounds:
        callbacks.append(model.cpx.register_callback(_UserCut))
    events = TreeEvents(search, should_stop)
    for callback in callbacks:
        callback.events = events
        callback.search = search
        callback.model = model
