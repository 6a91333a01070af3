"""From a user's rows to training data, by the steps of a pipeline and the items of a classifier.

Whatever is learned on the way from the outcome, or may be, is learned on the training rows of a
fold alone: its test rows are transformed by what was fitted to these.
"""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskslim.classifier import RiskSLIMClassifier, training_data_of
from riskslim.data.tables import open_table
from riskslim.data.training_data import TrainingData
from riskslim.data.weights import checked_weights
from riskslim.exceptions import (
    ConstantFeatureWarning,
    ExtrapolationWarning,
    PositiveLabelWarning,
)
from riskslim.items.encoder import ItemEncoder, check_rows, item_table, parts_of_a_table
from riskslim.items.parameters import is_supervised
from riskslim.metrics.rows import has_both_classes
from riskslim.model_selection.folds import Split
from riskslim.reader import are_paths
from riskslim.score.observations import class_labels
from riskslim.score.rows import is_positive

__all__ = ["OneClassRows", "Preparation"]


@dataclasses.dataclass(frozen=True, eq=False)
class OneClassRows:
    """Test rows of one class: no training data, but a score is measured on them.

    Parameters
    ----------
    X : object
        What :meth:`riskslim.RiskScore.decision_function` takes.
    labels : ndarray of int8, shape (n,)
        -1 or +1.
    sample_weight : ndarray of float64, shape (n,), or None
    """

    X: Any
    labels: NDArray[np.int8]
    sample_weight: NDArray[np.float64] | None


