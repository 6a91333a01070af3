"""The baselines as scikit-learn estimators; :mod:`riskslim.paper.baselines` lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing
from riskslim.coefficients import CoefficientSet, PerFeature
from riskslim.constraints.base import Constraint
from riskslim.heuristics.descent import discrete_coordinate_descent, sequential_rounding
from riskslim.paper.baselines.base import Baseline, RiskScoreBaseline, fit_to_same_nets
from riskslim.paper.baselines.pool import (
    ElasticNets,
    Sample,
    distinct_models,
)
from riskslim.paper.baselines.rounding import rescaled_rounding, rounding, unit_weights
from riskslim.problem.problem import DEFAULT_L0_PENALTY, RiskScoreProblem

__all__ = [
    "METHODS",
    "PenalizedLogisticRegression",
    "PooledRescaledRounding",
    "PooledRounding",
    "PooledSequentialRounding",
    "RescaledRounding",
    "Rounding",
    "UnitWeighting",
    "fit_baselines",
]

# Most moves by which one score is polished. Points up to 5 need a dozen, points up to 1000 some
# hundreds; wider ones zigzag along narrow valleys by as many moves as they are wide.
_POLISHING_MOVES = 1000


class PenalizedLogisticRegression(Baseline):
    r"""Penalised logistic regression, PLR of the paper: the best of 1,100 elastic nets.

    Parameters
    ----------
    max_size : int, optional
        Most non-zero coefficients, the intercept not counted. None: no limit.
    sign : {"+", "-", 1, -1, 0, None}, sequence of d of them, or mapping, optional
        Monotonicity constraints, as in :class:`~riskslim.CoefficientSet`. The elastic nets are
        fitted under them.
    constraints : iterable of Constraint, default ()
        Operational constraints. Elastic nets know nothing of them: models that break one are
        left out of the choice.
    l1_ratios : sequence of float, optional
        Mixing values :math:`\alpha`. None: 0, 0.1, ..., 1.
    n_penalties : int, default 100
        Penalties per mixing value.
    min_penalty_ratio : float, optional
        Smallest penalty as a share of the largest one. None: as in glmnet, 1e-4, or 0.01 if there
        are fewer rows than features.
    cv : int or splitter, default 5
        Folds that AUCs are computed on. An int: stratified and shuffled.
    random_state : int, RandomState or None, default 0
        Of the shuffling.
    n_jobs : int, optional
        Processes that fit paths and convert models; -1 for all cores.
    verbose : int, default 0
        0 is silent; 1 logs a line of progress per second at most, 2 one for each path and fold,
        to standard error where logging has no handlers.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
    intercept_ : ndarray of float64, shape (1,)
    classes_ : ndarray of shape (2,)
    loss_ : float
        Normalised logistic loss on the training data.
    pool_ : Pool
        All models, with what they were chosen by.
    n_feasible_ : int
        Number of models of the pool that meet all requirements.
    remarks_ : tuple of str
        Whether fewer than a tenth of the pool meet all requirements, or the model has no features;
        the latter is logged as a warning, too.
    best_index_ : int
        Position of the chosen one.
    l1_ratio_, penalty_ : float
        Its mixing value and penalty.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        Where X has names that are all strings.

    Notes
    -----
    The chosen instance, a pair of mixing value and penalty, is the one with the largest mean AUC
    over the test folds among those whose model of all rows is feasible. Penalties are those of
    all rows (:func:`~riskslim.paper.baselines.elastic_net.penalty_path`), in the folds too. For an
    estimate of
    the performance that is not biased by this choice, cross-validate the estimator: that is the
    nested cross-validation of the paper.

    References
    ----------
    Ustun & Rudin (2019), Learning Optimized Risk Scores, Section 5.1.

    Examples
    --------
    >>> from riskslim.paper.baselines import PenalizedLogisticRegression
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> X, y = data.integer_columns, data.labels
    >>> model = PenalizedLogisticRegression(max_size=5, l1_ratios=[0.5, 1], n_penalties=20)
    >>> len(model.fit(X, y).pool_), int((model.coef_ != 0).sum()) <= 5
    (40, True)
    """

    def __init__(
        self,
        *,
        max_size: int | None = None,
        sign: str | PerFeature | None = None,
        constraints: Iterable[Constraint] = (),
        l1_ratios: Sequence[float] | None = None,
        n_penalties: int = 100,
        min_penalty_ratio: float | None = None,
        cv: Any = 5,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_size = max_size
        self.sign = sign
        self.constraints = constraints
        self.l1_ratios = l1_ratios
        self.n_penalties = n_penalties
        self.min_penalty_ratio = min_penalty_ratio
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class Rounding(RiskScoreBaseline):
    r"""The best elastic net, rounded, Rd of the paper.

    The elastic net is the one of :class:`PenalizedLogisticRegression` with the same parameters;
    :func:`rounding` makes integers of it. Coefficients below 0.5 in absolute value vanish, so that
    the score may have fewer features than ``max_size``, even none.

    Parameters
    ----------
    max_size : int, optional
        Most features with points, 5 by default. None: no limit.
    max_coef : int, default 5
        Largest absolute value of the points.
    max_intercept : int, default 100
        Largest absolute value of the intercept.
    sign, constraints, l1_ratios, n_penalties, min_penalty_ratio
        As in :class:`PenalizedLogisticRegression`.
    cv, random_state, n_jobs, verbose
        As in :class:`PenalizedLogisticRegression`.
    platt_scaling : bool, default False
        Predict with the logistic regression of the class on the score, fitted to the training
        data; points and ``risk_score_`` stay as they are.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
    intercept_ : ndarray of float64, shape (1,)
        Log-odds per unit: the points, or with Platt scaling their linear function.
    points_ : ndarray of int64, shape (1, d)
    intercept_points_ : ndarray of int64, shape (1,)
    risk_score_ : RiskScore
    violations_ : tuple of str
        Requirements that the risk score breaks, in words; rounding can break constraints.
    platt_slope_, platt_intercept_ : float
        1 and 0 without Platt scaling.
    classes_, loss_, pool_, n_feasible_, remarks_, best_index_, l1_ratio_, penalty_
        As in :class:`PenalizedLogisticRegression`. The pool is one of elastic nets.

    References
    ----------
    Ustun & Rudin (2019), Learning Optimized Risk Scores, Section 5.1.

    Examples
    --------
    >>> from riskslim.paper.baselines import Rounding
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> model = Rounding(l1_ratios=[1])
    >>> _ = model.fit(data.integer_columns, data.labels)
    >>> model.intercept_points_, model.points_[model.points_ != 0]
    (array([1]), array([-1]))
    """

    def _rounded(self, coef: NDArray[Any]) -> NDArray[np.int64]:
        return rounding(coef, self.max_coef)


class RescaledRounding(RiskScoreBaseline):
    r"""The best elastic net, rescaled and rounded, RsRd of the paper.

    The elastic net is the one of :class:`PenalizedLogisticRegression` with the same parameters;
    :func:`rescaled_rounding` makes integers of it. The largest coefficient becomes ``max_coef``.
    Where the coefficients of the elastic net are small, risks become more extreme than its own;
    Platt scaling takes that back.

    Parameters, attributes and notes are those of :class:`Rounding`.

    Examples
    --------
    >>> from riskslim.paper.baselines import RescaledRounding
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> model = RescaledRounding(l1_ratios=[1])
    >>> _ = model.fit(data.integer_columns, data.labels)
    >>> model.intercept_points_, model.points_[model.points_ != 0]
    (array([11]), array([-1, -5, -2, -2, -3]))
    """

    def _rounded(self, coef: NDArray[Any]) -> NDArray[np.int64]:
        return rescaled_rounding(coef, self.max_coef)


class UnitWeighting(RiskScoreBaseline):
    r"""The signs of the best elastic net, Unit of the paper.

    The elastic net is the one of :class:`PenalizedLogisticRegression` with the same parameters;
    :func:`unit_weights` makes integers of it. Every feature of the elastic net has one point, to
    add or to take away, and so has the intercept: with that the losses are those that the paper
    prints.

    Parameters, attributes and notes are those of :class:`Rounding`.

    Examples
    --------
    >>> from riskslim.paper.baselines import UnitWeighting
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> model = UnitWeighting(l1_ratios=[1])
    >>> _ = model.fit(data.integer_columns, data.labels)
    >>> model.intercept_points_, model.points_[model.points_ != 0]
    (array([1]), array([-1, -1, -1, -1, -1]))
    """

    def _rounded(self, coef: NDArray[Any]) -> NDArray[np.int64]:
        return unit_weights(coef)


class _PooledBaseline(RiskScoreBaseline):
    """A method that makes a risk score of every elastic net, and chooses among these."""

    def __init__(
        self,
        *,
        polish: bool = True,
        max_size: int | None = 5,
        max_coef: int = 5,
        max_intercept: int = 100,
        l0_penalty: float = DEFAULT_L0_PENALTY,
        sign: str | PerFeature | None = None,
        constraints: Iterable[Constraint] = (),
        l1_ratios: Sequence[float] | None = None,
        n_penalties: int = 100,
        min_penalty_ratio: float | None = None,
        cv: Any = 5,
        platt_scaling: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            max_size=max_size,
            max_coef=max_coef,
            max_intercept=max_intercept,
            sign=sign,
            constraints=constraints,
            l1_ratios=l1_ratios,
            n_penalties=n_penalties,
            min_penalty_ratio=min_penalty_ratio,
            cv=cv,
            platt_scaling=platt_scaling,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.polish = polish
        self.l0_penalty = l0_penalty

    def _converter(
        self, nets: ElasticNets
    ) -> Callable[[Sample, NDArray[np.float64]], NDArray[Any]]:
        return partial(self._risk_scores, self._box(nets.data.feature_names))

    def _risk_scores(
        self, box: CoefficientSet, sample: Sample, coefficients: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        problem = sample.problem(box, self.l0_penalty)
        scores = self._integers(problem, coefficients)
        if not self.polish:
            return scores
        distinct, index = distinct_models(scores)
        return np.stack([_polished(problem, vector) for vector in distinct])[index]

    def _integers(
        self, problem: RiskScoreProblem, coefficients: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Risk scores of elastic nets, before they are polished."""
        raise NotImplementedError("_integers")

    def _in_bounds(self, models: NDArray[Any]) -> NDArray[np.bool_]:
        limits = np.full(models.shape[1], self.max_coef)
        limits[0] = self.max_intercept
        return np.asarray((np.abs(models) <= limits).all(axis=1))

    def _rounded(self, coef: NDArray[Any]) -> NDArray[np.int64]:
        return coef


