"""Subsets of training data, wherever their rows are: some of the rows, some of the features."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from riskslim._checks import checked_integer
from riskslim.data.distinct import take_rows
from riskslim.data.merging import merged_data
from riskslim.data.row_tiles import as_row_tiles
from riskslim.data.store import KernelRows
from riskslim.data.training_data import TrainingData
from riskslim.rows.memory import parted

__all__ = ["sampled", "subset_of"]

# Distinct rows of some features that are held, and rows of a sample where there are more.
_MOST_DISTINCT = 2**20


def sampled(data: TrainingData, n: int, random_state: int = 0) -> TrainingData:
    """Draw rows of training data at random, without replacement.

    Parameters
    ----------
    data : TrainingData
    n : int
        Number of rows; all of them if there are not so many. Rows of weight zero are not drawn
        where equal rows were merged.
    random_state : int, default 0

    Returns
    -------
    TrainingData
        Rows in memory, each for itself, with its weight if it has one. Of rows with weights
        that were merged, it is the merged ones that are drawn.

    Raises
    ------
    ValueError
        Not a positive number; a class of which no row was drawn.

    Examples
    --------
    >>> from riskslim import TrainingData, sampled
    >>> data = TrainingData({"smoker": [0, 1, 0, 1, 1, 0]}, [0, 1, 1, 0, 1, 0])
    >>> sampled(data, 4).n_samples
    4
    """
    n = checked_integer(n, "n")
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    rows = parted(data.rows)
    part = _apart(rows.sample(n, random_state))
    for label, name in zip((-1, 1), data.classes, strict=True):
        if not (part.labels == label).any():
            raise ValueError(
                f"none of {part.n_rows} rows that were drawn is of class {name!r}: draw more"
            )
    drawn = merged_data(
        part, None, is_weighted=len(part.weights) > 0, feature_names=data.feature_names,
        outcome_name=data.outcome_name, classes=data.classes,
        feature_min=data.feature_min.copy(), feature_max=data.feature_max.copy(),
        items=data.items, warn=False,
    )  # fmt: skip
    drawn.class_factors, drawn.csv_format = data.class_factors, data.csv_format
    return drawn


def _apart(rows: KernelRows) -> KernelRows:
    """Rows each for itself, where they are numbers of equal ones."""
    if not len(rows.numbers):
        return rows
    index = np.repeat(np.arange(rows.n_rows), rows.numbers)
    apart = take_rows(rows, index, total_weight=float(len(index)), n_samples=len(index))
    return dataclasses.replace(apart, weights=np.empty(0), numbers=np.empty(0, np.uint16))


def subset_of(data: TrainingData, features: Sequence[int]) -> TrainingData:
    """Return data with rows in memory that have all combinations of values of some features.

    Parameters
    ----------
    data : TrainingData
    features : sequence of int
        In increasing order.

    Returns
    -------
    TrainingData
        The data themselves, where their rows are in memory. Else the distinct rows of these
        features, in one pass and with arbitrary labels; of features with more than a million
        combinations, those of a sample of as many rows.
    """
    if data.rows.is_block:
        return data
    chosen = np.zeros(data.n_features, np.bool_)
    chosen[list(features) or [0]] = True
    merged = parted(data.rows).merged(chosen, _MOST_DISTINCT)
    if merged is None:
        return sampled(data, min(_MOST_DISTINCT, data.n_samples))
    used = merged.positive + merged.negative > 0
    weights = (merged.positive + merged.negative)[used]
    index = np.flatnonzero(chosen)
    part = KernelRows(
        integer_columns=np.asfortranarray(merged.integer_columns[used]),
        integer_index=np.flatnonzero(data.is_integer[index]),
        real_row_tiles=as_row_tiles(merged.real_columns[used]),
        real_index=np.flatnonzero(~data.is_integer[index]),
        labels=np.where(merged.positive[used] > 0, np.int8(1), np.int8(-1)),
        weights=weights,
        numbers=np.empty(0, np.uint16),
        total_weight=data.total_weight,
        n_samples=len(weights),
    )
    names = [data.feature_names[j] for j in index.tolist()]
    return merged_data(
        part, None, is_weighted=True, feature_names=names, outcome_name=data.outcome_name,
        classes=data.classes, feature_min=data.feature_min[index],
        feature_max=data.feature_max[index], warn=False,
        items={name: data.items[name] for name in names if name in data.items},
    )  # fmt: skip
