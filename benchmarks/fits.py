"""One end-to-end fit with its time split into data, solver and preparation."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import Any

from benchmarks.instances import Case, Table
from riskslim import (
    CoefficientSet,
    RiskScoreProblem,
    TrainingData,
    branch_and_bound,
    lattice_cpa,
)

ENGINES = {"lattice_cpa": lattice_cpa, "branch_and_bound": branch_and_bound}


def fit(
    case: Case, table: Table, *, max_size: int, time_limit: float, engine: str = "lattice_cpa"
) -> dict[str, Any]:
    """Pack, state and solve, with coefficients in -5..5 and the smallest gap.

    Parameters
    ----------
    case : Case
    table : Table
    max_size : int
        Largest model size.
    time_limit : float
        For the engine, in seconds.
    engine : {"lattice_cpa", "branch_and_bound"}

    Returns
    -------
    dict
        Seconds by the clock: ``total``, of them ``packing`` (TrainingData), ``data`` (all passes
        over the packed data) and ``solver`` (the rest), and beside them ``cpu``, of the processor,
        which other programs do not lengthen as much; ``status``, ``objective``, ``gap``, and the
        counts of the run.
    """
    start, cpu_start = perf_counter(), process_time()
    data = TrainingData(*table)
    packed = perf_counter()
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    problem = RiskScoreProblem(data, coefficients, max_size=max_size)
    stated = perf_counter()
    solution = ENGINES[engine](problem, time_limit=time_limit)
    end, cpu_end = perf_counter(), process_time()
    statistics, certificate = solution.statistics, solution.certificate
    data_seconds = (stated - packed) + statistics.data_seconds
    return {
        "engine": engine,
        **case._asdict(),
        "max_size": max_size,
        "time_limit": time_limit,
        "total_seconds": end - start,
        "cpu_seconds": cpu_end - cpu_start,
        "packing_seconds": packed - start,
        "data_seconds": data_seconds,
        "solver_seconds": (end - packed) - data_seconds,
        "status": str(certificate.status),
        "objective": certificate.objective,
        "gap": certificate.optimality_gap,
        "nodes": statistics.nodes,
        "cuts": statistics.cuts,
        "loss_evaluations": statistics.loss_evaluations,
    }
