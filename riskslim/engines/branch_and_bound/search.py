"""State of one branch and bound: open nodes, incumbents, bounds, trace.

Nodes are taken in batches of a fixed size, best bound first, and expanded by as many threads as
there are; what they find is merged in the order of the batch. The number of threads changes
nothing but the time.
"""

from __future__ import annotations

import dataclasses
import functools
import heapq
import math
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import nodes as kernels
from riskslim.engines.branch_and_bound.additive import AdditiveModel
from riskslim.engines.branch_and_bound.cutoff_search import CutoffCounts, CutoffSearch
from riskslim.engines.branch_and_bound.elimination import Elimination, Piece
from riskslim.engines.branch_and_bound.incumbents import Incumbents
from riskslim.engines.branch_and_bound.multipliers import MAX_PRICED
from riskslim.engines.branch_and_bound.node_rows import NodeRows, RowsBySupport
from riskslim.engines.branch_and_bound.nodes import Child, Expansion, Node, Worth, unexpanded
from riskslim.engines.branch_and_bound.pace import NEVER, Pace, Patience
from riskslim.engines.branch_and_bound.passes import (
    Asked,
    SampledNodes,
    Steps,
    answered,
    answered_together,
)
from riskslim.engines.branch_and_bound.recorder import Recorder
from riskslim.engines.branch_and_bound.relaxations import (
    LEAST_TOLERANCE,
    ROOT_STEPS,
    ROOT_TOLERANCE,
    Relaxations,
)
from riskslim.engines.branch_and_bound.roundings import Roundings
from riskslim.engines.branch_and_bound.search_rows import (
    ALL_IN_MEMORY,
    SearchRows,
    Unions,
    roots_within,
    sampled_nodes,
)
from riskslim.engines.branch_and_bound.stage import Stage, cheaper
from riskslim.engines.branch_and_bound.support_enumeration import (
    Scanned,
    SupportTables,
    TableCounts,
    Task,
    relaxation_seconds,
)
from riskslim.engines.branch_and_bound.workspace import (
    NOTHING_KNOWN,
    NodeWork,
    Part,
    Worker,
    new_workers,
    share,
    smallest_type,
)
from riskslim.engines.settings import BranchAndBoundSettings
from riskslim.exceptions import CertificateError
from riskslim.solution import Certificate, Trace, TraceRecord, optimality_gap

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["BOUND_TOLERANCE", "OUT_OF_PATIENCE", "Search"]

