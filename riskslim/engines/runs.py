"""Limits, starts, and runs that Ctrl-C can end: the common part of the engines."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import logging
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import FrameType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._checks import as_number, checked_threads, int_between
from riskslim._kernels import prepare
from riskslim.data.threads import SecondThread
from riskslim.problem.problem import RiskScoreProblem
from riskslim.solution import (
    Certificate,
    Solution,
    SolutionPool,
    SolveStatistics,
    Status,
    Trace,
    TraceRecord,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "DEFAULT_GAP_TOLERANCE",
    "DEFAULT_SOLVER",
    "DEFAULT_TIME_LIMIT",
    "INTERRUPTED",
    "SOLVERS",
    "EngineCall",
    "EngineRun",
    "InterruptibleRun",
    "check_rows_in_memory",
    "check_solver",
    "checked_limits",
    "checked_settings",
    "checked_start",
    "run_interruptibly",
    "stopped_by",
]

logger = logging.getLogger("riskslim")

_Settings = TypeVar("_Settings", bound="DataclassInstance")

INTERRUPTED = "interrupted by the user"

# Defaults of the engines, and of all that calls them.
DEFAULT_TIME_LIMIT = 60.0
DEFAULT_GAP_TOLERANCE = 0.0
DEFAULT_SOLVER = "cplex"

# Longest wait that a timer takes.
MAX_WAIT = 1e6

# Of lattice_cpa.
SOLVERS = ("cplex", "scip")

# What CPLEX's parameters can hold; no other engine needs more.
MAX_NODES = 2**62
MAX_SEED = 2_000_000_000

# Seconds of the re-check of a score for each row, which the time limit includes, and the most of
# the limit that they are taken to be.
RECHECK_SECONDS = 5e-8
MOST_OF_LIMIT = 0.1


# What ends searches besides what each of them is told: of whoever does many, one after the other.
_STOPS: ContextVar[tuple[Callable[[], bool], ...]] = ContextVar("_STOPS", default=())


@contextlib.contextmanager
def stopped_by(should_stop: Callable[[], bool] | None) -> Iterator[None]:
    """Let a function end the searches that are begun meanwhile, also by models that know none.

    Parameters
    ----------
    should_stop : callable, optional
        Asked by each search several times a second, by whichever thread; True ends it as Ctrl-C
        does.

    Examples
    --------
    >>> from riskslim import RiskSLIMClassifier
    >>> from riskslim.engines.runs import stopped_by
    >>> model = RiskSLIMClassifier(max_size=1, engine="branch_and_bound")
    >>> with stopped_by(lambda: False):
    ...     model.fit([[0], [1], [1], [0]], [0, 1, 0, 0]).solution_.is_interrupted
    False
    """
    if should_stop is None:
        yield
        return
    token = _STOPS.set((*_STOPS.get(), should_stop))
    try:
        yield
    finally:
        _STOPS.reset(token)


def _any_of(should_stop: Callable[[], bool] | None) -> Callable[[], bool] | None:
    """Join what a search is told with what is to end all of them."""
    asked = [*_STOPS.get(), *([] if should_stop is None else [should_stop])]
    if len(asked) < 2:
        return asked[0] if asked else None
    return lambda: any(ask() for ask in asked)


class InterruptibleRun(Protocol):
    """A call of an engine that Ctrl-C can end."""

    name: str
    interrupted: threading.Event

    def interrupt(self) -> None:
        """End the search as soon as possible; may be called from another thread."""

    def solve(self) -> Solution:
        """Search, and certify the best score."""


def run_interruptibly(run: InterruptibleRun) -> Solution:
    """Run in a second thread, so that Ctrl-C is seen while compiled code computes.

    Python handles signals in the main thread only, and not while that thread is inside of a
    solver or a kernel. Outside of the main thread there is no Ctrl-C to wait for.

    Parameters
    ----------
    run : InterruptibleRun

    Returns
    -------
    Solution
        Ctrl-C that comes too late to end anything is noted in it all the same: whoever has more
        searches to do must not go on.

    Raises
    ------
    KeyboardInterrupt
        A second Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread():
        return _marked(run.solve(), run)
    second = SecondThread(run.solve, run.name)
    with _interrupt_on_ctrl_c(run):
        second.start()
        ended = False
        while not ended:
            try:
                ended = second.has_ended(0.1)
            except KeyboardInterrupt:  # by a handler that is not ours, or the second Ctrl-C
                if run.interrupted.is_set():
                    raise
                run.interrupt()
    return _marked(second.result(), run)


