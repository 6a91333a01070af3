"""The best rule at a required share, compared with trying all points and thresholds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from partitions import in_parts, on_disk
from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    RiskScoreProblem,
    Status,
    TrainingData,
    exactly,
    false_negative_rate_at_most,
)
from riskslim.engines.branch_and_bound import support_enumeration as tables
from riskslim.engines.operating_points import best_rule as driver
from riskslim.engines.operating_points import rule_search, shares, support_rules, ties
from riskslim.engines.operating_points.best_rule import best_rule
from riskslim.engines.operating_points.shares import shares_at
from riskslim.exceptions import RiskSLIMError
from riskslim.operating_point import RequiredShare
from rules import best_by_trying, drawn
from searches import StopWithin

N_QUICK, N_AT_A_TIME, N_SLOW = 80, 20, 200
SENSITIVITY = RequiredShare("sensitivity", 0.9)


def faults(solution, best, required, scales, *, is_stopped=False):
    """What a result says that trying everything contradicts."""
    certificate = solution.certificate
    if best is None:
        return [] if certificate.status is Status.INFEASIBLE else ["not infeasible"]
    rule = certificate.rule
    if rule is None:
        return ["no rule"]
    right, whole = rule.shares.right(required.other), rule.shares.total(required.other)
    # Scales of an interval are rounded.
    tolerance = 1e-9 + (3e-5 * best.objective if scales.is_interval else 0.0)
    is_true = {
        "faults of the certificate": not certificate.faults(),
        "better than the best": right <= best.right + 1e-8 * whole,
        "a bound below the best": rule.bound >= best.right - 1e-8 * whole,
        "not the best": is_stopped or (rule.is_best and right >= best.right - 1e-8 * whole),
        "status": certificate.is_optimal == rule.is_best,
        "a lower bound above the least objective": not rule.is_best
        or certificate.lower_bound <= best.objective + tolerance,
        "not the least objective": not rule.is_tie_proven
        or not rule.is_best
        or certificate.objective <= best.objective + tolerance,
        "a tie that is not proven": is_stopped or rule.is_tie_proven,
    }
    return [fault for fault, holds in is_true.items() if not holds]


def check(seed):
    problem, required, X, y, weights = drawn(seed)
    best = best_by_trying(problem, required, X, y, weights)
    found = best_rule(problem, required, time_limit=600)
    wrong = faults(found, best, required, problem.scales)
    if seed % 4 == 0 and best is not None:
        other = best_rule(problem, required, time_limit=600, n_threads=2)
        if other.points != found.points:
            wrong.append("threads change the result")
    return [f"{seed}: {fault}" for fault in wrong]


@pytest.mark.parametrize("first", range(0, N_QUICK, N_AT_A_TIME))
def test_rules_are_those_of_trying_everything(first):
    wrong = [fault for seed in range(first, first + N_AT_A_TIME) for fault in check(seed)]
    assert not wrong, wrong


@pytest.mark.slow
@pytest.mark.parametrize("first", range(N_QUICK, N_QUICK + N_SLOW, N_AT_A_TIME))
def test_more_rules_are_those_of_trying_everything(first):
    wrong = [fault for seed in range(first, first + N_AT_A_TIME) for fault in check(seed)]
    assert not wrong, wrong


@pytest.mark.parametrize("first", range(5000, 5060, 10))
def test_a_search_that_is_stopped_anywhere_has_valid_bounds(first, monkeypatch):
    """At any look of the kernels that scan supports, count cells and look at points."""
    wrong, ended = [], set()
    for seed in range(first, first + 10):
        problem, required, X, y, weights = drawn(seed)
        best = best_by_trying(problem, required, X, y, weights)
        rng = np.random.default_rng(seed)
        call, looks = 1 + int(rng.geometric(0.08)), int(rng.geometric(0.1))
        with monkeypatch.context() as patch:
            module = (tables, support_rules)[seed % 2]
            names = ("scan",) if module is tables else ("count", "best_points")
            patch.setattr(module, "kernels", StopWithin(module.kernels, call, looks, names))
            try:
                solution = best_rule(problem, required)
            except RiskSLIMError as error:
                if "Give more time" not in str(error):
                    raise
                continue
        ended.add(solution.certificate.status)
        found = faults(solution, best, required, problem.scales, is_stopped=True)
        wrong += [f"{seed}: {fault}" for fault in found]
    assert not wrong, wrong
    assert len(ended) > 1


@pytest.mark.parametrize("node_limit", [0, 1, 3])
def test_a_node_limit_leaves_a_valid_bound(node_limit):
    unproven = 0
    for seed in range(6000, 6012):
        problem, required, X, y, weights = drawn(seed)
        best = best_by_trying(problem, required, X, y, weights, with_objective=False)
        solution = best_rule(problem, required, node_limit=node_limit)
        if best is None:
            continue
        rule = solution.certificate.rule
        assert rule.bound >= best.right - 1e-8 * rule.shares.total(required.other)
        assert solution.certificate.is_optimal == rule.is_best
        unproven += not rule.is_best
    assert unproven > 0 or node_limit > 1


def table(seed=0, n=400, d=9, weights=False):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < rng.uniform(0.05, 0.6, d)).astype(float)
    y = rng.random(n) < 1 / (1 + np.exp(2.0 - X @ rng.normal(0.3, 1.2, d)))
    y[:2] = False, True
    return X, y, rng.uniform(0.2, 2.0, n) if weights else None


def problem_of(X, y, weights=None, *, most=2, **settings):
    data = TrainingData(X, y, weights)
    coefficients = CoefficientSet(data.feature_names, -most, most)
    return RiskScoreProblem(data, coefficients, **{"max_size": 3, **settings})


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["sensitivity", "specificity"])
def test_rows_in_blocks(weighted, name):
    X, y, weights = table(3, weights=weighted)
    required = RequiredShare(name, 0.85)
    data = TrainingData(X, y, weights)
    expected = best_rule(problem_of(X, y, weights), required).certificate.rule
    for rows in (in_parts(data.rows, 3), on_disk(data.rows, 60)):
        of_parts = TrainingData.from_rows(rows, feature_names=data.feature_names)
        problem = RiskScoreProblem(of_parts, CoefficientSet(data.feature_names, -2, 2), max_size=3)
        found = best_rule(problem, required, n_threads=2).certificate.rule
        assert found.shares.right(required.other) == pytest.approx(
            expected.shares.right(required.other)
        )
        assert found.is_best
        assert found.is_tie_proven


def test_the_order_of_tied_cells_and_empty_ones_changes_no_bound():
    """A sort by cross-multiplication loses its order where a cell is empty: none is made."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        n = int(rng.integers(1, 33))
        a, b = rng.integers(0, 6, (2, n)) * (rng.random((2, n)) < 0.6)
        capacity = float(rng.integers(0, a.sum() + 1))
        full = [(b[c] / a[c], a[c], b[c]) for c in range(n) if a[c]]
        left, wrong = a.sum() - capacity, 0.0  # the cheapest cells are called as the class itself
        for _, own, other in sorted(full):
            part = min(left / own, 1.0) if left > 0 else 0.0
            wrong += part * other
            left -= own
        found = [
            support_rules.kernels.least_wrong(a[order] * 1.0, b[order] * 1.0, capacity)
            for order in (rng.permutation(n) for _ in range(3))
        ]
        np.testing.assert_allclose(found, wrong, rtol=1e-9, atol=1e-9)
        assert max(found) <= wrong + 1e-12 * (1 + wrong)


