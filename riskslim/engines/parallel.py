"""Independent fits side by side, with progress."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from riskslim.engines.runs import stopped_by

if TYPE_CHECKING:
    from riskslim.engines.workers import Workers

__all__ = ["Finished", "Step", "in_parallel", "workers_for"]

logger = logging.getLogger("riskslim.parallel")

# Seconds between two looks at what the user wants.
_LOOKS_EVERY = 0.1

# Seconds that workers have, after Ctrl-C, to give back what they found.
_GRACE = 15.0


class Step(NamedTuple):
    """The progress so far, for a callback.

    Attributes
    ----------
    done, total : int
        Models that are finished, and all of them.
    what : str
        The last one, for example "fold 3" or "all rows".

    Examples
    --------
    >>> from riskslim.model_selection import Step
    >>> step = Step(done=2, total=6, what="fold 2")
    >>> f"{step.what}: {step.done} of {step.total}"
    'fold 2: 2 of 6'
    """

    done: int
    total: int
    what: str


@dataclasses.dataclass
class Finished:
    """Results of the work that was finished.

    Attributes
    ----------
    results : dict
        By position.
    lost : list of str
        Names of the work whose process was killed, also when it was tried once more alone.
    """

    results: dict[int, Any] = dataclasses.field(default_factory=dict)
    lost: list[str] = dataclasses.field(default_factory=list)


def in_parallel(
    work: Callable[..., Any],
    tasks: Sequence[tuple[str, tuple[Any, ...]]],
    *,
    n_jobs: int | None,
    progress: Callable[[Step], None] | None,
    should_stop: Callable[[], bool] | None,
    workers: Workers | None = None,
) -> Finished:
    """Do pieces of work, some at a time, until all are done or the user stops it.

    Parameters
    ----------
    work : callable
        Its result is None where the user interrupted it, or has a true ``interrupted`` if what was
        done until then is of use. Nothing else is done then.
    tasks : sequence of (name, arguments)
    n_jobs : int or None
        As in joblib. More than one are processes of this machine, whatever backend is active.
    progress : callable, optional
        Called with a :class:`Step` after each.
    should_stop : callable, optional
    workers : Workers, optional
        Of :func:`workers_for`. Default: processes of its own.

    Returns
    -------
    Finished

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C before any result; a second Ctrl-C.

    Notes
    -----
    A process that is killed costs the work that it was on; this is tried once more, alone, when all
    other work is done. At Ctrl-C processes end their searches, and what they found is kept.
    """
    run = _Run(work, tasks, progress, should_stop)
    if should_stop is not None and should_stop():
        return run.finished
    own = contextlib.nullcontext(workers) if workers else workers_for(n_jobs, len(tasks))
    with own as processes:
        if processes is None:
            run.one_by_one()
        else:
            run.side_by_side(processes)
    finished = run.finished
    if finished.lost:
        logger.warning(
            "the process of %s was killed, twice, as happens where memory runs out",
            ", ".join(finished.lost),
        )
    if len(finished.results) < len(tasks):
        logger.warning("stopped: %d of %d models are finished", len(finished.results), len(tasks))
    return finished


def workers_for(n_jobs: int | None, n_tasks: int) -> AbstractContextManager[Workers | None]:
    """Return processes that several calls of :func:`in_parallel` may share, one after the other.

    After a call that was interrupted they are of no use any more.

    Parameters
    ----------
    n_jobs : int or None
    n_tasks : int
        Most pieces of work of one call.

    Returns
    -------
    context manager
        Of :class:`~riskslim.engines.workers.Workers`; of None where the work is done in
        this process.
    """
    from joblib import effective_n_jobs

    n_workers = min(effective_n_jobs(n_jobs), n_tasks)
    if n_workers <= 1:
        return contextlib.nullcontext()
    from riskslim.engines.workers import Workers

    return Workers(n_workers)


class _Run:
    """Work, and what is finished of it."""

    def __init__(
        self,
        work: Callable[..., Any],
        tasks: Sequence[tuple[str, tuple[Any, ...]]],
        progress: Callable[[Step], None] | None,
        should_stop: Callable[[], bool] | None,
    ) -> None:
        self.work, self.tasks = work, tasks
        self.progress = progress
        self.should_stop = should_stop
        self.finished = Finished()
        self.is_interrupted = False
        self.is_stopped = False

    def one_by_one(self) -> None:
        """Do the work in this process."""
        try:
            for k, (_, arguments) in enumerate(self.tasks):
                with stopped_by(None if self.should_stop is None else self._stops):
                    result = self.work(*arguments)
                if not self._keeps(k, result):
                    return
        except KeyboardInterrupt:
            # Where scikit-learn has many fits to do, this is how one that was ended ends the rest.
            if not (self.finished.results or self.is_stopped):
                raise

    def side_by_side(self, workers: Workers) -> None:
        """Do the work in other processes."""
        with self._interrupted_by_ctrl_c():
            try:
                killed = self._all_done(workers, deque(range(len(self.tasks))))
                for k in killed or ():
                    name = self.tasks[k][0]
                    logger.warning("the process of %s was killed; it is tried again", name)
                    again = self._all_done(workers, deque([k]))
                    if again is None:
                        break
                    self.finished.lost += [name] * len(again)
            except KeyboardInterrupt:
                if not self.finished.results:
                    raise
        if self.is_interrupted and not self.finished.results:
            raise KeyboardInterrupt

    def _all_done(self, workers: Any, waiting: deque[int]) -> list[int] | None:
        """Do work until it is done: what was killed is returned, None where the user ended it."""
        from riskslim.engines.workers import TerminatedWorkerError

        running: dict[Future[Any], int] = {}
        killed: list[int] = []
        while waiting or running:
            while waiting and workers.has_free:
                try:
                    running[workers.submit(self.work, self.tasks[waiting[0]][1])] = waiting[0]
                except (OSError, RuntimeError):
                    if not running:
                        raise
                    break  # the system starts no more of them: those that are there go on
                waiting.popleft()
            with self._kept_interrupt():
                done, _ = wait(running, _LOOKS_EVERY, FIRST_COMPLETED)
            if self.is_interrupted:
                self._collect(workers, running)
                return None
            for future in done:
                k = running.pop(future)
                workers.release(future)
                if isinstance(future.exception(), TerminatedWorkerError):
                    killed.append(k)
                elif not self._keeps(k, future.result()):
                    return None
            if not done and self._stops():
                return None
        return killed

    def _keeps(self, k: int, result: Any) -> bool:
        """Keep a result, and say whether to go on."""
        if result is None:
            return False
        finished = self.finished.results
        finished[k] = result
        if self.progress is not None:
            self.progress(Step(len(finished), len(self.tasks), self.tasks[k][0]))
        stops = self._stops()
        return not (getattr(result, "interrupted", False) or stops)

    def _stops(self) -> bool:
        """Ask the user, and remember it."""
        self.is_stopped = self.is_stopped or (
            self.should_stop is not None and bool(self.should_stop())
        )
        return self.is_stopped

    def _collect(self, workers: Any, running: dict[Future[Any], int]) -> None:
        """Have workers end their searches, and keep what they found."""
        logger.warning("interrupted: ending the searches, what was found is kept")
        workers.interrupt()
        # Whoever has not begun has found nothing, and is killed with all others.
        running = {future: k for future, k in running.items() if workers.has_begun(future)}
        until = time.monotonic() + _GRACE
        while running and time.monotonic() < until:
            done, _ = wait(running, _LOOKS_EVERY, FIRST_COMPLETED)
            for future in done:
                k = running.pop(future)
                if future.exception() is None and future.result() is not None:
                    self.finished.results[k] = future.result()

    @contextlib.contextmanager
    def _kept_interrupt(self) -> Iterator[None]:
        """Take a KeyboardInterrupt, of a handler that is not ours, for a first Ctrl-C."""
        try:
            yield
        except KeyboardInterrupt:
            if self.is_interrupted:
                raise
            self.is_interrupted = True

    @contextlib.contextmanager
    def _interrupted_by_ctrl_c(self) -> Iterator[None]:
        """Let the first Ctrl-C end the work, and the second raise KeyboardInterrupt."""

        def handle(signum: int, frame: FrameType | None) -> None:
            if self.is_interrupted:
                raise KeyboardInterrupt
            self.is_interrupted = True

        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, handle)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)
