"""Shares at a free threshold: what is counted, what is refused, and how it is said."""

from __future__ import annotations

import numpy as np
import pytest

from at_threshold import DRAW_SHARED
from partitions import elsewhere
from rated import problem_of
from riskslim import (
    CoefficientSet,
    LatticeCPASettings,
    RiskScoreProblem,
    RiskSLIMClassifier,
    TrainingData,
    branch_and_bound,
    lattice_cpa,
    operating_point_at_least,
)
from riskslim.engines.fingerprint import fingerprint

X = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [0, 1]])
Y = [0, 0, 1, 1, 1, 0]


@pytest.mark.parametrize("kind", DRAW_SHARED)
def test_vectors_are_judged_as_by_trying_every_threshold(kind):
    n_met = 0
    for seed in range(12):
        small = DRAW_SHARED[kind](seed)
        problem = small.build()
        (meaning,) = [one for _, one in small.others if one.__qualname__.startswith("meaning")]
        vectors = small.enumerated[0][:: 61 * 3]  # one of each slopes is enough
        expected = meaning(vectors)
        check = problem.rates[-1]
        for vector, is_met in zip(vectors, expected, strict=True):
            assert (check.violation(vector) is None) == is_met, (seed, vector)
            assert check.is_possible(vector, vector, small.max_size) or not is_met
            if small.is_integer:
                assert check.is_possible(vector, vector, small.max_size) == is_met, (seed, vector)
        n_met += expected.sum()
    assert n_met > 20


@pytest.mark.parametrize("kind", DRAW_SHARED)
def test_no_box_with_a_feasible_vector_is_left(kind):
    n_left = 0
    for seed in range(15):
        small = DRAW_SHARED[kind](seed)
        check = small.build().rates[-1]
        vectors = small.enumerated[0]
        (meaning,) = [one for _, one in small.others if one.__qualname__.startswith("meaning")]
        met = meaning(vectors)
        rng = np.random.default_rng(seed)
        for _ in range(40):
            ends = np.sort(vectors[rng.integers(len(vectors), size=2)], axis=0)
            inside = ((vectors >= ends[0]) & (vectors <= ends[1])).all(axis=1)
            if not check.is_possible(ends[0], ends[1], small.max_size):
                assert not met[inside].any(), (seed, ends)
                n_left += 1
    assert n_left > 5


def test_neither_the_intercept_nor_the_scale_matters():
    problem = problem_of(X, Y, operating_point_at_least(1.0, 1.0), scale=(0.5, 20))
    assert not problem.is_constrained_per_scale
    for intercept in (-6, 0, 6):
        assert problem.is_feasible([intercept, 1, 0])
    assert not problem.is_feasible([0, 0, 1])


def test_all_constraints_hold_at_one_threshold():
    """Each alone is met, at thresholds that differ."""
    x = np.array([[0], [1], [2], [3]])
    y = [0, 1, 0, 1]
    sensitive, specific = operating_point_at_least(1.0), operating_point_at_least(specificity=1.0)
    for constraints in ([sensitive], [specific]):
        assert problem_of(x, y, *constraints).is_feasible([0, 1])
    both = problem_of(x, y, sensitive, specific)
    assert not both.is_feasible([0, 1])
    assert len(both.violations([0, 1])) == 2
    assert "sensitivity 100%, specificity 50%" in both.violations([0, 1])[0]


def test_class_weights_do_not_move_shares():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (60, 3))
    y = x.sum(axis=1) + rng.normal(0, 1, 60) > 1.5
    asked = [operating_point_at_least(0.7, 0.4)]
    plain, balanced = (
        RiskSLIMClassifier(
            max_size=2, max_coef=3, constraints=asked, class_weight=weights, scale=1.0
        ).fit(x, y)
        for weights in (None, "balanced")
    )
    for one in (plain, balanced):
        points = one.risk_score_.operating_points(x, y)
        wanted = (points.sensitivity >= 0.7) & (points.specificity >= 0.4)
        assert wanted.any()


