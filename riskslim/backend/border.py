"""Arrays of callers, checked before anything compiled reads or writes them.

Kernels believe their arguments. Here types, shapes, values and memory are looked at, so that a
wrong argument is an error in words, and never a wrong number or a crash.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "checked_bounds",
    "checked_coef",
    "checked_integers",
    "checked_labels",
    "checked_matrix",
    "checked_out",
    "checked_whole",
]

# Values that float64 holds exactly, and that all passes read.
_READ = "bool, integers, float32 and float64 are read"
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))

# Integers of coefficients, as CoefficientSet has them.
_LARGEST = 2**31 - 1


def _checked_array(value: Any, what: str, n_dimensions: int) -> NDArray[Any]:
    """Refuse what is no plain array of numbers of so many dimensions."""
    if not isinstance(value, np.ndarray) or isinstance(value, (np.ma.MaskedArray, np.matrix)):
        raise TypeError(
            f"{what} must be a plain NumPy array, got {type(value).__name__}: convert it by "
            "np.asarray, or use riskslim.TrainingData, which reads tables of any kind"
        )
    dtype = value.dtype
    if dtype.kind not in "biu" and dtype.newbyteorder("=") not in _FLOATS:
        raise TypeError(f"{what} has dtype {dtype}, but only {_READ}")
    if value.ndim != n_dimensions:
        raise ValueError(
            f"{what} has shape {value.shape}, expected an array of {n_dimensions} "
            f"dimension{'s' if n_dimensions > 1 else ''}"
        )
    return value


def checked_matrix(X: Any) -> NDArray[Any]:
    """Return X as it is, an array with rows and columns.

    Parameters
    ----------
    X : object

    Returns
    -------
    ndarray, shape (n, d)

    Raises
    ------
    TypeError
        No array, or none of these numbers.
    ValueError
        Not two dimensions, no row or no column.
    """
    matrix = _checked_array(X, "X", 2)
    if 0 in matrix.shape:
        raise ValueError(f"X has shape {matrix.shape}: at least one row and one column are needed")
    return matrix


def checked_labels(value: Any, what: str, n_rows: int) -> NDArray[Any]:
    """Return labels or weights as they are, one for each row.

    Parameters
    ----------
    value : object
    what : str
        Name of the parameter.
    n_rows : int

    Returns
    -------
    ndarray, shape (n,)

    Raises
    ------
    TypeError
        No array, or none of these numbers.
    ValueError
        Another shape.
    """
    values = _checked_array(value, what, 1)
    if len(values) != n_rows:
        raise ValueError(f"{what} has shape {values.shape}, expected ({n_rows},): one per row of X")
    return values


def checked_coef(coef: Any, d: int, what: str = "coef") -> NDArray[np.float64]:
    """Copy a vector of coefficients.

    Parameters
    ----------
    coef : object
    d : int
        Number of columns.
    what : str

    Returns
    -------
    ndarray of float64, shape (d + 1,)

    Raises
    ------
    TypeError
        No array, or none of these numbers.
    ValueError
        Another shape, NaN or infinite values, integers that float64 does not hold.
    """
    given = _checked_array(coef, what, 1)
    if given.shape != (d + 1,):
        raise ValueError(
            f"{what} has shape {given.shape}, expected ({d + 1},): the intercept, then one "
            f"coefficient for each of the {d} columns of X"
        )
    vector = given.astype(np.float64)
    finite = np.isfinite(vector)
    if not finite.all():
        raise ValueError(
            f"{np.count_nonzero(~finite)} of {d + 1} numbers in {what} are NaN or infinite, the "
            f"first one at position {np.argmin(finite)} (0 is the intercept)"
        )
    if given.dtype.kind in "iu" and np.abs(vector).max() >= 2.0**53:
        raise ValueError(f"{what} has integers of 2**53 and beyond, which float64 does not hold")
    return vector


def checked_integers(coef: Any, d: int) -> NDArray[np.int64]:
    """Copy a vector of coefficients that are integers, of any dtype.

    Parameters
    ----------
    coef : object
    d : int

    Returns
    -------
    ndarray of int64, shape (d + 1,)

    Raises
    ------
    TypeError
        No array, or none of these numbers.
    ValueError
        Another shape, or something else than integers of 32 bits.
    """
    vector = checked_coef(coef, d)
    wrong = (vector != np.rint(vector)) | (np.abs(vector) > _LARGEST)
    if wrong.any():
        j = int(np.argmax(wrong))
        raise ValueError(
            f"{np.count_nonzero(wrong)} of {d + 1} numbers in coef are no integers within "
            f"{_LARGEST}, the first one at position {j}: {vector[j]!r}"
        )
    return vector.astype(np.int64)


def checked_whole(value: Any, what: str) -> int:
    """Return a number that is an integer of 32 bits.

    Parameters
    ----------
    value : object
        An int of Python or NumPy.
    what : str

    Returns
    -------
    int

    Raises
    ------
    TypeError
        Something else.
    ValueError
        A larger one.
    """
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        raise TypeError(f"{what} must be an int, got {value!r}")
    if abs(int(value)) > _LARGEST:
        raise ValueError(f"{what} must be at most {_LARGEST} in absolute value, got {value}")
    return int(value)


def checked_bounds(value: Any, what: str, d: int) -> NDArray[np.int64]:
    """Return bounds of the coefficients, one for all of them or one each.

    Parameters
    ----------
    value : int or array of shape (d,)
    what : str
    d : int

    Returns
    -------
    ndarray of int64, shape (d,)

    Raises
    ------
    TypeError, ValueError
        Something else than integers of 32 bits.
    """
    if not isinstance(value, np.ndarray):
        return np.full(d, checked_whole(value, what), np.int64)
    given = _checked_array(value, what, 1)
    if given.shape != (d,):
        raise ValueError(f"{what} has shape {given.shape}, expected ({d},): one per column of X")
    if given.dtype.kind not in "iu":
        raise TypeError(f"{what} has dtype {given.dtype}, expected integers")
    if int(given.min()) < -_LARGEST or int(given.max()) > _LARGEST:
        raise ValueError(f"{what} must be at most {_LARGEST} in absolute value")
    return given.astype(np.int64)


def checked_out(
    out: Any, shape: tuple[int, ...], read: Mapping[str, Any]
) -> NDArray[np.float64] | None:
    """Return an array that results can be written to.

    Parameters
    ----------
    out : object
        None: the caller has none.
    shape : tuple of int
    read : mapping from str to object
        What else was given, by name: arrays among them must not share memory with it.

    Returns
    -------
    ndarray of float64 or None

    Raises
    ------
    TypeError
        No array of float64.
    ValueError
        Another shape, read-only, not contiguous, or sharing memory with what is read.
    """
    if out is None:
        return None
    if type(out) is not np.ndarray or out.dtype != np.float64 or not out.dtype.isnative:
        kind = f"dtype {out.dtype}" if isinstance(out, np.ndarray) else type(out).__name__
        raise TypeError(f"out must be a NumPy array of float64, got {kind}")
    if out.shape != shape:
        raise ValueError(f"out has shape {out.shape}, expected {shape}")
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    if not (out.flags.c_contiguous and out.flags.aligned):
        raise ValueError("out must be contiguous in C order, and aligned")
    for name, array in read.items():
        if isinstance(array, np.ndarray) and np.shares_memory(out, array):
            raise ValueError(f"out shares memory with {name}, which is only read")
    return out
