"""What the engines share: limits, starts, and a run that Ctrl-C can end."""

from __future__ import annotations

import contextlib
import contextvars
import logging
import math
import numbers
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim.loss import checked_threads
from riskslim.problem import RiskScoreProblem
from riskslim.solution import Certificate, Solution, Status

__all__ = [
    "INTERRUPTED",
    "Run",
    "beyond_branch_and_bound",
    "checked_limits",
    "checked_start",
    "infeasible_solution",
    "run_interruptibly",
]

logger = logging.getLogger("riskslim")

INTERRUPTED = "interrupted by the user"

# What CPLEX's parameters can hold; no other engine needs more.
MAX_NODES = 2**62
MAX_SEED = 2_000_000_000


class Run(Protocol):
    """One call of an engine."""

    name: str
    interrupted: threading.Event

    def interrupt(self) -> None:
        """End the search as soon as possible; may be called from another thread."""

    def solve(self) -> Solution:
        """Search, and certify the best score."""


def run_interruptibly(run: Run) -> Solution:
    """Run in a second thread, so that Ctrl-C is seen while compiled code computes.

    Python handles signals in the main thread only, and not while that thread is inside of a
    solver or a kernel. Outside of the main thread there is no Ctrl-C to wait for.

    Parameters
    ----------
    run : Run

    Returns
    -------
    Solution

    Raises
    ------
    KeyboardInterrupt
        A second Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread():
        return run.solve()
    # Not Thread.join: interrupted, it can take a running thread for one that has ended.
    done = threading.Event()
    outcome: list[Solution] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(run.solve())
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    context = contextvars.copy_context()
    worker = threading.Thread(target=context.run, args=(work,), name=run.name, daemon=True)
    with _interrupt_on_ctrl_c(run):
        worker.start()
        while not done.is_set():
            try:
                done.wait(0.1)
            except KeyboardInterrupt:  # by a handler that is not ours, or the second Ctrl-C
                if run.interrupted.is_set():
                    raise
                run.interrupt()
    if failure:
        raise failure[0]
    return outcome[0]


@contextlib.contextmanager
def _interrupt_on_ctrl_c(run: Run) -> Iterator[None]:
    """Let the first Ctrl-C end the search, and the second raise KeyboardInterrupt.

    A handler, and no exception that is caught: it cannot arrive between two statements. Whoever
    has a handler of their own keeps it.
    """

    def handle(signum: int, frame: FrameType | None) -> None:
        if run.interrupted.is_set():
            raise KeyboardInterrupt
        logger.warning("interrupted: ending the search, the best score so far is kept")
        run.interrupt()

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def infeasible_solution(
    problem: RiskScoreProblem,
    reason: str,
    engine: str,
    gap_tolerance: float,
    settings: dict[str, Any],
) -> Solution:
    """Say that no coefficient vector meets the requirements.

    Parameters
    ----------
    problem : RiskScoreProblem
    reason : str
        Which of them clash.
    engine : str
    gap_tolerance : float
    settings : dict

    Returns
    -------
    Solution
        Without coefficients.
    """
    certificate = Certificate(
        status=Status.INFEASIBLE,
        objective=math.inf,
        loss=math.inf,
        model_size=0,
        lower_bound=math.inf,
        gap_tolerance=gap_tolerance,
        bound_tolerance=0.0,
        engine=engine,
        n_samples=problem.loss.data.n_samples,
        message=reason,
    )
    return Solution(None, None, certificate, problem.coefficients.feature_names, settings=settings)


def beyond_branch_and_bound(problem: RiskScoreProblem) -> str | None:
    """What a problem asks for that branch and bound does not support.

    Parameters
    ----------
    problem : RiskScoreProblem

    Returns
    -------
    str or None
        None if there is nothing.
    """
    if problem.rates:
        return "constraints on rates"
    if problem.is_constrained_per_scale:
        return "constraints on risks with a list of scales"
    return None


def checked_limits(
    time_limit: float, gap_tolerance: float, node_limit: int | None, n_threads: int, seed: int
) -> dict[str, Any]:
    """Check what every engine is told about time, gap, nodes, threads and seed.

    Parameters
    ----------
    time_limit, gap_tolerance, node_limit, n_threads, seed
        As users give them.

    Returns
    -------
    dict
        By the names of the engines' parameters.

    Raises
    ------
    TypeError, ValueError
        Wrong kind, or out of range.
    """
    limits: dict[str, Any] = {
        "time_limit": _checked_number("time_limit", time_limit),
        "gap_tolerance": _checked_number("gap_tolerance", gap_tolerance),
    }
    if not limits["time_limit"] > 0:
        raise ValueError(f"time_limit must be positive, got {time_limit!r}")
    if not 0 <= limits["gap_tolerance"] < 1:
        raise ValueError(f"gap_tolerance must be at least 0 and below 1, got {gap_tolerance!r}")
    limits["node_limit"] = None
    if node_limit is not None:
        limits["node_limit"] = _checked_int("node_limit", node_limit, 0, MAX_NODES)
    limits["n_threads"] = checked_threads(n_threads)
    limits["random_state"] = _checked_int("random_state", seed, 0, MAX_SEED)
    return limits


def _checked_number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    return float(value)


def _checked_int(name: str, value: Any, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an int, got {value!r}")
    if not least <= value <= most:
        raise ValueError(f"{name} must be between {least} and {most}, got {value}")
    return int(value)


def checked_start(problem: RiskScoreProblem, start: ArrayLike | None) -> NDArray[np.int64] | None:
    """Check the vector that a user wants to start from.

    Parameters
    ----------
    problem : RiskScoreProblem
    start : array-like of shape (d + 1,), optional

    Returns
    -------
    ndarray of int64, shape (d + 1,), or None

    Raises
    ------
    ValueError
        The vector is not feasible.
    """
    if start is None or problem.infeasibility is not None:
        return None
    violations = problem.violations(start)
    if violations:
        raise ValueError(f"start is not feasible: {'; '.join(violations)}")
    return np.asarray(start).astype(np.int64)
