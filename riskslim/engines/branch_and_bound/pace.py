"""Time that the search needs for the rest, from how bounds rise from nodes to their children."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["NEVER", "Pace", "Patience"]

# Nodes from which on a prediction is worth something, and the latest ones that it is made from.
FEWEST_NODES, MOST_NODES = 12, 4096
# Halvings of the range that the exponent is in, and its largest value: subtrees of so many nodes
# are as good as infinite.
HALVINGS, LARGEST = 50, 200.0


class Patience(NamedTuple):
    """Predicted seconds after which a search is interrupted for something else.

    Attributes
    ----------
    spent : float
        Of the nodes so far.
    total : float
        Of these and of what is left.
    """

    spent: float
    total: float


NEVER = Patience(math.inf, math.inf)


class Pace:
    """Bounds of nodes that were branched on or completed, and of their children.

    A subtree is larger, the more its bound has to rise: let one with g left have exp(c g) nodes. A
    node and the subtrees of its children have to add up to that, on average over the nodes so far.
    This holds for one c, and the open nodes then say what is left.
    """

    def __init__(self) -> None:
        self._nodes: deque[tuple[float, list[float], float]] = deque(maxlen=MOST_NODES)

    @property
    def is_known(self) -> bool:
        """True if enough nodes are known for a prediction."""
        return len(self._nodes) >= FEWEST_NODES

    def add(self, bound: float, children: list[float], seconds: float) -> None:
        """Note a node.

        Parameters
        ----------
        bound : float
            Its lower bound.
        children : list of float
            Those of its children.
        seconds : float
            Predicted time that it took.
        """
        self._nodes.append((bound, children, seconds))

    def remaining_seconds(self, cutoff: float, open_bounds: Iterable[float]) -> float:
        """Predict the time that open nodes and all that comes of them take.

        Parameters
        ----------
        cutoff : float
            Bound from which on nodes are left.
        open_bounds : iterable of float
            Lower bounds of the open nodes.

        Returns
        -------
        float
            Infinite where bounds hardly rise, or where too few nodes are known.
        """
        if not self.is_known:
            return math.inf
        nodes = list(self._nodes)[len(self._nodes) // 2 :]
        left = _left(cutoff, (bound for bound, _, _ in nodes))
        of_children = _left(cutoff, (bound for _, children, _ in nodes for bound in children))
        still = _left(cutoff, open_bounds)
        exponent = _exponent(left, of_children)
        if not math.isfinite(exponent):
            return math.inf
        seconds = sum(seconds for _, _, seconds in nodes) / len(nodes)
        return float(seconds * np.exp(np.minimum(exponent * still, LARGEST)).sum())


def _left(cutoff: float, bounds: Iterable[float]) -> NDArray[np.float64]:
    """Return by how much bounds have to rise, of those that have to."""
    left = cutoff - np.fromiter(bounds, np.float64)
    return left[left > 0.0]


def _exponent(nodes: NDArray[np.float64], children: NDArray[np.float64]) -> float:
    """The c for which subtrees of nodes are as large as these and those of the children."""
    most = float(max(nodes.max(initial=0.0), children.max(initial=0.0)))
    if not len(children):
        return 0.0
    if not most > 0.0:
        return math.inf

    def is_larger(c: float) -> bool:
        parts = np.exp(c * (nodes - most)).sum() - np.exp(c * (children - most)).sum()
        return bool(parts > len(nodes) * math.exp(-c * most))

    low, high = 0.0, LARGEST / most
    if not is_larger(high):
        return math.inf
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if is_larger(middle) else (middle, high)
    return high
