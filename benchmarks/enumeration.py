"""Certificates of random small problems, checked against all integer vectors.

    python -m benchmarks.enumeration --problems 5000
    python -m benchmarks.enumeration --problems 1 --first 1234      # one of them again

Each problem is drawn from its number: real, integer and 0/1 features, copies and complements of
them, cut-offs and levels of raw columns, weights, bounds, signs, fixed points, prices, sizes,
intercepts, constraints, rates, and scales. It is solved in some of the ways that there are (by
relaxations, tables, cut-offs, elimination, few passes, rows in parts and in files, lists, several
scales, other engines), and once more in a way that is stopped at a random moment. What certificates
and traces say is compared with an enumeration in plain NumPy; the command prints how often, and
returns 1 where a statement was false, with the numbers of the problems. It needs the repository's
tests, whose problems and enumeration it uses.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import faulthandler
import functools
import importlib.util
import math
import multiprocessing
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))

import enumeration as oracle
import rated
from benchmarks.machine import describe_machine
from checked_solutions import EQUAL, EQUAL_NATIVE, constrained_faults, scale_faults, strict_faults
from partitions import elsewhere
from pools import REQUESTS, pool_faults
from riskslim import LatticeCPASettings, Solution, Status, branch_and_bound, lattice_cpa
from riskslim.engines.branch_and_bound import (
    cutoffs,
    elimination,
    parts,
    search,
    stage,
    tables,
    unions,
    workspace,
)
from riskslim.exceptions import RiskSLIMError
from searches import StopWithin
from small_problems import binary, few_valued, few_values, mixed, nested, twin_problem
from variants import variant

# Slope vectors of one enumeration, also where all intercepts are tried, or lists made.
MOST_SLOPES, FEW_SLOPES = 1500, 200
# Ways in which one problem is solved, beside the one that is stopped.
WAYS_EACH = 3
# All end within seconds; on a machine that lets this process wait for minutes, too.
LIMIT: dict[str, Any] = {"time_limit": 3600.0}


@dataclasses.dataclass
class Count:
    """Certificates that were checked, by problem and way, and what was false."""

    checked: Counter[tuple[str, str]] = dataclasses.field(default_factory=Counter)
    statuses: Counter[tuple[str, str]] = dataclasses.field(default_factory=Counter)
    false: list[str] = dataclasses.field(default_factory=list)

    def note(
        self, kind: str, way: str, solution: Solution | None, faults: list[str], number: int
    ) -> None:
        """Count a solution; None where a search ended before it had found any score."""
        self.checked[kind, way] += 1
        status = "nothing found" if solution is None else solution.certificate.status.value
        self.statuses[way, str(status)] += 1
        if faults:
            self.false.append(f"problem {number}, {kind}, {way}: {'; '.join(faults)}")

    def add(self, other: Count) -> None:
        self.checked += other.checked
        self.statuses += other.statuses
        self.false += other.false


# --- problems -------------------------------------------------------------------------------------


def _few_values(small: oracle.SmallProblem, rng: np.random.Generator) -> oracle.SmallProblem:
    for j in range(small.d):
        if rng.random() < 0.7:
            small.X[:, j] = few_values(rng, len(small.y))
    return small


Draw = Callable[[np.random.Generator, int], oracle.SmallProblem]
# What is drawn, and what is done to its columns.
SMALL: dict[str, Draw] = {
    "any": oracle.random_problem,
    "constraints": oracle.random_constrained_problem,
    "bounds on scores": lambda rng, _: oracle.random_bounded_problem(rng),
    "twins": lambda rng, _: twin_problem(int(rng.integers(2**31))),
}
COLUMNS: dict[str, Callable[[oracle.SmallProblem, np.random.Generator], oracle.SmallProblem]] = {
    "as drawn": lambda small, rng: small,
    "two values": binary,
    "few values": mixed,
    "some few values": _few_values,
    "cut-offs": nested,
    "items for elimination": functools.partial(few_valued, most_values=8),
}


def draw(rng: np.random.Generator, most: int) -> tuple[str, oracle.SmallProblem]:
    """Draw a problem; its kind in words is the first part of the result."""
    source = str(rng.choice(list(SMALL)))
    columns = str(rng.choice(list(COLUMNS)))
    small = COLUMNS[columns](SMALL[source](rng, most), rng)
    return f"{source}, {columns}", small


# --- ways -----------------------------------------------------------------------------------------


def _settings(rng: np.random.Generator, **changes: Any) -> Any:
    return dataclasses.replace(variant(int(rng.integers(2**31))), **changes)


@contextlib.contextmanager
def _patched(*changes: tuple[Any, dict[str, Any]]) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for module, values in changes:
            for name, value in values.items():
                stack.enter_context(mock.patch.object(module, name, value))
        yield


# Constants under which small problems take the ways of large ones.
IN_PIECES = (elimination, {"RELAXATIONS": 0.0, "AHEAD": 0.5})
IN_STEPS = (
    (stage, {"TASK_SECONDS": 1e-7}), (tables, {"TASK_SECONDS": 1e-7}),
    (search, {"LONG_SECONDS": 0.0}),
    (cutoffs, {"UNIT_NODES": 2, "UNIT_EVALUATED": 3, "ROUND_NODES": 1}),
)  # fmt: skip
LITTLE_ROOM = {"MERGED_SHARE": 0.0, "SAMPLE_ROWS": 20}
FOR_UNIONS = (
    (parts, {**LITTLE_ROOM, "UNION_NODES": 0.0, "TRIED_SHARE": 0.0, "MOST_CELLS": 9}),
    (unions, {"ROW_NS": 0.0}),
)


def _native(
    *patches: tuple[Any, dict[str, Any]], **settings: Any
) -> Callable[..., tuple[Solution, float]]:
    """A way of branch and bound: its settings, and constants under which it is taken."""

    def solve(problem: Any, rng: np.random.Generator, **options: Any) -> tuple[Solution, float]:
        chosen = {k: v(rng) if callable(v) else v for k, v in settings.items()}
        n_threads = 1 + int(rng.random() < 0.2)
        with _patched(*patches):
            solution = branch_and_bound(
                problem,
                settings=_settings(rng, **chosen),
                n_threads=n_threads,
                **{**LIMIT, **options},
            )
        return solution, EQUAL_NATIVE

    return solve


def _in_parts(*patches: tuple[Any, dict[str, Any]]) -> Callable[..., tuple[Solution, float]]:
    def solve(problem: Any, rng: np.random.Generator, **options: Any) -> tuple[Solution, float]:
        seed = int(rng.integers(2**31))
        settings = _settings(rng, tables=str(rng.choice(["auto", "always", "never"])))
        if settings.memory_limit == 1:
            settings = dataclasses.replace(settings, memory_limit=10**6)
        with _patched(*patches):
            solution = branch_and_bound(
                elsewhere(problem, seed), settings=settings, **{**LIMIT, **options}
            )
        return solution, EQUAL_NATIVE

    return solve


def _lattice(solver: str) -> Callable[..., tuple[Solution, float]]:
    def solve(problem: Any, rng: np.random.Generator, **options: Any) -> tuple[Solution, float]:
        names = ("initialization", "chained_updates", "rounding", "polishing")
        settings = LatticeCPASettings(**{name: bool(rng.random() < 0.7) for name in names})
        options = {**LIMIT, **options}
        return lattice_cpa(problem, solver=solver, settings=settings, **options), EQUAL

    return solve


NATIVE = {
    "as chosen": _native(),
    "relaxations": _native(tables="never", cutoffs="never", elimination="never"),
    "tables": _native(*IN_STEPS, tables="always"),
    "tables of nodes": _native(tables="nodes"),
    "cut-offs": _native(*IN_STEPS, cutoffs="always"),
    "elimination": _native(
        IN_PIECES, elimination="always", cutoffs="never",
        table_cost=lambda rng: float(rng.choice([1e-3, 1.0, 1e3])),
    ),
    "few passes": _native(
        tables="never", cutoffs="never", sample_rows=lambda rng: int(rng.choice([1, 2, 5]))
    ),
}  # fmt: skip
PARTS = {
    "rows in parts": _in_parts(),
    "rows in parts, little room": _in_parts((parts, LITTLE_ROOM)),
    "rows in parts, unions": _in_parts(*FOR_UNIONS),
}
LATTICE = {"LCPA with CPLEX": _lattice("cplex")}
if importlib.util.find_spec("pyscipopt") is not None:
    LATTICE["LCPA with SCIP"] = _lattice("scip")
WAYS = {**NATIVE, **PARTS, **LATTICE}
SHARE_OF_LATTICE = 0.15

# Kernels that look at the flag that ends a search, by the modules that call them.
STOPPED = (
    (search, ("solve_root", "expand")), (workspace, ("solve_root", "expand")),
    (tables, ("scan",)), (cutoffs, ("search",)),
)  # fmt: skip


def stopped(
    way: Callable[..., tuple[Solution, float]], problem: Any, rng: np.random.Generator
) -> Solution | None:
    """Solve in a way whose kernels find the flag set at a random look, or that a limit ends."""
    try:
        return _stopped(way, problem, rng)
    except RiskSLIMError as error:
        if "before any risk score was found" in str(error):
            return None
        raise


def _stopped(
    way: Callable[..., tuple[Solution, float]], problem: Any, rng: np.random.Generator
) -> Solution:
    if rng.random() < 0.2:
        return way(problem, rng, node_limit=int(rng.integers(0, 8)))[0]
    call, looks = 1 + int(rng.geometric(0.2)), int(rng.geometric(0.1))
    shared: dict[int, StopWithin] = {}
    with contextlib.ExitStack() as stack:
        for module, names in STOPPED:
            kernels = shared.setdefault(
                id(module.kernels), StopWithin(module.kernels, call, looks, names)
            )
            stack.enter_context(mock.patch.object(module, "kernels", kernels))
        return way(problem, rng)[0]


# --- checks ---------------------------------------------------------------------------------------


def ways_of(small: oracle.SmallProblem) -> list[str]:
    """Ways of branch and bound in which it is the same problem.

    Rows of weight 0 are not among those in parts: where a column differs in them alone, it is
    constant there, and has no points.
    """
    counted = small.X if small.weights is None else small.X[small.weights > 0]
    is_same = np.all((np.ptp(counted, axis=0) == 0) == (np.ptp(small.X, axis=0) == 0))
    return [*NATIVE, *PARTS] if is_same else list(NATIVE)


def stopped_faults(
    small: oracle.SmallProblem, best: oracle.Enumerated, solution: Solution | None
) -> list[str]:
    """Everything wrong with a solution that need not be optimal."""
    if solution is None:
        return []
    certificate, found = solution.certificate, []
    if certificate.status is Status.INFEASIBLE:
        return ["infeasible"] if best.feasible else []
    bounds = [certificate.lower_bound, *solution.trace["lower_bound"]]
    if not max(bounds) <= best.objective + EQUAL_NATIVE:
        found.append(f"lower bounds up to {max(bounds)!r}, optimum {best.objective!r}")
    if solution.coefficients is None:
        return found
    if broken := oracle.violations(small, solution.coef):
        found.append(f"{solution.coef} is infeasible: {broken}")
    if not certificate.objective >= best.objective - EQUAL_NATIVE:
        found.append(f"objective {certificate.objective!r}, optimum {best.objective!r}")
    really = oracle.objective(small, solution.coef)
    if not abs(certificate.objective - really) <= 1e-13:
        found.append(f"objective {certificate.objective!r}, really {really!r}")
    if certificate.status is Status.OPTIMAL and certificate.objective > best.objective + 1e-9:
        found.append(f"optimal with {certificate.objective!r}, optimum {best.objective!r}")
    return found


def check_small(number: int, rng: np.random.Generator, count: Count) -> None:
    """A problem of one scale, in some ways, and stopped."""
    kind, small = draw(rng, MOST_SLOPES)
    best, problem = oracle.enumerate_optimum(small), small.build()
    ways = list(rng.choice(ways_of(small), WAYS_EACH, replace=False))
    if rng.random() < SHARE_OF_LATTICE:
        ways.append(str(rng.choice(list(LATTICE))))
    for way in ways:
        solution, _ = WAYS[way](problem, rng)
        wrong = constrained_faults(small, best, problem, solution)
        if way not in LATTICE:
            wrong += strict_faults(best, solution)
        count.note(kind, way, solution, wrong, number)
    way = str(rng.choice(ways_of(small)))
    solution = stopped(WAYS[way], problem, rng)
    count.note(kind, f"stopped: {way}", solution, stopped_faults(small, best, solution), number)


def check_list(number: int, rng: np.random.Generator, count: Count) -> None:
    """The best scores of a problem."""
    kind, small = draw(rng, FEW_SLOPES)
    oracle.limit_number_of_slopes(rng, small, FEW_SLOPES)
    if rng.random() < 0.7:
        small.intercept = (-3, 3)
    problem = small.build()
    n_solutions, within = REQUESTS[int(rng.integers(len(REQUESTS)))]
    way = str(rng.choice(ways_of(small)))
    solution, _ = WAYS[way](problem, rng, n_solutions=n_solutions, within=within)
    wrong = pool_faults(small, problem, solution, n_solutions, within)
    count.note(kind, f"list: {way}", solution, wrong, number)


def check_scales(number: int, rng: np.random.Generator, count: Count) -> None:
    """A problem with a list or an interval of scales."""
    small = oracle.random_scaled_problem(rng, 300)
    columns = str(rng.choice(list(COLUMNS)))
    small = COLUMNS[columns](small, rng)
    vectors, objectives = oracle.enumerate_over_scales(small)
    problem = small.build()
    way = str(rng.choice(list(NATIVE)))
    solution, _ = WAYS[way](problem, rng)
    wrong = scale_faults(small, problem, solution, vectors, objectives)
    count.note(f"scales, {columns}", way, solution, wrong, number)


def check_rates(number: int, rng: np.random.Generator, count: Count) -> None:
    """A problem with constraints on rates."""
    real = bool(rng.random() < 0.5)
    small = rated.draw(int(rng.integers(2**31)), real=real)
    vectors, met, objectives = small.enumerate()
    best = objectives[met].min(initial=math.inf)
    solution, _ = NATIVE["as chosen"](small.build(), rng)
    certificate, wrong = solution.certificate, []
    if (certificate.status is Status.INFEASIBLE) != math.isinf(best):
        wrong.append(f"{certificate.status}, optimum {best!r}")
    elif math.isfinite(best):
        if certificate.status is not Status.OPTIMAL:
            wrong.append(f"{certificate.status}: {certificate.message}")
        if not certificate.lower_bound <= best + EQUAL_NATIVE:
            wrong.append(f"bound {certificate.lower_bound!r}, optimum {best!r}")
        if not abs(certificate.objective - best) <= 1e-9:
            wrong.append(f"objective {certificate.objective!r}, optimum {best!r}")
        if not met[(vectors == solution.coef).all(axis=1)].all():
            wrong.append(f"{solution.coef} breaks a constraint")
    count.note(f"rates, {'real' if real else 'integer'}", "as chosen", solution, wrong, number)


CHECKS = ((check_small, 0.7), (check_list, 0.12), (check_scales, 0.12), (check_rates, 0.06))


def check(number: int, count: Count) -> None:
    """Draw the problem of a number, solve it, and note what was found."""
    rng = np.random.default_rng([number, 2026])
    functions, shares = zip(*CHECKS, strict=True)
    function = functions[rng.choice(len(functions), p=shares)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(number, rng, count)


def check_range(numbers: range) -> Count:
    """The same for several numbers; a problem that raises an error is false, too."""
    count = Count()
    for number in numbers:
        try:
            check(number, count)
        except Exception as error:
            count.false.append(f"problem {number}: {type(error).__name__}: {error}")
    return count


_pools: dict[int, ProcessPoolExecutor] = {}


def checked(ranges: list[range]) -> list[Count]:
    """The same for several ranges, each in a process: what kills one is false, too."""
    n = len(ranges)
    pool = _pools.get(n) or _pools.setdefault(
        n, ProcessPoolExecutor(n, multiprocessing.get_context("spawn"), faulthandler.enable)
    )
    futures = [pool.submit(check_range, numbers) for numbers in ranges]
    found = []
    for numbers, future in zip(ranges, futures, strict=True):
        try:
            found.append(future.result())
        except BrokenProcessPool:
            _pools.pop(n, None)
            found.append(Count(false=[f"problems {numbers}: the process was killed"]))
    return found


# --- the command ----------------------------------------------------------------------------------


def table(count: Count) -> str:
    """Certificates by way in Markdown, with how the searches ended."""
    ways = sorted({way for _, way in count.checked})
    lines = ["| way | searches | optimal | infeasible | ended before |"]
    lines.append("|---|---|---|---|---|")
    for way in ways:
        total = sum(n for (_, one), n in count.checked.items() if one == way)
        of = {s: n for (one, s), n in count.statuses.items() if one == way}
        optimal, infeasible = of.get("optimal", 0), of.get("infeasible", 0)
        rest = total - optimal - infeasible
        lines.append(f"| {way} | {total:,} | {optimal:,} | {infeasible:,} | {rest:,} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so long")
    given = parser.parse_args(arguments)
    end = time.monotonic() + 60 * given.minutes
    count, done, step = Count(), 0, 20
    last = given.first + given.problems
    ranges = [range(a, min(a + step, last)) for a in range(given.first, last, step)]
    for k in range(0, len(ranges), given.processes):
        wave = ranges[k : k + given.processes]
        for numbers, found in zip(wave, checked(wave), strict=True):
            count.add(found)
            done += len(numbers)
            for line in found.false:
                print(f"FALSE: {line}", flush=True)
        if time.monotonic() > end:
            break
    kinds = {kind for kind, _ in count.checked}
    print(
        f"problems {given.first}..{given.first + done - 1} of {len(kinds)} kinds, "
        f"{sum(count.checked.values()):,} searches in {len({w for _, w in count.checked})} "
        f"ways, {len(count.false)} false; {describe_machine()['processor']}\n\n{table(count)}"
    )
    return int(bool(count.false))


if __name__ == "__main__":
    sys.exit(main())
