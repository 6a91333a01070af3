"""State of one branch and bound: open nodes, incumbents, bounds, trace.

Nodes are taken in batches of a fixed size, best bound first, and expanded by as many threads as
there are; what they find is merged in the order of the batch. The number of threads changes
nothing but the time.
"""

from __future__ import annotations

import dataclasses
import heapq
import logging
import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import nodes as kernels
from riskslim.engines.branch_and_bound.incumbents import Incumbents
from riskslim.engines.branch_and_bound.multipliers import MAX_PRICED, Sides, priced
from riskslim.engines.branch_and_bound.rows import NodeRows, RowsBySupport, find_twins
from riskslim.exceptions import CertificateError
from riskslim.solution import Certificate, Trace, TraceRecord, optimality_gap

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["BOUND_TOLERANCE", "BranchAndBoundSettings", "Root", "Search"]

logger = logging.getLogger("riskslim.branch_and_bound")

# A node whose bound is this close to the best objective is not looked into: no certificate tells
# objectives apart that differ by less.
BOUND_TOLERANCE = 1e-10
# Change of the gap that is worth a line of the log and a record of the trace.
RECORDED_CHANGE = 1e-3
# Accuracy of the first relaxation, and Newton steps that it and the others may take.
ROOT_TOLERANCE = 1e-7
ROOT_STEPS = 200
STEPS = 25
# Least accuracy of a node's relaxation that is worth asking for.
LEAST_TOLERANCE = 1e-9
# A node's relaxation is rounded always among the first ones, later at intervals.
ALWAYS_ROUNDED = 50
# Accuracy of relaxations by which multipliers of constraints are chosen.
MULTIPLIER_TOLERANCE = 1e-6
_BRANCHING = {"curvature": 0, "look_ahead": 2}


class _KernelArguments(NamedTuple):
    """Rows, problem, cutoff and tolerance: what every kernel begins with."""

    integer_columns: NDArray[np.int8]
    real_columns: NDArray[np.float64]
    slot: NDArray[np.int64]
    positive: NDArray[np.float64]
    negative: NDArray[np.float64]
    penalty: NDArray[np.float64]
    largest: NDArray[np.float64]
    twin: NDArray[np.int64]
    ends: NDArray[Any]
    min_size: int
    max_size: int
    cutoff: float
    tolerance: float


@dataclasses.dataclass(frozen=True)
class BranchAndBoundSettings:
    """Settings of the search; every one of them leaves the result a certified one.

    Parameters
    ----------
    branching : {"look_ahead", "curvature"}
        How the feature to branch on is chosen: by what a quadratic model of the loss predicts for
        the children of the most promising ones, or the one with the largest squared points
        times curvature.
    node_tolerance : float, default 0.05
        A node's relaxation is solved to within this share of the open gap.
    max_node_tolerance : float, default 1e-3
        And to within this, in units of the loss.
    merge_rows : bool, default True
        Merge rows in subtrees that their features no longer tell apart.
    order_twins : bool, default True
        Use the later of two equal or complementary features only where the earlier is at the
        end of its box.
    swaps : bool, default True
        Let polishing exchange one feature for another where no single change helps.
    rounding_interval : int, default 20
        Round and polish every so many relaxations.
    batch_size : int, default 16
        Nodes that are taken at a time, whatever the number of threads.
    memory_limit : int, default 2**31
        Bytes of open nodes beyond which the search dives: it finishes the subtree of the best
        node before it takes another one.

    Raises
    ------
    ValueError
        A value is out of range.

    Examples
    --------
    >>> from riskslim import BranchAndBoundSettings
    >>> BranchAndBoundSettings(branching="curvature").batch_size
    16
    """

    branching: str = "look_ahead"
    node_tolerance: float = 0.05
    max_node_tolerance: float = 1e-3
    merge_rows: bool = True
    order_twins: bool = True
    swaps: bool = True
    rounding_interval: int = 20
    batch_size: int = 16
    memory_limit: int = 2**31

    def __post_init__(self) -> None:
        if self.branching not in _BRANCHING:
            raise ValueError(
                f"branching must be one of {', '.join(map(repr, _BRANCHING))}, "
                f"got {self.branching!r}"
            )
        for name in ("node_tolerance", "max_node_tolerance"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)!r}")
        for name in ("rounding_interval", "batch_size", "memory_limit"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)!r}")


