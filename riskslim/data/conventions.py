"""Rows and labels in the conventions of scikit-learn's estimators."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from riskslim.data.lazy import is_collection
from riskslim.data.tables import has_names, is_row

__all__ = ["columns_of", "is_finite_array", "one_column", "with_columns"]


def with_columns(X: Any) -> Any:
    """Return X itself, if scikit-learn can see columns in it.

    Parameters
    ----------
    X : object

    Returns
    -------
    object

    Raises
    ------
    TypeError
        X is a mapping, or has rows with names: scikit-learn would not see these.
    """
    if has_names(X) and not is_row(X):
        what = "a mapping" if isinstance(X, Mapping) else "rows with names"
        raise TypeError(
            f"Expected a 2-dimensional container but got {what} instead. Pass a data frame with "
            "these columns, for example pandas.DataFrame(X)."
        )
    return X


def columns_of(X: Any) -> Any:
    """Return X itself, or a table without rows that has the columns of a Dask collection.

    Parameters
    ----------
    X : object

    Returns
    -------
    object
    """
    if not is_collection(X):
        return X
    if hasattr(X, "columns"):
        return X._meta
    return np.empty((0, int(X.shape[1])) if len(X.shape) == 2 else (0,))


def one_column(estimator: Any, y: Any) -> Any:
    """Return labels as they are: required, and preferably one-dimensional.

    Parameters
    ----------
    estimator : object
        For messages.
    y : object

    Returns
    -------
    object

    Raises
    ------
    ValueError
        There are none.

    Warns
    -----
    DataConversionWarning
        They are a column.
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples, ), for example using ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
    return y


def is_finite_array(X: Any) -> bool:
    """True if X is an array of finite numbers, found out in one pass without a copy.

    Parameters
    ----------
    X : object

    Returns
    -------
    bool
    """
    if not isinstance(X, np.ndarray) or np.ma.isMaskedArray(X) or X.dtype.kind not in "biuf":
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return X.dtype.kind != "f" or bool(np.isfinite(X.sum()))
