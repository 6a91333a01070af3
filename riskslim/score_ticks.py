"""Labels of scores on an axis, as many as there is room for.

Apart from :mod:`riskslim.plots`, which is imported without matplotlib.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator
from numpy.typing import NDArray

__all__ = ["ScoreLocator"]

_STEPS = (1, 2, 5, 10)
# Widths in letters' heights: a digit, and the least between the middles of two labels.
_DIGIT, _LEAST = 0.65, 2.0
# That of a label in matplotlib's own count of those that there is room for.
_TICK_SPACE = 3.0


class ScoreLocator(FixedLocator):
    """Every score, or every second, fifth or tenth where the axis is too short when it is drawn.

    Parameters
    ----------
    scores : ndarray of float64, shape (m,)
        Consecutive whole numbers.
    """

    def __init__(self, scores: NDArray[np.float64]) -> None:
        super().__init__(scores.tolist())
        self._scores = scores

    def tick_values(self, vmin: Any, vmax: Any) -> Any:
        """Scores that get a label, whatever the limits of the axis.

        Returns
        -------
        ndarray
        """
        scores = self._scores
        longest = max(len(f"{score:.0f}") for score in scores)
        assert isinstance(self.axis, Axis)
        room = self.axis.get_tick_space() * _TICK_SPACE / max(_DIGIT * (longest + 1), _LEAST)
        step = next((k for k in _STEPS if len(scores) <= k * room), _STEPS[-1])
        labelled = scores[scores % step == 0]
        return labelled if len(labelled) else scores[:1]
