"""Families of items, what additive models of them bound, and pieces divided by them.

The contract of engines (tests/engines/test_contract.py) compares what they find with enumeration.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from riskslim import BranchAndBoundSettings, branch_and_bound
from riskslim.engines.branch_and_bound import additive, elimination
from riskslim.engines.branch_and_bound.additive import AdditiveModel, Families
from riskslim.engines.branch_and_bound.node_rows import NodeRows
from small_problems import plain, variables


def never():
    return False


def node_rows(X, rng):
    n, d = X.shape
    weight = rng.uniform(0.5, 1.5, n)
    is_positive = rng.random(n) < 0.4
    return NodeRows(
        np.asfortranarray(X.astype(np.int8)), np.zeros((n, 1), order="F"), np.arange(d),
        np.where(is_positive, weight, 0.0) / weight.sum(),
        np.where(is_positive, 0.0, weight) / weight.sum(), np.ones(d, np.bool_),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_patterns_are_those_of_the_rows(seed):
    rng = np.random.default_rng(seed)
    X = variables(rng, 300, rng.integers(1, 7, 4))
    rows = node_rows(X, rng)
    found = Families.of(rows, np.ones(X.shape[1], np.bool_), 2**30, never)
    assert found is not None
    assert sorted(np.concatenate([family.members for family in found.families])) == list(
        range(X.shape[1])
    )
    for code, family in zip(found.codes, found.families, strict=True):
        assert (family.patterns[code] == X[:, family.members]).all()
        assert len(family.share) <= len(family.members) + 1
        assert math.isclose(family.share.sum(), 1.0)
        effects = rng.normal(size=len(family.share))
        own = family.inverse @ effects
        np.testing.assert_allclose(own[0] + family.patterns @ own[1:], effects, atol=1e-9)


def test_the_items_of_a_variable_are_a_family():
    rng = np.random.default_rng(1)
    X = variables(rng, 5000, [9, 5, 1, 12])
    found = Families.of(node_rows(X, rng), np.ones(27, np.bool_), 2**30, never)
    assert found is not None
    assert [family.members.tolist() for family in found.families] == [
        list(range(9)), list(range(9, 14)), [14], list(range(15, 27)),
    ]  # fmt: skip


def test_what_has_no_families():
    rng = np.random.default_rng(2)
    X = variables(rng, 200, [4, 4, 4])
    rows, everything = node_rows(X, rng), [np.ones((2, 13), np.int8)]
    # No room for three lines of codes.
    assert Families.of(rows, np.ones(12, np.bool_), 2 * 200 * 2, never) is None
    assert (
        AdditiveModel.of(rows, everything, 3, 2**30, never) is None
    )  # as many as items in a score
    assert AdditiveModel.of(rows, everything, 2, 2**30, never) is not None
    of_constraints = dataclasses.replace(rows, negative=-rows.negative)
    assert AdditiveModel.of(of_constraints, everything, 2, 2**30, never) is None
    X[0, 5] = 3
    assert AdditiveModel.of(node_rows(X, rng), everything, 2, 2**30, never) is None
    real = dataclasses.replace(rows, slot=np.r_[-1, np.arange(11)])
    assert AdditiveModel.of(real, everything, 2, 2**30, never) is None
    assert AdditiveModel.of(rows, everything, 2, 2**30, lambda: True) is None  # work is to end
    independent = node_rows((rng.random((200, 12)) < 0.5).astype(float), rng)
    assert AdditiveModel.of(independent, everything, 2, 2**30, never) is None  # each is its own


@pytest.fixture
def counts(monkeypatch):
    """Count fits and what they leave; families are asked of small problems, too."""
    counts = {"fits": 0, "early": 0, "over": 0, "alone": 0}
    fit, divide = AdditiveModel.fit, elimination.Elimination.divide_piece

    def counted(self, *arguments):
        found = fit(self, *arguments)
        counts["fits"] += 1
        counts["early"] += found.is_early
        counts["over"] += found.bound == math.inf
        return found

    def divided(self, piece, *arguments):
        found = divide(self, piece, *arguments)
        counts["alone"] += piece.families is not None and any(
            part.families is None for part in found.pieces
        )
        return found

    monkeypatch.setattr(AdditiveModel, "fit", counted)
    monkeypatch.setattr(elimination.Elimination, "divide_piece", divided)
    monkeypatch.setattr(elimination, "LEAST_USED", 1)
    monkeypatch.setattr(additive, "FEATURES_PER_FAMILY", 1.0)
    monkeypatch.setattr(elimination, "RELAXATIONS", 0.0)
    monkeypatch.setattr(elimination, "FAMILIES_SECONDS", 0.0)
    monkeypatch.setattr(elimination, "PROMISING", 0.0)
    return counts


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_change_nothing_but_the_time(counts, n_threads):
    found = []
    for threads in (1, n_threads):
        solution = branch_and_bound(
            raw_items().build(), n_threads=threads,
            settings=BranchAndBoundSettings(elimination="always"),
        )  # fmt: skip
        assert solution.certificate.is_optimal
        certificate = solution.certificate
        found.append((certificate.objective, certificate.lower_bound, solution.statistics.nodes))
    assert found[0] == found[1]
    assert counts["fits"] > 30, counts


def raw_items():
    rng = np.random.default_rng(5)
    X = variables(rng, 600, [6, 5, 6, 5, 4])
    y = np.where(rng.random(600) < 1 / (1 + np.exp(-(X[:, ::6] @ [2, -1, 1, -2, 1]))), 1, -1)
    return dataclasses.replace(
        plain(rng, X.shape[1]), X=X, y=y, l0_penalty=1e-4, max_size=3, intercept=(None, None)
    )  # fmt: skip


def test_it_finds_what_other_ways_find(counts):
    objectives = {
        branch_and_bound(
            raw_items().build(), settings=BranchAndBoundSettings(elimination=elimination)
        ).certificate.objective
        for elimination in ("always", "never")
    }
    assert len(objectives) == 1
    assert counts["fits"] > 30, counts


def test_families_that_bound_too_low_are_left_to_items(counts, monkeypatch):
    monkeypatch.setattr(elimination, "PROMISING", 2.0)
    settings = BranchAndBoundSettings(elimination="always")
    certificate = branch_and_bound(raw_items().build(), settings=settings).certificate
    assert counts["fits"] == 3, counts  # of five families, of four, and of three
    assert counts["alone"] == 1, counts
    monkeypatch.setattr(elimination, "PROMISING", 0.0)
    other = branch_and_bound(raw_items().build(), settings=settings).certificate
    assert counts["fits"] > 30, counts
    assert certificate.objective == other.objective


def test_few_supports_are_left_to_items(counts, monkeypatch):
    monkeypatch.setattr(elimination, "FAMILIES_SECONDS", 1e3)
    settings = BranchAndBoundSettings(elimination="always")
    assert branch_and_bound(raw_items().build(), settings=settings).certificate.is_optimal
    assert counts["fits"] == 0, counts
