"""The best step of every item, counts of all cut-offs of a variable, the best points of pairs."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.instances import TWO_THREADS, Case
from riskslim import CoefficientSet, RiskScoreProblem, TrainingData
from riskslim.data import nested_thresholds as chains_module
from riskslim.data.nested_thresholds import ThresholdCounter
from riskslim.engines.branch_and_bound.support_enumeration import SupportEnumeration
from riskslim.heuristics.supports import SupportSearch
from riskslim.loss.form import tables_by_score
from riskslim.rows.bit_planes import pack_items

DEFAULT_CASES = [Case("binary", 10**5, 30), Case("binary", 10**6, 30)]
FULL_CASES = [Case("binary", n, 30) for n in (10**5, 10**6, 10**7)]

REACH = 5


def small_problem(instance):
    """Points from -5 to 5, at most five items: what the reference has time for."""
    data = instance.loss.data
    coefficients = CoefficientSet(
        data.feature_names, -REACH, REACH, intercept_lower=-10, intercept_upper=10
    )
    return RiskScoreProblem(data, coefficients, max_size=5)


def plain_steps(X, y, scores):
    """Least loss of each item over all points and shifts, from joint histograms of NumPy."""
    low, width = int(scores.min()), int(scores.max() - scores.min()) + 1
    room = 20 + 2 * REACH
    losses, _ = tables_by_score(low - room, low + width + room, 1.0)
    cell = (scores - low).astype(np.intp) + width * (y > 0)
    total = np.bincount(cell, minlength=2 * width).reshape(2, width)
    shifts = np.arange(-10 - REACH, 11 + REACH)
    tables = np.array([losses[:, room + s : room + s + width] for s in shifts])
    best = np.empty(X.shape[1])
    for j in range(X.shape[1]):
        on = np.bincount(cell, X[:, j], minlength=2 * width).reshape(2, width)
        with_item = np.einsum("sir,ir->s", tables, on)
        without = np.einsum("sir,ir->s", tables, total - on)
        best[j] = min(
            without[a] + with_item[a + v]
            for a in range(REACH, len(shifts) - REACH)
            for v in range(-REACH, REACH + 1)
            if v
        )
    return best / len(y)


@pytest.mark.parametrize("role", ["reference", "riskslim", TWO_THREADS])
def test_best_step_of_every_item(instance, measure, role):
    problem = small_problem(instance)
    problem.loss.n_threads = 2 if role == TWO_THREADS else 1
    data = problem.loss.data
    search = SupportSearch.of(problem)
    support = search._polished((0, 3, 5), (0, 0, 0, 0), pairs=True)
    vector = search._vector(support.items, support.points)
    X = np.column_stack([data.column(j) for j in range(data.n_features)])
    scores = problem.loss.scores(vector)
    centre = scores - support.points[0]  # shifts from -10 to 10 are those of the intercept

    def call():
        if role == "reference":
            return plain_steps(X, data.labels, centre)
        return search._steps(support)[0]

    found = measure(
        call, family="heuristics", kernel="best step of every item", role=role,
        case=instance.case, slow=role == "reference",
    )  # fmt: skip
    expected = instance.expected("steps", lambda: plain_steps(X, data.labels, centre))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


CUT_OFFS, GROUPS = 60, 16


def plain_counts(ranks, group, y):
    """Rows of each cut-off, side and group: histograms, and their sums from the end."""
    width = CUT_OFFS + 1
    found = []
    for rank in ranks:
        cell = (rank * 2 + y) * GROUPS + group
        counts = np.bincount(cell, minlength=width * 2 * GROUPS).reshape(width, 2, GROUPS)
        found.append(counts[::-1].cumsum(axis=0)[-2::-1])
    return np.concatenate(found)


@pytest.mark.parametrize("role", ["reference", "riskslim", "bits", TWO_THREADS])
def test_counts_of_all_cut_offs(case, measure, monkeypatch, role):
    """Two variables of 60 cut-offs each."""
    rng = np.random.default_rng(0)
    values = rng.random((2, case.n))
    cuts = np.arange(1, CUT_OFFS + 1) / (CUT_OFFS + 1)
    X = np.empty((case.n, 2 * CUT_OFFS), np.int8, order="F")
    for j in range(2 * CUT_OFFS):
        X[:, j] = values[j // CUT_OFFS] >= cuts[j % CUT_OFFS]
    y = (rng.random(case.n) < 0.3).astype(np.intp)
    rows = TrainingData(X, np.where(y, 1, -1)).rows
    packed = pack_items(rows, np.ones(X.shape[1], np.bool_))
    counter = ThresholdCounter(packed)
    # Groups of rows, in the order of the rows and in that of the packed ones.
    group = rng.integers(0, GROUPS, case.n)
    place = np.full(64 * len(packed.valid), -1)
    for side in (0, 1):
        begin = 64 * packed.first_word[side]
        place[begin : begin + packed.n_rows[side]] = group[y == side]
    masks = np.array(
        [np.packbits(place == r, bitorder="little").view(np.uint64) for r in range(GROUPS)]
    )
    monkeypatch.setattr(chains_module, "WORTHWHILE", 10**9 if role == "bits" else 0)
    ranks = [X[:, :CUT_OFFS].sum(axis=1, dtype=np.intp), X[:, CUT_OFFS:].sum(axis=1, dtype=np.intp)]
    out = np.empty((len(packed.values), 2, GROUPS))

    def call():
        if role == "reference":
            return plain_counts(ranks, group, y) / case.n
        n_threads = 2 if role == TWO_THREADS else 1
        counter.count(masks, out, np.zeros(1, np.int64), n_threads)
        return out

    found = measure(
        call, family="heuristics", kernel="counts of all cut-offs", role=role, case=case
    )
    np.testing.assert_allclose(found, plain_counts(ranks, group, y) / case.n, rtol=1e-10)


def plain_best_points(X, y, penalty):
    """Least objective of every pair of items: all points and intercepts on its four cells."""
    values = np.array([v for v in range(-REACH, REACH + 1) if v])
    intercepts = np.arange(-10, 11)
    first, second, shift = (axis.ravel() for axis in np.meshgrid(values, values, intercepts))
    scores = np.array([shift, shift + second, shift + first, shift + first + second], float)
    losses = np.logaddexp(0.0, [scores, -scores])  # of the negative and of the positive class
    best = {}
    for i in range(X.shape[1]):
        for j in range(i + 1, X.shape[1]):
            cell = 4 * y + 2 * X[:, i] + X[:, j]
            weight = np.bincount(cell, minlength=8).reshape(2, 4) / len(y)
            best[i, j] = float(np.einsum("lc,lcp->p", weight, losses).min()) + 2 * penalty
    return best


@pytest.mark.parametrize("role", ["reference", "riskslim"])
def test_best_points_of_every_pair(instance, measure, role):
    data = instance.loss.data
    coefficients = CoefficientSet(
        data.feature_names, -REACH, REACH, intercept_lower=-10, intercept_upper=10
    )
    problem = RiskScoreProblem(data, coefficients, max_size=2)
    tables = SupportEnumeration(problem)
    tables.accepts = problem.is_feasible
    completion = tables.completion(np.array([problem.lower, problem.upper], float), 1.0, 1.0)
    X = np.column_stack([data.column(j) for j in range(data.n_features)]).astype(np.intp)
    y, penalty = (data.labels > 0).astype(np.intp), float(problem.l0_penalty[0])

    def call():
        if role == "reference":
            return plain_best_points(X, y, penalty)
        return completion.scan(completion.whole(), np.inf, np.zeros(1, np.int64))

    found = measure(
        call, family="tables", kernel="best points of every pair", role=role, case=instance.case,
        slow=role == "reference",
    )  # fmt: skip
    if role == "riskslim":
        assert not found.supports
        pairs = [vector for vector in found.vectors if np.count_nonzero(vector[1:]) == 2]
        found = {tuple(np.flatnonzero(one[1:]).tolist()): problem.objective(one) for one in pairs}
    expected = instance.expected("pairs", lambda: plain_best_points(X, y, penalty))
    assert found.keys() == expected.keys()
    for pair, objective in expected.items():
        assert found[pair] == pytest.approx(objective, rel=1e-9)
