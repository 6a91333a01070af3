"""Points made of real coefficients: rounding, rescaled rounding, unit weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["rescaled_rounding", "rounding", "unit_weights"]


# ---------------------------------------------------------------------------------------------
# From real-valued coefficients to integers
# ---------------------------------------------------------------------------------------------


def rounding(coef: ArrayLike, max_coef: int = 5) -> NDArray[np.int64]:
    r"""Round to the nearest integers, Rd of the paper.

    :math:`\lambda_j \leftarrow \lceil \min(\max(\lambda_j, -5), 5) \rfloor` and
    :math:`\lambda_0 \leftarrow \lceil \lambda_0 \rfloor`.

    Parameters
    ----------
    coef : array-like of shape (..., d + 1)
        One vector or several, intercept first.
    max_coef : int, default 5
        Largest absolute coefficient; the intercept has no bound.

    Returns
    -------
    ndarray of int64, of the same shape

    Examples
    --------
    >>> from riskslim.paper.baselines import rounding
    >>> rounding([-7.6, 0.4, -1.7, 8.2])
    array([-8,  0, -2,  5])
    """
    rounded = np.rint(np.array(coef, dtype=np.float64))
    rounded[..., 1:] = rounded[..., 1:].clip(-max_coef, max_coef)
    return rounded.astype(np.int64)


def rescaled_rounding(coef: ArrayLike, max_coef: int = 5) -> NDArray[np.int64]:
    r"""Make the largest coefficient :math:`\pm 5`, then round, RsRd of the paper.

    :math:`\lambda_j \leftarrow \lceil \gamma \lambda_j \rfloor` with
    :math:`\gamma = 5 / \max_{j \ge 1} |\lambda_j|`, the intercept included.

    Parameters
    ----------
    coef : array-like of shape (..., d + 1)
        One vector or several, intercept first.
    max_coef : int, default 5
        Absolute value of the largest coefficient.

    Returns
    -------
    ndarray of int64, of the same shape
        Vectors without a feature are rounded as they are.

    Examples
    --------
    >>> from riskslim.paper.baselines import rescaled_rounding
    >>> rescaled_rounding([-0.7, 0.1, -0.4, 0.02])
    array([-9,  1, -5,  0])
    """
    vectors = np.asarray(coef, dtype=np.float64)
    largest = np.abs(vectors[..., 1:]).max(axis=-1, keepdims=True, initial=0.0)
    factor = np.divide(max_coef, largest, out=np.ones_like(largest), where=largest > 0)
    return rounding(vectors * factor, max_coef)


def unit_weights(coef: ArrayLike) -> NDArray[np.int64]:
    r"""Keep the signs alone, Unit of the paper (the Burgess method).

    :math:`\lambda_j \leftarrow \operatorname{sign}(\lambda_j)
    \mathbb{1}[\lambda_j \ne 0]`, the intercept included.

    Parameters
    ----------
    coef : array-like of shape (..., d + 1)
        One vector or several, intercept first.

    Returns
    -------
    ndarray of int64, of the same shape

    Examples
    --------
    >>> from riskslim.paper.baselines import unit_weights
    >>> unit_weights([-1.7, 0.1, -0.4, 0.0])
    array([-1,  1, -1,  0])
    """
    return np.sign(np.asarray(coef, dtype=np.float64)).astype(np.int64)