def test_rows_in_parts_are_counted_alike():
    problem = DRAW_SHARED["items, no groups"](3).build()
    parts = elsewhere(problem, 3)
    one, other = (each.rates[-1] for each in (problem, parts))
    for a, b in zip(one.shares, other.shares, strict=True):
        assert a.most_missed == pytest.approx(b.most_missed)
        assert dict(zip(map(tuple, a.records), a.weights, strict=True)) == pytest.approx(
            dict(zip(map(tuple, b.records), b.weights, strict=True))
        )
    assert branch_and_bound(parts).certificate.objective == pytest.approx(
        branch_and_bound(problem).certificate.objective
    )


def test_groups_by_mask_and_by_feature_are_the_same():
    data = TrainingData(X, Y, feature_names=["male", "old"])
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    by_name, by_value, by_mask = (
        RiskScoreProblem(
            data, coefficients, constraints=[operating_point_at_least(0.9, rows=rows)]
        ).rates[0]
        for rows in ("male", {"male": 1}, X[:, 0] == 1)
    )
    for other in (by_value, by_mask):
        assert (by_name.shares[0].records == other.shares[0].records).all()
        assert (by_name.shares[0].weights == other.shares[0].weights).all()


def test_problems_that_ask_for_other_shares_are_other_problems():
    marks = {
        fingerprint(problem_of(X, Y, operating_point_at_least(share, 0.5)), {})
        for share in (0.8, 0.9, 0.9)
    }
    assert len(marks) == 2


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, TypeError, "needs a sensitivity, a specificity, or both"),
        ({"sensitivity": 0}, ValueError, "sensitivity must be above 0 and at most 1"),
        ({"specificity": 95}, ValueError, "specificity must be above 0 and at most 1"),
        ({"sensitivity": 0.9, "rows": [1, 0]}, TypeError, "one True or False per row"),
        ({"sensitivity": 0.9, "rows": {}}, ValueError, "names no feature"),
        ({"sensitivity": 0.9, "rows": {1: 0}}, TypeError, "must map features to numbers"),
        ({"sensitivity": 0.9, "name": 3}, TypeError, "name must be a str"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        operating_point_at_least(**arguments)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("x9", "names a feature that does not exist: 'x9'"),
        ([True, False], "chooses among 2 rows, the data have 6"),
        ({"x1": 5}, "about positive rows, and there are none with positive weight"),
    ],
)
def test_rows_that_do_not_fit_the_data_are_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        problem_of(X, Y, operating_point_at_least(0.9, rows=rows))


def test_constraints_are_said_and_compared():
    one = operating_point_at_least(0.9, 0.4, rows=[True, False, True], name="some")
    assert repr(one) == (
        "operating_point_at_least(sensitivity=0.9, specificity=0.4, rows=<2 of 3 rows>, "
        "name='some')"
    )
    assert one.describe() == (
        "sensitivity at least 0.9 and specificity at least 0.4 at some threshold of the score, "
        "among 2 of 3 rows"
    )
    assert one == operating_point_at_least(0.9, 0.4, rows=[True, False, True], name="some")
    assert one != operating_point_at_least(0.9, 0.4, rows=[True, True, True], name="some")
    assert (
        len({one, operating_point_at_least(0.9, 0.4, rows=[True, False, True], name="some")}) == 1
    )
    assert repr(operating_point_at_least(0.9, rows={"a": 1})) == (
        "operating_point_at_least(sensitivity=0.9, rows='a')"
    )
    assert "rows={'a': 0}" in repr(operating_point_at_least(0.9, rows={"a": 0}))


def test_lattice_cpa_names_the_engine_that_can():
    pytest.importorskip("cplex")
    problem = problem_of(X, Y, operating_point_at_least(0.9, 0.4))
    with pytest.raises(ValueError, match="lattice_cpa cannot state that, branch_and_bound can"):
        lattice_cpa(problem, settings=LatticeCPASettings())
