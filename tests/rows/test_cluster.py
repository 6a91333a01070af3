"""Rows on the workers of a Dask cluster: sums of them, workers that die, clusters that go."""

from __future__ import annotations

import copy
import os
import pickle
import sys
from functools import partial

import numpy as np
import pytest

from paths import ROOT
from riskslim import (
    CoefficientSet,
    RiskScoreProblem,
    TrainingData,
    branch_and_bound,
    read,
)
from riskslim.engines.branch_and_bound import search_rows as parts
from riskslim.engines.settings import TunedSettings
from riskslim.exceptions import RowsLostError
from riskslim.rows import cluster as cluster_module
from riskslim.rows.base import StoppedError
from riskslim.rows.cluster import RETRIES, DaskRows
from riskslim.rows.memory import MemoryRows

pytest.importorskip("pyarrow")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")  # distributed needs it

N = 4000


def table(seed: int = 0):
    """Small integers and one real column: equal rows are none."""
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [random.integers(0, 6, (N, 3)).astype(float), random.normal(size=N), np.ones((N, 1))]
    )
    odds = X[:, 0] - X[:, 1] + X[:, 3] - 0.5
    return X[:, :4], random.random(N) < 1 / (1 + np.exp(-odds))


X, Y = table()
IN_MEMORY = TrainingData(X, Y)


