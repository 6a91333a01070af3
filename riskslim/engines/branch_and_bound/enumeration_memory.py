"""Memory that the threads of tables of supports share."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Memory", "Room"]


class Room(NamedTuple):
    """Memory that a scan works in."""

    words: NDArray[np.uint64]
    integers: NDArray[np.int32]
    floats: NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return self.words.nbytes + self.integers.nbytes + self.floats.nbytes

    def holds(self, n_words: int, n_integers: int, n_floats: int) -> bool:
        """True if it is enough for a scan that needs so much."""
        return (
            len(self.words) >= n_words
            and len(self.integers) >= n_integers
            and len(self.floats) >= n_floats
        )


class Memory:
    """Bytes that threads share: one that wants more than is left waits for another one to end.

    How much a thread may have does not depend on their number, so that the search does not, either.

    Parameters
    ----------
    limit : float
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._used = 0
        self._changed = threading.Condition()
        # The system clears what it hands out: for many rows that takes longer than a task.
        self._spare: list[Room] = []

    def room(self, n_words: int, n_integers: int, n_floats: int) -> Room:
        """Room for a scan, what another one has given back if that is enough.

        Parameters
        ----------
        n_words, n_integers, n_floats : int

        Returns
        -------
        Room
        """
        with self._changed:
            spare = self._spare.pop() if self._spare else None
        if spare is not None and spare.holds(n_words, n_integers, n_floats):
            return spare
        del spare  # before there is more
        return Room(
            np.empty(n_words, np.uint64), np.empty(n_integers, np.int32),
            np.empty(n_floats, np.float32),
        )  # fmt: skip

    def give_back(self, room: Room) -> None:
        """Keep room for the next scan.

        Parameters
        ----------
        room : Room
        """
        with self._changed:
            if sum(one.nbytes for one in self._spare) + self._used <= self.limit:
                self._spare.append(room)

    @contextlib.contextmanager
    def taken(self, n_bytes: int) -> Iterator[None]:
        """Have some of it for the time of a context.

        Parameters
        ----------
        n_bytes : int
            At most the limit.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._used + n_bytes <= self.limit)
            self._used += n_bytes
        try:
            yield
        finally:
            with self._changed:
                self._used -= n_bytes
                self._changed.notify_all()
