"""The order in which a search divides open sets, of a kind that it does not know."""

from __future__ import annotations

import math

import numpy as np
import pytest

from problems import make_problem
from riskslim import branch_and_bound
from riskslim.engines.branch_and_bound.nodes import Child, InverseScale
from riskslim.engines.branch_and_bound.open_sets import Found, OpenSet
from riskslim.engines.branch_and_bound.search import Search
from riskslim.engines.branch_and_bound.ways import Ways


class OneByOne(OpenSet):
    """Nodes that are handed over one at a time, the last one first."""

    def __init__(self, nodes, *, is_begun=False):
        self.nodes, self._is_begun, self.steps = list(nodes), is_begun, 0

    @property
    def bound(self):
        return min((node.bound for node in self.nodes), default=math.inf)

    @property
    def is_done(self):
        return not self.nodes

    @property
    def is_begun(self):
        return self._is_begun

    def prune(self, cutoff):
        self.nodes = [node for node in self.nodes if node.bound < cutoff]

    def divide(self, budget):
        node, self.steps = self.nodes.pop(), self.steps + 1
        box, coef = node.box.astype(np.float64), node.coef.astype(np.float64)
        coef[0] = node.intercept
        child = Child(node.bound, box, coef, node.multiplier, InverseScale(*node.worth), node.known)
        yield Found([child], by_relaxation=False)


@pytest.mark.parametrize("is_begun", [False, True])
def test_a_kind_of_its_own_proves_the_same(is_begun, monkeypatch):
    """All nodes are put into such a set once; what it does not hand over is not proven."""
    problem = make_problem(n=300, d=8, max_size=3)
    expected = branch_and_bound(problem).certificate
    made, choose = [], Ways.choose

    def chosen(self, others, n_nodes, *arguments):
        opened, seconds = choose(self, others, n_nodes, *arguments)
        if not made and n_nodes and len(self._nodes):
            made.append(OneByOne(self._nodes, is_begun=is_begun))
            self._nodes.replace([])
            opened = [*opened, made[0]]
        return opened, seconds

    monkeypatch.setattr(Ways, "choose", chosen)
    found = branch_and_bound(problem).certificate
    assert found.status == expected.status
    assert found.objective == expected.objective
    assert made
    assert made[0].steps > 0


def test_sets_that_were_begun_come_first_and_then_those_of_the_least_bound():
    class Fixed(OneByOne):
        def __init__(self, bound, *, is_begun=False):
            super().__init__([], is_begun=is_begun)
            self.fixed = bound

        bound = property(lambda self: self.fixed)

    search = object.__new__(Search)
    low, high, begun = Fixed(0.1), Fixed(0.5), Fixed(0.9, is_begun=True)
    search._nodes = Fixed(0.3)
    for others, expected in (
        ([low, high], low), ([high], search._nodes), ([high, low, begun], begun),
        ([], search._nodes),
    ):  # fmt: skip
        search._others = others
        assert search._next_set() is expected
    # Of equal bounds nodes come last.
    search._others = [same := Fixed(0.3)]
    assert search._next_set() is same