@pytest.fixture(scope="module")
def client():
    """A cluster of two workers in this process."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


@pytest.fixture
def processes(monkeypatch):
    """A cluster of two worker processes that gives up tasks as soon as a worker dies with them."""
    # They import functions of this module, and the package from where it is installed.
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT)])
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield cluster


def on_workers(n_parts: int = 4, weights=None, **options) -> TrainingData:
    chunks = -(-N // n_parts)
    collections = [
        None if values is None else da.from_array(values, chunks=chunks) for values in (Y, weights)
    ]
    data = read(da.from_array(X, chunks=(chunks, 4)), *collections, memory_limit=1, **options)
    assert isinstance(data.rows, DaskRows)
    return data


def problem_on(data: TrainingData) -> RiskScoreProblem:
    coefficients = CoefficientSet(data.feature_names, -2, 2)
    return RiskScoreProblem(data, coefficients, max_size=2)


@pytest.fixture(scope="module")
def expected():
    return branch_and_bound(problem_on(IN_MEMORY))


def check_same(found, expected) -> None:
    np.testing.assert_array_equal(found.coef, expected.coef)
    assert found.certificate.status == expected.certificate.status
    assert found.certificate.objective == pytest.approx(expected.certificate.objective, abs=1e-14)
    assert found.certificate.lower_bound == pytest.approx(
        expected.certificate.lower_bound, abs=1e-14
    )


def test_weights_of_classes(client):
    with client.as_current():
        data = on_workers().with_class_weight({True: 3.5, False: 0.3})
        expected = IN_MEMORY.with_class_weight({True: 3.5, False: 0.3})
        assert data.rows.class_weights == pytest.approx(expected.rows.class_weights, rel=1e-15)
        check_same(branch_and_bound(problem_on(data)), branch_and_bound(problem_on(expected)))


@pytest.mark.parametrize(("n_parts", "weighted"), [(1, True), (2, False), (7, True)])
def test_sums(client, n_parts, weighted):
    random = np.random.default_rng(4)
    weights = random.integers(1, 9, N) / 8 if weighted else None
    with client.as_current():
        rows = on_workers(n_parts, weights).rows
    reference = MemoryRows([TrainingData(X, Y, weights).rows])
    assert (rows.n_parts, rows.n_samples, rows.n_counted) == (n_parts, N, N)
    assert rows.class_weights == pytest.approx(reference.class_weights, rel=1e-15)
    np.testing.assert_array_equal(rows.feature_min, X.min(axis=0))
    np.testing.assert_array_equal(rows.feature_max, X.max(axis=0))
    points = np.array([[1, 2, -1, 0, 0], [0, 1, 1, -2, 0]])
    np.testing.assert_array_equal(
        rows.histogram(points, -20, 60), reference.histogram(points, -20, 60)
    )
    points = random.normal(size=(3, 5))
    for found, wanted in zip(
        rows.values_and_gradients(points, 1.5),
        reference.values_and_gradients(points, 1.5),
        strict=True,
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-15)
    sample, wanted = rows.sample(100, 3), reference.sample(100, 3)
    np.testing.assert_array_equal(sample.integer_columns, wanted.integer_columns)
    np.testing.assert_array_equal(sample.labels, wanted.labels)


def test_certificate(client, expected):
    with client.as_current():
        check_same(branch_and_bound(problem_on(on_workers())), expected)


@pytest.mark.slow
def test_certificate_by_relaxations_on_a_sample(client, expected, monkeypatch):
    """Rows that have no room in this process, and columns of many values."""
    monkeypatch.setattr(parts, "MERGED_SHARE", 0.0)
    monkeypatch.setattr(parts, "MOST_CELLS", 8)
    settings = TunedSettings(sample_rows=200)
    with client.as_current():
        problem = problem_on(on_workers())
        check_same(branch_and_bound(problem, settings=settings, n_threads=2), expected)
        limited = branch_and_bound(problem, settings=settings, node_limit=1)
    assert limited.certificate.lower_bound <= expected.certificate.objective


def test_a_pass_is_stopped(client):
    with client.as_current():
        rows = on_workers().rows
    asked = iter([False, False, True])
    stopped = rows.used_by(1, lambda: next(asked, True))
    with pytest.raises(StoppedError):
        stopped.values(np.zeros((1, 5)), 1.0)
    assert rows.values(np.zeros((1, 5)), 1.0) == pytest.approx(np.log(2))


def test_rows_are_copied_but_not_pickled(client):
    with client.as_current():
        rows = on_workers().rows
    assert copy.copy(rows).n_parts == rows.n_parts
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(rows)


def test_errors_of_functions_are_those_of_the_function(client):
    with client.as_current():
        rows = on_workers().rows
    with pytest.raises(ZeroDivisionError):
        list(rows.map(_divided_by_zero))


def _divided_by_zero(part) -> float:
    return 1 / 0


def test_lost_parts_are_computed_again(client, monkeypatch):
    monkeypatch.setattr(cluster_module, "_CALM_SECONDS", 0.01)
    with client.as_current():
        rows = on_workers().rows
    before = rows.values(np.ones((1, 5)), 1.0)
    client.cancel(rows._parts[1:3])
    assert rows.values(np.ones((1, 5)), 1.0) == before
    # While tasks that need them are waited for.
    submit, lost = rows.cluster.submit, []

    def losing(*arguments):
        future = submit(*arguments)
        if not lost:
            lost.append(future)
            client.cancel([future, rows._parts[0]])
        return future

    monkeypatch.setattr(rows.cluster, "submit", losing)
    assert rows.values(np.ones((1, 5)), 1.0) == before
    assert lost[0].cancelled()


def test_what_is_lost_again_and_again_is_given_up(client, monkeypatch):
    monkeypatch.setattr(cluster_module, "_CALM_SECONDS", 0.01)
    with client.as_current():
        rows = on_workers().rows
    submit, handed_out = rows.cluster.submit, []

    def losing(*arguments):
        future = submit(*arguments)
        client.cancel([future])
        handed_out.append(arguments[1])
        return future

    monkeypatch.setattr(rows.cluster, "submit", losing)
    with pytest.raises(RowsLostError, match=f"was lost {RETRIES + 1} times") as raised:
        next(rows.map(_divided_by_zero, each=[(), None, None, None]))
    assert len(handed_out) == RETRIES + 1
    assert raised.value.coef is None
    assert "best score" not in str(raised.value)


def _kill_one(cluster) -> None:
    worker = next(iter(cluster.workers.values()))
    psutil.Process(worker.pid).kill()


def _once(ready, action) -> None:
    """Do something the first time."""
    if not ready:
        ready.append(True)
        action()


@pytest.mark.slow
def test_a_worker_dies_while_rows_are_read_and_while_they_are_searched(processes, expected):
    read: list[bool] = []

    def progress(state) -> None:
        if state.step == 2:
            _once(read, partial(_kill_one, processes))

    data = on_workers(progress=progress)
    assert read
    searched: list[bool] = []
    found = branch_and_bound(
        problem_on(data), progress=lambda _: _once(searched, partial(_kill_one, processes))
    )
    assert searched
    check_same(found, expected)


def _fatal_at_first(rows, path):
    """Kill the worker process that is the first one to get here."""
    with path.open("a") as runs:
        runs.write("run\n")
    if path.read_text() == "run\n":
        os._exit(1)
    return rows


@pytest.mark.slow
def test_rows_with_which_a_worker_died_are_read_again(processes, tmp_path):
    """The scheduler keeps the failure of the task, and says it again to who asks again."""
    path = tmp_path / "runs"
    X_parts, y_parts = (da.from_array(values, chunks=N // 2) for values in (X, Y))
    X_parts = X_parts.map_blocks(_fatal_at_first, path, dtype=float, meta=np.empty((0, 0)))
    data = read(X_parts, y_parts, memory_limit=1)
    assert data.rows.n_samples == N
    assert len(path.read_text().split()) >= 3


def test_parts_are_computed_again_from_what_was_persisted(client):
    persisted = client.persist(da.from_array(X, chunks=(N // 2, 4)))
    with client.as_current():
        rows = read(persisted, da.from_array(Y, chunks=N // 2), memory_limit=1).rows
    before = rows.values(np.ones((1, 5)), 1.0)
    key = rows._parts[0].key
    client.cancel(rows._parts)
    assert rows.values(np.ones((1, 5)), 1.0) == before
    assert rows._parts[0].key != key


@pytest.mark.slow
def test_a_part_with_which_a_worker_died_is_computed_again(processes, tmp_path):
    path = tmp_path / "runs"
    cluster = cluster_module.Cluster(cluster_module.current_client())
    recipe = dask.delayed(_fatal_at_first, pure=False)(dask.delayed(int)(5), path)
    (part,) = cluster.compute([recipe])
    # What needs the part keeps the failure where it is, whoever lets go of the part itself.
    needs_it = cluster.submit(abs, part)
    distributed.wait([needs_it])
    assert part.status == needs_it.status == "error"
    assert cluster.compute_again(recipe).result() == 5
    assert len(path.read_text().split()) == 2


@pytest.mark.slow
def test_a_cluster_goes_and_the_best_score_stays(processes, expected):
    data = on_workers()
    problem = problem_on(data)
    gone: list[bool] = []

    def progress(record) -> None:
        if np.isfinite(record.upper_bound):
            _once(gone, processes.close)

    with pytest.raises(RowsLostError, match="the Dask cluster that holds the rows is gone") as lost:
        branch_and_bound(problem, progress=progress)
    error = lost.value
    assert error.coef is not None
    assert error.objective == pytest.approx(problem_on(IN_MEMORY).objective(error.coef), abs=1e-13)
    assert error.lower_bound <= expected.certificate.objective <= error.objective + 1e-13
    assert str(error.coef.tolist()) in str(error)
    with pytest.raises(RowsLostError, match="is gone"):
        data.rows.values(np.zeros((1, 5)), 1.0)
