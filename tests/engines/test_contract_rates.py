"""The contract of engines under constraints on rates, against exhaustive enumeration.

Each problem (helpers/rated.py) is enumerated once and solved in all ways; a failure names the seed:
``DRAW[kind](seed)`` draws it again.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from rated import DRAW, rate_faults, unfinished_rate_faults
from riskslim import Status
from riskslim.exceptions import RiskSLIMError
from searches import StopAfter
from ways import LATTICE_RATES, RATES

# Blocks of seeds: one that is always looked at, and one of twice as many.
BLOCKS = [0, pytest.param(100, marks=pytest.mark.slow)]


def drawn(kind: str, first: int, n: int):
    n = 2 * n if first else n
    return [(seed, DRAW[kind](seed)) for seed in range(first, first + n)]


@pytest.mark.parametrize("first", BLOCKS)
@pytest.mark.parametrize("kind", DRAW)
def test_the_enumerated_optimum_is_found(kind, first):
    statuses, n_vectors = Counter(), 0
    for seed, small in drawn(kind, first, 4):
        problem = small.build()
        others = list(LATTICE_RATES)
        for way in (*RATES, *others[seed % max(len(others), 1) :][:1]):
            rng = np.random.default_rng([seed, *map(ord, way)])
            solution = {**RATES, **LATTICE_RATES}[way](problem, rng)
            assert not (wrong := rate_faults(small, solution)), (seed, way, wrong)
            assert solution.pool is None
            if way == "tables":
                n_vectors += solution.statistics.table_vectors
            statuses[solution.certificate.status] += 1
    assert statuses[Status.OPTIMAL] > 7, statuses
    assert statuses[Status.INFEASIBLE] > 0 or not first, statuses
    assert n_vectors > 0 or kind != "items"


@pytest.mark.parametrize("first", BLOCKS)
@pytest.mark.parametrize("kind", DRAW)
@pytest.mark.parametrize("asked", [{"n_solutions": 7}, {"within": 0.03}], ids=["best", "within"])
def test_lists_hold_all_that_meet_the_rates(kind, first, asked):
    n_lists = 0
    for seed, small in drawn(kind, first, 4):
        vectors, met, objectives, best = small.enumerated
        if best == np.inf:
            continue
        way = ("as chosen", "tables", "relaxations")[seed % 3]
        solution = RATES[way](small.build(), np.random.default_rng(seed), **asked)
        assert not (wrong := rate_faults(small, solution)), (seed, wrong)
        pool, feasible = solution.pool, np.sort(objectives[met])
        within = feasible[feasible <= best * 1.03 + 1e-11]
        expected = feasible[:7] if "n_solutions" in asked else within
        assert len(pool) == len(expected), seed
        np.testing.assert_allclose(pool.objectives, expected, rtol=1e-9)
        listed = {tuple(vector) for vector in pool.coefficients.tolist()}
        assert listed <= {tuple(vector) for vector in vectors[met].tolist()}, seed
        assert len(listed) == len(pool), seed
        # Where all intercepts from some on are feasible the list says which it holds.
        assert pool.complete or pool.intercepts is not None
        assert pool.bound <= feasible[len(expected) :].min(initial=np.inf) + 1e-9, seed
        n_lists += 1
    assert n_lists > 1


LIMITS = (
    {"node_limit": 0},
    {"node_limit": 3},
    {"gap_tolerance": 0.1},
    {"time_limit": 0.02},
    "stop",
)


@pytest.mark.parametrize("first", BLOCKS)
@pytest.mark.parametrize("kind", DRAW)
def test_searches_that_end_early_have_valid_bounds(kind, first):
    statuses = Counter()
    for seed, small in drawn(kind, first, 4):
        problem = small.build()
        ways = [*RATES, *LATTICE_RATES]
        for k, limit in enumerate(LIMITS):
            way, records = ways[(seed + k) % len(ways)], []
            stated = {"should_stop": StopAfter(1 + seed % 4)} if limit == "stop" else limit
            rng = np.random.default_rng([seed, k])
            try:
                solution = {**RATES, **LATTICE_RATES}[way](
                    problem, rng, progress=records.append, **stated
                )
            except RiskSLIMError as error:
                # Before any score was found: not by counts, no matter how busy the machine is.
                is_late = "before any risk score" in str(error) or "so far" in str(error)
                if "node_limit" in limit or "gap_tolerance" in limit or not is_late:
                    raise
                continue
            certificate = solution.certificate
            wrong = unfinished_rate_faults(small, solution)
            assert not wrong, (seed, way, limit, wrong)
            statuses[certificate.status] += 1
            if certificate.status is Status.INFEASIBLE:
                continue
            assert problem.is_feasible(solution.coef)
            assert records == list(solution.trace)
            if limit == {"gap_tolerance": 0.1}:
                assert certificate.optimality_gap <= 0.1
    assert statuses[Status.OPTIMAL] > 2, statuses
    assert statuses[Status.FEASIBLE] > 2, statuses
