"""Roundings whose losses differ by less than the digits of slopes that bounds are made of."""

from __future__ import annotations

import numpy as np
import pytest

from riskslim import (
    CoefficientSet,
    LogisticLoss,
    RiskScoreProblem,
    TrainingData,
    sequential_rounding,
)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_better_one_is_found(n_threads):
    """Nearly all rows are far on the wrong side, where the loss is a line and bounds are tight.

    Both columns differ in four of the rows that are read last. By the slopes, each cut off after
    two digits, the better rounding seems the worse one until these are read.
    """
    n = 9 * 16384 + 77
    one, other, third = np.ones(n, int), np.ones(n, int), np.zeros(n, int)
    one[0] = other[0] = 0
    some = [70474, 95678, 120951, 134317]
    one[some], other[some], third[some] = (3, -2, -3, -1), (2, -1, 3, -2), (11, 13, 13, 13)
    data = TrainingData(np.column_stack((one, other, third)), np.arange(n) > 0)
    coefficients = CoefficientSet(
        data.feature_names, -5, 5, intercept_lower=-40, intercept_upper=40
    )
    loss = LogisticLoss(data, coefficients, compress=False)
    loss.n_threads = n_threads
    up = [loss.value(np.array([-30, *values, 3])) for values in ((1, 0.5), (0.5, 1))]
    assert 0 < up[1] - up[0] < 1e-9
    problem = RiskScoreProblem(
        data, coefficients, compress=False, max_size=2
    )  # the third one is there already
    found = sequential_rounding(problem, np.array([-30, 0.5, 0.5, 3]))
    assert found.coefficients.tolist() == [-30, 1, 0, 3]
