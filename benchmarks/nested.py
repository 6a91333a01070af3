"""Fits whose parameters are chosen on inner folds of the training rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
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

    An inner fold with what its training rows do not have, such as missing values of a column that
    is complete there, cannot be judged: it is left out for all parameters alike.

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

    Raises
    ------
    ValueError
        No inner fold can be judged.
    """
    with warnings.catch_warnings():
        for usual in (ConvergenceWarning, ConstantFeatureWarning, ExtrapolationWarning):
            warnings.simplefilter("ignore", usual)
        if all(len(values) == 1 for values in choices.values()):
            model.set_params(**{name: values[0] for name, values in choices.items()})
            return model.fit(X, y)
        inner = StratifiedKFold(N_INNER_FOLDS, shuffle=True, random_state=0)
        search = GridSearchCV(
            model, dict(choices), scoring="neg_log_loss", cv=inner, refit=_of_the_lowest_loss
        )
        best: RiskSLIMClassifier = search.fit(X, y).best_estimator_
    return best


def _of_the_lowest_loss(results: Mapping[str, Any]) -> int:
    """Index of the parameters with the lowest mean loss on the folds where all were judged."""
    scores = np.array([results[f"split{k}_test_score"] for k in range(N_INNER_FOLDS)])
    judged = ~np.isnan(scores).any(axis=1)
    if not judged.any():
        raise ValueError("no inner fold could be judged")
    return int(np.argmax(scores[judged].mean(axis=0)))
