"""The base of the paper's methods: elastic nets, and the choice of one model among many."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from riskslim._checks import is_int
from riskslim.coefficients import MAX_ABSOLUTE_COEFFICIENT, CoefficientSet, PerFeature
from riskslim.constraints.base import Constraint, Setting
from riskslim.constraints.rows import ConstraintRows, checked_constraints
from riskslim.data.tables import series_name
from riskslim.data.training_data import TrainingData
from riskslim.data.warned import user_stacklevel
from riskslim.exceptions import PositiveLabelWarning
from riskslim.paper.baselines.elastic_net import platt_scaling
from riskslim.paper.baselines.pool import (
    ElasticNets,
    Pool,
    PoolSettings,
    Sample,
    distinct_models,
    listed,
    losses_of,
    mean_auc_of,
)
from riskslim.problem.problem import RiskScoreProblem
from riskslim.risk_score import RiskScore
from riskslim.verbose import VerboseLog

__all__ = ["Baseline", "RiskScoreBaseline", "fit_to_same_nets"]

logger = logging.getLogger("riskslim.paper.baselines.estimators")

# Share of a pool that meets all requirements below which it is said that the choice is a small one.
_FEW_FEASIBLE = 0.1


class Baseline(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Elastic nets, the choice of one instance, linear predictions: what all methods share."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the elastic nets, and choose.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        y : array-like of shape (n,)
            Two classes.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Data or parameters that are refused; no model of the pool is feasible.
        ImportError
            glum is not installed.

        Warns
        -----
        ConvergenceWarning
            The solver did not reach its tolerance for some of the elastic nets.
        """
        return self._fit(self._elastic_nets(X, y, sample_weight))

    def _elastic_nets(self, X: Any, y: Any, sample_weight: Any) -> ElasticNets:
        name = series_name(y)
        X, y = validate_data(self, X, y, dtype=np.float64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PositiveLabelWarning)  # baselines give no choice
            data = TrainingData(
                X,
                y,
                sample_weight,
                feature_names=getattr(self, "feature_names_in_", None),
                outcome_name=name,
            )
        return ElasticNets(X, data, self._settings())

    def _settings(self) -> PoolSettings:
        given = np.linspace(0, 1, 11) if self.l1_ratios is None else self.l1_ratios
        try:
            ratios = tuple(sorted({float(ratio) for ratio in given}))
        except (TypeError, ValueError):
            ratios = ()
        if not ratios or not 0 <= ratios[0] <= ratios[-1] <= 1:
            raise ValueError(
                f"l1_ratios must be numbers between 0 and 1, in a sequence, got {self.l1_ratios!r}"
            )
        if not is_int(self.n_penalties) or self.n_penalties < 1:
            raise ValueError(f"n_penalties must be an int of at least 1, got {self.n_penalties!r}")
        share = self.min_penalty_ratio
        if share is not None and not 0 < share <= 1:
            raise ValueError(f"min_penalty_ratio must be in (0, 1], got {share!r}")
        return PoolSettings(
            self.sign, ratios, int(self.n_penalties), share, self.cv, self.random_state, self.n_jobs
        )

    def _fit(self, nets: ElasticNets) -> Any:
        log = VerboseLog("riskslim.paper.baselines.estimators", type(self).__name__, self.verbose)
        nets.log = log
        before, nets.n_unfinished = nets.n_unfinished, 0
        instances = np.arange(len(nets.instances[0]))
        nets.fit([nets.whole], instances)
        convert = self._converter(nets)
        models = convert(nets.whole, nets.coefficients(nets.whole, instances))
        nets.log.progress("models of all rows: %d", len(models))
        pool = self._assessed(nets, models)
        self.n_feasible_ = int(pool.is_feasible.sum())
        if not self.n_feasible_:
            raise ValueError(self._nothing_feasible(pool))
        candidates = np.flatnonzero(pool.is_feasible)
        pool.mean_auc[candidates] = mean_auc_of(nets, candidates, convert)
        self.pool_ = pool
        self.classes_ = np.array(nets.data.classes)
        self.best_index_ = pool.best()
        self.l1_ratio_ = float(pool.l1_ratios[self.best_index_])
        self.penalty_ = float(pool.penalties[self.best_index_])
        self._set_model(nets, pool.coefficients[self.best_index_])
        log.write(
            "%d of %d models are feasible; chosen: mixing value %g, penalty %.3g, mean AUC %.4f",
            self.n_feasible_, len(pool), self.l1_ratio_, self.penalty_,
            pool.mean_auc[self.best_index_],
        )  # fmt: skip
        self.remarks_ = self._remarks(pool)
        if not self.coef_.any():
            for remark in self.remarks_:
                logger.warning("%s: %s", type(self).__name__, remark)
        self._warn_unfinished(nets)
        nets.n_unfinished += before
        return self

    def _remarks(self, pool: Pool) -> tuple[str, ...]:
        """True if the choice was among few models, and whether nothing came of it."""
        is_empty = not self.coef_.any()
        if self.n_feasible_ >= _FEW_FEASIBLE * len(pool) and not is_empty:
            return ()
        chosen = ""
        if is_empty:
            chosen = " The result has no features: all rows have the same risk."
        return (
            f"{self.n_feasible_} of the {len(pool)} models meet all requirements (how many meet "
            f"each kind: {listed(pool.counts())}), and the choice is among these alone.{chosen} "
            "Baselines meet constraints by chance, they do not search for models that do.",
        )

    def _assessed(self, nets: ElasticNets, models: NDArray[Any]) -> Pool:
        """The pool, without AUCs."""
        distinct, index = distinct_models(models)
        names = nets.data.feature_names
        rows = self._constraint_rows(nets)
        points = distinct[:, 1:]
        sizes = np.count_nonzero(points, axis=1)
        signs = np.all((points >= nets.lower) & (points <= nets.upper), axis=1)
        size = sizes <= self._max_size(len(names))
        operational = np.array([not rows.broken(vector).size for vector in distinct])
        feasible = signs & size & operational & self._in_bounds(distinct)
        ratios, penalties = nets.instances
        return Pool(
            coefficients=models,
            l1_ratios=ratios,
            penalties=penalties,
            losses=losses_of(nets.whole.design, distinct)[index],
            sizes=sizes[index],
            obeys_signs=signs[index],
            obeys_size=size[index],
            obeys_constraints=operational[index],
            is_feasible=feasible[index],
            mean_auc=np.full(len(models), np.nan),
        )

    def _constraint_rows(self, nets: ElasticNets) -> ConstraintRows:
        """The constraints on models with any points of the given signs."""
        lower, upper = (
            np.where(ends == 0, 0, side * MAX_ABSOLUTE_COEFFICIENT)
            for ends, side in ((nets.lower, -1), (nets.upper, 1))
        )
        setting = Setting(nets.data.feature_names, lower, upper, nets.data)
        return ConstraintRows(checked_constraints(self.constraints), setting)

    def _max_size(self, n_features: int) -> int:
        if self.max_size is None:
            return n_features
        if not is_int(self.max_size) or self.max_size < 0:
            raise ValueError(
                f"max_size must be an int of at least 0 or None, got {self.max_size!r}"
            )
        return int(self.max_size)

    def _nothing_feasible(self, pool: Pool) -> str:
        counts = listed(pool.counts())
        return (
            f"none of the {len(pool)} models of {type(self).__name__} meets all requirements (how "
            f"many meet each kind: {counts}); allow a larger max_size or fewer constraints"
        )

    def _warn_unfinished(self, nets: ElasticNets) -> None:
        if nets.n_unfinished:
            warnings.warn(
                f"the solver did not reach its tolerance for {nets.n_unfinished} of the elastic "
                "nets; their coefficients may be less accurate than the others'",
                ConvergenceWarning,
                stacklevel=user_stacklevel(),
            )

    def _converter(
        self, nets: ElasticNets
    ) -> Callable[[Sample, NDArray[np.float64]], NDArray[Any]]:
        """Return the function that makes models of the pool of elastic nets."""
        return _unchanged

    def _in_bounds(self, models: NDArray[Any]) -> NDArray[np.bool_]:
        """Say which models are within their bounds: elastic nets have none."""
        return np.ones(len(models), dtype=bool)

    def _set_model(self, nets: ElasticNets, coef: NDArray[Any]) -> None:
        self.coef_ = coef[np.newaxis, 1:]
        self.intercept_ = coef[:1]
        self.loss_ = float(losses_of(nets.whole.design, coef[np.newaxis])[0])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Compute the log-odds of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_[0] + self.intercept_[0], dtype=np.float64)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Compute the probability of each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Columns in the order of ``classes_``: the second one is the risk.
        """
        log_odds = self.decision_function(X)
        return np.column_stack((expit(-log_odds), expit(log_odds)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
            The positive class where its probability is above 50%.
        """
        positive = self.decision_function(X) > 0
        return np.asarray(self.classes_[positive.astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _unchanged(sample: Sample, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    return coefficients


class RiskScoreBaseline(Baseline):
    """A method that ends in integers."""

    def __init__(
        self,
        *,
        max_size: int | None = 5,
        max_coef: int = 5,
        max_intercept: int = 100,
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
        self.max_size = max_size
        self.max_coef = max_coef
        self.max_intercept = max_intercept
        self.sign = sign
        self.constraints = constraints
        self.l1_ratios = l1_ratios
        self.n_penalties = n_penalties
        self.min_penalty_ratio = min_penalty_ratio
        self.cv = cv
        self.platt_scaling = platt_scaling
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settings(self) -> PoolSettings:
        for name in ("max_coef", "max_intercept"):
            value = getattr(self, name)
            if not is_int(value) or value < 0:
                raise ValueError(f"{name} must be an int of at least 0, got {value!r}")
        return super()._settings()

    def _box(self, names: Sequence[str]) -> CoefficientSet:
        """Coefficients that a risk score may have."""
        return CoefficientSet(
            names,
            -self.max_coef,
            self.max_coef,
            sign=self.sign,
            intercept_lower=-self.max_intercept,
            intercept_upper=self.max_intercept,
        )

    def _set_model(self, nets: ElasticNets, coef: NDArray[Any]) -> None:
        data, names = nets.data, nets.data.feature_names
        coef = self._rounded(coef)
        super()._set_model(nets, coef.astype(np.float64))
        self.points_, self.intercept_points_ = coef[np.newaxis, 1:], coef[:1]
        problem = RiskScoreProblem(
            data,
            self._box(names),
            max_size=self._max_size(len(names)),
            constraints=self.constraints,
        )
        self.violations_ = tuple(problem.violations(coef))
        self.loss_ = problem.loss.value(coef)
        self.risk_score_ = RiskScore.from_coefficients(coef, data)
        self.platt_slope_, self.platt_intercept_ = 1.0, 0.0
        if self.platt_scaling:
            design = nets.whole.design
            self.platt_slope_, self.platt_intercept_ = platt_scaling(
                design.values @ coef[1:] + coef[0],
                design.targets > 0,
                design.weights * data.total_weight,
            )
            self.coef_ *= self.platt_slope_
            self.intercept_ = self.platt_slope_ * self.intercept_ + self.platt_intercept_

    def _rounded(self, coef: NDArray[Any]) -> NDArray[np.int64]:
        """Integers from the chosen model of the pool."""
        raise NotImplementedError("_rounded")


def fit_to_same_nets(models: Iterable[Baseline], X: Any, y: Any, sample_weight: Any) -> None:
    """Fit several methods to the elastic nets of the first one.

    Parameters
    ----------
    models : iterable of Baseline
        With the same parameters of elastic nets.
    X, y, sample_weight
        As in :meth:`Baseline.fit`.
    """
    nets: ElasticNets | None = None
    for model in models:
        own = model._elastic_nets(X, y, sample_weight)  # checks the data for each of them
        nets = nets or own
        model._fit(nets)
