"""The calls of the package whose form may change while results stay: this is their one place."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import riskslim
from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    RiskScore,
    RiskScoreProblem,
    Solution,
    TrainingData,
    branch_and_bound,
    lattice_cpa,
)

__all__ = [
    "NO_LIMIT",
    "read",
    "read_collection",
    "reproduction",
    "scored",
    "solve",
    "standard_cpa",
    "stated",
    "tree_settings",
]

# Seconds that no search takes: each ends by its proof, or by a number of nodes.
NO_LIMIT = 1e6


def stated(
    data: TrainingData, coefficients: CoefficientSet, *, n_threads: int = 1, **requirements: Any
) -> RiskScoreProblem:
    """State a problem; one that makes its own loss is made of its data.

    Parameters
    ----------
    data : TrainingData
    coefficients : CoefficientSet
    n_threads : int, default 1
        Of passes over the rows.
    **requirements
        As RiskScoreProblem takes them.

    Returns
    -------
    RiskScoreProblem
    """
    parameters = inspect.signature(RiskScoreProblem).parameters
    if "loss" not in parameters:
        threads = {"n_threads": n_threads} if "n_threads" in parameters else {}
        return RiskScoreProblem(data, coefficients, **threads, **requirements)
    loss = riskslim.LogisticLoss(data, coefficients, n_threads=n_threads)
    return RiskScoreProblem(loss, coefficients, **requirements)


def solve(
    problem: RiskScoreProblem,
    engine: str = "branch_and_bound",
    settings: dict[str, Any] | None = None,
    **limits: Any,
) -> Solution:
    """Search to the end, or to a number of nodes.

    Parameters
    ----------
    problem : RiskScoreProblem
    engine : {"branch_and_bound", "cplex", "scip"}
        The last two are solvers of lattice_cpa.
    settings : dict, optional
        Of branch and bound.
    **limits
        Keywords of the engine.

    Returns
    -------
    Solution
    """
    limits = {"time_limit": NO_LIMIT, **limits}
    if engine != "branch_and_bound":
        return lattice_cpa(problem, solver=engine, **limits)
    return branch_and_bound(problem, settings=tree_settings(**(settings or {})), **limits)


def tree_settings(**chosen: Any) -> BranchAndBoundSettings:
    """Settings of branch and bound, with those that only tests and benchmarks change.

    Parameters
    ----------
    **chosen
        By name.

    Returns
    -------
    BranchAndBoundSettings
    """
    try:
        home = importlib.import_module("riskslim.engines.settings")
    except ModuleNotFoundError:
        home = riskslim
    made = getattr(home, "TunedSettings", BranchAndBoundSettings)
    found: BranchAndBoundSettings = made(**chosen)
    return found


def scored(
    problem: RiskScoreProblem, solution: Solution, data: TrainingData, rank: int = 0, **more: Any
) -> RiskScore | None:
    """The risk score of a solution.

    Parameters
    ----------
    problem : RiskScoreProblem
    solution : Solution
    data : TrainingData
    rank : int, default 0
        In the list of scores.
    **more
        As RiskScore.from_solution takes it.

    Returns
    -------
    RiskScore or None
        None where nothing meets the requirements.
    """
    if solution.coefficients is None:
        return None
    return RiskScore.from_solution(solution, data, rank=rank, problem=problem, **more)


def read(path: Path, outcome: str, *, weights: str | None = None, **options: Any) -> TrainingData:
    """Read a file, or the files of a folder, batch by batch.

    Parameters
    ----------
    path : Path
        Of a CSV or Parquet file, or of a folder of the latter.
    outcome : str
    weights : str, optional
        Column of weights.
    **options
        ``items``, ``memory_limit`` and so on.

    Returns
    -------
    TrainingData
    """
    if not hasattr(riskslim, "read"):
        name = "from_csv" if path.suffix == ".csv" else "from_parquet"
        old: TrainingData = getattr(TrainingData, name)(
            path, outcome, sample_weight=weights, **options
        )
        return old
    # By the door of several files: one that fits in memory would not be read batch by batch.
    columns = importlib.import_module("riskslim.data.roles").Columns.of(
        outcome, weights, options.pop("positive_label", None), options.pop("features", None),
        options.pop("exclude", ()),
    )  # fmt: skip
    options["seed"] = options.pop("random_state", 0)
    files = importlib.import_module("riskslim.rows.file_rows")
    data: TrainingData = files.read_files(path, options.pop("csv_format", None), columns, **options)
    return data


def read_collection(X: Any, y: Any, sample_weight: Any = None, **options: Any) -> TrainingData:
    """Read Dask collections.

    Parameters
    ----------
    X, y, sample_weight
    **options
        ``items``, ``memory_limit`` and so on.

    Returns
    -------
    TrainingData
    """
    make = getattr(riskslim, "read", None) or TrainingData.from_dask  # type: ignore[attr-defined]
    data: TrainingData = make(X, y, sample_weight, **options)
    return data


def sampled(data: TrainingData, n: int, random_state: int) -> TrainingData:
    """Draw rows at random.

    Parameters
    ----------
    data : TrainingData
    n, random_state : int

    Returns
    -------
    TrainingData
    """
    draw = getattr(riskslim, "sampled", None) or TrainingData.sampled  # type: ignore[attr-defined]
    drawn: TrainingData = draw(data, n, random_state)
    return drawn


def reproduction(name: str) -> ModuleType:
    """A module that reproduces the paper, in a folder of its own or not.

    Parameters
    ----------
    name : str
        "baselines" or "simulation".

    Returns
    -------
    module
    """
    try:
        return importlib.import_module(f"riskslim.paper.{name}")
    except ModuleNotFoundError:
        return importlib.import_module(f"riskslim.{name}")


def standard_cpa() -> Callable[..., Any]:
    """The standard cutting plane algorithm, wherever it is.

    Returns
    -------
    callable
    """
    found: Callable[..., Any] | None = getattr(riskslim, "standard_cpa", None)
    return found or importlib.import_module("riskslim.paper").standard_cpa  # type: ignore[no-any-return]
