"""The ridge penalty in the surrogate of LCPA: its rows, its box, wide features, faults, limits."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from checked_solutions import EQUAL, faults
from enumeration import SmallProblem, enumerate_optimum
from rated import DRAW, rate_faults
from riskslim import (
    CoefficientSet,
    LatticeCPASettings,
    RiskScoreProblem,
    Status,
    TrainingData,
    lattice_cpa,
)
from riskslim.engines.lattice_cpa.formulation import Formulation
from riskslim.engines.lattice_cpa.ridge import RidgeRows, shrunk_box
from riskslim.engines.lattice_cpa.start import best_possible_bounds
from riskslim.exceptions import ProblemSizeError
from small_problems import Case
from ways import LATTICE, LATTICE_RATES

BOXES = ((-5, 5), (0, 3), (-4, 0), (-1, 1), (0, 1), (2, 6), (-6, -1), (1, 1), (-2, -2), (0, 0),
         (-1, 7))  # fmt: skip
UNIT = 1000.0


def rows_of(box, price=2.5):
    """Rows of one feature: coefficient, indicator and penalty are the variables 0, 1 and 2."""
    low, high = (np.array([end]) for end in box)
    return RidgeRows(np.array([price]), low, high, *(np.array([i]) for i in (0, 1, 2)), UNIT)


def stated(row, coef, used):
    """The least penalty that a row allows at a point."""
    at = dict(zip(row.indices, row.values, strict=True))
    assert at[2] == 1.0
    return -at[0] * coef - at[1] * used


# --- rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("box", BOXES)
def test_rows_are_never_above_the_penalty_and_reach_it(box):
    rows = rows_of(box)
    low, high = box
    points = np.arange(low, high + 1)
    found = list(rows.first())
    for coef, used in itertools.product(np.linspace(low, high, 41), (0.01, 0.2, 0.5, 0.77, 1.0)):
        found += rows.violated([coef, used, -1.0], 0.0)
    penalty = 2.5 * points.astype(float) ** 2
    for row in found:
        values = np.array([stated(row, k, float(k != 0)) for k in points])
        assert (values <= penalty + 1e-12).all(), row
    for k in points.tolist():
        values = [float(k), float(k != 0), 2.5 * k**2 - 1e-6]
        assert rows.envelope(values) * UNIT == pytest.approx(2.5 * k**2, abs=1e-12)
        if k:
            (row,) = rows.violated(values, 1e-12)
            assert stated(row, k, 1.0) == pytest.approx(2.5 * k**2, abs=1e-12)
        assert rows.violated([*values[:2], 2.5 * k**2], 1e-12) == []


@pytest.mark.parametrize("box", [box for box in BOXES if box[0] <= 0 <= box[1]])
def test_rows_together_are_the_convex_envelope(box):
    """The least convex combination of no use and of all points, by linear programming."""
    from scipy.optimize import linprog

    rows, points = rows_of(box), np.arange(box[0], box[1] + 1.0)
    points = points[points != 0]
    rng = np.random.default_rng(3)
    for _ in range(20):
        used = float(rng.uniform(0.05, 1.0))
        coef = float(rng.uniform(used * box[0], used * box[1]))
        hull = linprog(
            2.5 * points**2, A_eq=[points, np.ones(len(points))], b_eq=[coef, used],
        ) if len(points) else None  # fmt: skip
        if hull is not None and hull.status == 0:
            found = rows.envelope([coef, used, 0.0]) * UNIT
            assert found == pytest.approx(hull.fun, rel=1e-9, abs=1e-9)


def test_violations_count_together():
    """What all variables lack is what matters to an objective."""
    one = np.array([1.0, 1.0, 1.0])
    rows = RidgeRows(
        one, np.full(3, -9), np.full(3, 9), np.arange(3), np.arange(3, 6), np.arange(6, 9), 1.0
    )
    values = [2.0, 3.0, 0.0, 1.0, 1.0, 0.0, 3.9, 8.8, 0.0]
    assert rows.stated(values) == pytest.approx(12.7)
    assert rows.envelope(values) == pytest.approx(13.0)
    assert rows.violated(values, 0.31) == []
    assert [row.indices for row in rows.violated(values, 0.29)] == [[7, 1, 4]]
    assert len(rows.violated(values, 0.1)) == 2


def test_without_a_ridge_the_surrogate_is_that_of_the_paper():
    problem = Case("any", "as drawn", 3).problem
    form = Formulation(problem, best_possible_bounds(problem))
    assert len(form.ridge) == 0
    assert form.value_range == (0, form.loss)
    m = len(form.columns) - 1
    assert [variable.name for variable in form.variables] == [
        *(f"lambda_{j}" for j in form.columns), "L", *(f"alpha_{j}" for j in form.columns[1:]),
        "V", "R",
    ]  # fmt: skip
    assert len(form.rows[0].indices) == m + 2


# --- boxes ----------------------------------------------------------------------------------------


def test_a_shrunk_box_holds_all_that_is_no_worse():
    rng = np.random.default_rng(5)
    for _ in range(200):
        d = int(rng.integers(1, 4))
        low = rng.integers(-6, 3, d + 1)
        high = low + rng.integers(0, 9, d + 1)
        price = np.where(rng.random(d) < 0.3, 0.0, rng.choice([0.01, 0.1, 1.0, 1 / 9, 1 / 3], d))
        most = float(rng.choice([0.0, 0.09, 0.25, 1.0, 4.0, rng.uniform(0, 5), np.inf]))
        inner_low, inner_high = shrunk_box(low, high, price, most)
        assert inner_low[0] == low[0]
        assert inner_high[0] == high[0]
        assert (low <= inner_low).all()
        assert (inner_low <= inner_high).all()
        assert (inner_high <= high).all()
        for j in range(1, d + 1):
            points = np.arange(low[j], high[j] + 1)
            kept = points[price[j - 1] * points.astype(float) ** 2 <= most]
            if len(kept):
                assert inner_low[j] <= kept.min()
                assert inner_high[j] >= kept.max()
            is_priced = price[j - 1] > 0 and len(kept) and low[j] <= 0 <= high[j]
            if is_priced and most < np.inf:
                assert (inner_low[j], inner_high[j]) == (kept.min(), kept.max())


def wide(alpha, scale, seed=0, **changes):
    """Two features of a thousand points, one at most of which is used."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 2, 60), rng.integers(0, 3, 60)]).astype(float)
    y = np.where(X[:, 0] + rng.normal(0, 0.8, 60) > 0.5, 1, -1)
    stated = {
        "weights": None, "lower": np.array([-1000, 0]), "upper": np.array([1000, 3]),
        "sign": [0, 0], "fixed": {}, "feature_penalty": np.full(2, np.nan), "l0_penalty": 1e-4,
        "min_size": 0, "max_size": 1, "intercept": (None, None), **changes,
    }  # fmt: skip
    return SmallProblem(X=X, y=y, scale=scale, l2_penalty=alpha, **stated)


