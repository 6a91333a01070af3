"""Arguments of the compiled nodes of the search, and the memory that they work in."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import nodes as kernels
from riskslim.config import physical_memory
from riskslim.exceptions import WorkMemoryError

__all__ = [
    "NOTHING_KNOWN",
    "KernelArguments",
    "KernelNode",
    "NodeWork",
    "Worker",
    "new_workers",
    "share",
    "smallest_type",
]  # fmt: skip

_Work = TypeVar("_Work")
_Found = TypeVar("_Found")

# What is known of a node whose rows are all read.
NOTHING_KNOWN = np.empty(0)


class KernelArguments(NamedTuple):
    """Rows, problem, cutoff and tolerance: what every kernel begins with."""

    integer_columns: NDArray[np.int8]
    real_columns: NDArray[np.float64]
    slot: NDArray[np.int64]
    positive: NDArray[np.float64]
    negative: NDArray[np.float64]
    penalty: NDArray[np.float64]
    ridge: NDArray[np.float64]
    largest: NDArray[np.float64]
    duplicate: NDArray[np.int64]
    ends: NDArray[Any]
    min_size: int
    max_size: int
    cutoff: float
    tolerance: float
    known: NDArray[np.float64]  # empty, or a linearisation: the rows are a sample then


class KernelNode(NamedTuple):
    """A node in the numbers of the kernels, which change them.

    Box and coefficients in points, what a point is worth (t and its interval), and bound,
    objective and multiplier.
    """

    box: NDArray[np.float64]
    coef: NDArray[np.float64]
    worth: NDArray[np.float64]
    result: NDArray[np.float64]


class NodeWork(NamedTuple):
    """Work on nodes."""

    arguments: KernelArguments
    steps: int  # of a relaxation
    branching: int
    stop: NDArray[np.int64]

    def knowing(self, known: NDArray[np.float64]) -> NodeWork:
        """Make the same, for which a linearisation of the loss of all rows is known."""
        return self._replace(arguments=self.arguments._replace(known=known))

    def expand(self, part: KernelNode, worker: Worker) -> tuple[int, list[KernelNode]]:
        """Branch on a node: the kernel's status, and the children that are open."""
        status = kernels.expand(
            *self.arguments, self.steps, self.branching, *part, worker.box, worker.coef,
            worker.worth, worker.result, self.stop, worker.counters, worker.work, worker.index,
        )  # fmt: skip
        return status, [worker.part(i) for i in range(status)]

    def relax(self, part: KernelNode, worker: Worker) -> int:
        """Relax a node; says whether it is pruned."""
        return kernels.solve_root(
            *self.arguments, self.steps, *part, self.stop, worker.counters, worker.work,
            worker.index,
        )  # fmt: skip

    def apply_cut(self, part: KernelNode, worker: Worker) -> int:
        """Bound and shrink a node by what is known; says whether it is pruned."""
        return kernels.apply_cut(
            *self.arguments, *part, self.stop, worker.counters, worker.work, worker.index
        )


class Worker:
    """The memory that one thread works in.

    Parameters
    ----------
    n_rows : int
        Most rows.
    p : int
        Number of coefficients.

    Attributes
    ----------
    n_threads : int
        Threads that passes over many rows may have: all that there are, unless others work, too.
    """

    def __init__(self, n_rows: int, p: int) -> None:
        n_floats, n_indices = kernels.scratch_sizes(n_rows, p)
        self.work = np.empty(n_floats)
        self.index = np.empty(n_indices, np.int64)
        self.box = np.empty((3, 2, p))
        self.coef = np.empty((3, p))
        self.worth = np.empty((3, 3))
        self.result = np.empty((3, 4))
        self.counters = np.zeros(5)
        self.n_threads = 1

    def part(self, i: int) -> KernelNode:
        """Copy a child."""
        arrays = (self.box, self.coef, self.worth, self.result)
        return KernelNode(*(array[i].copy() for array in arrays))


def new_workers(n_workers: int, n_rows: int, p: int) -> list[Worker]:
    """Allocate the memory of several threads.

    Their matrices have a row and a column for each of p coefficients, and pages of which nothing is
    used cost nothing. Fewer threads are given memory where all of them would not fit.

    Raises
    ------
    WorkMemoryError
        There is less in the machine than one of them might use.
    """
    needed = 8 * sum(kernels.scratch_sizes(n_rows, p))
    memory = physical_memory()
    if memory is not None:
        if needed > memory:
            raise WorkMemoryError(
                f"relaxations of {p - 1:,} features need up to {needed:,} bytes for matrices, and "
                f"the machine has {memory:,}: leave out features, or choose among them first"
            )
        n_workers = max(1, min(n_workers, memory // needed))
    workers = [Worker(n_rows, p) for _ in range(n_workers)]
    for worker in workers:
        worker.n_threads = n_workers
    return workers


def share(
    workers: list[Worker],
    pieces: list[_Work],
    work: Callable[[_Work, Worker], _Found],
    pool: Executor,
    aside: Callable[[], None] | None = None,
    length: Callable[[_Work], int] | None = None,
) -> list[_Found]:
    """Do pieces of work on all threads; what they find in the order of the pieces.

    A thread that is done with one takes the next, the longest ones first, so that the last one ends
    soon after the others. Where pieces are few, passes over the rows are
    shared by the threads that have none. Something else can be done aside, by the first thread
    that then takes pieces, too: neither may see what the other changes.
    """
    beside = None
    if aside is not None and len(workers) > 1:
        beside = pool.submit(aside)
    elif aside is not None:
        aside()
    used = workers[: max(len(pieces), 1)]
    for worker in used:
        worker.n_threads = len(workers) // len(used)
    found: dict[int, _Found] = {}
    due = deque(enumerate(pieces))
    if length is not None:
        due = deque(sorted(due, key=lambda piece: -length(piece[1])))

    def some(worker: Worker) -> None:
        while True:
            try:
                i, piece = due.popleft()
            except IndexError:
                return
            found[i] = work(piece, worker)

    for _ in map(some, used) if len(used) == 1 else pool.map(some, used):
        pass
    if beside is not None:
        beside.result()
    for worker in used:
        worker.n_threads = len(workers)
    return [found[i] for i in range(len(pieces))]


def smallest_type(box: NDArray[np.float64]) -> type[np.signedinteger]:
    """Choose a type of integers for the boxes of nodes.

    Parameters
    ----------
    box : ndarray of float64
        A box that contains all others.

    Returns
    -------
    type
        The smallest one that holds its ends.
    """
    largest = np.abs(box).max()
    for kind in (np.int8, np.int16, np.int32):
        if largest <= np.iinfo(kind).max:
            return kind
    return np.int64
