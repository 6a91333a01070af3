"""The contract of branch and bound under shares at a free threshold, against enumeration.

Each problem (helpers/at_threshold.py) is enumerated once and solved in all ways; a failure names
the seed: ``DRAW_SHARED[kind](seed)`` draws it again.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from at_threshold import DRAW_SHARED
from rated import rate_faults, unfinished_rate_faults
from riskslim import Status
from riskslim.exceptions import RiskSLIMError
from searches import StopAfter
from ways import RATES

# Blocks of seeds: one that is always looked at, and one of four times as many.
BLOCKS = [2, pytest.param(100, marks=pytest.mark.slow)]


def drawn(kind, first):
    n = 12 if first > 2 else 3
    return [(seed, DRAW_SHARED[kind](seed)) for seed in range(first, first + n)]


@pytest.mark.parametrize("first", BLOCKS)
@pytest.mark.parametrize("kind", DRAW_SHARED)
def test_the_enumerated_optimum_is_found(kind, first):
    statuses = Counter()
    for seed, small in drawn(kind, first):
        problem = small.build()
        for way in RATES:
            solution = RATES[way](problem, np.random.default_rng([seed, *map(ord, way)]))
            assert not (wrong := rate_faults(small, solution)), (seed, way, wrong)
            statuses[solution.certificate.status] += 1
    assert statuses[Status.OPTIMAL] + statuses[Status.INFEASIBLE] == statuses.total()
    assert statuses[Status.INFEASIBLE] > 0, statuses
    assert statuses[Status.OPTIMAL] > 0, statuses


@pytest.mark.parametrize("first", BLOCKS)
@pytest.mark.parametrize("kind", DRAW_SHARED)
def test_lists_hold_all_that_have_the_shares(kind, first):
    n_lists = 0
    for seed, small in drawn(kind, first):
        vectors, met, objectives, best = small.enumerated
        if best == np.inf:
            continue
        way = ("as chosen", "tables", "relaxations")[seed % 3]
        asked = {"n_solutions": 5} if seed % 2 else {"within": 0.02}
        solution = RATES[way](small.build(), np.random.default_rng(seed), **asked)
        feasible = np.sort(objectives[met])
        within = feasible[feasible <= best * 1.02 + 1e-11]
        expected = feasible[:5] if seed % 2 else within
        np.testing.assert_allclose(solution.pool.objectives, expected, rtol=1e-9)
        listed = {tuple(vector) for vector in solution.pool.coefficients.tolist()}
        assert listed <= {tuple(vector) for vector in vectors[met].tolist()}, seed
        assert len(listed) == len(expected), seed
        n_lists += 1
    assert n_lists > 0


LIMITS = ({"node_limit": 0}, {"node_limit": 3}, {"gap_tolerance": 0.1}, "stop")


@pytest.mark.parametrize("first", BLOCKS)
@pytest.mark.parametrize("kind", DRAW_SHARED)
def test_searches_that_end_early_have_valid_bounds(kind, first):
    statuses = Counter()
    for seed, small in drawn(kind, first):
        problem = small.build()
        for k, limit in enumerate(LIMITS):
            way = list(RATES)[(seed + k) % len(RATES)]
            stated = {"should_stop": StopAfter(1 + seed % 4)} if limit == "stop" else limit
            try:
                solution = RATES[way](problem, np.random.default_rng([seed, k]), **stated)
            except RiskSLIMError as error:
                if "before any risk score" not in str(error):
                    raise
                statuses["none"] += 1
                continue
            wrong = unfinished_rate_faults(small, solution)
            assert not wrong, (seed, way, limit, wrong)
            statuses[solution.certificate.status] += 1
    assert statuses.total() > 8, statuses
