"""What a long run notes of its process, and what it takes for a leak."""

from __future__ import annotations

import dataclasses
import mmap
from pathlib import Path

import numpy as np
import pytest

from benchmarks import soak

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc of Linux")

MIB = 2**20
FIRST = soak.State(
    resident=300 * MIB,
    anonymous=200 * MIB,
    in_use=60 * MIB,
    blocks=900_000,
    threads=8,
    descriptors=8,
    children=2,
    files=0,
)


def states(**last):
    """A hundred states, between which what is named grows evenly to its last value."""
    found = []
    for share in np.linspace(0, 1, 100):
        grown = {
            name: round((1 - share) * getattr(FIRST, name) + share * value)
            for name, value in last.items()
        }
        found.append(dataclasses.replace(FIRST, **grown))
    return found


@pytest.mark.parametrize(
    ("last", "left"),
    [
        ({}, []),
        ({"resident": 308 * MIB, "in_use": 64 * MIB, "blocks": 910_000}, []),
        ({"resident": 330 * MIB}, ["resident: 15.0 MiB more"]),
        ({"in_use": 72 * MIB}, ["in use: 6.0 MiB more"]),
        ({"blocks": 1_000_000}, ["small objects: 50000.0 blocks more"]),
        ({"files": 1}, ["1 files more"]),
        ({"threads": 20}, ["6 threads more"]),
    ],
)
def test_growth_is_said_once_it_is_more_than_caches_take(last, left):
    found = soak.verdict(states(**last))
    assert found["left"] == left
    assert len(found["in_use_mib"]) == 6


def test_growth_of_the_first_jobs_is_no_leak():
    early = states(resident=600 * MIB, in_use=200 * MIB, blocks=2_000_000)
    settled = [early[-1]] * 300
    assert soak.verdict(early + settled)["left"] == []


def test_without_a_count_what_is_resident_decides():
    found = soak.verdict([dataclasses.replace(one, in_use=None) for one in states()])
    assert (found["in_use_mib"], found["left"]) == (None, [])
    assert "| 0 | 3 |  | " in soak.table([{"seed": 0, "jobs": {"search": 3}, **found}])


def test_what_is_in_use_is_counted():
    before = soak.in_use()
    if before is None:
        pytest.skip("no mallinfo2 here")
    kept = [np.ones(100_000) for _ in range(50)]
    assert soak.in_use() - before == pytest.approx(50 * 800_000, rel=0.05)
    del kept
    assert abs(soak.in_use() - before) < MIB


def test_files_that_are_removed_and_mapped_are_counted(tmp_path):
    path = tmp_path / "rows"
    path.write_bytes(bytes(mmap.PAGESIZE))
    assert soak.State.now(tmp_path).files == 1
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        path.unlink()
        assert soak.State.now(tmp_path).files == 1
        assert mapped[0] == 0
    assert soak.State.now(tmp_path).files == 0
