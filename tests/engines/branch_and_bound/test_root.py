"""The root of the search: its bound, its score, and the box that it shrinks, against all optima."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from checked_solutions import report
from enumeration import violations
from riskslim.engines.branch_and_bound.root import solve_root
from small_problems import Case


def root_faults(small, best, problem, root) -> list[str]:
    """What the root of the native search claims, against all optimal vectors."""
    found = []
    if root.lower_bound > best.objective + 1e-12:
        found.append(f"lower bound {root.lower_bound!r}, optimum {best.objective!r}")
    if root.objective < best.objective - 1e-12:
        found.append(f"objective {root.objective!r}, optimum {best.objective!r}")
    if root.coef is not None and (broken := violations(small, root.coef)):
        found.append(f"{root.coef} is infeasible: {broken}")
    if best.objective < root.cutoff - 1e-12:
        if root.complete:
            found.append(f"nothing below {root.cutoff!r}, optimum {best.objective!r}")
        for vector in best.vectors:
            inside = (root.lower <= vector) & (vector <= root.upper)
            # An optimal intercept may lie beyond the derived bounds.
            if not np.all(inside) and problem.is_feasible(vector):
                found.append(f"{vector} is not between {root.lower} and {root.upper}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("source", ["any", "constraints"])
def test_boxes_of_the_native_root_contain_what_is_better(source):
    failures, narrower, better = [], 0, 0
    for seed in range(40):
        case = Case(source, "as drawn", seed)
        if not case.best.feasible:
            continue
        for probing, polishing in itertools.product([False, True], repeat=2):
            how = {"probing": probing, "polishing": polishing}
            root = solve_root(case.problem, **how, starts=[])
            if wrong := root_faults(case.small, case.best, case.problem, root):
                failures.append(report(case, how, wrong))
            given = case.problem.upper - case.problem.lower
            narrower += bool(np.any(root.upper - root.lower < given))
            better += not polishing and case.best.objective < root.cutoff - 1e-12
    assert not failures, "\n".join(failures)
    assert narrower > 25
    assert better > 0
