"""Processes of parallel work: killed, interrupted, left by their parent; arrays that they share."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from paths import PACKAGE
from riskslim import (
    CoefficientSet,
    RiskScoreProblem,
    TrainingData,
    model_size_path,
)
from riskslim.engines import parallel
from riskslim.engines.parallel import Step, in_parallel
from riskslim.engines.workers import TerminatedWorkerError, Workers

pytestmark = [
    pytest.mark.faults,
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="kills processes"),
    pytest.mark.usefixtures("ctrl_c"),
]


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> Path:
    """The folder for temporary files, where nothing may be left."""
    path = tmp_path / "temporary"
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


# Processes of other tests: servers of programs, evaluators.
OTHERS: set[int] = set()


@pytest.fixture(autouse=True)
def others() -> None:
    OTHERS.clear()
    OTHERS.update(children())


def children() -> set[int]:
    """Processes that this one has started in a test and that work, by their numbers."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = status.read_text().partition(") ")
            state, parent = rest.split()[:2]
            line = status.with_name("cmdline").read_text()
        except (OSError, ValueError):
            continue
        if int(parent) == os.getpid() and state != "Z" and "resource_tracker" not in line:
            found.add(int(name.split()[0]))
    return found - OTHERS


def run(work, tasks, *, n_jobs=2, progress=None, should_stop=None):
    named = [(f"task {k}", arguments) for k, arguments in enumerate(tasks)]
    return in_parallel(work, named, n_jobs=n_jobs, progress=progress, should_stop=should_stop)


# Workers import no modules of tests: what they do is built from modules that they have.


def square(value):
    return value * value


