"""Small problems with constraints on rates, and an oracle of plain NumPy that enumerates them."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import warnings

import numpy as np

from checked_solutions import EQUAL, EQUAL_NATIVE
from riskslim import (
    CoefficientSet,
    RiskScoreProblem,
    Status,
    TrainingData,
    at_most,
    false_negative_rate_at_most,
    false_positive_rate_at_most,
    monotone,
    rate_gap_at_most,
)
from riskslim.constraints.rate_checks import TIE_TOLERANCE
from riskslim.exceptions import ConstantFeatureWarning

KINDS = ("false_positive", "false_negative", "positive")
INTERCEPTS = 30


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
    price: float = 1e-6
    ridge: float = 0.0

    def build(self, **settings):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantFeatureWarning)
            data = TrainingData(self.X, self.y, self.weights)
        coefficients = CoefficientSet(data.feature_names, -self.most, self.most)
        constraints = [d.constraint() for d in self.demands] + [c for c, _ in self.others]
        return RiskScoreProblem(
            data,
            coefficients,
            max_size=self.max_size,
            constraints=constraints,
            l0_penalty=self.price,
            l2_penalty=self.ridge,
            **settings,
        )

    @functools.cached_property
    def enumerated(self):
        """Vectors, which of them are feasible, their objectives, and the least of the feasible."""
        vectors, met, objectives = self.enumerate()
        return vectors, met, objectives, objectives[met].min(initial=np.inf)

    @property
    def tie(self):
        """By how much a score may fall short of a threshold that it reaches."""
        return 0.0 if self.is_integer else TIE_TOLERANCE * max(1.0, np.abs(self.X).max())

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
        tie = self.tie
        met = np.ones(len(vectors), bool)
        for demand in self.demands:
            met &= demand.is_met(self.y, weights, scores, tie)
        for _, meaning in self.others:
            met &= meaning(vectors)
        losses = np.logaddexp(0, -self.y * scores) @ weights / weights.sum()
        penalties = self.price * (slopes != 0).sum(axis=1) + self.ridge * (slopes**2).sum(axis=1)
        return vectors, met, losses + penalties


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


def draw_items(seed):
    """The same with 0/1 items, one of more values at times, and prices that matter."""
    rng = np.random.default_rng([seed, 77])
    d, n = 3, int(rng.integers(25, 90))
    X = rng.integers(0, 2, (n, d)).astype(float)
    if rng.random() < 0.3:
        X[:, 0] = rng.integers(0, 4, n)
    y = np.where(X @ rng.normal(0, 1.2, d) + rng.normal(0, 1, n) > rng.normal(0.5, 0.7), 1, -1)
    groups = rng.integers(0, 2, n)
    y[:4], groups[:4] = [-1, 1, -1, 1], [0, 0, 1, 1]
    weights = (None, rng.integers(1, 4, n) * 1.0, rng.uniform(0.5, 2, n), np.where(y > 0, 3.0, 1.0))
    demands = [
        Demand(str(rng.choice(KINDS[:2])), float(rng.choice([0, 0.02, 0.1, 0.3])),
               float(rng.choice([0.5, 0.3, 0.2, 0.7])))
        for _ in range(int(rng.integers(1, 3)))
    ]  # fmt: skip
    if rng.random() < 0.15:
        demands.append(Demand("positive", 0.1, 0.3, groups))
    others = []
    if rng.random() < 0.2:
        others.append((monotone("x2", "+"), lambda v: v[:, 2] >= 0))
    most = int(rng.integers(1, d + 1))
    price = float(rng.choice([1e-6, 0.003, 0.02]))
    return Small(X, y, weights[seed % 4], 2, most, demands, others, is_integer=True, price=price)


DRAW = {
    "integers": draw,
    "reals": lambda seed: draw(seed, real=True),
    "items": draw_items,
}


def rate_faults(small, solution, equal=EQUAL_NATIVE):
    """Everything wrong with a solution that claims to be optimal."""
    vectors, _, _, best = small.enumerated
    if wrong := unfinished_rate_faults(small, solution, equal):
        return wrong
    certificate = solution.certificate
    if certificate.status is Status.INFEASIBLE:
        return []
    found = []
    if certificate.status is not Status.OPTIMAL:
        found.append(f"{certificate.status}: {certificate.message}")
    if not abs(certificate.objective - best) <= EQUAL:
        found.append(f"objective {certificate.objective!r}, optimum {best!r}")
    if not (vectors == solution.coef).all(axis=1).any():
        found.append(f"{solution.coef} is out of bounds")
    return found


def unfinished_rate_faults(small, solution, equal=EQUAL_NATIVE):
    """Everything wrong with a solution that need not be optimal; None is no score in time."""
    if solution is None:
        return []
    vectors, met, _, best = small.enumerated
    certificate, trace, found = solution.certificate, solution.trace, []
    if certificate.status is Status.INFEASIBLE:
        return [] if best == np.inf else [f"infeasible, optimum {best!r}"]
    if best == np.inf:
        return [f"{certificate!r}, and nothing is feasible"]
    bounds = [certificate.lower_bound, *trace["lower_bound"]]
    if min(bounds) < 0.0 or certificate.optimality_gap > 1.0:
        found.append(f"bounds from {min(bounds)!r}, gap {certificate.optimality_gap!r}")
    if not max(bounds) <= best + max(equal, certificate.bound_tolerance):
        found.append(f"bounds up to {max(bounds)!r}, optimum {best!r}")
    if not min([certificate.objective, *trace["upper_bound"]]) >= best - EQUAL:
        found.append(f"objective {certificate.objective!r}, optimum {best!r}")
    # The last record has the certificate's objective, whose rows are summed up once more.
    for column, sign, room in (("upper_bound", -1, 1e-15), ("lower_bound", 1, 0), ("nodes", 1, 0)):
        if not (sign * np.diff(trace[column]) >= -room).all():
            found.append(f"trace is not monotone in {column}: {trace[column]}")
    if not met[(vectors == solution.coef).all(axis=1)].all():
        found.append(f"{solution.coef} breaks a constraint")
    return found


def problem_of(X, y, *constraints, weights=None, **options):
    names = [f"x{j}" for j in range(1, np.shape(X)[1] + 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantFeatureWarning)
        data = TrainingData(np.array(X), y, weights, feature_names=names)
    bounds = {k: options.pop(k) for k in tuple(options) if k.startswith("intercept")}
    coefficients = CoefficientSet(names, -3, 3, **bounds)
    return RiskScoreProblem(data, coefficients, constraints=constraints, **options)


def many_records(n, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, d))
    total = X @ rng.choice([-1, 1], d) + rng.normal(0, 2, n)
    return problem_of(
        X, total > np.median(total), false_positive_rate_at_most(0.1, 0.5), max_size=3
    )
