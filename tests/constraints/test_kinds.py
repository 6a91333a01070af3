"""Every kind of constraint, alone and with others, against exhaustive enumeration.

What a constraint means is written out once more for each kind, on coefficient vectors; the
package's own rows are not asked.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import math

import numpy as np
import pytest

from enumeration import SmallProblem, loss, random_problem
from riskslim import (
    LinearConstraint,
    at_least,
    at_most,
    at_most_variables,
    branch_and_bound,
    either_or,
    exactly,
    fixed_points,
    if_then,
    lattice_cpa,
    minimum_points,
    model_size,
    monotone,
    not_both,
    points_in,
    risk_at_least,
    risk_at_most,
    variable,
)

NAMES = ["age", "age >= 1", "age < 2", "sex = f", "sex = m", "bmi"]
VARIABLES = {"age": [0, 1, 2], "sex": [3, 4], "bmi": [5]}
SLACK = 1e-9


@dataclasses.dataclass
class Named(SmallProblem):
    """A small problem whose features have variables."""

    @property
    def names(self):
        return NAMES[: self.d]


@dataclasses.dataclass
class Drawn:
    """A constraint and, in plain words of NumPy, which vectors (k, d + 1) meet it."""

    constraint: object
    meets: object


def columns(small, names):
    return [1 + small.names.index(name) for name in names]


def some(rng, small, least=1):
    return rng.permutation(small.names)[: rng.integers(least, small.d + 1)].tolist()


def used(vectors, index):
    return (vectors[:, index] != 0).sum(axis=1)


def any_used(vectors, index):
    return (vectors[:, index] != 0).any(axis=1)


def draw_counts(rng, small):
    names = some(rng, small)
    n, index = int(rng.integers(0, len(names) + 1)), columns(small, names)
    kind = rng.choice(["most", "least", "exactly"])
    if kind == "most":
        return Drawn(at_most(n, names), lambda v: used(v, index) <= n)
    if kind == "least":
        return Drawn(at_least(n, names), lambda v: used(v, index) >= n)
    return Drawn(exactly(n, names), lambda v: used(v, index) == n)


def draw_selected(rng, small):
    name = str(rng.choice([v for v, members in VARIABLES.items() if members[0] < small.d]))
    index = [1 + j for j in VARIABLES[name] if j < small.d]
    n = int(rng.integers(0, 3))
    if rng.random() < 0.5:
        return Drawn(at_most(n, variable(name)), lambda v: used(v, index) <= n)
    return Drawn(at_least(n, [variable(name)]), lambda v: used(v, index) >= n)


def draw_not_both(rng, small):
    names = rng.permutation(small.names).tolist()
    cut = int(rng.integers(1, small.d))
    a, b = names[:cut], names[cut : small.d - int(rng.integers(0, small.d - cut))]
    first, second = columns(small, a), columns(small, b)
    given = (a[0], b) if len(a) == 1 else (a, b)
    return Drawn(not_both(*given), lambda v: ~(any_used(v, first) & any_used(v, second)))


def draw_if_then(rng, small):
    names = rng.permutation(small.names).tolist()
    cut = int(rng.integers(1, small.d))
    a, b = names[:cut], names[cut:]
    first, second = columns(small, a), columns(small, b)
    return Drawn(if_then(a, b), lambda v: ~any_used(v, first) | any_used(v, second))


def draw_if_then_variable(rng, small):
    if small.d < 4:
        return draw_if_then(rng, small)
    then = [1 + j for j in VARIABLES["sex"] if j < small.d]
    return Drawn(
        if_then(variable("age"), variable("sex")),
        lambda v: ~any_used(v, [1, 2, 3]) | any_used(v, then),
    )


def draw_variables(rng, small):
    m = int(rng.integers(0, 3))
    groups = [[1 + j for j in members if j < small.d] for members in VARIABLES.values()]
    groups = [group for group in groups if group]
    style = rng.choice(["all", "mapping", "lists", "variables"])
    if style == "mapping":
        a, b = small.names[: small.d // 2], small.names[small.d // 2 :]
        constraint = at_most_variables(m, {"a": a, "b": b})
        groups = [columns(small, a), columns(small, b)]
    elif style == "lists":
        constraint = at_most_variables(m, [[small.names[j - 1] for j in group] for group in groups])
    elif style == "variables":
        present = [name for name, members in VARIABLES.items() if members[0] < small.d]
        constraint = at_most_variables(m, [variable(name) for name in present])
    else:
        constraint = at_most_variables(m)
    return Drawn(constraint, lambda v: sum(any_used(v, group).astype(int) for group in groups) <= m)


def draw_row(rng, small):
    """A row with all three kinds of terms, now and then on the intercept."""
    d = small.d
    points, own, with_group = (rng.integers(-2, 3, n).astype(float) for n in (d, d, 2))
    style = rng.choice(["integer", "decimal", "real"])
    factor = {"integer": 1.0, "decimal": 0.1, "real": math.pi}[style]
    own[rng.random(d) < 0.5] = 0
    points[rng.random(d) < 0.5] = 0
    intercept = float(rng.choice([0, 0, 1, -1, 2]))
    groups = [some(rng, small, 2), some(rng, small, 2)]
    if set(groups[0]) == set(groups[1]):
        with_group[1] = 0
    if not (points.any() or own.any() or with_group.any() or intercept):
        own[0] = 1.0
    values = {name: factor * value for name, value in zip(small.names, points, strict=True)}
    if intercept:
        values["(intercept)"] = factor * intercept
    low, high = sorted(rng.integers(-6, 7, 2))
    bounds = [(low, high), (-math.inf, high), (low, math.inf)][rng.integers(3)]
    constraint = LinearConstraint(
        points=values,
        used={name: factor * value for name, value in zip(small.names, own, strict=True)},
        any_used={
            tuple(group): factor * value
            for group, value in zip(groups, with_group, strict=True)
            if value
        },
        lower=factor * bounds[0],
        upper=factor * bounds[1],
    )
    indices = [columns(small, group) for group in groups]

    def meets(v):
        total = v[:, 1:] @ points + intercept * v[:, 0] + (v[:, 1:] != 0) @ own
        total = total + sum(
            value * any_used(v, index) for value, index in zip(with_group, indices, strict=True)
        )
        return (bounds[0] <= total) & (total <= bounds[1])

    return Drawn(constraint, meets)


def draw_points(rng, small):
    names = some(rng, small)[:2]
    index = columns(small, names)
    kind = rng.choice(["in", "fixed", "minimum"])
    if kind == "in":
        values = np.unique(rng.integers(-3, 4, rng.integers(1, 5)))
        return Drawn(points_in(names, values), lambda v: np.isin(v[:, index], values).all(axis=1))
    n = int(rng.integers(1, 4))
    if kind == "fixed":
        n = int(rng.integers(-2, 3))
        return Drawn(fixed_points(names[0], n), lambda v: v[:, index[0]] == n)
    return Drawn(
        minimum_points(names, n),
        lambda v: ((v[:, index] == 0) | (abs(v[:, index]) >= n)).all(axis=1),
    )


def draw_monotone(rng, small):
    sign = str(rng.choice(["+", "-"]))
    s = 1 if sign == "+" else -1
    if rng.random() < 0.5:
        direction = np.array([1, 1, -1])[: min(small.d, 3)]
        n = len(direction)
        return Drawn(
            monotone(variable("age"), sign),
            lambda v: (s * direction * v[:, 1 : 1 + n] >= 0).all(axis=1),
        )
    names = some(rng, small)
    index = columns(small, names)
    return Drawn(monotone(names, sign), lambda v: (s * v[:, index] >= 0).all(axis=1))


def draw_size(rng, small):
    low, high = sorted(rng.integers(0, small.d + 1, 2).tolist())
    if rng.random() < 0.3 and low:
        return Drawn(model_size(low), lambda v: (v[:, 1:] != 0).sum(axis=1) >= low)
    return Drawn(
        model_size(low, high),
        lambda v: (low <= (v[:, 1:] != 0).sum(axis=1)) & ((v[:, 1:] != 0).sum(axis=1) <= high),
    )


def draw_risk(rng, small):
    """A bound on risks, most of them of records that are among the data."""
    p = float(rng.choice([0.5, 0.2, 0.9, 0.05, 0.999]))
    lower = bool(rng.random() < 0.5)
    bound = risk_at_least if lower else risk_at_most
    row = small.X[rng.integers(len(small.X))]
    chosen = sorted(rng.choice(small.d, rng.integers(1, min(3, small.d) + 1), replace=False))
    if rng.random() < 0.3:
        profile = {small.names[j]: float(row[j]) for j in chosen}
        records = np.zeros((1, small.d))
        records[0, chosen] = row[chosen]
        constraint = bound(p, profile=profile)
    else:
        where, met = {}, np.ones(len(small.X), dtype=bool)
        for j in chosen:
            operator = str(rng.choice(["=", "<=", ">", ">="]))
            value = float(row[j])
            if operator == ">":
                value -= 0.5
            where[small.names[j]] = value if operator == "=" else (operator, value)
            column = small.X[:, j]
            met &= {"=": column == value, "<=": column <= value, ">": column > value,
                    ">=": column >= value}[operator]  # fmt: skip
        constraint, records = bound(p, where), small.X[met]

    def meets(v):
        scores = (v[:, :1] + v[:, 1:] @ records.T) / small.scale
        if lower:
            return (scores >= math.log(p / (1 - p)) - 1e-8).all(axis=1)
        return (scores <= math.log(p / (1 - p)) + 1e-8).all(axis=1)

    return Drawn(constraint, meets)


KINDS = {
    "counts": draw_counts,
    "selected": draw_selected,
    "not_both": draw_not_both,
    "if_then": draw_if_then,
    "if_then_variable": draw_if_then_variable,
    "variables": draw_variables,
    "row": draw_row,
    "points": draw_points,
    "monotone": draw_monotone,
    "size": draw_size,
    "risk": draw_risk,
    "either": lambda rng, small: draw_either(rng, small),
}


def draw_either(rng, small):
    a, b = rng.permutation(small.names)[:2].tolist()
    index = columns(small, [a, b])
    return Drawn(either_or(a, b), lambda v: used(v, index) <= 1)


def draw_problem(rng, max_slopes=150):
    base = random_problem(rng, max_slopes)
    while base.d > 5:
        base = random_problem(rng, max_slopes)
    small = Named(**{f.name: getattr(base, f.name) for f in dataclasses.fields(base)})
    if rng.random() < 0.3:
        small.scale = float(rng.choice([0.5, 2.0, 3.7]))
    return small


def feasible_vectors(small, drawn):
    """All vectors that meet the requirements, with intercepts far beyond what is of use."""
    low, high = small.box()
    grid = np.array(
        list(itertools.product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))),
        dtype=np.int64,
    ).reshape(-1, small.d)
    size = np.count_nonzero(grid, axis=1)
    most = small.d if small.max_size is None else small.max_size
    grid = grid[(size >= small.min_size) & (size <= most)]
    reach = np.abs(grid @ small.X.T).max(initial=0.0)
    far = math.ceil(reach + 8 * small.scale) + 2
    first, last = small.intercept
    first = (-far if last is None else min(-far, last)) if first is None else first
    last = (far if first is None else max(far, first)) if last is None else last
    every = np.array([np.insert(grid, 0, b, axis=1) for b in range(first, last + 1)])
    vectors = every.reshape(-1, small.d + 1)
    for one in drawn:
        vectors = vectors[one.meets(vectors)]
    return vectors


def objectives(small, vectors):
    weights = np.ones(len(small.y)) if small.weights is None else small.weights
    rows, inverse = np.unique(np.column_stack((small.y, small.X)), axis=0, return_inverse=True)
    share = np.bincount(inverse.ravel(), weights) / weights.sum()
    found = []
    for start in range(0, len(vectors), 4096):
        part = vectors[start : start + 4096]
        margins = rows[:, 0] * (part[:, 1:] @ rows[:, 1:].T + part[:, :1]) / small.scale
        found.append(np.logaddexp(0.0, -margins) @ share + (part[:, 1:] != 0) @ small.prices())
    return np.concatenate(found) if found else np.empty(0)


def build(small, drawn):
    small.constraints = tuple(one.constraint for one in drawn)
    return small.build()


def check_engines(small, drawn, engines, seed):
    """The optimum of an enumeration is found and proven; nothing feasible is overlooked."""
    problem = build(small, drawn)
    vectors = feasible_vectors(small, drawn)
    best = objectives(small, vectors).min(initial=np.inf)
    for name in engines:
        where = (seed, name)
        solution = SOLVE[name](problem)
        certificate = solution.certificate
        if not len(vectors):
            assert certificate.status.value == "infeasible", where
            words = (
                "contradict each other", "no points within their bounds meet", "min_size",
                "max_size",
            )  # fmt: skip
            assert any(one in certificate.message for one in words), (where, certificate.message)
            continue
        assert certificate.status.value == "optimal", (where, certificate.message)
        assert certificate.objective == pytest.approx(best, abs=2e-9), where
        assert certificate.lower_bound <= best + 1e-9, where
        coef = solution.coef[None, :]
        assert all(one.meets(coef)[0] for one in drawn), where
        assert (coef == vectors).all(axis=1).any(), where
        assert loss(small, solution.coef) == pytest.approx(certificate.loss, rel=1e-12), where
    return len(vectors) > 0


SOLVE = {
    "branch_and_bound": branch_and_bound,
    "cplex": lattice_cpa,
    "scip": lambda problem: lattice_cpa(problem, solver="scip"),
}
SLOW = pytest.mark.slow
HAS_SCIP = importlib.util.find_spec("pyscipopt") is not None


def engines_of(seed):
    """All of the first problems, and of each fourth one after."""
    others = ["cplex"] if seed < 2 or seed % 4 == 0 else []
    others += ["scip"] if HAS_SCIP and (seed < 2 or seed % 4 == 1) else []
    return ["branch_and_bound", *others]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_alone(kind):
    for seed in range(4):
        rng = np.random.default_rng([seed, *map(ord, kind)])
        small = draw_problem(rng)
        check_engines(small, [KINDS[kind](rng, small)], engines_of(seed), seed)


@pytest.mark.parametrize("first", [0, pytest.param(50, marks=SLOW)])
def test_three_kinds_together(first):
    feasible = []
    for seed in range(first, first + 24):
        rng = np.random.default_rng([seed, 77])
        small = draw_problem(rng)
        kinds = rng.choice(list(KINDS), 3)
        drawn = [KINDS[kind](rng, small) for kind in kinds]
        feasible.append(check_engines(small, drawn, engines_of(seed), seed))
    assert len(feasible) / 3 < sum(feasible) < 0.9 * len(feasible)


def test_feasibility_is_that_of_the_definitions():
    checked = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 78])
        small = draw_problem(rng)
        drawn = [KINDS[kind](rng, small) for kind in rng.choice(list(KINDS), 2)]
        problem = build(small, drawn)
        lower, upper = problem.lower, problem.upper
        for _ in range(40):
            vector = rng.integers(lower, upper, endpoint=True)
            vector[1:][rng.random(small.d) < 0.3] = 0
            met = all(one.meets(vector[None, :])[0] for one in drawn)
            broken = problem.constraint_rows.broken(vector)
            assert met == (not broken.size), (seed, vector)
            assert len(problem.constraint_rows.violations(vector)) == len(broken)
            checked += met
    assert checked > 200