class _Worth(NamedTuple):
    """The worth of one point, t = 1 / scale, and the interval that it may lie in."""

    t: float
    low: float
    high: float


class _Node(NamedTuple):
    """An open node, in little memory: heaps compare bound and order only."""

    bound: float
    order: int
    box: NDArray[np.integer]
    coef: NDArray[np.float32]
    intercept: float  # its derivative is multiplied by a wide box: float32 would cost bound
    multiplier: float
    worth: _Worth
    features: bytes


class _Child(NamedTuple):
    bound: float
    box: NDArray[np.float64]
    coef: NDArray[np.float64]
    multiplier: float
    worth: _Worth


class _Expansion(NamedTuple):
    """The outcome of a node."""

    children: list[_Child]
    leaf: NDArray[np.float64] | None  # its only integer vector
    features: bytes


class Root(NamedTuple):
    """Findings of a relaxation that hold for all vectors.

    Every vector that is better than the best one so far, by more than its tolerance, lies in
    ``box`` (shape (2, d + 1)); none is better than both ``lower_bound`` and the best one.
    ``points`` are solutions of relaxations, empty where nothing is left to search.
    """

    box: NDArray[np.float64]
    lower_bound: float
    points: list[NDArray[np.float64]]


class _Worker:
    """The memory that one thread works in."""

    def __init__(self, n_rows: int, p: int) -> None:
        n_floats, n_indices = kernels.scratch_sizes(n_rows, p)
        self.work = np.empty(n_floats)
        self.index = np.empty(n_indices, np.int64)
        self.box = np.empty((3, 2, p))
        self.coef = np.empty((3, p))
        self.worth = np.empty((3, 3))
        self.result = np.empty((3, 4))
        self.counters = np.zeros(5)


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

    Attributes
    ----------
    lower_bound : float
        No vector that is not among the incumbents has a smaller objective.
    complete : bool
        Whether there is nothing left to look into.
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
    ) -> None:
        self.problem = problem
        self.settings = settings
        self.incumbents = incumbents
        self.stop = stop
        self.started = started
        self.progress = progress
        self.n_threads = n_threads
        self.trace = Trace()
        self.lower_bound = 0.0
        self.complete = False
        self.nodes = 0
        self._order = 0
        self._rounded = 0
        self._heap: list[_Node] = []
        self._dive: list[_Node] = []
        self._recorded_gap = math.inf
        self._recorded_updates = -1
        self._prepare()

    def _prepare(self) -> None:
        """Everything that the kernel is told about the problem."""
        problem, loss = self.problem, self.problem.loss
        p = len(problem.lower)
        data = loss.data
        self._box = np.array([problem.lower, problem.upper], dtype=np.float64)
        self._box_type = _smallest_type(self._box)
        self._penalty = np.concatenate(([0.0], problem.l0_penalty))
        largest = np.maximum(np.abs(data.feature_min), np.abs(data.feature_max))
        self._largest = np.concatenate(([1.0], largest))
        self._rows = RowsBySupport(
            NodeRows.of(loss, problem.usable), merge=self.settings.merge_rows
        )
        self._twin, self._ends = np.full(p, -1, np.int64), np.zeros((2, p))
        if self.settings.order_twins and self.incumbents.is_single and not problem.min_size:
            self._twin, self._ends = find_twins(
                loss, problem.lower, problem.upper, self._penalty, self._eligible(),
                complements=problem.intercept_is_derived,
            )  # fmt: skip
        # What a bound of the kernel lacks: the constant part of constraints with multipliers.
        self._constant = 0.0
        n_rows = self._rows.rows.n_rows + MAX_PRICED + 1
        n_workers = min(self.n_threads, self.settings.batch_size)
        self._workers = [_Worker(n_rows, p) for _ in range(n_workers)]

    def _price_constraints(self) -> None:
        """Let the relaxation take account of linear constraints on points, by multipliers."""
        given, box = self._rows.rows, self._box.copy()
        sides = Sides.of(self.problem, given)
        if not len(sides) or not self._propagate(box):
            return
        worker, coef = self._workers[0], np.zeros(box.shape[1])
        t = 1.0 / self.problem.loss.scale

        def relax(rows: NodeRows) -> tuple[float, NDArray[np.float64]]:
            result = np.array([-math.inf, math.inf, 0.0, 0.0])
            kernels.solve_root(
                *self._arguments(rows, math.inf, MULTIPLIER_TOLERANCE), ROOT_STEPS, box.copy(),
                coef, np.full(3, t), result, self.stop, worker.counters, worker.work, worker.index,
            )  # fmt: skip
            return float(result[0]), coef

        found = priced(sides, given, t, relax=relax, largest=self._largest, box=self._box)
        if found is not None:
            self._constant, self._largest = found.constant, found.largest
            self._rows = RowsBySupport(found.rows, merge=self.settings.merge_rows)

    def _eligible(self) -> NDArray[np.bool_]:
        """Features that can be exchanged for one that says the same."""
        constraints = self.problem.constraint_rows
        if constraints is None:
            return self.problem.usable
        involved = np.zeros(self.problem.n_features, np.bool_)
        for terms in (constraints.points[:, 1:], constraints.used):
            involved |= (terms != 0).any(axis=0)
        for group in constraints.groups:
            involved[group] = True
        for _, j, _ in constraints.allowed_points:
            involved[j - 1] = True
        if (constraints.points[:, 0] != 0).any():
            involved[:] = True  # an exchange may move the intercept
        return self.problem.usable & ~involved

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
        total[4] += self._rows.seconds
        return total

    # ---- the search ------------------------------------------------------------------------

    def solve_root(self) -> None:
        """Relax the root, round it, and tighten its box by what that found.

        A list of scales has as many roots.
        """
        self._price_constraints()
        roots = [
            root
            for scales in self.problem.scales.parts()
            if (root := self._solved_root(1.0 / scales.high, 1.0 / scales.low)) is not None
        ]
        for root in roots:
            self._push(root, self._rows.all_features)
        self._update_bound()
        self._record()

    def _solved_root(self, low: float, high: float) -> _Child | None:
        """Relaxation over one interval of t, None if it has nothing to offer."""
        coef = np.zeros(self._box.shape[1])
        box = self._box.copy()
        nearest = min(max(1.0, low), high)
        worth = np.array([nearest, low, high])
        result = np.array([-math.inf, math.inf, 0.0, 0.0])
        for _ in range(2):
            cutoff = self.incumbents.cutoff
            if not self._relaxed(box, coef, worth, result, ROOT_TOLERANCE, ROOT_STEPS):
                return None
            self.incumbents.round(coef, 1.0 / worth[0])
            if self.stop[0] or self.incumbents.cutoff == cutoff:
                break
        return _Child(self._bound(result), box, coef, result[2], _Worth(*worth.tolist()))

    def _bound(self, result: NDArray[np.float64]) -> float:
        """Bound on the objective that the kernel's result means, which is at least 0."""
        return max(float(result[0]) + self._constant, 0.0)

    def _relaxed(
        self,
        box: NDArray[np.float64],
        coef: NDArray[np.float64],
        worth: NDArray[np.float64],
        result: NDArray[np.float64],
        tolerance: float,
        steps: int,
    ) -> bool:
        """Relax and shrink a box, all in place; False if it has nothing to offer."""
        worker = self._workers[0]
        return self._propagate(box) and not kernels.solve_root(
            *self._arguments(self._rows.rows, self.incumbents.cutoff, tolerance),
            steps, box, coef, worth, result, self.stop, worker.counters, worker.work, worker.index,
        )  # fmt: skip

    def root(self) -> Root:
        """Relax the root, round it and shrink its box by what that found, for another engine.

        Nothing is left to search if no vector can be better than the best one.
        """
        self._price_constraints()
        t = 1.0 / self.problem.loss.scale
        child = self._solved_root(t, t)
        if child is None:
            return Root(self._box, self.incumbents.cutoff, [])
        self.lower_bound = max(self.lower_bound, min(self.incumbents.cutoff, child.bound))
        return Root(child.box, self.lower_bound, [child.coef])

    def probe(self, root: Root, deadline: float) -> Root:
        """Relax the root with every feature in turn used either way, and not used.

        What is left of the root's box is the hull of the boxes of the parts that stay open; the
        smallest of their bounds is one for the root.

        Parameters
        ----------
        root : Root
        deadline : float
            ``time.perf_counter()`` at which probing ends.

        Returns
        -------
        Root
            With the solutions of all relaxations.
        """
        coef = root.points[0]
        box, bound, points = root.box.copy(), root.lower_bound, list(root.points)
        spread = self.incumbents.spread
        for j in np.argsort(-np.abs(coef) * spread, kind="stable"):
            if j == 0 or box[0, j] == box[1, j] or not box[0, j] <= 0 <= box[1, j]:
                continue
            if self.stop[0] or time.perf_counter() >= deadline:
                break
            parts = [self._part(box, coef, int(j), ends) for ends in _signs(*box[:, j])]
            open_parts = [part for part in parts if part is not None]
            if not open_parts:
                return Root(box, self.incumbents.cutoff, [])
            box = np.array(
                [
                    np.min([part.box[0] for part in open_parts], axis=0),
                    np.max([part.box[1] for part in open_parts], axis=0),
                ]
            )
            bound = max(bound, min(part.bound for part in open_parts))
            points.extend(part.coef for part in open_parts)
            for part in open_parts:
                self.incumbents.round(part.coef, self.problem.loss.scale)
        self.lower_bound = max(self.lower_bound, min(bound, self.incumbents.cutoff))
        return Root(box, self.lower_bound, points)

    def shave(self, root: Root, deadline: float) -> Root:
        """Cut off the ends of every range that have nothing to offer, found by bisection.

        Parameters
        ----------
        root : Root
        deadline : float
            ``time.perf_counter()`` at which shaving ends.

        Returns
        -------
        Root
            With the same points.
        """
        coef, box = root.points[0], root.box.copy()
        for j in range(len(coef)):
            middle = float(np.clip(np.rint(coef[j]), *box[:, j]))
            for end, outwards in ((0, -1.0), (1, 1.0)):
                open_at = middle  # the end of the range is there or farther out
                while open_at != box[end, j]:
                    if self.stop[0] or time.perf_counter() >= deadline:
                        return root._replace(box=box)
                    first = open_at + outwards * np.ceil(abs(box[end, j] - open_at) / 2)
                    ends = (first, box[1, j]) if end else (box[0, j], first)
                    part = self._part(box, coef, j, ends)
                    if part is None:
                        box[end, j] = first - outwards
                    else:
                        box[end, j], open_at = part.box[end, j], first
        return root._replace(box=box)

    def _part(
        self,
        box: NDArray[np.float64],
        coef: NDArray[np.float64],
        j: int,
        ends: tuple[float, float],
    ) -> _Child | None:
        """Relaxation with one coefficient between two ends, None if it has nothing to offer."""
        box, coef = box.copy(), coef.copy()
        worth = np.full(3, 1.0 / self.problem.loss.scale)
        box[:, j] = ends
        result = np.array([-math.inf, math.inf, 0.0, 0.0])
        tolerance = self._tolerance(self.incumbents.cutoff, self.lower_bound)
        if not self._relaxed(box, coef, worth, result, tolerance, STEPS):
            return None
        return _Child(self._bound(result), box, coef, result[2], _Worth(*worth.tolist()))

    def run(self, gap_tolerance: float, node_limit: int | None, deadline: float) -> str:
        """Search until nothing is left or a limit is reached; says which."""
        limit = math.inf if node_limit is None else node_limit
        with ThreadPoolExecutor(len(self._workers)) as pool:
            while True:
                self._update_bound()
                if self.complete:
                    return "search completed"
                self.maybe_record()
                if self.stop[0] or time.perf_counter() >= deadline:
                    return "time limit reached"
                if self.nodes >= limit:
                    return "node limit reached"
                if self.incumbents.is_single and self.gap <= gap_tolerance:
                    return "gap tolerance reached"
                if self.incumbents.is_full:
                    return "as many scores as memory is meant for"
                batch = self._next_batch()
                self._merge(batch, self._expanded(batch, pool))

    def _update_bound(self) -> None:
        """Forget open nodes that have nothing to offer; the others bound what is not known."""
        cutoff = self.incumbents.cutoff
        self._dive = [node for node in self._dive if node.bound < cutoff]
        if self._heap and self._heap[0].bound >= cutoff:
            self._heap.clear()
        self.complete = self.complete or not (self._heap or self._dive)
        bounds = [node.bound for node in (*self._heap[:1], *self._dive)]
        self.lower_bound = max(self.lower_bound, min([cutoff, *bounds]))

    def _next_batch(self) -> list[_Node]:
        """The nodes with the best bounds, or the latest ones of a dive."""
        size = self.settings.batch_size
        if self._dive:
            batch = self._dive[: -size - 1 : -1]
            del self._dive[-size:]
            return batch
        cutoff = self.incumbents.cutoff
        batch = []
        while self._heap and len(batch) < size and self._heap[0].bound < cutoff:
            batch.append(heapq.heappop(self._heap))
        return batch

    def _expanded(self, batch: list[_Node], pool: ThreadPoolExecutor) -> Iterator[_Expansion]:
        cutoff, lower_bound = self.incumbents.cutoff, self.lower_bound
        workers = self._workers

        def work(first: int) -> list[_Expansion]:
            return [
                self._expand(node, workers[first], cutoff, lower_bound)
                for node in batch[first :: len(workers)]
            ]

        if len(workers) == 1:
            return iter(work(0))
        parts = list(pool.map(work, range(len(workers))))
        return (parts[i % len(workers)][i // len(workers)] for i in range(len(batch)))

    def _expand(
        self, node: _Node, worker: _Worker, cutoff: float, lower_bound: float
    ) -> _Expansion:
        """Branch on a node and relax its children; touches nothing but the worker."""
        box = node.box.astype(np.float64)
        coef = node.coef.astype(np.float64)
        coef[0] = node.intercept
        worth = np.array(node.worth)
        result = np.array([-math.inf, math.inf, node.multiplier, 0.0])
        rows, features = self._rows.at(box, node.features)
        n_open = kernels.expand(
            *self._arguments(rows, cutoff, self._tolerance(cutoff, lower_bound)),
            STEPS, _BRANCHING[self.settings.branching], box, coef, worth, result,
            worker.box, worker.coef, worker.worth, worker.result, self.stop, worker.counters,
            worker.work, worker.index,
        )  # fmt: skip
        children = [
            _Child(
                max(node.bound, self._bound(worker.result[i])),
                worker.box[i].copy(), worker.coef[i].copy(),
                float(worker.result[i, 2]), _Worth(*worker.worth[i].tolist()),
            )
            for i in range(n_open)
        ]  # fmt: skip
        if n_open == -2 and (box[0] != box[1]).any():
            raise CertificateError(
                "a node with several vectors was taken for one of a single vector"
            )
        return _Expansion(children, box[0] if n_open == -2 else None, features)

    def _tolerance(self, cutoff: float, lower_bound: float) -> float:
        settings = self.settings
        share = settings.node_tolerance * (cutoff - lower_bound)
        return min(settings.max_node_tolerance, max(LEAST_TOLERANCE, share))

    def _arguments(self, rows: NodeRows, cutoff: float, tolerance: float) -> _KernelArguments:
        return _KernelArguments(
            rows.integer_columns, rows.real_columns, rows.slot, rows.positive, rows.negative,
            self._penalty, self._largest, self._twin, self._ends,
            self.problem.min_size, self.problem.max_size, cutoff - self._constant, tolerance,
        )  # fmt: skip

    def _merge(self, batch: list[_Node], expansions: Iterator[_Expansion]) -> None:
        """Take over what a batch found, in its order."""
        diving = self._dive or len(self._heap) * self._node_bytes(batch[0]) > (
            self.settings.memory_limit
        )
        for expansion in expansions:
            self.nodes += 1
            if expansion.leaf is not None:
                self.incumbents.offer(np.rint(expansion.leaf).astype(np.int64))
            # The best child last: a dive takes the latest node first.
            for child in sorted(expansion.children, key=lambda child: -child.bound):
                if self._propagate(child.box):
                    self._consider(child.coef, 1.0 / child.worth.t)
                    self._push(child, expansion.features, dive=bool(diving))

    def _consider(self, coef: NDArray[np.float64], scale: float) -> None:
        """Round a relaxation now and then, and where it is integral."""
        self._rounded += 1
        due = self._rounded <= ALWAYS_ROUNDED or (
            self._rounded % self.settings.rounding_interval == 0
        )
        if due or np.abs(coef - np.rint(coef)).max() < 1e-6:
            self.incumbents.round(coef, scale)

    def _propagate(self, box: NDArray[np.float64]) -> bool:
        """Shrink a box by the constraints; False if no vector of it meets them."""
        constraints = self.problem.constraint_rows
        if constraints is None:
            return True
        lower, upper = np.rint(box).astype(np.int64)
        if not constraints.propagate(lower, upper):
            return False
        box[0], box[1] = lower, upper
        return True

    def _push(self, child: _Child, features: bytes, *, dive: bool = False) -> None:
        if child.bound >= self.incumbents.cutoff:
            return
        self._order += 1
        node = _Node(
            child.bound,
            self._order,
            np.rint(child.box).astype(self._box_type),
            child.coef.astype(np.float32),
            float(child.coef[0]),
            child.multiplier,
            child.worth,
            features,
        )
        if dive:
            self._dive.append(node)
        else:
            heapq.heappush(self._heap, node)

    @staticmethod
    def _node_bytes(node: _Node) -> int:
        return node.box.nbytes + node.coef.nbytes + 400

    # ---- trace -----------------------------------------------------------------------------

    def maybe_record(self) -> None:
        """Record a new incumbent, or a gap that has changed."""
        new_incumbent = self.incumbents.n_updates != self._recorded_updates
        if new_incumbent or self._recorded_gap - self.gap >= RECORDED_CHANGE:
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
        )
        self.trace.append(record)
        self._recorded_gap = record.gap
        self._recorded_updates = record.incumbent_updates
        logger.info(
            "%8.1fs  objective %.8g  bound %.8g  gap %7.2f%%  nodes %d  open %d",
            record.time, record.upper_bound, record.lower_bound,
            100 * record.gap, record.nodes, len(self._heap) + len(self._dive),
        )  # fmt: skip
        if self.progress is not None:
            self.progress(record)

    def finish(self, certificate: Certificate) -> None:
        """Close the trace with what the certificate states.

        Parameters
        ----------
        certificate : Certificate
        """
        self.lower_bound = certificate.lower_bound
        self._record()


def _signs(lower: float, upper: float) -> list[tuple[float, float]]:
    """A range around zero, cut into what is negative, zero and positive."""
    parts = [(lower, -1.0), (0.0, 0.0), (1.0, upper)]
    return [part for part in parts if part[0] <= part[1]]


def _smallest_type(box: NDArray[np.float64]) -> type[np.signedinteger]:
    largest = np.abs(box).max()
    for kind in (np.int8, np.int16, np.int32):
        if largest <= np.iinfo(kind).max:
            return kind
    return np.int64
