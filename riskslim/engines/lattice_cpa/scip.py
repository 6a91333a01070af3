"""LCPA on SCIP: the loss as a constraint handler.

SCIP asks a constraint handler about every LP solution and every candidate: the place of CPLEX's
lazy, user cut and incumbent callbacks. The logic is that of :class:`LatticeSearch`; this module
only translates. Importing it imports pyscipopt, and raises SolverUnavailableError where that fails.
HiGHS cannot host LCPA, since its callbacks have no way to add a row.
"""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from riskslim.engines.lattice_cpa.formulation import Cut
from riskslim.engines.lattice_cpa.scip_model import SCALINGS, ScipMIP
from riskslim.engines.lattice_cpa.solvers import import_pyscipopt
from riskslim.engines.lattice_cpa.tree import TreeEvents, TreeLimits, TreeResult, box_of
from riskslim.exceptions import RiskSLIMError

if TYPE_CHECKING:
    from riskslim.engines.lattice_cpa.lattice_search import LatticeSearch
    from riskslim.engines.lattice_cpa.ridge import RidgeRow
    from riskslim.engines.lattice_cpa.start import Initialization
    from riskslim.engines.settings import LatticeCPASettings

__all__ = ["search_tree"]

pyscipopt: Any = import_pyscipopt()

logger = logging.getLogger("riskslim.lattice_cpa")

# SCIP satisfies rows to within 1e-9 in its units. A loss that is understated by less than this,
# in units of the loss, is accepted: it is within the tolerance of the bound.
VIOLATION = 1e-10
# Times that one integer point may come back to a node after its cut.
MAX_RETURNS = 20


@dataclasses.dataclass
class _Plugin:
    """State that constraint handler and heuristic share."""

    model: ScipMIP
    search: LatticeSearch
    events: TreeEvents
    failure: BaseException | None = None
    is_ending: bool = False
    # What SCIP has proven while all its nodes were treated as they have to be.
    dual_bound: float = -math.inf
    returns: dict[tuple[int, bytes], int] = dataclasses.field(default_factory=dict)

    def observe(self) -> bool:
        """Take over counts and bound; True if the search is to end."""
        scip = self.model.scip
        if self.is_ending or self.events.observe(int(scip.getNTotalNodes())):
            self.end()
            return True
        self.dual_bound = scip.getDualbound()
        self.events.take_bound(self.dual_bound)
        return False

    def end(self) -> None:
        """End the search as soon as SCIP allows.

        It refuses while it gets ready for the search, where it has candidates checked; every later
        call of the handler asks again.
        """
        self.is_ending = True
        scip = self.model.scip
        if scip.getStage() != pyscipopt.SCIP_STAGE.INITSOLVE:
            scip.interruptSolve()

    def at_candidate(self, solution: Any) -> str:
        """Refuse a candidate that understates loss or ridge; others may be our incumbent, too."""
        values = self.model.values(solution)
        point, claimed = self.model.coef_and_loss(values)
        coef = np.rint(point).astype(np.int64)
        loss = self.search.cut_at(coef).loss
        missing_ridge = self.search.problem.ridge(coef) - self.model.ridge.stated(values)
        if max(loss - claimed, missing_ridge) > VIOLATION:
            return "infeasible"
        self.events.accept(coef, loss)
        return "feasible"

    def add_cut(self, cut: Cut) -> bool:
        """Add a cut of the loss; whether it makes the node infeasible."""
        return self._add_row(*self.model.cut_terms(cut))

    def add_ridge(self, rows: list[RidgeRow]) -> bool:
        """Add rows of the ridge penalty; whether they make the node infeasible."""
        added = [self._add_row(*row, 0.0) for row in rows]
        return any(added)

    def _add_row(self, indices: list[int], values: list[float], low: float) -> bool:
        """Add a row to the LP and to SCIP's pool; whether it makes the node infeasible."""
        scip = self.model.scip
        row = scip.createEmptyRowUnspec("cut", lhs=low, rhs=None, local=False, removable=True)
        scip.cacheRowExtensions(row)
        for i, value in zip(indices, values, strict=True):
            if value != 0.0:
                scip.addVarToRow(row, self.model.handles[i], value)
        scip.flushRowExtensions(row)
        cutoff = bool(scip.addCut(row, forcecut=True))
        scip.addPoolCut(row)
        scip.releaseRow(row)
        return cutoff

    def at_integer_point(self) -> str:
        """Cut where the LP solution is integral, if its loss or its ridge is understated."""
        search, values = self.search, self.model.values(None)
        point, claimed = self.model.coef_and_loss(values)
        coef = np.rint(point).astype(np.int64)
        cut = search.cut_at(coef)
        search.consider(coef, cut.loss)
        search.polish(coef, cut.loss)
        ridge = self.model.ridge.violated(values, VIOLATION)
        is_cut_needed = claimed < cut.loss - VIOLATION
        if not is_cut_needed and not ridge:
            self.events.accept(coef, cut.loss)
            return "feasible"
        if is_cut_needed and np.abs(point - coef).max() > 1e-12:
            # The lattice point is only near: a cut there may not reach SCIP's point.
            cut = search.cut_at(point)
            is_cut_needed = claimed < cut.loss - VIOLATION
            if not is_cut_needed and not ridge:
                return "feasible"
        # At another node, where SCIP has dropped the row, it is no fault.
        key = self.model.scip.getCurrentNode().getNumber(), coef.tobytes()
        self.returns[key] = self.returns.get(key, 0) + 1
        if self.returns[key] > MAX_RETURNS:
            # The row is there, and SCIP's arithmetic does not see it.
            self.events.distrust()
            self.end()
        is_over = self.add_ridge(ridge)
        if is_cut_needed:
            is_over |= self.add_cut(cut)
        return "cutoff" if is_over else "separated"

    def separate(self) -> str:
        """Cut at a fractional LP solution."""
        values = self.model.values(None)
        node = self.model.scip.getCurrentNode().getNumber()
        cut = self.search.fractional_cut(*self.model.coef_and_loss(values), node)
        ridge = self.search.fractional_ridge(self.model.ridge, values, node)
        if cut is None and not ridge:
            return "none"
        is_over = self.add_ridge(ridge)
        if cut is not None:
            is_over |= self.add_cut(cut)
        return "cutoff" if is_over else "separated"

    def round_and_propose(self, heuristic: Any) -> bool:
        """Round the LP solution, and propose an incumbent that SCIP does not have."""
        search, scip = self.search, self.model.scip
        search.round(self.model.point(None)[0])
        if not self.events.should_propose(scip.getPrimalbound()):
            return False
        assert search.coef is not None
        solution = scip.createSol(heuristic)
        _, values, _ = self.model.solution_vector(search.coef, search.coef_loss)
        for handle, value in zip(self.model.handles, values, strict=True):
            scip.setSolVal(solution, handle, value)
        return bool(scip.trySol(solution, printreason=False))


