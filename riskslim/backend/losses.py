"""The normalised logistic loss of plain arrays, and its derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskslim.backend.border import checked_coef, checked_out
from riskslim.backend.prepared import Prepared, handle

__all__ = ["hessian", "loss", "loss_and_gradient"]


def loss(
    coef: NDArray[Any],
    X: NDArray[Any] | Prepared,
    y: NDArray[Any] | None = None,
    sample_weight: NDArray[Any] | None = None,
    *,
    n_threads: int | None = None,
) -> float:
    r"""Normalised logistic loss.

    .. math::

        l(\lambda) = \frac{1}{\sum_i w_i} \sum_i w_i \log(1 + \exp(-y_i s_i)),
        \qquad s_i = \lambda_0 + \sum_j \lambda_j x_{ij}, \quad y_i = \pm 1

    Parameters
    ----------
    coef : ndarray of shape (d + 1,)
        Intercept first; integers, float32 or float64.
    X : Prepared, or ndarray of shape (n, d)
        As :func:`prepare` takes it.
    y : ndarray of shape (n,), optional
        Not with prepared data, which have their own; so are the weights and the threads.
    sample_weight : ndarray of shape (n,), optional
    n_threads : int, optional
        Default: 1.

    Returns
    -------
    float
        Within 1e-14 of the exact value, relatively. Integer coefficients of integer columns are
        counted by their score, others go through exponentials.

    Raises
    ------
    TypeError
        Something else than arrays of numbers; arrays besides prepared data.
    ValueError
        Wrong shapes, values that are not finite, or scores or sums beyond float64.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import backend
    >>> X, y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]], np.int8), np.array([0, 1, 1, 0])
    >>> round(backend.loss(np.array([-1, 2, 0]), X, y), 6)
    0.313262
    """
    rows = handle(X, y, sample_weight, n_threads)
    vector = checked_coef(coef, rows.n_features)
    with np.errstate(over="ignore", invalid="ignore"):
        value = rows.loss.value(vector)
    _check_finite(value)
    return value


def loss_and_gradient(
    coef: NDArray[Any],
    X: NDArray[Any] | Prepared,
    y: NDArray[Any] | None = None,
    sample_weight: NDArray[Any] | None = None,
    *,
    n_threads: int | None = None,
    out: NDArray[np.float64] | None = None,
) -> tuple[float, NDArray[np.float64]]:
    r"""Normalised logistic loss and its gradient, in one pass over the rows.

    Parameters
    ----------
    coef : ndarray of shape (d + 1,)
        Intercept first.
    X : Prepared, or ndarray of shape (n, d)
        As :func:`prepare` takes it.
    y, sample_weight : ndarray of shape (n,), optional
    n_threads : int, optional
        As in :func:`loss`.
    out : float64 array of shape (d + 1,), optional
        The gradient is written there. Contiguous, and apart from all that is read.

    Returns
    -------
    value : float
    gradient : ndarray of float64, shape (d + 1,)
        :math:`\partial l / \partial \lambda`; ``out``, where it is given.

    Raises
    ------
    TypeError
        Something else than arrays of numbers; arrays besides prepared data.
    ValueError
        Wrong shapes, values that are not finite, scores or sums beyond float64, an ``out`` that
        cannot be written to or shares memory with another array.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import backend
    >>> X, y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]], np.int8), np.array([0, 1, 1, 0])
    >>> value, gradient = backend.loss_and_gradient(np.zeros(3), X, y)
    >>> round(value, 6), gradient
    (0.693147, array([ 0.  , -0.25,  0.  ]))
    """
    rows = handle(X, y, sample_weight, n_threads)
    vector = checked_coef(coef, rows.n_features)
    read = {"coef": coef, "X": X, "y": y, "sample_weight": sample_weight}
    written = checked_out(out, vector.shape, read)
    with np.errstate(over="ignore", invalid="ignore"):
        value, gradient = rows.loss.value_and_gradient(vector)
    _check_finite(value, gradient)
    if written is None:
        return value, gradient
    written[...] = gradient
    return value, written


def hessian(
    coef: NDArray[Any],
    X: NDArray[Any] | Prepared,
    y: NDArray[Any] | None = None,
    sample_weight: NDArray[Any] | None = None,
    *,
    features: NDArray[Any] | None = None,
    n_threads: int | None = None,
    out: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    r"""Second derivatives of the loss by the intercept and some coefficients.

    .. math::

        H = \frac{1}{\sum_i w_i} \sum_i w_i \, p_i (1 - p_i) \, z_i z_i^\top,
        \qquad p_i = \frac{1}{1 + \exp(-s_i)}

    Parameters
    ----------
    coef : ndarray of shape (d + 1,)
        Intercept first.
    X : Prepared, or ndarray of shape (n, d)
        As :func:`prepare` takes it.
    y, sample_weight : ndarray of shape (n,), optional
    features : integer array of shape (m,), optional
        Columns 0..d-1 that are wanted. Default: all.
    n_threads : int, optional
        As in :func:`loss`.
    out : float64 array of shape (m + 1, m + 1), optional
        The result is written there. C order, and apart from all that is read.

    Returns
    -------
    ndarray of float64, shape (m + 1, m + 1)
        Row and column 0 belong to the intercept, k + 1 to ``features[k]``; ``out``, where it is
        given.

    Raises
    ------
    TypeError
        Something else than arrays of numbers; arrays besides prepared data.
    ValueError
        Wrong shapes, values that are not finite, scores or sums beyond float64, columns that there
        are not, an ``out`` that cannot be written to or shares memory with another array.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import backend
    >>> X, y = np.array([[0, 1], [1, 0], [1, 2], [0, 0]], np.int8), np.array([0, 1, 1, 0])
    >>> backend.hessian(np.zeros(3), X, y, features=np.array([1]))
    array([[0.25  , 0.1875],
           [0.1875, 0.3125]])
    """
    rows = handle(X, y, sample_weight, n_threads)
    d = rows.n_features
    vector = checked_coef(coef, d)
    chosen = np.arange(d) if features is None else checked_columns(features, d)
    read = {"coef": coef, "X": X, "y": y, "sample_weight": sample_weight, "features": features}
    written = checked_out(out, (len(chosen) + 1, len(chosen) + 1), read)
    with np.errstate(over="ignore", invalid="ignore"):
        found = rows.loss.hessian(vector, chosen.tolist())
    _check_finite(found)
    if written is None:
        return found
    written[...] = found
    return written


def checked_columns(features: Any, d: int) -> NDArray[np.intp]:
    """Return positions of columns.

    Parameters
    ----------
    features : object
    d : int
        Number of columns.

    Returns
    -------
    ndarray of intp, shape (m,)

    Raises
    ------
    TypeError
        No array of integers.
    ValueError
        Not one dimension, or columns that there are not.
    """
    if not isinstance(features, np.ndarray) or features.dtype.kind not in "iu":
        kind = features.dtype if isinstance(features, np.ndarray) else type(features).__name__
        raise TypeError(f"features must be a NumPy array of integers, got {kind}")
    if features.ndim != 1:
        raise ValueError(f"features has shape {features.shape}, expected an array of 1 dimension")
    wrong = (features < 0) | (features >= d)
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ValueError(f"X has columns 0..{d - 1}, but features[{k}] is {features[k]}")
    return features.astype(np.intp)


def _check_finite(*results: float | NDArray[np.float64]) -> None:
    if not all(np.isfinite(result).all() for result in results):
        raise ValueError(
            "coefficients or values of X are so large that scores or sums leave float64"
        )