@dataclasses.dataclass(frozen=True, eq=False)
class Preparation:
    """A classifier, the steps before it, and the rows that they are for.

    Parameters
    ----------
    steps : sklearn.pipeline.Pipeline or None
        Never fitted itself.
    classifier : RiskSLIMClassifier
    X, y, sample_weight
        All rows.
    data : TrainingData, optional
        The same, where they were read already.
    """

    steps: Any
    classifier: RiskSLIMClassifier
    X: Any
    y: Any
    sample_weight: Any
    data: TrainingData | None = None

    @classmethod
    def of_data(cls, classifier: RiskSLIMClassifier, data: TrainingData) -> Preparation:
        """Take a classifier and the rows of files that were read for it.

        Parameters
        ----------
        classifier : RiskSLIMClassifier
        data : TrainingData
            Of one file in memory, or of files that can be read again.

        Returns
        -------
        Preparation
        """
        prepared = cls(None, classifier, None, None, None, data)
        return prepared if data.raw is None else prepared.on(data)

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, sample_weight: Any) -> Preparation | None:
        """Take a classifier, or a pipeline that ends in one, apart; None if it is neither.

        Parameters
        ----------
        estimator : object
        X, y, sample_weight
            As in :meth:`RiskSLIMClassifier.fit`.

        Returns
        -------
        Preparation or None
        """
        from sklearn.pipeline import Pipeline, make_pipeline

        steps: list[Any] = []
        while isinstance(estimator, Pipeline) and estimator.steps:
            steps += [step for _, step in estimator.steps[:-1] if step not in (None, "passthrough")]
            estimator = estimator.steps[-1][1]
        if not isinstance(estimator, RiskSLIMClassifier):
            return None
        if steps and are_paths(X):
            raise TypeError(
                "steps of a pipeline take tables: files are read by the classifier itself, "
                "RiskSLIMClassifier(items=encoder)"
            )
        return cls(make_pipeline(*steps) if steps else None, estimator, X, y, sample_weight)

    def on(self, data: TrainingData) -> Preparation:
        """The same on raw columns that were read of a file, row by row.

        Parameters
        ----------
        data : TrainingData
            Whose ``raw`` is known.

        Returns
        -------
        Preparation
        """
        import pyarrow

        assert data.raw is not None
        assert data.raw.names is not None
        columns = {name: data.raw.values(j) for j, name in enumerate(data.raw.names)}
        y = class_labels(data.classes)[(data.labels > 0).astype(np.intp)]
        return dataclasses.replace(
            self, X=pyarrow.table(columns), y=y, sample_weight=data.sample_weight
        )

    def read(self) -> Preparation:
        """Return the same with all rows read.

        Returns
        -------
        Preparation
        """
        data = self.on_all_rows()
        prepared = dataclasses.replace(self, data=data)
        if are_paths(self.X) and self.is_refitted and data.raw is not None:
            return prepared.on(data)
        return prepared

    @property
    def is_refitted(self) -> bool:
        """True if something is learned anew on the training rows of each fold."""
        items = self.classifier.items
        return self.steps is not None or (isinstance(items, ItemEncoder) and is_supervised(items))

    def on_all_rows(self) -> TrainingData:
        """Make training data of all rows.

        Returns
        -------
        TrainingData
        """
        if self.data is not None:
            return self.data
        return self._fitted(self.X, self.y, self.sample_weight)[1]

    def on_fold(
        self, split: Split, class_factors: tuple[float, float] = (1.0, 1.0)
    ) -> tuple[TrainingData, TrainingData | OneClassRows]:
        """Make training data of the training rows of a fold, and of its test rows by what they say.

        Parameters
        ----------
        split : Split
        class_factors : (float, float), default (1.0, 1.0)
            By which the weights of rows of either class are multiplied, in both.

        Returns
        -------
        train, test : TrainingData
            The items of both are fitted to the training rows. Test rows of one class are
            :class:`OneClassRows`.

        Raises
        ------
        ValueError
            Test rows have levels that the training rows lack, and the encoder refuses these.
        """
        with warnings.catch_warnings(), parts_of_a_table():
            # Rare values, and the largest one, are missing in the training rows of some folds.
            for usual in (ConstantFeatureWarning, ExtrapolationWarning, PositiveLabelWarning):
                warnings.simplefilter("ignore", usual)
            steps, train = self._fitted(*self._rows(split.train))
            encoder = train.encoder
            train = _weighted(train, class_factors)
            X, y, weight = self._rows(split.test)
            if steps is not None:
                X = steps.transform(X)
            if encoder is not None:
                check_rows(encoder, open_table(X))
                X = item_table(encoder, X)
            table = open_table(X)
            names = None if table.names is not None else train.feature_names
            positive = is_positive(y, train.classes, table.n_samples)
            if weight is not None:
                weight = checked_weights(weight, table.n_samples)
            if not has_both_classes(positive, weight):
                if names is not None:
                    table = dataclasses.replace(table, names=names)
                if class_factors != (1.0, 1.0):
                    own = np.ones(len(positive)) if weight is None else weight
                    weight = own * np.where(positive, class_factors[1], class_factors[0])
                return train, OneClassRows(table, np.where(positive, 1, -1).astype(np.int8), weight)
            test = TrainingData(
                X,
                y,
                weight,
                feature_names=names,
                outcome_name=train.outcome_name,
                positive_label=train.classes[1],
                items=train.items,
            )
        return train, _weighted(test, class_factors)

    def _fitted(self, X: Any, y: Any, weight: Any) -> tuple[Any, TrainingData]:
        from sklearn.base import clone

        if self.steps is None:
            return None, training_data_of(self.classifier, X, y, weight)
        steps = clone(self.steps)
        return steps, training_data_of(self.classifier, steps.fit_transform(X, y), y, weight)

    def _rows(self, rows: NDArray[np.intp]) -> tuple[Any, Any, Any]:
        from sklearn.utils import _safe_indexing

        weight = None if self.sample_weight is None else np.asarray(self.sample_weight)[rows]
        return _safe_indexing(self.X, rows), _safe_indexing(self.y, rows), weight


def _weighted(data: TrainingData, class_factors: tuple[float, float]) -> TrainingData:
    """The same rows, by the weights of their classes."""
    if class_factors == (1.0, 1.0):
        return data
    return data.with_class_weight(dict(zip(data.classes, class_factors, strict=True)))
