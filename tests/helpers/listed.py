"""Alternatives for tests of what shows them: found by the search, or made up in any number."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
import pandas as pd

from riskslim import (
    Alternatives,
    Certificate,
    CoefficientSet,
    ItemEncoder,
    RiskScore,
    RiskScoreProblem,
    Solution,
    SolutionPool,
    Status,
    TrainingData,
    alternatives,
    read,
)
from riskslim.near_optimal import Measures


class Listed(NamedTuple):
    """Alternatives with all that can be known of them, and what they were found on."""

    found: Alternatives
    data: TrainingData
    score: RiskScore
    X: pd.DataFrame
    y: pd.Series


def patients(n: int, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    """Rows with numbers, of which two say much the same, and a text."""
    rng = np.random.default_rng(seed)
    age, glucose = rng.integers(20, 90, n), rng.integers(70, 200, n)
    X = pd.DataFrame(
        {
            "age": age,
            "glucose": glucose,
            "HbA1c": (glucose / 25 + rng.normal(0, 1, n)).round(1),
            "sex": np.where(rng.random(n) < 0.5, "f", "m"),
        }
    )
    odds = -2.0 + 1.5 * (age >= 55) + 1.5 * (glucose >= 130)
    y = pd.Series((rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int), name="diabetes")
    return X, y


@functools.cache
def listed() -> Listed:
    """A list that a search has found, with prices, measures, agreement, costs and stability."""
    X, y = patients(300, 0)
    X_test, y_test = patients(150, 1)
    encoder = ItemEncoder(thresholds={"age": [40, 55, 70], "glucose": [110, 130], "HbA1c": [5, 6]})
    data = read(X, y, items=encoder)
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    problem = RiskScoreProblem(data, coefficients, max_size=3)
    found = alternatives(problem, within=0.06, prices="all")
    choice = found.compare(
        data, groups=X["sex"], X_test=X_test, y_test=y_test, groups_test=X_test["sex"],
        costs={"glucose": 2.0, "HbA1c": 30.0},
    )  # fmt: skip
    found = choice.found.with_stability(problem, 6)
    return Listed(found, data, found.score(data, encoder=data.encoder), X, y)


def made_up(names: list[str], variables: list[str], n: int, seed: int = 0) -> Alternatives:
    """A list of many sets of at most five items, that are near the best as a search would find."""
    rng = np.random.default_rng(seed)
    coef: list[np.ndarray] = []
    sets: set[tuple[int, ...]] = set()
    while len(coef) < n:
        size = int(rng.integers(1, min(5, len(names)) + 1))
        items = tuple(sorted(rng.choice(len(names), size, replace=False).tolist()))
        if items not in sets:
            sets.add(items)
            coef.append(np.zeros(len(names) + 1, np.int64))
            coef[-1][0] = -3
            coef[-1][[1 + j for j in items]] = rng.choice([-2, -1, 1, 2, 3, 4, 5], size)
    objectives = 0.5 * (1 + 0.01 * np.sort(rng.random(n)))
    objectives[0] = 0.5
    pool = SolutionPool(
        np.array(coef), objectives, tuple(names), complete=True, bound=0.505,
        lower_bounds=objectives - 1e-10, distinct="items",
    )  # fmt: skip
    certificate = Certificate(Status.OPTIMAL, 0.5, 0.5, len(sets), 0.5, 0.0, 0.0, "example", 100)
    solution = Solution(coef[0][1:], -3, certificate, tuple(names), pool=pool)
    zeros = np.zeros(n)
    measures = tuple(
        Measures(rows, 100, 0.5, 0.9, ("f", "m"), *rng.random((7, n)))
        for rows in ("training rows", "test rows")
    )
    return Alternatives(solution, 0.01, tuple(variables), zeros, zeros, measures=measures)
