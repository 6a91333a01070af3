"""Tables of supports in branch and bound: what is particular to them."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from checked_solutions import (
    EQUAL_NATIVE,
)
from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    RiskScoreProblem,
    Status,
    TrainingData,
    at_most,
    branch_and_bound,
)
from riskslim.engines.branch_and_bound import costs, stage
from riskslim.engines.branch_and_bound import support_enumeration as tables
from riskslim.engines.branch_and_bound.support_enumeration import (
    SupportEnumeration,
    Task,
)
from riskslim.engines.settings import TunedSettings
from small_problems import mixed_sample

MODES = ("always", "nodes", "auto")


@pytest.fixture
def small_steps(monkeypatch):
    """Tables of a few supports at a time, so that a run can be cut off between them."""
    for module in (stage, tables):
        monkeypatch.setattr(module, "TASK_SECONDS", 1e-7)
    monkeypatch.setattr(stage, "LONG_SECONDS", 0.0)


@pytest.mark.usefixtures("small_steps")
def test_the_share_of_supports_that_are_done_is_told():
    records = []
    settings = TunedSettings(tables="always", batch_size=1)
    solution = branch_and_bound(
        items_problem(np.random.default_rng(5), n_wide=4), settings=settings,
        progress=records.append,
    )  # fmt: skip
    shares = [record.table_share for record in records]
    assert solution.statistics.table_share == shares[-1] == 1.0
    assert sum(0 < share < 1 for share in shares) >= 3
    assert shares == sorted(shares)
    assert len(set(shares)) >= 5
    np.testing.assert_array_equal(solution.trace["table_share"], shares)
    told = [record.summary() for record in records if "supports " in record.summary()]
    assert len(told) == sum(0 < share < 1 for share in shares)
    assert all(len(line) <= 80 for line in told)


def test_shares_are_those_of_enumeration():
    """Of every task, the supports that come before it."""
    rng = np.random.default_rng(2)
    problem = items_problem(rng, d=9, n_wide=3)
    box = np.array([problem.lower, problem.upper], float)
    box[0, 4] = 1.0
    completion = SupportEnumeration(problem).completion(box, 1.0, 1.0)
    assert completion.n_in == 1

    def listed(prefix, first):
        yield prefix
        if len(prefix) < completion.max_size:
            for item in range(first, completion.n_items):
                yield from listed((*prefix, item), item + 1)

    supports = list(listed((0,), 1))
    assert len(supports) == completion.n_supports
    for k, support in enumerate(supports):
        task = Task(support, support[-1] + 1, completion.max_size, 0.0)
        assert completion.share_before(task) == pytest.approx(k / len(supports))


@pytest.mark.parametrize(("n_wide", "n_threads"), [(0, 2), (4, 1)])
def test_tables_obey_the_memory_limit(n_wide, n_threads):
    """Where the work of a scan does not fit, relaxations prove the same."""
    problem = items_problem(np.random.default_rng(5), n_wide=n_wide)
    solutions = [
        branch_and_bound(
            problem, n_threads=n_threads,
            settings=BranchAndBoundSettings(tables="always", memory_limit=limit),
        )
        for limit in (2**31, 2**20, 2)
    ]  # fmt: skip
    assert solutions[0].statistics.table_nodes > 0
    for solution in solutions:
        assert solution.certificate.status is Status.OPTIMAL
        assert solution.certificate.objective == pytest.approx(
            solutions[0].certificate.objective, abs=EQUAL_NATIVE
        )
    assert solutions[1].statistics.table_supports == 0
    assert solutions[2].statistics.table_supports == 0


def test_the_memory_of_a_scan_is_what_it_is_said_to_be(monkeypatch):
    """No node is completed with more memory than the limit."""
    problem = items_problem(np.random.default_rng(5), n_wide=4)
    box = np.array([problem.lower, problem.upper], float)
    asked = []

    def scan(*arguments, original=tables.kernels.scan):
        asked.append(sum(a.nbytes for a in (arguments[0], *arguments[-7:])))
        return original(*arguments)

    monkeypatch.setattr(tables.kernels, "scan", scan)
    stop = np.zeros(1, np.int64)
    for limit in (1e6, 5e6, 2e7, 1e9):
        completion = SupportEnumeration(problem, memory=limit).completion(box, 1.0, 1.0)
        if completion is not None:
            completion.scan(completion.whole(), 0.0, stop)
            assert asked[-1] <= limit
    assert 0 < len(asked) < 4


def test_threads_wait_for_memory():
    memory, order = tables.Memory(10), []
    entered = threading.Event()

    def later():
        entered.set()
        with memory.taken(6):
            order.append("later")

    with ThreadPoolExecutor(1) as pool:
        with memory.taken(5), memory.taken(5):
            waiting = pool.submit(later)
            entered.wait()
            order.append("first")
        waiting.result()
    assert order == ["first", "later"]


def test_supports_of_too_many_cells_are_left_to_relaxations():
    """Three items of eight values and two of two values are 11 planes."""
    problem = items_problem(np.random.default_rng(4), n_wide=4, max_size=5)
    found = SupportEnumeration(problem)
    box = np.array([problem.lower, problem.upper], float)
    found.planes[:4] = 3  # as of eight values
    assert found.predicted_seconds(box) == math.inf
    box[:, 1:3] = 0.0
    assert found.predicted_seconds(box) < math.inf
    box[0, 3] = 1.0
    assert found.predicted_seconds(box) < math.inf
    box[0, 5:8] = 1.0
    assert found.predicted_seconds(box) < math.inf


def items_problem(rng, n=600, d=24, n_wide=0, max_size=4, **options):
    X, y, _ = mixed_sample(rng, n, d, "none", n_wide)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(1.5 - 2 * X[:, 1] + X[:, 2] - X[:, 3])), 1, -1)
    data = TrainingData(X, y, feature_names=[f"x{j}" for j in range(d)])
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    return RiskScoreProblem(
        data, coefficients, max_size=max_size, **options
    )  # fmt: skip


def test_threads_change_nothing_but_the_time(monkeypatch):
    for module in (stage, tables):
        monkeypatch.setattr(module, "TASK_SECONDS", 1e-5)
    monkeypatch.setattr(stage, "LONG_SECONDS", 0.0)
    settings = TunedSettings(tables="always", batch_size=4)
    one, three = (
        branch_and_bound(items_problem(np.random.default_rng(5)), n_threads=n, settings=settings)
        for n in (1, 3)
    )
    assert one.certificate == three.certificate
    assert one.certificate.status is Status.OPTIMAL
    np.testing.assert_array_equal(one.coef, three.coef)
    for name in ("nodes", "table_nodes", "table_supports", "table_saturated", "table_left"):
        assert getattr(one.statistics, name) == getattr(three.statistics, name)
    np.testing.assert_array_equal(one.trace["lower_bound"], three.trace["lower_bound"])


def test_a_few_supports_tell_how_many_h_leaves():
    problem = items_problem(np.random.default_rng(8))
    found, stop = SupportEnumeration(problem), np.zeros(1, np.int64)
    box = np.array([problem.lower, problem.upper], float)
    boxes = [(box, 1.0, 1.0)]
    seconds = found.predicted_seconds(box)
    assert found.sampled_seconds([], 0.0, 1.0, stop) == 0.0
    assert found.sampled_seconds(boxes, seconds, 1e-3, stop) == 0.0  # none is left
    # Between none and all of them: as many as a scan of all takes boxes for.
    scanned = found.completion(box, 1.0, 1.0)
    losses = [problem.objective(vector) for vector in (np.zeros(len(problem.lower), np.int64),)]
    cutoff = 0.98 * losses[0]
    counted = scanned.scan(scanned.whole(), cutoff, stop).counted
    predicted = found.sampled_seconds(boxes, 1e3, cutoff, stop)
    assert predicted == found.sampled_seconds(boxes, 1e3, cutoff, stop)
    assert 0.3 < predicted / (counted[4] * costs.TERM_SECONDS) < 3.0
    stop[0] = 1
    assert found.sampled_seconds(boxes, seconds, cutoff, stop) == math.inf


def test_items_are_packed_by_several_threads_at_once(monkeypatch):
    """One that comes while another one is packing has all it needs to complete a node."""
    problem = items_problem(np.random.default_rng(5))
    found = SupportEnumeration(problem)
    box = np.array([problem.lower, problem.upper], float)
    from_others = []

    def interrupted(problem, original=tables._apart):
        monkeypatch.setattr(tables, "_apart", original)
        with ThreadPoolExecutor(1) as pool:
            from_others.append(pool.submit(found.completion, box, 1.0, 1.0).result())
        return original(problem)

    monkeypatch.setattr(tables, "_apart", interrupted)
    own = found.completion(box, 1.0, 1.0)
    assert from_others[0].n_supports == own.n_supports > 0


def test_settings_choose_the_way_and_not_the_result():
    problem = items_problem(np.random.default_rng(6))
    solutions = {
        mode: branch_and_bound(problem, settings=BranchAndBoundSettings(tables=mode))
        for mode in (*MODES, "never")
    }
    objectives = {s.certificate.objective for s in solutions.values()}
    assert max(objectives) - min(objectives) <= EQUAL_NATIVE
    assert all(s.certificate.status is Status.OPTIMAL for s in solutions.values())
    assert solutions["never"].statistics.table_supports == 0
    always = solutions["always"].statistics
    assert always.table_nodes >= 1
    # Supports whose size is permitted, but for those of a root that lost items before.
    assert 0 < always.table_supports <= costs.count_supports(24, 4)
    assert always.table_left <= always.table_saturated <= always.table_supports


def test_items_that_exclude_each_other_are_not_counted():
    rng = np.random.default_rng(7)
    free = items_problem(rng)
    rng = np.random.default_rng(7)
    group = at_most(1, [f"x{j}" for j in range(12)])
    bound = items_problem(rng, constraints=[group])
    settings = BranchAndBoundSettings(tables="always")
    both = [branch_and_bound(problem, settings=settings) for problem in (free, bound)]
    assert both[1].statistics.table_supports < both[0].statistics.table_supports / 2
    assert both[1].certificate.status is Status.OPTIMAL
    alone = branch_and_bound(bound, settings=BranchAndBoundSettings(tables="never"))
    assert both[1].certificate.objective == pytest.approx(
        alone.certificate.objective, abs=EQUAL_NATIVE
    )


def test_features_of_many_values_are_left_to_relaxations():
    rng = np.random.default_rng(8)
    X = np.column_stack((rng.integers(0, 2, (80, 3)), rng.integers(0, 9, 80)))
    y = np.where(rng.random(80) < 0.3 + 0.05 * X[:, 3], 1, -1)
    data = TrainingData(X, y, feature_names=list("abcd"))
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    problem = RiskScoreProblem(data, coefficients, max_size=3)
    found = SupportEnumeration(problem)
    box = np.array([problem.lower, problem.upper], float)
    assert found.predicted_seconds(box) == math.inf
    box[:, 4] = 0.0
    assert found.predicted_seconds(box) < math.inf
    solution = branch_and_bound(problem, settings=BranchAndBoundSettings(tables="always"))
    assert solution.certificate.status is Status.OPTIMAL


@pytest.mark.parametrize(("name", "value"), [("tables", "sometimes"), ("table_cost", 0.0)])
def test_settings_are_checked(name, value):
    with pytest.raises(ValueError, match=name):
        TunedSettings(**{name: value})


def test_predictions_grow_with_the_work():
    assert costs.count_supports(30, 5) == sum(math.comb(30, k) for k in range(6))
    sizes = [costs.supports(n, 0, 5, 100, 2) for n in (10, 50, 100)]
    assert sizes == sorted(sizes)
    assert costs.supports(50, 0, 5, 100, 2) < costs.supports(50, 0, 5, 1000, 2)
    wide = [costs.supports(50, 0, 4, 100, 2, [2] * n) for n in (0, 1, 5, 50)]
    assert wide == sorted(wide)
    assert wide[0] < wide[1]
    assert costs.supports(50, 2, 4, 100, 2) < costs.supports(50, 2, 4, 100, 2, beyond=4)
