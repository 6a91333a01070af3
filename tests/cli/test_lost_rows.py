"""Scratch files that are gone in the middle of a run: what was found before is delivered."""

from __future__ import annotations

import errno
import math
import os
from pathlib import Path

import numpy as np
import pytest

from command_line import run
from riskslim import RiskScore
from riskslim.cli import fit as fit_module
from riskslim.cli.exit_codes import EXIT_INTERRUPTED, EXIT_OUTPUT, EXIT_USAGE
from riskslim.engines import checkpoint as checkpoint_module
from riskslim.model_selection import size_path as path_module
from riskslim.rows.disk import BlockWriter

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N = 20_000
FIT = ("fit", "rows.parquet", "--outcome", "y", "--max-size", 2, "--time-limit", 20,
       "--memory-limit", "1MB", "--scratch", "scratch")  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, 6))
    odds = X @ np.array([1.0, -0.7, 0.5, 0.3, 0.0, 0.2]) - 1.0
    columns = {f"x{j}": X[:, j] for j in range(6)}
    columns["y"] = (rng.random(N) < 1 / (1 + np.exp(-odds))).astype(int)
    pq.write_table(pa.table(columns), "rows.parquet")
    Path("scratch").mkdir()
    return tmp_path


def lose():
    files = list(Path("scratch").rglob("*.rows"))
    for file in files:
        file.unlink()
    return files


@pytest.fixture
def lost(monkeypatch):
    """Searches lose the rows as soon as there is a score, or after so many."""
    state = {"after": 0, "done": 0}

    def losing(original):
        def solve(problem, progress=None, **arguments):
            def step(record):
                if math.isfinite(record.upper_bound) and state["done"] >= state["after"]:
                    lose()

            solution = original(problem, progress=step, **arguments)
            state["done"] += 1
            return solution

        return solve

    for module in (fit_module, checkpoint_module, path_module):
        monkeypatch.setattr(module, "solve", losing(module.solve))
    return state


@pytest.mark.parametrize("scale", ["auto", "1", "1,2"])
@pytest.mark.parametrize("output", [[], ["--output", "s.json"]], ids=["printed", "saved"])
def test_the_best_score_goes_where_interrupted_ones_go(folder, lost, output, scale):
    result = run(*FIT, "--quiet", *output, "--scale", scale, code=EXIT_INTERRUPTED)
    assert "000000.rows is missing: rows were stored there. This ended the" in result.stderr
    assert "make room" not in result.stderr
    assert "has no certificate" in result.stderr
    assert "x1" in result.stdout
    if output:
        score = RiskScore.load("s.json")
        assert score.certificate is None
        assert len(score.points) <= 2
        assert str(score) in result.stdout


def test_the_next_run_goes_on_from_it(folder, lost):
    checkpoint = ("--checkpoint", "c.db", "--quiet", "--scale", "auto")
    run(*FIT, *checkpoint, "--output", "s.json", code=EXIT_INTERRUPTED)
    score = RiskScore.load("s.json")
    lost["after"] = 10**6
    result = run(*FIT, "--checkpoint", "c.db", "--scale", "auto", "--output", "again.json")
    assert "c.db has a score with lower bound 0." in result.stderr
    again = RiskScore.load("again.json")
    assert again.certificate.is_optimal
    assert len(score.points) <= len(again.points) == 2


def test_without_any_score_nothing_is_printed(folder, monkeypatch):
    original = fit_module.solve
    monkeypatch.setattr(fit_module, "solve", lambda *a, **k: lose() and original(*a, **k))
    result = run(*FIT, "--quiet", code=EXIT_USAGE)
    assert result.stdout == ""
    assert "000000.rows is missing: rows were stored there" in result.stderr


def test_rows_that_are_lost_after_the_search_cost_remarks_and_the_report(folder, monkeypatch):
    original = fit_module.solve

    def solve(*given, **arguments):
        solution = original(*given, **arguments)
        lose()
        return solution

    monkeypatch.setattr(fit_module, "solve", solve)
    result = run(*FIT, "--output", "s.json", code=0)
    score = RiskScore.load("s.json")
    assert score.certificate is not None
    assert "000000.rows is missing" in result.stderr
    assert score.feature_ranges[next(iter(score.points))].minimum < 0
    monkeypatch.setattr(fit_module, "solve", solve)
    assert "r.html" in run(*FIT, "--report", "r.html", code=EXIT_OUTPUT).stderr


def test_finished_sizes_of_a_path_are_kept(folder, lost):
    lost["after"] = 1
    result = run(*FIT, "--path", "--output", "s.json", "--quiet", code=EXIT_INTERRUPTED)
    assert "000000.rows is missing: rows were stored there; what was fini" in result.stderr
    score = RiskScore.load("s.json")
    assert len(score.points) == 1
    assert score.certificate is not None


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.ENOENT, errno.EACCES])
def test_room_is_asked_for_where_room_is_what_lacks(folder, monkeypatch, number):
    def append(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(BlockWriter, "append", append)
    found = run(*FIT, "--quiet", code=EXIT_USAGE).stderr
    assert f"cannot be written ({os.strerror(number)})" in found
    assert ("make room" in found) == (number == errno.ENOSPC)
