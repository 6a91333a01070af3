"""Problems that tests of several parts solve."""

from __future__ import annotations

import csv

import numpy as np

from riskslim import CoefficientSet, RiskScoreProblem, TrainingData, read

# Of the paper's data sets, with at most five features.
OPTIMUM = {
    "mammo": 0.46855923131671,
    "breastcancer": 0.11336464701599,
    "mushroom": 0.06869287661159,
    "adult": 0.38334844698822,
    "spambase": 0.34795259432522,
}


def make_problem(
    n=200, d=8, seed=0, *, levels=2, max_size=3, min_size=0, l0_penalty=1e-6, **bounds
):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, size=(n, d))
    X[0], X[1] = 0, 1  # no constant columns
    truth = rng.integers(-2, 3, size=d)
    y = rng.random(n) < 1 / (1 + np.exp(-(X @ truth - np.median(X @ truth))))
    y[:2] = [False, True]
    data = TrainingData(X, y)
    # Features that a mapping leaves out keep the default bounds, -5 and 5.
    coefficients = CoefficientSet(data.feature_names, **{"lower": -3, "upper": 3, **bounds})
    return RiskScoreProblem(
        data,
        coefficients,
        max_size=max_size,
        min_size=min_size,
        l0_penalty=l0_penalty,
    )


def paper_problem(folder, name, max_size=5, scale=1.0):
    data = read(folder / f"{name}_data.csv", first_column(folder, name))
    coefficients = CoefficientSet(
        data.feature_names, -5, 5, intercept_lower=-100, intercept_upper=100
    )
    return RiskScoreProblem(data, coefficients, max_size=max_size, l0_penalty=1e-6, scale=scale)


def first_column(folder, name):
    with (folder / f"{name}_data.csv").open(newline="") as file:
        return next(csv.reader(file))[0]
