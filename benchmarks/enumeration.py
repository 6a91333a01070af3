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
import dataclasses
import faulthandler
import math
import multiprocessing
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))

import rated
from benchmarks.machine import describe_machine
from checked_solutions import constrained_faults, scale_faults, stopped_faults, strict_faults
from pools import REQUESTS, pool_faults
from riskslim import Solution
from small_problems import COLUMNS, SOURCES, Case
from ways import EVERY, LATTICE, NATIVE, PARTS, RATES, WAYS, stopped, ways_of

# Slope vectors of one enumeration, also where all intercepts are tried, or lists made.
MOST_SLOPES, SCALES_SLOPES, FEW_SLOPES = 1500, 300, 200
# Ways in which one problem is solved, beside the one that is stopped.
WAYS_EACH = 3
# Share of the problems that LCPA solves, too.
SHARE_OF_LATTICE = 0.15


@dataclasses.dataclass
class Count:
    """Certificates that were checked, by problem and way, and what was false."""

    checked: Counter[tuple[str, str]] = dataclasses.field(default_factory=Counter)
    statuses: Counter[tuple[str, str]] = dataclasses.field(default_factory=Counter)
    false: list[str] = dataclasses.field(default_factory=list)

    def note(
        self, case: Case | str, way: str, solution: Solution | None, faults: list[str], number: int
    ) -> None:
        """Count a solution; None where a search ended before it had found any score."""
        kind = case if isinstance(case, str) else f"{case.source}, {case.columns}"
        self.checked[kind, way] += 1
        status = "nothing found" if solution is None else solution.certificate.status.value
        self.statuses[way, str(status)] += 1
        if faults:
            self.false.append(f"problem {number}, {case}, {way}: {'; '.join(faults)}")

    def add(self, other: Count) -> None:
        self.checked += other.checked
        self.statuses += other.statuses
        self.false += other.false


# --- checks ---------------------------------------------------------------------------------------


def drawn(rng: np.random.Generator, most: int, *, scales: bool = False) -> Case:
    """Draw a case of any kind."""
    sources = [source for source in SOURCES if source != "scales"]
    return Case(
        source="scales" if scales else str(rng.choice(sources)),
        columns=str(rng.choice(list(COLUMNS))),
        seed=int(rng.integers(2**31)),
        most_slopes=most,
        intercept=(-3, 3) if most == FEW_SLOPES and rng.random() < 0.7 else None,
    )


def native_ways_of(case: Case) -> list[str]:
    return [way for way in ways_of(case.small) if way in {**NATIVE, **PARTS}]


def check_small(number: int, rng: np.random.Generator, count: Count) -> None:
    """A problem of one scale, in some ways, and stopped."""
    case = drawn(rng, MOST_SLOPES)
    ways = list(rng.choice(native_ways_of(case), WAYS_EACH, replace=False))
    if LATTICE and rng.random() < SHARE_OF_LATTICE:
        ways.append(str(rng.choice(list(LATTICE))))
    for way in ways:
        solution = WAYS[way](case.problem, case.rng(way))
        wrong = constrained_faults(case.small, case.best, case.problem, solution)
        if way not in LATTICE:
            wrong += strict_faults(case.best, solution)
        count.note(case, way, solution, wrong, number)
    way = str(rng.choice(native_ways_of(case)))
    ended = stopped(WAYS[way], case.problem, case.rng(way))
    count.note(case, f"stopped: {way}", ended, stopped_faults(case.small, case.best, ended), number)


def check_list(number: int, rng: np.random.Generator, count: Count) -> None:
    """The best scores of a problem."""
    case = drawn(rng, FEW_SLOPES)
    n_solutions, within = REQUESTS[int(rng.integers(len(REQUESTS)))]
    way = str(rng.choice([way for way in ways_of(case.small) if way not in LATTICE]))
    solution = EVERY[way](case.problem, case.rng(way), n_solutions=n_solutions, within=within)
    wrong = pool_faults(case.small, case.problem, solution, n_solutions, within)
    count.note(case, f"list: {way}", solution, wrong, number)


def check_scales(number: int, rng: np.random.Generator, count: Count) -> None:
    """A problem with a list or an interval of scales."""
    case = drawn(rng, SCALES_SLOPES, scales=True)
    way = str(rng.choice(native_ways_of(case)))
    solution = WAYS[way](case.problem, case.rng(way))
    wrong = scale_faults(case.small, case.problem, solution, *case.over_scales)
    count.note(case, way, solution, wrong, number)


def check_rates(number: int, rng: np.random.Generator, count: Count) -> None:
    """A problem with constraints on rates."""
    kind = str(rng.choice(list(rated.DRAW)))
    small = rated.DRAW[kind](int(rng.integers(2**31)))
    way = str(rng.choice(list(RATES)))
    solution = RATES[way](small.build(), rng)
    wrong = rated.rate_faults(small, solution)
    count.note(f"rates, {kind}", way, solution, wrong, number)


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
