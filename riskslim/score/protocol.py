"""A risk score as those see it that write, draw, check or export it.

:class:`riskslim.RiskScore` is what they get; they are below it, and name only what they read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riskslim.data.class_weights import ClassWeighting
    from riskslim.data.csv_format import CsvFormat
    from riskslim.data.feature_ranges import FeatureRange
    from riskslim.items.item import Item
    from riskslim.items.variables import RawVariable
    from riskslim.score.cutoff_ranges import CutoffRange
    from riskslim.score.labels import Label
    from riskslim.score.layout import PointsShown, SheetLayout, ShownBy
    from riskslim.score.recalibration import Recalibration
    from riskslim.score.requirements import Requirement
    from riskslim.score.sheet import ScoreSheet
    from riskslim.score.table import RiskRow
    from riskslim.solution import Certificate

__all__ = ["ScoreLike"]


class ScoreLike(Protocol):
    """The fields of a risk score, and the methods that compute scores of rows.

    Attributes and methods are those of :class:`~riskslim.RiskScore`.
    """

    @property
    def intercept(self) -> int:
        """Of the log-odds, in points."""

    @property
    def points(self) -> Mapping[str, int]:
        """Points by feature."""

    @property
    def outcome_name(self) -> str:
        """Return the name of the outcome."""

    @property
    def classes(self) -> tuple[Any, Any]:
        """The negative label and the positive one."""

    @property
    def feature_names(self) -> Sequence[str]:
        """All features that the score was chosen from."""

    @property
    def feature_ranges(self) -> Mapping[str, FeatureRange]:
        """Values of the features with points in training."""

    @property
    def certificate(self) -> Certificate | None:
        """Return what is proven about the score."""

    @property
    def scale(self) -> float:
        """Points per unit of log-odds."""

    @property
    def variables(self) -> Mapping[str, RawVariable]:
        """Raw columns in training, by name."""

    @property
    def items(self) -> Mapping[str, Item]:
        """Return what is stated of features with points, by name."""

    @property
    def class_weighting(self) -> ClassWeighting | None:
        """Return what weights of classes made of the prevalence."""

    @property
    def csv_format(self) -> CsvFormat | None:
        """Return how the file of the training data was written."""

    @property
    def prevalence(self) -> float | None:
        """Share of the training rows with the positive label."""

    @property
    def recalibration(self) -> Recalibration | None:
        """Return what takes the place of intercept and scale in risks."""

    @property
    def requirements(self) -> Sequence[Requirement]:
        """Return what the score was found under."""

    @property
    def fit_remarks(self) -> Sequence[str]:
        """Return what the fit said of the score."""

    @property
    def labels(self) -> Mapping[str, Label]:
        """Return what variables and features are called on sheets, by name."""

    @property
    def layout(self) -> SheetLayout:
        """Return how sheets list the points."""

    def score_samples(self, X: Any) -> NDArray[Any]:
        """Scores of rows."""

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Log-odds of rows."""

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Risks of rows."""

    @property
    def cutoff_ranges(self) -> Mapping[str, CutoffRange]:
        """Ranges in which cut-offs can be moved, by feature."""

    def remarks(self, X: Any = None) -> tuple[str, ...]:
        """Return what is odd about rows or about the score, in words."""

    def risk_table(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        extreme: float = ...,
        max_rows: int | None = None,
    ) -> tuple[RiskRow, ...]:
        """Entries of the risk table."""

    def sheet(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        extreme: float = ...,
        max_rows: int | None = ...,
        by: ShownBy | None = None,
        points: PointsShown | None = None,
    ) -> ScoreSheet:
        """The sheet on which people add up points."""
