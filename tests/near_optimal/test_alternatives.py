"""Alternatives by items and prices of items, against enumeration."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from riskslim import (
    Alternatives,
    CoefficientSet,
    RiskScore,
    RiskScoreProblem,
    TrainingData,
    alternatives,
)
from riskslim.exceptions import InfeasibleProblemError
from riskslim.near_optimal.prices import ItemPrice
from sets_of_items import accuracy, best_of_sets, faults, random_sets_problem, used


def seeds(quick: int, slow: int) -> list:
    late = (pytest.param(seed, marks=pytest.mark.slow) for seed in range(quick, quick + slow))
    return [*range(quick), *late]


def expected_price(best: dict, feature: int, *, is_used: bool) -> float:
    """Least objective of all scores without a feature, or with it."""
    return min((value for key, value in best.items() if key[feature] != is_used), default=math.inf)


def price_faults(best: dict, found: Alternatives, eps: float, *, is_proven: bool) -> list[str]:
    """Everything that prices of items claim and brute force denies."""
    names, wrong = found.solution.feature_names, []
    for one in found.prices:
        least = expected_price(best, names.index(one.feature), is_used=one.is_used)
        if one.lower_bound > least + eps:
            wrong.append(f"{one.feature}: bound {one.lower_bound}, best {least}")
        if one.objective < least - eps:
            wrong.append(f"{one.feature}: objective {one.objective}, best {least}")
        if is_proven and not one.is_proven:
            wrong.append(f"{one.feature}: not proven")
        if one.is_proven and math.isfinite(least) and abs(one.objective - least) > eps:
            wrong.append(f"{one.feature}: {one.objective} is proven, best {least}")
        if (
            one.coefficients is not None
            and used(one.coefficients)[names.index(one.feature)] == one.is_used
        ):
            wrong.append(f"{one.feature}: a score that is not what was asked for")
    return wrong


@pytest.mark.parametrize("seed", seeds(25, 250))
def test_prices(seed):
    rng = np.random.default_rng(20_000 + seed)
    small = random_sets_problem(rng)
    best = best_of_sets(small)
    if not best:
        return
    within = float(rng.choice([0.0, 0.01, 0.1]))
    found = alternatives(small.build(), within, prices=str(rng.choice(["used", "all"])))
    assert faults(small, found.solution, best, within=within) == []
    eps = accuracy(small, min(best.values()))
    assert price_faults(best, found, eps, is_proven=True) == []
    of_items = {one.feature: one for one in found.prices}
    for one in found.variable_prices:  # here each feature is a variable of its own
        assert one.objective == of_items[one.feature].objective
        assert one.lower_bound == of_items[one.feature].lower_bound


@pytest.mark.parametrize("seed", seeds(8, 60))
def test_prices_after_a_stop_hold(seed):
    rng = np.random.default_rng(30_000 + seed)
    small = random_sets_problem(rng)
    best = best_of_sets(small)
    if not best:
        return
    left = int(rng.integers(1, 40))

    def should_stop() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    found = alternatives(small.build(), 0.1, prices="all", should_stop=should_stop)
    assert faults(small, found.solution, best, within=0.1) == []
    eps = accuracy(small, min(best.values()))
    assert price_faults(best, found, eps, is_proven=False) == []


@pytest.fixture(scope="module")
def data() -> TrainingData:
    rng = np.random.default_rng(3)
    age, glucose, bmi = rng.normal(50, 12, 500), rng.normal(120, 25, 500), rng.normal(28, 5, 500)
    columns = {
        **{f"age >= {cut}": age >= cut for cut in (40, 45, 50, 60)},
        **{f"glucose >= {cut}": glucose >= cut for cut in (100, 120, 140)},
        **{f"bmi >= {cut}": bmi >= cut for cut in (25, 30)},
        "smoker": rng.random(500) < 0.3,
    }
    odds = 0.06 * (age - 50) + 0.03 * (glucose - 130) + columns["smoker"] * 0.5
    y = rng.random(500) < 1 / (1 + np.exp(-odds))
    return TrainingData({name: one.astype(int) for name, one in columns.items()}, y.astype(int))


@pytest.fixture(scope="module")
def problem(data) -> RiskScoreProblem:
    return RiskScoreProblem(data, CoefficientSet(data.feature_names, -5, 5), max_size=3)


@pytest.fixture(scope="module")
def found(problem) -> Alternatives:
    return alternatives(problem, 0.02, prices="all")


def test_sets_are_named_by_their_items(found):
    assert len(found) > 3
    assert len({found.items(rank) for rank in range(len(found))}) == len(found)
    assert found.objective(0) == found.solution.certificate.objective
    assert found.items(0) == tuple(found.solution.points)
    assert all(0 <= found.share(rank) <= 0.02 + 1e-9 for rank in range(len(found)))


def test_variables_without_any_of_their_items(found, problem):
    names = list(problem.coefficients.feature_names)
    for one in found.variable_prices:
        own = [name for name in names if name.split(" ")[0] == one.feature]
        if one.is_used:
            other = problem.restated(points=dict.fromkeys(own, (0, 0)))
            best = alternatives(other, 0.0).objective(0)
        else:
            best = min(price.objective for price in found.prices if price.feature in own)
        assert one.objective == pytest.approx(best)
        assert one.is_proven
    assert {one.feature for one in found.variable_prices} == {"age", "glucose", "bmi", "smoker"}


def test_lines_put_cutoffs_of_the_same_variables_together(found):
    lines = found.lines()
    assert sorted(rank for line in lines for rank in line.ranks) == list(range(len(found)))
    assert len(lines) < len(found)
    assert [line.objective for line in lines] == sorted(line.objective for line in lines)
    for line in lines:
        for rank in line.ranks:
            assert tuple(sorted(name.split(" ")[0] for name in found.items(rank))) == line.names
    assert [line.names for line in found.lines("items")] == [
        found.items(rank) for rank in range(len(found))
    ]
    with pytest.raises(ValueError, match="by must be 'variables' or 'items'"):
        found.lines("cut-offs")


def test_tables_and_words(found):
    assert found.table(1, by="items").splitlines()[-1] == f"... and {len(found) - 1} more"
    text = str(found)
    assert f"{len(found)} sets of items have a score" in text
    assert "The list is complete" in text
    used_price = next(one for one in found.prices if one.is_used)
    assert used_price.explain() in text
    assert used_price.explain().startswith(f"Without '{used_price.feature}' the best score loses ")


def test_each_alternative_is_a_score_with_a_certificate(found, data, problem):
    last = len(found) - 1
    score = found.score(data, last, problem=problem)
    assert set(score.points) == set(found.items(last))
    certificate = score.certificate
    assert certificate.faults() == ()
    assert certificate.objective == found.objective(last)
    assert certificate.lower_bound == found.solution.certificate.lower_bound
    assert "of the best score" in certificate.message
    coef = found.pool.coefficients[last]
    assert certificate.loss == pytest.approx(problem.loss.value(coef), abs=1e-12)
    assert RiskScore.from_json(score.to_json()).certificate == certificate
    assert found.score(data).certificate == found.solution.certificate
    with pytest.raises(IndexError):
        found.score(data, len(found))


def test_certificates_have_the_scale_and_the_ridge_penalty_of_their_score(data):
    problem = RiskScoreProblem(
        data, CoefficientSet(data.feature_names, -5, 5), max_size=2, scale="free",
        l2_penalty=2 / 500,
    )  # fmt: skip
    found = alternatives(problem, 0.02)
    for rank in range(len(found)):
        certificate = found.chosen(rank).certificate
        assert certificate.faults() == ()
        assert certificate.scale == found.pool.scale(rank)
        coef = found.pool.coefficients[rank]
        at_scale = problem.at_scale(certificate.scale)
        assert certificate.objective == pytest.approx(at_scale.objective(coef), abs=1e-12)
        assert certificate.loss == pytest.approx(at_scale.loss.value(coef), abs=1e-12)


def test_equally_good_scores_have_bounds_that_are_not_above_their_objectives():
    """Sums of the same losses in another order differ in their last digits."""
    feature = np.array([2, 2, 1, 2, 2, 2, 0, 2, 2])
    weights = [
        0.6231960610868051, 0.8804354075280851, 0.47681344033237427, 0.093011054285144,
        0.6978604428854955, 0.6488569501806419, 0.44137401143221267, 0.6925512800475218,
        0.8678602221572731,
    ]  # fmt: skip
    data = TrainingData(
        {"a": feature, "b": 2 - feature}, [1, 1, 0, 1, 0, 1, 0, 0, 0], sample_weight=weights
    )
    problem = RiskScoreProblem(data, CoefficientSet(data.feature_names, -2, 2), max_size=1)
    found = alternatives(problem, 0.0)
    assert len(found) == 2
    for rank in range(2):
        assert found.chosen(rank).certificate.faults() == ()
        score = found.score(data, rank)
        assert RiskScore.from_json(score.to_json()).certificate == score.certificate


def test_required_items_have_no_price_that_can_be_paid(data):
    coefficients = CoefficientSet(data.feature_names, [1] + [-5] * 9, 5)
    problem = RiskScoreProblem(data, coefficients, max_size=2)
    price = alternatives(problem, 0.0, prices="used").prices[0]
    assert (price.feature, price.objective, price.lower_bound) == ("age >= 40", math.inf, math.inf)
    assert price.explain() == "Without 'age >= 40' no score meets the requirements."


def test_the_problem_is_left_as_it_is(data, problem):
    before = problem.lower.copy(), problem.upper.copy()
    alternatives(problem, 0.0, prices="used")
    assert (problem.lower == before[0]).all()
    assert (problem.upper == before[1]).all()


def test_the_best_sets_alone(problem, found):
    best = alternatives(problem, 0.02, n_sets=2)
    assert [best.items(rank) for rank in range(2)] == [found.items(rank) for rank in range(2)]
    assert len(best) == 2
    assert best.pool.bound == pytest.approx(found.objective(1))


def test_prices_in_words():
    price = ItemPrice("age", False, 0.41, 0.40, 0.4, None, False)
    assert price.explain() == "With 'age' the best score loses at least 0.00% and at most 2.50%."
    unknown = dataclasses.replace(price, objective=math.inf, lower_bound=0.404)
    assert unknown.explain() == ("With 'age' the best score loses at least 1.00%; none was found.")
    assert math.isinf(unknown.price)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"within": -0.1}, "within must be at least 0"),
        ({"prices": "some"}, "prices must be None, 'used' or 'all'"),
        ({"time_limit": 0}, "time_limit"),
    ],
)
def test_wrong_arguments(problem, options, message):
    with pytest.raises(ValueError, match=message):
        alternatives(problem, **options)


def test_nothing_is_feasible(data):
    problem = RiskScoreProblem(
        data, CoefficientSet(data.feature_names, 1, 5), max_size=2, min_size=1
    )
    with pytest.raises(InfeasibleProblemError):
        alternatives(problem)
