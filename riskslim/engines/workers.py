"""Processes that work on independent models, one model at a time each.

Every worker is a process pool of its own, of one process: what kills a process, as the system does
where memory runs out, costs the model that it worked on, and no other. Workers end with their
parent, whatever ends it, and hear of a Ctrl-C from it alone: a terminal sends it to all of them,
a service to the parent only.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import numpy as np
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import TerminatedWorkerError
from numpy.typing import NDArray

__all__ = ["TerminatedWorkerError", "Workers"]

# Seconds between two looks of a worker at its parent.
_LOOKS_EVERY = 0.2

# Seconds that a worker which is told to end by a signal waits for its parent to say so, too.
_PATIENCE = 1.0

# Larger arrays are shared by files that all processes map, not copied to each.
_LARGE = 1_000_000

# Threads of libraries in each worker: all of them together are as many as there are cores.
_THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "VECLIB_MAXIMUM", "NUMBA")

_STOP = "stop"


class Workers:
    """Several processes, each of which is given one piece of work at a time.

    Parameters
    ----------
    count : int
    """

    def __init__(self, count: int) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="riskslim-"))
        self._shared = _SharedArrays(self._folder)
        threads = str(max((os.cpu_count() or 1) // count, 1))
        names = (f"{name}_NUM_THREADS" for name in _THREADS)
        self._environment = {name: threads for name in names if name not in os.environ}
        self._idle: list[ProcessPoolExecutor] = []
        self._busy: dict[Future[Any], ProcessPoolExecutor] = {}
        # Files that workers make when they begin, after all that is imported for their work.
        self._marks: dict[Future[Any], Path] = {}
        self._submitted = 0
        self._free = count

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all workers, whatever they do."""
        try:
            for executor in [*self._idle, *self._busy.values()]:
                executor.shutdown(wait=True, kill_workers=True)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def has_free(self) -> bool:
        """True if a worker has nothing to do."""
        return self._free > 0

    def submit(self, work: Callable[..., Any], arguments: tuple[Any, ...]) -> Future[Any]:
        """Give work to a free worker.

        Parameters
        ----------
        work : callable
        arguments : tuple

        Returns
        -------
        Future
            Its result is None where :meth:`interrupt` ended the work. Its exception is a
            :class:`TerminatedWorkerError` where the process was killed.
        """
        executor = self._idle.pop() if self._idle else self._started()
        mark = self._folder / f"begun-{self._submitted}"
        self._submitted += 1
        try:
            future: Future[Any] = executor.submit(_done, work, arguments, str(mark))
        except BaseException:
            executor.shutdown(wait=False, kill_workers=True)
            raise
        self._busy[future] = executor
        self._marks[future] = mark
        self._free -= 1
        return future

    def release(self, future: Future[Any]) -> None:
        """Take back the worker of work that is done; one that was killed is replaced.

        Parameters
        ----------
        future : Future
        """
        executor = self._busy.pop(future)
        self._marks.pop(future).unlink(missing_ok=True)
        if isinstance(future.exception(), TerminatedWorkerError):
            executor.shutdown(wait=True, kill_workers=True)
        else:
            self._idle.append(executor)
        self._free += 1

    def interrupt(self) -> None:
        """Tell all workers to end their work as Ctrl-C does, and to give back what they have."""
        (self._folder / _STOP).touch()

    def has_begun(self, future: Future[Any]) -> bool:
        """True if the worker does this work already, and is not still importing packages.

        Parameters
        ----------
        future : Future
            Of work that was not taken back.

        Returns
        -------
        bool
        """
        return future.done() or self._marks[future].exists()

    def _started(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            1,
            job_reducers={np.ndarray: self._shared},
            result_reducers={},
            initializer=_watch,
            initargs=(os.getpid(), str(self._folder)),
            env=self._environment,
        )


class _SharedArrays:
    """Large arrays as files, each written once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()  # several threads send work
        # The arrays are kept, so that no other one gets their id.
        self._files: dict[int, tuple[NDArray[Any], str]] = {}

    def __reduce__(self) -> tuple[Any, ...]:  # workers are sent it; a lock cannot be
        return _SharedArrays, (self._folder,)

    def __call__(self, array: NDArray[Any]) -> tuple[Any, ...]:
        """Return what makes the array again in another process."""
        if array.nbytes < _LARGE or array.dtype.hasobject:
            return array.__reduce__()  # type: ignore[return-value]  # a str for no array
        with self._lock:
            if id(array) not in self._files:
                file = self._folder / f"{len(self._files)}.npy"
                try:
                    np.save(file, array)
                except OSError:  # no room: it is copied
                    file.unlink(missing_ok=True)
                    return array.__reduce__()  # type: ignore[return-value]
                self._files[id(array)] = array, str(file)
            return _mapped, (self._files[id(array)][1],)


# ---------------------------------------------------------------------------------------------
# In the worker
# ---------------------------------------------------------------------------------------------


def _mapped(file: str) -> NDArray[Any]:
    return np.asarray(np.load(file, mmap_mode="r"))


class _State:
    """State of a worker: it works, it is to end its work, a signal told it to end."""

    works = False
    is_to_end = False
    signalled: float | None = None


def _watch(parent: int, folder: str) -> None:
    """Begin to look at the parent, and leave signals to it."""
    signal.signal(signal.SIGINT, _on_interrupt)
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _on_end)
    threading.Thread(target=_look, args=(parent, folder), daemon=True).start()


def _look(parent: int, folder: str) -> None:
    stop = Path(folder, _STOP)
    while True:
        time.sleep(_LOOKS_EVERY)
        if os.name == "posix" and os.getppid() != parent:
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(1)
        if not _State.is_to_end and stop.exists():
            _State.is_to_end = True
            if _State.works:
                _interrupt_main()
        told = _State.signalled
        if told is not None and not _State.is_to_end and time.monotonic() - told > _PATIENCE:
            os._exit(1)  # it was meant for this process alone


def _interrupt_main() -> None:
    """Send SIGINT to the main thread, which may sleep in a call of the system."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main(signal.SIGINT)


def _on_interrupt(signum: int, frame: FrameType | None) -> None:
    """End the work where the parent has said so; a terminal's Ctrl-C reaches the parent, too."""
    if _State.is_to_end and _State.works:
        _State.works = False  # once
        raise KeyboardInterrupt


def _on_end(signum: int, frame: FrameType | None) -> None:
    if _State.signalled is None:
        _State.signalled = time.monotonic()


def _done(work: Callable[..., Any], arguments: tuple[Any, ...], mark: str) -> Any:
    Path(mark).touch()
    with contextlib.suppress(KeyboardInterrupt):
        _State.works = True
        try:
            return None if _State.is_to_end else work(*arguments)
        finally:
            _State.works = False
    return None
