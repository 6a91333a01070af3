"""Bootstrap samples: rows that are drawn, what is found on them, what is kept at an early end."""

from __future__ import annotations

import importlib
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import riskslim
from found_sets import example
from riskslim import TrainingData, branch_and_bound
from riskslim.exceptions import CertificateError, RiskSLIMError
from riskslim.near_optimal import Stability, stability
from riskslim.near_optimal.stability import _on_sample, _Plan, _Sample


def drawn(one, seed, k):
    """The number of times that each row is drawn, by the definition of a multinomial draw."""
    numbers = np.ones(80) if one.weight is None else (one.weight > 0).astype(float)
    rows = np.flatnonzero(numbers)
    generator = np.random.default_rng([seed, k])
    while True:
        count = np.zeros(80, int)
        np.add.at(count, rows[generator.integers(len(rows), size=len(rows))], 1)
        if len(set(one.y[count > 0])) == 2:
            return count


@pytest.mark.parametrize("weights", [None, "real"])
def test_samples_are_searched_as_rows_that_are_repeated(weights):
    one = example(40, weights=weights, l2_penalty=0.003)
    n = 6
    found = stability(one.found, one.problem, n, random_state=3)
    assert (found.n_asked, found.n_samples, found.n_proven, found.seed) == (n, n, n, 3)
    best, items, variables = Counter(), Counter(), Counter()
    names = one.data.feature_names
    for k in range(n):
        rows = np.repeat(np.arange(80), drawn(one, 3, k))
        sample = TrainingData(
            {name: column[rows] for name, column in one.columns.items()}, one.y[rows],
            None if weights is None else one.weight[rows],
        )  # fmt: skip
        solution = branch_and_bound(one.problem.restated(sample))
        assert solution.certificate.is_optimal
        used = tuple(solution.points)
        best[used] += 1
        items.update(used)
        variables.update({name.split()[0] for name in used})
    listed = [one.found.items(rank) for rank in range(len(one.found))]
    assert found.sets == tuple(best[one] for one in listed)
    others = {used: count for used, count in best.items() if used not in listed}
    assert {other.items: other.n_samples for other in found.others} == others
    assert dict(found.items) == dict(items)
    assert dict(found.variables) == dict(variables)
    assert [*found.items] == sorted(items, key=lambda name: (-items[name], names.index(name)))
    assert all(found.share(name) == count / n for name, count in items.items())
    assert not found.is_interrupted


def test_weights_are_those_of_the_draws():
    one = example(41, weights="integer")
    plan = _Plan.of(one.found, one.problem, 5, 7, 1, 60.0, {})
    for k in range(5):
        np.testing.assert_array_equal(plan.weights(k), drawn(one, 7, k) * one.weight)
    # On average each row is drawn as often as it is there.
    plan = _Plan.of(one.found, one.problem, 400, 0, 1, 60.0, {})
    mean = np.mean([plan.weights(k) / np.maximum(one.weight, 1) for k in range(400)], axis=0)
    assert mean[one.weight > 0] == pytest.approx(1.0, abs=0.25)
    assert (mean[one.weight == 0] == 0).all()


def test_searches_start_from_the_alternative_that_is_best_on_the_sample():
    one = example(42, within=0.3)
    plan = _Plan.of(one.found, one.problem, 3, 0, 1, 60.0, {})
    for k in range(3):
        weight = plan.weights(k)
        problem = one.problem.restated(one.data.reweighted(weight))
        values = [problem.loss.value(coef) for coef in one.found.pool.coefficients]
        start = plan.start(problem, weight)
        assert problem.loss.value(start) == pytest.approx(min(values))


def test_jobs_and_threads_do_not_matter():
    one = example(43)
    alone = stability(one.found, one.problem, 4)
    for together in (
        stability(one.found, one.problem, 4, n_jobs=2),
        stability(one.found, one.problem, 4, n_threads=2),
    ):
        assert together.sets == alone.sets
        assert together.others == alone.others
        assert dict(together.items) == dict(alone.items)
    other = stability(one.found, one.problem, 40, random_state=1)
    assert other.n_samples == 40
    assert sum(other.sets) + sum(one.n_samples for one in other.others) == 40


def test_no_time_is_no_knowledge():
    one = example(44)
    found = stability(one.found, one.problem, 3, time_limit=1e-9)
    assert (found.n_samples, found.n_proven, sum(found.sets)) == (0, 0, 0)
    assert math.isnan(found.share("v0 >= 1"))
    assert found.explain().startswith("No search on the 3 bootstrap samples ended in time")
    assert not found.is_interrupted


def test_what_is_finished_is_kept():
    one = example(45)
    steps = []

    def stops():
        return len(steps) >= 2

    found = stability(one.found, one.problem, 5, progress=steps.append, should_stop=stops)
    assert found.is_interrupted
    assert found.n_samples == 2
    assert [(step.done, step.total, step.what) for step in steps] == [
        (1, 5, "sample 0"), (2, 5, "sample 1"),
    ]  # fmt: skip
    assert "On 2 bootstrap samples of the rows of 5 that were asked for" in found.explain()
    whole = stability(one.found, one.problem, 2)
    assert (whole.sets, whole.others) == (found.sets, found.others)


