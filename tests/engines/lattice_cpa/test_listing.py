"""Scores in order for lattice_cpa: the share of the time that a list may take."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from riskslim.engines.lattice_cpa import listing


@pytest.mark.parametrize(
    ("now", "floor", "ends"),
    [
        (0.5, 1.0, False),  # too early to say
        (2.0, 1.1, True),  # a fifth of the time for a tenth of the way
        (2.0, 1.5, False),
        (9.0, 1.95, False),
        (10.0, 2.0, True),  # all of the time, for all of the way
        (10.0, 1.5, True),
    ],
)
def test_a_list_ends_when_its_time_is_over_or_would_not_do(monkeypatch, now, floor, ends):
    clock = SimpleNamespace(perf_counter=lambda: 0.0)
    monkeypatch.setattr(listing, "time", clock)
    search = SimpleNamespace(floor=1.0, objective=2.0, gap=1.0, nodes_before=0)
    checks = listing._Checks(search, gap_tolerance=0.0, ends=10.0, should_stop=lambda: False)
    clock.perf_counter, search.floor = (lambda: now), floor
    assert checks.should_stop() is ends
