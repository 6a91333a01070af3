"""Scores and counts of a loss, for heuristics and engines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riskslim.loss.logistic import LogisticLoss
from riskslim.rows import functions

__all__ = ["real_scores", "take_over_work"]


def take_over_work(loss: LogisticLoss, copied: LogisticLoss) -> None:
    """Count what a copy of a loss has done as done by the loss, once.

    Parameters
    ----------
    loss, copied : LogisticLoss
        The copy's counters are set to zero.
    """
    loss.seconds += copied.seconds
    loss.n_evaluations += copied.n_evaluations
    copied.seconds, copied.n_evaluations = 0.0, 0


def real_scores(loss: LogisticLoss, vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the scores of the rows that evaluations read, divided by the scale.

    Parameters
    ----------
    loss : LogisticLoss
    vector : ndarray of float64, shape (d + 1,)
        Intercept first.

    Returns
    -------
    ndarray of float64, shape (number of rows,)
    """
    found = functions.scores(loss.rows, vector / loss.scale, False, loss.n_threads)
    return np.asarray(found, np.float64)
