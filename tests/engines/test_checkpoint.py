"""Checkpoints: searches that are found again, that go on, and files that are refused."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from problems import make_problem
from riskslim import (
    BranchAndBoundSettings,
    RiskScoreProblem,
    Status,
    TrainingData,
    branch_and_bound,
)
from riskslim.engines import checkpoint as module
from riskslim.engines.checkpoint import Checkpoint, fingerprint
from riskslim.exceptions import CertificateError


@pytest.fixture
def problem():
    return make_problem(seed=4, n=300, d=9, max_size=4)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "search.checkpoint"


@pytest.fixture
def calls(monkeypatch):
    """Arguments of the searches that are really done."""
    done = []

    def solve(problem, **arguments):
        done.append(arguments)
        return original(problem, **arguments)

    original = module.solve
    monkeypatch.setattr(module, "solve", solve)
    return done


def found(solution):
    certificate = solution.certificate
    return solution.coef.tolist(), dataclasses.replace(certificate, message="")


def test_a_finished_search_is_not_done_again(problem, file, calls):
    first = Checkpoint(file, "x").solve("a", problem)
    again = Checkpoint(file, "x").solve("a", problem)
    assert len(calls) == 1
    assert found(again) == found(first) == found(branch_and_bound(problem))
    assert list(again.trace) == list(first.trace)
    assert again.statistics == first.statistics
    assert again.certificate.message == first.certificate.message


@pytest.mark.parametrize("scale", [2.5, (0.5, 4.0), [1.0, 2.0]])
def test_scales_are_kept(file, calls, scale):
    base = make_problem(seed=5, n=120, d=4, max_size=2)
    coefficients = base.loss.given_coefficients
    problem = RiskScoreProblem(base.loss, coefficients, max_size=2, scale=scale)
    first = Checkpoint(file, "x").solve("a", problem)
    again = Checkpoint(file, "x").solve("a", problem)
    assert len(calls) == 1
    assert (again.scale, found(again)) == (first.scale, found(first))


def test_searches_that_differ_are_others(problem, file, calls):
    kept = Checkpoint(file, "x")
    kept.solve("a", problem)
    kept.solve("b", problem)
    kept.solve("a", problem.restated(max_size=3))
    kept.solve("a", problem, gap_tolerance=0.1)
    assert len(calls) == 4
    kept.solve("a", problem, n_threads=2)  # the result is the same
    assert len(calls) == 4


def test_a_search_that_a_limit_ended_goes_on(problem, file, calls):
    limits = {"node_limit": 1, "settings": BranchAndBoundSettings(tables="never")}
    stopped = Checkpoint(file, "x").solve("a", problem, goes_on=True, **limits)
    assert stopped.certificate.status is Status.FEASIBLE
    # Without being asked to go on it is finished: the limit was stated.
    assert found(Checkpoint(file, "x").solve("a", problem, **limits)) == found(stopped)
    assert len(calls) == 1
    again = Checkpoint(file, "x").solve("a", problem, goes_on=True, **limits)
    assert len(calls) == 2
    assert problem.objective(calls[1]["start"]) == stopped.certificate.objective
    assert again.certificate.objective <= stopped.certificate.objective
    assert again.certificate.lower_bound >= stopped.certificate.lower_bound


def test_a_better_bound_of_before_is_stated(problem, file):
    limits = {"node_limit": 1, "settings": BranchAndBoundSettings(tables="never")}
    optimum = branch_and_bound(problem).certificate.objective
    stopped = Checkpoint(file, "x").solve("a", problem, **limits)
    bound = (optimum + stopped.certificate.lower_bound) / 2
    _change(file, lambda content: {**content, "lower_bound": bound}, sealed=True)
    again = Checkpoint(file, "x").solve("a", problem, goes_on=True, **limits).certificate
    assert again.lower_bound >= bound
    assert again.lower_bound <= optimum + 1e-12


def test_an_interrupted_search_is_not_finished(problem, file, calls):
    settings = BranchAndBoundSettings(tables="never")
    first = Checkpoint(file, "x").solve("a", problem, settings=settings, should_stop=lambda: True)
    assert first.is_interrupted
    again = Checkpoint(file, "x").solve("a", problem, settings=settings)
    assert len(calls) == 2
    assert again.certificate.is_optimal


def test_lists_are_not_kept(problem, file, calls):
    for _ in range(2):
        assert len(Checkpoint(file, "x").solve("a", problem, n_solutions=3).pool) == 3
    assert len(calls) == 2


def _change(file, change, *, sealed):
    with closing(sqlite3.connect(file)) as database, database:
        key, text = database.execute("SELECT key, content FROM searches").fetchone()
        text = json.dumps(change(json.loads(text)))
        digest = module._digest(key + text) if sealed else "0"
        database.execute("UPDATE searches SET content = ?, digest = ?", (text, digest))


def test_what_was_changed_is_refused(problem, file):
    Checkpoint(file, "x").solve("a", problem)
    _change(file, lambda content: {**content, "lower_bound": 0.1}, sealed=False)
    with pytest.raises(ValueError, match=r"search\.checkpoint is damaged"):
        Checkpoint(file, "x").solve("a", problem)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lower_bound": 99.0}, "claims a lower bound of 99.0, above the objective"),
        ({"coef": [0] + [9] * 9}, "an infeasible vector"),
        ({"scale": 3.0}, "returned the scale 3.0"),
    ],
)
def test_nothing_false_is_certified(problem, file, change, message):
    Checkpoint(file, "x").solve("a", problem)
    _change(file, lambda content: {**content, **change}, sealed=True)
    with pytest.raises(CertificateError, match=message):
        Checkpoint(file, "x").solve("a", problem)


def test_files_that_are_refused(file, tmp_path):
    Checkpoint(file, "one")
    with pytest.raises(ValueError, match="checkpoint of other data or settings: name another"):
        Checkpoint(file, "another")
    (tmp_path / "score.json").write_text("{}" * 1000)
    with pytest.raises(ValueError, match=r"score\.json is no checkpoint of riskslim"):
        Checkpoint(tmp_path / "score.json", "one")
    assert (tmp_path / "score.json").read_text() == "{}" * 1000
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere"):
        Checkpoint(tmp_path / "nowhere" / "x", "one")
    with pytest.raises(OSError, match=str(tmp_path)):
        Checkpoint(tmp_path, "one")
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE about SET format = 'of next year'")
    with pytest.raises(ValueError, match="no checkpoint that this version reads"):
        Checkpoint(file, "one")


def test_the_fingerprint_is_about_all_rows_and_settings(problem):
    data = problem.loss.data
    base = fingerprint(problem, {})
    assert base == fingerprint(problem.restated(), {"n_threads": 4, "progress": print})
    X = np.column_stack([data.column(j) for j in range(data.n_features)])
    order = np.random.default_rng(0).permutation(len(X))

    def of(X, y):
        return fingerprint(
            problem.restated(TrainingData(X, y, feature_names=data.feature_names)), {}
        )

    assert of(X[order], data.labels[order]) == of(X, data.labels)
    changed = X.copy()
    changed[17, 3] = 1 - changed[17, 3]
    assert of(changed, data.labels) != of(X, data.labels)
    flipped = data.labels.copy()
    flipped[5] *= -1
    assert of(X, flipped) != of(X, data.labels)
    others = [
        fingerprint(problem, {"time_limit": 3}), fingerprint(problem.restated(max_size=2), {})
    ]  # fmt: skip
    assert len({base, *others}) == 3
