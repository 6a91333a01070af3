"""The best step of every item, and the search that it is made for."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.instances import TWO_THREADS, Case
from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem
from riskslim.heuristics.supports import SupportSearch
from riskslim.loss.form import tables_by_score

DEFAULT_CASES = [Case("binary", 10**5, 30), Case("binary", 10**6, 30)]
FULL_CASES = [Case("binary", n, 30) for n in (10**5, 10**6, 10**7)]

REACH = 5


def small_problem(instance):
    """Points from -5 to 5, at most five items: what the reference has time for."""
    data = instance.loss.data
    coefficients = CoefficientSet(
        data.feature_names, -REACH, REACH, intercept_lower=-10, intercept_upper=10
    )
    return RiskScoreProblem(LogisticLoss(data, coefficients), coefficients, max_size=5)


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
