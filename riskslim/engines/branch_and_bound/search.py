"""State of one branch and bound: open nodes, incumbents, bounds, trace.

Nodes are taken in batches of a fixed size, best bound first, and expanded by as many threads as
there are; what they find is merged in the order of the batch. The number of threads changes
nothing but the time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim._threads import Pool
from riskslim.engines.branch_and_bound.boxes import Boxes
from riskslim.engines.branch_and_bound.cutoff_search import CutoffCounts
from riskslim.engines.branch_and_bound.incumbents import Incumbents
from riskslim.engines.branch_and_bound.multipliers import MAX_PRICED
from riskslim.engines.branch_and_bound.nodes import Child, InverseScale
from riskslim.engines.branch_and_bound.open_nodes import OpenNodes
from riskslim.engines.branch_and_bound.open_sets import Budget, Found, OpenSet
from riskslim.engines.branch_and_bound.pace import NEVER, Patience
from riskslim.engines.branch_and_bound.passes import SampledNodes, answered
from riskslim.engines.branch_and_bound.recorder import Recorder
from riskslim.engines.branch_and_bound.relaxations import ROOT_STEPS, ROOT_TOLERANCE
from riskslim.engines.branch_and_bound.roundings import Roundings
from riskslim.engines.branch_and_bound.search_rows import ALL_IN_MEMORY, SearchRows, sampled_nodes
from riskslim.engines.branch_and_bound.stage import NodeEnumeration
from riskslim.engines.branch_and_bound.support_enumeration import (
    EnumerationCounts,
    SupportEnumeration,
)
from riskslim.engines.branch_and_bound.ways import Ways
from riskslim.engines.branch_and_bound.workspace import KernelNode, NodeWork, Worker, new_workers
from riskslim.engines.settings import BranchAndBoundSettings
from riskslim.solution import Certificate, Trace, TraceRecord, optimality_gap

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["BOUND_TOLERANCE", "OUT_OF_PATIENCE", "Search"]

# A node whose bound is this close to the best objective is not looked into: no certificate tells
# objectives apart that differ by less.
BOUND_TOLERANCE = 1e-10
# Times as many nodes between roundings where a ridge penalty makes relaxations nearly integral, and
# nodes take less time than a rounding: the best score is mostly found before them.
RARELY = 5
# What a search says that is to go on in another way.
OUT_OF_PATIENCE = "out of patience"


class Search:
    """One branch and bound.

    Parameters
    ----------
    problem : RiskScoreProblem
        Its loss is used by this search alone.
    settings : BranchAndBoundSettings
    incumbents : Incumbents
    n_threads : int
    stop : int64 array of shape (1,)
        Not zero: end as soon as possible.
    started : float
        ``time.perf_counter()`` at the start of the run.
    progress : callable, optional
        Called with every new :class:`~riskslim.solution.TraceRecord`.
    held : SearchRows, optional
        What there is of the rows in memory. Default: all.

    Attributes
    ----------
    lower_bound : float
        No vector that is not among the incumbents has a smaller objective.
    complete : bool
        Whether there is nothing left to look into.
    seconds : float
        Predicted time of the nodes that were branched on or completed so far.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        settings: BranchAndBoundSettings,
        incumbents: Incumbents,
        n_threads: int,
        stop: NDArray[np.int64],
        started: float,
        progress: Callable[[TraceRecord], None] | None = None,
        held: SearchRows = ALL_IN_MEMORY,
    ) -> None:
        self.problem = problem
        self.settings = settings
        self.incumbents = incumbents
        self.stop = stop
        self.started = started
        self._recorder = Recorder(progress)
        self.n_threads = n_threads
        self.lower_bound = 0.0
        self.complete = False
        self.nodes = 0
        self.seconds = 0.0
        rarely = RARELY if problem.has_ridge else 1
        self._roundings = Roundings(incumbents, rarely * settings.rounding_interval)
        self.table_counts, self.cutoff_counts = EnumerationCounts(), CutoffCounts()
        self.items = SupportEnumeration(
            problem, cost=settings.table_cost, memory=settings.memory_limit,
            counts=self.table_counts, should_stop=self._is_stopped,
        )  # fmt: skip
        self._tables = NodeEnumeration(
            None if settings.tables == "never" else self.items, self.table_counts, incumbents,
            completes_all=settings.tables == "always",
        )  # fmt: skip
        self._box = np.array([problem.lower, problem.upper], dtype=np.float64)
        self._nodes = OpenNodes(self._box, self._tables, incumbents.cutoff_within)
        self._others: list[OpenSet] = []  # open sets beside the nodes, in the order of their time
        self._held = held
        self._workers: list[Worker] = []

    def _is_prepared(self) -> bool:
        """Prepare all that the search needs, unless it is to stop before that is done."""
        if not self.stop[0]:
            self._prepare()
        return not self.stop[0]

    def _prepare(self) -> None:
        """Everything that the kernel is told about the problem; it waits for a first score."""
        problem, settings = self.problem, self.settings
        rows = self._held.of_nodes(problem, settings, self._is_stopped)
        self._boxes = Boxes(
            problem,
            settings,
            self.incumbents,
            self.stop,
            rows,
            orders_duplicates=self._orders_duplicates,
        )
        self._nodes.boxes = self._tables.boxes = self._boxes
        self._ways = Ways(
            problem, settings, self.incumbents, self.items, self._tables, self._nodes, self._boxes,
            self.cutoff_counts,
        )  # fmt: skip
        n_rows = rows.most_rows + MAX_PRICED + 1
        n_workers = min(self.n_threads, settings.batch_size)
        self._workers = new_workers(n_workers, n_rows, len(problem.lower))

    @property
    def _orders_duplicates(self) -> bool:
        # Two halves of equal columns cost less than one whole where there is a ridge penalty.
        wanted = (
            self.settings.order_duplicates
            and self.incumbents.is_single
            and not self.problem.has_ridge
        )
        return wanted and not self.problem.min_size and self.problem.loss.store.is_block

    def _is_stopped(self) -> bool:
        return bool(self.stop[0])

    @property
    def trace(self) -> Trace:
        """States of the search that are worth a record."""
        return self._recorder.trace

    # ---- bounds ----------------------------------------------------------------------------

    @property
    def objective(self) -> float:
        """Best objective so far."""
        return self.incumbents.objective

    @property
    def gap(self) -> float:
        """Optimality gap of the best score, 1 without one."""
        if not math.isfinite(self.objective):
            return 1.0
        return optimality_gap(self.objective, min(self.lower_bound, self.objective))

    @property
    def statistics(self) -> NDArray[np.float64]:
        """Evaluations, gradients, Hessians, quadratic programs, seconds on rows; all threads."""
        total = np.zeros(5)
        for worker in self._workers:
            total += worker.counters
        if self._workers:
            total[4] += self._boxes.rows.seconds
        return total

    # ---- the search ------------------------------------------------------------------------

    def solve_root(self) -> None:
        """Relax the root, round it, and tighten its box by what that found.

        A list of scales has as many roots.
        """
        if not self._is_prepared():  # nobody looks into the root any more
            self._push(self._untouched(), b"")
            self._update_bound()
            self._record()
            return
        boxes = self._boxes
        boxes.price_constraints(self._box, self._workers[0])
        boxes.sampled = sampled_nodes(boxes.rows, self.settings.sample_rows)
        roots = [
            root
            for scales in self.problem.scales.parts()
            if (root := self._solved_root(1.0 / scales.high, 1.0 / scales.low)) is not None
        ]
        for root in roots:
            self._push(root, boxes.rows.all_features)
        self._ways.roots = list(self._nodes.heap)
        boxes.is_over_interval = any(one.worth.low < one.worth.high for one in self._ways.roots)
        self._update_bound()
        self._record()

    def _untouched(self) -> Child:
        """The root as it is before anything is known of it."""
        scales = self.problem.scales
        worth = InverseScale(1.0 / scales.high, 1.0 / scales.high, 1.0 / scales.low)
        return Child(0.0, self._box.copy(), np.zeros(self._box.shape[1]), 0.0, worth)

    def _solved_root(self, low: float, high: float) -> Child | None:
        """Relaxation over one interval of t, None if it is pruned."""
        box, coef = self._box.copy(), np.zeros(self._box.shape[1])
        worth = np.array([min(max(1.0, low), high), low, high])
        part = KernelNode(box, coef, worth, np.array([-math.inf, math.inf, 0.0, 0.0]))
        boxes, worker = self._boxes, self._workers[0]
        if boxes.sampled is not None:
            return self._root_by_passes(boxes.sampled, part) if boxes.propagate(box) else None
        for _ in range(2):
            cutoff = self.incumbents.cutoff
            if not boxes.propagate(box):
                return None
            if not boxes.relaxations.relax_root(boxes.rows.rows, part, cutoff, worker):
                return None
            self.incumbents.round(coef, 1.0 / worth[0])
            if self.stop[0] or self.incumbents.cutoff == cutoff:
                break
        bound, multiplier = boxes.bound(part.result), part.result[2]
        return Child(bound, box, coef, multiplier, InverseScale(*worth.tolist()))

    def _root_by_passes(self, sampled: SampledNodes, root: KernelNode) -> Child | None:
        boxes, worker = self._boxes, self._workers[0]
        arguments = boxes.relaxations.arguments(sampled.sample, math.inf, ROOT_TOLERANCE)
        work = NodeWork(arguments, ROOT_STEPS, 0, self.stop)
        steps = sampled.root(
            root, work, lambda: boxes.work(sampled.sample, self.incumbents.cutoff, 0.0),
            lambda coef, t: self.incumbents.round(coef, 1.0 / t), boxes.rows.rows, worker,
        )  # fmt: skip
        known = answered(steps, lambda asked: boxes.answer(asked, worker))
        if known is None:
            return None
        worth = InverseScale(*root.worth.tolist())
        return Child(boxes.bound(root.result), root.box, root.coef, 0.0, worth, known)

    def run(
        self,
        gap_tolerance: float,
        node_limit: int | None,
        deadline: float,
        patience: Patience = NEVER,
    ) -> str:
        """Search until nothing is left, a limit is reached or patience has run out; says which."""
        ending = self._run(gap_tolerance, node_limit, deadline, patience)
        if not self.complete:  # otherwise nothing that waits can be better
            self._roundings.work()
        return ending

    def _run(
        self, gap_tolerance: float, node_limit: int | None, deadline: float, patience: Patience
    ) -> str:
        limit = math.inf if node_limit is None else node_limit
        with Pool(max(len(self._workers), 1)) as pool:
            while True:
                self._update_bound()
                if self.complete:
                    return "search completed"
                self.maybe_record()
                if self.stop[0] or time.perf_counter() >= deadline:
                    return "time limit reached"
                if self.nodes >= limit:
                    return "node limit reached"
                if self.incumbents.is_one and self.gap <= gap_tolerance:
                    return "gap tolerance reached"
                if self.incumbents.is_full:
                    return "as many scores as memory is meant for"
                self._choose()
                if self.seconds >= patience.spent and self.total_seconds >= patience.total:
                    return OUT_OF_PATIENCE
                for found in self._next_set().divide(self._budget(pool)):
                    self._take(found)

    def _choose(self) -> None:
        opened, seconds = self._ways.choose(
            self._others, self.nodes, self.seconds, self.lower_bound, self._workers[0]
        )
        self.seconds += seconds
        self._others += opened

    def _next_set(self) -> OpenSet:
        """The open set that is divided next: one that was begun, or that of the least bound."""
        sets = [*self._others, self._nodes]
        return next((one for one in sets if one.is_begun), min(sets, key=lambda one: one.bound))

    def _budget(self, pool: Executor) -> Budget:
        return Budget(
            self.incumbents.cutoff, self.lower_bound, self.settings.batch_size,
            self.settings.memory_limit, self.stop, self._workers, pool, self._roundings.aside,
        )  # fmt: skip

    def _take(self, found: Found) -> None:
        """Take over a part of what dividing an open set found."""
        if found.is_node:
            self.nodes += 1
            self.seconds += found.seconds
            self.table_counts.add_node(found.scanned)
        elif found.scanned is not None:
            self.table_counts.add(found.scanned)
        children = found.children
        if found.bound is not None:
            self.incumbents.searched_seconds = self.seconds
            bounds = [child.bound for child in children]
            self._ways.pace.add(found.bound, bounds, found.seconds)
            children = sorted(children, key=lambda child: -child.bound)
        self.incumbents.offer_found(found.scanned)
        if found.leaf is not None:
            self.incumbents.offer(np.rint(found.leaf).astype(np.int64))
        if found.returned is not None:
            self._nodes.put_back(found.returned)
        if found.opened is not None:
            self._others.append(found.opened)
        features = self._boxes.rows.all_features if found.features is None else found.features
        for child in children:
            if self._boxes.propagate(child.box):
                self._roundings.consider(child.coef, 1.0 / child.worth.t, child.bound)
                self._push(child, features, found.dives, found.by_relaxation)

    def _push(
        self, child: Child, features: bytes, dives: bool = False, by_relaxation: bool = False
    ) -> None:
        if child.bound < self.incumbents.cutoff_within(child.box):
            self._nodes.push(child, features, dives=dives, by_relaxation=by_relaxation)

    @property
    def total_seconds(self) -> float:
        """Predicted time of the nodes so far, and of what is left as far as that can be said."""
        return max(self.seconds, self._ways.total)

    def _update_bound(self) -> None:
        """Prune open sets that hold no better score; the others bound what is not known."""
        cutoff = self.incumbents.cutoff
        for one in (*self._others, self._nodes):
            one.prune(cutoff)
        self._others = [one for one in self._others if not one.is_done]
        self.complete = self.complete or not (self._others or len(self._nodes))
        bounds = [one.bound for one in (*self._others, self._nodes)]
        self.lower_bound = max(self.lower_bound, min(cutoff, *bounds))

    # ---- trace -----------------------------------------------------------------------------

    def maybe_record(self) -> None:
        """Record a new incumbent, or a gap or a share of supports that has changed."""
        if self._recorder.is_due(self.gap, self.incumbents.n_updates, self.table_counts.share):
            self._record()

    def _record(self) -> None:
        record = TraceRecord(
            time=time.perf_counter() - self.started,
            upper_bound=self.objective,
            lower_bound=min(self.lower_bound, self.objective),
            gap=self.gap,
            nodes=self.nodes,
            cuts=int(self.statistics[1]),
            incumbent_updates=self.incumbents.n_updates,
            table_share=self.table_counts.share,
        )
        self._recorder.add(record, len(self._nodes))

    def finish(self, certificate: Certificate) -> None:
        """Close the trace with what the certificate states.

        Parameters
        ----------
        certificate : Certificate
        """
        self.lower_bound = certificate.lower_bound
        self._record()
