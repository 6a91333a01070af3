"""Signals that end a command: SIGTERM and SIGHUP do what Ctrl-C does."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from types import FrameType

__all__ = [
    "breaks_import",
    "comes_of_ctrl_c",
    "ending_like_ctrl_c",
    "held_signals",
    "ignore_signals",
]

# Seconds within which several signals are one.
TOGETHER = 2.0
# SIGHUP is not known to Windows.
_OTHERS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def ending_like_ctrl_c() -> Iterator[Callable[[], bool]]:
    """Let SIGTERM and SIGHUP do what Ctrl-C does at that moment.

    Those that come together count once: services and terminals send several of them where one is
    meant, and a second Ctrl-C gives up what was found. A later one counts again, since an import
    can swallow the exception of the first. Who had them ignored, as nohup does, or has a handler of
    their own keeps that.

    Yields
    ------
    callable
        Whether one of them has come.
    """
    last = -math.inf

    def has_come() -> bool:
        return last > -math.inf

    if threading.current_thread() is not threading.main_thread():
        yield has_come
        return

    def end(signum: int, frame: FrameType | None) -> None:
        nonlocal last
        before, last = last, time.monotonic()
        if last - before < TOGETHER:
            return
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # Ctrl-C is ignored, as in the background of a shell
            raise KeyboardInterrupt
        handler(signal.SIGINT, frame)

    taken = [one for one in _OTHERS if signal.getsignal(one) is signal.SIG_DFL]
    for one in taken:
        signal.signal(one, end)
    try:
        yield has_come
    finally:
        for one in taken:
            signal.signal(one, signal.SIG_DFL)


def comes_of_ctrl_c(error: BaseException) -> bool:
    """Tell whether an exception is a ``KeyboardInterrupt`` or was raised because of one.

    Compiled modules that are interrupted at their import raise an ``ImportError`` from it.

    Parameters
    ----------
    error : BaseException

    Returns
    -------
    bool
    """
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        if isinstance(cause, KeyboardInterrupt):
            return True
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    return False


def breaks_import(error: BaseException) -> bool:
    """Tell whether an exception was raised while a module was imported.

    Parameters
    ----------
    error : BaseException

    Returns
    -------
    bool
    """
    frames = traceback.walk_tb(error.__traceback__)
    return any(frame.f_code.co_filename.startswith("<frozen importlib") for frame, _ in frames)


def ignore_signals() -> None:
    """Ignore what would end the process: all is done, and its exit code is to say how.

    Python ends by SIGINT itself where Ctrl-C came within ``exec``, as when a data class is made,
    whoever took care of it: it forgets that at the next ``exec``.
    """
    exec("")
    if threading.current_thread() is threading.main_thread():
        for one in (signal.SIGINT, *_OTHERS):
            signal.signal(one, signal.SIG_IGN)


@contextlib.contextmanager
def held_signals() -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP wait until something short is done.

    Yields
    ------
    None

    Raises
    ------
    KeyboardInterrupt
        At the end, where one of them came.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, *_OTHERS)}
    # Not those that are ignored, nor those that something other than Python handles.
    held = [one for one, handler in before.items() if callable(handler)]
    for one in held:
        signal.signal(one, lambda signum, _: came.append(signum))
    try:
        yield
    finally:
        for one in held:
            signal.signal(one, before[one])
    if came:
        raise KeyboardInterrupt
