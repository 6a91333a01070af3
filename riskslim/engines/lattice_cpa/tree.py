"""Limits, events and results that the driver and the trees of all solvers share.

A solver's module translates its callbacks into the events of :class:`TreeEvents`, and has a
function ``search_tree`` that is a :class:`TreeSearch`. The driver knows no more of a solver.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from riskslim.engines.lattice_cpa.formulation import OBJECTIVE_SCALE
from riskslim.engines.lattice_cpa.start import Initialization, best_possible_bounds, widened

if TYPE_CHECKING:
    import numpy as np

    from riskslim.engines.lattice_cpa.lattice_search import LatticeSearch
    from riskslim.engines.settings import LatticeCPASettings

__all__ = ["MAX_SECONDS", "TreeEvents", "TreeLimits", "TreeResult", "TreeSearch", "box_of"]

# What a parameter of CPLEX or SCIP can hold.
MAX_SECONDS = 1e9
# Times that one incumbent is proposed to a solver before it is left alone.
MAX_PROPOSALS = 3


@dataclasses.dataclass(frozen=True)
class TreeLimits:
    """Limits at which a search may end.

    Attributes
    ----------
    deadline : float
        On the clock of ``time.perf_counter``.
    gap_tolerance : float
    node_limit : int or None
    n_threads : int
    seed : int
    """

    deadline: float
    gap_tolerance: float
    node_limit: int | None
    n_threads: int
    seed: int

    @property
    def seconds(self) -> float:
        """Seconds that are left, as a solver's parameter takes them."""
        return min(max(self.deadline - time.perf_counter(), 0.01), MAX_SECONDS)


@dataclasses.dataclass(frozen=True)
class TreeResult:
    """The end of a search.

    Attributes
    ----------
    message : str
        Why.
    bound : float
        The solver's bound on the objective, in units of the loss; -inf if there is none.
    aborted : bool
        The solver was made to end, by whomever.
    failed : bool
        The solver gave up, and may not if it is asked in another way.
    """

    message: str
    bound: float = -math.inf
    aborted: bool = False
    failed: bool = False


class TreeSearch(Protocol):
    """Branch and bound on RiskSlimMIP by one solver."""

    def __call__(
        self,
        search: LatticeSearch,
        initial: Initialization,
        settings: LatticeCPASettings,
        limits: TreeLimits,
        should_stop: Callable[[], bool],
        on_start: Callable[[Callable[[], None] | None], None],
    ) -> TreeResult:
        """Search until the problem is solved or a limit is reached.

        ``should_stop`` is asked at every node. ``on_start`` gets a function that ends the search
        from another thread, and None when it has ended.
        """


class TreeEvents:
    """Reports of a tree to the search, whichever solver it belongs to.

    Parameters
    ----------
    search : LatticeSearch
    should_stop : callable
        True ends the solve.
    """

    def __init__(self, search: LatticeSearch, should_stop: Callable[[], bool]) -> None:
        self.search = search
        self.should_stop = should_stop
        self._proposals: dict[bytes, int] = {}

    def observe(self, nodes: int) -> bool:
        """Take over the count of nodes; True if the solve is to end."""
        if self.should_stop():
            return True
        # Threads of a solver count for themselves in between.
        self.search.nodes = max(self.search.nodes, nodes)
        return False

    def take_bound(self, bound: float) -> None:
        """Take over a lower bound over all open nodes, in the units of the surrogate."""
        if abs(bound) < 1e20:
            self.search.raise_lower_bound(bound / OBJECTIVE_SCALE)

    def accept(self, coef: NDArray[np.int64], loss: float) -> None:
        """Consider an integer point whose loss the solver knows.

        Beyond a constraint by less than the solver's tolerance it is no incumbent of ours. The
        solver may keep it: that makes its bound smaller, not false.
        """
        search = self.search
        if not search.consider(coef, loss) and not search.problem.is_feasible(coef):
            search.beyond_constraints = True

    def distrust(self) -> None:
        """Drop all bounds: the solver's arithmetic does not hold."""
        self.search.distrust(best_possible_bounds(self.search.problem))

    def should_propose(self, known: float) -> bool:
        """True if to propose the search's best score to a solver.

        Parameters
        ----------
        known : float
            Objective of the solver's incumbent, in the units of the surrogate.

        Returns
        -------
        bool
        """
        search = self.search
        if search.coef is None or (search.objective + search.tolerance >= known / OBJECTIVE_SCALE):
            return False
        key = search.coef.tobytes()
        self._proposals[key] = self._proposals.get(key, 0) + 1
        return self._proposals[key] <= MAX_PROPOSALS


def box_of(initial: Initialization, search: LatticeSearch) -> Any:
    """Ranges for a solver, which starts from the best score wherever better ones may lie.

    Parameters
    ----------
    initial : Initialization
    search : LatticeSearch

    Returns
    -------
    (lower, upper) or None
    """
    assert search.coef is not None
    return None if initial.box is None else widened(initial.box, search.coef)
