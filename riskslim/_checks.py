"""Checks of numbers that users give."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

__all__ = ["checked_integer", "checked_number", "checked_points", "checked_threads"]

# Points and intercept: sums of a few thousand of these are exact in float64.
_MAX_POINTS = 2**31 - 1


def checked_number(value: Any, what: str) -> float:
    """A finite number as a float; ``ValueError`` about ``what`` otherwise."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(f"{what} must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
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
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
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
    if isinstance(n_threads, bool) or not isinstance(n_threads, (int, np.integer)):
        raise TypeError(f"n_threads must be an int, got {n_threads!r}")
    if n_threads == -1:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    if not 1 <= n_threads <= _MAX_THREADS:
        raise ValueError(
            f"n_threads must be between 1 and {_MAX_THREADS}, or -1 for all cores, got {n_threads}"
        )
    return int(n_threads)
