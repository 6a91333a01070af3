"""The passes over the rows, for other packages: plain arrays in, plain numbers and arrays out.

None of the package's classes is needed. A coefficient vector has d + 1 numbers, the intercept
first; X is an array of n rows and d columns, y holds 0 and 1, or -1 and +1. Everything is checked
before compiled code sees it. Repeated calls take what :func:`prepare` returns in place of X
and y.

========================================================= ==========================================
:func:`loss`, :func:`loss_and_gradient`, :func:`hessian`  normalised logistic loss, any coefficients
:func:`line_search`, :func:`best_steps`                   one integer coefficient, or each of them
:func:`support_table`, :func:`joint_counts`               rows counted by values, class and score
:func:`sequential_rounding`, :func:`coordinate_descent`   integer vectors from real ones, and better
:func:`prepare`                                           check and pack once
:func:`get_include`                                       headers for ``riskslim.backend.numerics``
========================================================= ==========================================
"""

from __future__ import annotations

from pathlib import Path

from riskslim.backend.counts import JointCounts, SupportTable, joint_counts, support_table
from riskslim.backend.integers import (
    Descent,
    Steps,
    best_steps,
    coordinate_descent,
    line_search,
    sequential_rounding,
)
from riskslim.backend.losses import hessian, loss, loss_and_gradient
from riskslim.backend.prepared import Prepared, prepare

__all__ = [
    "Descent",
    "JointCounts",
    "Prepared",
    "Steps",
    "SupportTable",
    "best_steps",
    "coordinate_descent",
    "get_include",
    "hessian",
    "joint_counts",
    "line_search",
    "loss",
    "loss_and_gradient",
    "prepare",
    "sequential_rounding",
    "support_table",
]


def get_include() -> str:
    """Folder of the C headers that ``riskslim.backend.numerics`` needs.

    Returns
    -------
    str
        For ``include_dirs`` of an extension that has ``from riskslim.backend.numerics cimport``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from riskslim import backend
    >>> Path(backend.get_include(), "numerics.h").exists()
    True
    """
    return str(Path(__file__).parent.parent / "_kernels")