# A node whose bound is this close to the best objective is not looked into: no certificate tells
# objectives apart that differ by less.
BOUND_TOLERANCE = 1e-10
# What a search says that is to go on in another way.
OUT_OF_PATIENCE = "out of patience"
# Tables complete a node if they take no longer than so many relaxations: of a scale, an interval.
RELAXATIONS, RELAXATIONS_OVER_INTERVAL = 3.0, 1.0
# Of the predicted time of tables, the share that the search by relaxations is tried for first.
TRIED_SHARE = 0.1
# And as many seconds, unless the pace of the search is known: many problems are solved by then.
TRIED_SECONDS = 0.25
# The same of a search over cut-offs: relaxations seldom tell hundreds of nested items apart.
CUTOFFS_TRIED_SHARE = 0.03
# Times as long as at one scale that a relaxation over an interval of scales takes.
INTERVAL_FACTOR = 2.5
# Seconds of preparing a search over cut-offs: with the root of the number of items, and for each
# row and item.
PREPARATION_SECONDS, PREPARED_SECONDS = 5e-3, 6e-9
# Predicted time of the rest from which on all supports are divided by the items they use: until
# then bounds of nodes rise at a pace that ends.
ELIMINATION_SECONDS = 100.0
# Predicted time of a node's tables from which on threads share them.
LONG_SECONDS = 0.2


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
        self._order = 0
        self._roundings = Roundings(incumbents, settings.rounding_interval)
        self._heap: list[Node] = []
        self._dive: list[Node] = []
        self.table_counts = TableCounts()
        self.items = SupportTables(
            problem, cost=settings.table_cost, memory=settings.memory_limit,
            counts=self.table_counts, should_stop=self._is_stopped,
        )  # fmt: skip
        self._tables = None if settings.tables == "never" else self.items
        self.cutoff_counts = CutoffCounts()
        self._cutoffs: list[CutoffSearch] = []
        self._held = held
        self._sampled: SampledNodes | None = None
        self._unions: Unions | None = None
        self._prepared: list[CutoffSearch] | None = None
        self._wants_cutoffs = settings.cutoffs != "never"
        self._stage: Stage | None = None
        self._elimination: Elimination | None = None
        self._wants_elimination = settings.elimination != "never"
        self._completes_all = settings.tables == "always"
        self._next_choice = 0
        self._first = 0  # node that tables complete before all others
        self._pace = Pace()
        self._total = 0.0
        self._roots: list[Node] = []
        self._workers: list[Worker] = []
        self._box = np.array([problem.lower, problem.upper], dtype=np.float64)
        self._box_type = smallest_type(self._box)

    def _is_prepared(self) -> bool:
        """Prepare all that the search needs, unless it is to stop before that is done."""
        if not self.stop[0]:
            self._prepare()
        return not self.stop[0]

    def _prepare(self) -> None:
        """Everything that the kernel is told about the problem; it waits for a first score."""
        problem = self.problem
        self._rows = self._held.of_nodes(problem, self.settings, self._is_stopped)
        self._unions = Unions.of(problem, self._rows, self.settings.memory_limit)
        if self._rows.rows.n_elsewhere:
            self._wants_cutoffs = self._wants_elimination = False
        self._relaxations = Relaxations(
            problem, self.settings, self.stop, orders_twins=self._orders_twins,
            should_stop=self._is_stopped,
        )  # fmt: skip
        n_rows = self._rows.most_rows + MAX_PRICED + 1
        n_workers = min(self.n_threads, self.settings.batch_size)
        self._workers = new_workers(n_workers, n_rows, len(problem.lower))

    @property
    def _orders_twins(self) -> bool:
        wanted = self.settings.order_twins and self.incumbents.is_single
        return wanted and not self.problem.min_size and self.problem.loss.store.is_block

    def _is_stopped(self) -> bool:
        return bool(self.stop[0])

    def _price_constraints(self) -> None:
        """Let the relaxation take account of linear constraints on points, by multipliers."""
        given = self._rows.rows
        if given.n_elsewhere:
            return
        rows = self._relaxations.price(given, self._box, self._workers[0], self._propagate)
        if rows is not given:
            self._rows = RowsBySupport(
                rows, merge=self.settings.merge_rows, should_stop=self._is_stopped
            )

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
            total[4] += self._rows.seconds
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
        self._price_constraints()
        self._sampled = sampled_nodes(self._rows, self.settings.sample_rows)
        roots = [
            root
            for scales in self.problem.scales.parts()
            if (root := self._solved_root(1.0 / scales.high, 1.0 / scales.low)) is not None
        ]
        for root in roots:
            self._push(root, self._rows.all_features)
        self._roots = list(self._heap)
        self._update_bound()
        self._record()

    def _untouched(self) -> Child:
        """The root as it is before anything is known of it."""
        scales = self.problem.scales
        worth = Worth(1.0 / scales.high, 1.0 / scales.high, 1.0 / scales.low)
        return Child(0.0, self._box.copy(), np.zeros(self._box.shape[1]), 0.0, worth)

    def _solved_root(self, low: float, high: float) -> Child | None:
        """Relaxation over one interval of t, None if it has nothing to offer."""
        box, coef = self._box.copy(), np.zeros(self._box.shape[1])
        worth = np.array([min(max(1.0, low), high), low, high])
        part = Part(box, coef, worth, np.array([-math.inf, math.inf, 0.0, 0.0]))
        if self._sampled is not None:
            return self._root_by_passes(self._sampled, part) if self._propagate(box) else None
        for _ in range(2):
            cutoff = self.incumbents.cutoff
            rows, worker = self._rows.rows, self._workers[0]
            if not self._propagate(box):
                return None
            if not self._relaxations.relax_root(rows, part, cutoff, worker):
                return None
            self.incumbents.round(coef, 1.0 / worth[0])
            if self.stop[0] or self.incumbents.cutoff == cutoff:
                break
        bound, multiplier = self._bound(part.result), part.result[2]
        return Child(bound, box, coef, multiplier, Worth(*worth.tolist()))

    def _root_by_passes(self, sampled: SampledNodes, root: Part) -> Child | None:
        arguments = self._relaxations.arguments(sampled.sample, math.inf, ROOT_TOLERANCE)
        worker, work = self._workers[0], NodeWork(arguments, ROOT_STEPS, 0, self.stop)
        steps = sampled.root(
            root, work, lambda: self._work(sampled.sample, self.incumbents.cutoff, 0.0),
            lambda coef, t: self.incumbents.round(coef, 1.0 / t), self._rows.rows, worker,
        )  # fmt: skip
        known = answered(steps, lambda asked: self._answer(asked, worker))
        if known is None:
            return None
        worth = Worth(*root.worth.tolist())
        return Child(self._bound(root.result), root.box, root.coef, 0.0, worth, known)

    def _bound(self, result: NDArray[np.float64]) -> float:
        """Bound on the objective that the kernel's result means."""
        return self._relaxations.bound(result)

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
        with ThreadPoolExecutor(max(len(self._workers), 1)) as pool:
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
                if self._cutoffs:
                    self._advance_cutoffs(pool)
                    continue
                if self._stage is not None:
                    self._advance(self._stage, pool)
                    continue
                pieces, least = self._elimination, self._heap[0].bound if self._heap else math.inf
                if pieces is not None and not self._dive and pieces.bound <= least:
                    self._advance_elimination(pieces, pool)
                    continue
                batch = self._next_batch()
                if batch:
                    self._merge(batch, self._expanded(batch, pool))

    @property
    def total_seconds(self) -> float:
        """Predicted time of the nodes so far, and of what is left as far as that can be said."""
        return max(self.seconds, self._total)

    def _update_bound(self) -> None:
        """Forget open nodes that have nothing to offer; the others bound what is not known."""
        cutoff = self.incumbents.cutoff
        self._dive = [node for node in self._dive if node.bound < cutoff]
        if self._heap and self._heap[0].bound >= cutoff:
            self._heap.clear()
        if self._stage is not None and self._stage.bound >= cutoff:
            self._stage = None
            self.table_counts.share = 1.0
        self._cutoffs = [one for one in self._cutoffs if not one.is_done and one.bound < cutoff]
        if self._elimination is not None and not self._elimination.bound < cutoff:
            self._elimination = None
        nodes = self._heap or self._dive
        is_left = nodes or self._stage or self._cutoffs or self._elimination
        self.complete = self.complete or not is_left
        bounds = [node.bound for node in (*self._heap[:1], *self._dive)]
        bounds += [one.bound for one in self._cutoffs]
        bounds += [one.bound for one in (self._stage, self._elimination) if one is not None]
        self.lower_bound = max(self.lower_bound, min([cutoff, *bounds]))

    def _next_batch(self) -> list[Node]:
        """The nodes with the best bounds, or the latest ones of a dive."""
        size = self.settings.batch_size
        if self._dive:
            batch = self._dive[: -size - 1 : -1]
            del self._dive[-size:]
            return batch
        cutoff = self.incumbents.cutoff
        batch = []
        while self._heap and len(batch) < size and self._heap[0].bound < cutoff:
            if self._completes_all and self._begins_stage(self._heap[0]):
                if not batch:
                    self._begin_stage(heapq.heappop(self._heap))
                break
            batch.append(heapq.heappop(self._heap))
        return batch

    def _expanded(self, batch: list[Node], pool: Executor) -> list[Expansion]:
        cutoff, lower_bound, workers = self.incumbents.cutoff, self.lower_bound, self._workers
        self._choose_first(batch)
        passes = None if self._sampled is None else self._sampled.passes
        if passes is not None:  # what nodes ask is answered by common ones
            steps = [
                self._steps(node, workers[i % len(workers)], cutoff, lower_bound)
                for i, node in enumerate(batch)
            ]
            return answered_together(
                steps, lambda asked: passes.answers(asked, workers[0]), pool, len(workers)
            )

        def work(node: Node, worker: Worker) -> Expansion:
            return self._expand(node, worker, cutoff, lower_bound)

        return share(workers, batch, work, pool, self._roundings.aside)

    def _choose_first(self, batch: list[Node]) -> None:
        # What boxes of supports cost is not known before the first node: it is completed alone.
        cheap = (node.order for node in batch if self._is_cheap(node))
        self._first = 0 if self._completes_all or self.table_counts.supports else next(cheap, 0)

    def _expand(self, node: Node, worker: Worker, cutoff: float, lower_bound: float) -> Expansion:
        """Branch on a node and relax its children; touches nothing but the worker."""
        steps = self._steps(node, worker, cutoff, lower_bound)
        return answered(steps, lambda asked: self._answer(asked, worker))

    def _answer(self, asked: Asked, worker: Worker) -> NDArray[np.float64] | None:
        """Linearise the loss of all rows at points; None after a stop."""
        assert self._sampled is not None
        return self._sampled.answer(asked, self.stop, worker)

    def _steps(
        self, node: Node, worker: Worker, cutoff: float, lower_bound: float
    ) -> Steps[Expansion]:
        """The same, for somebody who answers what is asked about all rows."""
        box = node.box.astype(np.float64)
        coef = node.coef.astype(np.float64)
        coef[0] = node.intercept
        worth = np.array(node.worth)
        if self.stop[0]:
            return unexpanded(node, box, coef, node.bound, node.worth)
        if self._first in (0, node.order) and self._is_cheap(node):
            completed = self._completed(node, box, worker, cutoff, lower_bound)
            if completed is not None:
                return completed
        result = np.array([-math.inf, math.inf, node.multiplier, 0.0])
        rows, features = self._rows.at(box, node.features)
        part, known = Part(box, coef, worth, result), node.known
        found: list[tuple[Part, NDArray[np.float64]]] = []
        exact = self._work(rows, cutoff, lower_bound)
        if self._sampled is not None and self._sampled.is_for(rows):
            work = self._work(self._sampled.sample, cutoff, lower_bound)
            n_open, found, known = yield from self._sampled.expand(
                part, known, work, exact, rows, worker
            )
        else:
            n_open, parts = exact.expand(part, worker)
            found = [(one, NOTHING_KNOWN) for one in parts]
        if n_open == -3:
            least = max(node.bound, self._bound(result))
            worth_left = Worth(*worth.tolist())
            return unexpanded(node._replace(known=known), box, coef, least, worth_left)
        children = [self._child(node, *one) for one in found]
        if n_open == -2 and (box[0] != box[1]).any():
            raise CertificateError(
                "a node with several vectors was taken for one of a single vector"
            )
        seconds = self._relaxation_seconds(box, rows)
        return Expansion(children, box[0] if n_open == -2 else None, features, None, seconds)

    # ---- tables of supports ------------------------------------------------------------------

    def _choose(self) -> None:
        """Decide whether all that is left is completed by tables, or by a search over cut-offs.

        Times are predicted from sizes, not measured, so that the search does not depend on the
        load of the machine.
        """
        is_due = self.nodes >= self._next_choice and self._stage is None
        if self._unions is not None and is_due and not self._completes_all:
            self._begin_unions(self._unions)
        if self._stage is not None or not math.isfinite(self.incumbents.cutoff):
            return
        if self.settings.elimination == "always" and self._wants_elimination:
            self._begin_elimination()
        if self._elimination is not None:
            return
        if self.settings.cutoffs == "always" and self._wants_cutoffs:
            self._begin_cutoffs(math.inf)
        if self._cutoffs or self.nodes < self._next_choice:
            return
        self._next_choice = max(2 * self.nodes, 1)
        spent, nodes = self.seconds, [*self._heap, *self._dive]
        bounds = [node.bound for node in nodes]
        remaining = self._pace.remaining_seconds(self.incumbents.cutoff, bounds)
        if self._completes_all:
            assert self._tables is not None
            remaining = min(remaining, cheaper(self._tables, self._roots, nodes)[1])
        elif self._tables is not None and self.settings.tables == "auto":
            remaining = min(remaining, self._choose_tables(self._tables, remaining))
        if not self._completes_all and self._wants_cutoffs:
            least = RELAXATIONS * self._relaxation_seconds(self._box)
            self._begin_cutoffs(max(min(remaining, spent / CUTOFFS_TRIED_SHARE), least))
        is_long = self._pace.is_known and remaining > ELIMINATION_SECONDS
        if self._wants_elimination and is_long and not (self._completes_all or self._cutoffs):
            self._begin_elimination()
        # Of fewer nodes nothing is known, unless they are all that there will be.
        if self._completes_all or self._cutoffs or self._pace.is_known:
            self._total = spent + remaining

    def _begin_unions(self, unions: Unions) -> None:
        """Search unions of features one by one, once that is predicted to take less time."""
        bounds = [node.bound for node in (*self._heap, *self._dive)]
        remaining = self._pace.remaining_seconds(self.incumbents.cutoff, bounds)
        of_node = self._relaxation_seconds(self._box)
        plan = unions.plan(self._roots, self.seconds, remaining, of_node)
        if plan is None:
            self._unions = unions if unions.are_possible else None
            return
        self.seconds += unions.count(plan)
        self._unions = self._tables = None  # cells say what tables do, with fewer counts
        self._heap, self._dive = [], []
        assert self._sampled is not None
        work = self._work(self._sampled.sample, self.incumbents.cutoff, self.lower_bound)
        for root, part in roots_within(plan, self._roots, self._relaxations.constant):
            known = work.knowing(root.known)
            if len(root.known) and known.settle(part, self._workers[0]) == kernels.PRUNED:
                continue
            child = self._child(root, part, root.known)
            if self._propagate(child.box):
                self._push(child, self._rows.all_features, by_relaxation=True)

    def _choose_tables(self, tables: SupportTables, remaining: float) -> float:
        """Complete all that is left if that is predicted to take less than the search would.

        Returns how long it is predicted to take.
        """
        least = RELAXATIONS * self._relaxation_seconds(self._box)
        nodes = [*self._heap, *self._dive]
        nodes, seconds = cheaper(tables, self._roots, nodes, max(remaining, least))
        is_tried = self._pace.is_known or self.seconds >= TRIED_SECONDS
        tried = self.seconds / TRIED_SHARE if is_tried else 0.0
        limit = max(min(remaining, tried), least)
        if seconds <= limit:
            boxes = [(node.box, *node.worth[1:]) for node in nodes if not node.by_relaxation]
            seconds += tables.sampled_seconds(boxes, seconds, self.incumbents.cutoff, self.stop)
        self._completes_all = seconds <= limit
        if self._completes_all and nodes is self._roots:
            self._heap, self._dive = list(self._roots), []
            heapq.heapify(self._heap)
        return seconds

    def _begin_cutoffs(self, limit: float) -> None:
        """Search over cut-offs where that is possible, and predicted to take less than a limit."""
        n_items = self.items.n_items
        preparation = PREPARED_SECONDS * self.problem.loss.n_rows * n_items
        if limit < max(PREPARATION_SECONDS * n_items**0.5, preparation / CUTOFFS_TRIED_SHARE):
            return
        if self._prepared is None:
            self._prepared = CutoffSearch.of_roots(
                self.problem, self._roots, self.items, self.settings.cutoffs, self._is_stopped
            )
        searches = self._prepared
        self._wants_cutoffs = bool(searches)
        is_cheap = bool(searches) and sum(one.seconds for one in searches) <= limit
        if is_cheap and all(one.sort_rows(self._is_stopped) for one in searches):
            self._wants_cutoffs = False
            self._heap, self._dive, self._cutoffs = [], [], searches

    def _advance_cutoffs(self, pool: ThreadPoolExecutor) -> None:
        """Divide the next nodes of a search over cut-offs; supports that are left become nodes."""
        cutoff, workers, one = self.incumbents.cutoff, self._workers, self._cutoffs[0]
        units = one.next_units(self.settings.batch_size, cutoff, self.settings.memory_limit)
        found = share(
            self._workers, units, lambda unit, _: one.run(unit, cutoff, self.stop), pool,
            self._roundings.aside,
        )  # fmt: skip
        before = dataclasses.replace(one.counts)
        one.merge(units, found)
        self.cutoff_counts.add(one.counts, before)
        supports = one.newly_left(units)
        # A leaf has a part of its support's points: its bound says nothing of the others.
        scanned = Scanned(supports, np.zeros(len(supports)), np.zeros(5, np.int64))
        self._push_supports(
            self._supported(one.node, one.box, scanned, workers[0], cutoff, self.lower_bound)
        )

    def _push_supports(self, children: list[Child]) -> None:
        """Open nodes of single supports."""
        for child in children:
            if self._propagate(child.box):
                self._roundings.consider(child.coef, 1.0 / child.worth.t, child.bound)
                self._push(child, self._rows.all_features, by_relaxation=True)

    def _begin_elimination(self) -> None:
        """Divide all supports by the items that they use, where tables can look at them."""
        self._wants_elimination = False
        if self._tables is None:
            return
        rows, boxes = self._rows.rows, [root.box for root in self._roots]
        limits = (self.problem.max_size, self.settings.memory_limit, self._is_stopped)
        self._elimination = Elimination.of(
            self._roots, self._tables, self.incumbents.spread,
            self._bound_by, self._supported, self._relaxation_seconds,
            lambda: AdditiveModel.of(rows, boxes, *limits),
            lambda cutoff: self._relaxations.arguments(rows, cutoff, LEAST_TOLERANCE),
        )  # fmt: skip
        if self._elimination is not None:
            self._heap, self._dive = [], []

    def _relaxed_by(
        self,
        worker: Worker,
        box: NDArray[np.float64],
        coef: NDArray[np.float64],
        worth: NDArray[np.float64],
        cutoff: float,
        lower_bound: float,
    ) -> NDArray[np.float64] | None:
        """Relax and shrink a box, all in place, on its own rows; None: it has nothing to offer."""
        part = Part(box, coef, worth, np.array([-math.inf, math.inf, 0.0, 0.0]))
        rows, _ = self._rows.at(box, self._rows.all_features)
        exact, sampled = self._work(rows, cutoff, lower_bound), self._sampled
        if sampled is None or not sampled.is_for(rows):
            return None if exact.relax(part, worker) == kernels.PRUNED else part.result
        work = self._work(sampled.sample, cutoff, lower_bound)
        sampled.move(part, work, worker)
        steps = sampled.proven([(part, NOTHING_KNOWN)], work, exact, rows, worker)
        return part.result if answered(steps, lambda asked: self._answer(asked, worker)) else None

    def _bound_by(self, *arguments: Any) -> float:
        """Bound of what a box has to offer, that is relaxed and shrunk in place."""
        result = self._relaxed_by(*arguments)
        return math.inf if result is None else self._bound(result)

    def _advance_elimination(self, one: Elimination, pool: Executor) -> None:
        """Divide the next pieces; supports that are left become nodes."""
        cutoff, lower_bound = self.incumbents.cutoff, self.lower_bound
        batch = one.next_batch(self.settings.batch_size, cutoff)

        for divided in share(
            self._workers, batch,
            lambda piece, worker: one.divide(piece, worker, cutoff, lower_bound, self.stop),
            pool, self._roundings.aside,
        ):  # fmt: skip
            self.nodes += 1
            self.seconds += divided.seconds
            one.merge(divided)
            self.table_counts.add_node(divided.scanned)
            self.incumbents.offer_found(divided.scanned)
            self._push_supports(divided.children)

    def _relaxation_seconds(self, box: NDArray[np.float64], rows: NodeRows | None = None) -> float:
        """Predict the time of a node's relaxation, by default of one that reads all rows."""
        live = int(np.count_nonzero((box[0, 1:] != 0) | (box[1, 1:] != 0)))
        factor = INTERVAL_FACTOR if self._is_over_interval else 1.0
        n_rows = (self._rows.rows if rows is None else rows).n_read
        return factor * relaxation_seconds(n_rows, live)

    @functools.cached_property
    def _is_over_interval(self) -> bool:
        return any(root.worth.low < root.worth.high for root in self._roots)

    def _is_cheap(self, node: Node) -> bool:
        """Say whether a node is completed by tables rather than branched on."""
        if self._tables is None or node.by_relaxation or math.isinf(self.incumbents.cutoff):
            return False
        box = node.box.astype(np.float64)
        seconds = self._tables.predicted_seconds(box, is_part=True)
        most = RELAXATIONS if node.worth.low == node.worth.high else RELAXATIONS_OVER_INTERVAL
        if self._completes_all or seconds > most * self._relaxation_seconds(box):
            return self._completes_all
        # Rows are merged for it only where that decides: most likely they are needed.
        rows, _ = self._rows.at(box, node.features)
        return seconds <= most * self._relaxation_seconds(box, rows)

    def _completed(
        self,
        node: Node,
        box: NDArray[np.float64],
        worker: Worker,
        cutoff: float,
        lower_bound: float,
    ) -> Expansion | None:
        """Return the rest of a node of which tables look at every support; None if they cannot."""
        assert self._tables is not None
        completion = self._tables.completion(box, node.worth.low, node.worth.high)
        if completion is None:
            return None
        scanned = completion.scan(completion.whole(), cutoff, self.stop)
        if scanned is None:
            return None
        children = self._supported(node, box, scanned, worker, cutoff, lower_bound)
        seconds = self._tables.predicted_seconds(box, is_part=True)
        return Expansion(children, None, node.features, scanned, seconds)

    def _supported(
        self,
        node: Node | Piece,
        box: NDArray[np.float64],
        scanned: Scanned,
        worker: Worker,
        cutoff: float,
        lower_bound: float,
    ) -> list[Child]:
        """Relax what is left of a box for each of the supports that tables leave."""
        children = []
        for support, bound in zip(scanned.supports, scanned.bounds.tolist(), strict=True):
            out = np.ones(box.shape[1], np.bool_)
            out[0] = out[1 + support] = False
            own, coef, worth = box.copy(), np.zeros(box.shape[1]), np.array(node.worth)
            own[:, out] = 0.0
            result = self._relaxed_by(worker, own, coef, worth, cutoff, lower_bound)
            if result is not None:
                least, worth_left = max(node.bound, bound, self._bound(result)), worth.tolist()
                children.append(Child(least, own, coef, float(result[2]), Worth(*worth_left)))
        return children

    def _begins_stage(self, node: Node) -> bool:
        """Say whether a node's supports are so many that all threads should share them."""
        if node.by_relaxation or self._tables is None or not math.isfinite(self.incumbents.cutoff):
            return False
        return LONG_SECONDS < self._tables.predicted_seconds(node.box) < math.inf

    def _begin_stage(self, node: Node) -> None:
        assert self._tables is not None
        box = node.box.astype(np.float64)
        completion = self._tables.completion(box, node.worth.low, node.worth.high)
        if completion is None:
            heapq.heappush(self._heap, node._replace(by_relaxation=True))
        else:
            self._stage = Stage(node, box, completion, node.bound)
            self.table_counts.share = 0.0

    def _advance(self, stage: Stage, pool: ThreadPoolExecutor) -> None:
        """Look at the next supports of a node that is being completed."""
        cutoff, lower_bound = self.incumbents.cutoff, self.lower_bound
        units = stage.next_units(self.settings.batch_size)

        def work(unit: list[Task], worker: Worker) -> list[tuple[Scanned, list[Child]]] | None:
            return stage.scan(unit, cutoff, self.stop, lambda scanned: self._supported(
                stage.node, stage.box, scanned, worker, cutoff, lower_bound
            ))  # fmt: skip

        # Each task sorts the rows: units of many take longer than they are predicted to.
        done = share(self._workers, units, work, pool, self._roundings.aside, len)
        for unit, found in zip(units, done, strict=True):
            if found is None:
                if not self.stop[0]:  # too many supports are left
                    heapq.heappush(
                        self._heap, stage.node._replace(bound=stage.bound, by_relaxation=True)
                    )
                    self._stage = None
                return
            stage.done(unit)
            for scanned, children in found:
                self.table_counts.add(scanned)
                self.incumbents.offer_found(scanned)
                self._push_supports(children)
        if stage.is_done:
            self.nodes += 1
            self.table_counts.nodes += 1
            self.table_counts.share = 1.0
            self._stage = None
        else:
            self.table_counts.share = stage.share
            self._raise_stage(stage)

    def _raise_stage(self, stage: Stage) -> None:
        """Bound what is left of a node by its relaxation without the items that are done."""
        out = None if self._rows.rows.n_elsewhere else stage.newly_out()
        if out is None:
            return
        box, coef = stage.box.copy(), np.zeros(stage.box.shape[1])
        box[:, 1 + out] = 0.0
        bound = self._bound_by(
            self._workers[0], box, coef, np.array(stage.node.worth),
            self.incumbents.cutoff, self.lower_bound,
        )  # fmt: skip
        if not self.stop[0] or bound < math.inf:
            stage.bound = max(stage.bound, bound)

    def _child(self, node: Node, part: Part, known: NDArray[np.float64]) -> Child:
        return Child(
            max(node.bound, self._bound(part.result)), part.box, part.coef,
            float(part.result[2]), Worth(*part.worth.tolist()), known,
        )  # fmt: skip

    def _work(self, rows: NodeRows, cutoff: float, lower_bound: float) -> NodeWork:
        return self._relaxations.work(rows, cutoff, lower_bound)

    def _merge(self, batch: list[Node], expansions: list[Expansion]) -> None:
        """Take over what a batch found, in its order."""
        diving = self._dive or len(self._heap) * batch[0].nbytes > (self.settings.memory_limit)
        for node, expansion in zip(batch, expansions, strict=True):
            self.nodes += 1
            self.seconds += expansion.seconds
            self.incumbents.searched_seconds = self.seconds
            self._pace.add(
                node.bound, [child.bound for child in expansion.children], expansion.seconds
            )
            self.table_counts.add_node(expansion.scanned)
            self.incumbents.offer_found(expansion.scanned)
            if expansion.leaf is not None:
                self.incumbents.offer(np.rint(expansion.leaf).astype(np.int64))
            # The best child last: a dive takes the latest node first.
            for child in sorted(expansion.children, key=lambda child: -child.bound):
                if self._propagate(child.box):
                    self._roundings.consider(child.coef, 1.0 / child.worth.t, child.bound)
                    self._push(
                        child, expansion.features, dive=bool(diving),
                        by_relaxation=node.by_relaxation or expansion.scanned is not None,
                    )  # fmt: skip

    def _propagate(self, box: NDArray[np.float64]) -> bool:
        """Shrink a box by the constraints; False if no vector of it meets them."""
        constraints, allows = self.problem.constraint_rows, self.incumbents.allows
        if constraints is None and allows is None:
            return True
        lower, upper = np.rint(box).astype(np.int64)
        if constraints is not None and not constraints.propagate(lower, upper):
            return False
        box[:] = lower, upper
        return allows is None or allows(lower, upper)

    def _push(
        self,
        child: Child,
        features: bytes,
        *,
        dive: bool = False,
        by_relaxation: bool = False,
    ) -> None:
        if child.bound >= self.incumbents.cutoff:
            return
        self._order += 1
        node = Node(
            child.bound, self._order, np.rint(child.box).astype(self._box_type),
            child.coef.astype(np.float32), float(child.coef[0]), child.multiplier, child.worth,
            features, by_relaxation, child.known,
        )  # fmt: skip
        if dive:
            self._dive.append(node)
        else:
            heapq.heappush(self._heap, node)

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
        self._recorder.add(record, len(self._heap) + len(self._dive))

    def finish(self, certificate: Certificate) -> None:
        """Close the trace with what the certificate states.

        Parameters
        ----------
        certificate : Certificate
        """
        self.lower_bound = certificate.lower_bound
        self._record()
