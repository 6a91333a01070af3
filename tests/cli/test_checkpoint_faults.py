"""Checkpoints that are locked, gone or changed: a score is found all the same."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from command_line import invoke, run
from fault_rounds import ROUNDS, seed_of
from riskslim import RiskScore
from riskslim.cli.exit_codes import EXIT_OUTPUT, EXIT_USAGE
from riskslim.engines import checkpoint as module

pytestmark = pytest.mark.faults
KINDS = {
    "one": ["--max-size", 3],
    "path": ["--max-size", 2, "--path", "--cv", 3],
}


@pytest.fixture
def fit(tmp_path, monkeypatch):
    """Arguments of a fit, and what it prints without a checkpoint."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (200, 6))
    y = rng.random(200) < 0.2 + 0.5 * X[:, 0] * X[:, 1]
    rows = np.column_stack([X, y]).astype(int)
    np.savetxt("rows.csv", rows, fmt="%d", delimiter=",", header="a,b,c,d,e,f,y", comments="")
    return ["fit", tmp_path / "rows.csv", "--outcome", "y", "--quiet"]


def score_in(text: str) -> str:
    """A printed score, without what is said of the time."""
    return text[text.index("points") : text.rindex("Search")]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_bytes_that_were_changed(fit, kind):
    """Whatever is in the file: the score, or a sentence with its name."""
    arguments = [*fit, *KINDS[kind], "--checkpoint", "c.db"]
    expected = score_in(run(*arguments).stdout)
    whole = Path("c.db").read_bytes()
    rng = random.Random(seed_of(kind, 0))
    codes = []
    for k in range(25 * ROUNDS):
        octets = bytearray(whole)
        if k % 5 == 4:
            del octets[rng.randrange(len(octets)) :]
        for _ in range(rng.choice((1, 1, 20, 1000))):
            if octets:
                octets[rng.randrange(len(octets))] = rng.randrange(256)
        Path("c.db").write_bytes(octets)
        found = invoke(*arguments)
        about = (k, found.exit_code, found.output)
        codes.append(found.exit_code)
        assert found.exit_code in (0, EXIT_USAGE, EXIT_OUTPUT), about
        assert "Traceback" not in found.output, about
        if found.exit_code:
            assert "c.db" in found.stderr, about
        if found.exit_code != EXIT_USAGE:
            assert score_in(found.stdout) == expected, about
    assert EXIT_USAGE in codes


LOCK = """
import sqlite3, sys, time
file = sqlite3.connect(sys.argv[1], isolation_level=None)
while True:
    try:
        file.execute("BEGIN EXCLUSIVE")
        break
    except sqlite3.OperationalError:
        pass
print("locked", flush=True)
time.sleep(float(sys.argv[2]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.3, 1000])
def test_another_process_that_holds_the_file(fit, monkeypatch, seconds):
    arguments = [*fit, *KINDS["one"], "--checkpoint", "c.db", "--output", "s.json"]
    monkeypatch.setattr(module, "PATIENCE", 3.0)
    original, others = module.solve, []

    def solve(*given, **options):
        command = [sys.executable, "-c", LOCK, "c.db", str(seconds)]
        others.append(subprocess.Popen(command, stdout=subprocess.PIPE))
        assert others[0].stdout.readline() == b"locked\n"
        return original(*given, **options)

    monkeypatch.setattr(module, "solve", solve)
    try:
        found = run(*arguments, code=EXIT_OUTPUT if seconds > 100 else 0)
    finally:
        others[0].kill()
        others[0].communicate()
    assert ("database is locked" in found.stderr) == (seconds > 100)
    assert RiskScore.load("s.json").certificate.is_optimal
    with closing(sqlite3.connect("c.db")) as file:
        (n,) = file.execute("SELECT count(*) FROM searches").fetchone()
    assert n == (seconds < 100)


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_that_goes_away(fit, monkeypatch, kind):
    original = module.solve

    def solve(*given, **options):
        shutil.rmtree("folder", ignore_errors=True)
        return original(*given, **options)

    expected = score_in(run(*fit, *KINDS[kind]).stdout)
    monkeypatch.setattr(module, "solve", solve)
    Path("folder").mkdir()
    found = run(*fit, *KINDS[kind], "--checkpoint", "folder/c.db", code=EXIT_OUTPUT)
    assert score_in(found.stdout) == expected
    assert "folder/c.db: unable to open database file" in found.stderr
