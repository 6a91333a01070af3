"""Constraints on error rates: against enumeration, ties, faults, sizes."""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import warnings

import numpy as np
import pytest

from riskslim import (
    CoefficientSet,
    LogisticLoss,
    RiskScoreProblem,
    Status,
    TrainingData,
    at_most,
    false_negative_rate_at_most,
    false_positive_rate_at_most,
    lattice_cpa,
    monotone,
    rate_gap_at_most,
)
from riskslim.exceptions import ConstantFeatureWarning
from riskslim.rate_checks import TIE_TOLERANCE

HAS_SCIP = importlib.util.find_spec("pyscipopt") is not None
SOLVERS = ["cplex", pytest.param("scip", marks=pytest.mark.skipif(not HAS_SCIP, reason="no SCIP"))]
KINDS = ("false_positive", "false_negative", "positive")
INTERCEPTS = 30


# ---- an oracle in plain NumPy --------------------------------------------------------------


@dataclasses.dataclass
class Demand:
    """What one constraint asks for, in the words of the oracle."""

    kind: str
    limit: float
    risk: float
    groups: np.ndarray | None = None

    def constraint(self):
        if self.groups is not None:
            return rate_gap_at_most(self.limit, self.kind, groups=self.groups, threshold=self.risk)
        make = {
            "false_positive": false_positive_rate_at_most,
            "false_negative": false_negative_rate_at_most,
        }[self.kind]
        return make(self.limit, self.risk)

    def is_met(self, y, weights, scores, tie):
        """scores (k, n) -> (k,)"""
        if tie:
            positive = scores >= np.log(self.risk / (1 - self.risk)) - tie
        else:
            positive = 1 / (1 + np.exp(-scores)) >= self.risk
        counted = {"false_positive": y < 0, "false_negative": y > 0}.get(self.kind, y != 0)
        predicted = ~positive if self.kind == "false_negative" else positive

        def rate(rows):
            w = weights * (counted & rows)
            return predicted @ w / w.sum()

        if self.groups is None:
            return rate(np.ones(len(y), bool)) <= self.limit + 1e-9
        values = [rate(self.groups == label) for label in np.unique(self.groups)]
        gaps = [abs(a - b) for a, b in itertools.combinations(values, 2)]
        return np.max(gaps, axis=0) <= self.limit + 1e-9


