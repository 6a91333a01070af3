r"""Elastic nets for the logistic loss, along paths of penalties.

.. math::

    \min_{\lambda \in \mathbb{R}^{d+1}} \; l(\lambda) + \gamma \Big( \alpha \sum_{j=1}^{d} s_j
    |\lambda_j| + \frac{1 - \alpha}{2} \sum_{j=1}^{d} s_j^2 \lambda_j^2 \Big)

with the normalised logistic loss l, the standard deviations :math:`s_j` of the features, the mixing
value :math:`\alpha` and the penalty :math:`\gamma`: the problem of glmnet with its default,
standardised features. Coefficients are those of the features as they are. The solver is glum's.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from riskslim._wording import not_installed
from riskslim.data.row_tiles import as_columns
from riskslim.data.store import KernelRows

__all__ = ["Design", "Path", "elastic_net_path", "penalty_path", "platt_scaling"]

# Least mixing value that the largest penalty is computed with: it is infinite for ridge.
LEAST_MIXING = 1e-3
# Largest sum over the coefficients of the least subgradients. Ten times as much leaves one or two
# models in 1,100 with another rounding, a thousand times as much leaves one in ten.
GRADIENT_TOLERANCE = 1e-7
MAX_ITERATIONS = 500
# Share of non-zero values up to which a column is stored sparse.
DENSE_SHARE = 0.3


class Design(NamedTuple):
    """Rows as a solver for real-valued coefficients wants them.

    Attributes
    ----------
    values : ndarray of float64, shape (m, d), Fortran order
    targets : ndarray of float64, shape (m,)
        1 for the positive class, else 0.
    weights : ndarray of float64, shape (m,)
        They add up to 1.
    n_samples : int
        Number of rows that they stand for.
    """

    values: NDArray[np.float64]
    targets: NDArray[np.float64]
    weights: NDArray[np.float64]
    n_samples: int

    @classmethod
    def of(cls, rows: KernelRows) -> Design:
        """Copy the rows of a loss.

        Parameters
        ----------
        rows : KernelRows

        Returns
        -------
        Design
        """
        values = np.empty((rows.n_rows, len(rows.integer_index) + len(rows.real_index)), order="F")
        values[:, rows.integer_index] = rows.integer_columns
        values[:, rows.real_index] = as_columns(rows.real_row_tiles, rows.n_rows)
        weights = rows.each_weight
        targets = (rows.labels > 0).astype(np.float64)
        return cls(values, targets, weights / weights.sum(), rows.n_samples)

    def scales(self) -> NDArray[np.float64]:
        """Standard deviation of each feature, exactly 0 for a constant one.

        Returns
        -------
        ndarray of float64, shape (d,)
        """
        counted = self.values[self.weights > 0]
        constant = counted.min(axis=0) == counted.max(axis=0)
        deviations = self.values - self.weights @ self.values
        return np.where(constant, 0.0, np.sqrt(self.weights @ deviations**2))


class Path(NamedTuple):
    """Elastic nets of one mixing value.

    Attributes
    ----------
    coefficients : ndarray of float64, shape (number of penalties, d + 1)
        Intercept first.
    n_unfinished : int
        Warnings that the solver did not reach its tolerance.
    """

    coefficients: NDArray[np.float64]
    n_unfinished: int


def penalty_path(
    design: Design,
    mixing: float,
    *,
    n_penalties: int = 100,
    min_ratio: float | None = None,
    allowed: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    r"""Penalties as glmnet chooses them.

    Parameters
    ----------
    design : Design
    mixing : float
        :math:`\alpha`: 0 for ridge, 1 for lasso.
    n_penalties : int, default 100
    min_ratio : float, optional
        Smallest penalty as a share of the largest one. None: 1e-4 where there are at least as
        many rows as features, else 0.01.
    allowed : ndarray of bool, shape (d,), optional
        Features that may have a coefficient. None: all.

    Returns
    -------
    ndarray of float64, shape (n_penalties,)
        From the least penalty at which all coefficients are zero (for :math:`\alpha < 0.001`, the
        one of 0.001) downwards, at equal ratios.

    Notes
    -----
    Friedman, Hastie & Tibshirani (2010), section 2.5. glmnet also ends a path early where the
    deviance hardly changes any more; here every path has all of its penalties.
    """
    scales = design.scales()
    residuals = design.weights * (design.targets - design.weights @ design.targets)
    slopes = np.abs(residuals @ (design.values - design.weights @ design.values))
    used = scales > 0 if allowed is None else (scales > 0) & allowed
    steepest = float((slopes[used] / scales[used]).max(initial=0.0))
    largest = steepest / max(mixing, LEAST_MIXING)
    if largest == 0.0:  # no feature says anything: all penalties give the same model
        largest = 1.0
    if min_ratio is None:
        min_ratio = 1e-4 if design.n_samples >= design.values.shape[1] else 0.01
    return np.geomspace(largest, largest * min_ratio, n_penalties)


def elastic_net_path(
    design: Design,
    mixing: float,
    penalties: NDArray[np.float64],
    *,
    lower: NDArray[np.float64] | None = None,
    upper: NDArray[np.float64] | None = None,
    start: NDArray[np.float64] | None = None,
) -> Path:
    r"""Fit one elastic net per penalty, each from the one before it.

    Parameters
    ----------
    design : Design
    mixing : float
        :math:`\alpha`.
    penalties : ndarray of float64, shape (m,)
        :math:`\gamma`, decreasing.
    lower, upper : ndarray of float64, shape (d,), optional
        Bounds of the coefficients, infinite where there is none.
    start : ndarray of float64, shape (d + 1,), optional
        Model to start from, intercept first. None: the intercept alone.

    Returns
    -------
    Path
        Constant features and those with both bounds 0 have the coefficient 0.
    """
    d = design.values.shape[1]
    lower = np.full(d, -np.inf) if lower is None else lower
    upper = np.full(d, np.inf) if upper is None else upper
    used = np.flatnonzero((design.scales() > 0) & (lower < upper))
    coefficients = np.zeros((len(penalties), d + 1))
    if not used.size:
        share = design.weights @ design.targets
        coefficients[:, 0] = np.log(share) - np.log1p(-share)
        return Path(coefficients, 0)
    bounded = bool(np.isfinite(lower[used]).any() or np.isfinite(upper[used]).any())
    settings: dict[str, Any] = {
        "alpha_search": True,
        "alpha": penalties,
        "l1_ratio": mixing,
        "scale_predictors": True,
        # glum cannot choose a solver itself where it is given a path.
        "solver": "irls-cd" if mixing > 0 or bounded else "irls-ls",
    }
    if bounded:
        settings |= {"lower_bounds": lower[used], "upper_bounds": upper[used]}
    if start is not None:
        settings["start_params"] = start[np.concatenate(([0], 1 + used))]
    columns = _matrix(design.values[:, used])
    model, n_unfinished = _fitted(settings, columns, design.targets, design.weights)
    coefficients[:, 0] = model.intercept_path_
    coefficients[:, 1 + used] = model.coef_path_
    return Path(coefficients, n_unfinished)


def _matrix(values: NDArray[np.float64]) -> Any:
    """The columns as glum multiplies them: those of few non-zero values sparse, the others dense.

    On the paper's data sets that takes between a third and 1.5 times the time of dense columns.
    """
    tabmat = _import("tabmat")
    from scipy.sparse import csc_matrix

    return tabmat.from_csc(csc_matrix(values), threshold=DENSE_SHARE)


def platt_scaling(
    scores: NDArray[np.float64], positive: NDArray[np.bool_], weights: NDArray[np.float64]
) -> tuple[float, float]:
    """Platt scaling: the logistic regression of the class on a score.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
    positive : ndarray of bool, shape (n,)
    weights : ndarray of float64, shape (n,)

    Returns
    -------
    slope, intercept : float
        The risk of a score s is 1 / (1 + exp(-(slope * s + intercept))).

    Notes
    -----
    As Platt (1999) proposes, the targets are (N+ + 1) / (N+ + 2) and 1 / (N- + 2), not 1 and 0, so
    that scores which separate the classes have a finite slope. The slope of a constant score is 0.
    """
    n_positive, n_negative = weights[positive].sum(), weights[~positive].sum()
    targets = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    if scores.min() == scores.max():
        share = float(weights @ targets / weights.sum())
        return 0.0, float(np.log(share) - np.log1p(-share))
    settings = {"alpha": 0.0, "solver": "irls-ls"}
    model, _ = _fitted(settings, scores[:, np.newaxis], targets, weights)
    return float(model.coef_[0]), float(model.intercept_)


def _fitted(
    settings: dict[str, Any],
    values: Any,
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> tuple[Any, int]:
    """Fitted model of glum, and how often it did not reach its tolerance."""
    glum = _import("glum")
    from threadpoolctl import threadpool_limits

    model = glum.GeneralizedLinearRegressor(
        family="binomial",
        gradient_tol=GRADIENT_TOLERANCE,
        max_iter=MAX_ITERATIONS,
        **settings,
    )
    # Threads that wait for each other cost more than they save, on a busy machine ten times so.
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(values, targets, sample_weight=weights)
    n_unfinished = 0
    for warning in caught:
        if not issubclass(warning.category, ConvergenceWarning):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
        # A line search that rounding errors end is followed by further iterations.
        elif "Line search failed" not in str(warning.message):
            n_unfinished += 1
    return model, n_unfinished


def _import(name: str) -> Any:
    """A module of glum, which is no dependency of the package itself."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            not_installed("the baselines need", error.name or name, extra="baselines")
        ) from error
