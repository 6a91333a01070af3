"""Samples of training data, wherever their rows are."""

from __future__ import annotations

import dataclasses

import numpy as np

from riskslim._checks import checked_integer
from riskslim.data.distinct import KernelRows, all_rows, take_rows
from riskslim.data.merging import merged_data
from riskslim.data.training_data import TrainingData
from riskslim.rows.memory import MemoryRows

__all__ = ["sampled"]


def sampled(data: TrainingData, n: int, seed: int) -> TrainingData:
    """Draw rows at random; see :meth:`riskslim.TrainingData.sampled`.

    Parameters
    ----------
    data : TrainingData
    n : int
    seed : int

    Returns
    -------
    TrainingData

    Raises
    ------
    ValueError
        Not a positive number; a class of which no row was drawn.
    """
    n = checked_integer(n, "n")
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    rows = data.rows_elsewhere
    if rows is None:
        rows = MemoryRows([all_rows(data)])
    part = _apart(rows.sample(n, seed))
    for label, name in zip((-1, 1), data.classes, strict=True):
        if not (part.labels == label).any():
            raise ValueError(
                f"none of {part.n_rows} rows that were drawn is of class {name!r}: draw more"
            )
    drawn = merged_data(
        part, None, is_weighted=len(part.weights) > 0, feature_names=data.feature_names,
        outcome_name=data.outcome_name, classes=data.classes,
        feature_min=data.feature_min.copy(), feature_max=data.feature_max.copy(), items=data.items,
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
