"""Checks of numbers that users give."""

from __future__ import annotations

import math
import numbers
import os
from typing import Any, TypeGuard

import numpy as np

__all__ = [
    "as_float",
    "as_int",
    "as_number",
    "checked_integer",
    "checked_number",
    "checked_points",
    "checked_threads",
    "int_between",
    "is_int",
    "is_number",
]

# Points and intercept: sums of a few thousand of these are exact in float64.
_MAX_POINTS = 2**31 - 1


def is_int(value: Any) -> TypeGuard[int]:
    """True if a value is an integer of Python or NumPy; True and False are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """True if a value is a real number of any kind; True and False are none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def as_int(value: Any, what: str) -> int:
    """Return an integer as an int; ``TypeError`` about ``what`` otherwise."""
    if not is_int(value):
        raise TypeError(f"{what} must be an int, got {value!r}")
    return int(value)


def int_between(value: Any, what: str, least: int, most: int) -> int:
    """Return an integer as an int; ``ValueError`` where it is out of range."""
    if not least <= as_int(value, what) <= most:
        raise ValueError(f"{what} must be between {least} and {most}, got {value}")
    return int(value)


def as_number(value: Any, what: str) -> float:
    """Return a real number as a float; ``TypeError`` about ``what`` otherwise."""
    if not is_number(value):
        raise TypeError(f"{what} must be a number, got {value!r}")
    return as_float(value)


def as_float(value: Any) -> float:
    """Convert a number, an int beyond all floats to an infinite one.

    Parameters
    ----------
    value : number

    Returns
    -------
    float
    """
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def checked_number(value: Any, what: str) -> float:
    """A finite number as a float; ``ValueError`` about ``what`` otherwise."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(f"{what} must be a number, got {value!r}")
    number = as_float(value)
    if not math.isfinite(number):
        raise ValueError(f"{what} must be finite and within float64, got {value!r}")
    return number


def checked_integer(value: Any, what: str) -> int:
    """An integer as an int; ``ValueError`` about ``what`` otherwise."""
    if checked_number(value, what) != math.floor(value):
        raise ValueError(f"{what} must be an integer, got {value!r}")
    return int(value)


def checked_points(value: Any, what: str) -> int:
    """Points or an intercept as an int; ``ValueError`` about ``what`` otherwise."""
    if not is_int(value):
        raise ValueError(f"{what} must be an integer, got {value!r}")
    if abs(int(value)) > _MAX_POINTS:
        raise ValueError(f"{what} must be at most {_MAX_POINTS} in absolute value, got {value}")
    return int(value)


# More threads than this are a mistake, for example a number of rows.
_MAX_THREADS = 4096


def checked_threads(n_threads: int) -> int:
    """Turn a number of threads as users give it into the number to use.

    Parameters
    ----------
    n_threads : int
        At least 1, or -1 for one per core that this process may run on.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        No integer, or out of range.
    """
    n_threads = as_int(n_threads, "n_threads")
    if n_threads == -1:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    if not 1 <= n_threads <= _MAX_THREADS:
        raise ValueError(
            f"n_threads must be between 1 and {_MAX_THREADS}, or -1 for all cores, got {n_threads}"
        )
    return n_threads
