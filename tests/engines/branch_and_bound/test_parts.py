"""Branch and bound on rows in parts, against rows in memory."""

from __future__ import annotations

import itertools
import pickle
import threading
import time

import numpy as np
import pytest

from partitions import in_parts, on_disk, partitions, random_data, rows_of
from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    LogisticLoss,
    RiskScoreProblem,
    Status,
    TrainingData,
    branch_and_bound,
    lattice_cpa,
)
from riskslim.engines.branch_and_bound import search_rows as parts
from riskslim.engines.branch_and_bound.enumeration_items import EnumerationItems, plane_counts
from riskslim.engines.branch_and_bound.search_rows import prepare
from riskslim.engines.settings import TunedSettings
from riskslim.exceptions import RiskSLIMError
from riskslim.heuristics.problem_items import packed_items
from riskslim.rows.base import PartitionedRows
from riskslim.rows.block_files import BlockFileError

# What may be in memory: distinct rows; rows of nodes with few features; hardly anything.
ROOM = {
    "whole": {},
    "nodes": {"MERGED_SHARE": 0.0, "SAMPLE_ROWS": 20},
    "tables": {"MERGED_SHARE": 0.0, "SAMPLE_ROWS": 20, "MOST_CELLS": 8, "PLANES_SHARE": 0.0},
}


@pytest.fixture(params=ROOM)
def room(request, monkeypatch):
    for name, value in ROOM[request.param].items():
        monkeypatch.setattr(parts, name, value)
    return request.param


@pytest.fixture
def points_asked(monkeypatch):
    """Numbers of points of the passes over all parts."""
    made, original = [], PartitionedRows.linearisations

    def counted(self, points, wanted):
        made.append(len(points))
        return original(self, points, wanted)

    monkeypatch.setattr(PartitionedRows, "linearisations", counted)
    return made


@pytest.mark.parametrize("kind", ["zero_one", "integers", "mixed"])
def test_the_certificate_is_that_of_rows_in_memory(kind, room):
    weighted = (len(kind) + len(room)) % 2 > 0
    data = random_data(9, kind=kind, weighted=weighted, n=150, d=6)
    coefficients = CoefficientSet(data.feature_names, -2, 2)
    problem = RiskScoreProblem(data, coefficients, max_size=2)
    expected = branch_and_bound(problem).certificate
    for merged in (False, True):
        # Each fifth of them, others each time: all kinds of parts come in turn.
        turn = (merged + 2 * weighted + list(ROOM).index(room) + len(kind)) % 5
        for rows in partitions(rows_of(data, merged=merged), slice(turn, None, 5)):
            other = problem.restated(TrainingData.from_rows(rows, feature_names=data.feature_names))
            solution = branch_and_bound(other)
            found = solution.certificate
            assert found.objective == pytest.approx(expected.objective, rel=1e-14)
            if not weighted and kind != "mixed":
                assert found.objective == expected.objective
            assert found.status is Status.OPTIMAL
            assert other.remarks(solution.coef) == problem.remarks(solution.coef)


@pytest.mark.parametrize("kind", ["zero_one", "integers", "mixed"])
def test_lists_by_items_are_those_of_rows_in_memory(kind, room):
    data = random_data(9, kind=kind, n=150, d=6)
    coefficients = CoefficientSet(data.feature_names, -2, 2)
    problem = RiskScoreProblem(data, coefficients, max_size=2)
    expected = branch_and_bound(problem, within=0.05, distinct="items").pool
    turn = (list(ROOM).index(room) + len(kind)) % 5
    for rows in partitions(rows_of(data, merged=False), slice(turn, None, 5)):
        other = problem.restated(TrainingData.from_rows(rows, feature_names=data.feature_names))
        found = branch_and_bound(other, within=0.05, distinct="items").pool
        assert found.complete
        assert found.objectives == pytest.approx(expected.objectives, abs=1e-9)
        sets = ({tuple(coef[1:] != 0) for coef in pool.coefficients} for pool in (found, expected))
        assert next(sets) == next(sets)


def tables_of(data, rows=None):
    other = data if rows is None else TrainingData.from_rows(rows)
    loss = LogisticLoss(
        other, CoefficientSet(other.feature_names, -2, 2), compress=False, max_size=2
    )
    planes = plane_counts(loss)
    return planes, EnumerationItems.of(loss, np.flatnonzero(planes))


