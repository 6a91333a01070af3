"""The tree search of LCPA on CPLEX: parameters, start, end. Importing it imports cplex."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from riskslim.engines.lattice_cpa.cplex_callbacks import register
from riskslim.engines.lattice_cpa.model import RiskSlimMIP, translated_errors
from riskslim.engines.lattice_cpa.solvers import import_cplex
from riskslim.engines.lattice_cpa.start import best_possible_bounds
from riskslim.engines.lattice_cpa.tree import TreeLimits, TreeResult, box_of
from riskslim.exceptions import RiskSLIMError

if TYPE_CHECKING:
    from riskslim.engines.lattice_cpa.lattice_search import LatticeSearch
    from riskslim.engines.lattice_cpa.start import Initialization
    from riskslim.engines.settings import LatticeCPASettings

__all__ = ["search_tree"]

# Most by which a solution that violates unscaled rows a little can understate its objective.
UNSCALED_INFEASIBILITY = 1e-6


def search_tree(
    search: LatticeSearch,
    initial: Initialization,
    settings: LatticeCPASettings,
    limits: TreeLimits,
    should_stop: Callable[[], bool],
    on_start: Callable[[Callable[[], None] | None], None],
) -> TreeResult:
    """Branch and bound on RiskSlimMIP by CPLEX; see :class:`~.tree.TreeSearch`.

    Parameters
    ----------
    search : LatticeSearch
        Has an incumbent.
    initial : Initialization
    settings : LatticeCPASettings
    limits : TreeLimits
    should_stop : callable
    on_start : callable

    Returns
    -------
    TreeResult

    Raises
    ------
    ProblemSizeError
        The model is too large for the licence.
    """
    assert search.coef is not None
    model = RiskSlimMIP(
        search.problem,
        search.bounds,
        box=box_of(initial, search),
        sign_split=settings.sign_split,
        should_stop=should_stop,
    )
    cpx = model.cpx
    _set_parameters(cpx.parameters, limits)
    _add_initial_cuts(model, initial)
    if model.should_prefer_indicators(settings.branching_priority):
        model.prefer_indicators()
    indices, values, _ = model.solution_vector(search.coef, search.coef_loss)
    # Checked by CPLEX like any other candidate; the incumbent callback sees it as well.
    cpx.MIP_starts.add([indices, values], cpx.MIP_starts.effort_level.check_feasibility)
    register(model, search, should_stop)
    aborter = import_cplex().Aborter()
    cpx.use_aborter(aborter)
    on_start(aborter.abort)
    try:
        with translated_errors(model):
            cpx.solve()
    finally:
        on_start(None)
        cpx.remove_aborter()
        aborter.end()
    search.nodes = max(search.nodes, cpx.solution.progress.get_num_nodes_processed())
    status = cpx.solution.status
    if cpx.solution.get_status() in (status.MIP_infeasible, status.MIP_infeasible_or_unbounded):
        # There is a vector that meets all constraints, the incumbent: its rows are too wide.
        search.distrust(best_possible_bounds(search.problem))
    # After an understated candidate no bound counts, and CPLEX may have no status to speak of.
    result = TreeResult("") if search.distrusted else _result(cpx, model.objective_scale)
    cpx.end()
    return result


def _set_parameters(parameters: Any, limits: TreeLimits) -> None:
    parameters.timelimit.set(limits.seconds)
    parameters.mip.tolerances.mipgap.set(min(limits.gap_tolerance, 1.0))
    if limits.node_limit is not None:
        parameters.mip.limits.nodes.set(limits.node_limit)
    parameters.threads.set(limits.n_threads)
    parameters.parallel.set(parameters.parallel.values.deterministic)
    parameters.randomseed.set(limits.seed)
    # The heuristics of this package find good solutions; the solver's work is the bound.
    parameters.emphasis.mip.set(parameters.emphasis.mip.values.optimality)
    # Cuts of the loss come later: no reduction may rely on the rows seen so far.
    parameters.preprocessing.reduce.set(1)
    parameters.preprocessing.linear.set(0)


def _add_initial_cuts(model: RiskSlimMIP, initial: Initialization) -> None:
    """Add the cuts of the relaxation: those that bind as rows, the others as lazy constraints.

    CPLEX looks at the lazy ones only where it finds a solution that violates them. Both count
    in the Community Edition's limit; the latest cuts, next to the relaxation's optimum, come
    first.
    """
    binding = initial.cuts[: initial.n_binding][: model.max_cuts]
    model.add_cuts(binding)
    if initial.box is not None:
        return  # the others are in the search's pool
    others = initial.cuts[initial.n_binding :][::-1]
    model.add_cuts(others[: model.max_cuts - len(binding)], lazy=True)


def _result(cpx: Any, objective_scale: float) -> TreeResult:
    """Final bound of CPLEX, and why it stopped."""
    status, code = cpx.solution.status, cpx.solution.get_status()
    bound = cpx.solution.MIP.get_best_objective() / objective_scale
    if code == status.MIP_optimal_infeasible:
        # Rows hold to within CPLEX's scaled tolerance only: give up what that can be worth.
        bound -= UNSCALED_INFEASIBILITY
    return TreeResult(
        _ending(cpx),
        bound if abs(bound) < 1e17 else -math.inf,
        aborted=code in (status.MIP_abort_feasible, status.MIP_abort_infeasible),
    )


def _ending(cpx: Any) -> str:
    """Say why CPLEX stopped."""
    status = cpx.solution.status
    words = {
        status.MIP_optimal: "search completed",
        status.optimal_tolerance: "gap tolerance reached",
        status.MIP_optimal_infeasible: "search completed, with numerical difficulties",
        status.node_limit_feasible: "node limit reached",
        status.node_limit_infeasible: "node limit reached",
        status.MIP_time_limit_feasible: "time limit reached",
        status.MIP_time_limit_infeasible: "time limit reached",
        # By the callbacks, when the time is over between two checks of CPLEX's own.
        status.MIP_abort_feasible: "time limit reached",
        status.MIP_abort_infeasible: "time limit reached",
        status.fail_feasible: "CPLEX gave up because of an error in a node",
        status.fail_infeasible: "CPLEX gave up because of an error in a node",
        status.mem_limit_feasible: "CPLEX's memory limit reached",
        status.mem_limit_infeasible: "CPLEX's memory limit reached",
    }
    message = words.get(cpx.solution.get_status())
    if message is None:
        raise RiskSLIMError(
            f"CPLEX ended the search with status {cpx.solution.get_status_string()!r} although "
            "a feasible risk score is known; no bound can be stated"
        )
    return message
