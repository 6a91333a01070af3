"""A disk that is full, a real one: a file system in memory of a few pages, mounted for the test."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fault_rounds import ROUNDS, seed_of
from programs import program
from riskslim import RiskScore
from riskslim._writing import check_writable, write_file
from riskslim.cli.exit_codes import EXIT_OUTPUT, EXIT_USAGE

pytestmark = pytest.mark.faults

PAGE = 4096
N_PAGES = 16


@pytest.fixture
def disk(tmp_path) -> Iterator[Path]:
    """An empty disk of 64 KiB."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root of a Linux mounts a file system")
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={N_PAGES * PAGE}", "tmpfs", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no command mount")
    if done.returncode:
        pytest.skip(f"no file system may be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def filled(disk: Path, n_pages: int) -> None:
    """Leave so many pages of the disk free."""
    (disk / "filler").write_bytes(b"x" * (N_PAGES - n_pages) * PAGE)


def failure_of(path: Path, content: bytes) -> OSError | None:
    try:
        write_file(path, content)
    except OSError as error:
        return error
    return None


@pytest.mark.parametrize("k", range(3 * ROUNDS))
def test_a_file_is_complete_or_untouched(disk, k):
    """Files of random sizes, on a disk with random room, one after the other."""
    seed = seed_of("full disk", k)
    rng = random.Random(seed)
    filled(disk, rng.randrange(0, N_PAGES))
    (disk / "x").touch()
    current, n_failed = b"", 0
    for step in range(12):
        new = rng.randbytes(rng.choice((0, 10, PAGE, PAGE + 1, rng.randrange(N_PAGES * PAGE))))
        about = (seed, step, len(current), len(new))
        failure = failure_of(disk / "x", new)
        if failure is None:
            current = new
        else:
            assert (failure.errno, failure.filename) == (errno.ENOSPC, str(disk / "x")), about
            n_failed += 1
        assert (disk / "x").read_bytes() == current, about
        assert names(disk) == {"filler", "x"}, about
        check_writable(disk / "x")
    assert n_failed or (disk / "filler").stat().st_size < N_PAGES * PAGE, seed


def test_the_score_is_saved_elsewhere(disk, tmp_path):
    rng = np.random.default_rng(3)
    columns = {name: rng.integers(0, 2, 120) for name in ("old", "smoker", "male")}
    odds = -1.0 + 2 * columns["old"] + columns["smoker"]
    columns["died"] = (rng.random(120) < 1 / (1 + np.exp(-odds))).astype(int)
    here = tmp_path / "here"
    here.mkdir()
    pd.DataFrame(columns).to_csv(here / "rows.csv", index=False)
    (disk / "s.json").write_text("as it was")
    filled(disk, 1)  # which that file has
    found = program("fit", "rows.csv", "--outcome", "died", "--quiet", "--output", disk / "s.json",
                    "--report", disk / "r.html", cwd=here)  # fmt: skip
    assert found.returncode == EXIT_OUTPUT, found.stderr
    assert "No space left on device" in found.stderr
    assert (disk / "s.json").read_text() == "as it was"
    assert names(disk) == {"filler", "s.json"}
    (path,) = here.glob("riskslim-recovered-*.json")
    assert str(path) in found.stderr
    assert str(RiskScore.load(path)) in found.stdout
    RiskScore.load(path).save(here / "s.json")
    for arguments in (
        ("predict", "s.json", "rows.csv", "--output", disk / "p.csv"),
        ("export", "s.json", "--format", "html", "--output", disk / "p.html"),
    ):
        full = program(*arguments, cwd=here)
        assert full.returncode == EXIT_OUTPUT, full.stderr
        assert full.stderr == f"Error: {arguments[-1]}: No space left on device\n"
        assert names(disk) == {"filler", "s.json"}


def score_in(text: str) -> str:
    """A printed score, without what is said of the time."""
    return text[text.index("points") : text.rindex("Search")]


@pytest.mark.parametrize(
    "more",
    [
        ["--max-size", 3],
        pytest.param(["--max-size", 2, "--path", "--cv", 3], marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("k", range(2 * ROUNDS))
def test_it_costs_the_checkpoint_alone(disk, tmp_path, monkeypatch, more, k):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (200, 6))
    columns = {name: X[:, j] for j, name in enumerate("abcdef")}
    columns["died"] = (rng.random(200) < 0.2 + 0.5 * X[:, 0] * X[:, 1]).astype(int)
    pd.DataFrame(columns).to_csv("rows.csv", index=False)
    seed = seed_of(f"checkpoint on a full disk {len(more)}", k)
    filled(disk, random.Random(seed).randrange(N_PAGES))
    fit = ("fit", "rows.csv", "--outcome", "died", "--quiet", *more)
    expected = score_in(program(*fit, cwd=tmp_path).stdout)
    found = program(*fit, "--checkpoint", disk / "c.db", cwd=tmp_path)
    about = (seed, found.returncode, found.stderr)
    assert "Traceback" not in found.stderr, about
    assert found.returncode in (0, EXIT_OUTPUT, EXIT_USAGE), about
    if found.returncode == EXIT_USAGE:  # it could not even be begun
        assert found.stderr.startswith(f"Error: {disk / 'c.db'}: "), about
    else:
        assert score_in(found.stdout) == expected, about
    (disk / "filler").unlink()
    again = program(*fit, "--checkpoint", disk / "c.db", cwd=tmp_path)
    assert (again.returncode, score_in(again.stdout)) == (0, expected), about
    assert names(disk) == {"c.db"}, about
