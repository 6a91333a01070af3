"""The ways in which engines solve a problem: one table, for the contract and for benchmarks.

A way has settings, and constants under which a small problem takes the way of a large one. What
settings leave open is drawn: so a way is called with a problem, a generator and options.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np

from enumeration import SmallProblem
from partitions import elsewhere
from riskslim import LatticeCPASettings, Solution, branch_and_bound, lattice_cpa
from riskslim.constraints import search as constraint_search
from riskslim.engines.branch_and_bound import (
    additive,
    costs,
    elimination,
    incumbents,
    passes,
    rates,
    relaxations,
    roundings,
    stage,
    unions,
    wider_intercepts,
    workspace,
)
from riskslim.engines.branch_and_bound import (
    cutoff_search as cutoffs,
)
from riskslim.engines.branch_and_bound import (
    search_rows as parts,
)
from riskslim.engines.branch_and_bound import (
    support_enumeration as tables,
)
from riskslim.engines.lattice_cpa import lcpa as lattice
from riskslim.engines.lattice_cpa.listing import Listing
from riskslim.exceptions import RiskSLIMError
from riskslim.rows.base import PartitionedRows
from riskslim.solution import SolveStatistics
from searches import StopWithin
from variants import variant

Way = Callable[..., Solution]
Patch = tuple[Any, dict[str, Any]]
Generator = np.random.Generator

# All end within seconds; on a machine that lets this process wait for minutes, too.
LIMIT: dict[str, Any] = {"time_limit": 600.0}
# Share of the searches that use two threads.
SHARE_OF_THREADS = 0.2

# Constraints that clash are all named: which are superfluous is told by tests of the names, and
# takes longer than all else.
NAMED_AT_ONCE = (constraint_search, {"TOTAL_SECONDS": 0.0})

# Constants under which small problems take the ways of large ones.
IN_PIECES = (elimination, {"RELAXATIONS": 0.0, "AHEAD": 0.5})
BY_FAMILIES = (
    (elimination, {
        "LEAST_USED": 1, "RELAXATIONS": 0.0, "FAMILIES_SECONDS": 0.0, "PROMISING": 0.0,
    }),
    (additive, {"FEATURES_PER_FAMILY": 1.0}),
)  # fmt: skip
IN_STEPS = (
    (stage, {"TASK_SECONDS": 1e-7}), (tables, {"TASK_SECONDS": 1e-7}),
    (stage, {"LONG_SECONDS": 0.0}),
    (cutoffs, {"BATCH_NODES": 2, "BATCH_EVALUATED": 3, "ROUND_NODES": 1}),
)  # fmt: skip
FEW_SUPPORTS = (tables, {"MOST_FOUND": 1})
ROUNDED_ASIDE = (incumbents, {"ROUGH_ROWS": 3})
LITTLE_ROOM = (parts, {"MERGED_SHARE": 0.0, "SAMPLE_ROWS": 20})
NO_ROOM = (parts, {"MERGED_SHARE": 0.0, "SAMPLE_ROWS": 20, "MOST_CELLS": 8, "PLANES_SHARE": 0.0})
FOR_UNIONS = (
    LITTLE_ROOM, (parts, {"TRIED_SHARE": 0.0, "MOST_CELLS": 9}),
    (costs, {"UNION_NODES": 0.0, "ROW_NS": 0.0}),
)  # fmt: skip
# Bounds of the intercept that a list finds to be too narrow, so that it is searched for once more.
REPEATED = (wider_intercepts.WiderIntercepts, {"first": lambda self, problem: problem})


@contextlib.contextmanager
def patched(*changes: Patch) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for owner, values in changes:
            for name, value in values.items():
                stack.enter_context(mock.patch.object(owner, name, value))
        yield


def settings_drawn(rng: Generator, **chosen: Any) -> Any:
    """Settings of a variant, with those that a way chooses or draws."""
    values = {name: value(rng) if callable(value) else value for name, value in chosen.items()}
    return dataclasses.replace(variant(int(rng.integers(2**31))), **values)


def one_of(*values: Any) -> Callable[[Generator], Any]:
    return lambda rng: values[rng.integers(len(values))]


def _native(*patches: Patch, **chosen: Any) -> Way:
    """A way of branch and bound on rows in memory."""

    def solve(problem: Any, rng: Generator, *, changes: Any = None, **options: Any) -> Solution:
        settings = dataclasses.replace(settings_drawn(rng, **chosen), **(changes or {}))
        n_threads = 1 + int(rng.random() < SHARE_OF_THREADS)
        options = {"n_threads": n_threads, "settings": settings, **LIMIT, **options}
        with patched(NAMED_AT_ONCE, *patches):
            return branch_and_bound(problem, **options)

    return solve


def _in_parts(*patches: Patch, **chosen: Any) -> Way:
    """The same on rows in parts, in memory or in files, merged before or not."""
    choices = {"tables": one_of("auto", "always", "never"), "sample_rows": one_of(1, 5, 20)}
    native = _native(*patches, **choices, memory_limit=one_of(2**31, 10**6), **chosen)

    def solve(problem: Any, rng: Generator, **options: Any) -> Solution:
        return native(elsewhere(problem, int(rng.integers(2**31))), rng, **options)

    return solve


def _lattice(solver: str, *patches: Patch) -> Way:
    """LCPA with parts of it on and off: all in a third of the searches."""

    def solve(problem: Any, rng: Generator, **options: Any) -> Solution:
        on = rng.random() < 1 / 3
        switches = ("initialization", "chained_updates", "rounding", "polishing", "swaps")
        chosen = {name: bool(on or rng.random() < 0.5) for name in switches}
        chosen |= {name: values[rng.integers(len(values))] for name, values in LEVERS.items()}
        n_threads = 1 + int(rng.random() < SHARE_OF_THREADS / 2)
        options = {
            "n_threads": n_threads, "settings": LatticeCPASettings(**chosen), **LIMIT, **options
        }  # fmt: skip
        with patched(NAMED_AT_ONCE, *patches):
            return lattice_cpa(problem, solver=solver, **options)

    return solve


def _no_list(*_: Any) -> Listing:
    return Listing(False, SolveStatistics())


def _no_tree(*_: Any) -> str:
    return lattice.TIME_LIMIT


# Values of the settings of LCPA beside its parts.
LEVERS = {
    "fractional_rounds": [None, 3, 0, 1, 50],
    "fractional_threshold": [0.001, 0.0, 0.3],
    "cut_pool": [1000, 0, 4],
    "branching_priority": [None, True, False],
    "native_root": [True, False],
    "probing": [True, False],
    "sign_split": [True, False],
    "subsampling": [None, None, True],
}

NATIVE: dict[str, Way] = {
    "as chosen": _native(),
    "relaxations": _native(tables="never", cutoffs="never", elimination="never"),
    "tables": _native(tables="always"),
    "tables in steps": _native(*IN_STEPS, tables="always"),
    "tables of few supports": _native(*IN_STEPS, FEW_SUPPORTS, tables="always"),
    "tables of nodes": _native(tables="nodes"),
    "cut-offs": _native(cutoffs="always"),
    "cut-offs in steps": _native(*IN_STEPS, cutoffs="always"),
    "elimination": _native(
        IN_PIECES, elimination="always", cutoffs="never", tables=one_of("auto", "nodes"),
        table_cost=one_of(1e-3, 1.0, 1e3), batch_size=one_of(1, 2, 3, 4),
    ),
    "families": _native(
        *BY_FAMILIES, elimination="always", cutoffs="never", batch_size=one_of(1, 2, 3, 4),
    ),
    "families to the end": _native(
        *BY_FAMILIES, (elimination, {"FAMILIES_AHEAD": 1.0}), elimination="always", cutoffs="never",
    ),
    "few passes": _native(tables="never", cutoffs="never", sample_rows=one_of(1, 2, 5)),
    "rounded aside": _native(ROUNDED_ASIDE, tables="never", cutoffs="never"),
}  # fmt: skip
PARTS: dict[str, Way] = {
    "rows in parts": _in_parts(),
    "rows in parts, little room": _in_parts(LITTLE_ROOM),
    "rows in parts, no room": _in_parts(NO_ROOM),
    "rows in parts, unions": _in_parts(*FOR_UNIONS),
}
LATTICE: dict[str, Way] = {
    f"LCPA with {solver.upper()}": _lattice(solver)
    for solver, package in (("cplex", "cplex"), ("scip", "pyscipopt"))
    if importlib.util.find_spec(package) is not None
}
WAYS: dict[str, Way] = {**NATIVE, **PARTS, **LATTICE}
# Of problems with constraints on rates: LCPA meets scores in order, and leaves what is left to a
# solver, in its tree. Without an order, all is left to it.
RATES: dict[str, Way] = {
    "as chosen": NATIVE["as chosen"],
    "relaxations": NATIVE["relaxations"],
    "tables": _native(tables="always", table_cost=one_of(1e-3, 1.0, 50.0)),
    "without heuristics": _native((rates.Rates, {"found_near": lambda *_, **__: iter(())})),
}  # fmt: skip
LATTICE_RATES: dict[str, Way] = {
    **{
        name.replace("LCPA with", "tree of"): _lattice(
            name.split()[-1].lower(), (lattice, {"list_in_order": _no_list})
        )
        for name in LATTICE
    },
    **({"LCPA in order": _lattice("cplex", (lattice.LatticeCPARun, {"_search_tree": _no_tree}))}
       if "LCPA with CPLEX" in LATTICE else {}),
}  # fmt: skip
# And of lists alone.
EVERY: dict[str, Way] = {**WAYS, "repeated": _native(REPEATED)}


def ways_of(small: SmallProblem) -> list[str]:
    """Ways in which it is the same problem.

    Rows of weight 0 are not among those in parts: where a column differs in them alone, it is
    constant there, and has no points.
    """
    counted = small.X if small.weights is None else small.X[small.weights > 0]
    is_same = np.all((np.ptp(counted, axis=0) == 0) == (np.ptp(small.X, axis=0) == 0))
    return [way for way in EVERY if is_same or way not in PARTS]


# --- what shows that a way was taken --------------------------------------------------------------

# Functions of the ways, and what their results say: (owner, name, {event: test of the result}).
EVENTS: tuple[tuple[Any, str, dict[str, Callable[..., bool]]], ...] = (
    (workspace.NodeWork, "expand", {"nodes": lambda _: True}),
    (tables.Completion, "scan", {
        "tables": lambda found: found is not None,
        "tables that exclude": lambda found: found and found.counted[0] > found.counted[3],
    }),
    (cutoffs.CutoffSearch, "run", {"cut-offs": lambda _: True}),
    (elimination.Elimination, "divide_piece", {
        "pieces": lambda _: True,
        "pieces by tables": lambda found: found.scanned is not None,
        "pieces by levels": lambda found: found.scanned is not None and len(found.pieces) == 1,
    }),
    (additive.AdditiveModel, "fit", {
        "families": lambda _: True,
        "families fitted in part": lambda found: found.is_early,
        "families that are over": lambda found: found.bound == np.inf,
    }),
    (passes.SampledNodes, "answer", {"passes": lambda _: True}),
    (PartitionedRows, "linearisations", {"passes over parts": lambda _: True}),
    (unions.UnionCells, "merged", {"unions": lambda found: found is not None}),
    (roundings.Roundings, "work", {"rounded aside": lambda _: True}),
    (relaxations, "priced", {"multipliers": lambda found: found is not None}),
    (wider_intercepts.WiderIntercepts, "wider", {"repeated lists": lambda one: one is not None}),
)  # fmt: skip


@contextlib.contextmanager
def counted_events() -> Iterator[Counter[str]]:
    """Count what shows that ways were taken."""
    counts: Counter[str] = Counter()

    def counted(original: Callable[..., Any], tests: dict[str, Callable[..., bool]]) -> Any:
        def called(*arguments: Any, **options: Any) -> Any:
            found = original(*arguments, **options)
            counts.update(event for event, test in tests.items() if test(found))
            return found

        return called

    with contextlib.ExitStack() as stack:
        for owner, name, tests in EVENTS:
            wrapped = counted(getattr(owner, name), tests)
            stack.enter_context(mock.patch.object(owner, name, wrapped))
        yield counts


# --- stops ----------------------------------------------------------------------------------------

# Kernels that look at the flag that ends a search, by the modules that call them.
STOPPED = (
    (workspace, ("solve_root", "expand", "settle")),
    (tables, ("scan",)), (cutoffs, ("search",)), (passes, ("linearise", "slope_sums")),
    (additive, ("fit", "linearise")),
)  # fmt: skip
# Steps of a search before which the flag can be set.
STEPS = (stage.Stage, cutoffs.CutoffSearch, elimination.Elimination)


def stopped(way: Way, problem: Any, rng: Generator) -> Solution | None:
    """Solve in a way that is stopped: by a limit, before a step, or at any look of a kernel.

    None where that was before any score was found, which happens under constraints.
    """
    try:
        return one_of(_by_limit, _before_step, _within_kernel)(rng)(way, problem, rng)
    except RiskSLIMError as error:
        if "before any risk score was found" in str(error) or "were read once" in str(error):
            return None
        raise


def _by_limit(way: Way, problem: Any, rng: Generator) -> Solution:
    limit = {"node_limit": int(rng.integers(0, 8))} if rng.random() < 0.9 else {"time_limit": 1e-9}
    return way(problem, rng, **limit)


def _before_step(way: Way, problem: Any, rng: Generator) -> Solution:
    left, looks = [int(rng.geometric(0.3))], int(rng.integers(-8, 2))

    def stopping(original: Callable[..., Any]) -> Callable[..., Any]:
        def divide(self: Any, budget: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                budget.stop[0] = looks or 1
            return original(self, budget)

        return divide

    with patched(*((kind, {"divide": stopping(kind.divide)}) for kind in STEPS)):
        return way(problem, rng)


def _within_kernel(way: Way, problem: Any, rng: Generator) -> Solution:
    call, looks = 1 + int(rng.geometric(0.2)), int(rng.geometric(0.1))
    shared: dict[int, StopWithin] = {}
    changes = []
    for module, names in STOPPED:
        kernels = shared.setdefault(
            id(module.kernels), StopWithin(module.kernels, call, looks, names)
        )
        kernels.names = (*kernels.names, *names)
        changes.append((module, {"kernels": kernels}))
    with patched(*changes):
        return way(problem, rng)
