"""Open sets of scores: what a search has not looked into, and how it is divided.

A search holds open sets of any kind. Each bounds what it holds, and divides itself into smaller
ones; the search takes the set with the least bound, and knows no kind by its name.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from riskslim.engines.branch_and_bound.nodes import Child, Node
from riskslim.engines.branch_and_bound.workspace import Worker, share

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.support_enumeration import Scanned

__all__ = ["Budget", "Found", "OpenSet"]

_Work = TypeVar("_Work")
_Result = TypeVar("_Result")


class Found(NamedTuple):
    """Findings of a part of the work on an open set.

    Attributes
    ----------
    children : sequence of Child
        Nodes that are left.
    features : bytes or None
        Those that their rows need; None: all.
    by_relaxation : bool
        Tables have seen the children, or cannot complete them.
    dives : bool
        The children are looked into before all else.
    scanned : Scanned or None
        By tables: statistics, and vectors that are candidates.
    leaf : ndarray of float64, shape (d + 1,), or None
        A candidate.
    is_node : bool
        The work was that of a node.
    seconds : float
        Predicted time of the work on a node.
    bound : float or None
        Lower bound of a node, if its children say how fast bounds rise.
    returned : Node or None
        A node that is open again.
    opened : OpenSet or None
        A set of another kind in place of a node.
    """

    children: Sequence[Child] = ()
    features: bytes | None = None
    by_relaxation: bool = True
    dives: bool = False
    scanned: Scanned | None = None
    leaf: NDArray[np.float64] | None = None
    is_node: bool = False
    seconds: float = 0.0
    bound: float | None = None
    returned: Node | None = None
    opened: OpenSet | None = None


class Budget(NamedTuple):
    """Means of a division, and what it need not look for.

    Attributes
    ----------
    cutoff : float
        Objective from which nothing is looked for.
    lower_bound : float
        Of the search.
    size : int
        Parts of the set that are divided.
    memory_limit : int
        Bytes of a set beyond which it is divided to the end.
    stop : int64 array of shape (1,)
        Not zero: end as soon as possible.
    workers : list of Worker
    pool : Executor
    aside : callable or None
        Other work of the search, done beside.
    """

    cutoff: float
    lower_bound: float
    size: int
    memory_limit: int
    stop: NDArray[np.int64]
    workers: list[Worker]
    pool: Executor
    aside: Callable[[], None] | None

    def share(
        self,
        pieces: list[_Work],
        work: Callable[[_Work, Worker], _Result],
        length: Callable[[_Work], int] | None = None,
    ) -> list[_Result]:
        """Do pieces of work on all threads; see :func:`~.workspace.share`.

        Parameters
        ----------
        pieces : list
        work : callable
            Called with a piece and a worker.
        length : callable, optional
            Of a piece.

        Returns
        -------
        list
            In the order of the pieces.
        """
        return share(self.workers, pieces, work, self.pool, self.aside, length)


class OpenSet(abc.ABC):
    """Scores that a search has not looked into.

    A new way of dividing a search is a class like this one, and a word in
    :class:`~riskslim.engines.branch_and_bound.ways.Ways` on when it is worth it.
    """

    @property
    @abc.abstractmethod
    def bound(self) -> float:
        """Lower bound of the objectives of what is left, infinite where nothing is."""

    @property
    @abc.abstractmethod
    def is_done(self) -> bool:
        """True if nothing is left."""

    @property
    def is_begun(self) -> bool:
        """True if it is looked into before sets of smaller bounds."""
        return False

    @abc.abstractmethod
    def prune(self, cutoff: float) -> None:
        """Forget what is not below an objective.

        Parameters
        ----------
        cutoff : float
        """

    @abc.abstractmethod
    def divide(self, budget: Budget) -> Iterator[Found]:
        """Divide a part of the set.

        Parameters
        ----------
        budget : Budget

        Yields
        ------
        Found
            The search takes it over before it asks for the next one.
        """
