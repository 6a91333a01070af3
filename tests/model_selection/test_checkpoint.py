"""Paths of sizes that go on where they were."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pytest

from paths import HELPERS, PACKAGE
from problems import make_problem
from riskslim import RiskSLIMClassifier, model_size_path
from riskslim.engines import checkpoint as module


@pytest.fixture
def problem():
    return make_problem(seed=8, n=240, d=7, max_size=3)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "path.checkpoint"


def described(path):
    return [
        (
            entry.max_size,
            entry.solution.coef.tolist(),
            entry.solution.certificate,
            [fold.model for fold in entry.cross_validation.folds],
            entry.cross_validation.values("loss").tolist(),
        )
        for entry in path.entries
    ]


def kept_in(file):
    with closing(sqlite3.connect(file)) as database:
        return {key.rpartition(" ")[0] for (key,) in database.execute("SELECT key FROM searches")}


@pytest.mark.slow
def test_a_path_that_was_broken_off_goes_on(problem, file, monkeypatch):
    expected = described(model_size_path(problem, cv=3))
    original, done = module.solve, []

    def solve(*given, **arguments):
        if len(done) == limit:
            raise KeyboardInterrupt
        done.append(given)
        return original(*given, **arguments)

    monkeypatch.setattr(module, "solve", solve)
    for limit in (2, 5, 9, 11):  # searches in all, of 12
        broken = model_size_path(problem, cv=3, checkpoint=file)
        assert not broken.is_complete
        assert len(kept_in(file)) == limit
    limit = -1
    path = model_size_path(problem, cv=3, checkpoint=file)
    assert path.is_complete
    assert described(path) == expected
    assert len(done) == 12
    assert kept_in(file) == {
        f"{rows}, size {size}" for rows in ("all rows", "fold 0", "fold 1", "fold 2")
        for size in (1, 2, 3)
    }  # fmt: skip
    assert described(model_size_path(problem, cv=3, checkpoint=file)) == expected
    assert len(done) == 12


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"cv": 4}, r"\(number of folds is 4, kept: 3\)"),
        ({"sizes": 2}, "sizes is 1, 2, kept: 1"),
        ({"random_state": 1}, r"\(other rows of the folds \(cv, random_state\)\)"),
        ({"gap_tolerance": 0.2}, r"\(gap_tolerance is 0.2, kept: not stated\)"),
        ({"cv": None}, "number of folds is 0, kept: 3"),
    ],
)
def test_what_differs_is_refused(problem, file, change, named):
    arguments = {"cv": 3, "sizes": 1, "checkpoint": file}
    model_size_path(problem, **arguments)
    with pytest.raises(ValueError, match=f"checkpoint of other data or settings .*{named}"):
        model_size_path(problem, **{**arguments, **change})


def test_other_data_are_refused(file):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (60, 4)), np.arange(60) % 3 == 0
    model_size_path(RiskSLIMClassifier(), X, y, sizes=1, checkpoint=file)
    X[7, 2] ^= 1
    with pytest.raises(
        ValueError, match=r"checkpoint of other data or settings \(values of 'x3'\)"
    ):
        model_size_path(RiskSLIMClassifier(), X, y, sizes=1, checkpoint=file)


@pytest.mark.slow
def test_several_processes_write_to_one_file(problem, file):
    expected = described(model_size_path(problem, cv=4))
    assert described(model_size_path(problem, cv=4, n_jobs=2, checkpoint=file)) == expected
    assert len(kept_in(file)) == 15


KILLED = """
import sys, time
from problems import make_problem
from riskslim import model_size_path
from riskslim.engines import checkpoint

original = checkpoint.Checkpoint._write
def write(self, *arguments):
    is_kept = original(self, *arguments)
    print("kept", flush=True)
    time.sleep(0.2)
    return is_kept
checkpoint.Checkpoint._write = write
problem = make_problem(seed=8, n=240, d=7, max_size=3)
model_size_path(problem, cv=3, checkpoint=sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.faults
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing is killed like this here")
@pytest.mark.parametrize("after", [1, 7])
def test_a_killed_run_loses_one_search_at_most(problem, file, after):
    command = [sys.executable, "-c", KILLED, str(file)]
    home = PACKAGE.parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(home), str(HELPERS)))}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, cwd=home) as process:
        for _ in range(after):
            assert process.stdout.readline() == b"kept\n"
        time.sleep(0.01 * after)
        process.kill()
    assert len(kept_in(file)) >= after
    path = model_size_path(problem, cv=3, checkpoint=file)
    assert described(path) == described(model_size_path(problem, cv=3))


@pytest.mark.slow
def test_a_checkpoint_that_fails_costs_no_path(problem, file, monkeypatch, caplog):
    expected = described(model_size_path(problem, cv=3))
    original = module.solve

    def solve(*given, **arguments):
        file.write_bytes(b"nothing that SQLite knows" * 400)
        return original(*given, **arguments)

    monkeypatch.setattr(module, "solve", solve)
    path = model_size_path(problem, cv=3, checkpoint=file)
    assert path.is_complete
    assert described(path) == expected
    assert f"checkpoint {file}: file is not a database" in path.checkpoint_failure
    assert path.checkpoint_failure in caplog.text
    assert model_size_path(problem, sizes=1).checkpoint_failure == ""