def test_bounds_of_weights_that_are_rounded_down_are_never_too_high(monkeypatch):
    """Counts say less than weights do: no support is passed over that holds a better rule."""
    met = []
    original = rule_search.RuleSearch._scanned

    def scanned(self, tasks, cutoff):
        found = original(self, tasks, cutoff)
        for one in found:
            own = self.rules.all(one.features, math.inf, 100_000)
            if len(own.wrong):
                met.append((one.bound, float(own.wrong.min())))
        return found

    monkeypatch.setattr(rule_search.RuleSearch, "_scanned", scanned)
    for seed in range(4):
        X, y, weights = table(seed, n=60, d=5, weights=True)
        for name in ("sensitivity", "specificity"):
            best_rule(problem_of(X, y, weights, most=1), RequiredShare(name, 0.8))
    bounds, wrong = np.array(met).T
    assert len(met) > 50
    assert (bounds <= wrong + 1e-12).all()
    assert (bounds > 0.8 * wrong).any()


def test_a_required_share_is_met_by_the_true_weights():
    """Found weight of rounded weights can look like enough where it is not."""
    for seed in range(20):
        X, y, weights = table(seed, n=50, d=4, weights=True)
        rng = np.random.default_rng(seed)
        required = RequiredShare("sensitivity", float(rng.uniform(0.5, 1.0)))
        solution = best_rule(problem_of(X, y, weights, most=1), required)
        rule = solution.certificate.rule
        called = X @ solution.coefficients >= rule.threshold
        missed = math.fsum(weights[y & ~called])
        assert missed <= (1 - required.share + 2e-9) * math.fsum(weights[y])
        assert rule.shares.true_negatives == pytest.approx(math.fsum(weights[~y & ~called]))


