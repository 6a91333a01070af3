"""Roundings that wait for work beside which they are polished, and rows in another order."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from problems import make_problem
from riskslim import BranchAndBoundSettings, branch_and_bound
from riskslim.engines.branch_and_bound import incumbents, node_rows
from riskslim.engines.branch_and_bound.node_rows import NodeRows
from riskslim.engines.branch_and_bound.roundings import ALWAYS_ROUNDED, Roundings
from riskslim.engines.branch_and_bound.workspace import Worker, share

HALF = np.array([0.0, 0.5])


class Fake:
    """Incumbents that note what they are to round."""

    def __init__(self, *, polishing_is_long: bool) -> None:
        self.polishing_is_long = polishing_is_long
        self.stop = np.zeros(1, np.int64)
        self.cutoff = 1.0
        self.rounded: list[float] = []

    def round(self, coef, scale) -> None:
        self.rounded.append(scale)


def test_the_first_ones_are_rounded_then_some_and_all_that_are_integral():
    known = Fake(polishing_is_long=False)
    roundings = Roundings(known, interval=20)
    for k in range(1, ALWAYS_ROUNDED + 61):
        roundings.consider(HALF, float(k), 0.5)
    assert known.rounded == [*range(1, ALWAYS_ROUNDED + 1), 60, 80, 100]
    roundings.consider(np.array([-1.0, 2.0]), 0.0, 0.5)
    assert known.rounded[-1] == 0
    assert roundings.aside is None


def test_long_ones_wait_for_work():
    known = Fake(polishing_is_long=True)
    roundings = Roundings(known, interval=20)
    for k, bound in enumerate([0.2, 0.9, 0.3]):
        roundings.consider(HALF, float(k), bound)
    assert known.rounded == []
    known.cutoff = 0.5  # which excludes the node of the second one
    roundings.aside()
    assert known.rounded == [0, 2]
    assert roundings.aside is None
    roundings.consider(HALF, 7.0, 0.0)
    known.stop[0] = 1
    roundings.work()
    assert known.rounded == [0, 2]
    assert roundings.aside is None


@pytest.mark.parametrize("n_workers", [1, 2, 3])
@pytest.mark.parametrize("n_pieces", [0, 1, 5])
def test_work_is_shared_beside_other_work(n_workers, n_pieces):
    workers = [SimpleNamespace(n_threads=n_workers) for _ in range(n_workers)]
    met, done = threading.Event(), []

    def aside() -> None:
        # With several threads the pieces are worked on meanwhile.
        done.append("aside" if n_workers == 1 or not n_pieces or met.wait(30) else "too late")

    def work(piece: int, worker: Worker) -> int:
        met.set()
        return piece**2

    with ThreadPoolExecutor(n_workers) as pool:
        found = share(workers, list(range(n_pieces)), work, pool, aside)
        assert found == [piece**2 for piece in range(n_pieces)]
        assert done == ["aside"]
        assert [worker.n_threads for worker in workers] == [n_workers] * n_workers

        def fails() -> None:
            raise ValueError("aside")

        with pytest.raises(ValueError, match="aside"):
            share(workers, list(range(n_pieces)), work, pool, fails)


def test_what_waits_at_a_limit_is_rounded(monkeypatch):
    monkeypatch.setattr(incumbents, "ROUGH_ROWS", 3)
    problem = make_problem(n=300, d=8, seed=5)
    waited, work = [], Roundings.work

    def counted(self) -> None:
        waited.append(len(self._waiting))
        work(self)

    monkeypatch.setattr(Roundings, "work", counted)
    settings = BranchAndBoundSettings(tables="never", cutoffs="never", elimination="never")
    solution = branch_and_bound(problem, settings=settings, node_limit=1)
    assert solution.certificate.message == "node limit reached"
    assert waited[-1] > 0
    assert problem.is_feasible(solution.coef)
    best = branch_and_bound(problem).certificate.objective
    assert solution.certificate.lower_bound <= best <= solution.certificate.objective + 1e-12


@pytest.mark.parametrize("n_first", [1000, 30_000])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_only_rows_that_samples_need_are_shuffled(monkeypatch, n_first, n_threads):
    monkeypatch.setattr(node_rows, "MANY_ROWS", n_first)
    n = 50_000
    rng = np.random.default_rng(0)
    integers = np.asfortranarray(rng.integers(-3, 4, (n, 2)).astype(np.int8))
    reals = np.asfortranarray(np.arange(n, dtype=np.float64)[:, None])
    positive = rng.random(n)
    given = NodeRows(
        integers, reals, np.array([0, 1, -1]), positive, 1 - positive, np.ones(3, np.bool_)
    )
    found = given.shuffled(n_threads=n_threads)
    order = found.real_columns[:, 0].astype(np.int64)
    assert sorted(order) == list(range(n))
    assert (found.integer_columns == integers[order]).all()
    assert (found.positive == positive[order]).all()
    assert (found.negative == given.negative[order]).all()
    # The first rows are drawn from all of them, in any order.
    first = order[:n_first]
    assert abs(first.mean() / n - 0.5) < 0.05
    assert (np.diff(first) < 0).any()
    stays = (order == np.arange(n)).mean()
    assert stays < 0.01 if 2 * n_first >= n else stays > 0.95
    # A larger sample is a sample, too.
    assert abs(given.shuffled(20_000).real_columns[:20_000].mean() / n - 0.5) < 0.02
    assert given.shuffled(should_stop=lambda: True) is given
