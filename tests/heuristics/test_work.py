"""Predicted work: it grows with what is done, and budgets end where they should."""

from __future__ import annotations

import math
import time

from riskslim.heuristics.work import Work


def test_more_is_more():
    def seconds(**sizes):
        work = Work()
        sizes = {
            "by_bits": 10,
            "by_ranks": 10,
            "n_chains": 1,
            "n_words": 100,
            "n_groups": 5,
        } | sizes
        work.counts(**sizes)
        work.steps(sizes["by_bits"], sizes["n_groups"])
        return work.seconds

    least = seconds()
    for name in ("by_bits", "by_ranks", "n_chains", "n_words", "n_groups"):
        assert seconds(**{name: 1000}) > 1.2 * least
    singles, pairs = Work(), Work()
    singles.polish(32, 6, pairs=False)
    pairs.polish(32, 6, pairs=True)
    assert 0 < singles.seconds < pairs.seconds
    few, many = Work(), Work()
    few.cells(100, 3, 2)
    many.cells(100, 9, 2)
    assert 0 < few.seconds < many.seconds
    one, several = Work(), Work()
    one.propagations(3, 50)
    several.propagations(3, 50, 20)
    assert 0 < 10 * one.seconds < several.seconds
    few.columns(10**6, 3)
    assert few.seconds > 5e-3


def test_budgets_begin_where_they_are_given():
    work = Work()
    work.columns(10**9, 10)
    assert not work.is_spent
    work.allow(0.0)
    assert work.is_spent
    work.allow(1.0)
    assert not work.is_spent
    work.columns(10**9, 1)
    assert work.is_spent
    work.allow(math.inf)
    assert not work.is_spent
    work.allow(math.inf, time.perf_counter() - 1)
    assert work.is_spent
    work.allow(math.inf, time.perf_counter() + 1e3)
    assert not work.is_spent
