"""Searches among integer vectors of plain arrays: lines, roundings, descents."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import is_int
from riskslim.backend.border import checked_coef, checked_integers
from riskslim.backend.prepared import Box, Prepared, handle
from riskslim.heuristics import descent
from riskslim.problem.problem import RiskScoreProblem

__all__ = [
    "Descent",
    "Steps",
    "best_steps",
    "coordinate_descent",
    "line_search",
    "sequential_rounding",
]


class Descent(NamedTuple):
    """An integer vector that a search has found.

    Attributes
    ----------
    coef : ndarray of int64, shape (d + 1,)
        Intercept first.
    objective : float
        Its loss, ``l0_penalty`` for each column with points, and ``l2_penalty`` times the squares
        of the points.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import backend
    >>> X = np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 5)
    >>> y = np.array([0, 1, 1, 0] * 4 + [1, 0, 1, 0])
    >>> found = backend.coordinate_descent(np.zeros(3, int), X, y, lower=-2, upper=2, max_size=1)
    >>> found.coef, round(found.objective, 4)
    (array([-1,  2,  0]), 0.4133)
    """

    coef: NDArray[np.int64]
    objective: float


class Steps(NamedTuple):
    """Good points of every column without points.

    Attributes
    ----------
    loss : ndarray of float64, shape (d,)
        Loss with these points; infinite for columns that have points already, are constant, or may
        have none.
    value : ndarray of int64, shape (d,)
        The points, other than 0.
    intercept : ndarray of int64, shape (d,)
        The intercept with them.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import backend
    >>> X = np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 5)
    >>> y = np.array([0, 1, 1, 0] * 4 + [1, 0, 1, 0])
    >>> steps = backend.best_steps(np.zeros(3, int), X, y, lower=-2, upper=2)
    >>> j = int(np.argmin(steps.loss))
    >>> j, int(steps.value[j]), int(steps.intercept[j])
    (0, 2, -1)
    """

    loss: NDArray[np.float64]
    value: NDArray[np.int64]
    intercept: NDArray[np.int64]


def line_search(
    coef: NDArray[Any],
    position: int,
    X: NDArray[Any] | Prepared,
    y: NDArray[Any] | None = None,
    sample_weight: NDArray[Any] | None = None,
    *,
    lower: int | NDArray[Any] = -5,
    upper: int | NDArray[Any] = 5,
    intercept_lower: int | None = None,
    intercept_upper: int | None = None,
    n_threads: int | None = None,
) -> tuple[int, float]:
    """Best integer for one coefficient, all others kept.

    Parameters
    ----------
    coef : ndarray of shape (d + 1,)
        Integers within the bounds, intercept first.
    position : int
        0 for the intercept, j + 1 for column j.
    X : Prepared, or ndarray of shape (n, d)
        As :func:`prepare` takes it.
    y, sample_weight : ndarray of shape (n,), optional
    lower, upper : int, or integer array of shape (d,), default -5 and 5
        Bounds of the coefficients of columns. Constant columns have 0 alone: they are intercepts.
    intercept_lower, intercept_upper : int, optional
        Default: bounds are derived that hold an optimal intercept whatever the coefficients are.
    n_threads : int, optional
        As in :func:`loss`.

    Returns
    -------
    value : int
        The present one, where no other is better by more than rounding errors.
    loss : float
        Loss with it.

    Raises
    ------
    TypeError
        Something else than arrays of numbers; arrays besides prepared data.
    ValueError
        Wrong shapes, values that are not finite, coefficients that are no integers or beyond their
        bounds, a position that there is not.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import backend
    >>> X, y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]], np.int8), np.array([0, 1, 0, 0])
    >>> value, loss = backend.line_search(np.array([-1, 0, -2]), 1, X, y)
    >>> value, round(loss, 6)
    (2, 0.247093)
    """
    rows = handle(X, y, sample_weight, n_threads)
    d = rows.n_features
    if not is_int(position):
        raise TypeError(f"position must be an int, got {position!r}")
    if not 0 <= position <= d:
        raise ValueError(f"position must be between 0, the intercept, and {d}, got {position}")
    vector = checked_integers(coef, d)
    problem = rows.problem(Box(lower, upper, intercept_lower, intercept_upper))
    found = descent.discrete_coordinate_descent(
        problem, vector, directions=[int(position)], max_iterations=1
    )
    assert found.coefficients is not None
    return int(found.coefficients[position]), found.objective


def best_steps(
    coef: NDArray[Any],
    X: NDArray[Any] | Prepared,
    y: NDArray[Any] | None = None,
    sample_weight: NDArray[Any] | None = None,
    *,
    lower: int | NDArray[Any] = -5,
    upper: int | NDArray[Any] = 5,
    intercept_lower: int | None = None,
    intercept_upper: int | None = None,
    n_threads: int | None = None,
) -> Steps:
    """Points for every column without points, and the intercept with them, one column at a time.

    Parameters
    ----------
    coef : ndarray of shape (d + 1,)
        Integers within the bounds, intercept first.
    X : Prepared, or ndarray of shape (n, d)
        As :func:`prepare` takes it.
    y, sample_weight : ndarray of shape (n,), optional
    lower, upper : int, or integer array of shape (d,), default -5 and 5
    intercept_lower, intercept_upper : int, optional
    n_threads : int, optional
        All as in :func:`line_search`.

    Returns
    -------
    Steps

    Raises
    ------
    TypeError
        Something else than arrays of numbers; arrays besides prepared data.
    ValueError
        Wrong shapes, values that are not finite, coefficients that are no integers or beyond their
        bounds.

    Notes
    -----
    Points and intercept are searched in turns, the other one kept, three times at most: a step is
    best in either direction, or has been searched three times. Where both would have to change
    together, there may be a better one.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import backend
    >>> X, y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]], np.int8), np.array([0, 1, 0, 0])
    >>> steps = backend.best_steps(np.array([-1, 0, 0]), X, y)
    >>> steps.loss.round(6), steps.value, steps.intercept
    (array([0.410038, 0.349931]), array([ 2, -5]), array([-2,  0]))
    """
    rows = handle(X, y, sample_weight, n_threads)
    vector = checked_integers(coef, rows.n_features)
    problem = rows.problem(Box(lower, upper, intercept_lower, intercept_upper))
    _check_feasible(problem, vector)
    wanted = np.ones(rows.n_features, np.bool_)
    found = descent.best_line_steps(problem, vector, wanted, np.zeros(1, np.int64))
    return Steps(found.objective[1:], found.value[1:], found.intercept[1:])


def sequential_rounding(
    coef: NDArray[Any],
    X: NDArray[Any] | Prepared,
    y: NDArray[Any] | None = None,
    sample_weight: NDArray[Any] | None = None,
    *,
    lower: int | NDArray[Any] = -5,
    upper: int | NDArray[Any] = 5,
    intercept_lower: int | None = None,
    intercept_upper: int | None = None,
    max_size: int | None = None,
    l0_penalty: float = 0.0,
    l2_penalty: float | NDArray[Any] = 0.0,
    n_threads: int | None = None,
) -> Descent:
    """Round a real vector, one coefficient after the other, each time the one that costs least.

    Parameters
    ----------
    coef : ndarray of shape (d + 1,)
        Within the bounds, to 1e-6, intercept first.
    X : Prepared, or ndarray of shape (n, d)
        As :func:`prepare` takes it.
    y, sample_weight : ndarray of shape (n,), optional
    lower, upper : int, or integer array of shape (d,), default -5 and 5
    intercept_lower, intercept_upper : int, optional
        As in :func:`line_search`.
    max_size : int, optional
        Most columns with points. Default: all.
    l0_penalty : float, default 0.0
        Price of each.
    l2_penalty : float, or array of shape (d,), default 0.0
        Ridge penalty: what the square of each column's points is multiplied by.
    n_threads : int, optional
        As in :func:`loss`.

    Returns
    -------
    Descent

    Raises
    ------
    TypeError
        Something else than arrays of numbers; arrays besides prepared data.
    ValueError
        Wrong shapes, values that are not finite, coefficients beyond their bounds, no rounding of
        a permitted size.

    See Also
    --------
    riskslim.sequential_rounding : the method, with constraints and scales.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import backend
    >>> X, y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]], np.int8), np.array([0, 1, 0, 0])
    >>> found = backend.sequential_rounding(np.array([-1.4, 2.6, -2.5]), X, y)
    >>> found.coef, round(found.objective, 6)
    (array([-2,  3, -3]), 0.143458)
    """
    rows = handle(X, y, sample_weight, n_threads)
    vector = checked_coef(coef, rows.n_features)
    ends = lower, upper, intercept_lower, intercept_upper
    box = Box(*ends, max_size, l0_penalty, l2_penalty)
    found = descent.sequential_rounding(rows.problem(box), vector)
    if found.coefficients is None:
        raise ValueError(f"coef cannot be rounded: {found.reason}")
    return Descent(found.coefficients, found.objective)


def coordinate_descent(
    coef: NDArray[Any],
    X: NDArray[Any] | Prepared,
    y: NDArray[Any] | None = None,
    sample_weight: NDArray[Any] | None = None,
    *,
    lower: int | NDArray[Any] = -5,
    upper: int | NDArray[Any] = 5,
    intercept_lower: int | None = None,
    intercept_upper: int | None = None,
    max_size: int | None = None,
    l0_penalty: float = 0.0,
    l2_penalty: float | NDArray[Any] = 0.0,
    swaps: bool = False,
    n_threads: int | None = None,
) -> Descent:
    """Improve an integer vector until no change of one coefficient improves it.

    Parameters
    ----------
    coef : ndarray of shape (d + 1,)
        Integers within the bounds, intercept first.
    X : Prepared, or ndarray of shape (n, d)
        As :func:`prepare` takes it.
    y, sample_weight : ndarray of shape (n,), optional
    lower, upper : int, or integer array of shape (d,), default -5 and 5
    intercept_lower, intercept_upper : int, optional
        As in :func:`line_search`.
    max_size : int, optional
        Most columns with points. Default: all.
    l0_penalty : float, default 0.0
        Price of each.
    l2_penalty : float, or array of shape (d,), default 0.0
        Ridge penalty: what the square of each column's points is multiplied by.
    swaps : bool, default False
        Also exchange a column for another one.
    n_threads : int, optional
        As in :func:`loss`.

    Returns
    -------
    Descent

    Raises
    ------
    TypeError
        Something else than arrays of numbers; arrays besides prepared data.
    ValueError
        Wrong shapes, values that are not finite, coefficients that are no integers, beyond their
        bounds, or too many.

    See Also
    --------
    riskslim.discrete_coordinate_descent : the method, with constraints and scales.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import backend
    >>> X, y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]], np.int8), np.array([0, 1, 0, 0])
    >>> found = backend.coordinate_descent(np.zeros(3, int), X, y, lower=-2, upper=2, max_size=1)
    >>> found.coef, round(found.objective, 6)
    (array([ 0,  0, -2]), 0.410038)
    """
    rows = handle(X, y, sample_weight, n_threads)
    vector = checked_integers(coef, rows.n_features)
    if not isinstance(swaps, (bool, np.bool_)):
        raise TypeError(f"swaps must be True or False, got {swaps!r}")
    ends = lower, upper, intercept_lower, intercept_upper
    box = Box(*ends, max_size, l0_penalty, l2_penalty)
    problem = rows.problem(box)
    _check_feasible(problem, vector)
    found = descent.discrete_coordinate_descent(problem, vector, swaps=bool(swaps))
    assert found.coefficients is not None
    return Descent(found.coefficients, found.objective)


def _check_feasible(problem: RiskScoreProblem, vector: NDArray[np.int64]) -> None:
    violations = problem.violations(vector)
    if violations:
        raise ValueError(f"coef is no vector of the search: {'; '.join(violations)}")
