"""The memory that threads work in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData, branch_and_bound
from riskslim._kernels import nodes as kernels
from riskslim.engines.branch_and_bound import workspace
from riskslim.exceptions import RiskSLIMError, WorkMemoryError


def problem_of(n_features):
    rng = np.random.default_rng(0)
    X = (rng.random((60, n_features)) < 0.3).astype(int)
    data = TrainingData(X, rng.random(60) < 0.2 + 0.5 * X[:, 0])
    loss = LogisticLoss(data, CoefficientSet(data.feature_names, -1, 1))
    return RiskScoreProblem(data, loss.given_coefficients, max_size=2)


def test_what_does_not_fit_is_refused_before_it_is_allocated(monkeypatch):
    """A million features would work in 52 TB."""
    monkeypatch.setattr(np, "empty", None)
    with pytest.raises(MemoryError, match=r"1,000,000 features need up to [\d,]{18} bytes"):
        workspace.new_workers(2, 1000, 1_000_001)


def test_the_search_says_so(monkeypatch):
    monkeypatch.setattr(workspace, "physical_memory", lambda: 10_000)
    with pytest.raises(RiskSLIMError, match=r"relaxations of 20 features .* has 10,000: leave out"):
        branch_and_bound(problem_of(20))
    assert issubclass(WorkMemoryError, MemoryError)


@pytest.mark.parametrize(("memory", "n_workers"), [(None, 3), (1.5, 1), (2.5, 2), (9.0, 3)])
def test_fewer_threads_where_all_do_not_fit(monkeypatch, memory, n_workers):
    needed = 8 * sum(kernels.scratch_sizes(70, 21))
    known = None if memory is None else int(memory * needed)
    monkeypatch.setattr(workspace, "physical_memory", lambda: known)
    workers = workspace.new_workers(3, 70, 21)
    assert len(workers) == n_workers
    assert all(8 * (len(one.work) + len(one.index)) == needed for one in workers)


def test_threads_that_do_not_fit_change_no_result(monkeypatch):
    problem = problem_of(20)
    expected = branch_and_bound(problem).certificate
    monkeypatch.setattr(workspace, "physical_memory", lambda: 200_000)
    found = branch_and_bound(problem, n_threads=2).certificate
    assert (found.objective, found.lower_bound) == (expected.objective, expected.lower_bound)


def test_threads_take_pieces_as_they_come():
    """The first piece ends after all others, which the other thread does."""
    workers = workspace.new_workers(2, 10, 3)
    together, seen = Barrier(2), {}

    def work(piece, worker):
        seen[piece] = workers.index(worker), worker.n_threads
        if piece in (0, 5):
            together.wait(timeout=60)
        return 10 * piece

    with ThreadPoolExecutor(2) as pool:
        assert workspace.share(workers, list(range(6)), work, pool) == [0, 10, 20, 30, 40, 50]
    assert {seen[piece] for piece in range(1, 6)} == {(1 - seen[0][0], 1)}
    assert [worker.n_threads for worker in workers] == [2, 2]


@pytest.mark.parametrize(("n_pieces", "n_threads"), [(0, []), (1, [5]), (2, [2, 2]), (3, [1] * 3)])
def test_threads_without_a_piece_are_lent(n_pieces, n_threads):
    workers = workspace.new_workers(5, 10, 3)
    with ThreadPoolExecutor(5) as pool:
        found = workspace.share(
            workers, list(range(n_pieces)), lambda _, worker: worker.n_threads, pool
        )
        assert found == n_threads
        assert {worker.n_threads for worker in workers} == {5}

        def fail(piece, worker):
            raise ZeroDivisionError

        if n_pieces:
            with pytest.raises(ZeroDivisionError):
                workspace.share(workers, list(range(n_pieces)), fail, pool)