_RESULTS = {
    "feasible": pyscipopt.SCIP_RESULT.FEASIBLE,
    "infeasible": pyscipopt.SCIP_RESULT.INFEASIBLE,
    "separated": pyscipopt.SCIP_RESULT.SEPARATED,
    "cutoff": pyscipopt.SCIP_RESULT.CUTOFF,
    "none": pyscipopt.SCIP_RESULT.DIDNOTFIND,
    "found": pyscipopt.SCIP_RESULT.FOUNDSOL,
    "solve the LP": pyscipopt.SCIP_RESULT.SOLVELP,
}


def _guarded(shared: _Plugin, work: Callable[[], str], otherwise: str) -> dict[str, Any]:
    """An exception must not pass through SCIP: it is raised when the search has ended."""
    try:
        return {"result": _RESULTS[otherwise if shared.observe() else work()]}
    except BaseException as error:
        shared.failure = error
        shared.end()
        return {"result": _RESULTS[otherwise]}


class _LossHandler(pyscipopt.Conshdlr):  # type: ignore[misc]
    """The constraint that L is at least the loss, and that Q are at least the ridge penalty."""

    def __init__(self, shared: _Plugin) -> None:
        self.shared = shared

    def conscheck(self, constraints: Any, solution: Any, *flags: Any) -> dict[str, Any]:
        return _guarded(self.shared, lambda: self.shared.at_candidate(solution), "infeasible")

    def consenfolp(self, constraints: Any, *flags: Any) -> dict[str, Any]:
        return _guarded(self.shared, self.shared.at_integer_point, "infeasible")

    def consenfops(self, constraints: Any, *flags: Any) -> dict[str, Any]:
        return {"result": _RESULTS["solve the LP"]}

    def conssepalp(self, constraints: Any, n_useful: int) -> dict[str, Any]:
        return _guarded(self.shared, self.shared.separate, "none")

    def conslock(self, constraint: Any, locktype: Any, n_positive: int, n_negative: int) -> None:
        """None of the variables that make a claim can be moved without a look at the loss."""
        model, n_locks = self.shared.model, n_positive + n_negative
        for handle in model.handles[: model.value_range[1] + 1]:
            model.scip.addVarLocks(handle, n_locks, n_locks)


class _RoundingHeuristic(pyscipopt.Heur):  # type: ignore[misc]
    """Rounding and polishing of LP solutions."""

    def __init__(self, shared: _Plugin) -> None:
        self.shared = shared

    def heurexec(self, timing: Any, node_infeasible: bool) -> dict[str, Any]:
        def work() -> str:
            return "found" if self.shared.round_and_propose(self) else "none"

        return _guarded(self.shared, work, "none")


