"""What every engine promises, in every way that it has, against exhaustive enumeration.

Problems of all kinds (helpers/small_problems.py) are solved in the ways that there are for such
(helpers/ways.py), and each problem is enumerated once. A failure names case and way:
``solved(Case(...), way)`` repeats it. Hypothesis makes the case smaller before: fewer rows and
features, and less that is stated.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from checked_solutions import (
    EQUAL,
    EQUAL_NATIVE,
    constrained_faults,
    faults,
    scale_faults,
    stopped_faults,
    strict_faults,
    trace_faults,
)
from enumeration import enumerate_optimum, objective
from pools import MORE_THAN_ALL, REQUESTS, pool_faults, unfinished_pool_faults
from riskslim import LatticeCPASettings, Status
from riskslim.exceptions import RiskSLIMError
from small_problems import (
    CORNERS,
    STATED,
    TIED,
    Case,
    corner_problem,
    infeasible,
    plain,
    tied_problem,
)
from ways import EVERY, LATTICE, NATIVE, PARTS, counted_events, stopped, ways_of

pytestmark = pytest.mark.filterwarnings("ignore::riskslim.exceptions.ConstantFeatureWarning")

# What is drawn: what comes first in it is what cases shrink to.
SOURCES = (*["any"] * 5, *["constraints"] * 3, *["duplicates"] * 2, "bounds on scores")
# Ways that take another course on such columns than on others, and what shows that they were taken.
KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "as drawn": (
        ("as chosen", "relaxations", "few passes", "rounded aside", *LATTICE),
        ("nodes", "passes", "rounded aside", "multipliers"),
    ),
    "two values": (
        ("tables", "tables in steps", "tables of few supports", "tables of nodes", "few passes"),
        ("tables", "tables that exclude", "passes"),
    ),
    "few values": (
        ("as chosen", "tables", "tables in steps", "tables of nodes", *LATTICE),
        ("tables", "tables that exclude"),
    ),
    "some few values": (
        ("rows in parts", "rows in parts, little room", "rows in parts, no room", "few passes"),
        ("passes over parts",),
    ),
    "cut-offs": (("as chosen", "cut-offs", "cut-offs in steps", "tables"), ("cut-offs",)),
    "items": (
        ("elimination", "relaxations", "tables of nodes", "rows in parts"),
        ("pieces", "pieces by tables", "pieces by levels"),
    ),
    "families": (
        ("families", "families to the end", "elimination", "cut-offs"),
        ("families", "families fitted in part", "families that are over"),
    ),
    "unions": (("rows in parts, unions", "rows in parts", "tables"), ("unions",)),
}
# Where time is no matter, twice as many examples beside those that are always looked at.
MORE = pytest.param(2, marks=pytest.mark.slow)


def cases(columns: str, most_slopes: int | None = None, **options: st.SearchStrategy):
    """Cases that shrink to few rows and features, and to little that is stated."""
    # Zero, to which numbers shrink, is what is left out, and it is drawn now and then.
    names = [name for name in STATED if name != "ridge" or name in options]
    stated = st.tuples(*(st.integers(0, 9) for _ in names))
    return st.builds(
        Case,
        source=options.pop("source", st.sampled_from(SOURCES)),
        columns=st.just(columns),
        seed=st.integers(0, 2**20),
        most_slopes=st.just(most_slopes),
        n_rows=st.integers(8, 200),
        n_features=st.sampled_from([1, 2, 3, 4, 5, *[6] * 25]),
        left_out=stated.map(
            lambda drawn: frozenset(name for name, k in zip(names, drawn, strict=True) if not k)
        ),
        **options,
    )  # fmt: skip


def check_examples(
    n_examples: int, check: Callable[..., None], times: int = 1, **drawn: st.SearchStrategy
) -> None:
    """Let hypothesis look for an example that fails a check, among so many times as many examples.

    More examples are other ones: of one seed, the first would be those that are always looked at.
    """
    looked_at = settings(
        max_examples=n_examples * times, suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink], report_multiple_bugs=False,
    )(given(**drawn)(check))  # fmt: skip
    (looked_at if times == 1 else hypothesis.seed(times)(looked_at))()


def solved(case: Case, way: str, **options):
    return EVERY[way](case.problem, case.rng(way), **options)


def faults_of(case: Case, way: str) -> list[str]:
    """Everything wrong with the optimum that a way finds of a case."""
    solution = solved(case, way)
    wrong = constrained_faults(case.small, case.best, case.problem, solution)
    return wrong if way in LATTICE else wrong + strict_faults(case.best, solution)


def all_faults(case: Case, ways, find=faults_of) -> str:
    """The same of several ways, each with its name; of those in which it is the same problem."""
    found = ((way, find(case, way)) for way in ways if way in ways_of(case.small))
    return "\n".join(f"{way}: {'; '.join(wrong)}" for way, wrong in found if wrong)


# --- optima ---------------------------------------------------------------------------------------


def test_one_problem_of_each_kind():
    """What is broken altogether is seen here, within seconds."""
    sources = itertools.cycle(dict.fromkeys(SOURCES))
    for columns, (ways, _) in KINDS.items():
        for number, way in enumerate(ways):
            case = Case(next(sources), columns, number, most_slopes=150, n_rows=50)
            wrong = all_faults(case, [way])
            assert not wrong, f"{case}: {wrong}"


@pytest.mark.parametrize("times", [1, MORE])
@pytest.mark.parametrize("columns", KINDS)
def test_the_enumerated_optimum_is_found(columns, times):
    ways, events = KINDS[columns]
    n_examples = 30 if columns == "as drawn" else 12  # constraints are priced in a few

    def check(case, other):
        wrong = all_faults(case, dict.fromkeys((*ways, other)))
        assert not wrong, wrong

    with counted_events() as counts:
        others = st.sampled_from([*NATIVE, *PARTS, *LATTICE])
        check_examples(n_examples, check, times, case=cases(columns), other=others)
    assert min(counts[event] for event in events) > times, counts


@pytest.mark.parametrize("times", [1, MORE])
@pytest.mark.parametrize("columns", KINDS)
def test_the_enumerated_optimum_with_a_ridge_penalty_is_found(columns, times):
    sizes = Counter()

    def check(case, other):
        sizes[bool(np.any(case.best.vectors[:1, 1:]))] += 1
        wrong = all_faults(case, dict.fromkeys((*KINDS[columns][0], other)))
        assert not wrong, wrong

    others = st.sampled_from([*NATIVE, *PARTS, *LATTICE])
    check_examples(12, check, times, case=cases(columns, ridge=st.just(True)), other=others)
    assert sizes[True] > 3 * times, sizes  # a strong one leaves nothing


@pytest.mark.parametrize("corner", CORNERS)
def test_corners(corner):
    for real in (False, True):
        small = corner_problem(corner, real)
        best, problem = enumerate_optimum(small), small.build()
        for way in ("as chosen", "tables", "rows in parts", *LATTICE):
            solution = EVERY[way](problem, np.random.default_rng(real))
            assert not faults(small, best, problem, solution), (real, way)


@pytest.mark.parametrize("kind", TIED)
def test_features_that_a_constraint_counts_have_points(kind):
    boxes = itertools.product([(-3, 3), (0, 3), (-2, 0), (-1, 1)], [0.0, 0.05])
    for k, (box, price) in enumerate(boxes):
        if (k + k // 4 + list(TIED).index(kind)) % 2:
            continue
        small = tied_problem(kind, box, price)
        best, problem = enumerate_optimum(small), small.build()
        native = ("relaxations", "tables")[k // 2 % 2]
        for way in (native, *list(LATTICE)[: 1 + k % 2]):
            solution = EVERY[way](problem, np.random.default_rng(k))
            assert not constrained_faults(small, best, problem, solution), (box, price, way)


@pytest.mark.parametrize("way", ["as chosen", "rows in parts", *LATTICE])
def test_infeasible_problems(way):
    for seed in range(12):
        small = infeasible(seed)
        assert not enumerate_optimum(small).feasible
        problem = small.build()
        solution = EVERY[way](problem, np.random.default_rng(seed))
        certificate = solution.certificate
        assert certificate.status is Status.INFEASIBLE, seed
        assert certificate.objective == certificate.lower_bound == np.inf, seed
        assert np.isnan(certificate.optimality_gap), seed
        assert certificate.message == problem.infeasibility, seed
        assert solution.coefficients is solution.intercept is None, seed


# --- what is given, and limits --------------------------------------------------------------------


def test_a_start_changes_nothing_but_the_way():
    """Any feasible vector, or an optimal one."""

    def start_faults(case, way):
        problem, rng = case.problem, case.rng("start")
        candidates = rng.integers(problem.lower, problem.upper + 1, (300, case.small.d + 1))
        starts = [vector for vector in candidates if problem.is_feasible(vector)][:1]
        for start in [*starts, *case.best.vectors[:1]]:
            if not problem.is_feasible(start):
                continue  # an optimal intercept beyond the derived bounds
            solution = solved(case, way, start=start)
            if wrong := constrained_faults(case.small, case.best, problem, solution):
                return [f"start {start}", *wrong]
        return []

    def check(case):
        wrong = all_faults(case, ("as chosen", "tables", *LATTICE), start_faults)
        assert not wrong, wrong

    check_examples(6, check, case=cases("as drawn"))


@pytest.mark.parametrize("columns", ["as drawn", "cut-offs", "items"])
def test_a_gap_that_is_allowed_is_kept(columns):
    gaps = []

    def gap_faults(case, way, tolerance):
        certificate = solved(case, way, gap_tolerance=tolerance).certificate
        if not case.best.feasible:
            return [] if certificate.status is Status.INFEASIBLE else [repr(certificate)]
        optimum, gap = case.best.objective, certificate.optimality_gap
        gaps.append(gap)
        is_good = (
            certificate.status is Status.OPTIMAL
            and gap <= tolerance
            and certificate.lower_bound <= optimum + EQUAL
            and optimum - EQUAL <= certificate.objective <= optimum / (1 - tolerance) + EQUAL
        )
        return [] if is_good else [f"optimum {optimum!r}, {certificate!r}"]

    def check(case, tolerance):
        ways = dict.fromkeys(("relaxations", *KINDS[columns][0]))
        wrong = all_faults(case, ways, lambda *which: gap_faults(*which, tolerance))
        assert not wrong, wrong

    check_examples(4, check, case=cases(columns), tolerance=st.sampled_from([0.01, 0.2]))
    assert np.count_nonzero(gaps) > 2


@pytest.mark.parametrize("columns", KINDS)
def test_threads_change_nothing_but_the_time(columns):
    """Certificate, coefficients, nodes and trace are the same to the last bit."""

    def told(solution):
        trace = [solution.trace[name].tolist() for name in ("lower_bound", "upper_bound", "nodes")]
        certificate, statistics = solution.certificate, solution.statistics
        return repr((certificate, solution.coefficients, statistics.nodes, trace))

    def differences(case, way):
        found = {
            told(solved(case, way, n_threads=n, changes={"batch_size": 4})) for n in (1, 3)
        }  # fmt: skip
        return [" != ".join(found)] if len(found) > 1 else []

    def check(case):
        wrong = all_faults(
            case, [way for way in KINDS[columns][0] if way not in LATTICE], differences
        )
        assert not wrong, wrong

    check_examples(2, check, case=cases(columns))
    check_examples(2, check, case=cases(columns, ridge=st.just(True)))


@pytest.mark.parametrize("times", [1, MORE])
@pytest.mark.parametrize("columns", KINDS)
def test_a_search_that_is_stopped_anywhere_has_valid_bounds(columns, times):
    """By limits, before a step of any way, and at any look of a kernel."""
    statuses = Counter()

    def found_when_stopped(case, way):
        solution = stopped(EVERY[way], case.problem, case.rng(way))
        statuses[solution and solution.certificate.status] += 1
        wrong = stopped_faults(case.small, case.best, solution)
        if solution is not None and solution.certificate.status is not Status.INFEASIBLE:
            wrong += trace_faults(solution, case.best)
        return wrong

    def check(case):
        ways = [way for way in KINDS[columns][0] if way not in LATTICE]
        wrong = all_faults(case, ways, found_when_stopped)
        assert not wrong, wrong

    check_examples(8, check, times, case=cases(columns))
    assert min(statuses[Status.FEASIBLE], statuses[Status.OPTIMAL]) > 2 * times, statuses
    statuses.clear()
    check_examples(8, check, times, case=cases(columns, ridge=st.just(True)))
    assert min(statuses[Status.FEASIBLE], statuses[Status.OPTIMAL]) > 1, statuses


@pytest.mark.skipif(not LATTICE, reason="neither CPLEX nor SCIP")
def test_a_node_limit_of_lattice_cpa_leaves_valid_bounds():
    off = dict.fromkeys(("initialization", "chained_updates", "rounding", "polishing"), False)
    statuses = Counter()

    def limit_faults(case, way, node_limit):
        solution = solved(
            case, way, node_limit=node_limit, settings=LatticeCPASettings(**off)
        )  # fmt: skip
        certificate = solution.certificate
        statuses[certificate.status] += 1
        wrong = stopped_faults(case.small, case.best, solution, EQUAL)
        if certificate.status is Status.INFEASIBLE:
            return wrong
        if (certificate.optimality_gap == 0) != (certificate.status is Status.OPTIMAL):
            wrong.append(f"{certificate!r}")
        if solution.statistics.nodes > node_limit:
            wrong.append(f"{solution.statistics.nodes} nodes, at most {node_limit}")
        return wrong + trace_faults(solution, case.best)

    def check(case, node_limit):
        wrong = all_faults(case, LATTICE, lambda *which: limit_faults(*which, node_limit))
        assert not wrong, wrong

    drawn = cases("as drawn", ridge=st.booleans())
    check_examples(15, check, case=drawn, node_limit=st.sampled_from([0, 1, 3]))
    assert min(statuses[Status.FEASIBLE], statuses[Status.OPTIMAL]) > 5, statuses


# --- lists of the best scores ---------------------------------------------------------------------

# Given bounds of the intercept, and those that are derived or given on one side.
INTERCEPTS = ((-3, 3), (None, None), (None, 4), (-4, None))


@pytest.mark.parametrize("times", [1, MORE])
@pytest.mark.parametrize("columns", KINDS)
def test_lists_of_the_best_scores(columns, times):
    ways = [way for way in KINDS[columns][0] if way not in LATTICE]

    def list_faults(case, way, n_solutions, within):
        solution = solved(case, way, n_solutions=n_solutions, within=within)
        return pool_faults(case.small, case.problem, solution, n_solutions, within)

    def check(case, way, request):
        if request[0] == MORE_THAN_ALL and case.best.n_slopes > 40:
            request = (100, None)
        ways = dict.fromkeys([way, "repeated"])
        wrong = all_faults(case, ways, lambda *which: list_faults(*which, *request))
        assert not wrong, wrong

    with counted_events() as counts:
        check_examples(
            8, check, times, case=cases(columns, 120, intercept=st.sampled_from(INTERCEPTS)),
            way=st.sampled_from(ways),
            request=st.sampled_from(REQUESTS),
        )  # fmt: skip
    assert counts["repeated lists"] > 0
    kept = {"intercept": st.sampled_from(INTERCEPTS), "ridge": st.just(True)}
    check_examples(
        5, check, times, case=cases(columns, 120, **kept), way=st.sampled_from(ways),
        request=st.sampled_from(REQUESTS),
    )  # fmt: skip


def test_lists_that_a_limit_ends_have_a_valid_bound():
    ended = Counter()

    def bound_faults(case, way, request):
        changes, node_limit = {"batch_size": 2}, int(case.rng("limit").choice([2, 3, 6, 20]))
        solution = solved(case, way, node_limit=node_limit, changes=changes, **request)
        if solution.pool is not None:
            ended[solution.pool.complete] += 1
        wrong = stopped_faults(case.small, case.best, solution)
        return wrong + unfinished_pool_faults(case.small, case.problem, solution)

    def check(case, request):
        ways = ("relaxations", "repeated")
        wrong = all_faults(case, ways, lambda *which: bound_faults(*which, request))
        assert not wrong, wrong

    requests = st.sampled_from([{"n_solutions": 10}, {"within": 0.1}, {"within": 0.3}])
    kept = {
        "intercept": st.sampled_from([None, *INTERCEPTS]),
        "source": st.sampled_from(["any", "duplicates"]),
        "ridge": st.sampled_from([False, False, True]),
    }
    check_examples(15, check, case=cases("as drawn", 300, **kept), request=requests)
    assert ended[False] > 10, ended


# --- scales ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [1, MORE])
@pytest.mark.parametrize("columns", KINDS)
@pytest.mark.parametrize("ridge", [False, True])
def test_lists_and_intervals_of_scales(columns, ridge, times):
    kinds = Counter()

    def faults_over_scales(case, way):
        if way in LATTICE and isinstance(case.small.scale, tuple):
            return []
        kinds[way in LATTICE, type(case.small.scale)] += 1
        return scale_faults(case.small, case.problem, solved(case, way), *case.over_scales)

    def check(case, other):
        wrong = all_faults(case, dict.fromkeys((*KINDS[columns][0], other)), faults_over_scales)
        assert not wrong, wrong

    check_examples(
        4, check, times,
        case=cases(columns, 200, source=st.just("scales"), ridge=st.just(ridge)),
        other=st.sampled_from([*NATIVE, *PARTS, *LATTICE]),
    )  # fmt: skip
    assert min(kinds[False, tuple], kinds[False, list]) > times, kinds


def test_limits_over_scales_leave_valid_bounds():
    def limit_faults(case, way):
        optimum = case.over_scales[1].min(initial=np.inf)
        try:
            solution = solved(case, way, node_limit=1)
        except RiskSLIMError as error:
            return [] if "before any risk score was found" in str(error) else [repr(error)]
        certificate = solution.certificate
        if certificate.status is Status.INFEASIBLE:
            return [] if optimum == np.inf else ["infeasible"]
        really = objective(case.small, solution.coef, solution.scale)
        is_good = (
            certificate.lower_bound <= optimum + EQUAL_NATIVE
            and certificate.objective >= optimum - EQUAL_NATIVE
            and abs(certificate.objective - really) <= 1e-13
        )
        return [] if is_good else [f"{certificate!r}, optimum {optimum!r}, really {really!r}"]

    def check(case):
        wrong = all_faults(case, ("as chosen", "tables"), limit_faults)
        assert not wrong, wrong

    drawn = cases("as drawn", 200, source=st.just("scales"), ridge=st.booleans())
    check_examples(10, check, case=drawn)


# --- several engines ------------------------------------------------------------------------------


@pytest.mark.skipif(not LATTICE, reason="neither CPLEX nor SCIP")
@pytest.mark.parametrize("seed", range(5))
def test_engines_agree_on_problems_too_large_for_enumeration(seed):
    rng = np.random.default_rng([seed, 17])
    small = plain(
        rng, int(rng.integers(8, 13)), intercept=(None, None), max_size=int(rng.integers(2, 6)),
        min_size=int(rng.integers(0, 3)), l0_penalty=float(rng.choice([1e-6, 1e-3, 1e-2])),
    )  # fmt: skip
    if seed % 2:
        small.X = small.X + rng.integers(0, 3, small.X.shape)
    problem = small.build()
    found = [
        EVERY[way](problem, rng, settings=None).certificate
        for way in ("as chosen", "rows in parts", *LATTICE)
    ]
    assert {certificate.status for certificate in found} == {Status.OPTIMAL}
    objectives = [certificate.objective for certificate in found]
    assert max(objectives) - min(objectives) <= EQUAL
