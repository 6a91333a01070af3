"""Searches under constraints that take ways of their own: risks, rates, contradictions, many."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.datasets import TABLES, encoder_for, load, open_dataset
from benchmarks.results.doors import reproduction, scored, solve, stated
from benchmarks.results.folder import Record
from benchmarks.results.writing import write_search
from riskslim import (
    CoefficientSet,
    TrainingData,
    at_least,
    at_most,
    exactly,
    false_negative_rate_at_most,
    false_positive_rate_at_most,
    rate_gap_at_most,
    risk_at_least,
    risk_at_most,
)

__all__ = ["write_constrained"]

_SEIZURE = Path(__file__).resolve().parents[2] / "examples" / "seizure.py"


def _search(
    record: Record,
    name: str,
    data: TrainingData,
    constraints: Sequence[Any],
    engine: str = "branch_and_bound",
    **asked: Any,
) -> None:
    limits = {key: asked.pop(key) for key in ("n_solutions", "settings") if key in asked}
    with record.case(f"constrained/{name}") as case:
        coefficients = CoefficientSet(data.feature_names, -5, 5)
        problem = stated(data, coefficients, constraints=constraints, **asked)
        solution = solve(problem, engine, **limits)
        write_search(record, case, solution, scored(problem, solution, data))
        said = {"constraints": [str(one) for one in problem.constraints]}
        if solution.coefficients is not None:
            said["remarks"] = problem.remarks(solution.coef)
        record.write(f"{case}.said.json", said)


def write_constrained(record: Record) -> None:
    """Write them.

    Parameters
    ----------
    record : Record
    """
    mammo = open_dataset(record.data, "mammo")
    _risks(record, mammo)
    _rates(record, mammo)
    _impossible(record, mammo)
    _items_and_rates(record)
    if not record.short:
        _seizure(record)


def _risks(record: Record, mammo: Any) -> None:
    data = TrainingData(mammo.X, mammo.y)
    low, high = mammo.X.iloc[5].to_dict(), mammo.X.iloc[40].to_dict()
    bounds = [
        risk_at_most(0.25, profile=low, name="low"),
        risk_at_least(0.75, profile=high, name="high"),
        risk_at_most(0.1, profile={}, name="nothing"),
        risk_at_least(0.6, where={"Age_geq_60": 1, "IrregularShape": 1}, name="old"),
    ]
    _search(record, "risks-2", data, bounds[:2], max_size=5)
    _search(record, "risks-4", data, bounds, max_size=5)
    _search(record, "risks-4-scales", data, bounds, max_size=4, scale=[1, 2])
    _search(record, "risks-2-cplex", data, bounds[:2], "cplex", max_size=4)


def _rates(record: Record, mammo: Any) -> None:
    data = TrainingData(mammo.X, mammo.y)
    misses = false_negative_rate_at_most(0.1, 0.5)
    _search(record, "misses", data, [misses], max_size=3)
    _search(record, "misses-list", data, [misses], max_size=2, n_solutions=5)
    labels = np.where(mammo.X["Age_geq_60"] > 0, "old", "young")
    gap = rate_gap_at_most(0.15, "false_positive", groups=labels, threshold=0.5, name="fair")
    _search(record, "gap", data, [gap], max_size=2)
    _search(record, "gap-free", data, [gap], max_size=2, scale="free")
    few = mammo.X[["Age_geq_60", "IrregularShape", "OvalShape", "CircumscribedMargin"]]
    small = TrainingData(few, mammo.y)
    alarms = false_positive_rate_at_most(0.12, 0.4)
    for engine in ("branch_and_bound", "cplex", "scip"):
        _search(record, f"alarms-{engine}", small, [alarms], engine, max_size=3)


def _impossible(record: Record, mammo: Any) -> None:
    """Contradictions that propagation sees, that a search has to find, and of rates; far risks."""
    data = TrainingData(mammo.X, mammo.y)
    names = list(mammo.X)
    everybody = [
        risk_at_most(0.1, where={"OvalShape": (">=", 0)}, name="low"),
        risk_at_least(0.9, profile={}, name="high"),
    ]
    _search(record, "no-size", data, [at_least(3, names[:4]), at_most(2, names[:4])])
    _search(record, "far-risks", data, everybody, max_size=2)
    _search(record, "no-count", data, [exactly(2, names[:3]), exactly(2, names[2:5])], max_size=2)
    none = [false_positive_rate_at_most(0.0, 0.3), false_negative_rate_at_most(0.0, 0.3)]
    _search(record, "no-rate", data, none, max_size=1)
    _search(record, "no-size-cplex", data, [at_least(3, names[:4]), at_most(2, names)], "cplex")


def _items_and_rates(record: Record) -> None:
    X, y = load(record.data / "raw", TABLES["pima"])
    items = encoder_for(TABLES["pima"], 5).fit_transform(X)
    data = TrainingData(pd.DataFrame(items), y)
    limits = [false_positive_rate_at_most(0.1, 0.35), false_negative_rate_at_most(0.6, 0.35)]
    _search(record, "items-rate", data, limits[:1], max_size=2, settings={"tables": "always"})
    _search(record, "items-rates", data, limits, max_size=2)


def _seizure(record: Record) -> None:
    """The paper's customised score: 24 constraints on 87 variables, as the example states them."""
    with record.case("constrained/seizure") as case:
        patients = reproduction("simulation").simulate_seizure()
        data, problem = runpy.run_path(str(_SEIZURE))["seizure_problem"](patients)
        solution = solve(problem)
        write_search(record, case, solution, scored(problem, solution, data))
