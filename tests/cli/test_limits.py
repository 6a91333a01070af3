"""Limits of the system on threads, processes and memory: fewer threads, or exit code 5 in words."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

from command_line import run
from paths import PACKAGE
from riskslim._threads import Pool
from riskslim.cli import limits
from riskslim.cli.exit_codes import EXIT_MEMORY
from riskslim.data.threads import SecondThread, in_threads
from riskslim.exceptions import WorkMemoryError
from riskslim.rows.base import run_in_order

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="limits are those of Linux")


@pytest.fixture
def refused(monkeypatch):
    """The system starts so many more threads."""
    state = {"left": 0}
    original = threading.Thread.start

    def start(self):
        if state["left"] <= 0:
            raise RuntimeError("can't start new thread")
        state["left"] -= 1
        original(self)

    monkeypatch.setattr(threading.Thread, "start", start)
    return state


@pytest.mark.parametrize("left", [0, 1, 2])
def test_work_is_done_by_fewer_threads(refused, left):
    done = []
    refused["left"] = left
    in_threads(done.append, 20, 4)
    assert sorted(done) == list(range(20))
    refused["left"] = left
    calls = (lambda i=i: i * i for i in range(20))
    assert list(run_in_order(calls, 3, lambda: None)) == [i * i for i in range(20)]
    refused["left"] = left
    with Pool(3) as pool:
        failing = pool.submit(lambda: 1 / 0)
        assert list(pool.map(abs, range(-5, 5))) == [5, 4, 3, 2, 1, 0, 1, 2, 3, 4]
    assert isinstance(failing.exception(), ZeroDivisionError)
    with pytest.raises(RuntimeError, match="shutdown"):
        pool.submit(int)


def test_the_only_thread_does_what_a_second_one_would(refused):
    second = SecondThread(lambda: threading.current_thread())
    second.start()
    assert second.has_ended(0.0)
    assert second.result() is threading.current_thread()


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (200, 3))
    rows = np.column_stack([X, rng.random(200) < 0.2 + 0.4 * X[:, 0]]).astype(int)
    np.savetxt("rows.csv", rows, fmt="%d", delimiter=",", header="a,b,c,y", comments="")
    return tmp_path / "rows.csv"


def test_a_search_without_threads_says_so(table, refused):
    result = run("fit", table, "--outcome", "y", "--quiet", code=EXIT_MEMORY)
    assert result.stderr.startswith("Error: the system refuses threads, processes or memory (can't")
    assert "fault of riskslim" not in result.stderr


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("can't start new thread"),
        OSError(errno.EAGAIN, "Resource temporarily unavailable"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("x.so: failed to map segment from shared object"),
        Exception("Unknown error: Failed to launch worker thread: Resource temporarily"),
    ],
    ids=repr,
)
def test_what_the_system_refuses_is_named(error):
    with pytest.raises(WorkMemoryError, match="the system refuses"), limits.naming_limits():
        raise error


def test_other_errors_stay_what_they_are():
    for error in (ValueError("x"), OSError(errno.ENOSPC, "x"), RuntimeError("x")):
        with pytest.raises(type(error)) as caught, limits.naming_limits():
            raise error
        assert caught.value is error


def test_libraries_are_told_to_do_with_one_thread(refused, monkeypatch):
    monkeypatch.setattr(os, "environ", {"OMP_NUM_THREADS": "3"})
    refused["left"] = 10**6
    assert limits.checked_limits_of_system() == ""
    assert os.environ == {"OMP_NUM_THREADS": "3"}
    refused["left"] = limits.LEAST_THREADS
    assert limits.checked_limits_of_system() == ""
    assert (os.environ["OMP_NUM_THREADS"], os.environ["OPENBLAS_NUM_THREADS"]) == ("3", "1")
    refused["left"] = limits.LEAST_THREADS - 1
    assert "lets this process start 2 threads, and it needs 3" in limits.checked_limits_of_system()


# The superuser has no limit on tasks: this process becomes one that has, and keeps its files.
NPROC = """
import ctypes, os, resource
libc = ctypes.CDLL(None)
if os.geteuid() == 0:
    os.setresuid({user}, 0, 0)
    class Header(ctypes.Structure):
        _fields_ = [("version", ctypes.c_uint32), ("process", ctypes.c_int)]
    header, sets = Header(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(ctypes.byref(header), ctypes.byref(sets)) == 0
    for i in (0, 1):
        sets[i] &= ~(1 << 21 | 1 << 24)  # CAP_SYS_ADMIN, CAP_SYS_RESOURCE
    assert libc.capset(ctypes.byref(header), ctypes.byref(sets)) == 0
    resource.setrlimit(resource.RLIMIT_NPROC, ({limit}, {limit}))
"""
SPACE = "import resource; resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))"


def program(before, *arguments):
    text = f"{before}\nimport sys\nfrom riskslim.__main__ import main\nmain()"
    return subprocess.run(
        [sys.executable, "-c", text, *map(str, arguments)], capture_output=True, text=True,
        timeout=120, check=False, env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
    )  # fmt: skip


@pytest.mark.slow
@LINUX
@pytest.mark.faults
@pytest.mark.parametrize("limit", [1, 3, 5, 6, 12])
def test_a_limit_on_processes(table, limit):
    if os.geteuid() != 0:
        pytest.skip("the limit counts all processes of the user")
    before = NPROC.format(user=60_000 + limit, limit=limit)
    with tempfile.TemporaryDirectory() as folder:  # folders of tests are closed to other users
        Path(folder).chmod(0o755)
        rows = shutil.copy(table, folder)
        found = program(before, "fit", rows, "--outcome", "y", "--max-size", 2, "--threads", 3)
    if "AssertionError" in found.stderr:
        pytest.skip("capabilities cannot be given up here")
    assert found.returncode in ((0,) if limit == 12 else (0, EXIT_MEMORY)), found.stderr
    assert "Traceback" not in found.stderr
    if found.returncode:
        assert found.stderr.splitlines()[-1].startswith("Error: the system ")
        assert "ulimit -u" in found.stderr


@pytest.mark.slow
@LINUX
@pytest.mark.faults
@pytest.mark.parametrize("limit", [200, 500, 2000])
def test_a_limit_on_address_space(table, limit):
    found = program(SPACE.format(limit=limit * 2**20), "fit", table, "--outcome", "y", "--quiet")
    assert "Traceback" not in found.stderr
    if limit < 512:
        assert found.returncode == EXIT_MEMORY
        assert "MB of address space, and needs 512 MB" in found.stderr
    elif os.cpu_count() < 16:
        assert found.returncode == 0, found.stderr


@pytest.mark.numba
@pytest.mark.parametrize("left", [0, 1])
def test_passes_of_numba_are_done_by_fewer_threads(refused, left):
    from riskslim._kernels.numba_backend import chunks

    refused["left"] = left
    done = []
    chunks.run(lambda first, end, worker: done.append((first, end, worker)), 10, 3)
    assert sorted(done) == [(0, 3, 0), (3, 6, 1), (6, 10, 2)]
