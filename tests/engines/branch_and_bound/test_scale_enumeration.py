"""Free scales against exhaustive enumeration with exact minimisation over the scale.

Failures name the seed: ``random_scaled_problem(np.random.default_rng(seed))`` draws the problem
again.
"""

from __future__ import annotations

import numpy as np
import pytest

from checked_solutions import scale_faults
from enumeration import enumerate_over_scales, random_scaled_problem
from riskslim import branch_and_bound
from variants import VARIANTS, variant


@pytest.mark.parametrize("first_seed", range(0, 300, 25))
def test_the_enumerated_optimum_over_all_scales_is_found(first_seed):
    failures = []
    for seed in range(first_seed, first_seed + 25):
        small = random_scaled_problem(np.random.default_rng(seed))
        vectors, objectives = enumerate_over_scales(small)
        problem = small.build()
        settings = variant(seed) if "memory_limit" not in VARIANTS[seed % len(VARIANTS)] else None
        solution = branch_and_bound(problem, settings=settings)
        wrong = scale_faults(small, problem, solution, vectors, objectives)
        if wrong:
            failures.append(f"seed {seed}, {small.scale}: {'; '.join(wrong)}")
    assert not failures, "\n".join(failures)
