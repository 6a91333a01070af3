"""Predictions of how much of a search is left."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest

from riskslim.engines.branch_and_bound.pace import FEWEST_NODES, Pace

CUTOFF = 1.0


def children(bound, rng):
    """Bounds of what a node is branched into: two or three, each a bit higher."""
    return [bound + step for step in rng.exponential(0.2, rng.integers(2, 4))]


def searched(seed, n_nodes):
    """A pace, the open bounds after some nodes best first, and how many nodes follow."""
    rng, pace = np.random.default_rng(seed), Pace()
    heap, rest, open_then = [0.0], 0, None
    for n in range(10**6):
        if not heap:
            return pace, open_then, rest
        if n == n_nodes:
            open_then = list(heap)
        bound = heapq.heappop(heap)
        found = children(bound, rng)
        if open_then is None:
            pace.add(bound, found, 0.5)
        else:
            rest += 1
        for one in found:
            if one < CUTOFF:
                heapq.heappush(heap, one)
    raise AssertionError("a search without end")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("share", [0.05, 0.2, 0.6])
def test_what_is_left_within_a_factor_of_four(seed, share):
    total = searched(seed, 1)[2] + 1
    pace, open_bounds, rest = searched(seed, max(int(share * total), 50))
    predicted = pace.remaining_seconds(CUTOFF, open_bounds)
    assert rest * 0.5 / 4 <= predicted <= 4 * rest * 0.5


def test_few_nodes_say_nothing():
    pace = Pace()
    for n in range(FEWEST_NODES):
        assert not pace.is_known
        assert pace.remaining_seconds(CUTOFF, [0.5]) == math.inf
        pace.add(0.1 * n / FEWEST_NODES, [0.9, 1.1], 1.0)
    assert pace.is_known
    assert pace.remaining_seconds(CUTOFF, [0.5]) < math.inf


def test_bounds_that_do_not_rise_give_no_hope():
    pace = Pace()
    for _ in range(2 * FEWEST_NODES):
        pace.add(0.5, [0.5, 0.5], 1.0)
    assert pace.remaining_seconds(CUTOFF, [0.5] * 9) == math.inf


def test_nothing_is_left_of_nodes_beyond_the_cutoff():
    pace = Pace()
    for _ in range(2 * FEWEST_NODES):
        pace.add(0.5, [1.2], 2.0)
    assert pace.remaining_seconds(CUTOFF, [1.5, 1.0]) == 0.0
    # No node has children that are left: each open one takes as long as those before it.
    assert pace.remaining_seconds(CUTOFF, [0.9, 0.2]) == pytest.approx(4.0)
