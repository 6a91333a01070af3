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
    anonymous=150 * MIB,
    heap=60 * MIB,
    arenas=4 * MIB,
    pools=6 * MIB,
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
        ({"anonymous": 158 * MIB, "in_use": 64 * MIB, "blocks": 910_000}, []),
        ({"anonymous": 180 * MIB}, ["anonymous: 15.0 MiB more"]),
        # Pages of files that were read for the first time.
        ({"resident": 400 * MIB}, []),
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
    early = states(anonymous=600 * MIB, in_use=200 * MIB, blocks=2_000_000)
    settled = [early[-1]] * 300
    assert soak.verdict(early + settled)["left"] == []


def test_what_usual_allocators_keep_is_shown_and_not_judged():
    grown = states(anonymous=180 * MIB, pools=36 * MIB)
    found = soak.verdict(grown, plain=False)
    assert found["left"] == []
    assert found["kinds_mib"]["pools"][-1] - found["kinds_mib"]["pools"][0] > 20
    assert soak.verdict(states(in_use=72 * MIB), plain=False)["left"] == ["in use: 6.0 MiB more"]
    text = soak.table([{"seed": 3, "jobs": {}, **found}])
    assert "- seed 3, arenas: 4.0 -> 4.0" in text


SMAPS = """\
55aac9b2c000-55aac9c2c000 rw-p 00000000 00:00 0                          [heap]
Rss:                1000 kB
Anonymous:           900 kB
VmFlags: rd wr mr mw me ac
398d3000000-398f3000000 ---p 00000000 00:00 0
Anonymous:             0 kB
39900000000-39940000000 rw-p 00000000 00:00 0
Anonymous:         26624 kB
7f3990000000-7f39903d3000 rw-p 00000000 00:00 0
Anonymous:            30 kB
7f39903d3000-7f3990e7f000 rw-p 00000000 00:00 0
Anonymous:          4096 kB
7f3990e7f000-7f3994000000 ---p 00000000 00:00 0
Anonymous:             0 kB
7f3994000000-7f39943d3000 r-xp 00000000 fe:00 260386                     /usr/lib/some.so
Anonymous:             8 kB
7f39943d3000-7f39943f3000 rw-p 00000000 00:00 0
Anonymous:            16 kB
7f39a6aff000-7f39a6dff000 rw-p 00000000 00:00 0
Anonymous:          3024 kB
"""


def test_anonymous_memory_is_told_apart_by_what_has_it():
    found = soak.anonymous_by_kind(SMAPS)
    assert {kind: n // 1024 for kind, n in found.items()} == {
        "heap": 900,
        "arenas": 4126,  # of one thread, in two mappings
        "pools": 26624,
    }


def test_kinds_are_parts_of_what_is_anonymous(tmp_path):
    now = soak.State.now(tmp_path)
    assert now.heap > 0
    assert now.heap + now.arenas + now.pools < now.anonymous < now.resident


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


@pytest.mark.slow
def test_files_that_are_removed_and_mapped_are_counted(tmp_path):
    path = tmp_path / "rows"
    path.write_bytes(bytes(mmap.PAGESIZE))
    assert soak.State.now(tmp_path).files == 1
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        path.unlink()
        assert soak.State.now(tmp_path).files == 1
        assert mapped[0] == 0
    assert soak.State.now(tmp_path).files == 0
