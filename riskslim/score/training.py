"""Scores of fits, and the rows that they were fitted to: what these contradict is never assumed.

:func:`from_solution` and :func:`from_coefficients` are what the class methods of
:class:`~riskslim.RiskScore` with these names call.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._checks import as_int
from riskslim._wording import listing
from riskslim.data.feature_ranges import FeatureRange
from riskslim.data.training_data import TrainingData
from riskslim.exceptions import CertificateError, RowsLostError
from riskslim.items.families import condition_families, contradicted
from riskslim.items.item import Item
from riskslim.items.rules import raw_table
from riskslim.operating_point import DecisionThreshold, Shares
from riskslim.rows.subsets import subset_of
from riskslim.scale import PAPER_SCALE
from riskslim.score.cutoff_sweep import cutoff_ranges, ranges_with_other_points
from riskslim.score.table import AttainableScores
from riskslim.solution import RulePool

if TYPE_CHECKING:
    from riskslim.items.encoder import ItemEncoder
    from riskslim.problem.problem import RiskScoreProblem
    from riskslim.risk_score import RiskScore
    from riskslim.score.requirements import Requirement
    from riskslim.solution import Certificate, Solution

__all__ = [
    "agreeing_items", "check_scores_of_training", "feature_ranges_of", "from_coefficients",
    "from_solution",
]  # fmt: skip

logger = logging.getLogger("riskslim")

_ROWS_AT_A_TIME = 2**20
# Of counts.
_ROUNDING = 1e-12


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
    said: tuple[str, ...] = ()
    if problem is not None and with_remarks and not rank:
        said = problem.remarks(coef, scale=scale)
    score = from_coefficients(kind, coef, data, scale=scale, certificate=certificate)
    score = dataclasses.replace(
        score,
        requirements=requirements,
        fit_remarks=said,
        operating_point=_point_of(solution, rank),
    )
    if raw is not None and not data.has_each_row:
        raise ValueError(
            "raw columns are looked at row by row, but equal rows of these data were merged "
            "while they were read: leave raw out"
        )
    # Of a rule it is not the objective that cut-offs were chosen for.
    if raw is not None and score.operating_point is None:
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
    rows: TrainingData | None = None
    try:
        rows = subset_of(data, used)
    except RowsLostError as lost:
        logger.warning("what the training rows say of the score is left out: %s", lost.reason)
    with_points = [names[j] for j in used]
    if rows is None:
        ranges, items = _ends_of(data, used), {}
    else:
        ranges = feature_ranges_of(rows, data, with_points)
        items = agreeing_items(rows, ranges)
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
        items=items,
        csv_format=data.csv_format,
    )
    if rows is not None:
        check_scores_of_training(score, rows)
    return score


def _point_of(solution: Solution, rank: int) -> DecisionThreshold | None:
    """The threshold of the best rule, or of another one of a list."""
    pool, rule = solution.pool, solution.certificate.rule
    if rank and isinstance(pool, RulePool):
        threshold, shares, required = pool.thresholds[rank], pool.shares[rank], pool.required
    elif rank or rule is None:
        return None
    else:
        threshold, shares, required = rule.threshold, rule.shares, rule.required
    # Weights of classes that were taken out of counts again leave errors of rounding.
    counts = Shares(*map(_near_whole, dataclasses.astuple(shares)))
    return DecisionThreshold(float(threshold), counts, None, required)


def _near_whole(count: float) -> float:
    whole = round(count)
    return float(whole) if abs(count - whole) <= _ROUNDING * max(count, 1.0) else count


def _ranked(solution: Solution, rank: int) -> tuple[NDArray[np.int64], float]:
    """Coefficient vector and scale of one of a solution's scores."""
    best = solution.coef  # raises where there is no score
    count = 1 if solution.pool is None else len(solution.pool)
    if not 0 <= as_int(rank, "rank") < count:
        raise ValueError(
            f"rank must be between 0 and {count - 1}, got {rank}: the solution has {count} risk "
            f"score{'s' if count > 1 else ''}; a search with n_solutions or within finds several"
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


def _ends_of(data: TrainingData, features: Sequence[int]) -> dict[str, FeatureRange]:
    """Return the least and the largest values of features, which are known without the rows."""
    ranges: dict[str, FeatureRange] = {}
    for j in features:
        whole = bool(data.is_integer[j])
        low, high = data.feature_min[j].item(), data.feature_max[j].item()
        low, high = (int(low), int(high)) if whole else (low, high)
        ranges[data.feature_names[j]] = FeatureRange(low, high, is_integer=whole)
    return ranges


def feature_ranges_of(
    rows: TrainingData, data: TrainingData, names: Sequence[str]
) -> dict[str, FeatureRange]:
    """Return the values that features have in the training rows that count.

    Parameters
    ----------
    rows : TrainingData
        With all combinations of values of these features, or a sample of them.
    data : TrainingData
        All that ``rows`` are a subset of.
    names : sequence of str

    Returns
    -------
    dict from str to FeatureRange
    """
    position = {name: j for j, name in enumerate(rows.feature_names)}
    counted = rows.counted
    ranges = {name: FeatureRange.of(rows.column(position[name])[counted]) for name in names}
    if rows is data or len(rows.feature_names) < data.n_features:
        return ranges
    # A sample may lack the extreme values.
    known = _ends_of(data, [position[name] for name in names])
    for name, found in [*ranges.items()]:
        if (found.minimum, found.maximum) != (known[name].minimum, known[name].maximum):
            ranges[name] = known[name]
    return ranges


def agreeing_items(
    data: TrainingData, feature_ranges: Mapping[str, FeatureRange]
) -> dict[str, Item]:
    """Return what is stated of features with points, as far as the training rows agree.

    Parameters
    ----------
    data : TrainingData
    feature_ranges : mapping from str to FeatureRange
        Of the features with points.

    Returns
    -------
    dict from str to Item
        Without the conditions on a variable of which some row has a combination that cannot be:
        two levels at once, for example. A warning is logged.
    """
    items = {name: item for name, item in data.items.items() if name in feature_ranges}
    for name, item in [*items.items()]:
        values = feature_ranges[name]
        is_binary = values.is_integer and values.minimum >= 0 and values.maximum <= 1
        if item.kind != "numeric" and not is_binary:
            logger.warning(
                "the training rows contradict what is stated of %r: it has other values than 0 "
                "and 1; it is taken for a number",
                name,
            )
            del items[name]
    position = {name: j for j, name in enumerate(data.feature_names)}
    related = condition_families(feature_ranges, feature_ranges, items)
    counted = data.counted
    for family in contradicted(related, lambda name: data.column(position[name])[counted]):
        logger.warning(
            "the training rows contradict what is stated of %s: some row has a combination of "
            "them that cannot be; they are taken for unrelated features",
            listing(map(repr, family.names)),
        )
        for name in family.names:
            del items[name]
    return items


def check_scores_of_training(score: RiskScore, data: TrainingData) -> None:
    """Make sure that a fitted score's sheet and rules leave out no score of its training rows.

    Parameters
    ----------
    score : RiskScore
        With features of ``data``.
    data : TrainingData

    Raises
    ------
    CertificateError
        Some row has a score that the table of attainable scores does not list.
    """
    totals = AttainableScores(score).enumerated()
    if totals is None:
        return
    position = {name: j for j, name in enumerate(data.feature_names)}
    columns = [(points, data.column(position[name])) for name, points in score.points.items()]
    counts = None if isinstance(data.counted, slice) else np.asarray(data.sample_weight) > 0
    for start in range(0, data.n_rows, _ROWS_AT_A_TIME):
        rows: Any = slice(start, start + _ROWS_AT_A_TIME)
        if counts is not None:
            rows = start + np.flatnonzero(counts[rows])
        scores: NDArray[np.int64] = np.zeros(len(data.labels[rows]), dtype=np.int64)
        for points, column in columns:
            scores += points * column[rows].astype(np.int64)
        lacking = np.setdiff1d(np.unique(scores), totals, assume_unique=True)
        if len(lacking):
            raise CertificateError(
                f"rows of the training data have the scores {listing(map(str, lacking.tolist()))}, "
                "which the table of attainable scores lacks"
            )