@pytest.mark.parametrize("weights", ["none", "few", "many", "thirds"])
@pytest.mark.parametrize("kind", ["zero_one", "integers", "mixed"])
def test_items_of_tables_are_the_same(kind, weights, monkeypatch):
    data = random_data(3, kind=kind, n=200)
    rng = np.random.default_rng(1)
    drawn_weights = {
        "few": rng.choice([0.0, 0.5, 1.0, 2.25], 200),
        "many": rng.exponential(size=200),
        "thirds": rng.choice([1 / 3, 2 / 3, 5.0], 200),
    }
    if weights != "none":
        data = data.reweighted(drawn_weights[weights])
    planes, expected = tables_of(data)
    for rows in partitions(data.rows):
        again, found = tables_of(data, rows)
        np.testing.assert_array_equal(again, planes)
        for name in ("features", "first", "n_rows", "side", "shifts", "words", "value"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
        np.testing.assert_allclose(found.unit, expected.unit, rtol=3e-10)
        assert (found.unit <= expected.unit * (1 + 1e-15)).all()


def test_more_weights_than_are_told_apart(monkeypatch):
    """Weights are then rounded down to multiples of a step: they stay lower bounds."""
    from riskslim.rows import bit_planes as planes

    monkeypatch.setattr(planes, "_MOST_WEIGHTS", 10)
    data = random_data(3, kind="zero_one", n=500)
    data = data.reweighted(np.random.default_rng(1).exponential(size=500))
    for rows in partitions(data.rows, slice(1, 4)):
        _, items = tables_of(data, rows)
        for side in (0, 1):
            own = items.side == side
            total = (items.unit[side] * 2.0 ** items.shifts[own] * items.n_rows[own]).sum()
            share = data.class_weights[side] / data.total_weight
            assert 0.99 * share < total <= share
        coefficients = CoefficientSet(data.feature_names, -2, 2)
        problem = RiskScoreProblem(TrainingData.from_rows(rows), coefficients, max_size=2)
        found = branch_and_bound(problem).certificate
        expected = branch_and_bound(RiskScoreProblem(data, coefficients, max_size=2))
        assert found.objective == pytest.approx(expected.certificate.objective, rel=1e-13)


# ---- limits, and what is refused ---------------------------------------------------------------


def hard_problem(n_parts=20):
    """Many features of many values: neither tables nor merged rows. 0 parts: in memory."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 11, (2000, 12))
    y = rng.random(2000) < 1 / (1 + np.exp(-(X - 5) @ rng.normal(size=12)))
    data = TrainingData(X, y)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    other = TrainingData.from_rows(in_parts(data.rows, n_parts)) if n_parts else data
    return RiskScoreProblem(other, coefficients, max_size=5)


def test_columns_of_many_values_are_solved(monkeypatch, points_asked):
    """Neither tables nor rows of nodes: relaxations on a sample, and passes over all parts."""
    monkeypatch.setattr(parts, "MERGED_SHARE", 0.0)
    monkeypatch.setattr(parts, "MOST_CELLS", 8)
    expected = branch_and_bound(hard_problem(0)).certificate
    problem = hard_problem()
    for n_threads, batch_size in ((1, 16), (2, 16), (1, 1)):
        settings = TunedSettings(sample_rows=200, batch_size=batch_size)
        found = branch_and_bound(problem, settings=settings, n_threads=n_threads).certificate
        assert found.status is expected.status is Status.OPTIMAL
        assert found.objective == expected.objective
        assert max(points_asked) > 3 if batch_size > 1 else max(points_asked) <= 3
        points_asked.clear()


def test_limits_are_obeyed(monkeypatch):
    monkeypatch.setattr(parts, "MERGED_SHARE", 0.0)
    problem = hard_problem()
    passes = type(problem.loss.store).map
    seen = []

    def slow(self, *arguments, **options):
        for part in passes(self, *arguments, **options):
            time.sleep(0.01 if seen else 0.0)  # once there is a score
            yield part

    monkeypatch.setattr(type(problem.loss.store), "map", slow)
    solution = branch_and_bound(problem, time_limit=1.0, progress=seen.append)
    assert solution.certificate.status is Status.FEASIBLE
    assert solution.certificate.lower_bound < solution.certificate.objective
    seen.clear()
    with pytest.raises(RiskSLIMError, match="time limit reached before"):
        branch_and_bound(problem, time_limit=1e-3)
    asked = threading.Event()
    asked.set()
    with pytest.raises(RiskSLIMError, match="interrupted by the user before"):
        branch_and_bound(problem, should_stop=asked.is_set)


def test_files_that_are_lost_leave_the_best_score(monkeypatch):
    monkeypatch.setattr(parts, "MERGED_SHARE", 0.0)
    problem = hard_problem(0)
    held = on_disk(problem.loss.data.rows, 500)
    lost = problem.restated(TrainingData.from_rows(held))
    with pytest.raises(
        BlockFileError, match=r"000001\.rows is missing.*best score so far"
    ) as error:
        branch_and_bound(lost, progress=lambda _: held.paths[1].unlink(missing_ok=True))
    found = error.value
    assert problem.objective(found.coef) == pytest.approx(found.objective, rel=1e-12)
    assert 0.0 <= found.lower_bound <= branch_and_bound(problem).certificate.objective + 1e-10
    assert isinstance(pickle.loads(pickle.dumps(found)), BlockFileError)


def test_an_interrupted_search_keeps_its_score(monkeypatch):
    monkeypatch.setattr(parts, "MERGED_SHARE", 0.0)
    problem = hard_problem()
    seen, asked = [], threading.Event()

    def progress(record):
        seen.append(record)
        asked.wait(10)  # until it was asked whether to stop

    def should_stop():
        if seen:
            asked.set()
        return bool(seen)

    solution = branch_and_bound(problem, progress=progress, should_stop=should_stop)
    certificate = solution.certificate
    assert certificate.status is Status.INTERRUPTED
    assert certificate.lower_bound < certificate.objective
    assert problem.loss.should_stop is None


def test_packed_items_go_into_a_file_where_memory_is_short(monkeypatch):
    monkeypatch.setattr(parts, "PLANES_SHARE", 0.0)
    data = random_data(1, kind="zero_one", n=900)
    coefficients = CoefficientSet(data.feature_names, -2, 2)
    problem = RiskScoreProblem(
        TrainingData.from_rows(in_parts(data.rows, 3)),
        coefficients,
    )
    prepare(problem, 1e9)
    assert isinstance(problem.loss.packed.planes, np.memmap)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_nodes_have_the_weights_of_all(weighted):
    """Of every set of features, none included: weights are no numbers of rows."""
    data = random_data(1, kind="zero_one", weighted=weighted, d=4)
    coefficients = CoefficientSet(data.feature_names, -2, 2)
    held = TrainingData.from_rows(in_parts(data.rows, 3))
    problem = RiskScoreProblem(held, coefficients)
    held = prepare(problem, 1e9)._replace(whole=None)
    rows = held.of_nodes(problem, TunedSettings(sample_rows=20), lambda: False)
    shares = np.array(data.class_weights) / data.total_weight
    for live in itertools.product([False, True], repeat=4):
        box = np.zeros((2, 5))
        box[1, 1:] = live
        found, _ = rows.at(box, b"")
        assert found.negative.sum() == pytest.approx(shares[0], rel=1e-14)
        assert found.positive.sum() == pytest.approx(shares[1], rel=1e-14)


def test_other_engines_refuse_rows_in_parts():
    with pytest.raises(ValueError, match=r"lattice_cpa needs the rows.*branch_and_bound"):
        lattice_cpa(hard_problem())


def test_settings_without_tables(monkeypatch):
    monkeypatch.setattr(parts, "MERGED_SHARE", 0.0)
    monkeypatch.setattr(parts, "MOST_CELLS", 8)
    data = random_data(1, kind="zero_one", n=900)
    coefficients = CoefficientSet(data.feature_names, -2, 2)
    problem = RiskScoreProblem(
        TrainingData.from_rows(in_parts(data.rows, 3)),
        coefficients,
        max_size=3,
    )
    settings = BranchAndBoundSettings(tables="never")
    without, found = branch_and_bound(problem, settings=settings), branch_and_bound(problem)
    assert without.certificate.status is found.certificate.status is Status.OPTIMAL
    assert without.certificate.objective == found.certificate.objective
    assert without.statistics.table_nodes == 0


@pytest.mark.parametrize("scale", [0.487, [0.487, 2.0], (0.487, 0.487)])
def test_scales_whose_inverse_has_another_inverse(scale, monkeypatch):
    monkeypatch.setattr(parts, "MERGED_SHARE", 0.0)
    rng = np.random.default_rng(0)
    data = TrainingData(rng.integers(0, 2, (50, 3)), rng.random(50) < 0.5)
    held = TrainingData.from_rows(in_parts(data.rows, 2))
    certificates = []
    for rows in (data, held):
        coefficients = CoefficientSet(rows.feature_names, -2, 2)
        problem = RiskScoreProblem(rows, coefficients, max_size=2, scale=scale)
        certificates.append(branch_and_bound(problem).certificate)
    assert certificates[0].status is certificates[1].status is Status.OPTIMAL
    assert certificates[0].objective == certificates[1].objective


def test_items_of_a_sample_are_those_of_its_rows(monkeypatch):
    """Not those of all rows, which are packed by then: heuristics would read these."""
    monkeypatch.setattr(parts, "SAMPLE_ROWS", 100)
    data = random_data(1, kind="zero_one", n=900)
    coefficients = CoefficientSet(data.feature_names, -2, 2)
    problem = RiskScoreProblem(
        TrainingData.from_rows(in_parts(data.rows, 3)), coefficients, max_size=3
    )
    near = prepare(problem, 1e9).near(problem)
    n_rows = [packed_items(one, lambda: False).n_rows.sum() for one in (near, problem)]
    assert n_rows == [100, 900]


def test_a_sample_of_rows_without_weight(monkeypatch):
    monkeypatch.setattr(parts, "MERGED_SHARE", 0.0)
    monkeypatch.setattr(parts, "SAMPLE_ROWS", 2)
    rng = np.random.default_rng(3)
    y, weights = rng.random(400) < 0.5, np.zeros(400)
    weights[:40] = 1.5
    data = TrainingData(rng.integers(0, 2, (400, 3)), y, weights)
    held = TrainingData.from_rows(in_parts(data.rows, 5))
    objectives = []
    for rows in (data, held):
        coefficients = CoefficientSet(rows.feature_names, -2, 2)
        problem = RiskScoreProblem(rows, coefficients, max_size=2)
        objectives.append(branch_and_bound(problem).certificate.objective)
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-12)
