"""Measure what each way of dividing a search costs, and fit the constants of its prediction.

    python -m benchmarks.costs [--quick] [--page docs/ways_of_dividing.md]
    python -m benchmarks.costs --picture docs/ways_of_dividing.svg

Constants of :mod:`riskslim.engines.branch_and_bound.costs` stand for work that is done here on rows
made by a seed: relaxations of nodes, scans of supports by each level of instructions, nodes of
searches over cut-offs, fits of additive models, counts of unions. Predictions are linear in their
constants. Those that fit best have the least sum of squared relative errors, none negative. The
table has them beside the package's, and the ratio; below it is how predictions of the package
compare with CPU times. Constants decide which way a search takes, and so its nodes: they are not
changed unless one is wrong by a factor of three.

--quick takes smaller problems, and less than a minute. --page writes how predictions compare with
times between two marks of a page, and constants to a CSV file beside it. --picture measures
nothing, but draws the formulas of the package: predicted seconds of each way by the number of
items.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import functools
import itertools
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from scipy.optimize import nnls

import riskslim
from benchmarks.commands import show
from benchmarks.machine import describe_machine
from benchmarks.records import append_row
from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
from riskslim._kernels import support_enumeration as kernels
from riskslim.engines.branch_and_bound import costs, elimination, ways
from riskslim.engines.branch_and_bound.additive import AdditiveModel
from riskslim.engines.branch_and_bound.cutoff_search import CutoffSearch
from riskslim.engines.branch_and_bound.enumeration_items import EnumerationItems
from riskslim.engines.branch_and_bound.incumbents import Incumbents
from riskslim.engines.branch_and_bound.open_nodes import OpenNodes
from riskslim.engines.branch_and_bound.search import BOUND_TOLERANCE, Search
from riskslim.engines.branch_and_bound.search_rows import MOST_CELLS
from riskslim.engines.branch_and_bound.support_enumeration import (
    MOST_FOUND,
    SupportEnumeration,
    most_sorted,
)
from riskslim.engines.branch_and_bound.unions import UnionCells, UnionPlan
from riskslim.engines.settings import BranchAndBoundSettings
from riskslim.rows.memory import parted

COLUMNS = {name: name for name in ("constant", "package", "fitted", "ratio", "is_wrong")}
# A constant that is wrong by more is to be changed.
MOST_WRONG = 3.0
# Seconds that are measured at least.
SHORTEST = 0.02
# Weight of the package's value of a constant, where that of a case is one.
PRIOR = 0.3
# Nodes of a search by relaxations, and fits of one that divides by families.
MOST_NODES, MOST_FITS = 30, 6
# No support has so small a loss.
NO_LOSS = 0.1
# Of the way from the best objective to that of no points, where supports are left to their boxes.
SHARE_LEFT = 0.1


class Timed(NamedTuple):
    """Work that was done: CPU seconds (or nodes), and what the constants say of it."""

    seconds: float
    predict: Callable[[], float]


class Family(NamedTuple):
    """Constants that are fitted together, to work of one kind and of some sizes."""

    title: str
    names: tuple[str, ...]
    measure: Callable[..., Iterator[Timed]]
    sizes: Sequence[tuple[int, ...]]
    more: Sequence[tuple[int, ...]] = ()  # unless it is to be quick
    known: Mapping[str, float] = {}  # constants that are not fitted


class Fit(NamedTuple):
    """Constants that fit best, and predictions of the package over times."""

    title: str
    values: dict[str, float]
    ratios: np.ndarray


# ---- constants --------------------------------------------------------------------------------


def value_of(name: str) -> float:
    """A constant of the package: "CELL_NS", or one of several, "WORD_NS[2]"."""
    name, _, place = name.partition("[")
    value = getattr(costs, name)
    return value[int(place[:-1])] if place else value


@contextlib.contextmanager
def constants(values: Mapping[str, float]) -> Iterator[None]:
    """Other values of some constants, for a while."""
    changed: dict[str, Any] = {}
    for name, value in values.items():
        whole, _, place = name.partition("[")
        if place:
            of_all = list(changed.get(whole, getattr(costs, whole)))
            of_all[int(place[:-1])] = value
            changed[whole] = tuple(of_all)
        else:
            changed[whole] = value
    with contextlib.ExitStack() as stack:
        for name, value in changed.items():
            stack.enter_context(mock.patch.object(costs, name, value))
        yield


def each_of(name: str) -> list[str]:
    """Names of the values of a constant, by level of instructions that this machine has."""
    if isinstance(getattr(costs, name), float):
        return [name]
    return [f"{name}[{level}]" for level in range(kernels.best_level() + 1)]


def fitted(names: Sequence[str], known: Mapping[str, float], timed: Sequence[Timed]) -> np.ndarray:
    """Constants with the least squared relative errors, as factors of those of the package.

    A constant of which the times say little stays near the package's.
    """
    columns = []
    for name in names:
        alone = {other: value_of(other) * (other == name) for other in names}
        with constants({**known, **alone}):
            columns.append([one.predict() / one.seconds for one in timed])
    rows = np.vstack([np.array(columns).T, PRIOR * np.eye(len(names))])
    return nnls(rows, np.r_[np.ones(len(timed)), np.full(len(names), PRIOR)])[0]


# ---- problems ---------------------------------------------------------------------------------


def outcome(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels, for which three columns matter."""
    odds = -1.0 + 1.2 * X[:, 0] - 1.0 * X[:, X.shape[1] // 2] + 0.8 * X[:, -1]
    return np.where(rng.random(len(X)) < 1.0 / (1.0 + np.exp(-odds)), 1, -1)


def items(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Independent items."""
    rng = np.random.default_rng(0)
    X = (rng.random((n, d)) < rng.uniform(0.1, 0.6, d)).astype(np.int8)
    return X, outcome(X, rng)


def cutoffs(n: int, n_variables: int, n_cutoffs: int) -> tuple[np.ndarray, np.ndarray]:
    """Items of normal variables, nested for each of them."""
    rng = np.random.default_rng(1)
    at = np.linspace(-1.5, 1.5, n_cutoffs)
    X = (rng.normal(size=(n, n_variables, 1)) > at).reshape(n, -1).astype(np.int8)
    return X, outcome(X, rng)


def stated(X: np.ndarray, y: np.ndarray, max_size: int, **others: Any) -> RiskScoreProblem:
    """The problem of a score with points -5 to 5."""
    data = TrainingData(X, y)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    return RiskScoreProblem(data, coefficients, max_size=max_size, l0_penalty=1e-6, **others)


def searched(problem: RiskScoreProblem, node_limit: int, **settings: str) -> Search:
    """A search that has looked into some nodes, in one way, after one for good scores."""
    stop, alone = np.zeros(1, np.int64), {"tables", "cutoffs", "elimination"} - set(settings)
    incumbents = Incumbents(problem, 1, None, swaps=True, tolerance=BOUND_TOLERANCE, stop=stop)
    chosen = BranchAndBoundSettings(**settings, **dict.fromkeys(alone, "never"))
    search = Search(problem, chosen, incumbents, 1, stop, time.perf_counter())
    incumbents.search_supports([], effort=1, budget=2.0)
    search.solve_root()
    incumbents.offer_smallest()
    search.run(0.0, node_limit, math.inf)
    return search


@contextlib.contextmanager
def watched(owner: type, name: str, asked_of: str = "") -> Iterator[list[tuple[float, tuple]]]:
    """CPU seconds of every call of a method, and what a formula of costs was asked for in it."""
    calls: list[tuple[float, tuple]] = []
    asked: list[tuple] = [()]
    whole = owner.__dict__[name]
    function = getattr(whole, "__func__", whole)

    def formula(*sizes: Any, **options: Any) -> float:
        asked[0] = sizes
        return of_package(*sizes, **options)

    def method(*arguments: Any) -> Any:
        began = time.thread_time()
        found = function(*arguments)
        calls.append((time.thread_time() - began, asked[0]))
        return found

    with contextlib.ExitStack() as stack:
        if asked_of:
            of_package = getattr(costs, asked_of)
            stack.enter_context(mock.patch.object(costs, asked_of, formula))
        new = classmethod(method) if isinstance(whole, classmethod) else method
        stack.enter_context(mock.patch.object(owner, name, new))
        yield calls


# ---- work -------------------------------------------------------------------------------------


def relaxations(n: int, d: int, **scale: str) -> Iterator[Timed]:
    """Nodes that are expanded, of items."""
    problem, is_free = stated(*items(n, d), 5, **scale), bool(scale)
    with watched(OpenNodes, "_expand", "relaxation") as calls:
        searched(problem, MOST_NODES)
    asked = [sizes for _, sizes in calls]
    yield Timed(
        sum(seconds for seconds, _ in calls),
        lambda: sum(costs.relaxation(*sizes, over_interval=is_free) for sizes in asked),
    )


def scans(n: int, d: int, max_size: int) -> Iterator[Timed]:
    """All supports of some items, of which h excludes nearly all, by each level of instructions."""
    X, y = items(n, d)
    data = TrainingData(X, y)
    loss = LogisticLoss(data, CoefficientSet(data.feature_names, -5, 5))
    packed = EnumerationItems.of(loss, np.arange(d))

    def predicted(level: int) -> float:
        with mock.patch.object(costs.kernels, "best_level", return_value=level):
            return costs.supports(d, 0, max_size, packed.n_words, len(packed.n_rows))

    for level in range(kernels.best_level() + 1):
        seconds = repeated(partial(scan_seconds, packed, max_size, level, NO_LOSS))
        yield Timed(seconds, partial(predicted, level))


def scan_seconds(packed: EnumerationItems, max_size: int, level: int, cutoff: float) -> float:
    """CPU seconds of a scan of all supports."""
    m, depth = len(packed.features), most_sorted(0, [], max_size)
    high = np.full(m + 1, 5.0)
    n_words, n_integers, n_floats = kernels.room(
        packed.words.shape[0], packed.n_words, len(packed.n_rows), int(packed.n_rows.sum()), depth
    )
    arguments = (
        packed.words, packed.n_rows, packed.side, packed.shifts, packed.unit, packed.value,
        packed.first, -high, high, 1.0, 1.0, np.full(m, 1e-6), np.full(m, 1e-6), np.empty(0),
        np.zeros((m, m), np.uint8), np.empty(0, np.int64), 0, 0, max_size, depth, cutoff, level,
        np.zeros((0, 4)), np.zeros(0), 0, np.zeros(0), np.zeros(1, np.int64),
        np.empty((MOST_FOUND, max_size), np.int64), np.empty(MOST_FOUND),
        np.empty((1, 1), np.int64), np.zeros(5, np.int64), np.empty(n_words, np.uint64),
        np.empty(n_integers, np.int32), np.empty(n_floats, np.float32),
    )  # fmt: skip
    began = time.process_time()
    assert kernels.scan(*arguments) >= 0
    return time.process_time() - began


def repeated(seconds: Callable[[], float]) -> float:
    """Seconds of the fastest of several repetitions, which together are long enough."""
    found = [seconds()]
    while sum(found) < SHORTEST or len(found) < 3:
        found.append(seconds())
    return min(found)


def tables_of(
    n: int, d: int, max_size: int
) -> tuple[RiskScoreProblem, SupportEnumeration, np.ndarray]:
    """A problem of items, which are packed, and its box."""
    problem = stated(*items(n, d), max_size)
    tables, box = SupportEnumeration(problem), np.array([problem.lower, problem.upper], np.float64)
    tables.predicted_seconds(box)
    return problem, tables, box


def completed(n: int, d: int, n_live: int) -> Iterator[Timed]:
    """A node of few items, from the packed ones of all to what is left."""
    _, tables, box = tables_of(n, d, 4)
    box[:, 1 + n_live :] = 0.0

    def seconds() -> float:
        began = time.process_time()
        completion = tables.completion(box, 1.0, 1.0)
        completion.scan(completion.whole(), NO_LOSS, np.zeros(1, np.int64))
        return time.process_time() - began

    yield Timed(repeated(seconds), lambda: tables.predicted_seconds(box))


def boxes(n: int, d: int, max_size: int) -> Iterator[Timed]:
    """Supports that h does not exclude, less the time that it takes to exclude them."""
    problem, tables, box = tables_of(n, d, max_size)
    completion, best = tables.completion(box, 1.0, 1.0), searched(problem, 1).objective

    def scanned(cutoff: float) -> tuple[float, int]:
        began = time.process_time()
        found = completion.scan(completion.whole(), cutoff, np.zeros(1, np.int64))
        return time.process_time() - began, int(found.counted[4])

    cutoff = best + SHARE_LEFT * (problem.objective(np.zeros(d + 1, np.int64)) - best)
    terms = scanned(cutoff)[1]
    seconds = [repeated(lambda at=at: scanned(at)[0]) for at in (NO_LOSS, cutoff)]
    yield Timed(seconds[1] - seconds[0], lambda: terms * costs.TERM_SECONDS)


@functools.cache
def search_over_cutoffs(
    n: int, n_variables: int, n_cutoffs: int, max_size: int
) -> tuple[CutoffSearch, float, float]:
    """One that has ended, CPU seconds of preparing it, and of its nodes."""
    problem = stated(*cutoffs(n, n_variables, n_cutoffs), max_size)
    found: list[CutoffSearch] = []
    begin = CutoffSearch.begin

    def begun(one: CutoffSearch, *others: Any) -> CutoffSearch:
        found.append(one)
        return begin(one, *others)

    with (
        watched(CutoffSearch, "of_roots") as roots,
        watched(CutoffSearch, "sort_rows") as rows,
        watched(CutoffSearch, "run") as run,
        mock.patch.object(CutoffSearch, "begin", begun),
    ):
        searched(problem, 10**9, cutoffs="always")
    preparing, running = (sum(seconds for seconds, _ in calls) for calls in (roots + rows, run))
    return found[0], preparing, running


def prepared_cutoffs(*size: int) -> Iterator[Timed]:
    """Chains that are found, and rows that are sorted by them."""
    search, seconds, _ = search_over_cutoffs(*size)
    yield Timed(seconds, lambda: sum(costs.cutoff_preparation(size[0], search.completion.n_items)))


def cutoff_nodes(*size: int) -> Iterator[Timed]:
    """Nodes, as many as there were: as if there were one for each combination."""
    search, _, seconds = search_over_cutoffs(*size)
    n_roots = search.counts.nodes / size[-1] ** 2
    yield Timed(seconds, lambda: costs.cutoff_search(n_roots, size[0], size[-1]))


def cutoff_counts(*size: int) -> Iterator[Timed]:
    """How many nodes there were, as if each took a second."""
    search, _, _ = search_over_cutoffs(*size)
    yield Timed(search.counts.nodes, lambda: costs.cutoff_search(search.n_roots, size[0], size[-1]))


def fits(n: int, n_variables: int, n_cutoffs: int) -> Iterator[Timed]:
    """Additive models of families of items, in a search that divides by them."""
    problem = stated(*cutoffs(n, n_variables, n_cutoffs), 3)
    with (
        mock.patch.multiple(elimination, FAMILIES_SECONDS=0.0, PROMISING=0.0),
        watched(AdditiveModel, "fit", "families") as calls,
    ):
        searched(problem, 10, elimination="always", tables="nodes")
    asked = [sizes for _, sizes in calls[:MOST_FITS]]
    seconds = sum(seconds for seconds, _ in calls[:MOST_FITS])
    yield Timed(seconds, lambda: sum(costs.families(*sizes) for sizes in asked))


def counts_of_unions(n: int, d: int, max_size: int) -> Iterator[Timed]:
    """Counts of all unions, in one pass."""
    rows = parted(TrainingData(*items(n, d)).rows)
    plan = UnionPlan.of(list(range(d)), [np.array([0.0, 1.0])] * d, max_size, 2**15)
    assert plan is not None
    began = time.process_time()
    UnionCells(plan, rows)
    seconds = time.process_time() - began
    yield Timed(seconds, lambda: costs.union_counts(n, len(plan.unions)))


def heuristics(n: int, d: int, max_size: int) -> Iterator[Timed]:
    """A search of supports, whose work is predicted by riskslim/heuristics/work.py."""
    problem, stop = stated(*items(n, d), max_size), np.zeros(1, np.int64)
    found = Incumbents(problem, 1, None, swaps=True, tolerance=BOUND_TOLERANCE, stop=stop)
    began = time.process_time()
    found.search_supports([], effort=1)
    yield Timed(time.process_time() - began, lambda: found.support_seconds)


_OF_CUTOFFS = (
    [(500, 4, 40, 3), (1_000, 8, 20, 3), (4_000, 6, 30, 3), (20_000, 4, 30, 2)],
    [(500, 6, 60, 4), (1_000, 5, 100, 4), (20_000, 6, 50, 3), (30_000, 20, 30, 2)],
)
FAMILIES = [
    Family(
        "relaxations", ("BESIDE_SECONDS", "PAIR_SECONDS", "VALUE_SECONDS", "FURTHER_SECONDS"),
        relaxations, [(1_000, 20), (1_000, 100), (5_000, 30), (20_000, 20), (60_000, 12)],
        [(1_000, 300), (10_000, 100), (90_000, 12), (90_000, 30)],
    ),
    Family(
        "relaxations over an interval", ("INTERVAL_FACTOR",),
        partial(relaxations, scale="free"), [(1_000, 20), (5_000, 30)], [(60_000, 12)],
    ),
    Family(
        "supports", ("SUPPORT_NS", "CELL_NS", "WORD_NS", "FAR_WORD_NS", "SORTED_NS"), scans,
        [(1_000, 60, 3), (1_000, 60, 4), (10_000, 60, 3), (100_000, 30, 4), (400_000, 64, 2)],
        [(1_000, 60, 5), (10_000, 60, 4), (100_000, 40, 4), (1_000_000, 60, 3), (1_000, 30, 6),
         (1_000, 24, 8)],
    ),
    Family(
        "nodes that supports complete", ("COMPLETION_SECONDS",), completed,
        [(1_000, 60, 8), (1_000, 60, 12), (5_000, 120, 8), (5_000, 120, 12)],
    ),
    Family(
        "boxes of supports", ("TERM_SECONDS",), boxes,
        [(1_000, 24, 3), (1_000, 24, 4), (4_000, 30, 4)], [(1_000, 24, 5), (20_000, 30, 5)],
    ),
    Family(
        "cut-offs, preparation", ("PREPARATION_SECONDS", "PREPARED_SECONDS"), prepared_cutoffs,
        *_OF_CUTOFFS,
    ),
    Family(
        "cut-offs, nodes", ("NODE_SECONDS", "ELEMENT_SECONDS"), cutoff_nodes, *_OF_CUTOFFS,
        {"NODES_PER_ROOT": 1.0},
    ),
    Family(
        "cut-offs, number of nodes", ("NODES_PER_ROOT",), cutoff_counts, *_OF_CUTOFFS,
        {"NODE_SECONDS": 1.0, "ELEMENT_SECONDS": 0.0},
    ),
    Family(
        "additive models", ("PASS_SECONDS", "FAMILY_PAIR_SECONDS", "STEP_SECONDS"), fits,
        [(2_000, 8, 10), (10_000, 8, 20), (30_000, 10, 30), (2_000, 10, 100)],
        [(30_000, 20, 30), (5_000, 20, 60)],
    ),
    Family(
        "counts of unions", ("ROW_NS",), counts_of_unions, [(100_000, 18, 3), (100_000, 24, 5)],
        [(400_000, 30, 4), (400_000, 30, 5)],
    ),
    Family(
        "searches of supports (`heuristics/work.py`)", (), heuristics,
        [(1_000, 60, 5), (10_000, 60, 5)], [(50_000, 100, 5), (10_000, 200, 8)],
    ),
]  # fmt: skip


# ---- table ------------------------------------------------------------------------------------


def fit(family: Family, is_quick: bool, known: Mapping[str, float]) -> Fit:
    """Measure, and fit the constants."""
    sizes = [*family.sizes, *(() if is_quick else family.more)]
    timed = [one for size in sizes for one in family.measure(*size)]
    with constants(family.known):
        ratios = np.array([one.predict() / one.seconds for one in timed])
    names = [each for name in family.names for each in each_of(name)]
    factors = fitted(names, {**known, **family.known}, timed) if names else []
    values = {name: by * value_of(name) for name, by in zip(names, factors, strict=True)}
    return Fit(family.title, values, ratios)


def measured(is_quick: bool) -> list[Fit]:
    """All fits, one after the other."""
    found: list[Fit] = []
    for family in FAMILIES:
        began = time.perf_counter()
        # The factor of an interval is one of relaxations, which are fitted before it.
        found.append(fit(family, is_quick, found[0].values if found else {}))
        sys.stderr.write(f"{family.title}: {time.perf_counter() - began:.1f} s\n")
    return found


def constants_of(fits: Sequence[Fit]) -> list[dict[str, str]]:
    """Constants of the package, those that fit best, and the ratio."""
    rows = [(name, value_of(name), value) for one in fits for name, value in one.values.items()]
    return [
        {"constant": name, "package": f"{own:.3g}", "fitted": f"{value:.3g}",
         "ratio": f"{value / own:.2f}",
         "is_wrong": "" if 1 / MOST_WRONG <= value / own <= MOST_WRONG else "!"}
        for name, own, value in rows
    ]  # fmt: skip


def table_of_work(fits: Sequence[Fit], is_quick: bool) -> str:
    """Predictions over CPU times, as a table of Markdown."""
    machine = describe_machine()
    lines = [
        f"Version {riskslim.__version__}, {datetime.date.today()}, {machine['processor']}"
        f"{', --quick' if is_quick else ''}:",
        "", "| work | predicted / measured | least, most |", "|---|---|---|",
    ]  # fmt: skip
    for one in fits:
        mean = math.exp(np.log(one.ratios).mean())
        ends = f"{one.ratios.min():.2f}, {one.ratios.max():.2f}"
        lines.append(f"| {one.title} | {mean:.2f} | {ends} |")
    return "\n".join([*lines, ""])


# ---- picture ----------------------------------------------------------------------------------

SIZE = 5
ROWS, VARIABLES, MOST_ITEMS, NODES = 3_000, 10, 2_000, (100, 10_000)
ROWS_ELSEWHERE, ITEMS_ELSEWHERE, NODES_ELSEWHERE = 10**8, (18, 45), (10, 100)
IN_A_BLOCK = 3  # items of two values of a block of features that are counted together
LEVEL = 2  # of instructions: AVX2


class Curve(NamedTuple):
    """Predicted seconds of a way, by rows and items."""

    label: str
    colour: str
    line: str
    seconds: Callable[[int, int], float]


def nodes_of(n_nodes: int, line: str) -> Curve:
    """Relaxations of a number of nodes, which is known only when they have been made."""
    label = f"nodes: {n_nodes:,} relaxations"
    return Curve(label, "tab:gray", line, lambda n, d: n_nodes * costs.relaxation(n, d))


def supports_of(n: int, d: int) -> float:
    """Predicted seconds of all supports."""
    return costs.COMPLETION_SECONDS + costs.supports(d, 0, SIZE, math.ceil(n / 64), 2)


def cutoffs_of(n: int, d: int) -> float:
    """Predicted seconds of a search over the cut-offs of some variables."""
    n_roots = sum(math.comb(2 * VARIABLES + k - 1, k) for k in range(1, SIZE + 1))
    return sum(costs.cutoff_preparation(n, d)) + costs.cutoff_search(n_roots, n, SIZE)


def unions_of(n: int, d: int) -> float:
    """Predicted seconds of all unions of items of two values."""
    n_unions = math.comb(math.ceil(d / IN_A_BLOCK), SIZE)
    return costs.unions(n, n_unions, MOST_CELLS, SIZE * IN_A_BLOCK)


SUPPORTS = Curve("support enumeration", "tab:blue", "-", supports_of)
CUTOFFS = Curve(f"cut-offs of {VARIABLES} variables", "tab:orange", "-", cutoffs_of)
UNIONS = Curve("unions", "tab:red", "-", unions_of)


def draw(path: Path) -> None:
    """Draw predicted seconds of each way by the number of items, and which takes least."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.6))
    left, right = figure.subplots(1, 2)
    figure.subplots_adjust(left=0.08, right=0.98, bottom=0.12, top=0.92)
    here = np.unique(np.geomspace(10, MOST_ITEMS, 100).astype(int)).tolist()
    few, many = (nodes_of(*one) for one in zip(NODES, ("--", "-"), strict=True))
    with mock.patch.object(costs.kernels, "best_level", return_value=LEVEL):
        draw_panel(left, ROWS, here, [few, many, SUPPORTS, CUTOFFS])
        draw_items_in_turn(left, here)
        there = list(range(ITEMS_ELSEWHERE[0], ITEMS_ELSEWHERE[1] + 1))
        few, many = (nodes_of(*one) for one in zip(NODES_ELSEWHERE, ("--", "-"), strict=True))
        draw_panel(right, ROWS_ELSEWHERE, there, [few, many, SUPPORTS, UNIONS])
    left.set(title=f"{ROWS:,} rows in memory", xscale="log", ylim=(1e-3, 1e7))
    right.set(title=f"{ROWS_ELSEWHERE:,} rows in parts", ylabel="")
    with mpl.rc_context({"svg.hashsalt": "riskslim", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def draw_panel(axes: Any, n: int, sizes: Sequence[int], curves: Sequence[Curve]) -> None:
    """Curves of each way; at the lower edge, the colour of the one that takes least."""
    times = np.array([[one.seconds(n, d) for d in sizes] for one in curves])
    for one, seconds in zip(curves, times, strict=True):
        (line,) = axes.semilogy(sizes, seconds, one.line, color=one.colour, label=one.label)
        line.set_gid(f"curve-{n}-{one.label.replace(' ', '-')}")
    least = times[1:].argmin(axis=0)  # with the larger number of nodes
    for way, same in itertools.groupby(range(len(sizes)), key=lambda i: int(least[i])):
        places = list(same)
        ends = sizes[places[0]], sizes[min(places[-1] + 1, len(sizes) - 1)]
        axes.axvspan(*ends, ymax=0.03, color=curves[1 + way].colour, linewidth=0)
    axes.set(xlim=(sizes[0], sizes[-1]), xlabel="items", ylabel="predicted seconds of one core")
    axes.legend(loc="lower right", fontsize="small")


def draw_items_in_turn(axes: Any, sizes: Sequence[int]) -> None:
    """Where items are taken in turn, since all else takes too long, and families before them."""
    shown = {"color": "tab:green", "fontsize": "small"}
    axes.axhspan(ways.ELIMINATION_SECONDS, 1e9, color="tab:green", alpha=0.15)
    axes.text(11, 2e5, "if all ways take as long:\nitems in turn", **shown)
    first = next(d for d in sizes if supports_of(ROWS, d) > elimination.FAMILIES_SECONDS)
    axes.axvline(first, color="tab:green", linewidth=0.8, linestyle=":")
    axes.text(1.05 * first, 2e6, "with families", **shown)


def main(arguments: Sequence[str]) -> int:
    """Measure and print, or draw."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.costs", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="smaller problems, under a minute")
    parser.add_argument("--page", type=Path, help="page to write the table to")
    parser.add_argument("--picture", type=Path, help="draw the formulas instead")
    options = parser.parse_args(arguments)
    if options.picture is not None:
        draw(options.picture)
        return 0
    fits = measured(options.quick)
    rows = constants_of(fits)
    lines = [f"{' '.join(f'{cell:>22}' for cell in row.values())}\n" for row in [COLUMNS, *rows]]
    sys.stdout.write("".join([*lines, "\n"]))
    if options.page is not None:
        path = options.page.with_suffix(".csv")
        path.unlink(missing_ok=True)
        for row in rows:
            append_row(path, list(COLUMNS), row)
    show(table_of_work(fits, options.quick), options.page, "benchmarks.costs")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
