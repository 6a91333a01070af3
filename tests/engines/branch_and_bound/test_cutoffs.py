"""Search over cut-offs and points together: what is particular to it."""

from __future__ import annotations

import numpy as np
import pytest

from checked_solutions import (
    EQUAL_NATIVE,
)
from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    RiskScoreProblem,
    Status,
    TrainingData,
    branch_and_bound,
)
from riskslim.engines.branch_and_bound import cutoff_search as cutoffs
from riskslim.engines.branch_and_bound.cutoff_search import SortedRows, chains_of, kinds
from riskslim.engines.branch_and_bound.enumeration_items import EnumerationItems
from riskslim.engines.settings import TunedSettings
from small_problems import Case


def raw_problem(seed, n=300, max_size=3, **options):
    """Every cut-off of three measurements."""
    rng = np.random.default_rng(seed)
    raw = np.column_stack((rng.normal(size=n), rng.normal(size=n).round(1), rng.integers(0, 9, n)))
    y = np.where(rng.random(n) < 1 / (1 + np.exp(1 - 2 * (raw[:, 0] > 0.3) - raw[:, 1])), 1, -1)
    columns, names = [], []
    for k in range(3):
        for cut in np.unique(raw[:, k])[1:]:
            columns.append(raw[:, k] >= cut)
            names.append(f"x{k} >= {cut:g}")
    data = TrainingData(np.column_stack(columns).astype(float), y, feature_names=names)
    coefficients = CoefficientSet(names, -5, 5)
    return RiskScoreProblem(
        data, coefficients, max_size=max_size, l0_penalty=1e-6,
        **options,
    )  # fmt: skip


def test_every_cut_off_is_compared():
    """All pairs of several hundred cut-offs, against tables, which look at each."""
    problem = raw_problem(3, max_size=2)
    ways = [
        BranchAndBoundSettings(cutoffs="always"),
        BranchAndBoundSettings(cutoffs="never", tables="always"),
    ]
    found = [branch_and_bound(problem, settings=settings) for settings in ways]
    assert all(one.certificate.status is Status.OPTIMAL for one in found)
    assert found[0].certificate.objective == pytest.approx(
        found[1].certificate.objective, abs=EQUAL_NATIVE
    )
    statistics = found[0].statistics
    assert statistics.cutoff_left <= statistics.cutoff_supports <= statistics.cutoff_nodes
    assert statistics.cutoff_nodes < found[1].statistics.table_supports / 5
    assert found[1].statistics.cutoff_nodes == 0


def test_it_is_chosen_where_items_are_nested_and_many():
    chosen = branch_and_bound(raw_problem(4, max_size=4))
    assert chosen.certificate.status is Status.OPTIMAL
    assert chosen.statistics.cutoff_nodes > 0


def test_threads_change_nothing_but_the_time():
    settings = TunedSettings(cutoffs="always", batch_size=4)
    one, three = (branch_and_bound(raw_problem(5), n_threads=n, settings=settings) for n in (1, 3))
    assert one.certificate == three.certificate
    np.testing.assert_array_equal(one.coef, three.coef)
    for name in ("nodes", "cutoff_nodes", "cutoff_supports", "cutoff_left"):
        assert getattr(one.statistics, name) == getattr(three.statistics, name)
    np.testing.assert_array_equal(one.trace["lower_bound"], three.trace["lower_bound"])


@pytest.mark.slow
def test_little_memory_leads_to_the_same_score():
    problem = raw_problem(6, n=80)
    much = branch_and_bound(problem, settings=BranchAndBoundSettings(cutoffs="always"))
    little = BranchAndBoundSettings(cutoffs="always", memory_limit=1)
    assert branch_and_bound(problem, settings=little).certificate.objective == pytest.approx(
        much.certificate.objective, abs=EQUAL_NATIVE
    )


@pytest.mark.slow
def test_rows_are_sorted_only_for_a_search_that_begins(monkeypatch):
    prepared, sorted_ = [], []
    prepare, sort = cutoffs.CutoffSearch.of_roots, SortedRows.of

    def of_roots(*arguments):
        prepared.append(prepare(*arguments))
        return prepared[-1]

    def of(*arguments):
        sorted_.append(arguments)
        return sort(*arguments)

    monkeypatch.setattr(cutoffs.CutoffSearch, "of_roots", of_roots)
    monkeypatch.setattr(SortedRows, "of", of)
    problem = raw_problem(3, max_size=2)
    begun = branch_and_bound(problem, settings=BranchAndBoundSettings(cutoffs="always"))
    assert begun.statistics.cutoff_nodes > 0
    assert len(sorted_) == len(prepared) == 1
    monkeypatch.setattr(cutoffs.CutoffSearch, "seconds", 1e9)
    left = branch_and_bound(problem, settings=BranchAndBoundSettings(tables="never"))
    assert left.statistics.cutoff_nodes == 0
    assert prepared[1:]
    assert prepared[-1]  # it was possible, and too long
    assert len(sorted_) == 1
    assert left.certificate.objective == begun.certificate.objective


def test_chains_are_nested_and_hold_every_item():
    rng = np.random.default_rng(8)
    small = Case("any", "cut-offs", int(rng.integers(100))).small
    problem = small.build()
    features = np.flatnonzero(np.ptp(small.X, axis=0) > 0)
    packed = EnumerationItems.of(problem.loss, features)
    chains = chains_of(packed, kinds(problem, packed.features))
    rows = SortedRows.of(packed, chains)
    assert sorted(chains.members.tolist()) == list(range(len(features)))
    for c, rank in enumerate(rows.rank):
        chain = chains.planes_of(c)
        columns = small.X[:, features[chain]]
        assert np.all(np.diff(columns, axis=1) <= 0)
        assert rank.min() >= 0
        assert rank.max() == len(chain)


def test_items_of_other_values_are_left_to_relaxations():
    rng = np.random.default_rng(9)
    X = np.where(rng.random((80, 4)) < 0.4, 2.0, -1.0)
    y = np.where(rng.random(80) < 0.3 + 0.1 * X[:, 1], 1, -1)
    data = TrainingData(X, y, feature_names=list("abcd"))
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    problem = RiskScoreProblem(data, coefficients, max_size=2)
    solution = branch_and_bound(problem, settings=BranchAndBoundSettings(cutoffs="always"))
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.statistics.cutoff_nodes == 0


def test_settings_are_checked():
    with pytest.raises(ValueError, match="cutoffs"):
        BranchAndBoundSettings(cutoffs="sometimes")
