"""Nodes of the search, as it keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.engines.branch_and_bound.workspace import NOTHING_KNOWN

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.support_enumeration import Scanned

__all__ = ["Child", "Expansion", "InverseScale", "Node", "Root", "signs", "unexpanded"]


class InverseScale(NamedTuple):
    """The worth of one point, t = 1 / scale, and the interval that it may lie in."""

    t: float
    low: float
    high: float


class Node(NamedTuple):
    """An open node, in little memory: heaps compare bound and order only."""

    bound: float
    order: int
    box: NDArray[np.integer]
    coef: NDArray[np.float32]
    intercept: float  # its derivative is multiplied by a wide box: float32 would cost bound
    multiplier: float
    worth: InverseScale
    features: bytes
    by_relaxation: bool  # tables have seen it, or cannot complete it
    known: NDArray[np.float64]  # a linearisation of the loss of all rows, or empty

    @property
    def nbytes(self) -> int:
        """Memory of it, about."""
        return self.box.nbytes + self.coef.nbytes + self.known.nbytes + 400


class Child(NamedTuple):
    """A node that is not open yet, in the numbers of the kernels."""

    bound: float
    box: NDArray[np.float64]
    coef: NDArray[np.float64]
    multiplier: float
    worth: InverseScale
    known: NDArray[np.float64] = NOTHING_KNOWN


class Expansion(NamedTuple):
    """The outcome of a node."""

    children: list[Child]
    leaf: NDArray[np.float64] | None  # its only integer vector
    features: bytes
    scanned: Scanned | None = None  # by tables, which leave nothing but the children
    seconds: float = 0.0  # predicted


class Root(NamedTuple):
    """Findings of a relaxation that hold for all vectors.

    Every vector that is better than the best one so far, by more than its tolerance, lies in
    ``box`` (shape (2, d + 1)); none is better than both ``lower_bound`` and the best one.
    ``points`` are solutions of relaxations, empty where nothing is left to search.
    """

    box: NDArray[np.float64]
    lower_bound: float
    points: list[NDArray[np.float64]]


def signs(lower: float, upper: float) -> list[tuple[float, float]]:
    """Cut a range around zero into what is negative, zero and positive.

    Parameters
    ----------
    lower, upper : float

    Returns
    -------
    list of pairs
    """
    parts = [(lower, -1.0), (0.0, 0.0), (1.0, upper)]
    return [part for part in parts if part[0] <= part[1]]


def unexpanded(
    node: Node,
    box: NDArray[np.float64],
    coef: NDArray[np.float64],
    bound: float,
    worth: InverseScale,
) -> Expansion:
    """Leave a node open, as it is at a stop, with the box and the bound that it has by now.

    Parameters
    ----------
    node : Node
    box, coef, bound, worth
        As in :class:`Child`.

    Returns
    -------
    Expansion
    """
    return Expansion(
        [Child(bound, box, coef, node.multiplier, worth, node.known)], None, node.features
    )