def test_parts_are_never_more_than_their_wholes():
    """Weights added up without rows of next to no weight can be more, in the last digit."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(20, 60))
        X, y = rng.integers(0, 2, (n, 1)), np.arange(n) % 2
        X[:4] = [[0], [0], [1], [1]]
        weights = np.where(X[:, 0] == 1, rng.uniform(0.1, 2.0, n), 1e-20)
        data = TrainingData(X, y, weights)
        for coef in (1, -1):
            shares = shares_at(data, np.array([0, coef]), coef / 2)
            assert not shares.faults()
            right = (shares.true_positives, shares.true_negatives)[coef < 0]
            assert right == (shares.positives, shares.negatives)[coef < 0]


def test_of_equal_rules_that_of_the_least_objective_is_found():
    """Copies of an item differ in price alone; supports that only reach the best share are kept."""
    X, y, _ = table(5, n=120, d=4)
    X = np.hstack((X, X))
    data = TrainingData(X, y)
    names = data.feature_names
    for cheap in (0, 1):
        price = {name: 1e-3 if (j < 4) == bool(cheap) else 1e-4 for j, name in enumerate(names)}
        coefficients = CoefficientSet(names, -1, 1, l0_penalty=price)
        solution = best_rule(RiskScoreProblem(data, coefficients, max_size=2), SENSITIVITY)
        assert solution.certificate.rule.is_tie_proven
        used = np.flatnonzero(solution.coefficients)
        assert ((used < 4) == (not cheap)).all()


def test_sets_of_cells_that_points_cannot_make_are_no_rules():
    """The best set of cells of an exclusive or is none: points are looked at."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10, float)
    y = (X[:, 0] != X[:, 1]).astype(int)
    solution = best_rule(problem_of(X, y, max_size=2), RequiredShare("sensitivity", 1.0))
    assert solution.certificate.rule.shares.specificity == 0.5
    assert solution.certificate.rule.is_best


def test_calling_everybody_positive_is_a_rule():
    X = np.array([[0], [1]] * 10, float)
    y = np.array([0, 1, 1, 0] * 5)
    solution = best_rule(problem_of(X, y, max_size=1), RequiredShare("sensitivity", 1.0))
    rule = solution.certificate.rule
    assert (rule.shares.sensitivity, rule.shares.specificity) == (1.0, 0.0)
    assert rule.is_best
    assert rule.is_tie_proven
    assert "leaves out 0 of 10" in rule.explain()


def test_weights_of_classes_move_no_share():
    X, y, _ = table(7)
    plain = best_rule(problem_of(X, y), SENSITIVITY)
    data = TrainingData(X, y).with_class_weight({1: 3.0})
    problem = RiskScoreProblem(data, CoefficientSet(data.feature_names, -2, 2), max_size=3)
    weighted = best_rule(problem, SENSITIVITY)
    assert weighted.certificate.rule.shares == plain.certificate.rule.shares


def test_columns_of_many_values_leave_a_valid_bound():
    rng = np.random.default_rng(2)
    X, y, _ = table(2, n=150, d=4)
    X[:, 0] = rng.normal(0, 1, 150) + y
    solution = best_rule(problem_of(X, y), SENSITIVITY, time_limit=5)
    rule = solution.certificate.rule
    assert solution.certificate.status is Status.FEASIBLE
    assert "fewer of up to eight" in solution.certificate.message
    assert rule.bound >= rule.shares.true_negatives
    assert rule.shares.sensitivity >= 0.9


def test_a_gap_tolerance_is_one_of_the_share():
    X, y, _ = table(8)
    exact = best_rule(problem_of(X, y), SENSITIVITY).certificate.rule
    solution = best_rule(problem_of(X, y), SENSITIVITY, gap_tolerance=0.2)
    rule = solution.certificate.rule
    assert solution.certificate.is_optimal
    assert rule.gap <= 0.2
    assert rule.bound >= exact.shares.true_negatives
    assert not solution.certificate.faults()


def test_supports_that_wait_are_looked_at_before_they_are_too_many(monkeypatch):
    X, y, _ = table(9)
    expected = best_rule(problem_of(X, y), SENSITIVITY).certificate
    monkeypatch.setattr(rule_search, "MOST_WAITING", 3)
    monkeypatch.setattr(rule_search, "TASKS_AT_A_TIME", 2)
    monkeypatch.setattr(tables, "MOST_FOUND", 2)
    monkeypatch.setattr(tables, "TASK_SECONDS", 1e-7)
    found = best_rule(problem_of(X, y), SENSITIVITY).certificate
    assert found.rule == expected.rule
    assert found.objective == expected.objective


def test_too_many_ties_are_settled_by_the_loss(monkeypatch):
    X, y, _ = table(9)
    expected = best_rule(problem_of(X, y), SENSITIVITY).certificate
    monkeypatch.setattr(rule_search, "MOST_TIED", 0)
    found = best_rule(problem_of(X, y), SENSITIVITY).certificate
    assert found.rule == expected.rule
    assert found.objective == pytest.approx(expected.objective, abs=1e-9)


