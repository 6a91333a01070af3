"""A pool of threads that does with fewer where the system starts no more."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

__all__ = ["Pool"]


class Pool(ThreadPoolExecutor):
    """Threads that share work: fewer where the system starts no more, at last the caller alone.

    Examples
    --------
    >>> from riskslim._threads import Pool
    >>> with Pool(2) as pool:
    ...     list(pool.map(abs, [-1, 2]))
    [1, 2]
    """

    def _adjust_thread_count(self) -> None:
        try:
            super()._adjust_thread_count()
        except RuntimeError:
            if not self._threads:
                raise

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have a call made, by the caller where there is no thread for it."""
        try:
            return super().submit(fn, *args, **kwargs)
        except RuntimeError:
            if self._shutdown:
                raise
        self._work_queue.get_nowait()  # nobody else takes it
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future