def _polished(problem: RiskScoreProblem, coef: NDArray[np.int64]) -> NDArray[np.int64]:
    """Polish the intercept and the features that have points; no other feature gets any."""
    start = coef.clip(problem.lower, problem.upper)
    directions = np.concatenate(([0], 1 + np.flatnonzero(start[1:])))
    polished = discrete_coordinate_descent(
        problem, start, directions=directions.tolist(), max_iterations=_POLISHING_MOVES
    )
    assert polished.coefficients is not None
    return polished.coefficients


class PooledRounding(_PooledBaseline):
    r"""All elastic nets, rounded: PooledRd and PooledRd* of the paper.

    Every elastic net of the pool is rounded (:func:`rounding`); the choice is made among the risk
    scores.

    Parameters
    ----------
    polish : bool, default True
        Polish every risk score by :func:`~riskslim.discrete_coordinate_descent`, the star of the
        paper. Features without points get none, so that models do not grow. A score is moved 1000
        times at most, which only a ``max_coef`` beyond 1000 has use for.
    max_size : int, optional
        Most features with points, 5 by default. None: no limit.
    max_coef : int, default 5
        Largest absolute value of the points.
    max_intercept : int, default 100
        Largest absolute value of the intercept.
    l0_penalty : float, default 1e-6
        Price of a feature in the objective of the heuristics.
    sign, constraints, l1_ratios, n_penalties, min_penalty_ratio
        As in :class:`PenalizedLogisticRegression`.
    cv, random_state, n_jobs, verbose
        As in :class:`PenalizedLogisticRegression`.
    platt_scaling : bool, default False
        Predict with the logistic regression of the class on the score, fitted to the training
        data; points and ``risk_score_`` stay as they are.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
    intercept_ : ndarray of float64, shape (1,)
        Log-odds per unit: the points, or with Platt scaling their linear function.
    points_ : ndarray of int64, shape (1, d)
    intercept_points_ : ndarray of int64, shape (1,)
    risk_score_ : RiskScore
    violations_ : tuple of str
        Requirements that the risk score breaks, in words; none.
    platt_slope_, platt_intercept_ : float
        1 and 0 without Platt scaling.
    classes_, loss_, pool_, n_feasible_, remarks_, best_index_, l1_ratio_, penalty_
        As in :class:`PenalizedLogisticRegression`. The pool is one of risk scores.

    Notes
    -----
    The heuristics know of bounds and signs, not of ``max_size`` and ``constraints``: risk scores
    that break these are left out of the choice, as in the paper (Section 6).

    References
    ----------
    Ustun & Rudin (2019), Learning Optimized Risk Scores, Section 5.1.

    Examples
    --------
    >>> from riskslim.paper.baselines import PooledRounding
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> model = PooledRounding(l1_ratios=[1])
    >>> _ = model.fit(data.integer_columns, data.labels)
    >>> model.intercept_points_, model.points_[model.points_ != 0]
    (array([4]), array([-1, -1, -1, -2, -1]))
    """

    def _integers(
        self, problem: RiskScoreProblem, coefficients: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        return rounding(coefficients, self.max_coef)


class PooledRescaledRounding(_PooledBaseline):
    r"""All elastic nets, rescaled and rounded: PooledRsRd and PooledRsRd* of the paper.

    Every elastic net of the pool is rescaled and rounded (:func:`rescaled_rounding`); the choice is
    made among the risk scores.

    Parameters, attributes and notes are those of :class:`PooledRounding`.

    Examples
    --------
    >>> from riskslim.paper.baselines import PooledRescaledRounding
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> model = PooledRescaledRounding(l1_ratios=[1])
    >>> _ = model.fit(data.integer_columns, data.labels)
    >>> model.intercept_points_, model.points_[model.points_ != 0]
    (array([8]), array([-1, -2, -3, -2, -2]))
    """

    def _integers(
        self, problem: RiskScoreProblem, coefficients: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        return rescaled_rounding(coefficients, self.max_coef)


class PooledSequentialRounding(_PooledBaseline):
    r"""All elastic nets, rounded sequentially: PooledSeqRd and PooledSeqRd* of the paper.

    Every elastic net of the pool is brought within the bounds and rounded one coefficient at a
    time (:func:`~riskslim.sequential_rounding`); the choice is made among the risk scores.

    Parameters, attributes and notes are those of :class:`PooledRounding`.

    Examples
    --------
    >>> from riskslim.paper.baselines import PooledSequentialRounding
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> model = PooledSequentialRounding(l1_ratios=[1])
    >>> _ = model.fit(data.integer_columns, data.labels)
    >>> model.intercept_points_, model.points_[model.points_ != 0]
    (array([4]), array([-1, -1, -1, -2, -1]))
    """

    def _integers(
        self, problem: RiskScoreProblem, coefficients: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        inside = coefficients.clip(problem.lower, problem.upper)
        return np.stack([_sequentially_rounded(problem, vector) for vector in inside])


def _sequentially_rounded(
    problem: RiskScoreProblem, coef: NDArray[np.float64]
) -> NDArray[np.int64]:
    rounded = sequential_rounding(problem, coef).coefficients
    assert rounded is not None, "every size is permitted"
    return rounded


METHODS: Mapping[str, Callable[..., Baseline]] = MappingProxyType(
    {
        "PLR": PenalizedLogisticRegression,
        "Rd": Rounding,
        "RsRd": RescaledRounding,
        "Unit": UnitWeighting,
        "PooledRd": partial(PooledRounding, polish=False),
        "PooledRd*": partial(PooledRounding, polish=True),
        "PooledRsRd": partial(PooledRescaledRounding, polish=False),
        "PooledRsRd*": partial(PooledRescaledRounding, polish=True),
        "PooledSeqRd": partial(PooledSequentialRounding, polish=False),
        "PooledSeqRd*": partial(PooledSequentialRounding, polish=True),
    }
)
"""Estimators by the names that the paper gives them; call one with further parameters."""


def fit_baselines(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    methods: Iterable[str] = tuple(METHODS),
    **parameters: Any,
) -> dict[str, Any]:
    """Fit several methods to the same elastic nets.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
    y : array-like of shape (n,)
    sample_weight : array-like of shape (n,), optional
    methods : iterable of str
        Names of the paper, keys of :data:`METHODS`. Default: all of them.
    **parameters
        Of the estimators; each one gets those that it has. ``max_size=5`` where none is given.

    Returns
    -------
    dict from str to estimator
        In the order of ``methods``. Each one is what its own ``fit`` would have made of the data,
        but for rounding errors; fitting the elastic nets, most of the work, is done once.

    Raises
    ------
    ValueError
        A method that does not exist, data that are refused, or no feasible model in a pool.
    TypeError
        A parameter that none of the methods has.

    Examples
    --------
    >>> from riskslim.paper.baselines import fit_baselines
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> fitted = fit_baselines(
    ...     data.integer_columns, data.labels, methods=["Rd", "PooledRd*"], n_penalties=10
    ... )
    >>> fitted["PooledRd*"].loss_ < fitted["Rd"].loss_
    True
    """
    names = list(methods)
    unknown = [repr(name) for name in names if name not in METHODS]
    if unknown or not names:
        raise ValueError(
            f"methods must be some of {listing(METHODS)}; got {listing(unknown) or 'none'}"
        )
    parameters = {"max_size": 5} | parameters
    fitted = {name: METHODS[name]() for name in names}
    known = {key for model in fitted.values() for key in model.get_params()}
    if wrong := sorted(set(parameters) - known | {"polish"} & set(parameters)):
        raise TypeError(f"the methods {listing(names)} have no parameter {listing(wrong)}")
    for model in fitted.values():
        model.set_params(**{k: v for k, v in parameters.items() if k in model.get_params()})
    fit_to_same_nets(fitted.values(), X, y, sample_weight)
    return fitted
