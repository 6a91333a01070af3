"""Collections of Dask: what they are, and functions of their rows that are computed later."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing, near

__all__ = ["is_collection", "of_rows"]


def is_collection(values: Any) -> bool:
    """True if something is a collection of Dask, of any kind.

    Parameters
    ----------
    values : object

    Returns
    -------
    bool

    Examples
    --------
    >>> import dask.array as da
    >>> from riskslim.data.lazy import is_collection
    >>> is_collection(da.zeros((4, 2))), is_collection([[0, 1]])
    (True, False)
    """
    # Whoever holds a collection has imported Dask; nobody else has to.
    dask = sys.modules.get("dask.base")
    return dask is not None and bool(dask.is_dask_collection(values))


def of_rows(
    X: Any,
    function: Callable[[Any], NDArray[Any]],
    *,
    dtype: Any,
    n_columns: int | None = None,
    names: tuple[str, ...] = (),
) -> Any:
    """Compute something of each row of a collection, when it is asked for.

    Parameters
    ----------
    X : Dask data frame or array of shape (n, d)
    function : callable
        Called with the rows of a partition, unless it is empty; returns one row, or one value, for
        each. Other processes get it pickled.
    dtype : dtype
        Of what it returns.
    n_columns : int, optional
        How many columns that has. Default: it is one-dimensional.
    names : tuple of str
        Columns that a data frame needs.

    Returns
    -------
    dask.array.Array of shape (n,) or (n, n_columns)
        In the partitions of X; nothing has been computed.

    Raises
    ------
    TypeError
        A collection of another kind.
    ValueError
        An array that is not two-dimensional, a data frame that lacks columns.

    Examples
    --------
    >>> import dask.array as da
    >>> from riskslim.data.lazy import of_rows
    >>> sums = of_rows(da.ones((4, 2), chunks=(3, 1)), lambda rows: rows.sum(axis=1), dtype=float)
    >>> sums.compute()
    array([2., 2., 2., 2.])
    """
    shape = (0,) if n_columns is None else (0, n_columns)
    meta = np.empty(shape, dtype)
    call = partial(_of_part, function=function, empty=meta)
    import dask.array

    if isinstance(X, dask.array.Array):
        if X.ndim != 2:
            raise ValueError(f"Expected a 2-dimensional array, got {X.ndim} dimensions.")
        X = X.rechunk({1: -1})
        if n_columns is None:
            return X.map_blocks(call, dtype=meta.dtype, drop_axis=1, meta=meta)
        return X.map_blocks(call, dtype=meta.dtype, chunks=(X.chunks[0], (n_columns,)), meta=meta)
    if not (hasattr(X, "map_partitions") and getattr(X, "ndim", 0) == 2):
        raise TypeError(
            "X must be a Dask data frame or a Dask array, got "
            f"{type(X).__module__}.{type(X).__qualname__}."
        )
    present = [str(name) for name in X.columns]
    missing = [name for name in names if name not in present]
    if missing:
        named = listing(repr(name) + near(name, present) for name in missing)
        raise ValueError(f"X lacks {len(missing)} of {len(names)} columns: {named}.")
    return X.map_partitions(call, meta=meta)


def _of_part(
    part: Any, *, function: Callable[[Any], NDArray[Any]], empty: NDArray[Any]
) -> NDArray[Any]:
    """Call a function of rows with those of a partition, which may be empty."""
    if not len(part):
        return empty
    return np.asarray(function(part)).astype(empty.dtype, copy=False)
