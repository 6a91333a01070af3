"""Discrete coordinate descent and sequential rounding from the relaxed optimum.

The traffic of a heuristic is counted as one pass over all columns for each move that it makes
(and one more for the descent, to see that there is no further move): what is left when every
line search comes for free.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

from benchmarks import reference
from benchmarks.instances import TWO_THREADS, Case
from riskslim import discrete_coordinate_descent, sequential_rounding

DEFAULT_CASES = [
    *(Case(kind, 10**5, 30) for kind in ("integer", "real")),
    *(Case("integer", 10**6, d) for d in (10, 30)),
]
FULL_CASES = [
    *(Case(kind, 10**5, d) for d in (10, 30) for kind in ("integer", "binary", "real", "mixed")),
    *(Case(kind, 10**6, d) for d in (10, 30) for kind in ("integer", "binary", "real")),
    *(Case("integer", 10**7, d) for d in (10, 30)),
]

# The reference takes up to a thousand passes over the rows: beyond this it is measured once.
_SLOW_CELLS = 10**6


ROLES = ["reference", "riskslim", TWO_THREADS]


@pytest.mark.parametrize("role", ROLES)
def test_coordinate_descent(instance, measure, benchmark, role):
    instance.use_threads(role)
    problem, start = instance.problem, np.rint(instance.point("fractional"))
    plain = functools.partial(
        reference.coordinate_descent, instance.reference, problem, start
    )  # fmt: skip

    def packaged():
        result = discrete_coordinate_descent(problem, start)
        return result.coefficients, result.objective, result.n_iterations

    found = measure_heuristic(measure, instance, role, "coordinate descent", plain, packaged)
    benchmark.extra_info["bytes_per_row"] = instance.bytes_per_row() * (found[2] + 1)


@pytest.mark.parametrize("role", ROLES)
def test_sequential_rounding(instance, measure, benchmark, role):
    instance.use_threads(role)
    problem, start = instance.problem, instance.point("fractional")
    plain = functools.partial(reference.sequential_rounding, instance.reference, problem, start)

    def packaged():
        result = sequential_rounding(problem, start)
        return result.coefficients, result.objective, result.n_iterations

    found = measure_heuristic(measure, instance, role, "sequential rounding", plain, packaged)
    benchmark.extra_info["bytes_per_row"] = instance.bytes_per_row() * found[2]


def measure_heuristic(measure, instance, role, kernel, plain, packaged):
    case = instance.case
    found = measure(
        plain if role == "reference" else packaged, family="heuristics", kernel=kernel, role=role,
        case=case, slow=role == "reference" and case.n * case.d > _SLOW_CELLS,
    )  # fmt: skip
    expected = instance.expected(kernel, (lambda: found) if role == "reference" else plain)
    np.testing.assert_array_equal(found[0], expected[0])
    assert found[1] == pytest.approx(expected[1], rel=1e-12)
    assert found[2] == expected[2]
    return found
