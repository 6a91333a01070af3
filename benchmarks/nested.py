"""Fits whose parameters are chosen on inner folds of the training rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from riskslim import RiskSLIMClassifier
from riskslim.exceptions import ConstantFeatureWarning, ExtrapolationWarning

__all__ = ["fitted"]

N_INNER_FOLDS = 3


def fitted(
    model: RiskSLIMClassifier, choices: Mapping[str, Sequence[Any]], X: Any, y: Any
) -> RiskSLIMClassifier:
    """Fit a classifier with the parameters of the lowest mean log loss on inner folds.

    Parameters
    ----------
    model : RiskSLIMClassifier
        Unfitted; all that is not chosen.
    choices : mapping
        Values of each parameter. Where there is nothing to choose there are no inner folds.
    X, y
        Training rows.

    Returns
    -------
    RiskSLIMClassifier
        Fitted to all training rows.
    """
    with warnings.catch_warnings():
        for usual in (ConvergenceWarning, ConstantFeatureWarning, ExtrapolationWarning):
            warnings.simplefilter("ignore", usual)
        if all(len(values) == 1 for values in choices.values()):
            model.set_params(**{name: values[0] for name, values in choices.items()})
            return model.fit(X, y)
        inner = StratifiedKFold(N_INNER_FOLDS, shuffle=True, random_state=0)
        search = GridSearchCV(model, dict(choices), scoring="neg_log_loss", cv=inner)
        best: RiskSLIMClassifier = search.fit(X, y).best_estimator_
    return best
