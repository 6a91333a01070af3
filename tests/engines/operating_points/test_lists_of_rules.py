"""Lists of the best rule of each set of items, compared with trying all points and thresholds."""

from __future__ import annotations

import numpy as np
import pytest

from riskslim import CoefficientSet, RiskScore, RiskScoreProblem, TrainingData
from riskslim.engines.branch_and_bound import support_enumeration as tables
from riskslim.engines.operating_points import rule_list, support_rules
from riskslim.engines.operating_points.best_rule import best_rule
from riskslim.exceptions import CertificateError, RiskSLIMError
from riskslim.operating_point import RequiredShare
from rules import drawn, sets_by_trying
from searches import StopWithin

N_QUICK, N_AT_A_TIME, N_SLOW = 40, 20, 80


def faults(solution, problem, required, tried, n_solutions, within, *, is_stopped=False):
    """What a list says that trying everything contradicts."""
    pool = solution.pool
    tried = {items: right for items, right in tried.items() if items}
    whole = pool.shares[0].total(required.other)
    listed = {}
    for k in range(len(pool)):
        items = tuple(np.flatnonzero(pool.coefficients[k, 1:]).tolist())
        listed[items] = pool.shares[k].right(required.other)
    tolerance = 1e-8 * whole
    rights = [shares.right(required.other) for shares in pool.shares]
    others = [right for items, right in tried.items() if items not in listed]
    is_true = {
        "a set twice": len(listed) == len(pool),
        "not sorted": all(np.diff(rights) <= tolerance),
        "a rule that does not reach the share": all(map(required.is_met_by, pool.shares)),
        "not feasible": all(
            problem.reaching(int(coef[0]), int(coef[0])).is_feasible(coef)
            for coef in pool.coefficients
        ),
        "more than were asked for": n_solutions is None or len(pool) <= n_solutions,
        "worse than was asked for": within is None
        or min(rights) >= rights[0] - within * whole - tolerance,
        "the solution is not the first": (pool.coefficients[0] == solution.coef).all(),
        "better than the best of its set": all(
            right <= tried[items] + tolerance for items, right in listed.items() if items
        ),
        "not the best of its set": is_stopped
        or all(right >= tried[items] - tolerance for items, right in listed.items() if items),
        "a bound below others": max(others, default=0.0) <= pool.bound + tolerance,
        "not complete": pool.complete or is_stopped,
    }
    if pool.complete:
        best = max(tried.values(), default=0.0)
        least = -np.inf if within is None else best - within * whole + tolerance
        wanted = sorted((right for right in tried.values() if right > least), reverse=True)
        wanted = wanted[:n_solutions]
        found = sorted((right for items, right in listed.items() if items), reverse=True)
        # The solution itself may have no item, where no rule is better than to call all positive.
        is_true["a rule is missing"] = len(found) >= len(wanted) - (() in listed) and np.allclose(
            found[: len(wanted)], wanted[: len(found)], rtol=0, atol=tolerance
        )
    return [fault for fault, holds in is_true.items() if not holds]


def asked_of(seed):
    rng = np.random.default_rng([seed, 1])
    n_solutions = None if rng.random() < 0.5 else int(rng.integers(2, 8))
    within = None if n_solutions and rng.random() < 0.5 else float(rng.choice([0, 0.01, 0.1, 0.4]))
    return n_solutions, within


def check(seed):
    problem, required, X, y, weights = drawn(seed)
    n_solutions, within = asked_of(seed)
    tried = sets_by_trying(problem, required, X, y, weights)
    found = best_rule(problem, required, n_solutions=n_solutions, within=within, time_limit=600)
    if not tried:
        return [] if found.pool is None else [f"{seed}: a list of nothing"]
    wrong = faults(found, problem, required, tried, n_solutions, within)
    alone = best_rule(problem, required, time_limit=600)
    if alone.certificate.rule.shares != found.certificate.rule.shares:
        wrong.append("another best rule than without a list")
    if seed % 4 == 0:
        other = best_rule(
            problem, required, n_solutions=n_solutions, within=within, n_threads=2, time_limit=600
        )
        if not np.array_equal(other.pool.coefficients, found.pool.coefficients):
            wrong.append("threads change the list")
    return [f"{seed}: {fault}" for fault in wrong]


@pytest.mark.parametrize("first", range(0, N_QUICK, N_AT_A_TIME))
def test_lists_are_those_of_trying_everything(first):
    wrong = [fault for seed in range(first, first + N_AT_A_TIME) for fault in check(seed)]
    assert not wrong, wrong


@pytest.mark.slow
@pytest.mark.parametrize("first", range(N_QUICK, N_QUICK + N_SLOW, N_AT_A_TIME))
def test_more_lists_are_those_of_trying_everything(first):
    wrong = [fault for seed in range(first, first + N_AT_A_TIME) for fault in check(seed)]
    assert not wrong, wrong