def search_tree(
    search: LatticeSearch,
    initial: Initialization,
    settings: LatticeCPASettings,
    limits: TreeLimits,
    should_stop: Callable[[], bool],
    on_start: Callable[[Callable[[], None] | None], None],
) -> TreeResult:
    """Branch and bound on RiskSlimMIP by SCIP; see :class:`~.tree.TreeSearch`.

    An LP that SCIP cannot solve is most often one that it can solve with other scaling.

    Parameters
    ----------
    search : LatticeSearch
        Has an incumbent.
    initial : Initialization
    settings : LatticeCPASettings
    limits : TreeLimits
        SCIP has one thread.
    should_stop : callable
    on_start : callable
        Not called: SCIP asks ``should_stop`` often enough.

    Returns
    -------
    TreeResult
    """
    for scaling in SCALINGS:
        model = ScipMIP(
            search.problem,
            search.bounds,
            box=box_of(initial, search),
            sign_split=settings.sign_split,
            should_stop=should_stop,
        )
        for cut in initial.cuts[: initial.n_binding]:
            model.add_cut(cut)
        if model.should_prefer_indicators(settings.branching_priority):
            model.prefer_indicators()
        _set_limits(model.scip, limits)
        model.scip.setParam("lp/scaling", scaling)
        result = _solve(model, search, should_stop)
        if not result.failed or search.distrusted or should_stop():
            break
    return result


def _solve(model: ScipMIP, search: LatticeSearch, should_stop: Callable[[], bool]) -> TreeResult:
    """One run of SCIP on a model that is ready."""
    scip = model.scip
    shared = _Plugin(model, search, TreeEvents(search, should_stop))
    # After integrality (priority 0), whatever else is there.
    scip.includeConshdlr(
        _LossHandler(shared), "riskslim_loss", "cuts of the loss", sepapriority=1000,
        enfopriority=-1, chckpriority=-1, sepafreq=1, needscons=False,
    )  # fmt: skip
    scip.includeHeur(
        _RoundingHeuristic(shared), "riskslim_rounding", "rounding and polishing", "R",
        timingmask=pyscipopt.SCIP_HEURTIMING.AFTERLPNODE,
    )  # fmt: skip
    _give_start(model, search)
    try:
        scip.optimizeNogil()
    except Exception as error:  # pyscipopt has no class of its own
        if shared.failure is None and not shared.is_ending:
            logger.warning("SCIP gave up: %s", error)
            return TreeResult(f"SCIP gave up ({error})", failed=True)
    if shared.failure is not None:
        raise shared.failure
    if shared.is_ending:
        # What SCIP says now rests on answers that it got while the search was to end.
        return _result("time limit reached", shared.dual_bound, model)
    search.nodes = max(search.nodes, int(scip.getNTotalNodes()))
    if scip.getStatus() == "infeasible":
        # The incumbent satisfies every row: what SCIP says is not to be trusted.
        return TreeResult("SCIP lost a solution that is known", failed=True)
    return _result(_ending(scip.getStatus()), scip.getDualbound(), model)


def _result(message: str, dual_bound: float, model: ScipMIP) -> TreeResult:
    bound = dual_bound / model.objective_scale
    return TreeResult(message, bound if abs(bound) < 1e15 else -math.inf)


def _set_limits(scip: Any, limits: TreeLimits) -> None:
    parameters = pyscipopt.SCIP_PARAMSETTING
    scip.setParam("limits/time", limits.seconds)
    scip.setParam("limits/gap", limits.gap_tolerance)
    if limits.node_limit is not None:
        scip.setParam("limits/totalnodes", limits.node_limit)
    scip.setParam("randomization/randomseedshift", limits.seed)
    # The heuristics of this package find good solutions; the solver's work is the bound.
    scip.setHeuristics(parameters.OFF)
    scip.setPresolve(parameters.OFF)
    scip.setSeparating(parameters.OFF)


def _give_start(model: ScipMIP, search: LatticeSearch) -> None:
    assert search.coef is not None
    scip = model.scip
    solution = scip.createSol()
    _, values, _ = model.solution_vector(search.coef, search.coef_loss)
    for handle, value in zip(model.handles, values, strict=True):
        scip.setSolVal(solution, handle, value)
    scip.addSol(solution)


def _ending(status: str) -> str:
    """Say why SCIP stopped."""
    words = {
        "optimal": "search completed",
        "gaplimit": "gap tolerance reached",
        "nodelimit": "node limit reached",
        "totalnodelimit": "node limit reached",
        "timelimit": "time limit reached",
        "userinterrupt": "time limit reached",
        "memlimit": "SCIP's memory limit reached",
    }
    if status not in words:
        raise RiskSLIMError(
            f"SCIP ended the search with status {status!r} although a feasible risk score is known"
        )
    return words[status]