@pytest.mark.parametrize("way", LATTICE)
@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 0.03])
def test_features_of_a_thousand_points(alpha, way):
    """Neither a row for each point nor numbers that are too large for a solver."""
    for seed, root in itertools.product(range(2), (True, False)):
        small = wide(alpha, 200.0, seed)
        best, problem = enumerate_optimum(small), small.build()
        solver = way.split()[-1].lower()
        solution = lattice_cpa(
            problem, solver=solver, settings=LatticeCPASettings(initialization=root)
        )
        assert not faults(small, best, problem, solution)
        if alpha < 0.01:
            assert abs(solution.coef[1]) > 100


@pytest.mark.parametrize("way", LATTICE)
@pytest.mark.parametrize("alpha", [0.5, 20.0])
def test_features_that_need_points_pay_what_they_must(alpha, way):
    small = wide(alpha, 1.0, lower=np.array([2, 0]), upper=np.array([5, 3]), max_size=2)
    best, problem = enumerate_optimum(small), small.build()
    solution = lattice_cpa(problem, solver=way.split()[-1].lower())
    assert solution.coef[1] == 2
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.certificate.objective == pytest.approx(best.objective, rel=1e-12)
    assert solution.certificate.lower_bound <= best.objective * (1 + 1e-9)


# --- faults and limits ----------------------------------------------------------------------------


