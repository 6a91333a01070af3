"""Alternatives of small random problems, and what each of them predicts by itself."""

from __future__ import annotations

import dataclasses

import numpy as np

from riskslim import CoefficientSet, RiskScore, RiskScoreProblem, TrainingData, alternatives


@dataclasses.dataclass(frozen=True, eq=False)
class Example:
    data: TrainingData
    problem: RiskScoreProblem
    found: object
    columns: dict
    y: np.ndarray
    weight: np.ndarray | None

    def scores(self):
        """Each alternative as a risk score of its own, built from its vector alone."""
        pool = self.found.pool
        return [
            RiskScore.from_coefficients(coef, self.data, scale=pool.scale(rank))
            for rank, coef in enumerate(pool.coefficients)
        ]

    def risks(self, X=None):
        """Risks of rows by each alternative, one score after the other, shape (m, n)."""
        rows = self.columns if X is None else X
        return np.array([score.predict_proba(rows)[:, 1] for score in self.scores()])


def example(seed=0, *, n=80, d=6, weights=None, scale=1, within=0.08, max_size=3, l2_penalty=0.0):
    """Items of two variables or three, each with three cut-offs; rows with and without weights."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < rng.uniform(0.2, 0.7, d)).astype(int)
    y = (rng.random(n) < 1 / (1 + np.exp(0.4 - X @ rng.normal(0, 1, d)))).astype(int)
    y[:4] = [0, 1, 0, 1]
    weight = None
    if weights == "integer":
        weight = rng.integers(0, 4, n).astype(float)
    elif weights == "real":
        weight = rng.random(n) * (rng.random(n) < 0.9)
    if weight is not None:
        weight[:4] = 1.0
    columns = {f"v{j // 3} >= {j % 3 + 1}": X[:, j] for j in range(d)}
    data = TrainingData(columns, y, weight)
    problem = RiskScoreProblem(
        data, CoefficientSet(data.feature_names, -4, 4), max_size=max_size, scale=scale,
        l2_penalty=l2_penalty,
    )  # fmt: skip
    found = alternatives(problem, within=within)
    return Example(data, problem, found, columns, y, weight)
