"""--checkpoint: runs of the command line that go on where they were."""

from __future__ import annotations

import csv
import functools
import re
from pathlib import Path

import numpy as np
import pytest

from command_line import run as run_command
from riskslim import RiskScore
from riskslim.cli.exit_codes import EXIT_OUTPUT, EXIT_USAGE
from riskslim.engines import checkpoint as module


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (150, 5))
    y = rng.random(150) < 0.2 + 0.4 * X[:, 0] * X[:, 1]
    with (tmp_path / "data.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["y", *"abcde"])
        writer.writerows(np.column_stack([y.astype(int), X]).tolist())

    return functools.partial(run_command, "fit", "data.csv", "--outcome", "y")


@pytest.fixture
def searches(monkeypatch):
    done = []
    original = module.solve

    def solve(*given, **arguments):
        done.append(given)
        return original(*given, **arguments)

    monkeypatch.setattr(module, "solve", solve)
    return done


@pytest.mark.parametrize("more", [[], ["--path", "--cv", "3"]], ids=["one", "path"])
def test_a_finished_run_is_found_again(run, searches, more):
    options = ["--max-size", 2, *more, "--checkpoint", "c.db"]
    run(*options, "--output", "first.json")
    n_done = len(searches)
    assert n_done == (8 if more else 1)
    run(*options, "--output", "again.json")
    assert len(searches) == n_done
    assert RiskScore.load("again.json") == RiskScore.load("first.json")
    other = run("--max-size", 3, *more, "--checkpoint", "c.db", code=EXIT_USAGE)
    named = "sizes is 1, 2, 3, kept: 1, 2" if more else "--max-size is 3, kept: 2"
    assert f"c.db is the checkpoint of other data or settings ({named}):" in other.stderr


def test_a_path_and_one_search_are_told_apart(run):
    one = ["--max-size", 2]
    path = [*one, "--path", "--cv", "3"]
    run(*one, "--checkpoint", "one.db")
    run(*path, "--checkpoint", "path.db")
    refused = run(*path, "--checkpoint", "one.db", code=EXIT_USAGE).stderr
    assert "(search is a path of sizes, kept: one score):" in refused
    refused = run(*one, "--checkpoint", "path.db", code=EXIT_USAGE).stderr
    assert "(search is one score, kept: a path of sizes):" in refused
    weighted = run(*one, "--class-weight", "balanced", "--checkpoint", "one.db", code=EXIT_USAGE)
    assert "(--class-weight (a row with the outcome to one without) is " in weighted.stderr
    assert "weights of rows" not in weighted.stderr


def test_one_search_goes_on_with_other_limits(run, searches):
    options = ["--max-size", 2, "--checkpoint", "c.db"]
    run(*options, "--node-limit", 1, "--gap-tolerance", 0, "--output", "first.json")
    again = run(*options, "--time-limit", 30, "--gap-tolerance", 0, "--output", "again.json")
    assert "c.db has a score with lower bound 0." in again.stderr
    assert "c.db" not in run(*options, "--gap-tolerance", 0, "--quiet").stderr
    bounds = [RiskScore.load(name).certificate.lower_bound for name in ("first.json", "again.json")]
    assert bounds[0] <= bounds[1]
    refused = run(*options, "--gap-tolerance", 0.1, "--checkpoint", "c.db", code=EXIT_USAGE)
    assert "--gap-tolerance is 0.1, kept: 0" in refused.stderr


def test_what_is_refused(run):
    several = run("--n-solutions", 3, "--checkpoint", "c.db", code=EXIT_USAGE)
    assert "leave out --n-solutions and --within" in several.stderr
    for clash in ("data.csv", "out.json"):
        same = run("--output", "out.json", "--checkpoint", clash, code=EXIT_USAGE)
        assert clash in same.stderr
    missing = run("--checkpoint", "nowhere/c.db", code=EXIT_USAGE)
    assert "nowhere" in missing.stderr


@pytest.mark.slow
@pytest.mark.parametrize("more", [[], ["--path", "--cv", "3"]], ids=["one", "path"])
@pytest.mark.parametrize("output", [[], ["--output", "s.json"]], ids=["printed", "saved"])
def test_a_checkpoint_that_fails_costs_no_score(run, monkeypatch, more, output):
    options = ["--max-size", 2, *more, "--quiet", *output]
    expected = run(*options).stdout
    original = module.solve

    def solve(*given, **arguments):
        Path("c.db").write_bytes(b"nothing that SQLite knows" * 400)
        return original(*given, **arguments)

    monkeypatch.setattr(module, "solve", solve)
    result = run(*options, "--checkpoint", "c.db", code=EXIT_OUTPUT)
    assert without_seconds(result.stdout) == without_seconds(expected)
    assert "Error: checkpoint c.db: file is not a database (what was found is not" in result.stderr
    assert "fault of riskslim" not in result.stderr
    if output:
        assert RiskScore.load("s.json").certificate.is_optimal


def without_seconds(text):
    return re.sub(r"after [0-9.]+ seconds", "", text)
