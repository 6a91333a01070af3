"""Scores that a search is to start from, as users have them: by the names of features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import as_int
from riskslim._wording import listing
from riskslim.constraints.base import INTERCEPT
from riskslim.items.item import unknown_feature

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["start_of"]


def start_of(start: Any, problem: RiskScoreProblem) -> NDArray[np.int64]:
    """Return the vector of coefficients of a score that a search is to start from.

    Parameters
    ----------
    start : RiskScore, mapping from names to points, or array-like of int, shape (d + 1,)
        Of a mapping the key "(intercept)" is the intercept; without it the best one is taken. An
        array has the intercept first.
    problem : RiskScoreProblem

    Returns
    -------
    ndarray of int64, shape (d + 1,)
        Feasible or not: the engine says why it is not.

    Raises
    ------
    TypeError, ValueError
        Points that are no int; features that there are not; an array of another length.

    Examples
    --------
    >>> from riskslim import RiskSLIMClassifier, TrainingData
    >>> from riskslim.problem.starts import start_of
    >>> data = TrainingData({"a": [0, 1, 1, 0], "b": [1, 1, 0, 0]}, [0, 1, 1, 0])
    >>> start_of({"a": 3}, RiskSLIMClassifier().problem_on(data))
    array([-2,  3,  0])
    """
    names = problem.coefficients.feature_names
    points, intercept = getattr(start, "points", start), getattr(start, "intercept", None)
    if not isinstance(points, Mapping):
        return _vector(start, len(names))
    points = dict(points)
    intercept = points.pop(INTERCEPT, intercept)
    unknown = [name for name in points if name not in names]
    if unknown:
        wanted = listing(unknown_feature(str(name), names) for name in unknown)
        raise ValueError(f"start names features that do not exist: {wanted}")
    vector = np.zeros(len(names) + 1, dtype=np.int64)
    for j, name in enumerate(names):
        vector[1 + j] = as_int(points.get(name, 0), f"start of {name!r}")
    if intercept is None:
        vector[0] = _best_intercept(problem, vector)
    else:
        vector[0] = as_int(intercept, "intercept of start")
    return vector


def _vector(start: Any, n_features: int) -> NDArray[np.int64]:
    wrong = (
        "start must be a RiskScore, points by feature such as {'age >= 60': 2}, or "
        f"{n_features + 1} whole numbers, the intercept first, got "
    )
    try:
        vector = np.asarray(start, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{wrong}{start!r}") from None
    if vector.shape != (n_features + 1,):
        raise ValueError(f"{wrong}an array of shape {vector.shape}")
    if not np.array_equal(vector, np.rint(vector)):
        raise ValueError(f"{wrong}{start!r}")
    return vector.astype(np.int64)


def _best_intercept(problem: RiskScoreProblem, vector: NDArray[np.int64]) -> int:
    """The intercept with the least loss: the loss is convex in it."""
    low, high = int(problem.lower[0]), int(problem.upper[0])
    while low < high:
        middle = (low + high) // 2
        at, above = ([shift, *vector[1:]] for shift in (middle, middle + 1))
        if problem.loss.value(at) <= problem.loss.value(above):
            high = middle
        else:
            low = middle + 1
    return low