def _marked(solution: Solution, run: InterruptibleRun) -> Solution:
    if not run.interrupted.is_set():
        return solution
    return dataclasses.replace(solution, is_interrupted=True)


@contextlib.contextmanager
def _interrupt_on_ctrl_c(run: InterruptibleRun) -> Iterator[None]:
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


@dataclasses.dataclass(frozen=True, eq=False)
class EngineCall(Generic[_Settings]):
    """A call of an engine, its arguments checked.

    Attributes
    ----------
    problem : RiskScoreProblem
    settings : dataclass instance
    limits : dict
        As of :func:`checked_limits`, and what else the engine was told.
    start : ndarray of int64, shape (d + 1,), optional
    progress, should_stop : callable, optional
        The user's.
    """

    problem: RiskScoreProblem
    settings: _Settings
    limits: dict[str, Any]
    start: NDArray[np.int64] | None = None
    progress: Callable[[TraceRecord], None] | None = None
    should_stop: Callable[[], bool] | None = None


class EngineRun(Generic[_Settings]):
    """A call of an engine while it is answered: its limits, and the solutions that it ends with.

    Parameters
    ----------
    name : str
        The engine's.
    call : EngineCall
        Its problem is left as it is: the run has a copy, whose loss counts anew.

    Attributes
    ----------
    interrupted : threading.Event
        The user wants the search to end.
    stop : int64 array of shape (1,)
        Not zero: kernels are to end.
    began, deadline : float
        On the clock of ``time.perf_counter``. The deadline leaves time for the re-check of the
        score.
    initialization_seconds : float
    ended : threading.Event
        Nobody needs to watch the limits any more.
    failure : BaseException or None
        What the user's function has raised.
    """

    def __init__(self, name: str, call: EngineCall[_Settings]) -> None:
        self.name = name
        self.problem = copy.copy(call.problem)
        self.problem.loss = copy.copy(call.problem.loss)
        self.problem.loss.seconds, self.problem.loss.n_evaluations = 0.0, 0
        self.problem.loss.n_threads = call.limits["n_threads"]
        self.settings = call.settings
        self.limits = call.limits
        self.start = call.start
        self.progress = call.progress
        self.user_stop = _any_of(call.should_stop)
        self.interrupted = threading.Event()
        self.ended = threading.Event()
        self.failure: BaseException | None = None
        self.stop = np.zeros(1, np.int64)
        prepare()
        self.began = time.perf_counter()
        limit: float = self.limits["time_limit"]
        loss = self.problem.loss
        recheck = RECHECK_SECONDS * loss.data.rows.read_cost * loss.data.n_rows
        self.deadline: float = self.began + limit - min(recheck, MOST_OF_LIMIT * limit)
        self.initialization_seconds = 0.0

    @property
    def seconds(self) -> float:
        """Wall-clock time since the run began."""
        return time.perf_counter() - self.began

    @property
    def remaining(self) -> float:
        """Seconds that are left, below 0 when time is over."""
        return self.deadline - time.perf_counter()

    def interrupt(self) -> None:
        """End the search as soon as possible; may be called from another thread."""
        self.interrupted.set()
        self.stop[0] = 1

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Set the flag that ends kernels when time is over, or the user wants it.

        What the user's function raises is kept in :attr:`failure`.
        """
        watch = threading.Thread(target=self._watch, name=f"{self.name} limits", daemon=True)
        watch.start()
        try:
            yield
        finally:
            self.ended.set()
            watch.join()

    def _watch(self) -> None:
        try:
            while not self.ended.is_set() and not self.stop[0]:
                remaining = self.remaining
                if remaining <= 0:
                    self.stop[0] = 1
                elif self.user_stop is not None and self.user_stop():
                    self.interrupt()
                self.ended.wait(min(max(remaining, 0.001), 0.1 if self.user_stop else MAX_WAIT))
        except BaseException as error:  # by the user's function: it is raised where the run ends
            self.failure = error
            self.interrupt()

    def is_stopped(self) -> bool:
        """True if the flag is set."""
        return bool(self.stop[0])

    def assembled(
        self,
        coef: NDArray[np.int64],
        certificate: Certificate,
        trace: Trace,
        statistics: SolveStatistics,
        pool: SolutionPool | None = None,
    ) -> Solution:
        """The best score with its certificate.

        Parameters
        ----------
        coef : ndarray of int64, shape (d + 1,)
        certificate : Certificate
        trace : Trace
        statistics : SolveStatistics
        pool : SolutionPool, optional

        Returns
        -------
        Solution
        """
        return Solution(
            coefficients=coef[1:],
            intercept=int(coef[0]),
            certificate=certificate,
            feature_names=self.problem.coefficients.feature_names,
            trace=trace,
            statistics=statistics,
            settings=self._stated(),
            pool=pool,
            scale=certificate.scale,
        )

    def infeasible(self, reason: str) -> Solution:
        """Say that no coefficient vector meets the requirements.

        Parameters
        ----------
        reason : str
            Which of them clash.

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
            gap_tolerance=self.limits["gap_tolerance"],
            bound_tolerance=0.0,
            engine=self.name,
            n_samples=self.problem.loss.data.n_counted,
            message=reason,
        )
        names = self.problem.coefficients.feature_names
        return Solution(None, None, certificate, names, settings=self._stated())

    def _stated(self) -> dict[str, Any]:
        return {"engine": self.name, **self.limits, **dataclasses.asdict(self.settings)}


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
        "time_limit": as_number(time_limit, "time_limit"),
        "gap_tolerance": as_number(gap_tolerance, "gap_tolerance"),
    }
    if not limits["time_limit"] > 0:
        raise ValueError(f"time_limit must be positive, got {time_limit!r}")
    if not 0 <= limits["gap_tolerance"] < 1:
        raise ValueError(f"gap_tolerance must be at least 0 and below 1, got {gap_tolerance!r}")
    limits["node_limit"] = None
    if node_limit is not None:
        limits["node_limit"] = int_between(node_limit, "node_limit", 0, MAX_NODES)
    limits["n_threads"] = checked_threads(n_threads)
    limits["random_state"] = int_between(seed, "random_state", 0, MAX_SEED)
    return limits


