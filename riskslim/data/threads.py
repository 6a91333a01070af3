"""Independent pieces of work on several threads: passes of NumPy and kernels over single columns.

What a piece does may depend on its number alone, so that the result is the same for any number of
threads. It helps where the pieces leave the interpreter's lock alone for most of their time.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["in_threads"]


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
    with ThreadPoolExecutor(min(n_pieces, n_threads)) as pool:
        for _ in pool.map(work, range(n_pieces)):
            pass