def hard(alpha=0.004):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (300, 10))
    y = np.where(X @ rng.integers(-2, 3, 10) + rng.normal(0, 2, 300) > 0, 1, -1)
    data = TrainingData(X, y)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    return RiskScoreProblem(data, coefficients, max_size=4, l2_penalty=alpha)


@pytest.mark.parametrize("way", LATTICE)
def test_understated_penalties_are_refused(way, monkeypatch):
    """What a solver is told of a penalty must not become its bound."""
    problem, solver = hard(), way.split()[-1].lower()
    honest = lattice_cpa(problem, solver=solver).certificate
    original, proposed = Formulation.solution_vector, []

    def understated(self, coef, loss):
        indices, values, objective = original(self, coef, loss)
        missing = sum(values[i] for i in self.ridge.variables)
        for i in self.ridge.variables:
            values[i] = 0.0
        values[self.objective] -= missing
        proposed.append(missing)
        return indices, values, objective - missing

    monkeypatch.setattr(Formulation, "solution_vector", understated)
    monkeypatch.setattr(RidgeRows, "first", lambda self: [])
    settings = LatticeCPASettings(initialization=False, polishing=False)
    solution = lattice_cpa(problem, solver=solver, settings=settings)
    certificate = solution.certificate
    assert np.count_nonzero(proposed) > 1
    assert certificate.is_optimal  # not below it: the bound is not that of a candidate
    assert certificate.objective == pytest.approx(honest.objective, abs=EQUAL)
    assert certificate.lower_bound <= honest.objective + EQUAL


@pytest.mark.parametrize("way", LATTICE)
def test_a_penalty_that_a_solver_does_not_see_costs_the_bound(way, monkeypatch):
    problem, solver = hard(), way.split()[-1].lower()
    optimum = lattice_cpa(problem, solver=solver).certificate.objective
    monkeypatch.setattr(RidgeRows, "violated", lambda self, values, allowed: [])
    monkeypatch.setattr(RidgeRows, "first", lambda self: [])
    settings = LatticeCPASettings(initialization=False)
    certificate = lattice_cpa(problem, solver=solver, settings=settings, time_limit=10).certificate
    assert certificate.lower_bound <= optimum + EQUAL
    assert not certificate.is_optimal


@pytest.mark.skipif("LCPA with CPLEX" not in LATTICE, reason="no CPLEX")
def test_penalties_count_in_the_community_edition_limit(monkeypatch):
    """Three variables a feature: 330 features fit, 340 are refused before anything is searched."""
    from riskslim.engines.lattice_cpa.model import check_size, has_limited_size

    if not has_limited_size():
        pytest.skip("CPLEX has no limit of size")
    check_size(many(340, 0.0))
    check_size(many(332, 1e-3))
    check_size(many(340, {"x1": 1e-3}))
    with pytest.raises(ProblemSizeError, match=r"340 usable features.*1024 variables"):
        lattice_cpa(many(340, 1e-3))
    settings = LatticeCPASettings(native_root=False)
    solution = lattice_cpa(many(330, 1e-3), time_limit=4, settings=settings)
    assert solution.certificate.lower_bound > 0.0
    assert "too large" not in solution.certificate.message


def many(d, alpha):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, d))
    X[0], X[1] = 0, 1
    data = TrainingData(X, np.arange(60) % 2)
    coefficients = CoefficientSet(data.feature_names)
    return RiskScoreProblem(data, coefficients, max_size=2, l2_penalty=alpha)


@pytest.mark.skipif(not LATTICE_RATES, reason="neither CPLEX nor SCIP")
@pytest.mark.parametrize("kind", DRAW)
def test_constraints_on_rates(kind):
    statuses = Counter()
    ways = list(LATTICE_RATES)
    for seed in range(6):
        small = DRAW[kind](seed)
        small.ridge = float(10.0 ** np.random.default_rng(seed).uniform(-3, -1))
        problem, way = small.build(), ways[seed % len(ways)]
        solution = LATTICE_RATES[way](problem, np.random.default_rng(seed))
        assert not (wrong := rate_faults(small, solution, EQUAL)), (seed, way, wrong)
        statuses[solution.certificate.status] += 1
    assert statuses[Status.OPTIMAL] > 2, statuses
