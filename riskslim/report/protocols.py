"""Protocols of those above the report: cross-validations, paths of sizes, estimators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riskslim.data.training_data import TrainingData
    from riskslim.metrics.calibration import ReliabilityCurve
    from riskslim.metrics.discrimination import OperatingPoints
    from riskslim.metrics.performance import Performance
    from riskslim.problem.problem import RiskScoreProblem
    from riskslim.risk_score import RiskScore
    from riskslim.solution import Solution

__all__ = ["CrossValidationLike", "EstimatorLike", "SizeLike", "SizePathLike"]


@runtime_checkable
class CrossValidationLike(Protocol):
    """The part of a :class:`~riskslim.model_selection.CrossValidation` that is read."""

    @property
    def folds(self) -> Sequence[Any]:
        """The finished folds."""

    @property
    def n_folds(self) -> int:
        """Return the number of folds that were planned."""

    @property
    def is_complete(self) -> bool:
        """Say whether all of them are finished."""

    @property
    def final_score(self) -> RiskScore | None:
        """The risk score that was fitted to all rows."""

    @property
    def positive(self) -> NDArray[Any]:
        """Find which rows have the positive label."""

    @property
    def train(self) -> Performance | None:
        """Say how the final model does on all rows."""

    def mean(self, metric: str, rows: str = ...) -> float:
        """Mean of a metric over folds."""

    def summary(self, metric: str, rows: str = ...) -> str:
        """The mean and the range of a metric in words."""

    def reliability_curve(self, fold: Any, *, bins: Any = ...) -> ReliabilityCurve:
        """The reliability curve of a fold."""

    def operating_points(self, fold: Any) -> OperatingPoints:
        """The operating points of a fold."""


class SizeLike(Protocol):
    """The part of an entry of a path of sizes that is read."""

    @property
    def max_size(self) -> int:
        """The most features that the score could have."""

    @property
    def risk_score(self) -> RiskScore | None:
        """The best score of this size."""

    @property
    def solution(self) -> Solution:
        """The engine's result."""

    @property
    def train(self) -> Performance | None:
        """Say how the score does on all rows."""

    @property
    def cross_validation(self) -> CrossValidationLike | None:
        """Say how scores of this size do on rows that they have not seen."""


@runtime_checkable
class SizePathLike(Protocol):
    """The part of a :class:`~riskslim.model_selection.ModelSizePath` that is read."""

    @property
    def entries(self) -> Sequence[SizeLike]:
        """The finished sizes."""

    @property
    def sizes(self) -> Sequence[int]:
        """Their numbers of features."""

    @property
    def is_complete(self) -> bool:
        """Say whether all sizes and folds are finished."""

    def plot(self, axes: Any = None) -> Any:
        """Draw metrics by size."""


@runtime_checkable
class EstimatorLike(Protocol):
    """The part of a :class:`~riskslim.RiskSLIMClassifier` that is read."""

    def problem_on(self, data: TrainingData) -> RiskScoreProblem:
        """The problem that the estimator's parameters state on some rows."""
