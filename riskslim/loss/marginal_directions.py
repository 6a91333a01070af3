"""Trends of features: whether the outcome is more or less frequent where a feature is larger."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from riskslim.loss.logistic import LogisticLoss

__all__ = ["marginal_directions"]

# Relative error of a trend that is 0: of so many values of a feature it is rounding alone.
_NOTHING = 1e-12


def marginal_directions(loss: LogisticLoss) -> NDArray[np.float64]:
    r"""Covariance of each feature with the outcome, over all rows.

    Parameters
    ----------
    loss : LogisticLoss

    Returns
    -------
    ndarray of float64, shape (d,)
        Weighted; 0 where it is rounding alone.

    Notes
    -----
    Where the score is the intercept alone, the one whose risk p is the share of rows with the
    outcome, the gradient of the loss by feature j is :math:`(p \bar{x}_j - \overline{t x_j}) / m`,
    minus the covariance of x and the outcome t divided by the scale. So two passes over the rows,
    wherever these are, do.

    Examples
    --------
    >>> from riskslim import CoefficientSet, LogisticLoss, TrainingData
    >>> from riskslim.loss.marginal_directions import marginal_directions
    >>> data = TrainingData({"age": [30, 40, 50, 60], "sport": [1, 1, 0, 0]}, [0, 0, 1, 1])
    >>> marginal_directions(LogisticLoss(data, CoefficientSet(data.feature_names, -5, 5))).round(3)
    array([ 5.  , -0.25])
    """
    data = loss.data
    vector = np.zeros(data.n_features + 1)
    mean_label = -2.0 * loss.value_and_gradient(vector)[1][0] * loss.scale
    vector[0] = loss.scale * (math.log1p(mean_label) - math.log1p(-mean_label))
    trends = -loss.value_and_gradient(vector)[1][1:] * loss.scale
    largest = np.maximum(np.abs(data.feature_min), np.abs(data.feature_max))
    trends[np.abs(trends) <= _NOTHING * largest] = 0.0
    return trends
