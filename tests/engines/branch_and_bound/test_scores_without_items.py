"""Scores of an intercept alone: none of the ways to divide a search looks for them by its items."""

from __future__ import annotations

import numpy as np

from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    LogisticLoss,
    RiskScoreProblem,
    TrainingData,
    branch_and_bound,
)


def test_a_search_over_cutoffs_lists_them():
    """Where the search over cut-offs leaves out the empty support, this list lacks one of two.

    The incumbent is the other one; in most lists other supports lead to all of them.
    """
    rng = np.random.default_rng(1)
    value = rng.integers(0, 5, 60)
    X = np.column_stack([value >= cutoff for cutoff in range(1, 5)]).astype(int)
    data = TrainingData(X, (rng.random(60) < 0.5).astype(int))
    coefficients = CoefficientSet(data.feature_names, -1, 1)
    loss = LogisticLoss(data, coefficients)
    problem = RiskScoreProblem(data, coefficients, l0_penalty=0.1, max_size=2)
    settings = BranchAndBoundSettings(cutoffs="always")
    solution = branch_and_bound(problem, within=0.1, settings=settings)
    assert solution.statistics.cutoff_nodes > 0
    assert solution.pool.complete
    objectives = {b: loss.value(np.array([b, 0, 0, 0, 0])) for b in range(-5, 6)}
    ceiling = 1.1 * min(objectives.values())
    wanted = {(b, 0, 0, 0, 0) for b, value in objectives.items() if value <= ceiling}
    assert len(wanted) == 2
    assert wanted <= set(map(tuple, solution.pool.coefficients.tolist()))
