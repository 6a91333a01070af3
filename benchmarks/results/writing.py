"""What is written of a solution, of a path over sizes, of a cross-validation."""

from __future__ import annotations

import dataclasses
from typing import Any

from benchmarks.results.folder import Record, plain
from riskslim import RiskScore, Solution, SolutionPool

__all__ = ["StopPath", "write_path", "write_search", "write_validation"]


class StopPath(Exception):  # noqa: N818
    """Ends a path between two sizes, as a program does that is ended from outside."""


def write_search(record: Record, name: str, solution: Solution, score: RiskScore | None) -> None:
    """Write a result, the way to it, its list of scores, and the score as file and sheet.

    Parameters
    ----------
    record : Record
    name : str
        What the names of all of them begin with.
    solution : Solution
    score : RiskScore or None
    """
    record.write(f"{name}.json", _result(solution))
    record.write(f"{name}.search.json", _search(solution))
    if solution.pool is not None:
        record.write(f"{name}.pool.txt", _list(solution.pool))
    if score is not None:
        record.write(f"{name}.score.json", score.to_json())
        record.write(f"{name}.sheet.txt", f"{score}\n")


def _result(solution: Solution) -> dict[str, Any]:
    pool = solution.pool
    return {
        "coefficients": solution.coefficients,
        "intercept": solution.intercept,
        "scale": solution.scale,
        "certificate": solution.certificate.to_dict(),
        "explained": solution.certificate.explain(),
        "feature_names": solution.feature_names,
        "is_interrupted": solution.is_interrupted,
        "pool": None if pool is None else {"complete": pool.complete, "bound": pool.bound},
    }


def _search(solution: Solution) -> dict[str, Any]:
    """Counts and the course of the search, without seconds."""
    found = solution.statistics
    names = sorted(f.name for f in dataclasses.fields(found) if not f.name.endswith("seconds"))
    trace = {name: column for name, column in solution.trace.to_dict().items() if name != "time"}
    return {
        "statistics": {name: getattr(found, name) for name in names},
        "trace": {name: list(column) for name, column in trace.items()},
    }


def _list(pool: SolutionPool) -> str:
    """All scores, a line for each, and what is known of the others."""
    lines = [
        f"{float(objective).hex()} scale {float(pool.scale(rank)).hex()} "
        f"intercept {pool.intercept(rank)} {dict(pool.points(rank))}"
        for rank, objective in enumerate(pool.objectives)
    ]
    return "\n".join([*lines, f"intercepts {plain(pool.intercepts)}", pool.explain(), ""])


def write_path(record: Record, name: str, path: Any) -> None:
    """Write the scores of all sizes, and what their folds say.

    Parameters
    ----------
    record : Record
    name : str
    path : ModelSizePath
    """
    rows = [{k: v for k, v in one.items() if k != "seconds"} for one in path.records()]
    record.write(f"{name}.json", {"is_complete": path.is_complete, "sizes": rows})
    record.write(f"{name}.txt", f"{path}\n")
    for entry in path.entries:
        size = f"{name}.size{entry.max_size}"
        write_search(record, size, entry.solution, entry.risk_score)
        if entry.cross_validation is not None:
            record.write(f"{size}.folds.json", _folds(entry.cross_validation))


def write_validation(record: Record, name: str, result: Any) -> None:
    """Write a cross-validation.

    Parameters
    ----------
    record : Record
    name : str
    result : CrossValidation
    """
    record.write(f"{name}.txt", f"{result}\n")
    record.write(f"{name}.folds.json", _folds(result))
    if result.final_score is not None:
        record.write(f"{name}.score.json", result.final_score.to_json())


def _folds(result: Any) -> dict[str, Any]:
    return {
        "is_complete": result.is_complete,
        "records": result.records(),
        "parameters": [fold.parameters for fold in result.folds],
        "predictions": [[fold.test_risk, fold.test_scores] for fold in result.folds],
    }
