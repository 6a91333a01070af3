"""The system's limits on threads and memory, where libraries would end the process without a word.

They start threads of their own when they are imported or first used, some of which abort where they
get none: what there is is found out before, and they are told to do with one thread each.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from riskslim.exceptions import WorkMemoryError

__all__ = ["checked_limits_of_system", "naming_limits"]

# Threads without which pyarrow ends the process; and what it takes of memory to import packages.
LEAST_THREADS = 3
LEAST_BYTES = 512 * 2**20
# Threads that libraries start for each core, and memory that each of them reserves.
THREADS_PER_CORE = 2
BYTES_PER_THREAD = 64 * 2**20

# Libraries with threads: one each is enough. The memory pools of pyarrow but one have some, too.
_LIBRARIES = (
    "OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "NUMBA", "VECLIB_MAXIMUM",
)  # fmt: skip
_ALONE = {
    **{f"{name}_NUM_THREADS": "1" for name in _LIBRARIES},
    "NUMEXPR_MAX_THREADS": "1", "ARROW_IO_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system",
}  # fmt: skip
_ADVICE = (
    "allow more (ulimit -u and -v, or the limits of the container), or use fewer threads or jobs"
)
# What is said where threads, processes or room in memory are refused.
_REFUSED = (
    "can't start new thread", "launch worker thread", "failed to map segment",
    "annot allocate memory", "std::bad_alloc",
)  # fmt: skip


def checked_limits_of_system() -> str:
    """Have libraries do with what the system allows, before any of them is imported.

    Returns
    -------
    str
        Why it is too little; empty where it is not.
    """
    cores = os.cpu_count() or 1
    wanted = LEAST_THREADS + THREADS_PER_CORE * cores
    threads, room = _startable(wanted), _address_space()
    if threads < wanted or room < 2 * LEAST_BYTES + cores * BYTES_PER_THREAD:
        for name, value in _ALONE.items():
            os.environ.setdefault(name, value)
    if room < LEAST_BYTES:
        return (
            f"the process may have {room / 2**20:.0f} MB of address space, and needs "
            f"{LEAST_BYTES / 2**20:.0f} MB: {_ADVICE}"
        )
    if threads < LEAST_THREADS:
        return (
            f"the system lets this process start {threads} threads, and it needs "
            f"{LEAST_THREADS}: {_ADVICE}"
        )
    return ""


@contextmanager
def naming_limits() -> Iterator[None]:
    """Name the limit where the system refuses a thread, a process or memory later on.

    Yields
    ------
    None

    Raises
    ------
    WorkMemoryError
        In the place of whatever a library raises.
    """
    try:
        yield
    except Exception as error:  # those of pyarrow are of no kind of their own
        is_refused = any(words in str(error) for words in _REFUSED)
        is_limit = isinstance(error, OSError) and error.errno in (errno.EAGAIN, errno.ENOMEM)
        if is_refused or is_limit:
            raise WorkMemoryError(
                f"the system refuses threads, processes or memory ({error}): {_ADVICE}"
            ) from error
        raise


def _startable(wanted: int) -> int:
    """Count how many of so many threads can be started."""
    over = threading.Event()
    started = []
    try:
        for _ in range(wanted):
            thread = threading.Thread(target=over.wait, daemon=True)
            thread.start()
            started.append(thread)
    except (RuntimeError, MemoryError):
        pass
    finally:
        over.set()
    for thread in started:
        thread.join()
    return len(started)


def _address_space() -> float:
    """Bytes that the process may map; infinite without a limit."""
    try:
        import resource
    except ImportError:  # Windows
        return float("inf")
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return float("inf") if limit == resource.RLIM_INFINITY else float(limit)
