"""The choice of the form of the loss: a table by integer scores, or real scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import integer
from riskslim.coefficients import CoefficientSet
from riskslim.data.training_data import TrainingData

__all__ = [
    "MAX_TABLE_ENTRIES",
    "Form",
    "choose_form",
    "losses_of_classes",
    "tables_by_score",
]

# A table has three numbers per score, so that this many scores cost 24 MiB. Beyond it most
# entries would be losses of 0 or |s| to working precision, and a row rarely meets one twice.
MAX_TABLE_ENTRIES = 2**20

# Scores are added up in 32 bits, with room for the partial sums.
MAX_ABSOLUTE_SCORE = 2**30


class Form(NamedTuple):
    """A form of evaluating the loss, the kernel that does it, and why."""

    name: str
    kernel: str
    reason: str


def choose_form(
    data: TrainingData, coefficients: CoefficientSet, score_range: tuple[float, float]
) -> Form:
    """Decide between the lookup table and the real-valued form.

    Parameters
    ----------
    data : TrainingData
    coefficients : CoefficientSet
        With the features that are never used fixed at zero.
    score_range : tuple of two numbers
        Range that contains every score over the coefficient set.

    Returns
    -------
    Form
        ``lookup_table`` if every usable feature is an integer column and the range has at most
        ``MAX_TABLE_ENTRIES`` scores, else ``real_valued``, with the reason in words.
    """
    weighted = "weighted " if data.is_weighted else ""
    usable = (coefficients.lower != 0) | (coefficients.upper != 0)
    n_real = int(np.count_nonzero(usable & ~data.is_integer))
    low, high = score_range
    if n_real:
        return Form(
            "real_valued",
            f"{weighted}real-valued loss",
            f"{n_real} of {data.n_features} features are not small integers",
        )
    if high - low + 1 > MAX_TABLE_ENTRIES:
        return Form(
            "real_valued",
            f"{weighted}real-valued loss",
            f"scores range over {low:.0f}..{high:.0f}, more than {MAX_TABLE_ENTRIES} values",
        )
    if max(abs(low), abs(high)) >= MAX_ABSOLUTE_SCORE:
        return Form(
            "real_valued",
            f"{weighted}real-valued loss",
            f"scores reach {max(abs(low), abs(high)):.0f}, beyond 32-bit integers",
        )
    return Form(
        "lookup_table",
        f"{weighted}histogram of integer scores",
        f"all usable features are integers and scores lie in {low:.0f}..{high:.0f}",
    )


def tables_by_score(
    low: int, high: int, scale: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Losses and slopes of the scores low, low + 1, ..., high.

    Parameters
    ----------
    low, high : int
    scale : float

    Returns
    -------
    losses, slopes : ndarray of float64, shape (2, high - low + 1)
        Loss and d loss / d (score / scale). Row 0 is for rows of the negative class, row 1 for the
        positive one.
    """
    tail, slopes = np.empty(high - low + 1), np.empty((2, high - low + 1))
    integer.fill_tables(low, scale, tail, slopes)
    return losses_of_classes(low, scale, tail), slopes


def losses_of_classes(low: int, scale: float, tail: NDArray[np.float64]) -> NDArray[np.float64]:
    """Losses of scores from ``low`` on for the negative and the positive class."""
    scores = np.arange(low, low + len(tail), dtype=np.float64) / scale
    return np.stack((tail + np.maximum(scores, 0.0), tail + np.maximum(-scores, 0.0)))
