"""A fitted score against the rows that it was fitted to: what these contradict is never assumed."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing
from riskslim.data.feature_ranges import FeatureRange
from riskslim.exceptions import CertificateError
from riskslim.items.families import condition_families, contradicted
from riskslim.items.item import Item
from riskslim.score.table import AttainableScores

if TYPE_CHECKING:
    from riskslim.data.training_data import TrainingData
    from riskslim.risk_score import RiskScore

__all__ = ["agreeing_items", "check_scores_of_training", "feature_ranges_of"]

logger = logging.getLogger("riskslim")

_ROWS_AT_A_TIME = 2**20


def feature_ranges_of(
    rows: TrainingData, data: TrainingData, names: Sequence[str]
) -> dict[str, FeatureRange]:
    """Return the values that features have in the training rows that count.

    Parameters
    ----------
    rows : TrainingData
        With all combinations of values of these features, or a sample of them.
    data : TrainingData
        All that ``rows`` are an excerpt of.
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
    for name, found in [*ranges.items()]:
        j = position[name]
        ends = data.feature_min[j].item(), data.feature_max[j].item()
        if (found.minimum, found.maximum) != ends:
            whole = bool(data.is_integer[j])
            low, high = (int(end) if whole else end for end in ends)
            ranges[name] = FeatureRange(low, high, is_integer=whole)
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
