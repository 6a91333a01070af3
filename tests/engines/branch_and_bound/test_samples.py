"""Samples of rows: what they lack of all rows is a line, whose slopes and height are known."""

from __future__ import annotations

import numpy as np
import pytest

from problems import make_problem
from riskslim import RiskScoreProblem, branch_and_bound
from riskslim.engines.branch_and_bound import passes
from riskslim.engines.settings import TunedSettings


def loss_and_gradient(rows, coef):
    x = np.column_stack([np.ones(rows.n_rows), rows.integer_columns[:, rows.slot]])
    scores = x @ coef
    loss = rows.positive @ np.logaddexp(0, -scores) + rows.negative @ np.logaddexp(0, scores)
    risk = 1 / (1 + np.exp(-scores))
    return loss, (rows.negative * risk - rows.positive * (1 - risk)) @ x


def test_a_sample_with_its_line_has_the_loss_and_gradient_of_all_rows(monkeypatch):
    linearised, found = passes.SampledNodes._linearised, []

    def noted(self, *arguments):
        known = yield from linearised(self, *arguments)
        found.extend((self.sample, one) for one in known or ())
        return known

    monkeypatch.setattr(passes.SampledNodes, "_linearised", noted)
    stated = make_problem(n=150, d=7, seed=1, levels=3)
    problem = RiskScoreProblem(stated.loss.data, stated.coefficients, max_size=3, l0_penalty=1e-6)
    settings = TunedSettings(sample_rows=20, tables="never", merge_rows=False)
    branch_and_bound(problem, settings=settings)
    assert len(found) > 5
    p = len(problem.lower)
    for sample, known in found:
        point, gradient, line = known[: 3 * p].reshape(3, p)
        loss, of_sample = loss_and_gradient(sample, point)
        wanted = gradient != 0
        assert wanted.sum() > 3
        np.testing.assert_allclose((of_sample + line)[wanted], gradient[wanted], atol=1e-13)
        assert loss + line @ point + known[-1] == pytest.approx(known[3 * p], rel=1e-12)