def checked_settings(
    problem: RiskScoreProblem, settings: _Settings | None, kind: type[_Settings]
) -> _Settings:
    """Check the kinds of a problem and of an engine's settings.

    Parameters
    ----------
    problem : RiskScoreProblem
    settings : dataclass instance, optional
    kind : type
        What the settings have to be.

    Returns
    -------
    dataclass instance
        The settings, the defaults if there are none.

    Raises
    ------
    TypeError
        One of them is something else.
    """
    if not isinstance(problem, RiskScoreProblem):
        raise TypeError(f"problem must be a RiskScoreProblem, got {type(problem).__name__}")
    if settings is not None and not isinstance(settings, kind):
        raise TypeError(f"settings must be {kind.__name__}, got {type(settings).__name__}")
    return kind() if settings is None else settings


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


def check_rows_in_memory(problem: RiskScoreProblem, engine: str) -> None:
    """Refuse rows in parts for an engine whose heuristics and first cuts read all of them at once.

    Parameters
    ----------
    problem : RiskScoreProblem
    engine : str

    Raises
    ------
    ValueError
        The rows are not in memory.
    """
    if not problem.loss.store.is_block:
        raise ValueError(
            f"{engine} needs the rows in memory, and they are in parts ({problem.loss.store!r}): "
            "use branch_and_bound, or fewer rows"
        )


def check_solver(solver: str) -> None:
    """Refuse a solver that LCPA cannot run on.

    Parameters
    ----------
    solver : str

    Raises
    ------
    ValueError
        It is none of :data:`SOLVERS`.
    """
    if solver not in SOLVERS:
        raise ValueError(
            f"solver must be one of {', '.join(map(repr, SOLVERS))}, got {solver!r}; HiGHS has no "
            "callback that can add cuts"
        )