def test_vectors_that_are_too_many_leave_a_tie_unproven(monkeypatch):
    X, y, _ = table(10)
    expected = best_rule(problem_of(X, y), SENSITIVITY).certificate
    monkeypatch.setattr(ties, "MOST_VECTORS", 1)
    found = best_rule(problem_of(X, y), SENSITIVITY).certificate
    assert found.rule.is_best
    assert found.lower_bound <= expected.objective


def test_a_stop_ends_the_comparison_of_equal_rules(monkeypatch):
    X, y, _ = table(10)
    required = RequiredShare("sensitivity", 1.0)
    expected = best_rule(problem_of(X, y), required).certificate
    assert expected.rule.is_tie_proven
    compared, asked = [], []
    fitted, best_intercepts = ties.fitted, ties.best_intercepts

    def comparing(rules, *args):
        compared.append(rules)
        return fitted(rules, *args)

    def stopping(*args):
        if compared:
            asked.append(None)
            compared[0].stop[0] = len(asked) >= 3
        return best_intercepts(*args)

    monkeypatch.setattr(ties, "CELLS_AT_A_TIME", 1)
    monkeypatch.setattr(ties, "fitted", comparing)
    monkeypatch.setattr(ties, "best_intercepts", stopping)
    found = best_rule(problem_of(X, y), required).certificate
    assert len(asked) == 3
    assert found.rule.is_best
    assert not found.rule.is_tie_proven
    assert found.lower_bound <= expected.objective


def test_points_that_are_too_many_leave_their_support_unsettled(monkeypatch):
    X, y, _ = table(11)
    exact = best_rule(problem_of(X, y), SENSITIVITY).certificate.rule
    monkeypatch.setattr(support_rules, "MOST_NODES", 3)
    certificate = best_rule(problem_of(X, y), SENSITIVITY).certificate
    assert certificate.rule.bound >= exact.shares.true_negatives
    assert not certificate.rule.is_best
    assert certificate.message.startswith("of some sets of features only")


def test_a_time_limit_and_the_user_end_the_search():
    X, y, _ = table(12)
    solution = best_rule(problem_of(X, y), SENSITIVITY, should_stop=lambda: True)
    assert solution.certificate.status in (Status.INTERRUPTED, Status.OPTIMAL)
    assert solution.is_interrupted
    records = []
    best_rule(problem_of(X, y), SENSITIVITY, progress=records.append)
    assert records[-1].table_share == 1.0
    assert [one.upper_bound for one in records] == sorted(
        (one.upper_bound for one in records), reverse=True
    )

    def fails():
        raise ZeroDivisionError("by the user")

    with pytest.raises(ZeroDivisionError, match="by the user"):
        best_rule(problem_of(X, y), SENSITIVITY, should_stop=fails)


def test_what_cannot_be_asked_for():
    X, y, _ = table(13)
    limited = problem_of(X, y, constraints=[false_negative_rate_at_most(0.2, 0.5)])
    with pytest.raises(ValueError, match="a rule has a threshold of its own"):
        best_rule(limited, SENSITIVITY)
    with pytest.raises(TypeError, match="required must be a RequiredShare"):
        best_rule(problem_of(X, y), 0.9)
    with pytest.raises(ValueError, match="gap_tolerance"):
        best_rule(problem_of(X, y), SENSITIVITY, gap_tolerance=2)
    names = TrainingData(X, y).feature_names
    clash = [exactly(2, names[:2]), exactly(0, names[:2])]
    solution = best_rule(problem_of(X, y, constraints=clash), SENSITIVITY)
    assert solution.certificate.status is Status.INFEASIBLE


def test_memory_that_is_too_little_leaves_a_rule_without_a_proof():
    X, y, _ = table(14)
    settings = BranchAndBoundSettings(memory_limit=1000)
    solution = best_rule(problem_of(X, y), SENSITIVITY, settings=settings)
    assert solution.certificate.rule.shares.sensitivity >= 0.9
    assert driver.ENGINE == "operating_points"


def test_thresholds_are_next_to_what_is_called_wrong():
    data = TrainingData({"a": [0, 1, 2, 5, 5, 7]}, [0, 0, 1, 1, 0, 1])
    coef = np.array([0, 1])
    least = shares.best_threshold(data.rows, coef, RequiredShare("sensitivity", 1.0))
    assert least == shares.Rule(2.0, 1.0)
    most = shares.best_threshold(data.rows, coef, RequiredShare("specificity", 1.0))
    assert most == shares.Rule(7.0, 2.0)
    half = TrainingData({"a": [0.25, 0.5, 1.0, 2.0]}, [0, 1, 0, 1])
    found = shares.best_threshold(half.rows, coef, RequiredShare("sensitivity", 0.5))
    assert found == shares.Rule(1.5, 0.0)
