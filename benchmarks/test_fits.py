"""End-to-end fits by the lattice cutting plane algorithm, and where their time goes."""

from __future__ import annotations

from benchmarks.fits import fit
from benchmarks.instances import Case

DEFAULT_CASES = [Case("integer", n, 10) for n in (10**4, 10**5, 10**6)]
FULL_CASES = [
    *(Case("integer", n, d) for d in (10, 30) for n in (10**4, 10**5, 10**6, 10**7)),
    *(Case("real", n, 10) for n in (10**4, 10**5, 10**6)),
]


def test_fit(case, table, benchmark):
    benchmark.group = f"fit {case}"
    found = benchmark.pedantic(
        fit, args=(case, table), kwargs={"max_size": 5, "time_limit": 60.0}, rounds=1
    )
    benchmark.extra_info.update(family="fits", kernel="lattice_cpa", role="riskslim", **found)
    assert found["status"] in ("optimal", "feasible")
    assert found["data_seconds"] <= found["total_seconds"]
