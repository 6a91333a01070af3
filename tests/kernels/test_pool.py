"""The threads of the kernels: many callers, children of fork, no spinning, no signals."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from paths import PACKAGE
from riskslim import CoefficientSet, LogisticLoss, TrainingData, show_config

N_ROWS = 100_000

DATA = f"""
import os, threading
import numpy as np
from riskslim import CoefficientSet, LogisticLoss, TrainingData

rng = np.random.default_rng(0)
data = TrainingData(rng.integers(0, 50, ({N_ROWS}, 4)), rng.random({N_ROWS}) < 0.3)
losses = [LogisticLoss(data, CoefficientSet(data.feature_names, -5, 5)) for _ in range(2)]
coef = [-1, 1, -2, 3, 1]
one = losses[0].value_and_gradient(coef)
"""
SET_UP = f"""{DATA}
losses[1].n_threads = 2
two = losses[1].value_and_gradient(coef)
assert one[0] == two[0] and (one[1] == two[1]).all()
"""

FORKS = """
def child_of(depth):
    child = os.fork()
    if child == 0:
        value, gradient = losses[1].value_and_gradient(coef)
        good = value == one[0] and (gradient == one[1]).all()
        good &= depth == 0 or child_of(depth - 1)
        os._exit(0 if good else 1)
    return os.waitpid(child, 0)[1] == 0

# Another thread is within a pass while the process forks.
busy = threading.Thread(target=lambda: [losses[1].value_and_gradient(coef) for _ in range(200)])
busy.start()
assert all(child_of(1) for _ in range(10))
busy.join()
assert losses[1].value_and_gradient(coef)[0] == one[0]
"""

WAITS = """
import time
from pathlib import Path

tasks = Path("/proc/self/task")
before = set(os.listdir(tasks))
losses[1].n_threads = 5
losses[1].value_and_gradient(coef)
own = set(os.listdir(tasks)) - before
assert len(own) == 3, own  # beside the caller and the one that is there

def stated(name, what):
    lines = (tasks / name / "status").read_text().splitlines()
    return next(line for line in lines if line.startswith(what)).split()[1]

def states():
    return {stated(name, "State") for name in own}

end = time.monotonic() + 30
while states() != {"S"} and time.monotonic() < end:
    time.sleep(0.01)
for _ in range(20):  # asleep, and not by chance at one moment
    assert states() == {"S"}
    time.sleep(0.01)
for name in own:
    blocked = int(stated(name, "SigBlk"), 16)
    assert blocked >> 1 & 1 and blocked >> 14 & 1  # SIGINT and SIGTERM
"""

# The superuser has no limit on tasks, so that this process becomes one of nobody's first.
REFUSED = """
import resource

losses[1].n_threads = {n_threads}
value, gradient = losses[1].value_and_gradient(coef)
if os.getuid() == 0:
    try:
        os.setuid(65534)
    except OSError:
        os._exit(77)
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
try:
    threading.Thread(target=int).start()
except RuntimeError:
    pass
else:
    os._exit(77)
before = set(os.listdir("/proc/self/task"))
for losses[1].n_threads in (2, 5, 9):
    value, gradient = losses[1].value_and_gradient(coef)
    assert value == one[0] and (gradient == one[1]).all()
assert set(os.listdir("/proc/self/task")) == before
"""
NOT_POSSIBLE = 77


def run(program):
    home = PACKAGE.parent
    done = subprocess.run(
        [sys.executable, "-c", program],
        timeout=120, check=False, cwd=home, env={**os.environ, "PYTHONPATH": str(home)},
    )  # fmt: skip
    return done.returncode


@pytest.mark.faults
@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_child_of_fork_has_threads_of_its_own():
    assert run(SET_UP + FORKS) == 0


def losses_of(n_threads):
    rng = np.random.default_rng(1)
    data = TrainingData(rng.integers(0, 50, (N_ROWS, 4)), rng.random(N_ROWS) < 0.3)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    return [LogisticLoss(data, coefficients, n_threads=k) for k in n_threads]


def test_many_callers_have_their_results():
    losses = losses_of([1, 2, 3, 5])
    coefs = np.random.default_rng(2).integers(-5, 6, (6, 5))
    expected = [losses[0].value_and_gradient(coef) for coef in coefs]

    def called(k):
        value, gradient = losses[k % 4].value_and_gradient(coefs[k % 6])
        return value == expected[k % 6][0] and (gradient == expected[k % 6][1]).all()

    with ThreadPoolExecutor(8) as callers:
        assert all(callers.map(called, range(240)))


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are not listed here")
@pytest.mark.skipif(show_config("dict")["kernels"]["threads"] != "yes", reason="there are none")
def test_waiting_threads_sleep_and_take_no_signals():
    assert run(SET_UP + WAITS) == 0


@pytest.mark.faults
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are not listed here")
@pytest.mark.parametrize("n_threads", [1, 2])
def test_results_where_threads_cannot_be_started(n_threads):
    """No thread at all, or one that there was before, does what all were to do."""
    code = run(DATA + REFUSED.format(n_threads=n_threads))
    if code == NOT_POSSIBLE:
        pytest.skip("this system starts threads beyond the limit")
    assert code == 0
