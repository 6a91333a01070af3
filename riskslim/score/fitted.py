"""Risk scores of solutions, and of vectors of coefficients.

Functions have the names of the class methods of :class:`~riskslim.RiskScore` that call them.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim.data.training_data import TrainingData
from riskslim.items.rules import raw_table
from riskslim.rows.excerpts import excerpt_of
from riskslim.scale import PAPER_SCALE
from riskslim.score.cutoff_sweep import cutoff_ranges, ranges_with_other_points
from riskslim.score.training import agreeing_items, check_scores_of_training, feature_ranges_of

if TYPE_CHECKING:
    from riskslim.items.encoder import ItemEncoder
    from riskslim.problem.problem import RiskScoreProblem
    from riskslim.risk_score import RiskScore
    from riskslim.score.requirements import Requirement
    from riskslim.solution import Certificate, Solution

__all__ = ["from_coefficients", "from_solution"]


def from_solution(
    kind: type[RiskScore],
    solution: Solution,
    data: TrainingData,
    *,
    rank: int = 0,
    problem: RiskScoreProblem | None = None,
    encoder: ItemEncoder | None = None,
    raw: Any = None,
    with_remarks: bool = True,
) -> RiskScore:
    """Build the risk score of an engine's solution."""
    if not isinstance(data, TrainingData):
        raise TypeError(
            f"data must be the TrainingData that the problem was stated on, got "
            f"{type(data).__name__}"
        )
    if solution.feature_names != data.feature_names:
        raise ValueError(
            f"the solution is for {len(solution.feature_names)} features that are not the "
            f"{data.n_features} features of the data; pass the data that it was fitted to"
        )
    coef, scale = _ranked(solution, rank)
    certificate = None if rank else solution.certificate
    requirements: tuple[Requirement, ...] = ()
    if problem is not None:
        single = problem if problem.scales.is_single else problem.at_scale(scale)
        requirements = single.requirements(coef)
    said = problem.remarks(coef) if problem is not None and with_remarks and not rank else ()
    score = from_coefficients(kind, coef, data, scale=scale, certificate=certificate)
    score = dataclasses.replace(score, requirements=requirements, fit_remarks=said)
    if raw is not None and not data.has_each_row:
        raise ValueError(
            "raw columns are looked at row by row, but equal rows of these data were merged "
            "while they were read: leave raw out"
        )
    if raw is not None:
        ranges = cutoff_ranges(
            score,
            raw_table(raw),
            score.score_samples(data),
            data.labels > 0,
            data.sample_weight,
        )
        if rank == 0 and solution.pool is not None and len(solution.pool):
            ranges = ranges_with_other_points(ranges, score, solution.pool, data.items)
        score = dataclasses.replace(score, cutoff_ranges=ranges)
    return score.with_variables(encoder) if encoder is not None and score.points else score


def from_coefficients(
    kind: type[RiskScore],
    coef: ArrayLike,
    data: TrainingData,
    *,
    scale: float = 1.0,
    certificate: Certificate | None = None,
) -> RiskScore:
    """Build the risk score of an integer vector, with what the training rows say of it."""
    vector = np.asarray(coef)
    if vector.shape != (data.n_features + 1,):
        raise ValueError(
            f"coef must be of shape ({data.n_features + 1},), the intercept and one for each "
            f"feature, got {vector.shape}"
        )
    used = np.flatnonzero(vector[1:]).tolist()
    names = data.feature_names
    rows = excerpt_of(data, used)
    ranges = feature_ranges_of(rows, data, [names[j] for j in used])
    score = kind(
        vector[0].item(),
        {names[j]: vector[1 + j].item() for j in used},
        outcome_name=data.outcome_name,
        classes=data.classes,
        feature_names=names,
        feature_ranges=ranges,
        certificate=certificate,
        scale=scale,
        class_weighting=data.class_weighting,
        prevalence=data.prevalence,
        items=agreeing_items(rows, ranges),
        csv_format=data.csv_format,
    )
    check_scores_of_training(score, rows)
    return score


def _ranked(solution: Solution, rank: int) -> tuple[NDArray[np.int64], float]:
    """Coefficient vector and scale of one of a solution's scores."""
    best = solution.coef  # raises where there is no score
    count = 1 if solution.pool is None else len(solution.pool)
    if not 0 <= rank < count:
        raise ValueError(
            f"rank must be between 0 and {count - 1}, got {rank}: the solution has {count} risk "
            f"score{'s' if count > 1 else ''}; branch_and_bound(problem, n_solutions=...) finds "
            "several"
        )
    if rank and solution.pool is not None:
        if solution.pool.scales is None and solution.certificate.scales != PAPER_SCALE:
            raise ValueError(
                "the scores of the pool were chosen with scales of "
                f"{solution.certificate.scales.describe()}, but it does not say which each has"
            )
        return solution.pool.coefficients[rank], solution.pool.scale(rank)
    if solution.scale != solution.certificate.scale:
        raise ValueError(
            f"the solution has the scale {solution.scale!r}, but its certificate is about the "
            f"scale {solution.certificate.scale!r}"
        )
    return best, solution.scale