def killed_once(value, folder, number, times):
    """Kill the process at the first calls with one value; they leave marks in a folder."""
    import os
    import signal
    import time
    from pathlib import Path

    marks = list(Path(folder).glob("mark*"))
    if value == number and len(marks) < times:
        Path(folder, f"mark{len(marks)}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.2)
    return value * value


for function in (square, killed_once):
    function.__module__ = "__main__"  # so that it is sent by value


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_and_progress(n_jobs, temporary):
    steps = []
    finished = run(square, [(k,) for k in range(7)], n_jobs=n_jobs, progress=steps.append)
    assert finished.results == {k: k * k for k in range(7)}
    assert finished.lost == []
    assert [step.done for step in steps] == [*range(1, 8)]
    assert {step.what for step in steps} == {f"task {k}" for k in range(7)}
    assert all(isinstance(step, Step) and step.total == 7 for step in steps)
    assert not list(temporary.iterdir())


def test_a_killed_process_is_tried_again(tmp_path, temporary, caplog):
    tasks = [(k, str(tmp_path), 2, 1) for k in range(6)]
    steps = []
    finished = run(killed_once, tasks, n_jobs=3, progress=steps.append)
    assert finished.results == {k: k * k for k in range(6)}
    assert finished.lost == []
    assert steps[-1].what == "task 2"  # when all others are done
    assert caplog.messages == ["the process of task 2 was killed; it is tried again"]
    assert not list(temporary.iterdir())


def test_a_process_that_is_killed_twice_costs_its_own_work(tmp_path, temporary, caplog):
    finished = run(killed_once, [(k, str(tmp_path), 1, 2) for k in range(5)])
    assert finished.results == {k: k * k for k in range(5) if k != 1}
    assert finished.lost == ["task 1"]
    assert "the process of task 1 was killed, twice, as happens where memory runs" in caplog.text
    assert "stopped: 4 of 5 models are finished" in caplog.text
    assert not list(temporary.iterdir())
    assert children() == set()


def test_a_worker_that_someone_ends_is_tried_again(temporary):
    """SIGTERM to one process alone ends it, after a moment; it is as if it had been killed."""
    with Workers(1) as workers:
        future = workers.submit(time.sleep, (60,))
        deadline = time.monotonic() + 60
        while not children() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(3)  # until it works
        (child,) = children()
        os.kill(child, signal.SIGTERM)
        assert isinstance(future.exception(timeout=60), TerminatedWorkerError)
        workers.release(future)
        again = workers.submit(abs, (-3,))
        assert again.result(timeout=60) == 3
        workers.release(again)
    assert children() == set()
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("error", [KeyError, MemoryError])
def test_errors_reach_the_caller_and_end_the_others(error, temporary):
    def fail(value):
        import time

        if value == 1:
            raise error("wrong")
        time.sleep(3600)

    fail.__module__ = "__main__"
    with pytest.raises(error, match="wrong"):
        run(fail, [(0,), (1,), (2,)])
    assert children() == set()
    assert not list(temporary.iterdir())


def interrupted_after(folder, count):
    """Press Ctrl-C when so many tasks have begun."""

    def press():
        while len(list(Path(folder).glob("begun*"))) < count:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    return thread


def patient(value, folder):
    """Return the value at once, or what was found at Ctrl-C."""
    import time
    from pathlib import Path

    Path(folder, f"begun{value}").touch()
    if value == 0:
        return 0
    try:
        time.sleep(300)
    except KeyboardInterrupt:
        return f"found by {value}"
    return value


patient.__module__ = "__main__"


def test_ctrl_c_keeps_what_the_searches_have_found(tmp_path, temporary):
    thread = interrupted_after(tmp_path, 3)
    finished = run(patient, [(k, str(tmp_path)) for k in range(6)])
    thread.join()
    assert finished.results == {0: 0, 1: "found by 1", 2: "found by 2"}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert children() == set()
    assert not list(temporary.iterdir())


def test_ctrl_c_before_anything_is_found(tmp_path, temporary):
    def stubborn(folder):
        import time
        from pathlib import Path

        Path(folder, "begun").touch()
        time.sleep(300)

    stubborn.__module__ = "__main__"
    thread = interrupted_after(tmp_path, 1)
    with pytest.raises(KeyboardInterrupt):
        run(stubborn, [(str(tmp_path),)] * 2)
    thread.join()
    assert children() == set()
    assert not list(temporary.iterdir())


def test_ctrl_c_waits_for_no_worker_that_has_not_begun(tmp_path, temporary, monkeypatch):
    """Such as one that imports packages: here it unpickles for good."""
    monkeypatch.setattr(parallel, "_GRACE", 1e9)

    class Endless:
        def __init__(self, folder):
            self.folder = folder

        def __reduce__(self):
            return begin_and_wait, (self.folder,)

    def begin_and_wait(folder):
        import time
        from pathlib import Path

        Path(folder, "begun2").touch()
        time.sleep(3600)

    begin_and_wait.__module__ = "__main__"
    thread = interrupted_after(tmp_path, 3)
    tasks = [(0, str(tmp_path)), (1, str(tmp_path)), (2, Endless(str(tmp_path)))]
    finished = run(patient, tasks)
    thread.join()
    assert finished.results == {0: 0, 1: "found by 1"}
    assert children() == set()
    assert not list(temporary.iterdir())


def test_large_arrays_are_shared(temporary):
    large, small = np.arange(300_000), np.arange(10)
    columns = np.asfortranarray(np.arange(400_000.0).reshape(1000, 400))

    def look(large, small, columns):
        backed = [type(one.base).__name__ for one in (large, columns)]
        return (
            backed, large.flags.writeable, int(large.sum()), small.tolist(),
            columns.flags.f_contiguous, float(columns.sum()),
        )  # fmt: skip

    look.__module__ = "__main__"
    with Workers(2) as workers:
        futures = [workers.submit(look, (large, small, columns)) for _ in range(2)]
        for future in futures:
            assert future.result(timeout=60) == (
                ["memmap", "memmap"], False, int(large.sum()), list(range(10)), True,
                float(columns.sum()),
            )  # fmt: skip
            workers.release(future)
        (folder,) = temporary.iterdir()
        assert len(list(folder.glob("*.npy"))) == 2  # each once
    assert not list(temporary.iterdir())


def test_arrays_are_copied_where_there_is_no_room(temporary, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with Workers(1) as workers:
        future = workers.submit(np.sum, (np.arange(300_000),))
        assert future.result(timeout=60) == 300_000 * 299_999 // 2
        workers.release(future)


# The parent: work in two processes, which take their time.
PARENT = """
import os, sys, tempfile, time
tempfile.tempdir = sys.argv[1]
from riskslim.engines.parallel import in_parallel
def work(k):
    import os, time
    os.write(1, b"%d\\n" % os.getpid())  # whole lines, whoever else writes
    time.sleep(300)
in_parallel(work, [(str(k), (k,)) for k in range(2)], n_jobs=2, progress=None, should_stop=None)
"""


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_workers_end_with_their_parent(signum, temporary):
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(temporary)], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
    )  # fmt: skip
    try:
        workers = [int(process.stdout.readline()) for _ in range(2)]
        process.send_signal(signum)
        process.wait(timeout=60)
    finally:
        process.kill()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        alive = [one for one in workers if Path(f"/proc/{one}").exists() and "Z" not in
                 Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[:1]]  # fmt: skip
        if not alive and not list(temporary.iterdir()):
            break
        time.sleep(0.1)
    assert alive == []
    assert not list(temporary.iterdir())
    process.stdout.close()


def test_a_path_without_the_folds_that_were_killed(monkeypatch, temporary):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (80, 4))
    y = (rng.random(80) < 1 / (1 + np.exp(1 - 2 * X[:, 0]))).astype(int)
    data = TrainingData(X, y)
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    problem = RiskScoreProblem(data, coefficients, max_size=2)
    from riskslim.model_selection import size_path

    original = size_path._path_on_rows

    def killed(plan, name, *arguments):
        import os
        import signal

        if name == "fold 1":
            os.kill(os.getpid(), signal.SIGKILL)
        return original(plan, name, *arguments)

    killed.__module__ = "__main__"
    monkeypatch.setattr(size_path, "_path_on_rows", killed)
    path = model_size_path(problem, cv=3, n_jobs=2)
    assert path.lost == ("fold 1",)
    assert not path.is_complete
    assert path.sizes == (1, 2)
    for entry in path.entries:
        assert entry.solution.certificate.is_optimal
        assert [fold.number for fold in entry.cross_validation.folds] == [0, 2]
    monkeypatch.undo()
    assert model_size_path(problem, cv=3, n_jobs=2).lost == ()