def test_requirements_hold_on_samples():
    """One that rows decide: an alternative that breaks it on a sample is no start there."""
    one = example(47)
    limit = riskslim.false_negative_rate_at_most(0.3, 0.5)
    problem = riskslim.RiskScoreProblem(
        one.data, riskslim.CoefficientSet(one.data.feature_names, -3, 3, intercept_lower=-9,
                                          intercept_upper=9),
        max_size=2, constraints=[limit],
    )  # fmt: skip
    found = riskslim.alternatives(problem, within=0.05)
    plan = _Plan.of(found, problem, 6, 0, 1, 60.0, {})
    for k in range(6):
        weight = plan.weights(k)
        restated = problem.restated(one.data.reweighted(weight))
        start = plan.start(restated, weight)
        assert start is None or restated.is_feasible(start)
        assert _on_sample(plan, k) == _Sample(
            tuple(np.flatnonzero(branch_and_bound(restated).coefficients)), is_proven=True
        )
    assert stability(found, problem, 6).n_proven == 6


def test_samples_without_a_score_in_time_are_none(monkeypatch):
    """With constraints a limit may come before any score; other errors are not kept quiet."""
    one = example(48)
    module = importlib.import_module("riskslim.near_optimal.stability")
    calls = []

    def fails(problem, **options):
        calls.append(options)
        if len(calls) == 2:
            raise RiskSLIMError("time limit reached before any risk score was found")
        return branch_and_bound(problem, **options)

    monkeypatch.setattr(module, "branch_and_bound", fails)
    found = stability(one.found, one.problem, 3)
    assert (found.n_asked, found.n_samples) == (3, 2)
    assert not found.is_interrupted
    monkeypatch.setattr(module, "branch_and_bound", _damaged)
    with pytest.raises(CertificateError, match="damaged"):
        stability(one.found, one.problem, 3)


def _damaged(problem, **options):
    raise CertificateError("damaged")


def test_too_few_rows_and_what_else_is_refused(tmp_path):
    one = example(46)
    few = TrainingData({"a": [0, 1, 1], "b": [1, 0, 1]}, [0, 1, 1])
    problem = riskslim.RiskScoreProblem(few, riskslim.CoefficientSet(few.feature_names), max_size=1)
    with pytest.raises(ValueError, match="too few rows for bootstrap samples: 1 of class 0"):
        stability(riskslim.alternatives(problem, within=0.5), problem, 5)
    for n in (0, -1, 10**6):
        with pytest.raises(ValueError, match="n_samples must be between 1 and 100000"):
            stability(one.found, one.problem, n)
    with pytest.raises(TypeError, match="n_samples must be an int"):
        stability(one.found, one.problem, 2.0)
    with pytest.raises(ValueError, match="random_state must be between"):
        stability(one.found, one.problem, 2, random_state=-1)
    with pytest.raises(ValueError, match="time_limit"):
        stability(one.found, one.problem, 2, time_limit=0)
    for n_jobs in (0, 1.5):
        with pytest.raises(ValueError, match="n_jobs must be an int other than 0"):
            stability(one.found, one.problem, 2, n_jobs=n_jobs)
    with pytest.raises(ValueError, match="6 features that are not the 5 features"):
        stability(one.found, example(46, d=5).problem, 2)
    many = example(6, n=2000)
    (tmp_path / "rows").mkdir()
    frame = pd.DataFrame(many.columns | {"y": many.y})
    frame.to_csv(tmp_path / "rows" / "all.csv", index=False)
    merged = riskslim.read(tmp_path / "rows", "y", memory_limit=60_000)
    with pytest.raises(ValueError, match="equal rows of these data were merged"):
        stability(many.found, many.problem.restated(merged), 2)


def test_another_problem_is_refused():
    one, other = example(40), example(41)
    with pytest.raises(ValueError, match="other rows, labels or weights than the alternatives"):
        stability(one.found, other.problem, 2)
    smaller = one.problem.restated(max_size=1)
    with pytest.raises(ValueError, match="another one than the alternatives are of: the best"):
        stability(one.found, smaller, 2)


def test_words():
    one = example(40)
    found = one.found.with_stability(one.problem, 4).stability
    n = len(one.found)
    text = found.explain()
    assert text.startswith(
        "On 4 bootstrap samples of the rows a best score was searched for; all of them are proven "
        f"to be the best there. Its items were those of the best score of all rows on "
        f"{found.sets[0] / 4:.0%} of the samples, and those of one of the {n} alternatives on "
        f"{sum(found.sets) / 4:.0%}."
    )
    assert "proven best is best on the rows that there are" in text
    assert ("not to say that its items are sure" in text) == (found.sets[0] < 4)
    head, *lines = found.table(1).splitlines()
    assert head.split() == ["Item", "Samples", "Share"]
    name, count = next(iter(found.items.items()))
    assert lines[0].split() == [*name.split(), str(count), f"{count / 4:.0%}"]
    assert lines[1] == f"... and {len(found.items) - 1} more"
    unproven = Stability(4, 4, 3, 0, {}, {}, (4,), ())
    assert "3 of them are proven" in unproven.explain()
    assert "Where nothing is proven, another set may be the best one." in unproven.explain()
