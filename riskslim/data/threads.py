"""Work on other threads: pieces of it on several, and all of it on one that the caller watches.

What a piece does may depend on its number alone, so that the result is the same for any number of
threads. It helps where the pieces leave the interpreter's lock alone for most of their time.
"""

from __future__ import annotations

import contextvars
import functools
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from riskslim._threads import Pool

__all__ = ["SecondThread", "in_threads", "watched"]

_Result = TypeVar("_Result")

# Seconds between two questions of a caller who watches.
EVERY = 0.05


def in_threads(work: Callable[[int], object], n_pieces: int, n_threads: int) -> None:
    """Do pieces of work, one after the other or on several threads.

    Parameters
    ----------
    work : callable
        Called with the number of each piece. What it raises is raised here.
    n_pieces, n_threads : int

    Examples
    --------
    >>> from riskslim.data.threads import in_threads
    >>> squares = [0, 0, 0]
    >>> in_threads(lambda i: squares.__setitem__(i, i * i), 3, 2)
    >>> squares
    [0, 1, 4]
    """
    if min(n_pieces, n_threads) < 2:
        for piece in range(n_pieces):
            work(piece)
        return
    with Pool(min(n_pieces, n_threads)) as pool:
        for _ in pool.map(work, range(n_pieces)):
            pass


class SecondThread(Generic[_Result]):
    """Work on a second thread, while this one waits and can see signals.

    Python handles signals in the main thread only, and not while that is inside of a kernel or a
    solver.

    Parameters
    ----------
    work : callable
        Without arguments. It runs in a copy of the caller's context.
    name : str, optional
        The thread's.

    Examples
    --------
    >>> from riskslim.data.threads import SecondThread
    >>> second = SecondThread(lambda: 6 * 7)
    >>> second.start()
    >>> while not second.has_ended(0.1):
    ...     pass
    >>> second.result()
    42
    """

    def __init__(self, work: Callable[[], _Result], name: str | None = None) -> None:
        # Not Thread.join: interrupted, it can take a running thread for one that has ended.
        self._done = threading.Event()
        self._outcome: list[_Result] = []
        self._failure: list[BaseException] = []

        def run() -> None:
            try:
                self._outcome.append(work())
            except BaseException as error:
                self._failure.append(error)
            finally:
                self._done.set()

        context = contextvars.copy_context()
        self._work: Callable[[], None] | None = functools.partial(context.run, run)
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)

    def start(self) -> None:
        """Begin; where the system starts no thread, this one does the work."""
        work, self._work = self._work, None  # which refers to this object, and to all its data
        try:
            self._thread.start()
        except RuntimeError:
            if work is None:  # it was begun before
                raise
            work()

    def has_ended(self, seconds: float) -> bool:
        """Wait so long for the end, and say whether it has come."""
        return self._done.wait(seconds)

    def end(self) -> None:
        """Wait for the end of what was begun; of what an exception kept from beginning, not."""
        while self._thread.is_alive() and not self._done.wait(EVERY):
            pass

    def result(self) -> _Result:
        """Return what the work returned, or raise what it raised."""
        if self._failure:
            raise self._failure[0]
        return self._outcome[0]


def watched(
    work: Callable[[NDArray[np.int64]], _Result], should_stop: Callable[[], bool] | None
) -> _Result:
    """Do compiled work that Ctrl-C can end, and a function that says so.

    Parameters
    ----------
    work : callable
        Called with an int64 array of shape (1,), at which it looks; not zero: end.
    should_stop : callable, optional
        Asked by this thread while another one works.

    Returns
    -------
    The result of ``work``.

    Raises
    ------
    KeyboardInterrupt
        Once the work has ended.

    Examples
    --------
    >>> from riskslim.data.threads import watched
    >>> watched(lambda stop: int(stop[0]), None)
    0
    """
    stop = np.zeros(1, np.int64)
    is_main = threading.current_thread() is threading.main_thread()
    if should_stop is None and not is_main:
        return work(stop)
    second = SecondThread(lambda: work(stop))
    try:
        second.start()
        while not second.has_ended(EVERY):
            if should_stop is not None and not stop[0] and should_stop():
                stop[0] = 1
    except BaseException:
        stop[0] = 1
        second.end()
        raise
    return second.result()
