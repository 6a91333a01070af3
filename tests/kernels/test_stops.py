"""Flags that end compiled descents and roundings, looked at within each pass over the rows."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest

from riskslim import (
    CoefficientSet,
    RiskScoreProblem,
    TrainingData,
    discrete_coordinate_descent,
    sequential_rounding,
)
from riskslim.data import threads
from riskslim.heuristics import descent as descent_module
from riskslim.heuristics.descent import best_line_steps

pytestmark = [pytest.mark.faults, pytest.mark.usefixtures("backend")]

N_CHUNKS = 3
N_ROWS = (N_CHUNKS - 1) * 16_384 + 100
FAR = 2**40


@pytest.fixture(scope="module", params=["reals", "integers", "weights", "wide"])
def problem(request):
    """Several chunks of rows: real numbers, integers with joint histograms and without."""
    rng = np.random.default_rng(3)
    d = 5
    X = rng.integers(0, 4, (N_ROWS, d)).astype(float)
    if request.param == "reals":
        X = rng.normal(size=(N_ROWS, d))
    if request.param == "wide":
        X = rng.integers(-120, 121, (N_ROWS, d)).astype(float)
    y = rng.random(N_ROWS) < 1 / (1 + np.exp(1 - X @ [1.0, -0.6, 0.4, 0.3, 0.0] / X.std()))
    weights = rng.uniform(0.5, 2, N_ROWS) if request.param == "weights" else None
    data = TrainingData(X, y, weights)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    return RiskScoreProblem(data, coefficients, compress=False, max_size=2)


class Looks:
    """Kernels whose flag is found set at a look; how many looks and losses there were."""

    def __init__(self, kernels, looks=FAR):
        self.kernels, self.looks = kernels, looks
        self.made = self.losses = 0

    def __getattr__(self, name):
        kernel = getattr(self.kernels, name)
        if name not in ("coordinate_descent", "sequential_rounding", "best_line_steps"):
            return kernel

        def called(*arguments):
            stop = arguments[-2]
            assert stop.shape == (1,)
            assert stop.dtype == np.int64
            stop[0] = -self.looks
            found = kernel(*arguments)
            self.made = self.looks + min(int(stop[0]), 0)
            self.losses = found if isinstance(found, int) else found[1]
            stop[0] = stop[0] > 0
            return found

        return called


@pytest.fixture
def looking(monkeypatch):
    kernels = descent_module.kernels

    def look(run, problem, looks=FAR):
        used = Looks(kernels, looks)
        monkeypatch.setattr(descent_module, "kernels", used)
        return run(problem, np.zeros(1, np.int64)), used

    return look


START = np.array([0, 1, -1, 0, 0, 0])


def descend(problem, flag):
    return discrete_coordinate_descent(problem, START, swaps=True, stop=flag)


def round_up_or_down(problem, flag):
    point = np.array([-1.4, 0.6, -0.7, 0.4, 0.3, 0.2])
    return sequential_rounding(problem, point, stop=flag)


def spread(total, count=25):
    return sorted({*np.linspace(1, total, count).astype(int).tolist()})


@pytest.mark.parametrize("run", [descend, round_up_or_down])
def test_after_a_stop_no_pass_is_made(problem, run, looking):
    """Whichever look finds the flag set: no loss is begun that was not begun before."""
    whole, used = looking(run, problem)
    assert whole.reason != "stopped"
    total, losses = used.made, [0]
    # There is no pass over the rows without a look.
    assert total >= used.losses
    for looks in spread(total - 1):
        found, used = looking(run, problem, looks)
        assert used.made == looks
        assert found.reason == "stopped"
        losses.append(used.losses)
        assert used.losses <= looks + 1
        if run is descend:
            assert problem.is_feasible(found.coefficients)
            assert found.objective <= problem.objective(START) + 1e-12
        else:
            assert found.coefficients is None
    assert losses == sorted(losses)


def test_best_steps_that_are_not_known_are_infinite(problem, looking):
    at, wanted = np.array([0, 1, 0, 0, 0, 0]), np.ones(5, bool)

    def run(problem, flag):
        return best_line_steps(problem, at, wanted, flag)

    whole, used = looking(run, problem)
    known, n_infinite = 0, 0
    for looks in spread(used.made):
        steps, _ = looking(run, problem, looks)
        for j in range(2, 6):
            if np.isinf(steps.objective[j]):
                n_infinite += 1
                continue
            vector = at.copy()
            vector[j], vector[0] = steps.value[j], steps.intercept[j]
            known += 1
            assert steps.objective[j] == pytest.approx(problem.objective(vector), rel=1e-12)
            assert steps.objective[j] >= whole.objective[j] - 1e-12
    assert known > 5
    assert n_infinite > 5


# --- who calls from Python ------------------------------------------------------------------------


class Held:
    """A kernel that goes on until the flag is set: what ends it is what sets that."""

    def __init__(self, place):
        self.place, self.thread = place, None
        self.began = threading.Event()

    def __call__(self, *arguments):
        flag = arguments[self.place]
        self.thread = threading.current_thread()
        self.began.set()
        while not flag[0]:
            pass
        return 0, 1


@pytest.fixture
def held(monkeypatch):
    kernel = Held(-2)

    class Kernels:
        coordinate_descent = staticmethod(kernel)

    monkeypatch.setattr(descent_module, "kernels", Kernels)
    return kernel


def test_should_stop_ends_what_is_compiled(problem, held):
    zero = np.zeros(6, np.int64)
    found = discrete_coordinate_descent(problem, zero, should_stop=held.began.is_set)
    assert found.reason == "stopped"
    assert held.thread is not threading.current_thread()
    held.began.clear()
    others = []
    thread = threading.Thread(
        target=lambda: others.append(
            discrete_coordinate_descent(problem, zero, should_stop=held.began.is_set)
        )
    )
    thread.start()
    thread.join()
    assert others[0].reason == "stopped"


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.skipif(os.name != "posix", reason="sends a signal to a thread")
def test_ctrl_c_ends_what_is_compiled(problem, held):
    """The flag is set, and the error raised once the kernel has ended."""
    main = threading.main_thread().ident

    def press():
        held.began.wait()
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        discrete_coordinate_descent(problem, np.zeros(6, np.int64))
    thread.join()
    held.thread.join()


def test_errors_of_a_question_end_the_work(problem, held):
    def fail():
        if held.began.is_set():
            raise ZeroDivisionError("a question")
        return False

    with pytest.raises(ZeroDivisionError, match="a question"):
        discrete_coordinate_descent(problem, np.zeros(6, np.int64), should_stop=fail)
    held.thread.join()


def test_what_work_raises_reaches_the_caller():
    def fail(stop):
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        threads.watched(fail, None)
    with pytest.raises(KeyError, match="x"):
        threads.watched(fail, lambda: False)