@pytest.mark.parametrize("first", range(7000, 7040, 10))
def test_a_list_that_is_stopped_anywhere_says_what_may_be_missing(first, monkeypatch):
    wrong, ended = [], set()
    for seed in range(first, first + 10):
        problem, required, X, y, weights = drawn(seed)
        n_solutions, within = asked_of(seed)
        tried = sets_by_trying(problem, required, X, y, weights)
        rng = np.random.default_rng(seed)
        call, looks = 1 + int(rng.geometric(0.08)), int(rng.geometric(0.1))
        with monkeypatch.context() as patch:
            module = (tables, support_rules)[seed % 2]
            names = ("scan",) if module is tables else ("count", "best_points")
            patch.setattr(module, "kernels", StopWithin(module.kernels, call, looks, names))
            try:
                solution = best_rule(problem, required, n_solutions=n_solutions, within=within)
            except RiskSLIMError as error:
                if "Give more time" not in str(error):
                    raise
                continue
        if solution.pool is None:
            continue
        ended.add(solution.pool.complete)
        found = faults(solution, problem, required, tried, n_solutions, within, is_stopped=True)
        wrong += [f"{seed}: {fault}" for fault in found]
    assert not wrong, wrong
    assert ended


def a_problem(**settings):
    rng = np.random.default_rng(3)
    X = (rng.random((300, 8)) < 0.4).astype(float)
    y = rng.random(300) < 1 / (1 + np.exp(1.5 - X @ rng.normal(0.4, 1.0, 8)))
    data = TrainingData(X, y)
    return data, RiskScoreProblem(
        data, CoefficientSet(data.feature_names, -2, 2), max_size=3, **settings
    )


def test_a_listed_rule_becomes_a_score_with_its_threshold():
    data, problem = a_problem()
    required = RequiredShare("sensitivity", 0.9)
    pool = (solution := best_rule(problem, required, within=0.02)).pool
    assert pool.complete
    assert 1 < len(pool) < 56
    for rank in range(len(pool)):
        score = RiskScore.from_solution(solution, data, rank=rank)
        called = score.decision_function(data) >= 0
        positive = data.labels > 0
        assert pool.shares[rank].true_positives == called[positive].sum()
        assert pool.shares[rank].true_negatives == (~called[~positive]).sum()
        assert score.operating_point.required == required
    lines = str(pool).splitlines()
    assert lines[0].split()[:3] == ["rank", "sensitivity", "specificity"]
    assert len(lines) == len(pool.table().splitlines()) + 1
    assert "It is complete: no other set has a rule that finds at least 90%" in lines[-1]


def test_a_node_limit_leaves_an_incomplete_list():
    _, problem = a_problem()
    required = RequiredShare("sensitivity", 0.9)
    every = best_rule(problem, required, within=0.05).pool
    some = best_rule(problem, required, within=0.05, node_limit=3).pool
    assert not some.complete
    assert "incomplete: the search ended early" in some.explain()
    listed = {tuple(np.flatnonzero(coef[1:])) for coef in some.coefficients}
    others = [
        shares.true_negatives
        for coef, shares in zip(every.coefficients, every.shares, strict=True)
        if tuple(np.flatnonzero(coef[1:])) not in listed
    ]
    assert others
    assert max(others) <= some.bound


def test_columns_that_tables_cannot_have_leave_one_rule_and_a_bound():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)).round(3)
    data = TrainingData(X, X[:, 0] + rng.normal(size=60) > 0)
    problem = RiskScoreProblem(data, CoefficientSet(data.feature_names, -2, 2))
    required = RequiredShare("specificity", 0.8)
    solution = best_rule(problem, required, n_solutions=3)
    assert len(solution.pool) == 1
    assert not solution.pool.complete
    assert solution.pool.bound == solution.certificate.rule.bound


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"within": -0.1}, "within must be"), ({"within": 1.5}, "a share of rows, at most 1"),
     ({"n_solutions": 0}, "n_solutions must be")],
)  # fmt: skip
def test_what_cannot_be_listed_is_refused(settings, message):
    _, problem = a_problem()
    with pytest.raises(ValueError, match=message):
        best_rule(problem, RequiredShare("sensitivity", 0.9), **settings)


def test_a_listed_rule_that_contradicts_the_certificate_is_an_error(monkeypatch):
    _, problem = a_problem()
    monkeypatch.setattr(
        rule_list, "best_threshold",
        lambda rows, coef, required: support_rules.best_threshold(
            rows, coef, RequiredShare("specificity", 0.99)
        ),
    )  # fmt: skip
    with pytest.raises(CertificateError, match="a listed rule has"):
        best_rule(problem, RequiredShare("sensitivity", 0.9), within=0.02)