@dataclasses.dataclass
class Small:
    """A problem small enough to be enumerated."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None
    most: int
    max_size: int
    demands: list[Demand]
    others: list  # further constraints, with what they mean
    is_integer: bool

    def build(self, **settings):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantFeatureWarning)
            data = TrainingData(self.X, self.y, self.weights)
        coefficients = CoefficientSet(data.feature_names, -self.most, self.most)
        constraints = [d.constraint() for d in self.demands] + [c for c, _ in self.others]
        return RiskScoreProblem(
            LogisticLoss(data, coefficients),
            coefficients,
            max_size=self.max_size,
            constraints=constraints,
            **settings,
        )

    def enumerate(self):
        """Vectors that are feasible, and their objectives."""
        n, d = self.X.shape
        weights = np.ones(n) if self.weights is None else self.weights
        points = np.array(list(itertools.product(range(-self.most, self.most + 1), repeat=d)))
        points = points[(points != 0).sum(axis=1) <= self.max_size]
        slopes = np.repeat(points, 2 * INTERCEPTS + 1, axis=0)
        intercepts = np.tile(np.arange(-INTERCEPTS, INTERCEPTS + 1), len(points))
        vectors = np.column_stack((intercepts, slopes))
        scores = intercepts[:, None] + slopes @ self.X.T
        tie = 0.0 if self.is_integer else TIE_TOLERANCE * max(1.0, np.abs(self.X).max())
        met = np.ones(len(vectors), bool)
        for demand in self.demands:
            met &= demand.is_met(self.y, weights, scores, tie)
        for _, meaning in self.others:
            met &= meaning(vectors)
        losses = np.logaddexp(0, -self.y * scores) @ weights / weights.sum()
        return vectors, met, losses + 1e-6 * (slopes != 0).sum(axis=1)


def draw(seed, *, real=False):
    rng = np.random.default_rng([seed, 11])
    n, d = int(rng.integers(20, 70)), int(rng.integers(2, 4))
    X = rng.integers(0, 3, (n, d)).astype(float)
    if real:
        X[:, 0] = rng.choice([np.round(rng.uniform(0, 2, n), 1), rng.normal(0, 1, n)])
    y = np.where(X @ rng.choice([-1, 1], d) + rng.normal(0, 1.5, n) > 0.5, 1, -1)
    groups = rng.integers(0, int(rng.choice([2, 2, 3])), n)
    # Every group has records of both classes.
    y[:6], groups[:6] = [-1, 1] * 3, [0, 0, 1, 1, 2 % (groups.max() + 1), 2 % (groups.max() + 1)]
    weights = None
    if rng.random() < 0.6:
        weights = rng.choice([rng.integers(1, 4, n).astype(float), rng.uniform(0.5, 2, n)])
    demands = []
    for _ in range(int(rng.integers(1, 5))):
        risk = float(rng.choice([0.5, 0.5, 0.3, 0.7]))
        if rng.random() < 0.5:
            kind = str(rng.choice(KINDS))
            demands.append(Demand(kind, float(rng.choice([0, 0.03, 0.1])), risk, groups))
        else:
            kind = str(rng.choice(KINDS[:2]))
            demands.append(Demand(kind, float(rng.uniform(0, 0.3)), risk))
    others = []
    if rng.random() < 0.4:
        others.append((at_most(1, ["x1", "x2"]), lambda v: (v[:, 1:3] != 0).sum(axis=1) <= 1))
        others.append((monotone("x2", "+"), lambda v: v[:, 2] >= 0))
    return Small(X, y, weights, 2, int(rng.integers(1, d + 1)), demands, others, not real)


def test_the_feasible_vectors_are_those_of_the_oracle():
    n_feasible = n_infeasible = 0
    for seed in range(30):
        small = draw(seed, real=seed % 3 == 0)
        problem = small.build()
        vectors, met, _ = small.enumerate()
        chosen = np.random.default_rng(seed).choice(len(vectors), 200)
        for vector, is_met in zip(vectors[chosen], met[chosen], strict=True):
            broken = [v for v in problem.violations(vector) if "outside of" not in v]
            assert (not broken) == is_met, (seed, vector, broken)
        n_feasible += met[chosen].sum()
        n_infeasible += (~met[chosen]).sum()
    assert min(n_feasible, n_infeasible) > 500


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("real", [False, True])
def test_the_enumerated_optimum_is_found(solver, real):
    statuses = []
    for seed in range(40):
        small = draw(seed, real=real)
        vectors, met, objectives = small.enumerate()
        best = objectives[met].min(initial=np.inf)
        solution = lattice_cpa(small.build(), solver=solver, time_limit=60)
        statuses.append(solution.certificate.status)
        if best == np.inf:
            assert solution.certificate.status is Status.INFEASIBLE, seed
            continue
        assert solution.certificate.status is Status.OPTIMAL, (seed, solution.certificate.message)
        assert solution.certificate.objective == pytest.approx(best, rel=1e-9), seed
        place = (vectors == solution.coef).all(axis=1)
        assert met[place].all(), seed
        assert place.any(), seed
    assert statuses.count(Status.INFEASIBLE) >= 3
    assert statuses.count(Status.OPTIMAL) >= 15


@pytest.mark.parametrize("solver", SOLVERS)
def test_named_constraints_contradict_and_none_is_superfluous(solver):
    n = 0
    for seed in range(40):
        small = draw(seed)
        problem = small.build()
        if small.enumerate()[1].any():
            continue
        solution = lattice_cpa(problem, solver=solver)
        message = solution.certificate.message
        named = [i for i, c in enumerate(problem.constraints) if f"({c.label})" in message]
        size_named = "model size" in message
        demands = [i for i in named if i < len(small.demands)]
        for left_out in [None, *named]:
            kept = [i for i in named if i != left_out]
            part = dataclasses.replace(
                small,
                demands=[small.demands[i] for i in demands if i in kept],
                others=[
                    small.others[i - len(small.demands)] for i in kept if i >= len(small.demands)
                ],
                max_size=small.max_size if size_named else small.X.shape[1],
            )
            assert part.enumerate()[1].any() == (left_out is not None), (seed, message)
        n += 1
    assert n >= 3
