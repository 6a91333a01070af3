"""The choice among ways of dividing what a search has left.

Times are predicted from sizes, not measured, so that the search does not depend on the load of the
machine. docs/ways_of_dividing.md says when each way is chosen.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riskslim._kernels import nodes as kernels
from riskslim.engines.branch_and_bound import costs
from riskslim.engines.branch_and_bound.additive import AdditiveModel
from riskslim.engines.branch_and_bound.boxes import Boxes
from riskslim.engines.branch_and_bound.cutoff_search import CutoffCounts, CutoffSearch
from riskslim.engines.branch_and_bound.elimination import Elimination
from riskslim.engines.branch_and_bound.open_nodes import OpenNodes
from riskslim.engines.branch_and_bound.open_sets import OpenSet
from riskslim.engines.branch_and_bound.pace import Pace
from riskslim.engines.branch_and_bound.search_rows import Unions, roots_within
from riskslim.engines.branch_and_bound.stage import RELAXATIONS, NodeEnumeration, cheaper
from riskslim.engines.branch_and_bound.support_enumeration import SupportEnumeration

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.incumbents import Incumbents
    from riskslim.engines.branch_and_bound.nodes import Node
    from riskslim.engines.branch_and_bound.workspace import Worker
    from riskslim.engines.settings import BranchAndBoundSettings
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["Ways"]

# Of the predicted time of tables, the share that the search by relaxations is tried for first.
TRIED_SHARE = 0.1
# And as many seconds, unless the pace of the search is known: many problems are solved by then.
TRIED_SECONDS = 0.25
# The same of a search over cut-offs: relaxations seldom tell hundreds of nested items apart.
CUTOFFS_TRIED_SHARE = 0.03
# Predicted time of the rest from which on all supports are divided by the items they use: until
# then bounds of nodes rise at a pace that ends.
ELIMINATION_SECONDS = 100.0


class Ways:
    """Ways of dividing what is left.

    Parameters
    ----------
    problem : RiskScoreProblem
    settings : BranchAndBoundSettings
    incumbents : Incumbents
    items : SupportEnumeration
        Of all items, whether tables are used or not.
    tables : NodeEnumeration
    nodes : OpenNodes
    boxes : Boxes
    counts : CutoffCounts
        Of all searches over cut-offs.

    Attributes
    ----------
    roots : list of Node
        Set by the search.
    pace : Pace
    total : float
        Predicted time of the nodes so far and of what is left, as far as that can be said.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        settings: BranchAndBoundSettings,
        incumbents: Incumbents,
        items: SupportEnumeration,
        tables: NodeEnumeration,
        nodes: OpenNodes,
        boxes: Boxes,
        counts: CutoffCounts,
    ) -> None:
        self._problem, self._settings, self._incumbents = problem, settings, incumbents
        self._items, self._tables, self._nodes, self._boxes = items, tables, nodes, boxes
        self._counts = counts
        self._box = np.array([problem.lower, problem.upper], dtype=np.float64)
        self.roots: list[Node] = []
        self.pace = Pace()
        self.total = 0.0
        is_here = not boxes.rows.rows.n_elsewhere
        self._unions = Unions.of(problem, boxes.rows, settings.memory_limit)
        self._prepared: list[CutoffSearch] | None = None
        self._wants_cutoffs = is_here and settings.cutoffs != "never"
        self._wants_elimination = is_here and settings.elimination != "never"
        self._next_choice = 0

    def choose(
        self,
        others: list[OpenSet],
        n_nodes: int,
        seconds: float,
        lower_bound: float,
        worker: Worker,
    ) -> tuple[list[OpenSet], float]:
        """Divide what is left in another way, where that is predicted to take less time.

        Parameters
        ----------
        others : list of OpenSet
            Open sets beside the nodes.
        n_nodes : int
            Nodes that were looked into.
        seconds : float
            Predicted time of that.
        lower_bound : float
            Of the search.
        worker : Worker

        Returns
        -------
        opened : list of OpenSet
            Sets that are open now, too.
        seconds : float
            Predicted time of what was done for it.
        """
        stays = any(one.is_begun for one in others)
        is_due, all_by_tables = n_nodes >= self._next_choice, self._tables.completes_all
        more = 0.0
        if self._unions is not None and is_due and not all_by_tables and not stays:
            more = self._begin_unions(self._unions, seconds, lower_bound, worker)
        if stays or others or not self._tables.can_exclude:
            return [], more
        if math.isinf(self._incumbents.cutoff):  # there are limits that exclude supports
            self._choose_without_cutoff(seconds + more, n_nodes)
            return [], more
        if self._settings.elimination == "always" and (found := self._elimination()):
            return [found], more
        opened: list[OpenSet] = []
        if self._settings.cutoffs == "always":
            opened += self._cutoffs(math.inf)
        if opened or not is_due:
            return opened, more
        self._next_choice = max(2 * n_nodes, 1)
        return self._cheapest(seconds + more), more

    def _choose_without_cutoff(self, spent: float, n_nodes: int) -> None:
        tables = self._tables.tables
        is_open = not self._tables.completes_all and self._settings.tables == "auto"
        if is_open and tables is not None and n_nodes >= self._next_choice:
            self._next_choice = max(2 * n_nodes, 1)
            self._choose_tables(tables, spent, math.inf)

    def _cheapest(self, spent: float) -> list[OpenSet]:
        """Ask every way for its predicted time, and begin the one that takes least."""
        nodes, tables = list(self._nodes), self._tables
        remaining = self.pace.remaining_seconds(
            self._incumbents.cutoff, [node.bound for node in nodes]
        )
        if tables.completes_all:
            assert tables.tables is not None
            remaining = min(remaining, cheaper(tables.tables, self.roots, nodes)[1])
        elif tables.tables is not None and self._settings.tables == "auto":
            remaining = min(remaining, self._choose_tables(tables.tables, spent, remaining))
        opened: list[OpenSet] = []
        if not tables.completes_all:
            least = RELAXATIONS * self._boxes.seconds(self._box)
            opened += self._cutoffs(max(min(remaining, spent / CUTOFFS_TRIED_SHARE), least))
        is_long = self.pace.is_known and remaining > ELIMINATION_SECONDS
        # Of fewer nodes nothing is known, unless they are all that there will be.
        if tables.completes_all or opened or self.pace.is_known:
            self.total = spent + remaining
        if is_long and not (tables.completes_all or opened) and (found := self._elimination()):
            opened.append(found)
        return opened

    def _begin_unions(
        self, unions: Unions, seconds: float, lower_bound: float, worker: Worker
    ) -> float:
        """Search unions of features one by one, once that is predicted to take less time."""
        boxes, bounds = self._boxes, [node.bound for node in self._nodes]
        remaining = self.pace.remaining_seconds(self._incumbents.cutoff, bounds)
        plan = unions.plan(self.roots, seconds, remaining, boxes.seconds(self._box))
        if plan is None:
            self._unions = unions if unions.are_possible else None
            return 0.0
        taken = unions.count(plan)
        self._unions = self._tables.tables = None  # cells say what tables do, with fewer counts
        self._nodes.replace([])
        assert boxes.sampled is not None
        work = boxes.work(boxes.sampled.sample, self._incumbents.cutoff, lower_bound)
        for root, part in roots_within(plan, self.roots, boxes.relaxations.constant):
            known = work.knowing(root.known)
            if len(root.known) and known.apply_cut(part, worker) == kernels.PRUNED:
                continue
            child = boxes.child(root, part, root.known)
            if boxes.propagate(child.box) and child.bound < self._incumbents.cutoff:
                self._nodes.push(child, boxes.rows.all_features, by_relaxation=True)
        return taken

    def _choose_tables(self, tables: SupportEnumeration, spent: float, remaining: float) -> float:
        """Complete all that is left if that is predicted to take less than the search would.

        Returns how long it is predicted to take.
        """
        least = RELAXATIONS * self._boxes.seconds(self._box)
        nodes, seconds = cheaper(tables, self.roots, list(self._nodes), max(remaining, least))
        is_tried = self.pace.is_known or spent >= TRIED_SECONDS
        tried = spent / TRIED_SHARE if is_tried else 0.0
        limit = max(min(remaining, tried), least)
        if seconds <= limit:
            boxes = [(node.box, *node.worth[1:]) for node in nodes if not node.by_relaxation]
            seconds += tables.sampled_seconds(
                boxes, seconds, self._incumbents.cutoff, self._boxes.stop
            )
        self._tables.completes_all = seconds <= limit
        if self._tables.completes_all and nodes is self.roots:
            self._nodes.replace(self.roots)
        return seconds

    def _cutoffs(self, limit: float) -> list[CutoffSearch]:
        """Search over cut-offs where that is possible, and predicted to take less than a limit."""
        if not self._wants_cutoffs:
            return []
        n_items, should_stop = self._items.n_items, self._boxes.is_stopped
        of_chains, of_rows = costs.cutoff_preparation(self._problem.loss.n_rows, n_items)
        if limit < max(of_chains, of_rows / CUTOFFS_TRIED_SHARE):
            return []
        if self._prepared is None:
            self._prepared = CutoffSearch.of_roots(
                self._problem, self.roots, self._items, self._settings.cutoffs, should_stop
            )
        searches = self._prepared
        self._wants_cutoffs = bool(searches)
        is_cheap = bool(searches) and sum(one.seconds for one in searches) <= limit
        if not (is_cheap and all(one.sort_rows(should_stop) for one in searches)):
            return []
        self._wants_cutoffs = False
        self._nodes.replace([])
        return [one.begin(self._boxes, self._counts) for one in searches]

    def _elimination(self) -> Elimination | None:
        """Divide all supports by the items that they use, where tables can look at them."""
        if not self._wants_elimination:
            return None
        self._wants_elimination = False
        if self._tables.tables is None:
            return None
        boxes = self._boxes
        rows, of_roots = boxes.rows.rows, [root.box for root in self.roots]
        limits = (self._problem.max_size, self._settings.memory_limit, boxes.is_stopped)
        found = Elimination.of(
            self.roots, self._tables.tables, self._incumbents.spread, boxes,
            lambda: AdditiveModel.of(rows, of_roots, *limits),
        )  # fmt: skip
        if found is not None:
            self._nodes.replace([])
        return found
