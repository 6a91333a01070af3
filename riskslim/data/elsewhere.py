"""Training data whose rows are not in their own memory."""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from riskslim.exceptions import RiskSLIMError

__all__ = ["RowsElsewhere", "RowsElsewhereError"]


class RowsElsewhereError(RiskSLIMError):
    """Rows were asked for that are in files, or on other machines."""


class RowsElsewhere(Protocol):
    """Rows in parts, as :class:`riskslim.rows.base.PartitionedRows` has them."""

    n_rows: int
    n_samples: int
    n_counted: int
    class_weights: tuple[float, float]
    total_weight: float
    integer_index: NDArray[np.intp]
    real_index: NDArray[np.intp]
    feature_min: NDArray[np.float64]
    feature_max: NDArray[np.float64]

    @property
    def n_features(self) -> int:
        """Number d of features."""

    @property
    def weighting(self) -> Literal["none", "numbers", "weights"]:
        """The way in which rows count: once each, as numbers of equal ones, or by weights."""
